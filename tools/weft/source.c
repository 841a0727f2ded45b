/* Functions of Weft's in a C file: the texts of WEFT_FUNCTION and its like. */
#include "command.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Behind a comment, a string or a character constant that begins at `at`; `at` if none does. */
static size_t skip(const char *text, size_t at)
{
    if (text[at] == '/' && text[at + 1] == '/')
        return at + strcspn(text + at, "\n");
    if (text[at] == '/' && text[at + 1] == '*') {
        const char *end = strstr(text + at + 2, "*/");
        return end ? (size_t)(end - text) + 2 : strlen(text);
    }
    if (text[at] != '"' && text[at] != '\'')
        return at;
    size_t end = at + 1;
    while (text[end] && text[end] != text[at] && text[end] != '\n')
        end += text[end] == '\\' && text[end + 1] ? 2 : 1;
    return text[end] ? end + 1 : end;
}

/* Where the argument that begins at `at` ends: at a comma or a parenthesis. */
static size_t argument_end(const char *text, size_t at, bool last)
{
    for (int depth = 0; text[at];) {
        const size_t behind = skip(text, at);
        if (behind > at) {
            at = behind;
            continue;
        }
        if (!depth && (text[at] == ')' || (text[at] == ',' && !last)))
            return at;
        depth += (strchr("([{", text[at]) != NULL) - (strchr(")]}", text[at]) != NULL);
        at++;
    }
    return at;
}

static char *copy(const char *text, size_t begin, size_t end)
{
    while (begin < end && isspace((unsigned char)text[begin]))
        begin++;
    while (end > begin && isspace((unsigned char)text[end - 1]))
        end--;
    return strndup(text + begin, end - begin);
}

/* What the options or the rule of a macro say. */
static weft_function_options read_options(const char *text, bool serial)
{
    weft_function_options o = {.struct_size = sizeof o, .serial = serial};
    const char *at = strstr(text, ".serial");
    at = at ? strchr(at, '=') : NULL;
    at = at ? at + 1 + strspn(at + 1, " \t\n") : NULL;
    o.serial |= at && (*at == '1' || strncmp(at, "true", 4) == 0);
    if (strstr(text, "WEFT_SERIAL_IGNORE"))
        o.serial_device = WEFT_SERIAL_IGNORE;
    if (strstr(text, "WEFT_SERIAL_HOST"))
        o.serial_device = WEFT_SERIAL_HOST;
    if (strstr(text, "WEFT_OFFLOAD_ALWAYS"))
        o.offload = WEFT_OFFLOAD_ALWAYS;
    if (strstr(text, "WEFT_OFFLOAD_NEVER"))
        o.offload = WEFT_OFFLOAD_NEVER;
    return o;
}

static size_t line_of(const source *s, size_t at)
{
    size_t line = 1;
    for (size_t i = 0; i < at; i++)
        line += s->text[i] == '\n';
    return line;
}

/* The line on which the code inside of the braces begins. */
static char *place_of(const source *s, size_t body)
{
    char place[4200];
    body += strspn(s->text + body, " \t\r\n");
    body += s->text[body] == '{';
    body += strspn(s->text + body, " \t\r\n");
    (void)snprintf(place, sizeof place, "%.4096s:%zu", s->path, line_of(s, body));
    return strdup(place);
}

/* The macro whose arguments begin at `at`; false if it is none after all. */
static bool add(source *s, const char *macro, size_t length, size_t at)
{
    const bool serial = length == strlen("WEFT_FUNCTION_SERIAL") && macro[14] == 'S';
    const int arguments = length == strlen("WEFT_FUNCTION") ? 3 : 4;
    size_t begin[4], end[4];
    for (int k = 0; k < arguments; k++) {
        begin[k] = at;
        end[k] = at = argument_end(s->text, at, k == arguments - 1);
        if (s->text[at++] != (k == arguments - 1 ? ')' : ','))
            return false;
    }
    char *options = arguments == 4 ? copy(s->text, begin[1], end[1]) : strdup("");
    weft_function *f = &s->functions[s->count];
    *f = (weft_function){.struct_size = sizeof *f,
                         .name = copy(s->text, begin[0], end[0]),
                         .parameters = copy(s->text, begin[arguments - 2], end[arguments - 2]),
                         .body = copy(s->text, begin[arguments - 1], end[arguments - 1]),
                         .place = place_of(s, begin[arguments - 1]),
                         .options = read_options(options, serial)};
    free(options);
    s->count++;
    return true;
}

static bool is_macro(const char *text, size_t length)
{
    static const char *const macros[] = {"WEFT_FUNCTION", "WEFT_FUNCTION_WITH",
                                         "WEFT_FUNCTION_SERIAL"};
    for (size_t k = 0; k < sizeof macros / sizeof macros[0]; k++)
        if (strlen(macros[k]) == length && memcmp(macros[k], text, length) == 0)
            return true;
    return false;
}

static void find(source *s)
{
    for (size_t at = 0; s->text[at] && s->count < FUNCTIONS_MAX;) {
        const size_t behind = skip(s->text, at), length = strspn(s->text + at, NAME_LETTERS);
        if (behind > at)
            at = behind;
        else if (length) {
            size_t open = at + length + strspn(s->text + at + length, " \t\r\n");
            if (is_macro(s->text + at, length) && s->text[open] == '(' &&
                !add(s, s->text + at, length, open + 1) && !s->unfinished)
                s->unfinished = line_of(s, at);
            at += length;
        } else if (s->text[at] == '#') { /* its definition is no function */
            do
                at += strcspn(s->text + at, "\n") + 1;
            while (at > 1 && s->text[at - 1] && s->text[at - 2] == '\\');
            at -= s->text[at - 1] == 0;
        } else
            at++;
    }
}

int source_open(source *s, const char *path)
{
    FILE *file = fopen(path, "r");
    *s = (source){.path = path};
    if (!file)
        return failed("%s: cannot be opened", path);
    s->text = calloc(1, SOURCE_MAX + 2);
    const size_t bytes = s->text ? fread(s->text, 1, SOURCE_MAX + 1, file) : 0;
    const bool read = s->text && !ferror(file) && bytes <= SOURCE_MAX;
    (void)fclose(file);
    if (!read)
        return failed("%s: cannot be read, or has more than %d bytes", path, (int)SOURCE_MAX);
    find(s);
    if (s->unfinished)
        return failed(
            "%s:%zu: WEFT_FUNCTION(name, (parameters), { ... }) was expected, with all of "
            "its brackets closed",
            path, s->unfinished);
    return s->count
               ? DONE
               : failed("%s: there is no WEFT_FUNCTION(name, (parameters), { ... }) in it", path);
}

void source_close(source *s)
{
    for (int k = 0; k < s->count; k++) {
        free((char *)s->functions[k].name);
        free((char *)s->functions[k].parameters);
        free((char *)s->functions[k].body);
        free((char *)s->functions[k].place);
    }
    free(s->text);
}
