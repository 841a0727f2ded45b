/* The command weft: computes on files, looks at devices, code and caches. */
#include "command.h"
#include <errno.h>
#include <string.h>

static const struct command {
    const char *name, *text;
    int (*run)(int count, char **arguments);
} commands[] = {
    {"eval", "computes an expression on NPY and NPZ files", command_eval},
    {"info", "shows the devices, and what is missing", command_info},
    {"explain", "shows what an expression becomes, or functions of a file do", command_explain},
    {"bench", "measures the devices", command_bench},
    {"trace", "runs a program and writes its timeline", command_trace},
    {"cache", "shows or empties the disk cache of kernels", command_cache}};

enum { COMMANDS = sizeof commands / sizeof commands[0] };

static void usage(FILE *to)
{
    fprintf(to, "usage: weft COMMAND ...\n\n");
    for (int k = 0; k < COMMANDS; k++)
        fprintf(to, "  weft %-8s %s\n", commands[k].name, commands[k].text);
    fprintf(to, "\nweft COMMAND --help says more; weft --version names the version.\n");
}

/* What was printed and did not arrive is a failure, whatever the command says. */
static int finish(int code)
{
    if (fflush(stdout) != 0 || ferror(stdout))
        return failed("the output could not be written: %s", strerror(errno));
    return code;
}

int main(int count, char **arguments)
{
    const char *name = count > 1 ? arguments[1] : "";
    if (is_help(name) || strcmp(name, "help") == 0) {
        usage(stdout);
        return finish(DONE);
    }
    if (strcmp(name, "--version") == 0) {
        printf("weft %s\n", weft_version());
        return finish(DONE);
    }
    for (int k = 0; k < COMMANDS; k++)
        if (strcmp(name, commands[k].name) == 0)
            return finish(commands[k].run(count - 2, arguments + 2));
    if (*name)
        fprintf(stderr, "weft: there is no command '%s'\n", name);
    usage(stderr);
    return WRONG_USAGE;
}
