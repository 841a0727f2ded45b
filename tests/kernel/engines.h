/* For tests of the engines: a setting that ends with the test, kernels of any number, and their
 * results by plain loops. */
#ifndef WEFT_TESTS_KERNEL_ENGINES_H
#define WEFT_TESTS_KERNEL_ENGINES_H

#include "codegen/interpreter.h"
#include "core/allocate.h"
#include "kernel/disk.h"
#include "kernel/version.h"
#include "support/check.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <weft/weft.h>

#if defined __SANITIZE_THREAD__
#define NEEDS_FORK() SKIP("the thread sanitizer cannot follow a fork of several threads")
#define NEEDS_LLVM() SKIP("libLLVM is not built for the thread sanitizer")
#else
#define NEEDS_FORK()                                                                               \
    do {                                                                                           \
        if (getenv("WEFT_TEST_EMULATOR"))                                                          \
            SKIP("the emulator cannot fork a process that has threads");                           \
    } while (0)
#define NEEDS_LLVM()                                                                               \
    do {                                                                                           \
        if (weft__llvm_open() != WEFT_OK)                                                          \
            SKIP(weft_error_message());                                                            \
    } while (0)
#endif

enum { COUNT_MOST = 1 << 15 };

static inline void engine_end(int *unused)
{
    (void)unused;
    weft__background_wait();
    weft__engine_set_maker(NULL);
    weft__engine_choose(-1);
    weft__disk_choose(NULL);
    weft__disk_limit(0);
    weft_device_reset(WEFT_CPU);
}
#define AUTO_ENGINE __attribute__((cleanup(engine_end), unused)) int

/* Nothing is compiled yet, and there is no disk cache. */
static inline int engine_begin(weft__engine engine)
{
    weft__engine_choose((int)engine);
    weft__disk_choose("");
    weft_device_reset(WEFT_CPU);
    return 0;
}

static inline weft_statistics counters(void)
{
    weft_statistics all = {0};
    weft_memory_stats(WEFT_CPU, &all);
    return all;
}

static inline void wait_ms(long milliseconds)
{
    struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    nanosleep(&time, NULL);
}

/* A maker that needs no libLLVM: its code is the interpreter's. */
static inline weft_status make_interpreted(const weft__kernel *kernel, const weft__launch *sample,
                                           weft__effort *effort, weft__image *image)
{
    (void)sample;
    *effort = WEFT__EFFORT_FULL;
    return weft__interpreter_compile(kernel, image);
}

/* Kernel number k is c = (…(a*b + a)*b + a)…, k times. */
static inline void write_program(int k, char *text, size_t room)
{
    size_t length = (size_t)snprintf(text, room, "c = ");
    for (int i = 0; i < k; i++)
        length += (size_t)snprintf(text + length, room - length, "(");
    length += (size_t)snprintf(text + length, room - length, "a");
    for (int i = 0; i < k; i++)
        length += (size_t)snprintf(text + length, room - length, "*b + a)");
}

static inline weft_status run_program(int k, weft_array *a, weft_array *b, weft_array *c)
{
    static const char *const names[] = {"a", "b", "c"};
    const weft_operand operands[] = {WEFT_OPERAND(a), WEFT_OPERAND(b), WEFT_OPERAND(c)};
    char text[1024];
    write_program(k, text, sizeof text);
    return weft_evaluate(text, 3, names, operands);
}

static inline uint32_t expected_of(int k, uint32_t a, uint32_t b)
{
    uint32_t value = a;
    for (int i = 0; i < k; i++)
        value = value * b + a;
    return value;
}

/* Called between the making of the operands and the run of a kernel, and after that. */
typedef void around_run(bool begins, void *argument);

/* Runs kernel k over `count` elements; false if an element is not as the plain loop says. */
static inline bool is_right_around(int k, int count, around_run *around, void *argument)
{
    uint32_t *memory = malloc(3 * (size_t)count * sizeof *memory);
    CHECK_OR(memory, false);
    uint32_t *x = memory, *y = memory + count, *z = memory + 2 * count;
    for (int i = 0; i < count; i++) {
        x[i] = (uint32_t)i * 2654435761u;
        y[i] = (uint32_t)i ^ 0xdeadbeefu;
        z[i] = 0;
    }
    const size_t bytes = (size_t)count * sizeof *x;
    WEFT_AUTO weft_array *a = weft_from_host(x, bytes, WEFT_SHAPE(count), .dtype = WEFT_U32);
    WEFT_AUTO weft_array *b = weft_from_host(y, bytes, WEFT_SHAPE(count), .dtype = WEFT_U32);
    WEFT_AUTO weft_array *c = weft_from_host(z, bytes, WEFT_SHAPE(count), .dtype = WEFT_U32);
    if (around)
        around(true, argument);
    bool right = a && b && c && run_program(k, a, b, c) == WEFT_OK;
    if (around)
        around(false, argument);
    right = right && weft_copy_to_host(c, z, bytes) == WEFT_OK;
    for (int i = 0; i < count && right; i++)
        right = z[i] == expected_of(k, x[i], y[i]);
    free(memory);
    return right;
}

static inline bool is_right(int k, int count) { return is_right_around(k, count, NULL, NULL); }

#endif
