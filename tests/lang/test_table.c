/* Every operation of the table with every dtype, of arrays and of numbers: it is computed, or
 * refused for the dtype. */
#include "core/dtype.h"
#include "lang/operations.h"
#include "support/check.h"
#include <complex.h>
#include <stdio.h>
#include <string.h>
#include <weft/weft.h>

static weft_device device(void) { return weft_device_named(test_device()); }

/* How operators are written, and functions that are not called as f(x, y, z). */
static const struct {
    const char *name, *code[3];
} written[] = {
    {"add", {"x + y"}},
    {"subtract", {"x - y"}},
    {"multiply", {"x * y"}},
    {"divide", {"x / y"}},
    {"modulo", {"x % y"}},
    {"negative", {"-x"}},
    {"positive", {"+x"}},
    {"bitwise_and", {"x & y"}},
    {"bitwise_or", {"x | y"}},
    {"bitwise_xor", {"x ^ y"}},
    {"bitwise_not", {"~x"}},
    {"shift_left", {"x << y"}},
    {"shift_right", {"x >> y"}},
    {"equal", {"x == y"}},
    {"not_equal", {"x != y"}},
    {"less", {"x < y"}},
    {"less_equal", {"x <= y"}},
    {"greater", {"x > y"}},
    {"greater_equal", {"x >= y"}},
    {"logical_and", {"x && y"}},
    {"logical_or", {"x || y"}},
    {"logical_not", {"!x"}},
    {"choose", {"x ? x : y", "c ? x : y"}},
    {"where", {"where(c, x, y)"}},
    {"sum", {"sum(x)", "sum(x, axis=0)"}},
    {"prod", {"prod(x)", "prod(x, axis=1)"}},
    {"norm", {"norm(x)", "norm(x, order=1)", "norm(x, axis=1, order=inf)"}},
    {"var", {"var(x)", "var(x, axis=0, correction=1)"}},
    {"shift", {"shift(x, 1, -1)", "shift(x, 0, 1, boundary=wrap)"}},
    {"forward_diff", {"forward_diff(x, 0)"}},
    {"back_diff", {"back_diff(x, 1)"}},
    {"laplacian", {"laplacian(x)"}},
    {"index", {"x + index(0)"}},
};

static const char *code_of(const weft__lang_facts *facts, int form, char *room, size_t length)
{
    static const char *const arguments[] = {"", "x", "x, y", "x, y, z"};
    for (size_t k = 0; k < sizeof written / sizeof *written; k++)
        if (!strcmp(written[k].name, facts->name))
            return written[k].code[form];
    snprintf(room, length, "%s(%s)", facts->name, arguments[facts->most]);
    return form == 0 ? room : NULL;
}

/* Whether the code has this name in it. */
static bool uses(const char *code, char name)
{
    for (const char *at = code; (at = strchr(at, name)); at++) {
        const bool before = at > code && strchr("abcdefghijklmnopqrstuvwxyz_", at[-1]);
        if (!before && !strchr("abcdefghijklmnopqrstuvwxyz_0123456789(", at[1] ? at[1] : ' '))
            return true;
    }
    return false;
}

/* Computes the code of those of c, x, y, z that it uses; NULL if that fails. */
static weft_array *compute(const char *code, const weft_operand operands[4])
{
    static const char *const all[] = {"c", "x", "y", "z"};
    const char *names[4];
    weft_operand used[4];
    int count = 0;
    for (int k = 0; k < 4; k++)
        if (uses(code, all[k][0])) {
            names[count] = all[k];
            used[count++] = operands[k];
        }
    return weft_evaluate_new(code, count, names, used);
}

static bool report(const char *code, const char *type, const char *what)
{
    fprintf(stderr, "'%s' of %s %s: %s\n", code, type, what, weft_error_message());
    return false;
}

/* Whether the result is there, or the refusal is one of dtypes and says what to do. */
static bool as_expected(const char *code, const char *type, bool allowed,
                        const weft_operand operands[4])
{
    weft_error_clear();
    WEFT_AUTO weft_array *result = compute(code, operands);
    if (allowed)
        return (result && weft_eval(result) == WEFT_OK) || report(code, type, "was not computed");
    if (result)
        return report(code, type, "should be refused");
    if (weft_error_code() != WEFT_ERROR_DTYPE || strstr(weft_error_message(), "yet"))
        return report(code, type, "is refused for another reason");
    return true;
}

