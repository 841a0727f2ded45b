/* A kernel run twice on the same memory: by the interpreter, and by what is tested. */
#ifndef WEFT_TESTS_CODEGEN_TRIALS_H
#define WEFT_TESTS_CODEGEN_TRIALS_H

#include "codegen/layouts.h"

#include <stdio.h>

/* A kernel, the layouts of its operands and their memory: before, and after either engine. */
struct trial {
    struct tiny tiny;
    struct space space;
    struct layout layout[TINY_OPERANDS];
    uint64_t scalars[TINY_SCALARS];
    char *before[TINY_OPERANDS], *after[2][TINY_OPERANDS];
};

static inline void trial_drop(struct trial *trial)
{
    for (int k = 0; k < TINY_OPERANDS; k++) {
        free(trial->before[k]);
        free(trial->after[0][k]);
        free(trial->after[1][k]);
    }
}

static inline bool trial_allocate(struct trial *trial)
{
    for (uint32_t k = 0; k < trial->tiny.kernel.operands_count; k++) {
        const int64_t bytes = trial->layout[k].bytes;
        trial->before[k] = memory_make(bytes);
        trial->after[0][k] = memory_make(bytes);
        trial->after[1][k] = memory_make(bytes);
        CHECK_OR(trial->before[k] && trial->after[0][k] && trial->after[1][k], false);
    }
    return true;
}

static inline void trial_launch(struct trial *trial, int engine, struct tiny_launch *at)
{
    const struct tiny *tiny = &trial->tiny;
    launch_begin(at, tiny, trial->space.ndim, trial->space.size);
    for (uint32_t k = 0; k < tiny->kernel.operands_count; k++) {
        memcpy(trial->after[engine][k], trial->before[k], (size_t)trial->layout[k].bytes);
        launch_argument(at, (int)k, trial->after[engine][k] + trial->layout[k].first,
                        trial->layout[k].stride);
    }
    for (uint32_t k = 0; k < tiny->kernel.scalars_count; k++)
        launch_scalar(at, (int)k, trial->scalars[k]);
}

static inline void trial_print(const struct trial *trial)
{
    static const char *const names[] = {
#define NAME(name, arity) #name,
        WEFT__OP_LIST(NAME)
#undef NAME
    };
    const weft__kernel *kernel = &trial->tiny.kernel;
    fprintf(stderr, "%s, sizes", weft__interpreter_isa());
    for (int k = 0; k < trial->space.ndim; k++)
        fprintf(stderr, " %lld", (long long)trial->space.size[k]);
    for (uint32_t k = 0; k < kernel->operands_count; k++) {
        fprintf(stderr, "\noperand %u %s:", k, weft_dtype_name(kernel->operands[k].dtype));
        for (int j = 0; j < trial->space.ndim; j++)
            fprintf(stderr, " %lld", (long long)trial->layout[k].stride[j]);
    }
    for (uint32_t k = 0; k < kernel->values_count; k++) {
        const weft__value *v = &kernel->values[k];
        fprintf(stderr, "\n%u: %s %s slot %u part %u args %d %d %d bits %llx", k, names[v->op],
                weft_dtype_name(v->dtype), v->slot, v->part, v->argument[0], v->argument[1],
                v->argument[2], (unsigned long long)v->bits);
        for (int j = 0; v->shift != 0 && j < trial->space.ndim; j++)
            fprintf(stderr, "%s %lld", j == 0 ? " displaced" : "",
                    (long long)kernel->shifts[v->shift - 1].offset[j]);
        if (v->shift != 0)
            fprintf(stderr, " boundary %lld", (long long)kernel->shifts[v->shift - 1].boundary);
    }
    fprintf(stderr, "\n");
}

static inline void trial_print_difference(const struct trial *trial, uint32_t operand)
{
    const unsigned char *a = (const unsigned char *)trial->after[0][operand];
    const unsigned char *b = (const unsigned char *)trial->after[1][operand];
    int64_t at = 0;
    while (a[at] == b[at])
        at++;
    fprintf(stderr, "operand %u differs at byte %lld of %lld:", operand, (long long)at,
            (long long)trial->layout[operand].bytes);
    for (int64_t k = at; k < at + 8 && k < trial->layout[operand].bytes; k++)
        fprintf(stderr, " %02x/%02x", a[k], b[k]);
    fprintf(stderr, " (interpreter/compiled)\n");
}

/* Whether both left the same bytes everywhere, also where they should write nothing. */
static inline bool trial_same(const struct trial *trial)
{
    for (uint32_t k = 0; k < trial->tiny.kernel.operands_count; k++) {
        const size_t bytes = (size_t)trial->layout[k].bytes;
        const bool same = memcmp(trial->after[0][k], trial->after[1][k], bytes) == 0;
        if (!same) {
            trial_print(trial);
            trial_print_difference(trial, k);
        }
        CHECK_OR(same, false);
    }
    return true;
}

#endif
