/* Texts of call sites that the library writes itself: functions that stand for an expression. */
#ifndef WEFT_LANG_TEXTS_H
#define WEFT_LANG_TEXTS_H

#include "lang/lang.h"

/* What an expression is written for. */
typedef struct weft__text_key {
    uint64_t what;  /* operation and options; every writer has its own in the highest byte */
    uint64_t types; /* of the operands, so that each combination keeps an evaluation of its own */
} weft__text_key;

enum { WEFT__TEXT_OPERATION = 1, WEFT__TEXT_REDUCTION };

/* A site as weft_evaluate_site takes it: the function's name, code, operands, each ended by a NUL.
 */
typedef struct weft__text {
    size_t length;
    char text[112];
} weft__text;

typedef void weft__text_write(const weft__text_key *key, weft__text *text);

/* The one text for this key: its address stays. It is written when it is first asked for, or into
 * `own` if there is no room left. Any thread may call it; takes no lock. */
const weft__text *weft__text_of(const weft__text_key *key, weft__text_write *write,
                                weft__text *own);

/* Tags, dtypes and ranks of up to four operands. */
uint64_t weft__text_types(const weft_operand *operands, int count);
/* Puts the parts of a site together. */
void weft__text_set(weft__text *text, const char *function, const char *code, const char *operands);

/* Evaluates the text: with an `out` the last operand is that, and it is returned, retained. */
weft_array *weft__text_run(const weft__text_key *key, weft__text_write *write,
                           const weft_operand *operands, int count, weft_array *out);

#endif
