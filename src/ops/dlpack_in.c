/* DLPack in: arrays over the memory of tensors. */
#include "core/device.h"
#include "core/dtype.h"
#include "ops/dlpack.h"
#include <string.h>

/* No memory reaches this far: sums of two such offsets do not overflow. */
static const int64_t FAR = INT64_MAX / 4;

/* Where the tensor's memory is, and what is known about it. */
typedef struct place {
    weft_device device;
    weft_memory memory;
    char *base;   /* where its memory begins, if `bytes` is known */
    char *first;  /* the first element */
    size_t bytes; /* 0: not known */
} place;

static weft_status find_dtype(const weft_dlpack_tensor *tensor, weft_dtype *dtype)
{
    *dtype = weft__dlpack_dtype_named(tensor->dtype.code, tensor->dtype.bits);
    if (*dtype && tensor->dtype.lanes == 1)
        return WEFT_OK;
    return FAIL_AT(WEFT_ERROR_DTYPE, "tensor",
                   "the tensor's elements are of DLPack's type code %d with %d bits and %d lanes; "
                   "bool (8 bits), integers of 8 to 64, floats of 16 to 64, bfloat of 16 and "
                   "complex of 64 and 128 bits, of one lane, can be taken; convert it first",
                   tensor->dtype.code, tensor->dtype.bits, tensor->dtype.lanes);
}

static weft_status find_shape(const weft_dlpack_tensor *tensor, weft_shape *shape, int64_t *count)
{
    if (tensor->ndim < 0 || tensor->ndim > WEFT_NDIM_MAX)
        return FAIL_AT(WEFT_ERROR_SHAPE, "tensor", "the tensor has %d dimensions; 0 to %d can be",
                       (int)tensor->ndim, WEFT_NDIM_MAX);
    if (tensor->ndim > 0 && !tensor->shape)
        return FAIL_AT(WEFT_ERROR_ARGUMENT, "tensor", "the tensor of %d dimensions has no shape",
                       (int)tensor->ndim);
    shape->ndim = tensor->ndim;
    for (int k = 0; k < tensor->ndim; k++)
        shape->size[k] = tensor->shape[k];
    return weft__shape_check(shape, count);
}

/* In bytes; C order where none are given. */
static weft_status find_strides(const weft_dlpack_tensor *tensor, const weft_shape *shape,
                                size_t item, int64_t *strides)
{
    size_t bytes;
    if (!tensor->strides)
        return weft__shape_strides(shape, item, 1, strides, &bytes);
    for (int k = 0; k < shape->ndim; k++)
        if (__builtin_mul_overflow(tensor->strides[k], (int64_t)item, &strides[k]))
            return FAIL_AT(WEFT_ERROR_SHAPE, "tensor",
                           "stride %lld of axis %d is beyond all memory",
                           (long long)tensor->strides[k], k);
    return WEFT_OK;
}

/* The bytes that elements reach, from the first one: [*low, *high). Nothing if there are none. */
static weft_status reach(const weft_shape *shape, int64_t count, size_t item,
                         const int64_t *strides, int64_t *low, int64_t *high)
{
    bool overflow = false;
    *low = 0;
    *high = count ? (int64_t)item : 0;
    for (int k = 0; k < shape->ndim && count; k++) {
        int64_t span;
        overflow |= __builtin_mul_overflow(shape->size[k] - 1, strides[k], &span);
        overflow |= __builtin_add_overflow(*(span < 0 ? low : high), span, span < 0 ? low : high);
    }
    if (overflow || *low < -FAR || *high > FAR)
        return FAIL_AT(WEFT_ERROR_SHAPE, "tensor",
                       "elements of shape %s with these strides reach beyond all memory",
                       weft__shape_text_of(shape).text);
    return WEFT_OK;
}

