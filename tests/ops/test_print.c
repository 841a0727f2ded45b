/* Tests of printing: the text against NumPy's, what is fetched for it, and what fails. */
#include "support/check.h"

#include <locale.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <weft/weft.h>

/* The values are listed, as bits (two for a complex number), or number k is
 * ((k * multiply + add) mod modulus - subtract) / 2^shift. */
typedef struct print_case {
    const char *name;
    weft_dtype dtype;
    weft_shape shape;
    uint64_t bits[8];
    struct {
        int64_t multiply, add, modulus, subtract;
        int shift;
    } count_by;
    const char *text;
} print_case;

#include "print_cases.h"

/* NumPy has no bf16. These follow from its rules for f16: the shortest decimals that are nearer to
 * the value than to its neighbours, which are 2^-7 of its power of two away; exact digits where
 * scientific notation or whole numbers need more. */
static const print_case bf16_cases[] = {
    {"bf16 simple",
     WEFT_BF16,
     {1, {3}},
     .bits = {0x3f80, 0x4049, 0xbdcd},
     .text = "[ 1.    3.14 -0.1 ]"},
    {"bf16 alone", WEFT_BF16, {0, {0}}, .bits = {0x4049}, .text = "3.14"},
    {"bf16 largest", WEFT_BF16, {0, {0}}, .bits = {0x7f7f}, .text = "3.39e+38"},
    {"bf16 smallest", WEFT_BF16, {0, {0}}, .bits = {0x0001}, .text = "9e-41"},
    {"bf16 special",
     WEFT_BF16,
     {1, {3}},
     .bits = {0x7fc0, 0xff80, 0x8000},
     .text = "[ nan -inf  -0.]"},
    {"bf16 whole", WEFT_BF16, {1, {2}}, .bits = {0x461c, 0x4580}, .text = "[9984. 4096.]"},
    {"bf16 short alone", WEFT_BF16, {0, {0}}, .bits = {0x461c}, .text = "10000.0"},
    {"bf16 from 1e8 on", WEFT_BF16, {1, {1}}, .bits = {0x4cbf}, .text = "[1.e+08]"},
    {"bf16 below 1e8", WEFT_BF16, {1, {1}}, .bits = {0x4cbe}, .text = "[99614720.]"},
    {"bf16 one ten-thousandth", WEFT_BF16, {1, {1}}, .bits = {0x38d2}, .text = "[0.0001]"},
    {"bf16 ratio", WEFT_BF16, {1, {2}}, .bits = {0x4049, 0x3a83}, .text = "[3.14e+00 9.99e-04]"},
};

enum { ELEMENTS_MAX = 3000, TEXT_MAX = 8192 };

static int parts_of(weft_dtype dtype) { return dtype == WEFT_C64 || dtype == WEFT_C128 ? 2 : 1; }

static uint64_t bits_of(const print_case *c, int64_t k)
{
    if (c->count_by.modulus == 0)
        return c->bits[k];
    int64_t counted = (k * c->count_by.multiply + c->count_by.add) % c->count_by.modulus;
    int64_t whole = counted - c->count_by.subtract;
    double number = c->count_by.shift < 0 ? (double)whole * (double)(1 << -c->count_by.shift)
                                          : (double)whole / (double)(1 << c->count_by.shift);
    float narrow = (float)number;
    uint64_t bits = (uint64_t)whole;
    if (c->dtype == WEFT_F64 || c->dtype == WEFT_C128)
        memcpy(&bits, &number, sizeof number);
    if (c->dtype == WEFT_F32 || c->dtype == WEFT_C64) {
        bits = 0;
        memcpy(&bits, &narrow, sizeof narrow);
    }
    return bits;
}

static weft_array *array_of(const print_case *c)
{
    static char data[ELEMENTS_MAX * 16];
    weft_device device = weft_device_named(test_device());
    int parts = parts_of(c->dtype);
    size_t item = weft_dtype_size(c->dtype), bytes = item / (size_t)parts;
    int64_t count;
    if (weft_shape_count(c->shape, &count) != WEFT_OK || count > ELEMENTS_MAX)
        return NULL;
    for (int64_t k = 0; k < count * parts; k++) {
        uint64_t bits = bits_of(c, k);
        memcpy(data + (size_t)k * bytes, &bits, bytes); /* little-endian */
    }
    return weft_from_host(data, (size_t)count * item, c->shape, .dtype = c->dtype,
                          .device = device);
}

static bool check_case(const print_case *c)
{
    char text[TEXT_MAX], context[256];
    size_t length = 0;
    WEFT_AUTO weft_array *array = array_of(c);
    snprintf(context, sizeof context, "the text of \"%s\"", c->name);
    CHECK_OR(array, false);
    CHECK_OR(weft_format(array, text, sizeof text, &length) == WEFT_OK, false);
    CHECK_OR(test_check_str(TEST_HERE, context, text, c->text), false);
    CHECK_OR(length == strlen(text), false);
    return true;
}

