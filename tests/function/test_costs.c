/* Where regions run: by costs that are set, measured, or guessed; the results are the same. */
#include "function/cost.h"
#include "function/cost_file.h"
#include "kernel/background.h"
#include "kernel/disk.h"
#include "support/arrays.h"
#include "support/check.h"
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <weft/weft.h>

enum { COUNT = 1000, STEPS = 40 };

#define BODY                                                                                       \
    (x, y, steps),                                                                                 \
    {                                                                                              \
        t = 0 * x;                                                                                 \
        for (s = 0; s < steps; s++) {                                                              \
            t = x * 0.5f + y;                                                                      \
            y = t - 1;                                                                             \
            for (int i = 0; i < 1000; i++)                                                         \
                t(i) = y(i) * 2 + t(i);                                                            \
        }                                                                                          \
        return sum(t);                                                                             \
    }
#define MADE(...) WEFT_FUNCTION_WITH(__VA_ARGS__)
MADE(automatic, (.offload = WEFT_OFFLOAD_AUTO), BODY);
MADE(always, (.offload = WEFT_OFFLOAD_ALWAYS), BODY);
MADE(never, (.offload = WEFT_OFFLOAD_NEVER), BODY);

/* A device that is `launch` seconds away, and computes as fast as the host, or faster. */
static bool pretend(double launch, double faster)
{
    const weft_costs host = {true, 1e-7, 1e-7, 1e10, 1e10, 1e10, 1e10};
    const weft_costs away = {true, launch, launch, 1e10, 1e10, 1e10 * faster, 1e10 * faster};
    return weft__costs_set(WEFT_CPU, &host) && weft__costs_set(device(), &away);
}

typedef struct outcome {
    float y[COUNT], sum;
    int64_t launches, copies;
} outcome;

static weft_status call(const weft_function *f, int steps, outcome *o)
{
    float x[COUNT];
    weft_statistics before, after;
    for (int i = 0; i < COUNT; i++) {
        x[i] = (float)(i % 7);
        o->y[i] = (float)(i % 5);
    }
    WEFT_AUTO weft_array *xs = weft_borrow(x, sizeof x, WEFT_SHAPE(COUNT), WEFT_F32);
    WEFT_AUTO weft_array *ys = weft_borrow(o->y, sizeof o->y, WEFT_SHAPE(COUNT), WEFT_F32);
    if (!xs || !ys || weft_memory_stats(device(), &before) != WEFT_OK)
        return weft_error_code();
    WEFT_ON(device());
    const weft_operand operands[] = {WEFT_OPERAND(xs), WEFT_OPERAND(ys), WEFT_OPERAND(steps)};
    const weft_status status = weft_call_with(f, 1, WEFT__RESULT(&o->sum), 3, operands);
    if (status == WEFT_OK && weft_memory_stats(device(), &after) != WEFT_OK)
        return weft_error_code();
    o->launches = (int64_t)(after.launches - before.launches);
    o->copies = (int64_t)(after.copies_to_device + after.copies_to_host - before.copies_to_device -
                          before.copies_to_host);
    return status;
}

static bool same(const outcome *a, const outcome *b)
{
    return !memcmp(a->y, b->y, sizeof a->y) && !memcmp(&a->sum, &b->sum, sizeof a->sum);
}

TEST(F6_small_work_stays)
{
    outcome plain, forced, far, near, again;
    if (device().kind == WEFT_DEVICE_CPU)
        SKIP("the host has no other device to compare with");
    CHECK_STATUS(call(&never, STEPS, &plain), WEFT_OK);
    CHECK_STATUS(call(&always, STEPS, &forced), WEFT_OK);
    CHECK(pretend(1e-3, 1)); /* far away, and no faster */
    CHECK_STATUS(call(&automatic, STEPS, &far), WEFT_OK);
    CHECK(pretend(1e-9, 10)); /* nothing speaks against it */
    CHECK_STATUS(call(&automatic, STEPS, &near), WEFT_OK);
    CHECK_STATUS(call(&automatic, STEPS, &again), WEFT_OK);
    CHECK(same(&forced, &plain) && same(&far, &plain) && same(&near, &plain));
    CHECK_INT(plain.launches, 0);
    CHECK_INT(far.launches, 0);
    CHECK_INT(far.copies, 0);
    CHECK(forced.launches > 2 * STEPS);
    CHECK(near.launches == forced.launches && near.copies == forced.copies);
    CHECK(again.launches == near.launches && again.copies == near.copies);
}

