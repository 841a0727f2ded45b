/* Opening zlib at run time. */
#include "file/zlib.h"
#include "core/allocate.h"
#include "core/status.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { LEVEL = 6, DEFLATED = 8, MEMORY = 8, RAW = -15 };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static weft__zlib functions;
static bool found;

/* Objects and functions have pointers of one size here. */
static bool find(void *library, const char *name, void *function)
{
    void *address = dlsym(library, name);
    memcpy(function, &address, sizeof address);
    return address != NULL;
}

static void open_library(void)
{
    const char *file = secure_getenv("WEFT_ZLIB");
    void *library = dlopen(file && *file ? file : "libz.so.1", RTLD_LAZY | RTLD_LOCAL);
    found = library && find(library, "inflateInit2_", &functions.inflate_init) &&
            find(library, "inflate", &functions.inflate) &&
            find(library, "inflateEnd", &functions.inflate_end) &&
            find(library, "deflateInit2_", &functions.deflate_init) &&
            find(library, "deflate", &functions.deflate) &&
            find(library, "deflateEnd", &functions.deflate_end);
}

const weft__zlib *weft__zlib_get(void)
{
    pthread_once(&once, open_library);
    return found ? &functions : NULL;
}

weft_status weft__zlib_missing(const char *what)
{
    return FAIL(WEFT_ERROR_UNSUPPORTED,
                "%s needs zlib, and libz.so.1 was not found; install it (apt-get install zlib1g), "
                "name its file in WEFT_ZLIB, or do without compression",
                what);
}

static void *allocate(void *context, unsigned items, unsigned size)
{
    (void)context;
    return weft__allocate((size_t)items * size);
}

static void release(void *context, void *pointer)
{
    (void)context;
    weft__free(pointer);
}

static weft_status begun(int code)
{
    return code == WEFT__Z_OK       ? WEFT_OK
           : code == WEFT__Z_MEMORY ? WEFT_ERROR_MEMORY /* the allocation that failed has said so */
                                    : FAIL(WEFT_ERROR_SYSTEM, "zlib refused to begin: %d", code);
}

weft_status weft__inflate_begin(weft__zstream *stream)
{
    *stream = (weft__zstream){.allocate = allocate, .release = release};
    return begun(functions.inflate_init(stream, RAW, "1.2.0", (int)sizeof *stream));
}

weft_status weft__deflate_begin(weft__zstream *stream, int bits)
{
    *stream = (weft__zstream){.allocate = allocate, .release = release};
    return begun(functions.deflate_init(stream, LEVEL, DEFLATED, bits, MEMORY, 0, "1.2.0",
                                        (int)sizeof *stream));
}
