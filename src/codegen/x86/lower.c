/* Primitives as instructions, with every corner of docs/semantics.md. */
#include "codegen/x86/make.h"

/* Values of predicates that compare. */
enum {
    EQUAL = 0,
    LESS = 1,
    LESS_OR_EQUAL = 2,
    NOT_EQUAL = 4,
    NOT_LESS = 5,
    NOT_LESS_OR_EQUAL = 6,
    FLOAT_LESS = 0x11,
    FLOAT_LESS_OR_EQUAL = 0x12,
    FLOAT_UNORDERED = 3,
    FLOAT_NOT_AT_LEAST = 0x19,
    FLOAT_AT_LEAST = 0x1d,
    FLOAT_MORE = 0x1e
};

/* The same instruction of 32 and of 64 bits. */
#define BOTH(map, prefix, opcode)                                                                  \
    {                                                                                              \
        WEFT__X86(map, prefix, 0, opcode), WEFT__X86(map, prefix, 1, opcode)                       \
    }
typedef uint32_t both[2];
static const both AND = BOTH(1, 1, 0xdb), OR = BOTH(1, 1, 0xeb), XOR = BOTH(1, 1, 0xef),
                  ADD = {WEFT__X86(1, 1, 0, 0xfe), WEFT__X86(1, 1, 1, 0xd4)},
                  SUBTRACT = {WEFT__X86(1, 1, 0, 0xfa), WEFT__X86(1, 1, 1, 0xfb)},
                  BLEND = BOTH(2, 1, 0x64), MOVE = BOTH(1, 1, 0x6f),
                  REPEAT = {WEFT__X86(2, 1, 0, 0x58) | WEFT__X86_BROADCASTS,
                            WEFT__X86(2, 1, 1, 0x59) | WEFT__X86_BROADCASTS},
                  COMPARE = {WEFT__X86(1, 0, 0, 0xc2), WEFT__X86(1, 1, 1, 0xc2)},
                  COMPARE_SIGNED = BOTH(3, 1, 0x1f), COMPARE_UNSIGNED = BOTH(3, 1, 0x1e),
                  TEST = BOTH(2, 1, 0x27), MULTIPLY_ADD = BOTH(2, 1, 0xa8),
                  MULTIPLY_ADD_TO = BOTH(2, 1, 0xb8);
#define SHIFT_RIGHT_64 WEFT__X86(1, 1, 1, 0x73)        /* by an immediate; `to` is 2 */
#define SHIFT_RIGHT_32 WEFT__X86(1, 1, 0, 0x72)        /* the same */
#define SHIFT_RIGHT_SIGNED_64 WEFT__X86(1, 1, 1, 0x72) /* `to` is 4 */
#define MULTIPLY_U32 WEFT__X86(1, 1, 1, 0xf4)
#define MULTIPLY_I32 WEFT__X86(2, 1, 1, 0x28)
#define HIGH_HALF WEFT__X86(3, 1, 1, 0x1b)
#define WITH_HIGH_HALF WEFT__X86(3, 1, 1, 0x1a)
#define TO_F16 WEFT__X86(3, 1, 0, 0x1d)
#define FROM_F16 WEFT__X86(2, 1, 0, 0x13)
#define TRUNCATE_64 WEFT__X86(2, 2, 0, 0x35)
#define MASK_AND WEFT__X86(1, 0, 0, 0x41)
#define MASK_AND_NOT WEFT__X86(1, 0, 0, 0x42)
#define MASK_NOT WEFT__X86(1, 0, 0, 0x44)
#define MASK_OR WEFT__X86(1, 0, 0, 0x45)
#define MASK_SAME WEFT__X86(1, 0, 0, 0x46)
#define MASK_DIFFERS WEFT__X86(1, 0, 0, 0x47)
#define MASK_JOIN WEFT__X86(1, 1, 0, 0x4b)
#define MASK_SHIFT WEFT__X86(3, 1, 1, 0x30)

/* A primitive that is being made. */
typedef struct lowering {
    weft__maker *maker;
    uint32_t number;
    const weft__value *value;
    const int32_t *x;    /* its arguments */
    weft_dtype to, from; /* its dtype, and that of its (second, of a select) argument */
    int parts;           /* of what it gives */
} lowering;

