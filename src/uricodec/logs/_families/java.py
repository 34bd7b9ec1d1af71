"""The patterns of servers in Java, which have most directives of Apache.

Sources: Tomcat, "The Valve Component": Access Logging; Jetty, CustomRequestLog; Undertow, "Access Log Handler";
Logback, "Layouts": PatternLayout of logback-access.
"""

import re
from collections.abc import Iterable

from uricodec.logs._configuration import Source
from uricodec.logs._directives import (
    JAVA_TIME,
    UNITS,
    Directive,
    Family,
    Field,
    Token,
    extra,
    header,
    in_column,
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
ATTRIBUTES = {
    f"{VALVE}RemoteAddr": standard("client"),
    f"{VALVE}RemoteHost": standard("client", 1),
    "sanitized.query": Directive(Field("query", "query")),  # Jira
    "sanitized.referer": standard("referer"),
}


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
    """pattern of Undertow (WildFly, Quarkus), `%{i,NAME}`, `%{time,FORMAT}`, `%{REMOTE_IP}`."""

    pattern = (
        r"%(?:\{(?P<kind>[ciopqrs]|time),(?P<own>[^}]+)\}"
        rf"|\{{(?P<long>[A-Z_]{{4,}})\}}(?:(?=ms\b)|(?![A-Za-z^<>]))|{Apache.pattern[4:]}"
    )
    directives = UNDERTOW
    escapes = "none"

    def tokens(self, found: re.Match[str], offset: int) -> list[Token]:
        kind, name, long = found["kind"], found["own"], found["long"]
        if long == "DATE_TIME" or kind == "time":
            return time_directive(name, found[0], offset)
        if long:
            if long not in UNDERTOW_NAMES:
                return self.unknown(found[0], offset)
            letter = UNDERTOW_NAMES[long]
            return [Token(f"%{letter}", offset, self.directives[letter], found[0])]
        if kind is None:
            return super().tokens(found, offset)
        return [Token(found[0], offset, header(name) if kind == "i" else extra(name), found[0])]


# Logback's long names of directives, and those of values with a name.
LOGBACK_NAMES = {
    "remoteIP": "a",
    "localIP": "A",
    "bytesSent": "b",
    "clientHost": "h",
    "protocol": "H",
    "requestMethod": "m",
    "localPort": "p",
    "queryString": "q",
    "requestURL": "r",
    "statusCode": "s",
    "user": "u",
    "requestURI": "U",
    "server": "v",
    "elapsedTime": "D",
    "elapsedSeconds": "T",
    "sessionID": "S",
    "threadName": "I",
    "thread": "I",
}
LOGBACK_HEADERS = ("i", "header")
LOGBACK_NAMED = (
    *("c", "cookie", "o", "reqAttribute", "reqCookie", "reqParameter", "requestAttribute", "requestCookie"),
    *("requestParameter", "responseHeader"),
)
LOGBACK_OWN = (
    rf"%-?\d*(?:(?:{'|'.join((*LOGBACK_NAMES, 'date'))})(?!\w)|(?:t|{'|'.join((*LOGBACK_HEADERS, *LOGBACK_NAMED))})\{{)"
)


class Logback(Family):
    """pattern of logback-access (Dropwizard), which writes no brackets around a time."""

    pattern = r"%(?:%|(?P<left>-)?(?P<width>\d*)(?:\.-?\d+)?(?P<word>[A-Za-z]\w*)(?:\{(?P<argument>[^}]*)\})?)"
    escapes = "none"
    joined = Apache.joined

    def names(self) -> Iterable[str]:
        letters = sorted({*LOGBACK_NAMES.values()})
        named = map("%{}{{NAME}}".format, (*LOGBACK_HEADERS, *LOGBACK_NAMED))
        return [*map("%{}".format, (*LOGBACK_NAMES, *letters, "B", "l", "date", "t")), *named]

    def tokens(self, found: re.Match[str], offset: int) -> list[Token]:
        word, argument, written = found["word"], found["argument"], found[0]
        letter = LOGBACK_NAMES.get(word or "%", word)
        if word in ("t", "date"):
            return self._time(argument, written, offset)
        if word is None or word == "n":
            return [Token("%", offset)] if word is None else []
        if argument and word in (*LOGBACK_HEADERS, *LOGBACK_NAMED):
            directive = header(argument) if word in LOGBACK_HEADERS else extra(argument)
            token = Token(written, offset, directive, argument)
        elif letter in (*LOGBACK_NAMES.values(), "B", "l"):
            token = Token(f"%{letter}", offset, UNDERTOW[letter], word)
        else:
            return self.unknown(written, offset)
        return in_column(token, found) if found["width"] else [token]

    @staticmethod
    def _time(argument: str | None, written: str, offset: int) -> list[Token]:
        """Return the tokens of a time. The options are a format and perhaps a zone."""
        pattern = re.findall(r'\s*(?:"([^"]*)"|([^,]*))', argument or "")[0]
        format = "".join(pattern) or "dd/MMM/yyyy:HH:mm:ss Z"
        return time_directive("yyyy-MM-dd HH:mm:ss,SSS" if format == "ISO8601" else format, written, offset)
