/* Devices: names, facts, resets, where new arrays go, and what may be mixed. */
#include "support/check.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <weft/weft.h>

#include "core/array.h"
#include "support/streams.h"

static weft_device device(void) { return weft_device_named(test_device()); }

static weft_device invalid(void) { return weft_device_named("no such device"); }

static bool on_cpu(void) { return device().kind == WEFT_DEVICE_CPU; }

TEST(D1_names)
{
    CHECK(weft_device_equal(weft_device_named("cpu"), WEFT_CPU));
    CHECK_STR(weft_device_id(WEFT_CPU), "cpu");
    CHECK_STR(weft_device_id(WEFT_NO_DEVICE), "none");
    CHECK_STR(weft_device_id((weft_device){WEFT_DEVICE_INVALID, 0}), "invalid");
    CHECK_STR(weft_device_id((weft_device){WEFT_DEVICE_CUDA, 4711}), "invalid");
    CHECK(weft_device_equal(weft_device_named(weft_device_id(device())), device()));
}

TEST(D1_every_listed_device_has_its_name)
{
    CHECK(weft_device_count() >= 1);
    CHECK(weft_device_equal(weft_device_at(0), WEFT_CPU));
    for (int k = 0; k < weft_device_count(); k++) {
        weft_device at = weft_device_at(k);
        CHECK(weft_device_equal(weft_device_named(weft_device_id(at)), at));
        for (int other = 0; other < k; other++)
            CHECK(!weft_device_equal(at, weft_device_at(other)));
    }
}

TEST(D1_wrong_name_lists_devices)
{
    static const char *const wrong[] = {"",
                                        "CPU",
                                        "cpu ",
                                        " cpu",
                                        "cpu:1",
                                        "cpu:x",
                                        "cpus",
                                        "cuda:",
                                        "cuda:-1",
                                        "cuda:4711",
                                        "opencl:x",
                                        "gpu:",
                                        "gpu:-1",
                                        "gpu:4711",
                                        "gpu:1x",
                                        "gpu: 0",
                                        "gpu:f",
                                        "tpu",
                                        "gpu:18446744073709551616"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        weft_error_clear();
        CHECK_INT(weft_device_named(wrong[i]).kind, WEFT_DEVICE_INVALID);
        CHECK_ERROR(WEFT_ERROR_DEVICE, wrong[i]);
        const char *list = strstr(weft_error_message(), "there are: ");
        CHECK(list);
        for (int k = 0; k < weft_device_count(); k++) { /* in their order */
            list = strstr(list, weft_device_id(weft_device_at(k)));
            CHECK(list && list < strstr(weft_error_message(), "Names look like"));
        }
        CHECK_STR(weft_error_last()->operand, "name");
    }
    CHECK_INT(weft_device_named(NULL).kind, WEFT_DEVICE_INVALID);
}

/* Without a GPU nothing complains until one is asked for. */
TEST(D1_no_gpu_is_no_error)
{
    weft_error_clear();
    int count = weft_device_count();
    CHECK_STATUS(weft_error_code(), WEFT_OK);
    weft_device gpu = weft_device_named("gpu");
    weft_device most_free = weft_device_named("gpu:free");
    CHECK_INT(gpu.kind == WEFT_DEVICE_INVALID, most_free.kind == WEFT_DEVICE_INVALID);
    if (count == 1) {
        CHECK_INT(gpu.kind, WEFT_DEVICE_INVALID);
        CHECK_INT(weft_device_named("cuda").kind, WEFT_DEVICE_INVALID);
        CHECK_INT(weft_device_named("opencl:0").kind, WEFT_DEVICE_INVALID);
    } else if (gpu.kind != WEFT_DEVICE_INVALID)
        CHECK(weft_device_equal(gpu, weft_device_named("gpu:0")));
}

TEST(D1_a_device_is_a_value)
{
    weft_device a = device(), b = a;
    CHECK(weft_device_equal(a, b));
    b.index++;
    CHECK(!weft_device_equal(a, b));
    b = a;
    b.kind++;
    CHECK(!weft_device_equal(a, b));
    CHECK(!weft_device_equal(WEFT_CPU, WEFT_NO_DEVICE));
    CHECK_INT(sizeof(weft_device), 8);
}

