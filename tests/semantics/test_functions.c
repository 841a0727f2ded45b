/* Functions of integers, floats and complex numbers at the values that docs/semantics.md names;
 * tests/math has the special values of all of them, and their errors. */
#include "semantics/rows.h"

#define FLOATS "f32 f64"
#define SIGNED "i8 i16 i32 i64"
#define UNSIGNED "u8 u16 u32 u64"
#define COMPLEX "c64 c128"

static const struct row integers[] = {
    {"Functions / Integers", "abs(x)", "i16", {I(INT16_MIN)}, I(INT16_MIN)},
    {"Functions / Integers", "sign(x)", SIGNED, {I(-100)}, I(-1)},
    {"Functions / Integers", "sign(x)", SIGNED, {I(0)}, I(0)},
    {"Functions / Integers", "sign(x)", SIGNED, {I(7)}, I(1)},
    {"Functions / Integers", "sign(x)", UNSIGNED, {I(200)}, I(1)},
    {"Functions / Integers", "popcount(x)", "i8", {I(-1)}, I(8)},
    {"Functions / Integers", "popcount(x)", "i64", {I(INT64_MIN)}, I(1)},
    {"Functions / Integers", "popcount(x)", "u32", {I(0xf0f0)}, I(8)},
    {"Functions / Integers", "pow(x, y)", "i8", {I(-128), I(0)}, I(1)},
    {"Functions / Integers", "pow(x, y)", "i8", {I(0), I(0)}, I(1)},
    {"Functions / Integers", "pow(x, y)", "i8", {I(3), I(5)}, I(-13)}, /* 243 - 256 */
    {"Functions / Integers", "pow(x, y)", "i8", {I(2), I(8)}, I(0)},
    {"Functions / Integers", "pow(x, y)", SIGNED, {I(1), I(-5)}, I(1)},
    {"Functions / Integers", "pow(x, y)", SIGNED, {I(-1), I(-5)}, I(-1)},
    {"Functions / Integers", "pow(x, y)", SIGNED, {I(-1), I(-4)}, I(1)},
    {"Functions / Integers", "pow(x, y)", SIGNED, {I(2), I(-1)}, I(0)},
    {"Functions / Integers", "pow(x, y)", SIGNED, {I(0), I(-1)}, I(0)},
    {"Functions / Integers",
     "pow(x, y)",
     "u64",
     {I(3), I(41)},
     I(18026252303461234787U)}, /* 3^41 modulo 2^64 */
    {"Functions / Integers", "clip(x, y, z)", SIGNED, {I(5), I(1), I(3)}, I(3)},
    {"Functions / Integers", "clip(x, y, z)", SIGNED, {I(-5), I(1), I(3)}, I(1)},
    {"Functions / Integers",
     "clip(x, y, z)",
     SIGNED,
     {I(2), I(9), I(3)},
     I(3)}, /* low is above high */
    {"Functions / Integers", "clip(x, y, z)", FLOATS, {R(2), R(9), R(3)}, R(3)},
    {"Functions / Integers", "clip(x, y, z)", FLOATS, {NaN, R(1), R(3)}, NaN},
    {"Functions / Integers", "clip(x, y, z)", FLOATS, {R(2), NaN, R(3)}, NaN},
    {"Functions / Integers", "clip(x, y, z)", FLOATS, {R(2), R(1), NaN}, NaN},
};

TEST(functions_of_integers) { CHECK_ROWS(integers); }

#define PI_F32 0x1.921fb6p1
#define PI_F64 0x1.921fb54442d18p1

