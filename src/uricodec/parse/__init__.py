"""urllib.parse, bit for bit, many times faster: change one import.

    from uricodec.parse import quote, unquote, urlsplit, parse_qsl

The functions named here are compiled; every other name, public or private, is the stdlib's own object, so that both
sides see the same result classes and the same lists of schemes. What a fast function does not cover it hands to the
stdlib's, so that it behaves as the one of the running interpreter does, exceptions and warnings included.

>>> import urllib.parse
>>> isinstance(urlsplit("http://example.com/"), urllib.parse.SplitResult)
True
"""

from functools import partial

from uricodec.parse import _split
from uricodec.parse import _stdlib as stdlib
from uricodec.parse._join import urldefrag, urljoin, urlunparse, urlunsplit
from uricodec.parse._query import parse_qs, parse_qsl, urlencode
from uricodec.parse._quote import quote, quote_from_bytes, quote_plus, unquote, unquote_plus, unquote_to_bytes
from uricodec.parse._split import urlparse, urlsplit

__all__ = list(stdlib.module.__all__)


def clear_cache():
    """Forget what is kept for speed, here and in urllib.parse.

    >>> clear_cache()
    """
    stdlib.clear_cache()
    _split.cache_clear()


# A partial has no frame: a warning of the stdlib's own module __getattr__ goes to the line of the caller.
__getattr__ = partial(getattr, stdlib.module)


def __dir__():
    return sorted({*dir(stdlib.module), *stdlib.FAST})
