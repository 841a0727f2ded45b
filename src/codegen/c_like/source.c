/* Text for a kernel: its class, its parameters, and what is written when. */
#include "codegen/c_like/write.h"
#include "core/allocate.h"
#include "core/status.h"
#include <stddef.h>
#include <string.h>

/* The furthest byte of an operand from its first element, in either direction. */
static bool fits_32_bits(const weft__kernel *kernel, const weft__launch *launch)
{
    enum { FAR = 1 << 30, FARTHEST = INT32_MAX - (1 << 16) };
    const weft__argument *arguments = weft__launch_arguments_of(launch);
    if (launch->count > FAR || launch->kept > FAR || launch->folded > FAR)
        return false;
    for (uint32_t k = 0; k < kernel->operands_count; k++) {
        int64_t reach = 64;
        for (int axis = 0; axis < launch->ndim; axis++) {
            const int64_t stride = arguments[k].stride[axis];
            if (stride > FAR || stride < -FAR || launch->size[axis] > FAR)
                return false;
            reach += (stride < 0 ? -stride : stride) * (launch->size[axis] - 1);
            if (reach > FARTHEST)
                return false;
        }
    }
    return true;
}

static weft__lie lie_of(const weft__kernel *kernel, const weft__launch *launch, int axis,
                        uint32_t operand)
{
    const int64_t stride = weft__launch_arguments_of(launch)[operand].stride[axis];
    const int64_t bytes = (int64_t)weft_dtype_size((weft_dtype)kernel->operands[operand].dtype);
    return stride == bytes ? WEFT__LIE_DENSE : stride == 0 ? WEFT__LIE_REPEATED : WEFT__LIE_ANY;
}

/* Whether every row of the operand begins at a multiple of this many bytes. Launches of the class
 * may have other addresses, so the text looks at them again. */
static bool is_aligned(const weft__launch *launch, int along, uint32_t operand, int64_t bytes)
{
    const weft__argument *argument = &weft__launch_arguments_of(launch)[operand];
    if ((uintptr_t)argument->data % (uintptr_t)bytes)
        return false;
    for (int axis = 0; axis < launch->ndim; axis++)
        if (axis != along && launch->size[axis] > 1 && argument->stride[axis] % bytes)
            return false;
    return true;
}

/* Whether every second element of an operand that is read can be had by loading all of them. */
static bool is_second(const weft__kernel *kernel, const weft__launch *launch, uint32_t operand)
{
    enum { VECTOR = 16 };
    const int last = launch->ndim - 1;
    const int64_t bytes = (int64_t)weft_dtype_size((weft_dtype)kernel->operands[operand].dtype);
    return weft__launch_arguments_of(launch)[operand].stride[last] == 2 * bytes &&
           is_aligned(launch, last, operand, VECTOR);
}

/* As many that the smallest elements fill 16 bytes, and the largest no more than 32. Operands that
 * are only read may lie anyhow, but what is written, or read at neighbours, is next to each other.
 */
static int lanes_of(const weft__kernel *kernel, const weft__launch *launch,
                    weft__c_like_shape *shape)
{
    int least = 16, most = 1, lanes;
    for (uint32_t k = 0; k < kernel->operands_count; k++) {
        const int bytes = (int)weft_dtype_size((weft_dtype)kernel->operands[k].dtype);
        const bool next = kernel->operands[k].output || kernel->shifts_count > 0 || shape->tiled;
        if (shape->lie[k] == WEFT__LIE_TURNED || (shape->lie[k] == WEFT__LIE_ANY && next))
            return 1;
        if (shape->lie[k] == WEFT__LIE_ANY && is_second(kernel, launch, k))
            shape->lie[k] = WEFT__LIE_SECOND;
        least = bytes < least ? bytes : least;
        most = bytes > most ? bytes : most;
    }
    lanes = 16 / least < 32 / most ? 16 / least : 32 / most;
    for (uint32_t k = 0; k < kernel->operands_count; k++) {
        const int64_t bytes =
            lanes * (int64_t)weft_dtype_size((weft_dtype)kernel->operands[k].dtype);
        if (shape->lie[k] == WEFT__LIE_DENSE &&
            !is_aligned(launch, launch->ndim - 1, k, bytes < 16 ? bytes : 16))
            return 1;
    }
    return lanes;
}

