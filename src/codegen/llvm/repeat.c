/* Finding repeats: a few values in a row that are alike lead to all that are, and what saves most
 * is taken first. */
#include "codegen/llvm/repeat.h"
#include "core/allocate.h"
#include "core/status.h"

#include <stdlib.h>
#include <string.h>

enum {
    ALIKE = 8,    /* values in a row that are alike, before more are looked at */
    ATTEMPTS = 4, /* of comparing a place with others */
    CALLED = 4,   /* a call is as much as so many values, … */
    PASSED = 2,   /* … and as these for each value that goes there or back */
    WORTH = 48,   /* values that are not made again */
    SLOTS = 4096, /* a power of two */
    DEEP = 4,     /* operations on constants, of which more are no constant */
    PLACES = 2048 /* that are looked at: kernels of expressions have no more */
};

static const uint32_t NONE = UINT32_MAX;

/* A repeat that may be taken. */
struct candidate {
    uint32_t begin, length, saved;
};

/* The tables while repeats are looked for, by place in the order. */
struct finder {
    weft__repeats *to;
    uint64_t *hash;  /* of each value … */
    uint64_t *row;   /* … and of those in a row from there on */
    uint32_t *next;  /* where the next values in a row that seem alike are, or NONE */
    uint32_t *times; /* how many there are, with these */
    uint32_t *known; /* how often what is here is found, in a candidate */
    uint8_t *tried;  /* whether what begins here is like what was tried */
    uint32_t *found; /* where the times of a repeat begin */
    int32_t *cross;  /* of the places after a beginning: how many more are used from there on */
    struct candidate *candidates;
    uint32_t candidates_count;
};

/* Two times of what may be a repeat; where the inputs of one are those of the other. */
struct match {
    uint32_t begin, other;
    int inputs;
    int32_t from[WEFT__REPEAT_INPUTS], to[WEFT__REPEAT_INPUTS];
};

static const weft__value *value_of(const weft__repeats *repeats, uint32_t place)
{
    return &repeats->survey->kernel->values[repeats->order[place]];
}

static bool constants_are_alike(const weft__kernel *kernel, int32_t x, int32_t y)
{
    const weft__value *a = &kernel->values[x], *b = &kernel->values[y];
    if (a->op != b->op || a->dtype != b->dtype || a->part != b->part || a->bits != b->bits)
        return false;
    for (int k = 0; k < weft__value_arguments(kernel, a); k++)
        if (!constants_are_alike(kernel, a->argument[k], b->argument[k]))
            return false;
    return true;
}

static bool inputs_are_alike(struct match *match, int32_t x, int32_t y)
{
    for (int k = 0; k < match->inputs; k++)
        if (match->from[k] == x)
            return match->to[k] == y;
    if (match->inputs == WEFT__REPEAT_INPUTS)
        return false;
    match->from[match->inputs] = x;
    match->to[match->inputs++] = y;
    return true;
}

static bool arguments_are_alike(const weft__repeats *repeats, struct match *match, int32_t x,
                                int32_t y)
{
    const weft__kernel *kernel = repeats->survey->kernel;
    const int64_t in_first = (int64_t)repeats->place[x] - match->begin;
    const int64_t in_other = (int64_t)repeats->place[y] - match->other;
    if (repeats->fixed[x] || repeats->fixed[y])
        return repeats->fixed[x] && repeats->fixed[y] && constants_are_alike(kernel, x, y);
    if (in_first >= 0 || in_other >= 0)
        return in_first == in_other;
    return kernel->values[x].dtype == kernel->values[y].dtype && inputs_are_alike(match, x, y);
}

static bool values_are_alike(const weft__repeats *repeats, struct match *match, uint32_t k)
{
    const weft__value *a = value_of(repeats, match->begin + k);
    const weft__value *b = value_of(repeats, match->other + k);
    if (a->op != b->op || a->dtype != b->dtype || a->part != b->part)
        return false;
    for (int j = 0; j < weft__op_arity((weft__op)a->op); j++)
        if (!arguments_are_alike(repeats, match, a->argument[j], b->argument[j]))
            return false;
    return true;
}

static bool is_free(const weft__repeats *repeats, uint32_t begin, uint32_t place)
{
    return place < repeats->order_count && repeats->taken[place] == 0 &&
           repeats->stretch[place] == repeats->stretch[begin];
}

