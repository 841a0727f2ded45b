/* Statements of functions: variables, control flow, elements, results, host calls, errors. */
#include "support/arrays.h"
#include "support/check.h"
#include "support/gate.h"
#include <math.h>
#include <string.h>
#include <weft/weft.h>

enum { N = 10 };

static weft_array *ramp(void)
{
    float values[N];
    for (int i = 0; i < N; i++)
        values[i] = (float)i;
    return weft_from_host(values, sizeof values, WEFT_SHAPE(N), .device = device());
}

static bool is(weft_array *array, float first, float step)
{
    float values[N];
    if (!array || weft_copy_to_host(array, values, sizeof values) != WEFT_OK)
        return false;
    for (int i = 0; i < N; i++)
        if (values[i] != first + step * (float)i)
            return false;
    return true;
}

WEFT_FUNCTION(flow, (n), {
    s = 0;
    for (i = 0; i < n; i++) {
        if (i % 3 == 0)
            continue;
        if (i > 20)
            break;
        j = 0;
        while (j < i) {
            j += 2;
        }
        s += j;
    }
    return s, i, n / 4, -n % 3, n > 3 && n != 5;
});

TEST(F1_flow)
{
    for (int n = 0; n < 40; n += 3) {
        long s = 0, i;
        for (i = 0; i < n; i++) {
            if (i % 3 == 0)
                continue;
            if (i > 20)
                break;
            long j = 0;
            while (j < i)
                j += 2;
            s += j;
        }
        long a = 0, b = 0, c = 0, d = 0;
        bool e = false;
        const weft_result results[] = {
            {&a, WEFT_I64}, {&b, WEFT_I64}, {&c, WEFT_I64}, {&d, WEFT_I64}, {&e, WEFT_BOOL}};
        CHECK_STATUS(weft_call_with(&flow, 5, results, 1, WEFT__OPERANDS(n)), WEFT_OK);
        CHECK_INT(a, s);
        CHECK_INT(b, i);
        CHECK_INT(c, n / 4);
        CHECK_INT(d, -n % 3);
        CHECK_INT(e, n > 3 && n != 5);
    }
}

WEFT_FUNCTION(arrays, (x, y), {
    t = 2 * x + 1;
    u = t * t;
    y = u - t;
    t = t + y(2);
    x(1) = 7;
    double total = sum(y);
    return t, total, x(1) + x(0);
});

TEST(F1_arrays)
{
    WEFT_AUTO weft_array *x = ramp(), *y = ramp();
    weft_array *t = NULL;
    double total = 0, expected = 0;
    float two = 0, values[N];
    const weft_result results[] = {{&t, 0}, {&total, WEFT_F64}, {&two, WEFT_F32}};
    CHECK(x && y);
    const weft_operand operands[] = {WEFT_OPERAND(x), WEFT_OPERAND(y)};
    CHECK_STATUS(weft_call_with(&arrays, 3, results, 2, operands), WEFT_OK);
    bool right = is(t, 1 + 20, 2); /* y(2) is 25 - 5 */
    right &= weft_device_equal(weft_array_device(t), device());
    weft_array_release(t);
    CHECK(right);
    CHECK_STATUS(weft_copy_to_host(y, values, sizeof values), WEFT_OK);
    for (int i = 0; i < N; i++) {
        float v = 2 * (float)i + 1;
        CHECK(values[i] == v * v - v);
        expected += (double)(v * v - v);
    }
    CHECK(total == expected);
    CHECK(two == 7);
    CHECK_STATUS(weft_copy_to_host(x, values, sizeof values), WEFT_OK);
    CHECK(values[1] == 7 && values[2] == 2);
}

/* A sieve: elements, local arrays, loops that are serial. */
WEFT_FUNCTION(by_element, (x, y), {
    t = 2 * x;
    y = t + 1;
    return t(3);
});

WEFT_FUNCTION(by_loop, (x, y, n), {
    t = 2 * x;
    u = t + 1;
    y = u;
    for (int i = 0; i < n; i++)
        y(i) = t(i) + u(i);
});

WEFT_FUNCTION(by_turn, (x, y), {
    t = 5 * x;
    for (k = 0; k < 3; k++) {
        y = x;
        if (k > 0)
            y(1) = t(1) + y(1);
        t = 2 * x;
        u = t + k;
        y = y + u;
    }
    return y(1);
});

