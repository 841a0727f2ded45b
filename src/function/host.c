/* Host functions by name, for the whole process. */
#include "core/allocate.h"
#include "core/library.h"
#include "core/status.h"
#include "function/function.h"
#include "lang/parser.h"
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

enum { NAME_MAX_LENGTH = 63, BOUND_MAX = 256 };

typedef struct bound {
    char name[NAME_MAX_LENGTH + 1];
    weft__host host;
} bound;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static bound table[BOUND_MAX];
static int table_count;
static _Atomic uint64_t bindings; /* of functions of Weft's */

static bound *find(const char *text, size_t length)
{
    for (int i = 0; i < table_count; i++)
        if (strlen(table[i].name) == length && !memcmp(table[i].name, text, length))
            return &table[i];
    return NULL;
}

/* One word of "read, both, write". */
static weft_status read_access(const char *text, size_t length, char *access)
{
    static const char *const words[] = {"read", "write", "both"};
    while (length && (*text == ' ' || *text == '\t')) {
        text++;
        length--;
    }
    while (length && (text[length - 1] == ' ' || text[length - 1] == '\t'))
        length--;
    for (int i = 0; i < 3; i++)
        if (strlen(words[i]) == length && !memcmp(words[i], text, length)) {
            *access = words[i][0];
            return WEFT_OK;
        }
    return FAIL_AT(WEFT_ERROR_ARGUMENT, "access",
                   "'%s' is not what a parameter can be; say read, write or both",
                   QUOTE(text, length));
}

static weft_status read_accesses(const char *text, weft__host *host)
{
    memset(host->access, 'b', sizeof host->access);
    for (size_t k = 0; text && *text; k++) {
        size_t length = strcspn(text, ",");
        if (k == sizeof host->access)
            return FAIL_AT(WEFT_ERROR_ARGUMENT, "access", "there are more than %zu parameters",
                           sizeof host->access);
        TRY(read_access(text, length, &host->access[k]));
        text += length + (text[length] == ',');
    }
    return WEFT_OK;
}

static weft_status put(const char *name, const weft__host *host)
{
    bound *place = find(name, strlen(name));
    if (!place && table_count == BOUND_MAX)
        return FAIL(WEFT_ERROR_UNSUPPORTED, "there are %d host functions, which is the most",
                    (int)BOUND_MAX);
    if (!place) {
        place = &table[table_count++];
        memcpy(place->name, name, strlen(name) + 1);
    }
    if (host->body || place->host.body)
        atomic_fetch_add(&bindings, 1);
    place->host = *host;
    return WEFT_OK;
}

static weft_status bind_name(const char *name, const weft__host *host)
{
    pthread_mutex_lock(&mutex);
    weft_status status = put(name, host);
    pthread_mutex_unlock(&mutex);
    return status;
}

static weft_status check_name(const char *name)
{
    const size_t length = name ? strlen(name) : 0;
    if (length < 1 || length > NAME_MAX_LENGTH)
        return FAIL_AT(WEFT_ERROR_ARGUMENT, "name", "a function has a name of 1 to %d bytes",
                       (int)NAME_MAX_LENGTH);
    weft__lexer lexer = {name, (uint32_t)length, 0};
    const weft__token token = weft__lex(&lexer);
    if (token.kind != WEFT__TOKEN_NAME || token.length != length)
        return FAIL_AT(WEFT_ERROR_ARGUMENT, "name",
                       "'%s' is no name that a text can call; it may have letters, digits and _, "
                       "and begins with no digit",
                       name);
    if (weft__is_reserved(name, length) || weft__lang_is_type(name, length))
        return FAIL_AT(WEFT_ERROR_ARGUMENT, "name",
                       "'%s' is a word of C or a type; give the function another name", name);
    return WEFT_OK;
}

weft_status weft_host_bind_with(const char *name, weft_host_function *function,
                                const weft_host_options *options)
{
    weft_host_options known = {.struct_size = sizeof known};
    weft__host host = {.function = function};
    OPERATION("weft_host_bind");
    TRY(check_name(name));
    if (options)
        weft__options_copy(&known, sizeof known, options);
    host.context = known.context;
    TRY(read_accesses(known.access, &host));
    return bind_name(name, &host);
}

weft_status weft_function_bind(const char *name, const weft_function *function)
{
    weft__host host = {.body = function};
    OPERATION("weft_function_bind");
    TRY(check_name(name));
    if (weft__lang_function_named(name, strlen(name)) != WEFT__LANG_OPERATION_END)
        return FAIL_AT(WEFT_ERROR_ARGUMENT, "name",
                       "'%s' is a function of the language; give it another name", name);
    if (function && (!function->name || !function->parameters || !function->body))
        return FAIL_AT(WEFT_ERROR_ARGUMENT, "function",
                       "its name, its parameters or its body are NULL");
    memset(host.access, 'b', sizeof host.access);
    return bind_name(name, &host);
}

uint64_t weft__host_bindings(void) { return atomic_load_explicit(&bindings, memory_order_acquire); }

bool weft__host_find(weft__lang_name name, weft__host *host)
{
    pthread_mutex_lock(&mutex);
    const bound *place = find(name.text, name.length);
    if (place)
        *host = place->host;
    pthread_mutex_unlock(&mutex);
    return place && (host->function || host->body);
}
