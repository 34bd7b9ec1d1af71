"""Operations on many values in one call: lists, columns, lines in memory and files.

The type of the result depends on the type of the input:

======================================== ====================================== =====================================
input                                    result                                 example
======================================== ====================================== =====================================
list or tuple of str, bytes or None      list                                   ``unquote(["%41", None])``
pandas Series or Index                   the same type (DataFrame if rows have  ``unquote(pd.Series(["%41"]))``
                                         several fields)
NumPy array of objects                   NumPy array of objects                 ``unquote(np.array(["%41"], object))``
Arrow object (pyarrow, Polars, DuckDB,   `Column`, an Arrow object              ``unquote(pa.array(["%41"]))``
nanoarrow and so on)
binary file, with `output=` another one  number of lines                        ``unquote(file, output=other)``
bytes-like object: lines                 bytes; `Column` if not text            ``unquote(b"%41\\n")``
======================================== ====================================== =====================================

Nulls stay null. Values that do not change are the same objects in a list, and share the input's buffers in Arrow views.
In pandas and NumPy objects, NaN, NaT and NA are null. Arrow strings, large strings and views keep their type (offsets
become large if 32 bits are too few), and binary stays binary. In dictionary arrays, only the dictionary is processed,
and values that become equal are merged. A table of one column becomes a table.

All functions have these parameters besides their own:

- `errors` (str): How invalid rows are handled; docs/guides/columns.md lists the values of each function. "keep": text
  stays as it is (functions that encode or decode keep only the invalid part), a verdict is false, a fingerprint is
  that of the row. "null": the row becomes null (None, an empty line). "drop": the line is left out (lines and files
  only). "raise": raises the exception that the function for single values raises, with the index of the row.
  "replace": U+FFFD replaces bytes that are not UTF-8. A list item of another type raises a TypeError with
  its position; with "null" it is an invalid row with the code "type".
- `invalid` (InvalidRows | None): Receives the number of invalid rows, and the first of them.
- `threads` (int | None): The maximum number of threads. None: one per core for more than 1 MiB, otherwise one. Lists
  always use one. The order of rows never changes.
- `line_terminator` (bytes): The control character that ends a line. A "\\r" before "\\n" is part of the line ending.
- `output` (binary file | None): Receives the lines of a file. Required for files; functions without it accept none.

No library is imported for columns: the caller has imported it.

>>> from uricodec import bulk
>>> bulk.unquote(["/caf%C3%A9", None, "/plain", "%FF"])
['/café', None, '/plain', '\\ufffd']
>>> invalid = bulk.InvalidRows()
>>> bulk.normalize_urn(b"URN:ISBN:0451450523\\nurl:x\\n", invalid=invalid)
b'urn:isbn:0451450523\\nurl:x\\n'
>>> invalid
InvalidRows(count=1, rows=[(1, 'scheme', 2)])
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from uricodec._base._fingerprint import FingerprintKey
from uricodec._base._kernels import ByteSet
from uricodec._codec._triplets import URI_CHARACTERS
from uricodec._rows._columns import Column
from uricodec._rows.overloads import (
    returns_components,
    returns_fingerprints,
    returns_lists,
    returns_structs,
    returns_text,
    returns_verdicts,
)
from uricodec.bulk._calls import InvalidRows, run

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from os import PathLike

    from uricodec._rows.overloads import BinaryOutput
    from uricodec.typing import (
        Ambiguity,
        CodecErrors,
        ComponentErrors,
        DiagnosticErrors,
        DisallowedCharacters,
        FingerprintErrors,
        HostInIri,
        HostInUri,
        IdentifierKind,
        IriProduction,
        PolicyName,
        SplitErrors,
        StructErrors,
        TextErrors,
        UriLevel,
        UriProduction,
        UrnLevel,
        UrnRfc,
        VerdictErrors,
        WebScheme,
    )
    from uricodec.uri import Policy

__all__ = [
    "Column",
    "InvalidRows",
    "agreed_host",
    "check_iri",
    "check_uri",
    "check_urn",
    "fingerprint",
    "host",
    "iri_to_uri",
    "is_valid_iri",
    "is_valid_uri",
    "is_valid_urn",
    "normalize_uri",
    "normalize_urn",
    "path_segments",
    "percent_decode",
    "port",
    "public_suffix",
    "query_pairs",
    "query_value",
    "quote",
    "registrable_domain",
    "requote",
    "split_iri",
    "split_uri",
    "split_urn",
    "unquote",
    "uri_to_iri",
]


def __dir__() -> list[str]:
    return __all__


# --- percent-encoding -------------------------------------------------------------------------------------------------


@returns_text
def quote(
    column: Any,
    safe: ByteSet | str | bytes = "/",
    plus: bool = False,
    *,
    errors: CodecErrors = "keep",
    invalid: InvalidRows | None = None,
    threads: int | None = None,
    line_terminator: bytes = b"\n",
    output: BinaryOutput | None = None,
) -> Any:
    """Percent-encode each row, as urllib.parse.quote does.

    Args:
        column (Any): The rows.
        safe (ByteSet | str | bytes): The bytes to keep: a ByteSet, which contains all bytes from 128 up or none of
            them, is the whole set; a str or bytes lists ASCII characters to keep besides the unreserved ones.
        plus (bool): Write '+' for a space, and always encode a '+'.
        errors (str): How an invalid row is handled: "keep", "null", "raise", "drop" or "replace".
        invalid, threads, line_terminator, output: See `uricodec.bulk`.

    Returns:
        Any: Text. Text that is not UTF-8 is invalid: a line (code "utf-8"), a str with a lone surrogate ("surrogate").
            errors="keep" encodes the bytes of such a line (a str stays as it is), errors="replace" encodes U+FFFD in
            their place.

    Source: RFC 3986 section 2.1.

    >>> quote(["/a b", b"\\xff", None])
    ['/a%20b', b'%FF', None]
    >>> quote(b"/a\\xff\\n"), quote(b"/a\\xff\\n", errors="replace")
    (b'/a%FF\\n', b'/a%EF%BF%BD\\n')
    """
    return run("quote", column, {"safe": safe, "plus": plus}, errors, invalid, threads, line_terminator, output)


@returns_text
def requote(
    column: Any,
    safe: ByteSet | str | bytes = URI_CHARACTERS,
    *,
    errors: CodecErrors = "keep",
    invalid: InvalidRows | None = None,
    threads: int | None = None,
    line_terminator: bytes = b"\n",
    output: BinaryOutput | None = None,
) -> Any:
    """Percent-encode what is not encoded yet.

    Percent-encoded triplets stay as they are.

    Args:
        column (Any): The rows.
        safe (ByteSet | str | bytes): The bytes to keep, as in `quote`.
        errors (str): How an invalid row is handled: "keep", "null", "raise", "drop" or "replace".
        invalid, threads, line_terminator, output: See `uricodec.bulk`.

    Returns:
        Any: Text. A row with a malformed triplet is invalid (code "percent"), and so is text that is not UTF-8, as in
            `quote`. errors="keep" leaves the '%', errors="replace" encodes it as %25.

    Source: RFC 3986 section 2.4.

    >>> requote(["/a b/%c3%a9", "100%"])
    ['/a%20b/%c3%a9', '100%']
    >>> requote(["/a b/%c3%a9", "100%"], errors="replace")
    ['/a%20b/%c3%a9', '100%25']
    """
    return run("requote", column, {"safe": safe}, errors, invalid, threads, line_terminator, output)


@returns_text
def unquote(
    column: Any,
    plus: bool = False,
    *,
    errors: CodecErrors = "replace",
    invalid: InvalidRows | None = None,
    threads: int | None = None,
    line_terminator: bytes = b"\n",
    output: BinaryOutput | None = None,
) -> Any:
    """Decode each row once, as urllib.parse.unquote does.

    Rows of bytes (not lines) are decoded as urllib.parse.unquote_to_bytes does. A str or a line is invalid if it
    contains a malformed triplet (code "percent") or decodes to bytes that are not UTF-8 ("utf-8"). errors="replace"
    leaves the malformed triplet, and replaces such bytes by U+FFFD; errors="keep" leaves both as they are, as in
    `percent_decode`. Rows of bytes are never invalid. Decoding never changes the number of lines: in lines, triplets of
    control characters stay.

    Args:
        column (Any): The rows.
        plus (bool): Read '+' as a space.
        errors (str): How an invalid row is handled: "replace", "keep", "null", "raise" or "drop".
        invalid, threads, line_terminator, output: See `uricodec.bulk`.

    Returns:
        Any: Text.

    Source: RFC 3986 section 2.1; UTF-8 is RFC 3629's.

    >>> unquote(["caf%C3%A9", "%FF", b"%FF", "100%"], errors="null")
    ['café', None, b'\\xff', None]
    >>> unquote(b"/a%20b\\n/c%0Ad\\n")
    b'/a b\\n/c%0Ad\\n'
    """
    return run("unquote", column, {"plus": plus}, errors, invalid, threads, line_terminator, output)


@returns_text
def percent_decode(
    column: Any,
    plus: bool = False,
    *,
    errors: CodecErrors = "keep",
    invalid: InvalidRows | None = None,
    threads: int | None = None,
    line_terminator: bytes = b"\n",
    output: BinaryOutput | None = None,
) -> Any:
    """Decode each row once, without losing information.

    This is what `uricodec.percent_decode` does. A row is invalid if it contains a malformed triplet (code "percent"),
    or is text and decodes to bytes that are not UTF-8 ("utf-8"). errors="keep" leaves both as they are,
    errors="replace" writes U+FFFD in their place. Decoding never changes the number of lines: in lines, triplets of
    control characters stay.

    Args:
        column (Any): The rows.
        plus (bool): Read '+' as a space.
        errors (str): How an invalid row is handled: "keep", "null", "raise", "drop" or "replace".
        invalid, threads, line_terminator, output: See `uricodec.bulk`.

    Returns:
        Any: Text.

    Source: RFC 3986 section 2.1 and 2.4; UTF-8 is RFC 3629's.

    >>> percent_decode(["caf%C3%A9", "%FF", b"%FF", "100%"])
    ['café', '%FF', b'\\xff', '100%']
    >>> percent_decode(b"/a%20b\\n/c%0Ad%zz\\n", errors="replace").decode()
    '/a b\\n/c%0Ad\\ufffdzz\\n'
    """
    return run("percent_decode", column, {"plus": plus}, errors, invalid, threads, line_terminator, output)


# --- URIs and IRIs ----------------------------------------------------------------------------------------------------


@returns_text
def iri_to_uri(
    column: Any,
    disallowed: DisallowedCharacters = "raise",
    host: HostInUri = "percent",
    *,
    errors: TextErrors = "keep",
    invalid: InvalidRows | None = None,
    threads: int | None = None,
    line_terminator: bytes = b"\n",
    output: BinaryOutput | None = None,
) -> Any:
    """Convert each IRI to a URI.

    Args:
        column (Any): The rows.
        disallowed (str): How the ten ASCII characters that no URI contains are handled: "raise" (the row is invalid) or
            "encode".
        host (str): How a host beyond ASCII is written: "percent" (percent-encoded) or "idna" (A-labels).
        errors (str): How an invalid row is handled: "keep", "null", "raise" or "drop".
        invalid, threads, line_terminator, output: See `uricodec.bulk`.

    Returns:
        Any: Text, as from `uricodec.iri.iri_to_uri`.

    Source: RFC 3987 section 3.1.

    >>> iri_to_uri(["http://example.org/é", "http://a/ "], errors="null")
    ['http://example.org/%C3%A9', None]
    """
    return run(
        "iri_to_uri",
        column,
        {"disallowed": disallowed, "host": host},
        errors,
        invalid,
        threads,
        line_terminator,
        output,
    )


@returns_text
def uri_to_iri(
    column: Any,
    host: HostInIri = "keep",
    *,
    errors: TextErrors = "keep",
    invalid: InvalidRows | None = None,
    threads: int | None = None,
    line_terminator: bytes = b"\n",
    output: BinaryOutput | None = None,
) -> Any:
    """Convert each URI to an IRI.

    Args:
        column (Any): The rows.
        host (str): A-labels of hosts: "keep"; "unicode": characters; "safe": the same, where no scripts mix.
        errors (str): How an invalid row is handled: "keep", "null", "raise" or "drop".
        invalid, threads, line_terminator, output: See `uricodec.bulk`.

    Returns:
        Any: Text, as from `uricodec.iri.uri_to_iri`.

    Source: RFC 3987 section 3.2.

    >>> uri_to_iri(["http://example.org/%C3%A9%2F"])
    ['http://example.org/é%2F']
    """
    return run("uri_to_iri", column, {"host": host}, errors, invalid, threads, line_terminator, output)


@returns_text
def normalize_uri(
    column: Any,
    level: UriLevel = "path",
    policy: Policy | PolicyName | None = None,
    *,
    errors: TextErrors = "keep",
    invalid: InvalidRows | None = None,
    threads: int | None = None,
    line_terminator: bytes = b"\n",
    output: BinaryOutput | None = None,
) -> Any:
    """Return the normal form of each URI or IRI.

    Args:
        column (Any): The rows.
        level (str): What the normal form merges: "simple", "case", "percent", "path", "scheme", "iri", "rfc2396" or
            "rfc1630".
        policy (Policy | str | None): What is merged beyond a level, instead of one: a `uricodec.uri.Policy`, or the
            name of a ready one.
        errors (str): How an invalid row is handled: "keep", "null", "raise" or "drop".
        invalid, threads, line_terminator, output: See `uricodec.bulk`.

    Returns:
        Any: Text, as from `uricodec.uri.normalize`.

    Source: RFC 3986 section 6.2; RFC 3987 section 5.3.

    >>> normalize_uri(["HTTP://Example.org/a/../b"])
    ['http://example.org/b']
    >>> normalize_uri(["https://example.com?utm_source=x&b=2&a=1#top"], policy="crawl")
    ['https://example.com/?a=1&b=2']
    """
    arguments = {"level": level, "policy": policy}
    return run("normalize_uri", column, arguments, errors, invalid, threads, line_terminator, output)


@returns_verdicts
def is_valid_uri(
    column: Any,
    production: UriProduction = "URI-reference",
    safe_host: bool = False,
    *,
    errors: VerdictErrors = "keep",
    invalid: InvalidRows | None = None,
    threads: int | None = None,
    line_terminator: bytes = b"\n",
) -> Any:
    """Return whether each row is a URI reference.

    Args:
        column (Any): The rows.
        production (str): The production: "URI-reference", "URI" (with a scheme), "absolute-URI" or "relative-ref".
        safe_host (bool): Whether a host that decodes or normalizes to a delimiter is invalid, too.
        errors (str): How an invalid row is handled: "keep", "null" or "raise".
        invalid, threads, line_terminator: See `uricodec.bulk`.

    Returns:
        Any: bool. errors="null" returns null instead of False.

    Source: RFC 3986 appendix A.

    >>> is_valid_uri(["http://example.org/", "/a", "a b", None])
    [True, True, False, None]
    >>> is_valid_uri(["http://example.org/", "/a", "a b", None], production="URI")
    [True, False, False, None]
    """
    arguments = {"production": production, "safe_host": safe_host}
    return run("is_valid_uri", column, arguments, errors, invalid, threads, line_terminator)


@returns_verdicts
def is_valid_iri(
    column: Any,
    production: IriProduction = "IRI-reference",
    safe_host: bool = False,
    *,
    errors: VerdictErrors = "keep",
    invalid: InvalidRows | None = None,
    threads: int | None = None,
    line_terminator: bytes = b"\n",
) -> Any:
    """Return whether each row is an IRI reference.

    Args:
        column (Any): The rows.
        production (str): The production: "IRI-reference", "IRI" (with a scheme), "absolute-IRI" or "irelative-ref".
        safe_host (bool): Whether a host that decodes or normalizes to a delimiter is invalid, too.
        errors (str): How an invalid row is handled: "keep", "null" or "raise".
        invalid, threads, line_terminator: See `uricodec.bulk`.

    Returns:
        Any: bool, as from `is_valid_uri`.

    Source: RFC 3987 section 2.2.

    >>> is_valid_iri(["http://example.org/é"])
    [True]
    """
    arguments = {"production": production, "safe_host": safe_host}
    return run("is_valid_iri", column, arguments, errors, invalid, threads, line_terminator)


@returns_structs
def check_uri(
    column: Any,
    production: UriProduction = "URI-reference",
    safe_host: bool = False,
    *,
    errors: DiagnosticErrors = "keep",
    invalid: InvalidRows | None = None,
    threads: int | None = None,
    line_terminator: bytes = b"\n",
) -> Any:
    """Return why each row is not a URI reference.

    Args:
        column (Any): The rows.
        production (str): The production: "URI-reference", "URI" (with a scheme), "absolute-URI" or "relative-ref".
        safe_host (bool): Whether a host that decodes or normalizes to a delimiter is invalid, too.
        errors (str): How an invalid row is handled: "keep" or "raise".
        invalid, threads, line_terminator: See `uricodec.bulk`.

    Returns:
        Any: dicts or structs of code and offset, as from `uricodec.uri.check`; null if the row is valid. An offset
            counts characters of a str, bytes otherwise.

    Source: RFC 3986 appendix A.

    >>> check_uri(["/a", "/a b"])
    [None, {'code': 'path', 'offset': 2}]
    """
    arguments = {"production": production, "safe_host": safe_host}
    return run("check_uri", column, arguments, errors, invalid, threads, line_terminator)


@returns_structs
def check_iri(
    column: Any,
    production: IriProduction = "IRI-reference",
    safe_host: bool = False,
    *,
    errors: DiagnosticErrors = "keep",
    invalid: InvalidRows | None = None,
    threads: int | None = None,
    line_terminator: bytes = b"\n",
) -> Any:
    """Return why each row is not an IRI reference.

    Args:
        column (Any): The rows.
        production (str): The production: "IRI-reference", "IRI" (with a scheme), "absolute-IRI" or "irelative-ref".
        safe_host (bool): Whether a host that decodes or normalizes to a delimiter is invalid, too.
        errors (str): How an invalid row is handled: "keep" or "raise".
        invalid, threads, line_terminator: See `uricodec.bulk`.

    Returns:
        Any: dicts or structs, as from `check_uri`.

    Source: RFC 3987 section 2.2.

    >>> check_iri(["/é", "/é "])
    [None, {'code': 'path', 'offset': 2}]
    """
    arguments = {"production": production, "safe_host": safe_host}
    return run("check_iri", column, arguments, errors, invalid, threads, line_terminator)


@returns_structs
def split_uri(
    column: Any,
    *,
    errors: SplitErrors = "null",
    invalid: InvalidRows | None = None,
    threads: int | None = None,
    line_terminator: bytes = b"\n",
) -> Any:
    """Return the components of each URI reference.

    Args:
        column (Any): The rows.
        errors (str): How an invalid row is handled: "null", "keep", "raise" or "drop". With "keep", any text is
            split as RFC 3986 appendix B does.
        invalid, threads, line_terminator: See `uricodec.bulk`.

    Returns:
        Any: dicts or structs of scheme, authority, userinfo, host, port, path, query and fragment. A component that is
            undefined is null, and so is an invalid row.

    Source: RFC 3986 section 3.

    >>> split_uri(["//example.org:80/?a"])[0]["port"]
    '80'
    >>> split_uri(["//exa mple.org:x/"], errors="keep")[0]["host"]
    'exa mple.org'
    """
    return run("split_uri", column, {}, errors, invalid, threads, line_terminator)


@returns_structs
def split_iri(
    column: Any,
    *,
    errors: SplitErrors = "null",
    invalid: InvalidRows | None = None,
    threads: int | None = None,
    line_terminator: bytes = b"\n",
) -> Any:
    """Return the components of each IRI reference.

    Args:
        column (Any): The rows.
        errors (str): How an invalid row is handled: "null", "keep", "raise" or "drop". With "keep", any text is
            split as RFC 3986 appendix B does.
        invalid, threads, line_terminator: See `uricodec.bulk`.

    Returns:
        Any: dicts or structs, as from `split_uri`.

    Source: RFC 3987 section 2.2.

    >>> split_iri(["//example.org/é"])[0]["path"]
    '/é'
    """
    return run("split_iri", column, {}, errors, invalid, threads, line_terminator)


# --- components of URLs -----------------------------------------------------------------------------------------------


@returns_structs
def agreed_host(
    column: Any,
    schemes: Collection[WebScheme] | None = None,
    userinfo: Ambiguity = "raise",
    trailing_dot: Ambiguity = "raise",
    ports: Collection[int] | None = None,
    *,
    errors: StructErrors = "null",
    invalid: InvalidRows | None = None,
    threads: int | None = None,
    line_terminator: bytes = b"\n",
) -> Any:
    """Return the host of each URL on which all parsers agree.

    Args:
        column (Any): The rows.
        schemes (Collection[str] | None): The accepted ones of "http", "https", "ws" and "wss"; None: all.
        userinfo (str): How an "@" before the host is handled: "raise" (the row is invalid) or "allow".
        trailing_dot (str): How a "." at the end of a name is handled: "raise" (the row is invalid) or "allow".
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
    arguments = {"schemes": schemes, "userinfo": userinfo, "trailing_dot": trailing_dot, "ports": ports}
    return run("agreed_host", column, arguments, errors, invalid, threads, line_terminator)


