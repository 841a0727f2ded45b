/* Memory: kinds, allocators, counting, reuse, running out. */
#include "support/check.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/weft.h>

#include "support/gate.h"

static weft_device device(void) { return weft_device_named(test_device()); }

static bool on_cpu(void) { return device().kind == WEFT_DEVICE_CPU; }

static weft_statistics stats(void)
{
    weft_statistics now = {0};
    weft_memory_stats(device(), &now);
    return now;
}

/* Puts limit and threshold back on every way out of a test. */
struct bounds {
    int unused;
};
static void restore_bounds(struct bounds *bounds)
{
    (void)bounds;
    weft_memory_set_limit(device(), 0);
    weft_memory_set_threshold(device(), UINT64_MAX);
}
#define RESTORE_BOUNDS                                                                             \
    __attribute__((cleanup(restore_bounds), unused)) struct bounds restored_bounds = {0}

/* Until the end of the block, or until they are allowed again, hidden waits are errors. */
static void allow_waits(const bool *before) { weft_waits_forbid(*before); }
#define FORBID_WAITS                                                                               \
    __attribute__((cleanup(allow_waits), unused)) const bool waits_before = weft_waits_forbid(true)

TEST(M1_kinds_that_allocators_give)
{
    static const struct {
        weft_allocator allocator;
        weft_memory memory;
    } cases[] = {{WEFT_ALLOCATOR_DEFAULT, WEFT_MEMORY_DEVICE},
                 {WEFT_ALLOCATOR_ASYNC, WEFT_MEMORY_DEVICE},
                 {WEFT_ALLOCATOR_PITCHED, WEFT_MEMORY_DEVICE},
                 {WEFT_ALLOCATOR_PINNED, WEFT_MEMORY_HOST},
                 {WEFT_ALLOCATOR_MANAGED, WEFT_MEMORY_SHARED}};
    float host[3];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        WEFT_AUTO weft_array *a =
            weft_full(WEFT_SHAPE(3), 1.5f, .device = device(), .allocator = cases[i].allocator);
        CHECK(a);
        CHECK_INT(weft_array_memory(a), cases[i].memory);
        CHECK_INT((uintptr_t)weft_array_data(a) % 64, 0);
        CHECK_STATUS(weft_copy_to_host(a, host, sizeof host), WEFT_OK);
        CHECK(host[0] == 1.5f && host[2] == 1.5f);
    }
}

TEST(M1_kinds_that_are_asked_for)
{
    static const weft_memory kinds[] = {WEFT_MEMORY_DEVICE, WEFT_MEMORY_SHARED, WEFT_MEMORY_HOST};
    for (size_t i = 0; i < 3; i++) {
        WEFT_AUTO weft_array *a = weft_zeros(WEFT_SHAPE(5), .device = device(), .memory = kinds[i]);
        WEFT_AUTO weft_array *like = weft_ones_like(a);
        WEFT_AUTO weft_array *copy = weft_copy(a);
        CHECK(a && like && copy);
        CHECK_INT(weft_array_memory(a), kinds[i]);
        CHECK_INT(weft_array_memory(like), kinds[i]);
        CHECK_INT(weft_array_memory(copy), kinds[i]);
    }
    CHECK_STR(weft_memory_name(WEFT_MEMORY_DEVICE), "device");
    CHECK_STR(weft_memory_name(WEFT_MEMORY_SHARED), "shared");
    CHECK_STR(weft_memory_name(WEFT_MEMORY_HOST), "host");
    CHECK_STR(weft_memory_name(WEFT_MEMORY_LENT), "lent");
    CHECK_STR(weft_memory_name((weft_memory)99), "unknown");
}

TEST(M1_cpu_allocators_differ_in_alignment)
{
    if (!on_cpu())
        SKIP("how the CPU's allocators align");
    WEFT_AUTO weft_array *pinned = weft_empty(WEFT_SHAPE(3), .allocator = WEFT_ALLOCATOR_PINNED);
    WEFT_AUTO weft_array *managed = weft_empty(WEFT_SHAPE(3), .allocator = WEFT_ALLOCATOR_MANAGED);
    CHECK(pinned && managed);
    CHECK_INT((uintptr_t)weft_array_data(pinned) % 4096, 0);
    CHECK_INT((uintptr_t)weft_array_data(managed) % 4096, 0);
}

