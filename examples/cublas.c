/* A library of CUDA's on arrays and a stream of Weft's: cuBLAS multiplies two matrices, between
 * expressions that are ordered with it by the stream alone. Opened when the program runs, so that
 * building takes no CUDA; left out where there is no GPU or no cuBLAS. */
#include "example.h"
#include <dlfcn.h>
#include <string.h>

enum { SIZE = 64, NO_TRANSPOSE = 0 };

static int (*create)(void **handle);
static int (*destroy)(void *handle);
static int (*set_stream)(void *handle, void *stream);
static int (*multiply)(void *handle, int transpose_a, int transpose_b, int m, int n, int k,
                       const float *alpha, const float *a, int lda, const float *b, int ldb,
                       const float *beta, float *c, int ldc);

static void find(void *library, const char *symbol, void *function)
{
    void *found = dlsym(library, symbol);
    expect(found, symbol);
    memcpy(function, &found, sizeof found);
}

static bool open_cublas(void)
{
    static const char *const names[] = {"libcublas.so.13", "libcublas.so.12",
                                        "/usr/local/cuda/lib64/libcublas.so.13",
                                        "/usr/local/cuda/lib64/libcublas.so.12"};
    void *library = NULL;
    for (int k = 0; k < 4 && !library; k++)
        library = dlopen(names[k], RTLD_NOW);
    if (!library)
        return false;
    find(library, "cublasCreate_v2", &create);
    find(library, "cublasDestroy_v2", &destroy);
    find(library, "cublasSetStream_v2", &set_stream);
    find(library, "cublasSgemm_v2", &multiply);
    return true;
}

/* c = a b, row by row; cuBLAS counts along columns, so that it is told to make b a. */
static void multiply_rows(void *handle, weft_array *a, weft_array *b, weft_array *c)
{
    const float one = 1, zero = 0;
    expect(multiply(handle, NO_TRANSPOSE, NO_TRANSPOSE, SIZE, SIZE, SIZE, &one, weft_array_data(b),
                    SIZE, weft_array_data(a), SIZE, &zero, weft_array_data(c), SIZE) == 0,
           "cublasSgemm");
}

int main(void)
{
    const weft_device gpu = weft_device_named("cuda:0");
    if (gpu.kind == WEFT_DEVICE_INVALID || !open_cublas()) {
        printf("left out: %s\n",
               gpu.kind == WEFT_DEVICE_INVALID ? "there is no CUDA device" : "there is no cuBLAS");
        return 0;
    }
    void *handle = NULL, *stream = NULL;
    WEFT_AUTO weft_array *a = weft_zeros(WEFT_SHAPE(SIZE, SIZE), .device = gpu);
    WEFT_AUTO weft_array *b = weft_eye(SIZE, SIZE, 0, .device = gpu), *c = weft_zeros_like(a);
    expect(a && b && c, weft_error_message());
    check(weft_stream_native(weft_stream_current(gpu), &stream), "the stream's handle");
    expect(create(&handle) == 0 && set_stream(handle, stream) == 0, "cuBLAS on the stream");
    check(weft(a = 3.0f + a; b = 2.0f * b, a, b), "before"); /* queued, as what follows */
    multiply_rows(handle, a, b, c);
    check(weft(c = c + 1.0f, c), "after");
    float least = 0, largest = 0;
    check(weft_value(&least, min(c), c), "the least");
    check(weft_value(&largest, max(c), c), "the largest");
    destroy(handle);
    printf("cuBLAS between two expressions: %g\n", (double)least);
    expect(least == 7 && largest == 7, "each element is 3*2 + 1");
    return 0;
}
