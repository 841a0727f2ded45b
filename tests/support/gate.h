/* A gate that keeps a stream busy until the test opens it, and streams that are released on every
 * way out of a test.
 */
#ifndef WEFT_TESTS_SUPPORT_GATE_H
#define WEFT_TESTS_SUPPORT_GATE_H

#include <sched.h>
#include <stdatomic.h>

#include <weft/weft.h>

struct gate {
    atomic_bool open, entered, passed;
};

/* For weft_stream_call, with the gate as the argument. */
static inline weft_status wait_at_gate(void *argument)
{
    struct gate *gate = argument;
    atomic_store(&gate->entered, true);
    while (!atomic_load(&gate->open))
        sched_yield();
    atomic_store(&gate->passed, true);
    return WEFT_OK;
}

static inline void open_gate(struct gate *gate) { atomic_store(&gate->open, true); }
static inline void release_stream(weft_stream **stream) { weft_stream_release(*stream); }

/* A stream that is declared before the gate that it waits at is released after it was opened. */
#define AUTO_GATE __attribute__((cleanup(open_gate))) struct gate
#define AUTO_STREAM __attribute__((cleanup(release_stream))) weft_stream

#endif
