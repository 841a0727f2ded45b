/* The CUDA device of a test: the one under test, or the stand-in, which can also be made to fail.
 */
#ifndef WEFT_TESTS_BACKEND_CUDA_DEVICE_H
#define WEFT_TESTS_BACKEND_CUDA_DEVICE_H

#include "support/check.h"
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <weft/weft.h>

static bool is_real(void) { return strncmp(test_device(), "cuda", 4) == 0; }

/* Before the library looks for a driver. */
__attribute__((constructor)) static void choose_driver(void)
{
    if (is_real())
        return;
    setenv("WEFT_CUDA", WEFT_TEST_STANDIN, 0);
    setenv("WEFT_NVRTC", WEFT_TEST_STANDIN, 0);
}

static weft_device device(void) { return weft_device_named(is_real() ? test_device() : "cuda:0"); }

#define NEEDS_STANDIN                                                                              \
    do {                                                                                           \
        if (is_real())                                                                             \
            SKIP("only the stand-in fails on purpose");                                            \
    } while (0)

/* A function of the stand-in's. */
static inline void *standin(const char *symbol)
{
    void *library = dlopen(WEFT_TEST_STANDIN, RTLD_NOW | RTLD_NOLOAD);
    return library ? dlsym(library, symbol) : NULL;
}

static inline void fail_next(const char *symbol, int code)
{
    void (*function)(const char *, int);
    void *found = standin("standin_fail_next");
    memcpy(&function, &found, sizeof found);
    function(symbol, code);
}

static inline void fault_next(int code)
{
    void (*function)(int);
    void *found = standin("standin_fault_next");
    memcpy(&function, &found, sizeof found);
    function(code);
}

static inline int calls_of(const char *symbol)
{
    int (*function)(const char *);
    void *found = standin("standin_calls");
    memcpy(&function, &found, sizeof found);
    return function(symbol);
}

#endif
