/* Types and shapes: promotion, untyped numbers, assignment, reductions, index. */
#include "support/check.h"

#include "programs.h"

static struct printed type_of(const char *code, const char *operands)
{
    struct printed out = {""};
    AUTO_PROGRAM program = NULL;
    if (compile(code, operands, true, &program) != WEFT_OK)
        append(&out, weft_status_name(weft_error_code()));
    else
        print_type(&out, program, program->value);
    return out;
}

struct type_case {
    const char *code, *operands, *type;
};

static void check_types(const struct type_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct printed type = type_of(cases[i].code, cases[i].operands);
        if (strcmp(type.text, cases[i].type) && !test_faults())
            printf("%s: %s\n", cases[i].code, weft_error_message());
        CHECK_STR(type.text, cases[i].type);
    }
}

#define CHECK_TYPES(cases) check_types(cases, sizeof(cases) / sizeof(cases)[0])
#define WRONG "WEFT_ERROR_DTYPE"
#define MISFIT "WEFT_ERROR_SHAPE"

/* For every pair of dtypes, a + b has the dtype that promotion gives, or is an error. */
TEST(X2_arrays_promote)
{
    weft__lang_name names[] = {{"a", 1}, {"b", 1}};
    for (int x = 1; x < WEFT_DTYPE_END; x++)
        for (int y = 1; y < WEFT_DTYPE_END; y++) {
            weft__lang_operand types[] = {
                {.tag = WEFT_OPERAND_ARRAY, .dtype = (uint8_t)x, .shape = {1, {3}}},
                {.tag = WEFT_OPERAND_ARRAY, .dtype = (uint8_t)y, .shape = {1, {3}}}};
            weft__lang_syntax *syntax = NULL;
            AUTO_PROGRAM program = NULL;
            weft_dtype both = WEFT_DTYPE_DEFAULT;
            bool possible = weft_dtype_promote((weft_dtype)x, (weft_dtype)y, &both) == WEFT_OK &&
                            both != WEFT_BOOL;
            CHECK_STATUS(weft__lang_parse("a + b", 5, names, 2, true, &syntax), WEFT_OK);
            weft_status status = weft__lang_check(syntax, types, &program);
            weft__lang_syntax_free(syntax);
            CHECK_STATUS(status, possible ? WEFT_OK : WEFT_ERROR_DTYPE);
            if (possible)
                CHECK_INT(program->nodes[program->value].dtype, both);
        }
}

TEST(X2_untyped_numbers)
{
    static const struct type_case cases[] = {
        {"1 + 2", "", "weak i64"},
        {"1 + 2.0", "", "weak f64"},
        {"1 + 2i", "", "weak c128"},
        {"true + true", "", "weak i64"},
        {"n + x", "n, x", "weak f64"},
        {"w * n", "w, n", "weak c128"},
        {"big + 1", "big", "weak u64"},
        {"n > 3", "n", "weak bool"},
        {"n && t", "n, t", "weak bool"},
        {"t ? n : x", "t, n, x", "weak f64"},
        {"sqrt(2)", "", "weak f64"},
        {"n % 2", "n", "weak i64"},
        {"a + 1", "a", "f32[2,3]"},
        {"a + 1.5", "a", "f32[2,3]"},
        {"a + true", "a", "f32[2,3]"},
        {"a * y", "a, y", "f32[2,3]"},
        {"a16 * 2.5", "a16", "f16[2,3]"},
        {"b16 * x", "b16, x", "bf16[2,3]"},
        {"a + 2i", "a", "c64[2,3]"},
        {"a64 + w", "a64, w", "c128[2,3]"},
        {"z + 1", "z", "c64[2,3]"},
        {"i + 1", "i", "i32[2,3]"},
        {"i + n", "i, n", "i32[2,3]"},
        {"i + true", "i", "i32[2,3]"},
        {"i + 1.0", "i", WRONG},
        {"i + x", "i, x", WRONG},
        {"i + 1i", "i", WRONG},
        {"m + 1", "m", WRONG},
        {"m & 1", "m", WRONG},
        {"m & true", "m", "bool[2,3]"},
        {"a + 1.0f", "a", "f32[2,3]"},
        {"a16 + 1.0f", "a16", "f32[2,3]"},
        {"a64 + 1.0f", "a64", "f64[2,3]"},
        {"i + 1u", "i", "i64[2,3]"},
        {"i + 1l", "i", "i64[2,3]"},
        {"i + 1.0f", "i", WRONG},
        {"u + 255", "u", "u8[2,3]"},
        {"u + 256", "u", WRONG},
        {"u + -1", "u", WRONG},
        {"s8 + -128", "s8", "i8[2,3]"},
        {"s8 + 128", "s8", WRONG},
        {"s8 + i8(128)", "s8", "i8[2,3]"},
        {"l + 9223372036854775808", "l", WRONG},
        {"v + 18446744073709551615", "v", "u64[2,3]"},
        {"1.0f + 2", "", "f32[]"},
        {"f64(2)", "", "f64[]"},
        {"i64(n) + i", "n, i", "i64[2,3]"},
    };
    CHECK_TYPES(cases);
}

