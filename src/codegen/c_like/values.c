/* Each primitive as a line of text, with every corner of docs/semantics.md written out. */
#include "codegen/c_like/write.h"
#include <inttypes.h>

static bool is_float(weft_dtype dtype) { return dtype == WEFT_F32 || dtype == WEFT_F64; }
static bool is_signed(weft_dtype dtype) { return dtype >= WEFT_I8 && dtype <= WEFT_I64; }
static int bits_of(weft_dtype dtype) { return 8 * (int)weft_dtype_size(dtype); }

static void write_bits(weft__text *text, weft_dtype dtype, uint64_t bits)
{
    if (dtype == WEFT_BOOL)
        weft__text_add(text, bits & 0xff ? "true" : "false");
    else if (dtype == WEFT_F32)
        weft__text_add(text, "AS_f32(0x%08" PRIx32 "u)", (uint32_t)bits);
    else if (dtype == WEFT_F64)
        weft__text_add(text, "AS_f64(U64(0x%016" PRIx64 "))", bits);
    else
        weft__text_add(text, "(%s)U64(0x%" PRIx64 ")", weft__text_of_dtype(dtype), bits);
}

static void write_canonical(weft__text *text, const weft__value *value)
{
    if (value->dtype == WEFT_F32)
        weft__text_add(text,
                       "AS_f32(((u32)g.scalar[%d] & 0x7fffffffu) > 0x7f800000u ? 0x7fc00000u : "
                       "(u32)g.scalar[%d])",
                       value->slot, value->slot);
    else
        weft__text_add(text,
                       "AS_f64((g.scalar[%d] & U64(0x7fffffffffffffff)) > U64(0x7ff0000000000000) "
                       "? U64(0x7ff8000000000000) : g.scalar[%d])",
                       value->slot, value->slot);
}

static void write_scalar(weft__text *text, const weft__value *value)
{
    const char *name = weft__text_of_dtype((weft_dtype)value->dtype);
    if (value->dtype == WEFT_BOOL)
        weft__text_add(text, "(g.scalar[%d] & 255) != 0", value->slot);
    else if (value->dtype == WEFT_F32)
        weft__text_add(text, "AS_f32((u32)g.scalar[%d])", value->slot);
    else if (value->dtype == WEFT_F64)
        weft__text_add(text, "AS_f64(g.scalar[%d])", value->slot);
    else
        weft__text_add(text, "(%s)g.scalar[%d]", name, value->slot);
}

/* The ends of an integer's range as numbers of a float type: the least, and the first beyond. */
static void write_float_cast(weft__text *text, weft_dtype from, weft_dtype to, int32_t x)
{
    const char *of = weft__text_of_dtype(from), *name = weft__text_of_dtype(to);
    const int bits = bits_of(to);
    const uint64_t top = ~UINT64_C(0) >> (64 - bits), least = is_signed(to) ? top / 2 + 1 : 0;
    const char *sign = is_signed(to) ? "-" : "0*";
    const int power = is_signed(to) ? bits - 1 : bits;
    weft__text_add(text, "v%d != v%d ? (%s)0 : v%d < (%s)(%s0x1p%df) ? (%s)U64(0x%" PRIx64 ")", x,
                   x, name, x, of, sign, power, name, least);
    weft__text_add(text, " : v%d >= (%s)0x1p%df ? (%s)U64(0x%" PRIx64 ") : (%s)v%d", x, of, power,
                   name, is_signed(to) ? top / 2 : top, name, x);
}

static void write_cast(weft__text *text, weft_dtype from, weft_dtype to, int32_t x)
{
    if (from == to)
        weft__text_add(text, "v%d", x);
    else if (to == WEFT_BOOL)
        weft__text_add(text, "v%d != 0", x);
    else if (is_float(from) && !is_float(to))
        write_float_cast(text, from, to, x);
    else
        weft__text_add(text, "(%s)v%d", weft__text_of_dtype(to), x);
}

