/* Building kernels: values, loads and stores. */
#include "kernel/build.h"
#include "core/allocate.h"
#include "core/status.h"
#include <assert.h>
#include <string.h>

weft_dtype weft__value_dtype(weft_dtype memory_dtype)
{
    switch (memory_dtype) {
    case WEFT_F16:
    case WEFT_BF16:
    case WEFT_C64:
        return WEFT_F32;
    case WEFT_C128:
        return WEFT_F64;
    default:
        return memory_dtype;
    }
}

static bool is_complex(weft_dtype dtype) { return dtype == WEFT_C64 || dtype == WEFT_C128; }

void weft__build_begin(weft__builder *builder)
{
    memset(&builder->kernel, 0, sizeof builder->kernel);
    builder->kernel.values = builder->values;
    builder->kernel.values_room = WEFT__BUILD_VALUES;
    builder->kernel.operands = builder->operands;
    builder->kernel.operands_room = WEFT__BUILD_OPERANDS;
    builder->kernel.shifts = builder->shifts;
    builder->kernel.shifts_room = WEFT__BUILD_SHIFTS;
    builder->failed = false;
}

weft_status weft__build_finish(const weft__builder *builder)
{
    return builder->failed ? WEFT_ERROR_MEMORY : WEFT_OK;
}

void weft__build_free(weft__builder *builder)
{
    if (builder->kernel.values != builder->values)
        weft__free(builder->kernel.values);
    if (builder->kernel.operands != builder->operands)
        weft__free(builder->kernel.operands);
    if (builder->kernel.shifts != builder->shifts)
        weft__free(builder->kernel.shifts);
}

/* Twice the room; the first time it moves out of the builder. */
static bool grow(void **items, const void *own, uint32_t *room, size_t item_bytes)
{
    bool moved = *items != own;
    void *more = weft__reallocate(moved ? *items : NULL, *room * 2 * item_bytes);
    if (!more)
        return false;
    if (!moved)
        memcpy(more, own, *room * item_bytes);
    *items = more;
    *room *= 2;
    return true;
}

int weft__build_operand(weft__builder *builder, weft_dtype dtype, bool output)
{
    weft__kernel *kernel = &builder->kernel;
    void *operands = kernel->operands;
    if (kernel->operands_count == kernel->operands_room &&
        !grow(&operands, builder->operands, &kernel->operands_room, sizeof *kernel->operands)) {
        builder->failed = true;
        return 0;
    }
    kernel->operands = operands;
    kernel->operands[kernel->operands_count] =
        (weft__kernel_operand){(uint8_t)dtype, output, false};
    return (int)kernel->operands_count++;
}

static int32_t add(weft__builder *builder, weft__value value)
{
    weft__kernel *kernel = &builder->kernel;
    void *values = kernel->values;
    if (kernel->values_count == kernel->values_room &&
        !grow(&values, builder->values, &kernel->values_room, sizeof *kernel->values)) {
        builder->failed = true;
        return 0;
    }
    kernel->values = values;
    kernel->values[kernel->values_count] = value;
    return (int32_t)kernel->values_count++;
}

int32_t weft__build(weft__builder *builder, weft__op op, weft_dtype dtype, int32_t a, int32_t b,
                    int32_t c)
{
    return add(builder,
               (weft__value){.op = (uint8_t)op, .dtype = (uint8_t)dtype, .argument = {a, b, c}});
}

int32_t weft__build_raw_bitcast(weft__builder *builder, weft_dtype dtype, int32_t a)
{
    return add(
        builder,
        (weft__value){.op = WEFT__OP_bitcast, .dtype = (uint8_t)dtype, .part = 1, .argument = {a}});
}

int32_t weft__build_constant(weft__builder *builder, weft_dtype dtype, uint64_t bits)
{
    return add(builder,
               (weft__value){.op = WEFT__OP_constant, .dtype = (uint8_t)dtype, .bits = bits});
}

int32_t weft__build_scalar(weft__builder *builder, weft_dtype dtype)
{
    uint32_t slot = builder->kernel.scalars_count++;
    return add(
        builder,
        (weft__value){.op = WEFT__OP_scalar, .dtype = (uint8_t)dtype, .slot = (uint16_t)slot});
}

int32_t weft__build_index(weft__builder *builder, int axis)
{
    return add(builder,
               (weft__value){.op = WEFT__OP_index, .dtype = WEFT_I64, .slot = (uint16_t)axis});
}

