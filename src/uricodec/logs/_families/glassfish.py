"""Formats of GlassFish and Payara.

Source: GlassFish and Payara, help of the administration console, "Access Logging": Format.
"""

import re
from collections.abc import Iterable
from itertools import combinations

from uricodec.logs._configuration import Source
from uricodec.logs._directives import UNITS, Family, Token, extra, header, standard

GLASSFISH = {
    "auth-user-name": standard("user"),
    "client.dns": standard("client"),
    "client.name": standard("client"),
    "cookie": extra("cookie"),
    "cookie.value": extra("cookie_value"),
    "cookies": extra("cookies"),
    "datetime": standard("time"),
    "http-method": standard("method"),
    "http-uri": standard("path"),
    "http-version": standard("protocol"),
    "query-str": standard("query"),
    "referer": standard("referer"),
    "request": standard("request"),
    "response.content-type": extra("content_type"),
    "response.length": standard("bytes_sent"),
    "status": standard("status"),
    "time-taken": standard("duration", 0, UNITS["ms"]),
    "user.agent": standard("user_agent"),
    "vs.id": extra("virtual_server"),
}
# Of `%header.NAME%` and the like.
NAMED = ("attribute", "cookie", "cookies", "header", "headers", "response.header", "response.headers", "session")
# What has no quotes.
BARE = ("response.content-type", "response.length", "status", "vs.id")
# What is written if there is no value; `%header.NAME%` has NULL-HEADER-NAME.
MISSING = {
    "auth-user-name": "NULL-AUTH-USER",
    "header.referer": "NULL-REFERER",
    "header.user-agent": "NULL-USER-AGENT",
    "query-str": "NULL-QUERY",
    "referer": "NULL-REFERER",
    "user.agent": "NULL-USER-AGENT",
}
# How many directives may have no value. Each doubles the variants; further ones are text under `extra`.
MOST = 4


class GlassFish(Family):
    """A format of GlassFish or Payara, which write texts in quotes and a space between them, and nothing else.

    Args:
        missing (tuple[str, ...]): The directives that have no value.
        texts (tuple[str, ...]): The directives of headers that are texts under `extra`.
        literal (bool): Whether all is written as the format has it.
    """

    pattern = r"%(?P<name>[A-Za-z][\w.-]*)%"
    escapes = "none"

    def __init__(self, missing: tuple[str, ...] = (), texts: tuple[str, ...] = (), literal: bool = False) -> None:
        self.missing = missing
        self.texts = texts
        self.literal = literal

    @classmethod
    def variants(cls, source: Source) -> list[tuple[Source, Family, bool]]:
        found = [*re.finditer(cls.pattern, source.text)]
        text, offsets = "", []
        for each in found:
            text += each[0] + " "
            offsets += source.offsets[each.start() : each.end() + 1]
        names = [name for name in dict.fromkeys(each["name"] for each in found) if missing(name)]
        some, texts = names[:MOST], tuple(names[MOST:])
        subsets = [each for size in reversed(range(len(some) + 1)) for each in combinations(some, size)]
        plain = source._replace(text=text.rstrip(), offsets=offsets)
        result: list[tuple[Source, Family, bool]] = [(plain, cls(each, texts), False) for each in subsets]
        if re.sub(cls.pattern, "", source.text).strip():
            result.append((source, cls(literal=True), False))
        return result

    def names(self) -> Iterable[str]:
        return [*map("%{}%".format, GLASSFISH), *map("%{}.NAME%".format, NAMED)]

    def tokens(self, found: re.Match[str], offset: int) -> list[Token]:
        name, written = found["name"], found[0]
        group, _, argument = name.rpartition(".")
        if name in self.missing:
            return [Token(f'"{missing(name)}"', offset)]
        if name in GLASSFISH:
            directive = GLASSFISH[name]
        elif group in NAMED and argument:
            directive = header(argument) if group == "header" else extra(argument)
        else:
            return self.unknown(written, offset)
        if name in self.texts:
            directive = extra(argument or name)
        token = Token(written, offset, directive, argument or name)
        if self.literal or name in BARE:
            return [token]
        return [Token('"', offset), token, Token('"', offset)]


def missing(name: str) -> str:
    """Return what is written for a directive of a field without a value; an empty text if that is not known.

    >>> missing("header.Host"), missing("cookie.sid")
    ('NULL-HEADER-HOST', '')
    """
    group, _, argument = name.rpartition(".")
    if group == "header" and name not in MISSING:
        is_field = not (header(argument).field.name or "").startswith("extra.")
        return f"NULL-HEADER-{argument.upper()}" if is_field else ""
    return MISSING.get(name, "")
