"""The directives of format strings, as servers have them in their configuration.

A Family is a way to write directives. Its tokens are literals and fields; which field gets the name that several could
have is decided by the whole format, in `_formats`.

Sources: Apache HTTP Server 2.4, mod_log_config and mod_logio; aiohttp, "Logging"; nginx, ngx_http_log_module and the
index of variables; HAProxy, Configuration Manual, section 8.2.6 (8.2.4 before 2.5): Custom log format; Envoy, "Access
logging": command operators; gunicorn, "Settings": access_log_format; uWSGI, "Formatting uWSGI requests logs"; Python,
logging: LogRecord attributes; Squid, squid.conf: logformat, of 3.0 to 7; morgan, README: tokens and predefined formats;
Tomcat, "The Valve Component": Access Logging; Jetty, CustomRequestLog; Undertow, "Access Log Handler"; PHP-FPM,
www.conf: access.format; H2O, "Access Log Directives"; nginx Unit, "Access Log".
"""

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple, NoReturn


class Field(NamedTuple):
    """A value of a line.

    Attributes:
        name (str | None): The field of the record: one of FIELDS or `extra.NAME`. None: the value is dropped.
        kind (str): How the value is found, and what it must look like:
            word: bytes other than the first one of the literal that follows
            text: all before the literal that follows; at the end of the format, the rest of the line
            quoted: all before an unescaped quote that the rest of the literal follows
            number, decimal: digits, of "decimal" with at most one dot, or "-". Spaces before (Squid) and "+" (HAProxy:
                at least) are dropped; a negative number means that there is none.
            cut: the rest of a line that is as long as servers cut them off
            list: words separated by ", " or " : "
            address: a word, in detection an address or a host name
            site: a word, the name of a host or an address. In detection, it is not the name of a machine alone.
            endpoint: a word, an address with a port
            uncertain: of JSON, a decoded path, or a target if it has a "?" or a triplet
            in_quotes: of JSON, a text that may have quotes around it
            query: a word, whose first "?" is dropped
            after_host: a word, a host and the target; a URL, which is the target itself, has the host, too
            time: a time
        unit (int): The power of ten of a duration, in seconds: 0, -3, -6 or -9.
    """

    name: str | None
    kind: str
    unit: int = 0


# The fields of a record, by their kinds. Presets and mappings have them by these names.
FIELDS = {
    "client": "address",
    "user": "text",
    "time": "time",
    "request": "text",
    "method": "word",
    "target": "word",
    "path": "word",
    "path_decoded": "word",
    "query": "word",
    "protocol": "word",
    "status": "number",
    "bytes_sent": "number",
    "referer": "word",
    "user_agent": "text",
    "vhost": "word",
    "duration": "decimal",
    "forwarded_for": "list",
}
UNITS = {"s": 0, "ms": -3, "us": -6, "ns": -9}


class Directive(NamedTuple):
    """A field as a notation has it; `rank` decides which of several directives for a field has its name."""

    field: Field
    rank: int = 0


class Token(NamedTuple):
    """A literal (`directive` is None) or a field of a format string.

    Attributes:
        text (str): The literal, or the directive as it is written.
        offset (int): Where it begins in the format string.
        directive (Directive | None): The field.
        name (str): The name under `extra` if the field is not one of FIELDS for this directive.
        pattern (str): The strftime format of a time.
    """

    text: str
    offset: int
    directive: Directive | None = None
    name: str = ""
    pattern: str = ""


def standard(name: str, rank: int = 0, unit: int = 0) -> Directive:
    """Return a directive for one of FIELDS."""
    return Directive(Field(name, FIELDS[name], unit), rank)


def extra(name: str, kind: str = "word") -> Directive:
    """Return a directive for a field under `extra`."""
    return Directive(Field(f"extra.{name}", kind))


def header(name: str) -> Directive:
    """Return a directive for a header of the request."""
    return REQUEST_HEADERS.get(name.lower()) or extra(name)


REQUEST_HEADERS = {
    "host": standard("vhost"),
    "referer": standard("referer"),
    "user-agent": standard("user_agent"),
    "x-forwarded-for": standard("forwarded_for"),
}


class Family:
    """A way to write directives.

    Attributes:
        sign (str): What they begin with.
        pattern (str): A regular expression for one; it is compiled when a format needs it, which takes milliseconds.
        escapes (str): How the server escapes values, see `Text`.
    """

    sign = "%"
    pattern = ""
    escapes = "backslash"

    def names(self) -> Iterable[str]:
        """Return the directives, as they are written."""
        return ()

    def tokens(self, found: re.Match[str], offset: int) -> list[Token]:
        """Return the tokens of a directive: the field, and what the server writes around it."""
        raise NotImplementedError

    def unknown(self, written: str, offset: int) -> NoReturn:
        raise ValueError(
            f"unknown directive {written!r} at offset {offset} of the format{suggestion(written, list(self.names()))}"
        )


def suggestion(name: str, names: list[str]) -> str:
    """Return the end of an error message: the two names that are most like this one, or all of them."""
    from difflib import get_close_matches

    close = get_close_matches(name, names, 2)
    if close:
        return f"; did you mean {' or '.join(map(repr, close))}?"
    return f"; choose from {', '.join(names)}" if names else ""


# --- Apache -----------------------------------------------------------------------------------------------------------

