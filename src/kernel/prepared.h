/* Launches that are kept: what depends on the layouts of arrays, and not on their addresses. */
#ifndef WEFT_KERNEL_PREPARED_H
#define WEFT_KERNEL_PREPARED_H

#include "core/array.h"
#include "kernel/cache.h"
#include "kernel/ir.h"

/* Of one operand: the layout it had, and what follows from it. */
typedef struct weft__prepared_operand {
    int64_t stride[WEFT_NDIM_MAX];
    int64_t low, high; /* bytes from the first element that elements reach */
    int64_t offset;    /* bytes from the first element to the launch's first */
    size_t bytes;      /* of all elements */
    uint32_t use;      /* position in `uses` */
    bool output;
    bool displaced; /* a point reads other elements than its own, or not all at once */
} weft__prepared_operand;

/* A kernel's launch over arrays of certain layouts; one block of memory. */
typedef struct weft__prepared {
    weft__again again;        /* if it is kept: how it is queued again … */
    weft__timeline *timeline; /* … on the stream that was the current one of its thread … */
    uint64_t streams_moved;   /* … and is, if that thread's is still this */
    weft_device device;
    uint32_t operands_count, inputs_count;
    bool filled;    /* with arrays that have no hazards: weft__kernel_run_same */
    int32_t hazard; /* the last output that is to be written through a copy, as its memory is read
                       too; -1: none */
    weft_array *groups;    /* reserved for the results of chunks, between two stages; or NULL */
    uint64_t groups_bytes; /* of those, while they are used */
    int64_t points;        /* of the index space; 0: nothing is to be done */
    weft__compiled compiled[2]; /* by stage: all of it or its chunks, and the end of two */
    weft__prepared_operand *operands;
    weft__use *uses; /* inputs first, so that a stage that writes none of the outputs can leave them
                        out; there is room for two more */
    weft__launch *launch;
} weft__prepared;

/* Bytes for the launches of a kernel; with `kept`, with room for how they are queued again. */
size_t weft__prepared_bytes(const weft__kernel *kernel, bool kept);
/* Fills that much memory, aligned to 16. The arrays are as for weft__kernel_run. */
weft__prepared *weft__prepare(void *memory, const weft__kernel *kernel, weft_device device,
                              const weft_shape *space, weft_array *const *arrays, bool kept);
/* Whether these arrays, of the shapes that the launch was prepared for, have the same strides. */
bool weft__prepared_fits(const weft__prepared *prepared, weft_device device,
                         weft_array *const *arrays);
/* Fills in what is new each time: addresses, uses, scalars. */
void weft__prepared_fill(weft__prepared *prepared, weft_array *const *arrays,
                         const uint64_t *scalars);
/* The scalars alone. */
void weft__prepared_fill_scalars(weft__prepared *prepared, const uint64_t *scalars);

#endif