/* What only elements are read of afterwards is stored all the same. */
TEST(F3_fused_and_read_by_element)
{
    WEFT_AUTO weft_array *x = ramp(), *y = ramp();
    float value = 0;
    CHECK(x && y);
    CHECK_STATUS(weft_call(by_element, &value, x, y), WEFT_OK);
    CHECK(value == 6 && is(y, 1, 2));
    CHECK_STATUS(weft_call(by_loop, NULL, x, y, N), WEFT_OK);
    CHECK(is(y, 1, 4));
    CHECK_STATUS(weft_call(by_turn, &value, x, y), WEFT_OK);
    CHECK(value == 1 + 2 + 2 + 2);
}

WEFT_FUNCTION(sieve, (n), {
    int p(n);
    int count = 0;
    for (int i = 2; i < n; i++) {
        if (p(i) == 0) {
            count++;
            for (int j = i * i; j < n; j += i)
                p(j) = 1;
        }
    }
    return count;
});

TEST(F1_local_arrays)
{
    int count = 0;
    CHECK_STATUS(weft_call(sieve, &count, 1000), WEFT_OK);
    CHECK_INT(count, 168);
}

WEFT_FUNCTION(whole, (x, n), {
    float t(n);
    double u(n, 2);
    for (int round = 0; round < 2; round++) {
        t = 2 * x;
        t += 1;
        u = 3;
        u(round, 1) = 7;
    }
    t = t - u(0, 0);
    return t, sum(u);
});

/* A local array that was declared is written as a whole, as a parameter is. */
TEST(F1_local_arrays_as_a_whole)
{
    WEFT_AUTO weft_array *x = ramp();
    weft_array *t = NULL;
    double sum = 0;
    const weft_result results[] = {{&t, WEFT_DTYPE_DEFAULT}, {&sum, WEFT_F64}};
    CHECK(x);
    CHECK_STATUS(weft_call_with(&whole, 2, results, 2, WEFT__OPERANDS(x, N)), WEFT_OK);
    bool right = is(t, -2, 2) && weft_array_dtype(t) == WEFT_F32;
    weft_array_release(t);
    CHECK(right);
    CHECK(sum == 3 * 2 * N + 4);
    CHECK(is(x, 0, 1));
}

WEFT_FUNCTION(between, (x, y, n), {
    float t(n);
    for (int i = 0; i < n; i++) {
        if (x(i) > 4)
            continue;
        y(i) = 1;
    }
    for (int i = 0; i < n; i++) {
        if (x(i) < 2)
            continue;
        y(i) = y(i) + 10;
    }
    t = 2 * x;
    for (int i = 0; i < n; i++)
        y(i) = y(i) + t(i);
});

/* Loops that are one kernel have jumps of their own, and arrays are assigned in their turn. */
TEST(F1_arrays_between_loops)
{
    WEFT_AUTO weft_array *x = ramp(), *y = weft_zeros_like(x);
    float actual[N];
    CHECK(x && y);
    CHECK_STATUS(weft_call(between, NULL, x, y, N), WEFT_OK);
    CHECK_STATUS(weft_copy_to_host(y, actual, sizeof actual), WEFT_OK);
    for (int i = 0; i < N; i++)
        CHECK(actual[i] == (float)((i <= 4) + 10 * (i >= 2) + 2 * i));
}

WEFT_FUNCTION(typed, (x, n), {
    float third = 1.0f / 3;
    int cut = 7.9;
    unsigned char small = 300;
    double wide = third;
    x = third * x;
    untyped = 0.1;
    x(0) = untyped;
    return cut, small, wide, untyped + n;
});