TEST(D1_invalid_device_fails_everywhere)
{
    weft_device_info info;
    weft_statistics statistics;
    weft_device bad = invalid();
    WEFT_AUTO weft_array *a = weft_zeros(WEFT_SHAPE(1), .device = device());
    CHECK(a);
    CHECK(!weft_zeros(WEFT_SHAPE(1), .device = bad));
    CHECK(!weft_handle(.device = bad));
    CHECK(!weft_to_device(a, bad, NULL));
    CHECK(!weft_asarray(a, .device = bad));
    CHECK(!weft_stream_new(bad));
    CHECK(!weft_stream_current(bad));
    CHECK_STATUS(weft_device_describe(bad, &info), WEFT_ERROR_DEVICE);
    CHECK_STATUS(weft_memory_stats(bad, &statistics), WEFT_ERROR_DEVICE);
    CHECK_STATUS(weft_memory_trim(bad, 0), WEFT_ERROR_DEVICE);
    CHECK_STATUS(weft_memory_set_limit(bad, 0), WEFT_ERROR_DEVICE);
    CHECK_STATUS(weft_memory_set_threshold(bad, 0), WEFT_ERROR_DEVICE);
    CHECK_STATUS(weft_memory_reset_peak(bad), WEFT_ERROR_DEVICE);
    CHECK_STATUS(weft_device_synchronize(bad), WEFT_ERROR_DEVICE);
    CHECK_STATUS(weft_device_reset(bad), WEFT_ERROR_DEVICE);
    CHECK_STATUS(weft_device_push(bad), WEFT_ERROR_DEVICE);
    CHECK_STATUS(weft_device_set_default(bad), WEFT_ERROR_DEVICE);
    CHECK(!weft_device_supports(bad, WEFT_F32));
    CHECK_ERROR(WEFT_ERROR_DEVICE, "no such device"); /* still how it became invalid */
    CHECK_INT(weft_device_at(-1).kind, WEFT_DEVICE_INVALID);
    CHECK_ERROR(WEFT_ERROR_DEVICE, "-1");
    CHECK_INT(weft_device_at(weft_device_count()).kind, WEFT_DEVICE_INVALID);
}

/* What failed in between has nothing to do with the device. */
TEST(D1_invalid_device_after_another_error)
{
    weft_device bad = invalid();
    weft_dtype_named("f23");
    WEFT_AUTO weft_array *a = weft_zeros(WEFT_SHAPE(1), .device = bad);
    CHECK(!a);
    CHECK_ERROR(WEFT_ERROR_DEVICE, "cpu");
    WEFT_AUTO weft_array *b = weft_zeros(WEFT_SHAPE(1), .device = {WEFT_DEVICE_CUDA, 4711});
    CHECK(!b);
    CHECK_ERROR(WEFT_ERROR_DEVICE, "4711");
}

TEST(D2_facts)
{
    weft_device_info info;
    memset(&info, 0xff, sizeof info);
    CHECK_STATUS(weft_device_describe(device(), &info), WEFT_OK);
    CHECK_INT(info.kind, device().kind);
    CHECK(strlen(info.name) > 0 && strlen(info.name) < sizeof info.name);
    CHECK(info.compute_units > 0);
    CHECK(info.memory_total > 0);
    CHECK(info.memory_free > 0 && info.memory_free <= info.memory_total);
    CHECK(strlen(info.driver) > 0 && strlen(info.driver) < sizeof info.driver);
    CHECK(strlen(info.compiler) > 0 && strlen(info.compiler) < sizeof info.compiler);
    CHECK(info.same_bits != (strlen(info.same_bits_why) > 0));
    CHECK(info.shared_memory != (strlen(info.shared_memory_why) > 0));
    if (on_cpu())
        CHECK(info.unified_memory && info.same_bits && info.shared_memory);
}

TEST(D2_supported_dtypes)
{
    weft_device_info info;
    CHECK_STATUS(weft_device_describe(device(), &info), WEFT_OK);
    for (int dtype = WEFT_BOOL; dtype < WEFT_DTYPE_END; dtype++) {
        bool listed = info.dtypes >> dtype & 1;
        CHECK_INT(weft_device_supports(device(), (weft_dtype)dtype), listed);
        if (on_cpu())
            CHECK(listed);
    }
}

