"""Hosts: the one on which all parsers agree, and sets of hosts and prefixes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from uricodec.bulk._functions import operation
from uricodec.bulk._operation import Filter, SqlFunction

if TYPE_CHECKING:
    from collections.abc import Collection

    from typing_extensions import Unpack

    from uricodec._hosts.sets import HostSet, PrefixSet
    from uricodec.bulk._functions import Options
    from uricodec.typing import Ambiguity, ComponentErrors, StructErrors, VerdictErrors, WebScheme

__all__ = ["agreed_host", "is_match", "match"]

_SETS: tuple[list[str], ...] = (["a.example", "b\u00fccher.example", "127.0.0.1", "::1", "org"], ["example.org"], [])


@operation(
    "struct",
    single="uri.agreed_host",
    fields=("scheme", "host", "port", "kind", "category"),
    examples={"schemes": (None, ["https", "wss"]), "ports": (None, [80, 8080])},
    sql=(SqlFunction("uri_agreed_host"),),
    command=Filter(
        "hosts --to jsonl",
        {"schemes": "--schemes", "userinfo": "--userinfo", "trailing_dot": "--trailing-dot", "ports": "--ports"},
    ),
    rows="web",
    page="guides/ssrf",
    needs=("idna",),
)
def agreed_host(
    schemes: Collection[WebScheme] | None = None,
    userinfo: Ambiguity = "raise",
    trailing_dot: Ambiguity = "raise",
    ports: Collection[int] | None = None,
    **options: Unpack[Options[StructErrors]],
) -> Any:
    """Return the host of each URL on which all parsers agree.

    Args:
        column (Any): The rows.
        schemes (Collection[WebScheme] | None): The accepted ones of "http", "https", "ws" and "wss"; None: all.
        userinfo (Ambiguity): How an "@" before the host is handled: "raise" (the row is invalid) or "allow".
        trailing_dot (Ambiguity): How a "." at the end of a name is handled: "raise" (the row is invalid) or "allow".
        ports (Collection[int] | None): The accepted ports; None: all.
        errors (str): How an invalid row is handled: "null", "raise" or "drop". Invalid are rows in which two parsers
            may find different hosts, with the codes of `uricodec.uri.agreed_host`.
        invalid, threads, line_terminator: See `uricodec.bulk`.

    Returns:
        Any: dicts or structs of scheme, host, port, kind and category, as in `uricodec.uri.Host`, but all are text.

    Source: RFC 3986 section 3.2; WHATWG URL, "host parsing".

    >>> agreed_host(["http://Example.org/a", "https://[::1]:8080/", "http://good@evil.example/"])[1:]
    [{'scheme': 'https', 'host': '::1', 'port': '8080', 'kind': 'ipv6', 'category': 'loopback'}, None]
    """
    from uricodec.uri._rows import AgreedHostRows

    return AgreedHostRows(schemes, userinfo, trailing_dot, ports)


@operation("component", examples={"set": _SETS}, rows="hosts", page="guides/host_sets", needs=("idna",))
def match(
    set: HostSet | PrefixSet | Collection[str], exact: bool = False, **options: Unpack[Options[ComponentErrors]]
) -> Any:
    """Return the longest entry of a set of hosts or prefixes that matches each URL.

    See `is_match` for whether an entry matches.

    Args:
        column (Any): The rows.
        set (HostSet | PrefixSet | Collection[str]): The set; a list is a list of hosts, of which a set is made for this
            call.
        exact (bool): Whether only an entry itself matches, not what is below it.
        errors (str): How an invalid row is handled: "keep", "null" or "raise". No row is invalid.
        invalid, threads, line_terminator: See `uricodec.bulk`.

    Returns:
        Any: Text: the entry in its normal form, as from `uricodec.uri.HostSet.match`; null if none matches.

    Source: RFC 3986 section 3.2.2, appendix B; UTS 46.

    >>> urls = ["https://www.example.com/a", "http://example.net", None]
    >>> match(urls, ["example.com"]), match(urls, ["example.com"], exact=True)
    (['example.com', None, None], [None, None, None])
    >>> from uricodec import uri
    >>> match(urls, uri.PrefixSet(["https://www.example.com/a/"]))
    ['www.example.com/a', None, None]
    """
    return _matching(set, exact, verdict=False)


@operation("verdict", examples={"set": _SETS}, rows="hosts", page="guides/host_sets", needs=("idna",))
def is_match(
    set: HostSet | PrefixSet | Collection[str], exact: bool = False, **options: Unpack[Options[VerdictErrors]]
) -> Any:
    """Return whether an entry of a set of hosts or prefixes matches each URL.

    See `match` for the entry.

    Args:
        column (Any): The rows.
        set (HostSet | PrefixSet | Collection[str]): The set; a list is a list of hosts, of which a set is made for this
            call.
        exact (bool): Whether only an entry itself matches, not what is below it.
        errors (str): How an invalid row is handled: "keep", "null" or "raise". No row is invalid.
        invalid, threads, line_terminator: See `uricodec.bulk`.

    Returns:
        Any: bool; null for null.

    Source: RFC 3986 section 3.2.2, appendix B; UTS 46.

    >>> is_match(["https://www.example.com/a", "http://example.net", None], ["example.com"])
    [True, False, None]
    """
    return _matching(set, exact, verdict=True)


def _matching(set: Any, exact: bool, verdict: bool) -> Any:
    """Return what asks a set; a list of hosts becomes one."""
    from uricodec._hosts._entries import MatchRows
    from uricodec._hosts.sets import EntrySet, HostSet

    entries = set if isinstance(set, EntrySet) else HostSet(set)
    return MatchRows(entries._checked(), exact, verdict)
