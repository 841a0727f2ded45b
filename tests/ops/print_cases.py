#!/usr/bin/env python3
"""Writes print_cases.h: arrays and the text that NumPy prints for them.

    python3 print_cases.py > print_cases.h

needs NumPy 2.0 to 2.2; later ones turn to scientific notation earlier for f16 and f32.
"""
import sys

import numpy as np

NAMES = {"?": "BOOL", "b": "I8", "h": "I16", "i": "I32", "l": "I64", "B": "U8", "H": "U16",
         "I": "U32", "L": "U64", "e": "F16", "f": "F32", "d": "F64", "F": "C64", "D": "C128"}
nan, inf = np.nan, np.inf
cases = []


def listed(name, dtype, values, shape=None):
    """An array with these values, kept as their bits."""
    array = np.array(values, dtype)
    cases.append((name, array.reshape(array.shape if shape is None else shape), None))


def counted(name, dtype, shape, multiply=1, add=0, modulus=1 << 40, subtract=0, shift=0):
    """Number k is ((k * multiply + add) mod modulus - subtract) / 2^shift, exactly."""
    kind = np.dtype(dtype)
    parts = 2 if kind.kind == "c" else 1
    k = np.arange(int(np.prod(shape)) * parts)
    values = (k * multiply + add) % modulus - subtract
    if kind.kind in "fc":
        values = (values / 2.0**shift).astype(f"f{kind.itemsize // parts}").view(dtype)
    cases.append((name, values.astype(dtype).reshape(shape), (multiply, add, modulus, subtract, shift)))


def bits(name, dtype, values):
    """An array with these bits."""
    unsigned = f"u{np.dtype(dtype).itemsize}"
    cases.append((name, np.array(values, unsigned).view(dtype), None))


def whole_numbers():
    listed("bool", "?", [True, False, True])
    listed("bool true", "?", True)
    listed("bool false", "?", False)
    listed("bool matrix", "?", [[True, False], [False, False], [True, True]])
    listed("bool all true", "?", [True, True])
    counted("bool wraps", "?", (20,), 1, 0, 2)
    counted("bool summarised", "?", (1001,), 1, 0, 2)
    for code in "bhilBHIL":
        limit = np.iinfo(code)
        name = NAMES[code].lower()
        listed(name + " limits", code, [limit.min, 0, limit.max])
        listed(name + " limit alone", code, limit.min if limit.min else limit.max)
        counted(name + " matrix", code, (2, 3), 7, 3, 40)
    listed("i32 one", "i", [7])
    listed("i32 signs align", "i", [5, -10, 100])
    counted("i32 wraps", "i", (30,), 1234567, 0, 10000019, 5000000)
    counted("i32 rows that just fit", "i", (50,), 1, 0, 60, -10)
    counted("i32 rows of a matrix that just fit", "i", (1, 50), 1, 0, 60, -10)
    counted("i32 row of a cube that just fits", "i", (1, 1, 35), 1, 0, 10)
    counted("i64 wraps in a matrix", "l", (2, 25), 37, 0, 1000)
    counted("i32 cube", "i", (2, 2, 3))
    counted("i16 four axes", "h", (2, 1, 2, 2), 1, 0, 100, 4)
    counted("u8 five axes", "B", (1, 2, 1, 1, 2))
    counted("i32 a thousand are shown", "i", (4, 250), 0, 1)
    counted("i32 summarised", "i", (1001,))
    counted("i64 summarised, wide edges count alone", "l", (2000,), 1000003, 0, 1 << 40, 7)
    counted("i32 matrix of many rows", "i", (500, 3))
    counted("i32 matrix of long rows", "i", (3, 500))
    counted("i32 matrix summarised both ways", "i", (40, 40))
    counted("i32 cube summarised", "i", (2, 30, 30))
    counted("i32 four axes summarised", "i", (2, 1, 7, 100))
    counted("i8 eight axes summarised", "b", (1, 1, 1, 1, 1, 1, 1, 1001), 1, 0, 100)
    counted("i32 eight axes summarised at both ends", "i", (7, 1, 1, 1, 1, 1, 1, 150))
    counted("i64 long edges wrap", "l", (1200,), 1234567890123457, 0, 1 << 60)
    counted("i32 axis of six is not cut", "i", (6, 200))
    counted("i32 axis of seven is cut", "i", (7, 200))
    for shape in [(0,), (0, 3), (3, 0), (2, 0, 5), (0, 0)]:
        counted(f"empty {shape}", "i", shape)
    counted("empty f64", "d", (0,))
    counted("empty c64", "F", (2, 0))


