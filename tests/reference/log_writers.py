"""Ten visits, and how products log them, from their documentation or source. It has no knowledge of the package.

WRITERS has the product of each named format, FAMILIES a string of each language of format strings. A template has names
in angle brackets; each of NAMES gives the text, and what can be known from it. In a template of JSON, which is an object,
a member that is a name has the number itself ("<status>s": a text), and is left out if missing is None.
"""

# ruff: noqa: E501 - lines of logs

import json
import re
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from typing import NamedTuple
from urllib.parse import quote, unquote, unquote_to_bytes


class Visit(NamedTuple):
    """What was sent; the duration is nanoseconds. Only one request is no HTTP: it has a text, but no method."""

    client: str
    user: str | None
    method: str | None
    target: bytes
    protocol: str | None
    status: int
    size: int
    referer: bytes | None
    agent: bytes | None
    duration: int
    forwarded: str | None
    host: str | None
    time: datetime = datetime(2024, 10, 10, 13, 55, 36, 123456, timezone.utc)
    path: str | None = None
    query: tuple | None = None


SITE, FIREFOX, QUOTED = "www.example.com", b"Mozilla/5.0 (X11; Linux x86_64)", b'a "quoted" b\\c agent'
TEN = [
    # The usual one; IPv6 through two proxies; a user; an agent with quotes and a backslash.
    Visit("192.0.2.10", None, "GET", b"/wiki/caf%C3%A9?q=a+b", "HTTP/1.1", 200, 5316, b"https://www.example.com/", FIREFOX,
          12345678, None, SITE, path="/wiki/café", query=(("q", "a b"),)),
    Visit("2001:db8::7", None, "GET", b"/a.css", "HTTP/1.1", 200, 711, b"https://www.example.com/?a=b%26c", FIREFOX, 1000000,
          "203.0.113.7, 198.51.100.2", SITE, path="/a.css"),
    Visit("192.0.2.11", "frank", "POST", b"/login", "HTTP/1.1", 302, 154, b"https://www.example.com/login", FIREFOX, 250000000,
          "203.0.113.8", SITE, path="/login"),
    Visit("192.0.2.12", None, "GET", b"/search?q=50%25%20off", "HTTP/1.1", 404, 19, b"https://e.example/", QUOTED, 2000000,
          None, SITE, path="/search", query=(("q", "50% off"),)),
    # A URL in a query, encoded and not; nothing sent, and no headers.
    Visit("192.0.2.13", None, "GET", b"/go%2Fx/%2541?u=https%3A%2F%2Fe.example%2F%3Fa%3D1%26b&v=http://e.example/y?z=%2541",
          "HTTP/1.1", 301, 178, b"https://e.example/?u=https://x.example/?y", FIREFOX, 3000000, None, SITE, path="/go/x/%41",
          query=(("u", "https://e.example/?a=1&b"), ("v", "http://e.example/y?z=%41"))),
    Visit("192.0.2.14", None, "GET", b"/", "HTTP/1.0", 304, 0, None, None, 0, None, SITE, path="/"),
    # The client went away; an hour and 5 GiB; no request of HTTP; bytes that are not ASCII.
    Visit("192.0.2.15", None, "POST", b"/api/items", "HTTP/1.1", 499, 0, None, b"curl/8.5.0", 60000000000, None, SITE,
          path="/api/items"),
    Visit("192.0.2.16", None, "GET", b"/big.iso", "HTTP/1.1", 200, 5368709120, None, b"Wget/1.21.4", 3723004567000, None, SITE,
          path="/big.iso"),
    Visit("192.0.2.17", None, None, b"\x16\x03\x01\xff", None, 400, 157, None, None, 0, None, None),
    Visit("192.0.2.18", None, "GET", "/東京/\xfc?q=ü".encode(), "HTTP/1.1", 200, 12, "https://e.example/é".encode(),
          "Agent/é 1.0".encode(), 4000000, None, SITE, path="/東京/ü", query=(("q", "ü"),)),
]  # fmt: skip
TEN = [visit._replace(time=visit.time + timedelta(seconds=n)) for n, visit in enumerate(TEN)]
# Of products that do not log the ninth: a request without headers.
REFUSED = TEN[8]._replace(method="HEAD", target=b"/", protocol="HTTP/1.1", path="/")


# --- how products escape --------------------------------------------------------------------------------------------


def escaping(names, other, printable=range(32, 127)):
    """Escapes of bytes: those that have a name, and a format for those that are not printable."""
    table = [bytes([c]) if c in printable else other % c for c in range(256)]
    for key, name in names.items():
        table[ord(key)] = name
    return lambda text: b"".join(table[c] for c in text)


LETTERS = {"\n": rb"\n", "\t": rb"\t", "\r": rb"\r"}
C_NAMES = LETTERS | {"\b": rb"\b", "\f": rb"\f"}
SLASHES = {'"': rb"\"", "\\": rb"\\"}
apache = escaping(LETTERS | SLASHES | {"\b": rb"\b", "\v": rb"\v"}, rb"\x%02x")  # ap_escape_logitem()
nginx = escaping({'"': rb"\x22", "\\": rb"\x5C"}, rb"\x%02X")  # ngx_http_log_escape()
lighttpd = escaping(LETTERS | SLASHES, rb"\x%02X")
nginx_json = escaping(C_NAMES | SLASHES, rb"\u%04X", range(32, 256))  # ngx_escape_json()
haproxy = escaping({'"': b"#22", "#": b"#23"}, b"#%02X")
# OpenLiteSpeed, AccessLog::appendEscape()
litespeed = escaping(SLASHES, rb"\x%02x")
python_repr = escaping(LETTERS | SLASHES, rb"\x%02x")  # Twisted: repr() of bytes
gunicorn = escaping({'"': rb"\""}, b"%c", range(256))
tomcat = escaping(LETTERS | SLASHES | {"\f": rb"\f"}, rb"\u%04x")  # AbstractAccessLogValve.escapeAndAppend()
cloudfront = escaping({c: b"%%%02X" % ord(c) for c in ' "<>#%{}|\\^~[]`'}, b"%%%02X")
csv = escaping({'"': b'""'}, b"%c", range(256))
encoded = escaping({c: b"%%%02X" % ord(c) for c in ' "\\<>{}|^`'}, b"%%%02X")


def raw(text):
    return text


GO_NAMES = C_NAMES | SLASHES | {"\a": rb"\a", "\v": rb"\v"}


def go(text):
    """%q: printable text stays."""
    if text.isascii():
        return escaping(GO_NAMES, rb"\x%02x")(text)
    shown = escaping(GO_NAMES, rb"\x%02x", range(32, 256))(text).decode(errors="surrogateescape")
    return re.sub("[\udc80-\udcff]", lambda match: f"\\x{ord(match[0]) - 0xDC00:02x}", shown).encode()


def logrus(text):
    """Quotes around what has another character than these."""
    return text if re.fullmatch(rb"[\w.@^+/-]*", text) and text else b'"' + go(text) + b'"'


# --- what a template may name ---------------------------------------------------------------------------------------


def shown(text):
    """A text of a record: bytes that are no UTF-8 are triplets."""
    text = None if text is None else text.decode(errors="surrogateescape")
    return text and re.sub("[\udc80-\udcff]", lambda match: f"%{ord(match[0]) - 0xDC00:02X}", text)


def request(v):
    if v.method is None:
        return v.target, {"method": None, "target": shown(v.target), "protocol": None, "path": None}
    text = b"%s %s %s" % (v.method.encode(), v.target, v.protocol.encode())
    return text, {"method": v.method, "protocol": v.protocol, **target(v)[1]}


def target(v):
    return v.target, {"target": shown(v.target), "path": v.path, "query": v.query}


def url(v, scheme="https", port=""):
    text = f"{scheme}://{v.host or SITE}{port}".encode() + v.target
    return text, {"target": shown(text), "path": v.path, "query": v.query}


def uri(v):
    """The path as it was sent, without the query."""
    return v.target.partition(b"?")[0], {"path": v.path}


def query(v):
    return v.target.partition(b"?")[2] or None, {"query": v.query}


def decoded(v):
    return unquote_to_bytes(uri(v)[0]), {"path": v.path}


def bracketed(v):
    return f"[{v.client}]" if ":" in v.client else v.client


def go_duration(ns):
    """time.Duration.String()."""
    if ns < 10**9:
        for size, unit in (10**6, "ms"), (10**3, "µs"), (1, "ns"):
            if ns >= size:
                return f"{Decimal(ns) / size:f}" + unit
        return "0s"
    minutes, seconds = divmod(ns, 60 * 10**9)
    text = f"{(Decimal(seconds) / 10**9).normalize():f}s"
    if minutes:
        text = f"{minutes % 60}m{text}"
    return f"{minutes // 60}h{text}" if minutes >= 60 else text


