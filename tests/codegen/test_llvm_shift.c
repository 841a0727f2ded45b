/* Displaced loads in the compiling engine: random kernels against the interpreter, and stencils
 * against plain loops. */
#include "codegen/test_llvm.h"

/* Small sizes, some of which are shorter than what loads are displaced by. */
static struct space random_space(void)
{
    static const int64_t sizes[] = {1, 2, 3, 5, 7, 16, 17, 31, 33, 64, 80, 129, 200, 700};
    struct space space = {.ndim = 1 + (int)random_below(4), .count = 1};
    if (random_below(6) == 0)
        space.ndim = WEFT_NDIM_MAX - (int)random_below(3);
    for (int k = 0; k < space.ndim; k++) {
        const int64_t size = sizes[random_below(14)];
        space.size[k] = space.count * size > 20000 ? 1 + random_below(3) : size;
        space.count *= space.size[k];
    }
    if (random_below(40) == 0)
        space.size[random_below(space.ndim)] = space.count = 0;
    return space;
}

/* Mostly by little and along few axes; sometimes by far more than there is. */
static weft__kernel_shift random_shift(const struct space *space)
{
    weft__kernel_shift shift = {.boundary = random_below(4)};
    for (int k = 0; k < space->ndim; k++) {
        const int64_t size = space->size[k], kind = random_below(12);
        if (kind < 5)
            shift.offset[k] = random_below(5) - 2;
        else if (kind == 5)
            shift.offset[k] = random_below(2 * size + 3) - size - 1;
        else if (kind == 6 && random_below(4) == 0)
            shift.offset[k] = random_below(2) ? INT64_MAX : INT64_MIN;
    }
    return shift;
}

static const weft_dtype types[] = {WEFT_BOOL, WEFT_U8,   WEFT_I16, WEFT_F16, WEFT_F32,
                                   WEFT_F32,  WEFT_F32,  WEFT_I32, WEFT_F64, WEFT_C64,
                                   WEFT_BF16, WEFT_C128, WEFT_I64};

/* A sum of loads of up to three operands, most of them displaced, and a copy of one of them. */
static void random_kernel(struct tiny *tiny, const struct space *space)
{
    const weft_dtype dtype = types[random_below(13)], value = tiny_loaded(dtype);
    const bool complex = dtype == WEFT_C64 || dtype == WEFT_C128;
    tiny_begin(tiny);
    tiny->kernel.ndim = space->ndim;
    const uint16_t inputs = (uint16_t)(1 + random_below(3));
    for (uint16_t k = 0; k < inputs; k++)
        (void)tiny_operand(tiny, dtype, false);
    const int constant = tiny_constant(tiny, value, random_of(value));
    const weft__op op = value == WEFT_BOOL ? WEFT__OP_xor : WEFT__OP_add;
    int sum = tiny_load_from(tiny, 0, 0);
    for (int64_t k = 1 + random_below(7); k > 0; k--) {
        const weft__kernel_shift shift = random_shift(space);
        const int x = tiny_load_shifted(tiny, (uint16_t)random_below(inputs),
                                        (uint8_t)(complex && random_below(2)), &shift,
                                        random_below(3) ? constant : sum);
        sum = tiny_value(tiny, op, value, sum, x, 0);
        if (random_below(8) == 0)
            tiny_store(tiny, dtype, x);
    }
    const uint16_t out = tiny_operand(tiny, dtype, true);
    tiny_store_to(tiny, out, 0, sum);
    if (complex && random_below(2))
        tiny_store_to(tiny, out, 1, sum);
}

static bool random_trial(void)
{
    static struct trial trial;
    memset(&trial, 0, sizeof trial);
    trial.space = random_space();
    do
        random_kernel(&trial.tiny, &trial.space);
    while (trial.tiny.kernel.operands_count > TINY_OPERANDS);
    const bool plain = random_below(2) == 0;
    for (uint32_t k = 0; k < trial.tiny.kernel.operands_count; k++) {
        const int64_t kinds = trial.tiny.operands[k].output ? LAYOUT_BROADCAST : LAYOUT_KINDS;
        const int64_t element = (int64_t)weft_dtype_size(trial.tiny.operands[k].dtype);
        trial.layout[k] = layout_make(&trial.space, element,
                                      plain ? LAYOUT_DENSE : (enum layout_kind)random_below(kinds));
    }
    const int64_t grains[] = {0, 0, 1, 17, 400};
    const bool passed = trial_allocate(&trial) && trial_run(&trial, grains[random_below(5)]);
    trial_drop(&trial);
    return passed;
}

