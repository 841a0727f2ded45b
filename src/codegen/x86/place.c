/* Which register has what: a value stays in its register until that is needed for another one; what
 * is used last goes then, to a place in the frame. */
#include "codegen/x86/make.h"

#include <string.h>

static const uint32_t NEVER = UINT32_MAX;
enum { NOWHERE = -1 };

#define LOAD WEFT__X86(1, 0, 0, 0x10)
#define STORE WEFT__X86(1, 0, 0, 0x11)
#define MOVE WEFT__X86(1, 0, 0, 0x28)
#define REPEAT_32 (WEFT__X86(2, 1, 0, 0x58) | WEFT__X86_BROADCASTS)
#define REPEAT_64 (WEFT__X86(2, 1, 1, 0x59) | WEFT__X86_BROADCASTS)
#define MASK_MOVE WEFT__X86(1, 0, 0, 0x90)
#define MASK_STORE WEFT__X86(1, 0, 0, 0x91)
#define MASK_SAME WEFT__X86(1, 0, 0, 0x46)
#define MASK_DIFFERS WEFT__X86(1, 0, 0, 0x47)
#define MASK_TEST_16 WEFT__X86(1, 0, 0, 0x98)
#define MASK_TEST_8 WEFT__X86(1, 1, 0, 0x98)

static const weft__value *value_of(const weft__maker *maker, int32_t unit)
{
    return &maker->source->kernel->values[unit / 2];
}

static weft_dtype dtype_of(const weft__maker *maker, int32_t unit)
{
    return (weft_dtype)value_of(maker, unit)->dtype;
}

static bool is_mask(const weft__maker *maker, int32_t unit)
{
    return dtype_of(maker, unit) == WEFT_BOOL;
}

static uint32_t next_use(const weft__maker *maker, int32_t value)
{
    const uint32_t next = maker->next[value];
    return next < maker->uses_end[value] ? maker->use[next] : NEVER;
}

/* After this step. */
static bool is_needed(const weft__maker *maker, int32_t value)
{
    uint32_t next = maker->next[value];
    while (next < maker->uses_end[value] && maker->use[next] <= maker->now)
        next++;
    return next < maker->uses_end[value];
}

static void move_vector(weft__maker *maker, uint32_t code, int32_t unit, int number,
                        weft__operand operand)
{
    weft__assemble(&maker->code,
                   &(weft__instruction){.code = code,
                                        .bytes = weft__x86_part_bytes(maker, dtype_of(maker, unit)),
                                        .to = number,
                                        .operand = operand,
                                        .immediate = WEFT__NO_IMMEDIATE});
}

static weft__operand place_of(weft__maker *maker, int32_t unit)
{
    if (maker->place[unit] == NOWHERE) {
        maker->place[unit] = (int32_t)maker->frame;
        maker->frame += WEFT__X86_LINE;
    }
    return (weft__operand){WEFT__IN_FRAME, (uint32_t)maker->place[unit]};
}

static void keep(weft__maker *maker, int32_t unit)
{
    const int number = maker->in[unit];
    if (maker->kept[unit])
        return;
    if (number >= WEFT__MASKS)
        weft__assemble_mask(&maker->code, MASK_STORE, false, number - WEFT__MASKS, 0,
                            place_of(maker, unit), WEFT__NO_IMMEDIATE);
    else
        move_vector(maker, STORE, unit, number, place_of(maker, unit));
    maker->kept[unit] = (uint8_t)(1 + maker->deep);
}

static void load_constant(weft__maker *maker, int32_t unit, int number)
{
    const weft__value *value = value_of(maker, unit);
    if (number >= WEFT__MASKS) {
        const int mask = number - WEFT__MASKS;
        weft__assemble_mask(&maker->code, value->bits & 0xff ? MASK_SAME : MASK_DIFFERS, true, mask,
                            mask, weft__in_register(mask), WEFT__NO_IMMEDIATE);
        return;
    }
    const weft__operand constant = {WEFT__IN_CONSTANT,
                                    weft__assemble_constant(&maker->code, value->bits)};
    move_vector(maker, weft__x86_bytes(dtype_of(maker, unit)) == 8 ? REPEAT_64 : REPEAT_32, unit,
                number, constant);
}

