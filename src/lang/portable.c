/* Rewriting portable kernels as expressions over views of their arguments. */
#include "lang/portable.h"
#include "core/allocate.h"
#include "lang/portable_rewriting.h"

static const int32_t *arguments_of(const weft__lang_syntax *syntax, const weft__syntax_node *node)
{
    return syntax->arguments + node->first;
}

/* Elements at positions that are not affine. */
static void find_gathered(weft__rewriting *r)
{
    for (uint32_t i = 0; i < r->from->nodes_count && r->from->loop; i++) {
        const weft__syntax_node *access = &r->from->nodes[i];
        for (uint32_t k = 0; access->kind == WEFT__SYNTAX_ACCESS && k < access->count; k++)
            r->gathered[i] |= !r->forms[arguments_of(r->from, access)[k]].valid;
    }
}

/* Marks the nodes below one that is needed; arguments come before their users. */
static void mark_below(const weft__lang_syntax *syntax, uint32_t at, uint8_t *needed,
                       const bool *gathered)
{
    const weft__syntax_node *node = &syntax->nodes[at];
    const uint8_t how = needed[at];
    bool calls = node->kind == WEFT__SYNTAX_CALL || node->kind == WEFT__SYNTAX_CAST ||
                 node->kind == WEFT__SYNTAX_LOOP;
    bool access = node->kind == WEFT__SYNTAX_ACCESS;
    uint8_t below =
        access ? WEFT__NEEDED_AS_INDEX : how & (WEFT__NEEDED_AS_VALUE | WEFT__NEEDED_AS_INDEX);
    if (access && gathered && gathered[at])
        below |= WEFT__NEEDED_AS_VALUE;
    for (uint32_t k = 0; (calls || access) && k < node->count; k++)
        needed[arguments_of(syntax, node)[k]] |= below;
    if (access && node->value.attributes >= 0 && how & WEFT__NEEDED_AS_VALUE) {
        int32_t value = syntax->attributes[node->value.attributes].value;
        if (value >= 0)
            needed[value] |= WEFT__NEEDED_AS_VALUE;
    }
}

/* Locals are needed where they are read: readers point at their values. */
static void mark(const weft__lang_syntax *syntax, const bool *gathered, uint8_t *needed)
{
    for (uint32_t i = 0; i < syntax->statements_count; i++) {
        const weft__syntax_statement *s = &syntax->statements[i];
        if (s->target < 0)
            continue;
        needed[s->node] |= WEFT__NEEDED_AS_VALUE;
        needed[s->access] |= WEFT__NEEDED_AS_TARGET;
    }
    for (uint32_t i = syntax->nodes_count; i-- > 0;)
        if (needed[i])
            mark_below(syntax, i, needed, gathered);
}

/* What a position becomes in the next round. */
static bool is_next_position(const weft__lang_syntax *syntax, const weft__syntax_node *node,
                             const uint8_t *needed)
{
    return node->operation == WEFT__LOOP_NEXT &&
           needed[arguments_of(syntax, node)[0]] & WEFT__NEEDED_AS_INDEX;
}

/* What decides how often a loop goes round decides about positions that it counts. */
static void mark_loops(const weft__lang_syntax *syntax, uint8_t *needed)
{
    bool counts = false;
    for (uint32_t i = 0; i < syntax->nodes_count; i++)
        counts |= syntax->nodes[i].kind == WEFT__SYNTAX_LOOP && needed[i] & WEFT__NEEDED_AS_INDEX;
    for (uint32_t i = 0; counts && i < syntax->nodes_count; i++)
        if (syntax->nodes[i].kind == WEFT__SYNTAX_LOOP &&
            (syntax->nodes[i].operation == WEFT__LOOP_TEST ||
             is_next_position(syntax, &syntax->nodes[i], needed)))
            needed[i] |= WEFT__NEEDED_AS_INDEX;
    for (uint32_t i = syntax->nodes_count; counts && i-- > 0;)
        if (needed[i])
            mark_below(syntax, i, needed, NULL);
}

