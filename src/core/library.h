/* The library as a whole: what happens at its first use, around fork, and when it is unloaded. */
#ifndef WEFT_CORE_LIBRARY_H
#define WEFT_CORE_LIBRARY_H

#include <pthread.h>

typedef enum weft__fork_stage {
    WEFT__FORK_PREPARE,
    WEFT__FORK_PARENT,
    WEFT__FORK_CHILD
} weft__fork_stage;

/* Around fork a mutex is held, so that what it guards is whole in the child. */
void weft__mutex_fork(pthread_mutex_t *mutex, weft__fork_stage stage);
/* Layers above register what holds their mutexes; the same hook again is not added twice. */
void weft__library_on_fork(void (*hook)(weft__fork_stage stage));

/* Layers above register what ends their threads, when the library is unloaded or the process exits,
 * after those of the backends. */
void weft__library_on_close(void (*hook)(void));

/* Called once, when the devices are known. */
void weft__library_open(void);

#endif
