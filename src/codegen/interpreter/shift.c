/* Displaced fetches: whole patches where nothing is out of bounds, else rows in up to three pieces.
 */
#include "codegen/interpreter/patch.h"

/* A displacement along one axis, as far as it makes a difference. */
static int64_t offset_along(const weft__kernel_shift *shift, int32_t axis, int64_t size)
{
    const int64_t offset = shift->offset[axis];
    if (shift->boundary == WEFT__BOUNDARY_WRAP)
        return (offset % size + size) % size;
    return offset > size ? size : offset < -size ? -size : offset;
}

static const weft__kernel_shift *shift_of(const weft__patch *frame, const weft__step *step)
{
    return &frame->program->shifts[step->shift - 1];
}

/* How many points the patch has along an axis. */
static int64_t extent(const weft__patch *frame, int32_t axis)
{
    if (axis == frame->column_axis)
        return frame->columns;
    return axis == frame->plan.row_axis ? frame->rows : 1;
}

bool weft__shift_inside(const weft__patch *frame, const weft__step *step, weft__plane *plane)
{
    const weft__kernel_shift *shift = shift_of(frame, step);
    const weft__argument *argument = &frame->arguments[step->slot];
    int64_t bytes = 0;
    for (int32_t k = 0; k < frame->launch->ndim; k++) {
        if (shift->offset[k] == 0)
            continue;
        const int64_t size = frame->launch->size[k], first = frame->position[k];
        int64_t offset = offset_along(shift, k, size);
        if (shift->boundary == WEFT__BOUNDARY_WRAP && first + offset >= size)
            offset -= size;
        if (first + offset < 0 || first + offset + extent(frame, k) > size)
            return false;
        bytes += offset * argument->stride[k];
    }
    plane->data += bytes;
    return true;
}

/* One row of the patch: where its source is along all axes but that of the columns, and how far it
 * is displaced along that. Both addresses are those of column 0 of the whole row. */
struct row {
    const char *source; /* displaced, or `own` if that is outside */
    const char *own;
    int64_t offset;
    bool outside; /* along another axis */
};

/* The position that a displaced one stands for; -1 if there is none. */
static int64_t within(int64_t position, int64_t size, int64_t boundary)
{
    if (position >= 0 && position < size)
        return position;
    if (boundary == WEFT__BOUNDARY_WRAP)
        return position - size; /* offsets are in [0, size) */
    return boundary != WEFT__BOUNDARY_CLAMP ? -1 : position < 0 ? 0 : size - 1;
}

static struct row row_at(const weft__patch *frame, const weft__kernel_shift *shift, int64_t r,
                         const char *data, const int64_t *stride)
{
    const int32_t column = frame->column_axis;
    struct row row = {data, data, 0, false};
    int64_t displaced = 0, own = 0;
    if (column >= 0)
        row.offset = offset_along(shift, column, frame->launch->size[column]);
    for (int32_t k = 0; k < frame->launch->ndim; k++) {
        const int64_t size = frame->launch->size[k];
        if (k == column || size == 0)
            continue;
        const int64_t position = frame->position[k] + (k == frame->plan.row_axis ? r : 0);
        const int64_t from = within(position + offset_along(shift, k, size), size, shift->boundary);
        row.outside |= from < 0;
        displaced += from * stride[k];
        own += position * stride[k];
    }
    row.own += own;
    row.source += row.outside ? own : displaced;
    row.offset = row.outside ? 0 : row.offset;
    return row;
}

/* The columns [*begin, *end) of the patch whose source is between 0 and the size. */
static void inside(const weft__patch *frame, int64_t offset, int64_t *begin, int64_t *end)
{
    const int32_t column = frame->column_axis;
    const int64_t first = column < 0 ? 0 : frame->position[column];
    const int64_t size = column < 0 ? 1 : frame->launch->size[column];
    const int64_t low = -offset - first, high = size - offset - first;
    *begin = low < 0 ? 0 : low > frame->columns ? frame->columns : low;
    *end = high < *begin ? *begin : high > frame->columns ? frame->columns : high;
}

struct piece {
    const weft__patch *frame;
    char *dst;
    const char *source; /* of column 0 of the whole row */
    int64_t stride;
    int size;
};

/* Columns [begin, end) of the patch from consecutive elements, the first of which is `from`, or
 * all from that one. */
static void move_piece(const struct piece *p, int64_t begin, int64_t end, int64_t from, bool one)
{
    const int64_t bytes = (int64_t)1 << p->size;
    if (begin >= end)
        return;
    const weft__plane dst = {p->dst + begin * bytes, 0, bytes};
    const weft__plane src = {(char *)(uintptr_t)p->source + from * p->stride, 0,
                             one ? 0 : p->stride};
    weft__memory_move(p->frame->program->variant, p->size, dst, src, 1, end - begin, false);
}

static void fetch_row(const struct piece *p, const struct row *row, int64_t boundary)
{
    const int32_t column = p->frame->column_axis;
    const int64_t first = column < 0 ? 0 : p->frame->position[column];
    const int64_t size = column < 0 ? 1 : p->frame->launch->size[column];
    const bool clamp = boundary == WEFT__BOUNDARY_CLAMP, wrap = boundary == WEFT__BOUNDARY_WRAP;
    struct piece edge = *p;
    int64_t begin, end;
    edge.source = clamp || wrap ? row->source : row->own;
    inside(p->frame, row->offset, &begin, &end);
    move_piece(&edge, 0, begin, clamp ? 0 : first, clamp);
    move_piece(p, begin, end, first + begin + row->offset, false);
    move_piece(&edge, end, p->frame->columns,
               clamp  ? size - 1
               : wrap ? first + end + row->offset - size
                      : first + end,
               clamp);
}

void weft__shift_fetch(const weft__patch *frame, const weft__step *step)
{
    const weft__kernel_shift *shift = shift_of(frame, step);
    const weft__argument *argument = &frame->arguments[step->slot];
    const int64_t row_bytes = frame->columns << step->size;
    for (int64_t r = 0; r < frame->rows; r++) {
        const struct row row =
            row_at(frame, shift, r, argument->data + step->offset, argument->stride);
        const int32_t column = frame->column_axis;
        const struct piece piece = {frame, frame->at[step->block] + r * row_bytes, row.source,
                                    column < 0 ? 0 : argument->stride[column], step->size};
        fetch_row(&piece, &row, shift->boundary);
    }
}

void weft__shift_edge(const weft__patch *frame, const weft__step *step)
{
    const weft__kernel_shift *shift = shift_of(frame, step);
    static const int64_t none[WEFT_NDIM_MAX] = {0};
    const int64_t element = (int64_t)1 << step->size, row_bytes = frame->columns << step->size;
    const bool inner = step->uniform & 1, outer = step->uniform & 2;
    for (int64_t r = 0; r < frame->rows; r++) {
        const int64_t at = r * row_bytes;
        char *dst = frame->at[step->result] + at;
        const struct row row = row_at(frame, shift, r, dst, none);
        const struct piece in = {frame, dst, frame->at[step->argument[0]] + (inner ? 0 : at),
                                 inner ? 0 : element, step->size};
        const struct piece out = {frame, dst, frame->at[step->argument[1]] + (outer ? 0 : at),
                                  outer ? 0 : element, step->size};
        int64_t begin = 0, end = 0;
        if (!row.outside)
            inside(frame, row.offset, &begin, &end);
        move_piece(&out, 0, begin, 0, false);
        move_piece(&in, begin, end, begin, false);
        move_piece(&out, end, frame->columns, end, false);
    }
}