TEST(X2_operators)
{
    static const struct type_case cases[] = {
        {"i / j", "i, j", "i32[2,3]"},
        {"i % j", "i, j", "i32[2,3]"},
        {"a % b", "a, b", WRONG},
        {"i + u", "i, u", "i32[2,3]"},
        {"l + v", "l, v", WRONG},
        {"i + a", "i, a", WRONG},
        {"m + m", "m", WRONG},
        {"-m", "m", WRONG},
        {"~m", "m", "bool[2,3]"},
        {"m ^ m", "m", "bool[2,3]"},
        {"~a", "a", WRONG},
        {"a & b", "a, b", WRONG},
        {"i << 2", "i", "i32[2,3]"},
        {"u << j", "u, j", "i32[2,3]"},
        {"a << 1", "a", WRONG},
        {"m << 1", "m", WRONG},
        {"a < b", "a, b", "bool[2,3]"},
        {"m < m", "m", "bool[2,3]"},
        {"z == z", "z", "bool[2,3]"},
        {"z < z", "z", WRONG},
        {"a == m", "a, m", WRONG},
        {"a == i", "a, i", WRONG},
        {"!a", "a", "bool[2,3]"},
        {"!z && i", "z, i", "bool[2,3]"},
        {"-u", "u", "u8[2,3]"},
        {"m ? i : 1", "m, i", "i32[2,3]"},
        {"m ? i : a", "m, i, a", WRONG},
        {"a ? 1 : 2", "a", "i64[2,3]"},
        {"where(m, a, 0)", "m, a", "f32[2,3]"},
        {"where(i, a, 0)", "i, a", WRONG},
    };
    CHECK_TYPES(cases);
}

TEST(X2_functions)
{
    static const struct type_case cases[] = {
        {"sin(a)", "a", "f32[2,3]"},
        {"sin(a16)", "a16", "f16[2,3]"},
        {"sin(z)", "z", "c64[2,3]"},
        {"sin(i)", "i", WRONG},
        {"sin(f64(i))", "i", "f64[2,3]"},
        {"abs(z)", "z", "f32[2,3]"},
        {"abs(i)", "i", "i32[2,3]"},
        {"abs(m)", "m", WRONG},
        {"real(z) + imag(z) + arg(z)", "z", "f32[2,3]"},
        {"conj(z)", "z", "c64[2,3]"},
        {"erf(z)", "z", WRONG},
        {"isnan(a)", "a", "bool[2,3]"},
        {"pow(i, 2)", "i", "i32[2,3]"},
        {"pow(a, 2)", "a", "f32[2,3]"},
        {"pow(i, 0.5)", "i", WRONG},
        {"atan2(a, a64)", "a, a64", "f64[2,3]"},
        {"clip(i, 0, 10)", "i", "i32[2,3]"},
        {"clip(a, 0, 1)", "a", "f32[2,3]"},
        {"minimum(z, z)", "z", WRONG},
        {"popcount(u)", "u", "u8[2,3]"},
        {"popcount(a)", "a", WRONG},
        {"fma(a, b, a64)", "a, b, a64", "f64[2,3]"},
        {"bool(a)", "a", "bool[2,3]"},
        {"f32(z)", "z", "f32[2,3]"},
        {"c128(i)", "i", "c128[2,3]"},
        {"floor(i)", "i", WRONG},
    };
    CHECK_TYPES(cases);
}

