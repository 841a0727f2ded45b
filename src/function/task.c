/* Loops that may run as tasks: what is known of them without a call, and what was found in calls.
 */
#include "core/allocate.h"
#include "function/emit.h"
#include "function/number.h"
#include "function/task_plan.h"
#include <string.h>

static bool is_loop(const weft__function_statement *s)
{
    return s->kind == WEFT__STATEMENT_FOR || s->kind == WEFT__STATEMENT_WHILE;
}

/* What the statements assign, and what they name. */
static void find_variables(const weft__function *f, weft__task *task, int32_t first)
{
    for (int32_t at = first; at >= 0; at = f->statements[at].next) {
        const weft__function_statement *s = &f->statements[at];
        const bool array = s->kind == WEFT__STATEMENT_ARRAY;
        if (s->variable >= 0)
            (array ? task->private : task->assigned)[s->variable] = true;
        task->has_arrays |= array;
        task->has_kernels |= s->nest >= 0 && f->nests[s->nest]->candidate;
        for (int32_t k = 0; k < s->parts_count; k++)
            for (int i = 0; i < f->parts[s->part + k].names_count; i++)
                task->used[f->parts[s->part + k].variables[i]] = true;
        find_variables(f, task, s->child);
        find_variables(f, task, s->other);
        find_variables(f, task, s->init);
        find_variables(f, task, s->step);
    }
}

static bool part_assigns(const weft__function *f, const weft__task *task, int32_t part)
{
    bool found = false;
    for (int i = 0; part >= 0 && i < f->parts[part].names_count; i++)
        found |= task->assigned[f->parts[part].variables[i]] &&
                 f->parts[part].variables[i] != task->loop.variable;
    return found;
}

static bool reads_counter(const weft__function *f, const weft__task *task, int32_t part)
{
    bool found = false;
    for (int i = 0; i < f->parts[part].names_count; i++)
        found |= f->parts[part].variables[i] == task->loop.variable;
    return found;
}

/* Whether every statement is one that a task can have; arrays are of the same size in all. */
static bool suits(const weft__function *f, const weft__task *task, int32_t first)
{
    bool fine = true;
    for (int32_t at = first; at >= 0 && fine; at = f->statements[at].next) {
        const weft__function_statement *s = &f->statements[at];
        fine = s->kind != WEFT__STATEMENT_HOST && s->kind != WEFT__STATEMENT_RETURN &&
               suits(f, task, s->child) && suits(f, task, s->other);
        for (int32_t k = 0; s->kind == WEFT__STATEMENT_ARRAY && k < s->parts_count; k++)
            fine &= !part_assigns(f, task, s->part + k) && !reads_counter(f, task, s->part + k);
    }
    return fine;
}

/* Arrays that an iteration declares are its own. */
static bool keeps_to_itself(const weft__function *f, const weft__task *task)
{
    bool fine = !task->assigned[task->loop.variable];
    for (uint32_t i = 0; i < f->variables_count && fine; i++)
        if (task->private[i])
            fine = !task->assigned[i] && !weft__function_live_after(f, task->statement, (int32_t)i);
    return fine;
}

weft_status weft__task_new(const weft__function *f, int32_t statement, weft__task **made)
{
    const weft__function_statement *s = &f->statements[statement];
    const size_t count = f->variables_count;
    weft__task *task = weft__allocate_zeroed(sizeof *task + 5 * count + 1);
    *made = task;
    if (!task)
        return WEFT_ERROR_MEMORY;
    task->statement = statement;
    task->assigned = (bool *)(task + 1);
    task->private = task->assigned + count;
    task->used = task->private + count;
    task->kinds = (uint8_t *)(task->used + count);
    task->folds = task->kinds + count;
    find_variables(f, task, s->child);
    if (!is_loop(s) || !weft__nest_find_loop(f, statement, &task->loop) ||
        !suits(f, task, s->child) || weft__emit_breaks(f, s->child) || !keeps_to_itself(f, task) ||
        !weft__task_find_kept(f, task) || part_assigns(f, task, task->loop.bound_part) ||
        part_assigns(f, task, task->loop.by_part)) {
        weft__free(task);
        *made = NULL;
        return WEFT_OK;
    }
    task->assigned[task->loop.variable] = true;
    return WEFT_OK;
}

