/* Weft on a GPU beside the same work in bare calls of the CUDA driver, on the same stream and in
 * the same run: calls, loops, copies, streams. Not a row of run.py: prints a table of its own, then
 * the same as JSON. Where there is no CUDA device it says so. */
#include "cuda.h"
#include "measure.h"
#include <math.h>
#include <spawn.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>
#include <weft/weft.h>

enum { CALLS = 500, QUEUED_RUNS = 51, STEPS = 1000, KERNELS_MOST = 64, ROWS_MOST = 32 };

extern char **environ;

static weft_device device;
static weft_stream *current;
static void *stream;      /* the handle of `current` */
static int64_t scale = 1; /* sizes and counts are divided by it, for a trial without a GPU */

static void check(weft_status status)
{
    if (status != WEFT_OK)
        cuda_fail(weft_error_message());
}

static weft_array *checked(weft_array *array)
{
    if (!array)
        cuda_fail(weft_error_message());
    return array;
}

static cuda_address address_of(weft_array *array)
{
    return (cuda_address)(uintptr_t)weft_array_data(array);
}

static weft_array *new_array(int64_t count, double value)
{
    return checked(weft_full(WEFT_SHAPE(count), value, .dtype = WEFT_F32, .device = device));
}

static void wait_there(void) { cuda_check(cuda.wait_stream(stream), "waiting"); }

/* What was measured: seconds of Weft and of bare calls. */
static struct result {
    const char *work, *unit;
    double factor; /* from seconds to the unit */
    double ours, bare;
    double asked; /* of ours/bare, at most; at least where the figure is a speed */
    int bytes_up; /* the figure is a speed */
} results[ROWS_MOST];
static int results_count;

static struct result *add_result(const char *work, double ours, double bare, double asked)
{
    struct result *result = &results[results_count++];
    *result = (struct result){work, "us", 1e6, ours, bare, asked, 0};
    return result;
}

/* Medians of two kinds of work that take turns, so that what else happens hits both alike. */
static void take_turns(double (*ours)(void), double (*bare)(void), int runs, double *medians)
{
    double times[2][QUEUED_RUNS];
    (void)ours();
    (void)bare();
    for (int k = 0; k < runs; k++) {
        times[0][k] = ours();
        times[1][k] = bare();
    }
    for (int who = 0; who < 2; who++) {
        qsort(times[who], (size_t)runs, sizeof times[who][0], compare_times);
        medians[who] = times[who][runs / 2];
    }
}

static void compare(const char *work, double (*ours)(void), double (*bare)(void), double asked)
{
    double medians[2];
    take_turns(ours, bare, RUNS, medians);
    add_result(work, medians[0], medians[1], asked);
}

/* Of times until work is queued, which take milliseconds for many calls, and differ more. */
static void compare_queued(const char *work, double (*ours)(void), double (*bare)(void))
{
    double medians[2];
    take_turns(ours, bare, QUEUED_RUNS, medians);
    add_result(work, medians[0], medians[1], 1.1);
}

/* What a piece of Weft launches, to be launched without it: the same kernels with the same
 * parameters, one by one or as a graph. */
static struct recording {
    weft_graph *ours;
    void *executable;
    size_t count;
    cuda_kernel kernels[KERNELS_MOST];
} recording;

static void record(void (*body)(void))
{
    void *graph = NULL, *nodes[KERNELS_MOST];
    check(weft_graph_begin(current));
    body();
    recording.ours = weft_graph_end(current);
    if (!recording.ours || weft_graph_native(recording.ours, &graph) != WEFT_OK)
        cuda_fail(weft_error_message());
    recording.count = KERNELS_MOST;
    cuda_check(cuda.graph_nodes(graph, nodes, &recording.count), "cuGraphGetNodes");
    for (size_t k = 0; k < recording.count; k++)
        cuda_check(cuda.kernel_of_node(nodes[k], &recording.kernels[k]), "a node");
    cuda_check(cuda.instantiate(&recording.executable, graph, 0), "cuGraphInstantiate");
}

static void launch_recorded(void)
{
    for (size_t k = 0; k < recording.count; k++) {
        const cuda_kernel *it = &recording.kernels[k];
        cuda_check(cuda.launch(it->function, it->grid[0], it->grid[1], it->grid[2], it->block[0],
                               it->block[1], it->block[2], it->shared, stream, it->parameters,
                               it->extra),
                   "cuLaunchKernel");
    }
}

