/* Kernels as text: operands in memory, values, code. */
#include "codegen/c_like.h"
#include "codegen/interpreter.h"
#include "codegen/llvm.h"
#include "core/allocate.h"
#include "core/shape.h"
#include "kernel/canonical.h"
#include "kernel/engine.h"
#include "lang/explain.h"
#include <string.h>

static const struct {
    const char *name;
    uint8_t arity;
} ops[] = {
#define OP(name, arity) {#name, arity},
    WEFT__OP_LIST(OP)
#undef OP
};

weft_status weft__explain_target(const char *target)
{
    static const char *const targets[] = {"interpreter", "llvm", "cuda", "opencl"};
    for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++)
        if (!target || !strcmp(target, targets[i]))
            return WEFT_OK;
    return FAIL_AT(WEFT_ERROR_ARGUMENT, "target",
                   "'%.40s' is no target; there are interpreter, llvm, cuda and opencl, and NULL "
                   "for none",
                   target);
}

/* An array of that shape in C order, at an address that nobody looks at. */
static weft_status imagine(const weft_shape *shape, weft_dtype dtype, weft_array *array)
{
    size_t bytes;
    array->dtype = (uint8_t)dtype;
    array->shape = *shape;
    return weft__shape_strides(shape, weft_dtype_size(dtype), 1, array->stride, &bytes);
}

/* The shape that a store of the kernel has. */
static const weft_shape *stored_shape(const weft__explained *e, int32_t place)
{
    const weft__evaluation *v = e->evaluation;
    const weft__lang_program *p = v->program;
    for (uint32_t i = 0; i < v->schedule.stores_count; i++)
        if (v->schedule.stores[i].place == place % WEFT__PLACE_ASSIGNED ||
            v->schedule.stores[i].place == place)
            return &p->shapes[p->nodes[v->schedule.stores[i].node].shape];
    return &p->shapes[0];
}

/* The arrays of a kernel: the operands, and in place of those without memory ones in C order. */
static weft_status find_arrays(const weft__explained *e, const weft__lowered *k,
                               weft_array *imagined, weft_array **arrays)
{
    for (uint32_t i = 0; i < k->operands_count; i++) {
        int32_t place = k->operands[i];
        arrays[i] = place < 0 ? NULL : e->arrays[place % WEFT__PLACE_ASSIGNED];
        if (arrays[i] && arrays[i]->buffer)
            continue;
        TRY(imagine(stored_shape(e, place), (weft_dtype)k->builder.kernel.operands[i].dtype,
                    &imagined[i]));
        arrays[i] = &imagined[i];
    }
    return WEFT_OK;
}

static const char *class_of(int64_t stride, int64_t size)
{
    return stride == 0 ? "zero" : stride == size ? "unit" : "general";
}

static void write_operands(const weft__explained *e, const weft__lowered *k,
                           const weft__launch *launch)
{
    const weft__argument *arguments = weft__launch_arguments_of(launch);
    weft_shape sizes = {launch->ndim, {0}};
    memcpy(sizes.size, launch->size, sizeof sizes.size);
    weft__text_add(e->text, "  index space %s, canonical %s\n", weft__shape_text_of(&k->space).text,
                   weft__shape_text_of(&sizes).text);
    for (uint32_t i = 0; i < k->operands_count; i++) {
        const weft__kernel_operand *operand = &k->builder.kernel.operands[i];
        int64_t bytes = (int64_t)weft_dtype_size((weft_dtype)operand->dtype);
        weft__text_add(e->text, "  operand %u %s %s %s,", i, operand->output ? "writes" : "reads",
                       weft__explain_place(e, k->operands[i]).text,
                       weft_dtype_name((weft_dtype)operand->dtype));
        for (int axis = 0; axis < launch->ndim; axis++)
            weft__text_add(e->text, " %s", class_of(arguments[i].stride[axis], bytes));
        weft__text_add(e->text, "\n");
    }
}

static void write_constant(weft__text *text, const weft__value *value)
{
    float narrow;
    double wide;
    memcpy(&narrow, &value->bits, sizeof narrow);
    memcpy(&wide, &value->bits, sizeof wide);
    if (value->dtype == WEFT_F32)
        weft__text_add(text, " %.9g", (double)narrow);
    else if (value->dtype == WEFT_F64)
        weft__text_add(text, " %.17g", wide);
    else if (value->dtype >= WEFT_I8 && value->dtype <= WEFT_I64)
        weft__text_add(text, " %lld", (long long)value->bits);
    else
        weft__text_add(text, " %llu", (unsigned long long)value->bits);
}

static void write_shift(weft__text *text, const weft__kernel *kernel, const weft__value *load)
{
    static const char *const boundaries[] = {"unshifted", "clamp", "wrap", "constant"};
    const weft__kernel_shift *shift = &kernel->shifts[load->shift - 1];
    weft__text_add(text, " shifted by (");
    for (int axis = 0; axis < kernel->ndim; axis++)
        weft__text_add(text, "%s%lld", axis ? ", " : "", (long long)shift->offset[axis]);
    weft__text_add(text, ") %s", boundaries[shift->boundary]);
    if (shift->boundary == WEFT__BOUNDARY_CONSTANT)
        weft__text_add(text, " v%d", load->argument[0]);
}

static void write_place(const weft__explained *e, const weft__lowered *k, const weft__value *value)
{
    weft_dtype dtype = (weft_dtype)k->builder.kernel.operands[value->slot].dtype;
    bool parts = dtype == WEFT_C64 || dtype == WEFT_C128;
    weft__text_add(e->text, " %s%s", weft__explain_place(e, k->operands[value->slot]).text,
                   !parts        ? ""
                   : value->part ? ", imaginary"
                                 : ", real");
}

