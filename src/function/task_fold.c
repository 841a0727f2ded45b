/* What tasks of several iterations leave to those that follow: variables that are folded, or set
 * last, and arrays of integers that are folded into. */
#include "core/allocate.h"
#include "function/emit.h"
#include "function/number.h"
#include "function/task_plan.h"
#include "kernel/run.h"
#include <string.h>

/* How many statements assign the variable, and how many parts read it. */
typedef struct counting {
    int assigned, read, folded;
    uint8_t operation;
    bool several;  /* operations */
    bool elements; /* are among what it is assigned */
} counting;

/* Of "v = v op term": op, with subtractions among additions; or WEFT__LANG_OPERATION_END. */
static uint8_t fold_of(const weft__function *f, const weft__function_statement *s, int32_t target)
{
    if (s->kind == WEFT__STATEMENT_STEP)
        return WEFT__LANG_add;
    if (s->kind != WEFT__STATEMENT_ASSIGN)
        return WEFT__LANG_OPERATION_END;
    const weft__function_part *part = &f->parts[s->part];
    const weft__lang_syntax *syntax = part->syntax;
    const weft__syntax_node *root = &syntax->nodes[part->node];
    int reads = 0;
    if (root->kind != WEFT__SYNTAX_CALL || root->count != 2)
        return WEFT__LANG_OPERATION_END;
    for (uint32_t i = 0; i < syntax->nodes_count; i++)
        reads += syntax->nodes[i].kind == WEFT__SYNTAX_OPERAND && syntax->nodes[i].index == target;
    const weft__syntax_node *left = &syntax->nodes[syntax->arguments[root->first]];
    const weft__syntax_node *right = &syntax->nodes[syntax->arguments[root->first + 1]];
    const bool first = left->kind == WEFT__SYNTAX_OPERAND && left->index == target;
    const bool second = right->kind == WEFT__SYNTAX_OPERAND && right->index == target;
    if (reads != 1 || !(first || second))
        return WEFT__LANG_OPERATION_END;
    switch (root->operation) {
    case WEFT__LANG_subtract:
        return first ? WEFT__LANG_add : WEFT__LANG_OPERATION_END;
    case WEFT__LANG_add:
    case WEFT__LANG_bitwise_and:
    case WEFT__LANG_bitwise_or:
    case WEFT__LANG_bitwise_xor:
    case WEFT__LANG_logical_and:
    case WEFT__LANG_logical_or:
        return root->operation;
    default:
        return WEFT__LANG_OPERATION_END;
    }
}

static bool reads(const weft__function_part *part, int32_t variable)
{
    bool found = false;
    for (int i = 0; i < part->names_count; i++)
        found |= part->variables[i] == variable && part->whole[i];
    return found;
}

static void count_statement(const weft__function *f, const weft__function_statement *s,
                            int32_t variable, counting *c)
{
    for (int32_t k = 0; k < s->parts_count; k++)
        c->read += reads(&f->parts[s->part + k], variable);
    if (s->variable != variable)
        return;
    const uint8_t operation =
        fold_of(f, s, s->kind == WEFT__STATEMENT_ASSIGN ? f->parts[s->part].target : -1);
    c->assigned++;
    for (int32_t k = 0; k < s->parts_count; k++)
        c->elements |= f->parts[s->part + k].elements_count > 0;
    c->read += s->kind == WEFT__STATEMENT_STEP;
    c->several |= c->assigned > 1 && c->operation != operation;
    c->folded += operation != WEFT__LANG_OPERATION_END;
    c->operation = operation;
}

static void count_uses(const weft__function *f, int32_t first, int32_t variable, counting *c)
{
    for (int32_t at = first; at >= 0; at = f->statements[at].next) {
        const weft__function_statement *s = &f->statements[at];
        count_statement(f, s, variable, c);
        count_uses(f, s->child, variable, c);
        count_uses(f, s->other, variable, c);
        count_uses(f, s->init, variable, c);
        count_uses(f, s->step, variable, c);
    }
}

