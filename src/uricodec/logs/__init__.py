"""Access logs: requests as records, with path and query decoded.

A format is a preset, a format string of a server, such as LogFormat of Apache, or a mapping of members of JSON or of
keys of logfmt. "auto" finds out which preset a log has. `docs/guides/logs.md` describes the formats, and how hostile
requests are handled.

Inside, a line becomes a record on this way (`_line` has the structs):

    format    `_configuration` finds it in a directive, `_formats` reads it, by the directives of its server in
              `_families`; `_programs` makes a Plan of each of its variants: Steps, of a field and what follows
    wrapping  `_wrapping` finds the line in what other programs wrote around it: a prefix, a JSON object, colors
    marks     bitmaps of a window of lines, made by a kernel: where there are spaces, quotes, delimiters of queries ...
    reading   `_text_reader` finds where each step ends by the marks, `_json_reader` each member. What they decline
              is read step by step by `_programs`, which also says what is wrong with a line that is no record.
    record    the texts of the fields, by their slots; `_fields` undoes escapes, splits requests, checks numbers
    writing   `_writing` puts it out as JSON or CSV, `_columns` as columns; `_texts` decodes and escapes the values

A line of the format `$client - $user [$time] "$request" $status`:

    192.0.2.1 - jo [10/Oct/2024:13:55:36 +0000] "GET /a%20b?q=1 HTTP/1.1" 200
             ^ ^  ^                     ^      ^    ^          ^         ^     spaces
                                                ^                       ^      quotes
                                         ^             ^   ^ ^                 delimiters
    <-CLIENT>   US  <----------TIME---------->   <-------REQUEST------->  STA  texts of the record
                                                 MET <-TARGET-> PROTOCOL       of the request, when it is split
                                                     PATH-- QUE                still encoded: decoded when written

`_records` has the reader that does all this for the lines of a buffer, `_reading` that for a file, with `_detection`
and, for a log of no known format, `_guess`. `_sources` is what may be given, `_groups` the fields that counts are
made of.
"""

import os
from collections.abc import Callable, Collection, Iterable, Iterator
from operator import index
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, TypedDict

from uricodec._base.extras import need
from uricodec._codec._charsets import Charset
from uricodec._io.reading import Buffers
from uricodec._io.reports import InvalidLine
from uricodec._io.runner import Runner
from uricodec._io.sources import opened
from uricodec._rows._columns import Column
from uricodec.logs._columns import objects_of, type_of_batch
from uricodec.logs._conditions import conditions_of
from uricodec.logs._detection import HEAD, Candidate, FormatError, candidates
from uricodec.logs._format import Format, format_of, presets
from uricodec.logs._groups import group_of
from uricodec.logs._reading import CAPACITY, ColumnBuffer, LogEnds, LogWorker, longest_chunk, reader_of
from uricodec.logs._records import MAX_LINE, LogReader, field_names, texts_of
from uricodec.logs._sources import sources_of
from uricodec.logs._times import UTC, timezone_of

if TYPE_CHECKING:
    from typing import TypeAlias

    from typing_extensions import Buffer, Unpack

    from uricodec.logs._counting import Counting
    from uricodec.typing import LogClient, LogErrors

    # A log, its path, or a pattern of paths; several of these; or lines.
    _Source: TypeAlias = (
        "Buffer | BinaryIO | str | os.PathLike[str] | Iterable[str | os.PathLike[str]] | Iterable[Buffer]"
    )

__all__ = [
    "Candidate",
    "Format",
    "FormatError",
    "InvalidLine",
    "Record",
    "columns",
    "count",
    "detect",
    "parse",
    "presets",
    "to_arrow",
]


def __dir__() -> list[str]:
    return __all__


# The number of records that become objects at once.
ROWS = 1024

# Number of bytes that are kept of an invalid line.
SHOWN = 1 << 16


class Options(TypedDict, total=False):
    """The options that all functions share, see `parse`."""

    where: Iterable[str]
    since: str | None
    until: str | None
    timezone: str
    to_timezone: str | None
    client: "LogClient"
    mask: Iterable[str]
    redact: bool | str | Collection[str]
    encoding: str | None
    replace_invalid_utf8: bool
    errors: "LogErrors"
    max_line: int
    invalid: list[InvalidLine] | None