static void write_bitcast(weft__text *text, weft_dtype from, weft_dtype to, int32_t x)
{
    const char *name = weft__text_of_dtype(to);
    if (from == WEFT_BOOL || to == WEFT_BOOL)
        write_cast(text, from, to, x);
    else if (from == to && !is_float(from))
        weft__text_add(text, "v%d", x);
    else if (from == WEFT_F32)
        weft__text_add(text, "%s(v%d != v%d ? 0x7fc00000u : AS_u32(v%d))%s",
                       is_float(to)     ? "AS_f32("
                       : name[0] == 'i' ? "(i32)"
                                        : "",
                       x, x, x, is_float(to) ? ")" : "");
    else if (from == WEFT_F64)
        weft__text_add(text, "%s(v%d != v%d ? U64(0x7ff8000000000000) : AS_u64(v%d))%s",
                       is_float(to)     ? "AS_f64("
                       : name[0] == 'i' ? "(i64)"
                                        : "",
                       x, x, x, is_float(to) ? ")" : "");
    else if (is_float(to))
        weft__text_add(text, "AS_%s((u%d)v%d)", name, bits_of(to), x);
    else
        weft__text_add(text, "(%s)v%d", name, x);
}

/* Through an unsigned type of 32 or 64 bits, which wraps. */
static void write_wrapping(weft__text *text, weft_dtype dtype, const char *op, int32_t x, int32_t y)
{
    const char *name = weft__text_of_dtype(dtype), *wide = bits_of(dtype) > 32 ? "u64" : "u32";
    weft__text_add(text, "(%s)((%s)v%d %s (%s)v%d)", name, wide, x, op, wide, y);
}

static void write_division(weft__text *text, weft_dtype dtype, bool remainder, int32_t x, int32_t y)
{
    const char *name = weft__text_of_dtype(dtype), *wide = bits_of(dtype) > 32 ? "u64" : "u32";
    weft__text_add(text, "v%d == 0 ? ", y);
    if (remainder)
        weft__text_add(text, "v%d : ", x);
    else
        weft__text_add(text, "(%s)0 : ", name);
    if (is_signed(dtype) && remainder)
        weft__text_add(text, "v%d == -1 ? (%s)0 : ", y, name);
    else if (is_signed(dtype))
        weft__text_add(text, "v%d == -1 ? (%s)(0u - (%s)v%d) : ", y, name, wide, x);
    weft__text_add(text, "(%s)(v%d %c v%d)", name, x, remainder ? '%' : '/', y);
}

static void write_shift(weft__text *text, weft_dtype dtype, bool left, int32_t x, int32_t y)
{
    const char *name = weft__text_of_dtype(dtype), *wide = bits_of(dtype) > 32 ? "u64" : "u32";
    weft__text_add(text, "(u%d)v%d >= %du ? (%s)", bits_of(dtype), y, bits_of(dtype), name);
    if (!left && is_signed(dtype))
        weft__text_add(text, "(v%d < 0 ? -1 : 0)", x);
    else
        weft__text_add(text, "0");
    if (left)
        weft__text_add(text, " : (%s)((%s)v%d << (u32)v%d)", name, wide, x, y);
    else
        weft__text_add(text, " : (%s)(v%d >> (u32)v%d)", name, x, y);
}

static void write_negation(weft__text *text, weft_dtype dtype, int32_t x)
{
    if (dtype == WEFT_I16 || dtype == WEFT_I32 || dtype == WEFT_I64)
        weft__text_add(text, "NEGATE_%s(v%d)", weft__text_of_dtype(dtype), x);
    else
        weft__text_add(text, "(%s)(0u - (%s)v%d)", weft__text_of_dtype(dtype),
                       bits_of(dtype) > 32 ? "u64" : "u32", x);
}

static void write_integers(weft__text *text, const weft__value *value, weft_dtype dtype)
{
    const int32_t x = value->argument[0], y = value->argument[1];
    const char *name = weft__text_of_dtype(dtype);
    switch ((weft__op)value->op) {
    case WEFT__OP_add:
        write_wrapping(text, dtype, "+", x, y);
        break;
    case WEFT__OP_sub:
        write_wrapping(text, dtype, "-", x, y);
        break;
    case WEFT__OP_mul:
        write_wrapping(text, dtype, "*", x, y);
        break;
    case WEFT__OP_mul_high:
        weft__text_add(text, "HIGH_%s(v%d, v%d)", name, x, y);
        break;
    case WEFT__OP_div:
    case WEFT__OP_rem:
        write_division(text, dtype, value->op == WEFT__OP_rem, x, y);
        break;
    case WEFT__OP_neg:
        write_negation(text, dtype, x);
        break;
    case WEFT__OP_abs:
        if (is_signed(dtype)) {
            weft__text_add(text, "v%d >= 0 ? v%d : ", x, x);
            write_negation(text, dtype, x);
        } else {
            weft__text_add(text, "v%d", x);
        }
        break;
    case WEFT__OP_min:
    case WEFT__OP_max:
        weft__text_add(text, "v%d %c v%d ? v%d : v%d", x, value->op == WEFT__OP_min ? '<' : '>', y,
                       x, y);
        break;
    case WEFT__OP_and:
    case WEFT__OP_or:
    case WEFT__OP_xor:
        weft__text_add(text, "(%s)(v%d %c v%d)", name, x,
                       value->op == WEFT__OP_and  ? '&'
                       : value->op == WEFT__OP_or ? '|'
                                                  : '^',
                       y);
        break;
    case WEFT__OP_not:
        weft__text_add(text, dtype == WEFT_BOOL ? "(%s)!v%d" : "(%s)~v%d", name, x);
        break;
    default:
        write_shift(text, dtype, value->op == WEFT__OP_shl, x, y);
        break;
    }
}

