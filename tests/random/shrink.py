"""Makes a failing program smaller while it goes on failing."""

import copy

import numpy as np

from dtypes import Invalid, STORAGE
from program import Memory, Program, Statement, check


def clone(program):
    """A copy whose parts can be changed; elements are shared."""
    result = Program(program.seed, program.lent, program.site)
    memories = {id(memory): Memory(memory.dtype, memory.data) for memory in program.memories}
    result.memories = [memories[id(memory)] for memory in program.memories]
    for operand in program.operands:
        twin = copy.copy(operand)
        twin.memory = memories.get(id(operand.memory))
        result.operands.append(twin)
    result.statements = [Statement(s.target, s.node.copy(), s.operator) for s in program.statements]
    return result


def nodes(program):
    """Every node with a function that puts another one into its place."""
    def below(node, replace):
        yield node, replace
        for k, argument in enumerate(node.arguments):
            yield from below(argument, lambda new, node=node, k=k: node.arguments.__setitem__(k, new))
    for statement in program.statements:
        yield from below(statement.node, lambda new, statement=statement: put(statement, new))


def put(statement, node):
    statement.node, statement.operator = node, None


def drop_unused(program):
    """Leaves out the operands and memories that nothing uses."""
    used = {s.target[1] for s in program.statements if s.target[0] == "operand"}
    used |= {node.facts["number"] for node, _ in nodes(program) if node.kind in ("operand", "stencil")}
    order = sorted(used)
    program.operands = [program.operands[number] for number in order]
    for node, _ in nodes(program):
        if node.kind in ("operand", "stencil"):
            node.facts = dict(node.facts, number=order.index(node.facts["number"]))
    for statement in program.statements:
        if statement.target[0] == "operand":
            statement.target = "operand", order.index(statement.target[1])
    program.memories = [m for m in program.memories if any(o.memory is m for o in program.operands)]
    return program


def without_statements(program):
    for k in range(len(program.statements)):
        smaller = clone(program)
        del smaller.statements[k]
        yield smaller


def with_arguments(program):
    """A node replaced by one of its arguments."""
    count = sum(1 for _ in nodes(program))
    for k in range(count):
        arguments = len(list(nodes(program))[k][0].arguments)
        for j in range(arguments):
            smaller = clone(program)
            node, replace = list(nodes(smaller))[k]
            replace(node.arguments[j])
            yield smaller


def with_operands(program):
    """A node replaced by an operand of its dtype and shape."""
    count = sum(1 for _ in nodes(program))
    for k in range(count):
        node = list(nodes(program))[k][0]
        if node.kind in ("operand", "literal", "local"):
            continue
        for number, operand in enumerate(program.operands):
            if operand.dtype == node.dtype and operand.kind in ("array", "input"):
                smaller = clone(program)
                found, replace = list(nodes(smaller))[k]
                replace(type(found)("operand", number=number))
                yield smaller


def with_plain_operands(program):
    """An operand in memory of its own, in C order."""
    for k, operand in enumerate(program.operands):
        if operand.memory is None or not (operand.steps or shares(program, operand)):
            continue
        smaller = clone(program)
        twin = smaller.operands[k]
        data = np.array(operand.view(operand.memory.data), dtype=STORAGE[operand.dtype], order="C")
        twin.memory, twin.steps = Memory(operand.dtype, data), []
        smaller.memories.append(twin.memory)
        yield smaller


def shares(program, operand):
    return sum(other.memory is operand.memory for other in program.operands) > 1


def with_sizes(program):
    """A size made smaller in all operands that have it; they must be plain."""
    sizes = sorted({size for operand in program.operands if operand.shape for size in operand.shape if size > 1},
                   reverse=True)
    for size in sizes:
        for smaller_size in sorted({1, 2, 3, size // 2, size - 1}):
            if 0 < smaller_size < size:
                yield resized(program, size, smaller_size)


def resized(program, size, smaller_size):
    smaller = clone(program)
    for operand in smaller.operands:
        plain = operand.memory is not None and not operand.steps and not shares(smaller, operand)
        if plain and size in operand.shape:
            cut = tuple(slice(0, smaller_size if n == size else n) for n in operand.shape)
            operand.memory.data = np.array(operand.memory.data[cut], order="C")
            operand.shape = operand.memory.data.shape
    return smaller


def simpler_calls(program):
    for lent, site in ((False, None), (program.lent, None), (False, program.site)):
        if (lent, site) != (program.lent, program.site):
            smaller = clone(program)
            smaller.lent, smaller.site = lent, site
            yield smaller


WAYS = (without_statements, with_arguments, with_operands, with_plain_operands, with_sizes, simpler_calls)


def shrink(program, fails, tries=400):
    """`fails(program)` says whether a smaller program goes wrong as well."""
    smaller = True
    while smaller and tries > 0:
        smaller = None
        for way in WAYS:
            for candidate in way(program):
                tries -= 1
                if is_valid(candidate) and fails(candidate):
                    smaller = candidate
                    break
                if tries <= 0:
                    break
            if smaller or tries <= 0:
                break
        program = smaller or program
    return program


def is_valid(candidate):
    try:
        check(drop_unused(candidate))
    except (Invalid, KeyError, IndexError):
        return False
    return True
