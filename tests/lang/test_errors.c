/* Error messages: what they say, the line they show, and where the caret stands. */
#include "support/check.h"

#include "programs.h"

struct error_case {
    const char *code, *operands;
    weft_status status;
    const char *part; /* of the message */
    const char
        *caret; /* what the caret points at: the code from there on begins with this; NULL: none */
};

/* The line that is shown and the column of the caret; false if the message has no caret. */
static bool find_caret(const char *message, const char **at)
{
    const char *line = strchr(message, '\n'), *caret = line ? strchr(line + 1, '\n') : NULL;
    if (!caret || strlen(caret) < 6 || caret[strlen(caret) - 1] != '^')
        return false;
    *at = line + 5 + (strlen(caret) - 6);
    return true;
}

static void check_error(const struct error_case *c, bool wants_value)
{
    AUTO_PROGRAM program = NULL;
    const char *at = "";
    weft_error_clear();
    CHECK_STATUS(compile(c->code, c->operands, wants_value, &program), c->status);
    CHECK(!program);
    CHECK_ERROR(c->status, c->part);
    bool caret = find_caret(weft_error_message(), &at);
    if (caret != (c->caret != NULL) || (caret && strncmp(at, c->caret, strlen(c->caret))))
        printf("%s\n", weft_error_message());
    CHECK_INT(caret, c->caret != NULL);
    if (caret)
        CHECK(!strncmp(at, c->caret, strlen(c->caret)));
}

#define SYNTAX WEFT_ERROR_SYNTAX

TEST(X2_the_message_as_a_whole)
{
    AUTO_PROGRAM program = NULL;
    CHECK_STATUS(compile("c = a + bb", "a, b, c", false, &program), SYNTAX);
    CHECK_STR(weft_error_message(), "weft: unknown name 'bb'; did you mean 'b'?\n"
                                    "    c = a + bb\n"
                                    "            ^");
    CHECK_STATUS(compile("c = a;\n\tc = c *\n c", "a, d, c", false, &program), SYNTAX);
    CHECK_STR(weft_error_message(), "weft: operand 2, 'd', is never used\n"
                                    "    c = a;");
    CHECK_STATUS(compile("c = a;\n\tc += $\n", "a, c", false, &program), SYNTAX);
    CHECK_STR(weft_error_message(),
              "weft: unknown name '$'; what is read is set before, a parameter, or an operand: "
              "arrays and C numbers are named after the code\n"
              "     c += $\n"
              "          ^");
}

