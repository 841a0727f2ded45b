/* The checks of the test harness: they compare, and record the first failure. */
#include "support/check.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/weft.h>

#include "support/record.h"

/* A fixed buffer: a check must work when no allocation does. */
static char failure[2048];
static int failure_code;
static const char *skip_reason;
static atomic_int state; /* 0: no failure, 1: being written, 2: written */

void test_record_clear(void)
{
    failure[0] = '\0';
    failure_code = 0;
    skip_reason = NULL;
    atomic_store(&state, 0);
}

const char *test_record_failure(void)
{
    while (atomic_load(&state) == 1) {
    }
    return atomic_load(&state) == 2 ? failure : NULL;
}

int test_record_error_code(void) { return failure_code; }

const char *test_record_skip(void) { return skip_reason; }

void test_skip(const char *reason) { skip_reason = reason; }

const char *test_device(void)
{
    const char *device = getenv("WEFT_TEST_DEVICE");
    return device && *device ? device : "cpu";
}

static bool is_set(const char *name)
{
    const char *value = getenv(name);
    return value && strcmp(value, "1") == 0;
}

bool test_faults(void) { return is_set("WEFT_TEST_FAULTS"); }

bool test_quick(void) { return is_set("WEFT_TEST_QUICK"); }

__attribute__((format(printf, 2, 3))) static bool fail(struct test_place place, const char *format,
                                                       ...)
{
    int expected = 0;
    if (!atomic_compare_exchange_strong(&state, &expected, 1)) {
        return false; /* the first failure is the one to report */
    }
    int used = snprintf(failure, sizeof failure, "%s:%d: ", place.file, place.line);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(failure + used, sizeof failure - (size_t)used, format, arguments);
    va_end(arguments);
    failure_code = (int)weft_error_code();
    atomic_store(&state, 2);
    return false;
}

bool test_check(struct test_place place, bool passed, const char *text)
{
    return passed || fail(place, "%s is false (last error: %s)", text, weft_error_message());
}

bool test_check_int(struct test_place place, const char *text, int64_t actual, int64_t expected)
{
    return actual == expected ||
           fail(place, "%s is %" PRId64 ", expected %" PRId64, text, actual, expected);
}

static const char *shown(const char *string) { return string ? string : "NULL"; }

bool test_check_str(struct test_place place, const char *text, const char *actual,
                    const char *expected)
{
    bool same = actual && expected ? strcmp(actual, expected) == 0 : actual == expected;
    return same || fail(place, "%s is\n    \"%s\", expected\n    \"%s\"", text, shown(actual),
                        shown(expected));
}

/* Up to 16 bytes in hexadecimal, with a space between. */
static const char *hexadecimal(char text[static 49], const unsigned char *bytes, size_t count)
{
    static const char digits[] = "0123456789abcdef";
    size_t used = 0;
    for (size_t i = 0; i < count && i < 16; i++) {
        text[used++] = digits[bytes[i] >> 4];
        text[used++] = digits[bytes[i] & 15];
        text[used++] = ' ';
    }
    text[used] = '\0';
    return text;
}

bool test_check_bits(struct test_place place, const char *text, const void *actual,
                     const void *expected, size_t bytes)
{
    if (!actual || !expected) {
        return bytes == 0 || fail(place, "%s: %s is NULL", text, actual ? "expected" : "actual");
    }
    const unsigned char *a = actual;
    const unsigned char *e = expected;
    size_t at = 0;
    size_t different = 0;
    for (size_t i = bytes; i-- > 0;) {
        if (a[i] != e[i]) {
            at = i;
            different++;
        }
    }
    if (different == 0) {
        return true;
    }
    char a_text[49];
    char e_text[49];
    size_t from = at / 16 * 16; /* a whole row, so that elements stay whole */
    return fail(place,
                "%s: %zu of %zu bytes differ, the first at %zu; from byte %zu on it is\n    %s\n"
                "  expected\n    %s",
                text, different, bytes, at, from, hexadecimal(a_text, a + from, bytes - from),
                hexadecimal(e_text, e + from, bytes - from));
}

static const char *status_name(int status) { return weft_status_name((weft_status)status); }

bool test_check_status(struct test_place place, const char *text, int actual, int expected)
{
    return actual == expected ||
           fail(place, "%s is %s, expected %s (last error: %s)", text, status_name(actual),
                status_name(expected), weft_error_message());
}

bool test_check_error(struct test_place place, int code, const char *part)
{
    int actual = (int)weft_error_code();
    const char *message = weft_error_message();
    return (actual == code && strstr(message, part)) ||
           fail(place, "the last error is\n    %s: \"%s\", expected\n    %s: \"...%s...\"",
                status_name(actual), message, status_name(code), part);
}
