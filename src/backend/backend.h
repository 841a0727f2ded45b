/* What a backend must be able to do: allocate, copy, order, load and launch. It never sees an
 * operation. */
#ifndef WEFT_BACKEND_BACKEND_H
#define WEFT_BACKEND_BACKEND_H

#include "backend/rows.h"
#include <stdatomic.h>
#include <weft/array.h>

typedef struct weft__timeline weft__timeline;
typedef struct weft__point weft__point;
typedef struct weft__buffer weft__buffer;
typedef struct weft__module weft__module;
typedef struct weft__launch weft__launch;

/* A kernel that codegen made for a backend: for the CPU a function and the program it runs, for
 * others a weft__kernel_text. The image owns the program. */
typedef struct weft__image {
    /* CPU: runs the elements [begin, end) of the launch's index space, in C order. */
    void (*entry)(const void *program, const weft__launch *launch, int64_t begin, int64_t end);
    void *program;
    void (*destroy)(void *program); /* NULL if there is nothing to free */
} weft__image;

/* An operand of a launch: where its element 0 is, and how far apart elements are, in bytes. */
typedef struct weft__argument {
    char *data;
    int64_t stride[WEFT_NDIM_MAX];
} weft__argument;

/* An argument of a kernel of a user's that is a number: `data` is NULL, and the strides are its
 * bytes. */
enum { WEFT__NUMBER_SIZE = 2 }; /* … the stride that says how many those are; 0 is an array */

/* Everything a kernel needs at run time, in one block that can be copied: the arguments follow the
 * struct, the scalars (8 bytes each) follow the arguments. */
struct weft__launch {
    uint32_t bytes; /* of the whole block */
    uint16_t arguments_count, scalars_count;
    int32_t ndim;                /* of the canonical index space, at least 1 */
    uint32_t cost;               /* bytes moved per element, for the splitting of work */
    int64_t count;               /* elements of the index space: the product of the sizes */
    int64_t grain;               /* work is split at multiples of this many elements */
    int64_t size[WEFT_NDIM_MAX]; /* outermost first */
    /* Of a kernel with folds: the axes that are folded follow those that are kept, and `count` is
     * that of what this stage goes over. The last argument is the buffer between two stages. */
    int32_t stage; /* weft__stage */
    int32_t kept_ndim;
    int64_t kept;   /* points along the kept axes */
    int64_t folded; /* elements that go into each */
    int64_t chunks; /* that these are cut into */
    int64_t groups; /* of two stages: chunk c goes into group c % groups. As many as chunks, or a
                     * power of two: then groups are what chunks are combined into on their way */
};

typedef enum weft__stage {
    WEFT__STAGE_WHOLE,  /* goes over the kept points */
    WEFT__STAGE_CHUNKS, /* goes over groups × kept points: group k of point p is k*kept + p */
    WEFT__STAGE_FINISH  /* goes over the kept points */
} weft__stage;
static inline weft__argument *weft__launch_arguments(weft__launch *launch)
{
    return (weft__argument *)(void *)(launch + 1);
}
static inline const weft__argument *weft__launch_arguments_of(const weft__launch *launch)
{
    return (const weft__argument *)(const void *)(launch + 1);
}
static inline const uint64_t *weft__launch_scalars(const weft__launch *launch)
{
    return (const uint64_t *)(const void *)(weft__launch_arguments_of(launch) +
                                            launch->arguments_count);
}

/* A use of a buffer by a piece of work. */
typedef struct weft__use {
    weft__buffer *buffer;
    uint64_t generation;
    bool write;
    bool whole; /* the write gives every byte of the buffer a new value */
} weft__use;

/* How a launch or a graph is queued again, as the backend has said: core/window.h. */
typedef struct weft__again {
    _Atomic uint64_t window; /* of the stream, in which it was queued last; 0: none */
    /* Calls the driver: 0 if it is queued, and nothing was done otherwise. NULL: it cannot be. */
    int (*queue)(void *what, void *handle);
    void *what;
    uint64_t launches; /* kernels in it */
    uint64_t *scalars; /* where a launch's are read from */
    size_t room;       /* bytes at `what` for the backend, of a launch */
} weft__again;

typedef enum weft__work_kind {
    WEFT__WORK_LAUNCH,
    WEFT__WORK_COPY,  /* bytes, or rows of them, between or within devices */
    WEFT__WORK_CALL,  /* a host function */
    WEFT__WORK_PARTS, /* a host function for each part of a range; on CPUs only */
    WEFT__WORK_GRAPH, /* launches and copies that were recorded; of backends with graph_make */
    WEFT__WORK_NONE   /* only the waits: an event */
} weft__work_kind;

typedef struct weft__work {
    weft__work_kind kind;
    uint32_t source;       /* the code that it comes from: weft__trace_source */
    const char *operation; /* the public function, for errors; lives for as long as the library */
    uint64_t sequence;
    weft__timeline *timeline; /* this work is number `sequence` on it; filled by weft__submit */
    const weft__use *uses;
    uint32_t uses_count;
    uint32_t waits_count;
    const weft__point *waits; /* on other timelines; filled by weft__submit */
    weft__again *again;       /* filled as well, if it may be queued again; else NULL … */
    uint64_t generation;      /* … as long as this is the weft__generation */
    union {
        struct {
            weft__module *module;
            const weft__launch *launch;
            void *entry;    /* of the cache; NULL: the module stays until the device is reset */
            uint64_t bytes; /* of all operands, if there is a trace */
        } launch;
        struct {
            void *dst;
            const void *src;
            size_t bytes;    /* in all */
            weft__rows rows; /* of no copies on CPUs */
        } copy;
        struct {
            weft_status (*function)(void *argument);
            void *argument;
        } call;
        struct {
            /* Several threads at once may call it, for the parts [begin, end) of 0 to `count`. */
            weft_status (*function)(const void *block, int64_t begin, int64_t end);
            const void *block; /* copied when the work is queued */
            size_t bytes;      /* of the block */
            int64_t count;
            uint64_t cost; /* bytes moved in all, for the splitting of work */
        } parts;
        void *graph; /* what graph_make made */
    } of;
} weft__work;

