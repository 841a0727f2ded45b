/* Random arrays: the functions, and the launches that fill them. */
#include "ops/random.h"
#include "kernel/run.h"
#include <string.h>

enum { SCALARS = WEFT__RANDOM_SCALARS + WEFT__RANDOM_PARAMETERS_MAX + WEFT_NDIM_MAX };

/* One call: its scalars, and where it runs. */
typedef struct call {
    const weft__drawing *drawing;
    weft_stream *stream;
    uint64_t scalars[SCALARS];
    int scalars_count; /* that all kernels of the call have */
} call;

static weft_status run(call *c, weft__builder *b, const weft_shape *space,
                       weft_array *const *arrays)
{
    b->kernel.ndim = space->ndim;
    weft_status status = weft__build_finish(b);
    if (status == WEFT_OK)
        status = weft__kernel_run_apart(&b->kernel, c->stream, space, arrays, c->scalars);
    weft__build_free(b);
    return status;
}

/* Elements of any layout, from draw `first` on. */
static weft_status draw_elements(call *c, weft_array *array, uint64_t first)
{
    weft__builder b;
    c->scalars[c->scalars_count] = first;
    for (int k = 1; k < array->shape.ndim; k++)
        c->scalars[c->scalars_count + k] = (uint64_t)array->shape.size[k];
    weft__build_begin(&b);
    weft__random_elements(&b, c->drawing->distribution, (weft_dtype)array->dtype,
                          array->shape.ndim);
    return run(c, &b, &array->shape, &array);
}

/* Whole runs of an array of draws, `groups` of one run in each plane. */
static weft_status draw_runs(call *c, const weft_array *draws, int64_t groups, uint64_t first)
{
    weft__builder b;
    const weft_dtype dtype = (weft_dtype)draws->dtype;
    const int planes = weft__random_planes(c->drawing->distribution, dtype);
    const int64_t item = draws->stride[0], run_bytes = WEFT__RANDOM_RUN * item;
    const weft_shape space = {2, {groups, WEFT__RANDOM_RUN}};
    weft_array views[WEFT__RANDOM_PLANES_MAX], *arrays[WEFT__RANDOM_PLANES_MAX];
    for (int k = 0; k < planes; k++) {
        views[k] = (weft_array){.dtype = draws->dtype,
                                .shape = space,
                                .stride = {planes * run_bytes, item},
                                .data = draws->data + k * run_bytes,
                                .buffer = draws->buffer};
        arrays[k] = &views[k];
    }
    c->scalars[c->scalars_count] = first / (uint64_t)planes;
    weft__build_begin(&b);
    weft__random_runs(&b, c->drawing->distribution, dtype);
    return run(c, &b, &space, arrays);
}

/* Draws that lie one after the other: whole runs first. */
static weft_status draw_dense(call *c, weft_array *draws, uint64_t first)
{
    const int planes = weft__random_planes(c->drawing->distribution, (weft_dtype)draws->dtype);
    const int64_t group = (int64_t)planes * WEFT__RANDOM_RUN;
    const int64_t groups = first % (uint64_t)group ? 0 : draws->shape.size[0] / group;
    if (groups > 0)
        TRY(draw_runs(c, draws, groups, first));
    draws->data += groups * group * draws->stride[0];
    draws->shape.size[0] -= groups * group;
    return draw_elements(c, draws, first + (uint64_t)(groups * group));
}

static weft_dtype part_of(weft_dtype dtype)
{
    return dtype == WEFT_C64 ? WEFT_F32 : dtype == WEFT_C128 ? WEFT_F64 : dtype;
}

