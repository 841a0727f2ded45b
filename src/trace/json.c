/* The timeline as JSON, in the trace-event format of Perfetto and chrome://tracing. Numbers are
 * written as integers and their decimals, whatever the locale. */
#include "trace/keep.h"
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include <weft/version.h>

static const char *const categories[] = {"kernel", "copy", "call", "wait", "allocation", "compile"};

/* How many bytes the character takes, if they are UTF-8 that is well-formed; else 0. */
static int utf8(const unsigned char *at)
{
    const int more = at[0] < 0xc2   ? -1
                     : at[0] < 0xe0 ? 1
                     : at[0] < 0xf0 ? 2
                     : at[0] < 0xf5 ? 3
                                    : -1;
    if (at[0] < 0x80)
        return 1;
    for (int k = 1; k <= more; k++)
        if ((at[k] & 0xc0) != 0x80)
            return 0;
    const bool bad = more < 0 || (at[0] == 0xe0 && at[1] < 0xa0) ||
                     (at[0] == 0xed && at[1] > 0x9f) || (at[0] == 0xf0 && at[1] < 0x90) ||
                     (at[0] == 0xf4 && at[1] > 0x8f);
    return bad ? 0 : more + 1;
}

/* '<' is escaped too, so that the text may stand in a page. */
static void write_text(const char *text, FILE *file)
{
    const unsigned char *at = (const unsigned char *)text;
    fputc('"', file);
    while (*at) {
        const int bytes = utf8(at);
        if (*at == '"' || *at == '\\')
            fprintf(file, "\\%c", *at);
        else if (*at < ' ' || *at == '<' || *at == 0x7f)
            fprintf(file, "\\u%04x", *at);
        else if (bytes)
            fwrite(at, 1, (size_t)bytes, file);
        else
            fputs("\\ufffd", file);
        at += bytes ? bytes : 1;
    }
    fputc('"', file);
}

static void write_member(const char *key, const char *text, FILE *file)
{
    fprintf(file, "\"%s\":", key);
    write_text(text, file);
}

static void write_thousandths(uint64_t number, FILE *file)
{
    fprintf(file, "%llu.%03llu", (unsigned long long)(number / 1000),
            (unsigned long long)(number % 1000));
}

static void write_arguments(const weft__trace_event *e, FILE *file)
{
    const uint64_t took = e->end - e->begin;
    const bool moves = e->kind == WEFT__TRACE_KERNEL || e->kind == WEFT__TRACE_COPY;
    fputs("\"args\":{", file);
    write_member("stream", weft__trace_rows[e->row].name, file);
    fputc(',', file);
    write_member("device", weft_device_id(e->device), file);
    if (e->bytes || moves)
        fprintf(file, ",\"bytes\":%llu", (unsigned long long)e->bytes);
    if (moves && took && e->bytes < UINT64_MAX / 1000) {
        fputs(",\"GB/s\":", file);
        write_thousandths(e->bytes * 1000 / took, file);
    }
    if (e->source) {
        fputc(',', file);
        write_member("source", weft__trace_text_of(e->source), file);
    }
    if (e->kind == WEFT__TRACE_KERNEL) {
        fputc(',', file);
        write_member("operation", weft__trace_text_of(e->name), file);
    }
    fputc('}', file);
}

static void write_event(const weft__trace_event *e, uint64_t origin, FILE *file)
{
    const bool named = e->kind == WEFT__TRACE_KERNEL && e->source;
    fputs(",\n{\"ph\":\"X\",", file);
    write_member("name", weft__trace_text_of(named ? e->source : e->name), file);
    fprintf(file, ",\"cat\":\"%s\",\"pid\":%ld,\"tid\":%u,\"ts\":", categories[e->kind],
            (long)getpid(), e->row);
    write_thousandths(e->begin - origin, file);
    fputs(",\"dur\":", file);
    write_thousandths(e->end - e->begin, file);
    fputc(',', file);
    write_arguments(e, file);
    fputc('}', file);
}

static void write_metadata(const char *what, uint32_t row, const char *name, FILE *file)
{
    fprintf(file, "%s{\"ph\":\"M\",\"name\":\"%s\",\"pid\":%ld,\"tid\":%u,\"args\":{",
            row ? ",\n" : "\n", what, (long)getpid(), row);
    write_member("name", name, file);
    fputs("}}", file);
}

/* The name and the place of the row: streams of devices stand below the threads. */
static void write_row(uint32_t row, FILE *file)
{
    const bool thread = weft__trace_rows[row].device.kind == WEFT_DEVICE_NONE;
    const char *name = weft__trace_rows[row].name;
    write_metadata("thread_name", row, *name ? name : "other streams and threads", file);
    fprintf(file,
            ",\n{\"ph\":\"M\",\"name\":\"thread_sort_index\",\"pid\":%ld,\"tid\":%u,"
            "\"args\":{\"sort_index\":%u}}",
            (long)getpid(), row, thread ? row : row + WEFT__TRACE_ROWS);
}

void weft__trace_write_json(const weft__trace_list *list, FILE *file)
{
    const unsigned long long lost = atomic_load(&weft__trace_lost);
    fprintf(file, "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"version\":\"%s\"", weft_version());
    fprintf(file, ",\"events_not_recorded\":%llu,\"events_left_out\":%llu},\n\"traceEvents\":[",
            lost, (unsigned long long)list->left_out);
    write_metadata("process_name", 0, program_invocation_short_name, file);
    for (size_t i = 0; i < list->count; i++)
        if (i == 0 || list->events[i].row != list->events[i - 1].row)
            write_row(list->events[i].row, file);
    for (size_t i = 0; i < list->count && !ferror(file); i++)
        if (list->events[i].end - list->events[i].begin >= list->shortest)
            write_event(&list->events[i], list->origin, file);
    fputs("\n]}\n", file);
}
