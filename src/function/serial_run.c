/* Serial loops that go round often are compiled: a plan for variables of certain types, and its
 * launch. The interpreter runs them until that is worth it, and where there is no compiler. */
#include "core/allocate.h"
#include "function/nest.h"
#include "function/number.h"
#include "function/serial.h"
#include "kernel/engine.h"
#include <string.h>

enum {
    OUTPUTS_MAX = 32,
    DEPTH_MAX = 6,           /* loops in one another */
    ROUNDS_WORTH_IT = 20000, /* they take as long as compiling does */
    VALUES_MAX = 4000
};

/* What a variable was when the plan was made. */
typedef struct kind_of {
    uint8_t holding, dtype, ndim, units; /* units: axes whose elements follow each other */
    bool typed, input;
} kind_of;

typedef struct plan {
    weft__image image; /* no entry: it cannot be compiled */
    kind_of *kinds;    /* of each variable; NULL: free */
    int32_t arrays[WEFT__SERIAL_ARRAYS];
    bool written[WEFT__SERIAL_ARRAYS];
    int arrays_count;
    weft__serial_scalar scalars[WEFT__SERIAL_SCALARS];
    int scalars_count;
    int32_t outputs[OUTPUTS_MAX]; /* variables */
    weft__serial_variable as[OUTPUTS_MAX];
    int outputs_count;
} plan;

struct weft__function_serial {
    uint64_t rounds; /* that were interpreted */
    bool unsuitable;
    plan plans[WEFT__SERIAL_PLANS];
    int oldest;
};

static void free_plan(plan *p)
{
    if (p->image.destroy)
        p->image.destroy(p->image.program);
    weft__free(p->kinds);
    memset(p, 0, sizeof *p);
}

void weft__serial_free(weft__function *f)
{
    for (uint32_t i = 0; f->serials && i < f->statements_count; i++) {
        for (int k = 0; f->serials[i] && k < WEFT__SERIAL_PLANS; k++)
            free_plan(&f->serials[i]->plans[k]);
        weft__free(f->serials[i]);
    }
    weft__free(f->serials);
}

/* Loops inside of it that may be kernels are better off so. */
static bool is_suitable(const weft__function *f, int32_t first, int depth)
{
    bool suits = depth <= DEPTH_MAX;
    for (int32_t at = first; at >= 0 && suits; at = f->statements[at].next) {
        const weft__function_statement *s = &f->statements[at];
        const bool loop = s->kind == WEFT__STATEMENT_FOR || s->kind == WEFT__STATEMENT_WHILE;
        const bool kernel =
            s->nest >= 0 && (f->nests[s->nest]->candidate || f->nests[s->nest]->task);
        suits = !kernel && s->kind != WEFT__STATEMENT_HOST && s->kind != WEFT__STATEMENT_RETURN &&
                s->kind != WEFT__STATEMENT_ARRAY && s->kind != WEFT__STATEMENT_TAKE &&
                s->kind != WEFT__STATEMENT_GIVE && is_suitable(f, s->child, depth + loop) &&
                is_suitable(f, s->other, depth);
    }
    return suits;
}

static weft_status find_record(weft__running *r, int32_t statement, weft__function_serial **found)
{
    weft__function *f = r->function;
    if (!f->serials)
        f->serials = weft__allocate_zeroed(f->statements_count * sizeof *f->serials);
    if (!f->serials)
        return WEFT_ERROR_MEMORY;
    if (!f->serials[statement]) {
        f->serials[statement] = weft__allocate_zeroed(sizeof **f->serials);
        if (!f->serials[statement])
            return WEFT_ERROR_MEMORY;
        f->serials[statement]->unsuitable = !is_suitable(f, f->statements[statement].child, 1);
    }
    *found = f->serials[statement];
    return WEFT_OK;
}