static int inner_axis(const weft__kernel *kernel, const weft__launch *launch)
{
    const bool along = kernel->folds_count == 0 || weft__kernel_has_lanes(kernel);
    return (along ? launch->ndim : launch->kept_ndim) - 1;
}

bool weft__is_orderless(const weft__kernel *kernel)
{
    for (uint32_t k = 0; k < kernel->values_count; k++) {
        const weft__value *value = &kernel->values[k];
        const bool real = value->dtype == WEFT_F32 || value->dtype == WEFT_F64;
        if (value->op == WEFT__OP_fold && (real || value->slot >= WEFT__OP_COUNT))
            return false;
    }
    return true;
}

int weft__largest_read(const weft__kernel *kernel)
{
    int most = 1;
    for (uint32_t k = 0; k < kernel->operands_count; k++) {
        const int bytes = (int)weft_dtype_size((weft_dtype)kernel->operands[k].dtype);
        most = !kernel->operands[k].output && bytes > most ? bytes : most;
    }
    return most;
}

/* As many that the largest elements fill 16 bytes. */
static int orderless_lanes(const weft__kernel *kernel)
{
    const int most = weft__largest_read(kernel);
    return most > 4 ? 4 : 16 / most;
}

/* Of folds on GPUs: four elements at once, or more if any order will do, where all that are read
 * lie so. They are in one row if there is only one, or if its length is a multiple. */
static int fold_lanes_of(const weft__kernel *kernel, const weft__launch *launch,
                         const weft__c_like_shape *shape)
{
    enum { LANES = 4, VECTOR = 16 };
    const bool orderless = weft__kernel_has_lanes(kernel) && weft__is_orderless(kernel);
    const int lanes = orderless ? orderless_lanes(kernel) : LANES;
    const int along = inner_axis(kernel, launch);
    const bool single = weft__kernel_has_lanes(kernel) && launch->ndim - launch->kept_ndim == 1;
    if (along < 0 || kernel->shifts_count > 0 || (!single && launch->size[along] % lanes))
        return 1;
    for (uint32_t k = 0; k < kernel->operands_count; k++) {
        const int64_t bytes =
            lanes * (int64_t)weft_dtype_size((weft_dtype)kernel->operands[k].dtype);
        if (kernel->operands[k].output)
            continue;
        if (shape->lie[k] == WEFT__LIE_ANY ||
            (shape->lie[k] == WEFT__LIE_DENSE &&
             !is_aligned(launch, along, k, bytes < VECTOR ? bytes : VECTOR)))
            return 1;
    }
    return lanes;
}

static bool have_same_strides(const weft__launch *launch, uint32_t a, uint32_t b)
{
    const weft__argument *arguments = weft__launch_arguments_of(launch);
    for (int axis = 0; axis < launch->ndim; axis++)
        if (arguments[a].stride[axis] != arguments[b].stride[axis])
            return false;
    return true;
}

/* Whether two operands that are read are one array, seen from rows a few apart. */
static bool are_rows_apart(const weft__kernel *kernel, const weft__launch *launch, uint32_t a,
                           uint32_t b)
{
    enum { ROWS = 8 };
    const weft__argument *x = &weft__launch_arguments_of(launch)[a];
    const weft__argument *y = &weft__launch_arguments_of(launch)[b];
    const int64_t row = x->stride[launch->ndim - 2], down = row < 0 ? -row : row;
    const uintptr_t from = (uintptr_t)x->data, to = (uintptr_t)y->data;
    const uintptr_t apart = from < to ? to - from : from - to;
    if (kernel->operands[a].output || kernel->operands[b].output ||
        kernel->operands[a].dtype != kernel->operands[b].dtype)
        return false;
    return have_same_strides(launch, a, b) && apart > (uintptr_t)down / 2 &&
           apart <= (uintptr_t)down * ROWS;
}

