/* Folds have the type that the loop computes in: double s += x(i) of floats is summed as f64, and
 * what is cut to an integer in every iteration is no fold. */
#include "function/accumulator.h"
#include "core/dtype.h"
#include "function/number.h"

static bool is_integer(uint8_t dtype)
{
    return weft__dtype_rank((weft_dtype)dtype) <= WEFT__RANK_INTEGER;
}

static bool is_extreme(uint8_t operation)
{
    return operation == WEFT__LANG_minimum || operation == WEFT__LANG_maximum;
}

static bool writes(const weft__function_nest *nest)
{
    bool written = nest->second != NULL;
    for (int i = 0; i < nest->operands_count; i++)
        written |= nest->operands[i].written;
    return written;
}

/* What is found in an expression, from the weakest to the strongest. */
typedef enum finding { FOUND_INTEGERS, FOUND_REAL, FOUND_F32, FOUND_F64, FOUND_UNKNOWN } finding;

static finding finding_of(uint8_t dtype, bool typed)
{
    if (is_integer(dtype))
        return FOUND_INTEGERS;
    return !typed              ? FOUND_REAL
           : dtype == WEFT_F64 ? FOUND_F64
           : dtype == WEFT_F32 ? FOUND_F32
                               : FOUND_UNKNOWN;
}

static finding find_name(const weft__running *r, const weft__function_nest *nest, int32_t variable)
{
    const weft__held *held = &r->held[variable];
    uint8_t declared = r->function->variables[variable].dtype;
    for (int k = 0; k < nest->depth; k++)
        if (nest->loops[k].variable == variable)
            return FOUND_INTEGERS;
    if (declared)
        return finding_of(declared, true);
    for (int i = 0; i < nest->second->operands_count; i++) /* else the loop sets it */
        if (nest->second->operands[i].role == WEFT__ROLE_VARIABLE &&
            nest->second->operands[i].index == variable && held->holding == WEFT__NUMBER)
            return finding_of((uint8_t)held->number.dtype, held->typed);
    return FOUND_UNKNOWN;
}

static finding find_node(const weft__running *r, const weft__function_nest *nest,
                         const weft__function_part *part, const weft__syntax_node *node)
{
    switch (node->kind) {
    case WEFT__SYNTAX_LITERAL:
        return finding_of(node->dtype, false);
    case WEFT__SYNTAX_CAST:
        return finding_of(node->dtype, true);
    case WEFT__SYNTAX_ACCESS:
        return FOUND_INTEGERS; /* it is among the elements */
    case WEFT__SYNTAX_OPERAND:
        return node->index < part->names_count ? find_name(r, nest, part->variables[node->index])
                                               : FOUND_INTEGERS;
    default:
        break;
    }
    switch (node->operation) {
    case WEFT__LANG_add:
    case WEFT__LANG_subtract:
    case WEFT__LANG_multiply:
    case WEFT__LANG_divide:
    case WEFT__LANG_negative:
    case WEFT__LANG_minimum:
    case WEFT__LANG_maximum:
        return FOUND_INTEGERS; /* what its arguments are */
    default:
        return FOUND_UNKNOWN;
    }
}

static finding find_part(const weft__running *r, const weft__function_nest *nest,
                         const weft__function_part *part)
{
    finding found = FOUND_INTEGERS;
    for (uint32_t i = 0; i < part->syntax->nodes_count; i++) {
        finding one = find_node(r, nest, part, &part->syntax->nodes[i]);
        found = one > found ? one : found;
    }
    for (int k = 0; k < part->elements_count; k++) {
        const weft__held *held = &r->held[part->elements[k].variable];
        finding one = held->holding == WEFT__ARRAY ? finding_of(weft__held_any(held)->dtype, true)
                                                   : FOUND_UNKNOWN;
        found = one > found ? one : found;
    }
    return found;
}

