/* The folds of a loop that has become a program: a reduction of the value at each point. */
#include "function/nest.h"
#include <string.h>

int weft__nest_fold_of(const weft__function_nest *nest, const weft__portable_program *program,
                       int32_t operand)
{
    const weft__nest_operand *o = &nest->operands[program->operands[operand].argument];
    return o->role == WEFT__ROLE_FOLD ? o->index : -1;
}

static const uint8_t reductions[] = {[WEFT__LANG_add] = WEFT__LANG_sum,
                                     [WEFT__LANG_subtract] = WEFT__LANG_sum,
                                     [WEFT__LANG_multiply] = WEFT__LANG_prod,
                                     [WEFT__LANG_minimum] = WEFT__LANG_min,
                                     [WEFT__LANG_maximum] = WEFT__LANG_max};

/* The axes that a fold is over, if not all. */
static weft_status fold_axes(const weft__function_nest *nest, weft__lang_syntax *s, int32_t *found)
{
    weft__syntax_attributes attributes = {.order = 2, .value = -1};
    *found = -1;
    if (!nest->second)
        return WEFT_OK;
    for (int k = 0; k < nest->depth; k++)
        if (nest->folded[k])
            attributes.axis[attributes.axes++] = nest->axis[k];
    TRY(weft__lang_room(&s->attributes, s->attributes_count, &s->attributes_room,
                        sizeof *s->attributes));
    *found = (int32_t)s->attributes_count;
    s->attributes[s->attributes_count++] = attributes;
    return WEFT_OK;
}

/* The term as the type that it is folded in. */
static weft_status cast_term(weft__lang_syntax *s, uint8_t dtype, int32_t *term)
{
    weft__syntax_node cast = {.kind = WEFT__SYNTAX_CAST,
                              .dtype = dtype,
                              .column = s->nodes[*term].column,
                              .first = s->arguments_count,
                              .count = 1,
                              .index = -1};
    TRY(weft__lang_room(&s->arguments, s->arguments_count, &s->arguments_room,
                        sizeof *s->arguments));
    s->arguments[s->arguments_count++] = *term;
    TRY(weft__lang_room(&s->nodes, s->nodes_count, &s->nodes_room, sizeof *s->nodes));
    *term = (int32_t)s->nodes_count;
    s->nodes[s->nodes_count++] = cast;
    return WEFT_OK;
}

/* Values that are folded come last. */
weft_status weft__nest_fold_results(const weft__function_nest *nest, const uint8_t *casts,
                                    weft__portable_program *program)
{
    weft__lang_syntax *s = program->syntax;
    for (uint32_t done = 0, i = 0; done < s->statements_count; done++) {
        weft__syntax_statement statement = s->statements[i];
        int fold = statement.target < 0 ? -1 : weft__nest_fold_of(nest, program, statement.target);
        if (fold < 0) {
            i++;
            continue;
        }
        memmove(&s->statements[i], &s->statements[i + 1],
                (s->statements_count - i - 1) * sizeof *s->statements);
        if (casts[fold])
            TRY(cast_term(s, casts[fold], &statement.node));
        weft__syntax_node call = {.kind = WEFT__SYNTAX_CALL,
                                  .operation = reductions[nest->folds[fold].operation],
                                  .column = statement.column,
                                  .first = s->arguments_count,
                                  .count = 1,
                                  .index = -1};
        TRY(fold_axes(nest, s, &call.index));
        TRY(weft__lang_room(&s->arguments, s->arguments_count, &s->arguments_room,
                            sizeof *s->arguments));
        s->arguments[s->arguments_count++] = statement.node;
        TRY(weft__lang_room(&s->nodes, s->nodes_count, &s->nodes_room, sizeof *s->nodes));
        statement.node = (int32_t)s->nodes_count;
        s->nodes[s->nodes_count++] = call;
        statement.end = s->nodes_count;
        s->statements[s->statements_count - 1] = statement;
    }
    return WEFT_OK;
}
