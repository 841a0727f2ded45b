/* The statements of serial loops: conditions mask what they guard, loops are loops of the kernel,
 * and what the statements assign is carried from round to round. */
#include "core/allocate.h"
#include "function/serial.h"
#include <string.h>

static int32_t always(weft__serial *s) { return weft__build_constant(&s->builder, WEFT_BOOL, 1); }

/* The variable is set where the program is at this point. */
static void note_set(weft__serial *s, int32_t variable)
{
    weft__serial_variable *flag = &s->variables[s->f->variables_count + (size_t)variable];
    const int32_t yes = always(s);
    flag->value = s->active < 0
                      ? yes
                      : weft__build(&s->builder, WEFT__OP_or, WEFT_BOOL, flag->value, s->active, 0);
}

/* Whether a task may leave this: what is folded must be exact, and what is compared not be cut. */
static bool may_keep(const weft__serial *s, int32_t variable, uint8_t dtype)
{
    const uint8_t declared = s->f->variables[variable].dtype;
    if (!s->kept || s->kept[variable] < WEFT__KEPT_FOLD)
        return true;
    if (s->kept[variable] == WEFT__KEPT_FOLD)
        return dtype <= WEFT_U64 && declared <= WEFT_U64;
    return !declared || declared == dtype ||
           (dtype <= WEFT_I64 && (declared == WEFT_I32 || declared == WEFT_I64));
}

void weft__serial_set(weft__serial *s, int32_t variable, int32_t value, uint8_t dtype, bool typed)
{
    const uint8_t declared = s->f->variables[variable].dtype;
    weft__serial_variable *v = &s->variables[variable];
    if (!may_keep(s, variable, dtype))
        weft__serial_refuse(s);
    if (s->refused || s->builder.failed)
        return;
    if (declared) {
        value = weft__serial_cast(s, (weft_dtype)declared, value);
        dtype = declared;
        typed = declared > WEFT_U64;
    }
    value = weft__serial_cast(s, weft__serial_kept(dtype), value);
    const bool other = v->value >= 0 && (v->dtype != dtype || v->typed != typed);
    const bool half =
        dtype == WEFT_F16 || dtype == WEFT_BF16 || dtype == WEFT_C64 || dtype == WEFT_C128;
    if (s->r->held[variable].holding == WEFT__ARRAY || half || (other && s->active >= 0)) {
        weft__serial_refuse(s);
        return;
    }
    if (s->active >= 0 && v->value >= 0)
        value = weft__build(&s->builder, WEFT__OP_select, weft__serial_kept(dtype), s->active,
                            value, v->value);
    *v = (weft__serial_variable){value, dtype, typed, true};
    if (s->kept && s->kept[variable])
        note_set(s, variable);
}

static weft_status assign(weft__serial *s, const weft__function_statement *st)
{
    int32_t value = 0;
    uint8_t dtype = 0;
    bool typed = false;
    if (st->kind == WEFT__STATEMENT_DECLARE && st->part < 0) {
        weft__serial_set(s, st->variable, weft__build_constant(&s->builder, WEFT_I64, 0), WEFT_I64,
                         false);
        return WEFT_OK;
    }
    TRY(weft__serial_part(s, st->part, st->variable >= 0, &value, &dtype, &typed));
    if (st->variable >= 0)
        weft__serial_set(s, st->variable, value, dtype, typed);
    return WEFT_OK;
}

/* i++, of integers. */
static void step(weft__serial *s, const weft__function_statement *st)
{
    const weft__serial_variable *v = &s->variables[st->variable];
    if (!v->set || weft__serial_kept(v->dtype) != WEFT_I64) {
        weft__serial_refuse(s);
        return;
    }
    int32_t delta = weft__build_constant(&s->builder, WEFT_I64, (uint64_t)(int64_t)st->delta);
    weft__serial_set(s, st->variable,
                     weft__build(&s->builder, WEFT__OP_add, WEFT_I64, v->value, delta, 0), WEFT_I64,
                     false);
}

