"""uricodec: the fastest exact codec for the names of the Internet."""

import os
import sys

try:
    from uricodec._base._kernels import ByteSet, cpu_tier, cpu_tiers
except ValueError:  # the environment asks for a tier that this CPU lacks
    _program = sys.argv[0] if sys.argv else ""
    if _program == "-m":  # Python is searching for the module: its own arguments have the name there, or "-mNAME"
        _program = sys.orig_argv[-len(sys.argv)].removeprefix("-m")
    if os.path.basename(_program) not in ("uricodec", "uricodec.exe"):
        raise
    sys.stderr.write(f"uricodec: URICODEC_TIER: {sys.exc_info()[1]}\n")  # the command itself cannot be imported
    raise SystemExit(2) from None
from uricodec.parse._quote import quote, quote_from_bytes, quote_plus, unquote, unquote_plus, unquote_to_bytes
from uricodec._codec._triplets import percent_decode, percent_encode, quote_into, requote, unquote_into
from uricodec.parse._install import install, uninstall
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
