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

/* How the elements of an operand lie along the innermost axis; (of blocks) of a turned one they lie
 * next to each other along the axis before. */
typedef enum weft__lie {
    WEFT__LIE_DENSE,
    WEFT__LIE_REPEATED,
    WEFT__LIE_ANY,
    WEFT__LIE_SECOND, /* (on CPUs) every second one */
    WEFT__LIE_TURNED
} weft__lie;

/* The class of a launch: see weft__c_like_class. */
typedef struct weft__c_like_shape {
    uint8_t ndim;
    uint8_t stage;  /* weft__stage */
    uint8_t lanes;  /* elements along the innermost axis that an item takes care of */
    uint8_t narrow; /* positions and distances fit 32 bits */
    uint8_t tiled;  /* (of maps) a group takes a piece of several rows */
    uint8_t wide;   /* (of the last stage of a fold) there are at least 32 results */
    uint8_t block;  /* (of maps on CPUs) an item takes care of many elements, in blocks */
    uint8_t lie[WEFT__OPERANDS_MAX];
} weft__c_like_shape;

typedef struct weft__writer {
    const weft__kernel *kernel;
    weft__dialect dialect;
    weft__c_like_shape shape;
    int32_t kept_ndim; /* of the launch; ndim if nothing is folded */
    uint32_t arguments_count;
    int inner;     /* (on CPUs) the axis along which the text knows how operands lie; or -1 */
    bool in_block; /* loads are of element e of a block whose first is at q<operand> */
    bool fast;     /* no branch is taken: `some` becomes true if one should have been */
    bool inside;   /* displaced loads do not leave arrays along the innermost axis */
    bool pointed;  /* see weft__kernel_text */
    weft__text text;
    uint8_t *wanted; /* for each value: whether what is being written needs it */
    uint32_t *room;  /* two numbers for each value */
    weft__skips skips;
} weft__writer;

enum { WEFT__GROUP_ITEMS = 256, WEFT__TILE_ROWS = 8 };
/* Outputs that are larger go around the cache. */
enum { WEFT__STREAMING_BYTES = 32 << 20 };

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
/* The memory that a store writes, as an expression. */
void weft__write_narrowed(weft__writer *w, const weft__value *store);

/* values.c: the wanted values of a point, other than loads, stores and folds, which have been
 * written before or are afterwards. */
void weft__write_value(weft__writer *w, uint32_t at);

/* loops.c: a value that says how a loop goes; an element by its number. */
void weft__write_flow(weft__writer *w, uint32_t at);
void weft__write_gather(weft__writer *w, uint32_t at);

/* skips.c: calls `write` for all wanted values in order, inside of branches for those that few
 * items need. */
void weft__write_wanted(weft__writer *w, void (*write)(weft__writer *w, uint32_t at));
/* How a select names its argument 1 or 2: v<number>, or what a branch has set. */
void weft__write_side(weft__writer *w, uint32_t select, int side);

/* loads.c: the address of an operand's element at a position, without its part. */
void weft__write_address(weft__writer *w, uint32_t operand, const char *position);
/* Bytes from an element to the next along an axis, as an expression. */
void weft__write_stride(weft__writer *w, uint32_t operand, int axis);
/* How far a displaced load is from its point along an axis, as an i64 expression. */
void weft__write_offset(weft__writer *w, const weft__kernel_shift *shift, int axis);
/* v<at> of m<at>. */
void weft__write_loaded(weft__writer *w, uint32_t at);
/* A load at i0, i1…, displaced or not, of memory directly. */
void weft__write_load(weft__writer *w, uint32_t at);
/* i0, i1… of axes [begin, end) from a number of points in C order. */
void weft__write_positions(weft__writer *w, int begin, int end, const char *number);

/* map_cpu.c: maps on CPUs. */
void weft__write_blocks(weft__writer *w, weft__kernel_text *source);
/* map.c: whether only one part of a complex output is stored: the other keeps what it has. */
bool weft__keeps_a_part(const weft__kernel *kernel, uint32_t operand);

/* fold_cpu.c: the loops of folds on CPUs, after what fold.c defines for all; `branches`: there is
 * an element_fast. */
void weft__write_fold_cpu(weft__writer *w, int partial_bytes, bool branches,
                          weft__kernel_text *source);

/* map.c, fold.c: everything but the prelude. */
void weft__write_map(weft__writer *w, weft__kernel_text *source);
void weft__write_fold(weft__writer *w, weft__kernel_text *source);

/* fold_gpu.c: texts for CUDA instead of those of fold.c; how often its loops are unrolled. */
extern const char weft__fold_lanes_gpu[];
void weft__write_finish_gpu(weft__writer *w, int partial_bytes, weft__kernel_text *source);
int weft__fold_unroll(const weft__kernel *kernel);

/* source.c: the types of the parameters, and the line that a kernel begins with. */
void weft__write_types(weft__writer *w);
void weft__write_kernel(weft__writer *w, uint32_t group);

#endif