static bool has_rows_apart(const weft__kernel *kernel, const weft__launch *launch)
{
    enum { BEFORE = 8 };
    for (uint32_t k = 1; k < kernel->operands_count; k++)
        for (uint32_t j = k > BEFORE ? k - BEFORE : 0; j < k; j++)
            if (are_rows_apart(kernel, launch, j, k))
                return true;
    return false;
}

/* Neighbouring rows have elements in the same lines of memory: of an operand that is turned, or
 * that is read at neighbours. */
static bool is_tiled(const weft__kernel *kernel, const weft__launch *launch)
{
    const int last = launch->ndim - 1;
    if (last == 0)
        return false;
    for (uint32_t k = 0; k < kernel->operands_count; k++) {
        const int64_t *stride = weft__launch_arguments_of(launch)[k].stride;
        const int64_t along = stride[last] < 0 ? -stride[last] : stride[last];
        const int64_t down = stride[last - 1] < 0 ? -stride[last - 1] : stride[last - 1];
        if (down > 0 && down < along)
            return true;
    }
    return kernel->shifts_count > 0 || has_rows_apart(kernel, launch);
}

/* (On GPUs) 1 + the axis that operands that are read lie along other than the last, or 0: of the
 * first such operand; others may lie along another, and are then read as they are. */
static uint8_t turned_from(const weft__kernel *kernel, const weft__launch *launch,
                           weft__c_like_shape *shape)
{
    enum { LEAST = 16, LOCAL = 40000 };
    const int last = launch->ndim - 1;
    int turned = 0, bytes = 0;
    for (uint32_t k = 0; k < kernel->operands_count; k++) {
        for (int axis = last - 1; axis >= 0 && !turned; axis--)
            if (shape->lie[k] == WEFT__LIE_ANY && launch->size[axis] >= LEAST &&
                launch->size[last] >= LEAST && !kernel->operands[k].output &&
                lie_of(kernel, launch, axis, k) == WEFT__LIE_DENSE)
                turned = axis + 1;
        if (!turned || kernel->operands[k].output || shape->lie[k] != WEFT__LIE_ANY ||
            lie_of(kernel, launch, turned - 1, k) != WEFT__LIE_DENSE ||
            bytes + weft__turned_bytes((weft_dtype)kernel->operands[k].dtype) > LOCAL)
            continue;
        bytes += weft__turned_bytes((weft_dtype)kernel->operands[k].dtype);
        shape->lie[k] = WEFT__LIE_TURNED;
    }
    return (uint8_t)(bytes ? turned : 0);
}

/* Whether what lies along an axis of the square can be taken 16 bytes at once, or as many elements
 * of smaller ones; other operands only have one element for all along the last axis. What is
 * displaced, or keeps a part of what it had, goes element by element. */
static bool takes_turned_vectors(const weft__kernel *kernel, const weft__launch *launch,
                                 const weft__c_like_shape *shape)
{
    enum { VECTOR = 16 };
    int64_t largest = 1;
    for (uint32_t k = 0; k < kernel->operands_count; k++) {
        const int64_t bytes = (int64_t)weft_dtype_size((weft_dtype)kernel->operands[k].dtype);
        largest = bytes > largest ? bytes : largest;
    }
    for (uint32_t k = 0; k < kernel->operands_count; k++) {
        const int64_t bytes = (int64_t)weft_dtype_size((weft_dtype)kernel->operands[k].dtype);
        const bool turned = shape->lie[k] == WEFT__LIE_TURNED, output = kernel->operands[k].output;
        const int along = turned ? shape->turned - 1 : launch->ndim - 1;
        if (output && (shape->lie[k] != WEFT__LIE_DENSE || weft__keeps_a_part(kernel, k)))
            return false;
        if (shape->lie[k] != WEFT__LIE_REPEATED &&
            ((shape->lie[k] != WEFT__LIE_DENSE && !turned) ||
             !is_aligned(launch, along, k, bytes * VECTOR / largest)))
            return false;
    }
    return shape->turned && largest < VECTOR && kernel->shifts_count + kernel->scatters_count == 0;
}

static _Atomic int64_t shared_most = -1;

