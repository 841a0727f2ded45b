"""weft eval on large .npy files beside `cat a b > c` and numexpr doing the same job, in one run.

    build/peers/bin/python bench/eval_files.py --tool build/release/tools/weft --gigabytes 4

Makes a.npy and b.npy of f32, half of the size each, and reads them once, so that all start with them in the page
cache (as far as memory goes). Each round runs all three; before each the disk is idle and no output is there. A rate is what
is read and written, in GB a second; that of weft and cat is of the whole command, that of numexpr of the evaluation alone.
"""

import argparse
import json
import os
import statistics
import struct
import subprocess
import sys
import tempfile
import time

EXPRESSION = "1/a + 2*a*b"
NUMEXPR = """
import time, numpy, numexpr
a, b = (numpy.load(name, mmap_mode="r") for name in ("a.npy", "b.npy"))
began = time.perf_counter()
c = numpy.lib.format.open_memmap("c.npy", mode="w+", dtype=a.dtype, shape=a.shape)
numexpr.evaluate("%s", out=c)
del c
print(time.perf_counter() - began)
""" % EXPRESSION


def make_file(path, count, phase):
    """f32 from 1 to 2, the same million again and again."""
    text = "{'descr': '<f4', 'fortran_order': False, 'shape': (%d,), }" % count
    text += " " * (-(len(text) + 11) % 64) + "\n"
    block = struct.pack("<%df" % 1000000, *[1 + (k * 7919 + phase) % 1000000 / 1e6 for k in range(1000000)])
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode())
        for begin in range(0, count, 1000000):
            file.write(block[:4 * (count - begin)])


def prepare(count):
    for name, phase in (("a.npy", 0), ("b.npy", 500)):
        if not os.path.exists(name):
            make_file(name, count, phase)
    os.sync()


def run(command, output=None):
    """Seconds, what it printed, and the most memory it had, in MB."""
    for name in ("c.npy", "copy"):
        if os.path.exists(name):
            os.remove(name)
    for name in ("a.npy", "b.npy"):
        with open(name, "rb") as file:
            while file.read(1 << 24):
                pass
    os.sync()
    with open(output or os.devnull, "w") if output else tempfile.TemporaryFile("w+") as out:
        began = time.perf_counter()
        process = subprocess.Popen(command, stdout=out)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - began
        if status:
            sys.exit("%s failed" % command[0])
        printed = "" if output else (out.seek(0), out.read())[1]
    return seconds, printed, usage.ru_maxrss * 1024 / 1e6


def measure(tool, rounds, size, peer):
    rows = {}
    for _ in range(rounds):
        seconds, _, memory = run(["cat", "a.npy", "b.npy"], "copy")
        rows.setdefault("cat", []).append((2 * size / seconds, seconds, memory))
        seconds, _, memory = run(["cat", "a.npy"], "copy")  # writes no more than weft does
        rows.setdefault("cat a", []).append((size / seconds, seconds, memory))
        seconds, _, memory = run([tool, "eval", "c = " + EXPRESSION, "a=a.npy", "b=b.npy", "-o", "c=c.npy"])
        rows.setdefault("weft", []).append((1.5 * size / seconds, seconds, memory))
        if peer:
            _, printed, memory = run([sys.executable, "-c", NUMEXPR])
            rows.setdefault("numexpr", []).append((1.5 * size / float(printed), float(printed), memory))
    return {who: [statistics.median(column) for column in zip(*runs)] for who, runs in rows.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True, help="the command weft")
    parser.add_argument("--gigabytes", type=float, default=4, help="of both files together")
    parser.add_argument("--folder", default="build/bench-files", help="where they are; 2.5 times as much must be free")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--prepare", action="store_true", help="only make the files")
    parser.add_argument("--json", help="writes a list of {work, who, device, n, seconds, gbps} here")
    options = parser.parse_args()
    tool, count = os.path.abspath(options.tool), int(options.gigabytes * 1e9 / 8)
    path = options.json and os.path.abspath(options.json)
    os.makedirs(options.folder, exist_ok=True)
    os.chdir(options.folder)
    prepare(count)
    if options.prepare:
        return
    peer = subprocess.run([sys.executable, "-c", "import numexpr"], stderr=subprocess.DEVNULL).returncode == 0
    found = measure(tool, options.rounds, 8e-9 * count, peer)
    print("| who | GB/s | seconds | most memory, MB | beside cat |\n|---|---|---|---|---|")
    for who, (rate, seconds, memory) in found.items():
        print("| %s | %.2f | %.2f | %.0f | %.2f |" % (who, rate, seconds, memory, rate / found["cat"][0]))
    if path:
        with open(path, "w") as file:
            json.dump([{"work": "c = " + EXPRESSION + " on files", "who": who, "device": "cpu", "n": count,
                        "seconds": row[1], "gbps": row[0]} for who, row in found.items()], file, indent=1)


if __name__ == "__main__":
    main()
