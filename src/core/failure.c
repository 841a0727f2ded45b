/* Failures of queued work, shared by the stream and the arrays that were to be made. */
#include "core/failure.h"
#include "core/allocate.h"
#include "core/library.h"
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum {
    UNTOLD_MAX = 64, /* later ones are forgotten: nobody asks this stream how it goes */
    SPARES = 16
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* guards all lists */

/* For when memory has run out: each can be told on its own. Without references it is free. */
static weft__failure spares[SPARES];

/* For when those have, too. */
static weft__failure no_memory = {
    .references = 1,
    .error = {.code = WEFT_ERROR_MEMORY,
              .message = "queued work failed, and there was no memory left to say how"}};

/* With one reference, or NULL. */
static weft__failure *take_spare(void)
{
    for (int i = 0; i < SPARES; i++) {
        int none = 0;
        if (atomic_compare_exchange_strong(&spares[i].references, &none, 1))
            return &spares[i];
    }
    return NULL;
}

static bool is_spare(const weft__failure *failure)
{
    return failure >= spares && failure < spares + SPARES;
}

weft__failure *weft__failure_new(const char *operation)
{
    weft_error error = *weft_error_last();
    weft__failure *failure = weft__allocate(sizeof *failure);
    if (failure)
        atomic_init(&failure->references, 1);
    else if (!(failure = take_spare()))
        return weft__failure_retain(&no_memory);
    atomic_store(&failure->reported, false);
    failure->next = NULL;
    failure->error = error;
    snprintf(failure->error.operation, sizeof error.operation, "%s", operation);
    return failure;
}

weft__failure *weft__failure_retain(weft__failure *failure)
{
    atomic_fetch_add(&failure->references, 1);
    return failure;
}

void weft__failure_release(weft__failure *failure)
{
    if (failure && atomic_fetch_sub(&failure->references, 1) == 1 && !is_spare(failure))
        weft__free(failure);
}

weft_status weft__failure_report(weft__failure *failure, weft_status code)
{
    const char *what = code == WEFT_ERROR_RESULT ? "the array was never computed, because "
                                                 : "work queued earlier on this stream failed: ";
    const char *operation = failure->error.operation, *message = failure->error.message;
    bool named = !strncmp(message, operation, strlen(operation));
    if (failure != &no_memory)
        atomic_store(&failure->reported, true);
    return FAIL(code, "%s%s%s%.450s", what, named ? "" : operation, named ? "" : ": ", message);
}

void weft__failures_add(weft__failures *list, weft__failure *failure)
{
    pthread_mutex_lock(&mutex);
    bool full = atomic_load(&list->count) >= UNTOLD_MAX;
    if (failure == &no_memory) {
        atomic_fetch_add(&list->count, !list->nameless);
        list->nameless = true;
    } else if (!full) {
        *(list->first ? &list->last->next : &list->first) = weft__failure_retain(failure);
        list->last = failure;
        atomic_fetch_add(&list->count, 1);
    }
    pthread_mutex_unlock(&mutex);
}

weft__failure *weft__failures_take(weft__failures *list)
{
    weft__failure *failure = NULL;
    pthread_mutex_lock(&mutex);
    if (list->first) {
        failure = list->first;
        list->first = failure->next;
        failure->next = NULL;
    } else if (list->nameless) {
        list->nameless = false;
        failure = weft__failure_retain(&no_memory);
    }
    atomic_fetch_sub(&list->count, failure != NULL);
    pthread_mutex_unlock(&mutex);
    return failure;
}

void weft__failures_drop(weft__failures *list)
{
    for (weft__failure *failure; (failure = weft__failures_take(list));)
        weft__failure_release(failure);
}

void weft__failures_fork(weft__fork_stage stage) { weft__mutex_fork(&mutex, stage); }
