/* Arrays into files. */
#include "core/allocate.h"
#include "core/dtype.h"
#include "core/view.h"
#include "file/file.h"
#include "ops/copy.h"
#include <string.h>

enum { PIECE = 4 << 20 }; /* bytes of what is not in C order on the host that are copied at once */

/* One piece, small enough for `staging`. */
static weft_status emit_piece(weft_array *piece, char *staging, weft__sink *sink, void *context)
{
    const size_t bytes = weft_array_bytes(piece);
    TRY(weft__copy_to_host(piece, staging, bytes));
    return sink(context, staging, bytes);
}

/* The elements [begin, begin + count) of the first axis. */
static weft_array *part_of(const weft_array *array, int64_t begin, int64_t count)
{
    weft_shape shape = array->shape;
    shape.size[0] = count;
    return weft__view_of(array, begin * array->stride[0], &shape, array->stride);
}

/* Without the first axis, which has one element. */
static weft_array *inner_of(const weft_array *array)
{
    weft_shape shape = {array->shape.ndim - 1, {0}};
    for (int k = 0; k < shape.ndim; k++)
        shape.size[k] = array->shape.size[k + 1];
    return weft__view_of(array, 0, &shape, array->stride + 1);
}

/* Halves until it is small: at most 64 levels for each axis. */
static weft_status emit_parts(weft_array *array, char *staging, weft__sink *sink, void *context)
{
    if (weft_array_bytes(array) <= PIECE)
        return emit_piece(array, staging, sink, context);
    const int64_t size = array->shape.size[0], half = size / 2;
    weft_array *first = size == 1 ? inner_of(array) : part_of(array, 0, half);
    weft_status status = first ? emit_parts(first, staging, sink, context) : weft_error_code();
    weft_array_release(first);
    if (status != WEFT_OK || size == 1)
        return status;
    weft_array *second = part_of(array, half, size - half);
    status = second ? emit_parts(second, staging, sink, context) : weft_error_code();
    weft_array_release(second);
    return status;
}

weft_status weft__array_emit(weft_array *array, weft__sink *sink, void *context)
{
    const size_t bytes = weft_array_bytes(array);
    if (bytes == 0)
        return WEFT_OK;
    if (weft_array_host_readable(array) && weft__array_contiguous(array)) {
        TRY(weft__buffer_wait(array->buffer, true, false));
        return sink(context, array->data, bytes);
    }
    char *staging = weft__allocate(bytes < PIECE ? bytes : PIECE);
    if (!staging)
        return weft_error_code();
    const weft_status status = emit_parts(array, staging, sink, context);
    weft__free(staging);
    return status;
}

static weft_status write_plain(void *output, const void *data, size_t bytes)
{
    return weft__output_write(output, data, bytes);
}

/* All axes in reverse order: the view that is contiguous if the array is in Fortran order. */
static weft_array *reversed(const weft_array *array)
{
    const int ndim = array->shape.ndim;
    weft_shape shape = {ndim, {0}};
    int64_t strides[WEFT_NDIM_MAX] = {0};
    for (int k = 0; k < ndim; k++) {
        shape.size[k] = array->shape.size[ndim - 1 - k];
        strides[k] = array->stride[ndim - 1 - k];
    }
    return weft__view_of(array, 0, &shape, strides);
}

/* Header and elements of one array. */
static weft_status emit_npy(weft_array *array, weft__sink *sink, void *context)
{
    char header[WEFT__NPY_ROOM];
    weft_array *turned = reversed(array);
    if (!turned)
        return weft_error_code();
    weft__npy npy = {.dtype = (weft_dtype)array->dtype, .shape = array->shape};
    npy.fortran = !weft__array_contiguous(array) && weft__array_contiguous(turned);
    weft_status status = sink(context, header, weft__npy_write(&npy, header));
    if (status == WEFT_OK)
        status = weft__array_emit(npy.fortran ? turned : array, sink, context);
    weft_array_release(turned);
    return status;
}

