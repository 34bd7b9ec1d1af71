"""Fast, exact URL, URI, IRI and URN encoding, parsing and normalization.

To                                       use
---------------------------------------  -----------------------------------
Percent-encoding: one str or bytes
  encode and decode as urllib does       quote, unquote (and _plus, _bytes)
  decode without losing information      percent_decode
  encode, choosing the bytes to keep     percent_encode; sets in bytesets
  encode only what is not encoded yet    requote
  write into a buffer of the caller      quote_into, unquote_into
urllib.parse, many times faster
  change one import                      from uricodec.parse import urlsplit
  replace its functions in a process     install, uninstall
URIs (RFC 3986) and IRIs (RFC 3987)
  validate, with code and offset         uri.check, iri.check
  split, join, resolve references        uri.split, uri.unsplit, uri.resolve
  normalize, compare                     uri.normalize, uri.equivalent
  convert IRIs to URIs and back          iri.iri_to_uri, iri.uri_to_iri
  read ftp:, mailto: and the like        uri.legacy_schemes
  find URLs in text                      uri.find
URNs (RFC 8141, RFC 2141)
  validate, parse                        urn.check, urn.parse
  normalize, compare                     urn.normalize, urn.equivalent
  check by the rules of the namespace    urn.validate
  find in text; convert ISBN, UUID, OID  urn.find, urn.conversions
Many values in one call
  lists, columns, lines, files           bulk: each function above
  deduplicate a column, files            dedup.unique, dedup.dedup_files
  read access logs, count their records  logs.parse, logs.count
  Polars, pandas, DuckDB, Spark          integrations
Annotations, exceptions                  typing, errors
At the command line                      uricodec --help
"""

import os
import sys

_program = sys.argv[0] if sys.argv else ""
if _program == "-m":  # Python is still searching for the module; its own arguments contain its name, or "-mNAME"
    _program = sys.orig_argv[-len(sys.argv)].removeprefix("-m")
_is_command = os.path.basename(_program) in ("uricodec", "uricodec.exe")
if _is_command:  # until cli.main() handles interrupts, they end the process, without a traceback
    import _signal  # type: ignore[import-not-found,unused-ignore]

    if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
        _signal.signal(_signal.SIGINT, _signal.SIG_DFL)
try:
    from uricodec._base._kernels import ByteSet, cpu_tier, cpu_tiers
except ValueError:  # the environment selects a tier that this CPU lacks
    if not _is_command:
        raise
    sys.stderr.write(f"uricodec: URICODEC_TIER: {sys.exc_info()[1]}\n")  # uricodec.cli cannot be imported
    raise SystemExit(2) from None

TYPE_CHECKING = False  # importing typing would take longer than importing this package
if TYPE_CHECKING or not _is_command:  # a command imports what it uses
    from uricodec._codec._triplets import percent_decode, percent_encode, quote_into, requote, unquote_into
    from uricodec.errors import (
        AmbiguousUrlError,
        IriError,
        SetError,
        UnknownNamespaceError,
        UriError,
        UriSyntaxError,
        UrnError,
    )
if TYPE_CHECKING:
    from uricodec import bulk as bulk
    from uricodec import bytesets as bytesets
    from uricodec import dedup as dedup
    from uricodec import integrations as integrations
    from uricodec import iri as iri
    from uricodec import logs as logs
    from uricodec import parse as parse
    from uricodec import typing as typing
    from uricodec import uri as uri
    from uricodec import urn as urn
    from uricodec.parse import quote, quote_from_bytes, quote_plus, unquote, unquote_plus, unquote_to_bytes
    from uricodec.parse._install import install, uninstall

__all__ = [
    "AmbiguousUrlError",
    "ByteSet",
    "IriError",
    "SetError",
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

# Imported on first use: importing urllib.parse takes longer than importing all the rest.
_FUNCTIONS = {
    **dict.fromkeys(
        ("quote", "quote_from_bytes", "quote_plus", "unquote", "unquote_plus", "unquote_to_bytes"), "uricodec.parse"
    ),
    **dict.fromkeys(("install", "uninstall"), "uricodec.parse._install"),
    **dict.fromkeys(
        ("percent_decode", "percent_encode", "quote_into", "requote", "unquote_into"), "uricodec._codec._triplets"
    ),
    **dict.fromkeys(
        (
            "AmbiguousUrlError",
            "IriError",
            "SetError",
            "UnknownNamespaceError",
            "UriError",
            "UriSyntaxError",
            "UrnError",
        ),
        "uricodec.errors",
    ),
}
_MODULES = ("bulk", "bytesets", "dedup", "errors", "integrations", "iri", "logs", "parse", "typing", "uri", "urn")


if not TYPE_CHECKING:

    def __getattr__(name):
        from importlib import import_module

        if name in _MODULES:
            return import_module(f"uricodec.{name}")
        if name not in _FUNCTIONS:
            raise AttributeError(f"module 'uricodec' has no attribute {name!r}")
        globals()[name] = value = getattr(import_module(_FUNCTIONS[name]), name)
        return value


def __dir__() -> list[str]:
    return [*__all__, *_MODULES]