static counting uses_of(const weft__function *f, int32_t first, int32_t variable)
{
    counting c = {0};
    count_uses(f, first, variable, &c);
    return c;
}

/* "if (t < v) { v = t; … }", with nothing but assignments to variables in it: the statement that
 * assigns v, or NULL. */
static const weft__function_statement *extreme_of(const weft__function *f,
                                                  const weft__function_statement *s,
                                                  int32_t variable, uint8_t *operation)
{
    const weft__function_statement *found = NULL;
    if (s->kind != WEFT__STATEMENT_IF || s->other >= 0)
        return NULL;
    for (int32_t at = weft__nest_body(f, s->child); at >= 0; at = f->statements[at].next) {
        const weft__function_statement *in = &f->statements[at];
        if ((in->kind != WEFT__STATEMENT_ASSIGN && in->kind != WEFT__STATEMENT_DECLARE) ||
            in->variable < 0 || (in->variable == variable && found))
            return NULL;
        if (in->variable == variable)
            found = in;
    }
    if (!found || found->kind != WEFT__STATEMENT_ASSIGN)
        return NULL;
    const weft__function_part *part = &f->parts[found->part];
    const weft__token sign = weft__emit_operator(f, part);
    return sign.kind == WEFT__TOKEN_ASSIGN &&
                   weft__emit_compares(f, &f->parts[s->part], variable, sign.at + sign.length,
                                       part->end, operation)
               ? found
               : NULL;
}

/* The statement among these, and those in them, that is such a choice; -1 if there is none. */
static int32_t find_extreme(const weft__function *f, int32_t first, int32_t variable,
                            uint8_t *operation)
{
    int32_t found = -1;
    for (int32_t at = first; at >= 0 && found < 0; at = f->statements[at].next) {
        const weft__function_statement *s = &f->statements[at];
        found = extreme_of(f, s, variable, operation)
                    ? at
                    : find_extreme(f, s->child, variable, operation);
        if (found < 0)
            found = find_extreme(f, s->other, variable, operation);
    }
    return found;
}

static weft__task_kept *add_kept(weft__task *task, int32_t variable, uint8_t kind)
{
    if (task->kept_count == WEFT__TASK_KEPT)
        return NULL;
    weft__task_kept *kept = &task->kept[task->kept_count++];
    *kept = (weft__task_kept){.variable = variable, .kind = kind, .leader = -1};
    task->kinds[variable] = kind;
    return kept;
}

/* What the choice sets besides goes with it, and is used nowhere else; nor is it made of what an
 * earlier choice left, which another part may have made. */
static bool add_followers(const weft__function *f, weft__task *task, int32_t choice,
                          int32_t variable)
{
    const int32_t body = f->statements[task->statement].child;
    const int32_t inside = f->statements[choice].child;
    for (uint32_t i = 0; i < f->variables_count; i++) {
        const counting in = uses_of(f, inside, (int32_t)i), all = uses_of(f, body, (int32_t)i);
        if ((int32_t)i == variable || !in.assigned)
            continue;
        if (in.assigned != all.assigned || in.read != all.read || task->kinds[i] ||
            weft__function_carries(f, task->statement, (int32_t)i))
            return false;
        task->guesses |= in.elements; /* a part makes choices that the loop does not make */
        if (!weft__function_live_after(f, task->statement, (int32_t)i))
            continue;
        weft__task_kept *kept = add_kept(task, (int32_t)i, WEFT__KEPT_FOLLOWS);
        if (!kept)
            return false;
        kept->leader = variable;
    }
    return true;
}

