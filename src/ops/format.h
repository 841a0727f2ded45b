/* The text of numbers, digit by digit and in columns, as NumPy writes them; free of locales. */
#ifndef WEFT_OPS_FORMAT_H
#define WEFT_OPS_FORMAT_H

#include <weft/dtype.h>

typedef enum weft__number_kind {
    WEFT__NUMBER_ZERO,
    WEFT__NUMBER_FINITE,
    WEFT__NUMBER_INFINITE,
    WEFT__NUMBER_NAN
} weft__number_kind;

/* A float of any dtype, taken apart. */
typedef struct weft__number {
    weft__number_kind kind;
    bool negative;
    bool uneven;       /* a power of two: the neighbour towards zero is half as far as the other */
    uint64_t mantissa; /* the absolute value is mantissa * 2^exponent */
    int exponent;
} weft__number;

/* How many digits after the point are wanted: of the number as it is, or with its first digit
 * before the point. The shortest digits that name the number among all of its dtype, then as many
 * more of the exact value as `least` asks for, which may be negative (the shortest may end before
 * the point); never more than `most`, rounded to nearest, ties to even. */
typedef struct weft__places {
    bool from_first_digit;
    int least, most;
} weft__places;

enum { WEFT__DIGITS_MAX = 32, WEFT__PLACES_ALL = 10000 };

/* d.ddd * 10^exponent */
typedef struct weft__digits {
    int count;
    int exponent;
    char digit[WEFT__DIGITS_MAX]; /* '0' to '9' */
} weft__digits;

/* Of a number that is zero or finite. */
weft__digits weft__digits_of(const weft__number *number, weft__places places);

/* How the floats of one column, or their real or imaginary parts, are written. */
typedef struct weft__column_part {
    bool scientific;
    bool plus;  /* a sign before positive numbers too */
    int left;   /* characters before the point, sign included */
    int right;  /* characters after the point; of scientific ones with the exponent */
    int places; /* digits after the point of scientific ones */
    int exponent_digits;
} weft__column_part;

/* How all elements of an array are written, so that they are equally wide. */
typedef struct weft__column {
    weft_dtype dtype;
    bool scalar;               /* one number that stands alone: neither padded nor cut */
    int width;                 /* of integers */
    weft__column_part part[2]; /* of floats; of complex numbers: real, imaginary */
} weft__column;

enum { WEFT__ELEMENT_TEXT = 96 };

/* Looks through all elements that will be shown. */
void weft__column_measure(weft__column *column, weft_dtype dtype, bool scalar, const void *data,
                          int64_t count);
/* Writes one element, without a NUL, into WEFT__ELEMENT_TEXT bytes; returns its length. */
int weft__column_text(const weft__column *column, const void *element, char *text);

#endif