def number(unit, digits=0):
    """The duration in this many nanoseconds, cut off after some digits."""

    def written(v):
        value = Decimal(v.duration // (unit // 10**digits)).scaleb(-digits)
        return (value if digits else int(value)), {"duration": float(value * unit / 10**9)}

    return written


def time(form):
    """strftime(), with %L for milliseconds, %N for nanoseconds, and %s for seconds since 1970."""
    digits = 6 if "%f" in form or "%N" in form else 3 if "%L" in form else 0

    def written(v):
        micros = f"{v.time.microsecond:06d}"
        text = (
            form.replace("%s", f"{v.time.timestamp():.6f}"[:-7]).replace("%L", micros[:3]).replace("%N", micros + "789")
        )
        text = v.time.strftime(text)
        known = v.time.replace(microsecond=int(micros[:digits].ljust(6, "0")))
        if not re.search(r"%s|Z$|[+-]0", form):
            known = known.replace(tzinfo=None)
        is_number = form.startswith("%s")
        return (Decimal(text) if "." in text else int(text)) if is_number else text, {"time": known}

    return written


def known(field, value):
    """A value as it is."""
    return lambda v: ((found := value(v)), {field: shown(found) if isinstance(found, bytes) else found})


def bad_referer(v):
    """Jupyter Server writes it of errors only."""
    return (f" referer={(v.referer or b'None').decode(errors='replace')}" if v.status >= 400 else ""), {
        "referer": shown(v.referer) if v.status >= 400 else None
    }


NAMES = {
    "NOSRV": lambda v: ("<NOSRV>", {}),
    "BADREQ": lambda v: ("<BADREQ>", {"target": "<BADREQ>"}),
    "pid": lambda v: ("<0.345.0>", {}),  # of Erlang
    "date": lambda v: (f"{v.time:%Y-%m-%d}", {}),
    "clock": lambda v: (f"{v.time:%H:%M:%S}", {"time": v.time.replace(microsecond=0)}),
    "client": known("client", lambda v: v.client),
    "endpoint": lambda v: (f"{bracketed(v)}:40012", {"client": v.client}),
    "address:port": lambda v: (f"{v.client}:40012", {"client": v.client}),
    "user": known("user", lambda v: v.user),
    '"user"': lambda v: (v.user and Quoted(b'"%s"' % v.user.encode()), {"user": v.user}),
    "user or None": lambda v: (v.user or "None", {"user": v.user}),
    "source IPs": lambda v: (
        [*v.forwarded.split(", "), v.client] if v.forwarded else [v.client],
        {"client": v.forwarded.split(", ")[0] if v.forwarded else v.client},
    ),
    "through": lambda v: (
        ",".join([*v.forwarded.split(", "), v.client]) if v.forwarded else v.client,
        {"client": v.client, "forwarded_for": tuple(v.forwarded.split(", ")) if v.forwarded else None},
    ),
    "request": request,
    "method": known("method", lambda v: v.method),
    "verb": lambda v: (v.method.lower(), {"method": v.method.lower()}),
    "target": target,
    "url": url,
    "url:443": lambda v: url(v, "https", ":443"),
    "http-url": lambda v: url(v, "http"),
    "uri": uri,
    "decoded": decoded,
    # If it has a triplet, it is read as a target: so says the guide.
    "decoded or not": lambda v: (decoded(v)[0], {"path": unquote(decoded(v)[0].decode(errors="replace"))}),
    "query": query,
    "?query": lambda v: ("?" + query(v)[0].decode() if query(v)[0] else "", query(v)[1]),
    "protocol": known("protocol", lambda v: v.protocol),
    "version": lambda v: (v.protocol and v.protocol[5:], {"protocol": v.protocol}),
    "status": known("status", lambda v: v.status),
    "size": known("bytes_sent", lambda v: v.size),
    "size-": lambda v: (v.size or None, {"bytes_sent": v.size or None}),  # "-" for 0
    "referer": known("referer", lambda v: v.referer),
    "bad referer": bad_referer,
    '"referer"': lambda v: (v.referer and Quoted(b'"%s"' % v.referer), {"referer": shown(v.referer)}),
    "referer or dash": lambda v: (v.referer or b"-", {"referer": shown(v.referer)}),
    "agent": known("user_agent", lambda v: v.agent),
    '"agent"': lambda v: (v.agent and Quoted(b'"%s"' % v.agent), {"user_agent": shown(v.agent)}),
    "encoded agent": known("user_agent", lambda v: v.agent and quote(v.agent, safe="")),
    "host": known("vhost", lambda v: v.host),
    "site": lambda v: (SITE, {"vhost": SITE}),  # that the server has
    "forwarded": lambda v: (v.forwarded, {"forwarded_for": tuple(v.forwarded.split(", ")) if v.forwarded else None}),
    "s": lambda v: ((value := Decimal(v.duration).scaleb(-9)), {"duration": float(value)}),
    "s.3": number(10**9, 3), "s.4": number(10**9, 4), "s.6": number(10**9, 6), "s.9": number(10**9, 9),
    "ms": number(10**6), "ms.2": number(10**6, 2), "ms.3": number(10**6, 3), "ms.4": number(10**6, 4), "ms.6": number(10**6, 6),
    "us": number(10**3), "ns": number(1),
    "go": lambda v: (go_duration(v.duration), {"duration": v.duration / 10**9}),
}  # fmt: skip


class Writer(NamedTuple):
    """How a product writes; head is what precedes the first line."""

    template: str | dict
    escape: object = raw
    missing: str | None = "-"
    invalid: str | None = None  # the template of the ninth visit; None if it is not logged, as REFUSED instead
    head: str = ""
    change: object = None  # of a visit, before it is logged
    ninth: dict = {}  # noqa: RUF012 - what else can be known from the line of the ninth visit


class Quoted(bytes):
    """A text that is not escaped."""


def value_of(name, visit):
    return (time(name[2:]) if name.startswith("t ") else NAMES[name])(visit)


def written(writer, visit):
    """A line, and the fields that can be known from it."""
    template = writer.template
    if visit.method is None:
        if writer.invalid is None:
            visit = REFUSED
        elif writer.invalid:
            template = writer.invalid
    if writer.change:
        visit = writer.change(visit)
    fields = {}

    def text_of(match):
        value, found = value_of(match[1], visit)
        fields.update(found)
        if value is None:
            return writer.missing.encode("latin-1")
        if isinstance(value, Quoted):
            return value
        return writer.escape(value if isinstance(value, bytes) else str(value).encode())

    def member(value):
        if isinstance(value, dict):
            return {key: inner for key, each in value.items() if (inner := member(each)) is not None}
        if isinstance(value, list):
            found = [member(each) for each in value]
            return [each for each in found if each is not None and (not isinstance(each, dict) or len(each) > 1)]
        if not isinstance(value, str):
            return value
        name = re.fullmatch("<([^<>]+)>(s?)", value)
        if name is None:
            return re.sub("<([^<>]+)>", lambda match: text_of(match).decode(errors="replace"), value)
        found, new = value_of(name[1], visit)
        fields.update(new)
        if found is None:
            return writer.missing
        if isinstance(found, bytes):
            found = writer.escape(found).decode(errors="replace")
        elif isinstance(found, Decimal):
            found = float(found)
        return str(found) if name[2] else found

    if template is writer.invalid:
        fields.update(writer.ninth)
    if isinstance(template, dict):
        line = json.dumps(member(template), ensure_ascii=False, separators=(",", ":")).encode()
    else:
        line = re.sub(
            rb"<([^<> ]+|bad referer|user or None|t [^<>]+)>",
            lambda m: text_of([None, m[1].decode()]),
            template.encode(),
        )
    return line, fields


# --- the products of the named formats ------------------------------------------------------------------------------

CLF = "<t %d/%b/%Y:%H:%M:%S +0000>"
START = f'<client> - <user> [{CLF}] "<request>" <status> '
HEADERS = ' "<referer>" "<agent>"'


def latin_1(visit):
    """The request, decoded as ISO-8859-1."""
    if visit.target.isascii():
        return visit
    target = visit.target.decode("latin-1").encode()
    return visit._replace(target=target, path=uri(visit)[0].decode("latin-1"), query=(("q", "Ã¼"),))


def quoted(visit):
    """The path encoded, the query as it was sent, which frameworks refuse if it is not ASCII."""
    if visit.target.isascii():
        return visit
    return visit._replace(target=quote("/東京/").encode() + b"%FC?q=%C3%BC", path="/東京/%FC")


def valid(visit):
    """Of servers that refuse bytes that are no UTF-8, or replace them."""
    return visit._replace(target=visit.target.replace(b"\xfc", "ü".encode()), path=visit.path)


def nobody(visit):
    """Of formats that are read only if there is no user."""
    return quoted(visit)._replace(user=None)


def http2(visit):
    return visit._replace(protocol="HTTP/2") if ":" in visit.client else visit


ENVOY_START = '[<t %Y-%m-%dT%H:%M:%S.%LZ>] "<request>" <status> - '
ENVOY = '0 <size> <ms> 11 "<forwarded>" "<agent>" "8f2a7c1e-6c3b-9d2e" "<host>" "10.1.2.3:8080"'
NO_REQUEST = '[<t %Y-%m-%dT%H:%M:%S.%LZ>] "- - HTTP/1.1" <status> DPE '
ISTIO = (
    'via_upstream - "-" '
    + ENVOY
    + " outbound|80||web.default.svc.cluster.local 10.1.2.4:41000 10.1.2.4:8080 <endpoint> - default"
)
ENVOY_MEMBERS = {
    "start_time": "<t %Y-%m-%dT%H:%M:%S.%LZ>", "method": "<method>", "protocol": "<protocol>", "response_code": "<status>",
    "response_flags": "-", "response_code_details": "via_upstream", "connection_termination_details": None, "bytes_received": 0,
    "bytes_sent": "<size>", "duration": "<ms>", "upstream_host": "10.1.2.3:8080", "upstream_cluster": "web", "route_name": "default",
    "upstream_local_address": "10.1.2.4:41000", "downstream_local_address": "10.1.2.4:8080",
    "downstream_remote_address": "<endpoint>", "requested_server_name": None,
}  # fmt: skip
HAPROXY = "<address:port> [<t %d/%b/%Y:%H:%M:%S.%L>] http-in static/srv1 10/0/30/69/<ms> <status> <size> - - ---- 1/1/1/1/0 0/0 "
ARN = "arn:aws:elasticloadbalancing:us-east-2:123456789012:targetgroup/my-targets/73e2d6bc24d8a067"
ALB_END = (
    f'ECDHE-RSA-AES128-GCM-SHA256 TLSv1.2 {ARN} "Root=1-58337281-1d84f3d73c47ec4e58577259" "<host>" '
    '"arn:aws:acm:us-east-2:123456789012:certificate/12345678" 0 2024-10-10T13:55:36.000000Z "forward" "-" "-" '
    '"10.0.0.1:80" "200" "-" "-" TID_1234abcd5678ef90'
)
ALB_TIME = "<t %Y-%m-%dT%H:%M:%S.%fZ>"
CLOUDFRONT = (
    "date time x-edge-location sc-bytes c-ip cs-method cs(Host) cs-uri-stem sc-status cs(Referer) cs(User-Agent) cs-uri-query "
    "cs(Cookie) x-edge-result-type x-edge-request-id x-host-header cs-protocol cs-bytes time-taken x-forwarded-for "
    "ssl-protocol ssl-cipher x-edge-response-result-type cs-protocol-version fle-status fle-encrypted-fields c-port "
    "time-to-first-byte x-edge-detailed-result-type sc-content-type sc-content-len sc-range-start sc-range-end"
)
CLOUDFRONT_LINE = (
    "<date>\t<clock>\tFRA2-C1\t<size>\t<client>\t<method>\td111111abcdef8.cloudfront.net\t<uri>\t<status>\t"
    "<referer>\t<agent>\t<query>\t-\tMiss\tSOX4xwn4XV6Q4rgb7XiVGOHms_BGlTAC4KyHmureZmBNrjGdRLiNIQ==\t<site>\thttps\t23\t<s.3>\t"
    "<forwarded>\tTLSv1.3\tTLS_AES_128_GCM_SHA256\tMiss\t<protocol>\t-\t-\t40012\t0.001\tMiss\ttext/html\t78\t-\t-"
)
IIS = "date time s-ip cs-method cs-uri-stem cs-uri-query s-port cs-username c-ip cs(User-Agent) cs(Referer) sc-status sc-substatus sc-win32-status time-taken"
GCS_NAMES = "time_micros c_ip c_ip_type c_ip_region cs_method cs_uri sc_status cs_bytes sc_bytes time_taken_micros cs_host cs_referer cs_user_agent s_request_id cs_operation cs_bucket cs_object"
GCS = "<t %s%f>,<client>,1,,<method>,<target>,<status>,0,<size>,<us>,<host>,<referer>,<agent>,ABCD,GET_Object,bucket,object"
LTSV_APACHE = (
    f"host:<client>\tident:-\tuser:<user>\ttime:[{CLF}]\treq:<request>\tmethod:<method>\turi:<target>\tprotocol:<protocol>\t"
    "status:<status>\tsize:<size>\treqsize:432\treferer:<referer>\tua:<agent>\tvhost:<host>\treqtime_microsec:<us>\tcache:-"
)


def json_text(members, escape=nginx_json, missing=""):
    """An object that a server writes as a text."""
    return Writer("{" + ",".join(f'"{key}":"{value}"' for key, value in members.items()) + "}", escape, missing, "")


WRITERS = {
    # Apache, nginx and what has their formats.
    "common": Writer(START + "<size->", apache, invalid=""),
    "combined": Writer(START + "<size->" + HEADERS, apache, invalid=""),
    "vhost_combined": Writer("<site>:443 " + START + "<size>" + HEADERS, apache, invalid=""),
    "combined-forwarded": Writer("<forwarded> " + START + "<size->" + HEADERS, apache, invalid=""),
    "nginx": Writer(START + "<size>" + HEADERS + ' "<forwarded>"', nginx, invalid=""),
    "nginx-ingress": Writer(
        START + "<size>" + HEADERS + " 432 <s.3> [default-web-80] [] 10.1.2.3:8080 5316 0.011 200 6f1ed002ab5595859014ebf0951522d9",
        nginx,
        invalid=START + "<size>" + HEADERS + " 0 <s.3> [] [] - - - - 6f1ed002ab5595859014ebf0951522d8",
    ),
    "nginx-json": json_text({
        "time_iso8601": "<t %Y-%m-%dT%H:%M:%S+00:00>", "remote_addr": "<client>", "remote_user": "<user>", "request": "<request>",
        "status": "<status>", "body_bytes_sent": "<size>", "request_time": "<s.3>", "http_referer": "<referer>",
        "http_user_agent": "<agent>", "http_x_forwarded_for": "<forwarded>", "http_host": "<host>",
    }),
    "apisix": Writer(
        f'<client> - <user> [{CLF}] <host> "<request>" <status> <size> <s.3>{HEADERS} 127.0.0.1:1980 200 0.012 "http://<host>"',
        nginx,
        invalid=f'<client> - <user> [{CLF}] <host> "<request>" <status> <size> <s.3>{HEADERS} - - - "http://"',
    ),
    "nginx-proxy-manager": Writer(
        f'[{CLF}] - 200 <status> - <method> https <host> "<target>" [Client <client>] [Length <size>] [Gzip -] '
        '[Sent-to 10.1.2.3] "<agent>" "<referer>"',
        nginx,
        invalid=f'[{CLF}] - - <status> - - http localhost-nginx-proxy-manager "-" [Client <client>] [Length <size>] [Gzip -] '
        '[Sent-to 10.1.2.3] "<agent>" "<referer>"',
        ninth={"vhost": "localhost-nginx-proxy-manager"},
    ),
    "lighttpd": Writer(f'<client> <site> <user> [{CLF}] "<request>" <status> <size>{HEADERS}', lighttpd, invalid=""),
    "litespeed": Writer('"' + START + "<size>" + HEADERS + '"', litespeed, invalid="", change=http2),
    "twisted": Writer(f'"<client>" - - [{CLF}] "<request>" <status> <size->' + HEADERS, python_repr),
    "ltsv": Writer(LTSV_APACHE, apache),
    "nginx-ltsv": Writer(
        f"time_local:{CLF}\tremote_addr:<client>\tremote_user:<user>\trequest:<request>\tstatus:<status>\tbody_bytes_sent:<size>\t"
        "http_referer:<referer>\thttp_user_agent:<agent>\trequest_time:<s.3>\thttp_x_forwarded_for:<forwarded>\thttp_host:<host>",
        nginx,
        invalid="",
    ),
    "splunk-apache": Writer(
        'time=<t %s.%f>, bytes_in=432, bytes_out=<size>, cookie="-", server=<site>, dest_port=443, http_content_type="text/html", '
        'http_method="<method>", http_referrer="<referer>", http_user_agent="<agent>", ident="-", response_time_microseconds=<us>, '
        'client=<client>, status=<status>, uri_path="<decoded>", uri_query="<?query>", user="<user>"',
        apache,
    ),
    "splunk-nginx": Writer(
        'site="<site>" server="10.0.0.1" dest_port="443" dest_ip="10.0.0.1" src="<client>" src_ip="<client>" user="<user>" '
        f'time_local="{CLF}" protocol="<protocol>" status="<status>" bytes_out="<size>" bytes_in="-" http_referer="<referer>" '
        'http_user_agent="<agent>" nginx_version="1.27.2" http_x_forwarded_for="<forwarded>" http_x_header="-" '
        'uri_query="<query>" uri_path="<decoded>" http_method="<method>" response_time="0.015" cookie="-" request_time="<s.3>" '
        'category="text/html" https="on"',
        nginx,
    ),
    # Proxies and load balancers.
    "caddy": Writer({
        "level": "info", "ts": "<t %s.%f>", "logger": "http.log.access.log0", "msg": "handled request",
        "request": {
            "remote_ip": "<client>", "remote_port": "41342", "client_ip": "<client>", "proto": "<protocol>", "method": "<method>",
            "host": "<host>", "uri": "<target>",
            "headers": {"User-Agent": ["<agent>"], "Accept": ["*/*"], "Referer": ["<referer>"], "X-Forwarded-For": ["<forwarded>"]},
        },
        "bytes_read": 0, "user_id": "<user>", "duration": "<s>", "size": "<size>", "status": "<status>",
        "resp_headers": {"Server": ["Caddy"], "Content-Type": ["text/html; charset=utf-8"]},
    }, missing=None, change=valid),
    "traefik": Writer(START + "<size>" + HEADERS + ' 7 "web@docker" "http://10.1.2.3:80" <ms>ms', raw, change=valid),
    "traefik-json": Writer({
        "ClientAddr": "<endpoint>", "ClientHost": "<client>", "ClientPort": "40012", "ClientUsername": "<user>",
        "DownstreamContentSize": "<size>", "DownstreamStatus": "<status>", "Duration": "<ns>", "OriginContentSize": 1,
        "OriginDuration": 2, "OriginStatus": 200, "Overhead": 3, "RequestAddr": "<host>", "RequestContentSize": 0,
        "RequestCount": 7, "RequestHost": "<host>", "RequestMethod": "<method>", "RequestPath": "<target>", "RequestPort": "-",
        "RequestProtocol": "<protocol>", "RequestScheme": "https", "RetryAttempts": 0, "RouterName": "web@docker",
        "ServiceAddr": "10.1.2.3:80", "StartLocal": "<t %Y-%m-%dT%H:%M:%S.%NZ>", "StartUTC": "<t %Y-%m-%dT%H:%M:%S.%NZ>",
        "entryPointName": "websecure", "level": "info", "msg": "", "request_Referer": "<referer>",
        "request_User-Agent": "<agent>", "request_X-Forwarded-For": "<forwarded>", "time": "2024-10-10T14:55:00Z",
    }, change=valid),
    "envoy": Writer(ENVOY_START + ENVOY, raw, invalid=NO_REQUEST + ENVOY, change=http2, ninth={"protocol": "HTTP/1.1"}),
    "envoy-json": Writer(
        ENVOY_MEMBERS | {"path": "<target>", "x_forwarded_for": "<forwarded>", "user_agent": "<agent>", "request_id": "8f2a", "authority": "<host>"},
        missing=None, change=valid,
    ),
    "envoy-gateway": Writer(
        ENVOY_MEMBERS | {"x-envoy-origin-path": "<target>", "x-forwarded-for": "<forwarded>", "user-agent": "<agent>", ":authority": "<host>"},
        missing=None, change=valid,
    ),
    "contour": Writer({
        "@timestamp": "<t %Y-%m-%dT%H:%M:%S.%LZ>", "authority": "<host>", "bytes_received": 0, "bytes_sent": "<size>",
        "downstream_local_address": "10.1.2.4:8080", "downstream_remote_address": "<endpoint>", "duration": "<ms>",
        "method": "<method>", "path": "<target>", "protocol": "<protocol>", "request_id": "8f2a", "requested_server_name": None,
        "response_code": "<status>", "response_flags": "-", "uber_trace_id": None, "upstream_cluster": "default_web_80",
        "upstream_host": "10.1.2.3:8080", "upstream_local_address": "10.1.2.4:41000", "upstream_service_time": "11",
        "user_agent": "<agent>", "x_forwarded_for": "<forwarded>", "grpc_status": None, "grpc_status_number": None,
    }, missing=None, change=valid),
    "pomerium": Writer({
        "level": "info", "server-name": "all", "service": "envoy", "upstream-cluster": "web", "method": "<method>",
        "authority": "<host>", "path": "<target>", "user-agent": "<agent>", "referer": "<referer>", "forwarded-for": "<forwarded>",
        "request-id": "8f2a", "duration": "<ms.6>", "size": "<size>", "response-code": "<status>",
        "response-code-details": "via_upstream", "time": "<t %Y-%m-%dT%H:%M:%SZ>", "message": "http-request",
    }, missing="", change=valid),
    "linkerd": Writer({
        "client.addr": "<endpoint>", "client.id": "-", "host": "<host>", "method": "<method>", "processing_ns": "39826",
        "request_bytes": "", "response_bytes": "<size>s", "status": "<status>", "timestamp": "<t %Y-%m-%dT%H:%M:%S.%NZ>",
        "total_ns": "<ns>s", "trace_id": "", "uri": "<http-url>", "user_agent": "<agent>", "version": "<protocol>",
    }, missing="", change=valid),
    "haproxy": Writer(
        HAPROXY + '"<request>"', haproxy,
        invalid='<address:port> [<t %d/%b/%Y:%H:%M:%S.%L>] http-in http-in/<NOSRV> -1/-1/-1/-1/<ms> <status> <size> - - PR-- 1/1/0/0/0 0/0 "<BADREQ>"',
    ),
    "s3": Writer(
        f"79a59df900b949e55d96 amzn-s3-demo-bucket1 [{CLF}] <client> <user> 3E57427F3EXAMPLE REST.GET.OBJECT a.jpg "
        f'"<request>" <status> - <size-> 2048 <ms> 6{HEADERS} - s9lzHYrFp76ZVxRcpX9+5cjAnEH2= SigV4 ECDHE-RSA-AES128-GCM-SHA256 '
        "AuthHeader <host> TLSv1.2 - -",
        raw,
        invalid=f"79a59df900b949e55d96 amzn-s3-demo-bucket1 [{CLF}] - AmazonS3 A1206F460EXAMPLE S3.EXPIRE.OBJECT a.jpg - - - - 2048 "
        "- - - - - s9lzHYrFp76ZVxRcpX9+5cjAnEH2= - - - -",
        ninth={"user": "AmazonS3"},
    ),
    "cloudfront": Writer(CLOUDFRONT_LINE, cloudfront, head=f"#Version: 1.0\n#Fields: {CLOUDFRONT}\n"),
    "cloudfront-json": Writer(
        dict(zip(CLOUDFRONT.split(), CLOUDFRONT_LINE.split("\t"), strict=True)), cloudfront,
    ),
    "alb": Writer(
        f'https {ALB_TIME} app/my-lb/50dc6c495c0c9188 <endpoint> 10.0.0.1:80 0.001 <s.3> 0.000 <status> 200 432 <size> '
        f'"<method> <url:443> <protocol>" "<agent>" {ALB_END}',
        nginx,
        invalid=f'http {ALB_TIME} app/my-lb/50dc6c495c0c9188 <endpoint> - -1 -1 -1 <status> - 0 <size> "- http://10.0.0.2:80- " "<agent>" '
        f'- - - "-" "-" "-" - {ALB_TIME} "-" "-" "-" "-" "-" "-" "-" TID_1234abcd5678ef90',
        ninth={"target": "- http://10.0.0.2:80- "},
    ),
    "elb": Writer(
        f'{ALB_TIME} my-lb <address:port> 10.0.0.1:80 0.000073 <s.6> 0.000057 <status> 200 0 <size> "<method> <url:443> <protocol>" '
        '"<agent>" DHE-RSA-AES128-SHA TLSv1.2',
        nginx,
        invalid=f'{ALB_TIME} my-lb <address:port> - -1 -1 -1 <status> 0 0 <size> "- - - " "<agent>" - -',
        ninth={"target": "- - - "},
    ),
    "nlb": Writer(
        "tls 2.0 <t %Y-%m-%dT%H:%M:%S> net/my-lb/c6e77e28c25b2234 g3d4b5e8bb8464cd <address:port> 10.0.0.1:443 <ms> 2 98 <size> - "
        "arn:aws:acm:us-east-2:671290407336:certificate/2a108f19 - ECDHE-RSA-AES128-SHA tlsv12 - <site> - - - 2024-10-10T13:55:30",
    ),
    "gcp-lb": Writer({
        "httpRequest": {
            "cacheLookup": True, "latency": "<s.6>s", "protocol": "<protocol>", "referer": "<referer>", "remoteIp": "<client>",
            "requestMethod": "<method>", "requestSize": "432", "requestUrl": "<url>", "responseSize": "<size>s", "serverIp": "10.1.2.3",
            "status": "<status>", "userAgent": "<agent>",
        },
        "insertId": "1oek5rg3l3fxj7", "jsonPayload": {"@type": "type.googleapis.com/x", "statusDetails": "response_sent_by_backend"},
        "logName": "projects/p/logs/requests", "receiveTimestamp": "2024-10-10T14:55:36.9Z", "severity": "INFO",
        "resource": {"type": "http_load_balancer", "labels": {"backend_service_name": "web"}}, "spanId": "c8cbe6ff",
        "timestamp": "<t %Y-%m-%dT%H:%M:%S.%fZ>",
    }, missing=None, change=valid),
    "gcs": Writer('"' + GCS.replace(",", '","') + '"', csv, "", head='"' + GCS_NAMES.replace(" ", '","') + '"\n', change=quoted),
    "cloudflare": Writer({
        "ClientIP": "<client>", "ClientRequestHost": "<host>", "ClientRequestMethod": "<method>", "ClientRequestURI": "<target>",
        "ClientRequestProtocol": "<protocol>", "ClientRequestReferer": "<referer>", "ClientRequestUserAgent": "<agent>",
        "EdgeEndTimestamp": "2024-10-10T14:55:37Z", "EdgeResponseBytes": "<size>", "EdgeResponseStatus": "<status>",
        "EdgeStartTimestamp": "<t %Y-%m-%dT%H:%M:%SZ>", "RayID": "3a6050bcbe121a87",
    }, missing="", change=valid),
    "fastly": json_text({
        "timestamp": "<t %Y-%m-%dT%H:%M:%S+0000>", "client_ip": "<client>", "geo_country": "austria", "geo_city": "vienna",
        "host": "<host>", "url": "<target>", "request_method": "<method>", "request_protocol": "<protocol>",
        "request_referer": "<referer>", "request_user_agent": "<agent>", "response_state": "MISS", "response_status": "<status>",
        "response_reason": "OK", "response_body_size": "<size>", "fastly_server": "cache-vie6330", "fastly_is_edge": "true",
    })._replace(invalid=None),
    "azure": Writer({
        "time": "<t %Y-%m-%dT%H:%M:%S.%fZ>", "resourceId": "/SUBSCRIPTIONS/X/PROVIDERS/MICROSOFT.CDN/PROFILES/E",
        "category": "FrontDoorAccessLog", "operationName": "Microsoft.Cdn/Profiles/AccessLog/Write",
        "properties": {
            "trackingReference": "0GMAX0", "httpMethod": "<method>", "httpVersion": "<version>", "requestUri": "<url:443>",
            "sni": "<host>", "requestBytes": "341", "responseBytes": "<size>s", "userAgent": "<agent>", "clientIp": "<client>",
            "clientPort": "51044", "socketIp": "<client>", "timeToFirstByte": "0.105", "timeTaken": "<s.3>s", "requestProtocol": "HTTPS",
            "securityProtocol": "TLS 1.3", "endpoint": "e.azurefd.net", "httpStatusCode": "<status>s", "pop": "FRA",
            "cacheStatus": "MISS", "errorInfo": "NoError", "hostName": "<host>", "referer": "<referer>",
        },
    }, missing="", change=valid),
    "apigateway": Writer({
        "requestId": "c6af9ac6-7b61-11e6-9a41-93e8deadbeef", "extendedRequestId": "JKJaXmPLvHcESHA=", "ip": "<client>", "caller": "-",
        "user": "<user>", "requestTime": CLF, "httpMethod": "<method>", "resourcePath": "/{proxy+}", "path": "<uri>",
        "status": "<status>s", "protocol": "<protocol>", "responseLength": "<size>s",
    }, change=quoted),
    "apigateway-clf": Writer(
        f'<client> - <user> [{CLF}]"<request>" <status> <size> c6af9ac6-7b61-11e6-9a41-93e8deadbeef JKJaXmPLvHcESHA=',
        change=lambda v: v._replace(target=b"/pets/{id}", path="/pets/{id}", query=None),
    ),
    "aws-waf": Writer({
        "timestamp": "<t %s%L>", "formatVersion": 1, "webaclId": "arn:aws:wafv2:us-east-1:1:regional/webacl/A/1",
        "terminatingRuleId": "Default_Action", "terminatingRuleType": "REGULAR", "action": "ALLOW", "httpSourceName": "ALB",
        "httpRequest": {
            "clientIp": "<client>", "country": "AT",
            "headers": [
                {"name": "Host", "value": "<host>"}, {"name": "User-Agent", "value": "<agent>"},
                {"name": "referer", "value": "<referer>"}, {"name": "X-Forwarded-For", "value": "<forwarded>"},
            ],
            "uri": "<uri>", "args": "<query>", "httpVersion": "<protocol>", "httpMethod": "<method>", "requestId": "1-abc",
        },
    }, missing=None, change=valid),
    "kong": Writer({
        "request": {
            "id": "4b1d", "method": "<method>", "uri": "<target>", "url": "https://www.example.com/", "size": 137, "querystring": {},
            "headers": {"host": "<host>", "user-agent": "<agent>", "referer": "<referer>", "x-forwarded-for": "<forwarded>"},
        },
        "response": {"status": "<status>", "size": "<size>", "headers": {"via": "1.1 kong/3.8.0"}},
        "latencies": {"kong": 1, "proxy": 3, "request": "<ms>", "receive": 0}, "client_ip": "<client>", "started_at": "<t %s%L>",
        "service": {"name": "web", "host": "10.1.2.3"}, "route": {"name": "all"}, "consumer": {"username": "<user>"},
        "upstream_uri": "/", "tries": [], "workspace": "w",
    }, missing=None, change=valid),
    "heroku": Writer(
        "<t %Y-%m-%dT%H:%M:%S.%f+00:00> heroku[router]: at=info method=<method> path=\"<target>\" host=<host> request_id=8601b555 "
        'fwd="<forwarded>" dyno=web.1 connect=1ms service=<ms>ms status=<status> bytes=<size> protocol=https tls=true tls_version=tls1.3',
        raw, change=lambda v: quoted(v)._replace(host=SITE, forwarded=v.forwarded or v.client),
    ),
    "vercel": Writer({
        "id": "1573817187330377061717300000", "deploymentId": "dpl_2", "source": "lambda", "host": "my-app-abc123.vercel.app",
        "timestamp": 1741767302123, "projectId": "prj_9", "level": "info", "message": "", "path": "/[route]", "statusCode": 200,
        "proxy": {
            "timestamp": "<t %s%L>", "method": "<method>", "host": "<site>", "path": "<target>", "userAgent": ["<agent>"],
            "referer": "<referer>", "region": "sfo1", "statusCode": "<status>", "clientIp": "<client>", "scheme": "https",
            "responseByteSize": "<size>", "vercelCache": "MISS",
        },
    }, missing=None, change=valid),
    "akamai": Writer({
        "version": 1, "streamId": "12345", "cp": "123456", "reqId": "1239f220", "reqTimeSec": "<t %s.%L>s", "bytes": "<size>s",
        "cliIP": "<client>", "statusCode": "<status>s", "proto": "HTTPS", "reqHost": "<host>", "reqMethod": "<method>",
        "reqPath": "<uri>", "reqPort": "443", "rspContentType": "text/html", "tlsVersion": "TLSv1.3", "queryStr": "<query>",
        "UA": "<encoded agent>", "xForwardedFor": "<forwarded>", "edgeIP": "198.51.100.9", "country": "AT",
    }, missing=None, change=quoted),
    "bunny": Writer(
        "HIT|<status>|<t %s%L>|<size>|390|<client>|<referer>|<url>|WA|<agent>|322b688bd63fb63f2babe9de30a5d262|DE",
        raw, change=quoted,
    ),
    "alibaba-cdn": Writer(f'[{CLF}] <client> - <ms> "<referer>" "<method> <url>" <status> 191 <size> MISS "<agent>" "text/html"', nginx),
    "alibaba-cdn-json": Writer({
        "unixtime": "<t %s>s", "domain": "<host>", "method": "<method>", "scheme": "https", "uri": "<uri>", "uri_param": "<query>",
        "client_ip": "<client>", "proxy_ip": "-", "remote_ip": "<client>", "remote_port": "51517", "refer_domain": "",
        "request_size": "301", "request_time": "<ms>s", "response_size": "<size>s", "return_code": "<status>s",
        "server_addr": "198.51.100.9", "server_port": "443", "content_type": "text/html", "hit_info": "HIT", "user_agent": "<agent>",
        "uuid": "0ab1c2", "via_info": "cache1.cn1[14,0]", "xforwordfor": "<forwarded>",
    }, change=quoted),
    "huawei-cdn": Writer({
        "request_time": "<t %s%L>s", "domain": "<host>", "method": "<method>", "scheme": "https", "uri": "<uri>", "uri_param": "<query>",
        "client_ip": "<client>", "http_code": "<status>s", "response_size": "<size>s", "response_time": "<ms>s", "user_agent": "<agent>",
        "hit_info": "HIT", "xforwordfor": "<forwarded>",
    }, change=quoted),
    "tencent-cdn": Writer({
        "app_id": "1250000000", "client_ip": "<client>", "file_size": 512, "hit": "hit", "host": "<host>", "http_code": "<status>",
        "isp": "22", "method": "<method>", "param": "<query>", "proto": "<protocol>", "prov": "66", "referer_url": "<referer>",
        "request_port": "51234", "request_time": "<ms>", "rsp_size": "<size>", "time": "<t %s>", "ua": "<agent>", "url": "<uri>",
    }, missing="", change=quoted),
    "squid": Writer(
        "<t %s.%L> <ms> <client> TCP_MISS/<status> <size> <method> <http-url> <user> HIER_DIRECT/203.0.113.21 text/html", encoded,
        invalid="<t %s.%L> <ms> <client> NONE_NONE/<status> <size> - error:invalid-request - HIER_NONE/- text/html", change=quoted,
        ninth={"target": "error:invalid-request", "path": None},
    ),
    "iis": Writer(
        "<date> <clock> 10.0.0.1 <method> <decoded> <query> 443 <user> <client> <agent> <referer> <status> 0 0 <ms>",
        lambda text: text.replace(b" ", b"+"), head=f"#Software: Microsoft Internet Information Services 10.0\n#Version: 1.0\n#Date: 2024-10-10 13:00:00\n#Fields: {IIS}\n",
        change=valid,
    ),
    "iis-native": Writer("<client>, <user>, 10/10/2024, 13:55:36, W3SVC1, WEB1, 10.0.0.1, <ms>, 432, <size>, <status>, 0, <method>, <decoded>, <query>,", raw, change=valid),
    # Servers and frameworks of languages.
    "combined gunicorn": Writer(START + "<size>" + HEADERS, gunicorn),
    "uvicorn": Writer('INFO:     <address:port> - "<request>" <status> OK', raw, change=quoted),
    "django": Writer('[<t %d/%b/%Y %H:%M:%S>] "<request>" <status> <size>', raw, invalid="", change=latin_1),
    "aiohttp": Writer(f'<client> [{CLF}] "<request>" <status> <size>{HEADERS}', raw, change=quoted),
    "uwsgi": Writer(
        "[pid: 28603|app: 0|req: 22/22] <client> (<user>) {32 vars in 436 bytes} [<t %a %b %e %H:%M:%S %Y>] <method> <target> => "
        "generated <size> bytes in <ms> msecs (<protocol> <status>) 2 headers in 79 bytes (1 switches on core 0)", missing="",
    ),
    "sanic": Writer("[<t %Y-%m-%d %H:%M:%S +0000>] - (sanic.access)[INFO][<address:port>]: <method> <http-url>  <status> <size>", raw, change=quoted),
    "tornado": Writer("[I <t %y%m%d %H:%M:%S> web:2348] <status> <method> <target> (<client>) <ms.2>ms", raw, change=valid),
    "jupyter": Writer("[I <t %Y-%m-%d %H:%M:%S.%L> ServerApp] <status> <method> <target> (<user>@<client>) <ms.2>ms<bad referer>", raw, "", change=valid),
    "odoo": Writer(
        '<t %Y-%m-%d %H:%M:%S,%L> 7 INFO db werkzeug: <client> - - [<t %d/%b/%Y %H:%M:%S>] "<request>" <status> - 12 0.005 0.010', raw, change=quoted,
    ),
    "rack": Writer(START + "<size-> <s.4>", raw, change=valid),
    "lograge": Writer("method=<method> path=<uri> format=html controller=A action=index status=<status> duration=<ms.2> view=40.43 db=15.26", raw, change=quoted),
    "lograge-json": Writer({
        "method": "<method>", "path": "<uri>", "format": "html", "controller": "A", "action": "show", "status": "<status>",
        "time": "<t %Y-%m-%dT%H:%M:%S.%LZ>", "params": [{"key": "a", "value": "b"}], "remote_ip": "<client>", "user_id": 1,
        "username": "<user>", "ua": "<agent>", "correlation_id": "x", "duration_s": "<s.6>", "db_count": 8,
    }, missing=None, change=quoted),
    "morgan": Writer("<client> <user> <method> <target> <protocol> <status> <size-> - <ms.3> ms", raw, change=quoted),
    "pino": Writer({
        "level": 30, "time": "<t %s%L>", "pid": 7, "hostname": "web1",
        "req": {
            "id": 1, "method": "<method>", "url": "<target>", "query": {}, "params": {},
            "headers": {"host": "<host>", "user-agent": "<agent>", "referer": "<referer>", "x-forwarded-for": "<forwarded>"},
            "remoteAddress": "<client>", "remotePort": 64778,
        },
        "res": {"statusCode": "<status>", "headers": {"content-length": "<size>s"}}, "responseTime": "<ms>", "msg": "request completed",
    }, missing=None, change=quoted),
    "express-winston": Writer({
        "level": "info", "message": "HTTP GET /", "timestamp": "<t %Y-%m-%dT%H:%M:%S.%LZ>",
        "meta": {
            "req": {
                "url": "<target>", "method": "<method>", "httpVersion": "<version>", "originalUrl": "<target>", "query": {},
                "headers": {"host": "<host>", "user-agent": "<agent>", "referer": "<referer>", "x-forwarded-for": "<forwarded>"},
            },
            "res": {"statusCode": "<status>"}, "responseTime": "<ms>",
        },
    }, missing=None, change=quoted),
    "restify": Writer({
        "name": "audit", "hostname": "web1", "pid": 7, "component": "after", "level": 30, "remoteAddress": "<client>", "remotePort": 51234,
        "req_id": "9496", "req": {
            "query": {}, "method": "<method>", "url": "<target>", "httpVersion": "<version>", "trailers": {}, "version": "*",
            "headers": {"host": "<host>", "user-agent": "<agent>", "referer": "<referer>", "x-forwarded-for": "<forwarded>"},
        },
        "res": {"statusCode": "<status>", "headers": {"content-length": "<size>"}, "trailer": False}, "latency": "<ms>", "_audit": True,
        "msg": "handled: 200", "time": "<t %Y-%m-%dT%H:%M:%S.%LZ>", "v": 0,
    }, missing=None, change=quoted),
    "php-server": Writer("[<t %a %b %e %H:%M:%S %Y>] <endpoint> [<status>]: <method> <target>", raw),
    "actix": Writer('<client> "<request>" <status> <size>' + HEADERS + " <s.6>", raw, change=quoted),
    "gin": Writer('[GIN] <t %Y/%m/%d - %H:%M:%S> |  <status> |  <go> |  <client> | <method>      "<decoded><?query>"', go, ""),
    "chi": Writer('<t %Y/%m/%d %H:%M:%S> [web1/Ab3dEf-000001] "<method> <http-url> <protocol>" from <endpoint> - <status> <size>B in <go>', raw),
    "fiber": Writer("13:55:36 | <status> |     <go> |      <client> | <method>     | <uri>  ", raw, change=quoted),
    "echo": Writer({
        "time": "<t %Y-%m-%dT%H:%M:%S.%NZ>", "id": "", "remote_ip": "<client>", "host": "<host>", "method": "<method>", "uri": "<target>",
        "user_agent": "<agent>", "status": "<status>", "error": "", "latency": "<ns>", "latency_human": "<go>", "bytes_in": 0,
        "bytes_out": "<size>",
    }, missing="", change=valid),
    "zap": Writer({
        "time": "<t %Y-%m-%dT%H:%M:%SZ>", "level": "info", "ts": "<t %s.%f>", "caller": "ginzap/zap.go:102", "msg": "<decoded>",
        "status": "<status>", "method": "<method>", "path": "<decoded or not>", "query": "<query>", "ip": "<client>",
        "user-agent": "<agent>", "latency": "<s>",
    }, missing="", change=valid),
    "slog": Writer({
        "time": "<t %Y-%m-%dT%H:%M:%S.%NZ>", "level": "INFO", "msg": "request completed", "method": "<method>", "url": "<target>",
        "status": "<status>", "duration": "<ns>", "remote_addr": "<endpoint>", "user_agent": "<agent>", "bytes": "<size>", "host": "<host>",
    }, missing="", change=valid),
    "logfmt": Writer(
        'time=<t %Y-%m-%dT%H:%M:%S.%NZ> level=info msg="response completed" go.version=go1.20.8 http.request.host=<host> '
        "http.request.id=2f3e http.request.method=<method> http.request.remoteaddr=<endpoint> http.request.uri=<target> "
        "http.request.referer=<referer> http.request.useragent=<agent> http.response.contenttype=text/html "
        "http.response.duration=<go> http.response.status=<status> http.response.written=<size>",
        logrus, '""', change=valid,
    ),
    "kubernetes": Writer(
        'I1010 13:55:36.123456   12345 httplog.go:132] "HTTP" verb="<method>" URI="<target>" latency="<go>" userAgent="<agent>" '
        'audit-ID="8b7a" srcIP="<endpoint>" resp=<status>', go, "", change=lambda v: v._replace(agent=v.agent or b""),
    ),
    "gorouter": Writer(
        '<host> - [<t %Y-%m-%dT%H:%M:%S.%NZ>] "<request>" <status> 0 <size> "<referer>" "<agent>" "<endpoint>" "10.0.1.2:61001" '
        'x_forwarded_for:"<forwarded>" x_forwarded_proto:"https" vcap_request_id:"0f1d" response_time:<s.6> gorouter_time:0.000123 '
        'app_id:"e1c5" app_index:"0" instance_id:"9b2f" x_cf_routererror:"-"', go,
    ),
    "oauth2-proxy": Writer(
        '<client> - 8f2a-9b - <user> [<t %Y/%m/%d %H:%M:%S>] <host> <method> / "<target>" <protocol> "<agent>" <status> <size> <s.3>', go,
        change=lambda v: v._replace(host=SITE),
    ),
    "gitea": Writer(
        "<t %Y/%m/%d %H:%M:%S> ...eb/routing/logger.go:102:func1() [I] router: completed <method> <target> for <endpoint>, <status> OK in "
        "<ms.2>ms @ repo/view.go:57(repo.Home)", raw, change=valid,
    ),
    "nexus": Writer(START + "- <size> <ms> \"<agent>\" [qtp1234-56]", raw),
    "artifactory": Writer("<t %Y-%m-%dT%H:%M:%S.%LZ>|d5d75b3c41242768|<client>|<user>|<method>|<target>|<status>|0|<size>|<ms>|<agent>", raw, "", change=valid),
    # What collectors make of lines.
    "ecs": Writer({
        "@timestamp": "<t %Y-%m-%dT%H:%M:%S.%LZ>", "ecs": {"version": "8.0.0"}, "source": {"address": "<client>", "ip": "<client>"},
        "user": {"name": "<user>"}, "url": {"original": "<target>", "domain": "<host>"}, "event": {"duration": "<ns>", "outcome": "success"},
        "http": {
            "request": {"method": "<method>", "referrer": "<referer>"}, "version": "<version>",
            "response": {"status_code": "<status>", "body": {"bytes": "<size>"}},
        },
        "user_agent": {"original": "<agent>"}, "host": {"name": "web1"}, "agent": {"type": "filebeat"},
    }, missing=None, change=valid),
    "logstash": Writer({
        "clientip": "<client>", "ident": "-", "auth": "<user>", "timestamp": CLF, "verb": "<method>", "request": "<target>",
        "httpversion": "<version>", "response": "<status>s", "bytes": "<size>s", "referrer": '"<referer>"', "agent": '"<agent>"',
        "host": "collector1", "path": "/var/log/access.log", "@timestamp": "2024-10-10T14:55:36.000Z", "@version": "1",
    }, raw, change=valid),
    "fluentd": Writer({
        "remote": "<client>", "host": "-", "user": "<user>", "method": "<method>", "path": "<target>", "code": "<status>s",
        "size": "<size>s", "referer": "<referer>", "agent": "<agent>", "http_x_forwarded_for": "<forwarded>",
    }, change=valid),
    "opnsense": Writer({
        "@timestamp": "<t %Y-%m-%dT%H:%M:%S.%LZ>", "ecs": {"version": "1.0.0"}, "event": {"dataset": "squid.access", "duration": "<ms>s"},
        "source": {"ip": "<client>"}, "user": {"name": "<user>"}, "url": {"original": "<http-url>"}, "user_agent": {"original": "<agent>"},
        "http": {
            "version": "<version>", "request": {"method": "<method>", "referrer": "<referer>"},
            "response": {"bytes": "<size>s", "body": {"status_code": "<status>s"}, "mime_type": "text/html"},
        },
        "labels": {"request_status": "TCP_MISS", "hierarchy_status": "HIER_DIRECT"},
    }, change=valid),
    # Storage, platforms and further products.
    "minio": Writer({
        "version": "1", "deploymentid": "8ca2b7ad-20cf-4d07-9efb-28b2f519f4a5", "time": "<t %Y-%m-%dT%H:%M:%S.%NZ>", "event": "",
        "trigger": "incoming", "api": {
            "name": "GetObject", "bucket": "data", "object": "a.csv", "status": "OK", "statusCode": "<status>", "rx": 267, "tx": "<size>",
            "txHeaders": 387, "timeToFirstByte": "2096989ns", "timeToFirstByteInNS": "2096989", "timeToResponse": "<ns>ns",
            "timeToResponseInNS": "<ns>s",
        },
        "remotehost": "<client>", "requestID": "17B86CB0ED88EBE9", "userAgent": "<agent>", "requestPath": "<decoded>",
        "requestHost": "<host>", "requestQuery": {"uploadId": "x"},
        "requestHeader": {"Accept-Encoding": "gzip", "Referer": "<referer>", "User-Agent": "<agent>", "X-Forwarded-For": "<forwarded>"},
        "responseHeader": {"Content-Length": "358", "Server": "MinIO"}, "accessKey": "<user>",
    }, missing=None, change=valid),
    "kubernetes-audit": Writer({
        "kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "Metadata", "auditID": "d0cf5b3e", "stage": "ResponseComplete",
        "requestURI": "<target>", "verb": "<verb>", "user": {"username": "<user>", "groups": ["system:authenticated"]},
        "sourceIPs": "<source IPs>", "userAgent": "<agent>", "objectRef": {"resource": "pods", "namespace": "web", "apiVersion": "v1"},
        "responseStatus": {"metadata": {}, "code": "<status>"}, "requestReceivedTimestamp": "<t %Y-%m-%dT%H:%M:%S.%fZ>",
        "stageTimestamp": "2024-10-10T14:00:00.000000Z", "annotations": {"authorization.k8s.io/decision": "allow"},
    }, missing=None, change=valid),
    "oci-lb": Writer({
        "datetime": 1728568531000, "logContent": {
            "data": {
                "backendAddr": "10.0.1.2:80", "backendConnectTime": "0.001", "backendProcessingTime": "0.005", "backendStatusCode": "200",
                "clientAddr": "<endpoint>", "forwardedForAddr": "<forwarded>", "host": "<host>", "lbStatusCode": "<status>s",
                "listenerName": "https", "receivedBytes": "310", "request": "<method> <url> <protocol>", "requestProcessingTime": "0.003",
                "sentBytes": "<size>s", "sslCipher": "-", "sslProtocol": "-", "timestamp": "<t %Y-%m-%dT%H:%M:%S+00:00>",
                "userAgent": "<agent>",
            },
            "id": "0b1c", "source": "lb1", "specversion": "1.0", "time": "2024-10-10T14:55:31.000Z",
            "type": "com.oraclecloud.loadbalancer.access",
        },
    }, change=valid),
    "vpc-lattice": Writer({
        "hostHeader": "<host>", "sslCipher": "-", "serviceNetworkArn": "arn:aws:vpc-lattice:us-west-2:1:servicenetwork/sn-1",
        "resolvedUser": "Unknown", "authDeniedReason": "null", "requestMethod": "<method>", "targetGroupArn": "arn:aws:x", "tlsVersion": "-",
        "userAgent": "<agent>", "serverNameIndication": "-", "destinationVpcId": "vpc-0abcdef1", "sourceIpPort": "<endpoint>",
        "targetIpPort": "10.0.44.176:80", "serviceArn": "arn:aws:y", "sourceVpcId": "vpc-0abcdef2", "requestPath": "<target>",
        "startTime": "<t %Y-%m-%dT%H:%M:%SZ>", "protocol": "<protocol>", "responseCode": "<status>", "bytesReceived": 42,
        "bytesSent": "<size>", "duration": "<ms>", "requestToTargetDuration": 1, "responseFromTargetDuration": 1, "grpcResponseCode": 1,
    }, change=valid),
    "netlify": Writer({
        "account_id": "5d1", "branch": "main", "client_ip": "<client>", "content_type": "text/html", "country": "AT", "deploy_id": "66ab",
        "duration": 56, "log_type": "traffic", "method": "<method>", "referrer": "<referer>", "request_id": "01J1", "site_id": "s-1",
        "status_code": "<status>", "timestamp": "<t %Y-%m-%dT%H:%M:%S.%LZ>", "url": "<url>", "user_agent": "<agent>",
        "response_size": "<size>",
    }, missing="", change=valid),
    "wordpress-vip": json_text({
        "client_site_id": "000", "remote_user": "<user>", "request_url": "<target>", "timestamp": "19/May/2020:17:03:51 +0000",
        "request_type": "<method>", "scheme": "https", "http_referer": "<referer>", "http_x_forwarded_for": "<forwarded>",
        "true_client_ip": "", "remote_addr": "<client>", "asn": "2635", "timestamp_iso8601": "<t %Y-%m-%dT%H:%M:%S+00:00>",
        "http_host": "<host>", "http_user_agent": "<agent>", "status": "<status>", "body_bytes_sent": "<size>", "request_time": "<s.3>",
        "http_version": "<protocol>",
    })._replace(invalid=None),
    "fastly-bigquery": Writer({
        "timestamp": "<t %Y-%m-%dT%H:%M:%S>", "time_elapsed": "<us>", "is_tls": True, "client_ip": "<client>", "geo_city": "vienna",
        "geo_country_code": "AT", "request": "<method>", "host": "www.example.com", "url": "<target>", "request_referer": "<referer>",
        "request_user_agent": "<agent>", "request_accept_language": "", "request_accept_charset": "", "cache_status": "PASS",
    }, missing="", change=valid),
    "serilog": Writer("<t %Y-%m-%d %H:%M:%S.%L +00:00> [INF] HTTP <method> <decoded> responded <status> in <ms.4> ms", raw, change=valid),
    "serilog-json": Writer({
        "@t": "<t %Y-%m-%dT%H:%M:%S.%fZ>", "@mt": "HTTP {RequestMethod} {RequestPath} responded {StatusCode} in {Elapsed:0.0000} ms",
        "@r": ["12.3457"], "RequestMethod": "<method>", "RequestPath": "<decoded or not>", "StatusCode": "<status>", "Elapsed": "<ms.4>",
        "SourceContext": "Serilog.AspNetCore.RequestLoggingMiddleware", "RequestId": "0HN1:00000001", "ConnectionId": "0HN1",
    }, missing=None, change=valid),
    "datadog": Writer({
        "timestamp": "<t %Y-%m-%dT%H:%M:%S.%LZ>", "service": "web", "status": "info", "http": {
            "method": "<method>", "url": "<url>", "status_code": "<status>", "useragent": "<agent>", "referer": "<referer>",
            "version": "<version>", "url_details": {"host": "<host>", "path": "/", "scheme": "https"},
        },
        "network": {"client": {"ip": "<client>", "port": 51234}, "bytes_written": "<size>", "bytes_read": 9}, "duration": "<ns>",
        "usr": {"id": "<user>"},
    }, missing=None, change=valid),
    # rgw_asio_frontend.cc: bytes of both ways; a missing header has no quotes.
    "ceph-rgw": Writer(
        "debug 2024-10-10T14:55:36.223+0000 7f8c1a2b3700  1 beast: 0x7f8c1a2b3c40: <client> - <user> "
        '[<t %d/%b/%Y:%H:%M:%S.%L +0000>] "<request>" <status> 1234 <"referer"> <"agent"> - latency=<s.9>s', raw,
    ),
    # server.xml: %D is milliseconds or microseconds.
    "atlassian": Writer(
        f'<client> 835x12345x1 <user> [{CLF}] "<request>" <status> <size-> 56{HEADERS} "1abcde"', tomcat, change=quoted,
    ),
    "bitbucket": Writer(
        '<through> | https | o@1ABCDEFx835x12345x0 | <user> | <t %Y-%m-%d %H:%M:%S,%L> | "<request>" | "<referer>" "<agent>" | <status> | 0 | '
        "<size> | - | <ms> | 1abcde | ", raw, change=quoted,
    ),
    # access_log(5): bytes of the request, or those received with POST.
    "cups": Writer(START + "317 CUPS-Get-Printers successful-ok", raw, change=quoted),
    "pihole": Writer("<t %s>|pi.hole|<request>|<status>|<size->", lighttpd),
    "synapse": Writer(
        "<t %Y-%m-%d %H:%M:%S,%L> - synapse.access.http.8008 - 460 - INFO - GET-1001 - <client> - 8008 - {<user or None>} Processed "
        'request: <s.3>sec/-0.000sec (0.003sec, 0.001sec) (0.001sec/0.002sec/2) <size>B <status> "<request>" "<agent>" [0 dbevts]', raw,
        change=quoted,
    ),
    "lancache": Writer(
        f'[steam] <client> / <forwarded> - <user> [{CLF}] "<request>" <status> <size>{HEADERS} "HIT" "<host>" "-"', nginx, invalid="",
    ),
    "webseal": Writer(START.replace("[", "").replace("]", "") + "<size>", raw, change=quoted),
    "gerrit": Writer(
        '<client> [HTTP GET / (N/A)] - <user> [<t %Y-%m-%dT%H:%M:%S,%L+00:00>] "<request>" <status> <size> <ms> <"referer"> <"agent"> 1 2 3',
        raw, change=quoted,
    ),
    "rails": Writer('Started <method> "<target>" for <client> at <t %Y-%m-%d %H:%M:%S +0000>', raw, change=quoted),
    "http-server": Writer('[<t %Y-%m-%dT%H:%M:%S.%LZ>]  "<method> <target>" "<agent>"', raw, change=quoted),
    "granian": Writer('[<t %Y-%m-%d %H:%M:%S +0000>] <client> - "<request>" <status> <ms.3>', raw, change=quoted),
    "glassfish": Writer(f'"<client>" "NULL-AUTH-USER" "{CLF}" "<request>" <status> <size>', raw, change=nobody),
    "couchdb": Writer(
        "[notice] <t %Y-%m-%dT%H:%M:%S.%fZ> couchdb@127.0.0.1 <pid> 8d1a2b3c4d <host> <client> <user> <method> <target> <status> ok <ms>",
        raw, "undefined", change=quoted,
    ),
    # README: the message is empty, and so there is none.
    "zerolog": Writer({
        "level": "info", "role": "my-service", "host": "web-1", "ip": "<endpoint>", "user_agent": "<agent>", "referer": "<referer>",
        "req_id": "b4g0l5t6tfid6dtrapu0", "method": "<method>", "url": "<target>", "status": "<status>", "size": "<size>",
        "duration": "<ms.6>", "time": "<t %Y-%m-%dT%H:%M:%SZ>",
    }, missing=None, change=quoted),
    "httplog": Writer({
        "timestamp": "<t %Y-%m-%dT%H:%M:%S.%NZ>", "level": "INFO", "message": "Response: 200 OK", "service": "api", "httpRequest": {
            "url": "<http-url>", "method": "<method>", "path": "/a b", "remoteIP": "<endpoint>", "proto": "<protocol>", "requestID": "web/x-1",
        },
        "httpResponse": {"status": "<status>", "bytes": "<size>", "elapsed": "<ms.6>"},
    }, missing=None, change=valid),
    "express-bunyan": Writer({
        "name": "app", "hostname": "web-1", "pid": 1, "req_id": "4f2a", "level": 30, "remote-address": "<client>", "ip": "<client>",
        "method": "<method>", "url": "<target>", "referer": "<referer or dash>", "user-agent": {
            "family": "Firefox", "major": "118", "minor": "0", "patch": "0", "device": {"family": "Other"}, "os": {"family": "Linux"},
        },
        "short-body": True, "http-version": "<version>", "response-time": "<ms.6>", "response-hrtime": [0, 12345678],
        "status-code": "<status>", "req-headers": {"host": "<host>", "user-agent": "<agent>", "referer": "<referer>"},
        "res-headers": {"x-powered-by": "Express"}, "req": {
            "method": "<method>", "url": "<target>", "headers": {"host": "<host>", "user-agent": "<agent>", "referer": "<referer>"},
            "remoteAddress": "<client>", "remotePort": 51234,
        },
        "res": {"statusCode": "<status>", "header": "HTTP/1.1 200 OK"}, "incoming": "<--", "msg": "x",
        "time": "<t %Y-%m-%dT%H:%M:%S.%LZ>", "v": 0,
    }, missing=None, change=quoted),
    "mattermost": Writer({
        "timestamp": "<t %Y-%m-%d %H:%M:%S.%L Z>", "level": "debug", "msg": "Received HTTP request", "caller": "web/handlers.go:187",
        "method": "<method>", "url": "<decoded or not>", "request_id": "q1", "user_id": "<user>", "status_code": "<status>s",
    }, missing=None, change=valid),
    "zeek": Writer({
        "ts": "<t %s.%f>", "uid": "CHhAvVGS1DHFjwGM1", "id.orig_h": "<client>", "id.orig_p": 51234, "id.resp_h": "10.0.0.1", "id.resp_p": 80,
        "trans_depth": 1, "method": "<method>", "host": "<host>", "uri": "<target>", "referrer": "<referer>", "version": "<version>",
        "user_agent": "<agent>", "request_body_len": 0, "response_body_len": "<size>", "status_code": "<status>", "status_msg": "OK",
        "tags": [], "username": "<user>", "resp_fuids": ["FEEsZS1w0Z0VJIb5x4"], "resp_mime_types": ["text/html"],
    }, missing=None, change=valid),
    # proxy_logging.py: all values are quoted, the path and the query once more.
    "swift": Writer(
        "203.0.113.7 <client> 10/Oct/2024/14/55/36 <method> /v1/AUTH_test/c%3Fformat%3Djson <protocol> <status> https%3A//e.example/ "
        "Mozilla/5.0%20%28X11%29 AUTH_tk1234... 310 <size-> - tx0123-0066 - <s.4> - - <t %s.%N> 1728568599.112300000 0", raw,
    ),
}  # fmt: skip

# AccessLog::log() of OpenLiteSpeed
OPEN = f'<client> - <"user"> [{CLF}] "<request>" <status> <size->'


# Further settings of the products above.
WRITERS |= {
    "combined nginx": Writer(START + "<size>" + HEADERS, nginx, invalid=""),
    "common Werkzeug": Writer(
        f'<client> - - [{CLF.replace(" +0000", "").replace(":%H", " %H")}] "<request>" <status> -', raw, change=quoted
    ),
    "vhost_combined without a port": Writer("<site> " + START + "<size>" + HEADERS, apache, invalid=""),
    "combined-forwarded instead of the client": Writer(
        START.replace("<client>", "<forwarded>") + "<size->" + HEADERS,
        apache,
        change=lambda v: v._replace(forwarded=v.forwarded or v.client),
    ),
    "nginx-ingress 0.20": Writer(
        START.replace("<client> - ", "<client> - [<client>] - ")
        + "<size>"
        + HEADERS
        + " 432 <s.3> [default-web-80] 10.1.2.3:8080 5316 0.011 200",
        nginx,
        invalid="",
    ),
    "nginx-proxy-manager standard": Writer(
        f'[{CLF}] <status> - <method> https <host> "<target>" [Client <client>] [Length <size>] [Gzip -] "<agent>" "<referer>"',
        nginx,
    ),
    "litespeed with the site": Writer(
        '"<site> ' + START + "<size>" + HEADERS + '"', litespeed, invalid="", change=http2
    ),
    "litespeed site in brackets": Writer(f'["<site>"] {OPEN}{HEADERS}', litespeed, invalid="", change=http2),
    "combined OpenLiteSpeed": Writer(f"{OPEN}{HEADERS}", litespeed, invalid="", change=http2),
    "uvicorn in colors": Writer(
        '\x1b[32mINFO\x1b[0m:     <address:port> - "\x1b[1m<request>\x1b[0m" \x1b[32m<status> OK\x1b[0m',
        raw,
        change=quoted,
    ),
    "django in colors": Writer(
        '\x1b[36m[<t %d/%b/%Y %H:%M:%S>] "<request>" <status> <size>\x1b[0m', raw, invalid="", change=latin_1
    ),
    "common Werkzeug in colors": Writer(
        f'<client> - - [{CLF.replace(" +0000", "").replace(":%H", " %H")}] "\x1b[31m\x1b[1m<request>\x1b[0m" <status> -',
        raw,
        change=quoted,
    ),
    "gin in colors": Writer(
        "[GIN] <t %Y/%m/%d - %H:%M:%S> |\x1b[97;42m <status> \x1b[0m|    <go> |      <client> |\x1b[97;44m <method>     \x1b[0m "
        '"<decoded><?query>"',
        go,
        "",
    ),
    "chi in colors": Writer(
        '<t %Y/%m/%d %H:%M:%S> \x1b[33m[web1/Ab3dEf-000001]\x1b[0m \x1b[36m"\x1b[0m\x1b[1;35m<method> \x1b[0m\x1b[36m<http-url> <protocol>" '
        "\x1b[0mfrom <endpoint> - \x1b[1;32m<status>\x1b[0m\x1b[1;34m <size>B\x1b[0m in \x1b[32m<go>\x1b[0m",
        raw,
    ),
    "fiber in colors": Writer(
        "13:55:36 |\x1b[92m <status> \x1b[0m|    <go> |      <client> |\x1b[96m <method>     \x1b[0m| <uri>  ",
        raw,
        change=quoted,
    ),
    "tornado in colors": Writer(
        "\x1b[32m[I <t %y%m%d %H:%M:%S> web:2348]\x1b(B\x1b[m <status> <method> <target> (<client>) <ms.2>ms",
        raw,
        change=valid,
    ),
    "traefik 3.7": Writer(WRITERS["traefik"].template, lambda text: text.replace(b'"', rb"\""), change=valid),
    "envoy Istio": Writer(
        ENVOY_START + ISTIO, raw, invalid=ENVOY_START.replace("<request>", "- - -") + ISTIO, change=http2
    ),
    "haproxy with headers": Writer(HAPROXY + '{www.example.com|1} {text/html} "<request>"', haproxy),
    "haproxy in syslog": Writer("Oct 10 13:55:36 lb1 haproxy[14389]: " + HAPROXY + '"<request>"', haproxy),
    "haproxy CLF": Writer(
        START.replace("- <user>", "- -")
        + '<size> "" "" 40012 123 "http-in" "static" "srv1" 10 0 30 69 <ms> ---- 1 1 1 1 0 0 0 "-" "-"',
        haproxy,
    ),
    "morgan tiny": Writer("<method> <target> <status> <size-> - <ms.3> ms", raw, change=quoted),
    "morgan dev": Writer(
        "\x1b[0m<method> <target> \x1b[32m<status>\x1b[0m <ms.3> ms - <size->\x1b[0m", raw, change=quoted
    ),
    "uwsgi micros": Writer(WRITERS["uwsgi"].template.replace("<ms> msecs", "<us> micros"), missing=""),
    "chi without an ID": Writer(WRITERS["chi"].template.replace("[web1/Ab3dEf-000001] ", ""), raw),
    "ltsv nginx": Writer(
        f"time:{CLF}\thost:<client>\tforwardedfor:<forwarded>\treq:<request>\tstatus:<status>\tsize:<size>\treferer:<referer>\tua:<agent>\t"
        "reqtime:<s.3>\tcache:-\truntime:-\tvhost:<host>",
        nginx,
        invalid="",
    ),
    "twisted with its logger": Writer(
        "2024-10-10T13:55:36+0000 [twisted.python.log#info] " + WRITERS["twisted"].template, python_repr
    ),
    "sanic in production": Writer(
        "Main |<t %Y-%m-%d %H:%M:%S +0000> INFO: <address:port> <method> <http-url> <status> <size> <ms.2>ms",
        raw,
        change=quoted,
    ),
    "vhost_combined Virtualmin": Writer(
        START.replace("<client> - ", "<client> - <site> <site> ") + "<size>" + HEADERS, apache
    ),
    "apisix with more fields": Writer(WRITERS["apisix"].template + ' "6f1ed002ab5595859014ebf0951522d9"', nginx),
    "fiber older": Writer("13:55:36 [<client>] <status> -     <go> <method> <uri>", raw, change=quoted),
    "uwsgi memory": Writer(
        "{address space usage: 19288064 bytes/18MB} {rss usage: 7012352 bytes/6MB} "
        + WRITERS["uwsgi"].template.replace(" msecs", " msecs via sendfile()"),
        missing="",
    ),
    "ecs OpenTelemetry": Writer(
        {
            "timestamp": "<t %Y-%m-%dT%H:%M:%S.%fZ>",
            "client.address": "<client>",
            "http.request.method": "<method>",
            "http.response.status_code": "<status>",
            "http.response.body.size": "<size>",
            "http.server.request.duration": "<s.9>",
            "network.protocol.version": "1.1",
            "server.address": "web-1",
            "url.path": "<uri>",
            "url.query": "<query>",
            "url.scheme": "https",
            "user_agent.original": "<agent>",
        },
        missing=None,
        change=valid,
    ),
    "serilog console": Writer(
        "[13:55:36 INF] HTTP <method> <decoded> responded <status> in <ms.4> ms", raw, change=valid
    ),
    "serilog with the query": Writer(
        "<t %Y-%m-%d %H:%M:%S.%L +00:00> [INF] HTTP <method> <target> responded <status> in <ms.4> ms",
        raw,
        change=quoted,
    ),
    "serilog-json JsonFormatter": Writer(
        {
            "Timestamp": "<t %Y-%m-%dT%H:%M:%S.%f+00:00>",
            "Level": "Information",
            "MessageTemplate": "HTTP {RequestMethod} {RequestPath} responded {StatusCode} in {Elapsed:0.0000} ms",
            "Properties": {
                "RequestMethod": "<method>",
                "RequestPath": "<decoded or not>",
                "StatusCode": "<status>",
                "Elapsed": "<ms.4>",
                "RequestId": "0HN1",
            },
        },
        missing=None,
        change=valid,
    ),
    "atlassian Confluence": Writer(
        f'<client> <user> [{CLF}] "<request>" <status> <size-> 342 <uri> http-nio-8090-exec-3 "<agent>"',
        tomcat,
        change=quoted,
    ),
    # Neither the referer nor the agent has quotes: a space of the referer would move words to the agent.
    "atlassian older Confluence": Writer(
        f"[{CLF}] <user> http-nio-8090-exec-1 <client> <request> <status> <ms>ms <size-> <referer> <agent>",
        raw,
        change=quoted,
    ),
    "synapse with ru and db": Writer(
        WRITERS["synapse"].template.replace("(0.003", "ru=(0.003").replace("(0.001sec/", "db=(0.001sec/"),
        raw,
        change=quoted,
    ),
    "swift with the access key": Writer(WRITERS["swift"].template + " AKIA", raw),
    "couchdb without a user": Writer(WRITERS["couchdb"].template, raw, "undefined", change=nobody),
}


# --- strings of configuration files ---------------------------------------------------------------------------------


APACHE = '%h %l %u %t "%r" %>s %b "%{Referer}i" "%{User-Agent}i"'
APACHE_LINE = START + "<size->" + HEADERS
FAMILIES = {
    "Apache": (APACHE + ' %D %v "%{X-Forwarded-For}i"', Writer(APACHE_LINE + ' <us> <site> "<forwarded>"', apache, invalid="")),
    "Apache, parts": (
        '%{%Y-%m-%dT%H:%M:%S}t.%{msec_frac}t %a %u %m "%U" "%q" %H %s %B %{ms}T "%{Host}i"',
        Writer('<t %Y-%m-%dT%H:%M:%S.%L> <client> <user> <method> "<decoded>" "<?query>" <protocol> <status> <size> <ms> "<host>"', apache),
    ),
    "nginx": (
        """log_format timed '$remote_addr [$time_iso8601] $host "$request" $status $bytes_sent $request_time "$http_referer" '
        '"$http_user_agent" "$http_x_forwarded_for"';""",
        Writer('<client> [<t %Y-%m-%dT%H:%M:%S+00:00>] <site> "<request>" <status> <size> <s.3> "<referer>" "<agent>" "<forwarded>"', nginx, invalid=""),
    ),
    "nginx, json": (
        """log_format j escape=json '{"t":$msec,"c":"$remote_addr","u":"$remote_user","r":"$request","s":$status,"b":$body_bytes_sent,'
        '"f":"$http_referer","a":"$http_user_agent","d":$request_time}';""",
        Writer(
            '{"t":<t %s.%L>,"c":"<client>","u":"<user>","r":"<request>","s":<status>,"b":<size>,"f":"<referer>","a":"<agent>","d":<s.3>}',
            nginx_json, "", invalid="",
        ),
    ),
    "nginx, none": (
        "log_format n escape=none '$remote_addr $msec \"$request\" $status $body_bytes_sent \"$http_user_agent\" \"$http_referer\"';",
        Writer('<client> <t %s.%L> "<request>" <status> <size> "<agent>" "<referer>"', raw, "", invalid=""),
    ),
    "HAProxy": (
        "%ci:%cp [%tr] %ft %b/%s %TR/%Tw/%Tc/%Tr/%Ta %ST %B %CC %CS %tsc %ac/%fc/%bc/%sc/%rc %sq/%bq %hr %hs %{+Q}r",
        Writer(HAPROXY + '{www.example.com} {text/html} "<request>"', haproxy),
    ),
    "HAProxy, samples": (
        "%ci:%cp [%t] %{+Q}HM %{+Q}HP %{+Q}HQ %HV %ST %B %Ta %{+Q}[capture.req.hdr(0)]",
        Writer('<address:port> [<t %d/%b/%Y:%H:%M:%S.%L>] "<method>" "<uri>" "<?query>" <protocol> <status> <size> <ms> "x"', haproxy, change=quoted),
    ),
    "Envoy": (
        '[%START_TIME%] "%REQ(:METHOD)% %REQ(X-ENVOY-ORIGINAL-PATH?:PATH)% %PROTOCOL%" %RESPONSE_CODE% %RESPONSE_FLAGS% '
        '%BYTES_RECEIVED% %BYTES_SENT% %DURATION% "%REQ(X-FORWARDED-FOR)%" "%REQ(USER-AGENT)%" "%REQ(:AUTHORITY)%" %DOWNSTREAM_REMOTE_ADDRESS%\\n',
        Writer(
            ENVOY_START + '0 <size> <ms> "<forwarded>" "<agent>" "<host>" <endpoint>', raw, change=http2,
            invalid=NO_REQUEST + '0 <size> <ms> "<forwarded>" "<agent>" "<host>" <endpoint>', ninth={"protocol": "HTTP/1.1"},
        ),
    ),
    "Envoy, JSON": (
        '{"at":"%START_TIME%","verb":"%REQ(:METHOD)%","url":"%REQ(:PATH)%","code":"%RESPONSE_CODE%","out":"%BYTES_SENT%",'
        '"took":"%DURATION%","from":"%DOWNSTREAM_REMOTE_ADDRESS%","ua":"%REQ(USER-AGENT)%","site":"%REQ(:AUTHORITY)%"}',
        Writer({
            "at": "<t %Y-%m-%dT%H:%M:%S.%LZ>", "verb": "<method>", "url": "<target>", "code": "<status>", "out": "<size>", "took": "<ms>",
            "from": "<endpoint>", "ua": "<agent>", "site": "<host>",
        }, missing=None, change=valid),
    ),
    "Tomcat": (
        APACHE + ' %{ms}T "%{X-Forwarded-For}i" %v', Writer(APACHE_LINE + ' <ms> "<forwarded>" <site>', tomcat, change=quoted),
    ),
    "Tomcat, parts": (
        "<Valve className=\"org.apache.catalina.valves.AccessLogValve\" pattern='%{yyyy-MM-dd HH:mm:ss.SSS}t %a %u %m &quot;%U%q&quot; %H %s %B %{us}T'/>",
        Writer('<t %Y-%m-%d %H:%M:%S.%L> <client> <user> <method> "<target>" <protocol> <status> <size> <us>', tomcat, change=quoted),
    ),
    "Jetty": (
        '%{client}a - %u %t "%r" %s %O "%{Referer}i" "%{User-Agent}i" %{ms}T', Writer(START + "<size>" + HEADERS + " <ms>", raw, change=quoted),
    ),
    "Undertow": (
        '%h %l %u %t "%r" %s %b "%{i,Referer}" "%{i,User-Agent}" "%{i,X-Forwarded-For}" %D',
        Writer(APACHE_LINE + ' "<forwarded>" <ms>', raw, change=quoted),
    ),
    "gunicorn": (
        '%(h)s %(l)s %(u)s %(t)s "%(r)s" %(s)s %(B)s "%(f)s" "%(a)s" %(L)s "%({x-forwarded-for}i)s"',
        Writer(START + "<size>" + HEADERS + ' <s.6> "<forwarded>"', gunicorn, change=quoted),
    ),
    "Uvicorn": (
        '%(asctime)s %(client_addr)s - "%(request_line)s" %(status_code)s',
        Writer('<t %Y-%m-%d %H:%M:%S,%L> <address:port> - "<request>" <status> OK', raw, change=quoted),
    ),
    "aiohttp": ('%a %t "%r" %s %b "%{Referer}i" "%{User-Agent}i" %Tf', Writer(WRITERS["aiohttp"].template + " <s.6>", raw, change=quoted)),
    "uWSGI": (
        '%(addr) - %(user) [%(ltime)] "%(method) %(uri) %(proto)" %(status) %(size) "%(referer)" "%(uagent)" %(micros)',
        Writer(START + "<size>" + HEADERS + " <us>", raw, change=quoted),
    ),
    "Echo": (
        '${time_rfc3339} ${remote_ip} ${host} "${method} ${uri} ${protocol}" ${status} ${bytes_out} "${referer}" "${user_agent}" '
        "${latency_human} ${header:X-Forwarded-For}\\n",
        Writer(
            '<t %Y-%m-%dT%H:%M:%SZ> <client> <host> "<method> <target> <protocol>" <status> <size>' + HEADERS + " <go> <forwarded>",
            missing="", change=quoted,
        ),
    ),
    "Fiber": (
        '${green}[${time}]${reset} ${ip} ${status} - ${latency} ${method} ${url} "${ua}" ${bytesSent}\\n',
        Writer("[<t %Y-%m-%d %H:%M:%S>] <client> <status> - <go> <method> <target> \"<agent>\" <size>", missing="", change=quoted),
    ),
    "Traffic Server": (
        """format: '%<chi> - %<caun> [%<cqtn>] "%<cqtx>" %<pssc> %<psql> "%<{Referer}cqh>" "%<{User-Agent}cqh>" %<crc> %<ttms>'""",
        Writer(f'<client> - <user> [{CLF}] "<request>" <status> <size>{HEADERS} TCP_MISS <ms>', raw, change=quoted),
    ),
    "Squid": (
        'logformat combined %>a %[ui %[un [%tl] "%rm %ru HTTP/%rv" %>Hs %<st "%{Referer}>h" "%{User-Agent}>h" %Ss:%Sh %tr',
        Writer(
            f'<client> - <user> [{CLF}] "<method> <http-url> <protocol>" <status> <size>{HEADERS} TCP_MISS:HIER_DIRECT <ms>',
            escaping(LETTERS | SLASHES, b"%c"),  # log_quoted_string()
        ),
    ),
    "morgan": (
        ':remote-addr - :remote-user [:date[clf]] ":method :url HTTP/:http-version" :status :res[content-length] ":referrer" ":user-agent" - :response-time ms',
        Writer(APACHE_LINE + " - <ms.3> ms", raw, change=quoted),
    ),
    "varnishncsa": (APACHE + " %D", Writer(
        f'<client> - <user> [{CLF}] "<method> <http-url> <protocol>" <status> <size->{HEADERS} <us>', escaping(LETTERS | SLASHES, rb"\x%02x")
    )),
    "PHP-FPM": (
        'access.format = "%R - %u %t \\"%m %r%Q%q\\" %s %f %{milliseconds}d %{kilobytes}M %C%%"',
        Writer('<client> - <user> <t %d/%b/%Y:%H:%M:%S +0000> "<method> <decoded><?query>" <status> /srv/index.php <ms.3> 2048 81.00%', raw, change=quoted),
    ),
    "Unit": (
        '$remote_addr - - [$time_local] "$request_line" $status $body_bytes_sent "$header_referer" "$header_user_agent"',
        Writer(START.replace("<user>", "-") + "<size>" + HEADERS, nginx),
    ),
    "H2O": (APACHE + " %{duration}x", Writer(APACHE_LINE + " <s.6>", escaping({'"': rb"\x22", "\\": rb"\x5c"}, rb"\x%02x"))),
    "lighttpd": (
        '%h %V %u %t "%r" %>s %b "%{Referer}i" "%{User-Agent}i" %{us}T',
        Writer(WRITERS["lighttpd"].template + " <us>", lighttpd),
    ),
    "LTSV": (
        "log_format ltsv 'at:$time_iso8601\\tip:$remote_addr\\tline:$request\\tcode:$status\\tsent:$bytes_sent\\ttook:$request_time\\tagent:$http_user_agent';",
        Writer("at:<t %Y-%m-%dT%H:%M:%S+00:00>\tip:<client>\tline:<request>\tcode:<status>\tsent:<size>\ttook:<s.3>\tagent:<agent>", nginx, invalid=""),
    ),
    "logfmt": (
        {"target": "link", "status": "code", "user_agent": "browser", "duration.us": "micros"},
        Writer("at=x link=<target> verb=<method> code=<status> browser=<agent> micros=<us> remote=<client>", logrus, '""', change=valid),
    ),
    "W3C": (
        "iis",
        Writer(
            '<date>\t<clock>\t<client>\t<user>\t<method>\t<uri>\t<query>\t<status>\t<size>\t<s.3>\t"<agent>"\t"<referer>"', csv,
            head="#Version: 1.0\n#Fields: date time c-ip cs-username cs-method cs-uri-stem cs-uri-query sc-status bytes time-taken "
            "cs(User-Agent) cs(Referer)\n",
            change=quoted,
        ),
    ),
}  # fmt: skip
