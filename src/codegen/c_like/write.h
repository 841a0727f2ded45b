/* Writing the text of one kernel: shared by the files that do it.
 *
 * In the text, p0, p1… are the launch's arguments, g is the struct of numbers, i0, i1… the position
 * along each axis, v0, v1… the values of a point, m0… what a load found in memory, as unsigned
 * integers. I is the type of positions. */
#ifndef WEFT_CODEGEN_C_LIKE_WRITE_H
#define WEFT_CODEGEN_C_LIKE_WRITE_H

#include "codegen/c_like.h"
#include "codegen/skip.h"
#include "core/text.h"

/* How the elements of an operand lie along the innermost axis; of a turned one they lie next to
 * each other along another, (of blocks) the one before. */
typedef enum weft__lie {
    WEFT__LIE_DENSE,
    WEFT__LIE_REPEATED,
    WEFT__LIE_ANY,
    WEFT__LIE_SECOND, /* every second one */
    WEFT__LIE_TURNED
} weft__lie;

/* The class of a launch, see weft__c_like_class: all that a text depends on besides its kernel. Of
 * bytes only, as they are compared. */
typedef struct weft__c_like_shape {
    uint8_t ndim;
    uint8_t stage;  /* weft__stage */
    uint8_t lanes;  /* elements along the innermost axis that an item takes care of */
    uint8_t repeat; /* (of maps on GPUs) so many times lanes, a group's items apart */
    uint8_t narrow; /* positions and distances fit 32 bits */
    uint8_t march;  /* (of maps on GPUs) 1 + the axis that items march along, or 0 */
    uint8_t turned; /* (of maps on GPUs) 1 + the axis that operands are turned from, or 0 */
    uint8_t vector; /* (of those) all lie so that several elements are taken at once */
    uint8_t tiled;  /* (of maps) a group takes a piece of several rows */
    uint8_t summed; /* (on GPUs, of one lane) operands alike have one sum of distances */
    uint8_t wide;   /* (of the last stage of a fold) there are at least 32 results */
    uint8_t warps;  /* (of folds on GPUs that have lanes) warps for each result */
    uint8_t shared; /* (of those) results along an axis that what is loaded is for, all at once */
    uint8_t across; /* that axis */
    uint8_t even;   /* (of maps on GPUs that read nothing) items of a row are a power of two */
    uint8_t block;  /* (of maps on CPUs) an item takes care of many elements, in blocks */
    uint8_t lie[WEFT__OPERANDS_MAX];
    uint8_t alike[WEFT__OPERANDS_MAX]; /* (if summed) it has the strides of the one before it */
} weft__c_like_shape;

typedef struct weft__writer {
    const weft__kernel *kernel;
    weft__dialect dialect;
    weft__c_like_shape shape;
    int32_t kept_ndim; /* of the launch; ndim if nothing is folded */
    uint32_t arguments_count;
    int along;     /* (of several lanes) the axis that they are next to each other along */
    int inner;     /* (on CPUs) the axis along which the text knows how operands lie; or -1 */
    bool in_block; /* loads are of element e of a block whose first is at q<operand> */
    bool marching; /* r<operand> is where the point is, but for its place along the last axis */
    bool fast;     /* no branch is taken: `some` becomes true if one should have been */
    bool inside;   /* displaced loads do not leave arrays along the innermost axis */
    bool pointed;  /* see weft__kernel_text */
    int at_once;   /* (in CUDA) groups that registers must be enough for; or 0 */
    weft__text text;
    bool widens;       /* (on GPUs) some value is compared that was widened to f64 */
    uint8_t *wanted;   /* for each value: whether what is being written needs it */
    uint8_t *compared; /* for each value: whether it is */
    uint32_t *room;    /* three numbers for each value */
    weft__skips skips;
} weft__writer;

enum { WEFT__GROUP_ITEMS = 256, WEFT__TILE_ROWS = 8, WEFT__MARCH_STEPS = 8 };
/* Outputs that are larger go around the cache. */
enum { WEFT__STREAMING_BYTES = 32 << 20 };
/* Bytes of a line of memory. */
enum { WEFT__LINE = 64 };

/* Whether there are more than usual, or than tests say. */
bool weft__is_more(int64_t count, int64_t usual);
void weft__c_like_shape_of(const weft__kernel *kernel, const weft__launch *launch,
                           weft__dialect dialect, weft__c_like_shape *shape);

/* prelude.c */
void weft__write_prelude(weft__writer *w);
/* (On CPUs) elements that a vector has: of 64 bytes, where all values have that many. */
int weft__vector_of(const weft__kernel *kernel);
/* Whether a point takes so little computing that loops over points are unrolled. */
bool weft__is_light(const weft__kernel *kernel);