TEST(random_shifts)
{
    NEEDS_LLVM;
    const char *text = getenv("WEFT_TEST_KERNELS");
    const int kernels = text != NULL ? atoi(text) : test_quick() ? 40 : 150;
    FOR_EACH_ISA
    for (int k = 0; k < kernels; k++)
        CHECK(random_trial());
}

/* What a displaced load gives, by the letter: -1 stands for the constant. */
static int64_t source_of(const struct space *space, int64_t number, const weft__kernel_shift *shift)
{
    int64_t result = 0, scale = 1, left = number;
    for (int k = space->ndim - 1; k >= 0; k--) {
        const int64_t size = space->size[k];
        int64_t at = left % size + shift->offset[k];
        left /= size;
        if (shift->boundary == WEFT__BOUNDARY_WRAP)
            at = (at % size + size) % size;
        else if (shift->boundary == WEFT__BOUNDARY_CLAMP)
            at = at < 0 ? 0 : at >= size ? size - 1 : at;
        else if (at < 0 || at >= size)
            return shift->boundary == WEFT__BOUNDARY_CONSTANT ? -1 : number;
        result += at * scale;
        scale *= size;
    }
    return result;
}

/* out = 3*a - shift(a, …) - …, for all neighbours. */
static bool check_stencil(const struct space *space, int64_t boundary, int64_t reach)
{
    const size_t bytes = (size_t)space->count * 4;
    MEMORY in = memory_make((int64_t)bytes);
    MEMORY out = memory_make((int64_t)bytes);
    MEMORY expected = memory_make((int64_t)bytes);
    CHECK_OR(in && out && expected, false);
    struct tiny tiny;
    struct tiny_launch at;
    weft__image image = {0};
    const int32_t *a = (const int32_t *)(const void *)in;
    int32_t *right = (int32_t *)(void *)expected;
    tiny_begin(&tiny);
    tiny.kernel.ndim = space->ndim;
    const uint16_t slot = tiny_operand(&tiny, WEFT_I32, false);
    const int constant = tiny_constant(&tiny, WEFT_I32, 12345);
    int sum = tiny_load_from(&tiny, slot, 0);
    for (int64_t k = 0; k < space->count; k++)
        right[k] = a[k];
    for (int axis = 0; axis < space->ndim; axis++)
        for (int64_t by = reach; by >= -reach; by -= 2 * reach) {
            weft__kernel_shift shift = {.boundary = boundary};
            shift.offset[axis] = by;
            const int x = tiny_load_shifted(&tiny, slot, 0, &shift, constant);
            sum = tiny_value(&tiny, WEFT__OP_sub, WEFT_I32, sum, x, 0);
            for (int64_t k = 0; k < space->count; k++) {
                const int64_t from = source_of(space, k, &shift);
                right[k] = (int32_t)((uint32_t)right[k] - (uint32_t)(from < 0 ? 12345 : a[from]));
            }
        }
    tiny_store(&tiny, WEFT_I32, sum);
    int64_t stride[WEFT_NDIM_MAX] = {0}, step = 4;
    for (int k = space->ndim - 1; k >= 0; k--) {
        stride[k] = step;
        step *= space->size[k];
    }
    launch_begin(&at, &tiny, space->ndim, space->size);
    launch_argument(&at, 0, in, stride);
    launch_argument(&at, 1, out, stride);
    CHECK_OR(native_compile(&tiny, &at, WEFT__EFFORT_FULL, &image) == WEFT_OK, false);
    run_pieces(&image, &at.launch, weft__llvm_grain(&tiny.kernel, &at.launch));
    image_release(&image);
    CHECK_OR(memcmp(out, expected, bytes) == 0, false);
    return true;
}

