/* Numbers that look random, the same in every run. */
#ifndef WEFT_TESTS_SUPPORT_RANDOM_H
#define WEFT_TESTS_SUPPORT_RANDOM_H

#include <stdint.h>

/* Where this thread's numbers come from; to be set, to anything but 0, for others. */
static _Thread_local uint64_t random_state = 0x9e3779b97f4a7c15U;

static inline uint64_t random_bits(void)
{
    uint64_t state = random_state;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    random_state = state;
    return state * 0x2545f4914f6cdd1dU;
}

static inline int64_t random_below(int64_t bound)
{
    return (int64_t)(random_bits() % (uint64_t)bound);
}

#endif
