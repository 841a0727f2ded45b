/* Colour maps: a few colours at equal distances, and what lies between them. */
#include "file/png.h"

enum { POINTS = 10 };

static const uint32_t viridis[POINTS] = {0x440154, 0x482878, 0x3e4989, 0x31688e, 0x26828e,
                                         0x1f9e89, 0x35b779, 0x6ece58, 0xb5de2b, 0xfde725};
static const uint32_t magma[POINTS] = {0x000004, 0x180f3d, 0x440f76, 0x721f81, 0x9e2f7f,
                                       0xcd4071, 0xf1605d, 0xfd9668, 0xfeca8d, 0xfcfdbf};
static const uint32_t diverging[POINTS] = {0x053061, 0x2a71b2, 0x6aacd0, 0xb6d7e8, 0xebf1f4,
                                           0xf9ece5, 0xf8bfa4, 0xdd735c, 0xb31b2c, 0x67001f};

static const uint32_t *const maps[] = {[WEFT_COLOURS_VIRIDIS] = viridis,
                                       [WEFT_COLOURS_GREY] = NULL,
                                       [WEFT_COLOURS_MAGMA] = magma,
                                       [WEFT_COLOURS_DIVERGING] = diverging};

bool weft__colours_known(weft_colours colours)
{
    return (unsigned)colours < sizeof maps / sizeof maps[0];
}

/* In whole numbers, rounded to nearest: the same file everywhere. */
void weft__colours_fill(weft_colours colours, int count, unsigned char *rgb)
{
    const uint32_t *map = maps[colours];
    for (int k = 0; k < count; k++) {
        const int at = k * (POINTS - 1), part = at % (count - 1);
        const int first = at / (count - 1), second = first + (part > 0);
        for (int c = 0; c < 3; c++) {
            const int from = (int)(map[first] >> (16 - 8 * c) & 255);
            const int to = (int)(map[second] >> (16 - 8 * c) & 255);
            const int sum = from * (count - 1 - part) + to * part;
            rgb[3 * k + c] = (unsigned char)((2 * sum + count - 1) / (2 * (count - 1)));
        }
    }
}