/* A program that was built with a smaller or larger struct than the library. */
TEST(D2_facts_for_other_sizes)
{
    weft_device_info info;
    memset(&info, 0x55, sizeof info);
    CHECK_STATUS(weft_device_describe_sized(device(), &info, offsetof(weft_device_info, driver)),
                 WEFT_OK);
    CHECK_INT(info.kind, device().kind);
    CHECK_INT(info.driver[0], 0x55);
    struct {
        weft_device_info known;
        char more[64];
    } larger;
    memset(&larger, 0x55, sizeof larger);
    CHECK_STATUS(weft_device_describe_sized(device(), &larger.known, sizeof larger), WEFT_OK);
    CHECK_INT(larger.known.kind, device().kind);
    CHECK_INT(larger.more[63], 0);
}

static void *open_soon(void *gate)
{
    gate_wait_entered(gate);
    pause_ms(1);
    gate_open(gate);
    return NULL;
}

/* Holds a stream, lets it go from another thread, and calls `wait` meanwhile. */
static bool waits_for_streams(weft_status (*wait)(weft_device))
{
    pthread_t thread;
    AUTO_STREAM stream = weft_stream_new(device(), .async = true);
    AUTO_GATE gate = GATE;
    if (!stream || hold(stream, &gate) != WEFT_OK ||
        pthread_create(&thread, NULL, open_soon, &gate) != 0)
        return false;
    const weft_status status = wait(device());
    const bool done = is_done(stream);
    gate_open(&gate);
    pthread_join(thread, NULL);
    return status == WEFT_OK && done;
}

TEST(D3_synchronize_waits_for_all_streams) { CHECK(waits_for_streams(weft_device_synchronize)); }

TEST(D3_reset_waits) { CHECK(waits_for_streams(weft_device_reset)); }

TEST(D3_reset_drops_caches_and_keeps_arrays)
{
    weft_statistics before, after;
    float host[4];
    WEFT_AUTO weft_array *a = weft_full(WEFT_SHAPE(4), 2.5f, .device = device());
    WEFT_AUTO weft_array *view = weft_slice(a, WEFT_REVERSED);
    CHECK(a && view);
    weft_array *cached = weft_empty(WEFT_SHAPE(100000), .device = device());
    CHECK(cached);
    weft_array_release(cached);
    CHECK_STATUS(weft_memory_stats(device(), &before), WEFT_OK);
    CHECK(before.bytes_cached >= 400000);
    CHECK_STATUS(weft_device_reset(device()), WEFT_OK);
    CHECK_STATUS(weft_memory_stats(device(), &after), WEFT_OK);
    CHECK_INT(after.bytes_cached, 0);
    CHECK_INT(after.bytes_in_use, before.bytes_in_use);
    CHECK_STATUS(weft_copy_to_host(view, host, sizeof host), WEFT_OK);
    CHECK(host[0] == 2.5f && host[3] == 2.5f);
    CHECK_STATUS(weft_fill(a, 7), WEFT_OK); /* its kernel is made again */
    CHECK_STATUS(weft_copy_to_host(a, host, sizeof host), WEFT_OK);
    CHECK(host[0] == 7);
    CHECK_STATUS(weft_memory_stats(device(), &after), WEFT_OK);
    CHECK(after.compilations + after.compilations_loaded >
          before.compilations + before.compilations_loaded);
}

TEST(D3_kernels_are_kept_until_a_reset)
{
    weft_statistics first, second, third;
    WEFT_AUTO weft_array *a = weft_empty(WEFT_SHAPE(4), .dtype = WEFT_U16, .device = device());
    CHECK(a);
    CHECK_STATUS(weft_fill(a, 1), WEFT_OK);
    CHECK_STATUS(weft_memory_stats(device(), &first), WEFT_OK);
    CHECK_STATUS(weft_fill(a, 2), WEFT_OK);
    CHECK_STATUS(weft_memory_stats(device(), &second), WEFT_OK);
    CHECK_INT(second.compilations, first.compilations);
    CHECK_INT(second.launches, first.launches + 1);
    CHECK_STATUS(weft_device_reset(device()), WEFT_OK);
    CHECK_STATUS(weft_fill(a, 3), WEFT_OK);
    CHECK_STATUS(weft_memory_stats(device(), &third), WEFT_OK);
    /* What was compiled in the background before may be loaded once more. */
    CHECK(third.compilations + third.compilations_loaded >
          second.compilations + second.compilations_loaded);
}

struct other_thread {
    atomic_int step;
    weft_stream *stream;
    bool had_it, forgot_it, works;
};