static bool is_float(weft_dtype dtype) { return dtype == WEFT_F32 || dtype == WEFT_F64; }
static bool is_signed(weft_dtype dtype) { return dtype == WEFT_I32 || dtype == WEFT_I64; }
static int wide(weft_dtype dtype) { return weft__x86_bytes(dtype) == 8; }

static weft__operand constant(const lowering *l, uint64_t bits)
{
    return (weft__operand){WEFT__IN_CONSTANT, weft__assemble_constant(&l->maker->code, bits)};
}

static void emit_immediate(const lowering *l, uint32_t code, int bytes, int to, int from,
                           weft__operand operand, int immediate)
{
    weft__assemble(&l->maker->code, &(weft__instruction){.code = code,
                                                         .bytes = bytes,
                                                         .to = to,
                                                         .from = from,
                                                         .operand = operand,
                                                         .immediate = immediate});
}

static void emit(const lowering *l, uint32_t code, int bytes, int to, int from,
                 weft__operand operand)
{
    emit_immediate(l, code, bytes, to, from, operand, WEFT__NO_IMMEDIATE);
}

static void emit_masked(const lowering *l, uint32_t code, int bytes, int to, int mask, bool zero,
                        weft__operand operand)
{
    weft__assemble(&l->maker->code, &(weft__instruction){.code = code,
                                                         .bytes = bytes,
                                                         .to = to,
                                                         .operand = operand,
                                                         .mask = mask,
                                                         .zero = zero,
                                                         .immediate = WEFT__NO_IMMEDIATE});
}

static void emit_mask(const lowering *l, uint32_t code, int to, int from, int operand)
{
    const bool one = code == MASK_NOT;
    weft__assemble_mask(&l->maker->code, code, !one, to, one ? 0 : from, weft__in_register(operand),
                        WEFT__NO_IMMEDIATE);
}

static int part_bytes(const lowering *l, weft_dtype dtype)
{
    return weft__x86_part_bytes(l->maker, dtype);
}

static int reg(const lowering *l, int k, int part)
{
    return weft__place_register(l->maker, l->x[k], part);
}

static weft__operand operand(const lowering *l, int k, int part)
{
    return weft__place_operand(l->maker, l->x[k], part);
}

static void drop(const lowering *l, int part)
{
    for (int k = 0; k < weft__value_arguments(l->maker->source->kernel, l->value); k++)
        weft__place_drop(l->maker, l->x[k], part);
}

static int result(const lowering *l, int part)
{
    return weft__place_new(l->maker, l->number, part);
}

/* The mask of the lanes of one part, of a mask of all. */
static int mask_of(const lowering *l, int mask, int part)
{
    if (part == 0)
        return mask;
    weft__assemble_mask(&l->maker->code, MASK_SHIFT, false, WEFT__MASK_SCRATCH_1, 0,
                        weft__in_register(mask), 8);
    return WEFT__MASK_SCRATCH_1;
}

/* Of two arguments, where what is given may be in the place of either. */
static void lower_two(const lowering *l, uint32_t code, bool turns, int immediate)
{
    const bool turned = turns && weft__place_is_constant(l->maker, l->x[0]) && l->x[0] != l->x[1];
    for (int part = 0; part < l->parts; part++) {
        const int first = reg(l, turned, part);
        const weft__operand second = operand(l, !turned, part);
        drop(l, part);
        emit_immediate(l, code, part_bytes(l, l->from), result(l, part), first, second, immediate);
    }
}

static void lower_one(const lowering *l, uint32_t code, int immediate)
{
    for (int part = 0; part < l->parts; part++) {
        const weft__operand x = operand(l, 0, part);
        drop(l, part);
        emit_immediate(l, code, part_bytes(l, l->from), result(l, part), 0, x, immediate);
    }
}

/* Of an argument and a constant. */
static void lower_with(const lowering *l, uint32_t code, uint64_t bits)
{
    for (int part = 0; part < l->parts; part++) {
        const int x = reg(l, 0, part);
        drop(l, part);
        emit(l, code, part_bytes(l, l->from), result(l, part), x, constant(l, bits));
    }
}

