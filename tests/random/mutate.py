"""Breaks the reference in one place after the other: random programs must notice each time."""

import os
import secrets
import sys
import tempfile

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import extra
import folds
import functions
import operations
import program
import reference
import run
import values
from generate import generate
from library import Library
from session import Failure, Session

MOST = 30000  # programs until it is noticed; most take some hundreds


class Patch:
    """Another value for an attribute of a module or class, or for an entry of a table, for a while."""

    def __init__(self, place, name, value):
        self.place, self.name, self.value = place, name, value
        self.table = isinstance(place, dict)
        self.before = place[name] if self.table else getattr(place, name)

    def put(self, value):
        if self.table:
            self.place[self.name] = value
        else:
            setattr(self.place, self.name, value)

    def __enter__(self):
        self.put(self.value)

    def __exit__(self, *error):
        self.put(self.before)


def last_of_equals(less):
    def combine(a, b):
        chosen = ORIGINAL_ARGUMENT_OF(less)(a, b)
        tie = a[0] == b[0]
        return [chosen[0], np.where(tie, b[1], chosen[1])]
    return combine


ORIGINAL_ARGUMENT_OF = folds.argument_of


def truncate_bf16(part):
    return (np.asarray(part).view(np.uint32) >> np.uint32(16)).astype(np.uint16)


def wrap_integers(part, dtype):
    """Casts of floats that do not saturate."""
    return np.where(np.isnan(part), 0, np.fmod(part, 256)).astype(np.int64).astype(values.VALUE[dtype])


def keep_nans(part, name):
    return part


def join_neighbours(f, slots):
    """Slots 2s and 2s+1 together, not s and s+half."""
    while slots[0].shape[-1] > 1:
        even, odd = [part[..., ::2] for part in slots], [part[..., 1::2] for part in slots]
        slots = folds.in_order(f, even, [odd])
    return [part[..., 0] for part in slots]


def write_backwards(evaluation):
    statements = evaluation.program.statements
    evaluation.program.statements = statements[::-1]
    try:
        ORIGINAL_WRITE(evaluation)
    finally:
        evaluation.program.statements = statements


ORIGINAL_WRITE = reference.Evaluation.write

MUTATIONS = {
    "less is less or equal": lambda: Patch(operations.REAL, "less", lambda x, y: x <= y),
    "integers divided by 0 are -1": lambda: Patch(
        operations.INTEGERS, "divide", lambda x, y: np.where(y == 0, x.dtype.type(0) - x.dtype.type(1),
                                                              operations.divide_integers(x, y))),
    "a product rounded twice": lambda: Patch(operations.FLOATS, "fma", lambda x, y, z: x * y + z),
    "shifts take the distance modulo the width": lambda: Patch(
        operations.INTEGERS, "shift_left", lambda x, y: x << (y & y.dtype.type(8 * y.dtype.itemsize - 1))),
    "min takes the first of equals": lambda: Patch(operations.REAL, "minimum", lambda x, y: np.where(y < x, y, x)),
    "casts to integers do not saturate": lambda: Patch(values, "saturate", wrap_integers),
    "NaNs are not made canonical": lambda: Patch(values, "canonical", keep_nans),
    "bf16 is cut, not rounded": lambda: Patch(values, "bits_bf16", truncate_bf16),
    "folds have 64 lanes": lambda: Patch(folds, "LANES", 64),
    "folds have chunks of 2048": lambda: Patch(folds, "CHUNK", 2048),
    "runs have 32 elements": lambda: Patch(folds, "RUN", 32),
    "neighbours are joined, not halves": lambda: Patch(folds, "halve", join_neighbours),
    "argmin takes the last of equals": lambda: Patch(folds, "argument_of", last_of_equals),
    "exp is 4 units off": lambda: Patch(functions.FUNCTIONS, "exp", lambda x: np.exp(x) * (1 + 4e-7)),
    "log is 4 units off, of f64": lambda: Patch(functions.FUNCTIONS, "log", lambda x: np.log(x) * (1 + 1e-15)),
    "overlapping results are stored the other way round": lambda: Patch(reference.Evaluation, "write", write_backwards),
    "an untyped integer is at least i32": lambda: Patch(
        program, "common_type", lambda arguments, before=program.common_type: widen(before(arguments))),
}


def widen(common):
    return ("i32", False) if common == ("i8", False) else common


def notices(session, patch):
    """The number of programs until one failed, or None."""
    first = secrets.randbits(48)
    for number in range(MOST):
        with patch():
            candidate = generate(first + number, session.possible)
            try:
                session.check(candidate)
            except (Failure, ValueError, AssertionError):
                return number + 1
    return None


def main():
    arguments = run.parse()
    extra.open_library(arguments.extra)
    with tempfile.TemporaryDirectory(prefix="weft-random-") as folder:
        session = Session([Library(arguments.library, folder, {"WEFT_ENGINE": "interpreter", "WEFT_THREADS": "1"})])
    missed = 0
    for name, patch in MUTATIONS.items():
        programs = notices(session, patch)
        missed += programs is None
        print("%-52s %s" % (name, "NOT NOTICED" if programs is None else "noticed after %d programs" % programs), flush=True)
    print("%d mutations, %d not noticed" % (len(MUTATIONS), missed))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
