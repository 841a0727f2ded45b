/* Running evaluations: placement, memory, launches. */
#include "core/allocate.h"
#include "core/device.h"
#include "core/thread.h"
#include "core/warning.h"
#include "kernel/move.h"
#include "kernel/run.h"
#include "lang/error.h"
#include "lang/evaluate.h"
#include "ops/copy.h"
#include "ops/number.h"
#include <stdio.h>
#include <string.h>

enum { INLINE = 64 };

/* What one run works on. */
typedef struct running {
    weft__evaluation *evaluation;
    const weft_operand *operands;
    weft_array **before; /* of each operand: a copy of what it was, if it is overwritten too soon */
    weft_array **assigned; /* the same for what the program has assigned to it */
    weft_array **instead; /* of each operand: what is written in its place, and copied at the end */
    weft_array **through; /* the same, but copied after its kernel, which reads the operand's memory
                             at other elements than it writes */
    weft_array **temporaries;
    weft_array **spare; /* of those, what is needed no more: others may have their memory */
    uint32_t spare_count;
    weft_array *value;
    weft_stream *stream;
    bool awaited;  /* the caller reads the value now */
    bool plain;    /* placed without a decision */
    bool reserved; /* all memory was got before the first kernel */
} running;

static bool is_array(const weft_operand *operand) { return operand->tag != WEFT_OPERAND_NUMBER; }

/* The arrays among the operands. */
static int list_arrays(const running *r, weft_array **arrays)
{
    int count = 0;
    for (int i = 0; i < r->evaluation->count; i++)
        if (is_array(&r->operands[i]))
            arrays[count++] = r->operands[i].value.array;
    return count;
}

/* With the names of the operands, for the message. */
__attribute__((noinline)) static weft_status place_named(running *r, const weft__lang_name *names,
                                                         weft_array *const *arrays)
{
    char texts[WEFT__LANG_OPERANDS_MAX][24];
    const char *shown[WEFT__LANG_OPERANDS_MAX];
    int count = 0;
    for (int i = 0; i < r->evaluation->count; i++) {
        if (!is_array(&r->operands[i]))
            continue;
        size_t blank = 0;
        while (blank < names[i].length && strchr(" \t\n", names[i].text[blank]))
            blank++;
        snprintf(texts[count], sizeof texts[count], "%.*s", (int)(names[i].length - blank),
                 names[i].text + blank);
        shown[count] = texts[count];
        count++;
    }
    return weft__place(arrays, shown, count, &r->stream);
}

static weft_status place(running *r, const weft__lang_name *names)
{
    weft_array *arrays[WEFT__LANG_OPERANDS_MAX];
    const int count = list_arrays(r, arrays);
    r->stream = weft__place_plain(arrays, count);
    r->plain = r->stream != NULL;
    return r->plain ? WEFT_OK : place_named(r, names, arrays);
}

/* Handles get memory of the shape that the program gives them, where the others are. */
static weft_status give_handles_memory(const running *r)
{
    const weft__lang_program *program = r->evaluation->program;
    weft_array *arrays[WEFT__LANG_OPERANDS_MAX];
    const int count = r->evaluation->handles ? list_arrays(r, arrays) : 0;
    for (uint32_t i = 0; r->evaluation->handles && i < program->assignments_count; i++) {
        const weft__lang_assignment *assignment = &program->assignments[i];
        weft_array *array = r->operands[assignment->operand].value.array;
        if (array->buffer)
            continue;
        const weft__lang_node *node = &program->nodes[assignment->node];
        weft__place_handle(array, arrays, count);
        TRY(weft__array_become(array, (weft_dtype)node->dtype, &program->shapes[node->shape]));
    }
    return WEFT_OK;
}

static weft_status make_value(running *r)
{
    const weft__lang_program *program = r->evaluation->program;
    weft_array *arrays[WEFT__LANG_OPERANDS_MAX];
    if (program->value < 0)
        return WEFT_OK;
    const int count = list_arrays(r, arrays);
    const weft_options options = weft__place_result(arrays, count, r->stream);
    const weft__lang_node *node = &program->nodes[program->value];
    r->value = weft__array_new(&program->shapes[node->shape], (weft_dtype)node->dtype, &options,
                               NULL, NULL);
    return r->value ? WEFT_OK : weft_error_code();
}