static const struct row floats[] = {
    {"Functions / Floats", "sign(x)", FLOATS, {R(-0.0)}, R(-0.0)},
    {"Functions / Floats", "sign(x)", FLOATS, {R(0.0)}, R(0.0)},
    {"Functions / Floats", "sign(x)", FLOATS, {R(-0x1p-149)}, R(-1)},
    {"Functions / Floats", "sign(x)", FLOATS, {NaN}, NaN},
    {"Functions / Floats", "remainder(x, y)", FLOATS, {R(5), R(-3)}, R(-1)},
    {"Functions / Floats", "remainder(x, y)", FLOATS, {R(-5), R(3)}, R(1)},
    {"Functions / Floats", "remainder(x, y)", FLOATS, {R(6), R(-3)}, R(-0.0)},
    {"Functions / Floats", "remainder(x, y)", FLOATS, {R(5), R(0)}, NaN},
    {"Functions / Floats", "arg(x)", FLOATS, {R(0.0)}, R(0.0)},
    {"Functions / Floats", "arg(x)", FLOATS, {R(5)}, R(0.0)},
    {"Functions / Floats", "arg(x)", FLOATS, {NaN}, NaN},
    {"Functions / Floats", "arg(x)", "f32", {R(-0.0)}, R(PI_F32)},
    {"Functions / Floats", "arg(x)", "f64", {R(-0.0)}, R(PI_F64)},
    {"Functions / Floats", "arg(x)", "f64", {R(-INFINITY)}, R(PI_F64)},
    {"Functions / Floats", "signbit(x)", FLOATS, {R(-0.0)}, I(1)},
    {"Functions / Floats", "signbit(x)", FLOATS, {R(0.0)}, I(0)},
    {"Functions / Floats", "signbit(x)", FLOATS, {NaN}, I(0)},
    {"Functions / Floats", "exp(x)", FLOATS, {R(-INFINITY)}, R(0.0)},
    {"Functions / Floats", "log(x)", FLOATS, {R(-0.0)}, R(-INFINITY)},
    {"Functions / Floats", "log(x)", FLOATS, {R(-1)}, NaN},
    {"Functions / Floats", "sin(x)", FLOATS, {R(-0.0)}, R(-0.0)},
    {"Functions / Floats", "sin(x)", FLOATS, {INF}, NaN},
    {"Functions / Floats", "pow(x, y)", FLOATS, {NaN, R(0)}, R(1)},
    {"Functions / Floats", "pow(x, y)", FLOATS, {R(1), NaN}, R(1)},
    {"Functions / Floats", "pow(x, y)", FLOATS, {R(-0.0), R(-3)}, R(-INFINITY)},
    {"Functions / Floats", "hypot(x, y)", FLOATS, {NaN, R(-INFINITY)}, INF},
    {"Functions / Floats", "atan2(x, y)", FLOATS, {R(-0.0), R(1)}, R(-0.0)},
    {"Functions / Floats", "fmod(x, y)", FLOATS, {R(-6), R(3)}, R(-0.0)},
};

TEST(functions_of_floats) { CHECK_ROWS(floats); }

/* x / abs(x) of 1 + i: the root of 2 is rounded, then the quotient. */
#define HALF_ROOT_F32 (1 / 0x1.6a09e6p0f)
#define HALF_ROOT_F64 (1 / 0x1.6a09e667f3bcdp0)