/* types.c: "f32"; of what a load finds in memory, "u32". */
const char *weft__text_of_dtype(weft_dtype dtype);
const char *weft__text_of_memory(weft_dtype dtype);
/* Bytes of a part in memory. */
int weft__part_bytes(weft_dtype dtype);
/* Values that a complex operand has for each element. */
int weft__parts_of(weft_dtype dtype);
/* The value of m<at>, which holds memory of this dtype, as an expression. */
void weft__write_widened(weft__writer *w, uint32_t at, weft_dtype memory);
/* Whether a select chooses the value, a scalar, if its condition is false: then a scalar's NaN is
 * the canonical one from the beginning. */
bool weft__is_chosen(const weft__kernel *kernel, uint32_t at);
/* The memory that a store writes, as an expression. */
void weft__write_narrowed(weft__writer *w, const weft__value *store);

/* values.c: whether a value is the last bit of another u32. */
bool weft__is_last_bit(const weft__kernel *kernel, uint32_t at);
/* The wanted values of a point, other than loads, stores and folds, which have been
 * written before or are afterwards. */
void weft__write_value(weft__writer *w, uint32_t at);

/* loops.c: a value that says how a loop goes; an element by its number. */
void weft__write_flow(weft__writer *w, uint32_t at);
void weft__write_gather(weft__writer *w, uint32_t at);
void weft__write_scatter(weft__writer *w, uint32_t at);

/* skips.c: calls `write` for all wanted values in order, inside of branches for those that few
 * items need. */
void weft__write_wanted(weft__writer *w, void (*write)(weft__writer *w, uint32_t at));
/* Whether argument 1 or 2 of a select is in a branch that is for it. */
bool weft__is_left_out(const weft__writer *w, uint32_t select, int side);
/* How a select names its argument 1 or 2: v<number>, or what a branch has set. */
void weft__write_side(weft__writer *w, uint32_t select, int side);

/* loads.c: where an operand begins, as an expression. */
void weft__write_first(weft__writer *w, uint32_t operand);
/* The address of an operand's element at a position, without its part. */
void weft__write_address(weft__writer *w, uint32_t operand, const char *position);
/* The same of the point that is being computed. */
void weft__write_point(weft__writer *w, uint32_t operand);
/* Bytes from an element to the next along an axis, as an expression. */
void weft__write_stride(weft__writer *w, uint32_t operand, int axis);
/* How far a displaced load is from its point along an axis, as an i64 expression. */
void weft__write_offset(weft__writer *w, const weft__kernel_shift *shift, int axis);
/* The address of a displaced load's element, without its part, and inside<name>, to variables that
 * there are. */
void weft__write_displaced(weft__writer *w, const weft__value *value, const char *name,
                           const char *to);
/* v<at> of m<at>. */
void weft__write_loaded(weft__writer *w, uint32_t at);
/* A load at i0, i1…, displaced or not, of memory directly. */
void weft__write_load(weft__writer *w, uint32_t at);
/* A store at i0, i1…, to memory directly. */
void weft__write_store(weft__writer *w, const weft__value *store);
/* i<axis> from rest<begin>, which becomes what is left for the axes before. */
void weft__write_divided(weft__writer *w, int axis, int begin);
/* i0, i1… of axes [begin, end) from a number of points in C order. */
void weft__write_positions(weft__writer *w, int begin, int end, const char *number);

static inline int weft__log2(int power) { return __builtin_ctz((unsigned)power); }
/* map_turned.c: maps on GPUs with turned operands; local memory that each takes. */
void weft__write_turned(weft__writer *w, weft__kernel_text *source);
int weft__turned_bytes(weft_dtype dtype);
/* Elements along a side of the squares that groups take, and the items of a group. */
int weft__turned_side(const weft__writer *w);
int weft__turned_items(const weft__writer *w);
/* map_turned_vectors.c: elements of a vector: as many that the largest fill 16 bytes, and that
 * eight vectors are in a line. */
int weft__turned_lanes(const weft__writer *w);
/* `vectors`, whether all of a square's vectors are there and aligned, and
 * what is done then. */
void weft__write_turned_vectors(weft__writer *w);
void weft__write_turned_by_vectors(weft__writer *w);
/* map_cpu.c: maps on CPUs. Whether the kernel has a load of the operand; whether an output that is
 * large goes around the cache. */
