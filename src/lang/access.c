/* Portable kernels: their indices, the elements they read and write, and the rule at the edges. */
#include "lang/parser.h"
#include <string.h>

int weft__parse_operand_named(const weft__parser *p, const char *text, size_t length)
{
    for (int i = 0; i < p->syntax->names_count; i++)
        if (p->syntax->names[i].length == length && !memcmp(p->syntax->names[i].text, text, length))
            return i;
    return -1;
}

int weft__parse_index_named(const weft__parser *p, const char *text, size_t length)
{
    for (int i = 0; i < p->syntax->indices_count; i++)
        if (p->syntax->indices[i].length == length &&
            !memcmp(p->syntax->indices[i].text, text, length))
            return i;
    return -1;
}

static bool is_assignment(weft__token_kind kind)
{
    return kind == WEFT__TOKEN_ASSIGN || kind == WEFT__TOKEN_SHIFT_LEFT_ASSIGN ||
           kind == WEFT__TOKEN_SHIFT_RIGHT_ASSIGN ||
           (kind >= WEFT__TOKEN_ADD_ASSIGN && kind <= WEFT__TOKEN_XOR_ASSIGN);
}

static weft_status add_index(weft__parser *p, weft__token name)
{
    weft__lang_syntax *s = p->syntax;
    const char *text = TOKEN_TEXT(p, name);
    if (weft__parse_index_named(p, text, name.length) >= 0 ||
        weft__parse_operand_named(p, text, name.length) >= 0)
        return WEFT_OK;
    if (weft__is_reserved(text, name.length))
        return PARSE_FAIL(p, name.at, "'%s' has a meaning of its own and is no index",
                          QUOTE(text, name.length));
    if (s->indices_count == WEFT_NDIM_MAX)
        return PARSE_FAIL(p, name.at, "a kernel has at most %d indices", (int)WEFT_NDIM_MAX);
    s->indices[s->indices_count++] = (weft__lang_name){text, name.length};
    return WEFT_OK;
}

/* The names between the parentheses, of which the first is behind `lexer`. */
static weft_status add_indices(weft__parser *p, weft__lexer lexer)
{
    for (int depth = 1; depth > 0;) {
        weft__token token = weft__lex(&lexer);
        weft__lexer after = lexer;
        weft__token_kind next = weft__lex(&after).kind;
        depth += (token.kind == WEFT__TOKEN_OPEN) - (token.kind == WEFT__TOKEN_CLOSE);
        if (token.kind == WEFT__TOKEN_NAME && next != WEFT__TOKEN_OPEN &&
            next != WEFT__TOKEN_ASSIGN)
            TRY(add_index(p, token));
    }
    return WEFT_OK;
}

/* At a parenthesis: moves behind the one that closes it; false if there is none. */
static bool skip_parentheses(weft__lexer *lexer)
{
    for (int depth = 1; depth > 0;) {
        weft__token_kind kind = weft__lex(lexer).kind;
        if (kind == WEFT__TOKEN_END || kind == WEFT__TOKEN_SEMICOLON)
            return false;
        depth += (kind == WEFT__TOKEN_OPEN) - (kind == WEFT__TOKEN_CLOSE);
    }
    return true;
}

weft_status weft__parse_indices(weft__parser *p)
{
    weft__lexer lexer = p->lexer;
    bool starts = true; /* a statement */
    for (weft__token token = weft__lex(&lexer); token.kind != WEFT__TOKEN_END;
         token = weft__lex(&lexer)) {
        weft__lexer inside = lexer, after;
        bool element = starts && token.kind == WEFT__TOKEN_NAME &&
                       weft__parse_operand_named(p, TOKEN_TEXT(p, token), token.length) >= 0 &&
                       weft__lex(&inside).kind == WEFT__TOKEN_OPEN;
        after = inside;
        if (element && skip_parentheses(&after) && is_assignment(weft__lex(&after).kind))
            TRY(add_indices(p, inside));
        starts = token.kind == WEFT__TOKEN_SEMICOLON;
    }
    return WEFT_OK;
}

weft_status weft__parse_access_end(weft__parser *p, const weft__frame *frame, uint32_t count,
                                   int32_t *node)
{
    if (count > WEFT_NDIM_MAX)
        return PARSE_FAIL(p, frame->column, "an element has at most %d indices",
                          (int)WEFT_NDIM_MAX);
    TRY(weft__parser_call(p, WEFT__LANG_positive, frame->column, p->pending + frame->first, count,
                          node));
    weft__syntax_node *access = &p->syntax->nodes[*node];
    access->kind = WEFT__SYNTAX_ACCESS;
    access->index = frame->operation;
    access->value.attributes = frame->attributes;
    p->names.used[frame->operation] = true;
    return WEFT_OK;
}

weft_status weft__parse_kernel_call(weft__parser *p, const weft__frame *frame, uint32_t count)
{
    const weft__lang_facts *facts = &weft__lang_operations[frame->operation];
    if (facts->group == WEFT__GROUP_stencil)
        return PARSE_FAIL(p, frame->column,
                          "%s is for whole arrays; in a kernel a neighbour is written in(i+1)",
                          facts->name);
    if (facts->group == WEFT__GROUP_position)
        return PARSE_FAIL(p, frame->column,
                          "%s is for whole arrays; in a kernel an index is a value by its name",
                          facts->name);
    if (facts->group == WEFT__GROUP_reduction && count < 2)
        return PARSE_FAIL(p, frame->column,
                          "%s is for whole arrays, and a kernel has one element at a time",
                          facts->name);
    return WEFT_OK;
}

bool weft__parse_is_boundary(const weft__parser *p)
{
    return p->kernel && weft__parser_token_is(p, "boundary") &&
           weft__parser_peek(p).kind == WEFT__TOKEN_ASSIGN;
}

weft_status weft__parse_boundary_statement(weft__parser *p)
{
    if (p->syntax->nodes_count || p->syntax->boundary)
        return PARSE_FAIL(p, p->token.at, "'boundary =' is the first statement of a kernel");
    weft__parser_next(p);
    weft__parser_next(p);
    return weft__parse_boundary(p, &p->syntax->boundary);
}
