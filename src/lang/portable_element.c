/* Elements of portable kernels: their maps, their bounds, and which operand they are. */
#include "core/array.h"
#include "lang/lexer.h"
#include "lang/portable_rewriting.h"
#include <stdio.h>
#include <string.h>

/* An element that is being rewritten. */
typedef struct access_of {
    weft__rewriting *r;
    const weft__syntax_node *node;
    weft__lang_name name; /* of the argument */
    weft_shape shape;     /* that the subscripts are for */
    bool target;
    int outside; /* the first subscript that leaves the array, or -1 */
} access_of;

weft__lang_name weft__rewrite_text(const weft__rewriting *r, uint32_t column)
{
    const weft__lang_name code = r->from->code;
    weft__lexer lexer = {code.text, (uint32_t)code.length, column};
    int depth = 0;
    do {
        weft__token_kind kind = weft__lex(&lexer).kind;
        depth += (kind == WEFT__TOKEN_OPEN) - (kind == WEFT__TOKEN_CLOSE);
        if (kind == WEFT__TOKEN_CLOSE && depth == 0)
            break;
    } while (lexer.at < lexer.length);
    return (weft__lang_name){code.text + column, lexer.at - column};
}

static const weft__affine *form_of(const access_of *e, uint32_t subscript)
{
    return &e->r->forms[e->r->from->arguments[e->node->first + subscript]];
}

static weft__lang_quoted text_of(const access_of *e)
{
    weft__lang_name text = weft__rewrite_text(e->r, e->node->column);
    return weft__lang_quote(text.text, text.length);
}

static int64_t count_of(const weft_shape *shape)
{
    int64_t count = 1;
    for (int k = 0; k < shape->ndim; k++)
        count *= shape->size[k];
    return count;
}

static weft_status check_argument(const access_of *e)
{
    const weft__lang_operand *type = &e->r->types[e->node->index];
    const weft__lang_quoted quoted = weft__lang_quote(e->name.text, e->name.length);
    const char *name = quoted.text;
    if (type->tag == WEFT_OPERAND_NUMBER)
        return REWRITE_FAIL(e->r, e->node->column, WEFT_ERROR_ARGUMENT,
                            "'%s' is a number and has no elements; write it without parentheses",
                            name);
    if (type->unset)
        return REWRITE_FAIL(e->r, e->node->column, WEFT_ERROR_ARGUMENT,
                            "'%s' has no memory yet; give it some with weft_resize", name);
    if (e->target && type->tag != WEFT_OPERAND_ARRAY)
        return REWRITE_FAIL(e->r, e->node->column, WEFT_ERROR_ARGUMENT,
                            "'%s' is a const array and cannot be assigned to", name);
    if ((int)e->node->count != type->shape.ndim && e->node->count != 1)
        return REWRITE_FAIL(e->r, e->node->column, WEFT_ERROR_SHAPE,
                            "%u indices are given for '%s', which has %d dimensions; give %d, or "
                            "one for the position in C order",
                            e->node->count, name, type->shape.ndim, type->shape.ndim);
    return WEFT_OK;
}

static weft_status check_forms(const access_of *e)
{
    for (uint32_t s = 0; s < e->node->count; s++) {
        const uint32_t column = e->r->from->nodes[e->r->from->arguments[e->node->first + s]].column;
        if (form_of(e, s)->large)
            return REWRITE_FAIL(e->r, column, WEFT_ERROR_SHAPE,
                                "%s reaches positions, or is made of numbers, that do not fit into "
                                "64 bits with a sign",
                                text_of(e).text);
        if (!form_of(e, s)->valid)
            return REWRITE_FAIL(e->r, column, WEFT_ERROR_UNSUPPORTED,
                                "an index of '%s' is made of the kernel's indices and of integers, "
                                "with + - and * by a constant; what else it could be (a "
                                "floating-point number, the value of another element) is not "
                                "possible here",
                                QUOTE(e->name.text, e->name.length));
    }
    return WEFT_OK;
}

/* "at i = 0, j = 3": a point where the subscript has its smallest or largest value. */
static void write_point(const access_of *e, const weft__affine *form, bool low, char *text,
                        size_t room)
{
    const weft__lang_syntax *from = e->r->from;
    size_t used = 0;
    text[0] = 0;
    for (int k = 0; k < from->indices_count && used < room; k++) {
        if (!form->factor[k])
            continue;
        bool last = (form->factor[k] > 0) != low;
        weft__lang_name index = from->indices[k];
        used += (size_t)snprintf(text + used, room - used, "%s%.24s = %lld", used ? ", " : " at ",
                                 QUOTE(index.text, index.length),
                                 (long long)(last ? e->r->out->points.size[k] - 1 : 0));
    }
}