APACHE = {
    "a": standard("client"),
    "A": extra("local_address"),
    "b": standard("bytes_sent"),
    "B": standard("bytes_sent"),
    "D": standard("duration", 0, UNITS["us"]),
    "f": extra("filename"),
    "h": standard("client"),
    "H": standard("protocol"),
    "I": extra("bytes_received"),
    "k": extra("keepalive_requests"),
    "l": extra("ident"),
    "L": extra("log_id"),
    "m": standard("method"),
    "O": standard("bytes_sent"),
    "p": extra("port"),
    "P": extra("pid"),
    "q": Directive(Field("query", "query")),
    "r": standard("request"),
    "R": extra("handler"),
    "s": standard("status", 1),
    "S": extra("bytes_transferred"),
    "T": standard("duration", 3),
    "Tf": standard("duration"),
    "u": standard("user"),
    "U": standard("path_decoded"),
    "v": standard("vhost"),
    "V": standard("vhost"),
    "X": extra("connection_status"),
    "^FB": extra("time_to_first_byte"),
}
# Of "%{NAME}i" and the like: the value of a header, cookie, variable ... NAME. mod_ssl has "c" and "x".
NAMED = ("C", "c", "e", "i", "n", "o", "x", "^ti", "^to")
# What is in the braces of other directives; of "%{...}t" all else is a format of strftime().
VARIANTS = {
    "{canonical}p": extra("port"),
    "{local}p": extra("local_port"),
    "{remote}p": extra("remote_port"),
    "{pid}P": extra("pid"),
    "{tid}P": extra("tid"),
    "{hextid}P": extra("tid"),
    "{us}T": standard("duration", 0, UNITS["us"]),
    "{ms}T": standard("duration", 2, UNITS["ms"]),
    "{s}T": standard("duration", 3),
    "{R}W": standard("duration", 0, UNITS["us"]),
    "{t}W": standard("time"),
    "{duration}x": standard("duration"),  # H2O
}


class Apache(Family):
    """LogFormat of Apache, and access_log_format of aiohttp, which has its directives, and `%Tf`."""

    pattern = (
        r"%(?:%|(?P<status>(?:!?\d{3}(?:,\d{3})*|[<>])*)(?:\{(?P<argument>[^}]{0,999})\})?(?P<final>[<>]?)"
        r"(?P<letter>\^FB|\^t[io]|Tf|[A-Za-z]))"
    )
    directives: Mapping[str, Directive] = APACHE

    def names(self) -> Iterable[str]:
        return [
            *map("%{}".format, self.directives),
            *map("%{}".format, VARIANTS),
            *map("%{{NAME}}{}".format, NAMED),
            "%t",
        ]

    def tokens(self, found: re.Match[str], offset: int) -> list[Token]:
        letter, argument, written = found["letter"], found["argument"], found[0]
        if letter is None:
            return [Token("%", offset)]
        if letter == "t":
            return time_directive(argument, written, offset)
        if letter == "W" and argument == "t":  # Open Liberty
            return time_directive(None, written, offset)
        if letter in NAMED and argument:
            known = header(argument) if letter == "i" else VARIANTS.get(f"{{{argument}}}{letter}")
            directive = known or extra(argument)
        elif argument is not None and letter in "pPTW":
            if f"{{{argument}}}{letter}" not in VARIANTS:
                return self.unknown(written, offset)
            directive = VARIANTS[f"{{{argument}}}{letter}"]
        elif letter in self.directives:
            directive = self.directives[letter]
            if letter == "s" and ">" in found["status"] + found["final"]:
                directive = standard("status")
        elif letter in NAMED:
            raise ValueError(
                f"directive {written!r} at offset {offset} of the format needs a name: '%{{NAME}}{letter}'"
            )
        else:
            return self.unknown(written, offset)
        return [Token(written, offset, directive, written)]


TOMCAT = {
    **APACHE,
    "U": standard("path"),  # not decoded
    "D": extra("%D"),
    "F": extra("time_to_commit"),
    "I": extra("thread"),
    "S": extra("session_id"),
}
UNDERTOW = {**TOMCAT, "D": standard("duration", 0, UNITS["ms"])}


# What Tomcat's RemoteIpValve found out.
VALVE = "org.apache.catalina.AccessLog."
ATTRIBUTES = {f"{VALVE}RemoteAddr": standard("client"), f"{VALVE}RemoteHost": standard("client", 1)}


class Tomcat(Apache):
    """pattern of AccessLogValve of Tomcat, and of Jetty's CustomRequestLog.

    `%D` is milliseconds up to Tomcat 9, and microseconds since. `%{NAME}r` and `%{NAME}s` are attributes of the request
    and of the session.
    """

    directives = TOMCAT

    def tokens(self, found: re.Match[str], offset: int) -> list[Token]:
        if found["argument"] and found["letter"] in ("r", "s"):
            directive = ATTRIBUTES.get(found["argument"]) or extra(found["argument"])
            return [Token(found[0], offset, directive, found["argument"])]
        return super().tokens(found, offset)


# Undertow's long names of directives.
UNDERTOW_NAMES = {
    "REMOTE_IP": "a",
    "REMOTE_HOST": "h",
    "REMOTE_USER": "u",
    "LOCAL_IP": "A",
    "LOCAL_PORT": "p",
    "LOCAL_SERVER_NAME": "v",
    "REQUEST_LINE": "r",
    "METHOD": "m",
    "REQUEST_URL": "U",
    "QUERY_STRING": "q",
    "PROTOCOL": "H",
    "RESPONSE_CODE": "s",
    "BYTES_SENT": "B",
    "RESPONSE_TIME": "D",
    "THREAD_NAME": "I",
}


class Undertow(Apache):
    """pattern of Undertow (WildFly, Quarkus), `%{i,NAME}`, `%{REMOTE_IP}`, and of Logback's access logs, `%i{NAME}`."""

    pattern = (
        r"%(?:\{(?P<kind>[ciopqrs]),(?P<own>[^}]+)\}|(?P<first>[cio])\{(?P<last>[^}]+)\}"
        rf"|\{{(?P<long>[A-Z_]{{4,}})\}}(?![A-Za-z^<>])|{Apache.pattern[4:]}"
    )
    directives = UNDERTOW
    escapes = "none"

    def tokens(self, found: re.Match[str], offset: int) -> list[Token]:
        kind, name, long = found["kind"] or found["first"], found["own"] or found["last"], found["long"]
        if long == "DATE_TIME":
            return time_directive(None, found[0], offset)
        if long:
            if long not in UNDERTOW_NAMES:
                return self.unknown(found[0], offset)
            letter = UNDERTOW_NAMES[long]
            return [Token(f"%{letter}", offset, self.directives[letter], found[0])]
        if kind is None:
            return super().tokens(found, offset)
        return [Token(found[0], offset, header(name) if kind == "i" else extra(name), found[0])]


# --- times ------------------------------------------------------------------------------------------------------------