void weft__task_free(weft__task *task)
{
    for (int k = 0; task && k < WEFT__TASK_VERDICTS; k++)
        weft__free(task->verdicts[k].seen);
    for (int k = 0; task && k < WEFT__TASK_PLANS; k++)
        weft__task_plan_free(task->plans[k]);
    weft__free(task);
}

void weft__task_see(const weft__running *r, const weft__task *task, weft__task_seen *seen)
{
    memset(seen, 0, r->function->variables_count * sizeof *seen);
    for (uint32_t i = 0; i < r->function->variables_count; i++) {
        const weft__held *held = &r->held[i];
        const bool set = task->assigned[i] && held->holding != WEFT__ARRAY;
        if ((!task->used[i] && !task->kinds[i]) || (set && !task->kinds[i]))
            continue;
        seen[i].holding = held->holding;
        if (held->holding == WEFT__NUMBER) {
            seen[i].dtype = (uint8_t)held->number.dtype;
            seen[i].typed = held->typed;
            if (!set)
                weft__number_integer(&held->number, &seen[i].value);
        }
        if (held->holding != WEFT__ARRAY)
            continue;
        const weft_array *array = weft__held_any(held);
        seen[i].dtype = array->dtype;
        seen[i].input = held->input;
        seen[i].overlapping = array->overlapping;
        seen[i].shape.ndim = array->shape.ndim;
        for (int k = 0; k < array->shape.ndim; k++)
            seen[i].shape.size[k] = array->shape.size[k];
    }
}

static weft_status find_out(weft__running *r, const weft__task *task, const weft__task_loop *loop,
                            weft__task_verdict *verdict)
{
    weft__function *f = r->function;
    weft__task_view *v = weft__allocate_zeroed(sizeof *v);
    weft__affine *forms = weft__allocate_zeroed((f->variables_count + (size_t)1) * sizeof *forms);
    weft__inequalities known = {0};
    weft_status status =
        v && forms && weft__inequalities_open(&known) ? WEFT_OK : WEFT_ERROR_MEMORY;
    if (status == WEFT_OK) {
        v->r = r;
        v->f = f;
        v->loop = loop;
        v->assigned = task->assigned;
        v->private = task->private;
        v->forms = forms;
        v->folds = task->folds;
        weft__task_walk(v);
        verdict->parallel = !v->refused && weft__task_is_parallel(v, &known);
        verdict->inside = verdict->parallel && weft__task_is_inside(v, &known);
        verdict->rounds = v->most_rounds;
        verdict->accesses = v->accesses_count;
        verdict->folded_count = v->folded_count;
        memcpy(verdict->folded, v->folded, sizeof v->folded);
    }
    weft__inequalities_close(&known);
    weft__free(forms);
    weft__free(v);
    return status;
}

static bool fits(const weft__task_verdict *v, const weft__task_loop *loop,
                 const weft__task_seen *seen, size_t bytes)
{
    return v->seen && v->loop.first == loop->first && v->loop.step == loop->step &&
           v->loop.trips == loop->trips && !memcmp(v->seen, seen, bytes);
}

/* Of arrays that share memory it matters where they are, so that is looked at every time. */
weft_status weft__task_judge(weft__running *r, weft__task *task, const weft__task_loop *loop,
                             const weft__task_verdict **verdict)
{
    const size_t bytes = (r->function->variables_count + (size_t)1) * sizeof(weft__task_seen);
    weft__task_seen *seen = weft__allocate_zeroed(bytes);
    if (!seen)
        return WEFT_ERROR_MEMORY;
    weft__task_see(r, task, seen);
    for (int k = 0; k < WEFT__TASK_VERDICTS && !r->shared; k++)
        if (fits(&task->verdicts[k], loop, seen, bytes)) {
            *verdict = &task->verdicts[k];
            weft__free(seen);
            return WEFT_OK;
        }
    weft__task_verdict *v = &task->verdicts[task->oldest_verdict];
    task->oldest_verdict = (task->oldest_verdict + 1) % WEFT__TASK_VERDICTS;
    weft__free(v->seen);
    *v = (weft__task_verdict){.loop = *loop};
    weft_status status = find_out(r, task, loop, v);
    *verdict = v;
    if (status == WEFT_OK && !r->shared)
        v->seen = seen;
    else
        weft__free(seen);
    return status;
}
