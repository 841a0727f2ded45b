/* Reductions that the statements of a loop are: what they fold, as a value for each point. */
#include "function/emit.h"
#include <string.h>

/* Where the term of "s = s + term" is: what is left of the text without s and the operator. */
static bool term_of(const weft__emitter *e, const weft__function_part *part, weft__token sign,
                    uint32_t *begin, uint32_t *end)
{
    const weft__lang_syntax *s = part->syntax;
    const weft__syntax_node *root = &s->nodes[part->node];
    const int32_t *sides = s->arguments + root->first;
    bool function = root->operation == WEFT__LANG_minimum || root->operation == WEFT__LANG_maximum;
    bool first =
        s->nodes[sides[0]].kind == WEFT__SYNTAX_OPERAND && s->nodes[sides[0]].index == part->target;
    *begin = sign.at + sign.length;
    *end = part->end;
    if (sign.kind != WEFT__TOKEN_ASSIGN)
        return true;
    weft__lexer lexer = {e->f->code.text, part->end, *begin};
    weft__token token = weft__lex(&lexer), last = {WEFT__TOKEN_END, 0, 0, NULL};
    if (function) { /* min ( s , term ) or min ( term , s ) */
        weft__lex(&lexer);
        *begin = lexer.at;
        token = weft__lex(&lexer);
    }
    uint32_t comma = 0, before = token.at;
    for (int depth = 0; token.kind != WEFT__TOKEN_END; token = weft__lex(&lexer)) {
        if (!depth && (function ? token.kind == WEFT__TOKEN_COMMA : token.at == root->column))
            comma = token.at;
        depth += (token.kind == WEFT__TOKEN_OPEN) - (token.kind == WEFT__TOKEN_CLOSE);
        if (depth < 0)
            break;
        last = token;
    }
    if (!comma)
        return false;
    uint32_t close = last.at + last.length;
    *begin = first ? comma + 1 : before;
    *end = first ? close : comma;
    if (function && weft__lex(&lexer).kind != WEFT__TOKEN_END)
        return false; /* more follows the parenthesis */
    return true;
}

/* s = s op term, and s nowhere else in the loop. */
bool weft__emit_is_fold(const weft__emitter *e, const weft__function_statement *s)
{
    const weft__function_part *part = &e->f->parts[s->part];
    const weft__lang_syntax *syntax = part->syntax;
    const weft__syntax_node *root = &syntax->nodes[part->node];
    int reads = 0;
    if (s->kind != WEFT__STATEMENT_ASSIGN || root->kind != WEFT__SYNTAX_CALL || root->count != 2)
        return false;
    const int32_t *sides = syntax->arguments + root->first;
    bool direct[2];
    for (int k = 0; k < 2; k++)
        direct[k] = syntax->nodes[sides[k]].kind == WEFT__SYNTAX_OPERAND &&
                    syntax->nodes[sides[k]].index == part->target;
    for (uint32_t i = 0; i < syntax->nodes_count; i++)
        reads +=
            syntax->nodes[i].kind == WEFT__SYNTAX_OPERAND && syntax->nodes[i].index == part->target;
    bool both = root->operation == WEFT__LANG_add || root->operation == WEFT__LANG_multiply ||
                root->operation == WEFT__LANG_minimum || root->operation == WEFT__LANG_maximum;
    return reads == 1 && (direct[0] || (direct[1] && both)) &&
           (both || root->operation == WEFT__LANG_subtract);
}

/* Whether the node is made of what the loop does not change. */
static bool stays(const weft__emitter *e, const weft__function_part *part, int32_t node, int depth)
{
    const weft__syntax_node *n = &part->syntax->nodes[node];
    if (n->kind == WEFT__SYNTAX_LITERAL)
        return true;
    if (n->kind == WEFT__SYNTAX_OPERAND) {
        bool same = n->index < part->names_count &&
                    e->assigned[part->variables[n->index]] == WEFT__STATE_OUTSIDE;
        for (int k = 0; k < e->nest->depth && same; k++)
            same = e->nest->loops[k].variable != part->variables[n->index];
        return same;
    }
    bool same = n->kind == WEFT__SYNTAX_CALL && depth < 32;
    for (uint32_t k = 0; k < n->count && same; k++)
        same = stays(e, part, part->syntax->arguments[n->first + k], depth + 1);
    return same;
}

bool weft__emit_folds_element(const weft__emitter *e, const weft__function_statement *s)
{
    const weft__function_part *part = &e->f->parts[s->part];
    const weft__function_element *target = &part->elements[part->target - part->names_count];
    const weft__token_kind sign = weft__emit_operator(e->f, part).kind;
    int uses = 0;
    bool same = sign == WEFT__TOKEN_ADD_ASSIGN || sign == WEFT__TOKEN_SUBTRACT_ASSIGN ||
                sign == WEFT__TOKEN_MULTIPLY_ASSIGN;
    for (uint32_t k = 0; k < target->count && same; k++)
        same = stays(e, part, part->syntax->arguments[target->first + k], 0);
    for (int i = 0; i < part->elements_count; i++)
        uses += part->elements[i].variable == target->variable;
    return same && uses == 1 && !e->inner && !e->nest->joined && !e->nest->second &&
           weft__emit_uses(e, e->f->statements[e->scope].child, target->variable) == 1;
}

