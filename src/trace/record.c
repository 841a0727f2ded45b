/* Recording: each thread has a buffer to itself, and buffers are never taken away while there is a
 * timeline. */
#include "trace/keep.h"
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <time.h>

_Atomic bool weft__trace_on;
WEFT__THREAD_LOCAL uint32_t weft__trace_source;
_Atomic(weft__trace_buffer *) weft__trace_buffers;
_Atomic uint64_t weft__trace_lost;
uint64_t weft__trace_most;
weft__trace_row weft__trace_rows[WEFT__TRACE_ROWS];

static _Atomic uint64_t buffers_count;
static _Atomic bool full; /* nothing is looked for any more */
static _Atomic uint32_t rows_count, threads_count;
static _Atomic int64_t offsets[8][WEFT__TRACE_DEVICES]; /* by kind of device; 0: unknown */

static WEFT__THREAD_LOCAL weft__trace_buffer *own;
static WEFT__THREAD_LOCAL uint32_t own_row;
static pthread_key_t key; /* its destructor gives a thread's buffer to another */
static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static bool key_made;

uint64_t weft__trace_now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void end_thread(void *argument)
{
    weft__trace_buffer *buffer = argument;
    own = NULL;
    atomic_store(&buffer->owned, false);
}

static void make_key(void) { key_made = pthread_key_create(&key, end_thread) == 0; }

/* One that a thread which has ended did not fill. */
static weft__trace_buffer *take_left(void)
{
    for (weft__trace_buffer *b = atomic_load(&weft__trace_buffers); b; b = b->next) {
        bool owned = false;
        if (atomic_load(&b->count) < WEFT__TRACE_BUFFER && !atomic_load(&b->owned) &&
            atomic_compare_exchange_strong(&b->owned, &owned, true))
            return b;
    }
    return NULL;
}

