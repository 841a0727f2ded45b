/* Fusion: array statements that follow each other are one program, so that they become one kernel
 * where their shapes allow it, and what only they use is stored nowhere. */
#include "core/allocate.h"
#include "function/cost.h"
#include <stdio.h>
#include <string.h>

/* Whether the statement can be one of several: a name is assigned, element by element. */
static bool is_plain(const weft__function *f, const weft__function_statement *s)
{
    if (s->kind != WEFT__STATEMENT_ASSIGN || s->variable < 0 || f->variables[s->variable].dtype)
        return false;
    const weft__function_part *part = &f->parts[s->part];
    for (uint32_t i = 0; i < part->syntax->nodes_count; i++) {
        const weft__syntax_node *node = &part->syntax->nodes[i];
        if (node->kind == WEFT__SYNTAX_CALL &&
            weft__lang_operations[node->operation].group == WEFT__GROUP_reduction)
            return false;
    }
    return part->elements_count == 0;
}

/* The variables that nothing reads after the group. */
static void find_hidden(const weft__function *f, const weft__function_group *group, bool *hidden)
{
    for (int32_t at = group->first; at >= 0; at = f->statements[at].next) {
        int32_t variable = f->statements[at].variable;
        hidden[variable] = !f->variables[variable].parameter &&
                           !weft__function_live_after(f, group->last, variable);
        if (at == group->last)
            break;
    }
}

/* What is read and assigned, in the order of the statements. */
static void survey(weft__function_group *group)
{
    const weft__lang_syntax *s = group->part.syntax;
    uint32_t position = 0;
    for (uint32_t i = 0; i < s->statements_count; i++) {
        for (; position < s->statements[i].end; position++) {
            const weft__syntax_node *node = &s->nodes[position];
            if (node->kind == WEFT__SYNTAX_OPERAND && !group->assigned[node->index])
                group->needed[node->index] = true;
        }
        if (s->statements[i].target >= 0)
            group->assigned[s->statements[i].target] = true;
    }
}

/* What is not possible together is no error. */
static weft_status parse_group(weft__function *f, weft__function_group *group)
{
    weft_error saved = *weft_error_last();
    bool *hidden = weft__allocate_zeroed(f->variables_count + (size_t)1);
    if (!hidden)
        return WEFT_ERROR_MEMORY;
    find_hidden(f, group, hidden);
    group->part.begin = f->parts[f->statements[group->first].part].begin;
    group->part.end = f->parts[f->statements[group->last].part].end;
    weft_status status = weft__function_part_parse(f, &group->part, hidden);
    weft__free(hidden);
    if (status == WEFT_OK) {
        size_t count = (size_t)group->part.names_count + 1;
        group->needed = weft__allocate_zeroed(2 * count);
        group->assigned = group->needed + count;
        status = group->needed ? WEFT_OK : WEFT_ERROR_MEMORY;
    }
    if (status == WEFT_OK)
        survey(group);
    if (status == WEFT_OK || status == WEFT_ERROR_MEMORY)
        return status;
    snprintf(group->why, sizeof group->why, "%.110s", weft__function_reason());
    weft__error_restore(&saved);
    return WEFT_OK;
}

/* The statements from `first` on that may be one program. */
static weft_status add_group(weft__function *f, int32_t first, int32_t *last)
{
    *last = first;
    for (int32_t at = f->statements[first].next; at >= 0 && is_plain(f, &f->statements[at]);
         at = f->statements[at].next)
        *last = at;
    if (*last == first)
        return WEFT_OK;
    TRY(weft__lang_room(&f->groups, f->groups_count, &f->groups_room, sizeof *f->groups));
    weft__function_group *group = &f->groups[f->groups_count];
    memset(group, 0, sizeof *group);
    group->first = first;
    group->last = *last;
    f->statements[first].group = (int32_t)f->groups_count++;
    return parse_group(f, group);
}

static weft_status add_groups(weft__function *f, int32_t first)
{
    for (int32_t at = first; at >= 0; at = f->statements[at].next) {
        int32_t last = at;
        if (is_plain(f, &f->statements[at]))
            TRY(add_group(f, at, &last));
        at = last;
    }
    return WEFT_OK;
}

weft_status weft__function_groups(weft__function *f)
{
    TRY(add_groups(f, f->first));
    for (uint32_t i = 0; i < f->statements_count; i++) {
        const weft__function_statement s = f->statements[i];
        if (s.kind == WEFT__STATEMENT_FOR || s.kind == WEFT__STATEMENT_WHILE ||
            s.kind == WEFT__STATEMENT_IF || s.kind == WEFT__STATEMENT_BLOCK) {
            TRY(add_groups(f, s.child));
            TRY(add_groups(f, s.other));
        }
    }
    return WEFT_OK;
}

void weft__function_group_free(weft__function_group *group)
{
    weft__function_part_free(&group->part);
    weft__free(group->needed);
}

