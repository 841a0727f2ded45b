/* Kernels as text in C: what a device with a compiler of its own is given, and how a launch is
 * handed to such a kernel. */
#ifndef WEFT_BACKEND_KERNEL_TEXT_H
#define WEFT_BACKEND_KERNEL_TEXT_H

#include "backend/backend.h"

/* The program of an image for such a device. It has one kernel, `weft_kernel`, unless the text is a
 * user's. Its parameters are a
 * pointer for each argument of the launch and then one struct, what weft__kernel_text_arguments
 * writes: by value, or a pointer to it in the device's memory. */
typedef struct weft__kernel_text {
    char *text;   /* owned, as the next two */
    char *name;   /* of the kernel, if the text is a user's; else NULL */
    char *binary; /* what an earlier process kept of it, or NULL */
    size_t binary_bytes;
    uint32_t group;     /* work-items of a group */
    uint32_t points;    /* elements that a group takes care of: enough groups for the count start */
    uint32_t rows;      /* (of maps) 1 if that counts along each row anew, else 0 */
    uint32_t down;      /* (of maps) not 0: a group takes so many rows, along … */
    uint32_t down_axis; /* … this axis, and of each as many elements as make up its points */
    uint32_t march;     /* (where down is not 0) not 0: steps that it takes along … */
    uint32_t march_axis; /* … this axis */
    bool pointed;        /* the struct is too large to be passed by value */
    bool thorough;       /* it is worth the time of a compiler that does its best */
    bool idles;          /* a count below 0 has the kernel do nothing */
} weft__kernel_text;

/* Makes an image of the text, which it takes over, also when it fails. */
weft_status weft__kernel_text_image(weft__kernel_text *text, weft__image *image);

/* How many groups a launch takes. */
int64_t weft__kernel_text_groups(const weft__kernel_text *text, const weft__launch *launch);

/* The bytes of the struct that a kernel takes after its pointers. */
size_t weft__kernel_text_bytes(size_t arguments, size_t ndim, size_t scalars);
/* Writes it; `offsets` are added to each pointer, in bytes. */
void weft__kernel_text_arguments(const weft__launch *launch, const int64_t *offsets, int64_t *to);

#endif
