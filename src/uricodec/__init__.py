"""uricodec: the fastest exact codec for the names of the Internet."""

from uricodec._core._kernels import ByteSet, cpu_tier, cpu_tiers
from uricodec._core._percent import quote, quote_from_bytes, quote_plus, unquote, unquote_plus, unquote_to_bytes
from uricodec._install import install, uninstall
from uricodec.errors import IriError, UnknownNamespaceError, UriError, UriSyntaxError, UrnError

__version__ = "0.1.0"
