/* Objects: the header before LLVM's file, and the image that both make. */
#include "codegen/llvm/object.h"
#include "core/allocate.h"
#include "core/status.h"

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

static size_t operands_bytes(const weft__object_header *header)
{
    return header->displaced_count * sizeof(weft__object_displaced) +
           header->operands_count * sizeof(weft__object_operand);
}

static weft_status check_header(const weft__object *object, weft__object_header *header,
                                size_t *begin)
{
    if (object->bytes < sizeof *header)
        return damaged();
    memcpy(header, object->data, sizeof *header);
    if (memcmp(header->magic, WEFT__OBJECT_MAGIC, sizeof header->magic) != 0 ||
        header->operands_count > WEFT__OPERANDS_MAX ||
        !weft__patch_holds(header->operands_count, header->displaced_count) ||
        header->streamed >= (int32_t)header->operands_count)
        return damaged();
    *begin = sizeof *header + operands_bytes(header);
    *begin += -*begin & 15U;
    if (*begin > object->bytes)
        return damaged();
    if (!weft__target_runs((weft__isa)header->isa, header->halves != 0))
        return FAIL(WEFT_ERROR_UNSUPPORTED,
                    "the compiled kernel is for instructions that this machine lacks; it must be "
                    "compiled again");
    return WEFT_OK;
}

static bool operands_fit(const weft__native *native)
{
    for (uint32_t k = 0; k < native->header.operands_count; k++)
        if (native->operands[k].size > 4)
            return false;
    for (uint32_t k = 0; k < native->header.displaced_count; k++)
        if (native->displaced[k].operand >= native->header.operands_count ||
            native->displaced[k].boundary > WEFT__BOUNDARY_CONSTANT)
            return false;
    return true;
}

weft_status weft__object_load(const weft__object *object, weft__image *image)
{
    weft__object_header header;
    size_t begin = 0;
    TRY(check_header(object, &header, &begin));
    weft__native *native = weft__allocate_zeroed(sizeof *native + operands_bytes(&header));
    if (native == NULL)
        return WEFT_ERROR_MEMORY;
    native->header = header;
    native->operands = (const weft__object_operand *)(native->displaced + header.displaced_count);
    memcpy(native->displaced, (const char *)object->data + sizeof header, operands_bytes(&header));
    const weft_status status =
        operands_fit(native)
            ? weft__elf_load((const char *)object->data + begin, object->bytes - begin, native)
            : damaged();
    if (status != WEFT_OK) {
        weft__free(native);
        return status;
    }
    *image = (weft__image){.entry = weft__native_run, .program = native, .destroy = destroy};
    return WEFT_OK;
}
