/* Combining two values of a fold, and all lanes of a chunk. */
#include "codegen/llvm/flow.h"
#include "codegen/llvm/fold_emit.h"

static weft__ref binary(const weft__emitter *emitter, weft__llvm_binary *build, weft__ref x,
                        weft__ref y)
{
    return build(emitter->builder, x, y, "");
}

static weft__ref primitive(const weft__emitter *emitter, weft__op op, weft_dtype dtype, weft__ref x,
                           weft__ref y)
{
    const weft__ref arguments[3] = {x, y, NULL};
    return weft__emit_arithmetic(emitter, op, dtype, arguments);
}

/* A NaN is before everything; of equals the one with the lower position is first. */
static void combine_first(const weft__emitter *emitter, const weft__folded *fold, weft__ref *to,
                          const weft__ref *from)
{
    const bool largest = fold->kind == WEFT__FOLD_ARGMAX;
    weft__ref ahead = primitive(emitter, WEFT__OP_lt, fold->dtype, from[0], to[0]);
    if (largest)
        ahead = primitive(emitter, WEFT__OP_lt, fold->dtype, to[0], from[0]);
    weft__ref equal = primitive(emitter, WEFT__OP_eq, fold->dtype, from[0], to[0]);
    if (weft__dtype_is_float(fold->dtype)) {
        weft__ref is = primitive(emitter, WEFT__OP_ne, fold->dtype, from[0], from[0]);
        weft__ref was = primitive(emitter, WEFT__OP_ne, fold->dtype, to[0], to[0]);
        weft__ref was_not = primitive(emitter, WEFT__OP_not, WEFT_BOOL, was, NULL);
        weft__llvm_binary *and = weft__llvm.BuildAnd, * or = weft__llvm.BuildOr;
        ahead = binary(emitter, or, ahead, binary(emitter, and, is, was_not));
        equal = binary(emitter, or, equal, binary(emitter, and, is, was));
    }
    weft__ref lower = primitive(emitter, WEFT__OP_lt, WEFT_I64, from[1], to[1]);
    weft__ref better = binary(emitter, weft__llvm.BuildOr, ahead,
                              binary(emitter, weft__llvm.BuildAnd, equal, lower));
    to[0] = weft__emit_select(emitter, better, from[0], to[0]);
    to[1] = weft__emit_select(emitter, better, from[1], to[1]);
}

static void combine_product(const weft__emitter *emitter, weft__ref *to, const weft__ref *from)
{
    weft__llvm_binary *times = weft__llvm.BuildFMul;
    weft__ref real = binary(emitter, weft__llvm.BuildFSub, binary(emitter, times, to[0], from[0]),
                            binary(emitter, times, to[1], from[1]));
    weft__ref imaginary =
        binary(emitter, weft__llvm.BuildFAdd, binary(emitter, times, to[0], from[1]),
               binary(emitter, times, to[1], from[0]));
    to[0] = real;
    to[1] = imaginary;
}

void weft__fold_combine(const weft__emitter *emitter, const weft__folded *fold, weft__ref *to,
                        const weft__ref *from)
{
    if (fold->kind == WEFT__FOLD_PRODUCT)
        combine_product(emitter, to, from);
    else if (fold->kind >= WEFT__FOLD_ARGMIN)
        combine_first(emitter, fold, to, from);
    else
        to[0] = primitive(emitter, (weft__op)fold->kind, fold->dtype, to[0], from[0]);
}

/* Rows come in order, so that of equals the one that there is stays. */
static void add_numbered(const weft__emitter *emitter, weft__folded *fold, weft__ref x)
{
    const bool largest = fold->kind == WEFT__FOLD_ARGMAX;
    weft__ref *now = &fold[0].now[emitter->turn], *row = &fold[1].now[emitter->turn], better;
    if (weft__dtype_is_float(fold->dtype))
        better =
            binary(emitter, weft__llvm.BuildAnd,
                   weft__llvm.BuildFCmp(emitter->builder, largest ? WEFT__FCMP_ULT : WEFT__FCMP_UGT,
                                        *now, x, ""),
                   weft__llvm.BuildFCmp(emitter->builder, WEFT__FCMP_ORD, *now, *now, ""));
    else
        better = largest ? primitive(emitter, WEFT__OP_lt, fold->dtype, *now, x)
                         : primitive(emitter, WEFT__OP_lt, fold->dtype, x, *now);
    weft__ref number = weft__llvm.BuildTrunc(emitter->builder, emitter->row,
                                             weft__llvm.IntTypeInContext(emitter->context, 32), "");
    if (emitter->lanes > 1)
        number = weft__emit_splat(emitter, number, emitter->lanes);
    *now = weft__emit_select(emitter, better, x, *now);
    *row = weft__emit_select(emitter, better, number, *row);
}

void weft__fold_add(const weft__emitter *emitter, weft__folded *fold, const weft__ref *from)
{
    const int turn = emitter->turn;
    if (fold->numbered) {
        add_numbered(emitter, fold, from[0]);
        return;
    }
    weft__ref to[2] = {fold[0].now[turn], fold->pair ? fold[1].now[turn] : NULL};
    weft__fold_combine(emitter, fold, to, from);
    for (int part = 0; part <= fold->pair; part++)
        fold[part].now[turn] =
            fold->kind == WEFT__FOLD_PRODUCT
                ? weft__emit_select(emitter, emitter->folding->empty, from[part], to[part])
                : to[part];
}

