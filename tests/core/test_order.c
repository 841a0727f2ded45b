/* Streams and arrays: bound arrays and equivalent streams (S4), order across streams (S5). */
#include "support/check.h"
#include "support/streams.h"
#include <stdatomic.h>
#include <string.h>

TEST(S4_equivalence)
{
    AUTO_STREAM a = weft_stream_new(WEFT_CPU, .async = true);
    AUTO_STREAM b = weft_stream_new(WEFT_CPU, .async = true);
    AUTO_STREAM profiled = weft_stream_new(WEFT_CPU, .async = true, .profiling = true);
    AUTO_STREAM prior = weft_stream_new(WEFT_CPU, .async = true, .priority = 1);
    AUTO_STREAM synchronous = weft_stream_new(WEFT_CPU);
    CHECK(a && b && profiled && prior && synchronous);
    CHECK(weft_stream_equivalent(a, b) && weft_stream_equivalent(a, a));
    CHECK(!weft_stream_equivalent(a, profiled));
    CHECK(!weft_stream_equivalent(a, prior));
    CHECK(!weft_stream_equivalent(a, synchronous));
    CHECK(weft_stream_equivalent(synchronous, weft_stream_current(WEFT_CPU)));
    CHECK(!weft_stream_equivalent(a, NULL) && !weft_stream_equivalent(NULL, NULL));
}

/* A bound array is computed on its stream, whatever the current one is. */
TEST(S4_bound_arrays_use_their_stream)
{
    AUTO_STREAM stream = weft_stream_new(WEFT_CPU, .async = true);
    AUTO_STREAM other = weft_stream_new(WEFT_CPU, .async = true);
    WEFT_AUTO weft_array *bound = weft_full(WEFT_SHAPE(100), 1, .stream = stream);
    WEFT_AUTO weft_array *free_one = weft_full(WEFT_SHAPE(100), 2);
    AUTO_GATE gate = GATE;
    CHECK(stream && other && bound && free_one);
    CHECK(weft_array_stream(bound) == stream);
    CHECK(weft_array_stream(free_one) == NULL);
    CHECK_STATUS(weft_stream_synchronize(stream), WEFT_OK);
    CHECK_STATUS(hold(stream, &gate), WEFT_OK);
    {
        WEFT_STREAM(other);
        CHECK_STATUS(weft_assign(bound, free_one), WEFT_OK);
    }
    CHECK(stays_busy(stream));
    CHECK_INT(((const int *)weft_array_data(bound))[0], 1);
    gate_open(&gate);
    CHECK(holds(bound, 2));
    WEFT_AUTO weft_array *view = weft_slice(bound, WEFT_RANGE(0, 10));
    WEFT_AUTO weft_array *copy = weft_copy(bound);
    CHECK(view && copy);
    CHECK(weft_array_stream(view) == stream);
    CHECK(weft_array_stream(copy) == stream);
}

TEST(S4_equivalent_streams_mix)
{
    AUTO_STREAM first = weft_stream_new(WEFT_CPU, .async = true);
    AUTO_STREAM second = weft_stream_new(WEFT_CPU, .async = true);
    WEFT_AUTO weft_array *a = weft_full(WEFT_SHAPE(100), 1, .stream = first);
    WEFT_AUTO weft_array *b = weft_full(WEFT_SHAPE(100), 2, .stream = second);
    CHECK(first && second && a && b);
    CHECK_STATUS(weft_assign(a, b), WEFT_OK);
    CHECK(holds(a, 2));
}

TEST(S4_streams_that_are_not_equivalent_do_not_mix)
{
    AUTO_STREAM first = weft_stream_new(WEFT_CPU, .async = true);
    AUTO_STREAM second = weft_stream_new(WEFT_CPU, .async = true, .profiling = true);
    WEFT_AUTO weft_array *a = weft_full(WEFT_SHAPE(100), 1, .stream = first);
    WEFT_AUTO weft_array *b = weft_full(WEFT_SHAPE(100), 2, .stream = second);
    CHECK(first && second && a && b);
    CHECK_STATUS(weft_assign(a, b), WEFT_ERROR_PLACEMENT);
    CHECK_ERROR(WEFT_ERROR_PLACEMENT, "target");
    CHECK_ERROR(WEFT_ERROR_PLACEMENT, "source");
    CHECK_ERROR(WEFT_ERROR_PLACEMENT, "equivalent");
    CHECK(holds(a, 1));
    CHECK(holds(b, 2));
}

