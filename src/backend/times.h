/* When the last 1024 events of a stream with profiling were reached. */
#ifndef WEFT_BACKEND_TIMES_H
#define WEFT_BACKEND_TIMES_H

#include <stdatomic.h>
#include <weft/status.h>

typedef struct weft__times weft__times;

weft__times *weft__times_new(void); /* NULL, with the record set, if memory ran out */
void weft__times_add(weft__times *times, uint64_t sequence, uint64_t nanoseconds);
weft_status weft__times_find(const weft__times *times, uint64_t sequence, double *seconds);

#endif
