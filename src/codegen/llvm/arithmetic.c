/* The arithmetic primitives, with every corner of docs/semantics.md written out: nothing that LLVM
 * leaves undefined (poison) is ever computed. */
#include "codegen/llvm/emit.h"

enum { LANES_MOST = 64 };

static weft__ref binary(const weft__emitter *emitter, weft__llvm_binary *build, weft__ref x,
                        weft__ref y)
{
    return build(emitter->builder, x, y, "");
}

/* Of two constants the result is known. */
static weft__ref binary_held(const weft__emitter *emitter, weft__llvm_binary *build, weft__ref x,
                             weft__ref y)
{
    if (weft__llvm.IsConstant(x) && weft__llvm.IsConstant(y))
        return binary(emitter, build, x, y);
    return binary(emitter, build, weft__emit_held(emitter, x), weft__emit_held(emitter, y));
}

static weft__ref compare(const weft__emitter *emitter, int predicate, weft__ref x, weft__ref y)
{
    if (weft__llvm.IsConstant(x) && weft__llvm.IsConstant(y))
        return weft__llvm.BuildICmp(emitter->builder, predicate, x, y, "");
    return weft__llvm.BuildICmp(emitter->builder, predicate, weft__emit_held(emitter, x),
                                weft__emit_held(emitter, y), "");
}

static bool is_constant_nan(const weft__emitter *emitter, weft__ref x)
{
    return weft__llvm.IsConstant(x) &&
           !weft__llvm.IsNull(weft__llvm.BuildFCmp(emitter->builder, WEFT__FCMP_UNO, x, x, ""));
}

/* With a NaN the result is known. LLVM must not find that out: what it makes of `nan != x`, a
 * single one, is a byte of 255 where a bool is 1. */
static weft__ref compare_floats(const weft__emitter *emitter, int predicate, weft__ref x,
                                weft__ref y)
{
    if (is_constant_nan(emitter, x) || is_constant_nan(emitter, y))
        return weft__emit_number(emitter, 1,
                                 predicate == WEFT__FCMP_UNE || predicate == WEFT__FCMP_UNO);
    if (weft__llvm.IsConstant(x) && weft__llvm.IsConstant(y))
        return weft__llvm.BuildFCmp(emitter->builder, predicate, x, y, "");
    return weft__llvm.BuildFCmp(emitter->builder, predicate, weft__emit_held(emitter, x),
                                weft__emit_held(emitter, y), "");
}

/* Bytes as half as many integers of 16 bits, which x86 has instructions for: those at even places
 * are the low halves, the others the high ones. LLVM would move all of them apart and back. */
static bool has_pairs(const weft__emitter *emitter, int bits)
{
    return bits == 8 && emitter->lanes >= 16 && emitter->survey->target.isa <= WEFT__ISA_AVX512;
}

struct pairs {
    weft__emitter emitter; /* of half as many lanes */
    weft__ref x, y, low, high, eight;
};

static struct pairs pairs_of(const weft__emitter *emitter, weft__ref x, weft__ref y)
{
    struct pairs pairs = {.emitter = *emitter};
    pairs.emitter.lanes = emitter->lanes / 2;
    weft__type type = weft__emit_integer(&pairs.emitter, 16);
    pairs.x = weft__llvm.BuildBitCast(emitter->builder, x, type, "");
    pairs.y = weft__llvm.BuildBitCast(emitter->builder, y, type, "");
    pairs.low = weft__emit_number(&pairs.emitter, 16, 0xff);
    pairs.high = weft__emit_number(&pairs.emitter, 16, 0xff00);
    pairs.eight = weft__emit_number(&pairs.emitter, 16, 8);
    return pairs;
}

static weft__ref bytes_of(const weft__emitter *emitter, weft__ref even, weft__ref odd)
{
    return weft__llvm.BuildBitCast(emitter->builder, binary(emitter, weft__llvm.BuildOr, even, odd),
                                   weft__emit_integer(emitter, 8), "");
}

static weft__ref multiply(const weft__emitter *emitter, int bits, weft__ref x, weft__ref y)
{
    weft__llvm_binary *and = weft__llvm.BuildAnd, *times = weft__llvm.BuildMul;
    if (!has_pairs(emitter, bits))
        return binary(emitter, times, x, y);
    const struct pairs p = pairs_of(emitter, x, y);
    weft__ref odd = binary(emitter, times, binary(emitter, weft__llvm.BuildLShr, p.x, p.eight),
                           binary_held(emitter, and, p.y, p.high));
    return bytes_of(emitter, binary_held(emitter, and, binary(emitter, times, p.x, p.y), p.low),
                    odd);
}

