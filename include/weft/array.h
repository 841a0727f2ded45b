/* Arrays: what they are, views of them, copies, conversions, reading and printing. */
#ifndef WEFT_ARRAY_H
#define WEFT_ARRAY_H

#include <weft/memory.h>
#include <weft/operand.h>
#include <weft/shape.h>
#include <weft/stream.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An array is a handle: a dtype, a shape, strides and a share in the memory behind it. It is
 * reference counted; views hold their memory alive. Functions that make an array return it, owned
 * by the caller, or NULL with the thread's error record set; array arguments are borrowed. Every
 * call queues its work on the current stream of the arrays' device and returns: an array is a
 * promise. */
WEFT_API weft_array *weft_array_retain(weft_array *array);
/* The last release frees the memory, once queued work has no more use for it. NULL is fine. */
WEFT_API void weft_array_release(weft_array *array);

/* Facts about an array; none of these waits. A NULL array has rank 0, no elements and dtype
 * DEFAULT. */
WEFT_API weft_dtype weft_array_dtype(const weft_array *array);
WEFT_API int weft_array_ndim(const weft_array *array);
WEFT_API weft_shape weft_array_shape(const weft_array *array);
/* Size and stride (in bytes; may be zero or negative) along an axis; a negative axis counts from
 * the end; an axis out of range gives -1 and 0, and an error. */
WEFT_API int64_t weft_array_size(const weft_array *array, int axis);
WEFT_API int64_t weft_array_stride(const weft_array *array, int axis);
/* The number of elements, and the bytes that they take without padding. */
WEFT_API int64_t weft_array_count(const weft_array *array);
WEFT_API size_t weft_array_bytes(const weft_array *array);
/* The device it is on (WEFT_NO_DEVICE: lent memory), and the kind of its memory. */
WEFT_API weft_device weft_array_device(const weft_array *array);
WEFT_API weft_memory weft_array_memory(const weft_array *array);
/* The stream the array is bound to (borrowed), or NULL. */
WEFT_API weft_stream *weft_array_stream(const weft_array *array);
/* Elements in C order without gaps. */
WEFT_API bool weft_array_is_contiguous(const weft_array *array);
/* A handle that no resize or assignment has given memory yet. */
WEFT_API bool weft_array_is_handle(const weft_array *array);
/* Whether the host may dereference the pointer (once the work that makes the array is done). */
WEFT_API bool weft_array_host_readable(const weft_array *array);
/* The address of the first element, in the device's address space. Neither waits nor copies. */
WEFT_API void *weft_array_data(const weft_array *array);

/* What an array is made of, for code that takes memory apart. */
typedef struct weft_array_info {
    void *data;                     /* of the first element, in the device's address space */
    bool read_only;                 /* it cannot be written: broadcast, or made so */
    bool host_readable;             /* as weft_array_host_readable */
    bool bound;                     /* to `stream` */
    int32_t ndim;                   /* how many of the next two count */
    int64_t shape[WEFT_NDIM_MAX];   /* elements along each axis */
    int64_t strides[WEFT_NDIM_MAX]; /* bytes */
    char typestr[8];                /* as NumPy writes it: "<f4", "|b1"; bf16 is "<V2" */
    weft_dtype dtype;               /* of the elements */
    weft_device device;             /* of lent memory: none */
    weft_memory memory;             /* its kind */
    weft_stream *stream; /* the queue: the one it is bound to, else this thread's current one of its
                            device; borrowed. Of lent memory: NULL */
} weft_array_info;
/* Fills a weft_array_info: weft_array_describe(a, &info). Neither waits nor copies. */
#define weft_array_describe(array, info)                                                           \
    weft_array_describe_sized((array), (info), sizeof(weft_array_info))
WEFT_API weft_status weft_array_describe_sized(weft_array *array, weft_array_info *info,
                                               size_t info_size);

/* Views: a new handle on the same memory. */

/* weft_slice(a, WEFT_ALL, WEFT_STEP(10, 0, -2), WEFT_AT(3)); axes that are not given are whole. */
#define weft_slice(array, ...)                                                                     \
    weft_slice_with((array), WEFT__COUNT(__VA_ARGS__), WEFT__RANGES(__VA_ARGS__))
