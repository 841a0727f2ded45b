"""Programs: trees of what is computed, the operands and their memory, the types, and the text in C."""

import numpy as np

from dtypes import (BOOL, COMPLEX_RANK, FLOAT, INTEGER, Invalid, RANK, UNSIGNED, broadcast, combine, integer_range,
                    is_assignable, real_of, weak_of)

BITS, REAL, ORDERED = (BOOL, INTEGER), (INTEGER, FLOAT), (BOOL, INTEGER, FLOAT)
FLOATING, NUMBERS, ANY = (FLOAT, COMPLEX_RANK), (INTEGER, FLOAT, COMPLEX_RANK), (BOOL, INTEGER, FLOAT, COMPLEX_RANK)

# name: how it is written, precedence in C, kinds, result
OPERATORS = {
    "multiply": ("*", 13, NUMBERS, "same"), "divide": ("/", 13, NUMBERS, "same"),
    "modulo": ("%", 13, (INTEGER,), "same"), "add": ("+", 12, NUMBERS, "same"),
    "subtract": ("-", 12, NUMBERS, "same"), "shift_left": ("<<", 11, (INTEGER,), "same"),
    "shift_right": (">>", 11, (INTEGER,), "same"), "less": ("<", 10, ORDERED, "bool"),
    "less_equal": ("<=", 10, ORDERED, "bool"), "greater": (">", 10, ORDERED, "bool"),
    "greater_equal": (">=", 10, ORDERED, "bool"), "equal": ("==", 9, ANY, "bool"),
    "not_equal": ("!=", 9, ANY, "bool"), "bitwise_and": ("&", 8, BITS, "same"),
    "bitwise_xor": ("^", 7, BITS, "same"), "bitwise_or": ("|", 6, BITS, "same"),
    "logical_and": ("&&", 5, ANY, "bool"), "logical_or": ("||", 4, ANY, "bool"),
}
PREFIXES = {
    "negative": ("-", NUMBERS, "same"), "positive": ("+", NUMBERS, "same"), "bitwise_not": ("~", BITS, "same"),
    "logical_not": ("!", ANY, "bool"),
}
# name: number of arguments, kinds, result
FUNCTIONS = {
    "minimum": (2, REAL, "same"), "maximum": (2, REAL, "same"), "clip": (3, REAL, "same"),
    "abs": (1, NUMBERS, "real"), "sign": (1, NUMBERS, "same"), "square": (1, NUMBERS, "same"),
    "pow": (2, NUMBERS, "same"), "fma": (3, (FLOAT,), "same"), "popcount": (1, (INTEGER,), "same"),
    "real": (1, FLOATING, "real"), "imag": (1, FLOATING, "real"), "conj": (1, FLOATING, "same"),
    "arg": (1, FLOATING, "real"), "signbit": (1, (FLOAT,), "bool"),
}
for _name in "sqrt exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh".split():
    FUNCTIONS[_name] = (1, FLOATING, "same")
for _name in "rsqrt cbrt erf tgamma lgamma floor ceil trunc round".split():
    FUNCTIONS[_name] = (1, (FLOAT,), "same")
for _name in "atan2 hypot fmod remainder copysign nextafter logaddexp".split():
    FUNCTIONS[_name] = (2, (FLOAT,), "same")
for _name in "isnan isinf isfinite".split():
    FUNCTIONS[_name] = (1, FLOATING, "bool")
SELECTIONS = ("where", "choose")
FOLDS = {
    "sum": (ANY, "wide"), "prod": (ANY, "wide"), "min": (REAL, "same"), "max": (REAL, "same"),
    "mean": (FLOATING, "same"), "var": ((FLOAT,), "same"), "std": ((FLOAT,), "same"), "any": (ANY, "bool"),
    "all": (ANY, "bool"), "argmin": (REAL, "position"), "argmax": (REAL, "position"), "norm": (FLOATING, "real"),
}
STENCILS = {"shift": ANY, "forward_diff": NUMBERS, "back_diff": NUMBERS, "laplacian": NUMBERS}
TERNARY, PREFIX, PRIMARY = 3, 14, 15


class Node:
    """One operation. `kind` is literal, operand, local, cast, map, fold, stencil or index."""

    __slots__ = ("kind", "name", "arguments", "facts", "dtype", "weak", "shape", "open")

    def __init__(self, kind, name=None, arguments=(), **facts):
        self.kind, self.name, self.arguments, self.facts = kind, name, list(arguments), facts

    def copy(self):
        return Node(self.kind, self.name, [a.copy() for a in self.arguments], **self.facts)


class Memory:
    """A block of elements in C order, which operands are views of."""

    def __init__(self, dtype, data):
        self.dtype, self.data = dtype, data


