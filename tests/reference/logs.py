"""What both servers and readers of logs do, naively: escapes, requests, masks, flags, times, cells of CSV.

log_formats.py reads lines with it.
"""

import functools
import ipaddress
import operator
import re
from datetime import datetime
from urllib.parse import quote, unquote_to_bytes

from reference import shapes

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
    if request == b"- - -":
        return None, None, None, True
    for pattern in (
        rb"(?P<method>[!#$%&'*+.^_`|~0-9A-Za-z-]+) (?P<target>.*) (?P<protocol>(?=.{1,16}$)[A-Za-z]+/[0-9.]+)",
        rb"(?P<method>[!#$%&'*+.^_`|~0-9A-Za-z-]+) (?P<target>/.*) (?P<protocol>1\.[01]|[23](?:\.0)?)",  # Hypercorn
        rb"(?P<method>[!#$%&'*+.^_`|~0-9A-Za-z-]+) (?P<target>/.*)",
    ):
        found = re.fullmatch(pattern, request, re.DOTALL)
        if found:
            protocol = found.groupdict().get("protocol")
            if protocol and protocol[:1].isdigit():
                protocol = b"HTTP/" + protocol
            is_known = (found["method"], found["target"]) != (b"-", b"-")
            return found["method"] if is_known else None, found["target"] if is_known else None, protocol, True
    return None, request, None, False


def split_target(method, target):
    if target is None or (method == b"CONNECT" and target[:1] not in (b"/", b"")):
        return None, None
    if re.match(b"error:.", target):
        return None, None
    found = re.match(rb"[A-Za-z][A-Za-z0-9+.-]*://[^/?]*", target)
    path, mark, query = target[found.end() if found else 0 :].partition(b"?")
    return path, query if mark else None


# --- formats ----------------------------------------------------------------------------------------------------------


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


# --- flags ------------------------------------------------------------------------------------------------------------


def first_of(*values):
    return next((value for value in values if value is not None), None)


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


# The fields that are JSON in a cell.
IN_JSON = ("query", "duration", "forwarded_for", "extra")


def cell(name, value):
    """What csv.reader finds; fields in JSON as they were before json.dumps()."""
    if value is None:
        return ""
    if name in IN_JSON:
        return value
    if name == "flags":
        return " ".join(value)
    return re.sub("[\0-\x1f\x7f-\x9f\u2028\u2029]", lambda c: quote(c[0], safe=""), str(value))


def microseconds(time, offset=0):
    """A time as Arrow has it: microseconds since 1970 in UTC; None if it is not one of RFC 3339.

    `offset` is that of a time without a zone, in seconds.
    """
    found = time and re.fullmatch(r"(\d{4}-\d\d-\d\d)T(\d\d):(\d\d):(\d\d)(\.\d+)?(Z|[+-]\d\d:\d\d)?", time, re.ASCII)
    if not found:
        return None
    date, hour, minute, second, fraction, zone = found.groups()
    try:
        days = datetime.fromisoformat(date).toordinal() - datetime(1970, 1, 1).toordinal()
    except ValueError:
        return None
    if int(hour) > 23 or int(minute) > 59 or int(second) > 60:
        return None
    if zone and zone != "Z":
        offset = int(zone[0] + "1") * (3600 * int(zone[1:3]) + 60 * int(zone[4:]))
    seconds = 86400 * days + 3600 * int(hour) + 60 * int(minute) + int(second) - (0 if zone == "Z" else offset)
    return 1000000 * seconds + int(f"{(fraction or '.')[1:7]:0<6}")


OPERATORS = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "^=": lambda value, start: str(value).startswith(start),
    "*=": lambda value, part: part in str(value),
    "!^=": lambda value, start: not str(value).startswith(start),
    "!*=": lambda value, part: part not in str(value),
    "~=": lambda value, pattern: bool(re.search(pattern, str(value))),
    "!~=": lambda value, pattern: not re.search(pattern, str(value)),
    "=*": lambda value, other: str(value).lower() == other.lower(),
}
PERIODS = {"day": (10, ""), "hour": (13, ":00:00"), "minute": (16, ":00")}


def field_of(record, field):  # noqa: PLR0911
    """The value of a field of a record with flags, as JSON has it; None if it is missing."""
    first, _, rest = field.partition(".")
    if first == "param" and rest:
        values = [value for name, value in record["query"] or () if name == rest]
        return values[0] if values else None
    if first == "extra" and rest:
        return (record["extra"] or {}).get(rest)
    if field == "status:class":
        return (
            f"{record['status'] // 100}xx" if record["status"] is not None and 100 <= record["status"] < 1000 else None
        )
    if field.startswith("time:"):
        if microseconds(record["time"]) is None:
            return None
        size, zeros = PERIODS[field.partition(":")[2]]
        zone = re.search(r"(?:Z|[+-]\d\d:\d\d)?$", record["time"][19:])[0]
        return record["time"][:size] + (zeros + zone if zeros else "")
    if ":" in field and record[field.partition(":")[0]] is not None:
        name, _, part = field.partition(":")
        part_of = {"client": network_of, "referer": part_of_referer, "path": first_segments}[name]
        return part_of(record[name], part, record)
    return record.get(field)


def network_of(client, sizes, record=None):
    """The network of a client, given "/24" or "/24,/48"; the client, if it is not an address, or has no network."""
    sizes = [int(size.strip("/")) for size in sizes.split(",")]
    try:
        address = ipaddress.ip_address(client)
    except ValueError:
        return client
    if "%" in client:
        return client
    address = getattr(address, "ipv4_mapped", None) or address
    if address.version == 6 and len(sizes) == 1:
        return client
    return str(ipaddress.ip_network((address, sizes[address.version == 6]), strict=False))


