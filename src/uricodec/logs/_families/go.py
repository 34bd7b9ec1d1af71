"""Formats of the loggers of Echo and Fiber.

Sources: Echo, middleware.LoggerConfig: Format; Fiber, "Logger": Constants.
"""

import re
from collections.abc import Iterable, Mapping

from uricodec.logs._directives import UNITS, Directive, Family, Token, extra, header, standard

ECHO = {
    **dict.fromkeys(("time_unix", "time_unix_milli", "time_unix_micro", "time_unix_nano"), standard("time", 1)),
    **dict.fromkeys(("time_rfc3339", "time_rfc3339_nano", "time_custom"), standard("time")),
    "bytes_in": extra("bytes_in"),
    "bytes_out": standard("bytes_sent"),
    "error": extra("error"),
    "host": standard("vhost"),
    "id": extra("id"),
    "latency": standard("duration", 0, UNITS["ns"]),
    "latency_human": standard("duration", 1),
    "method": standard("method"),
    "path": standard("path_decoded"),
    "protocol": standard("protocol"),
    "referer": standard("referer"),
    "remote_ip": standard("client"),
    "route": extra("route"),
    "status": standard("status"),
    "uri": standard("target"),
    "user_agent": standard("user_agent"),
}
FIBER = {
    "bytesReceived": extra("bytes_received"),
    "bytesSent": standard("bytes_sent"),
    "error": extra("error"),
    "host": standard("vhost"),
    "ip": standard("client"),
    "ips": standard("forwarded_for"),
    "latency": standard("duration"),
    "method": standard("method"),
    "path": standard("path"),
    "pid": extra("pid"),
    "port": extra("port"),
    "protocol": extra("scheme"),
    "queryParams": standard("query"),
    "referer": standard("referer"),
    "route": extra("route"),
    "status": standard("status"),
    "time": standard("time"),
    "ua": standard("user_agent"),
    "url": standard("target"),
}
COLORS = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white", "reset")
# Of `${header:NAME}` and the like.
NAMED = ("header", "query", "form", "cookie", "reqHeader", "respHeader", "locals")


class Echo(Family):
    """The Format of Echo's logger."""

    sign = "$"
    pattern = r"\$\{(?P<name>\w+)(?::(?P<argument>[^}]{1,999}))?\}"
    escapes = "none"
    directives: Mapping[str, Directive] = ECHO

    def names(self) -> Iterable[str]:
        return [*map("${{{}}}".format, self.directives), *map("${{{}:NAME}}".format, NAMED)]

    def tokens(self, found: re.Match[str], offset: int) -> list[Token]:
        name, argument, written = found["name"], found["argument"], found[0]
        if name in COLORS and argument is None:  # removed from a line before it is read
            return [Token("", offset)]
        if name in NAMED and argument:
            directive = header(argument) if name in ("header", "reqHeader") else extra(argument)
        elif name in self.directives and argument is None:
            directive = self.directives[name]
            if name == "latency_human" and "${latency}" in found.string:  # which has no unit
                directive = extra(name)
        else:
            return self.unknown(written, offset)
        return [Token(written, offset, directive, argument or name)]


class Fiber(Echo):
    """The Format of Fiber's logger."""

    directives = FIBER
