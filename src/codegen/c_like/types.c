/* Types in the text, and what happens between memory and values. */
#include "codegen/c_like/write.h"

const char *weft__text_of_dtype(weft_dtype dtype)
{
    static const char *const names[] = {
        [WEFT_BOOL] = "bool", [WEFT_I8] = "i8",   [WEFT_I16] = "i16", [WEFT_I32] = "i32",
        [WEFT_I64] = "i64",   [WEFT_U8] = "u8",   [WEFT_U16] = "u16", [WEFT_U32] = "u32",
        [WEFT_U64] = "u64",   [WEFT_F32] = "f32", [WEFT_F64] = "f64"};
    return names[dtype];
}

int weft__parts_of(weft_dtype dtype) { return dtype == WEFT_C64 || dtype == WEFT_C128 ? 2 : 1; }

int weft__part_bytes(weft_dtype dtype)
{
    return (int)weft_dtype_size(dtype) / weft__parts_of(dtype);
}

const char *weft__text_of_memory(weft_dtype dtype)
{
    static const char *const names[] = {[1] = "u8", [2] = "u16", [4] = "u32", [8] = "u64"};
    return names[weft__part_bytes(dtype)];
}

void weft__write_widened(weft__writer *w, uint32_t at, weft_dtype memory)
{
    const weft_dtype dtype = weft__value_dtype(memory);
    if (memory == WEFT_BOOL)
        weft__text_add(&w->text, "m%u != 0", at);
    else if (memory == WEFT_F16 || memory == WEFT_BF16)
        weft__text_add(&w->text, "widen_%s(m%u)", memory == WEFT_F16 ? "f16" : "bf16", at);
    else if (dtype == WEFT_F32 || dtype == WEFT_F64)
        weft__text_add(&w->text, "AS_%s(m%u)", weft__text_of_dtype(dtype), at);
    else
        weft__text_add(&w->text, "(%s)m%u", weft__text_of_dtype(dtype), at);
}

/* A store of what was loaded from the same dtype moves the bytes. */
static bool moves_bytes(const weft__kernel *kernel, const weft__value *store)
{
    const weft__value *source = &kernel->values[store->argument[0]];
    return source->op == WEFT__OP_load && !weft__load_is_bounded(kernel, source) &&
           kernel->operands[source->slot].dtype == kernel->operands[store->slot].dtype;
}

/* Whether a comparison that is true says that the value is no NaN. */
static bool is_ordered(const weft__value *comparison, int32_t v)
{
    return (comparison->op == WEFT__OP_lt || comparison->op == WEFT__OP_le) &&
           (comparison->argument[0] == v || comparison->argument[1] == v);
}

bool weft__is_chosen(const weft__kernel *kernel, uint32_t at)
{
    for (uint32_t k = at; k < kernel->values_count; k++)
        if (kernel->values[k].op == WEFT__OP_select && kernel->values[k].argument[2] == (int32_t)at)
            return true;
    return false;
}

/* Whether a float is surely the canonical NaN if it is one: a scalar that is written so, a number
 * that was compared, or one whose bits say nothing of NaN, so that it is none. */
static bool is_canonical(const weft__writer *w, int32_t v)
{
    const weft__value *value = &w->kernel->values[v];
    if (w->dialect == WEFT__DIALECT_OPENCL_CPU || w->kernel->loops_count > 0)
        return false;
    if (value->op == WEFT__OP_scalar)
        return weft__is_chosen(w->kernel, (uint32_t)v);
    if (value->op == WEFT__OP_bitcast) {
        const weft__value *bits = &w->kernel->values[value->argument[0]];
        return bits->op == WEFT__OP_bitcast && bits->part == 1;
    }
    return value->op == WEFT__OP_select &&
           is_ordered(&w->kernel->values[value->argument[0]], value->argument[1]) &&
           is_canonical(w, value->argument[2]);
}

void weft__write_narrowed(weft__writer *w, const weft__value *store)
{
    const weft_dtype memory = (weft_dtype)w->kernel->operands[store->slot].dtype;
    const int32_t v = store->argument[0];
    if (moves_bytes(w->kernel, store))
        weft__text_add(&w->text, "m%d", v);
    else if (memory == WEFT_F16 || memory == WEFT_BF16)
        weft__text_add(&w->text, "narrow_%s(v%d)", memory == WEFT_F16 ? "f16" : "bf16", v);
    else if ((weft__value_dtype(memory) == WEFT_F32 || weft__value_dtype(memory) == WEFT_F64) &&
             is_canonical(w, v))
        weft__text_add(&w->text, "AS_%s(v%d)", weft__text_of_memory(memory), v);
    else if (weft__value_dtype(memory) == WEFT_F32)
        weft__text_add(&w->text, "(v%d != v%d ? 0x7fc00000u : AS_u32(v%d))", v, v, v);
    else if (weft__value_dtype(memory) == WEFT_F64)
        weft__text_add(&w->text, "(v%d != v%d ? U64(0x7ff8000000000000) : AS_u64(v%d))", v, v, v);
    else
        weft__text_add(&w->text, "(%s)v%d", weft__text_of_memory(memory), v);
}
