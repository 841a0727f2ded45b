/* Reading bytes of files, plain or compressed, and never more than there are. */
#include "core/allocate.h"
#include "file/file.h"
#include "file/zlib.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    BLOCK = 64 << 10,      /* bytes that are inflated from, or thrown away, at once */
    HEADER_MOST = 1 << 20, /* of a header; NumPy itself takes 10,000 */
    DEFLATE_MOST = 1032    /* no deflated byte becomes more */
};

typedef struct weft__inflater {
    weft__zstream stream;
    unsigned char block[BLOCK];
} inflater;

weft_status weft__disk_file_open(weft__disk_file *source, const char *path)
{
    struct stat facts;
    *source = (weft__disk_file){.descriptor = -1, .path = path};
    if (!path || !*path)
        return FAIL_AT(WEFT_ERROR_ARGUMENT, "path", "path is %s; the name of a file was expected",
                       path ? "empty" : "NULL");
    source->descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (source->descriptor < 0)
        return FAIL_AT(WEFT_ERROR_SYSTEM, "path", "%.300s: cannot be opened: %s", path,
                       strerror(errno));
    if (fstat(source->descriptor, &facts) == 0 && S_ISREG(facts.st_mode)) {
        source->size = (uint64_t)facts.st_size;
        return WEFT_OK;
    }
    weft__disk_file_close(source);
    return FAIL_AT(WEFT_ERROR_SYSTEM, "path",
                   "%.300s: is no plain file; only plain files can be read", path);
}

void weft__disk_file_close(weft__disk_file *source)
{
    if (source->descriptor >= 0)
        (void)close(source->descriptor);
    source->descriptor = -1;
}

weft_status weft__disk_file_read(const weft__disk_file *source, uint64_t at, void *data,
                                 size_t bytes)
{
    char *next = data;
    while (bytes > 0) {
        const ssize_t count = pread(source->descriptor, next, bytes, (off_t)at);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return FAIL(WEFT_ERROR_SYSTEM, "%.300s: %s at byte %llu", source->path,
                        count < 0 ? strerror(errno) : "the file ends", (unsigned long long)at);
        next += count;
        at += (uint64_t)count;
        bytes -= (size_t)count;
    }
    return WEFT_OK;
}

static weft_status damaged(const weft__input *input, const char *what)
{
    return FAIL(WEFT_ERROR_ARGUMENT, "%.200s: %s%s%s%s; the file is damaged", input->source->path,
                input->member.name ? "array '" : "",
                input->member.name
                    ? weft__quote_of(input->member.name, strlen(input->member.name)).text
                    : "",
                input->member.name ? "': " : "", what);
}

/* What a file says of the size of compressed data must be possible before it is believed. */
static weft_status open_inflater(weft__input *input)
{
    const weft__member *member = &input->member;
    if (!weft__zlib_get())
        return weft__zlib_missing("a compressed NPZ file");
    if (member->size / DEFLATE_MOST > member->stored)
        return damaged(input, "its compressed bytes cannot hold as much as it announces");
    inflater *made = weft__allocate(sizeof *made);
    if (!made)
        return weft_error_code();
    const weft_status status = weft__inflate_begin(&made->stream);
    if (status == WEFT_OK)
        input->inflater = made;
    else
        weft__free(made);
    return status;
}

weft_status weft__input_open(weft__input *input, const weft__disk_file *source,
                             const weft__member *member)
{
    *input = (weft__input){.source = source, .member = *member};
    if (member->name)
        TRY(weft__zip_locate(source, &input->member));
    input->at = input->member.at;
    return member->deflated ? open_inflater(input) : WEFT_OK;
}

void weft__input_close(weft__input *input)
{
    if (!input->inflater)
        return;
    (void)weft__zlib_get()->inflate_end(&input->inflater->stream);
    weft__free(input->inflater);
    input->inflater = NULL;
}

static weft_status refill(weft__input *input)
{
    inflater *state = input->inflater;
    const uint64_t rest = input->member.at + input->member.stored - input->at;
    const size_t count = rest < BLOCK ? (size_t)rest : BLOCK;
    if (count == 0)
        return damaged(input, "its compressed bytes end early");
    TRY(weft__disk_file_read(input->source, input->at, state->block, count));
    input->at += count;
    state->stream.next_in = state->block;
    state->stream.avail_in = (unsigned)count;
    return WEFT_OK;
}

