/* The text of elements: columns of equal width, and numbers that stand alone. */
#include "ops/format.h"
#include <math.h>
#include <string.h>

enum { PRECISION = 8 };

/* The layout of a float dtype, and when an array of it turns to scientific notation: from `large`
 * on, below `small` (both bits of the absolute value, rounded to the dtype), or when the largest is
 * more than `ratio` times the smallest, which is where a quotient of the dtype begins to round
 * above 1000. */
typedef struct layout {
    int mantissa_bits, exponent_bits;
    uint64_t large, small;
    double ratio;
} layout;

static const layout f16_layout = {10, 5, 0x7c00, 0x068e, 1000.25};
static const layout bf16_layout = {7, 8, 0x4cbf, 0x38d2, 1002};
static const layout f32_layout = {23, 8, 0x4cbebc20, 0x38d1b717, 1000 + 1.0 / 32768};
static const layout f64_layout = {52, 11, 0x4197d78400000000, 0x3f1a36e2eb1c432d, 1000};

static const layout *layout_of(weft_dtype dtype)
{
    switch (dtype) {
    case WEFT_F16:
        return &f16_layout;
    case WEFT_BF16:
        return &bf16_layout;
    case WEFT_F32:
    case WEFT_C64:
        return &f32_layout;
    case WEFT_F64:
    case WEFT_C128:
        return &f64_layout;
    default:
        return NULL;
    }
}

/* Parts of an element: two for complex numbers. */
static int parts_of(weft_dtype dtype) { return dtype == WEFT_C64 || dtype == WEFT_C128 ? 2 : 1; }

static uint64_t load(const void *data, size_t bytes)
{
    uint8_t one;
    uint16_t two;
    uint32_t four;
    uint64_t eight;
    switch (bytes) {
    case 1:
        memcpy(&one, data, 1);
        return one;
    case 2:
        memcpy(&two, data, 2);
        return two;
    case 4:
        memcpy(&four, data, 4);
        return four;
    default:
        memcpy(&eight, data, 8);
        return eight;
    }
}

static uint64_t sign_bit(const layout *l)
{
    return (uint64_t)1 << (l->mantissa_bits + l->exponent_bits);
}

static weft__number number_of(const layout *l, uint64_t bits)
{
    weft__number number = {.negative = (bits & sign_bit(l)) != 0};
    uint64_t hidden = (uint64_t)1 << l->mantissa_bits, fraction = bits & (hidden - 1);
    int highest = (1 << l->exponent_bits) - 1;
    int exponent = (int)(bits >> l->mantissa_bits) & highest;
    int bias = highest / 2 + l->mantissa_bits;
    if (exponent == highest) {
        number.kind = fraction ? WEFT__NUMBER_NAN : WEFT__NUMBER_INFINITE;
        return number;
    }
    number.kind = exponent || fraction ? WEFT__NUMBER_FINITE : WEFT__NUMBER_ZERO;
    number.mantissa = exponent ? fraction | hidden : fraction;
    number.exponent = (exponent ? exponent : 1) - bias;
    number.uneven = exponent > 1 && fraction == 0;
    return number;
}

static bool is_finite(const weft__number *number)
{
    return number->kind == WEFT__NUMBER_ZERO || number->kind == WEFT__NUMBER_FINITE;
}

static double absolute_value(const weft__number *number)
{
    return ldexp((double)number->mantissa, number->exponent);
}

/* Digits that stay when zeros at the end go, at least as many as stand before the point. */
static int significant(const weft__digits *digits, int before)
{
    int count = digits->count;
    while (count > before && count > 0 && digits->digit[count - 1] == '0')
        count--;
    return count;
}

static int decimal_length(uint64_t x)
{
    int length = 1;
    for (; x >= 10; x /= 10)
        length++;
    return length;
}

/* At least `least` digits. */
static char *put_decimal(char *to, uint64_t x, int least)
{
    int length = decimal_length(x) > least ? decimal_length(x) : least;
    for (int k = length - 1; k >= 0; k--, x /= 10)
        to[k] = (char)('0' + x % 10);
    return to + length;
}

static char *put_text(char *to, const char *text)
{
    size_t length = strlen(text);
    memcpy(to, text, length);
    return to + length;
}

static char *put_spaces(char *to, int count)
{
    for (; count > 0; count--)
        *to++ = ' ';
    return to;
}

static char *put_sign(char *to, bool negative, bool plus)
{
    if (negative || plus)
        *to++ = negative ? '-' : '+';
    return to;
}

/* Digits with the point at its place: "0.00125", "1200.", without zeros at the end. */
static char *put_positional(char *to, const weft__digits *digits)
{
    int before = digits->exponent + 1, count = significant(digits, before);
    if (before <= 0)
        *to++ = '0';
    for (int k = 0; k < before; k++)
        *to++ = k < digits->count ? digits->digit[k] : '0';
    *to++ = '.';
    for (int k = before; k < 0 && count > 0; k++)
        *to++ = '0';
    for (int k = before > 0 ? before : 0; k < count; k++)
        *to++ = digits->digit[k];
    return to;
}

