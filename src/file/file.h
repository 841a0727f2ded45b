/* Arrays in files: what the parts of this folder share. */
#ifndef WEFT_FILE_FILE_H
#define WEFT_FILE_FILE_H

#include "core/array.h"
#include <weft/file.h>

/* What the header of an NPY file says. */
typedef struct weft__npy {
    weft_dtype dtype;
    weft_shape shape;
    bool fortran, swapped;
    size_t bytes; /* of the elements */
} weft__npy;

enum { WEFT__NPY_ROOM = 384 }; /* of a header that is written */

/* The text of a header, without what comes before it. `path` is for messages. */
weft_status weft__npy_parse(const char *path, const char *text, size_t length, weft__npy *npy);
/* Magic, version and text, padded to a multiple of 64; returns the length. */
size_t weft__npy_write(const weft__npy *npy, char *header);
/* Bytes of what is swapped as one: an element, or a part of a complex one. */
size_t weft__npy_part(weft_dtype dtype);

/* An open file. */
typedef struct weft__disk_file {
    int descriptor;
    uint64_t size;
    const char *path;
} weft__disk_file;

weft_status weft__disk_file_open(weft__disk_file *source, const char *path);
void weft__disk_file_close(weft__disk_file *source);
weft_status weft__disk_file_read(const weft__disk_file *source, uint64_t at, void *data,
                                 size_t bytes);

/* One array of a file: where its bytes are, the header of NPY first. */
typedef struct weft__member {
    char *name;                /* without ".npy"; NULL in an NPY file */
    uint64_t at, stored, size; /* where it begins, its bytes in the file and when inflated */
    uint32_t checksum;
    bool deflated;
} weft__member;

/* The members of an NPZ file. */
weft_status weft__zip_list(const weft__disk_file *source, weft__member **members, int *count);
/* Where the bytes of a member begin: `at` of what zip_list gives is that of its local header. */
weft_status weft__zip_locate(const weft__disk_file *source, weft__member *member);

/* The bytes of a member, in order. */
typedef struct weft__input {
    const weft__disk_file *source;
    weft__member member;
    uint64_t at, given; /* next byte of the file, bytes handed out */
    uint32_t checksum;
    struct weft__inflater *inflater; /* NULL: not compressed */
} weft__input;

weft_status weft__input_open(weft__input *input, const weft__disk_file *source,
                             const weft__member *member);
void weft__input_close(weft__input *input);
/* Exactly that many bytes. */
weft_status weft__input_read(weft__input *input, void *data, size_t bytes);
/* Reads and checks the rest. */
weft_status weft__input_finish(weft__input *input);
/* Reads the header, up to the first element. */
weft_status weft__input_header(weft__input *input, weft__npy *npy);

uint32_t weft__crc32(uint32_t checksum, const void *data, size_t bytes);

/* A file that is being written. */
typedef struct weft__output {
    int descriptor;
    bool direct;                /* no plain file: nothing to rename */
    char *path, *folder, *name; /* the place, its folder, a name beside it while there is one */
    uint64_t written;
} weft__output;

weft_status weft__output_open(weft__output *output, const char *path);
weft_status weft__output_write(weft__output *output, const void *data, size_t bytes);
/* Over what was written before. */
weft_status weft__output_patch(weft__output *output, uint64_t at, const void *data, size_t bytes);
/* Puts the file into its place. */
weft_status weft__output_commit(weft__output *output);
/* Frees all, and removes what was not put into its place. */
void weft__output_close(weft__output *output);

/* Hands the elements of an array, in C order, to a function, in pieces. */
typedef weft_status weft__sink(void *context, const void *data, size_t bytes);
weft_status weft__array_emit(weft_array *array, weft__sink *sink, void *context);

/* Members of an NPZ file that is being written. */
typedef struct weft__zip_writer weft__zip_writer;
weft__zip_writer *weft__zip_writer_new(weft__output *output, bool compress);
weft_status weft__zip_writer_begin(weft__zip_writer *writer, const char *name);
weft_status weft__zip_writer_add(void *writer, const void *data, size_t bytes);
weft_status weft__zip_writer_end(weft__zip_writer *writer);
weft_status weft__zip_writer_finish(weft__zip_writer *writer);
void weft__zip_writer_free(weft__zip_writer *writer);

/* Bytes as text for messages: what is not printable is a '?'. */
typedef struct weft__quote {
    char text[64];
} weft__quote;
weft__quote weft__quote_of(const char *text, size_t length);

#endif
