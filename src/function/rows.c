/* Loops around a loop that folds: one kernel folds over the inner loops, and a second one does the
 * rest with what comes out. Of two forms:
 *
 *     for i { s = …; for k { s += …; } y(i) = … s …; }
 *     for i for k { y(i) += …; }
 */
#include "core/allocate.h"
#include "function/emit.h"
#include <string.h>

/* A loop that is being written as two kernels. */
typedef struct rows {
    weft__function *f;
    weft__function_nest *nest, *second;
    weft__emitter first_text, second_text;
    int32_t list;     /* the statements around the inner loop */
    int32_t inner;    /* the inner loop */
    bool accumulates; /* it is "y(i) += …" */
} rows;

static bool is_refused(const rows *r)
{
    return r->nest->reason.text[0] || r->second->reason.text[0];
}

static void refuse(const rows *r, uint32_t column, const char *why)
{
    weft__nest_refuse(r->nest, column, "%s", why);
}

/* Whether the node is made of the variable. */
static bool has_variable(const weft__function_part *part, int32_t node, int32_t variable, int depth)
{
    const weft__syntax_node *n = &part->syntax->nodes[node];
    if (n->kind == WEFT__SYNTAX_OPERAND && n->index < part->names_count)
        return part->variables[n->index] == variable;
    bool found = depth > 32;
    for (uint32_t k = 0; k < n->count && !found; k++)
        found = has_variable(part, part->syntax->arguments[n->first + k], variable, depth + 1);
    return found;
}

/* y(i) += …: the loops that its subscripts are not made of are folded. */
static bool find_folded(const rows *r, const weft__function_part *part)
{
    const weft__function_element *target = &part->elements[part->target - part->names_count];
    int kept = 0;
    for (int k = 0; k < r->nest->depth; k++) {
        int32_t variable = r->nest->loops[k].variable;
        r->nest->folded[k] = true;
        for (uint32_t i = 0; i < target->count; i++)
            if (has_variable(part, part->syntax->arguments[target->first + i], variable, 0))
                r->nest->folded[k] = false;
        if (!r->nest->folded[k])
            r->second->loops[kept++] = r->nest->loops[k];
    }
    r->second->depth = kept;
    int uses = 0;
    for (int i = 0; i < part->elements_count; i++)
        uses += part->elements[i].variable == target->variable;
    return kept > 0 && kept < r->nest->depth && uses == 1;
}

static uint8_t operation_of(weft__token_kind kind)
{
    return kind == WEFT__TOKEN_ADD_ASSIGN        ? WEFT__LANG_add
           : kind == WEFT__TOKEN_SUBTRACT_ASSIGN ? WEFT__LANG_subtract
           : kind == WEFT__TOKEN_MULTIPLY_ASSIGN ? WEFT__LANG_multiply
                                                 : WEFT__LANG_OPERATION_END;
}

/* weft_r0(i, k) = …, and y(i) = y(i) + weft_t0(i). */
static weft_status emit_sum(rows *r, const weft__function_statement *s, const char *guard)
{
    const weft__function_part *part = &r->f->parts[s->part];
    weft__token sign = weft__emit_operator(r->f, part);
    uint8_t operation = operation_of(sign.kind);
    weft__emitter *a = &r->first_text, *b = &r->second_text;
    int32_t variable = part->elements[part->target - part->names_count].variable;
    r->nest->folds[r->nest->folds_count++] = (weft__nest_fold){-1, operation, -1};
    TRY(weft__emit_points(a, WEFT__ROLE_FOLD, 0));
    TRY(weft__emit_text(a, guard ? " = where(%s, " : " = ", guard));
    TRY(weft__emit_part(a, sign.at + sign.length, part->end));
    if (guard)
        TRY(weft__emit_text(a, ", %d)", operation == WEFT__LANG_multiply));
    weft__emit_end(a, false);
    TRY(weft__emit_part(b, part->begin, sign.at));
    TRY(weft__emit_text(b, "%.*s ", (int)sign.length, r->f->code.text + sign.at));
    TRY(weft__emit_points(b, WEFT__ROLE_FOLDED, 0));
    weft__emit_end(b, false);
    weft__emit_operand(b, WEFT__ROLE_VARIABLE, variable, r->f->variables[variable].name)->written =
        true;
    return WEFT_OK;
}