def part_of_referer(referer, part, record=None):
    """The host of a URL, as RFC 3986 appendix B finds it; or the registrable domain by publicsuffixlist."""
    authority = re.match(r"(?:[A-Za-z][A-Za-z0-9+.-]*:)?(?://([^/?#]*))?", referer)[1]
    if authority is None:
        return None
    host = authority.rpartition("@")[2]
    bracket = re.match(r"\[.*?\]", host)
    host = bracket[0] if bracket else host.partition(":")[0]
    if part == "host":
        return host or None
    name = host.removesuffix(".").lower()
    if not name or not name.isascii() or name[0] == "[" or "" in name.split(".") or name.split(".")[-1].isdigit():
        return None
    return suffix_list().privatesuffix(name)


@functools.cache
def suffix_list():
    from publicsuffixlist import PublicSuffixList

    return PublicSuffixList(only_icann=True)


def first_segments(path, count, record):
    """The first segments of a path, or its shape, found while it is encoded, if the target shows how it was."""
    raw = (record["target"] or "").partition("?")[0].encode("utf-8", "surrogateescape")
    raw = re.sub(rb"#.*", b"", raw)
    encoded = decoded(raw) == path
    path = raw if encoded else path.encode("utf-8", "surrogateescape")
    if count == "shape":
        kept = shapes.shaped(path, not encoded)
    else:
        kept = re.match(rb"/?[^/]*(?:/[^/]*){0,%d}" % (int(count) - 1), path, re.DOTALL)[0]
    return decoded(kept) if encoded else kept.decode("utf-8", "surrogateescape")


def meets(record, condition):
    """Whether a record with flags meets a condition such as "status>=500"."""
    signs = r"==|=\*(?=[^*])|!=|!\^=|!\*=|!~=|<=|>=|\^=|\*=|~=|=|<|>"
    field, sign, text = re.fullmatch(rf"(.+?)({signs})(.*)", condition, re.DOTALL).groups()
    sign = "=" if sign == "==" else sign
    texts = [text]
    if sign[0] not in "<>" and "~" not in sign:
        texts = [each.replace("\0", "|") for each in text.replace("\\|", "\0").split("|")]
    found = [meets_value(record, field, sign, each) for each in texts]
    return all(found) if sign[0] == "!" else any(found)


def meets_value(record, field, sign, text):
    if field == "status" and sign in ("=", "!=") and re.fullmatch("[1-9]xx", text.lower()):
        field, text = "status:class", text.lower()
    value, holds = field_of(record, field), OPERATORS[sign]
    if not text:
        return (value is None or value in ("", [])) == (sign == "=")
    if value is None:
        return False
    if field in ("flags", "forwarded_for"):
        found = any(meets_one(field, each, sign.removeprefix("!"), text) for each in value)
        return not found if sign[0] == "!" else found
    return (
        meets_one(field, value, sign, text)
        if sign not in ("<", "<=", ">", ">=", "=")
        else compares(field, value, holds, sign, text)
    )


def compares(field, value, holds, sign, text):
    if field in ("status", "bytes_sent", "duration"):
        return holds(value, number_of(text))
    if field == "time":
        moment = microseconds(value)
        return moment is not None and holds(moment, microseconds(text))
    if sign == "=":
        return meets_one(field, value, sign, text)
    return holds(value.encode(), text.encode())


FACTORS = {"K": 1024, "M": 1024**2, "ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1, "m": 60, "h": 3600}


def number_of(text):
    number, unit = re.fullmatch(r"([\d.]+)(\D*)", text).groups()
    if unit:
        return float(number) * FACTORS[unit]
    return float(number) if "." in number else int(number)


def meets_one(field, value, sign, text):  # noqa: PLR0911
    """Whether one value meets a condition of equality, or on parts of texts."""
    if sign in ("^=", "*=", "!^=", "!*=", "~=", "!~=", "=*"):
        return OPERATORS[sign](value, text)
    if field == "time":
        moment = microseconds(value)
        return moment is not None and OPERATORS[sign](moment, microseconds(text))
    if field in ("status", "bytes_sent", "duration"):
        return OPERATORS[sign](value, number_of(text))
    if field in ("client", "forwarded_for"):
        try:
            network = ipaddress.ip_network(text, strict=False)
        except ValueError:
            return OPERATORS[sign](value, text)
        try:
            address = ipaddress.ip_address(value)
        except ValueError:
            return sign == "!="
        return (as_ipv6(address) in as_ipv6(network)) == (sign == "=")
    return OPERATORS[sign](value, text)


def as_ipv6(value):
    """An address or a network; those of IPv4 are in ::ffff:0:0/96."""
    if value.version == 6:
        return value
    if isinstance(value, ipaddress.IPv4Address):
        return ipaddress.IPv6Address(f"::ffff:{value}")
    return ipaddress.IPv6Network(f"::ffff:{value.network_address}/{96 + value.prefixlen}")


def rows_of(table):
    """The rows of an Arrow table, as the records are in JSON, but for their time."""
    at = table.schema.names.index("time")
    rows = table.set_column(at, "time", table["time"].cast("int64")).to_pylist()
    for row in rows:
        if row["query"] is not None:
            row["query"] = [[pair["name"], pair["value"]] for pair in row["query"]]
        row["extra"] = row["extra"] and dict(row["extra"])
    return rows


def in_arrow(records):
    """Records as rows_of() has them."""
    return [record | {"time": microseconds(record["time"])} for record in records]
