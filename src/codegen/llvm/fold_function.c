/* The function for the points of a kernel with folds.
 *
 *     for each group:
 *         for each block of columns: the slots, in registers, through all rows
 *         the same for what is left: steps of one vector with a mask, or of one column
 *         all lanes are combined, if that is the end of their chunk
 *
 * With lanes, a row has as many columns as there are lanes, what is left is the last row, and there
 * are many groups. Otherwise what is left are the last columns, and there is one group. Long code
 * is made once: steps with masks then do what blocks of one vector would. */
#include "codegen/llvm/flow.h"
#include "codegen/llvm/fold_emit.h"
#include "codegen/llvm/patch.h"

enum { LINE = 64, ROW_BYTES = 4 /* of the number of a row */ };

struct nest {
    bool lanes; /* the mode */
    weft__ref sheet, rows, columns, tail, fresh, fresh_tail, halves, groups;
    weft__ref data[WEFT__OPERANDS_MAX], step[WEFT__OPERANDS_MAX]; /* of the first group */
};

static weft__ref sheet_field(const weft__emitter *emitter, const struct nest *nest, int64_t number)
{
    return weft__flow_field(emitter, nest->sheet, number, weft__flow_i64(emitter));
}

static weft__ref sheet_pointer(const weft__emitter *emitter, const struct nest *nest,
                               int64_t number)
{
    return weft__flow_field(emitter, nest->sheet, number,
                            weft__llvm.PointerTypeInContext(emitter->context, 0));
}

static weft__ref not_zero(const weft__emitter *emitter, weft__ref x)
{
    return weft__flow_compare(emitter, WEFT__ICMP_NE, x, weft__emit_i64(emitter, 0));
}

static weft__ref slot_address(const weft__emitter *emitter, const weft__folded *fold,
                              weft__ref column)
{
    const int64_t size = (int64_t)1 << weft__memory_size(fold->dtype);
    return weft__emit_address(
        emitter, fold->slots,
        weft__llvm.BuildMul(emitter->builder, column, weft__emit_i64(emitter, size), ""));
}

weft__ref weft__fold_slot_load(const weft__emitter *emitter, const weft__folded *fold,
                               weft__ref column)
{
    return weft__emit_widen(emitter, fold->dtype,
                            weft__emit_load_dense(emitter, slot_address(emitter, fold, column),
                                                  weft__memory_size(fold->dtype)));
}

void weft__fold_slot_store(const weft__emitter *emitter, const weft__folded *fold, weft__ref column,
                           weft__ref x)
{
    weft__emit_store_dense(emitter, slot_address(emitter, fold, column),
                           weft__emit_narrow(emitter, fold->dtype, x),
                           weft__memory_size(fold->dtype));
}

/* What the slots hold, or what stands for nothing. */
static weft__ref slots_or_nothing(weft__emitter *emitter, const weft__folded *fold, weft__ref fresh,
                                  weft__ref column)
{
    weft__ref nothing = weft__emit_constant(
        emitter, fold->dtype, weft__fold_identity(fold->kind, fold->dtype, fold->second));
    return weft__emit_select(emitter, fresh, nothing, weft__fold_slot_load(emitter, fold, column));
}

static bool is_row(const weft__folded *fold) { return fold->numbered && fold->second; }

/* Where nothing was folded yet, the first row is as good as what stands for nothing, or better. */
static void begin_slots(weft__emitter *emitter, weft__ref fresh, const weft__ref *at, int unroll)
{
    for (int k = 0; k < emitter->folding->count; k++) {
        weft__folded *fold = &emitter->folding->fold[k];
        for (int j = 0; j < unroll; j++) {
            weft__emit_use_mask(emitter, j);
            fold->now[j] =
                is_row(fold) ? weft__emit_select(emitter, fresh, weft__emit_number(emitter, 32, 0),
                                                 weft__emit_number(emitter, 32, ~0ULL))
                             : slots_or_nothing(emitter, fold, fresh, at[j]);
        }
    }
}

