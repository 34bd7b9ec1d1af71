"""A faster urllib.parse with the same results: change one import.

    from uricodec.parse import quote, unquote, urlsplit, parse_qsl

The functions named here are compiled; every other name, public or private, is the stdlib's own object, so that both
sides see the same result classes and the same lists of schemes. A compiled function passes calls
that it does not cover to the stdlib's function, so it returns, raises and warns as the running interpreter does.

>>> import urllib.parse
>>> isinstance(urlsplit("http://example.com/"), urllib.parse.SplitResult)
True
"""

from functools import partial

from uricodec.parse import _split
from uricodec.parse import _stdlib as stdlib
from uricodec.parse._join import urldefrag, urljoin, urlunparse, urlunsplit
from uricodec.parse._quote import (
    parse_qs,
    parse_qsl,
    quote,
    quote_from_bytes,
    quote_plus,
    unquote,
    unquote_plus,
    unquote_to_bytes,
    urlencode,
)
from uricodec.parse._split import urlparse, urlsplit

__all__ = list(stdlib.module.__all__)


def clear_cache():
    """Clear the caches of urllib.parse, and that of urlsplit here.

    >>> clear_cache()
    """
    stdlib.clear_cache()
    _split.cache_clear()


# A partial has no frame: a warning of the stdlib's own module __getattr__ goes to the line of the caller.
__getattr__ = partial(getattr, stdlib.module)


def __dir__():
    return sorted({*dir(stdlib.module), *stdlib.FAST})