/* Whether a part holds, and the program is at this point. */
static weft_status condition(weft__serial *s, int32_t part, int32_t *holds)
{
    uint8_t dtype = 0;
    bool typed;
    int32_t value = 0;
    *holds = s->active;
    if (part < 0)
        return WEFT_OK;
    TRY(weft__serial_part(s, part, true, &value, &dtype, &typed));
    if (s->refused || s->builder.failed)
        return WEFT_OK;
    const weft_dtype from = (weft_dtype)s->builder.kernel.values[value].dtype;
    if (from != WEFT_BOOL)
        value = weft__build(&s->builder, WEFT__OP_ne, WEFT_BOOL, value,
                            weft__build_constant(&s->builder, from, 0), 0);
    *holds = weft__serial_and(s, s->active, value);
    return WEFT_OK;
}

static void jump(weft__serial *s, bool leaves)
{
    const int32_t here = s->active < 0 ? always(s) : s->active;
    int32_t *flags[] = {&s->gone, &s->left};
    for (int k = 0; k < 1 + leaves; k++)
        *flags[k] = *flags[k] < 0
                        ? here
                        : weft__build(&s->builder, WEFT__OP_or, WEFT_BOOL, *flags[k], here, 0);
}

/* What both ways set is set. */
static weft_status choice(weft__serial *s, const weft__function_statement *st)
{
    const size_t count = s->f->variables_count;
    int32_t holds;
    TRY(condition(s, st->part, &holds));
    if (s->refused || s->builder.failed)
        return WEFT_OK;
    const int32_t around = s->active,
                  fails = weft__serial_and(s, around, weft__serial_not(s, holds));
    bool *before = weft__allocate_zeroed(2 * count + 1), *then = before + count;
    if (!before)
        return WEFT_ERROR_MEMORY;
    for (size_t i = 0; i < count; i++)
        before[i] = s->variables[i].set;
    s->active = holds;
    weft_status status = weft__serial_list(s, st->child);
    for (size_t i = 0; i < count; i++) {
        then[i] = s->variables[i].set;
        s->variables[i].set = before[i];
    }
    s->active = fails;
    if (status == WEFT_OK && st->other >= 0)
        status = weft__serial_list(s, st->other);
    for (size_t i = 0; i < count; i++)
        s->variables[i].set = before[i] || (then[i] && st->other >= 0 && s->variables[i].set);
    s->active = around;
    weft__free(before);
    return status;
}

static int32_t carry(weft__serial *s, int32_t value)
{
    const uint8_t dtype = s->builder.kernel.values[value].dtype;
    return weft__build_flow(&s->builder, WEFT__OP_carry, (weft_dtype)dtype, value, 0);
}

void weft__serial_zeros(weft__serial *s, int32_t variable)
{
    weft__builder *b = &s->builder;
    if (s->point < 0 || !s->private[variable]) {
        weft__serial_refuse(s);
        return;
    }
    const int operand = weft__serial_operand(s, variable);
    const int32_t count =
        weft__serial_count(s, operand, weft__held_any(&s->r->held[variable])->shape.ndim);
    if (s->refused || b->failed)
        return;
    const weft_dtype dtype = (weft_dtype)b->kernel.operands[operand].dtype;
    const int32_t first = weft__build(b, WEFT__OP_mul, WEFT_I64, s->point, count, 0);
    const int32_t none = weft__build_constant(b, WEFT_I64, 0);
    const int32_t zero = weft__build_constant(b, dtype, 0),
                  here = s->active < 0 ? always(s) : s->active;
    const int32_t end = weft__build(b, WEFT__OP_select, WEFT_I64, here, count, none);
    const int32_t at = carry(s, none);
    weft__build_flow(b, WEFT__OP_loop, WEFT_BOOL, 0, 0);
    weft__build_flow(b, WEFT__OP_test, WEFT_BOOL,
                     weft__build(b, WEFT__OP_lt, WEFT_BOOL, at, end, 0), 0);
    weft__build_scatter(b, operand, weft__build(b, WEFT__OP_add, WEFT_I64, first, at, 0), zero,
                        always(s));
    const int32_t one = weft__build_constant(b, WEFT_I64, 1);
    weft__build_flow(b, WEFT__OP_next, WEFT_I64, at,
                     weft__build(b, WEFT__OP_add, WEFT_I64, at, one, 0));
    weft__build_flow(b, WEFT__OP_end, WEFT_BOOL, 0, 0);
    s->written[operand] = true;
}