/* The number among those folded of what was found in a row; or what the slots hold. */
static weft__ref number_of(weft__emitter *emitter, const weft__folded *fold, weft__ref row,
                           weft__ref fresh, weft__ref column)
{
    const bool lanes = emitter->survey->fold_mode == WEFT__FOLD_LANES_MODE;
    weft__ref ramp[WEFT__FOLD_LANES], first = emitter->folding->folded;
    weft__ref number =
        weft__llvm.BuildZExt(emitter->builder, row, weft__emit_integer(emitter, 64), "");
    if (lanes) {
        number = weft__llvm.BuildMul(emitter->builder, number,
                                     weft__emit_number(emitter, 64, WEFT__FOLD_LANES), "");
        first = weft__llvm.BuildAdd(emitter->builder, first, column, "");
    }
    for (int k = 0; k < emitter->lanes; k++)
        ramp[k] = weft__emit_i64(emitter, lanes ? k : 0);
    if (emitter->lanes > 1)
        first =
            weft__llvm.BuildAdd(emitter->builder, weft__emit_splat(emitter, first, emitter->lanes),
                                weft__llvm.ConstVector(ramp, (unsigned)emitter->lanes), "");
    number = weft__llvm.BuildAdd(emitter->builder, number, first, "");
    weft__ref none = weft__llvm.BuildICmp(emitter->builder, WEFT__ICMP_EQ, row,
                                          weft__emit_number(emitter, 32, ~0ULL), "");
    return weft__emit_select(emitter, none, slots_or_nothing(emitter, fold, fresh, column), number);
}

static weft__ref vector_of_rows(const weft__emitter *emitter, weft__ref number)
{
    weft__ref bytes = weft__llvm.BuildMul(
        emitter->builder, number, weft__emit_i64(emitter, (int64_t)emitter->lanes * ROW_BYTES), "");
    return weft__emit_address(emitter, emitter->folding->rows, bytes);
}

int weft__fold_number_lanes(const weft__survey *survey)
{
    const int most = survey->target.bytes / (int)sizeof(int64_t);
    return survey->lanes < most ? survey->lanes : most;
}

/* The numbers of all vectors of a turn, a register of them after the other by the same code. */
static void end_numbers(weft__emitter *emitter, const weft__folded *fold, weft__ref fresh,
                        weft__ref first, int unroll)
{
    for (int j = 0; j < unroll; j++)
        weft__llvm.SetAlignment(
            weft__llvm.BuildStore(emitter->builder, fold->now[j],
                                  vector_of_rows(emitter, weft__emit_i64(emitter, j))),
            ROW_BYTES);
    const int lanes = emitter->lanes;
    emitter->lanes = weft__fold_number_lanes(emitter->survey);
    const int64_t registers = (int64_t)unroll * lanes / emitter->lanes;
    weft__block before = weft__flow_here(emitter), loop = weft__flow_block(emitter),
                after = weft__flow_block(emitter);
    weft__flow_jump(emitter, loop);
    weft__flow_enter(emitter, loop);
    weft__ref vector = weft__flow_phi(emitter, weft__flow_i64(emitter));
    weft__ref row = weft__llvm.BuildLoad2(emitter->builder, weft__emit_integer(emitter, 32),
                                          vector_of_rows(emitter, vector), "");
    weft__llvm.SetAlignment(row, ROW_BYTES);
    weft__ref column = weft__llvm.BuildAdd(
        emitter->builder, first,
        weft__llvm.BuildMul(emitter->builder, vector, weft__emit_i64(emitter, emitter->lanes), ""),
        "");
    weft__fold_slot_store(emitter, fold, column, number_of(emitter, fold, row, fresh, column));
    weft__ref next = weft__emit_opaque(emitter, weft__flow_plus(emitter, vector, 1));
    weft__flow_incoming(vector, weft__emit_i64(emitter, 0), before);
    weft__flow_incoming(vector, next, weft__flow_here(emitter));
    weft__flow_branch(
        emitter,
        weft__flow_compare(emitter, WEFT__ICMP_SLT, next, weft__emit_i64(emitter, registers)), loop,
        after);
    weft__flow_enter(emitter, after);
    emitter->lanes = lanes;
}

