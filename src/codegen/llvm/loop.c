/* Loops: vectors go round as long as a point of theirs is in the loop, and points that have left it
 * keep what they carry. */
#include "codegen/llvm/flow.h"

static weft__ref *value_of(const weft__emitter *emitter, int vector, int32_t value)
{
    return &emitter->values[(size_t)vector * emitter->survey->kernel->values_count + (size_t)value];
}

static const weft__value *value_at(const weft__emitter *emitter, uint32_t k)
{
    return &emitter->survey->kernel->values[k];
}

/* Values of vector number k of a turn are looked at from here on. */
static void turn_to(weft__emitter *emitter, int k)
{
    emitter->value = value_of(emitter, k, 0);
    emitter->bytes = emitter->all_bytes + (emitter->value - emitter->values);
}

/* The argument as the value that needs it is made: one for all lanes, or one in each. */
static weft__ref argument_for(weft__emitter *emitter, bool uniform, int vector, int32_t k)
{
    const int lanes = emitter->lanes;
    turn_to(emitter, vector);
    emitter->lanes = uniform ? 1 : lanes;
    weft__ref argument = weft__emit_argument(emitter, k);
    emitter->lanes = lanes;
    return argument;
}

/* The points of a vector before the first loop: those that there are. */
static weft__ref all_points(const weft__emitter *emitter, int vector)
{
    weft__ref mask =
        emitter->some[vector].mask != NULL ? emitter->some[vector].mask : emitter->mask;
    return emitter->lanes > 1 && mask != NULL ? mask : weft__emit_number(emitter, 1, 1);
}

static void emit_carry(weft__emitter *emitter, uint32_t k, int unroll)
{
    const bool uniform = emitter->survey->uniform[k] != 0;
    for (int j = 0; j < unroll; j++)
        *value_of(emitter, j, (int32_t)k) =
            argument_for(emitter, uniform, j, value_at(emitter, k)->argument[0]);
}

/* From here on what is carried comes from two sides. */
static void emit_phis(weft__emitter *emitter, const weft__emitted_loop *loop, int unroll,
                      weft__block before)
{
    for (uint32_t k = loop->end; k-- > 0 && value_at(emitter, k)->op == WEFT__OP_next;)
        for (int j = 0; j < unroll; j++) {
            weft__ref *carry = value_of(emitter, j, value_at(emitter, k)->argument[0]);
            weft__ref phi = weft__flow_phi(emitter, weft__llvm.TypeOf(*carry));
            weft__flow_incoming(phi, *carry, before);
            *carry = phi;
        }
}

static void emit_loop(weft__emitter *emitter, uint32_t k, int unroll)
{
    weft__emitted_loop *loop = &emitter->loops[emitter->loops_open++];
    const weft__emitted_loop *around = emitter->loops_open > 1 ? loop - 1 : NULL;
    weft__block before = weft__flow_here(emitter);
    loop->end = weft__loop_end(emitter->survey->kernel, k);
    loop->uniform = emitter->survey->uniform[k] != 0;
    loop->head = weft__flow_block(emitter);
    loop->out = weft__flow_block(emitter);
    weft__flow_jump(emitter, loop->head);
    weft__flow_enter(emitter, loop->head);
    emit_phis(emitter, loop, unroll, before);
    for (int j = 0; j < unroll; j++) {
        weft__ref points = around ? around->active[j] : all_points(emitter, j);
        loop->first[j] = loop->active[j] = points;
        if (loop->uniform)
            continue;
        loop->first[j] = loop->active[j] = weft__flow_phi(emitter, weft__llvm.TypeOf(points));
        weft__flow_incoming(loop->first[j], points, before);
    }
}

/* i1: whether a lane of a vector of i1 is true. */
static weft__ref any_lane(const weft__emitter *emitter, weft__ref lanes)
{
    if (emitter->lanes == 1)
        return lanes;
    weft__type bits = weft__llvm.IntTypeInContext(emitter->context, (unsigned)emitter->lanes);
    return weft__flow_compare(emitter, WEFT__ICMP_NE,
                              weft__llvm.BuildBitCast(emitter->builder, lanes, bits, ""),
                              weft__llvm.ConstNull(bits));
}

static void emit_test(weft__emitter *emitter, uint32_t k, int unroll)
{
    weft__emitted_loop *loop = &emitter->loops[emitter->loops_open - 1];
    weft__block stay = weft__flow_block(emitter);
    weft__ref any = NULL;
    for (int j = 0; j < (loop->uniform ? 1 : unroll); j++) {
        weft__ref condition =
            argument_for(emitter, loop->uniform, j, value_at(emitter, k)->argument[0]);
        if (!loop->uniform)
            condition = loop->active[j] =
                weft__llvm.BuildAnd(emitter->builder, loop->active[j], condition, "");
        any = any ? weft__llvm.BuildOr(emitter->builder, any, condition, "") : condition;
    }
    weft__flow_branch(emitter, loop->uniform ? any : any_lane(emitter, any), stay, loop->out);
    weft__flow_enter(emitter, stay);
}

