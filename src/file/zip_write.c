/* Writing an NPZ file: each array a member of a ZIP file, stored or deflated. */
#include "core/allocate.h"
#include "file/bytes.h"
#include "file/file.h"
#include "file/zlib.h"
#include <string.h>

enum {
    NAME_MOST = 65000,
    LOCAL_BYTES = 30,
    WIDE_BYTES = 20, /* the field with sizes of 64 bits */
    ALIGNMENT = 64,  /* of a member's first byte, so that its elements can be mapped */
    PADDING_LEAST = 6,
    PADDING_ID = 0xd935,
    VERSION = 45, /* sizes of 64 bits */
    UTF8 = 0x800,
    DATE = 0x21, /* 1980-01-01: the same arrays make the same file */
    BLOCK = 64 << 10
};

typedef struct written {
    char *name; /* with ".npy" */
    uint64_t at, stored, size;
    uint32_t checksum;
} written;

struct weft__zip_writer {
    weft__output *output;
    bool compress, open; /* a member has been begun */
    weft__zstream stream;
    written *members;
    size_t count, room, header; /* of the local header, with name and fields */
    unsigned char block[BLOCK];
};

weft__zip_writer *weft__zip_writer_new(weft__output *output, bool compress)
{
    if (compress && !weft__zlib_get())
        return weft__zlib_missing("a compressed NPZ file"), NULL;
    weft__zip_writer *writer = weft__allocate_zeroed(sizeof *writer);
    if (!writer)
        return NULL;
    writer->output = output;
    writer->compress = compress;
    return writer;
}

static void end_stream(weft__zip_writer *writer)
{
    if (writer->open && writer->compress)
        (void)weft__zlib_get()->deflate_end(&writer->stream);
    writer->open = false;
}

void weft__zip_writer_free(weft__zip_writer *writer)
{
    if (!writer)
        return;
    end_stream(writer);
    for (size_t k = 0; k < writer->count; k++)
        weft__free(writer->members[k].name);
    weft__free(writer->members);
    weft__free(writer);
}

static weft_status add_member(weft__zip_writer *writer, const char *name)
{
    const size_t length = strlen(name);
    if (length > NAME_MOST)
        return FAIL_AT(WEFT_ERROR_ARGUMENT, "names", "a name has %zu bytes; at most %d are allowed",
                       length, NAME_MOST);
    if (writer->count == writer->room) {
        const size_t room = writer->room ? 2 * writer->room : 8;
        written *more = weft__reallocate(writer->members, room * sizeof *more);
        if (!more)
            return weft_error_code();
        writer->members = more;
        writer->room = room;
    }
    char *copy = weft__allocate(length + 5);
    if (!copy)
        return weft_error_code();
    memcpy(copy, name, length);
    memcpy(copy + length, ".npy", 5);
    writer->members[writer->count++] = (written){.name = copy, .at = writer->output->written};
    return WEFT_OK;
}

/* Sizes and check sum are not known before the bytes: the header is written again then. */
static size_t local_header(const weft__zip_writer *writer, const written *member,
                           unsigned char *header)
{
    const size_t name = strlen(member->name);
    const size_t plain = LOCAL_BYTES + name + WIDE_BYTES + PADDING_LEAST;
    const size_t padding = (size_t)(-(member->at + plain) % ALIGNMENT) + PADDING_LEAST;
    memcpy(header, "PK\3\4", 4);
    unsigned char *at = weft__bytes_put(header + 4, VERSION, 2);
    at = weft__bytes_put(at, UTF8, 2);
    at = weft__bytes_put(at, writer->compress ? 8 : 0, 2);
    at = weft__bytes_put(at, (uint64_t)DATE << 16, 4);
    at = weft__bytes_put(at, member->checksum, 4);
    at = weft__bytes_put(at, UINT64_MAX, 8);
    at = weft__bytes_put(at, name, 2);
    at = weft__bytes_put(at, WIDE_BYTES + padding, 2);
    memcpy(at, member->name, name);
    at = weft__bytes_put(at + name, 1 | 16 << 16, 4);
    at = weft__bytes_put(at, member->size, 8);
    at = weft__bytes_put(at, member->stored, 8);
    at = weft__bytes_put(at, PADDING_ID | (uint64_t)(padding - 4) << 16, 4);
    memset(at, 0, padding - 4);
    weft__bytes_put(at, ALIGNMENT, 2);
    return (size_t)(at - header) + padding - 4;
}

static size_t header_room(const written *member)
{
    return LOCAL_BYTES + strlen(member->name) + WIDE_BYTES + PADDING_LEAST + ALIGNMENT;
}

weft_status weft__zip_writer_begin(weft__zip_writer *writer, const char *name)
{
    TRY(add_member(writer, name));
    const written *member = &writer->members[writer->count - 1];
    unsigned char *header = weft__allocate(header_room(member));
    if (!header)
        return weft_error_code();
    writer->header = local_header(writer, member, header);
    weft_status status = weft__output_write(writer->output, header, writer->header);
    weft__free(header);
    if (status == WEFT_OK && writer->compress)
        status = weft__deflate_begin(&writer->stream, -15);
    writer->open = status == WEFT_OK;
    return status;
}