/* Every function of the table takes something of each kind that it names, and nothing else. */
TEST(X2_the_table_of_operations)
{
    static const char *const samples[] = {"m", "i", "a", "z"};
    for (int op = 0; op < WEFT__LANG_OPERATION_END; op++) {
        const weft__lang_facts *facts = &weft__lang_operations[op];
        CHECK(facts->least >= 1 && facts->least <= facts->most && facts->text[0]);
        if (facts->group == WEFT__GROUP_operator || facts->group >= WEFT__GROUP_stencil)
            continue;
        for (int rank = 0; rank < 4; rank++) {
            struct printed code = {""};
            append(&code, facts->name);
            append(&code, facts->result == WEFT__RESULT_SELECT ? "(true" : "(");
            for (int k = facts->result == WEFT__RESULT_SELECT; k < facts->least; k++) {
                append(&code, k ? ", " : "");
                append(&code, samples[rank]);
            }
            append(&code, ")");
            bool takes = facts->kinds >> rank & 1;
            AUTO_PROGRAM program = NULL;
            weft_status status = compile(code.text, samples[rank], true, &program);
            if (status != (takes ? WEFT_OK : WEFT_ERROR_DTYPE) && !test_faults())
                printf("%s\n", code.text);
            CHECK_STATUS(status, takes ? WEFT_OK : WEFT_ERROR_DTYPE);
        }
    }
}

TEST(X4_reductions)
{
    static const struct type_case cases[] = {
        {"sum(a)", "a", "f32[]"},
        {"sum(a16)", "a16", "f16[]"},
        {"sum(i)", "i", "i64[]"},
        {"sum(u)", "u", "u64[]"},
        {"sum(m)", "m", "i64[]"},
        {"prod(z)", "z", "c64[]"},
        {"mean(a, axis=0)", "a", "f32[3]"},
        {"mean(i)", "i", WRONG},
        {"var(i)", "i", WRONG},
        {"std(z)", "z", WRONG},
        {"norm(z)", "z", "f32[]"},
        {"argmax(a)", "a", "i64[]"},
        {"argmin(a, axis=1)", "a", "i64[2]"},
        {"argmin(cube, axis=(0, 1))", "cube", MISFIT},
        {"any(a, axis=1)", "a", "bool[2]"},
        {"sum(cube, axis=1)", "cube", "f32[4,3]"},
        {"sum(cube, axis=(0, -1), keep=true)", "cube", "f32[1,2,1]"},
        {"sum(cube, axis=3)", "cube", MISFIT},
        {"sum(cube, axis=(0, -3))", "cube", MISFIT},
        {"sum(3)", "", MISFIT},
        {"sum(n)", "n", MISFIT},
        {"sum(zero_d)", "zero_d", "f64[]"},
        {"sum(zero_d, axis=0)", "zero_d", MISFIT},
        {"sum(empty)", "empty", "f32[]"},
        {"min(empty)", "empty", MISFIT},
        {"min(empty, axis=1)", "empty", "f32[0]"},
        {"argmax(empty, axis=0)", "empty", MISFIT},
        {"a - mean(a, axis=1, keep=true)", "a", "f32[2,3]"},
        {"a - mean(a, axis=1)", "a", MISFIT},
        {"a / sum(a)", "a", "f32[2,3]"},
    };
    CHECK_TYPES(cases);
}

TEST(X2_shapes)
{
    static const struct type_case cases[] = {
        {"a + row", "a, row", "f32[2,3]"},
        {"column + row", "column, row", "f32[2,3]"},
        {"cube + a", "cube, a", "f32[4,2,3]"},
        {"a + four", "a, four", MISFIT},
        {"row + four", "row, four", MISFIT},
        {"empty + row", "empty, row", "f32[0,3]"},
        {"a + empty", "a, empty", MISFIT},
        {"zero_d + a64", "zero_d, a64", "f64[2,3]"},
        {"zero_d + 1", "zero_d", "f64[]"},
        {"where(m, row, column)", "m, row, column", "f32[2,3]"},
        {"shift(cube, 1, 2, 3)", "cube", "f32[4,2,3]"},
        {"shift(row, 1, 2)", "row", MISFIT},
        {"forward_diff(row, 1)", "row", MISFIT},
        {"laplacian(zero_d)", "zero_d", MISFIT},
        {"laplacian(n)", "n", MISFIT},
        {"laplacian(m)", "m", WRONG},
        {"shift(m, 1)", "m", "bool[2,3]"},
        {"shift(a, 1, value=row)", "a, row", MISFIT},
        {"shift(i, 1, value=0.5)", "i", WRONG},
        {"shift(a, 1, value=n)", "a, n", "f32[2,3]"},
    };
    CHECK_TYPES(cases);
}

