/* Kernels of the user's own: portable ones, written once over an index space, C functions, and
 * texts in the language of a device. */
#ifndef WEFT_KERNEL_H
#define WEFT_KERNEL_H

#include <weft/expression.h>

#ifdef __cplusplus
extern "C" {
#endif

/*     WEFT_KERNEL(blur, (in, out), {
 *         out(i, j) = 0.25f*(in(i-1, j) + in(i+1, j) + in(i, j-1) + in(i, j+1));
 *     });
 *     weft_launch(blur, out, in, out);
 *
 * The body is text in the language of expressions, about one element at a time: out(i, j) is an
 * element of an array, a name alone is a C number or a local. The indices are the names in the
 * elements that are assigned to; the first such element says which axis of the index space each
 * belongs to. An index of an element is made of indices and integers (constants, or C numbers) by
 * +, - and products with a constant; a single one is the position in C order. What is read outside
 * of an array follows the rules of shift: the element without the constants that are added, or
 * boundary= clamp, wrap or zero, or value=, as in in(i-1, j, boundary=clamp); the statement
 * "boundary = wrap;", as the first, is for the whole kernel. Every element is read as it was before
 * the kernel, but an element that was assigned at this point is what it was assigned.
 *
 * An error shows the body with a caret. Assigning outside of an array, or to one element at several
 * points, is an error of the launch, and nothing has run. With WEFT_CHECK=bounds in the environment
 * so is reading outside of an array, whatever its boundary. docs/kernels.md is the manual. */

/* A part of a launch: see below. */
typedef struct weft_kernel_part weft_kernel_part;
/* A C function that does a part of a launch, on any thread of the library's, several at once. It
 * must return, and call nothing of Weft's but weft_error_set. What it returns other than WEFT_OK is
 * a failure of the stream, with the message it left. */
typedef weft_status weft_kernel_function(const weft_kernel_part *part);

/* What a kernel is written in. */
typedef enum weft_kernel_language {
    WEFT_KERNEL_PORTABLE, /* `body` is in the language of expressions; runs on every device */
    WEFT_KERNEL_C,        /* `function`; runs on the CPU */
    WEFT_KERNEL_OPENCL,   /* `body` is OpenCL C with a kernel `name`; runs on OpenCL devices */
    WEFT_KERNEL_CUDA      /* `body` is CUDA C with a kernel `name`; runs on CUDA devices */
} weft_kernel_language;

/* A kernel by its text or function; must not change once it was launched. What it compiles to is
 * found by its address. */
typedef struct weft_kernel {
    size_t struct_size;
    const char *name;               /* for messages */
    const char *parameters;         /* "(in, out)" */
    const char *body;               /* text in the language, or NULL */
    const char *place;              /* "file:line" */
    int32_t language;               /* a weft_kernel_language */
    weft_kernel_function *function; /* of a kernel in C */
} weft_kernel;

/* Defines a portable kernel: WEFT_KERNEL(double_it, (in, out), { out(i) = 2*in(i); }); */
#define WEFT_KERNEL(name, parameters, ...)                                                         \
    static const weft_kernel name = {                                                              \
        sizeof(weft_kernel),  #name, #parameters, #__VA_ARGS__, WEFT__PLACE,                       \
        WEFT_KERNEL_PORTABLE, NULL}

/* A text in the language of a device may have any number of functions; the one called `name` is
 * launched. Its parameters are a pointer for each array, to its first element, and the C numbers as
 * they are: an int is an int, 0.5 a double. The index space has at most 3 axes; in OpenCL C the
 * last one is get_global_id(0). In CUDA C it is x: blocks have 256 threads, or 32 x 8 where there
 * is more than one axis, and as many as cover the space, so that the kernel, which must be extern
 * "C", looks where it ends. What the compiler says is in the message of the error. */

/* Queues the kernel on the stream of its arguments, once for every point of the index space: a
 * shape, or that of an array (which need not be an argument). The arguments are those of the
 * parameters in their order, at most 32 here: arrays and C numbers. */
#define weft_launch(kernel, space, ...)                                                            \
    WEFT__LAUNCH(space)                                                                            \
    (&(kernel), (space), WEFT__COUNT(__VA_ARGS__), WEFT__OPERANDS(__VA_ARGS__))
/* The same for a C function. */
#define weft_launch_function(function, space, ...)                                                 \
    WEFT__LAUNCH(space)                                                                            \
    (WEFT__KERNEL_OF(#function, "(" #__VA_ARGS__ ")", function), (space),                          \
     WEFT__COUNT(__VA_ARGS__), WEFT__OPERANDS(__VA_ARGS__))

/* The functions under the macros; at most 256 arguments. */
WEFT_API weft_status weft_launch_over(const weft_kernel *kernel, const weft_array *space, int count,
                                      const weft_operand *operands);
WEFT_API weft_status weft_launch_shape(const weft_kernel *kernel, weft_shape space, int count,
                                       const weft_operand *operands);

/* An argument as a C function sees it. Arrays that were given as const are only read; the others
 * are taken to be read and written, and work on them is ordered accordingly. */
typedef struct weft_kernel_argument {
    int32_t tag;                   /* a weft_operand_tag */
    int32_t dtype;                 /* a weft_dtype: of the elements, or of the C number */
    char *data;                    /* the first element; NULL for a number */
    weft_shape shape;              /* of an array */
    int64_t stride[WEFT_NDIM_MAX]; /* in bytes; may be zero or negative */
    weft_operand number;           /* of a number: number.value.f, .i, .u, as its dtype says */
} weft_kernel_argument;

/* A part of a launch: the points [begin, end) of the index space, in C order. Launch over a shape
 * of rows, and a point is a row. */
struct weft_kernel_part {
    int64_t begin, end;                    /* from, up to and without */
    weft_shape space;                      /* the whole index space */
    int32_t count;                         /* of the arguments */
    const weft_kernel_argument *arguments; /* in the order of the launch */
};

/* The address of the element of an array at a position in C order. */
static inline void *weft_kernel_at(const weft_kernel_argument *argument, int64_t position)
{
    char *data = argument->data;
    for (int axis = argument->shape.ndim - 1; axis >= 0; axis--) {
        int64_t size = argument->shape.size[axis];
        data += position % size * argument->stride[axis];
        position /= size;
    }
    return data;
}

#ifdef __cplusplus
}
inline auto weft__launch(const weft_array *) { return weft_launch_over; }
inline auto weft__launch(const weft_shape &) { return weft_launch_shape; }
#define WEFT__LAUNCH(space) weft__launch(space)
inline weft_kernel weft__kernel_of(const char *name, const char *parameters, const char *place,
                                   weft_kernel_function *function)
{
    return weft_kernel{sizeof(weft_kernel), name,    parameters, nullptr, place,
                       WEFT_KERNEL_C,       function};
}
struct weft__kernel_holder {
    weft_kernel kernel;
    operator const weft_kernel *() const { return &kernel; }
};
#define WEFT__KERNEL_OF(name, parameters, function)                                                \
    (weft__kernel_holder{weft__kernel_of(name, parameters, WEFT__PLACE, (function))})
#else
#define WEFT__LAUNCH(space)                                                                        \
    _Generic((space), weft_array *                                                                 \
             : weft_launch_over, const weft_array *                                                \
             : weft_launch_over, weft_shape                                                        \
             : weft_launch_shape)
#define WEFT__KERNEL_OF(name, parameters, function)                                                \
    (&(const weft_kernel){sizeof(weft_kernel), name, parameters, NULL, WEFT__PLACE, WEFT_KERNEL_C, \
                          (function)})
#endif
#endif
