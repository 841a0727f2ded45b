/* Where displaced operands of a patch lie. Along the axes other than that of the columns, what is
 * out of bounds is settled here, for as many rows as it is the same; along the columns, only where
 * much is. */
#include "codegen/llvm/object.h"

enum {
    WIDE = 64, /* so many columns out of bounds are a patch of their own */
    KEPT_BYTES =
        192 << 10 /* of the rows of a block in one plane; the cache has room for some planes */
};

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* A displacement along one axis, as far as it makes a difference; round the shorter way. */
static int64_t offset_along(const weft__object_displaced *displaced, int32_t axis, int64_t size)
{
    const int64_t offset = displaced->offset[axis];
    if (displaced->boundary != WEFT__BOUNDARY_WRAP)
        return offset > size ? size : offset < -size ? -size : offset;
    const int64_t round = (offset % size + size) % size;
    return round > size / 2 ? round - size : round;
}

/* What a position along an axis stands for: how far the source is from it, whether that changes
 * from one position to the next, for how many of them it goes on like that, and whether there is no
 * source. */
struct along {
    int64_t distance, length;
    bool constant, outside;
};

static struct along look(const weft__object_displaced *displaced, int32_t axis, int64_t position,
                         int64_t size)
{
    const int64_t offset = offset_along(displaced, axis, size), at = position + offset;
    if (at >= 0 && at < size)
        return (struct along){offset, size - at, false, false};
    const int64_t length = at < 0 ? -at : size - position;
    switch ((weft__boundary)displaced->boundary) {
    case WEFT__BOUNDARY_WRAP:
        return (struct along){at < 0 ? offset + size : offset - size, length, false, false};
    case WEFT__BOUNDARY_CLAMP:
        return (struct along){(at < 0 ? 0 : size - 1) - position, length, true, false};
    default:
        return (struct along){0, length, false, true};
    }
}

int64_t weft__displaced_rows(const weft__object_operand *operands, uint32_t count, int64_t columns)
{
    int64_t bytes = 0;
    for (uint32_t k = 0; k < count; k++)
        if ((operands[k].flags & WEFT__OPERAND_READ) != 0)
            bytes += columns << operands[k].size;
    return bytes == 0 || KEPT_BYTES / bytes == 0 ? 1 : KEPT_BYTES / bytes;
}

void weft__displace_columns(const weft__native *native, const weft__launch *launch,
                            weft__patch *patch)
{
    const int32_t last = launch->ndim - 1;
    const int64_t first = patch->position[last], size = launch->size[last];
    for (uint32_t k = 0; k < native->header.displaced_count; k++) {
        const weft__object_displaced *displaced = &native->displaced[k];
        if (displaced->offset[last] == 0 || displaced->boundary == WEFT__BOUNDARY_CLAMP)
            continue;
        const int64_t offset = offset_along(displaced, last, size);
        const int64_t length = look(displaced, last, first, size).length;
        const bool inside = first + offset >= 0 && first + offset < size;
        if (inside ? patch->columns - length >= WIDE : length >= WIDE)
            patch->columns = least(patch->columns, length);
    }
}

/* The columns of the patch for which a displaced one is inside. */
static void narrow(weft__patch *patch, int64_t first, int64_t size, int64_t offset)
{
    const int64_t begin = -offset - first, end = size - offset - first;
    if (begin > patch->begin)
        patch->begin = least(begin, patch->columns);
    if (end < patch->end)
        patch->end = end < 0 ? 0 : end;
}

/* Along the columns. */
static void place(const weft__launch *launch, const weft__object_displaced *displaced,
                  weft__patch *patch, weft__patch_displaced *to, const weft__patch_operand *own)
{
    const int32_t last = launch->ndim - 1;
    const int64_t first = patch->position[last], size = launch->size[last];
    int64_t offset = offset_along(displaced, last, size);
    const struct along columns = look(displaced, last, first, size);
    const bool beyond = first + offset < 0 || first + offset >= size;
    if (beyond && columns.length >= patch->columns && !columns.constant) {
        if (columns.outside) {
            to->operand = *own;
            to->inside = 0;
            return;
        }
        offset = columns.distance;
    }
    to->operand.data += offset * own->column;
    to->offset = offset;
    if (displaced->offset[last] != 0)
        narrow(patch, first, size, offset);
}

/* Returns for how many rows this holds. */
static int64_t displace(const weft__launch *launch, const weft__object_displaced *displaced,
                        weft__patch *patch, weft__patch_displaced *to)
{
    const weft__patch_operand *own = &patch->operands[displaced->operand];
    weft__patch_operand *operand = &to->operand;
    const weft__argument *argument = &weft__launch_arguments_of(launch)[displaced->operand];
    int64_t rows = patch->rows;
    bool outside = false;
    *operand = *own;
    to->offset = 0;
    for (int32_t k = 0; k < launch->ndim - 1; k++) {
        if (displaced->offset[k] == 0)
            continue;
        const struct along along = look(displaced, k, patch->position[k], launch->size[k]);
        operand->data += along.distance * argument->stride[k];
        outside |= along.outside;
        if (k == launch->ndim - 2) {
            rows = least(rows, along.length);
            operand->row = along.constant ? 0 : operand->row;
        }
    }
    to->inside = !outside;
    if (outside)
        *operand = *own;
    else
        place(launch, displaced, patch, to, own);
    return rows;
}

int64_t weft__displace(const weft__native *native, const weft__launch *launch, weft__patch *patch)
{
    void *first = &patch->operands[native->header.operands_count];
    int64_t rows = patch->rows;
    patch->begin = 0;
    patch->end = patch->columns;
    patch->size = launch->size[launch->ndim - 1];
    for (uint32_t k = 0; k < native->header.displaced_count; k++) {
        patch->rows = rows;
        rows = displace(launch, &native->displaced[k], patch, (weft__patch_displaced *)first + k);
    }
    if (patch->end < patch->begin)
        patch->begin = patch->end = patch->columns;
    return patch->rows = rows;
}