/* semantics: Functions / Variables */
TEST(F1_types)
{
    WEFT_AUTO weft_array *x = ramp();
    int cut = 0, small = 0;
    double wide = 0, sum = 0;
    float values[N];
    const weft_result results[] = {
        {&cut, WEFT_I32}, {&small, WEFT_I32}, {&wide, WEFT_F64}, {&sum, WEFT_F64}};
    CHECK(x);
    const weft_operand operands[] = {WEFT_OPERAND(x), WEFT_OPERAND(2.5)};
    CHECK_STATUS(weft_call_with(&typed, 4, results, 2, operands), WEFT_OK);
    CHECK_INT(cut, 7);
    CHECK_INT(small, 300 & 255);
    CHECK(wide == (double)(1.0f / 3));
    CHECK(sum == 0.1 + 2.5);
    CHECK_STATUS(weft_copy_to_host(x, values, sizeof values), WEFT_OK);
    CHECK(values[0] == 0.1f && values[5] == (1.0f / 3) * 5);
}

WEFT_FUNCTION(of_elements, (y, n, m), {
    sum = y(0) + y(1) + y(2);
    product = y(0) * 10;
    difference = y(0) - y(1);
    opposite = -y(0);
    half = y(0) / 2.0;
    less = 0;
    if (y(0) - y(1) < 0)
        less += 1;
    if (y(0) < n)
        less += 2;
    y(1) = n;
    y(2) += m;
    return sum, product, difference, opposite, half, less;
});

/* Elements are C's numbers wherever they are.
 * semantics: Functions / Integers and bool */
TEST(F1_elements_alone)
{
    static const weft_dtype dtypes[] = {WEFT_U8,  WEFT_I8,  WEFT_U16, WEFT_I16,
                                        WEFT_I32, WEFT_U32, WEFT_I64, WEFT_U64};
    for (size_t k = 0; k < sizeof dtypes / sizeof dtypes[0]; k++) {
        WEFT_AUTO weft_array *y = weft_arange(98, 101, 1, .dtype = dtypes[k], .device = device());
        int sum = 0, product = 0, difference = 0, opposite = 0, less = 0;
        double half = 0, one = 0, two = 0;
        const weft_result results[] = {{&sum, WEFT_I32},        {&product, WEFT_I32},
                                       {&difference, WEFT_I32}, {&opposite, WEFT_I32},
                                       {&half, WEFT_F64},       {&less, WEFT_I32}};
        const weft_operand operands[] = {WEFT_OPERAND(y), WEFT_OPERAND(300), WEFT_OPERAND(-1)};
        CHECK(y);
        CHECK_STATUS(weft_call_with(&of_elements, 6, results, 3, operands), WEFT_OK);
        CHECK_INT(sum, 297);
        CHECK_INT(product, 980);
        CHECK_INT(difference, -1);
        CHECK_INT(opposite, -98);
        CHECK(half == 49);
        CHECK_INT(less, dtypes[k] == WEFT_U64 ? 2 : 3); /* 98 - 99 of u64 is large */
        WEFT_AUTO weft_array *first = weft_slice(y, WEFT_AT(1)),
                             *second = weft_slice(y, WEFT_AT(2));
        CHECK_STATUS(weft_item(first, &one), WEFT_OK);
        CHECK_STATUS(weft_item(second, &two), WEFT_OK);
        CHECK(one == (weft_dtype_size(dtypes[k]) == 1 ? 44 : 300) && two == 99);
    }
}

/* Host functions. */
static weft_status negate(int count, const weft_operand *arguments, void *context)
{
    float *data = weft_array_data(arguments[0].value.array);
    *(int *)context += 1;
    for (int i = 0; i < N; i++)
        data[i] = count == 2 ? (float)arguments[1].value.i : -data[i];
    return WEFT_OK;
}

static weft_status fail(int count, const weft_operand *arguments, void *context)
{
    (void)count, (void)arguments, (void)context;
    return weft_error_set(WEFT_ERROR_CALLBACK, "the host function does not want to");
}

WEFT_FUNCTION(hosts, (x), {
    for (i = 0; i < 3; i++) {
        x = x + 1;
        negate(x);
    }
    local = x * 2;
    set_all(local, 4);
    return local;
});
WEFT_FUNCTION(failing, (x), {
    x = x + 1;
    refuse(x);
    x = x + 1;
});