static weft_status statement(weft__serial *s, const weft__function_statement *st)
{
    switch (st->kind) {
    case WEFT__STATEMENT_ASSIGN:
    case WEFT__STATEMENT_DECLARE:
        return assign(s, st);
    case WEFT__STATEMENT_STEP:
        step(s, st);
        return WEFT_OK;
    case WEFT__STATEMENT_BLOCK:
        return weft__serial_list(s, st->child);
    case WEFT__STATEMENT_IF:
        return choice(s, st);
    case WEFT__STATEMENT_TAKE: /* of numbers: arrays go over to others */
        if (s->r->held[s->f->parts[st->part].variables[0]].holding == WEFT__ARRAY)
            weft__serial_refuse(s);
        return s->refused ? WEFT_OK : assign(s, st);
    case WEFT__STATEMENT_GIVE:
        return WEFT_OK;
    case WEFT__STATEMENT_ARRAY:
        weft__serial_zeros(s, st->variable);
        return WEFT_OK;
    case WEFT__STATEMENT_FOR:
        TRY(weft__serial_list(s, st->init));
        return weft__serial_loop(s, st);
    case WEFT__STATEMENT_WHILE:
        return weft__serial_loop(s, st);
    case WEFT__STATEMENT_BREAK:
    case WEFT__STATEMENT_CONTINUE:
        jump(s, st->kind == WEFT__STATEMENT_BREAK);
        return WEFT_OK;
    default:
        weft__serial_refuse(s);
        return WEFT_OK;
    }
}

/* Behind a jump, or a failure, there is nobody. */
weft_status weft__serial_list(weft__serial *s, int32_t first)
{
    const int32_t around = s->active;
    int32_t gone = s->gone, now = around;
    for (int32_t at = first; at >= 0 && !s->refused && !s->builder.failed;
         at = s->f->statements[at].next) {
        TRY(statement(s, &s->f->statements[at]));
        if (s->gone != gone)
            now = weft__serial_and(s, around, weft__serial_not(s, s->gone));
        gone = s->gone;
        s->active = now;
    }
    s->active = around;
    return WEFT_OK;
}

static void find_assigned(const weft__function *f, int32_t first, bool *assigned)
{
    for (int32_t at = first; at >= 0; at = f->statements[at].next) {
        const weft__function_statement *st = &f->statements[at];
        if (st->variable >= 0)
            assigned[st->variable] = true;
        find_assigned(f, st->child, assigned);
        find_assigned(f, st->other, assigned);
        find_assigned(f, st->init, assigned);
        find_assigned(f, st->step, assigned);
    }
}

/* What a loop carries. */
typedef struct carrying {
    bool *assigned; /* of each variable */
    weft__serial_variable *before;
    int32_t go, failed; /* carries: whether there is a round, and s->failed */
} carrying;

static void begin(weft__serial *s, carrying *c, int32_t go)
{
    for (uint32_t i = 0; i < s->variables_count; i++) {
        weft__serial_variable *v = &s->variables[i];
        if (c->assigned[i] && v->value >= 0 && v->set)
            v->value = carry(s, v->value);
        else if (c->assigned[i])
            *v = (weft__serial_variable){.value = -1};
    }
    c->go = carry(s, go < 0 ? always(s) : go);
    c->failed = s->failed = carry(s, s->failed);
    memcpy(c->before, s->variables, s->variables_count * sizeof *c->before);
    weft__build_flow(&s->builder, WEFT__OP_loop, WEFT_BOOL, 0, 0);
    weft__build_flow(&s->builder, WEFT__OP_test, WEFT_BOOL, c->go, 0);
    s->active = s->gone = s->left = -1;
}

