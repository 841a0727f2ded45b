/* What is known about a kernel before code is made: how its operands lie in memory, which values
 * are needed and how often each must be computed. */
#ifndef WEFT_CODEGEN_LLVM_SURVEY_H
#define WEFT_CODEGEN_LLVM_SURVEY_H

#include "codegen/llvm/target.h"
#include "codegen/skip.h"

/* How far apart the elements of an operand are along the innermost axis, in elements; of a complex
 * operand in parts, so that a dense one is DOUBLE. */
typedef enum weft__spacing {
    WEFT__SPACING_ZERO,
    WEFT__SPACING_UNIT,
    WEFT__SPACING_DOUBLE,
    WEFT__SPACING_REVERSED,
    WEFT__SPACING_GENERAL
} weft__spacing;

/* How often a value is computed: its code lies before the loops, in the outer or in the inner one.
 */
typedef enum weft__level { WEFT__LEVEL_LAUNCH, WEFT__LEVEL_ROW, WEFT__LEVEL_POINT } weft__level;

/* Of a value. */
enum {
    WEFT__NEEDED_VALUE = 1,
    WEFT__NEEDED_BYTES = 2 /* of a load: its memory, unchanged, for a store of the same dtype */
};

/* Of an operand. */
enum {
    WEFT__OPERAND_READ = 1,
    WEFT__OPERAND_WRITTEN = 2,
    WEFT__OPERAND_STREAMED = 4, /* may go past the caches, when the launch is large */
    WEFT__OPERAND_PAIRED = 8,   /* dense complex numbers, of which both parts are stored once */
    WEFT__OPERAND_PARTIAL = 16, /* complex numbers, of which one part is written and one stays */
    WEFT__OPERAND_LEADS = 32    /* of displaced ones, the first to come to new memory */
};

/* How the ends of rows are done, where loads that are displaced along them are out of bounds. */
typedef enum weft__edges {
    WEFT__EDGES_NONE,   /* there are no such loads */
    WEFT__EDGES_SINGLE, /* element by element */
    WEFT__EDGES_VECTOR  /* in the steps that have a mask anyway */
} weft__edges;

/* An operand as displaced loads see it. They count as operands of their own, after the others. */
typedef struct weft__displaced {
    uint16_t operand, shift; /* of the kernel */
} weft__displaced;

struct weft__outline;

typedef struct weft__survey {
    const weft__kernel *kernel;
    struct weft__outline *outline; /* of a kernel with calls: what they call */
    void *memory;                  /* that the tables below are in */
    weft__target target;
    int32_t ndim;      /* of the launch */
    uint32_t operands; /* with the displaced ones */
    weft__edges edges;
    weft__displaced *displaced;
    uint16_t *source;              /* of each load: the operand, with the displaced ones */
    int32_t row_axis, column_axis; /* of the launch; -1: none */
    int32_t fold_mode; /* weft__fold_mode, of the points of a kernel with folds; else 0 */
    uint8_t *spacing;  /* of each operand */
    uint8_t *flags;    /* of each operand */
    uint8_t *level;    /* of each value */
    uint8_t *needed;   /* of each value */
    uint8_t *uniform;  /* of each value: it is the same in all lanes, in kernels with loops */
    uint8_t *skip;     /* of each value: 0, or 1 + the innermost of `skips` that it is in */
    weft__skip skips[WEFT__SKIPS_MOST];
    int skips_count;
    bool few;            /* points, as of results: short code is made sooner */
    bool single;         /* there is one point */
    bool soon;           /* points that are only stored: code that is not optimized will do */
    bool whole;          /* rows are whole turns: the caller moves what is left to such */
    bool gives_up;       /* turns leave to steps what needs a skip of one side only */
    uint32_t operations; /* values computed for every point … */
    uint32_t always;     /* … and those of them that are never skipped */
    int32_t streamed;    /* the first operand that is streamed, or -1 */
    bool asks;           /* large launches ask for what they will read soon */
    int lanes;           /* elements of a vector */
    int unroll;          /* vectors in one turn of the loop */
} weft__survey;