static void end_slots(weft__emitter *emitter, weft__ref fresh, const weft__ref *at, int unroll)
{
    for (int k = 0; k < emitter->folding->count; k++)
        for (int j = 0; j < unroll; j++) {
            const weft__folded *fold = &emitter->folding->fold[k];
            weft__ref x = fold->now[j];
            if (is_row(fold) && unroll > 1 && emitter->mask == NULL) {
                end_numbers(emitter, fold, fresh, at[0], unroll);
                break;
            }
            weft__emit_use_mask(emitter, j);
            if (is_row(fold))
                x = number_of(emitter, fold, x, fresh, at[j]);
            weft__fold_slot_store(emitter, fold, at[j], x);
        }
}

/* Phis for all slots, with what they are now coming in; after no rows, none of them is found. */
static void make_phis(weft__emitter *emitter, weft__block before, int unroll, bool rows,
                      weft__ref phi[][WEFT__UNROLL_MOST])
{
    for (int k = 0; k < emitter->folding->count; k++)
        for (int j = 0; j < unroll; j++) {
            const weft__folded *fold = &emitter->folding->fold[k];
            weft__ref now =
                is_row(fold) && !rows ? weft__emit_number(emitter, 32, ~0ULL) : fold->now[j];
            phi[k][j] = weft__flow_phi(emitter, weft__llvm.TypeOf(now));
            weft__flow_incoming(phi[k][j], now, before);
        }
}

static void take_phis(weft__emitter *emitter, int unroll, weft__ref phi[][WEFT__UNROLL_MOST])
{
    for (int k = 0; k < emitter->folding->count; k++)
        for (int j = 0; j < unroll; j++)
            emitter->folding->fold[k].now[j] = phi[k][j];
}

static void into_phis(weft__emitter *emitter, weft__block from, int unroll,
                      weft__ref phi[][WEFT__UNROLL_MOST])
{
    for (int k = 0; k < emitter->folding->count; k++)
        for (int j = 0; j < unroll; j++)
            weft__flow_incoming(phi[k][j], emitter->folding->fold[k].now[j], from);
}

/* A turn, and once more with all that is rarely needed, where a lane needs that. */
static void emit_turn(weft__emitter *emitter, weft__ref column, int unroll,
                      weft__ref phi[][WEFT__UNROLL_MOST])
{
    weft__ref out[WEFT__FOLDS_MAX][WEFT__UNROLL_MOST];
    if (emitter->mask != NULL || emitter->lanes == 1 || !weft__survey_gives_up(emitter->survey)) {
        weft__emit_turn(emitter, column, unroll);
        return;
    }
    weft__block rare = weft__flow_block(emitter), after = weft__flow_block(emitter);
    emitter->give_up = rare;
    weft__emit_turn(emitter, column, unroll);
    emitter->give_up = NULL;
    weft__block usual = weft__flow_here(emitter);
    weft__flow_jump(emitter, after);
    weft__flow_enter(emitter, after);
    make_phis(emitter, usual, unroll, true, out);
    weft__flow_enter(emitter, rare);
    take_phis(emitter, unroll, phi);
    weft__emit_turn(emitter, column, unroll);
    into_phis(emitter, weft__flow_here(emitter), unroll, out);
    weft__flow_jump(emitter, after);
    weft__flow_enter(emitter, after);
    take_phis(emitter, unroll, out);
}

/* Asks for what comes next of a row, in all lines of a turn. Not if the launch is small: what is
 * in the caches takes longer with it. */
static void emit_asking(weft__emitter *emitter, weft__ref column, int unroll)
{
    const weft__survey *survey = emitter->survey;
    weft__block asking = weft__flow_block(emitter), after = weft__flow_block(emitter);
    weft__flow_branch(emitter, emitter->folding->large, asking, after);
    weft__flow_enter(emitter, asking);
    for (uint32_t k = 0; k < survey->kernel->values_count; k++) {
        const weft__value *load = &survey->kernel->values[k];
        if (load->op != WEFT__OP_load || survey->needed[k] == 0 ||
            survey->spacing[load->slot] != WEFT__SPACING_UNIT)
            continue;
        const int size = weft__memory_size((weft_dtype)survey->kernel->operands[load->slot].dtype);
        for (int j = 0; j < unroll; j++) {
            if ((j * emitter->lanes << size) % LINE != 0)
                continue;
            emitter->at = weft__flow_plus(emitter, column, (int64_t)j * emitter->lanes);
            weft__emit_ask(emitter, load);
        }
    }
    weft__flow_jump(emitter, after);
    weft__flow_enter(emitter, after);
}

