/* Functions that call other functions of Weft's: written out where they are called. */
#include "support/arrays.h"
#include "support/check.h"
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

/* Whether an array is what plain C makes of each i. */
static bool is(weft_array *array, float (*expected)(int))
{
    float values[N];
    if (!array || weft_copy_to_host(array, values, sizeof values) != WEFT_OK)
        return false;
    for (int i = 0; i < N; i++)
        if (values[i] != expected(i))
            return false;
    return true;
}

WEFT_FUNCTION(within, (v, low, high), {
    if (v < low)
        return low;
    else if (v > high)
        return high;
    t = v * 2;
    return t - v;
});
WEFT_FUNCTION(twice, (v), { return 2 * v; });
WEFT_FUNCTION(dot, (a, b), { return sum(a * b); });
WEFT_FUNCTION(axpy, (a, x, y), {
    t = a * x;
    y = t + y;
});
WEFT_FUNCTION(halvings, (n), {
    c = 0;
    while (n > 1) {
        n = n / 2;
        c++;
    }
    return c;
});
WEFT_FUNCTION(find, (x, n, v), {
    for (i = 0; i < n; i++) {
        for (k = 0; k < 2; k++)
            if (x(i) == v)
                return i;
    }
    return -1;
});
WEFT_FUNCTION(add_one, (p), {
    p = p + 1.0;
    deeper(p);
});
WEFT_FUNCTION(deeper, (q), { q = q * 3.0; });

static bool bind(void)
{
    return weft_function_bind("within", &within) == WEFT_OK &&
           weft_function_bind("twice", &twice) == WEFT_OK &&
           weft_function_bind("dot", &dot) == WEFT_OK &&
           weft_function_bind("axpy", &axpy) == WEFT_OK &&
           weft_function_bind("halvings", &halvings) == WEFT_OK &&
           weft_function_bind("find", &find) == WEFT_OK &&
           weft_function_bind("add_one", &add_one) == WEFT_OK &&
           weft_function_bind("deeper", &deeper) == WEFT_OK;
}

/* A loop around calls is one kernel. */
WEFT_FUNCTION(limited, (x, y, n), {
    for (int i = 0; i < n; i++) {
        t = within(twice(x(i)), 3.0f, 12.5f);
        y(i) = t + within(x(i), 2.0f, 4.0f);
    }
});

static float limit(float v, float low, float high) { return v < low ? low : v > high ? high : v; }
static float limited_at(int i) { return limit(2 * (float)i, 3, 12.5f) + limit((float)i, 2, 4); }

TEST(F1_calls_in_loops)
{
    WEFT_AUTO weft_array *x = ramp(), *y = ramp();
    CHECK(x && y && bind());
    CHECK_STATUS(weft_call(limited, NULL, x, y, N), WEFT_OK);
    CHECK(is(y, limited_at));
    const uint64_t before = launches();
    CHECK_STATUS(weft_call(limited, NULL, x, y, N), WEFT_OK);
    CHECK_INT(launches() - before, 1);
}

/* Array statements of functions that are called fuse with their neighbours. */
WEFT_FUNCTION(blended, (x, y), {
    t = x + 1;
    axpy(2, t, y);
    y = y - 1;
    return dot(x, x), dot(t, y) + 1, t;
});

static float blended_at(int i) { return 2 * ((float)i + 1) + (float)i - 1; }
static float above_at(int i) { return (float)i + 1; }

TEST(F1_calls_with_arrays)
{
    WEFT_AUTO weft_array *x = ramp(), *y = ramp();
    weft_array *t = NULL;
    float square = 0, product = 0, squares = 0, products = 1;
    const weft_result results[] = {{&square, WEFT_F32}, {&product, WEFT_F32}, {&t, 0}};
    CHECK(x && y && bind());
    const weft_operand operands[] = {WEFT_OPERAND(x), WEFT_OPERAND(y)};
    const uint64_t before = launches();
    CHECK_STATUS(weft_call_with(&blended, 3, results, 2, operands), WEFT_OK);
    const uint64_t kernels = launches() - before;
    const bool right = is(t, above_at);
    weft_array_release(t);
    CHECK(right && is(y, blended_at));
    for (int i = 0; i < N; i++) {
        squares += (float)(i * i);
        products += ((float)i + 1) * blended_at(i);
    }
    CHECK(square == squares && product == products);
    CHECK_INT(kernels, 3); /* one for the statements, one for each product */
}

/* Numbers are copies, names of the two do not meet, and a call may stand anywhere. */
WEFT_FUNCTION(anywhere, (x, n), {
    t = 5;
    c = 100;
    m = n;
    k = halvings(m);
    s = 0;
    for (i = halvings(4); i < twice(3); i++)
        s += i;
    w = 0;
    while (halvings(w) < 2)
        w++;
    if (halvings(8) == 3)
        s += 1000;
    else
        s += twice(0.5);
    int a = halvings(16), b = twice(a);
    float z(twice(2));
    z(halvings(2)) = 7;
    return k, m, s, w, c, find(x, n, 3), find(x, n, 77), a + b, z(1), t;
});

