/* Running a loop as tasks: one point of a kernel for each iteration. */
#include "core/allocate.h"
#include "function/cost.h"
#include "function/number.h"
#include "function/task.h"
#include "function/task_plan.h"
#include "kernel/run.h"
#include <string.h>

enum {
    FEW_TASKS = 64,        /* fewer are not worth giving up kernels inside of them for … */
    MANY_ROUNDS = 1 << 14, /* … that have so many points */
    ELEMENTS_MAX = 1 << 24 /* of an array that each task has for itself */
};

/* A loop that is being run so. */
typedef struct tasks {
    weft__running *r;
    weft__task *task;
    weft__task_loop loop;
    const weft__task_verdict *verdict;
    weft__task_plan *plan;
    weft_array views[WEFT__SERIAL_ARRAYS + 1], *arrays[WEFT__SERIAL_ARRAYS + 1];
    weft_array *made[WEFT__SERIAL_ARRAYS + 1]; /* of those: what each task has for itself */
    uint64_t scalars[WEFT__SERIAL_SCALARS];
} tasks;

static bool integer_of(const tasks *t, int32_t part, int32_t node, int64_t *value)
{
    weft__function_part *p = &t->r->function->parts[part];
    return !p->elements_count && weft__function_integer(t->r, p, node, value);
}

/* How often the loop goes round, and from where. */
static bool count(tasks *t)
{
    const weft__nest_loop *l = &t->task->loop;
    const weft__function *f = t->r->function;
    const bool up = l->compare == WEFT__LANG_less || l->compare == WEFT__LANG_less_equal;
    const bool closed =
        l->compare == WEFT__LANG_less_equal || l->compare == WEFT__LANG_greater_equal;
    int64_t bound, distance, by, step = l->step;
    if (!integer_of(t, l->lower_part, l->lower, &t->loop.first) ||
        !integer_of(t, l->bound_part, l->bound, &bound))
        return false;
    if (!step && (!integer_of(t, l->by_part, l->by, &by) || by < -INT32_MAX || by > INT32_MAX))
        return false;
    step = step ? step : l->minus ? -by : by;
    const bool either = l->compare == WEFT__LANG_not_equal;
    if (step == 0 || (!either && up != (step > 0)) ||
        __builtin_sub_overflow(step > 0 ? bound : t->loop.first, step > 0 ? t->loop.first : bound,
                               &distance) ||
        __builtin_add_overflow(distance, closed, &distance) || distance > INT64_MAX / 2)
        return false;
    by = step < 0 ? -step : step;
    if (either && (distance < 0 || distance % by))
        return false; /* it does not end there */
    t->loop.statement = t->task->statement;
    t->loop.variable = l->variable;
    t->loop.step = step;
    t->loop.trips = distance <= 0 ? 0 : (distance + by - 1) / by;
    const int64_t end = t->loop.first + step * t->loop.trips;
    return f->variables[l->variable].dtype != WEFT_I32 ||
           (t->loop.first > INT32_MIN && t->loop.first < INT32_MAX && end > INT32_MIN &&
            end < INT32_MAX);
}

/* Arrays that the loop declares are there while it is judged, of the size that one task needs. */
static weft_status make_private(tasks *t, const weft__function_statement *s, bool *fine)
{
    const weft_options options = {.struct_size = sizeof options, .device = WEFT_CPU};
    weft_shape shape = {.ndim = s->parts_count};
    int64_t elements = 1;
    for (int32_t k = 0; k < s->parts_count && *fine; k++)
        *fine =
            integer_of(t, s->part + k, t->r->function->parts[s->part + k].node, &shape.size[k]) &&
            shape.size[k] > 0 && !__builtin_mul_overflow(elements, shape.size[k], &elements) &&
            elements <= ELEMENTS_MAX / t->loop.trips;
    if (!*fine)
        return WEFT_OK;
    weft_array *array = weft__array_new(&shape, (weft_dtype)s->dtype, &options, NULL, NULL);
    if (!array)
        return weft_error_code();
    weft__held_set_array(t->r, s->variable, array);
    return WEFT_OK;
}

static weft_status make_privates(tasks *t, int32_t first, bool *fine)
{
    const weft__function *f = t->r->function;
    for (int32_t at = first; at >= 0 && *fine; at = f->statements[at].next) {
        const weft__function_statement *s = &f->statements[at];
        if (s->kind == WEFT__STATEMENT_ARRAY)
            TRY(make_private(t, s, fine));
        TRY(make_privates(t, s->child, fine));
        TRY(make_privates(t, s->other, fine));
    }
    return WEFT_OK;
}

