"""URLs in texts of any kind: what a text is, and the URLs in it without their escapes."""

from typing import TYPE_CHECKING

from uricodec.uri._components import find_part

if TYPE_CHECKING:
    from typing_extensions import Buffer

    from uricodec.typing import TextContent

# The bytes at the start of a text that show what it is.
ENOUGH = 4096

# After a byte order mark and white space: an object of JSON, perhaps in lists, or a list of strings; a tag, comment or
# declaration of HTML or XML. "<http://a.example/>" is none of them, nor is "[a](http://a.example/)".
_FRONT = rb"(?:\xef\xbb\xbf)?[ \t\r\n]*"
_JSON = _FRONT + rb"""(?:(?:\[[ \t\r\n]*)*\{[ \t\r\n]*(?:["}]|\Z)|(?:\[[ \t\r\n]*)+")"""
_HTML = _FRONT + rb"<(?i:!doctype\b|!--|\?xml\b|[a-z][a-z0-9:-]*(?:[ \t\r\n]|/?>))"


def content_of(head: bytes) -> str:
    """Return what a text is that begins with `head`: "json", "html" or "plain".

    Only its start counts, not what others may have written into a log.

    >>> content_of(b'{"a":'), content_of(b"<!DOCTYPE html>"), content_of(b"<http://a.example/>")
    ('json', 'html', 'plain')
    """
    import re

    return "json" if re.match(_JSON, head) else "html" if re.match(_HTML, head) else "plain"


def find_with_escapes(buffer: "Buffer", content: str) -> tuple[list[tuple[int, int]], list[bytes]]:
    """Return where the URLs of a text are, and the URLs; `content` is that of `uricodec.uri.extract`."""
    if content == "auto":
        with memoryview(buffer) as view:
            content = content_of(bytes(view.cast("B")[:ENOUGH]))
    if content == "plain":
        spans, _ = find_part(buffer, (1 << 63) - 1, True)
        with memoryview(buffer) as view:
            data = view.cast("B")
            return spans, [bytes(data[start:stop]) for start, stop in spans]
    from uricodec.uri._content import find_part as find_in

    spans, urls, _ = find_in(content, buffer, (1 << 63) - 1, True)
    return spans, urls


def extract(buffer: "Buffer", content: "TextContent" = "auto") -> list[bytes]:
    r"""Return the URLs in any bytes, without the escapes of JSON or HTML.

    Args:
        buffer (bytes-like): The bytes, which are contiguous in memory.
        content (str): What they are: "plain"; "json", where a URL may contain escapes such as ``\/`` and ``\u0026``;
            "html", also XML, where it may contain character references such as ``&amp;``; or "auto", which is "json" if
            they begin with an object or a list of objects or strings, as JSON lines do, "html" if they begin with a
            tag, a comment or a declaration, and otherwise "plain".

    Returns:
        list[bytes]: The URLs, in order; `find` returns where they are, for the same `content`.

    Raises:
        TypeError: If `buffer` is not bytes-like, or not contiguous.
        ValueError: If `content` is unknown.

    Source: RFC 8259 section 7; HTML, section 13.2.5.72 to 13.2.5.80, as in attributes.

    >>> extract(rb'{"a":"http:\/\/a.example\/?b\u0026c"}'), extract(b'<a href="http://a.example/?b&amp;c">')
    ([b'http://a.example/?b&c'], [b'http://a.example/?b&c'])
    """
    return find_with_escapes(buffer, content)[1]


extract.__module__ = "uricodec.uri"
