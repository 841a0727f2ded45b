/* Element types: names, sizes, kinds, and the promotion table of the array API standard. */
#include "support/check.h"

#include <string.h>

#include <weft/weft.h>

enum { COUNT = 15 };

/* The dtypes in the order of the tables below. */
static const weft_dtype all[COUNT] = {WEFT_BOOL, WEFT_I8,  WEFT_I16, WEFT_I32, WEFT_I64,
                                      WEFT_U8,   WEFT_U16, WEFT_U32, WEFT_U64, WEFT_F16,
                                      WEFT_BF16, WEFT_F32, WEFT_F64, WEFT_C64, WEFT_C128};
static const char *const names[COUNT] = {"bool", "i8",  "i16",  "i32", "i64", "u8",  "u16", "u32",
                                         "u64",  "f16", "bf16", "f32", "f64", "c64", "c128"};

TEST(A1_names_sizes_kinds)
{
    static const size_t sizes[COUNT] = {1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8, 8, 16};
    static const int kinds[COUNT] = {WEFT_KIND_BOOL,     WEFT_KIND_SIGNED,   WEFT_KIND_SIGNED,
                                     WEFT_KIND_SIGNED,   WEFT_KIND_SIGNED,   WEFT_KIND_UNSIGNED,
                                     WEFT_KIND_UNSIGNED, WEFT_KIND_UNSIGNED, WEFT_KIND_UNSIGNED,
                                     WEFT_KIND_FLOAT,    WEFT_KIND_FLOAT,    WEFT_KIND_FLOAT,
                                     WEFT_KIND_FLOAT,    WEFT_KIND_COMPLEX,  WEFT_KIND_COMPLEX};
    for (int i = 0; i < COUNT; i++) {
        weft_dtype_kind kind = WEFT_KIND_COMPLEX;
        CHECK_STR(weft_dtype_name(all[i]), names[i]);
        CHECK_INT(weft_dtype_named(names[i]), all[i]);
        CHECK_INT(weft_dtype_size(all[i]), sizes[i]);
        CHECK_STATUS(weft_dtype_kind_of(all[i], &kind), WEFT_OK);
        CHECK_INT(kind, kinds[i]);
    }
    CHECK_INT(WEFT_DTYPE_END - 1, COUNT); /* none is missing from the tables */
}

TEST(A1_wrong_names)
{
    static const char *const wrong[] = {"", "float", "F32", "f32 ", "i128", "default", "unknown"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        weft_error_clear();
        CHECK_INT(weft_dtype_named(wrong[i]), WEFT_DTYPE_DEFAULT);
        CHECK_ERROR(WEFT_ERROR_DTYPE, wrong[i]);
        CHECK_ERROR(WEFT_ERROR_DTYPE, "bf16"); /* those that exist are listed */
    }
    weft_error_clear();
    CHECK_INT(weft_dtype_named(NULL), WEFT_DTYPE_DEFAULT);
    CHECK_ERROR(WEFT_ERROR_DTYPE, "NULL");
    CHECK_STR(weft_error_last()->operand, "name");
}

TEST(A1_values_that_are_no_dtype)
{
    static const int wrong[] = {WEFT_DTYPE_DEFAULT, WEFT_DTYPE_END, -1, 1000};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        weft_dtype dtype = (weft_dtype)wrong[i];
        weft_dtype result = WEFT_F64;
        weft_dtype_kind kind = WEFT_KIND_FLOAT;
        CHECK_STR(weft_dtype_name(dtype), "unknown");
        CHECK_INT(weft_dtype_size(dtype), 0);
        CHECK_STATUS(weft_dtype_kind_of(dtype, &kind), WEFT_ERROR_DTYPE);
        CHECK_INT(kind, WEFT_KIND_FLOAT);
        CHECK_STATUS(weft_dtype_promote(dtype, WEFT_F32, &result), WEFT_ERROR_DTYPE);
        CHECK_STATUS(weft_dtype_promote(WEFT_F32, dtype, &result), WEFT_ERROR_DTYPE);
        CHECK_INT(result, WEFT_F64);
        CHECK(!weft_dtype_assignable(dtype, WEFT_F32));
        CHECK(!weft_dtype_assignable(WEFT_F32, dtype));
        CHECK(!weft_device_supports(WEFT_CPU, dtype));
    }
}