TEST(X2_grammar)
{
    static const struct error_case cases[] = {
        {"c = ", "c", SYNTAX, "a value was expected before the end", ""},
        {"c = a +", "a, c", SYNTAX, "a value was expected before the end", ""},
        {"c = (a", "a, c", SYNTAX, "an operator or ')' was expected before the end", ""},
        {"c = (a\r\n", "a, c", SYNTAX, "an operator or ')' was expected before the end", " \n"},
        {"c = a\n  + \n", "a, c", SYNTAX, "a value was expected before the end", " \n"},
        {"c = a)", "a, c", SYNTAX, "an operator or ';' was expected, not ')'", ")"},
        {"c = a b", "a, b, c", SYNTAX, "an operator or ';' was expected, not 'b'", "b"},
        {"c = a ** b", "a, b, c", SYNTAX, "a value was expected, not '*'", "* b"},
        {"c = m ? a", "m, a, c", SYNTAX, "':' and another value was expected", ""},
        {"c = a : b", "a, b, c", SYNTAX, "':' without a '?'", ": b"},
        {"c = a++", "a, c", SYNTAX, "there is no '++'", "++"},
        {"c = --a", "a, c", SYNTAX, "there is no '--'", "--a"},
        {"c = a @ b", "a, b, c", SYNTAX, "not part of the language: '@'", "@ b"},
        {"c = a /* b", "a, c", SYNTAX, "the comment is not closed", "/* b"},
        {"c = \"a\"", "c", SYNTAX, "a value was expected, not '\"a\"'", "\"a\""},
        {"c = 1x", "c", SYNTAX, "'1x': this is no number", "1x"},
        {"c = 089", "c", SYNTAX, "octal", "089"},
        {"c = 1f", "c", SYNTAX, "needs a point", "1f"},
        {"c = {a}", "a, c", SYNTAX, "a value was expected, not '{'", "{a}"},
        {"; c = a", "a, c", SYNTAX, "a value was expected, not ';'", "; c"},
        {"a + b = c", "a, b, c", SYNTAX, "left of '=' stands an expression", "= c"},
        {"c = d = a", "a, c, d", SYNTAX, "an operator or ';' was expected, not '='", "= a"},
        {"c == a", "a, c", SYNTAX, "did you mean '='?", "== a"},
        {"a + b", "a, b", SYNTAX, "goes nowhere", "a + b"},
        {"a + b; c = a", "a, b, c", SYNTAX, "goes nowhere", "a + b"},
        {"", "", SYNTAX, "empty, or assigns to no operand", NULL},
        {"", "a", SYNTAX, "empty, or assigns to no operand", NULL},
        {"c = a, b", "a, b, c", SYNTAX, "an operator or ';' was expected, not ','", ", b"},
        {"c = (a, b)", "a, b, c", SYNTAX, "an operator or ')' was expected, not ','", ", b"},
        {"c = float(a)", "a, c", SYNTAX, "a cast is written f32(x)", "float"},
        {"c = double(a)", "a, c", SYNTAX, "a cast is written f64(x)", "double"},
        {"c = a**2", "a, c", SYNTAX, "a value was expected, not '*'; a power is pow(x, y)", "*2"},
        {"c = a^2", "a, c", WEFT_ERROR_DTYPE, "not f32; a power is pow(x, y)", "^2"},
        {"c = unsigned char(a)", "a, c", SYNTAX,
         "'unsigned char' is a type of C; a cast is written u8(x)", "unsigned"},
        {"c = (long long*)a", "a, c", SYNTAX, "a cast is written i64(x)", "long"},
        {"c = (f32)a", "a, c", SYNTAX, "'f32' is a dtype; a cast is written f32(x)", "f32"},
        {"c = (unsigned float)a", "a, c", SYNTAX, "unsigned", "unsigned"},
        {"return = a", "a", SYNTAX, "has a meaning of its own", "return"},
        {"if (a) c = a", "a, c", SYNTAX, "'if' has a meaning", "if"},
        {"c = a and b", "a, b, c", SYNTAX, "not 'and'; both is x && y", "and"},
        {"c = a or b", "a, b, c", SYNTAX, "not 'or'; either is x || y", "or"},
        {"c = a if a > b else b", "a, b, c", SYNTAX, "not 'if'; where(", "if"},
        {"c = not(a > b)", "a, b, c", SYNTAX, "the opposite is !x", "not"},
        {"c = np.sum(a)", "a, c", SYNTAX, "plain names, as sum(a)", "np"},
        {"c = a*np.pi", "a, c", SYNTAX, "plain names, as sum(a) and pi", "np"},
        {"c = a.sum()", "a, c", SYNTAX, "a function stands before what it is of", "a.sum"},
        {"c = a.T", "a, c", SYNTAX, "made with weft_transpose", "a.T"},
        {"c = sum a", "a, c", SYNTAX, "'sum' is a function, whose arguments", "sum"},
        {"c = a // b", "a, b, c", SYNTAX, "what follows // is a comment", NULL},
        {"c = sum(a, axis=[0,1])", "a, c", SYNTAX, "or several in parentheses", "[0"},
        {"c = a + i", "a, c", SYNTAX, "unknown name 'i'; what is read is", "i"},
        {"c = len*a; len = 3", "a, c", SYNTAX, "'len' is read before it is set", "len"},
        {"c = sum(a)/len(a)", "a, c", SYNTAX, "mean(a)", "len"},
        {"for (a) c = a", "a, c", SYNTAX,
         "'for' has a meaning of its own in C and is not possible "
         "here; the code is computed for each element",
         "for"},
        {"c = normal(0, 1)", "a, c", SYNTAX, "weft_random_normal", "normal"},
        {"c = erfc(a)", "a, c", SYNTAX, "1 - erf(x)", "erfc"},
        {"c = nansum(a)", "a, c", SYNTAX, "sum(where(isnan(x), 0, x))", "nansum"},
        {"c = roll(a, 1)", "a, c", SYNTAX, "shift(a, -1, boundary=wrap)", "roll"},
        {"c = fmaxf(a, b)", "a, b, c", SYNTAX, "unknown function 'fmaxf'; max(x, y) is", "fmaxf"},
        {"c = rint(a)", "a, c", SYNTAX, "it is round(x)", "rint"},
        {"c = p.nim", "p.nin, c", SYNTAX, "did you mean 'p.nin'?", "p.nim"},
        {"c = w.T", "w.Tx, c", SYNTAX, "did you mean 'w.Tx'?", "w.T"},
        {"c = np.y", "np.x, c", SYNTAX, "did you mean 'np.x'?", "np.y"},
        {"c = len", "Len, c", SYNTAX, "did you mean 'Len'?", "len"},
        {"c = a + a[0", "a, c", SYNTAX, "a bracket that begins after 'a' is not closed", "a["},
        {"c = a /* x // y */ + 1", "a, b, c", SYNTAX, "operand 2, 'b', is never used", NULL},
        {"c = M_PI*a", "a, c", SYNTAX, "here it is pi", "M_PI"},
        {"c = a + 1j", "a, c", SYNTAX, "i of imaginary ones", "1j"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        check_error(&cases[i], false);
}

TEST(X2_values_that_are_asked_for)
{
    static const struct error_case cases[] = {
        {"c = a", "a, c", SYNTAX, "the last statement must be an expression", "c = a"},
        {"a; b", "a, b", SYNTAX, "only the last statement may be a value", "a; b"},
        {"", "", SYNTAX, "the last statement must be an expression", NULL},
        {"a == b = c", "a, b, c", SYNTAX, "left of '='", "= c"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        check_error(&cases[i], true);
}

TEST(X2_names)
{
    static const struct error_case cases[] = {
        {"cc = a*b; c = a", "a, b, c", SYNTAX, "never read; did you mean 'c'?", "cc"},
        {"reslut = a; result = a", "a, result", SYNTAX, "did you mean 'result'?", "reslut"},
        {"h = a; c = b", "a, b, c", SYNTAX, "'h' is no operand, and as a local it is never read",
         "h"},
        {"h = a; h = b; c = h", "a, b, c", SYNTAX, "never read", "h = a"},
        {"c = h; h = a", "a, c", SYNTAX, "'h' is read before it is set", "h; h"},
        {"c = h + 1", "c", SYNTAX, "unknown name 'h'; what is read is set before, a parameter",
         "h + 1"},
        {"code", "c", SYNTAX, "weft_evaluate", "code"},
        {"c = if (a) a", "a, c", SYNTAX, "where(condition, x, y) chooses", "if"},
        {"c = float32(a)", "a, c", SYNTAX, "a type of NumPy; a cast is written f32(x)", "float32"},
        {"c = complex128(a)", "a, c", SYNTAX, "a cast is written c128(x)", "complex128"},
        {"c = a[3]", "a, c", SYNTAX, "is an operand of its own, made with weft_slice", "a[3]"},
        {"c = a[3]", "a[2], c", SYNTAX, "did you mean 'a[2]'?", "a[3]"},
        {"h += a; c = h", "a, c", SYNTAX, "unknown name 'h'", "h += a"},
        {"c = A", "a, c", SYNTAX, "did you mean 'a'?", "A"},
        {"c = snu(a)", "a, c", SYNTAX, "unknown function 'snu'", "snu"},
        {"c = sinn(a)", "a, c", SYNTAX, "unknown function 'sinn'; did you mean 'sin'?", "sinn"},
        {"c = lapalcian(a)", "a, c", SYNTAX, "did you mean 'laplacian'?", "lapalcian"},
        {"c = add(a, a)", "a, c", SYNTAX, "unknown function 'add'", "add"},
        {"c = f31(a)", "a, c", SYNTAX, "did you mean 'f32'?", "f31"},
        {"h = a; c = h(1)", "a, c", SYNTAX, "'h' is a local, not a function", "h(1)"},
        {"c = s->w", "s->u, c", SYNTAX, "unknown name 's->w'; did you mean 's->u'?", "s->w"},
        {"c = a", "a, b, c", SYNTAX, "operand 2, 'b', is never used", NULL},
        {"c = a", "a, c, a", SYNTAX, "operands 1 and 3 are both 'a'", NULL},
        {"c = s->u", "s->u, s -> u, c", SYNTAX, "operands 1 and 2 are both", NULL},
        {"c = a", "a, c, (b", SYNTAX, "a bracket is not closed", ""},
        {"c = a", "a, c, b]", SYNTAX, "this bracket was not opened", "]"},
        {"c = a", "a, c, x = 3", SYNTAX, "an operand is one expression", "= 3"},
        {"c = a", "a, c, ", SYNTAX, "the text is empty", NULL},
        {"pi = a; c = pi", "a, c", SYNTAX, "'pi' is a constant", "pi"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        check_error(&cases[i], false);
}

TEST(X2_calls)
{
    static const struct error_case cases[] = {
        {"c = sin()", "c", SYNTAX, "sin takes 1 argument; 0 were given", "sin"},
        {"c = sin(a, a)", "a, c", SYNTAX, "sin takes 1 argument; 2 were given", "sin"},
        {"c = pow(a)", "a, c", SYNTAX, "pow takes 2 arguments; 1 was given", "pow"},
        {"c = min()", "c", SYNTAX, "min takes 1 argument; 0 were given", "min"},
        {"c = sin(a", "a, c", SYNTAX, "an operator, ',' or ')' was expected before the end", ""},
        {"c = sin(a,)", "a, c", SYNTAX, "a value was expected, not ')'", ")"},
        {"c = sin(a; b)", "a, b, c", SYNTAX, "an operator, ',' or ')' was expected, not ';'",
         "; b"},
        {"c = sum(a, axes=1)", "a, c", SYNTAX, "no argument named 'axes'; did you mean 'axis'?",
         "axes"},
        {"c = sin(a, axis=1)", "a, c", SYNTAX, "sin has no argument named 'axis'", "axis"},
        {"c = sum(a, order=1)", "a, c", SYNTAX,
         "sum has no argument named 'order'; there are: axis, keep", "order"},
        {"c = sum(a, 1)", "a, c", SYNTAX, "2 were given (an axis is named: axis=0)", "sum"},
        {"c = sum(a, axis=n)", "a, n, c", SYNTAX, "an integer constant was expected, not 'n'",
         "n)"},
        {"c = sum(a, axis=1.5)", "a, c", SYNTAX, "an integer from -8 to 7", "1.5"},
        {"c = sum(a, axis=8)", "a, c", SYNTAX, "an integer from -8 to 7", "8"},
        {"c = sum(a, axis=(0, 1)", "a, c", SYNTAX, "',' or ')' was expected before the end", ""},
        {"c = sum(a, axis=())", "a, c", SYNTAX, "an integer constant was expected", "))"},
        {"c = sum(a, keep=maybe)", "a, c", SYNTAX, "true or false was expected", "maybe"},
        {"c = sum(axis=0, a)", "a, c", SYNTAX, "another argument with a name was expected", "a)"},
        {"c = sum(axis=0)", "c", SYNTAX, "sum takes 1 argument; 0 were given", "sum"},
        {"c = sum(a, axis=0 1)", "a, c", SYNTAX, "',' or ')' was expected, not '1'", "1)"},
        {"c = min(a, 2, axis=0)", "a, c", SYNTAX, "axis and keep go with min of one array", "min"},
        {"c = shift(a)", "a, c", SYNTAX, "shift takes 2 to 9 arguments; 1 was given", "shift"},
        {"c = shift(a + 1, 1)", "a, c", SYNTAX, "is an operand, not an expression", "shift"},
        {"h = a; c = shift(h, 1)", "a, c", SYNTAX, "is an operand, not an expression", "shift"},
        {"c = shift(a, n)", "a, n, c", SYNTAX, "argument 2 of shift must be an integer", "n)"},
        {"c = shift(a, 1.0)", "a, c", SYNTAX, "argument 2 of shift must be an integer", "1.0"},
        {"c = shift(a, 1, boundary=mirror)", "a, c", SYNTAX, "unshifted, clamp, wrap or zero",
         "mirror"},
        {"c = index(a)", "a, c", SYNTAX, "argument 1 of index must be an integer", "a)"},
        {"c = f32(a, a)", "a, c", SYNTAX, "an operator or ')' was expected, not ','", ", a"},
        {"c = norm(a, order=3)", "a, c", SYNTAX, "1, 2 or inf was expected", "3"},
        {"c = norm(a, order=1, order=2)", "a, c", SYNTAX, "norm takes order once", "order=2"},
        {"c = sum(a, keep=true, axis=1, keep=false)", "a, c", SYNTAX, "takes keep once", "keep=f"},
        {"c = shift(a, 1, boundary=wrap, value=3)", "a, c", SYNTAX,
         "shift takes one of boundary and value once", "value"},
        {"c = sum(a, axis=0, axis=1)", "a, c", SYNTAX, "sum takes axis once", "axis=1"},
        {"c = shift(a, 1, value=3, value=4)", "a, c", SYNTAX, "once", "value=4"},
        {"c = shift(a, 2147483648)", "a, c", SYNTAX, "of less than 2^31", "2147483648"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        check_error(&cases[i], false);
}

TEST(X2_types_and_shapes)
{
    static const struct error_case cases[] = {
        {"c = a + i", "a, i, c", WEFT_ERROR_DTYPE, "'+': f32 and i32 have no common dtype", "+ i"},
        {"i += 1.5", "i", WEFT_ERROR_DTYPE, "'+=': an untyped floating-point number does not",
         "+="},
        {"c = a % 2", "a, c", WEFT_ERROR_DTYPE, "'%' is for integers, not f32; use fmod", "% 2"},
        {"c = f32(sin(i))", "i, c", WEFT_ERROR_DTYPE, "'sin' is for floating-point or", "sin"},
        {"m = z < z", "m, z", WEFT_ERROR_DTYPE, "not c64; use abs", "< z"},
        {"i = a", "i, a", WEFT_ERROR_DTYPE, "'i' is i32 and the value is f32; cast it, as in i32",
         "i ="},
        {"u = 1; u = 300", "u", WEFT_ERROR_DTYPE, "300 does not fit into u8", "300"},
        {"u = u - -5", "u", WEFT_ERROR_DTYPE, "-5 does not fit into u8", "-5"},
        {"u = u + 256", "u", WEFT_ERROR_DTYPE, "as in i64(a), or cut the number, as in u8(256)",
         "256"},
        {"u = u + 18446744073709551615", "u", WEFT_ERROR_DTYPE, "as in u64(a)", "184"},
        {"c = where(a, a, a)", "a, c", WEFT_ERROR_DTYPE, "condition of where is bool", "where"},
        {"c = where(0 < a < 1, a, 0)", "a, c", WEFT_ERROR_DTYPE, "low < x && x < high", "< 1"},
        {"c = mean(i)", "i, c", WEFT_ERROR_DTYPE, "mean is for floating-point", "mean"},
        {"c = a + four", "a, four, c", WEFT_ERROR_SHAPE, "(2, 3) and (4,) do not go", "+ four"},
        {"c = cube", "cube, c", WEFT_ERROR_SHAPE, "(4, 2, 3) does not fit into 'c'", "c ="},
        {"c = sum(a, axis=2)", "a, c", WEFT_ERROR_SHAPE, "axis 2 is out of range", "2)"},
        {"c = f32(index(2))", "c", WEFT_ERROR_SHAPE, "whose shape is (2, 3)", "index"},
        {"n = a", "n, a", WEFT_ERROR_ARGUMENT, "'n' is a C number and cannot be assigned", "n ="},
        {"k += a", "k, a", WEFT_ERROR_ARGUMENT, "'k' is a const array", "k +="},
        {"c = new + a", "new, a, c", WEFT_ERROR_ARGUMENT, "'new' has no memory yet", "new"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        check_error(&cases[i], false);
}

/* A long line is cut around the column; the caret still points at the right place. */
TEST(X2_long_lines_are_cut)
{
    char code[4000];
    for (int at = 0; at < 1500; at += 7) {
        AUTO_PROGRAM program = NULL;
        const char *found = "";
        int length = snprintf(code, sizeof code, "c = ");
        while (length < 4 + at)
            code[length++] = ' ';
        length += snprintf(code + length, sizeof code - (size_t)length, "wrong");
        for (int i = 0; i < 300; i++)
            length += snprintf(code + length, sizeof code - (size_t)length, " + c");
        CHECK_STATUS(compile(code, "c", false, &program), SYNTAX);
        CHECK_ERROR(SYNTAX, "unknown name 'wrong'");
        CHECK_ERROR(SYNTAX, "…");
        /* dots at the front are three bytes and one column */
        bool dots = strstr(weft_error_message(), "\n    …") != NULL;
        CHECK(find_caret(weft_error_message(), &found));
        CHECK(!strncmp(found + (dots ? 2 : 0), "wrong", 5));
        CHECK(strlen(weft_error_message()) < 600);
    }
}

TEST(X2_bytes_that_are_no_text)
{
    static const struct {
        const char *code;
        size_t length;
        const char *part;
    } cases[] = {
        {"c = \xff + a", 9, "    c = \\xff + a\n        ^"},
        {"c = a\0 + a", 10, "    c = a\\x00 + a\n         ^"},
        {"c = \x01", 5, "\\x01"},
        {"c = a \xe2\x82", 8, "    c = a \\xe2\\x82\n          ^"},
        {"c = \xce\xb1\xce\xb2 a", 10, "    c = \xce\xb1\xce\xb2 a\n        ^"},
        {"c = a + \xce\xb1 + ?", 14, "    c = a + \xce\xb1 + ?\n            ^"},
        {"c = a /*\xce\xb1*/ + ?", 16, "    c = a /*\xce\xb1*/ + ?\n                  ^"},
        {"c = a /*\xff*/ + ?", 15, "    c = a /*\\xff*/ + ?\n                     ^"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        AUTO_PROGRAM program = NULL;
        CHECK_STATUS(compile_bytes(cases[i].code, cases[i].length, "a, c", false, &program),
                     SYNTAX);
        CHECK_ERROR(SYNTAX, cases[i].part);
    }
}

TEST(X2_the_operation_stays_the_callers)
{
    AUTO_PROGRAM program = NULL;
    CHECK_STATUS(compile("c = a + i", "a, i, c", false, &program), WEFT_ERROR_DTYPE);
    CHECK(!strstr(weft_error_message(), "weft_dtype_promote"));
    CHECK(!strstr(weft_error_last()->operation, "promote"));
}

TEST(X2_wrong_arguments)
{
    weft__lang_syntax *syntax = NULL;
    weft__lang_name null = {NULL, 0};
    CHECK_STATUS(weft__lang_parse(NULL, 0, NULL, 0, false, &syntax), WEFT_ERROR_ARGUMENT);
    CHECK_STATUS(weft__lang_parse("a", 1, NULL, 1, true, &syntax), WEFT_ERROR_ARGUMENT);
    CHECK_STATUS(weft__lang_parse("a", 1, &null, 1, true, &syntax), WEFT_ERROR_ARGUMENT);
    CHECK_STATUS(weft__lang_parse("a", 1, &null, 257, true, &syntax), WEFT_ERROR_ARGUMENT);
    CHECK_STATUS(weft__lang_parse("a", 1, &null, -1, true, &syntax), WEFT_ERROR_ARGUMENT);
    CHECK(!syntax);
}

TEST_MAIN(TEST_OF(X2_the_message_as_a_whole), TEST_OF(X2_grammar),
          TEST_OF(X2_values_that_are_asked_for), TEST_OF(X2_names), TEST_OF(X2_calls),
          TEST_OF(X2_types_and_shapes), TEST_OF(X2_long_lines_are_cut),
          TEST_OF(X2_bytes_that_are_no_text), TEST_OF(X2_the_operation_stays_the_callers),
          TEST_OF(X2_wrong_arguments));