/* The operands' types; false if they are not such that the statements can run together. */
static bool find_types(weft__running *r, const weft__function_group *group,
                       weft__lang_operand *types, weft_operand *operands)
{
    const weft__function_part *part = &group->part;
    bool arrays = false;
    memset(types, 0, (size_t)part->names_count * sizeof *types);
    for (int i = 0; i < part->names_count; i++) {
        const weft__held *held = &r->held[part->variables[i]];
        bool array = held->holding == WEFT__ARRAY;
        const weft_array *any = weft__held_any(held);
        arrays |= array;
        if (group->assigned[i] && !weft__held_is_fixed(held)) {
            types[i] = (weft__lang_operand){.tag = WEFT_OPERAND_ARRAY, .unset = true};
            if (group->needed[i])
                return false;
        } else if (array) {
            types[i] = (weft__lang_operand){
                .tag = WEFT_OPERAND_ARRAY, .dtype = any->dtype, .shape = any->shape};
            if (held->input)
                types[i].tag = WEFT_OPERAND_INPUT;
        } else {
            types[i] = (weft__lang_operand){.tag = WEFT_OPERAND_NUMBER,
                                            .dtype = (uint8_t)held->number.dtype,
                                            .typed = held->typed,
                                            .computed = held->computed};
            operands[i] = held->number;
            if (held->holding != WEFT__NUMBER)
                return false;
        }
    }
    return arrays;
}

/* Variables that would be numbers are not computed on a device. */
static bool has_numbers(const weft__function_group *group, const weft__lang_operand *types,
                        const weft__evaluation *e)
{
    for (uint32_t i = 0; i < e->program->assignments_count; i++) {
        const weft__lang_assignment *a = &e->program->assignments[i];
        int32_t shape = e->program->nodes[a->node].shape;
        if (types[a->operand].unset && e->program->shapes[shape].ndim == 0)
            return true;
    }
    return group->part.syntax->statements_count == 0;
}

static weft_status find_version(weft__running *r, weft__function_group *group,
                                const weft__lang_operand *types, weft__function_version **version)
{
    weft_error saved = *weft_error_last();
    weft_status status =
        weft__function_version_get(r->function, &group->part, types, false, false, version);
    if (status == WEFT_OK && has_numbers(group, types, (*version)->evaluation))
        snprintf(group->why, sizeof group->why, "a number is among what they compute");
    if (status == WEFT_OK || status == WEFT_ERROR_MEMORY)
        return status;
    snprintf(group->why, sizeof group->why, "%.110s", weft__function_reason());
    weft__error_restore(&saved);
    return WEFT_OK;
}

/* New arrays for variables that are assigned; others are brought to where regions run. */
static weft_status gather(weft__running *r, const weft__function_group *group,
                          const weft__lang_operand *types, weft_operand *operands)
{
    const char *operation = weft__operation();
    weft_options options = {.struct_size = sizeof options, .device = r->device};
    for (int i = 0; i < group->part.names_count; i++) {
        if (types[i].tag == WEFT_OPERAND_NUMBER)
            continue;
        operands[i] = (weft_operand){.tag = types[i].tag};
        if (!types[i].unset) {
            TRY(weft__held_device(r, group->part.variables[i], !group->needed[i],
                                  &operands[i].value.array));
            continue;
        }
        operands[i].value.array = weft_handle_with(&options);
        OPERATION(operation);
        if (!operands[i].value.array)
            return weft_error_code();
    }
    return WEFT_OK;
}

/* The variables get what was computed; takes the new arrays over. */
static void finish(weft__running *r, const weft__function_group *group,
                   const weft__lang_operand *types, const weft_operand *operands, bool succeeded)
{
    for (int i = 0; i < group->part.names_count; i++) {
        int32_t variable = group->part.variables[i];
        weft_array *array = operands[i].value.array;
        if (!group->assigned[i])
            continue;
        if (!types[i].unset && succeeded)
            weft__held_wrote(r, variable, true);
        else if (types[i].unset && succeeded)
            weft__held_set_array(r, variable, array);
        else if (types[i].unset && operands[i].tag == WEFT_OPERAND_ARRAY)
            weft_array_release(array);
    }
}

/* Weighs what the statements read and write. */
static weft_status begin(weft__running *r, const weft__function_group *group,
                         const weft__lang_operand *types, const weft__evaluation *e)
{
    weft__burden work = {0};
    if (!r->automatic)
        return WEFT_OK;
    for (int i = 0; i < group->part.names_count; i++)
        if (types[i].tag != WEFT_OPERAND_NUMBER && !types[i].unset)
            weft__burden_add(&work, &r->held[group->part.variables[i]], group->needed[i],
                             group->assigned[i]);
    weft__burden_kernels(&work, e);
    return weft__region_begin(r, &work);
}

weft_status weft__function_group_run(weft__running *r, int32_t at, bool *done)
{
    weft__function_group *group = &r->function->groups[at];
    weft__lang_operand types[WEFT__LANG_OPERANDS_MAX / 2];
    weft_operand operands[WEFT__LANG_OPERANDS_MAX / 2];
    weft__function_version *version;
    weft_array *value = NULL;
    *done = false;
    if (group->why[0] || r->shared || !find_types(r, group, types, operands))
        return WEFT_OK;
    TRY(find_version(r, group, types, &version));
    if (group->why[0])
        return WEFT_OK;
    for (int i = 0; i < group->part.names_count; i++)
        if (types[i].unset)
            operands[i] = (weft_operand){.tag = WEFT_OPERAND_NUMBER};
    TRY(begin(r, group, types, version->evaluation));
    weft_status status = gather(r, group, types, operands);
    if (status == WEFT_OK)
        status = weft__function_evaluate(r, version->evaluation, operands, group->part.begin,
                                         group->part.end, &value);
    finish(r, group, types, operands, status == WEFT_OK);
    *done = status == WEFT_OK;
    if (*done)
        weft__function_note_region(r, WEFT__DID_REGION, (int32_t)group->part.begin,
                                   version->evaluation->kernels_count);
    weft__region_end(r);
    return status;
}
