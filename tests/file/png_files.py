"""Pictures that Weft writes, taken apart by Python's own zlib: every pixel has the colour that its value should have."""

import argparse
import ctypes
import math
import os
import struct
import sys
import tempfile
import zlib

VIRIDIS, GREY, MAGMA, DIVERGING = range(4)


class Shape(ctypes.Structure):
    _fields_ = [("ndim", ctypes.c_int32), ("size", ctypes.c_int64 * 8)]


class Options(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("colours", ctypes.c_int), ("low", ctypes.c_double),
                ("high", ctypes.c_double)]


def save(library, path, rows, **options):
    """By way of memory that is lent; 13 is WEFT_F64."""
    data = (ctypes.c_double * (len(rows) * len(rows[0])))(*[x for row in rows for x in row])
    library.weft_borrow_with.restype = ctypes.c_void_p
    shape = Shape(2, (ctypes.c_int64 * 8)(len(rows), len(rows[0])))
    array = library.weft_borrow_with(data, ctypes.c_size_t(ctypes.sizeof(data)), shape, 13, None)
    options = Options(struct_size=ctypes.sizeof(Options), **options)
    status = library.weft_save_png_with(path.encode(), ctypes.c_void_p(array), ctypes.byref(options))
    library.weft_array_release(ctypes.c_void_p(array))
    if status:
        library.weft_error_message.restype = ctypes.c_char_p
        raise AssertionError(library.weft_error_message().decode())


def read(path):
    """Width, height, palette or None, alpha, and the rows of bytes."""
    data = open(path, "rb").read()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, chunks = 8, []
    while at < len(data):
        length, = struct.unpack(">I", data[at:at + 4])
        body = data[at + 4:at + 8 + length]
        assert zlib.crc32(body) == struct.unpack(">I", data[at + 8 + length:at + 12 + length])[0], "check sum"
        chunks.append((body[:4], body[4:]))
        at += 12 + length
    assert chunks[0][0] == b"IHDR" and chunks[-1] == (b"IEND", b"")
    width, height, depth, kind, method, filters, interlaced = struct.unpack(">IIBBBBB", chunks[0][1])
    assert (depth, method, filters, interlaced) == (8, 0, 0, 0)
    named = dict(chunks)
    pixels = zlib.decompress(b"".join(body for name, body in chunks if name == b"IDAT"))
    assert len(pixels) == height * (width + 1)
    rows = [pixels[k * (width + 1):(k + 1) * (width + 1)] for k in range(height)]
    assert all(row[0] == 0 for row in rows)
    assert (kind == 3) == (b"PLTE" in named)
    return width, height, named.get(b"PLTE"), named.get(b"tRNS"), [row[1:] for row in rows]


def level(value, low, high, levels):
    return min(levels - 1, max(0, math.floor((value - low) / (high - low) * levels)))


def check(library, path, height, width):
    rows = [[math.sin(0.1 * i) * math.cos(0.03 * j) * 5 for j in range(width)] for i in range(height)]
    low, high = min(map(min, rows)), max(map(max, rows))
    for colours in range(4):
        save(library, path, rows, colours=colours)
        found_width, found_height, palette, alpha, pixels = read(path)
        assert (found_width, found_height) == (width, height)
        levels = 256 if colours == GREY else 255
        for row, bytes_ in zip(rows, pixels):
            assert list(bytes_) == [level(x, low, high, levels) if low < high else 0 for x in row]
        assert (palette is None) == (colours == GREY)
        if palette:
            assert len(palette) == 768 and list(alpha) == [255] * 255 + [0]
            bright = [sum(palette[3 * k:3 * k + 3]) for k in range(255)]
            assert bright[0] < bright[-1] or colours == DIVERGING
    return 4


def check_corners(library, path):
    save(library, path, [[math.nan, -math.inf, math.inf, 0.5]], colours=MAGMA, low=0, high=1)
    assert list(read(path)[4][0]) == [255, 0, 254, 127]
    save(library, path, [[math.nan, 3.0], [3.0, 3.0]], colours=GREY)
    assert [list(row) for row in read(path)[4]] == [[0, 0], [0, 0]]
    save(library, path, [[0.0, 1.0, 128.0, 255.0]], colours=GREY, low=0, high=256)
    assert list(read(path)[4][0]) == [0, 1, 128, 255]
    for value in (-1e17, 1e300):  # to which 1 adds nothing
        save(library, path, [[value, value]], colours=VIRIDIS)
        assert list(read(path)[4][0]) == [0, 0]
    save(library, path, [[-1.5e308, 0.0, 1.5e308]], colours=GREY)  # whose difference is no f64
    assert list(read(path)[4][0]) == [0, 128, 255]
    save(library, path, [[0.0]], colours=VIRIDIS)
    assert read(path)[2][:3] == b"\x44\x01\x54" and read(path)[2][254 * 3:255 * 3] == b"\xfd\xe7\x25"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--library", required=True)
    library = ctypes.CDLL(parser.parse_args().library)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "a.png")
        count = sum(check(library, path, *size) for size in [(1, 1), (7, 300), (300, 431), (2, 40000)])
        check_corners(library, path)
        print("%d pictures are as they should be" % count)


if __name__ == "__main__":
    sys.exit(main())
