/* A stand-in for libcuda and libnvrtc: the functions that Weft uses, on the memory of the host.
 * Each stream is a thread; kernels are compiled as C, and really run. Tests make it fail on
 * purpose. What a context had is lost with it, and its addresses are given again.
 *
 * The environment variable WEFT_STANDIN has words for what is out of order from the start:
 * no_device, no_start, old_driver, memory=BYTES, no_primary (a fault stays with the primary
 * context, even if that is reset), no_recovery (it stays with the device). */
#ifndef WEFT_TESTS_BACKEND_STANDIN_H
#define WEFT_TESTS_BACKEND_STANDIN_H

#include "backend/cuda/library.h"
#include <pthread.h>
#include <stdbool.h>

#define EXPORT __attribute__((visibility("default")))

enum { STANDIN_DEVICES = 2 };

/* For tests, by dlsym: the next call of the function, by its symbol, fails with the code; the next
 * launch on any stream ends with it, which is fatal. */
EXPORT void standin_fail_next(const char *symbol, int code);
EXPORT void standin_fault_next(int code);
/* How many calls of the function there were. */
EXPORT int standin_calls(const char *symbol);

/* standin.c */
struct weft__cu_context {
    int device;
    int fault;
    bool primary;
};
bool standin_has(const char *word);
/* Counts a call; not 0 if it is to fail, on purpose or since the context has faulted. */
CUresult standin_enter(const char *symbol);
CUcontext standin_current(void);
int standin_take_fault(void);

/* standin_stream.c: puts a task at the end of a stream's queue, or into what it captures;
 * the argument is freed after it. */
void standin_queue(CUstream stream, void (*task)(CUstream stream, void *argument), void *argument);
CUcontext standin_context_of(CUstream stream);

/* standin_nvrtc.c: what a module has. */
typedef void standin_kernel(void **parameters, unsigned groups, unsigned group);

#endif