/* The upper or lower half of the lanes. */
static weft__ref half_of(const weft__emitter *emitter, weft__ref x, int half, bool upper)
{
    int order[WEFT__FOLD_LANES];
    if (half == 1)
        return weft__llvm.BuildExtractElement(emitter->builder, x, weft__emit_i64(emitter, upper),
                                              "");
    for (int k = 0; k < half; k++)
        order[k] = k + (upper ? half : 0);
    return weft__emit_shuffle(emitter, x, x, order, half);
}

/* Combines lanes with those half of them further on, until one is left; in `x`, by the parts. */
static void halve_vector(weft__emitter *emitter, const weft__folded *fold, weft__ref *x)
{
    const int parts = 1 + fold->pair;
    for (int half = emitter->survey->lanes / 2; half >= 1; half /= 2) {
        weft__ref low[2], high[2];
        for (int part = 0; part < parts; part++) {
            low[part] = half_of(emitter, x[part], half, false);
            high[part] = half_of(emitter, x[part], half, true);
        }
        emitter->lanes = half;
        weft__fold_combine(emitter, fold, low, high);
        x[0] = low[0];
        x[1] = low[1];
    }
}

/* Combines the vector of slots from `column` on with that `half` of them further on. */
static void combine_slots(const weft__emitter *emitter, const weft__folded *fold, weft__ref column,
                          weft__ref half)
{
    weft__ref other = weft__llvm.BuildAdd(emitter->builder, column, half, ""), to[2], from[2];
    for (int part = 0; part <= fold->pair; part++) {
        to[part] = weft__fold_slot_load(emitter, &fold[part], column);
        from[part] = weft__fold_slot_load(emitter, &fold[part], other);
    }
    weft__fold_combine(emitter, fold, to, from);
    for (int part = 0; part <= fold->pair; part++)
        weft__fold_slot_store(emitter, &fold[part], column, to[part]);
}

/* In memory, by one piece of code for all steps, where straight code takes long to compile. Of the
 * last steps only the lower lanes of the vector count. */
static void halve_in_loop(weft__emitter *emitter, const weft__folded *fold, weft__ref *result)
{
    const int lanes = weft__fold_number_lanes(emitter->survey);
    weft__ref zero = weft__emit_i64(emitter, 0);
    weft__block before = weft__flow_here(emitter), step = weft__flow_block(emitter),
                vector = weft__flow_block(emitter), end = weft__flow_block(emitter),
                after = weft__flow_block(emitter);
    weft__flow_jump(emitter, step);
    weft__flow_enter(emitter, step);
    weft__ref half = weft__flow_phi(emitter, weft__flow_i64(emitter));
    weft__flow_jump(emitter, vector);
    weft__flow_enter(emitter, vector);
    weft__ref at = weft__flow_phi(emitter, weft__flow_i64(emitter));
    emitter->lanes = lanes;
    combine_slots(emitter, fold, at, half);
    weft__ref next = weft__emit_opaque(emitter, weft__flow_plus(emitter, at, lanes));
    weft__flow_incoming(at, zero, step);
    weft__flow_incoming(at, next, weft__flow_here(emitter));
    weft__flow_branch(emitter, weft__flow_compare(emitter, WEFT__ICMP_SLT, next, half), vector,
                      end);
    weft__flow_enter(emitter, end);
    weft__ref less = weft__llvm.BuildLShr(emitter->builder, half, weft__emit_i64(emitter, 1), "");
    weft__flow_incoming(half, weft__emit_i64(emitter, WEFT__FOLD_LANES / 2), before);
    weft__flow_incoming(half, less, end);
    weft__flow_branch(emitter, weft__flow_compare(emitter, WEFT__ICMP_NE, less, zero), step, after);
    weft__flow_enter(emitter, after);
    emitter->lanes = 1;
    for (int part = 0; part <= fold->pair; part++)
        result[part] = weft__fold_slot_load(emitter, &fold[part], zero);
}

static void halve_straight(weft__emitter *emitter, const weft__folded *fold, weft__ref *result)
{
    enum { VECTORS_MOST = WEFT__FOLD_LANES };
    weft__ref x[VECTORS_MOST][2];
    const int lanes = emitter->survey->lanes, parts = 1 + fold->pair;
    int count = WEFT__FOLD_LANES / lanes;
    emitter->lanes = lanes;
    for (int k = 0; k < count; k++)
        for (int part = 0; part < parts; part++)
            x[k][part] =
                weft__fold_slot_load(emitter, &fold[part], weft__emit_i64(emitter, k * lanes));
    for (; count > 1; count /= 2)
        for (int k = 0; k < count / 2; k++)
            weft__fold_combine(emitter, fold, x[k], x[k + count / 2]);
    halve_vector(emitter, fold, x[0]);
    result[0] = x[0][0];
    result[1] = x[0][1];
}

void weft__fold_halve(weft__emitter *emitter, const weft__folded *fold, weft__ref *result)
{
    if (fold->kind >= WEFT__FOLD_ARGMIN)
        halve_in_loop(emitter, fold, result);
    else
        halve_straight(emitter, fold, result);
}