/* Of bytes by fewer places than they have bits. */
static weft__ref shift_bytes(const weft__emitter *emitter, weft__llvm_binary *build, weft__ref x,
                             weft__ref y)
{
    weft__llvm_binary *and = weft__llvm.BuildAnd, *up = weft__llvm.BuildShl,
                      *down = weft__llvm.BuildLShr;
    const struct pairs p = pairs_of(emitter, x, y);
    weft__ref by_even = binary_held(emitter, and, p.y, p.low),
              by_odd = binary(emitter, down, p.y, p.eight), even, odd;
    if (build == up) {
        even = binary_held(emitter, and, binary(emitter, up, p.x, by_even), p.low);
        odd = binary(emitter, up, binary_held(emitter, and, p.x, p.high), by_odd);
        return bytes_of(emitter, even, odd);
    }
    even = binary(emitter, build, binary(emitter, up, p.x, p.eight), by_even);
    odd = binary_held(emitter, and, binary(emitter, build, p.x, by_odd), p.high);
    return bytes_of(emitter, binary(emitter, down, even, p.eight), odd);
}

static weft__ref shift_by(const weft__emitter *emitter, int bits, weft__llvm_binary *build,
                          weft__ref x, weft__ref y)
{
    const bool variable = emitter->survey->target.isa == WEFT__ISA_AVX512;
    return variable && has_pairs(emitter, bits) ? shift_bytes(emitter, build, x, y)
                                                : binary(emitter, build, x, y);
}

static weft__ref divide(const weft__emitter *emitter, weft_dtype dtype, weft__ref x, weft__ref y,
                        bool remainder)
{
    const int bits = weft__dtype_bits(dtype);
    weft__ref zero = weft__emit_number(emitter, bits, 0), one = weft__emit_number(emitter, bits, 1);
    weft__ref minus_one = weft__emit_number(emitter, bits, ~(uint64_t)0);
    weft__ref by_zero = compare(emitter, WEFT__ICMP_EQ, y, zero);
    weft__ref safe = weft__emit_select(emitter, by_zero, one, y), by_minus_one = NULL;
    if (weft__dtype_is_signed(dtype)) {
        by_minus_one = compare(emitter, WEFT__ICMP_EQ, y, minus_one);
        safe = weft__emit_select(emitter, by_minus_one, one, safe);
    }
    weft__ref result = weft__emit_quotient(emitter, dtype, x, safe);
    if (remainder)
        result = binary(emitter, weft__llvm.BuildSub, x, multiply(emitter, bits, result, safe));
    if (by_minus_one != NULL) {
        weft__ref negated = binary(emitter, weft__llvm.BuildSub, zero, x);
        result = weft__emit_select(emitter, by_minus_one, remainder ? zero : negated, result);
    }
    return weft__emit_select(emitter, by_zero, remainder ? x : zero, result);
}

/* Vectors of u32 as half as many u64: what processors multiply are the low halves of those, so the
 * elements at odd places are moved there and back, which is less work than widening all. */
static weft__ref multiply_high_u32(const weft__emitter *emitter, weft__ref x, weft__ref y)
{
    weft__emitter halves = *emitter;
    halves.lanes = emitter->lanes / 2;
    weft__type pairs = weft__emit_integer(&halves, 64);
    weft__ref low = weft__emit_number(&halves, 64, UINT32_MAX);
    weft__ref count = weft__emit_number(&halves, 64, 32), product[2];
    for (int odd = 0; odd < 2; odd++) {
        weft__ref part[] = {weft__llvm.BuildBitCast(emitter->builder, x, pairs, ""),
                            weft__llvm.BuildBitCast(emitter->builder, y, pairs, "")};
        for (int k = 0; k < 2; k++)
            part[k] = odd ? binary(emitter, weft__llvm.BuildLShr, part[k], count)
                          : binary(emitter, weft__llvm.BuildAnd, part[k], low);
        product[odd] = binary(emitter, weft__llvm.BuildMul, part[0], part[1]);
    }
    int order[LANES_MOST];
    weft__ref shuffled[2];
    for (int odd = 0; odd < 2; odd++)
        shuffled[odd] = weft__llvm.BuildBitCast(emitter->builder, product[odd],
                                                weft__emit_integer(emitter, 32), "");
    for (int k = 0; k < emitter->lanes; k++) /* the high half of each product */
        order[k] = k % 2 ? emitter->lanes + k : k + 1;
    return weft__emit_shuffle(emitter, shuffled[0], shuffled[1], order, emitter->lanes);
}

