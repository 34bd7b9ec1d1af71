"""Random formats of Apache and nginx, and lines that these servers would write in them.

A Case has a format, a line, and the record that the line was written from. The values are hostile: quotes, backslashes,
control characters, bytes that are not UTF-8, "-", and spaces where the server quotes them.
"""

import json
import re
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from functools import cache
from typing import NamedTuple
from urllib.parse import quote

from hypothesis import assume
from hypothesis import strategies as st
from reference.log_formats import COMMON
from reference.logs import text


class Case(NamedTuple):
    format: str
    line: bytes
    record: dict


class Value(NamedTuple):
    """A field of a format: its directive, what the server writes for it, and what the record has of it."""

    directive: str
    data: bytes
    record: dict
    kind: str = (
        "text"  # where it ends: "text" and "list" before what follows; "time", "word" and "number" by themselves
    )


# --- what servers do to values ----------------------------------------------------------------------------------------


def apache_escapes(raw):
    """ap_escape_logitem(): C escapes, and the hexadecimal form for what is not printable ASCII."""
    names = {8: b"\\b", 10: b"\\n", 13: b"\\r", 9: b"\\t", 11: b"\\v", 34: b'\\"', 92: b"\\\\"}
    return b"".join(names.get(c) or (b"%c" % c if 32 <= c < 127 else b"\\x%02x" % c) for c in raw)


def nginx_escapes(raw):
    """escape=default: characters '"', "\\", and other characters with values less than 32 or above 126 as \\xXX."""
    return b"".join(b"\\x%02X" % c if c in b'"\\' or not 32 <= c < 127 else b"%c" % c for c in raw)


def json_escapes(raw):
    """escape=json: what RFC 8259 section 7 requires; all other bytes as they are."""
    names = {8: b"\\b", 10: b"\\n", 13: b"\\r", 9: b"\\t", 12: b"\\f", 34: b'\\"', 92: b"\\\\"}
    return b"".join(names.get(c) or (b"\\u%04X" % c if c < 32 else b"%c" % c) for c in raw)


# How values are escaped, and what is written for one that is missing.
SERVERS = {
    "apache": (apache_escapes, b"-"),
    "default": (nginx_escapes, b"-"),
    "json": (json_escapes, b""),
    "none": (bytes, b""),
}

# --- values -----------------------------------------------------------------------------------------------------------

HOSTILE = [
    *(b"%c" % c for c in b"aZ09 -\"\\'[](){}|,;=&?%/+#\t\n\r\0\x7f\xff\xc3"),
    *(
        c.encode()
        for c in ("é", "日本", "%41", '" "', '\\"', '" 200 5', "\\x41", "\\u0041", "\\n", "- -", "] ", "\u2028", "😀")
    ),
]
addresses = st.ip_addresses().map(str) | st.sampled_from(["proxy.example.com", "localhost"])
hosts = st.sampled_from(["www.example.com", "example.org:8443", "192.0.2.1"])


@cache
def bytes_of(server):
    """Bytes that a format can carry. Without escapes, that are none with a quote or the end of a line."""
    values = [each for each in HOSTILE if server != "none" or not {*each} & {*b'"\r\n'}]
    return st.none() | st.lists(st.sampled_from(values), max_size=8).map(b"".join)


@cache
def unicode_of(server):
    unwanted = '"\r\n' if server == "none" else ""
    return st.text(st.characters(exclude_categories=["Cs"], exclude_characters=unwanted), max_size=6)


@st.composite
def texts(draw, server, directive, name):
    """A text, or that it is missing."""
    escape, missing = SERVERS[server]
    raw = draw(bytes_of(server))
    data = missing if raw is None else escape(raw)
    return Value(directive, data, {name: None if data in (b"-", missing) else text(raw)})


@st.composite
def words(draw, directives, name, values):
    """A value that needs no escapes."""
    value = draw(values)
    return Value(draw(st.sampled_from(directives)), value.encode(), {name: value}, "word")


@st.composite
def lists(draw, server, directive, name, separators):
    """Addresses that proxies have joined."""
    each = draw(st.none() | st.lists(addresses, min_size=1, max_size=3))
    joined = each and draw(st.sampled_from(separators)).join(each)
    data = joined.encode() if joined else SERVERS[server][1]
    return Value(directive, data, {name: each if name == "forwarded_for" else joined}, "list")


