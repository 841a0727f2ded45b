/* Making code: the state while a kernel becomes a function, and the pieces that it is made of. */
#ifndef WEFT_CODEGEN_LLVM_EMIT_H
#define WEFT_CODEGEN_LLVM_EMIT_H

#include "codegen/llvm/survey.h"

/* The addresses of an operand, in the order of weft__patch_operand. */
typedef struct weft__emitted_operand {
    weft__ref data, row, column;
    weft__ref triple; /* three columns, for elements that are apart */
    weft__ref base;   /* of the row */
    /* Of displaced ones: by how many columns; of those with a constant also whether rows are
     * inside, as one value and as a vector. */
    weft__ref offset, inside, inside_vector;
} weft__emitted_operand;

enum { WEFT__UNROLL_MOST = 16 };

/* Of the lanes of a vector, those that there are: as in the emitter. */
typedef struct weft__some {
    weft__ref mask, most, count;
} weft__some;

struct weft__folding;

/* Constants that are in memory, and what was loaded of each in the block where that was done last.
 */
enum { WEFT__HELD_CONSTANTS = 128 };
typedef struct weft__held_constant {
    weft__ref value, global, loaded;
    weft__block block;
} weft__held_constant;
typedef struct weft__held_constants {
    weft__held_constant constant[WEFT__HELD_CONSTANTS];
    int count;
    weft__block before; /* all loops of a function, or NULL: where some are loaded, once */
    int early;          /* those */
} weft__held_constants;

enum { WEFT__LOOPS_MOST = 16 }; /* in one another */

/* A loop that is being made. */
typedef struct weft__emitted_loop {
    uint32_t end; /* a value */
    bool uniform; /* all points leave it together */
    weft__block head, out;
    weft__ref
        first[WEFT__UNROLL_MOST]; /* of each vector: the points that are in it at its head … */
    weft__ref active[WEFT__UNROLL_MOST]; /* … and now */
} weft__emitted_loop;

typedef struct weft__emitter {
    const weft__survey *survey;
    weft__llvm_context context;
    weft__llvm_module module;
    weft__llvm_builder builder;
    weft__ref function, patch;
    weft__emitted_operand *operands;
    int lanes;       /* of the values that are made: 1, or a vector of the survey's lanes */
    weft__ref at;    /* i64: the column of the first lane */
    weft__ref mask;  /* of the lanes that there are, or NULL: all */
    weft__ref most;  /* with a mask, i64: the last lane that there is … */
    weft__ref count; /* … and i8: how many there are */
    weft__ref full;  /* with a mask, i1: all lanes are there, which is usual; or NULL: it is not */
    weft__ref room;  /* memory for a vector, where elements are apart; else NULL */
    bool streaming;
    bool asking; /* loads ask for what comes after them */
    bool edge;   /* displaced columns may be outside */
    weft__ref
        whole; /* i1: whether to stream, all lanes being there; or NULL: as `streaming` says */
    weft__block give_up; /* where a turn goes that needs what is rarely needed; or NULL: nowhere */
    weft__ref last_position, last_size; /* with edges, i64: of the last axis */
    weft__ref row;                      /* i64, from 0 */
    /* Of the vector that is made now: the values of its points, the memory of loads, and what
     * stores will store. Then the same of all vectors of a turn. */
    weft__ref *value, *bytes, *pending;
    weft__ref *values, *all_bytes, *all_pending;
    weft__some some[WEFT__UNROLL_MOST]; /* of each vector of a turn, where they differ */
    struct weft__folding *folding;      /* of the points of a kernel with folds */
    int turn;                           /* which vector of the turn is made now */
    /* Values of the launch and of a row: as they are, and as vectors. */
    weft__ref *single, *single_bytes, *vector, *vector_bytes;
    /* Functions of skips that are apart, those that are made; the memory of what goes there and
     * back; the values of one of them while it is made. */
    weft__ref rare[WEFT__SKIPS_MOST], frame, *rare_values;
    weft__held_constants *constants;
    weft__emitted_loop loops[WEFT__LOOPS_MOST];
    int loops_open;
} weft__emitter;

/* emit.c: the bytes of the tables of values, which are all 0 first. */
size_t weft__emitter_tables(const weft__survey *survey);
void weft__emitter_use_tables(weft__emitter *emitter, weft__ref *tables);

/* Types and constants have the emitter's lanes. */
weft__type weft__emit_lanes(const weft__emitter *emitter, weft__type single);
weft__type weft__emit_integer(const weft__emitter *emitter, int bits);
weft__type weft__emit_type(const weft__emitter *emitter, weft_dtype dtype);
weft__ref weft__emit_number(const weft__emitter *emitter, int bits, uint64_t number);
weft__ref weft__emit_constant(const weft__emitter *emitter, weft_dtype dtype, uint64_t bits);
weft__ref weft__emit_i64(const weft__emitter *emitter,
                         int64_t number); /* one, whatever the lanes */
