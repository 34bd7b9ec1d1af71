"""Tables of counts for terminals: count, share, other numbers, a bar, and the keys, in lines that fit the width.

    count  share                        client
    6,120  61.2 %  ████████████████████  192.0.2.7
    1,530  15.3 %  █████                 2001:db8::1
    2,350  23.5 %                        214 others

Bars are in proportion to the greatest count, in eighths of a character. Control characters, and others that would not
be seen, are escaped as in Python. Long keys end with an ellipsis. Where the encoding of the output lacks a character,
ASCII stands for it.
"""

from math import isnan
from unicodedata import category, east_asian_width

# Columns between two fields of a line.
GAP = "  "

# The greatest width of a bar in a line of 100 columns or less, which grows with longer ones; the least one.
BAR, LEAST_BAR = 20, 6

BLOCKS = " ▏▎▍▌▋▊▉█"
WIDE = "WF"  # of the values of east_asian_width
ZERO = "Mn", "Me", "Cf"  # categories of characters without a width


def table_of(keys, rows, total, others, numbers=(), encoding=None):  # noqa: PLR0913, PLR0917
    """Return a table for standard output, or in an encoding (bytes); see CountTable and its lines()."""
    import sys
    from shutil import get_terminal_size

    encoding = encoding or getattr(sys.stdout, "encoding", None) or "ascii"
    lines = CountTable(keys, numbers, get_terminal_size().columns, encoding).lines(rows, total, others)
    return "".join([f"{line}\n" for line in lines]).encode(encoding, "replace")


