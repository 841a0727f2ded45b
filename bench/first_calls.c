/* First calls: how long an expression that was never seen takes, when it is compiled and optimized,
 * and how long one from the disk cache takes in a fresh process. Not a row of run.py: prints a
 * table of its own. */
#include "measure.h"
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <weft/weft.h>

enum { KERNELS = 9, ROWS = 64, COLUMNS = 1024, ELEMENTS = ROWS * COLUMNS, TEXT = 4096 };

extern char **environ;

static const int operations[] = {10, 50, 100, 200};
enum { SIZES = sizeof operations / sizeof operations[0] };

/* Programs of so many operations; each number another one. */
static void write_program(int count, int number, char *text)
{
    size_t length = (size_t)snprintf(text, TEXT, "c = ");
    for (int i = 1; i < count; i++)
        text[length++] = '(';
    length += (size_t)snprintf(text + length, TEXT - length, "a");
    for (int i = 0; i < count; i++)
        length += (size_t)snprintf(
            text + length, TEXT - length, "%s%s%s", (number >> i % 8 ^ i) & 1 ? " + " : " * ",
            i && (number >> i % 5 ^ i / 3) & 1 ? "a" : "b", i + 1 < count ? ")" : "");
}

/* Other kernels of up to 100 operations. */
static const struct named {
    const char *text;
    weft_dtype dtype;
    int inputs;
    enum { ALL, AXIS_0, AXIS_1, SAME } shape; /* of c: a and b are folded so, or not */
} named[] = {
    {"c = a + b", WEFT_F32, 2, SAME},
    {"c = where(a >= b, a - b, b - a)", WEFT_F32, 2, SAME},
    {"c += 1.0f/a + 2.0f*a*b", WEFT_F32, 2, SAME},
    {"c = a/b", WEFT_I32, 2, SAME},
    {"c = exp(a)", WEFT_F32, 1, SAME},
    {"c = log(a)", WEFT_F32, 1, SAME},
    {"c = sin(a)", WEFT_F32, 1, SAME},
    {"c = sin(a)", WEFT_F16, 1, SAME},
    {"c = sin(a)", WEFT_F64, 1, SAME},
    {"c = sin(exp(a))", WEFT_F32, 1, SAME},
    {"c = sin(a)*cos(b)", WEFT_F32, 2, SAME},
    {"c = tan(a)", WEFT_F32, 1, SAME},
    {"c = pow(a, b)", WEFT_F32, 2, SAME},
    {"c = pow(a, b)", WEFT_F64, 2, SAME},
    {"c = a + b", WEFT_BF16, 2, SAME},
    {"c = a/b", WEFT_I64, 2, SAME},
    {"c = atan2(a, b)", WEFT_F32, 2, SAME},
    {"c = fmod(a, b)", WEFT_F32, 2, SAME},
    {"c = tgamma(a)", WEFT_F32, 1, SAME},
    {"c = exp(-a*a)*sin(b) + log(1 + a*a)", WEFT_F32, 2, SAME},
    {"c = a*b + a", WEFT_C64, 2, SAME},
    {"c = a/b", WEFT_C64, 2, SAME},
    {"c = exp(a)", WEFT_C64, 1, SAME},
    {"c = acos(a)", WEFT_C64, 1, SAME},
    {"c = shift(a, 1, 1) + a", WEFT_F32, 1, SAME},
    {"c = laplacian(a)", WEFT_F32, 1, SAME},
    {"c = sum(a)", WEFT_F32, 1, ALL},
    {"c = sum(a*b)", WEFT_F32, 2, ALL},
    {"c = sum(a*b)", WEFT_F64, 2, ALL},
    {"c = sum(a*b)", WEFT_C64, 2, ALL},
    {"c = sum(a*b, axis=0)", WEFT_F32, 2, AXIS_0},
    {"c = sum(a*b, axis=1)", WEFT_F32, 2, AXIS_1},
    {"c = sum(sin(a)*a)", WEFT_F32, 1, ALL},
    {"c = sum(sin(a)*a)", WEFT_F64, 1, ALL},
    {"c = sum(sin(a)*a, axis=0)", WEFT_F32, 1, AXIS_0},
    {"c = sum(sin(a)*a, axis=1)", WEFT_F32, 1, AXIS_1},
    {"c = sum(sin(a)*b)", WEFT_C64, 2, ALL},
    {"c = max(a)", WEFT_F32, 1, ALL},
    {"c = sum(a)", WEFT_I8, 1, ALL},
    {"c = argmax(a)", WEFT_F32, 1, ALL},
    {"c = argmax(a, axis=0)", WEFT_F32, 1, AXIS_0},
};
enum { NAMED = sizeof named / sizeof named[0] };

