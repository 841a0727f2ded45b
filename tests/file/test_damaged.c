/* Damaged NPY and NPZ files, made by a seeded generator: an error or an array, never a crash, and
 * no more memory than a file of that size could fill. */
#include "file/zlib.h"
#include "support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <weft/weft.h>

enum { FILES = 1200, ROOM = 1 << 16 };

static uint64_t state;

static uint32_t next_random(void)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(state >> 33);
}

static void path_of(char *path, size_t room, const char *name)
{
    (void)snprintf(path, room, "/tmp/weft-test-damaged-%ld-%s", (long)getpid(), name);
}

static size_t read_file(const char *path, unsigned char *bytes)
{
    FILE *file = fopen(path, "rb");
    const size_t count = file ? fread(bytes, 1, ROOM, file) : 0;
    if (file)
        (void)fclose(file);
    (void)unlink(path);
    return count;
}

/* The four kinds of files there are, whole. */
static size_t make_whole(int kind, unsigned char *bytes)
{
    char path[128];
    const char *names[] = {"first", "second"};
    path_of(path, sizeof path, kind == 0 ? "whole.npy" : "whole.npz");
    WEFT_AUTO weft_array *line = weft_arange(0, 60, 1, .dtype = kind == 3 ? WEFT_C64 : WEFT_F32);
    WEFT_AUTO weft_array *a = weft_reshape(line, WEFT_SHAPE(3, 4, 5));
    WEFT_AUTO weft_array *b = weft_transpose(a);
    weft_array *arrays[] = {a, b};
    const weft_save_options options = {.struct_size = sizeof options, .compress = kind >= 2};
    const weft_status status =
        kind == 0 ? weft_save(path, b) : weft_save_all(path, 2, names, arrays, &options);
    return status == WEFT_OK ? read_file(path, bytes) : 0;
}

/* Changes a few bytes, most often those of headers and directory; or cuts, doubles or adds. */
static size_t damage(unsigned char *bytes, size_t count)
{
    static const unsigned char nasty[] = {0, 0xff, 0x7f, 0x80, '9', '(', ')', ',', '{', '\'', 'O'};
    const int changes = 1 + (int)(next_random() % 4);
    for (int k = 0; k < changes && count > 0; k++) {
        const uint32_t where = next_random() % 4;
        const size_t limit = count < 160 ? count : 160;
        const size_t at = where == 0   ? next_random() % count
                          : where == 1 ? count - 1 - next_random() % limit
                                       : next_random() % limit;
        switch (next_random() % 6) {
        case 0:
            bytes[at] = (unsigned char)next_random();
            break;
        case 1:
            bytes[at] ^= (unsigned char)(1u << next_random() % 8);
            break;
        case 2:
            for (size_t i = at; i < count && i < at + 8; i++)
                bytes[i] = 0xff;
            break;
        case 3:
            count = at;
            break;
        case 4:
            if (count + 16 < ROOM)
                memmove(bytes + at + 16, bytes + at, count - at), count += 16;
            break;
        default:
            bytes[at] = nasty[next_random() % sizeof nasty];
        }
    }
    return count;
}

static bool write_file(const char *path, const unsigned char *bytes, size_t count)
{
    FILE *file = fopen(path, "wb");
    const bool written = file && fwrite(bytes, 1, count, file) == count;
    return file && fclose(file) == 0 && written;
}

/* Reads all that a file has; true if every failure was an error with a message. */
static bool read_all(const char *path, bool mapped, int *errors)
{
    const weft_load_options options = {.struct_size = sizeof options, .mapped = mapped};
    weft_error_clear();
    weft_file *file = weft_file_open(path);
    bool fine = file || (weft_error_code() != WEFT_OK && *weft_error_message());
    *errors += file == NULL;
    for (int k = 0; k < weft_file_count(file) && k < 10; k++) {
        weft_error_clear();
        WEFT_AUTO weft_array *array = weft_file_load(file, k, &options);
        double first;
        fine &= array || (weft_error_code() != WEFT_OK && *weft_error_message());
        *errors += array == NULL;
        if (array && weft_array_count(array) > 0 && weft_array_dtype(array) < WEFT_C64)
            fine &= weft_item(array, &first) == WEFT_OK;
    }
    weft_file_close(file);
    return fine;
}

TEST(file_damaged_files_are_errors)
{
    char path[128];
    int errors = 0;
    weft_statistics statistics;
    path_of(path, sizeof path, "damaged");
    unsigned char *whole = malloc(2 * ROOM), *bytes = whole ? whole + ROOM : NULL;
    CHECK(whole);
    const int kinds = weft__zlib_get() ? 4 : 2; /* the others are compressed */
    bool fine = true;
    state = 8;
    (void)weft_memory_reset_peak(WEFT_CPU);
    for (int k = 0; k < FILES && fine; k++) {
        const size_t count = make_whole(k % kinds, whole);
        fine = count > 0;
        memcpy(bytes, whole, count);
        fine = fine && write_file(path, bytes, damage(bytes, count)) &&
               read_all(path, k / 4 % 2, &errors);
        if (!fine)
            printf("file %d\n", k);
    }
    (void)unlink(path);
    free(whole);
    CHECK(fine);
    CHECK(errors > FILES / 4); /* the generator does damage */
    CHECK_STATUS(weft_memory_stats(WEFT_CPU, &statistics), WEFT_OK);
    CHECK(statistics.bytes_peak < 16 << 20);
}

/* What a small file announces is not believed. */
TEST(file_announced_sizes_are_compared)
{
    char path[128];
    unsigned char bytes[ROOM];
    if (!weft__zlib_get())
        SKIP("libz.so.1 was not found");
    path_of(path, sizeof path, "announced.npz");
    const size_t count = make_whole(2, bytes);
    CHECK(count > 0);
    unsigned char *entry = NULL;
    for (size_t k = 0; k + 4 < count && !entry; k++)
        if (memcmp(bytes + k, "PK\1\2", 4) == 0)
            entry = bytes + k;
    CHECK(entry);
    memcpy(entry + 24, "\xf0\xff\xff\xff", 4); /* 4 GiB out of a few hundred bytes */
    CHECK(write_file(path, bytes, count));
    weft_error_clear();
    WEFT_AUTO weft_array *array = weft_load(path, .name = "first");
    (void)unlink(path);
    CHECK(!array);
    CHECK_ERROR(WEFT_ERROR_ARGUMENT, "cannot hold as much");
}

TEST(file_check_sums_are_compared)
{
    char path[128];
    unsigned char bytes[ROOM];
    path_of(path, sizeof path, "sums.npz");
    const size_t count = make_whole(1, bytes);
    CHECK(count > 300);
    bytes[128 + 128 + 9] ^= 1; /* an element of the first array, which is stored */
    CHECK(write_file(path, bytes, count));
    weft_error_clear();
    WEFT_AUTO weft_array *array = weft_load(path, .name = "first");
    (void)unlink(path);
    CHECK(!array);
    CHECK_ERROR(WEFT_ERROR_ARGUMENT, "check sum");
}

TEST_MAIN(TEST_NO_FAULTS(file_damaged_files_are_errors, "thousands of files"),
          TEST_OF(file_announced_sizes_are_compared), TEST_OF(file_check_sums_are_compared));