TEST(stencils)
{
    NEEDS_LLVM;
    static const int64_t sizes[][4] = {{1000}, {37, 53}, {40, 33, 129}, {3, 70, 9, 100}};
    static const int64_t reaches[] = {1, 2, 70, 1001};
    FOR_EACH_ISA
    for (int ndim = 1; ndim <= 4; ndim++)
        for (int64_t boundary = 0; boundary < 4; boundary++)
            for (int k = 0; k < (test_quick() ? 1 : 4); k++) {
                const struct space space = space_make(ndim, sizes[ndim - 1]);
                CHECK(check_stencil(&space, boundary, reaches[k]));
            }
}

/* Larger than the bound from which on results go past the caches, in blocks of rows. */
TEST(streamed_stencils)
{
    NEEDS_LLVM;
    static const int64_t sizes[][3] = {{37, 480, 512}, {34, 511, 517}};
    for (int k = 0; k < 2; k++) {
        const struct space space = space_make(3, sizes[k]);
        CHECK(check_stencil(&space, k == 0 ? WEFT__BOUNDARY_UNSHIFTED : WEFT__BOUNDARY_WRAP, 1));
    }
}

/* What is known before compiling: dimensions tell launches apart, and the engine takes shifts. */
TEST(classes)
{
    struct tiny tiny;
    struct tiny_launch at;
    uint8_t first[16], second[16];
    float data[64];
    weft__kernel_shift shift = {.offset = {1}};
    tiny_begin(&tiny);
    const uint16_t slot = tiny_operand(&tiny, WEFT_F32, false);
    tiny_store(&tiny, WEFT_F32, tiny_load_shifted(&tiny, slot, 0, &shift, 0));
    launch_begin(&at, &tiny, 1, (int64_t[]){64});
    for (int k = 0; k < 2; k++)
        launch_argument(&at, k, data, (int64_t[]){4});
    const uint32_t count = weft__llvm_class(&tiny.kernel, &at.launch, first, sizeof first);
    CHECK(weft__llvm_wants(&tiny.kernel, &at.launch));
    launch_begin(&at, &tiny, 2, (int64_t[]){1, 64});
    for (int k = 0; k < 2; k++)
        launch_argument(&at, k, data, (int64_t[]){256, 4});
    CHECK_INT(weft__llvm_class(&tiny.kernel, &at.launch, second, sizeof second), count);
    CHECK(memcmp(first, second, count) != 0);
}

/* A load that is displaced in a way that there is not, and a constant of another type. */
TEST(wrong_kernels)
{
    NEEDS_LLVM;
    struct tiny tiny;
    struct tiny_launch at;
    weft__object object = {0};
    const weft__kernel_shift shift = {.offset = {1}, .boundary = WEFT__BOUNDARY_CONSTANT};
    for (int k = 0; k < 2; k++) {
        tiny_begin(&tiny);
        const uint16_t slot = tiny_operand(&tiny, WEFT_F32, false);
        const int constant = tiny_constant(&tiny, k == 0 ? WEFT_F32 : WEFT_F64, 0);
        const int x = tiny_load_shifted(&tiny, slot, 0, &shift, constant);
        tiny.values[x].shift = (uint16_t)(k == 0 ? 2 : 1);
        tiny_store(&tiny, WEFT_F32, x);
        launch_begin(&at, &tiny, 1, (int64_t[]){64});
        CHECK_STATUS(compile_full(&tiny, &at, &object), WEFT_ERROR_COMPILE);
    }
}

TEST(failed_allocations)
{
    NEEDS_LLVM;
    const struct space space = space_make(2, (int64_t[]){5, 40});
    CHECK(check_stencil(&space, WEFT__BOUNDARY_CLAMP, 1));
}

#define LONG "compiles very many kernels; failed_allocations covers it"
TEST_MAIN(TEST_NO_FAULTS(random_shifts, LONG), TEST_NO_FAULTS(stencils, LONG),
          TEST_NO_FAULTS(streamed_stencils, LONG), TEST_OF(classes), TEST_OF(wrong_kernels),
          TEST_OF(failed_allocations));