@st.composite
def go_durations(draw):
    """A duration as Go writes it, "1m2.5s" or "13.7µs", and its nanoseconds."""
    total = draw(st.one_of(st.integers(0, 10**size) for size in (3, 6, 9, 12, 17)))
    for unit, size in ("ns", 1), ("µs", 10**3), ("ms", 10**6):
        if 0 < total < 1000 * size:
            return f"{Decimal(total) / size:f}{unit}", total
    minutes, rest = divmod(total, 60 * 10**9)
    hours, minutes = divmod(minutes, 60)
    seconds = f"{Decimal(rest).scaleb(-9).normalize():f}s"
    return f"{hours}h{minutes}m{seconds}" if hours else f"{minutes}m{seconds}" if minutes else seconds, total


@st.composite
def numbers(draw, server, name, directives):
    """A status, size or duration; only Apache writes "-" for none."""
    directive, unit = draw(st.sampled_from([(each, 0) if isinstance(each, str) else each for each in directives]))
    number = Decimal(draw(st.integers(100, 599) if name == "status" else st.integers(0, 10**9)))
    if directive == "%b" and number == 0:
        return Value(directive, b"-", {name: None}, "number")
    if name == "duration" and draw(st.booleans()):
        written, nanoseconds = draw(go_durations())
        return Value(directive, written.encode(), {name: float(Decimal(nanoseconds).scaleb(-9))}, "number")
    if directive == "$request_time":
        number = number.scaleb(-3)
    value = float(number.scaleb(unit)) if name == "duration" else int(number)
    return Value(directive, f"{number:f}".encode(), {name: value}, "number")


@st.composite
def times(draw, server):
    """A time in one of the forms that the server has for it."""
    seconds, millis = draw(st.integers(10**9, 2 * 10**9)), f"{draw(st.integers(0, 999)):03}"
    zone = timezone(timedelta(minutes=draw(st.integers(-12 * 60, 14 * 60))))
    local = datetime.fromtimestamp(seconds, zone)
    utc = datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%dT%H:%M:%S")
    clf = local.strftime("%d/%b/%Y:%H:%M:%S %z")
    if server == "apache":
        forms = [
            ("%t", f"[{clf}]", local.isoformat()),
            ("%{sec}t", str(seconds), f"{utc}Z"),
            ("%{usec}t", f"{seconds}{millis}000", f"{utc}.{millis}000Z"),
            ("%{%Y-%m-%dT%H:%M:%S%z}t", local.strftime("%Y-%m-%dT%H:%M:%S%z"), local.isoformat()),
            ("%{%d/%b/%Y:%H:%M:%S %z}t", clf, local.isoformat()),
            ("%{%Y-%m-%d %H:%M:%S %z}t", f"{local:%Y-%m-%d %H:%M:%S %z}", local.isoformat()),
            (
                "%{%F}t %{%T}t.%{msec_frac}t",
                f"{local:%Y-%m-%d %H:%M:%S}.{millis}",
                f"{local:%Y-%m-%dT%H:%M:%S}.{millis}",
            ),
            ("%{%Y/%m/%d %H:%M:%S}t", f"{local:%Y/%m/%d %H:%M:%S}", f"{local:%Y-%m-%dT%H:%M:%S}"),
            ("%{%a %b %d %H:%M:%S %Y}t", f"{local:%a %b %d %H:%M:%S %Y}", f"{local:%Y-%m-%dT%H:%M:%S}"),
            ("%{%a, %d %b %Y %H:%M:%S %z}t", f"{local:%a, %d %b %Y %H:%M:%S %z}", local.isoformat()),
        ]
    else:
        forms = [
            ("$time_local", clf, local.isoformat()),
            ("${time_iso8601}", local.isoformat(), local.isoformat()),
            ("$msec", f"{seconds}.{millis}", f"{utc}.{millis}Z"),
            # Of other programs: Go's log, Gin, asctime, IMF-fixdate, Python's logging; names of months in any case.
            ("$time", f"{local:%Y/%m/%d %H:%M:%S}", f"{local:%Y-%m-%dT%H:%M:%S}"),
            ("$time", f"{local:%Y/%m/%d - %H:%M:%S}", f"{local:%Y-%m-%dT%H:%M:%S}"),
            ("$time", f"{local:%a %b} {local.day:2} {local:%H:%M:%S %Y}", f"{local:%Y-%m-%dT%H:%M:%S}"),
            ("$time", f"{local:%a, %d %b %Y %H:%M:%S %z}", local.isoformat()),
            ("$time", f"{datetime.fromtimestamp(seconds, timezone.utc):%a, %d %b %Y %H:%M:%S GMT}", f"{utc}Z"),
            ("$time", f"{local:%Y-%m-%d %H:%M:%S},{millis}", f"{local:%Y-%m-%dT%H:%M:%S}.{millis}"),
            ("$time", clf.upper(), local.isoformat()),
            ("$time", clf.lower(), local.isoformat()),
        ]
    directive, written, time = draw(st.sampled_from(forms))
    return Value(directive, written.encode(), {"time": time}, "time")


