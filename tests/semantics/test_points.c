/* Points, memory and order as docs/semantics.md has them: small kernels on both engines of the CPU,
 * and views of every layout on the device that is tested. */
#include "codegen/test_llvm.h"
#include "support/arrays.h"

/* Runs a kernel of one dimension by both engines; `check` looks at the memory after each. */
static bool run_both(const struct tiny *tiny, struct tiny_launch *at, bool (*check)(void))
{
    FOR_EACH_ISA
    {
        CHECK_OR(tiny_run(tiny, at) == WEFT_OK, false);
        CHECK_OR(check(), false);
    }
    if (weft__llvm_open() != WEFT_OK)
        return true;
    weft__image image = {0};
    CHECK_OR(native_compile(tiny, at, WEFT__EFFORT_FULL, &image) == WEFT_OK, false);
    image.entry(image.program, &at->launch, 0, at->launch.count);
    image_release(&image);
    return check();
}

enum { COUNT = 67 };
static int32_t a[COUNT], b[COUNT], c[COUNT];

static void fill(void)
{
    for (int k = 0; k < COUNT; k++) {
        a[k] = k;
        b[k] = 3 * k + 7;
        c[k] = -1;
    }
}

/* Operand k of a kernel of one dimension is the k-th of these arrays. */
static void launch_flat(struct tiny_launch *at, const struct tiny *tiny, int32_t *const *arrays)
{
    launch_begin(at, tiny, 1, &(int64_t){COUNT});
    for (uint32_t k = 0; k < tiny->kernel.operands_count; k++)
        launch_argument(at, (int)k, arrays[k], &(int64_t){sizeof(int32_t)});
}

static bool is_exchanged(void)
{
    bool right = true;
    for (int k = 0; k < COUNT; k++)
        right = right && a[k] == 3 * k + 7 && b[k] == k && c[k] == k;
    fill();
    return right;
}

/* semantics: Points, memory and order / What a point sees: the third load is listed after both
 * stores. */
TEST(a_load_after_a_store_sees_what_was_there)
{
    struct tiny tiny;
    struct tiny_launch at;
    tiny_begin(&tiny);
    const uint16_t first = tiny_operand(&tiny, WEFT_I32, true);
    const uint16_t second = tiny_operand(&tiny, WEFT_I32, true);
    const int x = tiny_load_from(&tiny, first, 0), y = tiny_load_from(&tiny, second, 0);
    tiny_store_to(&tiny, first, 0, y);
    tiny_store_to(&tiny, second, 0, x);
    tiny_store(&tiny, WEFT_I32, tiny_load_from(&tiny, first, 0));
    launch_flat(&at, &tiny, (int32_t *const[]){a, b, c});
    fill();
    CHECK(run_both(&tiny, &at, is_exchanged));
}

enum { HIGH = 50, WIDE = 70 };
static int32_t in_place[HIGH * WIDE], beside[HIGH * WIDE];
static bool transposed;

static bool is_in_place(void)
{
    bool right = true;
    for (int k = 0; k < HIGH * WIDE; k++) {
        right = right && in_place[k] == k * k + k &&
                beside[k] == ~(transposed ? k % WIDE * HIGH + k / WIDE : k);
        in_place[k] = k;
    }
    return right;
}

/* semantics: Points, memory and order / In place: a = a*a + a, with a second result of a load that
 * is listed after the store. */
TEST(a_result_with_the_map_of_an_operand)
{
    struct tiny tiny;
    struct tiny_launch at;
    tiny_begin(&tiny);
    const uint16_t in = tiny_operand(&tiny, WEFT_I32, false);
    const uint16_t out = tiny_operand(&tiny, WEFT_I32, true);
    const int x = tiny_load_from(&tiny, in, 0);
    const int square = tiny_value(&tiny, WEFT__OP_mul, WEFT_I32, x, x, 0);
    tiny_store_to(&tiny, out, 0, tiny_value(&tiny, WEFT__OP_add, WEFT_I32, square, x, 0));
    const int again = tiny_load_from(&tiny, out, 0);
    tiny_store(&tiny, WEFT_I32, tiny_value(&tiny, WEFT__OP_not, WEFT_I32, again, 0, 0));
    for (int way = 0; way < 2; way++) {
        const int64_t stride[2][2] = {{4 * WIDE, 4}, {4, 4 * HIGH}};
        transposed = way;
        launch_begin(&at, &tiny, 2, (int64_t[]){HIGH, WIDE});
        launch_argument(&at, 0, in_place, stride[way]);
        launch_argument(&at, 1, in_place, stride[way]);
        launch_argument(&at, 2, beside, stride[0]);
        for (int k = 0; k < HIGH * WIDE; k++)
            in_place[k] = k;
        CHECK(run_both(&tiny, &at, is_in_place));
    }
}

