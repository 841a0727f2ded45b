/* The state while code is made: which value is where. */
#ifndef WEFT_CODEGEN_X86_MAKE_H
#define WEFT_CODEGEN_X86_MAKE_H

#include "codegen/x86.h"
#include "codegen/x86/assemble.h"

enum {
    WEFT__VECTORS = 32,      /* registers; the last three are for what is needed for a moment */
    WEFT__VECTORS_KEPT = 29, /* those that hold values */
    WEFT__X86_SCRATCH = 29,
    WEFT__X86_SCRATCH_1 = 30,
    WEFT__X86_SCRATCH_2 = 31,
    WEFT__MASKS = 32, /* the first of eight; numbers of registers go on with them */
    WEFT__MASK_FIRST = 1,
    WEFT__MASKS_KEPT = 6, /* 1 to 5 hold values; 0 means none to most instructions */
    WEFT__MASK_SCRATCH = 6,
    WEFT__MASK_SCRATCH_1 = 7,
    WEFT__REGISTERS = 40,
    WEFT__X86_LINE = 64
};

/* A step: a value, or the beginning or end of what is skipped where no lane needs it. */
typedef enum weft__x86_step_kind {
    WEFT__X86_VALUE,
    WEFT__X86_ENTER,
    WEFT__X86_LEAVE
} weft__x86_step_kind;
typedef struct weft__x86_step {
    weft__x86_step_kind kind;
    uint32_t number; /* of the value or of the skip, from 0 on */
} weft__x86_step;

/* A skip that is being made. */
typedef struct weft__skipping {
    uint32_t step, jump;
    int32_t held[WEFT__REGISTERS]; /* where it begins */
} weft__skipping;

/* Values are in one or two parts, of which each has a register, a place in the frame, or both. Part
 * p of value v is unit 2v + p. */
typedef struct weft__maker {
    const weft__x86_source *source;
    weft__assembly code;
    void *memory; /* that the tables below are in */
    weft__x86_step *steps;
    uint32_t steps_count, now;
    uint32_t *use;      /* all steps that use a value, in order, one value after the other … */
    uint32_t *next;     /* … of each value: the next one … */
    uint32_t *uses_end; /* … and where those end */
    uint32_t *made;     /* of each value: the step that made it */
    int32_t *place;     /* of each unit: where it is in the frame, or -1: nowhere yet */
    int8_t *in;         /* of each unit: its register, or -1 */
    uint8_t *kept;      /* of each unit: 0, or 1 + how many skips deep it was put to its place */
    uint8_t *leaves;    /* of each value: it is stored */
    uint32_t frame;
    uint32_t room; /* two lines of it for what is divided lane by lane; 0: there are none yet */
    int32_t held[WEFT__REGISTERS]; /* units, or -1 */
    bool pinned[WEFT__REGISTERS];  /* what this step uses */
    weft__skipping skipping[WEFT__SKIPS_MOST];
    int deep;
} weft__maker;

/* make.c */
int weft__x86_bytes(weft_dtype dtype); /* of an element; 0: of a bool, a bit */
int weft__x86_parts(const weft__maker *maker, weft_dtype dtype);
int weft__x86_part_bytes(const weft__maker *maker, weft_dtype dtype);

/* place.c: the register of a part, which is brought there if it must be, and stays during this
 * step. */
int weft__place_register(weft__maker *maker, int32_t value, int part);
/* The same for a last operand, which may be in memory. */
weft__operand weft__place_operand(weft__maker *maker, int32_t value, int part);
/* Whether a value is a constant of vectors that no register has. */
bool weft__place_is_constant(const weft__maker *maker, int32_t value);
/* Whether a part is in a register that nobody needs after this step. */
bool weft__place_ends(const weft__maker *maker, int32_t value, int part);
/* Frees the register of a part that nobody needs any more. */
void weft__place_drop(weft__maker *maker, int32_t value, int part);
/* A register for a part of the value that is made now. */
int weft__place_new(weft__maker *maker, uint32_t value, int part);
/* The same register as another part, which nobody needs any more, if it is in one; else a copy. */
void weft__place_take(weft__maker *maker, uint32_t value, int32_t from, int part);
/* Puts what was made to its place, if it is stored. */
void weft__place_made(weft__maker *maker, uint32_t value);
/* Branches around the values of a skip, and where they meet again. */
void weft__place_enter(weft__maker *maker, uint32_t skip);
void weft__place_leave(weft__maker *maker);

/* lower.c: one primitive. */
void weft__x86_lower(weft__maker *maker, uint32_t number);
/* move.c: all loads, or all stores, of operands that are moved. */
void weft__x86_moves(weft__maker *maker, bool stores);
/* Then does all again with the next elements. */
void weft__x86_repeat(weft__maker *maker);
/* divide.c: the quotient or remainder of integers. */
void weft__x86_divide(weft__maker *maker, uint32_t number);

/* Instructions that several files need. */
static inline weft__operand weft__in_register(int number)
{
    return (weft__operand){WEFT__IN_REGISTER, (uint32_t)number};
}

#endif