@st.composite
def requests(draw, server):
    """The fields of a request: in one piece, in three, or with the path decoded by the server."""
    escape, _ = SERVERS[server]
    characters = unicode_of(server)
    method = draw(st.sampled_from(["GET", "POST", "M-SEARCH"]))
    protocol = draw(st.sampled_from(["HTTP/1.1", "HTTP/2.0", "HTTP/3"]))
    path = "/" + draw(characters)
    pairs = draw(st.lists(st.tuples(characters.filter(bool), characters), max_size=3))
    query = "&".join(f"{quote(name, '')}={quote(value, '')}" for name, value in pairs)
    found = {"path": path, "query": [[*pair] for pair in pairs] or None}
    target = quote(path) + ("?" + query if query else "")
    whole = Value("%r" if server == "apache" else "$request", f"{method} {target} {protocol}".encode(), {})
    found |= {"method": method, "target": target, "protocol": protocol}
    shape = draw(st.sampled_from(["whole", "parts", "decoded"]))
    if shape == "whole":
        return [whole._replace(record=found)]
    names = ("%m", "%H") if server == "apache" else ("$request_method", "$server_protocol")
    parts = [
        Value(names[0], method.encode(), {"method": method}, "word"),
        Value(names[1], protocol.encode(), {"protocol": protocol}, "word"),
    ]
    rest = {name: found[name] for name in ("target", "path", "query")}
    if shape == "parts" and server != "apache":
        return [Value("$request_uri", target.encode(), rest, "word"), *parts]
    # The first "?" is that of the query.
    path = path.replace("?", "")
    target = path + ("?" + query if query else "")
    directive = "%U%q" if server == "apache" else "$uri$is_args$args"
    return [Value(directive, escape(target.encode()), rest | {"target": target, "path": path}), *parts]


@cache
def fields_of(server):
    """A strategy for each field that a format may have."""
    if server == "apache":
        named = {f"%{{X-{letter}}}{letter}": f"X-{letter}" for letter in "ieCno"}
        named |= {"%f": "filename", "%R": "handler", "%L": "log_id", "%!200,304{Via}i": "Via", "%400,501{a b}e": "a b"}
        return [
            *(texts(server, directive, f"extra.{name}") for directive, name in named.items()),
            texts(server, "%u", "user"),
            texts(server, "%{Referer}i", "referer"),
            texts(server, "%>{User-agent}i", "user_agent"),
            words(["%h", "%a", "%{c}a"], "client", addresses),
            words(["%v", "%V", "%{Host}i"], "vhost", hosts),
            numbers(server, "status", ["%s", "%>s", "%<s"]),
            numbers(server, "bytes_sent", ["%b", "%B", "%O"]),
            numbers(server, "duration", [("%D", -6), ("%T", 0), ("%{ms}T", -3), ("%{us}T", -6)]),
            lists(server, "%{X-Forwarded-For}i", "forwarded_for", [", ", ","]),
            times(server),
        ]
    names = ("http_x_a", "cookie_b", "arg_c", "sent_http_d", "e")
    return [
        *(texts(server, f"${name}", f"extra.{name}") for name in names),
        texts(server, "${http_cookie}", "extra.http_cookie"),
        texts(server, "$remote_user", "user"),
        texts(server, "$http_referer", "referer"),
        texts(server, "$http_user_agent", "user_agent"),
        words(["$remote_addr"], "client", addresses),
        words(["$host", "$http_host", "$server_name"], "vhost", hosts),
        numbers(server, "status", ["$status"]),
        numbers(server, "bytes_sent", ["$bytes_sent", "$body_bytes_sent"]),
        numbers(server, "duration", ["$request_time"]),
        lists(server, "$http_x_forwarded_for", "forwarded_for", [", ", ","]),
        lists(server, "$upstream_addr", "extra.upstream_addr", [", ", " : "]),
        times(server),
    ]


# --- formats ----------------------------------------------------------------------------------------------------------

servers = st.sampled_from(["apache", "apache", "default", "json", "none"])
SEPARATORS = [" ", " ", " ", " - ", "|", ",", ";", "\t", " | ", ", ", " x=", "  ", "  |  ", "|  "]
AROUND = ["", "", '""', '""', "''", "[]", "()"]