@returns_components
def host(
    column: Any,
    *,
    errors: ComponentErrors = "keep",
    invalid: InvalidRows | None = None,
    threads: int | None = None,
    line_terminator: bytes = b"\n",
) -> Any:
    """Return the host of each URL, as it is spelled.

    Args:
        column (Any): The rows: any text.
        errors (str): How an invalid row is handled: "keep", "null" or "raise". Invalid are rows that are not IRI
            references; "keep" returns what they have.
        invalid, threads, line_terminator: See `uricodec.bulk`.

    Returns:
        Any: Text, as from `uricodec.uri.host`; null without an authority. In lines and columns of text, U+FFFD replaces
            what is not UTF-8.

    Source: RFC 3986 section 3.2.2, appendix B.

    >>> host(["https://me@Example.org:8042/a b", "http://[::1]/", "/a", None])
    ['Example.org', '[::1]', None, None]
    """
    return run("host", column, {}, errors, invalid, threads, line_terminator)


@returns_components
def port(
    column: Any,
    *,
    errors: ComponentErrors = "keep",
    invalid: InvalidRows | None = None,
    threads: int | None = None,
    line_terminator: bytes = b"\n",
) -> Any:
    """Return the port of each URL, as it is spelled.

    Args:
        column (Any): The rows: any text.
        errors (str): How an invalid row is handled: "keep", "null" or "raise". Invalid are rows that are not IRI
            references; "keep" returns what they have.
        invalid, threads, line_terminator: See `uricodec.bulk`.

    Returns:
        Any: Text, as from `uricodec.uri.port`; null without a port.

    Source: RFC 3986 section 3.2.3, appendix B.

    >>> port(["https://example.org:8042/", "https://example.org:/", "https://example.org/"])
    ['8042', '', None]
    """
    return run("port", column, {}, errors, invalid, threads, line_terminator)