def floats():
    for code in "efd":
        name = NAMES[code].lower()
        limit = np.finfo(code)
        listed(name + " simple", code, [0, 1, -2.5])
        listed(name + " zeros", code, [0.0, -0.0])
        listed(name + " thirds", code, [1 / 3, 2 / 3, 10 / 3])
        listed(name + " tenths", code, [[0.1, 0.2], [0.3, -0.4]])
        listed(name + " special", code, [nan, inf, -inf])
        listed(name + " special, no minus", code, [nan, inf])
        listed(name + " special among numbers", code, [1, nan, -inf, 2.25])
        listed(name + " special among short numbers", code, [1, inf])
        listed(name + " special among scientific", code, [1e-7, nan, inf, 60000])
        listed(name + " limits", code, [limit.max, limit.min, limit.tiny, limit.eps])
        listed(name + " subnormals", code, [limit.smallest_subnormal, 3 * limit.smallest_subnormal])
        listed(name + " ratio of 1000", code, [1, 1000])
        listed(name + " ratio above 1000", code, [1, 1001])
        listed(name + " one ten-thousandth", code, [1e-4])
        listed(name + " below one ten-thousandth", code, [0.9e-4])
        for value in [0.0, -0.0, 1.0, 0.1, 1 / 3, 1e-4, 1e-5, 12345, nan, inf, -inf]:
            listed(f"{name} {value} alone", code, value)
        listed(name + " smallest alone", code, limit.smallest_subnormal)
        listed(name + " largest alone", code, limit.max)
    for code in "fd":
        name = NAMES[code].lower()
        listed(name + " below 1e8", code, [99999990, 1e6])
        listed(name + " from 1e8 on", code, [1e8, 1e6])
        listed(name + " one cut to eight places", code, [np.pi * 1000, 1.000000001, 2.5])
        listed(name + " exact digits fill up", code, [1e-5, 1.2345678])
        listed(name + " 1e15 alone", code, 1e15)
        listed(name + " 1e16 alone", code, 1e16)
        counted(name + " wraps", code, (3, 20), 37, 5, 1000, 300, 5)
        counted(name + " summarised", code, (50, 50), 1, 0, 1 << 40, 0, 3)
        counted(name + " cube", code, (2, 2, 2), 1, 0, 100, 3, 1)
    listed("f64 three digits of exponent", "d", [1e-300, 1, -1e300])
    listed("f64 seventeen digits alone", "d", 0.1 + 0.2)
    listed("f64 rounded to places", "d", [0.1 + 0.2, 123.456789012345])
    listed("f64 tie at the eighth place", "d", [1 + 2.0**-9, 1 + 3 * 2.0**-9])
    listed("f64 carries", "d", [0.999999999, 0.5])
    listed("f64 carries in scientific", "d", [9.999999999e10, 1])
    bits("f64 power of two", "d", [0x3D00000000000000, 0x7FE0000000000000])
    bits("f32 powers of two", "f", [0x01000000, 0x0C000000, 0x7F000000])
    for code, power, edge in [("e", 0x2000, 0x6C04), ("f", 0x0C000000, 0x4C550E50),
                              ("d", 0x0040000000000000, 0x4358EE19B0660ACA)]:
        name = NAMES[code].lower()
        bits(name + " power of two with uneven neighbours", code, power)
        bits(name + " even, shortest at the edge", code, edge)
    bits("f16 ratio that rounds to 1000", "e", [0x068E, 0x2E67])
    bits("f32 NaN with sign and payload", "f", [0xFFC12345, 0x7F800001, 0x3F800000])
    counted("f32 scientific wraps", "f", (12,), 7919, 1, 100003, 0, -12)
    counted("f64 trailing blanks at line ends", "d", (40,), 1, 0, 4, 0, 1)
    counted("f32 four axes", "f", (2, 2, 1, 2), 1, 0, 1 << 40, 0, 2)


