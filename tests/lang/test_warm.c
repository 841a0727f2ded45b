/* Warm calls: no lock, no allocation, nothing compiled; and what is kept of the last call is not
 * used where the next one differs. */
#include "core/allocate.h"
#include "core/buffer.h"
#include "kernel/background.h"
#include "support/check.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft/weft.h>

enum { SITES = 200, TEXT = 96 };

static _Thread_local int64_t mutexes; /* that this thread has locked */

#if !defined __SANITIZE_THREAD__ && !defined __SANITIZE_ADDRESS__
/* Stands before the C library's, for the library under test too. */
int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    static int (*_Atomic real)(pthread_mutex_t *);
    int (*known)(pthread_mutex_t *) = real;
    if (!known) {
        void *found = dlsym(RTLD_NEXT, "pthread_mutex_lock");
        memcpy(&known, &found, sizeof known);
        real = known;
    }
    mutexes++;
    return known(mutex);
}
#endif

static int64_t locks(void) { return mutexes + (int64_t)weft__buffer_locks(); }

static void auto_stream(weft_stream **stream) { weft_stream_release(*stream); }
#define AUTO_STREAM __attribute__((cleanup(auto_stream), unused)) weft_stream *

static weft_array *full(weft_shape shape, float value)
{
    return weft_full(shape, value, .device = weft_device_named(test_device()));
}

/* Call sites as the macro makes them, each with a text of its own. */
static char texts[SITES][TEXT];

static size_t write_site(int site, const char *code, const char *operands)
{
    int place = snprintf(texts[site], TEXT, "file.c:%d", site);
    char *at = texts[site] + place + 1;
    size_t code_bytes = strlen(code) + 1, operand_bytes = strlen(operands);
    memcpy(at, code, code_bytes);
    memcpy(at + code_bytes, operands, operand_bytes + 1);
    return (size_t)place + 1 + code_bytes + operand_bytes;
}

static const char expression[] = "c += 1.0f/a + 2.0f*a*b";

static weft_status call_site(int site, size_t length, weft_array *a, weft_array *b, weft_array *c)
{
    const weft_operand operands[] = {WEFT_OPERAND(a), WEFT_OPERAND(b), WEFT_OPERAND(c)};
    return weft_evaluate_site(texts[site], length, 3, operands);
}

static void check_warm(weft_shape shape)
{
    WEFT_AUTO weft_array *a = full(shape, 2), *b = full(shape, 3), *c = full(shape, 0);
    size_t length[SITES];
    weft_statistics before, after;
    CHECK(a && b && c);
    for (int i = 0; i < SITES; i++) {
        length[i] = write_site(i, expression, "a, b, c");
        CHECK_STATUS(call_site(i, length[i], a, b, c), WEFT_OK);
    }
    weft__background_wait(); /* for the compiler, which allocates */
    CHECK_STATUS(weft_memory_stats(WEFT_CPU, &before), WEFT_OK);
    int64_t taken = locks();
    weft__allocation_fail_at(1);
    weft_status status = WEFT_OK;
    for (int i = 0; i < 2 * SITES && status == WEFT_OK; i++)
        status = call_site(i % SITES, length[i % SITES], a, b, c);
    taken = locks() - taken;
    bool allocated = weft__allocation_failed();
    weft__allocation_fail_at(0);
    CHECK_STATUS(status, WEFT_OK);
    CHECK(!allocated);
    CHECK_INT(taken, 0);
    CHECK_STATUS(weft_memory_stats(WEFT_CPU, &after), WEFT_OK);
    CHECK_INT(after.launches - before.launches, 2 * SITES);
    CHECK_INT(after.compilations - before.compilations, 0);
    float value;
    CHECK_STATUS(weft_value(&value, max(c), c), WEFT_OK);
    CHECK(value == 3 * SITES * 12.5f); /* each adds 0.5 + 12, exactly */
}

