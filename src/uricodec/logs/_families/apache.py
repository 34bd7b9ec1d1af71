"""LogFormat of Apache, access_log_format of aiohttp, the access log of H2O, and Logger of Actix.

Sources: Apache HTTP Server 2.4, mod_log_config and mod_logio; aiohttp, "Logging"; H2O, "Access Log Directives";
actix_web::middleware::Logger.
"""

import re
from collections.abc import Iterable, Mapping

from uricodec.logs._configuration import Source
from uricodec.logs._directives import (
    ENDPOINT,
    TARGET_DECODED,
    UNITS,
    Directive,
    Family,
    Field,
    Token,
    extra,
    header,
    standard,
    time_directive,
)

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
# "%U%q", also after a host; "%a:%{remote}p".
HOSTS = {"%Hosti", "%v", "%V"}
QUERIES = {"%q", "%sanitized.queryr"}  # Jira
AFTER_HOST = Directive(Field("target_decoded", "after_host"))
JOINED = (
    ([{"%U"}, QUERIES], TARGET_DECODED),
    ([HOSTS, {":"}, {"%p"}, {"%U"}, QUERIES], AFTER_HOST),
    ([HOSTS, {":"}, {"%p"}, {"%U"}], AFTER_HOST),
    ([HOSTS, {"%U"}, QUERIES], AFTER_HOST),
    ([HOSTS, {"%U"}], AFTER_HOST),
    ([{"%a", "%h"}, {":"}, {"%remotep"}], ENDPOINT),
)
# Actix has no other directives, and writes times as RFC 3339 has them.
ACTIX = r"(?:[^%]|%[%atPrUsbTD]|%\{r\}a|%\{[\w-]+\}[ioe])*"


class Apache(Family):
    """LogFormat of Apache, and access_log_format of aiohttp, which has its directives, and `%Tf`.

    Args:
        time (str): How `%t` is written: "brackets"; "text", by Logback, whose formats have brackets themselves; or
            "utc", by Actix, whose `%D` is milliseconds. Paths of these are not decoded.
    """

    pattern = (
        r"%(?:%|(?P<status>(?:!?\d{3}(?:,\d{3})*|[<>])*)(?:\{(?P<argument>[^}]{0,999})\})?(?P<final>[<>]?)"
        r"(?P<letter>\^FB|\^t[io]|Tf|[A-Za-z]))"
    )
    directives: Mapping[str, Directive] = APACHE
    joined = JOINED

    def __init__(self, time: str = "brackets") -> None:
        self.time = time
        if time != "brackets":
            took = standard("duration", 0, UNITS["ms"]) if time == "utc" else extra("%D")
            self.directives = {**self.directives, "D": took, "U": standard("path")}

    @classmethod
    def variants(cls, source: Source) -> list[tuple[Source, Family, bool]]:
        text, times = source.text, ["brackets"]
        if "[%t]" in text:
            times.append("text")
        elif "%t" in text and ("%a" in text or "%{r}a" in text) and re.fullmatch(ACTIX, text):
            times.append("utc")
        return [(source, cls(time), False) for time in times]

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
        if letter == "t" or (letter == "W" and argument == "t"):  # "%{t}W": Open Liberty
            return self._time(argument if letter == "t" else None, written, offset)
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
            if letter == "a" and argument:  # that of a proxy (Apache), or of X-Forwarded-For (Actix)
                directive = standard("client", 1)
        elif written == "%i":  # Open Liberty: what identd says
            directive = extra("ident")
        elif letter in NAMED:
            raise ValueError(
                f"directive {written!r} at offset {offset} of the format needs a name: '%{{NAME}}{letter}'"
            )
        else:
            return self.unknown(written, offset)
        return [Token(written, offset, directive, written)]

    def _time(self, argument: str | None, written: str, offset: int) -> list[Token]:
        if argument or self.time == "brackets":
            return time_directive(argument, written, offset)
        time = Token(written, offset, standard("time"), written)
        if self.time == "text":
            return [time]
        # All times of Actix end in "Z". Other words, such as an ident, are none.
        date = time._replace(directive=Directive(Field("date", "word")))
        return [date, Token("T", offset), time._replace(directive=Directive(Field("time", "word"))), Token("Z", offset)]