weft_status weft__portable_fixed(const weft__lang_syntax *syntax, bool *fixed, bool *positions,
                                 int32_t *unused)
{
    uint8_t *needed = weft__allocate_zeroed(syntax->nodes_count + (size_t)1);
    if (!needed)
        return WEFT_ERROR_MEMORY;
    mark(syntax, NULL, needed);
    mark_loops(syntax, needed);
    for (uint32_t i = 0; i < syntax->nodes_count; i++) {
        if (syntax->nodes[i].kind == WEFT__SYNTAX_OPERAND && needed[i] & WEFT__NEEDED_AS_INDEX)
            fixed[syntax->nodes[i].index] = true;
        if (positions && syntax->nodes[i].kind == WEFT__SYNTAX_ACCESS &&
            needed[i] & WEFT__NEEDED_AS_INDEX)
            positions[syntax->nodes[i].index] = true;
        if (unused && syntax->nodes[i].kind == WEFT__SYNTAX_ACCESS && !needed[i])
            *unused = (int32_t)i;
    }
    weft__free(needed);
    return WEFT_OK;
}

static weft_status add_node(weft__rewriting *r, weft__syntax_node node, int32_t *position)
{
    weft__lang_syntax *to = r->out->syntax;
    TRY(weft__lang_room(&to->nodes, to->nodes_count, &to->nodes_room, sizeof *to->nodes));
    *position = (int32_t)to->nodes_count++;
    to->nodes[*position] = node;
    return WEFT_OK;
}

static weft_status add_argument(weft__rewriting *r, int32_t argument)
{
    weft__lang_syntax *to = r->out->syntax;
    TRY(weft__lang_room(&to->arguments, to->arguments_count, &to->arguments_room,
                        sizeof *to->arguments));
    to->arguments[to->arguments_count++] = argument;
    return WEFT_OK;
}

static weft_status add_integer(weft__rewriting *r, int64_t value, uint32_t column, int32_t *node)
{
    weft__syntax_node literal = {.kind = WEFT__SYNTAX_LITERAL,
                                 .dtype = WEFT_I64,
                                 .weak = true,
                                 .negative = value < 0,
                                 .column = column};
    literal.value.integer = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    return add_node(r, literal, node);
}

static weft_status add_read(weft__rewriting *r, int32_t operand, uint32_t column, int32_t *node)
{
    return add_node(
        r, (weft__syntax_node){.kind = WEFT__SYNTAX_OPERAND, .column = column, .index = operand},
        node);
}

/* shift(operand, offsets). */
static weft_status add_shift(weft__rewriting *r, const weft__syntax_node *from,
                             const weft__rewritten *element, int32_t *node)
{
    weft__lang_syntax *to = r->out->syntax;
    int ndim = r->out->points.ndim;
    int32_t arguments[WEFT_NDIM_MAX + 1];
    weft__syntax_attributes attributes = {
        .order = 2, .value = -1, .bounded = true, .boundary = element->boundary};
    int32_t value =
        from->value.attributes < 0 ? -1 : r->from->attributes[from->value.attributes].value;
    if (value >= 0)
        attributes.value = r->made[value];
    TRY(add_read(r, element->operand, from->column, &arguments[0]));
    for (int k = 0; k < ndim; k++)
        TRY(add_integer(r, element->offset[k], from->column, &arguments[k + 1]));
    weft__syntax_node call = {.kind = WEFT__SYNTAX_CALL,
                              .operation = WEFT__LANG_shift,
                              .column = from->column,
                              .first = to->arguments_count,
                              .count = (uint32_t)ndim + 1,
                              .index = (int32_t)to->attributes_count};
    TRY(weft__lang_room(&to->attributes, to->attributes_count, &to->attributes_room,
                        sizeof *to->attributes));
    to->attributes[to->attributes_count++] = attributes;
    for (int k = 0; k <= ndim; k++)
        TRY(add_argument(r, arguments[k]));
    return add_node(r, call, node);
}

