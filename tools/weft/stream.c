/* weft eval in pieces: what is read and written goes through little memory. Sums keep the bits of
 * one piece: each row of 4096 elements is what the library folds first, and the rows are combined
 * here as it would (docs/semantics.md, Folds). */
#include "command.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ROW = 4096, PIECE = 256 * ROW }; /* elements */

static const struct fold {
    const char *name, *each, *combine; /* the call, that of a row, and of two results */
} folds[] = {{"sum", "sum", "x = x + y"},         {"mean", "sum", "x = x + y"},
             {"prod", "prod", "x = x * y"},       {"min", "min", "x = minimum(x, y)"},
             {"max", "max", "x = maximum(x, y)"}, {"any", "any", "x = x || y"},
             {"all", "all", "x = x && y"}};

/* What a piece gives for one result. */
typedef struct part {
    const struct fold *fold; /* NULL: elements */
    weft_writer *writer;
    weft_array *array;
    weft_dtype dtype;
    char *slots; /* of a fold: one element for each row */
    size_t slots_bytes, slots_room;
} part;

typedef struct stream {
    evaluation *e;
    char *code; /* with folds along rows */
    int64_t count;
    weft_shape shape;
    bool rows, told;                /* folds along rows; an error has been shown */
    weft_array *flat[OPERANDS_MAX]; /* NULL: random, a number, or one element */
    weft_array *piece[OPERANDS_MAX];
    part parts[OUTPUTS_MAX];
    progress bar;
    double bytes;
} stream;

static bool is_array(const operand *o) { return o->value.tag == WEFT_OPERAND_ARRAY; }

static bool is_large(const operand *o)
{
    int64_t count = 0;
    if (is_array(o))
        (void)weft_shape_count(operand_shape(o), &count);
    return count > 1;
}

/* "sum(…)" and nothing else, of one argument: where that begins, or 0. */
static size_t fold_argument(const char *text, const statement *s, const struct fold *fold)
{
    size_t at = s->value, end = s->end;
    int depth = 0;
    while (at < end && isspace((unsigned char)text[at]))
        at++;
    while (end > at && isspace((unsigned char)text[end - 1]))
        end--;
    const size_t length = strlen(fold->name);
    if (end - at < length + 2 || strncmp(text + at, fold->name, length) != 0 ||
        text[at + length] != '(' || text[end - 1] != ')')
        return 0;
    for (size_t k = at + length; k < end; k++) {
        depth += text[k] == '(' ? 1 : text[k] == ')' ? -1 : 0;
        if ((depth == 0 && k + 1 < end) || (depth == 1 && text[k] == ','))
            return 0;
    }
    return at + length + 1;
}

/* The fold that a statement is, with its argument in single elements. */
static const struct fold *fold_of(const program *p, const statement *s, size_t *argument)
{
    for (size_t k = 0; k < sizeof folds / sizeof folds[0]; k++) {
        *argument = fold_argument(p->text, s, &folds[k]);
        if (*argument && s->plain && !program_far_call(p->text + *argument, s->end - *argument))
            return &folds[k];
    }
    return NULL;
}

static bool is_result(const evaluation *e, const char *name, const result **found)
{
    *found = NULL;
    for (int k = 0; k < e->count && !*found; k++)
        if (strcmp(e->results[k].name, name) == 0)
            *found = &e->results[k];
    return *found != NULL;
}

static const char *refuse_statement(const evaluation *e, const statement *s)
{
    static char text[200];
    const result *r;
    size_t argument;
    if (!*s->name)
        return "a statement assigns nothing";
    if (operand_find(&e->operands, s->name))
        return "it assigns one of its operands";
    const bool fold = fold_of(&e->program, s, &argument) != NULL;
    const bool shown = is_result(e, s->name, &r);
    if (fold && (!shown || program_reads(&e->program, s->name)))
        return "it goes on with a value that is known only at the end";
    if (fold)
        return r->file ? "a value of everything is to be saved; let it be printed" : NULL;
    const char *call = program_far_call(e->program.text + s->value, s->end - s->value);
    if (call) {
        (void)snprintf(text, sizeof text, "%s looks beyond one element", call);
        return text;
    }
    const size_t length = shown && r->file ? strlen(r->file) : 0;
    if (shown && (length < 4 || strcmp(r->file + length - 4, ".npy") != 0))
        return "a result is shown, or saved other than as .npy";
    return NULL;
}