# Conversions of strftime() that are others in one.
COMPOSED = {
    "%T": "%H:%M:%S",
    "%R": "%H:%M",
    "%F": "%Y-%m-%d",
    "%D": "%m/%d/%y",
    "%h": "%b",
    "%e": "%d",
    "%r": "%I:%M:%S %p",
    "%k": "%H",
}
AROUND_TIME = r"(?s)([\s\[\](){}<>\"'|,;]*)(.*?)([\s\[\](){}<>\"'|,;]*)\Z"
FRACTIONS = {"msec_frac": "123", "usec_frac": "123456"}
EPOCHS = {"sec": "1700000000", "msec": "1700000000123", "usec": "1700000000123456"}


def time_directive(argument: str | None, written: str, offset: int) -> list[Token]:
    """Return the tokens of "%t", which writes brackets, or of "%{argument}t"."""
    if argument is None:
        time = Token(written, offset, standard("time"), written, "%d/%b/%Y:%H:%M:%S %z")
        return [Token("[", offset), time, Token("]", offset)]
    argument = re.sub("^(?:begin|end):?", "", argument)
    pattern = EPOCHS.get(argument) or FRACTIONS.get(argument) or argument
    if re.search(JAVA_TIME, f"%{{{argument}}}t"):
        pattern = of_java(argument)
    for composed, parts in COMPOSED.items():
        pattern = pattern.replace(composed, parts)
    directive = extra(written, "time") if argument in FRACTIONS else standard("time")
    # A format of strftime() may have what stands around the time: "[" in "%{[%d/%b/%Y:%T}t.%{msec_frac}t %{%z]}t".
    before, pattern, after = re.findall(AROUND_TIME, pattern or "%d/%b/%Y:%H:%M:%S %z")[0]
    time = Token(written, offset, directive, written, pattern)
    return [Token(before, offset), time, Token(after, offset)]


# "%{...}t" with a format of Java's SimpleDateFormat; Jetty has a zone and a locale after it, and writes brackets.
JAVA_TIME = r"%\{(?:begin:|end:)?[^%}]*(?:yy|HH|ss)[^%}]*\}t"
JAVA_LETTERS = {
    **{"yyyy": "%Y", "yy": "%y", "MMM": "%b", "MM": "%m", "M": "%m", "dd": "%d", "d": "%d", "EEE": "%a"},
    **{"HH": "%H", "mm": "%M", "ss": "%S", "SSS": "123", "S": "123"},
    **dict.fromkeys(("Z", "ZZ", "ZZZ", "X", "XX", "XXX", "z", "xx", "xxx"), "%z"),
}


def of_java(pattern: str) -> str:
    """Return the format of strftime() for one of SimpleDateFormat.

    >>> of_java("yyyy-MM-dd'T'HH:mm:ss.SSSXXX|GMT")
    '%Y-%m-%dT%H:%M:%S.123%z'
    """

    def converted(found: re.Match[str]) -> str:
        return JAVA_LETTERS.get(found[0], found[0]) if found["quoted"] is None else found["quoted"]

    return re.sub(r"'(?P<quoted>[^']*)'|([A-Za-z])\2*", converted, pattern.partition("|")[0])


def sample_of(pattern: str) -> str:
    """Return a time in a format of strftime()."""
    from datetime import datetime, timedelta, timezone

    return datetime(2000, 10, 10, 13, 55, 36, tzinfo=timezone(timedelta(hours=-7))).strftime(pattern)


# The times with a space that the reader knows the end of.
KNOWN_TIME = (
    r"\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d(?:[.,]\d+)? [-+]\d{4}"
    r"|(?:[A-Z][a-z]{2}, )?\d\d(?:([-/ ])[A-Z][a-z]{2}\1|\.\d\d\.)\d{4} "
    r"\d\d:\d\d:\d\d(?:[.,]\d+)?(?: [-+]\d{4}| GMT| UTC)?"
    r"|\d{4}[-/]\d\d[-/]\d\d (?:- )?\d\d:\d\d:\d\d(?:[.,]\d+)?(?:[-+]\d\d:?\d\d|Z| [-+]\d{4})?"
    r"|[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}"
)


# --- nginx ------------------------------------------------------------------------------------------------------------

NGINX = {
    **{name: standard(name) for name in FIELDS},
    **{f"duration_{unit}": standard("duration", 0, UNITS[unit]) for unit in ("ms", "us", "ns")},
    "client_endpoint": Directive(Field("client", "endpoint")),
    "port_number": Directive(Field("extra.port", "number")),
    "query_with_mark": Directive(Field("query", "query")),
    "duration_integer_ms": Directive(Field("duration", "number", UNITS["ms"])),
    "ignored": Directive(Field(None, "word")),
    "site": Directive(Field("vhost", "site")),
    "request_cut": Directive(Field("request", "cut")),
    "user_word": Directive(Field("user", "word")),
    "remote_addr": standard("client"),
    "the_real_ip": standard("client", 1),  # ingress-nginx
    "remote_user": standard("user"),
    "time_iso8601": standard("time"),
    "time_local": standard("time"),
    "msec": standard("time"),
    "request_method": standard("method"),
    "request_uri": standard("target"),
    "uri": standard("path_decoded"),
    "document_uri": standard("path_decoded"),
    "args": standard("query"),
    "query_string": standard("query"),
    "server_protocol": standard("protocol"),
    "body_bytes_sent": standard("bytes_sent"),
    "bytes_sent": standard("bytes_sent", 1),
    "http_referer": standard("referer"),
    "http_user_agent": standard("user_agent"),
    "http_x_forwarded_for": standard("forwarded_for"),
    "proxy_add_x_forwarded_for": standard("forwarded_for", 1),
    "host": standard("vhost"),
    "http_host": standard("vhost", 1),
    "server_name": standard("vhost", 2),
    "request_time": standard("duration"),
    "request_line": standard("request"),  # nginx Unit
    # GitLab: without the values of secret parameters.
    "filtered_request_uri": standard("target"),
    "filtered_http_referer": standard("referer"),
}


