"""Random programs: one seed, one program."""

import random

import numpy as np

from dtypes import (BOOL, BYTES, COMPLEX, COMPLEX_RANK, FLOAT, FLOATS, INTEGER, INTEGERS, Invalid, NAMES, RANK, STORAGE,
                    VALUE, combine, integer_range, is_assignable)
from program import (FOLDS, FUNCTIONS, Memory, Node, OPERATORS, Operand, PREFIXES, Program, Statement, STENCILS, Types,
                     annotate, check, check_statement)

SIZES = (1, 1, 2, 2, 3, 3, 4, 5, 7, 8, 9, 13, 16, 17, 31, 32, 33, 63, 64, 65, 100, 127, 128, 129, 200, 255, 257)
DTYPE_WEIGHTS = {"f32": 8, "f64": 5, "i32": 4, "bool": 3, "c64": 2, "c128": 2}
RANK_WEIGHTS = ((FLOAT, 10), (INTEGER, 7), (BOOL, 3), (COMPLEX_RANK, 3))
# Functions of very many primitives, which take long to compile, are rarer: of floats, and of complex numbers.
EXPENSIVE = "tgamma lgamma pow erf logaddexp fmod remainder sin cos tan asinh acosh atanh".split()
EXPENSIVE_COMPLEX = ("pow exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh "
                     "divide sqrt sign arg abs").split()


def share(name, rank):
    """How often an operation is chosen, among others."""
    if rank == COMPLEX_RANK:
        return 0.12 if name in EXPENSIVE_COMPLEX else 1
    return 0.35 if name in EXPENSIVE and rank == FLOAT else 1


def by_weight(choose, pairs):
    """One of (item, weight) pairs."""
    at = choose.random() * sum(weight for _, weight in pairs)
    for item, weight in pairs:
        at -= weight
        if at < 0:
            return item
    return pairs[-1][0]


class Data:
    """Elements: special ones, small and large, and any bits at all."""

    def __init__(self, seed):
        self.random = np.random.Generator(np.random.PCG64(seed))

    def array(self, dtype, shape, mood):
        if dtype == "bool":
            bits = self.random.integers(0, 2, shape, np.uint8)
            return bits if mood else self.random.integers(0, 256, shape, np.uint8) * bits
        if RANK[dtype] == INTEGER:
            return self.integers(dtype, shape, mood)
        if dtype in COMPLEX:
            part = VALUE[dtype]
            pair = self.floats(part, tuple(shape) + (2,), mood)
            return np.ascontiguousarray(pair).view(STORAGE[dtype])[..., 0]
        if dtype in ("f16", "bf16"):
            return self.narrow(dtype, shape, mood)
        return self.floats(VALUE[dtype], shape, mood)

    def integers(self, dtype, shape, mood):
        low, high = integer_range(dtype)
        if mood == 1:
            return self.random.integers(max(low, -9), 10, shape).astype(VALUE[dtype])
        data = self.random.integers(low, high, shape, dtype=VALUE[dtype], endpoint=True)
        if mood == 0:
            corners = np.array([low, low + 1, high, high - 1, 0, 1, 2, 8 * BYTES[dtype], 3], dtype=VALUE[dtype])
            corners = np.append(corners, corners[5:6] - corners[6:7])
            chosen = corners[self.random.integers(0, len(corners), shape)]
            data = np.where(self.random.random(shape) < 0.4, chosen, data)
        return data

    def floats(self, value, shape, mood):
        data = self.random.standard_normal(shape, dtype=value)
        if mood == 1:
            return data
        if mood == 2:
            return np.rint(data * 4).astype(value) / value.type(2)
        wide = value == np.float64
        spread = self.random.integers(-12, 13, shape)
        data = np.ldexp(data, spread).astype(value)
        if mood == 3:
            return data
        bits = self.random.integers(0, 1 << (64 if wide else 32), shape, dtype=np.uint64 if wide else np.uint32)
        info = np.finfo(value)
        tiny = float(info.smallest_subnormal)
        special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, info.max, -info.max, info.tiny, tiny, -tiny, 1, -1, 0.5,
                            1.5, 2.5, 255.5, 256, 65504, 65520, 2.0**31, 2.0**32, -2.0**31, 2.0**63, -2.0**63, 2.0**64],
                           dtype=value)
        kind = self.random.random(shape)
        data = np.where(kind < 0.2, special[self.random.integers(0, len(special), shape)], data)
        return np.where(kind > 0.9, bits.view(value), data)

    def narrow(self, dtype, shape, mood):
        if mood == 0:
            bits = self.random.integers(0, 1 << 16, shape, dtype=np.uint16)
            small = self.narrow(dtype, shape, 1)
            return np.where(self.random.random(shape) < 0.5, bits, small)
        data = self.floats(np.dtype(np.float32), shape, mood)
        if dtype == "f16":
            return data.astype(np.float16).view(np.uint16)
        return (np.asarray(data).view(np.uint32) >> np.uint32(16)).astype(np.uint16)


