/* Running kernels on arrays: hazards, canonical form, submission. */
#include "kernel/run.h"
#include "codegen/c_like.h"
#include "core/allocate.h"
#include "core/device.h"
#include "core/warning.h"
#include "kernel/bring.h"
#include "kernel/move.h"
#include "kernel/version.h"
#include "trace/trace.h"
#include <string.h>

enum { PREPARED_INLINE = 2048 };

/* Whether element k of one is element k of the other, for all k. */
static bool same_map(const weft_array *a, const weft_array *b)
{
    if (a->data != b->data || a->dtype != b->dtype || !weft__shape_same(&a->shape, &b->shape))
        return false;
    for (int k = 0; k < a->shape.ndim; k++)
        if (a->shape.size[k] > 1 && a->stride[k] != b->stride[k])
            return false;
    return true;
}

/* Whether the output may be written before some input has been read, or after a later output. */
static bool has_hazard(const weft__prepared *prepared, weft_array *const *arrays, uint32_t output)
{
    const weft__prepared_operand *operands = prepared->operands, *written = &operands[output];
    const char *data = arrays[output]->data;
    for (uint32_t i = 0; i < prepared->operands_count; i++) {
        if ((operands[i].output && i >= output) ||
            arrays[i]->data + operands[i].low >= data + written->high ||
            data + written->low >= arrays[i]->data + operands[i].high)
            continue;
        bool same = arrays[i] == arrays[output] || same_map(arrays[i], arrays[output]);
        if (!same || operands[i].displaced)
            return true;
    }
    return false;
}

/* A run of a kernel on a stream. */
typedef struct running {
    const weft__kernel *kernel;
    weft_stream *stream;
    weft__prepared *prepared;
    bool reserves; /* all but the launches */
    bool same;     /* with the arrays of the last time */
} running;

/* Bytes of the elements that this stage reads and writes, those of each operand once. */
__attribute__((cold)) static uint64_t traced_bytes(const running *r)
{
    const weft__launch *launch = r->prepared->launch;
    const weft__argument *arguments = weft__launch_arguments_of(launch);
    uint64_t all = 0;
    for (uint32_t i = 0; i < r->kernel->operands_count; i++) {
        const bool output = r->kernel->operands[i].output;
        uint64_t bytes = weft_dtype_size((weft_dtype)r->kernel->operands[i].dtype);
        for (int k = 0; k < (output ? launch->kept_ndim : launch->ndim); k++)
            bytes *= arguments[i].stride[k] ? (uint64_t)launch->size[k] : 1;
        if (launch->stage != (output ? WEFT__STAGE_CHUNKS : WEFT__STAGE_FINISH))
            all += bytes;
    }
    if (launch->stage != WEFT__STAGE_WHOLE)
        all += r->prepared->groups_bytes;
    return all;
}

/* The next time it may be queued without all this. */
static void keep_again(const running *r, const weft__compiled *compiled, weft__work *work)
{
    weft__prepared *prepared = r->prepared;
    if (compiled->generation == 0 || weft__thread_state->recorder || weft__warnings_are_on())
        return;
    work->again = &prepared->again;
    work->generation = compiled->generation;
    prepared->timeline = r->stream->timeline;
    prepared->streams_moved = weft__thread_state->streams_moved;
}

static weft_status submit(const running *r, const weft__compiled *compiled, uint32_t uses_count)
{
    weft_stream *stream = r->stream;
    weft__work work = {.kind = WEFT__WORK_LAUNCH,
                       .source = weft__trace_source,
                       .operation = weft__operation(),
                       .uses = r->prepared->uses,
                       .uses_count = uses_count,
                       .of.launch = {compiled->module, r->prepared->launch, compiled->entry, 0}};
    if (weft__tracing())
        work.of.launch.bytes = traced_bytes(r);
    else if (r->same && stream->async && !r->kernel->folds_count)
        keep_again(r, compiled, &work);
    TRY(weft__submit(stream, &work));
    if (weft__thread_state->recorder)
        return WEFT_OK;
    if (stream->device.kind == WEFT_DEVICE_CPU)
        weft__count_own(&weft__thread_state->launches, 1);
    else
        COUNT(weft__device_get(stream->device)->statistics.launches, 1);
    return WEFT_OK;
}

/* Queues the launch as it is now, with the first of the uses. */
static weft_status compile_and_submit(const running *r, bool end, uint32_t uses_count)
{
    weft__launch *launch = r->prepared->launch;
    weft__compiled *compiled = &r->prepared->compiled[end];
    weft_status status = WEFT_OK;
    if (!compiled->generation || !weft__cache_reenter(compiled))
        status = weft__cache_enter(r->kernel, r->stream->device, launch, compiled);
    if (status != WEFT_OK) {
        compiled->generation = 0;
        return status;
    }
    launch->grain = compiled->grain;
    if (!r->reserves)
        status = submit(r, compiled, uses_count);
    weft__cache_leave();
    return status;
}

