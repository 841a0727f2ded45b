/* Programs whose timelines tests/trace/run.py knows: program MODE [DEVICE]. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <weft/weft.h>

enum { ROWS = 300, COLUMNS = 500, THREADS = 4, CALLS = 200, BYTES = 4 * ROWS * COLUMNS };

static void check(bool good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "%s: %s\n", what, weft_error_message());
    exit(1);
}

static weft_array *ones(void)
{
    weft_array *made = weft_ones(WEFT_SHAPE(ROWS, COLUMNS), .dtype = WEFT_F32);
    check(made != NULL, "ones");
    return made;
}

WEFT_KERNEL(twice, (in, out), { out(i, j) = 2.0f * in(i, j); });

WEFT_FUNCTION(steps, (x, y), {
    y = x + 1.0f;
    for (int k = 0; k < 2; k++)
        y = 0.5f * y + shift(y, 1, 0);
});

static weft_status called(void *argument)
{
    (void)argument;
    return WEFT_OK;
}

/* Each kind of event, on the current stream of the device. */
static void compute(weft_device device)
{
    static float host[ROWS * COLUMNS];
    float total = 0;
    WEFT_ON(device);
    WEFT_AUTO weft_array *a = ones();
    WEFT_AUTO weft_array *b = ones();
    WEFT_AUTO weft_array *row = weft_ones(WEFT_SHAPE(COLUMNS), .dtype = WEFT_F32);
    WEFT_AUTO weft_array *sums = weft_zeros(WEFT_SHAPE(ROWS), .dtype = WEFT_F32);
    for (int k = 0; k < 3; k++)
        check(weft(a += 2.0f * b + row, a, b, row) == WEFT_OK, "a row");
    check(weft(sums = sum(a * b, axis = 1), sums, a, b) == WEFT_OK, "sums");
    check(weft_value(&total, sum(a), a) == WEFT_OK && total > 0, "a value");
    WEFT_AUTO weft_array *c = weft_multiply(a, b);
    check(c && weft_launch(twice, b, a, b) == WEFT_OK, "a kernel");
    check(weft_call(steps, NULL, a, b) == WEFT_OK, "a function");
    check(weft_copy_to_host(c, host, sizeof host) == WEFT_OK, "a copy");
}

/* Two streams, of which one waits for the other, a function that is called in order, a copy. */
static void streams(weft_device device)
{
    static float host[ROWS * COLUMNS];
    weft_stream *first = weft_stream_new(device, .async = true);
    weft_stream *second = weft_stream_new(device, .async = true);
    check(first && second, "streams");
    WEFT_ON(device);
    WEFT_AUTO weft_array *a = ones();
    WEFT_AUTO weft_array *b = ones();
    for (int k = 0; k < CALLS; k++) {
        check(weft_stream_set_current(device, first) == WEFT_OK, "a stream");
        check(weft(a = 0.5f * a + b, a, b) == WEFT_OK, "the first");
        check(weft_stream_set_current(device, second) == WEFT_OK, "a stream");
        check(weft(b = 0.25f * a, a, b) == WEFT_OK, "the second");
    }
    check(weft_stream_call(second, called, NULL, .name = "my function") == WEFT_OK, "a call");
    check(weft_stream_set_current(device, NULL) == WEFT_OK, "a stream");
    check(weft_stream_synchronize(second) == WEFT_OK, "waiting");
    check(weft_copy_to_host(b, host, sizeof host) == WEFT_OK, "a copy");
    weft_stream_release(first);
    weft_stream_release(second);
}

static weft_status add_one(const weft_kernel_part *part)
{
    (void)part;
    return WEFT_OK;
}

