"""Records as lines: JSON, CSV, TSV, and text, which is TSV without a header."""

from collections import namedtuple

from uricodec._records._templates import FieldRows, TemplateRows, cell

# What is before a record, between its fields, and after it; JSON has names, too.
AROUND = {"jsonl": (b"{", b",", b"}"), "csv": (b"", b",", b""), "tsv": (b"", b"\t", b""), "text": (b"", b"\t", b"")}

# The operation that makes a record of a line (RowOperation), and the header of the records.
Template = namedtuple("Template", ["rows", "header"])


def header_of(to, names):
    """Return the header of an output (bytes); text and JSON have none.

    >>> header_of("csv", ["a", "b,c"]), header_of("jsonl", ["a"])
    (b'a,"b,c"\\n', b'')
    """
    if to in ("jsonl", "text"):
        return b""
    names = [cell(name.encode("utf-8", "surrogateescape"), form_of(to)) for name in names]
    return AROUND[to][1].join(names) + b"\n"


def form_of(to):
    """Return how values are written in an output of this form."""
    return to if to in ("csv", "jsonl") else "text"


def records_of(to, names, numbers):
    """Return what makes records of lines with values between tabs.

    Args:
        to (str): "jsonl", "csv", "tsv" or "text".
        names (Sequence[str]): The names of the values. The last one may have tabs.
        numbers (Collection[str]): Those of values that are numbers.

    Returns:
        Template: It.
    """
    fields = FieldRows(len(names))
    before, between, after = AROUND[to]
    pieces = [before]
    for i, name in enumerate(names):
        key = cell(name.encode(), to) + b":" if to == "jsonl" else b""
        pieces += [between * (i > 0) + key, (fields, i, "number" if name in numbers else form_of(to))]
    return Template(TemplateRows([*pieces, after]), header_of(to, names))