TEST(M1_pitched_rows)
{
    int16_t host[2 * 3 * 5], read[2 * 3 * 5];
    for (int i = 0; i < 30; i++)
        host[i] = (int16_t)(i * 3 - 40);
    WEFT_AUTO weft_array *a = weft_empty(WEFT_SHAPE(2, 3, 5), .dtype = WEFT_I16, .device = device(),
                                         .allocator = WEFT_ALLOCATOR_PITCHED);
    CHECK(a);
    CHECK_INT(weft_array_stride(a, 2), 2);
    CHECK_INT(weft_array_stride(a, 1) % 64, 0);
    CHECK(weft_array_stride(a, 1) >= 64);
    CHECK_INT(weft_array_stride(a, 0), 3 * weft_array_stride(a, 1));
    CHECK(!weft_array_is_contiguous(a));
    CHECK_INT(weft_array_bytes(a), sizeof host); /* of the elements alone */
    CHECK_STATUS(weft_copy_from_host(a, host, sizeof host), WEFT_OK);
    CHECK_STATUS(weft_copy_to_host(a, read, sizeof read), WEFT_OK);
    CHECK_BITS(read, host, sizeof host);
    WEFT_AUTO weft_array *flat = weft_reshape(a, WEFT_SHAPE(30));
    CHECK(flat);
    CHECK_STATUS(weft_copy_to_host(flat, read, sizeof read), WEFT_OK);
    CHECK_BITS(read, host, sizeof host);
    CHECK_STATUS(weft_resize(a, WEFT_SHAPE(4, 7)), WEFT_OK); /* stays pitched */
    CHECK_INT(weft_array_stride(a, 0), 64);
}

static weft_status fail_on_purpose(void *argument)
{
    (void)argument;
    return weft_error_set(WEFT_ERROR_CALLBACK, "on purpose");
}

/* Contents that were never computed are there again once all elements are written, padded or not.
 */
TEST(M1_pitched_rows_after_a_failure)
{
    float host[6];
    WEFT_AUTO weft_array *a =
        weft_zeros(WEFT_SHAPE(2, 3), .device = device(), .allocator = WEFT_ALLOCATOR_PITCHED);
    WEFT_AUTO weft_array *row = weft_slice(a, WEFT_AT(0));
    weft_stream *stream = weft_stream_current(device());
    CHECK(row && stream);
    weft_status called =
        weft_stream_call(stream, fail_on_purpose, NULL, .writes = &a, .writes_count = 1);
    CHECK((called == WEFT_OK) == weft_stream_is_async(stream));
    CHECK_STATUS(weft_copy_to_host(a, host, sizeof host), WEFT_ERROR_RESULT);
    CHECK_ERROR(WEFT_ERROR_RESULT, "on purpose");
    CHECK_STATUS(weft_fill(row, 1), WEFT_OK); /* a part of it is not enough */
    CHECK_STATUS(weft_copy_to_host(a, host, sizeof host), WEFT_ERROR_RESULT);
    CHECK_STATUS(weft_fill(a, 2), WEFT_OK);
    CHECK_STATUS(weft_copy_to_host(a, host, sizeof host), WEFT_OK);
    CHECK(host[0] == 2 && host[5] == 2);
}

/* An allocator of the user's own, which counts. */
struct counting {
    int allocated, released;
    size_t bytes;
    bool fails, misaligned;
};

static void *counting_allocate(void *context, size_t bytes, weft_device on)
{
    struct counting *counting = context;
    (void)on;
    if (counting->fails)
        return NULL;
    char *data = aligned_alloc(64, (bytes + 127) / 64 * 64);
    if (!data)
        return NULL;
    counting->allocated++;
    counting->bytes += bytes;
    return data + (counting->misaligned ? 8 : 0);
}

