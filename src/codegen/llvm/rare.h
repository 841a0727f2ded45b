/* What is rarely needed: compiled code calls C code for it, which goes through its operations with
 * the interpreter's loops, for all lanes of a vector. */
#ifndef WEFT_CODEGEN_LLVM_RARE_H
#define WEFT_CODEGEN_LLVM_RARE_H

#include "codegen/interpreter/variant.h"

enum {
    WEFT__RARE_STEPS = 320,  /* of a program, at most … */
    WEFT__RARE_LANES = 2560, /* … and all lanes of all of them */
    WEFT__RARE_ITEMS = 16,   /* values that go there and back … */
    WEFT__RARE_WIDEST = 8,   /* … and the bytes of each of their lanes in that memory, at most */
    WEFT__RARE_NO_ITEM = 0xffff
};

/* Makes a value of those that the steps before it made: of an item of the memory (a load), of
 * `bits` (a constant), or of its arguments. */
typedef struct weft__rare_step {
    uint8_t op, dtype, from, part; /* a weft__op; the dtypes of the value and the argument */
    uint16_t argument[3];          /* the numbers of steps */
    uint16_t item;                 /* that it is, or becomes too; or WEFT__RARE_NO_ITEM */
    uint32_t unused;
    uint64_t bits;
} weft__rare_step;

/* A program: some of the steps. Items follow each other in memory, with room for all lanes. */
typedef struct weft__rare {
    uint32_t first, count, lanes;
} weft__rare;

typedef struct weft__rares {
    void (*run)(const struct weft__rares *rares, int64_t number, char *memory);
    uint32_t count, steps_count;
    weft__rare *rare;
    weft__rare_step *step;
    weft__primitive **primitive; /* of each step, or NULL: its first argument is the value */
} weft__rares;

/* The primitive of a step; false if there is none. */
bool weft__rare_primitive(const weft__rare_step *step, weft__primitive **primitive);
/* Sets `run` and the primitives; false if the programs are none. */
bool weft__rares_begin(weft__rares *rares);

#endif
