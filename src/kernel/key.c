/* Keys of kernels, and copies that outlive the builder. */
#include "kernel/key.h"
#include "core/allocate.h"
#include <string.h>

uint64_t weft__hash(uint64_t hash, const void *data, size_t bytes)
{
    const unsigned char *byte = data;
    for (size_t i = 0; i < bytes; i += 8) {
        uint64_t word = 0;
        memcpy(&word, byte + i, bytes - i < 8 ? bytes - i : 8);
        hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 29;
    }
    return hash;
}

weft__key weft__key_of(const weft__kernel *kernel)
{
    weft__key key = {{kernel->values, kernel->shifts, kernel->operands, &kernel->ndim},
                     {kernel->values_count * sizeof *kernel->values,
                      kernel->shifts_count * sizeof *kernel->shifts,
                      kernel->operands_count * sizeof *kernel->operands,
                      sizeof kernel->ndim + sizeof kernel->folded},
                     0,
                     kernel->values_count};
    for (int i = 0; i < WEFT__KEY_PIECES; i++) {
        key.hash = weft__hash(key.hash, key.piece[i], key.bytes[i]);
        key.total += key.bytes[i];
    }
    return key;
}

bool weft__key_equal(const weft__key *a, const weft__key *b)
{
    if (a->hash != b->hash || a->total != b->total)
        return false;
    for (int i = 0; i < WEFT__KEY_PIECES; i++)
        if (a->bytes[i] != b->bytes[i] ||
            (a->bytes[i] && memcmp(a->piece[i], b->piece[i], a->bytes[i]) != 0))
            return false;
    return true;
}

static void *append(char **at, const void *data, size_t bytes)
{
    void *copy = *at;
    if (bytes)
        memcpy(copy, data, bytes);
    *at += bytes;
    return copy;
}

weft__kernel *weft__kernel_copy(const weft__kernel *kernel)
{
    const weft__key key = weft__key_of(kernel);
    weft__kernel *copy = weft__allocate(sizeof *copy + key.total);
    char *at = (char *)(copy + 1);
    if (!copy)
        return NULL;
    *copy = *kernel; /* then in the order of their alignment */
    copy->values = append(&at, kernel->values, key.bytes[0]);
    copy->shifts = append(&at, kernel->shifts, key.bytes[1]);
    copy->operands = append(&at, kernel->operands, key.bytes[2]);
    copy->values_room = copy->values_count;
    copy->shifts_room = copy->shifts_count;
    copy->operands_room = copy->operands_count;
    return copy;
}
