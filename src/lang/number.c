/* Numeric literals: C's integers and floats with their suffixes, 0b101, and imaginary ones (2.0i,
 * 1if). */
#include "lang/lexer.h"
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>

typedef struct reader {
    const char *text;
    size_t at, length;
} reader;

static locale_t c_locale;

static void make_locale(void) { c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0); }

/* strtod with a point, whatever the program's locale says. */
static double read_real(const char *text, bool narrow)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_locale);
    if (!c_locale)
        return narrow ? (double)strtof(text, NULL) : strtod(text, NULL);
    return narrow ? (double)strtof_l(text, NULL, c_locale) : strtod_l(text, NULL, c_locale);
}

static char lower(const reader *r)
{
    char c = r->at < r->length ? r->text[r->at] : (char)0;
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool take(reader *r, char c)
{
    bool found = lower(r) == c && r->at < r->length;
    r->at += found;
    return found;
}

static int digit_value(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : 99;
}

/* Skips digits of a base and gives their value; true if it fits into 64 bits. */
static bool read_digits(reader *r, int base, uint64_t *value)
{
    bool fits = true;
    for (*value = 0; digit_value(lower(r)) < base; r->at++) {
        fits &= !__builtin_mul_overflow(*value, (uint64_t)base, value);
        fits &= !__builtin_add_overflow(*value, (uint64_t)digit_value(lower(r)), value);
    }
    return fits;
}

static const char *read_exponent(reader *r)
{
    size_t digits;
    uint64_t value;
    r->at++;
    if (!take(r, '+'))
        take(r, '-');
    digits = r->at;
    read_digits(r, 10, &value);
    return r->at == digits ? "the exponent has no digits" : NULL;
}

/* A suffix of integers: u, l, ll, in either order. */
static const char *integer_suffix(reader *r, bool decimal, weft__number *number)
{
    bool is_unsigned = take(r, 'u'), is_long = take(r, 'l');
    if (is_long)
        take(r, 'l');
    is_unsigned |= !is_unsigned && take(r, 'u');
    if (r->at < r->length)
        return "this is no number, or its suffix is none of u, l, ul, ll, ull, and i of imaginary "
               "ones";
    number->weak = !is_unsigned && !is_long;
    if (number->weak || (is_long && !is_unsigned)) {
        number->dtype = number->integer > INT64_MAX ? WEFT_U64 : WEFT_I64;
        return number->dtype == WEFT_U64 && decimal && is_long
                   ? "the number is larger than an i64 can hold; write it with the suffix ul"
                   : NULL;
    }
    number->dtype = is_long || number->integer > UINT32_MAX ? WEFT_U64 : WEFT_U32;
    return NULL;
}

/* A suffix of floats: f or l, and i for the imaginary unit, in either order. */
static const char *real_suffix(reader *r, weft__number *number)
{
    bool imaginary = take(r, 'i'), narrow = take(r, 'f'), wide = !narrow && take(r, 'l');
    imaginary |= !imaginary && take(r, 'i');
    if (r->at < r->length)
        return "this is no number, or its suffix is none of f, l, i, if, il";
    number->weak = !narrow && !wide;
    if (imaginary)
        number->dtype = narrow ? WEFT_C64 : WEFT_C128;
    else
        number->dtype = narrow ? WEFT_F32 : WEFT_F64;
    number->real = read_real(r->text, narrow);
    return isinf(number->real) ? "the number is too large for its type" : NULL;
}

static int base_of(const reader *r)
{
    char mark = r->length > 1 && r->text[0] == '0' ? (char)(r->text[1] | 0x20) : (char)0;
    return mark == 'x' ? 16 : mark == 'b' ? 2 : 10;
}

/* What follows the digits before the point, of a number that has a point or an exponent. */
static const char *read_fraction(reader *r, int base, bool empty)
{
    uint64_t fraction;
    bool point = take(r, '.');
    size_t start = r->at;
    if (point)
        read_digits(r, base, &fraction);
    if (empty && r->at == start)
        return "the number has no digits";
    if (lower(r) == (base == 16 ? 'p' : 'e'))
        return read_exponent(r);
    return base == 16 ? "a hexadecimal fraction needs an exponent, as in 0x1.8p0" : NULL;
}

/* A number that begins with 0 and has more digits is octal. */
static const char *read_octal(reader *r, bool *fits, uint64_t *value)
{
    size_t end = r->at;
    r->at = 1;
    *fits = read_digits(r, 8, value);
    return r->at < end ? "an octal number (it begins with 0) has the digits 0 to 7 only" : NULL;
}

static const char *read_number(reader *r, weft__number *number)
{
    const char *why = NULL;
    int base = base_of(r);
    size_t start = r->at = base == 10 ? 0 : 2;
    bool fits = read_digits(r, base, &number->integer), empty = r->at == start;
    char next = lower(r);
    if (base != 2 && (next == '.' || next == (base == 16 ? 'p' : 'e'))) {
        why = read_fraction(r, base, empty);
        return why ? why : real_suffix(r, number);
    }
    if (empty)
        return "the number has no digits";
    if (base == 10 && next == 'i')
        return real_suffix(r, number);
    if (base == 10 && next == 'f')
        return "the suffix f needs a point, as in 1.0f";
    bool octal = base == 10 && r->text[0] == '0' && r->at > 1;
    if (octal)
        why = read_octal(r, &fits, &number->integer);
    if (!why && !fits)
        why = "the number is larger than 64 bits can hold";
    return why ? why : integer_suffix(r, base == 10 && !octal, number);
}

const char *weft__lang_number(const char *text, size_t length, weft__number *number)
{
    reader r = {text, 0, length};
    *number = (weft__number){WEFT_I64, true, 0, 0};
    return read_number(&r, number);
}
