"""What the sources' tables say: the error bounds of functions, and the operations that there are."""

import os
import re

import program

SOURCES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "src")


def rows(path, name):
    """The rows of an X-macro, as lists of texts."""
    with open(os.path.join(SOURCES, path), encoding="utf-8") as file:
        text = file.read()
    body = text[text.index("#define %s(X)" % name):]
    body = body[:re.search(r"[^\\]\n", body).start() + 1]
    return [[part.strip() for part in row.split(",")] for row in re.findall(r"\bX\(([^()]*)\)", body[body.index("\n"):])]


def bounds(name):
    """Of each function: the bounds for the narrow and the wide dtype."""
    return {row[0]: (float(row[3]), float(row[4])) for row in rows("kernel/math.h", name)}


def operations():
    """The names of all operations of the language."""
    with open(os.path.join(SOURCES, "lang/operations.h"), encoding="utf-8") as file:
        return re.findall(r"^    X\((\w+), \d+, \d+,", file.read(), re.MULTILINE)


def unknown_operations():
    """Those that random programs do not have."""
    known = set(program.OPERATORS) | set(program.PREFIXES) | set(program.FUNCTIONS) | set(program.SELECTIONS)
    known |= set(program.FOLDS) | set(program.STENCILS) | {"index"}
    return sorted(set(operations()) - known)
