/* CRC-32, as in ZIP and PNG: eight bytes at a time by tables. */
#include "file/file.h"
#include <pthread.h>
#include <string.h>

static uint32_t table[8][256];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make_table(void)
{
    for (uint32_t k = 0; k < 256; k++) {
        uint32_t value = k;
        for (int bit = 0; bit < 8; bit++)
            value = value >> 1 ^ (value & 1 ? UINT32_C(0xedb88320) : 0);
        table[0][k] = value;
    }
    for (int row = 1; row < 8; row++)
        for (int k = 0; k < 256; k++)
            table[row][k] = table[row - 1][k] >> 8 ^ table[0][table[row - 1][k] & 255];
}

uint32_t weft__crc32(uint32_t checksum, const void *data, size_t bytes)
{
    const unsigned char *at = data;
    uint32_t c = ~checksum;
    pthread_once(&once, make_table);
    for (; bytes >= 8; bytes -= 8, at += 8) {
        c ^= (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
        c = table[7][c & 255] ^ table[6][c >> 8 & 255] ^ table[5][c >> 16 & 255] ^
            table[4][c >> 24] ^ table[3][at[4]] ^ table[2][at[5]] ^ table[1][at[6]] ^
            table[0][at[7]];
    }
    for (; bytes > 0; bytes--, at++)
        c = c >> 8 ^ table[0][(c ^ *at) & 255];
    return ~c;
}
