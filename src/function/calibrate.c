/* Measuring what computing and copying costs on a device: the best of a few runs of each. */
#include "core/device.h"
#include "function/cost.h"
#include "function/cost_file.h"
#include "ops/copy.h"
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { LARGE = 4 << 20, MEDIUM = 1 << 20, TERMS = 64, REPEATS = 7, LAUNCHES = 16 };

typedef struct bench {
    weft_device device;
    weft_stream *stream;
    weft_array *large[2], *medium[2], *tiny[2]; /* on the device */
    weft_array *host, *tiny_host;
    char polynomial[TERMS * 16];
} bench;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static weft_status run(const char *code, weft_array *const *arrays)
{
    static const char *const names[] = {"x", "y"};
    const weft_operand operands[] = {WEFT_OPERAND(arrays[0]), WEFT_OPERAND(arrays[1])};
    weft_array *value = NULL;
    return weft__evaluate_text(code, 2, names, operands, false, &value);
}

static weft_status run_launches(const bench *b) { return run("y = x + 1", b->tiny); }
static weft_status run_memory(const bench *b) { return run("y = x + 1", b->large); }
static weft_status run_operations(const bench *b) { return run(b->polynomial, b->medium); }
static weft_status run_copy(const bench *b)
{
    return weft__copy_counted(b->tiny[0], b->tiny_host, b->stream);
}
static weft_status run_to_device(const bench *b)
{
    return weft__copy_counted(b->large[0], b->host, b->stream);
}
static weft_status run_to_host(const bench *b)
{
    return weft__copy_counted(b->host, b->large[0], b->stream);
}

/* The least time of a run that is waited for, of a few in a row. */
static weft_status measure(const bench *b, weft_status (*once)(const bench *), int row,
                           double *seconds)
{
    *seconds = 1e30;
    for (int i = 0; i < REPEATS; i++) {
        double begin = now();
        for (int k = 0; k < row; k++) {
            TRY(once(b));
            TRY(weft_device_synchronize(b->device));
        }
        double time = (now() - begin) / row;
        if (i && time < *seconds) /* the first one compiles */
            *seconds = time;
    }
    return WEFT_OK;
}

static weft_status make(weft_device device, int64_t count, weft_array **made)
{
    const weft_shape shape = {.ndim = 1, .size = {count}};
    const weft_options options = {.struct_size = sizeof options, .device = device};
    const weft_operand one = {.tag = WEFT_OPERAND_NUMBER, .dtype = WEFT_F64, .value.f = 1};
    *made = weft__array_new(&shape, WEFT_F32, &options, NULL, NULL);
    if (!*made)
        return weft_error_code();
    weft_stream *stream = weft__stream_current(device);
    return stream ? weft__fill_run(*made, &one, stream) : weft_error_code();
}

static weft_status open_bench(bench *b)
{
    for (int k = 0; k < 2; k++) {
        TRY(make(b->device, LARGE, &b->large[k]));
        TRY(make(b->device, MEDIUM, &b->medium[k]));
        TRY(make(b->device, 1, &b->tiny[k]));
    }
    TRY(make(WEFT_CPU, LARGE, &b->host));
    TRY(make(WEFT_CPU, 1, &b->tiny_host));
    strcpy(b->polynomial, "y = x");
    for (int k = 0; k < TERMS; k++)
        strcat(b->polynomial, "*x + x");
    b->stream = weft__stream_current(b->device);
    return b->stream ? WEFT_OK : weft_error_code();
}

static void close_bench(bench *b)
{
    for (int k = 0; k < 2; k++) {
        weft_array_release(b->large[k]);
        weft_array_release(b->medium[k]);
        weft_array_release(b->tiny[k]);
    }
    weft_array_release(b->host);
    weft_array_release(b->tiny_host);
}

/* A rate, without the time before the work begins. */
static double rate(double amount, double seconds, double before)
{
    const double rest = seconds - before;
    return amount / (rest > seconds / 10 ? rest : seconds / 10);
}

static weft_status measure_all(const bench *b, weft_costs *c)
{
    const double bytes = LARGE * sizeof(float);
    double memory, operations, in, out;
    TRY(measure(b, run_launches, LAUNCHES, &c->launch));
    TRY(measure(b, run_copy, LAUNCHES, &c->copy));
    TRY(measure(b, run_memory, 1, &memory));
    TRY(measure(b, run_operations, 1, &operations));
    TRY(measure(b, run_to_device, 1, &in));
    TRY(measure(b, run_to_host, 1, &out));
    c->memory = rate(2 * bytes, memory, c->launch);
    c->operations = rate(2.0 * TERMS * MEDIUM, operations, c->launch);
    c->to_device = rate(bytes, in, c->copy);
    c->to_host = rate(bytes, out, c->copy);
    c->measured = true;
    return WEFT_OK;
}

weft_status weft_device_calibrate(weft_device device)
{
    bench b = {.device = device};
    weft_costs costs;
    OPERATION("weft_device_calibrate");
    if (!weft__device_get(device))
        return WEFT_ERROR_DEVICE;
    weft_status status = open_bench(&b);
    if (status == WEFT_OK)
        status = measure_all(&b, &costs);
    close_bench(&b);
    TRY(status);
    if (!weft__costs_set(device, &costs))
        return FAIL(WEFT_ERROR_UNSUPPORTED, "this process has measured devices too often");
    weft__cost_file_write(device, &costs);
    return WEFT_OK;
}
