/* Gray–Scott: two substances that react and spread make patterns. One fused kernel a step, on each
 * device in turn; the picture, and the same bits everywhere.
 *
 *     gray_scott [--size N] [--steps N] [--device NAME] [-o FILE.png] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <weft/weft.h>

typedef struct settings {
    int size, steps;
    const char *device, *picture;
    bool terminal; /* the progress bar is for people */
} settings;

static int fail(const char *what)
{
    fprintf(stderr, "%s: %s\n", what, weft_error_message());
    return 1;
}

static double now(void)
{
    struct timespec time;
    timespec_get(&time, TIME_UTC);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void show_progress(const settings *s, int step, double began)
{
    if (!s->terminal)
        return;
    fprintf(stderr, "\r  [");
    for (int k = 0; k < 30; k++)
        fputc(k * s->steps < 30 * step ? '#' : ' ', stderr);
    fprintf(stderr, "] %d of %d steps, %.0f a second ", step, s->steps, step / (now() - began));
    if (step == s->steps)
        fputc('\n', stderr);
}

/* A few squares of the second substance, in places that depend on nothing but their number. */
static weft_status sow(weft_array *u, weft_array *v, int size)
{
    for (unsigned k = 0; k < 24; k++) {
        const int side = size / 32 + 4;
        const int row = (int)(k * 2654435761u >> 8) % (size - side);
        const int column = (int)(k * 2246822519u >> 8) % (size - side);
        const weft_range place[] = {WEFT_RANGE(row, row + side), WEFT_RANGE(column, column + side)};
        WEFT_AUTO weft_array *spot_u = weft_slice_with(u, 2, place);
        WEFT_AUTO weft_array *spot_v = weft_slice_with(v, 2, place);
        weft_fill(spot_u, 0.5f);
        if (weft_fill(spot_v, 0.25f) != WEFT_OK)
            return weft_error_code();
    }
    return WEFT_OK;
}

static weft_status step(weft_array *u, weft_array *v, weft_array *next_u, weft_array *next_v)
{
    const float spread_u = 0.16f, spread_v = 0.08f, feed = 0.037f, kill = 0.06f;
    return weft(r = u * v * v;
                next_u = u - spread_u * laplacian(u, boundary = wrap) - r + feed * (1 - u);
                next_v = v - spread_v * laplacian(v, boundary = wrap) + r - (feed + kill) * v, u, v,
                next_u, next_v, spread_u, spread_v, feed, kill);
}

/* FNV-1a of all bits. */
static uint64_t checksum(const unsigned char *bytes, size_t count)
{
    uint64_t sum = UINT64_C(14695981039346656037);
    for (size_t k = 0; k < count; k++)
        sum = (sum ^ bytes[k]) * UINT64_C(1099511628211);
    return sum;
}

static int check_sum_of(weft_array *array, uint64_t *sum)
{
    const size_t bytes = weft_array_bytes(array);
    unsigned char *data = malloc(bytes);
    const bool copied = data && weft_copy_to_host(array, data, bytes) == WEFT_OK;
    *sum = copied ? checksum(data, bytes) : 0;
    free(data);
    return copied ? 0 : fail("reading");
}

static int simulate(const settings *s, weft_device device, uint64_t *sum, double *seconds)
{
    const weft_shape shape = WEFT_SHAPE(s->size, s->size);
    WEFT_AUTO weft_array *u = weft_ones(shape, .device = device), *v = weft_zeros_like(u);
    WEFT_AUTO weft_array *next_u = weft_empty_like(u), *next_v = weft_empty_like(u);
    if (!next_u || !next_v || sow(u, v, s->size) != WEFT_OK)
        return fail("setting up");
    const double began = now();
    for (int k = 1; k <= s->steps; k++) {
        if (step(u, v, next_u, next_v) != WEFT_OK)
            return fail("a step");
        weft_array *old_u = u, *old_v = v;
        u = next_u, v = next_v, next_u = old_u, next_v = old_v;
        if (k % 100 == 0 || k == s->steps) { /* calls return at once: what is done is asked for */
            if (weft_eval(v) != WEFT_OK)
                return fail("the simulation");
            show_progress(s, k, began);
        }
    }
    *seconds = now() - began;
    if (s->picture && weft_save_png(s->picture, v, .colours = WEFT_COLOURS_MAGMA) != WEFT_OK)
        return fail("the picture");
    return check_sum_of(v, sum);
}

static int read_settings(settings *s, int count, char **arguments)
{
    for (int k = 1; k < count; k += 2) {
        const char *value = k + 1 < count ? arguments[k + 1] : "";
        if (strcmp(arguments[k], "--size") == 0)
            s->size = atoi(value);
        else if (strcmp(arguments[k], "--steps") == 0)
            s->steps = atoi(value);
        else if (strcmp(arguments[k], "--device") == 0)
            s->device = value;
        else if (strcmp(arguments[k], "-o") == 0)
            s->picture = value;
        else if (strcmp(arguments[k], "--progress") == 0)
            s->terminal = true, k--;
        else
            s->size = 0;
    }
    if (s->size >= 32 && s->size <= 32768 && s->steps >= 1)
        return 0;
    fprintf(stderr, "usage: gray_scott [--size N] [--steps N] [--device NAME] [-o FILE.png] "
                    "[--progress]; N from 32 on\n");
    return 2;
}

int main(int count, char **arguments)
{
    settings s = {.size = 128, .steps = 300, .picture = "gray_scott.png"};
    const int wrong = read_settings(&s, count, arguments);
    if (wrong)
        return wrong;
    uint64_t first = 0;
    printf("Gray-Scott, %d x %d, %d steps:\n", s.size, s.size, s.steps);
    for (int k = 0; k < weft_device_count(); k++) {
        const weft_device device = s.device ? weft_device_named(s.device) : weft_device_at(k);
        uint64_t sum = 0;
        double seconds = 0;
        if (simulate(&s, device, &sum, &seconds) != 0)
            return 1;
        printf("  %-9s %6.2f s, %7.0f steps a second, check sum %016llx\n", weft_device_id(device),
               seconds, s.steps / seconds, (unsigned long long)sum);
        (void)fflush(stdout);
        first = k == 0 ? sum : first;
        if (sum != first)
            return fprintf(stderr, "the check sums differ\n"), 1;
        if (s.device)
            break;
    }
    printf("  the picture: %s\n", s.picture);
    return 0;
}
