/* Finding loops that may become kernels: those that count, one inside the other. */
#include "function/nest.h"
#include "core/allocate.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void weft__nest_refuse(weft__function_nest *nest, uint32_t column, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(nest->reason.text, sizeof nest->reason.text, format, arguments);
    va_end(arguments);
    nest->reason.text[strcspn(nest->reason.text, "\n")] =
        0; /* the kernel's text means nothing to the user */
    nest->reason.column = column;
    nest->reason.from = 0;
}

/* The node is the variable alone. */
static bool is_variable(const weft__function_part *part, int32_t node, int32_t variable)
{
    const weft__syntax_node *n = &part->syntax->nodes[node];
    return n->kind == WEFT__SYNTAX_OPERAND && n->index < part->names_count &&
           part->variables[n->index] == variable;
}

static const int32_t *arguments_of(const weft__function_part *part, int32_t node)
{
    return part->syntax->arguments + part->syntax->nodes[node].first;
}

static bool is_call(const weft__function_part *part, int32_t node, uint32_t count)
{
    const weft__syntax_node *n = &part->syntax->nodes[node];
    return n->kind == WEFT__SYNTAX_CALL && n->count == count;
}

static bool find_lower(const weft__function *f, int32_t init, weft__nest_loop *loop)
{
    const weft__function_statement *s = init < 0 ? NULL : &f->statements[init];
    if (!s || s->variable < 0 || s->part < 0 || s->next >= 0 ||
        (s->kind != WEFT__STATEMENT_ASSIGN && s->kind != WEFT__STATEMENT_DECLARE))
        return false;
    uint8_t dtype = f->variables[s->variable].dtype;
    const weft__function_part *part = &f->parts[s->part];
    loop->variable = s->variable;
    loop->lower_part = s->part;
    loop->lower = part->node;
    for (int i = 0; i < part->names_count; i++)
        if (part->variables[i] == s->variable && part->whole[i])
            return false;
    return !dtype || dtype == WEFT_I32 || dtype == WEFT_I64;
}

static bool find_bound(const weft__function *f, const weft__function_statement *s,
                       weft__nest_loop *loop)
{
    if (s->part < 0 || !is_call(&f->parts[s->part], f->parts[s->part].node, 2))
        return false;
    const weft__function_part *part = &f->parts[s->part];
    const int32_t *sides = arguments_of(part, part->node);
    bool swapped = is_variable(part, sides[1], loop->variable);
    int uses = 0;
    for (uint32_t i = 0; i < part->syntax->nodes_count; i++)
        uses += is_variable(part, (int32_t)i, loop->variable);
    loop->bound_part = s->part;
    loop->bound = sides[swapped ? 0 : 1];
    loop->compare = part->syntax->nodes[part->node].operation;
    if (swapped)
        switch (loop->compare) {
        case WEFT__LANG_less:
            loop->compare = WEFT__LANG_greater;
            break;
        case WEFT__LANG_less_equal:
            loop->compare = WEFT__LANG_greater_equal;
            break;
        case WEFT__LANG_greater:
            loop->compare = WEFT__LANG_less;
            break;
        case WEFT__LANG_greater_equal:
            loop->compare = WEFT__LANG_less_equal;
            break;
        default:
            return false;
        }
    return uses == 1 && (swapped || is_variable(part, sides[0], loop->variable)) &&
           (loop->compare == WEFT__LANG_less || loop->compare == WEFT__LANG_less_equal ||
            loop->compare == WEFT__LANG_greater || loop->compare == WEFT__LANG_greater_equal);
}