static weft_status find_device(const weft_dlpack_tensor *tensor, place *p)
{
    static const struct {
        int32_t type;
        weft_device_kind kind;
        weft_memory memory;
    } table[] = {{WEFT_DLPACK_CPU, WEFT_DEVICE_CPU, WEFT_MEMORY_DEVICE},
                 {WEFT_DLPACK_CUDA, WEFT_DEVICE_CUDA, WEFT_MEMORY_DEVICE},
                 {WEFT_DLPACK_CUDA_HOST, WEFT_DEVICE_CUDA, WEFT_MEMORY_HOST},
                 {WEFT_DLPACK_CUDA_MANAGED, WEFT_DEVICE_CUDA, WEFT_MEMORY_SHARED},
                 {WEFT_DLPACK_OPENCL, WEFT_DEVICE_OPENCL, WEFT_MEMORY_DEVICE}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (table[i].type != tensor->device.type)
            continue;
        bool cpu = table[i].kind == WEFT_DEVICE_CPU; /* others number what they call the CPU */
        p->device = (weft_device){table[i].kind, cpu ? 0 : tensor->device.index};
        p->memory = table[i].memory;
        return weft__device_get(p->device) ? WEFT_OK : WEFT_ERROR_DEVICE;
    }
    return FAIL_AT(WEFT_ERROR_DEVICE, "tensor",
                   "the tensor is on a device of DLPack's type %d; CPU (1), CUDA (2), its pinned "
                   "(3) and managed (13) memory and OpenCL (4) can be taken; bring it to one of "
                   "them first",
                   (int)tensor->device.type);
}

/* The address of the first element. A handle instead of an address is wrapped, to be released with
 * the buffer. */
static weft_status find_memory(const weft_dlpack_tensor *tensor, bool empty, place *p)
{
    const weft__device *device = weft__device_get(p->device);
    void *base = tensor->data;
    if (!base && !empty)
        return FAIL_AT(WEFT_ERROR_ARGUMENT, "tensor", "the tensor has elements but no data");
    if (tensor->byte_offset > (uint64_t)FAR)
        return FAIL_AT(WEFT_ERROR_ARGUMENT, "tensor", "a byte_offset of %llu is beyond all memory",
                       (unsigned long long)tensor->byte_offset);
    if (base && device->backend->memory_wrap)
        TRY(device->backend->memory_wrap(p->device.index, tensor->data, &base, &p->bytes));
    p->base = base;
    p->first = (char *)((uintptr_t)base + tensor->byte_offset);
    return WEFT_OK;
}

static weft__buffer *new_buffer(const place *p, int64_t low, int64_t high)
{
    const weft__backend *backend = weft__device_get(p->device)->backend;
    char *begin = p->bytes || !p->base ? p->base : p->first + low;
    weft__buffer *buffer = weft__buffer_foreign(p->device, p->memory, begin,
                                                p->bytes ? p->bytes : (size_t)(high - low));
    if (!buffer && backend->memory_wrap)
        backend->memory_release(p->device.index, p->memory, p->base, p->bytes);
    return buffer;
}

static weft_status check_memory(const weft_array *array, const place *p, int64_t low, int64_t high)
{
    size_t item = weft_dtype_size((weft_dtype)array->dtype);
    bool is_complex = array->dtype == WEFT_C64 || array->dtype == WEFT_C128;
    size_t part = is_complex ? item / 2 : item;
    int64_t offset = p->first - p->base;
    if ((uintptr_t)p->first % part != 0)
        return FAIL_AT(WEFT_ERROR_ARGUMENT, "tensor",
                       "the first element at %p is not aligned to the %zu bytes of %s",
                       (void *)p->first, part, weft_dtype_name((weft_dtype)array->dtype));
    if (p->bytes && high > low && (offset + low < 0 || offset + high > (int64_t)p->bytes))
        return FAIL_AT(WEFT_ERROR_SHAPE, "tensor",
                       "elements reach bytes %lld to %lld of a memory object of %zu",
                       (long long)(offset + low), (long long)(offset + high), p->bytes);
    return WEFT_OK;
}