TEST(S4_asarray_rebinds_without_a_copy)
{
    AUTO_STREAM first = weft_stream_new(WEFT_CPU, .async = true);
    AUTO_STREAM second = weft_stream_new(WEFT_CPU, .async = true, .profiling = true);
    WEFT_AUTO weft_array *a = weft_full(WEFT_SHAPE(100), 1, .stream = first);
    WEFT_AUTO weft_array *b = weft_full(WEFT_SHAPE(100), 2, .stream = second);
    CHECK(first && second && a && b);
    weft_statistics before = stats();
    WEFT_AUTO weft_array *rebound = weft_asarray(b, .stream = first);
    weft_statistics after = stats();
    CHECK(rebound);
    CHECK(weft_array_data(rebound) == weft_array_data(b));
    CHECK(weft_array_stream(rebound) == first);
    CHECK(weft_array_stream(b) == second);
    CHECK_INT(after.allocations, before.allocations);
    CHECK_INT(after.copies_on_device, before.copies_on_device);
    CHECK_INT(after.copies_to_device + after.copies_to_host,
              before.copies_to_device + before.copies_to_host);
    CHECK_INT(after.launches, before.launches);
    CHECK_INT(after.waits, before.waits);
    CHECK_STATUS(weft_assign(a, rebound), WEFT_OK);
    CHECK(holds(a, 2));
    WEFT_AUTO weft_array *copied = weft_asarray(b, .stream = first, .copy = WEFT_COPY_ALWAYS);
    CHECK(copied && weft_array_data(copied) != weft_array_data(b));
    CHECK(holds(copied, 2));
}

/* Three streams, the first two held at gates by calls that use `array` as asked; what the test does
 * next goes to `other`. */
typedef struct scene {
    weft_stream *held, *other;
    weft_array *a, *b;
    stream_gate gate;
} scene;

static void scene_end(scene *s)
{
    gate_open(&s->gate);
    weft_stream_release(s->held);
    weft_stream_release(s->other);
    weft_array_release(s->a);
    weft_array_release(s->b);
}
#define AUTO_SCENE __attribute__((cleanup(scene_end))) scene

/* `a` holds 1, `b` holds 2. */
static bool scene_begin(scene *s)
{
    *s = (scene){.gate = GATE};
    s->held = weft_stream_new(WEFT_CPU, .async = true);
    s->other = weft_stream_new(WEFT_CPU, .async = true);
    s->a = make_full(1);
    s->b = make_full(2);
    return s->held && s->other && s->a && s->b;
}

/* The held stream stands at the gate inside a call that reads or writes `a`. */
static weft_status hold_using(scene *s, bool write)
{
    weft_array *const used[] = {s->a};
    return write ? weft_stream_call(s->held, gate_pass, &s->gate, .writes = used, .writes_count = 1)
                 : weft_stream_call(s->held, gate_pass, &s->gate, .reads = used, .reads_count = 1);
}

static weft_status assign_on(weft_stream *stream, weft_array *target, weft_array *source)
{
    weft_status status = weft_stream_set_current(WEFT_CPU, stream);
    if (status == WEFT_OK)
        status = weft_assign(target, source);
    weft_stream_set_current(WEFT_CPU, NULL);
    return status;
}

static weft_status fill_on(weft_stream *stream, weft_array *array, int value)
{
    weft_status status = weft_stream_set_current(WEFT_CPU, stream);
    if (status == WEFT_OK)
        status = weft_fill(array, value);
    weft_stream_set_current(WEFT_CPU, NULL);
    return status;
}

TEST(S5_a_read_comes_after_the_write_on_another_stream)
{
    AUTO_SCENE s;
    CHECK(scene_begin(&s));
    CHECK_STATUS(hold(s.held, &s.gate), WEFT_OK);
    CHECK_STATUS(fill_on(s.held, s.a, 7), WEFT_OK);
    uint64_t waits = stats().waits;
    CHECK_STATUS(assign_on(s.other, s.b, s.a), WEFT_OK);
    CHECK_INT(stats().waits, waits); /* no wait on the host */
    CHECK(stays_busy(s.other));
    gate_open(&s.gate);
    CHECK(holds(s.b, 7));
}

