/* Loads and stores of every layout, element size and range, in place and across several results. */
#include "codegen/layouts.h"

/* Runs a launch in pieces, last one first; cut where the grain allows, or anywhere. */
static weft_status run_in_pieces(const struct tiny *tiny, struct tiny_launch *at, bool anywhere)
{
    weft__image image = {0};
    const weft_status status = weft__interpreter_compile(&tiny->kernel, &image);
    const int64_t grain = anywhere ? 1 : weft__interpreter_grain(&tiny->kernel, &at->launch);
    int64_t end = at->launch.count;
    while (status == WEFT_OK && end > 0) {
        const int64_t grains = (end + grain - 1) / grain;
        const int64_t begin = random_below(grains < 1 ? 1 : grains) * grain;
        image.entry(image.program, &at->launch, begin, end);
        end = begin;
    }
    image_release(&image);
    return status;
}

/* out = a, with elements of some size and both arrays laid out in some way. */
static bool check_copy(const struct space *space, weft_dtype dtype, enum layout_kind from,
                       enum layout_kind to)
{
    const int64_t element = (int64_t)weft_dtype_size(dtype);
    const struct layout in = layout_make(space, element, from);
    const struct layout out = layout_make(space, element, to);
    MEMORY source = memory_make(in.bytes);
    MEMORY target = memory_make(out.bytes);
    MEMORY expected = memory_make(out.bytes);
    CHECK_OR(source && target && expected, false);
    memcpy(expected, target, (size_t)out.bytes);
    for (int64_t k = 0; k < space->count; k++)
        memcpy(expected + layout_at(&out, space, k), source + layout_at(&in, space, k),
               (size_t)element);
    struct tiny tiny;
    struct tiny_launch at;
    tiny_begin(&tiny);
    tiny_store(&tiny, dtype, tiny_load(&tiny, dtype));
    launch_begin(&at, &tiny, space->ndim, space->size);
    launch_argument(&at, 0, source + in.first, in.stride);
    launch_argument(&at, 1, target + out.first, out.stride);
    CHECK_OR(run_in_pieces(&tiny, &at, random_below(3) == 0) == WEFT_OK, false);
    CHECK_OR(memcmp(target, expected, (size_t)out.bytes) == 0, false);
    return true;
}

static const weft_dtype copied[] = {WEFT_U8, WEFT_BF16, WEFT_F32, WEFT_F64, WEFT_BOOL, WEFT_F16};

TEST(copies_of_one_dimension)
{
    static const int64_t sizes[] = {0, 1, 2, 15, 16, 17, 255, 256, 257, 1000, 4097};
    FOR_EACH_ISA
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
        const struct space space = space_make(1, &sizes[k]);
        for (int kind = 0; kind < LAYOUT_KINDS * LAYOUT_BROADCAST; kind++)
            for (size_t type = 0; type < sizeof copied / sizeof copied[0]; type++)
                CHECK(check_copy(&space, copied[type], (enum layout_kind)(kind % LAYOUT_KINDS),
                                 (enum layout_kind)(kind / LAYOUT_KINDS)));
    }
}

/* Sizes whose product stays small, with some of 0 and 1. */
static struct space random_space(void)
{
    static const int64_t sizes[] = {1, 2, 3, 4, 7, 15, 16, 17, 31, 33, 64, 65, 100, 128, 257, 700};
    struct space space = {.ndim = 1 + (int)random_below(WEFT_NDIM_MAX), .count = 1};
    if (random_below(2))
        space.ndim = 2 + (int)random_below(2);
    for (int k = 0; k < space.ndim; k++) {
        const int64_t size = sizes[random_below(16)];
        space.size[k] = space.count * size > 20000 ? 1 + random_below(2) : size;
        space.count *= space.size[k];
    }
    if (random_below(50) == 0)
        space.size[random_below(space.ndim)] = space.count = 0;
    return space;
}

TEST(copies_of_many_dimensions)
{
    FOR_EACH_ISA
    for (int k = 0; k < 800; k++) {
        const struct space space = random_space();
        CHECK(check_copy(&space, copied[random_below(4)],
                         (enum layout_kind)random_below(LAYOUT_KINDS),
                         (enum layout_kind)random_below(LAYOUT_BROADCAST)));
    }
}

