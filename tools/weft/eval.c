/* weft eval: computes an expression on files, numbers and random arrays. */
#include "command.h"
#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char help[] =
    "usage: weft eval CODE [OPERAND ...] [-o NAME=FILE ...] [OPTION ...]\n"
    "\n"
    "Computes CODE, as weft(...) takes it, on the operands:\n"
    "  NAME=FILE.npy           an array of a file; also NAME=FILE.npz:MEMBER\n"
    "  FILE.npz                the arrays of a file that CODE names\n"
    "  NAME=NUMBER             as 2, 0x10, 1e-3\n"
    "  NAME=f32[1024,1024]     random: floats from 0 to 1, integers from 0 to 99\n"
    "\n"
    "What CODE assigns and does not use goes to its file or is printed; so is the value of\n"
    "an expression at its end.\n"
    "  -o NAME=FILE            saves a result as .npy, .npz (several may share one) or .png\n"
    "  --device NAME           where to compute: cpu, cuda:0, opencl:0, gpu; 'weft info' lists "
    "them\n"
    "  --engine NAME           of the CPU: auto, interpreter, llvm\n"
    "  --seed NUMBER           of random operands; default 0\n"
    "  --stream WHEN           in pieces, with little memory: auto (from 256 MB on), always, "
    "never\n"
    "  --compress              .npz files with zlib\n"
    "  --json                  results as JSON\n"
    "\n"
    "Programs of single elements are streamed in pieces when their files are mapped: .npy, or "
    ".npz\n"
    "without compression, in C order and of one shape. So are sum, prod, min, max, mean, any and "
    "all of\n"
    "everything, where they stand alone: 's = sum(a*b)'. The bits are those of one piece.\n"
    "\n"
    "  weft eval 'c = 1/a + 2*a*b; s = sum(c)' a=a.npy b=b.npy -o c=c.npy\n"
    "  weft eval 'sqrt(mean(x*x))' 'x=f64[1000000]' --seed 7\n";

enum { STREAM_FROM = 256 << 20 };

typedef struct options {
    const char *code, *device, *engine, *stream;
    const char *outputs[OUTPUTS_MAX], *arguments[OPERANDS_MAX];
    int outputs_count, arguments_count;
    uint64_t seed;
    bool json, compress, help, missing;
} options;

static bool read_seed(const char *text, uint64_t *seed)
{
    char *end;
    errno = 0;
    *seed = strtoull(text, &end, 0);
    return isdigit((unsigned char)*text) && !*end && !errno;
}

/* One argument, or an option with its value. */
static int read_argument(options *o, int count, char **arguments, int *at)
{
    const char *value, *argument = arguments[*at];
    if (is_help(argument))
        o->help = true;
    else if (strcmp(argument, "--json") == 0)
        o->json = true;
    else if (strcmp(argument, "--compress") == 0)
        o->compress = true;
    else if ((value = option_value(count, arguments, at, "--device", &o->missing)))
        o->device = value;
    else if ((value = option_value(count, arguments, at, "--engine", &o->missing)))
        o->engine = value;
    else if ((value = option_value(count, arguments, at, "--stream", &o->missing)))
        o->stream = value;
    else if ((value = option_value(count, arguments, at, "--seed", &o->missing))) {
        if (!o->missing && !read_seed(value, &o->seed))
            return wrong_usage("eval", "--seed is '%s'; a whole number was expected", value);
    } else if ((value = option_value(count, arguments, at, "-o", &o->missing))) {
        if (o->outputs_count == OUTPUTS_MAX)
            return wrong_usage("eval", "there are more than %d outputs", OUTPUTS_MAX);
        o->outputs[o->outputs_count++] = value;
    } else if (argument[0] == '-' && argument[1] && !o->code)
        return wrong_usage("eval",
                           "there is no option '%s'; code that begins with '-' goes in "
                           "parentheses",
                           argument);
    else if (argument[0] == '-')
        return wrong_usage("eval", "there is no option '%s'", argument);
    else if (!o->code)
        o->code = argument;
    else if (o->arguments_count == OPERANDS_MAX)
        return wrong_usage("eval", "there are more than %d operands", OPERANDS_MAX);
    else
        o->arguments[o->arguments_count++] = argument;
    if (o->missing)
        return wrong_usage("eval", "%s needs a value", argument);
    return DONE;
}

