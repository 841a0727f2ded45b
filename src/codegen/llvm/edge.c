/* Displaced loads: what the patch says about them, and what they give out of bounds. */
#include "codegen/llvm/flow.h"
#include "codegen/llvm/patch.h"

static weft__type i64(const weft__emitter *emitter)
{
    return weft__llvm.IntTypeInContext(emitter->context, 64);
}

static weft__ref compare(const weft__emitter *emitter, int predicate, weft__ref x, weft__ref y)
{
    return weft__llvm.BuildICmp(emitter->builder, predicate, x, y, "");
}

uint32_t weft__source_of(const weft__emitter *emitter, const weft__value *load)
{
    return emitter->survey->source[load - emitter->survey->kernel->values];
}

void weft__emit_displaced(weft__emitter *emitter)
{
    const weft__survey *survey = emitter->survey;
    const uint32_t own = survey->kernel->operands_count;
    if (survey->operands == own)
        return;
    emitter->last_size = weft__flow_field(emitter, emitter->patch, WEFT__PATCH_SIZE, i64(emitter));
    emitter->last_position = weft__flow_field(
        emitter, emitter->patch, WEFT__PATCH_POSITION + survey->ndim - 1, i64(emitter));
    for (uint32_t k = own; k < survey->operands; k++) {
        const weft__kernel_shift *shift = &survey->kernel->shifts[survey->displaced[k - own].shift];
        const int64_t at = weft__patch_field(own, k);
        weft__emitted_operand *operand = &emitter->operands[k];
        operand->offset = weft__flow_field(emitter, emitter->patch, at + 3, i64(emitter));
        if (shift->boundary != WEFT__BOUNDARY_CONSTANT)
            continue;
        operand->inside = compare(emitter, WEFT__ICMP_NE,
                                  weft__flow_field(emitter, emitter->patch, at + 4, i64(emitter)),
                                  weft__emit_i64(emitter, 0));
        operand->inside_vector = weft__emit_splat(emitter, operand->inside, survey->lanes);
    }
}

/* The column of the index space that the column `at` of a displaced operand is. */
static weft__ref displaced_column(const weft__emitter *emitter, uint32_t source)
{
    weft__ref column =
        weft__llvm.BuildAdd(emitter->builder, emitter->last_position, emitter->at, "");
    return weft__llvm.BuildAdd(emitter->builder, column, emitter->operands[source].offset, "");
}

/* How far the column is from the one that stands for it. */
static weft__ref correction(const weft__emitter *emitter, int64_t boundary, weft__ref column)
{
    weft__ref zero = weft__emit_i64(emitter, 0), size = emitter->last_size;
    weft__ref last = weft__llvm.BuildSub(emitter->builder, size, weft__emit_i64(emitter, 1), "");
    const bool clamp = boundary == WEFT__BOUNDARY_CLAMP;
    weft__ref up = clamp ? weft__llvm.BuildSub(emitter->builder, zero, column, "") : size;
    weft__ref down =
        weft__llvm.BuildSub(emitter->builder, clamp ? last : zero, clamp ? column : size, "");
    weft__ref above =
        weft__emit_select(emitter, compare(emitter, WEFT__ICMP_SLT, last, column), down, zero);
    return weft__emit_select(emitter, compare(emitter, WEFT__ICMP_SLT, column, zero), up, above);
}

void weft__emit_edge(const weft__emitter *emitter, const weft__value *load, weft__ref *base,
                     weft__ref *column)
{
    const weft__kernel_shift *shift = weft__load_shift(emitter->survey->kernel, load);
    if (!weft__load_has_edges(emitter->survey, load))
        return;
    weft__ref at = displaced_column(emitter, weft__source_of(emitter, load));
    if (shift->boundary == WEFT__BOUNDARY_CLAMP || shift->boundary == WEFT__BOUNDARY_WRAP)
        *column = weft__llvm.BuildAdd(emitter->builder, *column,
                                      correction(emitter, shift->boundary, at), "");
    else
        *base = weft__emit_select(emitter, compare(emitter, WEFT__ICMP_ULT, at, emitter->last_size),
                                  *base, emitter->operands[load->slot].base);
}

/* i1 of each lane: whether its column is before those that there are, and before their end. */
struct range {
    weft__ref before, within;
};

static weft__ref limited(const weft__emitter *emitter, weft__ref x)
{
    weft__ref zero = weft__emit_i64(emitter, 0), most = weft__emit_i64(emitter, emitter->lanes);
    x = weft__emit_select(emitter, compare(emitter, WEFT__ICMP_SLT, x, zero), zero, x);
    x = weft__emit_select(emitter, compare(emitter, WEFT__ICMP_SLT, x, most), x, most);
    weft__type byte = weft__llvm.IntTypeInContext(emitter->context, 8);
    return weft__emit_splat(emitter, weft__llvm.BuildTrunc(emitter->builder, x, byte, ""),
                            emitter->lanes);
}

static weft__ref negated(const weft__emitter *emitter, weft__ref x)
{
    return weft__llvm.BuildSub(emitter->builder, weft__emit_i64(emitter, 0), x, "");
}

