"""uricodec: the fastest exact codec for the names of the Internet."""

from uricodec._core._kernels import ByteSet, cpu_tier, cpu_tiers
from uricodec._core._quote import quote, quote_from_bytes, quote_plus, unquote, unquote_plus, unquote_to_bytes
from uricodec._core._triplets import percent_decode, percent_encode, quote_into, requote, unquote_into
from uricodec._install import install, uninstall
from uricodec.errors import IriError, UnknownNamespaceError, UriError, UriSyntaxError, UrnError

__all__ = [
    "ByteSet",
    "IriError",
    "UnknownNamespaceError",
    "UriError",
    "UriSyntaxError",
    "UrnError",
    "cpu_tier",
    "cpu_tiers",
    "install",
    "percent_decode",
    "percent_encode",
    "quote",
    "quote_from_bytes",
    "quote_into",
    "quote_plus",
    "requote",
    "uninstall",
    "unquote",
    "unquote_into",
    "unquote_plus",
    "unquote_to_bytes",
]

__version__ = "0.1.0"