static weft_status save_npy(const char *path, weft_array *array)
{
    weft__output output;
    weft_status status = weft__output_open(&output, path);
    if (status == WEFT_OK)
        status = emit_npy(array, write_plain, &output);
    if (status == WEFT_OK)
        status = weft__output_commit(&output);
    weft__output_close(&output);
    return status;
}

static weft_status add_members(weft__zip_writer *writer, int count, const char *const *names,
                               weft_array *const *arrays)
{
    for (int k = 0; k < count; k++) {
        TRY(weft__zip_writer_begin(writer, names[k]));
        TRY(emit_npy(arrays[k], weft__zip_writer_add, writer));
        TRY(weft__zip_writer_end(writer));
    }
    return weft__zip_writer_finish(writer);
}

static weft_status save_npz(const char *path, int count, const char *const *names,
                            weft_array *const *arrays, bool compress)
{
    weft__output output;
    weft__zip_writer *writer = NULL;
    weft_status status = weft__output_open(&output, path);
    if (status == WEFT_OK && output.direct)
        status = FAIL_AT(WEFT_ERROR_UNSUPPORTED, "path",
                         "%.300s: is no plain file; an NPZ file cannot be written in one go", path);
    if (status == WEFT_OK) {
        writer = weft__zip_writer_new(&output, compress);
        status = writer ? add_members(writer, count, names, arrays) : weft_error_code();
    }
    if (status == WEFT_OK)
        status = weft__output_commit(&output);
    weft__zip_writer_free(writer);
    weft__output_close(&output);
    return status;
}

static bool ends_with(const char *text, const char *end)
{
    const size_t length = text ? strlen(text) : 0, part = strlen(end);
    return length >= part && strcmp(text + length - part, end) == 0;
}

static weft_status refuse_picture(const char *path)
{
    if (!ends_with(path, ".png") && !ends_with(path, ".PNG"))
        return WEFT_OK;
    return FAIL_AT(WEFT_ERROR_ARGUMENT, "path",
                   "%.300s: pictures are written by weft_save_png, files of numbers are named .npy "
                   "or .npz",
                   path);
}

weft_status weft_save_with(const char *path, weft_array *array, const weft_save_options *given)
{
    weft_save_options options = {.struct_size = sizeof options};
    OPERATION("weft_save");
    weft__options_copy(&options, sizeof options, given);
    TRY(weft__array_check(array, "array"));
    const char *name = options.name ? options.name : "arr_0";
    if (ends_with(path, ".npz"))
        return save_npz(path, 1, &name, &array, options.compress);
    TRY(refuse_picture(path));
    if (options.compress || options.name)
        return FAIL_AT(WEFT_ERROR_ARGUMENT, options.name ? "name" : "compress",
                       "an NPY file has no %s; save it as .npz",
                       options.name ? "names" : "compression");
    return save_npy(path, array);
}

static weft_status check_all(int count, const char *const *names, weft_array *const *arrays)
{
    if (count < 0 || (count > 0 && (!names || !arrays)))
        return FAIL_AT(WEFT_ERROR_ARGUMENT, "count",
                       "count is %d, names and arrays are at %p and %p; as many of both were "
                       "expected",
                       count, (const void *)names, (const void *)arrays);
    for (int k = 0; k < count; k++) {
        TRY(weft__array_check(arrays[k], "arrays"));
        for (int i = 0; i <= k; i++)
            if (!names[k] || !*names[k] || (i < k && strcmp(names[i], names[k]) == 0))
                return FAIL_AT(WEFT_ERROR_ARGUMENT, "names",
                               "name %d is '%.60s'; each array needs a name of its own", k,
                               names[k] ? names[k] : "");
    }
    return WEFT_OK;
}

