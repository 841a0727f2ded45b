/* Memory that was lent with a deleter, by address. */
#include "core/lent.h"

enum { BUCKETS = 256 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static weft__buffer *buckets[BUCKETS]; /* linked through lent_next */

static weft__buffer **bucket_of(const char *data)
{
    return &buckets[((uintptr_t)data >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 56];
}

bool weft__lent_add(weft__buffer *buffer)
{
    pthread_mutex_lock(&mutex);
    weft__buffer **first = bucket_of(buffer->data), *other = *first;
    while (other && other->data != buffer->data)
        other = other->lent_next;
    if (!other) {
        buffer->lent_next = *first;
        *first = buffer;
    }
    pthread_mutex_unlock(&mutex);
    return !other;
}

void weft__lent_remove(weft__buffer *buffer)
{
    pthread_mutex_lock(&mutex);
    weft__buffer **link = bucket_of(buffer->data);
    while (*link && *link != buffer)
        link = &(*link)->lent_next;
    if (*link)
        *link = buffer->lent_next;
    pthread_mutex_unlock(&mutex);
}

void weft__lent_fork(weft__fork_stage stage) { weft__mutex_fork(&mutex, stage); }
