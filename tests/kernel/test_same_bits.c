/* The same bits with both engines, any number of threads, cold and warm, with the disk cache and
 * without, and in every layout: processes of each kind write down what they computed. */
#include "kernel/engines.h"
#include "support/arrays.h"
#include <dirent.h>
#include <unistd.h>

/* Sizes that are no multiple of anything; the first is shared between threads. */
static const int64_t shapes[][2] = {{331, 1009}, {67, 3}, {1, 2003}};
enum { SHAPES = sizeof shapes / sizeof shapes[0], MOST = 331 * 1009 };

static const char *const codes[] = {
    "1.0f/a + 2.0f*a*b",
    "where(a > b, a - b, sin(1e4f*a)*exp(b))",
    "pow(abs(a), b) - tgamma(b) + atan2(a, b)",
    "f16(a)*f16(b) - bf16(a)/f16(3)",
    "log(c64(a)) / c64(b)",
    "f64(a)/f64(b) + cbrt(f64(a))",
    "a - where(-atan(a) != 0, bf16(i32(b)*127), 0)", /* by way of f64, wider than a register */
    "i32(1000*a) / i32(b) + i32(index(0)) % 7",
    "shift(a, 1, -2) + shift(b, -3, 1, boundary=wrap) - laplacian(a)",
    "sum(a*b)",
    "sum(exp(a), axis=0)",
    "var(a*b, axis=1)",
    "prod(1 + a/1000)",
    "max(a, axis=0) - min(b, axis=0)",
    "argmax(a*b, axis=1) + argmin(b - a)",
    "prod(c64(1) + c64(a)/c64(1000), axis=0)",
    "norm(a - b) + mean(f16(a), axis=1)",
    "a / sqrt(sum(a*a, axis=1, keep=true)) - mean(b)",
};
enum { CODES = sizeof codes / sizeof codes[0] };

static uint64_t hash_of(weft_array *array)
{
    static char bytes[MOST * 16];
    uint64_t hash = 0xcbf29ce484222325;
    size_t count = array ? weft_array_bytes(array) : 0;
    if (count == 0 || weft_copy_to_host(array, bytes, count) != WEFT_OK)
        return 0;
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ (unsigned char)bytes[i]) * 0x100000001b3;
    return hash;
}

/* Numbers between `low` and `high`, few of them exact in f16. */
static weft_array *numbers(const int64_t *size, float low, float high)
{
    static float values[MOST];
    const int64_t count = size[0] * size[1];
    uint64_t state = (uint64_t)count;
    for (int64_t i = 0; i < count; i++) {
        state = state * 6364136223846793005 + 1442695040888963407;
        values[i] = low + (high - low) * (float)(state >> 40) * 0x1p-24f;
    }
    return from(values, (size_t)count * 4, WEFT_SHAPE(size[0], size[1]), WEFT_F32);
}

/* The code in one layout, into an array that is laid out like that, too. */
static weft_array *compute(const char *code, weft_array *a, weft_array *b, int layout)
{
    static const char *const names[] = {"a", "b", "r"};
    char assigned[200];
    weft_operand operands[] = {WEFT_OPERAND(a), WEFT_OPERAND(b), WEFT_OPERAND(a)};
    const bool uses_b = strchr(code, 'b') != NULL;
    WEFT_AUTO weft_array *first = weft_evaluate_new(code, uses_b ? 2 : 1, names, operands);
    if (!first || layout == CONTIGUOUS)
        return weft_array_retain(first);
    WEFT_AUTO weft_array *zeros = weft_zeros_like(first);
    weft_array *result = zeros ? laid_out(zeros, layout) : NULL;
    operands[uses_b ? 2 : 1] = WEFT_OPERAND(result);
    snprintf(assigned, sizeof assigned, "r = %s", code);
    if (result &&
        weft_evaluate(assigned, uses_b ? 3 : 2, uses_b ? names : (const char *const[]){"a", "r"},
                      operands) == WEFT_OK)
        return result;
    weft_array_release(result);
    return NULL;
}

WEFT_KERNEL(blur, (in, out), {
    boundary = clamp;
    out(i, j) = 0.2f * (in(i - 1, j) + in(i + 1, j) + in(i, j - 1) + in(i, j + 1) + in(i, j));
});

/* What has functions of its own: results are put after those of the codes. */
enum { OTHERS = 4, RESULTS = CODES + OTHERS };

static weft_array *compute_other(int which, weft_array *a, int layout)
{
    weft_random random = {17, 4, 1000};
    const weft_shape shape = weft_array_shape(a);
    const weft_allocator allocator =
        layout == PITCHED ? WEFT_ALLOCATOR_PITCHED : WEFT_ALLOCATOR_DEFAULT;
    if (which == 0)
        return weft_cumulative_sum(a, 1);
    if (which == 1)
        return weft_random_normal(0, 1, shape, .random = &random, .device = device(),
                                  .allocator = allocator);
    if (which == 2)
        return weft_random_uniform(-1, 7, shape, .random = &random, .dtype = WEFT_F64,
                                   .device = device(), .allocator = allocator);
    weft_array *out = laid_out(a, (layout + 1) % LAYOUTS);
    if (out && weft_launch(blur, a, a, out) != WEFT_OK) {
        weft_array_release(out);
        return NULL;
    }
    return out;
}

