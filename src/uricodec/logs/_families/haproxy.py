"""log-format of HAProxy.

Source: HAProxy, Configuration Manual, section 8.2.6 (8.2.4 before 2.5): Custom log format.
"""

import re
from collections.abc import Iterable

from uricodec.logs._configuration import Source, without
from uricodec.logs._directives import ENDPOINT, UNITS, Directive, Family, Field, Token, extra, header, standard

HAPROXY = {
    "B": standard("bytes_sent"),
    "CC": extra("captured_request_cookie"),
    "CS": extra("captured_response_cookie"),
    "H": extra("hostname"),
    "HM": standard("method"),
    "HP": standard("path"),
    "HPO": standard("path"),
    "HQ": Directive(Field("query", "query")),
    "HU": standard("target"),
    "HV": standard("protocol"),
    "ID": extra("unique_id"),
    "ST": standard("status"),
    "T": standard("time"),
    "Ta": standard("duration", 0, UNITS["ms"]),
    "Tc": extra("connect_timer"),
    "Td": extra("data_timer"),
    "Th": extra("handshake_timer"),
    "Ti": extra("idle_timer"),
    "Tl": standard("time"),
    "Tq": extra("request_timer"),
    "TR": extra("request_timer"),
    "Tr": extra("response_timer"),
    "Ts": standard("time", 1),
    "Tt": standard("duration", 1, UNITS["ms"]),
    "Tu": standard("duration", 2, UNITS["ms"]),
    "Tw": extra("queue_timer"),
    "U": extra("bytes_received"),
    "ac": extra("actconn"),
    "b": extra("backend"),
    "bc": extra("beconn"),
    "bi": extra("backend_source_ip"),
    "bp": extra("backend_source_port"),
    "bq": extra("backend_queue"),
    "ci": standard("client"),
    "cp": extra("client_port"),
    "f": extra("frontend"),
    "fc": extra("feconn"),
    "fi": extra("frontend_ip"),
    "fp": extra("frontend_port"),
    "ft": extra("frontend"),
    "hr": extra("captured_request_headers", "text"),
    "hrl": extra("captured_request_headers", "text"),
    "hs": extra("captured_response_headers", "text"),
    "hsl": extra("captured_response_headers", "text"),
    "lc": extra("log_counter"),
    "ms": extra("milliseconds"),
    "pid": extra("pid"),
    "r": standard("request"),
    "rc": extra("retries"),
    "rt": extra("request_counter"),
    "s": extra("server"),
    "sc": extra("srv_conn"),
    "si": extra("server_ip"),
    "sp": extra("server_port"),
    "sq": extra("srv_queue"),
    "sslc": extra("ssl_ciphers"),
    "sslv": extra("ssl_version"),
    "t": standard("time"),
    "tr": standard("time"),
    "trg": standard("time"),
    "trl": standard("time"),
    "ts": extra("termination_state"),
    "tsc": extra("termination_state"),
}
# What the variables write: dates, and others that are no strings and have no quotes.
HAPROXY_TIMES = {
    **dict.fromkeys(("t", "tr"), "%d/%b/%Y:%H:%M:%S.123"),
    **dict.fromkeys(("T", "Tl", "trg", "trl"), "%d/%b/%Y:%H:%M:%S %z"),
    "Ts": "1700000000",
    "ms": "123",
}
# fmt: off
HAPROXY_STRINGS = frozenset((
    "CC", "CS", "H", "HM", "HP", "HPO", "HQ", "HU", "HV", "ID", "b", "bi", "ci", "f", "fi", "ft", "r", "s", "si",
    "sslc", "sslv",
))
# fmt: on
# Sample fetches that are fields.
FETCHES = {
    "src": standard("client", 1),
    "src_port": extra("client_port"),
    "method": standard("method", 1),
    "path": standard("path", 1),
    "pathq": standard("target", 1),
    "url": standard("target", 1),
    "query": Directive(Field("query", "query"), 1),
    "status": standard("status", 1),
}
JOINED = (
    ([{"%HP", "%HPO"}, {"%HQ"}], standard("target")),
    ([{"%ci"}, {":"}, {"%cp"}], ENDPOINT),
    ([{"%bi"}, {":"}, {"%bp"}], extra("backend_source")),
    ([{"%fi"}, {":"}, {"%fp"}], extra("frontend_address")),
    ([{"%si"}, {":"}, {"%sp"}], extra("server_address")),
)
# Some versions write it in quotes, others do not.
STATE = ("ts", "tsc")

