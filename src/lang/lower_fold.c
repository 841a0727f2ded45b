/* Reductions in a kernel: what is folded at each point, and what is made of the result. */
#include "kernel/math.h"
#include "lang/lowering.h"

/* A reduction that is being lowered. */
typedef struct reduction {
    weft__lowering_of *l;
    weft__builder *b;
    const weft__lang_node *node;
    int32_t at;       /* the node */
    weft__element x;  /* its argument, at each point */
    weft_dtype value; /* the type it is computed in */
    int64_t count;    /* elements that go into one result */
} reduction;

static bool is_complex(weft_dtype dtype) { return dtype == WEFT_C64 || dtype == WEFT_C128; }

static int32_t two(const reduction *r, weft__op op, int32_t x, int32_t y)
{
    return weft__build(r->b, op, r->value, x, y, 0);
}

static int32_t fold(const reduction *r, int kind, int32_t x)
{
    return weft__build_fold(r->b, kind, r->value, r->value, x, x);
}

static void fold_parts(const reduction *r, int kind, int32_t *part)
{
    for (int k = 0; k < (is_complex(r->x.dtype) ? 2 : 1); k++)
        part[k] = fold(r, kind, r->x.part[k]);
}

static void lower_product(const reduction *r, int32_t *part)
{
    if (!is_complex(r->x.dtype)) {
        fold_parts(r, WEFT__OP_mul, part);
        return;
    }
    part[0] =
        weft__build_fold(r->b, WEFT__FOLD_PRODUCT, r->value, r->value, r->x.part[0], r->x.part[1]);
    part[1] = part[0] + 1;
}

static void lower_mean(const reduction *r, int32_t *part)
{
    int32_t count = weft__lower_count(r->l, r->value, r->count);
    fold_parts(r, WEFT__OP_add, part);
    for (int k = 0; k < (is_complex(r->x.dtype) ? 2 : 1); k++)
        part[k] = two(r, WEFT__OP_div, part[k], count);
}

/* The mean has been stored by an earlier kernel. */
static int32_t lower_variance(const reduction *r)
{
    int64_t left = r->count - r->node->correction;
    int32_t count = weft__lower_count(r->l, r->value, left < 0 ? 0 : left);
    weft__element mean =
        weft__lower_load(r->l, WEFT__PHASE_RESULTS, r->l->schedule->mean[r->at], r->value);
    int32_t difference = two(r, WEFT__OP_sub, r->x.part[0], mean.part[0]);
    int32_t sum = fold(r, WEFT__OP_add, two(r, WEFT__OP_mul, difference, difference));
    int32_t result = two(r, WEFT__OP_div, sum, count);
    return r->node->operation == WEFT__LANG_std
               ? weft__build(r->b, WEFT__OP_sqrt, r->value, result, 0, 0)
               : result;
}

static int32_t lower_norm(const reduction *r)
{
    int32_t x = r->x.part[0];
    if (r->node->order == 2) {
        int32_t square = two(r, WEFT__OP_mul, x, x);
        if (is_complex(r->x.dtype))
            square = two(r, WEFT__OP_add, square, two(r, WEFT__OP_mul, r->x.part[1], r->x.part[1]));
        return weft__build(r->b, WEFT__OP_sqrt, r->value, fold(r, WEFT__OP_add, square), 0, 0);
    }
    int32_t size = weft__build(r->b, WEFT__OP_abs, r->value, x, 0, 0);
    if (is_complex(r->x.dtype))
        size = weft__math(r->b, WEFT__MATH_hypot, r->value, x, r->x.part[1]);
    return fold(r, r->node->order == 1 ? WEFT__OP_add : WEFT__OP_max, size);
}

static int32_t lower_position(const reduction *r)
{
    int kind = r->node->operation == WEFT__LANG_argmin ? WEFT__FOLD_ARGMIN : WEFT__FOLD_ARGMAX;
    int32_t position = weft__build_index(r->b, WEFT__INDEX_FOLDED);
    return 1 + weft__build_fold(r->b, kind, r->value, WEFT_I64, r->x.part[0], position);
}

static void lower_operation(const reduction *r, int32_t *part)
{
    switch ((weft__lang_operation)r->node->operation) {
    case WEFT__LANG_sum:
        fold_parts(r, WEFT__OP_add, part);
        break;
    case WEFT__LANG_prod:
        lower_product(r, part);
        break;
    case WEFT__LANG_min:
        fold_parts(r, WEFT__OP_min, part);
        break;
    case WEFT__LANG_max:
        fold_parts(r, WEFT__OP_max, part);
        break;
    case WEFT__LANG_any:
        fold_parts(r, WEFT__OP_or, part);
        break;
    case WEFT__LANG_all:
        fold_parts(r, WEFT__OP_and, part);
        break;
    case WEFT__LANG_mean:
        lower_mean(r, part);
        break;
    case WEFT__LANG_var:
    case WEFT__LANG_std:
        part[0] = lower_variance(r);
        break;
    case WEFT__LANG_argmin:
    case WEFT__LANG_argmax:
        part[0] = lower_position(r);
        break;
    default: /* norm */
        part[0] = lower_norm(r);
        break;
    }
}

/* f16 and bf16 are folded in f32 and rounded here, whatever is done with the result. */
static void round_result(const reduction *r, weft__element *element)
{
    if (element->dtype == WEFT_F16 || element->dtype == WEFT_BF16)
        element->part[0] =
            weft__build(r->b, element->dtype == WEFT_F16 ? WEFT__OP_round_f16 : WEFT__OP_round_bf16,
                        WEFT_F32, element->part[0], 0, 0);
}

weft_status weft__lower_fold(weft__lowering_of *l, int32_t at, bool mean, weft__element *element)
{
    const weft__lang_node *node = &l->program->nodes[at];
    const weft_shape *shape = &l->program->shapes[l->program->nodes[node->argument[0]].shape];
    reduction r = {.l = l, .b = &l->out->builder, .node = node, .at = at, .count = 1};
    r.x = l->values[WEFT__PHASE_POINTS][node->argument[0]];
    r.value = weft__value_dtype(r.x.dtype);
    for (int k = 0; k < shape->ndim; k++)
        r.count *= node->axes >> k & 1 ? shape->size[k] : 1;
    if (mean) {
        lower_mean(&r, element->part);
        element->dtype = r.value;
        return l->status;
    }
    element->dtype = (weft_dtype)node->dtype;
    lower_operation(&r, element->part);
    round_result(&r, element);
    return l->status;
}
