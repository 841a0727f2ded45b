/* Call sites: each thread finds what it compiled for one by the address of its text. */
#include "core/allocate.h"
#include "core/device.h"
#include "core/thread.h"
#include "lang/evaluate.h"
#include "ops/copy.h"
#include <string.h>
#include <weft/expression.h>

/* One call site: its text, parsed, and the last evaluation of it. */
typedef struct site_entry {
    const char *site; /* the key; NULL: free */
    size_t length;
    bool wants_value;
    char
        *text; /* a copy: the address may be another text's now (a library that was loaded again) */
    weft__lang_syntax *syntax;
    weft__lang_name *names;
    int count;
    weft__evaluation *evaluation;
} site_entry;

/* Open addressing; at most half full, grows. */
typedef struct site_table {
    site_entry *entries;
    size_t room, used;
} site_table;

static void free_entry(site_entry *entry)
{
    weft__evaluation_free(entry->evaluation);
    weft__lang_syntax_free(entry->syntax);
    weft__free(entry->names);
    weft__free(entry->text);
    memset(entry, 0, sizeof *entry);
}

static void free_table(void *argument)
{
    site_table *table = argument;
    for (size_t i = 0; i < table->room; i++)
        if (table->entries[i].site)
            free_entry(&table->entries[i]);
    weft__free(table->entries);
    weft__free(table);
}

static size_t slot_of(const site_table *table, const char *site)
{
    uint64_t hash = (uintptr_t)site;
    hash = (hash ^ hash >> 33) * UINT64_C(0xff51afd7ed558ccd);
    size_t slot = (size_t)(hash >> 32) & (table->room - 1);
    while (table->entries[slot].site && table->entries[slot].site != site)
        slot = (slot + 1) & (table->room - 1);
    return slot;
}

static bool grow(site_table *table)
{
    site_table larger = {.room = table->room ? table->room * 2 : 64, .used = table->used};
    larger.entries = weft__allocate_zeroed(larger.room * sizeof *larger.entries);
    if (!larger.entries)
        return false;
    for (size_t i = 0; i < table->room; i++)
        if (table->entries[i].site)
            larger.entries[slot_of(&larger, table->entries[i].site)] = table->entries[i];
    weft__free(table->entries);
    *table = larger;
    return true;
}

/* A reset of a device drops this thread's table too; others' hold no kernels, only how to find
 * them. */
static void drop_own(weft_device device)
{
    weft__thread *thread = weft__thread_peek();
    (void)device;
    if (!thread || !thread->sites || thread->sites_busy)
        return;
    free_table(thread->sites);
    thread->sites = NULL;
}

static site_table *table_of(weft__thread *thread)
{
    if (thread->sites)
        return thread->sites;
    thread->sites_free = free_table;
    weft__device_on_reset(drop_own);
    return thread->sites = weft__allocate_zeroed(sizeof(site_table));
}

static weft_status parse(site_entry *entry)
{
    const char *code = entry->text + strlen(entry->text) + 1, *names = code + strlen(code) + 1;
    entry->names = weft__allocate((size_t)(entry->count ? entry->count : 1) * sizeof *entry->names);
    if (!entry->names)
        return WEFT_ERROR_MEMORY;
    TRY(weft__lang_split(names, strlen(names), entry->count, entry->names));
    return weft__lang_parse(code, strlen(code), entry->names, entry->count, entry->wants_value,
                            &entry->syntax);
}

static weft_status fill_entry(site_entry *entry, const char *site, size_t length, int count,
                              bool wants_value)
{
    *entry =
        (site_entry){.site = site, .length = length, .count = count, .wants_value = wants_value};
    entry->text = weft__allocate(length + 1);
    if (!entry->text)
        return WEFT_ERROR_MEMORY;
    memcpy(entry->text, site, length);
    entry->text[length] = 0;
    return parse(entry);
}

