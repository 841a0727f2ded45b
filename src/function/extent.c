/* Between which integers the elements of an array are that a loop finds others by, as k in x(k(i)):
 * what its type allows, or what it is seen to hold. */
#include "core/allocate.h"
#include "function/nest.h"
#include "function/number.h"

/* What looks: low = min(k); high = max(k), for an array of a certain type. */
struct weft__function_look {
    weft__evaluation *evaluation; /* NULL: free */
    weft__lang_operand type;
};

enum { OPERANDS = 3 };

static bool is_position(const weft__function_nest *nest, const weft__lang_operand *types, int i)
{
    const weft__nest_operand *o = &nest->operands[i];
    return o->position && o->role == WEFT__ROLE_VARIABLE && o->element && !o->written &&
           types[i].tag != WEFT_OPERAND_NUMBER && types[i].dtype <= WEFT_U64;
}

static weft__portable_range range_of(uint8_t dtype)
{
    switch (dtype) {
    case WEFT_BOOL:
        return (weft__portable_range){0, 1};
    case WEFT_I8:
        return (weft__portable_range){INT8_MIN, INT8_MAX};
    case WEFT_I16:
        return (weft__portable_range){INT16_MIN, INT16_MAX};
    case WEFT_I32:
        return (weft__portable_range){INT32_MIN, INT32_MAX};
    case WEFT_U8:
        return (weft__portable_range){0, UINT8_MAX};
    case WEFT_U16:
        return (weft__portable_range){0, UINT16_MAX};
    case WEFT_U32:
        return (weft__portable_range){0, UINT32_MAX};
    default:
        return (weft__portable_range){INT64_MIN, INT64_MAX};
    }
}

void weft__extent_allowed(const weft__function_nest *nest, const weft__lang_operand *types,
                          weft__portable_range *ranges)
{
    for (int i = 0; i < nest->operands_count; i++)
        ranges[i] = range_of(types[i].tag == WEFT_OPERAND_NUMBER ? WEFT_I64 : types[i].dtype);
}

static weft_status make_look(const weft__lang_operand *type, weft__function_look *look)
{
    static const char code[] = "low = min(k); high = max(k)";
    static const weft__lang_name names[OPERANDS] = {{"k", 1}, {"low", 3}, {"high", 4}};
    const weft__lang_operand types[OPERANDS] = {*type,
                                                {.tag = WEFT_OPERAND_ARRAY, .unset = true},
                                                {.tag = WEFT_OPERAND_ARRAY, .unset = true}};
    weft__lang_syntax *syntax;
    TRY(weft__lang_parse(code, sizeof code - 1, names, OPERANDS, false, &syntax));
    weft_status status = weft__evaluation_new(syntax, types, OPERANDS, &look->evaluation);
    weft__lang_syntax_free(syntax);
    look->type = *type;
    return status;
}

/* What looks at the variable's array; made again if that is of another type than before. */
static weft_status find_look(weft__function *f, int32_t variable, const weft__lang_operand *type,
                             weft__function_look **found)
{
    if (!f->looks)
        f->looks = weft__allocate_zeroed(f->variables_count * sizeof *f->looks);
    if (!f->looks)
        return WEFT_ERROR_MEMORY;
    weft__function_look *look = &f->looks[variable];
    *found = look;
    if (look->evaluation && look->type.dtype == type->dtype && look->type.tag == type->tag &&
        weft__shape_same(&look->type.shape, &type->shape))
        return WEFT_OK;
    weft__evaluation_free(look->evaluation);
    *look = (weft__function_look){0};
    return make_look(type, look);
}

void weft__extent_free(weft__function *f)
{
    for (uint32_t i = 0; f->looks && i < f->variables_count; i++)
        weft__evaluation_free(f->looks[i].evaluation);
    weft__free(f->looks);
}

static weft_status run_look(weft__function_look *look, weft_array *array, weft_device device,
                            weft_stream *stream, weft_array *results[2])
{
    weft_options options = {.struct_size = sizeof options, .device = device};
    const char *operation = weft__operation();
    weft_operand operands[OPERANDS] = {{.tag = look->type.tag}};
    weft_array *value;
    operands[0].value.array = array;
    for (int k = 0; k < 2; k++) {
        operands[k + 1].tag = WEFT_OPERAND_ARRAY;
        operands[k + 1].value.array = results[k] = weft_handle_with(&options);
        OPERATION(operation);
        if (!results[k])
            return weft_error_code();
    }
    return weft__evaluation_run_on(look->evaluation, operands, stream, &value);
}