/* Operands of one element do not change the shape, unless they have more dimensions. */
static const char *refuse_operands(const evaluation *e)
{
    const operand *first = NULL;
    int ndim = 0;
    for (int k = 0; k < e->operands.count; k++) {
        const operand *o = &e->operands.list[k];
        if (is_array(o) && operand_shape(o).ndim > ndim)
            ndim = operand_shape(o).ndim;
        if (!is_large(o))
            continue;
        if (!o->random && !weft_array_is_contiguous(o->value.value.array))
            return "an operand is in Fortran order";
        if (first && !weft_shape_equal(operand_shape(first), operand_shape(o)))
            return "operands have several shapes";
        first = o;
    }
    if (!first)
        return "there is no operand with several elements";
    return ndim > operand_shape(first).ndim ? "operands have several shapes" : NULL;
}

/* Whether a value has the shape of the large operands: it names one, or what has it. */
static bool is_wide(const evaluation *e, int position, const bool *wide)
{
    const statement *s = &e->program.list[position];
    const char *value = e->program.text + s->value;
    const size_t length = s->end - s->value;
    bool found = false;
    for (int k = 0; k < e->operands.count && !found; k++)
        found =
            is_large(&e->operands.list[k]) && text_names(value, length, e->operands.list[k].name);
    for (int k = 0; k < position && !found; k++)
        found = wide[k] && text_names(value, length, e->program.list[k].name);
    return found;
}

const char *stream_refuses(const evaluation *e)
{
    bool wide[STATEMENTS_MAX] = {false};
    const char *why = refuse_operands(e);
    const result *r;
    for (int k = 0; !why && k < e->program.count; k++) {
        why = refuse_statement(e, &e->program.list[k]);
        wide[k] = is_wide(e, k, wide);
        if (!why && !wide[k] && is_result(e, e->program.list[k].name, &r))
            why = "a result is not made of the operands with several elements";
        for (int i = 0; !why && i < k; i++)
            if (strcmp(e->program.list[i].name, e->program.list[k].name) == 0)
                why = "a name is assigned twice";
    }
    return why;
}

uint64_t stream_bytes(const evaluation *e)
{
    uint64_t bytes = 0;
    for (int k = 0; k < e->operands.count; k++)
        bytes += operand_bytes(&e->operands.list[k]);
    return bytes;
}

/* The program with "sum(x)" as "sum(x, axis=1)". */
static bool rewrite(stream *s)
{
    const program *p = &s->e->program;
    const size_t room = strlen(p->text) + (size_t)p->count * 64 + 1;
    size_t at = 0, argument;
    s->code = malloc(room);
    for (int k = 0; s->code && k < p->count; k++) {
        const statement *line = &p->list[k];
        const struct fold *fold = fold_of(p, line, &argument);
        const result *r;
        size_t end = line->end;
        while (end > line->begin && isspace((unsigned char)p->text[end - 1]))
            end--;
        if (fold)
            at += (size_t)snprintf(s->code + at, room - at, "%s = %s(%.*s, axis=1); ", line->name,
                                   fold->each, (int)(end - 1 - argument), p->text + argument);
        else
            at += (size_t)snprintf(s->code + at, room - at, "%.*s; ", (int)(end - line->begin),
                                   p->text + line->begin);
        if (fold && is_result(s->e, line->name, &r))
            s->parts[r - s->e->results].fold = fold;
        s->rows |= fold != NULL;
    }
    return s->code != NULL;
}

/* Operands as one long axis; single elements go to the device once. */
static weft_status open_operands(stream *s)
{
    for (int k = 0; k < s->e->operands.count; k++) {
        operand *o = &s->e->operands.list[k];
        if (is_large(o)) {
            s->shape = operand_shape(o);
            (void)weft_shape_count(s->shape, &s->count);
            s->flat[k] = o->random ? NULL : weft_reshape(operand_array(o), WEFT_SHAPE(-1));
            if (!o->random && !s->flat[k])
                return weft_error_code();
        } else if (is_array(o)) {
            WEFT_AUTO weft_array *one = weft_reshape(operand_array(o), WEFT_SCALAR);
            s->piece[k] = one ? weft_to_device(one, s->e->device, NULL) : NULL;
            if (!s->piece[k])
                return weft_error_code();
        }
    }
    return WEFT_OK;
}

static weft_shape piece_shape(const stream *s, int64_t count)
{
    if (!s->rows)
        return WEFT_SHAPE(count);
    return count < ROW ? WEFT_SHAPE(1, count) : WEFT_SHAPE(count / ROW, ROW);
}

static weft_status cut_operands(stream *s, int64_t at, int64_t count)
{
    for (int k = 0; k < s->e->operands.count; k++) {
        const operand *o = &s->e->operands.list[k];
        if (!is_large(o))
            continue;
        weft_array_release(s->piece[k]);
        s->piece[k] = NULL;
        WEFT_AUTO weft_array *slice = o->random
                                          ? operand_part(o, at, count)
                                          : weft_slice(s->flat[k], WEFT_RANGE(at, at + count));
        WEFT_AUTO weft_array *shaped = slice ? weft_reshape(slice, piece_shape(s, count)) : NULL;
        s->piece[k] = shaped ? weft_to_device(shaped, s->e->device, NULL) : NULL;
        if (!s->piece[k])
            return weft_error_code();
    }
    return WEFT_OK;
}