static bool add_extreme(const weft__function *f, weft__task *task, int32_t variable)
{
    const int32_t body = f->statements[task->statement].child;
    const counting c = uses_of(f, body, variable);
    uint8_t operation = 0;
    const int32_t choice = find_extreme(f, body, variable, &operation);
    if (choice < 0 || c.assigned != 1 || c.read != 1)
        return false;
    weft__task_kept *kept = add_kept(task, variable, WEFT__KEPT_EXTREME);
    if (!kept)
        return false;
    const weft__function_part *condition = &f->parts[f->statements[choice].part];
    const uint8_t compare = condition->syntax->nodes[condition->node].operation;
    kept->operation = operation;
    kept->closed = compare == WEFT__LANG_less_equal || compare == WEFT__LANG_greater_equal;
    return add_followers(f, task, choice, variable);
}

static bool add_fold(const weft__function *f, weft__task *task, int32_t variable)
{
    const counting c = uses_of(f, f->statements[task->statement].child, variable);
    if (!c.folded || c.folded != c.assigned || c.read != c.folded || c.several)
        return false;
    weft__task_kept *kept = add_kept(task, variable, WEFT__KEPT_FOLD);
    if (kept)
        kept->operation = c.operation;
    const bool decides =
        c.operation == WEFT__LANG_logical_and || c.operation == WEFT__LANG_logical_or;
    task->guesses |= decides && c.elements; /* that are not looked at once it is decided */
    return kept != NULL;
}

/* Arrays whose elements are folded into, all by one operation, and not read otherwise. */
static void find_arrays(const weft__function *f, weft__task *task, int32_t first)
{
    for (int32_t at = first; at >= 0; at = f->statements[at].next) {
        const weft__function_statement *s = &f->statements[at];
        for (int32_t k = 0; k < s->parts_count; k++) {
            const weft__function_part *part = &f->parts[s->part + k];
            const bool assigns = s->kind == WEFT__STATEMENT_ASSIGN && s->variable < 0;
            const uint8_t operation =
                assigns ? fold_of(f, s, part->target) : WEFT__LANG_OPERATION_END;
            for (int i = 0; i < part->elements_count; i++) {
                uint8_t *fold = &task->folds[part->elements[i].variable];
                const bool target = part->target == part->names_count + i;
                const bool fits =
                    target && (operation == WEFT__LANG_add || operation == WEFT__LANG_bitwise_or ||
                               operation == WEFT__LANG_bitwise_xor);
                *fold = fits && (*fold == 0 || *fold == 1 + operation) ? (uint8_t)(1 + operation)
                                                                       : UINT8_MAX;
            }
        }
        find_arrays(f, task, s->child);
        find_arrays(f, task, s->other);
        find_arrays(f, task, s->init);
        find_arrays(f, task, s->step);
    }
}

bool weft__task_find_kept(const weft__function *f, weft__task *task)
{
    bool fine = true;
    find_arrays(f, task, f->statements[task->statement].child);
    for (int round = 0; round < 2; round++) /* extremes come before those that follow them */
        for (uint32_t i = 0; i < f->variables_count && fine; i++) {
            const int32_t variable = (int32_t)i;
            if (!task->assigned[i] || task->kinds[i])
                continue;
            const bool carried = weft__function_carries(f, task->statement, variable);
            if (carried && round == 0)
                fine = add_fold(f, task, variable) || add_extreme(f, task, variable);
            else if (!carried && round == 1 &&
                     weft__function_live_after(f, task->statement, variable))
                fine = add_kept(task, variable, WEFT__KEPT_LAST) != NULL;
        }
    return fine;
}

static bool is_better(const weft__task_kept *kept, const weft_operand *a, const weft_operand *b)
{
    const bool least = kept->operation == WEFT__LANG_minimum;
    const weft_operand *low = least ? a : b, *high = least ? b : a;
    if (a->dtype == WEFT_F32 || a->dtype == WEFT_F64)
        return kept->closed ? low->value.f <= high->value.f : low->value.f < high->value.f;
    if (a->dtype == WEFT_U64)
        return kept->closed ? low->value.u <= high->value.u : low->value.u < high->value.u;
    return kept->closed ? low->value.i <= high->value.i : low->value.i < high->value.i;
}

