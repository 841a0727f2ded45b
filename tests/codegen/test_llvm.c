/* The compiling engine: streaming, tiles, the mode, classes, threads, and what can go wrong. */
#include "codegen/test_llvm.h"
#include "codegen/interpreter/mode.h"
#include "codegen/llvm/object.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

/* Larger than the bound from which on results go past the caches; alignment and tails included. Of
 * many operations, code that takes whole turns, to which both are moved. */
static bool check_streaming(weft_dtype dtype, int64_t columns, int64_t rows, int64_t gap,
                            int operations)
{
    static struct trial trial;
    const int64_t element = (int64_t)weft_dtype_size(dtype);
    memset(&trial, 0, sizeof trial);
    trial.space = space_make(2, (int64_t[]){rows, columns});
    tiny_begin(&trial.tiny);
    const int x = tiny_load(&trial.tiny, dtype);
    int y = x;
    for (int k = 0; k < operations; k++)
        y = tiny_value(&trial.tiny, WEFT__OP_add, dtype, y, x, 0);
    tiny_store(&trial.tiny, dtype, y);
    for (int k = 0; k < 2; k++)
        trial.layout[k] = (struct layout){.stride = {(columns + gap) * element, element},
                                          .first = 3 * element,
                                          .bytes = rows * (columns + gap) * element + 64};
    const bool passed = trial_allocate(&trial) && trial_run(&trial, 0);
    trial_drop(&trial);
    return passed;
}

/* The same of three operands, which are asked for; the result is streamed if it is dense. */
static bool check_asking(weft_dtype dtype, int64_t columns, int64_t step)
{
    static struct trial trial;
    const int64_t element = (int64_t)weft_dtype_size(dtype);
    memset(&trial, 0, sizeof trial);
    trial.space = space_make(1, &columns);
    tiny_begin(&trial.tiny);
    int sum = tiny_load(&trial.tiny, dtype);
    for (int k = 1; k < 3; k++)
        sum = tiny_value(&trial.tiny, WEFT__OP_add, dtype, sum, tiny_load(&trial.tiny, dtype), 0);
    tiny_store(&trial.tiny, dtype, sum);
    for (int k = 0; k < 4; k++) {
        const int64_t stride = k == 3 ? step * element : element;
        trial.layout[k] =
            (struct layout){.stride = {stride}, .first = element, .bytes = (columns + 1) * stride};
    }
    const bool passed = trial_allocate(&trial) && trial_run(&trial, 0);
    trial_drop(&trial);
    return passed;
}

TEST(streamed_results)
{
    NEEDS_LLVM;
    FOR_EACH_ISA
    {
        CHECK(check_streaming(WEFT_F32, (10 << 20) + 37, 1, 0, 1));
        CHECK(check_streaming(WEFT_U8, (40 << 20) + 5, 1, 0, 1));
        CHECK(check_streaming(WEFT_F64, 1027, 5000, 0, 1));
        CHECK(check_streaming(WEFT_U16, 4099, 5000, 1, 1));
        CHECK(check_streaming(WEFT_F32, 133, 65000, 0, 1));
        CHECK(check_streaming(WEFT_U8, 523, 65000, 1, 1));
        CHECK(check_streaming(WEFT_F32, (10 << 20) + 37, 1, 0, 20));
        CHECK(check_streaming(WEFT_F64, 1027, 5000, 0, 20));
        CHECK(check_streaming(WEFT_U16, 4099, 5000, 1, 20));
        CHECK(check_streaming(WEFT_F32, 131, 65000, 5, 20));
        CHECK(check_asking(WEFT_F32, (9 << 20) + 37, 1));
        CHECK(check_asking(WEFT_F32, (9 << 20) + 37, 2));
    }
}