/* How many values in a row are alike, of up to so many. */
static uint32_t match_length(const weft__repeats *repeats, struct match *match, uint32_t most)
{
    uint32_t k = 0;
    while (k < most && is_free(repeats, match->begin, match->begin + k) &&
           is_free(repeats, match->other, match->other + k) && values_are_alike(repeats, match, k))
        k++;
    return k;
}

void weft__repeat_inputs(const weft__repeats *repeats, const weft__repeat *repeat, uint32_t begin,
                         int32_t *inputs)
{
    struct match match = {.begin = repeat->begin, .other = begin};
    for (uint32_t k = 0; k < repeat->length; k++)
        (void)values_are_alike(repeats, &match, k);
    memcpy(inputs, match.to, (size_t)match.inputs * sizeof *inputs);
}

/* Where a repeat that begins here and may have so many values best ends: as many as can be, and
 * few that go there and back. Returns its length, or 0. */
static uint32_t best_length(struct finder *finder, struct match match, uint32_t most)
{
    const weft__repeats *repeats = finder->to;
    const uint32_t begin = match.begin;
    int32_t used = 0, best = 0;
    uint32_t length = 0;
    match.inputs = 0;
    memset(finder->cross, 0, (most + 2) * sizeof *finder->cross);
    for (uint32_t k = 0; k < most; k++) {
        const uint32_t last = repeats->last_use[begin + k] - begin;
        finder->cross[k + 1]++;
        finder->cross[(last < most ? last : most) + 1]--;
    }
    for (uint32_t k = 0; k < most; k++) {
        (void)values_are_alike(repeats, &match, k);
        used += finder->cross[k + 1];
        const int32_t gain = (int32_t)k + 1 - CALLED - PASSED * (match.inputs + used);
        if (gain > best && used <= WEFT__REPEAT_OUTPUTS) {
            best = gain;
            length = k + 1;
        }
    }
    return length;
}

/* Adds the values of one time that are used elsewhere to those of others; false if they are too
 * many. */
static bool add_outputs(const weft__repeats *repeats, weft__repeat *repeat, uint32_t begin)
{
    for (uint32_t k = 0; k < repeat->length; k++) {
        int known = 0;
        if (repeats->last_use[begin + k] < begin + repeat->length)
            continue;
        while (known < repeat->outputs && repeat->output[known] != k)
            known++;
        if (known == WEFT__REPEAT_OUTPUTS)
            return false;
        if (known == repeat->outputs)
            repeat->output[repeat->outputs++] = k;
    }
    return true;
}

/* Where the next time of a repeat is, from a place on, or NONE: one that overlaps with no other and
 * leaves no more than there is room for. */
static uint32_t next_time(const struct finder *finder, weft__repeat *repeat, uint32_t at,
                          uint32_t end)
{
    for (; at != NONE; at = finder->next[at]) {
        struct match match = {.begin = repeat->begin, .other = at};
        const weft__repeat before = *repeat;
        if (at < end || match_length(finder->to, &match, repeat->length) < repeat->length)
            continue;
        repeat->inputs = match.inputs;
        if (add_outputs(finder->to, repeat, at))
            return at;
        *repeat = before;
    }
    return NONE;
}

/* Finds the times of a repeat. Returns how many values they save. */
static uint32_t find_times(const struct finder *finder, weft__repeat *repeat)
{
    uint32_t at = next_time(finder, repeat, repeat->begin, 0);
    repeat->count = 0;
    while (at != NONE) {
        finder->found[repeat->count++] = at;
        at = next_time(finder, repeat, finder->next[at], at + repeat->length);
    }
    const int64_t each = CALLED + PASSED * ((int64_t)repeat->inputs + repeat->outputs);
    const int64_t saved = repeat->count * ((int64_t)repeat->length - each) - repeat->length;
    return saved > 0 ? (uint32_t)saved : 0;
}

/* Adds what was found. What begins inside of it, and is not found more often, would save less. */
static void add_candidate(struct finder *finder, const weft__repeat *repeat, uint32_t saved)
{
    finder->candidates[finder->candidates_count++] =
        (struct candidate){repeat->begin, repeat->length, saved};
    for (uint32_t k = 0; k < repeat->count; k++)
        for (uint32_t at = finder->found[k]; at < finder->found[k] + repeat->length; at++)
            if (finder->known[at] < repeat->count)
                finder->known[at] = repeat->count;
}

