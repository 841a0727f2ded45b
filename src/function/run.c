/* Running statements: control flow and numbers on the host, arrays as kernels. */
#include "core/dtype.h"
#include "function/cost.h"
#include "function/number.h"
#include "ops/copy.h"
#include <string.h>

enum { ROUNDS_AT_ONCE = 1024 }; /* before it is asked again whether to compile a loop */

typedef enum going { FLOW_NEXT, FLOW_BREAK, FLOW_CONTINUE, FLOW_RETURN } going;

static weft_status run_statements(weft__running *r, int32_t first, going *flow);

weft_status weft__function_read(weft__running *r, uint32_t column, weft_array *array,
                                weft_operand *value, bool *typed)
{
    weft_dtype dtype = (weft_dtype)array->dtype;
    char memory[16];
    if (array->shape.ndim) {
        weft_array_release(array);
        return FUNCTION_FAIL(r->function, column, WEFT_ERROR_SHAPE,
                             "a number is expected, and this is an array");
    }
    bool half = dtype == WEFT_F16 || dtype == WEFT_BF16, here = weft_array_host_readable(array);
    dtype = half ? WEFT_F32 : dtype;
    if (!here)
        weft__function_note(r->function, WEFT__DID_TO_HOST, -1,
                            weft_dtype_size((weft_dtype)array->dtype));
    weft_status status = here && !half ? weft__buffer_wait(array->buffer, true, false)
                                       : weft__item(array, memory, dtype);
    if (status == WEFT_OK && here && !half)
        memcpy(memory, array->data, weft_dtype_size(dtype));
    weft_array_release(array);
    TRY(status);
    *value = weft__number_load(memory, dtype);
    *typed = dtype > WEFT_U64;
    return WEFT_OK;
}

/* Outside of loops elements that are only on the device are read and written there. */
static bool goes_to_device(const weft__running *r, const weft__function_part *part)
{
    if (weft__function_has_arrays(r, part))
        return true;
    for (int k = 0; !r->loops && k < part->elements_count; k++)
        if (!r->held[part->elements[k].variable].host_valid &&
            r->held[part->elements[k].variable].holding == WEFT__ARRAY)
            return true;
    return false;
}

weft_status weft__function_number(weft__running *r, weft__function_part *part, weft_operand *value,
                                  bool *typed)
{
    weft_array *array;
    if (!goes_to_device(r, part))
        return weft__function_scalar(r, part, value, typed);
    TRY(weft__function_region(r, part, true, &array));
    return weft__function_read(r, part->begin, array, value, typed);
}

void weft__function_set(weft__running *r, int32_t variable, const weft_operand *value, bool typed)
{
    weft_dtype dtype = (weft_dtype)r->function->variables[variable].dtype;
    if (!dtype) {
        weft__held_set_number(r, variable, value, typed);
        return;
    }
    weft_operand number = weft__number_cast(value, dtype);
    weft__held_set_number(r, variable, &number, dtype > WEFT_U64);
}

/* Whether the variable's new number is not another one as it is. */
static bool is_computed(const weft__running *r, const weft__function_part *part, int32_t variable)
{
    const weft__syntax_node *node = &part->syntax->nodes[part->node];
    return node->kind != WEFT__SYNTAX_OPERAND || node->index >= part->names_count ||
           r->function->variables[variable].dtype || r->held[part->variables[node->index]].computed;
}

/* A variable gets a new value: a number or an array. */
static weft_status set_variable(weft__running *r, weft__function_part *part, int32_t variable)
{
    const bool computed = is_computed(r, part, variable);
    weft_operand value;
    weft_array *array;
    bool typed;
    if (goes_to_device(r, part)) {
        TRY(weft__function_region(r, part, true, &array));
        if (array->shape.ndim && !r->function->variables[variable].dtype) {
            weft__held_set_array(r, variable, array);
            return WEFT_OK;
        }
        TRY(weft__function_read(r, part->begin, array, &value, &typed));
    } else
        TRY(weft__function_scalar(r, part, &value, &typed));
    weft__function_set(r, variable, &value, typed);
    r->held[variable].computed = computed;
    return WEFT_OK;
}