class Nginx(Family):
    """log_format of nginx. A name that is not known is a variable of the user's."""

    sign = "$"
    pattern = r"(?a)\$(?:\{(?P<braces>\w+)\}|(?P<name>\w+))"

    def tokens(self, found: re.Match[str], offset: int) -> list[Token]:
        name = found["braces"] or found["name"]
        kind = "list" if name.startswith("upstream_") else "word"
        known = NGINX.get(name)
        if known is None and name.startswith("header_"):  # nginx Unit
            known = REQUEST_HEADERS.get(name[7:].replace("_", "-"))
        return [Token(found[0], offset, known or extra(name, kind), name)]


# --- PHP-FPM ----------------------------------------------------------------------------------------------------------

PHP_FPM = {
    "C": extra("cpu"),
    "d": standard("duration"),
    "f": extra("script"),
    "l": extra("content_length"),
    "m": standard("method"),
    "M": extra("memory"),
    "n": extra("pool"),
    "p": extra("pid"),
    "P": extra("parent_pid"),
    "q": Directive(Field("query", "query")),
    "Q": extra("query_mark"),
    "r": standard("path_decoded"),
    "R": standard("client"),
    "s": standard("status"),
    "u": standard("user"),
}
PHP_FPM_UNITS = {"seconds": "s", "milli": "ms", "milliseconds": "ms", "micro": "us", "microseconds": "us"}


class PhpFpm(Family):
    """access.format of PHP-FPM. The path is that of the script, decoded; times have no brackets."""

    pattern = r"%(?:%|(?:\{(?P<argument>[^}]*)\})?(?P<letter>[A-Za-z]))"
    escapes = "none"

    def names(self) -> Iterable[str]:
        return [*map("%{}".format, PHP_FPM), "%t", "%T", "%{NAME}e", "%{NAME}o"]

    def tokens(self, found: re.Match[str], offset: int) -> list[Token]:
        letter, argument, written = found["letter"], found["argument"], found[0]
        if letter is None:
            return [Token("%", offset)]
        if letter in ("t", "T"):
            time = time_directive(argument or "%d/%b/%Y:%H:%M:%S %z", written, offset)
            return time if letter == "t" else [time[0], time[1]._replace(directive=standard("time", 1)), time[2]]
        if letter == "d" and argument in PHP_FPM_UNITS:
            directive = standard("duration", 0, UNITS[PHP_FPM_UNITS[argument]])
        elif letter in ("e", "o") and argument:
            directive = extra(argument)
        elif letter in PHP_FPM:
            directive = PHP_FPM[letter]
        else:
            return self.unknown(written, offset)
        return [Token(written, offset, directive, written)]


# --- HAProxy ----------------------------------------------------------------------------------------------------------

HAPROXY = {
    "B": standard("bytes_sent"),
    "CC": extra("captured_request_cookie"),
    "CS": extra("captured_response_cookie"),
    "H": extra("hostname"),
    "HM": standard("method"),
    "HP": standard("path"),
    "HPO": standard("path"),
    "HQ": Directive(Field("query", "query")),
    "HU": standard("target"),
    "HV": standard("protocol"),
    "ID": extra("unique_id"),
    "ST": standard("status"),
    "T": standard("time"),
    "Ta": standard("duration", 0, UNITS["ms"]),
    "Tc": extra("connect_timer"),
    "Td": extra("data_timer"),
    "Th": extra("handshake_timer"),
    "Ti": extra("idle_timer"),
    "Tl": standard("time"),
    "Tq": extra("request_timer"),
    "TR": extra("request_timer"),
    "Tr": extra("response_timer"),
    "Ts": standard("time", 1),
    "Tt": standard("duration", 1, UNITS["ms"]),
    "Tu": standard("duration", 2, UNITS["ms"]),
    "Tw": extra("queue_timer"),
    "U": extra("bytes_received"),
    "ac": extra("actconn"),
    "b": extra("backend"),
    "bc": extra("beconn"),
    "bi": extra("backend_source_ip"),
    "bp": extra("backend_source_port"),
    "bq": extra("backend_queue"),
    "ci": standard("client"),
    "cp": extra("client_port"),
    "f": extra("frontend"),
    "fc": extra("feconn"),
    "fi": extra("frontend_ip"),
    "fp": extra("frontend_port"),
    "ft": extra("frontend"),
    "hr": extra("captured_request_headers", "text"),
    "hrl": extra("captured_request_headers", "text"),
    "hs": extra("captured_response_headers", "text"),
    "hsl": extra("captured_response_headers", "text"),
    "lc": extra("log_counter"),
    "ms": extra("milliseconds"),
    "pid": extra("pid"),
    "r": standard("request"),
    "rc": extra("retries"),
    "rt": extra("request_counter"),
    "s": extra("server"),
    "sc": extra("srv_conn"),
    "si": extra("server_ip"),
    "sp": extra("server_port"),
    "sq": extra("srv_queue"),
    "sslc": extra("ssl_ciphers"),
    "sslv": extra("ssl_version"),
    "t": standard("time"),
    "tr": standard("time"),
    "trg": standard("time"),
    "trl": standard("time"),
    "ts": extra("termination_state"),
    "tsc": extra("termination_state"),
}
# What the variables write: dates, and others that are no strings and have no quotes.
HAPROXY_TIMES = {
    **dict.fromkeys(("t", "tr"), "%d/%b/%Y:%H:%M:%S.123"),
    **dict.fromkeys(("T", "Tl", "trg", "trl"), "%d/%b/%Y:%H:%M:%S %z"),
    "Ts": "1700000000",
    "ms": "123",
}
# fmt: off
HAPROXY_STRINGS = frozenset((
    "CC", "CS", "H", "HM", "HP", "HPO", "HQ", "HU", "HV", "ID", "b", "bi", "ci", "f", "fi", "ft", "r", "s", "si",
    "sslc", "sslv",
))
# fmt: on
# Sample fetches that are fields.
FETCHES = {
    "src": standard("client", 1),
    "src_port": extra("client_port"),
    "method": standard("method", 1),
    "path": standard("path", 1),
    "pathq": standard("target", 1),
    "url": standard("target", 1),
    "query": Directive(Field("query", "query"), 1),
    "status": standard("status", 1),
}


