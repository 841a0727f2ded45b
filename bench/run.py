"""Runs Weft's benchmarks and the peers' side by side in one run; prints a table and what it reaches, keeps the results.

Run it with ./dev bench. All programs stay alive and do each row in turn, round after round, so that what else the
machine does hits all of them alike. Every figure is the median of the rounds, and so is every ratio, which is taken in
each round. Peers that cannot be imported are left out.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import time

import results
import targets

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = {  # of each kind of device
    "cpu": {"expressions": "weft: expressions", "hand": "written by hand", "arrays": "weft: arrays"},
    "cuda": {"expressions": "weft: expressions", "dtypes": "weft: other types", "floor": "without Weft"},
    "opencl": {"expressions": "weft: expressions", "hand_opencl": "written by hand"},
}
SERIES = {
    "cpu": {"series": "weft: by size and length", "hand_series": "written by hand"},
    "cuda": {"series": "weft: by size and length"},
    "opencl": {"series": "weft: by size and length"},
}
PEERS = {"cpu": ("numpy", "numexpr", "numba", "torch", "jax"), "cuda": ("torch", "jax", "cupy"), "opencl": ("pyopencl",)}
FILES = {"cpu": "peers.py", "cuda": "peers_cuda.py", "opencl": "peers_opencl.py"}
SERIES_FILES = {name: "peers_series.py" for name in PEERS["cpu"]}
SERIES_WORKS = ([f"c += 1/a + 2ab, 2^{2 * k} elements" for k in range(15)]
                + [f"{2 << 2 * k} terms on 2^20 elements" for k in range(7)])
ROUNDS = {"cpu": 61, "cuda": 5, "opencl": 15}  # where memory is shared with others, a ratio of one round is off by a tenth
FEW_ROUNDS, NEAR = 5, 2  # of who takes more than so many times as long as Weft
PAIRS = 15  # of a call and the loop that it does, whose difference is a few hundredths of a microsecond
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

    def measure(self, number, into="all_seconds"):
        """Adds a figure to a list of the row's; false if there is none."""
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
        row.setdefault(into, []).append(answer["seconds"])
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


def start(device, programs, peers):
    """The programs, by the names of their files, and the peers, by theirs."""
    folder = os.path.join(os.environ.get("WEFT_BUILD", "build/release"), "bench")
    arguments = [] if device == "cpu" else ["--device", device]
    commands = [(name, [os.path.join(folder, k), "serve", *arguments])
                for k, name in programs.items() if os.path.exists(os.path.join(folder, k))]
    commands += [(k, [sys.executable, os.path.join(HERE, file), k, *arguments]) for k, file in peers.items()]
    started = []
    for name, command in commands:
        if free_bytes() < ROOM:
            left_out(name, f"less than {ROOM >> 30} GiB of memory are free; measure fewer peers at once")
        else:
            started.append(Program(name, command))
    return started


def start_beside(device):
    """Weft's expressions on another device, whose rows say so."""
    programs = start(device, {"expressions": f"{targets.BESIDE}{device}"}, {})
    for row in (row for p in programs for row in p.rows):
        row["who"] = f"{targets.BESIDE}{device}"
    return programs


def takers_of(programs, work, who=None):
    """Programs that have the row, each with its number there; those that cannot measure it are left out."""
    takers = [(p, k) for p in programs for k, row in enumerate(p.rows)
              if row["work"] == work and who in (None, row["who"])]
    return measured(takers, "warm_up")


def measured(takers, into):
    """Those that could, one after the other: who fails once is left out, as rounds are compared with each other."""
    kept = []
    for p, k in takers:
        time.sleep(PAUSE)
        if p.measure(k, into):
            kept.append((p, k))
    return kept


def near(takers):
    """Those that do not take much longer than Weft."""
    times = [statistics.median(p.rows[k]["all_seconds"]) for p, k in takers]
    own = max((t for t, (p, k) in zip(times, takers) if p.rows[k]["who"] == "weft"), default=0)
    return [taker for t, taker in zip(times, takers) if t <= NEAR * own]


def measure_work(programs, work, rounds):
    """One row by all programs that have it: once to warm up, then in turn. So is another row whose rate it is compared
    with, right after Weft, which is the first: the speed of memory may change from one second to the next."""
    all_takers = takers = takers_of(programs, work)
    beside = takers_of(programs, *targets.PARTS[work][:2])[:1] if work in targets.PARTS else []
    for p, k in beside:
        p.rows[k]["beside"] = []
    far = []
    for turn in range(rounds):
        if turn == FEW_ROUNDS:
            close = near(takers)
            far, takers = [t for t in takers if t not in close], close
        first, beside = measured(takers[:1], "all_seconds"), measured(beside, "beside")
        takers = first + measured(takers[1:], "all_seconds")
    takers = [t for t in all_takers if t in takers + far]
    if work in targets.CALLS:
        measure_beyond(programs, takers, targets.CALLS[work])
    for row, other in [(p.rows[k], q.rows[j]) for p, k in takers for q, j in beside]:
        row["of_beside"] = targets.part_of(other["beside"], row["all_seconds"]) * row["bytes"] / other["bytes"]
    return [finished(p.rows[k]) for p, k in takers]