/* Pages of files that were used need not stay in our memory; nothing was written to them. */
static void forget_pages(const stream *s, int64_t at, int64_t count)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    for (int k = 0; k < s->e->operands.count; k++) {
        if (!s->flat[k] || !s->e->operands.list[k].mapped)
            continue;
        const size_t item = weft_dtype_size(weft_array_dtype(s->flat[k]));
        const uintptr_t data = (uintptr_t)weft_array_data(s->flat[k]);
        const uintptr_t begin = (data + (uintptr_t)at * item + page - 1) / page * page;
        const uintptr_t end = (data + (uintptr_t)(at + count) * item) / page * page;
        if (end > begin)
            (void)madvise((void *)begin, end - begin, MADV_DONTNEED);
    }
}

/* What a program is evaluated with. */
typedef struct given {
    const char *names[OPERANDS_MAX + OUTPUTS_MAX];
    weft_operand values[OPERANDS_MAX + OUTPUTS_MAX];
    int count;
} given;

/* The pieces, of `count` elements, and what they give. */
static weft_status gather(stream *s, int64_t count, given *g)
{
    const evaluation *e = s->e;
    int total = 0;
    for (; total < e->operands.count; total++) {
        g->names[total] = e->operands.list[total].name;
        g->values[total] = s->piece[total] ? WEFT_OPERAND((const weft_array *)s->piece[total])
                                           : e->operands.list[total].value;
    }
    for (int k = 0; k < e->count; k++) {
        part *p = &s->parts[k];
        const int64_t wanted = p->fold ? (count + ROW - 1) / ROW : count;
        if (p->array && weft_array_count(p->array) != wanted) {
            weft_array_release(p->array);
            p->array = NULL;
        }
        if (!p->array && !(p->array = weft_handle(.device = e->device)))
            return weft_error_code();
        g->names[total] = e->results[k].name;
        g->values[total++] = WEFT_OPERAND(p->array);
    }
    g->count = total;
    return WEFT_OK;
}

static weft_status evaluate(stream *s, int64_t count)
{
    given g;
    const weft_status status = gather(s, count, &g);
    return status == WEFT_OK ? weft_evaluate(s->code, g.count, g.names, g.values) : status;
}

/* The program as it was written, with one element of each: what is wrong with it is said of that
 * text, and before anything is computed. */
static weft_status check_program(stream *s)
{
    char *text = NULL;
    given g;
    weft_status status = cut_operands(s, 0, 1);
    if (status == WEFT_OK)
        status = gather(s, 1, &g);
    if (status == WEFT_OK)
        status = weft_explain_code(&text, NULL, s->e->program.text, g.count, g.names, g.values);
    weft_explain_free(text);
    return status;
}

/* Not the least or the largest, but what is added or multiplied. */
static bool is_rounded(const part *p)
{
    const bool half = p->dtype == WEFT_F16 || p->dtype == WEFT_BF16;
    return half && strcmp(p->fold->each, "min") != 0 && strcmp(p->fold->each, "max") != 0;
}

static weft_status keep_slots(stream *s, part *p)
{
    const size_t bytes = weft_array_bytes(p->array);
    p->dtype = weft_array_dtype(p->array);
    if (is_rounded(p)) {
        failed("%s of %s is rounded once, at the end; use --stream never, or cast it: f32(...)",
               p->fold->name, weft_dtype_name(p->dtype));
        s->told = true;
        return WEFT_ERROR_UNSUPPORTED;
    }
    if (p->slots_bytes + bytes > p->slots_room) {
        p->slots_room = 2 * (p->slots_bytes + bytes);
        char *more = realloc(p->slots, p->slots_room);
        if (!more)
            return WEFT_ERROR_MEMORY;
        p->slots = more;
    }
    const weft_status status = weft_copy_to_host(p->array, p->slots + p->slots_bytes, bytes);
    p->slots_bytes += bytes;
    return status;
}

static weft_status take_results(stream *s)
{
    for (int k = 0; k < s->e->count; k++) {
        part *p = &s->parts[k];
        weft_status status = WEFT_OK;
        if (p->fold)
            status = keep_slots(s, p);
        else {
            if (!p->writer)
                p->writer =
                    weft_writer_new(s->e->results[k].file, weft_array_dtype(p->array), s->shape);
            status = p->writer ? weft_writer_add(p->writer, p->array) : weft_error_code();
            s->bytes += (double)weft_array_bytes(p->array);
        }
        if (status != WEFT_OK)
            return status;
    }
    return WEFT_OK;
}

