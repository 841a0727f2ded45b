/* Evaluations: programs checked and lowered for operands of certain types. */
#include "lang/evaluate.h"
#include "core/allocate.h"
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
        if (!array)
            return weft__fail_null("operand");
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

static weft_status lower_all(weft__evaluation *e)
{
    TRY(weft__schedule_make(e->program, &e->schedule));
    e->kernels = weft__allocate_zeroed(e->schedule.kernels_count * sizeof *e->kernels);
    if (!e->kernels)
        return WEFT_ERROR_MEMORY;
    while (e->kernels_count < e->schedule.kernels_count) {
        uint32_t k = e->kernels_count++;
        TRY(weft__lang_lower(e->program, &e->schedule, k, &e->kernels[k]));
    }
    return WEFT_OK;
}

weft_status weft__evaluation_new(const weft__lang_syntax *syntax, const weft__lang_operand *types,
                                 int count, weft__evaluation **made)
{
    size_t bytes = (size_t)count * sizeof *types;
    weft__evaluation *e = weft__allocate_zeroed(sizeof *e + bytes);
    if (!e)
        return WEFT_ERROR_MEMORY;
    e->types = (weft__lang_operand *)(void *)(e + 1);
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
    weft__schedule_free(&evaluation->schedule);
    weft__lang_free(evaluation->program);
    weft__free(evaluation);
}
