"""Counting the records of logs: how often each tuple of fields occurs, in bounded memory."""

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from uricodec._base._fingerprint import FingerprintKey
from uricodec._counting._counts import hashes_of
from uricodec._counting.counter import Counter
from uricodec._records.formats import FORMATS
from uricodec.logs._columns import convert_columns, numbers_of
from uricodec.logs._conditions import condition_of
from uricodec.logs._groups import PERIODS
from uricodec.logs._reading import RecordBuffer
from uricodec.logs._records import Lines, LogReader, field_names
from uricodec.logs._sorting import CountOrder

# Fields that are numbers, of which there are sums and quantiles.
NUMBERS = ("bytes_sent", "duration")

# Durations are added up as whole nanoseconds.
NANOSECONDS = 10**9

# Columns of a Counter.
MOST = 12

QUANTILES = ("p50", "p90", "p95", "p99", "max")


class Counted(NamedTuple):
    """How often a tuple of fields occurs.

    Attributes:
        key (bytes): The record of these fields, as JSON or CSV, without a line end.
        count (int): How many records have them.
        numbers (list[float | int | None]): What Numbers wants of these records; a quantile is None if no record has
            such a number.
    """

    key: bytes
    count: int  # type: ignore[assignment]
    numbers: list[float | int | None]


class Numbers:
    """The numbers that are wanted beside each count.

    Args:
        sums, quantiles (Iterable[str]): Those of NUMBERS whose sums and quantiles are wanted.
        distincts (Iterable[Sequence[str]]): Tuples of fields whose different values are counted.
        rates (Iterable[str]): Conditions; the part of the records that meet each is wanted.
        zone (tzinfo | None): The zone of times in conditions.

    Attributes:
        names (list[str]): Their names: "sum.bytes_sent", "p50.duration", "distinct.client,path", "rate.status>=500".

    Raises:
        ValueError: If a field of sums or quantiles is none of NUMBERS, another field is unknown, or a condition is
            invalid; or there are more numbers than a Counter has columns for.

    >>> Numbers(["bytes_sent"], rates=["status>=500"]).names
    ['sum.bytes_sent', 'rate.status>=500']
    """

    def __init__(
        self,
        sums: Iterable[str] = (),
        quantiles: Iterable[str] = (),
        distincts: Iterable[Sequence[str]] = (),
        rates: Iterable[str] = (),
        zone: Any = None,
    ) -> None:
        self.sums, self.quantiles, self.rates = list(sums), list(quantiles), list(rates)
        for name, fields in ("sums", self.sums), ("quantiles", self.quantiles):
            for field in fields:
                if field not in NUMBERS:
                    raise ValueError(f"{name}: expected fields of {', '.join(NUMBERS)}, got {field!r}")
        self.distincts = [field_names(list(fields), (), False) for fields in distincts]
        twice = len(self.sums) + len(self.rates)
        if 2 * twice + len(self.quantiles) + len(self.distincts) > MOST:
            raise ValueError(
                f"expected up to {MOST} sums, quantiles, distinct values and rates, of which sums and rates count twice"
            )
        self.tests = [condition_of(rate, zone) for rate in self.rates]
        self.names = [f"sum.{field}" for field in self.sums]
        self.names += [f"{each}.{field}" for field in self.quantiles for each in QUANTILES]
        self.names += [f"distinct.{','.join(fields)}" for fields in self.distincts]
        self.names += [f"rate.{rate}" for rate in self.rates]

    def __bool__(self) -> bool:
        return bool(self.names)

    def of(self, count: int, found: Sequence[Any]) -> list[float | int | None]:
        """Return the numbers, given what a Counter found: sums, and those of tests, quantiles, and distinct values."""
        tests = len(self.sums) + len(self.rates)
        distincts = tests + len(self.quantiles)
        numbers: list[float | int | None] = []
        for field, total in zip(self.sums, found, strict=False):
            numbers.append(total / NANOSECONDS if field == "duration" else total)
        for values in found[tests:distincts]:
            *quantiles, greatest = values or [None] * len(QUANTILES)
            # Further digits would not be true. With the error of the sketch, this makes at most 1 %.
            numbers += [None if each is None else float(f"{each:.4g}") for each in quantiles] + [greatest]
        numbers += found[distincts:]
        return numbers + [total / count if count else None for total in found[len(self.sums) : tests]]