/* A call on few elements: the time until it is queued. */

static weft_array *a, *b, *c, *total;

static void add_small(void) { check(weft(c = a + b, a, b, c)); }

static double time_queued(void (*body)(void))
{
    wait_there();
    const double begin = now();
    for (int k = 0; k < CALLS; k++)
        body();
    const double seconds = (now() - begin) / CALLS;
    wait_there();
    return seconds;
}

static double time_small_calls(void) { return time_queued(add_small); }
static double time_small_launches(void) { return time_queued(launch_recorded); }

static void measure_calls(void)
{
    a = new_array(SMALL, 1), b = new_array(SMALL, 2), c = new_array(SMALL, 0);
    record(add_small);
    compare_queued("a warm call on 1024 elements, queued", time_small_calls, time_small_launches);
}

/* A body of small kernels, replayed: the time until a replay is queued, and until all are done. */

static void add_many(void)
{
    for (int k = 0; k < 10; k++) {
        check(weft(c = a + b, a, b, c));
        check(weft(a = 0.5f * c, a, c));
    }
}

static void launch_ours(void) { check(weft_graph_launch(recording.ours, current)); }
static void launch_bare(void)
{
    cuda_check(cuda.launch_graph(recording.executable, stream), "a graph");
}
static double time_replays(void) { return time_queued(launch_ours); }
static double time_bare_replays(void) { return time_queued(launch_bare); }

static double time_done(void (*body)(void))
{
    wait_there();
    const double begin = now();
    for (int k = 0; k < CALLS; k++)
        body();
    wait_there();
    return (now() - begin) / CALLS;
}

static double time_replays_done(void) { return time_done(launch_ours); }
static double time_bare_replays_done(void) { return time_done(launch_bare); }

static void measure_graphs(void)
{
    a = new_array(SMALL, 1), b = new_array(SMALL, 2), c = new_array(SMALL, 0);
    record(add_many);
    compare_queued("a replay of 20 small kernels, queued", time_replays, time_bare_replays);
    compare("a replay of 20 small kernels, done", time_replays_done, time_bare_replays_done, 1.1);
}

/* A loop of expressions, reductions and slices that never waits. */

static void step(void)
{
    const int64_t half = weft_array_size(c, 0) / 2;
    check(weft(c = a * b + 0.5f * c, a, b, c));
    weft_array *low = checked(weft_slice(c, WEFT_RANGE(0, half)));
    weft_array *high = checked(weft_slice(c, WEFT_RANGE(half, 2 * half)));
    check(weft(low = 0.25f * (low + high), low, high));
    weft_array *sum = checked(weft_sum(c));
    check(weft(total += sum, total, sum));
    weft_array_release(sum);
    weft_array_release(high);
    weft_array_release(low);
}

static double time_loop(void (*body)(void))
{
    wait_there();
    const double begin = now();
    for (int k = 0; k < STEPS / scale; k++)
        body();
    wait_there();
    return (now() - begin) / (double)(STEPS / scale);
}

static double time_steps(void)
{
    const bool before = weft_waits_forbid(true);
    const double seconds = time_loop(step);
    weft_waits_forbid(before);
    return seconds;
}

static double time_bare_steps(void) { return time_loop(launch_recorded); }

static void measure_loop(void)
{
    const int64_t count = (1 << 24) / scale;
    a = new_array(count, 1), b = new_array(count, 2), c = new_array(count, 0);
    total = checked(weft_zeros(WEFT_SCALAR, .dtype = WEFT_F32, .device = device));
    record(step);
    compare("a step of a loop that never waits, 64 MiB arrays", time_steps, time_bare_steps, 1.03);
}

/* Two streams: copies on one, kernels on the other. */

static weft_stream *copies, *kernels;
static weft_array *pinned, *there;
static int kernels_count;

static void queue_copy(void)
{
    check(weft_stream_set_current(device, copies));
    check(weft_assign(there, pinned));
    check(weft_stream_set_current(device, NULL));
}

