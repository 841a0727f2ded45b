/* Call sites: each thread finds what it compiled for one by the address of its text, and what it
 * compiled for code that was made at run time by its bytes. */
#include "core/allocate.h"
#include "core/device.h"
#include "core/dtype.h"
#include "core/thread.h"
#include "lang/error.h"
#include "lang/evaluate.h"
#include "lang/syntax.h"
#include "ops/copy.h"
#include "ops/number.h"
#include "trace/trace.h"
#include <string.h>
#include <weft/expression.h>

/* Code made at run time that a thread keeps: one that is new takes the place of another. */
enum { TEXTS = 256, TEXT_MAX = 2048 };

/* One call site: its text, parsed, and the last evaluation of it. */
typedef struct site_entry {
    const char *site; /* the key; NULL: free */
    size_t length;
    const char *code; /* in the text */
    char *text; /* a copy: the address may be another's now (a library that was loaded again) */
    weft__lang_syntax *syntax;
    weft__lang_name *names;
    weft__evaluation *evaluation;
    int count;
    bool wants_value;
} site_entry;

/* What a value of one element is read into. */
typedef struct c_number {
    void *at;
    weft_dtype dtype;
} c_number;

/* Open addressing; at most half full, grows. */
typedef struct site_table {
    site_entry *entries;
    size_t room, used;
    site_entry *texts; /* by the hash of their bytes; NULL before the first */
} site_table;

static void free_entry(site_entry *entry)
{
    weft__evaluation_free(entry->evaluation);
    weft__lang_syntax_free(entry->syntax);
    weft__free(entry->names);
    memset(entry, 0, sizeof *entry);
}