static kind_of kind(const weft__held *held)
{
    kind_of k = {.holding = held->holding};
    if (held->holding == WEFT__NUMBER) {
        k.dtype = (uint8_t)held->number.dtype;
        k.typed = held->typed;
    }
    if (held->holding != WEFT__ARRAY)
        return k;
    const weft_array *array = weft__held_any(held);
    k.dtype = array->dtype;
    k.ndim = (uint8_t)array->shape.ndim;
    k.input = held->input;
    for (int axis = 0; axis < array->shape.ndim; axis++)
        if (array->stride[axis] == (int64_t)weft_dtype_size((weft_dtype)array->dtype))
            k.units |= (uint8_t)(1u << axis);
    return k;
}

static bool fits(const weft__running *r, const plan *p)
{
    for (uint32_t i = 0; p->kinds && i < r->function->variables_count; i++) {
        const kind_of k = kind(&r->held[i]);
        if (memcmp(&k, &p->kinds[i], sizeof k) != 0)
            return false;
    }
    return p->kinds != NULL;
}

/* Numbers that there are before the loop. */
static void open_variables(weft__serial *s)
{
    for (uint32_t i = 0; i < s->f->variables_count; i++) {
        const weft__held *held = &s->r->held[i];
        s->variables[i] = (weft__serial_variable){.value = -1};
        if (held->holding != WEFT__NUMBER || weft__number_is_complex(held->number.dtype))
            continue;
        const uint8_t dtype = (uint8_t)held->number.dtype;
        const weft_dtype kept = weft__serial_kept(dtype);
        int32_t cell = weft__serial_scalar_of(s, WEFT__INPUT_NUMBER, (int32_t)i, 0,
                                              kept == WEFT_F32 ? WEFT_F64 : kept);
        if (s->refused)
            return;
        s->variables[i] =
            (weft__serial_variable){weft__serial_cast(s, kept, cell), dtype, held->typed, true};
    }
}

static void assigned_in(const weft__function *f, int32_t first, bool *assigned)
{
    for (int32_t at = first; at >= 0; at = f->statements[at].next) {
        const weft__function_statement *st = &f->statements[at];
        if (st->variable >= 0)
            assigned[st->variable] = true;
        assigned_in(f, st->child, assigned);
        assigned_in(f, st->other, assigned);
        assigned_in(f, st->init, assigned);
        assigned_in(f, st->step, assigned);
    }
}

static void add_output(weft__serial *s, plan *p, int32_t variable, weft__serial_variable as)
{
    const weft_dtype kept = weft__serial_kept(as.dtype);
    weft__element element = {.part = {as.value}, .dtype = kept};
    if (p->outputs_count == OUTPUTS_MAX) {
        weft__serial_refuse(s);
        return;
    }
    p->outputs[p->outputs_count] = variable;
    p->as[p->outputs_count++] = as;
    weft__build_store(&s->builder, weft__build_operand(&s->builder, kept, true), element);
}

/* What the loop assigned and had before it; what it had not must not be needed after it. */
static weft_status close_variables(weft__serial *s, int32_t statement, plan *p)
{
    const weft__function *f = s->f;
    bool *assigned = weft__allocate_zeroed(f->variables_count + (size_t)1);
    if (!assigned)
        return WEFT_ERROR_MEMORY;
    assigned_in(f, f->statements[statement].child, assigned);
    assigned_in(f, f->statements[statement].step, assigned);
    add_output(s, p, -1, (weft__serial_variable){s->failed, WEFT_I64, false, true});
    for (uint32_t i = 0; i < f->variables_count && !s->refused; i++) {
        if (!assigned[i])
            continue;
        if (s->variables[i].value >= 0)
            add_output(s, p, (int32_t)i, s->variables[i]);
        else if (weft__function_live_after(f, statement, (int32_t)i))
            weft__serial_refuse(s);
    }
    weft__free(assigned);
    return WEFT_OK;
}

static weft_status link(weft__serial *s, int32_t statement, plan *p)
{
    open_variables(s);
    s->active = s->gone = s->left = s->inside = s->point = -1;
    s->failed = weft__build_constant(&s->builder, WEFT_I64, 0);
    if (s->refused)
        return WEFT_OK;
    TRY(weft__serial_loop(s, &s->f->statements[statement]));
    if (s->refused || s->builder.failed)
        return weft__build_finish(&s->builder);
    TRY(close_variables(s, statement, p));
    return weft__build_finish(&s->builder);
}

