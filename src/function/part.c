/* Parts: expressions and assignments of a body, as syntax whose elements are operands. */
#include "codegen/interpreter.h"
#include "core/allocate.h"
#include "function/function.h"
#include <string.h>

int32_t weft__function_variable_named(const weft__function *f, const char *text, size_t length)
{
    for (uint32_t i = 0; i < f->variables_count; i++)
        if (f->variables[i].name.length == length &&
            !memcmp(f->variables[i].name.text, text, length))
            return (int32_t)i;
    return -1;
}

bool weft__function_assigns(weft__token_kind kind)
{
    return kind == WEFT__TOKEN_ASSIGN || kind == WEFT__TOKEN_SHIFT_LEFT_ASSIGN ||
           kind == WEFT__TOKEN_SHIFT_RIGHT_ASSIGN ||
           (kind >= WEFT__TOKEN_ADD_ASSIGN && kind <= WEFT__TOKEN_XOR_ASSIGN);
}

/* The variables that the text names, each once. */
static weft_status find_names(const weft__function *f, weft__function_part *part,
                              const bool *hidden, weft__lang_name *names)
{
    weft__lexer lexer = {f->code.text, part->end, part->begin};
    int depth = 0, tokens = 0;
    for (weft__token token = weft__lex(&lexer); token.kind != WEFT__TOKEN_END;
         token = weft__lex(&lexer), tokens++) {
        weft__lexer ahead = lexer;
        bool named = depth > 0 && weft__lex(&ahead).kind == WEFT__TOKEN_ASSIGN;
        const char *text = f->code.text + token.at;
        int32_t variable = token.kind == WEFT__TOKEN_NAME && !named
                               ? weft__function_variable_named(f, text, token.length)
                               : -1;
        depth += (token.kind == WEFT__TOKEN_OPEN) - (token.kind == WEFT__TOKEN_CLOSE);
        bool seen = variable < 0 || (hidden && hidden[variable]);
        for (int i = 0; i < part->names_count; i++)
            seen |= part->variables[i] == variable;
        if (seen)
            continue;
        if (part->names_count == WEFT__LANG_OPERANDS_MAX / 2)
            return FUNCTION_FAIL(f, token.at, WEFT_ERROR_SYNTAX,
                                 "a statement has at most %d variables",
                                 (int)WEFT__LANG_OPERANDS_MAX / 2);
        names[part->names_count] = f->variables[variable].name;
        part->variables[part->names_count++] = variable;
    }
    if (tokens == 1 && part->names_count == 1)
        part->single = names[0];
    return WEFT_OK;
}

/* Elements become operands of their own. */
static weft_status make_elements(const weft__function *f, weft__function_part *part)
{
    weft__lang_syntax *s = part->syntax;
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->nodes_count; i++)
        count += s->nodes[i].kind == WEFT__SYNTAX_ACCESS;
    if (count + (uint32_t)part->names_count > WEFT__LANG_OPERANDS_MAX)
        return FUNCTION_FAIL(f, part->begin, WEFT_ERROR_SYNTAX,
                             "a statement has at most %d variables and elements",
                             (int)WEFT__LANG_OPERANDS_MAX);
    size_t names = (size_t)part->names_count + count;
    part->elements = weft__allocate_zeroed((count + (size_t)1) * sizeof *part->elements);
    weft__lang_name *grown = weft__reallocate(s->names, (names + 1) * sizeof *grown);
    if (grown)
        s->names = grown;
    if (!part->elements || !grown)
        return WEFT_ERROR_MEMORY;
    for (uint32_t i = 0; i < s->nodes_count; i++) {
        weft__syntax_node *node = &s->nodes[i];
        if (node->kind != WEFT__SYNTAX_ACCESS)
            continue;
        if (node->value.attributes >= 0)
            return FUNCTION_FAIL(f, node->column, WEFT_ERROR_SYNTAX,
                                 "an element of a function has no boundary");
        weft__function_element *e = &part->elements[part->elements_count];
        *e = (weft__function_element){part->variables[node->index], node->first, node->count,
                                      node->column};
        s->names[part->names_count + part->elements_count] = s->names[node->index];
        node->kind = WEFT__SYNTAX_OPERAND;
        node->index = part->names_count + part->elements_count++;
    }
    s->names_count = part->names_count + part->elements_count;
    return WEFT_OK;
}