/* Compares all lanes of an argument with a constant, or with itself. */
static int compare_argument(const lowering *l, uint32_t code, int predicate, const uint64_t *with)
{
    int masks[2] = {WEFT__MASK_SCRATCH, WEFT__MASK_SCRATCH_1};
    const int parts = weft__x86_parts(l->maker, l->from);
    for (int part = 0; part < parts; part++) {
        const int x = reg(l, 0, part);
        emit_immediate(l, code, part_bytes(l, l->from), masks[part], x,
                       with ? constant(l, *with) : weft__in_register(x), predicate);
    }
    if (parts == 2)
        emit_mask(l, MASK_JOIN, masks[0], masks[1], masks[0]);
    return masks[0];
}

static int find_nans(const lowering *l)
{
    return compare_argument(l, COMPARE[wide(l->from)], FLOAT_UNORDERED, NULL);
}

/* Vectors compared give a mask, of two parts joined. */
static void compare(const lowering *l, uint32_t code, int predicate, int turned_predicate)
{
    const bool turned = weft__place_is_constant(l->maker, l->x[0]) && l->x[0] != l->x[1];
    const int parts = weft__x86_parts(l->maker, l->from), bytes = part_bytes(l, l->from);
    int masks[2] = {WEFT__MASK_SCRATCH, WEFT__MASK_SCRATCH_1};
    for (int part = 0; part < parts; part++) {
        const int first = reg(l, turned, part);
        const weft__operand second = operand(l, !turned, part);
        drop(l, part);
        if (parts == 1)
            masks[0] = result(l, 0);
        emit_immediate(l, code, bytes, masks[part], first, second,
                       turned ? turned_predicate : predicate);
    }
    if (parts == 2)
        emit_mask(l, MASK_JOIN, result(l, 0), masks[1], masks[0]);
}

/* By predicate: equal, not equal, less, less or equal. */
static void lower_compare_vectors(const lowering *l)
{
    static const uint8_t floats[] = {EQUAL, NOT_EQUAL, FLOAT_LESS, FLOAT_LESS_OR_EQUAL};
    static const uint8_t floats_turned[] = {EQUAL, NOT_EQUAL, FLOAT_MORE, FLOAT_AT_LEAST};
    static const uint8_t integers[] = {EQUAL, NOT_EQUAL, LESS, LESS_OR_EQUAL};
    static const uint8_t integers_turned[] = {EQUAL, NOT_EQUAL, NOT_LESS_OR_EQUAL, NOT_LESS};
    const int k = l->value->op - WEFT__OP_eq, w = wide(l->from);
    if (is_float(l->from))
        compare(l, COMPARE[w], floats[k], floats_turned[k]);
    else
        compare(l, is_signed(l->from) ? COMPARE_SIGNED[w] : COMPARE_UNSIGNED[w], integers[k],
                integers_turned[k]);
}

/* Of bools; false is less than true. */
static void lower_truths(const lowering *l)
{
    const int x = reg(l, 0, 0);
    const int y = weft__value_arguments(l->maker->source->kernel, l->value) > 1 ? reg(l, 1, 0) : 0;
    drop(l, 0);
    const int to = result(l, 0), scratch = WEFT__MASK_SCRATCH;
    switch ((weft__op)l->value->op) {
    case WEFT__OP_and:
        emit_mask(l, MASK_AND, to, x, y);
        break;
    case WEFT__OP_or:
        emit_mask(l, MASK_OR, to, x, y);
        break;
    case WEFT__OP_xor:
    case WEFT__OP_ne:
        emit_mask(l, MASK_DIFFERS, to, x, y);
        break;
    case WEFT__OP_eq:
        emit_mask(l, MASK_SAME, to, x, y);
        break;
    case WEFT__OP_lt:
        emit_mask(l, MASK_AND_NOT, to, x, y);
        break;
    case WEFT__OP_le:
        emit_mask(l, MASK_NOT, scratch, 0, x);
        emit_mask(l, MASK_OR, to, scratch, y);
        break;
    default:
        emit_mask(l, MASK_NOT, to, 0, x);
    }
}

static void lower_select_truths(const lowering *l)
{
    const int condition = reg(l, 0, 0), x = reg(l, 1, 0), y = reg(l, 2, 0);
    drop(l, 0);
    emit_mask(l, MASK_AND, WEFT__MASK_SCRATCH, condition, x);
    emit_mask(l, MASK_AND_NOT, WEFT__MASK_SCRATCH_1, condition, y);
    emit_mask(l, MASK_OR, result(l, 0), WEFT__MASK_SCRATCH, WEFT__MASK_SCRATCH_1);
}