/* Without b, where the text does not use it. */
static double call(const char *text, weft_array *a, weft_array *b, weft_array *c)
{
    static const char *const names[] = {"a", "c", "b"};
    const weft_operand operands[] = {WEFT_OPERAND(a), WEFT_OPERAND(c), WEFT_OPERAND(b)};
    const double begin = now();
    if (weft_evaluate(text, b ? 3 : 2, names, operands) != WEFT_OK) {
        fprintf(stderr, "%s\n", weft_error_message());
        exit(1);
    }
    return now() - begin;
}

static weft_statistics statistics(void)
{
    weft_statistics all = {0};
    weft_memory_stats(WEFT_CPU, &all);
    return all;
}

/* Until nothing is left to be compiled, or optimized. */
static void wait_optimized(void)
{
    do
        usleep(20);
    while (statistics().compilations_waiting);
}

/* Until more have code than those before. */
static weft_statistics wait_compiled(uint64_t before)
{
    weft_statistics all;
    do {
        usleep(20);
        all = statistics();
    } while (all.compilations_waiting && all.compilations_llvm == before);
    return all;
}

/* The second call of a kernel, after which it is compiled, if it was not large enough for that to
 * begin with the first: when its first code was there, and when it was optimized, which may be the
 * same. `before` is how many had code before the first call. */
static double call_again(const char *text, weft_array *a, weft_array *b, weft_array *c,
                         uint64_t before, double begin, double *compiled, double *optimized)
{
    const double seconds = call(text, a, b, c);
    const weft_statistics all = wait_compiled(before);
    *compiled = now() - begin;
    wait_optimized();
    *optimized = all.compilations_waiting ? now() - begin : *compiled;
    return seconds;
}

static double median(double *seconds)
{
    qsort(seconds, KERNELS, sizeof *seconds, compare_times);
    return seconds[KERNELS / 2];
}

/* What is measured of a kernel, in each round. */
struct times {
    double first[KERNELS], compiled[KERNELS], optimized[KERNELS], later[KERNELS];
};

static weft_array *result_of(const struct named *kernel)
{
    const bool wide = strstr(kernel->text, "arg") || kernel->dtype == WEFT_I8;
    const weft_dtype dtype = wide ? WEFT_I64 : kernel->dtype;
    if (kernel->shape == SAME)
        return weft_zeros(WEFT_SHAPE(ROWS, COLUMNS), .dtype = dtype);
    if (kernel->shape == ALL)
        return weft_zeros(WEFT_SCALAR, .dtype = dtype);
    return weft_zeros(WEFT_SHAPE(kernel->shape == AXIS_0 ? COLUMNS : ROWS), .dtype = dtype);
}

static void measure_named(const struct named *kernel, int round, struct times *times)
{
    WEFT_AUTO weft_array *a = weft_full(WEFT_SHAPE(ROWS, COLUMNS), 1, .dtype = kernel->dtype);
    WEFT_AUTO weft_array *b = kernel->inputs == 1
                                  ? NULL
                                  : weft_full(WEFT_SHAPE(ROWS, COLUMNS), 2, .dtype = kernel->dtype);
    WEFT_AUTO weft_array *c = result_of(kernel);
    wait_optimized();
    const uint64_t before = statistics().compilations_llvm;
    const double begin = now();
    times->first[round] = call(kernel->text, a, b, c);
    (void)call_again(kernel->text, a, b, c, before, begin, &times->compiled[round],
                     &times->optimized[round]);
    (void)call(kernel->text, a, b, c);
    times->later[round] = call(kernel->text, a, b, c);
}

/* Each round begins with nothing known but, in the child, what is on disk. */
static void measure_all_named(bool child)
{
    static struct times times[NAMED];
    for (int round = 0; round < KERNELS; round++) {
        if (!child)
            weft_cache_clear();
        weft_device_reset(WEFT_CPU);
        for (int k = 0; k < NAMED; k++)
            measure_named(&named[k], round, &times[k]);
    }
    for (int k = 0; k < NAMED; k++) {
        printf("%34s %-4s first %7.1f us, ", named[k].text, weft_dtype_name(named[k].dtype),
               median(times[k].first) * 1e6);
        if (!child)
            printf("compiled after %5.2f ms, optimized after %5.2f ms, ",
                   median(times[k].compiled) * 1e3, median(times[k].optimized) * 1e3);
        printf("then %7.1f us\n", median(times[k].later) * 1e6);
    }
}