/* A launch of one point. */
static weft_status make_launch(const plan *p, weft__launch **made)
{
    const size_t arguments = (size_t)(p->arrays_count + p->outputs_count);
    const size_t bytes = sizeof(weft__launch) + arguments * sizeof(weft__argument) +
                         ((size_t)p->scalars_count + 1) * sizeof(uint64_t);
    weft__launch *launch = *made = weft__allocate_zeroed(bytes);
    if (!launch)
        return WEFT_ERROR_MEMORY;
    launch->bytes = (uint32_t)bytes;
    launch->arguments_count = (uint16_t)arguments;
    launch->scalars_count = (uint16_t)p->scalars_count;
    launch->ndim = 1;
    launch->count = launch->grain = launch->size[0] = 1;
    for (size_t k = 0; k < arguments; k++)
        weft__launch_arguments(launch)[k].stride[0] = 8;
    return WEFT_OK;
}

static weft_status compile(const weft__serial *s, plan *p)
{
    weft__object object = {0};
    weft__effort effort = WEFT__EFFORT_FULL;
    weft__launch *launch;
    TRY(make_launch(p, &launch));
    weft_status status = weft__engine_compile(&s->builder.kernel, launch, &effort, &object);
    if (status == WEFT_OK)
        status = weft__object_load(&object, &p->image);
    weft__object_free(&object);
    weft__free(launch);
    return status;
}

/* A plan that is not compiled stays, so that it is not tried again. */
static weft_status make_plan(weft__running *r, int32_t statement, plan *p)
{
    weft__function *f = r->function;
    weft_error saved = *weft_error_last();
    weft__serial *s = weft__allocate_zeroed(sizeof *s);
    p->kinds = weft__allocate_zeroed((f->variables_count + (size_t)1) * sizeof *p->kinds);
    if (s)
        s->variables =
            weft__allocate_zeroed((f->variables_count + (size_t)1) * sizeof *s->variables);
    if (!s || !p->kinds || !s->variables) {
        weft__free(s ? s->variables : NULL);
        weft__free(s);
        return WEFT_ERROR_MEMORY;
    }
    for (uint32_t i = 0; i < f->variables_count; i++)
        p->kinds[i] = kind(&r->held[i]);
    s->r = r;
    s->f = f;
    s->variables_count = f->variables_count;
    weft__build_begin(&s->builder);
    weft_status status = link(s, statement, p);
    p->arrays_count = s->arrays_count;
    p->scalars_count = s->scalars_count;
    memcpy(p->arrays, s->arrays, sizeof p->arrays);
    memcpy(p->written, s->written, sizeof p->written);
    memcpy(p->scalars, s->scalars, sizeof p->scalars);
    if (status == WEFT_OK && !s->refused && s->builder.kernel.values_count <= VALUES_MAX &&
        compile(s, p) != WEFT_OK)
        weft__error_restore(&saved);
    weft__build_free(&s->builder);
    weft__free(s->variables);
    weft__free(s);
    return status;
}

static weft_status find_plan(weft__running *r, int32_t statement, weft__function_serial *record,
                             plan **found)
{
    weft__engine engine;
    *found = NULL;
    for (int k = 0; k < WEFT__SERIAL_PLANS; k++)
        if (fits(r, &record->plans[k])) {
            *found = &record->plans[k];
            return WEFT_OK;
        }
    TRY(weft__engine_get(&engine));
    if (engine == WEFT__ENGINE_INTERPRETER || weft__engine_is_missing() ||
        (engine == WEFT__ENGINE_AUTO && record->rounds < ROUNDS_WORTH_IT))
        return WEFT_OK;
    plan *p = &record->plans[record->oldest];
    record->oldest = (record->oldest + 1) % WEFT__SERIAL_PLANS;
    free_plan(p);
    weft_status status = make_plan(r, statement, p);
    if (status != WEFT_OK)
        free_plan(p);
    else
        *found = p;
    return status;
}

