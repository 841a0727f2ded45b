/* The kernel of a loop whose iterations are tasks: the serial program of one of them. */
#include "function/task_plan.h"
#include "core/allocate.h"
#include "function/number.h"
#include <string.h>

enum { VALUES_MAX = 4000 };

void weft__task_plan_free(weft__task_plan *plan)
{
    if (!plan)
        return;
    weft__build_free(&plan->builder);
    weft__free(plan->private);
    weft__free(plan->seen);
    weft__free(plan);
}

/* Numbers that the loop reads and does not assign. */
static void open_variables(weft__serial *s, const weft__task *task)
{
    for (uint32_t i = 0; i < s->f->variables_count && !s->refused; i++) {
        const weft__held *held = &s->r->held[i];
        s->variables[i] = (weft__serial_variable){.value = -1};
        if (!task->used[i] || (task->assigned[i] && task->kinds[i] < WEFT__KEPT_LAST) ||
            held->holding != WEFT__NUMBER || weft__number_is_complex(held->number.dtype))
            continue;
        const uint8_t dtype = (uint8_t)held->number.dtype;
        const weft_dtype kept = weft__serial_kept(dtype);
        int32_t cell = weft__serial_scalar_of(s, WEFT__INPUT_NUMBER, (int32_t)i, 0,
                                              kept == WEFT_F32 ? WEFT_F64 : kept);
        if (!s->refused)
            s->variables[i] =
                (weft__serial_variable){weft__serial_cast(s, kept, cell), dtype, held->typed, true};
    }
}

/* Sizes and strides come before the loop, so that all of it can use them. */
static void open_arrays(weft__serial *s, const weft__task *task)
{
    for (uint32_t i = 0; i < s->f->variables_count && !s->refused; i++) {
        if (!task->used[i] || s->r->held[i].holding != WEFT__ARRAY)
            continue;
        const int operand = weft__serial_operand(s, (int32_t)i);
        const int ndim = weft__held_any(&s->r->held[i])->shape.ndim;
        for (int k = 0; k < 2 * ndim && !s->refused; k++)
            weft__serial_scalar_of(s, k < ndim ? WEFT__INPUT_SIZE : WEFT__INPUT_STRIDE, operand,
                                   k % ndim, WEFT_I64);
    }
}

/* What the loop counts, in this iteration. */
static void set_counter(weft__serial *s, const weft__task *task, int32_t iteration)
{
    weft__builder *b = &s->builder;
    const int32_t first = weft__serial_scalar_of(s, WEFT__INPUT_FIRST, 0, 0, WEFT_I64);
    const int32_t step = weft__serial_scalar_of(s, WEFT__INPUT_STEP, 0, 0, WEFT_I64);
    if (s->refused)
        return;
    const int32_t further = weft__build(b, WEFT__OP_mul, WEFT_I64, iteration, step, 0);
    weft__serial_set(s, task->loop.variable,
                     weft__build(b, WEFT__OP_add, WEFT_I64, first, further, 0), WEFT_I64, false);
}

/* An operand of its own for what each task leaves. */
static void add_result(weft__serial *s, weft_dtype dtype, int32_t value)
{
    const int operand = weft__build_operand(&s->builder, dtype, true);
    weft__build_scatter(&s->builder, operand, s->point, value,
                        weft__build_constant(&s->builder, WEFT_BOOL, 1));
}

/* The body, in a loop of one round. */
static weft_status build(weft__serial *s, const weft__task *task, bool checked)
{
    weft__builder *b = &s->builder;
    open_variables(s, task);
    open_arrays(s, task);
    s->point = weft__build_index(b, 0);
    set_counter(s, task, s->point);
    s->failed = weft__build_constant(b, WEFT_I64, 0);
    const int32_t go =
        weft__build_flow(b, WEFT__OP_carry, WEFT_BOOL, weft__build_constant(b, WEFT_BOOL, 1), 0);
    weft__build_flow(b, WEFT__OP_loop, WEFT_BOOL, 0, 0);
    weft__build_flow(b, WEFT__OP_test, WEFT_BOOL, go, 0);
    if (s->refused)
        return weft__build_finish(b);
    TRY(weft__serial_list(s, s->f->statements[task->statement].child));
    if (s->refused || b->failed)
        return weft__build_finish(b);
    if (checked)
        add_result(s, WEFT_I64, s->failed);
    weft__build_flow(b, WEFT__OP_next, WEFT_BOOL, go, weft__build_constant(b, WEFT_BOOL, 0));
    weft__build_flow(b, WEFT__OP_end, WEFT_BOOL, 0, 0);
    b->kernel.ndim = 1;
    return weft__build_finish(b);
}