static weft_status fail_outside(const access_of *e, const char *advice)
{
    const weft__affine *form = form_of(e, (uint32_t)e->outside);
    int64_t low, high, size = e->shape.size[e->outside];
    char point[200], where[40] = "in C order";
    if (!weft__affine_range(form, &e->r->out->points, &low, &high))
        return REWRITE_FAIL(e->r, e->node->column, WEFT_ERROR_SHAPE,
                            "%s reaches positions that do not fit into 64 bits", text_of(e).text);
    if (e->r->types[e->node->index].shape.ndim == (int)e->node->count)
        snprintf(where, sizeof where, "along axis %d", e->outside);
    write_point(e, form, low < 0, point, sizeof point);
    return REWRITE_FAIL(e->r, e->node->column, WEFT_ERROR_SHAPE,
                        "%s is out of bounds%s: index %lld, and '%s' has %lld elements %s%s",
                        text_of(e).text, point, (long long)(low < 0 ? low : high),
                        QUOTE(e->name.text, e->name.length), (long long)size, where, advice);
}

static int first_outside(const access_of *e)
{
    int64_t low, high;
    for (uint32_t s = 0; !e->r->empty && s < e->node->count; s++)
        if (!weft__affine_range(form_of(e, s), &e->r->out->points, &low, &high) || low < 0 ||
            high >= e->shape.size[s])
            return (int)s;
    return -1;
}

/* Several points must not write one element. */
static weft_status check_race(const access_of *e)
{
    const weft__lang_syntax *from = e->r->from;
    weft_array positions = {.dtype = WEFT_U8, .shape = e->r->out->points};
    int64_t step = 1;
    for (int s = (int)e->node->count; s-- > 0; step *= e->shape.size[s])
        for (int k = 0; k < from->indices_count; k++)
            positions.stride[k] += form_of(e, (uint32_t)s)->factor[k] * step;
    for (int k = 0; k < from->indices_count; k++) {
        bool used = false;
        for (uint32_t s = 0; s < e->node->count; s++)
            used |= form_of(e, s)->factor[k] != 0;
        if (!used)
            return REWRITE_FAIL(e->r, e->node->column, WEFT_ERROR_ARGUMENT,
                                "%s is assigned to without the index '%s', so that several points "
                                "write one element; a sum over an index is an expression",
                                text_of(e).text,
                                QUOTE(from->indices[k].text, from->indices[k].length));
    }
    if (!e->r->empty && !e->r->plain && weft__array_overlaps(&positions))
        return REWRITE_FAIL(e->r, e->node->column, WEFT_ERROR_ARGUMENT,
                            "several points may write one element of '%s'",
                            QUOTE(e->name.text, e->name.length));
    return WEFT_OK;
}

/* Finds or adds an operand. */
static weft_status add_operand(weft__rewriting *r, const weft__portable_operand *operand,
                               weft__lang_name name, int32_t *position)
{
    weft__portable_program *out = r->out;
    weft__lang_syntax *to = out->syntax;
    uint32_t room = out->operands_room;
    for (uint32_t i = 0; i < out->operands_count; i++) {
        weft__portable_operand known = out->operands[i];
        known.written = operand->written;
        if (memcmp(&known, operand, sizeof known) == 0) {
            out->operands[i].written |= operand->written;
            *position = (int32_t)i;
            return WEFT_OK;
        }
    }
    if (out->operands_count == WEFT__LANG_OPERANDS_MAX)
        return REWRITE_FAIL(r, WEFT__NO_COLUMN, WEFT_ERROR_UNSUPPORTED,
                            "the kernel has more than %d different elements; split it",
                            (int)WEFT__LANG_OPERANDS_MAX);
    TRY(weft__lang_room(&to->names, out->operands_count, &room, sizeof *to->names));
    TRY(weft__lang_room(&out->operands, out->operands_count, &out->operands_room,
                        sizeof *out->operands));
    to->names[out->operands_count] = name;
    out->operands[out->operands_count] = *operand;
    *position = (int32_t)out->operands_count++;
    to->names_count = (int)out->operands_count;
    return WEFT_OK;
}

weft_status weft__rewrite_number(weft__rewriting *r, int32_t argument, uint32_t column,
                                 int32_t *operand)
{
    weft__lang_name name = r->from->names[argument];
    weft__portable_operand number;
    memset(&number, 0, sizeof number);
    number.argument = argument;
    number.form = WEFT__PORTABLE_NUMBER;
    if (r->types[argument].tag != WEFT_OPERAND_NUMBER)
        return REWRITE_FAIL(r, column, WEFT_ERROR_ARGUMENT,
                            "'%s' is an array; a kernel works on its elements, as in %s(i)",
                            QUOTE(name.text, name.length), QUOTE(name.text, name.length));
    return add_operand(r, &number, name, operand);
}