static weft_status emit_accumulation(rows *r, const weft__function_statement *s)
{
    const weft__function_part *part = &r->f->parts[s->part];
    weft__token sign = weft__emit_operator(r->f, part);
    weft__emitter *a = &r->first_text;
    const char *guard;
    if (operation_of(sign.kind) == WEFT__LANG_OPERATION_END || !find_folded(r, part)) {
        refuse(r, s->column, "every iteration of an inner loop writes the same elements");
        return WEFT_OK;
    }
    for (int k = 0; k < r->second->depth; k++)
        if (r->second->loops[k].depends)
            refuse(r, s->column, "the loops that are not folded depend on others");
    TRY(weft__emit_guards(a, &guard));
    return emit_sum(r, s, guard);
}
/* The statement of a body that is "y(i) += …" and nothing else, or NULL. */
static const weft__function_statement *only_accumulation(const rows *r, int32_t body)
{
    int32_t at = weft__nest_body(r->f, body);
    const weft__function_statement *s = at < 0 ? NULL : &r->f->statements[at];
    if (!s || s->next >= 0 || s->kind != WEFT__STATEMENT_ASSIGN || s->variable >= 0)
        return NULL;
    const weft__function_part *part = &r->f->parts[s->part];
    return operation_of(weft__emit_operator(r->f, part).kind) != WEFT__LANG_OPERATION_END ? s
                                                                                          : NULL;
}

/* Which array the statement writes an element of, or -1. */
static int32_t written_by(const rows *r, const weft__function_statement *s)
{
    if (s->kind != WEFT__STATEMENT_ASSIGN || s->variable >= 0)
        return -1;
    const weft__function_part *part = &r->f->parts[s->part];
    return part->elements[part->target - part->names_count].variable;
}

/* y(i) = …; for k { y(i) += …; } with y(i) the same in all iterations of the loop, and nothing
 * written but y. */
static bool is_accumulated(const rows *r, const weft__function_statement *s)
{
    const weft__function_part *part = &r->f->parts[s->part];
    const weft__function_element *target = &part->elements[part->target - part->names_count];
    bool fits = r->f->statements[r->inner].next < 0;
    for (int k = r->second->depth; k < r->nest->depth; k++)
        for (uint32_t i = 0; i < target->count; i++)
            fits &= !has_variable(part, part->syntax->arguments[target->first + i],
                                  r->nest->loops[k].variable, 0);
    for (int32_t at = r->list; at != r->inner; at = r->f->statements[at].next) {
        const weft__function_statement *before = &r->f->statements[at];
        fits &= before->variable >= 0 || written_by(r, before) == target->variable;
    }
    return fits;
}

/* How often one statement names the variable. */
static int uses_of(const rows *r, int32_t at, int32_t variable)
{
    const weft__function_statement *s = &r->f->statements[at];
    const weft__emitter *e = &r->first_text;
    int uses = weft__emit_uses(e, s->child, variable) + weft__emit_uses(e, s->other, variable) +
               weft__emit_uses(e, s->init, variable) + weft__emit_uses(e, s->step, variable);
    for (int32_t k = 0; k < s->parts_count; k++)
        for (int i = 0; i < r->f->parts[s->part + k].names_count; i++)
            uses += r->f->parts[s->part + k].variables[i] == variable;
    return uses;
}

static int fold_of(const rows *r, int32_t variable)
{
    for (int k = 0; k < r->nest->folds_count; k++)
        if (r->nest->folds[k].variable == variable)
            return k;
    return -1;
}

/* Whether the kernel needs what the statement before the inner loop sets: the first one for that
 * loop, the second one for all others. */
static bool is_needed(const rows *r, int32_t at, bool first)
{
    int32_t variable = r->f->statements[at].variable;
    int uses = first ? uses_of(r, r->inner, variable) : fold_of(r, variable) >= 0;
    for (int32_t k = r->f->statements[at].next; k >= 0; k = r->f->statements[k].next) {
        if (k == r->inner && first)
            break;
        uses += k == r->inner ? 0 : uses_of(r, k, variable);
    }
    return uses > 0;
}

