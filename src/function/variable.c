/* Variables of a call: which copy of an array is valid where. A copy is made when a use needs it
 * and what it needs is only on the other side; nothing else moves. */
#include "core/device.h"
#include "function/function.h"
#include "ops/copy.h"

void weft__function_note(weft__function *f, weft__function_did did, int32_t what, uint64_t bytes)
{
    f->totals[did]++;
    f->bytes[did] += bytes;
    if (f->events_count < WEFT__FUNCTION_EVENTS)
        f->events[f->events_count++] =
            (weft__function_event){.did = (uint8_t)did, .what = what, .bytes = bytes};
}

void weft__function_note_region(weft__running *r, weft__function_did did, int32_t column,
                                uint64_t kernels)
{
    weft__function *f = r->function;
    uint32_t before = f->events_count;
    weft__function_note(f, did, column, kernels);
    f->kernels_at_host += r->at_host ? kernels : 0;
    if (f->events_count == before)
        return;
    f->events[before].at_host = r->at_host;
    f->events[before].here = r->here_cost;
    f->events[before].there = r->there_cost;
}

static bool is_on_host(const weft_array *array)
{
    return weft__array_is_lent(array) || weft__array_device(array).kind == WEFT_DEVICE_CPU;
}

const weft_array *weft__held_any(const weft__held *held)
{
    return held->home ? held->home : held->device ? held->device : held->host;
}

static weft_status fail_device(const weft__running *r, int32_t i, const char *why)
{
    const weft_array *array = r->held[i].home;
    weft__lang_name name = r->function->variables[i].name;
    return FAIL(WEFT_ERROR_PLACEMENT, "argument '%s' is on %s%s", QUOTE(name.text, name.length),
                weft__array_is_lent(array) ? "the host, lent,"
                                           : weft_device_id(weft__array_device(array)),
                why);
}

/* Outside of a device context: where the arrays are. */
static weft_status follow_arrays(weft__running *r, int count)
{
    r->device = WEFT_CPU;
    for (int i = 0; i < count; i++) {
        const weft_array *array = r->held[i].home;
        if (array && !is_on_host(array))
            r->device = weft__array_device(array);
        if (array && weft__array_is_lent(array))
            TRY(weft__place_lent(array));
    }
    for (int32_t i = 0; i < count; i++) {
        const weft_array *array = r->held[i].home;
        bool host = r->device.kind == WEFT_DEVICE_CPU;
        if (array && (host ? !is_on_host(array)
                           : weft__array_is_lent(array) ||
                                 !weft_device_equal(weft__array_device(array), r->device)))
            return fail_device(r, i,
                               ", others are elsewhere; bring them together with weft_to_device, "
                               "or call the function in a device context");
    }
    return WEFT_OK;
}

static weft_status place_in_context(weft__running *r, int count)
{
    if (!weft__device_get(r->device))
        return WEFT_ERROR_DEVICE;
    for (int32_t i = 0; i < count; i++) {
        const weft_array *array = r->held[i].home;
        if (array && !is_on_host(array) && !weft_device_equal(weft__array_device(array), r->device))
            return fail_device(r, i,
                               ", which is neither the host nor the device of the context; move it "
                               "with weft_to_device");
    }
    return WEFT_OK;
}

/* Copies of arguments that share memory would not share it. */
static bool share_memory(const weft__running *r, int count)
{
    for (int i = 0; i < count; i++)
        for (int k = 0; k < i && r->held[i].home; k++)
            if (r->held[k].home && weft__array_may_overlap(r->held[i].home, r->held[k].home))
                return true;
    return false;
}

/* They stay where they are: on the host, or on the device without serial loops. */
static weft_status place_shared(weft__running *r, int count)
{
    bool host = true, device = true;
    for (int i = 0; i < count; i++) {
        const weft_array *array = r->held[i].home;
        host &= !array || is_on_host(array) || weft_array_host_readable(array);
        device &= !array || (!weft__array_is_lent(array) &&
                             weft_device_equal(weft__array_device(array), r->device));
    }
    if (host && !device)
        r->device = WEFT_CPU;
    return host || device ? WEFT_OK
                          : FAIL(WEFT_ERROR_PLACEMENT,
                                 "arguments share memory and are partly on the host, partly on %s; "
                                 "copy them first",
                                 weft_device_id(r->device));
}

