/* Kernels of which rows become machine code of our own: the interpreter with it against itself
 * without. */
#include "codegen/interpreter.h"
#include "codegen/x86_kernels.h"

static struct x86_trial trial;
static struct x86_growth growth;

/* How an operand lies: its strides along rows and columns are of such elements, which are all
 * there is room for, or 0. */
static int64_t rows, strides[X86_OPERANDS][2];
static uint64_t scalars[X86_OPERANDS];

static const weft__launch *launch(char *outputs)
{
    static struct {
        weft__launch launch;
        char room[X86_OPERANDS * (sizeof(weft__argument) + sizeof(uint64_t))];
    } at;
    const uint32_t count = trial.kernel.operands_count;
    memset(&at.launch, 0, sizeof at.launch);
    at.launch.ndim = trial.kernel.ndim = 2;
    at.launch.arguments_count = (uint16_t)count;
    at.launch.scalars_count = (uint16_t)trial.kernel.scalars_count;
    at.launch.count = trial.count;
    at.launch.size[0] = rows;
    at.launch.size[1] = trial.count / rows;
    for (uint32_t k = 0; k < count; k++)
        weft__launch_arguments(&at.launch)[k] = (weft__argument){
            .data = x86_element(&trial, trial.operands[k].output ? outputs : trial.given, k, 0),
            .stride = {strides[k][0], strides[k][1]}};
    memcpy(at.room + count * sizeof(weft__argument), scalars,
           trial.kernel.scalars_count * sizeof *scalars);
    return &at.launch;
}

/* Dense rows; or with gaps and, of inputs, the same element in all rows or columns. */
static void lay_out(int64_t columns, bool plain)
{
    for (uint32_t k = 0; k < trial.kernel.operands_count; k++) {
        const int64_t kind = plain ? 9 : random_below(10),
                      size = (int64_t)weft_dtype_size(trial.operands[k].dtype);
        const bool input = !trial.operands[k].output;
        strides[k][1] = kind == 0 ? X86_CELL : input && kind == 1 ? 0 : size;
        strides[k][0] = input && kind == 2 ? 0 : columns * (kind == 0 ? X86_CELL : size);
    }
}

static uint64_t any_of(weft_dtype dtype)
{
    uint64_t corner[CORNERS_MAX];
    const int corners = corners_of(dtype, corner);
    return random_below(3) ? random_of(dtype) : corner[random_below(corners)];
}

static void fill(void)
{
    for (uint32_t k = 0; k < trial.kernel.operands_count; k++) {
        const weft_dtype dtype = tiny_loaded((weft_dtype)trial.operands[k].dtype);
        const int64_t count = trial.count * X86_CELL / (int64_t)weft_dtype_size(dtype);
        int kind = 0;
        for (int64_t at = 0; !trial.operands[k].output && at < count; at++) {
            kind = at % 16 ? kind : (int)random_below(7);
            element_write(x86_element(&trial, trial.given, k, 0), at, dtype,
                          dtype == WEFT_BOOL ? x86_truth(kind, (int)(at % 16), 16, 3)
                                             : any_of(dtype));
        }
    }
}

/* In three ranges, as threads would: of any points, or of whole rows. */
static void run_ranges(const weft__image *image, const weft__launch *at)
{
    const int64_t unit = random_below(2) ? 1 : trial.count / rows, units = trial.count / unit;
    const int64_t first = unit * random_below(units + 1),
                  second = first + unit * random_below(units - first / unit + 1);
    image->entry(image->program, at, second, trial.count);
    image->entry(image->program, at, 0, first);
    image->entry(image->program, at, first, second);
}

/* Both leave the same bytes, also where they should write nothing. Counts what became machine code.
 */
