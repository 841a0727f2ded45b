/* Where work goes: device contexts, the process default, and the scopes that set them for a block.
 */
#include "core/device.h"
#include "core/thread.h"
#include <stdlib.h>

enum { SCOPE_NONE, SCOPE_DEVICE, SCOPE_STREAM, SCOPE_BOTH };

static _Atomic uint64_t process_default;  /* kind and index; 0: not set */
static _Atomic uint64_t from_environment; /* likewise; 0: not looked up yet */

static uint64_t pack(weft_device device)
{
    return (uint64_t)(uint32_t)device.kind << 32 | (uint32_t)device.index;
}

static weft_device unpack(uint64_t packed)
{
    return (weft_device){(int32_t)(packed >> 32), (int32_t)packed};
}

/* A wrong name is looked up again each time, so that each use says what is wrong. */
static weft_device look_up_environment(void)
{
    const char *name = getenv("WEFT_DEVICE"), *operation = weft__operation();
    weft_device device = name && *name ? weft_device_named(name) : WEFT_CPU;
    OPERATION(operation); /* the user's, again */
    if (device.kind != WEFT_DEVICE_INVALID)
        atomic_store(&from_environment, pack(device));
    else
        FAIL_AT(WEFT_ERROR_DEVICE, "WEFT_DEVICE",
                "the environment variable WEFT_DEVICE is wrong: %s", weft_error_message());
    return device;
}

weft_device weft__device_default(void)
{
    uint64_t packed = atomic_load_explicit(&process_default, memory_order_relaxed);
    if (!packed)
        packed = atomic_load_explicit(&from_environment, memory_order_relaxed);
    return packed ? unpack(packed) : look_up_environment();
}

weft_device weft_device_default(void)
{
    OPERATION("weft_device_default");
    return weft__device_default();
}

weft_status weft_device_set_default(weft_device device)
{
    OPERATION("weft_device_set_default");
    if (device.kind != WEFT_DEVICE_NONE && !weft__device_get(device))
        return WEFT_ERROR_DEVICE;
    atomic_store(&process_default, device.kind == WEFT_DEVICE_NONE ? 0 : pack(device));
    return WEFT_OK;
}

static weft_status push(weft_device device)
{
    weft__thread *thread = weft__thread_get();
    if (!thread)
        return WEFT_ERROR_MEMORY;
    if (thread->contexts_count == WEFT__CONTEXTS_MAX)
        return FAIL(WEFT_ERROR_ARGUMENT,
                    "device contexts are nested %d deep, which is the most; a "
                    "weft_device_pop may be missing",
                    WEFT__CONTEXTS_MAX);
    thread->contexts[thread->contexts_count++] = device;
    return WEFT_OK;
}

weft_status weft_device_push(weft_device device)
{
    OPERATION("weft_device_push");
    return weft__device_get(device) ? push(device) : WEFT_ERROR_DEVICE;
}

weft_status weft_device_pop(void)
{
    OPERATION("weft_device_pop");
    weft__thread *thread = weft__thread_get();
    if (!thread)
        return WEFT_ERROR_MEMORY;
    if (thread->contexts_count == 0)
        return FAIL(WEFT_ERROR_ARGUMENT,
                    "there is no device context to leave; weft_device_push was "
                    "not called");
    thread->contexts_count--;
    return WEFT_OK;
}

weft_device weft_device_context(void)
{
    const weft__thread *thread = weft__thread_peek();
    return thread && thread->contexts_count ? thread->contexts[thread->contexts_count - 1]
                                            : WEFT_NO_DEVICE;
}

/* An invalid device becomes the context all the same: what is made in the scope then fails, instead
 * of going somewhere else. */
weft_scope weft_scope_device(weft_device device)
{
    weft_scope scope = {device, NULL, NULL, SCOPE_NONE};
    OPERATION("WEFT_ON");
    if (!weft__device_get(device))
        device = (weft_device){WEFT_DEVICE_INVALID, 0};
    if (push(device) == WEFT_OK)
        scope.what = SCOPE_DEVICE;
    return scope;
}

static weft_scope enter_stream(weft_stream *stream, int what)
{
    weft_scope scope = {WEFT_NO_DEVICE, NULL, NULL, SCOPE_NONE};
    if (!stream) { /* as for an invalid device: what is made in the scope fails */
        weft__fail_null("stream");
        if (push((weft_device){WEFT_DEVICE_INVALID, 0}) == WEFT_OK)
            scope.what = SCOPE_DEVICE;
        return scope;
    }
    weft_stream *previous = weft_stream_retain(weft__stream_current(stream->device));
    if (!previous || weft_stream_set_current(stream->device, stream) != WEFT_OK) {
        weft_stream_release(previous);
        return scope;
    }
    if (what == SCOPE_BOTH && push(stream->device) != WEFT_OK)
        what = SCOPE_STREAM;
    return (weft_scope){stream->device, weft_stream_retain(stream), previous, what};
}

weft_scope weft_scope_stream(weft_stream *stream)
{
    OPERATION("WEFT_STREAM");
    return enter_stream(stream, SCOPE_STREAM);
}

weft_scope weft_scope_both(weft_stream *stream)
{
    OPERATION("WEFT_ON");
    return enter_stream(stream, SCOPE_BOTH);
}

void weft_scope_end(weft_scope *scope)
{
    if (!scope)
        return;
    if (scope->what == SCOPE_DEVICE || scope->what == SCOPE_BOTH)
        weft_device_pop();
    if (scope->what == SCOPE_STREAM || scope->what == SCOPE_BOTH) {
        weft__stream_wait(scope->stream);
        weft_stream_set_current(scope->device, scope->previous);
        weft_stream_release(scope->previous);
        weft_stream_release(scope->stream);
    }
    scope->what = SCOPE_NONE;
}

bool weft_lent_forbid(bool forbid)
{
    OPERATION("weft_lent_forbid");
    weft__thread *thread = weft__thread_get();
    bool old = thread && thread->lent_forbidden;
    if (thread)
        thread->lent_forbidden = forbid;
    return old;
}