/* A temporary in the memory of one that has as many bytes; NULL if there is none. */
static weft_array *reuse(running *r, const weft_shape *shape, weft_dtype dtype)
{
    int64_t strides[WEFT_NDIM_MAX] = {0};
    size_t bytes;
    if (weft__shape_strides(shape, weft_dtype_size(dtype), 1, strides, &bytes) != WEFT_OK)
        return NULL;
    for (uint32_t i = r->spare_count; i-- > 0;) {
        weft__buffer *buffer = r->spare[i]->buffer;
        if (buffer->elements != bytes)
            continue;
        r->spare[i] = r->spare[--r->spare_count];
        weft__buffer_retain(buffer);
        return weft__array_over(buffer, dtype, shape, strides);
    }
    return NULL;
}

static weft_array *new_temporary(running *r, const weft_shape *shape, weft_dtype dtype)
{
    weft_options options = {.struct_size = sizeof options, .device = r->stream->device};
    weft_array *reused = r->spare_count ? reuse(r, shape, dtype) : NULL;
    return reused ? reused : weft__array_new(shape, dtype, &options, NULL, NULL);
}

/* Those that kernel `k` stores to. */
static weft_status make_temporaries(running *r, uint32_t k)
{
    const weft__schedule *schedule = &r->evaluation->schedule;
    const weft__lang_program *program = r->evaluation->program;
    for (uint32_t i = schedule->first[k]; i < schedule->first[k + 1]; i++) {
        const weft__scheduled *store = &schedule->stores[i];
        const weft__lang_node *node = &program->nodes[store->node];
        weft_dtype dtype = (weft_dtype)node->dtype;
        if (store->place > WEFT__PLACE_TEMPORARY)
            continue;
        dtype = store->mean ? weft__value_dtype(dtype) : weft__lower_stored(store->place, dtype);
        weft_array *made = new_temporary(r, &program->shapes[node->shape], dtype);
        if (!made)
            return weft_error_code();
        r->temporaries[WEFT__PLACE_TEMPORARY - store->place] = made;
    }
    return WEFT_OK;
}

/* Those that no kernel after `k` uses: none is there for longer than it is needed. What was
 * reserved is kept, and its memory used again. */
static void end_temporaries(running *r, uint32_t k)
{
    const weft__lowered *lowered = &r->evaluation->kernels[k];
    for (uint32_t i = 0; i < lowered->operands_count; i++) {
        int32_t number = WEFT__PLACE_TEMPORARY - lowered->operands[i];
        if (number < 0 || r->evaluation->temporary_ends[number] != k)
            continue;
        if (r->reserved) {
            r->spare[r->spare_count++] = r->temporaries[number];
            continue;
        }
        weft_array_release(r->temporaries[number]);
        r->temporaries[number] = NULL;
    }
}

/* Whether a kernel after `first`, before `end`, writes to the memory of the operand. */
static bool is_overwritten(const running *r, int32_t operand, int64_t first, uint32_t end)
{
    const weft__evaluation *e = r->evaluation;
    for (uint32_t i = 0; i < e->writes_count && e->writes[i].kernel < end; i++)
        if ((int64_t)e->writes[i].kernel > first &&
            weft__array_may_overlap(r->operands[operand].value.array,
                                    r->operands[e->writes[i].operand].value.array))
            return true;
    return false;
}

static weft_status copy(const running *r, int32_t operand, weft_array **made)
{
    weft_options options = {.struct_size = sizeof options, .stream = r->stream};
    *made = weft__copy_new(r->operands[operand].value.array, &options);
    return *made ? WEFT_OK : weft_error_code();
}

/* Operands that a kernel overwrites before another reads them are copied before anything runs. */
static weft_status copy_overwritten(const running *r)
{
    const uint32_t *last = r->evaluation->reads[0];
    for (int32_t i = 0; i < r->evaluation->count; i++)
        if (last[i] > 0 && is_overwritten(r, i, -1, last[i]))
            TRY(copy(r, i, &r->before[i]));
    return WEFT_OK;
}

/* What kernel `written` has assigned and another will have overwritten (operands may overlap) when
 * a later one reads it. */
static weft_status copy_assigned(const running *r, uint32_t written)
{
    const weft__evaluation *e = r->evaluation;
    for (uint32_t i = 0; i < e->writes_count && e->writes[i].kernel <= written; i++) {
        int32_t operand = e->writes[i].operand;
        if (e->writes[i].kernel != written ||
            !is_overwritten(r, operand, written, e->reads[1][operand]))
            continue;
        if (r->assigned[operand]) /* reserved */
            TRY(weft__move(r->assigned[operand], r->operands[operand].value.array, r->stream));
        else
            TRY(copy(r, operand, &r->assigned[operand]));
    }
    return WEFT_OK;
}