static bool one_of(const char *text, const char *const *list)
{
    for (; text && *list; list++)
        if (strcmp(text, *list) == 0)
            return true;
    return !text;
}

static int read_options(options *o, int count, char **arguments)
{
    static const char *const engines[] = {"auto", "interpreter", "llvm", NULL};
    static const char *const streams[] = {"auto", "always", "never", NULL};
    for (int k = 0; k < count; k++) {
        const int code = read_argument(o, count, arguments, &k);
        if (code != DONE || o->help)
            return code;
    }
    if (!o->code)
        return wrong_usage("eval", "there is no code to compute");
    if (!one_of(o->engine, engines))
        return wrong_usage("eval", "--engine is '%s'; auto, interpreter or llvm was expected",
                           o->engine);
    if (!one_of(o->stream, streams))
        return wrong_usage("eval", "--stream is '%s'; auto, always or never was expected",
                           o->stream);
    return DONE;
}

/* Where a result goes, or NULL. */
static const char *file_of(const options *o, const char *name)
{
    const size_t length = strlen(name);
    for (int k = 0; k < o->outputs_count; k++)
        if (strncmp(o->outputs[k], name, length) == 0 && o->outputs[k][length] == '=')
            return o->outputs[k] + length + 1;
    return NULL;
}

static bool ends_with(const char *text, const char *end)
{
    const size_t length = strlen(text), part = strlen(end);
    return length > part && strcmp(text + length - part, end) == 0;
}

/* Others would be NPY behind a name that says something else; /dev/stdout and pipes say nothing. */
static bool is_output(const char *path)
{
    struct stat facts;
    return ends_with(path, ".npy") || ends_with(path, ".npz") || ends_with(path, ".png") ||
           strncmp(path, "/dev/", 5) == 0 || (stat(path, &facts) == 0 && !S_ISREG(facts.st_mode));
}

/* Where the last part of a path begins; facts are those of the folder before it. */
static const char *split(const char *path, struct stat *facts)
{
    char folder[4096] = ".";
    const char *slash = strrchr(path, '/');
    if (slash)
        (void)snprintf(folder, sizeof folder, "%.*s/", (int)(slash - path), path);
    if (stat(folder, facts) != 0)
        *facts = (struct stat){0};
    return slash ? slash + 1 : path;
}

/* "x.npy" and "./x.npy". */
static bool is_one_file(const char *x, const char *y)
{
    struct stat first, second;
    const char *name = split(x, &first), *other = split(y, &second);
    return strcmp(x, y) == 0 || (strcmp(name, other) == 0 && first.st_ino &&
                                 first.st_ino == second.st_ino && first.st_dev == second.st_dev);
}

/* Of two results with one name, or in one file, one would be lost. */
static int check_repeated(const options *o, int position)
{
    const char *text = o->outputs[position], *equals = strchr(text, '=');
    for (int k = 0; k < position; k++) {
        const char *other = strchr(o->outputs[k], '=');
        if (other - o->outputs[k] == equals - text &&
            strncmp(o->outputs[k], text, (size_t)(equals - text)) == 0)
            return wrong_usage("eval", "-o %s: '%.*s' goes to a file already", text,
                               (int)(equals - text), text);
        if (is_one_file(other + 1, equals + 1) &&
            (!ends_with(equals, ".npz") || strcmp(other, equals) != 0))
            return wrong_usage("eval",
                               "-o %s: another result goes to this file; several fit into one "
                               ".npz, under one name",
                               text);
    }
    return DONE;
}

