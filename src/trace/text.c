/* Texts of the timeline, each kept once, in a table that is filled without a lock. */
#include "trace/keep.h"
#include <string.h>
#include <sys/mman.h>

enum { SLOTS = 1 << 15, ROOM = 8 << 20, LONGEST = 2000, UNIT = 8 };

/* In units of the room, so that a number says where a text is; 0 is no text. */
typedef struct table {
    _Atomic uint32_t slots[SLOTS];
    _Atomic uint32_t used;
    _Alignas(UNIT) char room[ROOM];
} table;

/* In the room: its length, then its characters and a NUL. */
typedef struct text {
    uint32_t hash, length;
    char characters[];
} text;

static table *all;

bool weft__trace_texts_open(void)
{
    void *memory = mmap(NULL, sizeof *all, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return false;
    all = memory;
    atomic_init(&all->used, 1);
    return true;
}

void weft__trace_texts_close(void)
{
    if (all)
        munmap(all, sizeof *all);
    all = NULL;
}

static const text *at(uint32_t number)
{
    return (const text *)(const void *)(all->room + (size_t)number * UNIT);
}

const char *weft__trace_text_of(uint32_t number) { return number ? at(number)->characters : ""; }

static uint32_t hash_of(const char *characters, size_t length)
{
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)characters[i]) * 16777619u;
    return hash ^ hash >> 15;
}

/* 0 if there is no room. What two threads write at once is there twice, and one of them is lost. */
static uint32_t write(const char *characters, uint32_t length, uint32_t hash)
{
    const uint32_t units = (uint32_t)((sizeof(text) + length + UNIT) / UNIT);
    uint32_t number = atomic_load(&all->used);
    do {
        if (number + units > ROOM / UNIT)
            return 0;
    } while (!atomic_compare_exchange_weak(&all->used, &number, number + units));
    text *written = (text *)(void *)(all->room + (size_t)number * UNIT);
    written->hash = hash;
    written->length = length;
    memcpy(written->characters, characters, length);
    return number;
}

static bool is_text(uint32_t number, const char *characters, uint32_t length, uint32_t hash)
{
    const text *there = at(number);
    return there->hash == hash && there->length == length &&
           memcmp(there->characters, characters, length) == 0;
}

uint32_t weft__trace_text(const char *characters, size_t given)
{
    const uint32_t length = given < LONGEST ? (uint32_t)given : LONGEST;
    const uint32_t hash = hash_of(characters, length);
    uint32_t written = 0;
    for (uint32_t probe = 0; all && probe < 64; probe++) {
        _Atomic uint32_t *slot = &all->slots[(hash + probe) % SLOTS];
        uint32_t number = atomic_load_explicit(slot, memory_order_acquire);
        if (!number && !written && !(written = write(characters, length, hash)))
            return 0;
        if (!number && atomic_compare_exchange_strong(slot, &number, written))
            return written;
        if (is_text(number, characters, length, hash))
            return number;
    }
    return 0;
}

/* Adds to a line; blanks and line ends become one blank each. */
static size_t add_code(const char *code, size_t count, char *line, size_t length)
{
    for (size_t i = 0; i < count && length < LONGEST; i++) {
        const bool blank = code[i] == ' ' || (code[i] >= '\t' && code[i] <= '\r');
        if (!blank)
            line[length++] = code[i];
        else if (length && line[length - 1] != ' ')
            line[length++] = ' ';
    }
    return length;
}

uint32_t weft__trace_source_or_operation(void)
{
    if (weft__trace_source || !weft__tracing())
        return weft__trace_source;
    const char *operation = weft__operation();
    return weft__trace_text(operation, strlen(operation));
}

uint32_t weft__trace_begin_source(const char *name, const char *code, size_t count)
{
    const uint32_t before = weft__trace_source;
    char line[LONGEST];
    size_t length = add_code(name, strlen(name), line, 0);
    if (length)
        length = add_code(": ", 2, line, length);
    length = add_code(code, count, line, length);
    while (length && line[length - 1] == ' ')
        length--;
    weft__trace_source = weft__trace_text(line, length);
    return before;
}
