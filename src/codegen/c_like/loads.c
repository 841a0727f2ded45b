/* Positions, addresses and loads. */
#include "codegen/c_like/write.h"
#include <inttypes.h>

void weft__write_positions(weft__writer *w, int begin, int end, const char *number)
{
    if (end - begin > 1)
        weft__text_add(&w->text, "I rest%d = %s;\n", begin, number);
    for (int k = end - 1; k > begin; k--)
        weft__text_add(&w->text,
                       "const I i%d = rest%d %% (I)g.size[%d];\nrest%d /= (I)g.size[%d];\n", k,
                       begin, k, begin, k);
    if (end > begin && end - begin > 1)
        weft__text_add(&w->text, "const I i%d = rest%d;\n", begin, begin);
    else if (end > begin)
        weft__text_add(&w->text, "const I i%d = %s;\n", begin, number);
}

void weft__write_address(weft__writer *w, uint32_t operand, const char *position)
{
    weft__text_add(&w->text, "p%u + g.offset[%u]", operand, operand);
    for (int k = 0; k < w->shape.ndim; k++)
        weft__text_add(&w->text, " + %s%d*(I)g.stride[%u][%d]", position, k, operand, k);
}

/* A displacement of more than any array has elements, but not so much that adding to it wraps. */
static int64_t bounded(int64_t offset)
{
    const int64_t far = INT64_C(1) << 62;
    return offset > far ? far : offset < -far ? -far : offset;
}

/* j0, j1…: where a displaced load goes, and `inside`, whether that is in the array. */
static void write_displacement(weft__writer *w, const weft__kernel_shift *shift)
{
    weft__text_add(&w->text, "bool inside = true;\n");
    for (int axis = 0; axis < w->kernel->ndim; axis++) {
        const bool wraps = shift->boundary == WEFT__BOUNDARY_WRAP;
        const int64_t offset = wraps ? shift->offset[axis] : bounded(shift->offset[axis]);
        const int k = weft__axis_launched(w->kernel, axis);
        weft__text_add(&w->text, "i64 j%d = (i64)i%d + (i64)U64(0x%" PRIx64 ")", k, k,
                       (uint64_t)offset);
        if (wraps)
            weft__text_add(&w->text, " %% g.size[%d]", k);
        weft__text_add(&w->text, ";\n");
        if (offset == 0)
            continue;
        if (shift->boundary == WEFT__BOUNDARY_CLAMP)
            weft__text_add(&w->text,
                           "j%d = j%d < 0 ? 0 : j%d < g.size[%d] ? j%d : g.size[%d] - 1;\n", k, k,
                           k, k, k, k);
        else if (wraps)
            weft__text_add(&w->text, "j%d %%= g.size[%d]; j%d += j%d < 0 ? g.size[%d] : 0;\n", k, k,
                           k, k, k);
        else
            weft__text_add(&w->text, "inside = inside && j%d >= 0 && j%d < g.size[%d];\n", k, k, k);
    }
    for (int k = w->kernel->ndim; k < w->shape.ndim; k++) /* of a space of no dimension */
        weft__text_add(&w->text, "i64 j%d = i%d;\n", k, k);
    if (shift->boundary != WEFT__BOUNDARY_UNSHIFTED && shift->boundary != WEFT__BOUNDARY_CONSTANT)
        return;
    for (int k = 0; k < w->shape.ndim; k++)
        weft__text_add(&w->text, "j%d = inside ? j%d : i%d;\n", k, k, k);
}

static void write_displaced(weft__writer *w, uint32_t at, const weft__kernel_shift *shift)
{
    const weft__value *value = &w->kernel->values[at];
    const weft_dtype memory = (weft_dtype)w->kernel->operands[value->slot].dtype;
    const char *type = weft__text_of_memory(memory);
    weft__text_add(&w->text, "%s m%u; bool inside%u;\n{\n", type, at, at);
    write_displacement(w, shift);
    weft__text_add(&w->text, "m%u = *(GLOBAL const %s *)(p%u + g.offset[%u]", at, type, value->slot,
                   value->slot);
    for (int k = 0; k < w->shape.ndim; k++)
        weft__text_add(&w->text, " + j%d*g.stride[%d][%d]", k, value->slot, k);
    weft__text_add(&w->text, " + %d);\ninside%u = inside;\n}\n",
                   value->part * weft__part_bytes(memory), at);
}

void weft__write_loaded(weft__writer *w, uint32_t at)
{
    const weft__value *value = &w->kernel->values[at];
    const weft_dtype memory = (weft_dtype)w->kernel->operands[value->slot].dtype;
    weft__text_add(&w->text, "const %s v%u = ", weft__text_of_dtype(weft__value_dtype(memory)), at);
    if (weft__load_is_bounded(w->kernel, value))
        weft__text_add(&w->text, "!inside%u ? v%d : ", at, value->argument[0]);
    weft__write_widened(w, at, memory);
    weft__text_add(&w->text, ";\n");
}

void weft__write_load(weft__writer *w, uint32_t at)
{
    const weft__value *value = &w->kernel->values[at];
    const weft_dtype memory = (weft_dtype)w->kernel->operands[value->slot].dtype;
    const char *type = weft__text_of_memory(memory);
    if (value->shift) {
        write_displaced(w, at, &w->kernel->shifts[value->shift - 1]);
    } else {
        weft__text_add(&w->text, "const %s m%u = *(GLOBAL const %s *)(", type, at, type);
        weft__write_address(w, value->slot, "i");
        weft__text_add(&w->text, " + %d);\n", value->part * weft__part_bytes(memory));
    }
    weft__write_loaded(w, at);
}
