"""Records as lines of a format: what makes them of values between tabs, and their header."""

from collections import namedtuple

from uricodec._records._templates import FieldRows, TemplateRows, cell
from uricodec._records.formats import FORMATS

# The operation that makes a record of a line (RowOperation), and the header of the records.
Template = namedtuple("Template", ["rows", "header"])


def header_of(to, names):
    """Return the header of an output (bytes), which some formats have.

    >>> header_of("csv", ["a", "b,c"]), header_of("jsonl", ["a"])
    (b'a,"b,c"\\n', b'')
    """
    form = FORMATS[to]
    if not form.header:
        return b""
    names = [name.encode("utf-8", "surrogateescape") for name in names]
    return form.delimiter.join([cell(name, form.values, form.delimiter) for name in names]) + b"\n"


def records_of(to, names, numbers, first=()):
    """Return what makes records of lines with values between tabs.

    Args:
        to (str): The format, of FORMATS.
        names (Sequence[str]): The names of the values. The last one may have tabs.
        numbers (Collection[str]): Those of values that are numbers.
        first (Sequence[bytes]): The first values, if they are the same in all lines, which lack them.

    Returns:
        Template: It.
    """
    form = FORMATS[to]
    fields = FieldRows(len(names) - len(first))
    is_json = form.values == "jsonl"
    pieces = []
    for i, name in enumerate(names):
        pieces.append(form.delimiter if i else b"{" if is_json else b"")
        if is_json:
            pieces.append(cell(name.encode(), "jsonl") + b":")
        if i < len(first):
            pieces.append(cell(first[i], form.values, form.delimiter))
        else:
            pieces.append((fields, i - len(first), "number" if name in numbers else form.values))
    return Template(TemplateRows([*pieces, b"}" if is_json else b""], form.delimiter), header_of(to, names))
