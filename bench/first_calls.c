/* First calls: how long an expression that was never seen takes, when it is compiled, and how long
 * one from the disk cache takes in a fresh process. Not a row of run.py: prints a table of its own.
 */
#include "measure.h"
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <weft/weft.h>

enum { KERNELS = 9, ELEMENTS = 1 << 16, TEXT = 4096 };

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

static double call(const char *text, weft_array *a, weft_array *b, weft_array *c)
{
    static const char *const names[] = {"a", "b", "c"};
    const weft_operand operands[] = {WEFT_OPERAND(a), WEFT_OPERAND(b), WEFT_OPERAND(c)};
    const double begin = now();
    if (weft_evaluate(text, 3, names, operands) != WEFT_OK) {
        fprintf(stderr, "%s\n", weft_error_message());
        exit(1);
    }
    return now() - begin;
}

/* Until nothing is left to be compiled. */
static void wait_compiled(void)
{
    weft_statistics all = {0};
    do {
        usleep(20);
        weft_memory_stats(WEFT_CPU, &all);
    } while (all.compilations_waiting);
}

static double median(double *seconds)
{
    qsort(seconds, KERNELS, sizeof *seconds, compare_times);
    return seconds[KERNELS / 2];
}

/* In the parent nothing is known; in the child everything is on disk. */
static void measure_all(bool child)
{
    WEFT_AUTO weft_array *a = weft_full(WEFT_SHAPE(ELEMENTS), 1.5f);
    WEFT_AUTO weft_array *b = weft_full(WEFT_SHAPE(ELEMENTS), 0.5f);
    WEFT_AUTO weft_array *c = weft_full(WEFT_SHAPE(ELEMENTS), 0.0f);
    char text[TEXT];
    const double opened = now();
    wait_compiled(); /* what fills */
    if (!child)
        printf("libLLVM was open after %.1f ms\n", (now() - opened) * 1e3);
    for (int s = 0; s < SIZES; s++) {
        double first[KERNELS], second[KERNELS], until[KERNELS], later[KERNELS];
        for (int k = 0; k < KERNELS; k++) {
            write_program(operations[s], 37 * k + 11, text);
            const double begin = now();
            first[k] = call(text, a, b, c);
            second[k] = call(text, a, b, c);
            wait_compiled();
            until[k] = now() - begin;
            (void)call(text, a, b, c);
            later[k] = call(text, a, b, c);
        }
        if (child)
            printf("%10d ops: first %7.1f us (the first of all %7.1f us), then %7.1f us\n",
                   operations[s], median(first) * 1e6, first[0] * 1e6, median(later) * 1e6);
        else
            printf(
                "%10d ops: first %7.1f us, second %7.1f us, compiled after %6.2f ms (first %6.2f "
                "ms), then %7.1f us\n",
                operations[s], median(first) * 1e6, median(second) * 1e6, median(until) * 1e3,
                until[0] * 1e3, median(later) * 1e6);
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
        return 0;
    }
    if (!mkdtemp(folder) || setenv("WEFT_CACHE_DIR", folder, 1) != 0)
        return 1;
    printf("expressions never seen, 65536 f32\n");
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
