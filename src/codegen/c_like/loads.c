/* Positions, addresses, loads and stores. */
#include "codegen/c_like/write.h"
#include <inttypes.h>
#include <stdio.h>

void weft__write_divided(weft__writer *w, int axis, int begin)
{
    const char *type = w->dialect == WEFT__DIALECT_OPENCL_CPU ? "I" : "U";
    weft__text_add(&w->text,
                   "const I over%d = (I)((%s)rest%d/(%s)g.size[%d]);\n"
                   "const I i%d = rest%d - over%d*(I)g.size[%d];\nrest%d = over%d;\n",
                   axis, type, begin, type, axis, axis, begin, axis, axis, begin, axis);
}

void weft__write_positions(weft__writer *w, int begin, int end, const char *number)
{
    if (end - begin > 1)
        weft__text_add(&w->text, "I rest%d = %s;\n", begin, number);
    for (int k = end - 1; k > begin; k--)
        weft__write_divided(w, k, begin);
    if (end > begin && end - begin > 1)
        weft__text_add(&w->text, "const I i%d = rest%d;\n", begin, begin);
    else if (end > begin)
        weft__text_add(&w->text, "const I i%d = %s;\n", begin, number);
}

/* CUDA's pointers are where operands begin. */
void weft__write_first(weft__writer *w, uint32_t operand)
{
    if (w->dialect == WEFT__DIALECT_CUDA)
        weft__text_add(&w->text, "p%u", operand);
    else
        weft__text_add(&w->text, "p%u + g.offset[%u]", operand, operand);
}

void weft__write_address(weft__writer *w, uint32_t operand, const char *position)
{
    const bool shared = w->shape.summed; /* one sum for operands alike */
    weft__write_first(w, operand);
    for (int k = 0; k < w->shape.ndim; k++) {
        weft__text_add(&w->text, " + %s%s%d*", shared && k == 0 ? "(" : "", position, k);
        weft__write_stride(w, operand, k);
    }
    if (shared)
        weft__text_add(&w->text, ")");
}

/* What is a number of the text is known to the compiler, which then makes vectors of it. */
void weft__write_stride(weft__writer *w, uint32_t operand, int axis)
{
    const weft__lie lie = (weft__lie)w->shape.lie[operand];
    const int along = w->shape.lanes > 1 ? w->along : w->inner;
    const bool known = axis == along && operand < w->kernel->operands_count;
    const int bytes =
        known ? (int)weft_dtype_size((weft_dtype)w->kernel->operands[operand].dtype) : 0;
    if (known && (lie == WEFT__LIE_DENSE || lie == WEFT__LIE_SECOND))
        weft__text_add(&w->text, "%d", lie == WEFT__LIE_DENSE ? bytes : 2 * bytes);
    else if (known && lie == WEFT__LIE_REPEATED)
        weft__text_add(&w->text, "0");
    else {
        while (operand < w->kernel->operands_count && w->shape.alike[operand])
            operand--;
        weft__text_add(&w->text, "(I)g.stride[%u][%d]", operand, axis);
    }
}

void weft__write_point(weft__writer *w, uint32_t operand)
{
    if (w->in_block) {
        weft__text_add(&w->text, "q%u + (i64)e*", operand);
        weft__write_stride(w, operand, w->inner);
    } else if (w->marching) {
        weft__text_add(&w->text, "r%u + (i%d - first)*", operand, w->shape.ndim - 1);
        weft__write_stride(w, operand, w->shape.ndim - 1);
    } else {
        weft__write_address(w, operand, "i");
    }
}

/* Positions are of type I. Where that has 32 bits, sizes have at most 30, so a displacement of more
 * leaves any array; otherwise one that is larger than all arrays, but to which a position can be
 * added. */
static int64_t bounded(const weft__writer *w, int64_t offset)
{
    const int64_t far = INT64_C(1) << (w->shape.narrow ? 30 : 62);
    return offset > far ? far : offset < -far ? -far : offset;
}

/* Whether a load that leaves the array is one of the point itself, or of none. */
static bool stays(const weft__kernel_shift *shift)
{
    return shift->boundary == WEFT__BOUNDARY_UNSHIFTED ||
           shift->boundary == WEFT__BOUNDARY_CONSTANT;
}

