"""Runs random programs on the library's engines and on NumPy, and compares every bit. See README.md."""

import argparse
import json
import os
import pickle
import secrets
import shlex
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
SKIPPED = 77
# Each copy of the library takes some of the memory for thread-local data that programs have to spare. And what
# compilers free is kept, which saves a tenth of the time.
ENVIRONMENT = dict(os.environ, GLIBC_TUNABLES="glibc.rtld.optional_static_tls=16384:glibc.malloc.top_pad=67108864"
                   ":glibc.malloc.trim_threshold=1073741824:glibc.malloc.mmap_threshold=1073741824")
BATCH = 512  # programs of one process, which then starts anew with other settings
BATCH_DEVICE = 64  # on a device whose compiler is slow: so that all processors have some

# Settings of the copies of the library in one process: all must give the same bits. The first also answers for
# functions alone. Copies that share a folder find on the disk what the others compiled.
ALONE, SHARED = "WEFT_CACHE=off", "WEFT_CACHE=on WEFT_CACHE_DIR=@"
SETTINGS = (
    ("WEFT_ENGINE=interpreter WEFT_THREADS=1", "WEFT_ENGINE=llvm WEFT_THREADS=2 " + ALONE, "WEFT_ENGINE=quick WEFT_THREADS=1"),
    ("WEFT_ENGINE=interpreter WEFT_THREADS=8", "WEFT_ENGINE=llvm WEFT_THREADS=1 " + SHARED,
     "WEFT_ENGINE=llvm WEFT_THREADS=2 " + SHARED),
    ("WEFT_ENGINE=interpreter WEFT_THREADS=2 WEFT_ISA=baseline", "WEFT_ENGINE=llvm WEFT_THREADS=8 " + ALONE,
     "WEFT_ENGINE=llvm WEFT_THREADS=1 WEFT_ISA=avx2 " + ALONE),
    ("WEFT_ENGINE=interpreter WEFT_THREADS=1 WEFT_ISA=avx2", "WEFT_ENGINE=llvm WEFT_THREADS=2 WEFT_ISA=baseline " + SHARED,
     "WEFT_ENGINE=auto WEFT_THREADS=1 " + SHARED),
)
# Beside both engines of the CPU.
DEVICE = (
    ("WEFT_ENGINE=interpreter WEFT_THREADS=1", "WEFT_ENGINE=llvm WEFT_THREADS=2 " + ALONE,
     "WEFT_DEVICE=%s WEFT_ENGINE=interpreter POCL_CACHE_DIR=@ " + ALONE),
)


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--library", default="build/release/libweft.so", help="the shared library")
    parser.add_argument("--extra", help="the shared library of extra.c; beside the tests unless given")
    parser.add_argument("--count", type=int, default=20000, help="programs to run")
    parser.add_argument("--seed", type=int, help="the first seed; a fresh one unless given")
    parser.add_argument("--one", action="store_true", help="only the program of --seed, and say what it is")
    parser.add_argument("--workers", type=int, default=0, help="processes at once; one for each processor unless given")
    parser.add_argument("--seconds", type=float, default=0, help="stop after this time, whatever was done")
    parser.add_argument("--failures", type=int, default=5, help="stop after so many failures")
    parser.add_argument("--device", help="a device that is not the CPU, to be compared with both engines of the CPU")
    parser.add_argument("--settings", action="append", help="environment of a copy of the library, instead of the usual")
    for name in ("--worker", "--replay", "--progress", "--folder"):
        parser.add_argument(name, help=argparse.SUPPRESS)
    parser.add_argument("--first", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--step", type=int, default=1, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if not arguments.extra:
        arguments.extra = os.path.join(os.path.dirname(arguments.library), "tests", "libweft_random_extra.so")
    return arguments


class Summary:
    """What all workers found."""

    def __init__(self, count):
        self.lock = threading.Lock()
        self.programs = self.exact = self.bounded = self.unchecked = 0
        self.unsupported, self.failures = [], []
        self.count, self.start, self.shown = count, time.time(), 0

    def show_progress(self):
        """On a terminal, about once a second."""
        now = time.time()
        if sys.stderr.isatty() and now - self.shown > 1:
            self.shown = now
            print("\r%d of %d programs, %.0f a second, %d failed " % (
                self.programs, self.count, self.programs / (now - self.start), len(self.failures)),
                end="", file=sys.stderr, flush=True)

    def take(self, record, settings):
        with self.lock:
            for name in ("programs", "exact", "bounded", "unchecked"):
                setattr(self, name, getattr(self, name) + record.get(name, 0))
            self.unsupported = record.get("unsupported", self.unsupported)
            self.show_progress()
            if "failed" in record:
                self.failures.append(record)
                show(dict(record, settings=settings))


def show(record):
    print("FAILED: seed %d: %s" % (record["seed"], record["failed"]))
    print(record["program"])
    if record.get("smallest"):
        print("smaller: %s" % record["smallest_failed"])
        print(record["smallest"])
    settings = "".join(" --settings " + shlex.quote(text) for text in record["settings"])
    print("again:    tests/random/run.sh run.py --one --seed %d%s" % (record["seed"], settings), flush=True)


class Batches:
    """Hands out ranges of seeds until all are done, time is up, or too much has failed."""

    def __init__(self, arguments, summary):
        self.arguments, self.summary = arguments, summary
        self.given, self.number, self.start = 0, 0, time.time()
        self.lock = threading.Lock()

    def next(self):
        with self.lock:
            late = self.arguments.seconds and time.time() - self.start > self.arguments.seconds
            if self.given >= self.arguments.count or late or len(self.summary.failures) >= self.arguments.failures:
                return None
            count = min(BATCH_DEVICE if self.arguments.device else BATCH, self.arguments.count - self.given)
            batch = self.arguments.seed + self.given, count, self.number
            self.given += count
            self.number += 1
            return batch


def command(arguments, settings, folder, *more):
    line = [sys.executable, os.path.join(HERE, "run.py"), "--library", arguments.library, "--extra", arguments.extra,
            "--folder", folder]
    for text in settings:
        line += ["--settings", text.replace("@", os.path.join(folder, "cache"))]
    return line + list(more)


def settings_of(arguments, number):
    if not arguments.device:
        return SETTINGS[number % len(SETTINGS)]
    return [text % arguments.device if "%s" in text else text for text in DEVICE[number % len(DEVICE)]]


def run_batch(arguments, batch, summary, folder):
    """One process for a range of seeds. If it dies, the program it died of is a failure, and the rest is run."""
    first, count, number = batch
    settings = arguments.settings or settings_of(arguments, number)
    progress = os.path.join(folder, "progress-%d" % number)
    while count > 0:
        with open(progress, "wb") as file:
            file.write(b"%40d" % first)
        line = command(arguments, settings, folder, "--worker", "1", "--first", str(first), "--count", str(count),
                       "--progress", progress)
        process = subprocess.Popen(line, stdout=subprocess.PIPE, text=True, env=ENVIRONMENT)
        for text in process.stdout:
            summary.take(json.loads(text), settings)
        if process.wait() == 0 or len(summary.failures) >= arguments.failures:
            return
        if process.returncode > 0:
            summary.take({"seed": first, "failed": "a worker could not start", "program": " ".join(line)}, settings)
            return
        with open(progress, "rb") as file:
            seed = int(file.read())
        summary.take(died(arguments, settings, folder, seed, process.returncode), settings)
        count -= seed + 1 - first
        first = seed + 1


def died(arguments, settings, folder, seed, status):
    """The record of a program that ended its process, made smaller by processes of their own."""
    from generate import generate
    from session import describe
    from shrink import shrink
    program = generate(seed, lambda name, rank: True)
    text = "the process ended with status %d" % status
    path = os.path.join(folder, "replay-%d" % seed)

    def fails(candidate):
        with open(path, "wb") as file:
            pickle.dump(candidate, file)
        line = command(arguments, settings, folder, "--replay", path)
        return subprocess.run(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=ENVIRONMENT).returncode < 0

    if not fails(program):
        return {"seed": seed, "failed": text + ", and not when it runs alone", "program": describe(program)}
    smaller = shrink(program, fails, tries=60)
    return {"seed": seed, "failed": text, "program": describe(program), "smallest": describe(smaller),
            "smallest_failed": text}


def run_all(arguments, summary, folder):
    batches = Batches(arguments, summary)

    def worker():
        while True:
            batch = batches.next()
            if batch is None:
                return
            run_batch(arguments, batch, summary, folder)

    count = arguments.workers or len(os.sched_getaffinity(0))
    threads = [threading.Thread(target=worker) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def main():
    arguments = parse()
    try:
        import numpy
    except ImportError:
        print("skipped: this Python has no NumPy (apt-get install python3-numpy, or pip install numpy)")
        return SKIPPED
    if arguments.worker or arguments.replay:
        import worker
        worker.die_with_parent()
        return worker.work(arguments) if arguments.worker else worker.replay(arguments)
    import tables
    if tables.unknown_operations():
        print("no random program has these operations: %s (tests/random/program.py)" % ", ".join(tables.unknown_operations()))
        return 1
    if arguments.seed is None:
        arguments.seed = secrets.randbits(48)
    if arguments.one:
        arguments.count = 1
    print("random programs: seeds %d to %d, NumPy %s" % (arguments.seed, arguments.seed + arguments.count - 1,
                                                         numpy.__version__), flush=True)
    summary = Summary(arguments.count)
    with tempfile.TemporaryDirectory(prefix="weft-random-") as folder:
        os.mkdir(os.path.join(folder, "cache"))
        run_all(arguments, summary, folder)
    seconds = time.time() - summary.start
    if sys.stderr.isatty():
        print(file=sys.stderr)
    print("%d programs in %.0f s, %d failed; %d elements compared bit by bit, %d results of functions with their bounds, "
          "%d complex ones near or beyond the ends of the range only between engines"
          % (summary.programs, seconds, len(summary.failures), summary.exact, summary.bounded, summary.unchecked))
    if summary.unsupported:
        print("not computed by the library yet: %s" % ", ".join(summary.unsupported))
    return 1 if summary.failures or not summary.programs else 0


if __name__ == "__main__":
    sys.exit(main())
