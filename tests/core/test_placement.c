/* Placement: the rules of computing where the data is, for devices, queues and kinds of memory. Run
 * on a device other than the CPU, these have two devices to tell apart. */
#include "support/check.h"
#include "support/streams.h"

#include <string.h>

static weft_device device(void) { return weft_device_named(test_device()); }

/* Another device than the one that is tested; the same if there is but one. Where allocations fail,
 * records that streams of devices keep to be used again would count as left behind. */
static weft_device other_device(void)
{
    for (int i = 0; !test_faults() && i < weft_device_count(); i++)
        if (!weft_device_equal(weft_device_at(i), device()))
            return weft_device_at(i);
    return device();
}
static bool has_other(void) { return !weft_device_equal(other_device(), device()); }

static weft_statistics counters(weft_device of)
{
    weft_statistics statistics = {0};
    weft_memory_stats(of, &statistics);
    return statistics;
}

static uint64_t copies(weft_device of)
{
    weft_statistics s = counters(of);
    return s.copies_to_device + s.copies_to_host + s.copies_on_device;
}

static bool is_on(const weft_array *array, weft_device where)
{
    return array && weft_device_equal(weft_array_device(array), where);
}

/* The kernel of the listings, as one and as an expression. */
WEFT_KERNEL(multiply, (a, b, c), { c(i) = a(i) * b(i); });

static weft_status f(weft_array *a, weft_array *b, weft_array *c, bool kernel)
{
    return kernel ? weft_launch(multiply, c, a, b, c) : weft(c = a * b, a, b, c);
}

/* Three arrays of 1000 i32 (2, 3 and 0), each of a kind and bound to a queue. */
typedef struct operands {
    weft_array *a, *b, *c;
} operands;

static void operands_end(operands *o)
{
    weft_array_release(o->a);
    weft_array_release(o->b);
    weft_array_release(o->c);
}
#define AUTO_OPERANDS __attribute__((cleanup(operands_end), unused)) operands

static weft_array *full(int value, weft_stream *queue, weft_memory memory)
{
    return queue ? weft_full(WEFT_SHAPE(1000), value, .dtype = WEFT_I32, .stream = queue,
                             .memory = memory)
                 : weft_full(WEFT_SHAPE(1000), value, .dtype = WEFT_I32, .device = device(),
                             .memory = memory);
}

static operands make(weft_stream *of_a, weft_stream *of_b, weft_stream *of_c)
{
    return (operands){full(2, of_a, WEFT_MEMORY_SHARED), full(3, of_b, WEFT_MEMORY_SHARED),
                      full(0, of_c, WEFT_MEMORY_SHARED)};
}

/* Rule 1, first: one queue, where the work then is. */
TEST(S4_listing_1_one_queue)
{
    for (int kernel = 0; kernel < 2; kernel++) {
        AUTO_STREAM queue = weft_stream_new(device(), .async = true);
        AUTO_GATE gate = GATE;
        AUTO_OPERANDS o = make(queue, queue, queue);
        CHECK(queue && o.a && o.b && o.c);
        CHECK_STATUS(weft_stream_synchronize(queue), WEFT_OK);
        CHECK_STATUS(hold(queue, &gate), WEFT_OK);
        weft_status status = f(o.a, o.b, o.c, kernel);
        bool queued = stays_busy(queue);
        gate_open(&gate);
        CHECK_STATUS(status, WEFT_OK);
        CHECK(queued && holds(o.c, 6));
    }
}

/* Rule 1, second: queues that are not equivalent. */
TEST(S4_listing_2_queues_that_are_not_equivalent)
{
    for (int kernel = 0; kernel < 2; kernel++) {
        AUTO_STREAM queue = weft_stream_new(device(), .async = true);
        AUTO_STREAM queue_1 = weft_stream_new(device(), .async = true, .profiling = true);
        CHECK(queue && queue_1 && !weft_stream_equivalent(queue, queue_1));
        AUTO_OPERANDS o = make(queue, queue_1, queue_1);
        CHECK(o.a && o.b && o.c);
        CHECK_STATUS(f(o.a, o.b, o.c, kernel), WEFT_ERROR_PLACEMENT);
        CHECK_ERROR(WEFT_ERROR_PLACEMENT, "a on ");
        CHECK_ERROR(WEFT_ERROR_PLACEMENT, "b on ");
        CHECK_ERROR(WEFT_ERROR_PLACEMENT, "c on ");
        CHECK_ERROR(WEFT_ERROR_PLACEMENT, "(shared, stream ");
        CHECK_ERROR(WEFT_ERROR_PLACEMENT, " profiling)");
        CHECK_ERROR(WEFT_ERROR_PLACEMENT, "weft_asarray(b, .stream = weft_array_stream(a))");
        CHECK(holds(o.c, 0));
    }
}

