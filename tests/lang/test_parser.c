/* The parser: statements, precedence against an evaluator of its own, operands of several tokens.
 */
#include "support/check.h"

#include <stdlib.h>

#include "programs.h"
#include "support/reference.h"

struct program_case {
    const char *code, *operands, *expected;
};

static void check_programs(const struct program_case *cases, size_t count, bool wants_value)
{
    for (size_t i = 0; i < count; i++) {
        AUTO_PROGRAM program = NULL;
        CHECK_STATUS(compile(cases[i].code, cases[i].operands, wants_value, &program), WEFT_OK);
        CHECK_STR(print_program(program).text, cases[i].expected);
    }
}

#define CHECK_PROGRAMS(cases, wants_value)                                                         \
    check_programs(cases, sizeof(cases) / sizeof(cases)[0], wants_value)

TEST(X1_statements)
{
    static const struct program_case cases[] = {
        {"c = a", "a, c", "$1 = $0"},
        {"c = a;", "a, c", "$1 = $0"},
        {"c += 1.0f/a + 2.0f*a*b", "a, b, c",
         "$2 = add($2, add(divide(1:f32, $0), multiply(multiply(2:f32, $0), $1)))"},
        {"c -= a", "a, c", "$1 = subtract($1, $0)"},
        {"c *= a", "a, c", "$1 = multiply($1, $0)"},
        {"c /= a", "a, c", "$1 = divide($1, $0)"},
        {"i %= j", "i, j", "$0 = modulo($0, $1)"},
        {"i &= j", "i, j", "$0 = bitwise_and($0, $1)"},
        {"i |= j", "i, j", "$0 = bitwise_or($0, $1)"},
        {"i ^= j", "i, j", "$0 = bitwise_xor($0, $1)"},
        {"i <<= j", "i, j", "$0 = shift_left($0, $1)"},
        {"i >>= j", "i, j", "$0 = shift_right($0, $1)"},
        {"h = a*b; c = h + 1; d = h - 1", "a, b, c, d",
         "$2 = add(multiply($0, $1), 1:f32); $3 = subtract(multiply($0, $1), 1:f32)"},
        {"h = a; h = h*2; h += 1; c = h", "a, c", "$1 = add(multiply($0, 2:f32), 1:f32)"},
        {"c = a; d = c + c", "a, c, d", "$1 = $0; $2 = add($0, $0)"},
        {"h = a; a = b; c = h", "a, b, c", "$0 = $1; $2 = $0"},
        {"c = 1; d = c", "c, d", "$0 = broadcast(1:f32); $1 = broadcast(1:f32)"},
        {"c = a /* x */ // y\n + b", "a, b, c", "$2 = add($0, $1)"},
    };
    CHECK_PROGRAMS(cases, false);
}

