/* The text of a kernel that is being written for a loop: shared by the files that do it. */
#ifndef WEFT_FUNCTION_EMIT_H
#define WEFT_FUNCTION_EMIT_H

#include "function/nest.h"

enum { WEFT__GUARD_NAME = 24 };

/* What is known of a variable at a point of the loop. */
typedef enum weft__emit_state {
    WEFT__STATE_OUTSIDE,  /* the loop does not assign it */
    WEFT__STATE_ASSIGNED, /* it does, later */
    WEFT__STATE_SET,      /* it has */
    WEFT__STATE_PERHAPS   /* it has in some iterations; the kernel has a value for all of them */
} weft__emit_state;

typedef struct weft__emitter {
    weft__function *f;
    weft__function_nest *nest;
    size_t length, room;
    uint8_t *assigned; /* of each variable: weft__emit_state */
    int32_t scope;     /* the loop whose variables are private to its iterations */
    bool loops;        /* loops beside other statements may be loops of the kernel … */
    int inner;         /* … and so many are open */
    int guards;
    int jumps;  /* break and continue, so far … */
    int skips;  /* … and 1 + the number of the local that is false behind a continue … */
    int leaves; /* … and behind a break, of the loop that is written */
    int flags;  /* how many such locals there are */
    char guard_names[WEFT__NEST_DEPTH_MAX][WEFT__GUARD_NAME];
    bool merges[256];                  /* of the statements: a choice of what a variable is */
    char under[256][WEFT__GUARD_NAME]; /* … or the guard of one that is no choice */
    int statements;
} weft__emitter;

/* Notes what the body assigns; free `assigned` also when it fails. */
weft_status weft__emit_begin(weft__emitter *e, int32_t body);
/* The variables that the statements assign are not set yet. */
void weft__emit_mark(const weft__emitter *e, int32_t first);
bool weft__emit_refused(const weft__emitter *e);
weft_status weft__emit_text(weft__emitter *e, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The text from `begin` to `end`, with counters and parameters in it. */
weft_status weft__emit_part(weft__emitter *e, uint32_t begin, uint32_t end);
/* weft_r0(i, j): a value for each point. */
weft_status weft__emit_points(weft__emitter *e, weft__nest_role role, int number);
/* Conditions for bounds that depend on other loops; *guard is NULL if there are none. */
weft_status weft__emit_guards(weft__emitter *e, const char **guard);
weft_status weft__emit_list(weft__emitter *e, int32_t first, const char *guard);
weft_status weft__emit_statement(weft__emitter *e, const weft__function_statement *s,
                                 const char *guard);
void weft__emit_end(weft__emitter *e, bool merges);
/* The parameter of the kernel for something; a new one if need be. */
weft__nest_operand *weft__emit_operand(weft__emitter *e, weft__nest_role role, int32_t index,
                                       weft__lang_name name);
weft__lang_name weft__emit_name(weft__function_nest *nest, int slot, const char *kind, int number);
/* How often the statements name the variable. */
int weft__emit_uses(const weft__emitter *e, int32_t first, int32_t variable);
weft_status weft__emit_bytes(weft__emitter *e, const char *text, size_t length);
/* emit_fold.c: s = s op term. */
bool weft__emit_is_fold(const weft__emitter *e, const weft__function_statement *s);
/* y(0) += …, the same element in all iterations, of an array that is used nowhere else. */
bool weft__emit_folds_element(const weft__emitter *e, const weft__function_statement *s);
/* The same, or s++, and the statements from `first` on do nothing else with s. */
bool weft__emit_only_folds(const weft__emitter *e, int32_t first,
                           const weft__function_statement *s);
weft_status weft__emit_fold(weft__emitter *e, const weft__function_statement *s, const char *guard);
/* if (term < s) s = term; likewise. */
bool weft__emit_is_extreme(const weft__emitter *e, const weft__function_statement *s);
weft_status weft__emit_extreme(weft__emitter *e, const weft__function_statement *s,
                               const char *guard);
/* Whether a condition compares the variable with the text from `begin` to `end`, and for what. */
bool weft__emit_compares(const weft__function *f, const weft__function_part *condition,
                         int32_t variable, uint32_t begin, uint32_t end, uint8_t *operation);
/* Where the operator of an assignment is. */
weft__token weft__emit_operator(const weft__function *f, const weft__function_part *part);
/* A variable that each iteration has for itself. */
weft_status weft__emit_private(weft__emitter *e, const weft__function_statement *s,
                               const char *guard);
/* jump.c: a break or continue: what follows it in the round is under a condition. */
weft_status weft__emit_jump(weft__emitter *e, const weft__function_statement *s, const char *guard);
/* The condition of what follows a jump, under the one that there is. */
weft_status weft__emit_behind(weft__emitter *e, const char *guard, char *name);
/* Whether the statements have a break of the loop that they are in. */
bool weft__emit_breaks(const weft__function *f, int32_t first);
/* What is set behind a jump is not set for all. */
void weft__emit_unset(const weft__emitter *e, const uint8_t *before);
/* inner.c: a loop beside other statements. */
weft_status weft__emit_loop(weft__emitter *e, const weft__function_statement *s, const char *guard);
/* The text as syntax; what a kernel cannot be is no error. */
weft_status weft__emit_parse(weft__emitter *e);

#endif