TEST(X1_a_warm_call_takes_no_lock_and_allocates_nothing)
{
    const weft_shape shapes[] = {WEFT_SHAPE(1024), WEFT_SHAPE(4, 16, 16),
                                 WEFT_SHAPE(2, 2, 2, 2, 4, 4, 2, 2)};
    if (strcmp(test_device(), "cpu") != 0)
        SKIP("a launch on a GPU takes the lock of its stream");
    for (int i = 0; i < 3; i++)
        check_warm(shapes[i]);
}

/* Numbers, several results, repeated rows, reductions: all the same. */
TEST(X1_other_warm_calls_too)
{
    WEFT_AUTO weft_array *a = full(WEFT_SHAPE(8, 16), 2), *row = full(WEFT_SHAPE(16), 3);
    WEFT_AUTO weft_array *c = full(WEFT_SHAPE(8, 16), 0), *d = full(WEFT_SHAPE(8, 16), 0);
    WEFT_AUTO weft_array *sums = full(WEFT_SHAPE(8), 0);
    int64_t taken = 0;
    bool allocated = false;
    CHECK(a && row && c && d && sums);
    if (strcmp(test_device(), "cpu") != 0)
        SKIP("a launch on a GPU takes the lock of its stream");
    for (int round = -1; round < 3; round++) {
        float factor = (float)round;
        if (round == 1) { /* the first was cold, the second had the kernel compiled */
            weft__background_wait();
            taken = locks();
            weft__allocation_fail_at(1);
        }
        weft_status status = weft(m = a * row; c = m + factor; d = m - 1, a, row, c, d, factor);
        if (status == WEFT_OK)
            status = weft(sums = sum(a * c, axis = 1), a, c, sums);
        if (round == 2) {
            taken = locks() - taken;
            allocated = weft__allocation_failed();
            weft__allocation_fail_at(0);
        }
        CHECK_STATUS(status, WEFT_OK);
    }
    CHECK(!allocated);
    CHECK_INT(taken, 0);
    float low, high;
    CHECK_STATUS(weft_value(&low, min(d), d), WEFT_OK);
    CHECK_STATUS(weft_value(&high, max(sums), sums), WEFT_OK);
    CHECK(low == 5 && high == 16 * 2 * 8);
}

/* One site, called with arrays of every other kind: nothing of the call before is left. */
static weft_status scale(weft_array *to, weft_array *from, float by)
{
    return weft(to = from * by, to, from, by);
}

static weft_array *count_up(int count)
{
    return weft_arange(0, count, 1, .dtype = WEFT_F32, .device = weft_device_named(test_device()));
}

static bool holds(weft_array *array, const float *expected, int count)
{
    float data[16];
    return weft_copy_to_host(array, data, (size_t)count * sizeof *data) == WEFT_OK &&
           memcmp(data, expected, (size_t)count * sizeof *data) == 0;
}

TEST(X1_one_site_with_other_layouts)
{
    WEFT_AUTO weft_array *a = count_up(8), *b = full(WEFT_SHAPE(4), 0);
    WEFT_AUTO weft_array *even = weft_slice(a, WEFT_STEP(0, 8, 2));
    WEFT_AUTO weft_array *back = weft_slice(a, WEFT_STEP(7, -9, -2));
    WEFT_AUTO weft_array *first = weft_slice(a, WEFT_RANGE(0, 4));
    WEFT_AUTO weft_array *reversed = weft_slice(b, WEFT_STEP(3, -5, -1));
    CHECK(a && b && even && back && first && reversed);
    for (int round = 0; round < 2; round++) {
        CHECK_STATUS(scale(b, first, 1), WEFT_OK);
        CHECK(holds(b, (float[]){0, 1, 2, 3}, 4));
        CHECK_STATUS(scale(b, even, 2), WEFT_OK);
        CHECK(holds(b, (float[]){0, 4, 8, 12}, 4));
        CHECK_STATUS(scale(b, back, 3), WEFT_OK);
        CHECK(holds(b, (float[]){21, 15, 9, 3}, 4));
        CHECK_STATUS(scale(reversed, back, -1), WEFT_OK);
        CHECK(holds(b, (float[]){-1, -3, -5, -7}, 4));
    }
}

