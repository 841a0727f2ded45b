/* Integers divided as f64, which is exact for those below 2^53: a quotient that is no integer is
 * further from the next one than it is rounded. Vectors with larger ones are divided lane by lane.
 */
#include "codegen/x86/make.h"

enum {
    EQUAL = 0,
    QUOTIENT = WEFT__X86_SCRATCH_2,
    DIVISOR = WEFT__X86_SCRATCH_1, /* with 1 in the place of 0, and of -1 if it has 64 bits */
    SCRATCH = WEFT__X86_SCRATCH,
    BY_ZERO = WEFT__MASK_SCRATCH,
    BY_MINUS_ONE = WEFT__MASK_SCRATCH_1
};

#define OF(wide, map, prefix, opcode)                                                              \
    ((wide) ? WEFT__X86(map, prefix, 1, opcode) : WEFT__X86(map, prefix, 0, opcode))
#define DIVIDE WEFT__X86(1, 1, 1, 0x5e)
#define ROUND WEFT__X86(3, 1, 1, 0x09)
#define HIGH_HALF WEFT__X86(3, 1, 1, 0x1b)
#define WITH_HIGH_HALF WEFT__X86(3, 1, 1, 0x1a)
#define TEST_8 WEFT__X86(1, 1, 0, 0x98)
#define LOAD WEFT__X86(1, 0, 0, 0x10)
#define STORE WEFT__X86(1, 0, 0, 0x11)

/* A division of one part. */
typedef struct division {
    weft__maker *maker;
    int x, y, bytes; /* registers, and those of their part */
    bool wide, is_signed, remainder;
} division;

static weft__operand constant(const division *d, uint64_t bits)
{
    return (weft__operand){WEFT__IN_CONSTANT, weft__assemble_constant(&d->maker->code, bits)};
}

static void emit(const division *d, weft__instruction instruction)
{
    instruction.bytes = instruction.bytes ? instruction.bytes : d->bytes;
    weft__assemble(&d->maker->code, &instruction);
}

/* Without a mask and an immediate. */
static void emit_plain(const division *d, uint32_t code, int bytes, int to, int from, int operand)
{
    emit(d, (weft__instruction){.code = code,
                                .bytes = bytes,
                                .to = to,
                                .from = from,
                                .operand = weft__in_register(operand),
                                .immediate = WEFT__NO_IMMEDIATE});
}

/* The lanes of the divisor that have a value, which 1 then is in the place of. */
static void replace(const division *d, int mask, uint64_t bits)
{
    emit(d, (weft__instruction){.code = OF(d->wide, 3, 1, 0x1f),
                                .to = mask,
                                .from = d->y,
                                .operand = constant(d, bits),
                                .immediate = EQUAL});
    emit(d, (weft__instruction){.code = OF(d->wide, 2, 1, 0x64),
                                .to = DIVISOR,
                                .from = DIVISOR,
                                .operand = constant(d, 1),
                                .mask = mask,
                                .immediate = WEFT__NO_IMMEDIATE});
}

/* Eight quotients, as f64, of which `x` and `y` hold the integers, become those of integers in
 * `to`. */
static void divide_eight(const division *d, int to, int x, int y)
{
    static const uint32_t in[2][2] = {{WEFT__X86(1, 2, 0, 0x7a), WEFT__X86(1, 2, 1, 0x7a)},
                                      {WEFT__X86(1, 2, 0, 0xe6), WEFT__X86(1, 2, 1, 0xe6)}};
    static const uint32_t out[2][2] = {{WEFT__X86(1, 0, 1, 0x78), WEFT__X86(1, 1, 1, 0x78)},
                                       {WEFT__X86(1, 1, 1, 0xe6), WEFT__X86(1, 1, 1, 0x7a)}};
    emit_plain(d, in[d->is_signed][d->wide], WEFT__X86_LINE, SCRATCH, 0, y);
    emit_plain(d, in[d->is_signed][d->wide], WEFT__X86_LINE, to, 0, x);
    emit_plain(d, DIVIDE, WEFT__X86_LINE, to, to, SCRATCH);
    emit(d, (weft__instruction){.code = ROUND,
                                .bytes = WEFT__X86_LINE,
                                .to = to,
                                .operand = weft__in_register(to),
                                .immediate = 11});
    emit_plain(d, out[d->is_signed][d->wide], WEFT__X86_LINE, to, 0, to);
}

/* The high half of a register. */
static void take_high(const division *d, int to, int from)
{
    emit(d, (weft__instruction){.code = HIGH_HALF,
                                .bytes = WEFT__X86_LINE,
                                .to = from,
                                .operand = weft__in_register(to),
                                .immediate = 1});
}

/* Sixteen are two times eight; `free` is a register that nothing is in yet. */
static void divide_narrow(const division *d, int free)
{
    if (d->bytes == WEFT__X86_LINE) {
        take_high(d, free, d->x);
        take_high(d, QUOTIENT, DIVISOR);
        divide_eight(d, free, free, QUOTIENT);
    }
    divide_eight(d, QUOTIENT, d->x, DIVISOR);
    if (d->bytes == WEFT__X86_LINE)
        emit(d, (weft__instruction){.code = WITH_HIGH_HALF,
                                    .to = QUOTIENT,
                                    .from = QUOTIENT,
                                    .operand = weft__in_register(free),
                                    .immediate = 1});
}

static void move_line(const division *d, uint32_t code, int number, uint32_t at)
{
    emit(d, (weft__instruction){.code = code,
                                .bytes = WEFT__X86_LINE,
                                .to = number,
                                .operand = {WEFT__IN_FRAME, at},
                                .immediate = WEFT__NO_IMMEDIATE});
}