void weft__c_like_share(int64_t elements) { shared_most = elements; }

static _Atomic bool as_gpu;

void weft__c_like_as_gpu(bool always) { as_gpu = always; }
bool weft__c_like_is_as_gpu(void) { return as_gpu; }

bool weft__is_more(int64_t count, int64_t usual)
{
    return count > (shared_most < 0 ? usual : shared_most);
}

static bool is_large_enough(int64_t points)
{
    enum { SMALL = 1 << 14 };
    return weft__is_more(points, SMALL);
}

/* Outputs are written row by row, so they are never turned. */
static weft__lie lie_on_cpu(const weft__kernel *kernel, const weft__launch *launch,
                            uint32_t operand)
{
    const int64_t stride = weft__launch_arguments_of(launch)[operand].stride[launch->ndim - 1];
    if (stride == 2 * (int64_t)weft_dtype_size((weft_dtype)kernel->operands[operand].dtype))
        return WEFT__LIE_SECOND;
    const bool turned = launch->ndim > 1 && !kernel->operands[operand].output &&
                        lie_of(kernel, launch, launch->ndim - 2, operand) == WEFT__LIE_DENSE;
    return turned ? WEFT__LIE_TURNED : WEFT__LIE_ANY;
}

static void shape_for_cpu(const weft__kernel *kernel, const weft__launch *launch,
                          weft__c_like_shape *shape)
{
    const int inner = inner_axis(kernel, launch);
    const int64_t points = kernel->folds_count ? launch->kept * launch->folded : launch->count;
    shape->block = kernel->folds_count + kernel->scatters_count == 0 && is_large_enough(points);
    for (uint32_t k = 0; k < kernel->operands_count; k++) {
        shape->lie[k] = WEFT__LIE_ANY;
        if (inner >= 0 && is_large_enough(points))
            shape->lie[k] = (uint8_t)lie_of(kernel, launch, inner, k);
        if (shape->block && shape->lie[k] == WEFT__LIE_ANY)
            shape->lie[k] = (uint8_t)lie_on_cpu(kernel, launch, k);
    }
}

/* What computes much takes two vectors: one is loaded while the other is computed. */
static uint8_t repeat_of(const weft__kernel *kernel, const weft__launch *launch,
                         const weft__c_like_shape *shape)
{
    enum { HEAVY = 64 };
    for (uint32_t k = 0; k < kernel->operands_count; k++)
        if (kernel->operands[k].output && weft__keeps_a_part(kernel, k))
            return 1;
    return launch->ndim == 1 && shape->lanes > 1 && kernel->shifts_count == 0 &&
                   kernel->values_count > HEAVY
               ? 2
               : 1;
}

/* Where there is nothing to wait for, a division is dear. */
static bool is_even(const weft__kernel *kernel, const weft__launch *launch,
                    const weft__c_like_shape *shape)
{
    const int64_t row = launch->size[launch->ndim - 1];
    const int64_t items = (row + shape->lanes - 1) / shape->lanes;
    for (uint32_t k = 0; k < kernel->operands_count; k++)
        if (!kernel->operands[k].output)
            return false;
    return launch->ndim > 1 && shape->narrow && (items & (items - 1)) == 0;
}

/* Each text takes the device's compiler milliseconds, so launches share one where it makes little
 * difference: how operands lie is of use to maps that take several elements at once, and those are
 * not worth it for small arrays. */
