/* Runs one test of this program in a process of its own, under the emulator where there is one; and
 * finds what was built with it. */
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/check.h"

extern char **environ;

enum { MOST_ARGUMENTS = 16 };

bool test_alone(void) { return getenv("WEFT_TEST_ALONE") != NULL; }

static pid_t start(char **arguments)
{
    pid_t child = -1;
    fflush(stdout);
    setenv("WEFT_TEST_ALONE", "1", 1);
    bool started = posix_spawnp(&child, arguments[0], NULL, NULL, arguments, environ) == 0;
    unsetenv("WEFT_TEST_ALONE");
    return started ? child : -1;
}

bool test_ended_well(int child)
{
    int status = -1;
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
           WEXITSTATUS(status) == 0;
}

static bool find_program(char *to, size_t room)
{
    ssize_t length = readlink("/proc/self/exe", to, room - 1);
    to[length < 0 ? 0 : length] = '\0';
    return length >= 0;
}

const char *test_library(const char *built)
{
    static char found[4096 + 256];
    char program[4096];
    if (access(built, R_OK) == 0 || !find_program(program, sizeof program)) {
        return built;
    }
    *strrchr(program, '/') = '\0';
    snprintf(found, sizeof found, "%s%.255s", program, strrchr(built, '/'));
    return found;
}

int test_start_alone(const char *name)
{
    char program[4096];
    if (!find_program(program, sizeof program)) {
        return -1;
    }

    /* The emulator is a command with arguments, as "qemu-aarch64 -L /usr/aarch64-linux-gnu". */
    char emulator[512];
    const char *given = getenv("WEFT_TEST_EMULATOR");
    snprintf(emulator, sizeof emulator, "%s", given ? given : "");
    char *arguments[MOST_ARGUMENTS];
    int count = 0;
    char *rest = emulator;
    for (char *word; count < MOST_ARGUMENTS - 4 && (word = strtok_r(rest, " ", &rest)) != NULL;) {
        arguments[count++] = word;
    }
    char only[256];
    snprintf(only, sizeof only, "%s", name);
    arguments[count++] = program;
    arguments[count++] = "--only";
    arguments[count++] = only;
    arguments[count] = NULL;
    return start(arguments);
}

bool test_passes_alone(const char *name) { return test_ended_well(test_start_alone(name)); }