static void counting_release(void *context, void *pointer, size_t bytes, weft_device on)
{
    struct counting *counting = context;
    (void)on;
    counting->released++;
    counting->bytes -= bytes;
    free((char *)pointer - (counting->misaligned ? 8 : 0));
}

TEST(M1_user_allocator)
{
    if (!on_cpu())
        SKIP("memory of the C library is the CPU's");
    struct counting counting = {0};
    weft_user_allocator own = {counting_allocate, counting_release, &counting, 0};
    {
        WEFT_AUTO weft_array *a =
            weft_full(WEFT_SHAPE(10), 3, .dtype = WEFT_I64, .user_allocator = &own);
        CHECK(a);
        WEFT_AUTO weft_array *view = weft_slice(a, WEFT_RANGE(2, 4));
        CHECK(view);
        int64_t x = 0;
        CHECK_INT(counting.allocated, 1);
        CHECK_INT(counting.bytes, 80);
        CHECK_INT(weft_array_memory(a), WEFT_MEMORY_DEVICE);
        CHECK_STATUS(weft_resize(a, WEFT_SHAPE(20)), WEFT_OK); /* from the same allocator */
        CHECK_INT(counting.allocated, 2);
        CHECK_INT(counting.released, 0); /* the view holds the first */
        CHECK_STATUS(weft_item(view, &x), WEFT_OK);
        CHECK_INT(x, 3);
    }
    CHECK_INT(counting.released, 2);
    CHECK_INT(counting.bytes, 0);
}

TEST(M1_user_allocator_kind)
{
    if (!on_cpu())
        SKIP("memory of the C library is the CPU's");
    struct counting counting = {0};
    weft_user_allocator own = {counting_allocate, counting_release, &counting, WEFT_MEMORY_HOST};
    WEFT_AUTO weft_array *a = weft_empty(WEFT_SHAPE(10), .user_allocator = &own);
    CHECK(a);
    CHECK_INT(weft_array_memory(a), WEFT_MEMORY_HOST);
    weft_error_clear();
    WEFT_AUTO weft_array *other =
        weft_empty(WEFT_SHAPE(10), .user_allocator = &own, .memory = WEFT_MEMORY_SHARED);
    CHECK(!other);
    CHECK_ERROR(WEFT_ERROR_ARGUMENT, "shared");
    own.memory = WEFT_MEMORY_LENT; /* no allocator can give what the user lends */
    WEFT_AUTO weft_array *lent = weft_empty(WEFT_SHAPE(10), .user_allocator = &own);
    CHECK(!lent);
    CHECK_ERROR(WEFT_ERROR_ARGUMENT, "lent");
    own.memory = WEFT_MEMORY_HOST;
}

TEST(M1_user_allocator_fails)
{
    struct counting counting = {.fails = true};
    weft_user_allocator own = {counting_allocate, counting_release, &counting, 0};
    weft_error_clear();
    WEFT_AUTO weft_array *a =
        weft_zeros(WEFT_SHAPE(10), .user_allocator = &own, .device = device());
    CHECK(!a);
    CHECK_ERROR(WEFT_ERROR_MEMORY, "40");
    CHECK_STR(weft_error_last()->operand, "user_allocator");
    counting = (struct counting){.misaligned = true};
    WEFT_AUTO weft_array *b =
        weft_zeros(WEFT_SHAPE(10), .user_allocator = &own, .device = device());
    CHECK(!b);
    CHECK_ERROR(WEFT_ERROR_MEMORY, "aligned");
    CHECK_INT(counting.allocated, 1);
    CHECK_INT(counting.released, 1); /* given back */
    own.release = NULL;
    WEFT_AUTO weft_array *c =
        weft_zeros(WEFT_SHAPE(10), .user_allocator = &own, .device = device());
    CHECK(!c);
    CHECK_ERROR(WEFT_ERROR_ARGUMENT, "release");
}

