/* Running loops as kernels: their bounds, a plan for them, and the launch. */
#include "core/allocate.h"
#include "function/accumulator.h"
#include "function/cost.h"
#include "function/number.h"
#include "function/task.h"
#include <string.h>

/* A range of integers. */
typedef struct range {
    int64_t low, high;
} range;

/* The loops of a nest in a call. */
typedef struct nesting {
    weft__running *r;
    weft__function_nest *nest;
    range counted[WEFT__NEST_DEPTH_MAX]; /* of each loop: what it counts */
    int64_t base[WEFT__NEST_DEPTH_MAX], trips[WEFT__NEST_DEPTH_MAX];
    int known; /* loops whose range is there */
    weft__lang_operand types[WEFT__NEST_OPERANDS_MAX];
    weft_operand operands[WEFT__NEST_OPERANDS_MAX];
    weft_shape space;
    weft__portable_range ranges[WEFT__NEST_OPERANDS_MAX];
    bool looked; /* … as the elements are */
    weft__nest_accumulator accumulators[WEFT__NEST_FOLDS_MAX];
    weft_array *const *folded; /* of the kernel before, or NULL */
} nesting;

static bool range_of(const nesting *n, const weft__function_part *part, int32_t node, int depth,
                     range *found);

static bool add_ranges(range a, range b, bool minus, range *sum)
{
    range other = {minus ? b.high : b.low, minus ? b.low : b.high};
    if (minus)
        return !__builtin_sub_overflow(a.low, other.low, &sum->low) &&
               !__builtin_sub_overflow(a.high, other.high, &sum->high);
    return !__builtin_add_overflow(a.low, other.low, &sum->low) &&
           !__builtin_add_overflow(a.high, other.high, &sum->high);
}

static bool scale_range(range a, int64_t by, range *product)
{
    int64_t x, y;
    if (__builtin_mul_overflow(a.low, by, &x) || __builtin_mul_overflow(a.high, by, &y))
        return false;
    *product = (range){x < y ? x : y, x < y ? y : x};
    return true;
}

static bool range_of_call(const nesting *n, const weft__function_part *part,
                          const weft__syntax_node *call, int depth, range *found)
{
    static const range zero = {0, 0};
    const int32_t *arguments = part->syntax->arguments + call->first;
    range a, b = zero;
    if (call->count < 1 || call->count > 2 || !range_of(n, part, arguments[0], depth + 1, &a))
        return false;
    if (call->count == 2 && !range_of(n, part, arguments[1], depth + 1, &b))
        return false;
    bool constant = a.low == a.high && b.low == b.high;
    switch (call->operation) {
    case WEFT__LANG_positive:
        *found = a;
        return true;
    case WEFT__LANG_negative:
        return add_ranges(zero, a, true, found);
    case WEFT__LANG_add:
        return add_ranges(a, b, false, found);
    case WEFT__LANG_subtract:
        return add_ranges(a, b, true, found);
    case WEFT__LANG_multiply:
        return b.low == b.high ? scale_range(a, b.low, found)
                               : a.low == a.high && scale_range(b, a.low, found);
    case WEFT__LANG_divide:
        if (b.low != b.high || b.low == 0 || b.low == -1 || (!constant && b.low < 0))
            return false;
        *found = (range){a.low / b.low, a.high / b.low};
        return true;
    case WEFT__LANG_modulo:
        if (b.low != b.high || b.low <= 0)
            return false;
        *found = constant ? (range){a.low % b.low, a.low % b.low}
                          : (range){a.low < 0 ? 1 - b.low : 0, a.high > 0 ? b.low - 1 : 0};
        return true;
    case WEFT__LANG_minimum:
        *found = (range){a.low < b.low ? a.low : b.low, a.high < b.high ? a.high : b.high};
        return call->count == 2;
    case WEFT__LANG_maximum:
        *found = (range){a.low > b.low ? a.low : b.low, a.high > b.high ? a.high : b.high};
        return call->count == 2;
    default:
        return false;
    }
}