static bool is_last_store(void)
{
    bool right = true;
    for (int k = 0; k < COUNT; k++)
        right = right && a[k] == k && c[k] == ~k;
    fill();
    return right;
}

/* semantics: Points, memory and order / Outputs: of two stores the later one stays. */
TEST(the_later_store_stays)
{
    struct tiny tiny;
    struct tiny_launch at;
    tiny_begin(&tiny);
    const int x = tiny_load(&tiny, WEFT_I32);
    const uint16_t out = tiny_operand(&tiny, WEFT_I32, true);
    tiny_store_to(&tiny, out, 0, x);
    tiny_store_to(&tiny, out, 0, tiny_value(&tiny, WEFT__OP_neg, WEFT_I32, x, 0, 0));
    tiny_store_to(&tiny, out, 0, tiny_value(&tiny, WEFT__OP_not, WEFT_I32, x, 0, 0));
    launch_flat(&at, &tiny, (int32_t *const[]){a, c});
    fill();
    CHECK(run_both(&tiny, &at, is_last_store));
}

static uint8_t bytes[COUNT];
static bool flags[COUNT];

static bool has_scalars(void)
{
    bool right = true;
    for (int k = 0; k < COUNT; k++)
        right = right && c[k] == 0x12345678 && bytes[k] == 0xcd && !flags[k];
    memset(bytes, 0, sizeof bytes);
    memset(flags, 1, sizeof flags);
    fill();
    return right;
}

/* semantics: Points, memory and order / scalar k; Points, memory and order / constant: the rest of
 * the cell does not matter. */
TEST(scalars_are_in_the_low_bytes_of_their_cells)
{
    for (int constants = 0; constants < 2; constants++) {
        static const uint64_t cells[] = {0xaaaaaaaa12345678, 0xaaaaaaaaaaaaaacd,
                                         0xaaaaaaaaaaaaaa00};
        static const weft_dtype dtypes[] = {WEFT_I32, WEFT_U8, WEFT_BOOL};
        void *const data[] = {c, bytes, flags};
        struct tiny tiny;
        struct tiny_launch at;
        tiny_begin(&tiny);
        for (int k = 0; k < 3; k++)
            tiny_store(&tiny, dtypes[k],
                       constants ? tiny_constant(&tiny, dtypes[k], cells[k])
                                 : tiny_scalar(&tiny, dtypes[k]));
        launch_begin(&at, &tiny, 1, &(int64_t){COUNT});
        for (int k = 0; k < 3; k++) {
            launch_argument(&at, k, data[k], &(int64_t){(int64_t)weft_dtype_size(dtypes[k])});
            if (!constants)
                launch_scalar(&at, k, cells[k]);
        }
        CHECK(run_both(&tiny, &at, has_scalars));
    }
}

enum { ROWS = 5, COLUMNS = 7, PLANES = 3, POINTS = ROWS * COLUMNS * PLANES };

static weft_array *counted(weft_shape shape)
{
    WEFT_AUTO weft_array *flat = weft_arange(0, POINTS, 1, .dtype = WEFT_I64, .device = device());
    return weft_reshape(flat, shape);
}

/* semantics: Points, memory and order / index k: axes of size 1 and axes that lie next to each
 * other in memory keep their positions, in any layout. */
TEST(positions_along_every_axis)
{
    weft_shape shapes[] = {WEFT_SHAPE(PLANES, ROWS, COLUMNS), WEFT_SHAPE(PLANES, 1, ROWS, COLUMNS),
                           WEFT_SHAPE(1, PLANES * ROWS, COLUMNS, 1), WEFT_SHAPE(POINTS)};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (int axis = 0; axis < shapes[s].ndim; axis++)
            for (int layout = 0; layout < LAYOUTS; layout++) {
                int64_t expected[POINTS], inner = 1;
                char code[40];
                for (int k = axis + 1; k < shapes[s].ndim; k++)
                    inner *= shapes[s].size[k];
                for (int64_t p = 0; p < POINTS; p++)
                    expected[p] = p * 100 + p / inner % shapes[s].size[axis];
                WEFT_AUTO weft_array *dense = counted(shapes[s]);
                WEFT_AUTO weft_array *x = dense ? laid_out(dense, layout) : NULL;
                CHECK(x);
                snprintf(code, sizeof code, "x * 100 + index(%d)", axis);
                WEFT_AUTO weft_array *made = weft_evaluate_new(code, 1, (const char *const[]){"x"},
                                                               (weft_operand[]){WEFT_OPERAND(x)});
                CHECK(holds(made, expected, sizeof expected));
            }
}

/* semantics: Points, memory and order / Addresses: an operand in any layout and its like as the
 * result, which leaves what lies between its elements alone. */
