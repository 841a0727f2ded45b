/* Random numbers as docs/semantics.md defines them, in plain C. */
#ifndef WEFT_TESTS_SUPPORT_PHILOX_H
#define WEFT_TESTS_SUPPORT_PHILOX_H

#include <stdint.h>

static inline void philox(uint64_t key, uint64_t call, uint64_t block, uint32_t words[4])
{
    uint32_t c[4] = {(uint32_t)block, (uint32_t)(block >> 32), (uint32_t)call,
                     (uint32_t)(call >> 32)};
    uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
    for (int round = 0; round < 10; round++) {
        const uint64_t p0 = (uint64_t)0xd2511f53U * c[0], p1 = (uint64_t)0xcd9e8d57U * c[2];
        const uint32_t next[4] = {(uint32_t)(p1 >> 32) ^ c[1] ^ k0, (uint32_t)p1,
                                  (uint32_t)(p0 >> 32) ^ c[3] ^ k1, (uint32_t)p0};
        for (int k = 0; k < 4; k++)
            c[k] = next[k];
        k0 += 0x9e3779b9U;
        k1 += 0xbb67ae85U;
    }
    for (int k = 0; k < 4; k++)
        words[k] = c[k];
}

/* The words of draw d, of which a block has `planes`; *plane is the one that it is in. */
static inline void philox_draw(uint64_t key, uint64_t call, uint64_t d, int planes, int *plane,
                               uint32_t words[4])
{
    const uint64_t n = (uint64_t)planes;
    *plane = (int)(d / 256 % n);
    philox(key, call, d / (n * 256) * 256 + d % 256, words);
}

static inline uint64_t philox_joined(const uint32_t *words)
{
    return words[0] | (uint64_t)words[1] << 32;
}

#endif