/* Rule 1, third: queues that are equivalent. The work goes to the first. */
TEST(S4_listing_3_equivalent_queues)
{
    for (int kernel = 0; kernel < 2; kernel++) {
        AUTO_STREAM queue_1 = weft_stream_new(device(), .async = true, .profiling = true);
        AUTO_STREAM queue_2 = weft_stream_new(device(), .async = true, .profiling = true);
        CHECK(queue_1 && queue_2 && weft_stream_equivalent(queue_1, queue_2));
        AUTO_OPERANDS o = make(queue_1, queue_2, queue_2);
        CHECK(o.a && o.b && o.c);
        CHECK_STATUS(f(o.a, o.b, o.c, kernel), WEFT_OK);
        CHECK(holds(o.c, 6));
    }
}

/* Rule 2: kinds mix on one queue, all three in one call. */
TEST(M3_listing_4_kinds_mix)
{
    for (int kernel = 0; kernel < 2; kernel++) {
        AUTO_STREAM queue = weft_stream_new(device(), .async = true);
        CHECK(queue);
        AUTO_OPERANDS o = {full(2, queue, WEFT_MEMORY_SHARED), full(3, queue, WEFT_MEMORY_DEVICE),
                           full(0, queue, WEFT_MEMORY_HOST)};
        CHECK(o.a && o.b && o.c);
        CHECK_STATUS(f(o.a, o.b, o.c, kernel), WEFT_OK);
        CHECK(holds(o.c, 6));
    }
}

/* Rule 3: asarray makes data compatible, here without a copy. */
TEST(S4_listing_5_asarray_to_another_queue)
{
    for (int kernel = 0; kernel < 2; kernel++) {
        AUTO_STREAM queue_1 = weft_stream_new(device(), .async = true);
        AUTO_STREAM queue_2 = weft_stream_new(device(), .async = true, .profiling = true);
        CHECK(queue_1 && queue_2);
        AUTO_OPERANDS o = make(queue_1, queue_2, queue_2);
        CHECK(o.a && o.b && o.c);
        CHECK_STATUS(f(o.a, o.b, o.c, kernel), WEFT_ERROR_PLACEMENT);
        const uint64_t before = copies(device()), allocations = counters(device()).allocations;
        WEFT_AUTO weft_array *moved = weft_asarray(o.a, .stream = queue_2);
        CHECK(moved && weft_array_stream(moved) == queue_2);
        CHECK(weft_array_data(moved) == weft_array_data(o.a));
        CHECK_INT(copies(device()), before);
        CHECK_INT(counters(device()).allocations, allocations);
        CHECK_STATUS(f(moved, o.b, o.c, kernel), WEFT_OK);
        CHECK(holds(o.c, 6));
    }
}

static weft_array *lend(int *memory, int value)
{
    for (int i = 0; i < 1000; i++)
        memory[i] = value;
    return weft_borrow(memory, 1000 * sizeof *memory, WEFT_SHAPE(1000), WEFT_I32);
}

/* Host memory, first: outside a context it is an error on request, and the CPU's work otherwise;
 * inside one it is the device's, and complete on return of a synchronize. */
