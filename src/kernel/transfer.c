/* Moving elements between devices: rows as they lie; or packed on the one side, copied as bytes,
 * unpacked on the other. */
#include "core/device.h"
#include "core/warning.h"
#include "kernel/move.h"
#include "trace/trace.h"

static bool is_on_host(const weft_array *array) { return weft__array_reachable(array, WEFT_CPU); }

/* Where work on the array goes; what is the host's goes to the CPU. */
static weft_stream *stream_of(const weft_array *array)
{
    if (array->stream && !is_on_host(array))
        return array->stream;
    return weft__stream_current(is_on_host(array) ? WEFT_CPU : array->buffer->device);
}

/* A new array in C order where the other one is. */
static weft_array *new_beside(const weft_array *array, const weft_shape *shape, weft_dtype dtype)
{
    const weft_options options = {
        .struct_size = sizeof options,
        .device = is_on_host(array) ? WEFT_CPU : array->buffer->device,
    };
    return weft__array_new(shape, dtype, &options, NULL, NULL);
}

/* The source's elements in C order and of the target's dtype, where the source is. */
static weft_array *packed(weft_array *source, weft_dtype dtype)
{
    if (source->dtype == dtype && weft__array_contiguous(source))
        return weft_array_retain(source);
    weft_array *copy = new_beside(source, &source->shape, dtype);
    weft_stream *stream = copy ? stream_of(source) : NULL;
    if (stream && weft__move(copy, source, stream) == WEFT_OK)
        return copy;
    weft_array_release(copy);
    return NULL;
}

/* Bytes of one array to another, of which one is the stream's device's. */
static weft_status copy_bytes(weft_array *target, size_t to, const weft_array *source, size_t from,
                              size_t bytes, const weft__rows *rows, weft_stream *stream)
{
    weft__buffer *read = source->buffer, *written = target->buffer;
    const bool whole = bytes == written->elements && weft__array_contiguous(target);
    const weft__use uses[] = {{read, atomic_load(&read->generation), false, false},
                              {written, atomic_load(&written->generation), true, whole}};
    weft__work work = {.kind = WEFT__WORK_COPY,
                       .source = weft__trace_source,
                       .operation = weft__operation(),
                       .uses = uses,
                       .uses_count = 2,
                       .of.copy = {target->data + to, source->data + from, bytes, *rows}};
    return weft__submit(stream, &work);
}

static weft_status copy_part(weft_array *target, size_t to, const weft_array *source, size_t from,
                             size_t bytes, weft_stream *stream)
{
    return copy_bytes(target, to, source, from, bytes, &(weft__rows){.width = 0}, stream);
}

weft_status weft__transfer_bytes(weft_array *target, const weft_array *source, weft_stream *stream)
{
    return copy_part(target, 0, source, 0, weft_array_bytes(source), stream);
}

/* The axes of two arrays of one shape, those that can be taken for one together; the innermost is
 * the bytes that are in one piece in both. */
typedef struct axes {
    int count;
    int64_t size[WEFT_NDIM_MAX + 1], dst[WEFT_NDIM_MAX + 1], src[WEFT_NDIM_MAX + 1];
} axes;

static void axes_of(const weft_array *target, const weft_array *source, axes *a)
{
    a->count = 1;
    a->size[0] = (int64_t)weft_dtype_size((weft_dtype)target->dtype);
    a->dst[0] = a->src[0] = 1;
    for (int k = target->shape.ndim - 1; k >= 0; k--) {
        const int last = a->count - 1;
        const int64_t size = target->shape.size[k], dst = target->stride[k];
        const int64_t src = source->stride[k];
        if (size == 1)
            continue;
        if (dst == a->size[last] * a->dst[last] && src == a->size[last] * a->src[last]) {
            a->size[last] *= size;
            continue;
        }
        a->size[a->count] = size;
        a->dst[a->count] = dst;
        a->src[a->count++] = src;
    }
}

/* Whether slices follow rows as drivers want it. */
static bool pitch_of(const axes *a, const int64_t *stride, weft__pitch *pitch)
{
    const int64_t row = stride[1], rows = a->size[1], slice = a->count > 2 ? stride[2] : row * rows;
    *pitch = (weft__pitch){(size_t)row, (size_t)slice};
    return row >= a->size[0] && row <= INT32_MAX && slice >= row * rows && slice % row == 0;
}

/* Rows of at least this many bytes are copied as they lie: of shorter ones kernels that pack them
 * are faster. */
enum { WIDE = 256 };

bool weft__transfer_has_rows(const weft_array *target, const weft_array *source, weft__rows *rows)
{
    axes a;
    if (target->dtype != source->dtype || weft_array_count(target) == 0 ||
        !weft__shape_same(&target->shape, &source->shape))
        return false;
    axes_of(target, source, &a);
    if (a.count < 2 || a.count > 3 || a.size[0] < WIDE)
        return false;
    rows->width = (size_t)a.size[0];
    rows->rows = (size_t)a.size[1];
    rows->slices = a.count > 2 ? (size_t)a.size[2] : 1;
    return pitch_of(&a, a.dst, &rows->dst) && pitch_of(&a, a.src, &rows->src);
}

weft_status weft__transfer_rows(weft_array *target, const weft_array *source,
                                const weft__rows *rows, weft_stream *stream)
{
    return copy_bytes(target, 0, source, 0, weft_array_bytes(source), rows, stream);
}

/* Whether one device's driver copies from the other's memory by itself. */
static bool is_direct(const weft_array *target, const weft_array *source)
{
    return target->buffer->device.kind == WEFT_DEVICE_CUDA &&
           source->buffer->device.kind == WEFT_DEVICE_CUDA;
}