TEST(X2_values)
{
    static const struct program_case cases[] = {
        {"a + b", "a, b", "add($0, $1)"},
        {"h = a*a; h + 1", "a", "add(multiply($0, $0), 1:f32)"},
        {"b = a*2; b + 1;", "a, b", "$1 = multiply($0, 2:f32); add(multiply($0, 2:f32), 1:f32)"},
        {"1 + 2", "", "add(1, 2)"},
        {"-3", "", "-3"},
        {"-(3.5)", "", "-3.5"},
        {"- -3", "", "3"},
        {"-9223372036854775808", "", "-9.2233720368547758e+18"},
        {"-1u", "", "negative(1:u32)"},
        {"h = 2; -h * a", "a", "multiply(f32(negative(2)), $0)"},
        {"+a", "a", "$0"},
        {"+true", "", "1"},
        {"+(1 < 2)", "", "i64(less(1, 2))"},
        {"!m", "m", "bitwise_not($0)"},
        {"~i", "i", "bitwise_not($0)"},
        {"a > b", "a, b", "less($1, $0)"},
        {"a >= b", "a, b", "less_equal($1, $0)"},
        {"a && b", "a, b", "bitwise_and(bool($0), bool($1))"},
        {"m || a", "m, a", "bitwise_or($0, bool($1))"},
        {"m ? a : b", "m, a, b", "where($0, $1, $2)"},
        {"a ? a : 0", "a", "where(bool($0), $0, 0:f32)"},
        {"m ? a : m ? b : 1", "m, a, b", "where($0, $1, where($0, $2, 1:f32))"},
        {"m ? m ? a : b : 1", "m, a, b", "where($0, where($0, $1, $2), 1:f32)"},
        {"m ? a + 1 : b * 2", "m, a, b", "where($0, add($1, 1:f32), multiply($2, 2:f32))"},
        {"where(a >= b, a - b, b - a)", "a, b",
         "where(less_equal($1, $0), subtract($0, $1), subtract($1, $0))"},
        {"min(a, b, 2)", "a, b", "minimum(minimum($0, $1), 2:f32)"},
        {"max(a, b)", "a, b", "maximum($0, $1)"},
        {"f64(a)", "a", "f64($0)"},
        {"f32(a)", "a", "$0"},
        {"f16(a16)", "a16", "f16($0)"},
        {"u8(300)", "", "u8(300)"},
        {"f32(2)", "", "2:f32"},
        {"i64(2)", "", "2:i64"},
        {"i32(2.5)", "", "i32(2.5)"},
        {"c64(a) + 2.0i", "a", "add(c64($0), 0+2i:c64)"},
        {"a + pi", "a", "add($0, 3.1415926535897931:f32)"},
        {"where(true, a, inf)", "a", "where(1, $0, inf:f32)"},
        {"fma(a, b, 1)", "a, b", "fma($0, $1, 1:f32)"},
    };
    CHECK_PROGRAMS(cases, true);
}

TEST(X3_stencils)
{
    static const struct program_case cases[] = {
        {"shift(a, 1)", "a", "shift($0, 1, 0, unshifted)"},
        {"shift(a, 0, -1)", "a", "shift($0, 0, -1, unshifted)"},
        {"shift(a, +1, boundary=clamp)", "a", "shift($0, 1, 0, clamp)"},
        {"shift(a, 1, boundary=wrap)", "a", "shift($0, 1, 0, wrap)"},
        {"shift(a, 1, boundary=zero)", "a", "shift($0, 0:f32, 1, 0, constant)"},
        {"shift(a, 1, value=2*n)", "a, n", "shift($0, f32(multiply(2, $1)), 1, 0, constant)"},
        {"forward_diff(a, 1)", "a", "subtract(shift($0, 0, 1, unshifted), $0)"},
        {"back_diff(a, -2)", "a", "subtract($0, shift($0, -1, 0, unshifted))"},
        {"laplacian(row)", "row",
         "subtract(subtract(multiply(2:f32, $0), shift($0, 1, unshifted)), shift($0, -1, "
         "unshifted))"},
        {"a = shift(a, 1) - a; a", "a",
         "$0 = subtract(shift($0, 1, 0, unshifted), $0); subtract(shift($0, 1, 0, unshifted), $0)"},
        {"a = b; shift(a, 1)", "a, b", "$0 = $1; shift($1, 1, 0, unshifted)"},
        {"laplacian(i)", "i",
         "subtract(subtract(subtract(subtract(multiply(4:i32, $0), shift($0, 1, 0, unshifted)), "
         "shift($0, -1, 0, unshifted)), shift($0, 0, 1, unshifted)), shift($0, 0, -1, unshifted))"},
    };
    CHECK_PROGRAMS(cases, true);
}