static void lower_select(const lowering *l)
{
    const int condition = reg(l, 0, 0);
    for (int part = 0; part < l->parts; part++) {
        const int other = reg(l, 2, part);
        const weft__operand taken = operand(l, 1, part);
        const int mask = mask_of(l, condition, part);
        weft__place_drop(l->maker, l->x[1], part);
        weft__place_drop(l->maker, l->x[2], part);
        weft__assemble(&l->maker->code, &(weft__instruction){.code = BLEND[wide(l->to)],
                                                             .bytes = part_bytes(l, l->to),
                                                             .to = result(l, part),
                                                             .from = other,
                                                             .operand = taken,
                                                             .mask = mask,
                                                             .immediate = WEFT__NO_IMMEDIATE});
    }
    weft__place_drop(l->maker, l->x[0], 0);
}

/* What is given takes the place of an argument that nobody needs any more. */
static void lower_fma(const lowering *l)
{
    const int w = wide(l->to), bytes = part_bytes(l, l->to);
    for (int part = 0; part < l->parts; part++) {
        int taken = -1;
        for (int k = 2; k >= 0; k--)
            if (weft__place_ends(l->maker, l->x[k], part))
                taken = k;
        if (taken == 2 && l->x[2] != l->x[0] && l->x[2] != l->x[1]) {
            const int x = reg(l, 0, part);
            const weft__operand y = operand(l, 1, part);
            weft__place_take(l->maker, l->number, l->x[2], part);
            emit(l, MULTIPLY_ADD_TO[w], bytes, l->maker->in[2 * l->number + (uint32_t)part], x, y);
        } else {
            const int first = taken == 1 ? 1 : 0;
            const int y = reg(l, 1 - first, part);
            const weft__operand z = operand(l, 2, part);
            weft__place_take(l->maker, l->number, l->x[first], part);
            emit(l, MULTIPLY_ADD[w], bytes, l->maker->in[2 * l->number + (uint32_t)part], y, z);
        }
        drop(l, part);
    }
}

/* The smaller or larger; of equal ones and if the second is a NaN, the second, as processors have
 * it; but the first if that is a NaN. */
static void lower_extreme(const lowering *l, uint32_t code)
{
    const int w = wide(l->from), bytes = part_bytes(l, l->from);
    for (int part = 0; part < l->parts; part++) {
        const int x = reg(l, 0, part);
        const weft__operand y = operand(l, 1, part);
        const int to = result(l, part);
        emit(l, code, bytes, to, x, y);
        emit_immediate(l, COMPARE[w], bytes, WEFT__MASK_SCRATCH, x, weft__in_register(x),
                       FLOAT_UNORDERED);
        emit_masked(l, MOVE[w], bytes, to, WEFT__MASK_SCRATCH, false, weft__in_register(x));
        drop(l, part);
    }
}

static void lower_floats(const lowering *l)
{
    const int w = wide(l->from);
    const uint64_t sign = w ? (uint64_t)1 << 63 : 0x80000000U, rest = w ? sign - 1 : 0x7fffffffU;
    static const both round = {WEFT__X86(3, 1, 0, 0x08), WEFT__X86(3, 1, 1, 0x09)};
#define FLOATS(opcode) (w ? WEFT__X86(1, 1, 1, opcode) : WEFT__X86(1, 0, 0, opcode))
    switch ((weft__op)l->value->op) {
    case WEFT__OP_add:
        lower_two(l, FLOATS(0x58), true, WEFT__NO_IMMEDIATE);
        break;
    case WEFT__OP_sub:
        lower_two(l, FLOATS(0x5c), false, WEFT__NO_IMMEDIATE);
        break;
    case WEFT__OP_mul:
        lower_two(l, FLOATS(0x59), true, WEFT__NO_IMMEDIATE);
        break;
    case WEFT__OP_div:
        lower_two(l, FLOATS(0x5e), false, WEFT__NO_IMMEDIATE);
        break;
    case WEFT__OP_sqrt:
        lower_one(l, FLOATS(0x51), WEFT__NO_IMMEDIATE);
        break;
    case WEFT__OP_min:
        lower_extreme(l, FLOATS(0x5d));
        break;
    case WEFT__OP_max:
        lower_extreme(l, FLOATS(0x5f));
        break;
    case WEFT__OP_neg:
        lower_with(l, XOR[w], sign);
        break;
    case WEFT__OP_abs:
        lower_with(l, AND[w], rest);
        break;
    case WEFT__OP_floor:
        lower_one(l, round[w], 9);
        break;
    case WEFT__OP_ceil:
        lower_one(l, round[w], 10);
        break;
    case WEFT__OP_trunc:
        lower_one(l, round[w], 11);
        break;
    default:
        lower_one(l, round[w], 8);
    }
#undef FLOATS
}