TEST(D5_listing_6_host_memory)
{
    static int memory[3][1000];
    for (int kernel = 0; kernel < 2; kernel++) {
        AUTO_OPERANDS o = {lend(memory[0], 2), lend(memory[1], 3), lend(memory[2], 0)};
        CHECK(o.a && o.b && o.c);
        bool old = weft_lent_forbid(true);
        weft_status refused = f(o.a, o.b, o.c, kernel);
        weft_lent_forbid(old);
        CHECK_STATUS(refused, WEFT_ERROR_PLACEMENT);
        CHECK_ERROR(WEFT_ERROR_PLACEMENT, "WEFT_ON");
        CHECK_INT(memory[2][999], 0);
        uint64_t before = counters(WEFT_CPU).launches;
        CHECK_STATUS(f(o.a, o.b, o.c, kernel), WEFT_OK);
        CHECK_INT(memory[2][999], 6);
        CHECK(counters(WEFT_CPU).launches > before);
        CHECK_STATUS(weft_fill(o.a, 5), WEFT_OK);
        before = counters(device()).launches;
        {
            WEFT_ON(device());
            old = weft_lent_forbid(true);
            weft_status status = f(o.a, o.b, o.c, kernel);
            weft_lent_forbid(old);
            CHECK_STATUS(status, WEFT_OK);
        }
        CHECK(counters(device()).launches > before);
        CHECK_STATUS(weft_eval(o.c), WEFT_OK);
        CHECK_INT(memory[2][0], 15);
        CHECK_INT(memory[2][999], 15);
    }
}

/* Other operations on host memory inside a context. */
TEST(D5_host_memory_in_other_operations)
{
    static int memory[1000];
    static int64_t sums[1000];
    WEFT_AUTO weft_array *a = lend(memory, 2);
    WEFT_AUTO weft_array *out = weft_borrow(sums, sizeof sums, WEFT_SHAPE(1000), WEFT_I64);
    CHECK(a && out);
    WEFT_ON(device());
    WEFT_AUTO weft_array *same = weft_cumulative_sum(a, 0, .out = out);
    WEFT_AUTO weft_array *sum = weft_sum(a);
    CHECK(same == out && is_on(sum, device()));
    CHECK_STATUS(weft_eval(out), WEFT_OK);
    int64_t total = 0;
    CHECK_STATUS(weft_item(sum, &total), WEFT_OK);
    CHECK_INT(total, 2000);
    CHECK_INT(sums[0], 2);
    CHECK_INT(sums[999], 2000);
}

/* Host memory, second: with placed arrays it is an error, in whatever context. */
TEST(D5_listing_7_host_memory_with_arrays)
{
    static int memory[2][1000];
    for (int kernel = 0; kernel < 2; kernel++) {
        AUTO_OPERANDS o = {lend(memory[0], 2), lend(memory[1], 3),
                           full(0, NULL, WEFT_MEMORY_DEVICE)};
        CHECK(o.a && o.b && o.c);
        CHECK_STATUS(f(o.a, o.b, o.c, kernel), WEFT_ERROR_PLACEMENT);
        CHECK_ERROR(WEFT_ERROR_PLACEMENT, "a lent (lent), b lent (lent), c on ");
        CHECK_ERROR(WEFT_ERROR_PLACEMENT, "weft_to_device(a, weft_array_device(c), NULL)");
        {
            WEFT_ON(other_device());
            CHECK_STATUS(f(o.a, o.b, o.c, kernel), WEFT_ERROR_PLACEMENT);
        }
        {
            WEFT_ON(device());
            CHECK_STATUS(f(o.a, o.b, o.c, kernel), WEFT_ERROR_PLACEMENT);
        }
        CHECK(holds(o.c, 0));
        WEFT_AUTO weft_array *a = weft_to_device(o.a, device(), NULL);
        WEFT_AUTO weft_array *b = weft_to_device(o.b, weft_array_device(o.c), NULL);
        CHECK(a && b);
        CHECK_STATUS(f(a, b, o.c, kernel), WEFT_OK); /* what the message said */
        CHECK(holds(o.c, 6));
    }
}

/* The table of kinds: each cell, for results of expressions, functions, handles and more. */
TEST(M3_the_nine_cells)
{
    static const weft_memory D = WEFT_MEMORY_DEVICE, S = WEFT_MEMORY_SHARED, H = WEFT_MEMORY_HOST;
    const weft_memory kinds[] = {D, S, H}, table[3][3] = {{D, D, D}, {D, S, S}, {D, S, H}};
    for (int i = 0; i < 9; i++) {
        const weft_memory expected = table[i / 3][i % 3];
        WEFT_AUTO weft_array *a = full(2, NULL, kinds[i / 3]), *b = full(3, NULL, kinds[i % 3]);
        CHECK(a && b);
        CHECK_INT(weft_memory_combine(kinds[i / 3], kinds[i % 3]), expected);
        WEFT_AUTO weft_array *c = weft_new(a * b, a, b), *sum = weft_add(a, b), *h = weft_handle();
        CHECK(c && sum && h && holds(c, 6) && holds(sum, 5));
        CHECK_INT(weft_array_memory(c), expected);
        CHECK_INT(weft_array_memory(sum), expected);
        CHECK_STATUS(weft(h = a - b, a, b, h), WEFT_OK);
        CHECK_INT(weft_array_memory(h), expected);
        CHECK(is_on(c, device()) && is_on(h, device()) && holds(h, -1));
        WEFT_AUTO weft_array *equal = weft_array_equal_new(a, b);
        CHECK_INT(weft_array_memory(equal), expected);
    }
}