/* What was found to be like what was tried is not tried again. */
static void try_begin(struct finder *finder, uint32_t begin)
{
    weft__repeat repeat = {.begin = begin};
    uint32_t other = finder->next[begin];
    for (int k = 0; k < ATTEMPTS && other != NONE && repeat.length == 0; k++) {
        struct match match = {.begin = begin, .other = other};
        const uint32_t most = match_length(finder->to, &match, other - begin);
        if (most >= ALIKE)
            repeat.length = best_length(finder, match, most);
        other = finder->next[other];
    }
    if (repeat.length == 0)
        return;
    const uint32_t saved = find_times(finder, &repeat);
    for (uint32_t k = 0; k < repeat.count; k++)
        finder->tried[finder->found[k]] = 1;
    if (saved >= WORTH)
        add_candidate(finder, &repeat, saved);
}

static int compare_candidates(const void *x, const void *y)
{
    const struct candidate *a = x, *b = y;
    if (a->saved != b->saved)
        return a->saved < b->saved ? 1 : -1;
    return a->begin < b->begin ? -1 : 1;
}

/* Marks the values of all times. */
static void take(const struct finder *finder, const weft__repeat *repeat)
{
    weft__repeats *repeats = finder->to;
    repeats->repeat[repeats->count++] = *repeat;
    for (uint32_t k = 0; k < repeat->count; k++) {
        repeats->begins[finder->found[k]] = 1;
        memset(repeats->taken + finder->found[k], repeats->count, repeat->length);
    }
}

/* Returns whether any was. */
static bool take_best(struct finder *finder)
{
    weft__repeats *repeats = finder->to;
    const int before = repeats->count;
    qsort(finder->candidates, finder->candidates_count, sizeof *finder->candidates,
          compare_candidates);
    for (uint32_t k = 0; k < finder->candidates_count && repeats->count < WEFT__REPEATS_MOST; k++) {
        weft__repeat repeat = {.begin = finder->candidates[k].begin,
                               .length = finder->candidates[k].length};
        if (find_times(finder, &repeat) >= WORTH)
            take(finder, &repeat);
    }
    return repeats->count > before;
}

/* What is not in a repeat that was taken may be in another one. */
static void find_all(struct finder *finder)
{
    const uint32_t count = finder->to->order_count;
    do {
        finder->candidates_count = 0;
        memset(finder->known, 0, count * sizeof *finder->known);
        memset(finder->tried, 0, count);
        for (uint32_t k = 0; k < count; k++)
            if (finder->next[k] != NONE && finder->to->taken[k] == 0 && !finder->tried[k] &&
                finder->times[k] > finder->known[k])
                try_begin(finder, k);
    } while (take_best(finder));
}

/* Whether a value is made of constants alone, and how deep. */
static uint8_t fixed_depth(const weft__repeats *repeats, const weft__value *value)
{
    uint8_t depth = 0;
    if (value->op == WEFT__OP_constant)
        return 1;
    for (int k = 0; weft__value_is_primitive(value) && k < weft__op_arity((weft__op)value->op);
         k++) {
        const uint8_t own = repeats->fixed[value->argument[k]];
        if (own == 0 || own == DEEP)
            return 0;
        depth = own >= depth ? (uint8_t)(own + 1) : depth;
    }
    return depth;
}

/* Which values there are to look at, and what each is used by. */
static void find_order(weft__repeats *repeats)
{
    const weft__survey *survey = repeats->survey;
    const weft__kernel *kernel = survey->kernel;
    uint32_t stretch = 0;
    for (uint32_t k = 0; k < kernel->values_count; k++) {
        const weft__value *value = &kernel->values[k];
        const int arguments = weft__value_arguments(kernel, value);
        const bool plain = weft__value_is_primitive(value);
        repeats->fixed[k] = fixed_depth(repeats, value);
        repeats->place[k] = -1;
        if (survey->needed[k] == 0 || survey->level[k] != WEFT__LEVEL_POINT)
            continue;
        stretch += !plain && arguments > 0;
        for (int j = 0; plain && j < arguments; j++)
            if (repeats->place[value->argument[j]] >= 0)
                repeats->last_use[repeats->place[value->argument[j]]] = repeats->order_count;
        if (!plain)
            continue;
        repeats->place[k] = (int32_t)repeats->order_count;
        repeats->stretch[repeats->order_count] = stretch;
        repeats->order[repeats->order_count++] = k;
    }
}