static weft_array *import(const weft_dlpack_tensor *tensor)
{
    weft_shape shape = {0, {0}};
    weft_dtype dtype;
    int64_t strides[WEFT_NDIM_MAX] = {0}, count, low, high;
    place p = {.bytes = 0};
    TRY_NULL(find_dtype(tensor, &dtype));
    size_t item = weft_dtype_size(dtype);
    TRY_NULL(find_shape(tensor, &shape, &count));
    TRY_NULL(find_strides(tensor, &shape, item, strides));
    TRY_NULL(reach(&shape, count, item, strides, &low, &high));
    TRY_NULL(find_device(tensor, &p));
    TRY_NULL(find_memory(tensor, count == 0, &p));
    weft__buffer *buffer = new_buffer(&p, low, high);
    weft_array *array = buffer ? weft__array_over(buffer, dtype, &shape, strides) : NULL;
    if (!array)
        return NULL;
    array->data = p.first;
    array->request = (weft__request){.device = p.device, .memory = p.memory};
    array->overlapping = weft__array_overlaps(array);
    if (check_memory(array, &p, low, high) == WEFT_OK)
        return array;
    weft_array_release(array);
    return NULL;
}

/* In order after what the stream has; takes the array over. */
static weft_array *ordered(weft_array *array, const weft_from_dlpack_options *given)
{
    weft_from_dlpack_options options = {.struct_size = sizeof options};
    weft__options_copy(&options, sizeof options, given);
    if (!array || !options.stream ||
        weft__dlpack_hand_over(array->buffer, options.stream, true) == WEFT_OK)
        return array;
    weft_array_release(array);
    return NULL;
}

/* From here on the buffer deletes the tensor. */
static weft_array *take(weft_array *array, const weft_from_dlpack_options *options,
                        weft_deleter *deleter, void *managed)
{
    array = ordered(array, options);
    if (!array)
        return NULL;
    array->buffer->deleter_context = managed;
    array->buffer->deleter = deleter;
    return array;
}

static void delete_versioned(void *context, void *data)
{
    weft_dlpack *managed = context;
    (void)data;
    if (managed->deleter)
        managed->deleter(managed);
}

static void delete_unversioned(void *context, void *data)
{
    weft_dlpack_unversioned *managed = context;
    (void)data;
    if (managed->deleter)
        managed->deleter(managed);
}

/* The tensor is ours also when that failed; what its deleter does leaves the record alone. */
static weft_array *ended(weft_array *array, weft_deleter *deleter, void *managed)
{
    const weft_error error = *weft_error_last();
    deleter(managed, NULL);
    weft__error_restore(&error);
    return array;
}

static weft_array *view_of_own(const weft_array *own, bool read_only,
                               const weft_from_dlpack_options *options)
{
    weft_array *view = weft__array_view(own);
    if (view)
        view->read_only |= read_only;
    return ordered(view, options);
}

weft_array *weft_from_dlpack_with(weft_dlpack *managed, const weft_from_dlpack_options *options)
{
    OPERATION("weft_from_dlpack");
    if (!managed)
        return weft__fail_null("managed"), NULL;
    if (managed->version.major != WEFT_DLPACK_MAJOR) { /* deleters stay where they are for ever */
        FAIL_AT(WEFT_ERROR_UNSUPPORTED, "managed",
                "the tensor is of DLPack %u.%u; %d.x can be taken", managed->version.major,
                managed->version.minor, WEFT_DLPACK_MAJOR);
        return ended(NULL, delete_versioned, managed);
    }
    const bool read_only = managed->flags & WEFT_DLPACK_READ_ONLY;
    const weft_array *own = weft__dlpack_own(managed);
    if (own)
        return ended(view_of_own(own, read_only, options), delete_versioned, managed);
    weft_array *array = take(import(&managed->tensor), options, delete_versioned, managed);
    if (!array)
        return ended(NULL, delete_versioned, managed);
    array->read_only = read_only;
    return array;
}

weft_array *weft_from_dlpack_unversioned_with(weft_dlpack_unversioned *managed,
                                              const weft_from_dlpack_options *options)
{
    OPERATION("weft_from_dlpack_unversioned");
    if (!managed)
        return weft__fail_null("managed"), NULL;
    const weft_array *own = weft__dlpack_own_unversioned(managed);
    if (own)
        return ended(view_of_own(own, false, options), delete_unversioned, managed);
    weft_array *array = take(import(&managed->tensor), options, delete_unversioned, managed);
    return array ? array : ended(NULL, delete_unversioned, managed);
}
