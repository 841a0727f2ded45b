"""Plots of measured rows, as SVG. run.py makes them after a whole run; `plots.py FOLDER` makes those of a folder of results again."""
import json
import math
import os
import re
import sys

import svg
import targets

SIZE, LENGTH = re.compile(r"(.*), 2\^(\d+) elements$"), re.compile(r"(\d+) terms on 2\^20 elements$")
COMPUTE = "multiply and add in registers"
BARE = "hand", "driver"  # what the memory allows is the best of theirs
# f32 operations for each element as `weft explain` lists them, without what rare elements need; a fused one counts as two.
SIN, EXP = 32, 23
OPERATIONS = {"a += b": 1, "c = a + b": 1, "c += 1/a + 2ab": 5, "where(a >= b, a - b, b - a)": 3, "sin(exp(a))": SIN + EXP,
              "a + b.T": 1, "(a - row)*row": 2, "a[:, ::2]*2": 1, "sum(a)": 1, "sum(a) axis 0": 1, "sum(a) axis 1": 1,
              "sum(sin(a)*a)": SIN + 2, "sum(sin(a)*a) axis 0": SIN + 2, "sum(sin(a)*a) axis 1": SIN + 2, "laplacian(a)": 7}
BARS = [*list(OPERATIONS)[:-1], "sin(a) to 10^6", "laplacian(a)", "uniform random"]


def plain(work):
    """Without the size that the name of a row ends with."""
    return re.sub(r", \d+\^3$", "", work)


def seconds_words(value):
    for unit, scale in (("s", 1), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9)):
        if value >= 0.999 * scale:
            return f"{value / scale:.3g} {unit}"
    return f"{value:.1g} s"


def decades(values):
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return [10.0**k for k in range(low, max(high, low + 1) + 1)]


def power_words(exponent):
    return "2" + "".join("⁰¹²³⁴⁵⁶⁷⁸⁹"[int(digit)] for digit in str(exponent))


def in_order(whos):
    """Weft, by hand, then the peers."""
    return sorted(dict.fromkeys(whos), key=lambda who: (who != "weft", who != "hand"))


def draw_panel(drawing, x, y, work, rows, most):
    """One work: a bar for each who, all panels with one scale."""
    left, width, step = x + 96, 172, 14
    drawing.text(x + 96, y, work, css="head")
    bottom = y + 12 + step * len(rows)
    for part in (0, 0.5, 1):
        drawing.line(left + part * width, y + 8, left + part * width, bottom)
        drawing.text(left + part * width, bottom + 13, f"{part * most:g}", css="faint small", anchor="middle")
    for k, row in enumerate(rows):
        top = y + 11 + step * k
        drawing.text(left - 6, top + 9, row["who"], css="small" if row["who"] == "weft" else "small faint", anchor="end")
        drawing.rectangle(left, top, max(1, width * row["gbps"] / most), step - 4, svg.colour_of(row["who"]), radius=1)
        drawing.text(left + width * row["gbps"] / most + 5, top + 9, f"{row['gbps']:.3g}", css="small")


def draw_bars(rows, about, path):
    panels = []
    for work in BARS:
        here = [r for r in rows if plain(r["work"]) == work and r["gbps"] > 0]
        if any(r["who"] == "weft" for r in here):
            order = in_order(r["who"] for r in here)
            panels.append((work, sorted(here, key=lambda r: order.index(r["who"]))))
    if not panels:
        return False
    highest = max(r["gbps"] for _, here in panels for r in here)
    unit = 10 ** math.floor(math.log10(highest))
    most = math.ceil(highest / unit) * unit
    lines = [panels[k:k + 3] for k in range(0, len(panels), 3)]
    heights = [58 + 14 * max(len(here) for _, here in line) for line in lines]
    drawing = svg.Drawing(960, 80 + sum(heights), "Weft beside its peers: GB/s, longer is faster", about)
    y = 84
    for line, height in zip(lines, heights):
        for column, (work, here) in enumerate(line):
            draw_panel(drawing, 10 + 315 * column, y, work, here, most)
        y += height
    drawing.save(path)
    return True


def draw_lines(drawing, axes, lines):
    """lines: who to pairs of a place and seconds. The names stand at the ends."""
    right, bottom = axes.box[2], axes.box[3]
    whos = in_order(lines)
    ends = [axes.y(lines[who][-1][1]) for who in whos]
    named = list(zip(whos, svg.spread_apart(ends, 16, axes.box[1], bottom), ends))
    for who, place, end in reversed(named):  # Weft last, above the others
        colour, points = svg.colour_of(who), [(axes.x(x), axes.y(y)) for x, y in lines[who]]
        drawing.path(points, colour, 3 if who == "weft" else 1.8)
        for x, y in points:
            drawing.dot(x, y, colour, 3.5 if who == "weft" else 2.5)
        drawing.line(points[-1][0] + 5, end, right + 14, place, stroke=colour, dash="2 3")
        drawing.text(right + 18, place + 4, who, css="head" if who == "weft" else "", fill=colour)


def collect(rows, place_of):
    lines = {}
    for row in rows:
        place = place_of(row)
        if place:
            lines.setdefault(row["who"], []).append((place, row["seconds"]))
    return {who: sorted(points) for who, points in lines.items()}