static int check_outputs(const options *o, const program *p)
{
    for (int k = 0; k < o->outputs_count; k++) {
        const char *text = o->outputs[k], *equals = strchr(text, '=');
        char name[NAME_ROOM];
        if (!equals || !equals[1] || !is_name(text, (size_t)(equals - text)))
            return wrong_usage("eval", "-o %s: NAME=FILE was expected", text);
        if (!is_output(equals + 1))
            return wrong_usage("eval", "-o %s: a file .npy, .npz or .png was expected", text);
        (void)snprintf(name, sizeof name, "%.*s", (int)(equals - text), text);
        if (!program_assigns(p, name))
            return wrong_usage("eval", "-o %s: the code assigns no '%s'%s", text, name,
                               program_assigns(p, "result") ? "; its value is called 'result'"
                                                            : "");
        const int code = check_repeated(o, k);
        if (code != DONE)
            return code;
    }
    return DONE;
}

/* What is assigned is a result if it goes to a file, was given, or nothing uses it. */
static int find_results(evaluation *e, const options *o)
{
    for (int k = 0; k < e->program.count; k++) {
        const char *name = e->program.list[k].name, *file = file_of(o, name);
        bool known = !*name;
        for (int i = 0; i < e->count; i++)
            known |= strcmp(e->results[i].name, name) == 0;
        if (known ||
            (!file && !operand_find(&e->operands, name) && program_reads(&e->program, name)))
            continue;
        if (e->count == OUTPUTS_MAX)
            return failed("the code has more than %d results", OUTPUTS_MAX);
        result *r = &e->results[e->count++];
        memcpy(r->name, name, sizeof r->name);
        r->file = file;
    }
    return DONE;
}

/* Operands, then handles for results that are no operands. */
static int run_whole(evaluation *e)
{
    const char *names[OPERANDS_MAX + OUTPUTS_MAX];
    weft_operand values[OPERANDS_MAX + OUTPUTS_MAX];
    int count = 0;
    for (; count < e->operands.count; count++) {
        operand *o = &e->operands.list[count];
        if (o->value.tag == WEFT_OPERAND_ARRAY) {
            weft_array *here = operand_array(o);
            weft_array *moved = here ? weft_to_device(here, e->device, NULL) : NULL;
            if (!moved)
                return failed_call();
            weft_array_release(o->value.value.array);
            o->value.value.array = moved;
        }
        names[count] = o->name;
        values[count] = o->value;
    }
    for (int k = 0; k < e->count; k++) {
        result *r = &e->results[k];
        const operand *given = operand_find(&e->operands, r->name);
        if (given && given->value.tag != WEFT_OPERAND_ARRAY)
            return failed("%s: a number cannot be assigned; give it another name", r->name);
        r->array =
            given ? weft_array_retain(given->value.value.array) : weft_handle(.device = e->device);
        if (!r->array)
            return failed_call();
        if (given)
            continue;
        names[count] = r->name;
        values[count++] = WEFT_OPERAND(r->array);
    }
    return weft_evaluate(e->program.text, count, names, values) == WEFT_OK ? DONE : failed_call();
}

/* All results that go to the same .npz file, at the first of them. */
static weft_status save_npz(const evaluation *e, int first)
{
    const char *names[OUTPUTS_MAX];
    weft_array *arrays[OUTPUTS_MAX];
    const weft_save_options how = {.struct_size = sizeof how, .compress = e->compress};
    int count = 0;
    for (int k = 0; k < e->count; k++) {
        if (!e->results[k].file || strcmp(e->results[k].file, e->results[first].file) != 0)
            continue;
        if (k < first)
            return WEFT_OK;
        names[count] = e->results[k].name;
        arrays[count++] = e->results[k].array;
    }
    return weft_save_all(e->results[first].file, count, names, arrays, &how);
}

