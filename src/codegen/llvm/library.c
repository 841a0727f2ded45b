/* Opening libLLVM at run time: finding it, its functions, its version, and the target of this
 * machine. */
#include "codegen/llvm/fatal.h"
#include "core/status.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    OLDEST = 15,
    NEWEST = 40,    /* the newest that is looked for by name */
    NEW_NAMES = 18, /* from this version on: libLLVM.so.18.1 */
    OLD_NAMES = 18  /* up to this version: libLLVM-18.so.1 */
};

weft__llvm_functions weft__llvm;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char reason[400]; /* why there is none; "" if there is one */
static char version[32];
static _Atomic bool opened; /* then the version is known, to all threads */

static const struct symbol {
    const char *name;
    size_t offset;
} symbols[] = {
#define SHORT(name, type) {"LLVM" #name, offsetof(weft__llvm_functions, name)},
#define LONG(result, name, arguments) {"LLVM" #name, offsetof(weft__llvm_functions, name)},
    WEFT__LLVM_SHORT_LIST(SHORT) WEFT__LLVM_LONG_LIST(LONG)
#undef SHORT
#undef LONG
};

static void refuse(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void refuse(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
}

static void *open_file(const char *name) { return dlopen(name, RTLD_LAZY | RTLD_LOCAL); }

/* The newest of the names that distributions use. */
static void *open_newest(char *name, size_t room)
{
    void *handle = NULL;
    for (int number = NEWEST; handle == NULL && number >= OLDEST; number--) {
        if (number >= NEW_NAMES) {
            (void)snprintf(name, room, "libLLVM.so.%d.1", number);
            handle = open_file(name);
        }
        if (handle == NULL && number <= OLD_NAMES) {
            (void)snprintf(name, room, "libLLVM-%d.so.1", number);
            handle = open_file(name);
        }
    }
    return handle;
}

/* A function of the library by its whole name; objects and functions have pointers of one size
 * here. */
typedef void plain_function(void);
static plain_function *function_of(void *handle, const char *name)
{
    plain_function *function;
    void *address = dlsym(handle, name);
    memcpy(&function, &address, sizeof function);
    return function;
}

static bool find_symbols(void *handle, const char *name)
{
    for (size_t k = 0; k < sizeof symbols / sizeof symbols[0]; k++) {
        plain_function *function = function_of(handle, symbols[k].name);
        if (function == NULL) {
            refuse("%s has no %s: it is no libLLVM of version %d or newer; install one, or name "
                   "another file in WEFT_LLVM",
                   name, symbols[k].name, OLDEST);
            return false;
        }
        memcpy((char *)&weft__llvm + symbols[k].offset, &function, sizeof function);
    }
    return true;
}

/* LLVM 15 has the functions we use, but not the one that tells its version. */
static bool check_version(void *handle, const char *name)
{
    typedef void get_version(unsigned *, unsigned *, unsigned *);
    get_version *get = (get_version *)function_of(handle, "LLVMGetVersion");
    unsigned major = OLDEST, minor = 0, patch = 0;
    if (get != NULL)
        get(&major, &minor, &patch);
    (void)snprintf(version, sizeof version, get ? "%u.%u.%u" : "%u", major, minor, patch);
    if (major < OLDEST)
        refuse("%s is LLVM %s; version %d or newer is needed", name, version, OLDEST);
    return major >= OLDEST;
}

#if defined __x86_64__
#define TARGET "X86"
#elif defined __aarch64__
#define TARGET "AArch64"
#else
#define TARGET ""
#endif

static bool start_target(void *handle, const char *name)
{
    static const char *const parts[] = {"TargetInfo", "Target", "TargetMC", "AsmPrinter"};
    for (size_t k = 0; k < sizeof parts / sizeof parts[0]; k++) {
        char symbol[64];
        (void)snprintf(symbol, sizeof symbol, "LLVMInitialize%s%s", TARGET, parts[k]);
        plain_function *start = function_of(handle, symbol);
        if (start == NULL) {
            refuse("%s was built without code for this machine (it has no %s)", name, symbol);
            return false;
        }
        start();
    }
    return true;
}

/* The library stays open: its code may be in use by other threads until the process ends. */
static void open_once(void)
{
    char newest[64];
    const char *name = getenv("WEFT_LLVM");
    const bool given = name != NULL && name[0] != '\0';
    void *handle = given ? open_file(name) : open_newest(newest, sizeof newest);
    if (!given)
        name = newest;
    if (handle == NULL && given)
        refuse("WEFT_LLVM names %s, which cannot be opened: %s", name, dlerror());
    else if (handle == NULL)
        refuse(
            "no libLLVM of version %d or newer was found; install one (Debian: libllvm19) or name "
            "the file in WEFT_LLVM",
            OLDEST);
    else if (!find_symbols(handle, name) || !check_version(handle, name) ||
             !start_target(handle, name))
        (void)dlclose(handle);
    else {
        weft__llvm_survive();
        atomic_store(&opened, true);
    }
}

weft_status weft__llvm_open(void)
{
    (void)pthread_once(&once, open_once);
    if (reason[0] != '\0')
        return FAIL(WEFT_ERROR_UNSUPPORTED, "%s", reason);
    return WEFT_OK;
}

const char *weft__llvm_version(void) { return atomic_load(&opened) ? version : NULL; }
