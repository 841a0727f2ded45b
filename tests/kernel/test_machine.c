/* Quick code with machine code of our own: the bits of the interpreter, whatever goes there and
 * comes back. */
#include "kernel/quick.h"
#include <math.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ROWS = 7, MOST = 16 * ROWS * 300 };
static const int64_t columns[] = {1, 5, 8, 16, 37, 300};

/* Of a, b (f32 or f64), p (bool), z (complex), r (a row), c (a column), i (i32), u (u64), o (a
 * column of bools) and a C number s; long enough to be machine code. */
static const char *const codes[] = {
    "sin(a)*cos(b) + exp(a - b)*s",
    "where(p, sin(a) + exp(b), log(abs(a)) - tan(b))",
    "p && (sin(a) < cos(b) || exp(a) > exp(b)*tan(b)) != (a < b)",
    "sin(a)*exp(b) + tan(r) - atan(c)*s",
    "sin(a)*exp(b) + $(index(0))*$(index(1)) + tanh(a)",
    "sin(z)*exp(z) + z*s",
    "exp(z)/(z + r) - conj(z)*c",
    "real(sin(z)*z) + imag(exp(z)) + a",
    "(i*i + 3*i - 7)*(i/3 + i%5) + ((i << 3) ^ (i >> 2)) - i*i*i + abs(i)*(i & 255) + (i | 3)/(i - "
    "2)",
    "(u*u + 3*u + 7)*(u/3 + u%5) + ((u << 3) ^ (u >> 2)) + u*u*u*(u & 255) + (u | 3)/(u + 2)%(u*u "
    "+ 1)",
    "cbrt(a) + pow(abs(b), a) + $(p)*erf(b) + fmod(a, b)",
    "exp(r) + sin(r)*cos(c) + tan(c)*s",
    "where(o, sin(a) + exp(b), log(abs(a)) - tan(b))",
    /* Two functions with bytes between them, of which the second has the larger frame. */
    "v = $(i8((a*b + a)*(b - 3) + a*a*b - 2*b)); sin(v) + tan(a*v)*erf(b*v) + r*v - c*v + cos(v*s)",
    /* What the function before the bytes computes is needed by both of them. */
    "v = (a*b + a)*(b - 3) + a*a*b; w = $(i8(v)); sin(v)*v - exp(w)*tan(b)",
    /* What is outside of a, and rows that are read where they are beside such that are not. */
    "sin(a)*exp(b) + shift(a, 0, 1)*tan(b) + shift(b, -1, 0, boundary=wrap)*cos(a)",
    "shift(a, 0, 2, boundary=zero)*exp(b) + sin(a)*shift(b, 1, -1, boundary=clamp)*cos(b)",
    "f16(sin(a)*exp(b)) + $(p)*f16(tan(b))*f16(cos(a) + r)",
    "a + sum(sin(a)*exp(b) + tan(r)*s)",
    "exp(a)*sin(b) + a/sqrt(sum(a*a*exp(b)*sin(a), axis=1, keep=true))",
    "exp(a)*sin(b) + a*tan(sum(sin(a)*exp(b)*c, axis=0, keep=true))",
    "sum(sin(a)*b, axis=0)*exp(max(cos(a)*b, axis=0)) + tan(min(exp(b), axis=0)) - "
    "log(sum(a*b, axis=0))*s",
    "$(argmax(sin(a)*exp(b), axis=1)) + max(exp(b)*cos(a), axis=1)*tan(prod(sin(a), axis=1))",
    "sum(sin(z)*z, axis=1) + prod(exp(z)*z, axis=1)",
};
enum { CODES = sizeof codes / sizeof codes[0], TEXT = 400, ARRAYS = 9 };

static weft_array *numbers(weft_shape shape, uint64_t state, weft_dtype dtype)
{
    static const float rare[] = {0, -0.0F, 1e7F, -3e9F, 1e30F, 1e-30F, INFINITY, NAN};
    static float values[2 * ROWS * 300];
    const int64_t count = shape.size[0] * shape.size[1];
    for (int64_t k = 0; k < count; k++) {
        state = state * 6364136223846793005 + 1442695040888963407;
        values[k] = dtype >= WEFT_BOOL && dtype <= WEFT_U64 ? (float)(state >> 57)
                    : state >> 60 == 3                      ? rare[state >> 57 & 7]
                                                            : (float)(state >> 40) * 0x1p-22F - 1;
        if (dtype == WEFT_BOOL)
            values[k] = (float)(state >> 63);
    }
    WEFT_AUTO weft_array *plain = from(values, (size_t)count * sizeof *values, shape, WEFT_F32);
    return plain ? weft_cast(plain, dtype) : NULL;
}

static weft_array *compute(weft__engine engine, const char *text, weft_array *const *arrays)
{
    static const char *const names[] = {"a", "b", "p", "z", "r", "c", "i", "u", "o", "s"};
    const char *used[ARRAYS + 1];
    weft_operand operands[ARRAYS + 1];
    int count = 0;
    const double s = 0.7;
    for (int k = 0; k <= ARRAYS; k++) {
        const char *at = text;
        bool found = false;
        for (; !found && (at = strchr(at, names[k][0])); at++)
            found = (at == text || !strchr("abcdefghijklmnopqrstuvwxyz0123456789", at[-1])) &&
                    (at[1] == '\0' || !strchr("abcdefghijklmnopqrstuvwxyz(0123456789", at[1]));
        if (!found)
            continue;
        used[count] = names[k];
        operands[count++] = k < ARRAYS ? WEFT_OPERAND(arrays[k]) : WEFT_OPERAND(s);
    }
    weft__engine_choose((int)engine);
    weft_device_reset(WEFT_CPU);
    return weft_evaluate_new(text, count, used, operands);
}

