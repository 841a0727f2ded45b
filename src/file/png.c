/* Pictures of 2-D arrays as PNG: one byte a pixel, grey or the number of a colour. */
#include "file/png.h"
#include "core/allocate.h"
#include "core/dtype.h"
#include "file/zlib.h"
#include "ops/copy.h"
#include <math.h>
#include <string.h>

enum {
    COLOURS = 255, /* and one for NaN */
    GREYS = 256,
    BLOCK = 32 << 10,
    CHUNK_MOST = BLOCK + 16,
    ADLER = 65521
};

typedef struct picture {
    weft__output output;
    const weft__zlib *zlib; /* NULL: blocks are stored as they are */
    weft__zstream stream;
    uint32_t low, high; /* the two halves of Adler-32 */
    size_t filled;
    unsigned char block[BLOCK];
} picture;

static unsigned char *put_big(unsigned char *at, uint32_t value)
{
    for (int k = 0; k < 4; k++)
        at[k] = (unsigned char)(value >> (24 - 8 * k) & 255);
    return at + 4;
}

static weft_status write_chunk(picture *p, const char *type, const void *data, size_t bytes)
{
    unsigned char chunk[CHUNK_MOST + 12], *at = put_big(chunk, (uint32_t)bytes);
    memcpy(at, type, 4);
    if (bytes > 0)
        memcpy(at + 4, data, bytes);
    (void)put_big(at + 4 + bytes, weft__crc32(0, at, 4 + bytes));
    return weft__output_write(&p->output, chunk, bytes + 12);
}

/* What was gathered, as a stored block of deflate in a chunk of its own. */
static weft_status store_block(picture *p)
{
    unsigned char chunk[CHUNK_MOST], *at = chunk;
    const unsigned count = (unsigned)p->filled;
    *at++ = 0;
    *at++ = (unsigned char)(count & 255);
    *at++ = (unsigned char)(count >> 8);
    *at++ = (unsigned char)(~count & 255);
    *at++ = (unsigned char)(~count >> 8 & 255);
    memcpy(at, p->block, count);
    p->filled = 0;
    return write_chunk(p, "IDAT", chunk, (size_t)(at - chunk) + count);
}

static weft_status store(picture *p, const unsigned char *data, size_t bytes)
{
    for (size_t k = 0; k < bytes; k++) {
        p->low = (p->low + data[k]) % ADLER;
        p->high = (p->high + p->low) % ADLER;
        p->block[p->filled++] = data[k];
        if (p->filled == BLOCK)
            TRY(store_block(p));
    }
    return WEFT_OK;
}

static weft_status deflate_row(picture *p, const unsigned char *data, size_t bytes, int flush)
{
    int code;
    p->stream.next_in = data;
    p->stream.avail_in = (unsigned)bytes;
    do {
        p->stream.next_out = p->block + p->filled;
        p->stream.avail_out = (unsigned)(BLOCK - p->filled);
        code = p->zlib->deflate(&p->stream, flush);
        p->filled = BLOCK - p->stream.avail_out;
        if (p->filled == BLOCK || (flush == WEFT__Z_FINISH && p->filled > 0)) {
            TRY(write_chunk(p, "IDAT", p->block, p->filled));
            p->filled = 0;
        }
    } while (p->stream.avail_in > 0 || (flush == WEFT__Z_FINISH && code == WEFT__Z_OK));
    return WEFT_OK;
}

static weft_status write_row(picture *p, const unsigned char *row, size_t bytes)
{
    return p->zlib ? deflate_row(p, row, bytes, WEFT__Z_NO_FLUSH) : store(p, row, bytes);
}

static weft_status begin_rows(picture *p)
{
    p->low = 1;
    p->zlib = weft__zlib_get();
    if (!p->zlib)
        return write_chunk(p, "IDAT", "\x78\x01", 2);
    const weft_status status = weft__deflate_begin(&p->stream, 15);
    if (status != WEFT_OK)
        p->zlib = NULL; /* there is nothing to end */
    return status;
}

static weft_status end_rows(picture *p)
{
    unsigned char end[9] = {1, 0, 0, 255, 255};
    if (p->zlib)
        return deflate_row(p, end, 0, WEFT__Z_FINISH);
    TRY(store_block(p));
    (void)put_big(end + 5, p->high << 16 | p->low);
    return write_chunk(p, "IDAT", end, sizeof end);
}

static weft_status write_begin(picture *p, const weft_shape *shape, weft_colours colours)
{
    unsigned char header[13], rgb[3 * (COLOURS + 1)] = {0}, alpha[COLOURS + 1];
    const bool grey = colours == WEFT_COLOURS_GREY;
    (void)put_big(put_big(header, (uint32_t)shape->size[1]), (uint32_t)shape->size[0]);
    memcpy(header + 8, grey ? "\10\0\0\0" : "\10\3\0\0", 5);
    TRY(weft__output_write(&p->output, "\x89PNG\r\n\x1a\n", 8));
    TRY(write_chunk(p, "IHDR", header, sizeof header));
    if (grey)
        return WEFT_OK;
    weft__colours_fill(colours, COLOURS, rgb);
    memset(alpha, 255, COLOURS);
    alpha[COLOURS] = 0;
    TRY(write_chunk(p, "PLTE", rgb, sizeof rgb));
    return write_chunk(p, "tRNS", alpha, sizeof alpha);
}