/* What variables are in a task before its first iteration: of folds, what changes nothing. */
static void open_kept(weft__serial *s, const weft__task *task)
{
    for (int k = 0; k < task->kept_count && !s->refused; k++) {
        const weft__task_kept *kept = &task->kept[k];
        const bool ones = kept->operation == WEFT__LANG_bitwise_and;
        weft__serial_variable *v = &s->variables[kept->variable];
        weft__serial_variable *flag = v + s->f->variables_count;
        if (!v->set || s->r->held[kept->variable].holding != WEFT__NUMBER) {
            weft__serial_refuse(s);
            return;
        }
        *flag = (weft__serial_variable){weft__build_constant(&s->builder, WEFT_BOOL, 0), WEFT_BOOL,
                                        false, true};
        if (kept->kind != WEFT__KEPT_FOLD)
            continue;
        const weft_dtype dtype = weft__serial_kept(v->dtype);
        const uint64_t neutral = ones ? UINT64_MAX : kept->operation == WEFT__LANG_logical_and;
        const bool exact = kept->operation == WEFT__LANG_logical_and ||
                           kept->operation == WEFT__LANG_logical_or ||
                           kept->operation == WEFT__LANG_bitwise_or; /* of bool, cut each time */
        if (dtype > WEFT_U64 || (dtype == WEFT_BOOL && !exact))
            weft__serial_refuse(s);
        else
            v->value = weft__build_constant(&s->builder, dtype, neutral);
    }
}

/* Carries of the loop over the iterations of a task. */
typedef struct carrying {
    int32_t at, failed, values[2 * WEFT__TASK_KEPT];
} carrying;

static weft__serial_variable *carried(weft__serial *s, const weft__task *task, int k)
{
    return &s->variables[(size_t)task->kept[k / 2].variable + (k % 2 ? s->f->variables_count : 0)];
}

static int32_t carry(weft__serial *s, int32_t value)
{
    const weft_dtype dtype = (weft_dtype)s->builder.kernel.values[value].dtype;
    return weft__build_flow(&s->builder, WEFT__OP_carry, dtype, value, 0);
}

static void begin_iterations(weft__serial *s, const weft__task *task, carrying *c)
{
    weft__builder *b = &s->builder;
    const int32_t length = weft__serial_scalar_of(s, WEFT__INPUT_LENGTH, 0, 0, WEFT_I64);
    const int32_t trips = weft__serial_scalar_of(s, WEFT__INPUT_TRIPS, 0, 0, WEFT_I64);
    if (s->refused)
        return;
    const int32_t first = weft__build(b, WEFT__OP_mul, WEFT_I64, s->point, length, 0);
    const int32_t last = weft__build(b, WEFT__OP_add, WEFT_I64, first, length, 0);
    const int32_t end = weft__build(b, WEFT__OP_min, WEFT_I64, last, trips, 0);
    c->at = carry(s, first);
    c->failed = s->failed = carry(s, s->failed);
    for (int k = 0; k < 2 * task->kept_count; k++)
        c->values[k] = carried(s, task, k)->value = carry(s, carried(s, task, k)->value);
    weft__build_flow(b, WEFT__OP_loop, WEFT_BOOL, 0, 0);
    weft__build_flow(b, WEFT__OP_test, WEFT_BOOL,
                     weft__build(b, WEFT__OP_lt, WEFT_BOOL, c->at, end, 0), 0);
    set_counter(s, task, c->at);
}

static void next(weft__serial *s, int32_t carry_of, int32_t value)
{
    const weft__value *values = s->builder.kernel.values;
    if (values[carry_of].dtype != values[value].dtype)
        weft__serial_refuse(s);
    else
        weft__build_flow(&s->builder, WEFT__OP_next, (weft_dtype)values[carry_of].dtype, carry_of,
                         value);
}

