/* Results of folds that are only stored: moved by C code, so that nothing has to be compiled for
 * it.
 */
#include "codegen/llvm/fold_run.h"

#include <string.h>

/* Whether memory of a dtype holds values of another one, which have one NaN there or are rounded;
 * or they are parts of it. */
static bool holds(weft_dtype memory, weft_dtype dtype)
{
    if (memory == WEFT_F16 || memory == WEFT_BF16 || memory == WEFT_C64)
        return dtype == WEFT_F32;
    return memory == WEFT_C128 ? dtype == WEFT_F64 : memory == dtype;
}

/* The fold whose result a store stores, or -1. */
static int32_t stored_fold(const weft__kernel *kernel, const weft__kernel *results,
                           const weft__value *store)
{
    const weft__value *cast = &results->values[store->argument[0]];
    if (cast->op != WEFT__OP_cast)
        return -1;
    const weft__value *load = &results->values[cast->argument[0]];
    if (load->op != WEFT__OP_load || load->slot < kernel->operands_count ||
        load->dtype != cast->dtype ||
        !holds((weft_dtype)results->operands[store->slot].dtype, (weft_dtype)load->dtype))
        return -1;
    return load->slot - (int32_t)kernel->operands_count;
}

static bool find_stores(const weft__kernel *kernel, const weft__kernel *results,
                        weft__object_fold *folds)
{
    for (uint32_t k = 0; k < results->values_count; k++) {
        const weft__value *value = &results->values[k];
        if (value->op == WEFT__OP_cast || value->op == WEFT__OP_load)
            continue;
        const int32_t fold = value->op == WEFT__OP_store ? stored_fold(kernel, results, value) : -1;
        if (fold < 0 || folds[fold].stored != 0)
            return false;
        folds[fold].stored = (uint16_t)(value->slot + 1);
        folds[fold].stored_part = value->part;
        folds[fold].memory = results->operands[value->slot].dtype;
    }
    return true;
}

bool weft__fold_only_stored(const weft__kernel *kernel, const weft__kernel *results,
                            weft__object_fold *folds)
{
    const bool stored = find_stores(kernel, results, folds);
    for (uint32_t k = 0; !stored && k < kernel->folds_count; k++)
        folds[k].stored = 0;
    return stored;
}

/* One number, without calls. */
static void store_number(char *to, const char *from, weft_dtype dtype, int size)
{
    float single;
    double twice;
    memcpy(to, from, (size_t)1 << size);
    if (dtype == WEFT_F32) {
        memcpy(&single, from, sizeof single);
        if (single != single)
            memcpy(to, &(uint32_t){0x7fc00000U}, sizeof single);
    } else if (dtype == WEFT_F64) {
        memcpy(&twice, from, sizeof twice);
        if (twice != twice)
            memcpy(to, &(uint64_t){0x7ff8000000000000U}, sizeof twice);
    }
}

/* As halves, through memory. */
static void store_narrow(const weft__fold_frame *frame, weft__primitive *narrow, char *to,
                         int64_t distance, const float *from)
{
    enum { BLOCK = 512, SIZE = 1 };
    uint16_t block[BLOCK];
    for (int64_t at = 0; at < frame->columns; at += BLOCK) {
        const int64_t count = weft__fold_least(BLOCK, frame->columns - at);
        narrow(block, from + at, from + at, from + at, count, 0);
        frame->variant->move_row[SIZE](to + at * distance, distance, (const char *)block,
                                       sizeof *block, count);
    }
}

/* Makes every NaN of a fold's results the one that is stored. */
static void canonize(const weft__fold_frame *frame, int32_t k, void *to)
{
    weft__primitive *canonical = frame->variant->canonical[frame->native->folds[k].dtype];
    const char *x = frame->chunk[k];
    if (canonical != NULL)
        canonical(to, x, x, x, frame->columns, 0);
    else if (to != x)
        memcpy(to, x, (size_t)(frame->columns << frame->size[k]));
}

#define INTERLEAVE(name, type)                                                                     \
    static void name(type *restrict to, const type *restrict x, const type *restrict y,            \
                     int64_t count)                                                                \
    {                                                                                              \
        for (int64_t k = 0; k < count; k++) {                                                      \
            to[2 * k] = x[k];                                                                      \
            to[2 * k + 1] = y[k];                                                                  \
        }                                                                                          \
    }
INTERLEAVE(interleave_f32, float)
INTERLEAVE(interleave_f64, double)

/* Both parts of complex numbers that follow each other, few at a time. */
static void store_pairs(const weft__fold_frame *frame, int32_t k, char *to)
{
    enum { BLOCK = 256 };
    double parts[2][BLOCK];
    const int size = frame->size[k];
    weft__primitive *canonical = frame->variant->canonical[frame->native->folds[k].dtype];
    for (int64_t at = 0; at < frame->columns; at += BLOCK) {
        const int64_t count = weft__fold_least(BLOCK, frame->columns - at);
        void *pairs = to + (at << (size + 1));
        for (int part = 0; part < 2; part++) {
            const char *x = frame->chunk[k + part] + (at << size);
            canonical(parts[part], x, x, x, count, 0);
        }
        if (frame->native->folds[k].dtype == WEFT_F32)
            interleave_f32(pairs, (const float *)parts[0], (const float *)parts[1], count);
        else
            interleave_f64(pairs, parts[0], parts[1], count);
    }
}

/* Whether a fold and the one after it are the parts of numbers that follow each other. */
static bool are_pairs(const weft__fold_frame *frame, int32_t k, int64_t distance)
{
    const weft__object_fold *fold = &frame->native->folds[k];
    return k + 1 < frame->count && weft__dtype_is_complex((weft_dtype)fold->memory) &&
           fold->stored == fold[1].stored && fold->stored_part == 0 && fold[1].stored_part == 1 &&
           distance == (int64_t)weft_dtype_size((weft_dtype)fold->memory);
}

/* Of fold number k; returns how many of them were stored. */
static int32_t store_fold(const weft__fold_frame *frame, int32_t k)
{
    const weft__object_fold *fold = &frame->native->folds[k];
    const uint32_t operand = fold->stored - 1U;
    const int32_t axis = frame->launch->kept_ndim - 1;
    const int64_t distance = axis < 0 ? 0 : frame->arguments[operand].stride[axis];
    const int size = weft__memory_size((weft_dtype)fold->memory);
    weft__primitive *narrow = frame->variant->narrow[fold->memory];
    char *to = weft__fold_data(frame, operand) + (fold->stored_part << size);
    if (frame->columns == 1 && narrow == NULL) {
        store_number(to, frame->chunk[k], (weft_dtype)fold->dtype, size);
    } else if (narrow != NULL) {
        store_narrow(frame, narrow, to, distance, (const float *)(const void *)frame->chunk[k]);
    } else if (distance == (int64_t)1 << size) {
        canonize(frame, k, to);
    } else if (are_pairs(frame, k, distance)) {
        store_pairs(frame, k, to);
        return 2;
    } else {
        canonize(frame, k, frame->chunk[k]);
        frame->variant->move_row[size](to, distance, frame->chunk[k], (int64_t)1 << size,
                                       frame->columns);
    }
    return 1;
}

void weft__fold_store(const weft__fold_frame *frame)
{
    for (int32_t k = 0; k < frame->count;)
        k += frame->native->folds[k].stored != 0 ? store_fold(frame, k) : 1;
}
