"""Programs run by several copies of the library and by the reference, and compared."""

import numpy as np

from dtypes import BOOL, COMPLEX_RANK, FLOAT, INTEGER, BYTES, RANK, STORAGE
from functions import OutOfBound
from library import INPUT, Refused, Run, UNSUPPORTED, array_record
from program import FOLDS, FUNCTIONS, OPERATORS, PREFIXES, STENCILS, node_text, text_of
from reference import Counts, Evaluation

SAMPLE = {BOOL: "bool", INTEGER: "i32", FLOAT: "f32", COMPLEX_RANK: "c64"}


class Failure(Exception):
    """A program that went wrong, and how."""


class Session:
    def __init__(self, libraries):
        self.libraries = libraries
        self.counts = Counts()
        self.unsupported = self.probe()

    def possible(self, name, rank):
        return (name, rank) not in self.unsupported

    def probe(self):
        """The operations that the library says it does not compute yet: they are not generated."""
        found = set()
        tables = [{name: facts[2] for name, facts in OPERATORS.items()},
                  {name: facts[1] for name, facts in PREFIXES.items()},
                  {name: facts[1] for name, facts in FUNCTIONS.items()}, {name: facts[0] for name, facts in FOLDS.items()},
                  STENCILS]
        for table in tables:
            for name, kinds in table.items():
                found |= {(name, rank) for rank in kinds if not self.computes(name, rank)}
        return found

    def computes(self, name, rank):
        library = self.libraries[0]
        dtype = SAMPLE[rank]
        array = np.ones(4, dtype=STORAGE[dtype])
        if name in OPERATORS:
            code = "x %s x" % OPERATORS[name][0]
        elif name in PREFIXES:
            code = PREFIXES[name][0] + "x"
        elif name in FUNCTIONS:
            code = "%s(%s)" % (name, ", ".join("x" * FUNCTIONS[name][0]))
        else:
            code = "%s(x%s)" % (name, ", 0" if name in STENCILS and name != "laplacian" else "")
        handle = library.borrow(array, dtype)
        try:
            value = library.evaluate_text(code, ["x"], [array_record(handle, INPUT)], True, None)
            library.array_release(value)
        except Refused as refusal:
            if refusal.status != UNSUPPORTED:
                raise
            return False
        finally:
            library.array_release(handle)
        return True

    def check(self, program):
        """Runs a program everywhere; raises Failure, or gives the number of elements compared."""
        try:
            expected = Evaluation(program, self.libraries[0].function, self.counts).run()
        except OutOfBound as error:
            raise Failure(str(error))
        total = 0
        for library in self.libraries:
            total = self.check_in(library, program, expected)
        self.counts.exact += total
        return total

    def check_in(self, library, program, expected):
        try:
            run = Run(library, program)
            try:
                for again in range(2 if program.site is not None else 1):
                    total = compare(program, expected, run.run(), "%s%s" % (library, ", again" if again else ""))
            finally:
                run.close()
        except Refused as error:
            raise Failure("%s refused: %s" % (library, error))
        except AssertionError as error:
            raise Failure(str(error))
        return total


def compare(program, expected, given, where):
    """The number of elements compared; raises Failure for the first difference."""
    total = 0
    for memory, reference, found in zip(program.memories, expected.memories, given.memories):
        total += reference.size
        if reference.tobytes() != found.tobytes():
            raise Failure("%s: %s" % (where, memory_difference(program, memory, reference, found)))
    for number, reference in expected.handles.items():
        total += compare_result(reference, given.handles[number], "%s: %s" % (where, program.operands[number].name))
    if expected.result is not None:
        total += compare_result(expected.result, given.result, "%s: the value" % where)
    return total


def compare_result(reference, given, where):
    if reference[:2] != given[:2]:
        raise Failure("%s is %s %s, and the reference %s %s" % (where, *given[:2], *reference[:2]))
    dtype, shape, expected = reference
    expected = np.ascontiguousarray(np.broadcast_to(expected, shape))
    if expected.tobytes() != given[2].tobytes():
        raise Failure("%s: %s" % (where, difference(dtype, expected.reshape(shape), given[2])))
    return expected.size


def differing(reference, found):
    size = reference.dtype.itemsize
    a = np.frombuffer(reference.tobytes(), np.uint8).reshape(-1, size)
    b = np.frombuffer(found.tobytes(), np.uint8).reshape(-1, size)
    return (a != b).any(axis=1)


def difference(dtype, reference, found):
    wrong = differing(reference, found)
    k = int(np.argmax(wrong))
    position = tuple(int(i) for i in np.unravel_index(k, reference.shape))
    return "%d of %d elements differ, first at %s: %s, and the reference has %s" % (
        wrong.sum(), wrong.size, position, shown(dtype, found.ravel()[k]), shown(dtype, reference.ravel()[k]))


def memory_difference(program, memory, reference, found):
    """Tells it by an operand that has a wrong element, if there is one."""
    for operand in program.operands:
        if operand.memory is memory and operand.kind == "array":
            expected, given = operand.view(reference), operand.view(found)
            if expected.size and differing(expected, given).any():
                return "%s: %s" % (operand.name, difference(operand.dtype, expected, given))
    return "outside of every output: " + difference(memory.dtype, reference, found)


def shown(dtype, element):
    element = np.asarray(element).reshape(1)
    bits = element.tobytes()[::-1].hex()
    if dtype == "f16":
        element = element.view(np.float16)
    if dtype == "bf16":
        element = (element.astype(np.uint32) << 16).view(np.float32)
    return "%s (bits %s)" % (element[0], bits)


def describe(program):
    """The program and its operands, for people."""
    lines = ["code:     %s" % text_of(program)]
    lines.append("called:   %s, %s memory" % ("as a call site" if program.site is not None else "as text",
                                               "lent" if program.lent else "own"))
    for operand in program.operands:
        lines.append("  %-8s %s" % (operand.name, describe_operand(program, operand)))
    return "\n".join(lines)


def describe_operand(program, operand):
    if operand.kind == "number":
        return "C number %s %r" % (operand.dtype, operand.value)
    if operand.kind == "handle":
        return "handle without memory, dtype %s" % operand.dtype
    view = operand.view(operand.memory.data)
    values = " ".join(shown(operand.dtype, x).split(" ")[0] for x in view.ravel()[:12])
    offset = (view.__array_interface__["data"][0] - operand.memory.data.__array_interface__["data"][0]) if view.size else 0
    return "%s %s %s, strides %s, at byte %d of memory %d%s, values %s%s" % (
        operand.kind, operand.dtype, view.shape, view.strides, offset, program.memories.index(operand.memory),
        " (which is %s)" % operand.memory.dtype if operand.memory.dtype != operand.dtype else "", values,
        " ..." if view.size > 12 else "")
