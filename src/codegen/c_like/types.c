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

void weft__write_narrowed(weft__writer *w, const weft__value *store)
{
    const weft_dtype memory = (weft_dtype)w->kernel->operands[store->slot].dtype;
    const int32_t v = store->argument[0];
    if (moves_bytes(w->kernel, store))
        weft__text_add(&w->text, "m%d", v);
    else if (memory == WEFT_F16 || memory == WEFT_BF16)
        weft__text_add(&w->text, "narrow_%s(v%d)", memory == WEFT_F16 ? "f16" : "bf16", v);
    else if (weft__value_dtype(memory) == WEFT_F32)
        weft__text_add(&w->text, "(v%d != v%d ? 0x7fc00000u : AS_u32(v%d))", v, v, v);
    else if (weft__value_dtype(memory) == WEFT_F64)
        weft__text_add(&w->text, "(v%d != v%d ? U64(0x7ff8000000000000) : AS_u64(v%d))", v, v, v);
    else
        weft__text_add(&w->text, "(%s)v%d", weft__text_of_memory(memory), v);
}
