"""The records of files, and the field whose value is the identifier of a record."""

import os

from uricodec._io import streams
from uricodec._records._framing import Framing
from uricodec._records.ends import MarkedLineEnds, RecordEnds, front_of

# Each format as a form of Framing, and the usual delimiter.
FORMATS = {"csv": ("csv", b","), "delimited": ("delimited", b"\t"), "jsonl": ("json", b"\t")}


class FieldError(ValueError):
    """The field does not exist."""


class NoValuesError(FieldError):
    """No record of the inputs has a value in the field: its name or number is probably wrong."""


class Records:
    """The format of the records of all files, and where the field is.

    Args:
        field (str | int): The field: its number, from 1, or its name in the header; for "jsonl" the name of a member.
        form (str): "csv", "delimited" or "jsonl".
        delimiter (bytes | None): The byte between fields; None: the usual one.
        header (bool): Whether the first record of each file contains the names of fields.
        end (bytes): The terminator of lines.

    Attributes:
        has_header (bool): Whether files have headers.
        separator (bytes): What follows a count before a record.
        header (bytes): What is written before the records: the header of the first input, or its byte order mark.

    Raises:
        ValueError: If an argument is invalid.
    """

    def __init__(self, field, form, delimiter, header, end):
        if form not in FORMATS:
            raise ValueError(f"format must be one of {', '.join(map(repr, FORMATS))}, got {form!r}")
        if form == "jsonl" and (header or delimiter is not None):
            raise ValueError(f"{'header' if header else 'delimiter'} is not supported with format='jsonl'")
        if form != "delimited" and end != b"\n":
            raise ValueError(f"line_terminator must be b'\\n' with format={form!r}, got {end!r}")
        form, usual = FORMATS[form]
        delimiter = usual if delimiter is None else delimiter
        if len(delimiter) != 1 or delimiter in reserved(form, end):
            raise ValueError(f"delimiter must be one byte with no other meaning in the records, got {delimiter!r}")
        self._field, self.has_header = field, header
        self._options = {"form": form, "end": end, "delimiter": delimiter}
        self.separator = delimiter  # for JSON, which has none: a tab
        self._marked = form != "delimited" or header
        if form == "json":
            self._framing = Framing(**self._options, names=[os.fsencode(field)])
        elif header:
            self._framing = Framing(**self._options)
        else:
            self._framing = self._framing_of(None)
        self._first = None  # the header of the first input
        self.header = b""

    def _framing_of(self, names):
        number = number_of(self._field, names)
        return Framing(**self._options, fields=[(number, number)])

    def ends(self):
        """Return the object that finds the ends of the records of one file (streams.LineEnds)."""
        if self._options["form"] == "csv":
            return RecordEnds(self._framing)
        end = self._options["end"]
        return MarkedLineEnds(end) if self._marked else streams.LineEnds(end)

    def begin(self, chunk, name, is_input):
        """Read the byte order mark and the header of a file.

        Args:
            chunk (Chunk): The first of the file.
            name (str): The name of the file, for messages.
            is_input (bool): Whether records of the file are written, so that its header has to be that of the output.

        Returns:
            tuple[Framing, int]: The format of the records of this file, and where the first one starts.

        Raises:
            FieldError: If the header lacks the field.
            FileError: If the header differs from that of the first input, or is too long.
        """
        front = front_of(chunk.buffer, chunk.size) if self._marked else 0
        framing, size, header = self._framing, front, b""
        if self.has_header:
            if not chunk.whole:
                raise streams.FileError(name, "the header is too long")
            names, size = framing.first(chunk.view[front:], chunk.size - front)
            try:
                framing, size = self._framing_of(names), front + size
            except FieldError as error:
                raise FieldError(f"{name}: {error}") from None
            header = bytes(chunk.view[front:size]).rstrip(b"\r" + self._options["end"])
        if not is_input:
            return framing, size
        if self._first is None:
            self._first, self.header = header, bytes(chunk.view[:size])
        elif header != self._first:
            raise streams.FileError(name, "header differs from that of the first input")
        return framing, size

    def header_with_counts(self):
        """Return what is written before records that begin with a count."""
        if not self._first:
            return self.header
        front = front_of(self.header, len(self.header))
        return b"".join([self.header[:front], b"count", self.separator, self.header[front:]])

    def describe(self):
        """Return the field as a message shows it."""
        return f"field {self._field!r}"


def reserved(form, end):
    """Return the bytes that cannot be the delimiter, as they have another meaning."""
    return b'"\r\n' if form == "csv" else b"\r\n" if end == b"\n" else end


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
    count = names.count(os.fsencode(field)) if names is not None and isinstance(field, str) else 0
    if count > 1:
        raise FieldError(f"the header has {count} fields {field!r}")
    if count:
        return names.index(os.fsencode(field)) + 1
    if isinstance(field, str) and not (field.isascii() and field.isdigit() and len(field) < 19):
        if names is None:
            raise FieldError(f"expected the number of a field, or with a header its name, got {field!r}")
        raise FieldError(f"the header has no field {field!r}")
    if int(field) < 1:
        raise FieldError(f"fields count from 1, got {field!r}")
    if names is not None and int(field) > len(names):
        raise FieldError(f"the header has only {len(names)} fields, got {field!r}")
    return int(field)