static int save_results(const evaluation *e)
{
    for (int k = 0; k < e->count; k++) {
        const result *r = &e->results[k];
        if (!r->file || !r->array)
            continue;
        const weft_status status = ends_with(r->file, ".npz")   ? save_npz(e, k)
                                   : ends_with(r->file, ".png") ? weft_save_png(r->file, r->array)
                                                                : weft_save(r->file, r->array);
        if (status != WEFT_OK)
            return failed_call();
    }
    return DONE;
}

static int show_json(const evaluation *e)
{
    bool read = true;
    printf("{");
    for (int k = 0; k < e->count; k++) {
        const result *r = &e->results[k];
        printf(k ? ", " : "");
        json_text(r->name);
        printf(": {");
        if (r->file) {
            printf("\"file\": ");
            json_text(r->file);
            printf(r->array ? ", " : "");
        }
        if (r->array)
            read &= json_array(r->array);
        printf("}");
    }
    printf("}\n");
    return read ? DONE : failed_call();
}

static int show_results(const evaluation *e)
{
    if (e->json)
        return show_json(e);
    for (int k = 0; k < e->count; k++) {
        const result *r = &e->results[k];
        char shape[256];
        if (r->file)
            continue;
        printf("%s = ", r->name);
        if (weft_array_ndim(r->array) > 0) {
            (void)weft_shape_format(weft_array_shape(r->array), shape, sizeof shape);
            printf("%s %s\n", weft_dtype_name(weft_array_dtype(r->array)), shape);
        }
        if (weft_print(r->array) != WEFT_OK)
            return failed_call();
    }
    return DONE;
}

static int compute(evaluation *e, const options *o)
{
    const char *why = stream_refuses(e), *when = o->stream ? o->stream : "auto";
    if (why && strcmp(when, "always") == 0)
        return failed("this cannot be computed in pieces: %s; use --stream auto", why);
    const bool large = stream_bytes(e) >= STREAM_FROM;
    const bool streamed =
        !why && (strcmp(when, "always") == 0 || (strcmp(when, "auto") == 0 && large));
    if (large && why && strcmp(when, "auto") == 0)
        fprintf(stderr, "weft: computed in one piece, with all of it in memory: %s\n", why);
    int code = streamed ? stream_run(e) : run_whole(e);
    if (code == DONE)
        code = save_results(e);
    return code == DONE ? show_results(e) : code;
}

static int prepare(evaluation *e, const options *o)
{
    e->device = o->device ? weft_device_named(o->device) : weft_device_default();
    if (e->device.kind <= 0)
        return failed_call();
    weft_random_seed(o->seed);
    for (int k = 0; k < o->arguments_count; k++) {
        const int code = operand_add(&e->operands, "eval", o->arguments[k], o->code, false);
        if (code != DONE)
            return code;
    }
    if (!program_open(&e->program, o->code))
        return failed("the code has more than %d statements", STATEMENTS_MAX);
    const int code = check_outputs(o, &e->program);
    return code == DONE ? find_results(e, o) : code;
}

/* Files are mapped: that one cannot be read is known when it is touched. */
static void end_unread(int number)
{
    static const char text[] = "weft: a file could not be read to its end: it was shortened "
                               "meanwhile, or its disk failed\n";
    const ssize_t written = write(STDERR_FILENO, text, sizeof text - 1);
    (void)number, (void)written;
    _exit(FAILED);
}

int command_eval(int count, char **arguments)
{
    options o = {.seed = 0};
    static evaluation e;
    int code = read_options(&o, count, arguments);
    if (code != DONE || o.help) {
        if (o.help)
            fputs(help, stdout);
        return code;
    }
    (void)signal(SIGBUS, end_unread);
    if (o.engine)
        (void)setenv("WEFT_ENGINE", o.engine, 1);
    e.json = o.json;
    e.compress = o.compress;
    code = prepare(&e, &o);
    if (code == DONE)
        code = compute(&e, &o);
    for (int k = 0; k < e.count; k++)
        weft_array_release(e.results[k].array);
    operands_free(&e.operands);
    program_close(&e.program);
    return code;
}