static void open_array(weft__running *r, weft__held *held, const weft_operand *operand)
{
    weft_array *array = operand->value.array;
    bool reachable =
        r->device.kind == WEFT_DEVICE_CPU ||
        (!weft__array_is_lent(array) && weft_device_equal(weft__array_device(array), r->device));
    if (weft_array_host_readable(array)) {
        held->host = weft_array_retain(array);
        held->host_valid = true;
    }
    if (reachable) {
        held->device = weft_array_retain(array);
        held->device_valid = true;
    }
}

weft_status weft__held_open(weft__running *r, const weft_operand *operands, int count)
{
    bool follows = r->device.kind == WEFT_DEVICE_NONE;
    for (int32_t i = 0; i < count; i++) {
        weft__held *held = &r->held[i];
        *held = (weft__held){.holding = WEFT__NUMBER, .number = operands[i]};
        if (operands[i].tag == WEFT_OPERAND_NUMBER)
            continue;
        weft__lang_name name = r->function->variables[i].name;
        TRY(weft__array_check(operands[i].value.input, QUOTE(name.text, name.length)));
        held->holding = WEFT__ARRAY;
        held->input = operands[i].tag == WEFT_OPERAND_INPUT || operands[i].value.input->read_only;
        held->home = operands[i].value.array;
    }
    TRY(follows ? follow_arrays(r, count) : place_in_context(r, count));
    r->shared = share_memory(r, count);
    if (r->shared)
        TRY(place_shared(r, count));
    r->automatic &= !follows && !r->shared && r->device.kind != WEFT_DEVICE_CPU;
    for (int i = 0; i < count; i++)
        if (r->held[i].holding == WEFT__ARRAY)
            open_array(r, &r->held[i], &operands[i]);
    r->stream = weft__stream_current(r->device);
    return r->stream ? WEFT_OK : weft_error_code();
}

static void drop(weft__held *held)
{
    weft_array_release(held->host);
    weft_array_release(held->device);
    held->host = held->device = NULL;
    held->holding = WEFT__UNSET;
}

void weft__held_close(weft__running *r)
{
    for (uint32_t i = 0; i < r->function->variables_count; i++)
        drop(&r->held[i]);
}

static weft_status like(const weft_array *other, weft_device device, weft_array **made)
{
    weft_options options = {.struct_size = sizeof options, .device = device};
    *made = weft__array_new(&other->shape, (weft_dtype)other->dtype, &options, NULL, NULL);
    return *made ? WEFT_OK : weft_error_code();
}

enum { OVERLAP_BYTES = 1 << 20 }; /* below, ordering two streams costs as much as the copy */

/* Where a copy is queued: beside the kernels if there are some that it need not wait for. */
static weft_stream *stream_of_copy(const weft__running *r, const weft_array *array)
{
    weft_stream *beside = NULL;
    if (r->device.kind != WEFT_DEVICE_CPU && weft_array_bytes(array) >= OVERLAP_BYTES &&
        r->function->totals[WEFT__DID_REGION] + r->function->totals[WEFT__DID_LOOP])
        beside = weft__function_copies(r->device);
    return beside ? beside : r->stream;
}

/* A copy to the host is queued on the device's current stream. */
static weft_status copy_to_host(const weft__running *r, const weft__held *held)
{
    const weft_device device = weft__array_device(held->device);
    weft_stream *here = weft__stream_current(WEFT_CPU), *usual = weft__stream_current(device);
    weft_stream *beside = r->at_host ? usual : stream_of_copy(r, held->device);
    if (!here || !usual)
        return weft_error_code();
    if (beside == usual || usual != r->stream)
        return weft__copy_counted(held->host, held->device, here);
    const bool is_default = usual == weft__stream_default(device);
    const char *operation = weft__operation();
    weft_stream_retain(usual);
    weft_status status = weft_stream_set_current(device, beside);
    OPERATION(operation);
    if (status == WEFT_OK)
        status = weft__copy_counted(held->host, held->device, here);
    weft_error saved = *weft_error_last();
    weft_status back = weft_stream_set_current(device, is_default ? NULL : usual);
    weft_stream_release(usual);
    OPERATION(operation);
    if (status != WEFT_OK)
        weft__error_restore(&saved);
    return status == WEFT_OK ? back : status;
}

