/* Runs one math function on arrays, by the interpreter or by compiled code. */
#ifndef WEFT_TESTS_MATH_EXPAND_H
#define WEFT_TESTS_MATH_EXPAND_H

#include "codegen/interpreter.h"
#include "codegen/llvm.h"
#include "kernel/math.h"

#include <stdlib.h>
#include <string.h>

typedef struct expanded {
    weft__image image;
    int arguments;  /* 1 or 2 */
    int primitives; /* without loads, stores and constants */
    int out_size;   /* bytes of an element of the result */
    int in_size;
} expanded;

static inline int count_primitives(const weft__kernel *kernel)
{
    int count = 0;
    for (uint32_t k = 0; k < kernel->values_count; k++) {
        const uint8_t op = kernel->values[k].op;
        count += op != WEFT__OP_load && op != WEFT__OP_store && op != WEFT__OP_constant;
    }
    return count;
}

/* Whether kernels are compiled from now on; also those of tests that run with that engine are. */
static bool expand_compiled;

static inline bool expand_is_compiled(void)
{
    const char *engine = getenv("WEFT_ENGINE");
    return expand_compiled || (engine && strcmp(engine, "llvm") == 0);
}

/* A launch with room for its arguments. */
typedef union expanded_launch {
    weft__launch launch;
    char room[sizeof(weft__launch) + 3 * sizeof(weft__argument)];
} expanded_launch;

static inline void expand_launch(const expanded *at, int64_t count, const void *x, const void *y,
                                 void *result, expanded_launch *room)
{
    memset(room, 0, sizeof *room);
    weft__launch *launch = &room->launch;
    const void *data[3] = {x, at->arguments == 2 ? y : result, result};
    launch->ndim = 1;
    launch->arguments_count = (uint16_t)(at->arguments + 1);
    launch->count = launch->size[0] = count;
    for (int k = 0; k <= at->arguments; k++) {
        weft__argument *argument = &weft__launch_arguments(launch)[k];
        argument->data = (char *)(uintptr_t)data[k];
        argument->stride[0] = k == at->arguments ? at->out_size : at->in_size;
    }
}

static inline weft_status expand_compile(expanded *at, const weft__kernel *kernel)
{
    static _Alignas(64) char memory[64];
    expanded_launch room;
    weft__object object = {0};
    if (!expand_is_compiled())
        return weft__interpreter_compile(kernel, &at->image);
    expand_launch(at, 4096, memory, memory, memory, &room);
    weft__effort effort = WEFT__EFFORT_FULL;
    weft_status status = weft__llvm_compile(kernel, &room.launch, &effort, &object);
    if (status == WEFT_OK)
        status = weft__object_load(&object, &at->image);
    weft__object_free(&object);
    return status;
}

/* Compiles what was built, and frees it. */
static inline weft_status expand_finish(expanded *at, weft__builder *builder, int arguments,
                                        weft_dtype dtype, weft_dtype result)
{
    memset(at, 0, sizeof *at);
    at->arguments = arguments;
    at->primitives = count_primitives(&builder->kernel);
    at->in_size = (int)weft_dtype_size(dtype);
    at->out_size = (int)weft_dtype_size(result);
    weft_status status = weft__build_finish(builder);
    if (status == WEFT_OK)
        status = expand_compile(at, &builder->kernel);
    weft__build_free(builder);
    return status;
}

/* Of f16 and bf16 too, which are computed in f32. */
static inline weft_status expand_begin(expanded *at, weft__math_function function, weft_dtype dtype)
{
    const weft__math_facts *facts = &weft__math_functions[function];
    const weft_dtype result = facts->boolean ? WEFT_BOOL : dtype;
    weft__builder builder;
    int32_t arguments[2] = {0, 0};
    weft__build_begin(&builder);
    builder.kernel.ndim = 1;
    for (int k = 0; k < facts->arity; k++)
        arguments[k] =
            weft__build_load(&builder, weft__build_operand(&builder, dtype, false)).part[0];
    const int32_t value =
        weft__math(&builder, function, weft__value_dtype(dtype), arguments[0], arguments[1]);
    weft__build_store(&builder, weft__build_operand(&builder, result, true),
                      (weft__element){.part = {value}, .dtype = result});
    return expand_finish(at, &builder, facts->arity, dtype, result);
}

static inline void expand_run(const expanded *at, int64_t count, const void *x, const void *y,
                              void *result)
{
    expanded_launch room;
    expand_launch(at, count, x, y, result, &room);
    at->image.entry(at->image.program, &room.launch, 0, count);
}

static inline void expand_end(expanded *at)
{
    if (at->image.destroy != NULL)
        at->image.destroy(at->image.program);
}

#endif
