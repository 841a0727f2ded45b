/* The function that a kernel becomes: a loop over rows; in each, vectors, and steps of what is
 * left.
 *
 *     for each row:
 *         single elements, where displaced loads are outside, unless steps see to that
 *         steps until the streamed result is aligned to a line, and displaced loads are inside
 *         turns of several vectors, or the same with streaming stores
 *         steps until the end
 *         single elements as before
 *
 * A step is one vector with a mask, where the machine has masks, else one element. Both uses of the
 * steps share one loop, and so do those of single elements. Where the caller sees to it that rows
 * are whole turns (run_whole.c), there is nothing but these. */
#include "codegen/llvm/flow.h"
#include "codegen/llvm/patch.h"

#include <string.h>

enum {
    LINE = 64,
    MASKED_ONLY = 64,
    ALIGNED_ROW = 16, /* vectors: in longer rows stores that cross lines cost more than one step */
    ONE_LOOP = 12     /* longer ones decide at the store whether to stream, not before the loop */
};

struct shape {
    weft__ref begin, end;       /* i64: the columns of turns … */
    weft__ref first, last;      /* … and of steps */
    weft__ref columns;          /* i64: all of them */
    weft__ref large, streaming; /* i1: whether the launch is, and whether its stores are */
    weft__block row, check, step, after, vectors, inside, next, done;
    weft__ref at, stop; /* of the loop of steps: the column, and where it ends */
    weft__block edge;   /* the head of the loop of single elements; NULL without it */
    weft__ref edge_at, edge_stop;
};

static void enter(const weft__emitter *emitter, weft__block to)
{
    weft__llvm.PositionBuilderAtEnd(emitter->builder, to);
}

static weft__type i64(const weft__emitter *emitter)
{
    return weft__llvm.IntTypeInContext(emitter->context, 64);
}

static weft__ref field(const weft__emitter *emitter, int64_t number, weft__type type)
{
    return weft__flow_field(emitter, emitter->patch, number, type);
}

static weft__ref plus(const weft__emitter *emitter, weft__ref x, int64_t number)
{
    return weft__llvm.BuildAdd(emitter->builder, x, weft__emit_i64(emitter, number), "");
}

static weft__ref compare(const weft__emitter *emitter, int predicate, weft__ref x, weft__ref y)
{
    return weft__llvm.BuildICmp(emitter->builder, predicate, x, y, "");
}

static weft__ref least(const weft__emitter *emitter, weft__ref x, weft__ref y)
{
    return weft__emit_select(emitter, compare(emitter, WEFT__ICMP_SLT, x, y), x, y);
}

/* One more way into the block of a phi. */
static void incoming(weft__ref phi, weft__ref value, weft__block from)
{
    weft__llvm.AddIncoming(phi, &value, &from, 1);
}

static weft__block here(const weft__emitter *emitter)
{
    return weft__llvm.GetInsertBlock(emitter->builder);
}

void weft__emit_operands(weft__emitter *emitter)
{
    const weft__survey *survey = emitter->survey;
    weft__type pointer = weft__llvm.PointerTypeInContext(emitter->context, 0);
    for (uint32_t k = 0; k < survey->operands; k++) {
        const int64_t at = weft__patch_field(survey->kernel->operands_count, k);
        weft__emitted_operand *operand = &emitter->operands[k];
        if (survey->flags[k] == 0)
            continue;
        operand->data = field(emitter, at, pointer);
        operand->row = field(emitter, at + 1, i64(emitter));
        operand->column = field(emitter, at + 2, i64(emitter));
        operand->triple =
            weft__llvm.BuildMul(emitter->builder, operand->column, weft__emit_i64(emitter, 3), "");
    }
}

void weft__emit_bases(weft__emitter *emitter)
{
    const weft__survey *survey = emitter->survey;
    for (uint32_t k = 0; k < survey->operands; k++) {
        weft__emitted_operand *operand = &emitter->operands[k];
        if (survey->flags[k] != 0)
            operand->base = weft__emit_address(
                emitter, operand->data,
                weft__llvm.BuildMul(emitter->builder, emitter->row, operand->row, ""));
    }
}