/* -x is ~x + 1. */
static void lower_negative(const lowering *l)
{
    const int w = wide(l->to), bytes = part_bytes(l, l->to);
    const uint64_t ones = w ? ~(uint64_t)0 : UINT32_MAX;
    for (int part = 0; part < l->parts; part++) {
        const int x = reg(l, 0, part);
        drop(l, part);
        const int to = result(l, part);
        emit(l, XOR[w], bytes, to, x, constant(l, ones));
        emit(l, SUBTRACT[w], bytes, to, to, constant(l, ones));
    }
}

static void shift_right(const lowering *l, int bytes, int to, int from)
{
    emit_immediate(l, SHIFT_RIGHT_64, bytes, 2, to, weft__in_register(from), 32);
}

/* Processors multiply the low halves of 64 bits: elements at odd places are moved there. */
static void lower_multiply_high_32(const lowering *l)
{
    const uint32_t multiply = is_signed(l->to) ? MULTIPLY_I32 : MULTIPLY_U32;
    const int bytes = part_bytes(l, l->to), even = WEFT__X86_SCRATCH_2, odd = WEFT__X86_SCRATCH_1;
    const int x = reg(l, 0, 0), y = reg(l, 1, 0), to = result(l, 0);
    emit(l, multiply, bytes, even, x, weft__in_register(y));
    shift_right(l, bytes, even, even);
    shift_right(l, bytes, odd, x);
    shift_right(l, bytes, to, y);
    emit(l, multiply, bytes, to, odd, weft__in_register(to));
    emit(l, AND[1], bytes, to, to, constant(l, (uint64_t)UINT32_MAX << 32));
    emit(l, OR[1], bytes, to, to, weft__in_register(even));
    drop(l, 0);
}

/* Takes what a negative x has too much, y, from the product of both as if they were not signed. */
static void correct_sign(const lowering *l, int to, int x, int y)
{
    const int bytes = WEFT__X86_LINE, scratch = WEFT__X86_SCRATCH_2;
    emit_immediate(l, SHIFT_RIGHT_SIGNED_64, bytes, 4, scratch, weft__in_register(x), 63);
    emit(l, AND[1], bytes, scratch, scratch, weft__in_register(y));
    emit(l, SUBTRACT[1], bytes, to, to, weft__in_register(scratch));
}

/* Of four products of halves. */
static void lower_multiply_high_64(const lowering *l)
{
    const int bytes = WEFT__X86_LINE;
    for (int part = 0; part < l->parts; part++) {
        const int x = reg(l, 0, part), y = reg(l, 1, part), to = result(l, part);
        const int high = WEFT__X86_SCRATCH_2, low = WEFT__X86_SCRATCH_1, middle = WEFT__X86_SCRATCH;
        shift_right(l, bytes, high, x);
        shift_right(l, bytes, to, y);
        emit(l, MULTIPLY_U32, bytes, low, x, weft__in_register(y));
        shift_right(l, bytes, low, low);
        emit(l, MULTIPLY_U32, bytes, middle, high, weft__in_register(y));
        emit(l, ADD[1], bytes, middle, middle, weft__in_register(low));
        emit(l, MULTIPLY_U32, bytes, low, x, weft__in_register(to));
        emit(l, MULTIPLY_U32, bytes, to, high, weft__in_register(to));
        emit(l, AND[1], bytes, high, middle, constant(l, UINT32_MAX));
        emit(l, ADD[1], bytes, high, high, weft__in_register(low));
        shift_right(l, bytes, middle, middle);
        emit(l, ADD[1], bytes, to, to, weft__in_register(middle));
        shift_right(l, bytes, high, high);
        emit(l, ADD[1], bytes, to, to, weft__in_register(high));
        if (is_signed(l->to)) {
            correct_sign(l, to, x, y);
            correct_sign(l, to, y, x);
        }
        drop(l, part);
    }
}

