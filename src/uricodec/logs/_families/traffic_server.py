"""Formats of Apache Traffic Server.

Source: Apache Traffic Server, "Log Formats" and "Log Fields" (logging.yaml).
"""

import re
from collections.abc import Iterable

from uricodec.logs._directives import UNITS, Family, Token, extra, header, standard

TRAFFIC_SERVER = {
    "caun": standard("user"),
    "chi": standard("client"),
    "chp": extra("client_port"),
    "cqhm": standard("method"),
    "cqpv": standard("protocol"),
    "cqtn": standard("time"),
    "cqtq": standard("time", 1),
    "cqts": standard("time", 2),
    "cqtx": standard("request"),
    "cqu": standard("target"),
    "cquc": standard("target", 1),
    "cqup": standard("path"),
    "crc": extra("cache_result"),
    "pqu": standard("target", 2),
    "pquc": standard("target", 3),
    "pscl": standard("bytes_sent"),
    "psql": standard("bytes_sent", 1),
    "pssc": standard("status"),
    "tts": standard("duration", 2),
    "ttms": standard("duration", 0, UNITS["ms"]),
    "ttmsf": standard("duration", 1),
}


class TrafficServer(Family):
    """A format of logging.yaml. Fields without a name here are `extra`, by their own names."""

    pattern = r"%<(?:\{(?P<header>[^}>]{1,999})\})?(?P<name>\w+)(?:\[[\d:-]*\])?>"
    escapes = "none"

    def names(self) -> Iterable[str]:
        return [*map("%<{}>".format, TRAFFIC_SERVER), "%<{NAME}cqh>"]

    def tokens(self, found: re.Match[str], offset: int) -> list[Token]:
        name, of, written = found["name"], found["header"], found[0]
        if of is not None:
            directive = header(of) if name in ("cqh", "ecqh") else extra(of)
        else:
            directive = TRAFFIC_SERVER.get(name) or extra(name)
        return [Token(written, offset, directive, of or name)]