void weft__c_like_shape_of(const weft__kernel *kernel, const weft__launch *launch,
                           weft__dialect dialect, weft__c_like_shape *shape)
{
    memset(shape, 0, sizeof *shape);
    shape->ndim = (uint8_t)launch->ndim;
    shape->stage = kernel->folds_count ? (uint8_t)launch->stage : 0;
    shape->wide = shape->stage == WEFT__STAGE_FINISH && launch->kept >= 32;
    shape->narrow = fits_32_bits(kernel, launch);
    shape->lanes = shape->repeat = 1;
    for (uint32_t k = 0; k < kernel->operands_count && inner_axis(kernel, launch) >= 0; k++)
        shape->lie[k] = (uint8_t)lie_of(kernel, launch, inner_axis(kernel, launch), k);
    if (dialect == WEFT__DIALECT_OPENCL_CPU) {
        shape_for_cpu(kernel, launch, shape);
        return;
    }
    const bool folds = kernel->folds_count && shape->stage != WEFT__STAGE_FINISH &&
                       is_large_enough(launch->kept * launch->folded);
    if (kernel->folds_count + kernel->loops_count == 0 && is_large_enough(launch->count)) {
        shape->tiled = is_tiled(kernel, launch);
        shape->turned = turned_from(kernel, launch, shape);
        shape->vector = takes_turned_vectors(kernel, launch, shape);
        shape->lanes = (uint8_t)lanes_of(kernel, launch, shape);
        shape->repeat = repeat_of(kernel, launch, shape);
        shape->even = is_even(kernel, launch, shape);
        if (shape->tiled && shape->lanes > 1)
            shape->march = (uint8_t)(weft__march_axis(kernel, launch) + 1);
    }
    if (kernel->folds_count && shape->stage != WEFT__STAGE_FINISH && weft__kernel_has_lanes(kernel))
        shape->warps = weft__fold_warps(kernel, launch);
    if (folds)
        shape->lanes = (uint8_t)fold_lanes_of(kernel, launch, shape);
    if (shape->warps && shape->lanes > 1 && shape->stage == WEFT__STAGE_CHUNKS)
        weft__share_loads(kernel, launch, shape);
    for (uint32_t k = 0; shape->lanes == 1 && k < kernel->operands_count; k++)
        if (shape->lie[k] != WEFT__LIE_TURNED &&
            !(shape->vector && shape->lie[k] == WEFT__LIE_DENSE))
            shape->lie[k] = WEFT__LIE_ANY;
    shape->summed = shape->lanes == 1 && (shape->tiled || folds);
    for (uint32_t k = 1; shape->summed && k < kernel->operands_count; k++)
        shape->alike[k] = have_same_strides(launch, k - 1, k);
}

uint32_t weft__c_like_class(const weft__kernel *kernel, const weft__launch *launch,
                            weft__dialect dialect, uint8_t *bytes, uint32_t room)
{
    weft__c_like_shape shape;
    weft__c_like_shape_of(kernel, launch, dialect, &shape);
    const uint8_t first[] = {(uint8_t)dialect, (uint8_t)launch->kept_ndim};
    const uint32_t written = offsetof(weft__c_like_shape, lie) + kernel->operands_count;
    const uint32_t alike = shape.summed ? kernel->operands_count : 0;
    if (sizeof first + written + alike <= room) {
        memcpy(bytes, first, sizeof first);
        memcpy(bytes + sizeof first, &shape, written);
        memcpy(bytes + sizeof first + written, shape.alike, alike);
    }
    return (uint32_t)(sizeof first + written + alike);
}

void weft__write_types(weft__writer *w)
{
    weft__text_add(&w->text, "typedef %s I;\ntypedef %s U;\n", w->shape.narrow ? "i32" : "i64",
                   w->shape.narrow ? "u32" : "u64");
    weft__text_add(
        &w->text,
        "typedef struct { i64 count, kept, folded, chunks, groups; i64 size[%d]; i64 offset[%u];"
        " i64 stride[%u][%d];",
        w->shape.ndim, w->arguments_count, w->arguments_count, w->shape.ndim);
    if (w->kernel->scalars_count)
        weft__text_add(&w->text, " u64 scalar[%u];", w->kernel->scalars_count);
    weft__text_add(&w->text, " } arguments;\n#define PARAMETERS");
    for (uint32_t k = 0; k < w->arguments_count; k++)
        weft__text_add(&w->text, " GLOBAL u8 *p%u,", k);
    weft__text_add(&w->text, " %s\n#define ARGUMENTS",
                   w->pointed ? "GLOBAL const arguments *numbers" : "const arguments g");
    for (uint32_t k = 0; k < w->arguments_count; k++)
        weft__text_add(&w->text, " p%u,", k);
    weft__text_add(&w->text, w->pointed ? " numbers\n#define g (*numbers)\n" : " g\n");
}