# Of "%{+json}o", after which items with a name are members of an object.
HAPROXY_JSON = r"%\{[^}]{0,99}\+json\b[^}]{0,99}\}o\b"


class Haproxy(Family):
    """log-format of HAProxy.

    Args:
        one_has_headers (bool): Whether only one of `%hr` and `%hs` writes something. It is not known which.
    """

    pattern = (
        r"%(?:%|(?:\((?P<alias>[^)]*)\))?(?:\{(?P<flags>[^}]*)\})?"
        r"(?:\[(?P<fetch>(?:[^\]\\]|\\.)*)\]|(?P<all>o\b ?)|(?P<name>[A-Za-z]+)))"
    )
    escapes = "hash"

    def __init__(self, one_has_headers: bool = False) -> None:
        self.quotes = False
        self.one_has_headers = one_has_headers

    def names(self) -> Iterable[str]:
        return [*map("%{}".format, HAPROXY), "%[FETCH]"]

    def tokens(self, found: re.Match[str], offset: int) -> list[Token]:
        name, fetch, written = found["name"], found["fetch"], found[0]
        flags = found["flags"] or ""
        quotes = "+Q" in flags or (self.quotes and "-Q" not in flags)
        if found["all"]:
            self.quotes = quotes
            return []
        if name is None and fetch is None:
            return [Token("%", offset)]
        if fetch is not None:
            token = Token(written, offset, fetched(fetch), fetch)
        elif name in HAPROXY:
            directive = HAPROXY[name]
            if name in ("hr", "hs") and self.one_has_headers:
                directive = extra("captured_headers", "text")
            token = Token(f"%{name}", offset, directive, written, HAPROXY_TIMES.get(name, ""))
            quotes = quotes and name in HAPROXY_STRINGS
        else:
            return self.unknown(written, offset)
        if name in ("hr", "hs"):
            return [Token("{", offset), token, Token("}", offset)]
        return [Token('"', offset), token, Token('"', offset)] if quotes else [token]


def fetched(fetch: str) -> Directive:
    """Return the directive for a sample fetch, which converters may follow.

    >>> fetched("req.hdr(User-Agent),lower").field.name, fetched("var(txn.id)").field.name
    ('user_agent', 'extra.var(txn.id)')
    """
    if found := re.fullmatch(r"(?:req\.)?f?hdr\(([^,()]+)(?:,-?\d+)?\)(?:,.*)?", fetch):
        return header(found[1])
    return FETCHES.get(fetch.partition(",")[0]) or extra(fetch)


# --- Squid ------------------------------------------------------------------------------------------------------------

# The digits of HTTP/1.1.
VERSION = extra("http_version")
SQUID = {
    ">a": standard("client"),
    ">a:%>p": Directive(Field("client", "endpoint")),
    ">A": standard("client", 1),
    ">p": extra("client_port"),
    ">eui": extra("client_eui"),
    ">la": extra("local_address"),
    ">lp": extra("local_port"),
    ">nfmark": extra("client_nfmark"),
    ">qos": extra("client_qos"),
    ">handshake": extra("client_handshake"),
    "la": extra("local_address"),
    "lp": extra("local_port"),
    "<a": extra("peer"),
    "<a:%<p": extra("peer"),
    "<A": extra("peer"),
    "<p": extra("peer_port"),
    "<la": extra("server_local_address"),
    "<lp": extra("server_local_port"),
    "<nfmark": extra("server_nfmark"),
    "<qos": extra("server_qos"),
    "ts": standard("time"),
    "tS": standard("time", 1),
    "tl": standard("time"),
    "tg": standard("time"),
    "tu": extra("subsecond"),
    "tr": standard("duration", 0, UNITS["ms"]),
    "dt": extra("dns_time"),
    "<pt": extra("peer_response_time"),
    "<tt": extra("server_response_time"),
    ">h": extra("request_headers"),
    ">ha": extra("adapted_request_headers"),
    "<h": extra("reply_headers"),
    "un": standard("user"),
    "ul": standard("user", 1),
    "ue": standard("user", 2),
    "us": standard("user", 3),
    "ui": extra("ident"),
    "credentials": extra("credentials"),
    ">Hs": standard("status"),
    "Hs": standard("status", 1),
    "<Hs": extra("server_status"),
    "Ss": extra("result"),
    "Sh": extra("hierarchy"),
    "mt": extra("content_type"),
    "rm": standard("method"),
    ">rm": standard("method", 1),
    "<rm": extra("server_method"),
    "ru": standard("target"),
    ">ru": standard("target", 1),
    "rp": standard("target", 2),
    ">rp": standard("target", 3),
    "<ru": extra("server_url"),
    "<rp": extra("server_path"),
    ">rs": extra("scheme"),
    "<rs": extra("server_scheme"),
    ">rd": standard("vhost", 1),
    "<rd": extra("server_domain"),
    ">rP": extra("port"),
    "<rP": extra("server_port"),
    "rv": VERSION,
    ">rv": VERSION,
    ">v": VERSION,
    "<rv": extra("server_http_version"),
    "<st": standard("bytes_sent"),
    ">st": extra("bytes_received"),
    "st": extra("bytes_total"),
    "<bs": extra("server_body_bytes"),
    "<sH": extra("reply_high_offset"),
    "<sS": extra("reply_object_size"),
    "<sh": extra("reply_header_bytes"),
    ">sh": extra("request_header_bytes"),
    "et": extra("acl_tag"),
    "ea": extra("acl_log"),
    "sn": extra("sequence_number"),
    "err_code": extra("error_code"),
    "err_detail": extra("error_detail"),
    "note": extra("note"),
}
SQUID_CODES = "|".join(sorted(SQUID, key=len, reverse=True))