static void end_iterations(weft__serial *s, const weft__task *task, const carrying *c)
{
    weft__builder *b = &s->builder;
    const int32_t one = weft__build_constant(b, WEFT_I64, 1);
    const int32_t after = weft__build(b, WEFT__OP_add, WEFT_I64, c->at, one, 0);
    next(s, c->at, after);
    next(s, c->failed, s->failed);
    for (int k = 0; k < 2 * task->kept_count && !s->refused; k++) {
        const weft__held *held = &s->r->held[task->kept[k / 2].variable];
        const weft__serial_variable *v = carried(s, task, k);
        if (k % 2 == 0 &&
            (v->value < 0 || v->dtype != held->number.dtype || v->typed != held->typed))
            weft__serial_refuse(s);
        else
            next(s, c->values[k], v->value);
    }
    weft__build_flow(b, WEFT__OP_end, WEFT_BOOL, 0, 0);
}

/* What the task leaves, in a loop of one round. */
static void add_results(weft__serial *s, const weft__task *task, const carrying *c, bool checked)
{
    weft__builder *b = &s->builder;
    const int32_t go = carry(s, weft__build_constant(b, WEFT_BOOL, 1));
    int32_t flags[WEFT__TASK_KEPT];
    for (int k = 0; k < task->kept_count; k++)
        flags[k] = weft__serial_cast(s, WEFT_I64, c->values[2 * k + 1]);
    weft__build_flow(b, WEFT__OP_loop, WEFT_BOOL, 0, 0);
    weft__build_flow(b, WEFT__OP_test, WEFT_BOOL, go, 0);
    for (int k = 0; k < task->kept_count; k++) {
        add_result(s, (weft_dtype)b->kernel.values[c->values[2 * k]].dtype, c->values[2 * k]);
        add_result(s, WEFT_I64, flags[k]);
    }
    if (checked)
        add_result(s, WEFT_I64, c->failed);
    weft__build_flow(b, WEFT__OP_next, WEFT_BOOL, go, weft__build_constant(b, WEFT_BOOL, 0));
    weft__build_flow(b, WEFT__OP_end, WEFT_BOOL, 0, 0);
}

/* Several iterations, one after the other. */
static weft_status build_parts(weft__serial *s, const weft__task *task, const weft__task_plan *p)
{
    weft__builder *b = &s->builder;
    carrying c;
    open_variables(s, task);
    open_arrays(s, task);
    s->failed = weft__build_constant(b, WEFT_I64, 0);
    s->point = weft__build_index(b, 0);
    open_kept(s, task);
    for (int k = 0; k < p->folded_count && !s->refused; k++)
        weft__serial_zeros(s, p->folded[k]);
    if (!s->refused)
        begin_iterations(s, task, &c);
    if (!s->refused && !b->failed)
        TRY(weft__serial_list(s, s->f->statements[task->statement].child));
    if (!s->refused && !b->failed)
        end_iterations(s, task, &c);
    if (!s->refused && !b->failed)
        add_results(s, task, &c, p->checked);
    b->kernel.ndim = 1;
    return weft__build_finish(b);
}

static void keep(const weft__serial *s, weft__task_plan *p)
{
    p->arrays_count = s->arrays_count;
    p->scalars_count = s->scalars_count;
    memcpy(p->arrays, s->arrays, sizeof p->arrays);
    memcpy(p->written, s->written, sizeof p->written);
    memcpy(p->scalars, s->scalars, sizeof p->scalars);
    p->refused = s->refused || s->builder.kernel.values_count > VALUES_MAX;
}

/* The builder's first values are inside of it, so it does not move. */
static void move_builder(weft__builder *from, weft__builder *to)
{
    *to = *from;
    if (from->kernel.values == from->values)
        to->kernel.values = to->values;
    if (from->kernel.operands == from->operands)
        to->kernel.operands = to->operands;
    if (from->kernel.shifts == from->shifts)
        to->kernel.shifts = to->shifts;
}