static weft_status add_call(weft__rewriting *r, const weft__syntax_node *from, int32_t *node)
{
    weft__syntax_node call = *from;
    call.first = r->out->syntax->arguments_count;
    for (uint32_t k = 0; k < from->count; k++)
        TRY(add_argument(r, r->made[arguments_of(r->from, from)[k]]));
    return add_node(r, call, node);
}

/* An operation of a node and an integer. */
static weft_status add_operation(weft__rewriting *r, weft__lang_operation operation, int64_t value,
                                 uint32_t column, int32_t *node)
{
    weft__syntax_node call = {.kind = WEFT__SYNTAX_CALL,
                              .operation = (uint8_t)operation,
                              .column = column,
                              .count = 2,
                              .index = -1};
    int32_t integer;
    TRY(add_integer(r, value, column, &integer));
    call.first = r->out->syntax->arguments_count;
    TRY(add_argument(r, *node));
    TRY(add_argument(r, integer));
    return add_node(r, call, node);
}

/* A position that is inside, whatever it would be where it is not used. */
static weft_status clamp(weft__rewriting *r, int32_t subscript, int64_t size, int32_t *node)
{
    const uint32_t column = r->from->nodes[subscript].column;
    int64_t low, high;
    *node = r->made[subscript];
    if (weft__rewrite_range(r, subscript, &low, &high) && low >= 0 && high < size)
        return WEFT_OK;
    TRY(add_operation(r, WEFT__LANG_maximum, 0, column, node));
    return add_operation(r, WEFT__LANG_minimum, size - 1, column, node);
}

static weft_status add_gather(weft__rewriting *r, int32_t access, int32_t *node)
{
    weft__lang_syntax *to = r->out->syntax;
    const weft__syntax_node *from = &r->from->nodes[access];
    weft__syntax_node gather = *from;
    int32_t positions[WEFT_NDIM_MAX];
    weft_shape shape;
    gather.kind = WEFT__SYNTAX_GATHER;
    TRY(weft__rewrite_gather(r, access, &gather.index, &shape));
    for (uint32_t k = 0; k < from->count; k++)
        TRY(clamp(r, arguments_of(r->from, from)[k], shape.size[k], &positions[k]));
    TRY(weft__lang_room(&to->shapes, to->shapes_count, &to->shapes_room, sizeof *to->shapes));
    gather.value.attributes = (int32_t)to->shapes_count;
    to->shapes[to->shapes_count++] = shape;
    gather.first = to->arguments_count;
    for (uint32_t k = 0; k < from->count; k++)
        TRY(add_argument(r, positions[k]));
    return add_node(r, gather, node);
}

/* What a shift says about it, also where the element never leaves its array. */
static weft_status check_value(const weft__rewriting *r, const weft__syntax_node *access)
{
    const int32_t attributes = access->value.attributes;
    const int32_t value = attributes < 0 ? -1 : r->from->attributes[attributes].value;
    if (value < 0 || !r->varies[value])
        return WEFT_OK;
    return REWRITE_FAIL(r, access->column, WEFT_ERROR_SHAPE, "value= is one number, not an array");
}

static weft_status add_element(weft__rewriting *r, int32_t access, int32_t *node)
{
    const weft__syntax_node *from = &r->from->nodes[access];
    weft__rewritten element;
    TRY(check_value(r, from));
    if (r->gathered[access])
        return add_gather(r, access, node);
    TRY(weft__rewrite_element(r, access, false, &element));
    if (element.displaced)
        return add_shift(r, from, &element, node);
    return add_read(r, element.operand, from->column, node);
}