/* The statements before the inner loop. */
static weft_status emit_before(rows *r, weft__emitter *e, bool first, const char *guard)
{
    for (int32_t at = r->list; at != r->inner && !is_refused(r); at = r->f->statements[at].next) {
        const weft__function_statement *s = &r->f->statements[at];
        bool plain = s->variable >= 0 &&
                     (s->kind == WEFT__STATEMENT_ASSIGN || s->kind == WEFT__STATEMENT_DECLARE);
        if (written_by(r, s) >= 0 && r->accumulates) {
            if (!first)
                TRY(weft__emit_statement(e, s, guard));
        } else if (!plain)
            refuse(r, s->column, "there is more than variables before the loop in it");
        else if (!is_needed(r, at, true) && !is_needed(r, at, false))
            refuse(r, s->column, "a variable in it is not used there");
        else if (is_needed(r, at, first) && !(first && fold_of(r, s->variable) >= 0))
            TRY(weft__emit_statement(e, s, guard));
    }
    return WEFT_OK;
}

static bool writes_elements(const rows *r, int32_t first)
{
    bool writes = false;
    for (int32_t at = first; at >= 0 && !writes; at = r->f->statements[at].next) {
        const weft__function_statement *s = &r->f->statements[at];
        writes = (s->kind == WEFT__STATEMENT_ASSIGN && s->variable < 0) ||
                 writes_elements(r, s->child) || writes_elements(r, s->other);
    }
    return writes;
}

/* The folds of a loop are found by writing it; what is before it depends on which they are. */
static weft_status find_folds(rows *r, int32_t body)
{
    for (int32_t at = weft__nest_body(r->f, body); at >= 0; at = r->f->statements[at].next) {
        const weft__function_statement *s = &r->f->statements[at];
        bool choice = s->kind == WEFT__STATEMENT_IF;
        if (choice && s->child >= 0)
            TRY(find_folds(r, s->child));
        if (choice && s->other >= 0)
            TRY(find_folds(r, s->other));
        if (s->kind == WEFT__STATEMENT_ASSIGN && s->variable >= 0 &&
            weft__emit_only_folds(&r->first_text, r->f->statements[r->inner].child, s) &&
            uses_of(r, r->inner, s->variable) ==
                weft__emit_uses(&r->first_text, r->f->statements[r->inner].child, s->variable) &&
            r->nest->folds_count < WEFT__NEST_FOLDS_MAX)
            r->nest->folds[r->nest->folds_count++] = (weft__nest_fold){s->variable, 0, -1};
    }
    return WEFT_OK;
}

/* s = s + weft_t0(i). */
static weft_status emit_folded(rows *r, int number)
{
    weft__emitter *b = &r->second_text;
    const weft__nest_fold *fold = &r->nest->folds[number];
    const weft__function_variable *v = &r->f->variables[fold->variable];
    char name[72] = "";
    bool least = fold->operation == WEFT__LANG_minimum;
    bool function = least || fold->operation == WEFT__LANG_maximum;
    if (v->name.length < sizeof name)
        memcpy(name, v->name.text, v->name.length);
    if (!name[0] || b->assigned[fold->variable] != WEFT__STATE_SET) {
        refuse(r, r->f->statements[r->inner].column, "what it folds is carried on");
        return WEFT_OK;
    }
    TRY(weft__emit_text(b, "%s = %s(", name,
                        v->dtype ? weft_dtype_name((weft_dtype)v->dtype) : ""));
    if (function)
        TRY(weft__emit_text(b, "%s(%s, ", least ? "min" : "max", name));
    else
        TRY(weft__emit_text(b, "%s %c ", name,
                            fold->operation == WEFT__LANG_add        ? '+'
                            : fold->operation == WEFT__LANG_subtract ? '-'
                                                                     : '*'));
    TRY(weft__emit_points(b, WEFT__ROLE_FOLDED, number));
    TRY(weft__emit_text(b, function ? ")); " : "); "));
    weft__emit_end(b, false);
    return WEFT_OK;
}

