"""access.format of PHP-FPM.

Source: PHP-FPM, www.conf.
"""

import re
from collections.abc import Iterable

from uricodec.logs._directives import (
    TARGET_DECODED,
    UNITS,
    Directive,
    Family,
    Field,
    Token,
    extra,
    standard,
    time_directive,
)

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
JOINED = (([{"%r"}, {"%Q"}, {"%q"}], TARGET_DECODED),)


class PhpFpm(Family):
    """access.format of PHP-FPM. The path is that of the script, decoded; times have no brackets."""

    pattern = r"%(?:%|(?:\{(?P<argument>[^}]*)\})?(?P<letter>[A-Za-z]))"
    escapes = "none"
    joined = JOINED

    def names(self) -> Iterable[str]:
        return [*map("%{}".format, PHP_FPM), "%t", "%T", "%{NAME}e", "%{NAME}o"]

    def tokens(self, found: re.Match[str], offset: int) -> list[Token]:
        letter, argument, written = found["letter"], found["argument"], found[0]
        if letter is None:
            return [Token("%", offset)]
        if letter in ("t", "T"):
            time = time_directive(argument or "%d/%b/%Y:%H:%M:%S %z", written, offset)
            return time if letter == "t" else [time[0], time[1]._replace(directive=standard("time", 1)), time[2]]
        if letter == "d" and argument:
            name = re.sub("^mil(?=i)", "mill", argument.lower())  # older versions have one "l"
            unit = PHP_FPM_UNITS.get(name) or self.unknown(written, offset)
            directive = standard("duration", 0, UNITS[unit])
        elif letter in ("e", "o") and argument:
            directive = extra(argument)
        elif letter in PHP_FPM:
            directive = PHP_FPM[letter]
        else:
            return self.unknown(written, offset)
        return [Token(written, offset, directive, written)]
