/* Arrays of random layouts, and the plain walk over their elements. */
#ifndef WEFT_TESTS_CODEGEN_LAYOUTS_H
#define WEFT_TESTS_CODEGEN_LAYOUTS_H

#include "codegen/kernels.h"

struct space {
    int ndim;
    int64_t size[WEFT_NDIM_MAX], count;
};

struct layout {
    int64_t stride[WEFT_NDIM_MAX];
    int64_t first, bytes; /* where element 0 is in its memory, and how much that is */
};

enum layout_kind {
    LAYOUT_DENSE,      /* C order */
    LAYOUT_TRANSPOSED, /* the axes in another order, without gaps */
    LAYOUT_ANY,        /* with gaps, steps and reversed axes too */
    LAYOUT_BROADCAST,  /* as any, with axes of stride 0: only to be read */
    LAYOUT_KINDS
};

static inline void shuffle(int *order, int count)
{
    for (int k = count - 1; k > 0; k--) {
        const int j = (int)random_below(k + 1), kept = order[k];
        order[k] = order[j];
        order[j] = kept;
    }
}

static inline struct layout layout_make(const struct space *space, int64_t element,
                                        enum layout_kind kind)
{
    struct layout layout = {.bytes = element};
    int order[WEFT_NDIM_MAX];
    for (int k = 0; k < space->ndim; k++)
        order[k] = k;
    if (kind != LAYOUT_DENSE)
        shuffle(order, space->ndim);
    for (int k = space->ndim - 1; k >= 0; k--) {
        const int axis = order[k];
        const int64_t size = space->size[axis] > 0 ? space->size[axis] : 1;
        if (kind == LAYOUT_BROADCAST && random_below(3) == 0)
            continue;
        const int64_t step = kind < LAYOUT_ANY || random_below(2) ? 1 : 1 + random_below(3);
        layout.stride[axis] = layout.bytes * step;
        layout.bytes *= step * size;
        if (kind >= LAYOUT_ANY && random_below(3) == 0)
            layout.bytes += element * random_below(20);
        if (kind >= LAYOUT_ANY && random_below(3) == 0) {
            layout.first += (size - 1) * layout.stride[axis];
            layout.stride[axis] *= -1;
        }
    }
    return layout;
}

/* The address, relative to the memory, of the point with this number in C order. */
static inline int64_t layout_at(const struct layout *layout, const struct space *space,
                                int64_t number)
{
    int64_t at = layout->first;
    for (int k = space->ndim - 1; k >= 0; k--) {
        at += number % space->size[k] * layout->stride[k];
        number /= space->size[k];
    }
    return at;
}

static inline struct space space_make(int ndim, const int64_t *size)
{
    struct space space = {.ndim = ndim, .count = 1};
    for (int k = 0; k < ndim; k++) {
        space.size[k] = size[k];
        space.count *= size[k];
    }
    return space;
}

/* Memory of 64-byte alignment, with random bytes. */
static inline char *memory_make(int64_t bytes)
{
    const size_t room = ((size_t)bytes + 127) & ~(size_t)63;
    uint64_t *memory = aligned_alloc(64, room);
    for (size_t k = 0; memory != NULL && k < room / 8; k++)
        memory[k] = random_bits();
    return (char *)memory;
}

static inline void memory_drop(char **memory) { free(*memory); }
#define MEMORY __attribute__((cleanup(memory_drop))) char *

#endif