TEST(S5_a_write_comes_after_the_read_on_another_stream)
{
    AUTO_SCENE s;
    CHECK(scene_begin(&s));
    CHECK_STATUS(hold(s.held, &s.gate), WEFT_OK);
    CHECK_STATUS(assign_on(s.held, s.b, s.a), WEFT_OK);
    CHECK_STATUS(fill_on(s.other, s.a, 9), WEFT_OK);
    CHECK(stays_busy(s.other));
    CHECK_INT(((const int *)weft_array_data(s.a))[0], 1);
    gate_open(&s.gate);
    CHECK(holds(s.a, 9));
    CHECK(holds(s.b, 1));
}

TEST(S5_a_write_comes_after_the_write_on_another_stream)
{
    AUTO_SCENE s;
    CHECK(scene_begin(&s));
    CHECK_STATUS(hold(s.held, &s.gate), WEFT_OK);
    CHECK_STATUS(fill_on(s.held, s.a, 3), WEFT_OK);
    CHECK_STATUS(fill_on(s.other, s.a, 4), WEFT_OK);
    CHECK(stays_busy(s.other));
    gate_open(&s.gate);
    CHECK(holds(s.a, 4));
}

TEST(S5_reads_on_two_streams_are_not_ordered)
{
    AUTO_SCENE s;
    CHECK(scene_begin(&s));
    CHECK_STATUS(hold_using(&s, false), WEFT_OK);
    CHECK_STATUS(assign_on(s.other, s.b, s.a), WEFT_OK);
    CHECK(finishes(s.other));
    CHECK(holds(s.b, 1)); /* reading on the host needs the write alone, too */
    CHECK(!is_done(s.held));
}

TEST(S5_calls_take_part_in_the_order)
{
    AUTO_SCENE s;
    CHECK(scene_begin(&s));
    CHECK_STATUS(hold_using(&s, true), WEFT_OK);
    CHECK_STATUS(assign_on(s.other, s.b, s.a), WEFT_OK);
    CHECK(stays_busy(s.other));
    gate_open(&s.gate);
    CHECK(finishes(s.other));
    AUTO_SCENE t;
    CHECK(scene_begin(&t));
    CHECK_STATUS(hold_using(&t, false), WEFT_OK);
    CHECK_STATUS(fill_on(t.other, t.a, 5), WEFT_OK);
    CHECK(stays_busy(t.other));
    gate_open(&t.gate);
    CHECK(holds(t.a, 5));
}

/* Views and the array itself are one memory. */
TEST(S5_views_take_part_in_the_order)
{
    AUTO_SCENE s;
    CHECK(scene_begin(&s));
    WEFT_AUTO weft_array *front = weft_slice(s.a, WEFT_RANGE(0, 500));
    WEFT_AUTO weft_array *odd = weft_slice(s.a, WEFT_STEP(1, WEFT_END, 2));
    CHECK(front && odd);
    CHECK_STATUS(hold(s.held, &s.gate), WEFT_OK);
    CHECK_STATUS(fill_on(s.held, front, 8), WEFT_OK);
    CHECK_STATUS(fill_on(s.other, odd, 9), WEFT_OK);
    CHECK(stays_busy(s.other));
    gate_open(&s.gate);
    CHECK(holds(odd, 9));
    int data[4] = {0}, expected[4] = {8, 9, 8, 9};
    WEFT_AUTO weft_array *first = weft_slice(s.a, WEFT_RANGE(0, 4));
    CHECK_STATUS(weft_copy_to_host(first, data, sizeof data), WEFT_OK);
    CHECK_BITS(data, expected, sizeof data);
}

/* Many readers on many streams: a write waits for each of them. */
TEST(S5_a_write_waits_for_every_reader)
{
    enum { READERS = 40 };
    weft_stream *streams[READERS] = {0};
    AUTO_STREAM writer = weft_stream_new(WEFT_CPU, .async = true);
    WEFT_AUTO weft_array *a = make_full(1);
    stream_gate gates[READERS];
    weft_status status = a && writer ? WEFT_OK : WEFT_ERROR_MEMORY;
    int made = 0;
    for (int i = 0; i < READERS; i++)
        gates[i] = (stream_gate)GATE;
    for (; made < READERS && status == WEFT_OK; made++) {
        streams[made] = weft_stream_new(WEFT_CPU, .async = true);
        weft_array *const used[] = {a};
        status = streams[made] ? weft_stream_call(streams[made], gate_pass, &gates[made],
                                                  .reads = used, .reads_count = 1)
                               : WEFT_ERROR_MEMORY;
    }
    if (status == WEFT_OK)
        status = fill_on(writer, a, 2);
    bool early = false;
    for (int i = 0; i < READERS; i++) {
        pause_ms(1);
        early |= status == WEFT_OK && is_done(writer);
        gate_open(&gates[i]);
    }
    for (int i = 0; i < made; i++)
        weft_stream_release(streams[i]);
    CHECK_STATUS(status, WEFT_OK);
    CHECK(!early);
    CHECK(holds(a, 2));
}