static const struct row complexes[] = {
    {"Functions / Complex numbers", "c128(x)", "f64", {R(-2)}, C(-2, 0.0)},
    {"Functions / Complex numbers", "tanh(x)", COMPLEX, {C(0, INFINITY)}, C(0, NAN)},
    {"Functions / Complex numbers", "tanh(x)", COMPLEX, {C(0, NAN)}, C(0, NAN)},
    {"Functions / Complex numbers", "isinf(x)", COMPLEX, {C(NAN, -INFINITY)}, I(1)},
    {"Functions / x + y, x - y, -x", "x + y", COMPLEX, {C(1, -0.0), C(2, -0.0)}, C(3, -0.0)},
    {"Functions / x + y, x - y, -x", "x - y", COMPLEX, {C(1, 0), C(2, -3)}, C(-1, 3)},
    {"Functions / x + y, x - y, -x", "-x", COMPLEX, {C(0.0, -0.0)}, C(-0.0, 0.0)},
    {"Functions / x * y, square", "x * y", COMPLEX, {C(1, 2), C(3, 4)}, C(-5, 10)},
    {"Functions / x * y, square",
     "x * y",
     COMPLEX,
     {C(INFINITY, INFINITY), C(1, 1)},
     C(NAN, INFINITY)},
    {"Functions / x * y, square", "x * y", COMPLEX, {C(INFINITY, 0), C(1, 0)}, C(INFINITY, NAN)},
    /* each product is rounded before they are subtracted: 1 + 2^-11, less 2^-24 */
    {"Functions / x * y, square",
     "square(x)",
     "c64",
     {C(1 + 0x1p-12, 0x1p-12)},
     C(1 + 0x1p-11, 0x1.001p-11)},
    {"Functions / x / y", "x / y", COMPLEX, {C(3, -7), C(3, -7)}, C(1, 0)},
    {"Functions / x / y", "x / y", "c64", {C(0x1.345678p-130, 1), C(0x1.345678p-130, 1)}, C(1, 0)},
    {"Functions / x / y",
     "x / y",
     "c64",
     {C(0x1.8p127, 0x1.fp127), C(0x1.8p127, 0x1.fp127)},
     C(1, 0)},
    {"Functions / x / y", "x / y", "c64", {C(0x3p-149, 0x5p-149), C(0x3p-149, 0x5p-149)}, C(1, 0)},
    {"Functions / x / y", "x / y", COMPLEX, {C(-4, 2), C(0, 2)}, C(1, 2)},
    {"Functions / x / y", "isinf(x / y)", COMPLEX, {C(1, -1), C(0, 0)}, I(1)},
    {"Functions / x / y", "isinf(x / y)", COMPLEX, {C(INFINITY, 1), C(0, 0)}, I(1)},
    {"Functions / x / y", "isinf(x / y)", COMPLEX, {C(INFINITY, NAN), C(2, -3)}, I(1)},
    {"Functions / x / y", "isnan(x / y)", COMPLEX, {C(0, 0), C(0, 0)}, I(1)},
    {"Functions / x / y", "isnan(x / y)", COMPLEX, {C(INFINITY, 0), C(0, INFINITY)}, I(1)},
    {"Functions / x / y", "abs(x / y)", COMPLEX, {C(5, -6), C(INFINITY, NAN)}, R(0.0)},
    {"Functions / x == y, x != y", "x == y", COMPLEX, {C(0.0, 1), C(-0.0, 1)}, I(1)},
    {"Functions / x == y, x != y", "x == y", COMPLEX, {C(1, 2), C(1, 3)}, I(0)},
    {"Functions / x == y, x != y", "x != y", COMPLEX, {C(1, NAN), C(1, NAN)}, I(1)},
    {"Functions / as a condition, any, all", "x ? 1.0f : 2.0f", COMPLEX, {C(0, NAN)}, R(1)},
    {"Functions / as a condition, any, all", "x ? 1.0f : 2.0f", COMPLEX, {C(-0.0, 0)}, R(2)},
    {"Functions / abs, arg", "abs(x)", COMPLEX, {C(-3, 4)}, R(5)},
    {"Functions / abs, arg", "abs(x)", COMPLEX, {C(NAN, -INFINITY)}, INF},
    {"Functions / abs, arg", "arg(x)", "c64", {C(-2, -0.0)}, R(-PI_F32)},
    {"Functions / abs, arg", "arg(x)", "c128", {C(-2, 0.0)}, R(PI_F64)},
    {"Functions / abs, arg", "arg(x)", "c128", {C(0, 0)}, R(0.0)},
    {"Functions / sign", "sign(x)", COMPLEX, {C(-0.0, 0.0)}, C(-0.0, 0.0)},
    {"Functions / sign", "sign(x)", COMPLEX, {C(0, -5)}, C(0, -1)},
    {"Functions / sign", "sign(x)", COMPLEX, {C(INFINITY, 3)}, C(1, 0)},
    {"Functions / sign", "sign(x)", COMPLEX, {C(2, INFINITY)}, C(0, 1)},
    {"Functions / sign",
     "sign(x)",
     "c64",
     {C(-INFINITY, INFINITY)},
     C(-HALF_ROOT_F32, HALF_ROOT_F32)},
    {"Functions / sign",
     "sign(x)",
     "c128",
     {C(INFINITY, INFINITY)},
     C(HALF_ROOT_F64, HALF_ROOT_F64)},
    {"Functions / isnan, isinf", "isnan(x)", COMPLEX, {C(INFINITY, NAN)}, I(1)},
    {"Functions / isnan, isinf", "isnan(x)", COMPLEX, {C(INFINITY, 1)}, I(0)},
    {"Functions / isnan, isinf", "isinf(x)", COMPLEX, {C(1, -INFINITY)}, I(1)},
    {"Functions / isnan, isinf", "isfinite(x)", COMPLEX, {C(1, NAN)}, I(0)},
    {"Functions / isnan, isinf", "isfinite(x)", COMPLEX, {C(1, -0.0)}, I(1)},
    {"Functions / sqrt", "sqrt(x)", COMPLEX, {C(-4, 0.0)}, C(0, 2)},
    {"Functions / sqrt", "sqrt(x)", COMPLEX, {C(-4, -0.0)}, C(0, -2)},
    {"Functions / sqrt", "sqrt(x)", COMPLEX, {C(-5, 12)}, C(2, 3)},
    {"Functions / exp, exp2, expm1", "exp(x)", COMPLEX, {C(0, -0.0)}, C(1, -0.0)},
    {"Functions / exp, exp2, expm1", "exp2(x)", COMPLEX, {C(3, 0)}, C(8, 0)},
    {"Functions / exp, exp2, expm1", "expm1(x)", COMPLEX, {C(-0.0, 0)}, C(-0.0, 0)},
    /* e^89 is beyond f32, e^89 * 1e-30 is not */
    {"Functions / exp, exp2, expm1", "isfinite(imag(exp(x)))", "c64", {C(89, 1e-30)}, I(1)},
    {"Functions / exp, exp2, expm1",
     "abs(imag(exp(x)) / 4.489613e8f - 1) < 1e-5f",
     "c64",
     {C(89, 1e-30)},
     I(1)},
    {"Functions / log, log2, log10, log1p", "log(x)", COMPLEX, {C(1, 0)}, C(0, 0)},
    {"Functions / log, log2, log10, log1p", "log2(x)", COMPLEX, {C(1, -0.0)}, C(0, -0.0)},
    {"Functions / log, log2, log10, log1p", "log1p(x)", COMPLEX, {C(-1, 0)}, C(-INFINITY, 0)},
    /* log(1 + d*i), real: d*d/2, although 1 + d*d is 1 */
    {"Functions / log, log2, log10, log1p", "real(log(x))", "c128", {C(1, 0x1p-40)}, R(0x1p-81)},
    {"Functions / asin, acos, atan, asinh, acosh, atanh",
     "asin(x)",
     COMPLEX,
     {C(0, -0.0)},
     C(0, -0.0)},
    {"Functions / asin, acos, atan, asinh, acosh, atanh",
     "acos(x)",
     COMPLEX,
     {C(1, 0.0)},
     C(0, -0.0)},
    {"Functions / asin, acos, atan, asinh, acosh, atanh",
     "atanh(x)",
     COMPLEX,
     {C(1, 0)},
     C(INFINITY, 0)},
    {"Functions / pow", "pow(x, y)", COMPLEX, {C(NAN, INFINITY), C(0, 0)}, C(1, 0)},
    {"Functions / pow", "pow(x, y)", COMPLEX, {C(0, 0), C(0, 0)}, C(1, 0)},
    {"Functions / pow", "pow(x, y)", COMPLEX, {C(0, 0), C(2, 5)}, C(0, 0)},
    {"Functions / pow", "pow(x, y)", COMPLEX, {C(0, 0), C(-2, 0)}, C(NAN, NAN)},
    {"Functions / pow", "pow(x, y)", COMPLEX, {C(0, 0), C(0, 1)}, C(NAN, NAN)},
};