static bool is_lined_up(const weft_array *array)
{
    const int64_t bytes = (int64_t)weft_dtype_size((weft_dtype)array->dtype);
    bool fine = weft__array_count(array) > 0;
    for (int axis = 0; axis < array->shape.ndim; axis++)
        fine &= array->stride[axis] % bytes == 0;
    return fine;
}

/* An array with room for all tasks. */
static weft_status make_scratch(tasks *t, int slot, int64_t each, weft_dtype dtype)
{
    const weft_options options = {.struct_size = sizeof options, .device = t->r->device};
    const weft_shape shape = {1, {each * t->loop.trips}};
    t->arrays[slot] = t->made[slot] = weft__array_new(&shape, dtype, &options, NULL, NULL);
    return t->made[slot] ? WEFT_OK : weft_error_code();
}

/* The arrays of the kernel, where it runs. */
static weft_status gather(tasks *t, bool *fine)
{
    const weft__task_plan *p = t->plan;
    for (int k = 0; k < p->arrays_count; k++) {
        const weft__held *held = &t->r->held[p->arrays[k]];
        if (t->task->private[p->arrays[k]])
            TRY(make_scratch(t, k, weft__array_count(weft__held_any(held)),
                             (weft_dtype)weft__held_any(held)->dtype));
        else
            TRY(weft__held_device(t->r, p->arrays[k], false, &t->arrays[k]));
        *fine &= is_lined_up(t->arrays[k]);
    }
    if (p->checked)
        TRY(make_scratch(t, p->arrays_count, 1, WEFT_I64));
    for (int k = 0; k < p->arrays_count + p->checked; k++) {
        t->views[k] = *t->arrays[k];
        t->views[k].shape.ndim = 0;
    }
    return WEFT_OK;
}

static uint64_t scalar_of(const tasks *t, const weft__serial_scalar *s)
{
    uint64_t bits;
    if (s->kind == WEFT__INPUT_FIRST)
        return (uint64_t)t->loop.first;
    if (s->kind == WEFT__INPUT_STEP)
        return (uint64_t)t->loop.step;
    if (s->kind == WEFT__INPUT_NUMBER) {
        memcpy(&bits, &t->r->held[s->index].number.value, sizeof bits);
        return bits;
    }
    const int32_t variable = t->plan->arrays[s->index];
    const weft_array *array =
        t->task->private[variable] ? weft__held_any(&t->r->held[variable]) : t->arrays[s->index];
    return s->kind == WEFT__INPUT_SIZE
               ? (uint64_t)array->shape.size[s->axis]
               : (uint64_t)(array->stride[s->axis] /
                            (int64_t)weft_dtype_size((weft_dtype)array->dtype));
}

static uint64_t cost_of(const tasks *t)
{
    uint64_t cost;
    return __builtin_mul_overflow((uint64_t)t->verdict->rounds, 8 * (uint64_t)t->verdict->accesses,
                                  &cost) ||
                   cost > UINT32_MAX
               ? UINT32_MAX
               : cost;
}

static weft_status launch(void *context)
{
    tasks *t = context;
    weft_array *views[WEFT__SERIAL_ARRAYS + 1];
    for (int k = 0; k < t->plan->arrays_count + t->plan->checked; k++)
        views[k] = &t->views[k];
    return weft__kernel_run_tasks(&t->plan->builder.kernel, t->r->stream, t->loop.trips,
                                  (uint32_t)cost_of(t), views, t->scalars);
}

static void set_counter(const tasks *t, int64_t iteration)
{
    weft_operand number = {.tag = WEFT_OPERAND_NUMBER, .dtype = WEFT_I64};
    number.value.i = t->loop.first + t->loop.step * iteration;
    weft__function_set(t->r, t->loop.variable, &number, false);
}

/* The iteration says what is wrong if it is run once more, one statement after the other. */
static weft_status fail(const tasks *t, int64_t iteration, int64_t part)
{
    const weft__function *f = t->r->function;
    const weft__lang_name name = f->variables[t->loop.variable].name;
    set_counter(t, iteration);
    TRY(weft__function_run_body(t->r, f->statements[t->task->statement].child));
    return FUNCTION_FAIL(f, f->parts[part].begin, WEFT_ERROR_SHAPE,
                         "a subscript is out of range here where '%s' is %lld",
                         QUOTE(name.text, name.length),
                         (long long)(t->loop.first + t->loop.step * iteration));
}