/* All rows from `first` to before `end`, of `unroll` vectors from the column `at` on. */
static void emit_rows(weft__emitter *emitter, weft__ref column, int unroll, weft__ref fresh,
                      weft__ref first, weft__ref end)
{
    weft__ref at[WEFT__UNROLL_MOST], phi[WEFT__FOLDS_MAX][WEFT__UNROLL_MOST],
        out[WEFT__FOLDS_MAX][WEFT__UNROLL_MOST];
    const int lanes = emitter->lanes;
    for (int k = 0; k < unroll; k++)
        at[k] = weft__flow_plus(emitter, column, (int64_t)k * lanes);
    begin_slots(emitter, fresh, at, unroll);
    weft__block before = weft__flow_here(emitter), loop = weft__flow_block(emitter),
                after = weft__flow_block(emitter);
    weft__flow_branch(emitter, weft__flow_compare(emitter, WEFT__ICMP_SLT, first, end), loop,
                      after);
    weft__flow_enter(emitter, after);
    make_phis(emitter, before, unroll, false, out);
    weft__flow_enter(emitter, loop);
    emitter->row = weft__flow_phi(emitter, weft__flow_i64(emitter));
    make_phis(emitter, before, unroll, true, phi);
    take_phis(emitter, unroll, phi);
    if (emitter->folding->product)
        emitter->folding->empty = weft__llvm.BuildAnd(
            emitter->builder, fresh,
            weft__flow_compare(emitter, WEFT__ICMP_EQ, emitter->row, first), "");
    weft__emit_bases(emitter);
    weft__ref mask = emitter->mask;
    emitter->mask = NULL;
    weft__emit_level(emitter, WEFT__LEVEL_ROW);
    emitter->mask = mask;
    emitter->lanes = lanes;
    if (emitter->survey->asks && mask == NULL && lanes > 1)
        emit_asking(emitter, column, unroll);
    emit_turn(emitter, column, unroll, phi);
    weft__ref next = weft__emit_opaque(emitter, weft__flow_plus(emitter, emitter->row, 1));
    weft__flow_incoming(emitter->row, first, before);
    weft__flow_incoming(emitter->row, next, weft__flow_here(emitter));
    into_phis(emitter, weft__flow_here(emitter), unroll, phi);
    into_phis(emitter, weft__flow_here(emitter), unroll, out);
    weft__flow_branch(emitter, weft__flow_compare(emitter, WEFT__ICMP_SLT, next, end), loop, after);
    weft__flow_enter(emitter, after);
    take_phis(emitter, unroll, out);
    end_slots(emitter, fresh, at, unroll);
}

/* Without rows there are blocks only to make the slots hold nothing. */
static weft__ref has_blocks(const weft__emitter *emitter, const struct nest *nest)
{
    return weft__llvm.BuildOr(emitter->builder, nest->fresh, not_zero(emitter, nest->rows), "");
}

/* Whole blocks, from column 0 on. Returns the column that comes after. */
static weft__ref emit_blocks(weft__emitter *emitter, const struct nest *nest)
{
    const int lanes = emitter->survey->lanes, unroll = emitter->survey->unroll;
    const int64_t width = (int64_t)lanes * unroll;
    weft__ref zero = weft__emit_i64(emitter, 0);
    weft__ref last = weft__flow_plus(emitter, nest->columns, -width);
    weft__ref some = weft__flow_compare(emitter, WEFT__ICMP_SLE, zero, last);
    weft__block before = weft__flow_here(emitter), loop = weft__flow_block(emitter),
                after = weft__flow_block(emitter);
    if (nest->lanes)
        some = has_blocks(emitter, nest);
    weft__flow_branch(emitter, some, loop, after);
    weft__flow_enter(emitter, loop);
    weft__ref at = weft__flow_phi(emitter, weft__flow_i64(emitter));
    emitter->lanes = lanes;
    emit_rows(emitter, at, unroll, nest->fresh, zero, nest->rows);
    weft__ref next = weft__emit_opaque(emitter, weft__flow_plus(emitter, at, width));
    weft__block end = weft__flow_here(emitter);
    weft__flow_incoming(at, zero, before);
    weft__flow_incoming(at, next, end);
    weft__flow_branch(emitter, weft__flow_compare(emitter, WEFT__ICMP_SLE, next, last), loop,
                      after);
    weft__flow_enter(emitter, after);
    weft__ref result = weft__flow_phi(emitter, weft__flow_i64(emitter));
    weft__flow_incoming(result, zero, before);
    weft__flow_incoming(result, next, end);
    return nest->lanes ? zero : result;
}