/* Counts beyond the width give 0, or the sign, as processors have it. */
static void lower_integers(const lowering *l)
{
    const int w = wide(l->from), none = WEFT__NO_IMMEDIATE;
    const bool has_sign = is_signed(l->from);
#define INTEGERS(map, prefix, opcode)                                                              \
    (w ? WEFT__X86(map, prefix, 1, opcode) : WEFT__X86(map, prefix, 0, opcode))
    switch ((weft__op)l->value->op) {
    case WEFT__OP_add:
        lower_two(l, ADD[w], true, none);
        break;
    case WEFT__OP_sub:
        lower_two(l, SUBTRACT[w], false, none);
        break;
    case WEFT__OP_mul:
        lower_two(l, INTEGERS(2, 1, 0x40), true, none);
        break;
    case WEFT__OP_mul_high:
        (w ? lower_multiply_high_64 : lower_multiply_high_32)(l);
        break;
    case WEFT__OP_neg:
        lower_negative(l);
        break;
    case WEFT__OP_abs:
        if (has_sign)
            lower_one(l, w ? WEFT__X86(2, 1, 1, 0x1f) : WEFT__X86(2, 1, 0, 0x1e), none);
        else
            for (int part = 0; part < l->parts; part++)
                weft__place_take(l->maker, l->number, l->x[0], part);
        break;
    case WEFT__OP_min:
        lower_two(l, has_sign ? INTEGERS(2, 1, 0x39) : INTEGERS(2, 1, 0x3b), true, none);
        break;
    case WEFT__OP_max:
        lower_two(l, has_sign ? INTEGERS(2, 1, 0x3d) : INTEGERS(2, 1, 0x3f), true, none);
        break;
    case WEFT__OP_and:
        lower_two(l, AND[w], true, none);
        break;
    case WEFT__OP_or:
        lower_two(l, OR[w], true, none);
        break;
    case WEFT__OP_xor:
        lower_two(l, XOR[w], true, none);
        break;
    case WEFT__OP_not:
        lower_with(l, XOR[w], w ? ~(uint64_t)0 : UINT32_MAX);
        break;
    case WEFT__OP_shl:
        lower_two(l, INTEGERS(2, 1, 0x47), false, none);
        break;
    default:
        lower_two(l, has_sign ? INTEGERS(2, 1, 0x46) : INTEGERS(2, 1, 0x45), false, none);
    }
#undef INTEGERS
}

/* A conversion between elements of the same size, or with vectors of the wider one as long as they
 * can be. */
static void convert(const lowering *l, uint32_t code)
{
    const int have = weft__x86_parts(l->maker, l->from), scratch = WEFT__X86_SCRATCH_2;
    const bool same = weft__x86_bytes(l->from) == weft__x86_bytes(l->to);
    const bool reversed = code == TRUNCATE_64; /* gives what others take */
    const int bytes = same ? part_bytes(l, l->to) : WEFT__X86_LINE;
#define CONVERT(to, x)                                                                             \
    emit(l, code, bytes, reversed ? (x) : (to), 0, weft__in_register(reversed ? (to) : (x)))
    for (int part = 0; part < l->parts && have == l->parts; part++) {
        const int x = reg(l, 0, part);
        CONVERT(result(l, part), x);
    }
    if (have < l->parts) { /* wider */
        const int x = reg(l, 0, 0);
        CONVERT(result(l, 0), x);
        emit_immediate(l, HIGH_HALF, bytes, x, 0, weft__in_register(scratch), 1);
        CONVERT(result(l, 1), scratch);
    } else if (have > l->parts) {
        const int low = reg(l, 0, 0), high = reg(l, 0, 1), to = result(l, 0);
        CONVERT(scratch, high);
        CONVERT(to, low);
        emit_immediate(l, WITH_HIGH_HALF, bytes, to, to, weft__in_register(scratch), 1);
    }
#undef CONVERT
}

/* Puts a constant into the lanes of a mask. */
static void put_where(const lowering *l, int mask, uint64_t bits)
{
    for (int part = 0; part < l->parts; part++)
        emit_masked(l, REPEAT[wide(l->to)], part_bytes(l, l->to),
                    l->maker->in[2 * l->number + (uint32_t)part], mask_of(l, mask, part), false,
                    constant(l, bits));
}

/* Numbers that do not fit become the largest that there is without a sign, and with one the least:
 * the others are put in. */
