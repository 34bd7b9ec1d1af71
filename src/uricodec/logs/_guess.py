"""A format to begin with, for a log of no known one: what the parts of its lines look like.

    app1 192.0.2.1 GET 200 /a?b=1 12ms
    $field1 $remote_addr $request_method $status $request_uri $request_time

It is a guess: a part has the name of what such a part most often is, all others are field1, field2, ...
"""

import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import partial
from itertools import islice
from typing import Any, NamedTuple

from uricodec.logs._directives import FIELDS
from uricodec.logs._format import Format
from uricodec.logs._formats import built_in
from uricodec.logs._records import LogReader

# How many lines must be read with it, of those that are tried.
TRIED = 20

# How many lines are compared to know what a part of them is.
ALIGNED = 10

# A longer line is not tried: its parts are searched for with regular expressions.
LONGEST_TRIED = 2048

CLOCK = r"\d\d:\d\d:\d\d(?:\.\d+|,\d{3}(?![\d.]))?"
DATE_AND_TIME = (
    rf"\d\d/[A-Za-z]{{3}}/\d{{4}}[: ]{CLOCK}(?: [-+]\d\d:?\d\d| [A-Z]{{3}})?"
    rf"|\d{{4}}-\d\d-\d\d[T ]{CLOCK}(?:Z|[-+]\d\d:?\d\d| [-+]\d{{4}})?"
    rf"|\d{{4}}/\d\d/\d\d (?:- )?{CLOCK}"
    rf"|[A-Z][a-z]{{2}}, \d\d [A-Z][a-z]{{2}} \d{{4}} {CLOCK} (?:GMT|[-+]\d{{4}})"
    rf"|[A-Z][a-z]{{2}} [A-Z][a-z]{{2}} [ \d]\d {CLOCK} \d{{4}}"
)
ADDRESS = (
    r"(?:\d{1,3}\.){3}\d{1,3}(?::\d{1,5})?"
    r"|\[?(?=[0-9a-fA-F:]*::|(?:[0-9a-fA-F]*:){7})[0-9a-fA-F]{0,4}(?::[0-9a-fA-F]{0,4}){2,7}\]?(?::\d{1,5})?"
)
NUMBER = r"\d+(?:\.\d+)?"

# What a part of a line is, and nginx's variables for it: the first one that is not in the format yet.
KINDS = (
    (rf"{DATE_AND_TIME}|1\d{{9}}(?:\.\d+|\d{{3}}|\d{{6}}|\d{{9}})?", ("time_local",)),
    (r"[A-Z]{3,16} \S+(?: \S+)* HTTP/\d(?:\.\d)?", ("request",)),
    (rf"(?:{ADDRESS}|-)(?:, *(?:{ADDRESS}))+", ("http_x_forwarded_for",)),
    (ADDRESS, ("remote_addr",)),
    (r"(?:GET|HEAD|POST|PUT|DELETE|OPTIONS|PATCH|CONNECT|TRACE|PURGE)", ("request_method",)),
    (r"HTTP/\d(?:\.\d)?", ("server_protocol",)),
    (r"/\S*", ("request_uri",)),
    (r"[1-5]\d\d", ("status", "body_bytes_sent")),
    (rf"\d+\.\d+s?|{NUMBER}(?:ns|us|µs|ms|s)", ("request_time",)),
    (r"\d+", ("body_bytes_sent",)),
    (r"https?://\S+", ("request_uri", "http_referer")),
    (r"(?:Mozilla|curl|Wget|[\w.-]+)/\d.*|.*(?:bot|Bot)\b.*", ("http_user_agent",)),
    (r"(?:[a-z0-9-]+\.)+[a-z]{2,}", ("host",)),
)
# A text in quotes, a time in brackets or bare, or what stands between separators.
PART = rf'"(?P<quoted>(?:\\.|[^"\\])*)"|\[(?P<bracketed>[^\]]*)\]|(?P<time>{DATE_AND_TIME})|(?P<word>[^\s|,;"]+)'