static void *keep_current(void *argument)
{
    struct other_thread *shared = argument;
    weft_device on = weft_stream_device(shared->stream);
    if (weft_stream_set_current(on, shared->stream) == WEFT_OK)
        shared->had_it = weft_stream_current(on) == shared->stream;
    weft_array_release(weft_zeros(WEFT_SHAPE(10), .device = on));
    atomic_store(&shared->step, 1);
    while (atomic_load(&shared->step) == 1)
        sched_yield();
    shared->forgot_it = weft_stream_current(on) != shared->stream;
    WEFT_AUTO weft_array *a = weft_ones(WEFT_SHAPE(10), .device = on);
    float x = 0;
    shared->works = weft_item(a, &x) == WEFT_OK && x == 1;
    return NULL;
}

TEST(D3_reset_is_noticed_by_other_threads)
{
    pthread_t thread;
    struct other_thread shared = {0};
    AUTO_STREAM stream = weft_stream_new(device(), .async = true);
    CHECK(stream);
    shared.stream = stream;
    CHECK_INT(pthread_create(&thread, NULL, keep_current, &shared), 0);
    while (atomic_load(&shared.step) != 1)
        sched_yield();
    weft_status status = weft_device_reset(device());
    atomic_store(&shared.step, 2);
    pthread_join(thread, NULL);
    CHECK_STATUS(status, WEFT_OK);
    CHECK(shared.had_it);
    CHECK(shared.forgot_it);
    CHECK(shared.works);
}

TEST(D3_reset_forgets_this_threads_stream)
{
    AUTO_STREAM stream = weft_stream_new(device(), .async = true);
    CHECK(stream);
    weft_stream *usual = weft_stream_current(device());
    CHECK(usual && usual != stream);
    CHECK_STATUS(weft_stream_set_current(device(), stream), WEFT_OK);
    CHECK(weft_stream_current(device()) == stream);
    CHECK_STATUS(weft_device_reset(device()), WEFT_OK);
    CHECK(weft_stream_current(device()) == usual);
    CHECK_STATUS(weft_stream_synchronize(stream), WEFT_OK); /* held, and still good */
}

/* The order of D4 is shown with devices that fail: whoever is asked first decides. */
TEST(D4_given_beats_context)
{
    WEFT_ON(invalid());
    WEFT_AUTO weft_array *a = weft_zeros(WEFT_SHAPE(1));
    CHECK(!a);
    CHECK_ERROR(WEFT_ERROR_DEVICE, "no such device");
    WEFT_AUTO weft_array *b = weft_zeros(WEFT_SHAPE(1), .device = device());
    CHECK(b);
    CHECK(weft_device_equal(weft_array_device(b), device()));
}

TEST(D4_operands_beat_context)
{
    WEFT_AUTO weft_array *a = weft_ones(WEFT_SHAPE(2), .device = device());
    CHECK(a);
    WEFT_ON(invalid());
    WEFT_AUTO weft_array *like = weft_zeros_like(a);
    WEFT_AUTO weft_array *copy = weft_copy(a);
    WEFT_AUTO weft_array *cast = weft_cast(a, WEFT_F64);
    CHECK(like && copy && cast);
    CHECK(weft_device_equal(weft_array_device(cast), device()));
}

/* The environment is read once, so what it does is shown in a process of its own: this program
 * again, with one test. */
static bool passes_in_environment(const char *test, const char *value)
{
    setenv("WEFT_DEVICE", value, 1);
    bool passes = test_passes_alone(test);
    unsetenv("WEFT_DEVICE");
    return passes;
}

TEST(D4_context_and_set_default_beat_environment)
{
    if (!test_alone()) {
        CHECK(
            passes_in_environment("D4_context_and_set_default_beat_environment", "no such device"));
        return;
    }
    WEFT_AUTO weft_array *outside = weft_zeros(WEFT_SHAPE(1));
    CHECK(!outside);
    CHECK_ERROR(WEFT_ERROR_DEVICE, "no such device");
    CHECK_INT(weft_device_default().kind, WEFT_DEVICE_INVALID);
    {
        WEFT_ON(device());
        WEFT_AUTO weft_array *inside = weft_zeros(WEFT_SHAPE(1));
        CHECK(inside);
        CHECK(weft_device_equal(weft_array_device(inside), device()));
    }
    CHECK_STATUS(weft_device_set_default(device()), WEFT_OK);
    CHECK(weft_device_equal(weft_device_default(), device()));
    WEFT_AUTO weft_array *set = weft_zeros(WEFT_SHAPE(1));
    CHECK(set && weft_device_equal(weft_array_device(set), device()));
    {
        WEFT_ON(invalid()); /* the context comes before a default that was set, too */
        WEFT_AUTO weft_array *inside = weft_zeros(WEFT_SHAPE(1));
        CHECK(!inside);
    }
    CHECK_STATUS(weft_device_set_default(WEFT_NO_DEVICE), WEFT_OK);
    CHECK_INT(weft_device_default().kind, WEFT_DEVICE_INVALID);
}

