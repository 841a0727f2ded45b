/* Small kernels for the tests of the interpreter: made by hand, launched on plain memory. */
#ifndef WEFT_TESTS_CODEGEN_KERNELS_H
#define WEFT_TESTS_CODEGEN_KERNELS_H

#include "codegen/interpreter.h"
#include "support/check.h"
#include "support/random.h"

#include <stdlib.h>
#include <string.h>

enum { TINY_VALUES = 1024, TINY_OPERANDS = 8, TINY_SCALARS = 4, TINY_SHIFTS = 16 };

struct tiny {
    weft__kernel kernel;
    weft__value values[TINY_VALUES];
    weft__kernel_operand operands[TINY_OPERANDS];
    weft__kernel_shift shifts[TINY_SHIFTS];
};

static inline void tiny_begin(struct tiny *tiny)
{
    memset(&tiny->kernel, 0, sizeof tiny->kernel);
    tiny->kernel.values = tiny->values;
    tiny->kernel.operands = tiny->operands;
    tiny->kernel.shifts = tiny->shifts;
    tiny->kernel.ndim = 1;
}

static inline int tiny_value(struct tiny *tiny, weft__op op, weft_dtype dtype, int x, int y, int z)
{
    tiny->values[tiny->kernel.values_count] =
        (weft__value){.op = (uint8_t)op, .dtype = (uint8_t)dtype, .argument = {x, y, z}};
    return (int)tiny->kernel.values_count++;
}

static inline uint16_t tiny_operand(struct tiny *tiny, weft_dtype dtype, bool output)
{
    tiny->operands[tiny->kernel.operands_count] =
        (weft__kernel_operand){.dtype = (uint8_t)dtype, .output = output};
    return (uint16_t)tiny->kernel.operands_count++;
}

/* The type of a value loaded from memory of a dtype. */
static inline weft_dtype tiny_loaded(weft_dtype dtype)
{
    const bool single = dtype == WEFT_F16 || dtype == WEFT_BF16 || dtype == WEFT_C64;
    return single ? WEFT_F32 : dtype == WEFT_C128 ? WEFT_F64 : dtype;
}

static inline int tiny_load_from(struct tiny *tiny, uint16_t slot, uint8_t part)
{
    const int at =
        tiny_value(tiny, WEFT__OP_load, tiny_loaded(tiny->operands[slot].dtype), 0, 0, 0);
    tiny->values[at].slot = slot;
    tiny->values[at].part = part;
    return at;
}

/* A displaced load; `constant` is the value for that boundary. */
static inline int tiny_load_shifted(struct tiny *tiny, uint16_t slot, uint8_t part,
                                    const weft__kernel_shift *shift, int constant)
{
    const int at = tiny_load_from(tiny, slot, part);
    tiny->shifts[tiny->kernel.shifts_count++] = *shift;
    tiny->values[at].shift = (uint16_t)tiny->kernel.shifts_count;
    if (shift->boundary == WEFT__BOUNDARY_CONSTANT)
        tiny->values[at].argument[0] = constant;
    return at;
}

static inline int tiny_load(struct tiny *tiny, weft_dtype dtype)
{
    return tiny_load_from(tiny, tiny_operand(tiny, dtype, false), 0);
}

static inline void tiny_store_to(struct tiny *tiny, uint16_t slot, uint8_t part, int value)
{
    const weft_dtype dtype = tiny_loaded(tiny->operands[slot].dtype);
    const int at = tiny_value(tiny, WEFT__OP_store, dtype, value, 0, 0);
    tiny->values[at].slot = slot;
    tiny->values[at].part = part;
}

static inline void tiny_store(struct tiny *tiny, weft_dtype dtype, int value)
{
    tiny_store_to(tiny, tiny_operand(tiny, dtype, true), 0, value);
}

static inline int tiny_constant(struct tiny *tiny, weft_dtype dtype, uint64_t bits)
{
    const int at = tiny_value(tiny, WEFT__OP_constant, dtype, 0, 0, 0);
    tiny->values[at].bits = bits;
    return at;
}