/* "1.25e-03" with `places` digits after the point. */
static char *put_scientific(char *to, const weft__digits *digits, int places, int exponent_digits)
{
    *to++ = digits->digit[0];
    *to++ = '.';
    for (int k = 1; k <= places; k++)
        *to++ = k < digits->count ? digits->digit[k] : '0';
    *to++ = 'e';
    *to++ = digits->exponent < 0 ? '-' : '+';
    uint64_t size = (uint64_t)(digits->exponent < 0 ? -digits->exponent : digits->exponent);
    return put_decimal(to, size, exponent_digits);
}

static const char *special_text(const weft__number *number, bool plus)
{
    if (number->kind == WEFT__NUMBER_NAN)
        return plus ? "+nan" : "nan";
    return number->negative ? "-inf" : plus ? "+inf" : "inf";
}

static char *put_part(char *to, const weft__column_part *part, const weft__number *number)
{
    char text[WEFT__ELEMENT_TEXT], *end = text;
    if (!is_finite(number)) {
        const char *special = special_text(number, part->plus);
        to = put_spaces(to, part->left + part->right + 1 - (int)strlen(special));
        return put_text(to, special);
    }
    end = put_sign(end, number->negative, part->plus);
    if (part->scientific) {
        weft__places places = {true, part->places, part->places};
        weft__digits digits = weft__digits_of(number, places);
        end = put_scientific(end, &digits, part->places, part->exponent_digits);
    } else {
        weft__digits digits = weft__digits_of(number, (weft__places){false, 0, PRECISION});
        end = put_positional(end, &digits);
    }
    const char *point = memchr(text, '.', (size_t)(end - text));
    to = put_spaces(to, part->left - (int)(point - text));
    memcpy(to, text, (size_t)(end - text));
    to += end - text;
    return put_spaces(to, part->scientific ? 0 : part->right - (int)(end - point - 1));
}

/* A column of floats in memory: every `stride` bytes one. */
typedef struct floats {
    const layout *layout;
    const char *data;
    size_t bytes, stride;
    int64_t count;
} floats;

static weft__number float_at(const floats *f, int64_t k)
{
    return number_of(f->layout, load(f->data + (size_t)k * f->stride, f->bytes));
}

static bool needs_scientific(const floats *f)
{
    uint64_t largest = 0, smallest = 0, mask = sign_bit(f->layout) - 1;
    for (int64_t k = 0; k < f->count; k++) {
        uint64_t size = load(f->data + (size_t)k * f->stride, f->bytes) & mask;
        if (number_of(f->layout, size).kind != WEFT__NUMBER_FINITE)
            continue;
        largest = size > largest ? size : largest;
        smallest = size < smallest || !smallest ? size : smallest;
    }
    if (!smallest)
        return false;
    if (largest >= f->layout->large || smallest < f->layout->small)
        return true;
    weft__number most = number_of(f->layout, largest), least = number_of(f->layout, smallest);
    return absolute_value(&most) / absolute_value(&least) > f->layout->ratio;
}

static void widen(int *width, int to)
{
    if (*width < to)
        *width = to;
}

static void measure_number(weft__column_part *part, const weft__number *number)
{
    char text[WEFT__ELEMENT_TEXT];
    weft__places places = {part->scientific, 0, PRECISION};
    weft__digits digits = weft__digits_of(number, places);
    int sign = number->negative || part->plus;
    if (part->scientific) {
        int exponent = digits.exponent < 0 ? -digits.exponent : digits.exponent;
        widen(&part->left, sign + 1);
        widen(&part->places, significant(&digits, 1) - 1);
        widen(&part->exponent_digits, decimal_length((uint64_t)exponent));
    } else {
        const char *end = put_positional(text, &digits);
        const char *point = memchr(text, '.', (size_t)(end - text));
        widen(&part->left, sign + (int)(point - text));
        widen(&part->right, (int)(end - point) - 1);
    }
}

static void measure_part(weft__column_part *part, bool plus, const floats *f)
{
    bool special = false, signed_infinity = plus;
    *part = (weft__column_part){.plus = plus, .scientific = needs_scientific(f)};
    part->exponent_digits = 2;
    for (int64_t k = 0; k < f->count; k++) {
        weft__number number = float_at(f, k);
        if (is_finite(&number)) {
            measure_number(part, &number);
            continue;
        }
        special = true;
        signed_infinity |= number.kind == WEFT__NUMBER_INFINITE && number.negative;
    }
    if (part->scientific)
        part->right = part->places + part->exponent_digits + 2;
    if (special)
        widen(&part->left, 3 + signed_infinity - (part->right + 1));
}