@returns_components
def registrable_domain(
    column: Any,
    private: bool = False,
    suffixes: str | PathLike[str] | None = None,
    *,
    errors: ComponentErrors = "keep",
    invalid: InvalidRows | None = None,
    threads: int | None = None,
    line_terminator: bytes = b"\n",
) -> Any:
    """Return the registrable domain of each URL.

    Args:
        column (Any): The rows: any text.
        private (bool): Apply the private section of the list, too, which has suffixes of companies: github.io.
        suffixes (str | os.PathLike | None): A file in the format of the Public Suffix List. None: the list of the
            library `publicsuffixlist`, which the extra `domains` installs.
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
    arguments = {"private": private, "suffixes": suffixes}
    return run("registrable_domain", column, arguments, errors, invalid, threads, line_terminator)


@returns_components
def public_suffix(
    column: Any,
    private: bool = False,
    suffixes: str | PathLike[str] | None = None,
    *,
    errors: ComponentErrors = "keep",
    invalid: InvalidRows | None = None,
    threads: int | None = None,
    line_terminator: bytes = b"\n",
) -> Any:
    """Return the public suffix of the host of each URL.

    Args:
        column (Any): The rows: any text.
        private (bool): Apply the private section of the list, too, which has suffixes of companies: github.io.
        suffixes (str | os.PathLike | None): A file in the format of the Public Suffix List. None: the list of the
            library `publicsuffixlist`, which the extra `domains` installs.
        errors (str): How an invalid row is handled: "keep", "null" or "raise". Invalid are rows that are not IRI
            references; "keep" returns what they have.
        invalid, threads, line_terminator: See `uricodec.bulk`.

    Returns:
        Any: Text, as from `uricodec.uri.public_suffix`; null without a host, and for an address.

    Source: https://publicsuffix.org/list/; RFC 3986 section 3.2.2, appendix B.

    >>> public_suffix(["https://www.Example.co.uk/a b", "http://[::1]/", "http://com/", None])
    ['co.uk', None, 'com', None]
    """
    arguments = {"private": private, "suffixes": suffixes}
    return run("public_suffix", column, arguments, errors, invalid, threads, line_terminator)


@returns_components
def query_value(
    column: Any,
    name: str | Sequence[str],
    *,
    errors: ComponentErrors = "keep",
    invalid: InvalidRows | None = None,
    threads: int | None = None,
    line_terminator: bytes = b"\n",
) -> Any:
    """Return the value of a query parameter of each URL, decoded.

    Args:
        column (Any): The rows: any text.
        name (str | Sequence[str]): The decoded name; for several different names, the result is a struct with a field
            for each.
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
    return run("query_value", column, {"name": name}, errors, invalid, threads, line_terminator)