/* out = (a + b) ^ index: operands with layouts of their own, a result of more than one step. */
static bool check_arithmetic(const struct space *space)
{
    const struct layout a = layout_make(space, 8, (enum layout_kind)random_below(LAYOUT_KINDS));
    const struct layout b = layout_make(space, 2, (enum layout_kind)random_below(LAYOUT_KINDS));
    const struct layout out =
        layout_make(space, 8, (enum layout_kind)random_below(LAYOUT_BROADCAST));
    const int axis = (int)random_below(space->ndim);
    MEMORY memory_a = memory_make(a.bytes);
    MEMORY memory_b = memory_make(b.bytes);
    MEMORY target = memory_make(out.bytes);
    MEMORY expected = memory_make(out.bytes);
    CHECK_OR(memory_a && memory_b && target && expected, false);
    memcpy(expected, target, (size_t)out.bytes);
    int64_t inner = 1;
    for (int k = axis + 1; k < space->ndim; k++)
        inner *= space->size[k];
    for (int64_t k = 0; k < space->count; k++) {
        int64_t x, position = k / inner % space->size[axis];
        int16_t y;
        memcpy(&x, memory_a + layout_at(&a, space, k), sizeof x);
        memcpy(&y, memory_b + layout_at(&b, space, k), sizeof y);
        x = (int64_t)((uint64_t)x + (uint64_t)y) ^ position;
        memcpy(expected + layout_at(&out, space, k), &x, sizeof x);
    }
    struct tiny tiny;
    struct tiny_launch at;
    tiny_begin(&tiny);
    const int x = tiny_load(&tiny, WEFT_I64), y = tiny_load(&tiny, WEFT_I16);
    const int wide = tiny_value(&tiny, WEFT__OP_cast, WEFT_I64, y, 0, 0);
    const int sum = tiny_value(&tiny, WEFT__OP_add, WEFT_I64, x, wide, 0);
    const int index = tiny_value(&tiny, WEFT__OP_index, WEFT_I64, 0, 0, 0);
    tiny.values[index].slot = (uint16_t)axis;
    tiny_store(&tiny, WEFT_I64, tiny_value(&tiny, WEFT__OP_xor, WEFT_I64, sum, index, 0));
    launch_begin(&at, &tiny, space->ndim, space->size);
    launch_argument(&at, 0, memory_a + a.first, a.stride);
    launch_argument(&at, 1, memory_b + b.first, b.stride);
    launch_argument(&at, 2, target + out.first, out.stride);
    CHECK_OR(run_in_pieces(&tiny, &at, random_below(3) == 0) == WEFT_OK, false);
    CHECK_OR(memcmp(target, expected, (size_t)out.bytes) == 0, false);
    return true;
}

TEST(arithmetic_of_many_dimensions)
{
    FOR_EACH_ISA
    for (int k = 0; k < 600; k++) {
        const struct space space = random_space();
        CHECK(check_arithmetic(&space));
    }
}

/* A range that begins and ends anywhere touches nothing outside of it, in tiles and short rows too.
 */
TEST(ranges_are_kept)
{
    enum { ROWS = 90, COLUMNS = 40, COUNT = ROWS * COLUMNS };
    static uint32_t source[COUNT], target[COUNT];
    struct tiny tiny;
    struct tiny_launch at;
    tiny_begin(&tiny);
    tiny_store(&tiny, WEFT_U32, tiny_load(&tiny, WEFT_U32));
    launch_begin(&at, &tiny, 2, (int64_t[]){ROWS, COLUMNS});
    launch_argument(&at, 0, source, (int64_t[]){4, 4 * ROWS});
    launch_argument(&at, 1, target, (int64_t[]){4 * COLUMNS, 4});
    for (uint32_t k = 0; k < COUNT; k++)
        source[k] = k;
    for (int trial = 0; trial < 200; trial++) {
        __attribute__((cleanup(image_release))) weft__image image = {0};
        const int64_t begin = random_below(COUNT), end = begin + random_below(COUNT - begin + 1);
        CHECK_STATUS(weft__interpreter_compile(&tiny.kernel, &image), WEFT_OK);
        memset(target, 0xff, sizeof target);
        image.entry(image.program, &at.launch, begin, end);
        for (int64_t k = 0; k < COUNT; k++) {
            const bool inside = k >= begin && k < end;
            CHECK_INT(target[k], inside ? k % COLUMNS * ROWS + k / COLUMNS : 0xffffffff);
        }
    }
}