TEST(M2_host_readable)
{
    static const weft_memory kinds[] = {WEFT_MEMORY_DEVICE, WEFT_MEMORY_SHARED, WEFT_MEMORY_HOST};
    weft_device_info info;
    CHECK_STATUS(weft_device_describe(device(), &info), WEFT_OK);
    for (size_t i = 0; i < 3; i++) {
        WEFT_AUTO weft_array *a =
            weft_full(WEFT_SHAPE(2), 7, .dtype = WEFT_U8, .device = device(), .memory = kinds[i]);
        CHECK(a);
        CHECK_STATUS(weft_eval(a), WEFT_OK);
        if (weft_array_host_readable(a))
            CHECK_INT(((uint8_t *)weft_array_data(a))[1], 7);
        if (kinds[i] != WEFT_MEMORY_DEVICE)
            CHECK_INT(weft_array_host_readable(a), info.shared_memory);
        CHECK(weft_array_host_readable(a) || !on_cpu());
        uint8_t read[2] = {0}; /* the API reads any kind */
        CHECK_STATUS(weft_copy_to_host(a, read, 2), WEFT_OK);
        CHECK_INT(read[0], 7);
    }
    float host[1] = {1};
    WEFT_AUTO weft_array *lent = weft_borrow(host, sizeof host, WEFT_SHAPE(1), WEFT_F32);
    WEFT_AUTO weft_array *handle = weft_handle(.device = device());
    CHECK(lent && handle);
    CHECK(weft_array_host_readable(lent));
    CHECK(!weft_array_host_readable(handle));
    CHECK(!weft_array_host_readable(NULL));
}

TEST(M3_kinds_mix)
{
    WEFT_AUTO weft_array *d =
        weft_full(WEFT_SHAPE(2), 1.0f, .device = device(), .memory = WEFT_MEMORY_DEVICE);
    WEFT_AUTO weft_array *s =
        weft_full(WEFT_SHAPE(2), 2.0f, .device = device(), .memory = WEFT_MEMORY_SHARED);
    WEFT_AUTO weft_array *h =
        weft_full(WEFT_SHAPE(2), 3.0f, .device = device(), .memory = WEFT_MEMORY_HOST);
    CHECK(d && s && h);
    float x = 0;
    CHECK_STATUS(weft_assign(d, s), WEFT_OK);
    CHECK_STATUS(weft_assign(s, h), WEFT_OK);
    CHECK_STATUS(weft_assign(h, d), WEFT_OK);
    CHECK_STATUS(weft_item(h, &x), WEFT_OK);
    CHECK(x == 2);
    CHECK_STATUS(weft_item(s, &x), WEFT_OK);
    CHECK(x == 3);
}

TEST(M3_result_kinds)
{
    static const weft_memory order[] = {WEFT_MEMORY_DEVICE, WEFT_MEMORY_SHARED, WEFT_MEMORY_HOST,
                                        WEFT_MEMORY_LENT}; /* each beats those after it */
    for (int a = 0; a < 4; a++)
        for (int b = 0; b < 4; b++)
            CHECK_INT(weft_memory_combine(order[a], order[b]), order[a < b ? a : b]);
    CHECK_INT(weft_memory_combine(WEFT_MEMORY_DEFAULT, WEFT_MEMORY_HOST), WEFT_MEMORY_HOST);
    CHECK_INT(weft_memory_combine(WEFT_MEMORY_HOST, WEFT_MEMORY_DEFAULT), WEFT_MEMORY_HOST);
}

TEST(M4_views_keep_memory_alive)
{
    uint64_t before = stats().bytes_in_use;
    weft_array *a = weft_arange(0, 1000, 1, .device = device());
    CHECK(a);
    WEFT_AUTO weft_array *b = weft_slice(a, WEFT_STEP(WEFT_END, WEFT_END, -3));
    WEFT_AUTO weft_array *c = b ? weft_reshape(b, WEFT_SHAPE(2, 167)) : NULL;
    weft_array_release(a);
    CHECK(b && c);
    CHECK_INT(stats().bytes_in_use, before + 4000);
    float x = 0;
    CHECK_STATUS(weft_item(c, &x), WEFT_OK);
    CHECK(x == 999);
    weft_array_release(b);
    b = NULL;
    weft_array_release(c);
    c = NULL;
    CHECK_INT(stats().bytes_in_use, before);
}

