/* Building kernels: values, loads and stores. */
#include "kernel/build.h"
#include <assert.h>
#include <string.h>

weft_dtype weft__value_dtype(weft_dtype memory_dtype)
{
    switch (memory_dtype) {
    case WEFT_F16:
    case WEFT_BF16:
    case WEFT_C64: return WEFT_F32;
    case WEFT_C128: return WEFT_F64;
    default: return memory_dtype;
    }
}

static bool is_complex(weft_dtype dtype) { return dtype == WEFT_C64 || dtype == WEFT_C128; }

void weft__build_begin(weft__builder *builder)
{
    memset(&builder->kernel, 0, sizeof builder->kernel);
    builder->kernel.values = builder->values;
    builder->kernel.values_room = WEFT__BUILD_VALUES;
    builder->kernel.operands = builder->operands;
}

int weft__build_operand(weft__builder *builder, weft_dtype dtype, bool output)
{
    uint32_t slot = builder->kernel.operands_count++;
    assert(slot < WEFT__BUILD_OPERANDS);
    builder->operands[slot] = (weft__kernel_operand){(uint8_t)dtype, output};
    return (int)slot;
}

static int32_t add(weft__builder *builder, weft__value value)
{
    uint32_t at = builder->kernel.values_count++;
    assert(at < WEFT__BUILD_VALUES);
    builder->values[at] = value;
    return (int32_t)at;
}

int32_t weft__build(weft__builder *builder, weft__op op, weft_dtype dtype, int32_t a, int32_t b,
                    int32_t c)
{
    return add(builder, (weft__value){
                            .op = (uint8_t)op, .dtype = (uint8_t)dtype, .argument = {a, b, c}});
}

int32_t weft__build_constant(weft__builder *builder, weft_dtype dtype, uint64_t bits)
{
    return add(builder, (weft__value){
                            .op = WEFT__OP_constant, .dtype = (uint8_t)dtype, .bits = bits});
}

int32_t weft__build_scalar(weft__builder *builder, weft_dtype dtype)
{
    uint32_t slot = builder->kernel.scalars_count++;
    assert(slot < sizeof builder->kernel.scalar_dtypes);
    builder->kernel.scalar_dtypes[slot] = (uint8_t)dtype;
    return add(builder, (weft__value){.op = WEFT__OP_scalar,
                                      .dtype = (uint8_t)dtype,
                                      .slot = (uint16_t)slot});
}

int32_t weft__build_index(weft__builder *builder, int axis)
{
    return add(builder, (weft__value){
                            .op = WEFT__OP_index, .dtype = WEFT_I64, .slot = (uint16_t)axis});
}

weft__element weft__build_load(weft__builder *builder, int operand)
{
    weft__element element = {.dtype = (weft_dtype)builder->operands[operand].dtype};
    for (int part = 0; part < (is_complex(element.dtype) ? 2 : 1); part++)
        element.part[part] = add(builder, (weft__value){
                                              .op = WEFT__OP_load,
                                              .dtype = (uint8_t)weft__value_dtype(element.dtype),
                                              .slot = (uint16_t)operand,
                                              .part = (uint8_t)part});
    return element;
}

void weft__build_store(weft__builder *builder, int operand, weft__element element)
{
    assert(element.dtype == (weft_dtype)builder->operands[operand].dtype);
    for (int part = 0; part < (is_complex(element.dtype) ? 2 : 1); part++)
        add(builder, (weft__value){.op = WEFT__OP_store,
                                   .dtype = (uint8_t)weft__value_dtype(element.dtype),
                                   .slot = (uint16_t)operand,
                                   .part = (uint8_t)part,
                                   .argument = {element.part[part]}});
}
