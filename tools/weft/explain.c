/* weft explain: what an expression becomes, for a target that need not be here, or what the
 * functions of a file do. */
#include "command.h"
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char help[] =
    "usage: weft explain CODE [OPERAND ...] [--target NAME]\n"
    "       weft explain FILE [FUNCTION] [OPERAND ...] [--device NAME] [--host NAME=ACCESS] "
    "[--json] [--svg]\n"
    "\n"
    "Shows what CODE, as weft(...) takes it, becomes: types, kernels, their primitives and the "
    "code\n"
    "for a target. Nothing is computed, and the target's device need not be there.\n"
    "  NAME=f32[1024,1024]     an operand of that type and shape\n"
    "  NAME=FILE.npy           … of those of a file; also NAME=FILE.npz:MEMBER\n"
    "  NAME=NUMBER             a number\n"
    "  --target NAME           cuda, opencl, llvm, interpreter; default ir: no code\n"
    "\n"
    "Shows what the functions of the C file FILE do (WEFT_FUNCTION): which loops are parallel, why "
    "others\n"
    "are not, what is fused. With operands for all parameters they are called, on zeros, and "
    "the kernels\n"
    "and copies of that are shown.\n"
    "  --device NAME           calls them in the context of that device\n"
    "  --host NAME=ACCESS      what a host function does with its arrays: read, write, both\n"
    "  --json                  an array with an object for each function\n"
    "  --svg                   a picture of one: host and device, copies between them\n"
    "\n"
    "  weft explain 'c = 1/a + 2*a*b' 'a=f32[1024]' 'b=f32[1024]' --target cuda\n"
    "  weft explain program.c 'x=f32[1000]' 'y=f32[1000]' n=1000 --device gpu:0\n";

static int explain(program *p, operands *all, const char *target)
{
    const char *names[OPERANDS_MAX + STATEMENTS_MAX];
    weft_operand values[OPERANDS_MAX + STATEMENTS_MAX];
    weft_array *handles[STATEMENTS_MAX] = {0};
    char *text = NULL;
    int count = 0, made = 0;
    for (; count < all->count; count++) {
        names[count] = all->list[count].name;
        values[count] = all->list[count].value;
    }
    for (int k = 0; k < p->count; k++) {
        const char *name = p->list[k].name;
        bool known = !*name || operand_find(all, name) || program_reads(p, name);
        for (int i = all->count; i < count; i++)
            known |= strcmp(names[i], name) == 0;
        if (known || !(handles[made] = weft_handle(.device = WEFT_CPU)))
            continue;
        names[count] = name;
        values[count++] = WEFT_OPERAND(handles[made++]);
    }
    const weft_status status = weft_explain_code(&text, target, p->text, count, names, values);
    if (status == WEFT_OK)
        fputs(text, stdout);
    weft_explain_free(text);
    for (int k = 0; k < made; k++)
        weft_array_release(handles[k]);
    return status == WEFT_OK ? DONE : failed_call();
}

static int check_target(const char *target)
{
    static const char *const targets[] = {"cuda", "opencl", "llvm", "interpreter", "ir"};
    for (size_t k = 0; k < sizeof targets / sizeof targets[0]; k++)
        if (strcmp(target, targets[k]) == 0)
            return DONE;
    return wrong_usage(
        "explain", "--target is '%s'; cuda, opencl, llvm, interpreter or ir was expected", target);
}

static int run(const char *code, operands *all, const char *target)
{
    program p;
    const int ending = program_open(&p, code)
                           ? explain(&p, all, strcmp(target, "ir") == 0 ? NULL : target)
                           : failed("the code has more than %d statements", STATEMENTS_MAX);
    program_close(&p);
    return ending;
}

typedef struct asked {
    const char *code, *target, *device;
    bool file, json, svg, missing;
    explanation about;
} asked;

static bool is_file(const char *path)
{
    struct stat facts;
    return stat(path, &facts) == 0 && S_ISREG(facts.st_mode);
}

/* One argument, or one option with its value. */
static int read_argument(asked *a, int count, char **arguments, int *k)
{
    const char *argument = arguments[*k], *value;
    if ((value = option_value(count, arguments, k, "--target", &a->missing)))
        a->target = value;
    else if ((value = option_value(count, arguments, k, "--device", &a->missing)))
        a->device = value;
    else if ((value = option_value(count, arguments, k, "--host", &a->missing))) {
        if (a->about.hosts_count == HOSTS_MAX || !strchr(value, '='))
            return wrong_usage("explain", "--host is '%s'; NAME=ACCESS was expected", value);
        a->about.hosts[a->about.hosts_count++] = value;
    } else if (strcmp(argument, "--json") == 0)
        a->json = true;
    else if (strcmp(argument, "--svg") == 0)
        a->svg = true;
    else if (argument[0] == '-')
        return wrong_usage("explain", "there is no option '%s'", argument);
    else if (!a->code) {
        a->code = argument;
        a->file = is_file(argument);
    } else if (a->file && !a->about.function && is_name(argument, strlen(argument)))
        a->about.function = argument;
    else
        return operand_add(&a->about.operands, "explain", argument, a->file ? NULL : a->code, true);
    return DONE;
}

/* The name of a C file, which as code would only be an unknown name. */
static bool names_source(const char *text)
{
    static const char *const endings[] = {".c", ".h", ".cc", ".cpp", ".cxx", ".hpp"};
    const char *dot = strrchr(text, '.');
    for (size_t k = 0; dot && k < sizeof endings / sizeof endings[0]; k++)
        if (strcmp(dot, endings[k]) == 0)
            return !strpbrk(text, " =");
    return false;
}

static int check(const asked *a)
{
    if (a->code && !a->file && names_source(a->code))
        return failed("%s: %s", a->code,
                      access(a->code, F_OK) == 0 ? "is no plain file" : strerror(errno));
    if (!a->code || a->missing)
        return wrong_usage("explain",
                           a->code ? "an option needs a value" : "there is no code and no file");
    if (a->file && a->target)
        return wrong_usage("explain", "--target is for code, not for a file");
    if (!a->file && (a->json || a->svg || a->device || a->about.hosts_count))
        return wrong_usage("explain",
                           "--device, --host, --json and --svg are for a file, and there is no "
                           "file '%s'",
                           a->code);
    if (a->json && a->svg)
        return wrong_usage("explain", "--json and --svg exclude each other");
    return a->target ? check_target(a->target) : DONE;
}

static int explain_asked(asked *a)
{
    if (!a->file)
        return run(a->code, &a->about.operands, a->target ? a->target : "ir");
    a->about.form = a->json ? WEFT_EXPLAIN_JSON : a->svg ? WEFT_EXPLAIN_SVG : WEFT_EXPLAIN_TEXT;
    a->about.device = WEFT_NO_DEVICE;
    if (a->device && (a->about.device = weft_device_named(a->device)).kind <= 0)
        return failed_call();
    return explain_file(a->code, &a->about);
}

int command_explain(int count, char **arguments)
{
    static asked a;
    int ending = DONE;
    for (int k = 0; k < count && ending == DONE; k++) {
        if (is_help(arguments[k])) {
            fputs(help, stdout);
            operands_free(&a.about.operands);
            return DONE;
        }
        ending = read_argument(&a, count, arguments, &k);
    }
    if (ending == DONE)
        ending = check(&a);
    if (ending == DONE)
        ending = explain_asked(&a);
    operands_free(&a.about.operands);
    return ending;
}
