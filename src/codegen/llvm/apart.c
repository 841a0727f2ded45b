/* Loads and stores with a mask of elements that do not follow each other: short code, for it is
 * made for the ends of rows alone. */
#include "codegen/llvm/flow.h"

enum { LANES_MOST = 64, NO_LANE = 255, WIDEST = 8 };

static weft__type vector_of(const weft__emitter *emitter, int size)
{
    return weft__emit_integer(emitter, 8 << size);
}

weft__ref weft__emit_mask_of(const weft__emitter *emitter, const int *element, int lanes)
{
    weft__type byte = weft__llvm.IntTypeInContext(emitter->context, 8);
    weft__ref ramp[2 * LANES_MOST];
    for (int k = 0; k < lanes; k++)
        ramp[k] = weft__llvm.ConstInt(byte, (unsigned)element[k], 0);
    return weft__llvm.BuildICmp(emitter->builder, WEFT__ICMP_ULT,
                                weft__llvm.ConstVector(ramp, (unsigned)lanes),
                                weft__emit_splat(emitter, emitter->count, lanes), "");
}

/* Where every other place of two vectors, or each pair of places, has an element: the mask of the
 * first or the second. */
static weft__ref double_mask(const weft__emitter *emitter, int second, bool pairs)
{
    const int lanes = emitter->lanes;
    int element[LANES_MOST];
    for (int k = 0; k < lanes; k++)
        element[k] = k % 2 && !pairs ? NO_LANE : (second * lanes + k) / 2;
    return weft__emit_mask_of(emitter, element, lanes);
}

static weft__ref second_address(const weft__emitter *emitter, weft__ref first, int size)
{
    return weft__emit_address(emitter, first,
                              weft__emit_i64(emitter, (int64_t)emitter->lanes << size));
}

weft__ref weft__emit_load_double(const weft__emitter *emitter, weft__ref address, int size,
                                 int part)
{
    weft__ref half[2];
    int order[LANES_MOST];
    for (int second = 0; second < 2; second++) {
        weft__ref given[3] = {second ? second_address(emitter, address, size) : address,
                              double_mask(emitter, second, part >= 0),
                              weft__llvm.ConstNull(vector_of(emitter, size))};
        half[second] = weft__emit_masked(emitter, "llvm.masked.load", given, 0,
                                         vector_of(emitter, size), size);
    }
    for (int k = 0; k < emitter->lanes; k++)
        order[k] = 2 * k + (part == 1);
    return weft__emit_shuffle(emitter, half[0], half[1], order, emitter->lanes);
}

void weft__emit_store_double(const weft__emitter *emitter, weft__ref address, weft__ref bytes,
                             int size)
{
    for (int second = 0; second < 2; second++) {
        int order[LANES_MOST];
        for (int k = 0; k < emitter->lanes; k++)
            order[k] = (second * emitter->lanes + k) / 2;
        weft__ref given[3] = {weft__emit_shuffle(emitter, bytes, bytes, order, emitter->lanes),
                              second ? second_address(emitter, address, size) : address,
                              double_mask(emitter, second, false)};
        (void)weft__emit_masked(emitter, "llvm.masked.store", given, 1, vector_of(emitter, size),
                                size);
    }
}

static weft__ref reversed(const weft__emitter *emitter, weft__ref x)
{
    int order[LANES_MOST];
    for (int k = 0; k < emitter->lanes; k++)
        order[k] = emitter->lanes - 1 - k;
    return weft__emit_shuffle(emitter, x, x, order, emitter->lanes);
}

static weft__ref reversed_mask(const weft__emitter *emitter)
{
    int element[LANES_MOST];
    for (int k = 0; k < emitter->lanes; k++)
        element[k] = emitter->lanes - 1 - k;
    return weft__emit_mask_of(emitter, element, emitter->lanes);
}

weft__ref weft__emit_load_reversed(const weft__emitter *emitter, weft__ref lowest, int size)
{
    weft__type type = vector_of(emitter, size);
    weft__ref given[3] = {lowest, reversed_mask(emitter), weft__llvm.ConstNull(type)};
    return reversed(emitter, weft__emit_masked(emitter, "llvm.masked.load", given, 0, type, size));
}

