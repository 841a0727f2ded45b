"""Puts rows that weft_accuracy printed into the table of docs/accuracy.md: `weft_accuracy sin | python3
scripts/math/table.py`. A row replaces the one of the same function and dtype; new ones go where the functions' order
puts them."""
import os
import re
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
DTYPES = ["f16", "bf16", "f32", "f64", "c64", "c128"]


def order():
    """The functions in the order of src/kernel/math.h, real ones first."""
    text = open(os.path.join(ROOT, "src", "kernel", "math.h")).read()
    names = re.findall(r"^    X\((\w+), \d", text, re.M)
    return {name: at for at, name in reversed(list(enumerate(names)))}


def key(row, functions):
    name, dtype = [cell.strip() for cell in row.split("|")[1:3]]
    return dtype.startswith("c"), functions[name], DTYPES.index(dtype)


def main():
    path = os.path.join(ROOT, "docs", "accuracy.md")
    functions, lines = order(), open(path).read().splitlines()
    first = next(at for at, line in enumerate(lines) if line.startswith("|---")) + 1
    last = first
    while last < len(lines) and lines[last].startswith("|"):
        last += 1
    rows = {key(row, functions): row for row in lines[first:last]}
    for line in sys.stdin:
        if line.startswith("| "):
            rows[key(line, functions)] = line.rstrip()
    lines[first:last] = [rows[at] for at in sorted(rows)]
    open(path, "w").write("\n".join(lines) + "\n")


if __name__ == "__main__":
    sys.exit(main())