static bool range_of(const nesting *n, const weft__function_part *part, int32_t at, int depth,
                     range *found)
{
    const weft__syntax_node *node = &part->syntax->nodes[at];
    int64_t value;
    if (depth > 32)
        return false;
    if (node->kind == WEFT__SYNTAX_CALL)
        return range_of_call(n, part, node, depth, found);
    if (node->kind == WEFT__SYNTAX_LITERAL) {
        value = (int64_t)(node->value.integer & INT64_MAX);
        *found = (range){node->negative ? -value : value, node->negative ? -value : value};
        return node->weak && node->dtype == WEFT_I64;
    }
    if (node->kind != WEFT__SYNTAX_OPERAND || node->index >= part->names_count)
        return false;
    int32_t variable = part->variables[node->index];
    for (int k = 0; k < n->known; k++)
        if (n->nest->loops[k].variable == variable) {
            *found = n->counted[k];
            return true;
        }
    const weft__held *held = &n->r->held[variable];
    if (held->holding != WEFT__NUMBER || !weft__number_integer(&held->number, &value))
        return false;
    *found = (range){value, value};
    return true;
}

/* How often a loop runs at most, and from where. */
static bool count_loop(nesting *n, int k)
{
    const weft__function *f = n->r->function;
    const weft__nest_loop *loop = &n->nest->loops[k];
    range lower, bound;
    int64_t distance, step = loop->step < 0 ? -loop->step : loop->step, last;
    bool closed =
        loop->compare == WEFT__LANG_less_equal || loop->compare == WEFT__LANG_greater_equal;
    if (!range_of(n, &f->parts[loop->lower_part], loop->lower, 0, &lower) ||
        !range_of(n, &f->parts[loop->bound_part], loop->bound, 0, &bound))
        return false;
    n->base[k] = loop->step > 0 ? lower.low : lower.high;
    if (__builtin_sub_overflow(loop->step > 0 ? bound.high : n->base[k],
                               loop->step > 0 ? n->base[k] : bound.low, &distance) ||
        __builtin_add_overflow(distance, closed ? 1 : 0, &distance) || distance > INT64_MAX - step)
        return false;
    if (loop->compare == WEFT__LANG_not_equal && (distance < 0 || distance % step))
        return false; /* it does not end there */
    n->trips[k] = distance <= 0 ? 0 : (distance + step - 1) / step;
    last = n->trips[k] ? n->base[k] + loop->step * (n->trips[k] - 1) : n->base[k];
    n->counted[k] =
        (range){last < n->base[k] ? last : n->base[k], last < n->base[k] ? n->base[k] : last};
    n->known = k + 1;
    bool narrow = f->variables[loop->variable].dtype == WEFT_I32;
    return !narrow || (n->counted[k].low > INT32_MIN && n->counted[k].high < INT32_MAX);
}

static weft_status serial(nesting *n, const char *why)
{
    weft__nest_refuse(n->nest, n->r->function->statements[n->nest->statement].column, "%s", why);
    return WEFT_OK;
}

/* The types of the kernel's parameters; false if a variable is not what the loop needs. */
static bool find_types(nesting *n)
{
    memset(n->types, 0, (size_t)n->nest->operands_count * sizeof *n->types);
    for (int i = 0; i < n->nest->operands_count; i++) {
        const weft__nest_operand *o = &n->nest->operands[i];
        weft__lang_operand *type = &n->types[i];
        const weft__held *held = &n->r->held[o->role == WEFT__ROLE_VARIABLE ? o->index : 0];
        const weft_array *array = weft__held_any(held);
        n->operands[i] = (weft_operand){.tag = WEFT_OPERAND_NUMBER, .dtype = WEFT_I64};
        *type = (weft__lang_operand){.tag = WEFT_OPERAND_NUMBER, .dtype = WEFT_I64};
        if (o->role == WEFT__ROLE_BASE)
            n->operands[i].value.i = n->base[o->index];
        if (o->role == WEFT__ROLE_FOLD)
            *type = (weft__lang_operand){
                .tag = WEFT_OPERAND_ARRAY, .dtype = WEFT_F32, .shape = n->space};
        if (o->role == WEFT__ROLE_FOLDED) {
            array = n->folded[o->index];
            *type = (weft__lang_operand){
                .tag = WEFT_OPERAND_ARRAY, .dtype = array->dtype, .shape = array->shape};
            n->operands[i].tag = WEFT_OPERAND_ARRAY;
            n->operands[i].value.array = n->folded[o->index];
        }
        if (o->role != WEFT__ROLE_VARIABLE)
            continue;
        if (held->holding != (o->element ? WEFT__ARRAY : WEFT__NUMBER))
            return false;
        if (o->element) {
            *type = (weft__lang_operand){
                .tag = (uint8_t)(held->input ? WEFT_OPERAND_INPUT : WEFT_OPERAND_ARRAY),
                .dtype = array->dtype,
                .shape = array->shape};
            continue;
        }
        n->operands[i] = held->number;
        type->dtype = (uint8_t)held->number.dtype;
        type->typed = held->typed;
    }
    return true;
}