/* Calls twice, after which it is compiled. */
static double until_compiled(const char *text, weft_array *a, weft_array *b, weft_array *c)
{
    const uint64_t before = statistics().compilations_llvm;
    const double begin = now();
    (void)call(text, a, b, c);
    (void)call(text, a, b, c);
    (void)wait_compiled(before);
    return now() - begin;
}

/* A kernel, alone and while another one is being optimized, which takes far longer. */
static void measure_meanwhile(void)
{
    double seconds[2][KERNELS];
    for (int round = 0; round < 2 * KERNELS; round++) {
        weft_cache_clear();
        weft_device_reset(WEFT_CPU);
        WEFT_AUTO weft_array *x = weft_full(WEFT_SHAPE(ROWS, COLUMNS), 1.5);
        WEFT_AUTO weft_array *y = weft_full(WEFT_SHAPE(ROWS, COLUMNS), 0.0);
        WEFT_AUTO weft_array *a = weft_full(WEFT_SHAPE(ROWS, COLUMNS), 1.5f);
        WEFT_AUTO weft_array *c = weft_full(WEFT_SHAPE(ROWS, COLUMNS), 0.0f);
        wait_optimized();
        if (round % 2)
            (void)until_compiled("c = pow(a, b)", x, x, y);
        seconds[round % 2][round / 2] = until_compiled("c = exp(a)", a, NULL, c);
        wait_optimized();
    }
    printf("%34s f32  compiled after %5.2f ms, and while pow(a, b) of f64 is optimized after "
           "%5.2f ms\n",
           "c = exp(a)", median(seconds[0]) * 1e3, median(seconds[1]) * 1e3);
}

/* In the parent nothing is known; in the child everything is on disk. */
static void measure_all(bool child)
{
    WEFT_AUTO weft_array *a = weft_full(WEFT_SHAPE(ELEMENTS), 1.5f);
    WEFT_AUTO weft_array *b = weft_full(WEFT_SHAPE(ELEMENTS), 0.5f);
    WEFT_AUTO weft_array *c = weft_full(WEFT_SHAPE(ELEMENTS), 0.0f);
    char text[TEXT];
    const double opened = now();
    wait_optimized(); /* what fills */
    if (!child)
        printf("libLLVM was open after %.1f ms\n", (now() - opened) * 1e3);
    for (int s = 0; s < SIZES; s++) {
        double second[KERNELS];
        struct times times;
        for (int k = 0; k < KERNELS; k++) {
            write_program(operations[s], 37 * k + 11, text);
            const uint64_t before = statistics().compilations_llvm;
            const double begin = now();
            times.first[k] = call(text, a, b, c);
            second[k] =
                call_again(text, a, b, c, before, begin, &times.compiled[k], &times.optimized[k]);
            (void)call(text, a, b, c);
            times.later[k] = call(text, a, b, c);
        }
        const double first = times.first[0], optimized = times.optimized[0]; /* not sorted yet */
        if (child)
            printf("%10d ops: first %7.1f us (the first of all %7.1f us), then %7.1f us\n",
                   operations[s], median(times.first) * 1e6, first * 1e6,
                   median(times.later) * 1e6);
        else
            printf("%10d ops: first %7.1f us, second %7.1f us, compiled after %5.2f ms, optimized "
                   "after %5.2f ms (the first of all %5.2f ms), then %7.1f us\n",
                   operations[s], median(times.first) * 1e6, median(second) * 1e6,
                   median(times.compiled) * 1e3, median(times.optimized) * 1e3, optimized * 1e3,
                   median(times.later) * 1e6);
    }
}

int main(int count, char **arguments)
{
    char folder[] = "/tmp/weft-bench-XXXXXX";
    pid_t child;
    if (count > 1) {
        const double begin = now();
        weft_array_release(weft_full(WEFT_SHAPE(ELEMENTS), 1.5f));
        printf("from the disk cache, in a fresh process (its first array took %.1f us)\n",
               (now() - begin) * 1e6);
        measure_all(true);
        measure_all_named(true);
        return 0;
    }
    if (!mkdtemp(folder) || setenv("WEFT_CACHE_DIR", folder, 1) != 0)
        return 1;
    printf("expressions never seen, 65536 f32\n");
    measure_all_named(false);
    measure_meanwhile();
    measure_all(false);
    fflush(stdout);
    char *again[] = {arguments[0], "child", NULL};
    setenv("WEFT_LLVM", "/none", 1); /* must not be needed */
    if (posix_spawn(&child, "/proc/self/exe", NULL, NULL, again, environ) == 0)
        waitpid(child, NULL, 0);
    weft_cache_clear();
    rmdir(folder);
    return 0;
}
