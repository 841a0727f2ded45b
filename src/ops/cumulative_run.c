/* Cumulative sums and products in blocks of 16: the totals of blocks are added up in the same way,
 * and then every element of a block at once, by points of an index space of blocks. */
#include "core/dtype.h"
#include "kernel/build.h"
#include "kernel/run.h"
#include "ops/cumulative.h"
#include <string.h>

enum { BLOCK = 16, OPERANDS = 2 * BLOCK + 1 };

weft_dtype weft__cumulative_dtype(weft_dtype dtype)
{
    if (dtype == WEFT_F16 || dtype == WEFT_BF16)
        return WEFT_F32;
    if (weft__dtype_rank(dtype) <= WEFT__RANK_INTEGER)
        return dtype >= WEFT_U8 && dtype <= WEFT_U64 ? WEFT_U64 : WEFT_I64;
    return dtype;
}

/* x then y, of the same dtype. */
static weft__element combine(weft__builder *b, bool product, weft__element x, weft__element y)
{
    const bool is_complex = x.dtype == WEFT_C64 || x.dtype == WEFT_C128;
    const weft_dtype value = weft__value_dtype(x.dtype);
    const weft__op op = product ? WEFT__OP_mul : WEFT__OP_add;
    weft__element z = {.dtype = x.dtype};
    if (!is_complex || !product) {
        for (int k = 0; k < 1 + is_complex; k++)
            z.part[k] = weft__build(b, op, value, x.part[k], y.part[k], 0);
        return z;
    }
    for (int k = 0; k < 2; k++) {
        const int32_t p = weft__build(b, WEFT__OP_mul, value, x.part[0], y.part[k], 0);
        const int32_t q = weft__build(b, WEFT__OP_mul, value, x.part[1], y.part[1 - k], 0);
        z.part[k] = weft__build(b, k ? WEFT__OP_add : WEFT__OP_sub, value, p, q, 0);
    }
    return z;
}

/* Element `from` of `count` blocks, beginning with block `first`, as an array. */
static weft_array part_of(const weft_array *array, int axis, int64_t first, int64_t count, int from,
                          int step)
{
    weft_array part = {.references = 1,
                       .dtype = array->dtype,
                       .shape = array->shape,
                       .data = array->data + (first * step + from) * array->stride[axis],
                       .buffer = array->buffer};
    memcpy(part.stride, array->stride, sizeof part.stride);
    part.stride[axis] *= step;
    part.shape.size[axis] = count;
    return part;
}

static weft_status launch(const weft__cumulative *c, weft__builder *b, weft_array *operands)
{
    weft_array *arrays[OPERANDS];
    for (uint32_t k = 0; k < b->kernel.operands_count && k < OPERANDS; k++)
        arrays[k] = &operands[k];
    b->kernel.ndim = operands[0].shape.ndim;
    weft_status status = weft__build_finish(b);
    if (status == WEFT_OK)
        status = weft__kernel_run_apart(&b->kernel, c->stream, &operands[0].shape, arrays, NULL);
    weft__build_free(b);
    return status;
}

static weft__element load_part(weft__builder *b, weft_dtype dtype)
{
    weft__element x = weft__build_load(b, weft__build_operand(b, dtype, false));
    return weft__build_convert(b, x, weft__cumulative_dtype(dtype));
}

/* What the elements of the first `totals->shape.size[axis]` blocks are together. */
static weft_status run_totals(const weft__cumulative *c, const weft_array *in,
                              const weft_array *totals)
{
    const int64_t count = totals->shape.size[c->axis];
    weft_array operands[OPERANDS];
    weft__element total = {0};
    weft__builder b;
    weft__build_begin(&b);
    for (int k = 0; k < BLOCK; k++) {
        operands[k] = part_of(in, c->axis, 0, count, k, BLOCK);
        const weft__element x = load_part(&b, (weft_dtype)in->dtype);
        total = k ? combine(&b, c->product, total, x) : x;
    }
    operands[BLOCK] = part_of(totals, c->axis, 0, count, 0, 1);
    weft__build_store(&b, weft__build_operand(&b, (weft_dtype)totals->dtype, true), total);
    return launch(c, &b, operands);
}

/* The results of `count` blocks of `length` elements, from block `first` on; `totals`, unless it is
 * NULL, has what comes before block 1 and those after it. */
static weft_status run_blocks(const weft__cumulative *c, const weft_array *in,
                              const weft_array *out, const weft_array *totals, int64_t first,
                              int64_t count, int length)
{
    weft_array operands[OPERANDS];
    weft__element before = {0}, run = {0}, x[BLOCK];
    const weft_dtype from = (weft_dtype)in->dtype, to = (weft_dtype)out->dtype;
    int used = 0;
    weft__builder b;
    weft__build_begin(&b);
    for (int k = 0; k < length; k++) {
        operands[used++] = part_of(in, c->axis, first, count, k, BLOCK);
        x[k] = load_part(&b, from);
    }
    if (totals) {
        operands[used++] = part_of(totals, c->axis, first - 1, count, 0, 1);
        before = load_part(&b, (weft_dtype)totals->dtype);
    }
    for (int k = 0; k < length; k++) {
        run = k ? combine(&b, c->product, run, x[k]) : x[k];
        const weft__element sum = totals ? combine(&b, c->product, before, run) : run;
        operands[used++] = part_of(out, c->axis, first, count, k, BLOCK);
        weft__build_store(&b, weft__build_operand(&b, to, true), weft__build_convert(&b, sum, to));
    }
    return launch(c, &b, operands);
}

static weft_status run_all_blocks(const weft__cumulative *c, const weft_array *in,
                                  const weft_array *out, const weft_array *totals)
{
    const int64_t size = in->shape.size[c->axis], blocks = size / BLOCK;
    TRY(run_blocks(c, in, out, NULL, 0, 1, BLOCK));
    if (blocks > 1)
        TRY(run_blocks(c, in, out, totals, 1, blocks - 1, BLOCK));
    if (size % BLOCK)
        TRY(run_blocks(c, in, out, totals, blocks, 1, (int)(size % BLOCK)));
    return WEFT_OK;
}

weft_status weft__cumulative_run(const weft__cumulative *c, const weft_array *in,
                                 const weft_array *out)
{
    const int64_t size = in->shape.size[c->axis];
    weft_options options = {.struct_size = sizeof options, .device = c->stream->device};
    weft_shape shape = in->shape;
    if (weft__array_count(in) == 0)
        return WEFT_OK;
    if (size <= BLOCK)
        return run_blocks(c, in, out, NULL, 0, 1, (int)size);
    shape.size[c->axis] = (size - 1) / BLOCK;
    weft_array *totals = weft__array_new(&shape, weft__cumulative_dtype((weft_dtype)in->dtype),
                                         &options, NULL, NULL);
    if (!totals)
        return weft_error_code();
    weft_status status = run_totals(c, in, totals);
    if (status == WEFT_OK) /* 16 levels deep at most */
        status = weft__cumulative_run(c, totals, totals);
    if (status == WEFT_OK)
        status = run_all_blocks(c, in, out, totals);
    weft_array_release(totals);
    return status;
}