static void check_cases(const print_case *cases, size_t count)
{
    for (size_t k = 0; k < count && check_case(&cases[k]); k++)
        ;
}

#define CHECK_CASES(table) check_cases(table, sizeof(table) / sizeof((table)[0]))

TEST(whole_numbers_as_numpy) { CHECK_CASES(whole_number_cases); }
TEST(floats_as_numpy) { CHECK_CASES(float_cases); }
TEST(complex_as_numpy) { CHECK_CASES(complex_cases); }
TEST(bf16_by_the_same_rules) { CHECK_CASES(bf16_cases); }

static weft_array *counting(int64_t count)
{
    return weft_arange(0, (double)count, 1, .dtype = WEFT_I32,
                       .device = weft_device_named(test_device()));
}

TEST(text_is_cut_to_the_room)
{
    char text[16];
    size_t length = 0;
    WEFT_AUTO weft_array *array = counting(5);
    CHECK(array);
    CHECK_STATUS(weft_format(array, NULL, 0, &length), WEFT_OK);
    CHECK_INT(length, 11);
    memset(text, '#', sizeof text);
    CHECK_STATUS(weft_format(array, text, 5, &length), WEFT_OK);
    CHECK_STR(text, "[0 1");
    CHECK_INT(text[5], '#');
    CHECK_INT(length, 11);
    CHECK_STATUS(weft_format(array, text, 11, &length), WEFT_OK);
    CHECK_STR(text, "[0 1 2 3 4");
    CHECK_STATUS(weft_format(array, text, 12, NULL), WEFT_OK);
    CHECK_STR(text, "[0 1 2 3 4]");
    CHECK_STATUS(weft_format(array, text, 1, &length), WEFT_OK);
    CHECK_STR(text, "");
}

TEST(views_print_their_elements)
{
    char text[TEXT_MAX];
    WEFT_AUTO weft_array *array = counting(2400);
    WEFT_AUTO weft_array *matrix = weft_reshape(array, WEFT_SHAPE(60, 40));
    WEFT_AUTO weft_array *view = weft_slice(matrix, WEFT_REVERSED, WEFT_STEP(1, WEFT_END, 2));
    WEFT_AUTO weft_array *turned = weft_transpose(view);
    CHECK_STATUS(weft_format(turned, text, sizeof text, NULL), WEFT_OK);
    CHECK_STR(text, "[[2361 2321 2281 ...   81   41    1]\n"
                    " [2363 2323 2283 ...   83   43    3]\n"
                    " [2365 2325 2285 ...   85   45    5]\n"
                    " ...\n"
                    " [2395 2355 2315 ...  115   75   35]\n"
                    " [2397 2357 2317 ...  117   77   37]\n"
                    " [2399 2359 2319 ...  119   79   39]]");
}

TEST(huge_arrays_fetch_their_edges)
{
    char text[TEXT_MAX];
    WEFT_AUTO weft_array *one = counting(1);
    WEFT_AUTO weft_array *huge =
        weft_broadcast(one, WEFT_SHAPE(2, INT64_C(1) << 30, INT64_C(1) << 30));
    CHECK_STATUS(weft_format(huge, text, sizeof text, NULL), WEFT_OK);
    CHECK_STR(text, "[[[0 0 0 ... 0 0 0]\n  [0 0 0 ... 0 0 0]\n  [0 0 0 ... 0 0 0]\n  ...\n"
                    "  [0 0 0 ... 0 0 0]\n  [0 0 0 ... 0 0 0]\n  [0 0 0 ... 0 0 0]]\n\n"
                    " [[0 0 0 ... 0 0 0]\n  [0 0 0 ... 0 0 0]\n  [0 0 0 ... 0 0 0]\n  ...\n"
                    "  [0 0 0 ... 0 0 0]\n  [0 0 0 ... 0 0 0]\n  [0 0 0 ... 0 0 0]]]");
}

/* Five axes that are cut need more than one view can have. Every element is its linear index. */
TEST(many_cut_axes_keep_the_order)
{
    enum { ROOM = 1 << 17 };
    static char text[ROOM];
    static const int64_t shown[6] = {0, 1, 2, 4, 5, 6};
    size_t length = 0;
    WEFT_AUTO weft_array *array = counting(7 * 7 * 7 * 7 * 7);
    WEFT_AUTO weft_array *cube = weft_reshape(array, WEFT_SHAPE(7, 7, 7, 7, 7));
    CHECK_STATUS(weft_format(cube, text, sizeof text, &length), WEFT_OK);
    CHECK(length < sizeof text);
    const char *next = text;
    for (int k = 0; k < 6 * 6 * 6 * 6 * 6; k++) {
        int64_t index = 0;
        for (int place = 1296; place > 0; place /= 6)
            index = index * 7 + shown[k / place % 6];
        next += strcspn(next, "0123456789");
        char *end = NULL;
        CHECK_INT(strtoll(next, &end, 10), index);
        next = end;
    }
    CHECK_STR(next, "]]]]]");
}