def measure_beyond(programs, takers, calls):
    """What a call of Weft's costs beyond its loop by hand: the median of differences of two that were measured one
    right after the other, as the processor is faster in one second than in another."""
    own = next(((p, k) for p, k in takers if p.rows[k]["who"] == "weft"), None)
    loop = next(iter(takers_of(programs, targets.FUSED_SMALL, "hand")), None) if own else None
    if not loop:
        return
    row, by_hand = own[0].rows[own[1]], loop[0].rows[loop[1]]
    row["call_pairs"], by_hand["loop_pairs"] = [], []
    for _ in range(PAIRS):
        if not (measured([loop], "loop_pairs") and measured([own], "call_pairs")):
            return
    loops = by_hand.pop("loop_pairs")
    row["loop_seconds"] = statistics.median(loops)
    row["beyond_loop"] = [t / calls - s for t, s in zip(row.pop("call_pairs"), loops)]


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
    times = own and r is not own and targets.part_of(r["all_seconds"], own["all_seconds"])
    ratio = f"   {times:6.2f} x weft's time" if times else ""
    spread = f"   {human(min(r['all_seconds']))} to {human(max(r['all_seconds']))}"
    print(f"    {r['who']:16} {human(r['seconds']):>10} {rate}{ratio:22}{spread}")


def print_work(rows):
    own = next((r for r in rows if r["who"] == "weft"), None)
    if rows:
        print(rows[0]["work"])
    for r in rows:
        print_row(r, own)
    sys.stdout.flush()


def measure_all(programs, only, rounds):
    rows = []
    for work in dict.fromkeys(row["work"] for p in programs for row in p.rows):
        if only in work:
            measured = measure_work(programs, work, rounds)
            print_work(measured)
            rows += measured
    for p in programs:
        p.end()
    return rows


def read_options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", metavar="FILE", help="write the rows to FILE")
    parser.add_argument("--only", metavar="TEXT", default="", help="only the rows whose name has TEXT in it")
    parser.add_argument("--device", metavar="NAME", default="cpu", help="%(default)s, opencl:N or cuda:N")
    parser.add_argument("--beside", metavar="NAME", help="another device of Weft's, in the same run")
    parser.add_argument("--peers", metavar="NAMES", help="some of those of the device, with commas; or none: "
                        + "; ".join(f"{kind} has {', '.join(names) or 'none'}" for kind, names in PEERS.items()))
    parser.add_argument("--no-series", action="store_true", help="without those by size and length, which no bound is for")
    parser.add_argument("--keep", choices=("auto", "always", "never"), default="auto",
                        help="results, plots and what the README shows, in bench/results; auto: of a run of all rows and peers")
    options = parser.parse_args()
    kind = kind_of(options.device)
    if kind not in PROGRAMS:
        parser.error(f"--device {options.device}: cpu, opencl:N or cuda:N was expected")
    whole = not (options.only or options.peers or options.beside or options.no_series)
    options.kept = options.keep == "always" or options.keep == "auto" and whole
    options.peers = [k for k in (options.peers.split(",") if options.peers else PEERS[kind]) if k != "none"]
    wrong = [k for k in options.peers if k not in PEERS[kind]]
    if wrong:
        parser.error(f"--peers {wrong[0]}: {kind} has {', '.join(PEERS[kind]) or 'none'}")
    return options


def main():
    options = read_options()
    kind = kind_of(options.device)
    rounds = ROUNDS[kind]
    print(f"\n{results.machine(options.device)}; {options.device}; medians of {rounds}, of who is far behind of {FEW_ROUNDS}\n", flush=True)
    programs = start(options.device, PROGRAMS[kind], {k: FILES[kind] for k in options.peers})
    programs += start_beside(options.beside) if options.beside else []
    rows = measure_all(programs, options.only, rounds)
    series = []
    if not options.no_series and any(options.only in work for work in SERIES_WORKS):
        peers = {k: SERIES_FILES[k] for k in options.peers if kind == "cpu"}
        series = measure_all(start(options.device, SERIES[kind], peers), options.only, FEW_ROUNDS)
    report = list(targets.report(rows, kind))
    print("\n" + "\n".join(report))
    if options.json:
        results.write_json(rows + series, options.json)
    if options.kept:
        print("\nkept in " + os.path.relpath(results.keep(rows + series, options.device, report)))


if __name__ == "__main__":
    main()