void weft__write_offset(weft__writer *w, const weft__kernel_shift *shift, int axis)
{
    if (shift->boundary == WEFT__BOUNDARY_WRAP)
        weft__text_add(&w->text, "((i64)U64(0x%" PRIx64 ") %% g.size[%d])",
                       (uint64_t)shift->offset[axis], weft__axis_launched(w->kernel, axis));
    else
        weft__text_add(&w->text, "(i64)U64(0x%" PRIx64 ")",
                       (uint64_t)bounded(w, shift->offset[axis]));
}

/* j<k>, the position along an axis, or whether it is `inside`. */
static void write_position(weft__writer *w, const weft__kernel_shift *shift, int axis)
{
    const int k = weft__axis_launched(w->kernel, axis);
    weft__text_add(&w->text, "I j%d = i%d + (I)", k, k);
    weft__write_offset(w, shift, axis);
    weft__text_add(&w->text, ";\n");
    if (w->inside && k == w->inner)
        return;
    if (shift->boundary == WEFT__BOUNDARY_WRAP)
        weft__text_add(
            &w->text,
            "j%d += j%d < 0 ? (I)g.size[%d] : j%d < (I)g.size[%d] ? 0 : -(I)g.size[%d];\n", k, k, k,
            k, k, k);
    else if (shift->boundary == WEFT__BOUNDARY_CLAMP)
        weft__text_add(&w->text,
                       "j%d = j%d < 0 ? 0 : j%d < (I)g.size[%d] ? j%d : (I)g.size[%d] - 1;\n", k, k,
                       k, k, k, k);
    else if (stays(shift))
        weft__text_add(&w->text, "inside = inside && j%d >= 0 && j%d < (I)g.size[%d];\n", k, k, k);
}

/* The distance from the point: of axes that are displaced. */
static void write_distance(weft__writer *w, const weft__kernel_shift *shift, uint32_t operand)
{
    weft__text_add(&w->text, stays(shift) ? " + (inside ? (I)0" : " + ((I)0");
    for (int axis = 0; axis < w->kernel->ndim; axis++) {
        const int k = weft__axis_launched(w->kernel, axis);
        if (shift->offset[axis] == 0)
            continue;
        weft__text_add(&w->text, " + (j%d - i%d)*", k, k);
        weft__write_stride(w, operand, k);
    }
    weft__text_add(&w->text, stays(shift) ? " : (I)0)" : ")");
}

void weft__write_displaced(weft__writer *w, const weft__value *value, const char *name,
                           const char *to)
{
    const weft__kernel_shift *shift = &w->kernel->shifts[value->shift - 1];
    weft__text_add(&w->text, "bool inside = true;\n");
    for (int axis = 0; axis < w->kernel->ndim; axis++)
        if (shift->offset[axis] != 0)
            write_position(w, shift, axis);
    weft__text_add(&w->text, "%s = ", to);
    weft__write_point(w, value->slot);
    write_distance(w, shift, value->slot);
    weft__text_add(&w->text, ";\ninside%s = inside;\n", name);
}

static void write_displaced_load(weft__writer *w, uint32_t at)
{
    const weft__value *value = &w->kernel->values[at];
    const weft_dtype memory = (weft_dtype)w->kernel->operands[value->slot].dtype;
    const char *type = weft__text_of_memory(memory);
    char name[16];
    snprintf(name, sizeof name, "%u", at);
    weft__text_add(&w->text, "%s m%u; bool inside%u;\n{\nGLOBAL const u8 *from;\n", type, at, at);
    weft__write_displaced(w, value, name, "from");
    weft__text_add(&w->text, "m%u = *(GLOBAL const %s *)(from + %d);\n}\n", at, type,
                   value->part * weft__part_bytes(memory));
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
        write_displaced_load(w, at);
    } else {
        weft__text_add(&w->text, "const %s m%u = *(GLOBAL const %s *)(", type, at, type);
        weft__write_point(w, value->slot);
        weft__text_add(&w->text, " + %d);\n", value->part * weft__part_bytes(memory));
    }
    weft__write_loaded(w, at);
}

void weft__write_store(weft__writer *w, const weft__value *store)
{
    const weft_dtype memory = (weft_dtype)w->kernel->operands[store->slot].dtype;
    weft__text_add(&w->text, "*(GLOBAL %s *)(", weft__text_of_memory(memory));
    weft__write_address(w, store->slot, "i");
    weft__text_add(&w->text, " + %d) = ", store->part * weft__part_bytes(memory));
    weft__write_narrowed(w, store);
    weft__text_add(&w->text, ";\n");
}
