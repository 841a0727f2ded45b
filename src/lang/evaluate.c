/* Evaluations: programs checked and lowered for operands of certain types. */
#include "lang/evaluate.h"
#include "core/allocate.h"
#include <stdio.h>
#include <string.h>

static bool is_array(const weft_operand *operand) { return operand->tag != WEFT_OPERAND_NUMBER; }

weft_status weft__evaluation_types(const weft_operand *operands, int count,
                                   weft__lang_operand *types)
{
    for (int i = 0; i < count; i++) {
        const weft_array *array = operands[i].value.input;
        types[i] = (weft__lang_operand){.tag = (uint8_t)operands[i].tag};
        if (!is_array(&operands[i])) {
            types[i].dtype = (uint8_t)operands[i].dtype;
            continue;
        }
        char which[24];
        snprintf(which, sizeof which, "operand %d", i + 1);
        if (operands[i].tag != WEFT_OPERAND_ARRAY && operands[i].tag != WEFT_OPERAND_INPUT)
            return FAIL_AT(WEFT_ERROR_ARGUMENT, which,
                           "%s has the tag %d, which there is not; WEFT_OPERAND makes operands",
                           which, operands[i].tag);
        if (!array)
            return weft__fail_null(which);
        types[i].dtype = array->dtype;
        types[i].unset = !array->buffer;
        types[i].shape = array->shape;
    }
    return WEFT_OK;
}

static bool has_type(const weft_operand *operand, const weft__lang_operand *type)
{
    const weft_array *array = operand->value.input;
    if (type->tag != (uint8_t)operand->tag)
        return false;
    if (!is_array(operand))
        return type->dtype == (uint8_t)operand->dtype;
    return array && type->dtype == array->dtype && type->unset == !array->buffer &&
           weft__shape_same(&type->shape, &array->shape);
}

bool weft__evaluation_fits(const weft__evaluation *evaluation, const weft_operand *operands,
                           int count)
{
    if (evaluation->count != count)
        return false;
    for (int i = 0; i < count; i++)
        if (!has_type(&operands[i], &evaluation->types[i]))
            return false;
    return true;
}

/* Notes what kernel `k` does with a place. */
static void note_use(weft__evaluation *e, uint32_t k, int32_t place, bool output)
{
    if (place <= WEFT__PLACE_TEMPORARY)
        e->temporary_ends[WEFT__PLACE_TEMPORARY - place] = k;
    else if (place >= 0 && output)
        e->writes[e->writes_count++] = (weft__evaluation_write){k, place, 0};
    else if (place >= 0)
        e->reads[place / WEFT__PLACE_ASSIGNED][place % WEFT__PLACE_ASSIGNED] = k;
}

/* Whether a kernel after the one that writes it reads the operand. */
static bool is_read_later(const weft__evaluation *e, const weft__evaluation_write *write)
{
    return e->reads[1][write->operand] > write->kernel;
}

/* Whether the writes are in another order than the assignments, or one that is read later could be
 * overwritten by the kernel that makes it. */
static void find_order(weft__evaluation *e)
{
    for (uint32_t a = 0; a < e->program->assignments_count; a++)
        for (uint32_t i = 0; e->program->assignments[a].last && i < e->writes_count; i++)
            if (e->writes[i].operand == e->program->assignments[a].operand)
                e->writes[i].assignment = a;
    for (uint32_t i = 1; i < e->writes_count; i++) {
        const weft__evaluation_write *pair = &e->writes[i - 1];
        e->entangled |= pair[0].assignment > pair[1].assignment;
        e->entangled |= pair[0].kernel == pair[1].kernel &&
                        (is_read_later(e, &pair[0]) || is_read_later(e, &pair[1]));
    }
}

static weft_status find_uses(weft__evaluation *e)
{
    size_t operands = (size_t)e->count, writes = 0;
    for (uint32_t i = 0; i < e->schedule.stores_count; i++)
        writes += e->schedule.stores[i].place >= 0;
    e->writes = weft__allocate_zeroed(
        writes * sizeof *e->writes +
        (2 * operands + e->schedule.temporaries_count) * sizeof(uint32_t) + 1);
    if (!e->writes)
        return WEFT_ERROR_MEMORY;
    e->reads[0] = (uint32_t *)(void *)(e->writes + writes);
    e->reads[1] = e->reads[0] + operands;
    e->temporary_ends = e->reads[1] + operands;
    for (uint32_t k = 0; k < e->kernels_count; k++)
        for (uint32_t i = 0; i < e->kernels[k].operands_count; i++)
            note_use(e, k, e->kernels[k].operands[i], weft__lowered_is_output(&e->kernels[k], i));
    find_order(e);
    return WEFT_OK;
}

static weft_status lower_all(weft__evaluation *e)
{
    TRY(weft__schedule_make(e->program, &e->schedule));
    e->kernels = weft__allocate_zeroed(e->schedule.kernels_count * sizeof *e->kernels);
    if (!e->kernels)
        return WEFT_ERROR_MEMORY;
    e->kernels_count = e->schedule.kernels_count;
    TRY(weft__lang_lower(e->program, &e->schedule, e->kernels));
    TRY(find_uses(e));
    e->single = e->kernels_count == 1 && e->schedule.temporaries_count == 0 && !e->entangled;
    for (int i = 0; i < e->count; i++)
        e->handles |= e->types[i].unset;
    for (int i = 0; i < e->count; i++)
        e->limited |= e->program->limits[i] != 0;
    return WEFT_OK;
}

weft_status weft__evaluation_new(const weft__lang_syntax *syntax, const weft__lang_operand *types,
                                 int count, weft__evaluation **made)
{
    size_t bytes = (size_t)count * sizeof *types;
    weft__evaluation *e =
        weft__allocate_zeroed(sizeof *e + (size_t)count * sizeof *e->seen + bytes);
    if (!e)
        return WEFT_ERROR_MEMORY;
    e->seen = (weft__evaluation_seen *)(void *)(e + 1);
    e->types = (weft__lang_operand *)(void *)(e->seen + count);
    e->count = count;
    if (bytes)
        memcpy(e->types, types, bytes);
    weft_status status = weft__lang_check(syntax, types, &e->program);
    if (status == WEFT_OK)
        status = lower_all(e);
    if (status == WEFT_OK)
        *made = e;
    else
        weft__evaluation_free(e);
    return status;
}

void weft__evaluation_free(weft__evaluation *evaluation)
{
    if (!evaluation)
        return;
    for (uint32_t i = 0; i < evaluation->kernels_count; i++)
        weft__lowered_free(&evaluation->kernels[i]);
    weft__free(evaluation->kernels);
    weft__free(evaluation->writes);
    weft__schedule_free(&evaluation->schedule);
    weft__lang_free(evaluation->program);
    weft__free(evaluation);
}