class Operand:
    """An array (`memory` and `steps` of views), a handle without memory, or a C number."""

    def __init__(self, name, kind, dtype, **facts):
        self.name, self.kind, self.dtype = name, kind, dtype  # kind: array, input, handle, number
        self.memory = facts.get("memory")
        self.steps = facts.get("steps", ())
        self.shape = facts.get("shape")
        self.value = facts.get("value")
        self.element = facts.get("element", dtype)  # an alias may read its memory as another dtype

    def view(self, data):
        """The operand's elements in `data`, which is the memory or a copy of it."""
        return view_of(data, self.steps)


def view_of(data, steps):
    for kind, argument in steps:
        if kind == "slice":
            data = data[tuple(argument)]
        elif kind == "permute":
            data = data.transpose(argument)
        elif kind == "cast":
            data = data.view(argument)
        else:
            data = np.broadcast_to(data, argument)
    return data


class Statement:
    """`target` is ("operand", number), ("local", name) or ("value",); `operator` that of a compound assignment."""

    def __init__(self, target, node, operator=None):
        self.target, self.node, self.operator = target, node, operator
        self.stored_type = None  # dtype and shape of what an operand gets


class Program:
    def __init__(self, seed, lent, site):
        self.seed, self.lent, self.site = seed, lent, site
        self.operands, self.statements, self.memories = [], [], []

    @property
    def wants_value(self):
        return bool(self.statements) and self.statements[-1].target[0] == "value"


class Types:
    """What is known at a point of a program: dtypes and shapes of operands and locals."""

    def __init__(self, operands):
        self.operands = operands
        self.assigned = {}  # operand number: (dtype, shape)
        self.locals = {}  # name: node

    def operand(self, number):
        operand = self.operands[number]
        if number in self.assigned:
            return self.assigned[number]
        if operand.kind == "handle":
            raise Invalid("a handle is read before it is set")
        return operand.dtype, operand.shape


def annotate(node, types):
    """Gives a node its dtype, weak, shape and open, from its arguments, which have theirs."""
    node.weak = node.open = False
    node.shape = ()
    ANNOTATE[node.kind](node, types)
    return node


def annotate_all(node, types):
    for argument in node.arguments:
        annotate_all(argument, types)
    return annotate(node, types)


def annotate_literal(node, types):
    node.dtype, node.weak = node.facts["dtype"], node.facts["weak"]


def annotate_operand(node, types):
    operand = types.operands[node.facts["number"]]
    if operand.kind == "number":
        node.dtype, node.weak = weak_of(operand.dtype), True
        node.facts["value"] = operand.value
    else:
        node.dtype, node.shape = types.operand(node.facts["number"])


def annotate_local(node, types):
    if node.name not in types.locals:
        raise Invalid("the local %s is not set" % node.name)
    value = node.facts["value"] = types.locals[node.name]
    node.dtype, node.weak, node.shape, node.open = value.dtype, value.weak, value.shape, value.open


def annotate_cast(node, types):
    argument, = node.arguments
    node.dtype, node.shape, node.open = node.facts["dtype"], argument.shape, argument.open


def kinds_of(name):
    if name in OPERATORS:
        return OPERATORS[name][2:]
    if name in PREFIXES:
        return PREFIXES[name][1:]
    return FUNCTIONS[name][1:]


def use(node, dtype):
    """An argument that becomes `dtype`: an untyped integer literal must fit, and a C number."""
    while node.kind == "local" or node.name == "positive":
        node = node.facts["value"] if node.kind == "local" else node.arguments[0]
    if node.kind in ("literal", "operand") and node.weak and RANK[node.dtype] == RANK[dtype] == INTEGER:
        low, high = integer_range(dtype)
        if not low <= node.facts["value"] <= high:
            raise Invalid("a number does not fit")


def common_type(arguments):
    common = arguments[0].dtype, arguments[0].weak
    for argument in arguments[1:]:
        common = combine(common, (argument.dtype, argument.weak))
    return common


def raise_kind(dtype, weak, kinds):
    """An untyped number takes the next higher kind if its own is not possible."""
    if RANK[dtype] in kinds:
        return dtype
    higher = [rank for rank in kinds if rank > RANK[dtype]]
    if not weak or not higher:
        raise Invalid("a kind that the operation is not for")
    return ("bool", "i64", "f64", "c128")[min(higher)]


def annotate_map(node, types):
    arguments = node.arguments
    for argument in arguments:
        node.shape = broadcast(node.shape, argument.shape)
        node.open |= argument.open
    all_weak = all(argument.weak for argument in arguments)
    if node.name in SELECTIONS:
        node.dtype, weak = common_type(arguments[1:])
        if node.name == "where" and arguments[0].dtype != "bool":
            raise Invalid("the condition of where is bool")
        node.weak = all_weak
        node.facts["common"] = node.dtype
        for argument in arguments[1:]:
            use(argument, node.dtype)
        return
    if node.name.startswith("logical"):
        node.dtype, node.weak = "bool", all_weak
        node.facts["common"] = "bool"
        return
    kinds, result = kinds_of(node.name)
    common, node.weak = common_type(arguments)
    common = raise_kind(common, node.weak, kinds)
    for argument in arguments:
        use(argument, common)
    node.facts["common"] = common
    node.dtype = "bool" if result == "bool" else real_of(common) if result == "real" else common