@returns_lists
def query_pairs(
    column: Any,
    *,
    errors: ComponentErrors = "keep",
    invalid: InvalidRows | None = None,
    threads: int | None = None,
    line_terminator: bytes = b"\n",
) -> Any:
    """Return the names and values of all query parameters of each URL, decoded.

    Args:
        column (Any): The rows: any text.
        errors (str): How an invalid row is handled: "keep", "null" or "raise". Invalid are rows that are not IRI
            references; "keep" returns what they have.
        invalid, threads, line_terminator: See `uricodec.bulk`.

    Returns:
        Any: Lists of tuples, as from `uricodec.uri.query_pairs`; in Arrow, lists of structs of name and value, which a
            `Column` shows as dicts. Empty without a query.

    Source: RFC 3986 section 3.4, appendix B; https://url.spec.whatwg.org/#urlencoded-parsing.

    >>> query_pairs(["/search?q=caf%C3%A9+au+lait&page=2&page=3&x", "/", None])
    [[('q', 'café au lait'), ('page', '2'), ('page', '3'), ('x', '')], [], None]
    >>> query_pairs(b"/?a=1&b\\n").to_pylist()
    [[{'name': 'a', 'value': '1'}, {'name': 'b', 'value': ''}]]
    """
    return run("query_pairs", column, {}, errors, invalid, threads, line_terminator)


