"""The patterns of servers in Java, which have most directives of Apache.

Sources: Tomcat, "The Valve Component": Access Logging; Jetty, CustomRequestLog; Undertow, "Access Log Handler".
"""

import re

from uricodec.logs._configuration import Source
from uricodec.logs._directives import (
    JAVA_TIME,
    UNITS,
    Family,
    Token,
    extra,
    header,
    standard,
    time_directive,
)
from uricodec.logs._families.apache import APACHE, Apache

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

    @classmethod
    def variants(cls, source: Source) -> list[tuple[Source, Family, bool]]:
        bracketed = with_brackets(source)
        return [(each, cls(), False) for each in (bracketed, source) if each]

    def tokens(self, found: re.Match[str], offset: int) -> list[Token]:
        if found["argument"] and found["letter"] in ("r", "s"):
            directive = ATTRIBUTES.get(found["argument"]) or extra(found["argument"])
            return [Token(found[0], offset, directive, found["argument"])]
        return super().tokens(found, offset)


def with_brackets(source: Source) -> Source | None:
    """Return a format with the brackets that Jetty writes around a time; None if it has none of Java's times."""
    found = re.search(rf"(?<!\[){JAVA_TIME}(?!\])", source.text)
    if found is None:
        return None
    start, stop = found.span()
    text = f"{source.text[:start]}[{found[0]}]{source.text[stop:]}"
    return Source(text, [*source.offsets[: start + 1], *source.offsets[start : stop + 1], *source.offsets[stop:]])


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