/* One operand: its own kind, and with C numbers too. */
TEST(M3_results_of_one_operand)
{
    static const weft_memory kinds[] = {WEFT_MEMORY_DEVICE, WEFT_MEMORY_SHARED, WEFT_MEMORY_HOST};
    for (int i = 0; i < 3; i++) {
        WEFT_AUTO weft_array *a = full(2, NULL, kinds[i]);
        WEFT_AUTO weft_array *b = weft_new(a * 2 + 1, a), *sum = weft_sum(a), *copy = weft_copy(a);
        WEFT_AUTO weft_array *sums = weft_cumulative_sum(a, 0), *like = weft_zeros_like(a);
        weft_array *all[] = {b, sum, copy, sums, like};
        for (int k = 0; k < 5; k++)
            CHECK(all[k] && weft_array_memory(all[k]) == kinds[i] && is_on(all[k], device()));
        WEFT_AUTO weft_array *other = weft_zeros_like(a, .memory = WEFT_MEMORY_HOST);
        CHECK_INT(weft_array_memory(other), WEFT_MEMORY_HOST); /* given explicitly wins */
    }
}

/* Lent memory has no kind to give. */
TEST(M3_results_of_lent_memory)
{
    static int memory[1000];
    WEFT_AUTO weft_array *a = lend(memory, 2);
    WEFT_AUTO weft_array *b = weft_new(a * 2, a);
    CHECK(a && b);
    CHECK_INT(weft_array_memory(b), WEFT_MEMORY_DEVICE);
    CHECK(is_on(b, WEFT_CPU));
    {
        WEFT_ON(device());
        WEFT_AUTO weft_array *c = weft_new(a * 2, a);
        CHECK(is_on(c, device()) && holds(c, 4));
    }
}

/* Results are bound as their operands are. */
TEST(S4_results_are_bound)
{
    AUTO_STREAM queue = weft_stream_new(device(), .async = true);
    WEFT_AUTO weft_array *a = full(2, queue, WEFT_MEMORY_DEVICE), *b = full(3, NULL, 0);
    CHECK(queue && a && b);
    WEFT_AUTO weft_array *c = weft_new(b * a, a, b), *d = weft_new(b + 1, b);
    WEFT_AUTO weft_array *like = weft_ones_like(a), *sums = weft_cumulative_sum(a, 0);
    WEFT_AUTO weft_array *free = weft_ones_like(a, .device = device());
    CHECK(c && d && like && sums && free);
    CHECK(weft_array_stream(c) == queue && !weft_array_stream(d));
    CHECK(weft_array_stream(like) == queue && weft_array_stream(sums) == queue);
    CHECK(!weft_array_stream(free));
    CHECK(holds(c, 6));
}

/* Where a new array goes: each rule beats those after it. */
TEST(D4_precedence)
{
    const weft_device here = device(), there = other_device();
    const weft_shape shape = WEFT_SHAPE(3);
    WEFT_AUTO weft_array *on_there = weft_zeros(shape, .device = there);
    CHECK(on_there);
    {
        WEFT_ON(there);
        WEFT_AUTO weft_array *given = weft_zeros_like(on_there, .device = here);
        WEFT_AUTO weft_array *context = weft_zeros(shape);
        CHECK(is_on(given, here) && is_on(context, there)); /* 1: the device given */
    }
    {
        WEFT_ON(here);
        WEFT_AUTO weft_array *like = weft_ones_like(on_there), *copy = weft_copy(on_there);
        WEFT_AUTO weft_array *value = weft_new(on_there + 1, on_there);
        WEFT_AUTO weft_array *handle = weft_handle();
        CHECK(is_on(like, there) && is_on(copy, there) && is_on(value, there));
        CHECK_STATUS(weft(handle = on_there + 1, handle, on_there), WEFT_OK);
        CHECK(is_on(handle, there)); /* 2: the arrays it is made from */
        {
            WEFT_ON(there);
            WEFT_AUTO weft_array *inner = weft_zeros(shape);
            CHECK(is_on(inner, there)); /* 3: the innermost context */
        }
        WEFT_AUTO weft_array *outer = weft_zeros(shape);
        CHECK(is_on(outer, here));
    }
    CHECK_STATUS(weft_device_set_default(here), WEFT_OK);
    {
        WEFT_ON(there);
        WEFT_AUTO weft_array *context = weft_zeros(shape);
        weft_device_set_default(WEFT_NO_DEVICE);
        CHECK(is_on(context, there));
    }
    CHECK_STATUS(weft_device_set_default(here), WEFT_OK);
    WEFT_AUTO weft_array *by_default = weft_zeros(shape); /* 4: the process default */
    weft_device_set_default(WEFT_NO_DEVICE);
    CHECK(is_on(by_default, here));
}