static weft_status deflate_bytes(weft__zip_writer *writer, const void *data, unsigned bytes,
                                 int flush)
{
    weft__zstream *stream = &writer->stream;
    int code;
    stream->next_in = data;
    stream->avail_in = bytes;
    do {
        stream->next_out = writer->block;
        stream->avail_out = BLOCK;
        code = weft__zlib_get()->deflate(stream, flush);
        TRY(weft__output_write(writer->output, writer->block, BLOCK - stream->avail_out));
    } while (stream->avail_out == 0 || (flush == WEFT__Z_FINISH && code == WEFT__Z_OK));
    return WEFT_OK;
}

weft_status weft__zip_writer_add(void *context, const void *data, size_t bytes)
{
    weft__zip_writer *writer = context;
    written *member = &writer->members[writer->count - 1];
    const char *next = data;
    member->checksum = weft__crc32(member->checksum, data, bytes);
    member->size += bytes;
    if (!writer->compress)
        return weft__output_write(writer->output, data, bytes);
    while (bytes > 0) {
        const unsigned count = bytes < (1u << 30) ? (unsigned)bytes : 1u << 30;
        TRY(deflate_bytes(writer, next, count, WEFT__Z_NO_FLUSH));
        next += count;
        bytes -= count;
    }
    return WEFT_OK;
}

weft_status weft__zip_writer_end(weft__zip_writer *writer)
{
    written *member = &writer->members[writer->count - 1];
    if (writer->compress)
        TRY(deflate_bytes(writer, "", 0, WEFT__Z_FINISH));
    end_stream(writer);
    member->stored = writer->output->written - member->at - writer->header;
    unsigned char *header = weft__allocate(header_room(member));
    if (!header)
        return weft_error_code();
    const size_t length = local_header(writer, member, header);
    const weft_status status = weft__output_patch(writer->output, member->at, header, length);
    weft__free(header);
    return status;
}

static uint64_t narrow(uint64_t value) { return value < UINT32_MAX ? value : UINT32_MAX; }

/* An entry of the directory: sizes beyond 32 bits stand in a field at its end. */
static weft_status write_entry(weft__zip_writer *writer, const written *member)
{
    unsigned char entry[46], wide[28], *end = wide + 4;
    const uint64_t values[] = {member->size, member->stored, member->at};
    for (int k = 0; k < 3; k++)
        if (values[k] >= UINT32_MAX)
            end = weft__bytes_put(end, values[k], 8);
    const size_t extra = end == wide + 4 ? 0 : (size_t)(end - wide);
    memcpy(entry, "PK\1\2", 4);
    unsigned char *at = weft__bytes_put(entry + 4, VERSION | (uint64_t)VERSION << 16, 4);
    at = weft__bytes_put(at, UTF8 | (uint64_t)(writer->compress ? 8 : 0) << 16, 4);
    at = weft__bytes_put(at, (uint64_t)DATE << 16, 4);
    at = weft__bytes_put(at, member->checksum, 4);
    at = weft__bytes_put(at, narrow(member->stored), 4);
    at = weft__bytes_put(at, narrow(member->size), 4);
    at = weft__bytes_put(at, strlen(member->name), 2);
    at = weft__bytes_put(at, extra, 2);
    at = weft__bytes_put(at, 0, 8); /* comment, disk, attributes */
    at = weft__bytes_put(at, 0, 2);
    (void)weft__bytes_put(at, narrow(member->at), 4);
    (void)weft__bytes_put(wide, 1 | (uint64_t)(end - wide - 4) << 16, 4);
    TRY(weft__output_write(writer->output, entry, sizeof entry));
    TRY(weft__output_write(writer->output, member->name, strlen(member->name)));
    return weft__output_write(writer->output, wide, extra);
}

/* The records at the end, with those for large files where they are needed. */
static weft_status write_end(weft__zip_writer *writer, uint64_t directory, uint64_t bytes)
{
    unsigned char end[56 + 20 + 22], *at = end;
    const uint64_t here = writer->output->written, count = writer->count;
    if (count >= UINT16_MAX || bytes >= UINT32_MAX || directory >= UINT32_MAX) {
        memcpy(at, "PK\6\6", 4);
        at = weft__bytes_put(at + 4, 44, 8);
        at = weft__bytes_put(at, VERSION | (uint64_t)VERSION << 16, 4);
        at = weft__bytes_put(at, 0, 8);
        at = weft__bytes_put(at, count, 8);
        at = weft__bytes_put(at, count, 8);
        at = weft__bytes_put(at, bytes, 8);
        at = weft__bytes_put(at, directory, 8);
        memcpy(at, "PK\6\7\0\0\0\0", 8);
        at = weft__bytes_put(at + 8, here, 8);
        at = weft__bytes_put(at, 1, 4);
    }
    const uint64_t shown = count < UINT16_MAX ? count : UINT16_MAX;
    memcpy(at, "PK\5\6\0\0\0\0", 8);
    at = weft__bytes_put(at + 8, shown | shown << 16, 4);
    at = weft__bytes_put(at, narrow(bytes), 4);
    at = weft__bytes_put(at, narrow(directory), 4);
    at = weft__bytes_put(at, 0, 2);
    return weft__output_write(writer->output, end, (size_t)(at - end));
}

weft_status weft__zip_writer_finish(weft__zip_writer *writer)
{
    const uint64_t directory = writer->output->written;
    for (size_t k = 0; k < writer->count; k++)
        TRY(write_entry(writer, &writer->members[k]));
    return write_end(writer, directory, writer->output->written - directory);
}
