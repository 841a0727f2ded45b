/* Random kernels as CUDA C, compiled by NVRTC where the machine has it: none is refused. How long
 * it takes is told. */
#include "backend/cuda/cuda.h"
#include "codegen/c_like.h"
#include "codegen/random_kernels.h"
#include "core/allocate.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MOST = 2000 };

static double milliseconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return 1e3 * (double)time.tv_sec + 1e-6 * (double)time.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Negative if it is refused. */
static double compile(struct trial *trial)
{
    const weft__cuda_device hopper = {.architecture = 90};
    struct tiny_launch at;
    weft__kernel_text text;
    char *image = NULL;
    size_t bytes = 0;
    trial->tiny.kernel.ndim = trial->space.ndim;
    trial_launch(trial, 0, &at);
    if (weft__c_like_write(&trial->tiny.kernel, &at.launch, WEFT__DIALECT_CUDA, &text) != WEFT_OK)
        return -1;
    const double begin = milliseconds();
    const weft_status status = weft__cuda_compile(&hopper, &text, &image, &bytes);
    const double end = milliseconds();
    if (status != WEFT_OK)
        fprintf(stderr, "%s\n%s\n", weft_error_message(), text.text);
    weft__free(image);
    weft__free(text.text);
    return status == WEFT_OK && bytes > 0 ? end - begin : -1;
}

TEST(random_kernels_compile)
{
    static struct trial trial;
    static double times[MOST];
    const char *given = getenv("WEFT_TEST_KERNELS");
    const int kernels = given ? atoi(given) : test_quick() ? 10 : 60;
    if (weft__nvrtc_open() != WEFT_OK)
        SKIP(weft_error_message());
    for (int k = 0; k < kernels && k < MOST; k++) {
        weft__c_like_share(k % 3 == 0 ? -1 : 0);
        const bool made = random_trial_make(&trial, k % 4 == 0 ? 60 : k % 4 * 4);
        times[k] = made ? compile(&trial) : -1;
        trial_drop(&trial);
        weft__c_like_share(-1);
        CHECK(times[k] >= 0);
    }
    qsort(times, (size_t)kernels, sizeof *times, compare);
    printf("NVRTC %d.%d: %d kernels, median %.1f ms, 95th percentile %.1f ms\n",
           weft__nvrtc_version() / 1000, weft__nvrtc_version() % 1000 / 10, kernels,
           times[kernels / 2], times[kernels * 95 / 100]);
}

TEST_MAIN(TEST_NO_FAULTS(random_kernels_compile, "compiles very many kernels"));