/* How often the loop's parts name the variable. */
int weft__emit_uses(const weft__emitter *e, int32_t first, int32_t variable)
{
    int uses = 0;
    for (int32_t at = first; at >= 0; at = e->f->statements[at].next) {
        const weft__function_statement *s = &e->f->statements[at];
        for (int32_t k = 0; k < s->parts_count; k++)
            for (int i = 0; i < e->f->parts[s->part + k].names_count; i++)
                uses += e->f->parts[s->part + k].variables[i] == variable;
        uses += s->part < 0 && s->variable == variable;
        uses += weft__emit_uses(e, s->child, variable) + weft__emit_uses(e, s->other, variable) +
                weft__emit_uses(e, s->init, variable) + weft__emit_uses(e, s->step, variable);
    }
    return uses;
}

weft_status weft__emit_points(weft__emitter *e, weft__nest_role role, int number)
{
    weft__function_nest *nest = e->nest;
    weft__lang_name name = weft__emit_name(nest, WEFT__NEST_DEPTH_MAX + number,
                                           role == WEFT__ROLE_FOLD ? "r" : "t", number);
    weft__emit_operand(e, role, number, name)->element = true;
    TRY(weft__emit_text(e, "%s(", name.text));
    for (int k = 0; k < nest->depth; k++) {
        weft__lang_name index = e->f->variables[nest->loops[k].index].name;
        TRY(weft__emit_text(e, "%s%.*s", k ? ", " : "", (int)index.length, index.text));
    }
    return weft__emit_text(e, ")");
}

/* Additions and subtractions may follow each other. */
static uint8_t kind_of(const weft__function *f, const weft__function_statement *s)
{
    if (s->kind == WEFT__STATEMENT_STEP)
        return WEFT__LANG_add;
    const weft__function_part *part = &f->parts[s->part];
    uint8_t operation = part->syntax->nodes[part->node].operation;
    return operation == WEFT__LANG_subtract ? WEFT__LANG_add : operation;
}

static int count_folds(const weft__emitter *e, int32_t first, const weft__function_statement *like)
{
    int count = 0;
    for (int32_t at = first; at >= 0; at = e->f->statements[at].next) {
        const weft__function_statement *s = &e->f->statements[at];
        bool folds = s->variable == like->variable &&
                     (s->kind == WEFT__STATEMENT_STEP || weft__emit_is_fold(e, s));
        count += folds && kind_of(e->f, s) == kind_of(e->f, like);
        count += count_folds(e, s->child, like) + count_folds(e, s->other, like);
    }
    return count;
}

bool weft__emit_only_folds(const weft__emitter *e, int32_t first, const weft__function_statement *s)
{
    return (s->kind == WEFT__STATEMENT_STEP || weft__emit_is_fold(e, s)) &&
           weft__emit_uses(e, first, s->variable) == count_folds(e, first, s);
}

/* "weft_r0(i, j) = ". */
static weft_status begin_fold(weft__emitter *e, const weft__function_statement *s,
                              uint8_t operation)
{
    weft__function_nest *nest = e->nest;
    if (nest->folds_count == WEFT__NEST_FOLDS_MAX)
        weft__nest_refuse(nest, s->column, "it has more than %d reductions",
                          (int)WEFT__NEST_FOLDS_MAX);
    if (weft__emit_refused(e))
        return WEFT_OK;
    nest->folds[nest->folds_count] = (weft__nest_fold){s->variable, operation, s->part};
    TRY(weft__emit_points(e, WEFT__ROLE_FOLD, nest->folds_count++));
    return weft__emit_text(e, " = ");
}

/* ", s)": what the variable was before the loop changes no minimum and no maximum. */
static weft_status emit_before(weft__emitter *e, int32_t variable)
{
    weft__lang_name name = e->f->variables[variable].name;
    weft__emit_operand(e, WEFT__ROLE_VARIABLE, variable, name);
    TRY(weft__emit_text(e, ", "));
    TRY(weft__emit_bytes(e, name.text, name.length));
    return weft__emit_text(e, ")");
}

/* Of s++ there is no part: the term is 1. */
weft_status weft__emit_fold(weft__emitter *e, const weft__function_statement *s, const char *guard)
{
    weft__function_nest *nest = e->nest;
    const weft__function_part *part = s->part < 0 ? NULL : &e->f->parts[s->part];
    uint8_t operation = part ? part->syntax->nodes[part->node].operation : WEFT__LANG_add;
    bool neutral = operation != WEFT__LANG_minimum && operation != WEFT__LANG_maximum;
    uint32_t begin = 0, end = 0;
    if ((guard && !neutral && nest->second) ||
        (part && !term_of(e, part, weft__emit_operator(e->f, part), &begin, &end)))
        weft__nest_refuse(nest, s->column, "this reduction is not one that becomes a kernel");
    TRY(begin_fold(e, s, operation));
    if (weft__emit_refused(e))
        return WEFT_OK;
    if (guard)
        TRY(weft__emit_text(e, "where(%s, ", guard));
    if (part)
        TRY(weft__emit_part(e, begin, end));
    else
        TRY(weft__emit_text(e, "%d", s->delta));
    if (guard && neutral)
        TRY(weft__emit_text(e, ", %d)", operation == WEFT__LANG_multiply));
    else if (guard)
        TRY(emit_before(e, s->variable));
    weft__emit_end(e, false);
    return weft__emit_bytes(e, "; ", 2);
}