static const char *fold_name(uint16_t slot)
{
    static const char *const pairs[] = {"argmin", "argmax", "product"};
    return slot >= WEFT__FOLD_ARGMIN ? pairs[slot - WEFT__FOLD_ARGMIN] : ops[slot].name;
}

static void write_details(const weft__explained *e, const weft__lowered *k,
                          const weft__value *value)
{
    switch ((weft__op)value->op) {
    case WEFT__OP_load:
        write_place(e, k, value);
        if (value->shift)
            write_shift(e->text, &k->builder.kernel, value);
        break;
    case WEFT__OP_constant:
        write_constant(e->text, value);
        break;
    case WEFT__OP_scalar:
        if (k->scalars[value->slot] >= 0)
            weft__text_add(e->text, " %s",
                           weft__explain_place(e, k->scalars[value->slot] / 2).text);
        else
            weft__text_add(e->text, " of the shapes");
        break;
    case WEFT__OP_index:
        if (value->slot == WEFT__INDEX_FOLDED)
            weft__text_add(e->text, " among those folded");
        else
            weft__text_add(e->text, " along axis %d", value->slot);
        break;
    case WEFT__OP_fold:
        weft__text_add(e->text, " %s", fold_name(value->slot));
        break;
    default:
        break;
    }
}

static void write_values(const weft__explained *e, const weft__lowered *k)
{
    const weft__kernel *kernel = &k->builder.kernel;
    for (uint32_t i = 0; i < kernel->values_count; i++) {
        const weft__value *value = &kernel->values[i];
        bool store = value->op == WEFT__OP_store;
        weft__text_add(e->text, "    ");
        if (!store)
            weft__text_add(e->text, "v%u = ", i);
        weft__text_add(e->text, "%s", ops[value->op].name);
        write_details(e, k, value);
        bool same = value->op == WEFT__OP_fold && value->slot < WEFT__OP_COUNT;
        for (int a = 0; a < (same ? 1 : ops[value->op].arity); a++)
            weft__text_add(e->text, " v%d", value->argument[a]);
        if (store)
            write_place(e, k, value);
        else
            weft__text_add(e->text, " : %s", weft_dtype_name((weft_dtype)value->dtype));
        weft__text_add(e->text, "\n");
    }
}

/* Of a fold, the first of its stages. */
static weft_status c_like_code(const weft__kernel *kernel, const weft__launch *launch,
                               weft__dialect dialect, char **code)
{
    weft__kernel_text text = {0};
    TRY(weft__c_like_write(kernel, launch, dialect, &text));
    *code = text.text;
    return WEFT_OK;
}

static weft_status code_of(const char *target, const weft__kernel *kernel,
                           const weft__launch *launch, char **code)
{
    if (!strcmp(target, "interpreter"))
        return weft__interpreter_explain(kernel, code);
    if (!strcmp(target, "llvm"))
        return weft__engine_explain(kernel, launch, code);
    return c_like_code(kernel, launch,
                       strcmp(target, "cuda") ? WEFT__DIALECT_OPENCL : WEFT__DIALECT_CUDA, code);
}

/* What an engine cannot compile is said in the text: another one runs it. */
static weft_status write_code(const weft__explained *e, const weft__kernel *kernel,
                              const weft__launch *launch)
{
    char *code = NULL;
    if (!e->target)
        return WEFT_OK;
    weft__text_add(e->text, "  code for %s:\n", e->target);
    if (!strcmp(e->target, "llvm"))
        TRY(weft__llvm_open());
    weft_status status = code_of(e->target, kernel, launch, &code);
    if (status == WEFT_ERROR_MEMORY)
        return status;
    weft__text_add(e->text, "%s%s", status == WEFT_OK ? code : "    none: ",
                   status == WEFT_OK ? "" : weft_error_last()->message);
    weft__text_add(e->text, status == WEFT_OK ? "" : "\n");
    weft__free(code);
    return WEFT_OK;
}

weft_status weft__explain_kernel(const weft__explained *e, uint32_t k)
{
    const weft__lowered *lowered = &e->evaluation->kernels[k];
    const weft__kernel *kernel = &lowered->builder.kernel;
    size_t count = kernel->operands_count + (size_t)1;
    size_t bytes = sizeof(weft__launch) + count * sizeof(weft__argument) +
                   kernel->scalars_count * sizeof(uint64_t);
    char *memory =
        weft__allocate_zeroed(bytes + count * (sizeof(weft_array) + sizeof(weft_array *)));
    if (!memory)
        return WEFT_ERROR_MEMORY;
    weft__launch *launch = (weft__launch *)(void *)memory;
    weft_array *imagined = (weft_array *)(void *)(memory + bytes);
    weft_array **arrays = (weft_array **)(void *)(imagined + count);
    launch->bytes = (uint32_t)bytes;
    launch->arguments_count = (uint16_t)(kernel->operands_count + (kernel->folds_count > 0));
    launch->scalars_count = (uint16_t)kernel->scalars_count;
    weft_status status = find_arrays(e, lowered, imagined, arrays);
    if (status == WEFT_OK) {
        weft__canonical(kernel, &lowered->space, arrays, launch);
        weft__text_add(e->text, "kernel %u:\n", k);
        write_operands(e, lowered, launch);
        write_values(e, lowered);
        status = write_code(e, kernel, launch);
    }
    weft__free(memory);
    return status;
}