/* A fixed parameter's value; NULL if it is no integer. */
static const int64_t *value_of(const nesting *n, int operand, int64_t *value)
{
    bool integer = n->types[operand].tag == WEFT_OPERAND_NUMBER &&
                   weft__number_integer(&n->operands[operand], value);
    return integer ? value : NULL;
}

/* A plan for more is as good; that there is none depends on what exactly there was. */
static bool fits_ranges(const nesting *n, const weft__nest_plan *plan)
{
    for (int i = 0; i < n->nest->operands_count && n->nest->positions; i++) {
        const weft__portable_range *a = &plan->ranges[i], *b = &n->ranges[i];
        if (!n->nest->operands[i].position || (!plan->parallel && !plan->looked))
            continue;
        if (plan->parallel ? a->low > b->low || a->high < b->high
                           : !n->looked || a->low != b->low || a->high != b->high)
            return false;
    }
    return true;
}

static bool fits(const nesting *n, const weft__nest_plan *plan)
{
    if (!plan->made || !weft__shape_same(&plan->space, &n->space) || !fits_ranges(n, plan))
        return false;
    for (int k = 0; k < n->nest->folds_count; k++)
        if (plan->accumulators[k].dtype != n->accumulators[k].dtype ||
            plan->accumulators[k].weak != n->accumulators[k].weak)
            return false;
    for (int i = 0; i < n->nest->operands_count; i++) {
        const weft__lang_operand *a = &plan->types[i], *b = &n->types[i];
        int64_t value = 0;
        if (a->tag != b->tag || a->dtype != b->dtype || a->typed != b->typed ||
            (a->tag != WEFT_OPERAND_NUMBER && !weft__shape_same(&a->shape, &b->shape)))
            return false;
        bool fixed = n->nest->operands[i].fixed || plan->launch.program.relied[i];
        if (fixed && value_of(n, i, &value) && value != plan->values[i])
            return false;
    }
    return true;
}

/* Finds out what is in arrays that have positions. */
static weft_status look(nesting *n)
{
    if (n->looked)
        return WEFT_OK;
    weft__extent_allowed(n->nest, n->types, n->ranges);
    TRY(weft__extent_look(n->r, n->nest, n->types, n->ranges));
    n->looked = true;
    return WEFT_OK;
}

static void free_plan(weft__nest_plan *plan)
{
    weft__evaluation_free(plan->launch.evaluation);
    weft__portable_free(&plan->launch.program);
    memset(plan, 0, sizeof *plan);
}

void weft__function_nest_free(weft__function_nest *nest)
{
    if (!nest)
        return;
    for (int i = 0; i < WEFT__NEST_PLANS; i++)
        free_plan(&nest->plans[i]);
    weft__function_nest_free(nest->second);
    weft__task_free(nest->task);
    weft__lang_syntax_free(nest->syntax);
    weft__free(nest->text);
    weft__free(nest->columns);
    weft__free(nest);
}