def folded_axes(node):
    axes, ndim = node.facts["axes"], len(node.arguments[0].shape)
    if axes is None:
        return tuple(range(ndim))
    found = tuple(axis + ndim if axis < 0 else axis for axis in axes)
    if any(not 0 <= axis < ndim for axis in found) or len(set(found)) < len(found):
        raise Invalid("axes out of range or given twice")
    return found


def annotate_fold(node, types):
    argument, = node.arguments
    kinds, result = FOLDS[node.name]
    dtype = argument.dtype
    if argument.weak or RANK[dtype] not in kinds:
        raise Invalid("a reduction of a number, or of another kind")
    if argument.open and not argument.shape:
        raise Invalid("index beside no array")
    close(argument, argument.shape)
    axes = folded_axes(node)
    if result == "position" and node.facts["axes"] is not None and len(axes) > 1:
        raise Invalid("a position along several axes")
    if result == "wide" and RANK[dtype] <= INTEGER:
        dtype = "u64" if dtype in UNSIGNED else "i64"
    node.facts["common"] = "bool" if result == "bool" else dtype
    node.dtype = {"bool": "bool", "position": "i64", "real": real_of(dtype)}.get(result, dtype)
    keep = node.facts["keep"]
    sizes = enumerate(argument.shape)
    node.shape = tuple(1 if k in axes else n for k, n in sizes if keep or k not in axes)
    empty = any(argument.shape[k] == 0 for k in axes)
    if empty and 0 not in node.shape and node.name in ("min", "max", "argmin", "argmax"):
        raise Invalid("a reduction of nothing")


def annotate_stencil(node, types):
    number = node.facts["number"]
    operand = types.operands[number]
    if operand.kind == "number":
        raise Invalid("a stencil of a number")
    node.dtype, node.shape = types.operand(number)
    if not node.shape or RANK[node.dtype] not in STENCILS[node.name]:
        raise Invalid("a stencil of another kind, or without axes")
    if node.name == "shift" and len(node.facts["offsets"]) > len(node.shape):
        raise Invalid("too many distances")
    if node.name.endswith("diff"):
        axis = node.facts["axis"]
        if not -len(node.shape) <= axis < len(node.shape):
            raise Invalid("axis out of range")
    if node.arguments:  # value=
        value, = node.arguments
        if value.open or value.shape or not is_assignable(node.dtype, value.dtype, value.weak):
            raise Invalid("value= is one number of the array's kind")
        use(value, node.dtype)


def annotate_index(node, types):
    node.dtype, node.open = "i64", True


ANNOTATE = {
    "literal": annotate_literal, "operand": annotate_operand, "local": annotate_local, "cast": annotate_cast,
    "map": annotate_map, "fold": annotate_fold, "stencil": annotate_stencil, "index": annotate_index,
}


def index_axes(node):
    """The axes of the index() calls that a value waits with."""
    if node.kind == "index":
        yield node.facts["axis"]
    if node.kind == "local" and node.open:
        yield from index_axes(node.facts["value"])  # the name may have another value by now
    if node.open:
        for argument in node.arguments:
            yield from index_axes(argument)


def close(node, shape):
    """The shape of a value whose index() calls count along `shape`."""
    if not node.open:
        return node.shape
    result = node.shape
    for axis in index_axes(node):
        if not -len(shape) <= axis < len(shape):
            raise Invalid("index along an axis that is not there")
        axis %= len(shape)
        result = broadcast(result, (shape[axis],) + (1,) * (len(shape) - 1 - axis))
    return result


def check_statement(statement, types):
    """Annotates a statement; afterwards `types` is what the next one sees."""
    node = statement.node
    kind = statement.target[0]
    if kind == "operand":
        number = statement.target[1]
        operand = types.operands[number]
        if operand.kind not in ("array", "handle"):
            raise Invalid("only arrays are assigned to")
        if statement.operator:
            types.operand(number)
        unset = operand.kind == "handle" and number not in types.assigned
        dtype, shape = (operand.dtype, node.shape) if unset else types.operand(number)
        if unset and node.open and not node.shape:
            raise Invalid("index beside no array")
        value_shape = close(node, shape)
        if unset:
            shape = value_shape
        if broadcast(value_shape, shape) != shape or not is_assignable(dtype, node.dtype, node.weak):
            raise Invalid("the value does not fit")
        use(node, dtype)
        types.assigned[number] = statement.stored_type = dtype, shape
        return
    if node.open and kind == "value" and not node.shape:
        raise Invalid("index beside no array")
    if kind == "local":
        if node.shape:
            node.shape, node.open = close(node, node.shape), False
        types.locals[statement.target[1]] = node
    else:
        node.shape = close(node, node.shape)


