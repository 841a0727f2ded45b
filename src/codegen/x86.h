/* Machine code of our own for x86-64 with AVX-512, of long rows of primitives: it takes a few
 * hundredths of a millisecond where libLLVM takes ten. */
#ifndef WEFT_CODEGEN_X86_H
#define WEFT_CODEGEN_X86_H

#include "codegen/skip.h"

/* An operand whose elements the code itself loads or stores, before or after everything else: at an
 * address that is in the frame. */
typedef struct weft__x86_move {
    uint32_t operand;
    uint32_t pointer; /* number of the address */
    bool store;
    bool pair; /* the elements are one part of complex numbers, at whose address … */
    int part;  /* … this is that part; both are stored together, part 0 first */
} weft__x86_move;

/* Where an element of each lane is, for an operand of the kernel: vectors of its lanes follow each
 * other, from a multiple of 64 bytes on; a bool is one bit a lane. What is stored are primitives,
 * each once at most. */
typedef struct weft__x86_source {
    const weft__kernel *kernel; /* in one dimension: loads, primitives, then stores */
    const uint8_t *needed;      /* of each value; 0: it is not computed */
    const uint8_t *skip;        /* as in weft__skips */
    const weft__skip *skips;
    int skips_count;
    int lanes;
    const weft__x86_move *moves;
    uint32_t moves_count, pointers;
} weft__x86_source;

typedef struct weft__x86_code {
    /* A function of a pointer to the frame, which has all operands; if it moves some itself, also
     * of the number of vectors that it is to do, one after the other. */
    uint8_t *bytes;
    uint32_t count;
    uint32_t frame; /* its bytes; a multiple of 64 */
} weft__x86_code;

enum { WEFT__X86_FRAME_MOST = 48 << 10, WEFT__X86_CODE_MOST = 256 << 10 }; /* bytes */

/* Whether values of a dtype are known; whether a primitive is made with so many lanes. */
bool weft__x86_has(weft_dtype dtype);
bool weft__x86_does(const weft__kernel *kernel, const weft__value *value, int lanes);
/* Where an operand begins in the frame, and where an address is. */
uint32_t weft__x86_operand(const weft__kernel *kernel, uint32_t operand, int lanes);
uint32_t weft__x86_pointer(const weft__kernel *kernel, uint32_t pointer, int lanes);
/* Fails if memory runs out, or if the frame or the code would be too large
 * (WEFT_ERROR_UNSUPPORTED). */
weft_status weft__x86_make(const weft__x86_source *source, weft__x86_code *code);
void weft__x86_free(weft__x86_code *code);

#endif
