/* Names in the code: the texts of operands, which may be several tokens long, and locals. */
#ifndef WEFT_LANG_NAMES_H
#define WEFT_LANG_NAMES_H

#include "lang/error.h"
#include "lang/lexer.h"
#include "lang/syntax.h"

/* The operands' tokens as a tree: alternatives by `next`, what follows by `child`. */
typedef struct weft__names_step {
    weft__lang_name token;
    int32_t child, next; /* -1: none */
    int32_t operand;     /* the one that ends here, or -1 */
} weft__names_step;

typedef struct weft__names_local {
    weft__lang_name name;
    int32_t node;    /* its value */
    uint32_t column; /* where it was set last */
    bool read;       /* since then */
} weft__names_local;

typedef struct weft__names {
    weft__names_step *steps;
    weft__names_local *locals;
    int32_t *slots; /* of a hash table of locals: position in `locals`, or -1 */
    uint32_t steps_count, locals_count, slots_count;
    uint32_t steps_room, locals_room;
    bool compound[WEFT__LANG_OPERANDS_MAX]; /* the text has an operator outside of parentheses, as
                                               in 2*n: it is matched only where it is a whole
                                               expression */
    bool used[WEFT__LANG_OPERANDS_MAX];     /* read or assigned to; the parser keeps this */
} weft__names;

/* Adds every name of the syntax as an operand; an error if one is no expression, or given twice. */
weft_status weft__names_add_operands(weft__names *names, const weft__lang_syntax *syntax);
/* Adds one operand, which has been checked. */
weft_status weft__names_insert(weft__names *names, weft__lang_name name, int operand);
void weft__names_free(weft__names *names);

/* The operand with the longest text at the lexer's position, which then moves behind it; -1 if
 * there is none. `whole`: an expression begins here, so that a compound operand may. */
int weft__names_match(const weft__names *names, weft__lexer *lexer, bool whole);

/* The local of that name, or NULL. */
weft__names_local *weft__names_local_find(const weft__names *names, const char *text,
                                          size_t length);
/* Sets a local, new or not. */
weft_status weft__names_local_set(weft__names *names, weft__lang_name name, int32_t node,
                                  uint32_t column);

/* Offers the operands and locals as the nearest name. */
void weft__names_offer(const weft__names *names, const weft__lang_syntax *syntax,
                       weft__lang_nearest *nearest);

#endif
