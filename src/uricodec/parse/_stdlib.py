"""The interpreter's own urllib.parse, as it was before `uricodec.install()` put anything into it.

Calls that the fast paths do not cover are passed to these functions with all arguments, so results cannot drift
from those of the Python version. The module is imported when first needed, so `import uricodec` does not import
urllib.parse.
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
    """Return the two items of a pair; raise what unpacking in a `for` of the stdlib raises.

    >>> unpacked("ab")
    ('a', 'b')
    """
    first, second = pair
    return first, second


def codec_name(name):
    """Return the canonical name of a codec; None if it is unknown.

    >>> codec_name("L1"), codec_name("no such")
    ('iso8859-1', None)
    """
    try:
        return codecs.lookup(name).name
    except Exception:  # the search function of a program may raise anything
        return None


def decoder_of(name):
    """Return what decodes an encoding: a str with the characters of its bytes, or else a function.

    >>> decoder_of("cp1252")[0x80], decoder_of("gbk")(b"a")
    ('\u20ac', ('a', 1))
    """
    decode = codecs.lookup(name).decode
    return getattr(decode, "__globals__", {}).get("decoding_table", decode)


def keeps_bytes():
    """Return whether parse_qsl() returns bytes that are not ASCII for bytes, as since Python 3.13."""
    try:
        return module.parse_qsl(b"a=%FF") == [(b"a", b"\xff")]
    except UnicodeError:  # pragma: no cover: another Python
        return False


def has_empty_field(**options):
    """Return whether parse_qsl() rejects an empty query with these options, because it has one field, an empty one.

    >>> has_empty_field(max_num_fields=1)
    False
    """
    try:
        return module.parse_qsl("", **options) != []
    except ValueError:
        return True


def checks_handlers():
    """Return whether decoding looks up an error handler for valid bytes, too, as Python's development mode does."""
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
