/* Arrays exchanged with other libraries without a copy: DLPack 1.x. */
#ifndef WEFT_DLPACK_H
#define WEFT_DLPACK_H

#include <weft/array.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The structs of DLPack under names of our own, so that its header can be included beside this one:
 * a DLManagedTensorVersioned * is cast to a weft_dlpack *. */
enum { WEFT_DLPACK_MAJOR = 1, WEFT_DLPACK_MINOR = 1 };

/* DLPack's numbers of devices: those that Weft takes. */
typedef enum weft_dlpack_device_type {
    WEFT_DLPACK_CPU = 1,          /* memory of the host */
    WEFT_DLPACK_CUDA = 2,         /* memory of a GPU */
    WEFT_DLPACK_CUDA_HOST = 3,    /* pinned */
    WEFT_DLPACK_OPENCL = 4,       /* `data` is a cl_mem */
    WEFT_DLPACK_CUDA_MANAGED = 13 /* migrates */
} weft_dlpack_device_type;

/* DLPack's kinds of elements. */
typedef enum weft_dlpack_code {
    WEFT_DLPACK_SIGNED = 0,   /* i8 … i64 */
    WEFT_DLPACK_UNSIGNED = 1, /* u8 … u64 */
    WEFT_DLPACK_FLOAT = 2,    /* f16, f32, f64 */
    WEFT_DLPACK_BFLOAT = 4,   /* bf16 */
    WEFT_DLPACK_COMPLEX = 5,  /* c64, c128 */
    WEFT_DLPACK_BOOL = 6      /* of 8 bits */
} weft_dlpack_code;

typedef struct weft_dlpack_tensor { /* DLTensor */
    void *data;                     /* the memory, in the device's address space */
    struct {
        int32_t type;  /* a weft_dlpack_device_type */
        int32_t index; /* among devices of that type */
    } device;          /* where the memory is */
    int32_t ndim;      /* dimensions */
    struct {
        uint8_t code;     /* a weft_dlpack_code */
        uint8_t bits;     /* of an element; of both parts of a complex one */
        uint16_t lanes;   /* 1 */
    } dtype;              /* of the elements */
    int64_t *shape;       /* elements along each axis */
    int64_t *strides;     /* in elements; NULL: C order without gaps */
    uint64_t byte_offset; /* of the first element from `data` */
} weft_dlpack_tensor;

typedef struct weft_dlpack { /* DLManagedTensorVersioned */
    struct {
        uint32_t major, minor; /* another major one may look different from here on */
    } version;                 /* of DLPack */
    void *context;             /* the producer's own */
    void (*deleter)(struct weft_dlpack *managed); /* NULL: there is nothing to free */
    uint64_t flags;                               /* WEFT_DLPACK_READ_ONLY and so on */
    weft_dlpack_tensor tensor;                    /* what it is about */
} weft_dlpack;

#define WEFT_DLPACK_READ_ONLY UINT64_C(1)      /* a flag: nobody may write it */
#define WEFT_DLPACK_COPIED UINT64_C(2)         /* nobody else has this memory */
#define WEFT_DLPACK_SUBBYTE_PADDED UINT64_C(4) /* of dtypes that Weft does not have */

/* What DLPack was before version 1, and what many libraries still exchange. */
typedef struct weft_dlpack_unversioned {                      /* DLManagedTensor */
    weft_dlpack_tensor tensor;                                /* what it is about */
    void *context;                                            /* the producer's own */
    void (*deleter)(struct weft_dlpack_unversioned *managed); /* NULL: there is nothing to free */
} weft_dlpack_unversioned;

/* What weft_from_dlpack can be told. */
typedef struct weft_from_dlpack_options {
    size_t struct_size;
    /* Work on the array comes after what is queued there now: the stream on which the producer made
     * the data (weft_stream_wrap), or has promised it. Without one the data must be there. */
    weft_stream *stream;
} WEFT__NAMED weft_from_dlpack_options;
/* An array over the tensor's memory, on the device that the tensor names: no copy, and unlike
 * memory that was lent with weft_borrow it is placed. The tensor is taken over, also when this
 * fails: its deleter is called once, when no array and no queued work uses the memory. CUDA's
 * pinned memory is of kind host, its managed memory of kind shared. A tensor that is read-only
 * makes an array that cannot be written. OpenCL's objects must be of the context that
 * weft_device_native gives. */
#define weft_from_dlpack(...) WEFT__FROM_DLPACK(__VA_ARGS__, )
#define WEFT__FROM_DLPACK(managed, ...)                                                            \
    weft_from_dlpack_with((managed), WEFT__OPTIONS(weft_from_dlpack_options, __VA_ARGS__))
WEFT_API weft_array *weft_from_dlpack_with(weft_dlpack *managed,
                                           const weft_from_dlpack_options *options);
#define weft_from_dlpack_unversioned(...) WEFT__FROM_DLPACK_UNVERSIONED(__VA_ARGS__, )
#define WEFT__FROM_DLPACK_UNVERSIONED(managed, ...)                                                \
    weft_from_dlpack_unversioned_with((managed),                                                   \
                                      WEFT__OPTIONS(weft_from_dlpack_options, __VA_ARGS__))
WEFT_API weft_array *weft_from_dlpack_unversioned_with(weft_dlpack_unversioned *managed,
                                                       const weft_from_dlpack_options *options);

/* What weft_to_dlpack can be told. */
typedef struct weft_to_dlpack_options {
    size_t struct_size;
    /* The consumer's. What it queues there comes after the work on the array, without a wait; and
     * what it has queued there when it calls the deleter comes before the memory is used again.
     * Without one the call waits for the work on the array. */
    weft_stream *stream;
    weft_device device; /* where the tensor is to be; default: where the array is */
    weft_copying copy;  /* whether it must, may (on another device) or must not be a copy */
} WEFT__NAMED weft_to_dlpack_options;
/* The array as a tensor over the same memory, which it keeps alive until its deleter is called, on
 * any thread. Memory that the host can read and CUDA does not know is the CPU's. An array that
 * cannot be written is flagged read-only; without a version that cannot be told, and is an error.
 */
#define weft_to_dlpack(...) WEFT__TO_DLPACK(__VA_ARGS__, )
#define WEFT__TO_DLPACK(array, ...)                                                                \
    weft_to_dlpack_with((array), WEFT__OPTIONS(weft_to_dlpack_options, __VA_ARGS__))
WEFT_API weft_dlpack *weft_to_dlpack_with(weft_array *array, const weft_to_dlpack_options *options);
#define weft_to_dlpack_unversioned(...) WEFT__TO_DLPACK_UNVERSIONED(__VA_ARGS__, )
#define WEFT__TO_DLPACK_UNVERSIONED(array, ...)                                                    \
    weft_to_dlpack_unversioned_with((array), WEFT__OPTIONS(weft_to_dlpack_options, __VA_ARGS__))
WEFT_API weft_dlpack_unversioned *
weft_to_dlpack_unversioned_with(weft_array *array, const weft_to_dlpack_options *options);

#ifdef __cplusplus
}
#endif
#endif
