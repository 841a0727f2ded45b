/* Objects: the header before LLVM's file, and the image that both make. */
#include "codegen/llvm/fold_run.h"
#include "core/allocate.h"
#include "core/status.h"

#include <stddef.h>
#include <string.h>

void weft__object_free(weft__object *object)
{
    weft__free(object->data);
    *object = (weft__object){0};
}

static void destroy(void *program)
{
    const weft__native *native = program;
    weft__executable_free(&native->code);
    weft__free(program);
}

static weft_status damaged(void)
{
    return FAIL(WEFT_ERROR_COMPILE, "the compiled kernel is damaged; it must be compiled again");
}

static size_t operands_bytes(const weft__object_header *header)
{
    return header->displaced_count * sizeof(weft__object_displaced) +
           header->operands_count * sizeof(weft__object_operand);
}

static uint32_t hash(uint32_t value, const char *data, size_t bytes)
{
    for (size_t k = 0; k < bytes; k++)
        value = (value ^ (uint8_t)data[k]) * 16777619U; /* FNV-1a */
    return value;
}

uint32_t weft__object_checksum(const char *data, size_t begin)
{
    const size_t before = offsetof(weft__object_header, checksum);
    const size_t after = before + sizeof(uint32_t);
    return hash(hash(2166136261U, data, before), data + after, begin - after);
}

static weft_status check_header(const weft__object *object, weft__object_header *header,
                                size_t *begin)
{
    if (object->bytes < sizeof *header)
        return damaged();
    memcpy(header, object->data, sizeof *header);
    if (memcmp(header->magic, WEFT__OBJECT_MAGIC, sizeof header->magic) != 0 ||
        header->operands_count > WEFT__OPERANDS_MAX || header->folds_count > WEFT__FOLDS_MAX ||
        header->operands_count + header->folds_count > WEFT__OPERANDS_MAX ||
        !weft__patch_holds(header->operands_count, header->displaced_count) ||
        header->streamed < -1 || header->streamed >= (int32_t)header->operands_count ||
        header->width > WEFT__WHOLE_BYTES)
        return damaged();
    *begin =
        sizeof *header + operands_bytes(header) + header->folds_count * sizeof(weft__object_fold);
    *begin += -*begin & 15U;
    if (*begin > object->bytes || weft__object_checksum(object->data, *begin) != header->checksum)
        return damaged();
    if (!weft__target_runs((weft__isa)header->isa, header->halves != 0))
        return FAIL(WEFT_ERROR_UNSUPPORTED,
                    "the compiled kernel is for instructions that this machine lacks; it must be "
                    "compiled again");
    return WEFT_OK;
}

static bool operands_fit(const weft__native *native)
{
    uint64_t bytes = 0; /* of a turn of all operands: run_whole.c has room for those */
    for (uint32_t k = 0; k < native->header.operands_count; k++) {
        if (native->operands[k].size > 4)
            return false;
        bytes += (uint64_t)native->header.width << native->operands[k].size;
    }
    if (bytes > WEFT__WHOLE_BYTES)
        return false;
    for (uint32_t k = 0; k < native->header.displaced_count; k++)
        if (native->displaced[k].operand >= native->header.operands_count ||
            native->displaced[k].boundary > WEFT__BOUNDARY_CONSTANT)
            return false;
    return true;
}

/* Whether the folds are some that a kernel can have. */
static bool folds_fit(const weft__native *native)
{
    const uint32_t count = native->header.folds_count;
    for (uint32_t k = 0; k < count; k++) {
        const weft__object_fold *fold = &native->folds[k];
        const bool pair = fold->kind >= WEFT__FOLD_ARGMIN && fold->kind < WEFT__FOLD_END;
        const weft__object_fold *other = fold->part == 0 ? fold + 1 : fold - 1;
        if (fold->part > pair || fold->dtype < WEFT_BOOL || fold->dtype > WEFT_F64 ||
            (pair && (other < native->folds || other >= native->folds + count ||
                      other->kind != fold->kind || other->part == fold->part)))
            return false;
        if (fold->part == 0 && weft__fold_combiner(fold).primitive == NULL &&
            weft__fold_combiner(fold).pair == NULL)
            return false;
        if (fold->stored > native->header.operands_count || fold->stored_part > 1 ||
            fold->memory >= WEFT_DTYPE_END || (fold->stored != 0 && fold->memory < WEFT_BOOL))
            return false;
    }
    return true;
}

/* Whether there is the code that there should be: that of results which are not only stored is
 * missed only by kernels without folds. */
static bool code_fits(const weft__native *native)
{
    return native->header.folds_count > 0 ? native->fold != NULL
                                          : native->fold == NULL && native->run != NULL;
}

weft_status weft__object_load(const weft__object *object, weft__image *image)
{
    weft__object_header header;
    size_t begin = 0;
    TRY(check_header(object, &header, &begin));
    weft__native *native = weft__allocate_zeroed(sizeof *native + operands_bytes(&header));
    if (native == NULL)
        return WEFT_ERROR_MEMORY;
    const char *at = (const char *)object->data + sizeof header;
    native->header = header;
    native->operands = (const weft__object_operand *)(native->displaced + header.displaced_count);
    memcpy(native->displaced, at, operands_bytes(&header));
    memcpy(native->folds, at + operands_bytes(&header), header.folds_count * sizeof *native->folds);
    weft_status status =
        operands_fit(native) && folds_fit(native)
            ? weft__elf_load((const char *)object->data + begin, object->bytes - begin, native)
            : damaged();
    if (status == WEFT_OK && !code_fits(native)) {
        weft__executable_free(&native->code);
        status = damaged();
    }
    if (status != WEFT_OK) {
        weft__free(native);
        return status;
    }
    *image = (weft__image){.entry = header.folds_count > 0 ? weft__native_fold : weft__native_run,
                           .program = native,
                           .destroy = destroy};
    return WEFT_OK;
}
