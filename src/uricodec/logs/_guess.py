"""A format to begin with, for a log of no known one: what the parts of its lines look like.

    app1 192.0.2.1 GET 200 /a?b=1 12ms
    $field1 $remote_addr $request_method $status $request_uri $request_time

It is a guess: a part has the name of what such a part most often is, all others are field1, field2, ...
"""

import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import cache, partial
from itertools import islice, takewhile
from typing import Any, NamedTuple

from uricodec.logs._directives import FIELDS
from uricodec.logs._families.nginx import NGINX
from uricodec.logs._format import Format
from uricodec.logs._presets import built_in
from uricodec.logs._records import LogReader

# How many lines must be read with it, of those that are tried.
TRIED = 20

# How many lines are compared to know what a part of them is.
ALIGNED = 10

# A longer line is not tried, or one of more parts: they are searched for with regular expressions, and compared.
LONGEST_TRIED = 2048
MOST_PARTS = 100

CLOCK = r"\d\d:\d\d:\d\d(?:\.\d+|,\d{3}(?![\d.]))?"
DATE_AND_TIME = (
    r"(?:[A-Z][a-z]{2}, )?\d\d?(?:/[A-Za-z]{3}/|-[A-Za-z]{3}-| [A-Za-z]{3} |\.\d\d\.)\d{4}[: ]"
    rf"{CLOCK}(?: [-+]\d\d:?\d\d| [A-Z]{{3}})?"
    rf"|\d{{4}}-\d\d-\d\d[T ]{CLOCK}(?:Z|[-+]\d\d:?\d\d| [-+]\d{{4}})?"
    rf"|\d{{4}}/\d\d/\d\d (?:- )?{CLOCK}"
    rf"|[A-Z][a-z]{{2}} [A-Z][a-z]{{2}} [ \d]\d {CLOCK} \d{{4}}"
)
EPOCH = r"1\d{9}(?:\.\d+|\d{3}|\d{6}|\d{9})?"
# Dates and times of day that the reader does not take for a time: each is a part of its own.
DATE = (
    r"(?<![\w./-])(?:\d{4}[-./]\d\d?[-./]\d\d?|\d\d?[-./]\d\d?[-./]\d{4}|\d\d?[-/][A-Z][a-z]{2}[-/]\d{4}"
    r"|\d{8}(?= \d\d:?\d\d)|\d{6}(?=/\d{6}\b))(?![\w.-])"
)
TIME_OF_DAY = rf"(?<![\w.:]){CLOCK}(?![\w:])|(?<=\b\d{{6}}/)\d{{6}}(?:\.\d+)?\b"
ADDRESS = (
    r"(?:::ffff:)?(?:\d{1,3}\.){3}\d{1,3}(?::\d{1,5})?"
    r"|\[?(?=[0-9a-fA-F:]*::|(?:[0-9a-fA-F]*:){7})[0-9a-fA-F]{0,4}(?::[0-9a-fA-F]{0,4}){2,7}\]?(?::\d{1,5})?"
)
METHODS = "GET|HEAD|POST|PUT|DELETE|OPTIONS|PATCH|CONNECT|TRACE|PURGE"
REQUEST = rf"[A-Z]{{3,16}} \S+(?: \S+)* HTTP/\d(?:\.\d)?|(?:{METHODS}) /\S*"
PROTOCOL = r"HTTP/\d(?:\.\d)?"
URL = r"[a-z][a-z0-9+.-]*://\S+"
NUMBER = r"\d+(?:\.\d+)?"
# A product with a version, which programs that are known, texts in quotes and labels tell from other names.
PRODUCT = r"(?!HTTP/|TLS)[A-Za-z][\w.+-]*/v?\d.*"
AGENT = (
    r"(?:Mozilla|Opera|curl|Wget|okhttp|[Pp]ython|Go-http-client|Java|axios|PostmanRuntime)\b.*/.*"
    r"|.*(?:bot|Bot|[Ss]pider)\b.*"
)
NAME = r"[A-Za-z][\w.@\\-]*"
# With an end that hosts often have: others are names of loggers (web.access), files (main.py) and users (j.doe).
HOST = (
    r"(?i:(?!.*\.(?:go|js|md|pl|py|rb|rs|sh|ts)(?::\d+)?\Z)(?:[a-z0-9-]+\.)+"
    r"(?:[a-z]{2}|com|org|net|edu|gov|info|biz|app|dev|cloud|online|shop|site|store|tech|xyz|arpa|corp|example|home|internal|intranet|invalid|lan|local|localhost|test)"
    r"|www\.(?:[a-z0-9-]+\.)*[a-z]{2,})(?::\d{1,5})?"
)
# The statuses of HTTP, and of nginx, IIS, AWS and Cloudflare.
STATUS = (
    "10[0-3]|20[0-8]|226|30[0-8]|4(?:0[0-9]|1[0-8]|2[1-689]|31|40|44|49|5[01]|60|63|9[4-9])"
    "|5(?:0[0-8]|1[01]|2[0-79]|30|98|99)"
)

# Units of durations, as they are after a number or at the end of a name.
DURATIONS = {
    **dict.fromkeys(("ms", "msec", "msecs", "millis", "milliseconds"), "ms"),
    **dict.fromkeys(("us", "µs", "usec", "usecs", "micros", "microseconds"), "us"),
    **dict.fromkeys(("ns", "nsec", "nanos", "nanoseconds"), "ns"),
    **dict.fromkeys(("s", "sec", "secs", "seconds"), "s"),
}
SIZES = {"b", "B", "byte", "bytes", "Bytes"}
LONG = rf"{NUMBER}(?:ns|us|µs|ms|s)"

