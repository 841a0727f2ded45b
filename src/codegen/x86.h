/* Machine code of our own for x86-64 with AVX-512, of long rows of primitives: it takes a few
 * hundredths of a millisecond where libLLVM takes ten. */
#ifndef WEFT_CODEGEN_X86_H
#define WEFT_CODEGEN_X86_H

#include "codegen/skip.h"

/* Where an element of each lane is, for an operand of the kernel: vectors of its lanes follow each
 * other, from a multiple of 64 bytes on; a bool is one bit a lane. What is stored are primitives,
 * each once at most. Operands that are moved are elsewhere, all elements one after the other, a
 * bool in a byte, at the address that the frame has. */
typedef struct weft__x86_source {
    const weft__kernel *kernel; /* in one dimension: loads, primitives, then stores */
    const uint8_t *needed;      /* of each value; 0: it is not computed */
    const uint8_t *skip;        /* as in weft__skips */
    const weft__skip *skips;
    int skips_count;
    int lanes;
    const uint8_t *moved; /* of each operand: whether the code moves it; NULL: none */
} weft__x86_source;

typedef struct weft__x86_code {
    /* A function of a pointer to the frame and, if it moves operands, of the number of vectors that
     * it is to do, one after the other. */
    uint8_t *bytes;
    uint32_t count;
    uint32_t frame; /* its bytes; a multiple of 64 */
} weft__x86_code;

enum { WEFT__X86_FRAME_MOST = 48 << 10 }; /* bytes */

/* Whether values of a dtype are known; whether a primitive is made with so many lanes. */
bool weft__x86_has(weft_dtype dtype);
bool weft__x86_does(const weft__kernel *kernel, const weft__value *value, int lanes);
/* Where an operand begins in the frame, and where its address is if it is moved. */
uint32_t weft__x86_operand(const weft__kernel *kernel, uint32_t operand, int lanes);
uint32_t weft__x86_address(const weft__kernel *kernel, uint32_t operand, int lanes);
/* Fails if memory runs out, or if the frame would be too large (WEFT_ERROR_UNSUPPORTED). */
weft_status weft__x86_make(const weft__x86_source *source, weft__x86_code *code);
void weft__x86_free(weft__x86_code *code);

#endif