weft__ref weft__emit_splat(const weft__emitter *emitter, weft__ref single, int lanes);
weft__ref weft__emit_shuffle(const weft__emitter *emitter, weft__ref x, weft__ref y,
                             const int *lanes, int count);
weft__ref weft__emit_select(const weft__emitter *emitter, weft__ref condition, weft__ref x,
                            weft__ref y);
/* A function of LLVM's by name, overloaded by up to two types. */
weft__ref weft__emit_intrinsic(const weft__emitter *emitter, const char *name, weft__type *types,
                               int types_count, weft__ref *arguments, unsigned count);
/* The same, of one type and with all arguments of that type. */
weft__ref weft__emit_call(const weft__emitter *emitter, const char *name, weft__ref *arguments,
                          unsigned count);
/* The same i64, of which LLVM can tell nothing: without knowing how a loop counts, it does not look
 * for other ways to write it, which would take most of the time and find nothing better. */
weft__ref weft__emit_opaque(const weft__emitter *emitter, weft__ref x);
/* The same of a vector: what is done with integers is not looked at across it. */
weft__ref weft__emit_opaque_vector(const weft__emitter *emitter, weft__ref x);
/* Ties two vectors: code that uses one of them later comes after the code that makes
 * either. */
void weft__emit_tie(const weft__emitter *emitter, weft__ref *x, weft__ref *y);
weft__ref weft__emit_address(const weft__emitter *emitter, weft__ref base, weft__ref offset);
/* Of a function that never unwinds; `soon` is to make its code sooner, not better. */
void weft__emit_attributes(const weft__emitter *emitter, weft__ref function, bool soon);
int weft__dtype_bits(weft_dtype dtype);

/* constants.c: the same, from memory, where it is a constant of many lanes other than 0. Functions
 * with loops begin them at the end of their first block, and end them when all else is made. */
weft__ref weft__emit_held(const weft__emitter *emitter, weft__ref x);
weft__block weft__emit_held_begin(const weft__emitter *emitter);
void weft__emit_held_end(const weft__emitter *emitter, weft__block after);

/* arithmetic.c: a primitive that is no load, store, leaf, cast or bitcast. `dtype` is that of the
 * arguments, of select that of the second. */
weft__ref weft__emit_arithmetic(const weft__emitter *emitter, weft__op op, weft_dtype dtype,
                                const weft__ref *x);

/* divide.c: of integers; the divisor is neither 0 nor, if they are signed, -1. */
weft__ref weft__emit_quotient(const weft__emitter *emitter, weft_dtype dtype, weft__ref x,
                              weft__ref y);

/* convert.c */
weft__ref weft__emit_canonical(const weft__emitter *emitter, weft_dtype dtype, weft__ref x);
weft__ref weft__emit_cast(const weft__emitter *emitter, weft_dtype from, weft_dtype to,
                          weft__ref x);
weft__ref weft__emit_bitcast(const weft__emitter *emitter, weft_dtype from, weft_dtype to,
                             weft__ref x);
/* Between memory, as integers of its size, and values. */
weft__ref weft__emit_widen(const weft__emitter *emitter, weft_dtype memory, weft__ref bytes);
weft__ref weft__emit_narrow(const weft__emitter *emitter, weft_dtype memory, weft__ref x);

/* memory.c: integers of the memory's size from and to the columns from `at` on. */
weft__ref weft__emit_load(const weft__emitter *emitter, const weft__value *load);
/* Asks for what comes after what a dense load reads. */
void weft__emit_ask(const weft__emitter *emitter, const weft__value *load);
void weft__emit_store(const weft__emitter *emitter, const weft__value *store, weft__ref bytes);
/* Both parts of complex numbers that are dense. */
void weft__emit_store_pair(const weft__emitter *emitter, const weft__value *store, weft__ref real,
                           weft__ref imaginary);

/* Calls a masked load, store or scatter of elements of 1 << size bytes; the pointer is argument
 * number `pointer` of the three, and `vector` is the type of what is moved. */
weft__ref weft__emit_masked(const weft__emitter *emitter, const char *name, weft__ref *given,
                            unsigned pointer, weft__type vector, int size);

/* apart.c: with the emitter's mask, elements at every other place, at the address of the first; or,
 * unless `part` is -1, those parts of pairs … */
weft__ref weft__emit_load_double(const weft__emitter *emitter, weft__ref address, int size,
                                 int part);
void weft__emit_store_double(const weft__emitter *emitter, weft__ref address, weft__ref bytes,
                             int size);