static void float_to_integer(const lowering *l)
{
    const int w = wide(l->from), result_wide = wide(l->to);
    static const uint32_t codes[2][2][2] = {
        /* by whether the result has a sign, is wide, and what it is made of */
        {{WEFT__X86(1, 0, 0, 0x78), WEFT__X86(1, 0, 1, 0x78)},
         {WEFT__X86(1, 1, 0, 0x78), WEFT__X86(1, 1, 1, 0x78)}},
        {{WEFT__X86(1, 2, 0, 0x5b), WEFT__X86(1, 1, 1, 0xe6)},
         {WEFT__X86(1, 1, 0, 0x7a), WEFT__X86(1, 1, 1, 0x7a)}}};
    /* 2^31 and 2^63, of each float */
    static const uint64_t ends[2][2] = {{0x4f000000U, 0x5f000000U},
                                        {0x41e0000000000000U, 0x43e0000000000000U}};
    const bool has_sign = is_signed(l->to);
    const uint64_t zero = 0;
    convert(l, codes[has_sign][result_wide][w]);
    if (!has_sign) {
        put_where(l, compare_argument(l, COMPARE[w], FLOAT_NOT_AT_LEAST, &zero), 0);
        return;
    }
    put_where(l, compare_argument(l, COMPARE[w], FLOAT_AT_LEAST, &ends[w][result_wide]),
              result_wide ? INT64_MAX : INT32_MAX);
    put_where(l, find_nans(l), 0);
}

static void integer_to_float(const lowering *l)
{
    static const uint32_t codes[2][2][2] = {
        /* by whether it has a sign, is wide, and what becomes of it */
        {{WEFT__X86(1, 3, 0, 0x7a), WEFT__X86(1, 2, 0, 0x7a)},
         {WEFT__X86(1, 3, 1, 0x7a), WEFT__X86(1, 2, 1, 0x7a)}},
        {{WEFT__X86(1, 0, 0, 0x5b), WEFT__X86(1, 2, 0, 0xe6)},
         {WEFT__X86(1, 0, 1, 0x5b), WEFT__X86(1, 2, 1, 0xe6)}}};
    convert(l, codes[is_signed(l->from)][wide(l->from)][wide(l->to)]);
}

static void to_truth(const lowering *l)
{
    const int w = wide(l->from);
    const uint64_t zero = 0;
    if (is_float(l->from)) {
        const int mask = compare_argument(l, COMPARE[w], NOT_EQUAL, &zero);
        emit_mask(l, MASK_OR, result(l, 0), mask, mask);
    } else {
        const int mask = compare_argument(l, TEST[w], WEFT__NO_IMMEDIATE, NULL);
        emit_mask(l, MASK_OR, result(l, 0), mask, mask);
    }
}

static void from_truth(const lowering *l)
{
    const uint64_t one = l->to == WEFT_F32   ? 0x3f800000U
                         : l->to == WEFT_F64 ? 0x3ff0000000000000U
                                             : 1;
    const int mask = reg(l, 0, 0);
    for (int part = 0; part < l->parts; part++)
        emit_masked(l, REPEAT[wide(l->to)], part_bytes(l, l->to), result(l, part),
                    mask_of(l, mask, part), true, constant(l, one));
}

static void same_bits(const lowering *l)
{
    for (int part = 0; part < l->parts; part++)
        weft__place_take(l->maker, l->number, l->x[0], part);
}

static void lower_cast(const lowering *l)
{
    const bool float_from = is_float(l->from), float_to = is_float(l->to);
    if (l->from == l->to || (!float_from && !float_to && l->from != WEFT_BOOL &&
                             weft__x86_bytes(l->from) == weft__x86_bytes(l->to))) {
        same_bits(l);
        return;
    }
    if (l->to == WEFT_BOOL)
        to_truth(l);
    else if (l->from == WEFT_BOOL)
        from_truth(l);
    else if (float_from && float_to)
        convert(l, l->to == WEFT_F64 ? WEFT__X86(1, 0, 0, 0x5a) : WEFT__X86(1, 1, 1, 0x5a));
    else if (float_from)
        float_to_integer(l);
    else if (float_to)
        integer_to_float(l);
    else if (wide(l->from))
        convert(l, TRUNCATE_64);
    else
        convert(l, is_signed(l->from) ? WEFT__X86(2, 1, 0, 0x25) : WEFT__X86(2, 1, 0, 0x35));
    for (int part = 0; part < 2; part++)
        drop(l, part);
}