/* What each pair becomes; "" where the standard leaves it undefined, which here is an error. Rows
 * and columns in the order of `all`. The standard has no f16 and bf16: they are the floats below
 * f32, which holds both. */
static const char *const promotions[COUNT][COUNT] = {
    /* bool */ {"bool", "", "", "", "", "", "", "", "", "", "", "", "", "", ""},
    /* i8 */ {"", "i8", "i16", "i32", "i64", "i16", "i32", "i64", "", "", "", "", "", "", ""},
    /* i16 */ {"", "i16", "i16", "i32", "i64", "i16", "i32", "i64", "", "", "", "", "", "", ""},
    /* i32 */ {"", "i32", "i32", "i32", "i64", "i32", "i32", "i64", "", "", "", "", "", "", ""},
    /* i64 */ {"", "i64", "i64", "i64", "i64", "i64", "i64", "i64", "", "", "", "", "", "", ""},
    /* u8 */ {"", "i16", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "", "", "", "", "", ""},
    /* u16 */ {"", "i32", "i32", "i32", "i64", "u16", "u16", "u32", "u64", "", "", "", "", "", ""},
    /* u32 */ {"", "i64", "i64", "i64", "i64", "u32", "u32", "u32", "u64", "", "", "", "", "", ""},
    /* u64 */ {"", "", "", "", "", "u64", "u64", "u64", "u64", "", "", "", "", "", ""},
    /* f16 */ {"", "", "", "", "", "", "", "", "", "f16", "f32", "f32", "f64", "c64", "c128"},
    /* bf16 */ {"", "", "", "", "", "", "", "", "", "f32", "bf16", "f32", "f64", "c64", "c128"},
    /* f32 */ {"", "", "", "", "", "", "", "", "", "f32", "f32", "f32", "f64", "c64", "c128"},
    /* f64 */ {"", "", "", "", "", "", "", "", "", "f64", "f64", "f64", "f64", "c128", "c128"},
    /* c64 */ {"", "", "", "", "", "", "", "", "", "c64", "c64", "c64", "c128", "c64", "c128"},
    /* c128 */
    {"", "", "", "", "", "", "", "", "", "c128", "c128", "c128", "c128", "c128", "c128"}};

TEST(A1_promotion_table)
{
    for (int a = 0; a < COUNT; a++)
        for (int b = 0; b < COUNT; b++) {
            const char *expected = promotions[a][b];
            weft_dtype result = WEFT_DTYPE_DEFAULT;
            weft_error_clear();
            weft_status status = weft_dtype_promote(all[a], all[b], &result);
            if (*expected) {
                CHECK_STATUS(status, WEFT_OK);
                CHECK_STR(weft_dtype_name(result), expected);
                continue;
            }
            CHECK_STATUS(status, WEFT_ERROR_DTYPE);
            CHECK_INT(result, WEFT_DTYPE_DEFAULT);
            CHECK_ERROR(WEFT_ERROR_DTYPE, names[a]); /* both are named */
            CHECK_ERROR(WEFT_ERROR_DTYPE, names[b]);
        }
}

/* What may be assigned without a cast: 'b'ool, 'i'nteger, 'f'loat, 'c'omplex. */
TEST(A1_assignable_within_a_kind)
{
    static const char kinds[] = "biiiiiiiiffffcc";
    for (int to = 0; to < COUNT; to++)
        for (int from = 0; from < COUNT; from++) {
            bool expected = kinds[to] == kinds[from] || (kinds[to] == 'c' && kinds[from] == 'f');
            CHECK_INT(weft_dtype_assignable(all[to], all[from]), expected);
        }
}

TEST(A1_null_results_are_errors)
{
    weft_error_clear();
    CHECK_STATUS(weft_dtype_promote(WEFT_F32, WEFT_F64, NULL), WEFT_ERROR_ARGUMENT);
    CHECK_ERROR(WEFT_ERROR_ARGUMENT, "NULL");
    weft_error_clear();
    CHECK_STATUS(weft_dtype_kind_of(WEFT_F32, NULL), WEFT_ERROR_ARGUMENT);
    CHECK_ERROR(WEFT_ERROR_ARGUMENT, "NULL");
}

TEST_MAIN(TEST_OF(A1_names_sizes_kinds), TEST_OF(A1_wrong_names),
          TEST_OF(A1_values_that_are_no_dtype), TEST_OF(A1_promotion_table),
          TEST_OF(A1_assignable_within_a_kind), TEST_OF(A1_null_results_are_errors));
