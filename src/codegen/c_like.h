/* Kernels as text for the compilers of GPUs: CUDA C and OpenCL C, which differ in a table of words.
 * Results have the bits of the interpreter. */
#ifndef WEFT_CODEGEN_C_LIKE_H
#define WEFT_CODEGEN_C_LIKE_H

#include "backend/kernel_text.h"
#include "kernel/ir.h"

typedef enum weft__dialect {
    WEFT__DIALECT_CUDA,
    WEFT__DIALECT_OPENCL,
    WEFT__DIALECT_OPENCL_CPU /* for devices whose work-items are no threads: groups of one */
} weft__dialect;

/* What the text depends on besides the kernel: rank, how each operand lies along the innermost
 * axis, the width of indices, the stage of a fold. Writes up to `room` bytes and returns how many
 * there are. */
uint32_t weft__c_like_class(const weft__kernel *kernel, const weft__launch *launch,
                            weft__dialect dialect, uint8_t *bytes, uint32_t room);

/* Text for all launches with the class of `sample`. */
weft_status weft__c_like_write(const weft__kernel *kernel, const weft__launch *sample,
                               weft__dialect dialect, weft__kernel_text *text);

/* (On GPUs) into how many groups the first of two stages combines the chunks of each result. */
int64_t weft__c_like_groups(const weft__kernel *kernel, const weft__launch *launch);

/* For tests: texts for OpenCL devices that are CPUs are those for GPUs. */
void weft__c_like_as_gpu(bool always);
bool weft__c_like_is_as_gpu(void);

/* For tests: launches of up to so many elements share a text, however their operands lie; -1 is as
 * usual. */
void weft__c_like_share(int64_t elements);

#endif
