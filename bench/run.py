"""Runs Weft's benchmarks and the peers' side by side in one run; prints a table, writes JSON.

Run it with ./dev bench. Every figure is the median of 5. Peers that cannot be imported are left out.
"""
import argparse
import json
import os
import platform
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = "arrays", "expressions", "hand"
PEERS = "numpy", "numexpr", "numba", "torch", "jax"


def rows_of(name, command):
    """The rows that one program prints; one that fails leaves those before it."""
    print(f"      {name}", file=sys.stderr)
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    for line in done.stderr.splitlines():
        if line.startswith("left out"):
            print(f"      {line}", file=sys.stderr)
    if done.returncode != 0:
        print(f"left out: {name}: {(done.stderr.strip().splitlines() or ['no message'])[-1]}", file=sys.stderr)
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def measure(peers):
    folder = os.path.join(os.environ.get("WEFT_BUILD", "build/release"), "bench")
    rows = []
    for name in PROGRAMS:
        program = os.path.join(folder, name)
        if os.path.exists(program):
            rows += rows_of({"hand": "written by hand"}.get(name, "weft: " + name), [program])
    for name in peers:
        rows += rows_of(name, [sys.executable, os.path.join(HERE, "peers.py"), name])
    return rows


def human(seconds):
    for unit, scale in (("s", 1), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def print_row(r, own):
    rate = f"{r['gbps']:8.1f} GB/s" if r["gbps"] > 0 else " " * 13
    ratio = f"   {r['seconds'] / own['seconds']:6.2f} x weft's time" if own and r is not own else ""
    extra = f"   {r['extra_bytes']} bytes beyond inputs and outputs" if r.get("extra_bytes") else ""
    print(f"    {r['who']:16} {human(r['seconds']):>10} {rate}{ratio}{extra}")


def print_table(rows):
    for work in dict.fromkeys(r["work"] for r in rows):
        same = [r for r in rows if r["work"] == work]
        own = next((r for r in same if r["who"] == "weft"), None)
        print(work)
        for r in same:
            print_row(r, own)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", metavar="FILE", help="write the rows to FILE")
    parser.add_argument("--only", metavar="TEXT", help="only the rows whose name has TEXT in it")
    parser.add_argument("--peers", metavar="NAMES", default=",".join(PEERS),
                        help="some of %(default)s, with commas; or none")
    options = parser.parse_args()
    if options.only:
        os.environ["WEFT_BENCH_ONLY"] = options.only
    rows = measure([] if options.peers == "none" else options.peers.split(","))
    print(f"\n{platform.machine()}, {len(os.sched_getaffinity(0))} CPUs; medians of 5\n")
    print_table(rows)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)


if __name__ == "__main__":
    main()
