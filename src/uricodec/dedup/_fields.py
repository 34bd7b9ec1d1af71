"""The records of files, and the field whose value is the identifier of a record."""

from uricodec._records._framing import Framing
from uricodec._records.headers import FieldError, InputFormat, encoded, number_of

FORMATS = "csv", "delimited", "jsonl"


class NoValuesError(FieldError):
    """No record of the inputs has a value in the field: its name or number is probably wrong."""


class DelimiterError(NoValuesError):
    """No record of the inputs contains the delimiter."""


class OrderError(FieldError):
    """The field by which records are ordered does not exist."""


class NoOrderError(NoValuesError, OrderError):
    """No record has a number or time in the field by which records are ordered."""


class Records:
    """The format of the records of all files, and where the field is.

    Args:
        field (str | int): The field: its number, from 1, or its name in the header; for "jsonl" the name of a member.
        form (str): "csv", "delimited" or "jsonl".
        delimiter (bytes | None): The byte between fields; None: the usual one.
        header (bool): Whether the first record of each file contains the names of fields.
        end (bytes): The terminator of lines.
        by (str | int | None): The field by which equivalent records are ordered.

    Attributes:
        separator (bytes): What follows a count before a record.
    """

    def __init__(self, field, form, delimiter, header, end, by=None):  # noqa: PLR0913, PLR0917
        if form not in FORMATS:
            raise ValueError(f"format must be one of {', '.join(map(repr, FORMATS))}, got {form!r}")
        if form == "jsonl" and (header or delimiter is not None):
            raise ValueError(f"{'header' if header else 'delimiter'} is not supported with format='jsonl'")
        if form != "delimited" and end != b"\n":
            raise ValueError(f"line_terminator must be b'\\n' with format={form!r}, got {end!r}")
        self._field, self._by = field, by
        self._inputs = InputFormat("json" if form == "jsonl" else form, end, delimiter, header)
        self._is_delimiter_given, self._framings = delimiter is not None, []
        self.has_header = header
        self.separator = self._inputs.options["delimiter"]  # for JSON, which has none: a tab
        if form == "jsonl":
            self._framing = self._framing_of(None)
        else:
            self._framing = None if header else self._framing_of(None)

    def _framing_of(self, names, is_input=True):
        framing = self._select(self._field, names, False)
        if self._by is not None and is_input:
            try:
                framing.by = self._select(self._by, names, True)
            except FieldError as error:
                raise OrderError(str(error)) from None
        return framing

    def _select(self, field, names, scalars):
        if self._inputs.options["form"] == "json":
            return Framing(**self._inputs.options, names=[encoded(field)], scalars=scalars)
        number = number_of(field, names)
        self._framings.append(Framing(**self._inputs.options, fields=[(number, number)]))
        return self._framings[-1]

    def ends(self):
        """Return the object that finds the ends of the records of one file (LineEnds)."""
        return self._inputs.ends()

    def begin(self, chunk, name, is_input):
        """Read the byte order mark and the header of a file.

        Args:
            is_input (bool): Whether records of the file are written, so that its header has to be that of the output.
        """
        head = self._inputs.begin(chunk, name)
        try:
            framing = self._framing_of(head.names, is_input) if self.has_header else self._framing
        except FieldError as error:
            raise type(error)(f"{name}: {error}") from None
        if is_input:
            self._inputs.compare(head, name)
        return framing, head.size

    def header(self, column=""):
        """Return what is written before the records; `column` is the name of a first field that is added to them."""
        head = self._inputs.first
        if head is None:
            return b""
        added = column.encode() + self.separator if column and head.header else b""
        return head.mark + added + head.header

    @property
    def unclosed(self):
        """Whether the last record of a file has a quote that is not closed."""
        return any([framing.unclosed for framing in self._framings])

    def check_delimiter(self):
        """Raise DelimiterError if a delimiter was given that no record of any file contains."""
        found = [framing.divided for framing in self._framings]
        if self._is_delimiter_given and False in found and True not in found:
            raise DelimiterError(f"no record contains {self.separator.decode('latin-1')!r}")

    def describe(self):
        """Return the field as a message shows it."""
        return f"field {self._field!r}"

    def describe_by(self):
        """Return the field by which records are ordered as a message shows it."""
        return f"field {self._by!r}"