/* What is used by another kind of value stays so whatever uses it later. */
static void find_other_uses(weft__repeats *repeats)
{
    const weft__survey *survey = repeats->survey;
    const weft__kernel *kernel = survey->kernel;
    for (uint32_t k = 0; k < kernel->values_count; k++)
        for (int j = 0; survey->needed[k] != 0 && repeats->place[k] < 0 &&
                        j < weft__value_arguments(kernel, &kernel->values[k]);
             j++) {
            const int32_t place = repeats->place[kernel->values[k].argument[j]];
            if (place >= 0)
                repeats->last_use[place] = NONE;
        }
}

static uint64_t mix(uint64_t hash, uint64_t more)
{
    hash = (hash ^ more) * 0x9e3779b97f4a7c15U;
    return hash ^ hash >> 32;
}

/* Constants tell most values from others. */
static uint64_t hash_of_one(const weft__repeats *repeats, uint32_t place)
{
    const weft__value *values = repeats->survey->kernel->values;
    const weft__value *value = value_of(repeats, place);
    uint64_t hash = mix(value->op, (uint64_t)value->dtype << 8 | value->part);
    for (int k = 0; k < weft__op_arity((weft__op)value->op); k++)
        if (repeats->fixed[value->argument[k]])
            hash = mix(hash, values[value->argument[k]].bits + (uint64_t)k);
    return hash;
}

/* Of the values in a row from a place on. */
static uint64_t hash_of_row(const uint64_t *hashes, uint32_t place)
{
    uint64_t hash = 0;
    for (uint32_t k = 0; k < ALIKE; k++)
        hash = mix(hash, hashes[place + k]);
    return hash;
}

/* Where in the table the last place with these values in a row is, or is to be. */
static uint32_t *slot_of(const struct finder *finder, uint32_t *table, uint32_t place)
{
    const uint64_t hash = finder->row[place];
    uint32_t slot = (uint32_t)hash & (SLOTS - 1);
    while (table[slot] != NONE && finder->row[table[slot]] != hash)
        slot = (slot + 1) & (SLOTS - 1);
    return &table[slot];
}

/* Backwards, so that each is linked to the next one. */
static void link_alike(struct finder *finder)
{
    const uint32_t count = finder->to->order_count < PLACES ? finder->to->order_count : PLACES;
    uint32_t table[SLOTS];
    memset(table, 0xff, sizeof table);
    memset(finder->next, 0xff, finder->to->order_count * sizeof *finder->next);
    for (uint32_t k = count; k-- > 0;) {
        finder->hash[k] = hash_of_one(finder->to, k);
        if (k + ALIKE > count)
            continue;
        finder->row[k] = hash_of_row(finder->hash, k);
        uint32_t *last = slot_of(finder, table, k);
        finder->next[k] = *last;
        finder->times[k] = 1 + (*last == NONE ? 0 : finder->times[*last]);
        *last = k;
    }
}

/* The tables of the repeats and those that are needed only here. */
static weft_status make_tables(struct finder *finder)
{
    weft__repeats *repeats = finder->to;
    const size_t count = repeats->survey->kernel->values_count + 2;
    const size_t each = 2 * sizeof *finder->hash + sizeof *finder->candidates +
                        9 * sizeof *finder->next + sizeof *repeats->taken * 4;
    finder->hash = repeats->memory = weft__allocate_zeroed(count * each);
    if (finder->hash == NULL)
        return WEFT_ERROR_MEMORY;
    finder->row = finder->hash + count;
    finder->candidates = (struct candidate *)(finder->row + count);
    finder->next = (uint32_t *)(finder->candidates + count);
    finder->times = finder->next + count;
    finder->known = finder->times + count;
    finder->found = finder->known + count;
    finder->cross = (int32_t *)(finder->found + count);
    repeats->place = finder->cross + count;
    repeats->order = (uint32_t *)(repeats->place + count);
    repeats->last_use = repeats->order + count;
    repeats->stretch = repeats->last_use + count;
    repeats->taken = (uint8_t *)(repeats->stretch + count);
    repeats->begins = repeats->taken + count;
    repeats->fixed = repeats->begins + count;
    finder->tried = repeats->fixed + count;
    return WEFT_OK;
}

weft_status weft__repeats_find(const weft__survey *survey, weft__repeats *repeats)
{
    struct finder finder = {.to = repeats};
    *repeats = (weft__repeats){.survey = survey};
    TRY(make_tables(&finder));
    find_order(repeats);
    find_other_uses(repeats);
    link_alike(&finder);
    find_all(&finder);
    return WEFT_OK;
}

void weft__repeats_free(weft__repeats *repeats) { weft__free(repeats->memory); }
