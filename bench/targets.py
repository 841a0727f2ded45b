"""What each row shall reach, as a report: nothing fails by it.

Every row: 0.98 of the fastest peer and 0.95 of what is written by hand, in the same run, and no memory beyond inputs
and outputs. Some rows have a bound of their own on the CPU.
"""
import statistics

PEER, HAND = 0.98, 0.95
NOT_PEERS = "weft", "hand", "memcpy", "bare enqueue", "bare launch", "driver"
MEMORY_PART = 0.01  # of what the row moves: partial results of threads

RATES = {"sin(exp(a))": 12, "a + b.T": 20, "sum(sin(a)*a)": 11, "laplacian(a), 400^3": 22, "uniform random": 6}  # GB/s
H200 = {"a += b": 4300, "c += 1/a + 2ab": 4350, "where(a >= b, a - b, b - a)": 4300, "sin(exp(a))": 4050, "a + b.T": 4130,
        "(a - row)*row": 4200, "sum(a)": 4350, "sum(a) axis 0": 4200, "sum(a) axis 1": 4200, "sum(sin(a)*a)": 4000,
        "sum(sin(a)*a) axis 0": 4000, "sum(sin(a)*a) axis 1": 4000, "laplacian(a), 640^3": 3800, "uniform random": 4000}
OF_COPY = 0.9  # of the rate of a copy by the driver: rows of other types on a GPU
BARE = 1.1  # a call on a GPU beside a bare launch
BESIDE, OF_FIRST = "weft on ", 0.9  # Weft on another device in the same run, of the first one's rate
PARTS = {  # of another row's rate: which row, of whom, how much
    "where(a >= b, a - b, b - a)": ("c = a + b", "hand", 0.95),
    "(a - row)*row": ("streaming copy", "hand", 0.9),
    "sum(a) axis 0": ("sum(a)", "weft", 0.9),
    "sum(a) axis 1": ("sum(a)", "weft", 0.9),
}
ADD_SMALL, FUSED_SMALL = (f"call on 1024 elements, 1-d: {code}" for code in ("c = a + b", "c += 1/a + 2ab"))
SECONDS = {ADD_SMALL: 0.25e-6, FUSED_SMALL: 0.4e-6}
BEYOND_LOOP = 150e-9  # seconds that a call of the second may cost beyond its loop by hand
EAGER, TIMES_EAGER = ("numpy", "torch"), 10  # how much more a call costs there, its loop aside
CALLS = {f"{calls}call{s} on 1024 elements, {ndim}-d: c += 1/a + 2ab": count  # calls that are one timing
         for ndim in (1, 3, 8) for calls, s, count in (("", "", 1), ("200 ", "s", 200))}


def find(rows, work, who):
    return next((r for r in rows if r["work"] == work and r["who"] == who), None)


def part_of(others, owns):
    """The speed of the second as a part of the first's: the median of the parts in each of the rounds that both had."""
    return statistics.median(other / own for other, own in zip(others, owns))


def of_peers(rows, own):
    peers = [r for r in rows if r["work"] == own["work"] and r["who"] not in NOT_PEERS and not r["who"].startswith(BESIDE)]
    if not peers:
        return
    part, best = min((part_of(r["all_seconds"], own["all_seconds"]), r["who"]) for r in peers)
    yield part >= PEER, f"{part:.3f} of the speed of {best}, the fastest peer (at least {PEER})"


def of_hand(rows, own):
    hand = find(rows, own["work"], "hand")
    if hand:
        part = part_of(hand["all_seconds"], own["all_seconds"])
        yield part >= HAND, f"{part:.3f} of the speed by hand (at least {HAND})"


def of_parts(own):
    part = own.get("of_beside")
    if part:
        work, who, least = PARTS[own["work"]]
        yield part >= least, f"{part:.3f} of the rate of {work}, {who}, in turn with it (at least {least})"


def of_bounds(own):
    work = own["work"]
    if work in RATES:
        yield own["gbps"] >= RATES[work], f"{own['gbps']:.1f} GB/s (at least {RATES[work]})"
    if work in SECONDS:
        yield own["seconds"] <= SECONDS[work], f"{own['seconds'] * 1e9:.0f} ns (at most {SECONDS[work] * 1e9:.0f})"


def of_calls(rows, own):
    """What a call costs beyond the loop that it does, which was measured in turn with it."""
    all_beyond = own.get("beyond_loop")
    if not all_beyond:
        return
    beyond = statistics.median(all_beyond)
    yield (beyond <= BEYOND_LOOP,
           f"{beyond * 1e9:.0f} ns a call beyond the loop by hand (at most {BEYOND_LOOP * 1e9:.0f}; "
           f"{min(all_beyond) * 1e9:.0f} to {max(all_beyond) * 1e9:.0f})")
    for who in EAGER:
        peer = find(rows, own["work"], who)
        if peer:
            times = (peer["seconds"] - own["loop_seconds"]) / max(beyond, 1e-9)
            yield (times >= TIMES_EAGER,
                   f"{times:.1f} times less than {peer['who']} beyond the loop (at least {TIMES_EAGER})")


def of_beside(rows, own):
    for other in (r for r in rows if r["work"] == own["work"] and r["who"].startswith(BESIDE) and r["gbps"]):
        part = part_of(own["all_seconds"], other["all_seconds"])
        yield part >= OF_FIRST, f"{part:.3f} of its rate has {other['who']} (at least {OF_FIRST})"


def of_memory(own):
    extra = own.get("extra_bytes")
    if extra is not None:
        yield extra <= MEMORY_PART * own["bytes"], f"{extra} bytes beyond inputs and outputs"


def of_gpu(rows, own):
    """An H200's rates, and what the driver does by itself."""
    work = own["work"]
    if work in H200:
        yield own["gbps"] >= H200[work], f"{own['gbps']:.0f} GB/s (at least {H200[work]} on an H200)"
    copy, bare = find(rows, "device copy", "driver"), find(rows, work, "bare launch")
    if copy and work.endswith((", f16", ", f64", ", i8", ", c64")):
        part = own["gbps"] / copy["gbps"]
        yield part >= OF_COPY, f"{part:.2f} of the rate of a copy by the driver (at least {OF_COPY})"
    if bare:
        times = 1 / part_of(bare["all_seconds"], own["all_seconds"])
        yield times <= BARE, f"{times:.2f} times a bare launch (at most {BARE})"


def conditions_of(rows, own, kind):
    yield from of_peers(rows, own)
    if kind != "cpu" or own["work"] not in SECONDS:
        yield from of_hand(rows, own)
    if kind == "cpu":
        yield from of_parts(own)
        yield from of_bounds(own)
        yield from of_calls(rows, own)
    if kind == "cuda":
        yield from of_gpu(rows, own)
    yield from of_beside(rows, own)
    yield from of_memory(own)


def report(rows, kind):
    """Lines: one for each condition of each row, whether it is reached, in words."""
    short = 0
    yield "What was to be reached"
    yield ""
    for own in (r for r in rows if r["who"] == "weft"):
        conditions = list(conditions_of(rows, own, kind))
        if conditions:
            yield own["work"]
        for reached, text in conditions:
            yield f"    {'reached' if reached else 'FALLS SHORT':11} {text}"
            short += not reached
    yield ""
    yield f"{short} fall short" if short else "all reached"