/* The layouts are the same each time, and only the addresses say that the operands overlap. */
TEST(X1_one_site_with_operands_that_overlap)
{
    for (int step = 0; step < 4; step++) {
        WEFT_AUTO weft_array *a = count_up(8), *other = count_up(8);
        WEFT_AUTO weft_array *to = weft_slice(a, WEFT_RANGE(step, 4 + step));
        WEFT_AUTO weft_array *from = weft_slice(a, WEFT_RANGE(0, 4));
        WEFT_AUTO weft_array *apart = weft_slice(other, WEFT_RANGE(0, 4));
        CHECK(a && other && to && from && apart);
        CHECK_STATUS(scale(apart, from, 1), WEFT_OK);
        CHECK_STATUS(scale(to, from, 2), WEFT_OK);
        CHECK(holds(to, (float[]){0, 2, 4, 6}, 4));
        CHECK(holds(apart, (float[]){0, 1, 2, 3}, 4));
    }
}

/* Other dtypes, other shapes, a handle, a number that becomes an array. */
TEST(X1_one_site_with_other_types)
{
    for (int round = 0; round < 2; round++) {
        WEFT_AUTO weft_array *a = count_up(4), *b = count_up(2);
        WEFT_AUTO weft_array *handle = weft_handle(.device = weft_device_named(test_device()));
        WEFT_AUTO weft_array *f64 = weft_new(f64(a), a);
        CHECK(a && handle && b && f64);
        CHECK_STATUS(scale(handle, a, 2), WEFT_OK);
        CHECK(holds(handle, (float[]){0, 2, 4, 6}, 4));
        CHECK_STATUS(scale(handle, a, 3), WEFT_OK);
        CHECK(holds(handle, (float[]){0, 3, 6, 9}, 4));
        CHECK_STATUS(scale(b, a, 3), WEFT_ERROR_SHAPE);
        weft_error_clear();
        CHECK_STATUS(scale(f64, f64, 0.5f), WEFT_OK);
        CHECK_STATUS(scale(a, f64, 2), WEFT_OK);
        CHECK(holds(a, (float[]){0, 1, 2, 3}, 4));
        CHECK_STATUS(scale(NULL, a, 2), WEFT_ERROR_ARGUMENT);
        weft_error_clear();
    }
}

/* The handles are those of the last call, but not what they stand for. */
TEST(X1_one_site_with_operands_that_change)
{
    const weft_device device = weft_device_named(test_device());
    WEFT_AUTO weft_array *a = count_up(4), *b = count_up(4);
    CHECK(a && b);
    for (int i = 0; i < 3; i++)
        CHECK_STATUS(scale(b, a, 2), WEFT_OK);
    CHECK_STATUS(weft_resize(b, WEFT_SHAPE(2, 4)), WEFT_OK);
    CHECK_STATUS(scale(b, a, 3), WEFT_OK);
    CHECK(holds(b, (float[]){0, 3, 6, 9, 0, 3, 6, 9}, 8));
    CHECK_STATUS(weft_resize(b, WEFT_SHAPE(4)),
                 WEFT_OK); /* other memory, maybe, of the old shape */
    CHECK_STATUS(scale(b, a, 4), WEFT_OK);
    CHECK(holds(b, (float[]){0, 4, 8, 12}, 4));
    for (int i = 0; i < 4; i++) { /* a new array is likely to be where the last one was */
        WEFT_AUTO weft_array *from =
            weft_full(WEFT_SHAPE(4), i, .dtype = i % 2 ? WEFT_F32 : WEFT_F64, .device = device);
        CHECK(from);
        CHECK_STATUS(scale(b, from, 2), WEFT_OK);
        CHECK_STATUS(scale(b, from, 1), WEFT_OK);
        const float expected = (float)i;
        CHECK(holds(b, (float[]){expected, expected, expected, expected}, 4));
    }
}

