"""Formats of Python's "%" operator, and logformat of uWSGI.

Sources: gunicorn, "Settings": access_log_format; Python, logging: LogRecord attributes; uWSGI, "Formatting uWSGI
requests logs".
"""

import re
from collections.abc import Iterable

from uricodec.logs._directives import (
    ENDPOINT,
    EPOCHS,
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
    "Uq": TARGET_DECODED,
    "client_addr": ENDPOINT,
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
JOINED = (([{"%(U)s"}, {"?"}, {"%(q)s"}], TARGET_DECODED),)


class Python(Family):
    """A format of Python's "%" operator, `%(name)s`: access_log_format of gunicorn, or of Uvicorn's formatter."""

    pattern = r"%(?:%|\((?P<name>[^)]*)\)[-#0 +]*\d*(?:\.\d+)?[sdifr])"
    joined = JOINED

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