weft_status weft_save_all(const char *path, int count, const char *const *names,
                          weft_array *const *arrays, const weft_save_options *given)
{
    weft_save_options options = {.struct_size = sizeof options};
    OPERATION("weft_save_all");
    weft__options_copy(&options, sizeof options, given);
    TRY(check_all(count, names, arrays));
    TRY(refuse_picture(path));
    return save_npz(path, count, names, arrays, options.compress);
}

struct weft_writer {
    weft__output output;
    weft__npy npy;
    size_t given; /* bytes of elements */
    bool broken;  /* a piece was written in part */
};

static weft_status fail_broken(void)
{
    return FAIL(WEFT_ERROR_SYSTEM,
                "a piece was written only in part before; begin again with a new writer");
}

weft_writer *weft_writer_new(const char *path, weft_dtype dtype, weft_shape shape)
{
    char header[WEFT__NPY_ROOM];
    weft__npy npy = {.dtype = dtype, .shape = shape};
    OPERATION("weft_writer_new");
    if (weft_dtype_size(dtype) == 0)
        return weft__fail_dtype(dtype), NULL;
    TRY_NULL(refuse_picture(path));
    if (ends_with(path, ".npz"))
        return FAIL_AT_NULL(WEFT_ERROR_UNSUPPORTED, "path",
                            "%.300s: only NPY files are written in pieces; name it .npy, or save "
                            "the whole array with weft_save",
                            path);
    TRY_NULL(weft__shape_bytes(&shape, weft_dtype_size(dtype), &npy.bytes));
    weft_writer *writer = weft__allocate_zeroed(sizeof *writer);
    if (!writer)
        return NULL;
    writer->npy = npy;
    if (weft__output_open(&writer->output, path) == WEFT_OK &&
        weft__output_write(&writer->output, header, weft__npy_write(&npy, header)) == WEFT_OK)
        return writer;
    weft_writer_cancel(writer);
    return NULL;
}

weft_status weft_writer_add(weft_writer *writer, weft_array *piece)
{
    OPERATION("weft_writer_add");
    if (!writer)
        return weft__fail_null("writer");
    if (writer->broken)
        return fail_broken();
    TRY(weft__array_check(piece, "piece"));
    if (piece->dtype != writer->npy.dtype)
        return FAIL_AT(WEFT_ERROR_DTYPE, "piece", "the piece is of %s, the file of %s; cast it",
                       weft_dtype_name((weft_dtype)piece->dtype),
                       weft_dtype_name(writer->npy.dtype));
    if (weft_array_bytes(piece) > writer->npy.bytes - writer->given)
        return FAIL_AT(WEFT_ERROR_SHAPE, "piece",
                       "the piece has %zu bytes, and the file of shape %s has room for %zu more",
                       weft_array_bytes(piece), weft__shape_text_of(&writer->npy.shape).text,
                       writer->npy.bytes - writer->given);
    const uint64_t before = writer->output.written;
    const weft_status status = weft__array_emit(piece, write_plain, &writer->output);
    writer->broken = status != WEFT_OK && writer->output.written != before;
    writer->given += status == WEFT_OK ? weft_array_bytes(piece) : 0;
    return status;
}

static weft_status check_whole(const weft_writer *writer)
{
    if (writer->broken)
        return fail_broken();
    const size_t missing = writer->npy.bytes - writer->given;
    return missing ? FAIL(WEFT_ERROR_SHAPE, "%zu of the %zu bytes of shape %s were not given",
                          missing, writer->npy.bytes, weft__shape_text_of(&writer->npy.shape).text)
                   : WEFT_OK;
}

weft_status weft_writer_finish(weft_writer *writer)
{
    OPERATION("weft_writer_finish");
    if (!writer)
        return weft__fail_null("writer");
    weft_status status = check_whole(writer);
    if (status == WEFT_OK)
        status = weft__output_commit(&writer->output);
    weft_writer_cancel(writer);
    return status;
}

void weft_writer_cancel(weft_writer *writer)
{
    if (!writer)
        return;
    weft__output_close(&writer->output);
    weft__free(writer);
}
