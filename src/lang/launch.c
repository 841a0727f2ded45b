/* Launches: each thread finds what it made of a portable kernel by the kernel's address. */
#include "lang/launch.h"
#include "core/allocate.h"
#include "core/by_address.h"
#include "core/device.h"
#include "core/thread.h"
#include "lang/error.h"
#include "lang/lexer.h"
#include "trace/trace.h"
#include <string.h>

/* One kernel, and the last plan of it. */
typedef struct kernel_entry {
    const weft_kernel *kernel;
    weft__launch_kernel opened;
    weft__launch_plan *plan;
} kernel_entry;

weft_status weft__launch_failed(const weft_kernel *kernel, weft_status status)
{
    const weft_error *error = weft_error_last();
    size_t prefix = strlen(error->operation); /* "weft_launch: " comes before it again */
    bool has = !strncmp(error->message, error->operation, prefix) && error->message[prefix] == ':';
    if (status == WEFT_OK || status == WEFT_ERROR_MEMORY || weft__fail_is_kept())
        return status;
    return weft__fail(status, NULL, "kernel '%s': %s", QUOTE(kernel->name, strlen(kernel->name)),
                      error->message + (has ? prefix + 2 : 0));
}

static weft__lang_name copy_text(char **to, const char *text)
{
    weft__lang_name copy = {*to, strlen(text)};
    memcpy(*to, text, copy.length + 1);
    *to += copy.length + 1;
    return copy;
}

static weft__lang_name trimmed(weft__lang_name text)
{
    while (text.length && text.text[text.length - 1] <= ' ' && text.text[text.length - 1] > 0)
        text.length--;
    while (text.length && text.text[0] <= ' ' && text.text[0] > 0)
        text = (weft__lang_name){text.text + 1, text.length - 1};
    return text;
}

weft__lang_name weft__launch_inside(weft__lang_name text, char open, char close)
{
    weft__lang_name in = trimmed(text);
    if (in.length < 2 || in.text[0] != open || in.text[in.length - 1] != close)
        return in;
    return trimmed((weft__lang_name){in.text + 1, in.length - 2});
}

/* The list may stand without parentheses. */
static weft_status check_parentheses(weft__lang_name given)
{
    const weft__lang_name text = trimmed(given);
    const bool opens = text.length && text.text[0] == '(';
    const bool closes = text.length && text.text[text.length - 1] == ')';
    if (opens == closes)
        return WEFT_OK;
    return weft__lang_fail(text, opens ? text.length : 0, WEFT_ERROR_SYNTAX,
                           "the parameters have no '%c'; they are names, as in (in, out)",
                           opens ? ')' : '(');
}

/* Parameters are plain names. */
static weft_status read_parameters(weft__launch_kernel *opened)
{
    const weft__lang_name list = weft__launch_inside(opened->parameters, '(', ')');
    weft__lexer lexer = {list.text, (uint32_t)list.length, 0};
    weft__token next = weft__lex(&lexer);
    TRY(check_parentheses(opened->parameters));
    for (bool more = next.kind != WEFT__TOKEN_END; more; opened->count++) {
        const weft__token name = opened->count ? weft__lex(&lexer) : next;
        next = weft__lex(&lexer);
        more = next.kind == WEFT__TOKEN_COMMA;
        if (opened->count == WEFT__LANG_OPERANDS_MAX)
            return FAIL(WEFT_ERROR_ARGUMENT, "it has more than %d parameters",
                        (int)WEFT__LANG_OPERANDS_MAX);
        if (name.kind != WEFT__TOKEN_NAME || (!more && next.kind != WEFT__TOKEN_END))
            return weft__lang_fail(list, name.at, WEFT_ERROR_SYNTAX, "parameter %d is no name",
                                   opened->count + 1);
        opened->names[opened->count] = (weft__lang_name){list.text + name.at, name.length};
    }
    return WEFT_OK;
}

static weft_status read_body(weft__launch_kernel *opened)
{
    const weft__lang_name code = weft__launch_inside(opened->body, '{', '}');
    TRY(weft__lang_parse_kernel(code.text, code.length, opened->names, opened->count,
                                &opened->syntax));
    return weft__portable_fixed(opened->syntax, opened->fixed, NULL, NULL);
}

