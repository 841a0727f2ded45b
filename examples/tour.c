/* A tour of Weft: devices, views, conversions, expressions, streams, memory. Run it with ./dev run.
 */
#include <stdio.h>
#include <weft/weft.h>

/* Prints what went wrong and ends the tour; every call of the library can be checked this way. */
static int check(weft_status status, const char *what)
{
    if (status != WEFT_OK)
        fprintf(stderr, "%s: %s\n", what, weft_error_message());
    return status == WEFT_OK;
}

static int show(const char *title, weft_array *array)
{
    printf("\n%s\n", title);
    return check(weft_print(array), title);
}

static int show_devices(void)
{
    printf("Weft %s. Devices:\n", weft_version());
    for (int k = 0; k < weft_device_count(); k++) {
        weft_device_info info;
        weft_device device = weft_device_at(k);
        if (!check(weft_device_describe(device, &info), "devices"))
            return 0;
        printf("  %-8s %s, %d compute units, %.1f of %.1f GiB free, %s\n", weft_device_id(device),
               info.name, info.compute_units, (double)info.memory_free / (1 << 30),
               (double)info.memory_total / (1 << 30), info.compiler);
    }
    return 1;
}

static int show_views(void)
{
    WEFT_AUTO weft_array *a = weft_arange(0, 24, 1, .dtype = WEFT_I32);
    WEFT_AUTO weft_array *m = weft_reshape(a, WEFT_SHAPE(4, 6));
    WEFT_AUTO weft_array *every_other = weft_slice(m, WEFT_REVERSED, WEFT_STEP(1, WEFT_END, 2));
    WEFT_AUTO weft_array *corner = weft_slice(m, WEFT_RANGE(0, 2), WEFT_RANGE(0, 2));
    if (!show("A slice with any step, rows reversed (no copy):", every_other))
        return 0;
    if (!check(weft_fill(corner, -1), "fill"))
        return 0;
    return show("Filling the corner through a view:", m);
}

static int show_conversions(void)
{
    WEFT_AUTO weft_array *x = weft_linspace(-1.5, 1.5, 7, .dtype = WEFT_F64);
    WEFT_AUTO weft_array *half = weft_cast(x, WEFT_F16);
    WEFT_AUTO weft_array *integer = weft_cast(half, WEFT_I8);
    WEFT_AUTO weft_array *complex_ = weft_cast(integer, WEFT_C64);
    WEFT_AUTO weft_array *refused = weft_zeros_like(integer);
    if (!show("f64 to f16 to i8 to c64:", complex_))
        return 0;
    if (weft_assign(refused, x) != WEFT_OK) /* on purpose: f64 is no i8 without a cast */
        printf("\nAn error says what to do:\n%s\n", weft_error_message());
    return 1;
}

/* Plain C over whole arrays: each is one kernel, on whatever device the arrays are. */
static int show_expressions(void)
{
    WEFT_AUTO weft_array *line = weft_linspace(0, 1, 12);
    WEFT_AUTO weft_array *a = weft_reshape(line, WEFT_SHAPE(3, 4));
    WEFT_AUTO weft_array *b = weft_full_like(a, 2), *c = weft_zeros_like(a);
    if (!check(weft(c += 1.0f / (1 + a) + 2.0f * a * b, a, b, c), "expression"))
        return 0;
    WEFT_AUTO weft_array *largest = weft_new(max(c, axis = 1), c);
    WEFT_AUTO weft_array *slopes = weft_new(shift(a, 0, 1) - a, a);
    return show("An expression, and the largest of each row:", largest) &&
           show("Differences to the right neighbour:", slopes);
}

/* Two streams, one array: the second comes after the first without a word from us. */
static int show_streams(void)
{
    weft_stream *first = weft_stream_new(WEFT_CPU, .async = true);
    weft_stream *second = weft_stream_new(WEFT_CPU, .async = true);
    WEFT_AUTO weft_array *a = weft_zeros(WEFT_SHAPE(1000, 1000));
    WEFT_AUTO weft_array *b = weft_empty_like(a);
    float last = 0;
    weft_stream_set_current(WEFT_CPU, first);
    weft_fill(a, 42);
    weft_stream_set_current(WEFT_CPU, second);
    weft_assign(b, a);
    weft_stream_set_current(WEFT_CPU, NULL);
    WEFT_AUTO weft_array *corner = weft_slice(b, WEFT_AT(-1), WEFT_AT(-1));
    int fine = check(weft_item(corner, &last), "streams");
    printf("\nTwo asynchronous streams, ordered by the array they share: %g\n", (double)last);
    weft_stream_release(first);
    weft_stream_release(second);
    return fine;
}

static int show_memory(void)
{
    weft_statistics s;
    if (!check(weft_memory_stats(WEFT_CPU, &s), "statistics"))
        return 0;
    printf(
        "\n%llu kernels run, %llu compiled; %llu allocations, %llu of them reused; peak %.1f MB\n",
        (unsigned long long)s.launches, (unsigned long long)s.compilations,
        (unsigned long long)s.allocations, (unsigned long long)s.reuses,
        (double)s.bytes_peak / 1e6);
    return 1;
}

int main(void)
{
    return show_devices() && show_views() && show_conversions() && show_expressions() &&
                   show_streams() && show_memory()
               ? 0
               : 1;
}