int32_t weft__build_fold(weft__builder *builder, int kind, weft_dtype dtype, weft_dtype dtype_1,
                         int32_t a, int32_t b)
{
    weft__value value = {
        .op = WEFT__OP_fold, .dtype = (uint8_t)dtype, .slot = (uint16_t)kind, .argument = {a, b}};
    int32_t first = add(builder, value);
    builder->kernel.folds_count++;
    if (kind >= WEFT__FOLD_ARGMIN) {
        value.part = 1;
        value.dtype = (uint8_t)dtype_1;
        add(builder, value);
        builder->kernel.folds_count++;
    }
    return first;
}

static weft__element load(weft__builder *builder, int operand, uint16_t shift,
                          const weft__element *constant)
{
    weft__element element = {.dtype = (weft_dtype)builder->kernel.operands[operand].dtype};
    for (int part = 0; part < (is_complex(element.dtype) ? 2 : 1); part++)
        element.part[part] =
            add(builder, (weft__value){.op = WEFT__OP_load,
                                       .dtype = (uint8_t)weft__value_dtype(element.dtype),
                                       .slot = (uint16_t)operand,
                                       .part = (uint8_t)part,
                                       .shift = shift,
                                       .argument = {constant ? constant->part[part] : 0}});
    return element;
}

weft__element weft__build_load(weft__builder *builder, int operand)
{
    return load(builder, operand, 0, NULL);
}

static bool same_shift(const weft__kernel_shift *a, const weft__kernel_shift *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

weft__element weft__build_shifted(weft__builder *builder, int operand,
                                  const weft__kernel_shift *shift, const weft__element *constant)
{
    weft__kernel *kernel = &builder->kernel;
    void *shifts = kernel->shifts;
    uint32_t k = 0;
    while (k < kernel->shifts_count && !same_shift(&kernel->shifts[k], shift))
        k++;
    if (k == UINT16_MAX ||
        (k == kernel->shifts_room &&
         !grow(&shifts, builder->shifts, &kernel->shifts_room, sizeof *kernel->shifts))) {
        builder->failed = true;
        return load(builder, operand, 0, NULL);
    }
    kernel->shifts = shifts;
    kernel->shifts[k] = *shift;
    if (k == kernel->shifts_count)
        kernel->shifts_count++;
    return load(builder, operand, (uint16_t)(k + 1), constant);
}

weft__element weft__build_gather(weft__builder *builder, int operand, int32_t position)
{
    weft__element element = {.dtype = (weft_dtype)builder->kernel.operands[operand].dtype};
    for (int part = 0; part < (is_complex(element.dtype) ? 2 : 1); part++)
        element.part[part] =
            add(builder, (weft__value){.op = WEFT__OP_gather,
                                       .dtype = (uint8_t)weft__value_dtype(element.dtype),
                                       .slot = (uint16_t)operand,
                                       .part = (uint8_t)part,
                                       .argument = {position}});
    return element;
}

void weft__build_scatter(weft__builder *builder, int operand, int32_t position, int32_t value,
                         int32_t condition)
{
    const weft_dtype dtype = (weft_dtype)builder->kernel.operands[operand].dtype;
    builder->kernel.scatters_count++;
    add(builder, (weft__value){.op = WEFT__OP_scatter,
                               .dtype = (uint8_t)weft__value_dtype(dtype),
                               .slot = (uint16_t)operand,
                               .argument = {position, value, condition}});
}

int32_t weft__build_flow(weft__builder *builder, weft__op op, weft_dtype dtype, int32_t a,
                         int32_t b)
{
    builder->kernel.loops_count += op == WEFT__OP_loop;
    return weft__build(builder, op, dtype, a, b, 0);
}

void weft__build_store(weft__builder *builder, int operand, weft__element element)
{
    assert(builder->failed || element.dtype == (weft_dtype)builder->kernel.operands[operand].dtype);
    for (int part = 0; part < (is_complex(element.dtype) ? 2 : 1); part++)
        add(builder, (weft__value){.op = WEFT__OP_store,
                                   .dtype = (uint8_t)weft__value_dtype(element.dtype),
                                   .slot = (uint16_t)operand,
                                   .part = (uint8_t)part,
                                   .argument = {element.part[part]}});
}
