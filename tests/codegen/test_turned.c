/* Turned operands in the texts for GPUs, run by whatever device there is, against the CPU, bit by
 * bit: whole squares, ends of some, rows that are aligned and launches of the same text whose
 * arrays begin between vectors. All of the memory around what is written stays as it is. */
#include "codegen/texts.h"
#include "support/arrays.h"
#include "support/random.h"

#include <stdio.h>

enum { MOST = 1 << 16, SIZE_MOST = 16, OPERANDS = 5, A = 0, B = 1, D = 2, V = 3, C = 4 };

typedef struct trial {
    const char *code; /* to C, of A, of B and D, which are turned, and of V, of one column */
    weft_dtype dtype, results;
    weft_shape shape;
    bool backwards; /* B and D have all their axes in another order, else the last two */
} trial;

static const char *const names[OPERANDS] = {"A", "B", "D", "V", "C"};

static bool is_turned(int which) { return which == B || which == D; }

static weft_axes axes_of(const trial *t, int which)
{
    const int ndim = t->shape.ndim;
    weft_axes axes = {.count = ndim};
    for (int k = 0; k < ndim; k++)
        axes.axis[k] = !is_turned(which) ? k
                       : t->backwards    ? ndim - 1 - k
                       : k < ndim - 2    ? k
                                         : 2 * ndim - 3 - k;
    return axes;
}

/* Rows have room for some elements more, and all begin at a multiple of 16. */
static weft_shape memory_of(const trial *t, int which)
{
    const weft_axes axes = axes_of(t, which);
    weft_shape shape = t->shape;
    for (int k = 0; k < shape.ndim; k++)
        shape.size[axes.axis[k]] = which == V && k == shape.ndim - 1 ? 1 : t->shape.size[k];
    shape.size[shape.ndim - 1] = (shape.size[shape.ndim - 1] + 16) / 16 * 16;
    return shape;
}

/* What an operand sees of its memory. */
static weft_array *view_of(const trial *t, int which, weft_array *memory, bool odd)
{
    const weft_axes axes = axes_of(t, which);
    const int last = t->shape.ndim - 1;
    weft_range ranges[WEFT_NDIM_MAX];
    for (int k = 0; k <= last; k++) {
        const int64_t size = which == V && k == last ? 1 : t->shape.size[k];
        const int64_t begin = odd && axes.axis[k] == last;
        ranges[k] = WEFT_RANGE(begin, begin + size);
    }
    WEFT_AUTO weft_array *permuted = weft_permute(memory, axes);
    WEFT_AUTO weft_array *slice = permuted ? weft_slice_with(permuted, last + 1, ranges) : NULL;
    return slice ? weft_broadcast(slice, t->shape) : NULL;
}

static int64_t bytes_of(const trial *t, int which)
{
    int64_t count = 0;
    CHECK_OR(weft_shape_count(memory_of(t, which), &count) == WEFT_OK && count <= MOST, 0);
    return count * (int64_t)weft_dtype_size(which == C ? t->results : t->dtype);
}

/* Computes where `odd` says with a bit for each operand that it begins one element later, and
 * brings back all of the memory that C lies in. */
static weft_status compute(const trial *t, char data[][SIZE_MOST * MOST], int odd,
                           weft_device device, char *to)
{
    weft_array *memory[OPERANDS] = {0}, *views[OPERANDS] = {0};
    weft_operand operands[OPERANDS];
    const char *given[OPERANDS];
    int count = 0;
    weft_status status = WEFT_OK;
    for (int k = 0; k < OPERANDS && status == WEFT_OK; k++) {
        if (!strchr(t->code, names[k][0]))
            continue;
        memory[k] = weft_from_host(data[k], (size_t)bytes_of(t, k), memory_of(t, k),
                                   .dtype = k == C ? t->results : t->dtype, .device = device);
        views[k] = memory[k] ? view_of(t, k, memory[k], odd >> k & 1) : NULL;
        status = views[k] ? WEFT_OK : weft_error_code();
        given[count] = names[k];
        operands[count++] = WEFT_OPERAND(views[k]);
    }
    if (status == WEFT_OK)
        status = weft_evaluate(t->code, count, given, operands);
    if (status == WEFT_OK)
        status = weft_copy_to_host(memory[C], to, (size_t)bytes_of(t, C));
    for (int k = 0; k < OPERANDS; k++) {
        weft_array_release(views[k]);
        weft_array_release(memory[k]);
    }
    return status;
}

/* Small numbers, some of them large, of a type or as bits. */
static void fill(char *data, weft_dtype dtype, int64_t bytes)
{
    const bool real = dtype == WEFT_F32 || dtype == WEFT_F64 || dtype == WEFT_C64;
    const size_t each = !real ? weft_dtype_size(dtype) : dtype == WEFT_F64 ? 8 : 4;
    for (int64_t at = 0; at < bytes; at += (int64_t)each) {
        const uint64_t bits = random_bits();
        const double d = (double)(int64_t)(bits % 2001) * (bits % 97 == 0 ? 1e7 : 1e-3) - 1;
        const float f = (float)d;
        const uint16_t half = (uint16_t)(0x3000 + bits % 0x1000);
        memcpy(data + at,
               real                ? each == 8 ? (const void *)&d : (const void *)&f
               : dtype == WEFT_F16 ? (const void *)&half
                                   : (const void *)&bits,
               each);
    }
}

