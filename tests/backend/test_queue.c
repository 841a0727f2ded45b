/* The queue of a stream: records of all sizes come out whole and in order. */
#include "backend/cpu/queue.h"
#include "core/allocate.h"
#include "core/stream.h"
#include "support/check.h"
#include <stdlib.h>
#include <string.h>

static void close_queue(weft__queue *queue) { weft__queue_close(queue); }
#define AUTO_QUEUE __attribute__((cleanup(close_queue))) weft__queue

static weft__work numbered(uint64_t number)
{
    return (weft__work){.kind = WEFT__WORK_NONE, .operation = "test", .sequence = number};
}

TEST(first_in_first_out)
{
    AUTO_QUEUE queue = {0};
    uint64_t in = 0, out = 0;
    CHECK_STATUS(weft__queue_open(&queue), WEFT_OK);
    for (int round = 0; round < 200; round++) {
        for (int i = 0; i < 1 + round * 37 % 1000; i++) {
            weft__work work = numbered(++in);
            CHECK_STATUS(weft__queue_push(&queue, &work), WEFT_OK);
        }
        for (int i = 0; i < 1 + round * 53 % 1000 && out < in; i++) {
            CHECK(!weft__queue_empty(&queue));
            CHECK_INT(weft__queue_first(&queue)->sequence, ++out);
            weft__queue_pop(&queue);
        }
    }
    while (out < in) {
        CHECK_INT(weft__queue_first(&queue)->sequence, ++out);
        weft__queue_pop(&queue);
    }
    CHECK(weft__queue_empty(&queue));
    CHECK(weft__queue_first(&queue) == NULL);
}

/* Nothing is allocated while the queue stays short. */
TEST(steady_state_allocates_nothing)
{
    AUTO_QUEUE queue = {0};
    int64_t live = 0;
    CHECK_STATUS(weft__queue_open(&queue), WEFT_OK);
    for (uint64_t i = 1; i <= 100000; i++) {
        weft__work work = numbered(i);
        CHECK_STATUS(weft__queue_push(&queue, &work), WEFT_OK);
        CHECK_INT(weft__queue_first(&queue)->sequence, i);
        weft__queue_pop(&queue);
        if (i == 2000)
            live = weft__allocation_live();
    }
    CHECK_INT(weft__allocation_live(), live);
}

/* Where there is no memory for many records there may be some for one. */
TEST(grows_by_one_record_where_memory_is_short)
{
    AUTO_QUEUE queue = {0};
    uint64_t in = 0;
    CHECK_STATUS(weft__queue_open(&queue), WEFT_OK);
    weft_error_clear();
    for (bool failed = false; !failed;) {
        weft__work work = numbered(++in);
        weft__allocation_fail_at(1);
        const weft_status status = weft__queue_push(&queue, &work);
        failed = weft__allocation_failed();
        weft__allocation_fail_at(0);
        CHECK_STATUS(status, WEFT_OK);
    }
    CHECK_STATUS(weft_error_code(), WEFT_OK);
    for (int k = 0; k < 1000; k++) {
        weft__work work = numbered(++in);
        CHECK_STATUS(weft__queue_push(&queue, &work), WEFT_OK);
    }
    for (uint64_t out = 1; out <= in; out++) {
        CHECK_INT(weft__queue_first(&queue)->sequence, out);
        weft__queue_pop(&queue);
    }
    CHECK(weft__queue_empty(&queue));
}

enum { LARGEST = 300000 };

/* Work with uses, waits and a launch block of its own size. */
static bool push_large(weft__queue *queue, uint32_t number, char *block)
{
    static weft__use uses[40];
    static weft__point waits[40];
    weft__launch *launch = (weft__launch *)(void *)block;
    launch->bytes = (uint32_t)sizeof *launch + number * 7919 % (LARGEST - 2000);
    memset(launch + 1, (int)(number % 251), launch->bytes - sizeof *launch);
    uint32_t uses_count = number % 40, waits_count = number * 3 % 40;
    for (uint32_t i = 0; i < 40; i++) {
        uses[i].generation = number + i;
        waits[i].sequence = number * 2 + i;
    }
    weft__work work = {.kind = WEFT__WORK_LAUNCH,
                       .sequence = number,
                       .uses = uses,
                       .uses_count = uses_count,
                       .waits = waits,
                       .waits_count = waits_count,
                       .of.launch = {.launch = launch}};
    return weft__queue_push(queue, &work) == WEFT_OK;
}

static bool whole(const weft__work *work, uint32_t number)
{
    const weft__launch *launch = work->of.launch.launch;
    const unsigned char *bytes = (const unsigned char *)(launch + 1);
    bool good = work->sequence == number && (uintptr_t)launch % 8 == 0;
    for (uint32_t i = 0; i < work->uses_count; i++)
        good = good && work->uses[i].generation == number + i;
    for (uint32_t i = 0; i < work->waits_count; i++)
        good = good && work->waits[i].sequence == number * 2 + i;
    for (size_t i = 0; i < launch->bytes - sizeof *launch; i++)
        good = good && bytes[i] == number % 251;
    return good && work->uses_count == number % 40 && work->waits_count == number * 3 % 40;
}

TEST(records_of_all_sizes)
{
    AUTO_QUEUE queue = {0};
    static _Alignas(16) char block[LARGEST];
    CHECK_STATUS(weft__queue_open(&queue), WEFT_OK);
    for (uint32_t i = 1; i <= 300; i++)
        CHECK(push_large(&queue, i, block));
    memset(block, 0, sizeof block);
    for (uint32_t i = 1; i <= 300; i++) {
        CHECK(whole(weft__queue_first(&queue), i));
        weft__queue_pop(&queue);
    }
    CHECK(weft__queue_empty(&queue));
}

TEST_MAIN(TEST_OF(first_in_first_out), TEST_OF(steady_state_allocates_nothing),
          TEST_NO_FAULTS(grows_by_one_record_where_memory_is_short,
                         "makes its allocations fail itself"),
          TEST_OF(records_of_all_sizes));