TEST(M4_references)
{
    uint64_t before = stats().bytes_in_use;
    WEFT_AUTO weft_array *a = weft_zeros(WEFT_SHAPE(10), .device = device());
    CHECK(a);
    CHECK(weft_array_retain(a) == a);
    weft_array_release(a);
    CHECK_INT(stats().bytes_in_use, before + 40);
    CHECK_INT(weft_array_count(a), 10);
}

TEST(M4_pending_work_keeps_its_operands)
{
    AUTO_STREAM stream = weft_stream_new(device(), .async = true);
    AUTO_GATE gate = GATE;
    weft_array *source = weft_full(WEFT_SHAPE(1000), 1.25f, .device = device());
    WEFT_AUTO weft_array *target = weft_zeros(WEFT_SHAPE(1000), .device = device());
    float host[1000];
    bool made = stream && source && target && hold(stream, &gate) == WEFT_OK &&
                weft_stream_set_current(device(), stream) == WEFT_OK;
    if (!made)
        weft_array_release(source);
    CHECK(made);
    weft_status status = weft_assign(target, source);
    weft_array_release(source);
    weft_stream_set_current(device(), NULL);
    CHECK_STATUS(status, WEFT_OK);
    /* new arrays, elsewhere, must not get the memory that is still to be read: filling it would
     * wait */
    FORBID_WAITS;
    for (int i = 0; i < 20; i++) {
        WEFT_AUTO weft_array *other = weft_full(WEFT_SHAPE(1000), 9.0f, .device = device());
        CHECK(other);
    }
    weft_waits_forbid(false);
    gate_open(&gate);
    CHECK_STATUS(weft_copy_to_host(target, host, sizeof host), WEFT_OK);
    for (int i = 0; i < 1000; i++)
        CHECK(host[i] == 1.25f);
}

TEST(M5_statistics_of_sizes)
{
    RESTORE_BOUNDS;
    CHECK_STATUS(weft_memory_trim(device(), 0), WEFT_OK);
    weft_statistics start = stats();
    CHECK_INT(start.bytes_cached, 0);
    CHECK_STATUS(weft_memory_reset_peak(device()), WEFT_OK);
    CHECK_INT(stats().bytes_peak, start.bytes_in_use);
    weft_array *a = weft_empty(WEFT_SHAPE(1000), .device = device());
    CHECK(a);
    weft_statistics with = stats();
    weft_array_release(a);
    weft_statistics after = stats();
    CHECK_INT(with.bytes_in_use, start.bytes_in_use + 4000);
    CHECK_INT(with.bytes_peak, start.bytes_in_use + 4000);
    CHECK_INT(with.allocations, start.allocations + 1);
    CHECK_INT(with.reuses, start.reuses);
    CHECK_INT(after.bytes_in_use, start.bytes_in_use);
    CHECK_INT(after.bytes_peak, with.bytes_peak);
    CHECK(after.bytes_cached >= 4000 && after.bytes_cached < 4600);
    WEFT_AUTO weft_array *b = weft_empty(WEFT_SHAPE(1000), .device = device());
    CHECK(b);
    CHECK_INT(stats().reuses, start.reuses + 1);
    CHECK_INT(stats().bytes_cached, 0);
}