/* All aligned at first, then not: what is computed again there has the same text. */
static const int odds[] = {0, 1 << A, 1 << B, 1 << C, 1 << D | 1 << V, 31, 0};
enum { ODDS = sizeof odds / sizeof *odds };

static bool compute_all(const trial *t, char data[][SIZE_MOST * MOST], weft_device device,
                        char results[][SIZE_MOST * MOST])
{
    for (int k = 0; k < ODDS; k++) {
        const weft_status status = compute(t, data, odds[k], device, results[k]);
        if (status != WEFT_OK)
            fprintf(stderr, "%s: %s\n", t->code, weft_error_message());
        CHECK_OR(status == WEFT_OK, false);
    }
    return true;
}

static bool is_same(const void *given)
{
    const trial *t = given;
    static char data[OPERANDS][SIZE_MOST * MOST], expected[ODDS][SIZE_MOST * MOST],
        actual[ODDS][SIZE_MOST * MOST];
    bool same = true;
    for (int k = 0; k < OPERANDS; k++)
        fill(data[k], k == C ? t->results : t->dtype, bytes_of(t, k));
    CHECK_OR(compute_all(t, data, weft_device_named("cpu"), expected), false);
    CHECK_OR(compute_all(t, data, text_device(), actual), false);
    for (int k = 0; k < ODDS && same; k++) {
        same = memcmp(actual[k], expected[k], (size_t)bytes_of(t, C)) == 0;
        if (!same)
            fprintf(stderr, "%s of %s, %lld by %lld, odd %x\n", t->code, weft_dtype_name(t->dtype),
                    (long long)t->shape.size[t->shape.ndim - 2],
                    (long long)t->shape.size[t->shape.ndim - 1], (unsigned)odds[k]);
    }
    return same;
}

/* Squares that are whole, that end after a vector, and that end within one. */
TEST(squares)
{
    static const trial trials[] = {
        {"C = A + B", WEFT_F32, WEFT_F32, {2, {128, 192}}, false},
        {"C = A - B", WEFT_F32, WEFT_F32, {2, {100, 76}}, false},
        {"C = A*B", WEFT_F32, WEFT_F32, {2, {99, 131}}, false},
        {"C = B", WEFT_F32, WEFT_F32, {2, {16, 200}}, false},
        {"C = B - A", WEFT_F32, WEFT_F32, {2, {200, 18}}, false},
        {"C = A + B", WEFT_F32, WEFT_F32, {3, {3, 70, 66}}, false},
        {"C = A - B", WEFT_F32, WEFT_F32, {3, {68, 5, 72}}, true},
    };
    CHECK_ALL(trials);
}

/* Vectors of other elements, and of several sizes at once. */
TEST(types)
{
    static const trial trials[] = {
        {"C = A + B", WEFT_F16, WEFT_F16, {2, {136, 72}}, false},
        {"C = A ^ B", WEFT_U8, WEFT_U8, {2, {80, 150}}, false},
        {"C = A - B", WEFT_F64, WEFT_F64, {2, {66, 70}}, false},
        {"C = B", WEFT_I16, WEFT_I16, {2, {65, 128}}, false},
        {"C = A*B", WEFT_C64, WEFT_C64, {2, {34, 97}}, false},
        {"C = A + B", WEFT_C128, WEFT_C128, {2, {40, 33}}, false},
        {"C = A < B", WEFT_F32, WEFT_BOOL, {2, {72, 68}}, false},
        {"C = f64(B)", WEFT_F16, WEFT_F64, {2, {70, 90}}, false},
        {"C = i32(A) + i32(B)", WEFT_I8, WEFT_I32, {2, {67, 64}}, false},
        {"C = i8(A - B)", WEFT_I64, WEFT_I8, {2, {48, 50}}, false},
    };
    CHECK_ALL(trials);
}

/* More than one that is turned, one column for all, what there was before, positions, neighbours,
 * and branches that few need. */
TEST(codes)
{
    static const trial trials[] = {
        {"C = A*B - D", WEFT_F32, WEFT_F32, {2, {72, 100}}, false},
        {"C = A + B*V", WEFT_F32, WEFT_F32, {2, {96, 68}}, false},
        {"C += B", WEFT_F32, WEFT_F32, {2, {64, 130}}, false},
        {"C = B*f32(index(0)) - f32(index(1))", WEFT_F32, WEFT_F32, {2, {68, 132}}, false},
        {"C = A + shift(B, 0, 1)", WEFT_F32, WEFT_F32, {2, {64, 68}}, false},
        {"C = sin(B)", WEFT_F32, WEFT_F32, {2, {64, 76}}, false},
        {"C = sin(A) + B*D", WEFT_F64, WEFT_F64, {3, {2, 36, 64}}, false},
        {"C = where(A > B, sin(D), V)", WEFT_F32, WEFT_F32, {3, {33, 3, 64}}, true},
        {"C = B*D + V", WEFT_F16, WEFT_F16, {2, {48, 104}}, false},
    };
    CHECK_ALL(trials);
}

#define LONG "compiles very many kernels"
TEST_MAIN(TEST_NO_FAULTS(squares, LONG), TEST_NO_FAULTS(types, LONG), TEST_NO_FAULTS(codes, LONG));
