/* The CPU's floating-point mode: round to nearest, keep subnormals, trap nothing. */
#ifndef WEFT_CODEGEN_INTERPRETER_MODE_H
#define WEFT_CODEGEN_INTERPRETER_MODE_H

#include <stdint.h>

/* Read and written by plain instructions, as a library built with -ffast-math changes bits that
 * <fenv.h> knows nothing of. `bits` are those that must have the value `wanted`. */
#if defined __x86_64__
typedef uint32_t weft__mode;
static inline weft__mode weft__mode_read(void) { return __builtin_ia32_stmxcsr(); }
static inline void weft__mode_write(weft__mode mode) { __builtin_ia32_ldmxcsr(mode); }
static const weft__mode weft__mode_bits = 0xffc0U, weft__mode_wanted = 0x1f80U;
#elif defined __aarch64__
typedef uint64_t weft__mode;
static inline weft__mode weft__mode_read(void)
{
    weft__mode mode;
    __asm__ volatile("mrs %0, fpcr" : "=r"(mode));
    return mode;
}
static inline void weft__mode_write(weft__mode mode)
{
    __asm__ volatile("msr fpcr, %0" : : "r"(mode));
}
static const weft__mode weft__mode_bits = 0x07f79f07U, weft__mode_wanted = 0;
#else
#include <fenv.h>
typedef int weft__mode;
static inline weft__mode weft__mode_read(void) { return fegetround(); }
static inline void weft__mode_write(weft__mode mode) { (void)fesetround(mode); }
static const weft__mode weft__mode_bits = -1, weft__mode_wanted = FE_TONEAREST;
#endif

/* Sets the mode if it is another; returns the one to give back to weft__mode_leave. */
static inline weft__mode weft__mode_enter(void)
{
    const weft__mode mode = weft__mode_read();
    if ((mode & weft__mode_bits) != weft__mode_wanted)
        weft__mode_write(weft__mode_wanted);
    return mode;
}

static inline void weft__mode_leave(weft__mode mode)
{
    if ((mode & weft__mode_bits) != weft__mode_wanted)
        weft__mode_write(mode);
}

#endif
