"""Which identifiers are equivalent: the one place where a kind, a level and a policy become an operation.

What reads the identifiers of a kind is imported when there are some: URNs take half the time without URIs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from uricodec._rows._engine import RowOperation

if TYPE_CHECKING:
    from uricodec.uri import Policy

# Levels of each kind, from fine to coarse: each merges what the previous ones merge, and more, among valid identifiers.
LADDERS = {
    "bytes": ("bytes",),
    "urn": ("bytes", "2141", "8141", "namespace", "functional"),
    "uri": ("simple", "case", "percent", "path", "scheme", "iri"),
}
DEFAULTS = {"bytes": None, "urn": "8141", "uri": "path", "iri": "iri", "web": "scheme"}


class Identifier:
    """What identifiers of a kind are compared by: their normal form of a level, or by a policy.

    Args:
        kind (str): "bytes", "urn", "uri", "iri" or "web".
        level (str | None): The level; None: the default of the kind.
        policy (Policy | str | None): A policy, instead of a level.

    Attributes:
        kind (str): As above.
        level (str | Policy | None): The level, or the policy; None: they are compared as bytes.

    Raises:
        ValueError: If one of them is unknown, or does not go with the others.

    >>> Identifier("uri").level, Identifier("urn", "2141").level, Identifier("iri") == Identifier("uri", "iri")
    ('path', '2141', True)
    """

    def __init__(self, kind: str, level: str | None = None, policy: Policy | str | None = None) -> None:
        self.kind = kind
        self.level: Any = level
        if policy is not None:
            if kind not in ("uri", "iri", "web"):
                raise ValueError(
                    f"policy is only supported with kind='uri', kind='iri' and kind='web', got kind={kind!r}"
                )
            from uricodec.uri._policies import policy_of

            self.level = policy_of(policy, level)
        elif kind not in DEFAULTS:
            raise ValueError(f"kind must be one of {', '.join(map(repr, DEFAULTS))}, got {kind!r}")
        elif kind == "bytes" and level is not None:
            raise ValueError(f"level is not supported with kind='bytes', got {level!r}")
        else:
            self.level = level or DEFAULTS[kind]
        self._last = self.level  # decides by which RFC identifiers are read
        self.rows()  # raises for an unknown level

    @property
    def has_policy(self) -> bool:
        """Whether they are compared by a policy, not by a level or as bytes."""
        return self.level is not None and not isinstance(self.level, str)

    def at(self, level: str | Policy | None) -> Identifier:
        """Return the same with another level, or as bytes (None). They are still read by the same RFC."""
        other = object.__new__(Identifier)
        other.kind, other.level, other._last = self.kind, level, self._last
        return other

    def steps(self) -> list[tuple[str, Identifier]]:
        """Return the levels up to this one, or the steps of the policy, from fine to coarse; the last one is this."""
        ladder = LADDERS["uri" if self.kind in ("iri", "web") else self.kind]
        if self.has_policy:
            return [(name, self.at(level)) for name, level in self.level._stages()]
        if self.level in ladder:
            ladder = ladder[: ladder.index(self.level) + 1]
        elif self.level is not None:
            ladder = {"rfc2396": (*ladder[:3], self.level), "rfc1630": (self.level,)}[self.level]
        return [(name, self.at(name if self.level is not None else None)) for name in ladder]

    def rows(self, errors: str = "keep") -> RowOperation:
        """Return the operation that normalizes identifiers.

        Unless invalid URIs and IRIs are kept, the operation also rejects those that do not match the grammar.
        """
        if self.kind == "urn" and self.level is not None:
            from uricodec.urn._rows import NormalizeUrnRows

            return NormalizeUrnRows(self.level, "2141" if self._last == "2141" else "8141")
        rows = RowOperation()
        if self.kind in ("bytes", "urn"):
            return rows
        from uricodec.uri._policies import operation_of, production_of
        from uricodec.uri._rows import CheckedRows, CheckWebRows, NormalizeRows, checked

        if self.level is not None:
            rows = operation_of(self.level) if self.has_policy else NormalizeRows(self.level)
            if self.kind == "web":
                return CheckedRows(CheckWebRows(), rows)
        return rows if errors == "keep" else checked(rows, production_of(self.kind, self._last))

    def description(self) -> dict[str, Any]:
        """Return what a saved set says about its identifiers in JSON. The kinds "uri" and "iri" have the same forms."""
        shown: dict[str, Any] = {"kind": "uri" if self.kind == "iri" else self.kind}
        if self.has_policy:
            shown["policy"] = self.level._form or self.level._values()
        elif self.level is not None:
            shown["level"] = self.level
        return shown

    def __eq__(self, other: object) -> bool:
        """Return whether both have the same normal forms."""
        return isinstance(other, Identifier) and self.description() == other.description()

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        kind = f"kind {self.description()['kind']!r}"
        if self.level is None:
            return kind
        return f"{kind} and {self.level!r}" if self.has_policy else f"{kind} and level {self.level!r}"