/* The copy on the host, or what will be. */
static weft_status bring_to_host(weft__running *r, int32_t variable, bool discard)
{
    weft__held *held = &r->held[variable];
    if (!held->host && held->home && r->shared)
        return FAIL(
            WEFT_ERROR_UNSUPPORTED,
            "arguments share memory of %s, and a part of the function runs on the host; copy "
            "them first",
            weft_device_id(r->device));
    if (!held->host)
        TRY(like(held->device, WEFT_CPU, &held->host));
    if (!held->host_valid && !discard) {
        TRY(copy_to_host(r, held));
        weft__function_note(r->function, WEFT__DID_TO_HOST, variable, weft_array_bytes(held->host));
        held->host_valid = true;
        held->host_complete = false;
    }
    return WEFT_OK;
}

weft_status weft__held_host(weft__running *r, int32_t variable, bool discard, weft_array **array)
{
    weft__held *held = &r->held[variable];
    TRY(bring_to_host(r, variable, discard));
    if (!held->host_complete) {
        TRY(weft__buffer_wait(held->host->buffer, true, true));
        held->host_complete = true;
    }
    *array = held->host;
    return WEFT_OK;
}

weft_status weft__held_device(weft__running *r, int32_t variable, bool discard, weft_array **array)
{
    weft__held *held = &r->held[variable];
    if (r->at_host) {
        TRY(bring_to_host(r, variable, discard));
        held->host_complete = false;
        *array = held->host;
        return WEFT_OK;
    }
    if (!held->device)
        TRY(like(held->host, r->device, &held->device));
    if (!held->device_valid && !discard) {
        TRY(weft__copy_counted(held->device, held->host, stream_of_copy(r, held->host)));
        weft__function_note(r->function, WEFT__DID_TO_DEVICE, variable,
                            weft_array_bytes(held->device));
        held->device_valid = true;
        held->host_complete = false; /* the copy reads it later */
    }
    if (held->device == held->host)
        held->host_complete = false; /* as the region does */
    *array = held->device;
    return WEFT_OK;
}

void weft__held_wrote(weft__running *r, int32_t variable, bool on_device)
{
    weft__held *held = &r->held[variable];
    bool one = held->host == held->device;
    on_device &= !r->at_host;
    held->written = true;
    held->seen = false;
    held->device_valid = one || on_device;
    held->host_valid = one || !on_device;
    if (on_device)
        held->host_complete = false;
}

void weft__held_set_array(weft__running *r, int32_t variable, weft_array *array)
{
    weft__held *held = &r->held[variable];
    drop(held);
    if ((r->at_host || r->device.kind != WEFT_DEVICE_CPU) &&
        weft__array_device(array).kind == WEFT_DEVICE_CPU) {
        *held = (weft__held){.holding = WEFT__ARRAY, .host = array, .host_valid = true};
        return;
    }
    *held = (weft__held){.holding = WEFT__ARRAY, .device = array, .device_valid = true};
    if (r->device.kind == WEFT_DEVICE_CPU || weft_array_host_readable(array)) {
        held->host = weft_array_retain(array);
        held->host_valid = true;
    }
}

bool weft__held_is_fixed(const weft__held *held)
{
    return held->holding == WEFT__ARRAY && (held->home || held->taken || held->declared);
}

void weft__held_move(weft__running *r, int32_t from, int32_t to, bool takes)
{
    drop(&r->held[to]);
    r->held[to] = r->held[from];
    r->held[to].taken += takes ? 1 : -1;
    r->held[from] = (weft__held){0};
}

void weft__held_unset(weft__running *r, int32_t variable)
{
    drop(&r->held[variable]);
    r->held[variable] = (weft__held){0};
}

void weft__held_set_number(weft__running *r, int32_t variable, const weft_operand *number,
                           bool typed)
{
    weft__held *held = &r->held[variable];
    if (held->holding == WEFT__ARRAY) {
        drop(held);
        *held = (weft__held){0};
    }
    held->holding = WEFT__NUMBER;
    held->typed = typed;
    held->computed = true;
    held->number = *number;
}

weft_status weft__held_return(weft__running *r)
{
    weft_array *array;
    for (int32_t i = 0; i < r->function->parameters_count; i++) {
        weft__held *held = &r->held[i];
        if (held->holding != WEFT__ARRAY || !held->home)
            continue;
        if (held->home == held->host && (!held->host_valid || weft__array_is_lent(held->home)))
            TRY(weft__held_host(r, i, false, &array));
        else if (held->home == held->device && !held->device_valid)
            TRY(weft__held_device(r, i, false, &array));
    }
    return WEFT_OK;
}