/* Operands that overlap are written in the order of their assignments, whatever that of the kernels
 * is: all are copied at the end. */
static weft_status stand_in(running *r)
{
    const weft__evaluation *e = r->evaluation;
    weft_options options = {.struct_size = sizeof options, .stream = r->stream};
    bool overlap = false;
    for (uint32_t i = 0; e->entangled && i < e->writes_count; i++)
        for (uint32_t j = 0; j < i; j++)
            overlap |= weft__array_may_overlap(r->operands[e->writes[i].operand].value.array,
                                               r->operands[e->writes[j].operand].value.array);
    for (uint32_t i = 0; overlap && i < e->writes_count; i++) {
        int32_t operand = e->writes[i].operand;
        const weft_array *array = r->operands[operand].value.array;
        r->instead[operand] =
            weft__array_new(&array->shape, (weft_dtype)array->dtype, &options, array, NULL);
        if (!r->instead[operand])
            return weft_error_code();
        TRY(weft__move_reserve(r->operands[operand].value.array, r->instead[operand], r->stream));
    }
    return WEFT_OK;
}

static weft_status copy_instead(const running *r)
{
    const weft__lang_program *program = r->evaluation->program;
    for (uint32_t i = 0; r->evaluation->entangled && i < program->assignments_count; i++) {
        int32_t operand = program->assignments[i].operand;
        if (program->assignments[i].last && r->instead[operand])
            TRY(weft__move(r->operands[operand].value.array, r->instead[operand], r->stream));
    }
    return WEFT_OK;
}

static weft_array *array_at(const running *r, int32_t place, bool output)
{
    if (place == WEFT__PLACE_VALUE)
        return r->value;
    if (place <= WEFT__PLACE_TEMPORARY)
        return r->temporaries[WEFT__PLACE_TEMPORARY - place];
    if (r->evaluation->single)
        return r->operands[place].value.array;
    bool after = output || place >= WEFT__PLACE_ASSIGNED;
    place %= WEFT__PLACE_ASSIGNED;
    if (after && r->instead[place])
        return r->instead[place];
    weft_array *own = output ? r->through[place] : after ? r->assigned[place] : r->before[place];
    return own ? own : r->operands[place].value.array;
}

static void fill_scalars(const weft_operand *operands, const weft__lowered *lowered,
                         uint64_t *scalars)
{
    for (uint32_t i = 0; i < lowered->scalars_count; i++) {
        if (lowered->scalars[i] < 0) {
            scalars[i] = lowered->numbers[-1 - lowered->scalars[i]];
            continue;
        }
        const weft_operand *number = &operands[lowered->scalars[i] / 2];
        bool is_complex = number->dtype == WEFT_C64 || number->dtype == WEFT_C128;
        const double *part = &number->value.complex_[lowered->scalars[i] % 2];
        memcpy(&scalars[i], is_complex ? (const void *)part : (const void *)&number->value,
               sizeof *scalars);
        if (number->dtype == WEFT_BOOL) /* whatever another language has for true */
            scalars[i] = scalars[i] != 0;
    }
}

typedef weft_status kernel_function(const weft__kernel *kernel, weft__prepared **kept,
                                    weft_stream *stream, const weft_shape *space,
                                    weft_array *const *arrays, const uint64_t *scalars);

static weft_status call_kernel(const running *r, weft__lowered *lowered, kernel_function *function)
{
    weft_array *inline_arrays[INLINE], **arrays = inline_arrays;
    uint64_t inline_scalars[INLINE], *scalars = inline_scalars;
    size_t bytes =
        lowered->operands_count * sizeof *arrays + lowered->scalars_count * sizeof *scalars;
    bool large = lowered->operands_count > INLINE || lowered->scalars_count > INLINE;
    if (large) {
        if (!(scalars = weft__allocate(bytes)))
            return WEFT_ERROR_MEMORY;
        arrays = (weft_array **)(void *)(scalars + lowered->scalars_count);
    }
    for (uint32_t i = 0; i < lowered->operands_count; i++)
        arrays[i] = array_at(r, lowered->operands[i], weft__lowered_is_output(lowered, i));
    fill_scalars(r->operands, lowered, scalars);
    weft_status status = function(&lowered->builder.kernel, &lowered->prepared, r->stream,
                                  &lowered->space, arrays, scalars);
    if (large)
        weft__free(scalars);
    return status;
}