static weft_status run_assign(weft__running *r, const weft__function_statement *s)
{
    weft__function_part *part = &r->function->parts[s->part];
    weft_operand value;
    weft_array *array;
    bool typed;
    if (s->variable < 0) /* an element */
        return goes_to_device(r, part) ? weft__function_region(r, part, false, &array)
                                       : weft__function_scalar(r, part, &value, &typed);
    if (weft__held_is_fixed(&r->held[s->variable]))
        return weft__function_region(r, part, false, &array);
    return set_variable(r, part, s->variable);
}

weft_status weft__function_declare(weft__running *r, const weft__function_statement *s)
{
    weft_operand zero = {.tag = WEFT_OPERAND_NUMBER, .dtype = s->dtype};
    if (s->part >= 0)
        return set_variable(r, &r->function->parts[s->part], s->variable);
    weft__function_set(r, s->variable, &zero, s->dtype > WEFT_U64);
    return WEFT_OK;
}

static weft_status make_zeros(weft__running *r, const weft__function_statement *s,
                              const weft_shape *shape)
{
    const weft_operand zero = {.tag = WEFT_OPERAND_NUMBER, .dtype = WEFT_I64};
    weft_options options = {.struct_size = sizeof options, .device = r->device};
    weft_array *array = weft__array_new(shape, (weft_dtype)s->dtype, &options, NULL, NULL);
    if (!array)
        return weft_error_code();
    weft__held_set_array(r, s->variable, array);
    r->held[s->variable].declared = true;
    return weft__fill_run(array, &zero, r->stream);
}

static weft_status run_array(weft__running *r, const weft__function_statement *s)
{
    weft_shape shape = {.ndim = s->parts_count};
    weft_operand value;
    int64_t count;
    bool typed;
    for (int32_t k = 0; k < s->parts_count; k++) {
        weft__function_part *part = &r->function->parts[s->part + k];
        TRY(weft__function_number(r, part, &value, &typed));
        if (!weft__number_integer(&value, &shape.size[k]))
            return FUNCTION_FAIL(r->function, part->begin, WEFT_ERROR_SHAPE,
                                 "the size of an array is an integer");
    }
    if (weft__shape_check(&shape, &count) != WEFT_OK)
        return FUNCTION_FAIL(r->function, s->column, WEFT_ERROR_SHAPE,
                             "an array cannot have these sizes");
    weft__burden work = {.bytes = (uint64_t)count * weft_dtype_size((weft_dtype)s->dtype),
                         .kernels = 1};
    TRY(weft__region_begin(r, &work));
    weft_status status = make_zeros(r, s, &shape);
    weft__region_end(r);
    return status;
}

static weft_status run_step(weft__running *r, const weft__function_statement *s)
{
    const weft__held *held = &r->held[s->variable];
    weft__lang_name name = r->function->variables[s->variable].name;
    weft_operand delta = {.tag = WEFT_OPERAND_NUMBER, .dtype = WEFT_I64};
    int64_t value;
    bool typed, real = weft__dtype_rank((weft_dtype)held->number.dtype) == WEFT__RANK_FLOAT;
    if (held->holding != WEFT__NUMBER || (!real && !weft__number_integer(&held->number, &value)))
        return FUNCTION_FAIL(r->function, s->column, WEFT_ERROR_DTYPE,
                             "'%s' is not a number that can be counted",
                             QUOTE(name.text, name.length));
    delta.value.i = s->delta;
    weft_operand number =
        weft__number_combine(WEFT__LANG_add, &held->number, held->typed, &delta, false, &typed);
    weft__function_set(r, s->variable, &number, typed);
    return WEFT_OK;
}

