/* Explaining functions: as text, as JSON and as a picture. */
#include "support/arrays.h"
#include "support/check.h"
#include <stdio.h>
#include <string.h>
#include <weft/weft.h>

enum { COUNT = 1000 };

static weft_status nothing(int count, const weft_operand *arguments, void *context)
{
    (void)count, (void)arguments, (void)context;
    return WEFT_OK;
}

WEFT_FUNCTION(cut_off, (v, most), {
    if (v > most)
        return most;
    return v;
});

WEFT_FUNCTION_WITH(steps, (.offload = WEFT_OFFLOAD_ALWAYS), (x, y, n), {
    a = 0.5;
    look_at(x);
    y = a * x + y;
    x = y * 2;
    for (int i = 0; i < n; i++)
        y(i) = cut_off(x(i), 3.0f);
    for (int i = 1; i < n; i++)
        y(i) = y(i) + y(i - 1);
    look_at(x);
    t = x + 1;
    return sum(t * t);
});

static int count_of(const char *text, const char *part)
{
    int count = 0;
    for (const char *at = text; (at = strstr(at, part)); at += strlen(part))
        count++;
    return count;
}

/* Calls `steps` with lent memory; the texts are to be freed. */
static bool explain(char *texts[3])
{
    float data[2][COUNT] = {{0}}, sum;
    weft_status status = WEFT_ERROR_ARGUMENT;
    WEFT_AUTO weft_array *x = weft_borrow(data[0], sizeof data[0], WEFT_SHAPE(COUNT), WEFT_F32);
    WEFT_AUTO weft_array *y = weft_borrow(data[1], sizeof data[1], WEFT_SHAPE(COUNT), WEFT_F32);
    if (!x || !y || weft_host_bind("look_at", nothing, .access = "read") != WEFT_OK ||
        weft_function_bind("cut_off", &cut_off) != WEFT_OK)
        return false;
    {
        WEFT_ON(device());
        status = weft_call(steps, &sum, x, y, COUNT);
    }
    for (int form = WEFT_EXPLAIN_TEXT; status == WEFT_OK && form <= WEFT_EXPLAIN_SVG; form++)
        status = weft_function_explain_as(&texts[form], (weft_explain_form)form, &steps);
    return status == WEFT_OK;
}

/* What a reader looks for: all of it is there. */
static bool has_all(const char *text, const char *const *parts)
{
    for (int k = 0; parts[k]; k++)
        if (!strstr(text, parts[k])) {
            fprintf(stderr, "there is no \"%s\" in\n%s\n", parts[k], text);
            return false;
        }
    return true;
}

TEST(F7_forms)
{
    static const char *const words[] = {
        "function steps(x, y, n)\n",
        "look_at(x): host call\n",
        "the next 2 statements are fused\n",
        "for (int i = 0; i < n): parallel\n",
        "for (int i = 1; i < n): serial: this element of 'y' may be one that an earlier iteration "
        "wrote at column ",
        "array statement, 1 kernel: y = a * x + y\n",
        "not fused with the one before: a loop is a kernel of its own\n",
        "not fused with the one before: a host function is called between them\n",
        "altogether 4 kernels, ",
        NULL};
    static const char *const fields[] = {"\"function\": \"steps\"",
                                         "\"parameters\": \"(x, y, n)\"",
                                         "\"kind\": \"host call\"",
                                         "\"calls\": \"look_at\"",
                                         "\"fused\": true, \"statements\": 2",
                                         "\"parallel\": false, \"why\": ",
                                         "\"parallel\": true",
                                         "\"kernels\": 4, ",
                                         "\"more_events\": 0}}\n",
                                         "\"not_fused\": \"a loop is",
                                         NULL};
    static const char *const copies[] = {"copy x to the device, 4000 bytes\n",
                                         "copy y to the host, 4000 bytes\n",
                                         "copy a number to the host, 4 bytes\n", NULL};
    char *texts[3] = {NULL, NULL, NULL};
    bool right = explain(texts);
    right = right && has_all(texts[0], words) && has_all(texts[1], fields);
    if (right && device().kind != WEFT_DEVICE_CPU)
        right = has_all(texts[0], copies) &&
                count_of(texts[0], "        copy ") == count_of(texts[2], "marker-end=");
    right =
        right && !strncmp(texts[2], "<svg ", 5) && count_of(texts[2], "</svg>\n") == 1 &&
        count_of(texts[2], "class=\"region\"") == 4 && count_of(texts[2], "class=\"host\"") == 2 &&
        count_of(texts[2], "class=\"serial\"") == 1 + count_of(texts[2], "compiled, from here on");
    for (int k = 0; k < 3; k++)
        weft_explain_free(texts[k]);
    CHECK(right);
}

