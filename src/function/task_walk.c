/* Walking through a loop: which elements its iterations use, as affine forms of what the loops
 * count, and what is known where they do. */
#include "function/number.h"
#include "function/task.h"
#include <string.h>

enum { DEPTH_MAX = 32, ROUNDS_UNKNOWN = 16 };

/* A loop with more rounds does not end while somebody waits for it. */
static const int64_t rounds_max = INT64_C(1) << 40;

static void walk_list(weft__task_view *v, int32_t first);

static bool scale(weft__affine *form, int64_t by)
{
    bool fits = !__builtin_mul_overflow(form->constant, by, &form->constant);
    for (int k = 0; k < WEFT__TASK_SYMBOLS; k++)
        fits &= !__builtin_mul_overflow(form->factor[k], by, &form->factor[k]);
    return form->valid &= fits;
}

/* a + by*b. */
static weft__affine sum_of(weft__affine a, weft__affine b, int64_t by)
{
    a.valid &= scale(&b, by);
    bool fits = !__builtin_add_overflow(a.constant, b.constant, &a.constant);
    for (int k = 0; k < WEFT__TASK_SYMBOLS; k++)
        fits &= !__builtin_add_overflow(a.factor[k], b.factor[k], &a.factor[k]);
    a.valid &= fits;
    return a;
}

static weft__affine constant(int64_t value)
{
    return (weft__affine){.valid = true, .constant = value};
}

static bool is_constant(const weft__affine *form)
{
    bool constant = form->valid;
    for (int k = 0; k < WEFT__TASK_SYMBOLS; k++)
        constant &= form->factor[k] == 0;
    return constant;
}

/* Between which integers the form is, where loops that are not known have so many rounds at most,
 * or -1; false if that is not known, or does not fit. */
static bool range_of(const weft__task_view *v, const weft__affine *form, int64_t unknown,
                     int64_t *low, int64_t *high)
{
    *low = *high = form->constant;
    for (int k = 0; k < WEFT__TASK_SYMBOLS; k++) {
        const int64_t most = v->most[k] < 0 ? unknown : v->most[k];
        int64_t reach;
        if (form->factor[k] == 0)
            continue;
        if (most < 0 || __builtin_mul_overflow(form->factor[k], most, &reach) ||
            __builtin_add_overflow(reach < 0 ? *low : *high, reach, reach < 0 ? low : high))
            return false;
    }
    return form->valid;
}

/* The form of what is compared, or is a subscript: not valid if it may wrap around. */
static weft__affine exact(const weft__task_view *v, weft__affine form)
{
    int64_t low, high;
    form.valid = range_of(v, &form, rounds_max, &low, &high);
    return form;
}

static weft__affine form_of(const weft__task_view *v, const weft__function_part *part, int32_t at,
                            int depth);

static weft__affine form_of_call(const weft__task_view *v, const weft__function_part *part,
                                 const weft__syntax_node *n, int depth)
{
    static const weft__affine unknown;
    const int32_t *arguments = part->syntax->arguments + n->first;
    if (n->count < 1 || n->count > 2)
        return unknown;
    weft__affine a = form_of(v, part, arguments[0], depth + 1);
    weft__affine b = n->count == 2 ? form_of(v, part, arguments[1], depth + 1) : constant(0);
    switch (n->operation) {
    case WEFT__LANG_positive:
    case WEFT__LANG_add:
        return sum_of(a, b, 1);
    case WEFT__LANG_negative:
        return sum_of(constant(0), a, -1);
    case WEFT__LANG_subtract:
        return sum_of(a, b, -1);
    case WEFT__LANG_multiply:
        if (is_constant(&b))
            return scale(&a, b.constant) ? a : unknown;
        return is_constant(&a) && scale(&b, a.constant) ? b : unknown;
    case WEFT__LANG_divide:
    case WEFT__LANG_modulo:
        if (!is_constant(&a) || !is_constant(&b) || b.constant <= 0)
            return unknown;
        return constant(n->operation == WEFT__LANG_divide ? a.constant / b.constant
                                                          : a.constant % b.constant);
    default:
        return unknown;
    }
}

static weft__affine form_of_variable(const weft__task_view *v, int32_t variable)
{
    const weft__held *held = &v->r->held[variable];
    int64_t value;
    if (v->assigned[variable])
        return v->forms[variable];
    if (held->holding == WEFT__NUMBER && weft__number_integer(&held->number, &value))
        return constant(value);
    return (weft__affine){0};
}