static weft__lang_quoted name_of(int32_t operand, const weft__lang_name *names)
{
    weft__lang_name name = names ? names[operand] : (weft__lang_name){"operand", 7};
    while (name.length && strchr(" \t\n", *name.text)) {
        name.text++;
        name.length--;
    }
    return weft__lang_quote(name.text, name.length);
}

/* The dtype that a C number does not fit into, or WEFT_DTYPE_DEFAULT. */
static weft_dtype exceeded(const running *r, int operand)
{
    const unsigned limits = r->evaluation->program->limits[operand];
    for (int dtype = WEFT_I8; dtype <= WEFT_U64; dtype++)
        if (limits >> (dtype - WEFT_I8) & 1 &&
            !weft__number_fits(&r->operands[operand], (weft_dtype)dtype))
            return (weft_dtype)dtype;
    return WEFT_DTYPE_DEFAULT;
}

/* The first C number that does not fit, or the number of operands. */
static int first_exceeded(const running *r)
{
    const weft__evaluation *e = r->evaluation;
    int i = 0;
    while (i < e->count && (!e->program->limits[i] || !exceeded(r, i)))
        i++;
    return i;
}

static weft_status check_numbers(const running *r, const weft__lang_name *names)
{
    const int i = first_exceeded(r);
    if (i == r->evaluation->count)
        return WEFT_OK;
    char text[24];
    const weft_operand *number = &r->operands[i];
    const char *dtype = weft_dtype_name(exceeded(r, i));
    const weft__lang_quoted quoted = name_of(i, names);
    const char *name = quoted.text;
    if (number->dtype <= WEFT_I64)
        snprintf(text, sizeof text, "%lld", (long long)number->value.i);
    else
        snprintf(text, sizeof text, "%llu", (unsigned long long)number->value.u);
    return FAIL_AT(WEFT_ERROR_DTYPE, name,
                   "%s%s%s%s is outside the range of %s; cast it to %s, or what it is used with "
                   "to a dtype that holds it",
                   names ? "'" : "", names ? name : "", names ? "', " : "", text, dtype, dtype);
}

/* Memory that the host cannot read is copied, and that is waited for too. */
static weft_status check_awaited(const running *r)
{
    TRY(weft__stream_waits_check(r->stream));
    return weft__array_reachable(r->value, WEFT_CPU) ? WEFT_OK : weft__waits_check();
}

/* What comes before the kernels: checks, placement, memory for handles and for the value. */
static weft_status begin(running *r, const weft__lang_name *names)
{
    const weft__evaluation *e = r->evaluation;
    for (uint32_t i = 0; i < e->writes_count; i++) {
        const weft_array *array = r->operands[e->writes[i].operand].value.array;
        if ((array->overlapping || array->read_only) && array->buffer)
            return weft__array_check_output(array, name_of(e->writes[i].operand, names).text);
    }
    if (e->limited)
        TRY(check_numbers(r, names));
    TRY(give_handles_memory(r));
    if (!r->stream)
        TRY(place(r, names));
    TRY(make_value(r));
    return r->awaited ? check_awaited(r) : WEFT_OK;
}

/* What stands in for an output of the kernel while it runs; NULL: nothing. */
static weft_array *through_at(const running *r, const weft__lowered *lowered, uint32_t i)
{
    const int32_t place = lowered->operands[i];
    return place >= 0 && weft__lowered_is_output(lowered, i) ? r->through[place] : NULL;
}

static weft_status run_kernel(const running *r, uint32_t k)
{
    weft__lowered *lowered = &r->evaluation->kernels[k];
    TRY(call_kernel(r, lowered, weft__kernel_run_again));
    for (uint32_t i = 0; r->reserved && i < lowered->operands_count; i++) {
        weft_array *through = through_at(r, lowered, i);
        if (through)
            TRY(weft__move(r->operands[lowered->operands[i]].value.array, through, r->stream));
    }
    return WEFT_OK;
}

static weft_status make_through(running *r, int32_t operand)
{
    weft_array *array = r->operands[operand].value.array;
    weft_array *made = new_temporary(r, &array->shape, (weft_dtype)array->dtype);
    if (!made)
        return weft_error_code();
    r->through[operand] = made;
    return weft__move_reserve(array, made, r->stream);
}

