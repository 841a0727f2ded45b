"""Runs programs of a range of seeds in this process, and writes what it found as lines of JSON."""

import json
import os
import pickle
import signal
import sys
import traceback

import extra
from generate import generate
from library import Library
from session import Failure, Session, describe
from shrink import shrink


BROKEN = "the reference is at fault:\n"


def say(**record):
    sys.stdout.write(json.dumps(record) + "\n")
    sys.stdout.flush()


def open_session(arguments):
    extra.open_library(arguments.extra)
    libraries = [Library(arguments.library, arguments.folder, dict(pair.split("=", 1) for pair in text.split()))
                 for text in arguments.settings]
    return Session(libraries)


def message_of(session, program):
    """How a program fails, or None."""
    try:
        session.check(program)
    except Failure as failure:
        return str(failure)
    except Exception:  # in the reference itself
        return BROKEN + traceback.format_exc()
    return None


def report(session, program, message):
    def fails(candidate):
        found = message_of(session, candidate)
        return found is not None and found.startswith(BROKEN) == message.startswith(BROKEN)

    smaller = shrink(program, fails)
    say(seed=program.seed, failed=message, program=describe(program), smallest=describe(smaller),
        smallest_failed=message_of(session, smaller))


def work(arguments):
    """Programs of the seeds first, first + step, ...; `progress` has the seed that is being run."""
    session = open_session(arguments)
    say(unsupported=sorted("%s(%s)" % (name, "bool integer float complex".split()[rank])
                           for name, rank in session.unsupported))
    done = 0
    with open(arguments.progress, "r+b", buffering=0) as progress:
        for number in range(arguments.count):
            seed = arguments.first + number * arguments.step
            progress.seek(0)
            progress.write(b"%40d" % seed)
            program = generate(seed, session.possible)
            message = message_of(session, program)
            if message:
                report(session, program, message)
            done += 1
            if done % 256 == 0:
                flush(session, 256)
    flush(session, done % 256)
    return 0


def flush(session, programs):
    """What was done since the last time."""
    say(programs=programs, exact=session.counts.exact, bounded=session.counts.bounded,
        unchecked=session.counts.unchecked)
    session.counts.exact = session.counts.bounded = session.counts.unchecked = 0


def replay(arguments):
    """One program that was kept in a file; the exit status is 1 if it fails."""
    session = open_session(arguments)
    with open(arguments.replay, "rb") as file:
        program = pickle.load(file)
    return 1 if message_of(session, program) else 0


def die_with_parent():
    """A worker must not go on when the process that started it is gone."""
    import ctypes
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)
    if os.getppid() == 1:
        sys.exit(1)
