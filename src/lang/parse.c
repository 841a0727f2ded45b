/* From text to syntax: checks of the arguments, a copy of the texts, and the parser around them. */
#include "core/allocate.h"
#include "lang/parser.h"
#include <string.h>

static bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

static weft__lang_name trimmed(weft__lang_name name)
{
    while (name.length && is_blank(name.text[0]))
        name = (weft__lang_name){name.text + 1, name.length - 1};
    while (name.length && is_blank(name.text[name.length - 1]))
        name.length--;
    return name;
}

static weft_status check_sizes(const char *code, size_t length, const weft__lang_name *names,
                               int count, size_t *total)
{
    if (!code)
        return FAIL_AT(WEFT_ERROR_ARGUMENT, "code", "code is NULL; a text was expected");
    if (count < 0 || count > WEFT__LANG_OPERANDS_MAX || (count && !names))
        return FAIL_AT(WEFT_ERROR_ARGUMENT, "operands",
                       "there are %d operands; 0 to %d are possible", count,
                       (int)WEFT__LANG_OPERANDS_MAX);
    *total = length + 1;
    for (int i = 0; i < count; i++) {
        if (!names[i].text)
            return FAIL_AT(WEFT_ERROR_ARGUMENT, "operands", "the text of operand %d is NULL",
                           i + 1);
        if (names[i].length > WEFT__LANG_TEXT_MAX)
            *total = WEFT__LANG_TEXT_MAX;
        *total += names[i].length + 1;
    }
    if (length > WEFT__LANG_TEXT_MAX || *total > 2 * (size_t)WEFT__LANG_TEXT_MAX)
        return FAIL_AT(WEFT_ERROR_SYNTAX, "code", "the text has %zu bytes; %d are possible", *total,
                       (int)WEFT__LANG_TEXT_MAX);
    return WEFT_OK;
}

static weft__lang_name copy_text(char **to, weft__lang_name name)
{
    weft__lang_name copy = {*to, name.length};
    memcpy(*to, name.text, name.length);
    (*to)[name.length] = 0;
    *to += name.length + 1;
    return copy;
}

static weft_status copy_texts(weft__lang_syntax *s, weft__lang_name code, size_t total,
                              const weft__lang_name *names, int count)
{
    s->text = weft__allocate(total);
    s->names = weft__allocate(((size_t)count + 1) * sizeof *s->names);
    if (!s->text || !s->names)
        return WEFT_ERROR_MEMORY;
    char *to = s->text;
    s->code = copy_text(&to, code);
    for (s->names_count = 0; s->names_count < count; s->names_count++)
        s->names[s->names_count] = copy_text(&to, trimmed(names[s->names_count]));
    return WEFT_OK;
}

typedef enum text_kind { PROGRAM, VALUE, KERNEL, LOOP } text_kind;

static weft_status parse_with(weft__parser *p)
{
    weft_status status = weft__names_add_operands(&p->names, p->syntax);
    if (status == WEFT_OK && p->kernel)
        status = weft__parse_indices(p);
    if (status == WEFT_OK)
        status = weft__parse_statements(p);
    weft__names_free(&p->names);
    weft__free(p->frames);
    weft__free(p->pending);
    return status;
}

static weft_status run_parser(weft__lang_syntax *syntax, text_kind kind)
{
    weft__parser p = {.syntax = syntax,
                      .wants_value = kind == VALUE,
                      .kernel = kind == KERNEL || kind == LOOP,
                      .loops = kind == LOOP};
    p.lexer = (weft__lexer){syntax->code.text, (uint32_t)syntax->code.length, 0};
    return parse_with(&p);
}

static weft_status parse(weft__lang_name code, const weft__lang_name *names, int count,
                         text_kind kind, weft__lang_syntax **syntax)
{
    size_t total = 0;
    *syntax = NULL;
    TRY(check_sizes(code.text, code.length, names, count, &total));
    weft__lang_syntax *made = weft__allocate_zeroed(sizeof *made);
    if (!made)
        return WEFT_ERROR_MEMORY;
    weft_status status = copy_texts(made, code, total, names, count);
    if (status == WEFT_OK)
        status = run_parser(made, kind);
    if (status == WEFT_OK)
        *syntax = made;
    else
        weft__lang_syntax_free(made);
    return status;
}

weft_status weft__lang_parse(const char *code, size_t length, const weft__lang_name *names,
                             int count, bool wants_value, weft__lang_syntax **syntax)
{
    return parse((weft__lang_name){code, length}, names, count, wants_value ? VALUE : PROGRAM,
                 syntax);
}

weft_status weft__lang_parse_part(weft__lang_name code, size_t begin, const weft__lang_name *names,
                                  int count, bool wants_value, weft__lang_syntax **syntax)
{
    weft__lang_syntax *made = weft__allocate_zeroed(sizeof *made);
    *syntax = NULL;
    if (!made || !(made->names = weft__allocate(((size_t)count + 1) * sizeof *names))) {
        weft__lang_syntax_free(made);
        return WEFT_ERROR_MEMORY;
    }
    made->code = code;
    memcpy(made->names, names, (size_t)count * sizeof *names);
    made->names_count = count;
    weft__parser p = {.syntax = made, .wants_value = wants_value, .elements = true};
    p.lexer = (weft__lexer){code.text, (uint32_t)code.length, (uint32_t)begin};
    weft_status status = parse_with(&p);
    if (status == WEFT_OK)
        *syntax = made;
    else
        weft__lang_syntax_free(made);
    return status;
}

weft_status weft__lang_parse_kernel(const char *code, size_t length, const weft__lang_name *names,
                                    int count, weft__lang_syntax **syntax)
{
    return parse((weft__lang_name){code, length}, names, count, KERNEL, syntax);
}

weft_status weft__lang_parse_loop(const char *code, size_t length, const weft__lang_name *names,
                                  int count, weft__lang_syntax **syntax)
{
    TRY(parse((weft__lang_name){code, length}, names, count, LOOP, syntax));
    (*syntax)->loop = true;
    return WEFT_OK;
}
