/* Streams and events that are released at the end of their block, and gates that hold a stream for
 * as long as a test wants.
 *
 *     AUTO_STREAM stream = weft_stream_new(WEFT_CPU, .async = true);
 *     AUTO_GATE gate = GATE;
 *     CHECK_STATUS(hold(stream, &gate), WEFT_OK);
 *     ... what is queued now cannot begin ...
 *     gate_open(&gate);
 *
 * A gate is declared after the streams it holds: it then opens before they are released, also when
 * a check fails.
 */
#ifndef WEFT_TESTS_SUPPORT_GATE_H
#define WEFT_TESTS_SUPPORT_GATE_H

#include <pthread.h>
#include <stdbool.h>
#include <weft/weft.h>

static inline void auto_stream(weft_stream **stream) { weft_stream_release(*stream); }
static inline void auto_event(weft_event **event) { weft_event_release(*event); }
#define AUTO_STREAM __attribute__((cleanup(auto_stream), unused)) weft_stream *
#define AUTO_EVENT __attribute__((cleanup(auto_event), unused)) weft_event *

typedef struct stream_gate {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool open, entered;
} stream_gate;

#define GATE                                                                                       \
    {                                                                                              \
        PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false, false                          \
    }
#define AUTO_GATE __attribute__((cleanup(gate_open), unused)) stream_gate

static inline void gate_open(stream_gate *g)
{
    pthread_mutex_lock(&g->mutex);
    g->open = true;
    pthread_cond_broadcast(&g->changed);
    pthread_mutex_unlock(&g->mutex);
}

/* A weft_stream_function: waits until the gate is open. */
static inline weft_status gate_pass(void *argument)
{
    stream_gate *g = argument;
    pthread_mutex_lock(&g->mutex);
    g->entered = true;
    pthread_cond_broadcast(&g->changed);
    while (!g->open)
        pthread_cond_wait(&g->changed, &g->mutex);
    pthread_mutex_unlock(&g->mutex);
    return WEFT_OK;
}

/* Waits until something stands at the gate. */
static inline void gate_wait_entered(stream_gate *g)
{
    pthread_mutex_lock(&g->mutex);
    while (!g->entered && !g->open)
        pthread_cond_wait(&g->changed, &g->mutex);
    pthread_mutex_unlock(&g->mutex);
}

static inline weft_status hold(weft_stream *stream, stream_gate *g)
{
    return weft_stream_call(stream, gate_pass, g, .name = "hold");
}

#endif