# Further names than those of presets, as `plain` has them. What a name does not fit (see `ALIKE`) does not have it.
NAMES = {
    "client": "cli from source raddr client remoteip clientaddress remotehost callerip ipaddress",
    "user": "usr login account",
    "time": "when at start datetime eventtime logtime epoch datum datetimeutc",
    "method": "m mtd meth",
    "target": "u resource link csuri",
    "status": "s st rc sc result outcome rcode respcode",
    "bytes_sent": "b sz len written byteswritten out outbytes sent down tx bodybytes bodysize resplen respsize",
    "duration": "d dur rt lat time total totaltime processing processingtime runtime servetime handlingtime",
    "referer": "ref refer",
    "user_agent": "browser cuseragent",
}
# Parts of a path that say that a member is not of the client, the request or the response as a whole.
FOREIGN = {
    "client": r"upstream|backend|server|local|dst|dest|destination|node|host|pod|origin|proxy|gateway|listen|bind|edge",
    "target": r"upstream|backend|origin|file|log|config|referer|referrer|redirect|location|base",
    "status": r"upstream|backend|origin|grpc",
    "status_alone": r"port|p?id|line|level|count|n|size|bytes|len|length|time|ms|us",  # numbers like one
    "bytes_sent": r"upstream|backend|origin|request|req|in|rx|received",
    "duration": r"upstream|backend|origin|db|dns|connect|queue|tls|wait",
}
# The last name of a path that says nothing besides the one before it.
GENERAL = {"original", "name", "value", "raw", "string", "text"}


def guess(lines: list[bytes]) -> Format | None:
    """Return a format that reads some of the first lines of a log; None if there is no good one.

    >>> guess([b"app1 192.0.2.1 GET 200 /a?b=1 12ms"])
    Format('$field1 $remote_addr $request_method $status $request_uri $request_time')
    >>> guess([b'{"ip":"192.0.2.1","code":404,"req":{"url":"/a"}}'])
    Format(map={'client': 'ip', 'status': 'code', 'target': 'req.url'})
    >>> guess([b'{"ip":"192.0.2.1","uri_path":"/a?b=1","code":404}'])  # with its query
    Format(map={'client': 'ip', 'status': 'code', 'target': 'uri_path'})
    """
    comments = [line for line in lines[:TRIED] if line.startswith(b"#")]
    lines = [line for line in lines[:TRIED] if len(line) < LONGEST_TRIED and line not in comments]
    texts = [line.decode("utf-8", "replace") for line in [*comments[-1:], *lines]]
    tables = [partial(of_table, texts[0], texts[1:ALIGNED])] if len(texts) > 1 else []
    texts = texts[len(comments[-1:]) :]
    kinds = of_object, of_pairs, of_labels
    attempts = [partial(kind, texts[i:ALIGNED]) for i in range(len(texts[:3])) for kind in kinds]
    if any(line.startswith(b"#Fields:") for line in comments):
        attempts, texts = [], []  # what the columns are is known, or nothing
    for attempt in [*tables, *attempts]:
        with suppress(ValueError, RecursionError):  # of json.loads: brackets in brackets
            format = attempt()
            if format is not None and 2 * reads(format, lines) >= len(lines):
                return format
    formats = [format for format in islice(of_texts(texts[:ALIGNED]), 3) if 2 * reads(format, lines) >= len(lines)]
    known = [sum(not name.startswith("extra.") for name in format.fields) for format in formats]
    # A separator is trusted, unless only a part of the line has it.
    return next((format for format, count in zip(formats, known, strict=True) if 2 * count >= max(known)), None)


def reads(format: Format, lines: Iterable[bytes]) -> int:
    """Return how many lines are records of a format."""
    data = b"".join(line + b"\n" for line in lines)
    try:
        reader = LogReader(format.programs)
    except ValueError:  # more fields than a format may have
        return 0
    return reader.convert(data, bytearray(reader.capacity_for(len(data)))).records


# --- text -------------------------------------------------------------------------------------------------------------

# Words that separators do not divide: paths and URLs, and agents with other signs in the place of spaces.
WHOLE = r"(?:/|[a-z]+://)[^\s|\"]*|[\w.-]+/[\d.]+(?:\+|%20|%2520)\([^\s\"]*"
# A text in quotes, one in brackets, a time, or what stands between separators. A group is what varies.
PART = (
    r'"(?P<quoted>(?:\\.|[^"\\])*)"|\[(?P<bracketed>[^\]"]*)\]'
    rf"|(?P<time>{DATE_AND_TIME})|(?P<date>{DATE})|(?:(?<=\b\d{{6}})/)?(?P<clock>{TIME_OF_DAY})"
    rf"|(?P<word>{WHOLE}|[^\s|,;\"]+)"
)
# What stands in quotes or brackets, and is several parts: 404 Not Found, 45 ms, a date and a time.
SEVERAL = rf"(?:{DATE})[ /].*|[1-5]\d\d [A-Z].*|{NUMBER} [A-Za-z]+|\d+(?:b|B|bytes)"
# The name before a value and its signs, the value, and signs after it. Those of a query belong to the value.
WORD = (
    r"^((?:(?![\w.-]+=[^&{(]*&)(?:\w+[{(<])?[A-Za-z_][\w.-]*=(?!=))?(?:(?!::|%[0-9A-F]{2})[^\w/\[-])*)"
    r"(.*?)([^\w/\]=%-]*)$"
)
SEPARATORS = "\t|;,"
# The variables of fields in format strings; others have their names.
VARIABLES = {
    "client": "remote_addr",
    "user": "remote_user",
    "time": "time_local",
    "method": "request_method",
    "target": "request_uri",
    "protocol": "server_protocol",
    "bytes_sent": "body_bytes_sent",
    "referer": "http_referer",
    "user_agent": "http_user_agent",
    "vhost": "host",
    "duration": "request_time",
    "duration_s": "request_time",
    "forwarded_for": "http_x_forwarded_for",
}


class Part(NamedTuple):
    """A part of a line that varies: what is written before it, where it is ("quoted", "word", ...), and its value."""

    before: str
    place: str
    value: str


@cache
def phrases() -> str:
    """Return a regular expression for what may follow a status: OK, Not Found."""
    from http import HTTPStatus

    return "|".join(sorted({re.escape(status.phrase) for status in HTTPStatus}, reverse=True))


