/* Calls: each thread finds what it made of a function by the function's address. */
#include "core/allocate.h"
#include "core/by_address.h"
#include "core/device.h"
#include "core/thread.h"
#include "function/function.h"
#include "function/open.h"
#include <string.h>

enum { COPY_STREAMS = 4 };

typedef struct function_table {
    weft__by_address functions;
    struct {
        weft_stream *stream; /* for copies, or NULL */
        uint64_t resets;     /* of its device, when it was made */
    } copies[COPY_STREAMS];
} function_table;

static void close_function(void *function) { weft__function_close(function); }

static void free_table(void *argument)
{
    function_table *table = argument;
    weft__by_address_free(&table->functions, close_function);
    for (int i = 0; i < COPY_STREAMS; i++)
        weft_stream_release(table->copies[i].stream);
    weft__free(table);
}

/* A reset of a device drops what this thread has, as that of the call sites. */
static void drop_own(weft_device device)
{
    weft__thread *thread = weft__thread_peek();
    (void)device;
    if (!thread || !thread->functions || thread->functions_depth)
        return;
    free_table(thread->functions);
    thread->functions = NULL;
}

static function_table *table_of(weft__thread *thread)
{
    if (thread->functions)
        return thread->functions;
    thread->functions_free = free_table;
    weft__device_on_reset(drop_own);
    return thread->functions = weft__allocate_zeroed(sizeof(function_table));
}

/* A function that is under way is not touched: the caller works on one of its own. */
static weft_status find(weft__thread *thread, const weft_function *key, int count,
                        const weft_operand *operands, weft__function **found)
{
    function_table *table = table_of(thread);
    if (!table || !weft__by_address_reserve(&table->functions))
        return WEFT_ERROR_MEMORY;
    weft__kept *entry = weft__by_address_at(&table->functions, key);
    weft__function *f = *found = entry->value;
    if (f && (f->busy || (weft__function_is(f, key) &&
                          (!operands || weft__function_takes(f, count, operands)))))
        return WEFT_OK;
    TRY(weft__function_open(key, count, operands, found));
    weft__function_close(weft__by_address_put(&table->functions, entry, key, *found));
    return WEFT_OK;
}

/* Where the parameter is that has no argument; behind the last one if there are too many. */
static size_t parameter_at(weft__lang_name list, int position)
{
    weft__lexer lexer = {list.text, (uint32_t)list.length, 0};
    weft__token token;
    do {
        token = weft__lex(&lexer);
        if (token.kind == WEFT__TOKEN_NAME && position-- == 0)
            return token.at;
    } while (token.kind != WEFT__TOKEN_END && token.kind != WEFT__TOKEN_CLOSE);
    return token.at;
}

static weft_status check_count(const weft__function *f, int count)
{
    if (count == f->parameters_count)
        return WEFT_OK;
    return weft__lang_fail(f->parameters, parameter_at(f->parameters, count), WEFT_ERROR_ARGUMENT,
                           "it has %d parameter%s, %s, and %d argument%s given",
                           f->parameters_count, f->parameters_count == 1 ? "" : "s",
                           QUOTE(f->parameters.text, f->parameters.length), count,
                           count == 1 ? " was" : "s were");
}

static const char *place_of(const weft__function *f)
{
    return f->key->place ? f->key->place : "an unknown place";
}

/* Options that contradict each other. */
static weft_status check_options(const weft__function *f)
{
    const weft_function_options *o = &f->options;
    if ((unsigned)o->offload > WEFT_OFFLOAD_NEVER || (unsigned)o->serial_device > WEFT_SERIAL_HOST)
        return FAIL(WEFT_ERROR_ARGUMENT,
                    "offload is %d and serial_device %d, which are none of their values, at %s",
                    (int)o->offload, (int)o->serial_device, place_of(f));
    if (o->serial && o->offload == WEFT_OFFLOAD_ALWAYS && o->serial_device != WEFT_SERIAL_IGNORE)
        return FAIL(WEFT_ERROR_ARGUMENT,
                    "its options contradict each other, at %s: it is serial and offload is always; "
                    "leave one out, or let serial_device be WEFT_SERIAL_IGNORE",
                    place_of(f));
    return WEFT_OK;
}

/* What the function and the device context say together. */
static weft_status choose_device(const weft__function *f, weft__running *r)
{
    const weft_function_options *options = &f->options;
    weft_device context = weft_device_context();
    bool inside = context.kind != WEFT_DEVICE_NONE;
    r->serial = options->serial;
    if (inside && options->serial && options->serial_device == WEFT_SERIAL_ERROR)
        return FAIL(
            WEFT_ERROR_ARGUMENT,
            "it is marked serial, at %s, and was called in a device context, %s; call it outside "
            "of one, or choose WEFT_SERIAL_IGNORE or WEFT_SERIAL_HOST",
            place_of(f), weft_device_id(context));
    if (inside && options->serial && options->serial_device == WEFT_SERIAL_IGNORE)
        r->serial = false;
    if (inside && options->serial && options->serial_device == WEFT_SERIAL_HOST)
        context = WEFT_CPU;
    r->device = options->offload == WEFT_OFFLOAD_NEVER ? WEFT_NO_DEVICE : context;
    r->automatic = options->offload == WEFT_OFFLOAD_AUTO;
    return WEFT_OK;
}