TEST(M5_statistics_of_work)
{
    float host[6] = {1, 2, 3, 4, 5, 6};
    WEFT_AUTO weft_array *a = weft_zeros(WEFT_SHAPE(6), .device = device());
    WEFT_AUTO weft_array *b = weft_zeros(WEFT_SHAPE(6), .device = device());
    CHECK(a && b);
    weft_statistics start = stats();
    CHECK_STATUS(weft_copy_from_host(a, host, sizeof host), WEFT_OK);
    weft_statistics in = stats();
    CHECK_INT(in.copies_to_device, start.copies_to_device + 1);
    CHECK_INT(in.bytes_to_device, start.bytes_to_device + 24);
    CHECK_INT(in.copies_to_host, start.copies_to_host);
    CHECK_INT(in.copies_on_device, start.copies_on_device);
    CHECK_STATUS(weft_assign(b, a), WEFT_OK);
    weft_statistics within = stats();
    CHECK_INT(within.copies_on_device, in.copies_on_device + 1);
    CHECK_INT(within.bytes_on_device, in.bytes_on_device + 24);
    CHECK_INT(within.launches, in.launches + 1);
    CHECK_STATUS(weft_copy_to_host(b, host, sizeof host), WEFT_OK);
    weft_statistics out = stats();
    CHECK_INT(out.copies_to_host, within.copies_to_host + 1);
    CHECK_INT(out.bytes_to_host, within.bytes_to_host + 24);
    CHECK_INT(out.copies_to_device, in.copies_to_device);
    CHECK_INT(out.copies_on_device, within.copies_on_device);
}

TEST(M5_waits_are_counted)
{
    AUTO_STREAM stream = weft_stream_new(device(), .async = true);
    AUTO_GATE gate = GATE;
    CHECK(stream);
    uint64_t before = stats().waits;
    CHECK_STATUS(hold(stream, &gate), WEFT_OK);
    CHECK_INT(stats().waits, before);
    gate_open(&gate);
    weft_stream_release(weft_stream_retain(stream));
    CHECK_STATUS(weft_stream_synchronize(stream), WEFT_OK);
    CHECK(stats().waits <= before + 1);
}

TEST(M5_statistics_for_other_sizes)
{
    weft_statistics part;
    memset(&part, 0x55, sizeof part);
    CHECK_STATUS(weft_memory_stats_sized(device(), &part, 2 * sizeof(uint64_t)), WEFT_OK);
    CHECK(part.bytes_peak >= part.bytes_in_use);
    CHECK_INT(part.bytes_cached, 0x5555555555555555);
}

TEST(M5_freed_memory_is_reused)
{
    CHECK_STATUS(weft_memory_trim(device(), 0), WEFT_OK);
    static const int64_t sizes[] = {1, 100, 10000,
                                    1000000}; /* of a thread's cache and the pool's */
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        weft_array *a = weft_empty(WEFT_SHAPE(sizes[i]), .device = device());
        CHECK(a);
        void *at = weft_array_data(a);
        weft_array_release(a);
        WEFT_AUTO weft_array *b = weft_empty(WEFT_SHAPE(sizes[i]), .device = device());
        CHECK(b);
        CHECK(weft_array_data(b) == at);
    }
}

TEST(M5_reuse_in_stream_order)
{
    AUTO_STREAM stream = weft_stream_new(device(), .async = true);
    AUTO_GATE gate = GATE;
    CHECK(stream);
    CHECK_STATUS(weft_memory_trim(device(), 0), WEFT_OK);
    WEFT_AUTO weft_array *a = weft_empty(WEFT_SHAPE(5000), .device = device(), .stream = stream);
    CHECK(a);
    void *at = weft_array_data(a);
    CHECK_STATUS(hold(stream, &gate), WEFT_OK);
    CHECK_STATUS(weft_fill(a, 1.0f), WEFT_OK); /* queued behind the gate */
    FORBID_WAITS;
    uint64_t waits = stats().waits;
    weft_array_release(a);
    a = NULL;
    WEFT_AUTO weft_array *elsewhere = weft_full(WEFT_SHAPE(5000), 2.0f, .device = device());
    WEFT_AUTO weft_array *behind =
        weft_full(WEFT_SHAPE(5000), 3.0f, .device = device(), .stream = stream);
    CHECK(elsewhere && behind);
    CHECK(weft_array_data(elsewhere) != at); /* its old work has not begun */
    CHECK(weft_array_data(behind) == at);    /* comes after that work */
    CHECK_INT(stats().waits, waits);
    gate_open(&gate);
    weft_waits_forbid(false);
    float host[5000];
    CHECK_STATUS(weft_copy_to_host(elsewhere, host, sizeof host), WEFT_OK);
    CHECK(host[0] == 2 && host[4999] == 2);
    CHECK_STATUS(weft_copy_to_host(behind, host, sizeof host), WEFT_OK);
    CHECK(host[0] == 3 && host[4999] == 3);
}

