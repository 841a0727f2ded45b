/* What a hostile user finds: odd alignment, small stacks, counts that wrap, modes, environments. */
#include "support/check.h"
#include "support/streams.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <weft/weft.h>
#if defined __x86_64__
#include <xmmintrin.h>
#endif

/* Complex elements need only be aligned to their parts, and stepped by them. */
TEST(A2_complex_elements_aligned_to_their_parts)
{
    float lent[40], expected[10], out[10];
    const int64_t strides[] = {12};
    for (int i = 0; i < 40; i++)
        lent[i] = (float)i;
    for (int i = 0; i < 5; i++) {
        expected[2 * i] = lent[1 + 3 * i];
        expected[2 * i + 1] = lent[2 + 3 * i];
    }
    WEFT_AUTO weft_array *odd = weft_borrow(lent + 1, sizeof lent - sizeof *lent, WEFT_SHAPE(5),
                                            WEFT_C64, .strides = strides);
    CHECK(odd);
    CHECK_STATUS(weft_copy_to_host(odd, out, sizeof out), WEFT_OK);
    CHECK_BITS(out, expected, sizeof out);
    WEFT_AUTO weft_array *copy = weft_copy(odd);
    CHECK(copy);
    CHECK_STATUS(weft_copy_to_host(copy, out, sizeof out), WEFT_OK);
    CHECK_BITS(out, expected, sizeof out);
    CHECK_STATUS(weft_copy_from_host(odd, expected, sizeof expected), WEFT_OK);
    CHECK(lent[1] == 1 && lent[2] == 2 && lent[3] == 3 && lent[4] == 4);
}

TEST(A3_host_memory_at_any_address)
{
    char raw[8 * 100 + 1], back[8 * 100 + 3];
    for (size_t i = 0; i < sizeof raw; i++)
        raw[i] = (char)i;
    WEFT_AUTO weft_array *a =
        weft_from_host(raw + 1, sizeof raw - 1, WEFT_SHAPE(100), .dtype = WEFT_U64);
    CHECK(a);
    CHECK_STATUS(weft_copy_to_host(a, back + 3, sizeof back - 3), WEFT_OK);
    CHECK_BITS(back + 3, raw + 1, sizeof raw - 1);
}

static void *compute_on_small_stack(void *argument)
{
    WEFT_AUTO weft_array *a = weft_ones(WEFT_SHAPE(300, 50));
    WEFT_AUTO weft_array *c = weft_ones(WEFT_SHAPE(50, 300));
    WEFT_AUTO weft_array *t = weft_transpose(a);
    WEFT_AUTO weft_array *b = weft_cast(t, WEFT_F16);
    WEFT_AUTO weft_array *sums = weft_sum(t, .axes = WEFT_AXES(1));
    WEFT_AUTO weft_array *powers = weft_new(pow(t, 3 * c) + erf(0 * t), c, t);
    double value = 0, sum = 0, power = 0;
    *(bool *)argument = b && weft_item(b, &value) == WEFT_OK && value == 1 && sums &&
                        weft_item(sums, &sum) == WEFT_OK && sum == 300 && powers &&
                        weft_item(powers, &power) == WEFT_OK && power == 1;
    return NULL;
}

TEST(A2_computing_on_a_small_stack)
{
    enum { SMALL = 64 << 10 };
    pthread_attr_t attributes;
    pthread_t thread;
    bool fine = false;
    if (test_quick())
        SKIP("sanitizers and emulators need more stack");
    pthread_attr_init(&attributes);
    int error = pthread_attr_setstacksize(&attributes, SMALL);
    if (error == 0)
        error = pthread_create(&thread, &attributes, compute_on_small_stack, &fine);
    pthread_attr_destroy(&attributes);
    CHECK_INT(error, 0);
    pthread_join(thread, NULL);
    CHECK(fine);
}

static weft_status nothing(void *argument)
{
    (void)argument;
    return WEFT_OK;
}

TEST(S3_call_lists_are_checked)
{
    weft_stream *stream = weft_stream_current(WEFT_CPU);
    WEFT_AUTO weft_array *a = weft_ones(WEFT_SHAPE(2));
    weft_array *arrays[] = {a, a, a};
    CHECK(stream && a);
    CHECK_STATUS(weft_stream_call(stream, nothing, NULL, .reads = arrays,
                                  .reads_count = SIZE_MAX - 1, .writes = arrays, .writes_count = 3),
                 WEFT_ERROR_ARGUMENT);
    CHECK_STATUS(weft_stream_call(stream, nothing, NULL, .reads_count = 2), WEFT_ERROR_ARGUMENT);
    CHECK_ERROR(WEFT_ERROR_ARGUMENT, "reads");
    CHECK_STATUS(weft_stream_call(stream, NULL, NULL), WEFT_ERROR_ARGUMENT);
    CHECK_ERROR(WEFT_ERROR_ARGUMENT, "function is NULL");
}