/* Not valid if it is something else. */
static weft__affine form_of(const weft__task_view *v, const weft__function_part *part, int32_t at,
                            int depth)
{
    const weft__syntax_node *n = &part->syntax->nodes[at];
    if (depth > DEPTH_MAX)
        return (weft__affine){0};
    if (n->kind == WEFT__SYNTAX_CALL)
        return form_of_call(v, part, n, depth);
    if (n->kind == WEFT__SYNTAX_LITERAL && n->weak && n->dtype == WEFT_I64 &&
        n->value.integer <= INT64_MAX)
        return constant(n->negative ? -(int64_t)n->value.integer : (int64_t)n->value.integer);
    if (n->kind == WEFT__SYNTAX_OPERAND && n->index < part->names_count)
        return form_of_variable(v, part->variables[n->index]);
    return (weft__affine){0};
}

static void add_fact(weft__task_view *v, weft__affine form)
{
    if (!form.valid || v->facts_count == WEFT__TASK_FACTS)
        return; /* less is known, which is safe */
    v->facts[v->facts_count] = (weft__task_fact){form, v->fact};
    v->fact = v->facts_count++;
}

/* a + less <= b. */
static void add_order(weft__task_view *v, weft__affine a, weft__affine b, int64_t less)
{
    add_fact(v, sum_of(sum_of(b, a, -1), constant(less), -1));
}

static void add_comparison(weft__task_view *v, uint8_t operation, weft__affine a, weft__affine b,
                           bool holds)
{
    a = exact(v, a);
    b = exact(v, b);
    switch (operation) {
    case WEFT__LANG_less:
        holds ? add_order(v, a, b, 1) : add_order(v, b, a, 0);
        return;
    case WEFT__LANG_less_equal:
        holds ? add_order(v, a, b, 0) : add_order(v, b, a, 1);
        return;
    case WEFT__LANG_greater:
        holds ? add_order(v, b, a, 1) : add_order(v, a, b, 0);
        return;
    case WEFT__LANG_greater_equal:
        holds ? add_order(v, b, a, 0) : add_order(v, a, b, 1);
        return;
    default:
        break;
    }
    if (holds ? operation == WEFT__LANG_equal : operation == WEFT__LANG_not_equal) {
        add_order(v, a, b, 0);
        add_order(v, b, a, 0);
    }
}

/* What follows from a condition. */
static void add_condition(weft__task_view *v, const weft__function_part *part, int32_t at,
                          bool holds, int depth)
{
    const weft__syntax_node *n = &part->syntax->nodes[at];
    const int32_t *arguments = part->syntax->arguments + n->first;
    if (n->kind != WEFT__SYNTAX_CALL || n->count < 1 || n->count > 2 || depth > DEPTH_MAX)
        return;
    const bool both = n->operation == WEFT__LANG_logical_and && holds;
    const bool neither = n->operation == WEFT__LANG_logical_or && !holds;
    if (n->operation == WEFT__LANG_logical_not)
        add_condition(v, part, arguments[0], !holds, depth + 1);
    else if (both || neither)
        for (int k = 0; k < 2; k++)
            add_condition(v, part, arguments[k], holds, depth + 1);
    else if (n->count == 2)
        add_comparison(v, n->operation, form_of(v, part, arguments[0], 0),
                       form_of(v, part, arguments[1], 0), holds);
}

static void add_access(weft__task_view *v, const weft__function_part *part, int element)
{
    const weft__function_element *e = &part->elements[element];
    const weft__held *held = &v->r->held[e->variable];
    const bool array = held->holding == WEFT__ARRAY;
    if (v->accesses_count == WEFT__TASK_ACCESSES || !array || e->count > WEFT_NDIM_MAX ||
        (int)e->count != weft__held_any(held)->shape.ndim) {
        v->refused = true;
        return;
    }
    weft__task_access *a = &v->accesses[v->accesses_count++];
    *a = (weft__task_access){.variable = e->variable,
                             .count = (int)e->count,
                             .written = part->target == part->names_count + element,
                             .fact = v->fact};
    for (uint32_t k = 0; k < e->count; k++)
        a->subscripts[k] = exact(v, form_of(v, part, part->syntax->arguments[e->first + k], 0));
}