/* Where turns may begin: vectors that begin there are aligned if the rows are. */
static weft__ref inner_column(const weft__emitter *emitter, const struct shape *shape)
{
    const int64_t lanes = emitter->survey->lanes;
    if (emitter->survey->edges != WEFT__EDGES_VECTOR)
        return shape->begin;
    weft__ref up = weft__llvm.BuildAnd(emitter->builder, plus(emitter, shape->begin, lanes - 1),
                                       weft__emit_i64(emitter, -lanes), "");
    return least(emitter, up, shape->end);
}

/* The same, at which the streamed result is aligned. */
static weft__ref aligned_column(const weft__emitter *emitter, const struct shape *shape)
{
    const int32_t operand = emitter->survey->streamed;
    weft__ref zero = weft__emit_i64(emitter, 0);
    const weft_dtype dtype = (weft_dtype)emitter->survey->kernel->operands[operand].dtype;
    weft__ref size = weft__emit_i64(emitter, __builtin_ctzll(weft_dtype_size(dtype)));
    weft__ref address = weft__llvm.BuildPtrToInt(emitter->builder, emitter->operands[operand].base,
                                                 i64(emitter), "");
    if (emitter->survey->edges != WEFT__EDGES_NONE)
        address =
            weft__llvm.BuildAdd(emitter->builder, address,
                                weft__llvm.BuildShl(emitter->builder, shape->begin, size, ""), "");
    weft__ref bytes = weft__llvm.BuildAnd(emitter->builder,
                                          weft__llvm.BuildSub(emitter->builder, zero, address, ""),
                                          weft__emit_i64(emitter, LINE - 1), "");
    weft__ref columns = weft__llvm.BuildLShr(emitter->builder, bytes, size, "");
    columns = weft__llvm.BuildAdd(emitter->builder, columns, shape->begin, "");
    weft__ref is_far =
        compare(emitter, WEFT__ICMP_SGT, shape->columns,
                weft__emit_i64(emitter, (int64_t)ALIGNED_ROW * emitter->survey->lanes));
    return weft__emit_select(emitter,
                             weft__llvm.BuildOr(emitter->builder, shape->streaming, is_far, ""),
                             least(emitter, columns, shape->end), inner_column(emitter, shape));
}

/* Where a turn goes that finds lanes with rare arguments: the columns of the turn are done by
 * steps, whose code has what it takes. */
static void emit_give_up(const weft__emitter *emitter, const struct shape *shape, weft__ref at,
                         int64_t width)
{
    weft__block kept = here(emitter);
    if (emitter->give_up == NULL)
        return;
    enter(emitter, emitter->give_up);
    incoming(shape->at, at, emitter->give_up);
    incoming(shape->stop, plus(emitter, at, width), emitter->give_up);
    weft__llvm.BuildBr(emitter->builder, shape->check);
    enter(emitter, kept);
}

/* Turns from the column `start` on, for as long as all of their lanes are in the row. Returns the
 * column that comes after. */
static weft__ref emit_vector_loop(weft__emitter *emitter, const struct shape *shape,
                                  weft__ref start, int unroll)
{
    const int64_t width = (int64_t)unroll * emitter->survey->lanes;
    weft__block before = here(emitter), loop = weft__flow_block(emitter),
                out = weft__flow_block(emitter);
    weft__ref last = plus(emitter, shape->end, -width);
    weft__llvm.BuildCondBr(emitter->builder, compare(emitter, WEFT__ICMP_SLE, start, last), loop,
                           out);
    enter(emitter, loop);
    weft__ref at = weft__llvm.BuildPhi(emitter->builder, i64(emitter), "");
    emitter->lanes = emitter->survey->lanes;
    emitter->give_up = emitter->survey->gives_up ? weft__flow_block(emitter) : NULL;
    weft__emit_turn(emitter, at, unroll);
    emit_give_up(emitter, shape, at, width);
    emitter->give_up = NULL;
    weft__ref after = weft__emit_opaque(emitter, plus(emitter, at, width));
    incoming(at, start, before);
    incoming(at, after, here(emitter));
    weft__block end = here(emitter);
    weft__llvm.BuildCondBr(emitter->builder, compare(emitter, WEFT__ICMP_SLE, after, last), loop,
                           out);
    enter(emitter, out);
    weft__ref result = weft__llvm.BuildPhi(emitter->builder, i64(emitter), "");
    incoming(result, start, before);
    incoming(result, after, end);
    return result;
}

/* The loop of large launches or the other one. A loop that asks for memory finds at its stores
 * whether to stream. */