/* A transposition and its sum with another array, of odd sizes. */
TEST(transposed_operands)
{
    NEEDS_LLVM;
    static struct trial trial;
    const int64_t rows = 1301, columns = 999;
    memset(&trial, 0, sizeof trial);
    trial.space = space_make(2, (int64_t[]){rows, columns});
    tiny_begin(&trial.tiny);
    const int x = tiny_load(&trial.tiny, WEFT_F32), y = tiny_load(&trial.tiny, WEFT_I16);
    const int z = tiny_value(&trial.tiny, WEFT__OP_cast, WEFT_F32, y, 0, 0);
    tiny_store(&trial.tiny, WEFT_F32, tiny_value(&trial.tiny, WEFT__OP_add, WEFT_F32, x, z, 0));
    tiny_store(&trial.tiny, WEFT_F64, tiny_value(&trial.tiny, WEFT__OP_cast, WEFT_F64, x, 0, 0));
    const int64_t bytes[] = {4, 2, 4, 8};
    for (int k = 0; k < 4; k++) {
        trial.layout[k] = layout_make(&trial.space, bytes[k], LAYOUT_DENSE);
        if (k % 3 == 0) {
            trial.layout[k].stride[0] = bytes[k];
            trial.layout[k].stride[1] = bytes[k] * rows;
        }
    }
    bool passed = trial_allocate(&trial);
    FOR_EACH_ISA
    passed = passed && trial_run(&trial, 0) && trial_run(&trial, 1000);
    trial_drop(&trial);
    CHECK(passed);
}

/* A sum with a transposed array and the numbers of both axes, in tiles that are streamed. */
static bool check_streamed_tiles(weft_dtype dtype, int64_t rows, int64_t columns)
{
    static struct trial trial;
    memset(&trial, 0, sizeof trial);
    trial.space = space_make(2, (int64_t[]){rows, columns});
    tiny_begin(&trial.tiny);
    int sum = tiny_load(&trial.tiny, dtype);
    sum = tiny_value(&trial.tiny, WEFT__OP_add, dtype, sum, tiny_load(&trial.tiny, dtype), 0);
    for (uint16_t axis = 0; axis < 2; axis++) {
        const int index = tiny_value(&trial.tiny, WEFT__OP_index, WEFT_I64, 0, 0, 0);
        trial.tiny.values[index].slot = axis;
        const int number = tiny_value(&trial.tiny, WEFT__OP_cast, dtype, index, 0, 0);
        sum = tiny_value(&trial.tiny, WEFT__OP_add, dtype, sum, number, 0);
    }
    tiny_store(&trial.tiny, dtype, sum);
    for (int k = 0; k < 3; k++)
        trial.layout[k] = layout_make(&trial.space, (int64_t)weft_dtype_size(dtype), LAYOUT_DENSE);
    trial.layout[1].stride[0] = (int64_t)weft_dtype_size(dtype);
    trial.layout[1].stride[1] = rows * (int64_t)weft_dtype_size(dtype);
    trial.layout[2].bytes += 64;
    bool passed = trial_allocate(&trial);
    trial.layout[2].first = -(intptr_t)trial.after[1][2] & 63; /* rows of whole lines */
    passed = passed && trial_run(&trial, 0);
    trial_drop(&trial);
    return passed;
}

TEST(streamed_tiles)
{
    NEEDS_LLVM;
    FOR_EACH_ISA
    {
        CHECK(check_streamed_tiles(WEFT_F32, 1999, 4800));
        CHECK(check_streamed_tiles(WEFT_U8, 7001, 5120));
    }
}

/* Complex numbers that are aligned as their parts are, transposed: out = (imaginary, -real). */
TEST(complex_parts)
{
    NEEDS_LLVM;
    static struct trial trial;
    const int64_t rows = 77, columns = 131;
    memset(&trial, 0, sizeof trial);
    trial.space = space_make(2, (int64_t[]){rows, columns});
    tiny_begin(&trial.tiny);
    const uint16_t from = tiny_operand(&trial.tiny, WEFT_C64, false);
    const uint16_t to = tiny_operand(&trial.tiny, WEFT_C64, true);
    const int real = tiny_load_from(&trial.tiny, from, 0);
    tiny_store_to(&trial.tiny, to, 0, tiny_load_from(&trial.tiny, from, 1));
    tiny_store_to(&trial.tiny, to, 1, tiny_value(&trial.tiny, WEFT__OP_neg, WEFT_F32, real, 0, 0));
    trial.layout[0] =
        (struct layout){.stride = {8, 8 * rows}, .first = 4, .bytes = 8 * rows * columns + 8};
    trial.layout[1] =
        (struct layout){.stride = {8 * columns, 8}, .first = 4, .bytes = 8 * rows * columns + 8};
    bool passed = trial_allocate(&trial);
    FOR_EACH_ISA
    passed = passed && trial_run(&trial, 0);
    trial_drop(&trial);
    CHECK(passed);
}