TEST(X2_index)
{
    static const struct type_case cases[] = {
        {"a * f32(index(0))", "a", "f32[2,3]"},
        {"i + index(-1)", "i", "i64[2,3]"},
        {"index(0)", "", MISFIT},
        {"i + index(2)", "i", MISFIT},
        {"i + index(-3)", "i", MISFIT},
        {"sum(i * index(0))", "i", "i64[]"},
        {"sum(i * index(0), axis=0)", "i", "i64[3]"},
        {"sum(index(0))", "", MISFIT},
        {"p = index(0); q = p*10 + index(1); i + q", "i", "i64[2,3]"},
        {"p = index(0); sum(row*f32(p)) + sum(four*f32(p))", "row, four", "f32[]"},
        {"p = index(1); sum(i + p) + sum(i64(row) + p)", "i, row", MISFIT},
        {"p = index(0); i * p + sum(i + p)", "i", "i64[2,3]"},
        {"shift(i, 1, value=index(0))", "i", MISFIT},
        {"index(8) + i", "i", MISFIT},
    };
    CHECK_TYPES(cases);
}

/* Along which axis, counted from the last; and the shape that the position has by itself. */
TEST(X2_index_counts_from_the_last_axis)
{
    AUTO_PROGRAM program = NULL;
    CHECK_STATUS(compile("cube = f32(index(0) + index(2))", "cube", false, &program), WEFT_OK);
    CHECK_STR(print_program(program).text, "$0 = broadcast(f32(add(index(-3), index(-1))))");
    for (uint32_t i = 0; i < program->nodes_count; i++) {
        const weft__lang_node *node = &program->nodes[i];
        struct printed type = {""};
        if (!program->shapes[node->shape].ndim) /* as it was before its array was known */
            continue;
        print_type(&type, program, (int32_t)i);
        if (node->kind == WEFT__NODE_INDEX)
            CHECK_STR(type.text, node->axis ? "i64[4,1,1]" : "i64[3]");
        else if (node->kind != WEFT__NODE_BROADCAST)
            CHECK_STR(strchr(type.text, '['), "[4,1,3]");
    }
}