static bool integer_is_negative(weft_dtype dtype, uint64_t bits)
{
    return dtype >= WEFT_I8 && dtype <= WEFT_I64 && bits >> (8 * weft_dtype_size(dtype) - 1) != 0;
}

static uint64_t integer_size(weft_dtype dtype, uint64_t bits)
{
    uint64_t mask = UINT64_MAX >> (64 - 8 * weft_dtype_size(dtype));
    return integer_is_negative(dtype, bits) ? (0 - bits) & mask : bits;
}

static int integer_width(weft_dtype dtype, uint64_t bits)
{
    return decimal_length(integer_size(dtype, bits)) + integer_is_negative(dtype, bits);
}

void weft__column_measure(weft__column *column, weft_dtype dtype, bool scalar, const void *data,
                          int64_t count)
{
    size_t item = weft_dtype_size(dtype);
    const layout *l = layout_of(dtype);
    int parts = parts_of(dtype);
    *column = (weft__column){.dtype = dtype, .scalar = scalar};
    if (scalar)
        return;
    for (int k = 0; l && k < parts; k++) {
        size_t bytes = item / (size_t)parts;
        floats f = {l, (const char *)data + (size_t)k * bytes, bytes, item, count};
        measure_part(&column->part[k], k > 0, &f);
    }
    for (int64_t k = 0; !l && k < count; k++) {
        uint64_t bits = load((const char *)data + (size_t)k * item, item);
        widen(&column->width, dtype == WEFT_BOOL ? 5 : integer_width(dtype, bits));
    }
}

/* A float that stands alone, with all its digits; `whole` as in "1.0", complex parts do without. */
static char *put_scalar(char *to, const weft__number *number, bool plus, bool whole)
{
    double size = absolute_value(number);
    if (!is_finite(number))
        return put_text(to, special_text(number, plus));
    bool positional = number->kind == WEFT__NUMBER_ZERO || (size >= 1e-4 && size < 1e16);
    weft__places places = {!positional, -WEFT__PLACES_ALL, WEFT__PLACES_ALL};
    weft__digits digits = weft__digits_of(number, places);
    to = put_sign(to, number->negative, plus);
    if (positional) {
        to = put_positional(to, &digits);
        if (to[-1] == '.' && whole)
            *to++ = '0';
        return to[-1] == '.' ? to - 1 : to;
    }
    char text[WEFT__ELEMENT_TEXT];
    int places_shown = significant(&digits, 1) - 1;
    size_t length = (size_t)(put_scientific(text, &digits, places_shown, 2) - text);
    *to++ = text[0]; /* no point when nothing follows it */
    size_t skipped = places_shown ? 1 : 2;
    memcpy(to, text + skipped, length - skipped);
    return to + (length - skipped);
}

static char *put_complex_scalar(char *to, const weft__number *real, const weft__number *imaginary)
{
    bool alone = real->kind == WEFT__NUMBER_ZERO && !real->negative;
    if (!alone) {
        *to++ = '(';
        to = put_scalar(to, real, false, false);
    }
    to = put_scalar(to, imaginary, !alone, false);
    return put_text(to, alone ? "j" : "j)");
}

static char *put_floats(char *to, const weft__column *column, const layout *l, const char *element)
{
    int parts = parts_of(column->dtype);
    size_t bytes = weft_dtype_size(column->dtype) / (size_t)parts;
    weft__number first = number_of(l, load(element, bytes));
    if (parts == 1)
        return column->scalar ? put_scalar(to, &first, false, true)
                              : put_part(to, &column->part[0], &first);
    weft__number second = number_of(l, load(element + bytes, bytes));
    if (column->scalar)
        return put_complex_scalar(to, &first, &second);
    to = put_part(to, &column->part[0], &first);
    char *end = put_part(to, &column->part[1], &second), *after = end;
    while (after[-1] == ' ')
        after--;
    memmove(after + 1, after, (size_t)(end - after));
    *after = 'j';
    return end + 1;
}

int weft__column_text(const weft__column *column, const void *element, char *text)
{
    weft_dtype dtype = column->dtype;
    const layout *l = layout_of(dtype);
    char *to = text;
    if (l)
        return (int)(put_floats(text, column, l, element) - text);
    uint64_t bits = load(element, weft_dtype_size(dtype));
    if (dtype == WEFT_BOOL) {
        to = put_spaces(to, bits && !column->scalar ? 1 : 0);
        return (int)(put_text(to, bits ? "True" : "False") - text);
    }
    to = put_spaces(to, column->width - integer_width(dtype, bits));
    to = put_sign(to, integer_is_negative(dtype, bits), false);
    return (int)(put_decimal(to, integer_size(dtype, bits), 1) - text);
}
