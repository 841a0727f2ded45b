/* What a function does, for people, programs and pictures: what these three share. */
#ifndef WEFT_FUNCTION_EXPLAIN_H
#define WEFT_FUNCTION_EXPLAIN_H

#include "core/text.h"
#include "function/nest.h"

enum { WEFT__EXPLAIN_CODE = 72, WEFT__EXPLAIN_PLACE = 80, WEFT__EXPLAIN_WHY = 560 };

/* A piece of the code on one line, with names as they were written. */
void weft__explain_code(const weft__function *f, uint32_t begin, uint32_t end, char *code);
/* What a variable is called. */
void weft__explain_variable(const weft__function *f, int32_t variable, char *name);
/* The text of a statement, without what is inside of it. */
void weft__explain_statement(const weft__function *f, const weft__function_statement *s,
                             char *code);
/* Where a column of the code is: "12", "3:12" (a line) or "helper 12" (a function that it calls).
 */
void weft__explain_position(const weft__function *f, uint32_t column, char *place);
/* The loops from the statement on that were one kernel in the last call; or the first two that were
 * not, and why. NULL if there are no such loops, or no call has decided. */
const weft__function_join *weft__explain_join(const weft__function *f,
                                              const weft__function_statement *s, char *why);
/* Why a loop is serial, with the places; "" if it is not. */
void weft__explain_why(const weft__function *f, const weft__function_nest *nest, char *why);
/* Whether the statement is a loop that is not a kernel as a whole. */
bool weft__explain_is_serial(const weft__function *f, const weft__function_statement *s);
/* Whether a call has decided what the loop is: it depends on its bounds and arrays. */
bool weft__explain_is_decided(const weft__function *f, const weft__function_statement *s);
/* The statement whose region an event is of, or NULL. */
const weft__function_statement *weft__explain_region(const weft__function *f,
                                                     const weft__function_event *e);
/* Why the region of an event is not one with the region before it; NULL if there is none. */
const char *weft__explain_apart(const weft__function *f, uint32_t event, char *why);
/* How many statements a group has. */
int weft__explain_count(const weft__function *f, const weft__function_group *group);
static inline bool weft__explain_is_region(const weft__function_event *e)
{
    return e->did == WEFT__DID_REGION || e->did == WEFT__DID_LOOP || e->did == WEFT__DID_LOOK;
}
static inline bool weft__explain_is_copy(const weft__function_event *e)
{
    return e->did == WEFT__DID_TO_DEVICE || e->did == WEFT__DID_TO_HOST;
}
/* What a region is called. */
const char *weft__explain_kind(const weft__function_event *region);
/* All kernels of the last call. */
uint64_t weft__explain_kernels(const weft__function *f);
/* Whether this thread has called it. */
bool weft__explain_was_called(const weft__function *f);

void weft__explain_text(weft__text *w, const weft__function *f);
void weft__explain_json(weft__text *w, const weft__function *f);
void weft__explain_svg(weft__text *w, const weft__function *f);

#endif