def parts_of(line: str) -> tuple[list[Part], str]:
    """Return the parts of a line, and what is written after the last one.

    >>> parts_of('[200 OK] 12b')
    ([Part(before='[', place='word', value='200'), Part(before=' ', place='reason', value='OK'), ...
    """
    found: list[Part] = []
    at, line = 0, line.rstrip()
    pattern = rf"(?<=\b[1-5]\d\d )(?P<reason>{phrases()})\b|{PART}"
    for match in re.finditer(pattern, line):
        place = match.lastgroup or "word"
        value, start, stop = match[place], match.start(place), match.end(place)
        if place in ("quoted", "bracketed") and re.fullmatch(SEVERAL, value) and not is_time(value):
            inner, end = parts_of(value)
            found += [Part(line[at:start] + inner[0].before, *inner[0][1:]), *inner[1:]]
            at = stop - len(end)
            continue
        if place == "word":
            key, value, after = re.findall(WORD, value)[0]
            if value.endswith("]") and "[" not in value:
                value, after = value[:-1], "]" + after
            if (label := re.match(r"([A-Za-z_]\w*):(?!//|:)(?=.)", value)) and not key and field_of(label[1])[0]:
                key, value = label[0], value[label.end() :]
            start, stop = start + len(key), stop - len(after)
            if unit := re.fullmatch(r"(\d+)(b|B|[Bb]ytes?)", value):
                value, stop = unit[1], start + len(unit[1])
        if value or place != "word":
            found.append(Part(line[at:start], place, value))
            at = stop
    return found, line[at:]


def is_time(value: str) -> bool:
    return bool(re.fullmatch(f"{DATE_AND_TIME}|{EPOCH}", value))


class Rows(NamedTuple):
    """Lines of the same parts: what is before each and at the end, where they are, and their values in each line."""

    signs_before: list[str]
    places: list[str]
    columns: list[list[str]]
    end: str


def rows_of(lines: list[list[Part]], end: str) -> Rows:
    first = lines[0]
    columns = [[line[i].value for line in lines] for i in range(len(first))]
    return Rows([part.before for part in first], [part.place for part in first], columns, end)


def alike(lines: list[str]) -> Iterable[Rows]:
    """Yield the lines that have the same parts, most first; before them all lines, if a separator divides them."""
    separated = columns_of(lines)
    if separated:
        yield joined(separated[0], separated[1])
    groups: dict[Any, list[list[Part]]] = {}
    for line in lines:
        parts, end = parts_of(line)
        groups.setdefault((tuple(part[:2] for part in parts), end), []).append(parts)
    for (_, end), rows in sorted(groups.items(), key=lambda item: -len(item[1])):
        if 0 < len(rows[0]) <= MOST_PARTS:
            yield rows_of(rows, end)


def columns_of(lines: list[str]) -> tuple[str, list[list[str]]] | None:
    """Return the separator that divides all lines into as many columns, and the columns; None: there is none."""
    for separator in SEPARATORS:
        # After ", " and "; " what follows is a part of a text more often.
        unquoted = "\n".join(re.sub(r'"[^"]*"|\([^()]*\)', "", line) for line in lines)
        if unquoted.count(separator) < 3 or (separator in ";," and f"{separator} " in unquoted):
            continue
        cell = rf'(?:^|{re.escape(separator)})((?:"(?:[^"]|"")*"|[^{separator}])*)'
        rows = [re.findall(cell, line) for line in lines]
        if 3 < len(rows[0]) <= MOST_PARTS and all(len(row) == len(rows[0]) for row in rows):
            return separator, [list(column) for column in zip(*rows, strict=True)]
    return None


def joined(separator: str, columns: list[list[str]]) -> Rows:
    """Return the parts of lines in columns. A column is one part, unless it has the same parts in all lines."""
    result = Rows([], [], [], "")
    before = ""
    keys = [key_of(column) for column in columns]
    labelled = 2 * sum(map(bool, keys)) > len(columns)  # otherwise it is a query
    for column, key in zip(columns, keys, strict=True):
        rows = cells_of(column, key if labelled else "")
        for i, each in enumerate(rows.signs_before):
            result.signs_before.append(each if i else before + each)
        result.places.extend(rows.places)
        result.columns.extend(rows.columns)
        before = (rows.end if rows.columns else before + rows.end) + separator
    return result._replace(end=before[:-1])


def key_of(column: list[str]) -> str:
    """Return what all cells of a column begin with, if it is a name and "="."""
    keys = {(re.match(r"\s*([A-Za-z_][\w.-]*=)?", cell) or ("", ""))[1] or "" for cell in column}
    return keys.pop() if len(keys) == 1 else ""


def cells_of(column: list[str], key: str = "") -> Rows:
    """Return the parts of a column, whose cells begin with a key."""
    start = " " if all(cell.startswith(" ") for cell in column) else ""
    end = " " if all(cell.endswith(" ") for cell in column) else ""
    values = [cell.strip().removeprefix(key) for cell in column]
    start += key
    place = "cell"
    if all(re.fullmatch('"[^"]*"', value) for value in values):
        start, end, place = start + '"', '"' + end, "quoted"
        values = [value[1:-1] for value in values]
    elif any('"' in value for value in values):
        place = "ragged"
    whole = Rows([start], [place], [values], end)
    if place == "ragged" or not any(re.search(r"[^\w.-]|\d[a-zA-Z]", value) for value in values):
        return whole
    if all(re.fullmatch(rf"-|{REQUEST}|{AGENT}|{URL}|/\S*|{DATE_AND_TIME}", value) for value in values):
        return whole
    parts = [parts_of(value) for value in values]
    signs = {(tuple(part[:2] for part in row), after) for row, after in parts}
    first = parts[0][0][0] if len(signs) == 1 and parts[0][0] else None
    if first is None or first.before.endswith("=") or first.before + first.value == values[0]:
        return whole
    found = rows_of([row for row, _ in parts], parts[0][1])
    return found._replace(signs_before=[start + found.signs_before[0], *found.signs_before[1:]], end=found.end + end)