weft_status weft__launch_kernel_open(const weft_kernel *kernel, int count,
                                     weft__launch_kernel *opened)
{
    size_t bytes = strlen(kernel->name) + strlen(kernel->parameters) + strlen(kernel->body) + 3;
    memset(opened, 0, sizeof *opened);
    char *to = opened->text = weft__allocate(bytes);
    if (!to)
        return WEFT_ERROR_MEMORY;
    opened->name = copy_text(&to, kernel->name);
    opened->parameters = copy_text(&to, kernel->parameters);
    opened->body = copy_text(&to, kernel->body);
    TRY(weft__launch_failed(kernel, read_parameters(opened)));
    TRY(weft__launch_check_count(kernel, opened, count));
    return weft__launch_failed(kernel, read_body(opened));
}

void weft__launch_kernel_close(weft__launch_kernel *opened)
{
    weft__lang_syntax_free(opened->syntax);
    weft__free(opened->text);
    opened->syntax = NULL;
    opened->text = NULL;
}

weft_status weft__launch_check_count(const weft_kernel *kernel, const weft__launch_kernel *opened,
                                     int count)
{
    if (count == opened->count)
        return WEFT_OK;
    return FAIL(WEFT_ERROR_ARGUMENT, "kernel '%s' has %d parameter%s, %s, and %d argument%s given",
                QUOTE(kernel->name, strlen(kernel->name)), opened->count,
                opened->count == 1 ? "" : "s",
                QUOTE(opened->parameters.text, opened->parameters.length), count,
                count == 1 ? " was" : "s were");
}

static void free_entry(void *argument)
{
    kernel_entry *entry = argument;
    if (!entry)
        return;
    weft__launch_plan_free(entry->plan);
    weft__launch_kernel_close(&entry->opened);
    weft__free(entry);
}

static void free_table(void *argument)
{
    weft__by_address_free(argument, free_entry);
    weft__free(argument);
}

/* A reset of a device drops this thread's table too, as that of the call sites. */
static void drop_own(weft_device device)
{
    weft__thread *thread = weft__thread_peek();
    (void)device;
    if (!thread || !thread->kernels || thread->kernels_busy)
        return;
    free_table(thread->kernels);
    thread->kernels = NULL;
}

static weft__by_address *table_of(weft__thread *thread)
{
    if (thread->kernels)
        return thread->kernels;
    thread->kernels_free = free_table;
    weft__device_on_reset(drop_own);
    return thread->kernels = weft__allocate_zeroed(sizeof(weft__by_address));
}

/* The address may be another kernel's now (a library that was loaded again). */
static bool is_of(const kernel_entry *entry, const weft_kernel *kernel)
{
    return entry && !strcmp(entry->opened.body.text, kernel->body) &&
           !strcmp(entry->opened.parameters.text, kernel->parameters) &&
           !strcmp(entry->opened.name.text, kernel->name);
}

static weft_status new_entry(const weft_kernel *kernel, int count, kernel_entry **made)
{
    kernel_entry *entry = weft__allocate_zeroed(sizeof *entry);
    if (!entry)
        return WEFT_ERROR_MEMORY;
    entry->kernel = kernel;
    weft_status status = weft__launch_kernel_open(kernel, count, &entry->opened);
    if (status == WEFT_OK)
        *made = entry;
    else
        free_entry(entry);
    return status;
}

static weft_status find(weft__thread *thread, const weft_kernel *kernel, int count,
                        kernel_entry **found)
{
    weft__by_address *table = table_of(thread);
    if (!table || !weft__by_address_reserve(table))
        return WEFT_ERROR_MEMORY;
    weft__kept *kept = weft__by_address_at(table, kernel);
    *found = kept->value;
    if (is_of(*found, kernel))
        return WEFT_OK;
    TRY(new_entry(kernel, count, found));
    free_entry(weft__by_address_put(table, kept, kernel, *found));
    return WEFT_OK;
}

static weft_status run(kernel_entry *entry, const weft_shape *space, int count,
                       const weft_operand *arguments)
{
    weft__launch_plan *made;
    TRY(weft__launch_check_count(entry->kernel, &entry->opened, count));
    if (!entry->plan || !weft__launch_plan_fits(entry->plan, &entry->opened, space, arguments)) {
        TRY(weft__launch_failed(entry->kernel,
                                weft__launch_plan_new(&entry->opened, space, arguments, &made)));
        weft__launch_plan_free(entry->plan);
        entry->plan = made;
    }
    return weft__launch_plan_run(entry->plan, arguments);
}

