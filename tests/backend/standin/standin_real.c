/* Where a real NVRTC is named in WEFT_STANDIN_NVRTC, every kernel is compiled by it too, as Weft
 * asks, and what it refuses is refused. WEFT_STANDIN_TIMES names a file for the milliseconds,
 * WEFT_STANDIN_TEXTS a folder for the texts. */
#include "backend/standin/standin_real.h"
#include "backend/standin/standin.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static weft__nvrtc_functions real;
static void *library;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void open_real(void)
{
    const char *path = getenv("WEFT_STANDIN_NVRTC");
    library = path && *path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!library)
        return;
#define FIND(name, symbol, parameters)                                                             \
    {                                                                                              \
        void *found = dlsym(library, symbol);                                                      \
        memcpy(&real.name, &found, sizeof found);                                                  \
    }
    WEFT__NVRTC_FUNCTIONS(FIND)
#undef FIND
}

static void keep_time(double milliseconds, size_t text_bytes, size_t code_bytes)
{
    const char *path = getenv("WEFT_STANDIN_TIMES");
    FILE *file = path && *path ? fopen(path, "a") : NULL;
    if (!file)
        return;
    fprintf(file, "%.3f %zu %zu\n", milliseconds, text_bytes, code_bytes);
    fclose(file);
}

static char *log_of(nvrtcProgram program)
{
    size_t bytes = 0;
    char *log = real.GetProgramLogSize(program, &bytes) == 0 ? calloc(bytes + 1, 1) : NULL;
    if (log)
        real.GetProgramLog(program, log);
    return log;
}

static void keep_text(const char *text)
{
    static _Atomic int number;
    const char *folder = getenv("WEFT_STANDIN_TEXTS");
    char path[500];
    if (!folder || !*folder)
        return;
    snprintf(path, sizeof path, "%s/%ld-%d.cu", folder, (long)getpid(), number++);
    FILE *file = fopen(path, "w");
    if (!file)
        return;
    fputs(text, file);
    fclose(file);
}

int standin_compile_really(const char *text, int count, const char *const *options, char **log)
{
    struct timespec begin, end;
    nvrtcProgram program;
    size_t bytes = 0;
    keep_text(text);
    pthread_once(&once, open_real);
    if (!library)
        return 0;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    int code = real.CreateProgram(&program, text, "weft.cu", 0, NULL, NULL);
    if (code != 0)
        return code;
    code = real.CompileProgram(program, count, options);
    if (code == 0)
        code = real.GetCUBINSize(program, &bytes);
    clock_gettime(CLOCK_MONOTONIC, &end);
    if (code == 0)
        keep_time(1e3 * (double)(end.tv_sec - begin.tv_sec) +
                      1e-6 * (double)(end.tv_nsec - begin.tv_nsec),
                  strlen(text), bytes);
    else
        *log = log_of(program);
    real.DestroyProgram(&program);
    return code;
}
