/* Loads and stores of vectors, for each way that elements can lie along a row. */
#include "codegen/llvm/flow.h"
#include "codegen/llvm/fold_emit.h"

#include <string.h>

enum {
    LANES_MOST = 64,
    LINE = 64,
    AHEAD = 2048,       /* bytes */
    AHEAD_FOLDED = 512, /* where many rows are read side by side, and what is next ends with them */
    AHEAD_SECOND = 1024, /* … into the second cache */
    AHEAD_LANES = 4096   /* … of one row after the other */
};

static const weft__emitted_operand *operand_of(const weft__emitter *emitter,
                                               const weft__value *value)
{
    return &emitter->operands[value->op == WEFT__OP_load ? weft__source_of(emitter, value)
                                                         : value->slot];
}

static int size_of(const weft__emitter *emitter, const weft__value *value)
{
    return weft__memory_size((weft_dtype)emitter->survey->kernel->operands[value->slot].dtype);
}

static bool is_complex(const weft__emitter *emitter, const weft__value *value)
{
    return weft__dtype_is_complex((weft_dtype)emitter->survey->kernel->operands[value->slot].dtype);
}

static weft__type single_type(const weft__emitter *emitter, int size)
{
    return weft__llvm.IntTypeInContext(emitter->context, 8U << size);
}

static weft__ref multiplied(const weft__emitter *emitter, weft__ref x, weft__ref y)
{
    return weft__llvm.BuildMul(emitter->builder, x, y, "");
}

static weft__ref plus(const weft__emitter *emitter, weft__ref x, weft__ref y)
{
    return weft__llvm.BuildAdd(emitter->builder, x, y, "");
}

/* The address of the element at a column; constant distances let the processor scale the column. */
static weft__ref element_of(const weft__emitter *emitter, const weft__value *value,
                            weft__ref column)
{
    const weft__emitted_operand *operand = operand_of(emitter, value);
    const int size = size_of(emitter, value);
    weft__ref distance = operand->column;
    if (emitter->survey->spacing[value->slot] == WEFT__SPACING_UNIT)
        distance = weft__emit_i64(emitter, (int64_t)1 << size);
    else if (emitter->survey->spacing[value->slot] == WEFT__SPACING_DOUBLE)
        distance = weft__emit_i64(emitter, (int64_t)2 << size);
    weft__ref base = operand->base;
    if (emitter->edge && emitter->lanes == 1 && value->op == WEFT__OP_load && value->shift != 0)
        weft__emit_edge(emitter, value, &base, &column);
    return weft__emit_address(emitter, base, multiplied(emitter, column, distance));
}

static weft__ref address_of(const weft__emitter *emitter, const weft__value *value,
                            weft__ref column)
{
    const int64_t offset = (int64_t)value->part << size_of(emitter, value);
    weft__ref element = element_of(emitter, value, column);
    return offset == 0 ? element
                       : weft__emit_address(emitter, element, weft__emit_i64(emitter, offset));
}

static weft__ref load_at(const weft__emitter *emitter, weft__type type, weft__ref address, int size)
{
    weft__ref load = weft__llvm.BuildLoad2(emitter->builder, type, address, "");
    weft__llvm.SetAlignment(load, 1U << size);
    return load;
}

/* Up to LLVM 21 the alignment is the argument after the pointer, from then on an attribute of it.
 */
static weft__ref call_masked(const weft__emitter *emitter, const char *name, weft__ref *given,
                             unsigned pointer, weft__type vector, int size)
{
    weft__type types[2] = {vector, weft__llvm.TypeOf(given[pointer])};
    const unsigned number = weft__llvm.LookupIntrinsicID(name, strlen(name));
    weft__type type = weft__llvm.IntrinsicGetType(emitter->context, number, types, 2);
    weft__ref arguments[4];
    unsigned count = 0;
    for (unsigned k = 0; k < 3; k++) {
        arguments[count++] = given[k];
        if (k == pointer && weft__llvm.CountParamTypes(type) == 4)
            arguments[count++] = weft__llvm.ConstInt(
                weft__llvm.IntTypeInContext(emitter->context, 32), 1U << size, 0);
    }
    weft__ref call =
        weft__llvm.BuildCall2(emitter->builder, type,
                              weft__llvm.GetIntrinsicDeclaration(emitter->module, number, types, 2),
                              arguments, count, "");
    if (count == 3) {
        const unsigned align = weft__llvm.GetEnumAttributeKindForName("align", 5);
        weft__llvm.AddCallSiteAttribute(
            call, pointer + 1,
            weft__llvm.CreateEnumAttribute(emitter->context, align, (uint64_t)1 << size));
    }
    return call;
}