void weft__write_kernel(weft__writer *w, uint32_t group)
{
    const int groups = w->shape.march ? 5 : w->at_once;
    if (w->dialect == WEFT__DIALECT_CUDA && groups > 0)
        weft__text_add(&w->text, "KERNEL_AT_ONCE(%u, %d)", group, groups);
    else
        weft__text_add(&w->text, "KERNEL(%u)", group);
    weft__text_add(&w->text, " weft_kernel(PARAMETERS)\n{\n");
    if (w->dialect == WEFT__DIALECT_OPENCL_CPU)
        weft__text_add(&w->text, "if (g.count < 0)\nreturn;\n");
}

/* OpenCL promises 1024 bytes of parameters, CUDA four times that. */
static bool is_large(const weft__writer *w)
{
    const size_t promised = w->dialect == WEFT__DIALECT_CUDA ? 4096 : 1024;
    return w->arguments_count * sizeof(void *) + weft__kernel_text_bytes(w->arguments_count,
                                                                         w->shape.ndim,
                                                                         w->kernel->scalars_count) >
           promised;
}

/* Everything that a store depends on. */
static void mark_stores(const weft__kernel *kernel, uint8_t *wanted)
{
    for (uint32_t k = kernel->values_count; k-- > 0;) {
        const weft__value *value = &kernel->values[k];
        wanted[k] |= value->op == WEFT__OP_store || value->op == WEFT__OP_scatter ||
                     weft__value_is_flow(value);
        for (int j = 0; wanted[k] && j < weft__value_arguments(kernel, value); j++)
            wanted[value->argument[j]] = 1;
    }
}

static bool is_widened(const weft__kernel *kernel, uint32_t at)
{
    const weft__value *value = &kernel->values[at];
    return value->op == WEFT__OP_cast && value->dtype == WEFT_F64 &&
           kernel->values[value->argument[0]].dtype == WEFT_F32;
}

static void mark_compared(weft__writer *w)
{
    for (uint32_t k = 0; k < w->kernel->values_count; k++) {
        const weft__value *value = &w->kernel->values[k];
        const bool compares = (value->op >= WEFT__OP_eq && value->op <= WEFT__OP_le) ||
                              value->op == WEFT__OP_min || value->op == WEFT__OP_max;
        for (int j = 0; compares && j < 2; j++) {
            w->compared[value->argument[j]] = 1;
            w->widens |= is_widened(w->kernel, (uint32_t)value->argument[j]);
        }
    }
}

weft_status weft__c_like_write(const weft__kernel *kernel, const weft__launch *sample,
                               weft__dialect dialect, weft__kernel_text *source)
{
    weft__writer w = {.kernel = kernel,
                      .dialect = dialect,
                      .kept_ndim = sample->kept_ndim,
                      .arguments_count = sample->arguments_count};
    memset(source, 0, sizeof *source);
    const size_t values = kernel->values_count;
    w.room = weft__allocate_zeroed(values * (3 * sizeof *w.room + 3) + 1);
    if (!w.room)
        return WEFT_ERROR_MEMORY;
    w.wanted = (uint8_t *)(w.room + 3 * values);
    w.skips.skip = w.wanted + values;
    w.compared = w.wanted + 2 * values;
    mark_compared(&w);
    weft__c_like_shape_of(kernel, sample, dialect, &w.shape);
    w.inner = dialect == WEFT__DIALECT_OPENCL_CPU ? inner_axis(kernel, sample) : -1;
    w.along = inner_axis(kernel, sample);
    w.pointed = is_large(&w);
    weft__write_prelude(&w);
    if (kernel->folds_count) {
        weft__write_fold(&w, source);
    } else {
        mark_stores(kernel, w.wanted);
        (w.shape.block    ? weft__write_blocks
         : w.shape.turned ? weft__write_turned
                          : weft__write_map)(&w, source);
    }
    weft__free(w.room);
    source->pointed = w.pointed;
    source->idles = w.dialect == WEFT__DIALECT_OPENCL_CPU;
    return weft__text_take(&w.text, &source->text);
}