def of_texts(lines: list[str]) -> Iterable[Format]:
    """Yield the format strings of lines, those first whose parts most lines have; none if too little is known."""
    for rows in alike(lines):
        fields = Fields(rows)
        if fields.known() >= 2:
            with suppress(ValueError):
                yield Format(fields.written())


class Fields:
    """What the parts of lines are: fields by labels and units first, then by what they look like, and where they are.

    Attributes:
        names (list[str | None]): The field of each part, with a unit for durations; None: it is not known.
        labels (list[str]): The name that is written before each part, or above it.
    """

    def __init__(self, rows: Rows, labels: list[str] | None = None) -> None:
        self.rows = rows
        self.missing = [i for i, values in enumerate(rows.columns) if "-" in values]
        self.columns = [[value for value in values if value not in ("-", "")] for values in rows.columns]
        self.names: list[str | None] = [None] * len(self.columns)
        self.everywhere = range(len(self.columns))
        self.units = [self.unit_after(i) for i in self.everywhere]
        self.headers = labels
        self.labels = [*labels] if labels else [self.label_before(i) for i in self.everywhere]
        self.meanings = [field_among(label, self.labels) if label else ("", "") for label in self.labels]
        for i, (field, unit) in enumerate(self.meanings):  # time=12ms, rt=1715637504981, status=0
            is_moment = field == "duration" and not unit and self.like(EPOCH, i)
            if is_moment or (field and not all(fits(field, value) for value in self.columns[i])):
                self.meanings[i] = ("", "")
        self.by_labels()
        self.by_units()
        self.by_looks()

    def known(self) -> int:
        return sum(name not in (None, "date", "clock") for name in self.names)

    # --- what is around a part

    def before(self, i: int) -> str:
        return self.rows.signs_before[i] if i < len(self.columns) else self.rows.end

    def unit_after(self, i: int) -> str:
        """Return the unit after a number, in the same part or after a space; an empty text: there is none."""
        rest = self.before(i + 1)
        found = re.match(r"(b|B|[Bb]ytes?)\b", rest)
        if found or not self.columns[i] or not all(re.fullmatch(NUMBER, value) for value in self.columns[i]):
            return found[1] if found else ""
        after = {*self.columns[i + 1]} if rest == " " and self.rows.places[i + 1] == "word" else set()
        unit = after.pop() if len(after) == 1 else ""
        return unit if unit in DURATIONS or (unit in SIZES and unit != "b") else ""

    def is_unit(self, i: int) -> bool:
        return i > 0 and bool(self.units[i - 1]) and self.rows.signs_before[i] == " "

    def label_before(self, i: int) -> str:
        """Return the name before a part: `status=200`, `status: 200`; of some fields also `status 200`."""
        before = self.rows.signs_before[i]
        if found := re.search(r"([A-Za-z_][\w.-]*)[=:]\s?[\"'(\[{]?$", before):
            return found[1]
        names = {*self.columns[i - 1]} if i and not self.is_unit(i - 1) else set()
        name = names.pop() if len(names) == 1 else ""
        if not re.fullmatch(r"[A-Za-z_][\w.-]*", name):
            return ""
        if re.fullmatch(r'"?:\s?"?', before):
            return name
        is_told = before == " " and field_of(name)[0] in ("status", "bytes_sent", "duration", "user") and len(name) > 2
        return name if is_told else ""

    def like(self, pattern: str, i: int) -> bool:
        """Return whether a part without a name is like a pattern in all lines."""
        if self.names[i] or self.is_unit(i) or self.rows.places[i] == "ragged" or not self.columns[i]:
            return False
        return all(re.fullmatch(pattern, value) for value in self.columns[i])

    def free(self, field: str, i: int) -> bool:
        """Return whether the label of a part does not say that it is another field, or a number of something else."""
        return not self.labels[i] or self.meanings[i][0] == field

    def name(self, field: str, pattern: str, order: Iterable[int] | None = None) -> int:
        """Name the first part that is like a pattern. Return its number; -1: there is none."""
        if field in self.names:
            return self.names.index(field)
        order = self.everywhere if order is None else order
        is_told = field in ("time", "date", "clock", "request", "method", "protocol")  # by values, whatever the label
        free = [i for i in order if self.free(field, i) or (is_told and not self.meanings[i][0])]
        found = next((i for i in free if self.like(pattern, i)), -1)
        if found >= 0:
            self.names[found] = field
        return found

    # --- labels and units

    def by_labels(self) -> None:
        for i in self.everywhere:
            field, unit = self.meanings[i]
            if field == "duration":
                unit = unit or (self.units[i] and DURATIONS.get(self.units[i], "")) or unit_in(self.columns[i])
                if not unit or any(name and name.startswith("duration") for name in self.names):
                    continue
            if field in ("path", "path_decoded"):
                field = "path" if "query" in [meaning for meaning, _ in self.meanings] else "target"
            if not field or field in self.names or not self.columns[i] or self.rows.places[i] == "ragged":
                continue
            if not (self.units[i] and field == "status"):
                self.names[i] = f"duration_{unit}" if field == "duration" else field

    def by_units(self) -> None:
        """Name numbers with a unit after a space; of several sizes it is not known which one was sent."""
        sizes = [i for i in self.everywhere if self.units[i] in SIZES and self.free("bytes_sent", i)]
        if len(sizes) == 1 and "bytes_sent" not in self.names and self.names[sizes[0]] is None:
            self.names[sizes[0]] = "bytes_sent"
        for i in self.everywhere:
            unit = DURATIONS.get(self.units[i])
            has_one = any(name and name.startswith("duration") for name in self.names)
            if unit and not has_one and self.names[i] is None and self.free("duration", i):
                self.names[i] = f"duration_{unit}"

    # --- looks and places

    def by_looks(self) -> None:
        bracketed = [i for i in self.everywhere if self.rows.places[i] == "bracketed"]
        zoned = [i for i in self.everywhere if self.like(r".* ?(?:[-+]\d\d:?\d\d|Z|GMT)", i)]
        self.name("time", f"{DATE_AND_TIME}|{EPOCH}", [*bracketed, *zoned, *self.everywhere])
        for field, pattern in ("date", DATE), ("clock", TIME_OF_DAY):
            found = [i for i in self.everywhere if self.rows.places[i] == field or self.like(pattern, i)]
            self.name(field, r"\S+", found)
        request = self.name("request", REQUEST)
        self.name("forwarded_for", rf"(?:{ADDRESS}|-)(?:, *(?:{ADDRESS}))+")
        method = self.name_method()
        protocol = self.name("protocol", PROTOCOL)
        target = self.name_target(method) if request < 0 and "path" not in self.names else -1
        status = self.name_status(max(request, method, target, protocol) + 1)
        client = self.name_client(min({request, method, target, status} - {-1}, default=len(self.columns)))
        self.name_duration(status)
        self.name_size(status)
        agent = self.name_agent(client, status)
        self.name_referer(agent, status)
        self.name_site(client)
        self.name_user(client)

    def name_method(self) -> int:
        """Name the method; of several words like one, that before a path or a URL."""
        words = [i for i in self.everywhere if self.like(f"{METHODS}|{METHODS.lower()}", i)]
        before = [i for i in words if i + 1 < len(self.columns) and self.like(rf"/\S*|{URL}", i + 1)]
        return self.name("method", r"\S+", before or (words if len(words) == 1 else []))

    def name_status(self, start: int) -> int:
        """Name the number that follows the request; or the only one in the line like a status, if none is before it."""
        order = [*self.everywhere[start:], *self.everywhere[:start]]
        numbers = [i for i in order if self.like(STATUS, i) and self.free("status", i) and not self.units[i]]
        is_sure = numbers[:1] == [start] or (
            len(numbers) == 1 and not (numbers[0] and self.like(r"\d+", numbers[0] - 1))
        )
        return self.name("status", STATUS, numbers if is_sure else [])

    def name_client(self, request: int) -> int:
        """Name the only address that may be of the client.

        One with the port of a server is of a server. So may one with a port after the request be; and one before it if
        there is another one after it, unless the line begins with it, or the time follows.
        """
        if "client" in self.names:
            return self.names.index("client")
        found = [i for i in self.everywhere if self.like(ADDRESS, i) and self.may_be_client(i)]
        found = [i for i in found if all(self.columns[i] != self.columns[j] for j in found if j < i)]
        with_port = [i for i in found if all(re.search(r"\d\]?:\d+$", value) for value in self.columns[i])]
        before = [i for i in found if i < request]
        after = [i for i in found if i > request and i not in with_port]
        if before:
            is_first = before[0] == 0 or "time" in self.names[before[0] :]
            sure = before if len(before) == 1 and (is_first or not after) else []
        else:
            sure = after if len(found) == 1 else [0] if self.is_common() else []
        for i in sure:
            self.names[i] = "client"
        return sure[0] if sure else -1

    def may_be_client(self, i: int) -> bool:
        """Return whether a part has not the port of a server, and what is before it does not say that it is of one."""
        label = self.labels[i]
        if i and not label and len(set(self.rows.columns[i - 1])) == 1 and self.like(NAME, i - 1):
            label = self.rows.columns[i - 1][0]
        is_free = self.free("client", i) or self.before(i).endswith(": ")
        has_port = all(re.search(r"\d\]?:(?:80|443|8080|8443)$", value) for value in self.columns[i])
        return self.meanings[i][0] == "client" or (is_free and not has_port and not is_foreign("client", label))

    def is_common(self) -> bool:
        """Return whether the line begins as in the Common Log Format, with a name: `localhost - alice [time]`."""
        has_time = self.names[3:4] == ["time"] and self.rows.places[3] == "bracketed"
        return has_time and not self.columns[1] and self.like(rf"{ADDRESS}|{HOST}|localhost", 0)

    def name_target(self, method: int) -> int:
        """Name the path or URL after the method, or a path; without a method, a URL that is in each line."""
        after = [method + 1] if 0 <= method < len(self.columns) - 1 else []
        is_tunnel = bool(after) and {*self.columns[method]} == {"CONNECT"}
        urls = [i for i in self.everywhere if self.like(r"https?://\S+", i)]
        always = [i for i in urls if i not in self.missing]  # the other one is the referer
        found = self.name("target", rf"{HOST}|\S+:\d+" if is_tunnel else rf"/\S*|{URL}", after)
        if found < 0:
            found = self.name("target", r"/\S*")
        if found < 0 and method < 0 and len(always) == 1 < len(urls):
            found = self.name("target", URL, always)
        queries = [found + 1] if 0 <= found < len(self.columns) - 1 and self.rows.places[found] == "cell" else []
        if queries and self.name("query", r"[^=\s?]+=\S*", queries) == found + 1:
            self.names[found] = "path"
        return found

    def name_duration(self, status: int) -> None:
        """Name a number with a unit, the greatest one if there are several; or the only one that looks like seconds."""
        if any(name and name.startswith("duration") for name in self.names):
            return
        long = [i for i in self.everywhere if self.like(LONG, i) and not is_foreign("duration", self.labels[i])]
        found = [i for i in long if self.free("duration", i)] or (long if len(long) == 1 else [])
        after = [i for i in [*self.everywhere[max(status, 0) :], *self.everywhere] if self.free("duration", i)]
        after = [i for i in after if not self.names[i] and not self.units[i] and unit_in(self.columns[i])]
        is_sure = len({tuple(self.columns[i]) for i in after}) == 1
        for i in [max(found, key=self.seconds)] if found else after[:is_sure]:
            self.names[i] = "duration"

    def seconds(self, i: int) -> float:
        powers = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}
        found = [re.findall(r"([\d.]+)(\D+)", value)[0] for value in self.columns[i]]
        return sum(float(number) * powers[unit] for number, unit in found)

    def name_size(self, status: int) -> None:
        """Name the only number that follows the status.

        After a method and a path it may be a duration or a count, if there is no other duration, or if it is small.
        """
        order = self.everywhere[status + 1 :]
        if "reason" in self.rows.places[status + 1 : status + 2]:
            order = order[1:]
        numbers = [*takewhile(lambda i: self.like(r"-?\d+", i) and not self.units[i], order)]
        if "bytes_sent" in self.names or status < 0 or len(numbers) != 1 or not self.free("bytes_sent", numbers[0]):
            return
        is_timed = any(name and name.startswith("duration") for name in self.names)
        is_timed |= any(self.like(NUMBER, i) for i in order[1:2])
        greatest = max(int(value) for value in self.columns[numbers[0]])
        if {"request", "protocol"} & {*self.names} or greatest >= (100 if is_timed else 10000):
            self.names[order[0]] = "bytes_sent"

    def name_agent(self, client: int, status: int) -> int:
        order = [i for i in self.everywhere if i > client or client > status]
        order = [i for i in order if not (self.rows.places[i] == "word" and self.before(i + 1).startswith(" ("))]
        agent = self.name("user_agent", AGENT, order)
        places = [i for i in order if self.rows.places[i] in ("quoted", "cell") or i == len(self.columns) - 1]
        agents = rf"{AGENT}|{PRODUCT}"
        return agent if agent >= 0 else self.name("user_agent", agents, places)

    def name_referer(self, agent: int, status: int) -> None:
        """Name what stands before the agent, in quotes if it is missing, or a URL next to it or after the status."""
        quoted = [i for i in self.everywhere if self.rows.places[i] == "quoted" and i > status >= 0]
        texts = [i for i in quoted if self.names[i] is None and not self.columns[i]]
        if "referer" in self.names:
            return
        if agent > 0 and agent - 1 in texts:
            self.names[agent - 1] = "referer"
        elif agent < 0 and len(texts) > 1 and texts[1] == texts[0] + 1:
            self.names[texts[0]], self.names[texts[1]] = "referer", "user_agent"
        elif not any(i < agent for i in texts):
            near = [i for i in (agent - 1, agent + 1) if agent >= 0 and i in self.everywhere]
            order = [*near, *(self.everywhere[status + 1 : agent] if agent >= 0 else quoted[:1])]
            order = [i for i in order if not self.rows.signs_before[i].endswith("+")]  # agents have (+http://...)
            self.name("referer", URL, order)

    def name_site(self, client: int) -> None:
        """Name the host, or the only one that varies; not the first one if it may be the client, or one of syslog."""
        found = [i for i in self.everywhere if self.like(HOST, i) and self.free("vhost", i) and (i or client >= 0)]
        found = [i for i in found if not re.match(r"[:\[]", self.before(i + 2))]
        varied = [i for i in found if len(set(self.columns[i])) > 1]
        is_one = len({tuple(self.columns[i]) for i in found}) == 1
        self.name("vhost", HOST, found if is_one else varied if len(varied) == 1 else [])

    def name_user(self, client: int) -> None:
        """Name the part that is a user: near the client, names that some lines miss, or after a part that all miss.

        Names of threads and of caches (HIT, web-1) are not missing, or in capitals.
        """
        if client < 0 or "user" in self.names:
            return
        ends = ("time", "request", "method", "status")
        stop = next((i for i in self.everywhere[client + 1 : client + 6] if self.names[i] in ends), -1)
        near = [*self.everywhere[client + 1 : client + 4 if stop < 0 else stop], *range(max(client - 1, 0), client)]
        near = [i for i in near if self.names[i] is None]
        near = [i for i in near if self.rows.places[i] not in ("bracketed", "quoted") or i in self.missing]
        for i in near:
            told = i in self.missing or (i - 1 in near and not self.columns[i - 1])
            if told and self.like(NAME, i) and self.free("user", i) and not self.like(r"[A-Z]+|.*[-_]\d+", i):
                self.names[i] = "user"
                return
        for i in near:
            if not self.columns[i] and i - 1 in near and not self.columns[i - 1] and self.rows.places[i] == "word":
                self.names[i] = "user"
                return

    # --- the format string

    def written(self) -> str:
        """Return the format string: parts that are not known are field1, field2, ..., or have the name above them."""
        text, count, used = "", 0, set(self.names)
        for i in self.everywhere:
            name = self.names[i]
            before = without_signs(self.rows.signs_before[i])
            if self.is_unit(i):
                text += before + self.columns[i][0]
                continue
            words = self.rows.columns[i][0].split(" ")
            if name is None and self.rows.places[i] == "time" and len(words) == 2 and not {"date", "clock"} & used:
                name = "date $clock"  # another time
                used.update(("date", "clock"))
            moments = map(" ".join, zip(self.rows.columns[i - 1], self.rows.columns[i], strict=True))
            if self.names[i - 1 : i + 1] == ["date", "clock"] and before == " " and all(map(is_time, moments)):
                name, before, text = "time", "", text.removesuffix("$date")
            if name is None:
                count += 1
                name = re.sub(r"\W", "_", self.headers[i]) if self.headers else ""
                name = f"field{count}" if not name or name in used or name in NGINX else name
                used.add(name)
            variable = VARIABLES.get(name, name)
            rest = without_signs(self.before(i + 1))
            text += before + (f"${{{variable}}}" if re.match(r"\w", rest) else f"${variable}")
        return re.sub("  +", "  ", text + without_signs(self.rows.end))


