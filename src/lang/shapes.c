/* Shapes: broadcasting, and the arrays that index() counts along. */
#include "core/shape.h"
#include "lang/check.h"
#include <stdlib.h>

enum { COMPARED = 64 }; /* shapes that a new one is compared with, so that few are kept */

const weft_shape *weft__check_shape(const weft__checker *c, int32_t shape)
{
    return &c->program->shapes[shape];
}

weft_status weft__check_shape_add(weft__checker *c, const weft_shape *shape, int32_t *position)
{
    weft__lang_program *p = c->program;
    weft_shape copy = *shape;
    for (uint32_t i = 0; i < p->shapes_count && i < COMPARED; i++)
        if (weft_shape_equal(p->shapes[i], copy)) {
            *position = (int32_t)i;
            return WEFT_OK;
        }
    TRY(weft__lang_room(&p->shapes, p->shapes_count, &p->shapes_room, sizeof *p->shapes));
    *position = (int32_t)p->shapes_count++;
    p->shapes[*position] = copy;
    return WEFT_OK;
}

weft_status weft__check_broadcast(weft__checker *c, int32_t a, int32_t b, uint32_t column,
                                  int32_t *result)
{
    weft_shape both;
    int64_t count;
    const weft_shape *x = weft__check_shape(c, a), *y = weft__check_shape(c, b);
    *result = a;
    if (a == b || y->ndim == 0)
        return WEFT_OK;
    *result = b;
    if (x->ndim == 0)
        return WEFT_OK;
    if (weft__shape_broadcast(x, y, &both) != WEFT_OK)
        return CHECK_FAIL(
            c, column, WEFT_ERROR_SHAPE,
            "shapes %.100s and %.100s do not go together: from the last axis on, sizes "
            "must be equal or 1",
            weft__shape_text_of(x).text, weft__shape_text_of(y).text);
    if (weft__shape_check(&both, &count) != WEFT_OK)
        return CHECK_FAIL(c, column, WEFT_ERROR_SHAPE,
                          "shapes %.100s and %.100s together have more than 2^63 - 1 elements",
                          weft__shape_text_of(x).text, weft__shape_text_of(y).text);
    return weft__check_shape_add(c, &both, result);
}

static weft_status push_open(weft__checker *c, int32_t node)
{
    if (node < 0 || !c->is_open[node])
        return WEFT_OK;
    TRY(weft__lang_room(&c->open, c->open_count, &c->open_room, sizeof *c->open));
    c->is_open[node] = false;
    c->open[c->open_count++] = node;
    return WEFT_OK;
}

static int by_position(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* An index along one axis of a shape: sizes of 1 but for that axis, and no axes before it. */
static weft_status close_index(weft__checker *c, int32_t position, int32_t shape)
{
    weft__lang_node *node = &c->program->nodes[position];
    weft_shape space = *weft__check_shape(c, shape);
    int axis = (int)node->axis - WEFT_NDIM_MAX, back = axis < 0 ? -axis - 1 : space.ndim - 1 - axis;
    weft_shape own = {back + 1, {0}};
    if (back < 0 || back >= space.ndim)
        return CHECK_FAIL(
            c, node->column, WEFT_ERROR_SHAPE,
            "axis %d is out of range: index() counts along the array around it, whose "
            "shape is %.100s",
            axis, weft__shape_text_of(&space).text);
    for (int k = 0; k <= back; k++)
        own.size[k] = k ? 1 : space.size[space.ndim - 1 - back];
    node->axis = (uint8_t)back;
    return weft__check_shape_add(c, &own, &node->shape);
}

/* In a kernel with loops all indices are along its own index space. */
static weft_status close_in_loops(weft__checker *c, int32_t position)
{
    int32_t shape;
    TRY(weft__check_shape_add(c, &c->syntax->points, &shape));
    TRY(close_index(c, position, shape));
    c->is_open[position] = false;
    return WEFT_OK;
}

/* Until it is closed, the axis of an index node is as given, and its shape that of a number. */
weft_status weft__check_index(weft__checker *c, const weft__syntax_node *call,
                              weft__check_value *value)
{
    int64_t axis = weft__check_integer(c, call, 0);
    weft__lang_node node = weft__check_node(WEFT__NODE_INDEX, WEFT_I64, call->column);
    if (axis < -WEFT_NDIM_MAX || axis >= WEFT_NDIM_MAX)
        return CHECK_FAIL(c, call->column, WEFT_ERROR_SHAPE, "axis %lld is out of range",
                          (long long)axis);
    node.axis = (uint8_t)(axis + WEFT_NDIM_MAX);
    node.weak = c->syntax->loop;
    TRY(weft__check_emit(c, node, &value->node));
    if (c->syntax->looped)
        TRY(close_in_loops(c, value->node));
    *value = weft__check_value_of(c, value->node);
    return WEFT_OK;
}

/* The shape of a node whose arguments have got theirs. */
static weft_status close_node(weft__checker *c, int32_t position, int32_t shape)
{
    weft__lang_node *node = &c->program->nodes[position];
    int32_t result = node->shape;
    if (node->kind == WEFT__NODE_INDEX)
        return close_index(c, position, shape);
    for (int k = 0; k < 3 && node->argument[k] >= 0; k++)
        TRY(weft__check_broadcast(c, result, c->program->nodes[node->argument[k]].shape,
                                  node->column, &result));
    node->shape = result;
    return WEFT_OK;
}

/* Writes the open nodes once more, closed; the last is the value. A local may be used with another
 * shape later, so that they stay open themselves. */
static weft_status close_copies(weft__checker *c, int32_t shape)
{
    const int32_t first = (int32_t)c->program->nodes_count;
    for (uint32_t i = 0; i < c->open_count; i++) {
        weft__lang_node node = c->program->nodes[c->open[i]];
        int32_t position;
        for (int k = 0; k < 3; k++) {
            const int32_t *found =
                bsearch(&node.argument[k], c->open, c->open_count, sizeof *c->open, by_position);
            node.argument[k] = found ? first + (int32_t)(found - c->open) : node.argument[k];
        }
        TRY(weft__check_emit(c, node, &position));
        TRY(close_node(c, position, shape));
        c->is_open[position] = false;
    }
    for (uint32_t i = 0; i < c->open_count; i++)
        c->is_open[c->open[i]] = true;
    return WEFT_OK;
}

weft_status weft__check_close(weft__checker *c, weft__check_value *value, int32_t shape,
                              uint32_t column)
{
    if (value->node < 0 || !c->is_open[value->node])
        return WEFT_OK;
    if (weft__check_shape(c, shape)->ndim == 0)
        return CHECK_FAIL(c, column, WEFT_ERROR_SHAPE,
                          "index() counts along an array, and there is none beside it");
    c->open_count = 0;
    TRY(push_open(c, value->node));
    for (uint32_t i = 0; i < c->open_count; i++)
        for (int k = 0; k < 3; k++)
            TRY(push_open(c, c->program->nodes[c->open[i]].argument[k]));
    qsort(c->open, c->open_count, sizeof *c->open, by_position);
    TRY(close_copies(c, shape));
    value->node = (int32_t)c->program->nodes_count - 1;
    *value = weft__check_value_of(c, value->node);
    return WEFT_OK;
}
