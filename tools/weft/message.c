/* Messages, options and JSON. */
#include "command.h"
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { JSON_ELEMENTS = 1000 };

/* In red on a terminal, unless NO_COLOR asks for none. */
static void begin_message(void)
{
    const char *plain = getenv("NO_COLOR");
    const bool colour = isatty(STDERR_FILENO) && !(plain && *plain);
    (void)fflush(stdout);
    fprintf(stderr, colour ? "\033[31mweft:\033[0m " : "weft: ");
}

/* Names in files may be anything: what would speak to the terminal is '?'. */
static void tell(const char *format, va_list arguments)
{
    char *text = NULL;
    begin_message();
    if (vasprintf(&text, format, arguments) < 0)
        return;
    for (char *at = text; *at; at++)
        fputc((unsigned char)*at >= ' ' || *at == '\n' || *at == '\t' ? *at : '?', stderr);
    free(text);
}

int wrong_usage(const char *command, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    tell(format, arguments);
    va_end(arguments);
    fprintf(stderr, "\nTry 'weft %s --help'.\n", command);
    return WRONG_USAGE;
}

int failed(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    tell(format, arguments);
    va_end(arguments);
    fprintf(stderr, "\n");
    return FAILED;
}

/* Without the name of the function that failed, which the user did not call. */
int failed_call(void)
{
    const weft_error *error = weft_error_last();
    const char *message = error->message;
    const size_t length = strlen(error->operation);
    if (strncmp(message, error->operation, length) == 0 && message[length] == ':')
        message += length + 2;
    return failed("%s", message);
}

bool is_help(const char *argument)
{
    return strcmp(argument, "--help") == 0 || strcmp(argument, "-h") == 0;
}

const char *option_value(int count, char **arguments, int *at, const char *name, bool *missing)
{
    const char *argument = arguments[*at];
    const size_t length = strlen(name);
    if (strncmp(argument, name, length) != 0)
        return NULL;
    if (argument[length] == '=')
        return argument + length + 1;
    if (argument[length] != 0)
        return NULL;
    if (*at + 1 < count)
        return arguments[++*at];
    *missing = true;
    return "";
}

/* How many bytes a character has, if they are well-formed UTF-8; else 0. */
static size_t character(const unsigned char *at)
{
    const size_t more = at[0] < 0x80 ? 0 : at[0] < 0xe0 ? 1 : at[0] < 0xf0 ? 2 : 3;
    const bool bad = (at[0] >= 0x80 && at[0] < 0xc2) || at[0] > 0xf4 ||
                     (at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xed && at[1] > 0x9f) ||
                     (at[0] == 0xf0 && at[1] < 0x90) || (at[0] == 0xf4 && at[1] > 0x8f);
    for (size_t k = 1; k <= more; k++)
        if ((at[k] & 0xc0) != 0x80)
            return 0;
    return bad ? 0 : more + 1;
}

void json_text(const char *text)
{
    putchar('"');
    for (const unsigned char *at = (const unsigned char *)text; *at;) {
        const size_t bytes = character(at);
        if (*at == '"' || *at == '\\')
            printf("\\%c", *at);
        else if (*at < ' ')
            printf("\\u%04x", *at);
        else if (bytes)
            (void)fwrite(at, 1, bytes, stdout);
        else
            printf("\\ufffd");
        at += bytes ? bytes : 1;
    }
    putchar('"');
}

/* What JSON has no number for is a text. */
static void json_number(double number, int digits)
{
    if (number != number)
        printf("\"nan\"");
    else if (number - number != 0)
        printf(number > 0 ? "\"inf\"" : "\"-inf\"");
    else
        printf("%.*g", digits, number);
}

static void json_element(weft_dtype dtype, const void *at, int digits)
{
    const double *floats = at;
    int64_t integer;
    memcpy(&integer, at, sizeof integer);
    if (dtype == WEFT_BOOL)
        printf(integer ? "true" : "false");
    else if (dtype <= WEFT_I64)
        printf("%lld", (long long)integer);
    else if (dtype <= WEFT_U64)
        printf("%llu", (unsigned long long)integer);
    else if (dtype < WEFT_C64)
        json_number(*floats, digits);
    else {
        putchar('[');
        json_number(floats[0], digits);
        printf(", ");
        json_number(floats[1], digits);
        putchar(']');
    }
}

/* Elements in C order, in brackets for each axis. */
static void json_elements(weft_dtype dtype, weft_shape shape, const char *data, size_t item)
{
    const int digits = dtype == WEFT_F64 || dtype == WEFT_C128 ? 17 : 9;
    int64_t count = 1;
    (void)weft_shape_count(shape, &count);
    for (int64_t k = 0; k < count; k++) {
        int64_t below = 1;
        for (int axis = shape.ndim; axis-- > 0 && k % (below *= shape.size[axis]) == 0;)
            putchar('[');
        json_element(dtype, data + (size_t)k * item, digits);
        below = 1;
        for (int axis = shape.ndim; axis-- > 0 && (k + 1) % (below *= shape.size[axis]) == 0;)
            putchar(']');
        if (k + 1 < count)
            printf(", ");
    }
}

static bool json_values(weft_array *array)
{
    const weft_dtype dtype = weft_array_dtype(array);
    const weft_dtype wide = dtype <= WEFT_I64   ? WEFT_I64
                            : dtype <= WEFT_U64 ? WEFT_U64
                            : dtype < WEFT_C64  ? WEFT_F64
                                                : WEFT_C128;
    WEFT_AUTO weft_array *here = weft_to_device(array, WEFT_CPU, NULL);
    WEFT_AUTO weft_array *cast = here ? weft_cast(here, wide) : NULL;
    const size_t bytes = cast ? weft_array_bytes(cast) : 0;
    char *data = malloc(bytes + 1);
    const bool read = cast && data && weft_copy_to_host(cast, data, bytes) == WEFT_OK;
    if (read && bytes)
        json_elements(dtype, weft_array_shape(array), data, weft_dtype_size(wide));
    else
        printf("[]");
    free(data);
    return read;
}

bool json_array(weft_array *array)
{
    const weft_shape shape = weft_array_shape(array);
    printf("\"dtype\": \"%s\", \"shape\": [", weft_dtype_name(weft_array_dtype(array)));
    for (int k = 0; k < shape.ndim; k++)
        printf("%s%lld", k ? ", " : "", (long long)shape.size[k]);
    printf("]");
    if (weft_array_count(array) > JSON_ELEMENTS)
        return true;
    printf(", \"value\": ");
    return json_values(array);
}
