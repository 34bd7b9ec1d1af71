"""Draws the pictures of the pages: `python docs/make_pictures.py`.

Like the plots they are 480 units wide, so that they can be read on a phone, and follow the colour scheme of the page.
What a picture shows of an operation is computed by it: the ladder by `uri.key`, the block as the kernels do.
"""

from html import escape
from pathlib import Path

from uricodec import logs, percent_decode, uri, urn
from uricodec.dedup import unique

FOLDER = Path(__file__).parent / "pictures"
WIDTH, MARGIN = 480, 10
FULL = WIDTH - 2 * MARGIN
# Class, light and dark: boxes, those that stand out, quiet ones.
STYLES = [
    ("text", "fill:#222", "fill:#ddd"),
    (".quiet", "fill:#666", "fill:#aaa"),
    (".line", "stroke:#888;fill:none", "stroke:#888;fill:none"),
    (".tip", "fill:#888", "fill:#888"),
    (".box", "fill:#eef1f4;stroke:#aab2b9", "fill:#24292e;stroke:#565e66"),
    (".main", "fill:#cfe5f3;stroke:#0072b2", "fill:#12405e;stroke:#4aa8e0"),
    (".disk", "fill:#f7e6c4;stroke:#b87900", "fill:#4d3a12;stroke:#e69f00"),
    (".gone", "fill:none;stroke:#c8ccd0;stroke-dasharray:3 2", "fill:none;stroke:#4b5157;stroke-dasharray:3 2"),
]


def text(x, y, words, anchor="start", more=""):
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}"{more}>{escape(words)}</text>'


def picture(title, height, lines):
    """Return the source of a picture."""
    light = "".join(f"{name}{{{style}}}" for name, style, _ in STYLES)
    dark = "".join(f"{name}{{{style}}}" for name, _, style in STYLES)
    size = f'viewBox="0 0 {WIDTH} {height:g}" width="{WIDTH}" height="{height:g}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="12.5">'
    style = f"<style>.code{{font-family:monospace}}{light}@media(prefers-color-scheme:dark){{{dark}}}</style>"
    return "\n".join([head, f"<title>{escape(title)}</title>{style}", *lines, "</svg>"]) + "\n"


def box(x, y, width, words, kind="box"):
    """Yield a box with lines of text in its middle; the first one is bold if there are several."""
    height = 16 * len(words) + 12
    yield f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="4" class="{kind}"/>'
    first = y + height / 2 - 8 * len(words) + 12
    for i, line in enumerate(words):
        bold = ' font-weight="bold"' if i == 0 and len(words) > 1 else ""
        yield text(x + width / 2, first + 16 * i, line, "middle", bold)


def arrow(x, y, end, words="", side=1):
    """Yield an arrow downwards, with words at its side."""
    yield f'<path d="M{x:g} {y:g}V{end - 5:g}" class="line"/>'
    yield f'<path d="M{x - 4:g} {end - 7:g}h8l-4 7z" class="tip"/>'
    if words:
        yield text(x + 8 * side, (y + end) / 2 + 2, words, "start" if side > 0 else "end", ' class="quiet"')


# --- what the package does --------------------------------------------------------------------------------------------

LINE = b'192.0.2.7 - - [21/Mar/2025:08:02:17 +0000] "GET /caf%C3%A9 HTTP/1.1" 404 512'
URLS = ["HTTP://Example.com:80/a", "http://example.com/b/../a", "http://example.com/%61"]
ISBNS = ["URN:ISBN:0-395-36341-1", "urn:isbn:9780395363416"]
UNTIDY = "HTTP://Example.com:80/a/../b?utm_source=mail"


