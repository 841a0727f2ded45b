/* Programs of several kernels that run out of memory: all of their results are there, or none. */
#include "kernel/engines.h"
#include "support/arrays.h"

enum { N = 70001 }; /* more chunks of a fold than one stage takes */

static float values[N], before[N];
static weft_array *x, *y, *z, *h;

static weft_status two_results(void) { return weft(y = 3 * x; z = shift(y, 2) + y, x, y, z); }

static weft_status with_a_mean(void)
{
    return weft(y = x + 1; z = (y - mean(y)) / sum(y * y), x, y, z);
}

static weft_status with_temporaries(void)
{
    return weft(m = x / sum(x); y = shift(x, 1); z = m + shift(y, 1) * max(m), x, y, z);
}

static weft_status in_place(void)
{
    return weft(y = x + y; z = z * sum(y); y = shift(y, 1), x, y, z);
}

static weft_status with_a_handle(void) { return weft(h = 2 * x; y = shift(h, 1) - h, x, h, y); }

static weft_status (*const programs[])(void) = {two_results, with_a_mean, with_temporaries,
                                                in_place, with_a_handle};
enum { PROGRAMS = sizeof programs / sizeof programs[0] };

static void release_all(void)
{
    weft_array *all[] = {x, y, z, h};
    for (int k = 0; k < 4; k++)
        weft_array_release(all[k]);
    x = y = z = h = NULL;
}

static bool make_all(void)
{
    x = from(values, sizeof values, WEFT_SHAPE(N), WEFT_F32);
    y = from(before, sizeof before, WEFT_SHAPE(N), WEFT_F32);
    z = from(before, sizeof before, WEFT_SHAPE(N), WEFT_F32);
    h = weft_handle(.device = device());
    return x && y && z && h;
}

struct results {
    float y[N], z[N];
};

static bool read_results(struct results *to)
{
    return weft_copy_to_host(y, to->y, sizeof to->y) == WEFT_OK &&
           weft_copy_to_host(z, to->z, sizeof to->z) == WEFT_OK;
}

/* Runs with the n-th allocation failing, in a process that has not seen the program if it is cold;
 * *fired if there were as many. */
static bool all_or_nothing(int program, bool cold, int64_t n, const struct results *expected,
                           bool *fired)
{
    static struct results got, nothing;
    memcpy(nothing.y, before, sizeof before);
    memcpy(nothing.z, before, sizeof before);
    if (cold)
        weft_device_reset(device());
    CHECK_OR(make_all(), false);
    weft__allocation_fail_at(n);
    const weft_status status = programs[program]();
    *fired = weft__allocation_failed();
    weft__allocation_fail_at(0);
    CHECK_OR(status == WEFT_OK || status == WEFT_ERROR_MEMORY, false);
    CHECK_OR(read_results(&got), false);
    const struct results *right = status == WEFT_OK ? expected : &nothing;
    if (memcmp(&got, right, sizeof got) != 0)
        fprintf(stderr, "program %d, allocation %d: status %d, y is %s, z is %s\n", program, (int)n,
                (int)status, memcmp(got.y, nothing.y, sizeof got.y) ? "new" : "old",
                memcmp(got.z, nothing.z, sizeof got.z) ? "new" : "old");
    CHECK_OR(memcmp(&got, right, sizeof got) == 0, false);
    CHECK_OR(weft_array_is_handle(h) == (status != WEFT_OK || program != PROGRAMS - 1), false);
    return true;
}

static bool check_program(int program)
{
    static struct results expected;
    CHECK_OR(make_all() && programs[program]() == WEFT_OK && read_results(&expected), false);
    release_all();
    for (int cold = 1; cold >= 0; cold--) {
        bool fired = true, right = true;
        for (int64_t n = 1; fired && right; n++) {
            right = all_or_nothing(program, cold, n, &expected, &fired);
            release_all();
        }
        CHECK_OR(right, false);
    }
    return true;
}

TEST(M5_a_program_that_runs_out_of_memory_changes_nothing)
{
    AUTO_ENGINE setting = engine_begin(WEFT__ENGINE_INTERPRETER);
    for (int i = 0; i < N; i++) {
        values[i] = (float)(i % 1013) / 8 + 1;
        before[i] = (float)(i % 97) - 5;
    }
    for (int k = 0; k < PROGRAMS; k++)
        CHECK(check_program(k));
}

TEST_MAIN(TEST_NO_FAULTS(M5_a_program_that_runs_out_of_memory_changes_nothing,
                         "makes its allocations fail itself"));
