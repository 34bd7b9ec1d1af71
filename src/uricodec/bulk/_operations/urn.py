"""URNs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from uricodec.bulk._functions import operation
from uricodec.bulk._operation import Filter, SqlFunction

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from uricodec.bulk._functions import Options, TextOptions
    from uricodec.typing import DiagnosticErrors, StructErrors, TextErrors, UrnLevel, UrnRfc, VerdictErrors

__all__ = ["check_urn", "is_valid_urn", "normalize_urn", "split_urn", "validate_urn"]

# In SQL, `is_valid_urn` is false for invalid rows; `urn_check` and `urn_validate` return the reason, whatever policy
# others use.
_KEEP = {"errors": "keep"}


@operation(
    "text",
    single="urn.normalize",
    sql=(SqlFunction("urn_normalize", ("level",)), SqlFunction("urn_key", ("level",))),
    command=Filter("normalize --kind urn", {"level": "--level", "rfc": "--rfc"}),
    rows="urns",
    page="guides/urn",
)
def normalize_urn(
    level: UrnLevel = "8141", rfc: UrnRfc | None = None, **options: Unpack[TextOptions[TextErrors]]
) -> Any:
    """Return the normal form of each URN.

    Args:
        column (Any): The rows.
        level (UrnLevel): What the normal form merges: "bytes", "2141", "8141", "namespace" or "functional".
        rfc (UrnRfc | None): The RFC of the grammar: "2141", "8141" or "any" of the two; None: that of the level.
        errors (str): How an invalid row is handled: "keep", "null", "raise" or "drop".
        invalid, threads, line_terminator, output: See `uricodec.bulk`.

    Returns:
        Any: Text, as from `uricodec.urn.normalize`.

    Source: RFC 2141 section 5; RFC 8141 section 3.1.

    >>> normalize_urn(["URN:ISBN:0-395-36341-1", None], level="namespace")
    ['urn:isbn:0395363411', None]
    """
    from uricodec.urn._rows import NormalizeUrnRows

    return NormalizeUrnRows(level, rfc)


@operation(
    "verdict",
    single="urn.is_valid",
    sql=(SqlFunction("is_valid_urn", ("rfc",), _KEEP),),
    rows="urns",
    page="guides/urn",
)
def is_valid_urn(rfc: UrnRfc = "8141", **options: Unpack[Options[VerdictErrors]]) -> Any:
    """Return whether each row is a URN.

    Args:
        column (Any): The rows.
        rfc (UrnRfc): The RFC of the grammar: "2141", "8141" or "any" of the two.
        errors (str): How an invalid row is handled: "keep", "null" or "raise".
        invalid, threads, line_terminator: See `uricodec.bulk`.

    Returns:
        Any: bool, as from `uricodec.urn.is_valid`; with errors="null", null instead of False.

    Source: RFC 2141 section 2; RFC 8141 section 2.

    >>> is_valid_urn(["urn:example:a", "urn:example:", None])
    [True, False, None]
    """
    from uricodec.urn._rows import CheckUrnRows

    return CheckUrnRows(rfc)


@operation(
    "diagnostic",
    single="urn.check",
    sql=(SqlFunction("urn_check", ("rfc",), _KEEP),),
    command=Filter("check --kind urn", {"rfc": "--rfc"}),
    rows="urns",
    page="guides/urn",
)
def check_urn(rfc: UrnRfc = "8141", **options: Unpack[Options[DiagnosticErrors]]) -> Any:
    """Return why each row is not a URN.

    Args:
        column (Any): The rows.
        rfc (UrnRfc): The RFC of the grammar: "2141", "8141" or "any" of the two.
        errors (str): How an invalid row is handled: "keep" or "raise".
        invalid, threads, line_terminator: See `uricodec.bulk`.

    Returns:
        Any: dicts or structs of code, offset, as from `uricodec.urn.check`; null if the row is valid. An offset counts
            characters of a str, bytes otherwise.

    Source: RFC 2141 section 2; RFC 8141 section 2.

    >>> check_urn(["urn:example:a", "urn:example:"])
    [None, {'code': 'nss-empty', 'offset': 12}]
    """
    from uricodec.urn._rows import CheckUrnRows

    return CheckUrnRows(rfc)


@operation(
    "struct",
    single="urn.parse",
    fields=("nid", "nss", "r_component", "q_component", "f_component"),
    sql=(SqlFunction("urn_split", ("rfc",)),),
    rows="urns",
    page="guides/urn",
)
def split_urn(rfc: UrnRfc = "8141", **options: Unpack[Options[StructErrors]]) -> Any:
    """Return the components of each URN.

    Args:
        column (Any): The rows.
        rfc (UrnRfc): The RFC of the grammar: "2141", "8141" or "any" of the two.
        errors (str): How an invalid row is handled: "null", "raise" or "drop".
        invalid, threads, line_terminator: See `uricodec.bulk`.

    Returns:
        Any: dicts or structs of nid, nss, r_component, q_component, f_component, as from `uricodec.urn.parse`; an
            undefined component is null, and so is an invalid row.

    Source: RFC 2141 section 2; RFC 8141 section 2.

    >>> split_urn(["urn:example:a#b"])
    [{'nid': 'example', 'nss': 'a', 'r_component': None, 'q_component': None, 'f_component': 'b'}]
    """
    from uricodec.urn._rows import SplitUrns

    return SplitUrns(rfc)


@operation(
    "diagnostic",
    single="urn.validate",
    sql=(SqlFunction("urn_validate", ("rfc",), _KEEP),),
    command=Filter("check --kind urn --rules", {"rfc": "--rfc"}),
    rows="urns",
    page="guides/urn",
)
def validate_urn(rfc: UrnRfc = "8141", **options: Unpack[Options[DiagnosticErrors]]) -> Any:
    """Return why each row is not a URN, or breaks the rules of its namespace.

    Args:
        column (Any): The rows.
        rfc (UrnRfc): The RFC of the grammar: "2141", "8141" or "any" of the two.
        errors (str): How an invalid row is handled: "keep" or "raise".
        invalid, threads, line_terminator: See `uricodec.bulk`.

    Returns:
        Any: dicts or structs of code, offset; null if no fault is known: where `uricodec.urn.validate` says that the
            URN is well formed, or that this is unknown. Beside those of `check_urn`, there are the codes "form" (not of
            the form that the registration requires), "check-digit", and "nid-informal" (no number after "urn-"). An
            offset counts characters of a str, bytes otherwise: of the NSS, the wrong check digit, or the number.

    Source: the registrations, RFC 8141 section 5; see `uricodec.urn.namespaces`.

    >>> validate_urn(["urn:isbn:0-395-36341-1", "urn:isbn:0-395-36341-2", "urn:isbn:0-395"])
    [None, {'code': 'check-digit', 'offset': 21}, {'code': 'form', 'offset': 9}]
    """
    from uricodec.urn._rows import CheckUrnRows

    return CheckUrnRows(rfc, True)
