/* weft explain FILE: what the functions of a C file do, with the types of their arguments also what
 * a call of them runs and copies. */
#include "command.h"
#include <string.h>

static weft_status do_nothing(int count, const weft_operand *arguments, void *context)
{
    (void)count, (void)arguments, (void)context;
    return WEFT_OK;
}

/* Host functions that the program would bind do nothing here. What is wrong with the function
 * itself is said when it is shown. */
static int bind_hosts(const weft_function *f, const explanation *e)
{
    static const char key[] = "\"calls\": \"";
    char *text = NULL;
    if (weft_function_explain_as(&text, WEFT_EXPLAIN_JSON, f) != WEFT_OK)
        return FAILED;
    for (const char *at = text; (at = strstr(at, key)) != NULL;) {
        char name[NAME_ROOM];
        at += strlen(key);
        (void)snprintf(name, sizeof name, "%.*s", (int)strcspn(at, "\""), at);
        const char *access = NULL;
        for (int k = 0; k < e->hosts_count; k++)
            if (strncmp(e->hosts[k], name, strlen(name)) == 0 && e->hosts[k][strlen(name)] == '=')
                access = e->hosts[k] + strlen(name) + 1;
        if (weft_host_bind(name, do_nothing, .access = access) != WEFT_OK) {
            weft_explain_free(text);
            return failed_call();
        }
    }
    weft_explain_free(text);
    return DONE;
}

/* The operands in the order of the parameters; -1 if one is not given. */
static int gather(const weft_function *f, explanation *e, weft_operand *values)
{
    int count = 0;
    for (const char *at = f->parameters; *at;) {
        const size_t length = strspn(at, NAME_LETTERS);
        char name[NAME_ROOM];
        if (!length) {
            at++;
            continue;
        }
        (void)snprintf(name, sizeof name, "%.*s", (int)length, at);
        const operand *o = operand_find(&e->operands, name);
        if (!o || count == OPERANDS_MAX) {
            memcpy(e->lacking, name, sizeof name);
            return -1;
        }
        values[count++] = o->value;
        at += length;
    }
    return count;
}

/* What it returns is computed only if it is asked for: as a number, or else as an array. */
static weft_status call_asking(const weft_function *f, int count, const weft_operand *values)
{
    double number[2];
    weft_array *array = NULL;
    const weft_result results[] = {{number, WEFT_F64}, {&array, WEFT_DTYPE_DEFAULT}};
    if (weft_call_with(f, 0, NULL, count, values) != WEFT_OK)
        return weft_error_code();
    for (int k = 0; k < 2; k++)
        if (weft_call_with(f, 1, &results[k], count, values) == WEFT_OK) {
            weft_array_release(array);
            return WEFT_OK;
        }
    return weft_call_with(f, 0, NULL, count, values);
}

static int call(const weft_function *f, explanation *e)
{
    static weft_operand values[OPERANDS_MAX];
    const int count = gather(f, e, values);
    if (count < 0)
        return DONE;
    e->called = true;
    int ending = bind_hosts(f, e);
    if (ending != DONE)
        return ending;
    if (e->device.kind > 0)
        weft_device_push(e->device);
    if (call_asking(f, count, values) != WEFT_OK)
        ending = failed_call();
    if (e->device.kind > 0)
        weft_device_pop();
    return ending;
}

static int show(const weft_function *f, const explanation *e, bool first)
{
    char *text = NULL;
    if (weft_function_explain_as(&text, e->form, f) != WEFT_OK)
        return failed_call();
    printf("%s%s", first ? "" : e->form == WEFT_EXPLAIN_JSON ? ",\n" : "\n", text);
    weft_explain_free(text);
    return DONE;
}

static const weft_function *find(const source *s, const char *name)
{
    for (int k = 0; k < s->count; k++)
        if (strcmp(s->functions[k].name, name) == 0)
            return &s->functions[k];
    return NULL;
}

static int explain(const source *s, explanation *e)
{
    int ending = DONE, shown = 0;
    for (int k = 0; k < s->count; k++) /* those with a name of the language's only C can call */
        (void)weft_function_bind(s->functions[k].name, &s->functions[k]);
    if (e->function && !find(s, e->function))
        return failed("%s: there is no function '%s'", s->path, e->function);
    if (e->form == WEFT_EXPLAIN_SVG && !e->function && s->count > 1)
        return failed("%s: has %d functions; name the one for --svg", s->path, s->count);
    printf(e->form == WEFT_EXPLAIN_JSON ? "[" : "");
    for (int k = 0; k < s->count; k++) {
        if (e->function && strcmp(s->functions[k].name, e->function) != 0)
            continue;
        const int one = call(&s->functions[k], e), other = show(&s->functions[k], e, !shown);
        shown += other == DONE;
        ending = one != DONE || other != DONE ? FAILED : ending;
    }
    printf(e->form == WEFT_EXPLAIN_JSON ? "]\n" : "");
    if (e->operands.count && !e->called)
        ending =
            failed("%s: nothing was called: parameter '%s' has no operand", s->path, e->lacking);
    return ending;
}

int explain_file(const char *path, explanation *e)
{
    static source s;
    int ending = source_open(&s, path);
    if (ending == DONE)
        ending = explain(&s, e);
    for (int k = 0; k < s.count; k++)
        (void)weft_function_bind(s.functions[k].name, NULL);
    source_close(&s);
    return ending;
}