def guess(lines: list[bytes]) -> Format | None:
    """Return a format that reads some of the first lines of a log; None if there is no good one.

    >>> guess([b"app1 192.0.2.1 GET 200 /a?b=1 12ms"])
    Format('$field1 $remote_addr $request_method $status $request_uri $request_time')
    >>> guess([b'{"ip":"192.0.2.1","code":404,"req":{"url":"/a"}}'])
    Format(map={'client': 'ip', 'status': 'code', 'target': 'req.url'})
    >>> guess([b'{"ip":"192.0.2.1","uri_path":"/a?b=1","code":404}'])  # with its query
    Format(map={'client': 'ip', 'status': 'code', 'target': 'uri_path'})
    """
    lines = [line for line in lines[:TRIED] if len(line) < LONGEST_TRIED]
    texts = [line.decode("utf-8", "replace") for line in lines]
    attempts = [partial(attempt, text) for text in texts[:3] for attempt in (of_object, of_pairs, of_labels)]
    if len(texts) > 1:
        attempts.insert(0, partial(of_table, *texts[:2]))
    for attempt in attempts:
        with suppress(ValueError, RecursionError):  # of json.loads: brackets in brackets
            format = attempt()
            if format is not None and 2 * reads(format, lines) >= len(lines):
                return format
    counts = {format: reads(format, lines) for format in islice(of_texts(texts[:ALIGNED]), 3)}
    best = max(counts, key=counts.__getitem__, default=None)
    return best if best and 2 * counts[best] >= len(lines) else None


def reads(format: Format, lines: Iterable[bytes]) -> int:
    """Return how many lines are records of a format."""
    data = b"".join(line + b"\n" for line in lines)
    reader = LogReader(format.programs)
    return reader.convert(data, bytearray(reader.capacity_for(len(data)))).records


# --- text -------------------------------------------------------------------------------------------------------------

METHODS = "GET|HEAD|POST|PUT|DELETE|OPTIONS|PATCH|CONNECT|TRACE|PURGE"
REQUEST = rf"[A-Z]{{3,16}} \S+(?: \S+)* HTTP/\d(?:\.\d)?|(?:{METHODS}) /\S*"
NAME = r"[A-Za-z][\w.@\\-]*"
AGENT = r"(?:Mozilla|curl|Wget|[\w.-]+)/\d.*|.*(?:bot|Bot)\b.*"
# Words after a number that say what it is.
AFTER_NUMBER = {
    **dict.fromkeys(("ms", "msec", "msecs", "millis"), "duration_ms"),
    **dict.fromkeys(("us", "usec", "micros"), "duration_us"),
    **dict.fromkeys(("s", "sec", "secs", "seconds"), "request_time"),
    **dict.fromkeys(("B", "bytes"), "body_bytes_sent"),
}


class Part(NamedTuple):
    """A part of a line that varies: what is written before and after it, and where it is ("quoted", "word", ...)."""

    before: str
    after: str
    place: str
    value: str


def parts_of(line: str) -> tuple[list[Part], str]:
    """Return the parts of a line, and what is written after the last one."""
    found: list[Part] = []
    at, line = 0, line.rstrip()
    for match in re.finditer(PART, line):
        place, value = match.lastgroup or "word", match[match.lastgroup or 0]
        around = {"quoted": '"', "bracketed": "["}.get(place, "")
        before, after = line[at : match.start()] + around, around.replace("[", "]")
        if place == "word":
            key, value, after = re.findall(r"^((?:[A-Za-z_][\w.-]*=)?[^\w/\[-]*)(.*?)([^\w/\]-]*)$", value)[0]
            before += key
        if not value and place == "word":
            continue
        found.append(Part(before, after, place, value))
        at = match.end()
    return found, line[at:]