/* The name of a call is the user's, who frees it when the call is done. */
TEST(S3_names_of_calls_are_not_kept)
{
    char *name = strdup("a name of the user's");
    CHECK(name);
    weft_status status =
        weft_stream_call(weft_stream_current(WEFT_CPU), nothing, NULL, .name = name);
    memset(name, 'x', strlen(name));
    free(name);
    CHECK_STATUS(status, WEFT_OK);
    weft_error_set(WEFT_ERROR_CALLBACK, "after");
    CHECK(!strstr(weft_error_last()->operation, "xxx"));
}

static weft_status strange(void *argument)
{
    (void)argument;
    return (weft_status)-77;
}

TEST(S6_a_strange_status_is_a_failed_callback)
{
    CHECK_STATUS(weft_stream_call(weft_stream_current(WEFT_CPU), strange, NULL),
                 WEFT_ERROR_CALLBACK);
}

TEST(A1_empty_with_huge_other_axes)
{
    WEFT_AUTO weft_array *a = weft_zeros(WEFT_SHAPE((int64_t)1 << 40, (int64_t)1 << 40, 0));
    CHECK(a);
    CHECK_INT(weft_array_count(a), 0);
    WEFT_AUTO weft_array *b = weft_copy(a);
    CHECK(b);
    CHECK_STATUS(weft_assign(b, a), WEFT_OK);
    char text[16];
    size_t length;
    CHECK_STATUS(weft_format(b, text, sizeof text, &length), WEFT_OK);
    CHECK_STR(text, "[]");
    int64_t index;
    const int64_t position[] = {5, 5, 0};
    CHECK_STATUS(weft_shape_index(weft_array_shape(a), position, &index), WEFT_ERROR_SHAPE);
}

TEST(A2_a_row_of_a_broadcast_can_be_written)
{
    WEFT_AUTO weft_array *a = weft_zeros(WEFT_SHAPE(3));
    WEFT_AUTO weft_array *wide = weft_broadcast(a, WEFT_SHAPE(4, 3));
    WEFT_AUTO weft_array *row = weft_slice(wide, WEFT_AT(2));
    CHECK(row);
    CHECK_STATUS(weft_fill(wide, 1), WEFT_ERROR_SHAPE);
    CHECK_STATUS(weft_fill(row, 1), WEFT_OK);
    float values[3];
    CHECK_STATUS(weft_copy_to_host(a, values, sizeof values), WEFT_OK);
    CHECK(values[0] == 1 && values[1] == 1 && values[2] == 1);
}

TEST(A4_creation_in_any_mode_of_the_cpu)
{
#if defined __x86_64__
    unsigned before = _mm_getcsr();
    _mm_setcsr(before | 0x8040); /* subnormals off */
    WEFT_AUTO weft_array *line = weft_linspace(0, 1e-310, 3, .dtype = WEFT_F64);
    WEFT_AUTO weft_array *range = weft_arange(0, 4e-310, 1e-310, .dtype = WEFT_F64);
    _mm_setcsr(before);
    CHECK(line && range);
    double values[3];
    CHECK_STATUS(weft_copy_to_host(line, values, sizeof values), WEFT_OK);
    CHECK(values[1] == 5e-311);
    CHECK_INT(weft_array_count(range), 4);
#else
    SKIP("only x86-64 can turn subnormals off here");
#endif
}

static void *cache_and_wait(void *argument)
{
    stream_gate *g = argument;
    weft_array *arrays[8];
    for (int i = 0; i < 8; i++)
        arrays[i] = weft_empty(WEFT_SHAPE(64 << 10), .dtype = WEFT_U8);
    for (int i = 0; i < 8; i++)
        weft_array_release(arrays[i]);
    gate_pass(g);
    return NULL;
}

TEST(M5_small_caches_of_other_threads_are_no_lack_of_memory)
{
    AUTO_GATE g = GATE;
    pthread_t thread;
    CHECK_INT(pthread_create(&thread, NULL, cache_and_wait, &g), 0);
    gate_wait_entered(&g);
    weft_memory_trim(WEFT_CPU, 0);
    weft_statistics s;
    weft_memory_stats(WEFT_CPU, &s);
    weft_memory_set_limit(WEFT_CPU, s.bytes_in_use + (1 << 20));
    weft_array *large = weft_empty(WEFT_SHAPE(720000), .dtype = WEFT_U8);
    weft_memory_set_limit(WEFT_CPU, 0);
    gate_open(&g);
    pthread_join(thread, NULL);
    bool made = large != NULL;
    weft_array_release(large);
    CHECK(made);
}