static void load(weft__maker *maker, int32_t unit, int number)
{
    if (value_of(maker, unit)->op == WEFT__OP_constant)
        load_constant(maker, unit, number);
    else if (number >= WEFT__MASKS)
        weft__assemble_mask(&maker->code, MASK_MOVE, false, number - WEFT__MASKS, 0,
                            place_of(maker, unit), WEFT__NO_IMMEDIATE);
    else
        move_vector(maker, LOAD, unit, number, place_of(maker, unit));
}

static void hold(weft__maker *maker, int32_t unit, int number)
{
    maker->held[number] = unit;
    maker->in[unit] = (int8_t)number;
    maker->pinned[number] = true;
}

static void let_go(weft__maker *maker, int number)
{
    if (maker->held[number] != NOWHERE)
        maker->in[maker->held[number]] = -1;
    maker->held[number] = NOWHERE;
}

/* A register that is free, or the one whose value is used last of all that this step does not use.
 */
static int find_register(weft__maker *maker, bool mask)
{
    const int begin = mask ? WEFT__MASKS + WEFT__MASK_FIRST : 0;
    const int end = mask ? WEFT__MASKS + WEFT__MASKS_KEPT : WEFT__VECTORS_KEPT;
    int found = begin;
    uint32_t latest = 0;
    for (int k = begin; k < end; k++) {
        if (maker->held[k] == NOWHERE && !maker->pinned[k])
            return k;
        if (maker->pinned[k])
            continue;
        const uint32_t use = next_use(maker, maker->held[k] / 2);
        if (use >= latest) {
            latest = use;
            found = k;
        }
    }
    if (latest != NEVER)
        keep(maker, maker->held[found]);
    let_go(maker, found);
    return found;
}

int weft__place_register(weft__maker *maker, int32_t value, int part)
{
    const int32_t unit = 2 * value + part;
    if (maker->in[unit] < 0) {
        const int number = find_register(maker, is_mask(maker, unit));
        load(maker, unit, number);
        hold(maker, unit, number);
    }
    maker->pinned[maker->in[unit]] = true;
    return maker->in[unit] >= WEFT__MASKS ? maker->in[unit] - WEFT__MASKS : maker->in[unit];
}

bool weft__place_is_constant(const weft__maker *maker, int32_t value)
{
    return maker->source->kernel->values[value].op == WEFT__OP_constant && maker->in[2 * value] < 0;
}

weft__operand weft__place_operand(weft__maker *maker, int32_t value, int part)
{
    const int32_t unit = 2 * value + part;
    const weft__value *of = value_of(maker, unit);
    if (maker->in[unit] < 0 && of->op == WEFT__OP_constant)
        return (weft__operand){WEFT__IN_CONSTANT, weft__assemble_constant(&maker->code, of->bits)};
    if (maker->in[unit] < 0 && !is_needed(maker, value))
        return place_of(maker, unit);
    return weft__in_register(weft__place_register(maker, value, part));
}

bool weft__place_ends(const weft__maker *maker, int32_t value, int part)
{
    return maker->in[2 * value + part] >= 0 && !is_needed(maker, value);
}

void weft__place_drop(weft__maker *maker, int32_t value, int part)
{
    const int number = maker->in[2 * value + part];
    if (!weft__place_ends(maker, value, part))
        return;
    maker->pinned[number] = false;
    let_go(maker, number);
}

int weft__place_new(weft__maker *maker, uint32_t value, int part)
{
    const int32_t unit = (int32_t)(2 * value) + part;
    const int number = find_register(maker, is_mask(maker, unit));
    hold(maker, unit, number);
    maker->made[value] = maker->now;
    return number >= WEFT__MASKS ? number - WEFT__MASKS : number;
}