/* Eight bytes are accessed as sixteen under a mask of eight lanes, whose upper half LLVM 19 to 22
 * forget to clear when they spill it: what follows the array is read or written. So the upper lanes
 * of a mask of our own are off by what is computed, not by a widening. */
static weft__ref call_masked_bytes(const weft__emitter *emitter, const char *name, weft__ref *given,
                                   unsigned pointer)
{
    enum { FEW = 8, ALL = 16, NO_LANE = 255 };
    static const int again[ALL] = {0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7};
    static const int lower[ALL] = {0,       0,       0,       0,       0,       0,
                                   0,       0,       NO_LANE, NO_LANE, NO_LANE, NO_LANE,
                                   NO_LANE, NO_LANE, NO_LANE, NO_LANE};
    weft__type byte = weft__llvm.IntTypeInContext(emitter->context, 8);
    const unsigned mask = pointer + 1, data = pointer == 0 ? 2 : 0;
    weft__ref wide[3];
    wide[pointer] = given[pointer];
    wide[mask] = weft__llvm.BuildAnd(
        emitter->builder, weft__emit_shuffle(emitter, given[mask], given[mask], again, ALL),
        weft__emit_mask_of(emitter, lower, ALL), "");
    wide[data] = weft__emit_shuffle(emitter, given[data], given[data], again, ALL);
    weft__ref call = call_masked(emitter, name, wide, pointer, weft__llvm.VectorType(byte, ALL), 0);
    return pointer == 0 ? weft__emit_shuffle(emitter, call, call, again, FEW) : call;
}

weft__ref weft__emit_masked(const weft__emitter *emitter, const char *name, weft__ref *given,
                            unsigned pointer, weft__type vector, int size)
{
    if (size == 0 && emitter->lanes == 8)
        return call_masked_bytes(emitter, name, given, pointer);
    return call_masked(emitter, name, given, pointer, vector, size);
}

static weft__ref inserted(const weft__emitter *emitter, weft__ref vector, weft__ref x, int lane)
{
    return weft__llvm.BuildInsertElement(emitter->builder, vector, x, weft__emit_i64(emitter, lane),
                                         "");
}

/* Whether what is asked for comes to the second cache only: the first one has no room for what
 * comes next of eight rows, or is too small for two chunks of lanes. */
static bool asks_second(const weft__emitter *emitter)
{
    const weft__survey *survey = emitter->survey;
    const bool lanes = survey->fold_mode == WEFT__FOLD_LANES_MODE;
    const bool columns = survey->fold_mode == WEFT__FOLD_COLUMNS_MODE;
    return ((lanes || columns) && survey->asks) || (lanes && !survey->target.roomy);
}

/* Of lanes, where a turn is not a whole row of them, the next chunk, half a chunk further on, or
 * the one after that. */
static int64_t bytes_ahead(const weft__emitter *emitter, const weft__value *load)
{
    const int32_t mode = emitter->survey->fold_mode;
    const bool second = asks_second(emitter);
    if (mode == WEFT__FOLD_LANES_MODE && emitter->survey->asks)
        return AHEAD_LANES;
    if (mode == WEFT__FOLD_LANES_MODE)
        return (int64_t)(second ? 4 : 3) * (WEFT__FOLD_CHUNK / 2) << size_of(emitter, load);
    if (mode == WEFT__FOLD_COLUMNS_MODE)
        return second ? AHEAD_SECOND : AHEAD_FOLDED;
    return AHEAD;
}

static void ask_at(const weft__emitter *emitter, const weft__value *load, weft__ref address)
{
    weft__type pointer = weft__llvm.TypeOf(address);
    weft__type i32 = weft__llvm.IntTypeInContext(emitter->context, 32);
    weft__ref ahead = weft__emit_i64(emitter, bytes_ahead(emitter, load));
    weft__ref arguments[4] = {
        weft__emit_address(emitter, address, ahead), weft__llvm.ConstInt(i32, 0, 0),
        weft__llvm.ConstInt(i32, asks_second(emitter) ? 2 : 3, 0), weft__llvm.ConstInt(i32, 1, 0)};
    (void)weft__emit_intrinsic(emitter, "llvm.prefetch", &pointer, 1, arguments, 4);
}

/* Rows are too short for the processor to see where the next plane of a stencil goes on, and when
 * it waits for many operands at a time, it sees too little ahead. */
