/* Serial loops, compiled and interpreted, against the same loops in plain C. */
#include "codegen/llvm.h"
#include "function/open.h"
#include "kernel/engine.h"
#include "support/arrays.h"
#include "support/check.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <weft/weft.h>

enum { N = 3000, BINS = 37 };

/* The arrays of all loops. */
typedef struct data {
    float x[N], y[N];
    double z[N];
    int32_t k[N];
    uint8_t b[N];
    int64_t h[BINS];
    double s;
} data;

static void fill(data *d)
{
    memset(d, 0, sizeof *d);
    for (int i = 0; i < N; i++) {
        d->x[i] = (float)((i * 37) % 101) / 16 - 2;
        d->y[i] = (float)((i * 53) % 97) / 8 - 5;
        d->z[i] = (i * 29) % 83 / 7.0;
        d->k[i] = (int32_t)((uint32_t)i * 2654435761U >> 8);
        d->b[i] = (uint8_t)(i * 7);
    }
    d->x[5] = NAN;
    d->y[8] = -INFINITY;
}

#define PARAMETERS "(x, y, z, k, b, h, n)"

static void recurrence(data *d)
{
    for (int i = 1; i < N; i++)
        d->x[i] = 0.5f * d->x[i - 1] + d->y[i];
}

static void histogram(data *d)
{
    for (int i = 0; i < N; i++)
        d->h[d->k[i] % BINS] += 1;
}

static void weighted(data *d)
{
    for (int i = 0; i < N; i++)
        d->x[d->b[i]] += d->y[i] * 0.125f;
}

static void filter(data *d)
{
    float s = 0.25f;
    double t = 1;
    int count = 0;
    for (int i = 0; i < N; i++) {
        if (d->y[i] > 4.0f)
            continue;
        s = s * 0.75f + d->y[i];
        if (s > 3.0f) {
            count++;
            s = s - 1.5f;
        } else
            t = t * 0.5 + (double)s;
        d->z[i] = t;
        d->b[i] = (uint8_t)(d->b[i] + count);
        if (count > 700)
            break;
    }
    d->s = t + count;
}

static void wrapped(data *d)
{
    for (int i = 1; i < N; i++) {
        d->k[i] = (int32_t)((uint32_t)d->k[i - 1] * 31U + (uint32_t)d->k[i]);
        d->b[i] = (uint8_t)(d->b[i - 1] + 3 * d->b[i]);
    }
}

static void collatz(data *d)
{
    long total = 0;
    for (int i = 1; i < N; i++) {
        long m = i, steps = 0;
        while (m != 1) {
            m = m % 2 == 0 ? m / 2 : 3 * m + 1;
            steps++;
        }
        total += steps;
        d->k[i] = (int32_t)(steps + d->k[i - 1] / 2);
    }
    d->s = (double)total;
}

static void sorted(data *d)
{
    for (int i = 1; i < 200; i++) {
        float v = d->y[i];
        int j = i - 1;
        for (; j >= 0; j--) {
            if (d->y[j] <= v)
                break;
            d->y[j + 1] = d->y[j];
        }
        d->y[j + 1] = v;
    }
}

static const struct loop {
    weft_function function;
    void (*oracle)(data *);
    bool compiled;
} loops[] = {
#define LOOP(name, compiled, text)                                                                 \
    {{sizeof(weft_function),                                                                       \
      #name,                                                                                       \
      PARAMETERS,                                                                                  \
      text,                                                                                        \
      "here",                                                                                      \
      {sizeof(weft_function_options), false, WEFT_SERIAL_ERROR, WEFT_OFFLOAD_AUTO}},               \
     name,                                                                                         \
     compiled},
    LOOP(recurrence, true, "{ for (int i = 1; i < n; i++) x(i) = 0.5f*x(i - 1) + y(i); }") LOOP(
        histogram, false, "{ for (int i = 0; i < n; i++) h(k(i) % 37) += 1; }")
        LOOP(weighted, true, "{ for (int i = 0; i < n; i++) x(b(i)) += y(i)*0.125f; }") LOOP(
            filter, true,
            "{ float s = 0.25f; double t = 1; int count = 0;"
            "for (int i = 0; i < n; i++) { if (y(i) > 4.0f) continue; s = s*0.75f + y(i);"
            "if (s > 3.0f) { count++; s = s - 1.5f; } else t = t*0.5 + s;"
            "z(i) = t; b(i) = b(i) + count; if (count > 700) break; } return t + count; }")
            LOOP(wrapped, true,
                 "{ for (int i = 1; i < n; i++) { k(i) = k(i - 1)*31 + k(i); b(i) = b(i - 1) + "
                 "3*b(i); } }")
                LOOP(collatz, true,
                     "{ int total = 0; for (int i = 1; i < n; i++) { long m = i; long steps = 0;"
                     "while (m != 1) { if (m % 2 == 0) m = m/2; else m = 3*m + 1; steps++; }"
                     "total += steps; k(i) = steps + k(i - 1)/2; } return total; }")
                    LOOP(sorted, true,
                         "{ for (int i = 1; i < 200; i++) { float v = y(i); int j = i - 1;"
                         "for (j = i - 1; j >= 0; j--) { if (y(j) <= v) break; y(j + 1) = y(j); } "
                         "y(j + 1) = v; } }")};