/* Where subscripts may be out of range, each task says whether one was. */
static weft_status check(const tasks *t)
{
    weft_array *flags = t->made[t->plan->arrays_count];
    const size_t bytes = (size_t)t->loop.trips * sizeof(int64_t);
    const char *operation = weft__operation();
    int64_t *found = weft__allocate(bytes);
    weft_status status = found ? weft_copy_to_host(flags, found, bytes) : WEFT_ERROR_MEMORY;
    OPERATION(operation);
    for (int64_t i = 0; status == WEFT_OK && i < t->loop.trips; i++)
        if (found[i])
            status = fail(t, i, found[i] - 1);
    weft__free(found);
    return status;
}

static weft_status run_kernel(tasks *t, bool *done)
{
    const weft__task_plan *p = t->plan;
    const uint32_t column = t->r->function->statements[t->task->statement].column;
    weft_error saved = *weft_error_last();
    bool fine = true;
    TRY(gather(t, &fine));
    if (!fine)
        return WEFT_OK;
    for (int k = 0; k < p->scalars_count; k++)
        t->scalars[k] = scalar_of(t, &p->scalars[k]);
    const weft_status status = weft__function_launch(t->r, column, launch, t);
    if (status == WEFT_ERROR_COMPILE) { /* as it is too long */
        weft__error_restore(&saved);
        return WEFT_OK;
    }
    TRY(status);
    *done = true;
    for (int k = 0; k < p->arrays_count; k++)
        if (p->written[k] && !t->task->private[p->arrays[k]])
            weft__held_wrote(t->r, p->arrays[k], true);
    if (p->checked)
        TRY(check(t));
    weft__function_note_region(t->r, WEFT__DID_LOOP, (int32_t)column, 1);
    return WEFT_OK;
}

/* Weighs what the loop reads and writes. */
static weft_status begin(const tasks *t)
{
    weft__burden work = {.kernels = 1};
    if (!t->r->automatic)
        return WEFT_OK;
    for (int k = 0; k < t->plan->arrays_count; k++)
        if (!t->task->private[t->plan->arrays[k]])
            weft__burden_add(&work, &t->r->held[t->plan->arrays[k]], true, t->plan->written[k]);
    work.operations = (uint64_t)t->loop.trips * cost_of(t);
    return weft__region_begin(t->r, &work);
}

static weft_status run_plan(tasks *t, bool *done)
{
    TRY(begin(t));
    weft_status status = run_kernel(t, done);
    weft__region_end(t->r);
    for (int k = 0; k <= WEFT__SERIAL_ARRAYS; k++)
        weft_array_release(t->made[k]);
    return status;
}

/* Kernels inside of the loop are better off than few long tasks. */
static bool is_worth_it(const tasks *t)
{
    return !t->task->has_kernels || t->loop.trips >= FEW_TASKS || t->verdict->rounds < MANY_ROUNDS;
}

static weft_status run_open(tasks *t, bool *done)
{
    TRY(weft__task_judge(t->r, t->task, &t->loop, &t->verdict));
    if (!t->verdict->parallel || !is_worth_it(t))
        return WEFT_OK;
    TRY(weft__task_find_plan(t->r, t->task, t->verdict, &t->plan));
    return t->plan ? run_plan(t, done) : WEFT_OK;
}

weft_status weft__task_run(weft__running *r, weft__task *task, bool *done)
{
    tasks t = {.r = r, .task = task};
    bool fine = true;
    task->tried = true;
    task->ran = false;
    if (!count(&t))
        return WEFT_OK;
    weft_status status =
        t.loop.trips == 0 || !task->has_arrays
            ? WEFT_OK
            : make_privates(&t, r->function->statements[task->statement].child, &fine);
    *done = t.loop.trips == 0;
    if (status == WEFT_OK && fine && !*done)
        status = run_open(&t, done);
    for (uint32_t i = 0; task->has_arrays && i < r->function->variables_count; i++)
        if (task->private[i])
            weft__held_unset(r, (int32_t)i);
    task->ran = *done && status == WEFT_OK;
    if (status == WEFT_OK && *done)
        set_counter(&t, t.loop.trips);
    return status;
}

bool weft__task_was_tried(const weft__task *task) { return task->tried; }

bool weft__task_has_run(const weft__task *task) { return task->ran; }