/* What is given explicitly is kept, or it is an error: a handle on one device is not the result of
 * operands on another. */
TEST(D5_a_handle_that_contradicts_its_operands)
{
    if (!has_other())
        SKIP("one device");
    WEFT_AUTO weft_array *a = full(2, NULL, WEFT_MEMORY_DEVICE);
    WEFT_AUTO weft_array *h = weft_handle(.device = other_device());
    CHECK(a && h);
    CHECK_STATUS(weft(h = a * 2, h, a), WEFT_ERROR_PLACEMENT);
    CHECK(weft_array_is_handle(h));
    {
        AUTO_STREAM queue = weft_stream_new(other_device(), .async = true);
        CHECK(queue);
        weft_error_clear();
        WEFT_AUTO weft_array *both = weft_zeros(WEFT_SHAPE(2), .device = device(), .stream = queue);
        CHECK(!both);
        CHECK_ERROR(WEFT_ERROR_PLACEMENT, "leave one of them out");
    }
}

/* Arrays on different devices, also of no dimensions, are an error in any context; C numbers are
 * everywhere. */
TEST(D5_different_devices)
{
    if (!has_other())
        SKIP("one device");
    AUTO_OPERANDS o = {full(2, NULL, WEFT_MEMORY_DEVICE),
                       weft_full(WEFT_SCALAR, 3, .dtype = WEFT_I32, .device = other_device()),
                       full(0, NULL, WEFT_MEMORY_DEVICE)};
    CHECK(o.a && o.b && o.c);
    weft_array *a = o.a, *b = o.b, *c = o.c;
    CHECK_STATUS(weft(c = a * b, a, b, c), WEFT_ERROR_PLACEMENT);
    CHECK_ERROR(WEFT_ERROR_PLACEMENT, weft_device_id(device()));
    CHECK_ERROR(WEFT_ERROR_PLACEMENT, weft_device_id(other_device()));
    CHECK_ERROR(WEFT_ERROR_PLACEMENT, "weft_to_device(b, weft_array_device(a), NULL)");
    {
        WEFT_ON(other_device());
        CHECK_STATUS(weft(c = a * b, a, b, c), WEFT_ERROR_PLACEMENT);
    }
    CHECK(!weft_add(a, b) && weft_error_code() == WEFT_ERROR_PLACEMENT);
    const int number = 3;
    CHECK_STATUS(weft(c = a * number, a, number, c), WEFT_OK);
    CHECK(holds(c, 6));
}

