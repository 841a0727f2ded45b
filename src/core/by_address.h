/* What a thread keeps for each of the user's objects, found by the object's address. */
#ifndef WEFT_CORE_BY_ADDRESS_H
#define WEFT_CORE_BY_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct weft__kept {
    const void *key;
    void *value; /* NULL: nothing is kept here */
} weft__kept;

/* Open addressing; at most half full, grows. All zeros is an empty one. */
typedef struct weft__by_address {
    weft__kept *entries;
    size_t room, used;
} weft__by_address;

/* There is room for one more. */
bool weft__by_address_reserve(weft__by_address *table);

/* The entry of the key, or an empty one for it. */
static inline weft__kept *weft__by_address_at(const weft__by_address *table, const void *key)
{
    uint64_t hash = (uintptr_t)key;
    hash = (hash ^ hash >> 33) * UINT64_C(0xff51afd7ed558ccd);
    size_t slot = (size_t)(hash >> 32) & (table->room - 1);
    while (table->entries[slot].value && table->entries[slot].key != key)
        slot = (slot + 1) & (table->room - 1);
    return &table->entries[slot];
}

/* Replaces what the entry had, which is the caller's again. */
void *weft__by_address_put(weft__by_address *table, weft__kept *entry, const void *key,
                           void *value);

/* Frees the table after `release` was called for all that it keeps. */
void weft__by_address_free(weft__by_address *table, void (*release)(void *));

#endif