static void walk_part(weft__task_view *v, int32_t at)
{
    const weft__function_part *part = at < 0 ? NULL : &v->f->parts[at];
    for (int k = 0; part && k < part->elements_count && !v->refused; k++)
        add_access(v, part, k);
}

/* What the statements assign is not known any more. */
static void forget(weft__task_view *v, int32_t first)
{
    for (int32_t at = first; at >= 0; at = v->f->statements[at].next) {
        const weft__function_statement *s = &v->f->statements[at];
        if (s->variable >= 0)
            v->forms[s->variable].valid = false;
        forget(v, s->child);
        forget(v, s->other);
        forget(v, s->init);
        forget(v, s->step);
    }
}

/* An int keeps what fits into it. */
static void set_form(weft__task_view *v, int32_t variable, weft__affine form)
{
    const uint8_t dtype = v->f->variables[variable].dtype;
    int64_t low, high;
    form.valid &= !dtype || dtype == WEFT_I64 ||
                  (dtype == WEFT_I32 && range_of(v, &form, -1, &low, &high) && low >= INT32_MIN &&
                   high <= INT32_MAX);
    v->forms[variable] = form;
}

static void walk_assignment(weft__task_view *v, const weft__function_statement *s)
{
    walk_part(v, s->part);
    if (s->variable < 0)
        return;
    const weft__function_part *part = s->part < 0 ? NULL : &v->f->parts[s->part];
    set_form(v, s->variable, part ? form_of(v, part, part->node, 0) : constant(0));
}

/* The iterations behind a jump are those that did not take it. */
static bool jumps(const weft__task_view *v, const weft__function_statement *s)
{
    int32_t at = s->other >= 0 ? -1 : weft__nest_body(v->f, s->child);
    return at >= 0 && v->f->statements[at].next < 0 &&
           (v->f->statements[at].kind == WEFT__STATEMENT_CONTINUE ||
            v->f->statements[at].kind == WEFT__STATEMENT_BREAK);
}

static void walk_choice(weft__task_view *v, const weft__function_statement *s)
{
    const weft__function_part *part = &v->f->parts[s->part];
    const int32_t around = v->fact;
    walk_part(v, s->part);
    add_condition(v, part, part->node, true, 0);
    walk_list(v, s->child);
    v->fact = around;
    forget(v, s->child);
    if (s->other >= 0) {
        add_condition(v, part, part->node, false, 0);
        walk_list(v, s->other);
        v->fact = around;
        forget(v, s->other);
    }
    if (jumps(v, s))
        add_condition(v, part, part->node, false, 0);
}

/* What a loop counts by; 0 if that is not known. */
static int64_t step_of(const weft__task_view *v, const weft__nest_loop *loop)
{
    if (loop->step || loop->by_part < 0)
        return loop->step;
    const weft__affine by = form_of(v, &v->f->parts[loop->by_part], loop->by, 0);
    return is_constant(&by) && by.constant > -INT32_MAX && by.constant < INT32_MAX
               ? loop->minus ? -by.constant : by.constant
               : 0;
}

/* The bound as a fact, and how many rounds there are at most. */
static void add_bound(weft__task_view *v, const weft__nest_loop *loop, weft__affine counted,
                      weft__affine lower, int64_t step)
{
    const weft__affine bound = form_of(v, &v->f->parts[loop->bound_part], loop->bound, 0);
    const bool up = loop->compare == WEFT__LANG_less || loop->compare == WEFT__LANG_less_equal;
    int64_t low, high, size = step < 0 ? -step : step;
    weft__affine distance = up ? sum_of(bound, lower, -1) : sum_of(lower, bound, -1);
    if (loop->compare == WEFT__LANG_not_equal || up != (step > 0))
        return;
    add_comparison(v, loop->compare, counted, bound, true);
    if (range_of(v, &distance, -1, &low, &high) && high < INT64_MAX)
        v->most[v->symbols - 1] = high < 0 ? 0 : high / size;
}

