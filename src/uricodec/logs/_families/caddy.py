"""Templates of Caddy's transform encoder, `{request>uri}`.

Sources: transform-encoder, README; Caddy, "How Logging Works".
"""

import re

from uricodec.logs._configuration import Source
from uricodec.logs._directives import Directive, Family, Field, Token, extra, header, standard

CADDY = {
    "duration": standard("duration"),
    "request>client_ip": standard("client"),
    "request>host": standard("vhost"),
    "request>method": standard("method"),
    "request>proto": standard("protocol"),
    "request>remote_addr": Directive(Field("client", "endpoint"), 2),  # up to 2.4
    "request>remote_ip": standard("client", 1),
    "request>remote_port": extra("client_port"),
    "request>uri": standard("target"),
    "size": standard("bytes_sent"),
    "status": standard("status"),
    "ts": standard("time"),
    "user_id": standard("user"),
}
COMMON = '{request>client_ip} - {user_id} [{ts}] "{request>method} {request>uri} {request>proto}" {status} {size}'


class Caddy(Family):
    """A template. Values are those of the JSON log, whose escapes they have; the quotes in them are not escaped."""

    sign = "{"
    pattern = r"\{(?P<path>[^{}\s]+)\}"
    escapes = "json"

    @classmethod
    def variants(cls, source: Source) -> list[tuple[Source, Family, bool]]:
        if source.text == "{common_log}":
            source = Source(COMMON, [0] * (len(COMMON) + 1))
        return [(source, cls(), False)]

    def tokens(self, found: re.Match[str], offset: int) -> list[Token]:
        path = found["path"]
        directives = {directive_of(each) for each in path.split(":")}  # the first one that there is
        directive = directives.pop() if len(directives) == 1 else extra(path)
        return [Token(found[0], offset, directive, path)]


def directive_of(path: str) -> Directive:
    """Return the directive of a path.

    >>> directive_of("request>headers>User-Agent>[0]").field.name
    'user_agent'
    """
    if found := re.fullmatch(r"(request>headers|resp_headers)>([^>]+)>\[0\]", path):
        return header(found[2]) if found[1] == "request>headers" else extra(found[2])
    return CADDY.get(path) or extra(path)