TEST(elements_are_where_strides_say)
{
    for (int from_layout = 0; from_layout < LAYOUTS; from_layout++)
        for (int to_layout = 0; to_layout < LAYOUTS; to_layout++) {
            int64_t expected[POINTS];
            WEFT_AUTO weft_array *dense = counted(WEFT_SHAPE(ROWS, PLANES, COLUMNS));
            CHECK(dense);
            WEFT_AUTO weft_array *x = laid_out(dense, from_layout), *y = laid_out(dense, to_layout);
            WEFT_AUTO weft_array *row = weft_slice(dense, WEFT_AT(1), WEFT_AT(2));
            WEFT_AUTO weft_array *repeated = weft_broadcast(row, WEFT_SHAPE(ROWS, PLANES, COLUMNS));
            CHECK(x && y && repeated);
            CHECK_STATUS(weft(y = x * y + repeated, x, y, repeated), WEFT_OK);
            for (int64_t p = 0; p < POINTS; p++)
                expected[p] = p * p + PLANES * COLUMNS + 2 * COLUMNS + p % COLUMNS;
            CHECK(holds(y, expected, sizeof expected));
        }
}

/* semantics: Points, memory and order / Addresses: what a sliced result steps over stays. */
TEST(what_lies_between_elements_stays)
{
    int64_t expected[POINTS];
    WEFT_AUTO weft_array *all = counted(WEFT_SHAPE(PLANES * ROWS, COLUMNS));
    WEFT_AUTO weft_array *part =
        weft_slice(all, WEFT_STEP(1, WEFT_END, 2), WEFT_STEP(WEFT_END, WEFT_END, -3));
    CHECK(all && part);
    CHECK_STATUS(weft(part = -1, part), WEFT_OK);
    for (int64_t p = 0; p < POINTS; p++)
        expected[p] = p / COLUMNS % 2 && p % COLUMNS % 3 == 0 ? -1 : p;
    CHECK(holds(all, expected, sizeof expected));
}

/* semantics: Points, memory and order / In place: the same map, and every other one. */
TEST(results_in_the_memory_of_an_operand)
{
    int64_t expected[POINTS];
    const weft_shape shape = WEFT_SHAPE(PLANES * COLUMNS, ROWS);
    for (int way = 0; way < 4; way++) {
        WEFT_AUTO weft_array *x = counted(shape);
        WEFT_AUTO weft_array *back = weft_slice(x, WEFT_REVERSED, WEFT_REVERSED);
        CHECK(x && back);
        if (way == 0)
            CHECK_STATUS(weft(x = x * 2, x), WEFT_OK);
        else if (way == 1)
            CHECK_STATUS(weft(x = back * 2, x, back), WEFT_OK);
        else if (way == 2)
            CHECK_STATUS(weft(x = 2 * shift(x, 1, 0, boundary = wrap), x), WEFT_OK);
        else
            CHECK_STATUS(weft(x = x + sum(x, axis = 0), x), WEFT_OK);
        for (int64_t p = 0; p < POINTS; p++) {
            int64_t column = 0;
            for (int64_t q = p % ROWS; q < POINTS; q += ROWS)
                column += q;
            expected[p] = way == 0   ? 2 * p
                          : way == 1 ? 2 * (POINTS - 1 - p)
                          : way == 2 ? 2 * ((p + ROWS) % POINTS)
                                     : p + column;
        }
        CHECK(holds(x, expected, sizeof expected));
    }
}

/* semantics: Points, memory and order / Outputs: an element of its own for every point. */
TEST(a_broadcast_is_no_output)
{
    WEFT_AUTO weft_array *one = weft_zeros(WEFT_SHAPE(1, 3), .device = device());
    WEFT_AUTO weft_array *repeated = weft_broadcast(one, WEFT_SHAPE(2, 3));
    WEFT_AUTO weft_array *same = weft_broadcast(one, WEFT_SHAPE(1, 1, 3));
    CHECK(repeated && same);
    CHECK_STATUS(weft(repeated = 1, repeated), WEFT_ERROR_SHAPE);
    CHECK_STATUS(weft(same = 1, same), WEFT_OK); /* no axis is longer than 1 */
    CHECK(holds(one, (const float[]){1, 1, 1}, 12));
}

#define LONG "hundreds of allocations that are all alike"
TEST_MAIN(TEST_OF(a_load_after_a_store_sees_what_was_there),
          TEST_OF(a_result_with_the_map_of_an_operand), TEST_OF(the_later_store_stays),
          TEST_OF(scalars_are_in_the_low_bytes_of_their_cells),
          TEST_NO_FAULTS(positions_along_every_axis, LONG),
          TEST_NO_FAULTS(elements_are_where_strides_say, LONG),
          TEST_OF(what_lies_between_elements_stays), TEST_OF(results_in_the_memory_of_an_operand),
          TEST_OF(a_broadcast_is_no_output));
