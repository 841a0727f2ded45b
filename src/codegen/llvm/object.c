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
    weft__elf_unload(program);
    weft__free(program);
}

static weft_status damaged(void)
{
    return FAIL(WEFT_ERROR_COMPILE, "the compiled kernel is damaged; it must be compiled again");
}

static size_t moves_bytes(const weft__object_header *header)
{
    return header->moves_count * sizeof(weft__object_move);
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
        header->width > WEFT__WHOLE_BYTES || header->moves_count > 4 * WEFT__OPERANDS_MAX ||
        header->frame > WEFT__X86_FRAME_MOST)
        return damaged();
    *begin = sizeof *header + operands_bytes(header) +
             header->folds_count * sizeof(weft__object_fold) + moves_bytes(header);
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

/* Whether a move is of what there is. */
static bool move_fits(const weft__native *native, const weft__object_move *move)
{
    const weft__object_header *header = &native->header;
    const uint32_t size = move->size ? move->size : 1;
    const uint32_t bytes = move->kind == WEFT__MOVE_ADDRESS ? sizeof(void *) : header->width * size;
    if (move->kind >= WEFT__MOVE_KINDS || move->pair > 1 || move->part > move->pair ||
        (move->size != 0 && move->size != 4 && move->size != 8) || move->at > header->frame ||
        header->frame - move->at < bytes)
        return false;
    switch ((weft__move_kind)move->kind) {
    case WEFT__MOVE_SCALAR:
        return true; /* the launch has those of the kernel */
    case WEFT__MOVE_INDEX:
    case WEFT__MOVE_INDEX_ROW:
        return move->slot < WEFT_NDIM_MAX && move->size == 8;
    default:
        return move->slot < header->operands_count &&
               1U << native->operands[move->slot].size == size << move->pair;
    }
}

static bool moves_fit(const weft__native *native)
{
    const weft__object_header *header = &native->header;
    bool fit =
        header->moves_count == 0 || (header->folds_count == 0 && header->displaced_count == 0 &&
                                     (header->width == 8 || header->width == 16));
    for (uint32_t k = 0; fit && k < header->moves_count; k++)
        fit = move_fits(native, &native->moves[k]);
    return fit;
}

/* Whether there is the code that there should be: that of results which are not only stored is
 * missed only by kernels without folds. */
static bool code_fits(const weft__native *native)
{
    if (native->header.moves_count > 0)
        return native->machine != NULL;
    return native->header.folds_count > 0 ? native->fold != NULL
                                          : native->fold == NULL && native->run != NULL;
}

static weft_status load_code(const char *code, size_t bytes, weft__native *native)
{
    return native->header.moves_count > 0 ? weft__machine_load(code, bytes, native)
                                          : weft__elf_load(code, bytes, native);
}

weft_status weft__object_load(const weft__object *object, weft__image *image)
{
    weft__object_header header;
    size_t begin = 0;
    TRY(check_header(object, &header, &begin));
    const size_t operands = operands_bytes(&header) + (-operands_bytes(&header) & 15U);
    weft__native *native = weft__allocate_zeroed(sizeof *native + operands + moves_bytes(&header));
    if (native == NULL)
        return WEFT_ERROR_MEMORY;
    const char *at = (const char *)object->data + sizeof header;
    native->header = header;
    native->operands = (const weft__object_operand *)(native->displaced + header.displaced_count);
    memcpy(native->displaced, at, operands_bytes(&header));
    memcpy(native->folds, at + operands_bytes(&header), header.folds_count * sizeof *native->folds);
    at += operands_bytes(&header) + header.folds_count * sizeof *native->folds;
    native->moves = memcpy((char *)native->displaced + operands, at, moves_bytes(&header));
    weft_status status =
        operands_fit(native) && folds_fit(native) && moves_fit(native)
            ? load_code((const char *)object->data + begin, object->bytes - begin, native)
            : damaged();
    if (status == WEFT_OK && !code_fits(native)) {
        weft__elf_unload(native);
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