def complex_numbers():
    for code in "FD":
        name = NAMES[code].lower()
        listed(name + " simple", code, [1 + 2j, -1.5 - 0.25j])
        listed(name + " zeros", code, [0, complex(-0.0, -0.0)])
        listed(name + " matrix", code, [[1j, 2], [0.125, -3 - 1j]])
        listed(name + " special", code, [complex(nan, nan), complex(inf, -inf), 1 + 1j])
        listed(name + " only special", code, [complex(nan, inf)])
        listed(name + " scientific", code, [1e-6 + 1j, 2 + 1e9j])
        listed(name + " one part scientific", code, [1e10 + 1j, 2 + 3.5j])
        for value in [1 + 2j, 2j, 0j, complex(-0.0, 2), complex(0.0, -0.0), -1.5 - 0.1j,
                      complex(1e20, nan), complex(inf, -inf), complex(0, inf), 1e-5 + 1e17j]:
            listed(f"{name} {value} alone", code, value)
        counted(name + " wraps", code, (14,), 5, 0, 64, 32, 3)
        counted(name + " summarised", code, (30, 40), 1, 0, 1 << 40, 100, 1)


def bits_of(array):
    kind = array.dtype
    size = kind.itemsize // 2 if kind.kind == "c" else kind.itemsize
    return np.atleast_1d(array).reshape(-1).view(f"u{size}")


def wrapped(words, indent, width=98):
    line = indent
    for word in words:
        if len(line) + len(word) > width:
            yield line.rstrip()
            line = indent
        line += word + " "
    yield line.rstrip()


def literals(text):
    """One literal for each line; empty lines go with the line before."""
    lines = []
    for line in text.split("\n"):
        if line == "" and lines:
            lines[-1] += "\\n"
        else:
            lines.append(line + "\\n")
    lines[-1] = lines[-1][:-2]
    return [f'"{line}"' for line in lines]


def write(name, array, formula):
    shape = ", ".join(str(size) for size in array.shape)
    shape = f"{{{array.ndim}, {{{shape or 0}}}}}"
    values = f".count_by = {{{', '.join(str(n) for n in formula)}}}," if formula else ""
    if not formula:
        words = [f"0x{n:x}," for n in bits_of(array)]
        words[0] = ".bits = {" + words[0]
        words[-1] = words[-1][:-1] + "},"
        values = "\n".join(wrapped(words, "     ")).strip()
    print(f'    {{"{name}", WEFT_{NAMES[array.dtype.char]}, {shape},')
    texts = literals(str(array))
    if len(values) + len(texts[0]) <= 84 and len(texts) == 1:
        print(f"     {values} .text = {texts[0]}}},")
        return
    texts[0] = ".text = " + texts[0] if len(texts[0]) < 80 else ".text =\n     " + texts[0]
    print(f"     {values}")
    print("     " + "\n     ".join(texts) + "},")


def main():
    if not (2, 0) <= tuple(int(n) for n in np.__version__.split(".")[:2]) <= (2, 2):
        sys.exit(f"this is NumPy {np.__version__}; NumPy 2.0 to 2.2 is needed")
    np.seterr(all="ignore")
    groups = [("whole_number_cases", whole_numbers), ("float_cases", floats),
              ("complex_cases", complex_numbers)]
    print(f"/* Made by print_cases.py with NumPy {np.__version__}: what it prints for these arrays. */")
    print("/* clang-format off */")
    for table, fill in groups:
        cases.clear()
        fill()
        print(f"static const print_case {table}[] = {{")
        for case in cases:
            write(*case)
        print("};")


main()