/* What a call does on memory that is lent is up to the thread, each time. */
TEST(D5_a_site_with_lent_memory)
{
    float from[4] = {1, 2, 3, 4}, to[4] = {0};
    WEFT_AUTO weft_array *a = weft_borrow(from, sizeof from, WEFT_SHAPE(4), WEFT_F32);
    WEFT_AUTO weft_array *b = weft_borrow(to, sizeof to, WEFT_SHAPE(4), WEFT_F32);
    CHECK(a && b);
    for (int i = 0; i < 3; i++)
        CHECK_STATUS(scale(b, a, 2), WEFT_OK);
    CHECK(to[0] == 2 && to[3] == 8);
    weft_lent_forbid(true);
    weft_status refused = scale(b, a, 3);
    weft_lent_forbid(false);
    CHECK_STATUS(refused, WEFT_ERROR_PLACEMENT);
    weft_error_clear();
    CHECK(to[0] == 2 && to[3] == 8);
    from[3] = 5;
    CHECK_STATUS(scale(b, a, 4), WEFT_OK);
    CHECK(to[0] == 4 && to[3] == 20);
}

/* The current stream is that of each call. */
TEST(S2_a_site_on_another_stream)
{
    const weft_device device = weft_device_named(test_device());
    WEFT_AUTO weft_array *a = count_up(4), *b = count_up(4);
    AUTO_STREAM stream = weft_stream_new(device, .async = true);
    CHECK(a && b && stream);
    for (int round = 0; round < 3; round++) {
        CHECK_STATUS(scale(b, a, 2), WEFT_OK);
        CHECK_STATUS(scale(b, a, 3), WEFT_OK);
        CHECK_STATUS(weft_stream_set_current(device, stream), WEFT_OK);
        weft_status first = scale(b, a, 5), second = scale(a, b, 1);
        CHECK_STATUS(weft_stream_set_current(device, NULL), WEFT_OK);
        CHECK_STATUS(first, WEFT_OK);
        CHECK_STATUS(second, WEFT_OK);
        CHECK_STATUS(scale(a, b, 0.2f), WEFT_OK);
        CHECK(holds(b, (float[]){0, 5, 10, 15}, 4));
        CHECK(holds(a, (float[]){0, 1, 2, 3}, 4));
    }
}

/* After a reset nothing that was kept is used. */
TEST(D3_a_site_works_after_a_reset)
{
    WEFT_AUTO weft_array *a = count_up(4), *b = count_up(4);
    CHECK(a && b);
    for (int round = 0; round < 3; round++) {
        CHECK_STATUS(scale(b, a, (float)round), WEFT_OK);
        CHECK_STATUS(weft_device_reset(weft_device_named(test_device())), WEFT_OK);
        CHECK(holds(b, (float[]){0, (float)round, 2 * (float)round, 3 * (float)round}, 4));
    }
}

static void *scale_in_thread(void *argument)
{
    weft_array **arrays = argument;
    for (int i = 0; i < 100; i++)
        if (scale(arrays[1], arrays[0], 2) != WEFT_OK)
            return argument;
    return NULL;
}

TEST(D3_a_reset_by_another_thread)
{
    WEFT_AUTO weft_array *a = count_up(4), *b = count_up(4);
    weft_array *arrays[] = {a, b};
    pthread_t thread;
    void *failed = NULL;
    CHECK(a && b);
    CHECK_INT(pthread_create(&thread, NULL, scale_in_thread, arrays), 0);
    for (int i = 0; i < 10; i++)
        weft_device_reset(weft_device_named(test_device()));
    pthread_join(thread, &failed);
    CHECK(!failed);
    CHECK(holds(b, (float[]){0, 2, 4, 6}, 4));
}

