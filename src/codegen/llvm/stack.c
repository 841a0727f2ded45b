/* Calls of libLLVM from threads of the user's, whose stacks may be of any size. */
#include "codegen/llvm/stack.h"
#include "backend/thread.h"

#include <stdint.h>
#include <string.h>

/* Bytes: what leaves no doubt, and what will do; kernels were seen to need 64 to 96 KiB. */
enum { ENOUGH = 1 << 20, LEAST = 256 << 10 };

typedef struct call {
    weft_status (*function)(void *argument);
    void *argument;
    const char *operation; /* that is at fault if it fails */
    weft_status status;
    weft_error error;
} call;

/* A stack that is not the system's, as coroutines have, counts as a small one. */
static bool has(size_t needed)
{
    pthread_attr_t attributes;
    void *begin;
    size_t bytes;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
        return true;
    const bool known = pthread_attr_getstack(&attributes, &begin, &bytes) == 0;
    pthread_attr_destroy(&attributes);
    /* Above the end, the difference is larger than any stack. */
    const uintptr_t left = (uintptr_t)__builtin_frame_address(0) - (uintptr_t)begin;
    return !known || (left >= needed && left <= bytes);
}

static void *run(void *argument)
{
    call *c = argument;
    OPERATION(c->operation);
    c->status = c->function(c->argument);
    c->error = *weft_error_last();
    return NULL;
}

weft_status weft__llvm_with_stack(weft_status (*function)(void *argument), void *argument)
{
    call c = {.function = function, .argument = argument, .operation = weft__operation()};
    pthread_t thread;
    if (has(ENOUGH))
        return function(argument);
    const int error = weft__backend_thread_start(&thread, "weft-compiler", run, &c);
    if (error && has(LEAST))
        return function(argument);
    if (error)
        return FAIL(WEFT_ERROR_SYSTEM,
                    "compiling needs more stack than this thread has left, and a thread with more "
                    "could not be started: %s",
                    strerror(error));
    pthread_join(thread, NULL);
    if (c.status != WEFT_OK)
        weft__error_restore(&c.error);
    return c.status;
}