void weft__place_take(weft__maker *maker, uint32_t value, int32_t from, int part)
{
    const int32_t unit = (int32_t)(2 * value) + part;
    const int have = weft__place_register(maker, from, part);
    const bool mask = is_mask(maker, unit);
    if (weft__place_ends(maker, from, part)) {
        weft__place_drop(maker, from, part);
        hold(maker, unit, mask ? have + WEFT__MASKS : have);
        maker->made[value] = maker->now;
        return;
    }
    const int number = weft__place_new(maker, value, part);
    if (mask)
        weft__assemble_mask(&maker->code, MASK_MOVE, false, number, 0, weft__in_register(have),
                            WEFT__NO_IMMEDIATE);
    else
        move_vector(maker, MOVE, unit, number, weft__in_register(have));
}

void weft__place_made(weft__maker *maker, uint32_t value)
{
    const weft_dtype dtype = (weft_dtype)maker->source->kernel->values[value].dtype;
    for (int part = 0; maker->leaves[value] && part < weft__x86_parts(maker, dtype); part++)
        keep(maker, (int32_t)(2 * value) + part);
}

void weft__place_enter(weft__maker *maker, uint32_t skip)
{
    const weft__skip *of = &maker->source->skips[skip];
    const int mask = weft__place_register(maker, (int32_t)of->condition, 0);
    const uint32_t test = maker->source->lanes == 16 ? MASK_TEST_16 : MASK_TEST_8;
    weft__assemble_mask(&maker->code, test, false, mask, 0, weft__in_register(mask),
                        WEFT__NO_IMMEDIATE);
    weft__skipping *skipping = &maker->skipping[maker->deep++];
    skipping->jump =
        weft__assemble_jump(&maker->code, of->side == 1 ? WEFT__IF_ZERO : WEFT__IF_CARRY);
    skipping->step = maker->now;
    memcpy(skipping->held, maker->held, sizeof maker->held);
}

/* What was made in a skip and is used after it is in the frame then; if it was skipped, with
 * anything in its place. */
static void keep_made(weft__maker *maker, const weft__skipping *skipping)
{
    for (int k = 0; k < WEFT__REGISTERS; k++) {
        const int32_t unit = maker->held[k];
        if (unit != NOWHERE && value_of(maker, unit)->op != WEFT__OP_constant &&
            maker->made[unit / 2] > skipping->step && is_needed(maker, unit / 2))
            keep(maker, unit);
    }
}

/* Everything else is where it was. What had to leave its register is in the frame. */
static void restore(weft__maker *maker, const weft__skipping *skipping)
{
    for (int k = 0; k < WEFT__REGISTERS; k++) {
        const int32_t unit = skipping->held[k];
        if (unit != NOWHERE && unit != maker->held[k] && is_needed(maker, unit / 2))
            load(maker, unit, k);
    }
    for (int k = 0; k < WEFT__REGISTERS; k++)
        let_go(maker, k);
    for (int k = 0; k < WEFT__REGISTERS; k++)
        if (skipping->held[k] != NOWHERE && is_needed(maker, skipping->held[k] / 2))
            hold(maker, skipping->held[k], k);
    memset(maker->pinned, 0, sizeof maker->pinned);
}

/* What was put to the frame only where nothing was skipped is not there. */
static void forget_kept(weft__maker *maker, const weft__skipping *skipping)
{
    const uint32_t units = 2 * maker->source->kernel->values_count;
    for (uint32_t unit = 0; unit < units; unit++)
        if (maker->kept[unit] == maker->deep + 1)
            maker->kept[unit] = maker->made[unit / 2] > skipping->step ? (uint8_t)maker->deep : 0;
}

void weft__place_leave(weft__maker *maker)
{
    const weft__skipping *skipping = &maker->skipping[maker->deep - 1];
    keep_made(maker, skipping);
    restore(maker, skipping);
    forget_kept(maker, skipping);
    maker->deep--;
    weft__assemble_land(&maker->code, skipping->jump);
}