static void ask_for(const weft__emitter *emitter, const weft__value *load, weft__ref address)
{
    const uint32_t source = weft__source_of(emitter, load);
    if ((emitter->survey->flags[source] & WEFT__OPERAND_LEADS) != 0 || emitter->asking)
        ask_at(emitter, load, address);
}

void weft__emit_ask(const weft__emitter *emitter, const weft__value *load)
{
    ask_at(emitter, load, address_of(emitter, load, emitter->at));
}

weft__ref weft__emit_load_dense(const weft__emitter *emitter, weft__ref address, int size)
{
    weft__type type = weft__emit_integer(emitter, 8 << size);
    if (emitter->mask == NULL)
        return load_at(emitter, type, address, size);
    weft__ref given[3] = {address, emitter->mask, weft__llvm.ConstNull(type)};
    return weft__emit_masked(emitter, "llvm.masked.load", given, 0, type, size);
}

/* Without a mask where that is possible: a mask is more work for the units that compute. */
static weft__ref load_full(const weft__emitter *emitter, weft__ref address, int size)
{
    weft__type type = weft__emit_integer(emitter, 8 << size);
    weft__block full = weft__flow_block(emitter), some = weft__flow_block(emitter);
    weft__block both = weft__flow_block(emitter);
    weft__flow_branch(emitter, emitter->full, full, some);
    weft__flow_enter(emitter, full);
    weft__ref all = load_at(emitter, type, address, size);
    weft__flow_jump(emitter, both);
    weft__flow_enter(emitter, some);
    weft__ref masked = weft__emit_load_dense(emitter, address, size);
    weft__flow_jump(emitter, both);
    weft__flow_enter(emitter, both);
    weft__ref loaded = weft__flow_phi(emitter, type);
    weft__flow_incoming(loaded, all, full);
    weft__flow_incoming(loaded, masked, some);
    return loaded;
}

static weft__ref load_dense(const weft__emitter *emitter, const weft__value *load, int size)
{
    weft__ref address = address_of(emitter, load, emitter->at);
    ask_for(emitter, load, address);
    if (emitter->full != NULL)
        return load_full(emitter, address, size);
    if (emitter->mask != NULL && emitter->edge && weft__load_has_edges(emitter->survey, load))
        return weft__emit_edge_vector(emitter, load, address, size);
    return weft__emit_load_dense(emitter, address, size);
}

/* Dense complex numbers: both parts come from the same two vectors. */
static weft__ref load_pairs(const weft__emitter *emitter, const weft__value *load, int size)
{
    const int lanes = emitter->lanes;
    int order[LANES_MOST];
    weft__type type = weft__emit_integer(emitter, 8 << size);
    weft__ref low = element_of(emitter, load, emitter->at);
    if (emitter->mask != NULL)
        return weft__emit_load_double(emitter, low, size, load->part);
    weft__ref high =
        weft__emit_address(emitter, low, weft__emit_i64(emitter, (int64_t)lanes << size));
    for (int k = 0; k < lanes; k++)
        order[k] = 2 * k + load->part;
    return weft__emit_shuffle(emitter, load_at(emitter, type, low, size),
                              load_at(emitter, type, high, size), order, lanes);
}

/* Every other element, from two vectors; the second ends with the last element that is wanted, for
 * memory may end there. */
static weft__ref load_double(const weft__emitter *emitter, const weft__value *load, int size)
{
    const int lanes = emitter->lanes;
    int order[LANES_MOST];
    weft__type type = weft__emit_integer(emitter, 8 << size);
    weft__ref low = address_of(emitter, load, emitter->at);
    weft__ref high =
        weft__emit_address(emitter, low, weft__emit_i64(emitter, (int64_t)(lanes - 1) << size));
    for (int k = 0; k < lanes; k++)
        order[k] = k < lanes / 2 ? 2 * k : 2 * k + 1;
    return weft__emit_shuffle(emitter, load_at(emitter, type, low, size),
                              load_at(emitter, type, high, size), order, lanes);
}

/* The lowest address of elements that go backwards. */
static weft__ref lowest_of(const weft__emitter *emitter, const weft__value *value)
{
    return address_of(emitter, value,
                      plus(emitter, emitter->at, weft__emit_i64(emitter, emitter->lanes - 1)));
}

static weft__ref load_reversed(const weft__emitter *emitter, const weft__value *load, int size)
{
    const int lanes = emitter->lanes;
    int order[LANES_MOST];
    weft__type type = weft__emit_integer(emitter, 8 << size);
    weft__ref backwards = load_at(emitter, type, lowest_of(emitter, load), size);
    for (int k = 0; k < lanes; k++)
        order[k] = lanes - 1 - k;
    return weft__emit_shuffle(emitter, backwards, backwards, order, lanes);
}

