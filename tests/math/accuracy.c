/* Measures the errors of the math functions and prints rows for the table of docs/accuracy.md.
 *
 *     accuracy [-f32 step] [-count n] [-complex n] [-threads n] [-engine llvm] [-dtype d] [name...]
 *
 * f32 functions of one argument are run on every step-th bit pattern (1 is all of them, 0 none), by
 * the C library's functions of double, or circular.h for sin, cos and tan; the thousand with the
 * largest errors then by MPFR. f16 and bf16 functions of one argument are run on all inputs, those
 * of two arguments and those of f64 on n inputs, complex ones on n of their own. -dtype and names
 * choose. scripts/math/table.py puts the rows into the table. */
#include "math/circular.h"
#include "math/complex.h"
#include "math/halves.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 1 << 12, SLICES = 256, THREADS_MAX = 64, WORST = 1000, ROOM = 2 * WORST };

/* One input, its result, and how far that is off. */
struct found {
    double ulps;
    struct number x, y, got;
};

/* The largest errors so far; once there is no more room, those below `least` are left out. */
struct list {
    int count;
    double least;
    struct found found[ROOM];
};

/* What is measured: a function, cut into slices that threads take in turn. */
struct task {
    expanded at;
    int function; /* weft__math_function or weft__complex_function */
    bool complex;
    weft_dtype dtype;
    uint64_t step;
    int64_t count;
    atomic_int next;
};

struct worker {
    struct task *task;
    struct list list;
};

struct options {
    uint64_t step;
    int64_t count, complex_count;
    int threads;
    const char *dtype;
    int argc;
    char **argv;
};

static int by_ulps(const void *a, const void *b)
{
    const double x = ((const struct found *)a)->ulps, y = ((const struct found *)b)->ulps;
    return (x < y) - (x > y);
}

static void record(struct list *list, struct found found)
{
    if (!(found.ulps > list->least))
        return;
    list->found[list->count++] = found;
    if (list->count < ROOM)
        return;
    qsort(list->found, ROOM, sizeof *list->found, by_ulps);
    list->count = WORST;
    list->least = list->found[WORST - 1].ulps;
}

static bool is_circular(weft__math_function function)
{
    return function == WEFT__MATH_sin || function == WEFT__MATH_cos || function == WEFT__MATH_tan;
}

static void find_exact(weft__math_function function, const float *x, double *exact, int count)
{
    if (is_circular(function)) {
        circular_exact(function, x, exact, count);
        return;
    }
    for (int k = 0; k < count; k++)
        exact[k] = oracle_fast(function, (double)x[k], 0);
}

/* Every step-th f32. The fast reference is good to some 2^-29 ulp; what is the nearest number to it
 * is right. */
static void sweep_f32(const struct task *task, int slice, struct list *list)
{
    static _Thread_local _Alignas(64) float x[BLOCK], result[BLOCK];
    static _Thread_local _Alignas(64) double exact[BLOCK];
    const uint64_t length = (UINT64_C(1) << 32) / SLICES, end = length * (uint64_t)(slice + 1);
    const weft__math_function function = (weft__math_function)task->function;
    for (uint64_t bits = length * (uint64_t)slice; bits < end;) {
        int count = 0;
        for (; count < BLOCK && bits < end; bits += task->step)
            x[count++] = (float)f32_of((uint32_t)bits);
        expand_run(&task->at, count, x, NULL, result);
        find_exact(function, x, exact, count);
        for (int k = 0; k < count; k++) {
            const double off = fabs((double)result[k] - exact[k]);
            if ((float)exact[k] == result[k] || off < list->least * 0x1p-24 * fabs(exact[k]))
                continue; /* a unit in the last place is more than that part of the number */
            const double ulps = oracle_ulps((long double)result[k], exact[k], WEFT_F32);
            record(list,
                   (struct found){ulps, {{(double)x[k], 0}}, {{0, 0}}, {{(double)result[k], 0}}});
        }
    }
}

static void measure_one(const struct task *task, double x, double y, double got, struct list *list)
{
    const weft__math_function function = (weft__math_function)task->function;
    const long double exact = oracle_exact(function, x, y);
    const double ulps = oracle_error(function, got, exact, x, y, task->dtype);
    record(list, (struct found){ulps, {{x, 0}}, {{y, 0}}, {{got, 0}}});
}

/* All 2^16 numbers, or as many pairs of them as are asked for. */
static void sweep_halves(const struct task *task, int slice, struct list *list)
{
    static _Thread_local _Alignas(64) uint16_t x[BLOCK], y[BLOCK], result[BLOCK];
    const int64_t length = (task->at.arguments == 2 ? task->count : 65536) / SLICES;
    for (int64_t done = 0; done < length; done += BLOCK) {
        const int count = (int)(length - done < BLOCK ? length - done : BLOCK);
        for (int k = 0; k < count; k++) {
            const uint64_t bits = random_bits();
            x[k] = (uint16_t)(task->at.arguments == 2 ? bits : (uint64_t)(slice * length + k));
            y[k] = (uint16_t)(bits >> 16);
        }
        expand_run(&task->at, count, x, y, result);
        for (int k = 0; k < count; k++)
            measure_one(task, half_value(x[k], task->dtype), half_value(y[k], task->dtype),
                        half_value(result[k], task->dtype), list);
    }
}

