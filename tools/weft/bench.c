/* weft bench: how fast the devices are, without anything to compare with but a copy. */
#include "command.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "usage: weft bench [--device NAME] [--elements NUMBER] [--json]\n"
    "\n"
    "Measures each device: how fast it copies an array, expressions beside that, and what a call "
    "costs.\n"
    "GB/s count each operand once. Takes some ten seconds for each device.\n"
    "  --device NAME       only this one, as cpu, cuda:0 or opencl:0\n"
    "  --elements NUMBER   of an array of f32; without it 2^26, 2^28 on a GPU with memory of its "
    "own,\n"
    "                      or less if there is not room\n"
    "  --json              a list of {\"work\", \"who\", \"device\", \"n\", \"seconds\", \"gbps\", "
    "\"of_copy\"}\n"
    "\n"
    "./dev bench, in the sources, measures beside NumPy, PyTorch and others.\n";

enum { TIMINGS = 5, SMALL = 1024, NAMES_MOST = 3, LEAST = 1024 };
static const double WARM_UP = 0.1, TIMING = 0.02; /* seconds */

/* What the rows compute on, each under the letter that it has in their code. */
enum {
    A,
    B,
    C,
    ROW,
    TURNED,
    TOTAL,
    COLUMNS,
    LINES,
    CUBE,
    CUBED,
    SMALL_A,
    SMALL_B,
    SMALL_C,
    ARRAYS
};
static const char letters[] = "abcrtskljqxyz";

typedef struct bench {
    weft_device device;
    weft_array *arrays[ARRAYS];
    int64_t side, cube; /* of the arrays */
    double copy;        /* bytes a second */
    bool json, first;
} bench;

typedef struct work {
    const char *name, *code, *operands; /* without code: a copy, or random numbers */
    int bytes;                          /* that each element moves */
    enum { WHOLE, CUBIC, CALL } kind;
} work;

static const work works[] = {
    {"copy", NULL, "ac", 8, WHOLE},
    {"a += b", "c += b", "bc", 12, WHOLE},
    {"c = a + b", "c = a + b", "abc", 12, WHOLE},
    {"c += 1/a + 2ab", "c += 1/a + 2*a*b", "abc", 16, WHOLE},
    {"where(a >= b, a - b, b - a)", "c = where(a >= b, a - b, b - a)", "abc", 12, WHOLE},
    {"sin(exp(a))", "c = sin(exp(a))", "ac", 8, WHOLE},
    {"a + b.T", "c = a + t", "act", 12, WHOLE},
    {"(a - row)*row", "c = (a - r)*r", "acr", 8, WHOLE},
    {"sum(a)", "s = sum(a)", "as", 4, WHOLE},
    {"sum(a) axis 0", "k = sum(a, axis=0)", "ak", 4, WHOLE},
    {"sum(a) axis 1", "l = sum(a, axis=1)", "al", 4, WHOLE},
    {"sum(sin(a)*a)", "s = sum(sin(a)*a)", "as", 4, WHOLE},
    {"laplacian(a)", "q = laplacian(j)", "jq", 8, CUBIC},
    {"uniform random", NULL, "", 4, WHOLE},
    {"call on 1024 elements: c = a + b", "z = x + y", "xyz", 0, CALL},
    {"call on 1024 elements: c += 1/a + 2ab", "z += 1/x + 2*x*y", "xyz", 0, CALL},
};
enum { WORKS = sizeof works / sizeof works[0] };

static weft_array *operand_of(const bench *b, char letter)
{
    return b->arrays[strchr(letters, letter) - letters];
}

static weft_status run_code(const bench *b, const work *w)
{
    char names[NAMES_MOST][2];
    const char *pointers[NAMES_MOST];
    weft_operand values[NAMES_MOST];
    int count = 0;
    for (; w->operands[count]; count++) {
        names[count][0] = w->operands[count];
        names[count][1] = 0;
        pointers[count] = names[count];
        values[count] = WEFT_OPERAND(operand_of(b, w->operands[count]));
    }
    return weft_evaluate(w->code, count, pointers, values);
}

static weft_status run_work(const bench *b, const work *w)
{
    if (w->code)
        return run_code(b, w);
    if (w->operands[0])
        return weft_assign(b->arrays[C], b->arrays[A]);
    weft_array *made = weft_random_uniform(-1, 1, WEFT_SHAPE(b->side, b->side), .dtype = WEFT_F32,
                                           .device = b->device);
    weft_array_release(made);
    return made ? WEFT_OK : weft_error_last()->code;
}