/* Of "s = …; for k { s += …; }" with s not declared: what the first statement gives it. */
static weft__nest_accumulator find_set(const weft__running *r, const weft__function_nest *nest,
                                       int32_t variable)
{
    const weft__function *f = r->function;
    const weft__nest_loop *around = &nest->loops[nest->second->depth - 1];
    finding found = FOUND_UNKNOWN;
    for (int32_t at = weft__nest_body(f, f->statements[around->statement].child);
         at >= 0 && f->statements[at].kind != WEFT__STATEMENT_FOR; at = f->statements[at].next)
        if (f->statements[at].variable == variable && f->statements[at].part >= 0)
            found = find_part(r, nest, &f->parts[f->statements[at].part]);
    static const weft__nest_accumulator accumulators[] = {[FOUND_INTEGERS] = {WEFT_I64, true},
                                                          [FOUND_REAL] = {WEFT_F64, true},
                                                          [FOUND_F32] = {WEFT_F32, false},
                                                          [FOUND_F64] = {WEFT_F64, false},
                                                          [FOUND_UNKNOWN] = {0, false}};
    return accumulators[found];
}

weft__nest_accumulator weft__accumulator_of(const weft__running *r, const weft__function_nest *nest,
                                            int fold)
{
    int32_t variable = nest->folds[fold].variable;
    uint8_t declared = variable < 0 ? WEFT_DTYPE_DEFAULT : r->function->variables[variable].dtype;
    if (declared)
        return (weft__nest_accumulator){declared, false};
    if (variable >= 0 && nest->second)
        return find_set(r, nest, variable);
    if (variable >= 0) {
        const weft__held *held = &r->held[variable];
        return (weft__nest_accumulator){(uint8_t)held->number.dtype, !held->typed};
    }
    if (!nest->second) /* y(0) += … */
        return (weft__nest_accumulator){
            (uint8_t)weft__held_any(
                &r->held[weft__nest_fold_array(r->function, &nest->folds[fold])])
                ->dtype,
            false};
    for (int i = 0; i < nest->second->operands_count; i++) /* y(i) += … */
        if (nest->second->operands[i].written)
            return (weft__nest_accumulator){
                (uint8_t)weft__held_any(&r->held[nest->second->operands[i].index])->dtype, false};
    return (weft__nest_accumulator){0, false};
}

static bool folds_integers(const weft__function_nest *nest, uint8_t operation,
                           weft__nest_accumulator accumulator, const weft__lang_node *term)
{
    if (accumulator.weak)
        return term->dtype != WEFT_U64;
    if (!is_integer(term->dtype) || accumulator.dtype == WEFT_BOOL)
        return false;
    if (!is_extreme(operation))
        return true; /* what wraps around may do so at the end */
    return term->dtype != WEFT_U64 && (accumulator.dtype == WEFT_I64 || !writes(nest));
}

bool weft__accumulator_cast(const weft__function_nest *nest, int fold,
                            weft__nest_accumulator accumulator, const weft__lang_node *term,
                            uint8_t *cast)
{
    bool exact = term->dtype == WEFT_F64; /* an untyped one is computed so, too */
    *cast = WEFT_DTYPE_DEFAULT;
    if (term->dtype == WEFT_BOOL || weft__number_is_complex(term->dtype))
        return false;
    if (!accumulator.dtype)
        return exact;
    if (is_integer(accumulator.dtype))
        return folds_integers(nest, nest->folds[fold].operation, accumulator, term);
    if (is_integer(term->dtype) || (accumulator.dtype == WEFT_F64 && !accumulator.weak && !exact))
        *cast = accumulator.dtype;
    return true;
}

bool weft__accumulator_overflows(weft__nest_accumulator accumulator, uint8_t operation,
                                 const weft_operand *value)
{
    if (accumulator.weak || !is_integer(accumulator.dtype) || !is_extreme(operation))
        return false;
    return weft__number_cast(value, (weft_dtype)accumulator.dtype).value.i != value->value.i;
}
