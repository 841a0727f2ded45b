/* Placement: which device and stream a computation runs on, given its operands. */
#include "core/array.h"
#include "core/device.h"
#include "core/thread.h"
#include <stdio.h>

static bool is_lent(const weft_array *array) { return array->buffer->memory == WEFT_MEMORY_LENT; }

/* "a on cpu, b lent": every operand with its place, for messages. */
static const char *list_operands(weft_array *const *arrays, const char *const *names, int count,
                                 char *text, size_t room)
{
    size_t length = 0;
    text[0] = 0;
    for (int i = 0; i < count && length < room; i++) {
        const weft_array *array = arrays[i];
        length += (size_t)snprintf(text + length, room - length, "%s%s %s%s (%s%s)", i ? ", " : "",
                                   names[i], is_lent(array) ? "" : "on ",
                                   is_lent(array) ? "lent" : weft_device_id(array->buffer->device),
                                   weft_memory_name((weft_memory)array->buffer->memory),
                                   array->stream ? ", bound to a stream" : "");
    }
    return text;
}

static weft_status check_mixture(weft_array *const *arrays, const char *const *names, int count)
{
    char text[320];
    const weft_array *placed = NULL, *lent = NULL;
    bool devices_differ = false;
    for (int i = 0; i < count; i++) {
        if (is_lent(arrays[i])) {
            lent = arrays[i];
            continue;
        }
        if (placed && !weft_device_equal(placed->buffer->device, arrays[i]->buffer->device))
            devices_differ = true;
        placed = arrays[i];
    }
    if (devices_differ)
        return FAIL(
            WEFT_ERROR_PLACEMENT,
            "operands are on different devices: %s; bring them together with weft_to_device",
            list_operands(arrays, names, count, text, sizeof text));
    if (placed && lent)
        return FAIL(WEFT_ERROR_PLACEMENT,
                    "lent memory and arrays on a device do not mix: %s; place the lent one with "
                    "weft_to_device(…, %s, NULL)",
                    list_operands(arrays, names, count, text, sizeof text),
                    weft_device_id(placed->buffer->device));
    return WEFT_OK;
}

static weft_status check_streams(weft_array *const *arrays, const char *const *names, int count,
                                 weft_stream **bound)
{
    char text[320];
    *bound = NULL;
    for (int i = 0; i < count; i++) {
        weft_stream *stream = arrays[i]->stream;
        if (!stream)
            continue;
        if (*bound && *bound != stream && !weft_stream_equivalent(*bound, stream))
            return FAIL(
                WEFT_ERROR_PLACEMENT,
                "operands are bound to streams that are not equivalent: %s; rebind one with "
                "weft_asarray(…, .stream = …)",
                list_operands(arrays, names, count, text, sizeof text));
        if (!*bound)
            *bound = stream;
    }
    return WEFT_OK;
}

weft_status weft__place_lent(const weft_array *array)
{
    const weft__thread *thread = weft__thread_get();
    bool inside = weft_device_context().kind != WEFT_DEVICE_NONE;
    if (!thread)
        return WEFT_ERROR_MEMORY;
    if (!is_lent(array) || inside || !thread->lent_forbidden)
        return WEFT_OK;
    return FAIL(
        WEFT_ERROR_PLACEMENT,
        "all operands are lent memory, which is on no device, and weft_lent_forbid is in force; "
        "name a device with WEFT_ON, or place one with weft_to_device");
}

weft_status weft__place(weft_array *const *arrays, const char *const *names, int count,
                        weft_stream **stream)
{
    weft_device device = weft_device_context();
    TRY(check_mixture(arrays, names, count));
    TRY(check_streams(arrays, names, count, stream));
    if (*stream)
        return WEFT_OK;
    if (count > 0)
        TRY(weft__place_lent(arrays[0]));
    if (count > 0 && !is_lent(arrays[0]))
        device = arrays[0]->buffer->device;
    else if (device.kind == WEFT_DEVICE_NONE)
        device = WEFT_CPU;
    return (*stream = weft__stream_current(device)) ? WEFT_OK : weft_error_code();
}

weft_stream *weft__place_plain(weft_array *const *arrays, int count)
{
    const weft__thread *thread = weft__thread_peek();
    bool lent = count > 0 && is_lent(arrays[0]);
    if (count == 0 || (lent && (!thread || thread->lent_forbidden || thread->contexts_count)))
        return NULL;
    const weft_device first = arrays[0]->buffer->device;
    for (int i = 0; i < count; i++) {
        const weft_device device = arrays[i]->buffer->device;
        if (arrays[i]->stream || is_lent(arrays[i]) != lent || device.kind != first.kind ||
            device.index != first.index)
            return NULL;
    }
    return weft__stream_current(lent ? WEFT_CPU : first);
}