static weft_status call(const weft_function *f, data *d, int n, bool *compiled)
{
    WEFT_AUTO weft_array *x = weft_borrow(d->x, sizeof d->x, WEFT_SHAPE(N), WEFT_F32);
    WEFT_AUTO weft_array *y = weft_borrow(d->y, sizeof d->y, WEFT_SHAPE(N), WEFT_F32);
    WEFT_AUTO weft_array *z = weft_borrow(d->z, sizeof d->z, WEFT_SHAPE(N), WEFT_F64);
    WEFT_AUTO weft_array *k = weft_borrow(d->k, sizeof d->k, WEFT_SHAPE(N), WEFT_I32);
    WEFT_AUTO weft_array *b = weft_borrow(d->b, sizeof d->b, WEFT_SHAPE(N), WEFT_U8);
    WEFT_AUTO weft_array *h = weft_borrow(d->h, sizeof d->h, WEFT_SHAPE(BINS), WEFT_I64);
    weft__function *opened;
    bool returns = strstr(f->body, "return") != NULL;
    if (!x || !y || !z || !k || !b || !h)
        return weft_error_code();
    weft_status status = weft_call(*f, returns ? &d->s : NULL, x, y, z, k, b, h, n);
    weft_error saved = *weft_error_last();
    if (weft__function_find(f, &opened) == WEFT_OK)
        *compiled = opened->totals[WEFT__DID_COMPILED] > 0;
    if (status != WEFT_OK)
        weft_error_set(saved.code, saved.message);
    return status;
}

static void check_loop(const struct loop *loop, weft__engine engine)
{
    data actual, expected;
    bool compiled = false;
    fill(&expected);
    fill(&actual);
    loop->oracle(&expected);
    weft__engine_choose((int)engine);
    if (!loop->compiled && engine == WEFT__ENGINE_LLVM && weft__llvm_open() != WEFT_OK) {
        weft__engine_choose(-1); /* it is a kernel, which has no other engine then */
        return;
    }
    weft_status status = call(&loop->function, &actual, N, &compiled);
    weft__engine_choose(-1);
    if (status != WEFT_OK && !test_faults())
        fprintf(stderr, "%s: %s\n", loop->function.name, weft_error_message());
    CHECK_STATUS(status, WEFT_OK);
    if (memcmp(&actual, &expected, sizeof actual) != 0)
        fprintf(stderr, "%s differs from C (%s)\n", loop->function.name,
                compiled ? "compiled" : "interpreted");
    CHECK_BITS(&actual, &expected, sizeof actual);
    CHECK(compiled == (engine == WEFT__ENGINE_LLVM && loop->compiled) || test_faults() ||
          weft__engine_is_missing());
}

/* semantics: Functions / Loops; Points, memory and order / A scatter */
TEST(F3_serial_loops)
{
    if (test_faults()) { /* compiling takes its time */
        check_loop(&loops[0], WEFT__ENGINE_LLVM);
        return;
    }
    for (size_t i = 0; i < sizeof loops / sizeof loops[0]; i++) {
        check_loop(&loops[i], WEFT__ENGINE_INTERPRETER);
        check_loop(&loops[i], WEFT__ENGINE_LLVM);
        check_loop(&loops[i], WEFT__ENGINE_LLVM);
    }
}

/* A subscript that leaves its array is an error with its place, and what came before it is done. */
TEST(F3_serial_failures)
{
    static const struct {
        const char *body, *message;
        int n;
    } wrongs[] = {
        {"{ for (int i = 1; i < n + 5; i++) x(i) = 0.5f*x(i - 1) + 1; }",
         "subscript 1 of 'x' is 3000; 0 to 2999 are possible", N},
        {"{ float s = 0; for (int i = 1; i < n; i++) { s = s*0.5f + x(i); y(i) = s; x(k(i)) = s; } "
         "}",
         "subscript 1 of 'x' is", N},
        {"{ int m = 0; while (y(m) < 1e30f) { x(m) = x(0) + 1; m = m + 1; } }",
         "subscript 1 of 'y' is 3000", N},
    };
    for (size_t i = 0; i < (test_faults() ? 1 : sizeof wrongs / sizeof wrongs[0]); i++) {
        data results[2];
        for (int engine = 0; engine < 2; engine++) {
            const weft_function f = {.struct_size = sizeof f,
                                     .name = "wrong",
                                     .parameters = PARAMETERS,
                                     .body = wrongs[i].body,
                                     .place = "here"};
            bool compiled = false;
            fill(&results[engine]);
            weft__engine_choose(engine && !test_faults() ? WEFT__ENGINE_LLVM
                                                         : WEFT__ENGINE_INTERPRETER);
            weft_status status = call(&f, &results[engine], wrongs[i].n, &compiled);
            weft__engine_choose(-1);
            CHECK_STATUS(status, WEFT_ERROR_SHAPE);
            CHECK_ERROR(WEFT_ERROR_SHAPE, wrongs[i].message);
        }
        CHECK_BITS(&results[0], &results[1], sizeof results[0]);
    }
}

TEST_MAIN(TEST_OF(F3_serial_loops), TEST_OF(F3_serial_failures));
