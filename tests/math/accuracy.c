/* Measures the errors of the math functions and prints the table of docs/accuracy.md.
 *
 *     accuracy [-f32 step] [-f64 count] [-threads n] [function...]
 *
 * f32 functions of one argument are run on every step-th bit pattern (1 is all of them, 0 none),
 * those of two arguments and those of f64 on `count` inputs. Of results that are the nearest number
 * to the exact one, f32 sweeps take no note. */
#include "math/expand.h"
#include "math/oracle.h"
#include "math/samples.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 1 << 12, SLICES = 256, THREADS_MAX = 256 };

struct worst {
    double ulps, x, y, got;
    long double exact;
};

/* One function over its inputs, cut into slices that threads take in turn. */
struct task {
    expanded at;
    weft__math_function function;
    weft_dtype dtype;
    uint64_t step;
    int64_t count;
    atomic_int next;
    struct worst worst[SLICES];
};

static void record(struct worst *worst, double ulps, double x, double y, double got,
                   long double exact)
{
    if (ulps > worst->ulps)
        *worst = (struct worst){ulps, x, y, got, exact};
}

/* Every step-th f32. The fast reference is good to some 2^-29 ulp. */
static void sweep_f32(const struct task *task, int slice, struct worst *worst)
{
    float x[BLOCK], result[BLOCK];
    const uint64_t length = (UINT64_C(1) << 32) / SLICES, end = length * (uint64_t)(slice + 1);
    for (uint64_t bits = length * (uint64_t)slice; bits < end;) {
        int count = 0;
        for (; count < BLOCK && bits < end; bits += task->step)
            x[count++] = (float)f32_of((uint32_t)bits);
        expand_run(&task->at, count, x, NULL, result);
        for (int k = 0; k < count; k++) {
            const double exact = oracle_fast(task->function, (double)x[k], 0);
            if ((float)exact == result[k])
                continue;
            const double ulps = oracle_ulps((long double)result[k], exact, WEFT_F32);
            if (ulps > 0) /* not two NaNs */
                record(worst, ulps, (double)x[k], 0, (double)result[k], exact);
        }
    }
}

static void run_block(const struct task *task, const double *x, const double *y, double *result)
{
    float x32[BLOCK], y32[BLOCK], result32[BLOCK];
    if (task->dtype == WEFT_F64) {
        expand_run(&task->at, BLOCK, x, y, result);
        return;
    }
    for (int k = 0; k < BLOCK; k++) {
        x32[k] = (float)x[k];
        y32[k] = (float)y[k];
    }
    expand_run(&task->at, BLOCK, x32, y32, result32);
    for (int k = 0; k < BLOCK; k++)
        result[k] = (double)result32[k];
}

static void sample_many(const struct task *task, int slice, struct worst *worst)
{
    double x[BLOCK], y[BLOCK], result[BLOCK];
    random_state = 0x9e3779b97f4a7c15U * (uint64_t)(slice + 1);
    for (int64_t done = 0; done < task->count / SLICES; done += BLOCK) {
        for (int k = 0; k < BLOCK; k++)
            sample_two(task->function, task->dtype, &x[k], &y[k]);
        run_block(task, x, y, result);
        for (int k = 0; k < BLOCK; k++) {
            const long double exact = oracle_exact(task->function, x[k], y[k]);
            const double ulps =
                oracle_error(task->function, result[k], exact, x[k], y[k], task->dtype);
            record(worst, ulps, x[k], y[k], result[k], exact);
        }
    }
}

static bool is_sweep(const struct task *task)
{
    return task->dtype == WEFT_F32 && weft__math_functions[task->function].arity == 1;
}

static void *work(void *argument)
{
    struct task *task = argument;
    for (int slice; (slice = atomic_fetch_add(&task->next, 1)) < SLICES;) {
        struct worst *worst = &task->worst[slice];
        worst->ulps = -1;
        if (is_sweep(task))
            sweep_f32(task, slice, worst);
        else
            sample_many(task, slice, worst);
    }
    return NULL;
}

