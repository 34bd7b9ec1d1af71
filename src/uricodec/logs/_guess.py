"""A format to begin with, for a log of no known one: what the parts of its lines look like.

    app1 192.0.2.1 GET 200 /a?b=1 12ms
    $field1 $remote_addr $request_method $status $request_uri $request_time

It is a guess: a part has the name of what such a part most often is, all others are field1, field2, ...
"""

import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

from uricodec.logs._directives import FIELDS
from uricodec.logs._format import LOGFMT, Format
from uricodec.logs._formats import built_in
from uricodec.logs._records import LogReader

# How many lines must be read with it, of those that are tried.
TRIED = 20

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
    """
    lines = [line for line in lines[:TRIED] if len(line) < LONGEST_TRIED]
    texts = [line.decode("utf-8", "replace") for line in lines]
    attempts = [partial(attempt, text) for text in texts[:3] for attempt in (of_object, of_pairs, of_text)]
    if len(texts) > 1:
        attempts.insert(0, partial(of_table, *texts[:2]))
    for attempt in attempts:
        with suppress(ValueError, RecursionError):  # of json.loads: brackets in brackets
            format = attempt()
            if format is not None and 2 * reads(format, lines) >= len(lines):
                return format
    return None


def reads(format: Format, lines: Iterable[bytes]) -> int:
    """Return how many lines are records of a format."""
    data = b"".join(line + b"\n" for line in lines)
    reader = LogReader(format.programs)
    return reader.convert(data, bytearray(reader.capacity_for(len(data)))).records


# --- text -------------------------------------------------------------------------------------------------------------


def of_text(line: str) -> Format | None:
    """Return the format string of a line; None if too little of it is known."""
    used: dict[str, None] = {}
    written, at = "", 0
    line = line.rstrip()
    for found in re.finditer(PART, line):
        written += line[at : found.start()].replace("$", "")
        text = found[0]
        if found["quoted"] is not None:
            text = found["quoted"]
            used.update({"request_uri": None} if text.startswith("http") else {})  # most often a referer
            written += f'"{variable(text, used)}"'
        elif found["bracketed"] is not None:
            written += f"[{variable(found['bracketed'], used)}]"
        else:
            before, inner, after = re.findall(r"^([^\w/\[-]*)(.*?)([^\w/\]-]*)$", text)[0]
            written += before + variable(inner, used) + after if inner else text.replace("$", "")
        at = found.end()
    named = [name for name in used if not name.startswith("field")]
    return Format(re.sub("  +", "  ", written)) if len(named) > 1 else None


def variable(text: str, used: dict[str, None]) -> str:
    """Return the variable for a part of a line that is not in the format yet."""
    names = next((names for pattern, names in KINDS if re.fullmatch(pattern, text)), ())
    count = sum(name.startswith("field") for name in used) + 1
    if text == "-" and "remote_addr" in used and "time_local" not in used and f"field{count - 1}" in used:
        names = ("remote_user",)
    name = next((name for name in names if name not in used), f"field{count}")
    used[name] = None
    return f"${name}"


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
    return Format(LOGFMT, map=chosen((name, quoted or bare) for name, quoted, bare in found))


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
    if "target" in found:
        found.pop("path", None)
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