def overview():
    """What goes in and comes out, for each kind of task."""
    unsafe = "http://good.example\\@evil.example/"
    secret = "https://ann:pa55@example.com/"
    (record,) = logs.parse([LINE])
    assert urn.equivalent(*ISBNS, level="functional")
    tasks = [
        ("Decode", ["/wiki/Z%C3%BCrich"], percent_decode("/wiki/Z%C3%BCrich")),
        ("Check", [unsafe], uri.check(unsafe).message),
        ("Normalize", [UNTIDY], uri.normalize(UNTIDY, policy="tracking")),
        ("Compare", ISBNS, "one book"),
        ("Deduplicate", URLS, f"{len(unique(URLS, kind='uri', level='scheme'))} of {len(URLS)} remains"),
        ("Read logs", [LINE[:26].decode() + "...", LINE[43:].decode()], f"status {record.status}, path {record.path}"),
        ("Redact", [secret], uri.redact(secret)),
    ]
    lines, y = [], 4
    for task, source, result in tasks:
        height = 18 * (len(source) + 1) + 14
        lines.append(f'<rect x="1" y="{y}" width="{WIDTH - 2}" height="{height}" rx="6" class="box"/>')
        lines.append(text(MARGIN, y + 22, task, more=' font-weight="bold"'))
        for i, each in enumerate(source):
            lines.append(text(104, y + 22 + 18 * i, each, more=' class="code quiet"'))
        y += height
        lines.append(text(104, y - 12, f"\u2192 {result}", more=' class="code" font-weight="bold"'))
        y += 8
    return picture("Decode, check, normalize, compare, deduplicate, read logs, redact: before and after", y, lines)


# --- the ladder -------------------------------------------------------------------------------------------------------

SPELLINGS = [
    ("simple", "http://example.org/~%C3%A9", "equal bytes"),
    ("case", "HTTP://Example.org/~%c3%a9", "HTTP://Example.org = http://example.org"),
    ("percent", "http://example.org/%7E%C3%A9", "%7E = ~"),
    ("path", "http://example.org/a/../~%C3%A9", "/a/../b = /b"),
    ("scheme", "http://example.org:80/~%C3%A9", "http://h:80/ = http://h/"),
    ("iri", "http://example.org/~é", "é = %C3%A9"),
    ("tracking", "http://example.org/~%C3%A9?utm_source=mail", "?utm_source=mail = nothing"),
    ("crawl", "http://example.org/~%C3%A9#top", "#top = nothing; b&a = a&b"),
]
# The first name of each kind: the parameter that it is a value of, and a heading.
KINDS = {
    "simple": ("level", "Levels: what the standards call equivalent"),
    "tracking": ("policy", "Policies: what is merged beyond them"),
}


def ladder():
    """How many of nine URLs of one page are different on each level."""
    urls = [SPELLINGS[0][1], *(url for _, url, _ in SPELLINGS)]
    lines, y = [], 0
    for name, _, also in SPELLINGS:
        if name in KINDS:
            parameter, head = KINDS[name]
            lines.append(text(MARGIN, y + 20, head, more=' font-weight="bold"'))
            y += 32
        left = len({uri.key(url, **{parameter: name}) for url in urls})
        lines += [text(MARGIN, y + 12, name, more=' class="code"'), text(94, y + 12, also, more=' class="quiet"')]
        lines.append(text(WIDTH - MARGIN, y + 12, f"{left} of {len(urls)}", "end"))
        width = (FULL - 4 * (len(urls) - 1)) / len(urls)
        for i in range(len(urls)):
            kind = "main" if i < left else "gone"
            x = MARGIN + i * (width + 4)
            lines.append(f'<rect x="{x:.1f}" y="{y + 18}" width="{width:.1f}" height="12" rx="2" class="{kind}"/>')
        y += 44
    return picture("How many of nine spellings of one URL are different, on each level", y, lines)


# --- a block ----------------------------------------------------------------------------------------------------------

LABEL = 96  # the width of the labels of rows


def cells(y, label, items, width, kinds=None):
    """Yield a row of cells."""
    yield text(MARGIN, y + 16, label, more=' class="quiet"')
    for i, item in enumerate(items):
        kind = kinds[i] if kinds else "box"
        x = MARGIN + LABEL + i * width
        if item is not None:
            yield f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="22" class="{kind}"/>'
            yield text(round(x + width / 2, 1), y + 16, item, "middle", ' class="code"')


