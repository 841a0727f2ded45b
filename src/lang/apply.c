/* Operations as functions: each stands for the expression of that one operation. */
#include "core/status.h"
#include "lang/texts.h"
#include <stdio.h>
#include <string.h>
#include <weft/operations.h>

enum { ARGUMENTS_MAX = 3 };

/* The code of an operation of x, y and z. What the table says of an operator begins with it. */
static void write_code(weft__lang_operation operation, bool has_out, char *code, size_t room)
{
    static const char *const arguments[] = {"", "x", "x, y", "x, y, z"};
    const weft__lang_facts *facts = &weft__lang_operations[operation];
    const char *to = has_out ? "out = " : "";
    if (facts->group == WEFT__GROUP_operator)
        snprintf(code, room, "%s%.*s", to, (int)strcspn(facts->text, ";:,"), facts->text);
    else
        snprintf(code, room, "%s%s(%s)", to, facts->name, arguments[facts->most]);
}

static void write_text(const weft__text_key *key, weft__text *text)
{
    static const char *const operands[] = {"", "x", "x, y", "x, y, z"};
    const weft__lang_operation operation = (weft__lang_operation)(key->what >> 1 & 0xff);
    const bool has_out = key->what & 1;
    const weft__lang_facts *facts = &weft__lang_operations[operation];
    char code[64], names[32], function[40];
    write_code(operation, has_out, code, sizeof code);
    snprintf(names, sizeof names, "%s%s", operands[facts->most], has_out ? ", out" : "");
    snprintf(function, sizeof function, "weft_%s", facts->name);
    weft__text_set(text, function, code, names);
}

static weft_array *apply(weft__lang_operation operation, weft_operand *operands,
                         const weft_operation_options *given)
{
    weft_operation_options options = {.struct_size = sizeof options};
    int count = weft__lang_operations[operation].most;
    weft__options_copy(&options, sizeof options, given);
    if (options.out)
        operands[count++] = WEFT_OPERAND(options.out);
    const weft__text_key key = {(uint64_t)WEFT__TEXT_OPERATION << 56 | (uint64_t)operation << 1 |
                                    (options.out != NULL),
                                weft__text_types(operands, count)};
    return weft__text_run(&key, write_text, operands, count, options.out);
}

#define APPLY_1(name)                                                                              \
    weft_array *weft_##name##_with(weft_operand x, const weft_operation_options *options)          \
    {                                                                                              \
        weft_operand operands[ARGUMENTS_MAX + 1] = {x};                                            \
        OPERATION("weft_" #name);                                                                  \
        return apply(WEFT__LANG_##name, operands, options);                                        \
    }
#define APPLY_2(name)                                                                              \
    weft_array *weft_##name##_with(weft_operand x, weft_operand y,                                 \
                                   const weft_operation_options *options)                          \
    {                                                                                              \
        weft_operand operands[ARGUMENTS_MAX + 1] = {x, y};                                         \
        OPERATION("weft_" #name);                                                                  \
        return apply(WEFT__LANG_##name, operands, options);                                        \
    }
#define APPLY_3(name)                                                                              \
    weft_array *weft_##name##_with(weft_operand x, weft_operand y, weft_operand z,                 \
                                   const weft_operation_options *options)                          \
    {                                                                                              \
        weft_operand operands[ARGUMENTS_MAX + 1] = {x, y, z};                                      \
        OPERATION("weft_" #name);                                                                  \
        return apply(WEFT__LANG_##name, operands, options);                                        \
    }

/* Those that work element by element. The operator of three operands is `where` as a function. */
#define APPLY_operator_1(name) APPLY_1(name)
#define APPLY_operator_2(name) APPLY_2(name)
#define APPLY_operator_3(name)
#define APPLY_choice_2(name) APPLY_2(name)
#define APPLY_choice_3(name) APPLY_3(name)
#define APPLY_math_1(name) APPLY_1(name)
#define APPLY_math_2(name) APPLY_2(name)
#define APPLY_math_3(name) APPLY_3(name)
#define APPLY_rounding_1(name) APPLY_1(name)
#define APPLY_test_1(name) APPLY_1(name)
#define APPLY_complex_1(name) APPLY_1(name)
#define APPLY_bits_1(name) APPLY_1(name)
#define APPLY_reduction_1(name)
#define APPLY_stencil_1(name)
#define APPLY_stencil_2(name)
#define APPLY_stencil_9(name)
#define APPLY_position_1(name)
#define APPLY(name, least, most, kinds, result, group, text) APPLY_##group##_##most(name)
WEFT__LANG_OPERATION_LIST(APPLY)
