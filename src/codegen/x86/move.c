/* Elements that lie one after the other: moved to the frame and from there by whole vectors, which
 * is what processors pass on from a store to a load. */
#include "codegen/x86/make.h"

enum { BYTES = 16 }; /* of a vector that has a byte for each lane */

#define LOAD WEFT__X86(1, 0, 0, 0x10)
#define LOAD_HALF WEFT__X86(1, 2, 1, 0x7e)
#define STORE WEFT__X86(1, 0, 0, 0x11)
#define STORE_HALF WEFT__X86(1, 1, 1, 0xd6)
#define TEST_BYTES WEFT__X86(2, 1, 0, 0x26)
#define BYTES_OF_MASK WEFT__X86(2, 2, 0, 0x28) /* 255 for 1 */
#define ABS_BYTES WEFT__X86(2, 1, 0, 0x1c)
#define MASK_LOAD WEFT__X86(1, 0, 0, 0x90)
#define MASK_STORE WEFT__X86(1, 0, 0, 0x91)

static void emit(weft__maker *maker, uint32_t code, int bytes, int to, int from,
                 weft__operand operand)
{
    weft__assemble(&maker->code, &(weft__instruction){.code = code,
                                                      .bytes = bytes,
                                                      .to = to,
                                                      .from = from,
                                                      .operand = operand,
                                                      .immediate = WEFT__NO_IMMEDIATE});
}

static void emit_mask(weft__maker *maker, uint32_t code, uint32_t at)
{
    weft__assemble_mask(&maker->code, code, false, WEFT__MASK_SCRATCH, 0,
                        (weft__operand){WEFT__IN_FRAME, at}, WEFT__NO_IMMEDIATE);
}

static weft__operand memory(int at) { return (weft__operand){WEFT__IN_MEMORY, (uint32_t)at}; }

static void load_bools(weft__maker *maker, uint32_t at)
{
    const int x = WEFT__X86_SCRATCH;
    emit(maker, maker->source->lanes == BYTES ? LOAD : LOAD_HALF, BYTES, x, 0, memory(0));
    emit(maker, TEST_BYTES, BYTES, WEFT__MASK_SCRATCH, x, weft__in_register(x));
    emit_mask(maker, MASK_STORE, at);
}

static void store_bools(weft__maker *maker, uint32_t at)
{
    const int x = WEFT__X86_SCRATCH;
    emit_mask(maker, MASK_LOAD, at);
    emit(maker, BYTES_OF_MASK, BYTES, x, 0, weft__in_register(WEFT__MASK_SCRATCH));
    emit(maker, ABS_BYTES, BYTES, x, 0, weft__in_register(x));
    emit(maker, maker->source->lanes == BYTES ? STORE : STORE_HALF, BYTES, x, 0, memory(0));
}

static void move(weft__maker *maker, uint32_t operand, bool store)
{
    const weft_dtype dtype = (weft_dtype)maker->source->kernel->operands[operand].dtype;
    const int bytes = weft__x86_part_bytes(maker, dtype), lanes = maker->source->lanes;
    const uint32_t at = weft__x86_operand(maker->source->kernel, operand, lanes);
    if (dtype == WEFT_BOOL) {
        (store ? store_bools : load_bools)(maker, at);
        return;
    }
    for (int part = 0; part < weft__x86_parts(maker, dtype); part++) {
        const weft__operand outside = memory(part * bytes),
                            inside = {WEFT__IN_FRAME, at + (uint32_t)(part * WEFT__X86_LINE)};
        emit(maker, LOAD, bytes, WEFT__X86_SCRATCH, 0, store ? inside : outside);
        emit(maker, STORE, bytes, WEFT__X86_SCRATCH, 0, store ? outside : inside);
    }
}

void weft__x86_moves(weft__maker *maker, bool stores)
{
    const weft__x86_source *source = maker->source;
    for (uint32_t k = 0; source->moved != NULL && k < source->kernel->operands_count; k++) {
        if (source->moved[k] == 0 || source->kernel->operands[k].output != stores)
            continue;
        weft__assemble_pointer(&maker->code, weft__x86_address(source->kernel, k, source->lanes));
        move(maker, k, stores);
    }
}

void weft__x86_repeat(weft__maker *maker)
{
    const weft__x86_source *source = maker->source;
    if (source->moved == NULL)
        return;
    for (uint32_t k = 0; k < source->kernel->operands_count; k++) {
        const int size = weft__x86_bytes((weft_dtype)source->kernel->operands[k].dtype);
        if (source->moved[k] != 0)
            weft__assemble_advance(&maker->code,
                                   weft__x86_address(source->kernel, k, source->lanes),
                                   (uint32_t)((size > 0 ? size : 1) * source->lanes));
    }
    weft__assemble_again(&maker->code);
}