static weft_status make_plan(weft__running *r, const weft__task *task, weft__task_plan *p)
{
    weft__function *f = r->function;
    weft__serial *s = weft__allocate_zeroed(sizeof *s);
    weft__serial_variable *variables =
        weft__allocate_zeroed(2 * (f->variables_count + (size_t)1) * sizeof *variables);
    const bool parts = task->kept_count + p->folded_count > 0;
    weft_status status = s && variables ? WEFT_OK : WEFT_ERROR_MEMORY;
    if (status == WEFT_OK) {
        s->r = r;
        s->f = f;
        s->variables = variables;
        s->private = p->private;
        s->kept = parts ? task->kinds : NULL;
        s->variables_count = (parts ? 2 : 1) * (size_t)f->variables_count;
        s->active = s->gone = s->left = s->inside = -1;
        weft__build_begin(&s->builder);
        status = parts ? build_parts(s, task, p) : build(s, task, p->checked);
        /* What is not written is read by all tasks, if nothing that is written lies there too. */
        for (int k = 0; k < s->arrays_count; k++)
            s->builder.kernel.operands[k].output = s->written[k] || r->shared;
        keep(s, p);
        move_builder(&s->builder, &p->builder);
    }
    weft__free(variables);
    weft__free(s);
    return status;
}

static bool fits(const weft__running *r, const weft__task_plan *p, const weft__task_seen *seen,
                 const weft__task_verdict *verdict)
{
    if (p->shared != r->shared || p->checked == verdict->inside ||
        p->folded_count != verdict->folded_count ||
        memcmp(p->folded, verdict->folded, (size_t)p->folded_count * sizeof *p->folded) != 0)
        return false;
    for (uint32_t i = 0; i < r->function->variables_count; i++) {
        const weft__task_seen *a = &p->seen[i], *b = &seen[i];
        if (a->holding != b->holding || a->dtype != b->dtype || a->typed != b->typed ||
            a->input != b->input || a->shape.ndim != b->shape.ndim)
            return false;
    }
    return true;
}

static weft_status add_plan(weft__running *r, weft__task *task, const weft__task_verdict *verdict,
                            weft__task_seen *seen, weft__task_plan **plan)
{
    const size_t count = r->function->variables_count + (size_t)1;
    weft__task_plan *p = weft__allocate_zeroed(sizeof *p);
    bool *private = weft__allocate_zeroed(count);
    if (!p || !private) {
        weft__free(private);
        weft__free(p);
        weft__free(seen);
        return WEFT_ERROR_MEMORY;
    }
    weft__build_begin(&p->builder);
    p->seen = seen;
    p->private = private;
    p->shared = r->shared;
    p->checked = !verdict->inside;
    p->folded_count = verdict->folded_count;
    memcpy(p->folded, verdict->folded, sizeof p->folded);
    memcpy(private, task->private, count - 1);
    for (int k = 0; k < p->folded_count; k++)
    private[p->folded[k]] = true;
    weft_status status = make_plan(r, task, p);
    if (status != WEFT_OK) {
        weft__task_plan_free(p);
        return status;
    }
    weft__task_plan_free(task->plans[task->oldest_plan]);
    task->plans[task->oldest_plan] = p;
    task->oldest_plan = (task->oldest_plan + 1) % WEFT__TASK_PLANS;
    *plan = p->refused ? NULL : p;
    return WEFT_OK;
}

weft_status weft__task_find_plan(weft__running *r, weft__task *task,
                                 const weft__task_verdict *verdict, weft__task_plan **plan)
{
    const size_t count = r->function->variables_count + (size_t)1;
    weft__task_seen *seen = weft__allocate_zeroed(count * sizeof *seen);
    if (!seen)
        return WEFT_ERROR_MEMORY;
    weft__task_see(r, task, seen);
    for (int k = 0; k < WEFT__TASK_PLANS; k++) {
        weft__task_plan *p = task->plans[k];
        if (p && fits(r, p, seen, verdict)) {
            *plan = p->refused ? NULL : p;
            weft__free(seen);
            return WEFT_OK;
        }
    }
    *plan = NULL;
    return add_plan(r, task, verdict, seen, plan);
}
