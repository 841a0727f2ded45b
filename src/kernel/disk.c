/* Entries of the disk cache: written under another name and renamed, checked before they are
 * believed. */
#include "kernel/disk.h"
#include "core/allocate.h"
#include "kernel/build_hash.h"
#include "kernel/disk_folder.h"
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <weft/version.h>

enum { BYTES_MOST = 64 << 20, USED_SECONDS = 3600 };

/* A file is this, the bytes of the key, and the object. */
typedef struct header {
    char magic[8];
    char library[48]; /* which made it; entries of others are not used */
    char llvm[24];    /* likewise; only to be looked at */
    uint64_t key_bytes, object_bytes;
    uint64_t checksum; /* of the whole file, with 0 here */
} header;

#define MAGIC "weft.k1"

static uint64_t hash_key(uint64_t hash, const weft__disk_key *key)
{
    for (int i = 0; i < WEFT__KEY_PIECES; i++)
        hash = weft__hash(hash, key->kernel->piece[i], key->kernel->bytes[i]);
    return weft__hash(hash, key->class_bytes, key->class_count);
}

static void describe(const weft__disk_key *key, size_t object_bytes, header *file)
{
    const char *llvm = weft__llvm_version();
    memset(file, 0, sizeof *file);
    memcpy(file->magic, MAGIC, sizeof file->magic);
    (void)snprintf(file->library, sizeof file->library, "%s %s", weft_version(), WEFT__BUILD_HASH);
    (void)snprintf(file->llvm, sizeof file->llvm, "%s", llvm ? llvm : "");
    file->key_bytes = key->kernel->total + key->class_count;
    file->object_bytes = object_bytes;
}

static void name_of(const weft__disk_key *key, char *name)
{
    header file;
    describe(key, 0, &file);
    const uint64_t begin = weft__hash(1, file.library, sizeof file.library);
    (void)snprintf(name, WEFT__DISK_NAME, "%016llx%016llx.weft",
                   (unsigned long long)hash_key(begin, key),
                   (unsigned long long)hash_key(~begin, key));
}

/* A plain file of the user's that nobody else can write to, and that is not too large. */
static bool is_own(int file, struct stat *facts)
{
    return fstat(file, facts) == 0 && S_ISREG(facts->st_mode) && facts->st_uid == geteuid() &&
           (facts->st_mode & (S_IWGRP | S_IWOTH)) == 0 && facts->st_size <= BYTES_MOST &&
           facts->st_size >= (off_t)sizeof(header);
}

static bool read_all(int file, char *data, size_t bytes)
{
    size_t have = 0;
    while (have < bytes) {
        const ssize_t more = read(file, data + have, bytes - have);
        if (more <= 0)
            return false;
        have += (size_t)more;
    }
    return true;
}

/* So that it is not the next to be removed; rarely, as it writes to the disk. */
static void mark_used(int file, const struct stat *facts)
{
    if (time(NULL) - facts->st_mtime > USED_SECONDS)
        (void)futimens(file, NULL);
}

static bool same_key(const weft__disk_key *key, const char *bytes)
{
    for (int i = 0; i < WEFT__KEY_PIECES; bytes += key->kernel->bytes[i++])
        if (key->kernel->bytes[i] &&
            memcmp(bytes, key->kernel->piece[i], key->kernel->bytes[i]) != 0)
            return false;
    return memcmp(bytes, key->class_bytes, key->class_count) == 0;
}

/* Whether all of the file is what was written, and it is for the key. */
static bool is_good(const weft__disk_key *key, char *data, size_t bytes)
{
    header file, expected;
    memcpy(&file, data, sizeof file);
    const size_t left = bytes - sizeof file;
    describe(key, 0, &expected);
    if (memcmp(file.magic, expected.magic, sizeof file.magic) != 0 ||
        memcmp(file.library, expected.library, sizeof file.library) != 0 ||
        file.key_bytes != expected.key_bytes || file.key_bytes > left ||
        file.object_bytes != left - file.key_bytes)
        return false;
    memset(data + offsetof(header, checksum), 0, sizeof file.checksum);
    return weft__hash(bytes, data, bytes) == file.checksum && same_key(key, data + sizeof file);
}