static bool same_bits(const char *code, const char *dtype, weft_array *const *arrays)
{
    static char bytes[MOST];
    char text[TEXT];
    write_code(code, dtype, text);
    WEFT_AUTO weft_array *plain = compute(WEFT__ENGINE_INTERPRETER, text, arrays);
    WEFT_AUTO weft_array *quick = compute(WEFT__ENGINE_QUICK, text, arrays);
    return is_same(text, plain, quick, bytes);
}

/* All codes, or every so many. */
static bool check_codes(int64_t width, weft_dtype dtype, weft_dtype complex, int step)
{
    const weft_shape shape = WEFT_SHAPE(ROWS, width);
    WEFT_AUTO weft_array *a = numbers(shape, 1, dtype), *b = numbers(shape, 2, dtype);
    WEFT_AUTO weft_array *p = numbers(shape, 3, WEFT_BOOL), *z = numbers(shape, 4, complex);
    WEFT_AUTO weft_array *r = numbers(WEFT_SHAPE(1, width), 5, dtype);
    WEFT_AUTO weft_array *c = numbers(WEFT_SHAPE(ROWS, 1), 6, dtype);
    WEFT_AUTO weft_array *i = numbers(shape, 7, WEFT_I32), *u = numbers(shape, 8, WEFT_U64);
    WEFT_AUTO weft_array *o = numbers(WEFT_SHAPE(ROWS, 1), 9, WEFT_BOOL);
    weft_array *const arrays[ARRAYS] = {a, b, p, z, r, c, i, u, o};
    CHECK_OR(a && b && p && z && r && c && i && u && o, false);
    for (int k = 0; k < CODES; k += step)
        CHECK_OR(same_bits(codes[k], weft_dtype_name(dtype), arrays), false);
    return true;
}

TEST(same_bits_whatever_is_moved)
{
    NEEDS_LLVM();
    AUTO_ENGINE setting = engine_begin(WEFT__ENGINE_QUICK);
    for (int k = 0; k < 6; k++) {
        CHECK(check_codes(columns[k], WEFT_F32, WEFT_C64, 1));
        CHECK(check_codes(columns[k], WEFT_F64, WEFT_C128, 1));
    }
}

/* Bytes of whole pages. */
static size_t whole_pages(size_t bytes)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return (bytes + page - 1) / page * page;
}

static void unmap(void *bytes, void *data)
{
    const size_t count = *(size_t *)bytes, whole = whole_pages(count);
    (void)munmap((char *)data + count - whole, whole + whole_pages(1));
    free(bytes);
}

/* A copy of an array with nothing that can be read after its last element. */
static weft_array *at_the_end(weft_array *array)
{
    const size_t count = weft_array_bytes(array), whole = whole_pages(count), page = whole_pages(1);
    size_t *context = malloc(sizeof *context);
    char *memory =
        mmap(NULL, whole + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK_OR(context != NULL && memory != MAP_FAILED, NULL);
    CHECK_OR(mprotect(memory + whole, page, PROT_NONE) == 0, NULL);
    *context = count;
    memory += whole - count;
    CHECK_OR(weft_copy_to_host(array, memory, count) == WEFT_OK, NULL);
    return weft_borrow(memory, count, weft_array_shape(array), weft_array_dtype(array),
                       .deleter = unmap, .deleter_context = context);
}

/* Machine code computes whole vectors, and reads nothing beyond what there is. */
TEST(nothing_is_read_after_the_end)
{
    static const weft_dtype dtypes[] = {WEFT_F32, WEFT_F32, WEFT_BOOL, WEFT_C64, WEFT_F32,
                                        WEFT_F32, WEFT_I32, WEFT_U64,  WEFT_BOOL};
    NEEDS_LLVM();
    AUTO_ENGINE setting = engine_begin(WEFT__ENGINE_QUICK);
    for (int k = 0; k < 6; k++) {
        weft_array *arrays[ARRAYS];
        for (int j = 0; j < ARRAYS; j++) {
            const int64_t height = j == 4 ? 1 : ROWS, width = j == 5 || j == 8 ? 1 : columns[k];
            WEFT_AUTO weft_array *plain =
                numbers(WEFT_SHAPE(height, width), (uint64_t)j + 1, dtypes[j]);
            CHECK(plain && (arrays[j] = at_the_end(plain)));
        }
        for (int j = 0; j < CODES; j++)
            CHECK(same_bits(codes[j], "f32", arrays));
        for (int j = 0; j < ARRAYS; j++)
            weft_array_release(arrays[j]);
    }
}

TEST(some_of_them)
{
    NEEDS_LLVM();
    AUTO_ENGINE setting = engine_begin(WEFT__ENGINE_QUICK);
    CHECK(check_codes(5, WEFT_F32, WEFT_C64, 2));
}

TEST_MAIN(TEST_NO_FAULTS(same_bits_whatever_is_moved,
                         "compiles many kernels; some_of_them covers it"),
          TEST_NO_FAULTS(nothing_is_read_after_the_end, "as is the one before"),
          TEST_OF(some_of_them));