@st.composite
def cases(draw):
    """A format, and a line in it."""
    server = draw(servers)
    fields = draw(st.lists(st.sampled_from(fields_of(server)), min_size=1, max_size=12, unique_by=id))
    values = [draw(field) for field in fields]
    for value in draw(requests(server)) if draw(st.booleans()) else []:
        values.insert(draw(st.integers(0, len(values))), value)
    case = arranged(lambda options: draw(st.sampled_from(options)), server, values)
    assume(case.line)
    return case


@st.composite
def pools(draw):
    """A server, and a value for each of the fields that its formats may have; for arranged()."""
    server = draw(servers)
    return server, [draw(field) for field in fields_of(server)], draw(requests(server))


def shuffled(random, pool):
    """A case with some values of a pool, in any order."""
    server, values, request = pool
    some = random.sample(values, random.randint(1, min(12, len(values))))
    some += request if random.random() < 0.5 else []
    random.shuffle(some)
    return arranged(random.choice, server, some)


def arranged(choose, server, values):
    """A format with these values in their order; choose() takes one of a list."""
    is_json = server != "apache" and choose([True, False, False, False])
    format, line = [], b""
    literal = "{" if is_json else choose(["", "", "log: ", "50% ", "a=["])
    for i, value in enumerate(values):
        around = choose(AROUND) if value.directive != "%t" else ""
        if is_json:
            literal += json.dumps(f"k{i}") + ":"
            around = "" if value.kind == "number" else '""'
        if i + 1 < len(values):
            after = "," if is_json else choose(SEPARATORS)
        else:
            after = "}" if is_json else choose(["", "", ";"])
        if around != '""' and ends_early(value, literal + around[:1], around[1:] + after):
            around = '""'
        format += [literal + around[:1], value.directive]
        # The first literal stands as it is, and so do spaces before or after the brackets of "%t".
        left, right = i > 0 and values[i - 1].directive != "%t", i > 0 and value.directive != "%t"
        line += spread(choose, literal + around[:1], left, right).encode() + value.data
        literal = around[1:] + after
    format.append(literal)
    line += spread(choose, literal, values[-1].directive != "%t", right=True).encode()
    return Case(pasted(choose, server, format), line, record_of(values))


def spread(choose, literal, left, right):
    """A literal as a line has it: several spaces at an end of it are any number, but at least one."""
    pattern = r"\A {2,}" * left + "|" * (left and right) + r" {2,}\Z" * right or r"\Z\A."
    return re.sub(pattern, lambda _: " " * choose([1, 1, 2, 3, 9]), literal)


def ends_early(value, before, after):
    """Whether a value that is not in quotes would seem to end before its end, because it has what follows it."""
    padded = before.endswith("  ") or after.startswith("  ")
    if padded and (value.data == b"" or value.data[:1] == b" "):
        return True
    if value.kind == "time" and "," in before[-2:] + after[:1] and b"," in value.data:
        return True
    if value.kind == "list" and after.startswith(" "):
        return False
    return value.kind in ("text", "list") and after != "" and after[0].encode() in value.data


def record_of(values):
    record, extra = dict.fromkeys(COMMON), {}
    for value in values:
        for name, item in value.record.items():
            if not name.startswith("extra."):
                record[name] = item
            elif item is not None:
                extra[name.removeprefix("extra.")] = item
    return record | {"extra": extra or None}


def pasted(choose, server, pieces):
    """The format string, or a directive of a configuration file with it. Literals and directives come in turn."""
    sign = "%%" if server == "apache" else "%"
    tab = choose(["\t", "\\t"])
    pieces = [piece if i % 2 else piece.replace("%", sign).replace("\t", tab) for i, piece in enumerate(pieces)]
    plain = "".join(pieces)
    if server == "apache":
        escaped = plain.replace('"', '\\"')
        directives = [f'LogFormat "{escaped}" name', f'  CustomLog "logs/a b" "{escaped}"', f'LogFormat "{escaped}"\n']
        return choose([plain, plain, escaped, *directives])
    quoted = ["'" + piece.replace("'", "\\'") + "'" for piece in pieces]
    directives = [
        f"log_format main escape={server} " + "\n    ".join(quoted) + ";",
        f"escape={server} " + " ".join(quoted),
        f"#log_format main  escape={server}\n#   " + "\n#   ".join(quoted) + ";\n",
    ]
    if server != "default" or plain.startswith("{"):
        return choose(directives)
    return choose([plain, plain, plain + "\n", *directives])