static weft__use use_of(const weft_array *array, bool write)
{
    return (weft__use){array->buffer, atomic_load(&array->buffer->generation), write,
                       weft_array_bytes(array) == array->buffer->elements};
}

static uint32_t cost_of(const weft__kernel *kernel)
{
    uint32_t cost = 0;
    for (uint32_t i = 0; i < kernel->operands_count; i++)
        cost += (uint32_t)weft_dtype_size((weft_dtype)kernel->operands[i].dtype);
    return cost;
}

static void begin_stage(weft__launch *launch, weft__stage stage, int64_t count, int64_t bytes)
{
    launch->stage = (int32_t)stage;
    launch->count = count;
    launch->cost = bytes > UINT32_MAX ? UINT32_MAX : (uint32_t)bytes;
}

/* A new buffer for the results of all groups. */
static weft_array *new_groups(const running *r)
{
    const weft__kernel *kernel = r->kernel;
    const weft__launch *launch = r->prepared->launch;
    weft_options options = {.struct_size = sizeof options, .device = r->stream->device};
    weft_shape shape = {1, {0}};
    for (uint32_t i = 0; i < kernel->values_count; i++)
        if (kernel->values[i].op == WEFT__OP_fold)
            shape.size[0] +=
                weft__fold_bytes((int64_t)weft_dtype_size((weft_dtype)kernel->values[i].dtype),
                                 launch->groups * launch->kept);
    return weft__array_new(&shape, WEFT_U8, &options, NULL, NULL);
}

/* Bytes that are moved for so many elements. */
static int64_t bytes_of(const running *r, int64_t elements)
{
    int64_t bytes;
    return __builtin_mul_overflow((int64_t)cost_of(r->kernel), elements, &bytes) ? INT64_MAX
                                                                                 : bytes;
}

static weft_status run_two_stages(const running *r)
{
    weft__launch *launch = r->prepared->launch;
    weft__use output, *uses = r->prepared->uses;
    uint32_t inputs = r->prepared->inputs_count, all = r->kernel->operands_count;
    weft_array *groups = r->prepared->groups ? r->prepared->groups : new_groups(r);
    r->prepared->groups = r->reserves ? groups : NULL;
    if (!groups)
        return weft_error_code();
    r->prepared->groups_bytes = weft_array_bytes(groups);
    weft__launch_arguments(launch)[all].data = groups->data;
    begin_stage(launch, WEFT__STAGE_CHUNKS, launch->groups * launch->kept,
                bytes_of(r, (launch->folded + launch->groups - 1) / launch->groups));
    output = uses[inputs];
    uses[inputs] = use_of(groups, true);
    weft_status status = compile_and_submit(r, false, inputs + 1);
    uses[inputs] = output;
    uses[all] = use_of(groups, false);
    uses[all + 1] = use_of(groups, true);
    begin_stage(launch, WEFT__STAGE_FINISH, launch->kept, 8 * launch->groups);
    if (status == WEFT_OK)
        status = compile_and_submit(r, true, all + 2);
    if (!r->reserves)
        weft_array_release(groups);
    return status;
}

/* As many groups as chunks, or as GPUs make of them; on CPUs only so many that threads have enough
 * to share, for each takes memory, and a few more where a part of them would be a part of each row.
 * Chunks in lanes are long, and best read in order. */
static int64_t groups_of(const running *r)
{
    enum { SHARED = 1 << 14, MOST = 1 << 16, FEW = 16 };
    const weft__launch *launch = r->prepared->launch;
    int64_t groups = 1;
    if (r->stream->device.kind != WEFT_DEVICE_CPU &&
        weft__version_dialect(weft__device_get(r->stream->device)) != WEFT__DIALECT_OPENCL_CPU)
        return weft__c_like_groups(r->kernel, launch);
    if (weft__kernel_has_lanes(r->kernel) || r->stream->device.kind != WEFT_DEVICE_CPU)
        return launch->chunks;
    while (groups < launch->chunks &&
           (groups * launch->kept < SHARED || (groups < FEW && 2 * groups * launch->kept <= MOST)))
        groups *= 2;
    return groups < launch->chunks ? groups : launch->chunks;
}