/* Given the column of the first lane. */
static struct range lanes_of(const weft__emitter *emitter, weft__ref column)
{
    weft__type byte = weft__llvm.IntTypeInContext(emitter->context, 8);
    weft__ref ramp[64];
    for (int k = 0; k < emitter->lanes; k++)
        ramp[k] = weft__llvm.ConstInt(byte, (unsigned)k, 0);
    weft__ref lanes = weft__llvm.ConstVector(ramp, (unsigned)emitter->lanes);
    weft__ref end = weft__llvm.BuildSub(emitter->builder, emitter->last_size, column, "");
    return (struct range){
        compare(emitter, WEFT__ICMP_ULT, lanes, limited(emitter, negated(emitter, column))),
        compare(emitter, WEFT__ICMP_ULT, lanes, limited(emitter, end))};
}

static weft__ref both(const weft__emitter *emitter, weft__ref x, weft__ref y)
{
    return weft__llvm.BuildAnd(emitter->builder, x, y, "");
}

static weft__ref without(const weft__emitter *emitter, weft__ref x, weft__ref y)
{
    return both(emitter, x,
                weft__llvm.BuildXor(emitter->builder, y, weft__emit_number(emitter, 1, 1), ""));
}

static weft__ref masked_load(const weft__emitter *emitter, weft__ref address, weft__ref mask,
                             weft__ref otherwise, int size)
{
    weft__ref given[3] = {address, mask, otherwise};
    return weft__emit_masked(emitter, "llvm.masked.load", given, 0,
                             weft__emit_integer(emitter, 8 << size), size);
}

/* So many elements on. */
static weft__ref moved(const weft__emitter *emitter, weft__ref address, weft__ref elements,
                       int size)
{
    return weft__emit_address(
        emitter, address,
        weft__llvm.BuildShl(emitter->builder, elements, weft__emit_i64(emitter, size), ""));
}

static weft__ref splat_at(const weft__emitter *emitter, weft__ref address, int size)
{
    weft__ref found = weft__llvm.BuildLoad2(
        emitter->builder, weft__llvm.IntTypeInContext(emitter->context, 8U << size), address, "");
    weft__llvm.SetAlignment(found, 1U << size);
    return weft__emit_splat(emitter, found, emitter->lanes);
}

/* What lanes that are outside get, given the address and the column of the first lane. */
static weft__ref load_outside(const weft__emitter *emitter, const weft__value *load,
                              const struct range *range, weft__ref address, weft__ref column,
                              int size)
{
    const int64_t boundary = weft__load_shift(emitter->survey->kernel, load)->boundary;
    weft__ref nothing = weft__llvm.ConstNull(weft__emit_integer(emitter, 8 << size));
    weft__ref after = without(emitter, emitter->mask, range->within);
    weft__ref before = both(emitter, emitter->mask, range->before);
    weft__ref first = moved(emitter, address, negated(emitter, column), size);
    if (boundary == WEFT__BOUNDARY_CLAMP) {
        weft__ref last = moved(emitter, first, emitter->last_size, size);
        last = weft__emit_address(emitter, last, weft__emit_i64(emitter, -((int64_t)1 << size)));
        return weft__emit_select(emitter, before, splat_at(emitter, first, size),
                                 splat_at(emitter, last, size));
    }
    if (boundary == WEFT__BOUNDARY_WRAP) {
        weft__ref up = moved(emitter, address, emitter->last_size, size);
        weft__ref down = moved(emitter, address, negated(emitter, emitter->last_size), size);
        return masked_load(emitter, up, before, masked_load(emitter, down, after, nothing, size),
                           size);
    }
    weft__ref own = moved(emitter, emitter->operands[load->slot].base, emitter->at, size);
    weft__ref outside = weft__llvm.BuildOr(emitter->builder, before, after, "");
    return boundary == WEFT__BOUNDARY_CONSTANT ? nothing
                                               : masked_load(emitter, own, outside, nothing, size);
}

weft__ref weft__emit_edge_vector(const weft__emitter *emitter, const weft__value *load,
                                 weft__ref address, int size)
{
    weft__ref column = displaced_column(emitter, weft__source_of(emitter, load));
    const struct range range = lanes_of(emitter, column);
    weft__ref inside = without(emitter, both(emitter, emitter->mask, range.within), range.before);
    return masked_load(emitter, address, inside,
                       load_outside(emitter, load, &range, address, column, size), size);
}

/* Whether columns are inside, of one lane or all. */
static weft__ref columns_inside(const weft__emitter *emitter, uint32_t source)
{
    weft__ref column = displaced_column(emitter, source);
    if (emitter->lanes == 1)
        return compare(emitter, WEFT__ICMP_ULT, column, emitter->last_size);
    const struct range range = lanes_of(emitter, column);
    return without(emitter, range.within, range.before);
}

weft__ref weft__emit_bounded(const weft__emitter *emitter, const weft__value *load, weft__ref found,
                             weft__ref constant)
{
    const uint32_t source = weft__source_of(emitter, load);
    const weft__emitted_operand *operand = &emitter->operands[source];
    weft__ref inside = emitter->lanes == 1 ? operand->inside : operand->inside_vector;
    if (emitter->edge && weft__load_has_edges(emitter->survey, load))
        inside = both(emitter, inside, columns_inside(emitter, source));
    return weft__emit_select(emitter, inside, found, constant);
}