/* All results of one layout; `hash` has them before, or is filled. */
static bool compute_all(weft_array *x, weft_array *y, int layout, uint64_t *hash)
{
    WEFT_AUTO weft_array *a = laid_out(x, layout), *b = laid_out(y, (2 * layout) % LAYOUTS);
    CHECK_OR(a && b, false);
    for (int k = 0; k < RESULTS; k++) {
        WEFT_AUTO weft_array *result =
            k < CODES ? compute(codes[k], a, b, layout) : compute_other(k - CODES, a, layout);
        const uint64_t got = hash_of(result);
        if (got == 0 || (hash[k] && hash[k] != got))
            fprintf(stderr, "%s in layout %d: %s\n", k < CODES ? codes[k] : "another", layout,
                    result ? "other bits" : weft_error_message());
        CHECK_OR(got && (!hash[k] || hash[k] == got), false);
        hash[k] = got;
    }
    return true;
}

/* Cold first; then, when all that was asked for is compiled, twice warm. */
TEST(alone_computing)
{
    const char *path = getenv("WEFT_TEST_BITS"), *from_disk = getenv("WEFT_TEST_FROM_DISK");
    if (!test_alone() || !path)
        SKIP("is run by the_same_bits_everywhere");
    uint64_t hash[SHAPES][RESULTS] = {{0}};
    for (int s = 0; s < SHAPES; s++) {
        WEFT_AUTO weft_array *x = numbers(shapes[s], -3, 3), *y = numbers(shapes[s], 1, 4);
        CHECK(x && y);
        for (int round = 0; round < (test_quick() ? 1 : 3); round++) {
            for (int layout = 0; layout < LAYOUTS; layout++)
                CHECK(compute_all(x, y, layout, hash[s]));
            weft__background_wait();
        }
    }
    if (from_disk) {
        weft_statistics all = {0};
        CHECK_STATUS(weft_memory_stats(device(), &all), WEFT_OK);
        CHECK_INT(all.compilations_llvm, 0);
        CHECK(all.compilations_loaded > 0);
    }
    FILE *file = fopen(path, "wb");
    CHECK(file);
    const bool written = fwrite(hash, sizeof hash, 1, file) == 1;
    CHECK(fclose(file) == 0 && written);
}

struct kind {
    const char *engine, *threads, *cache;
    bool from_disk;
};

static bool run_kind(const struct kind *kind, const char *folder, const char *path)
{
    setenv("WEFT_ENGINE", kind->engine, 1);
    setenv("WEFT_THREADS", kind->threads, 1);
    setenv("WEFT_CACHE", kind->cache, 1);
    setenv("WEFT_CACHE_DIR", folder, 1);
    setenv("WEFT_TEST_BITS", path, 1);
    if (kind->from_disk)
        setenv("WEFT_TEST_FROM_DISK", "1", 1);
    const bool passed = test_passes_alone("alone_computing");
    unsetenv("WEFT_TEST_FROM_DISK");
    if (!passed)
        fprintf(stderr, "%s with %s threads, cache %s\n", kind->engine, kind->threads, kind->cache);
    return passed;
}

static bool read_bits(const char *path, uint64_t *hash, size_t bytes)
{
    FILE *file = fopen(path, "rb");
    const bool read = file && fread(hash, bytes, 1, file) == 1;
    if (file)
        fclose(file);
    return read;
}

static void remove_folder(const char *folder)
{
    char path[600];
    DIR *open = opendir(folder);
    for (struct dirent *entry; open && (entry = readdir(open)) != NULL;) {
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        (void)unlink(path);
    }
    if (open)
        closedir(open);
    (void)rmdir(folder);
}

/* Whether every kind of process has the bits of the first. */
static bool kinds_agree(const struct kind *kinds, int count, const char *folder)
{
    uint64_t first[SHAPES * RESULTS], later[SHAPES * RESULTS];
    char path[300];
    snprintf(path, sizeof path, "%s/bits", folder);
    for (int k = 0; k < count; k++) {
        CHECK_OR(run_kind(&kinds[k], folder, path), false);
        CHECK_OR(read_bits(path, k ? later : first, sizeof first), false);
        CHECK_OR(k == 0 || memcmp(first, later, sizeof first) == 0, false);
    }
    return true;
}

static bool can_compile(void)
{
#if defined __SANITIZE_THREAD__ /* libLLVM is not built for it */
    return false;
#else
    return weft__llvm_open() == WEFT_OK && !getenv("WEFT_TEST_EMULATOR");
#endif
}

TEST(the_same_bits_everywhere)
{
    static const struct kind kinds[] = {
        {"interpreter", "1", "off", false}, {"interpreter", "2", "off", false},
        {"interpreter", "8", "off", false}, {"llvm", "1", "on", false},
        {"llvm", "2", "on", true},          {"llvm", "8", "on", true},
        {"llvm", "8", "off", false},        {"auto", "2", "off", false},
        {"auto", "8", "on", true},
    };
    if (test_alone())
        SKIP("runs others alone");
    char folder[] = "/tmp/weft-bits-XXXXXX";
    const char *engine = getenv("WEFT_ENGINE"), *cache = getenv("WEFT_CACHE_DIR");
    const bool compiles = can_compile();
    CHECK(mkdtemp(folder) != NULL);
    char *kept[2] = {engine ? strdup(engine) : NULL, cache ? strdup(cache) : NULL};
    const bool agree = kinds_agree(kinds, compiles ? 9 : 3, folder);
    remove_folder(folder);
    static const char *const set[] = {"WEFT_ENGINE", "WEFT_CACHE_DIR"};
    for (int k = 0; k < 2; k++) {
        if (kept[k])
            setenv(set[k], kept[k], 1);
        else
            unsetenv(set[k]);
        free(kept[k]);
    }
    unsetenv("WEFT_THREADS");
    unsetenv("WEFT_CACHE");
    CHECK(agree);
}

#define NO_FAULTS "another process has no part in the count of allocations"
TEST_MAIN(TEST_NO_FAULTS(alone_computing, NO_FAULTS),
          TEST_NO_FAULTS(the_same_bits_everywhere, NO_FAULTS));