/* Whether steps are as fast as blocks: of one vector, or of long code, that does not give up, of
 * elements that follow each other. */
static bool only_steps(const weft__emitter *emitter)
{
    const weft__survey *survey = emitter->survey;
    bool unit = true;
    for (uint32_t k = 0; k < survey->kernel->operands_count; k++) {
        const bool pairs = weft__dtype_is_complex((weft_dtype)survey->kernel->operands[k].dtype);
        unit &= survey->flags[k] == 0 || survey->spacing[k] <= WEFT__SPACING_UNIT ||
                (pairs && survey->spacing[k] == WEFT__SPACING_DOUBLE);
    }
    const bool once = survey->unroll == 1 || (survey->fold_mode != WEFT__FOLD_LANES_MODE &&
                                              survey->operations > WEFT__FOLD_OPERATIONS);
    return unit && survey->target.masks && once && survey->edges == WEFT__EDGES_NONE &&
           !weft__survey_gives_up(survey);
}

/* What a step folds: rows of the columns from `column` on. */
struct step {
    weft__ref column, first, last, fresh;
};

/* With lanes, what is left of the last row. If there are only steps, those of the whole rows come
 * first, and the columns of the last row are counted on from theirs. */
static struct step step_at(const weft__emitter *emitter, const struct nest *nest, weft__ref at)
{
    weft__ref zero = weft__emit_i64(emitter, 0), lanes = weft__emit_i64(emitter, WEFT__FOLD_LANES);
    if (!nest->lanes)
        return (struct step){at, zero, nest->rows, nest->fresh};
    weft__ref none = weft__flow_compare(emitter, WEFT__ICMP_EQ, nest->rows, zero);
    struct step step = {at, nest->rows, weft__flow_plus(emitter, nest->rows, 1),
                        weft__llvm.BuildAnd(emitter->builder, nest->fresh_tail, none, "")};
    if (only_steps(emitter)) {
        weft__ref whole = weft__flow_compare(emitter, WEFT__ICMP_SLT, at, lanes);
        step.column = weft__llvm.BuildAnd(emitter->builder, at,
                                          weft__emit_i64(emitter, WEFT__FOLD_LANES - 1), "");
        step.first = weft__emit_select(emitter, whole, zero, step.first);
        step.last = weft__emit_select(emitter, whole, nest->rows, step.last);
        step.fresh = weft__emit_select(emitter, whole, nest->fresh, step.fresh);
    }
    return step;
}

static weft__ref emit_step(weft__emitter *emitter, const struct nest *nest, weft__ref at,
                           weft__ref end)
{
    weft__ref count = weft__emit_i64(emitter, 1);
    const struct step step = step_at(emitter, nest, at);
    const int unroll = only_steps(emitter) ? emitter->survey->unroll : 1;
    emitter->lanes = 1;
    if (emitter->survey->target.masks)
        count =
            weft__emit_masks(emitter, weft__llvm.BuildSub(emitter->builder, end, at, ""), unroll);
    if (only_steps(emitter))
        emitter->full =
            weft__flow_compare(emitter, WEFT__ICMP_EQ, count,
                               weft__emit_i64(emitter, (int64_t)unroll * emitter->survey->lanes));
    emit_rows(emitter, step.column, unroll, step.fresh, step.first, step.last);
    weft__emit_unmask(emitter);
    return weft__llvm.BuildAdd(emitter->builder, at, count, "");
}

static void emit_steps(weft__emitter *emitter, const struct nest *nest, weft__ref start,
                       weft__ref end)
{
    weft__block before = weft__flow_here(emitter), loop = weft__flow_block(emitter),
                after = weft__flow_block(emitter);
    weft__flow_branch(emitter, weft__flow_compare(emitter, WEFT__ICMP_SLT, start, end), loop,
                      after);
    weft__flow_enter(emitter, loop);
    weft__ref at = weft__flow_phi(emitter, weft__flow_i64(emitter));
    weft__ref next = weft__emit_opaque(emitter, emit_step(emitter, nest, at, end));
    weft__flow_incoming(at, start, before);
    weft__flow_incoming(at, next, weft__flow_here(emitter));
    weft__flow_branch(emitter, weft__flow_compare(emitter, WEFT__ICMP_SLT, next, end), loop, after);
    weft__flow_enter(emitter, after);
}

