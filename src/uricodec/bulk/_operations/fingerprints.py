"""Fingerprints of identifiers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from uricodec._base._fingerprint import FingerprintKey, as_key
from uricodec._rows._tasks import Plan
from uricodec.bulk._functions import operation
from uricodec.bulk._operation import SqlFunction

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from uricodec.bulk._functions import Options
    from uricodec.typing import FingerprintErrors, IdentifierKind, PolicyName, UriLevel, UrnLevel
    from uricodec.uri._policies import Policy

__all__ = ["fingerprint"]

# In SQL, an invalid row gets the fingerprint of its own bytes, as in `uricodec dedup`: groups are the same everywhere.
_KEEP = {"errors": "keep"}
_own_key: dict[None, FingerprintKey] = {}


@operation(
    "fingerprint",
    sql=(SqlFunction("name_fingerprint", ("kind", "level"), _KEEP),),
    rows="urns",
    page="developing/fingerprint",
)
def fingerprint(
    kind: IdentifierKind = "bytes",
    level: UriLevel | UrnLevel | None = None,
    secret: FingerprintKey | str | bytes | None = None,
    policy: Policy | PolicyName | None = None,
    **options: Unpack[Options[FingerprintErrors]],
) -> Any:
    """Return 128 bits for each row, equal if the normal forms are equal.

    Args:
        column (Any): The rows.
        kind (IdentifierKind): What the rows are: "bytes" (compared as they are), "urn", "uri", "iri" or "web".
        level (UriLevel | UrnLevel | None): What the normal form merges, as in `normalize_urn` and `normalize_uri`;
            None: "8141" for URNs, "path" for URIs, "iri" for IRIs, "scheme" for "web".
        secret (FingerprintKey | str | bytes | None): The secret. Fingerprints with the same secret can be compared
            across processes; None: a random secret of this process.
        policy (Policy | PolicyName | None): What is merged beyond a level, with kind="uri", "iri" or "web": see
            `normalize_uri`.
        errors (str): How an invalid row is handled: "null", "keep" or "raise".
        invalid, threads, line_terminator: See `uricodec.bulk`.

    Returns:
        Any: bytes of length 16; fixed-size binary in Arrow. An invalid row is null; with errors="keep" it has the
            fingerprint of its own bytes, as in `uricodec dedup`.

    Source: docs/developing/fingerprint.md.

    >>> a, b = fingerprint(["URN:Example:a", "urn:example:a"], kind="urn")
    >>> len(a), a == b
    (16, True)
    """
    from uricodec._identifier import DEFAULTS, Identifier

    # threads may be first together
    key = as_key(secret) or _own_key.get(None) or _own_key.setdefault(None, FingerprintKey())
    # The default level may be named beside a policy, as in the other operations.
    identifier = Identifier(kind, None if policy is not None and level == DEFAULTS.get(kind) else level, policy)
    return Plan(identifier.rows(), "fingerprint", key=key)