/* The arrays, on the host; false if the interpreter has to say what is wrong with one. */
static weft_status gather(weft__running *r, const plan *p, weft__argument *arguments, bool *fine)
{
    *fine = true;
    for (int k = 0; k < p->arrays_count; k++) {
        weft_array *array;
        TRY(weft__held_host(r, p->arrays[k], false, &array));
        const int64_t bytes = (int64_t)weft_dtype_size((weft_dtype)array->dtype);
        *fine &= weft__array_count(array) > 0 && !(p->written[k] && array->overlapping);
        for (int axis = 0; axis < array->shape.ndim; axis++)
            *fine &= array->stride[axis] % bytes == 0;
        arguments[k].data = array->data;
    }
    return WEFT_OK;
}

static uint64_t scalar_of(const weft__running *r, const plan *p, const weft__serial_scalar *s)
{
    uint64_t bits;
    if (s->kind == WEFT__INPUT_NUMBER) {
        memcpy(&bits, &r->held[s->index].number.value, sizeof bits);
        return bits;
    }
    const weft_array *array = r->held[p->arrays[s->index]].host;
    return s->kind == WEFT__INPUT_SIZE
               ? (uint64_t)array->shape.size[s->axis]
               : (uint64_t)(array->stride[s->axis] /
                            (int64_t)weft_dtype_size((weft_dtype)array->dtype));
}

static void take_outputs(weft__running *r, const plan *p, const char (*cells)[8])
{
    for (int k = 1; k < p->outputs_count; k++) {
        weft_operand number = weft__number_load(cells[k], weft__serial_kept(p->as[k].dtype));
        number.dtype = p->as[k].dtype;
        weft__held_set_number(r, p->outputs[k], &number, p->as[k].typed);
    }
    for (int k = 0; k < p->arrays_count; k++)
        if (p->written[k])
            weft__held_wrote(r, p->arrays[k], false);
}

/* The interpreter says what is wrong with a subscript. */
static weft_status fail(weft__running *r, int64_t part)
{
    weft_operand value;
    bool typed;
    TRY(weft__function_scalar(r, &r->function->parts[part], &value, &typed));
    return FUNCTION_FAIL(r->function, r->function->parts[part].begin, WEFT_ERROR_SHAPE,
                         "a subscript is out of range");
}

static weft_status launch_plan(weft__running *r, const plan *p, weft__launch *launch, bool *done)
{
    _Alignas(8) char cells[OUTPUTS_MAX][8] = {{0}};
    weft__argument *arguments = weft__launch_arguments(launch);
    uint64_t *scalars = (uint64_t *)(void *)(arguments + launch->arguments_count);
    int64_t failed;
    TRY(gather(r, p, arguments, done));
    if (!*done)
        return WEFT_OK;
    for (int k = 0; k < p->outputs_count; k++)
        arguments[p->arrays_count + k].data = cells[k];
    for (int k = 0; k < p->scalars_count; k++)
        scalars[k] = scalar_of(r, p, &p->scalars[k]);
    p->image.entry(p->image.program, launch, 0, 1);
    take_outputs(r, p, (const char(*)[8])cells);
    memcpy(&failed, cells[0], sizeof failed);
    return failed ? fail(r, failed - 1) : WEFT_OK;
}

weft_status weft__serial_run(weft__running *r, int32_t statement, uint64_t rounds, bool *done)
{
    weft__function_serial *record;
    weft__launch *launch;
    plan *p;
    *done = false;
    TRY(find_record(r, statement, &record));
    record->rounds += rounds;
    if (record->unsuitable)
        return WEFT_OK;
    TRY(find_plan(r, statement, record, &p));
    if (!p || !p->image.entry)
        return WEFT_OK;
    TRY(make_launch(p, &launch));
    weft_status status = launch_plan(r, p, launch, done);
    weft__free(launch);
    if (status == WEFT_OK && *done)
        weft__function_note(r->function, WEFT__DID_COMPILED,
                            (int32_t)r->function->statements[statement].column, 0);
    return status;
}