static void emit_all_columns(weft__emitter *emitter, const struct nest *nest)
{
    weft__ref zero = weft__emit_i64(emitter, 0), lanes = weft__emit_i64(emitter, WEFT__FOLD_LANES);
    weft__ref end = nest->lanes ? nest->tail : nest->columns;
    if (!only_steps(emitter))
        emit_steps(emitter, nest, emit_blocks(emitter, nest), end);
    else if (!nest->lanes)
        emit_steps(emitter, nest, zero, end);
    else
        emit_steps(emitter, nest,
                   weft__emit_select(emitter, has_blocks(emitter, nest), zero, lanes),
                   weft__llvm.BuildAdd(emitter->builder, lanes, nest->tail, ""));
}

static void emit_halving(weft__emitter *emitter, const struct nest *nest, weft__ref group)
{
    weft__folding *folding = emitter->folding;
    weft__block halving = weft__flow_block(emitter), after = weft__flow_block(emitter);
    weft__flow_branch(emitter, nest->halves, halving, after);
    weft__flow_enter(emitter, halving);
    for (int k = 0; k < folding->count; k++) {
        weft__ref result[2];
        if (folding->fold[k].second)
            continue;
        weft__fold_halve(emitter, &folding->fold[k], result);
        for (int part = 0; part <= folding->fold[k].pair; part++) {
            const weft__folded *fold = &folding->fold[k + part];
            weft__ref step = sheet_field(emitter, nest, WEFT__SHEET_RESULT_STEP + k + part);
            weft__ref address = weft__emit_address(
                emitter, sheet_pointer(emitter, nest, WEFT__SHEET_RESULT + k + part),
                weft__llvm.BuildMul(emitter->builder, group, step, ""));
            emitter->lanes = 1;
            weft__emit_store_dense(emitter, address,
                                   weft__emit_narrow(emitter, fold->dtype, result[part]),
                                   weft__memory_size(fold->dtype));
        }
    }
    weft__flow_jump(emitter, after);
    weft__flow_enter(emitter, after);
}

/* Makes the operands those of a group. */
static void enter_group(weft__emitter *emitter, const struct nest *nest, weft__ref group)
{
    for (uint32_t k = 0; k < emitter->survey->kernel->operands_count; k++)
        if (emitter->survey->flags[k] != 0)
            emitter->operands[k].data =
                weft__emit_address(emitter, nest->data[k],
                                   weft__llvm.BuildMul(emitter->builder, group, nest->step[k], ""));
    weft__ref step = sheet_field(emitter, nest, WEFT__SHEET_FOLDED_GROUP);
    emitter->folding->folded =
        weft__llvm.BuildAdd(emitter->builder, sheet_field(emitter, nest, WEFT__SHEET_FOLDED),
                            weft__llvm.BuildMul(emitter->builder, group, step, ""), "");
}

static void emit_group(weft__emitter *emitter, const struct nest *nest, weft__ref group)
{
    enter_group(emitter, nest, group);
    emit_all_columns(emitter, nest);
    if (nest->lanes && !emitter->folding->product)
        emit_halving(emitter, nest, group);
}

/* For the rows that were found, of all vectors of a turn. */
static weft__ref emit_rows_room(const weft__emitter *emitter)
{
    weft__type i32 = weft__llvm.IntTypeInContext(emitter->context, 8 * ROW_BYTES);
    const unsigned count = (unsigned)(emitter->survey->lanes * emitter->survey->unroll);
    weft__ref room =
        weft__llvm.BuildAlloca(emitter->builder, weft__llvm.VectorType(i32, count), "");
    weft__llvm.SetAlignment(room, LINE);
    return room;
}