TEST(M5_out_of_memory_says_what_and_why)
{
    RESTORE_BOUNDS;
    CHECK_STATUS(weft_memory_trim(device(), 0), WEFT_OK);
    WEFT_AUTO weft_array *a = weft_ones(WEFT_SHAPE(1024), .device = device());
    CHECK(a);
    weft_statistics before = stats();
    CHECK_STATUS(weft_memory_set_limit(device(), 1 << 20), WEFT_OK);
    weft_error_clear();
    WEFT_AUTO weft_array *b = weft_ones(WEFT_SHAPE(1 << 20), .device = device());
    CHECK(!b);
    CHECK_ERROR(WEFT_ERROR_MEMORY, "4194304");
    char part[64];
    snprintf(part, sizeof part, "%llu are in use", (unsigned long long)before.bytes_in_use);
    CHECK_ERROR(WEFT_ERROR_MEMORY, part);
    CHECK_ERROR(WEFT_ERROR_MEMORY, "cached");
    CHECK_ERROR(WEFT_ERROR_MEMORY, "1048576");
    CHECK_INT(stats().bytes_in_use, before.bytes_in_use);
    float x = 0; /* what there was is as it was */
    CHECK_STATUS(weft_item(a, &x), WEFT_OK);
    CHECK(x == 1);
    CHECK_STATUS(weft_resize(a, WEFT_SHAPE(1 << 20)), WEFT_ERROR_MEMORY);
    CHECK(weft_shape_equal(weft_array_shape(a), WEFT_SHAPE(1024)));
    CHECK_STATUS(weft_item(a, &x), WEFT_OK);
    CHECK(x == 1);
    CHECK_STATUS(weft_memory_set_limit(device(), 0), WEFT_OK);
    WEFT_AUTO weft_array *c = weft_ones(WEFT_SHAPE(1 << 20), .device = device());
    CHECK(c);
}

TEST(M5_caches_are_dropped_before_giving_up)
{
    RESTORE_BOUNDS;
    CHECK_STATUS(weft_memory_trim(device(), 0), WEFT_OK);
    WEFT_AUTO weft_array *large = weft_empty(WEFT_SHAPE(1 << 18), .device = device());
    WEFT_AUTO weft_array *small = weft_empty(WEFT_SHAPE(100), .device = device());
    CHECK(large && small);
    uint64_t bytes = stats().bytes_in_use;
    weft_array_release(large);
    weft_array_release(small);
    large = small = NULL;
    CHECK(stats().bytes_cached >= (1 << 20));
    /* room for what is cached, but not for another size as well */
    CHECK_STATUS(weft_memory_set_limit(device(), bytes + (1 << 18)), WEFT_OK);
    WEFT_AUTO weft_array *other = weft_empty(WEFT_SHAPE(1 << 17), .device = device());
    CHECK(other);
    CHECK_INT(stats().bytes_cached, 0);
}

/* Cached memory that queued work still uses is waited for before giving up. */
TEST(M5_pending_caches_are_waited_for)
{
    RESTORE_BOUNDS;
    AUTO_STREAM stream = weft_stream_new(device(), .async = true);
    CHECK(stream);
    CHECK_STATUS(weft_memory_trim(device(), 0), WEFT_OK);
    uint64_t used = stats().bytes_in_use;
    WEFT_AUTO weft_array *a = weft_zeros(WEFT_SHAPE(1 << 20), .device = device(), .stream = stream);
    CHECK(a);
    for (int i = 0; i < 50; i++)
        CHECK_STATUS(weft_fill(a, i), WEFT_OK);
    weft_array_release(a);
    a = NULL;
    CHECK_STATUS(weft_memory_set_limit(device(), used + (5 << 20)), WEFT_OK);
    WEFT_AUTO weft_array *b = weft_zeros(WEFT_SHAPE(3 << 18), .device = device());
    CHECK(b);
}

