"""The order of counts: by the count, a sum, a quantile, or a field of the group.

The value of a row becomes bytes that compare as the values do (a rank), so that rows that do not fit into memory are
sorted by the Sorter of uricodec._counting.runs, which compares bytes:

    0x00 | rank of the value, complemented if the order is descending       a value
    0x01                                                                    a missing value: last in both orders

A number is a float (its bits, the sign flipped; all bits if it is negative), then the exact integer. A text is its
UTF-8, in which 0x00 is followed by 0xFF, then 0x00 0x00: so no rank begins another one. A time is its moment in
microseconds, then its further digits as a text.
"""

from collections.abc import Sequence
from datetime import tzinfo
from json import dumps, loads
from struct import pack
from typing import TYPE_CHECKING

from uricodec.logs._times import MOMENT, moment_of

if TYPE_CHECKING:
    from uricodec.logs._counting import Counted

# Fields of groups that are numbers, in CSV too.
NUMBERS = "status", "bytes_sent", "duration"

DIRECTIONS = "asc", "desc"
COMPLEMENT = bytes(range(255, -1, -1))


class CountOrder:
    """An order of counts.

    Args:
        text (str): The name of a field, such as "count", "sum.bytes_sent" or "status"; ":asc" or ":desc" may follow.
            Without it, numbers beside the group are in descending order, and fields of the group in ascending order.
        names (Sequence[str]): The names of all fields: those of the group, "count", those of the numbers.
        size (int): How many of them are fields of the group.
        zone (tzinfo | None): The zone of times that are logged without one; None: UTC.
        delimiter (str): The character between fields of CSV.

    Raises:
        TypeError: If `text` is not a str.
        ValueError: If it names no field.

    >>> from uricodec.logs._counting import Counted
    >>> order = CountOrder("sum.bytes_sent", ["client", "count", "sum.bytes_sent"], 1, None)
    >>> rows = [Counted(b'{"client":"a"}', 3, [5]), Counted(b'{"client":"b"}', 1, [900])]
    >>> [row.count for row in sorted(rows, key=order.rank)]
    [1, 3]
    """

    def __init__(self, text: str, names: Sequence[str], size: int, zone: tzinfo | None, delimiter: str = ",") -> None:
        if not isinstance(text, str):
            raise TypeError(f"sort must be a str, got {type(text).__name__}")
        name, _, direction = text.rpartition(":")
        if text in names or direction not in DIRECTIONS:
            name, direction = text, ""
        if name not in names:
            raise ValueError(f"sort: expected a field of {', '.join(names)}, or one with :asc or :desc, got {text!r}")
        self._size, self._zone, self._name, self._delimiter = size, zone, name, delimiter
        self._at = names.index(name)
        self._descends = direction == "desc" if direction else self._at >= size

    def rank(self, row: "Counted") -> bytes:
        """Return bytes that compare as the rows are ordered."""
        value = [row.count, *row.numbers][self._at - self._size] if self._at >= self._size else self._field(row.key)
        if value is None:
            return b"\1"
        rank = rank_of_number(value) if isinstance(value, int | float) else self._rank_of_text(value)
        return b"\0" + (rank.translate(COMPLEMENT) if self._descends else rank)

    def _field(self, key: bytes) -> str | int | float | None:
        """Return the value of the field of a group, given its record as JSON or CSV."""
        if key.startswith(b"{"):
            value = list(loads(key).values())[self._at]
            return dumps(value) if isinstance(value, list | dict) else value
        import csv

        fields = next(csv.reader([key.decode("utf-8", "surrogateescape")], delimiter=self._delimiter)) or [""]
        text = fields[self._at]
        if text and self._name in NUMBERS:
            return int(text) if text.isdigit() else float(text)
        return text or None

    def _rank_of_text(self, text: str) -> bytes:
        if not self._name.startswith("time"):
            return rank_of_text(text)
        if not (found := MOMENT.fullmatch(text)):
            return b"\xff" + rank_of_text(text)  # times that cannot be read follow the others
        beyond = (found[4] or "")[7:].rstrip("0")  # the digits after those of microseconds
        return rank_of_number(moment_of(text, self._zone)) + rank_of_text(beyond)


def rank_of_text(text: str) -> bytes:
    """Return bytes that compare as texts do, by their characters."""
    return text.encode("utf-8", "surrogateescape").replace(b"\0", b"\0\xff") + b"\0\0"


def rank_of_number(number: int | float) -> bytes:
    """Return bytes that compare as numbers do, of which integers have at most 128 bits.

    >>> sorted([2**63 + 1, -1.5, 2**63, 0, -2, 10], key=rank_of_number)
    [-2, -1.5, 0, 10, 9223372036854775808, 9223372036854775809]
    """
    bits = int.from_bytes(pack(">d", number), "big")
    bits ^= (1 << 64) - 1 if bits >> 63 else 1 << 63
    exact = number if isinstance(number, int) else 0
    return bits.to_bytes(8, "big") + (exact + (1 << 135)).to_bytes(17, "big")