def without_signs(text: str) -> str:
    return text.replace("$", "")


def of_table(header: str, lines: list[str]) -> Format | None:
    """Return the format string of lines, given one that names their values; None if it does not.

    >>> of_table("when,ip,verb,url,code,ms,id", ["2024-10-10 13:55:36,192.0.2.1,GET,/a,200,12.5,7"])
    Format('$time_local,$remote_addr,$request_method,$request_uri,$status,$duration_ms,$id')
    >>> of_table("#Fields: c-ip cs-uri-stem sc-status", ["192.0.2.1 /a 200"])
    Format('$remote_addr $request_uri $status')
    """
    header = re.sub(r"^#(?:Fields:)?\s*", "", header).rstrip()
    lines = [line.rstrip() for line in lines]
    separated = columns_of([header, *lines])
    if separated is None:
        rows = [re.findall(r'((?:"[^"]*"|[^\s"])+)( (?! )|$)', line) for line in [header, *lines]]
        if len({len(row) for row in rows}) > 1:
            return None
        separated = " ", [[cell for cell, _ in column] for column in zip(*rows, strict=True)]
    separator, columns = separated
    names = [column[0].strip('" ') for column in columns]
    if not all(re.fullmatch(r"[A-Za-z_@][\w() .@-]*|-", name) for name in names):
        return None
    if len({*names} - {"-"}) < len(names) - names.count("-"):
        return None
    columns = [column[1:] for column in columns]
    labels: list[str] = []
    for name, column in zip(names, columns, strict=True):
        count = len(cells_of(column).columns)
        labels += [name] if count == 1 else [""] * count
    fields = Fields(joined(separator, columns), labels)
    return Format(fields.written()) if fields.known() >= 2 else None


