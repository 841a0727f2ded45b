/* Numbers in ZIP files: little-endian, anywhere. */
#ifndef WEFT_FILE_BYTES_H
#define WEFT_FILE_BYTES_H

#include <stddef.h>
#include <stdint.h>

static inline uint64_t weft__bytes_get(const unsigned char *at, int count)
{
    uint64_t value = 0;
    for (int k = count - 1; k >= 0; k--)
        value = value << 8 | at[k];
    return value;
}

/* Writes and returns what follows. */
static inline unsigned char *weft__bytes_put(unsigned char *at, uint64_t value, int count)
{
    for (int k = 0; k < count; k++, value >>= 8)
        at[k] = (unsigned char)(value & 255);
    return at + count;
}

#endif
