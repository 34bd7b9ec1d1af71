"""What the inputs of a run begin with: a byte order mark, and a header, which names the fields of all their records."""

import os

from uricodec._io.files import FileError
from uricodec._io.reports import visible
from uricodec._records._framing import Framing
from uricodec._records.ends import MarkedLineEnds, RecordEnds, front_of

# The usual delimiters; the other formats have none.
DELIMITERS = {"csv": b",", "delimited": b"\t"}


# How many names of fields a message lists.
MOST_SHOWN = 20


class FieldError(ValueError):
    """The field does not exist."""


class NoHeaderError(FieldError):
    """A list contains the name of a field, but inputs have no headers."""


class LongHeaderError(FileError):
    """The header is longer than a line may be."""


class InputFormat:
    """The format of the records of all inputs of a run.

    Fields between delimiters may follow the legend of a CDX file, " CDX N b a m s k r M S V g": the delimiter, "CDX",
    and a letter for each field. It is a header, announced or not. The letters are the names.

    Args:
        form (str): As in Framing.
        end (bytes): The terminator of lines.
        delimiter (bytes | None): The byte between fields; None: the usual one.
        header (bool): Whether the first record of each input contains the names of fields.

    Attributes:
        options (dict): The arguments for Framing that are the same whichever values are selected.
        has_header (bool): As above.
        first (Head | None): What the first input begins with, when it has been compared.

    Raises:
        ValueError: If the delimiter is invalid.
    """

    def __init__(self, form, end, delimiter, header):
        delimiter = DELIMITERS.get(form, b"\t") if delimiter is None else delimiter
        if not is_delimiter(delimiter, form, end):
            raise ValueError(f"delimiter must be one byte with no other meaning in the records, got {delimiter!r}")
        self.options = {"form": form, "end": end, "delimiter": delimiter}
        self.has_header, self.first = header, None
        self._framing = Framing(**self.options)
        self._legend = delimiter + b"CDX" + delimiter if form == "delimited" else None

    def ends(self):
        """Return the object that finds the ends of the records of one input (LineEnds)."""
        if self.options["form"] == "csv":
            return RecordEnds(self._framing)
        return MarkedLineEnds(self.options["end"])

    def begin(self, chunk, name):
        """Return what an input begins with.

        Args:
            chunk (Chunk): The first of the input.
            name (str): The name of the input, for messages.

        Returns:
            Head: It.

        Raises:
            LongHeaderError: If the header is not in the chunk as a whole.
        """
        front = front_of(chunk.buffer, chunk.size)
        is_legend = self._legend is not None and chunk.buffer.startswith(self._legend, front, chunk.size)
        if not (self.has_header or is_legend):
            return Head(bytes(chunk.view[:front]), b"", None)
        if not chunk.whole:
            raise LongHeaderError(name, "the header is too long")
        names, size = self._framing.first(chunk.view[front:], chunk.size - front)
        if is_legend:
            names = names[2:]
        header = bytes(chunk.view[front : front + size])
        return Head(bytes(chunk.view[:front]), header, names if self.has_header else None)

    def compare(self, head, name):
        """Check that the header of an input is that of the first one; `name` is the name of the input.

        An input may lack the legend of the first one: of an index in several files, only the first has it.

        Raises:
            FileError: If it differs.
        """
        if self.first is None:
            self.first = head
        ends = b"\r\n" if self.options["end"] == b"\n" else self.options["end"]
        if (self.has_header or head.header) and head.header.rstrip(ends) != self.first.header.rstrip(ends):
            raise FileError(name, "header differs from that of the first input")


class Head:
    """What an input begins with.

    Args:
        mark (bytes): The byte order mark; b"" if there is none.
        header (bytes): The header with its terminator, if it has one; b"" without a header.
        names (list[bytes] | None): The names of the fields, if there is a header.

    Attributes:
        mark, header, names: As above.
        size (int): Where the first record starts.
    """

    def __init__(self, mark, header, names):
        self.mark, self.header, self.names = mark, header, names
        self.size = len(mark) + len(header)


def is_delimiter(value, form, end):
    """Return whether a value (bytes) is one byte that has no other meaning in records.

    >>> is_delimiter(b";", "csv", b"\\n"), is_delimiter(b'"', "csv", b"\\n"), is_delimiter(b'"', "delimited", b"\\n")
    (True, False, True)
    """
    others = b'"\r\n' if form == "csv" else b"\r\n" if end == b"\n" else end
    return len(value) == 1 and value not in others


