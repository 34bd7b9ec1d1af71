"""Plots as SVG: times faster than urllib.parse as dots, before and after as bars, costs as curves, numbers as dots.

They are 480 units wide, so that their text can be read on a phone. Each library has one colour in all plots. The
colours of text and lines follow the colour scheme of the page that shows the plot.
"""

import re
from html import escape
from math import ceil, floor, log10

WIDTH, MARGIN, LINE = 480, 10, 18  # the whole plot, its sides, a line of text
FONT, LETTER = 12.5, 6.6  # the size of text, and the width of a letter on average
# In light and in dark surroundings.
COLOURS = {
    "uricodec": ("#0072b2", "#4aa8e0"),
    "urllib.parse": ("#c8ccd0", "#4b5157"),
    "yarl": ("#b87900", "#e69f00"),
    "ada-url": ("#00805c", "#2bb68c"),
    "can_ada": ("#a800c0", "#f25cff"),
    "uritools": ("#b05286", "#d98cb8"),
    "werkzeug": ("#c24e00", "#ee7733"),
    "hyperlink": ("#6b6f73", "#a5abb0"),
    "rfc3986": ("#7a5c1e", "#c2a25a"),
    "fast-query-parsers": ("#6f4ba8", "#a98be0"),
}
OTHER = ("#444", "#bbb")


def library_of(series):
    """Return the library of a series: "uricodec, level iri" is a series of uricodec."""
    return re.split(r",? ", series)[0]


def css(libraries, curved=False):
    def rules(scheme, text, line):
        colours = [f".{name_of(each)}{{fill:{COLOURS.get(each, OTHER)[scheme]}}}" for each in libraries]
        stroke = f"path.curve{{stroke:{COLOURS['uricodec'][scheme]};stroke-width:1.8}}"
        return f"text{{fill:{text}}}path{{stroke:{line}}}{''.join(colours)}{stroke if curved else ''}"

    light, dark = rules(0, "#222", "#ddd"), rules(1, "#ddd", "#3a3f44")
    return f"<style>{light}.one{{stroke:#888}}@media(prefers-color-scheme:dark){{{dark}.one{{stroke:#999}}}}</style>"


def name_of(library):
    return re.sub(r"\W", "-", library)


def text(x, y, words, anchor="start", more=""):
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}"{more}>{escape(words)}</text>'


def begin(title, height, libraries, curved=False, font=FONT):
    size = f'viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}"'
    yield f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="{font}">'
    yield f"<title>{escape(title)}</title>{css(libraries, curved)}"
    yield text(MARGIN, 18, title, more=' font-weight="bold"')


def in_lanes(dots, across):
    """Place the dots of a row, each with its label, where none covers another: yield lane, x, label, anchor, series."""
    lanes = []
    for _, series, times in sorted(dots, key=lambda dot: -dot[2]):
        x, label = across(times), f"{series} {times:.{0 if times >= 10 else 1 if times >= 1 else 2}f}x"
        width = LETTER * len(label) + 12
        anchor = "start" if x + width < WIDTH else "end"
        left, right = (x - 8, x + width) if anchor == "start" else (x - width, x + 8)
        free = (lane for lane, taken in enumerate(lanes) if all(right < a or left > b for a, b in taken))
        lane = next(free, len(lanes))
        if lane == len(lanes):
            lanes.append([])
        lanes[lane].append((left, right))
        yield lane, x, label, anchor, series


def plot(title, dots):
    """Return the lines of a plot.

    Args:
        title (str): Its title.
        dots (list[tuple[str, str, float]]): Row, series, and times faster than urllib.parse, in their order.
    """
    rows = list(dict.fromkeys(row for row, _, _ in dots))
    libraries = list(dict.fromkeys(library_of(series) for _, series, _ in dots))
    first, last = (turn(log10(pick(times for _, _, times in dots))) for turn, pick in ((floor, min), (ceil, max)))
    first, last = min(first, 0), max(last, 1)

    def across(times):
        return round(MARGIN + 8 + (log10(times) - first) / (last - first) * (WIDTH - 2 * MARGIN - 16), 1)

    placed = {row: list(in_lanes([dot for dot in dots if dot[0] == row], across)) for row in rows}
    y, lines = 62, []
    for row in rows:
        lines.append(text(MARGIN, y, row, more=' opacity="0.75"'))
        for lane, x, label, anchor, series in placed[row]:
            at, library = y + LINE * (lane + 1) - 4, name_of(library_of(series))
            lines.append(f'<circle cx="{x}" cy="{at}" r="4.5" class="{library}"/>')
            lines.append(text(x + (8 if anchor == "start" else -8), at + 4, label, anchor, f' class="{library}"'))
        y += LINE * (max(lane for lane, *_ in placed[row]) + 2) + 8
    height = y - LINE
    yield from begin(title, height, libraries)
    for power in range(first, last + 1):
        x, shade = across(10**power), "" if power else ' class="one"'
        yield f'<path d="M{x} 46V{height - 6}"{shade}/>'
        anchor = "middle" if first < power < last else "start" if power == first else "end"
        yield text(x, 40, f"{10**power:g}x" if power else "urllib.parse", anchor)
    yield from lines
    yield "</svg>"