/* The map of the element; displacements that the boundary is about are left out. */
static weft__portable_operand operand_of(const access_of *e, const weft__rewritten *element)
{
    weft__portable_operand operand;
    const weft_shape *points = &e->r->out->points;
    memset(&operand, 0, sizeof operand); /* compared byte by byte */
    operand.argument = e->node->index;
    operand.written = e->target;
    operand.subscripts = (uint8_t)e->node->count;
    operand.form = e->r->types[e->node->index].shape.ndim == (int)e->node->count
                       ? WEFT__PORTABLE_ELEMENTS
                       : WEFT__PORTABLE_LINEAR;
    for (uint32_t s = 0; !e->r->empty && s < e->node->count; s++) {
        const weft__affine *form = form_of(e, s);
        int index = weft__affine_index(form);
        operand.offset[s] = element->displaced && index >= 0 && element->moved[index]
                                ? element->base[index]
                                : form->constant;
        for (int k = 0; k < points->ndim; k++)
            operand.step[s][k] = form->factor[k];
    }
    return operand;
}

/* The displacement of a subscript that is an index plus a constant, as one within a view of as many
 * elements as the space has points along it; false if no view does it. A view of the first elements
 * ends where the array does below, one of the last where it does above. */
static bool displace_along(const access_of *e, uint32_t subscript, int index,
                           weft__rewritten *element)
{
    const int64_t constant = form_of(e, subscript)->constant;
    const int64_t left = e->shape.size[subscript] - e->r->out->points.size[index];
    const bool wrap = element->boundary == WEFT__BOUNDARY_WRAP;
    const bool separate = wrap || element->boundary == WEFT__BOUNDARY_UNSHIFTED;
    if (left < 0 || (left > 0 && (wrap || (constant > 0 && separate))))
        return false;
    const int64_t size = e->r->out->points.size[index];
    const int64_t base = constant > 0 ? left : 0, offset = constant - base;
    element->moved[index] = true;
    element->base[index] = base;
    /* further than the size makes no difference */
    element->offset[index] = wrap             ? offset % size
                             : offset > size  ? size
                             : offset < -size ? -size
                                              : offset;
    return true;
}

/* Whether an index that is displaced in one subscript is in another one too, which would be
 * displaced with it. */
static bool moves_another(const access_of *e, const bool *moved)
{
    for (uint32_t s = 0; s < e->node->count; s++) {
        const weft__affine *form = form_of(e, s);
        for (int k = 0; k < WEFT_NDIM_MAX && weft__affine_index(form) < 0; k++)
            if (form->factor[k] && moved[k])
                return true;
    }
    return false;
}

/* Whether the element can be a displaced one: what leaves the array is an index plus a constant,
 * and no index is there twice. */
static bool displace(const access_of *e, weft__rewritten *element)
{
    bool seen[WEFT_NDIM_MAX] = {false};
    const bool exact = element->boundary == WEFT__BOUNDARY_UNSHIFTED;
    for (uint32_t s = 0; s < e->node->count; s++) {
        const weft__affine *form = form_of(e, s);
        int index = weft__affine_index(form);
        int64_t low, high;
        bool inside = weft__affine_range(form, &e->r->out->points, &low, &high) && low >= 0 &&
                      high < e->shape.size[s];
        if (index < 0 ? !inside : seen[index] || (!form->constant && !inside))
            return false;
        if (index < 0)
            continue;
        seen[index] = true;
        if (form->constant && !(inside && !exact) && !displace_along(e, s, index, element))
            return false;
    }
    return !moves_another(e, element->moved);
}

/* Why an element that is read has no boundary. */
static const char *advice_for(const access_of *e)
{
    const weft__affine *form = form_of(e, (uint32_t)e->outside);
    const int index = weft__affine_index(form);
    int subscripts = 0;
    if (index < 0)
        return "; only an index plus a constant has a boundary";
    for (uint32_t s = 0; s < e->node->count; s++)
        subscripts += form_of(e, s)->factor[index] != 0;
    if (subscripts > 1)
        return "; only an index that is in no other subscript has a boundary";
    if (form->constant == 0)
        return "; the index space is larger than the array";
    return "; this boundary is for arrays that are as large as the index space";
}