/* semantics: Functions / Order */
TEST(F5_host_calls)
{
    WEFT_AUTO weft_array *x = ramp();
    weft_array *local = NULL;
    int calls = 0;
    CHECK(x);
    CHECK_STATUS(weft_host_bind("negate", negate, .context = &calls), WEFT_OK);
    CHECK_STATUS(weft_host_bind("set_all", negate, .access = "write", .context = &calls), WEFT_OK);
    CHECK_STATUS(weft_host_bind("refuse", fail), WEFT_OK);
    CHECK_STATUS(weft_call(hosts, &local, x), WEFT_OK);
    bool right = is(local, 4, 0);
    weft_array_release(local);
    CHECK(right);
    CHECK(is(x, -1, -1)); /* -(-(-(x + 1) + 1) + 1) */
    CHECK_INT(calls, 4);
    CHECK_STATUS(weft_call(failing, NULL, x), WEFT_ERROR_CALLBACK);
    CHECK_ERROR(WEFT_ERROR_CALLBACK, "does not want to");
}

/* Errors show the body with a caret. */
static const struct wrong {
    const char *parameters, *body;
    int status;
    const char *message;
} wrongs[] = {
    {"(x)", "{ x = sine(x); }", WEFT_ERROR_SYNTAX, "did you mean 'sin'"},
    {"(x)", "{ x = x + q; }", WEFT_ERROR_SYNTAX, "unknown name 'q'"},
    {"(x)", "{ t = x + later; later = 1; }", WEFT_ERROR_ARGUMENT,
     "'later' is read before it is set"},
    {"(x)", "{ for (i = 0; i < 3; i++ { } }", WEFT_ERROR_SYNTAX, "')' was expected"},
    {"(x)", "{ if (x(0) > 1) x = 1; else }", WEFT_ERROR_SYNTAX, "a statement was expected"},
    {"(x)", "{ x(10) = 1; }", WEFT_ERROR_SHAPE, "subscript 1 of 'x' is 10; 0 to 9 are possible"},
    {"(x)", "{ x(1, 2) = 1; }", WEFT_ERROR_SHAPE, "2 subscripts are given for 'x'"},
    {"(x)", "{ x(0.5) = 1; }", WEFT_ERROR_UNSUPPORTED, "a subscript of 'x' is made of integers"},
    {"(x)", "{ for (i = 0; i < 20; i++) x(i) = 0; }", WEFT_ERROR_SHAPE, "subscript 1 of 'x' is 10"},
    {"(x)", "{ nobody(x); }", WEFT_ERROR_ARGUMENT, "no host function is called 'nobody'"},
    {"(x)", "{ wrong(x); }", WEFT_ERROR_UNSUPPORTED, "recursion is not possible"},
    {"(x, y)", "{ x = y; }", WEFT_ERROR_ARGUMENT,
     "it has 2 parameters, (x, y), and 1 argument was"},
    {"(x x)", "{ x = 1; }", WEFT_ERROR_SYNTAX, "names with commas between"},
    {"(x, x)", "{ x = 1; }", WEFT_ERROR_SYNTAX, "parameter 'x' is there twice"},
    {"(x)", "{ break; }", WEFT_ERROR_SYNTAX, "'break' is not in a loop"},
    {"(x)", "{ float x = 1; }", WEFT_ERROR_SYNTAX, "'x' is a parameter and cannot be declared"},
    {"(x)", "{ int a = 1; float a = 2; }", WEFT_ERROR_SYNTAX, "'a' was declared as i32 before"},
    {"(x)", "{ x = i32(x); }", WEFT_ERROR_DTYPE, "'x' is f32 and the value is i32"},
    {"(x)", "{ if (x > 1) x = 1; }", WEFT_ERROR_SHAPE, "a number is expected"},
    {"(x)", "{ float t(3); t = x; }", WEFT_ERROR_SHAPE, ""},
    {"(x)", "{ int t(10); t = x; }", WEFT_ERROR_DTYPE, "'t' is i32 and the value is f32"},
    {"(x)", "{ for (i = 0; i < 10; i++) x(i) = x(i*i); }", WEFT_ERROR_SHAPE,
     "subscript 1 of 'x' is 16"},
    {"(x)", "{ a = 1; a(0) = 2; }", WEFT_ERROR_ARGUMENT, "'a' is a number and has no elements"},
    {"(x)", "{ float t(0); t(0) = 2; }", WEFT_ERROR_SHAPE, "is 0, and that axis has no elements"},
    {"(x)", "{ a = 2; b = sum(a + 1); }", WEFT_ERROR_UNSUPPORTED, "give it a whole array"},
    {"(x)", "{ x(1 = 3; }", WEFT_ERROR_SYNTAX, "')' was expected, not ';'"},
    {"(x)", "{ do { x(0) = 1; } while (0); }", WEFT_ERROR_SYNTAX, "there is no 'do'; write while"},
};

