/* The directory of a ZIP file: the arrays that an NPZ file has. */
#include "core/allocate.h"
#include "file/bytes.h"
#include "file/file.h"
#include <string.h>

enum {
    END_BYTES = 22,
    COMMENT_MOST = 65535,
    LOCATOR_BYTES = 20,
    END64_BYTES = 56,
    ENTRY_BYTES = 46,
    LOCAL_BYTES = 30,
    DIRECTORY_MOST = 64 << 20
};

typedef struct directory {
    uint64_t at, bytes, entries;
} directory;

static weft_status damaged(const weft__disk_file *source, const char *what)
{
    return FAIL(WEFT_ERROR_ARGUMENT, "%.300s: %s; the NPZ file is damaged or incomplete",
                source->path, what);
}

/* Files of more than 4 GiB or 65535 arrays have a second record, before the last one. */
static weft_status read_end64(const weft__disk_file *source, uint64_t end, directory *found)
{
    unsigned char bytes[END64_BYTES];
    if (end < LOCATOR_BYTES)
        return WEFT_OK;
    TRY(weft__disk_file_read(source, end - LOCATOR_BYTES, bytes, LOCATOR_BYTES));
    if (memcmp(bytes, "PK\6\7", 4) != 0)
        return WEFT_OK;
    const uint64_t at = weft__bytes_get(bytes + 8, 8);
    if (at > source->size || source->size - at < END64_BYTES)
        return damaged(source, "its directory lies outside of it");
    TRY(weft__disk_file_read(source, at, bytes, END64_BYTES));
    if (memcmp(bytes, "PK\6\6", 4) != 0)
        return damaged(source, "its directory is not where it should be");
    *found = (directory){weft__bytes_get(bytes + 48, 8), weft__bytes_get(bytes + 40, 8),
                         weft__bytes_get(bytes + 32, 8)};
    return WEFT_OK;
}

/* The record at the end, before which a comment may stand. */
static weft_status find_directory(const weft__disk_file *source, directory *found)
{
    const uint64_t most = END_BYTES + COMMENT_MOST;
    const size_t length = (size_t)(source->size < most ? source->size : most);
    unsigned char *tail = length >= END_BYTES ? weft__allocate(length) : NULL;
    if (!tail)
        return length >= END_BYTES ? weft_error_code() : damaged(source, "it has no directory");
    weft_status status = weft__disk_file_read(source, source->size - length, tail, length);
    size_t at = length - END_BYTES + 1;
    while (status == WEFT_OK && at-- > 0)
        if (memcmp(tail + at, "PK\5\6", 4) == 0)
            break;
    if (status == WEFT_OK && at == SIZE_MAX)
        status = damaged(source, "it has no directory");
    if (status == WEFT_OK) {
        *found = (directory){weft__bytes_get(tail + at + 16, 4), weft__bytes_get(tail + at + 12, 4),
                             weft__bytes_get(tail + at + 10, 2)};
        status = read_end64(source, source->size - length + at, found);
    }
    weft__free(tail);
    if (status == WEFT_OK &&
        (found->at > source->size || found->bytes > source->size - found->at ||
         found->bytes > DIRECTORY_MOST || found->entries > found->bytes / ENTRY_BYTES))
        status = damaged(source, "its directory lies outside of it");
    return status;
}

/* Sizes beyond 32 bits stand in a field of their own, those alone that are all ones elsewhere. */
static bool read_wide(const unsigned char *extra, size_t length, uint64_t *values[3])
{
    while (length >= 4) {
        const size_t field = (size_t)weft__bytes_get(extra + 2, 2);
        if (field > length - 4)
            return false;
        if (weft__bytes_get(extra, 2) == 1) {
            size_t at = 0;
            for (int k = 0; k < 3; k++) {
                if (*values[k] != UINT32_MAX)
                    continue;
                if (field - at < 8)
                    return false;
                *values[k] = weft__bytes_get(extra + 4 + at, 8);
                at += 8;
            }
            return true;
        }
        extra += 4 + field;
        length -= 4 + field;
    }
    return true;
}