class RecordOptions(Options, total=False):
    """The options of functions whose records have fields of their own."""

    fields: Iterable[str] | None
    params: Iterable[str]
    flags: bool


class Record(NamedTuple):
    """A request in a log. A member is None if the log does not contain it.

    Attributes:
        client (str | None): The peer, or what the server was told to log in its place.
        user (str | None): The authenticated user name.
        time (str | None): The time as RFC 3339 writes it; without a zone if none is logged.
        method, target, path (str | None): Of the request. The target is as it was sent; the path is decoded.
        query (tuple[tuple[str, str], ...] | None): The parameters, decoded.
        protocol (str | None): Such as "HTTP/1.1".
        status (int | None): The status of the response.
        bytes_sent (int | None): The bytes sent to the client.
        referer, user_agent (str | None): The headers of these names.
        vhost (str | None): The name of the site.
        duration (float | None): The time that the request took, in seconds.
        forwarded_for (tuple[str, ...] | None): The addresses of X-Forwarded-For.
        extra (dict[str, str | None] | None): Other fields that have values, by the names that they have in the format;
            and those that were asked for, None if they have none.
        params (dict[str, str | None] | None): The parameters that were asked for: the first value of each.
        flags (tuple[str, ...] | None): Suspicious properties of the request, if asked for.

    >>> Record._fields[:7]
    ('client', 'user', 'time', 'method', 'target', 'path', 'query')
    """

    client: str | None
    user: str | None
    time: str | None
    method: str | None
    target: str | None
    path: str | None
    query: tuple[tuple[str, str], ...] | None
    protocol: str | None
    status: int | None
    bytes_sent: int | None
    referer: str | None
    user_agent: str | None
    vhost: str | None = None
    duration: float | None = None
    forwarded_for: tuple[str, ...] | None = None
    extra: dict[str, str | None] | None = None
    params: dict[str, str | None] | None = None
    flags: tuple[str, ...] | None = None


def detect(source: "Buffer | BinaryIO | str | os.PathLike[str]") -> list[Candidate]:
    """Find out which formats a log may have.

    Args:
        source (bytes-like | binary file | str | PathLike): The log, or its path. Up to 1000 lines of its first 256 KiB
            are read.

    Returns:
        list[Candidate]: The presets that at least one line matches, those with the most votes first.

    Raises:
        OSError: If the file cannot be read, or its compressed data are damaged.
        TypeError: If `source` is something else, or open in text mode.

    >>> best = detect(b'192.0.2.1 - - [01/Jan/2025:12:00:00 +0000] "GET / HTTP/1.1" 200 512')[0]
    >>> best.format, best.votes, best.lines
    (Format('common'), 1, 1)
    """
    with opened(source, "<log>") as log:
        head = b""
        for chunk in log.chunks(Buffers(CAPACITY), LogEnds()):
            head += bytes(chunk.view[: chunk.size])
            if len(head) >= HEAD:
                break
    return candidates(head[:HEAD])