static void free_table(void *argument)
{
    site_table *table = argument;
    for (size_t i = 0; i < table->room; i++)
        if (table->entries[i].site)
            free_entry(&table->entries[i]);
    for (size_t i = 0; table->texts && i < TEXTS; i++)
        free_entry(&table->texts[i]);
    weft__free(table->texts);
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
    site_table larger = *table;
    larger.room = table->room ? table->room * 2 : 64;
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

/* The entry's names, in one block with its text, of which a copy is made. */
static weft_status begin_entry(site_entry *entry, const char *text, size_t length, int count,
                               bool wants_value)
{
    size_t names = (size_t)count * sizeof *entry->names;
    *entry = (site_entry){.length = length, .count = count, .wants_value = wants_value};
    if (!(entry->names = weft__allocate(names + length + 1)))
        return WEFT_ERROR_MEMORY;
    entry->text = (char *)entry->names + names;
    memcpy(entry->text, text, length);
    entry->text[length] = 0;
    return WEFT_OK;
}

static weft_status parse(site_entry *entry, const char *code)
{
    entry->code = code;
    return weft__lang_parse(code, strlen(code), entry->names, entry->count, entry->wants_value,
                            &entry->syntax);
}

static weft_status fill_site(site_entry *entry, const char *site, size_t length, int count,
                             bool wants_value)
{
    TRY(begin_entry(entry, site, length, count, wants_value));
    const char *code = entry->text + strlen(entry->text) + 1, *names = code + strlen(code) + 1;
    TRY(weft__lang_split(names, strlen(names), count, entry->names));
    return parse(entry, code);
}

static bool is_entry(const site_entry *entry, const char *text, size_t length, int count,
                     bool wants_value)
{
    return entry->syntax && entry->length == length && entry->count == count &&
           entry->wants_value == wants_value && !memcmp(entry->text, text, length);
}

static weft_status find(weft__thread *thread, const char *site, size_t length, int count,
                        bool wants_value, site_entry **found)
{
    site_table *table = table_of(thread);
    if (!table || (table->used * 2 >= table->room && !grow(table)))
        return WEFT_ERROR_MEMORY;
    site_entry *entry = &table->entries[slot_of(table, site)];
    *found = entry;
    if (is_entry(entry, site, length, count, wants_value))
        return WEFT_OK;
    table->used += entry->site ? 0 : 1;
    free_entry(entry);
    weft_status status = fill_site(entry, site, length, count, wants_value);
    if (status != WEFT_OK)
        free_entry(entry);
    entry->site = site; /* an entry that is taken stays taken, or others would not be found */
    return status;
}

static weft_status evaluate_anew(site_entry *entry, const weft_operand *operands)
{
    weft__lang_operand types[WEFT__LANG_OPERANDS_MAX];
    weft__evaluation *made;
    TRY(weft__evaluation_types(operands, entry->count, types));
    TRY(weft__evaluation_new(entry->syntax, types, entry->count, &made));
    weft__evaluation_free(entry->evaluation);
    entry->evaluation = made;
    return WEFT_OK;
}

/* About the value, which is the last statement. */
#define FAIL_VALUE(entry, status, ...)                                                             \
    weft__lang_fail((entry)->syntax->code,                                                         \
                    (entry)->syntax->statements[(entry)->syntax->statements_count - 1].column,     \
                    (status), __VA_ARGS__)

static bool has_one_element(const weft_shape *shape)
{
    bool one = true;
    for (int k = 0; k < shape->ndim; k++)
        one &= shape->size[k] == 1;
    return one;
}

/* A literal or C number alone; false if the value is computed. */
static bool known_number(const weft__lang_program *program, const weft_operand *operands,
                         weft_operand *number)
{
    const weft__lang_node *value = &program->nodes[program->value];
    if (value->kind == WEFT__NODE_OPERAND)
        *number = operands[value->operand];
    else
        *number = (weft_operand){WEFT_OPERAND_NUMBER, value->dtype, {.u = value->literal.u}};
    return (value->kind == WEFT__NODE_OPERAND || value->kind == WEFT__NODE_LITERAL) &&
           number->tag == WEFT_OPERAND_NUMBER;
}

/* An integer that is computed is compared with the range once it is there. */
static weft_status check_range(const site_entry *entry, const weft_operand *operands,
                               weft_dtype dtype)
{
    weft_operand number;
    if (!known_number(entry->evaluation->program, operands, &number) ||
        weft__dtype_rank((weft_dtype)number.dtype) != WEFT__RANK_INTEGER ||
        weft__dtype_rank(dtype) != WEFT__RANK_INTEGER || weft__number_fits(&number, dtype))
        return WEFT_OK;
    if (number.dtype <= WEFT_I64)
        return FAIL_VALUE(entry, WEFT_ERROR_DTYPE, "%lld is outside the range of %s, which *out is",
                          (long long)number.value.i, weft_dtype_name(dtype));
    return FAIL_VALUE(entry, WEFT_ERROR_DTYPE, "%llu is outside the range of %s, which *out is",
                      (unsigned long long)number.value.u, weft_dtype_name(dtype));
}

/* All that is known of the value before the program runs: a refused one has changed nothing. */
static weft_status check_number(const site_entry *entry, const weft_operand *operands,
                                weft_dtype dtype)
{
    const weft__lang_program *program = entry->evaluation->program;
    const weft__lang_node *value = &program->nodes[program->value];
    const weft_dtype from = (weft_dtype)value->dtype;
    if (!has_one_element(&program->shapes[value->shape]))
        return FAIL_VALUE(
            entry, WEFT_ERROR_SHAPE,
            "the value has the shape %s, and a C number takes one element; reduce it, as "
            "in sum(...), or make an array of it with weft_new",
            weft__shape_text_of(&program->shapes[value->shape]).text);
    if (weft__dtype_rank(from) > weft__dtype_rank(dtype))
        return FAIL_VALUE(entry, WEFT_ERROR_DTYPE,
                          "the value is %s and *out %s; cast it, as in %s(...)",
                          weft_dtype_name(from), weft_dtype_name(dtype), weft_dtype_name(dtype));
    return check_range(entry, operands, dtype);
}

/* With operands that are not those of the last time, or for a C number. */
__attribute__((noinline)) static weft_status evaluate_others(site_entry *entry,
                                                             const weft_operand *operands,
                                                             const c_number *out,
                                                             weft_array **value)
{
    if (!entry->evaluation || !weft__evaluation_fits(entry->evaluation, operands, entry->count))
        TRY(evaluate_anew(entry, operands));
    if (out)
        TRY(check_number(entry, operands, out->dtype));
    const weft_status status =
        weft__evaluation_run(entry->evaluation, operands, entry->names, out != NULL, value);
    if (status == WEFT_ERROR_SHAPE || status == WEFT_ERROR_DTYPE || status == WEFT_ERROR_ARGUMENT)
        weft__lang_show_operand(entry->syntax->code, entry->names, entry->count);
    return status;
}

static inline weft_status evaluate_now(site_entry *entry, const weft_operand *operands,
                                       const c_number *out, weft_array **value)
{
    weft_status status;
    if (entry->evaluation &&
        weft__evaluation_repeat(entry->evaluation, operands, entry->count, &status))
        return status;
    return evaluate_others(entry, operands, out, value);
}

__attribute__((cold)) static weft_status evaluate_traced(site_entry *entry,
                                                         const weft_operand *operands,
                                                         const c_number *out, weft_array **value)
{
    const uint32_t before = weft__trace_begin_source("", entry->code, strlen(entry->code));
    const weft_status status = evaluate_now(entry, operands, out, value);
    weft__trace_end_source(before);
    return status;
}

/* `out`: NULL, unless the value becomes a C number. */
static inline weft_status evaluate(site_entry *entry, const weft_operand *operands,
                                   const c_number *out, weft_array **value)
{
    return weft__tracing() ? evaluate_traced(entry, operands, out, value)
                           : evaluate_now(entry, operands, out, value);
}

/* A call inside another one, as by a deleter, keeps away from what the outer one uses. */
static weft_status run_site_once(const char *site, size_t length, int count,
                                 const weft_operand *operands, bool wants_value,
                                 const c_number *out, weft_array **value)
{
    site_entry entry;
    weft_status status = fill_site(&entry, site, length, count, wants_value);
    if (status == WEFT_OK)
        status = evaluate(&entry, operands, out, value);
    free_entry(&entry);
    return status;
}

static inline weft_status run_site(const char *site, size_t length, int count,
                                   const weft_operand *operands, bool wants_value,
                                   const c_number *out, weft_array **value)
{
    weft__thread *thread = weft__thread_get();
    site_entry *entry;
    if (!thread)
        return WEFT_ERROR_MEMORY;
    if (thread->sites_busy)
        return run_site_once(site, length, count, operands, wants_value, out, value);
    thread->sites_busy = true; /* no reset that is called in between drops the table */
    weft_status status = find(thread, site, length, count, wants_value, &entry);
    if (status == WEFT_OK)
        status = evaluate(entry, operands, out, value);
    thread->sites_busy = false;
    return status;
}

weft_status weft__site_run(const char *site, size_t length, int count, const weft_operand *operands,
                           bool wants_value, weft_array **value)
{
    return run_site(site, length, count, operands, wants_value, NULL, value);
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

static weft_status check_out(const c_number *out)
{
    if (out->at && weft_dtype_size(out->dtype))
        return WEFT_OK;
    return FAIL_AT(WEFT_ERROR_ARGUMENT, "out", "out is %s; a place for a number was expected",
                   out->at ? "of no known dtype" : "NULL");
}

weft_status weft_value_site(void *out, weft_dtype dtype, const char *site, size_t length, int count,
                            const weft_operand *operands)
{
    weft_array *value = NULL;
    const c_number number = {out, dtype};
    OPERATION("weft_value");
    TRY(check_out(&number));
    TRY(run_site(site, length, count, operands, true, &number, &value));
    weft_status status = weft__item(value, out, dtype);
    weft_array_release(value);
    return status;
}

/* The code and the names, each ended by a NUL, as the text of an entry. Returns its length, also
 * where there is no room for all of it. */
static size_t join(const char *code, int count, const char *const *names, char *text, size_t room)
{
    size_t length = 0;
    for (int i = -1; i < count; i++) {
        const char *piece = i < 0 ? code : names[i];
        size_t bytes = strlen(piece) + 1;
        if (length + bytes <= room)
            memcpy(text + length, piece, bytes);
        length += bytes;
    }
    return length;
}

static weft_status fill_text(site_entry *entry, const char *text, size_t length, int count,
                             bool wants_value)
{
    TRY(begin_entry(entry, text, length, count, wants_value));
    const char *at = entry->text + strlen(entry->text) + 1;
    for (int i = 0; i < count; at += entry->names[i++].length + 1)
        entry->names[i] = (weft__lang_name){at, strlen(at)};
    return parse(entry, entry->text);
}

static uint64_t hash_of(const char *text, size_t length)
{
    uint64_t hash = length, word;
    for (size_t i = 0; i < length; i += 8) {
        word = 0;
        memcpy(&word, text + i, length - i < 8 ? length - i : 8);
        hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 32;
    }
    return hash;
}

static weft_status find_text(weft__thread *thread, const char *text, size_t length, int count,
                             bool wants_value, site_entry **found)
{
    site_table *table = table_of(thread);
    if (!table ||
        (!table->texts && !(table->texts = weft__allocate_zeroed(TEXTS * sizeof *table->texts))))
        return WEFT_ERROR_MEMORY;
    site_entry *entry = &table->texts[hash_of(text, length) % TEXTS];
    *found = entry;
    if (is_entry(entry, text, length, count, wants_value))
        return WEFT_OK;
    free_entry(entry);
    return fill_text(entry, text, length, count, wants_value);
}

/* Long code, and what is called inside another call, is parsed each time. */
static weft_status run_text_once(const char *code, int count, const char *const *names,
                                 const weft_operand *operands, bool wants_value, weft_array **value)
{
    site_entry entry = {0};
    size_t length = join(code, count, names, NULL, 0);
    char *text = weft__allocate(length);
    if (!text)
        return WEFT_ERROR_MEMORY;
    join(code, count, names, text, length);
    weft_status status = fill_text(&entry, text, length, count, wants_value);
    weft__free(text);
    if (status == WEFT_OK)
        status = evaluate(&entry, operands, NULL, value);
    free_entry(&entry);
    return status;
}

static weft_status check_text(const char *code, int count, const char *const *names,
                              const weft_operand *operands)
{
    const char *missing = !code                    ? "code"
                          : count > 0 && !names    ? "names"
                          : count > 0 && !operands ? "operands"
                                                   : NULL;
    if (missing)
        return FAIL_AT(WEFT_ERROR_ARGUMENT, missing, "%s is NULL; give some", missing);
    if (count < 0 || count > WEFT__LANG_OPERANDS_MAX)
        return FAIL_AT(WEFT_ERROR_ARGUMENT, "count", "%d operands were given; 0 to %d are possible",
                       count, WEFT__LANG_OPERANDS_MAX);
    for (int i = 0; i < count; i++)
        if (!names[i])
            return FAIL_AT(WEFT_ERROR_ARGUMENT, "names",
                           "names[%d] is NULL; each operand has a name in the code", i);
    return WEFT_OK;
}

weft_status weft__evaluate_text(const char *code, int count, const char *const *names,
                                const weft_operand *operands, bool wants_value, weft_array **value)
{
    char text[TEXT_MAX];
    site_entry *entry;
    TRY(check_text(code, count, names, operands));
    weft__thread *thread = weft__thread_get();
    if (!thread)
        return WEFT_ERROR_MEMORY;
    size_t length = join(code, count, names, text, sizeof text);
    if (thread->sites_busy || length > sizeof text)
        return run_text_once(code, count, names, operands, wants_value, value);
    thread->sites_busy = true;
    weft_status status = find_text(thread, text, length, count, wants_value, &entry);
    if (status == WEFT_OK)
        status = evaluate(entry, operands, NULL, value);
    thread->sites_busy = false;
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
