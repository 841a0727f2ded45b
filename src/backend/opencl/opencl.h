/* The OpenCL backend: what its files share. */
#ifndef WEFT_BACKEND_OPENCL_OPENCL_H
#define WEFT_BACKEND_OPENCL_OPENCL_H

#include "backend/kernel_text.h"
#include "backend/line.h"
#include "backend/opencl/library.h"
#include "core/window.h"

extern const weft__backend weft__backend_opencl;

/* device.c */
typedef struct weft__opencl_device {
    cl_platform_id platform;
    cl_device_id id;
    cl_context context; /* made when it is first needed */
    bool is_cpu;
    bool brief;        /* its compiler can leave out the declarations of OpenCL's functions */
    size_t most_bytes; /* of one allocation */
    const char *why_not_fine; /* host and device may use the same memory at any time if NULL */
    cl_bitfield f32_config, f64_config;
} weft__opencl_device;

int weft__opencl_device_count(const char **why);
weft_status weft__opencl_device_describe(int index, weft_device_info *info);
bool weft__opencl_device_is_gpu(int index);
uint64_t weft__opencl_device_place(int index);
weft_status weft__opencl_device_reset(int index);
weft_status weft__opencl_device_native(int index, void **handle);
/* What was found out when it was found. */
const weft__opencl_device *weft__opencl_device_at(int index);
/* With its context; NULL, with the record set, if that cannot be made, or if OpenCL cannot be used
 * any more: in the child of a fork, or when the process ends. */
weft__opencl_device *weft__opencl_device_get(int index);
/* Whether OpenCL may still be called. */
bool weft__opencl_usable(void);
/* From now on it may not; `why` is for messages. */
void weft__opencl_give_up(const char *why);

/* memory.c */
void *weft__opencl_memory_allocate(int index, weft_memory kind, size_t bytes, bool *zeroed);
void weft__opencl_memory_release(int index, weft_memory kind, void *data, size_t bytes);
bool weft__opencl_memory_host_readable(int index, weft_memory kind);
size_t weft__opencl_memory_most(int index);
weft_status weft__opencl_memory_wrap(int index, void *handle, void **data, size_t *bytes);
void *weft__opencl_memory_native(const void *data);

/* Where an address is: in a memory object, or in memory of the host's, which the device may share.
 * A NULL object and a NULL base: in none of the buffers. */
typedef struct weft__opencl_place {
    cl_mem object;
    char *shared; /* the base, if both sides can use it; (of an object) what it is made over */
    size_t offset, bytes; /* from its beginning; of the whole */
    uint64_t number;      /* of a memory object: no other ever has it */
} weft__opencl_place;
weft__opencl_place weft__opencl_place_of(const weft__work *work, const void *address);

/* program.c */
typedef struct weft__opencl_program {
    cl_program program;
    cl_kernel kernel;
    bool loaded; /* from the text's binary */
} weft__opencl_program;
/* Failing, it may have made a part. */
weft_status weft__opencl_program_build(const weft__opencl_device *device,
                                       const weft__kernel_text *text, weft__opencl_program *built);
void weft__opencl_program_release(weft__opencl_program *built);
/* What can be kept on disk, to be freed with weft__free; NULL if there is nothing. */
void weft__opencl_program_binary(const weft__opencl_program *built, void **data, size_t *bytes);

/* What the arguments of a kernel are set to: what has not changed is not set again. 0: unknown. */
enum { WEFT__OPENCL_POINTERS = 16, WEFT__OPENCL_NUMBERS = 64 };
typedef struct weft__opencl_set {
    uint64_t pointers[WEFT__OPENCL_POINTERS]; /* numbers of memory objects */
    int64_t numbers[WEFT__OPENCL_NUMBERS];    /* of the struct, which has so many bytes */
    size_t bytes;
} weft__opencl_set;

/* native.c, launch.c */
struct weft__module {
    weft__image image;
    weft__opencl_program built;
    pthread_mutex_t mutex; /* a kernel has one set of arguments */
    _Atomic bool ran;
    bool compiled; /* for sure, guarded by mutex as the next */
    weft__opencl_set set;
};
bool weft__opencl_module_binary(weft__module *module, void **data, size_t *bytes);
weft_status weft__opencl_module_load(int index, weft__image *image, weft__module **module);
void weft__opencl_module_release(weft__module *module);
/* A launch of it is done, and the driver has compiled all of it. */
void weft__opencl_module_ran(weft__module *module);
/* Events that a command comes after. */
typedef struct weft__opencl_waits {
    cl_event *events;
    cl_uint count;
} weft__opencl_waits;
/* Something that is being put into a queue. */
typedef struct weft__opencl_command {
    cl_command_queue queue;
    cl_context context;
    const weft__work *work;
    const weft__opencl_waits *waits;
    cl_event *event;
} weft__opencl_command;
weft_status weft__opencl_set_pointer(cl_kernel kernel, cl_uint at, weft__opencl_place place);
/* Sets the arguments of a kernel of a user's and starts it, with the module's mutex held. */
weft_status weft__opencl_start_native(const weft__opencl_command *command);
/* Queues a launch, a copy, or nothing but an event. */
weft_status weft__opencl_enqueue(cl_command_queue queue, cl_context context, const weft__work *work,
                                 const weft__opencl_waits *waits, cl_event *event);

/* backend.c: sees to it that all work is done at exit before what has been registered so far, such
 * as the end of a compiler, is called. False if the system does not. */
bool weft__opencl_end_first(void);

/* events.c: what the line of a stream asks; its owner is the stream below. */
extern const weft__line_device weft__opencl_line;
/* The event of a point, retained, if it is a command of this context that is not known to be done;
 * else NULL. */
cl_event weft__opencl_event(weft__point point, cl_context context);
/* In a turn, before a command that waits for something, which in its turn may wait for what was
 * queued again until now: that has an event of its own then, before the command. */
weft_status weft__opencl_mark(weft__line *line);

/* stream.c: what `native` of a stream is. */
typedef struct weft__opencl_stream {
    cl_command_queue queue;
    bool foreign; /* the queue is a user's */
    bool shared;  /* a user may put commands into it; the turn's */
    cl_context context;
    weft__timeline *timeline;
    weft__line *line; /* NULL if synchronous, as the next */
    struct weft__helper *helper;
} weft__opencl_stream;
weft_status weft__opencl_stream_open(weft_stream *stream);
void weft__opencl_stream_close(weft_stream *stream);
weft_status weft__opencl_stream_submit(weft_stream *stream, const weft__work *work);
weft_status weft__opencl_stream_time(weft_stream *stream, uint64_t sequence, double *seconds);
weft_status weft__opencl_stream_wrap(weft_stream *stream, void *handle);
weft_status weft__opencl_stream_native(weft_stream *stream, void **handle);
weft_status weft__opencl_event_native(weft_stream *stream, uint64_t sequence, void **handle);

#endif