/* What the terms become before they are folded; *why is set if they cannot be. */
static weft_status choose_casts(const nesting *n, const weft__portable_program *program,
                                const weft__lang_operand *types, uint8_t *casts, const char **why)
{
    weft__lang_program *checked;
    if (!n->nest->folds_count)
        return WEFT_OK;
    TRY(weft__lang_check(program->syntax, types, &checked));
    for (uint32_t i = 0; i < checked->assignments_count; i++) {
        const weft__lang_assignment *a = &checked->assignments[i];
        int fold = weft__nest_fold_of(n->nest, program, a->operand);
        if (fold < 0)
            continue;
        if (!weft__accumulator_cast(n->nest, fold, n->accumulators[fold], &checked->nodes[a->node],
                                    &casts[fold]))
            *why = "what it folds is of another type than what it is folded into";
    }
    weft__lang_free(checked);
    return WEFT_OK;
}

static weft_status evaluate_folded(const nesting *n, const weft__lang_operand *types,
                                   weft__nest_plan *plan, const char **why)
{
    weft__portable_program *program = &plan->launch.program;
    uint8_t casts[WEFT__NEST_FOLDS_MAX] = {0};
    TRY(choose_casts(n, program, types, casts, why));
    if (*why)
        return WEFT_OK;
    TRY(weft__nest_fold_results(n->nest, casts, program));
    return weft__evaluation_new(program->syntax, types, (int)program->operands_count,
                                &plan->launch.evaluation);
}

static weft_status evaluate(const nesting *n, weft__nest_plan *plan, const char **why)
{
    const weft__portable_program *program = &plan->launch.program;
    size_t count = program->operands_count;
    weft__lang_operand *types = weft__allocate_zeroed((count + 1) * sizeof *types);
    if (!types)
        return WEFT_ERROR_MEMORY;
    for (uint32_t i = 0; i < count; i++) {
        types[i] = n->types[program->operands[i].argument];
        if (types[i].tag != WEFT_OPERAND_NUMBER)
            types[i].shape = program->operands[i].form == WEFT__PORTABLE_WHOLE
                                 ? (weft_shape){0, {0}}
                                 : program->points;
        if (weft__nest_fold_of(n->nest, program, (int32_t)i) >= 0)
            types[i] = (weft__lang_operand){.tag = WEFT_OPERAND_ARRAY, .unset = true};
    }
    weft_status status = evaluate_folded(n, types, plan, why);
    weft__free(types);
    return status;
}

/* Halves round where they are stored, and complex folds are not combined here. */
static const char *unsuitable(const nesting *n)
{
    for (int i = 0; i < n->nest->operands_count; i++) {
        uint8_t dtype = n->types[i].dtype;
        bool half = dtype == WEFT_F16 || dtype == WEFT_BF16;
        if (n->nest->operands[i].role != WEFT__ROLE_VARIABLE)
            continue;
        if (half && (n->nest->has_privates || n->nest->folds_count))
            return "it has variables of f16 or bf16";
        if (weft__number_is_complex(dtype) && n->nest->folds_count)
            return "it folds complex numbers";
    }
    return NULL;
}

/* Loops that store and loops that fold are kernels of their own. */
static bool saves_kernels(const weft__function_nest *nest, const weft__nest_plan *plan)
{
    const weft__lang_syntax *s = nest->syntax;
    uint32_t apart = 0;
    for (int k = 0, i = 0; k < nest->joined; k++) {
        bool stores = false, folds = false;
        for (; i < nest->joined_ends[k]; i++)
            if (s->statements[i].target >= 0) {
                bool fold = nest->operands[s->statements[i].target].role == WEFT__ROLE_FOLD;
                folds |= fold;
                stores |= !fold;
            }
        apart += stores + folds;
    }
    return plan->launch.evaluation->kernels_count < apart;
}

static weft_status try_rewrite(const nesting *n, weft__nest_plan *plan,
                               const int64_t *const *numbers)
{
    weft__portable_free(&plan->launch.program);
    return weft__portable_rewrite(n->nest->syntax, n->types, numbers, plan->ranges, &n->space, true,
                                  &plan->launch.program);
}

/* With elements as they may be, if that will do, so that the plan is good for others; else as they
 * are. */
