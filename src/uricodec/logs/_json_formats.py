"""Formats of JSON that are objects in a configuration: of Envoy and Istio, and HAProxy's `%{+json}o`.

A member that is one directive is its field; others are `extra`.
"""

import re
from typing import Any

from uricodec.logs._configuration import Source, source_of
from uricodec.logs._directives import FIELDS, UNITS, Directive, Token
from uricodec.logs._families.envoy import Envoy
from uricodec.logs._families.haproxy import Haproxy
from uricodec.logs._mappings import Json, compile_mapping

# Of the configuration of Envoy, Istio and Envoy Gateway: what precedes an object of JSON or YAML.
JSON_SETTING = (
    r"(?m)^[ \t]*(?P<key>(?:typed_)?json_format|accessLogFormat|(?:json|labels)(?=:\s*\n))\s*:\s*(?:[|>][-+]?\s*\n)?"
)
YAML_PAIR = (
    r"""\s*(?:"(?P<double>[^"]+)"|'(?P<single>[^']+)'|(?P<bare>[\w@-][^:#\s]*))\s*:\s+"""
    r"""(?:"(?P<text>(?:[^"\\]|\\.)*)"\s*|'(?P<raw>[^']*)'\s*|(?P<plain>[^\s"'#{[|>][^#]*))(?:\#.*)?"""
)
# The names that lead to a member, its directive if it is one alone, and where that is.
Member = tuple[tuple[str, ...], Directive | None]


def envoy_members(written: str) -> list[Member]:
    """Return the members of a format of Envoy that is an object of JSON, or of YAML; none for other formats."""
    if not re.search(r"%[A-Z][A-Z0-9_]+(?:\([^)]{0,999}\))?(?::\d+)?%", written):
        return []
    setting = re.search(JSON_SETTING, written)
    body = written[setting.end() if setting else 0 :].strip()
    if body[:1] in ("'", '"') and body[-1:] == body[:1] and len(body) > 1 and body[1:-1].lstrip()[:1] == "{":
        body = source_of(body, [(1, len(body) - 1)]).text if body[0] == '"' else body[1:-1].replace("''", "'")
    body = body.strip().removesuffix("\\n")
    if body.startswith("{"):
        members = json_leaves(body)
    elif (setting["key"] == "accessLogFormat") if setting else ("\n" not in body):
        return []
    else:
        members = yaml_leaves(body)
    if not members and ((setting and setting["key"] != "accessLogFormat") or ("\n" in body and body[0] == "{")):
        raise ValueError(f"invalid object at offset {written.find(body)} of the format; expected JSON, or flat YAML")
    return [(names, envoy_leaf(value, written)) for names, value in members]


def json_leaves(text: str) -> list[tuple[tuple[str, ...], str]]:
    """Return the values of an object that are no objects, and the names that lead to them; none if it is no JSON."""
    import json

    try:
        left: list[tuple[tuple[str, ...], Any]] = [((), json.loads(text))]
    except (ValueError, RecursionError):
        return []
    found = []
    while left:
        names, value = left.pop()
        if isinstance(value, dict):
            left += [((*names, name), inner) for name, inner in reversed(value.items())]
        else:
            found.append((names, value if isinstance(value, str) else ""))
    return found


def yaml_leaves(text: str) -> list[tuple[tuple[str, ...], str]]:
    """Return the names and values of lines of YAML; none if some line is another."""
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    pairs = [re.fullmatch(YAML_PAIR, line) for line in lines]
    return [
        (
            (pair["double"] or pair["single"] or pair["bare"],),
            pair["text"] or pair["raw"] or (pair["plain"] or "").strip(),
        )
        for pair in pairs
        if pair and all(pairs)
    ]


def envoy_leaf(value: str, written: str) -> Directive | None:
    """Return the directive that a value is; None for other values, whose directives are checked."""
    tokens: list[Token] = []
    for found in re.finditer(Envoy.pattern, value):
        tokens = Envoy().tokens(found, written.find(found[0]))
    if not re.fullmatch(Envoy.pattern, value):
        return None
    return next((token.directive for token in tokens if token.directive), None)


def haproxy_members(source: Source) -> list[Member]:
    """Return the items with a name, `%(name:type)ci`; others are not written."""
    family = Haproxy()
    members: list[Member] = []
    for found in re.finditer(Haproxy.pattern, source.text):
        tokens = family.tokens(found, source.offsets[found.start()])
        if name := (found["alias"] or "").partition(":")[0]:
            members.append(((name,), next(token.directive for token in tokens if token.directive)))
    if not members:
        raise ValueError("no names in the format; expected some such as %(client)ci")
    return members


def members_of(members: list[Member]) -> Json:
    """Compile members. Those whose directive is a field are this, the best one of several; others are `extra`."""
    best: dict[str | None, tuple[int, int]] = {}
    for i, (_, directive) in enumerate(members):
        if directive and directive.field.name in FIELDS:
            name = directive.field.name
            best[name] = min(best.get(name, (directive.rank, i)), (directive.rank, i))
    pairs = []
    for i, (names, directive) in enumerate(members):
        path = ".".join(names)
        if not all(names) or "|" in path or path != path.strip():
            raise ValueError(f"invalid name {path!r} of a member")
        if directive and (directive.rank, i) == best.get(directive.field.name):
            field = directive.field
            units = {power: f".{unit}" for unit, power in UNITS.items()} if field.name == "duration" else {}
            tail = ".endpoint" if field.kind == "endpoint" else units.get(field.unit, "")
            pairs.append((f"{field.name}{tail}", path))
        elif len(names) > 1:
            pairs.append((f"extra.{path}", path))
    if not best:
        raise ValueError("no member of the format is a field, such as %START_TIME% or %RESPONSE_CODE%")
    return compile_mapping(pairs, rest=True)
