/* Light kernels without folds on CPUs: they take as long as memory does. Each vector of results is
 * stored as soon as it is there, and what later ones load is asked for meanwhile. */
#include "codegen/c_like/write.h"

enum { AHEAD = 2048, AHEAD_DISPLACED = 4096 }; /* bytes: how far ahead */
enum { CACHED = 1 << 20 };                     /* bytes of an operand that is not worth it */
enum { FURTHEST = 16 };                        /* rows: displacements that are followed */
enum { LINE = WEFT__LINE };

static weft_dtype dtype_of(const weft__writer *w, uint32_t operand)
{
    return (weft_dtype)w->kernel->operands[operand].dtype;
}

static const char *memory_of(const weft__writer *w, uint32_t operand)
{
    return weft__text_of_memory(dtype_of(w, operand));
}

static bool is_second(const weft__writer *w, uint32_t operand)
{
    return w->shape.lie[operand] == WEFT__LIE_SECOND;
}

/* Bytes from an element to the next, of those that are read in order; 0 of others. */
static int step_of(const weft__writer *w, uint32_t operand)
{
    const int bytes = (int)weft_dtype_size(dtype_of(w, operand));
    if (!weft__is_loaded(w->kernel, operand))
        return 0;
    return w->shape.lie[operand] == WEFT__LIE_DENSE ? bytes : is_second(w, operand) ? 2 * bytes : 0;
}

bool weft__takes_vectors(const weft__writer *w)
{
    if (!weft__is_light(w->kernel) || w->kernel->shifts_count + w->kernel->loops_count > 0)
        return false;
    for (uint32_t k = 0; k < w->kernel->operands_count; k++) {
        const bool whole = w->shape.lie[k] == WEFT__LIE_DENSE && !weft__keeps_a_part(w->kernel, k);
        if (w->kernel->operands[k].output ? !whole : w->shape.lie[k] == WEFT__LIE_TURNED)
            return false;
        if (is_second(w, k) && weft__parts_of(dtype_of(w, k)) > 1)
            return false;
    }
    return true;
}

/* The displacement of the load that is the first to meet new memory: as far as it can be down the
 * outermost axis. NULL if none is displaced so. */
static const weft__kernel_shift *first_to_meet(const weft__writer *w, uint32_t operand)
{
    const weft__kernel_shift *found = NULL;
    int outermost = w->shape.ndim - 1;
    for (uint32_t k = 0; k < w->kernel->values_count; k++) {
        const weft__value *value = &w->kernel->values[k];
        if (value->op != WEFT__OP_load || value->slot != operand || !value->shift)
            continue;
        const weft__kernel_shift *shift = &w->kernel->shifts[value->shift - 1];
        for (int axis = 0; axis < w->kernel->ndim; axis++)
            if (shift->offset[axis] > 0 && shift->offset[axis] <= FURTHEST &&
                weft__axis_launched(w->kernel, axis) < outermost) {
                outermost = weft__axis_launched(w->kernel, axis);
                found = shift;
            }
    }
    return found;
}

void weft__write_ahead_flags(weft__writer *w)
{
    const int last = w->shape.ndim - 1;
    for (uint32_t k = 0; k < w->kernel->operands_count; k++) {
        if (step_of(w, k) == 0)
            continue;
        weft__text_add(&w->text, "const bool ahead%u = g.count > %d", k, CACHED / step_of(w, k));
        if (last > 0) /* the next row may be this one */
            weft__text_add(&w->text, " && g.stride[%u][%d] != 0", k, last - 1);
        weft__text_add(&w->text, ";\n");
    }
}

void weft__write_ahead(weft__writer *w)
{
    for (uint32_t k = 0; k < w->kernel->operands_count; k++) {
        const int step = step_of(w, k), bytes = weft__vector_of(w->kernel) * step;
        const weft__kernel_shift *shift = first_to_meet(w, k);
        if (step == 0)
            continue;
        weft__text_add(&w->text, "if (ahead%u) {\nGLOBAL const u8 *soon = q%u + (i64)v*%d + %d", k,
                       k, step, shift ? AHEAD_DISPLACED : AHEAD);
        for (int axis = 0; shift && axis < w->kernel->ndim; axis++)
            if (shift->offset[axis] > 0 && shift->offset[axis] <= FURTHEST)
                weft__text_add(&w->text, " + %d*g.stride[%u][%d]", (int)shift->offset[axis], k,
                               weft__axis_launched(w->kernel, axis));
        weft__text_add(&w->text, ";\n");
        for (int at = 0; at < bytes; at += LINE)
            weft__text_add(&w->text, "PREFETCH(soon + %d);\n", at);
        weft__text_add(&w->text, "}\n");
    }
}

/* x<operand>: a vector of every second element. Compilers would leave the last one of each loop to
 * be loaded by itself, since what lies after it may not be there. */