TEST(M5_an_unreadable_limit_is_an_error)
{
    if (!test_alone()) {
        setenv("WEFT_MEMORY_LIMIT", "10 apples", 1);
        bool passes = test_passes_alone("M5_an_unreadable_limit_is_an_error");
        unsetenv("WEFT_MEMORY_LIMIT");
        CHECK(passes);
        return;
    }
    WEFT_AUTO weft_array *a = weft_empty(WEFT_SHAPE(10));
    CHECK(!a);
    CHECK_ERROR(WEFT_ERROR_ARGUMENT, "10 apples");
}

TEST(M5_a_limit_from_the_environment)
{
    if (!test_alone()) {
        setenv("WEFT_MEMORY_LIMIT", "1M", 1);
        bool passes = test_passes_alone("M5_a_limit_from_the_environment");
        unsetenv("WEFT_MEMORY_LIMIT");
        CHECK(passes);
        return;
    }
    WEFT_AUTO weft_array *small = weft_empty(WEFT_SHAPE(100000));
    CHECK(small);
    WEFT_AUTO weft_array *large = weft_empty(WEFT_SHAPE(300000));
    CHECK(!large);
    CHECK_ERROR(WEFT_ERROR_MEMORY, "1048576");
}

/* Another thread compiles kernels all the time; the child of a fork can compile too. */
static _Atomic bool stop_compiling;
static void *compile_forever(void *argument)
{
    (void)argument;
    while (!atomic_load(&stop_compiling)) {
        WEFT_AUTO weft_array *a = weft_ones(WEFT_SHAPE(3));
        WEFT_AUTO weft_array *b = weft_cast(a, WEFT_I16);
        (void)b;
        weft_device_reset(WEFT_CPU);
    }
    return NULL;
}

static int compile_in_child(void)
{
    alarm(100);
    WEFT_AUTO weft_array *a = weft_ones(WEFT_SHAPE(3));
    WEFT_AUTO weft_array *b = weft_cast(a, WEFT_I64);
    int64_t first = 0;
    return b && weft_item(b, &first) == WEFT_OK && first == 1 ? 0 : 1;
}

TEST(D3_fork_while_kernels_are_compiled)
{
    pthread_t threads[2];
    int bad = 0;
#if defined __SANITIZE_THREAD__ || defined __SANITIZE_ADDRESS__
    SKIP("sanitizers cannot follow a fork of several threads");
#endif
    if (getenv("WEFT_TEST_QUICK"))
        SKIP("an emulator cannot fork a process that has threads");
    atomic_store(&stop_compiling, false);
    for (int i = 0; i < 2; i++)
        CHECK_INT(pthread_create(&threads[i], NULL, compile_forever, NULL), 0);
    for (int i = 0; i < 40; i++) {
        int status = 1;
        pid_t child = fork();
        if (child == 0)
            _exit(compile_in_child());
        bad += child < 0 || waitpid(child, &status, 0) != child || status != 0;
    }
    atomic_store(&stop_compiling, true);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    CHECK_INT(bad, 0);
}

static void count_delete(void *context, void *data)
{
    (void)data;
    ++*(int *)context;
}

TEST(M6_memory_has_one_deleter)
{
    float memory[4];
    int deleted = 0;
    {
        WEFT_AUTO weft_array *a = weft_borrow(memory, sizeof memory, WEFT_SHAPE(4), WEFT_F32,
                                              .deleter = count_delete, .deleter_context = &deleted);
        CHECK(a);
        WEFT_AUTO weft_array *again =
            weft_borrow(memory, sizeof memory, WEFT_SHAPE(2), WEFT_F64, .deleter = count_delete,
                        .deleter_context = &deleted);
        CHECK(!again);
        CHECK_ERROR(WEFT_ERROR_ARGUMENT, "free it twice");
        WEFT_AUTO weft_array *without = weft_borrow(memory, sizeof memory, WEFT_SHAPE(4), WEFT_F32);
        CHECK(without);
    }
    CHECK_INT(deleted, 1);
    {
        WEFT_AUTO weft_array *later =
            weft_borrow(memory, sizeof memory, WEFT_SHAPE(4), WEFT_F32, .deleter = count_delete,
                        .deleter_context = &deleted);
        CHECK(later);
    }
    CHECK_INT(deleted, 2);
}