TEST(functions_of_complex_numbers) { CHECK_ROWS(complexes); }

/* semantics: Functions / as a condition, any, all */
TEST(reductions_of_complex_conditions)
{
    const float values[] = {0, -0.0f, 0, 1, 2, 0};
    WEFT_AUTO weft_array *z = from(values, sizeof values, WEFT_SHAPE(3), WEFT_C64);
    WEFT_AUTO weft_array *first = weft_slice(z, WEFT_RANGE(0, 1)),
                         *rest = weft_slice(z, WEFT_RANGE(1, 3));
    CHECK(z && first && rest);
    WEFT_AUTO weft_array *none = weft_new(any(first), first), *some = weft_new(any(z), z);
    WEFT_AUTO weft_array *not_all = weft_new(all(z), z), *all = weft_new(all(rest), rest);
    CHECK(holds(none, (const bool[]){false}, 1) && holds(some, (const bool[]){true}, 1));
    CHECK(holds(not_all, (const bool[]){false}, 1) && holds(all, (const bool[]){true}, 1));
}

/* semantics: Functions / Integers: only nextafter rounds its arguments to f16 first. */
TEST(nextafter_is_about_neighbours_in_its_type)
{
    const uint16_t values[] = {0x3c00, 0x3c00}, next[] = {0x3c01, 0x3bff};
    const uint16_t ends[] = {0x7c00, 0};
    WEFT_AUTO weft_array *x = from(values, sizeof values, WEFT_SHAPE(2), WEFT_F16);
    WEFT_AUTO weft_array *y = from(ends, sizeof ends, WEFT_SHAPE(2), WEFT_F16);
    CHECK(x && y);
    WEFT_AUTO weft_array *neighbours = weft_new(nextafter(x, y), x, y);
    WEFT_AUTO weft_array *rounded = weft_new(nextafter(x + 0.0001, y), x, y); /* 1 in f16 */
    CHECK(holds(neighbours, next, sizeof next));
    CHECK(holds(rounded, next, sizeof next));
}

#define LONG "hundreds of allocations that are all alike"
TEST_MAIN(TEST_NO_FAULTS(functions_of_integers, LONG), TEST_NO_FAULTS(functions_of_floats, LONG),
          TEST_NO_FAULTS(functions_of_complex_numbers, LONG),
          TEST_OF(reductions_of_complex_conditions),
          TEST_OF(nextafter_is_about_neighbours_in_its_type));