/* index(0) is an integer, which bool, and u64 with i64, do not add to. */
static bool allows(const weft__lang_facts *facts, weft_dtype dtype)
{
    if (!strcmp(facts->name, "index"))
        return dtype >= WEFT_I8 && dtype <= WEFT_I64 ? true : dtype >= WEFT_U8 && dtype < WEFT_U64;
    return facts->kinds >> weft__dtype_rank(dtype) & 1;
}

static weft_array *array_of(weft_dtype dtype, int which)
{
    static const float numbers[3][6] = {{0, 1, 2, 3, 4, 5}, {1, 2, 3, 1, 2, 3}, {5, 5, 5, 6, 6, 6}};
    WEFT_AUTO weft_array *made =
        weft_from_host(numbers[which], sizeof numbers[which], WEFT_SHAPE(2, 3), .device = device());
    return weft_cast(made, dtype);
}

static bool check_arrays(weft_dtype dtype, bool numbers)
{
    WEFT_AUTO weft_array *c = array_of(WEFT_BOOL, 0), *x = array_of(dtype, 0);
    WEFT_AUTO weft_array *y = array_of(dtype, 1), *z = array_of(dtype, 2);
    const bool truth = dtype == WEFT_BOOL;
    const weft_operand number = truth ? WEFT_OPERAND(truth) : WEFT_OPERAND(2);
    const weft_operand operands[4] = {WEFT_OPERAND(c), WEFT_OPERAND(x),
                                      numbers ? number : WEFT_OPERAND(y),
                                      numbers ? number : WEFT_OPERAND(z)};
    char room[64];
    bool good = c && x && y && z;
    for (int op = 0; op < WEFT__LANG_OPERATION_END; op++) {
        const weft__lang_facts *facts = &weft__lang_operations[op];
        for (int form = 0; form < 3; form++) {
            const char *code = code_of(facts, form, room, sizeof room);
            if (code && (!numbers || uses(code, 'y')))
                good = as_expected(code, weft_dtype_name(dtype), allows(facts, dtype), operands) &&
                       good;
        }
    }
    return good;
}

TEST(X2_every_operation_of_every_dtype)
{
    bool good = true;
    for (int dtype = WEFT_BOOL; dtype <= WEFT_C128; dtype++)
        good = check_arrays((weft_dtype)dtype, false) && good;
    CHECK(good);
}

TEST(X2_every_operation_of_an_array_and_numbers)
{
    bool good = true;
    /* numbers become the same for all dtypes of a rank; the test above has each of them */
    static const bool quick[] = {
        [WEFT_BOOL] = true, [WEFT_I32] = true, [WEFT_F32] = true, [WEFT_C128] = true};
    for (int dtype = WEFT_BOOL; dtype <= WEFT_C128; dtype++)
        good =
            (!test_quick() || quick[dtype] ? check_arrays((weft_dtype)dtype, true) : true) && good;
    CHECK(good);
}

/* A number without a dtype becomes one of the next kind that the operation is for. */
static bool check_numbers(int rank, weft_operand number, const char *type)
{
    const weft_operand operands[4] = {WEFT_OPERAND((bool)true), number, number, number};
    char room[64];
    bool good = true;
    for (int op = 0; op < WEFT__LANG_OPERATION_END; op++) {
        const weft__lang_facts *facts = &weft__lang_operations[op];
        const char *code = code_of(facts, 0, room, sizeof room);
        if (facts->group != WEFT__GROUP_reduction && facts->group != WEFT__GROUP_stencil &&
            facts->group != WEFT__GROUP_position)
            good = as_expected(code, type, facts->kinds >> rank != 0, operands) && good;
    }
    return good;
}

TEST(X2_every_operation_of_numbers)
{
    CHECK(check_numbers(WEFT__RANK_BOOL, WEFT_OPERAND((bool)true), "a C bool"));
    CHECK(check_numbers(WEFT__RANK_INTEGER, WEFT_OPERAND(3), "a C int"));
    CHECK(check_numbers(WEFT__RANK_FLOAT, WEFT_OPERAND(0.5), "a C double"));
    const double complex number = 0.5;
    CHECK(check_numbers(WEFT__RANK_COMPLEX, WEFT_OPERAND(number), "a C complex"));
}

TEST_MAIN(TEST_NO_FAULTS(X2_every_operation_of_every_dtype, "there are too many kernels"),
          TEST_NO_FAULTS(X2_every_operation_of_an_array_and_numbers, "there are too many kernels"),
          TEST_NO_FAULTS(X2_every_operation_of_numbers, "there are too many kernels"));
