/* Random kernels as text for a device with a compiler of its own, against the interpreter. */
#include "codegen/c_like.h"
#include "codegen/random_kernels.h"
#include "core/device.h"
#include "kernel/run.h"

#include <weft/weft.h>

/* The device under test, or the first OpenCL device; invalid if there is none. */
static weft_device text_device(void)
{
    weft_device device = weft_device_named(test_device());
    return device.kind > WEFT_DEVICE_CPU ? device : weft_device_named("opencl:0");
}

#define NEEDS_DEVICE                                                                               \
    do {                                                                                           \
        if (text_device().kind == WEFT_DEVICE_INVALID)                                             \
            SKIP(weft_error_message());                                                            \
    } while (0)

/* The memory of an operand on the device, as bytes. */
static weft_array *bytes_there(const struct trial *trial, uint32_t k)
{
    const int64_t bytes = trial->layout[k].bytes;
    return weft_from_host(trial->before[k], (size_t)bytes, WEFT_SHAPE(bytes), .dtype = WEFT_U8,
                          .device = text_device());
}

static weft_array over(const struct trial *trial, uint32_t k, const weft_array *bytes)
{
    weft_array array = {.dtype = trial->tiny.operands[k].dtype,
                        .shape = {trial->space.ndim, {0}},
                        .data = bytes->data + trial->layout[k].first,
                        .buffer = bytes->buffer};
    memcpy(array.shape.size, trial->space.size, sizeof array.shape.size);
    memcpy(array.stride, trial->layout[k].stride, sizeof array.stride);
    return array;
}

/* Runs the kernel there, and brings all bytes back. */
static weft_status run_there(struct trial *trial, weft_array **bytes)
{
    const uint32_t count = trial->tiny.kernel.operands_count;
    weft_array arrays[TINY_OPERANDS], *operands[TINY_OPERANDS];
    weft_shape space = {trial->space.ndim, {0}};
    weft_stream *stream = weft_stream_current(text_device());
    memcpy(space.size, trial->space.size, sizeof space.size);
    for (uint32_t k = 0; k < count; k++) {
        if (!(bytes[k] = bytes_there(trial, k)))
            return weft_error_code();
        arrays[k] = over(trial, k, bytes[k]);
        operands[k] = &arrays[k];
    }
    TRY(weft__kernel_run_apart(&trial->tiny.kernel, stream, &space, operands, trial->scalars));
    for (uint32_t k = 0; k < count; k++)
        TRY(weft_copy_to_host(bytes[k], trial->after[1][k], (size_t)trial->layout[k].bytes));
    return WEFT_OK;
}

static bool run_both(struct trial *trial)
{
    struct tiny_launch at;
    weft_array *bytes[TINY_OPERANDS] = {0};
    trial->tiny.kernel.ndim = trial->space.ndim;
    trial_launch(trial, 0, &at);
    CHECK_OR(tiny_run(&trial->tiny, &at) == WEFT_OK, false);
    const weft_status status = run_there(trial, bytes);
    for (int k = 0; k < TINY_OPERANDS; k++)
        weft_array_release(bytes[k]);
    if (status != WEFT_OK) {
        trial_print(trial);
        fprintf(stderr, "%s\n", weft_error_message());
    }
    CHECK_OR(status == WEFT_OK, false);
    return trial_same(trial);
}

/* Whether the value is the same for all elements. */
static bool is_uniform(const weft__kernel *kernel, int32_t at)
{
    const weft__value *value = &kernel->values[at];
    if (value->op == WEFT__OP_load || value->op == WEFT__OP_index)
        return false;
    for (int k = 0; k < weft__value_arguments(kernel, value); k++)
        if (!is_uniform(kernel, value->argument[k]))
            return false;
    return true;
}

/* PoCL 3.1 loses such values on their way through the vectors of small integers that GPUs store. */
static bool is_lost(const struct trial *trial)
{
    const weft__kernel *kernel = &trial->tiny.kernel;
    for (uint32_t k = 0; weft__c_like_is_as_gpu() && k < kernel->values_count; k++) {
        const weft__value *value = &kernel->values[k];
        if (value->op == WEFT__OP_store && is_uniform(kernel, value->argument[0]) &&
            weft_dtype_size((weft_dtype)kernel->operands[value->slot].dtype) < 4)
            return true;
    }
    return false;
}

TEST(random_kernels)
{
    NEEDS_DEVICE;
    static struct trial trial;
    const char *text = getenv("WEFT_TEST_KERNELS");
    const int kernels = text != NULL ? atoi(text) : test_quick() ? 10 : 60;
    for (int k = 0; k < kernels; k++) {
        weft__c_like_share(k % 3 == 0 ? -1 : 0);
        const bool passed = random_trial_make(&trial, k % 4 == 0 ? 60 : k % 4 * 4) &&
                            (is_lost(&trial) || run_both(&trial));
        trial_drop(&trial);
        weft__c_like_share(-1);
        CHECK(passed);
    }
}