static weft_status copy_name(const weft__disk_file *source, const unsigned char *text,
                             size_t length, weft__member *member)
{
    if (memchr(text, 0, length))
        return damaged(source, "a name in it has a zero byte");
    member->name = weft__allocate(length + 1);
    if (!member->name)
        return weft_error_code();
    memcpy(member->name, text, length);
    member->name[length] = 0;
    return WEFT_OK;
}

/* One entry; *length is what it takes. What is no array gets no name. */
static weft_status read_entry(const weft__disk_file *source, const unsigned char *entry,
                              size_t room, weft__member *member, size_t *length)
{
    if (room < ENTRY_BYTES || memcmp(entry, "PK\1\2", 4) != 0)
        return damaged(source, "its directory has an entry that is none");
    const size_t name = (size_t)weft__bytes_get(entry + 28, 2);
    const size_t extra = (size_t)weft__bytes_get(entry + 30, 2);
    *length = ENTRY_BYTES + name + extra + (size_t)weft__bytes_get(entry + 32, 2);
    if (*length > room)
        return damaged(source, "its directory ends early");
    const unsigned method = (unsigned)weft__bytes_get(entry + 10, 2);
    *member = (weft__member){.at = weft__bytes_get(entry + 42, 4),
                             .stored = weft__bytes_get(entry + 20, 4),
                             .size = weft__bytes_get(entry + 24, 4),
                             .checksum = (uint32_t)weft__bytes_get(entry + 16, 4),
                             .deflated = method == 8};
    uint64_t *wide[] = {&member->size, &member->stored, &member->at};
    if (!read_wide(entry + ENTRY_BYTES + name, extra, wide))
        return damaged(source, "its directory has a broken field");
    if (name < 4 || memcmp(entry + ENTRY_BYTES + name - 4, ".npy", 4) != 0)
        return WEFT_OK;
    if ((method != 0 && method != 8) || (weft__bytes_get(entry + 8, 2) & 1))
        return FAIL(WEFT_ERROR_UNSUPPORTED,
                    "%.300s: array '%s' is %s; only stored and deflated ones are read",
                    source->path, weft__quote_of((const char *)entry + ENTRY_BYTES, name - 4).text,
                    method != 0 && method != 8 ? "compressed by another method" : "encrypted");
    return copy_name(source, entry + ENTRY_BYTES, name - 4, member);
}

static weft_status read_entries(const weft__disk_file *source, const directory *found,
                                const unsigned char *bytes, weft__member *members, int *count)
{
    size_t at = 0, length = 0;
    for (uint64_t k = 0; k < found->entries; k++, at += length) {
        weft__member *member = &members[*count];
        TRY(read_entry(source, bytes + at, (size_t)found->bytes - at, member, &length));
        *count += member->name != NULL;
    }
    return WEFT_OK;
}

weft_status weft__zip_list(const weft__disk_file *source, weft__member **members, int *count)
{
    directory found = {0};
    *members = NULL;
    *count = 0;
    TRY(find_directory(source, &found));
    unsigned char *bytes = weft__allocate((size_t)found.bytes + 1);
    *members = bytes ? weft__allocate_zeroed(((size_t)found.entries + 1) * sizeof **members) : NULL;
    weft_status status = *members
                             ? weft__disk_file_read(source, found.at, bytes, (size_t)found.bytes)
                             : weft_error_code();
    if (status == WEFT_OK)
        status = read_entries(source, &found, bytes, *members, count);
    weft__free(bytes);
    return status;
}

weft_status weft__zip_locate(const weft__disk_file *source, weft__member *member)
{
    unsigned char bytes[LOCAL_BYTES];
    if (member->at > source->size || source->size - member->at < LOCAL_BYTES)
        return damaged(source, "an array lies outside of it");
    TRY(weft__disk_file_read(source, member->at, bytes, LOCAL_BYTES));
    if (memcmp(bytes, "PK\3\4", 4) != 0)
        return damaged(source, "an array is not where it should be");
    member->at += LOCAL_BYTES + weft__bytes_get(bytes + 26, 2) + weft__bytes_get(bytes + 28, 2);
    if (member->at > source->size || member->stored > source->size - member->at)
        return damaged(source, "an array lies outside of it");
    if (!member->deflated && member->size != member->stored)
        return damaged(source, "a stored array has two sizes");
    return WEFT_OK;
}
