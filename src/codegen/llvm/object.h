/* Compiled code: as bytes in a file, and in memory, ready to run. */
#ifndef WEFT_CODEGEN_LLVM_OBJECT_H
#define WEFT_CODEGEN_LLVM_OBJECT_H

#include "codegen/executable.h"
#include "codegen/llvm/patch.h"
#include "codegen/llvm/survey.h"

/* An object begins with this, the displaced operands, the operands and the folds follow, then, at a
 * multiple of 16, the file that LLVM made. */
typedef struct weft__object_header {
    char magic[8];
    uint32_t isa;       /* weft__isa */
    uint32_t halves;    /* whether it uses instructions for f16 */
    int32_t streamed;   /* the operand whose rows are aligned for streaming, or -1 */
    uint32_t has_index; /* rows and columns must be the last two axes */
    uint32_t numbered;  /* what is folded depends on its number among the elements of a point */
    uint32_t operands_count, displaced_count;
    uint32_t folds_count;
    uint32_t lanes;    /* the order of the folds is that of a last axis that is folded */
    uint32_t width;    /* columns are a multiple of that, and rows to be streamed aligned; or 0 */
    uint32_t checksum; /* of all bytes before the file, but these */
} weft__object_header;
#define WEFT__OBJECT_MAGIC "weft.o8"

typedef struct weft__object_operand {
    uint8_t flags; /* WEFT__OPERAND_… */
    uint8_t size;  /* log2 of an element's bytes */
} weft__object_operand;

typedef struct weft__object_displaced {
    int64_t offset[WEFT_NDIM_MAX];
    uint32_t boundary; /* weft__boundary */
    uint32_t operand;
} weft__object_displaced;

/* A result of a fold. */
typedef struct weft__object_fold {
    uint16_t kind; /* a weft__op or a weft__fold_kind */
    uint8_t dtype, part;
    uint16_t stored; /* 1 + the operand that it is stored to, as it is; 0: nobody does that here */
    uint8_t stored_part, memory; /* of that, and its dtype */
} weft__object_fold;

/* Of an object of which the file begins there. */
uint32_t weft__object_checksum(const char *data, size_t begin);

/* The program of an image. */
typedef struct weft__native {
    weft__patch_run *run;  /* of a kernel with folds: its results, or NULL: they are stored */
    weft__patch_run *fold; /* the points of a kernel with folds, or NULL */
    weft__executable code; /* what these are in */
    weft__object_header header;
    weft__object_fold folds[WEFT__FOLDS_MAX];
    const weft__object_operand *operands; /* after the displaced ones */
    weft__object_displaced displaced[];
} weft__native;

/* The entry of images; see backend.h. */
void weft__native_run(const void *native, const weft__launch *launch, int64_t begin, int64_t end);

/* The same of kernels with folds. */
void weft__native_fold(const void *native, const weft__launch *launch, int64_t begin, int64_t end);

/* Puts the code of an ELF file into memory that can be run: finds `code`, `run` and `fold`. */
weft_status weft__elf_load(const char *file, size_t bytes, weft__native *native);

/* Writes the value of a relocation; false if its kind is unknown or the value does not fit. */
bool weft__relocate(uint32_t kind, char *place, uint64_t symbol, int64_t addend);
uint16_t weft__elf_machine(void);

/* Sees to the displaced operands of a patch at the position of `patch`, whose rows are along the
 * last axis but one. Makes the patch shorter where it must be: its `columns`, and `rows`, which is
 * returned. */
void weft__displace_columns(const weft__native *native, const weft__launch *launch,
                            weft__patch *patch);
int64_t weft__displace(const weft__native *native, const weft__launch *launch, weft__patch *patch);

/* How many rows of that many columns are worth to be taken of each plane, one plane after the
 * other. */
int64_t weft__displaced_rows(const weft__object_operand *operands, uint32_t count, int64_t columns);

/* How a launch with operands that lie across its rows is cut: into tiles of `rows` along `axis` and
 * `columns` along the last axis; such operands go through memory of their own, where rows are
 * dense. An axis of -1 means that there is none. */
typedef struct weft__tiling {
    int32_t axis;
    int64_t rows, columns;
} weft__tiling;
weft__tiling weft__tiling_of(const weft__launch *launch, const weft__object_operand *operands,
                             bool has_index);
/* Whether an operand goes through a tile, in a launch that is tiled. */
bool weft__tiled(const weft__launch *launch, uint32_t operand, int size);
enum { WEFT__TILES_BYTES = 64 << 10 }; /* for all tiles of a launch */

#endif
