"""The naive reference of the log processor: regular expressions, split() and urllib, one line at a time.

record() gives a record as a dict, None for a line that is none, and DIRECTIVE for one that describes the log.
"""

import json
import re
from datetime import datetime
from urllib.parse import parse_qsl, quote, unquote_to_bytes

DIRECTIVE = object()
FLAGS = ("malformed", "double-encoded", "overlong-utf8", "encoded-slash", "dot-dot", "nul")


# --- texts ------------------------------------------------------------------------------------------------------------


def text(octets, errors="keep"):
    """Octets as text: what is not UTF-8 becomes a triplet, or U+FFFD."""
    if octets is None:
        return None
    if errors == "replace":
        return octets.decode(errors="replace")
    return re.sub("[\udc80-\udcff]", lambda c: f"%{ord(c[0]) - 0xDC00:02X}", octets.decode(errors="surrogateescape"))


def one_character(tokens):
    try:
        return len(b"".join(map(unquote_to_bytes, tokens)).decode()) == 1
    except UnicodeDecodeError:
        return False


def decoded(octets, errors="keep"):
    raw = unquote_to_bytes(octets)
    if errors == "replace":
        return raw.decode(errors="replace")
    try:
        return raw.decode()
    except UnicodeDecodeError:
        pass
    tokens = re.findall(rb"%[0-9A-Fa-f]{2}|.", octets, re.DOTALL)
    result = b""
    while tokens:
        size = next((n for n in (1, 2, 3, 4) if len(tokens) >= n and one_character(tokens[:n])), 0)
        result += unquote_to_bytes(b"".join(tokens[:size])) if size else tokens[0]
        del tokens[: size or 1]
    return text(result)


def pairs(query, errors="keep"):
    found = []
    for field in query.split(b"&"):
        name, _, value = field.partition(b"=")
        if field:
            found.append([decoded(part.replace(b"+", b" "), errors) for part in (name, value)])
    if errors == "replace" and query.isascii():
        assert found == [list(pair) for pair in parse_qsl(query.decode(), keep_blank_values=True)]
    return found


def masked(octets, names, has_path=False):
    if octets is None:
        return None
    before, mark, query = octets.partition(b"?")
    if not mark:
        before, query = (octets, b"") if has_path else (b"", octets)
    fields = query.split(b"&")
    for i, field in enumerate(fields):
        name, equals, _ = field.partition(b"=")
        if equals and unquote_to_bytes(name.replace(b"+", b" ")).lower() in names:
            fields[i] = name + b"=***"
    return before + mark + b"&".join(fields)


C_ESCAPES = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"b": b"\b", b"f": b"\f", b"v": b"\v", b'"': b'"', b"\\": b"\\"}


def undo(octets):
    r"""Undo \xhh and \n."""
    if octets is None:
        return None
    return re.sub(
        rb'\\(?:x([0-9A-Fa-f]{2})|([ntrbfv"\\]))',
        lambda e: bytes.fromhex(e[1].decode()) if e[1] else C_ESCAPES[e[2]],
        octets,
    )


def moment(octets, errors):
    if octets is None:
        return None
    if re.fullmatch(rb"\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d [+-]([01]\d|2[0-3])[0-5]\d", octets):
        try:
            leap = octets[18:20] == b"60"
            octets = octets[:18] + (b"59" if leap else octets[18:20]) + octets[20:]
            time = datetime.strptime(octets.decode(), "%d/%b/%Y:%H:%M:%S %z")
        except ValueError:
            return text(octets, errors)
        zone = octets[21:24] + b":" + octets[24:]
        return time.strftime("%Y-%m-%dT%H:%M:").zfill(17) + ("60" if leap else octets[18:20].decode()) + zone.decode()
    return text(octets, errors)


