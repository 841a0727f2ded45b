/* Finding loops that may become kernels: those that count, one inside the other. */
#include "function/nest.h"
#include "core/allocate.h"
#include "function/task.h"
#include "lang/error.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* "(weft_b0+i)" is i to the user: what a loop counts, of which the kernel has the first value. */
static void hide_bases(char *text)
{
    char *to = text, *end = text;
    for (const char *from = text; *from;) {
        const char *name = strncmp(from, "(weft_b", 7) ? NULL : strpbrk(from, "+-");
        if (name && name[1] >= '0' && name[1] <= '9')
            name = strchr(name, '*');
        end = name ? strchr(name, ')') : NULL;
        if (!end) {
            *to++ = *from++;
            continue;
        }
        memmove(to, name + 1, (size_t)(end - name - 1));
        to += end - name - 1;
        from = end + 1;
    }
    *to = 0;
}

uint32_t weft__nest_column(const weft__function_nest *nest, uint32_t column)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < nest->columns_count && nest->columns[i][0] <= column; i++)
        found = nest->columns[i][1];
    return found;
}

/* The loop whose variable the kernel does not know: nothing that is written depends on it. */
static const weft__nest_loop *unknown_loop(const weft__function *f, const weft__function_nest *nest)
{
    static const char unknown[] = "unknown name '";
    const char *text = weft__function_reason();
    for (int k = 0; k < nest->depth && !strncmp(text, unknown, sizeof unknown - 1); k++) {
        weft__lang_name name = f->variables[nest->loops[k].index].name;
        const char *given = text + sizeof unknown - 1;
        if (!strncmp(given, name.text, name.length) && given[name.length] == '\'')
            return &nest->loops[k];
    }
    return NULL;
}

void weft__nest_refuse_kernel(const weft__function *f, weft__function_nest *nest,
                              weft__lang_name code)
{
    const weft__nest_loop *loop = unknown_loop(f, nest);
    uint32_t column = f->statements[nest->statement].column;
    size_t at;
    if (loop) {
        weft__lang_name name = f->variables[loop->variable].name;
        weft__nest_refuse(nest, f->statements[loop->statement].column,
                          "every iteration over '%s' writes the same elements",
                          QUOTE(name.text, name.length));
        return;
    }
    if (weft__lang_failed_at(code, &at) && at < UINT32_MAX)
        column = weft__nest_column(nest, (uint32_t)at);
    if (strstr(weft__function_reason(), "it is never read")) { /* perhaps a name of the kernel */
        weft__nest_refuse(nest, column, "a value in it is never used");
        return;
    }
    weft__nest_refuse(nest, column, "a kernel cannot have it: %s", weft__function_reason());
}

void weft__nest_refuse(weft__function_nest *nest, uint32_t column, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(nest->reason.text, sizeof nest->reason.text, format, arguments);
    va_end(arguments);
    nest->reason.text[strcspn(nest->reason.text, "\n")] =
        0; /* the kernel's text means nothing to the user */
    hide_bases(nest->reason.text);
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
            break;
        }
    return uses == 1 && (swapped || is_variable(part, sides[0], loop->variable)) &&
           (loop->compare == WEFT__LANG_less || loop->compare == WEFT__LANG_less_equal ||
            loop->compare == WEFT__LANG_greater || loop->compare == WEFT__LANG_greater_equal ||
            loop->compare == WEFT__LANG_not_equal);
}

/* v++, or v += a literal; of v += anything else, `by` is what. */
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
    int uses = 0;
    for (uint32_t i = 0; i < part->syntax->nodes_count; i++)
        uses += is_variable(part, (int32_t)i, loop->variable);
    const weft__syntax_node *literal = &part->syntax->nodes[sides[1]];
    bool minus = part->syntax->nodes[part->node].operation == WEFT__LANG_subtract;
    if (!is_variable(part, sides[0], loop->variable) || uses != 1 ||
        (!minus && part->syntax->nodes[part->node].operation != WEFT__LANG_add))
        return false;
    loop->by_part = s->part;
    loop->by = sides[1];
    loop->minus = minus;
    if (literal->kind != WEFT__SYNTAX_LITERAL || literal->dtype != WEFT_I64 ||
        literal->value.integer > 1 << 30)
        return true;
    loop->step = (int64_t)literal->value.integer;
    if (minus != literal->negative)
        loop->step = -loop->step;
    return true;
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

bool weft__nest_find_loop(const weft__function *f, int32_t statement, weft__nest_loop *loop)
{
    const weft__function_statement *s = &f->statements[statement];
    *loop = (weft__nest_loop){.statement = statement, .guard = -1, .by_part = -1};
    return find_lower(f, s->init, loop) && find_bound(f, s, loop) && find_step(f, s->step, loop);
}

bool weft__nest_add_loop(const weft__function *f, int32_t statement, weft__function_nest *nest)
{
    weft__nest_loop loop;
    if (!weft__nest_find_loop(f, statement, &loop) || loop.step == 0)
        return false;
    bool either = loop.compare == WEFT__LANG_not_equal;
    if (!either && is_upward(&loop) != (loop.step > 0))
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
    if (loop.depends && either)
        return false;
    if (loop.depends) {
        loop.every = loop.step < 0 ? -loop.step : loop.step;
        loop.step /= loop.every;
    }
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

/* A loop behind variables that are set before it, and nothing behind it; or -1. */
static int32_t last_loop(const weft__function *f, int32_t body)
{
    int32_t at = weft__nest_body(f, body);
    while (at >= 0 && f->statements[at].next >= 0 && f->statements[at].variable >= 0 &&
           f->statements[at].part >= 0 &&
           (f->statements[at].kind == WEFT__STATEMENT_ASSIGN ||
            f->statements[at].kind == WEFT__STATEMENT_DECLARE))
        at = f->statements[at].next;
    return at >= 0 && f->statements[at].next < 0 && f->statements[at].kind == WEFT__STATEMENT_FOR
               ? at
               : -1;
}

/* The loops as one nest though variables are set between them, if a kernel can have that. */
static weft_status find_deeper(weft__function *f, weft__function_nest *nest)
{
    const int depth = nest->depth;
    for (int32_t at = nest->loops[depth - 1].statement; nest->depth < WEFT__NEST_DEPTH_MAX;) {
        at = last_loop(f, f->statements[at].child);
        if (at < 0 || !weft__nest_add_loop(f, at, nest))
            break;
    }
    if (nest->depth == depth)
        return WEFT_OK;
    TRY(weft__nest_emit(f, nest, false));
    if (nest->candidate)
        return WEFT_OK;
    weft__nest_clear(nest);
    nest->depth = depth;
    return WEFT_OK;
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
    TRY(find_deeper(f, nest));
    if (nest->candidate)
        return WEFT_OK;
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
    for (uint32_t i = 0; i < f->nests_count; i++) /* they ask about the nests in them */
        TRY(weft__task_new(f, f->nests[i]->statement, &f->nests[i]->task));
    return WEFT_OK;
}
