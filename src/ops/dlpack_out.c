/* DLPack out: tensors over the memory of arrays. */
#include "core/allocate.h"
#include "core/device.h"
#include "ops/copy.h"
#include "ops/dlpack.h"
#include <stddef.h>

/* The layouts of the standard, on machines with pointers of 64 bits. */
_Static_assert(sizeof(void *) != 8 || sizeof(weft_dlpack_tensor) == 48, "DLTensor");
_Static_assert(sizeof(void *) != 8 || offsetof(weft_dlpack, tensor) == 32,
               "DLManagedTensorVersioned");
_Static_assert(sizeof(void *) != 8 || sizeof(weft_dlpack_unversioned) == 64, "DLManagedTensor");

/* A tensor of ours, with what it holds. */
typedef struct exported {
    union {
        weft_dlpack versioned;
        weft_dlpack_unversioned unversioned;
    } managed;
    int64_t shape[WEFT_NDIM_MAX], strides[WEFT_NDIM_MAX];
    weft_array *array;
    weft_stream *stream; /* the consumer's, or NULL */
} exported;

static const weft__dlpack_dtype dtypes[] = {
    {WEFT_BOOL, WEFT_DLPACK_BOOL, 8},      {WEFT_I8, WEFT_DLPACK_SIGNED, 8},
    {WEFT_I16, WEFT_DLPACK_SIGNED, 16},    {WEFT_I32, WEFT_DLPACK_SIGNED, 32},
    {WEFT_I64, WEFT_DLPACK_SIGNED, 64},    {WEFT_U8, WEFT_DLPACK_UNSIGNED, 8},
    {WEFT_U16, WEFT_DLPACK_UNSIGNED, 16},  {WEFT_U32, WEFT_DLPACK_UNSIGNED, 32},
    {WEFT_U64, WEFT_DLPACK_UNSIGNED, 64},  {WEFT_F16, WEFT_DLPACK_FLOAT, 16},
    {WEFT_BF16, WEFT_DLPACK_BFLOAT, 16},   {WEFT_F32, WEFT_DLPACK_FLOAT, 32},
    {WEFT_F64, WEFT_DLPACK_FLOAT, 64},     {WEFT_C64, WEFT_DLPACK_COMPLEX, 64},
    {WEFT_C128, WEFT_DLPACK_COMPLEX, 128},
};
enum { DTYPES = sizeof dtypes / sizeof *dtypes };

const weft__dlpack_dtype *weft__dlpack_dtype_of(weft_dtype dtype)
{
    for (int i = 0; i < DTYPES; i++)
        if (dtypes[i].dtype == dtype)
            return &dtypes[i];
    return NULL;
}

weft_dtype weft__dlpack_dtype_named(uint8_t code, uint8_t bits)
{
    for (int i = 0; i < DTYPES; i++)
        if (dtypes[i].code == code && dtypes[i].bits == bits)
            return (weft_dtype)dtypes[i].dtype;
    return WEFT_DTYPE_DEFAULT;
}

/* A read and a write: what was never computed is not handed over. */
weft_status weft__dlpack_hand_over(weft__buffer *buffer, weft_stream *stream, bool write)
{
    const weft__use use = {buffer, atomic_load(&buffer->generation), false, false};
    weft__use uses[] = {use, use};
    uses[1].write = write;
    weft__work work = {
        .kind = WEFT__WORK_NONE, .operation = weft__operation(), .uses = uses, .uses_count = 2};
    return weft__submit(stream, &work);
}

/* What the consumer has queued comes before the memory's next use. */
static void release(exported *e)
{
    OPERATION("weft_to_dlpack");
    if (e->stream && weft__dlpack_hand_over(e->array->buffer, e->stream, true) != WEFT_OK)
        weft__stream_wait(e->stream);
    weft_array_release(e->array);
    weft_stream_release(e->stream);
    weft__free(e);
}

static void delete_versioned(weft_dlpack *managed) { release(managed->context); }
static void delete_unversioned(weft_dlpack_unversioned *managed) { release(managed->context); }