/* Threads that compile at the same time. */
static void *compile_some(void *result)
{
    struct tiny tiny;
    struct tiny_launch at;
    for (int k = 0; k < 10; k++) {
        weft__image image = {0};
        float a[100], b[100], c[100];
        tiny_begin(&tiny);
        int x = tiny_load(&tiny, WEFT_F32);
        const int y = tiny_load(&tiny, WEFT_F32);
        for (int j = 0; j <= k; j++)
            x = tiny_value(&tiny, WEFT__OP_add, WEFT_F32, x, y, 0);
        tiny_store(&tiny, WEFT_F32, x);
        launch_begin(&at, &tiny, 1, &(int64_t){100});
        for (int j = 0; j < 3; j++)
            launch_argument(&at, j, j == 0 ? a : j == 1 ? b : c, &(int64_t){4});
        for (int j = 0; j < 100; j++) {
            a[j] = (float)j;
            b[j] = 2;
        }
        bool right = native_compile(&tiny, &at, WEFT__EFFORT_FULL, &image) == WEFT_OK;
        if (right)
            image.entry(image.program, &at.launch, 0, 100);
        for (int j = 0; right && j < 100; j++)
            right = c[j] == (float)(j + 2 * (k + 1));
        image_release(&image);
        if (!right)
            return NULL;
    }
    return result;
}

TEST(several_threads)
{
    NEEDS_LLVM;
    enum { THREADS = 4 };
    pthread_t thread[THREADS];
    int right = 0;
    for (int k = 0; k < THREADS; k++)
        CHECK(pthread_create(&thread[k], NULL, compile_some, &right) == 0);
    for (int k = 0; k < THREADS; k++) {
        void *result = NULL;
        (void)pthread_join(thread[k], &result);
        right += result == &right;
    }
    CHECK_INT(right, THREADS);
}

#if defined __x86_64__
/* Flush to zero, denormals are zero, rounding up, and exceptions that would end the program. */
static const weft__mode modes[] = {0x9f80U, 0x1fc0U, 0x5f80U, 0x0000U};
#else
static const weft__mode modes[] = {(weft__mode)1 << 24, (weft__mode)1 << 22};
#endif

TEST(floating_point_mode)
{
    NEEDS_LLVM;
    float in[100];
    uint32_t expected[100], actual[100];
    struct tiny tiny;
    struct tiny_launch at;
    weft__image image = {0};
    tiny_begin(&tiny);
    const int x = tiny_load(&tiny, WEFT_F32);
    const int third = tiny_constant(&tiny, WEFT_F32, 0x3eaaaaabU);
    tiny_store(&tiny, WEFT_F32, tiny_value(&tiny, WEFT__OP_mul, WEFT_F32, x, third, 0));
    launch_begin(&at, &tiny, 1, &(int64_t){100});
    launch_argument(&at, 0, in, &(int64_t){4});
    launch_argument(&at, 1, expected, &(int64_t){4});
    for (int k = 0; k < 100; k++)
        in[k] = (float)(k + 1) * 0x1.123456p-127F;
    CHECK_STATUS(native_compile(&tiny, &at, WEFT__EFFORT_FULL, &image), WEFT_OK);
    image.entry(image.program, &at.launch, 0, 100);
    launch_argument(&at, 1, actual, &(int64_t){4});
    const weft__mode before = weft__mode_read();
    bool passed = (expected[0] & 0x7f800000U) == 0 && expected[0] != 0;
    for (size_t k = 0; k < sizeof modes / sizeof modes[0]; k++) {
        weft__mode_write(modes[k]);
        image.entry(image.program, &at.launch, 0, 100);
        const weft__mode after = weft__mode_read();
        weft__mode_write(before);
        passed = passed && (after & weft__mode_bits) == (modes[k] & weft__mode_bits) &&
                 memcmp(actual, expected, sizeof actual) == 0;
    }
    image_release(&image);
    CHECK(passed);
}

/* out = a + b of one dimension, for the tests below. */
static void sum_begin(struct tiny *tiny, struct tiny_launch *at, int64_t count)
{
    tiny_begin(tiny);
    const int x = tiny_load(tiny, WEFT_F32), y = tiny_load(tiny, WEFT_F32);
    tiny_store(tiny, WEFT_F32, tiny_value(tiny, WEFT__OP_add, WEFT_F32, x, y, 0));
    launch_begin(at, tiny, 1, &count);
    for (int k = 0; k < 3; k++)
        launch_argument(at, k, NULL, &(int64_t){4});
}

/* Sizes, addresses and gaps between rows change nothing; the innermost distance and the order do.
 */