/* Outputs with a hazard are found one by one, each when those after it have none. */
static weft_status reserve_kernel(running *r, uint32_t k)
{
    weft__lowered *lowered = &r->evaluation->kernels[k];
    for (;;) {
        TRY(call_kernel(r, lowered, weft__kernel_reserve));
        if (!lowered->prepared || lowered->prepared->hazard < 0)
            return WEFT_OK;
        TRY(make_through(r, lowered->operands[lowered->prepared->hazard]));
    }
}

/* Their memory, too, may be used again after kernel `k`. */
static void end_through(running *r, uint32_t k)
{
    const weft__lowered *lowered = &r->evaluation->kernels[k];
    for (uint32_t i = 0; i < lowered->operands_count; i++) {
        weft_array *through = through_at(r, lowered, i);
        if (through)
            r->spare[r->spare_count++] = through;
    }
}

/* For what queues need to take the launches, and the copies around them: a few blocks for each,
 * with room for the launch and for what it waits for. */
static weft_status reserve_queue(const running *r)
{
    enum { BLOCKS = 3, WAITS = 512 };
    const weft__evaluation *e = r->evaluation;
    weft__reserve *kept = &weft__thread_get()->reserve;
    uint32_t launches = 2 * e->writes_count; /* copies */
    size_t bytes = 0;
    for (uint32_t k = 0; k < e->kernels_count; k++) {
        const weft__prepared *prepared = e->kernels[k].prepared;
        launches += e->kernels[k].builder.kernel.folds_count ? 2 : 1;
        if (prepared && prepared->launch->bytes > bytes)
            bytes = prepared->launch->bytes;
    }
    if (!weft__reserve_fill(kept, BLOCKS * launches, bytes + WAITS))
        return WEFT_ERROR_MEMORY;
    weft__reserve_use(kept);
    return WEFT_OK;
}

/* Gets all memory and all compiled code before the first kernel runs, so that a lack of memory
 * leaves no operand written while others are not. */
static weft_status reserve(running *r)
{
    const weft__evaluation *e = r->evaluation;
    r->reserved = true;
    for (uint32_t k = 0; k < e->kernels_count; k++) {
        TRY(make_temporaries(r, k));
        TRY(reserve_kernel(r, k));
        TRY(copy_assigned(r, k));
        end_temporaries(r, k);
        end_through(r, k);
    }
    return r->stream->async ? reserve_queue(r) : WEFT_OK;
}

static bool is_written(const weft__evaluation *e, int32_t operand)
{
    uint32_t i = 0;
    while (i < e->writes_count && e->writes[i].operand != operand)
        i++;
    return i < e->writes_count;
}

/* A synchronous stream waits in each kernel for what that uses: a wait that is refused is refused
 * before the first one. */
static weft_status check_waits(const running *r)
{
    const bool limited = !r->stream->async && weft__waits_are_limited();
    for (int i = 0; limited && i < r->evaluation->count; i++)
        if (is_array(&r->operands[i]))
            TRY(weft__buffer_waits_check(r->operands[i].value.array->buffer,
                                         is_written(r->evaluation, i)));
    return WEFT_OK;
}

static weft_status run_kernels(running *r)
{
    const weft__evaluation *e = r->evaluation;
    TRY(check_waits(r));
    TRY(stand_in(r));
    TRY(copy_overwritten(r));
    if (e->writes_count && e->writes[0].kernel + 1 < e->kernels_count)
        TRY(reserve(r));
    for (uint32_t k = 0; k < e->kernels_count; k++) {
        if (!r->reserved)
            TRY(make_temporaries(r, k));
        TRY(run_kernel(r, k));
        TRY(copy_assigned(r, k));
        if (!r->reserved)
            end_temporaries(r, k);
    }
    return copy_instead(r);
}

/* With arrays of its own: copies, what stands in for operands, and temporaries. */
static weft_status run_several(running *r)
{
    const weft__evaluation *e = r->evaluation;
    weft_array *few[96], **arrays = few;
    size_t temporaries = e->schedule.temporaries_count;
    size_t owned = 4 * (size_t)e->count + temporaries;
    size_t count = owned + (size_t)e->count + temporaries;
    if (count > sizeof few / sizeof *few && !(arrays = weft__allocate(count * sizeof *arrays)))
        return WEFT_ERROR_MEMORY;
    memset(arrays, 0, count * sizeof *arrays);
    r->before = arrays;
    r->assigned = r->before + e->count;
    r->instead = r->assigned + e->count;
    r->through = r->instead + e->count;
    r->temporaries = r->through + e->count;
    r->spare = arrays + owned;
    weft_status status = run_kernels(r);
    weft__reserve_use(NULL);
    for (size_t i = 0; i < owned; i++)
        weft_array_release(arrays[i]);
    for (uint32_t k = 0; k < e->kernels_count && status != WEFT_OK; k++)
        weft__kernel_unreserve(e->kernels[k].prepared);
    if (arrays != few)
        weft__free(arrays);
    return status;
}

