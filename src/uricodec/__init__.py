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
from uricodec._codec._triplets import percent_decode, percent_encode, quote_into, requote, unquote_into
from uricodec.errors import IriError, UnknownNamespaceError, UriError, UriSyntaxError, UrnError

TYPE_CHECKING = False  # as in typing, the import of which costs more than all of this
if TYPE_CHECKING:
    from uricodec.parse import quote, quote_from_bytes, quote_plus, unquote, unquote_plus, unquote_to_bytes
    from uricodec.parse._install import install, uninstall

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

# What is imported when it is first asked for: urllib.parse costs more than all the rest.
_FUNCTIONS = {
    **dict.fromkeys(
        ("quote", "quote_from_bytes", "quote_plus", "unquote", "unquote_plus", "unquote_to_bytes"), "uricodec.parse"
    ),
    **dict.fromkeys(("install", "uninstall"), "uricodec.parse._install"),
}
_MODULES = ("bulk", "bytesets", "dedup", "errors", "integrations", "iri", "logs", "parse", "uri", "urn")


def __getattr__(name):
    from importlib import import_module

    if name in _MODULES:
        return import_module(f"uricodec.{name}")
    if name not in _FUNCTIONS:
        raise AttributeError(f"module 'uricodec' has no attribute {name!r}")
    globals()[name] = value = getattr(import_module(_FUNCTIONS[name]), name)
    return value


def __dir__():
    return sorted({*globals(), *_FUNCTIONS, *_MODULES})