static bool is_integer_operation(uint8_t operation)
{
    switch (operation) {
    case WEFT__LANG_add:
    case WEFT__LANG_subtract:
    case WEFT__LANG_multiply:
    case WEFT__LANG_divide:
    case WEFT__LANG_modulo:
    case WEFT__LANG_negative:
    case WEFT__LANG_positive:
    case WEFT__LANG_less:
    case WEFT__LANG_less_equal:
    case WEFT__LANG_greater:
    case WEFT__LANG_greater_equal:
    case WEFT__LANG_equal:
    case WEFT__LANG_not_equal:
    case WEFT__LANG_logical_and:
    case WEFT__LANG_logical_or:
    case WEFT__LANG_logical_not:
        return true;
    default:
        return false;
    }
}

/* What is known of the nodes without types. */
static void survey(weft__function_part *part)
{
    weft__lang_syntax *s = part->syntax;
    const weft__syntax_statement *statement = &s->statements[0];
    part->target = statement->target;
    part->node = statement->node;
    if (statement->access >= 0)
        part->target = s->nodes[statement->access].index;
    part->integer = s->nodes_count <= 64;
    for (uint32_t i = 0; i < s->nodes_count; i++) {
        const weft__syntax_node *node = &s->nodes[i];
        if (node->kind == WEFT__SYNTAX_OPERAND && node->index < part->names_count)
            part->whole[node->index] = true;
        bool fine = node->kind == WEFT__SYNTAX_OPERAND ||
                    (node->kind == WEFT__SYNTAX_LITERAL && node->weak && node->dtype <= WEFT_I64) ||
                    (node->kind == WEFT__SYNTAX_CALL && is_integer_operation(node->operation));
        part->integer &= fine;
    }
}

weft_status weft__function_part_parse(weft__function *f, weft__function_part *part,
                                      const bool *hidden)
{
    weft__lang_name names[WEFT__LANG_OPERANDS_MAX / 2];
    weft__lang_name code = {f->code.text, part->end};
    part->variables = weft__allocate(WEFT__LANG_OPERANDS_MAX / 2 * sizeof *part->variables);
    part->whole = weft__allocate_zeroed(WEFT__LANG_OPERANDS_MAX / 2);
    if (!part->variables || !part->whole)
        return WEFT_ERROR_MEMORY;
    TRY(find_names(f, part, hidden, names));
    TRY(weft__lang_parse_part(code, part->begin, names, part->names_count, part->value,
                              &part->syntax));
    part->syntax->code = f->code; /* messages show the whole line */
    TRY(make_elements(f, part));
    survey(part);
    return WEFT_OK;
}

static void free_version(weft__function_version *v)
{
    if (v->image.destroy)
        v->image.destroy(v->image.program);
    weft__evaluation_free(v->evaluation);
    weft__free(v->launch);
    weft__free(v->types);
    *v = (weft__function_version){0};
}

void weft__function_part_free(weft__function_part *part)
{
    for (int i = 0; i < WEFT__FUNCTION_VERSIONS; i++)
        free_version(&part->versions[i]);
    weft__lang_syntax_free(part->syntax);
    weft__free(part->variables);
    weft__free(part->whole);
    weft__free(part->elements);
}

