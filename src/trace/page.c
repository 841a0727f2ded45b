/* The timeline as a page: page.html, with the JSON in its place. */
#include "trace/page.h"
#include "trace/keep.h"
#include <string.h>

static const char marker[] = "@TIMELINE@";

void weft__trace_write_page(const weft__trace_list *list, FILE *file)
{
    const char *page = (const char *)embedded, *at = strstr(page, marker);
    fwrite(page, 1, (size_t)(at - page), file);
    weft__trace_write_json(list, file);
    fputs(at + sizeof marker - 1, file);
}
