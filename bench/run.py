"""Runs Weft's benchmarks and the peers' side by side in one run; prints a table, writes JSON.

Run it with ./dev bench. Every figure is the median of 5. Peers that cannot be imported are left out.
"""
import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import time

RUNS = 5
SIDE = 8192


def median_seconds(body, repeat):
    """Seconds of one call: a warm-up, then the median of RUNS runs of `repeat` calls."""
    body()
    runs = []
    for _ in range(RUNS):
        start = time.perf_counter()
        for _ in range(repeat):
            body()
        runs.append((time.perf_counter() - start) / repeat)
    return statistics.median(runs)


def row(work, who, n, seconds, moved):
    return {"work": work, "who": who, "device": "cpu", "n": n, "seconds": seconds,
            "gbps": moved / seconds * 1e-9}


def measure(who, rows):
    for work, body, n, moved, repeat in rows:
        yield row(work, who, n, median_seconds(body, repeat), moved)


def numpy_rows():
    import numpy
    a = numpy.ones((SIDE, SIDE), numpy.float32)
    b = numpy.ones((SIDE, SIDE), numpy.float32)
    half = numpy.ones((SIDE, SIDE // 2), numpy.float32)
    count = SIDE * SIDE

    def touched_zeros():
        numpy.zeros(1 << 26, numpy.float32)[::1024] = 0  # calloc: the pages come when they are touched

    return "numpy " + numpy.__version__, [
        ("make and release 1024 f32", lambda: numpy.empty(1024, numpy.float32), 1024, 0, 100000),
        ("zeros, 1024 f32", lambda: numpy.zeros(1024, numpy.float32), 1024, 4096, 100000),
        ("zeros, 2^26 f32", lambda: numpy.zeros(1 << 26, numpy.float32), 1 << 26, 4 << 26, 1),
        ("zeros, 2^26 f32, each page touched", touched_zeros, 1 << 26, 4 << 26, 1),
        ("copy 8192^2 f32", lambda: numpy.copyto(b, a), count, 8 * count, 1),
        ("copy of a transposed 8192^2 f32", lambda: numpy.copyto(b, a.T), count, 8 * count, 1),
        ("copy of a[:, ::2], 8192^2 f32", lambda: numpy.copyto(half, a[:, ::2]), count // 2,
         6 * count, 1),
    ]


def torch_rows():
    import torch
    torch.set_num_threads(int(os.environ.get("WEFT_THREADS", len(os.sched_getaffinity(0)))))
    a = torch.ones(SIDE, SIDE)
    b = torch.ones(SIDE, SIDE)
    half = torch.ones(SIDE, SIDE // 2)
    count = SIDE * SIDE
    return "torch " + torch.__version__, [
        ("make and release 1024 f32", lambda: torch.empty(1024), 1024, 0, 100000),
        ("zeros, 1024 f32", lambda: torch.zeros(1024), 1024, 4096, 100000),
        ("zeros, 2^26 f32", lambda: torch.zeros(1 << 26), 1 << 26, 4 << 26, 1),
        ("copy 8192^2 f32", lambda: b.copy_(a), count, 8 * count, 1),
        ("copy of a transposed 8192^2 f32", lambda: b.copy_(a.t()), count, 8 * count, 1),
        ("copy of a[:, ::2], 8192^2 f32", lambda: half.copy_(a[:, ::2]), count // 2, 6 * count, 1),
    ]


def peers():
    for make in (numpy_rows, torch_rows):
        try:
            who, rows = make()
        except ImportError as error:
            print(f"left out: {error}", file=sys.stderr)
            continue
        print(f"      {who}", file=sys.stderr)
        yield from measure(who, rows)


def weft():
    program = os.path.join(os.environ.get("WEFT_BUILD", "build/release"), "bench", "rows")
    print("      weft, and plain C", file=sys.stderr)
    done = subprocess.run([program], check=True, stdout=subprocess.PIPE, text=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def human(seconds):
    for unit, scale in (("s", 1), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def print_table(rows):
    times = {(r["work"], r["who"]): r for r in rows}
    for work in dict.fromkeys(r["work"] for r in rows):
        print(work)
        own = times.get((work, "weft"))
        for (other, who), r in times.items():
            if other != work:
                continue
            rate = f"{r['gbps']:8.1f} GB/s" if r["gbps"] > 0 else " " * 13
            ratio = f"   {r['seconds'] / own['seconds']:6.2f} x weft's time" if own and r is not own else ""
            print(f"    {who:16} {human(r['seconds']):>10} {rate}{ratio}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", metavar="FILE", help="write the rows to FILE")
    options = parser.parse_args()
    rows = weft() + list(peers())
    print(f"\n{platform.machine()}, {len(os.sched_getaffinity(0))} CPUs; medians of {RUNS}\n")
    print_table(rows)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)


if __name__ == "__main__":
    main()
