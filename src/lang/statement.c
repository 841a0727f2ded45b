/* Statements and whole programs: assignments, locals, the value, and what must not be left over. */
#include "lang/parser.h"

/* The operator of a compound assignment; END for "=", -1 for what assigns nothing. */
static int assignment_of(weft__token_kind kind)
{
    switch (kind) {
    case WEFT__TOKEN_ASSIGN:
        return WEFT__LANG_OPERATION_END;
    case WEFT__TOKEN_ADD_ASSIGN:
        return WEFT__LANG_add;
    case WEFT__TOKEN_SUBTRACT_ASSIGN:
        return WEFT__LANG_subtract;
    case WEFT__TOKEN_MULTIPLY_ASSIGN:
        return WEFT__LANG_multiply;
    case WEFT__TOKEN_DIVIDE_ASSIGN:
        return WEFT__LANG_divide;
    case WEFT__TOKEN_MODULO_ASSIGN:
        return WEFT__LANG_modulo;
    case WEFT__TOKEN_AND_ASSIGN:
        return WEFT__LANG_bitwise_and;
    case WEFT__TOKEN_OR_ASSIGN:
        return WEFT__LANG_bitwise_or;
    case WEFT__TOKEN_XOR_ASSIGN:
        return WEFT__LANG_bitwise_xor;
    case WEFT__TOKEN_SHIFT_LEFT_ASSIGN:
        return WEFT__LANG_shift_left;
    case WEFT__TOKEN_SHIFT_RIGHT_ASSIGN:
        return WEFT__LANG_shift_right;
    default:
        return -1;
    }
}

weft_status weft__parse_statement_add(weft__parser *p, int32_t target, int32_t access, int32_t node,
                                      uint32_t column)
{
    weft__lang_syntax *s = p->syntax;
    TRY(weft__lang_room(&s->statements, s->statements_count, &s->statements_room,
                        sizeof *s->statements));
    s->statements[s->statements_count++] =
        (weft__syntax_statement){target, node, column, s->nodes_count, access, 0};
    return WEFT_OK;
}

/* The right side, at the assignment operator; `old` is what a compound one works on. */
static weft_status parse_right_side(weft__parser *p, int operation, int32_t old, int32_t *node)
{
    uint32_t column = p->token.at;
    weft__parser_next(p);
    TRY(weft__parse_expression(p, node));
    if (operation == WEFT__LANG_OPERATION_END)
        return WEFT_OK;
    int32_t pair[] = {old, *node};
    return weft__parser_call(p, (weft__lang_operation)operation, column, pair, 2, node);
}

static weft_status assign_operand(weft__parser *p, int operand, uint32_t column)
{
    int operation = assignment_of(p->token.kind);
    weft__syntax_node read = {.kind = WEFT__SYNTAX_OPERAND, .column = column, .index = operand};
    int32_t node = -1;
    if (operation != WEFT__LANG_OPERATION_END)
        TRY(weft__parser_node(p, read, &node));
    TRY(parse_right_side(p, operation, node, &node));
    return weft__parse_statement_add(p, operand, -1, node, column);
}

/* An element of a portable kernel, which has been read as a value. */
static weft_status assign_element(weft__parser *p, int32_t access, uint32_t column)
{
    int operation = assignment_of(p->token.kind);
    int32_t node = access;
    const weft__syntax_node *element = &p->syntax->nodes[access];
    int32_t operand = element->index;
    if (element->value.attributes >= 0)
        return PARSE_FAIL(p, column, "boundary= and value= are for elements that are read");
    TRY(parse_right_side(p, operation, node, &node));
    return weft__parse_statement_add(p, operand, access, node, column);
}

/* A name near that of an operand is probably meant to be it. */
static weft_status never_read(weft__parser *p, const weft__names_local *local)
{
    weft__lang_nearest nearest = {local->name, {NULL, 0}, 0};
    for (int i = 0; i < p->syntax->names_count; i++)
        weft__lang_offer(&nearest, p->syntax->names[i].text, p->syntax->names[i].length);
    return PARSE_FAIL(p, local->column, "'%s' is no operand, and as a local it is never read%s",
                      QUOTE(local->name.text, local->name.length),
                      weft__lang_hint_of(&nearest).text);
}

/* In a loop of a function: a literal, which cannot be wrong. */
static bool may_be_unread(const weft__parser *p, const weft__names_local *local)
{
    const weft__lang_syntax *s = p->syntax;
    const weft__syntax_node *node = &s->nodes[local->node];
    if (node->kind == WEFT__SYNTAX_CAST)
        node = &s->nodes[s->arguments[node->first]];
    return p->loops && node->kind == WEFT__SYNTAX_LITERAL;
}

static weft_status assign_local(weft__parser *p)
{
    weft__token name = p->token;
    weft__lang_name text = {TOKEN_TEXT(p, name), name.length};
    weft__names_local *local = weft__names_local_find(&p->names, text.text, text.length);
    int32_t node = local ? local->node : -1;
    weft__token sign = weft__parser_peek(p);
    int operation = assignment_of(sign.kind);
    if (weft__parse_index_named(p, text.text, text.length) >= 0)
        return PARSE_FAIL(p, name.at, "'%s' is an index and cannot be assigned to",
                          QUOTE(text.text, text.length));
    if (weft__is_reserved(text.text, text.length) ||
        (!local && operation != WEFT__LANG_OPERATION_END))
        return weft__parse_unknown(p, false);
    if (local && operation != WEFT__LANG_OPERATION_END)
        local->read = true;
    weft__parser_next(p);
    TRY(parse_right_side(p, operation, node, &node));
    local = weft__names_local_find(&p->names, text.text, text.length);
    if (local && !local->read && !may_be_unread(p, local))
        return never_read(p, local);
    TRY(weft__names_local_set(&p->names, text, node, name.at));
    return weft__parse_statement_add(p, WEFT__TARGET_LOCAL, -1, node, name.at);
}