/* v++, or v += a literal. */
static bool find_step(const weft__function *f, int32_t step, weft__nest_loop *loop)
{
    const weft__function_statement *s = step < 0 ? NULL : &f->statements[step];
    if (!s || s->variable != loop->variable)
        return false;
    if (s->kind == WEFT__STATEMENT_STEP) {
        loop->step = s->delta;
        return true;
    }
    const weft__function_part *part = &f->parts[s->part];
    if (s->kind != WEFT__STATEMENT_ASSIGN || !is_call(part, part->node, 2))
        return false;
    const int32_t *sides = arguments_of(part, part->node);
    const weft__syntax_node *literal = &part->syntax->nodes[sides[1]];
    bool minus = part->syntax->nodes[part->node].operation == WEFT__LANG_subtract;
    if (!is_variable(part, sides[0], loop->variable) || literal->kind != WEFT__SYNTAX_LITERAL ||
        literal->dtype != WEFT_I64 || literal->value.integer > 1 << 30 ||
        (!minus && part->syntax->nodes[part->node].operation != WEFT__LANG_add))
        return false;
    loop->step = (int64_t)literal->value.integer;
    if (minus != literal->negative)
        loop->step = -loop->step;
    return loop->step != 0;
}

static bool is_upward(const weft__nest_loop *loop)
{
    return loop->compare == WEFT__LANG_less || loop->compare == WEFT__LANG_less_equal;
}

static bool part_reads(const weft__function_part *part, int32_t variable)
{
    for (int i = 0; i < part->names_count; i++)
        if (part->variables[i] == variable && part->whole[i])
            return true;
    return false;
}

bool weft__nest_add_loop(const weft__function *f, int32_t statement, weft__function_nest *nest)
{
    const weft__function_statement *s = &f->statements[statement];
    weft__nest_loop loop = {.statement = statement, .guard = -1};
    if (!find_lower(f, s->init, &loop) || !find_bound(f, s, &loop) || !find_step(f, s->step, &loop))
        return false;
    if (is_upward(&loop) != (loop.step > 0))
        return false;
    for (int k = 0; k < nest->depth; k++) {
        int32_t outer = nest->loops[k].variable;
        if (outer == loop.variable)
            return false;
        loop.depends |= part_reads(&f->parts[loop.lower_part], outer) ||
                        part_reads(&f->parts[loop.bound_part], outer);
    }
    if (nest->depth == WEFT__NEST_DEPTH_MAX)
        return false;
    if (loop.depends && loop.step != 1 && loop.step != -1)
        return false;
    loop.index = loop.variable;
    nest->loops[nest->depth++] = loop;
    return true;
}

int32_t weft__nest_body(const weft__function *f, int32_t body)
{
    while (body >= 0 && f->statements[body].next < 0 &&
           f->statements[body].kind == WEFT__STATEMENT_BLOCK)
        body = f->statements[body].child;
    return body;
}

/* The only statement of a body, or -1. */
static int32_t only_statement(const weft__function *f, int32_t body)
{
    body = weft__nest_body(f, body);
    return body >= 0 && f->statements[body].next < 0 ? body : -1;
}

static weft_status find_nest(weft__function *f, int32_t statement, weft__function_nest *nest)
{
    nest->statement = statement;
    if (!weft__nest_add_loop(f, statement, nest)) {
        weft__nest_refuse(nest, f->statements[statement].column,
                          "it does not count from one bound to another by a constant");
        return WEFT_OK;
    }
    for (int32_t at = statement; nest->depth < WEFT__NEST_DEPTH_MAX;) {
        at = only_statement(f, f->statements[at].child);
        if (at < 0 || f->statements[at].kind != WEFT__STATEMENT_FOR ||
            !weft__nest_add_loop(f, at, nest))
            break;
    }
    TRY(weft__nest_emit(f, nest, false));
    if (!nest->candidate)
        TRY(weft__nest_emit_rows(f, nest));
    return nest->candidate ? WEFT_OK : weft__nest_emit_inner(f, nest);
}

/* What is refused must leave no trace in the error record. */
weft_status weft__function_nests(weft__function *f)
{
    for (uint32_t i = 0; i < f->statements_count; i++) {
        if (f->statements[i].kind != WEFT__STATEMENT_FOR)
            continue;
        TRY(weft__lang_room(&f->nests, f->nests_count, &f->nests_room, sizeof(void *)));
        weft__function_nest *nest = weft__allocate_zeroed(sizeof *nest);
        if (!nest)
            return WEFT_ERROR_MEMORY;
        f->statements[i].nest = (int32_t)f->nests_count;
        f->nests[f->nests_count++] = nest;
        TRY(find_nest(f, (int32_t)i, nest));
    }
    return WEFT_OK;
}
