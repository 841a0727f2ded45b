/* Streams, events, and scopes that set where work goes. */
#ifndef WEFT_STREAM_H
#define WEFT_STREAM_H

#include <weft/device.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An n-d array: <weft/array.h>. */
typedef struct weft_array weft_array;
/* A queue of work on one device; reference counted. */
typedef struct weft_stream weft_stream;
/* A place in a stream's work; reference counted. */
typedef struct weft_event weft_event;

/* What weft_stream_new can be told. */
typedef struct weft_stream_options {
    size_t struct_size;
    bool async;       /* the work runs beside the caller; otherwise, on the CPU, in the call */
    bool profiling;   /* events recorded on it carry times */
    int32_t priority; /* lower runs sooner where the device can; default 0 */
} WEFT__NAMED weft_stream_options;

/* A new stream: weft_stream_new(device, .async = true). Release it with weft_stream_release. */
#define weft_stream_new(...) WEFT__STREAM_NEW(__VA_ARGS__, )
#define WEFT__STREAM_NEW(device, ...)                                                              \
    weft_stream_new_with((device), WEFT__OPTIONS(weft_stream_options, __VA_ARGS__))
WEFT_API weft_stream *weft_stream_new_with(weft_device device, const weft_stream_options *options);
WEFT_API weft_stream *weft_stream_retain(weft_stream *stream);
/* Releasing the last reference waits for the stream's work. A failure that nobody was told of stays
 * with the arrays it concerns. */
WEFT_API void weft_stream_release(weft_stream *stream);

/* The device it is of, and whether its work runs beside the caller. */
WEFT_API weft_device weft_stream_device(const weft_stream *stream);
WEFT_API bool weft_stream_is_async(const weft_stream *stream);
/* Same context, device and properties: arrays bound to either may be used together. */
WEFT_API bool weft_stream_equivalent(const weft_stream *a, const weft_stream *b);

/* This thread's current stream on a device: the default stream until another is set. The result is
 * borrowed. NULL as the stream sets the default again. */
WEFT_API weft_stream *weft_stream_current(weft_device device);
WEFT_API weft_status weft_stream_set_current(weft_device device, weft_stream *stream);

/* Waits for everything queued so far; reports a failure that was not reported yet (of more than 64,
 * the later ones are told by their arrays alone). */
WEFT_API weft_status weft_stream_synchronize(weft_stream *stream);
/* Whether everything queued so far is done; does not wait. */
WEFT_API weft_status weft_stream_query(weft_stream *stream, bool *done);
/* Work queued on `stream` from now on begins after everything now queued on `other`. */
WEFT_API weft_status weft_stream_wait_stream(weft_stream *stream, weft_stream *other);

/* A function of the user's that a stream calls in its order, on a thread of Weft's or, on a
 * synchronous stream, in this call. It must return (neither longjmp nor ending the thread is
 * possible), and it must not wait for work that comes after it, neither on its own stream (that is
 * an error) nor through another one (that waits for ever). What it returns other than WEFT_OK is a
 * failure of the stream, with the message it left in its thread's record (weft_error_set). */
typedef weft_status weft_stream_function(void *argument);
/* What weft_stream_call can be told. */
typedef struct weft_call_options {
    size_t struct_size;
    const char *name;          /* for errors and profiles; must stay until the call is done */
    weft_array *const *reads;  /* arrays that the function reads … */
    size_t reads_count;        /* … so that it is ordered after the work that makes them */
    weft_array *const *writes; /* arrays that it writes */
    size_t writes_count;       /* how many */
} WEFT__NAMED weft_call_options;
/* Has the stream call a function, after what is queued on it:
 * weft_stream_call(stream, function, argument). */
#define weft_stream_call(...) WEFT__STREAM_CALL(__VA_ARGS__, )
#define WEFT__STREAM_CALL(stream, function, ...) WEFT__STREAM_CALL_(stream, function, __VA_ARGS__)
#define WEFT__STREAM_CALL_(stream, function, argument, ...)                                        \
    weft_stream_call_with((stream), (function), (argument),                                        \
                          WEFT__OPTIONS(weft_call_options, __VA_ARGS__))
WEFT_API weft_status weft_stream_call_with(weft_stream *stream, weft_stream_function *function,
                                           void *argument, const weft_call_options *options);
/* Sets this thread's error record, for functions that a stream calls; returns the code. */
WEFT_API weft_status weft_error_set(weft_status code, const char *message);