static void begin(weft__emitter *emitter, struct nest *nest)
{
    weft__type pointer = weft__llvm.PointerTypeInContext(emitter->context, 0);
    emitter->patch = weft__llvm.GetParam(emitter->function, 0);
    weft__emit_room(emitter);
    weft__emit_frame(emitter);
    nest->sheet = weft__flow_field(emitter, emitter->patch, WEFT__PATCH_SHEET, pointer);
    nest->rows =
        weft__flow_field(emitter, emitter->patch, WEFT__PATCH_ROWS, weft__flow_i64(emitter));
    nest->columns = nest->lanes ? weft__emit_i64(emitter, WEFT__FOLD_LANES)
                                : weft__flow_field(emitter, emitter->patch, WEFT__PATCH_COLUMNS,
                                                   weft__flow_i64(emitter));
    nest->tail = sheet_field(emitter, nest, WEFT__SHEET_TAIL);
    nest->groups = sheet_field(emitter, nest, WEFT__SHEET_GROUPS);
    weft__ref fresh = sheet_field(emitter, nest, WEFT__SHEET_FRESH);
    nest->fresh = weft__flow_compare(emitter, WEFT__ICMP_EQ, fresh, weft__emit_i64(emitter, 1));
    nest->fresh_tail = not_zero(emitter, fresh);
    if (emitter->survey->asks)
        emitter->folding->large =
            not_zero(emitter, weft__flow_field(emitter, emitter->patch, WEFT__PATCH_STREAMING,
                                               weft__flow_i64(emitter)));
    nest->halves = not_zero(emitter, sheet_field(emitter, nest, WEFT__SHEET_HALVES));
    for (int k = 0; k < emitter->folding->count; k++) {
        emitter->folding->fold[k].slots = sheet_pointer(emitter, nest, WEFT__SHEET_SLOT + k);
        if (is_row(&emitter->folding->fold[k]) && emitter->folding->rows == NULL)
            emitter->folding->rows = emit_rows_room(emitter);
    }
    weft__emit_operands(emitter);
    for (uint32_t k = 0; k < emitter->survey->kernel->operands_count; k++) {
        if (emitter->survey->flags[k] == 0)
            continue;
        nest->data[k] = emitter->operands[k].data;
        nest->step[k] = sheet_field(emitter, nest, WEFT__SHEET_GROUP + k);
    }
}

static void describe_folds(weft__emitter *emitter)
{
    const weft__kernel *kernel = emitter->survey->kernel;
    weft__folding *folding = emitter->folding;
    for (uint32_t k = 0; k < kernel->values_count; k++) {
        const weft__value *value = &kernel->values[k];
        if (value->op != WEFT__OP_fold)
            continue;
        folding->fold[folding->count++] =
            (weft__folded){.kind = value->slot,
                           .dtype = (weft_dtype)value->dtype,
                           .pair = value->slot >= WEFT__FOLD_ARGMIN && value->part == 0,
                           .second = value->part == 1,
                           .numbered = weft__fold_is_numbered(kernel, value)};
        folding->product |= value->slot == WEFT__FOLD_PRODUCT;
    }
}

void weft__emit_fold_function(weft__emitter *emitter)
{
    struct nest nest = {.lanes = emitter->survey->fold_mode == WEFT__FOLD_LANES_MODE};
    describe_folds(emitter);
    weft__flow_enter(emitter, weft__flow_block(emitter));
    begin(emitter, &nest);
    emitter->row = weft__emit_i64(emitter, 0);
    weft__emit_level(emitter, WEFT__LEVEL_LAUNCH);
    weft__block before = weft__emit_held_begin(emitter), loop = weft__flow_block(emitter),
                after = weft__flow_block(emitter);
    weft__flow_enter(emitter, loop);
    weft__ref group = weft__flow_phi(emitter, weft__flow_i64(emitter));
    emit_group(emitter, &nest, group);
    weft__ref next = weft__emit_opaque(emitter, weft__flow_plus(emitter, group, 1));
    weft__flow_incoming(group, weft__emit_i64(emitter, 0), before);
    weft__flow_incoming(group, next, weft__flow_here(emitter));
    weft__flow_branch(emitter, weft__flow_compare(emitter, WEFT__ICMP_SLT, next, nest.groups), loop,
                      after);
    weft__emit_held_end(emitter, loop);
    weft__flow_enter(emitter, after);
    weft__llvm.BuildRetVoid(emitter->builder);
}