/* The operation in an error is the one that the user called, not the look-up of the default. */
TEST(D4_environment_names_the_default)
{
    if (!test_alone()) {
        CHECK(weft_device_equal(weft_device_default(), WEFT_CPU)); /* where nothing says more */
        CHECK(passes_in_environment("D4_environment_names_the_default", test_device()));
        return;
    }
    WEFT_AUTO weft_array *wrong = weft_empty(WEFT_SHAPE(-1));
    CHECK(!wrong);
    CHECK_STR(weft_error_last()->operation, "weft_empty");
    WEFT_AUTO weft_array *a = weft_zeros(WEFT_SHAPE(1));
    CHECK(a && weft_device_equal(weft_array_device(a), device()));
    CHECK(weft_device_equal(weft_device_default(), device()));
}

TEST(D4_contexts_nest)
{
    CHECK(weft_device_equal(weft_device_context(), WEFT_NO_DEVICE));
    {
        WEFT_ON(device());
        CHECK(weft_device_equal(weft_device_context(), device()));
        {
            WEFT_ON(invalid());
            CHECK_INT(weft_device_context().kind, WEFT_DEVICE_INVALID);
        }
        CHECK(weft_device_equal(weft_device_context(), device()));
    }
    CHECK(weft_device_equal(weft_device_context(), WEFT_NO_DEVICE));
    weft_error_clear();
    CHECK_STATUS(weft_device_pop(), WEFT_ERROR_ARGUMENT);
    CHECK_ERROR(WEFT_ERROR_ARGUMENT, "weft_device_push");
}

TEST(D4_contexts_nest_64_deep)
{
    int depth = 0;
    while (depth < 100 && weft_device_push(device()) == WEFT_OK)
        depth++;
    weft_error error = *weft_error_last();
    int popped = 0;
    while (weft_device_pop() == WEFT_OK)
        popped++;
    CHECK_INT(depth, 64);
    CHECK_INT(popped, 64);
    CHECK_STATUS(error.code, WEFT_ERROR_ARGUMENT);
    CHECK(strstr(error.message, "64"));
}

static void *read_context(void *argument)
{
    *(weft_device *)argument = weft_device_context();
    return NULL;
}

TEST(D4_contexts_belong_to_their_thread)
{
    pthread_t thread;
    weft_device there = device();
    WEFT_ON(device());
    CHECK_INT(pthread_create(&thread, NULL, read_context, &there), 0);
    pthread_join(thread, NULL);
    CHECK(weft_device_equal(there, WEFT_NO_DEVICE));
}

TEST(D4_stream_scope_is_a_context_too)
{
    AUTO_STREAM stream = weft_stream_new(device(), .async = true);
    CHECK(stream);
    weft_stream *before = weft_stream_current(device());
    {
        WEFT_ON(stream);
        CHECK(weft_device_equal(weft_device_context(), device()));
        CHECK(weft_stream_current(device()) == stream);
    }
    CHECK(weft_device_equal(weft_device_context(), WEFT_NO_DEVICE));
    CHECK(weft_stream_current(device()) == before);
}

/* A machine with one device cannot have two arrays apart: one is made to say so for a while. */
TEST(D5_different_devices_name_each_operand)
{
    WEFT_AUTO weft_array *a = weft_zeros(WEFT_SHAPE(2), .device = device());
    WEFT_AUTO weft_array *b = weft_ones(WEFT_SHAPE(2), .device = device());
    CHECK(a && b);
    weft_device there = b->buffer->device;
    b->buffer->device = (weft_device){WEFT_DEVICE_OPENCL, 63};
    weft_status outside = weft_assign(a, b);
    weft_error error = *weft_error_last();
    weft_status inside;
    {
        WEFT_ON(device());
        inside = weft_assign(a, b);
    }
    b->buffer->device = there;
    CHECK_STATUS(outside, WEFT_ERROR_PLACEMENT);
    CHECK_STATUS(inside, WEFT_ERROR_PLACEMENT);
    CHECK(strstr(error.message, "target on "));
    CHECK(strstr(error.message, "source on "));
    CHECK(strstr(error.message, weft_device_id(device())));
    float x = 5;
    CHECK_STATUS(weft_item(a, &x), WEFT_OK);
    CHECK(x == 0); /* nothing moved */
}