static void write_floats(weft__text *text, const weft__value *value, weft_dtype dtype)
{
    static const char *const calls[WEFT__OP_COUNT] = {
        [WEFT__OP_sqrt] = "SQRT", [WEFT__OP_abs] = "ABS",     [WEFT__OP_floor] = "FLOOR",
        [WEFT__OP_ceil] = "CEIL", [WEFT__OP_trunc] = "TRUNC", [WEFT__OP_round] = "ROUND"};
    const int32_t x = value->argument[0], y = value->argument[1];
    const char *name = weft__text_of_dtype(dtype);
    switch ((weft__op)value->op) {
    case WEFT__OP_add:
        weft__text_add(text, "v%d + v%d", x, y);
        break;
    case WEFT__OP_sub:
        weft__text_add(text, "v%d - v%d", x, y);
        break;
    case WEFT__OP_mul:
        weft__text_add(text, "v%d * v%d", x, y);
        break;
    case WEFT__OP_div:
        weft__text_add(text, "DIV_%s(v%d, v%d)", name, x, y);
        break;
    case WEFT__OP_fma:
        weft__text_add(text, "FMA_%s(v%d, v%d, v%d)", name, x, y, value->argument[2]);
        break;
    case WEFT__OP_neg:
        weft__text_add(text, "-v%d", x);
        break;
    case WEFT__OP_min:
    case WEFT__OP_max:
        weft__text_add(text, "(v%d %c v%d) OR (v%d != v%d) ? v%d : v%d", x,
                       value->op == WEFT__OP_min ? '<' : '>', y, x, x, x, y);
        break;
    default:
        weft__text_add(text, "%s_%s(v%d)", calls[value->op], name, x);
        break;
    }
}

/* Without branches, a side that is left out does not matter: if it was wanted, all is done again.
 */
static bool write_other_side(weft__writer *w, uint32_t at)
{
    const bool first = weft__is_left_out(w, at, 1), second = weft__is_left_out(w, at, 2);
    if (!w->fast || w->dialect == WEFT__DIALECT_OPENCL_CPU || first == second)
        return false;
    weft__text_add(&w->text, "v%d", w->kernel->values[at].argument[first ? 2 : 1]);
    return true;
}

static void write_select(weft__writer *w, uint32_t at)
{
    if (write_other_side(w, at))
        return;
    weft__text_add(&w->text, "v%d ? ", w->kernel->values[at].argument[0]);
    weft__write_side(w, at, 1);
    weft__text_add(&w->text, " : ");
    weft__write_side(w, at, 2);
}

bool weft__is_last_bit(const weft__kernel *kernel, uint32_t at)
{
    const weft__value *value = &kernel->values[at];
    if (value->op != WEFT__OP_and || value->dtype != WEFT_U32)
        return false;
    const weft__value *of = &kernel->values[value->argument[1]];
    return of->op == WEFT__OP_constant && of->bits == 1;
}