static weft__ref multiply_high(const weft__emitter *emitter, weft_dtype dtype, weft__ref x,
                               weft__ref y)
{
    const int bits = weft__dtype_bits(dtype);
    if (dtype == WEFT_U32 && emitter->lanes > 1)
        return multiply_high_u32(emitter, x, y);
    weft__llvm_cast *widen =
        weft__dtype_is_signed(dtype) ? weft__llvm.BuildSExt : weft__llvm.BuildZExt;
    weft__type wide = weft__emit_integer(emitter, 2 * bits);
    weft__ref product = binary(emitter, weft__llvm.BuildMul, widen(emitter->builder, x, wide, ""),
                               widen(emitter->builder, y, wide, ""));
    /* the count as an integer of twice the bits, which constants of 64 can make */
    weft__ref count = weft__llvm.BuildZExt(
        emitter->builder, weft__emit_number(emitter, bits, (uint64_t)bits), wide, "");
    return weft__llvm.BuildTrunc(emitter->builder,
                                 binary(emitter, weft__llvm.BuildLShr, product, count),
                                 weft__emit_type(emitter, dtype), "");
}

static weft__ref shift(const weft__emitter *emitter, weft__op op, weft_dtype dtype, weft__ref x,
                       weft__ref y)
{
    const int bits = weft__dtype_bits(dtype);
    weft__ref most = weft__emit_number(emitter, bits, (uint64_t)bits - 1);
    weft__ref inside = compare(emitter, WEFT__ICMP_ULE, y, most);
    if (op == WEFT__OP_shr && weft__dtype_is_signed(dtype))
        return shift_by(emitter, bits, weft__llvm.BuildAShr, x,
                        weft__emit_select(emitter, inside, y, most));
    weft__ref shifted =
        shift_by(emitter, bits, op == WEFT__OP_shl ? weft__llvm.BuildShl : weft__llvm.BuildLShr, x,
                 binary(emitter, weft__llvm.BuildAnd, y, most));
    return weft__emit_select(emitter, inside, shifted, weft__emit_number(emitter, bits, 0));
}

static weft__ref emit_integers(const weft__emitter *emitter, weft__op op, weft_dtype dtype,
                               const weft__ref *x)
{
    const int bits = weft__dtype_bits(dtype);
    const bool is_signed = weft__dtype_is_signed(dtype);
    const int less = is_signed ? WEFT__ICMP_SLT : WEFT__ICMP_ULT;
    const int more = is_signed ? WEFT__ICMP_SGT : WEFT__ICMP_UGT;
    weft__ref zero = weft__emit_number(emitter, bits, 0);
    switch (op) {
    case WEFT__OP_add:
        return binary_held(emitter, weft__llvm.BuildAdd, x[0], x[1]);
    case WEFT__OP_sub:
        return binary_held(emitter, weft__llvm.BuildSub, x[0], x[1]);
    case WEFT__OP_mul:
        return multiply(emitter, bits, x[0], x[1]);
    case WEFT__OP_mul_high:
        return multiply_high(emitter, dtype, x[0], x[1]);
    case WEFT__OP_div:
    case WEFT__OP_rem:
        return divide(emitter, dtype, x[0], x[1], op == WEFT__OP_rem);
    case WEFT__OP_neg:
        return binary(emitter, weft__llvm.BuildSub, zero, x[0]);
    case WEFT__OP_abs:
        if (!is_signed)
            return x[0];
        return weft__emit_select(emitter, compare(emitter, less, x[0], zero),
                                 binary(emitter, weft__llvm.BuildSub, zero, x[0]), x[0]);
    case WEFT__OP_min:
        return weft__emit_select(emitter, compare(emitter, less, x[0], x[1]), x[0], x[1]);
    case WEFT__OP_max:
        return weft__emit_select(emitter, compare(emitter, more, x[0], x[1]), x[0], x[1]);
    case WEFT__OP_eq:
        return compare(emitter, WEFT__ICMP_EQ, x[0], x[1]);
    case WEFT__OP_ne:
        return compare(emitter, WEFT__ICMP_NE, x[0], x[1]);
    case WEFT__OP_lt:
        return compare(emitter, less, x[0], x[1]);
    case WEFT__OP_le:
        return compare(emitter, is_signed ? WEFT__ICMP_SLE : WEFT__ICMP_ULE, x[0], x[1]);
    case WEFT__OP_and:
        return binary_held(emitter, weft__llvm.BuildAnd, x[0], x[1]);
    case WEFT__OP_or:
        return binary_held(emitter, weft__llvm.BuildOr, x[0], x[1]);
    case WEFT__OP_xor:
        return binary_held(emitter, weft__llvm.BuildXor, x[0], x[1]);
    case WEFT__OP_not:
        return binary(emitter, weft__llvm.BuildXor, x[0],
                      weft__emit_number(emitter, bits, ~(uint64_t)0));
    default:
        return shift(emitter, op, dtype, x[0], x[1]);
    }
}