static inline int tiny_scalar(struct tiny *tiny, weft_dtype dtype)
{
    const int at = tiny_value(tiny, WEFT__OP_scalar, dtype, 0, 0, 0);
    tiny->values[at].slot = (uint16_t)tiny->kernel.scalars_count;
    tiny->kernel.scalars_count++;
    return at;
}

/* A launch with room for what it needs; scalars come right after the arguments. */
struct tiny_launch {
    weft__launch launch;
    char room[TINY_OPERANDS * sizeof(weft__argument) + TINY_SCALARS * sizeof(uint64_t)];
};

static inline void launch_begin(struct tiny_launch *at, const struct tiny *tiny, int ndim,
                                const int64_t *size)
{
    memset(at, 0, sizeof *at);
    at->launch.ndim = ndim;
    at->launch.arguments_count = (uint16_t)tiny->kernel.operands_count;
    at->launch.scalars_count = (uint16_t)tiny->kernel.scalars_count;
    at->launch.count = 1;
    for (int k = 0; k < ndim; k++) {
        at->launch.size[k] = size[k];
        at->launch.count *= size[k];
    }
}

static inline void launch_argument(struct tiny_launch *at, int slot, void *data,
                                   const int64_t *stride)
{
    weft__argument *argument = &weft__launch_arguments(&at->launch)[slot];
    argument->data = data;
    memcpy(argument->stride, stride, (size_t)at->launch.ndim * sizeof *stride);
}

static inline void launch_scalar(struct tiny_launch *at, int slot, uint64_t bits)
{
    memcpy(at->room + at->launch.arguments_count * sizeof(weft__argument) +
               (size_t)slot * sizeof bits,
           &bits, sizeof bits);
}

static inline void image_release(weft__image *image)
{
    if (image->destroy != NULL)
        image->destroy(image->program);
}

/* Compiles and runs over the whole launch. */
static inline weft_status tiny_run(const struct tiny *tiny, struct tiny_launch *at)
{
    weft__image image = {0};
    const weft_status status = weft__interpreter_compile(&tiny->kernel, &image);
    if (status == WEFT_OK)
        image.entry(image.program, &at->launch, 0, at->launch.count);
    image_release(&image);
    return status;
}

/* Runs on arrays of one dimension without gaps, `data` in the order of the operands. */
static inline weft_status tiny_run_flat(const struct tiny *tiny, int64_t count, void *const *data,
                                        const uint64_t *scalars)
{
    struct tiny_launch at;
    launch_begin(&at, tiny, 1, &count);
    for (uint32_t k = 0; k < tiny->kernel.operands_count; k++)
        launch_argument(&at, (int)k, data[k],
                        &(int64_t){(int64_t)weft_dtype_size(tiny->operands[k].dtype)});
    for (uint32_t k = 0; k < tiny->kernel.scalars_count; k++)
        launch_scalar(&at, (int)k, scalars[k]);
    return tiny_run(tiny, &at);
}

/* Runs the check with each instruction set that the machine has; as a statement before a block. */
static const char *const isa_names[] = {"baseline", "avx2", "avx512"};
static inline bool isa_use(int k)
{
    weft__interpreter_isa_choose(isa_names[k]);
    return strcmp(weft__interpreter_isa(), isa_names[k]) == 0;
}
#define FOR_EACH_ISA                                                                               \
    for (int isa = 0; isa < 3; isa++)                                                              \
        if (isa_use(isa))

static inline uint64_t element_read(const void *data, int64_t at, weft_dtype dtype)
{
    uint64_t bits = 0;
    const size_t size = weft_dtype_size(dtype);
    memcpy(&bits, (const char *)data + (size_t)at * size, size);
    return bits;
}

static inline void element_write(void *data, int64_t at, weft_dtype dtype, uint64_t bits)
{
    const size_t size = weft_dtype_size(dtype);
    memcpy((char *)data + (size_t)at * size, &bits, size);
}

#endif