/* A statement that is an expression: the value, if one was asked for and nothing follows. */
static weft_status parse_value_statement(weft__parser *p)
{
    uint32_t column = p->token.at;
    int32_t node;
    TRY(weft__parse_expression(p, &node));
    const weft__syntax_node *root = &p->syntax->nodes[node];
    bool element = root->kind == WEFT__SYNTAX_ACCESS && root->column == column;
    if (assignment_of(p->token.kind) >= 0 && element)
        return assign_element(p, node, column);
    if (assignment_of(p->token.kind) >= 0)
        return PARSE_FAIL(p, p->token.at,
                          "left of '%s' stands an expression; only an %s or a "
                          "new name can be assigned to",
                          QUOTE(TOKEN_TEXT(p, p->token), p->token.length),
                          p->kernel ? "element, as out(i)," : "operand");
    if (!p->wants_value && root->kind == WEFT__SYNTAX_CALL && root->operation == WEFT__LANG_equal)
        return PARSE_FAIL(p, root->column, "the result of '==' goes nowhere; did you mean '='?");
    if (!p->wants_value)
        return PARSE_FAIL(p, column, "this value goes nowhere; assign it to an %s",
                          p->kernel ? "element, as out(i) = ..." : "operand");
    return weft__parse_statement_add(p, WEFT__TARGET_VALUE, -1, node, column);
}

static weft_status parse_statement(weft__parser *p)
{
    weft__lexer ahead = {p->lexer.text, p->lexer.length, p->token.at};
    uint32_t column = p->token.at;
    int operand = weft__names_match(&p->names, &ahead, true);
    weft__lexer behind = ahead;
    weft__token next = weft__lex(&ahead);
    if (operand >= 0 && assignment_of(next.kind) >= 0) {
        p->names.used[operand] = true;
        if (p->kernel)
            return PARSE_FAIL(
                p, column, "a kernel assigns to elements: give '%s' its indices, as out(i) = ...",
                QUOTE(p->syntax->names[operand].text, p->syntax->names[operand].length));
        p->lexer = behind;
        weft__parser_next(p);
        return assign_operand(p, operand, column);
    }
    if (weft__parse_is_boundary(p))
        return weft__parse_boundary_statement(p);
    if (weft__parse_is_loop(p))
        return weft__parse_loop_statement(p);
    if (p->token.kind == WEFT__TOKEN_NAME && assignment_of(weft__parser_peek(p).kind) >= 0)
        return assign_local(p);
    return parse_value_statement(p);
}

static weft_status check_value_last(weft__parser *p)
{
    const weft__lang_syntax *s = p->syntax;
    for (uint32_t i = 0; i < s->statements_count; i++)
        if (s->statements[i].target == WEFT__TARGET_VALUE && i + 1 < s->statements_count)
            return PARSE_FAIL(p, s->statements[i].column,
                              "only the last statement may be a value; assign this one");
    if (p->wants_value && (!s->statements_count ||
                           s->statements[s->statements_count - 1].target != WEFT__TARGET_VALUE))
        return PARSE_FAIL(p,
                          s->statements_count ? s->statements[s->statements_count - 1].column : 0,
                          "a value is asked for: the last statement must be an expression");
    return WEFT_OK;
}

static bool has_comment(weft__lang_name code)
{
    bool block = false;
    for (size_t k = 1; k < code.length; k++) {
        const char *pair = code.text + k - 1;
        if (!block && pair[0] == '/' && pair[1] == '/')
            return true;
        if (pair[block] == '/' && pair[!block] == '*') {
            block = !block;
            k++;
        }
    }
    return false;
}

/* Locals that are never read, no effect at all, operands that are never used. */
static weft_status check_leftovers(weft__parser *p)
{
    const weft__lang_syntax *s = p->syntax;
    bool effect = p->wants_value;
    for (uint32_t i = 0; i < p->names.locals_count; i++)
        if (!p->names.locals[i].read && !may_be_unread(p, &p->names.locals[i]))
            return never_read(p, &p->names.locals[i]);
    for (uint32_t i = 0; i < s->statements_count; i++)
        effect |= s->statements[i].target >= 0;
    if (!effect)
        return PARSE_FAIL(p, 0, "the %s is empty, or assigns to no %s",
                          p->kernel ? "kernel" : "program", p->kernel ? "element" : "operand");
    for (int i = 0; i < s->names_count; i++)
        if (!p->names.used[i])
            return PARSE_FAIL(p, WEFT__NO_COLUMN, "%s %d, '%s', is never used%s",
                              p->kernel ? "parameter" : "operand", i + 1,
                              QUOTE(s->names[i].text, s->names[i].length),
                              has_comment(s->code) ? "; what follows // is a comment" : "");
    return WEFT_OK;
}

weft_status weft__parse_statements(weft__parser *p)
{
    weft__parser_next(p);
    while (p->token.kind != WEFT__TOKEN_END) {
        TRY(parse_statement(p));
        if (p->token.kind == WEFT__TOKEN_END)
            break;
        if (p->token.kind != WEFT__TOKEN_SEMICOLON)
            return weft__parser_expected(p, "an operator or ';'");
        weft__parser_next(p);
    }
    TRY(check_value_last(p));
    return check_leftovers(p);
}
