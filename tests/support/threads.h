/* How many threads the process has. */
#ifndef WEFT_TESTS_THREADS_H
#define WEFT_TESTS_THREADS_H

#include <dirent.h>
#include <pthread.h>
#include <stdbool.h>
#include <time.h>

static int threads_now(void)
{
    int count = 0;
    DIR *tasks = opendir("/proc/self/task");
    for (struct dirent *entry; tasks && (entry = readdir(tasks));)
        count += entry->d_name[0] != '.';
    if (tasks)
        closedir(tasks);
    return count;
}

/* A thread that was joined may be listed for another moment, and one that compiles goes on: within
 * a time that only a hang exceeds. */
static bool threads_settle(int expected)
{
    for (int i = 0; i < 60000 && threads_now() > expected; i++) {
        struct timespec moment = {0, 1000000};
        nanosleep(&moment, NULL);
    }
    return threads_now() <= expected;
}

static void *no_thread(void *argument) { return argument; }

/* The threads there are, with those that a sanitizer adds when the first is started. */
static int threads_before(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, no_thread, NULL) == 0)
        pthread_join(thread, NULL);
    struct timespec moment = {0, 20000000};
    nanosleep(&moment, NULL);
    return threads_now();
}

#endif