weft_array *weft__dlpack_own(const weft_dlpack *managed)
{
    const exported *e = managed->deleter == delete_versioned ? managed->context : NULL;
    return e ? e->array : NULL;
}

weft_array *weft__dlpack_own_unversioned(const weft_dlpack_unversioned *managed)
{
    const exported *e = managed->deleter == delete_unversioned ? managed->context : NULL;
    return e ? e->array : NULL;
}

static bool is_read_only(const weft_array *array) { return array->read_only || array->overlapping; }

/* The device that others know the memory by; `for_host`: it is to be the CPU's. */
static weft_status name_device(const weft_array *array, bool for_host, weft_dlpack_tensor *tensor)
{
    const weft__buffer *buffer = array->buffer;
    const bool readable = weft_array_host_readable(array);
    tensor->device.type = WEFT_DLPACK_CPU;
    tensor->device.index = 0;
    if (for_host || array->on_host || buffer->device.kind <= WEFT_DEVICE_CPU)
        return WEFT_OK;
    if (buffer->device.kind == WEFT_DEVICE_OPENCL && readable)
        return WEFT_OK;
    if (buffer->device.kind == WEFT_DEVICE_OPENCL && buffer->source == WEFT__SOURCE_USER)
        return FAIL_AT(WEFT_ERROR_UNSUPPORTED, "array",
                       "memory of a user allocator on %s is no memory object; copy the array with "
                       "weft_copy first",
                       weft_device_id(buffer->device));
    tensor->device.index = buffer->device.index;
    if (buffer->device.kind == WEFT_DEVICE_OPENCL)
        tensor->device.type = WEFT_DLPACK_OPENCL;
    else
        tensor->device.type = buffer->memory == WEFT_MEMORY_HOST     ? WEFT_DLPACK_CUDA_HOST
                              : buffer->memory == WEFT_MEMORY_SHARED ? WEFT_DLPACK_CUDA_MANAGED
                                                                     : WEFT_DLPACK_CUDA;
    return WEFT_OK;
}

/* Where nothing depends on it a stride is that of C order: those of lent memory may be parts of an
 * element. */
static weft_status describe_axes(exported *e, size_t item)
{
    const weft_array *array = e->array;
    int64_t ordered[WEFT_NDIM_MAX] = {0};
    size_t bytes;
    const bool empty = weft__array_count(array) == 0;
    TRY(weft__shape_strides(&array->shape, item, 1, ordered, &bytes));
    for (int k = 0; k < array->shape.ndim; k++) {
        const bool free = empty || array->shape.size[k] == 1;
        const int64_t stride = free ? ordered[k] : array->stride[k];
        if (stride % (int64_t)item != 0)
            return FAIL_AT(WEFT_ERROR_SHAPE, "array",
                           "stride %lld of axis %d is no whole number of elements; copy the array "
                           "with weft_copy first",
                           (long long)stride, k);
        e->shape[k] = array->shape.size[k];
        e->strides[k] = stride / (int64_t)item;
    }
    return WEFT_OK;
}

static weft_status describe(exported *e, bool for_host, weft_dlpack_tensor *tensor)
{
    const weft_array *array = e->array;
    const weft__dlpack_dtype *dtype = weft__dlpack_dtype_of((weft_dtype)array->dtype);
    TRY(name_device(array, for_host, tensor));
    TRY(describe_axes(e, weft_dtype_size((weft_dtype)array->dtype)));
    tensor->ndim = array->shape.ndim;
    tensor->dtype.code = dtype->code;
    tensor->dtype.bits = dtype->bits;
    tensor->dtype.lanes = 1;
    tensor->shape = e->shape;
    tensor->strides = e->strides;
    tensor->data = array->data;
    tensor->byte_offset = 0;
    if (tensor->device.type == WEFT_DLPACK_OPENCL && array->buffer->data) {
        const weft__backend *backend = weft__device_get(array->buffer->device)->backend;
        tensor->data = backend->memory_native(array->buffer->data);
        tensor->byte_offset = (uint64_t)(array->data - array->buffer->data);
    }
    return WEFT_OK;
}