/* An allocator of the user's that calls the site that is running it. */
typedef struct inner_call {
    weft_array *to, *from;
    weft_status status;
} inner_call;

static void *allocate_and_call(void *context, size_t bytes, weft_device device)
{
    inner_call *call = context;
    (void)device;
    call->status = scale(call->to, call->from, 5);
    return aligned_alloc(64, (bytes + 63) / 64 * 64);
}

static void release_memory(void *context, void *data, size_t bytes, weft_device device)
{
    (void)context, (void)bytes, (void)device;
    free(data);
}

TEST(X1_a_site_inside_itself)
{
    if (strcmp(test_device(), "cpu") != 0)
        SKIP("memory of the C library is the CPU's");
    WEFT_AUTO weft_array *a = count_up(4), *b = count_up(4);
    inner_call call = {b, a, WEFT_ERROR_SYSTEM};
    weft_user_allocator allocator = {
        .allocate = allocate_and_call, .release = release_memory, .context = &call};
    WEFT_AUTO weft_array *handle =
        weft_handle(.user_allocator = &allocator, .device = weft_device_named(test_device()));
    CHECK(a && b && handle);
    CHECK_STATUS(scale(handle, a, 2), WEFT_OK);
    CHECK_STATUS(call.status, WEFT_OK);
    CHECK(holds(b, (float[]){0, 5, 10, 15}, 4));
    CHECK(holds(handle, (float[]){0, 2, 4, 6}, 4));
}

/* Code made at run time is parsed once as well, whoever writes its text. */
TEST(X1_the_same_code_made_again)
{
    WEFT_AUTO weft_array *a = count_up(4), *b = count_up(4);
    const char *names[] = {"to", "from"}, *swapped[] = {"from", "to"};
    CHECK(a && b);
    const weft_operand operands[] = {WEFT_OPERAND(b), WEFT_OPERAND(a)};
    const weft_operand others[] = {WEFT_OPERAND(a), WEFT_OPERAND(b)};
    for (int i = 0; i < (test_faults() ? 3 : test_quick() ? 20 : 2000); i++) {
        char code[64];
        snprintf(code, sizeof code, "to = from*%d", i % 1000);
        CHECK_STATUS(weft_evaluate(code, 2, names, operands), WEFT_OK);
        const float factor = (float)(i % 1000);
        CHECK(holds(b, (float[]){0, factor, 2 * factor, 3 * factor}, 4));
    }
    CHECK_STATUS(weft_evaluate("to = from*2", 2, names, operands), WEFT_OK);
    CHECK_STATUS(weft_evaluate("to = from*2", 2, swapped, others), WEFT_OK);
    CHECK(holds(b, (float[]){0, 2, 4, 6}, 4));
    CHECK_STATUS(weft_evaluate("to = from*", 2, names, operands), WEFT_ERROR_SYNTAX);
    CHECK_STATUS(weft_evaluate("to = from*2", 2, names, operands), WEFT_OK);
}

TEST_MAIN(TEST_NO_FAULTS(X1_a_warm_call_takes_no_lock_and_allocates_nothing,
                         "it makes allocations fail itself"),
          TEST_NO_FAULTS(X1_other_warm_calls_too, "it makes allocations fail itself"),
          TEST_OF(X1_one_site_with_other_layouts), TEST_OF(X1_one_site_with_operands_that_overlap),
          TEST_OF(X1_one_site_with_other_types), TEST_OF(X1_one_site_with_operands_that_change),
          TEST_OF(D5_a_site_with_lent_memory), TEST_OF(S2_a_site_on_another_stream),
          TEST_OF(D3_a_site_works_after_a_reset), TEST_OF(D3_a_reset_by_another_thread),
          TEST_OF(X1_a_site_inside_itself), TEST_OF(X1_the_same_code_made_again));
