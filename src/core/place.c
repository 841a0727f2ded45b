/* Placement: which device and stream a computation runs on, given its operands. */
#include "core/array.h"
#include "core/device.h"
#include "core/thread.h"
#include "core/warning.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Adds to a text that may be too short; it then ends in "…". */
typedef struct listing {
    char text[360];
    size_t length;
} listing;

__attribute__((format(printf, 2, 3))) static void add(listing *l, const char *format, ...)
{
    static const char more[] = "…";
    const size_t room = sizeof l->text - sizeof more;
    va_list arguments;
    if (l->length > room)
        return;
    va_start(arguments, format);
    const int length = vsnprintf(l->text + l->length, room - l->length + 1, format, arguments);
    va_end(arguments);
    if (length < 0 || l->length + (size_t)length <= room) {
        l->length += length < 0 ? 0 : (size_t)length;
        return;
    }
    memcpy(l->text + l->length, more, sizeof more);
    l->length = sizeof l->text;
}

static void add_stream(listing *l, const weft_stream *stream)
{
    add(l, ", stream %llu%s%s", (unsigned long long)stream->number, stream->async ? "" : " sync",
        stream->profiling ? " profiling" : "");
    if (stream->priority)
        add(l, " priority %d", (int)stream->priority);
}

/* "a on cpu (device), b lent": every operand with its place, for messages. */
static void list_operands(weft_array *const *arrays, const char *const *names, int count,
                          listing *l)
{
    l->length = 0;
    for (int i = 0; i < count; i++) {
        const weft_array *array = arrays[i];
        const bool lent = weft__array_is_lent(array);
        add(l, "%s%s %s%s (%s", i ? ", " : "", names[i], lent ? "" : "on ",
            lent ? "lent" : weft_device_id(weft__array_device(array)),
            weft_memory_name((weft_memory)array->buffer->memory));
        if (array->stream)
            add_stream(l, array->stream);
        add(l, ")");
    }
}

/* The first operands that do not go together, of those that are: the second is to be brought to
 * where the first is. */
typedef struct pair {
    int kept, other; /* -1: none */
} pair;

static weft_status check_mixture(weft_array *const *arrays, const char *const *names, int count)
{
    listing l;
    pair devices = {-1, -1}, lent = {-1, -1};
    for (int i = 0; i < count; i++) {
        if (weft__array_is_lent(arrays[i]))
            lent.other = lent.other < 0 ? i : lent.other;
        else if (devices.kept < 0)
            devices.kept = lent.kept = i;
        else if (devices.other < 0 && !weft_device_equal(weft__array_device(arrays[devices.kept]),
                                                         weft__array_device(arrays[i])))
            devices.other = i;
    }
    const bool differ = devices.other >= 0;
    const pair wrong = differ ? devices : lent;
    if (wrong.kept < 0 || wrong.other < 0)
        return WEFT_OK;
    list_operands(arrays, names, count, &l);
    return FAIL(WEFT_ERROR_PLACEMENT,
                differ ? "operands are on different devices: %s; bring them together, as with "
                         "weft_to_device(%s, weft_array_device(%s), NULL)"
                       : "lent memory and arrays on a device do not mix: %s; place it, as with "
                         "weft_to_device(%s, weft_array_device(%s), NULL)",
                l.text, names[wrong.other], names[wrong.kept]);
}

static weft_status check_streams(weft_array *const *arrays, const char *const *names, int count,
                                 weft_stream **bound)
{
    listing l;
    int kept = -1;
    *bound = NULL;
    for (int i = 0; i < count; i++) {
        weft_stream *stream = arrays[i]->stream;
        if (!stream)
            continue;
        if (kept >= 0 && *bound != stream && !weft_stream_equivalent(*bound, stream)) {
            list_operands(arrays, names, count, &l);
            return FAIL(WEFT_ERROR_PLACEMENT,
                        "operands are bound to streams that are not equivalent: %s; rebind, as "
                        "with weft_asarray(%s, .stream = weft_array_stream(%s))",
                        l.text, names[i], names[kept]);
        }
        kept = kept < 0 ? i : kept;
        *bound = arrays[kept]->stream;
    }
    return WEFT_OK;
}