TEST(M5_threshold_holds_for_small_and_pending_memory)
{
    AUTO_STREAM stream = weft_stream_new(WEFT_CPU, .async = true);
    AUTO_GATE gate = GATE;
    weft_statistics s = {0};
    CHECK(stream);
    CHECK_STATUS(weft_memory_set_threshold(WEFT_CPU, 0), WEFT_OK);
    weft_array *small = weft_empty(WEFT_SHAPE(10));
    weft_array *large = weft_empty(WEFT_SHAPE(1 << 20), .stream = stream);
    weft_status status = small && large ? hold(stream, &gate) : WEFT_ERROR_MEMORY;
    if (status == WEFT_OK)
        status = weft_fill(large, 1);
    weft_array_release(small);
    weft_array_release(large);
    gate_open(&gate);
    if (status == WEFT_OK)
        status = weft_stream_synchronize(stream);
    weft_memory_stats(WEFT_CPU, &s);
    weft_memory_set_threshold(WEFT_CPU, UINT64_MAX);
    CHECK_STATUS(status, WEFT_OK);
    CHECK_INT(s.bytes_cached, 0);
}

TEST(M5_waits_for_pinned_memory_before_giving_up)
{
    AUTO_STREAM stream = weft_stream_new(WEFT_CPU, .async = true);
    weft_statistics s = {0};
    CHECK(stream);
    weft_array *first = weft_empty(WEFT_SHAPE(600000), .dtype = WEFT_U8,
                                   .allocator = WEFT_ALLOCATOR_PINNED, .stream = stream);
    CHECK(first);
    weft_memory_trim(WEFT_CPU, 0);
    weft_memory_stats(WEFT_CPU, &s);
    weft_memory_set_limit(WEFT_CPU, s.bytes_in_use + s.bytes_cached + 400000);
    for (int i = 0; i < 50; i++)
        weft_fill(first, i);
    weft_array_release(first);
    weft_array *second =
        weft_empty(WEFT_SHAPE(600000), .dtype = WEFT_U8, .allocator = WEFT_ALLOCATOR_PINNED);
    weft_memory_set_limit(WEFT_CPU, 0);
    bool made = second != NULL;
    weft_array_release(second);
    CHECK(made);
}

TEST(D5_lent_memory_is_refused_in_copies_too)
{
    float memory[2] = {1, 2};
    WEFT_AUTO weft_array *lent = weft_borrow(memory, sizeof memory, WEFT_SHAPE(2), WEFT_F32);
    CHECK(lent);
    bool before = weft_lent_forbid(true);
    weft_array *cast = weft_cast(lent, WEFT_F64), *copy = weft_copy(lent);
    weft_lent_forbid(before);
    bool made = cast || copy;
    weft_array_release(cast);
    weft_array_release(copy);
    CHECK(!made);
    CHECK_ERROR(WEFT_ERROR_PLACEMENT, "weft_lent_forbid");
}

TEST(E2_items_fit_what_they_are_read_into)
{
    WEFT_AUTO weft_array *a = weft_full(WEFT_SHAPE(1), (int64_t)1 << 40);
    int narrow = 5;
    int64_t wide = 0;
    CHECK(a);
    CHECK_STATUS(weft_item(a, &narrow), WEFT_ERROR_DTYPE);
    CHECK_INT(narrow, 5);
    CHECK_STATUS(weft_item(a, &wide), WEFT_OK);
    CHECK_INT(wide, (int64_t)1 << 40);
}

TEST(S2_a_missing_stream_is_not_the_old_one)
{
    weft_stream *none = NULL;
    {
        WEFT_STREAM(none);
        WEFT_AUTO weft_array *a = weft_ones(WEFT_SHAPE(2));
        CHECK(!a);
    }
    WEFT_AUTO weft_array *b = weft_ones(WEFT_SHAPE(2));
    CHECK(b);
}

TEST_MAIN(TEST_OF(M6_memory_has_one_deleter),
          TEST_OF(M5_threshold_holds_for_small_and_pending_memory),
          TEST_OF(M5_waits_for_pinned_memory_before_giving_up),
          TEST_OF(D5_lent_memory_is_refused_in_copies_too),
          TEST_OF(E2_items_fit_what_they_are_read_into),
          TEST_OF(S2_a_missing_stream_is_not_the_old_one),
          TEST_OF(A2_complex_elements_aligned_to_their_parts),
          TEST_OF(A3_host_memory_at_any_address), TEST_OF(A2_computing_on_a_small_stack),
          TEST_OF(S3_call_lists_are_checked), TEST_OF(S3_names_of_calls_are_not_kept),
          TEST_OF(S6_a_strange_status_is_a_failed_callback), TEST_OF(A1_empty_with_huge_other_axes),
          TEST_OF(A2_a_row_of_a_broadcast_can_be_written),
          TEST_OF(A4_creation_in_any_mode_of_the_cpu),
          TEST_NO_FAULTS(M5_small_caches_of_other_threads_are_no_lack_of_memory,
                         "what another thread caches depends on it"),
          TEST_NO_FAULTS(M5_an_unreadable_limit_is_an_error, "it runs another process"),
          TEST_NO_FAULTS(M5_a_limit_from_the_environment, "it runs another process"),
          TEST_NO_FAULTS(D3_fork_while_kernels_are_compiled, "other threads allocate too"));