TEST(locale_does_not_matter)
{
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "de_DE", "fr_FR.UTF-8"};
    static const float numbers[2] = {1.5f, -0.25f};
    char text[64];
    const char *found = NULL;
    for (size_t k = 0; k < sizeof names / sizeof names[0] && !found; k++)
        found = setlocale(LC_NUMERIC, names[k]);
    if (!found || strcmp(localeconv()->decimal_point, ",") != 0)
        SKIP("no locale with a decimal comma is installed");
    WEFT_AUTO weft_array *array = weft_from_host(numbers, sizeof numbers, WEFT_SHAPE(2));
    weft_status status = weft_format(array, text, sizeof text, NULL);
    setlocale(LC_NUMERIC, "C");
    CHECK_STATUS(status, WEFT_OK);
    CHECK_STR(text, "[ 1.5  -0.25]");
}

TEST(what_cannot_be_printed)
{
    char text[16] = "before";
    size_t length = 1;
    WEFT_AUTO weft_array *handle = weft_handle(.device = weft_device_named(test_device()));
    WEFT_AUTO weft_array *array = counting(3);
    CHECK(handle && array);
    CHECK_STATUS(weft_format(handle, text, sizeof text, &length), WEFT_ERROR_ARGUMENT);
    CHECK_ERROR(WEFT_ERROR_ARGUMENT, "weft_format: array is a handle with no memory");
    CHECK_STR(text, "");
    CHECK_INT(length, 0);
    CHECK_STATUS(weft_print(handle), WEFT_ERROR_ARGUMENT);
    CHECK_ERROR(WEFT_ERROR_ARGUMENT, "weft_print: ");
    CHECK_STATUS(weft_format(array, NULL, 4, &length), WEFT_ERROR_ARGUMENT);
    CHECK_ERROR(WEFT_ERROR_ARGUMENT, "text is NULL");
    weft_error_clear();
    CHECK_STATUS(weft_format(NULL, text, sizeof text, &length), WEFT_ERROR_ARGUMENT);
    CHECK_ERROR(WEFT_ERROR_ARGUMENT, "array is NULL");
}

/* Prints with the standard output sent to a file; what the file then holds, if asked for. */
static weft_status print_to(FILE *file, weft_array *array, char *text, size_t room)
{
    fflush(stdout);
    int before = dup(STDOUT_FILENO);
    dup2(fileno(file), STDOUT_FILENO);
    weft_status status = weft_print(array);
    if (text)
        fflush(stdout);
    else
        __fpurge(stdout);
    clearerr(stdout);
    dup2(before, STDOUT_FILENO);
    close(before);
    if (text) {
        rewind(file);
        text[fread(text, 1, room - 1, file)] = 0;
    }
    return status;
}

TEST(print_writes_a_line)
{
    char text[64] = "";
    WEFT_AUTO weft_array *array = counting(4);
    WEFT_AUTO weft_array *square = weft_reshape(array, WEFT_SHAPE(2, 2));
    FILE *file = tmpfile();
    CHECK(file);
    weft_status status = print_to(file, square, text, sizeof text);
    fclose(file);
    CHECK_STATUS(status, WEFT_OK);
    CHECK_STR(text, "[[0 1]\n [2 3]]\n");
}

TEST(print_reports_a_full_output)
{
    WEFT_AUTO weft_array *array = counting(1000);
    FILE *file = fopen("/dev/full", "w");
    if (!file)
        SKIP("there is no /dev/full");
    WEFT_AUTO weft_array *rows = weft_broadcast(array, WEFT_SHAPE(1, 1000));
    weft_status status = print_to(file, rows, NULL, 0);
    fclose(file);
    CHECK_STATUS(status, WEFT_ERROR_SYSTEM);
    CHECK_ERROR(WEFT_ERROR_SYSTEM, "the standard output cannot be written");
}

TEST_MAIN(TEST_OF(whole_numbers_as_numpy), TEST_OF(floats_as_numpy), TEST_OF(complex_as_numpy),
          TEST_OF(bf16_by_the_same_rules), TEST_OF(text_is_cut_to_the_room),
          TEST_OF(views_print_their_elements), TEST_OF(huge_arrays_fetch_their_edges),
          TEST_OF(many_cut_axes_keep_the_order), TEST_OF(locale_does_not_matter),
          TEST_OF(what_cannot_be_printed), TEST_OF(print_writes_a_line),
          TEST_OF(print_reports_a_full_output));