WEFT_API weft_array *weft_slice_with(weft_array *array, int count, const weft_range *ranges);
/* Axis k of the result is axis axes[k] of the array: weft_permute(a, WEFT_AXES(2, 0, 1)). */
WEFT_API weft_array *weft_permute(weft_array *array, weft_axes axes);
/* All axes in reverse order. */
WEFT_API weft_array *weft_transpose(weft_array *array);
/* By NumPy's rules; the result can be read, and written only where no element is repeated. */
WEFT_API weft_array *weft_broadcast(weft_array *array, weft_shape shape);

/* Whether a result may share memory with what it is made from. */
typedef enum weft_copying {
    WEFT_COPY_IF_NEEDED, /* a view where that can be, else a copy */
    WEFT_COPY_NEVER,     /* a view, or an error */
    WEFT_COPY_ALWAYS     /* memory of its own */
} weft_copying;
/* What weft_reshape can be told. */
typedef struct weft_reshape_options {
    size_t struct_size;
    weft_copying copy; /* default: only if needed */
} WEFT__NAMED weft_reshape_options;
/* The same elements in C order under another shape; one size may be -1. */
#define weft_reshape(...) WEFT__RESHAPE(__VA_ARGS__, )
#define WEFT__RESHAPE(array, ...) WEFT__RESHAPE_(array, __VA_ARGS__)
#define WEFT__RESHAPE_(array, shape, ...)                                                          \
    weft_reshape_with((array), (shape), WEFT__OPTIONS(weft_reshape_options, __VA_ARGS__))
WEFT_API weft_array *weft_reshape_with(weft_array *array, weft_shape shape,
                                       const weft_reshape_options *options);

/* Copies and conversions. */

/* Where and how a new array is made; what is not given comes from the arrays it is made from, then
 * from the device context, then from the process default. */
typedef struct weft_options {
    size_t struct_size;
    weft_dtype dtype;                          /* of the elements */
    weft_device device;                        /* where it goes */
    weft_memory memory;                        /* the kind of its memory */
    weft_allocator allocator;                  /* which of Weft's allocators gives it */
    const weft_user_allocator *user_allocator; /* or one of the user's own */
    weft_stream *stream;                       /* binds the new array to this stream */
    weft_copying copy;                         /* of weft_asarray alone */
    struct weft_random *random; /* of weft_random_… alone: where the numbers come from */
} WEFT__NAMED weft_options;

/* A new array with the same elements, in C order: weft_copy(a), weft_copy(a, .memory = …). */
#define weft_copy(...) WEFT__COPY(__VA_ARGS__, )
#define WEFT__COPY(array, ...) weft_copy_with((array), WEFT__OPTIONS(weft_options, __VA_ARGS__))
WEFT_API weft_array *weft_copy_with(weft_array *array, const weft_options *options);
/* The array as asked: a view of the same memory where dtype and memory kind are those it has and
 * the device can use it, else a copy; `.copy` says whether it must, may or must not copy. `.stream`
 * rebinds: weft_asarray(a, .stream = q). `.device = WEFT_CPU` places lent memory, and what the host
 * can read of another device, on the CPU without a copy. */
#define weft_asarray(...) WEFT__ASARRAY(__VA_ARGS__, )
#define WEFT__ASARRAY(array, ...)                                                                  \
    weft_asarray_with((array), WEFT__OPTIONS(weft_options, __VA_ARGS__))
WEFT_API weft_array *weft_asarray_with(weft_array *array, const weft_options *options);
/* A new array with the elements converted to the dtype: any to any. */
WEFT_API weft_array *weft_cast(weft_array *array, weft_dtype dtype);
/* Writes source, broadcast, into the elements of target, in any layout, overlaps included.
 * Conversions within a kind happen; across kinds (f32 to i32) they are an error unless
 * weft_assign_cast is used. A handle without memory becomes a copy. */