def parse(
    source: "_Source",
    format: str | Format | Iterable[str | Format] = "auto",
    **options: "Unpack[RecordOptions]",
) -> Iterator[Record]:
    """Parse an access log, and return its records.

    Args:
        source (bytes-like | binary file | str | PathLike | Iterable): The log, its path, or a pattern such as
            "logs/*.gz"; several paths or patterns, whose logs follow each other, each in the format that it has; or
            lines: bytes, or str that end with a newline, or have a blank and name no file. Logs may be compressed
            (gzip, bzip2, xz, Zstandard).
        format (str | Format | Iterable): A preset or a format string, see `Format`; or "auto" to find out the preset.
            Of several ones, a line has the first that it matches; "auto" among them stands for the preset of the lines
            that the others do not read.
        fields (Iterable[str] | None): The members to read; the others are None. "param.NAME" and "extra.NAME" are in
            `params` and `extra`. None: all but `flags`.
        where (Iterable[str]): Conditions that all records meet which are yielded: a field, an operator and a value,
            such as "status>=500". The operators are =, !=, <, <=, >, >=, ^= (begins with), *= (contains), ~= (has a
            match of a regular expression of `re`), !^=, !*= and !~= (does not), and =* (is equal without regard to
            case). Values may be alternatives, "status=404|410"; a bar in a value is "\\|". "status=4xx" is a class.
            Units are K, M, G (powers of 1024) for bytes_sent, ns, us, ms, s, m, h for duration: "duration>500ms". A
            missing value meets only "FIELD=". A `client` is compared with an address or a network,
            "client=10.0.0.0/8".
        since, until (str | None): The first moment, and the first one after the last: a time of RFC 3339, a date,
            "today", "yesterday", or a distance before now, such as "2h" or "7d".
        timezone (str): The zone of times that are logged without one: a name of the IANA database, or "+hh:mm".
        to_timezone (str | None): The zone in which times are returned, with daylight saving time, and so the days,
            hours and minutes of groups; also that of `since`, `until` and conditions. None: times are in the zone of
            the log, and those of conditions that name none in `timezone`.
        params (Iterable[str]): Query parameters that records have in `params`, too.
        client (str): "peer"; or "forwarded", for the first address of X-Forwarded-For, if a trusted proxy sets it.
        mask (Iterable[str]): Query parameters whose values are hidden in target, query and referer. Names are compared
            after decoding, ignoring ASCII case.
        redact (bool | str | Collection[str]): Whether the URLs of each line are redacted before it is read, as
            `uricodec.uri.redact_text` does; or which parameters, as its `names`.
        flags (bool): Whether records have `flags`, the suspicious properties of a request.
        encoding (str | None): How to decode texts that are not UTF-8: a superset of ASCII, such as "latin-1" or
            "shift_jis".
        replace_invalid_utf8 (bool): Whether bytes that are not UTF-8 become U+FFFD. Otherwise they become, or stay,
            triplets.
        errors (str): How to handle lines that are not records: "drop" or "raise".
        max_line (int): The longest valid line, in bytes without its terminator, from 1 to 2**28. Longer lines are
            invalid, with the code "too-long".
        invalid (list[InvalidLine] | None): Receives the invalid lines.

    Returns:
        Iterator[Record]: One for each valid line.

    Raises:
        FormatError: If the format cannot be found out; if no line of the log has the given one, and `invalid` is None;
            with errors="raise", if a line has not. It is a ValueError.
        TypeError: If the file is open in text mode, or the buffer does not contain bytes.
        ValueError: If the format, a field or an option is unknown, the number of fields is 0 or above 256, a condition
            has another form, or max_line is out of range.
        OSError: If the file cannot be read, is truncated while it is read, or its compressed data are damaged.

    Source: RFC 9112 section 3; RFC 3986 sections 2.1 and 3; RFC 3339 section 5.6.

    >>> line = b'192.0.2.1 - - [01/Jan/2025:12:00:00 +0000] "GET /caf%C3%A9?q=a+b HTTP/1.1" 200 512'
    >>> [record] = parse(line)
    >>> record.path, record.query, record.status, record.time
    ('/café', (('q', 'a b'),), 200, '2025-01-01T12:00:00+00:00')
    """
    reading = _Reading("columns", source, format, **_known("parse", options))
    for name in reading.fields:
        if group_of(name):
            raise ValueError(f"fields: a Record has no {name!r}; columns() has it")
    return _records(reading)


def _records(reading: "_Reading") -> Iterator[Record]:
    names = reading.fields
    params = [name for name in names if name.startswith("param.")]
    extras = [name for name in names if name.startswith("extra.")]
    for batch in reading.parts(ColumnBuffer):
        for start in range(0, len(batch), ROWS):
            stop = min(start + ROWS, len(batch))
            values = dict(zip(names, objects_of(batch, start, stop), strict=True))
            if params:
                values["params"] = _dicts(values, params)
            if extras:
                values["extra"] = _dicts(values, extras)
            missing = [None] * (stop - start)
            yield from map(Record._make, zip(*[values.get(name, missing) for name in Record._fields], strict=True))


def _dicts(values: dict[str, list[Any]], names: list[str]) -> list[Any]:
    """Return a dict for each record of the fields with these names, without the part before the dot."""
    own = [name[6:] for name in names]
    return [dict(zip(own, row, strict=True)) for row in zip(*[values[name] for name in names], strict=True)]


