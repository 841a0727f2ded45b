/* The compiling engine of the CPU: kernels become machine code by way of libLLVM, which is opened
 * at run time if the machine has one. Results have the bits of the interpreter. */
#ifndef WEFT_CODEGEN_LLVM_H
#define WEFT_CODEGEN_LLVM_H

#include "backend/backend.h"
#include "kernel/ir.h"

/* Opens libLLVM, 15 or newer: the file that WEFT_LLVM names, else the newest that is found. Takes
 * tens of milliseconds the first time; later calls give the same answer at once.
 * WEFT_ERROR_UNSUPPORTED and a message if there is none. Any thread may call it. */
weft_status weft__llvm_open(void);

/* "19.1.7"; NULL before a successful weft__llvm_open. */
const char *weft__llvm_version(void);

/* Whether compiling is worth it: false where this engine has no good code for the kernel (fma on a
 * CPU without it) or the layout (very short rows), and the interpreter should stay. Opens nothing.
 */
bool weft__llvm_wants(const weft__kernel *kernel, const weft__launch *launch);

/* What compiled code depends on besides the kernel: the instruction set, and how each operand of
 * the launch lies along the innermost axis. Writes up to `room` bytes and returns how many there
 * are, at most operands_count + 3. Code that was compiled for one launch runs every launch with the
 * same bytes. */
uint32_t weft__llvm_class(const weft__kernel *kernel, const weft__launch *launch, uint8_t *bytes,
                          uint32_t room);

/* For launch->grain, as weft__interpreter_grain: ranges may begin and end anywhere, but this is
 * best. */
int64_t weft__llvm_grain(const weft__kernel *kernel, const weft__launch *launch);

/* Compiled code as bytes that can be kept in a file: they refer to no address. */
typedef struct weft__object {
    void *data;
    size_t bytes;
} weft__object;

/* How much LLVM does for the speed of code. The bits of results are the same. */
typedef enum weft__effort {
    WEFT__EFFORT_FULL,  /* optimized code */
    WEFT__EFFORT_FIRST, /* as QUICK, where optimized code would take long to make; else as FULL */
    WEFT__EFFORT_QUICK  /* made in half the time or less, and mostly 1.0 to 1.3 times slower */
} weft__effort;

/* Compiles for all launches with the class of `sample`, whose sizes and addresses do not matter.
 * `effort` becomes what was done: FULL or QUICK. Opens libLLVM if need be. Any thread may call it,
 * several at once too. */
weft_status weft__llvm_compile(const weft__kernel *kernel, const weft__launch *sample,
                               weft__effort *effort, weft__object *object);

/* Optimized code, as text of the target's assembler, to be freed with weft__free. */
weft_status weft__llvm_explain(const weft__kernel *kernel, const weft__launch *sample, char **text);

/* Makes an image that keeps nothing of the object. Needs no libLLVM. Bytes that are damaged or were
 * made for another machine are an error. The image's entry allocates nothing, cannot fail, and may
 * run on several threads at once with disjoint ranges of a launch. */
weft_status weft__object_load(const weft__object *object, weft__image *image);

/* Of an object that weft__llvm_compile filled; an empty one is fine. */
void weft__object_free(weft__object *object);

#endif