static void write_second(weft__writer *w, uint32_t operand)
{
    static const char *const names[] = {"uchar", "ushort", "uint", "ulong"};
    const int bytes = (int)weft_dtype_size(dtype_of(w, operand));
    const char *name = names[bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : 3];
    const int vector = weft__vector_of(w->kernel);
    weft__text_add(&w->text,
                   "LINED %s x%u[VECTOR];\n{\n"
                   "typedef %s%d __attribute__((aligned(%d))) loose;\n"
                   "const loose low = *(GLOBAL const loose *)(q%u + (i64)v*%d);\n"
                   "const loose high = *(GLOBAL const loose *)(q%u + (i64)v*%d + %d);\n",
                   memory_of(w, operand), operand, name, vector, bytes, operand, 2 * bytes, operand,
                   2 * bytes, vector * bytes);
    weft__text_add(&w->text, "*(%s%d *)x%u = (%s%d)(low.even, high.even);\n}\n", name, vector,
                   operand, name, vector);
}

/* Element k of the vector at v, which is element e. */
static void write_in_vector(weft__writer *w, uint32_t at)
{
    const weft__value *value = &w->kernel->values[at];
    if (value->op == WEFT__OP_load && is_second(w, value->slot)) {
        weft__text_add(&w->text, "const %s m%u = x%u[k];\n", memory_of(w, value->slot), at,
                       value->slot);
        weft__write_loaded(w, at);
    } else if (value->op == WEFT__OP_load) {
        weft__write_load(w, at);
    } else if (value->op == WEFT__OP_store) {
        weft__text_add(&w->text, "y%u[%d*k + %d] = ", value->slot,
                       weft__parts_of(dtype_of(w, value->slot)), value->part);
        weft__write_narrowed(w, value);
        weft__text_add(&w->text, ";\n");
    } else {
        weft__write_value(w, at);
    }
}

/* Element e, of memory directly. */
static void write_alone(weft__writer *w, uint32_t at)
{
    const weft__value *value = &w->kernel->values[at];
    if (value->op == WEFT__OP_load) {
        weft__write_load(w, at);
    } else if (value->op == WEFT__OP_store) {
        weft__text_add(&w->text, "((GLOBAL %s *)q%u)[%d*e + %d] = ", memory_of(w, value->slot),
                       value->slot, weft__parts_of(dtype_of(w, value->slot)), value->part);
        weft__write_narrowed(w, value);
        weft__text_add(&w->text, ";\n");
    } else {
        weft__write_value(w, at);
    }
}

static void write_vector_store(weft__writer *w, uint32_t operand)
{
    const int bytes = weft__vector_of(w->kernel) * (int)weft_dtype_size(dtype_of(w, operand));
    const int piece = bytes < LINE ? bytes : LINE, parts = weft__parts_of(dtype_of(w, operand));
    if (weft__is_streamed(w, operand)) {
        weft__text_add(&w->text, "if (lines%u) {\n", operand);
        for (int k = 0; k < bytes / piece; k++)
            weft__text_add(&w->text,
                           "STREAM(((const uint%d *)y%u)[%d], (GLOBAL uint%d *)(q%u + (i64)v*%d) + "
                           "%d);\n",
                           piece / 4, operand, k, piece / 4, operand,
                           (int)weft_dtype_size(dtype_of(w, operand)), k);
        weft__text_add(&w->text, "} else\n");
    }
    weft__text_add(&w->text,
                   "VECTORS for (int k = 0; k < %d*VECTOR; k++)\n"
                   "((GLOBAL %s *)q%u)[%d*v + k] = y%u[k];\n",
                   parts, memory_of(w, operand), operand, parts, operand);
}

static void write_vector(weft__writer *w)
{
    for (uint32_t k = 0; k < w->kernel->operands_count; k++) {
        if (w->kernel->operands[k].output)
            weft__text_add(&w->text, "LINED %s y%u[%d*VECTOR];\n", memory_of(w, k), k,
                           weft__parts_of(dtype_of(w, k)));
        else if (is_second(w, k) && weft__is_loaded(w->kernel, k))
            write_second(w, k);
    }
    weft__write_ahead(w);
    weft__text_add(&w->text,
                   "VECTORS for (int k = 0; k < VECTOR; k++) {\n"
                   "const int e = v + k;\nconst I i%d = first + e;\n",
                   w->shape.ndim - 1);
    weft__write_wanted(w, write_in_vector);
    weft__text_add(&w->text, "}\n");
    for (uint32_t k = 0; k < w->kernel->operands_count; k++)
        if (w->kernel->operands[k].output)
            write_vector_store(w, k);
}

/* Whole vectors, and the rest one by one: of every second element, what lies after the last may not
 * be there. */
void weft__write_vectors(weft__writer *w)
{
    bool second = false;
    for (uint32_t k = 0; k < w->kernel->operands_count; k++) {
        second |= is_second(w, k);
        if (w->kernel->operands[k].output && weft__is_streamed(w, k))
            weft__text_add(&w->text, "const bool lines%u = streams%u && ((size_t)q%u & %d) == 0;\n",
                           k, k, k, LINE - 1);
    }
    w->in_block = true;
    weft__text_add(&w->text,
                   "const int to = (n - %d)/VECTOR*VECTOR;\n"
                   "for (int v = 0; v < to; v += VECTOR) {\n",
                   second ? 1 : 0);
    write_vector(w);
    weft__text_add(&w->text, "}\nfor (int e = to; e < n; e++) {\nconst I i%d = first + e;\n",
                   w->shape.ndim - 1);
    weft__write_wanted(w, write_alone);
    weft__text_add(&w->text, "}\n");
    w->in_block = false;
}
