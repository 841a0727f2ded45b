/* zlib, opened at run time: its functions, with declarations of our own. */
#ifndef WEFT_FILE_ZLIB_H
#define WEFT_FILE_ZLIB_H

#include <stdbool.h>
#include <stddef.h>
#include <weft/status.h>

/* As in zlib.h; its layout is part of the ABI of libz.so.1. */
typedef struct weft__zstream {
    const unsigned char *next_in;
    unsigned avail_in;
    unsigned long total_in;
    unsigned char *next_out;
    unsigned avail_out;
    unsigned long total_out;
    const char *message;
    void *state;
    void *(*allocate)(void *context, unsigned items, unsigned size);
    void (*release)(void *context, void *pointer);
    void *context;
    int data_type;
    unsigned long adler, reserved;
} weft__zstream;

enum { WEFT__Z_NO_FLUSH = 0, WEFT__Z_FINISH = 4 };
enum { WEFT__Z_OK = 0, WEFT__Z_END = 1, WEFT__Z_MEMORY = -4, WEFT__Z_BUFFER = -5 };

typedef struct weft__zlib {
    int (*inflate_init)(weft__zstream *stream, int bits, const char *version, int size);
    int (*inflate)(weft__zstream *stream, int flush);
    int (*inflate_end)(weft__zstream *stream);
    int (*deflate_init)(weft__zstream *stream, int level, int method, int bits, int memory,
                        int strategy, const char *version, int size);
    int (*deflate)(weft__zstream *stream, int flush);
    int (*deflate_end)(weft__zstream *stream);
} weft__zlib;

/* NULL if there is none; weft__zlib_missing then fails with what to do. */
const weft__zlib *weft__zlib_get(void);
weft_status weft__zlib_missing(const char *what);

/* A stream for raw deflate data (bits = -15) or with zlib's own header (15). Its memory is counted
 * as the library's. */
weft_status weft__inflate_begin(weft__zstream *stream);
weft_status weft__deflate_begin(weft__zstream *stream, int bits);

#endif