TEST(M5_trim_and_threshold)
{
    RESTORE_BOUNDS;
    CHECK_STATUS(weft_device_synchronize(device()), WEFT_OK);
    CHECK_STATUS(weft_memory_trim(device(), 0), WEFT_OK);
    CHECK_INT(stats().bytes_cached, 0);
    CHECK_STATUS(weft_memory_set_threshold(device(), 8192), WEFT_OK);
    weft_array_release(weft_empty(WEFT_SHAPE(100000), .device = device()));
    CHECK_INT(stats().bytes_cached, 0); /* too large to be kept */
    weft_array_release(weft_empty(WEFT_SHAPE(1000), .device = device()));
    CHECK(stats().bytes_cached >= 4000 && stats().bytes_cached <= 8192);
    CHECK_STATUS(weft_memory_set_threshold(device(), 0), WEFT_OK);
    CHECK_INT(stats().bytes_cached, 0);
    weft_array_release(weft_empty(WEFT_SHAPE(10), .device = device()));
    CHECK_INT(stats().bytes_cached, 0);
    CHECK_STATUS(weft_memory_set_threshold(device(), UINT64_MAX), WEFT_OK);
    weft_array_release(weft_empty(WEFT_SHAPE(100000), .device = device()));
    weft_array_release(weft_empty(WEFT_SHAPE(1000), .device = device()));
    CHECK(stats().bytes_cached > 400000);
    CHECK_STATUS(weft_memory_trim(device(), 10000), WEFT_OK);
    CHECK(stats().bytes_cached <= 10000 && stats().bytes_cached >= 4000);
}

static void *cache_and_end(void *argument)
{
    (void)argument;
    weft_array_release(weft_empty(WEFT_SHAPE(200), .device = device()));
    return NULL;
}

/* What a thread had cached for itself is not lost when it ends. */
TEST(M5_a_threads_cache_outlives_it)
{
    pthread_t thread;
    CHECK_STATUS(weft_memory_trim(device(), 0), WEFT_OK);
    CHECK_INT(pthread_create(&thread, NULL, cache_and_end, NULL), 0);
    pthread_join(thread, NULL);
    uint64_t cached = stats().bytes_cached;
    CHECK_STATUS(weft_memory_trim(device(), 0), WEFT_OK);
    CHECK_INT(stats().bytes_cached, 0);
    CHECK(cached >= 800 || test_faults());
}

TEST_MAIN(TEST_OF(M1_kinds_that_allocators_give), TEST_OF(M1_kinds_that_are_asked_for),
          TEST_OF(M1_cpu_allocators_differ_in_alignment), TEST_OF(M1_pitched_rows),
          TEST_OF(M1_pitched_rows_after_a_failure), TEST_OF(M1_user_allocator),
          TEST_OF(M1_user_allocator_kind), TEST_OF(M1_user_allocator_fails),
          TEST_OF(M2_host_readable), TEST_OF(M3_kinds_mix), TEST_OF(M3_result_kinds),
          TEST_OF(M4_views_keep_memory_alive), TEST_OF(M4_references),
          TEST_OF(M4_pending_work_keeps_its_operands), TEST_OF(M5_statistics_of_sizes),
          TEST_OF(M5_statistics_of_work), TEST_OF(M5_waits_are_counted),
          TEST_OF(M5_statistics_for_other_sizes), TEST_OF(M5_freed_memory_is_reused),
          TEST_OF(M5_reuse_in_stream_order), TEST_OF(M5_out_of_memory_says_what_and_why),
          TEST_OF(M5_caches_are_dropped_before_giving_up),
          TEST_OF(M5_pending_caches_are_waited_for), TEST_OF(M5_trim_and_threshold),
          TEST_OF(M5_a_threads_cache_outlives_it));