static weft_status emit_second(rows *r)
{
    weft__emitter *b = &r->second_text;
    const char *guard;
    TRY(weft__emit_guards(b, &guard));
    TRY(emit_before(r, b, false, guard));
    for (int k = 0; k < r->nest->folds_count && !is_refused(r); k++)
        TRY(emit_folded(r, k));
    if (is_refused(r))
        return WEFT_OK;
    return weft__emit_list(b, r->f->statements[r->inner].next, guard);
}

/* Bounds of the inner loops are made of what is known before all of them. */
static bool has_plain_bounds(const rows *r)
{
    bool plain = true;
    for (int k = r->second->depth; k < r->nest->depth; k++) {
        const weft__nest_loop *loop = &r->nest->loops[k];
        const weft__function_part *parts[] = {&r->f->parts[loop->lower_part],
                                              &r->f->parts[loop->bound_part]};
        for (int side = 0; side < 2; side++)
            for (int i = 0; i < parts[side]->names_count; i++) {
                int32_t variable = parts[side]->variables[i];
                bool counts = false;
                for (int l = 0; l < r->nest->depth; l++)
                    counts |= r->nest->loops[l].variable == variable;
                plain &= counts || !r->second_text.assigned[variable];
            }
    }
    return plain;
}

/* y(i) = …; for k { y(i) += …; } */
static weft_status emit_accumulating(rows *r, const weft__function_statement *s)
{
    const char *guard, *second_guard;
    r->accumulates = true;
    weft__emit_mark(&r->first_text, r->list);
    TRY(weft__emit_guards(&r->first_text, &guard));
    TRY(emit_before(r, &r->first_text, true, guard));
    if (is_refused(r))
        return WEFT_OK;
    TRY(weft__emit_guards(&r->second_text, &second_guard));
    TRY(emit_before(r, &r->second_text, false, second_guard));
    if (second_guard)
        refuse(r, s->column, "the loops that are not folded depend on others");
    return is_refused(r) ? WEFT_OK : emit_sum(r, s, guard);
}

static weft_status emit_fold_loop(rows *r)
{
    weft__emitter *a = &r->first_text;
    int32_t body = r->f->statements[r->nest->loops[r->nest->depth - 1].statement].child;
    const weft__function_statement *sum = only_accumulation(r, body);
    const char *guard;
    if (sum && has_plain_bounds(r) && is_accumulated(r, sum))
        return emit_accumulating(r, sum);
    if (writes_elements(r, body) || !has_plain_bounds(r)) {
        refuse(r, r->f->statements[r->inner].column,
               "there is a loop beside other statements in it");
        return WEFT_OK;
    }
    weft__emit_mark(a, r->list);
    TRY(find_folds(r, body));
    TRY(weft__emit_guards(a, &guard));
    TRY(emit_before(r, a, true, guard));
    a->scope = r->inner;
    weft__emit_mark(a, body); /* what the inner loop carries from one iteration to the next */
    int expected = r->nest->folds_count;
    r->nest->folds_count = 0; /* they are found again, in the order of the text */
    if (!is_refused(r))
        TRY(weft__emit_list(a, body, guard));
    if (!is_refused(r) && (expected == 0 || r->nest->folds_count != expected))
        refuse(r, r->f->statements[r->inner].column,
               "there is a loop beside other statements in it");
    return is_refused(r) ? WEFT_OK : emit_second(r);
}

/* The one loop among the statements, or -1. */
static int32_t find_inner(const rows *r)
{
    int32_t found = -1;
    for (int32_t at = r->list; at >= 0; at = r->f->statements[at].next) {
        uint8_t kind = r->f->statements[at].kind;
        if (kind != WEFT__STATEMENT_FOR && kind != WEFT__STATEMENT_WHILE)
            continue;
        if (found >= 0 || kind == WEFT__STATEMENT_WHILE)
            return -1;
        found = at;
    }
    return found;
}

