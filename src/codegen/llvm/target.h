/* What code is compiled for: the instruction set that the interpreter uses too. */
#ifndef WEFT_CODEGEN_LLVM_TARGET_H
#define WEFT_CODEGEN_LLVM_TARGET_H

#include "codegen/llvm/library.h"

typedef enum weft__isa {
    WEFT__ISA_X86_64,
    WEFT__ISA_AVX2,
    WEFT__ISA_AVX512,
    WEFT__ISA_NEON,
    WEFT__ISA_NONE /* no code is made for this machine */
} weft__isa;

typedef struct weft__target {
    weft__isa isa;
    int bytes;   /* of a vector register */
    bool masks;  /* loads and stores of some lanes only, of every element size */
    bool fused;  /* fma, and rounding to integers */
    bool halves; /* f16 to and from f32 */
    bool asks;   /* is faster if large launches ask for what they will read soon */
    bool narrow; /* moves memory faster in vectors of half that size */
    bool roomy;  /* its first cache takes what is asked for: not that of AMD's up to Zen 4 */
} weft__target;

/* Follows weft__interpreter_isa. */
weft__target weft__target_host(void);
/* For tests: as if the processor were such a one, or not. */
void weft__target_set_narrow(bool narrow);

/* Whether code for an instruction set runs here. */
bool weft__target_runs(weft__isa isa, bool halves);

/* A machine of LLVM's, for one thread at a time, until it is given back. `level` is 0 to 3, as in
 * -O; the target is not WEFT__ISA_NONE. */
weft_status weft__target_take(const weft__target *target, int level, weft__llvm_machine *machine);
void weft__target_give(const weft__target *target, int level, weft__llvm_machine machine);

/* "x86_64-unknown-linux-gnu" */
const char *weft__target_triple(void);

#endif
