/* Host functions that a stream calls in its order. */
#include "core/array.h"
#include "trace/trace.h"
#include <string.h>

enum { ARRAYS_MAX = 64 };

static weft_status add_uses(weft__use *uses, uint32_t *count, weft_array *const *arrays,
                            size_t number, bool write)
{
    const char *name = write ? "writes" : "reads";
    if (number > ARRAYS_MAX - (size_t)*count)
        return FAIL_AT(WEFT_ERROR_ARGUMENT, name, "%zu arrays were given in %s; %zu are possible",
                       number, name, ARRAYS_MAX - (size_t)*count);
    if (number > 0 && !arrays)
        return FAIL_AT(WEFT_ERROR_ARGUMENT, name, "%zu arrays were announced in %s, which is NULL",
                       number, name);
    for (size_t i = 0; i < number; i++) {
        TRY(write ? weft__array_check_output(arrays[i], name) : weft__array_check(arrays[i], name));
        weft__buffer *buffer = arrays[i]->buffer;
        uses[(*count)++] = (weft__use){buffer, atomic_load(&buffer->generation), write,
                                       weft_array_bytes(arrays[i]) == buffer->elements};
    }
    return WEFT_OK;
}

weft_status weft_stream_call_with(weft_stream *stream, weft_stream_function *function,
                                  void *argument, const weft_call_options *given)
{
    weft_call_options options = {.struct_size = sizeof options};
    weft__work work = {
        .kind = WEFT__WORK_CALL, .source = weft__trace_source, .operation = "weft_stream_call"};
    OPERATION("weft_stream_call");
    if (!stream)
        return weft__fail_null("stream");
    if (!function)
        return FAIL_AT(WEFT_ERROR_ARGUMENT, "function",
                       "function is NULL; one to call was expected");
    weft__options_copy(&options, sizeof options, given);
    weft__use uses[ARRAYS_MAX];
    TRY(add_uses(uses, &work.uses_count, options.reads, options.reads_count, false));
    TRY(add_uses(uses, &work.uses_count, options.writes, options.writes_count, true));
    if (options.name)
        work.operation = options.name;
    work.uses = uses;
    work.of.call.function = function;
    work.of.call.argument = argument;
    return weft__submit(stream, &work);
}
