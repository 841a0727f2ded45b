/* The folds of a loop that has become a program: a reduction of the value at each point. */
#include "function/nest.h"
#include "function/number.h"
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

static int element_of(const weft__function_part *part) { return part->target - part->names_count; }

int32_t weft__nest_fold_array(const weft__function *f, const weft__nest_fold *fold)
{
    const weft__function_part *part = &f->parts[fold->part];
    return part->elements[element_of(part)].variable;
}

/* If there is none, that is an error only where an iteration folds into it. */
static bool has_element(weft__running *r, const weft__nest_fold *fold, const weft_array *array)
{
    weft__function_part *part = &r->function->parts[fold->part];
    weft_error saved = *weft_error_last();
    char *address;
    if (weft__function_address(r, part, element_of(part), array, &address) == WEFT_OK)
        return true;
    weft__error_restore(&saved);
    return false;
}

/* Of arrays that share memory others may be the same element. */
bool weft__nest_fold_is_number(weft__running *r, const weft__nest_fold *fold)
{
    const weft__held *held =
        &r->held[fold->variable < 0 ? weft__nest_fold_array(r->function, fold) : fold->variable];
    if (fold->variable >= 0)
        return held->holding == WEFT__NUMBER && !weft__number_is_complex(held->number.dtype) &&
               held->number.dtype != WEFT_U64;
    if (held->holding != WEFT__ARRAY || held->input || r->shared)
        return false;
    const weft_array *array = weft__held_any(held);
    return array->dtype != WEFT_U64 && array->dtype != WEFT_BOOL && array->dtype != WEFT_F16 &&
           array->dtype != WEFT_BF16 && !weft__number_is_complex(array->dtype) &&
           !array->overlapping && has_element(r, fold, array);
}

static weft_status find_element(weft__running *r, const weft__nest_fold *fold, weft_dtype *dtype,
                                char **address)
{
    weft__function_part *part = &r->function->parts[fold->part];
    weft_array *array;
    TRY(weft__held_host(r, weft__nest_fold_array(r->function, fold), false, &array));
    *dtype = (weft_dtype)array->dtype;
    return weft__function_address(r, part, element_of(part), array, address);
}

weft_status weft__nest_fold_before(weft__running *r, const weft__nest_fold *fold,
                                   weft_operand *number, bool *typed)
{
    weft_dtype dtype;
    char *address;
    if (fold->variable >= 0) {
        *number = r->held[fold->variable].number;
        *typed = r->held[fold->variable].typed;
        return WEFT_OK;
    }
    TRY(find_element(r, fold, &dtype, &address));
    *number = weft__number_load(address, dtype);
    *typed = dtype > WEFT_U64;
    return WEFT_OK;
}

weft_status weft__nest_fold_set(weft__running *r, const weft__nest_fold *fold,
                                const weft_operand *number, bool typed)
{
    weft_dtype dtype;
    char *address;
    if (fold->variable >= 0) {
        weft__function_set(r, fold->variable, number, typed);
        return WEFT_OK;
    }
    TRY(find_element(r, fold, &dtype, &address));
    const weft_operand cast = weft__number_cast(number, dtype);
    weft__number_store(address, &cast, dtype);
    weft__held_wrote(r, weft__nest_fold_array(r->function, fold), false);
    return WEFT_OK;
}