TEST(F1_calls_anywhere)
{
    static const double expected[] = {3, 10, 2 + 3 + 4 + 5 + 1000, 4, 100, 3, -1, 12, 7, 5};
    enum { RESULTS = sizeof expected / sizeof expected[0] };
    double found[RESULTS] = {0};
    weft_result results[RESULTS];
    WEFT_AUTO weft_array *x = ramp();
    CHECK(x && bind());
    for (int i = 0; i < RESULTS; i++)
        results[i] = (weft_result){&found[i], WEFT_F64};
    const weft_operand operands[] = {WEFT_OPERAND(x), WEFT_OPERAND(N)};
    CHECK_STATUS(weft_call_with(&anywhere, RESULTS, results, 2, operands), WEFT_OK);
    for (int i = 0; i < RESULTS; i++)
        CHECK(found[i] == expected[i]);
}

/* An array that is given is written, whoever has it, and keeps its type. */
WEFT_FUNCTION(given, (x), {
    t = x + 1;
    add_one(t);
    add_one(x);
    n = 4;
    deeper(n);
    return t, n;
});

static float given_at(int i) { return ((float)i + 2) * 3; }
static float own_at(int i) { return ((float)i + 1) * 3; }

TEST(F1_calls_write_arrays)
{
    WEFT_AUTO weft_array *x = ramp();
    weft_array *t = NULL;
    int n = 0;
    const weft_result results[] = {{&t, 0}, {&n, WEFT_I32}};
    CHECK(x && bind());
    CHECK_STATUS(weft_call_with(&given, 2, results, 1, WEFT__OPERANDS(x)), WEFT_OK);
    const bool right = is(t, given_at) && weft_array_dtype(t) == WEFT_F32;
    weft_array_release(t);
    CHECK(right && is(x, own_at));
    CHECK_INT(n, 4);
}

/* A variable of the caller's is no call, whatever is bound. */
WEFT_FUNCTION(shadowed, (dot, n), {
    float twice(2);
    twice(1) = 3;
    for (int i = 0; i < n; i++)
        dot(i) = dot(i) + twice(1);
});

static float shadowed_at(int i) { return (float)i + 3; }

TEST(F1_variables_before_functions)
{
    WEFT_AUTO weft_array *x = ramp();
    CHECK(x && bind());
    CHECK_STATUS(weft_call(shadowed, NULL, x, N), WEFT_OK);
    CHECK(is(x, shadowed_at));
}

/* What is bound to a name may change. */
WEFT_FUNCTION(asks, (v), { return some_function(v); });
WEFT_FUNCTION(thrice, (v), { return 3 * v; });

TEST(F1_binding_again)
{
    int value = 0;
    CHECK(bind());
    CHECK_STATUS(weft_function_bind("some_function", &twice), WEFT_OK);
    CHECK_STATUS(weft_call(asks, &value, 5), WEFT_OK);
    CHECK_INT(value, 10);
    CHECK_STATUS(weft_function_bind("some_function", &thrice), WEFT_OK);
    CHECK_STATUS(weft_call(asks, &value, 5), WEFT_OK);
    CHECK_INT(value, 15);
    CHECK_STATUS(weft_function_bind("some_function", NULL), WEFT_OK);
    CHECK_STATUS(weft_call(asks, &value, 5), WEFT_ERROR_SYNTAX);
    CHECK_STATUS(weft_function_bind("sum", &twice), WEFT_ERROR_ARGUMENT);
    CHECK_STATUS(weft_function_bind("", &twice), WEFT_ERROR_ARGUMENT);
}

/* Names that no text could call. */
TEST(F1_names_to_bind)
{
    static const char *const none[] = {"1a", "a b", "a.b", " a", "a-", "a/**/", "\"a\"", "+"};
    static const char *const words[] = {"for",  "if",  "return", "while", "true",
                                        "void", "int", "f32",    "const", "unsigned"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        CHECK_STATUS(weft_function_bind(none[i], &twice), WEFT_ERROR_ARGUMENT);
        CHECK_ERROR(WEFT_ERROR_ARGUMENT, "letters, digits and _");
        CHECK_STATUS(weft_host_bind(none[i], NULL), WEFT_ERROR_ARGUMENT);
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        CHECK_STATUS(weft_function_bind(words[i], &twice), WEFT_ERROR_ARGUMENT);
        CHECK_ERROR(WEFT_ERROR_ARGUMENT, "is a word of C or a type");
        CHECK_STATUS(weft_host_bind(words[i], NULL), WEFT_ERROR_ARGUMENT);
    }
    CHECK_STATUS(weft_function_bind("_form2", &twice), WEFT_OK);
    CHECK_STATUS(weft_function_bind("_form2", NULL), WEFT_OK);
    CHECK_STATUS(weft_function_bind("größe", NULL), WEFT_OK);
}