static void queue_kernels(void)
{
    check(weft_stream_set_current(device, kernels));
    for (int k = 0; k < kernels_count; k++)
        check(weft(c += 1.0f / a + 2.0f * a * b, a, b, c));
    check(weft_stream_set_current(device, NULL));
}

static double time_streams(bool copy, bool compute)
{
    double times[RUNS];
    for (int k = 0; k < RUNS; k++) {
        const double begin = now();
        if (copy)
            queue_copy();
        if (compute)
            queue_kernels();
        check(weft_stream_synchronize(copies));
        check(weft_stream_synchronize(kernels));
        times[k] = now() - begin;
    }
    qsort(times, RUNS, sizeof times[0], compare_times);
    return times[RUNS / 2];
}

static void measure_streams(void)
{
    const int64_t count = (1 << 26) / scale;
    copies = weft_stream_new(device, .async = true);
    kernels = weft_stream_new(device, .async = true);
    a = new_array(count / 4, 1), b = new_array(count / 4, 2), c = new_array(count / 4, 0);
    there = new_array(count, 0);
    pinned = checked(weft_ones(WEFT_SHAPE(count), .dtype = WEFT_F32, .device = device,
                               .memory = WEFT_MEMORY_HOST));
    check(weft_device_synchronize(device));
    kernels_count = 1;
    (void)time_streams(true, true);
    const double copy = time_streams(true, false);
    kernels_count = 10;
    kernels_count = 1 + (int)(10 * copy / time_streams(false, true));
    const double compute = time_streams(false, true), both = time_streams(true, true);
    struct result *result =
        add_result("two streams, a copy beside kernels; alone the longer of them", both,
                   fmax(copy, compute), 1.1);
    result->unit = "ms", result->factor = 1e3;
}

/* To the device, 1 GiB. */

static weft_array *host;
static void *host_data;
static cuda_address target;
static size_t up_bytes;

static double time_up(void)
{
    const double begin = now();
    weft_array *moved = checked(weft_to_device(host, device, NULL));
    check(weft_eval(moved));
    const double seconds = now() - begin;
    weft_array_release(moved);
    return seconds;
}

static double time_bare_pinned(void)
{
    const double begin = now();
    cuda_check(cuda.copy_up_async(target, host_data, up_bytes, stream), "cuMemcpyHtoDAsync");
    wait_there();
    return now() - begin;
}

static double time_bare_pageable(void)
{
    const double begin = now();
    cuda_check(cuda.copy_up(target, host_data, up_bytes), "cuMemcpyHtoD");
    return now() - begin;
}

static void measure_up(const char *work, weft_array *source, double (*bare)(void), double asked)
{
    host = source;
    host_data = weft_array_data(host);
    compare(work, time_up, bare, asked);
    struct result *result = &results[results_count - 1];
    result->bytes_up = 1;
    result->unit = "GB/s", result->factor = 1e-9 * (double)up_bytes;
}

static void measure_copies(void)
{
    const int64_t count = (1 << 28) / scale;
    up_bytes = (size_t)count * 4;
    there = new_array(count, 0);
    target = address_of(there);
    pinned = checked(weft_ones(WEFT_SHAPE(count), .dtype = WEFT_F32, .device = device,
                               .memory = WEFT_MEMORY_HOST));
    weft_array *readable = checked(weft_asarray(pinned, .device = WEFT_CPU));
    weft_array *plain =
        checked(weft_ones(WEFT_SHAPE(count), .dtype = WEFT_F32, .device = WEFT_CPU));
    check(weft_eval(there));
    check(weft_eval(readable));
    measure_up("to_device of 1 GiB that is pinned", readable, time_bare_pinned, 0.95);
    measure_up("to_device of 1 GiB that is not", plain, time_bare_pageable, 2);
}

/* Kernels from the disk cache: a process fills it, another one has each for the first time. */

enum { TEXTS = 25 };

static double first_call(int number)
{
    static const char *const names[] = {"a", "b", "c"};
    const weft_operand operands[] = {WEFT_OPERAND(a), WEFT_OPERAND(b), WEFT_OPERAND(c)};
    char text[64];
    snprintf(text, sizeof text, "c = ((a %c b) %c a) %c (b %c (a %c b))", "+-"[number & 1],
             "*/"[number >> 1 & 1], "+-"[number >> 2 & 1], "*/"[number >> 3 & 1],
             "+*"[number >> 4 & 1]);
    const double begin = now();
    check(weft_evaluate(text, 3, names, operands));
    return now() - begin;
}