class Squid(Family):
    """logformat of Squid. In a format with quotes, values have backslashes before these."""

    pattern = (
        r"%(?:%|(?P<sign>[\"\[#'])?(?P<left>-)?(?P<zero>0)?(?P<width>\d*)(?:\.(?P<most>\d+))?(?:\{(?P<before>[^}]*)\})?"
        rf"(?:(?P<other>(?:icap|adapt|ssl|tls)::[<>]?\w+)|(?:http::)?(?P<code>{SQUID_CODES}))(?:\{{(?P<after>[^}}]*)\}})?)"
    )
    escapes = "none"

    def names(self) -> Iterable[str]:
        return [*map("%{}".format, SQUID), "%{NAME}>h", "%{NAME}<h"]

    def unknown(self, written: str, offset: int) -> NoReturn:
        if f">{written[1:]}" in SQUID:
            raise ValueError(
                f"unknown directive {written!r} at offset {offset} of the format; did you mean '%>{written[1:]}'?"
            )
        super().unknown(written, offset)

    def tokens(self, found: re.Match[str], offset: int) -> list[Token]:
        code, other, written = found["code"], found["other"], found[0]
        if '"' in found.string:
            self.escapes = "backslash"
        if code is None and other is None:
            return [Token("%", offset)]
        argument = found["before"] or found["after"]
        around = found.string[found.start() - 1 : found.start()], found.string[found.end() : found.end() + 1]
        if code in ("tl", "tg"):
            return time_directive(argument or "%d/%b/%Y:%H:%M:%S %z", written, offset)
        if code is None:
            token = Token(written, offset, extra(other), written)
        elif argument and code in (">h", ">ha", "<h", "note"):
            token = Token(written, offset, self._header(code, argument, '"' in around or found["sign"] == '"'), written)
        else:
            token = Token(written, offset, SQUID[code], written, self._time(found))
        # A column with spaces.
        if found["left"] and found["width"] and around[1] == " ":
            return [token, Token(" ", offset)]
        is_padded = found["width"] and not found["zero"] and not found["left"] and around[0] == " "
        return [Token(" ", offset), token] if is_padded and SQUID.get(code or "") != SQUID["tr"] else [token]

    @staticmethod
    def _header(code: str, argument: str, is_quoted: bool) -> Directive:
        directive = header(argument) if code in (">h", ">ha") else extra(argument)
        if directive.field.kind == "list" and not is_quoted:
            return extra(argument)  # "203.0.113.7,%2010.0.0.1"
        return directive._replace(rank=1) if code == ">ha" else directive

    @staticmethod
    def _time(found: re.Match[str]) -> str:
        """Return the pattern of a time. Milliseconds are a fraction if they have three digits."""
        if found["code"] == "tu":
            is_fraction = found["zero"] and found["width"] == "3" and found["most"] in (None, "3")
            return FRACTIONS["msec_frac"] if is_fraction else ""
        return {"ts": EPOCHS["sec"], "tS": "1700000000.123"}.get(found["code"], "")


# --- morgan -----------------------------------------------------------------------------------------------------------

MORGAN = {
    "remote-addr": standard("client"),
    "remote-user": standard("user"),
    "date": standard("time"),
    "method": standard("method"),
    "url": standard("target"),
    "http-version": VERSION,
    "status": standard("status"),
    "referrer": standard("referer"),
    "user-agent": standard("user_agent"),
    "response-time": standard("duration", 0, UNITS["ms"]),
    "total-time": standard("duration", 1, UNITS["ms"]),
}
MORGAN_DATES = {
    "clf": "%d/%b/%Y:%H:%M:%S %z",
    "iso": "%Y-%m-%dT%H:%M:%S.123Z",
    "web": "%a, %d %b %Y %H:%M:%S GMT",
}


class Morgan(Family):
    """A format string of morgan, for Express. A name that is not known is a token of the user's."""

    sign = ":"
    pattern = r"(?a):(?:(?P<name>[-\w]{2,})(?:\[(?P<argument>[^\]]+)\])?)?"
    escapes = "none"

    def names(self) -> Iterable[str]:
        return [*map(":date[{}]".format, MORGAN_DATES)]

    def tokens(self, found: re.Match[str], offset: int) -> list[Token]:
        name, argument, written = found["name"], found["argument"], found[0]
        if name is None:
            return [Token(":", offset)]
        if name == "date" and (argument or "web") not in MORGAN_DATES:
            return self.unknown(written, offset)
        if name in ("req", "res") and argument:
            directive = header(argument) if name == "req" else extra(argument)
            if written.lower() == ":res[content-length]":
                directive = standard("bytes_sent")
            return [Token(written, offset, directive, argument)]
        label = name if name.endswith("-time") else written[1:]
        pattern = MORGAN_DATES[argument or "web"] if name == "date" else ""
        return [Token(written, offset, MORGAN.get(name) or extra(written[1:]), label, pattern)]


# --- Envoy ------------------------------------------------------------------------------------------------------------

ENVOY = {
    "START_TIME": standard("time"),
    "START_TIME_LOCAL": standard("time"),
    "PROTOCOL": standard("protocol"),
    "RESPONSE_CODE": standard("status"),
    "BYTES_SENT": standard("bytes_sent"),
    "DURATION": standard("duration", 0, UNITS["ms"]),
    "DOWNSTREAM_REMOTE_ADDRESS": Directive(Field("client", "endpoint")),
    "DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT": standard("client"),
    "DOWNSTREAM_DIRECT_REMOTE_ADDRESS": Directive(Field("client", "endpoint"), 1),
    "DOWNSTREAM_DIRECT_REMOTE_ADDRESS_WITHOUT_PORT": standard("client", 1),
}
# Others that do not begin with UPSTREAM_ or DOWNSTREAM_.
# fmt: off
ENVOY_EXTRAS = frozenset((
    "ACCESS_LOG_TYPE", "BYTES_RECEIVED", "BYTES_RETRANSMITTED", "CEL", "COMMON_DURATION", "CONNECTION_ID",
    "CONNECTION_TERMINATION_DETAILS", "CUSTOM_FLAGS", "DYNAMIC_METADATA", "EMIT_TIME", "EMIT_TIME_LOCAL",
    "ENVIRONMENT", "FILTER_CHAIN_NAME", "FILTER_STATE", "GRPC_STATUS", "GRPC_STATUS_NUMBER", "HOSTNAME",
    "LOCAL_REPLY_BODY", "METADATA", "PACKETS_RETRANSMITTED", "PATH", "QUERY_PARAM", "QUERY_PARAMS", "REQ",
    "REQ_WITHOUT_QUERY", "REQUEST_DURATION", "REQUEST_HEADERS_BYTES", "REQUEST_HEADER_BYTES", "REQUEST_TX_DURATION",
    "REQUESTED_SERVER_NAME", "RESP", "RESPONSE_CODE_DETAILS", "RESPONSE_DURATION", "RESPONSE_FLAGS",
    "RESPONSE_FLAGS_LONG", "RESPONSE_HEADERS_BYTES", "RESPONSE_HEADER_BYTES", "RESPONSE_TRAILERS_BYTES",
    "RESPONSE_TX_DURATION", "ROUNDTRIP_DURATION", "ROUTE_NAME", "STREAM_ID", "TLS_JA3_FINGERPRINT", "TRACE_ID",
    "TRAILER", "UNIQUE_ID", "VIRTUAL_CLUSTER_NAME",
))
# fmt: on
# Headers of HTTP/2 and of Envoy that are fields, or have other names in its documentation.
ENVOY_HEADERS = {
    ":method": standard("method"),
    ":path": standard("target"),
    ":authority": standard("vhost"),
    "x-envoy-original-path": standard("target"),
    "x-envoy-upstream-service-time": extra("upstream_service_time"),
    "x-request-id": extra("request_id"),
}