/* asarray: must, may and must not copy, with what the counters say. */
TEST(D6_asarray_copies_when_it_must)
{
    WEFT_AUTO weft_array *a = full(2, NULL, WEFT_MEMORY_DEVICE);
    CHECK(a);
    const uint64_t before = copies(device());
    WEFT_AUTO weft_array *same =
        weft_asarray(a, .device = device(), .dtype = WEFT_I32, .memory = WEFT_MEMORY_DEVICE);
    WEFT_AUTO weft_array *never = weft_asarray(a, .copy = WEFT_COPY_NEVER);
    CHECK(same && never && weft_array_data(same) == weft_array_data(a) &&
          weft_array_data(never) == weft_array_data(a));
    CHECK_INT(copies(device()), before);
    WEFT_AUTO weft_array *always = weft_asarray(a, .copy = WEFT_COPY_ALWAYS);
    CHECK(always && weft_array_data(always) != weft_array_data(a) && holds(always, 2));
    WEFT_AUTO weft_array *kind = weft_asarray(a, .memory = WEFT_MEMORY_HOST);
    CHECK(kind && weft_array_memory(kind) == WEFT_MEMORY_HOST && holds(kind, 2));
    weft_error_clear();
    WEFT_AUTO weft_array *refused =
        weft_asarray(a, .memory = WEFT_MEMORY_SHARED, .copy = WEFT_COPY_NEVER);
    CHECK(!refused);
    CHECK_ERROR(WEFT_ERROR_PLACEMENT, "a copy is needed");
    WEFT_AUTO weft_array *converted = weft_asarray(a, .dtype = WEFT_F64);
    CHECK(converted && weft_array_dtype(converted) == WEFT_F64);
}

/* Lent memory is placed on the CPU without a copy, and then goes together with what is there. */
TEST(D6_asarray_places_lent_memory)
{
    static int memory[1000];
    WEFT_AUTO weft_array *lent = lend(memory, 2);
    WEFT_AUTO weft_array *b = weft_full(WEFT_SHAPE(1000), 3, .dtype = WEFT_I32, .device = WEFT_CPU);
    CHECK(lent && b);
    const uint64_t before = copies(WEFT_CPU);
    WEFT_AUTO weft_array *a = weft_asarray(lent, .device = WEFT_CPU);
    CHECK(a && weft_array_data(a) == memory && is_on(a, WEFT_CPU));
    CHECK_INT(copies(WEFT_CPU), before);
    CHECK_STATUS(weft(a = a * b, a, b), WEFT_OK);
    CHECK_INT(memory[999], 6);
    CHECK_STATUS(weft(lent = lent + b, lent, b), WEFT_ERROR_PLACEMENT); /* that one is nowhere */
    WEFT_AUTO weft_array *there = weft_to_device(a, device(), NULL);
    CHECK(is_on(there, device()) && holds(there, 6));
    {
        WEFT_ON(other_device());
        WEFT_AUTO weft_array *result = weft_new(a + b, a, b), *like = weft_zeros_like(a);
        CHECK(is_on(result, WEFT_CPU) && is_on(like, WEFT_CPU) && holds(result, 9));
    }
}

/* Memory of the device that the host can read is used by the CPU where it is, in order with the
 * device's work, and back. */
TEST(D6_asarray_to_the_host_and_back)
{
    AUTO_STREAM queue = weft_stream_new(device(), .async = true);
    WEFT_AUTO weft_array *a = full(2, queue, WEFT_MEMORY_SHARED);
    CHECK(queue && a);
    if (!weft_array_host_readable(a))
        SKIP("the host cannot read this device's shared memory");
    const uint64_t before = copies(device()) + copies(WEFT_CPU);
    WEFT_AUTO weft_array *host = weft_asarray(a, .device = WEFT_CPU);
    CHECK(host && is_on(host, WEFT_CPU) && weft_array_data(host) == weft_array_data(a));
    for (int i = 0; i < 20; i++) {
        CHECK_STATUS(weft(a = a + 1, a), WEFT_OK);          /* on the device */
        CHECK_STATUS(weft(host = host * 2, host), WEFT_OK); /* on the CPU */
        CHECK_STATUS(weft(a = a - (a / 2 + 1), a), WEFT_OK);
    }
    WEFT_AUTO weft_array *back = weft_asarray(host, .device = device());
    CHECK(is_on(back, device()) && weft_array_data(back) == weft_array_data(a));
    CHECK_INT(copies(device()) + copies(WEFT_CPU), before);
    int expected = 2;
    for (int i = 0; i < 20; i++) {
        expected = (expected + 1) * 2;
        expected -= expected / 2 + 1;
    }
    CHECK(holds(back, expected));
}

