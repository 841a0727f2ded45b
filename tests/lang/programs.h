/* For tests of the language: operands with types, compiling a text, and programs as text. */
#ifndef WEFT_TESTS_LANG_PROGRAMS_H
#define WEFT_TESTS_LANG_PROGRAMS_H

#include <stdio.h>
#include <string.h>

#include "lang/lang.h"
#include <weft/weft.h>

#define ARRAY(text, dtype, ...)                                                                    \
    {                                                                                              \
        text,                                                                                      \
        {                                                                                          \
            WEFT_OPERAND_ARRAY, WEFT_##dtype, false, false, false,                                 \
            {                                                                                      \
                WEFT__COUNT(__VA_ARGS__), { __VA_ARGS__ }                                          \
            }                                                                                      \
        }                                                                                          \
    }
#define NUMBER(text, dtype)                                                                        \
    {                                                                                              \
        text,                                                                                      \
        {                                                                                          \
            WEFT_OPERAND_NUMBER, WEFT_##dtype, false, false, false,                                \
            {                                                                                      \
                0, { 0 }                                                                           \
            }                                                                                      \
        }                                                                                          \
    }

struct named_operand {
    const char *text;
    weft__lang_operand type;
};

/* What each name means in every test. */
static const struct named_operand known_operands[] = {
    ARRAY("a", F32, 2, 3),
    ARRAY("b", F32, 2, 3),
    ARRAY("c", F32, 2, 3),
    ARRAY("d", F32, 2, 3),
    ARRAY("a64", F64, 2, 3),
    ARRAY("a16", F16, 2, 3),
    ARRAY("b16", BF16, 2, 3),
    ARRAY("i", I32, 2, 3),
    ARRAY("j", I32, 2, 3),
    ARRAY("l", I64, 2, 3),
    ARRAY("s8", I8, 2, 3),
    ARRAY("u", U8, 2, 3),
    ARRAY("v", U64, 2, 3),
    ARRAY("m", BOOL, 2, 3),
    ARRAY("z", C64, 2, 3),
    ARRAY("row", F32, 3),
    ARRAY("column", F32, 2, 1),
    ARRAY("four", F32, 4),
    ARRAY("empty", F32, 0, 3),
    ARRAY("cube", F32, 4, 2, 3),
    ARRAY("s->u", F32, 2, 3),
    ARRAY("x.y", F32, 2, 3),
    ARRAY("t[3]", F32, 2, 3),
    ARRAY("*p", F32, 2, 3),
    ARRAY("(q)", F32, 2, 3),
    ARRAY("sin", F32, 2, 3),
    NUMBER("n", I32),
    NUMBER("x", F32),
    NUMBER("y", F64),
    NUMBER("w", C128),
    NUMBER("t", BOOL),
    NUMBER("2*n", I32),
    NUMBER("big", U64),
    {"k", {WEFT_OPERAND_INPUT, WEFT_F32, false, false, false, {2, {2, 3}}}},
    {"zero_d", {WEFT_OPERAND_ARRAY, WEFT_F64, false, false, false, {0, {0}}}},
    {"new", {WEFT_OPERAND_ARRAY, WEFT_DTYPE_DEFAULT, true, false, false, {0, {0}}}},
    {"new16", {WEFT_OPERAND_ARRAY, WEFT_F16, true, false, false, {0, {0}}}},
};

static inline weft__lang_operand known_type(weft__lang_name name)
{
    while (name.length && *name.text == ' ')
        name = (weft__lang_name){name.text + 1, name.length - 1};
    for (size_t i = 0; i < sizeof known_operands / sizeof known_operands[0]; i++)
        if (strlen(known_operands[i].text) == name.length &&
            !memcmp(known_operands[i].text, name.text, name.length))
            return known_operands[i].type;
    return known_operands[0].type; /* any other name is an array like "a" */
}

static inline int count_operands(const char *list)
{
    int count = *list != 0;
    for (; *list; list++)
        count += *list == ',';
    return count;
}

/* Parses and checks a text of some length; `list` is the operands' texts with commas between. */
static inline weft_status compile_bytes(const char *code, size_t length, const char *list,
                                        bool wants_value, weft__lang_program **program)
{
    weft__lang_name names[64];
    weft__lang_operand types[64];
    weft__lang_syntax *syntax = NULL;
    int count = count_operands(list);
    *program = NULL;
    weft_status status = count ? weft__lang_split(list, strlen(list), count, names) : WEFT_OK;
    for (int i = 0; i < count && status == WEFT_OK; i++)
        types[i] = known_type(names[i]);
    if (status == WEFT_OK)
        status = weft__lang_parse(code, length, names, count, wants_value, &syntax);
    if (status == WEFT_OK)
        status = weft__lang_check(syntax, types, program);
    weft__lang_syntax_free(syntax);
    return status;
}