def check(program):
    """Annotates the whole program; raises Invalid."""
    types = Types(program.operands)
    used, read, live = set(), {}, False
    for statement in program.statements:
        annotate_all(statement.node, types)
        walk(statement.node, used, read)
        check_statement(statement, types)
        if statement.target[0] == "local":
            name = statement.target[1]
            if read.get(name) is False:
                raise Invalid("a local is never read")
            read[name] = False
        elif statement.target[0] == "operand":
            used.add(statement.target[1])
        live |= statement.target[0] != "local"
    if not live or not all(read.values()) or len(used) < len(program.operands):
        raise Invalid("no effect, a local that is never read or an operand that is never used")
    return program


def walk(node, used, read):
    if node.kind == "operand" or node.kind == "stencil":
        used.add(node.facts["number"])
    if node.kind == "local":
        read[node.name] = True
    for argument in node.arguments:
        walk(argument, used, read)


# Text.

def text_of(program):
    return "; ".join(statement_text(statement, program) for statement in program.statements)


def statement_text(statement, program):
    node = statement.node
    if statement.target[0] == "value":
        return node_text(node, program)[0]
    if statement.target[0] == "operand":
        name = program.operands[statement.target[1]].name
    else:
        name = statement.target[1]
    if statement.operator:  # the tree has the old value as its first argument
        sign = OPERATORS[statement.operator][0]
        return "%s %s= %s" % (name, sign, node_text(node.arguments[1], program)[0])
    return "%s = %s" % (name, node_text(node, program)[0])


def wrapped(node, program, least):
    text, precedence = node_text(node, program)
    return text if precedence >= least and not node.facts.get("parentheses") else "(%s)" % text


def node_text(node, program):
    """The text and its precedence in C."""
    kind, facts = node.kind, node.facts
    if kind == "literal":
        return facts["text"], PREFIX if facts["text"][0] == "-" else PRIMARY
    if kind == "operand":
        return program.operands[facts["number"]].name, PRIMARY
    if kind == "local":
        return node.name, PRIMARY
    if kind == "cast":
        return "%s(%s)" % (facts["dtype"], node_text(node.arguments[0], program)[0]), PRIMARY
    if kind == "index":
        return "index(%d)" % facts["axis"], PRIMARY
    if kind == "map":
        return map_text(node, program)
    if kind == "fold":
        return fold_text(node, program), PRIMARY
    return stencil_text(node, program), PRIMARY


def map_text(node, program):
    if node.name in OPERATORS:
        sign, precedence = OPERATORS[node.name][:2]
        left = wrapped(node.arguments[0], program, precedence)
        right = wrapped(node.arguments[1], program, precedence + 1)
        return "%s %s %s" % (left, sign, right), precedence
    if node.name in PREFIXES:
        text = wrapped(node.arguments[0], program, PREFIX)
        sign = PREFIXES[node.name][0]
        return sign + (" " if text[0] == sign else "") + text, PREFIX
    if node.name == "choose":
        condition = wrapped(node.arguments[0], program, TERNARY + 1)
        first = node_text(node.arguments[1], program)[0]
        return "%s ? %s : %s" % (condition, first, wrapped(node.arguments[2], program, TERNARY)), TERNARY
    name = {"minimum": "min", "maximum": "max"}.get(node.name, node.name) if node.facts.get("short") else node.name
    return "%s(%s)" % (name, ", ".join(node_text(a, program)[0] for a in node.arguments)), PRIMARY


def fold_text(node, program):
    parts = [node_text(node.arguments[0], program)[0]]
    axes = node.facts["axes"]
    if axes is not None:
        parts.append("axis=%d" % axes[0] if len(axes) == 1 else "axis=(%s)" % ", ".join(map(str, axes)))
    if node.facts["keep"]:
        parts.append("keep=true")
    for name in ("order", "correction"):
        if node.facts.get(name) is not None:
            parts.append("%s=%s" % (name, node.facts[name]))
    return "%s(%s)" % (node.name, ", ".join(parts))


def stencil_text(node, program):
    parts = [program.operands[node.facts["number"]].name]
    if node.name == "shift":
        parts += map(str, node.facts["offsets"])
    elif node.name != "laplacian":
        parts.append(str(node.facts["axis"]))
    if node.arguments:
        parts.append("value=" + node_text(node.arguments[0], program)[0])
    elif node.facts["boundary"]:
        parts.append("boundary=" + node.facts["boundary"])
    return "%s(%s)" % (node.name, ", ".join(parts))
