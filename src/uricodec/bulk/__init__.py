"""Columns, lines in buffers and files: the operations of uricodec over many values in one call.

    from uricodec import bulk

What comes in decides what comes out:

- a list or tuple of str, bytes or None: a list, with the same objects where nothing changes
- a Series or Index of pandas: the same, with its index, name and dtype (a DataFrame of what has several fields); a
  NumPy array of objects: another one. NaN, NaT and NA among objects are missing rows
- an object of Arrow (pyarrow, Polars, DuckDB, nanoarrow ...) with `__arrow_c_array__` or `__arrow_c_stream__`:
  a `Column`, which these libraries take as it is; a table of one column becomes a table. Text, large text and views
  stay what they are (offsets become large ones where 32 bits are not enough); octets (binary) stay octets; of a
  dictionary the values are done, and those that become equal are merged; nulls stay null; views of rows that do not
  change share the input's buffers
- a bytes-like object: lines, each ended by `separator`; bytes come out, or a `Column` of what is no text
- a binary file, with `output=` another one: lines, in pieces, in little memory; the number of rows comes out

All operations take, besides their own arguments:

- `errors` (str): how a row that the operation rejects is handled. "keep": text stays as it is (operations that encode
  or decode keep only its invalid part), a verdict is false, a fingerprint is that of the row. "null": it becomes null
  (None, an empty line). "raise": the call raises what the operation raises on a single value, with the number of the
  row. "replace": U+FFFD stands for bytes that are not UTF-8. docs/columns.md lists the policies of each operation;
  another one is a ValueError.
  A value of another type in a list, or among objects, is such a row, with the code "type": "keep" and "replace" keep
  it, and "raise" raises a TypeError.
- `invalid` (InvalidRows | None): is filled with the number of these rows, and the first of them.
- `threads` (int | None): how many threads share the work, if there is enough of it; None: those that there are, for
  more than 1 MiB. A list is done by one thread. The order of rows is always that of the input.
- `separator` (bytes): the control character that ends a line. A "\\r" before "\\n" belongs to the end.
- `output` (binary file | None): where the lines of a file go.

No library is imported for this.

>>> unquote(["/caf%C3%A9", None, "/plain", "%FF"])
['/café', None, '/plain', '\\ufffd']
>>> invalid = InvalidRows()
>>> normalize_urn(b"URN:ISBN:0451450523\\nurl:x\\n", invalid=invalid)
b'urn:isbn:0451450523\\nurl:x\\n'
>>> invalid
InvalidRows(count=1, rows=[(1, 'scheme', 2)])
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from uricodec._base._fingerprint import FingerprintKey
from uricodec._base._kernels import ByteSet
from uricodec._codec._triplets import URI_CHARACTERS
from uricodec._rows._columns import Column
from uricodec.bulk._calls import How, InvalidRows, run

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = [
    "Column",
    "InvalidRows",
    "check_iri",
    "check_uri",
    "check_urn",
    "fingerprint",
    "iri_to_uri",
    "is_valid_iri",
    "is_valid_uri",
    "is_valid_urn",
    "normalize_uri",
    "normalize_urn",
    "percent_decode",
    "quote",
    "requote",
    "split_iri",
    "split_uri",
    "split_urn",
    "unquote",
    "uri_to_iri",
]

# --- percent-encoding -------------------------------------------------------------------------------------------------


def quote(column: Any, safe: ByteSet | str | bytes = "/", plus: bool = False, **how: Unpack[How]) -> Any:
    """Percent-encode each row, as urllib.parse.quote does (with `plus` and safe="": quote_plus).

    Args:
        column (Any): The rows, of any kind.
        safe (ByteSet | str | bytes): The octets that stay as they are: a ByteSet, which beyond ASCII has all octets or
            none, is all of them; a str or bytes has the characters of ASCII that stay besides the unreserved ones.
        plus (bool): Write '+' for a space, and always encode a '+'.

    Returns:
        Any: The rows, of the kind that came in. Text that is not UTF-8 is rejected: a line (code "utf-8"), a str with a
            lone surrogate ("surrogate"). errors="keep" encodes the bytes of such a line (a str stays as it is),
            errors="replace" encodes U+FFFD in their place.

    Source: RFC 3986 section 2.1.

    >>> quote(["/a b", b"\\xff", None])
    ['/a%20b', b'%FF', None]
    >>> quote(b"/a\\xff\\n"), quote(b"/a\\xff\\n", errors="replace")
    (b'/a%FF\\n', b'/a%EF%BF%BD\\n')
    """
    return run("quote", column, how, safe=safe, plus=plus)


def requote(column: Any, safe: ByteSet | str | bytes = URI_CHARACTERS, **how: Unpack[How]) -> Any:
    """Percent-encode what is not encoded yet: triplets stay.

    Args:
        column (Any): The rows, of any kind.
        safe (ByteSet | str | bytes): As of `quote`.

    Returns:
        Any: The rows, of the kind that came in. A row with a malformed triplet is rejected (code "percent"), and text
            that is not UTF-8, as for `quote`. errors="keep" leaves the '%', errors="replace" encodes it as %25.

    Source: RFC 3986 section 2.4.

    >>> requote(["/a b/%c3%a9", "100%"])
    ['/a%20b/%c3%a9', '100%']
    >>> requote(["/a b/%c3%a9", "100%"], errors="replace")
    ['/a%20b/%c3%a9', '100%25']
    """
    return run("requote", column, how, safe=safe)


def unquote(column: Any, plus: bool = False, **how: Unpack[How]) -> Any:
    """Decode each row, once, as urllib.parse.unquote does; octets (bytes, binary columns) as unquote_to_bytes does.

    Text is rejected that has a malformed triplet (code "percent"), or decodes to bytes that are not UTF-8 ("utf-8"),
    whether they were encoded or not. With errors="replace" the malformed triplet stays and U+FFFD stands for the bytes;
    with errors="keep" both stay as they are, as for `percent_decode`. Rows of bytes (not lines) are never rejected. Of
    lines, which are text, triplets of control characters stay as they are: a line stays one.

    Args:
        column (Any): The rows, of any kind.
        plus (bool): Read '+' as a space.

    Returns:
        Any: The rows, of the kind that came in.

    Source: RFC 3986 section 2.1; UTF-8 is RFC 3629's.

    >>> unquote(["caf%C3%A9", "%FF", b"%FF", "100%"], errors="null")
    ['café', None, b'\\xff', None]
    >>> unquote(b"/a%20b\\n/c%0Ad\\n")
    b'/a b\\n/c%0Ad\\n'
    """
    return run("unquote", column, how, plus=plus)


def percent_decode(column: Any, plus: bool = False, **how: Unpack[How]) -> Any:
    """Decode each row, once, and lose nothing, as `uricodec.percent_decode` does.

    A row with a malformed triplet is rejected (code "percent"), and text that decodes to bytes that are not UTF-8
    ("utf-8"). errors="keep" leaves either as it is written, errors="replace" writes U+FFFD in its place. Of lines,
    triplets of control characters stay as they are, so that decoding never changes the number of lines.

    Args:
        column (Any): The rows, of any kind.
        plus (bool): Read '+' as a space.

    Returns:
        Any: The rows, of the kind that came in.

    Source: RFC 3986 section 2.1 and 2.4; UTF-8 is RFC 3629's.

    >>> percent_decode(["caf%C3%A9", "%FF", b"%FF", "100%"])
    ['café', '%FF', b'\\xff', '100%']
    >>> percent_decode(b"/a%20b\\n/c%0Ad%zz\\n", errors="replace").decode()
    '/a b\\n/c%0Ad\\ufffdzz\\n'
    """
    return run("percent_decode", column, how, plus=plus)


# --- URIs and IRIs ----------------------------------------------------------------------------------------------------


def iri_to_uri(
    column: Any,
    disallowed: Literal["raise", "encode"] = "raise",
    host: Literal["percent", "idna"] = "percent",
    **how: Unpack[How],
) -> Any:
    """Turn each IRI into a URI, as `uricodec.iri.iri_to_uri` does.

    Args:
        column (Any): The rows, of any kind.
        disallowed (str): "raise" or "encode": what becomes of the ten characters of ASCII that no URI has.
        host (str): "percent" or "idna".

    Returns:
        Any: The rows, of the kind that came in.

    Source: RFC 3987 section 3.1.

    >>> iri_to_uri(["http://example.org/é", "http://a/ "], errors="null")
    ['http://example.org/%C3%A9', None]
    """
    return run("iri_to_uri", column, how, disallowed=disallowed, host=host)


def uri_to_iri(column: Any, host: Literal["keep", "unicode"] = "keep", **how: Unpack[How]) -> Any:
    """Turn each URI into an IRI, as `uricodec.iri.uri_to_iri` does.

    Args:
        column (Any): The rows, of any kind.
        host (str): "keep" or "unicode".

    Returns:
        Any: The rows, of the kind that came in.

    Source: RFC 3987 section 3.2.

    >>> uri_to_iri(["http://example.org/%C3%A9%2F"])
    ['http://example.org/é%2F']
    """
    return run("uri_to_iri", column, how, host=host)


def normalize_uri(column: Any, level: str = "path", **how: Unpack[How]) -> Any:
    """Bring each URI or IRI into normal form, as `uricodec.uri.normalize` does.

    Args:
        column (Any): The rows, of any kind.
        level (str): The rung of the ladder, as of `uricodec.uri.normalize`.

    Returns:
        Any: The rows, of the kind that came in.

    Source: RFC 3986 section 6.2; RFC 3987 section 5.3.

    >>> normalize_uri(["HTTP://Example.org/a/../b"])
    ['http://example.org/b']
    """
    return run("normalize_uri", column, how, level=level)


def is_valid_uri(column: Any, production: str = "URI-reference", **how: Unpack[How]) -> Any:
    """Return whether each row is a URI reference, or what `production` names.

    Args:
        column (Any): The rows, of any kind.
        production (str): As of `uricodec.uri.check`: "URI-reference", "URI" (with a scheme), "absolute-URI" or
            "relative-ref".

    Returns:
        Any: A list of bool, or a Column of them. errors="null" makes null of False.

    Source: RFC 3986.

    >>> is_valid_uri(["http://example.org/", "/a", "a b", None])
    [True, True, False, None]
    >>> is_valid_uri(["http://example.org/", "/a", "a b", None], production="URI")
    [True, False, False, None]
    """
    return run("is_valid_uri", column, how, production=production)


def is_valid_iri(column: Any, production: str = "IRI-reference", **how: Unpack[How]) -> Any:
    """Return whether each row is an IRI reference, or what `production` names.

    Args:
        column (Any): The rows, of any kind.
        production (str): As of `uricodec.iri.check_iri`: "IRI-reference", "IRI" (with a scheme), "absolute-IRI" or
            "irelative-ref".

    Returns:
        Any: As of `is_valid_uri`.

    Source: RFC 3987.

    >>> is_valid_iri(["http://example.org/é"])
    [True]
    """
    return run("is_valid_iri", column, how, production=production)


def check_uri(column: Any, production: str = "URI-reference", **how: Unpack[How]) -> Any:
    """Return what is wrong with each row, as `uricodec.uri.check` does.

    Args:
        column (Any): The rows, of any kind.
        production (str): As of `is_valid_uri`.

    Returns:
        Any: A list of None (nothing is wrong) and dicts of code and offset, or a Column of such structs. An offset
            counts characters of a str, octets of all else.

    Source: RFC 3986.

    >>> check_uri(["/a", "/a b"])
    [None, {'code': 'path', 'offset': 2}]
    """
    return run("check_uri", column, how, production=production)


def check_iri(column: Any, production: str = "IRI-reference", **how: Unpack[How]) -> Any:
    """Return what is wrong with each row, as `uricodec.iri.check_iri` does.

    Args:
        column (Any): The rows, of any kind.
        production (str): As of `is_valid_iri`.

    Returns:
        Any: As of `check_uri`.

    Source: RFC 3987.

    >>> check_iri(["/é", "/é "])
    [None, {'code': 'path', 'offset': 2}]
    """
    return run("check_iri", column, how, production=production)


def split_uri(column: Any, **how: Unpack[How]) -> Any:
    """The components of each URI-reference, strictly read.

    Args:
        column (Any): The rows, of any kind.

    Returns:
        Any: A list of dicts, or a Column of structs: scheme, authority, userinfo, host, port, path, query, fragment.
            One that is undefined is null. An invalid row is null, too.

    Source: RFC 3986.

    >>> split_uri(["//example.org:80/?a"])[0]["port"]
    '80'
    """
    return run("split_uri", column, how)


def split_iri(column: Any, **how: Unpack[How]) -> Any:
    """The components of each IRI-reference, strictly read.

    Args:
        column (Any): The rows, of any kind.

    Returns:
        Any: As of `split_uri`.

    Source: RFC 3987.

    >>> split_iri(["//example.org/é"])[0]["path"]
    '/é'
    """
    return run("split_iri", column, how)


# --- URNs -------------------------------------------------------------------------------------------------------------


def normalize_urn(column: Any, level: str = "8141", spec: str | None = None, **how: Unpack[How]) -> Any:
    """Bring each URN into normal form, as `uricodec.urn.normalize` does.

    Args:
        column (Any): The rows, of any kind.
        level (str): "bytes", "2141", "8141", "namespace" or "functional".
        spec (str | None): By which it is read; None: the level's own.

    Returns:
        Any: The rows, of the kind that came in.

    Source: RFC 2141 section 5; RFC 8141 section 3.1.

    >>> normalize_urn(["URN:ISBN:0-395-36341-1", None], level="namespace")
    ['urn:isbn:0395363411', None]
    """
    return run("normalize_urn", column, how, level=level, spec=spec)


def is_valid_urn(column: Any, spec: str = "8141", **how: Unpack[How]) -> Any:
    """Whether each row is a URN.

    Args:
        column (Any): The rows, of any kind.
        spec (str): "2141", "8141", or "any" of the two.

    Returns:
        Any: As of `is_valid_uri`.

    Source: RFC 2141 section 2; RFC 8141 section 2.

    >>> is_valid_urn(["urn:example:a", "urn:example:", None])
    [True, False, None]
    """
    return run("is_valid_urn", column, how, spec=spec)


def check_urn(column: Any, spec: str = "8141", **how: Unpack[How]) -> Any:
    """Return what is wrong with each row, as `uricodec.urn.check` does.

    Args:
        column (Any): The rows, of any kind.
        spec (str): As of `is_valid_urn`.

    Returns:
        Any: As of `check_uri`.

    Source: RFC 2141 section 2; RFC 8141 section 2.

    >>> check_urn(["urn:example:a", "urn:example:"])
    [None, {'code': 'nss-empty', 'offset': 12}]
    """
    return run("check_urn", column, how, spec=spec)


def split_urn(column: Any, spec: str = "8141", **how: Unpack[How]) -> Any:
    """The components of each URN.

    Args:
        column (Any): The rows, of any kind.
        spec (str): As of `is_valid_urn`.

    Returns:
        Any: As of `split_uri`: nid, nss, r_component, q_component, f_component.

    Source: RFC 2141 section 2; RFC 8141 section 2.

    >>> split_urn(["urn:example:a#b"])
    [{'nid': 'example', 'nss': 'a', 'r_component': None, 'q_component': None, 'f_component': 'b'}]
    """
    return run("split_urn", column, how, spec=spec)


# --- fingerprints -----------------------------------------------------------------------------------------------------


def fingerprint(
    column: Any,
    kind: str = "bytes",
    level: str | None = None,
    key: FingerprintKey | str | bytes | None = None,
    **how: Unpack[How],
) -> Any:
    """128 bits for each row, the same for rows with the same normal form.

    Args:
        column (Any): The rows, of any kind.
        kind (str): "bytes" as they are, "urn", "uri" or "iri".
        level (str | None): Of the normal form, as of `normalize_urn` and `normalize_uri`; None: "8141" for URNs,
            "path" for URIs, "iri" for IRIs.
        key (FingerprintKey | str | bytes | None): A secret for fingerprints that are to be compared across processes;
            None: a random one, which is this process's own.

    Returns:
        Any: A list of bytes, or a Column of fixed-size binary. An invalid row is null; with errors="keep" it has a
            fingerprint as well, that of what it is: equal rows are one, as for `uricodec dedup`.

    Source: docs/fingerprint.md.

    >>> a, b = fingerprint(["URN:Example:a", "urn:example:a"], kind="urn")
    >>> len(a), a == b
    (16, True)
    """
    return run("fingerprint", column, how, kind=kind, level=level, key=key)