/* One byte for each element: a level, or what NaN has. */
static void paint(const double *values, int64_t count, const weft_png_options *options,
                  unsigned char *row)
{
    const bool grey = options->colours == WEFT_COLOURS_GREY;
    const int levels = grey ? GREYS : COLOURS;
    /* Halves, where no f64 has the difference; and 1 may be lost beside a large value. */
    const double part = isfinite(options->high - options->low) ? 1 : 0.5;
    const double low = part * options->low, difference = part * options->high - low;
    const double range = difference != 0 ? difference : 1;
    row[0] = 0; /* no filter */
    for (int64_t k = 0; k < count; k++) {
        const double level = (part * values[k] - low) / range * levels;
        row[k + 1] = (unsigned char)(isnan(level)      ? (grey ? 0 : COLOURS)
                                     : level >= levels ? levels - 1
                                     : level > 0       ? (int)level
                                                       : 0);
    }
}

static weft_status write_rows(picture *p, const double *values, const weft_shape *shape,
                              const weft_png_options *options)
{
    const int64_t columns = shape->size[1];
    unsigned char *row = weft__allocate((size_t)columns + 1);
    weft_status status = row ? begin_rows(p) : weft_error_code();
    for (int64_t k = 0; status == WEFT_OK && k < shape->size[0]; k++) {
        paint(values + k * columns, columns, options, row);
        status = write_row(p, row, (size_t)columns + 1);
    }
    if (status == WEFT_OK)
        status = end_rows(p);
    if (p->zlib)
        (void)p->zlib->deflate_end(&p->stream);
    weft__free(row);
    return status;
}

static weft_status write_picture(picture *p, const char *path, const weft_array *values,
                                 const weft_png_options *options)
{
    TRY(weft__output_open(&p->output, path));
    TRY(write_begin(p, &values->shape, options->colours));
    TRY(write_rows(p, (const double *)(const void *)values->data, &values->shape, options));
    TRY(write_chunk(p, "IEND", NULL, 0));
    return weft__output_commit(&p->output);
}

static void find_range(const weft_array *values, weft_png_options *options)
{
    const double *data = (const double *)(const void *)values->data;
    double low = INFINITY, high = -INFINITY;
    for (int64_t k = 0; k < weft__array_count(values); k++)
        if (isfinite(data[k])) {
            low = data[k] < low ? data[k] : low;
            high = data[k] > high ? data[k] : high;
        }
    options->low = low <= high ? low : 0;
    options->high = low < high ? high : options->low + 1;
}

static weft_status check(const weft_array *array, const weft_png_options *options)
{
    TRY(weft__array_check(array, "array"));
    const weft_shape *shape = &array->shape;
    if (shape->ndim != 2 || shape->size[0] < 1 || shape->size[1] < 1 ||
        shape->size[0] > INT32_MAX || shape->size[1] > INT32_MAX - 1)
        return FAIL_AT(WEFT_ERROR_SHAPE, "array",
                       "the array has shape %s; a picture has two axes, rows and columns, each at "
                       "least 1 and below 2^31",
                       weft__shape_text_of(shape).text);
    if (weft__dtype_rank((weft_dtype)array->dtype) == WEFT__RANK_COMPLEX)
        return FAIL_AT(WEFT_ERROR_DTYPE, "array",
                       "the array is of %s; save its abs, real or imag instead",
                       weft_dtype_name((weft_dtype)array->dtype));
    if (!weft__colours_known(options->colours))
        return FAIL_AT(WEFT_ERROR_ARGUMENT, "colours", "%d is none of weft_colours",
                       (int)options->colours);
    if (!isfinite(options->high - options->low))
        return FAIL_AT(WEFT_ERROR_ARGUMENT, "low",
                       "low is %g and high %g; finite numbers with a "
                       "finite difference were expected",
                       options->low, options->high);
    return WEFT_OK;
}

/* The elements as f64 in C order on the host: moved first, converted there. */
static weft_array *as_values(weft_array *array)
{
    const weft_options here = {.struct_size = sizeof here, .device = WEFT_CPU};
    const weft_options wide = {.struct_size = sizeof wide, .device = WEFT_CPU, .dtype = WEFT_F64};
    weft_array *moved = weft__copy_new(array, &here);
    weft_array *values = moved ? weft__copy_new(moved, &wide) : NULL;
    weft_array_release(moved);
    if (values && weft__buffer_wait(values->buffer, true, false) != WEFT_OK) {
        weft_array_release(values);
        return NULL;
    }
    return values;
}

weft_status weft_save_png_with(const char *path, weft_array *array, const weft_png_options *given)
{
    weft_png_options options = {.struct_size = sizeof options};
    OPERATION("weft_save_png");
    weft__options_copy(&options, sizeof options, given);
    TRY(check(array, &options));
    weft_array *values = as_values(array);
    picture *p = values ? weft__allocate_zeroed(sizeof *p) : NULL;
    if (!p) {
        weft_array_release(values);
        return weft_error_code();
    }
    if (options.low == options.high)
        find_range(values, &options);
    p->output.descriptor = -1;
    const weft_status status = write_picture(p, path, values, &options);
    weft__output_close(&p->output);
    weft__free(p);
    weft_array_release(values);
    return status;
}