static bool write_common(weft__writer *w, uint32_t at)
{
    const weft__value *value = &w->kernel->values[at];
    static const char *const compare[WEFT__OP_COUNT] = {
        [WEFT__OP_eq] = "==", [WEFT__OP_ne] = "!=", [WEFT__OP_lt] = "<", [WEFT__OP_le] = "<="};
    const int32_t *x = value->argument;
    const weft_dtype dtype = (weft_dtype)value->dtype;
    const weft_dtype from = (weft_dtype)w->kernel->values[x[0]].dtype;
    if (value->op == WEFT__OP_constant)
        write_bits(&w->text, dtype, value->bits);
    else if (value->op == WEFT__OP_scalar && is_float(dtype) &&
             w->dialect != WEFT__DIALECT_OPENCL_CPU && weft__is_chosen(w->kernel, at))
        write_canonical(&w->text, value);
    else if (value->op == WEFT__OP_scalar)
        write_scalar(&w->text, value);
    else if (value->op == WEFT__OP_index && value->slot == WEFT__INDEX_FOLDED)
        weft__text_add(&w->text, "(i64)r");
    else if (value->op == WEFT__OP_index)
        weft__text_add(&w->text, "(i64)i%d", weft__axis_launched(w->kernel, value->slot));
    else if (value->op == WEFT__OP_cast && from == WEFT_F32 && dtype == WEFT_F64 &&
             w->compared[at] && w->dialect != WEFT__DIALECT_OPENCL_CPU)
        weft__text_add(&w->text, "WIDENED(v%d)", x[0]);
    else if (value->op == WEFT__OP_cast)
        write_cast(&w->text, from, dtype, x[0]);
    else if (value->op == WEFT__OP_bitcast && value->part == 1)
        weft__text_add(&w->text, "(%s)AS_u%d(v%d)", weft__text_of_dtype(dtype), bits_of(from),
                       x[0]);
    else if (value->op == WEFT__OP_bitcast)
        write_bitcast(&w->text, from, dtype, x[0]);
    else if (value->op == WEFT__OP_round_f16 || value->op == WEFT__OP_round_bf16)
        weft__text_add(&w->text, "widen_%s(narrow_%s(v%d))",
                       value->op == WEFT__OP_round_f16 ? "f16" : "bf16",
                       value->op == WEFT__OP_round_f16 ? "f16" : "bf16", x[0]);
    else if (value->op == WEFT__OP_select)
        write_select(w, at);
    else if (compare[value->op])
        weft__text_add(&w->text, "v%d %s v%d", x[0], compare[value->op], x[1]);
    else if (w->dialect != WEFT__DIALECT_OPENCL_CPU && weft__is_last_bit(w->kernel, at))
        weft__text_add(&w->text, "LAST_BIT(v%d)", x[0]);
    else
        return false;
    return true;
}

/* The product of u32 whose high half this value is the low half of, or 0: compilers for GPUs
 * compute both at once if the text does. */
static uint32_t whole_product(const weft__writer *w, uint32_t at)
{
    enum { NEAR = 8 };
    const weft__value *value = &w->kernel->values[at];
    if (value->op != WEFT__OP_mul || value->dtype != WEFT_U32 || !w->skips.kernel ||
        w->kernel->loops_count > 0)
        return 0;
    for (uint32_t k = at; k > 0 && at - k < NEAR; k--) {
        const weft__value *high = value - (at - k);
        if (high->op == WEFT__OP_mul_high && high->dtype == WEFT_U32 && w->wanted[k] &&
            high->argument[0] == value->argument[0] && high->argument[1] == value->argument[1] &&
            w->skips.skip[k] == w->skips.skip[at])
            return k;
    }
    return 0;
}

static bool write_product(weft__writer *w, uint32_t at)
{
    const weft__value *value = &w->kernel->values[at];
    const uint32_t product = whole_product(w, at);
    if (w->dialect == WEFT__DIALECT_OPENCL_CPU)
        return false;
    if (value->op == WEFT__OP_mul_high && value->dtype == WEFT_U32) {
        weft__text_add(&w->text,
                       "const u64 w%u = WIDE(v%d, v%d);\nconst u32 v%u = (u32)(w%u >> 32);\n", at,
                       value->argument[0], value->argument[1], at, at);
        return true;
    }
    if (product)
        weft__text_add(&w->text, "const u32 v%u = (u32)w%u;\n", at, product);
    return product != 0;
}

void weft__write_value(weft__writer *w, uint32_t at)
{
    const weft__value *value = &w->kernel->values[at];
    const weft_dtype dtype = (weft_dtype)value->dtype;
    if (weft__value_is_flow(value) || value->op == WEFT__OP_gather ||
        value->op == WEFT__OP_scatter) {
        (value->op == WEFT__OP_gather    ? weft__write_gather
         : value->op == WEFT__OP_scatter ? weft__write_scatter
                                         : weft__write_flow)(w, at);
        return;
    }
    if (write_product(w, at))
        return;
    weft__text_add(&w->text, "const %s v%u = ", weft__text_of_dtype(dtype), at);
    if (!write_common(w, at)) {
        if (is_float(dtype))
            write_floats(&w->text, value, dtype);
        else
            write_integers(&w->text, value, dtype);
    }
    weft__text_add(&w->text, ";\n");
}
