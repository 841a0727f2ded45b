/* Opening functions: texts, parameters, statements; and closing them. */
#include "function/open.h"
#include "core/allocate.h"
#include "function/expand.h"
#include "lang/launch.h"
#include <stdio.h>
#include <string.h>

const char *weft__function_reason(void)
{
    const weft_error *error = weft_error_last();
    size_t prefix = strlen(error->operation); /* "weft_call: " */
    bool has = !strncmp(error->message, error->operation, prefix) && error->message[prefix] == ':';
    return error->message + (has ? prefix + 2 : 0);
}

/* What a device or a host function says has no place yet: that of the statement. */
static weft_status locate(const weft__function *f, weft_status status)
{
    char text[sizeof weft_error_last()->message];
    snprintf(text, sizeof text, "%s", weft__function_reason());
    if (f->at == UINT32_MAX || !f->code.text || strchr(text, '\n')) /* it has a place already */
        return status;
    return weft__lang_fail(f->code, f->at, status, "%s", text);
}

weft_status weft__function_failed(const weft__function *f, weft_status status)
{
    char text[sizeof weft_error_last()->message];
    const weft_function *key = f->key;
    if (status == WEFT_OK || weft_error_code() != status || weft__fail_is_kept())
        return status;
    status = locate(f, status);
    status = weft__function_relocate(f, status);
    snprintf(text, sizeof text, "%s", weft__function_reason());
    return weft__fail(status, NULL, "function '%s': %s", QUOTE(key->name, strlen(key->name)), text);
}

static weft__lang_name copy_text(char **to, const char *text)
{
    weft__lang_name copy = {*to, strlen(text)};
    memcpy(*to, text, copy.length + 1);
    *to += copy.length + 1;
    return copy;
}

static weft_status add_parameter(weft__function *f, weft__lang_name list, weft__token name)
{
    weft__lang_name text = {list.text + name.at, name.length};
    if (name.kind != WEFT__TOKEN_NAME)
        return weft__lang_fail(list, name.at, WEFT_ERROR_SYNTAX,
                               "parameters are names with commas between");
    if (weft__function_variable_named(f, text.text, text.length) >= 0)
        return weft__lang_fail(list, name.at, WEFT_ERROR_SYNTAX, "parameter '%s' is there twice",
                               QUOTE(text.text, text.length));
    if (f->parameters_count == WEFT__LANG_OPERANDS_MAX)
        return weft__lang_fail(list, name.at, WEFT_ERROR_SYNTAX,
                               "a function has at most %d parameters",
                               (int)WEFT__LANG_OPERANDS_MAX);
    TRY(weft__lang_room(&f->variables, f->variables_count, &f->variables_room,
                        sizeof *f->variables));
    f->variables[f->variables_count++] = (weft__function_variable){text, WEFT_DTYPE_DEFAULT, true};
    f->parameters_count++;
    return WEFT_OK;
}

static weft_status read_parameters(weft__function *f)
{
    weft__lang_name list = weft__launch_inside(f->parameters, '(', ')');
    weft__lexer lexer = {list.text, (uint32_t)list.length, 0};
    weft__token token = weft__lex(&lexer);
    while (token.kind != WEFT__TOKEN_END) {
        TRY(add_parameter(f, list, token));
        token = weft__lex(&lexer);
        if (token.kind == WEFT__TOKEN_COMMA)
            token = weft__lex(&lexer);
        else if (token.kind != WEFT__TOKEN_END)
            return weft__lang_fail(list, token.at, WEFT_ERROR_SYNTAX,
                                   "parameters are names with commas between");
    }
    return WEFT_OK;
}

static weft_status fill(weft__function *f)
{
    const weft_function *key = f->key;
    size_t bytes = strlen(key->name) + strlen(key->parameters) + strlen(key->body) + 3;
    if (bytes > WEFT__LANG_TEXT_MAX)
        return FAIL(WEFT_ERROR_SYNTAX, "the text has %zu bytes; %d are possible", bytes,
                    (int)WEFT__LANG_TEXT_MAX);
    char *to = f->text = weft__allocate(bytes);
    if (!to)
        return WEFT_ERROR_MEMORY;
    f->name = copy_text(&to, key->name);
    f->parameters = copy_text(&to, key->parameters);
    f->body = copy_text(&to, key->body);
    f->code = weft__launch_inside(f->body, '{', '}');
    f->options = key->options;
    TRY(read_parameters(f));
    f->bindings = weft__host_bindings();
    TRY(weft__function_expand(f));
    TRY(weft__function_parse(f));
    f->held = weft__allocate_zeroed((f->variables_count + (size_t)1) * sizeof *f->held);
    return f->held ? WEFT_OK : WEFT_ERROR_MEMORY;
}

/* Which parameters are arrays. */
static void find_arrays(int count, const weft_operand *operands, uint64_t *arrays)
{
    for (int i = 0; i < count; i++)
        if (operands[i].tag != WEFT_OPERAND_NUMBER)
            arrays[i / 64] |= UINT64_C(1) << i % 64;
}

bool weft__function_takes(const weft__function *f, int count, const weft_operand *operands)
{
    uint64_t arrays[WEFT__LANG_OPERANDS_MAX / 64] = {0};
    if (!f->asks_arrays)
        return true;
    find_arrays(count, operands, arrays);
    return !memcmp(f->arrays, arrays, sizeof arrays);
}

weft_status weft__function_open(const weft_function *key, int count, const weft_operand *operands,
                                weft__function **made)
{
    weft__function *f = weft__allocate_zeroed(sizeof *f);
    if (!f)
        return WEFT_ERROR_MEMORY;
    f->key = key;
    f->at = UINT32_MAX;
    find_arrays(count, operands, f->arrays);
    weft_status status = fill(f);
    if (status == WEFT_OK) {
        *made = f;
        return WEFT_OK;
    }
    status = weft__function_failed(f, status);
    weft__function_close(f);
    return status;
}

void weft__function_close(weft__function *f)
{
    if (!f)
        return;
    for (uint32_t i = 0; i < f->parts_count; i++)
        weft__function_part_free(&f->parts[i]);
    weft__extent_free(f);
    weft__serial_free(f);
    for (uint32_t i = 0; i < f->nests_count; i++)
        weft__function_nest_free(f->nests[i]);
    for (uint32_t i = 0; i < f->groups_count; i++)
        weft__function_group_free(&f->groups[i]);
    for (uint32_t i = 0; i < f->joins_count; i++)
        weft__function_join_free(f->joins[i]);
    weft__free(f->groups);
    weft__free(f->joins);
    weft__free(f->nests);
    weft__free(f->parts);
    weft__free(f->hosts);
    weft__free(f->statements);
    weft__free(f->variables);
    weft__free(f->held);
    weft__free(f->parents);
    weft__function_sources_free(f);
    weft__free(f->text);
    weft__free(f);
}

bool weft__function_is(const weft__function *f, const weft_function *key)
{
    return !strcmp(f->body.text, key->body) && !strcmp(f->parameters.text, key->parameters) &&
           !strcmp(f->name.text, key->name) && f->options.serial == key->options.serial &&
           f->options.serial_device == key->options.serial_device &&
           f->options.offload == key->options.offload &&
           (f->bindings == weft__host_bindings() || !(f->hosts_count || f->sources_count));
}
