"""The formats of records that commands write: one table. Options, headers and writers follow from it."""

from collections import namedtuple

__all__ = ["FORMATS", "Format"]

_Fields = namedtuple("_Fields", "name help values delimiter header")


class Format(_Fields):
    """A format in which a record is a line.

    Attributes:
        name (str): The value of `--to`.
        help (str): What help says of it.
        values (str): How values are written: "jsonl": members of an object; "csv": in quotes where they need some;
            "text": as they are, with control characters as triplets.
        delimiter (bytes): The byte between values. Without quotes, it is a control character: no value contains it.
        header (bool): Whether the first line has the names of the values.
    """

    __slots__ = ()


FORMATS = {
    each[0]: Format(*each)
    for each in (
        ("jsonl", "JSON lines", "jsonl", b",", False),
        ("csv", "CSV with a header", "csv", b",", True),
        ("tsv", "values between tabs, without quotes, after a header", "text", b"\t", True),
        ("text", "values between tabs, without a header", "text", b"\t", False),
    )
}
