/* Threads of backends. */
#ifndef WEFT_BACKEND_THREAD_H
#define WEFT_BACKEND_THREAD_H

#include <pthread.h>

/* Starts a thread with all signals blocked; 0 or an errno. */
int weft__backend_thread_start(pthread_t *thread, const char *name, void *(*body)(void *),
                               void *argument);

#endif
