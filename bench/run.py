"""Runs Weft's benchmarks and the peers' side by side in one run; prints a table and what it reaches, writes JSON.

Run it with ./dev bench. All programs stay alive and do each row in turn, round after round, so that what else the
machine does hits all of them alike. Every figure is the median of the rounds. Peers that cannot be imported are left out.
"""
import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import time

import targets

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = {  # of each kind of device
    "cpu": {"expressions": "weft: expressions", "hand": "written by hand", "arrays": "weft: arrays"},
    "cuda": {"expressions": "weft: expressions", "floor": "without Weft"},
    "opencl": {"expressions": "weft: expressions", "hand_opencl": "written by hand"},
}
PEERS = {"cpu": ("numpy", "numexpr", "numba", "torch", "jax"), "cuda": (), "opencl": ("pyopencl",)}
FILES = {"pyopencl": "peers_opencl.py"}  # of those that are not in peers.py
ROUNDS = 5
PAUSE = 0.03  # seconds: threads of the program before have stopped waiting for more
ROOM = 3 << 30  # bytes that a program may need


def left_out(what, why):
    print(f"left out: {what}: {why}", file=sys.stderr)


class Program:
    """A process that has rows and measures one when asked."""

    def __init__(self, name, command):
        print(f"      {name}", file=sys.stderr)
        self.name = name
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True)
        self.rows = []
        for line in self.process.stdout:
            if line.startswith("ready"):
                return
            if line.startswith("{"):
                self.rows.append(json.loads(line))
        self.rows = []
        left_out(name, "it does not start")

    def measure(self, number):
        """Adds a figure to the row; false if there is none."""
        try:
            self.process.stdin.write(f"{number}\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
            while line and not line.startswith("{"):
                line = self.process.stdout.readline()
            answer = json.loads(line)
        except (OSError, ValueError):
            answer = {"error": "the program ended"}
        row = self.rows[number]
        if "error" in answer:
            left_out(f"{row['who']}, {row['work']}", answer["error"])
            return False
        row.setdefault("all_seconds", []).append(answer["seconds"])
        if "extra_bytes" in answer:
            row["extra_bytes"] = answer["extra_bytes"]
        return True

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def kind_of(device):
    return device.partition(":")[0]


def free_bytes():
    with open("/proc/meminfo", encoding="ascii") as file:
        return next((int(line.split()[1]) << 10 for line in file if line.startswith("MemAvailable")), 0)


def start(device, peers):
    folder = os.path.join(os.environ.get("WEFT_BUILD", "build/release"), "bench")
    arguments = [] if device == "cpu" else ["--device", device]
    commands = [(name, [os.path.join(folder, k), "serve", *arguments])
                for k, name in PROGRAMS[kind_of(device)].items() if os.path.exists(os.path.join(folder, k))]
    commands += [(k, [sys.executable, os.path.join(HERE, FILES.get(k, "peers.py")), k, *arguments]) for k in peers]
    programs = []
    for name, command in commands:
        if free_bytes() < ROOM:
            left_out(name, f"less than {ROOM >> 30} GiB of memory are free; measure fewer peers at once")
        else:
            programs.append(Program(name, command))
    return programs


def measure_work(programs, work):
    """One row by all programs that have it: once to warm up, then in turn."""
    takers = [(p, k) for p in programs for k, row in enumerate(p.rows) if row["work"] == work]
    takers = [(p, k) for p, k in takers if p.measure(k)]
    for p, k in takers:
        p.rows[k]["all_seconds"] = []
    for _ in range(ROUNDS):
        for p, k in takers:
            time.sleep(PAUSE)
            p.measure(k)
    return [finished(p.rows[k]) for p, k in takers if p.rows[k]["all_seconds"]]


def finished(row):
    row["seconds"] = statistics.median(row["all_seconds"])
    row["gbps"] = row["bytes"] / row["seconds"] * 1e-9
    return row


def human(seconds):
    for unit, scale in (("s", 1), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def print_row(r, own):
    rate = f"{r['gbps']:8.1f} GB/s" if r["gbps"] > 0 else " " * 13
    ratio = f"   {r['seconds'] / own['seconds']:6.2f} x weft's time" if own and r is not own else ""
    spread = f"   {human(min(r['all_seconds']))} to {human(max(r['all_seconds']))}"
    print(f"    {r['who']:16} {human(r['seconds']):>10} {rate}{ratio:22}{spread}")


def print_work(rows):
    own = next((r for r in rows if r["who"] == "weft"), None)
    if rows:
        print(rows[0]["work"])
    for r in rows:
        print_row(r, own)
    sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", metavar="FILE", help="write the rows to FILE")
    parser.add_argument("--only", metavar="TEXT", default="", help="only the rows whose name has TEXT in it")
    parser.add_argument("--device", metavar="NAME", default="cpu", help="%(default)s, opencl:N or cuda:N")
    parser.add_argument("--peers", metavar="NAMES", help="some of those of the device, with commas; or none: "
                        + "; ".join(f"{kind} has {', '.join(names) or 'none'}" for kind, names in PEERS.items()))
    options = parser.parse_args()
    kind = kind_of(options.device)
    if kind not in PROGRAMS:
        parser.error(f"--device {options.device}: cpu, opencl:N or cuda:N was expected")
    peers = options.peers.split(",") if options.peers else PEERS[kind]
    programs = start(options.device, [k for k in peers if k != "none"])
    print(f"\n{platform.machine()}, {len(os.sched_getaffinity(0))} CPUs; {options.device}; medians of {ROUNDS}\n")
    rows = []
    for work in dict.fromkeys(row["work"] for p in programs for row in p.rows):
        if options.only in work:
            measured = measure_work(programs, work)
            print_work(measured)
            rows += measured
    for p in programs:
        p.end()
    print()
    targets.print_report(rows, kind)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)


if __name__ == "__main__":
    main()