/* A launch inside another one, as by a deleter, keeps away from what the outer one uses. */
static weft_status run_once(const weft_kernel *kernel, const weft_shape *space, int count,
                            const weft_operand *arguments)
{
    kernel_entry *entry;
    TRY(new_entry(kernel, count, &entry));
    weft_status status = run(entry, space, count, arguments);
    free_entry(entry);
    return status;
}

static weft_status launch_portable(const weft_kernel *kernel, const weft_shape *space, int count,
                                   const weft_operand *arguments)
{
    weft__thread *thread = weft__thread_get();
    kernel_entry *entry;
    if (!thread)
        return WEFT_ERROR_MEMORY;
    if (!kernel->body)
        return FAIL_AT(WEFT_ERROR_ARGUMENT, "kernel", "a portable kernel has a body; it is NULL");
    if (thread->kernels_busy)
        return run_once(kernel, space, count, arguments);
    thread->kernels_busy = true; /* no reset that is called in between drops the table */
    weft_status status = find(thread, kernel, count, &entry);
    if (status == WEFT_OK)
        status = run(entry, space, count, arguments);
    thread->kernels_busy = false;
    return status;
}

static weft_status launch_any(const weft_kernel *kernel, const weft_shape *space, int count,
                              const weft_operand *arguments)
{
    if (kernel->language == WEFT_KERNEL_C)
        return weft__launch_function(kernel, space, count, arguments);
    if (kernel->language == WEFT_KERNEL_OPENCL || kernel->language == WEFT_KERNEL_CUDA)
        return weft__launch_native(kernel, space, count, arguments);
    if (kernel->language == WEFT_KERNEL_PORTABLE)
        return launch_portable(kernel, space, count, arguments);
    return FAIL(WEFT_ERROR_UNSUPPORTED,
                "kernel '%s' is in language %d, which this library does "
                "not know",
                QUOTE(kernel->name, strlen(kernel->name)), kernel->language);
}

/* On a timeline, a kernel is its name and, if that is portable, its body. */
__attribute__((cold)) static weft_status launch_traced(const weft_kernel *kernel,
                                                       const weft_shape *space, int count,
                                                       const weft_operand *arguments)
{
    const bool portable = kernel->language == WEFT_KERNEL_PORTABLE && kernel->body;
    const char *body = portable ? kernel->body : kernel->parameters;
    const uint32_t before = weft__trace_begin_source(kernel->name, body, strlen(body));
    const weft_status status = launch_any(kernel, space, count, arguments);
    weft__trace_end_source(before);
    return status;
}

weft_status weft__launch_check_kernel(const weft_kernel *kernel)
{
    if (kernel && kernel->struct_size && kernel->struct_size < sizeof *kernel)
        return FAIL_AT(WEFT_ERROR_ARGUMENT, "kernel",
                       "the kernel's struct_size is %zu; it is sizeof(weft_kernel), %zu",
                       kernel->struct_size, sizeof *kernel);
    if (!kernel || !kernel->name || !kernel->parameters)
        return FAIL_AT(WEFT_ERROR_ARGUMENT, "kernel",
                       "the kernel, its name or its parameters are NULL");
    return WEFT_OK;
}

static weft_status launch(const weft_kernel *kernel, const weft_shape *space, int count,
                          const weft_operand *arguments)
{
    int64_t points;
    TRY(weft__launch_check_kernel(kernel));
    if (count < 0 || count > WEFT__LANG_OPERANDS_MAX || (count > 0 && !arguments))
        return FAIL(WEFT_ERROR_ARGUMENT, "%d is not 0 to %d arguments, or they are missing", count,
                    (int)WEFT__LANG_OPERANDS_MAX);
    TRY(weft__shape_check(space, &points));
    return weft__tracing() ? launch_traced(kernel, space, count, arguments)
                           : launch_any(kernel, space, count, arguments);
}

weft_status weft_launch_over(const weft_kernel *kernel, const weft_array *space, int count,
                             const weft_operand *operands)
{
    OPERATION("weft_launch");
    if (!space)
        return weft__fail_null("space");
    return launch(kernel, &space->shape, count, operands);
}

weft_status weft_launch_shape(const weft_kernel *kernel, weft_shape space, int count,
                              const weft_operand *operands)
{
    OPERATION("weft_launch");
    return launch(kernel, &space, count, operands);
}