def of_texts(lines: list[str]) -> Iterable[Format]:
    """Yield the format strings of lines, those first whose parts most lines have; none if too little is known."""
    alike: dict[Any, list[list[Part]]] = {}
    for line in lines:
        parts, end = parts_of(line)
        alike.setdefault((tuple(part[:3] for part in parts), end), []).append(parts)
    for (signs, end), rows in sorted(alike.items(), key=lambda item: -len(item[1])):
        names = names_of([[row[i].value for row in rows] for i in range(len(signs))], signs)
        if sum(name is not None for name in names) < 2:
            continue
        written, count = "", 0
        for (before, after, _), name in zip(signs, names, strict=True):
            count += name is None
            written += f"{without_signs(before)}${name or f'field{count}'}{without_signs(after)}"
        with suppress(ValueError):
            yield Format(re.sub("  +", "  ", written + without_signs(end)))


def without_signs(text: str) -> str:
    return text.replace("$", "")


def of_text(line: str) -> Format | None:
    """Return the format string of a line; None if too little of it is known."""
    return next(iter(of_texts([line])), None)


def names_of(columns: list[list[str]], signs: tuple[tuple[str, ...], ...]) -> list[str | None]:
    """Return the variable of each part, given its values in several lines; None: it is not known."""
    names: list[str | None] = [None] * len(columns)
    missing = [i for i, values in enumerate(columns) if "-" in values]
    columns = [[value for value in values if value not in ("-", "")] for values in columns]

    def like(pattern: str, i: int) -> bool:
        return names[i] is None and bool(columns[i]) and all(re.fullmatch(pattern, value) for value in columns[i])

    def name(variable: str, pattern: str, order: Iterable[int] | None = None) -> int:
        """Name the first part that is like a pattern. Return its number; -1: there is none."""
        found = next((i for i in (everywhere if order is None else order) if like(pattern, i)), -1)
        if found >= 0 and variable not in names:
            names[found] = variable
        return found

    everywhere = range(len(columns))
    for i in everywhere[:-1]:  # numbers with a unit after them
        variable = AFTER_NUMBER.get(columns[i + 1][0]) if columns[i + 1] else None
        if variable and variable not in names and like(NUMBER, i) and signs[i + 1][0] == " ":
            names[i] = variable
    for i in everywhere:  # and those with a name before them
        label = re.search(r"([A-Za-z_][\w.-]*)=\"?$", signs[i][0]) or re.search(
            r"^([A-Za-z_][\w.-]*):$", columns[i - 1][0] + signs[i - 1][1] if i and columns[i - 1] else ""
        )
        field = known_names().get(plain(label[1]), "") if label else ""
        variable = {"bytes_sent": "body_bytes_sent", "duration": "request_time"}.get(field, field)
        unit = unit_of(label[1]) if label else ""
        if field == "duration" and unit:
            variable = f"duration_{unit[1:]}"
        if field in LABELLED and variable not in names and columns[i] and all(fits(field, each) for each in columns[i]):
            names[i] = variable
    bracketed = [i for i in everywhere if signs[i][2] == "bracketed"]
    time = name("time_local", KINDS[0][0], [*bracketed, *everywhere])
    request = name("request", REQUEST)
    name("http_x_forwarded_for", KINDS[2][0])
    client = name("remote_addr", ADDRESS)
    method = name("request_method", METHODS)
    name("server_protocol", r"HTTP/\d(?:\.\d)?")
    if request < 0:
        near = [method + 1, *everywhere] if 0 <= method < len(columns) - 1 else everywhere
        request = name("request_uri", r"/\S*|https?://\S+", near[:1] if method >= 0 else [])
        request = max(request, name("request_uri", r"/\S*", near))
    status = name("status", r"[1-5]\d\d", [*everywhere[max(request, method) + 1 :], *everywhere])
    duration = rf"\d+\.\d+s?|{NUMBER}(?:ns|us|µs|ms|s)"
    if not any(each and each.startswith("duration") for each in names):
        name("request_time", duration, [*everywhere[max(status, 0) :], *everywhere])
    # A size is after the status, or after the request; 0 in each line is most often something else.
    order = [*everywhere[status + 1 :]] if status >= 0 else [*everywhere[request + 1 :]]
    order = [i for i in order if i > time or time > max(status, request)]
    name("body_bytes_sent", r"\d+", sorted(order, key=lambda i: set(columns[i]) == {"0"}))
    agent = name("http_user_agent", AGENT, [i for i in everywhere if i > client or client > status])
    name("http_referer", r"[a-z][a-z0-9+.-]*://\S+")
    texts = [
        i for i in everywhere if names[i] is None and not columns[i] and signs[i][2] == "quoted" and i > status >= 0
    ]
    if "http_referer" not in names and agent > 0 and agent - 1 in texts:
        names[agent - 1] = "http_referer"
    elif agent < 0 and len(texts) > 1 and texts[1] == texts[0] + 1:
        names[texts[0]], names[texts[1]] = "http_referer", "http_user_agent"
    name("host", r"(?:[A-Za-z0-9-]+\.)+[A-Za-z]{2,}")
    name_user(names, client, columns, missing, signs)
    return names