static weft__ref emit_turns(weft__emitter *emitter, const struct shape *shape, weft__ref start)
{
    const int unroll = emitter->survey->unroll;
    const bool streams = emitter->survey->streamed >= 0, asks = emitter->survey->asks;
    if (emitter->survey->always > ONE_LOOP || (!streams && !asks)) {
        emitter->whole = streams ? shape->streaming : NULL;
        weft__ref after = emit_vector_loop(emitter, shape, start, unroll);
        emitter->whole = NULL;
        return after;
    }
    weft__block large = weft__flow_block(emitter), plain = weft__flow_block(emitter),
                both = weft__flow_block(emitter);
    weft__llvm.BuildCondBr(emitter->builder, asks ? shape->large : shape->streaming, large, plain);
    enter(emitter, large);
    emitter->streaming = !asks;
    emitter->asking = asks;
    emitter->whole = asks && streams ? shape->streaming : NULL;
    weft__ref first = emit_vector_loop(emitter, shape, start, unroll);
    emitter->streaming = emitter->asking = false;
    emitter->whole = NULL;
    weft__block first_end = here(emitter);
    weft__llvm.BuildBr(emitter->builder, both);
    enter(emitter, plain);
    weft__ref second = emit_vector_loop(emitter, shape, start, unroll);
    weft__block second_end = here(emitter);
    weft__llvm.BuildBr(emitter->builder, both);
    enter(emitter, both);
    weft__ref result = weft__llvm.BuildPhi(emitter->builder, i64(emitter), "");
    incoming(result, first, first_end);
    incoming(result, second, second_end);
    return result;
}

/* Whether a step of `count` columns is a whole vector that can be streamed. */
static weft__ref is_whole(const weft__emitter *emitter, const struct shape *shape, weft__ref count)
{
    const weft__survey *survey = emitter->survey;
    if (survey->edges != WEFT__EDGES_VECTOR || survey->streamed < 0)
        return NULL;
    const weft_dtype dtype = (weft_dtype)survey->kernel->operands[survey->streamed].dtype;
    weft__ref size = weft__emit_i64(emitter, (int64_t)weft_dtype_size(dtype));
    weft__ref address = weft__llvm.BuildPtrToInt(
        emitter->builder, emitter->operands[survey->streamed].base, i64(emitter), "");
    address = weft__llvm.BuildAdd(emitter->builder, address,
                                  weft__llvm.BuildMul(emitter->builder, shape->at, size, ""), "");
    weft__ref rest =
        weft__llvm.BuildAnd(emitter->builder, address, weft__emit_i64(emitter, LINE - 1), "");
    weft__ref aligned = compare(emitter, WEFT__ICMP_EQ, rest, weft__emit_i64(emitter, 0));
    weft__ref full = compare(emitter, WEFT__ICMP_EQ, count, weft__emit_i64(emitter, survey->lanes));
    return weft__llvm.BuildAnd(emitter->builder, shape->streaming,
                               weft__llvm.BuildAnd(emitter->builder, aligned, full, ""), "");
}

/* Makes the emitter's mask, for up to a vector of what is left; returns how many lanes it has. */
static weft__ref emit_mask(weft__emitter *emitter, weft__ref left)
{
    const int lanes = emitter->survey->lanes;
    weft__type byte = weft__llvm.IntTypeInContext(emitter->context, 8);
    weft__ref count = least(emitter, left, weft__emit_i64(emitter, lanes));
    int element[64];
    for (int k = 0; k < lanes; k++)
        element[k] = k;
    emitter->count = weft__llvm.BuildTrunc(emitter->builder, count, byte, "");
    emitter->mask = weft__emit_mask_of(emitter, element, lanes);
    emitter->most = plus(emitter, count, -1);
    emitter->lanes = lanes;
    return count;
}

/* Long code is made once: with masks, a step does what a turn does … */
static bool is_long(const weft__emitter *emitter)
{
    const weft__survey *survey = emitter->survey;
    const uint32_t operations = emitter->frame != NULL ? survey->always : survey->operations;
    return survey->target.masks &&
           (survey->few || (operations > MASKED_ONLY && !weft__survey_gives_up(survey)));
}

