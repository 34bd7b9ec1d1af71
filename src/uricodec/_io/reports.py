r"""Reports of invalid lines: they have one shape, whichever command or function writes them.

A report has a row for each invalid line: input, line (from 1), offset in the line (from 0), code and text; that of
`check` has the reason, too. The message of an error says the same of one line, `INPUT:LINE:COLUMN (byte N): REASON`:
the column counts from 1, and N is the offset in the input, from 0.
"""

from collections import namedtuple

# How many bytes of a line that is too long are shown.
SHOWN = 100

# How many characters are escaped at once.
PART = 16_384


TYPE_CHECKING = False  # importing typing takes long
if TYPE_CHECKING:
    from typing import NamedTuple

    class _Columns(NamedTuple):
        input: str
        line: int
        offset: int
        code: str
        text: bytes

else:
    _Columns = namedtuple("_Columns", ["input", "line", "offset", "code", "text"])


class InvalidLine(_Columns):
    """An invalid line, as a row of a report.

    Attributes:
        input (str): The name of the input.
        line (int): The number of the line, from 1.
        offset (int): The offset of the error in the line, in bytes from 0.
        code (str): The code of the error.
        text (bytes): The line without its terminator; the beginning of a line that is too long, and "...".
    """

    __slots__ = ()

    def row(self, reason: "str | None" = None) -> bytes:
        r"""Return the row of a report (bytes), perhaps with a reason at its end.

        >>> InvalidLine("<stdin>", 1, 4, "character", b"a:b\t c").row()
        b'<stdin>\t1\t4\tcharacter\ta:b\\x09 c\n'
        """
        more = f"\t{reason}" if reason else ""
        return f"{self.input}\t{self.line}\t{self.offset}\t{self.code}\t{visible(self.text)}{more}\n".encode()


def head_of(line):
    """Return the part of a line that is shown if the line is too long (bytes), given its beginning (bytes-like)."""
    return bytes(line[:SHOWN]) + b"..."


def message(name, line, offset, before, reason):
    """Return the error message for an invalid line.

    Args:
        name (str): The name of the input.
        line (int): The number of the line, from 1.
        offset (int): The offset of the error in the line, in bytes from 0.
        before (int): The number of bytes of the input before the line.
        reason (str): The reason.

    >>> message("<stdin>", 2, 3, 10, "lone surrogate")
    '<stdin>:2:4 (byte 13): lone surrogate'
    """
    return f"{name}:{line}:{offset + 1} (byte {before + offset}): {reason}"


def visible(data):
    r"""Return `data` (bytes-like) as text that is safe for a terminal: unprintable characters and "\" are escaped.

    >>> print(visible(b"caf\xc3\xa9\x1b[2J \xff \\"))
    café\x1b[2J \xff \\
    """
    text = str(data, "utf-8", "surrogateescape")
    if text.isprintable() and "\\" not in text:
        return text
    parts = (text[start : start + PART] for start in range(0, len(text), PART))  # escaping needs 60 bytes per character
    return "".join(["".join(map(escape, part)) for part in parts])


def escape(character):
    if character == "\\":
        return r"\\"
    if character.isprintable():
        return character
    return "".join(map(r"\x{:02x}".format, character.encode("utf-8", "surrogateescape")))