static weft_status is_true(weft__running *r, weft__function_part *part, bool *truth)
{
    weft_operand value;
    int64_t integer;
    bool typed;
    if (part->integer && !part->elements_count &&
        weft__function_integer(r, part, part->node, &integer)) {
        *truth = integer != 0;
        return WEFT_OK;
    }
    TRY(weft__function_number(r, part, &value, &typed));
    *truth = weft__number_truth(&value);
    return WEFT_OK;
}

static weft_status run_if(weft__running *r, const weft__function_statement *s, going *flow)
{
    bool truth;
    TRY(is_true(r, &r->function->parts[s->part], &truth));
    return run_statements(r, truth ? s->child : s->other, flow);
}

/* A loop, as C has it. */
static weft_status loop(weft__running *r, const weft__function_statement *s, going *flow)
{
    const int32_t at = (int32_t)(s - r->function->statements);
    bool truth = true, done;
    TRY(weft__serial_run(r, at, 0, &done));
    for (uint64_t rounds = 1; !done; rounds++) {
        if (s->part >= 0)
            TRY(is_true(r, &r->function->parts[s->part], &truth));
        if (!truth)
            break;
        TRY(run_statements(r, s->child, flow));
        if (*flow == FLOW_BREAK || *flow == FLOW_RETURN)
            break;
        *flow = FLOW_NEXT;
        if (s->step >= 0)
            TRY(run_statements(r, s->step, flow));
        if (rounds % ROUNDS_AT_ONCE == 0)
            TRY(weft__serial_run(r, at, ROUNDS_AT_ONCE, &done));
    }
    if (*flow == FLOW_BREAK)
        *flow = FLOW_NEXT;
    return WEFT_OK;
}

static weft_status run_loop(weft__running *r, const weft__function_statement *s, going *flow)
{
    bool done = false;
    if (s->nest >= 0 && !r->serial)
        TRY(weft__function_nest_run(r, s->nest, &done));
    if (done)
        return WEFT_OK;
    if (s->init >= 0)
        TRY(run_statements(r, s->init, flow));
    r->loops++;
    weft_status status = loop(r, s, flow);
    r->loops--;
    return status;
}

/* An array that is returned: the caller's own, or the variable's. */
static weft_status return_array(weft__running *r, int32_t variable, weft_array **out)
{
    const weft__held *held = &r->held[variable];
    weft_array *array;
    if (held->home && held->home == held->host)
        TRY(weft__held_host(r, variable, false, &array));
    else
        TRY(weft__held_device(r, variable, false, &array));
    *out = weft_array_retain(array);
    return WEFT_OK;
}

static weft_status return_value(weft__running *r, weft__function_part *part, int position)
{
    const weft_result *result = position < r->results_count ? &r->results[position] : NULL;
    int32_t variable = part->single.text ? part->variables[0] : -1;
    weft_array *array = NULL;
    weft_operand value;
    bool typed;
    if (!result || !result->out)
        return WEFT_OK;
    if (variable >= 0 && r->held[variable].holding == WEFT__ARRAY)
        TRY(return_array(r, variable, &array));
    else if (goes_to_device(r, part)) {
        r->automatic &= result->dtype != WEFT_DTYPE_DEFAULT; /* an array is asked for there */
        TRY(weft__function_region(r, part, true, &array));
    }
    if (array && !result->dtype && array->shape.ndim) {
        *(weft_array **)result->out = array;
        return WEFT_OK;
    }
    if (array)
        TRY(weft__function_read(r, part->begin, array, &value, &typed));
    else
        TRY(weft__function_scalar(r, part, &value, &typed));
    if (!result->dtype)
        return FUNCTION_FAIL(r->function, part->begin, WEFT_ERROR_ARGUMENT,
                             "result %d is a number; give the address of a C number for it",
                             position + 1);
    if (weft__number_is_complex(value.dtype) && !weft__number_is_complex(result->dtype))
        return FUNCTION_FAIL(r->function, part->begin, WEFT_ERROR_DTYPE,
                             "result %d is complex and the place for it is %s", position + 1,
                             weft_dtype_name((weft_dtype)result->dtype));
    value = weft__number_cast(&value, (weft_dtype)result->dtype);
    weft__number_store(result->out, &value, (weft_dtype)result->dtype);
    return WEFT_OK;
}

