/* Programs of several kernels that run out of memory: all of their results are there, or none. */
#include "kernel/engines.h"
#include "support/arrays.h"
#include "support/gate.h"

enum { N = 70001 }; /* more chunks of a fold than one stage takes */

static float values[N], before[N];
static weft_array *x, *y, *z, *h;
static weft_stream *queue; /* the current stream; NULL: the one that is there */

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

static weft_status shifted_in_place(void)
{
    return weft(y = z + x; z = shift(z, 1) + shift(y, 1), x, y, z);
}

static weft_status exchanged(void) { return weft(y = shift(z, 1); z = shift(y, 2), y, z); }

static weft_status overlapping_twice(void)
{
    return weft(y = shift(y, 1) + z; z = shift(y, 1) * sum(z) + shift(z, 3), y, z);
}

static weft_status in_one_kernel(void) { return weft(y = x + 1; z = shift(z, 1), x, y, z); }

static weft_status both_in_one_kernel(void)
{
    return weft(y = x + shift(y, 1); z = shift(z, 1), x, y, z);
}

static weft_status (*const programs[])(void) = {
    two_results, with_a_mean,      with_temporaries, in_place,          with_a_handle,
    exchanged,   shifted_in_place, in_one_kernel,    overlapping_twice, both_in_one_kernel,
};
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
    AUTO_GATE gate = GATE; /* a queue that is long grows with each launch */
    CHECK_OR(!queue || hold(queue, &gate) == WEFT_OK, false);
    weft__allocation_fail_at(n);
    const weft_status status = programs[program]();
    *fired = weft__allocation_failed();
    weft__allocation_fail_at(0);
    gate_open(&gate);
    CHECK_OR(!queue || weft_stream_synchronize(queue) == WEFT_OK, false); /* it has the gate */
    CHECK_OR(status == WEFT_OK || status == WEFT_ERROR_MEMORY, false);
    CHECK_OR(read_results(&got), false);
    const struct results *right = status == WEFT_OK ? expected : &nothing;
    if (memcmp(&got, right, sizeof got) != 0)
        fprintf(stderr, "program %d, allocation %d: status %d, y is %s, z is %s\n", program, (int)n,
                (int)status, memcmp(got.y, nothing.y, sizeof got.y) ? "new" : "old",
                memcmp(got.z, nothing.z, sizeof got.z) ? "new" : "old");
    CHECK_OR(memcmp(&got, right, sizeof got) == 0, false);
    CHECK_OR(weft_array_is_handle(h) == (status != WEFT_OK || programs[program] != with_a_handle),
             false);
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

static void fill_values(void)
{
    for (int i = 0; i < N; i++) {
        values[i] = (float)(i % 1013) / 8 + 1;
        before[i] = (float)(i % 97) - 5;
    }
}

TEST(M5_a_program_that_runs_out_of_memory_changes_nothing)
{
    AUTO_ENGINE setting = engine_begin(WEFT__ENGINE_INTERPRETER);
    fill_values();
    for (int k = 0; k < PROGRAMS; k++)
        CHECK(check_program(k));
}

TEST(M5_nor_does_one_that_is_queued)
{
    AUTO_ENGINE setting = engine_begin(WEFT__ENGINE_INTERPRETER);
    queue = weft_stream_new(device(), .async = true);
    bool right = queue && weft_stream_set_current(device(), queue) == WEFT_OK;
    fill_values();
    for (int k = 0; k < PROGRAMS && right; k++)
        right = check_program(k);
    weft_stream_set_current(device(), NULL);
    weft_stream_release(queue);
    queue = NULL;
    CHECK(right);
}

/* Later kernels of these read memory that they write, at other elements. */
static const char *const overlapping[] = {
    "a = a + 1; b = shift(a, 1) + shift(b, 1)",
    "a = shift(b, 1); b = shift(a, 1); c = shift(c, 1)",
    "a = b + 1; c = shift(c, 1) + shift(a, 1)",
    "a = b + 1; b = shift(a, 1); c = shift(c, 1)",
    "a = b + 1; b = shift(a, 1) + shift(b, 1)",
    "a = shift(b, 1); b = shift(b, 2) + sum(a); c = shift(c, 1) - shift(b, 1)",
};
enum { OVERLAPPING = sizeof overlapping / sizeof overlapping[0], L = 1 << 14 };

/* The same if c begins in the middle of b. */
static const char *const of_views[] = {"a = a + 1; b = shift(a, 1) + c",
                                       "a = b + c; c = shift(a, 2) - b"};

typedef float triple[3][L];
static bool views; /* c does */

/* With those of the arrays a, b and c that the code names. */
static weft_status evaluate(const char *code, weft_array *const *arrays)
{
    static const char *const all[] = {"a", "b", "c"};
    const char *names[3];
    weft_operand operands[3];
    int count = 0;
    for (int k = 0; k < 3; k++)
        if (strstr(code, all[k])) {
            names[count] = all[k];
            operands[count++] = WEFT_OPERAND(arrays[k]);
        }
    return weft_evaluate(code, count, names, operands);
}