TEST(D5_results_live_where_operands_live)
{
    WEFT_AUTO weft_array *a = weft_zeros(WEFT_SHAPE(2, 3), .device = device());
    WEFT_AUTO weft_array *t = weft_transpose(a);
    WEFT_AUTO weft_array *r = weft_reshape(t, WEFT_SHAPE(6));
    WEFT_AUTO weft_array *c = weft_cast(r, WEFT_I8);
    CHECK(a && t && r && c);
    CHECK(weft_device_equal(weft_array_device(t), device()));
    CHECK(weft_device_equal(weft_array_device(r), device()));
    CHECK(weft_device_equal(weft_array_device(c), device()));
}

TEST(D5_lent_memory_alone)
{
    float host[2] = {1, 2};
    WEFT_AUTO weft_array *lent = weft_borrow(host, sizeof host, WEFT_SHAPE(2), WEFT_F32);
    CHECK(lent);
    CHECK(weft_device_equal(weft_array_device(lent), WEFT_NO_DEVICE));
    CHECK_STATUS(weft_fill(lent, 3), WEFT_OK); /* on the CPU */
    CHECK(host[0] == 3 && host[1] == 3);
    {
        WEFT_ON(device()); /* copied there and back, where that is elsewhere */
        CHECK_STATUS(weft_fill(lent, 4), WEFT_OK);
        CHECK_STATUS(weft_eval(lent), WEFT_OK);
        CHECK(host[0] == 4 && host[1] == 4);
        WEFT_AUTO weft_array *copy = weft_copy(lent);
        CHECK(copy);
        CHECK(weft_device_equal(weft_array_device(copy), device()));
    }
    WEFT_AUTO weft_array *copy = weft_copy(lent);
    CHECK(copy);
    CHECK(weft_device_equal(weft_array_device(copy), WEFT_CPU));
    CHECK_INT(weft_array_memory(copy), WEFT_MEMORY_DEVICE);
}

TEST(D5_lent_memory_with_placed_arrays)
{
    float host[2] = {1, 2};
    WEFT_AUTO weft_array *lent = weft_borrow(host, sizeof host, WEFT_SHAPE(2), WEFT_F32);
    WEFT_AUTO weft_array *placed = weft_zeros(WEFT_SHAPE(2), .device = device());
    CHECK(lent && placed);
    CHECK_STATUS(weft_assign(placed, lent), WEFT_ERROR_PLACEMENT);
    CHECK_ERROR(WEFT_ERROR_PLACEMENT, "target on ");
    CHECK_ERROR(WEFT_ERROR_PLACEMENT, "source lent");
    CHECK_ERROR(WEFT_ERROR_PLACEMENT, "weft_to_device");
    CHECK_STATUS(weft_assign(lent, placed), WEFT_ERROR_PLACEMENT);
    WEFT_ON(device());
    CHECK_STATUS(weft_assign(lent, placed), WEFT_ERROR_PLACEMENT);
    CHECK(host[0] == 1);
    WEFT_AUTO weft_array *there = weft_to_device(lent, device(), NULL);
    CHECK(there && there != lent);
    CHECK_STATUS(weft_assign(placed, there), WEFT_OK);
    float x = 0;
    CHECK_STATUS(weft_item(placed, &x), WEFT_OK);
    CHECK(x == 1);
}

TEST(D5_lent_memory_forbidden_outside_a_context)
{
    float host[2] = {1, 2};
    WEFT_AUTO weft_array *lent = weft_borrow(host, sizeof host, WEFT_SHAPE(2), WEFT_F32);
    CHECK(lent);
    bool before = weft_lent_forbid(true);
    weft_status outside = weft_fill(lent, 9), inside;
    weft_error error = *weft_error_last();
    {
        WEFT_ON(WEFT_CPU);
        inside = weft_fill(lent, 5);
    }
    bool during = weft_lent_forbid(before);
    CHECK(!before && during);
    CHECK_STATUS(outside, WEFT_ERROR_PLACEMENT);
    CHECK(strstr(error.message, "lent"));
    CHECK(strstr(error.message, "WEFT_ON"));
    CHECK_STATUS(inside, WEFT_OK);
    CHECK(host[0] == 5);
    CHECK_STATUS(weft_fill(lent, 6), WEFT_OK);
}

