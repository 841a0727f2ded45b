/* Running machine code of our own, which computes in a frame: what it does not move itself is moved
 * there, and from there. */
#include "codegen/llvm/object.h"

#include <string.h>

enum { LINE = 64 };

/* The frame, and where in the patch it is. */
struct machine {
    const weft__native *native;
    const weft__patch *patch;
    char *frame;
    int lanes;
    int64_t row, column;
};

static const char *element_at(const struct machine *m, const weft__object_move *move)
{
    const weft__patch_operand *operand = &m->patch->operands[move->slot];
    return operand->data + m->row * operand->row + m->column * operand->column +
           move->part * move->size;
}

static void repeat(const struct machine *m, const weft__object_move *move, const void *element)
{
    char *to = m->frame + move->at;
    if (move->size == 0) {
        const int bits = *(const uint8_t *)element ? 0xff : 0;
        memset(to, bits, 2);
        return;
    }
    for (int k = 0; k < m->lanes; k++)
        memcpy(to + k * move->size, element, move->size);
}

/* The position of the first lane, then as many more as `step` says for each. */
static void count(const struct machine *m, const weft__object_move *move, int step)
{
    int64_t first = m->patch->position[move->slot] + (step ? m->column : m->row);
    for (int k = 0; k < m->lanes; k++, first += step)
        memcpy(m->frame + move->at + (size_t)k * sizeof first, &first, sizeof first);
}

static void load_bits(const struct machine *m, char *to, const char *from)
{
    uint16_t bits = 0;
    for (int k = 0; k < m->lanes; k++)
        bits = (uint16_t)(bits | (from[k] != 0) << k);
    memcpy(to, &bits, sizeof bits);
}

static void store_bits(const struct machine *m, char *to, const char *from)
{
    uint16_t bits;
    memcpy(&bits, from, sizeof bits);
    for (int k = 0; k < m->lanes; k++)
        to[k] = (char)(bits >> k & 1);
}

/* One part of complex numbers, from those or to them. */
static void move_part(const struct machine *m, int size, char *to, int to_step, const char *from,
                      int from_step)
{
    if (size == 4)
        for (int k = 0; k < m->lanes; k++)
            memcpy(to + 4 * k * to_step, from + 4 * k * from_step, 4);
    else
        for (int k = 0; k < m->lanes; k++)
            memcpy(to + 8 * k * to_step, from + 8 * k * from_step, 8);
}

static void load(const struct machine *m, const weft__object_move *move)
{
    char *to = m->frame + move->at;
    const char *from = element_at(m, move);
    if (move->size == 0)
        load_bits(m, to, from);
    else if (move->pair)
        move_part(m, move->size, to, 1, from, 2);
    else
        memcpy(to, from, (size_t)m->lanes * move->size);
}

static void store(const struct machine *m, const weft__object_move *move)
{
    char *to = (char *)(uintptr_t)element_at(m, move);
    const char *from = m->frame + move->at;
    if (move->size == 0)
        store_bits(m, to, from);
    else if (move->pair)
        move_part(m, move->size, to, 2, from, 1);
    else
        memcpy(to, from, (size_t)m->lanes * move->size);
}

static void put_address(const struct machine *m, const weft__object_move *move)
{
    const char *address = element_at(m, move);
    memcpy(m->frame + move->at, &address, sizeof address);
}

static void move_all(const struct machine *m, weft__move_kind kind)
{
    for (uint32_t k = 0; k < m->native->header.moves_count; k++) {
        const weft__object_move *move = &m->native->moves[k];
        if (move->kind != kind)
            continue;
        switch (kind) {
        case WEFT__MOVE_SCALAR:
            repeat(m, move, &m->patch->scalars[move->slot]);
            break;
        case WEFT__MOVE_ROW:
            repeat(m, move, element_at(m, move));
            break;
        case WEFT__MOVE_LOAD:
            load(m, move);
            break;
        case WEFT__MOVE_STORE:
            store(m, move);
            break;
        case WEFT__MOVE_ADDRESS:
            put_address(m, move);
            break;
        default:
            count(m, move, kind == WEFT__MOVE_INDEX);
        }
    }
}

/* Whether something is moved for every vector. */
static bool moves_often(const weft__native *native)
{
    bool often = false;
    for (uint32_t k = 0; k < native->header.moves_count; k++) {
        const uint8_t kind = native->moves[k].kind;
        often |= kind == WEFT__MOVE_LOAD || kind == WEFT__MOVE_INDEX || kind == WEFT__MOVE_STORE;
    }
    return often;
}

static void run_row(struct machine *m, int64_t vectors, bool often)
{
    const int64_t once = often ? 1 : vectors;
    m->column = 0;
    move_all(m, WEFT__MOVE_ROW);
    move_all(m, WEFT__MOVE_INDEX_ROW);
    move_all(m, WEFT__MOVE_ADDRESS);
    for (int64_t k = 0; k < vectors; k += once, m->column += m->lanes) {
        move_all(m, WEFT__MOVE_LOAD);
        move_all(m, WEFT__MOVE_INDEX);
        m->native->machine(m->frame, once);
        move_all(m, WEFT__MOVE_STORE);
    }
}

static void run_in(const weft__native *native, const weft__patch *patch, char *frame)
{
    struct machine m = {native, patch, frame, (int)native->header.width, 0, 0};
    const bool often = moves_often(native);
    move_all(&m, WEFT__MOVE_SCALAR);
    for (; m.row < patch->rows; m.row++)
        run_row(&m, patch->columns / m.lanes, often);
}

static __attribute__((noinline)) void run_large(const weft__native *native,
                                                const weft__patch *patch)
{
    _Alignas(LINE) char frame[WEFT__X86_FRAME_MOST];
    run_in(native, patch, frame);
}

/* A user's thread may have a small stack, and most frames are small. */
void weft__machine_run(const weft__native *native, const weft__patch *patch)
{
    enum { SMALL = 4 << 10 };
    _Alignas(LINE) char frame[SMALL];
    if (native->header.frame <= SMALL)
        run_in(native, patch, frame);
    else
        run_large(native, patch);
}