/* One by one, in groups of four that share an address: what the processor can add to it is one,
 * two, and, computed once, three distances. */
static weft__ref load_apart(const weft__emitter *emitter, const weft__value *load, int size)
{
    const weft__emitted_operand *operand = operand_of(emitter, load);
    weft__type single = single_type(emitter, size);
    weft__ref vector = weft__llvm.GetUndef(weft__emit_integer(emitter, 8 << size));
    weft__ref four = multiplied(emitter, operand->column, weft__emit_i64(emitter, 4));
    weft__ref distance[] = {weft__emit_i64(emitter, 0), operand->column,
                            multiplied(emitter, operand->column, weft__emit_i64(emitter, 2)),
                            operand->triple};
    weft__ref address = address_of(emitter, load, emitter->at);
    for (int k = 0; k < emitter->lanes; k++) {
        if (k > 0 && k % 4 == 0)
            address = weft__emit_address(emitter, address, four);
        weft__ref own =
            k % 4 == 0 ? address : weft__emit_address(emitter, address, distance[k % 4]);
        vector = inserted(emitter, vector, load_at(emitter, single, own, size), k);
    }
    return vector;
}

static weft__ref load_some(const weft__emitter *emitter, const weft__value *load, int size)
{
    const uint8_t spacing = emitter->survey->spacing[load->slot];
    if (spacing == WEFT__SPACING_REVERSED)
        return weft__emit_load_reversed(emitter, lowest_of(emitter, load), size);
    weft__ref address = address_of(emitter, load, emitter->at);
    if (spacing == WEFT__SPACING_DOUBLE)
        return weft__emit_load_double(emitter, address, size, -1);
    return weft__emit_load_general(emitter, address, operand_of(emitter, load)->column, size);
}

weft__ref weft__emit_load(const weft__emitter *emitter, const weft__value *load)
{
    const int size = size_of(emitter, load);
    const uint8_t spacing = emitter->survey->spacing[load->slot];
    if (emitter->lanes == 1)
        return load_at(emitter, single_type(emitter, size), address_of(emitter, load, emitter->at),
                       size);
    if (spacing == WEFT__SPACING_UNIT)
        return load_dense(emitter, load, size);
    if (spacing == WEFT__SPACING_DOUBLE && is_complex(emitter, load))
        return load_pairs(emitter, load, size);
    if (emitter->mask != NULL)
        return load_some(emitter, load, size);
    if (spacing == WEFT__SPACING_DOUBLE)
        return load_double(emitter, load, size);
    return spacing == WEFT__SPACING_REVERSED ? load_reversed(emitter, load, size)
                                             : load_apart(emitter, load, size);
}

/* Past the caches: needs an alignment of whole lines, or of the vector if that is shorter. */
static void mark_streaming(const weft__emitter *emitter, weft__ref store, int bytes)
{
    weft__ref one = weft__llvm.ConstInt(weft__llvm.IntTypeInContext(emitter->context, 32), 1, 0);
    weft__llvm_metadata node = weft__llvm.ValueAsMetadata(one);
    weft__ref list = weft__llvm.MetadataAsValue(
        emitter->context, weft__llvm.MDNodeInContext2(emitter->context, &node, 1));
    weft__llvm.SetAlignment(store, (unsigned)(bytes < LINE ? bytes : LINE));
    weft__llvm.SetMetadata(
        store, weft__llvm.GetMDKindIDInContext(emitter->context, "nontemporal", 11), list);
}

static void store_plain(const weft__emitter *emitter, weft__ref bytes, weft__ref address, int size,
                        bool streaming, int lanes)
{
    weft__ref made = weft__llvm.BuildStore(emitter->builder, bytes, address);
    weft__llvm.SetAlignment(made, 1U << size);
    if (streaming)
        mark_streaming(emitter, made, lanes << size);
}

/* Streamed, if that is to be. */
static void store_whole(const weft__emitter *emitter, weft__ref *given, int size, int lanes)
{
    weft__block whole = weft__flow_block(emitter), some = weft__flow_block(emitter);
    weft__block both = weft__flow_block(emitter);
    weft__llvm.BuildCondBr(emitter->builder, emitter->whole, whole, some);
    weft__llvm.PositionBuilderAtEnd(emitter->builder, whole);
    store_plain(emitter, given[0], given[1], size, true, lanes);
    weft__llvm.BuildBr(emitter->builder, both);
    weft__llvm.PositionBuilderAtEnd(emitter->builder, some);
    if (given[2] != NULL)
        (void)weft__emit_masked(emitter, "llvm.masked.store", given, 1, weft__llvm.TypeOf(given[0]),
                                size);
    else
        store_plain(emitter, given[0], given[1], size, false, lanes);
    weft__llvm.BuildBr(emitter->builder, both);
    weft__llvm.PositionBuilderAtEnd(emitter->builder, both);
}

