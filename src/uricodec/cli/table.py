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

# The greatest width of a bar, the least one, and the width of a key for which the bar becomes shorter.
BAR, LEAST_BAR, KEY = 20, 6, 24

BLOCKS = " ▏▎▍▌▋▊▉█"
WIDE = "WF"  # of the values of east_asian_width
ZERO = "Mn", "Me", "Cf"  # categories of characters without a width


def table_of(keys, rows, total, others, numbers=()):
    """Return a table for standard output (bytes); see CountTable and its lines()."""
    import sys
    from shutil import get_terminal_size

    encoding = getattr(sys.stdout, "encoding", None) or "ascii"
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
        numbers = [["count", "share", *self._numbers]]
        numbers += [[f"{n:,}", share(n, total), *map(shown_number, more)] for _, n, more in rows]
        names = [list(map(self._shown, keys)) for keys, _, _ in rows]
        last = []
        if others:
            numbers.append([f"{left:,}", share(left, total), *[""] * len(self._numbers)])
            last.append(f"{others:,} others")
        heads = aligned(numbers)
        space = self._width - len(heads[0])
        wanted = self._wanted(names, last)
        bar = self._bar_width(space, wanted)
        widths = fitted(wanted, space - bar - len(GAP) * (len(wanted) + bool(bar)))
        if bar:
            greatest = max(counts, default=0)
            bars = ["", *(self._bar(count / greatest, bar) for count in counts), *[""] * bool(others)]
            heads = [f"{head}{GAP}{text:{bar}}" for head, text in zip(heads, bars, strict=True)]
        tails = [self._tail(each, widths) for each in [self._keys, *names]] + [self._cut(each, space) for each in last]
        return [self._cut((head + GAP + tail).rstrip(), self._width) for head, tail in zip(heads, tails, strict=True)]

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
        if len(wanted) == 1:
            wanted[0] = max([wanted[0], *map(width_of, last)])
        return wanted

    def _bar_width(self, space, wanted):
        """Return the width of the bars, for which keys of usual widths remain; 0 if it is too small."""
        keys = sum(min(width, KEY) + len(GAP) for width in wanted)
        width = min(BAR, max(space - keys - len(GAP), min(BAR, space // 4)))
        return width if width >= LEAST_BAR else 0

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