/* From the system, not from malloc: the program's memory stays as it is without a timeline. */
static weft__trace_buffer *make_buffer(void)
{
    const bool room = atomic_fetch_add(&buffers_count, 1) < weft__trace_most / WEFT__TRACE_BUFFER;
    weft__trace_buffer *made =
        room ? mmap(NULL, sizeof *made, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
             : MAP_FAILED;
    if (made == MAP_FAILED) {
        atomic_store(&full, true);
        return NULL;
    }
    atomic_init(&made->owned, true);
    made->next = atomic_load(&weft__trace_buffers);
    while (!atomic_compare_exchange_weak(&weft__trace_buffers, &made->next, made))
        continue;
    return made;
}

static weft__trace_buffer *next_buffer(void)
{
    weft__trace_buffer *before = own;
    if (atomic_load_explicit(&full, memory_order_relaxed))
        return before;
    pthread_once(&key_once, make_key);
    own = take_left();
    if (!own)
        own = make_buffer();
    if (key_made && own)
        pthread_setspecific(key, own);
    if (own && before)
        atomic_store(&before->owned, false);
    else if (!own)
        own = before;
    return own;
}

static uint32_t add_row(weft_device device)
{
    uint32_t row = atomic_fetch_add(&rows_count, 1) + 1;
    if (row >= WEFT__TRACE_ROWS) {
        atomic_fetch_sub(&rows_count, 1);
        return WEFT__TRACE_ROWS - 1; /* the last is that of all others */
    }
    weft__trace_rows[row].device = device;
    return row;
}

static void name_thread(weft__trace_row *row)
{
    char name[16] = "";
    const unsigned number = atomic_fetch_add(&threads_count, 1) + 1;
    if (number == 1 || pthread_getname_np(pthread_self(), name, sizeof name) != 0)
        name[0] = 0;
    snprintf(row->name, sizeof row->name, name[0] ? "thread %u (%s)" : "thread %u", number, name);
}

static uint32_t row_of_thread(void)
{
    if (!own_row) {
        own_row = add_row(WEFT_NO_DEVICE);
        if (own_row < WEFT__TRACE_ROWS - 1)
            name_thread(&weft__trace_rows[own_row]);
    }
    return own_row;
}

uint32_t weft__trace_new_row(weft_device device, uint64_t number)
{
    const uint32_t row = add_row(device);
    if (row < WEFT__TRACE_ROWS - 1)
        snprintf(weft__trace_rows[row].name, sizeof weft__trace_rows[row].name, "%s, stream %llu",
                 weft_device_id(device), (unsigned long long)number);
    return row;
}

const char *weft__trace_row_name(uint32_t row) { return weft__trace_rows[row].name; }

weft_device weft__trace_row_device(uint32_t row) { return weft__trace_rows[row].device; }

uint32_t weft__trace_rows_count(void)
{
    const uint32_t count = atomic_load(&rows_count) + 1;
    return count < WEFT__TRACE_ROWS ? count : WEFT__TRACE_ROWS;
}

static _Atomic int64_t left = INT64_MAX; /* events that are recorded yet */

void weft__trace_closing(void) { atomic_store(&left, (int64_t)weft__trace_most); }

void weft__trace_add(const weft__trace_event *event)
{
    if (atomic_load_explicit(&left, memory_order_relaxed) != INT64_MAX &&
        atomic_fetch_sub(&left, 1) <= 0)
        atomic_store(&weft__trace_on, false);
    weft__trace_buffer *buffer = own;
    uint32_t count = buffer ? atomic_load_explicit(&buffer->count, memory_order_relaxed) : 0;
    if (!buffer || count == WEFT__TRACE_BUFFER) {
        buffer = next_buffer();
        count = buffer ? atomic_load(&buffer->count) : 0;
    }
    if (!buffer || count == WEFT__TRACE_BUFFER) {
        atomic_fetch_add(&weft__trace_lost, 1);
        return;
    }
    buffer->events[count] = *event;
    if (!event->row)
        buffer->events[count].row = row_of_thread();
    atomic_store_explicit(&buffer->count, count + 1, memory_order_release);
}

static _Atomic int64_t *offset_of(weft_device device)
{
    const bool known = device.kind >= 0 && device.kind < 8 && device.index >= 0 &&
                       device.index < WEFT__TRACE_DEVICES;
    return known ? &offsets[device.kind][device.index] : NULL;
}

/* The truth is at least this much, and no less by the delay of the fastest start; 0 is unknown. */
void weft__trace_align(weft_device device, uint64_t host, uint64_t device_time)
{
    _Atomic int64_t *offset = offset_of(device);
    const int64_t least = (int64_t)(host - device_time);
    int64_t now = offset ? atomic_load(offset) : INT64_MAX;
    while (now == 0 || now < least)
        if (atomic_compare_exchange_weak(offset, &now, least ? least : 1))
            return;
}

int64_t weft__trace_offset(weft_device device, bool *known)
{
    const _Atomic int64_t *offset = offset_of(device);
    const int64_t value = offset ? atomic_load(offset) : 0;
    *known = value != 0;
    return value;
}

/* The key goes in any case: threads may end when the library is not there any more. */
void weft__trace_buffers_close(bool alone)
{
    if (key_made)
        pthread_key_delete(key);
    key_made = false;
    if (!alone)
        return;
    weft__trace_buffer *next, *buffer = atomic_exchange(&weft__trace_buffers, NULL);
    for (; buffer; buffer = next) {
        next = buffer->next;
        munmap(buffer, sizeof *buffer);
    }
    own = NULL;
    own_row = 0;
}

/* What was recorded is the parent's; the rows of its streams stay. */
void weft__trace_buffers_forget(void)
{
    for (weft__trace_buffer *b = atomic_load(&weft__trace_buffers); b; b = b->next) {
        atomic_store(&b->count, 0);
        atomic_store(&b->owned, b == own);
    }
    atomic_store(&weft__trace_lost, 0);
    atomic_store(&full, false);
}