static bool same(int *made)
{
    weft__image images[2] = {{0}, {0}};
    const size_t bytes = trial.kernel.operands_count * (size_t)trial.count * X86_CELL;
    CHECK_OR(bytes <= X86_MEMORY, false);
    fill();
    memset(trial.expected, 0xee, bytes);
    memset(trial.made, 0xee, bytes);
    const weft_status status = weft__interpreter_assemble(&trial.kernel, &images[1]);
    bool passed = status == WEFT_OK || status == WEFT_ERROR_UNSUPPORTED;
    if (status == WEFT_OK &&
        (passed = weft__interpreter_compile(&trial.kernel, &images[0]) == WEFT_OK)) {
        images[0].entry(images[0].program, launch(trial.expected), 0, trial.count);
        run_ranges(&images[1], launch(trial.made));
        passed = memcmp(trial.expected, trial.made, bytes) == 0;
        ++*made;
    }
    image_release(&images[0]);
    image_release(&images[1]);
    if (!passed)
        x86_print(&trial);
    CHECK_OR(passed, false);
    return true;
}

/* Some operands become complex, of which one part is loaded, and one or both are stored. */
static void vary_dtypes(void)
{
    for (uint32_t k = 0; k < trial.kernel.values_count; k++) {
        weft__value *value = &trial.values[k];
        const bool moves = value->op == WEFT__OP_load || value->op == WEFT__OP_store;
        weft__kernel_operand *operand = &trial.operands[value->slot];
        if (!moves || operand->dtype != value->dtype || !is_float(value->dtype) || random_below(4))
            continue;
        operand->dtype = value->dtype == WEFT_F32 ? WEFT_C64 : WEFT_C128;
        value->part = (uint8_t)random_below(2);
        if (value->op == WEFT__OP_store && random_below(2)) {
            const int other = x86_value(&trial, WEFT__OP_store, (weft_dtype)value->dtype, 0, 0, 0);
            trial.values[other].slot = value->slot;
            trial.values[other].part = !value->part;
            trial.values[other].argument[0] = value->argument[0];
        }
    }
}

/* Some of what is loaded becomes a scalar or an index. */
static void vary_inputs(void)
{
    for (uint32_t k = 0; k < trial.kernel.values_count; k++) {
        weft__value *value = &trial.values[k];
        if (value->op != WEFT__OP_load || random_below(6))
            continue;
        if (value->dtype == WEFT_I64 && random_below(2)) {
            value->op = WEFT__OP_index;
            value->slot = (uint16_t)random_below(2);
            continue;
        }
        value->op = WEFT__OP_scalar;
        value->slot = (uint16_t)trial.kernel.scalars_count;
        scalars[trial.kernel.scalars_count++] = any_of((weft_dtype)value->dtype);
    }
}

/* Stores what machine code does not compute, or what is stored already. */
static void vary_outputs(void)
{
    for (int64_t k = random_below(4); k > 0; k--)
        x86_store(&trial, growth.seen[random_below(growth.seen_count)]);
}

/* To try others, WEFT_TEST_KERNELS says how many and WEFT_TEST_SEED which. */
TEST(random_kernels)
{
    NEEDS_AVX512;
    const char *kernels = getenv("WEFT_TEST_KERNELS"), *text = getenv("WEFT_TEST_SEED");
    int made = 0;
    const int count = kernels != NULL ? atoi(kernels) : test_quick() ? 15 : 250;
    const uint64_t seed = text != NULL ? strtoull(text, NULL, 0) : 1;
    weft__interpreter_isa_choose(NULL);
    for (int k = 0; k < count; k++) {
        random_state = (seed + (uint64_t)k) * 0x9e3779b97f4a7c15U | 1;
        x86_random_kernel(&growth, &trial,
                          k % 2 ? 8 + (int)random_below(40) : 50 + (int)random_below(200));
        const bool plain = random_below(2) != 0;
        const int64_t columns = 1 + random_below(100);
        if (!plain) {
            vary_inputs();
            vary_outputs();
            vary_dtypes();
        }
        rows = 1 + random_below(3);
        trial.count = rows * columns;
        lay_out(columns, plain);
        const bool passed = same(&made);
        if (!passed)
            fprintf(stderr, "WEFT_TEST_KERNELS=1 WEFT_TEST_SEED=%llu\n",
                    (unsigned long long)(seed + (uint64_t)k));
        CHECK(passed);
    }
    CHECK(made >= count / 2 && made > 0);
}