/* A graph that is launched three times, and a kernel that is a C function. */
static void graph(weft_device device)
{
    weft_stream *stream = weft_stream_new(device, .async = true);
    WEFT_ON(device);
    check(stream && weft_stream_set_current(device, stream) == WEFT_OK, "a stream");
    WEFT_AUTO weft_array *a = ones();
    check(weft(a = a + 1.5f, a) == WEFT_OK, "before");
    check(weft_graph_begin(stream) == WEFT_OK, "a graph");
    check(weft(a = a * 0.5f, a) == WEFT_OK, "recording");
    weft_graph *made = weft_graph_end(stream);
    for (int k = 0; k < 3; k++)
        check(made && weft_graph_launch(made, stream) == WEFT_OK, "launching");
    if (device.kind == WEFT_DEVICE_CPU)
        check(weft_launch_function(add_one, a, a) == WEFT_OK, "a function");
    check(weft_stream_set_current(device, NULL) == WEFT_OK, "a stream");
    check(weft_stream_synchronize(stream) == WEFT_OK, "waiting");
    weft_graph_release(made);
    weft_stream_release(stream);
}

static void *work(void *argument)
{
    char code[32];
    const char *names[] = {"a"};
    WEFT_AUTO weft_array *a = ones();
    weft_operand operands[] = {WEFT_OPERAND(a)};
    snprintf(code, sizeof code, "a = a + %d", *(int *)argument);
    for (int k = 0; k < CALLS; k++)
        check(weft_evaluate(code, 1, names, operands) == WEFT_OK, code);
    return NULL;
}

static void threads(void)
{
    pthread_t all[THREADS];
    int numbers[THREADS];
    for (int k = 0; k < THREADS; k++) {
        numbers[k] = k;
        check(pthread_create(&all[k], NULL, work, &numbers[k]) == 0, "a thread");
    }
    for (int k = 0; k < THREADS; k++)
        pthread_join(all[k], NULL);
}

static void once(const char *code)
{
    const char *names[] = {"a"};
    WEFT_AUTO weft_array *a = ones();
    weft_operand operands[] = {WEFT_OPERAND(a)};
    check(weft_evaluate(code, 1, names, operands) == WEFT_OK, code);
}

static void forks(void)
{
    int status = 0;
    once("a = a + 1");
    const pid_t child = fork();
    if (child == 0) {
        once("a = a + 2");
        exit(0);
    }
    check(waitpid(child, &status, 0) == child && status == 0, "the child");
    printf("%ld\n", (long)child);
    if (fork() == 0)
        _exit(0);
    check(wait(&status) > 0, "the second child");
    once("a = a + 3");
}

/* Ends the process in a thread, with work that is queued and threads that compute. */
static void *leave(void *argument)
{
    weft_stream *stream = weft_stream_new(WEFT_CPU, .async = true);
    check(weft_stream_set_current(WEFT_CPU, stream) == WEFT_OK, "a stream");
    for (int k = 0; k < CALLS; k++)
        once("a = a - 1");
    exit(3);
    return argument;
}

int main(int count, char **arguments)
{
    const char *mode = count > 1 ? arguments[1] : "";
    const weft_device device = weft_device_named(count > 2 ? arguments[2] : "cpu");
    pthread_t other, another;
    int number = 7;
    check(device.kind != WEFT_DEVICE_NONE, "the device");
    if (!strcmp(mode, "compute"))
        compute(device);
    else if (!strcmp(mode, "streams"))
        streams(device);
    else if (!strcmp(mode, "graph"))
        graph(device);
    else if (!strcmp(mode, "threads"))
        threads();
    else if (!strcmp(mode, "forks"))
        forks();
    else if (!strcmp(mode, "leave")) {
        check(pthread_create(&another, NULL, work, &number) == 0, "a thread");
        pthread_detach(another);
        check(pthread_create(&other, NULL, leave, NULL) == 0, "a thread");
        pthread_join(other, NULL);
    } else if (!strcmp(mode, "text"))
        once(arguments[3]);
    else if (!strcmp(mode, "remove")) {
        once("a = a + 1");
        check(rmdir(arguments[3]) == 0, "removing a folder");
    } else if (strcmp(mode, "nothing") != 0)
        return 2;
    return 0;
}