# --- members ----------------------------------------------------------------------------------------------------------

ALIKE: dict[str, Callable[[str], Any]] = {
    "client": re.compile(ADDRESS).fullmatch,
    "user": re.compile(r"[^\s/]+(?: [^\s/]+)?").fullmatch,
    "time": re.compile(f"{DATE_AND_TIME}|{EPOCH}").fullmatch,
    "request": re.compile(REQUEST).fullmatch,
    "method": re.compile(rf"[A-Z]{{3,16}}|{METHODS.lower()}").fullmatch,
    "target": re.compile(r"(?:/|https?://)\S*").fullmatch,
    "path": re.compile(r"/.*").fullmatch,
    "protocol": re.compile(r"[A-Z]+/\d.*").fullmatch,
    "status": re.compile(STATUS).fullmatch,
    "bytes_sent": re.compile(r"\d+").fullmatch,
    "duration": re.compile(rf"{NUMBER}(?:ns|us|µs|ms|s)?").fullmatch,
    "referer": re.compile(rf"{URL}|/\S*").fullmatch,
    "user_agent": re.compile(r"(?![a-z]+://).*[A-Za-z].*").fullmatch,
    "vhost": re.compile(rf"{HOST}|{ADDRESS}|localhost(?::\d+)?").fullmatch,
}