static weft_status rewrite(nesting *n, weft__nest_plan *plan, const int64_t *const *numbers)
{
    weft_error saved = *weft_error_last();
    weft__extent_allowed(n->nest, n->types, plan->ranges);
    weft_status status = try_rewrite(n, plan, numbers);
    if (status == WEFT_OK || status == WEFT_ERROR_MEMORY || !n->nest->positions)
        return status;
    weft__error_restore(&saved);
    TRY(look(n));
    plan->looked = true;
    memcpy(plan->ranges, n->ranges, sizeof plan->ranges);
    weft__extent_widen(n->nest, n->types, plan->ranges);
    status = try_rewrite(n, plan, numbers);
    if (status == WEFT_OK || status == WEFT_ERROR_MEMORY)
        return status;
    weft__error_restore(&saved);
    memcpy(plan->ranges, n->ranges, sizeof plan->ranges);
    return try_rewrite(n, plan, numbers);
}

static weft_status make_plan(nesting *n, weft__nest_plan *plan)
{
    const weft__lang_syntax *s = n->nest->syntax;
    const int64_t *numbers[WEFT__NEST_OPERANDS_MAX];
    weft_error saved = *weft_error_last();
    const char *why = unsuitable(n);
    plan->space = n->space;
    memcpy(plan->types, n->types, (size_t)n->nest->operands_count * sizeof *plan->types);
    memcpy(plan->accumulators, n->accumulators,
           (size_t)n->nest->folds_count * sizeof *plan->accumulators);
    for (int i = 0; i < n->nest->operands_count; i++)
        numbers[i] = value_of(n, i, &plan->values[i]);
    plan->made = true;
    if (why)
        return serial(n, why);
    weft__affine *forms = weft__allocate((s->nodes_count + (size_t)1) * sizeof *forms);
    if (!forms)
        return WEFT_ERROR_MEMORY;
    for (uint32_t i = 0; i < s->nodes_count; i++)
        forms[i] = weft__affine_of(s, (int32_t)i, forms, numbers);
    bool depends = weft__nest_depends(n->nest, &n->space, forms);
    weft__free(forms);
    if (depends)
        return WEFT_OK;
    weft_status status = rewrite(n, plan, numbers);
    if (status == WEFT_OK)
        status = evaluate(n, plan, &why);
    if (status == WEFT_OK && !why && n->nest->joined && !saves_kernels(n->nest, plan))
        why = "they would be as many kernels together";
    if (why)
        return serial(n, why);
    plan->parallel = status == WEFT_OK;
    if (status == WEFT_OK || status == WEFT_ERROR_MEMORY)
        return status;
    weft__nest_refuse_kernel(n->r->function, n->nest, s->code);
    weft__error_restore(&saved);
    return WEFT_OK;
}

static bool find_made(const nesting *n, weft__nest_plan **found)
{
    weft__function_nest *nest = n->nest;
    for (int i = 0; i < WEFT__NEST_PLANS; i++)
        if (fits(n, &nest->plans[i])) {
            *found = &nest->plans[i];
            if (!nest->plans[i].parallel)
                nest->reason = nest->plans[i].reason;
            return true;
        }
    return false;
}

/* Plans that arrays were looked at for are found by looking again. */
static weft_status find_plan(nesting *n, weft__nest_plan **found)
{
    weft__function_nest *nest = n->nest;
    bool looks = false;
    for (int i = 0; i < WEFT__NEST_PLANS; i++)
        looks |= nest->plans[i].made && nest->plans[i].looked;
    if (nest->positions)
        weft__extent_allowed(nest, n->types, n->ranges);
    if (find_made(n, found))
        return WEFT_OK;
    if (looks)
        TRY(look(n));
    if (looks && find_made(n, found))
        return WEFT_OK;
    *found = &nest->plans[nest->oldest];
    nest->oldest = (nest->oldest + 1) % WEFT__NEST_PLANS;
    free_plan(*found);
    nest->reason.text[0] = 0;
    weft_status status = make_plan(n, *found);
    (*found)->reason = nest->reason;
    if (status != WEFT_OK)
        free_plan(*found);
    return status;
}