class Envoy(Family):
    """A format string of Envoy, and so of Istio, Contour and Gloo."""

    pattern = r"%(?:%|(?P<name>[A-Z][A-Z0-9_]+)(?:\((?P<argument>[^)]*)\))?(?::\d+)?%)"
    escapes = "none"

    def names(self) -> Iterable[str]:
        return [f"%{name}%" for name in sorted({*ENVOY, *ENVOY_EXTRAS})]

    def tokens(self, found: re.Match[str], offset: int) -> list[Token]:
        name, argument, written = found["name"], found["argument"], found[0]
        if name is None:
            return [Token("%", offset)]
        if "TIME" in name and name.removesuffix("_LOCAL") in ("START_TIME", "EMIT_TIME"):
            return self._time(name, argument, written, offset)
        if name == "COMMON_DURATION" and (whole := re.fullmatch("DS_RX_BEG:DS_TX_END:([mun]s)", argument or "")):
            directive = standard("duration", 1, UNITS[whole[1]])
        elif name in ("REQ", "RESP", "TRAILER", "REQ_WITHOUT_QUERY") and argument:
            directive = self._header(name, argument)
        elif name == "PATH":
            directive = standard("path" if argument and argument.startswith("NQ") else "target")
        elif name in ENVOY:
            directive = ENVOY[name]
        elif name in ENVOY_EXTRAS or name.startswith(("UPSTREAM_", "DOWNSTREAM_")):
            directive = extra(argument or name.lower())
        else:
            return self.unknown(written, offset)
        return [Token(written, offset, directive, argument or name.lower())]

    @staticmethod
    def _header(name: str, argument: str) -> Directive:
        # "X?Y": X, or Y if there is no X.
        names = argument.lower().split("?")
        known = [ENVOY_HEADERS.get(each) or REQUEST_HEADERS.get(each) for each in names]
        directive = next(filter(None, known), None) if name != "TRAILER" else None
        if name == "RESP" and directive and not (directive.field.name or "").startswith("extra."):
            directive = None
        if name == "REQ_WITHOUT_QUERY" and directive == standard("target"):
            directive = standard("path")
        return directive or extra(argument)

    @staticmethod
    def _time(name: str, argument: str | None, written: str, offset: int) -> list[Token]:
        pattern = re.sub(
            "%([1-9]?)f", lambda found: "123456789"[: int(found[1] or 9)], argument or "%Y-%m-%dT%H:%M:%S.%3fZ"
        )
        pattern = pattern.replace("%s", EPOCHS["sec"])
        before, time, after = time_directive(pattern, written, offset)
        directive = ENVOY.get(name) or extra(name.lower(), "time")
        return [before, time._replace(directive=directive, name=name.lower()), after]


# --- Python -----------------------------------------------------------------------------------------------------------

# fmt: off
RECORD_ATTRIBUTES = (
    "created", "filename", "funcName", "levelname", "levelno", "lineno", "module", "msecs", "name", "pathname",
    "process", "processName", "relativeCreated", "taskName", "thread", "threadName",
)
UWSGI_EXTRAS = (
    "cl", "core", "hcount", "headers", "hsize", "ioerr", "metric", "modifier1", "modifier2", "pid", "pktsize",
    "rerr", "rss", "rssM", "rtime", "switches", "tmsecs", "tmicros", "vars", "vsz", "vszM", "werr", "wid",
)
# fmt: on
# gunicorn: access_log_format, and Uvicorn's formatter and other attributes of records of Python's logging.
PYTHON = {
    "h": standard("client"),
    "l": extra("ident"),
    "u": standard("user"),
    "r": standard("request"),
    "m": standard("method"),
    "U": standard("path_decoded"),
    "q": standard("query"),
    "H": standard("protocol"),
    "s": standard("status"),
    "B": standard("bytes_sent"),
    "b": standard("bytes_sent"),
    "f": standard("referer"),
    "a": standard("user_agent"),
    "T": standard("duration", 3),
    "M": standard("duration", 2, UNITS["ms"]),
    "D": standard("duration", 0, UNITS["us"]),
    "L": standard("duration"),
    "R": standard("request", 1),  # Hypercorn's, as S, st and Uq
    "S": extra("scheme"),
    "st": extra("status_phrase"),
    "Uq": Directive(Field("target_decoded", "word")),
    "client_addr": Directive(Field("client", "endpoint")),
    "request_line": standard("request"),
    **{name: extra(name) for name in RECORD_ATTRIBUTES},
}
UWSGI = {
    "uri": standard("target"),
    "method": standard("method"),
    "user": standard("user"),
    "addr": standard("client"),
    "host": standard("vhost"),
    "proto": standard("protocol"),
    "uagent": standard("user_agent"),
    "referer": standard("referer"),
    "status": standard("status"),
    "rsize": standard("bytes_sent"),
    "size": standard("bytes_sent", 1),
    "micros": standard("duration", 0, UNITS["us"]),
    "msecs": standard("duration", 1, UNITS["ms"]),
    "secs": standard("duration", 2),
    "time": standard("time", 1),
    "epoch": standard("time", 1),
    "ctime": standard("time"),
    "ltime": standard("time"),
    **{name: extra(name) for name in UWSGI_EXTRAS},
}
UWSGI_TIMES = {
    "time": EPOCHS["sec"],
    "epoch": EPOCHS["sec"],
    "ctime": "%a %b %d %H:%M:%S %Y",
    "ltime": "%d/%b/%Y:%H:%M:%S %z",
}