static struct worst run_task(struct task *task, int threads)
{
    pthread_t thread[THREADS_MAX];
    struct worst worst = {.ulps = -1};
    int started = 0;
    while (started < threads - 1 && pthread_create(&thread[started], NULL, work, task) == 0)
        started++;
    work(task);
    for (int k = 0; k < started; k++)
        pthread_join(thread[k], NULL);
    for (int k = 0; k < SLICES; k++)
        record(&worst, task->worst[k].ulps, task->worst[k].x, task->worst[k].y, task->worst[k].got,
               task->worst[k].exact);
    return worst;
}

/* Those that are compared bit by bit in the tests are left out. */
static bool is_measured(weft__math_function function)
{
    return !weft__math_functions[function].boolean && function != WEFT__MATH_sign &&
           function != WEFT__MATH_copysign && function != WEFT__MATH_nextafter;
}

static void print_row(const weft__math_facts *facts, weft_dtype dtype, int primitives,
                      const char *inputs, const struct worst *worst)
{
    const int digits = dtype == WEFT_F64 ? 13 : 6;
    const double bound = (double)facts->ulp[dtype == WEFT_F64];
    printf("| %s | %s | %d | %s | %g |", facts->name, weft_dtype_name(dtype), primitives, inputs,
           bound);
    if (worst->ulps < 0) /* none was other than the nearest number */
        printf(" 0.500 | |\n");
    else
        printf(" %.3f | `%.*a`", worst->ulps, digits, worst->x);
    if (worst->ulps >= 0 && facts->arity == 2)
        printf(", `%.*a`", digits, worst->y);
    if (worst->ulps >= 0)
        printf(" |\n");
    if (worst->ulps > bound)
        fprintf(stderr, "%s(%a, %a) is %La, not %a\n", facts->name, worst->x, worst->y,
                worst->exact, worst->got);
    fflush(stdout);
}

static void measure(weft__math_function function, weft_dtype dtype, uint64_t step, int64_t count,
                    int threads)
{
    static struct task task;
    char inputs[32];
    task.function = function;
    task.dtype = dtype;
    task.step = step;
    task.count = count;
    atomic_store(&task.next, 0);
    if ((is_sweep(&task) ? step == 0 : count == 0) || !is_measured(function) ||
        expand_begin(&task.at, function, dtype) != WEFT_OK)
        return;
    const struct worst worst = run_task(&task, threads);
    if (is_sweep(&task) && step == 1)
        snprintf(inputs, sizeof inputs, "all");
    else
        snprintf(inputs, sizeof inputs, "%.0e",
                 is_sweep(&task) ? 4294967296.0 / (double)step : (double)count);
    print_row(&weft__math_functions[function], dtype, task.at.primitives, inputs, &worst);
    expand_end(&task.at);
}

static bool is_chosen(const char *name, int argc, char **argv)
{
    bool any = false;
    for (int k = 1; k < argc; k++) {
        if (argv[k][0] == '-') {
            k++;
            continue;
        }
        if (strcmp(argv[k], name) == 0)
            return true;
        any = true;
    }
    return !any;
}

int main(int argc, char **argv)
{
    uint64_t step = 997;
    int64_t count = 1 << 20;
    int threads = 1;
    for (int k = 1; k + 1 < argc; k++) {
        if (strcmp(argv[k], "-f32") == 0)
            step = strtoull(argv[k + 1], NULL, 0);
        if (strcmp(argv[k], "-f64") == 0)
            count = strtoll(argv[k + 1], NULL, 0);
        if (strcmp(argv[k], "-threads") == 0)
            threads = (int)strtol(argv[k + 1], NULL, 0);
    }
    if (threads < 1 || threads > THREADS_MAX)
        threads = 1;
    printf("| function | dtype | primitives | inputs | bound | largest error | at |\n"
           "|---|---|--:|--:|--:|--:|---|\n");
    for (int f = 0; f < WEFT__MATH_COUNT; f++) {
        if (!is_chosen(weft__math_functions[f].name, argc, argv))
            continue;
        measure((weft__math_function)f, WEFT_F32, step, count, threads);
        measure((weft__math_function)f, WEFT_F64, step, count, threads);
    }
    return 0;
}