/* The array that the tensor is over: a view, or a copy where one is asked for or needed. */
static weft_array *source_of(weft_array *array, const weft_to_dlpack_options *options, bool *copied)
{
    const weft_device device = options->device;
    const bool to_host = device.kind == WEFT_DEVICE_CPU && weft_array_host_readable(array);
    const bool there = device.kind == WEFT_DEVICE_NONE || to_host ||
                       weft_device_equal(device, weft__array_device(array));
    *copied = options->copy == WEFT_COPY_ALWAYS || !there;
    if (!*copied)
        return weft__array_view(array);
    if (options->copy == WEFT_COPY_NEVER)
        return FAIL_AT_NULL(WEFT_ERROR_PLACEMENT, "copy",
                            "the array is on %s and the tensor is to be on %s, which takes a copy; "
                            ".copy forbids it",
                            weft_device_id(weft__array_device(array)), weft_device_id(device));
    const weft_options copying = {.struct_size = sizeof copying, .device = device};
    return weft__copy_new(array, &copying);
}

static weft_status order(exported *e, weft_stream *stream)
{
    const bool write = !is_read_only(e->array);
    if (!stream)
        return weft__buffer_wait(e->array->buffer, true, write);
    TRY(weft__dlpack_hand_over(e->array->buffer, stream, write));
    e->stream = weft_stream_retain(stream);
    return WEFT_OK;
}

static weft_status check_writable(const weft_array *array)
{
    if (!is_read_only(array))
        return WEFT_OK;
    return FAIL_AT(WEFT_ERROR_UNSUPPORTED, "array",
                   "the array cannot be written, and a tensor without a version cannot say so; use "
                   "weft_to_dlpack, or .copy = WEFT_COPY_ALWAYS");
}

/* `tensor` says where in the result the tensor is; `flags`, that it can say what is read-only. */
static exported *export(weft_array *array, const weft_to_dlpack_options *given, size_t tensor,
                        bool flags, bool *copied)
{
    weft_to_dlpack_options options = {.struct_size = sizeof options};
    weft__options_copy(&options, sizeof options, given);
    TRY_NULL(weft__array_check(array, "array"));
    if (options.device.kind != WEFT_DEVICE_NONE && !weft__device_get(options.device))
        return NULL;
    exported *e = weft__allocate_zeroed(sizeof *e);
    if (!e)
        return NULL;
    e->array = source_of(array, &options, copied);
    const bool for_host = options.device.kind == WEFT_DEVICE_CPU;
    if (e->array && (flags || check_writable(e->array) == WEFT_OK) &&
        describe(e, for_host, (weft_dlpack_tensor *)(void *)((char *)e + tensor)) == WEFT_OK &&
        order(e, options.stream) == WEFT_OK)
        return e;
    weft_array_release(e->array);
    weft__free(e);
    return NULL;
}

weft_dlpack *weft_to_dlpack_with(weft_array *array, const weft_to_dlpack_options *options)
{
    bool copied;
    OPERATION("weft_to_dlpack");
    exported *e =
        export(array, options, offsetof(exported, managed.versioned.tensor), true, &copied);
    if (!e)
        return NULL;
    weft_dlpack *managed = &e->managed.versioned;
    managed->version.major = WEFT_DLPACK_MAJOR;
    managed->version.minor = WEFT_DLPACK_MINOR;
    managed->context = e;
    managed->deleter = delete_versioned;
    managed->flags =
        (copied ? WEFT_DLPACK_COPIED : 0) | (is_read_only(e->array) ? WEFT_DLPACK_READ_ONLY : 0);
    return managed;
}

weft_dlpack_unversioned *weft_to_dlpack_unversioned_with(weft_array *array,
                                                         const weft_to_dlpack_options *options)
{
    bool copied;
    OPERATION("weft_to_dlpack_unversioned");
    exported *e =
        export(array, options, offsetof(exported, managed.unversioned.tensor), false, &copied);
    if (!e)
        return NULL;
    e->managed.unversioned.context = e;
    e->managed.unversioned.deleter = delete_unversioned;
    return &e->managed.unversioned;
}