/* … and a turn of several vectors what a step does, if they have an address even without lanes. */
static bool only_turns(const weft__emitter *emitter)
{
    const weft__survey *survey = emitter->survey;
    return survey->unroll > 1 && is_long(emitter) && survey->streamed < 0 && !survey->asks &&
           emitter->room == NULL && survey->edges == WEFT__EDGES_NONE;
}

weft__ref weft__emit_masks(weft__emitter *emitter, weft__ref left, int unroll)
{
    weft__ref zero = weft__emit_i64(emitter, 0), columns = NULL;
    for (int k = 0; k < unroll; k++) {
        weft__ref more = left;
        if (k > 0) {
            more = plus(emitter, left, -(int64_t)k * emitter->survey->lanes);
            more = weft__emit_select(emitter, compare(emitter, WEFT__ICMP_SLT, more, zero), zero,
                                     more);
        }
        weft__ref count = emit_mask(emitter, more);
        emitter->some[k] = (weft__some){emitter->mask, emitter->most, emitter->count};
        columns = k == 0 ? count : weft__llvm.BuildAdd(emitter->builder, columns, count, "");
    }
    return columns;
}

void weft__emit_use_mask(weft__emitter *emitter, int k)
{
    if (emitter->some[k].mask == NULL)
        return;
    emitter->mask = emitter->some[k].mask;
    emitter->most = emitter->some[k].most;
    emitter->count = emitter->some[k].count;
}

void weft__emit_unmask(weft__emitter *emitter)
{
    memset(emitter->some, 0, sizeof emitter->some);
    emitter->mask = emitter->full = NULL;
}

static weft__ref emit_masked_turn(weft__emitter *emitter, const struct shape *shape)
{
    const int unroll = emitter->survey->unroll;
    weft__ref left = weft__llvm.BuildSub(emitter->builder, shape->stop, shape->at, "");
    weft__ref columns = weft__emit_masks(emitter, left, unroll);
    weft__emit_turn(emitter, shape->at, unroll);
    weft__emit_unmask(emitter);
    return columns;
}

/* Returns how many columns the step takes. */
static weft__ref emit_masked_step(weft__emitter *emitter, const struct shape *shape)
{
    weft__ref left = weft__llvm.BuildSub(emitter->builder, shape->stop, shape->at, "");
    weft__ref count = emit_mask(emitter, left);
    emitter->edge = emitter->survey->edges == WEFT__EDGES_VECTOR;
    emitter->whole = is_whole(emitter, shape, count);
    weft__emit_turn(emitter, shape->at, 1);
    emitter->mask = emitter->whole = NULL;
    emitter->edge = false;
    return count;
}

static void emit_step(weft__emitter *emitter, struct shape *shape)
{
    weft__ref count;
    enter(emitter, shape->step);
    if (only_turns(emitter)) {
        count = emit_masked_turn(emitter, shape);
    } else if (emitter->survey->target.masks) {
        count = emit_masked_step(emitter, shape);
    } else {
        emitter->lanes = 1;
        weft__emit_turn(emitter, shape->at, 1);
        count = weft__emit_i64(emitter, 1);
    }
    count = weft__llvm.BuildAdd(emitter->builder, shape->at, count, "");
    incoming(shape->at, weft__emit_opaque(emitter, count), here(emitter));
    incoming(shape->stop, shape->stop, here(emitter));
    weft__llvm.BuildBr(emitter->builder, shape->check);
}

/* The head of the loop of steps, as it is entered from the row. */
static void emit_check(const weft__emitter *emitter, struct shape *shape, weft__ref stop)
{
    weft__block row = here(emitter);
    weft__llvm.BuildBr(emitter->builder, shape->check);
    enter(emitter, shape->check);
    shape->at = weft__llvm.BuildPhi(emitter->builder, i64(emitter), "");
    shape->stop = weft__llvm.BuildPhi(emitter->builder, i64(emitter), "");
    incoming(shape->at, shape->first, row);
    incoming(shape->stop, stop, row);
    weft__llvm.BuildCondBr(emitter->builder,
                           compare(emitter, WEFT__ICMP_SLT, shape->at, shape->stop), shape->step,
                           shape->after);
}