TEST(X4_reductions)
{
    static const struct program_case cases[] = {
        {"sum(a)", "a", "sum($0, axes 3)"},
        {"sum(a, axis=1)", "a", "sum($0, axes 2)"},
        {"sum(a, axis=-2, keep=true)", "a", "sum($0, axes 1 keep)"},
        {"sum(cube, axis=(0, 2))", "cube", "sum($0, axes 5)"},
        {"sum(cube, axis=(0, 1), keep=false)", "cube", "sum($0, axes 3)"},
        {"sum(i)", "i", "sum(i64($0), axes 3)"},
        {"sum(u)", "u", "sum(u64($0), axes 3)"},
        {"prod(m)", "m", "prod(i64($0), axes 3)"},
        {"min(a)", "a", "min($0, axes 3)"},
        {"max(a, axis=0)", "a", "max($0, axes 1)"},
        {"any(a)", "a", "any(bool($0), axes 3)"},
        {"norm(a)", "a", "norm($0, axes 3, order 2)"},
        {"norm(z, order=1)", "z", "norm($0, axes 3, order 1)"},
        {"norm(a, order=inf)", "a", "norm($0, axes 3, order 0)"},
        {"var(a, correction=1)", "a", "var($0, axes 3, correction 1)"},
        {"a - mean(a, axis=1, keep=true)", "a", "subtract($0, mean($0, axes 2 keep))"},
        {"sum(sin(a)*b)", "a, b", "sum(multiply(sin($0), $1), axes 3)"},
    };
    CHECK_PROGRAMS(cases, true);
}

TEST(X2_operands_of_several_tokens)
{
    static const struct program_case cases[] = {
        {"c = s->u * 2", "s->u, c", "$1 = multiply($0, 2:f32)"},
        {"c = s -> u + x . y", "s->u, x.y, c", "$2 = add($0, $1)"},
        {"t[3] = a", "t[3], a", "$0 = $1"},
        {"*p += a", "*p, a", "$0 = add($0, $1)"},
        {"c = a * *p", "a, *p, c", "$2 = multiply($0, $1)"},
        {"c = (q) + ((q))", "(q), c", "$1 = add($0, $0)"},
        {"c = s->u + s", "s->u, s, c", "$2 = add($0, $1)"},
        {"c = a * (2*n)", "2*n, a, c", "$2 = multiply($1, f32($0))"},
        {"c = 2*n", "2*n, c", "$1 = broadcast(f32($0))"},
        {"c = max(a, 2*n)", "2*n, a, c", "$2 = maximum($1, f32($0))"},
        {"c = a * 2*n", "n, a, c", "$2 = multiply(multiply($1, 2:f32), f32($0))"},
        {"c = sin(sin)", "sin, c", "$1 = sin($0)"},
        {"c = pi * 2", "pi, c", "$1 = multiply($0, 2:f32)"},
        {"c = -q", "-q, c", "$1 = $0"},
        {"c = \xce\xb1 + 1", "\xce\xb1, c", "$1 = add($0, 1:f32)"},
    };
    CHECK_PROGRAMS(cases, false);
}

TEST(X2_an_operand_that_is_a_call)
{
    weft__lang_name names[] = {{"f(x, y)[i]", 10}, {"c", 1}};
    weft__lang_syntax *syntax = NULL;
    CHECK_STATUS(weft__lang_parse("c = f(x,y)[i] + 1", 17, names, 2, false, &syntax), WEFT_OK);
    weft__lang_syntax_free(syntax);
}