def shown(byte):
    return chr(byte) if 0x20 < byte < 0x7F else f"{byte:02X}"


def block():
    """A block that is encoded, and decoded."""
    source, safe = "a b/é".encode(), b"ab/"
    slot = (FULL - LABEL) / 18
    escaped = [byte not in safe for byte in source]
    slots = []
    for byte, work in zip(source, escaped, strict=True):
        slots += ["%" if work else chr(byte), *f"{byte:02X}"]
    keep = [int(work or not i) for work in escaped for i in range(3)]
    encoded = [c for c, kept in zip(slots, keep, strict=True) if kept]
    kinds = ["main" if kept else "gone" for kept in keep]
    lines = [text(MARGIN, 20, "Encode: 6 bytes, and 3 slots for each", more=' font-weight="bold"')]
    lines += cells(32, "source", map(shown, source), 3 * slot)
    lines += cells(58, "escape it?", (str(int(each)) for each in escaped), 3 * slot)
    lines += cells(84, "slots", slots, slot, kinds)
    lines += cells(110, "keep", map(str, keep), slot, kinds)
    lines += cells(136, "result", encoded, slot, ["main"] * len(encoded))

    source = "".join(encoded).encode()
    width, padded = (FULL - LABEL) / len(source), source + b"  "
    hexadecimal = b"0123456789ABCDEFabcdef"
    starts = [
        int(padded[i] == ord("%") and padded[i + 1] in hexadecimal and padded[i + 2] in hexadecimal)
        for i in range(len(source))
    ]
    keep = [int(not any(starts[max(i - 2, 0) : i])) for i in range(len(source))]
    values = [f"{int(source[i + 1 : i + 3], 16):02X}" if start else chr(source[i]) for i, start in enumerate(starts)]
    kinds = ["main" if kept else "gone" for kept in keep]
    decoded = [value for value, kept in zip(values, keep, strict=True) if kept]
    lines.append(text(MARGIN, 194, "Decode: the block, and the same one and two bytes on", more=' font-weight="bold"'))
    lines += cells(206, "source", map(chr, source), width)
    lines += cells(232, "1 byte on", [chr(byte) for byte in source[1:]], width)
    lines += cells(258, "2 bytes on", [chr(byte) for byte in source[2:]], width)
    lines += cells(284, "a triplet?", map(str, starts), width)
    lines += cells(310, "values", values, width, kinds)
    lines += cells(336, "keep", map(str, keep), width, kinds)
    lines += cells(362, "result", decoded, width, ["main"] * len(decoded))
    return picture("One block through encode and decode", 394, lines)


# --- flows ------------------------------------------------------------------------------------------------------------


def rows():
    """How rows run through the engine."""
    third, x = (FULL - 20) / 3, MARGIN
    lines = [text(MARGIN, 20, "Sources hand out rows", more=' font-weight="bold"')]
    for i, words in enumerate((["list"], ["Arrow column"], ["lines"])):
        lines += box(x + i * (third + 10), 30, third, words)
    lines += arrow(240, 58, 84, "blocks that fit in the L1 cache")
    lines += box(x, 84, FULL, ["row operation + options", "the first of these that it has, and that applies"], "main")
    lines += arrow(240, 128, 152)
    ways = (
        ["whole block", "all lines at once"],
        ["unchanged rows", "found by a scan, copied"],
        ["row by row", "code and offset"],
    )
    for i, words in enumerate(ways):
        lines += box(x + i * (third + 10), 152, third, words)
    lines += arrow(WIDTH - MARGIN - third / 2, 196, 222, "rejected rows", -1)
    lines += box(x, 222, FULL, ["one policy for rejected rows", "raise, keep, null, drop or replace; report of rows"])
    lines += arrow(240, 266, 290, "written once, to its final place")
    lines.append(text(MARGIN, 308, "Sinks provide memory before the operation runs", more=' font-weight="bold"'))
    for i, words in enumerate((["list"], ["Arrow column"], ["lines"], ["fingerprints"])):
        lines += box(x + i * (FULL + 10) / 4, 318, (FULL - 30) / 4, words)
    note = "Threads run blocks side by side; the order of the rows stays."
    lines.append(text(MARGIN, 366, note, more=' class="quiet"'))
    return picture("How rows run through the engine", 376, lines)


