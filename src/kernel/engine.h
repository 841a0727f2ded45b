/* Which engine runs kernels on the CPU, and the use of the one that compiles. */
#ifndef WEFT_KERNEL_ENGINE_H
#define WEFT_KERNEL_ENGINE_H

#include "codegen/llvm.h"
#include "core/library.h"

typedef enum weft__engine {
    WEFT__ENGINE_AUTO,        /* the interpreter first, compiled code when there is some */
    WEFT__ENGINE_INTERPRETER, /* the interpreter alone */
    WEFT__ENGINE_LLVM,        /* compiled code from the first run on, where there can be some */
    WEFT__ENGINE_QUICK        /* the same, not optimized */
} weft__engine;

/* What WEFT_ENGINE says, read at the first call. A wrong value fails each time. */
weft_status weft__engine_get(weft__engine *engine);

/* Compiles, opening libLLVM at the first call. Several threads may at once. Fails when the library
 * is being closed. */
weft_status weft__engine_compile(const weft__kernel *kernel, const weft__launch *sample,
                                 weft__effort *effort, weft__object *object);
/* The same for a text: the assembly, which the caller frees. */
weft_status weft__engine_explain(const weft__kernel *kernel, const weft__launch *sample,
                                 char **text);
/* Whether libLLVM has compiled. Code that is made without it comes after that: what libLLVM
 * registers for the end of the process must be there before a kernel that it is to compile later.
 */
bool weft__engine_is_prepared(void);
/* Waits while a thread opens libLLVM or compiles with it for the first time. */
void weft__engine_settle(void);
/* Whether libLLVM was looked for and not found. */
bool weft__engine_is_missing(void);

/* Around fork nobody compiles, so that libLLVM is in order in the child. */
void weft__engine_fork(weft__fork_stage stage);

/* For tests: the engine from now on; -1 is what WEFT_ENGINE says. Kernels that are compiled stay
 * so until the device is reset. */
void weft__engine_choose(int engine);
/* For tests: what makes code instead of libLLVM; NULL is libLLVM. Nothing goes to the disk then. */
typedef weft_status weft__engine_maker(const weft__kernel *kernel, const weft__launch *sample,
                                       weft__effort *effort, weft__image *image);
void weft__engine_set_maker(weft__engine_maker *maker);
weft__engine_maker *weft__engine_get_maker(void);

#endif