void weft__write_blocks(weft__writer *w, weft__kernel_text *source);
bool weft__is_loaded(const weft__kernel *kernel, uint32_t operand);
bool weft__is_streamed(const weft__writer *w, uint32_t operand);
/* map_vectors.c: whether a kernel is so light that its blocks are done vector by vector, and such a
 * block: the elements [0, n) at q<operand>. */
bool weft__takes_vectors(const weft__writer *w);
void weft__write_vectors(weft__writer *w);
/* Of any map on a CPU: asks for what is loaded some vectors after the one at v; and, before all
 * loops, whether that is worth it. */
void weft__write_ahead_flags(weft__writer *w);
void weft__write_ahead(weft__writer *w);
/* map.c: several elements that lie next to each other. Whether a wanted value is loaded of the
 * operand at the point itself; the bits of its address that must be 0 for vectors. */
bool weft__is_read(const weft__kernel *kernel, const uint8_t *wanted, uint32_t operand);
/* Numbers in memory that an item has of an operand. */
int weft__numbers_of(const weft__writer *w, uint32_t operand);
int weft__vector_mask(const weft__writer *w, uint32_t operand);
/* " | " and an expression that is not 0 if vectors of a dense operand are not aligned: all or none.
 */
void weft__write_misaligned(weft__writer *w, uint32_t operand);
/* x<operand> of memory at q<operand>, all elements at once. */
void weft__write_vector(weft__writer *w, uint32_t operand);
/* A value of element e. */
void weft__write_lane_value(weft__writer *w, uint32_t at);
/* An array for a row of an operand, and what is loaded into it, of the `valid` elements there are.
 */
void weft__write_row(weft__writer *w, uint32_t operand, const char *to, const char *from);
void weft__write_row_load(weft__writer *w, uint32_t operand, const char *to, const char *from);

/* map_shifts.c: the axis of a launch that is worth a march, or -1. */
int weft__march_axis(const weft__kernel *kernel, const weft__launch *launch);
/* Whether the rows of an operand are kept on the way. */
bool weft__is_marched(const weft__writer *w, uint32_t operand);
/* The beginning of the loop over the steps, what comes before it, and what each begins with. */
void weft__write_march_begin(weft__writer *w);
/* All displaced rows that are not kept on the way. */
void weft__write_shifted_rows(weft__writer *w);
/* A load of element e; false if nothing is there that it could be taken from. */
bool weft__write_lane_load(weft__writer *w, uint32_t at);
/* map.c: whether only one part of a complex output is stored: the other keeps what it has. */
bool weft__keeps_a_part(const weft__kernel *kernel, uint32_t operand);

/* fold_cpu.c: the loops of folds on CPUs, after what fold.c defines for all; `branches`: there is
 * an element_fast. */
void weft__write_fold_cpu(weft__writer *w, int partial_bytes, bool branches,
                          weft__kernel_text *source);

/* fold_rows.c: whether whole chunks are folded in registers, and the function that does it. */
bool weft__takes_rows(weft__writer *w);
void weft__write_rows(weft__writer *w);

/* fold.c: what folds depend on becomes wanted; <prefix><fold>(v0, v1), of one primitive. */
void weft__want_folded(weft__writer *w);
void weft__write_fold_function(weft__writer *w, uint32_t fold, const char *prefix);
/* (In CUDA) the bytes of a fold's result that stays in the second cache until it is read; or 0. */
int weft__held_bytes(const weft__writer *w, uint32_t fold);

/* map.c, fold.c: everything but the prelude. */
void weft__write_map(weft__writer *w, weft__kernel_text *source);
void weft__write_fold(weft__writer *w, weft__kernel_text *source);

/* fold_gpu.c: the same for GPUs; if there are several lanes, after `elements` and `vectors`. */
void weft__write_fold_gpu(weft__writer *w, weft__kernel_text *source);
/* Whether the items of a warp pass on to each other what they have, where a device can. */
bool weft__passes(const weft__writer *w);
uint8_t weft__fold_warps(const weft__kernel *kernel, const weft__launch *launch);
/* (Of chunks on GPUs) sets `shared` and `across`. */
void weft__share_loads(const weft__kernel *kernel, const weft__launch *launch,
                       weft__c_like_shape *shape);

/* source.c: whether every order of its folds gives the same: of integers. */
bool weft__is_orderless(const weft__kernel *kernel);
/* Bytes of the largest elements that are read. */
int weft__largest_read(const weft__kernel *kernel);

/* source.c: the types of the parameters, and the line that a kernel begins with: one that marches
 * has so few registers that five groups are there at once, others that `at_once` are. */
void weft__write_types(weft__writer *w);
void weft__write_kernel(weft__writer *w, uint32_t group);

#endif