TEST(classes)
{
    struct tiny tiny;
    struct tiny_launch at;
    uint8_t first[32], other[32];
    sum_begin(&tiny, &at, 1000);
    const uint32_t count = weft__llvm_class(&tiny.kernel, &at.launch, first, sizeof first);
    CHECK(count <= tiny.kernel.operands_count + 3);
    CHECK(weft__llvm_wants(&tiny.kernel, &at.launch));
    launch_begin(&at, &tiny, 2, (int64_t[]){77, 1234});
    for (int k = 0; k < 3; k++)
        launch_argument(&at, k, first, (int64_t[]){8000 * (k + 1), 4});
    CHECK_INT(weft__llvm_class(&tiny.kernel, &at.launch, other, sizeof other), count);
    CHECK_BITS(other, first, count);
    static const int64_t strides[] = {0, 8, -4, 12};
    for (int k = 0; k < 4; k++) {
        launch_argument(&at, 1, first, (int64_t[]){32000, strides[k]});
        CHECK_INT(weft__llvm_class(&tiny.kernel, &at.launch, other, 2), count);
        CHECK_INT(weft__llvm_class(&tiny.kernel, &at.launch, other, sizeof other), count);
        CHECK(memcmp(other, first, count) != 0);
    }
    launch_argument(&at, 1, first, (int64_t[]){4, 308}); /* transposed: goes through dense tiles */
    CHECK_INT(weft__llvm_class(&tiny.kernel, &at.launch, other, sizeof other), count);
    CHECK_BITS(other, first, count);
}

TEST(explained)
{
    NEEDS_LLVM;
    struct tiny tiny;
    struct tiny_launch at;
    char *text = NULL;
    sum_begin(&tiny, &at, 1000);
    CHECK_STATUS(weft__llvm_explain(&tiny.kernel, &at.launch, &text), WEFT_OK);
    const bool found = strstr(text, "weft_kernel:") != NULL;
    weft__free(text);
    CHECK(found);
    CHECK(weft__llvm_version() != NULL && atoi(weft__llvm_version()) >= 15);
}

/* Kernels that are not made of what the semantics define come back as an error. */
TEST(wrong_kernels)
{
    NEEDS_LLVM;
    struct tiny tiny;
    struct tiny_launch at;
    weft__object object = {0};
    static const struct {
        int value, argument, wrong;
    } cases[] = {{2, 0, 2}, {2, 1, -1}, {3, 0, 7}};
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        sum_begin(&tiny, &at, 10);
        tiny.values[cases[k].value].argument[cases[k].argument] = cases[k].wrong;
        CHECK_STATUS(compile_full(&tiny, &at, &object), WEFT_ERROR_COMPILE);
    }
    sum_begin(&tiny, &at, 10);
    tiny.values[2].op = WEFT__OP_COUNT;
    CHECK_STATUS(compile_full(&tiny, &at, &object), WEFT_ERROR_COMPILE);
    sum_begin(&tiny, &at, 10);
    tiny.values[0].slot = 3;
    CHECK_STATUS(compile_full(&tiny, &at, &object), WEFT_ERROR_COMPILE);
    CHECK(object.data == NULL);
}

/* What libLLVM gave up on stays reachable, so that it is no leak. */
enum { FATAL = 3 };
static struct {
    weft__llvm_machine machine;
    weft__llvm_module module;
} abandoned[FATAL];
static int abandoned_count;

/* In the place of LLVM's own: what it can make no code of, it reports in this way. */
static int give_up(weft__llvm_machine machine, weft__llvm_module module, int kind, char **message,
                   weft__llvm_buffer *buffer)
{
    typedef void report(const char *reason, bool with_trace);
    Dl_info info;
    void *address;
    report *fatal;
    (void)kind, (void)buffer;
    *message = strdup("it was not told");
    memcpy(&address, &weft__llvm.ContextCreate, sizeof address);
    if (dladdr(address, &info) == 0)
        return 1;
    void *library = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    if (library == NULL)
        return 1;
    address = dlsym(library, "_ZN4llvm18report_fatal_errorEPKcb");
    (void)dlclose(library);
    if (address == NULL)
        return 1;
    free(*message);
    memcpy(&fatal, &address, sizeof fatal);
    abandoned[abandoned_count].machine = machine;
    abandoned[abandoned_count++].module = module;
    fatal("no such copy", false);
    return 1;
}

