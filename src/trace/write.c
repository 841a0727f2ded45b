/* Beginning and ending a timeline: what WEFT_TRACE says, putting events in order, the files. */
#include "trace/keep.h"
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_ROOM = 4096, EVENTS = 1 << 20, PAGE_EVENTS = 100000 };

static char asked_path[PATH_ROOM - 64], json_path[PATH_ROOM], page_path[PATH_ROOM];
static bool forked;
static uint64_t origin;

/* The library has no other way to tell: the one who asked is at the terminal, and nothing that the
 * program calls is about the timeline. */
static void tell(const char *format, ...)
{
    char line[PATH_ROOM + 256];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (length >= (int)sizeof line)
        length = (int)sizeof line - 1;
    if (length > 0 && write(STDERR_FILENO, line, (size_t)length) < 0)
        return;
}

/* "%p" is the number of the process. Relative paths are from where the program began. */
static bool expand(const char *given, char *path, size_t room)
{
    size_t length = 0;
    path[0] = 0;
    if (given[0] != '/' && (!getcwd(path, room - 1) || !strcat(path, "/")))
        return false;
    length = strlen(path);
    for (const char *at = given; *at && length + 24 < room; at++) {
        if (at[0] == '%' && at[1] == 'p') {
            length += (size_t)snprintf(path + length, room - length, "%ld", (long)getpid());
            at++;
        } else
            path[length++] = *at;
        path[length] = 0;
    }
    return length + 24 < room;
}

static bool ends(const char *path, const char *with)
{
    const size_t length = strlen(path), own = strlen(with);
    return length > own && strcmp(path + length - own, with) == 0;
}

/* "x.json" and "x.html" give both; the child of a fork puts its number before that. */
static void set_paths(void)
{
    const char *path = asked_path;
    const bool known = ends(path, ".json") || ends(path, ".html");
    const int stem = (int)strlen(path) - (known ? 5 : 0);
    char process[24] = "";
    if (forked)
        snprintf(process, sizeof process, ".%ld", (long)getpid());
    snprintf(json_path, PATH_ROOM, "%.*s%s%s", stem, path, process, known ? ".json" : "");
    snprintf(page_path, PATH_ROOM, "%.*s%s.html", stem, path, process);
}

/* What would make all of it useless is told at once. NULL: nothing. */
static const char *trouble(void)
{
    struct stat status;
    char folder[PATH_ROOM];
    memcpy(folder, json_path, sizeof folder);
    *strrchr(folder, '/') = 0;
    if (stat(json_path, &status) == 0 && S_ISDIR(status.st_mode))
        return strerror(EISDIR);
    if (stat(json_path, &status) == 0 && !S_ISREG(status.st_mode))
        return access(json_path, W_OK) == 0 ? NULL : strerror(errno);
    return access(*folder ? folder : "/", W_OK | X_OK) == 0 ? NULL : strerror(errno);
}

static uint64_t read_most(void)
{
    const char *text = getenv("WEFT_TRACE_EVENTS");
    char *end;
    const unsigned long long most = text && *text ? strtoull(text, &end, 10) : EVENTS;
    if (text && *text && (*end || *text < '0' || *text > '9' || most < WEFT__TRACE_BUFFER)) {
        tell("weft: WEFT_TRACE_EVENTS is '%.40s'; a number of events, at least %d, was expected: "
             "%d are kept\n",
             text, WEFT__TRACE_BUFFER, EVENTS);
        return EVENTS;
    }
    return most;
}

void weft__trace_open(void)
{
    const char *given = getenv("WEFT_TRACE");
    if (!given || !*given)
        return;
    errno = ENAMETOOLONG;
    const bool fits = expand(given, asked_path, sizeof asked_path);
    if (fits)
        set_paths();
    const char *why = fits ? trouble() : strerror(errno);
    if (!why && !weft__trace_texts_open())
        why = strerror(ENOMEM);
    if (why) {
        tell("weft: there will be no timeline: WEFT_TRACE is '%.1000s', and no file can be written "
             "there: %s\n",
             given, why);
        return;
    }
    weft__trace_most = read_most();
    origin = weft__trace_now(); /* from now on there is one */
    atomic_store(&weft__trace_on, true);
}

void weft__trace_after_fork(void)
{
    if (!weft__tracing())
        return;
    weft__trace_buffers_forget();
    forked = true;
    set_paths();
}