# Words that tell of a field wherever they are in a name.
TELLING = {
    **dict.fromkeys(("ref", "referer", "referrer"), "referer"),
    **dict.fromkeys(("duration", "elapsed", "latency"), "duration"),
}


@cache
def known_names() -> Mapping[str, str]:
    """Return the fields that members of JSON have in presets, and NAMES, by their names without signs and case.

    >>> known_names()["remoteip"]
    'client'
    """
    names = {"uri": "target"}
    for section in built_in().values():
        for key, paths in section.items():
            field = key.partition(".")[0]
            if field in FIELDS:
                for path in paths.split("|"):
                    names.setdefault(plain(path), field)
    del names["contentlength"]  # of the request, or of the response
    del names["id"]  # of a user, or of a request
    for field, more in NAMES.items():
        for name in more.split():
            names.setdefault(name, field)
    return names


def plain(path: str) -> str:
    """Return the last name of a path, in lower case, of letters and digits."""
    return re.sub(r"[^a-z0-9]", "", path.strip().rpartition(".")[2].lower())


def field_of(path: str) -> tuple[str, str]:
    """Return the field that a name or the path of a member tells of, and the unit; two empty texts: of none.

    >>> field_of("elapsedMs"), field_of("response_time_in_us"), field_of("user_agent.original")
    (('duration', 'ms'), ('duration', 'us'), ('user_agent', ''))
    >>> field_of("upstream.status"), field_of("db_ms")
    (('', ''), ('', ''))
    """
    names = known_names()
    *before, last = path.strip().split(".")
    if plain(last) in GENERAL and before:
        field = names.get(plain(before[-1]), "")
        return (field, "") if field in ("user", "user_agent", "client") or before[-1] == "url" else ("", "")
    words = words_of(last)
    unit = DURATIONS.get(words[-1], "") if words else ""
    base = "".join(words[:-1]).removesuffix("in")
    told = next((TELLING[word] for word in words if word in TELLING), "")
    told = "" if is_foreign(told, last) else told
    if unit and (names.get(base, told) == "duration" if base else len(words[-1]) > 1):
        field = "duration"
    else:
        field, unit = names.get(plain(last), told), ""
    return ("", "") if plain(last) == "name" or is_foreign(field, ".".join(before)) else (field, unit)


def field_among(path: str, paths: Iterable[str]) -> tuple[str, str]:
    """Return the field and the unit that a name tells of; of a connection, who sent bytes is not known.

    >>> field_among("sent", ["src", "sent"]), field_among("sent", ["src", "dst", "sent"])
    (('bytes_sent', ''), ('', ''))
    """
    field, unit = field_of(path)
    is_directed = field == "bytes_sent" and re.search("sent|tx|out", plain(path))
    is_connection = is_directed and {"dst", "dest", "destination"} & {word for each in paths for word in words_of(each)}
    return ("", "") if is_connection else (field, unit)


def of_object(lines: list[str]) -> Format | None:
    """Return the map of JSON objects; None if the first one is none."""
    from json import loads

    first = loads(lines[0])
    if not isinstance(first, dict):
        return None
    pairs = [*members(first)]
    for line in lines[1:]:
        with suppress(ValueError, RecursionError):
            record = loads(line)
            pairs += members(record) if isinstance(record, dict) else ()
    return Format(map=chosen(pairs))