/* A loop that is parallel for some bounds: the reason is that of the last call. */
WEFT_FUNCTION(moved, (y, k, n), {
    for (int i = 0; i < n; i++)
        y(i + k) = y(i);
});

TEST(F7_reason_of_the_last_call)
{
    WEFT_AUTO weft_array *y = weft_zeros(WEFT_SHAPE(64), .device = device());
    static const int shifts[] = {32, 1, 32, 1};
    CHECK(y);
    for (int k = 0; k < 4; k++) {
        char *text = NULL;
        CHECK_STATUS(weft_call(moved, NULL, y, shifts[k], 32), WEFT_OK);
        CHECK_STATUS(weft_function_explain(&text, &moved), WEFT_OK);
        const bool serial = strstr(text, "): serial: this element of 'y'") != NULL;
        weft_explain_free(text);
        CHECK_INT(serial, shifts[k] == 1);
    }
}

/* Places in functions that are called, and lines of texts that have some. */
WEFT_FUNCTION(carries, (y, n), {
    for (int i = 1; i < n; i++)
        y(i) = y(i - 1);
});

TEST(F7_places)
{
    const weft_function calls = {.struct_size = sizeof calls,
                                 .name = "calls",
                                 .parameters = "(y, n)",
                                 .body = "{\n  y = y + 1;\n  carries(y, n);\n}",
                                 .place = "file.c:11"};
    WEFT_AUTO weft_array *y = weft_zeros(WEFT_SHAPE(8), .device = device());
    char *text = NULL;
    CHECK(y);
    CHECK_STATUS(weft_function_bind("carries", &carries), WEFT_OK);
    CHECK_STATUS(weft_call(calls, NULL, y, 8), WEFT_OK);
    CHECK_STATUS(weft_function_explain(&text, &calls), WEFT_OK);
    const char *parts[] = {"  11:1  y = y + 1\n", "carries 1  for (int i = 1; i < n): serial",
                           "at column carries 29 (column carries 36)", NULL};
    const bool right = has_all(text, parts);
    weft_explain_free(text);
    CHECK(right);
    CHECK_STATUS(weft_function_explain_as(&text, (weft_explain_form)3, &calls),
                 WEFT_ERROR_ARGUMENT);
    CHECK_STATUS(weft_function_explain_as(NULL, WEFT_EXPLAIN_JSON, &calls), WEFT_ERROR_ARGUMENT);
}

/* Without a call there is what is known before one. */
WEFT_FUNCTION(never_called, (x), { x = x + 1; });

TEST(F7_not_called)
{
    static const char *const expected[] = {"not called yet", "\"call\": null", "not called yet"};
    for (int form = WEFT_EXPLAIN_TEXT; form <= WEFT_EXPLAIN_SVG; form++) {
        char *text = NULL;
        CHECK_STATUS(weft_function_explain_as(&text, (weft_explain_form)form, &never_called),
                     WEFT_OK);
        const bool right = strstr(text, expected[form]) != NULL;
        weft_explain_free(text);
        CHECK(right);
    }
}

WEFT_FUNCTION(left_for_nothing, (x, y, n), {
    for (int i = 0; i < n; i++) {
        y(i) = 1;
        if (x(i + 3) > 1)
            continue;
    }
});

/* What is said of a loop has no names of the kernel that it is not. */
TEST(F7_values_that_nothing_uses)
{
    char *text;
    WEFT_AUTO weft_array *x = weft_zeros(WEFT_SHAPE(8), .device = device());
    WEFT_AUTO weft_array *y = weft_zeros(WEFT_SHAPE(8), .device = device());
    CHECK(x && y);
    CHECK_STATUS(weft_call(left_for_nothing, NULL, x, y, 8), WEFT_ERROR_SHAPE);
    CHECK_STATUS(weft_function_explain(&text, &left_for_nothing), WEFT_OK);
    const bool right = strstr(text, "a value in it is never used") && !strstr(text, "weft_");
    weft_explain_free(text);
    CHECK(right || test_faults());
}

TEST_MAIN(TEST_OF(F7_forms), TEST_OF(F7_reason_of_the_last_call), TEST_OF(F7_places),
          TEST_OF(F7_not_called), TEST_OF(F7_values_that_nothing_uses));