static int by_row_and_time(const void *left, const void *right)
{
    const weft__trace_event *a = left, *b = right;
    if (a->row != b->row)
        return a->row < b->row ? -1 : 1;
    if (a->begin != b->begin)
        return a->begin < b->begin ? -1 : 1;
    return a->end == b->end ? 0 : a->end > b->end ? -1 : 1;
}

static int by_length(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return a == b ? 0 : a < b ? -1 : 1;
}

static void to_host_clock(weft__trace_event *event)
{
    bool known;
    const int64_t offset = weft__trace_offset(event->device, &known);
    if (event->device_clock && known) {
        event->begin += (uint64_t)offset;
        event->end += (uint64_t)offset;
    }
    if (event->begin < origin) /* clocks agree to some microseconds only */
        event->begin = origin;
    if (event->end < event->begin)
        event->end = event->begin;
}

/* A copy of all that was recorded so far; NULL if there is no memory for it. */
static weft__trace_event *gather(size_t *count)
{
    weft__trace_buffer *first = atomic_load(&weft__trace_buffers);
    size_t room = 1;
    for (weft__trace_buffer *b = first; b; b = b->next)
        room += WEFT__TRACE_BUFFER;
    weft__trace_event *events = malloc(room * sizeof *events);
    *count = 0;
    for (weft__trace_buffer *b = first; b && events; b = b->next) {
        const uint32_t filled = atomic_load_explicit(&b->count, memory_order_acquire);
        memcpy(events + *count, b->events, filled * sizeof *events);
        *count += filled;
    }
    for (size_t i = 0; i < *count; i++)
        to_host_clock(&events[i]);
    return events;
}

/* What a device says of its clock is not exact: what one stream does, it does one after the other.
 */
static void straighten(weft__trace_event *events, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        const weft__trace_event *before = &events[i - 1];
        weft__trace_event *event = &events[i];
        if (event->row != before->row || !event->device_clock || event->begin >= before->end)
            continue;
        event->begin = before->end;
        if (event->end < event->begin)
            event->end = event->begin;
    }
}

/* Beside its place first, then renamed: a file is there whole or not at all. Others than plain
 * files are written as they are. */
static bool write_file(const weft__trace_list *list, const char *path,
                       void (*to)(const weft__trace_list *list, FILE *file))
{
    struct stat status;
    char part[PATH_ROOM + 32];
    const bool special = stat(path, &status) == 0 && !S_ISREG(status.st_mode);
    snprintf(part, sizeof part, special ? "%s" : "%s.%ld.part", path, (long)getpid());
    FILE *file = fopen(part, special ? "we" : "wxe");
    bool good = file != NULL;
    if (file) {
        to(list, file);
        good = !ferror(file);
        good = fclose(file) == 0 && good;
    }
    if (good && !special)
        good = rename(part, path) == 0;
    const int error = errno;
    if (!good && file && !special)
        unlink(part);
    if (!good)
        tell("weft: the timeline %s could not be written: %s\n", path, strerror(error));
    return good;
}

/* A page with many events is slow to look at: the shortest are left out there. */
static void shorten(weft__trace_list *list)
{
    uint64_t *lengths = list->count > PAGE_EVENTS ? malloc(list->count * sizeof *lengths) : NULL;
    if (!lengths)
        return;
    for (size_t i = 0; i < list->count; i++)
        lengths[i] = list->events[i].end - list->events[i].begin;
    qsort(lengths, list->count, sizeof *lengths, by_length);
    list->shortest = lengths[list->count - PAGE_EVENTS] + 1;
    while (list->left_out < list->count && lengths[list->left_out] < list->shortest)
        list->left_out++;
    free(lengths);
}

static void write_all(weft__trace_event *events, size_t count)
{
    struct stat status;
    qsort(events, count, sizeof *events, by_row_and_time);
    straighten(events, count);
    weft__trace_list list = {.events = events, .count = count, .origin = origin};
    const bool special = stat(json_path, &status) == 0 && !S_ISREG(status.st_mode);
    if (!write_file(&list, json_path, weft__trace_write_json) || special)
        return;
    shorten(&list);
    write_file(&list, page_path, weft__trace_write_page);
}

void weft__trace_close(bool alone)
{
    size_t count;
    if (!origin)
        return;
    atomic_store(&weft__trace_on, false);
    weft__trace_event *events = gather(&count);
    if (!events)
        tell("weft: there is no memory to write the timeline %s\n", json_path);
    else if (count || !forked) /* most children do something else */
        write_all(events, count);
    free(events);
    weft__trace_buffers_close(alone);
    if (alone)
        weft__trace_texts_close();
    origin = 0;
}