/* Fails if memory runs out or a value is not defined for its types. Ends with weft__survey_free. */
weft_status weft__survey_make(const weft__kernel *kernel, const weft__launch *sample,
                              weft__survey *survey);
/* The same in two steps: the axes and spacings are filled in between. */
weft_status weft__survey_begin(const weft__kernel *kernel, weft__survey *survey);
void weft__survey_finish(weft__survey *survey);
void weft__survey_free(weft__survey *survey);
/* So many vectors in a turn, whatever else would be best. */
void weft__survey_set_unroll(weft__survey *survey, int unroll);

/* uniform.c: in kernels with loops, what is the same for all points of a vector. */
void weft__survey_uniform(weft__survey *survey);
/* The `end` of a loop, or of what a value is in. */
uint32_t weft__loop_end(const weft__kernel *kernel, uint32_t value);

/* The most bytes of all operands, for one turn, that a caller moves. */
enum { WEFT__WHOLE_BYTES = 16 << 10 };

/* Whether a skip is in no other one, and no skip is for the other side. */
bool weft__skip_gives_up(const weft__survey *survey, int number);
/* rare.c: whether a skip (its number from 1 on) is a function of its own; whether it is hardly ever
 * needed, as far as can be told. */
bool weft__skip_is_apart(const weft__survey *survey, int number);
bool weft__skip_is_rare(const weft__survey *survey, int number);
/* Whether there is code that turns had better not contain, and that is no function of its own. Long
 * code is made once, and contains it. */
bool weft__survey_gives_up(const weft__survey *survey);

/* Whether vectors of a dtype are divided by a function of its own, which is made once. */
bool weft__quotient_is_apart(const weft__target *target, weft_dtype dtype);

/* More operations than so many for every point are long code. */
enum { WEFT__SHORT_MOST = 12 };

/* The dtypes and arguments of every value are such that docs/semantics.md says what it computes. */
weft_status weft__kernel_check(const weft__kernel *kernel);

/* Arguments of a primitive. */
int weft__op_arity(weft__op op);

size_t weft__displaced_loads(const weft__kernel *kernel);

/* The displacement of a load, or NULL. */
const weft__kernel_shift *weft__load_shift(const weft__kernel *kernel, const weft__value *load);

/* log2 of the bytes that one load moves: of complex numbers, a part. */
int weft__memory_size(weft_dtype dtype);
bool weft__dtype_is_float(weft_dtype dtype);
bool weft__dtype_is_signed(weft_dtype dtype);
bool weft__dtype_is_complex(weft_dtype dtype);

/* classes.c: of a distance in bytes, along an axis of some size; of every operand. */
weft__spacing weft__spacing_of(weft_dtype dtype, int64_t stride, int64_t size);
void weft__spacings(const weft__kernel *kernel, const weft__launch *launch, uint8_t *spacing);

/* Of an axis; the number of an element among those folded is none. */
bool weft__kernel_has_index(const weft__kernel *kernel);
/* Whether it has such numbers. */
bool weft__kernel_has_numbers(const weft__kernel *kernel);

/* Whether a load gives something else near the ends of a row. */
bool weft__load_has_edges(const weft__survey *survey, const weft__value *load);

/* Whether a fold is of values and their numbers among those folded: then these are not computed as
 * others are, for the rows say them. */
bool weft__fold_is_numbered(const weft__kernel *kernel, const weft__value *fold);
/* log2 of the bytes that a value has in registers. */
int weft__value_size(const weft__kernel *kernel, const weft__value *value);

/* Whether an index is another in each row, or in each column. */
bool weft__index_by_row(const weft__survey *survey, const weft__value *index);
bool weft__index_by_column(const weft__survey *survey, const weft__value *index);

/* Whether a store moves what a load of the same dtype found, as it is. */
bool weft__store_copies(const weft__kernel *kernel, const weft__value *store);

#endif