def bars(title, rows):
    """Return the lines of a chart: the time of each row with uricodec, as a part of that with urllib.parse.

    Args:
        title (str): Its title.
        rows (list[tuple[str, float]]): Label, and how many times as fast it is with uricodec.
    """
    top, step, full = 58, 40, WIDTH - 2 * MARGIN
    yield from begin(title, top + step * len(rows), ["uricodec", "urllib.parse"])
    yield f'<rect x="{MARGIN}" y="29" width="12" height="12" class="urllib-parse"/>' + text(28, 39, "urllib.parse")
    yield '<rect x="120" y="29" width="12" height="12" class="uricodec"/>' + text(138, 39, "uricodec")
    for i, (label, times) in enumerate(rows):
        y = top + step * i + 12
        said = f"{times:.{1 if times < 10 else 0}f} times as fast"
        yield text(MARGIN, y, label) + text(WIDTH - MARGIN, y, said, "end", ' font-weight="bold"')
        yield f'<rect x="{MARGIN}" y="{y + 5}" width="{full}" height="12" class="urllib-parse"/>'
        width = round(full / times, 1)
        yield f'<rect x="{MARGIN}" y="{y + 5}" width="{width}" height="12" class="uricodec"/>'
    yield "</svg>"


def curves(title, xs, curve_of, named):
    """Return the lines of a plot of curves on logarithmic scales: some with their names at their ends, the others grey.

    Args:
        title (str): Its title.
        xs (list[int]): The values of x, each ten times the one before.
        curve_of (dict[str, list[float]]): The values of y, by name.
        named (Collection[str]): The curves that stand out.
    """
    values = [y for ys in curve_of.values() for y in ys]
    low, high = log10(min(values)), log10(max(values))
    ends = sorted((name for name in curve_of if name in named), key=lambda name: -curve_of[name][-1])
    others = len(curve_of) - len(ends)
    font, line = 15, 21
    right, top, bottom = WIDTH - LETTER * font / FONT * max(map(len, ends)) - 2 * MARGIN, 64, 320

    def at(x, y):
        across = MARGIN + 40 + (log10(x / xs[0])) / log10(xs[-1] / xs[0]) * (right - MARGIN - 52)
        return round(across, 1), round(bottom - (log10(y) - low) / (high - low) * (bottom - top), 1)

    def curve(name):
        return "L".join("{} {}".format(*at(x, y)) for x, y in zip(xs, curve_of[name], strict=True))

    yield from begin(title, bottom + 34, ["uricodec"], curved=True, font=font)
    yield text(MARGIN, 40, f"and {others} other operations in grey", more=' opacity="0.75"')
    for power in range(floor(low), floor(high) + 1):
        for step in (1, 2, 5) if high - low < 2 else (1,):
            y = step * 10**power
            if low <= log10(y) <= high:
                left, place = at(xs[0], y)
                yield f'<path d="M{left} {place}H{at(xs[-1], y)[0]}"/>' + text(MARGIN + 32, place + 5, f"{y:g}", "end")
    for x in xs:
        yield text(at(x, values[0])[0], bottom + 22, f"10^{round(log10(x))}", "middle")
    for name in curve_of:
        if name not in named:
            yield f'<path d="M{curve(name)}" fill="none" style="stroke:#8888"/>'
    lowest = top - line
    for i, name in enumerate(ends):
        end, place = at(xs[-1], curve_of[name][-1])
        # Names stand below each other, as near to the ends of their curves as the names before and after them allow.
        lowest = min(max(place, lowest + line), bottom - line * (len(ends) - 1 - i))
        yield f'<path d="M{curve(name)}" fill="none" class="curve"/>'
        yield f'<path d="M{end} {place}L{right:g} {lowest:g}" class="curve" stroke-dasharray="1 2"/>'
        yield text(right + 4, lowest + 5, name, more=' class="uricodec"')
    yield "</svg>"


def counts(title, rows):
    """Return the lines of a chart: numbers as dots on a logarithmic scale.

    Args:
        title (str): Its title.
        rows (list[tuple[str, int]]): Label and number.
    """
    top, step, left = 62, 24, 170
    height = top + step * len(rows)
    powers = range(ceil(log10(max(count for _, count in rows))) + 1)
    width = (WIDTH - MARGIN - 40 - left) / powers[-1]
    yield from begin(title, height, ["uricodec"])
    for power in powers:
        x = round(left + width * power, 1)
        yield f'<path d="M{x} 46V{height - 6}"/>' + text(x, 40, f"{10**power:,}", "middle")
    for i, (label, count) in enumerate(rows):
        x, y = round(left + width * log10(max(count, 1)), 1), top + step * i
        yield text(MARGIN, y + 4, label)
        if count:
            yield f'<circle cx="{x}" cy="{y}" r="4.5" class="uricodec"/>'
        yield text(x + 10, y + 4, f"{count:,}", more=' class="uricodec"')
    yield "</svg>"
