/* Opening libcuda and libnvrtc, and what their errors mean. */
#include "backend/cuda/library.h"
#include "core/status.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OLDEST_DRIVER = 11020, WHY = 200 };

weft__cu_functions weft__cu;
weft__nvrtc_functions weft__nvrtc;
static int driver_version, nvrtc_version;
static char nvrtc_why[WHY];
static pthread_once_t nvrtc_once = PTHREAD_ONCE_INIT;

/* A function pointer from a data pointer, which C does not convert. The first that is missing is
 * remembered. */
static void find(void *library, const char *symbol, void *function, const char **missing)
{
    void *found = dlsym(library, symbol);
    memcpy(function, &found, sizeof found);
    if (!found && !*missing)
        *missing = symbol;
}

/* The file that the environment names, else the first of the names that is there. */
static void *open_library(const char *variable, const char *const *names)
{
    const char *given = getenv(variable);
    void *library = NULL;
    if (given && *given)
        return dlopen(given, RTLD_NOW | RTLD_LOCAL);
    for (; *names && !library; names++)
        library = dlopen(*names, RTLD_NOW | RTLD_LOCAL);
    return library;
}

static const char *open_driver(char *text)
{
    static const char *const names[] = {"libcuda.so.1", "libcuda.so", NULL};
    const char *missing = NULL;
    void *library = open_library("WEFT_CUDA", names);
    if (!library)
        return "CUDA: the system has no libcuda.so.1, which comes with NVIDIA's driver";
#define FIND(name, symbol, parameters) find(library, symbol, &weft__cu.name, &missing);
    WEFT__CU_FUNCTIONS(FIND)
    const char *newer_missing = NULL;
#undef FIND
#define FIND(name, symbol, parameters) find(library, symbol, &weft__cu.name, &newer_missing);
    WEFT__CU_NEWER_FUNCTIONS(FIND)
#undef FIND
    if (newer_missing)
        weft__cu.GraphLaunch = NULL;
    if (missing) {
        snprintf(text, WHY, "CUDA: the driver has no %s; one for CUDA 11.2 or newer was expected",
                 missing);
        return text;
    }
    return NULL;
}

static const char *start_driver(char *text)
{
    CUresult code = weft__cu.Init(0);
    if (code == CUDA_SUCCESS)
        code = weft__cu.DriverGetVersion(&driver_version);
    if (code != CUDA_SUCCESS) {
        snprintf(text, WHY, "CUDA: there is a driver, but it does not start: %s (%d)",
                 weft__cuda_text_of(code), code);
        return text;
    }
    if (driver_version < OLDEST_DRIVER) {
        snprintf(text, WHY,
                 "CUDA: the driver is for CUDA %d.%d; one for 11.2 or newer was expected",
                 driver_version / 1000, driver_version % 1000 / 10);
        return text;
    }
    return NULL;
}

bool weft__cuda_open(const char **why)
{
    static char text[WHY];
    *why = open_driver(text);
    if (!*why)
        *why = start_driver(text);
    return !*why;
}

int weft__cuda_driver_version(void) { return driver_version; }

static void open_nvrtc(void)
{
    static const char *const names[] = {"libnvrtc.so.13",
                                        "libnvrtc.so.12",
                                        "libnvrtc.so.11.2",
                                        "/usr/local/cuda/lib64/libnvrtc.so.13",
                                        "/usr/local/cuda/lib64/libnvrtc.so.12",
                                        "/usr/local/cuda/lib64/libnvrtc.so.11.2",
                                        NULL};
    const char *missing = NULL;
    int major = 0, minor = 0;
    void *library = open_library("WEFT_NVRTC", names);
    if (!library) {
        const char *reason = dlerror();
        snprintf(nvrtc_why, WHY, "%s", reason ? reason : "it is not found");
        return;
    }
#define FIND(name, symbol, parameters) find(library, symbol, &weft__nvrtc.name, &missing);
    WEFT__NVRTC_FUNCTIONS(FIND)
#undef FIND
    if (missing)
        snprintf(nvrtc_why, WHY, "it has no %s; NVRTC 11.2 or newer was expected", missing);
    else if (weft__nvrtc.Version(&major, &minor) != 0)
        snprintf(nvrtc_why, WHY, "it does not tell its version");
    else
        nvrtc_version = 1000 * major + 10 * minor;
}

weft_status weft__nvrtc_open(void)
{
    pthread_once(&nvrtc_once, open_nvrtc);
    if (nvrtc_version)
        return WEFT_OK;
    return FAIL(WEFT_ERROR_UNSUPPORTED,
                "kernels for CUDA devices are compiled by NVRTC, and there is none to use: %s; "
                "install NVRTC 11.2 or newer, or name its file in WEFT_NVRTC",
                nvrtc_why);
}

int weft__nvrtc_version(void)
{
    pthread_once(&nvrtc_once, open_nvrtc);
    return nvrtc_version;
}

const char *weft__cuda_text_of(CUresult code)
{
    const char *text = NULL;
    if (weft__cu.GetErrorString(code, &text) != CUDA_SUCCESS || !text)
        return "an error that the driver has no text for";
    return text;
}

weft_status weft__cuda_fail(const char *call, CUresult code)
{
    const weft_status status =
        code == CUDA_ERROR_OUT_OF_MEMORY ? WEFT_ERROR_MEMORY : WEFT_ERROR_DEVICE;
    if (!call)
        return FAIL(status,
                    "the CUDA device did not finish it, or other work that was in flight: %s (%d)",
                    weft__cuda_text_of(code), code);
    return FAIL(status, "CUDA's cu%s says: %s (%d)", call, weft__cuda_text_of(code), code);
}

/* Errors of memory that cannot be corrected, of links, of kernels that ran. */
bool weft__cuda_is_fatal(CUresult code)
{
    static const short fatal[] = {4,   201, 214, 220, 226, 700, 702, 709,
                                  710, 714, 715, 716, 717, 718, 719, 721};
    for (size_t k = 0; k < sizeof fatal / sizeof *fatal; k++)
        if (fatal[k] == code)
            return true;
    return false;
}