/* The step and the condition are for those who have neither left nor failed. */
static weft_status next_round(weft__serial *s, const weft__function_statement *loop,
                              const carrying *c, int32_t *go)
{
    weft__builder *b = &s->builder;
    int32_t stays = s->left < 0 ? -1 : weft__serial_not(s, s->left);
    for (int k = 0; k < 2 && !s->refused; k++) {
        if (s->failed != c->failed)
            s->active = weft__serial_and(s, stays,
                                         weft__build(b, WEFT__OP_eq, WEFT_BOOL, s->failed,
                                                     weft__build_constant(b, WEFT_I64, 0), 0));
        else
            s->active = stays;
        s->gone = -1;
        if (k == 0)
            TRY(weft__serial_list(s, loop->step));
    }
    if (s->refused)
        return WEFT_OK;
    TRY(condition(s, loop->part, go));
    if (*go < 0)
        *go = always(s);
    return WEFT_OK;
}

static void next(weft__serial *s, int32_t carried, int32_t value)
{
    const uint8_t dtype = s->builder.kernel.values[carried].dtype;
    weft__build_flow(&s->builder, WEFT__OP_next, (weft_dtype)dtype, carried, value);
}

static void end(weft__serial *s, const carrying *c, int32_t go)
{
    for (uint32_t i = 0; i < s->variables_count; i++) {
        const weft__serial_variable *a = &c->before[i], *b = &s->variables[i];
        if (!c->assigned[i] || a->value < 0)
            continue;
        if (a->dtype != b->dtype || a->typed != b->typed)
            weft__serial_refuse(s);
        else
            next(s, a->value, b->value);
    }
    next(s, c->go, go);
    next(s, c->failed, s->failed);
    weft__build_flow(&s->builder, WEFT__OP_end, WEFT_BOOL, 0, 0);
    memcpy(s->variables, c->before, s->variables_count * sizeof *c->before);
    s->failed = c->failed;
}

static weft_status rounds(weft__serial *s, const weft__function_statement *loop, carrying *c)
{
    const int32_t around = s->active, left = s->left;
    int32_t go = -1;
    TRY(condition(s, loop->part, &go));
    const int32_t gone = s->gone;
    if (s->refused || s->builder.failed)
        return WEFT_OK;
    begin(s, c, go);
    TRY(weft__serial_list(s, loop->child));
    if (s->refused || s->builder.failed)
        return WEFT_OK;
    TRY(next_round(s, loop, c, &go));
    if (s->refused || s->builder.failed)
        return WEFT_OK;
    end(s, c, go);
    int32_t bad = weft__build(&s->builder, WEFT__OP_ne, WEFT_BOOL, s->failed,
                              weft__build_constant(&s->builder, WEFT_I64, 0), 0);
    s->gone = gone < 0 ? bad : weft__build(&s->builder, WEFT__OP_or, WEFT_BOOL, gone, bad, 0);
    s->left = left;
    s->active = around;
    return WEFT_OK;
}

weft_status weft__serial_loop(weft__serial *s, const weft__function_statement *loop)
{
    const size_t count = s->variables_count;
    carrying c = {0};
    c.before = weft__allocate_zeroed((count + 1) * sizeof *c.before);
    c.assigned = weft__allocate_zeroed(count + 1);
    weft_status status = c.before && c.assigned ? WEFT_OK : WEFT_ERROR_MEMORY;
    if (status == WEFT_OK) {
        find_assigned(s->f, loop->child, c.assigned);
        find_assigned(s->f, loop->step, c.assigned);
        for (size_t i = 0; s->kept && i < s->f->variables_count; i++)
            c.assigned[s->f->variables_count + i] = c.assigned[i] && s->kept[i];
        status = rounds(s, loop, &c);
    }
    weft__free(c.before);
    weft__free(c.assigned);
    return status;
}