/* The variable of a loop that counts is affine in its rounds. */
static bool open_rounds(weft__task_view *v, int32_t at, weft__affine lower)
{
    const weft__function_statement *s = &v->f->statements[at];
    weft__nest_loop loop;
    if (s->kind != WEFT__STATEMENT_FOR || !weft__nest_find_loop(v->f, at, &loop) || !lower.valid ||
        v->symbols == WEFT__TASK_SYMBOLS)
        return false;
    const int64_t step = step_of(v, &loop);
    if (step == 0)
        return false;
    weft__affine round = {.valid = true}, counted;
    round.factor[v->symbols] = 1;
    v->most[v->symbols++] = -1;
    counted = sum_of(lower, round, step);
    add_fact(v, round);
    walk_part(v, s->part);
    v->forms[loop.variable] = counted;
    add_bound(v, &loop, counted, lower, step);
    return true;
}

static bool assigns(const weft__function *f, int32_t first, int32_t variable)
{
    bool found = false;
    for (int32_t at = first; at >= 0 && !found; at = f->statements[at].next) {
        const weft__function_statement *s = &f->statements[at];
        found = s->variable == variable || assigns(f, s->child, variable) ||
                assigns(f, s->other, variable) || assigns(f, s->init, variable) ||
                assigns(f, s->step, variable);
    }
    return found;
}

static void walk_loop(weft__task_view *v, int32_t at)
{
    const weft__function_statement *s = &v->f->statements[at];
    const int32_t around = v->fact;
    const int64_t rounds = v->rounds;
    int32_t counter = s->init < 0 ? -1 : v->f->statements[s->init].variable;
    walk_list(v, s->init);
    weft__affine lower = counter < 0 ? (weft__affine){0} : v->forms[counter];
    lower.valid &= counter >= 0 && !assigns(v->f, s->child, counter);
    forget(v, s->child);
    forget(v, s->step);
    const bool counts = open_rounds(v, at, lower);
    if (!counts)
        walk_part(v, s->part);
    const int64_t most = counts ? v->most[v->symbols - 1] : -1;
    if (__builtin_mul_overflow(v->rounds, most < 0 ? ROUNDS_UNKNOWN : most + 1, &v->rounds))
        v->rounds = INT64_MAX;
    v->most_rounds = v->rounds > v->most_rounds ? v->rounds : v->most_rounds;
    walk_list(v, s->child);
    walk_list(v, s->step);
    forget(v, s->child);
    forget(v, s->step);
    v->fact = around;
    v->rounds = rounds;
}

static void walk_statement(weft__task_view *v, int32_t at)
{
    const weft__function_statement *s = &v->f->statements[at];
    switch (s->kind) {
    case WEFT__STATEMENT_ASSIGN:
    case WEFT__STATEMENT_DECLARE:
    case WEFT__STATEMENT_TAKE:
        walk_assignment(v, s);
        return;
    case WEFT__STATEMENT_STEP:
        set_form(v, s->variable, sum_of(v->forms[s->variable], constant(s->delta), 1));
        return;
    case WEFT__STATEMENT_BLOCK:
        walk_list(v, s->child);
        return;
    case WEFT__STATEMENT_IF:
        walk_choice(v, s);
        return;
    case WEFT__STATEMENT_FOR:
    case WEFT__STATEMENT_WHILE:
        walk_loop(v, at);
        return;
    case WEFT__STATEMENT_ARRAY:
        for (int32_t k = 0; k < s->parts_count; k++)
            walk_part(v, s->part + k);
        return;
    case WEFT__STATEMENT_GIVE:
    case WEFT__STATEMENT_BREAK:
    case WEFT__STATEMENT_CONTINUE:
        return;
    default:
        v->refused = true;
        return;
    }
}

static void walk_list(weft__task_view *v, int32_t first)
{
    const int32_t around = v->fact;
    for (int32_t at = first; at >= 0 && !v->refused; at = v->f->statements[at].next)
        walk_statement(v, at);
    v->fact = around;
}

void weft__task_walk(weft__task_view *v)
{
    weft__affine round = {.valid = true}, counted;
    round.factor[0] = 1;
    v->most[0] = v->loop->trips - 1;
    v->symbols = 1;
    v->fact = -1;
    v->rounds = v->most_rounds = 1;
    counted = sum_of(constant(v->loop->first), round, v->loop->step);
    v->refused |= !counted.valid;
    v->forms[v->loop->variable] = counted;
    add_order(v, constant(0), round, 0);
    add_order(v, round, constant(v->loop->trips), 1);
    walk_list(v, v->f->statements[v->loop->statement].child);
}