@returns_lists
def path_segments(
    column: Any,
    *,
    errors: ComponentErrors = "keep",
    invalid: InvalidRows | None = None,
    threads: int | None = None,
    line_terminator: bytes = b"\n",
) -> Any:
    """Return the segments of the path of each URL, decoded.

    Args:
        column (Any): The rows: any text.
        errors (str): How an invalid row is handled: "keep", "null" or "raise". Invalid are rows that are not IRI
            references; "keep" returns what they have.
        invalid, threads, line_terminator: See `uricodec.bulk`.

    Returns:
        Any: Lists of text, as from `uricodec.uri.path_segments`; empty if the path is.

    Source: RFC 3986 section 3.3, appendix B.

    >>> path_segments(["https://example.org/caf%C3%A9/a%2Fb/?q", "https://example.org/", "https://example.org", None])
    [['café', 'a/b', ''], [''], [], None]
    """
    return run("path_segments", column, {}, errors, invalid, threads, line_terminator)


# --- URNs -------------------------------------------------------------------------------------------------------------


@returns_text
def normalize_urn(
    column: Any,
    level: UrnLevel = "8141",
    rfc: UrnRfc | None = None,
    *,
    errors: TextErrors = "keep",
    invalid: InvalidRows | None = None,
    threads: int | None = None,
    line_terminator: bytes = b"\n",
    output: BinaryOutput | None = None,
) -> Any:
    """Return the normal form of each URN.

    Args:
        column (Any): The rows.
        level (str): What the normal form merges: "bytes", "2141", "8141", "namespace" or "functional".
        rfc (str | None): The RFC of the grammar: "2141", "8141" or "any" of the two; None: that of the level.
        errors (str): How an invalid row is handled: "keep", "null", "raise" or "drop".
        invalid, threads, line_terminator, output: See `uricodec.bulk`.

    Returns:
        Any: Text, as from `uricodec.urn.normalize`.

    Source: RFC 2141 section 5; RFC 8141 section 3.1.

    >>> normalize_urn(["URN:ISBN:0-395-36341-1", None], level="namespace")
    ['urn:isbn:0395363411', None]
    """
    return run("normalize_urn", column, {"level": level, "rfc": rfc}, errors, invalid, threads, line_terminator, output)