def columns(
    source: "_Source",
    format: str | Format | Iterable[str | Format] = "auto",
    **options: "Unpack[RecordOptions]",
) -> dict[str, list[Any]]:
    """Parse an access log into columns.

    Args:
        source, format, fields, where, since, until, timezone, to_timezone, params, client, mask,
            redact, flags, encoding, replace_invalid_utf8, errors, max_line, invalid: See `parse`.

    Returns:
        dict[str, list]: The values of each field, in the order of the records; then those of each parameter that was
            asked for, as "param.NAME"; then "flags", if asked for. Groups can be fields, too: "time:day", "time:hour",
            "time:minute", "status:class"; "client:/24" or "client:/24,/48", the networks of IPv4 and IPv6 addresses;
            "referer:host" and "referer:domain", the host and the registrable domain of the referer; "path:2", the first
            two segments of the path; "path:shape", the path with classes of its segments, as in `uricodec.uri.shape`.

    Raises:
        FormatError, TypeError, ValueError, OSError: See `parse`.
        ImportError: If "referer:domain" is a field, and publicsuffixlist is not installed.

    >>> columns(b'192.0.2.1 - - [01/Jan/2025:12:00:00 +0000] "GET /a%20b HTTP/1.1" 200 512')["path"]
    ['/a b']
    >>> line = b'192.0.2.1 - - [01/Jan/2025:12:00:00 +0000] "GET /a/b/c HTTP/1.1" 200 512'
    >>> columns(line, fields=["client:/24", "path:2", "time:hour"])
    {'client:/24': ['192.0.2.0/24'], 'path:2': ['/a/b'], 'time:hour': ['2025-01-01T12:00:00+00:00']}
    """
    reading = _Reading("columns", source, format, **_known("columns", options))
    result: dict[str, list[Any]] = {name: [] for name in reading.fields}
    for batch in reading.parts(ColumnBuffer):
        for name, values in zip(reading.fields, objects_of(batch, 0, len(batch)), strict=True):
            result[name] += values
    return result