/* What is written shares no memory with anything else. */
static bool is_apart(const nesting *n)
{
    for (int i = 0; i < n->nest->operands_count; i++) {
        const weft__nest_operand *a = &n->nest->operands[i];
        if (!a->written)
            continue;
        const weft_array *written = weft__held_any(&n->r->held[a->index]);
        if (written->overlapping)
            return false;
        for (int k = 0; k < n->nest->operands_count; k++) {
            const weft__nest_operand *b = &n->nest->operands[k];
            if (k != i && b->element && b->role == WEFT__ROLE_VARIABLE &&
                weft__array_may_overlap(written, weft__held_any(&n->r->held[b->index])))
                return false;
        }
    }
    return true;
}

/* The same for two kernels: the first reads everything before the second writes. */
static bool are_apart(const nesting *n, const weft__function_nest *second)
{
    for (int i = 0; i < second->operands_count; i++) {
        const weft__nest_operand *a = &second->operands[i];
        for (int k = 0; a->written && k < n->nest->operands_count; k++) {
            const weft__nest_operand *b = &n->nest->operands[k];
            if (b->element && b->role == WEFT__ROLE_VARIABLE &&
                weft__array_may_overlap(weft__held_any(&n->r->held[a->index]),
                                        weft__held_any(&n->r->held[b->index])))
                return false;
        }
    }
    return true;
}

/* Whether the loop gives every element a new value and reads none. */
static bool overwrites(const nesting *n, const weft__nest_plan *plan, int argument,
                       const weft_array *array)
{
    const weft__portable_program *program = &plan->launch.program;
    int64_t points = 1;
    for (int k = 0; k < n->space.ndim; k++)
        points *= n->space.size[k];
    if (!n->nest->operands[argument].written || points != weft__array_count(array))
        return false;
    for (uint32_t i = 0; i < program->syntax->nodes_count; i++) {
        const weft__syntax_node *node = &program->syntax->nodes[i];
        if ((node->kind == WEFT__SYNTAX_OPERAND || node->kind == WEFT__SYNTAX_GATHER) &&
            program->operands[node->index].argument == argument)
            return false;
    }
    return true;
}

/* The arrays of the kernel, brought to where it runs. */
static weft_status gather(nesting *n, const weft__nest_plan *plan)
{
    for (int i = 0; i < n->nest->operands_count; i++) {
        const weft__nest_operand *o = &n->nest->operands[i];
        if (!o->element || o->role != WEFT__ROLE_VARIABLE)
            continue;
        bool discard = overwrites(n, plan, i, weft__held_any(&n->r->held[o->index]));
        n->operands[i] = (weft_operand){.tag = n->types[i].tag};
        TRY(weft__held_device(n->r, o->index, discard, &n->operands[i].value.array));
    }
    return WEFT_OK;
}

enum { VIEWS_MAX = 64 };

/* What one launch works on. */
typedef struct launching {
    weft_array views[VIEWS_MAX];
    weft_operand operands[VIEWS_MAX];
    weft_array *results[WEFT__NEST_FOLDS_MAX];
} launching;

static weft_status make_result(const nesting *n, weft_array **made)
{
    weft_options options = {.struct_size = sizeof options, .device = n->r->device};
    const char *operation = weft__operation();
    *made = weft_handle_with(&options);
    OPERATION(operation);
    return *made ? WEFT_OK : weft_error_code();
}

/* *viewed is false if an array has no such view. */
static weft_status make_views(const nesting *n, const weft__nest_plan *plan, launching *l,
                              bool *viewed)
{
    const weft__portable_program *program = &plan->launch.program;
    *viewed = true;
    for (uint32_t i = 0; i < program->operands_count && *viewed; i++) {
        const weft__portable_operand *o = &program->operands[i];
        int fold = weft__nest_fold_of(n->nest, program, (int32_t)i);
        l->operands[i] = n->operands[o->argument];
        if (fold >= 0) {
            TRY(make_result(n, &l->results[fold]));
            l->operands[i] = (weft_operand){.tag = WEFT_OPERAND_ARRAY};
            l->operands[i].value.array = l->results[fold];
        } else if (o->form != WEFT__PORTABLE_NUMBER) {
            *viewed = weft__launch_view(&plan->launch, i, n->operands[o->argument].value.array,
                                        &l->views[i]);
            l->operands[i].value.array = &l->views[i];
        }
    }
    return WEFT_OK;
}