def dedup():
    """How deduplication stays in memory."""
    half = (FULL - 20) / 2
    right = MARGIN + half + 20
    lines = [*box(MARGIN, 10, FULL, ["lines"])]
    lines += arrow(240, 38, 62, "normal form, fingerprint of 16 bytes")
    lines += box(MARGIN, 62, FULL, ["table in memory: --memory", "is the fingerprint in it?"], "main")
    lines += arrow(MARGIN + 60, 106, 138, "yes")
    lines += box(MARGIN, 138, 120, ["seen", "left out"], "gone")
    lines += arrow(240, 106, 138, "no")
    lines += box(180, 138, 120, ["new", "written at once"])
    lines += arrow(WIDTH - MARGIN - 60, 106, 138, "no, and it is full", -1)
    lines += box(WIDTH - MARGIN - 120, 138, 120, ["pending", "20 bytes to disk"], "disk")
    lines += arrow(WIDTH - MARGIN - 60, 182, 214, "by bits of the fingerprint", -1)
    lines += box(
        MARGIN,
        214,
        FULL,
        ["64 partitions on disk", "one by one, with an empty table; large ones: divided again"],
        "disk",
    )
    lines += arrow(right + half / 2, 258, 282, "the first line of each identifier", -1)
    lines += box(right, 282, half, ["bitmap", "one bit for each line"], "main")
    lines += box(MARGIN, 282, half, ["the input again", "from where the table was full"])
    lines += [*arrow(MARGIN + half / 2, 326, 350), *arrow(right + half / 2, 326, 350)]
    lines += box(MARGIN, 350, FULL, ["the lines whose bits are set are written, in their order"])
    return picture("How deduplication stays in memory", 388, lines)


# A folder imports only those below it, and to its right: as tests/test_imports.py checks.
LAYERS = [
    ("faces", ["integrations", "cli"], "box"),
    ("many values", ["logs", "dedup", "bulk", "_hosts"], "box"),
    ("one value", ["urn", "iri", "uri", "parse"], "main"),
    ("rows", ["_search", "_url", "_records", "_codec", "_rows", "_io"], "box"),
    ("bytes", ["bytesets", "_base", "errors"], "box"),
]


def architecture():
    """The layers of the package."""
    lines, y = [], 10
    for label, names, kind in LAYERS:
        width = (FULL - LABEL - 8 * (len(names) - 1)) / len(names)
        lines.append(text(MARGIN, y + 20, label, more=' class="quiet"'))
        for i, name in enumerate(names):
            lines += box(MARGIN + LABEL + i * (width + 8), y, width, [name], kind)
        y += 52
        if label != "bytes":
            lines += arrow(MARGIN + LABEL + (FULL - LABEL) / 2, y - 24, y, "imports" if label == "faces" else "")
    middle = MARGIN + LABEL + (FULL - LABEL) / 2
    lines += arrow(middle, y - 24, y, "one table of functions in C")
    lines.append(text(MARGIN, y + 20, "kernels", more=' class="quiet"'))
    tiers = ["portable", "SSSE3", "AVX2", "AVX-512", "NEON"]
    width = (FULL - LABEL - 8 * 4) / 5
    for i, name in enumerate(tiers):
        lines += box(MARGIN + LABEL + i * (width + 8), y, width, [name], "main" if i == 0 else "box")
    return picture("The folders of uricodec: each imports only those below it and to its right", y + 40, lines)


PICTURES = {f"{make.__name__}.svg": make for make in (overview, ladder, block, rows, dedup, architecture)}

if __name__ == "__main__":
    for name, make in PICTURES.items():
        (FOLDER / name).write_text(make(), "utf-8")