/* Larger than the bound from which on results go past the caches; alignment and tails included. */
TEST(streamed_results)
{
    const int64_t count = (40 << 20) + 37;
    MEMORY source = memory_make(count);
    MEMORY target = memory_make(count);
    CHECK(source && target);
    void *data[] = {source, target + 3};
    struct tiny tiny;
    tiny_begin(&tiny);
    tiny_store(&tiny, WEFT_U8, tiny_load(&tiny, WEFT_U8));
    FOR_EACH_ISA
    {
        memset(target, 0, (size_t)count);
        CHECK_STATUS(tiny_run_flat(&tiny, count - 3, data, NULL), WEFT_OK);
        CHECK(memcmp(target + 3, source, (size_t)count - 3) == 0 && target[2] == 0);
    }
    tiny_begin(&tiny);
    tiny_store(&tiny, WEFT_U8, tiny_constant(&tiny, WEFT_U8, 77));
    FOR_EACH_ISA
    {
        memset(target, 0, (size_t)count);
        CHECK_STATUS(tiny_run_flat(&tiny, count - 4, data + 1, NULL), WEFT_OK);
        CHECK(target[2] == 0 && target[3] == 77 && target[count - 2] == 77);
        CHECK(memcmp(target + 3, target + 4, (size_t)count - 5) == 0 && target[count - 1] == 0);
    }
}

/* A transposition that is large enough to be streamed, of an odd size. */
TEST(streamed_transposition)
{
    const int64_t rows = 3001, columns = 2999;
    uint32_t *source = malloc((size_t)(rows * columns) * 4),
             *target = malloc((size_t)(rows * columns) * 4);
    struct tiny tiny;
    struct tiny_launch at;
    tiny_begin(&tiny);
    tiny_store(&tiny, WEFT_U32, tiny_load(&tiny, WEFT_U32));
    launch_begin(&at, &tiny, 2, (int64_t[]){rows, columns});
    launch_argument(&at, 0, source, (int64_t[]){4, rows * 4});
    launch_argument(&at, 1, target, (int64_t[]){columns * 4, 4});
    int64_t wrong = source == NULL || target == NULL;
    for (int64_t k = 0; !wrong && k < rows * columns; k++)
        source[k] = (uint32_t)k;
    FOR_EACH_ISA
    {
        wrong += run_in_pieces(&tiny, &at, false) != WEFT_OK;
        for (int64_t k = 0; !wrong && k < rows * columns; k++)
            wrong += target[k] != (uint32_t)(k % columns * rows + k / columns);
    }
    free(source);
    free(target);
    CHECK_INT(wrong, 0);
}

/* A plain copy keeps any bytes; anything computed has one NaN and true as 1. */
TEST(copies_keep_every_bit)
{
    uint32_t in[] = {0x7f800001U, 0xffc12345U, 0x7fffffffU}, out[3];
    uint8_t bytes[] = {0, 1, 2, 255}, copied_bytes[4];
    uint16_t halves[] = {0x7c01U, 0xfe12U}, copied_halves[2];
    struct tiny tiny;
    FOR_EACH_ISA
    {
        tiny_begin(&tiny);
        tiny_store(&tiny, WEFT_F32, tiny_load(&tiny, WEFT_F32));
        CHECK_STATUS(tiny_run_flat(&tiny, 3, (void *[]){in, out}, NULL), WEFT_OK);
        CHECK_BITS(out, in, sizeof in);
        tiny_begin(&tiny);
        tiny_store(&tiny, WEFT_BOOL, tiny_load(&tiny, WEFT_BOOL));
        CHECK_STATUS(tiny_run_flat(&tiny, 4, (void *[]){bytes, copied_bytes}, NULL), WEFT_OK);
        CHECK_BITS(copied_bytes, bytes, sizeof bytes);
        tiny_begin(&tiny);
        tiny_store(&tiny, WEFT_F16, tiny_load(&tiny, WEFT_F16));
        CHECK_STATUS(tiny_run_flat(&tiny, 2, (void *[]){halves, copied_halves}, NULL), WEFT_OK);
        CHECK_BITS(copied_halves, halves, sizeof halves);
        tiny_begin(&tiny);
        tiny_store(&tiny, WEFT_BF16, tiny_load(&tiny, WEFT_F16));
        CHECK_STATUS(tiny_run_flat(&tiny, 2, (void *[]){halves, copied_halves}, NULL), WEFT_OK);
        CHECK(copied_halves[0] == 0x7fc0U && copied_halves[1] == 0x7fc0U);
        tiny_begin(&tiny);
        tiny_store(&tiny, WEFT_F32, tiny_constant(&tiny, WEFT_F32, 0xffc12345U));
        CHECK_STATUS(tiny_run_flat(&tiny, 3, (void *[]){out}, NULL), WEFT_OK);
        CHECK(out[0] == 0x7fc00000U && out[2] == 0x7fc00000U);
    }
}

