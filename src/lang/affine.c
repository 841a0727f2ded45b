/* Affine forms of the indices of a portable kernel. */
#include "lang/affine.h"

static weft__affine constant_of(const weft__syntax_node *literal)
{
    const bool integer = literal->dtype >= WEFT_I8 && literal->dtype <= WEFT_U64;
    weft__affine form = {.valid = false};
    if (!integer)
        return form;
    const uint64_t value = literal->value.integer;
    form.valid = value <= (uint64_t)INT64_MAX + literal->negative;
    form.large = !form.valid;
    form.constant = (int64_t)(literal->negative ? 0 - value : value);
    return form;
}

/* Whether it would be a form if there were more bits. */
static bool is_affine(const weft__affine *form) { return form->valid || form->large; }

static bool is_constant(const weft__affine *form)
{
    for (int k = 0; k < WEFT_NDIM_MAX; k++)
        if (form->factor[k])
            return false;
    return true;
}

/* a + sign*b. */
static weft__affine sum(const weft__affine *a, const weft__affine *b, int64_t sign)
{
    weft__affine form = {.valid = a->valid && b->valid};
    for (int k = -1; k < WEFT_NDIM_MAX; k++) {
        int64_t x = k < 0 ? a->constant : a->factor[k], y = k < 0 ? b->constant : b->factor[k];
        int64_t *to = k < 0 ? &form.constant : &form.factor[k];
        form.valid &= !__builtin_mul_overflow(y, sign, &y) && !__builtin_add_overflow(x, y, to);
    }
    form.large = !form.valid && is_affine(a) && is_affine(b);
    return form;
}

static weft__affine product(const weft__affine *a, const weft__affine *b)
{
    static const weft__affine zero = {.valid = true};
    const weft__affine *by = is_constant(b) ? b : a, *of = by == b ? a : b;
    if (!is_affine(a) || !is_affine(b) || !is_constant(by))
        return (weft__affine){.valid = false};
    weft__affine form = sum(&zero, of, by->constant);
    form.valid &= by->valid;
    form.large = !form.valid;
    return form;
}

/* As `div` and `rem` of integers. */
static int64_t divided(int64_t a, int64_t b, bool rest)
{
    if (b == 0)
        return rest ? a : 0;
    if (b == -1)
        return rest ? 0 : (int64_t)(0 - (uint64_t)a);
    return rest ? a % b : a / b;
}

/* Of constants alone. */
static weft__affine quotient(const weft__affine *a, const weft__affine *b, bool rest)
{
    weft__affine form = {.valid = false};
    if (!is_affine(a) || !is_affine(b) || !is_constant(a) || !is_constant(b))
        return form;
    form.valid = a->valid && b->valid;
    form.large = !form.valid;
    form.constant = form.valid ? divided(a->constant, b->constant, rest) : 0;
    return form;
}

static weft__affine call_of(const weft__lang_syntax *syntax, const weft__syntax_node *call,
                            const weft__affine *forms)
{
    const int32_t *arguments = syntax->arguments + call->first;
    static const weft__affine minus_one = {.valid = true, .constant = -1};
    const weft__affine *a = call->count ? &forms[arguments[0]] : NULL;
    switch (call->operation) {
    case WEFT__LANG_positive:
        return *a;
    case WEFT__LANG_negative:
        return product(a, &minus_one);
    case WEFT__LANG_add:
        return sum(a, &forms[arguments[1]], 1);
    case WEFT__LANG_subtract:
        return sum(a, &forms[arguments[1]], -1);
    case WEFT__LANG_multiply:
        return product(a, &forms[arguments[1]]);
    case WEFT__LANG_divide:
    case WEFT__LANG_modulo:
        return quotient(a, &forms[arguments[1]], call->operation == WEFT__LANG_modulo);
    default:
        return (weft__affine){.valid = false};
    }
}

weft__affine weft__affine_of(const weft__lang_syntax *syntax, int32_t node,
                             const weft__affine *forms, const int64_t *const *numbers)
{
    const weft__syntax_node *n = &syntax->nodes[node];
    weft__affine form = {.valid = false};
    switch (n->kind) {
    case WEFT__SYNTAX_LITERAL:
        return constant_of(n);
    case WEFT__SYNTAX_INDEX:
        form.valid = true;
        form.factor[n->index] = 1;
        return form;
    case WEFT__SYNTAX_OPERAND:
        form.valid = numbers[n->index] != NULL;
        form.constant = form.valid ? *numbers[n->index] : 0;
        return form;
    case WEFT__SYNTAX_CALL:
        return call_of(syntax, n, forms);
    default:
        return form;
    }
}

bool weft__affine_range(const weft__affine *form, const weft_shape *space, int64_t *low,
                        int64_t *high)
{
    *low = *high = form->constant;
    for (int k = 0; k < space->ndim; k++) {
        int64_t span;
        if (__builtin_mul_overflow(form->factor[k], space->size[k] - 1, &span))
            return false;
        int64_t *end = span < 0 ? low : high;
        if (__builtin_add_overflow(*end, span, end))
            return false;
    }
    return true;
}

int weft__affine_index(const weft__affine *form)
{
    int found = -1;
    for (int k = 0; k < WEFT_NDIM_MAX; k++) {
        if (form->factor[k] == 0)
            continue;
        if (form->factor[k] != 1 || found >= 0)
            return -1;
        found = k;
    }
    return found;
}
