/* Finding kernels in which all that is computed is one row of machine code, of operands that lie as
 * their elements do: those are moved by C code (run_machine.c). */
#include "codegen/llvm/machine.h"
#include "codegen/llvm/outline.h"
#include "core/allocate.h"
#include "core/status.h"

/* Bytes of an element in memory, or of a part of it; 0: of a bool; -1: it is of none of the types
 * that are moved. */
static int size_of(weft_dtype dtype)
{
    switch (dtype) {
    case WEFT_BOOL:
        return 0;
    case WEFT_I32:
    case WEFT_U32:
    case WEFT_F32:
    case WEFT_C64:
        return 4;
    case WEFT_I64:
    case WEFT_U64:
    case WEFT_F64:
    case WEFT_C128:
        return 8;
    default:
        return -1;
    }
}

/* The move of a load or store; its kind is WEFT__MOVE_KINDS if there is none. */
static weft__object_move memory_move(const weft__survey *survey, const weft__value *value)
{
    const weft_dtype dtype = (weft_dtype)survey->kernel->operands[value->slot].dtype;
    const bool pair = weft__dtype_is_complex(dtype), store = value->op == WEFT__OP_store;
    const uint8_t spacing = survey->spacing[value->slot];
    weft__object_move move = {.kind = WEFT__MOVE_KINDS,
                              .part = value->part,
                              .pair = pair,
                              .size = (uint8_t)(size_of(dtype) < 0 ? 0 : size_of(dtype)),
                              .slot = value->slot};
    if (size_of(dtype) < 0)
        return move;
    if (spacing == (pair ? WEFT__SPACING_DOUBLE : WEFT__SPACING_UNIT))
        move.kind = store ? WEFT__MOVE_STORE : WEFT__MOVE_LOAD;
    else if (spacing == WEFT__SPACING_ZERO && !store)
        move.kind = WEFT__MOVE_ROW;
    return move;
}

static weft__object_move move_of(const weft__survey *survey, const weft__value *value)
{
    weft__object_move move = {.kind = WEFT__MOVE_KINDS, .slot = value->slot, .size = 8};
    if (value->op == WEFT__OP_load || value->op == WEFT__OP_store)
        return memory_move(survey, value);
    if (value->op == WEFT__OP_index && value->slot == survey->column_axis)
        move.kind = WEFT__MOVE_INDEX;
    if (value->op == WEFT__OP_index && value->slot == survey->row_axis)
        move.kind = WEFT__MOVE_INDEX_ROW;
    if (value->op == WEFT__OP_scalar && size_of((weft_dtype)value->dtype) >= 0) {
        move.kind = WEFT__MOVE_SCALAR;
        move.size = (uint8_t)size_of((weft_dtype)value->dtype);
    }
    return move;
}

/* The number of the operand of the machine code that a store takes. */
static uint32_t stored_operand(const weft__survey *survey, const weft__value *store)
{
    const weft__value *result = &survey->kernel->values[store->argument[0]];
    return (uint32_t)survey->outline->pieces[0].inputs + result->slot;
}

/* The store of the other part of the same complex numbers, or NULL. */
static const weft__value *other_part(const weft__survey *survey, const weft__value *store)
{
    const weft__kernel *kernel = survey->kernel;
    const weft__value *found = NULL;
    for (uint32_t k = 0; k < kernel->values_count; k++) {
        const weft__value *value = &kernel->values[k];
        if (value->op == WEFT__OP_store && value->slot == store->slot &&
            value->part != store->part && kernel->values[value->argument[0]].op == WEFT__OP_result)
            found = value;
    }
    return found;
}

/* Leaves the elements of a move to the machine code, which is given their address. */
static void add_own(const weft__survey *survey, weft__object_move move, uint32_t operand,
                    const weft__value *other, weft__moves *moves)
{
    const weft__kernel *piece = &survey->outline->pieces[0].kernel;
    weft__x86_move own = {.operand = operand,
                          .pointer = moves->pointers,
                          .store = move.kind == WEFT__MOVE_STORE,
                          .pair = move.pair != 0,
                          .part = move.part};
    moves->own[moves->own_count++] = own;
    if (other != NULL) {
        own.operand = stored_operand(survey, other);
        own.part = 1;
        moves->own[moves->own_count++] = own;
    }
    move.kind = WEFT__MOVE_ADDRESS;
    move.part = 0;
    move.at = weft__x86_pointer(piece, moves->pointers++, survey->lanes);
    moves->move[moves->count++] = move;
}

/* Adds the move of a value to or from an operand of the machine code; false if there is none. */
static bool add(const weft__survey *survey, const weft__value *value, uint32_t operand,
                weft__moves *moves)
{
    weft__object_move move = move_of(survey, value);
    const bool store = move.kind == WEFT__MOVE_STORE, pair = store && move.pair;
    const weft__value *other = pair ? other_part(survey, value) : NULL;
    move.at = weft__x86_operand(&survey->outline->pieces[0].kernel, operand, survey->lanes);
    if (other != NULL && move.part == 1)
        return true; /* is stored with part 0 */
    if (move.size > 0 && (store || move.kind == WEFT__MOVE_LOAD) && (!pair || other != NULL))
        add_own(survey, move, operand, other, moves);
    else
        moves->move[moves->count++] = move;
    return move.kind != WEFT__MOVE_KINDS;
}

static bool add_value(const weft__survey *survey, const weft__value *value, weft__moves *moves)
{
    const weft__value *values = survey->kernel->values;
    const weft__value *of = &values[value->argument[0]];
    switch ((weft__op)value->op) {
    case WEFT__OP_load:
    case WEFT__OP_scalar:
    case WEFT__OP_index:
    case WEFT__OP_constant:
    case WEFT__OP_call:
    case WEFT__OP_result:
        return true;
    case WEFT__OP_pass:
        return add(survey, of, value->slot, moves);
    case WEFT__OP_store:
        return of->op == WEFT__OP_result &&
               add(survey, value, stored_operand(survey, value), moves);
    default:
        return false;
    }
}

weft_status weft__moves_find(const weft__survey *survey, weft__moves *moves)
{
    const weft__kernel *kernel = survey->kernel;
    const weft__outline *outline = survey->outline;
    bool found = true;
    if (outline == NULL || !outline->machine || outline->count != 1 || !survey->whole ||
        survey->unroll != 1 || survey->operands != kernel->operands_count)
        return WEFT_OK;
    moves->move = weft__allocate_zeroed(kernel->values_count * sizeof *moves->move);
    moves->own = weft__allocate_zeroed(kernel->values_count * sizeof *moves->own);
    if (moves->move == NULL || moves->own == NULL)
        return WEFT_ERROR_MEMORY;
    for (uint32_t k = 0; found && k < kernel->values_count; k++)
        found = survey->needed[k] == 0 || add_value(survey, &kernel->values[k], moves);
    if (!found || moves->count > 4 * WEFT__OPERANDS_MAX)
        moves->count = moves->own_count = moves->pointers = 0;
    return WEFT_OK;
}

void weft__moves_free(weft__moves *moves)
{
    weft__free(moves->move);
    weft__free(moves->own);
}