class Python(Family):
    """A format of Python's "%" operator, `%(name)s`: access_log_format of gunicorn, or of Uvicorn's formatter."""

    pattern = r"%(?:%|\((?P<name>[^)]*)\)[-#0 +]*\d*(?:\.\d+)?[sdifr])"

    def names(self) -> Iterable[str]:
        known = (*PYTHON, "t", "p", "asctime", "levelprefix", "status_code", "{NAME}i", "{NAME}o", "{NAME}e")
        return map("%({})s".format, known)

    def tokens(self, found: re.Match[str], offset: int) -> list[Token]:
        name, written = found["name"], found[0]
        if name is None:
            return [Token("%", offset)]
        if argument := re.fullmatch(r"\{(.+)\}([ioe])", name):
            directive = header(argument[1]) if argument[2] == "i" else extra(argument[1])
            if argument[2] == "e" and argument[1].lower() == "raw_uri":
                directive = standard("target")
            return [Token(written, offset, directive, name)]
        if name in PYTHON:
            return [Token(written, offset, PYTHON[name], name)]
        return self._with_more(found, offset)

    def _with_more(self, found: re.Match[str], offset: int) -> list[Token]:
        """Return the tokens of a directive that writes more than a value."""
        name, written = found["name"], found[0]
        tokens = {
            "t": time_directive(None, written, offset),
            "p": [Token("<", offset), Token(written, offset, extra("pid"), name), Token(">", offset)],
            "asctime": [Token(written, offset, standard("time"), name, "%Y-%m-%d %H:%M:%S,123")],
            # Uvicorn's: the only level that has requests; a status, and the reason after it.
            "levelprefix": [Token("INFO:    ", offset)],
            "status_code": [Token(written, offset, standard("status"), name)],
        }.get(name)
        if tokens is None:
            return self.unknown(written, offset)
        if name == "status_code" and found.end() == len(found.string):
            reason = Directive(Field(None, "text"))
            tokens += [Token("$optional", offset + 1, extra("optional")), Token(" ", offset + 1)]
            tokens += [Token(written, offset + 1, reason)]
        return tokens


class Uwsgi(Family):
    """logformat of uWSGI, `%(name)`."""

    pattern = r"%(?:%|\((?P<name>[^)]*)\))"

    def names(self) -> Iterable[str]:
        return map("%({})".format, (*UWSGI, "var.NAME", "metric.NAME"))

    def tokens(self, found: re.Match[str], offset: int) -> list[Token]:
        name, written = found["name"], found[0]
        if name is None:
            return [Token("%", offset)]
        if name.startswith("var.HTTP_"):
            directive = header(name[9:].replace("_", "-"))
        elif name.startswith(("var.", "metric.")):
            directive = extra(name)
        elif name in UWSGI:
            directive = UWSGI[name]
        else:
            return self.unknown(written, offset)
        return [Token(written, offset, directive, name, UWSGI_TIMES.get(name, ""))]


# --- which family -----------------------------------------------------------------------------------------------------

# What Squid's codes have that no other has: "%ts" and "%tr" are HAProxy's, too, and Apache has "%>a".
SQUID_OWN = (
    r"%(?:\[(?![^\s\]]{0,999}\])|[\"'#])?-?\d*(?:\.\d+)?"
    r"(?:(?:\{[^}]{0,999}\})?(?:(?:http|icap|adapt|ssl|tls)::\S"
    rf"|(?!ts|tr|st|[<>][aAphv]\b)(?:{SQUID_CODES})(?!\w))|\{{[^}}]{{0,999}}\}}[<>]h\b)"
)
# What only one of the families with "%" has.
OWN = (
    (r"%r%Q|%m %r|%\{(?:milli|micro|seconds|kilo|mega)\w*\}[dM]", PhpFpm),
    (HAPROXY_JSON, Haproxy),
    (SQUID_OWN, Squid),
    (rf"%\{{[^+}}-][^}}]*\}}[rs](?![a-zA-Z])|%F\b|{JAVA_TIME}", Tomcat),
    (r"%(?:\{[ciopqrs],|[cio]\{|\{[A-Z_]{4,}\}(?![A-Za-z^<>]))", Undertow),
    (r"%\([\w.{}:-]+\)[-#0 +]*\d*(?:\.\d+)?[sdifr]", Python),
    (r"%\([\w.]+\)", Uwsgi),
    (r"%[A-Z][A-Z0-9_]{2,}(?:\([^)]*\))?(?::\d+)?%", Envoy),
    (r"%(?:\{[+-][^}]*\}|\[|(?:ci|cp|ft|tsc|tr[gl]|ST|TR|T[acwt]|H[MUPVQ])\b)", Haproxy),
    (r"%\d*(?:ts|tr|st)\b", Squid),
)


def family_of(text: str) -> type[Family]:
    """Return the family that a format string is of.

    >>> family_of("%ci:%cp [%t] %ST"), family_of('%h %t "%r" %>s')
    (<class 'uricodec.logs._directives.Haproxy'>, <class 'uricodec.logs._directives.Apache'>)
    """
    variables = len(re.findall(Nginx.pattern, text))
    if "%" not in text and not variables and re.search(r"(?a):(?:method|url|status)(?![-\w])", text):
        return Morgan
    if (variables and variables >= len(re.findall(Apache.pattern, text))) or "%" not in text:
        return Nginx
    return next((family for pattern, family in OWN if re.search(pattern, text)), Apache)