# Of "%{+json}o", after which items with a name are members of an object.
HAPROXY_JSON = r"%\{[^}]{0,99}\+json\b[^}]{0,99}\}o\b"


class Haproxy(Family):
    """log-format of HAProxy.

    Args:
        one_has_headers (bool): Whether only one of `%hr` and `%hs` writes something. It is not known which.
        quotes_state (bool): Whether the state has quotes where strings have them.
    """

    pattern = (
        r"%(?:%|(?:\((?P<alias>[^)]*)\))?(?:\{(?P<flags>[^}]*)\})?"
        r"(?:\[(?P<fetch>(?:[^\]\\]|\\.)*)\]|(?P<all>o\b ?)|(?P<name>[A-Za-z]+)))"
    )
    escapes = "hash"
    joined = JOINED

    def __init__(self, one_has_headers: bool = False, quotes_state: bool = False) -> None:
        self.quotes = False
        self.quotes_state = quotes_state
        self.one_has_headers = one_has_headers

    @classmethod
    def variants(cls, source: Source) -> list[tuple[Source, Family, bool]]:
        may_have_quotes = "+Q" in source.text and re.search(r"%(?:\{[^}]{0,99}\})?tsc?\b", source.text)
        return [
            (each, cls(one_has_headers, quotes_state), open_end)
            for each, one_has_headers, open_end in with_headers(source)
            for quotes_state in ((True, False) if may_have_quotes else (False,))
        ]

    def names(self) -> Iterable[str]:
        return [*map("%{}".format, HAPROXY), "%[FETCH]"]

    def tokens(self, found: re.Match[str], offset: int) -> list[Token]:
        name, fetch, written = found["name"], found["fetch"], found[0]
        flags = found["flags"] or ""
        quotes = "+Q" in flags or (self.quotes and "-Q" not in flags)
        if found["all"]:
            self.quotes = quotes
            return []
        if name is None and fetch is None:
            return [Token("%", offset)]
        if fetch is not None:
            token = Token(written, offset, fetched(fetch), fetch)
        elif name in HAPROXY:
            directive = HAPROXY[name]
            if name in ("hr", "hs") and self.one_has_headers:
                directive = extra("captured_headers", "text")
            token = Token(f"%{name}", offset, directive, written, HAPROXY_TIMES.get(name, ""))
            quotes = quotes and (name in HAPROXY_STRINGS or (self.quotes_state and name in STATE))
        else:
            return self.unknown(written, offset)
        if name in ("hr", "hs"):
            return [Token("{", offset), token, Token("}", offset)]
        return [Token('"', offset), token, Token('"', offset)] if quotes else [token]


def fetched(fetch: str) -> Directive:
    """Return the directive for a sample fetch, which converters may follow.

    >>> fetched("req.hdr(User-Agent),lower").field.name, fetched("var(txn.id)").field.name
    ('user_agent', 'extra.var(txn.id)')
    """
    if found := re.fullmatch(r"(?:req\.)?f?hdr\(([^,()]+)(?:,-?\d+)?\)(?:,.*)?", fetch):
        return header(found[1])
    return FETCHES.get(fetch.partition(",")[0]) or extra(fetch)


def with_headers(source: Source) -> list[tuple[Source, bool, bool]]:
    """Return the formats that one stands for, whether only one of `%hr` and `%hs` writes something, and the open end.

    `%hr` and `%hs` write nothing if there are no headers to capture, and one space is left then, not two. The lists of
    the CLF format, `%hrl` and `%hsl`, are last.

    >>> from uricodec.logs._configuration import source_of
    >>> [each.text for each, _, _ in with_headers(source_of("%b %hr %hs %r", [(0, 13)]))]
    ['%b %hr %hs %r', '%b %hs %r', '%b %r']
    """
    if lists := re.search(r"(?: %(?:\{[^}]*\})?h[rs]l)+\Z", source.text):
        return [(without(source, lists), False, True)]
    found = [(source, False, False)]
    is_near = re.search(r"%h[rs] %h[rs](?!\w)", source.text)
    for name in "%hr", "%hs":
        for each, _, _ in found[-1:] if is_near else [*found]:
            if headers := re.search(rf" {name}\Z|{name}(?!\w) ?", each.text):
                found.append((without(each, headers), bool(is_near), False))
    return found