/* The first if it is on the right side of the second or a NaN, else the second. */
static weft__ref choose(const weft__emitter *emitter, int predicate, weft__ref x, weft__ref y)
{
    weft__ref chosen = weft__emit_select(emitter, compare_floats(emitter, predicate, x, y), x, y);
    return weft__emit_select(emitter, compare_floats(emitter, WEFT__FCMP_UNO, x, x), x, chosen);
}

static weft__ref emit_rounding(const weft__emitter *emitter, weft__op op, const weft__ref *x)
{
    const char *name = op == WEFT__OP_floor   ? "llvm.floor"
                       : op == WEFT__OP_ceil  ? "llvm.ceil"
                       : op == WEFT__OP_trunc ? "llvm.trunc"
                                              : "llvm.roundeven";
    weft__ref argument = x[0];
    return weft__emit_call(emitter, name, &argument, 1);
}

static weft__ref emit_floats(const weft__emitter *emitter, weft__op op, const weft__ref *x)
{
    weft__ref arguments[3] = {x[0], x[1], x[2]};
    switch (op) {
    case WEFT__OP_add:
        return binary_held(emitter, weft__llvm.BuildFAdd, x[0], x[1]);
    case WEFT__OP_sub:
        return binary_held(emitter, weft__llvm.BuildFSub, x[0], x[1]);
    case WEFT__OP_mul:
        return binary_held(emitter, weft__llvm.BuildFMul, x[0], x[1]);
    case WEFT__OP_div:
        return binary(emitter, weft__llvm.BuildFDiv, x[0], x[1]);
    case WEFT__OP_fma:
        for (int k = 0; k < 3; k++)
            arguments[k] = weft__emit_held(emitter, x[k]);
        return weft__emit_call(emitter, "llvm.fma", arguments, 3);
    case WEFT__OP_neg:
        return weft__llvm.BuildFNeg(emitter->builder, x[0], "");
    case WEFT__OP_abs:
        return weft__emit_call(emitter, "llvm.fabs", arguments, 1);
    case WEFT__OP_sqrt:
        return weft__emit_call(emitter, "llvm.sqrt", arguments, 1);
    case WEFT__OP_min:
        return choose(emitter, WEFT__FCMP_OLT, x[0], x[1]);
    case WEFT__OP_max:
        return choose(emitter, WEFT__FCMP_OGT, x[0], x[1]);
    case WEFT__OP_eq:
        return compare_floats(emitter, WEFT__FCMP_OEQ, x[0], x[1]);
    case WEFT__OP_ne:
        return compare_floats(emitter, WEFT__FCMP_UNE, x[0], x[1]);
    case WEFT__OP_lt:
        return compare_floats(emitter, WEFT__FCMP_OLT, x[0], x[1]);
    case WEFT__OP_le:
        return compare_floats(emitter, WEFT__FCMP_OLE, x[0], x[1]);
    default:
        return emit_rounding(emitter, op, x);
    }
}

weft__ref weft__emit_arithmetic(const weft__emitter *emitter, weft__op op, weft_dtype dtype,
                                const weft__ref *x)
{
    if (op == WEFT__OP_select)
        return weft__emit_select(emitter, x[0], x[1], x[2]);
    if (op == WEFT__OP_round_f16 || op == WEFT__OP_round_bf16) {
        const weft_dtype memory = op == WEFT__OP_round_f16 ? WEFT_F16 : WEFT_BF16;
        return weft__emit_widen(emitter, memory, weft__emit_narrow(emitter, memory, x[0]));
    }
    return weft__dtype_is_float(dtype) ? emit_floats(emitter, op, x)
                                       : emit_integers(emitter, op, dtype, x);
}
