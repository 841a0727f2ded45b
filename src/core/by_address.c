/* Tables by address: see the header. */
#include "core/by_address.h"
#include "core/allocate.h"

static bool grow(weft__by_address *table)
{
    weft__by_address larger = {.room = table->room ? table->room * 2 : 16, .used = table->used};
    larger.entries = weft__allocate_zeroed(larger.room * sizeof *larger.entries);
    if (!larger.entries)
        return false;
    for (size_t i = 0; i < table->room; i++)
        if (table->entries[i].value)
            *weft__by_address_at(&larger, table->entries[i].key) = table->entries[i];
    weft__free(table->entries);
    *table = larger;
    return true;
}

bool weft__by_address_reserve(weft__by_address *table)
{
    return table->used * 2 < table->room || grow(table);
}

void *weft__by_address_put(weft__by_address *table, weft__kept *entry, const void *key, void *value)
{
    void *before = entry->value;
    table->used += before ? 0 : 1;
    *entry = (weft__kept){key, value};
    return before;
}

void weft__by_address_free(weft__by_address *table, void (*release)(void *))
{
    for (size_t i = 0; i < table->room; i++)
        if (table->entries[i].value)
            release(table->entries[i].value);
    weft__free(table->entries);
    *table = (weft__by_address){NULL, 0, 0};
}