WEFT_FUNCTION(waiting, (x), {
    x = x + 1;
    negate(x);
});

/* What a host function waits for is a hidden wait. */
TEST(E3_host_calls_wait)
{
    AUTO_STREAM stream = weft_stream_new(device(), .async = true);
    AUTO_GATE gate = GATE;
    WEFT_AUTO weft_array *x = ramp();
    int calls = 0;
    CHECK(stream && x);
    CHECK_STATUS(weft_host_bind("negate", negate, .context = &calls), WEFT_OK);
    CHECK_STATUS(hold(stream, &gate), WEFT_OK);
    CHECK_STATUS(weft_stream_set_current(device(), stream), WEFT_OK);
    const bool before = weft_waits_forbid(true);
    const weft_status refused = weft_call(waiting, NULL, x);
    weft_waits_forbid(before);
    gate_open(&gate);
    const weft_status status = weft_call(waiting, NULL, x);
    weft_stream_set_current(device(), NULL);
    CHECK_STATUS(refused, WEFT_ERROR_WAIT);
    CHECK_STATUS(status, WEFT_OK);
    CHECK_INT(calls, 1);
}

TEST(F1_errors)
{
    WEFT_AUTO weft_array *x = ramp();
    CHECK(x);
    for (size_t i = 0; i < sizeof wrongs / sizeof wrongs[0]; i++) {
        const weft_function f = {.struct_size = sizeof f,
                                 .name = "wrong",
                                 .parameters = wrongs[i].parameters,
                                 .body = wrongs[i].body,
                                 .place = "here"};
        CHECK_STATUS(weft_call(f, NULL, x), wrongs[i].status);
        CHECK_ERROR(wrongs[i].status, "function 'wrong': ");
        CHECK_ERROR(wrongs[i].status, wrongs[i].message);
    }
}

WEFT_FUNCTION(none, (x), { x = x + 1; });

TEST(F1_results)
{
    WEFT_AUTO weft_array *x = ramp();
    weft_array *array = NULL;
    double number = 0;
    CHECK(x);
    CHECK_STATUS(weft_call(none, &number, x), WEFT_ERROR_ARGUMENT);
    CHECK_ERROR(WEFT_ERROR_ARGUMENT, "the function returned none");
    const char *body = strstr(weft_error_message(), "x = x + 1");
    CHECK(body && !strstr(body + 1, "x = x + 1"));
    CHECK_STATUS(weft_call(sieve, &array, 10), WEFT_ERROR_ARGUMENT);
    CHECK_ERROR(WEFT_ERROR_ARGUMENT, "result 1 is a number");
    CHECK(!array);
    CHECK_STATUS(weft_call_with(NULL, 0, NULL, 0, NULL), WEFT_ERROR_ARGUMENT);
    uint16_t half[9] = {0};
    for (int32_t dtype = -1; dtype <= WEFT_DTYPE_END; dtype++) {
        const weft_result result = {half, dtype};
        if (dtype == -1 || dtype == WEFT_F16 || dtype == WEFT_BF16 || dtype == WEFT_DTYPE_END)
            CHECK_STATUS(weft_call_with(&sieve, 1, &result, 1, WEFT__OPERANDS(10)),
                         WEFT_ERROR_DTYPE);
    }
}

/* A serial function in a device context. */
WEFT_FUNCTION_SERIAL(serial, WEFT_SERIAL_ERROR, (x), {
    for (int i = 0; i < 10; i++)
        x(i) = x(i) + 1;
});
WEFT_FUNCTION_SERIAL(serial_ignored, WEFT_SERIAL_IGNORE, (x), {
    for (int i = 0; i < 10; i++)
        x(i) = x(i) + 1;
});
WEFT_FUNCTION_SERIAL(serial_host, WEFT_SERIAL_HOST, (x), {
    for (int i = 0; i < 10; i++)
        x(i) = x(i) + 1;
});