TEST(D6_same_device_costs_nothing)
{
    weft_statistics before, after;
    WEFT_AUTO weft_array *a = weft_zeros(WEFT_SHAPE(100), .device = device());
    CHECK(a);
    CHECK_STATUS(weft_memory_stats(device(), &before), WEFT_OK);
    WEFT_AUTO weft_array *same = weft_to_device(a, device(), NULL);
    CHECK_STATUS(weft_memory_stats(device(), &after), WEFT_OK);
    CHECK(same == a);
    CHECK_BITS(&after, &before, sizeof before);
}

TEST(D6_lent_memory_is_copied)
{
    int16_t host[3] = {1, 2, 3}, read[3];
    AUTO_STREAM stream = weft_stream_new(device(), .async = true);
    WEFT_AUTO weft_array *lent = weft_borrow(host, sizeof host, WEFT_SHAPE(3), WEFT_I16);
    CHECK(stream && lent);
    WEFT_AUTO weft_array *a = weft_to_device(lent, device(), NULL);
    WEFT_AUTO weft_array *b = weft_to_device(lent, device(), stream);
    CHECK(a && b);
    CHECK(weft_array_stream(b) == stream);
    CHECK_STATUS(weft_eval(lent), WEFT_OK); /* which waits for those that read it, too */
    host[0] = 77;
    CHECK_STATUS(weft_copy_to_host(a, read, sizeof read), WEFT_OK);
    CHECK_BITS(read, ((int16_t[]){1, 2, 3}), sizeof read);
    CHECK_STATUS(weft_copy_to_host(b, read, sizeof read), WEFT_OK);
    CHECK_BITS(read, ((int16_t[]){1, 2, 3}), sizeof read);
}

TEST(D6_no_device)
{
    WEFT_AUTO weft_array *a = weft_zeros(WEFT_SHAPE(1), .device = device());
    CHECK(a);
    weft_error_clear();
    WEFT_AUTO weft_array *b = weft_to_device(a, WEFT_NO_DEVICE, NULL);
    CHECK(!b);
    CHECK_ERROR(WEFT_ERROR_DEVICE, "device");
}

TEST_MAIN(TEST_OF(D1_names), TEST_OF(D1_every_listed_device_has_its_name),
          TEST_OF(D1_wrong_name_lists_devices), TEST_OF(D1_no_gpu_is_no_error),
          TEST_OF(D1_a_device_is_a_value), TEST_OF(D1_invalid_device_fails_everywhere),
          TEST_OF(D1_invalid_device_after_another_error), TEST_OF(D2_facts),
          TEST_OF(D2_supported_dtypes), TEST_OF(D2_facts_for_other_sizes),
          TEST_OF(D3_synchronize_waits_for_all_streams), TEST_OF(D3_reset_waits),
          TEST_OF(D3_reset_drops_caches_and_keeps_arrays),
          TEST_OF(D3_kernels_are_kept_until_a_reset), TEST_OF(D3_reset_is_noticed_by_other_threads),
          TEST_OF(D3_reset_forgets_this_threads_stream), TEST_OF(D4_given_beats_context),
          TEST_OF(D4_operands_beat_context),
          TEST_NO_FAULTS(D4_context_and_set_default_beat_environment, "it runs another process"),
          TEST_NO_FAULTS(D4_environment_names_the_default, "it runs another process"),
          TEST_OF(D4_contexts_nest), TEST_OF(D4_contexts_nest_64_deep),
          TEST_OF(D4_contexts_belong_to_their_thread), TEST_OF(D4_stream_scope_is_a_context_too),
          TEST_OF(D5_different_devices_name_each_operand),
          TEST_OF(D5_results_live_where_operands_live), TEST_OF(D5_lent_memory_alone),
          TEST_OF(D5_lent_memory_with_placed_arrays),
          TEST_OF(D5_lent_memory_forbidden_outside_a_context),
          TEST_OF(D6_same_device_costs_nothing), TEST_OF(D6_lent_memory_is_copied),
          TEST_OF(D6_no_device));