/* Whether both are the same, token by token. */
static bool is_same_text(const weft__function *f, uint32_t a, uint32_t a_end, uint32_t b,
                         uint32_t b_end)
{
    weft__lexer first = {f->code.text, a_end, a}, second = {f->code.text, b_end, b};
    for (;;) {
        weft__token x = weft__lex(&first), y = weft__lex(&second);
        if (x.kind != y.kind || x.length != y.length ||
            memcmp(f->code.text + x.at, f->code.text + y.at, x.length))
            return false;
        if (x.kind == WEFT__TOKEN_END)
            return true;
    }
}

/* The assignment of "if (term < s) s = term;", or NULL. */
static const weft__function_statement *only_assignment(const weft__function *f,
                                                       const weft__function_statement *s)
{
    int32_t at = s->other >= 0 ? -1 : weft__nest_body(f, s->child);
    const weft__function_statement *only = at < 0 ? NULL : &f->statements[at];
    return only && only->next < 0 && only->kind == WEFT__STATEMENT_ASSIGN && only->variable >= 0
               ? only
               : NULL;
}

/* Whether a condition compares the variable with the text from `begin`: the minimum or maximum. */
bool weft__emit_compares(const weft__function *f, const weft__function_part *condition,
                         int32_t variable, uint32_t begin, uint32_t end, uint8_t *operation)
{
    const weft__lang_syntax *s = condition->syntax;
    const weft__syntax_node *root = &s->nodes[condition->node];
    weft__lexer lexer = {f->code.text, condition->end, root->column};
    if (root->kind != WEFT__SYNTAX_CALL || root->count != 2)
        return false;
    const bool less =
        root->operation == WEFT__LANG_less || root->operation == WEFT__LANG_less_equal;
    if (!less && root->operation != WEFT__LANG_greater &&
        root->operation != WEFT__LANG_greater_equal)
        return false;
    uint32_t after = root->column + weft__lex(&lexer).length;
    for (int side = 0; side < 2; side++) {
        const weft__syntax_node *n = &s->nodes[s->arguments[root->first + (uint32_t)side]];
        if (n->kind != WEFT__SYNTAX_OPERAND || n->index >= condition->names_count ||
            condition->variables[n->index] != variable)
            continue;
        *operation = less == (side == 1) ? WEFT__LANG_minimum : WEFT__LANG_maximum;
        return side == 1 ? is_same_text(f, condition->begin, root->column, begin, end)
                         : is_same_text(f, after, condition->end, begin, end);
    }
    return false;
}

static bool find_extreme(const weft__emitter *e, const weft__function_statement *s, uint32_t *begin,
                         uint8_t *operation)
{
    const weft__function_statement *only = only_assignment(e->f, s);
    if (!only || e->inner || e->nest->second || e->assigned[only->variable] != WEFT__STATE_ASSIGNED)
        return false;
    const weft__function_part *part = &e->f->parts[only->part];
    weft__token sign = weft__emit_operator(e->f, part);
    *begin = sign.at + sign.length;
    return sign.kind == WEFT__TOKEN_ASSIGN &&
           weft__emit_compares(e->f, &e->f->parts[s->part], only->variable, *begin, part->end,
                               operation) &&
           weft__emit_uses(e, e->f->statements[e->scope].child, only->variable) == 2;
}

bool weft__emit_is_extreme(const weft__emitter *e, const weft__function_statement *s)
{
    uint32_t begin;
    uint8_t operation;
    return find_extreme(e, s, &begin, &operation);
}

/* What is not less than the variable was at first is never assigned, a NaN among it. */
weft_status weft__emit_extreme(weft__emitter *e, const weft__function_statement *s,
                               const char *guard)
{
    const weft__function_part *condition = &e->f->parts[s->part];
    const weft__function_statement *only = only_assignment(e->f, s);
    uint32_t begin = 0;
    uint8_t operation = WEFT__LANG_minimum;
    find_extreme(e, s, &begin, &operation);
    TRY(begin_fold(e, only, operation));
    TRY(weft__emit_text(e, "where(%s%s(", guard ? guard : "", guard ? " && " : ""));
    e->assigned[only->variable] = WEFT__STATE_OUTSIDE;
    TRY(weft__emit_part(e, condition->begin, condition->end));
    e->assigned[only->variable] = WEFT__STATE_ASSIGNED;
    TRY(weft__emit_text(e, "), "));
    TRY(weft__emit_part(e, begin, e->f->parts[only->part].end));
    TRY(emit_before(e, only->variable));
    weft__emit_end(e, false);
    return weft__emit_text(e, "; ");
}
