/* Typed programs as text: a line for each value. */
#include "core/shape.h"
#include "lang/error.h"
#include "lang/explain.h"
#include <stdio.h>
#include <string.h>

static weft__lang_quoted name_of(const weft__explained *e, int32_t operand)
{
    return weft__lang_quote(e->names[operand].text, e->names[operand].length);
}

weft__explain_name weft__explain_place(const weft__explained *e, int32_t place)
{
    weft__explain_name name;
    if (place == WEFT__PLACE_VALUE)
        snprintf(name.text, sizeof name.text, "the value");
    else if (place <= WEFT__PLACE_TEMPORARY)
        snprintf(name.text, sizeof name.text, "temporary %d", WEFT__PLACE_TEMPORARY - place);
    else
        snprintf(name.text, sizeof name.text, "%s%s", name_of(e, place % WEFT__PLACE_ASSIGNED).text,
                 place < WEFT__PLACE_ASSIGNED ? "" : ", assigned");
    return name;
}

static void write_literal(weft__text *text, const weft__lang_node *node)
{
    weft_dtype dtype = (weft_dtype)node->dtype;
    if (dtype >= WEFT_C64)
        weft__text_add(text, "%.17g%+.17gi", node->literal.complex_[0], node->literal.complex_[1]);
    else if (dtype >= WEFT_F16)
        weft__text_add(text, "%.17g", node->literal.f);
    else if (dtype >= WEFT_U8)
        weft__text_add(text, "%llu", (unsigned long long)node->literal.u);
    else if (dtype == WEFT_BOOL)
        weft__text_add(text, "%s", node->literal.u ? "true" : "false");
    else
        weft__text_add(text, "%lld", (long long)node->literal.i);
}

static void write_shift(const weft__explained *e, const weft__lang_node *node)
{
    static const char *const boundaries[] = {"unshifted", "clamp", "wrap", "constant"};
    const weft__lang_program *p = e->evaluation->program;
    const weft__lang_shift *shift = &p->shifts[node->shift];
    weft__text_add(e->text, "shift %s by (", name_of(e, node->operand).text);
    for (int k = 0; k < p->shapes[node->shape].ndim; k++)
        weft__text_add(e->text, "%s%lld", k ? ", " : "", (long long)shift->offset[k]);
    weft__text_add(e->text, "), boundary %s", boundaries[shift->boundary]);
    if (node->argument[1] >= 0)
        weft__text_add(e->text, " %%%d", node->argument[1]);
}

static void write_fold(const weft__explained *e, const weft__lang_node *node)
{
    weft__text_add(e->text, "%s %%%d over axes", weft__lang_operations[node->operation].name,
                   node->argument[0]);
    for (int k = 0; k < WEFT_NDIM_MAX; k++)
        if (node->axes >> k & 1)
            weft__text_add(e->text, " %d", k);
}

static void write_arguments(weft__text *text, const weft__lang_node *node)
{
    for (int k = 0; k < 3; k++)
        if (node->argument[k] >= 0)
            weft__text_add(text, " %%%d", node->argument[k]);
}

static const char *const loop_parts[] = {
    [WEFT__LOOP_CARRY] = "carry", [WEFT__LOOP_ENTER] = "enter", [WEFT__LOOP_TEST] = "while",
    [WEFT__LOOP_NEXT] = "next",   [WEFT__LOOP_END] = "end",     [WEFT__LOOP_RESULT] = "result of",
};

static void write_value(const weft__explained *e, const weft__lang_node *node)
{
    switch ((weft__lang_kind)node->kind) {
    case WEFT__NODE_LITERAL:
        write_literal(e->text, node);
        break;
    case WEFT__NODE_OPERAND:
        weft__text_add(e->text, "%s", name_of(e, node->operand).text);
        break;
    case WEFT__NODE_CAST:
        weft__text_add(e->text, "cast");
        write_arguments(e->text, node);
        break;
    case WEFT__NODE_BROADCAST:
        weft__text_add(e->text, "broadcast");
        write_arguments(e->text, node);
        break;
    case WEFT__NODE_INDEX:
        weft__text_add(e->text, "index along axis %d", -1 - node->axis);
        break;
    case WEFT__NODE_SHIFT:
        write_shift(e, node);
        break;
    case WEFT__NODE_MAP:
        weft__text_add(e->text, "%s", weft__lang_operations[node->operation].name);
        write_arguments(e->text, node);
        break;
    case WEFT__NODE_FOLD:
        write_fold(e, node);
        break;
    case WEFT__NODE_GATHER:
        weft__text_add(e->text, "element of %s at", name_of(e, node->operand).text);
        write_arguments(e->text, node);
        break;
    case WEFT__NODE_LOOP:
        weft__text_add(e->text, "loop: %s", loop_parts[node->operation]);
        write_arguments(e->text, node);
    }
}

void weft__explain_program(const weft__explained *e)
{
    const weft__lang_program *p = e->evaluation->program;
    weft__text_add(e->text, "values:\n");
    for (uint32_t i = 0; i < p->nodes_count; i++) {
        const weft__lang_node *node = &p->nodes[i];
        weft__text_add(e->text, "    %%%u = ", i);
        write_value(e, node);
        weft__text_add(e->text, " : %s%s", weft_dtype_name((weft_dtype)node->dtype),
                       node->weak ? ", untyped" : "");
        if (p->shapes[node->shape].ndim)
            weft__text_add(e->text, " %s", weft__shape_text_of(&p->shapes[node->shape]).text);
        weft__text_add(e->text, "\n");
    }
    for (uint32_t i = 0; i < p->assignments_count; i++)
        weft__text_add(e->text, "    %s = %%%d%s\n", name_of(e, p->assignments[i].operand).text,
                       p->assignments[i].node,
                       p->assignments[i].last ? "" : " (assigned again below)");
    if (p->value >= 0)
        weft__text_add(e->text, "    the value is %%%d\n", p->value);
}