static inline uint64_t weft__bus_place(uint32_t domain, uint32_t bus, uint32_t slot)
{
    return UINT64_C(1) << 63 | (uint64_t)domain << 16 | (bus & 0xff) << 8 | (slot & 0xff);
}

/* One per backend. Streams are `weft_stream` of core/stream.h, whose `native` field is the
 * backend's. */
typedef struct weft__backend {
    const char *name;
    int32_t kind; /* weft_device_kind */

    /* How many devices; if none, *why says so in a sentence. Called once, and for other devices
     * than the CPU only when somebody asks for one. */
    int (*device_count)(const char **why);
    weft_status (*device_describe)(int index, weft_device_info *info);
    /* (optional) Whether it counts as a GPU: none by default. */
    bool (*device_is_gpu)(int index);
    /* (optional) Its place on the bus, by which backends know the same GPU: domain, bus and slot,
     * as weft__bus_place makes it. 0: not known. */
    uint64_t (*device_place)(int index);
    /* Drops the device's kernels and caches; all its streams are idle. */
    weft_status (*device_reset)(int index);

    /* Memory aligned to 64 bytes or better; *zeroed is set if it is known to be zero. The failure
     * is not recorded: the pool drops its caches and tries again first. */
    void *(*memory_allocate)(int index, weft_memory kind, size_t bytes, bool *zeroed);
    void (*memory_release)(int index, weft_memory kind, void *data, size_t bytes);
    bool (*memory_host_readable)(int index, weft_memory kind);
    /* (optional) The most bytes that one allocation can have, a multiple of 64: no such limit by
     * default. */
    size_t (*memory_most)(int index);
    /* (optional) For devices whose memory has handles instead of addresses: an address for a
     * foreign handle, which is held until memory_release, and the bytes there; and the handle of
     * memory that begins at the address. None: addresses are what others know it by. */
    weft_status (*memory_wrap)(int index, void *handle, void **data, size_t *bytes);
    void *(*memory_native)(const void *data);

    weft_status (*stream_open)(weft_stream *stream);
    /* The stream's work is done, or it is this work that closes it: then the backend takes a
     * reference, and releases it when all is done. */
    void (*stream_close)(weft_stream *stream);
    /* Queues work, or runs it if the stream is synchronous. An asynchronous one is called by one
     * thread at a time, with the stream's mutex held unless it `claims`; failing, it has queued
     * nothing. */
    weft_status (*stream_submit)(weft_stream *stream, const weft__work *work);
    /* Finding out how far a stream has come costs a part of a launch: one submission of so many
     * does, a power of two, or 0 for all. A device that has faulted then refuses work. */
    uint32_t look_every;
    /* Queueing a launch or a graph looks at no buffer's points, and waits for nothing that may wait
     * for the caller: asynchronous streams claim buffers (src/core/claim.h). */
    bool claims;
    /* The seconds at which `sequence` finished, on a clock of the device's own, for streams with
     * profiling. */
    weft_status (*stream_time)(weft_stream *stream, uint64_t sequence, double *seconds);

    /* (optional) The system's own handles, for code beside Weft: of the device's context, of a
     * stream, of an event after `sequence` (the caller's); and a stream over a foreign handle.
     * None: the device has no such thing. */
    weft_status (*device_native)(int index, void **handle);
    weft_status (*stream_native)(weft_stream *stream, void **handle);
    weft_status (*event_native)(weft_stream *stream, uint64_t sequence, void **handle);
    weft_status (*stream_wrap)(weft_stream *stream, void *handle);

    /* Takes the image over, also when it fails. */
    weft_status (*module_load)(int index, weft__image *image, weft__module **module);
    /* (optional) False if it was loaded from the machine code in its image; else that code, to be
     * kept on disk and freed with weft__free, or NULL if there is none to keep. */
    bool (*module_binary)(weft__module *module, void **data, size_t *bytes);
    void (*module_release)(weft__module *module);

    /* (optional) Launches and copies as one piece of work, WEFT__WORK_GRAPH; *graph stays NULL if
     * they cannot be one. Released while it is queued it is still done. None: they are replayed one
     * by one. */
    weft_status (*graph_make)(int index, const weft__work *const *works, uint32_t count,
                              void **graph);
    void (*graph_release)(void *graph);
    /* (optional) How it is queued again. None: by stream_submit. */
    void (*graph_again)(const void *graph, weft__again *again);
    void *(*graph_native)(const void *graph);

    /* Around fork and at unloading; NULL if there is nothing to do. */
    void (*fork_prepare)(void);
    void (*fork_parent)(void);
    void (*fork_child)(void);
    void (*shutdown)(void);
} weft__backend;

/* The backends that this build has, the CPU first. */
extern const weft__backend *const weft__backends[];
extern const int weft__backends_count;

#endif