/* The device's own handle of the stream (a CUstream, a cl_command_queue); an error on the CPU,
 * which has none. Does not wait. */
WEFT_API weft_status weft_stream_native(weft_stream *stream, void **handle);
/* A stream over a foreign handle of that kind, which stays the caller's and must outlive the
 * stream. */
WEFT_API weft_stream *weft_stream_wrap(weft_device device, void *handle);

/* An event that was recorded holds its stream alive. */
WEFT_API weft_event *weft_event_new(void);
/* Like those of arrays. */
WEFT_API weft_event *weft_event_retain(weft_event *event);
WEFT_API void weft_event_release(weft_event *event);
/* The event now stands for the end of the work queued on the stream so far. */
WEFT_API weft_status weft_event_record(weft_event *event, weft_stream *stream);
/* Work queued on the stream from now on begins after the event. Does not wait on the host, unless
 * the stream is synchronous on the CPU, where the host is who works. */
WEFT_API weft_status weft_stream_wait_event(weft_stream *stream, const weft_event *event);
/* Waits for the event, or says whether it is done. */
WEFT_API weft_status weft_event_synchronize(const weft_event *event);
WEFT_API weft_status weft_event_query(const weft_event *event, bool *done);
/* A handle of the device's own (a CUevent, a cl_event) that is complete when the event is, or
 * later; the caller's, who releases it (cuEventDestroy, clReleaseEvent). An error on the CPU, which
 * has none. Does not wait: on CUDA it is an error while work before it is not with the device yet.
 */
WEFT_API weft_status weft_event_native(const weft_event *event, void **handle);
/* Seconds between two events that were recorded on streams with profiling; both must be done. */
WEFT_API weft_status weft_event_elapsed(const weft_event *start, const weft_event *end,
                                        double *seconds);

/* Forbids hidden waits in this thread, or allows them again; returns what was in force. While they
 * are forbidden, a call that would have to wait for queued work is an error (WEFT_ERROR_WAIT) and
 * does nothing; the calls whose purpose is to wait (synchronize, weft_eval, the end of WEFT_STREAM,
 * the last release of a stream) still do. */
WEFT_API bool weft_waits_forbid(bool forbid);

/* What WEFT_ON and WEFT_STREAM below must undo. */
typedef struct weft_scope {
    weft_device device;             /* of the stream */
    weft_stream *stream, *previous; /* the one that is current, and was */
    int32_t what;                   /* what was set */
} weft_scope;
/* The functions under WEFT_ON and WEFT_STREAM: each begins a scope that weft_scope_end ends. */
WEFT_API weft_scope weft_scope_device(weft_device device);
WEFT_API weft_scope weft_scope_stream(weft_stream *stream);
WEFT_API weft_scope weft_scope_both(weft_stream *stream);
WEFT_API void weft_scope_end(weft_scope *scope);

#ifdef __cplusplus
}
struct weft__guard {
    weft_scope scope;
    explicit weft__guard(weft_scope given) : scope(given) {}
    ~weft__guard() { weft_scope_end(&scope); }
    weft__guard(const weft__guard &) = delete;
    weft__guard &operator=(const weft__guard &) = delete;
};
inline weft_scope weft__scope_on(weft_device device) { return weft_scope_device(device); }
inline weft_scope weft__scope_on(weft_stream *stream) { return weft_scope_both(stream); }
#define WEFT__SCOPE(value) weft__guard WEFT__CAT(weft__scope_, __LINE__)(value)
#define WEFT_ON(device_or_stream) WEFT__SCOPE(weft__scope_on(device_or_stream))
#define WEFT_STREAM(stream) WEFT__SCOPE(weft_scope_stream(stream))
#elif defined __GNUC__
#define WEFT__SCOPE(value)                                                                         \
    __attribute__((cleanup(weft_scope_end), unused)) weft_scope WEFT__CAT(weft__scope_,            \
                                                                          __LINE__) = (value)
/* From here to the end of the block, on every way out of it: new arrays go to the device; given a
 * stream, it is also the current one of its device. */
#define WEFT_ON(device_or_stream)                                                                  \
    WEFT__SCOPE(_Generic((device_or_stream), weft_device                                           \
                         : weft_scope_device, weft_stream *                                        \
                         : weft_scope_both)(device_or_stream))
/* From here to the end of the block the stream is this thread's current one; then its work is
 * waited for and the old one is back. A failure of that work is for the next call on the stream to
 * report. */
#define WEFT_STREAM(stream) WEFT__SCOPE(weft_scope_stream(stream))
#endif
#endif