static void one_row(int64_t columns)
{
    rows = 1;
    trial.count = columns;
    lay_out(columns, true);
}

/* Constants, and what is made of them alone, are stored beside what is computed. */
TEST(constants_beside_a_row)
{
    NEEDS_AVX512;
    int made = 0;
    for (int k = 0; k < 2 * X86_TYPES; k++) {
        const weft_dtype dtype = x86_types[k % X86_TYPES];
        x86_begin(&trial);
        int x = x86_load(&trial, k < X86_TYPES ? WEFT_I32 : WEFT_F64);
        for (int j = 0; j < 100; j++)
            x = x86_value(&trial, WEFT__OP_add, (weft_dtype)trial.values[x].dtype, x, x, 0);
        const int constant = x86_constant(&trial, dtype, dtype == WEFT_BOOL ? 1 : any_of(dtype));
        const weft__op op = dtype == WEFT_BOOL ? WEFT__OP_not : WEFT__OP_neg;
        const int other = x86_value(&trial, op, dtype, constant, 0, 0);
        x86_store(&trial, x);
        x86_store(&trial, constant);
        x86_store(&trial, other);
        x86_store(&trial, constant);
        one_row(70);
        CHECK(same(&made));
    }
    CHECK_INT(made, 2 * X86_TYPES);
}

/* What is computed beyond the points of a patch has room, where that is as large as any. */
TEST(full_patches)
{
    NEEDS_AVX512;
    enum { ROWS = 60, COLUMNS = 37, WIDE = 4 };
    int made = 0, stored[WIDE];
    x86_begin(&trial);
    int x = x86_load(&trial, WEFT_F32);
    for (int k = 0; k < 40; k++)
        x = x86_value(&trial, WEFT__OP_add, WEFT_F32, x, x, 0);
    for (int k = 0; k < WIDE; k++)
        stored[k] = x86_value(&trial, WEFT__OP_cast, k % 2 ? WEFT_F64 : WEFT_I64, x, 0, 0);
    for (int k = 0; k < WIDE; k++)
        x86_store(&trial, stored[k]);
    rows = ROWS;
    trial.count = (int64_t)ROWS * COLUMNS;
    lay_out(COLUMNS, true);
    for (int k = 0; k < 10; k++)
        CHECK(same(&made));
    CHECK_INT(made, 10);
}

/* Hundreds of kilobytes of machine code, in one function. */
TEST(long_code)
{
    NEEDS_AVX512;
    int made = 0;
    x86_begin(&trial);
    int x = x86_load(&trial, WEFT_I64);
    const int y = x86_load(&trial, WEFT_I64);
    for (int k = 0; k < 6000; k++)
        x = x86_value(&trial, k % 2 ? WEFT__OP_xor : WEFT__OP_mul_high, WEFT_I64, x, y, 0);
    x86_store(&trial, x);
    one_row(100);
    CHECK(same(&made));
    CHECK_INT(made, 1);
}

/* A frame of machine code has no room for what lives at once here. */
TEST(too_many_values_for_a_frame)
{
    NEEDS_AVX512;
    enum { LIVE = 800 };
    static int value[LIVE];
    weft__image image = {0};
    x86_begin(&trial);
    int sum = x86_load(&trial, WEFT_F64);
    for (int k = 0; k < LIVE; k++)
        value[k] = sum = x86_value(&trial, WEFT__OP_neg, WEFT_F64, sum, 0, 0);
    for (int k = 0; k < LIVE; k++)
        sum = x86_value(&trial, WEFT__OP_max, WEFT_F64, sum, value[k], 0);
    x86_store(&trial, sum);
    CHECK_STATUS(weft__interpreter_assemble(&trial.kernel, &image), WEFT_ERROR_UNSUPPORTED);
}

