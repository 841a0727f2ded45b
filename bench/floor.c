/* What a CUDA device does without Weft: bare launches and copies, on the context and stream that
 * Weft uses. Prints nothing where there is no such device. */
#include "measure.h"
#include <dlfcn.h>
#include <stdint.h>
#include <weft/weft.h>

enum { BYTES = 1 << 30, LAUNCHES = 500 };

static const char text[] = "extern \"C\" __global__ void add(const float4 *a, const float4 *b, "
                           "float4 *c)\n{\n"
                           "    const int i = blockIdx.x*256 + threadIdx.x;\n"
                           "    const float4 x = a[i], y = b[i];\n"
                           "    c[i] = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);\n"
                           "}\n";

typedef unsigned long long address;
static int (*push_context)(void *);
static int (*load_module)(void **, const void *);
static int (*get_function)(void **, void *, const char *);
static int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                     void *, void **, void **);
static int (*copy)(address, address, size_t, void *);
static int (*create)(void **, const char *, const char *, int, const char *const *,
                     const char *const *);
static int (*compile)(void *, int, const char *const *);
static int (*code_size)(void *, size_t *);
static int (*get_code)(void *, char *);

static void *stream, *function;
static address a, b, c;

static void fail(const char *what)
{
    fprintf(stderr, "floor: %s\n", what);
    exit(1);
}

static void find(void *library, const char *symbol, void *to)
{
    void *found = library ? dlsym(library, symbol) : NULL;
    if (!found)
        fail(symbol);
    memcpy(to, &found, sizeof found);
}

static void open_driver(void)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    find(driver, "cuCtxPushCurrent_v2", &push_context);
    find(driver, "cuModuleLoadData", &load_module);
    find(driver, "cuModuleGetFunction", &get_function);
    find(driver, "cuLaunchKernel", &launch);
    find(driver, "cuMemcpyDtoDAsync_v2", &copy);
}

static void *open_compiler(void)
{
    static const char *const names[] = {"libnvrtc.so.13", "libnvrtc.so.12",
                                        "/usr/local/cuda/lib64/libnvrtc.so.13",
                                        "/usr/local/cuda/lib64/libnvrtc.so.12"};
    const char *given = getenv("WEFT_NVRTC");
    void *library = given ? dlopen(given, RTLD_NOW) : NULL;
    for (int k = 0; k < 4 && !library; k++)
        library = dlopen(names[k], RTLD_NOW);
    return library;
}

static void make_kernel(void)
{
    static const char *const options[] = {"--gpu-architecture=compute_80"};
    void *library = open_compiler(), *program = NULL, *module = NULL;
    size_t bytes = 0;
    find(library, "nvrtcCreateProgram", &create);
    find(library, "nvrtcCompileProgram", &compile);
    find(library, "nvrtcGetPTXSize", &code_size);
    find(library, "nvrtcGetPTX", &get_code);
    if (create(&program, text, "add.cu", 0, NULL, NULL) || compile(program, 1, options) ||
        code_size(program, &bytes))
        fail("the kernel does not compile");
    char *code = malloc(bytes);
    if (!code || get_code(program, code) || load_module(&module, code) ||
        get_function(&function, module, "add"))
        fail("the kernel does not load");
    free(code);
}

static void launch_add(void *argument)
{
    void *parameters[] = {&a, &b, &c};
    if (launch(function, *(const unsigned *)argument, 1, 1, 256, 1, 1, 0, stream, parameters, NULL))
        fail("a launch failed");
}

static void copy_all(void *argument)
{
    (void)argument;
    if (copy(c, a, BYTES, stream))
        fail("a copy failed");
}

static weft_device device;
static void wait_there(void)
{
    static int (*synchronize)(void *);
    if (!synchronize)
        find(dlopen("libcuda.so.1", RTLD_NOW), "cuStreamSynchronize", &synchronize);
    if (synchronize(stream))
        fail("the device did not finish");
}

static address address_of(weft_array *array) { return (address)(uintptr_t)weft_array_data(array); }

static const unsigned one = 1, many = BYTES / 16 / 256; /* groups */
static const bench_row rows[] = {
    {.work = "call on 1024 elements, 1-d: c = a + b",
     .who = "bare launch",
     .elements = SMALL,
     .repeat = LAUNCHES,
     .body = launch_add,
     .argument = (void *)&one,
     .queued = true},
    {.work = "c = a + b",
     .who = "hand",
     .elements = BYTES / 4,
     .bytes = 3.0 * BYTES,
     .repeat = 20,
     .body = launch_add,
     .argument = (void *)&many},
    {.work = "device copy",
     .who = "driver",
     .elements = BYTES / 4,
     .bytes = 2.0 * BYTES,
     .repeat = 20,
     .body = copy_all},
};

int main(int argc, char **argv)
{
    void *context = NULL;
    device = weft_device_named("cuda:0");
    if (device.kind == WEFT_DEVICE_INVALID)
        return 0;
    weft_array *arrays[3];
    for (int k = 0; k < 3; k++)
        if (!(arrays[k] = weft_zeros(WEFT_SHAPE(BYTES / 4), .device = device)) ||
            weft_eval(arrays[k]) != WEFT_OK)
            fail(weft_error_message());
    a = address_of(arrays[0]), b = address_of(arrays[1]), c = address_of(arrays[2]);
    bench_device = "cuda:0";
    bench_wait = wait_there;
    open_driver();
    if (weft_device_native(device, &context) != WEFT_OK ||
        weft_stream_native(weft_stream_current(device), &stream) != WEFT_OK ||
        push_context(context))
        fail("no context");
    make_kernel();
    int status = run_rows(argc, argv, rows, sizeof rows / sizeof *rows);
    for (int k = 0; k < 3; k++)
        weft_array_release(arrays[k]);
    return status;
}