/* Where the array is valid already: on the host, if it is there. */
static weft_status look_at(weft__running *r, int32_t variable, uint32_t column,
                           weft__function_look *look, weft__portable_range *range)
{
    const bool here = r->held[variable].host_valid;
    weft_stream *stream = here ? weft__stream_current(WEFT_CPU) : r->stream;
    weft_array *array, *results[2] = {NULL, NULL};
    weft_operand values[2];
    bool typed;
    if (!stream)
        return weft_error_code();
    if (here)
        TRY(weft__held_host(r, variable, false, &array));
    else
        TRY(weft__held_device(r, variable, false, &array));
    weft_status status = run_look(look, array, here ? WEFT_CPU : r->device, stream, results);
    for (int k = 0; k < 2 && status == WEFT_OK; k++) {
        status = weft__function_read(r, column, results[k], &values[k], &typed);
        results[k] = NULL;
    }
    weft_array_release(results[0]);
    weft_array_release(results[1]);
    TRY(status);
    weft__portable_range seen = range_of(WEFT_I64);
    if (weft__number_integer(&values[0], &seen.low) && weft__number_integer(&values[1], &seen.high))
        *range = seen;
    weft__function_note(r->function, WEFT__DID_LOOK, (int32_t)column,
                        look->evaluation->kernels_count);
    return WEFT_OK;
}

weft_status weft__extent_look(weft__running *r, const weft__function_nest *nest,
                              const weft__lang_operand *types, weft__portable_range *ranges)
{
    for (int i = 0; i < nest->operands_count; i++) {
        int32_t variable = nest->operands[i].index;
        weft__function_look *look;
        if (!is_position(nest, types, i) ||
            weft__array_count(weft__held_any(&r->held[variable])) == 0)
            continue;
        weft__held *held = &r->held[variable];
        if (!held->seen || r->shared) {
            held->range = ranges[i];
            TRY(find_look(r->function, variable, &types[i], &look));
            TRY(look_at(r, variable, r->function->statements[nest->statement].column, look,
                        &held->range));
            held->seen = true;
        }
        ranges[i] = held->range;
    }
    return WEFT_OK;
}

/* The array that a subscript is an element of, casts aside; -1: it is something else. */
static int32_t element_of(const weft__lang_syntax *s, int32_t node)
{
    while (s->nodes[node].kind == WEFT__SYNTAX_CAST &&
           (s->nodes[node].dtype == WEFT_I64 || s->nodes[node].dtype == WEFT_I32))
        node = s->arguments[s->nodes[node].first];
    return s->nodes[node].kind == WEFT__SYNTAX_ACCESS ? s->nodes[node].index : -1;
}

static void limit(weft__portable_range *range, int64_t size)
{
    range->low = range->low < 0 ? 0 : range->low;
    range->high = range->high >= size ? size - 1 : range->high;
}

void weft__extent_widen(const weft__function_nest *nest, const weft__lang_operand *types,
                        weft__portable_range *ranges)
{
    const weft__lang_syntax *s = nest->syntax;
    weft__portable_range widest[WEFT__NEST_OPERANDS_MAX];
    bool limited[WEFT__NEST_OPERANDS_MAX] = {false};
    weft__extent_allowed(nest, types, widest);
    for (uint32_t i = 0; i < s->nodes_count; i++) {
        const weft__syntax_node *access = &s->nodes[i];
        if (access->kind != WEFT__SYNTAX_ACCESS)
            continue;
        const weft_shape *shape = &types[access->index].shape;
        for (uint32_t k = 0; k < access->count && (int)access->count == shape->ndim; k++) {
            int32_t from = element_of(s, s->arguments[access->first + k]);
            if (from >= 0) {
                limit(&widest[from], shape->size[k]);
                limited[from] = true;
            }
        }
    }
    for (int i = 0; i < nest->operands_count; i++)
        if (limited[i] && widest[i].low <= ranges[i].low && ranges[i].high <= widest[i].high)
            ranges[i] = widest[i];
}
