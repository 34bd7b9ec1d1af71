"""Formats of morgan, for Express.

Source: morgan, README: tokens and predefined formats.
"""

import re
from collections.abc import Iterable

from uricodec.logs._directives import UNITS, VERSION, Family, Token, extra, header, standard

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
