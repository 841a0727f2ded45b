/* Running machine code of our own, which computes one vector in a frame: what it is given is moved
 * there, and what it gives is moved from there. */
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
        default:
            count(m, move, kind == WEFT__MOVE_INDEX);
        }
    }
}

void weft__machine_run(const weft__native *native, const weft__patch *patch)
{
    _Alignas(LINE) char frame[WEFT__MACHINE_FRAME_MOST];
    struct machine m = {native, patch, frame, (int)native->header.width, 0, 0};
    move_all(&m, WEFT__MOVE_SCALAR);
    for (; m.row < patch->rows; m.row++) {
        m.column = 0;
        move_all(&m, WEFT__MOVE_ROW);
        move_all(&m, WEFT__MOVE_INDEX_ROW);
        for (; m.column < patch->columns; m.column += m.lanes) {
            move_all(&m, WEFT__MOVE_LOAD);
            move_all(&m, WEFT__MOVE_INDEX);
            native->machine(frame);
            move_all(&m, WEFT__MOVE_STORE);
        }
    }
}
