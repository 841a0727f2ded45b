/* Devices: naming, listing and asking about them, and where new arrays go. */
#ifndef WEFT_DEVICE_H
#define WEFT_DEVICE_H

#include <weft/dtype.h>
#include <weft/options.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What drives a device. */
typedef enum weft_device_kind {
    WEFT_DEVICE_INVALID = -1, /* what a wrong name gives: every call it is handed to fails */
    WEFT_DEVICE_NONE = 0,     /* not given */
    WEFT_DEVICE_CPU = 1,      /* the threads of this process */
    WEFT_DEVICE_CUDA = 2,     /* an NVIDIA GPU */
    WEFT_DEVICE_OPENCL = 3    /* whatever has a driver for OpenCL */
} weft_device_kind;

/* A small value: copy it, compare it with weft_device_equal. */
typedef struct weft_device {
    int32_t kind;  /* a weft_device_kind */
    int32_t index; /* among the devices of that kind */
} weft_device;

#ifndef __cplusplus
/* The CPU, which is always there, and no device: not given, or none. */
#define WEFT_CPU ((weft_device){WEFT_DEVICE_CPU, 0})
#define WEFT_NO_DEVICE ((weft_device){WEFT_DEVICE_NONE, 0})
#else
#define WEFT_CPU (weft_device{WEFT_DEVICE_CPU, 0})
#define WEFT_NO_DEVICE (weft_device{WEFT_DEVICE_NONE, 0})
#endif

/* "cpu", "cuda:1", "opencl:0", "gpu" (the first GPU of any kind), "gpu:1", "gpu:free" (the one with
 * the most free memory). A name that fits no device gives an invalid device and an error that lists
 * those that exist. */
WEFT_API weft_device weft_device_named(const char *name);
/* "cpu", "cuda:0", "none", "invalid": the name to use; valid for as long as the library is loaded.
 */
WEFT_API const char *weft_device_id(weft_device device);
/* Whether both are the same device. */
WEFT_API bool weft_device_equal(weft_device a, weft_device b);

/* The devices of this machine, the CPU first. */
WEFT_API int weft_device_count(void);
WEFT_API weft_device weft_device_at(int position);

/* What a device is and can do. */
typedef struct weft_device_info {
    char name[128];              /* as its maker calls it */
    int32_t kind;                /* a weft_device_kind */
    int32_t compute_units;       /* threads that compute, or multiprocessors */
    uint64_t memory_total;       /* bytes */
    uint64_t memory_free;        /* bytes, now */
    char driver[64];             /* version of what drives the device */
    char compiler[64];           /* what compiles kernels for it */
    uint32_t dtypes;             /* bit WEFT_F64 is set if it computes f64, and so on */
    bool unified_memory;         /* host and device share one memory */
    bool same_bits;              /* it keeps the promise of the same bits on every device */
    char same_bits_why[128];     /* if not, why */
    bool shared_memory;          /* the host may dereference arrays of the kinds shared and host */
    char shared_memory_why[128]; /* if not, why; they are the device's own, copies read them */
} weft_device_info;

/* Fills a weft_device_info: weft_device_describe(gpu, &info). */
#define weft_device_describe(device, info)                                                         \
    weft_device_describe_sized((device), (info), sizeof(weft_device_info))
WEFT_API weft_status weft_device_describe_sized(weft_device device, weft_device_info *info,
                                                size_t info_size);
/* Whether the device computes with that dtype. */
WEFT_API bool weft_device_supports(weft_device device, weft_dtype dtype);

/* The device's own context (a CUcontext, a cl_context), for code beside Weft; an error on the CPU.
 */
WEFT_API weft_status weft_device_native(weft_device device, void **handle);

/* Waits for all work that is queued on streams of the device. (What other threads do in their own
 * calls on synchronous streams is not queued.) */
WEFT_API weft_status weft_device_synchronize(weft_device device);
/* Waits, then drops the device's cached memory and kernels and makes every thread forget its
 * current streams there. Arrays and streams that are held stay valid. Failures kept on its streams
 * are forgotten. */
WEFT_API weft_status weft_device_reset(weft_device device);

/* The default of the process, for threads with no device context: the one set here, else the
 * environment variable WEFT_DEVICE, else the CPU. WEFT_NO_DEVICE undoes a set. */
WEFT_API weft_status weft_device_set_default(weft_device device);
WEFT_API weft_device weft_device_default(void);

/* The device context of this thread: contexts nest, and each push needs its pop. WEFT_ON in
 * <weft/stream.h> does both. Nesting deeper than 64 is an error. */
WEFT_API weft_status weft_device_push(weft_device device);
WEFT_API weft_status weft_device_pop(void);
/* The innermost device context, or WEFT_NO_DEVICE. */
WEFT_API weft_device weft_device_context(void);

/* Memory that the user lends is on no device: alone, it is computed on the context's device, else
 * on the CPU. Where this forbids it, computing on lent memory outside a device context is an error.
 * For this thread; returns what was in force. */
WEFT_API bool weft_lent_forbid(bool forbid);

#ifdef __cplusplus
}
#endif
#endif
