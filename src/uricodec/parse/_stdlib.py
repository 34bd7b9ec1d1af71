"""The interpreter's own urllib.parse, as it was before `uricodec.install()` put anything into it.

Whatever the fast paths do not cover is handed to these functions, arguments and all, so that semantics cannot drift
between Python versions. Imported when first needed: `import uricodec` does not pay for urllib.parse.
"""

import codecs
import urllib.parse as module

FAST = (
    "parse_qs",
    "parse_qsl",
    "quote",
    "quote_from_bytes",
    "quote_plus",
    "unquote",
    "unquote_plus",
    "unquote_to_bytes",
    "urldefrag",
    "urlencode",
    "urljoin",
    "urlparse",
    "urlsplit",
    "urlunparse",
    "urlunsplit",
)

globals().update({name: getattr(module, name) for name in (*FAST, "clear_cache")})


def unpacked(pair):
    """Return the two items of a pair, unpacked as by a `for` of the stdlib's, errors included.

    >>> unpacked("ab")
    ('a', 'b')
    """
    first, second = pair
    return first, second


def codec_name(name):
    """Return the name that a codec has by itself; None if it is unknown.

    >>> codec_name("L1"), codec_name("no such")
    ('iso8859-1', None)
    """
    try:
        return codecs.lookup(name).name
    except Exception:  # the search function of a program may raise anything
        return None


def keeps_bytes():
    """Return whether parse_qsl() returns bytes for bytes, whatever they are."""
    try:
        return module.parse_qsl(b"a=%FF") == [(b"a", b"\xff")]
    except UnicodeError:  # pragma: no cover: another Python
        return False


def checks_handlers():
    """Return whether decoding looks up an error handler that it does not need, as Python's development mode does."""
    try:
        b"a".decode("utf-8", "no such handler")
    except LookupError:
        return True
    return False


CHECKS_HANDLERS = checks_handlers()


def unless_invalid(function, *arguments):
    """Return the result of a call; None if the bytes are invalid. Compiled code must not catch exceptions itself."""
    try:
        return function(*arguments)
    except UnicodeError:
        return None