@returns_verdicts
def is_valid_urn(
    column: Any,
    rfc: UrnRfc = "8141",
    *,
    errors: VerdictErrors = "keep",
    invalid: InvalidRows | None = None,
    threads: int | None = None,
    line_terminator: bytes = b"\n",
) -> Any:
    """Return whether each row is a URN.

    Args:
        column (Any): The rows.
        rfc (str): The RFC of the grammar: "2141", "8141" or "any" of the two.
        errors (str): How an invalid row is handled: "keep", "null" or "raise".
        invalid, threads, line_terminator: See `uricodec.bulk`.

    Returns:
        Any: bool, as from `is_valid_uri`.

    Source: RFC 2141 section 2; RFC 8141 section 2.

    >>> is_valid_urn(["urn:example:a", "urn:example:", None])
    [True, False, None]
    """
    return run("is_valid_urn", column, {"rfc": rfc}, errors, invalid, threads, line_terminator)


@returns_structs
def check_urn(
    column: Any,
    rfc: UrnRfc = "8141",
    *,
    errors: DiagnosticErrors = "keep",
    invalid: InvalidRows | None = None,
    threads: int | None = None,
    line_terminator: bytes = b"\n",
) -> Any:
    """Return why each row is not a URN.

    Args:
        column (Any): The rows.
        rfc (str): The RFC of the grammar: "2141", "8141" or "any" of the two.
        errors (str): How an invalid row is handled: "keep" or "raise".
        invalid, threads, line_terminator: See `uricodec.bulk`.

    Returns:
        Any: dicts or structs, as from `check_uri`; the codes are those of `uricodec.urn.check`.

    Source: RFC 2141 section 2; RFC 8141 section 2.

    >>> check_urn(["urn:example:a", "urn:example:"])
    [None, {'code': 'nss-empty', 'offset': 12}]
    """
    return run("check_urn", column, {"rfc": rfc}, errors, invalid, threads, line_terminator)


