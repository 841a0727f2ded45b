/* Starting threads. */
#include "backend/thread.h"
#include <errno.h>
#include <signal.h>

/* Users' functions and kernels run on these stacks, which also hold the program's thread-local
 * variables; pages that are not touched cost nothing. */
enum { STACK_BYTES = 4 << 20 };

/* What a thread does to itself: the user's handler, if there is one, is the only one who can say
 * that a mapped file was shortened. */
static const int faults[] = {SIGBUS, SIGSEGV, SIGFPE, SIGILL};

int weft__backend_thread_start(pthread_t *thread, const char *name, void *(*body)(void *),
                               void *argument)
{
    pthread_attr_t attributes;
    sigset_t all, before;
    int error = pthread_attr_init(&attributes);
    if (error)
        return error;
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    sigfillset(&all);
    for (size_t k = 0; k < sizeof faults / sizeof faults[0]; k++)
        sigdelset(&all, faults[k]);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* inherited: signals are for the user's threads */
    error = pthread_create(thread, &attributes, body, argument);
    if (error == EINVAL) /* the program's thread-local variables do not fit into the stack */
        error = pthread_create(thread, NULL, body, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    if (!error)
        pthread_setname_np(*thread, name);
    return error;
}
