"""Reductions in NumPy, element by element in the order that docs/semantics.md fixes."""

import numpy as np

from dtypes import COMPLEX, RANK, FLOAT, VALUE
from values import Value, convert, round_narrow

CHUNK, LANES, RUN = 4096, 128, 64


def in_order(f, slots, rows):
    """slots[k] = f(...f(rows[0][k], rows[1][k])...); the last row may be shorter."""
    for row in rows:
        width = row[0].shape[-1]
        joined = f([part[..., :width] for part in slots], row)
        if width == slots[0].shape[-1]:
            slots = joined
        else:
            slots = [np.concatenate((new, old[..., width:]), axis=-1) for new, old in zip(joined, slots)]
    return slots


def halve(f, slots):
    """Slots along the last axis by halving over the next power of two; what is missing is skipped."""
    count = slots[0].shape[-1]
    half = 1
    while half < count:
        half *= 2
    while half > 1:
        half //= 2
        pairs = count - half
        if pairs > 0:
            joined = f([part[..., :pairs] for part in slots], [part[..., half:count] for part in slots])
            rest = [part[..., pairs:half] for part in slots]
            slots = [np.concatenate((new, old), axis=-1) if old.shape[-1] else new for new, old in zip(joined, rest)]
            count = half
    return [part[..., 0] for part in slots]


def fold_chunk(f, parts):
    """One chunk, or several of one size: lanes take every 128th element, then they are halved."""
    length = parts[0].shape[-1]
    rows = [[part[..., k:k + LANES] for part in parts] for k in range(0, length, LANES)]
    return halve(f, in_order(f, rows[0], rows[1:]))


def fold_run(f, parts):
    length = parts[0].shape[-1]
    rows = [[part[..., k:k + 1] for part in parts] for k in range(length)]
    return [part[..., 0] for part in in_order(f, rows[0], rows[1:])]


def fold_pieces(f, parts, size, fold_piece):
    """Pieces of `size` elements, then what they gave by halving."""
    length = parts[0].shape[-1]
    whole = length // size * size
    pieces = []
    if whole:
        cut = [part[..., :whole].reshape(part.shape[:-1] + (whole // size, size)) for part in parts]
        pieces.append(fold_piece(f, cut))
    if whole < length:
        pieces.append([part[..., None] for part in fold_piece(f, [part[..., whole:] for part in parts])])
    slots = pieces[0] if len(pieces) == 1 else [np.concatenate(both, axis=-1) for both in zip(*pieces)]
    return halve(f, slots)


def fold(f, parts, axes, neutral):
    """Folds arrays over axes; the result has the axes that are left. f takes and gives lists of parts."""
    shape = parts[0].shape
    left = [k for k in range(len(shape)) if k not in axes]
    ordered = sorted(axes)
    count = int(np.prod([shape[k] for k in ordered], dtype=np.int64))
    left_shape = tuple(shape[k] for k in left)
    if count == 0:
        return [np.full(left_shape, number, dtype=part.dtype) for part, number in zip(parts, neutral)]
    flat = [part.transpose(left + ordered).reshape(left_shape + (count,)) for part in parts]
    last = not shape or len(shape) - 1 in axes
    if last:
        return fold_pieces(f, flat, CHUNK, fold_chunk)
    return fold_pieces(f, flat, RUN, fold_run)


def minimum(x, y):
    return np.where((x < y) | (x != x), x, y)


def maximum(x, y):
    return np.where((x > y) | (x != x), x, y)


def argument_of(less):
    """Of (value, position) pairs, the one that wins."""
    def combine(a, b):
        (x, i), (y, j) = a, b
        x_missing, y_missing = x != x, y != y
        second = less(y, x) | (y_missing & ~x_missing)
        tie = (x == y) | (x_missing & y_missing)
        second = np.where(tie, j < i, second)
        return [np.where(second, y, x), np.where(second, j, i)]
    return combine


def product(a, b):
    (ar, ai), (br, bi) = a, b
    return [ar * br - ai * bi, ar * bi + ai * br]


def one(f):
    return lambda a, b: [f(a[0], b[0])]


def fold_sum(value, axes):
    return [fold(one(np.add), [part], axes, [0])[0] for part in value.parts]


def spread(parts, shape, axes):
    """Results with the folded axes put back, with size 1."""
    kept = tuple(1 if k in axes else n for k, n in enumerate(shape))
    return [part.reshape(kept) for part in parts]


def fold_mean(value, axes, count):
    divisor = value.parts[0].dtype.type(count)
    return [part / divisor for part in fold_sum(value, axes)]


def fold_variance(node, value, axes, count):
    mean, = spread(fold_mean(value, axes, count), value.parts[0].shape, axes)
    difference = value.parts[0] - mean
    total, = fold(one(np.add), [difference * difference], axes, [0])
    divisor = total.dtype.type(max(count - (node.facts.get("correction") or 0), 0))
    result = total / divisor
    return [np.sqrt(result) if node.name == "std" else result]


def fold_norm(node, value, axes, magnitude):
    order = node.facts.get("order")
    x = value.parts[0]
    if order in (None, 2):
        square = x * x
        if value.dtype in COMPLEX:
            square = square + value.parts[1] * value.parts[1]
        return [np.sqrt(fold(one(np.add), [square], axes, [0])[0])]
    size = magnitude(value)
    return fold(one(np.add if order == 1 else maximum), [size], axes, [0])


def fold_position(node, value, axes):
    less = np.less if node.name == "argmin" else np.greater
    shape = value.parts[0].shape
    ordered = sorted(axes)
    sizes = [shape[k] for k in ordered]
    position = np.arange(int(np.prod(sizes, dtype=np.int64)), dtype=np.int64).reshape(sizes)
    position = position.reshape([shape[k] if k in axes else 1 for k in range(len(shape))])
    pairs = [value.parts[0], np.broadcast_to(position, shape)]
    return [fold(argument_of(less), pairs, axes, [0, 0])[1]]


def fold_parts(node, value, axes, count, magnitude):
    name, x = node.name, value.parts[0]
    if name == "sum":
        return fold_sum(value, axes)
    if name == "prod":
        if value.dtype in COMPLEX:
            return fold(product, value.parts, axes, [1, 0])
        return fold(one(np.multiply), [x], axes, [1])
    if name in ("min", "max"):
        return fold(one(minimum if name == "min" else maximum), [x], axes, [0])
    if name in ("any", "all"):
        return fold(one(np.logical_or if name == "any" else np.logical_and), [x], axes, [name == "all"])
    if name == "mean":
        return fold_mean(value, axes, count)
    if name in ("var", "std"):
        return fold_variance(node, value, axes, count)
    if name == "norm":
        return fold_norm(node, value, axes, magnitude)
    return fold_position(node, value, axes)


def reduce(node, value, axes, magnitude):
    """The reduction of a fold node; `value` has the whole shape. `magnitude` gives absolute values."""
    value = convert(value, node.facts["common"])
    shape = value.parts[0].shape
    count = int(np.prod([shape[k] for k in axes], dtype=np.int64))
    parts = fold_parts(node, value, axes, count, magnitude)
    if node.facts["keep"]:
        parts = spread(parts, shape, axes)
    if node.dtype in ("f16", "bf16"):
        parts = [round_narrow(part, node.dtype) for part in parts]
    if RANK[node.dtype] >= FLOAT:
        assert parts[0].dtype == VALUE[node.dtype], (node.name, parts[0].dtype)
    return Value(node.dtype, [np.asarray(part) for part in parts])