static void run_block(const struct task *task, const double *x, const double *y, double *result)
{
    static _Thread_local _Alignas(64) float x32[BLOCK], y32[BLOCK], result32[BLOCK];
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

static void sample_many(const struct task *task, struct list *list)
{
    static _Thread_local _Alignas(64) double x[BLOCK], y[BLOCK], result[BLOCK];
    for (int64_t done = 0; done < task->count / SLICES; done += BLOCK) {
        for (int k = 0; k < BLOCK; k++)
            sample_two((weft__math_function)task->function, task->dtype, &x[k], &y[k]);
        run_block(task, x, y, result);
        for (int k = 0; k < BLOCK; k++)
            measure_one(task, x[k], y[k], result[k], list);
    }
}

static void sample_complex(const struct task *task, struct list *list)
{
    enum { FEW = 256 };
    static _Thread_local _Alignas(64) struct number x[FEW], y[FEW], got[FEW];
    const weft__complex_function function = (weft__complex_function)task->function;
    for (int64_t done = 0; done < task->count / SLICES; done += FEW) {
        for (int k = 0; k < FEW; k++)
            complex_sample(function, task->dtype, &x[k], &y[k]);
        complex_run(&task->at, task->dtype, FEW, x, y, got);
        for (int k = 0; k < FEW; k++) {
            const double ulps = complex_error(function, got[k], complex_exact(function, x[k], y[k]),
                                              x[k], y[k], task->dtype);
            record(list, (struct found){ulps, x[k], y[k], got[k]});
        }
    }
}

static bool is_half(weft_dtype dtype) { return dtype == WEFT_F16 || dtype == WEFT_BF16; }

static bool is_sweep(const struct task *task)
{
    return task->dtype == WEFT_F32 && weft__math_functions[task->function].arity == 1;
}

static void *work(void *argument)
{
    struct worker *worker = argument;
    struct task *task = worker->task;
    for (int slice; (slice = atomic_fetch_add(&task->next, 1)) < SLICES;) {
        random_state = 0x9e3779b97f4a7c15U * (uint64_t)(slice + 1);
        if (task->complex)
            sample_complex(task, &worker->list);
        else if (is_half(task->dtype))
            sweep_halves(task, slice, &worker->list);
        else if (is_sweep(task))
            sweep_f32(task, slice, &worker->list);
        else
            sample_many(task, &worker->list);
    }
    return NULL;
}

/* The errors of a sweep again, by the exact reference. */
static void measure_again(const struct task *task, struct list *list)
{
    const weft__math_function function = (weft__math_function)task->function;
    for (int k = 0; k < list->count; k++) {
        struct found *found = &list->found[k];
        const double x = found->x.part[0];
        found->ulps = oracle_error(function, found->got.part[0], oracle_exact(function, x, 0), x, 0,
                                   task->dtype);
    }
    qsort(list->found, (size_t)list->count, sizeof *list->found, by_ulps);
}

/* The worst of all; its error is -1 if every result was the nearest number. */
static struct found run_task(struct task *task, int threads)
{
    static struct worker workers[THREADS_MAX];
    static struct list all;
    pthread_t thread[THREADS_MAX];
    int started = 0;
    for (int k = 0; k < threads; k++)
        workers[k] = (struct worker){.task = task, .list = {.least = is_sweep(task) ? 0 : -1}};
    while (started < threads - 1 &&
           pthread_create(&thread[started], NULL, work, &workers[started + 1]) == 0)
        started++;
    work(&workers[0]);
    for (int k = 0; k < started; k++)
        pthread_join(thread[k], NULL);
    all.count = 0;
    all.least = -1;
    for (int k = 0; k <= started; k++)
        for (int i = 0; i < workers[k].list.count; i++)
            record(&all, workers[k].list.found[i]);
    qsort(all.found, (size_t)all.count, sizeof *all.found, by_ulps);
    all.count = all.count < WORST ? all.count : WORST;
    if (!task->complex && is_sweep(task))
        measure_again(task, &all);
    return all.count > 0 ? all.found[0] : (struct found){.ulps = -1};
}

/* An input as hexadecimal numbers. */
static void print_number(struct number x, bool complex, weft_dtype dtype)
{
    const int digits = dtype == WEFT_F64 || dtype == WEFT_C128 ? 13 : 6;
    printf("`%.*a", digits, x.part[0]);
    if (complex)
        printf("%+.*ai", digits, x.part[1]);
    printf("`");
}

static void print_row(const struct task *task, const char *inputs, const struct found *worst)
{
    const weft__complex_facts *facts = &weft__complex_functions[task->function];
    const char *name = task->complex ? facts->name : weft__math_functions[task->function].name;
    const double bound = task->complex
                             ? (double)facts->ulp[task->dtype == WEFT_C128]
                             : oracle_bound((weft__math_function)task->function, task->dtype);
    printf("| %s | %s | %d | %s | %.5g | %.*f | ", name, weft_dtype_name(task->dtype),
           task->at.primitives, inputs, bound, is_half(task->dtype) ? 5 : 3,
           worst->ulps < 0 ? 0.5 : worst->ulps);
    if (worst->ulps >= 0)
        print_number(worst->x, task->complex, task->dtype);
    if (worst->ulps >= 0 && task->at.arguments == 2) {
        printf(", ");
        print_number(worst->y, task->complex, task->dtype);
    }
    printf(" |\n");
    if (worst->ulps > bound)
        fprintf(stderr, "%s of %s is %g off, with a bound of %g\n", name,
                weft_dtype_name(task->dtype), worst->ulps, bound);
    fflush(stdout);
}

static void describe_inputs(const struct task *task, char *text, size_t room)
{
    const double count =
        !task->complex && is_sweep(task) ? 4294967296.0 / (double)task->step : (double)task->count;
    const bool all = !task->complex && ((is_sweep(task) && task->step == 1) ||
                                        (is_half(task->dtype) && task->at.arguments == 1));
    const int power = (int)floor(log10(count) + 0.001);
    const double first = floor(count / pow(10, power) * 10) / 10;
    if (all)
        snprintf(text, room, "all");
    else if (first < 1.1)
        snprintf(text, room, "10^%d", power);
    else
        snprintf(text, room, "%g·10^%d", first, power);
}

static void measure(struct task *task, const struct options *options)
{
    char inputs[32];
    const bool none = !task->complex && is_sweep(task) ? task->step == 0 : task->count == 0;
    if (none || (options->dtype && strcmp(options->dtype, weft_dtype_name(task->dtype)) != 0))
        return;
    atomic_store(&task->next, 0);
    const weft_status status =
        task->complex
            ? complex_begin(&task->at, (weft__complex_function)task->function, task->dtype)
            : expand_begin(&task->at, (weft__math_function)task->function, task->dtype);
    if (status != WEFT_OK) {
        fprintf(stderr, "%s\n", weft_error_message());
        return;
    }
    const struct found worst = run_task(task, options->threads);
    describe_inputs(task, inputs, sizeof inputs);
    print_row(task, inputs, &worst);
    expand_end(&task->at);
}

/* Those that are compared bit by bit in the tests are left out. */
static bool is_measured(int function)
{
    return !weft__math_functions[function].boolean && function != WEFT__MATH_sign &&
           function != WEFT__MATH_copysign && function != WEFT__MATH_nextafter;
}

static bool is_chosen(const char *name, const struct options *options)
{
    bool any = false;
    for (int k = 1; k < options->argc; k++) {
        if (options->argv[k][0] == '-') {
            k++;
            continue;
        }
        if (strcmp(options->argv[k], name) == 0)
            return true;
        any = true;
    }
    return !any;
}

static void measure_real(const struct options *options)
{
    static const weft_dtype dtypes[] = {WEFT_F16, WEFT_BF16, WEFT_F32, WEFT_F64};
    for (int f = 0; f < WEFT__MATH_COUNT; f++)
        for (int k = 0; k < 4; k++) {
            struct task task = {
                .function = f, .dtype = dtypes[k], .step = options->step, .count = options->count};
            if (is_measured(f) && is_chosen(weft__math_functions[f].name, options))
                measure(&task, options);
        }
}

static void measure_complex(const struct options *options)
{
#ifdef WEFT_TEST_MPC
    for (int f = 0; f < WEFT__COMPLEX_COUNT; f++)
        for (int k = 0; k < 2; k++) {
            struct task task = {.function = f,
                                .complex = true,
                                .dtype = k ? WEFT_C128 : WEFT_C64,
                                .count = options->complex_count};
            if (weft__complex_functions[f].result != WEFT__COMPLEX_IS_BOOL &&
                is_chosen(weft__complex_functions[f].name, options))
                measure(&task, options);
        }
#else
    (void)options;
#endif
}

int main(int argc, char **argv)
{
    struct options options = {997, 1 << 20, 1 << 16, 1, NULL, argc, argv};
    for (int k = 1; k + 1 < argc; k++) {
        const char *value = argv[k + 1];
        if (strcmp(argv[k], "-f32") == 0)
            options.step = strtoull(value, NULL, 0);
        if (strcmp(argv[k], "-count") == 0)
            options.count = strtoll(value, NULL, 0);
        if (strcmp(argv[k], "-complex") == 0)
            options.complex_count = strtoll(value, NULL, 0);
        if (strcmp(argv[k], "-threads") == 0)
            options.threads = (int)strtol(value, NULL, 0);
        if (strcmp(argv[k], "-dtype") == 0)
            options.dtype = value;
        if (strcmp(argv[k], "-engine") == 0)
            expand_compiled = strcmp(value, "llvm") == 0;
    }
    if (options.threads < 1 || options.threads > THREADS_MAX)
        options.threads = 1;
    measure_real(&options);
    measure_complex(&options);
    return 0;
}
