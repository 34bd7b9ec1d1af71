"""Percent-encoding."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from uricodec._base._kernels import ByteSet
from uricodec._codec._rows import NO_CONTROL, DecodeRows, EncodeRows, RequoteRows
from uricodec._codec._triplets import kept_in_rows
from uricodec.bulk._functions import operation
from uricodec.bulk._operation import Filter, SqlFunction

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from uricodec.bulk._functions import TextOptions
    from uricodec.typing import CodecErrors

__all__ = ["percent_decode", "quote", "requote", "unquote"]


@operation(
    "text",
    single="parse.quote",
    examples={"safe": ("", "/:é")},
    sql=(SqlFunction("uri_encode", ("safe",)), SqlFunction("form_encode", fixed={"plus": True, "safe": ""})),
    command=Filter("encode", {"safe": "--safe", "plus": "--plus"}),
    rows="percent",
    page="guides/framing",
)
def quote(safe: ByteSet | str | bytes = "/", plus: bool = False, **options: Unpack[TextOptions[CodecErrors]]) -> Any:
    r"""Percent-encode each row, as urllib.parse.quote does.

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

    >>> quote(["/a b", b"\xff", None])
    ['/a%20b', b'%FF', None]
    >>> quote(b"/a\xff\n"), quote(b"/a\xff\n", errors="replace")
    (b'/a%FF\n', b'/a%EF%BF%BD\n')
    """
    kept_in_rows(safe, b"")  # raises for a wrong one
    return lambda text, terminator: EncodeRows(kept_in_rows(safe, terminator), plus, text)


@operation(
    "text",
    single="requote",
    examples={"safe": ("", "/:é")},
    sql=(SqlFunction("uri_requote"),),
    command=Filter("requote", {"safe": "--safe"}),
    rows="percent",
    page="guides/framing",
)
def requote(safe: ByteSet | str | bytes = ":/?#[]@!$&'()*+,;=", **options: Unpack[TextOptions[CodecErrors]]) -> Any:
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
    kept_in_rows(safe, b"")  # raises for a wrong one
    return lambda text, terminator: RequoteRows(kept_in_rows(safe, terminator), text)


@operation(
    "text",
    single="parse.unquote",
    default="replace",
    sql=(SqlFunction("uri_decode"), SqlFunction("form_decode", fixed={"plus": True})),
    rows="percent",
    page="guides/drop_in",
)
def unquote(plus: bool = False, **options: Unpack[TextOptions[CodecErrors]]) -> Any:
    r"""Decode each row once, as urllib.parse.unquote does.

    Rows of bytes (not lines) are decoded as urllib.parse.unquote_to_bytes does. A str or a line is invalid if it
    contains a malformed triplet (code "percent") or decodes to bytes that are not UTF-8 ("utf-8"). errors="replace"
    leaves the malformed triplet, and replaces such bytes by U+FFFD; errors="keep" leaves both as they are, as in
    `percent_decode`. Rows of bytes are never invalid. Decoding adds no lines: in lines, triplets of control characters
    stay.

    Args:
        column (Any): The rows.
        plus (bool): Read '+' as a space.
        errors (str): How an invalid row is handled: "replace", "keep", "null", "raise" or "drop".
        invalid, threads, line_terminator, output: See `uricodec.bulk`.

    Returns:
        Any: Text.

    Source: RFC 3986 section 2.1; UTF-8 is RFC 3629's.

    >>> unquote(["caf%C3%A9", "%FF", b"%FF", "100%"], errors="null")
    ['café', None, b'\xff', None]
    >>> unquote(b"/a%20b\n/c%0Ad\n")
    b'/a b\n/c%0Ad\n'
    """
    return _decoding(plus, lossless=False)


@operation(
    "text",
    single="percent_decode",
    examples={"encoding": ("cp1252", "shift_jis")},
    sql=(SqlFunction("percent_decode", ("encoding",)),),
    command=Filter("decode", {"plus": "--plus", "encoding": "--encoding"}),
    rows="percent",
    page="guides/framing",
)
def percent_decode(plus: bool = False, encoding: str | None = None, **options: Unpack[TextOptions[CodecErrors]]) -> Any:
    r"""Decode each row once, without losing information.

    This is what `uricodec.percent_decode` does. A row is invalid if it contains a malformed triplet (code "percent"),
    or is text and decodes to bytes that are not UTF-8 ("utf-8"). errors="keep" leaves both as they are,
    errors="replace" writes U+FFFD in their place. Decoding never changes the number of lines: in lines, triplets of
    control characters stay.

    Args:
        column (Any): The rows.
        plus (bool): Read '+' as a space.
        encoding (str | None): The encoding of rows that are not UTF-8 once they are decoded, such as latin-1, cp1251 or
            shift_jis. Results are UTF-8, also those of bytes.
        errors (str): How an invalid row is handled: "keep", "null", "raise", "drop" or "replace".
        invalid, threads, line_terminator, output: See `uricodec.bulk`.

    Returns:
        Any: Text.

    Source: RFC 3986 section 2.1 and 2.4; UTF-8 is RFC 3629's.

    >>> percent_decode(["caf%C3%A9", "%FF", b"%FF", "100%"])
    ['café', '%FF', b'\xff', '100%']
    >>> percent_decode(b"/a%20b\n/c%0Ad%zz\n", errors="replace").decode()
    '/a b\n/c%0Ad\ufffdzz\n'
    >>> percent_decode(["/%CF%F0%E8", "/%D0%9F"], encoding="cp1251")
    ['/При', '/П']
    """
    return _decoding(plus, lossless=True, encoding=encoding)


def _decoding(plus: bool, lossless: bool, encoding: str | None = None) -> Any:
    """Return what decodes. Of lines, triplets that could end one or control a terminal stay."""

    def make(text: bool, terminator: bytes) -> DecodeRows:
        decodable = NO_CONTROL if terminator == b"\n" else ~ByteSet(terminator) if terminator else None
        return DecodeRows(plus, text or encoding is not None, decodable, lossless=lossless, charset=encoding)

    return make