/* What is carried next; points that have left keep what they have. */
static void emit_next(weft__emitter *emitter, uint32_t k, int unroll)
{
    const weft__emitted_loop *loop = &emitter->loops[emitter->loops_open - 1];
    const weft__value *next = value_at(emitter, k);
    const bool uniform = emitter->survey->uniform[next->argument[0]] != 0;
    for (int j = 0; j < unroll; j++) {
        weft__ref value = argument_for(emitter, uniform, j, next->argument[1]);
        if (!loop->uniform)
            value = weft__emit_select(emitter, loop->active[j], value,
                                      *value_of(emitter, j, next->argument[0]));
        *value_of(emitter, j, (int32_t)k) = value;
    }
}

static void emit_end(weft__emitter *emitter, uint32_t k, int unroll)
{
    const weft__emitted_loop *loop = &emitter->loops[--emitter->loops_open];
    weft__block here = weft__flow_here(emitter);
    for (int j = 0; j < unroll; j++) {
        for (uint32_t n = k; n-- > 0 && value_at(emitter, n)->op == WEFT__OP_next;)
            weft__flow_incoming(*value_of(emitter, j, value_at(emitter, n)->argument[0]),
                                *value_of(emitter, j, (int32_t)n), here);
        if (!loop->uniform)
            weft__flow_incoming(loop->first[j], loop->active[j], here);
    }
    weft__flow_jump(emitter, loop->head);
    weft__flow_enter(emitter, loop->out);
}

void weft__emit_flow(weft__emitter *emitter, uint32_t k, int unroll)
{
    switch ((weft__op)value_at(emitter, k)->op) {
    case WEFT__OP_carry:
        emit_carry(emitter, k, unroll);
        break;
    case WEFT__OP_loop:
        emit_loop(emitter, k, unroll);
        break;
    case WEFT__OP_test:
        emit_test(emitter, k, unroll);
        break;
    case WEFT__OP_next:
        emit_next(emitter, k, unroll);
        break;
    default:
        emit_end(emitter, k, unroll);
        break;
    }
}

/* Bytes from the first element, of one lane or of each. */
static weft__ref bytes_to(const weft__emitter *emitter, const weft__value *gather, int size)
{
    const weft_dtype memory = (weft_dtype)emitter->survey->kernel->operands[gather->slot].dtype;
    const uint64_t element = (uint64_t)weft_dtype_size(memory);
    weft__ref bytes =
        weft__llvm.BuildMul(emitter->builder, weft__emit_argument(emitter, gather->argument[0]),
                            weft__emit_number(emitter, 64, element), "");
    if (gather->part == 0)
        return bytes;
    return weft__llvm.BuildAdd(emitter->builder, bytes,
                               weft__emit_number(emitter, 64, (uint64_t)1 << size), "");
}

weft__ref weft__emit_gather(const weft__emitter *emitter, const weft__value *gather)
{
    const weft_dtype memory = (weft_dtype)emitter->survey->kernel->operands[gather->slot].dtype;
    const int size = weft__memory_size(memory);
    weft__type type = weft__emit_integer(emitter, 8 << size);
    weft__ref address = weft__emit_address(emitter, emitter->operands[gather->slot].base,
                                           bytes_to(emitter, gather, size));
    weft__ref found;
    if (emitter->lanes == 1) {
        found = weft__llvm.BuildLoad2(emitter->builder, type, address, "");
        weft__llvm.SetAlignment(found, 1U << size);
    } else {
        weft__ref given[3] = {address, weft__emit_number(emitter, 1, 1),
                              weft__llvm.ConstNull(type)};
        found = weft__emit_masked(emitter, "llvm.masked.gather", given, 0, type, size);
    }
    return weft__emit_widen(emitter, memory, found);
}

/* What goes into memory: what a gather found as it is, or with one NaN. */
static weft__ref leaving(const weft__emitter *emitter, weft_dtype memory,
                         const weft__value *scatter)
{
    const weft__kernel *kernel = emitter->survey->kernel;
    const weft__value *source = &kernel->values[scatter->argument[1]];
    const bool copy =
        source->op == WEFT__OP_gather && (weft_dtype)kernel->operands[source->slot].dtype == memory;
    weft__ref value = weft__emit_argument(emitter, scatter->argument[1]);
    if (!copy && memory != WEFT_F16 && memory != WEFT_BF16)
        value = weft__emit_canonical(emitter, (weft_dtype)scatter->dtype, value);
    return weft__emit_narrow(emitter, memory, value);
}

/* A branch around it, unless it is always done. */
void weft__emit_scatter(const weft__emitter *emitter, const weft__value *scatter)
{
    const weft__kernel *kernel = emitter->survey->kernel;
    const weft_dtype memory = (weft_dtype)kernel->operands[scatter->slot].dtype;
    const weft__value *condition = &kernel->values[scatter->argument[2]];
    const bool always = condition->op == WEFT__OP_constant && condition->bits;
    const int size = weft__memory_size(memory);
    weft__block after = NULL;
    if (!always) {
        weft__block inside = weft__flow_block(emitter);
        after = weft__flow_block(emitter);
        weft__flow_branch(emitter, weft__emit_argument(emitter, scatter->argument[2]), inside,
                          after);
        weft__flow_enter(emitter, inside);
    }
    weft__ref value = leaving(emitter, memory, scatter);
    weft__ref address = weft__emit_address(emitter, emitter->operands[scatter->slot].base,
                                           bytes_to(emitter, scatter, size));
    weft__ref store = weft__llvm.BuildStore(emitter->builder, value, address);
    weft__llvm.SetAlignment(store, 1U << size);
    if (!always) {
        weft__flow_jump(emitter, after);
        weft__flow_enter(emitter, after);
    }
}