static uint64_t fold(uint8_t operation, uint64_t a, uint64_t b)
{
    switch (operation) {
    case WEFT__LANG_add:
        return a + b;
    case WEFT__LANG_bitwise_and:
        return a & b;
    case WEFT__LANG_bitwise_or:
        return a | b;
    case WEFT__LANG_bitwise_xor:
        return a ^ b;
    case WEFT__LANG_logical_and:
        return a && b;
    default:
        return a || b;
    }
}

/* What one part left of a variable, as the variable holds it. */
static weft_operand left_by(const weft__held *held, const void *values, int64_t part)
{
    const weft_dtype kept = weft__serial_kept((uint8_t)held->number.dtype);
    weft_operand number =
        weft__number_load((const char *)values + (size_t)part * weft_dtype_size(kept), kept);
    number.dtype = held->number.dtype;
    return number;
}

/* Whether the part's value of variable number k becomes that of the variable. */
static bool takes(weft__running *r, const weft__task *task, int k, int64_t part, int64_t leader,
                  const weft_operand *number)
{
    const weft__task_kept *kept = &task->kept[k];
    if (kept->kind == WEFT__KEPT_EXTREME)
        return is_better(kept, number, &r->held[kept->variable].number);
    return kept->kind == WEFT__KEPT_LAST || leader == part;
}

/* Followers come behind what they follow, and take what the same part left. */
void weft__task_put_together(weft__running *r, const weft__task *task, int64_t parts,
                             void *const *values, int64_t *const *flags)
{
    int64_t leaders[WEFT__TASK_KEPT]; /* of extremes: the part that they are from */
    for (int k = 0; k < task->kept_count; k++) {
        const weft__task_kept *kept = &task->kept[k];
        const weft__held *held = &r->held[kept->variable];
        int64_t leader = -1;
        for (int j = 0; j < k; j++)
            if (kept->leader >= 0 && task->kept[j].variable == kept->leader)
                leader = leaders[j];
        leaders[k] = -1;
        for (int64_t part = 0; part < parts; part++) {
            weft_operand number = left_by(held, values[k], part);
            if (!flags[k][part])
                continue;
            if (kept->kind == WEFT__KEPT_FOLD)
                number.value.u = fold(kept->operation, held->number.value.u, number.value.u);
            else if (!takes(r, task, k, part, leader, &number))
                continue;
            leaders[k] = part;
            weft__function_set(r, kept->variable, &number, held->typed);
        }
    }
}

static weft__op op_of(uint8_t operation)
{
    return operation == WEFT__LANG_add          ? WEFT__OP_add
           : operation == WEFT__LANG_bitwise_or ? WEFT__OP_or
                                                : WEFT__OP_xor;
}

/* Where element number `point` in C order is, by the sizes and strides that are the scalars. */
static int32_t place_of(weft__builder *b, int ndim, const int32_t *sizes, const int32_t *strides,
                        int32_t point)
{
    int32_t sum = weft__build_constant(b, WEFT_I64, 0);
    for (int k = ndim - 1; k >= 0; k--) {
        int32_t at = weft__build(b, WEFT__OP_rem, WEFT_I64, point, sizes[k], 0);
        at = weft__build(b, WEFT__OP_mul, WEFT_I64, at, strides[k], 0);
        sum = weft__build(b, WEFT__OP_add, WEFT_I64, sum, at, 0);
        point = weft__build(b, WEFT__OP_div, WEFT_I64, point, sizes[k], 0);
    }
    return sum;
}