WEFT_API weft_status weft_assign(weft_array *target, weft_array *source);
WEFT_API weft_status weft_assign_cast(weft_array *target, weft_array *source);
/* Fills with a C number: weft_fill(a, 2.5). */
#define weft_fill(array, number) weft_fill_with((array), WEFT_OPERAND(number))
WEFT_API weft_status weft_fill_with(weft_array *array, weft_operand number);
/* The array on a device: itself, retained, if it is there; else a copy. `stream` may be NULL. */
WEFT_API weft_array *weft_to_device(weft_array *array, weft_device device, weft_stream *stream);
/* Gives the handle new memory of that shape; what is in it is undefined. Views made before keep the
 * old memory. Fails with the array unchanged. */
WEFT_API weft_status weft_resize(weft_array *array, weft_shape shape);

/* Host memory in C order, exactly `bytes` = weft_array_bytes(array) long. From host: the memory may
 * be reused when the call returns. To host: waits for the array. */
WEFT_API weft_status weft_copy_from_host(weft_array *array, const void *data, size_t bytes);
WEFT_API weft_status weft_copy_to_host(weft_array *array, void *data, size_t bytes);

/* Reading. */

/* Waits until all work queued on the array is done, so that the host may use its memory; reports
 * the failure if it was never computed. */
WEFT_API weft_status weft_eval(weft_array *array);
/* Reads the first element, wherever it lives, converted to the type of *out: waits. */
#define weft_item(array, out) weft_item_as((array), (out), WEFT__DTYPE_OF(out))
WEFT_API weft_status weft_item_as(weft_array *array, void *out, weft_dtype dtype);

/* As NumPy would print it; large arrays are summarised. Waits. */
WEFT_API weft_status weft_print(weft_array *array);
/* The same into text, NUL-terminated within `room`; *length is what it takes without the NUL. */
WEFT_API weft_status weft_format(weft_array *array, char *text, size_t room, size_t *length);

static inline void weft__array_auto(weft_array **array) { weft_array_release(*array); }

/* The dtype that a pointer to a C number points to. */
#define WEFT__DTYPE_CASES(X)                                                                       \
    X(bool, WEFT_BOOL)                                                                             \
    X(char, WEFT__CHAR)                                                                            \
    X(signed char, WEFT_I8)                                                                        \
    X(short, WEFT_I16)                                                                             \
    X(int, WEFT_I32)                                                                               \
    X(long, sizeof(long) == 8 ? WEFT_I64 : WEFT_I32)                                               \
    X(long long, WEFT_I64)                                                                         \
    X(unsigned char, WEFT_U8)                                                                      \
    X(unsigned short, WEFT_U16)                                                                    \
    X(unsigned int, WEFT_U32)                                                                      \
    X(unsigned long, sizeof(long) == 8 ? WEFT_U64 : WEFT_U32)                                      \
    X(unsigned long long, WEFT_U64)                                                                \
    X(float, WEFT_F32)                                                                             \
    X(double, WEFT_F64)

#ifdef __cplusplus
}
#include <initializer_list>
inline const weft_range *weft__ranges(std::initializer_list<weft_range> list)
{
    return list.begin();
}
#define WEFT__RANGES(...) weft__ranges({__VA_ARGS__})
#define WEFT__DTYPE_OF(out) weft__dtype_of(out)
#define WEFT__DTYPE_CASE(type, dtype)                                                              \
    inline weft_dtype weft__dtype_of(type *) { return static_cast<weft_dtype>(dtype); }
WEFT__DTYPE_CASES(WEFT__DTYPE_CASE)
inline weft_dtype weft__dtype_of(std::complex<float> *) { return WEFT_C64; }
inline weft_dtype weft__dtype_of(std::complex<double> *) { return WEFT_C128; }
#else
#define WEFT__RANGES(...) ((const weft_range[]){__VA_ARGS__})
#define WEFT__DTYPE_CASE(type, dtype) type * : dtype,
#define WEFT__DTYPE_OF(out)                                                                        \
    ((weft_dtype)_Generic((out), WEFT__DTYPE_CASES(WEFT__DTYPE_CASE) float _Complex *: WEFT_C64,   \
                          double _Complex *: WEFT_C128))
#endif
#ifdef __GNUC__
/* WEFT_AUTO weft_array *a = …; is released at the end of its block. */
#define WEFT_AUTO __attribute__((cleanup(weft__array_auto), unused))
#endif
#endif