def draw_series(lines, title, about, x_ticks, x_title, path):
    if "weft" not in lines:
        return False
    values = [y for points in lines.values() for _, y in points]
    ticks = decades(values)
    drawing = svg.Drawing(960, 520, title, about)
    axes = svg.LogAxes(drawing, (90, 75, 820, 455), (x_ticks[0][0], x_ticks[-1][0]), (ticks[0], ticks[-1]))
    axes.draw(x_ticks, [(t, seconds_words(t)) for t in ticks], x_title, "time of a call")
    draw_lines(drawing, axes, lines)
    drawing.save(path)
    return True


def draw_sizes(rows, about, path):
    def place_of(row):
        return row["n"] if SIZE.match(row["work"]) else None

    ticks = [(1 << k, power_words(k)) for k in range(0, 29, 4)]
    return draw_series(collect(rows, place_of), "c += 1/a + 2ab: the time of a call by the number of elements", about, ticks,
                       "elements, f32", path)


def draw_lengths(rows, about, path):
    def place_of(row):
        found = LENGTH.match(row["work"])
        return int(found.group(1)) if found else None

    ticks = [(2 << 2 * k, str(2 << 2 * k)) for k in range(7)]
    return draw_series(collect(rows, place_of), "c = a + b + a + b + …: the time of a call by the length of the expression", about,
                       ticks, "terms, on 2²⁰ elements, f32", path)


def roofline_points(rows, whose):
    """(operations for a byte, operations a second, work) of the rows of one; `whose` picks it from those of a work."""
    points = []
    for work, operations in OPERATIONS.items():
        row = whose([r for r in rows if plain(r["work"]) == work and r["gbps"] > 0])
        if row:
            computed = operations * row["n"]
            points.append((computed / (row["gbps"] * 1e9 * row["seconds"]), computed / row["seconds"], work))
    return points


def draw_roofs(drawing, axes, best, compute):
    """The row that the memory was fastest in, and operations a second."""
    memory, (low, high) = best["gbps"] * 1e9, axes.x_range
    turn = compute / memory if compute else high
    top = memory * turn
    drawing.line(axes.x(low), axes.y(memory * low), axes.x(turn), axes.y(top), stroke="#8b949e", width=2)
    drawing.text(axes.x(0.6) - 10, axes.y(memory * 0.6) - 12, f"memory: {best['gbps']:.3g} GB/s ({best['work']} by hand)", css="faint",
                 anchor="end")
    if compute:
        drawing.line(axes.x(turn), axes.y(top), axes.x(high), axes.y(top), stroke="#8b949e", width=2)
        drawing.text(axes.x(high) - 4, axes.y(top) - 8, f"arithmetic: {compute / 1e9:.0f}·10⁹/s ({COMPUTE})", css="faint", anchor="end")


def draw_roofline(rows, about, path):
    best = max((r for r in rows if r["who"] in BARE and not SIZE.match(r["work"]) and not LENGTH.match(r["work"])),
               key=lambda r: r["gbps"], default=None)
    compute = next((r["n"] / r["seconds"] for r in rows if r["work"] == COMPUTE), 0)
    own = roofline_points(rows, lambda rows: next((r for r in rows if r["who"] == "weft"), None))
    peers = roofline_points(rows, lambda rows: max((r for r in rows if r["who"] not in targets.NOT_PEERS),
                                                   key=lambda r: r["gbps"], default=None))
    if not best or not own:
        return False
    y_ticks = decades([y for _, y, _ in own + peers] + ([compute] if compute else []))
    drawing = svg.Drawing(960, 560, "Roofline: what memory and arithmetic allow, and what is reached", about)
    axes = svg.LogAxes(drawing, (90, 75, 690, 495), (0.05, 20), (y_ticks[0], y_ticks[-1]))
    axes.draw([(t, f"{t:g}") for t in (0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20)], [(t, f"{t / 1e9:g}") for t in y_ticks],
              "operations for each byte that must move", "operations a second, in 10⁹")
    draw_roofs(drawing, axes, best, compute)
    for x, y, _ in peers:
        drawing.dot(axes.x(x), axes.y(y), "#4593f8", hollow=True)
    places = svg.spread_apart([axes.y(y) for _, y, _ in own], 17, 120, 480)
    for (x, y, work), place in zip(own, places):
        drawing.line(axes.x(x) + 5, axes.y(y), 712, place)
        drawing.text(717, place + 4, work)
        drawing.dot(axes.x(x), axes.y(y), svg.FIRST, 4.5)
    drawing.dot(722, 88, svg.FIRST, 4.5)
    drawing.text(732, 92, "Weft", fill=svg.FIRST)
    drawing.dot(782, 88, "#4593f8", hollow=True)
    drawing.text(792, 92, "the fastest peer", fill="#4593f8")
    drawing.save(path)
    return True


PLOTS = {"peers.svg": draw_bars, "roofline.svg": draw_roofline, "sizes.svg": draw_sizes, "lengths.svg": draw_lengths}


def draw_all(rows, about, folder):
    """The names of the plots that the rows are enough for."""
    return [name for name, draw in PLOTS.items() if draw(rows, about, os.path.join(folder, name))]


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: plots.py FOLDER")
    with open(os.path.join(sys.argv[1], "results.json"), encoding="utf-8") as file:
        rows = json.load(file)
    with open(os.path.join(sys.argv[1], "results.md"), encoding="utf-8") as file:
        about = file.readline().lstrip("# ").strip()
    for name in draw_all(rows, about, sys.argv[1]):
        print(name)


if __name__ == "__main__":
    main()