/* Two stages where there are many chunks, or few points for threads to share. */
static weft_status run_folds(const running *r)
{
    enum { FEW_CHUNKS = 16, FEW_POINTS = 256, LARGE = 1 << 17 };
    weft__launch *launch = r->prepared->launch;
    int64_t length = weft__kernel_has_lanes(r->kernel) ? WEFT__FOLD_CHUNK : WEFT__FOLD_RUN;
    launch->chunks = launch->folded / length + (launch->folded % length != 0);
    if (launch->kept == 0)
        return WEFT_OK;
    if (launch->chunks > FEW_CHUNKS ||
        (launch->chunks > 1 && launch->kept < FEW_POINTS && r->prepared->points > LARGE)) {
        launch->groups = groups_of(r);
        if (launch->groups > 1)
            return run_two_stages(r);
    }
    begin_stage(launch, WEFT__STAGE_WHOLE, launch->kept, bytes_of(r, launch->folded));
    return compile_and_submit(r, false, r->kernel->operands_count);
}

static weft_status run_filled(const running *r)
{
    if (r->kernel->folds_count)
        return run_folds(r);
    return r->prepared->points > 0 ? compile_and_submit(r, false, r->kernel->operands_count)
                                   : WEFT_OK;
}

static weft_status run(const running *r, weft_array *const *arrays, const uint64_t *scalars)
{
    weft__prepared_fill(r->prepared, arrays, scalars);
    r->prepared->filled = true;
    return run_filled(r);
}

/* For the moves of copies, before anything runs: the kernel writes its other outputs before them.
 */
static weft_status reserve_move(const weft__kernel *kernel, weft_array *to, weft_array *from,
                                weft_stream *stream)
{
    enum { BLOCKS = 3, BYTES = 1024 }; /* for what a queue needs to take each */
    uint32_t outputs = 0;
    for (uint32_t i = 0; i < kernel->operands_count; i++)
        outputs += kernel->operands[i].output;
    if (outputs == 1)
        return WEFT_OK;
    TRY(weft__move_reserve(to, from, stream));
    weft__thread *thread = weft__thread_get();
    const uint32_t blocks = stream->async ? BLOCKS * outputs : 0;
    return thread && weft__reserve_fill(&thread->reserve, blocks, BYTES) ? WEFT_OK
                                                                         : WEFT_ERROR_MEMORY;
}

static weft_status move(weft_array *to, weft_array *from, weft_stream *stream)
{
    weft__reserve *before = weft__reserve_use(&weft__thread_state->reserve);
    const weft_status status = weft__move(to, from, stream);
    weft__reserve_use(before);
    return status;
}

/* Computes into new memory first, then moves the result. */
static weft_status run_through_copy(const weft__kernel *kernel, weft_stream *stream,
                                    const weft_shape *space, weft_array *const *arrays,
                                    const uint64_t *scalars, uint32_t output)
{
    weft_array *few[16], **through = few;
    weft_options options = {.struct_size = sizeof options, .device = stream->device};
    size_t bytes = kernel->operands_count * sizeof *through;
    if (bytes > sizeof few && !(through = weft__allocate(bytes)))
        return WEFT_ERROR_MEMORY;
    weft_array *copy = weft__array_new(&arrays[output]->shape, (weft_dtype)arrays[output]->dtype,
                                       &options, NULL, NULL);
    weft_status status = copy ? WEFT_OK : weft_error_code();
    memcpy(through, arrays, bytes);
    through[output] = copy;
    if (status == WEFT_OK)
        status = reserve_move(kernel, arrays[output], copy, stream);
    if (status == WEFT_OK)
        status = weft__kernel_run(kernel, stream, space, through, scalars);
    if (status == WEFT_OK)
        status = move(arrays[output], copy, stream);
    weft_array_release(copy);
    if (through != few)
        weft__free(through);
    return status;
}

/* The last output that has a hazard, for that is moved last; -1: none. */
static int32_t find_hazard(const running *r, weft_array *const *arrays)
{
    for (uint32_t i = r->kernel->operands_count; i-- > 0;)
        if (r->kernel->operands[i].output && has_hazard(r->prepared, arrays, i))
            return (int32_t)i;
    return -1;
}

/* Hazards depend on addresses, so they are looked for each time. */
static weft_status run_prepared(const running *r, const weft_shape *space,
                                weft_array *const *arrays, const uint64_t *scalars)
{
    r->prepared->filled = false;
    const int32_t output = r->prepared->hazard = find_hazard(r, arrays);
    if (output < 0)
        return run(r, arrays, scalars);
    if (r->reserves)
        return WEFT_OK;
    return run_through_copy(r->kernel, r->stream, space, arrays, scalars, (uint32_t)output);
}