static bool same_types(const weft__lang_operand *a, const weft__lang_operand *b, int count)
{
    for (int i = 0; i < count; i++)
        if (a[i].tag != b[i].tag || a[i].dtype != b[i].dtype || a[i].typed != b[i].typed ||
            a[i].computed != b[i].computed || a[i].unset != b[i].unset ||
            (a[i].tag != WEFT_OPERAND_NUMBER && !weft__shape_same(&a[i].shape, &b[i].shape)))
            return false;
    return true;
}

/* A launch of one point, for a kernel without folds. */
static weft_status prepare_scalar(weft__function *f, const weft__function_part *part,
                                  weft__function_version *v)
{
    const weft__evaluation *e = v->evaluation;
    if (!e->single)
        return FUNCTION_FAIL(f, part->begin, WEFT_ERROR_UNSUPPORTED,
                             "this expression of numbers is too long; cut it in two");
    const weft__lowered *lowered = &e->kernels[0];
    size_t bytes = sizeof(weft__launch) + lowered->operands_count * sizeof(weft__argument) +
                   (lowered->scalars_count + (size_t)1) * sizeof(uint64_t);
    TRY(weft__interpreter_compile(&lowered->builder.kernel, &v->image));
    v->launch = weft__allocate_zeroed(bytes);
    if (!v->launch)
        return WEFT_ERROR_MEMORY;
    v->launch->bytes = (uint32_t)bytes;
    v->launch->arguments_count = (uint16_t)lowered->operands_count;
    v->launch->scalars_count = (uint16_t)lowered->scalars_count;
    v->launch->ndim = 1;
    v->launch->count = v->launch->grain = v->launch->size[0] = 1;
    return WEFT_OK;
}

static bool has_arrays(const weft__function_part *part, const weft__lang_operand *types)
{
    for (int i = 0; i < part->names_count; i++)
        if (part->whole[i] && types[i].tag != WEFT_OPERAND_NUMBER)
            return true;
    return false;
}

/* Elements and numbers alone are computed as C does, wherever the elements are. */
static weft_status fill_version(weft__function *f, weft__function_part *part,
                                const weft__lang_operand *types, bool scalar,
                                weft__function_version *v)
{
    int count = part->syntax->names_count;
    weft__syntax_statement *statement = &part->syntax->statements[0];
    v->types = weft__allocate(((size_t)count + 1) * sizeof *types);
    if (!v->types)
        return WEFT_ERROR_MEMORY;
    if (count)
        memcpy(v->types, types, (size_t)count * sizeof *types);
    part->syntax->loop = scalar || !has_arrays(part, types);
    if (part->syntax->statements_count == 1)
        statement->target = v->as_value ? WEFT__TARGET_VALUE : part->target;
    TRY(weft__evaluation_new(part->syntax, types, count, &v->evaluation));
    if (part->syntax->loop && v->evaluation->single &&
        v->evaluation->kernels[0].builder.kernel.folds_count)
        return FUNCTION_FAIL(f, part->begin, WEFT_ERROR_UNSUPPORTED,
                             "a reduction here is one of numbers alone; give it a whole array, as "
                             "in sum(x)");
    return scalar ? prepare_scalar(f, part, v) : WEFT_OK;
}

weft_status weft__function_version_get(weft__function *f, weft__function_part *part,
                                       const weft__lang_operand *types, bool as_value, bool scalar,
                                       weft__function_version **version)
{
    int count = part->syntax->names_count;
    weft__function_version *v = part->versions;
    for (int i = 0; i < WEFT__FUNCTION_VERSIONS; i++)
        if (v[i].evaluation && v[i].as_value == as_value && !v[i].launch == !scalar &&
            same_types(v[i].types, types, count)) {
            *version = &v[i];
            return WEFT_OK;
        }
    *version = &v[part->oldest];
    part->oldest = (part->oldest + 1) % WEFT__FUNCTION_VERSIONS;
    free_version(*version);
    (*version)->as_value = as_value;
    weft_status status = fill_version(f, part, types, scalar, *version);
    if (status != WEFT_OK)
        free_version(*version);
    return status;
}
