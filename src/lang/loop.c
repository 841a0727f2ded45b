/* Loops in the kernels that loops of a function have become. */
#include "lang/parser.h"

bool weft__parse_is_loop(const weft__parser *p)
{
    return p->loops &&
           (weft__parser_token_is(p, "weft_loop") || weft__parser_token_is(p, "weft_test") ||
            weft__parser_token_is(p, "weft_end"));
}

static weft_status add_part(weft__parser *p, weft__loop_part part, uint32_t column,
                            const int32_t *arguments, uint32_t count, int32_t *node)
{
    weft__lang_syntax *s = p->syntax;
    weft__syntax_node made = {.kind = WEFT__SYNTAX_LOOP,
                              .operation = (uint8_t)part,
                              .column = column,
                              .first = s->arguments_count,
                              .count = count,
                              .index = -1};
    for (uint32_t k = 0; k < count; k++) {
        TRY(weft__lang_room(&s->arguments, s->arguments_count, &s->arguments_room,
                            sizeof *s->arguments));
        s->arguments[s->arguments_count++] = arguments[k];
    }
    return weft__parser_node(p, made, node);
}

/* From now on the name stands for the node. */
static weft_status rename_local(weft__parser *p, weft__lang_name name, int32_t node,
                                uint32_t column)
{
    TRY(weft__names_local_set(&p->names, name, node, column));
    weft__names_local_find(&p->names, name.text, name.length)->read = true;
    return WEFT_OK;
}

static weft_status carry(weft__parser *p)
{
    weft__lang_name name = {TOKEN_TEXT(p, p->token), p->token.length};
    const weft__names_local *local = weft__names_local_find(&p->names, name.text, name.length);
    if (!local || p->carried_count == WEFT__LOOPS_CARRIED)
        return PARSE_FAIL(p, p->token.at, "a loop in it changes too many variables");
    weft__parser_carried *carried = &p->carried[p->carried_count++];
    *carried = (weft__parser_carried){name, local->node, -1};
    TRY(add_part(p, WEFT__LOOP_CARRY, p->token.at, &carried->before, 1, &carried->carry));
    return rename_local(p, name, carried->carry, p->token.at);
}

static weft_status parse_begin(weft__parser *p, uint32_t column)
{
    if (p->open_count == WEFT__LOOPS_OPEN)
        return PARSE_FAIL(p, column, "it has more than %d loops in one another",
                          (int)WEFT__LOOPS_OPEN);
    weft__parser_loop *loop = &p->open[p->open_count++];
    loop->first = p->carried_count;
    p->syntax->looped = true;
    for (; p->token.kind == WEFT__TOKEN_NAME; weft__parser_next(p))
        TRY(carry(p));
    TRY(add_part(p, WEFT__LOOP_ENTER, column, NULL, 0, &loop->enter));
    loop->part = loop->enter;
    return weft__parse_statement_add(p, WEFT__TARGET_LOCAL, -1, loop->enter, column);
}

static weft_status parse_test(weft__parser *p, uint32_t column)
{
    weft__parser_loop *loop = &p->open[p->open_count - 1];
    int32_t arguments[2] = {-1, loop->enter};
    TRY(weft__parse_expression(p, &arguments[0]));
    TRY(add_part(p, WEFT__LOOP_TEST, column, arguments, 2, &loop->part));
    return weft__parse_statement_add(p, WEFT__TARGET_LOCAL, -1, loop->part, column);
}

static weft_status add_next(weft__parser *p, weft__parser_loop *loop,
                            const weft__parser_carried *carried, uint32_t column)
{
    const weft__names_local *local =
        weft__names_local_find(&p->names, carried->name.text, carried->name.length);
    const int32_t arguments[3] = {carried->carry, local->node, loop->part};
    if (local->node == carried->carry)
        return WEFT_OK;
    return add_part(p, WEFT__LOOP_NEXT, column, arguments, 3, &loop->part);
}

static weft_status add_result(weft__parser *p, int32_t end, const weft__parser_carried *carried,
                              uint32_t column)
{
    const weft__names_local *local =
        weft__names_local_find(&p->names, carried->name.text, carried->name.length);
    const int32_t arguments[2] = {carried->carry, end};
    int32_t node = carried->before;
    if (local->node != carried->carry)
        TRY(add_part(p, WEFT__LOOP_RESULT, column, arguments, 2, &node));
    return rename_local(p, carried->name, node, column);
}

static weft_status parse_end(weft__parser *p, uint32_t column)
{
    weft__parser_loop *loop = &p->open[--p->open_count];
    int32_t end;
    for (int k = loop->first; k < p->carried_count; k++)
        TRY(add_next(p, loop, &p->carried[k], column));
    TRY(add_part(p, WEFT__LOOP_END, column, &loop->part, 1, &end));
    for (int k = loop->first; k < p->carried_count; k++)
        TRY(add_result(p, end, &p->carried[k], column));
    p->carried_count = loop->first;
    return weft__parse_statement_add(p, WEFT__TARGET_LOCAL, -1, end, column);
}

weft_status weft__parse_loop_statement(weft__parser *p)
{
    uint32_t column = p->token.at;
    bool begins = weft__parser_token_is(p, "weft_loop"),
         tests = weft__parser_token_is(p, "weft_test");
    weft__parser_next(p);
    if (!begins && p->open_count == 0)
        return weft__parser_expected(p, "a loop before this");
    return begins ? parse_begin(p, column) : tests ? parse_test(p, column) : parse_end(p, column);
}
