"""Counting the records of logs: how often each tuple of fields occurs, in bounded memory."""

from array import array
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from uricodec._counting.counter import Counter
from uricodec._records.formats import FORMATS
from uricodec.logs._columns import convert_columns, numbers_of
from uricodec.logs._reading import RecordBuffer
from uricodec.logs._records import Lines, LogReader
from uricodec.logs._sorting import CountOrder

# Fields that are numbers, of which there are sums and quantiles.
NUMBERS = ("bytes_sent", "duration")

# Durations are added up as whole nanoseconds.
NANOSECONDS = 10**9

QUANTILES = ("p50", "p90", "p99", "max")


class Counted(NamedTuple):
    """How often a tuple of fields occurs.

    Attributes:
        key (bytes): The record of these fields, as JSON or CSV, without a line end.
        count (int): How many records have them.
        numbers (list[float | int | None]): The sums and quantiles of these records; a quantile is None if no record has
            such a number.
    """

    key: bytes
    count: int  # type: ignore[assignment]
    numbers: list[float | int | None]


class CountBuffer:
    """Converts lines to keys, and to the numbers beside them, as the state of a thread.

    Args:
        max_line (int): The longest valid line of the log, in bytes.
        columns (list[tuple[str, str]]): The numbers beside the keys: "q" for integers or "d", and the field.
        companion (Callable[[LogReader], LogReader]): Returns the reader of the numbers, given that of the keys.
    """

    def __init__(
        self, max_line: int, columns: list[tuple[str, str]], companion: "Callable[[LogReader], LogReader]"
    ) -> None:
        self._records, self._columns, self._companion = RecordBuffer(max_line), columns, companion
        self._pair: tuple[LogReader, LogReader] | None = None

    def convert(self, reader: LogReader, lines: memoryview, limit: int) -> "tuple[Lines, Any]":
        """Convert as many lines as fit. Return the outcome; and the keys, or the keys and their numbers."""
        if not self._columns:
            return self._records.convert(reader, lines, limit)
        if self._pair is None or self._pair[0] is not reader:
            self._pair = reader, self._companion(reader)
        companion = self._pair[1]
        companion.go_on(reader)
        found, keys = self._records.convert(reader, lines, limit)
        read, numbers = 0, [array(kind) for kind, _ in self._columns]
        while read < found.read:
            done, batch = convert_columns(companion, lines[read : found.read], limit)
            read += done.read
            for (kind, field), values in zip(self._columns, numbers, strict=True):
                values.frombytes(numbers_of(batch, companion.fields.index(field), kind == "q"))
        return found, (bytes(keys), numbers)


class Counting:
    """Counts tuples of fields.

    Args:
        options (dict): The arguments of LogReader: what is counted are records of `fields`.
        sums, quantiles (Sequence[str]): Those of NUMBERS whose sums and quantiles are wanted.
        memory, spill_dir: See `uricodec._counting.counter.Counter`.
        sort (str | None): The order, see `CountOrder`; None: the most frequent first.

    Attributes:
        names (list[str]): The names of the fields, "count", and those of the numbers: "sum.bytes_sent", "p50.duration".
        counter (Counter): The counter.

    Raises:
        ValueError: If a field of sums or quantiles is none of NUMBERS, or `sort` names no field.
    """

    def __init__(  # noqa: PLR0913, PLR0917
        self,
        options: dict[str, Any],
        sums: Sequence[str] = (),
        quantiles: Sequence[str] = (),
        memory: Any = None,
        spill_dir: Any = None,
        sort: str | None = None,
    ) -> None:
        for name, fields in ("sums", sums), ("quantiles", quantiles):
            for field in fields:
                if field not in NUMBERS:
                    raise ValueError(f"{name}: expected fields of {', '.join(NUMBERS)}, got {field!r}")
        self._sums, self._quantiles, self._options = list(sums), list(quantiles), options
        reader = LogReader([], **options)
        self.names = [*reader.fields, "count", *(f"sum.{field}" for field in sums)]
        self.names += [f"{each}.{field}" for field in quantiles for each in QUANTILES]
        self.fields = reader.fields
        self._order = None
        if sort is not None:
            delimiter = FORMATS[options["to"]].delimiter.decode()
            self._order = CountOrder(sort, self.names, len(self.fields), options["timezone"], delimiter)
        self.counter = Counter(memory, spill_dir, sums=len(sums), quantiles=len(quantiles))

    def state(self) -> CountBuffer:
        """Return what converts lines, in one of the threads."""
        columns = [("q", field) for field in self._sums] + [("d", field) for field in self._quantiles]
        options = self._options | {"to": "columns", "fields": [field for _, field in columns]}
        return CountBuffer(self._options["max_line"], columns, lambda reader: LogReader(reader.programs, **options))

    def take(self, data: Any) -> None:
        """Count what a CountBuffer has converted."""
        keys, numbers = data if isinstance(data, tuple) else (data, ())
        self.counter.add_lines(keys, numbers)

    def results(self, top: int | None) -> Iterator[Counted]:
        """Yield the first rows of the order, or all.

        Without an order, the most frequent come first. Rows that are equal in it are in the order of their counts, and
        those that are equally frequent in the order of their occurrence.
        """
        if self._order is None:
            return map(self._result, self.counter.most_common(top))
        return map(self._result, self.counter.in_order(self._rank, top))

    def peek(self, top: int) -> list[Counted]:
        """Return what results() yields, of what has been counted so far, while more may be counted."""
        found = self.counter.peek(top, None if self._order is None else self._rank)
        return [self._result(each) for each in found]

    def _rank(self, found: tuple[Any, ...]) -> bytes:
        return self._order.rank(self._result(found))  # type: ignore[union-attr]

    def _result(self, found: tuple[Any, ...]) -> Counted:
        key, count, *more = found
        numbers: list[float | int | None] = []
        if not more:
            return Counted(key, count, numbers)
        for field, total in zip(self._sums, more, strict=False):
            numbers.append(total / NANOSECONDS if field == "duration" else total)
        for values in more[len(self._sums) :]:
            *quantiles, greatest = values or [None] * len(QUANTILES)
            # Further digits would not be true. With the error of the sketch, this makes at most 1 %.
            numbers += [None if each is None else float(f"{each:.4g}") for each in quantiles] + [greatest]
        return Counted(key, count, numbers)