void weft__emit_store_reversed(const weft__emitter *emitter, weft__ref lowest, weft__ref bytes,
                               int size)
{
    weft__ref given[3] = {reversed(emitter, bytes), lowest, reversed_mask(emitter)};
    (void)weft__emit_masked(emitter, "llvm.masked.store", given, 1, weft__llvm.TypeOf(bytes), size);
}

/* Elements from `src` to `dst`, one by one, for all lanes of the mask. */
static void copy_elements(const weft__emitter *emitter, weft__ref src, weft__ref src_step,
                          weft__ref dst, weft__ref dst_step, int size)
{
    weft__type pointer = weft__llvm.TypeOf(src);
    weft__type single = weft__llvm.IntTypeInContext(emitter->context, 8U << size);
    weft__block before = weft__flow_here(emitter), loop = weft__flow_block(emitter),
                after = weft__flow_block(emitter);
    weft__flow_jump(emitter, loop);
    weft__flow_enter(emitter, loop);
    weft__ref k = weft__flow_phi(emitter, weft__flow_i64(emitter));
    weft__ref from = weft__flow_phi(emitter, pointer), to = weft__flow_phi(emitter, pointer);
    weft__ref x = weft__llvm.BuildLoad2(emitter->builder, single, from, "");
    weft__llvm.SetAlignment(x, 1U << size);
    weft__llvm.SetAlignment(weft__llvm.BuildStore(emitter->builder, x, to), 1U << size);
    weft__ref next = weft__emit_opaque(emitter, weft__flow_plus(emitter, k, 1));
    weft__flow_incoming(k, weft__emit_i64(emitter, 0), before);
    weft__flow_incoming(k, next, loop);
    weft__flow_incoming(from, src, before);
    weft__flow_incoming(from, weft__emit_address(emitter, from, src_step), loop);
    weft__flow_incoming(to, dst, before);
    weft__flow_incoming(to, weft__emit_address(emitter, to, dst_step), loop);
    weft__flow_branch(emitter, weft__flow_compare(emitter, WEFT__ICMP_SLE, next, emitter->most),
                      loop, after);
    weft__flow_enter(emitter, after);
}

weft__ref weft__emit_load_general(const weft__emitter *emitter, weft__ref address,
                                  weft__ref distance, int size)
{
    weft__type type = vector_of(emitter, size);
    weft__ref element = weft__emit_i64(emitter, (int64_t)1 << size);
    weft__llvm.SetAlignment(
        weft__llvm.BuildStore(emitter->builder, weft__llvm.ConstNull(type), emitter->room), WIDEST);
    copy_elements(emitter, address, distance, emitter->room, element, size);
    weft__ref load = weft__llvm.BuildLoad2(emitter->builder, type, emitter->room, "");
    weft__llvm.SetAlignment(load, WIDEST);
    return load;
}

void weft__emit_store_general(const weft__emitter *emitter, weft__ref address, weft__ref distance,
                              weft__ref bytes, int size)
{
    weft__llvm.SetAlignment(weft__llvm.BuildStore(emitter->builder, bytes, emitter->room), WIDEST);
    copy_elements(emitter, emitter->room, weft__emit_i64(emitter, (int64_t)1 << size), address,
                  distance, size);
}

/* Elements of a step may all be one, too: where they are displaced, or a row has no more. */
static bool is_apart(const weft__survey *survey, uint32_t operand)
{
    const uint8_t spacing = survey->spacing[operand], flags = survey->flags[operand];
    const bool one = operand >= survey->kernel->operands_count || (flags & WEFT__OPERAND_WRITTEN);
    return flags != 0 &&
           (spacing == WEFT__SPACING_GENERAL || (spacing == WEFT__SPACING_ZERO && one));
}

void weft__emit_room(weft__emitter *emitter)
{
    const weft__survey *survey = emitter->survey;
    weft__type word = weft__llvm.IntTypeInContext(emitter->context, 8 * WIDEST);
    bool apart = false;
    for (uint32_t k = 0; k < survey->operands; k++)
        apart |= is_apart(survey, k);
    emitter->room = NULL;
    if (apart && survey->target.masks)
        emitter->room =
            weft__llvm.BuildAlloca(emitter->builder, weft__llvm.VectorType(word, LANES_MOST), "");
}