static weft_status run_pieces(stream *s)
{
    const double whole = (double)stream_bytes(s->e);
    progress_begin(&s->bar);
    for (int64_t at = 0, count; at < s->count; at += count) {
        count = s->count - at < PIECE ? s->count - at : PIECE;
        if (s->rows && count > ROW)
            count -= count % ROW;
        weft_status status = cut_operands(s, at, count);
        if (status == WEFT_OK)
            status = evaluate(s, count);
        if (status == WEFT_OK)
            status = take_results(s);
        if (status != WEFT_OK) {
            progress_stop(&s->bar);
            return status;
        }
        forget_pages(s, at, count);
        const double done = (double)(at + count) / (double)s->count;
        progress_show(&s->bar, done, s->bytes + done * whole);
    }
    progress_end(&s->bar, s->bytes + whole);
    return WEFT_OK;
}

/* Each part for itself, as the library has it: dividing by a complex number gives other bits. */
static weft_array *divide_parts(weft_array *sum, weft_dtype dtype, int64_t count)
{
    float narrow[2] = {0};
    double wide[2] = {0};
    const bool single = dtype == WEFT_C64;
    void *parts = single ? (void *)narrow : wide;
    const size_t bytes = single ? sizeof narrow : sizeof wide;
    if (weft_copy_to_host(sum, parts, bytes) != WEFT_OK)
        return NULL;
    for (int k = 0; k < 2; k++) {
        narrow[k] /= (float)count;
        wide[k] /= (double)count;
    }
    return weft_from_host(parts, bytes, WEFT_SCALAR, .dtype = dtype, .device = WEFT_CPU);
}

/* By halving over the next power of two, as the library combines chunks. */
static weft_array *combine(const part *p, int64_t count)
{
    static const char *const names[] = {"x", "y"};
    int64_t slots = (int64_t)(p->slots_bytes / weft_dtype_size(p->dtype)), half = 1;
    WEFT_AUTO weft_array *all = weft_from_host(p->slots, p->slots_bytes, WEFT_SHAPE(slots),
                                               .dtype = p->dtype, .device = WEFT_CPU);
    while (half < slots)
        half *= 2;
    for (half /= 2; all && half > 0; half /= 2) {
        if (slots <= half)
            continue;
        WEFT_AUTO weft_array *x = weft_slice(all, WEFT_RANGE(0, slots - half));
        WEFT_AUTO weft_array *y = weft_slice(all, WEFT_RANGE(half, slots));
        const weft_operand values[] = {WEFT_OPERAND(x), WEFT_OPERAND(y)};
        if (!x || !y || weft_evaluate(p->fold->combine, 2, names, values) != WEFT_OK)
            return NULL;
        slots = half;
    }
    WEFT_AUTO weft_array *first = all ? weft_slice(all, WEFT_AT(0)) : NULL;
    const weft_operand of[] = {WEFT_OPERAND(first), WEFT_OPERAND((double)count)};
    if (!first || strcmp(p->fold->name, "mean") != 0)
        return first ? weft_copy(first) : NULL;
    return p->dtype < WEFT_C64 ? weft_evaluate_new("x / y", 2, names, of)
                               : divide_parts(first, p->dtype, count);
}

static weft_status finish(stream *s)
{
    for (int k = 0; k < s->e->count; k++) {
        part *p = &s->parts[k];
        if (p->fold && !(s->e->results[k].array = combine(p, s->count)))
            return weft_error_code();
        weft_writer *writer = p->writer;
        p->writer = NULL;
        if (writer && weft_writer_finish(writer) != WEFT_OK)
            return weft_error_code();
    }
    return WEFT_OK;
}

static void close_stream(stream *s)
{
    for (int k = 0; k < OPERANDS_MAX; k++) {
        weft_array_release(s->flat[k]);
        weft_array_release(s->piece[k]);
    }
    for (int k = 0; k < OUTPUTS_MAX; k++) {
        weft_writer_cancel(s->parts[k].writer);
        weft_array_release(s->parts[k].array);
        free(s->parts[k].slots);
    }
    free(s->code);
}

int stream_run(evaluation *e)
{
    static stream s;
    s.e = e;
    weft_error_clear();
    weft_status status = rewrite(&s) ? open_operands(&s) : WEFT_ERROR_MEMORY;
    if (status == WEFT_OK)
        status = check_program(&s);
    if (status == WEFT_OK)
        status = run_pieces(&s);
    if (status == WEFT_OK)
        status = finish(&s);
    close_stream(&s);
    return status == WEFT_OK ? DONE : s.told ? FAILED : failed_call();
}