TEST(X2_an_operand_is_not_torn_out_of_an_expression)
{
    static const struct program_case wrong[] = {
        {"c = 3/2*n", "2*n, c", "unknown name 'n'"},
        {"c = a*2*n", "2*n, a, c", "unknown name 'n'"},
        {"c = s->v", "s, c", "unknown name 's->v'"},
        {"c = a[3]", "a, c", "unknown name 'a[3]'"},
        {"c = *p[2]", "*p, c", "a value was expected"},
        {"c = a(1)", "a, c", "is an operand, not a"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        AUTO_PROGRAM program = NULL;
        CHECK_STATUS(compile(wrong[i].code, wrong[i].operands, false, &program), WEFT_ERROR_SYNTAX);
        CHECK_ERROR(WEFT_ERROR_SYNTAX, wrong[i].expected);
    }
}

/* An evaluator of C's integer expressions by recursive descent, one level of the grammar after the
 * other. A bool is a number with a mark: ~ of it is the other bool. */
struct number_or_bool {
    int64_t value;
    bool is_bool;
};

struct cursor {
    const char *at;
};

static struct number_or_bool conditional(struct cursor *in);

static bool accept(struct cursor *in, const char *text)
{
    size_t length = strlen(text);
    while (*in->at == ' ')
        in->at++;
    if (strncmp(in->at, text, length))
        return false;
    in->at += length;
    return true;
}

static struct number_or_bool unary(struct cursor *in)
{
    struct number_or_bool x;
    if (accept(in, "("))
        return x = conditional(in), accept(in, ")"), x;
    if (accept(in, "-"))
        return x = unary(in), (struct number_or_bool){(int64_t)(0 - (uint64_t)x.value), false};
    if (accept(in, "+"))
        return x = unary(in), (struct number_or_bool){x.value, false};
    if (accept(in, "!"))
        return x = unary(in), (struct number_or_bool){!x.value, true};
    if (accept(in, "~"))
        return x = unary(in), (struct number_or_bool){x.is_bool ? !x.value : ~x.value, x.is_bool};
    char *end;
    x = (struct number_or_bool){strtoll(in->at, &end, 0), false};
    in->at = end;
    return x;
}

static int64_t shifted(int64_t x, int64_t by, bool left)
{
    bool far = (uint64_t)by >= 64;
    if (left)
        return far ? 0 : (int64_t)((uint64_t)x << by);
    return far ? (x < 0 ? -1 : 0) : x >> by;
}

static int64_t arithmetic(const char *op, int64_t x, int64_t y)
{
    uint64_t a = (uint64_t)x, b = (uint64_t)y;
    bool overflows = x == INT64_MIN && y == -1;
    switch (op[0]) {
    case '+':
        return (int64_t)(a + b);
    case '-':
        return (int64_t)(a - b);
    case '*':
        return (int64_t)(a * b);
    case '/':
        return y == 0 ? 0 : overflows ? x : x / y;
    case '%':
        return y == 0 ? x : overflows ? 0 : x % y;
    case '&':
        return op[1] ? x && y : x & y;
    case '|':
        return op[1] ? x || y : x | y;
    case '^':
        return x ^ y;
    case '=':
        return x == y;
    case '!':
        return x != y;
    case '<':
        return op[1] == '<' ? shifted(x, y, true) : op[1] ? x <= y : x < y;
    default:
        return op[1] == '>' ? shifted(x, y, false) : op[1] ? x >= y : x > y;
    }
}

/* Longer signs before those that they begin with. */
static const char *const levels[10][5] = {
    {"||"},       {"&&"},     {"|"},          {"^"}, {"&"}, {"==", "!="}, {"<=", ">=", "<", ">"},
    {"<<", ">>"}, {"+", "-"}, {"*", "/", "%"}};

/* The sign of this level that stands here, unless it is the beginning of another one. */
static const char *accept_level(struct cursor *in, int level)
{
    for (int i = 0; i < 5 && levels[level][i]; i++) {
        const char *sign = levels[level][i];
        struct cursor before = *in;
        if (!accept(in, sign))
            continue;
        char next = *in->at, last = sign[strlen(sign) - 1];
        if (strlen(sign) == 1 && strchr("|&<>", last) && next == last) {
            *in = before;
            continue;
        }
        return sign;
    }
    return NULL;
}

static struct number_or_bool binary(struct cursor *in, int level)
{
    if (level == 10)
        return unary(in);
    struct number_or_bool x = binary(in, level + 1);
    for (const char *sign; (sign = accept_level(in, level));) {
        struct number_or_bool y = binary(in, level + 1);
        bool logical = level < 2 || level == 5 || level == 6;
        bool bits = level >= 2 && level <= 4;
        x.value = arithmetic(sign, x.value, y.value);
        x.is_bool = logical || (bits && x.is_bool && y.is_bool);
    }
    return x;
}

static struct number_or_bool conditional(struct cursor *in)
{
    struct number_or_bool x = binary(in, 0), y, z;
    if (!accept(in, "?"))
        return x;
    y = conditional(in);
    accept(in, ":");
    z = conditional(in);
    return (struct number_or_bool){x.value ? y.value : z.value, y.is_bool && z.is_bool};
}

/* Evaluates a program of untyped integers, node by node. */
static int64_t run_map(const weft__lang_node *node, const int64_t *x, bool is_bool)
{
    switch (node->operation) {
    case WEFT__LANG_add:
        return arithmetic("+", x[0], x[1]);
    case WEFT__LANG_subtract:
        return arithmetic("-", x[0], x[1]);
    case WEFT__LANG_multiply:
        return arithmetic("*", x[0], x[1]);
    case WEFT__LANG_divide:
        return arithmetic("/", x[0], x[1]);
    case WEFT__LANG_modulo:
        return arithmetic("%", x[0], x[1]);
    case WEFT__LANG_bitwise_and:
        return x[0] & x[1];
    case WEFT__LANG_bitwise_or:
        return x[0] | x[1];
    case WEFT__LANG_bitwise_xor:
        return x[0] ^ x[1];
    case WEFT__LANG_bitwise_not:
        return is_bool ? !x[0] : ~x[0];
    case WEFT__LANG_shift_left:
        return shifted(x[0], x[1], true);
    case WEFT__LANG_shift_right:
        return shifted(x[0], x[1], false);
    case WEFT__LANG_equal:
        return x[0] == x[1];
    case WEFT__LANG_not_equal:
        return x[0] != x[1];
    case WEFT__LANG_less:
        return x[0] < x[1];
    case WEFT__LANG_less_equal:
        return x[0] <= x[1];
    case WEFT__LANG_negative:
        return (int64_t)(0 - (uint64_t)x[0]);
    case WEFT__LANG_positive:
        return x[0];
    default:
        return x[0] ? x[1] : x[2];
    }
}

static int64_t run_program(const weft__lang_program *p, int64_t *values)
{
    for (uint32_t i = 0; i < p->nodes_count; i++) {
        const weft__lang_node *node = &p->nodes[i];
        int64_t x[3] = {0};
        for (int k = 0; k < 3 && node->argument[k] >= 0; k++)
            x[k] = values[node->argument[k]];
        if (node->kind == WEFT__NODE_LITERAL)
            values[i] = node->literal.i;
        else if (node->kind == WEFT__NODE_CAST)
            values[i] = node->dtype == WEFT_BOOL ? x[0] != 0 : x[0];
        else
            values[i] = run_map(node, x, node->dtype == WEFT_BOOL);
    }
    return values[p->value];
}

static void random_expression(struct printed *out, uint64_t *state, int depth)
{
    static const char *const signs[] = {"||", "&&", "|",  "^", "&", "==", "!=", "<", "<=", ">",
                                        ">=", "<<", ">>", "+", "-", "*",  "/",  "%", "+",  "-"};
    static const char *const prefixes[] = {"-", "+", "!", "~", "- -", "!!", "~-"};
    int64_t kind = depth <= 0 ? 0 : random_below(state, 10);
    if (kind < 2)
        append_number(out, "%.0f", (double)random_below(state, 20));
    else if (kind < 3) {
        append(out, prefixes[random_below(state, 7)]);
        append(out, " ");
        random_expression(out, state, 0);
    } else if (kind < 4) {
        append(out, "(");
        random_expression(out, state, depth - 1);
        append(out, ")");
    } else if (kind < 5) {
        random_expression(out, state, depth - 2);
        append(out, " ? ");
        random_expression(out, state, depth - 2);
        append(out, " : ");
        random_expression(out, state, depth - 2);
    } else {
        random_expression(out, state, depth - 1);
        append(out, " ");
        append(out, signs[random_below(state, 20)]);
        append(out, " ");
        random_expression(out, state, depth - 1);
    }
}

TEST(X2_precedence_is_that_of_C)
{
    uint64_t state = 20240607;
    int count = test_faults() ? 20 : 50000;
    static int64_t values[4096];
    if (!test_faults())
        printf("seed %llu\n", (unsigned long long)state);
    for (int i = 0; i < count; i++) {
        struct printed text = {""};
        random_expression(&text, &state, 1 + (int)random_below(&state, 6));
        if (strlen(text.text) + 1 == sizeof text.text)
            continue; /* it was cut */
        AUTO_PROGRAM program = NULL;
        struct cursor cursor = {text.text};
        CHECK_STATUS(compile(text.text, "", true, &program), WEFT_OK);
        CHECK(program->nodes_count <= 4096);
        struct number_or_bool expected = conditional(&cursor);
        int64_t got = run_program(program, values);
        if (got != expected.value)
            printf("%s\n", text.text);
        CHECK_INT(got, expected.value);
        CHECK_INT(program->nodes[program->value].dtype, expected.is_bool ? WEFT_BOOL : WEFT_I64);
    }
}

/* What the compiler that builds this test makes of the same text. */
#define C_CASE(expression)                                                                         \
    {                                                                                              \
#expression, (long long)(expression)                                                       \
    }

TEST(X2_the_compiler_agrees)
{
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wparentheses"
#ifdef __clang__
#pragma GCC diagnostic ignored "-Wbitwise-op-parentheses"
#pragma GCC diagnostic ignored "-Wlogical-op-parentheses"
#pragma GCC diagnostic ignored "-Wshift-op-parentheses"
#pragma GCC diagnostic ignored "-Wconstant-logical-operand"
#pragma GCC diagnostic ignored "-Wtautological-overlap-compare"
#endif
    static const struct {
        const char *text;
        long long value;
    } cases[] = {
        C_CASE(1 + 2 * 3 - 4 / 2 % 3),
        C_CASE(10 - 4 - 3),
        C_CASE(100 / 7 / 2),
        C_CASE(-7 / 2 * 2 + -7 % 2),
        C_CASE(1 << 2 + 3),
        C_CASE(1 | 2 ^ 3 & 4),
        C_CASE(5 & 6 == 6),
        C_CASE(1 < 2 == 2 > 1),
        C_CASE(0 || 1 && 0),
        C_CASE(1   ? 2
               : 0 ? 3
                   : 4),
        C_CASE(0   ? 1
               : 0 ? 3
                   : 4),
        C_CASE(2 + 3 ? 4 : 5 + 1),
        C_CASE(!0 + 1),
        C_CASE(~5 & 0xff),
        C_CASE(-1 >> 1),
        C_CASE(8 >> 1 << 2),
        C_CASE(1 - -1),
        C_CASE(2 * (3 + 4) * 5),
        C_CASE(017 + 0x1F),
        C_CASE(1 == 1 != 0),
        C_CASE(3 - 2 * -4),
    };
#pragma GCC diagnostic pop
    int64_t values[64];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        AUTO_PROGRAM program = NULL;
        CHECK_STATUS(compile(cases[i].text, "", true, &program), WEFT_OK);
        CHECK_INT(run_program(program, values), cases[i].value);
    }
}