def count(  # noqa: PLR0913
    source: "_Source",
    fields: Iterable[str] | None = None,
    format: str | Format | Iterable[str | Format] = "auto",
    *,
    top: int | None = None,
    sort: str | None = None,
    sums: Iterable[str] = (),
    quantiles: Iterable[str] = (),
    distinct: Iterable[str] | Iterable[Iterable[str]] = (),
    rates: Iterable[str] = (),
    memory: int | str | None = None,
    spill_dir: "str | os.PathLike[str] | None" = None,
    **options: "Unpack[Options]",
) -> Iterator[dict[str, Any]]:
    """Count how often fields occur together in an access log: exactly, in bounded memory.

    Args:
        source, format, where, since, until, timezone, to_timezone, client, mask, redact, encoding,
            replace_invalid_utf8, errors, max_line, invalid: See `parse`.
        fields (Iterable[str] | None): The fields, see `columns`: "client", "param.q", "time:hour", "client:/24". None
            or no fields: all records are one group, which is yielded in any case.
        top (int | None): How many to yield, the first ones of the order; None: all.
        sort (str | None): The order: "count", a field of `fields`, or one of the sums and quantiles, such as
            "sum.bytes_sent". ":asc" or ":desc" may follow; without it, counts, sums and quantiles begin with the
            greatest, and fields with the least. Missing values are last. None: without `top`, groups by time come in
            the order of time; otherwise the most frequent come first.
        sums (Iterable[str]): "bytes_sent" or "duration", whose sums are wanted, too.
        quantiles (Iterable[str]): "bytes_sent" or "duration", whose quantiles are wanted.
        distinct (Iterable[str] | Iterable[Iterable[str]]): Fields, such as ["client", "user_agent"], of which the
            different tuples of values in each group are counted; or several such tuples of fields. Records that have
            none of these fields do not count.
        rates (Iterable[str]): Conditions, see `where` of `parse`: which part of the records of a group meets each?
        memory (int | str | None): The limit for memory: bytes, "64M", "1G" or "50%"; None: half of the machine's. What
            does not fit goes to temporary files.
        spill_dir (str | PathLike | None): The folder for temporary files; None: the system's default.

    Returns:
        Iterator[dict[str, Any]]: The values of the fields, and "count"; then the sums as "sum.bytes_sent"; and the
            quantiles as "p50.duration" (p90, p95, p99), within 1 %, and the greatest as "max.duration"; the numbers of
            different values as "distinct.client,user_agent", exact up to 768, beyond that estimates with a standard
            error of 1.15 %; the rates as "rate.status>=500", from 0 to 1. Those that are equally frequent are in the
            order of their first records, and those that `sort` leaves equal in the order of their counts.

    Raises:
        FormatError, TypeError, OSError: See `parse`.
        ValueError: See `parse`; or a field of sums or quantiles is not a number, another field is unknown, a condition
            is invalid, `sort` names no field, or top is less than 1.

    >>> line = b'192.0.2.1 - - [01/Jan/2025:12:00:00 +0000] "GET /%s HTTP/1.1" 200 512\\n'
    >>> list(count(line % b"a" + line % b"b" + line % b"a", ["path", "status"], top=1, sums=["bytes_sent"]))
    [{'path': '/a', 'status': 200, 'count': 2, 'sum.bytes_sent': 1024}]
    >>> list(count(line % b"a" + line % b"b" + line % b"a", distinct=["path"], rates=["path=/a", "status>=500"]))
    [{'count': 3, 'distinct.path': 2, 'rate.path=/a': 0.6666666666666666, 'rate.status>=500': 0.0}]
    """
    from uricodec.logs._counting import Counting, Numbers

    if top is not None and index(top) < 1:
        raise ValueError(f"top must be at least 1, got {top}")
    names = None if fields is None else texts_of("fields", fields)
    reading = _Reading("jsonl", source, format, fields=names or None, **_known("count", options, Options))
    if not names:
        reading.options["fields"] = ()
    zone = reading.options["to_timezone"] or reading.options["timezone"]
    numbers = texts_of("sums", sums), texts_of("quantiles", quantiles), _tuples(distinct), texts_of("rates", rates)
    wanted = Numbers(*numbers, zone)
    return _counts(reading, lambda: Counting(reading.options, wanted, memory, spill_dir, sort, top))


def _tuples(distinct: "Iterable[str] | Iterable[Iterable[str]]") -> list[list[str]]:
    """Return the tuples of fields of an argument: one, or several."""
    if isinstance(distinct, str):
        raise TypeError("distinct must be an iterable of names, got str")
    given = list(distinct)
    if all(isinstance(each, str) for each in given):
        return [texts_of("distinct", given)] if given else []
    return [texts_of("distinct", each) for each in given]


def _counts(reading: "_Reading", make: "Callable[[], Counting]") -> Iterator[dict[str, Any]]:
    from json import loads

    counting = make()
    with counting.counter:
        for data in reading.parts(counting.state):
            counting.take(data)
        for row in counting.results():
            yield dict(zip(counting.names, [*loads(row.key).values(), row.count, *row.numbers], strict=True))


def to_arrow(
    source: "_Source",
    format: str | Format | Iterable[str | Format] = "auto",
    **options: "Unpack[RecordOptions]",
) -> Any:
    """Parse an access log into Arrow columns, batch by batch. This requires pyarrow.

    Args:
        source, format, fields, where, since, until, timezone, to_timezone, params, client, mask,
            redact, flags, encoding, replace_invalid_utf8, errors, max_line, invalid: See `parse`.

    Returns:
        pyarrow.RecordBatchReader: Times are timestamps in UTC, null if they have no usual form; texts are strings;
            status and size are int64, the duration is a double; the query is
            a list of structs of name and value, forwarded_for and flags are lists of strings, extra is a map. A reader
            can be read once: pyarrow finds no rows in it after that. `.read_all()` returns a table.

    Raises:
        ImportError: If pyarrow is not installed.
        FormatError, TypeError, ValueError, OSError: See `parse`; most are raised when the batches are read.

    >>> import polars  # doctest: +SKIP
    >>> polars.from_arrow(to_arrow("access.log.gz")).group_by("path").len()  # doctest: +SKIP
    >>> import pyarrow.parquet  # doctest: +SKIP
    >>> pyarrow.parquet.write_table(to_arrow("access.log.gz").read_all(), "access.parquet")  # doctest: +SKIP
    """
    need("arrow", "pyarrow")
    from pyarrow import RecordBatchReader, record_batch, schema  # type: ignore[import-untyped,import-not-found,unused-ignore]

    reading = _Reading("arrow", source, format, **_known("to_arrow", options))
    empty = Column(type_of_batch(LogReader([], **reading.options)), [])
    return RecordBatchReader.from_batches(schema(empty), map(record_batch, reading.parts(ColumnBuffer)))