/* A vector of `lanes` elements, from the address on. */
static void store_dense(const weft__emitter *emitter, const weft__value *store, weft__ref bytes,
                        weft__ref address, weft__ref mask, int lanes)
{
    const int size = size_of(emitter, store);
    const bool streamed = (emitter->survey->flags[store->slot] & WEFT__OPERAND_STREAMED) != 0;
    weft__ref given[3] = {bytes, address, mask};
    if (streamed && emitter->whole != NULL)
        store_whole(emitter, given, size, lanes);
    else if (mask == NULL)
        store_plain(emitter, bytes, address, size, emitter->streaming && streamed, lanes);
    else
        (void)weft__emit_masked(emitter, "llvm.masked.store", given, 1, weft__llvm.TypeOf(bytes),
                                size);
}

void weft__emit_store_dense(const weft__emitter *emitter, weft__ref address, weft__ref bytes,
                            int size)
{
    if (emitter->mask != NULL) {
        weft__ref given[3] = {bytes, address, emitter->mask};
        (void)weft__emit_masked(emitter, "llvm.masked.store", given, 1, weft__llvm.TypeOf(bytes),
                                size);
        return;
    }
    weft__llvm.SetAlignment(weft__llvm.BuildStore(emitter->builder, bytes, address), 1U << size);
}

static void store_apart(const weft__emitter *emitter, const weft__value *store, weft__ref bytes)
{
    const int size = size_of(emitter, store);
    for (int k = 0; k < emitter->lanes; k++) {
        weft__ref lane = weft__emit_i64(emitter, k);
        weft__ref single = weft__llvm.BuildExtractElement(emitter->builder, bytes, lane, "");
        weft__ref address = address_of(emitter, store, plus(emitter, emitter->at, lane));
        weft__llvm.SetAlignment(weft__llvm.BuildStore(emitter->builder, single, address),
                                1U << size);
    }
}

static void store_some(const weft__emitter *emitter, const weft__value *store, weft__ref bytes)
{
    const int size = size_of(emitter, store);
    const uint8_t spacing = emitter->survey->spacing[store->slot];
    if (spacing == WEFT__SPACING_REVERSED) {
        weft__emit_store_reversed(emitter, lowest_of(emitter, store), bytes, size);
        return;
    }
    weft__ref address = address_of(emitter, store, emitter->at);
    if (spacing == WEFT__SPACING_DOUBLE)
        weft__emit_store_double(emitter, address, bytes, size);
    else
        weft__emit_store_general(emitter, address, operand_of(emitter, store)->column, bytes, size);
}

void weft__emit_store(const weft__emitter *emitter, const weft__value *store, weft__ref bytes)
{
    const bool dense = emitter->survey->spacing[store->slot] == WEFT__SPACING_UNIT;
    if (dense || emitter->lanes == 1)
        store_dense(emitter, store, bytes, address_of(emitter, store, emitter->at), emitter->mask,
                    emitter->lanes);
    else if (emitter->mask != NULL)
        store_some(emitter, store, bytes);
    else
        store_apart(emitter, store, bytes);
}

static weft__ref interleaved(const weft__emitter *emitter, weft__ref x, weft__ref y)
{
    int order[2 * LANES_MOST];
    for (int k = 0; k < emitter->lanes; k++) {
        order[2 * k] = k;
        order[2 * k + 1] = emitter->lanes + k;
    }
    return weft__emit_shuffle(emitter, x, y, order, 2 * emitter->lanes);
}

void weft__emit_store_pair(const weft__emitter *emitter, const weft__value *store, weft__ref real,
                           weft__ref imaginary)
{
    weft__value first = *store;
    first.part = 0;
    int element[2 * LANES_MOST];
    for (int k = 0; k < 2 * emitter->lanes; k++)
        element[k] = k / 2;
    weft__ref mask =
        emitter->mask == NULL ? NULL : weft__emit_mask_of(emitter, element, 2 * emitter->lanes);
    store_dense(emitter, store, interleaved(emitter, real, imaginary),
                address_of(emitter, &first, emitter->at), mask, 2 * emitter->lanes);
}