/* … backwards, at the address of the last of all lanes … */
weft__ref weft__emit_load_reversed(const weft__emitter *emitter, weft__ref lowest, int size);
void weft__emit_store_reversed(const weft__emitter *emitter, weft__ref lowest, weft__ref bytes,
                               int size);
/* … and at any distance, by way of the room, which is made at the beginning of a function. */
weft__ref weft__emit_load_general(const weft__emitter *emitter, weft__ref address,
                                  weft__ref distance, int size);
void weft__emit_store_general(const weft__emitter *emitter, weft__ref address, weft__ref distance,
                              weft__ref bytes, int size);
void weft__emit_room(weft__emitter *emitter);
/* A mask whose lanes are those of other lanes: of so many, the number of each. */
weft__ref weft__emit_mask_of(const weft__emitter *emitter, const int *element, int lanes);

/* edge.c: displaced loads. The operand that a load reads: */
uint32_t weft__source_of(const weft__emitter *emitter, const weft__value *load);
/* Before the rows: reads what the patch says about displaced operands. */
void weft__emit_displaced(weft__emitter *emitter);
/* For a single element, at column `*column` of the displaced operand with the base `*base`: makes
 * them those of the element that the boundary puts there. */
void weft__emit_edge(const weft__emitter *emitter, const weft__value *load, weft__ref *base,
                     weft__ref *column);
/* The same for all lanes of a mask, of elements that are dense: the memory of the load. */
weft__ref weft__emit_edge_vector(const weft__emitter *emitter, const weft__value *load,
                                 weft__ref address, int size);
/* The value that a load with a constant out of bounds has, given what it found and the constant. */
weft__ref weft__emit_bounded(const weft__emitter *emitter, const weft__value *load, weft__ref found,
                             weft__ref constant);
/* A dense vector that is no operand's, with the emitter's mask. */
weft__ref weft__emit_load_dense(const weft__emitter *emitter, weft__ref address, int size);
void weft__emit_store_dense(const weft__emitter *emitter, weft__ref address, weft__ref bytes,
                            int size);

/* rare.c: the call of a skip that is a function of its own, for the vector at hand; and at the
 * beginning of a function what both need. */
void weft__emit_rare(weft__emitter *emitter, int number);
void weft__emit_frame(weft__emitter *emitter);
/* Says that a branch hardly ever goes to the first of its two blocks. */
void weft__emit_rarely(const weft__emitter *emitter, weft__ref branch);

/* call.c: the call of a function of the kernel's outline, for all vectors of a turn; one of its
 * results, for the vector at hand. */
void weft__emit_piece(weft__emitter *emitter, uint32_t call, int unroll);
weft__ref weft__emit_result(const weft__emitter *emitter, const weft__value *result);

/* body.c: all values of points, for so many vectors, without a mask. */
void weft__emit_vectors(weft__emitter *emitter, int unroll);
/* The values of a skip, for one vector; a value as an argument of what is made now. */
void weft__emit_skipped(weft__emitter *emitter, int number);
weft__ref weft__emit_argument(const weft__emitter *emitter, int32_t k);
/* Whether a value of a skip is used after it, by one of its selects. */
bool weft__skip_leaves(const weft__survey *survey, const weft__skip *skip, uint32_t value);
void weft__emit_level(weft__emitter *emitter, weft__level level);
/* One turn of a loop: `unroll` vectors of the emitter's lanes, from the column `first` on. */
void weft__emit_turn(weft__emitter *emitter, weft__ref first, int unroll);

/* loop.c: a value that says how a loop goes, for all vectors of a turn; an element by its number,
 * in each lane. */
void weft__emit_flow(weft__emitter *emitter, uint32_t k, int unroll);
weft__ref weft__emit_gather(const weft__emitter *emitter, const weft__value *gather);
/* Stores it, if its condition holds; of one lane. */
void weft__emit_scatter(const weft__emitter *emitter, const weft__value *scatter);

/* function.c: loads what the patch says of the operands; then where their row begins. */
void weft__emit_operands(weft__emitter *emitter);
void weft__emit_bases(weft__emitter *emitter);
/* Makes the masks of all vectors of a turn, for what is left; the last may have no lane. Returns
 * how many lanes they have. */
weft__ref weft__emit_masks(weft__emitter *emitter, weft__ref left, int unroll);
/* Makes the mask that of vector number k of a turn, where each has one of its own. */
void weft__emit_use_mask(weft__emitter *emitter, int k);
/* From here on all lanes are there. */
void weft__emit_unmask(weft__emitter *emitter);

/* function.c: the whole kernel, named WEFT__KERNEL_NAME, as weft__patch_run of patch.h. */
void weft__emit_function(weft__emitter *emitter);
#define WEFT__KERNEL_NAME "weft_kernel"
#define WEFT__FOLD_NAME "weft_fold"

#endif