static weft_status run_return(weft__running *r, const weft__function_statement *s, going *flow)
{
    if (r->results_count > s->parts_count && r->results[s->parts_count].out)
        return FUNCTION_FAIL(r->function, s->column, WEFT_ERROR_ARGUMENT,
                             "%d value%s returned here, and %d asked for", s->parts_count,
                             s->parts_count == 1 ? " is" : "s are", r->results_count);
    *flow = FLOW_RETURN;
    for (int32_t k = 0; k < s->parts_count; k++)
        TRY(return_value(r, &r->function->parts[s->part + k], k));
    r->returned = true;
    return WEFT_OK;
}

/* An argument of a host function: an array, or a number. */
static weft_status host_argument(weft__running *r, weft__function_part *part, char access,
                                 weft_operand *argument)
{
    int32_t variable = part->single.text ? part->variables[0] : -1;
    weft_array *array;
    bool typed;
    if (variable < 0 || r->held[variable].holding != WEFT__ARRAY)
        return weft__function_number(r, part, argument, &typed);
    if (r->held[variable].input && access != 'r')
        access = 'r';
    TRY(weft__held_host(r, variable, access == 'w', &array));
    argument->tag = access == 'r' ? WEFT_OPERAND_INPUT : WEFT_OPERAND_ARRAY;
    argument->value.array = array;
    return WEFT_OK;
}

static void note_written(weft__running *r, const weft__function_statement *s,
                         const weft_operand *arguments)
{
    for (int32_t k = 0; k < s->parts_count; k++)
        if (arguments[k].tag == WEFT_OPERAND_ARRAY) {
            int32_t variable = r->function->parts[s->part + k].variables[0];
            weft__held_wrote(r, variable, false);
            r->held[variable].host_complete = false; /* it may have queued work */
        }
}

static weft_status run_host(weft__running *r, const weft__function_statement *s)
{
    weft__lang_name name = r->function->hosts[s->host];
    weft_operand arguments[32];
    weft__host host;
    if (!weft__host_find(name, &host))
        return FUNCTION_FAIL(r->function, s->column, WEFT_ERROR_ARGUMENT,
                             "no host function is called '%s'; bind it with weft_host_bind",
                             QUOTE(name.text, name.length));
    if (s->parts_count > 32)
        return FUNCTION_FAIL(r->function, s->column, WEFT_ERROR_ARGUMENT,
                             "a host function has at most 32 arguments");
    for (int32_t k = 0; k < s->parts_count; k++)
        TRY(host_argument(r, &r->function->parts[s->part + k], host.access[k], &arguments[k]));
    weft__function_note(r->function, WEFT__DID_HOST, (int32_t)s->column, 0);
    const char *operation = weft__operation();
    weft_error saved = *weft_error_last();
    weft_error_clear(); /* a message that is there afterwards is the function's */
    weft_status status = host.function(s->parts_count, arguments, host.context);
    OPERATION(operation);
    if (status == WEFT_OK && weft_error_code() == WEFT_OK)
        weft__error_restore(&saved);
    if (status != WEFT_OK && weft_error_code() != status)
        return FUNCTION_FAIL(r->function, s->column, status, "host function '%s' failed",
                             QUOTE(name.text, name.length));
    TRY(status);
    note_written(r, s, arguments);
    return WEFT_OK;
}

