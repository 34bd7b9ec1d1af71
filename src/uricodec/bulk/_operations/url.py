"""URLs as they are found, valid or not: their parts, their queries, and what is secret in them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from uricodec._rows._engine import RowOperation
from uricodec._rows._tasks import Plan
from uricodec.bulk._functions import operation
from uricodec.bulk._operation import Filter, SqlFunction

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from os import PathLike

    from typing_extensions import Unpack

    from uricodec.bulk._functions import Options, TextOptions
    from uricodec.typing import ComponentErrors, QuerySpace, TextErrors

__all__ = [
    "host",
    "path_segments",
    "port",
    "public_suffix",
    "query_pairs",
    "query_value",
    "redact",
    "redact_text",
    "registrable_domain",
    "repair",
    "userinfo",
    "with_query",
]

_SENSITIVE = ("default", "extended", "token,x-*", ["q", "é"], "*")
_PATHS = ((), "/a/{*}", ["tokens", "/x*/"])
_REDACTING = {"names": "--names", "nested": "--no-nested", "paths": "--paths"}


@operation(
    "component", single="uri.userinfo", sql=(SqlFunction("uri_userinfo"),), rows="urls", page="guides/url_analytics"
)
def userinfo(**options: Unpack[Options[ComponentErrors]]) -> Any:
    """Return the userinfo of each URL, as it is spelled.

    Args:
        column (Any): The rows.
        errors (str): How an invalid row is handled: "keep", "null" or "raise". Invalid are rows that are not IRI
            references; "keep" returns what they have.
        invalid, threads, line_terminator: See `uricodec.bulk`.

    Returns:
        Any: Text, as from `uricodec.uri.userinfo`; null if the row has none.

    Source: RFC 3986 section 3.2.1, appendix B.

    >>> userinfo(["https://me:pw%40@example.org/", "//@h", "//h", None])
    ['me:pw%40', '', None, None]
    """
    return _part("userinfo")


@operation(
    "component", single="uri.host", sql=(SqlFunction("uri_host", ("bare",)),), rows="urls", page="guides/url_analytics"
)
def host(bare: bool = False, **options: Unpack[Options[ComponentErrors]]) -> Any:
    """Return the host of each URL, as it is spelled.

    Args:
        column (Any): The rows.
        bare (bool): Whether rows may begin with a host, as in `uricodec.uri.host`: "www.example.org:80/a".
        errors (str): How an invalid row is handled: "keep", "null" or "raise". Invalid are rows that are not IRI
            references; "keep" returns what they have.
        invalid, threads, line_terminator: See `uricodec.bulk`.

    Returns:
        Any: Text, as from `uricodec.uri.host`; null without an authority. In lines and columns of text, U+FFFD replaces
            what is not UTF-8.

    Source: RFC 3986 section 3.2.2, appendix B.

    >>> host(["https://me@Example.org:8042/a b", "http://[::1]/", "/a", None])
    ['Example.org', '[::1]', None, None]
    >>> host(["www.example.org", "//a.example/b", "/a"], bare=True)
    ['www.example.org', 'a.example', None]
    """
    return _part("host", bare=bare)


@operation("component", single="uri.port", sql=(SqlFunction("uri_port"),), rows="urls", page="guides/url_analytics")
def port(**options: Unpack[Options[ComponentErrors]]) -> Any:
    """Return the port of each URL, as it is spelled.

    Args:
        column (Any): The rows.
        errors (str): How an invalid row is handled: "keep", "null" or "raise". Invalid are rows that are not IRI
            references; "keep" returns what they have.
        invalid, threads, line_terminator: See `uricodec.bulk`.

    Returns:
        Any: Text, as from `uricodec.uri.port`; null without a port.

    Source: RFC 3986 section 3.2.3, appendix B.

    >>> port(["https://example.org:8042/", "https://example.org:/", "https://example.org/"])
    ['8042', '', None]
    """
    return _part("port")


@operation(
    "component",
    single="uri.registrable_domain",
    sql=(SqlFunction("uri_registrable_domain", ("bare",)),),
    rows="urls",
    page="guides/url_analytics",
    needs=("publicsuffixlist",),
)
def registrable_domain(
    private: bool = False,
    suffixes: str | PathLike[str] | None = None,
    bare: bool = False,
    **options: Unpack[Options[ComponentErrors]],
) -> Any:
    """Return the registrable domain of each URL.

    Args:
        column (Any): The rows.
        private (bool): Apply the private section of the list, too, which has suffixes of companies: github.io.
        suffixes (str | PathLike[str] | None): A file in the format of the Public Suffix List. None: the list of the
            library `publicsuffixlist`, which the extra `domains` installs.
        bare (bool): Whether rows may begin with a host, as in `host`.
        errors (str): How an invalid row is handled: "keep", "null" or "raise". Invalid are rows that are not IRI
            references; "keep" returns what they have.
        invalid, threads, line_terminator: See `uricodec.bulk`.

    Returns:
        Any: Text, as from `uricodec.uri.registrable_domain`: the public suffix and the label before it; null without a
            host, for an address, and if the host is a suffix.

    Source: https://publicsuffix.org/list/; RFC 3986 section 3.2.2, appendix B.

    >>> registrable_domain(["https://www.Example.co.uk/a b", "http://[::1]/", "http://com/", None])
    ['example.co.uk', None, None, None]
    """
    from uricodec._hosts._suffixes import DomainRows

    return lambda text, terminator: DomainRows(True, private, suffixes, text, bool(terminator), bare)


@operation(
    "component",
    single="uri.public_suffix",
    sql=(SqlFunction("uri_public_suffix", ("bare",)),),
    rows="urls",
    page="guides/url_analytics",
    needs=("publicsuffixlist",),
)
def public_suffix(
    private: bool = False,
    suffixes: str | PathLike[str] | None = None,
    bare: bool = False,
    **options: Unpack[Options[ComponentErrors]],
) -> Any:
    """Return the public suffix of the host of each URL.

    Args:
        column (Any): The rows.
        private (bool): Apply the private section of the list, too, which has suffixes of companies: github.io.
        suffixes (str | PathLike[str] | None): A file in the format of the Public Suffix List. None: the list of the
            library `publicsuffixlist`, which the extra `domains` installs.
        bare (bool): Whether rows may begin with a host, as in `host`.
        errors (str): How an invalid row is handled: "keep", "null" or "raise". Invalid are rows that are not IRI
            references; "keep" returns what they have.
        invalid, threads, line_terminator: See `uricodec.bulk`.

    Returns:
        Any: Text, as from `uricodec.uri.public_suffix`; null without a host, and for an address.

    Source: https://publicsuffix.org/list/; RFC 3986 section 3.2.2, appendix B.

    >>> public_suffix(["https://www.Example.co.uk/a b", "http://[::1]/", "http://com/", None])
    ['co.uk', None, 'com', None]
    """
    from uricodec._hosts._suffixes import DomainRows

    return lambda text, terminator: DomainRows(False, private, suffixes, text, bool(terminator), bare)


@operation(
    "list",
    single="uri.path_segments",
    sql=(SqlFunction("uri_path_segments"),),
    rows="urls",
    page="guides/url_analytics",
)
def path_segments(**options: Unpack[Options[ComponentErrors]]) -> Any:
    """Return the segments of the path of each URL, decoded.

    Args:
        column (Any): The rows.
        errors (str): How an invalid row is handled: "keep", "null" or "raise". Invalid are rows that are not IRI
            references; "keep" returns what they have.
        invalid, threads, line_terminator: See `uricodec.bulk`.

    Returns:
        Any: Lists of text, as from `uricodec.uri.path_segments`; empty if the path is.

    Source: RFC 3986 section 3.3, appendix B.

    >>> path_segments(["https://example.org/caf%C3%A9/a%2Fb/?q", "//example.org/", "//example.org", None])
    [['café', 'a/b', ''], [''], [], None]
    """
    return _part("path_segments")


@operation(
    "component",
    single="uri.query_value",
    examples={"name": ("q", "page", ["q", "page", "é"]), "encoding": ("cp1251", "shift_jis")},
    sql=(SqlFunction("uri_query_value", ("name", "encoding", "plus")),),
    rows="urls",
    page="guides/url_analytics",
)
def query_value(
    name: str | Sequence[str],
    plus: bool | None = None,
    encoding: str | None = None,
    **options: Unpack[Options[ComponentErrors]],
) -> Any:
    """Return the value of a query parameter of each URL, decoded.

    Args:
        column (Any): The rows.
        name (str | Sequence[str]): The decoded name; for several different names, the result is a struct with a field
            for each.
        plus (bool | None): Whether "+" is a space; None: in http, https, ws and wss, and without a scheme.
        encoding (str | None): The encoding of names and values that are not UTF-8, such as latin-1, cp1251 or
            shift_jis. In columns of bytes, results are their UTF-8.
        errors (str): How an invalid row is handled: "keep", "null" or "raise". Invalid are rows that are not IRI
            references; "keep" returns what they have.
        invalid, threads, line_terminator: See `uricodec.bulk`.

    Returns:
        Any: Text, as from `uricodec.uri.query_value`: the first value of the name, empty if it is blank, null if the
            row lacks the name. For several names, dicts or structs of them.

    Source: RFC 3986 section 3.4, appendix B; https://url.spec.whatwg.org/#urlencoded-parsing.

    >>> urls = ["/search?q=caf%C3%A9+au+lait&page=2&page=3", "/search?q", "/"]
    >>> query_value(urls, "q")
    ['café au lait', '', None]
    >>> query_value(urls, ["page", "q"])[0]
    {'page': '2', 'q': 'café au lait'}
    """
    from uricodec.uri._values import QueryRows

    def make(text: bool, terminator: bytes) -> Any:
        rows = QueryRows(name, text, bool(terminator), plus=plus, encoding=encoding)
        return Plan(rows, "struct", rows.names) if rows.names else rows

    return make


@operation(
    "list",
    single="uri.query_pairs",
    fields=("name", "value"),
    examples={"encoding": ("cp1251", "shift_jis")},
    sql=(SqlFunction("uri_query_pairs", ("encoding", "plus")),),
    rows="urls",
    page="guides/url_analytics",
)
def query_pairs(
    plus: bool | None = None, encoding: str | None = None, **options: Unpack[Options[ComponentErrors]]
) -> Any:
    r"""Return the names and values of all query parameters of each URL, decoded.

    Args:
        column (Any): The rows.
        plus (bool | None): Whether "+" is a space; None: in http, https, ws and wss, and without a scheme.
        encoding (str | None): The encoding of names and values that are not UTF-8, as in `query_value`.
        errors (str): How an invalid row is handled: "keep", "null" or "raise". Invalid are rows that are not IRI
            references; "keep" returns what they have.
        invalid, threads, line_terminator: See `uricodec.bulk`.

    Returns:
        Any: Lists of tuples, as from `uricodec.uri.query_pairs`; in Arrow, lists of structs of name and value, which a
            `Column` shows as dicts. Empty without a query.

    Source: RFC 3986 section 3.4, appendix B; https://url.spec.whatwg.org/#urlencoded-parsing.

    >>> query_pairs(["/search?q=caf%C3%A9+au+lait&page=2&page=3&x", "/", None])
    [[('q', 'café au lait'), ('page', '2'), ('page', '3'), ('x', '')], [], None]
    >>> query_pairs(b"/?a=1&b\n").to_pylist()
    [[{'name': 'a', 'value': '1'}, {'name': 'b', 'value': ''}]]
    """
    return _part("query_pairs", plus=plus, encoding=encoding)


@operation(
    "text",
    single="uri.with_query",
    examples={
        "set": ("page=2&é=a b", [("x", "1"), ("q", ["2", "a b"])], "q=&x=%26", {"q": "", "x": "é&"}),
        "drop": ("q", "p*,é", ["q", "utm_*"]),
        "keep": ("q", "p*,é", []),
    },
    sql=(
        SqlFunction("uri_with_query", ("set", "drop", "keep", "space")),
        SqlFunction("uri_drop_query", ("drop",)),
        SqlFunction("uri_keep_query", ("keep",)),
    ),
    command=Filter("query", {"set": "--set", "drop": "--drop", "keep": "--only", "space": "--space"}),
    rows="urls",
    page="guides/url_analytics",
)
def with_query(
    set: Mapping[str, str | Sequence[str]] | Sequence[tuple[str, str | Sequence[str]]] | str | None = None,
    drop: Collection[str] | str | None = None,
    keep: Collection[str] | str | None = None,
    space: QuerySpace | None = None,
    **options: Unpack[TextOptions[TextErrors]],
) -> Any:
    """Set, drop and keep parameters in the query of each URL.

    All other bytes stay. Any text is split as RFC 3986 appendix B does, so only a str with a lone surrogate is invalid.

    Args:
        column (Any): The rows.
        set (Mapping[str, str | Sequence[str]] | Sequence[tuple[str, str | Sequence[str]]] | str | None): Names and
            values, or a query such as "page=2&sort=name". The first field of a name becomes a field for each of its
            values, others of that name are dropped; a name that is missing is added at the end.
        drop (Collection[str] | str | None): The names to drop, or a str with commas between them. "utm_*" is all names
            that begin with "utm_".
        keep (Collection[str] | str | None): The only names to keep, as for `drop`, besides those of `set`; None: all.
        space (QuerySpace | None): How a space in names and values of `set` is written: "+" or "%20"; None: "+" in http,
            https, ws and wss, and without a scheme.
        errors (str): How an invalid row is handled: "keep", "null", "raise" or "drop".
        invalid, threads, line_terminator, output: See `uricodec.bulk`.

    Returns:
        Any: Text, as from `uricodec.uri.with_query`.

    Source: RFC 3986 section 3.4, appendix B; https://url.spec.whatwg.org/#urlencoded-parsing.

    >>> with_query(["/?utm_source=x&q=%7e&page=1#a", "/", None], {"page": "2"}, drop="utm_*")
    ['/?q=%7e&page=2#a', '/?page=2', None]
    """
    from uricodec.uri._with_query import WithQueryRows

    return WithQueryRows(set, drop, keep, space)


@operation(
    "text",
    single="uri.repair",
    sql=(SqlFunction("uri_repair"),),
    command=Filter("normalize --repair"),
    rows="repair",
    needs=("idna",),
)
def repair(**options: Unpack[TextOptions[TextErrors]]) -> Any:
    r"""Return the URL that was meant by text that is none.

    Args:
        column (Any): The rows.
        errors (str): How an invalid row is handled: "keep", "null", "raise" or "drop". Invalid are rows of which it is
            not certain what was meant, with the codes of `uricodec.uri.repair`: "host", "ip-literal", "port",
            "path-colon", "path", "utf-8" or "surrogate".
        invalid, threads, line_terminator, output: See `uricodec.bulk`.

    Returns:
        Any: Text, as from `uricodec.uri.repair`: URI references. Those that are valid do not change.

    Source: RFC 3986 section 2.4, appendices A and C; RFC 3987 section 3.1; URL Standard section 4.4.

    >>> repair(["http://a.example/b c?q=[1]", r"https:\\a.example\b", "http://a b/"], errors="null")
    ['http://a.example/b%20c?q=%5B1%5D', 'https://a.example/b', None]
    """
    from uricodec.uri._repair import RepairRows

    return RepairRows()


@operation(
    "text",
    single="uri.redact",
    examples={"names": _SENSITIVE, "paths": _PATHS},
    sql=(SqlFunction("uri_redact", ("names", "paths")),),
    command=Filter("redact --urls", _REDACTING),
    rows="redact",
    page="guides/redact",
)
def redact(
    names: str | Collection[str] = "default",
    nested: bool = True,
    paths: str | Collection[str] = (),
    **options: Unpack[TextOptions[TextErrors]],
) -> Any:
    """Replace the values of sensitive query parameters, and userinfo, of each URL by REDACTED.

    Every other byte stays. No row is invalid.

    Args:
        column (Any): The rows.
        names (str | Collection[str]): The names of the parameters: "default" (those of the OpenTelemetry semantic
            conventions), "extended" (also those of OAuth, sessions, passwords and keys), or names, of which "*" at the
            ends stands for anything. A str may list several, with commas.
        nested (bool): Redact also in a value that is JSON, or a URL itself, percent-encoded once or twice.
        paths (str | Collection[str]): Patterns of paths such as "/bot*/" and "/reset/{*}", of which what "*" stands
            for becomes REDACTED; "tokens": segments that look drawn at random. A str may list several, with commas.
        errors (str): How an invalid row is handled: "keep", "null", "raise" or "drop".
        invalid, threads, line_terminator, output: See `uricodec.bulk`.

    Returns:
        Any: Text, as from `uricodec.uri.redact`.

    Source: OpenTelemetry semantic conventions, attributes url.full and url.query; RFC 3986 section 3.2.1.

    >>> redact(["https://me:pw@a.example/?id=7&sig=c2VjcmV0", None])
    ['https://REDACTED:REDACTED@a.example/?id=7&sig=REDACTED', None]
    >>> redact(["#state=7&access_token=c2VjcmV0"], "access_token")
    ['#state=7&access_token=REDACTED']
    >>> redact(["/reset/c2VjcmV0"], paths="/reset/{*}")
    ['/reset/REDACTED']
    """
    from uricodec.uri._redact import RedactRows

    return RedactRows(names, nested, paths)


@operation(
    "text",
    single="uri.redact_text",
    examples={"names": _SENSITIVE, "paths": _PATHS},
    sql=(SqlFunction("uri_redact_text", ("names", "paths")),),
    command=Filter("redact", _REDACTING),
    rows="redact",
    page="guides/redact",
)
def redact_text(
    names: str | Collection[str] = "default",
    nested: bool = True,
    paths: str | Collection[str] = (),
    **options: Unpack[TextOptions[TextErrors]],
) -> Any:
    """Redact the URLs in each row of any text, such as a line of a log.

    Every other byte stays. No row is invalid.

    Args:
        column (Any): The rows.
        names (str | Collection[str]): The names of the parameters: "default" (those of the OpenTelemetry semantic
            conventions), "extended" (also those of OAuth, sessions, passwords and keys), or names, of which "*" at the
            ends stands for anything. A str may list several, with commas.
        nested (bool): Redact also in a value that is JSON, or a URL itself, percent-encoded once or twice.
        paths (str | Collection[str]): Patterns of paths such as "/bot*/" and "/reset/{*}", of which what "*" stands
            for becomes REDACTED; "tokens": segments that look drawn at random. A str may list several, with commas.
        errors (str): How an invalid row is handled: "keep", "null", "raise" or "drop".
        invalid, threads, line_terminator, output: See `uricodec.bulk`.

    Returns:
        Any: Text, as from `uricodec.uri.redact_text`.

    Source: OpenTelemetry semantic conventions, attributes url.full and url.query; RFC 3986 section 3.2.1.

    >>> redact_text(['"GET /a?sig=c2VjcmV0 HTTP/1.1" 200'])
    ['"GET /a?sig=REDACTED HTTP/1.1" 200']
    """
    from uricodec.uri._redact import RedactTextRows

    return RedactTextRows(names, nested, paths)


def _part(name: str, **reading: Any) -> Callable[[bool, bytes], RowOperation]:
    """Return what reads a part of URLs, which `uri/_values.pyx` has under this name."""
    from uricodec.uri._values import PartRows

    return lambda text, terminator: PartRows(name, text, bool(terminator), **reading)