static weft_status read_outside(const access_of *e, weft__rewritten *element)
{
    const weft__syntax_attributes *a =
        e->node->value.attributes < 0 ? NULL : &e->r->from->attributes[e->node->value.attributes];
    const bool guarded = e->r->guarded[e->node - e->r->from->nodes];
    element->boundary = guarded           ? WEFT__BOUNDARY_CLAMP
                        : a && a->bounded ? a->boundary
                                          : e->r->from->boundary;
    if (e->r->strict && !guarded)
        return fail_outside(e, e->r->from->loop ? "" : " (WEFT_CHECK=bounds)");
    element->displaced = displace(e, element);
    return element->displaced ? WEFT_OK : fail_outside(e, advice_for(e));
}

bool weft__rewrite_displaces(weft__rewriting *r, int32_t access)
{
    const weft__syntax_node *node = &r->from->nodes[access];
    access_of e = {r, node, r->from->names[node->index], {0, {0}}, false, -1};
    weft__rewritten element = {.boundary = WEFT__BOUNDARY_CLAMP};
    e.shape = r->types[node->index].shape;
    if (e.shape.ndim != (int)node->count)
        e.shape = (weft_shape){1, {count_of(&e.shape)}};
    return displace(&e, &element);
}

weft_status weft__rewrite_element(weft__rewriting *r, int32_t access, bool target,
                                  weft__rewritten *element)
{
    const weft__syntax_node *node = &r->from->nodes[access];
    access_of e = {r, node, r->from->names[node->index], {0, {0}}, target, -1};
    *element = (weft__rewritten){.operand = -1};
    TRY(check_argument(&e));
    TRY(check_forms(&e));
    e.shape = r->types[node->index].shape;
    if (e.shape.ndim != (int)node->count)
        e.shape = (weft_shape){1, {count_of(&e.shape)}};
    e.outside = first_outside(&e);
    if (target && e.outside >= 0)
        return fail_outside(&e, "");
    if (target)
        TRY(check_race(&e));
    if (e.outside >= 0)
        TRY(read_outside(&e, element));
    weft__portable_operand operand = operand_of(&e, element);
    if (r->plain) {
        operand.form = WEFT__PORTABLE_RESHAPED;
        operand.step[0][0] = 0;
    }
    operand.before = element->displaced && r->assigned[node->index];
    return add_operand(r, &operand,
                       element->displaced ? e.name : weft__rewrite_text(r, node->column),
                       &element->operand);
}

weft_status weft__rewrite_gather(weft__rewriting *r, int32_t access, int32_t *operand,
                                 weft_shape *shape)
{
    const weft__syntax_node *node = &r->from->nodes[access];
    access_of e = {r, node, r->from->names[node->index], {0, {0}}, false, -1};
    weft__portable_operand whole;
    int64_t low, high;
    TRY(check_argument(&e));
    *shape = r->types[node->index].shape;
    if (shape->ndim != (int)node->count)
        *shape = (weft_shape){1, {count_of(shape)}};
    for (int s = 0; s < shape->ndim; s++)
        if (!r->guarded[access] &&
            (!weft__rewrite_range(r, r->from->arguments[node->first + (uint32_t)s], &low, &high) ||
             low < 0 || high >= shape->size[s]))
            return REWRITE_FAIL(r, node->column, WEFT_ERROR_UNSUPPORTED,
                                "an element of '%s' may be outside of it",
                                QUOTE(e.name.text, e.name.length));
    if (shape->ndim > 3 || r->assigned[node->index])
        return REWRITE_FAIL(
            r, node->column, WEFT_ERROR_UNSUPPORTED,
            "%s is at a position that is not known before, and %s", text_of(&e).text,
            shape->ndim > 3 ? "has more than three dimensions" : "its array is written");
    memset(&whole, 0, sizeof whole);
    whole.argument = node->index;
    whole.form = WEFT__PORTABLE_WHOLE;
    return add_operand(r, &whole, e.name, operand);
}

bool weft__rewrite_is_plain(const weft__rewriting *r)
{
    int64_t points = count_of(&r->space);
    for (uint32_t i = 0; i < r->from->nodes_count; i++) {
        const weft__syntax_node *node = &r->from->nodes[i];
        bool value = r->needed[i] & WEFT__NEEDED_AS_VALUE;
        if (node->kind == WEFT__SYNTAX_INDEX && value)
            return false;
        if (node->kind != WEFT__SYNTAX_ACCESS ||
            !(r->needed[i] & (WEFT__NEEDED_AS_VALUE | WEFT__NEEDED_AS_TARGET)))
            continue;
        const weft__affine *form =
            node->count == 1 ? &r->forms[r->from->arguments[node->first]] : NULL;
        const weft__lang_operand *type = &r->types[node->index];
        if (!form || !form->valid || form->constant || form->factor[0] != 1 ||
            type->tag == WEFT_OPERAND_NUMBER || count_of(&type->shape) != points)
            return false;
    }
    return true;
}
