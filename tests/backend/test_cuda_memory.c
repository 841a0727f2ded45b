/* Memory of a CUDA device, the one under test or the stand-in: small reads through a cell of pinned
 * memory, and what is noted of addresses. */
#include "backend/cuda/cuda.h"
#include "backend/cuda_device.h"
#include "support/streams.h"

#define NEEDS_DEVICE                                                                               \
    do {                                                                                           \
        if (device().kind == WEFT_DEVICE_INVALID)                                                  \
            SKIP(weft_error_message());                                                            \
    } while (0)

enum { COUNT = 100000, CELL = 1024 /* i32 that it takes */ };

static weft_array *counted(weft_stream *stream)
{
    static int32_t values[COUNT];
    for (int i = 0; i < COUNT; i++)
        values[i] = i;
    return weft_from_host(values, sizeof values, WEFT_SHAPE(COUNT), .dtype = WEFT_I32,
                          .device = device(), .stream = stream);
}

/* Reads some elements from there on. */
static bool reads(weft_array *a, int64_t first, int64_t count)
{
    int32_t values[CELL + 1];
    WEFT_AUTO weft_array *piece = weft_slice(a, WEFT_RANGE(first, first + count));
    if (!piece || weft_copy_to_host(piece, values, (size_t)count * sizeof *values) != WEFT_OK)
        return false;
    for (int64_t i = 0; i < count; i++)
        if (values[i] != first + i)
            return false;
    return true;
}

/* Pieces of pinned memory that there are now. */
static int pinned(void) { return calls_of("cuMemHostAlloc") - calls_of("cuMemFreeHost"); }

/* How many there are without a cell. */
static int pinned_without(void) { return weft_memory_trim(device(), 0) == WEFT_OK ? pinned() : -1; }

TEST(M3_small_reads)
{
    NEEDS_DEVICE;
    WEFT_AUTO weft_array *a = counted(NULL);
    CHECK(a);
    CHECK_STATUS(weft_memory_trim(device(), 0), WEFT_OK);
    CHECK(reads(a, 0, 1) && reads(a, 77, CELL) && reads(a, COUNT - CELL - 1, CELL + 1));
}

typedef struct reader {
    pthread_t thread;
    weft_array *array;
    int64_t seed;
    bool right;
} reader;

static void *read_many(void *argument)
{
    reader *r = argument;
    r->right = true;
    for (int64_t k = 0; k < (test_quick() ? 30 : 300); k++) {
        const int64_t number = (r->seed * 7919 + k) * 104729;
        r->right &= reads(r->array, number % (COUNT - CELL), number / 64 % CELL + 1);
    }
    return NULL;
}

TEST(M3_small_reads_by_many_threads)
{
    NEEDS_DEVICE;
    enum { THREADS = 8 };
    reader readers[THREADS];
    WEFT_AUTO weft_array *a = counted(NULL);
    CHECK(a && reads(a, 5, 3));
    const int without = is_real() ? 0 : pinned_without();
    int started = 0, right = 0;
    while (started < THREADS) {
        readers[started] = (reader){.array = a, .seed = started};
        if (pthread_create(&readers[started].thread, NULL, read_many, &readers[started]) != 0)
            break;
        started++;
    }
    for (int k = 0; k < started; k++) {
        pthread_join(readers[k].thread, NULL);
        right += readers[k].right;
    }
    CHECK_INT(right, THREADS);
    if (is_real())
        return;
    CHECK_INT(pinned(), without + 1);
    CHECK_INT(pinned_without(), without);
}

static void *read_once(void *argument)
{
    reader *r = argument;
    r->right = reads(r->array, 17, CELL);
    return NULL;
}

/* One has the cell and waits; the other takes a second one, which is not kept. */
TEST(M3_two_small_reads_at_once)
{
    NEEDS_STANDIN;
    AUTO_STREAM stream = weft_stream_new(device(), .async = true);
    AUTO_GATE gate = GATE;
    WEFT_AUTO weft_array *held = counted(stream), *a = counted(NULL);
    CHECK(stream && held && a && reads(held, 3, 1));
    const int without = pinned_without();
    reader other = {.array = held};
    CHECK_STATUS(hold(stream, &gate), WEFT_OK);
    CHECK_INT(pthread_create(&other.thread, NULL, read_once, &other), 0);
    for (int k = 0; k < 5000 && pinned() == without; k++)
        pause_ms(1);
    const int first = pinned();
    const bool right = reads(a, 1, 1) && reads(a, 40, CELL);
    const int both = pinned();
    gate_open(&gate);
    pthread_join(other.thread, NULL);
    CHECK_INT(first, without + 1);
    CHECK_INT(both, without + 2);
    CHECK(right && other.right);
    CHECK_INT(pinned(), without + 1);
    CHECK_INT(pinned_without(), without);
}

TEST(M3_small_reads_without_a_cell)
{
    NEEDS_STANDIN;
    WEFT_AUTO weft_array *a = counted(NULL);
    CHECK(a && reads(a, 5, CELL + 1));
    const int without = pinned_without(), asked = calls_of("cuMemHostAlloc");
    CHECK_STATUS(weft_copy_to_host(a, NULL, 0), WEFT_ERROR_SHAPE);
    fail_next("cuMemHostAlloc", 2);
    CHECK(reads(a, 5, CELL));
    CHECK_INT(calls_of("cuMemHostAlloc"), asked + 1);
    CHECK_ERROR(WEFT_ERROR_SHAPE, "0 bytes were given"); /* of before: this is no failure */
    CHECK(reads(a, 5, CELL));
    CHECK_INT(pinned(), without + 2); /* the call that failed is one, too */
}

/* The cell of a copy that fails is not kept, nor lost. */
TEST(M3_small_read_that_fails)
{
    NEEDS_STANDIN;
    int32_t first = -1;
    WEFT_AUTO weft_array *a = counted(NULL);
    CHECK(a && reads(a, 5, 1));
    const int without = pinned_without();
    CHECK(reads(a, 6, 1));
    fail_next("cuMemcpyAsync", 1);
    CHECK_STATUS(weft_item(a, &first), WEFT_ERROR_DEVICE);
    CHECK_INT(first, -1);
    CHECK_INT(pinned(), without);
    CHECK(reads(a, 7, 1));
}

/* What is noted of addresses is found as fast after many were given back. */
TEST(M4_addresses_given_back)
{
    NEEDS_STANDIN;
    CHECK(device().kind != WEFT_DEVICE_INVALID);
    const clock_t begin = clock();
    for (int k = 0; k < (test_quick() ? 20000 : 200000); k++) {
        bool zeroed;
        void *data = weft__cuda_memory_allocate(0, WEFT_MEMORY_DEVICE, 256, &zeroed);
        CHECK(data);
        weft__cuda_memory_release(0, WEFT_MEMORY_DEVICE, data, 256);
    }
    CHECK((double)(clock() - begin) / CLOCKS_PER_SEC < 5); /* of 0.1; else it takes 20 */
}

#define VARIES "how many wait at once varies"
#define CALLS "it counts the calls of the driver"
TEST_MAIN(TEST_OF(M3_small_reads), TEST_NO_FAULTS(M3_small_reads_by_many_threads, VARIES),
          TEST_NO_FAULTS(M3_two_small_reads_at_once, VARIES),
          TEST_NO_FAULTS(M3_small_reads_without_a_cell, CALLS),
          TEST_NO_FAULTS(M3_small_read_that_fails, CALLS),
          TEST_NO_FAULTS(M4_addresses_given_back, "it allocates very often"));
