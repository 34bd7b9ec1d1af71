"""How the operations of the table (`_rows/registry.py`) are made for a call of `bulk`.

Most are a class of the core that takes the parameters. The others are functions here: operations that depend on whether
rows are text and what ends them, and those that take more than a RowOperation.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, get_args

from uricodec._base._fingerprint import FingerprintKey
from uricodec._base._kernels import ByteSet
from uricodec._codec._rows import NO_CONTROL, DecodeRows, EncodeRows, RequoteRows
from uricodec._codec._triplets import kept_in_rows
from uricodec._rows._engine import RowOperation
from uricodec._rows._tasks import Plan
from uricodec._rows._tuples import EACH_ROW
from uricodec._rows.registry import Operation
from uricodec.errors import UriSyntaxError
from uricodec.typing import NormalizeProduction

if TYPE_CHECKING:
    from uricodec.uri import Policy

# The plan for rows that are text or bytes, and lines that end with these bytes (no lines: b"").
Make = Callable[[bool, bytes], Plan]


def make_plan(operation: Operation, arguments: dict[str, Any], errors: str = "keep") -> Make:
    """Return what makes the plan for a kind of rows.

    >>> from uricodec._rows.registry import OPERATIONS
    >>> make_plan(OPERATIONS["split_uri"], {})(True, b"").fields[0]
    'scheme'
    """
    make, fields = _loaded.get(operation.name) or _load(operation)
    if operation.result in ("component", "list") and not operation.make.startswith(__name__):
        return lambda text, terminator: _part(make(**arguments, text=text, checks=bool(terminator)), operation)
    made = make(**arguments, errors=errors) if operation.takes_errors else make(**arguments)
    if not isinstance(made, RowOperation):
        return made
    plan = Plan(made, operation.result, fields)
    return lambda _text, _terminator: plan


def _part(rows: Any, operation: Operation) -> Plan:
    """Return the plan of a part of URLs, or of several that have names."""
    return Plan(rows, "struct", rows.names) if rows.names else Plan(rows, operation.result, operation.fields)


# By the name of the operation: its class or function, a struct's fields.
_loaded: dict[str, tuple[Callable[..., Any], tuple[str, ...]]] = {}


def _load(operation: Operation) -> tuple[Callable[..., Any], tuple[str, ...]]:
    module, _, name = operation.make.partition(":")
    make = getattr(import_module(module), name)
    if operation.constants:
        make = partial(make, **operation.constants)
    fields = operation.fields if operation.result == "struct" else ()
    return _loaded.setdefault(operation.name, (make, fields))


# --- percent-encoding -------------------------------------------------------------------------------------------------


def quote(safe: ByteSet | str | bytes, plus: bool) -> Make:
    """Return the plan of `bulk.quote`."""
    kept_in_rows(safe, b"")  # raises for a wrong one
    return lambda text, terminator: Plan(EncodeRows(kept_in_rows(safe, terminator), plus, text))


def requote(safe: ByteSet | str | bytes) -> Make:
    """Return the plan of `bulk.requote`."""
    kept_in_rows(safe, b"")  # raises for a wrong one
    return lambda text, terminator: Plan(RequoteRows(kept_in_rows(safe, terminator), text))


def decode(plus: bool, lossless: bool) -> Make:
    """Return the plan of `bulk.unquote` and `bulk.percent_decode`.

    Of lines, triplets that could end one or control a terminal stay.
    """

    def make(text: bool, terminator: bytes) -> Plan:
        decodable = NO_CONTROL if terminator == b"\n" else ~ByteSet(terminator) if terminator else None
        return Plan(DecodeRows(plus, text, decodable, lossless=lossless))

    return make


# --- components of URLs -----------------------------------------------------------------------------------------------


def split(kind: Literal["uri", "iri"]) -> Make:
    """Return the plan of `bulk.split_uri` and `bulk.split_iri`."""
    from uricodec.uri._rows import COLUMNS, SplitReferences
    from uricodec.uri._values import SplitLines

    return lambda _text, terminator: Plan(SplitLines(kind) if terminator else SplitReferences(kind), "struct", COLUMNS)


# --- sets of hosts and prefixes ---------------------------------------------------------------------------------------


def match(set: Any, exact: bool) -> Make:
    """Return the plan of `bulk.match`."""
    plan = Plan(_match_rows(set, exact, False), "component")
    return lambda _text, _terminator: plan


def is_match(set: Any, exact: bool) -> RowOperation:
    """Return the operation of `bulk.is_match`."""
    return _match_rows(set, exact, True)


def _match_rows(set: Any, exact: bool, verdict: bool) -> RowOperation:
    from uricodec.uri._entries import MatchRows
    from uricodec.uri._entry_sets import EntrySet, HostSet

    entries = set if isinstance(set, EntrySet) else HostSet(set)
    return MatchRows(entries._checked(), exact, verdict)


# --- references and components ----------------------------------------------------------------------------------------


def resolve(base: Any) -> Make | RowOperation:
    """Return what makes `bulk.resolve`."""
    if base is EACH_ROW:
        from uricodec.uri._tuple_rows import ResolveTuples

        return lambda text, _terminator: Plan(ResolveTuples(text))
    from uricodec.uri._rows import ResolveRows

    return ResolveRows(_octets(base, "base"))


def relativize(base: Any) -> Make:
    """Return the plan of `bulk.relativize`."""
    from uricodec.uri._tuple_rows import RelativizeRows

    base = base if base is EACH_ROW else _octets(base, "base")
    RelativizeRows(base, True)  # raises for a wrong one
    return lambda text, _terminator: Plan(RelativizeRows(base, text))


def unsplit(scheme: Any, authority: Any, query: Any, fragment: Any) -> Make:
    """Return the plan of `bulk.unsplit`."""
    from uricodec.uri._tuple_rows import UnsplitRows

    given = {"scheme": scheme, "authority": authority, "query": query, "fragment": fragment}
    for name, value in given.items():
        if value is not None and value is not EACH_ROW:
            given[name] = _octets(value, name)
    return lambda text, _terminator: Plan(UnsplitRows(*given.values(), text))


def equivalent(other: Any, level: str, policy: Policy | str | None) -> Make:
    """Return the plan of `bulk.equivalent`."""
    from uricodec.uri._relations import EquivalentRows

    other = other if other is EACH_ROW else _octets(other, "other")
    EquivalentRows(other, level, policy, True)  # raises for a wrong one
    return lambda text, _terminator: Plan(EquivalentRows(other, level, policy, text), "verdict")


def relation(other: Any, level: str) -> Make:
    """Return the plan of `bulk.relation`."""
    from uricodec.uri._relations import RelationRows

    other = other if other is EACH_ROW else _octets(other, "other")
    RelationRows(other, level, True)  # raises for a wrong one
    return lambda text, _terminator: Plan(RelationRows(other, level, text))


def _octets(value: Any, name: str) -> bytes:
    """Return the bytes of an argument."""
    if isinstance(value, str):
        return utf8_of(value, name)
    try:
        return bytes(memoryview(value))
    except TypeError:
        raise TypeError(f"{name} must be str, bytes-like or a column, not {type(value).__name__}") from None


def utf8_of(text: str, name: str) -> bytes:
    """Return the UTF-8 of an argument."""
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise UriSyntaxError(f"lone surrogate in {name}", text, error.start) from None


# --- URNs and fingerprints --------------------------------------------------------------------------------------------


_own_key: dict[None, FingerprintKey] = {}


def fingerprint(
    kind: str, level: str | None, secret: FingerprintKey | str | bytes | None, policy: Policy | str | None
) -> Make:
    """Return the plan of `bulk.fingerprint`."""
    if secret is None:
        key = _own_key.get(None) or _own_key.setdefault(None, FingerprintKey())  # threads may be first together
    else:
        key = secret if isinstance(secret, FingerprintKey) else FingerprintKey(secret)
    rows: RowOperation
    if kind in ("uri", "iri"):
        rows = _normalize(level, policy, "path" if kind == "uri" else "iri")
    elif kind == "web":
        from uricodec.uri._rows import CheckedWebRows

        rows = CheckedWebRows(_normalize(level, policy, "scheme"))
    elif policy is not None:
        raise ValueError(f"policy is only supported with kind='uri', kind='iri' and kind='web', got kind={kind!r}")
    elif kind == "bytes":
        if level is not None:
            raise ValueError(f"level is not supported with kind='bytes', got {level!r}")
        rows = RowOperation()
    elif kind == "urn":
        from uricodec.urn._rows import NormalizeUrnRows

        rows = NormalizeUrnRows(level or "8141")
    else:
        raise ValueError(f"kind must be one of 'bytes', 'urn', 'uri', 'iri', 'web', got {kind!r}")
    plan = Plan(rows, "fingerprint", key=key)
    return lambda _text, _terminator: plan


# --- URIs -------------------------------------------------------------------------------------------------------------


def normalize_uri(level: str, policy: Policy | str | None, production: str | None, errors: str) -> RowOperation:
    """Return the operation of `bulk.normalize_uri`."""
    from uricodec.uri._policies import checked, production_of

    choices = get_args(NormalizeProduction)
    if production is None:
        production = "any" if errors == "keep" else production_of("uri", level, policy)
    elif production not in choices:
        raise ValueError(f"unknown production {production!r}; choose from {', '.join(choices)}")
    return checked(_normalize(level, policy, "path"), None if production == "any" else production)


def _normalize(level: str | None, policy: Policy | str | None, default: str) -> RowOperation:
    """Return the operation of a level or policy; `default` is the level without any."""
    if policy is not None:
        from uricodec.uri._policies import operation_of

        return operation_of(policy, None if level == default else level)
    from uricodec.uri._rows import NormalizeRows

    return NormalizeRows(level or default)
