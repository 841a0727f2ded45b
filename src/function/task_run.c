/* Running a loop as tasks: one point of a kernel for each iteration. */
#include "core/allocate.h"
#include "function/cost.h"
#include "function/number.h"
#include "function/task.h"
#include "function/task_plan.h"
#include "kernel/run.h"
#include <string.h>

enum {
    FEW_TASKS = 64,         /* fewer are not worth giving up kernels inside of them for … */
    MANY_ROUNDS = 1 << 14,  /* … that have so many points */
    ELEMENTS_MAX = 1 << 24, /* of an array that each task has for itself */
    PARTS = 32,             /* that a loop is cut into whose iterations leave something … */
    PARTS_ON_DEVICES = 1024,
    PARTS_ELEMENTS = 1 << 22 /* … and elements of all of them */
};

/* A loop that is being run so. */
typedef struct tasks {
    weft__running *r;
    weft__task *task;
    weft__task_loop loop;
    const weft__task_verdict *verdict;
    weft__task_plan *plan;
    int64_t points, length; /* of the kernel; iterations of each */
    weft_array views[WEFT__TASK_VIEWS], *arrays[WEFT__TASK_VIEWS];
    int arrays_count;
    weft_array *made[WEFT__TASK_VIEWS]; /* of those: what each task has for itself */
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
    t->loop.trips = distance <= 0 ? 0 : (distance - 1) / by + 1;
    int64_t end;
    if (__builtin_mul_overflow(step, t->loop.trips, &end) ||
        __builtin_add_overflow(t->loop.first, end, &end))
        return false;
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

/* One more array, with room for all tasks. */
static weft_status make_scratch(tasks *t, int64_t each, weft_dtype dtype)
{
    const weft_options options = {.struct_size = sizeof options, .device = t->r->device};
    const weft_shape shape = {1, {each * t->points}};
    const int slot = t->arrays_count++;
    t->arrays[slot] = t->made[slot] = weft__array_new(&shape, dtype, &options, NULL, NULL);
    return t->made[slot] ? WEFT_OK : weft_error_code();
}

/* What the tasks leave: a value and a flag for each variable, and what was out of range. */
static weft_status make_results(tasks *t)
{
    for (int k = 0; k < t->task->kept_count; k++) {
        const weft__held *held = &t->r->held[t->task->kept[k].variable];
        TRY(make_scratch(t, 1, weft__serial_kept((uint8_t)held->number.dtype)));
        TRY(make_scratch(t, 1, WEFT_I64));
    }
    return t->plan->checked ? make_scratch(t, 1, WEFT_I64) : WEFT_OK;
}

/* The arrays of the kernel, where it runs. */
static weft_status gather(tasks *t, bool *fine)
{
    const weft__task_plan *p = t->plan;
    for (int k = 0; k < p->arrays_count; k++) {
        const weft_array *any = weft__held_any(&t->r->held[p->arrays[k]]);
        if (p->private[p->arrays[k]])
            TRY(make_scratch(t, weft__array_count(any), (weft_dtype)any->dtype));
        else
            TRY(weft__held_device(t->r, p->arrays[k], false, &t->arrays[t->arrays_count++]));
        *fine &= is_lined_up(t->arrays[k]);
    }
    TRY(make_results(t));
    for (int k = 0; k < t->arrays_count; k++) {
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
    if (s->kind == WEFT__INPUT_TRIPS)
        return (uint64_t)t->loop.trips;
    if (s->kind == WEFT__INPUT_LENGTH)
        return (uint64_t)t->length;
    if (s->kind == WEFT__INPUT_NUMBER) {
        memcpy(&bits, &t->r->held[s->index].number.value, sizeof bits);
        return bits;
    }
    const int32_t variable = t->plan->arrays[s->index];
    const weft_array *any = weft__held_any(&t->r->held[variable]), *array = t->arrays[s->index];
    int64_t stride = 1;
    if (s->kind == WEFT__INPUT_SIZE)
        return (uint64_t)any->shape.size[s->axis];
    if (!t->plan->private[variable])
        return (uint64_t)(array->stride[s->axis] /
                          (int64_t)weft_dtype_size((weft_dtype)array->dtype));
    for (int k = s->axis + 1; k < any->shape.ndim; k++)
        stride *= any->shape.size[k];
    return (uint64_t)stride;
}

static uint64_t cost_of(const tasks *t)
{
    const uint64_t each = 8 * (uint64_t)(t->verdict->accesses + 1) * (uint64_t)t->length;
    uint64_t cost;
    return __builtin_mul_overflow((uint64_t)t->verdict->rounds, each, &cost) || cost > UINT32_MAX
               ? UINT32_MAX
               : cost;
}

static weft_status launch(void *context)
{
    tasks *t = context;
    weft_array *views[WEFT__TASK_VIEWS];
    for (int k = 0; k < t->arrays_count; k++)
        views[k] = &t->views[k];
    return weft__kernel_run_tasks(&t->plan->builder.kernel, t->r->stream, t->points,
                                  (uint32_t)cost_of(t), views, t->scalars);
}

static void set_counter(const tasks *t, int64_t iteration)
{
    weft_operand number = {.tag = WEFT_OPERAND_NUMBER, .dtype = WEFT_I64};
    number.value.i = t->loop.first + t->loop.step * iteration;
    weft__function_set(t->r, t->loop.variable, &number, false);
}

/* The iteration says what is wrong if it is run once more, one statement after the other. */
static weft_status fail(const tasks *t, int64_t iteration, int64_t part, bool last)
{
    const weft__function *f = t->r->function;
    const weft__lang_name name = f->variables[t->loop.variable].name;
    set_counter(t, iteration);
    TRY(weft__function_run_body(t->r, f->statements[t->task->statement].child));
    if (!last)
        return WEFT_OK;
    return FUNCTION_FAIL(f, f->parts[part].begin, WEFT_ERROR_SHAPE,
                         "a subscript is out of range here where '%s' is %lld",
                         QUOTE(name.text, name.length),
                         (long long)(t->loop.first + t->loop.step * iteration));
}

/* A result of all tasks, on the host. */
static weft_status read_result(const tasks *t, int slot, void **values)
{
    const char *operation = weft__operation();
    const size_t bytes = weft_array_bytes(t->made[slot]);
    *values = weft__allocate(bytes);
    if (!*values)
        return WEFT_ERROR_MEMORY;
    if (t->r->device.kind != WEFT_DEVICE_CPU)
        weft__function_note(t->r->function, WEFT__DID_TO_HOST, -1, bytes);
    const weft_status status = weft_copy_to_host(t->made[slot], *values, bytes);
    OPERATION(operation);
    return status;
}

/* Where subscripts may be out of range, each task says whether one was. Of a task of several
 * iterations it is not known which. */
static weft_status check(const tasks *t)
{
    void *values = NULL;
    weft_status status = read_result(t, t->arrays_count - 1, &values);
    const int64_t *found = values;
    for (int64_t i = 0; status == WEFT_OK && i < t->points; i++)
        for (int64_t k = i * t->length;
             found[i] && k < (i + 1) * t->length && k < t->loop.trips && status == WEFT_OK; k++)
            status =
                fail(t, k, found[i] - 1, k + 1 == (i + 1) * t->length || k + 1 == t->loop.trips);
    weft__free(values);
    return status;
}

/* Variables become what the tasks left. */
static weft_status take_kept(const tasks *t)
{
    void *values[WEFT__TASK_KEPT] = {NULL}, *flags[WEFT__TASK_KEPT] = {NULL};
    int64_t *typed_flags[WEFT__TASK_KEPT];
    const int count = t->task->kept_count, first = t->plan->arrays_count;
    weft_status status = WEFT_OK;
    for (int k = 0; k < count && status == WEFT_OK; k++) {
        status = read_result(t, first + 2 * k, &values[k]);
        if (status == WEFT_OK)
            status = read_result(t, first + 2 * k + 1, &flags[k]);
        typed_flags[k] = flags[k];
    }
    if (status == WEFT_OK && count)
        weft__task_put_together(t->r, t->task, t->points, values, typed_flags);
    for (int k = 0; k < count; k++) {
        weft__free(values[k]);
        weft__free(flags[k]);
    }
    return status;
}

/* Arrays that the tasks folded into for themselves. */
static weft_status fold_arrays(const tasks *t)
{
    const weft__task_plan *p = t->plan;
    for (int k = 0; k < p->arrays_count; k++) {
        const int32_t variable = p->arrays[k];
        weft_array *array;
        if (!p->private[variable] || t->task->private[variable])
            continue;
        TRY(weft__held_device(t->r, variable, false, &array));
        TRY(weft__task_fold_array(t->r, array, t->made[k], t->points,
                                  (uint8_t)(t->task->folds[variable] - 1)));
        weft__held_wrote(t->r, variable, true);
    }
    return WEFT_OK;
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
        if (p->written[k] && !p->private[p->arrays[k]])
            weft__held_wrote(t->r, p->arrays[k], true);
    if (p->checked)
        TRY(check(t));
    TRY(take_kept(t));
    TRY(fold_arrays(t));
    weft__function_note_region(t->r, WEFT__DID_LOOP, (int32_t)column,
                               1 + (uint64_t)p->folded_count);
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
    work.operations = (uint64_t)t->points * cost_of(t);
    for (int k = 0; k < 2 * t->task->kept_count; k++)
        weft__burden_number(&work);
    return weft__region_begin(t->r, &work);
}

/* How many tasks there are: one for each iteration, or parts of the loop if those leave something.
 */
static bool cut(tasks *t)
{
    int64_t most = t->r->device.kind == WEFT_DEVICE_CPU ? PARTS : PARTS_ON_DEVICES, elements = 1;
    t->points = t->loop.trips;
    t->length = 1;
    t->task->parts = t->task->kept_count + t->verdict->folded_count > 0;
    if (!t->task->parts)
        return true;
    for (int k = 0; k < t->verdict->folded_count; k++)
        elements += weft__array_count(weft__held_any(&t->r->held[t->verdict->folded[k]]));
    most = elements * most > PARTS_ELEMENTS ? PARTS_ELEMENTS / elements : most;
    if (most < 2)
        return false;
    t->length = (t->loop.trips + most - 1) / most;
    t->points = (t->loop.trips + t->length - 1) / t->length;
    return true;
}

static weft_status run_plan(tasks *t, bool *done)
{
    TRY(begin(t));
    weft_status status = run_kernel(t, done);
    weft__region_end(t->r);
    for (int k = 0; k < WEFT__TASK_VIEWS; k++)
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
    if (!t->verdict->parallel || (t->task->guesses && !t->verdict->inside) || !is_worth_it(t) ||
        !cut(t))
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

bool weft__task_has_parts(const weft__task *task) { return task->ran && task->parts; }
