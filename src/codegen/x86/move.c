/* Elements that lie as they do in arrays: moved to the frame and from there by whole vectors, which
 * is what processors pass on from a store to a load. */
#include "codegen/x86/make.h"

#define LOAD WEFT__X86(1, 0, 0, 0x10)
#define STORE WEFT__X86(1, 0, 0, 0x11)
#define CHOOSE_32 WEFT__X86(2, 1, 0, 0x7f) /* from two vectors, by the numbers in a third */
#define CHOOSE_64 WEFT__X86(2, 1, 1, 0x7f)

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

/* Loads the numbers first, first + step, … of elements, or each of them and then one of the other
 * vector. */
static void load_numbers(weft__maker *maker, int to, int bytes, int size, int first, int step,
                         bool by_turns)
{
    uint64_t numbers[WEFT__LINE / 8] = {0};
    const int count = bytes / size;
    for (int k = 0; k < count; k++) {
        const int own = by_turns ? first + k / 2 + k % 2 * count : first + k * step;
        numbers[k * size / 8] |= (uint64_t)own << (k * size % 8 * 8);
    }
    const weft__operand constant = {
        WEFT__IN_CONSTANT, weft__assemble_constants(&maker->code, numbers, WEFT__LINE / 8)};
    emit(maker, LOAD | WEFT__X86_BROADCASTS, bytes, to, 0, constant);
}

static weft__operand memory(int at) { return (weft__operand){WEFT__IN_MEMORY, (uint32_t)at}; }

static weft__operand in_frame(uint32_t at) { return (weft__operand){WEFT__IN_FRAME, at}; }

/* Both parts of complex numbers are in two vectors, of which one part is taken. */
static void load(weft__maker *maker, const weft__x86_move *move, int size, int bytes, uint32_t at,
                 int line)
{
    const int to = WEFT__SCRATCH_2, numbers = WEFT__SCRATCH_1;
    if (!move->pair) {
        emit(maker, LOAD, bytes, to, 0, memory(line * bytes));
    } else {
        load_numbers(maker, numbers, bytes, size, move->part, 2, false);
        emit(maker, LOAD, bytes, to, 0, memory(2 * line * bytes));
        emit(maker, size == 8 ? CHOOSE_64 : CHOOSE_32, bytes, to, numbers,
             memory((2 * line + 1) * bytes));
    }
    emit(maker, STORE, bytes, to, 0, in_frame(at + (uint32_t)(line * WEFT__LINE)));
}

static void store(weft__maker *maker, int bytes, uint32_t at, int line)
{
    emit(maker, LOAD, bytes, WEFT__SCRATCH_2, 0, in_frame(at + (uint32_t)(line * WEFT__LINE)));
    emit(maker, STORE, bytes, WEFT__SCRATCH_2, 0, memory(line * bytes));
}

/* The elements of two vectors by turns, in two vectors. */
static void store_pairs(weft__maker *maker, int size, int bytes, uint32_t at, uint32_t other,
                        int line)
{
    const int numbers = WEFT__SCRATCH_1, to = WEFT__SCRATCH_2, step = line * WEFT__LINE;
    for (int half = 0; half < 2; half++) {
        load_numbers(maker, numbers, bytes, size, half * bytes / size / 2, 1, true);
        emit(maker, LOAD, bytes, to, 0, in_frame(at + (uint32_t)step));
        emit(maker, size == 8 ? CHOOSE_64 : CHOOSE_32, bytes, to, numbers,
             in_frame(other + (uint32_t)step));
        emit(maker, STORE, bytes, to, 0, memory((2 * line + half) * bytes));
    }
}

static uint32_t place_of(const weft__maker *maker, const weft__x86_move *move)
{
    return weft__x86_operand(maker->source->kernel, move->operand, maker->source->lanes);
}

void weft__x86_moves(weft__maker *maker, bool stores)
{
    const weft__x86_source *source = maker->source;
    for (uint32_t k = 0; k < source->moves_count; k++) {
        const weft__x86_move *move = &source->moves[k];
        const weft_dtype dtype = (weft_dtype)source->kernel->operands[move->operand].dtype;
        const int size = weft__x86_bytes(dtype), bytes = weft__x86_part_bytes(maker, dtype);
        const uint32_t at = place_of(maker, move);
        if (move->store != stores)
            continue;
        weft__assemble_pointer(&maker->code,
                               weft__x86_pointer(source->kernel, move->pointer, source->lanes));
        for (int line = 0; line < weft__x86_parts(maker, dtype); line++)
            if (!stores)
                load(maker, move, size, bytes, at, line);
            else if (!move->pair)
                store(maker, bytes, at, line);
            else
                store_pairs(maker, size, bytes, at, place_of(maker, move + 1), line);
        k += stores && move->pair;
    }
}

void weft__x86_repeat(weft__maker *maker)
{
    const weft__x86_source *source = maker->source;
    for (uint32_t k = 0; k < source->moves_count; k++) {
        const weft__x86_move *move = &source->moves[k];
        const weft_dtype dtype = (weft_dtype)source->kernel->operands[move->operand].dtype;
        const int bytes = (weft__x86_bytes(dtype) * source->lanes) << move->pair;
        if (!move->store || !move->pair || move->part == 0)
            weft__assemble_advance(&maker->code,
                                   weft__x86_pointer(source->kernel, move->pointer, source->lanes),
                                   (uint32_t)bytes);
    }
    if (source->moves_count > 0)
        weft__assemble_again(&maker->code);
}