class CountTable:
    """A table of counts.

    Args:
        keys (Sequence[str]): The names of the columns of keys.
        numbers (Sequence[str]): The names of the columns of other numbers, such as "sum" or "p99".
        width (int): The width of the terminal.
        encoding (str): The encoding of the output.

    >>> table = CountTable(["client", "status"], ["sum"], width=60)
    >>> rows = [((b"192.0.2.7", "200"), 6120, [52000]), ((b"\\x1b[31m\\xff", "404"), 1530, [1.25])]
    >>> print("\\n".join(table.lines(rows, 10_000, others=214)))
    count   share     sum                   client        status
    6,120  61.2 %  52,000  ███████████████  192.0.2.7     200
    1,530  15.3 %    1.25  ███▊             \\x1b[31m\\xff  404
    2,350  23.5 %                           214 others
    """

    def __init__(self, keys, numbers=(), width=80, encoding="utf-8"):
        self._keys, self._numbers, self._width, self._encoding = keys, numbers, width, encoding
        self._blocks = BLOCKS if self._has(BLOCKS) else " #"
        self._dots = "…" if self._has("…") else "..."

    def _has(self, text):
        try:
            text.encode(self._encoding)
        except (UnicodeEncodeError, LookupError):
            return False
        return True

    def lines(self, rows, total, others=0):
        """Return the lines of the table, without line ends.

        Args:
            rows (Sequence[tuple]): For each row its keys (str or bytes), its count, and its other numbers, where None
                stands for a missing one.
            total (int): What all counts add up to, those of keys that are not in `rows` included.
            others (int): The number of keys that are not in `rows`: a last line has their count.

        Returns:
            list[str]: The lines, of which the first one has the names of the columns.
        """
        counts = [count for _, count, _ in rows]
        left = total - sum(counts)
        shown = [SHOWN_AS.get(unit_of(name), shown_number) for name in self._numbers]
        numbers = [["count", "share", *short_names(self._numbers)]]
        for _, count, more in rows:
            numbers.append([f"{count:,}", share(count, total), *(show(n) for show, n in zip(shown, more, strict=True))])
        names = [list(map(self._shown, keys)) for keys, _, _ in rows]
        last = []
        if others:
            numbers.append([f"{left:,}", share(left, total), *[""] * len(self._numbers)])
            last.append(f"{others:,} others")
        wanted = self._wanted(names, last)
        heads, bar = self._layout(numbers, sum(wanted) + len(GAP) * len(wanted))
        space = self._width - len(heads[0])
        widths = fitted(wanted, space - bar - len(GAP) * (len(wanted) + bool(bar)))
        if bar:
            greatest = max([*counts, 1])
            bars = ["", *(self._bar(count / greatest, bar) for count in counts), *[""] * bool(others)]
            heads = [f"{head}{GAP}{text:{bar}}" for head, text in zip(heads, bars, strict=True)]
        tails = [self._tail(each, widths) for each in [self._keys, *names]] + [self._cut(each, space) for each in last]
        return [self._cut((head + GAP + tail).rstrip(), self._width) for head, tail in zip(heads, tails, strict=True)]

    def _layout(self, numbers, keys):
        """Return the texts before the bars, and the width of the bars; 0: there are none.

        The keys keep the width that they need, up to a half of all. If not enough is left for bars, the share is left
        out, and if that does not suffice, the bars.
        """
        kept = min(keys, self._width // 2)
        heads = aligned(numbers)
        for texts in (heads, aligned([[count, *more] for count, _, *more in numbers])):
            bar = min(max(BAR, self._width // 5), self._width - kept - len(texts[0]) - len(GAP)) if self._keys else 0
            if bar >= LEAST_BAR:
                return texts, bar
        return (heads if self._width - len(heads[0]) >= kept else texts), 0

    def _shown(self, key):
        """Return a key as it is shown: without characters that a terminal would obey, or does not have."""
        text = key if isinstance(key, str) else bytes(key).decode("utf-8", "surrogateescape")
        if text.isprintable() and self._has(text):
            return text
        return "".join(map(self._escaped, text))

    def _escaped(self, character):
        if "\udc80" <= character <= "\udcff":
            return f"\\x{ord(character) - 0xDC00:02x}"
        if character.isprintable() and character != "\\" and self._has(character):
            return character
        return character.encode("unicode_escape").decode()

    def _wanted(self, names, last):
        """Return the width that each column of keys needs."""
        wanted = [max(map(width_of, column)) for column in zip(self._keys, *names, strict=True)]
        if len(wanted) == 1 and last:
            wanted[0] = max([wanted[0], *map(width_of, last)])
        return wanted

    def _bar(self, part, width):
        """Return a bar for a part of the greatest count."""
        parts = len(self._blocks) - 1
        filled = max(round(part * width * parts), part > 0)
        whole, rest = divmod(filled, parts)
        return self._blocks[-1] * whole + (self._blocks[rest] if rest else "")

    def _tail(self, keys, widths):
        cut = [self._cut(key, width) for key, width in zip(keys, widths, strict=True)]
        return GAP.join(key + " " * (width - width_of(key)) for key, width in zip(cut, widths, strict=True))

    def _cut(self, text, width):
        """Return a text that has at most a width, with an ellipsis where it was cut."""
        if width_of(text) <= width:
            return text
        left, kept = max(width, 0) - len(self._dots), []
        for character in text:
            left -= width_of(character)
            if left < 0:
                break
            kept.append(character)
        return ("".join(kept) + self._dots)[: max(width, 0)] if left < 0 else text


def width_of(text):
    """Return how many columns of a terminal a text takes.

    >>> width_of("abc"), width_of("日本"), width_of("e\\u0301")
    (3, 4, 1)
    """
    if text.isascii():
        return len(text)
    return sum((east_asian_width(each) in WIDE) + (category(each) not in ZERO) for each in text)


def share(count, total):
    """Return a count as a percentage of a total.

    >>> share(1, 3), share(1, 100_000), share(0, 0)
    ('33.3 %', '<0.1 %', '0.0 %')
    """
    percent = 100 * count / total if total else 0
    return "<0.1 %" if 0 < percent < 0.05 else f"{percent:.1f} %"


def shown_number(number):
    """Return a number in few characters; nothing if it is missing.

    >>> shown_number(1234567), shown_number(0.012345), shown_number(1234.5), shown_number(None)
    ('1,234,567', '0.01235', '1,234', '')
    """
    if number is None or isnan(number):
        return ""
    return f"{number:,}" if isinstance(number, int) else f"{number:,.0f}" if abs(number) >= 1000 else f"{number:.4g}"


def shown_bytes(number):
    """Return a number of bytes with a unit, which is a power of 1024.

    >>> shown_bytes(512), shown_bytes(1.2 * 1024**3), shown_bytes(723441)
    ('512 B', '1.2 GB', '706 KB')
    """
    return "" if number is None else scaled(number, [(1024**i, unit) for i, unit in enumerate(BYTES)])


def shown_seconds(number):
    """Return a duration with a unit.

    >>> shown_seconds(0.12), shown_seconds(2.5e-6), shown_seconds(90), shown_seconds(0)
    ('120 ms', '2.5 us', '1.5 min', '0 s')
    """
    return "" if number is None else scaled(number, SECONDS) if number else "0 s"


def scaled(number, units):
    """Return a number of few digits and the greatest unit that it reaches; the units are in ascending order."""
    size, unit = max([each for each in units if each[0] <= number] or units[:1])
    number /= size
    return f"{number:,.0f} {unit}" if number >= 99.95 else f"{number:.1f}".removesuffix(".0") + f" {unit}"


BYTES = "B", "KB", "MB", "GB", "TB", "PB", "EB"
SECONDS = [(1e-9, "ns"), (1e-6, "us"), (1e-3, "ms"), (1, "s"), (60, "min"), (3600, "h"), (86400, "d")]
SHOWN_AS = {"bytes": shown_bytes, "seconds": shown_seconds, "part": lambda part: share(part or 0, 1)}


def unit_of(name):
    """Return the unit of a number with a name such as "sum.bytes_sent"; None: it has none.

    >>> unit_of("p50.duration"), unit_of("distinct.client")
    ('seconds', None)
    """
    kind, _, field = name.partition(".")
    return (
        "part"
        if kind == "rate"
        else None
        if kind == "distinct"
        else {"bytes_sent": "bytes", "duration": "seconds"}.get(field)
    )


def short_names(names):
    """Return the first words of names, unless another name has the same.

    >>> short_names(["sum.bytes_sent", "p50.duration", "p90.duration"])
    ['sum', 'p50', 'p90']
    >>> short_names(["sum.bytes_sent", "sum.duration"])
    ['sum.bytes_sent', 'sum.duration']
    """
    firsts = [name.partition(".")[0] for name in names]
    return [first if firsts.count(first) == 1 else name for first, name in zip(firsts, names, strict=True)]


def aligned(rows):
    """Return each row of texts as one text, in which columns end below each other."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [GAP.join(text.rjust(width) for text, width in zip(row, widths, strict=True)) for row in rows]


def fitted(wanted, space):
    """Return the widths of columns that fit into a space: the widest ones become narrower.

    >>> fitted([3, 50, 40], 60), fitted([3, 50], 60)
    ([3, 29, 28], [3, 50])
    """
    widths = list(wanted)
    space = max(space, len(widths))
    while sum(widths) > space:
        widest = max(widths)
        below = max([width for width in widths if width < widest], default=0)
        number = widths.count(widest)
        over = min(sum(widths) - space, (widest - below) * number)
        less, more = divmod(over, number)
        for i, width in reversed(list(enumerate(widths))):
            if width == widest:
                widths[i] -= less + (more > 0)
                more -= 1
    return widths