/* A chain over three streams, queued while all of it is held. */
TEST(S5_order_is_transitive)
{
    AUTO_SCENE s;
    AUTO_STREAM third = weft_stream_new(WEFT_CPU, .async = true);
    bool begun = scene_begin(&s);
    WEFT_AUTO weft_array *c = make_full(0);
    CHECK(begun && third && c);
    CHECK_STATUS(hold(s.held, &s.gate), WEFT_OK);
    CHECK_STATUS(fill_on(s.held, s.a, 11), WEFT_OK);
    CHECK_STATUS(assign_on(s.other, s.b, s.a), WEFT_OK);
    CHECK_STATUS(assign_on(third, c, s.b), WEFT_OK);
    CHECK_STATUS(fill_on(s.held, s.a, 12), WEFT_OK);
    CHECK_STATUS(fill_on(third, s.b, 13), WEFT_OK);
    CHECK(stays_busy(third));
    gate_open(&s.gate);
    CHECK(holds(c, 11));
    CHECK(holds(s.a, 12));
    CHECK(holds(s.b, 13));
}

/* Source and target overlap, so the kernel goes through a copy, which must keep the order. */
TEST(S5_overlapping_assignment_keeps_the_order)
{
    AUTO_SCENE s;
    CHECK(scene_begin(&s));
    WEFT_AUTO weft_array *all = weft_arange(0, 1000, 1, .dtype = WEFT_I32);
    WEFT_AUTO weft_array *reversed = weft_slice(all, WEFT_REVERSED);
    CHECK(all && reversed);
    CHECK_STATUS(hold(s.held, &s.gate), WEFT_OK);
    CHECK_STATUS(assign_on(s.held, all, reversed), WEFT_OK);
    CHECK_STATUS(assign_on(s.other, s.a, all), WEFT_OK);
    gate_open(&s.gate);
    int data[1000];
    CHECK_STATUS(weft_copy_to_host(s.a, data, sizeof data), WEFT_OK);
    CHECK_INT(data[0], 999);
    CHECK_INT(data[999], 0);
    CHECK_INT(data[300], 699);
}

/* The caller's memory may be reused when the call returns, even if the stream has not begun. */
TEST(S5_copies_from_the_host_are_taken_at_the_call)
{
    AUTO_SCENE s;
    int data[1000];
    CHECK(scene_begin(&s));
    for (int i = 0; i < 1000; i++)
        data[i] = 21;
    CHECK_STATUS(hold(s.held, &s.gate), WEFT_OK);
    CHECK_STATUS(weft_stream_set_current(WEFT_CPU, s.held), WEFT_OK);
    weft_status status = weft_copy_from_host(s.a, data, sizeof data);
    weft_stream_set_current(WEFT_CPU, NULL);
    memset(data, 0, sizeof data);
    CHECK_STATUS(status, WEFT_OK);
    CHECK(stays_busy(s.held));
    gate_open(&s.gate);
    CHECK(holds(s.a, 21));
}

TEST_MAIN(TEST_OF(S4_equivalence), TEST_OF(S4_bound_arrays_use_their_stream),
          TEST_OF(S4_equivalent_streams_mix),
          TEST_OF(S4_streams_that_are_not_equivalent_do_not_mix),
          TEST_OF(S4_asarray_rebinds_without_a_copy),
          TEST_OF(S5_a_read_comes_after_the_write_on_another_stream),
          TEST_OF(S5_a_write_comes_after_the_read_on_another_stream),
          TEST_OF(S5_a_write_comes_after_the_write_on_another_stream),
          TEST_OF(S5_reads_on_two_streams_are_not_ordered),
          TEST_OF(S5_calls_take_part_in_the_order), TEST_OF(S5_views_take_part_in_the_order),
          TEST_OF(S5_a_write_waits_for_every_reader), TEST_OF(S5_order_is_transitive),
          TEST_OF(S5_overlapping_assignment_keeps_the_order),
          TEST_OF(S5_copies_from_the_host_are_taken_at_the_call));
