/* Writing a file that is there whole or not at all: without a name, or with another one, until it
 * is complete. */
#include "core/allocate.h"
#include "file/file.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    MODE = 0666,
    TRIES = 100,
    LINKS = 40, /* that lead from one to the next */
    NAME_ROOM = 64,
    WRITE_MOST = 256 << 10 /* of more, the page cache looks for larger pages than it has */
};

static weft_status refused(const weft__output *output, const char *what)
{
    const int error = errno;
    return FAIL_AT(WEFT_ERROR_SYSTEM, "path", "%.300s: cannot be %s: %s", output->path, what,
                   strerror(error));
}

static char *copy_text(const char *text, size_t length)
{
    char *copy = weft__allocate(length + 1);
    if (copy) {
        memcpy(copy, text, length);
        copy[length] = 0;
    }
    return copy;
}

/* What a link to a file that is not there yet leads to; false if it is none. */
static bool follow_link(char *path, size_t room)
{
    char target[PATH_MAX], *slash = strrchr(path, '/');
    const ssize_t length = readlink(path, target, sizeof target - 1);
    if (length <= 0)
        return false;
    target[length] = 0;
    const size_t folder = target[0] == '/' || !slash ? 0 : (size_t)(slash + 1 - path);
    return snprintf(path + folder, room - folder, "%s", target) < (int)(room - folder);
}

/* Through a symbolic link: its target is written, not the link replaced. */
static weft_status find_place(weft__output *output, const char *path)
{
    char *real = realpath(path, NULL), followed[PATH_MAX];
    struct stat facts; /* of a pipe too, whose link has a target that is no path */
    if (!real && stat(path, &facts) != 0 &&
        snprintf(followed, sizeof followed, "%s", path) < (int)sizeof followed)
        for (int k = 0; k < LINKS && follow_link(followed, sizeof followed); k++)
            path = followed;
    const char *place = real ? real : path;
    const char *slash = strrchr(place, '/');
    output->path = copy_text(place, strlen(place));
    output->folder = !slash           ? copy_text(".", 1)
                     : slash == place ? copy_text("/", 1)
                                      : copy_text(place, (size_t)(slash - place));
    free(real);
    return output->path && output->folder ? WEFT_OK : weft_error_code();
}

/* A name beside the place that nothing has. */
static weft_status new_name(weft__output *output)
{
    static atomic_uint number;
    struct timespec now;
    const size_t room = strlen(output->folder) + NAME_ROOM;
    if (!output->name)
        output->name = weft__allocate(room);
    if (!output->name)
        return weft_error_code();
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    (void)snprintf(output->name, room, "%s/.weft-%ld-%lx-%x", output->folder, (long)getpid(),
                   (unsigned long)now.tv_nsec, atomic_fetch_add(&number, 1));
    return WEFT_OK;
}

static void forget_name(weft__output *output)
{
    weft__free(output->name);
    output->name = NULL;
}

/* With no name where the system can, so that nothing stays behind even if the process is killed. */
static weft_status open_beside(weft__output *output)
{
    if (access("/proc/self/fd", X_OK) == 0) /* by which it gets its name */
        output->descriptor = open(output->folder, O_TMPFILE | O_RDWR | O_CLOEXEC, MODE);
    if (output->descriptor >= 0)
        return WEFT_OK;
    for (int k = 0; k < TRIES && output->descriptor < 0; k++) {
        TRY(new_name(output));
        output->descriptor = open(output->name, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, MODE);
        if (output->descriptor < 0 && errno != EEXIST)
            break;
    }
    if (output->descriptor >= 0)
        return WEFT_OK;
    forget_name(output);
    return refused(output, "written");
}

weft_status weft__output_open(weft__output *output, const char *path)
{
    struct stat facts;
    *output = (weft__output){.descriptor = -1};
    if (!path || !*path)
        return FAIL_AT(WEFT_ERROR_ARGUMENT, "path", "path is %s; the name of a file was expected",
                       path ? "empty" : "NULL");
    TRY(find_place(output, path));
    const bool exists = stat(output->path, &facts) == 0;
    if (exists && S_ISDIR(facts.st_mode)) {
        errno = EISDIR;
        return refused(output, "written");
    }
    output->direct = exists && !S_ISREG(facts.st_mode);
    if (output->direct) {
        output->descriptor = open(output->path, O_WRONLY | O_CLOEXEC);
        return output->descriptor >= 0 ? WEFT_OK : refused(output, "written");
    }
    if (exists && access(output->path, W_OK) != 0) /* a file that is protected stays */
        return refused(output, "written");
    TRY(open_beside(output));
    if (exists)
        (void)fchmod(output->descriptor, facts.st_mode & 07777);
    return WEFT_OK;
}

weft_status weft__output_write(weft__output *output, const void *data, size_t bytes)
{
    const char *next = data;
    while (bytes > 0) {
        const size_t part = bytes < WRITE_MOST ? bytes : WRITE_MOST;
        const ssize_t count = write(output->descriptor, next, part);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return refused(output, "written");
        next += count;
        bytes -= (size_t)count;
        output->written += (uint64_t)count;
    }
    return WEFT_OK;
}

weft_status weft__output_patch(weft__output *output, uint64_t at, const void *data, size_t bytes)
{
    const char *next = data;
    while (bytes > 0) {
        const ssize_t count = pwrite(output->descriptor, next, bytes, (off_t)at);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return refused(output, "written");
        next += count;
        at += (uint64_t)count;
        bytes -= (size_t)count;
    }
    return WEFT_OK;
}

/* A file without a name gets one. */
static weft_status give_name(weft__output *output)
{
    char link[64];
    int result = -1;
    (void)snprintf(link, sizeof link, "/proc/self/fd/%d", output->descriptor);
    for (int k = 0; k < TRIES && result != 0; k++) {
        TRY(new_name(output));
        result = linkat(AT_FDCWD, link, AT_FDCWD, output->name, AT_SYMLINK_FOLLOW);
        if (result != 0 && errno != EEXIST)
            break;
    }
    if (result == 0)
        return WEFT_OK;
    forget_name(output);
    return refused(output, "written");
}

weft_status weft__output_commit(weft__output *output)
{
    if (!output->direct && !output->name)
        TRY(give_name(output));
    const int closed = close(output->descriptor); /* may be the first to say that a disk is full */
    output->descriptor = -1;
    if (closed != 0)
        return refused(output, "written");
    if (output->direct)
        return WEFT_OK;
    if (rename(output->name, output->path) != 0)
        return refused(output, "put into its place");
    forget_name(output);
    return WEFT_OK;
}

void weft__output_close(weft__output *output)
{
    if (output->descriptor >= 0)
        (void)close(output->descriptor);
    if (output->name)
        (void)unlink(output->name);
    forget_name(output);
    weft__free(output->path);
    weft__free(output->folder);
    *output = (weft__output){.descriptor = -1};
}
