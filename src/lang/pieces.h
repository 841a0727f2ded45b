/* Cutting very large programs into pieces that are computed one after the other. */
#ifndef WEFT_LANG_PIECES_H
#define WEFT_LANG_PIECES_H

#include "lang/lang.h"

/* What a piece has at most, unless one node alone has more. Small programs are one piece. */
enum {
    WEFT__PIECE_OPERATIONS = 128,
    WEFT__PIECE_PRIMITIVES = 1024,
    WEFT__PIECE_READS = 32 /* arrays, and values of other pieces */
};

typedef struct weft__pieces {
    int32_t *order; /* the nodes that the results depend on; arguments come first */
    uint32_t nodes_count;
    uint32_t *first; /* the position in `order` of each piece; one more has the number of nodes */
    uint32_t count;
    int32_t *piece; /* of each node */
} weft__pieces;

/* Whether each piece that needs the node computes it for itself: memory would not be faster. */
bool weft__piece_repeats(const weft__lang_program *program, int32_t node);

/* `wanted` has a flag for each node. A cut is where few values have been computed that are still
 * needed; where it is depends on what comes before it more than on what follows, so programs that
 * begin alike have pieces that are alike. */
weft_status weft__pieces_make(const weft__lang_program *program, const uint8_t *wanted,
                              weft__pieces *pieces);
void weft__pieces_free(weft__pieces *pieces);

#endif