static weft_status find(weft__thread *thread, const char *site, size_t length, int count,
                        bool wants_value, site_entry **found)
{
    site_table *table = table_of(thread);
    if (!table || (table->used * 2 >= table->room && !grow(table)))
        return WEFT_ERROR_MEMORY;
    site_entry *entry = &table->entries[slot_of(table, site)];
    *found = entry;
    if (entry->syntax && entry->length == length && entry->count == count &&
        !memcmp(entry->text, site, length))
        return WEFT_OK;
    table->used += entry->site ? 0 : 1;
    free_entry(entry);
    weft_status status = fill_entry(entry, site, length, count, wants_value);
    if (status != WEFT_OK)
        free_entry(entry);
    entry->site = site; /* an entry that is taken stays taken, or others would not be found */
    return status;
}

static weft_status evaluate(site_entry *entry, const weft_operand *operands, weft_array **value)
{
    weft__lang_operand types[WEFT__LANG_OPERANDS_MAX];
    TRY(weft__evaluation_types(operands, entry->count, types));
    if (!entry->evaluation || !weft__evaluation_fits(entry->evaluation, types, entry->count)) {
        weft__evaluation *made;
        TRY(weft__evaluation_new(entry->syntax, types, entry->count, &made));
        weft__evaluation_free(entry->evaluation);
        entry->evaluation = made;
    }
    return weft__evaluation_run(entry->evaluation, operands, entry->names, value);
}

weft_status weft__site_run(const char *site, size_t length, int count, const weft_operand *operands,
                           bool wants_value, weft_array **value)
{
    weft__thread *thread = weft__thread_get();
    site_entry *entry;
    if (!thread)
        return WEFT_ERROR_MEMORY;
    thread->sites_busy++; /* a function that a stream calls in between must not drop the table */
    weft_status status = find(thread, site, length, count, wants_value, &entry);
    if (status == WEFT_OK)
        status = evaluate(entry, operands, value);
    thread->sites_busy--;
    return status;
}

weft_status weft_evaluate_site(const char *site, size_t length, int count,
                               const weft_operand *operands)
{
    weft_array *value = NULL;
    OPERATION("weft");
    return weft__site_run(site, length, count, operands, false, &value);
}

weft_array *weft_new_site(const char *site, size_t length, int count, const weft_operand *operands)
{
    weft_array *value = NULL;
    OPERATION("weft_new");
    return weft__site_run(site, length, count, operands, true, &value) == WEFT_OK ? value : NULL;
}

weft_status weft_value_site(void *out, weft_dtype dtype, const char *site, size_t length, int count,
                            const weft_operand *operands)
{
    weft_array *value = NULL;
    OPERATION("weft_value");
    TRY(weft__site_run(site, length, count, operands, true, &value));
    weft_status status = weft__item(value, out, dtype);
    weft_array_release(value);
    return status;
}

/* Code made at run time is parsed each time. */
weft_status weft__evaluate_text(const char *code, int count, const char *const *names,
                                const weft_operand *operands, bool wants_value, weft_array **value)
{
    weft__lang_name given[WEFT__LANG_OPERANDS_MAX];
    weft__lang_syntax *syntax;
    if (!code || count < 0 || count > WEFT__LANG_OPERANDS_MAX ||
        (count > 0 && (!names || !operands)))
        return FAIL(WEFT_ERROR_ARGUMENT,
                    "code, names or operands are missing, or %d is not 0 to %d operands", count,
                    WEFT__LANG_OPERANDS_MAX);
    for (int i = 0; i < count; i++) {
        if (!names[i])
            return weft__fail_null("names");
        given[i] = (weft__lang_name){names[i], strlen(names[i])};
    }
    TRY(weft__lang_parse(code, strlen(code), given, count, wants_value, &syntax));
    site_entry entry = {.syntax = syntax, .names = given, .count = count};
    weft_status status = evaluate(&entry, operands, value);
    weft__evaluation_free(entry.evaluation);
    weft__lang_syntax_free(syntax);
    return status;
}

weft_status weft_evaluate(const char *code, int count, const char *const *names,
                          const weft_operand *operands)
{
    weft_array *value = NULL;
    OPERATION("weft_evaluate");
    return weft__evaluate_text(code, count, names, operands, false, &value);
}

weft_array *weft_evaluate_new(const char *code, int count, const char *const *names,
                              const weft_operand *operands)
{
    weft_array *value = NULL;
    OPERATION("weft_evaluate_new");
    return weft__evaluate_text(code, count, names, operands, true, &value) == WEFT_OK ? value
                                                                                      : NULL;
}