/* The parts of complex numbers: out = (imaginary, -real). */
TEST(complex_parts)
{
    float in[2 * 300], out[2 * 300];
    for (int k = 0; k < 600; k++)
        in[k] = (float)k;
    struct tiny tiny;
    tiny_begin(&tiny);
    const uint16_t from = tiny_operand(&tiny, WEFT_C64, false);
    const uint16_t to = tiny_operand(&tiny, WEFT_C64, true);
    const int real = tiny_load_from(&tiny, from, 0), imaginary = tiny_load_from(&tiny, from, 1);
    tiny_store_to(&tiny, to, 0, imaginary);
    tiny_store_to(&tiny, to, 1, tiny_value(&tiny, WEFT__OP_neg, WEFT_F32, real, 0, 0));
    FOR_EACH_ISA
    {
        memset(out, 0, sizeof out);
        CHECK_STATUS(tiny_run_flat(&tiny, 300, (void *[]){in, out}, NULL), WEFT_OK);
        for (int k = 0; k < 300; k++)
            CHECK(out[2 * k] == in[2 * k + 1] && out[2 * k + 1] == -in[2 * k]);
    }
}

/* Values that all live at once: blocks become shorter, and at last there is no room. */
static weft_status run_many(int many, int64_t *in, int64_t *out, int64_t count)
{
    struct tiny tiny;
    tiny_begin(&tiny);
    const int x = tiny_load(&tiny, WEFT_I64);
    int values[TINY_VALUES];
    for (int k = 0; k < many; k++)
        values[k] = tiny_value(&tiny, WEFT__OP_mul, WEFT_I64, k ? values[k - 1] : x, x, 0);
    int sum = x;
    for (int k = many - 1; k >= 0; k--)
        sum = tiny_value(&tiny, WEFT__OP_add, WEFT_I64, sum, values[k], 0);
    tiny_store(&tiny, WEFT_I64, sum);
    return tiny_run_flat(&tiny, count, (void *[]){in, out}, NULL);
}

TEST(many_values_at_a_time)
{
    int64_t in[1000], out[1000];
    for (int k = 0; k < 1000; k++)
        in[k] = k - 500;
    for (int many = 1; many <= 200; many = many * 3 / 2 + 1) {
        CHECK_STATUS(run_many(many, in, out, 1000), WEFT_OK);
        for (int k = 0; k < 1000; k++) {
            uint64_t power = (uint64_t)in[k], sum = power;
            for (int j = 0; j < many; j++)
                sum += power *= (uint64_t)in[k];
            CHECK_INT(out[k], sum);
        }
    }
    CHECK_STATUS(run_many(500, in, out, 1000), WEFT_ERROR_COMPILE);
}

#define LONG "compiles thousands of kernels"
TEST_MAIN(TEST_NO_FAULTS(copies_of_one_dimension, LONG),
          TEST_NO_FAULTS(copies_of_many_dimensions, LONG),
          TEST_NO_FAULTS(arithmetic_of_many_dimensions, LONG),
          TEST_NO_FAULTS(ranges_are_kept, LONG), TEST_OF(streamed_results),
          TEST_OF(streamed_transposition), TEST_OF(copies_keep_every_bit), TEST_OF(complex_parts),
          TEST_OF(many_values_at_a_time));