TEST(F4_serial)
{
    float values[N] = {0};
    WEFT_AUTO weft_array *x = weft_borrow(values, sizeof values, WEFT_SHAPE(N), WEFT_F32);
    weft_statistics before, after;
    CHECK(x);
    CHECK_STATUS(weft_call(serial, NULL, x), WEFT_OK);
    CHECK(values[3] == 1);
    WEFT_ON(device());
    CHECK_STATUS(weft_call(serial, NULL, x), WEFT_ERROR_ARGUMENT);
    CHECK_ERROR(WEFT_ERROR_ARGUMENT, "and was called in a device context");
    CHECK(values[3] == 1);
    CHECK_STATUS(weft_call(serial_ignored, NULL, x), WEFT_OK);
    CHECK(values[3] == 2);
    CHECK_STATUS(weft_memory_stats(device(), &before), WEFT_OK);
    CHECK_STATUS(weft_call(serial_host, NULL, x), WEFT_OK);
    CHECK_STATUS(weft_memory_stats(device(), &after), WEFT_OK);
    CHECK(values[3] == 3);
    CHECK_INT(after.launches - before.launches, 0);
    CHECK_INT(after.copies_to_device - before.copies_to_device, 0);
}

/* Arguments that share memory are right in a device context too. */
WEFT_FUNCTION(overlapping, (x, y), {
    y = x + 1;
    x = y * 2;
});

TEST(F5_overlap)
{
    float values[N + 1], expected[N + 1];
    for (int i = 0; i <= N; i++)
        values[i] = expected[i] = (float)i;
    WEFT_AUTO weft_array *x = weft_borrow(values, N * 4, WEFT_SHAPE(N), WEFT_F32);
    WEFT_AUTO weft_array *y = weft_borrow(values + 1, N * 4, WEFT_SHAPE(N), WEFT_F32);
    CHECK(x && y);
    {
        WEFT_ON(device());
        CHECK_STATUS(weft_call(overlapping, NULL, x, y), WEFT_OK);
    }
    for (int i = N; i > 0; i--)
        expected[i] = expected[i - 1] + 1;
    float right[N + 1];
    memcpy(right, expected, sizeof right);
    for (int i = 0; i < N; i++)
        right[i] = expected[i + 1] * 2;
    CHECK_BITS(values, right, sizeof right);
}

WEFT_FUNCTION(counted, (x), {
    for (int i = 0; i < 10; i++)
        x(i) = x(i) + 1;
});

TEST(F7_explain)
{
    WEFT_AUTO weft_array *x = ramp();
    char *text = NULL;
    CHECK(x);
    CHECK_STATUS(weft_call(counted, NULL, x), WEFT_OK);
    CHECK_STATUS(weft_function_explain(&text, &sieve), WEFT_OK);
    bool right = strstr(text, "): serial: a statement in it is not one") != NULL ||
                 strstr(text, "): serial: there is a loop beside other statements") != NULL ||
                 strstr(text, "): perhaps parallel") != NULL; /* not called yet */
    weft_explain_free(text);
    CHECK(right);
    CHECK_STATUS(weft_function_explain(&text, &counted), WEFT_OK);
    right = strstr(text, "for (int i = 0; i < 10): parallel") && strstr(text, "1 kernel") != NULL;
    weft_explain_free(text);
    CHECK(right);
    CHECK_STATUS(weft_call(overlapping, NULL, x, x), WEFT_OK);
    CHECK_STATUS(weft_function_explain(&text, &overlapping), WEFT_OK);
    right = strstr(text, "the next 2 statements are fused") != NULL;
    weft_explain_free(text);
    CHECK(right);
}

TEST_MAIN(TEST_OF(F1_flow), TEST_OF(F1_arrays), TEST_OF(F3_fused_and_read_by_element),
          TEST_OF(F1_local_arrays), TEST_OF(F1_local_arrays_as_a_whole),
          TEST_OF(F1_arrays_between_loops), TEST_OF(F1_types), TEST_OF(F1_elements_alone),
          TEST_OF(F5_host_calls), TEST_OF(E3_host_calls_wait), TEST_OF(F1_errors),
          TEST_OF(F1_results), TEST_OF(F4_serial), TEST_OF(F5_overlap), TEST_OF(F7_explain));
