"""Formats as mappings of fields to members of JSON, or to keys of logfmt and LTSV."""

from collections.abc import Iterable
from typing import NamedTuple

from uricodec.logs._directives import FIELDS, UNITS, Field, suggestion


class Json(NamedTuple):
    """A line that is a JSON object, or one of logfmt or LTSV.

    Attributes:
        members (tuple[tuple[tuple[str, ...], Field], ...]): Paths of members, and their fields. If a record has several
            members for a field, the first one counts.
        rest (bool): Whether other strings and numbers of the object itself belong to `extra`.
        encoded (bool): Whether values are percent-encoded for the log, as CloudFront does.
        notation (str): "json"; or "logfmt", pairs method=GET path="/a b", or "ltsv", labels method:GET before values
            with tabs between, of which paths are of one name.
    """

    members: tuple[tuple[tuple[str, ...], Field], ...]
    rest: bool
    encoded: bool = False
    notation: str = "json"


# The most characters of a format, paths of a mapping, and names of a path. A line is read in time that grows with them.
LONGEST = 16_384
PATHS = 512
LEVELS = 32


def compile_mapping(
    pairs: Iterable[tuple[str, str]], rest: bool = False, encoded: bool = False, notation: str = "json"
) -> Json:
    """Compile a mapping of fields to members of JSON records, or to keys of logfmt or LTSV.

    Args:
        pairs (Iterable[tuple[str, str]]): Fields, and paths of members. A field is one of FIELDS or `extra.NAME`; a
            duration may have a unit (`duration.ms`, `.us`, `.ns`), a client a port (`client.endpoint`), and a time its
            date apart (`time.date`). A path that some products decode, and others do not, is `path.uncertain`; a
            referer or an agent that may have quotes around it is `referer.quoted`, `user_agent.quoted`. Names of a path
            are separated by dots; alternative paths by "|", the best one first. `headers[].Host` is the "value" of the
            object in an array whose "name" is Host.
        rest (bool): Whether other members become `extra` fields.
        encoded (bool): Whether values are percent-encoded for the log.
        notation (str): "json", "logfmt" or "ltsv".

    Returns:
        Json: The program.

    Raises:
        ValueError: If a field is unknown, a path or a name in it is empty, two fields have the same path, there are
            both `path` and `path_decoded`, which are one field of a record, or there are more than PATHS paths, LEVELS
            names in one, or LONGEST characters.

    >>> compile_mapping([("target", "request.uri")]).members
    ((('request', 'uri'), Field(name='target', kind='text', unit=0)),)
    """
    members: dict[tuple[str, ...], Field] = {}
    size = 0
    for name, paths in pairs:
        size += len(name) + len(paths)
        if size > LONGEST:
            raise ValueError(f"the mapping has more than {LONGEST} characters")
        check_text(f"field {name!r}", name)
        field = mapped_field(name)
        for path in paths.split("|"):
            names = tuple(path.strip().removesuffix(".0").split("."))  # an array has the value of its first text
            if len(names) > LEVELS:
                raise ValueError(f"a path for {name!r} has {len(names)} names; at most {LEVELS} are allowed")
            if len(members) == PATHS:
                raise ValueError(f"the mapping has more than {PATHS} paths")
            if not all(names):
                raise ValueError(f"invalid path {path.strip()!r} for {name!r}; expected names separated by dots")
            check_text(f"path {path.strip()!r}", path)
            if names in members:
                raise ValueError(f"{path.strip()!r} is mapped to {members[names].name!r} and to {name!r}")
            members[names] = field
    if not members:
        raise ValueError("the mapping has no fields")
    if {"path", "path_decoded"} <= {field.name for field in members.values()}:
        raise ValueError("the mapping has both 'path' and 'path_decoded'; expected one of them")
    return Json(tuple(members.items()), rest, encoded, notation)


def check_text(what: str, text: str) -> None:
    """Reject a text that cannot be encoded."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"lone surrogate in the {what} at offset {error.start}") from None


# Names in mappings that say what a value is like.
MAPPED = {
    "client.endpoint": Field("client", "endpoint"),
    "time.date": Field("date", "text"),
    "referer.quoted": Field("referer", "in_quotes"),
    "user_agent.quoted": Field("user_agent", "in_quotes"),
    "path.uncertain": Field("path_decoded", "uncertain"),
}


def mapped_field(name: str) -> Field:
    """Return the field of a name in a mapping, which may have a unit or "endpoint" after a dot."""
    head, _, tail = name.partition(".")
    if head == "extra" and tail:
        return Field(name, "text")
    kind = FIELDS.get(head, "")
    if head == "duration" and tail in UNITS:
        return Field(head, kind, UNITS[tail])
    if name in MAPPED:
        return MAPPED[name]
    if kind and not tail:
        return Field(head, "query" if head == "query" else "text" if kind == "word" else kind)
    raise ValueError(f"unknown field {name!r}{suggestion(name, [*FIELDS, f'extra.{name}'])}")