class Generator:
    def __init__(self, seed, possible):
        """`possible(name, rank)` says whether the library computes an operation on that kind."""
        self.seed, self.possible = seed, possible
        self.choose = random.Random(seed)
        self.data = Data(seed & (1 << 64) - 1)
        choose = self.choose
        site = 4096 * choose.randrange(16) if choose.random() < 0.4 else None
        self.program = Program(seed, choose.random() < 0.4, site)
        self.mood = choose.choice((0, 0, 0, 1, 1, 2, 3))
        self.types = Types(self.program.operands)
        self.budget = by_weight(choose, ((2, 5), (4, 7), (8, 4), (25, 0.7)))
        self.unread = []  # locals that nothing reads yet
        self.inside_fold = 0
        self.limit = by_weight(choose, ((60, 25), (400, 28), (3000, 12), (12000, 4), (25000, 1), (150000, 0.12)))
        if self.limit > 3000:
            self.budget = min(self.budget, 6)

    # Shapes.

    def shape(self):
        choose = self.choose
        ndim = by_weight(choose, ((0, 2), (1, 8), (2, 10), (3, 6), (4, 3), (5, 1), (8, 1)))
        if self.limit > 3000 and ndim:
            ndim = min(ndim, 3)
            sizes = [self.limit // choose.randrange(1, 4)]
            while len(sizes) < ndim:
                size = choose.choice((2, 3, 7, 64, 65, 129))
                sizes[0] = max(1, sizes[0] // size)
                sizes.append(size)
            choose.shuffle(sizes)
            return tuple(sizes)
        sizes, left = [], self.limit
        for _ in range(ndim):
            size = choose.choice(SIZES)
            size = size if size <= left else choose.randint(1, max(1, left))
            sizes.append(size)
            left //= max(size, 1)
        if sizes and choose.random() < 0.03:
            sizes[choose.randrange(ndim)] = 0
        if choose.random() < 0.15 and ndim == 1:
            sizes[0] = choose.choice((self.limit, self.limit - 1))
        choose.shuffle(sizes)
        return tuple(sizes)

    def part_of(self, shape):
        """A shape that broadcasts to `shape`."""
        choose = self.choose
        if choose.random() < 0.7:
            return shape
        sizes = [1 if choose.random() < 0.3 else size for size in shape]
        return tuple(sizes[choose.randint(0, len(sizes)):]) if choose.random() < 0.4 else tuple(sizes)

    # Operands.

    def dtype(self, rank):
        names = {BOOL: ("bool",), INTEGER: INTEGERS, FLOAT: FLOATS, COMPLEX_RANK: COMPLEX}[rank]
        return by_weight(self.choose, [(name, DTYPE_WEIGHTS.get(name, 2)) for name in names])

    def name(self):
        number = len(self.program.operands)
        letter = "abcdefghklmnopq"[number] if number < 15 else "x%d" % number
        return self.choose.choice(("%s", "%s", "%s", "s->%s", "p.%s", "v[%s]")) % letter

    def add(self, operand):
        self.program.operands.append(operand)
        return len(self.program.operands) - 1

    def slices(self, sizes, room):
        """A slice along each axis that gives `sizes` elements of `room`."""
        choose, found = self.choose, []
        for size, space in zip(sizes, room):
            steps = [step for step in (1, 1, 1, 2, 3, -1, -1, -2) if size == 0 or (size - 1) * abs(step) < space]
            if not steps:
                return None
            step = choose.choice(steps)
            if size == 0:
                found.append(slice(0, 0, 1))
                continue
            reach = (size - 1) * abs(step)
            start = choose.randint(0, space - 1 - reach)
            if step < 0:
                stop = start - 1
                found.append(slice(start + reach, stop if stop >= 0 else None, step))
            else:
                found.append(slice(start, start + reach + 1, step))
        return found

    def view_steps(self, shape, room):
        """Steps that lead from memory of shape `room` to a view of shape `shape`, or None."""
        if len(room) != len(shape):
            return None
        order = list(range(len(shape)))
        if self.choose.random() < 0.35:
            self.choose.shuffle(order)
        slices = self.slices([shape[order.index(k)] for k in range(len(shape))], room)
        if slices is None:
            return None
        steps = [("slice", slices)] if slices else []
        if order != sorted(order):
            steps.append(("permute", order))
        return steps

    def new_memory(self, dtype, shape):
        """Memory with room around a view of `shape`, and the steps to the view."""
        choose = self.choose
        plain = choose.random() < 0.45
        order = list(range(len(shape)))
        if not plain and choose.random() < 0.35:
            choose.shuffle(order)
        room, slices = [], []
        for k in range(len(shape)):
            size = shape[order.index(k)]
            step = 1 if plain else choose.choice((1, 1, 1, 1, 2, 3, -1, -1, -2))
            before, after = (0, 0) if plain else (choose.choice((0, 0, 1, 2)), choose.choice((0, 0, 1, 3)))
            reach = max(size - 1, 0) * abs(step)
            room.append(before + reach + 1 + after if size else before + after)
            if size == 0:
                slices.append(slice(0, 0, 1))
            elif step > 0:
                slices.append(slice(before, before + reach + 1, step))
            else:
                slices.append(slice(before + reach, before - 1 if before else None, step))
        steps = [] if plain or not slices else [("slice", slices)]
        if order != sorted(order):
            steps.append(("permute", order))
        memory = Memory(dtype, np.ascontiguousarray(self.data.array(dtype, tuple(room), self.mood)))
        memory.data = memory.data.reshape(room)
        self.program.memories.append(memory)
        return memory, steps

    def alias(self, dtype, shape):
        """A view of memory that is there already."""
        choose = self.choose
        found = [m for m in self.program.memories if m.dtype == dtype or
                 (self.program.lent and BYTES[m.dtype] == BYTES[dtype] and not {m.dtype, dtype} & {"c64", "c128", "bool"})]
        choose.shuffle(found)
        for memory in found:
            steps = self.view_steps(shape, memory.data.shape)
            if steps is not None:
                if memory.dtype != dtype:
                    steps = [("cast", STORAGE[dtype])] + steps
                return memory, steps
        return None

    def new_array(self, dtype, shape, output):
        choose = self.choose
        stored = shape
        if not output and choose.random() < 0.12:  # repeated elements
            stored = tuple(1 if choose.random() < 0.4 else size for size in shape)
            stored = stored[choose.randint(0, len(stored)):] if choose.random() < 0.3 else stored
        found = self.alias(dtype, stored) if choose.random() < 0.3 else None
        memory, steps = found or self.new_memory(dtype, stored)
        if stored != shape:
            steps = steps + [("broadcast", shape)]
        kind = "array" if output or choose.random() < 0.7 else "input"
        operand = Operand(self.name(), kind, dtype, memory=memory, steps=steps, shape=shape)
        assert operand.view(memory.data).shape == shape, (operand.view(memory.data).shape, shape, steps)
        return self.add(operand)

    def new_number(self, rank):
        choose = self.choose
        dtype = {BOOL: "bool", INTEGER: choose.choice(INTEGERS), FLOAT: choose.choice(("f32", "f64")),
                 COMPLEX_RANK: choose.choice(COMPLEX)}[rank]
        element = self.data.array(dtype, (), self.mood)
        value = element[()].item() if rank != BOOL else bool(element)
        return self.add(Operand(self.name(), "number", dtype, value=value))

    def is_writable(self, operand):
        return operand.kind == "array" and not any(kind == "broadcast" for kind, _ in operand.steps)

    # Leaves.

    def node(self, kind, name=None, arguments=(), **facts):
        return annotate(Node(kind, name, arguments, **facts), self.types)

    def leaf(self, rank, shape):
        choose = self.choose
        kind = by_weight(choose, (("array", 10), ("literal", 2), ("number", 1), ("local", 3), ("index", 0.7)))
        if kind == "literal":
            return self.literal(rank)
        if kind == "number" and len(self.program.operands) < 9:
            return self.node("operand", number=self.new_number(rank))
        if kind == "local":
            for name, value in self.types.locals.items():
                if RANK[value.dtype] == rank and fits(value.shape, shape) and not value.weak:
                    if not value.open or shape:
                        return self.read_local(name)
        if kind == "index" and rank == INTEGER and shape:
            return self.node("index", axis=choose.randrange(-len(shape), len(shape)))
        return self.array(rank, shape)

    def read_local(self, name):
        if name in self.unread:
            self.unread.remove(name)
        return self.node("local", name)

    def array(self, rank, shape):
        choose = self.choose
        found = []
        for number, operand in enumerate(self.program.operands):
            if operand.kind == "number" or (operand.kind == "handle" and number not in self.types.assigned):
                continue
            dtype, own = self.types.operand(number)
            if RANK[dtype] == rank and fits(own, shape):
                found.append(number)
        if found and (choose.random() < 0.6 or len(self.program.operands) > 8):
            return self.node("operand", number=choose.choice(found))
        if len(self.program.operands) > 11:
            return self.literal(rank)
        return self.node("operand", number=self.new_array(self.dtype(rank), self.part_of(shape), False))

    def literal(self, rank):
        choose = self.choose
        if rank == BOOL:
            value = choose.random() < 0.5
            return self.node("literal", text="true" if value else "false", dtype="bool", weak=True, value=value)
        if rank == INTEGER:
            return self.integer_literal()
        return self.real_literal(rank)

    def integer_literal(self):
        choose = self.choose
        value = choose.choice((0, 1, 2, 3, 5, 7, 8, 31, 100, 127))
        if choose.random() < 0.05:
            value = choose.getrandbits(choose.randrange(1, 65))
        text = choose.choice(("%d", "%d", "%d", "%#x", "%#o"))
        text = "0b" + bin(value)[2:] if choose.random() < 0.05 else (text % value).replace("0o", "0")
        if choose.random() < 0.1:
            suffix, dtype = choose.choice((("u", "u32" if value < 1 << 32 else "u64"), ("ul", "u64"), ("l", "i64")))
            if value < 1 << 63 or suffix != "l":
                return self.node("literal", text=text + suffix, dtype=dtype, weak=False, value=value)
        if choose.random() < 0.2 and value < 128:
            return self.node("literal", text="-" + text, dtype="i64", weak=True, value=-value)
        return self.node("literal", text=text, dtype="i64" if value < 1 << 63 else "u64", weak=True, value=value)

    def real_literal(self, rank):
        choose = self.choose
        value = choose.choice((0.0, 1.0, 2.0, 0.5, 1.5, 0.1, 3.0, 1e-3, 1e3, 0.7))
        if choose.random() < 0.2:
            value = choose.uniform(-1, 1) * 10.0 ** choose.randint(-8, 8)
            value = abs(value)
        text = value.hex() if choose.random() < 0.1 else repr(value)
        if rank == COMPLEX_RANK:
            return self.node("literal", text=text + "i", dtype="c128", weak=True, value=complex(0, value))
        kind = choose.random()
        if kind < 0.1:
            name, value = choose.choice((("pi", np.pi), ("inf", np.inf), ("nan", np.nan)))
            return self.node("literal", text=name, dtype="f64", weak=True, value=value)
        if kind < 0.25:
            value = float(np.float32(value))
            text = repr(value)
            return self.node("literal", text=text + "f", dtype="f32", weak=False, value=value)
        if kind < 0.3:
            return self.node("literal", text=text + "l", dtype="f64", weak=False, value=value)
        return self.node("literal", text=text, dtype="f64", weak=True, value=value)

    # Expressions.

    def expression(self, rank, shape, depth):
        """A value of a kind that can be computed beside an array of `shape`."""
        for _ in range(8):
            try:
                return self.attempt(rank, shape, depth)
            except Invalid:
                continue
        return self.array(rank, shape)

    def attempt(self, rank, shape, depth):
        choose = self.choose
        if depth <= 0 or self.budget <= 0 or choose.random() < 0.08:
            return self.leaf(rank, shape)
        self.budget -= 1
        form = by_weight(choose, (("operator", 10), ("function", 7), ("cast", 2), ("select", 2), ("fold", 3),
                                  ("stencil", 2)))
        node = getattr(self, "make_" + form)(rank, shape, depth - 1)
        if choose.random() < 0.1:
            node.facts["parentheses"] = True
        return node

    def other_rank(self, kinds):
        return by_weight(self.choose, [pair for pair in RANK_WEIGHTS if pair[0] in kinds])

    def make_operator(self, rank, shape, depth):
        choose = self.choose
        table = dict(OPERATORS)
        table.update({name: (sign, 0, kinds, result) for name, (sign, kinds, result) in PREFIXES.items()})
        return self.make_map(table, rank, shape, depth, lambda name: 1 if name in PREFIXES else 2)

    def make_function(self, rank, shape, depth):
        table = {name: (None, None, kinds, result) for name, (_, kinds, result) in FUNCTIONS.items()}
        return self.make_map(table, rank, shape, depth, lambda name: FUNCTIONS[name][0])

    def make_map(self, table, rank, shape, depth, arity):
        """An operation of the table whose result is of the kind."""
        choose = self.choose
        found = []
        for name, (_, _, kinds, result) in table.items():
            if result == "bool" and rank == BOOL:
                found += [(name, kind) for kind in kinds if self.possible(name, kind)]
            elif result != "bool" and rank in kinds and self.possible(name, rank):
                found.append((name, rank))
            if result == "real" and rank == FLOAT and self.possible(name, COMPLEX_RANK):
                found.append((name, COMPLEX_RANK))
        if not found:
            raise Invalid("no operation")
        name, kind = by_weight(choose, [(pair, share(*pair)) for pair in found])
        if name in EXPENSIVE and self.limit > 3000 and choose.random() < 0.8:
            raise Invalid("too much work")
        arguments = [self.expression(kind, shape, depth) for _ in range(arity(name))]
        if name.startswith("logical") and len(arguments) == 2:
            arguments[1] = self.expression(self.other_rank((BOOL, INTEGER, FLOAT)), shape, depth)
        self.reconcile(arguments)
        if len(arguments) == 1 and arguments[0].kind == "literal":  # "-1" is a literal itself
            raise Invalid("an operation on a literal alone")
        return self.node("map", name, arguments, short=choose.random() < 0.5)

    def reconcile(self, arguments):
        """Casts where two arguments have no common dtype."""
        for k in range(1, len(arguments)):
            try:
                combine((arguments[0].dtype, arguments[0].weak), (arguments[k].dtype, arguments[k].weak))
            except Invalid:
                arguments[k] = self.node("cast", None, [arguments[k]], dtype=arguments[0].dtype)

    def make_cast(self, rank, shape, depth):
        source = self.other_rank((BOOL, INTEGER, FLOAT) if rank != COMPLEX_RANK else (INTEGER, FLOAT, COMPLEX_RANK))
        argument = self.expression(source, shape, depth)
        return self.node("cast", None, [argument], dtype=self.dtype(rank))

    def make_select(self, rank, shape, depth):
        choose = self.choose
        name = choose.choice(("where", "choose"))
        kind = BOOL if name == "where" else self.other_rank((BOOL, INTEGER, FLOAT))
        condition = self.expression(kind, shape, depth)
        pair = [self.expression(rank, shape, depth), self.expression(rank, shape, depth)]
        self.reconcile(pair)
        return self.node("map", name, [condition] + pair)

    def make_fold(self, rank, shape, depth):
        """A reduction whose result broadcasts to `shape`."""
        choose = self.choose
        if self.inside_fold > 1:
            raise Invalid("folds in folds in folds")
        results = {"wide": {BOOL: INTEGER}, "position": {INTEGER: INTEGER, FLOAT: INTEGER},
                   "real": {COMPLEX_RANK: FLOAT}}
        found = [(name, kind) for name, (kinds, result) in FOLDS.items() for kind in kinds
                 if (BOOL if result == "bool" else results.get(result, {}).get(kind, kind)) == rank
                 and self.possible(name, kind)]
        if not found:
            raise Invalid("no reduction")
        name, kind = choose.choice(found)
        inner, axes, keep = self.folded(name, shape)
        self.inside_fold += 1
        argument = self.expression(kind, inner, depth)
        self.inside_fold -= 1
        if argument.weak or argument.shape != inner:  # the axes are those of the whole shape
            whole = self.node("operand", number=self.new_array(self.dtype(kind), inner, False))
            if argument.weak or choose.random() < 0.5 or not self.possible("where", kind):
                argument = whole
            else:
                pair = [whole, argument]
                self.reconcile(pair)
                condition = self.expression(BOOL, inner, 1)
                argument = self.node("map", "where", [condition] + pair)
        facts = {}
        if name in ("var", "std") and choose.random() < 0.4:
            facts["correction"] = choose.choice((0, 1, 2, 100))
        if name == "norm" and choose.random() < 0.6:
            facts["order"] = choose.choice((1, 2, "inf"))
            if RANK[argument.dtype] == COMPLEX_RANK and facts["order"] != 2 and not self.possible("abs", COMPLEX_RANK):
                facts["order"] = 2
        return self.node("fold", name, [argument], axes=axes, keep=keep, **facts)

    def folded(self, name, shape):
        """A shape to reduce, the axes, and whether they stay."""
        choose = self.choose
        position = name.startswith("arg")
        way = choose.random()
        if way < 0.4 and shape:
            count = 1 if position else choose.randint(1, len(shape))
            axes = choose.sample(range(len(shape)), count)
            if choose.random() < 0.2 and not position:
                return shape, None, True
            return shape, [axis - len(shape) if choose.random() < 0.3 else axis for axis in axes], True
        if way < 0.6 or len(shape) > 6:
            return self.shape(), None, False
        extra = choose.choice((1, 2, 3, 5, 17, 33, 64, 65, 100, 130, 300))
        total = int(np.prod(shape, dtype=np.int64))
        if total * extra > max(self.limit, 1000):
            extra = choose.choice((2, 3))
        inner = list(self.part_of(shape))
        axis = choose.randint(0, len(inner))
        inner.insert(axis, extra)
        return tuple(inner), [axis - len(inner) if choose.random() < 0.3 else axis], False

    def make_stencil(self, rank, shape, depth):
        choose = self.choose
        names = [name for name, kinds in STENCILS.items() if rank in kinds and self.possible(name, rank)]
        if not shape:
            raise Invalid("no axes")
        operand = self.array(rank, shape)
        if operand.kind != "operand" or not operand.shape:
            raise Invalid("no axes")
        facts = {"number": operand.facts["number"], "boundary": None}
        if not names:
            raise Invalid("no stencil")
        name = choose.choice(names)
        if name == "shift":
            far = choose.random() < 0.1
            count = choose.randint(1, len(operand.shape))
            facts["offsets"] = [choose.choice((0, 1, -1, 2, -2, 3)) if not far else choose.randint(-400, 400)
                                for _ in range(count)]
        elif name != "laplacian":
            facts["axis"] = choose.randrange(-len(operand.shape), len(operand.shape))
        arguments = []
        way = choose.random()
        if way < 0.15:
            arguments = [self.outside(rank)]
        elif way < 0.6:
            facts["boundary"] = choose.choice(("unshifted", "clamp", "wrap", "zero"))
        return self.node("stencil", name, arguments, **facts)

    def outside(self, rank):
        """The value= of a stencil: one number."""
        if self.choose.random() < 0.3:
            return self.node("operand", number=self.new_number(rank))
        return self.literal(rank)

    # Statements.

    def generate(self):
        choose = self.choose
        count = by_weight(choose, ((1, 14), (2, 6), (3, 2.5), (4, 1), (6, 0.4)))
        value = choose.random() < 0.2
        shape = self.shape()
        share = self.budget = max(self.budget // count, 1)
        for _ in range(count - value):
            self.budget = share
            if choose.random() < 0.25:
                shape = self.shape()
            self.statement(shape)
        self.budget = share
        if value:
            self.finish(Statement(("value",), self.use_locals(self.expression(self.any_rank(), shape, 4), shape)))
        elif not any(s.target[0] == "operand" for s in self.program.statements) or self.unread:
            self.assign(shape, self.use_locals(self.expression(self.any_rank(), shape, 3), shape))
        if not self.program.operands:
            self.program.site = None  # a call site has at least one
        return check(self.program)

    def any_rank(self):
        return by_weight(self.choose, RANK_WEIGHTS)

    def finish(self, statement):
        check_statement(statement, self.types)
        self.program.statements.append(statement)

    def use_locals(self, node, shape):
        """The value, computed from the locals that nothing has read, too."""
        for name in list(self.unread):
            value = self.types.locals[name]
            read = self.read_local(name)
            if RANK[value.dtype] != BOOL:
                read = self.node("map", "not_equal", [read, self.zero(value)])
            if not fits(value.shape, shape):
                if value.open:
                    raise Invalid("index beside no array")
                if read.weak:
                    continue
                read = self.node("fold", "any", [read], axes=None, keep=False)
            node = self.node("map", "where", [read, node, self.zero(node)])
        return node

    def zero(self, node):
        text, dtype = ("false", "bool") if node.dtype == "bool" else ("0", "i64")
        return self.node("literal", text=text, dtype=dtype, weak=True, value=0)

    def statement(self, shape):
        choose = self.choose
        depth = choose.randint(1, 5)
        if choose.random() < 0.25:
            self.local(shape, depth)
        else:
            self.assign(shape, self.expression(self.any_rank(), shape, depth))

    def local(self, shape, depth):
        choose = self.choose
        node = self.expression(self.any_rank(), shape, depth)
        names = [name for name, value in self.types.locals.items() if name not in self.unread and
                 RANK[value.dtype] in (INTEGER, FLOAT) and RANK[value.dtype] == RANK[node.dtype]]
        if names and choose.random() < 0.3:
            name = choose.choice(names)
            operator = choose.choice(("add", "subtract", "multiply"))
            try:
                node = self.node("map", operator, [self.node("local", name), node])
            except Invalid:
                return
            self.finish(Statement(("local", name), node, operator))
        else:
            name = "t%d" % len(self.types.locals)
            self.finish(Statement(("local", name), node))
        self.unread.append(name)

    def targets(self, node, shape):
        """Operands that the value can be assigned to."""
        for number, operand in enumerate(self.program.operands):
            if operand.kind == "handle" and number not in self.types.assigned:
                continue
            if operand.kind != "handle" and not self.is_writable(operand):
                continue
            dtype, own = self.types.operand(number)
            if own == shape and is_assignable(dtype, node.dtype, node.weak):
                yield number

    def assign(self, shape, node):
        choose = self.choose
        found = list(self.targets(node, shape))
        if found and choose.random() < 0.55:
            number = choose.choice(found)
        elif not self.program.lent and choose.random() < 0.15 and (node.shape or not node.open):
            dtype = self.dtype(RANK[node.dtype]) if choose.random() < 0.4 else node.dtype
            number = self.add(Operand(self.name(), "handle", dtype))
        else:
            dtype = self.dtype(RANK[node.dtype]) if choose.random() < 0.4 else node.dtype
            number = self.new_array(dtype, shape, True)
        operator = None
        operand = self.program.operands[number]
        set_before = operand.kind != "handle" or number in self.types.assigned
        if set_before and choose.random() < 0.25:
            operator = choose.choice(("add", "subtract", "multiply", "divide", "bitwise_xor", "shift_left"))
            try:
                if not self.possible(operator, RANK[self.types.operand(number)[0]]):
                    raise Invalid("not yet")
                combined = self.node("map", operator, [self.node("operand", number=number), node])
                if not is_assignable(self.types.operand(number)[0], combined.dtype, combined.weak):
                    raise Invalid("another kind")
                node = combined
            except Invalid:
                operator = None
        self.finish(Statement(("operand", number), node, operator))


def fits(shape, wanted):
    """Whether a shape broadcasts to the one wanted."""
    if len(shape) > len(wanted):
        return False
    return all(a == b or a == 1 for a, b in zip(shape[::-1], wanted[::-1]))


def generate(seed, possible):
    """The program of a seed: a seed whose first try is not valid takes the next one."""
    for attempt in range(1000):
        try:
            program = Generator(seed + (attempt << 64), possible).generate()
            program.seed = seed
            return program
        except Invalid:
            continue
    raise RuntimeError("seed %d gives no program" % seed)