/* What is the same everywhere is a vector in the frame, which leaves no room for blocks. */
TEST(no_room_beside_a_frame)
{
    NEEDS_AVX512;
    enum { UNIFORM = 560, LOADS = 60, LONG_ROW = 1300 };
    static int value[UNIFORM], load[LOADS];
    weft__image image = {0};
    x86_begin(&trial);
    for (int k = 0; k < LOADS; k++)
        load[k] = x86_load(&trial, WEFT_F64);
    for (int k = 0; k < UNIFORM; k++) {
        const int constant = x86_constant(&trial, WEFT_F64, (uint64_t)k << 52);
        value[k] = x86_value(&trial, WEFT__OP_neg, WEFT_F64, constant, 0, 0);
    }
    int sum = load[0];
    for (int k = 0; k < LONG_ROW; k++)
        sum = x86_value(&trial, WEFT__OP_add, WEFT_F64, sum,
                        k < UNIFORM ? value[k] : load[k % LOADS], 0);
    x86_store(&trial, sum);
    CHECK_STATUS(weft__interpreter_assemble(&trial.kernel, &image), WEFT_ERROR_UNSUPPORTED);
    CHECK_STATUS(weft__interpreter_compile(&trial.kernel, &image), WEFT_OK);
    image_release(&image);
}

/* Primitives of bytes, which are no machine code, are between each two functions. */
TEST(many_functions)
{
    NEEDS_AVX512;
    enum { FUNCTIONS = 50, PRIMITIVES = 8 };
    int made = 0;
    x86_begin(&trial);
    const int x = x86_load(&trial, WEFT_F32), y = x86_load(&trial, WEFT_F32);
    int z = x;
    for (int k = 0; k < FUNCTIONS; k++) {
        for (int j = 0; j < PRIMITIVES; j++)
            z = x86_value(&trial, WEFT__OP_fma, WEFT_F32, z, x, y);
        z = x86_value(&trial, WEFT__OP_cast, WEFT_U8, z, 0, 0);
        z = x86_value(&trial, WEFT__OP_cast, WEFT_F32, z, 0, 0);
    }
    x86_store(&trial, z);
    one_row(300);
    CHECK(same(&made));
    CHECK_INT(made, 1);
}

/* What is short is no machine code. */
TEST(not_worth_it)
{
    weft__image image = {0};
    x86_begin(&trial);
    const int x = x86_load(&trial, WEFT_F32);
    x86_store(&trial, x86_value(&trial, WEFT__OP_neg, WEFT_F32, x, 0, 0));
    CHECK_STATUS(weft__interpreter_assemble(&trial.kernel, &image), WEFT_ERROR_UNSUPPORTED);
}

TEST(made_and_freed)
{
    NEEDS_AVX512;
    int made = 0;
    random_state = 3;
    x86_random_kernel(&growth, &trial, 120);
    one_row(40);
    CHECK(same(&made));
    CHECK_INT(made, 1);
    strides[0][1] = X86_CELL;
    CHECK(same(&made));
    CHECK_INT(made, 2);
}

#define LONG "compiles very many kernels; made_and_freed covers it"
TEST_MAIN(TEST_NO_FAULTS(random_kernels, LONG), TEST_NO_FAULTS(constants_beside_a_row, LONG),
          TEST_NO_FAULTS(full_patches, LONG), TEST_NO_FAULTS(long_code, LONG),
          TEST_NO_FAULTS(too_many_values_for_a_frame, LONG),
          TEST_NO_FAULTS(no_room_beside_a_frame, LONG), TEST_NO_FAULTS(many_functions, LONG),
          TEST_OF(not_worth_it), TEST_OF(made_and_freed));