/* Each statement alone, so that no program is cut. */
static weft_status evaluate_apart(const char *code, weft_array *const *arrays)
{
    char text[128], *next = NULL;
    snprintf(text, sizeof text, "%s", code);
    weft_status status = WEFT_OK;
    for (char *one = strtok_r(text, ";", &next); one && !status; one = strtok_r(NULL, ";", &next))
        status = evaluate(one, arrays);
    return status;
}

static bool make_triple(weft_array **arrays)
{
    static float all[3][L];
    for (int i = 0; i < 3 * L; i++)
        all[i / L][i % L] = (float)(i % 127);
    WEFT_AUTO weft_array *last = from(all[1], 2 * sizeof all[1], WEFT_SHAPE(2 * L), WEFT_F32);
    const int64_t begin = views ? L / 2 : L;
    arrays[0] = from(all[0], sizeof all[0], WEFT_SHAPE(L), WEFT_F32);
    arrays[1] = weft_slice(last, WEFT_RANGE(0, L));
    arrays[2] = weft_slice(last, WEFT_RANGE(begin, begin + L));
    return arrays[0] && arrays[1] && arrays[2];
}

static bool read_triple(weft_array **arrays, triple to)
{
    bool fine = true;
    for (int k = 0; k < 3; k++) {
        fine &= weft_copy_to_host(arrays[k], to[k], sizeof to[k]) == WEFT_OK;
        weft_array_release(arrays[k]);
    }
    return fine;
}

static uint64_t bytes_in_use(void)
{
    weft_statistics statistics = {0};
    weft_memory_trim(device(), 0);
    weft_memory_stats(device(), &statistics);
    return statistics.bytes_in_use;
}

/* Runs with so much memory, that of the arrays among it; *enough if it was. */
static bool all_or_nothing_within(const char *code, uint64_t bytes, triple old, triple new,
                                  bool *enough)
{
    static triple got;
    weft_array *arrays[3];
    const uint64_t others = bytes_in_use();
    CHECK_OR(make_triple(arrays), false);
    weft_memory_trim(device(), 0);
    weft_memory_set_limit(device(), others + bytes);
    const weft_status status = evaluate(code, arrays);
    weft_memory_set_limit(device(), 0);
    *enough = status == WEFT_OK;
    CHECK_OR(*enough || status == WEFT_ERROR_MEMORY, false);
    CHECK_OR(read_triple(arrays, got), false);
    const bool right = memcmp(got, *enough ? new : old, sizeof got) == 0;
    if (!right)
        fprintf(stderr, "%s, %d bytes: status %d\n", code, (int)bytes, (int)status);
    return right;
}

/* `most`: so many quarters of an array are enough. */
static bool check_limits(const char *code, int most)
{
    static triple old, new;
    weft_array *arrays[3];
    bool enough = false;
    CHECK_OR(make_triple(arrays) && read_triple(arrays, old), false);
    CHECK_OR(make_triple(arrays) && evaluate_apart(code, arrays) == WEFT_OK, false);
    CHECK_OR(read_triple(arrays, new), false);
    for (int quarters = 2 * 4; quarters <= 16 * 4; quarters++) {
        const uint64_t bytes = (uint64_t)quarters * sizeof old[0] / 4;
        CHECK_OR(all_or_nothing_within(code, bytes, old, new, &enough), false);
        CHECK_OR(enough || quarters < most, false);
    }
    return true;
}

static bool check_all_limits(void)
{
    enum { ENOUGH = 8 * 4 };
    bool right = true;
    for (int k = 0; k < OVERLAPPING && right; k++)
        right = check_limits(overlapping[k], ENOUGH);
    views = true;
    for (int k = 0; k < 2 && right; k++)
        right = check_limits(of_views[k], ENOUGH);
    views = false;
    return right;
}

TEST(M5_memory_for_operands_that_overlap_is_got_before_the_first_kernel)
{
    AUTO_ENGINE setting = engine_begin(WEFT__ENGINE_INTERPRETER);
    CHECK(check_all_limits());
}

TEST(M5_so_it_is_if_kernels_are_compiled)
{
    NEEDS_LLVM();
    AUTO_ENGINE setting = engine_begin(WEFT__ENGINE_LLVM);
    CHECK(check_all_limits());
}

TEST_MAIN(TEST_NO_FAULTS(M5_a_program_that_runs_out_of_memory_changes_nothing,
                         "makes its allocations fail itself"),
          TEST_NO_FAULTS(M5_nor_does_one_that_is_queued, "makes its allocations fail itself"),
          TEST_NO_FAULTS(M5_memory_for_operands_that_overlap_is_got_before_the_first_kernel,
                         "has too little memory itself"),
          TEST_NO_FAULTS(M5_so_it_is_if_kernels_are_compiled, "has too little memory itself"));