static void divide_lanes(const division *d)
{
    weft__maker *maker = d->maker;
    if (maker->room == 0) {
        maker->room = maker->frame;
        maker->frame += 2 * WEFT__X86_LINE;
    }
    move_line(d, STORE, d->x, maker->room);
    move_line(d, STORE, DIVISOR, maker->room + WEFT__X86_LINE);
    for (uint32_t k = 0; k < WEFT__X86_LINE; k += 8)
        weft__assemble_divide(&maker->code, maker->room + k, maker->room + WEFT__X86_LINE + k,
                              d->is_signed);
    move_line(d, LOAD, QUOTIENT, maker->room);
}

/* The bits that numbers of either have, their signs aside. */
static void find_bits(const division *d)
{
    const uint32_t magnitude = WEFT__X86(2, 1, 1, 0x1f), either = WEFT__X86(1, 1, 1, 0xeb);
    if (d->is_signed) {
        emit_plain(d, magnitude, 0, SCRATCH, 0, d->x);
        emit_plain(d, magnitude, 0, QUOTIENT, 0, DIVISOR);
        emit_plain(d, either, 0, SCRATCH, SCRATCH, QUOTIENT);
    } else {
        emit_plain(d, either, 0, SCRATCH, d->x, DIVISOR);
    }
}

static void divide_wide(const division *d)
{
    weft__assembly *code = &d->maker->code;
    find_bits(d);
    emit(d, (weft__instruction){.code = WEFT__X86(2, 1, 1, 0x27),
                                .to = BY_MINUS_ONE,
                                .from = SCRATCH,
                                .operand = constant(d, 0xffe0000000000000U),
                                .immediate = WEFT__NO_IMMEDIATE});
    weft__assemble_mask(code, TEST_8, false, BY_MINUS_ONE, 0, weft__in_register(BY_MINUS_ONE),
                        WEFT__NO_IMMEDIATE);
    const uint32_t large = weft__assemble_jump(code, WEFT__IF_NOT_ZERO);
    divide_eight(d, QUOTIENT, d->x, DIVISOR);
    const uint32_t done = weft__assemble_jump(code, WEFT__ALWAYS);
    weft__assemble_land(code, large);
    divide_lanes(d);
    weft__assemble_land(code, done);
}

/* x - quotient * divisor; x if that was 0. */
static void finish_remainder(const division *d, int to)
{
    emit_plain(d, OF(d->wide, 2, 1, 0x40), 0, QUOTIENT, QUOTIENT, DIVISOR);
    emit_plain(d, d->wide ? WEFT__X86(1, 1, 1, 0xfb) : WEFT__X86(1, 1, 0, 0xfa), 0, to, d->x,
               QUOTIENT);
    emit(d, (weft__instruction){.code = OF(d->wide, 1, 1, 0x6f),
                                .to = to,
                                .operand = weft__in_register(d->x),
                                .mask = BY_ZERO,
                                .immediate = WEFT__NO_IMMEDIATE});
}

/* 0 if the divisor was that; -x if it was -1 and has 64 bits, for f64 has no -2^63 / -1. */
static void finish_quotient(const division *d, int to)
{
    const uint32_t negate = WEFT__X86(1, 1, 1, 0xfb);
    const uint32_t exclusive = OF(d->wide, 1, 1, 0xef);
    emit_plain(d, exclusive, 0, SCRATCH, SCRATCH, SCRATCH);
    if (d->is_signed && d->wide) {
        emit(d, (weft__instruction){.code = WEFT__X86(3, 1, 1, 0x1f),
                                    .to = BY_MINUS_ONE,
                                    .from = d->y,
                                    .operand = constant(d, ~(uint64_t)0),
                                    .immediate = EQUAL});
        emit(d, (weft__instruction){.code = negate,
                                    .to = QUOTIENT,
                                    .from = SCRATCH,
                                    .operand = weft__in_register(d->x),
                                    .mask = BY_MINUS_ONE,
                                    .immediate = WEFT__NO_IMMEDIATE});
    }
    emit(d, (weft__instruction){.code = OF(d->wide, 2, 1, 0x64),
                                .to = to,
                                .from = QUOTIENT,
                                .operand = weft__in_register(SCRATCH),
                                .mask = BY_ZERO,
                                .immediate = WEFT__NO_IMMEDIATE});
}

void weft__x86_divide(weft__maker *maker, uint32_t number)
{
    const weft__value *value = &maker->source->kernel->values[number];
    const weft_dtype dtype = (weft_dtype)value->dtype;
    const int parts = weft__x86_parts(maker, dtype);
    for (int part = 0; part < parts; part++) {
        division d = {.maker = maker,
                      .bytes = weft__x86_part_bytes(maker, dtype),
                      .wide = weft__x86_bytes(dtype) == 8,
                      .is_signed = dtype == WEFT_I32 || dtype == WEFT_I64,
                      .remainder = value->op == WEFT__OP_rem};
        d.x = weft__place_register(maker, value->argument[0], part);
        d.y = weft__place_register(maker, value->argument[1], part);
        const int to = weft__place_new(maker, number, part);
        emit_plain(&d, WEFT__X86(1, 0, 0, 0x28), 0, DIVISOR, 0, d.y);
        replace(&d, BY_ZERO, 0);
        if (d.wide && d.is_signed)
            replace(&d, BY_MINUS_ONE, ~(uint64_t)0);
        if (d.wide)
            divide_wide(&d);
        else
            divide_narrow(&d, to);
        (d.remainder ? finish_remainder : finish_quotient)(&d, to);
        weft__place_drop(maker, value->argument[0], part);
        weft__place_drop(maker, value->argument[1], part);
    }
}