/* All NaNs have the same bits then. */
static void lower_bitcast(const lowering *l)
{
    const int w = wide(l->from);
    const uint64_t nan = w ? 0x7ff8000000000000U : 0x7fc00000U;
    if (l->from == WEFT_BOOL || l->to == WEFT_BOOL || l->value->part == 1 || !is_float(l->from)) {
        same_bits(l);
        return;
    }
    for (int part = 0; part < l->parts; part++) {
        const int x = reg(l, 0, part), bytes = part_bytes(l, l->from);
        emit_immediate(l, COMPARE[w], bytes, WEFT__MASK_SCRATCH, x, weft__in_register(x),
                       FLOAT_UNORDERED);
        drop(l, part);
        weft__assemble(&l->maker->code, &(weft__instruction){.code = BLEND[w],
                                                             .bytes = bytes,
                                                             .to = result(l, part),
                                                             .from = x,
                                                             .operand = constant(l, nan),
                                                             .mask = WEFT__MASK_SCRATCH,
                                                             .immediate = WEFT__NO_IMMEDIATE});
    }
}

static void round_f16(const lowering *l)
{
    const int bytes = part_bytes(l, l->from), x = reg(l, 0, 0);
    emit_immediate(l, TO_F16, bytes, x, 0, weft__in_register(WEFT__X86_SCRATCH_2), 0);
    drop(l, 0);
    emit(l, FROM_F16, bytes, result(l, 0), 0, weft__in_register(WEFT__X86_SCRATCH_2));
}

/* To even, by adding just under half of the last bit that stays, or half if that is odd. */
static void round_bf16(const lowering *l)
{
    const int bytes = part_bytes(l, l->from), x = reg(l, 0, 0), rounded = WEFT__X86_SCRATCH_2;
    emit_immediate(l, SHIFT_RIGHT_32, bytes, 2, rounded, weft__in_register(x), 16);
    emit(l, AND[0], bytes, rounded, rounded, constant(l, 1));
    emit(l, ADD[0], bytes, rounded, rounded, weft__in_register(x));
    emit(l, ADD[0], bytes, rounded, rounded, constant(l, 0x7fff));
    emit(l, AND[0], bytes, rounded, rounded, constant(l, 0xffff0000U));
    const int nans = find_nans(l);
    drop(l, 0);
    weft__assemble(&l->maker->code, &(weft__instruction){.code = BLEND[0],
                                                         .bytes = bytes,
                                                         .to = result(l, 0),
                                                         .from = rounded,
                                                         .operand = weft__in_register(x),
                                                         .mask = nans,
                                                         .immediate = WEFT__NO_IMMEDIATE});
}

static void lower(const lowering *l)
{
    const weft__op op = (weft__op)l->value->op;
    if (op == WEFT__OP_cast)
        lower_cast(l);
    else if (op == WEFT__OP_bitcast)
        lower_bitcast(l);
    else if (op == WEFT__OP_round_f16)
        round_f16(l);
    else if (op == WEFT__OP_round_bf16)
        round_bf16(l);
    else if (op == WEFT__OP_select)
        (l->to == WEFT_BOOL ? lower_select_truths : lower_select)(l);
    else if (l->from == WEFT_BOOL)
        lower_truths(l);
    else if (op >= WEFT__OP_eq && op <= WEFT__OP_le)
        lower_compare_vectors(l);
    else if (op == WEFT__OP_fma)
        lower_fma(l);
    else if ((op == WEFT__OP_div || op == WEFT__OP_rem) && !is_float(l->from))
        weft__x86_divide(l->maker, l->number);
    else
        (is_float(l->from) ? lower_floats : lower_integers)(l);
}

void weft__x86_lower(weft__maker *maker, uint32_t number)
{
    const weft__value *values = maker->source->kernel->values, *value = &values[number];
    lowering l = {.maker = maker,
                  .number = number,
                  .value = value,
                  .x = value->argument,
                  .to = (weft_dtype)value->dtype,
                  .from = (weft_dtype)values[value->argument[value->op == WEFT__OP_select]].dtype};
    l.parts = weft__x86_parts(maker, l.to);
    lower(&l);
    weft__place_made(maker, number);
}