static weft_status add_index(weft__rewriting *r, const weft__syntax_node *from, int32_t *node)
{
    int32_t axis;
    weft__syntax_node call = *from;
    TRY(add_integer(r, from->index, from->column, &axis));
    call.kind = WEFT__SYNTAX_CALL;
    call.operation = WEFT__LANG_index;
    call.first = r->out->syntax->arguments_count;
    call.count = 1;
    call.index = -1;
    TRY(add_argument(r, axis));
    return add_node(r, call, node);
}

static weft_status rewrite_node(weft__rewriting *r, uint32_t at)
{
    const weft__syntax_node *from = &r->from->nodes[at];
    int32_t operand;
    if (!(r->needed[at] & WEFT__NEEDED_AS_VALUE))
        return WEFT_OK;
    switch (from->kind) {
    case WEFT__SYNTAX_LITERAL:
        return add_node(r, *from, &r->made[at]);
    case WEFT__SYNTAX_OPERAND:
        TRY(weft__rewrite_number(r, from->index, from->column, &operand));
        return add_read(r, operand, from->column, &r->made[at]);
    case WEFT__SYNTAX_INDEX:
        return add_index(r, from, &r->made[at]);
    case WEFT__SYNTAX_ACCESS:
        return add_element(r, (int32_t)at, &r->made[at]);
    default:
        return add_call(r, from, &r->made[at]);
    }
}

static weft_status rewrite_statement(weft__rewriting *r, const weft__syntax_statement *from)
{
    weft__lang_syntax *to = r->out->syntax;
    weft__rewritten element = {.operand = WEFT__TARGET_LOCAL};
    if (r->made[from->node] < 0) /* a local that only indices are made of */
        return WEFT_OK;
    if (from->target >= 0)
        TRY(weft__rewrite_element(r, from->access, true, &element));
    TRY(weft__lang_room(&to->statements, to->statements_count, &to->statements_room,
                        sizeof *to->statements));
    to->statements[to->statements_count++] = (weft__syntax_statement){
        element.operand, r->made[from->node], from->column, to->nodes_count, -1, 0};
    return WEFT_OK;
}

/* The column of the element that says which indices there are. */
static size_t first_assigned(const weft__rewriting *r)
{
    for (uint32_t i = 0; i < r->from->statements_count; i++)
        if (r->from->statements[i].target >= 0)
            return r->from->statements[i].column;
    return WEFT__NO_COLUMN;
}

/* The points that the program works on: the space, or in C order for a single index. */
static weft_status choose_points(weft__rewriting *r)
{
    int64_t count = 1;
    int ndim = r->space.ndim, indices = r->from->indices_count;
    r->out->points = r->space;
    for (int k = 0; k < ndim; k++)
        count *= r->space.size[k];
    r->empty = count == 0;
    if (indices == ndim)
        return WEFT_OK;
    if (indices != 1)
        return REWRITE_FAIL(r, first_assigned(r), WEFT_ERROR_SHAPE,
                            "the kernel has %d indices and the index space %d dimensions; they "
                            "must be as many, or one index for the position in C order",
                            indices, ndim);
    r->plain = ndim > 0 && weft__rewrite_is_plain(r);
    if (!r->plain)
        r->out->points = (weft_shape){1, {count}};
    return WEFT_OK;
}

/* Those that are inside where they are used only, and no view displaced, are gathered. */
static weft_status guard(weft__rewriting *r)
{
    if (!r->from->loop || !r->strict)
        return WEFT_OK;
    TRY(weft__rewrite_guards(r));
    for (uint32_t i = 0; i < r->from->nodes_count; i++)
        if (r->guarded[i] && !r->gathered[i])
            r->gathered[i] = !weft__rewrite_displaces(r, (int32_t)i);
    mark(r->from, r->gathered, r->needed);
    return WEFT_OK;
}