/* s = s + what was folded; not done if a value would have been cut in the loop. */
static weft_status take_folds(nesting *n, launching *l, bool *done)
{
    uint32_t column = n->r->function->statements[n->nest->statement].column;
    weft_operand values[WEFT__NEST_FOLDS_MAX];
    bool typed[WEFT__NEST_FOLDS_MAX];
    for (int k = 0; k < n->nest->folds_count; k++) {
        const weft__nest_fold *fold = &n->nest->folds[k];
        weft_array *result = l->results[k];
        weft_operand before;
        bool before_typed;
        TRY(weft__nest_fold_before(n->r, fold, &before, &before_typed));
        for (int i = 0; i < k; i++) /* it folds in several places */
            if (fold->variable >= 0 && n->nest->folds[i].variable == fold->variable) {
                before = values[i];
                before_typed = typed[i];
            }
        l->results[k] = NULL;
        TRY(weft__function_read(n->r, column, result, &values[k], &typed[k]));
        values[k] = weft__number_combine(fold->operation, &before, before_typed, &values[k],
                                         typed[k], &typed[k]);
        *done &= !weft__accumulator_overflows(n->accumulators[k], fold->operation, &values[k]);
    }
    if (!*done)
        return serial(n, "a value of it does not fit into the variable that it folds into");
    for (int k = 0; k < n->nest->folds_count; k++)
        TRY(weft__nest_fold_set(n->r, &n->nest->folds[k], &values[k], typed[k]));
    return WEFT_OK;
}

static weft_status run(nesting *n, bool *done);

/* Only what is read before it is written: the rest is large, and calls are short. */
static void start(nesting *n, weft__running *r, weft__function_nest *nest,
                  weft_array *const *folded)
{
    n->r = r;
    n->nest = nest;
    n->known = 0;
    n->space = (weft_shape){0, {0}};
    n->looked = false;
    n->folded = folded;
}

/* What follows a fold over some of the loops; nothing was written until then. */
static weft_status run_second(const nesting *n, const launching *l, bool *done)
{
    nesting second;
    start(&second, n->r, n->nest->second, l->results);
    TRY(run(&second, done));
    if (!*done)
        n->nest->reason = second.nest->reason;
    return WEFT_OK;
}

/* Weighs what the loop reads and writes. What follows a fold runs where the fold ran. */
static weft_status begin(nesting *n, const weft__nest_plan *plan)
{
    weft__burden work = {0};
    if (!n->r->automatic || n->folded)
        return WEFT_OK;
    for (int i = 0; i < n->nest->operands_count; i++) {
        const weft__nest_operand *o = &n->nest->operands[i];
        if (!o->element || o->role != WEFT__ROLE_VARIABLE)
            continue;
        const weft__held *held = &n->r->held[o->index];
        weft__burden_add(&work, held, !overwrites(n, plan, i, weft__held_any(held)), o->written);
    }
    weft__burden_kernels(&work, plan->launch.evaluation);
    for (int k = 0; k < n->nest->folds_count && !n->nest->second; k++)
        weft__burden_number(&work);
    return weft__region_begin(n->r, &work);
}