def _known(function: str, options: Any, kind: Any = RecordOptions) -> Any:
    """Return options; TypeError if the function has not all of them."""
    for name in options:
        if name not in kind.__optional_keys__:
            raise TypeError(f"{function}() got an unexpected keyword argument {name!r}")
    return options


class _Reading:
    """A log that is read, and how: the options that all functions share, see `parse`.

    Args:
        to (str): The output, see LogReader.
        source, format: See `parse`.
    """

    def __init__(  # noqa: PLR0913
        self,
        to: str,
        source: Any,
        format: str | Format | Iterable[str | Format],
        *,
        fields: Iterable[str] | None = None,
        where: Iterable[str] = (),
        since: str | None = None,
        until: str | None = None,
        timezone: str = "UTC",
        to_timezone: str | None = None,
        params: Iterable[str] = (),
        client: str = "peer",
        mask: Iterable[str] = (),
        redact: bool | str | Collection[str] = False,
        flags: bool = False,
        encoding: str | None = None,
        replace_invalid_utf8: bool = False,
        errors: str = "drop",
        max_line: int = MAX_LINE,
        invalid: list[InvalidLine] | None = None,
    ) -> None:
        zone = timezone_of(timezone)
        shown = None if to_timezone is None else timezone_of(to_timezone) or UTC
        self._source, self._format, self._errors, self._invalid = source, format, errors, invalid
        self._redacted = "default" if redact is True else None if redact is False else redact
        self.options: dict[str, Any] = {
            "to": to,
            "where": conditions_of(where, since, until, shown or zone),
            "fields": None if fields is None else texts_of("fields", fields),
            "timezone": zone,
            "to_timezone": shown,
            "params": texts_of("params", params),
            "client": client,
            "mask": mask,
            "flags": flags,
            "encoding": None if encoding is None else Charset(encoding),
            "replace_invalid_utf8": replace_invalid_utf8,
            "max_line": max_line,
        }
        self.fields = field_names(self.options["fields"], self.options["params"], flags)

    def parts(self, state: Callable[[], Any]) -> Iterator[Any]:
        """Read the log, and yield the converted records, part by part."""
        if self._errors not in ("drop", "raise"):
            raise ValueError(f"errors must be 'drop' or 'raise', got {self._errors!r}")
        known, invalid = format_of(self._format), self._invalid
        # Check the options, for an empty log, too.
        reader_of(known if isinstance(known, Format) else Format("common"), self.options)
        parts: list[Any] = []

        def fail(text: str, line: InvalidLine) -> FormatError:
            return FormatError(text)

        def report(lines: list[InvalidLine]) -> None:
            invalid.extend([line._replace(text=line.text[:SHOWN]) for line in lines])  # type: ignore[union-attr]

        runner = Runner(1, state, longest_chunk(self.options["max_line"]), CAPACITY)
        reported, likely = None if invalid is None else report, None
        for source in sources_of(self._source):
            with opened(source, "<log>") as log:
                worker = LogWorker(
                    log.name,
                    known,
                    self.options,
                    self._errors,
                    fail=fail,
                    report=reported,
                    take=parts.append,
                    redact=self._redacted,
                    wanted=0 if reported is None else None,
                    likely=likely,
                )
                try:
                    for _ in runner.steps(log, worker):
                        yield from parts
                        parts.clear()
                except FormatError:
                    yield from parts
                    raise
            if invalid is None or not worker.lines:
                worker.check_records()
            likely = worker.format if worker.records and known is None else likely
