/* Plans of portable kernels: rewritten and lowered for arguments of certain types. */
#include "core/allocate.h"
#include "core/view.h"
#include "lang/error.h"
#include "lang/launch.h"
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* WEFT_CHECK, read once. */
static weft_status read_strict(bool *strict)
{
    static _Atomic int known; /* 0: not yet; 1: off; 2: on */
    int value = atomic_load_explicit(&known, memory_order_relaxed);
    if (!value) {
        const char *text = getenv("WEFT_CHECK");
        bool off = !text || !*text || !strcmp(text, "none");
        if (!off && strcmp(text, "bounds") != 0)
            return FAIL(WEFT_ERROR_ARGUMENT,
                        "WEFT_CHECK is '%s' in the environment; it can be bounds or none",
                        QUOTE(text, strlen(text)));
        value = off ? 1 : 2;
        atomic_store_explicit(&known, value, memory_order_relaxed);
    }
    *strict = value == 2;
    return WEFT_OK;
}

/* The value of a number that an index can be made of. */
static bool integer_of(const weft_operand *operand, int64_t *value)
{
    if (operand->tag != WEFT_OPERAND_NUMBER || operand->dtype < WEFT_I8 ||
        operand->dtype > WEFT_U64)
        return false;
    *value = operand->value.i;
    return operand->dtype <= WEFT_I64 || operand->value.u <= INT64_MAX;
}

static void read_values(const weft__launch_kernel *kernel, const weft_operand *arguments,
                        int64_t *values, const int64_t **numbers)
{
    for (int i = 0; i < kernel->count; i++)
        numbers[i] = kernel->fixed[i] && integer_of(&arguments[i], &values[i]) ? &values[i] : NULL;
}

/* The types of the program's operands: arrays with the shape of the points. */
static void view_types(const weft__launch_plan *plan, weft__lang_operand *types)
{
    for (uint32_t i = 0; i < plan->program.operands_count; i++) {
        const weft__portable_operand *operand = &plan->program.operands[i];
        types[i] = plan->types[operand->argument];
        if (operand->form != WEFT__PORTABLE_NUMBER)
            types[i].shape = plan->program.points;
    }
}

static weft_status fill(weft__launch_plan *plan, const weft__launch_kernel *kernel,
                        const weft_operand *arguments)
{
    const int64_t *numbers[WEFT__LANG_OPERANDS_MAX];
    bool strict = false;
    TRY(read_strict(&strict));
    read_values(kernel, arguments, plan->values, numbers);
    TRY(weft__portable_rewrite(kernel->syntax, plan->types, numbers, NULL, &plan->space, strict,
                               &plan->program));
    uint32_t count = plan->program.operands_count;
    weft__lang_operand *types = weft__allocate((count + (size_t)1) * sizeof *types);
    plan->names = weft__allocate((count + (size_t)1) * sizeof *plan->names);
    weft_status status = types && plan->names ? WEFT_OK : WEFT_ERROR_MEMORY;
    for (uint32_t i = 0; status == WEFT_OK && i < count; i++)
        plan->names[i] = kernel->names[plan->program.operands[i].argument];
    if (status == WEFT_OK) {
        view_types(plan, types);
        status = weft__evaluation_new(plan->program.syntax, types, (int)count, &plan->evaluation);
    }
    weft__free(types);
    return status;
}

weft_status weft__launch_plan_new(const weft__launch_kernel *kernel, const weft_shape *space,
                                  const weft_operand *arguments, weft__launch_plan **made)
{
    weft__lang_operand types[WEFT__LANG_OPERANDS_MAX];
    size_t count = (size_t)kernel->count;
    TRY(weft__evaluation_types(arguments, kernel->count, types));
    weft__launch_plan *plan =
        weft__allocate_zeroed(sizeof *plan + count * (sizeof *types + sizeof *plan->values));
    if (!plan)
        return WEFT_ERROR_MEMORY;
    plan->types = (weft__lang_operand *)(void *)(plan + 1);
    plan->values = (int64_t *)(void *)(plan->types + count);
    plan->space = *space;
    memcpy(plan->types, types, count * sizeof *types);
    weft_status status = fill(plan, kernel, arguments);
    if (status == WEFT_OK)
        *made = plan;
    else
        weft__launch_plan_free(plan);
    return status;
}

void weft__launch_plan_free(weft__launch_plan *plan)
{
    if (!plan)
        return;
    weft__evaluation_free(plan->evaluation);
    weft__portable_free(&plan->program);
    weft__free(plan->names);
    weft__free(plan);
}

static bool has_type(const weft_operand *operand, const weft__lang_operand *type)
{
    const weft_array *array = operand->value.input;
    if (type->tag != (uint8_t)operand->tag)
        return false;
    if (operand->tag == WEFT_OPERAND_NUMBER)
        return type->dtype == (uint8_t)operand->dtype;
    return array && type->dtype == array->dtype && type->unset == !array->buffer &&
           weft__shape_same(&type->shape, &array->shape);
}

bool weft__launch_plan_fits(const weft__launch_plan *plan, const weft__launch_kernel *kernel,
                            const weft_shape *space, const weft_operand *arguments)
{
    if (!weft__shape_same(&plan->space, space))
        return false;
    for (int i = 0; i < kernel->count; i++) {
        int64_t value = 0;
        if (!has_type(&arguments[i], &plan->types[i]))
            return false;
        if (kernel->fixed[i] && !(integer_of(&arguments[i], &value) && value == plan->values[i]))
            return false;
    }
    return true;
}

/* The argument with other axes over the same memory. */
static bool reshaped(const weft_array *source, const weft_shape *shape, weft_array *as)
{
    as->shape = *shape;
    if (!weft__reshape_strides(source, shape, as->stride))
        return false;
    as->data = source->data;
    return true;
}

bool weft__launch_view(const weft__launch_plan *plan, uint32_t operand, const weft_array *source,
                       weft_array *view)
{
    const weft__portable_operand *of = &plan->program.operands[operand];
    const weft_shape *points = &plan->program.points;
    weft_array as = {.shape = source->shape, .data = source->data};
    weft_shape flat = {1, {weft__array_count(source)}};
    memcpy(as.stride, source->stride, sizeof as.stride);
    if (of->form == WEFT__PORTABLE_WHOLE && !weft__array_contiguous(source))
        return false; /* a position is all that the kernel has */
    if (of->form != WEFT__PORTABLE_ELEMENTS &&
        !reshaped(source, of->form == WEFT__PORTABLE_RESHAPED ? points : &flat, &as))
        return false;
    atomic_init(&view->references, 1); /* never the last: it is not on the heap */
    view->dtype = source->dtype;
    view->overlapping = source->overlapping;
    view->read_only = source->read_only;
    view->on_host = source->on_host;
    view->shape = *points;
    view->layout = 0;
    view->data = as.data;
    view->buffer = source->buffer;
    view->stream = source->stream;
    view->request = source->request;
    if (of->form == WEFT__PORTABLE_RESHAPED) {
        memcpy(view->stride, as.stride, sizeof as.stride);
        return true;
    }
    memset(view->stride, 0, sizeof view->stride);
    if (of->form == WEFT__PORTABLE_WHOLE)
        view->shape = (weft_shape){0, {0}};
    for (int s = 0; s < of->subscripts; s++) {
        view->data += of->offset[s] * as.stride[s];
        for (int k = 0; k < points->ndim; k++)
            if (points->size[k] > 1) /* else it may be any number */
                view->stride[k] += of->step[s][k] * as.stride[s];
    }
    return true;
}