/* A number of a kernel's that is an integer, and no i64. */
static bool is_large(const weft__rewriting *r, const weft__syntax_node *node)
{
    return node->kind == WEFT__SYNTAX_OPERAND && !r->from->loop && !r->numbers[node->index] &&
           r->types[node->index].tag == WEFT_OPERAND_NUMBER &&
           r->types[node->index].dtype == WEFT_U64;
}

/* What is not the same at every point. */
static void find_varying(weft__rewriting *r)
{
    for (uint32_t i = 0; i < r->from->nodes_count; i++) {
        const weft__syntax_node *node = &r->from->nodes[i];
        const bool calls = node->kind == WEFT__SYNTAX_CALL || node->kind == WEFT__SYNTAX_CAST;
        r->varies[i] = node->kind == WEFT__SYNTAX_ACCESS || node->kind == WEFT__SYNTAX_INDEX ||
                       node->kind == WEFT__SYNTAX_LOOP;
        for (uint32_t k = 0; calls && k < node->count; k++)
            r->varies[i] |= r->varies[arguments_of(r->from, node)[k]];
    }
}

static void find_forms(weft__rewriting *r)
{
    for (uint32_t i = 0; i < r->from->nodes_count; i++) {
        r->forms[i] = weft__affine_of(r->from, (int32_t)i, r->forms, r->numbers);
        r->forms[i].large |= is_large(r, &r->from->nodes[i]);
    }
}

static weft_status rewrite(weft__rewriting *r)
{
    const weft__lang_syntax *from = r->from;
    uint32_t position = 0;
    for (uint32_t i = 0; i < from->nodes_count; i++)
        r->made[i] = -1;
    find_forms(r);
    find_varying(r);
    find_gathered(r);
    mark(from, r->gathered, r->needed);
    for (uint32_t i = 0; i < from->statements_count; i++)
        if (from->statements[i].target >= 0)
            r->assigned[from->statements[i].target] = true;
    TRY(choose_points(r));
    TRY(guard(r));
    r->out->syntax->looped = from->looped;
    r->out->syntax->points = r->out->points;
    for (uint32_t i = 0; i < from->statements_count; i++) {
        for (; position < from->statements[i].end; position++)
            TRY(rewrite_node(r, position));
        TRY(rewrite_statement(r, &from->statements[i]));
    }
    return WEFT_OK;
}

weft_status weft__portable_rewrite(const weft__lang_syntax *syntax, const weft__lang_operand *types,
                                   const int64_t *const *numbers,
                                   const weft__portable_range *ranges, const weft_shape *space,
                                   bool strict, weft__portable_program *program)
{
    size_t nodes = syntax->nodes_count + (size_t)1;
    bool assigned[WEFT__LANG_OPERANDS_MAX] = {false};
    weft__rewriting r = {.from = syntax,
                         .types = types,
                         .numbers = numbers,
                         .ranges = ranges,
                         .space = *space,
                         .strict = strict,
                         .assigned = assigned,
                         .out = program};
    program->syntax = weft__allocate_zeroed(sizeof *program->syntax);
    char *memory =
        weft__allocate_zeroed(nodes * (sizeof *r.forms + sizeof *r.made + sizeof *r.needed +
                                       sizeof *r.guarded + sizeof *r.gathered + sizeof *r.varies));
    weft_status status = WEFT_ERROR_MEMORY;
    if (program->syntax && memory) {
        program->syntax->code = syntax->code;
        program->syntax->loop = syntax->loop;
        r.forms = (weft__affine *)(void *)memory;
        r.made = (int32_t *)(void *)(r.forms + nodes);
        r.needed = (uint8_t *)(r.made + nodes);
        r.guarded = (bool *)(r.needed + nodes);
        r.gathered = r.guarded + nodes;
        r.varies = r.gathered + nodes;
        status = rewrite(&r);
    }
    weft__free(memory);
    return status;
}

void weft__portable_free(weft__portable_program *program)
{
    weft__lang_syntax_free(program->syntax);
    weft__free(program->operands);
    *program = (weft__portable_program){0};
}
