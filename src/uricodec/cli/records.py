"""Records as lines: JSON, CSV, TSV, and text, which is TSV without a header."""

import re

CONTROL = re.compile("[\\0-\\x1f\\x7f]")


def header_of(to, names):
    """Return the header of an output (bytes); text and JSON have none. In TSV, control characters become triplets."""
    if to in ("jsonl", "text"):
        return b""
    if to == "tsv":
        names = [CONTROL.sub(lambda found: f"%{ord(found[0]):02X}", name) for name in names]
    return record_of(to, names, names)


def record_of(to, names, values):
    """Return a record as a line (bytes).

    Args:
        to (str): "jsonl", "csv", "tsv" or "text"; with the last two, no value has a tab or a newline.
        names (Sequence[str]): The names of the fields, for JSON.
        values (Sequence[str | int]): The values.

    >>> record_of("csv", ["a", "b"], ["x,y", 1]), record_of("jsonl", ["a", "b"], ["x", 1])
    (b'"x,y",1\\n', b'{"a":"x","b":1}\\n')
    """
    if to == "jsonl":
        from json import dumps

        text = dumps(dict(zip(names, values, strict=True)), ensure_ascii=False, separators=(",", ":"))
    elif to == "csv":
        import csv
        from io import StringIO

        line = StringIO()
        csv.writer(line, lineterminator="").writerow(values)
        text = line.getvalue()
    else:
        text = "\t".join(map(str, values))
    return text.encode("utf-8", "surrogateescape") + b"\n"


def text_of(data):
    """Return bytes as text, in which bytes that are not UTF-8 are written as %HH.

    >>> text_of(b"caf\\xc3\\xa9 \\xff")
    'café %FF'
    """
    text = data.decode("utf-8", "surrogateescape")
    if text.isascii():
        return text
    return "".join([f"%{ord(each) - 0xDC00:02X}" if "\udc80" <= each <= "\udcff" else each for each in text])