static inline weft_status compile(const char *code, const char *list, bool wants_value,
                                  weft__lang_program **program)
{
    return compile_bytes(code, strlen(code), list, wants_value, program);
}

static inline void free_program(weft__lang_program **program) { weft__lang_free(*program); }
#define AUTO_PROGRAM __attribute__((cleanup(free_program), unused)) weft__lang_program *

/* Text with a bound. */
struct printed {
    char text[2048];
};

static inline void append(struct printed *out, const char *text)
{
    size_t length = strlen(out->text);
    snprintf(out->text + length, sizeof out->text - length, "%s", text);
}

static inline void append_number(struct printed *out, const char *format, double number)
{
    char text[64];
    snprintf(text, sizeof text, format, number);
    append(out, text);
}

static inline void print_literal(struct printed *out, const weft__lang_node *node)
{
    if (node->dtype <= WEFT_I64 && node->dtype != WEFT_BOOL)
        append_number(out, "%.17g", (double)node->literal.i);
    else if (node->dtype <= WEFT_U64)
        append_number(out, "%.17g", (double)node->literal.u);
    else if (node->dtype <= WEFT_F64)
        append_number(out, "%.17g", node->literal.f);
    else {
        append_number(out, "%.17g", node->literal.complex_[0]);
        append_number(out, "%+.17gi", node->literal.complex_[1]);
    }
    if (!node->weak) {
        append(out, ":");
        append(out, weft_dtype_name((weft_dtype)node->dtype));
    }
}

/* "f32[2,3]", or "weak f64". */
static inline void print_type(struct printed *out, const weft__lang_program *p, int32_t position)
{
    const weft__lang_node *node = &p->nodes[position];
    const weft_shape *shape = &p->shapes[node->shape];
    append(out, node->weak ? "weak " : "");
    append(out, weft_dtype_name((weft_dtype)node->dtype));
    if (node->weak)
        return;
    append(out, "[");
    for (int k = 0; k < shape->ndim; k++)
        append_number(out, k ? ",%.0f" : "%.0f", (double)shape->size[k]);
    append(out, "]");
}

static inline void print_attributes(struct printed *out, const weft__lang_program *p,
                                    const weft__lang_node *node)
{
    static const char *const boundaries[] = {"unshifted", "clamp", "wrap", "constant"};
    if (node->kind == WEFT__NODE_FOLD) {
        append_number(out, ", axes %.0f", node->axes);
        append(out, node->keep ? " keep" : "");
        if (node->operation == WEFT__LANG_norm)
            append_number(out, ", order %.0f", node->order);
        if (node->correction)
            append_number(out, ", correction %.0f", node->correction);
    }
    if (node->kind != WEFT__NODE_SHIFT)
        return;
    const weft__lang_shift *shift = &p->shifts[node->shift];
    for (int k = 0; k < p->shapes[node->shape].ndim; k++)
        append_number(out, ", %.0f", (double)shift->offset[k]);
    append(out, ", ");
    append(out, boundaries[shift->boundary]);
}

/* A node as an expression: add(a, multiply(b, 2:f32)). Operands are shown by number: $0. */
static inline void print_node(struct printed *out, const weft__lang_program *p, int32_t position)
{
    const weft__lang_node *node = &p->nodes[position];
    switch (node->kind) {
    case WEFT__NODE_LITERAL:
        print_literal(out, node);
        return;
    case WEFT__NODE_OPERAND:
        append_number(out, "$%.0f", node->operand);
        return;
    case WEFT__NODE_INDEX:
        append_number(out, "index(-%.0f)", node->axis + 1);
        return;
    case WEFT__NODE_CAST:
        append(out, weft_dtype_name((weft_dtype)node->dtype));
        break;
    case WEFT__NODE_BROADCAST:
        append(out, "broadcast");
        break;
    case WEFT__NODE_SHIFT:
        append(out, "shift");
        break;
    default:
        append(out, weft__lang_operations[node->operation].name);
    }
    append(out, "(");
    for (int k = 0; k < 3 && node->argument[k] >= 0; k++) {
        append(out, k ? ", " : "");
        print_node(out, p, node->argument[k]);
    }
    print_attributes(out, p, node);
    append(out, ")");
}

/* "$2 = add($0, $1); value". */
static inline struct printed print_program(const weft__lang_program *p)
{
    struct printed out = {""};
    for (uint32_t i = 0; i < p->assignments_count; i++) {
        append_number(&out, i ? "; $%.0f = " : "$%.0f = ", p->assignments[i].operand);
        print_node(&out, p, p->assignments[i].node);
    }
    if (p->value >= 0) {
        append(&out, p->assignments_count ? "; " : "");
        print_node(&out, p, p->value);
    }
    return out;
}

#endif
