/* weft explain: what an expression becomes, for a target that need not be here. */
#include "command.h"
#include <string.h>

static const char help[] =
    "usage: weft explain CODE [OPERAND ...] [--target NAME]\n"
    "\n"
    "Shows what CODE, as weft(...) takes it, becomes: types, kernels, their primitives and the "
    "code\n"
    "for a target. Nothing is computed, and the target's device need not be there.\n"
    "  NAME=f32[1024,1024]     an operand of that type and shape\n"
    "  NAME=FILE.npy           … of those of a file; also NAME=FILE.npz:MEMBER\n"
    "  NAME=NUMBER             a number\n"
    "  --target NAME           cuda, opencl, llvm, interpreter; default ir: no code\n"
    "\n"
    "  weft explain 'c = 1/a + 2*a*b' 'a=f32[1024]' 'b=f32[1024]' --target cuda\n";

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

int command_explain(int count, char **arguments)
{
    static operands all;
    const char *code = NULL, *target = "ir", *value;
    bool missing = false;
    int ending = DONE;
    for (int k = 0; k < count && ending == DONE; k++) {
        if (is_help(arguments[k])) {
            fputs(help, stdout);
            operands_free(&all);
            return DONE;
        }
        const char *argument = arguments[k];
        if ((value = option_value(count, arguments, &k, "--target", &missing)))
            target = value;
        else if (argument[0] == '-')
            ending = wrong_usage("explain", "there is no option '%s'", argument);
        else if (!code)
            code = argument;
        else
            ending = operand_add(&all, "explain", argument, true);
    }
    if (ending == DONE && (!code || missing))
        ending = wrong_usage("explain", code ? "--target needs a value" : "there is no code");
    if (ending == DONE)
        ending = check_target(target);
    if (ending == DONE) {
        operands_drop_spare(&all, code);
        ending = run(code, &all, target);
    }
    operands_free(&all);
    return ending;
}
