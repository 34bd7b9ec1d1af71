"""The directives of format strings: what the ways of servers to write them have in common.

A Family is such a way; `_families` has them. Its tokens are literals and fields; which field gets the name that several
could have is decided by the whole format, in `_formats`.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple, NoReturn

from uricodec.logs._configuration import Source


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
            after_host: a word, a host and the target, perhaps with a scheme before them
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

# Directives that are one value together, and this value. MARKS are left out of names.
Joined = tuple[list[set[str]], Directive]
MARKS = str.maketrans("", "", "{}<>")
# The path, which the server has decoded, and the query after its "?"; a URL, or a host before the path; a port.
TARGET_DECODED = Directive(Field("target_decoded", "word"))
AFTER_HOST = Directive(Field("target", "after_host"))
ENDPOINT = Directive(Field("client", "endpoint"))


class Family:
    """A way to write directives.

    Attributes:
        sign (str): What they begin with.
        pattern (str): A regular expression for one; it is compiled when a format needs it, which takes milliseconds.
        escapes (str): How the server escapes values, see `Text`.
        joined (tuple[Joined, ...]): The directives that are one value together, longer ones first.
    """

    sign = "%"
    pattern = ""
    escapes = "backslash"
    joined: tuple[Joined, ...] = ()

    def names(self) -> Iterable[str]:
        """Return the directives, as they are written."""
        return ()

    def tokens(self, found: re.Match[str], offset: int) -> list[Token]:
        """Return the tokens of a directive: the field, and what the server writes around it."""
        raise NotImplementedError

    @classmethod
    def variants(cls, source: Source) -> "list[tuple[Source, Family, bool]]":
        """Return the formats that one stands for, their directives, and whether more may follow."""
        return [(source, cls(), False)]

    def unknown(self, written: str, offset: int) -> NoReturn:
        raise ValueError(
            f"unknown directive {written!r} at offset {offset} of the format{suggestion(written, list(self.names()))}"
        )


def in_column(token: Token, found: re.Match[str]) -> list[Token]:
    """Return the tokens of a directive with a width, which spaces pad: `%-15h` is followed by any number of them."""
    before, after = found.string[found.start() - 1 : found.start()], found.string[found.end() : found.end() + 1]
    space = Token(" ", token.offset)
    if found["left"]:
        return [token, space] if after == " " else [token]
    return [space, token] if before == " " else [token]


def suggestion(name: str, names: list[str]) -> str:
    """Return the end of an error message: the two names that are most like this one, or all of them."""
    from difflib import get_close_matches

    close = get_close_matches(name, names, 2)
    if close:
        return f"; did you mean {' or '.join(map(repr, close))}?"
    return f"; choose from {', '.join(names)}" if names else ""


# The digits of HTTP/1.1.
VERSION = extra("http_version")


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
