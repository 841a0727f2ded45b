"""The reference: a whole program in NumPy. Exact operations bit by bit, the others as functions.py says."""

import numpy as np

import complexes
import functions
import operations
from dtypes import COMPLEX_RANK, FLOAT, RANK, STORAGE
from folds import reduce
from program import folded_axes
from values import Value, convert, load, number, store


class Counts:
    """How much was compared, and how."""

    def __init__(self):
        self.exact = self.bounded = self.unchecked = 0


def joined(value):
    """A complex value as NumPy has it, NaNs and all."""
    real, imaginary = np.broadcast_arrays(*value.parts)
    result = np.empty(real.shape, dtype=STORAGE[value.dtype])
    result.real, result.imag = real, imaginary
    return result


class Evaluation:
    """One program on copies of its memories. `call(name, arrays)` is the library's function of plain arrays."""

    def __init__(self, program, call, counts):
        self.program, self.call, self.counts = program, call, counts
        self.memories = [memory.data.copy() for memory in program.memories]
        self.assigned, self.written = {}, {}  # operand number: Value as stored, and what memory gets
        self.locals = {}
        self.result = None

    def run(self):
        with np.errstate(all="ignore"):
            for statement in self.program.statements:
                self.run_statement(statement)
            self.write()
        return self

    def run_statement(self, statement):
        node, target = statement.node, statement.target
        if target[0] == "local":
            deferred = node.open and not node.shape  # an index() that waits for the array it is used with
            here = node, dict(self.assigned), dict(self.locals)
            self.locals[target[1]] = here if deferred else self.value(node, node.shape)
            return
        if target[0] == "value":
            self.result = node.dtype, node.shape, self.stored(self.value(node, node.shape), node.dtype, node.shape)[1]
            return
        dtype, shape = statement.stored_type
        value = self.value(node, shape)
        self.assigned[target[1]], self.written[target[1]] = self.stored(value, dtype, shape)

    def stored(self, value, dtype, shape):
        """What memory holds after an assignment: rounded, of the target's shape, with canonical NaNs."""
        value = convert(value, dtype)
        raw = np.ascontiguousarray(np.broadcast_to(store(value), shape)).reshape(shape)
        return load(dtype, raw), raw

    def write(self):
        """Stores what was assigned last to each operand, in the order of those assignments."""
        last = {}
        for position, statement in enumerate(self.program.statements):
            if statement.target[0] == "operand":
                last[statement.target[1]] = position
        self.handles = {}
        for operand_number in sorted(last, key=last.get):
            operand = self.program.operands[operand_number]
            stored = self.written[operand_number]
            if operand.kind == "handle":
                self.handles[operand_number] = operand.dtype, stored.shape, stored
                continue
            view = operand.view(self.memories[self.program.memories.index(operand.memory)])
            view[...] = stored

    # Nodes.

    def value(self, node, shape):
        return getattr(self, "value_of_" + node.kind)(node, shape)

    def value_of_literal(self, node, shape):
        return number(node.dtype, node.facts["value"])

    def value_of_operand(self, node, shape):
        position = node.facts["number"]
        operand = self.program.operands[position]
        if operand.kind == "number":
            return number(node.dtype, operand.value)
        if position in self.assigned:
            return self.assigned[position]
        return load(operand.dtype, operand.view(operand.memory.data))

    def value_of_local(self, node, shape):
        found = self.locals[node.name]
        if isinstance(found, Value):
            return found
        now = self.assigned, self.locals
        definition, self.assigned, self.locals = found
        value = self.value(definition, shape)
        self.assigned, self.locals = now
        return value

    def value_of_cast(self, node, shape):
        return convert(self.value(node.arguments[0], shape), node.dtype, explicit=True)

    def value_of_index(self, node, shape):
        axis = node.facts["axis"] % len(shape)
        along = np.arange(shape[axis], dtype=np.int64)
        return Value("i64", [along.reshape((-1,) + (1,) * (len(shape) - 1 - axis))])

    def value_of_map(self, node, shape):
        arguments = [self.value(argument, shape) for argument in node.arguments]
        common = node.facts["common"]
        if node.name in ("where", "choose"):
            return self.select(node, arguments)
        if node.name == "positive" and arguments[0].dtype == common:
            return arguments[0]
        if node.name in ("real", "conj") and RANK[common] == FLOAT:
            return convert(arguments[0], common)
        arguments = [convert(argument, common) for argument in arguments]
        parts = operations.exact(node.name, common, arguments)
        if parts is None:
            parts = self.function(node, arguments)
        moved = operations.part_moved(node.name, arguments[0]) if RANK[common] == COMPLEX_RANK else (None, None)
        return Value(node.dtype, [np.asarray(part) for part in parts], moved)

    def select(self, node, arguments):
        condition = convert(arguments[0], "bool").parts[0]
        chosen, other = [convert(argument, node.dtype) for argument in arguments[1:]]
        return Value(node.dtype, [np.where(condition, x, y) for x, y in zip(chosen.parts, other.parts)])

    def function(self, node, arguments):
        """A function with an error bound."""
        if RANK[node.facts["common"]] == COMPLEX_RANK:
            return self.complex_function(node.name, arguments)
        return [self.real_function(node.name, [argument.parts[0] for argument in arguments])]

    def real_function(self, name, parts):
        parts = [np.asarray(part) for part in np.broadcast_arrays(*parts)]
        given = self.call(name, parts)
        self.counts.bounded += functions.check(name, parts, given)
        return given

    def complex_function(self, name, arguments):
        if name == "abs":
            return [self.magnitude(arguments[0])]
        if name == "arg":
            return [self.real_function("atan2", arguments[0].parts[::-1])]
        numbers = [np.asarray(part) for part in np.broadcast_arrays(*[joined(argument) for argument in arguments])]
        given = self.call(name, numbers)
        compared, left = complexes.check(name, numbers, given)
        self.counts.bounded += compared
        self.counts.unchecked += left
        return [given.real.copy(), given.imag.copy()]

    def magnitude(self, value):
        if RANK[value.dtype] == COMPLEX_RANK:
            return self.real_function("hypot", value.parts)
        return np.abs(value.parts[0])

    def value_of_fold(self, node, shape):
        argument, = node.arguments
        value = self.value(argument, argument.shape)
        value = Value(value.dtype, [np.broadcast_to(part, argument.shape) for part in value.parts])
        return reduce(node, value, folded_axes(node), self.magnitude)

    def value_of_stencil(self, node, shape):
        array = self.value_of_operand(node, shape)
        if node.name == "shift":
            return self.shift(node, array, node.facts["offsets"])
        ndim = len(node.shape)
        if node.name == "laplacian":
            return self.laplacian(node, array, ndim)
        offsets = [0] * ndim
        forward = node.name == "forward_diff"
        offsets[node.facts["axis"]] = 1 if forward else -1
        neighbour = self.shift(node, array, offsets)
        pair = (neighbour, array) if forward else (array, neighbour)
        return self.combine("subtract", node.dtype, *pair)

    def combine(self, name, dtype, x, y):
        return Value(dtype, operations.exact(name, dtype, [x, y]))

    def laplacian(self, node, array, ndim):
        weak = "c128" if RANK[node.dtype] == COMPLEX_RANK else "f64" if RANK[node.dtype] == FLOAT else "i64"
        result = self.combine("multiply", node.dtype, convert(number(weak, 2 * ndim), node.dtype), array)
        for axis in range(ndim):
            for distance in (1, -1):
                offsets = [0] * ndim
                offsets[axis] = distance
                result = self.combine("subtract", node.dtype, result, self.shift(node, array, offsets))
        return result

    def shift(self, node, array, offsets):
        """The element at i + offset; outside, what the boundary says."""
        sizes = node.shape
        offsets = list(offsets) + [0] * (len(sizes) - len(offsets))
        boundary = node.facts["boundary"] or "unshifted"
        if not any(offsets):
            return array
        inside = np.ones(sizes, dtype=bool)
        positions = []
        for axis, (size, offset) in enumerate(zip(sizes, offsets)):
            at = np.arange(size, dtype=np.int64) + offset
            within = (at >= 0) & (at < size)
            inside &= within.reshape((-1,) + (1,) * (len(sizes) - 1 - axis))
            positions.append(at % size if boundary == "wrap" and size else np.clip(at, 0, max(size - 1, 0)))
        moved = array.map(lambda part: part[np.ix_(*positions)])
        if boundary in ("clamp", "wrap"):
            return moved
        if node.arguments or boundary == "zero":
            outside = self.outside(node, array)
            return Value(node.dtype, [np.where(inside, x, y) for x, y in zip(moved.parts, outside.parts)])
        raw = np.where(inside, moved.raw, array.raw) if moved.raw is not None else None
        parts = [np.where(inside, x, y) for x, y in zip(moved.parts, array.parts)]
        return Value(node.dtype, parts, array.moved, raw)

    def outside(self, node, array):
        if node.arguments:
            return convert(self.value(node.arguments[0], ()), node.dtype)
        return Value(node.dtype, [np.zeros((), dtype=part.dtype) for part in array.parts])