class CountBuffer:
    """Converts lines to keys, and to the numbers beside them, as the state of a thread.

    Args:
        options (dict): The arguments of LogReader for the keys.
        wanted (Numbers): The numbers.
        key (FingerprintKey): That of the hashes of distinct values.
    """

    def __init__(self, options: dict[str, Any], wanted: Numbers, key: FingerprintKey) -> None:
        self._max_line = options["max_line"]
        self._records, self._options, self._wanted, self._key = RecordBuffer(self._max_line), options, wanted, key
        self._reader: LogReader | None = None
        self._numbers: LogReader | None = None
        self._distincts: list[tuple[LogReader, RecordBuffer, bytes]] = []
        self._kinds = [("q", field) for field in wanted.sums]
        self._kinds += [("q", f"rate {i}") for i in range(len(wanted.rates))]
        self._kinds += [("d", field) for field in wanted.quantiles]

    def convert(self, reader: LogReader, lines: memoryview, limit: int) -> "tuple[Lines, Any]":
        """Convert as many lines as fit. Return the outcome; and the keys, or the keys and their numbers."""
        if not self._wanted:
            return self._records.convert(reader, lines, limit)
        if self._reader is not reader:
            self._set_readers(reader)
        companions = [each for each in (self._numbers, *(distinct[0] for distinct in self._distincts)) if each]
        for companion in companions:
            companion.go_on(reader)
        found, keys = self._records.convert(reader, lines, limit)
        numbers = [array(kind) for kind, _ in self._kinds]
        for batch in self._parts(self._numbers, convert_columns, lines[: found.read], limit):
            for (kind, field), values in zip(self._kinds, numbers, strict=True):
                at = self._numbers.fields.index(field)  # type: ignore[union-attr]
                values.frombytes(numbers_of(batch, at, kind == "q"))
        for companion, records, missing in self._distincts:
            hashes = array("Q")
            for texts in self._parts(companion, records.convert, lines[: found.read], limit):
                hashes.frombytes(hashes_of(self._key, texts, missing))
            numbers.append(hashes)
        return found, (bytes(keys), numbers)

    def _set_readers(self, reader: LogReader) -> None:
        """Make the readers of what belongs to the keys that a reader reads."""
        wanted = self._wanted
        self._reader = reader
        if self._kinds:
            options = self._options | {"to": "columns", "fields": wanted.sums + wanted.quantiles, "tests": wanted.tests}
            self._numbers = LogReader(reader.programs, **options)
        self._distincts = []
        for fields in wanted.distincts:  # as CSV, in which a missing value is not an empty one
            companion = LogReader(reader.programs, **self._options | {"to": "csv", "fields": fields})
            self._distincts.append((companion, RecordBuffer(self._max_line), b"," * (len(fields) - 1)))

    @staticmethod
    def _parts(reader: LogReader | None, convert: Callable[..., Any], lines: memoryview, limit: int) -> Iterator[Any]:
        """Yield what a reader makes of all lines, part by part."""
        read = 0
        while reader is not None and read < len(lines):
            done, part = convert(reader, lines[read:], limit)
            read += done.read
            yield part


class Counting:
    """Counts tuples of fields.

    Args:
        options (dict): The arguments of LogReader: what is counted are records of `fields`. Without fields, all records
            are one group.
        wanted (Numbers): The numbers beside the counts.
        memory, spill_dir: See `uricodec._counting.counter.Counter`.
        sort (str | None): The order, see `CountOrder`; None: groups by time in the order of time, others the most
            frequent first.
        top (int | None): How many of the first rows are wanted; None: all. Without `sort`, those are the most frequent.

    Attributes:
        names (list[str]): The names of the fields, "count", and those of the numbers.
        top (int | None): As above.
        period (str | None): The field of groups that are in the order of time, because of no other order.
        counter (Counter): The counter.

    Raises:
        ValueError: If `sort` names no field.
    """

    def __init__(  # noqa: PLR0913, PLR0917
        self,
        options: dict[str, Any],
        wanted: Numbers,
        memory: Any = None,
        spill_dir: Any = None,
        sort: str | None = None,
        top: int | None = None,
    ) -> None:
        self._wanted, self._options, self.top = wanted, options, top
        self.fields = LogReader([], **options).fields
        self.names = [*self.fields, "count", *wanted.names]
        self.period = None
        if sort is None and top is None:
            sort = self.period = next((field for field in self.fields if field in PERIODS), None)
        self._order = None
        if sort is not None:
            delimiter = FORMATS[options["to"]].delimiter.decode()
            zone = options["to_timezone"] or options["timezone"]
            self._order = CountOrder(sort, self.names, len(self.fields), zone, delimiter)
        columns = len(wanted.sums) + len(wanted.rates), len(wanted.quantiles), len(wanted.distincts)
        self.counter = Counter(memory, spill_dir, b"\n", *columns)
        self._key = FingerprintKey()

    def state(self) -> CountBuffer:
        """Return what converts lines, in one of the threads."""
        return CountBuffer(self._options, self._wanted, self._key)

    def take(self, data: Any) -> None:
        """Count what a CountBuffer has converted."""
        keys, numbers = data if isinstance(data, tuple) else (data, ())
        self.counter.add_lines(keys, numbers)

    def results(self) -> Iterator[Counted]:
        """Yield the first rows of the order, or all.

        Rows that are equal in it are in the order of their counts, and those that are equally frequent in the order of
        their occurrence. Without fields, there is always one row.
        """
        if not self.fields and not self.counter.total:
            return iter([Counted(b"{}" if self._options["to"] == "jsonl" else b"", 0, self.nothing())])
        if self._order is None:
            return map(self._result, self.counter.most_common(self.top))
        return map(self._result, self.counter.in_order(self._rank, self.top))

    def nothing(self) -> list[float | int | None]:
        """Return the numbers of no records."""
        wanted = self._wanted
        sums = [0] * (len(wanted.sums) + len(wanted.rates))
        return wanted.of(0, (*sums, *[None] * len(wanted.quantiles), *[0] * len(wanted.distincts)))

    def peek(self, top: int) -> list[Counted]:
        """Return what results() yields, of what has been counted so far, while more may be counted."""
        found = self.counter.peek(top, None if self._order is None else self._rank)
        return [self._result(each) for each in found]

    def _rank(self, found: tuple[Any, ...]) -> bytes:
        return self._order.rank(self._result(found))  # type: ignore[union-attr]

    def _result(self, found: tuple[Any, ...]) -> Counted:
        key, count, *more = found
        return Counted(key, count, self._wanted.of(count, more))