/* A displaced load for each boundary rule, near and far. */
static void displaced_kernel(struct trial *trial, const struct space *space, weft_dtype dtype)
{
    static const int64_t far[] = {0, 1, -1, 3, -100, INT64_MAX, INT64_MIN, 1000000007};
    struct tiny *tiny = &trial->tiny;
    memset(trial, 0, sizeof *trial);
    trial->space = *space;
    tiny_begin(tiny);
    const uint16_t in = tiny_operand(tiny, dtype, false);
    const int constant = tiny_constant(tiny, tiny_loaded(dtype), 1);
    for (int boundary = 0; boundary < 4; boundary++) {
        weft__kernel_shift shift = {.boundary = boundary};
        for (int k = 0; k < space->ndim; k++)
            shift.offset[k] = far[random_below(8)];
        tiny_store(tiny, dtype, tiny_load_shifted(tiny, in, 0, &shift, constant));
    }
    for (uint32_t k = 0; k < tiny->kernel.operands_count; k++)
        trial->layout[k] =
            layout_make(space, (int64_t)weft_dtype_size(dtype),
                        (enum layout_kind)random_below(k == 0 ? LAYOUT_KINDS : LAYOUT_BROADCAST));
}

TEST(displaced_loads)
{
    NEEDS_DEVICE;
    static struct trial trial;
    static const weft_dtype dtypes[] = {WEFT_F32, WEFT_U8, WEFT_F64, WEFT_F16};
    static const int64_t sizes[][3] = {{1000, 0, 0}, {7, 33, 0}, {5, 4, 19}};
    for (int k = 0; k < 12; k++) {
        const struct space space = space_make(1 + k % 3, sizes[k % 3]);
        displaced_kernel(&trial, &space, dtypes[k / 3]);
        weft__c_like_share(k % 2 ? -1 : 0);
        const bool passed = trial_allocate(&trial) && run_both(&trial);
        weft__c_like_share(-1);
        trial_drop(&trial);
        CHECK(passed);
    }
}

/* Large enough for several blocks, squares and groups: a turned operand beside one in order, and
 * every second element; sizes that end in the middle of everything. */
TEST(large_layouts)
{
    NEEDS_DEVICE;
    static struct trial trial;
    static const int64_t sizes[][3] = {{40007, 0, 0}, {301, 527, 0}, {3, 290, 270}};
    static const weft_dtype dtypes[] = {WEFT_F32, WEFT_F64, WEFT_U8};
    for (int k = 0; k < 9; k++) {
        const struct space space = space_make(1 + k % 3, sizes[k % 3]);
        const int64_t bytes = (int64_t)weft_dtype_size(dtypes[k / 3]);
        memset(&trial, 0, sizeof trial);
        trial.space = space;
        tiny_begin(&trial.tiny);
        const int x = tiny_load(&trial.tiny, dtypes[k / 3]);
        const int y = tiny_load(&trial.tiny, dtypes[k / 3]);
        tiny_store(&trial.tiny, dtypes[k / 3],
                   tiny_value(&trial.tiny, WEFT__OP_add, dtypes[k / 3], x, y, 0));
        for (uint32_t j = 0; j < 3; j++)
            trial.layout[j] =
                layout_make(&space, bytes,
                            j == 0   ? LAYOUT_DENSE
                            : j == 1 ? LAYOUT_TRANSPOSED
                                     : (enum layout_kind)random_below(LAYOUT_BROADCAST));
        const bool passed = trial_allocate(&trial) && run_both(&trial);
        trial_drop(&trial);
        CHECK(passed);
    }
}

/* The same with the texts for GPUs, on whatever device there is. */
#define AS_ON_GPUS(name)                                                                           \
    TEST(name##_as_on_gpus)                                                                        \
    {                                                                                              \
        weft__c_like_as_gpu(true);                                                                 \
        test_##name();                                                                             \
        weft__c_like_as_gpu(false);                                                                \
    }
AS_ON_GPUS(random_kernels)
AS_ON_GPUS(displaced_loads)
AS_ON_GPUS(large_layouts)

#define LONG "compiles very many kernels"
TEST_MAIN(TEST_NO_FAULTS(random_kernels, LONG), TEST_NO_FAULTS(displaced_loads, LONG),
          TEST_NO_FAULTS(large_layouts, LONG), TEST_NO_FAULTS(random_kernels_as_on_gpus, LONG),
          TEST_NO_FAULTS(displaced_loads_as_on_gpus, LONG),
          TEST_NO_FAULTS(large_layouts_as_on_gpus, LONG));