TEST(X2_a_syntax_serves_several_types)
{
    weft__lang_name names[] = {{"a", 1}, {"c", 1}};
    weft__lang_operand types[2] = {known_type((weft__lang_name){"a", 1}),
                                   known_type((weft__lang_name){"c", 1})};
    weft__lang_syntax *syntax = NULL;
    CHECK_STATUS(weft__lang_parse("c = a*2", 7, names, 2, false, &syntax), WEFT_OK);
    for (int d = WEFT_I8; d < WEFT_DTYPE_END; d++) {
        AUTO_PROGRAM program = NULL;
        types[0].dtype = types[1].dtype = (uint8_t)d;
        weft_status status = weft__lang_check(syntax, types, &program);
        if (status != WEFT_OK || program->nodes[program->assignments[0].node].dtype != d) {
            weft__lang_syntax_free(syntax);
            CHECK_STATUS(status, WEFT_OK);
            CHECK_INT(program->nodes[program->assignments[0].node].dtype, d);
        }
    }
    weft__lang_syntax_free(syntax);
}

TEST_MAIN(TEST_OF(X1_statements), TEST_OF(X2_values), TEST_OF(X3_stencils), TEST_OF(X4_reductions),
          TEST_OF(X2_operands_of_several_tokens), TEST_OF(X2_an_operand_that_is_a_call),
          TEST_OF(X2_an_operand_is_not_torn_out_of_an_expression),
          TEST_OF(X2_precedence_is_that_of_C), TEST_OF(X2_the_compiler_agrees),
          TEST_OF(X2_a_syntax_serves_several_types));