static bool add_inner_loops(rows *r)
{
    int outer = r->nest->depth;
    for (int32_t at = r->inner; at >= 0 && r->f->statements[at].kind == WEFT__STATEMENT_FOR;) {
        if (!weft__nest_add_loop(r->f, at, r->nest))
            break;
        r->nest->folded[r->nest->depth - 1] = true;
        at = weft__nest_body(r->f, r->f->statements[at].child);
        if (at >= 0 && r->f->statements[at].next >= 0)
            break;
    }
    return r->nest->depth > outer;
}

static weft_status emit_rows(rows *r)
{
    const weft__function_statement *inmost =
        &r->f->statements[r->nest->loops[r->nest->depth - 1].statement];
    r->list = weft__nest_body(r->f, inmost->child);
    const weft__function_statement *only = r->list < 0 ? NULL : &r->f->statements[r->list];
    r->inner = find_inner(r);
    if (only && only->next < 0 && only->kind == WEFT__STATEMENT_ASSIGN && only->variable < 0) {
        TRY(weft__emit_begin(&r->first_text, inmost->child));
        TRY(weft__emit_begin(&r->second_text, inmost->child));
        return is_refused(r) ? WEFT_OK : emit_accumulation(r, only);
    }
    if (r->inner < 0 || !add_inner_loops(r)) {
        refuse(r, inmost->column, "there is a loop beside other statements in it");
        return WEFT_OK;
    }
    int32_t body = r->f->statements[r->nest->loops[r->nest->depth - 1].statement].child;
    TRY(weft__emit_begin(&r->first_text, body));
    TRY(weft__emit_begin(&r->second_text, inmost->child));
    return is_refused(r) ? WEFT_OK : emit_fold_loop(r);
}

/* What the second kernel writes is not read by the first. */
static bool is_apart(const rows *r)
{
    for (int i = 0; i < r->second->operands_count; i++)
        for (int k = 0; r->second->operands[i].written && k < r->nest->operands_count; k++)
            if (r->nest->operands[k].role == WEFT__ROLE_VARIABLE &&
                r->nest->operands[k].index == r->second->operands[i].index)
                return false;
    return true;
}

static weft_status parse_both(rows *r)
{
    if (!is_apart(r))
        refuse(r, r->f->statements[r->nest->statement].column,
               "what is written is read by the fold of other iterations");
    if (!is_refused(r))
        TRY(weft__emit_parse(&r->first_text));
    if (!is_refused(r))
        TRY(weft__emit_parse(&r->second_text));
    return WEFT_OK;
}

void weft__nest_clear(weft__function_nest *nest)
{
    weft__lang_syntax_free(nest->syntax);
    weft__free(nest->text);
    nest->syntax = NULL;
    nest->text = NULL;
    nest->operands_count = nest->folds_count = 0;
    nest->columns_count = 0;
    nest->has_privates = nest->candidate = nest->positions = false;
    nest->reason.text[0] = 0;
    for (int k = 0; k < nest->depth; k++)
        nest->loops[k].guard = -1;
}

weft_status weft__nest_emit_rows(weft__function *f, weft__function_nest *nest)
{
    char why[sizeof nest->reason.text];
    uint32_t column = nest->reason.column;
    const int depth = nest->depth;
    rows r = {.f = f, .nest = nest};
    memcpy(why, nest->reason.text, sizeof why);
    weft__nest_clear(nest);
    r.second = nest->second = weft__allocate_zeroed(sizeof *nest->second);
    if (!r.second)
        return WEFT_ERROR_MEMORY;
    r.second->statement = nest->statement;
    r.second->depth = nest->depth;
    memcpy(r.second->loops, nest->loops, sizeof nest->loops);
    r.first_text = (weft__emitter){.f = f, .nest = nest};
    r.second_text = (weft__emitter){.f = f, .nest = r.second};
    weft_status status = emit_rows(&r);
    if (status == WEFT_OK && !is_refused(&r))
        status = parse_both(&r);
    weft__free(r.first_text.assigned);
    weft__free(r.second_text.assigned);
    if (status != WEFT_OK || !is_refused(&r))
        return status;
    weft__nest_clear(nest);
    weft__function_nest_free(nest->second);
    nest->second = NULL;
    nest->depth = depth;
    weft__nest_refuse(nest, column, "%s", why);
    return WEFT_OK;
}