/* On the CPU all kinds are as fast. */
static void warn_of_kinds(weft_array *const *arrays, const char *const *names, int count)
{
    listing l;
    bool differ = false;
    for (int i = 1; i < count; i++)
        differ |= arrays[i]->buffer->memory != arrays[0]->buffer->memory;
    if (!differ || weft__array_device(arrays[0]).kind <= WEFT_DEVICE_CPU)
        return;
    list_operands(arrays, names, count, &l);
    weft__warn(WEFT_WARNING_MIXED_MEMORY,
               "%s: operands are in memory of several kinds: %s; where they are used often, make "
               "them device memory with weft_asarray(…, .memory = WEFT_MEMORY_DEVICE)",
               weft__operation(), l.text);
}

weft_status weft__place_lent(const weft_array *array)
{
    const weft__thread *thread = weft__thread_get();
    bool inside = weft_device_context().kind != WEFT_DEVICE_NONE;
    if (!thread)
        return WEFT_ERROR_MEMORY;
    if (!weft__array_is_lent(array) || inside || !thread->lent_forbidden)
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
    if (weft__warnings_are_on())
        warn_of_kinds(arrays, names, count);
    if (*stream)
        return WEFT_OK;
    if (count > 0)
        TRY(weft__place_lent(arrays[0]));
    if (count > 0 && !weft__array_is_lent(arrays[0]))
        device = weft__array_device(arrays[0]);
    else if (device.kind == WEFT_DEVICE_NONE)
        device = WEFT_CPU;
    return (*stream = weft__stream_current(device)) ? WEFT_OK : weft_error_code();
}

weft_stream *weft__place_plain(weft_array *const *arrays, int count)
{
    const weft__thread *thread = weft__thread_peek();
    bool lent = count > 0 && weft__array_is_lent(arrays[0]);
    if (count == 0 || weft__warnings_are_on() ||
        (lent && (!thread || thread->lent_forbidden || thread->contexts_count)))
        return NULL;
    const weft_device first = weft__array_device(arrays[0]);
    for (int i = 0; i < count; i++) {
        const weft_device device = weft__array_device(arrays[i]);
        if (arrays[i]->stream || weft__array_is_lent(arrays[i]) != lent ||
            device.kind != first.kind || device.index != first.index)
            return NULL;
    }
    return weft__stream_current(lent ? WEFT_CPU : first);
}

/* The kind that they combine to; what is lent has none to give. */
static weft_memory combine(weft_array *const *arrays, int count)
{
    weft_memory memory = WEFT_MEMORY_DEFAULT;
    for (int i = 0; i < count; i++)
        if (arrays[i]->buffer)
            memory = weft_memory_combine(memory, (weft_memory)arrays[i]->buffer->memory);
    return memory == WEFT_MEMORY_LENT ? WEFT_MEMORY_DEFAULT : memory;
}

weft_options weft__place_result(weft_array *const *arrays, int count, const weft_stream *stream)
{
    weft_options options = {
        .struct_size = sizeof options, .device = stream->device, .memory = combine(arrays, count)};
    for (int i = 0; i < count && !options.stream; i++)
        options.stream = arrays[i]->stream;
    return options;
}

void weft__place_handle(weft_array *handle, weft_array *const *arrays, int count)
{
    weft__request *request = &handle->request;
    for (int i = count; i-- > 0 && !request->placed;)
        if (arrays[i]->buffer && !weft__array_is_lent(arrays[i]))
            request->device = weft__array_device(arrays[i]);
    if (!request->memory && !request->allocator && !request->user_allocator)
        request->memory = combine(arrays, count);
}

void weft__place_like(weft_options *options, const weft_array *like)
{
    if (!options->stream && options->device.kind == WEFT_DEVICE_NONE)
        options->stream = like->stream;
}