/* An error that libLLVM ends processes for is one of the kernel, and the next one compiles. */
TEST(fatal_errors_of_the_compiler)
{
    NEEDS_LLVM;
    struct tiny tiny;
    struct tiny_launch at;
    weft__object object = {0};
    int (*emit)(weft__llvm_machine, weft__llvm_module, int, char **, weft__llvm_buffer *) =
        weft__llvm.TargetMachineEmitToMemoryBuffer;
    for (int k = 0; k < FATAL; k++) {
        sum_begin(&tiny, &at, 10);
        weft__llvm.TargetMachineEmitToMemoryBuffer = give_up;
        CHECK_STATUS(compile_full(&tiny, &at, &object), WEFT_ERROR_COMPILE);
        CHECK(strstr(weft_error_message(), "no such copy") != NULL);
        CHECK(object.data == NULL);
        weft__llvm.TargetMachineEmitToMemoryBuffer = emit;
        CHECK_STATUS(compile_full(&tiny, &at, &object), WEFT_OK);
        weft__object_free(&object);
    }
}

/* A chain of so many operations. */
static weft_status compile_chain(int length, weft__effort *effort)
{
    struct tiny tiny;
    struct tiny_launch at;
    weft__object object = {0};
    tiny_begin(&tiny);
    const int x = tiny_load(&tiny, WEFT_F32);
    int y = tiny_load(&tiny, WEFT_F32);
    for (int k = 0; k < length; k++)
        y = tiny_value(&tiny, k % 2 ? WEFT__OP_mul : WEFT__OP_add, WEFT_F32, x, y, 0);
    tiny_store(&tiny, WEFT_F32, y);
    launch_begin(&at, &tiny, 1, &(int64_t){64});
    for (uint32_t k = 0; k < tiny.kernel.operands_count; k++)
        launch_argument(&at, (int)k, NULL, &(int64_t){sizeof(float)});
    const weft_status status = weft__llvm_compile(&tiny.kernel, &at.launch, effort, &object);
    weft__object_free(&object);
    return status;
}

/* All that becomes a kernel is optimized later. */
TEST(long_code_is_made_quickly_first)
{
    NEEDS_LLVM;
    enum { F = WEFT__EFFORT_FULL, Q = WEFT__EFFORT_QUICK, LENGTHS = 3 };
    static const int lengths[LENGTHS] = {1, 60, 1000};
    static const int done[][LENGTHS] = {
        [F] = {F, F, F}, [WEFT__EFFORT_FIRST] = {F, Q, Q}, [Q] = {Q, Q, Q}};
    for (int k = F; k <= Q; k++)
        for (int length = 0; length < LENGTHS; length++) {
            weft__effort effort = (weft__effort)k;
            CHECK_STATUS(compile_chain(lengths[length], &effort), WEFT_OK);
            CHECK_INT(effort, done[k][length]);
        }
}

/* Objects that are cut short or changed anywhere are refused or load, but nothing else happens. */
TEST(damaged_objects)
{
    NEEDS_LLVM;
    struct tiny tiny;
    struct tiny_launch at;
    weft__object object = {0};
    sum_begin(&tiny, &at, 1000);
    CHECK_STATUS(compile_full(&tiny, &at, &object), WEFT_OK);
    int refused = 0;
    for (size_t bytes = 0; bytes < object.bytes; bytes += 7) {
        weft__image image = {0};
        const weft__object cut = {object.data, bytes};
        refused += weft__object_load(&cut, &image) != WEFT_OK;
        image_release(&image);
    }
    for (int k = 0; k < 20000; k++) {
        weft__image image = {0};
        char *byte = (char *)object.data + random_below((int64_t)object.bytes);
        const char kept = *byte;
        *byte = (char)random_bits();
        refused += weft__object_load(&object, &image) != WEFT_OK;
        image_release(&image);
        *byte = kept;
    }
    weft__image image = {0};
    const weft_status status = weft__object_load(&object, &image);
    image_release(&image);
    weft__object_free(&object);
    CHECK_STATUS(status, WEFT_OK);
    CHECK(refused > 200);
}

static bool loads(const weft__object *object)
{
    weft__image image = {0};
    const bool loaded = weft__object_load(object, &image) == WEFT_OK;
    image_release(&image);
    return loaded;
}

/* Whether an object with this in its header, and a checksum that is right, loads. */
static bool loads_with(weft__object *object, size_t begin, size_t field, uint32_t value)
{
    const size_t checksum = offsetof(weft__object_header, checksum);
    char kept[sizeof(weft__object_header)], *data = object->data;
    memcpy(kept, data, sizeof kept);
    memcpy(data + field, &value, sizeof value);
    const uint32_t right = weft__object_checksum(data, begin);
    memcpy(data + checksum, &right, sizeof right);
    const bool loaded = loads(object);
    memcpy(data, kept, sizeof kept);
    return loaded;
}