/* Errors show the text that is wrong, of whichever function. */
WEFT_FUNCTION(ping, (v), { return pong(v) + 1; });
WEFT_FUNCTION(pong, (v), { return ping(v) - 1; });
WEFT_FUNCTION(silent, (v), { v = v + 1; });
WEFT_FUNCTION(far, (x, k), {
    k = k + 10;
    return x(k);
});
WEFT_FUNCTION(capture, (x), { return x(0) + hidden; });
WEFT_FUNCTION_SERIAL(stepwise, WEFT_SERIAL_HOST, (v), { return v + 1; });
WEFT_FUNCTION(through, (x), { return far(x, 1) + 1; });

static const struct wrong {
    const char *body;
    int status;
    const char *message, *line; /* the line that is shown */
} wrongs[] = {
    {"{ return wrong(x); }", WEFT_ERROR_UNSUPPORTED, "'wrong' calls itself",
     "\n    return wrong(x);\n           ^"},
    {"{ return ping(1); }", WEFT_ERROR_UNSUPPORTED,
     "in 'pong', which it calls: 'ping' is called here by what it calls itself",
     "\n    return ping(v) - 1;\n           ^"},
    {"{ x = 1; dot(x); }", WEFT_ERROR_ARGUMENT,
     "'dot' has 2 parameters, (a, b), and 1 argument is given",
     "\n    x = 1; dot(x);\n           ^"},
    {"{ return dot(); }", WEFT_ERROR_ARGUMENT, "and 0 arguments are given", "return dot();"},
    {"{ return silent(1); }", WEFT_ERROR_ARGUMENT, "'silent' returns no value",
     "return silent(1);"},
    {"{ return stepwise(1); }", WEFT_ERROR_ARGUMENT, "'stepwise' is marked serial",
     "return stepwise(1);"},
    {"{ return far(x, 2); }", WEFT_ERROR_SHAPE,
     "in 'far', called at column 8 of 'wrong': subscript 1 of 'x' is 12; 0 to 9 are possible",
     "\n    k = k + 10; return x(k);\n                         ^"},
    {"{ return through(x); }", WEFT_ERROR_SHAPE,
     "in 'far', called at column 8 of 'through': ", "return x(k);"},
    {"{ hidden = 3; return capture(x); }", WEFT_ERROR_SYNTAX,
     "in 'capture', called at column 20 of 'wrong': unknown name 'hidden'",
     "\n    return x(0) + hidden;\n                  ^"},
    {"{ for (i = 0; i < 3; i = twice(i)) x(i) = 1; }", WEFT_ERROR_UNSUPPORTED,
     "in the step of this loop", "for (i = 0;"},
    {"{ a__1 = twice(2); }", WEFT_ERROR_SYNTAX, "names that end in __ and a number", "a__1"},
    {"{ return twice(2; }", WEFT_ERROR_SYNTAX, "this parenthesis is not closed", "twice(2;"},
    {"{ t = x + 1; if (t(0) > 0) { t = twice(x); }", WEFT_ERROR_SYNTAX, "'}' was expected", "t ="},
    {"{ t = 1 }; t = twice(1); }", WEFT_ERROR_SYNTAX, "';' was expected", "t = 1 };"},
};

TEST(F1_errors_of_calls)
{
    WEFT_AUTO weft_array *x = ramp();
    CHECK(x && bind());
    CHECK_STATUS(weft_function_bind("ping", &ping), WEFT_OK);
    CHECK_STATUS(weft_function_bind("pong", &pong), WEFT_OK);
    CHECK_STATUS(weft_function_bind("silent", &silent), WEFT_OK);
    CHECK_STATUS(weft_function_bind("far", &far), WEFT_OK);
    CHECK_STATUS(weft_function_bind("capture", &capture), WEFT_OK);
    CHECK_STATUS(weft_function_bind("stepwise", &stepwise), WEFT_OK);
    CHECK_STATUS(weft_function_bind("through", &through), WEFT_OK);
    for (size_t i = 0; i < sizeof wrongs / sizeof wrongs[0]; i++) {
        const weft_function f = {.struct_size = sizeof f,
                                 .name = "wrong",
                                 .parameters = "(x)",
                                 .body = wrongs[i].body,
                                 .place = "here"};
        double value = 0;
        CHECK_STATUS(weft_call(f, &value, x), wrongs[i].status);
        CHECK_ERROR(wrongs[i].status, "function 'wrong': ");
        CHECK_ERROR(wrongs[i].status, wrongs[i].message);
        CHECK_ERROR(wrongs[i].status, wrongs[i].line);
    }
}

TEST_MAIN(TEST_OF(F1_calls_in_loops), TEST_OF(F1_calls_with_arrays), TEST_OF(F1_calls_anywhere),
          TEST_OF(F1_calls_write_arrays), TEST_OF(F1_variables_before_functions),
          TEST_OF(F1_binding_again), TEST_OF(F1_names_to_bind), TEST_OF(F1_errors_of_calls));