static bool is_out_of_reach(const weft__kernel *kernel, const weft_stream *stream,
                            weft_array *const *arrays)
{
    return stream->device.kind != WEFT_DEVICE_CPU &&
           weft__bring_is_needed(arrays, kernel->operands_count, stream->device);
}

/* Hazards are not looked for if the operands are known to be `apart`. */
static weft_status run_once(const weft__kernel *kernel, weft_stream *stream,
                            const weft_shape *space, weft_array *const *arrays,
                            const uint64_t *scalars, bool apart)
{
    _Alignas(16) char inline_memory[PREPARED_INLINE];
    void *memory = inline_memory;
    size_t bytes = weft__prepared_bytes(kernel, false);
    if (is_out_of_reach(kernel, stream, arrays))
        return weft__bring_and_run(kernel, stream, space, arrays, scalars);
    if (bytes > sizeof inline_memory && !(memory = weft__allocate(bytes)))
        return WEFT_ERROR_MEMORY;
    running r = {.kernel = kernel,
                 .stream = stream,
                 .prepared = weft__prepare(memory, kernel, stream->device, space, arrays, false)};
    weft_status status =
        apart ? run(&r, arrays, scalars) : run_prepared(&r, space, arrays, scalars);
    if (memory != inline_memory)
        weft__free(memory);
    return status;
}

weft_status weft__kernel_run(const weft__kernel *kernel, weft_stream *stream,
                             const weft_shape *space, weft_array *const *arrays,
                             const uint64_t *scalars)
{
    return run_once(kernel, stream, space, arrays, scalars, false);
}

weft_status weft__kernel_run_apart(const weft__kernel *kernel, weft_stream *stream,
                                   const weft_shape *space, weft_array *const *arrays,
                                   const uint64_t *scalars)
{
    return run_once(kernel, stream, space, arrays, scalars, true);
}

weft_status weft__kernel_run_tasks(const weft__kernel *kernel, weft_stream *stream, int64_t points,
                                   uint32_t cost, weft_array *const *arrays,
                                   const uint64_t *scalars)
{
    const weft_shape space = {1, {points}};
    void *memory = weft__allocate(weft__prepared_bytes(kernel, false));
    if (!memory)
        return WEFT_ERROR_MEMORY;
    running r = {.kernel = kernel,
                 .stream = stream,
                 .prepared = weft__prepare(memory, kernel, stream->device, &space, arrays, false)};
    r.prepared->launch->cost = cost;
    weft_status status = run(&r, arrays, scalars);
    weft__free(memory);
    return status;
}

static weft_status run_again(const weft__kernel *kernel, weft__prepared **kept, weft_stream *stream,
                             const weft_shape *space, weft_array *const *arrays,
                             const uint64_t *scalars, bool reserves)
{
    bool fits = *kept && weft__prepared_fits(*kept, stream->device, arrays);
    if (!*kept && !(*kept = weft__allocate(weft__prepared_bytes(kernel, true))))
        return WEFT_ERROR_MEMORY;
    if (!fits)
        weft__prepare(*kept, kernel, stream->device, space, arrays, true);
    running r = {kernel, stream, *kept, reserves, false};
    return run_prepared(&r, space, arrays, scalars);
}

weft_status weft__kernel_run_again(const weft__kernel *kernel, weft__prepared **kept,
                                   weft_stream *stream, const weft_shape *space,
                                   weft_array *const *arrays, const uint64_t *scalars)
{
    if (!is_out_of_reach(kernel, stream, arrays))
        return run_again(kernel, kept, stream, space, arrays, scalars, false);
    if (*kept)
        (*kept)->filled = false;
    return weft__bring_and_run(kernel, stream, space, arrays, scalars);
}

weft_status weft__kernel_reserve(const weft__kernel *kernel, weft__prepared **kept,
                                 weft_stream *stream, const weft_shape *space,
                                 weft_array *const *arrays, const uint64_t *scalars)
{
    if (!is_out_of_reach(kernel, stream, arrays))
        return run_again(kernel, kept, stream, space, arrays, scalars, true);
    if (*kept)
        (*kept)->hazard = -1;
    return WEFT_OK;
}

void weft__kernel_unreserve(weft__prepared *kept)
{
    if (!kept)
        return;
    weft_array_release(kept->groups);
    kept->groups = NULL;
}

weft_status weft__kernel_run_same(const weft__kernel *kernel, weft__prepared *kept,
                                  weft_stream *stream, const uint64_t *scalars)
{
    const running r = {.kernel = kernel, .stream = stream, .prepared = kept, .same = true};
    weft__prepared_fill_scalars(kept, scalars);
    return run_filled(&r);
}