TEST(X2_assignment)
{
    static const struct {
        const char *code, *operands;
        weft_status status;
    } cases[] = {
        {"c = a64", "c, a64", WEFT_OK},
        {"a16 = a64", "a16, a64", WEFT_OK},
        {"u = l", "u, l", WEFT_OK},
        {"z = a", "z, a", WEFT_OK},
        {"c = z", "c, z", WEFT_ERROR_DTYPE},
        {"c = real(z)", "c, z", WEFT_OK},
        {"i = a", "i, a", WEFT_ERROR_DTYPE},
        {"i = i32(a)", "i, a", WEFT_OK},
        {"c = i", "c, i", WEFT_ERROR_DTYPE},
        {"m = i", "m, i", WEFT_ERROR_DTYPE},
        {"m = i != 0", "m, i", WEFT_OK},
        {"i = m", "i, m", WEFT_ERROR_DTYPE},
        {"c = 1", "c", WEFT_OK},
        {"c = n", "c, n", WEFT_OK},
        {"i = 1.5", "i", WEFT_ERROR_DTYPE},
        {"i = x", "i, x", WEFT_ERROR_DTYPE},
        {"i = true", "i", WEFT_OK},
        {"m = true", "m", WEFT_OK},
        {"m = 1", "m", WEFT_ERROR_DTYPE},
        {"c = 2i", "c", WEFT_ERROR_DTYPE},
        {"u = 300", "u", WEFT_ERROR_DTYPE},
        {"u = -1", "u", WEFT_ERROR_DTYPE},
        {"u = u8(-1)", "u", WEFT_OK},
        {"c = row", "c, row", WEFT_OK},
        {"c = cube", "c, cube", WEFT_ERROR_SHAPE},
        {"row = c", "row, c", WEFT_ERROR_SHAPE},
        {"column += row", "column, row", WEFT_ERROR_SHAPE},
        {"row = sum(c, axis=0)", "row, c", WEFT_OK},
        {"zero_d = sum(c)", "zero_d, c", WEFT_OK},
        {"zero_d = 1; a64 = zero_d * 2", "zero_d, a64", WEFT_OK},
        {"i += 1.5", "i", WEFT_ERROR_DTYPE},
        {"i += a", "i, a", WEFT_ERROR_DTYPE},
        {"a16 += a", "a16, a", WEFT_OK},
        {"k = a", "k, a", WEFT_ERROR_ARGUMENT},
        {"n = 1", "n", WEFT_ERROR_ARGUMENT},
        {"n += 1", "n", WEFT_ERROR_ARGUMENT},
        {"new = a*2", "new, a", WEFT_OK},
        {"new = a; c = new", "new, a, c", WEFT_OK},
        {"new = a; new = cube", "new, a, cube", WEFT_ERROR_SHAPE},
        {"new += a", "new, a", WEFT_ERROR_ARGUMENT},
        {"new = 1", "new", WEFT_OK},
        {"c = new", "c, new", WEFT_ERROR_ARGUMENT},
        {"new16 = a64", "new16, a64", WEFT_OK},
        {"new = index(0)", "new", WEFT_ERROR_SHAPE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        AUTO_PROGRAM program = NULL;
        weft_status status = compile(cases[i].code, cases[i].operands, false, &program);
        if (status != cases[i].status && !test_faults())
            printf("%s: %s\n", cases[i].code, weft_error_message());
        CHECK_STATUS(status, cases[i].status);
    }
}

/* What is read after an assignment is what memory holds: rounded, of the operand's dtype and shape.
 */
TEST(X2_reading_what_was_assigned)
{
    static const struct type_case cases[] = {
        {"a16 = a; a16", "a16, a", "f16[2,3]"},
        {"a16 = a16*2; a16", "a16", "f16[2,3]"},
        {"a = row; sum(a, axis=0)", "a, row", "f32[3]"},
        {"zero_d = 1; zero_d + i", "zero_d, i", WRONG},
        {"zero_d = n; zero_d + i", "zero_d, n, i", WRONG},
        {"new = a*a64; new", "new, a, a64", "f64[2,3]"},
    };
    CHECK_TYPES(cases);
    AUTO_PROGRAM program = NULL;
    CHECK_STATUS(compile("a16 = a16*2; a16", "a16", true, &program), WEFT_OK);
    CHECK_STR(print_program(program).text,
              "$0 = f16(multiply($0, 2:f16)); f16(multiply($0, 2:f16))");
    CHECK(program->assignments[0].last);
}

TEST(X2_the_last_assignment_is_marked)
{
    AUTO_PROGRAM program = NULL;
    CHECK_STATUS(compile("c = a; d = c; c = c*2; d = d", "a, c, d", false, &program), WEFT_OK);
    CHECK_INT(program->assignments_count, 4);
    for (int i = 0; i < 4; i++)
        CHECK_INT(program->assignments[i].last, i >= 2);
}

/* Each node's arguments come before it, and all positions are inside their arrays. */
TEST(X2_programs_are_in_order)
{
    AUTO_PROGRAM p = NULL;
    CHECK_STATUS(
        compile("p = a*2; c = laplacian(a) + min(p, b, 1) ? sum(p, axis=0) : f32(index(1))",
                "a, b, c", false, &p),
        WEFT_OK);
    for (uint32_t i = 0; i < p->nodes_count; i++) {
        const weft__lang_node *node = &p->nodes[i];
        CHECK(node->shape >= 0 && node->shape < (int32_t)p->shapes_count);
        CHECK((node->kind == WEFT__NODE_SHIFT) == (node->shift >= 0));
        CHECK(node->shift < (int32_t)p->shifts_count);
        for (int k = 0; k < 3; k++)
            CHECK(node->argument[k] >= -1 && node->argument[k] < (int32_t)i);
    }
}

TEST_MAIN(TEST_OF(X2_arrays_promote), TEST_OF(X2_untyped_numbers), TEST_OF(X2_operators),
          TEST_OF(X2_functions), TEST_OF(X2_the_table_of_operations), TEST_OF(X4_reductions),
          TEST_OF(X2_shapes), TEST_OF(X2_index), TEST_OF(X2_index_counts_from_the_last_axis),
          TEST_OF(X2_assignment), TEST_OF(X2_reading_what_was_assigned),
          TEST_OF(X2_the_last_assignment_is_marked), TEST_OF(X2_programs_are_in_order));