# Fields that a name before a value tells of.
LABELLED = {"user", "status", "bytes_sent", "duration", "referer", "user_agent"}


def name_user(
    names: list[str | None],
    client: int,
    columns: list[list[str]],
    missing: list[int],
    signs: tuple[tuple[str, ...], ...],
) -> None:
    """Name the part that is a user: soon after the client, names in some lines, or "-" after another "-" in all."""
    if client < 0 or "remote_user" in names or "user" in names:
        return
    near = [i for i in range(client + 1, min(client + 4, len(names))) if names[i] is None]
    for i in near:
        if (
            columns[i]
            and all(re.fullmatch(NAME, value) for value in columns[i])
            and (i in missing or len(set(columns[i])) > 1 or (i - 1 in near and not columns[i - 1]))
        ):
            names[i] = "remote_user"
            return
    for i in near:
        if not columns[i] and i - 1 in near and not columns[i - 1] and signs[i][2] == "word":
            names[i] = "remote_user"
            return


def of_table(header: str, line: str) -> Format | None:
    """Return the format string of a line, given one that names its values; None if it does not.

    >>> of_table("when,ip,verb,url,code,id", "2024-10-10 13:55:36,192.0.2.1,GET,/a,200,7")
    Format('$time_local,$client,$method,$target,$status,$id')
    """
    delimiter = next((each for each in "\t;,|" if header.count(each) > 1), " ")
    names = [name.strip('" ') for name in header.split(delimiter)]
    format = of_text(line)
    parts = format.text.split(delimiter) if format and format.text else []
    if len(parts) != len(names) or not all(re.fullmatch(r"[A-Za-z_][\w() .-]*", name) for name in names):
        return None
    known = known_names()
    for i, name in enumerate(names):
        field = known.get(plain(name), "")
        if field and fits(field, line.split(delimiter)[i].strip('"')):
            parts[i] = re.sub(r"\$\w+", f"${field}", parts[i])
        else:
            parts[i] = re.sub(r"\$(?:field\d+|body_bytes_sent|request_time)", "$" + re.sub(r"\W", "_", name), parts[i])
    return Format(delimiter.join(parts))


# --- members ----------------------------------------------------------------------------------------------------------

ALIKE: dict[str, Callable[[str], Any]] = {
    "client": re.compile(ADDRESS).fullmatch,
    "time": re.compile(KINDS[0][0]).fullmatch,
    "method": re.compile(r"[A-Z]{3,16}").fullmatch,
    "target": re.compile(r"(?:/|https?://)\S*").fullmatch,
    "path": re.compile(r"/.*").fullmatch,
    "protocol": re.compile(r"[A-Z]+/\d.*").fullmatch,
    "status": re.compile(r"[1-5]\d\d").fullmatch,
    "bytes_sent": re.compile(r"\d+").fullmatch,
    "duration": re.compile(rf"{NUMBER}(?:ns|us|µs|ms|s)?").fullmatch,
}