/* The whole file, or NULL. */
static char *read_entry(int file, size_t *bytes)
{
    struct stat facts;
    if (!is_own(file, &facts))
        return NULL;
    *bytes = (size_t)facts.st_size;
    char *data = weft__allocate(*bytes);
    if (data && !read_all(file, data, *bytes)) {
        weft__free(data);
        return NULL;
    }
    mark_used(file, &facts);
    return data;
}

bool weft__disk_load(const weft__disk_key *key, weft__object *object)
{
    char path[WEFT__DISK_PATH + WEFT__DISK_NAME], name[WEFT__DISK_NAME];
    size_t bytes = 0;
    if (!weft__disk_folder(path))
        return false;
    name_of(key, name);
    const size_t length = strlen(path);
    (void)snprintf(path + length, sizeof path - length, "/%s", name);
    /* what somebody else may have put there is neither followed nor waited for */
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    if (file < 0)
        return false;
    char *data = read_entry(file, &bytes);
    (void)close(file);
    const bool good = data && is_good(key, data, bytes);
    if (good) {
        const size_t begin = sizeof(header) + key->kernel->total + key->class_count;
        memmove(data, data + begin, bytes - begin);
        *object = (weft__object){data, bytes - begin};
    } else
        weft__free(data);
    return good;
}

static char *make_entry(const weft__disk_key *key, const weft__object *object, size_t *bytes)
{
    header file;
    describe(key, object->bytes, &file);
    *bytes = sizeof file + (size_t)file.key_bytes + object->bytes;
    char *data = *bytes <= BYTES_MOST ? weft__allocate(*bytes) : NULL, *at = data;
    if (!data)
        return NULL;
    at = (char *)memcpy(at, &file, sizeof file) + sizeof file;
    for (int i = 0; i < WEFT__KEY_PIECES; at += key->kernel->bytes[i++])
        if (key->kernel->bytes[i])
            memcpy(at, key->kernel->piece[i], key->kernel->bytes[i]);
    memcpy(at, key->class_bytes, key->class_count);
    memcpy(at + key->class_count, object->data, object->bytes);
    file.checksum = weft__hash(*bytes, data, *bytes);
    memcpy(data, &file, sizeof file);
    return data;
}

static bool write_all(int file, const char *data, size_t bytes)
{
    while (bytes > 0) {
        const ssize_t more = write(file, data, bytes);
        if (more <= 0)
            return false;
        data += more;
        bytes -= (size_t)more;
    }
    return true;
}

/* Where files may not be so large, that is no signal for the process. */
static bool write_quietly(int file, const char *data, size_t bytes)
{
    const struct timespec now = {0, 0};
    sigset_t too_large, before, pending;
    sigemptyset(&too_large);
    sigaddset(&too_large, SIGXFSZ);
    if (pthread_sigmask(SIG_BLOCK, &too_large, &before) != 0 || sigpending(&pending) != 0)
        return false;
    const bool good = write_all(file, data, bytes);
    if (!good && !sigismember(&pending, SIGXFSZ))
        (void)sigtimedwait(&too_large, NULL, &now);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return good;
}

/* Readers see the old entry, or none, or all of the new one. */
static bool write_entry(int folder, const char *name, const char *data, size_t bytes)
{
    static _Atomic unsigned number;
    char temporary[WEFT__DISK_NAME];
    (void)snprintf(temporary, sizeof temporary, "%ld-%u.new", (long)getpid(), number++);
    (void)unlinkat(folder, temporary, 0); /* of an earlier process with this number */
    const int file =
        openat(folder, temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0)
        return false;
    bool good = write_quietly(file, data, bytes);
    good = close(file) == 0 && good;
    good = good && renameat(folder, temporary, folder, name) == 0;
    if (!good)
        (void)unlinkat(folder, temporary, 0);
    return good;
}

void weft__disk_store(const weft__disk_key *key, const weft__object *object)
{
    char name[WEFT__DISK_NAME];
    size_t bytes;
    const int folder = weft__disk_folder_open();
    if (folder < 0)
        return;
    char *data = make_entry(key, object, &bytes);
    name_of(key, name);
    if (data && write_entry(folder, name, data, bytes))
        weft__disk_added(folder, bytes);
    weft__free(data);
    (void)close(folder);
}