/* The element of all parts, one after the other. */
static int32_t fold_parts(weft__builder *b, weft__op op, weft_dtype dtype, int32_t point,
                          int32_t count, int32_t parts)
{
    const int32_t zero = weft__build_constant(b, WEFT_I64, 0);
    const int32_t at = weft__build_flow(b, WEFT__OP_carry, WEFT_I64, zero, 0);
    const int32_t sum =
        weft__build_flow(b, WEFT__OP_carry, dtype, weft__build_constant(b, dtype, 0), 0);
    weft__build_flow(b, WEFT__OP_loop, WEFT_BOOL, 0, 0);
    weft__build_flow(b, WEFT__OP_test, WEFT_BOOL,
                     weft__build(b, WEFT__OP_lt, WEFT_BOOL, at, parts, 0), 0);
    int32_t from = weft__build(b, WEFT__OP_mul, WEFT_I64, at, count, 0);
    from = weft__build(b, WEFT__OP_add, WEFT_I64, from, point, 0);
    const int32_t more = weft__build(b, op, dtype, sum, weft__build_gather(b, 1, from).part[0], 0);
    const int32_t next =
        weft__build(b, WEFT__OP_add, WEFT_I64, at, weft__build_constant(b, WEFT_I64, 1), 0);
    weft__build_flow(b, WEFT__OP_next, WEFT_I64, at, next);
    weft__build_flow(b, WEFT__OP_next, dtype, sum, more);
    weft__build_flow(b, WEFT__OP_end, WEFT_BOOL, 0, 0);
    return sum;
}

static void build_fold(weft__builder *b, int ndim, weft_dtype dtype, weft__op op)
{
    int32_t sizes[WEFT_NDIM_MAX], strides[WEFT_NDIM_MAX];
    weft__build_operand(b, dtype, true);
    weft__build_operand(b, dtype, false);
    const int32_t parts = weft__build_scalar(b, WEFT_I64), count = weft__build_scalar(b, WEFT_I64);
    for (int k = 0; k < ndim; k++)
        sizes[k] = weft__build_scalar(b, WEFT_I64);
    for (int k = 0; k < ndim; k++)
        strides[k] = weft__build_scalar(b, WEFT_I64);
    const int32_t point = weft__build_index(b, 0), yes = weft__build_constant(b, WEFT_BOOL, 1);
    const int32_t place = place_of(b, ndim, sizes, strides, point);
    const int32_t sum = fold_parts(b, op, dtype, point, count, parts);
    const int32_t go = weft__build_flow(b, WEFT__OP_carry, WEFT_BOOL, yes, 0);
    weft__build_flow(b, WEFT__OP_loop, WEFT_BOOL, 0, 0);
    weft__build_flow(b, WEFT__OP_test, WEFT_BOOL, go, 0);
    const int32_t old = weft__build_gather(b, 0, place).part[0];
    weft__build_scatter(b, 0, place, weft__build(b, op, dtype, old, sum, 0), yes);
    weft__build_flow(b, WEFT__OP_next, WEFT_BOOL, go, weft__build_constant(b, WEFT_BOOL, 0));
    weft__build_flow(b, WEFT__OP_end, WEFT_BOOL, 0, 0);
    b->kernel.ndim = 1;
}

weft_status weft__task_fold_array(weft__running *r, weft_array *array, weft_array *parts_of_it,
                                  int64_t parts, uint8_t operation)
{
    const int ndim = array->shape.ndim;
    const int64_t count = weft__array_count(array);
    const int64_t bytes = (int64_t)weft_dtype_size((weft_dtype)array->dtype);
    uint64_t scalars[2 + 2 * WEFT_NDIM_MAX] = {(uint64_t)parts, (uint64_t)count};
    weft_array views[2] = {*array, *parts_of_it}, *arrays[] = {&views[0], &views[1]};
    weft__builder b;
    for (int k = 0; k < ndim; k++) {
        scalars[2 + k] = (uint64_t)array->shape.size[k];
        scalars[2 + ndim + k] = (uint64_t)(array->stride[k] / bytes);
    }
    views[0].shape.ndim = views[1].shape.ndim = 0;
    weft__build_begin(&b);
    build_fold(&b, ndim, (weft_dtype)array->dtype, op_of(operation));
    weft_status status = weft__build_finish(&b);
    if (status == WEFT_OK)
        status = weft__kernel_run_tasks(&b.kernel, r->stream, count, (uint32_t)(8 * parts + 16),
                                        arrays, scalars);
    weft__build_free(&b);
    return status;
}