# --- fields -----------------------------------------------------------------------------------------------------------


def number_of(field, names):
    """Return the number of a field, from 1.

    Args:
        field (str | int): Its number, or its name.
        names (list[bytes] | None): The names of all fields, if they have some.

    Returns:
        int: The number.

    Raises:
        FieldError: If the field does not exist.

    >>> number_of("url", [b"id", b"url"]), number_of("1", [b"id", b"url"]), number_of(7, None)
    (2, 1, 7)
    """
    numbers = numbers_named(field, names) if isinstance(field, str) else []
    if len(numbers) > 1:
        raise FieldError(f"the header has {len(numbers)} fields {field!r}")
    if numbers:
        return numbers[0]
    if isinstance(field, str) and not is_number(field):
        if names is None:
            raise FieldError(f"expected the number of a field, or with a header its name, got {field!r}")
        raise FieldError(no_field(field, names))
    if int(field) < 1:
        raise FieldError(f"fields count from 1, got {field!r}")
    if int(field) >= 10**18:
        raise FieldError(f"fields have at most 18 digits, got {field!r}")
    if names is not None and int(field) > len(names):
        raise FieldError(f"the header has only {len(names)} fields, got {field!r}")
    return int(field)


def spans_of(items, names=None):
    """Return the fields in a list of some.

    Args:
        items (list[str]): Lists as in cut: "1,3-5", "-2", "4-"; with names, also these, each of which stands for all
            fields of that name.
        names (list[bytes] | None): The names of all fields, if they have some.

    Returns:
        list[tuple[int, int | None]]: Spans of fields, which count from 1, ascending and apart.

    Raises:
        FieldError: If an item is invalid.

    >>> spans_of(["7,1,3-5", "4-6"])
    [(1, 1), (3, 7)]
    >>> spans_of(["url,-2", "9-"], [b"id", b"", b"url"])
    [(1, 3), (9, None)]
    """
    found = []
    numbers = {}
    for number, name in enumerate(names or (), 1):
        numbers.setdefault(name, []).append((number, number))
    for item in dict.fromkeys(part for each in items for part in each.split(",")):
        found += numbers.get(encoded(item)) or [span_of(item, names)]
    return merge(found)


def no_field(field, names):
    """Return the message for a field (str) that a header lacks, given its names (list[bytes]).

    >>> no_field("urll", [b"id", b"url"])
    "the header has no field 'urll'; its fields are 'id', 'url'"
    """
    shown = ", ".join(repr(visible(name)) for name in names[:MOST_SHOWN]) + ", ..." * (len(names) > MOST_SHOWN)
    return f"the header has no field {field!r}; its fields are {shown}"


def merge(spans):
    """Return spans, in any order, as spans that are ascending and apart.

    >>> merge([(3, None), (7, 7), (2, 2)])
    [(2, None)]
    """
    merged = []
    for low, high in sorted(spans, key=lambda span: span[0]):
        if merged and (merged[-1][1] is None or low <= merged[-1][1] + 1):
            before, end = merged[-1]
            merged[-1] = before, None if end is None or high is None else max(end, high)
        else:
            merged.append((low, high))
    return merged


def span_of(item, names):
    """Return the fields that an item of a list stands for, which is not a name."""
    first, dash, last = item.partition("-")
    parts = [part for part in (first, last) if part]
    if not parts or not all(map(is_number, parts)):
        if names is not None:
            raise FieldError(no_field(item, names))
        raise NoHeaderError(f"expected numbers such as 1,3-5, got {item!r}")
    low = int(first or 1)
    high = (int(last) if last else None) if dash else low
    if low < 1:
        raise FieldError(f"fields count from 1, got {item!r}")
    if high is not None and high < low:
        raise FieldError(f"the first field of {item!r} comes after the last one")
    return low, high


def numbers_named(name, names):
    """Return the numbers, from 1, of the fields with a name (str); `names` are those of all fields, or None."""
    name = encoded(name)
    return [number for number, each in enumerate(names or (), 1) if each == name]


def encoded(name):
    """Return the bytes of a name; bytes of the command line that are not UTF-8 are as they were there."""
    try:
        return os.fsencode(name)
    except UnicodeEncodeError:
        raise FieldError(f"invalid name {name!r} of a field: lone surrogate") from None


def is_number(text):
    """Return whether a text is a number of at most 18 digits."""
    return text.isascii() and text.isdigit() and len(text) < 19