/* With a stream, and from one device to another and back. */
TEST(D6_to_device_with_a_stream)
{
    AUTO_STREAM queue = weft_stream_new(device(), .async = true);
    WEFT_AUTO weft_array *a = weft_arange(0, 1000, 1, .dtype = WEFT_I32, .device = other_device());
    CHECK(queue && a);
    WEFT_AUTO weft_array *turned = weft_slice(a, WEFT_REVERSED);
    CHECK(turned);
    WEFT_AUTO weft_array *there = weft_to_device(turned, device(), queue);
    CHECK(is_on(there, device()) && weft_array_stream(there) == queue);
    const uint64_t before = copies(device());
    WEFT_AUTO weft_array *same = weft_to_device(there, device(), NULL);
    CHECK(same == there);
    CHECK_INT(copies(device()), before);
    WEFT_AUTO weft_array *back = weft_to_device(there, other_device(), NULL);
    int values[1000];
    CHECK(back);
    CHECK_STATUS(weft_copy_to_host(back, values, sizeof values), WEFT_OK);
    for (int i = 0; i < 1000; i++)
        CHECK_INT(values[i], 999 - i);
}

/* Between any two devices, directly or through the host, in pieces; nothing waits. */
TEST(D6_between_all_devices)
{
    enum { COUNT = 5000011 }; /* more than two pieces */
    static int32_t values[COUNT], back[COUNT];
    for (int i = 0; i < COUNT; i++)
        values[i] = i * 7;
    const int count = weft_device_count();
    for (int k = 0; k < count * count; k++) {
        const weft_device from = weft_device_at(k / count), to = weft_device_at(k % count);
        AUTO_STREAM stream = weft_stream_new(to, .async = true);
        WEFT_AUTO weft_array *a = weft_from_host(values, sizeof values, WEFT_SHAPE(COUNT),
                                                 .dtype = WEFT_I32, .device = from);
        CHECK(stream && a);
        CHECK_STATUS(weft_eval(a), WEFT_OK);
        const uint64_t waits = counters(from).waits + counters(to).waits;
        bool old = weft_waits_forbid(true);
        WEFT_AUTO weft_array *b = weft_to_device(a, to, stream);
        weft_waits_forbid(old);
        CHECK(is_on(b, to));
        CHECK_INT(counters(from).waits + counters(to).waits, waits);
        CHECK_STATUS(weft_copy_to_host(b, back, sizeof back), WEFT_OK);
        CHECK_BITS(back, values, sizeof values);
    }
}

/* Many operands: the message says that there are more than it has room for. */
TEST(D5_long_messages)
{
    static int memory[1000];
    WEFT_AUTO weft_array *operand_number_one = lend(memory, 2), *b = full(1, NULL, 0);
    CHECK(operand_number_one && b);
    weft_array *c = b, *d = b, *e = b, *g = b, *h = b, *k = b, *l = b, *m = b, *n = b, *o = b,
               *p = b;
    weft_array *q = b, *r = b, *s = b, *t = b, *u = b, *v = b, *w = b, *x = b, *y = b, *z = b;
    CHECK_STATUS(weft(b = operand_number_one + c + d + e + g + h + k + l + m + n + o + p + q + r +
                          s + t + u + v + w + x + y + z,
                      b, operand_number_one, c, d, e, g, h, k, l, m, n, o, p, q, r, s, t, u, v, w,
                      x, y, z),
                 WEFT_ERROR_PLACEMENT);
    CHECK_ERROR(WEFT_ERROR_PLACEMENT, "…; place it, as with weft_to_device(operand_number_");
}

TEST_MAIN(TEST_OF(S4_listing_1_one_queue), TEST_OF(S4_listing_2_queues_that_are_not_equivalent),
          TEST_OF(S4_listing_3_equivalent_queues), TEST_OF(M3_listing_4_kinds_mix),
          TEST_OF(S4_listing_5_asarray_to_another_queue), TEST_OF(D5_listing_6_host_memory),
          TEST_OF(D5_host_memory_in_other_operations),
          TEST_OF(D5_listing_7_host_memory_with_arrays), TEST_OF(M3_the_nine_cells),
          TEST_OF(M3_results_of_one_operand), TEST_OF(M3_results_of_lent_memory),
          TEST_OF(S4_results_are_bound), TEST_OF(D4_precedence),
          TEST_OF(D5_a_handle_that_contradicts_its_operands), TEST_OF(D5_different_devices),
          TEST_OF(D6_asarray_copies_when_it_must), TEST_OF(D6_asarray_places_lent_memory),
          TEST_OF(D6_asarray_to_the_host_and_back), TEST_OF(D6_to_device_with_a_stream),
          TEST_NO_FAULTS(D6_between_all_devices, "large copies between all devices"),
          TEST_OF(D5_long_messages));
