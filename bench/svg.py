"""A drawing as SVG text: shapes, words, and axes. Its colours follow the reader's choice of a light or a dark page."""
import html
import math

# Of the page, light and dark; then of who is measured. All are readable on both.
STYLE = """
  svg { --page: #ffffff; --ink: #1f2328; --faint: #59636e; --line: #d1d9e0; }
  @media (prefers-color-scheme: dark) { svg { --page: #0d1117; --ink: #f0f6fc; --faint: #9198a1; --line: #3d444d; } }
  .page { fill: var(--page); }
  text { font-family: system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif; font-size: 12px; fill: var(--ink); }
  .title { font-size: 17px; font-weight: 600; }
  .head { font-size: 13px; font-weight: 600; }
  .faint { fill: var(--faint); }
  .small { font-size: 11px; }
  .grid { stroke: var(--line); stroke-width: 1; }
  .axis { stroke: var(--faint); stroke-width: 1; }
"""
FIRST = "#e5484d"  # Weft
COLOURS = {"weft": FIRST, "hand": "#8b949e", "numpy": "#4593f8", "numexpr": "#29a383", "numba": "#f0a020", "torch": "#ab6ee0",
           "torch.compile": "#d6409f", "jax": "#8f9a1b", "cupy": "#29a383", "pyopencl": "#4593f8"}
OTHERS = ("#4593f8", "#29a383", "#f0a020", "#ab6ee0")


def colour_of(who):
    return COLOURS.get(who, OTHERS[sum(map(ord, who)) % len(OTHERS)])


class Drawing:
    def __init__(self, width, height, title, subtitle):
        self.width, self.height, self.parts = width, height, []
        self.rectangle(0, 0, width, height, css="page")
        self.text(20, 30, title, css="title")
        self.text(20, 50, subtitle, css="faint")
        self.name = title

    def rectangle(self, x, y, width, height, fill=None, css=None, radius=0):
        how = f'class="{css}"' if css else f'fill="{fill}"'
        self.parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="{radius}" {how}/>')

    def text(self, x, y, words, css="", anchor="start", turned=False, fill=None):
        how = f' transform="rotate(-90 {x:.1f} {y:.1f})"' if turned else ""
        how += f' style="fill: {fill}"' if fill else ""
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" class="{css}" text-anchor="{anchor}"{how}>{html.escape(words)}</text>')

    def line(self, x0, y0, x1, y1, css="grid", stroke=None, width=1, dash=None):
        how = f'stroke="{stroke}" stroke-width="{width}"' if stroke else f'class="{css}"'
        how += f' stroke-dasharray="{dash}"' if dash else ""
        self.parts.append(f'<line x1="{x0:.1f}" y1="{y0:.1f}" x2="{x1:.1f}" y2="{y1:.1f}" {how}/>')

    def path(self, points, stroke, width=2):
        places = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self.parts.append(f'<polyline points="{places}" fill="none" stroke="{stroke}" stroke-width="{width}" '
                          'stroke-linejoin="round"/>')

    def dot(self, x, y, fill, radius=3.5, hollow=False):
        how = f'fill="var(--page)" stroke="{fill}" stroke-width="1.5"' if hollow else f'fill="{fill}"'
        self.parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" {how}/>')

    def save(self, path):
        with open(path, "w", encoding="utf-8") as file:
            file.write(f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.width}" height="{self.height}" '
                       f'viewBox="0 0 {self.width} {self.height}" role="img">\n<title>{html.escape(self.name)}</title>\n'
                       f"<style>{STYLE}</style>\n" + "\n".join(self.parts) + "\n</svg>\n")


class LogAxes:
    """Two logarithmic axes: where a value is, lines and words for the powers of ten (or of `x_base`)."""

    def __init__(self, drawing, box, x_range, y_range):
        self.drawing, self.box, self.x_range, self.y_range = drawing, box, x_range, y_range

    def x(self, value):
        left, _, right, _ = self.box
        low, high = map(math.log, self.x_range)
        return left + (right - left) * (math.log(value) - low) / (high - low)

    def y(self, value):
        _, top, _, bottom = self.box
        low, high = map(math.log, self.y_range)
        return bottom - (bottom - top) * (math.log(value) - low) / (high - low)

    def draw(self, x_ticks, y_ticks, x_title, y_title):
        """Ticks are pairs of a value and its words."""
        left, top, right, bottom = self.box
        for value, words in x_ticks:
            self.drawing.line(self.x(value), top, self.x(value), bottom)
            self.drawing.text(self.x(value), bottom + 18, words, css="faint", anchor="middle")
        for value, words in y_ticks:
            self.drawing.line(left, self.y(value), right, self.y(value))
            self.drawing.text(left - 8, self.y(value) + 4, words, css="faint", anchor="end")
        self.drawing.line(left, bottom, right, bottom, css="axis")
        self.drawing.line(left, top, left, bottom, css="axis")
        self.drawing.text((left + right) / 2, bottom + 42, x_title, anchor="middle")
        self.drawing.text(left - 62, (top + bottom) / 2, y_title, anchor="middle", turned=True)


def spread_apart(wanted, least, low, high):
    """Places near the wanted ones, in order, that are `least` apart where there is room."""
    order = sorted(range(len(wanted)), key=lambda k: wanted[k])
    least = min(least, (high - low) / max(1, len(wanted) - 1))
    places, last = [0.0] * len(wanted), low - least
    for k in order:
        places[k] = last = max(wanted[k], last + least)
    last = high + least
    for k in reversed(order):
        places[k] = last = min(places[k], last - least)
    return places