def known_names() -> Mapping[str, str]:
    """Return the fields that members of JSON have in presets, by their names without signs and case.

    >>> known_names()["remoteip"]
    'client'
    """
    names: dict[str, str] = {}
    for section in built_in().values():
        for key, paths in section.items():
            field = key.partition(".")[0]
            if field in FIELDS:
                for path in paths.split("|"):
                    names.setdefault(plain(path), field)
    return names


def plain(path: str) -> str:
    """Return the last name of a path, in lower case, of letters and digits."""
    return re.sub(r"[^a-z0-9]", "", path.strip().rpartition(".")[2].lower())


def of_object(line: str) -> Format | None:
    """Return the map of a JSON object; None if it is none."""
    from json import loads

    record = loads(line)
    return Format(map=chosen(members(record))) if isinstance(record, dict) else None


def of_pairs(line: str) -> Format | None:
    """Return the map of a line of logfmt; None if it is none."""
    word = r'[\w.@-]+(?:=(?:"(?:\\.|[^"\\])*"|[^\s"]*))?'
    if line.count("=") < 3 or not re.fullmatch(rf"\s*{word}(?:\s+{word})*\s*", line):
        return None
    found = re.findall(r'([\w.@-]+)=(?:"((?:\\.|[^"\\])*)"|(\S*))', line)
    return Format("logfmt", map=chosen((name, quoted or bare) for name, quoted, bare in found))


def of_labels(line: str) -> Format | None:
    """Return the map of a line of LTSV; None if it is none."""
    if not re.fullmatch(r"[\w.-]+:[^\t]*(?:\t[\w.-]+:[^\t]*)+", line):
        return None
    parts = [part.partition(":") for part in line.split("\t")]
    return Format("ltsv", map=chosen((name, value) for name, _, value in parts))


def members(record: dict[str, Any], before: str = "") -> Iterable[tuple[str, str]]:
    """Yield the paths and values of the texts and numbers in an object."""
    for name, value in record.items():
        path = f"{before}{name}"
        if isinstance(value, dict) and path.count(".") < 4:
            yield from members(value, f"{path}.")
        elif isinstance(value, (str, int, float)) and not isinstance(value, bool):
            yield path, str(value)


def chosen(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the map of the members that are fields, by their names and values, or by their values alone."""
    pairs, names, found = list(pairs), known_names(), dict[str, str]()
    for by_name in True, False:
        for path, value in pairs:
            field = names.get(plain(path), "")
            if not by_name:
                field = next((each for each in ("client", "time", "method", "target") if fits(each, value)), "")
                if field == "method" and value not in ("GET", "POST", "HEAD", "PUT", "DELETE"):
                    field = ""
            if field and field not in found and path not in found.values() and fits(field, value):
                found[f"duration{unit_of(path)}" if field == "duration" else field] = path
    for field in "path", "path_decoded":
        path = found.pop(field, "")
        if path and "target" not in found:
            is_sent = any(each == path and re.search(r"[?%]", value) for each, value in pairs)
            found["target" if is_sent else field] = path
    return found


def unit_of(path: str) -> str:
    """Return the unit at the end of the name of a duration, as maps have it.

    >>> unit_of("elapsed_ms"), unit_of("took")
    ('.ms', '')
    """
    found = re.search(r"[^a-z](ms|us|ns)$|([mun]s|[Mm]s)$", path)
    return f".{(found[1] or found[2]).lower()}" if found else ""


def fits(field: str, value: str) -> bool:
    return field not in ALIKE or bool(ALIKE[field](value))