/* Data that is used again and again moves once it has paid. */
TEST(F6_repeated_work_moves)
{
    outcome plain, few, many, again;
    if (device().kind == WEFT_DEVICE_CPU)
        SKIP("the host has no other device to compare with");
    const weft_costs host = {true, 1e-6, 1e-6, 1e10, 1e10, 1e9, 1e9};
    const weft_costs away = {true, 1e-7, 1e-5, 1e10, 1e10, 1e11, 1e11};
    CHECK(weft__costs_set(WEFT_CPU, &host) && weft__costs_set(device(), &away));
    CHECK_STATUS(call(&never, STEPS, &plain), WEFT_OK);
    CHECK_STATUS(call(&automatic, 1, &few), WEFT_OK);
    CHECK_STATUS(call(&automatic, STEPS, &many), WEFT_OK);
    CHECK_STATUS(call(&automatic, STEPS, &again), WEFT_OK);
    CHECK(same(&many, &plain));
    CHECK(few.launches < 3);
    CHECK(many.launches > 2 * STEPS - 20);
    CHECK(many.copies < 8);
    CHECK(again.launches == many.launches && again.copies == many.copies);
}

/* What is on the device, or shared, stays there. */
WEFT_FUNCTION(plain_step, (x), { x = x + 1; });

TEST(F6_device_arrays_stay)
{
    WEFT_AUTO weft_array *x = weft_zeros(WEFT_SHAPE(4), .device = device());
    WEFT_AUTO weft_array *y =
        weft_zeros(WEFT_SHAPE(4), .device = device(), .memory = WEFT_MEMORY_SHARED);
    CHECK(x && y && pretend(1e-3, 1));
    const uint64_t before = launches();
    {
        WEFT_ON(device());
        CHECK_STATUS(weft_call(plain_step, NULL, x), WEFT_OK);
        CHECK_STATUS(weft_call(plain_step, NULL, y), WEFT_OK);
    }
    CHECK_INT(launches() - before, 2);
}

static bool is_near(double a, double b) { return a > b * 0.9999 && a < b * 1.0001; }

/* Measured costs are kept in the cache folder. */
TEST(F6_calibrate)
{
    char folder[] = "/tmp/weft-costs-XXXXXX", command[64];
    weft_costs costs = {0}, kept = {0};
    CHECK(mkdtemp(folder));
    weft__disk_choose(folder);
    weft_status status = weft_device_calibrate(device());
    if (status == WEFT_OK)
        status = weft_device_costs(device(), &costs);
    const bool read = weft__cost_file_read(device(), &kept);
    weft__background_wait(); /* for what is stored there */
    weft__disk_choose(NULL);
    snprintf(command, sizeof command, "rm -r %s", folder);
    CHECK_INT(system(command), 0);
    CHECK_STATUS(status, WEFT_OK);
    CHECK(costs.measured && costs.launch > 0 && costs.copy > 0 && costs.memory > 1e6);
    CHECK(costs.operations > 1e6 && costs.to_device > 1e6 && costs.to_host > 1e6);
    CHECK(read && is_near(kept.launch, costs.launch) && is_near(kept.memory, costs.memory));
    CHECK(is_near(kept.to_host, costs.to_host) && is_near(kept.operations, costs.operations));
    CHECK_STATUS(weft_device_costs(device(), NULL), WEFT_ERROR_ARGUMENT);
    CHECK_STATUS(weft_device_calibrate(WEFT_NO_DEVICE), WEFT_ERROR_DEVICE);
}

/* A program may have chosen a locale in which numbers have a comma. */
TEST(F6_costs_in_any_locale)
{
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "de_DE", "fr_FR.UTF-8"};
    const weft_costs costs = {true, 1.25e-7, 2.5e-6, 1.5e9, 2.5e9, 3.5e10, 4.5e11};
    char folder[] = "/tmp/weft-costs-XXXXXX", command[64];
    weft_costs kept = {0}, other = {0};
    const char *found = NULL;
    CHECK(mkdtemp(folder));
    weft__disk_choose(folder);
    const bool written = weft__cost_file_write(WEFT_CPU, &costs);
    const bool read = weft__cost_file_read(WEFT_CPU, &kept);
    for (size_t k = 0; k < sizeof names / sizeof names[0] && !found; k++)
        found = setlocale(LC_NUMERIC, names[k]);
    const bool read_there = weft__cost_file_read(WEFT_CPU, &other);
    setlocale(LC_NUMERIC, "C");
    weft__disk_choose(NULL);
    snprintf(command, sizeof command, "rm -r %s", folder);
    CHECK_INT(system(command), 0);
    CHECK(written && read && read_there);
    CHECK(is_near(kept.launch, 1.25e-7) && is_near(kept.copy, 2.5e-6));
    CHECK(is_near(kept.to_device, 1.5e9) && is_near(kept.operations, 4.5e11));
    CHECK(is_near(other.launch, 1.25e-7) && is_near(other.memory, 3.5e10));
    if (!found)
        SKIP("no locale with a decimal comma is installed");
}

TEST_MAIN(TEST_OF(F6_small_work_stays), TEST_OF(F6_repeated_work_moves),
          TEST_OF(F6_device_arrays_stay),
          TEST_NO_FAULTS(F6_calibrate, "it takes a second each time"),
          TEST_NO_FAULTS(F6_costs_in_any_locale, "what cannot be kept is no error"));