static const size_t PIECE = 8 << 20;

/* Memory of the host between two devices; pinned, which takes a while to get, if there is much to
 * copy and one of them knows how. */
static weft_array *new_between(const weft_array *target, const weft_array *source, size_t bytes)
{
    const weft_shape shape = {1, {(int64_t)bytes}};
    weft_options options = {.struct_size = sizeof options, .device = WEFT_CPU};
    const weft_device ends[] = {target->buffer->device, source->buffer->device};
    for (int k = 0; k < 2; k++)
        if (ends[k].kind == WEFT_DEVICE_CUDA && bytes == PIECE) {
            options.device = ends[k];
            options.memory = WEFT_MEMORY_HOST;
        }
    return weft__array_new(&shape, WEFT_U8, &options, NULL, NULL);
}

/* Two devices meet in the host's memory, piece by piece: while one is written there, the one before
 * is read. The order of the pieces is that of the memory in between, so that nobody waits. */
static weft_status copy_pieces(weft_array *target, const weft_array *source, weft_stream *from,
                               weft_stream *stream)
{
    enum { PIECES = 3 };
    const size_t bytes = weft_array_bytes(source);
    weft_array *between[PIECES] = {NULL};
    weft_status status = WEFT_OK;
    for (size_t at = 0, k = 0; at < bytes && status == WEFT_OK; at += PIECE, k++) {
        const size_t part = bytes - at < PIECE ? bytes - at : PIECE;
        weft_array **slot = &between[k % PIECES];
        if (!*slot && !(*slot = new_between(target, source, part)))
            status = weft_error_code();
        if (status == WEFT_OK)
            status = copy_part(*slot, 0, source, at, part, from);
        if (status == WEFT_OK)
            status = copy_part(target, at, *slot, 0, part, stream);
    }
    for (int k = 0; k < PIECES; k++)
        weft_array_release(between[k]);
    return status;
}

/* The end that is the host's is not pinned for the other. */
static void warn_of_copy(const weft_array *target, const weft_array *source)
{
    enum { FEW = 64 << 10 };
    const weft_array *host = is_on_host(source) ? source : target;
    const weft_device device = (host == source ? target : source)->buffer->device;
    if (!is_on_host(host) || weft_device_equal(host->buffer->device, device) ||
        weft_array_bytes(source) < FEW)
        return;
    weft__warn(WEFT_WARNING_PAGEABLE_COPY,
               "%s: %zu bytes are copied %s %s %s memory that is not pinned; make it with .device "
               "= %s and .memory = WEFT_MEMORY_HOST",
               weft__operation(), weft_array_bytes(source), host == source ? "to" : "from",
               weft_device_id(device), host == source ? "from" : "to", weft_device_id(device));
}

/* From one array in C order to another of the same shape and dtype, without waiting. */
static weft_status copy_packed(weft_array *target, weft_array *source, weft_stream *stream)
{
    if (weft__warnings_are_on())
        warn_of_copy(target, source);
    if (is_on_host(source) || is_direct(target, source))
        return weft__transfer_bytes(target, source, stream);
    weft_stream *from = stream_of(source);
    if (!from)
        return weft_error_code();
    return is_on_host(target) ? weft__transfer_bytes(target, source, from)
                              : copy_pieces(target, source, from, stream);
}

/* Rows as they lie, where one device can reach both ends. */
static bool takes_rows(const weft_array *target, const weft_array *source, weft__rows *rows)
{
    return (is_on_host(target) || is_on_host(source) || is_direct(target, source)) &&
           weft__transfer_has_rows(target, source, rows);
}

static weft_status copy_rows(weft_array *target, weft_array *source, const weft__rows *rows,
                             weft_stream *stream)
{
    if (weft__warnings_are_on())
        warn_of_copy(target, source);
    if (is_on_host(target) && !(stream = stream_of(source)))
        return weft_error_code();
    return weft__transfer_rows(target, source, rows, stream);
}

static weft_status unpack(weft_array *target, weft_array *source, weft_stream *stream)
{
    if (weft__shape_same(&target->shape, &source->shape) && weft__array_contiguous(target))
        return copy_packed(target, source, stream);
    weft_array *copy = new_beside(target, &source->shape, (weft_dtype)target->dtype);
    weft_status status = copy ? copy_packed(copy, source, stream) : weft_error_code();
    if (status == WEFT_OK)
        status = weft__move(target, copy, stream);
    weft_array_release(copy);
    return status;
}

static weft_status repack(weft_array *target, weft_array *source, weft_stream *stream)
{
    weft_array *elements = packed(source, (weft_dtype)target->dtype);
    if (!elements)
        return weft_error_code();
    const weft_status status = unpack(target, elements, stream);
    weft_array_release(elements);
    return status;
}

weft_status weft__transfer(weft_array *target, weft_array *source, weft_stream *stream)
{
    if (!weft__array_reachable(target, stream->device) && !(stream = stream_of(target)))
        return weft_error_code();
    if (is_on_host(target) && is_on_host(source)) { /* lent, or memory that both sides can use */
        weft_stream *here = weft__stream_current(WEFT_CPU);
        return here ? weft__move(target, source, here) : weft_error_code();
    }
    if (is_on_host(target) && !stream->async)
        TRY(weft__waits_check());
    weft__rows rows;
    TRY(takes_rows(target, source, &rows) ? copy_rows(target, source, &rows, stream)
                                          : repack(target, source, stream));
    return stream->async ? WEFT_OK : weft__buffer_wait(target->buffer, true, false);
}
