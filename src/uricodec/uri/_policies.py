"""Policies: how far URLs are merged beyond the levels of RFC 3986. `Policy`, the ready ones, and files of them.

A level merges what the standards say is equivalent. A policy merges more: what is the same page for people who
deduplicate and count URLs, although a server may tell the URLs apart. _policy.pyx applies it.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from io import BufferedReader
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

from uricodec import typing as types
from uricodec._io.sources import open_soon
from uricodec.uri._policy import PolicyRows, normal_form

if TYPE_CHECKING:
    import os

    from typing_extensions import Self

    from uricodec.typing import PolicyName, UriLevel

__all__ = ["READY", "Policy", "PolicyStep", "operation_of", "policy_of", "production_of", "ready_rows", "shape_rows"]

_LEVELS = get_args(types.UriLevel)
_ADDED = ("simple", "case", "percent", "path", "scheme", "iri")  # each level includes the ones before it

# Parameters that carry sessions: of PHP, Java, ASP and ColdFusion.
_SESSIONS = ("phpsessid", "jsessionid", "aspsessionid*", "cfid", "cftoken")

_MOST_NAMES = 10_000
_LONGEST_FILE = 1 << 20  # bytes of TOML,
_MOST_DOTS = 4096  # and dots in it: the time for a key with dots grows with the square of their number


class PolicyStep(NamedTuple):
    """What one step of a policy changes, from `Policy.explain`.

    Attributes:
        step (str): The name of a level, or of a field of the policy.
        before (str | bytes): The URL before the step.
        after (str | bytes): The URL after it.

    >>> PolicyStep("fragment", "http://a.example/#b", "http://a.example/").step
    'fragment'
    """

    step: str
    before: Any
    after: Any


# The fields in the order of their steps, with their defaults.
_FIELDS: Mapping[str, Any] = MappingProxyType(
    {
        "level": "scheme",
        "http_is_https": False,
        "userinfo": "keep",
        "strip_www": False,
        "session_ids": "keep",
        "lower_case_path": False,
        "shape": False,
        "default_documents": (),
        "trailing_slash": "keep",
        "drop_parameters": (),
        "query": "keep",
        "fragment": "keep",
    }
)
_CHOICES: Mapping[str, tuple[Any, ...]] = MappingProxyType(
    {
        "level": _LEVELS,
        "http_is_https": (False, True),
        "userinfo": ("keep", "drop"),
        "strip_www": (False, True),
        "session_ids": ("keep", "drop"),
        "lower_case_path": (False, True),
        "shape": (False, True),
        "trailing_slash": ("keep", "drop"),
        "query": get_args(types.QueryPolicy),
        "fragment": ("keep", "drop"),
    }
)


class Policy:
    """How far URLs are merged beyond a level: an immutable, hashable value. `normalize(url, policy=...)` applies it.

    The steps are those of the arguments below, in their order, after the normal form of the level. Applied twice, they
    change no more than once, and apart from `strip_www` they never change which host is asked. Steps on the
    authority and the path apply to URLs whose authority has its delimiters in place; steps on the query to these, and
    to references without an authority whose path begins with "/" or that have no scheme: the "?" of `mailto:` and
    `urn:` begins other things than parameters.

    Args:
        level (str): The level of the normal form: see `normalize`.
        http_is_https (bool): Write "https" for "http", unless a port is left after `level`.
        userinfo (str): "keep" or "drop".
        strip_www (bool): Remove the labels "www" before a host with at least two more labels.
        session_ids (str): "keep" or "drop": `;jsessionid=...` in the path, and the parameters PHPSESSID, JSESSIONID,
            ASPSESSIONID*, CFID and CFTOKEN.
        lower_case_path (bool): Lower the case of ASCII letters in the path, but not in triplets.
        shape (bool): Write the class of path segments that identify one resource: "{int}", "{uuid}", "{date}", "{hex}",
            "{email}" or "{token}", as in `uricodec.uri.shape`.
        default_documents (tuple[str, ...]): Names of files, such as "index.html", to remove from the end of a path.
        trailing_slash (str): "keep" or "drop": slashes at the end of a path, but not its first one.
        drop_parameters (tuple[str, ...]): Names of query parameters, in any case, to remove, compared decoded as in
            `with_query`; a "*" at the end of a name stands for any characters: "utm_*". A "?" without parameters is
            removed with the last of them.
        query (str): "keep"; "drop-empty": remove empty parameters, as in "?a&&b", and a "?" without others; "sort":
            also order parameters by name, those of one name as they were; "names": leave only the names, sorted, each
            once; or "drop".
        fragment (str): "keep" or "drop".

    Raises:
        TypeError: If a flag is not a bool, or names are not a tuple or list of str.
        ValueError: If a value is unknown, or a name empty or not usable.

    Source: RFC 3986 section 6.2.4 ("Protocol-Based Normalization": the "/" at the end of a path);
        section 3.5 (fragments); section 3.2.1 (userinfo); docs/guides/compare.md has the reasons of all steps.

    >>> from uricodec.uri import normalize
    >>> policy = Policy(strip_www=True, drop_parameters=("utm_*",), query="sort")
    >>> normalize("http://www.example.org?b=2&utm_source=x&a=1", policy=policy)
    'http://example.org/?a=1&b=2'
    """

    __slots__ = ("_form", "_rows", *_FIELDS)

    if TYPE_CHECKING:
        level: UriLevel
        http_is_https: bool
        userinfo: types.KeepOrDrop
        strip_www: bool
        session_ids: types.KeepOrDrop
        lower_case_path: bool
        shape: bool
        default_documents: tuple[str, ...]
        trailing_slash: types.KeepOrDrop
        drop_parameters: tuple[str, ...]
        query: types.QueryPolicy
        fragment: types.KeepOrDrop
        _form: str | None  # the name of a ready policy that no fields describe
        _rows: PolicyRows

    def __init__(  # noqa: PLR0913
        self,
        *,
        level: UriLevel = "scheme",
        http_is_https: bool = False,
        userinfo: types.KeepOrDrop = "keep",
        strip_www: bool = False,
        session_ids: types.KeepOrDrop = "keep",
        lower_case_path: bool = False,
        shape: bool = False,
        default_documents: tuple[str, ...] | list[str] = (),
        trailing_slash: types.KeepOrDrop = "keep",
        drop_parameters: tuple[str, ...] | list[str] = (),
        query: types.QueryPolicy = "keep",
        fragment: types.KeepOrDrop = "keep",
    ) -> None:
        given = locals()
        for name, choices in _CHOICES.items():
            _check_choice(name, given[name], choices)
        values = {name: given[name] for name in _FIELDS}
        for name in "default_documents", "drop_parameters":
            values[name] = _names(name, given[name])
        for name, value in values.items():
            object.__setattr__(self, name, value)
        object.__setattr__(self, "_form", None)
        object.__setattr__(self, "_rows", PolicyRows(self))

    @classmethod
    def _key(cls, name: str) -> Self:
        """Return a policy that no fields describe."""
        policy = cls()
        object.__setattr__(policy, "_form", name)
        object.__setattr__(policy, "_rows", PolicyRows(policy))
        return policy

    @classmethod
    def ready(cls, name: PolicyName) -> Policy:
        """Return a ready policy.

        Args:
            name (str): "tracking" (removes parameters that only track visitors), "crawl" (for lists of URLs to
                crawl: level "iri", no fragment, no tracking parameters, parameters sorted) or "shape" (what
                `uricodec.uri.shape` returns), which `replace` can change; or "surt" (the keys of web-archive indexes),
                "w3lib" (what `w3lib.url.canonicalize_url` returns) or "whatwg" (the URL that browsers request), which
                no fields describe.

        Raises:
            ValueError: If the name is unknown.

        Source: docs/guides/compare.md.

        >>> Policy.ready("crawl").query
        'sort'
        """
        return _named(name)

    @classmethod
    def from_toml(cls, path: str | os.PathLike[str]) -> Self:
        """Return the policy that a TOML file describes. Its keys are the arguments of Policy.

        Another key, `base`, is the name of the ready policy that the file changes.

        Args:
            path (str | PathLike): The path of the file.

        Raises:
            OSError: If the file cannot be read.
            ValueError: If it is not TOML, has more than 1 MiB or 4096 dots, or a key or a value is unknown.
            TypeError: If a value has the wrong type.
            ImportError: On Python 3.10, if the package tomli is not installed.

        Source: https://toml.io/en/v1.0.0

        >>> import tempfile
        >>> with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
        ...     _ = file.write('base = "crawl"\\nstrip_www = true\\n')
        ...     file.flush()
        ...     print(Policy.from_toml(file.name).strip_www)
        True
        """
        values = _read_toml(path)
        base = values.pop("base", None)
        unknown = sorted({*values} - {*_FIELDS})
        if unknown:
            raise ValueError(f"unknown key {unknown[0]!r}; choose from base, {', '.join(_FIELDS)}")
        return cls(**values) if base is None else cls._of(_named(base), values)

    @classmethod
    def from_clearurls(cls, path: str | os.PathLike[str]) -> Self:
        """Return a policy that drops the parameters which a rules file of ClearURLs names for all URLs.

        The file is the user's copy of `data.min.json` or `data.minify.json`; its license keeps it out of this package.
        An expression becomes the names that it matches, or a prefix: `utm_[a-z]*` is `utm_*`. Rules for some sites,
        exceptions, parameters of referral marketing and all else that no field describes are left out.

        Args:
            path (str | PathLike): The path of the file.

        Returns:
            Policy: A policy whose `drop_parameters` are those names. `replace` gives it other steps.

        Raises:
            OSError: If the file cannot be read.
            ValueError: If it is not such a file.

        Warns:
            UserWarning: If something was left out; the message counts it.

        Source: https://docs.clearurls.xyz/1.27.3/specs/rules/

        >>> import tempfile
        >>> rules = '{"providers": {"globalRules": {"urlPattern": ".*", "rules": ["(?:%3F)?utm_[a-z]*", "fbclid"]}}}'
        >>> with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        ...     _ = file.write(rules)
        ...     file.flush()
        ...     print(Policy.from_clearurls(file.name).drop_parameters)
        ('?utm_*', 'fbclid', 'utm_*')
        """
        from uricodec.uri._clearurls import read

        names, left_out = read(path)
        policy = cls(drop_parameters=names)
        if left_out:
            warnings.warn(f"left out of {str(path)!r}: {left_out}", stacklevel=2)
        return policy

    def replace(self, **changes: Any) -> Self:
        """Return a policy with other values.

        Args:
            **changes (Any): Arguments of Policy.

        Raises:
            TypeError: If an argument is unknown, or a value has the wrong type.
            ValueError: If a value is unknown, or no fields describe the policy.

        >>> Policy.ready("crawl").replace(strip_www=True).strip_www
        True
        """
        return type(self)._of(self, changes)

    @classmethod
    def _of(cls, base: Policy, changes: dict[str, Any]) -> Self:
        if base._form is None:
            return cls(**{**base._values(), **changes})
        if changes:
            raise ValueError(f"the policy {base._form!r} has no fields to change, got {', '.join(changes)}")
        return cls._key(base._form)

    def explain(self, url: str | bytes) -> list[PolicyStep]:
        """Return the steps that change a URL, in their order.

        Args:
            url (str | bytes): The URL.

        Returns:
            list[PolicyStep]: The name of each step, and the URL before and after it. A level is one step for each level
                that it includes.

        Raises:
            UriSyntaxError: As for `normalize`.

        >>> for step in Policy.ready("crawl").explain("HTTP://a.example?b&a#c"):
        ...     print(step)
        PolicyStep(step='case', before='HTTP://a.example?b&a#c', after='http://a.example?b&a#c')
        PolicyStep(step='scheme', before='http://a.example?b&a#c', after='http://a.example/?b&a#c')
        PolicyStep(step='query', before='http://a.example/?b&a#c', after='http://a.example/?a&b#c')
        PolicyStep(step='fragment', before='http://a.example/?a&b#c', after='http://a.example/?a&b')
        """
        steps, before = [], url
        for name, policy in self._stages():
            after = normal_form(policy._rows, url)
            if after != before:
                steps.append(PolicyStep(name, before, after))
            before = after
        return steps

    def _stages(self) -> list[tuple[str, Policy]]:
        """Return for each step its name, and a policy that ends after it."""
        if self._form is not None:
            return [(self._form, self)]
        levels = _ADDED[: _ADDED.index(self.level) + 1] if self.level in _ADDED else (self.level,)
        stages = [(level, Policy(level=level)) for level in levels]  # type: ignore[arg-type]
        values: dict[str, Any] = {"level": self.level}
        for name in (*_FIELDS,)[1:]:
            values[name] = getattr(self, name)
            if values[name] != _FIELDS[name]:
                stages.append((name, Policy(**values)))
        return stages

    @property
    def _documents(self) -> list[bytes]:
        """The names of default documents."""
        return [name.encode() for name in self.default_documents]

    @property
    def _parameters(self) -> list[bytes]:
        """The names of parameters to remove, those of sessions included, in lower case and sorted."""
        names = self.drop_parameters + (_SESSIONS if self.session_ids == "drop" else ())
        return sorted(name.encode().lower() for name in names)

    def _values(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in _FIELDS}

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"cannot set {name!r}: a Policy is immutable; see replace()")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"cannot delete {name!r}: a Policy is immutable")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Policy):
            return NotImplemented
        return self._form == other._form and self._values() == other._values()

    def __hash__(self) -> int:
        return hash((self._form, *self._values().values()))

    def __repr__(self) -> str:
        if self._form is not None:
            return f"Policy.ready({self._form!r})"
        changed = [f"{name}={value!r}" for name, value in self._values().items() if value != _FIELDS[name]]
        return f"Policy({', '.join(changed)})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (type(self), self._form, self._values())


def _restore(kind: type[Policy], form: str | None, values: dict[str, Any]) -> Policy:
    if form is None:
        return kind(**values)
    return _named(form) if kind is Policy else kind._key(form)


def _check_choice(name: str, value: Any, choices: tuple[Any, ...]) -> None:
    if choices == (False, True):
        if not isinstance(value, bool):
            raise TypeError(f"{name} must be a bool, got {value!r}")
    elif value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, got {value!r}")


def _names(field: str, given: Any) -> tuple[str, ...]:
    """Return names that are usable, sorted."""
    if not isinstance(given, (tuple, list)) or not all(isinstance(name, str) for name in given):
        raise TypeError(f"{field} must be a tuple of str, got {given!r}")
    if len(given) > _MOST_NAMES:
        raise ValueError(f"{field} must have at most {_MOST_NAMES} names, got {len(given)}")
    delimiters = "&=#" if field == "drop_parameters" else "/?#*"
    for name in given:
        if not name or name == "*" or "*" in name[:-1] or any(character in delimiters for character in name):
            raise ValueError(f"invalid name {name!r} in {field}")
        try:
            name.encode()
        except UnicodeEncodeError:
            raise ValueError(f"invalid name {name!r} in {field}: lone surrogate") from None
    return tuple(sorted({*given}))


def _read_toml(path: Any) -> dict[str, Any]:
    try:
        import tomllib
    except ImportError:  # pragma: no cover: another Python, 3.10
        try:
            import tomli as tomllib  # type: ignore[import-not-found,no-redef,unused-ignore]
        except ImportError:
            raise ImportError("TOML files require Python 3.11, or the package tomli") from None
    with BufferedReader(open_soon(path)) as file:
        data = file.read(_LONGEST_FILE + 1)
        try:
            if len(data) > _LONGEST_FILE:
                raise ValueError(f"more than {_LONGEST_FILE} bytes")
            if data.count(b".") > _MOST_DOTS:
                raise ValueError(f"more than {_MOST_DOTS} dots")
            return tomllib.loads(data.decode())
        except ValueError as error:
            raise ValueError(f"invalid TOML in {str(path)!r}: {error}") from None
        except RecursionError:
            raise ValueError(f"invalid TOML in {str(path)!r}: values are nested too deeply") from None


# --- ready policies ---------------------------------------------------------------------------------------------------

# Parameters that tell only how a visitor came, in lower case, by the tools that add them: a list of November 2026.
_TRACKING = (
    *("utm_*", "gclid", "gclsrc", "dclid", "gbraid", "wbraid", "gad_source", "gad_campaignid", "srsltid"),  # Google
    *("_ga", "_gl"),  # Google Analytics, between domains
    *("fbclid", "fb_action_ids", "fb_action_types", "fb_ref", "fb_source", "igshid", "igsh"),  # Meta
    *("msclkid", "li_fat_id", "twclid", "ttclid", "epik", "sccid", "rdt_cid"),  # other networks
    *("yclid", "ysclid", "_openstat"),  # Yandex
    *("mtm_*", "pk_campaign", "pk_kwd", "pk_keyword", "pk_source", "pk_medium", "pk_content", "piwik_*"),  # Matomo
    *("mc_cid", "mc_eid", "mkt_tok", "_hsenc", "_hsmi", "__hssc", "__hstc", "__hsfp", "hsctatracking"),  # mail
    *("vero_id", "vero_conv", "oly_anon_id", "oly_enc_id", "_kx", "dm_i", "elqtrackid", "ml_subscriber*"),  # mail
    *("irclickid", "cjevent", "awc", "zanpid", "s_kwcid", "ef_id", "wickedid", "xtor", "wt_mc"),  # marketing
)

READY: Mapping[str, Policy] = MappingProxyType(
    {
        "tracking": Policy(drop_parameters=_TRACKING),
        "crawl": Policy(level="iri", drop_parameters=_TRACKING, query="sort", fragment="drop"),
        "shape": Policy(shape=True, query="names", fragment="drop"),
        "surt": Policy._key("surt"),
        "w3lib": Policy._key("w3lib"),
        "whatwg": Policy._key("whatwg"),
    }
)


def _named(name: Any) -> Policy:
    policy = READY.get(name) if isinstance(name, str) else None
    if policy is None:
        raise ValueError(f"unknown policy {name!r}; choose from {', '.join(READY)}")
    return policy


def policy_of(policy: Policy | str, level: str | None = None) -> Policy:
    """Return a Policy, or the ready policy with a name. A level is an error.

    Raises:
        TypeError: If it is neither a Policy nor a str.
        ValueError: If the name is unknown, or a level is given.
    """
    if level is not None:
        raise ValueError(f"level must not be given with a policy, got {level!r}")
    if isinstance(policy, Policy):
        return policy
    if isinstance(policy, str):
        return _named(policy)
    raise TypeError(f"policy must be a Policy or the name of one, got {type(policy).__name__}")


def operation_of(policy: Policy | str, level: str | None = None, base: str | bytes | None = None) -> PolicyRows:
    """Return the operation of a policy, see policy_of(), with a base, which only "whatwg" has."""
    found = policy_of(policy, level)
    if base is None:
        return found._rows
    if found._form != "whatwg":
        raise ValueError("base is only supported with policy='whatwg'")
    return PolicyRows(found, base)


def production_of(kind: str, level: Any = None, policy: Policy | str | None = None) -> str | None:
    """Return the production that identifiers must match if invalid ones are not kept.

    Args:
        kind (str): "uri", "iri", or another kind, of which other things are invalid.
        level (str | Policy | None): The level of the normal form, or a policy.
        policy (Policy | str | None): A policy, instead of a level. Policies read IRIs.

    Returns:
        str | None: "URI-reference" or "IRI-reference"; None if the normal form itself says what is invalid.

    >>> production_of("uri", "path"), production_of("uri", policy="crawl"), production_of("uri", "rfc1630")
    ('URI-reference', 'IRI-reference', None)
    """
    found = policy if policy is not None else level
    found = READY.get(found, found) if isinstance(found, str) else found
    if kind not in ("uri", "iri"):
        return None
    if isinstance(found, Policy):
        return None if found._form in ("w3lib", "whatwg") or found.level == "rfc1630" else "IRI-reference"
    if found == "rfc1630":
        return None
    return "IRI-reference" if "iri" in (kind, found) else "URI-reference"


def shape_rows() -> dict[str, PolicyRows]:
    """Return the operations of shapes, by what they do with the query."""
    choices: tuple[types.ShapeQuery, ...] = get_args(types.ShapeQuery)
    return {query: READY["shape"].replace(query=query)._rows for query in choices}


def ready_rows() -> dict[str, PolicyRows]:
    """Return the operations of the ready policies, by name."""
    return {name: policy._rows for name, policy in READY.items()}