/* A parameter that is assigned: of an array of the caller's that writes it, of a number not. */
static weft_status run_take(weft__running *r, const weft__function_statement *s)
{
    const weft__function_part *part = &r->function->parts[s->part];
    weft__held *from = &r->held[part->variables[0]];
    if (from->holding == WEFT__UNSET)
        return FUNCTION_FAIL(r->function, part->begin, WEFT_ERROR_ARGUMENT,
                             "'%s' is not set yet, or was given to this function already, which "
                             "assigns to it; give it a copy",
                             QUOTE(part->single.text, part->single.length));
    if (from->holding == WEFT__ARRAY)
        weft__held_move(r, part->variables[0], s->variable, true);
    else
        weft__held_set_number(r, s->variable, &from->number, from->typed);
    r->held[s->variable].computed = from->computed;
    return WEFT_OK;
}

static weft_status run_give(weft__running *r, const weft__function_statement *s)
{
    int32_t from = r->function->parts[s->part].variables[0];
    if (r->held[from].holding == WEFT__ARRAY && r->held[from].taken)
        weft__held_move(r, from, s->delta, false);
    return WEFT_OK;
}

static weft_status run_statement(weft__running *r, int32_t at, going *flow)
{
    const weft__function_statement *s = &r->function->statements[at];
    switch (s->kind) {
    case WEFT__STATEMENT_ASSIGN:
        return run_assign(r, s);
    case WEFT__STATEMENT_DECLARE:
        return weft__function_declare(r, s);
    case WEFT__STATEMENT_ARRAY:
        return run_array(r, s);
    case WEFT__STATEMENT_STEP:
        return run_step(r, s);
    case WEFT__STATEMENT_BLOCK:
        return run_statements(r, s->child, flow);
    case WEFT__STATEMENT_IF:
        return run_if(r, s, flow);
    case WEFT__STATEMENT_WHILE:
    case WEFT__STATEMENT_FOR:
        return run_loop(r, s, flow);
    case WEFT__STATEMENT_RETURN:
        return run_return(r, s, flow);
    case WEFT__STATEMENT_HOST:
        return run_host(r, s);
    case WEFT__STATEMENT_TAKE:
        return run_take(r, s);
    case WEFT__STATEMENT_GIVE:
        return run_give(r, s);
    default:
        *flow = s->kind == WEFT__STATEMENT_BREAK ? FLOW_BREAK : FLOW_CONTINUE;
        return WEFT_OK;
    }
}

/* Statements from this one on that are one region; *last is the last of them, or -1. */
static weft_status run_together(weft__running *r, const weft__function_statement *s, int32_t *last)
{
    bool done = false;
    *last = -1;
    if (s->join >= 0 && !r->serial)
        return weft__function_join_run(r, s->join, last);
    if (s->group < 0)
        return WEFT_OK;
    TRY(weft__function_group_run(r, s->group, &done));
    if (done)
        *last = r->function->groups[s->group].last;
    return WEFT_OK;
}

static weft_status run_statements(weft__running *r, int32_t first, going *flow)
{
    for (int32_t at = first, last; at >= 0 && *flow == FLOW_NEXT;
         at = r->function->statements[at].next) {
        const weft__function_statement *s = &r->function->statements[at];
        r->function->at = s->column;
        TRY(run_together(r, s, &last));
        if (last >= 0)
            at = last;
        else
            TRY(run_statement(r, at, flow));
    }
    return WEFT_OK;
}

weft_status weft__function_run_body(weft__running *r, int32_t first)
{
    const bool serial = r->serial;
    going flow = FLOW_NEXT;
    r->serial = true;
    r->loops++;
    weft_status status = run_statements(r, first, &flow);
    r->loops--;
    r->serial = serial;
    return status;
}

weft_status weft__function_run(weft__running *r)
{
    going flow = FLOW_NEXT;
    TRY(run_statements(r, r->function->first, &flow));
    if (!r->returned && r->results_count && r->results[0].out)
        return FUNCTION_FAIL(r->function, WEFT__NO_COLUMN, WEFT_ERROR_ARGUMENT,
                             "%d value%s asked for, and the function returned none",
                             r->results_count, r->results_count == 1 ? " was" : "s were");
    return weft__held_return(r);
}