/* In the second process. */
static void load_all(void)
{
    double seconds[TEXTS];
    a = new_array(SMALL, 1), b = new_array(SMALL, 2), c = new_array(SMALL, 0);
    add_small(); /* the device has begun to work */
    check(weft_device_synchronize(device));
    for (int k = 0; k < TEXTS; k++)
        seconds[k] = first_call(k);
    qsort(seconds, TEXTS, sizeof seconds[0], compare_times);
    printf("%.9g %.9g\n", seconds[TEXTS / 2], seconds[TEXTS - 1]);
}

static void run_self(const char *path, char *output, size_t room)
{
    char command[4200];
    snprintf(command, sizeof command, "%s load", path);
    FILE *pipe = popen(command, "r");
    const size_t length = pipe ? fread(output, 1, room - 1, pipe) : 0;
    output[length] = 0;
    if (!pipe || pclose(pipe) != 0)
        cuda_fail("the process that loads kernels failed");
}

static void measure_loads(const char *path)
{
    char folder[] = "/tmp/weft-bench-XXXXXX", output[256], command[64];
    double median = 0, most = 0;
    if (!mkdtemp(folder))
        cuda_fail("no folder for a cache");
    setenv("WEFT_CACHE_DIR", folder, 1);
    run_self(path, output, sizeof output);
    run_self(path, output, sizeof output);
    snprintf(command, sizeof command, "rm -r %s", folder);
    if (system(command) != 0 || sscanf(output, "%lf %lf", &median, &most) != 2)
        cuda_fail("the process that loads kernels says nothing");
    struct result *result =
        add_result("a first call, its kernel from the disk; beside 0.5 ms", median, 0.5e-3, 1);
    result->unit = "ms", result->factor = 1e3;
}

static double figure(const struct result *r, double seconds)
{
    return r->bytes_up ? r->factor / seconds : r->factor * seconds;
}

static void print_results(void)
{
    printf("%-62s %10s %10s       ratio  asked\n", "work", "Weft", "bare");
    for (int k = 0; k < results_count; k++) {
        const struct result *r = &results[k];
        printf("%-62s %10.3f %10.3f %-4s %6.3f  %s %.2f\n", r->work, figure(r, r->ours),
               figure(r, r->bare), r->unit, figure(r, r->ours) / figure(r, r->bare),
               r->bytes_up ? ">=" : "<=", r->asked);
    }
    for (int k = 0; k < results_count; k++)
        printf("{\"work\": \"%s\", \"device\": \"cuda:0\", \"seconds\": %.9g, \"bare_seconds\": "
               "%.9g, \"ratio\": %.4g, \"asked\": %.3g, \"at_least\": %s}\n",
               results[k].work, results[k].ours, results[k].bare,
               figure(&results[k], results[k].ours) / figure(&results[k], results[k].bare),
               results[k].asked, results[k].bytes_up ? "true" : "false");
}

int main(int argc, char **argv)
{
    void *context = NULL;
    const char *only = argc > 1 ? argv[1] : "calls graphs loop streams copies loads";
    scale = getenv("WEFT_BENCH_SMALL") ? 256 : 1;
    device = weft_device_named("cuda:0");
    if (device.kind == WEFT_DEVICE_INVALID) {
        printf("left out: %s\n", weft_error_message());
        return 0;
    }
    if (strcmp(only, "load") == 0) {
        load_all();
        return 0;
    }
    current = weft_stream_current(device);
    if (!cuda_open() || weft_device_native(device, &context) != WEFT_OK ||
        weft_stream_native(current, &stream) != WEFT_OK || cuda.push_context(context))
        cuda_fail("no context");
    if (strstr(only, "calls"))
        measure_calls();
    if (strstr(only, "graphs"))
        measure_graphs();
    if (strstr(only, "loop"))
        measure_loop();
    if (strstr(only, "streams"))
        measure_streams();
    if (strstr(only, "copies"))
        measure_copies();
    if (strstr(only, "loads"))
        measure_loads(argv[0]);
    print_results();
    return 0;
}