/* Notes the operands, if a run with the same ones is to be a launch like this one. */
static void see(const running *r)
{
    weft__evaluation *e = r->evaluation;
    const weft__prepared *prepared = e->kernels[0].prepared;
    bool repeats = r->plain && e->program->value < 0 && !e->handles && prepared &&
                   prepared->filled && e->kernels[0].scalars_count <= INLINE;
    for (int i = 0; i < e->count && repeats; i++) {
        const weft_array *array = is_array(&r->operands[i]) ? r->operands[i].value.array : NULL;
        e->seen[i] = (weft__evaluation_seen){array ? array->layout : 0, r->operands[i].tag,
                                             array ? 0 : r->operands[i].dtype};
        repeats = !array || array->layout;
        e->lent = array ? weft__array_is_lent(array) : e->lent;
    }
    e->repeats = repeats;
}

static bool is_seen(const weft__evaluation_seen *seen, const weft_operand *operand)
{
    if (seen->tag != operand->tag)
        return false;
    if (!is_array(operand))
        return seen->dtype == operand->dtype;
    return operand->value.input && operand->value.input->layout == seen->layout;
}

static bool queue_again(const weft__lowered *lowered, const weft_operand *operands)
{
    const weft__prepared *prepared = lowered->prepared;
    if (!weft__kernel_enter_again(prepared))
        return false;
    if (lowered->scalars_count)
        fill_scalars(operands, lowered, prepared->again.scalars);
    return weft__window_queue(prepared->timeline, &prepared->again);
}

bool weft__evaluation_repeat(weft__evaluation *e, const weft_operand *operands, int count,
                             weft_status *status)
{
    const weft__thread *thread = weft__thread_peek();
    uint64_t scalars[INLINE];
    if (!e->repeats)
        return false;
    for (int i = 0; i < count; i++)
        if (!is_seen(&e->seen[i], &operands[i]))
            return false;
    if (e->limited && first_exceeded(&(running){.evaluation = e, .operands = operands}) < count)
        return false;
    weft__lowered *lowered = &e->kernels[0];
    *status = WEFT_OK;
    if (queue_again(lowered, operands))
        return true;
    if (weft__warnings_are_on() || (e->lent && (thread->lent_forbidden || thread->contexts_count)))
        return false;
    weft_stream *stream = weft__stream_current(lowered->prepared->device);
    if (!stream)
        return false;
    fill_scalars(operands, lowered, scalars);
    *status = weft__kernel_run_same(&lowered->builder.kernel, lowered->prepared, stream, scalars);
    return true;
}

/* Handles are without memory again. */
static void fail(const running *r)
{
    for (int i = 0; r->evaluation->handles && i < r->evaluation->count; i++)
        if (r->evaluation->types[i].unset)
            weft__array_empty(r->operands[i].value.array, r->evaluation->types[i].dtype);
    weft_array_release(r->value);
}

static weft_status run(running *r, const weft__lang_name *names, weft_array **value)
{
    weft__evaluation *evaluation = r->evaluation;
    evaluation->repeats = false;
    weft_status status = begin(r, names);
    if (status == WEFT_OK)
        status = evaluation->single ? run_kernel(r, 0) : run_several(r);
    if (status == WEFT_OK && evaluation->single)
        see(r);
    if (status == WEFT_OK)
        *value = r->value;
    else
        fail(r);
    return status;
}

weft_status weft__evaluation_run(weft__evaluation *evaluation, const weft_operand *operands,
                                 const weft__lang_name *names, bool awaited, weft_array **value)
{
    running r = {.evaluation = evaluation, .operands = operands, .awaited = awaited};
    return run(&r, names, value);
}

weft_status weft__evaluation_run_on(weft__evaluation *evaluation, const weft_operand *operands,
                                    weft_stream *stream, weft_array **value)
{
    running r = {.evaluation = evaluation, .operands = operands, .stream = stream};
    return run(&r, NULL, value);
}