def date_and_time(date, time, errors):
    if date is None or time is None:
        return moment(time, errors)
    both = date + b"T" + time
    if re.fullmatch(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:(60|[0-5]\d)(\.\d{0,15})?", both):
        try:
            # Not fromisoformat(), for which there is an hour 24 from Python 3.14 on.
            datetime.strptime(re.sub(rb":60", b":59", both[:19]).decode(), "%Y-%m-%dT%H:%M:%S")
        except ValueError:
            return text(time, errors)
        return both.decode() + "Z"
    return text(time, errors)


# --- requests ---------------------------------------------------------------------------------------------------------


def split_request(request):
    """Method, target, protocol, and whether it is a request at all."""
    if request is None:
        return None, None, None, True
    for pattern in (
        rb"(?P<method>[!#$%&'*+.^_`|~0-9A-Za-z-]+) (?P<target>.*) (?P<protocol>(?=.{1,16}$)[A-Za-z]+/[0-9.]+)",
        rb"(?P<method>[!#$%&'*+.^_`|~0-9A-Za-z-]+) (?P<target>/.*)",
    ):
        found = re.fullmatch(pattern, request, re.DOTALL)
        if found:
            return found["method"], found["target"], found.groupdict().get("protocol"), True
    return None, request, None, False


def split_target(method, target):
    if target is None or (method == b"CONNECT" and target[:1] not in (b"/", b"")):
        return None, None
    found = re.match(rb"[A-Za-z][A-Za-z0-9+.-]*://[^/?]*", target)
    path, mark, query = target[found.end() if found else 0 :].partition(b"?")
    return path, query if mark else None


# --- formats ----------------------------------------------------------------------------------------------------------


def given(octets, empty=False):
    return None if octets is None or octets == b"-" or (empty and octets == b"") else octets


class NoRecord(Exception):
    pass


def quoted(line, at, ahead):
    """A quoted text that starts there, and where the line goes on."""
    found = re.compile(rb'"((?:\\.|[^\\])*?)"(?=%b)' % ahead, re.DOTALL).match(line, at)
    if not found:
        raise NoRecord
    return found[1], found.end()


def combined(line, common=False):
    at = line.find(b'] "')
    before, bracket, time = line[: max(at, 0)].rpartition(b" [")
    who = re.fullmatch(rb"([^ ]*) - (.*)|[^ ]* ([^ ]*) - (.*)|([^ ]*) [^ ]* ([^ ]*)", before, re.DOTALL)
    if not bracket or not who:
        raise NoRecord
    host, user = [part for part in who.groups() if part is not None]
    request, at = quoted(line, at + 2, rb" [0-9-]")
    status, space, rest = line[at + 1 :].partition(b" ")
    if not space:
        raise NoRecord
    size, at = rest.partition(b" ")[0], at + 2 + len(status)
    at += len(size)
    extra = []
    while not common and len(extra) < 2 and line[at : at + 2] == b' "':
        value, at = quoted(line, at + 1, rb" |\Z")
        extra.append(value)
    referer, agent = [*extra, None, None][:2]
    names = ("client", "user", "request", "referer", "user_agent")
    values = (host, user, request, referer, agent)
    fields = {name: undo(given(value)) for name, value in zip(names, values, strict=True)}
    return fields | {"time": given(time), "status": status, "bytes_sent": size}


def alb(line):
    found = re.match(rb"(?:[^ ]* ){12}", line)
    if not found:
        raise NoRecord
    tokens = found[0].split(b" ")
    request, at = quoted(line, found.end(), rb" |\Z")
    agent, _ = quoted(line, at + 1, rb" |\Z")
    host, colon, rest = tokens[3].rpartition(b":")
    fields = {
        "time": given(tokens[1]),
        "client": given(host if colon else rest),
        "status": tokens[8],
        "bytes_sent": tokens[11],
    }
    return fields | {"request": undo(given(request)), "user_agent": undo(given(agent))}


COLUMNS = {
    "date": "date",
    "time": "time",
    "c-ip": "client",
    "cs-username": "user",
    "cs-method": "method",
    "cs-uri": "target",
    "cs-uri-stem": "path",
    "cs-uri-query": "query",
    "cs-version": "protocol",
    "cs-protocol-version": "protocol",
    "sc-status": "status",
    "sc-bytes": "bytes_sent",
    "cs(Referer)": "referer",
    "cs(Referrer)": "referer",
    "cs(User-Agent)": "user_agent",
}
DEFAULT = {
    "cloudfront": "date time x-edge-location sc-bytes c-ip cs-method cs(Host) cs-uri-stem sc-status cs(Referer) "
    "cs(User-Agent) cs-uri-query",
    "iis": "date time s-ip cs-method cs-uri-stem cs-uri-query s-port cs-username c-ip cs(User-Agent) cs(Referer) "
    "sc-status sc-substatus sc-win32-status time-taken",
}


def w3c(line, format, state):
    if line.startswith(b"#"):
        if line.startswith(b"#Fields:"):
            state["columns"] = re.findall(r"[^ \t]+", line[8:].decode("latin-1"))
        return DIRECTIVE
    columns = state.get("columns", DEFAULT[format].split())
    values = line.split(b"\t" if format == "cloudfront" else b" ")
    if len(values) < len(columns) or (format == "iis" and len(values) > len(columns)):
        raise NoRecord
    named = zip(columns, values, strict=False)
    fields = {COLUMNS[column]: value for column, value in named if column in COLUMNS}
    if "columns" not in state and not plausible(fields):
        raise NoRecord
    fields = {member: given(value) for member, value in fields.items()}
    if format == "cloudfront":
        # Older logs have the agent encoded twice: every "%" is encoded as "%25" then.
        agent = fields.get("user_agent") or b""
        twice = agent.count(b"%") == agent.count(b"%25")
        for name in ("target", "path", "query", "referer", "user_agent"):
            if fields.get(name):
                fields[name] = unquote_to_bytes(fields[name])
        if twice and agent:
            fields["user_agent"] = unquote_to_bytes(fields["user_agent"])
    elif fields.get("user_agent"):
        fields["user_agent"] = fields["user_agent"].replace(b"+", b" ")
    fields["decoded"] = format == "iis"
    return fields


def plausible(fields):
    """Whether values of a log that did not announce its columns are what the default columns hold."""
    date, time = fields["date"], fields["time"]
    return (
        date_and_time(date, time, "keep") == f"{date.decode('latin-1')}T{time.decode('latin-1')}Z"
        and re.fullmatch(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+", fields["method"])
        and re.fullmatch(rb"/.*|[*-]", fields["path"], re.DOTALL)
        and re.fullmatch(rb"[0-9A-Fa-f.:%]+|-", fields["client"])
        and re.fullmatch(rb"[0-9]{3}|-", fields["status"])
    )


KEYS = {
    "client": "remote_addr client_ip clientip client remote_ip",
    "user": "remote_user user",
    "time": "time_iso8601 time_local msec time timestamp @timestamp",
    "request": "request",
    "method": "request_method method",
    "target": "request_uri url request_target",
    "path": "uri",
    "query": "args query_string",
    "protocol": "server_protocol protocol",
    "status": "status",
    "bytes_sent": "body_bytes_sent bytes_sent bytes size",
    "referer": "http_referer http_referrer referer referrer",
    "user_agent": "http_user_agent user_agent agent",
}
MEMBER_OF = {key: member for member, keys in KEYS.items() for key in keys.split()}


def nginx_json(line):
    fields = {}
    text = line.decode(errors="surrogateescape")
    try:
        members = json.loads(text, object_pairs_hook=list, parse_float=str, parse_int=str)
    except json.JSONDecodeError:
        raise NoRecord from None
    for key, value in members:
        if key in MEMBER_OF and not isinstance(value, list):
            value = str(value).lower() if isinstance(value, bool) else value  # noqa: PLW2901
            fields[MEMBER_OF[key]] = None if value is None else given(value.encode("utf-8", "surrogateescape"), True)
    if not any(fields.get(name) is not None for name in ("request", "target", "path", "method", "status")):
        raise NoRecord
    if fields.get("target") is not None:
        fields.pop("path", None)
        fields.pop("query", None)
    fields["decoded"] = True
    return fields


# --- records ----------------------------------------------------------------------------------------------------------


def read(line, format, state):
    """The fields of a line."""
    if format in DEFAULT:
        return w3c(line, format, state)
    if format == "alb":
        return alb(line)
    if format == "nginx-json":
        return nginx_json(line)
    return combined(line, format == "common")


def first_of(*values):
    return next((value for value in values if value is not None), None)


def record(line, format, state=None, *, mask=(), flags=False, errors="keep"):  # noqa: PLR0913
    state = {} if state is None else state
    line = line.removesuffix(b"\r")
    if "begun" not in state:
        line = line.removeprefix(b"\xef\xbb\xbf")
        state["begun"] = True
    try:
        if line == b"":
            raise NoRecord
        fields = read(line, format, state)
        if fields is DIRECTIVE:
            return DIRECTIVE
        status, size = number(fields.get("status")), number(fields.get("bytes_sent"))
    except NoRecord:
        return None
    method, target, protocol, proper = split_request(fields.get("request"))
    method, protocol = first_of(fields.get("method"), method), first_of(fields.get("protocol"), protocol)
    path, query, is_decoded = fields.get("path"), fields.get("query"), fields.get("decoded", False)
    if fields.get("target") is not None:
        target, proper = fields["target"], True
    if path is not None and (format in DEFAULT or target is None or not proper):
        target, proper = path if query is None else path + b"?" + query, True
    else:
        is_decoded = False
        if target is not None and proper:
            path, query = split_target(method, target)
    names = {name.encode().lower() for name in mask}
    values = {
        "client": text(fields.get("client"), errors),
        "user": text(fields.get("user"), errors),
        "time": date_and_time(fields.get("date"), fields.get("time"), errors),
        "method": text(method, errors),
        "target": text(masked(target, names, path is not None), errors),
        "path": None if path is None else text(path, errors) if is_decoded else decoded(path, errors),
        "query": None if query is None else pairs(masked(b"?" + query, names)[1:], errors),
        "protocol": text(protocol, errors),
        "status": status,
        "bytes_sent": size,
        "referer": text(masked(fields.get("referer"), names), errors),
        "user_agent": text(fields.get("user_agent"), errors),
    }
    if flags:
        values["flags"] = flags_of(path, query, is_decoded, proper)
    return values


def number(octets):
    if given(octets, False) is None:
        return None
    if not re.fullmatch(rb"[0-9]{1,18}", octets):
        raise NoRecord
    return int(octets)


OVERLONG = re.compile(rb"[\xC0\xC1][\x80-\xBF]|\xE0[\x80-\x9F]|\xF0[\x80-\x8F]|\xF8[\x80-\x87]|\xFC[\x80-\x83]")
TRIPLET = re.compile(rb"%[0-9A-Fa-f]{2}")


def flags_of(path, query, is_decoded, proper):
    found = set() if proper else {"malformed"}
    for part, encoded, between in (path, not is_decoded, rb"[/\\]"), (query, True, rb"[/\\&=]"):
        if part is None:
            continue
        raw = unquote_to_bytes(part) if encoded else part
        if encoded and b"%" in TRIPLET.sub(b"", part):
            found.add("malformed")
        if encoded and part is path and re.search(rb"%(2[Ff]|5[Cc])", part):
            found.add("encoded-slash")
        if TRIPLET.search(raw):
            found.add("double-encoded")
        if OVERLONG.search(raw):
            found.add("overlong-utf8")
        if b".." in re.split(between, raw):
            found.add("dot-dot")
        if b"\0" in raw:
            found.add("nul")
    return [flag for flag in FLAGS if flag in found]


# --- what is no record ------------------------------------------------------------------------------------------------


def readings(line):
    """The line with no, one, two and more layers of escapes undone, in lower case."""
    while True:
        yield line.lower()
        before, line = line, re.sub(rb"(?i)(?:%|\\x)([0-9a-f]{2})|[\\%]u([0-9a-f]{4})|\\(.)", undone, line)
        if line == before:
            return


def undone(escape):
    if escape[3]:
        return escape[3]
    return bytes.fromhex(escape[1].decode()) if escape[1] else chr(int(escape[2], 16)).encode(errors="surrogatepass")


# --- CSV --------------------------------------------------------------------------------------------------------------


# After spaces, what a spreadsheet takes for a formula (OWASP, CSV Injection).
FORMULA = re.compile(" *[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")


def safe_cell(name, value):
    """The same with csv_safe."""
    text = cell(name, value)
    return "'" + text if isinstance(value, str) and FORMULA.match(text) else text


def cell(name, value):
    """What csv.reader finds; the query as it was before json.dumps()."""
    if value is None:
        return ""
    if name == "query":
        return value
    if name == "flags":
        return " ".join(value)
    return re.sub("[\0-\x1f\x7f-\x9f\u2028\u2029]", lambda c: quote(c[0], safe=""), str(value))
