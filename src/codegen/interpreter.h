/* The built-in engine of the CPU: runs a kernel block by block, without a compiler. */
#ifndef WEFT_CODEGEN_INTERPRETER_H
#define WEFT_CODEGEN_INTERPRETER_H

#include "backend/backend.h"
#include "kernel/ir.h"

/* Makes an image that keeps nothing of the kernel. Its entry allocates nothing, cannot fail, uses
 * the thread's scratch or, where it has none, up to 704 KiB of stack, and may run on several
 * threads at once with disjoint ranges of a launch. */
weft_status weft__interpreter_compile(const weft__kernel *kernel, weft__image *image);

/* The same, with long rows of primitives as machine code of our own, which takes a fraction of a
 * millisecond to make. Fails where the processor is none that it is made for, or where it would not
 * be worth it: with WEFT_ERROR_UNSUPPORTED, which is no failure of a call. */
weft_status weft__interpreter_assemble(const weft__kernel *kernel, weft__image *image);

/* What it would run, as text to be freed with weft__free. */
weft_status weft__interpreter_explain(const weft__kernel *kernel, char **text);

/* For launch->grain: entry is fastest on ranges whose ends are multiples of this many elements, or
 * the launch's count. Needs the launch's sizes and strides; at least 1. */
int64_t weft__interpreter_grain(const weft__kernel *kernel, const weft__launch *launch);

/* The instruction set in use: "baseline", "avx2" or "avx512". */
const char *weft__interpreter_isa(void);

/* For tests: kernels compiled from now on use this instruction set, or the best below it that the
 * machine has; NULL is the best of all. */
void weft__interpreter_isa_choose(const char *name);

#endif