static void emit_vectors(weft__emitter *emitter, struct shape *shape)
{
    const weft__survey *survey = emitter->survey;
    enter(emitter, shape->vectors);
    weft__ref at = emit_turns(emitter, shape, shape->at);
    if (!survey->target.masks && survey->unroll > 1)
        at = emit_vector_loop(emitter, shape, at, 1);
    incoming(shape->at, at, here(emitter));
    incoming(shape->stop, shape->last, here(emitter));
    weft__llvm.BuildBr(emitter->builder, shape->check);
}

/* Enters the loop of single elements: before `begin`, and from `end` on. */
static void emit_edge_check(const weft__emitter *emitter, struct shape *shape)
{
    weft__block row = here(emitter), element = weft__flow_block(emitter),
                after = weft__flow_block(emitter);
    weft__llvm.BuildBr(emitter->builder, shape->edge);
    enter(emitter, shape->edge);
    shape->edge_at = weft__llvm.BuildPhi(emitter->builder, i64(emitter), "");
    shape->edge_stop = weft__llvm.BuildPhi(emitter->builder, i64(emitter), "");
    incoming(shape->edge_at, weft__emit_i64(emitter, 0), row);
    incoming(shape->edge_stop, shape->begin, row);
    weft__llvm.BuildCondBr(emitter->builder,
                           compare(emitter, WEFT__ICMP_SLT, shape->edge_at, shape->edge_stop),
                           element, after);
    enter(emitter, after);
    weft__llvm.BuildCondBr(emitter->builder,
                           compare(emitter, WEFT__ICMP_EQ, shape->edge_at, shape->columns),
                           shape->next, shape->inside);
    enter(emitter, element);
}

static void emit_edges(weft__emitter *emitter, struct shape *shape)
{
    emit_edge_check(emitter, shape);
    emitter->lanes = 1;
    emitter->edge = true;
    weft__emit_turn(emitter, shape->edge_at, 1);
    emitter->edge = false;
    weft__ref after = weft__emit_opaque(emitter, plus(emitter, shape->edge_at, 1));
    incoming(shape->edge_at, after, here(emitter));
    incoming(shape->edge_stop, shape->edge_stop, here(emitter));
    weft__llvm.BuildBr(emitter->builder, shape->edge);
}

/* What comes after the inside of a row. */
static void emit_inside_end(const weft__emitter *emitter, const struct shape *shape,
                            weft__block end)
{
    enter(emitter, end);
    if (shape->edge == NULL) {
        weft__llvm.BuildBr(emitter->builder, shape->next);
        return;
    }
    incoming(shape->edge_at, shape->end, end);
    incoming(shape->edge_stop, shape->columns, end);
    weft__llvm.BuildBr(emitter->builder, shape->edge);
}

/* Nothing but turns, at least one. */
static void emit_whole_row(weft__emitter *emitter, const struct shape *shape)
{
    const weft__survey *survey = emitter->survey;
    weft__emit_bases(emitter);
    weft__emit_level(emitter, WEFT__LEVEL_ROW);
    weft__block before = here(emitter), loop = weft__flow_block(emitter);
    weft__llvm.BuildBr(emitter->builder, loop);
    enter(emitter, loop);
    weft__ref at = weft__flow_phi(emitter, i64(emitter));
    emitter->whole = survey->streamed >= 0 ? shape->streaming : NULL;
    emitter->lanes = survey->lanes;
    weft__emit_turn(emitter, at, survey->unroll);
    emitter->whole = NULL;
    weft__ref next =
        weft__emit_opaque(emitter, plus(emitter, at, (int64_t)survey->unroll * survey->lanes));
    incoming(at, weft__emit_i64(emitter, 0), before);
    incoming(at, next, here(emitter));
    weft__llvm.BuildCondBr(emitter->builder, compare(emitter, WEFT__ICMP_SLT, next, shape->columns),
                           loop, shape->next);
}

static void emit_row(weft__emitter *emitter, struct shape *shape)
{
    const weft__survey *survey = emitter->survey;
    const bool only_steps = only_turns(emitter) || (survey->unroll == 1 && is_long(emitter));
    weft__block end = weft__flow_block(emitter);
    shape->check = weft__flow_block(emitter);
    shape->step = weft__flow_block(emitter);
    shape->after = weft__flow_block(emitter);
    weft__emit_bases(emitter);
    weft__emit_level(emitter, WEFT__LEVEL_ROW);
    if (shape->edge != NULL) {
        emit_edges(emitter, shape);
        enter(emitter, shape->inside);
    }
    weft__ref stop =
        survey->streamed >= 0 ? aligned_column(emitter, shape) : inner_column(emitter, shape);
    emit_check(emitter, shape, only_steps ? shape->last : stop);
    emit_step(emitter, shape);
    enter(emitter, shape->after);
    if (only_steps) {
        weft__llvm.BuildBr(emitter->builder, end);
    } else {
        shape->vectors = weft__flow_block(emitter);
        weft__llvm.BuildCondBr(emitter->builder,
                               compare(emitter, WEFT__ICMP_EQ, shape->at, shape->last), end,
                               shape->vectors);
        emit_vectors(emitter, shape);
    }
    emit_inside_end(emitter, shape, end);
}

