/* A bar that grows, with the rate, on a terminal. */
#include "command.h"
#include <time.h>
#include <unistd.h>

enum { WIDTH = 30 };

double seconds_now(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void progress_begin(progress *p)
{
    *p = (progress){.shown = isatty(STDERR_FILENO), .began = seconds_now()};
}

static void draw(const progress *p, double part, double bytes)
{
    const double elapsed = seconds_now() - p->began;
    fprintf(stderr, "\r[");
    for (int k = 0; k < WIDTH; k++)
        fputc(k < part * WIDTH ? '#' : ' ', stderr);
    fprintf(stderr, "] %3.0f %%  %.2f GB  %.2f GB/s ", 100 * part, bytes / 1e9,
            elapsed > 0 ? bytes / 1e9 / elapsed : 0);
    (void)fflush(stderr);
}

void progress_show(progress *p, double part, double bytes)
{
    const double now = p->shown ? seconds_now() : 0;
    if (!p->shown || now - p->last < 0.1)
        return;
    p->last = now;
    draw(p, part, bytes);
}

void progress_stop(const progress *p)
{
    if (p->shown && p->last > 0)
        fprintf(stderr, "\n");
}

void progress_end(progress *p, double bytes)
{
    if (!p->shown)
        return;
    draw(p, 1, bytes);
    fprintf(stderr, "\n");
}
