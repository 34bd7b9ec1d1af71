"""Plots as SVG: times faster than urllib.parse as dots, one for each library; times before and after as bars."""

from html import escape
from math import ceil, floor, log10

COLOURS = "#0072b2 #e69f00 #009e73 #cc79a7 #d55e00 #56b4e9 #7f7f7f".split()  # noqa: SIM905
LEFT, WIDTH, TOP, LINE = 270, 520, 62, 18  # pixels: of the labels, of the axis, above the first line, of a line


def text(x, y, words, anchor="start", colour="#222"):
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}" fill="{colour}">{escape(words)}</text>'


def begin(title, bottom):
    size = f"{LEFT + WIDTH + 30} {bottom + 12}"
    yield f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size}" font-family="sans-serif" font-size="11">'
    yield f'<title>{escape(title)}</title><rect width="100%" height="100%" fill="#fff"/>'
    yield text(10, 18, title)


def plot(title, dots):
    """dots: (function and input, library, times faster than urllib.parse), in the order in which they appear."""
    labels = list(dict.fromkeys(label for label, _, _ in dots))
    libraries = list(dict.fromkeys(library for _, library, _ in dots))
    colours = {library: COLOURS[i % len(COLOURS)] for i, library in enumerate(libraries)}
    first, last = (turn(log10(pick(times for _, _, times in dots))) for turn, pick in ((floor, min), (ceil, max)))
    first, last = min(first, 0), max(last, 1)
    bottom = TOP + LINE * len(labels)

    def across(times):
        return round(LEFT + (log10(times) - first) / (last - first) * WIDTH, 1)

    yield from begin(title, bottom)
    at = 10
    for library in libraries:
        yield f'<circle cx="{at + 4}" cy="32" r="4" fill="{colours[library]}"/>' + text(at + 12, 36, library)
        at += 26 + 6.2 * len(library)
    for power in range(first, last + 1):
        x, same = across(10**power), power == 0
        yield f'<path d="M{x} {TOP - 6}V{bottom}" stroke="{"#222" if same else "#ddd"}"/>'
        yield text(x, TOP - 10, "urllib.parse" if same else f"{10**power:g}x", "middle")
    for i, label in enumerate(labels):
        y = TOP + LINE * i + LINE // 2
        yield text(LEFT - 10, y + 4, label, "end")
        for dot, library, times in reversed(dots):  # ours comes first, and is to lie on top
            if dot == label:
                said = f"<title>{escape(library)}: {times:.3g}x</title>"
                yield f'<circle cx="{across(times)}" cy="{y}" r="4" fill="{colours[library]}">{said}</circle>'
    yield "</svg>"


def bars(title, rows):
    """rows: (label, microseconds before, microseconds after)."""
    top, height = 30, LINE + 4
    yield from begin(title, top + height * len(rows))
    for i, (label, before, after) in enumerate(rows):
        y, left = top + height * i, round(after / before * WIDTH, 1)
        times = before / after
        yield text(LEFT - 10, y + 12, label, "end")
        yield f'<rect x="{LEFT}" y="{y}" width="{WIDTH}" height="{LINE - 2}" fill="#ddd"/>'
        yield f'<rect x="{LEFT}" y="{y}" width="{left}" height="{LINE - 2}" fill="{COLOURS[0]}"/>'
        said = f"{times:.{1 if times < 10 else 0}f} times as fast"
        if left < WIDTH - 100:
            yield text(LEFT + left + 6, y + 12, said)
        else:
            yield text(LEFT + left - 6, y + 12, said, "end", "#fff")
    yield "</svg>"