static weft_status inflate_bytes(weft__input *input, unsigned char *data, size_t bytes)
{
    weft__zstream *stream = &input->inflater->stream;
    while (bytes > 0) {
        const unsigned wanted = bytes < (1u << 30) ? (unsigned)bytes : 1u << 30;
        stream->next_out = data;
        stream->avail_out = wanted;
        if (stream->avail_in == 0)
            TRY(refill(input));
        const int code = weft__zlib_get()->inflate(stream, WEFT__Z_NO_FLUSH);
        const unsigned made = wanted - stream->avail_out;
        if (code == WEFT__Z_MEMORY)
            return WEFT_ERROR_MEMORY;
        if (code == WEFT__Z_END ? made < bytes : code != WEFT__Z_OK && code != WEFT__Z_BUFFER)
            return damaged(input, code == WEFT__Z_END ? "it holds fewer bytes than it announces"
                                                      : "it cannot be decompressed");
        data += made;
        bytes -= made;
    }
    return WEFT_OK;
}

weft_status weft__input_read(weft__input *input, void *data, size_t bytes)
{
    if (bytes > input->member.size - input->given)
        return damaged(input, "it ends early");
    if (input->inflater)
        TRY(inflate_bytes(input, data, bytes));
    else
        TRY(weft__disk_file_read(input->source, input->at, data, bytes));
    if (!input->inflater)
        input->at += bytes;
    input->given += bytes;
    if (input->member.name)
        input->checksum = weft__crc32(input->checksum, data, bytes);
    return WEFT_OK;
}

weft_status weft__input_finish(weft__input *input)
{
    char rest[4096];
    if (!input->member.name)
        return WEFT_OK;
    while (input->given < input->member.size) {
        const uint64_t left = input->member.size - input->given;
        TRY(weft__input_read(input, rest, left < sizeof rest ? (size_t)left : sizeof rest));
    }
    return input->checksum == input->member.checksum ? WEFT_OK
                                                     : damaged(input, "its check sum is another");
}

static weft_status read_text(weft__input *input, size_t length, weft__npy *npy)
{
    char *text = weft__allocate(length + 1);
    if (!text)
        return weft_error_code();
    weft_status status = weft__input_read(input, text, length);
    if (status == WEFT_OK)
        status = weft__npy_parse(input->source->path, text, length, npy);
    weft__free(text);
    return status;
}

weft_status weft__input_header(weft__input *input, weft__npy *npy)
{
    unsigned char begin[12];
    const size_t given = input->member.size < 8 ? (size_t)input->member.size : 8;
    const size_t magic = given < 6 ? given : 6;
    TRY(weft__input_read(input, begin, given));
    if (memcmp(begin, "\x93NUMPY", magic) != 0)
        return FAIL(WEFT_ERROR_ARGUMENT,
                    "%.300s: is neither an NPY nor an NPZ file: it begins with '%s'",
                    input->source->path, weft__quote_of((const char *)begin, (uint32_t)magic).text);
    if (input->member.size < 10)
        return damaged(input, "it is too short for an NPY header");
    if (begin[6] < 1 || begin[6] > 3 || begin[7] != 0)
        return FAIL(WEFT_ERROR_UNSUPPORTED,
                    "%.300s: is of version %d.%d of the NPY format; 1.0, 2.0 and 3.0 are known",
                    input->source->path, begin[6], begin[7]);
    const size_t digits = begin[6] == 1 ? 2 : 4;
    TRY(weft__input_read(input, begin + 8, digits));
    size_t length = 0;
    for (size_t k = digits; k-- > 0;)
        length = length << 8 | begin[8 + k];
    if (length > HEADER_MOST || length > input->member.size - input->given)
        return damaged(input, "its NPY header announces more than there is");
    TRY(read_text(input, length, npy));
    if (npy->bytes > input->member.size - input->given)
        return FAIL(WEFT_ERROR_ARGUMENT,
                    "%.200s: %s of shape %s takes %zu bytes, and %llu are there; the file is "
                    "damaged or incomplete",
                    input->source->path, weft_dtype_name(npy->dtype),
                    weft__shape_text_of(&npy->shape).text, npy->bytes,
                    (unsigned long long)(input->member.size - input->given));
    return WEFT_OK;
}