static weft_status launch(nesting *n, const weft__nest_plan *plan, launching *l, bool *done)
{
    weft_array *value = NULL;
    bool viewed;
    TRY(gather(n, plan));
    TRY(make_views(n, plan, l, &viewed));
    if (!viewed)
        return serial(n, "the elements of an array do not lie one after another");
    TRY(weft__function_evaluate(n->r, plan->launch.evaluation, l->operands,
                                n->r->function->statements[n->nest->statement].column, 0, &value));
    *done = !n->nest->second;
    if (n->nest->second)
        TRY(run_second(n, l, done));
    else
        TRY(take_folds(n, l, done));
    if (!*done)
        return WEFT_OK;
    n->nest->reason.text[0] = 0;
    weft__function_note_region(n->r, WEFT__DID_LOOP,
                               (int32_t)n->r->function->statements[n->nest->statement].column,
                               plan->launch.evaluation->kernels_count);
    for (int i = 0; i < n->nest->operands_count; i++)
        if (n->nest->operands[i].written)
            weft__held_wrote(n->r, n->nest->operands[i].index, true);
    return WEFT_OK;
}

/* What the outermost loop counts is what it would be after it. */
static void finish(nesting *n)
{
    const weft__nest_loop *loop = &n->nest->loops[0];
    weft_operand number = {.tag = WEFT_OPERAND_NUMBER, .dtype = WEFT_I64};
    number.value.i = n->base[0] + loop->step * n->trips[0];
    weft__function_set(n->r, loop->variable, &number, false);
}

static bool folds_numbers(const nesting *n)
{
    for (int k = 0; k < n->nest->folds_count && !n->nest->second; k++)
        if (!weft__nest_fold_is_number(n->r, &n->nest->folds[k]))
            return false;
    return true;
}

static weft_status run(nesting *n, bool *done)
{
    weft__nest_plan *plan;
    launching l;
    bool empty = false;
    n->space.ndim = n->nest->depth;
    for (int k = 0; k < n->nest->depth; k++) {
        if (!count_loop(n, k))
            return serial(n, "its bounds are not integers that are known before it");
        n->space.size[n->nest->axis[k]] = n->trips[k];
        empty |= n->trips[k] == 0;
    }
    if (!find_types(n) || !folds_numbers(n))
        return serial(n, "a variable in it is an array, or a number, where it must not be");
    if (empty && n->nest->second)
        return serial(n, "there is nothing to fold");
    if (empty) {
        *done = true;
        finish(n);
        return WEFT_OK;
    }
    for (int k = 0; k < n->nest->folds_count; k++)
        n->accumulators[k] = weft__accumulator_of(n->r, n->nest, k);
    if (!is_apart(n) || (n->nest->second && !are_apart(n, n->nest->second)))
        return serial(n, "arrays that it writes share memory with others in it");
    TRY(find_plan(n, &plan));
    if (!plan->parallel || plan->launch.program.operands_count > VIEWS_MAX)
        return WEFT_OK;
    memset(l.results, 0, sizeof l.results);
    TRY(begin(n, plan));
    weft_status status = launch(n, plan, &l, done);
    if (!n->folded)
        weft__region_end(n->r);
    for (int k = 0; k < n->nest->folds_count; k++)
        weft_array_release(l.results[k]);
    if (status == WEFT_OK && *done)
        finish(n);
    return status;
}

bool weft__nest_count(weft__running *r, weft__function_nest *nest, weft__nest_bounds *bounds)
{
    nesting n;
    start(&n, r, nest, NULL);
    for (int k = 0; k < nest->depth; k++)
        if (!count_loop(&n, k))
            return false;
    memcpy(bounds->base, n.base, sizeof n.base);
    memcpy(bounds->trips, n.trips, sizeof n.trips);
    return true;
}

weft_status weft__nest_run(weft__running *r, weft__function_nest *nest, bool *done)
{
    nesting n;
    *done = false;
    start(&n, r, nest, NULL);
    return run(&n, done);
}

weft_status weft__function_nest_run(weft__running *r, int32_t at, bool *done)
{
    weft__function_nest *nest = r->function->nests[at];
    *done = false;
    if (nest->candidate)
        TRY(weft__nest_run(r, nest, done));
    nest->done = *done;
    if (!*done && nest->task)
        TRY(weft__task_run(r, nest->task, done));
    if (!*done)
        weft__function_note(r->function, WEFT__DID_SERIAL,
                            (int32_t)r->function->statements[nest->statement].column, 0);
    return WEFT_OK;
}