static void load_columns(weft__emitter *emitter, struct shape *shape)
{
    shape->columns = field(emitter, WEFT__PATCH_COLUMNS, i64(emitter));
    shape->begin = shape->first = weft__emit_i64(emitter, 0);
    shape->end = shape->last = shape->columns;
    weft__ref streaming = field(emitter, WEFT__PATCH_STREAMING, i64(emitter));
    shape->large =
        compare(emitter, WEFT__ICMP_NE, streaming, weft__emit_i64(emitter, WEFT__STREAMING_NOT));
    shape->streaming =
        compare(emitter, WEFT__ICMP_EQ, streaming, weft__emit_i64(emitter, WEFT__STREAMING_STORES));
    if (emitter->survey->edges == WEFT__EDGES_NONE)
        return;
    shape->begin = field(emitter, WEFT__PATCH_BEGIN, i64(emitter));
    shape->end = field(emitter, WEFT__PATCH_END, i64(emitter));
    if (emitter->survey->edges == WEFT__EDGES_VECTOR)
        return;
    shape->first = shape->begin;
    shape->last = shape->end;
    shape->edge = weft__flow_block(emitter);
    shape->inside = weft__flow_block(emitter);
}

/* Of one point. */
static void emit_single(weft__emitter *emitter)
{
    weft__ref zero = weft__emit_i64(emitter, 0);
    enter(emitter, weft__flow_block(emitter));
    emitter->patch = weft__llvm.GetParam(emitter->function, 0);
    emitter->row = zero;
    weft__emit_operands(emitter);
    weft__emit_level(emitter, WEFT__LEVEL_LAUNCH);
    weft__emit_bases(emitter);
    weft__emit_level(emitter, WEFT__LEVEL_ROW);
    weft__emit_turn(emitter, zero, 1);
    weft__llvm.BuildRetVoid(emitter->builder);
}

/* Rows of columns. */
static void emit_rows(weft__emitter *emitter)
{
    weft__block entry = weft__flow_block(emitter);
    struct shape shape = {.row = weft__flow_block(emitter),
                          .next = weft__flow_block(emitter),
                          .done = weft__flow_block(emitter)};
    enter(emitter, entry);
    emitter->patch = weft__llvm.GetParam(emitter->function, 0);
    weft__emit_room(emitter);
    weft__emit_frame(emitter);
    weft__ref rows = field(emitter, WEFT__PATCH_ROWS, i64(emitter));
    load_columns(emitter, &shape);
    weft__emit_operands(emitter);
    weft__emit_displaced(emitter);
    weft__emit_level(emitter, WEFT__LEVEL_LAUNCH);
    entry = weft__emit_held_begin(emitter);
    enter(emitter, shape.row);
    emitter->row = weft__llvm.BuildPhi(emitter->builder, i64(emitter), "");
    incoming(emitter->row, weft__emit_i64(emitter, 0), entry);
    if (emitter->survey->whole)
        emit_whole_row(emitter, &shape);
    else
        emit_row(emitter, &shape);
    enter(emitter, shape.next);
    weft__ref row = weft__emit_opaque(emitter, plus(emitter, emitter->row, 1));
    incoming(emitter->row, row, shape.next);
    weft__llvm.BuildCondBr(emitter->builder, compare(emitter, WEFT__ICMP_SLT, row, rows), shape.row,
                           shape.done);
    weft__emit_held_end(emitter, shape.row);
    enter(emitter, shape.done);
    weft__llvm.BuildRetVoid(emitter->builder);
}

void weft__emit_function(weft__emitter *emitter)
{
    if (emitter->survey->single)
        emit_single(emitter);
    else
        emit_rows(emitter);
}
