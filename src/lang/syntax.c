/* Making and freeing a syntax, and arrays that grow. */
#include "lang/syntax.h"
#include "core/allocate.h"
#include <string.h>

enum { FIRST_ROOM = 16 };

weft_status weft__lang_room(void *items, uint32_t count, uint32_t *room, size_t size)
{
    void *old, *grown;
    uint32_t wanted = *room ? 2 * *room : FIRST_ROOM;
    if (count < *room)
        return WEFT_OK;
    memcpy(&old, items, sizeof old);
    grown = weft__reallocate(old, wanted * size);
    if (!grown)
        return WEFT_ERROR_MEMORY;
    memcpy(items, &grown, sizeof grown);
    *room = wanted;
    return WEFT_OK;
}

void weft__lang_syntax_free(weft__lang_syntax *syntax)
{
    if (!syntax)
        return;
    weft__free(syntax->text);
    weft__free(syntax->names);
    weft__free(syntax->nodes);
    weft__free(syntax->arguments);
    weft__free(syntax->attributes);
    weft__free(syntax->statements);
    weft__free(syntax->shapes);
    weft__free(syntax);
}