/* Seconds of one call of `calls`; of a small one, until it is queued. */
static weft_status time_calls(const bench *b, const work *w, int calls, double *seconds)
{
    weft_status status = WEFT_OK;
    const double begin = seconds_now();
    for (int k = 0; k < calls && status == WEFT_OK; k++)
        status = run_work(b, w);
    *seconds = (seconds_now() - begin) / calls;
    if (status == WEFT_OK)
        status = weft_device_synchronize(b->device);
    if (w->kind != CALL)
        *seconds = (seconds_now() - begin) / calls;
    return status;
}

/* Until compilers in the background have finished; *seconds is the last call's. */
static weft_status warm_up(const bench *b, const work *w, double *seconds)
{
    weft_statistics all = {0};
    const double begin = seconds_now();
    do {
        const weft_status status = time_calls(b, w, 1, seconds);
        if (status != WEFT_OK)
            return status;
        if (weft_memory_stats(b->device, &all) != WEFT_OK)
            return weft_error_last()->code;
    } while (seconds_now() - begin < WARM_UP || all.compilations_waiting);
    return WEFT_OK;
}

static int compare_seconds(const void *x, const void *y)
{
    const double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

/* The median of some timings, each of as many calls as take a while. */
static weft_status measure(const bench *b, const work *w, double *seconds)
{
    const int most = b->device.kind == WEFT_DEVICE_CPU ? 100000 : 500; /* what drivers queue */
    double timings[TIMINGS];
    weft_status status = warm_up(b, w, seconds);
    const double wanted = TIMING / (*seconds > 1e-9 ? *seconds : 1e-9);
    const int calls = wanted < 1 ? 1 : wanted > most ? most : (int)wanted;
    for (int k = 0; k < TIMINGS && status == WEFT_OK; k++)
        status = time_calls(b, w, calls, &timings[k]);
    if (status == WEFT_OK) {
        qsort(timings, TIMINGS, sizeof timings[0], compare_seconds);
        *seconds = timings[TIMINGS / 2];
    }
    return status;
}

static weft_array *made(const bench *b, weft_shape shape)
{
    return weft_random_uniform(0.5, 1.5, shape, .dtype = WEFT_F32, .device = b->device);
}

static bool make_arrays(bench *b)
{
    const weft_shape square = WEFT_SHAPE(b->side, b->side), line = WEFT_SHAPE(b->side);
    const weft_shape cube = WEFT_SHAPE(b->cube, b->cube, b->cube), small = WEFT_SHAPE(SMALL);
    const weft_shape shapes[ARRAYS] = {square, square, square, line,  square, WEFT_SCALAR, line,
                                       line,   cube,   cube,   small, small,  small};
    for (int k = 0; k < ARRAYS; k++) {
        b->arrays[k] = k == TURNED ? weft_transpose(b->arrays[B]) : made(b, shapes[k]);
        if (!b->arrays[k])
            return false;
    }
    return true;
}

/* `elements`, or what the device has room for: six large arrays in half of what is free. */
static int choose_size(bench *b, int64_t elements, weft_device_info *info)
{
    if (weft_device_describe(b->device, info) != WEFT_OK)
        return failed_call();
    if (!elements) {
        elements = b->device.kind == WEFT_DEVICE_CPU || info->unified_memory ? 1 << 26 : 1 << 28;
        while (elements > 1 << 16 && (uint64_t)elements * 6 * 4 > info->memory_free / 2)
            elements /= 4;
    }
    b->side = (int64_t)sqrt((double)elements);
    b->cube = (int64_t)cbrt((double)elements);
    return DONE;
}

static void show_time(double seconds)
{
    static const struct {
        const char *unit;
        double scale;
    } units[] = {{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}};
    int k = 0;
    while (k < 3 && seconds < units[k].scale)
        k++;
    printf("%8.3g %-2s", seconds / units[k].scale, units[k].unit);
}

static double elements_of(const bench *b, const work *w)
{
    if (w->kind == CALL)
        return SMALL;
    return w->kind == CUBIC ? (double)(b->cube * b->cube * b->cube) : (double)(b->side * b->side);
}

static void show_json(bench *b, const work *w, double seconds, double rate)
{
    printf("%s\n {\"work\": ", b->first ? "[" : ",");
    json_text(w->name);
    printf(
        ", \"who\": \"weft\", \"device\": \"%s\", \"n\": %.0f, \"seconds\": %.6g, \"gbps\": %.4g",
        weft_device_id(b->device), elements_of(b, w), seconds, rate * 1e-9);
    if (rate > 0)
        printf(", \"of_copy\": %.4g", rate / b->copy);
    printf("}");
    b->first = false;
}

static void show_row(bench *b, const work *w, double seconds)
{
    const double rate = w->bytes * elements_of(b, w) / seconds;
    if (w == works)
        b->copy = rate;
    if (b->json) {
        show_json(b, w, seconds, rate);
        return;
    }
    printf("  %-38s", w->name);
    show_time(seconds);
    if (rate > 0)
        printf(" %8.1f GB/s", rate * 1e-9);
    if (rate > 0 && w != works)
        printf(" %8.2f of the copy", rate / b->copy);
    printf("\n");
}

/* What is measured now, on a terminal, until the next line comes. */
static void show_progress(const bench *b, int k)
{
    if (!isatty(STDERR_FILENO))
        return;
    (void)fflush(stdout);
    if (k < WORKS)
        fprintf(stderr, "\r\033[K[%d/%d] %s: %s", k + 1, (int)WORKS, weft_device_id(b->device),
                works[k].name);
    else
        fprintf(stderr, "\r\033[K");
}

static int measure_works(bench *b)
{
    for (int k = 0; k < WORKS; k++) {
        double seconds;
        show_progress(b, k);
        const weft_status status = measure(b, &works[k], &seconds);
        show_progress(b, WORKS);
        if (status != WEFT_OK)
            return failed_call();
        show_row(b, &works[k], seconds);
    }
    return DONE;
}

static int measure_device(bench *b, int64_t elements)
{
    weft_device_info info;
    int code = choose_size(b, elements, &info);
    if (code == DONE && !b->json)
        printf("%s  %s, %lld x %lld f32\n", weft_device_id(b->device), info.name,
               (long long)b->side, (long long)b->side);
    if (code == DONE)
        code = make_arrays(b) ? measure_works(b) : failed_call();
    for (int k = 0; k < ARRAYS; k++) {
        weft_array_release(b->arrays[k]);
        b->arrays[k] = NULL;
    }
    /* The next device may share this one's memory. */
    if (code == DONE && weft_memory_trim(b->device, 0) != WEFT_OK)
        code = failed_call();
    return code;
}

static int measure_devices(bench *b, const char *name, int64_t elements)
{
    const int count = *name ? 1 : weft_device_count();
    int code = DONE;
    for (int k = 0; k < count && code == DONE; k++) {
        b->device = *name ? weft_device_named(name) : weft_device_at(k);
        if (b->device.kind <= 0)
            return failed_call();
        if (!b->json && k)
            printf("\n");
        code = measure_device(b, elements);
    }
    return code;
}

static bool read_elements(const char *text, int64_t *elements)
{
    char *end;
    *elements = strtoll(text, &end, 10);
    return end != text && *end == 0 && *elements >= LEAST && *elements <= (int64_t)1 << 40;
}

int command_bench(int count, char **arguments)
{
    bench b = {.first = true};
    const char *device = "", *value;
    int64_t elements = 0;
    bool missing = false;
    for (int k = 0; k < count; k++) {
        if (is_help(arguments[k])) {
            fputs(help, stdout);
            return DONE;
        }
        if ((value = option_value(count, arguments, &k, "--device", &missing)))
            device = value;
        else if ((value = option_value(count, arguments, &k, "--elements", &missing))) {
            if (!missing && !read_elements(value, &elements))
                return wrong_usage("bench", "--elements needs a whole number from %d on, not '%s'",
                                   LEAST, value);
        } else if (strcmp(arguments[k], "--json") == 0)
            b.json = true;
        else
            return wrong_usage("bench", "'%s' is neither --device, --elements nor --json",
                               arguments[k]);
        if (missing || (value && !*value))
            return wrong_usage("bench", "%s needs a value", arguments[k]);
    }
    const int code = measure_devices(&b, device, elements);
    if (b.json && !b.first)
        printf("\n]\n");
    return code;
}