def of_pairs(lines: list[str]) -> Format | None:
    """Return the map of lines of logfmt; None if the first one is none."""
    word = r'[\w.@-]+(?:=(?:"(?:\\.|[^"\\])*"|[^\s"]*))?'
    pairs: list[tuple[str, str]] = []
    for line in lines:
        if line.count("=") < 3 or not re.fullmatch(rf"\s*{word}(?:\s+{word})*\s*", line):
            if not pairs:
                return None
            continue
        found = re.findall(r'([\w.@-]+)=(?:"((?:\\.|[^"\\])*)"|(\S*))', line)
        pairs += [(name, quoted or bare) for name, quoted, bare in found]
    return based_on("logfmt", pairs)


def of_labels(lines: list[str]) -> Format | None:
    """Return the map of lines of LTSV; None if the first one is none."""
    labelled = [line for line in lines if re.fullmatch(r"[\w.-]+:[^\t]*(?:\t[\w.-]+:[^\t]*)+", line)]
    if labelled[:1] != lines[:1]:
        return None
    parts = [part.partition(":") for line in labelled for part in line.split("\t")]
    return based_on("ltsv", [(name, value) for name, _, value in parts])


def based_on(preset: str, pairs: list[tuple[str, str]]) -> Format:
    """Return a preset with the map of some pairs. It does not read what the map leaves out for its values either."""
    map = chosen(pairs)
    left = {"time", "bytes_sent", "duration"} - {name.partition(".")[0] for name in map}
    keys = [key for key in built_in()[preset] if key.partition(".")[0] in left]
    known = {path for key in keys for path in built_in()[preset][key].split(" | ")}
    map |= {f"extra.{path}": path for path, value in pairs if path in known and value not in ("", "-")}
    return Format(preset, map=map)


def members(record: dict[str, Any], before: str = "") -> Iterable[tuple[str, str]]:
    """Yield the paths and values of the texts and numbers in an object."""
    for name, value in record.items():
        path = f"{before}{name}"
        if isinstance(value, dict) and path.count(".") < 4:
            yield from members(value, f"{path}.")
        elif isinstance(value, (str, int, float)) and not isinstance(value, bool):
            yield path, str(value)


# The fields that values tell of, if no name does, and what these are like; and what a word of the name is then.
BY_VALUE = {
    "client": ADDRESS,
    "time": f"{DATE_AND_TIME}|{EPOCH}",
    "request": REQUEST,
    "method": METHODS,
    "target": r"(?:/|https?://)\S*",
    "status": "20[0146]|30[12478]|40[013459]|429|50[0-4]",
    "user_agent": AGENT,
}
WORDS = {
    "client": r"client|remote|peer|visitor|caller|source|src",
    "target": r"ur[il]|path|request|req|endpoint|route|page",
    "status": r"status|code|http|response|resp|res",
}


def chosen(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the map of the members of records that are fields, by their names and values, or by their values alone."""
    columns: dict[str, list[str]] = {}
    for path, value in pairs:
        columns.setdefault(path, []).extend([value] if value not in ("", "-") else [])
    found = by_name(columns)
    for field, pattern in BY_VALUE.items():
        has_it = field in found or (field == "target" and {"path", "path_decoded", "request"} & {*found})
        for path, values in columns.items() if not has_it else ():
            told = field_of(path)[0]
            if path not in found.values() and told in ("", field) and values and tells(field, path, values, pattern):
                found[field] = path
                break
    if {"method", "target"} <= {*found}:
        found.pop("request", None)
    for field in "path", "path_decoded":
        path = found.pop(field, "")
        if path and ("query" in found or "target" not in found):
            is_sent = any(re.search(r"[?%]", value) for value in columns[path])
            found["path" if "query" in found else "target" if is_sent else field] = path
    return found


def by_name(columns: Mapping[str, list[str]]) -> dict[str, str]:
    """Return the map of the members that are fields by their names, if their values can be."""
    found: dict[str, str] = {}
    for path, values in columns.items():
        field, unit = field_among(path, columns)
        if field == "duration":
            unit = unit or unit_in(values)
            if not unit or any(name.startswith("duration") for name in found):
                continue
        if field and field not in found and values and all(fits(field, value) for value in values):
            found[f"{field}.{unit}" if unit not in ("", "s") else field] = path
    return found


def tells(field: str, path: str, values: list[str], pattern: str) -> bool:
    """Return whether the values of a member tell that it is a field, and its path does not deny it."""
    if not all(re.fullmatch(pattern, value) for value in values):
        return False
    is_number = field == "status" and is_foreign("status_alone", path)
    is_named = any(re.fullmatch(WORDS.get(field, ".*"), word) for word in words_of(path))
    return is_named and not is_number and not is_foreign(field, path)


def words_of(path: str) -> list[str]:
    """Return the words of a name, in lower case.

    >>> words_of("upstream_addr"), words_of("elapsedMs"), words_of("HTTPStatus")
    (['upstream', 'addr'], ['elapsed', 'ms'], ['http', 'status'])
    """
    return [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", path)]


def is_foreign(field: str, path: str) -> bool:
    """Return whether a name says that it is of another one than a field would be."""
    return any(re.fullmatch(FOREIGN.get(field, "(?!)"), word) for word in words_of(path))


def unit_in(values: list[str]) -> str:
    """Return the unit of durations, by their own units, or seconds if they have three decimals and half are less than
    one, and some so small that they are not milliseconds.

    >>> unit_in(["0.012", "1.503"]), unit_in(["12ms"]), unit_in(["0.402"]), unit_in(["12.5"]), unit_in(["12"])
    ('s', 's', '', '', '')
    """
    if values and all(re.fullmatch(LONG, value) for value in values):
        return "s"  # the reader has them in seconds
    is_exact = bool(values) and all(re.fullmatch(r"\d{1,6}\.\d{3,}", value) for value in values)
    is_short = 2 * sum(value.startswith("0.") for value in values) >= len(values)
    return "s" if is_exact and is_short and any(float(value) < 0.1 for value in values) else ""


def fits(field: str, value: str) -> bool:
    return field not in ALIKE or bool(ALIKE[field](value))
