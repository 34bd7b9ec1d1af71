"""URIs and IRIs: conversion, normal forms, grammar, components and relations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

from uricodec._rows._engine import RowOperation
from uricodec._rows._tuples import EACH_ROW
from uricodec.bulk._functions import operation
from uricodec.bulk._operation import Filter, SqlFunction
from uricodec.errors import UriSyntaxError
from uricodec.typing import NormalizeProduction, PolicyName

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from uricodec.bulk._functions import Options, TextOptions
    from uricodec.typing import (
        DiagnosticErrors,
        DisallowedCharacters,
        HostInIri,
        HostInUri,
        IriProduction,
        ShapeQuery,
        SplitErrors,
        TextErrors,
        UriLevel,
        UriProduction,
        VerdictErrors,
    )
    from uricodec.uri._policies import Policy

__all__ = [
    "check_iri",
    "check_uri",
    "equivalent",
    "iri_to_uri",
    "is_valid_iri",
    "is_valid_uri",
    "normalize_uri",
    "relation",
    "relativize",
    "resolve",
    "shape",
    "split_iri",
    "split_uri",
    "unsplit",
    "uri_to_iri",
]

_URI_FIELDS = ("scheme", "authority", "userinfo", "host", "port", "path", "query", "fragment")
_POLICIES = get_args(PolicyName)
_OTHERS = ("http://example.org/b", "HTTP://EXAMPLE.org:80/x/../%62#f", "é")
_BASES = ("http://a/b/c/d;p?q", "s:é/..", "urn:example:a")
# In SQL, `is_valid_*` are false for invalid rows and `*_check` return the reason, whatever policy other functions use.
_KEEP = {"errors": "keep"}
# In SQL, where errors="null" is the default, URLs that are not quite right have a normal form all the same.
_ANY = {"production": "any"}


@operation(
    "text",
    single="iri.iri_to_uri",
    sql=(SqlFunction("iri_to_uri"),),
    command=Filter("encode --iri", {"disallowed": "--disallowed", "host": "--host"}),
    page="guides/convert",
    needs=("idna",),
)
def iri_to_uri(
    disallowed: DisallowedCharacters = "raise", host: HostInUri = "percent", **options: Unpack[TextOptions[TextErrors]]
) -> Any:
    """Convert each IRI to a URI.

    Args:
        column (Any): The rows.
        disallowed (DisallowedCharacters): How the ten ASCII characters that no URI contains are handled: "raise" (the
            row is invalid) or "encode".
        host (HostInUri): How a host beyond ASCII is written: "percent" (percent-encoded) or "idna" (A-labels).
        errors (str): How an invalid row is handled: "keep", "null", "raise" or "drop".
        invalid, threads, line_terminator, output: See `uricodec.bulk`.

    Returns:
        Any: Text, as from `uricodec.iri.iri_to_uri`.

    Source: RFC 3987 section 3.1.

    >>> iri_to_uri(["http://example.org/é", "http://a/ "], errors="null")
    ['http://example.org/%C3%A9', None]
    """
    from uricodec.iri._conversion import IriToUriRows

    return IriToUriRows(disallowed, host)


@operation(
    "text",
    single="iri.uri_to_iri",
    sql=(SqlFunction("uri_to_iri"),),
    command=Filter("decode --iri", {"host": "--host"}),
    page="guides/convert",
    needs=("idna",),
)
def uri_to_iri(host: HostInIri = "keep", **options: Unpack[TextOptions[TextErrors]]) -> Any:
    """Convert each URI to an IRI.

    Args:
        column (Any): The rows.
        host (HostInIri): A-labels of hosts: "keep"; "unicode": characters; "safe": the same, where no scripts mix.
        errors (str): How an invalid row is handled: "keep", "null", "raise" or "drop".
        invalid, threads, line_terminator, output: See `uricodec.bulk`.

    Returns:
        Any: Text, as from `uricodec.iri.uri_to_iri`.

    Source: RFC 3987 section 3.2.

    >>> uri_to_iri(["http://example.org/%C3%A9%2F"])
    ['http://example.org/é%2F']
    """
    from uricodec.iri._conversion import UriToIriRows

    return UriToIriRows(host)


@operation(
    "text",
    single="uri.normalize",
    examples={"policy": _POLICIES},
    sql=(SqlFunction("uri_normalize", ("level",), _ANY), SqlFunction("uri_policy", ("policy",), _ANY)),
    command=Filter("normalize --kind uri", {"level": "--level", "policy": "--policy", "production": "--production"}),
    page="guides/compare",
    needs=("idna",),
)
def normalize_uri(
    level: UriLevel = "path",
    policy: Policy | PolicyName | None = None,
    production: NormalizeProduction | None = None,
    **options: Unpack[TextOptions[TextErrors]],
) -> Any:
    r"""Return the normal form of each URI or IRI.

    Args:
        column (Any): The rows.
        level (UriLevel): What the normal form merges: "simple", "case", "percent", "path", "scheme", "iri", "rfc2396"
            or "rfc1630".
        policy (Policy | PolicyName | None): What is merged beyond a level, instead of one: a `uricodec.uri.Policy`, or
            the name of a ready one.
        production (NormalizeProduction | None): The production that rows must match, as in `is_valid_uri` and
            `is_valid_iri`, or "any" text. None: "any" with errors="keep"; else "IRI-reference" with level "iri" or a
            policy, "URI-reference" with the other levels, and "any" with what rejects rows itself: level "rfc1630", and
            the policies "w3lib" and "whatwg".
        errors (str): How an invalid row is handled: "keep", "null", "raise" or "drop". Invalid are rows that are not
            UTF-8, that do not match `production`, and what level rfc1630 and the policies w3lib and whatwg reject.
        invalid, threads, line_terminator, output: See `uricodec.bulk`.

    Returns:
        Any: Text, as from `uricodec.uri.normalize`.

    Source: RFC 3986 section 6.2; RFC 3987 section 5.3.

    >>> normalize_uri(["HTTP://Example.org/a/../b"])
    ['http://example.org/b']
    >>> normalize_uri(["https://example.com?utm_source=x&b=2&a=1#top"], policy="crawl")
    ['https://example.com/?a=1&b=2']
    >>> normalize_uri(b"HTTP://a/\nhttp://a b/\n", errors="drop")
    b'http://a/\n'
    """
    from uricodec.uri._policies import production_of
    from uricodec.uri._rows import checked

    choices = get_args(NormalizeProduction)
    if production is None:
        wanted = "any" if options["errors"] == "keep" else production_of("uri", level, policy)
    elif production in choices:
        wanted = production
    else:
        raise ValueError(f"unknown production {production!r}; choose from {', '.join(choices)}")
    return checked(normalizing(level, policy, "path"), None if wanted == "any" else wanted)


@operation(
    "text",
    single="uri.shape",
    sql=(SqlFunction("uri_shape", ("query",)),),
    page="guides/compare",
)
def shape(query: ShapeQuery = "names", **options: Unpack[TextOptions[TextErrors]]) -> Any:
    """Return the shape of each URL, with the classes of path segments in braces: /users/{int}.

    Any text has a shape; only rows that are not UTF-8 are invalid.

    Args:
        column (Any): The rows.
        query (ShapeQuery): "names" (the names of the parameters, sorted, each once, without values), "drop" or "keep".
        errors (str): How an invalid row is handled: "keep", "null", "raise" or "drop".
        invalid, threads, line_terminator, output: See `uricodec.bulk`.

    Returns:
        Any: Text, as from `uricodec.uri.shape`.

    Source: RFC 3986 sections 3.3 and 6.2; RFC 9562 section 4.

    >>> shape(["https://example.org/users/1042?tab=2&page=7", "/2024-10-21/5f4dcc3b5aa765d61d8327deb882cf99.jpg"])
    ['https://example.org/users/{int}?page&tab', '/{date}/{hex}.jpg']
    """
    from uricodec.uri._policies import shape_rows

    found = shape_rows().get(query)
    if found is None:
        raise ValueError(f"query must be one of {', '.join(map(repr, shape_rows()))}, got {query!r}")
    return found


@operation("verdict", single="uri.is_valid", sql=(SqlFunction("is_valid_uri", ("production", "safe_host"), _KEEP),))
def is_valid_uri(
    production: UriProduction = "URI-reference", safe_host: bool = False, **options: Unpack[Options[VerdictErrors]]
) -> Any:
    """Return whether each row is a URI reference.

    Args:
        column (Any): The rows.
        production (UriProduction): The production: "URI-reference", "URI" (with a scheme), "absolute-URI" or
            "relative-ref"; or "whatwg".
        safe_host (bool): Whether a host that decodes or normalizes to a delimiter is invalid, too.
        errors (str): How an invalid row is handled: "keep", "null" or "raise".
        invalid, threads, line_terminator: See `uricodec.bulk`.

    Returns:
        Any: bool, as from `uricodec.uri.is_valid`; with errors="null", null instead of False.

    Source: RFC 3986 appendix A.

    >>> is_valid_uri(["http://example.org/", "/a", "a b", None])
    [True, True, False, None]
    >>> is_valid_uri(["http://example.org/", "/a", "a b", None], production="URI")
    [True, False, False, None]
    """
    from uricodec.uri._rows import CheckRows

    return CheckRows("uri", production, safe_host)


@operation("verdict", single="iri.is_valid", sql=(SqlFunction("is_valid_iri", ("production", "safe_host"), _KEEP),))
def is_valid_iri(
    production: IriProduction = "IRI-reference", safe_host: bool = False, **options: Unpack[Options[VerdictErrors]]
) -> Any:
    """Return whether each row is an IRI reference.

    Args:
        column (Any): The rows.
        production (IriProduction): The production: "IRI-reference", "IRI" (with a scheme), "absolute-IRI" or
            "irelative-ref".
        safe_host (bool): Whether a host that decodes or normalizes to a delimiter is invalid, too.
        errors (str): How an invalid row is handled: "keep", "null" or "raise".
        invalid, threads, line_terminator: See `uricodec.bulk`.

    Returns:
        Any: bool, as from `uricodec.iri.is_valid`; with errors="null", null instead of False.

    Source: RFC 3987 section 2.2.

    >>> is_valid_iri(["http://example.org/é"])
    [True]
    """
    from uricodec.uri._rows import CheckRows

    return CheckRows("iri", production, safe_host)


@operation(
    "diagnostic",
    single="uri.check",
    sql=(SqlFunction("uri_check", ("production", "safe_host"), _KEEP),),
    command=Filter("check --kind uri", {"production": "--production", "safe_host": "--safe-host"}),
)
def check_uri(
    production: UriProduction = "URI-reference", safe_host: bool = False, **options: Unpack[Options[DiagnosticErrors]]
) -> Any:
    """Return why each row is not a URI reference.

    Args:
        column (Any): The rows.
        production (UriProduction): The production: "URI-reference", "URI" (with a scheme), "absolute-URI" or
            "relative-ref"; or "whatwg".
        safe_host (bool): Whether a host that decodes or normalizes to a delimiter is invalid, too.
        errors (str): How an invalid row is handled: "keep" or "raise".
        invalid, threads, line_terminator: See `uricodec.bulk`.

    Returns:
        Any: dicts or structs of code, offset, as from `uricodec.uri.check`; null if the row is valid. An offset counts
            characters of a str, bytes otherwise.

    Source: RFC 3986 appendix A.

    >>> check_uri(["/a", "/a b"])
    [None, {'code': 'path', 'offset': 2}]
    """
    from uricodec.uri._rows import CheckRows

    return CheckRows("uri", production, safe_host)


@operation(
    "diagnostic",
    single="iri.check",
    sql=(SqlFunction("iri_check", ("production", "safe_host"), _KEEP),),
    command=Filter("check --kind iri", {"production": "--production", "safe_host": "--safe-host"}),
)
def check_iri(
    production: IriProduction = "IRI-reference", safe_host: bool = False, **options: Unpack[Options[DiagnosticErrors]]
) -> Any:
    """Return why each row is not an IRI reference.

    Args:
        column (Any): The rows.
        production (IriProduction): The production: "IRI-reference", "IRI" (with a scheme), "absolute-IRI" or
            "irelative-ref".
        safe_host (bool): Whether a host that decodes or normalizes to a delimiter is invalid, too.
        errors (str): How an invalid row is handled: "keep" or "raise".
        invalid, threads, line_terminator: See `uricodec.bulk`.

    Returns:
        Any: dicts or structs of code, offset, as from `uricodec.iri.check`; null if the row is valid. An offset counts
            characters of a str, bytes otherwise.

    Source: RFC 3987 section 2.2.

    >>> check_iri(["/é", "/é "])
    [None, {'code': 'path', 'offset': 2}]
    """
    from uricodec.uri._rows import CheckRows

    return CheckRows("iri", production, safe_host)


@operation(
    "struct",
    single="uri.split",
    fields=_URI_FIELDS,
    sql=(SqlFunction("uri_split"),),
    command=Filter("split --kind uri"),
)
def split_uri(**options: Unpack[Options[SplitErrors]]) -> Any:
    """Return the components of each URI reference.

    Args:
        column (Any): The rows.
        errors (str): How an invalid row is handled: "null", "keep", "raise" or "drop". With "keep", any text is split
            as RFC 3986 appendix B does.
        invalid, threads, line_terminator: See `uricodec.bulk`.

    Returns:
        Any: dicts or structs of scheme, authority, userinfo, host, port, path, query, fragment, as from
            `uricodec.uri.split`; an undefined component is null, and so is an invalid row.

    Source: RFC 3986 section 3.

    >>> split_uri(["//example.org:80/?a"])[0]["port"]
    '80'
    >>> split_uri(["//exa mple.org:x/"], errors="keep")[0]["host"]
    'exa mple.org'
    """
    return _splitting("uri")


@operation(
    "struct",
    single="iri.split",
    fields=_URI_FIELDS,
    sql=(SqlFunction("iri_split"),),
    command=Filter("split --kind iri"),
)
def split_iri(**options: Unpack[Options[SplitErrors]]) -> Any:
    """Return the components of each IRI reference.

    Args:
        column (Any): The rows.
        errors (str): How an invalid row is handled: "null", "keep", "raise" or "drop". With "keep", any text is split
            as RFC 3986 appendix B does.
        invalid, threads, line_terminator: See `uricodec.bulk`.

    Returns:
        Any: dicts or structs of scheme, authority, userinfo, host, port, path, query, fragment, as from
            `uricodec.iri.split`; an undefined component is null, and so is an invalid row.

    Source: RFC 3987 section 2.2.

    >>> split_iri(["//example.org/é"])[0]["path"]
    '/é'
    """
    return _splitting("iri")


@operation(
    "text",
    single="uri.resolve",
    columns=("base",),
    examples={"base": _BASES},
    sql=(SqlFunction("uri_resolve", ("base",)),),
    command=Filter("resolve", {"base": "--base"}),
    page="guides/uri",
)
def resolve(base: str | bytes | Any, **options: Unpack[TextOptions[TextErrors]]) -> Any:
    """Resolve each reference against a base URI.

    The rows are the references.

    Args:
        column (Any): The rows.
        base (str | bytes | Any): The base URI or IRI, with a scheme; or a column of them, with one for each row.
        errors (str): How an invalid row is handled: "keep", "null", "raise" or "drop". A row is invalid if its base has
            no scheme (code "scheme"); "keep" returns the reference.
        invalid, threads, line_terminator, output: See `uricodec.bulk`.

    Returns:
        Any: Text: the targets.

    Source: RFC 3986 section 5.2.

    >>> resolve(["../g", "//h/", None], "http://a/b/c/d;p?q")
    ['http://a/b/g', 'http://h/', None]
    >>> resolve(["c", "c"], ["http://a/b", "/b"], errors="null")
    ['http://a/c', None]
    """
    if base is EACH_ROW:
        from uricodec.uri._rows import ResolveTuples

        return lambda text, _terminator: ResolveTuples(text)
    from uricodec.uri._rows import ResolveRows

    return ResolveRows(_octets(base, "base"))


@operation(
    "text",
    single="uri.relativize",
    columns=("base",),
    examples={"base": _BASES},
    sql=(SqlFunction("uri_relativize", ("base",)),),
    page="guides/uri",
)
def relativize(base: str | bytes | Any, **options: Unpack[TextOptions[TextErrors]]) -> Any:
    """Return the shortest reference that resolves to each URI.

    The rows are the targets.

    Args:
        column (Any): The rows.
        base (str | bytes | Any): The base URI or IRI, with a scheme; or a column of them, with one for each row.
        errors (str): How an invalid row is handled: "keep", "null", "raise" or "drop". A row is invalid if it or its
            base has no scheme (code "scheme"), or if no reference resolves to it, because its path has dot segments
            ("path").
        invalid, threads, line_terminator, output: See `uricodec.bulk`.

    Returns:
        Any: Text: the references; the target itself if no reference is shorter.

    Source: RFC 3986 section 4.2.

    >>> relativize(["http://a/b/g", "http://h/", "g", None], "http://a/b/c/d", errors="null")
    ['../g', '//h/', None, None]
    """
    from uricodec.uri._rows import RelativizeRows

    base = _octets(base, "base")
    RelativizeRows(base, True)  # raises for a wrong one
    return lambda text, _terminator: RelativizeRows(base, text)


@operation(
    "text",
    single="uri.unsplit",
    columns=("scheme", "authority", "query", "fragment"),
    examples={
        "scheme": ("http", "s", "1"),
        "authority": ("a", "u@[::1]:8", ""),
        "query": ("a=1", "", "#"),
        "fragment": ("f", "", "#"),
    },
    sql=(SqlFunction("uri_unsplit", ("scheme", "authority", "query", "fragment")),),
)
def unsplit(
    scheme: str | bytes | Any | None = None,
    authority: str | bytes | Any | None = None,
    query: str | bytes | Any | None = None,
    fragment: str | bytes | Any | None = None,
    **options: Unpack[TextOptions[TextErrors]],
) -> Any:
    """Join components to a URI reference.

    The rows are the paths.

    Args:
        column (Any): The rows.
        scheme (str | bytes | Any | None): The scheme; or a column of them. None, or null: it is undefined.
        authority (str | bytes | Any | None): The authority; or a column of them. None, or null: it is undefined.
        query (str | bytes | Any | None): The query; or a column of them. None, or null: it is undefined.
        fragment (str | bytes | Any | None): The fragment; or a column of them. None, or null: it is undefined.
        errors (str): How an invalid row is handled: "keep", "null", "raise" or "drop". A row is invalid if the
            components make no reference (with the codes of `check_uri`), or one that would be split into others
            ("components"). Its offset is in what they make; "keep" returns the path.
        invalid, threads, line_terminator, output: See `uricodec.bulk`.

    Returns:
        Any: Text: the references, which `split_uri` splits into the same components. Null if the path is null.

    Source: RFC 3986 section 5.3.

    >>> unsplit(["/a", "/b", None], scheme="https", authority="example.org", query=["x=1", None, None])
    ['https://example.org/a?x=1', 'https://example.org/b', None]
    >>> parts = split_uri(["http://example.org/?#a"])[0]
    >>> names = ["path", "scheme", "authority", "query", "fragment"]
    >>> unsplit(*([parts[name]] for name in names))
    ['http://example.org/?#a']
    """
    from uricodec.uri._rows import UnsplitRows

    given = {"scheme": scheme, "authority": authority, "query": query, "fragment": fragment}
    parts = [None if value is None else _octets(value, name) for name, value in given.items()]
    return lambda text, _terminator: UnsplitRows(*parts, text)


@operation(
    "verdict",
    single="uri.equivalent",
    columns=("other",),
    examples={"other": _OTHERS, "policy": _POLICIES},
    sql=(SqlFunction("uri_equivalent", ("other", "level"), _KEEP),),
    page="guides/compare",
    needs=("idna",),
)
def equivalent(
    other: str | bytes | Any,
    level: UriLevel = "path",
    policy: Policy | PolicyName | None = None,
    **options: Unpack[Options[VerdictErrors]],
) -> Any:
    """Return whether each URI or IRI is equivalent to another one.

    Args:
        column (Any): The rows.
        other (str | bytes | Any): What the rows are compared with; or a column, with one for each row.
        level (UriLevel): What the normal form merges: "simple", "case", "percent", "path", "scheme", "iri", "rfc2396"
            or "rfc1630".
        policy (Policy | PolicyName | None): What is merged beyond a level, instead of one: a `uricodec.uri.Policy`, or
            the name of a ready one.
        errors (str): How an invalid row is handled: "keep", "null" or "raise". At level "rfc1630", a row is invalid if
            a "%" is not followed by two hexadecimal digits; with the policy "whatwg" or "w3lib", if that rejects it.
        invalid, threads, line_terminator: See `uricodec.bulk`.

    Returns:
        Any: bool, as from `uricodec.uri.equivalent`; with errors="null", null instead of False.

    Source: RFC 3986 section 6.1; RFC 3987 section 5.1.

    >>> equivalent(["HTTP://a/%7Eb", "http://a/c", None], "http://a/~b")
    [True, False, None]
    >>> equivalent(["http://a", "http://b"], ["http://a:80/", "http://a/"], level="scheme")
    [True, False]
    """
    from uricodec.uri._equivalence import EquivalentRows

    other = _octets(other, "other")
    EquivalentRows(other, level, policy, True)  # raises for a wrong one
    return lambda text, _terminator: EquivalentRows(other, level, policy, text)


@operation(
    "text",
    single="uri.relation",
    columns=("other",),
    examples={"other": _OTHERS},
    sql=(SqlFunction("uri_relation", ("other", "level")),),
    page="guides/compare",
    needs=("idna",),
)
def relation(other: str | bytes | Any, level: UriLevel = "scheme", **options: Unpack[TextOptions[TextErrors]]) -> Any:
    """Return how each URI or IRI is related to another one.

    Args:
        column (Any): The rows.
        other (str | bytes | Any): What the rows are compared with; or a column, with one for each row.
        level (UriLevel): What the normal form merges: "simple", "case", "percent", "path", "scheme", "iri", "rfc2396"
            or "rfc1630".
        errors (str): How an invalid row is handled: "keep", "null", "raise" or "drop".
        invalid, threads, line_terminator, output: See `uricodec.bulk`.

    Returns:
        Any: Text: "equal", "equivalent", "same-document", "same-path", "same-origin", "same-host" or "different", as
            from `uricodec.uri.relation`.

    Source: RFC 3986 sections 4.4 and 6.1; RFC 6454 section 4.

    >>> relation(["http://a/b#c", "HTTP://A/", "http://b/", None], "http://a/b")
    ['same-document', 'same-origin', 'different', None]
    """
    from uricodec.uri._equivalence import RelationRows

    other = _octets(other, "other")
    RelationRows(other, level, True)  # raises for a wrong one
    return lambda text, _terminator: RelationRows(other, level, text)


def normalizing(level: str | None, policy: Policy | str | None, default: str) -> RowOperation:
    """Return what normalizes by a level or a policy; `default` is the level without any."""
    if policy is not None:
        from uricodec.uri._policies import operation_of

        return operation_of(policy, None if level == default else level)
    from uricodec.uri._rows import NormalizeRows

    return NormalizeRows(level or default)


def _splitting(kind: str) -> Any:
    """Return what splits references."""
    from uricodec.uri._rows import SplitReferences
    from uricodec.uri._values import SplitLines

    return lambda _text, terminator: SplitLines(kind) if terminator else SplitReferences(kind)


def _octets(value: Any, name: str) -> Any:
    """Return the bytes of an argument; EACH_ROW, a column, stays as it is."""
    if value is EACH_ROW:
        return value
    if isinstance(value, str):
        try:
            return value.encode()
        except UnicodeEncodeError as error:
            raise UriSyntaxError(f"lone surrogate in {name}", value, error.start) from None
    try:
        return bytes(memoryview(value))
    except TypeError:
        raise TypeError(f"{name} must be str, bytes-like or a column, not {type(value).__name__}") from None