weft_status weft__draw(weft_array *array, const weft__drawing *drawing, weft_random *random)
{
    static const char *const names[] = {"result"};
    const weft_dtype dtype = (weft_dtype)array->dtype, part = part_of(dtype);
    const int parts = part == dtype ? 1 : 2;
    const int64_t count = weft__array_count(array), item = (int64_t)weft_dtype_size(part);
    call c = {.drawing = drawing,
              .scalars_count = WEFT__RANDOM_SCALARS + drawing->parameters_count};
    TRY(weft__place(&array, names, 1, &c.stream));
    weft__random_scalars(random->seed, random->call++, c.scalars);
    memcpy(c.scalars + WEFT__RANDOM_SCALARS, drawing->parameters,
           (size_t)drawing->parameters_count * sizeof *c.scalars);
    const uint64_t first = random->offset * (uint64_t)parts;
    if (!weft__array_contiguous(array))
        return draw_elements(&c, array, first);
    weft_array draws = {.references = 1,
                        .dtype = (uint8_t)part,
                        .shape = {1, {count * parts}},
                        .stride = {item},
                        .data = array->data,
                        .buffer = array->buffer};
    return draw_dense(&c, &draws, first);
}

static weft_status set_parameters(weft__drawing *drawing, const weft_operand given[2])
{
    const double first = given[0].value.f, second = given[1].value.f; /* unless of integers */
    if (drawing->distribution == WEFT__INTEGERS)
        return weft__drawing_integers(drawing, &given[0], &given[1]);
    return drawing->distribution == WEFT__UNIFORM ? weft__drawing_uniform(drawing, first, second)
                                                  : weft__drawing_normal(drawing, first, second);
}

static weft_array *drawn(weft__distribution distribution, weft_dtype dtype,
                         const weft_operand parameters[2], const weft_shape *shape,
                         const weft_options *given, weft_array *like)
{
    const weft_options options = weft__options_of(given);
    weft_random *random = options.random ? options.random : weft__random_own();
    weft__drawing drawing = {.distribution = distribution,
                             .dtype = options.dtype ? options.dtype : dtype};
    TRY_NULL(set_parameters(&drawing, parameters));
    if (!options.random)
        TRY_NULL(weft__random_usable());
    weft_array *array = weft__array_new(shape, drawing.dtype, &options, like, NULL);
    if (!array)
        return NULL;
    if (weft__draw(array, &drawing, random) == WEFT_OK)
        return array;
    weft_array_release(array);
    return NULL;
}

static weft_array *drawn_like(weft_array *array, weft__distribution distribution,
                              const weft_operand parameters[2], const weft_options *given)
{
    weft_options options = weft__options_of(given);
    TRY_NULL(weft__array_check(array, "array"));
    weft__place_like(&options, array);
    return drawn(distribution, (weft_dtype)array->dtype, parameters, &array->shape, &options,
                 array);
}

/* Two numbers, as operands. */
#define PARAMETERS(a, b) ((const weft_operand[]){WEFT_OPERAND(a), WEFT_OPERAND(b)})

weft_array *weft_random_uniform_with(double low, double high, weft_shape shape,
                                     const weft_options *given)
{
    OPERATION("weft_random_uniform");
    return drawn(WEFT__UNIFORM, WEFT_F32, PARAMETERS(low, high), &shape, given, NULL);
}

weft_array *weft_random_uniform_like_with(weft_array *array, double low, double high,
                                          const weft_options *given)
{
    OPERATION("weft_random_uniform_like");
    return drawn_like(array, WEFT__UNIFORM, PARAMETERS(low, high), given);
}

weft_array *weft_random_normal_with(double mean, double deviation, weft_shape shape,
                                    const weft_options *given)
{
    OPERATION("weft_random_normal");
    return drawn(WEFT__NORMAL, WEFT_F32, PARAMETERS(mean, deviation), &shape, given, NULL);
}

weft_array *weft_random_normal_like_with(weft_array *array, double mean, double deviation,
                                         const weft_options *given)
{
    OPERATION("weft_random_normal_like");
    return drawn_like(array, WEFT__NORMAL, PARAMETERS(mean, deviation), given);
}

weft_array *weft_random_integers_with(weft_operand low, weft_operand high, weft_shape shape,
                                      const weft_options *given)
{
    OPERATION("weft_random_integers");
    return drawn(WEFT__INTEGERS, WEFT_I64, (weft_operand[]){low, high}, &shape, given, NULL);
}

weft_array *weft_random_integers_like_with(weft_array *array, weft_operand low, weft_operand high,
                                           const weft_options *given)
{
    OPERATION("weft_random_integers_like");
    return drawn_like(array, WEFT__INTEGERS, (weft_operand[]){low, high}, given);
}