static weft_status run(weft__function *f, weft__running *r, int count, const weft_operand *operands)
{
    TRY(check_options(f));
    TRY(check_count(f, count));
    TRY(choose_device(f, r));
    f->events_count = 0;
    memset(f->totals, 0, sizeof f->totals);
    memset(f->bytes, 0, sizeof f->bytes);
    f->kernels_at_host = 0;
    weft_status status = weft__held_open(r, operands, count);
    f->called_on = r->device;
    f->called = true;
    if (status == WEFT_OK)
        status = weft__function_run(r);
    weft__held_close(r);
    return status;
}

/* Nothing is left to be released when a call fails. */
static void clear_results(int count, const weft_result *results, bool release)
{
    for (int i = 0; i < count; i++) {
        weft_array **place = results[i].out;
        if (!place || results[i].dtype)
            continue;
        if (release)
            weft_array_release(*place);
        *place = NULL;
    }
}

static weft_status call(weft__thread *thread, weft__function *f, int results_count,
                        const weft_result *results, int count, const weft_operand *operands)
{
    weft__running r = {
        .function = f, .held = f->held, .results = results, .results_count = results_count};
    f->busy = true;
    f->at = UINT32_MAX;
    thread->functions_depth++;
    clear_results(results_count, results, false);
    weft_status status = run(f, &r, count, operands);
    if (status != WEFT_OK)
        clear_results(results_count, results, true);
    thread->functions_depth--;
    f->busy = false;
    return status == WEFT_OK ? status : weft__function_failed(f, status);
}

/* A call inside another one of the same function, by a host function. */
static weft_status call_again(weft__thread *thread, const weft_function *function,
                              int results_count, const weft_result *results, int count,
                              const weft_operand *operands)
{
    weft__function *own;
    if (thread->functions_depth >= WEFT__FUNCTION_DEPTH_MAX)
        return FAIL(WEFT_ERROR_UNSUPPORTED, "function '%s' is called by host functions %d deep",
                    QUOTE(function->name, strlen(function->name)), thread->functions_depth);
    TRY(weft__function_open(function, count, operands, &own));
    weft_status status = call(thread, own, results_count, results, count, operands);
    weft__function_close(own);
    return status;
}

/* Of f16 and bf16 there are no C numbers. */
static weft_status check_results(int count, const weft_result *results)
{
    for (int i = 0; i < count; i++) {
        const int32_t dtype = results[i].dtype;
        if (dtype < WEFT_DTYPE_DEFAULT || dtype >= WEFT_DTYPE_END || dtype == WEFT_F16 ||
            dtype == WEFT_BF16)
            return FAIL_AT(WEFT_ERROR_DTYPE, "results",
                           "result %d is of dtype %d (%s), of which there is no C number", i + 1,
                           (int)dtype, weft_dtype_name((weft_dtype)dtype));
    }
    return WEFT_OK;
}

weft_status weft_call_with(const weft_function *function, int results_count,
                           const weft_result *results, int count, const weft_operand *operands)
{
    weft__thread *thread = weft__thread_get();
    weft__function *f;
    OPERATION("weft_call");
    if (!thread)
        return WEFT_ERROR_MEMORY;
    if (!function || !function->name || !function->parameters || !function->body)
        return FAIL_AT(WEFT_ERROR_ARGUMENT, "function",
                       "the function, its name, its parameters or its body are NULL");
    if (results_count < 0 || (results_count && !results) || count < 0 ||
        count > WEFT__LANG_OPERANDS_MAX || (count && !operands))
        return FAIL(WEFT_ERROR_ARGUMENT, "%d results or %d arguments are not possible, or missing",
                    results_count, count);
    TRY(check_results(results_count, results));
    TRY(find(thread, function, count, operands, &f));
    if (f->busy)
        return call_again(thread, function, results_count, results, count, operands);
    return call(thread, f, results_count, results, count, operands);
}

weft_stream *weft__function_copies(weft_device device)
{
    const weft__thread *thread = weft__thread_peek();
    function_table *table = thread ? thread->functions : NULL;
    const weft__device *known = weft__device_get(device);
    const weft_stream_options options = {.struct_size = sizeof options, .async = true};
    const char *operation = weft__operation();
    weft_error saved = *weft_error_last();
    for (int i = 0; table && known && i < COPY_STREAMS; i++) {
        const uint64_t resets = atomic_load(&known->resets);
        weft_stream **stream = &table->copies[i].stream;
        if (*stream && !weft_device_equal((*stream)->device, device))
            continue;
        if (*stream && table->copies[i].resets == resets)
            return *stream;
        weft_stream_release(*stream);
        *stream = weft_stream_new_with(device, &options);
        table->copies[i].resets = resets;
        OPERATION(operation);
        if (!*stream)
            weft__error_restore(&saved); /* they go with the kernels then */
        return *stream;
    }
    return NULL;
}

weft_status weft__function_find(const weft_function *function, weft__function **found)
{
    weft__thread *thread = weft__thread_get();
    return thread ? find(thread, function, 0, NULL, found) : WEFT_ERROR_MEMORY;
}
