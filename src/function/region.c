/* Array statements: one evaluation on the stream of the regions. */
#include "function/cost.h"
#include <string.h>

/* An element as an array of no dimensions, without a reference. */
static void view_element(const weft_array *source, char *address, weft_array *view)
{
    memset(view, 0, sizeof *view);
    atomic_init(&view->references, 1); /* never the last: it is not on the heap */
    view->dtype = source->dtype;
    view->read_only = source->read_only;
    view->on_host = source->on_host;
    view->data = address;
    view->buffer = source->buffer;
    view->stream = source->stream;
    view->request = source->request;
}

static weft_status gather_names(weft__running *r, weft__function_part *part, bool as_value,
                                const weft__lang_operand *types, weft_operand *operands)
{
    for (int i = 0; i < part->names_count; i++) {
        bool target = !as_value && i == part->target;
        if (types[i].tag == WEFT_OPERAND_NUMBER)
            continue;
        weft_array *array;
        TRY(weft__held_device(r, part->variables[i], target && !part->whole[i], &array));
        operands[i] = (weft_operand){.tag = types[i].tag};
        operands[i].value.array = array;
    }
    return WEFT_OK;
}

static weft_status gather_elements(weft__running *r, weft__function_part *part,
                                   const weft__lang_operand *types, weft_operand *operands,
                                   weft_array *views)
{
    for (int k = 0; k < part->elements_count; k++) {
        int operand = part->names_count + k;
        weft_array *array;
        char *address;
        TRY(weft__held_device(r, part->elements[k].variable, false, &array));
        TRY(weft__function_address(r, part, k, array, &address));
        view_element(array, address, &views[k]);
        operands[operand] = (weft_operand){.tag = types[operand].tag};
        operands[operand].value.array = &views[k];
    }
    return WEFT_OK;
}

/* Weighs what the region reads and writes. */
static weft_status begin(weft__running *r, const weft__function_part *part, bool as_value,
                         const weft__lang_operand *types, const weft__evaluation *e)
{
    weft__burden work = {0};
    if (!r->automatic)
        return WEFT_OK;
    for (int i = 0; i < part->names_count; i++)
        if (types[i].tag != WEFT_OPERAND_NUMBER)
            weft__burden_add(&work, &r->held[part->variables[i]], part->whole[i],
                             !as_value && i == part->target);
    for (int k = 0; k < part->elements_count; k++)
        weft__burden_add(&work, &r->held[part->elements[k].variable], true,
                         !as_value && part->names_count + k == part->target);
    weft__burden_kernels(&work, e);
    if (as_value && e->program->shapes[e->program->nodes[e->program->value].shape].ndim == 0)
        weft__burden_number(&work);
    return weft__region_begin(r, &work);
}

static weft_status run(weft__running *r, weft__function_part *part, bool as_value,
                       const weft__lang_operand *types, weft_operand *operands, weft__evaluation *e,
                       weft_array **value)
{
    weft_array views[16];
    TRY(gather_names(r, part, as_value, types, operands));
    TRY(gather_elements(r, part, types, operands, views));
    TRY(weft__function_evaluate(r, e, operands, part->begin, part->end, value));
    weft__function_note_region(r, WEFT__DID_REGION, (int32_t)part->begin, e->kernels_count);
    if (as_value)
        return WEFT_OK;
    int32_t element = part->target - part->names_count;
    weft__held_wrote(
        r, element >= 0 ? part->elements[element].variable : part->variables[part->target], true);
    return WEFT_OK;
}

weft_status weft__function_region(weft__running *r, weft__function_part *part, bool as_value,
                                  weft_array **value)
{
    weft__lang_operand types[WEFT__LANG_OPERANDS_MAX];
    weft_operand operands[WEFT__LANG_OPERANDS_MAX];
    weft__function_version *v;
    *value = NULL;
    if (part->elements_count > 16)
        return FUNCTION_FAIL(r->function, part->begin, WEFT_ERROR_UNSUPPORTED,
                             "a statement with whole arrays has at most 16 elements");
    TRY(weft__function_types(r, part, as_value, types, operands));
    TRY(weft__function_version_get(r->function, part, types, as_value, false, &v));
    TRY(begin(r, part, as_value, types, v->evaluation));
    weft_status status = run(r, part, as_value, types, operands, v->evaluation, value);
    weft__region_end(r);
    return status;
}