/* No byte before the code can be another, and what says more than there is room for is refused
 * whatever its checksum. */
TEST(damaged_headers)
{
    NEEDS_LLVM;
    enum { OPERANDS = 3 };
    const size_t begin = (sizeof(weft__object_header) + OPERANDS * 2 + 15) / 16 * 16;
    const size_t width = offsetof(weft__object_header, width);
    struct tiny tiny;
    struct tiny_launch at;
    weft__object object = {0};
    sum_begin(&tiny, &at, 1000);
    CHECK_STATUS(compile_full(&tiny, &at, &object), WEFT_OK);
    int loaded = 0;
    for (size_t k = 0; k < 255 * begin; k++) {
        char *byte = (char *)object.data + k % begin;
        const char kept = *byte;
        *byte = (char)(kept ^ (char)(1 + k / begin));
        loaded += loads(&object);
        *byte = kept;
    }
    const bool as_it_is = loads(&object), none = loads_with(&object, begin, width, 0);
    const bool fits = loads_with(&object, begin, width, WEFT__WHOLE_BYTES / (4 * OPERANDS));
    const bool large = loads_with(&object, begin, width, WEFT__WHOLE_BYTES / (4 * OPERANDS) + 1);
    const bool huge = loads_with(&object, begin, width, UINT32_MAX);
    const bool streamed =
        loads_with(&object, begin, offsetof(weft__object_header, streamed), (uint32_t)-2);
    weft__object_free(&object);
    CHECK_INT(loaded, 0);
    CHECK(as_it_is && none && fits);
    CHECK(!large && !huge && !streamed);
}

/* In a process of its own, for a library is opened once. Returns whether opening failed with the
 * text. */
static bool fails_with(const char *path, const char *text)
{
    int state = 0;
    const pid_t child = fork();
    if (child == 0) {
        setenv("WEFT_LLVM", path, 1);
        const bool failed = weft__llvm_open() == WEFT_ERROR_UNSUPPORTED &&
                            weft__llvm_open() == WEFT_ERROR_UNSUPPORTED &&
                            weft__llvm_version() == NULL;
        _exit(failed && strstr(weft_error_message(), text) != NULL ? 0 : 1);
    }
    return child > 0 && waitpid(child, &state, 0) == child && WIFEXITED(state) &&
           WEXITSTATUS(state) == 0;
}

/* Runs before anything else opens the library. */
TEST(libraries_that_are_none)
{
    char path[] = "/tmp/weft-llvm-XXXXXX";
    const int file = mkstemp(path);
    CHECK(file >= 0 && write(file, "not a library", 13) == 13);
    CHECK(close(file) == 0);
    const bool broken = fails_with(path, path);
    CHECK(unlink(path) == 0);
    CHECK(broken);
    CHECK(fails_with("/no/such/libLLVM.so", "/no/such/libLLVM.so"));
    CHECK(fails_with("libm.so.6", "version 15 or newer"));
}

TEST(failed_allocations)
{
    NEEDS_LLVM;
    struct tiny tiny;
    struct tiny_launch at;
    weft__image image = {0};
    sum_begin(&tiny, &at, 100);
    CHECK_STATUS(native_compile(&tiny, &at, WEFT__EFFORT_FULL, &image), WEFT_OK);
    image_release(&image);
}

#define LONG "compiles very many kernels; failed_allocations covers it"
TEST_MAIN(TEST_OF(libraries_that_are_none), TEST_NO_FAULTS(streamed_results, LONG),
          TEST_NO_FAULTS(transposed_operands, LONG), TEST_NO_FAULTS(streamed_tiles, LONG),
          TEST_OF(complex_parts), TEST_NO_FAULTS(several_threads, LONG),
          TEST_OF(floating_point_mode), TEST_OF(classes), TEST_OF(explained),
          TEST_OF(wrong_kernels),
          TEST_NO_FAULTS(fatal_errors_of_the_compiler, "leaves libLLVM in the middle"),
          TEST_NO_FAULTS(long_code_is_made_quickly_first, LONG),
          TEST_NO_FAULTS(damaged_objects, "loads thousands of objects"),
          TEST_NO_FAULTS(damaged_headers, "loads thousands of objects"),
          TEST_OF(failed_allocations));