@returns_structs
def split_urn(
    column: Any,
    rfc: UrnRfc = "8141",
    *,
    errors: StructErrors = "null",
    invalid: InvalidRows | None = None,
    threads: int | None = None,
    line_terminator: bytes = b"\n",
) -> Any:
    """Return the components of each URN.

    Args:
        column (Any): The rows.
        rfc (str): The RFC of the grammar: "2141", "8141" or "any" of the two.
        errors (str): How an invalid row is handled: "null", "raise" or "drop".
        invalid, threads, line_terminator: See `uricodec.bulk`.

    Returns:
        Any: dicts or structs of nid, nss, r_component, q_component and f_component, as from `split_uri`.

    Source: RFC 2141 section 2; RFC 8141 section 2.

    >>> split_urn(["urn:example:a#b"])
    [{'nid': 'example', 'nss': 'a', 'r_component': None, 'q_component': None, 'f_component': 'b'}]
    """
    return run("split_urn", column, {"rfc": rfc}, errors, invalid, threads, line_terminator)


# --- fingerprints -----------------------------------------------------------------------------------------------------


@returns_fingerprints
def fingerprint(
    column: Any,
    kind: IdentifierKind = "bytes",
    level: UriLevel | UrnLevel | None = None,
    secret: FingerprintKey | str | bytes | None = None,
    policy: Policy | PolicyName | None = None,
    *,
    errors: FingerprintErrors = "null",
    invalid: InvalidRows | None = None,
    threads: int | None = None,
    line_terminator: bytes = b"\n",
) -> Any:
    """Return 128 bits for each row, equal if the normal forms are equal.

    Args:
        column (Any): The rows.
        kind (str): What the rows are: "bytes" (compared as they are), "urn", "uri" or "iri".
        level (str | None): What the normal form merges, as in `normalize_urn` and `normalize_uri`; None: "8141" for
            URNs, "path" for URIs, "iri" for IRIs.
        secret (FingerprintKey | str | bytes | None): The secret. Fingerprints with the same secret can be compared
            across processes; None: a random secret of this process.
        policy (Policy | str | None): What is merged beyond a level, with kind="uri" or "iri": see `normalize_uri`.
        errors (str): How an invalid row is handled: "null", "keep" or "raise".
        invalid, threads, line_terminator: See `uricodec.bulk`.

    Returns:
        Any: bytes of length 16; fixed-size binary in Arrow. An invalid row is null; with errors="keep" it has the
            fingerprint of its own bytes, as in `uricodec dedup`.

    Source: docs/concepts/fingerprint.md.

    >>> a, b = fingerprint(["URN:Example:a", "urn:example:a"], kind="urn")
    >>> len(a), a == b
    (16, True)
    """
    return run(
        "fingerprint",
        column,
        {"kind": kind, "level": level, "secret": secret, "policy": policy},
        errors,
        invalid,
        threads,
        line_terminator,
    )
