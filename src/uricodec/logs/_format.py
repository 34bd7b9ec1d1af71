"""A format of access logs, and why a line does not match it."""

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

from uricodec._base.diagnostics import Diagnostic
from uricodec.logs._directives import Field
from uricodec.logs._formats import Text, W3c, compile_format
from uricodec.logs._mappings import Json, compile_mapping
from uricodec.logs._presets import preset_names
from uricodec.logs._programs import Program
from uricodec.logs._records import MAX_LINE, LogReader

# How much of a line a message shows.
SHOWN = 24


class Format:
    """A format of access logs.

    Args:
        text (str | None): The name of a preset (see `presets`), a format string of Apache (LogFormat), nginx
            (log_format), HAProxy (log-format), Envoy, gunicorn (access_log_format), Uvicorn, aiohttp, uWSGI
            (log-format), Squid (logformat), Traffic Server, morgan, Echo, Fiber, Tomcat, Undertow, logback-access,
            GlassFish, Caddy's transform-encoder or Actix, or a whole directive of their configuration files; of Envoy
            also an object of JSON or YAML. With a `map`, a preset of JSON, "logfmt" or "ltsv", whose other fields stay
            as they are; or None.
        map (Mapping[str, str] | None): Of logs in JSON: the path of a member for each field, with dots between names
            and "|" between alternatives; of logfmt and LTSV: the key of a pair. Fields are those of `Record` but
            `extra`, `params` and `flags`, "path_decoded", "request", "duration.ms" (.us, .ns), and "extra.NAME".

    Raises:
        TypeError: If none is given, or one has another type.
        ValueError: If no preset has this name, a directive is unknown, nothing separates two directives, the map is
            empty, a field of it is unknown, or a path is malformed or of two fields; if a format or map has more than
            16384 characters, a map more than 512 paths, or a path more than 32 names.

    Source: `_families` name the documentation of each server.

    >>> Format('%h "%r" %>s').fields
    ('client', 'method', 'target', 'path', 'query', 'protocol', 'status')
    >>> Format(map={"target": "request.uri", "duration.ms": "took"})
    Format(map={'target': 'request.uri', 'duration.ms': 'took'})
    """

    def __init__(self, text: str | None = None, *, map: Mapping[str, str] | None = None) -> None:
        if text is None and map is None:
            raise TypeError("expected a format or a map")
        if not isinstance(text, str) and map is None:
            raise TypeError(f"format must be a str, got {type(text).__name__}")
        if map is not None and not isinstance(map, Mapping):
            raise TypeError(f"map must be a mapping, got {type(map).__name__}")
        self.text: str | None = text
        self.map: dict[str, str] | None = dict(map) if map is not None else None
        self._programs: list[Text | Json | W3c] = (
            compile_format(text or "", self.map)
            if text is not None or self.map is None
            else [compile_mapping(self.map.items())]
        )

    def __repr__(self) -> str:
        given = [] if self.text is None else [repr(self.text)]
        return f"Format({', '.join(given + ([] if self.map is None else [f'map={self.map!r}']))})"

    def __str__(self) -> str:
        return "map" if self.text is None else self.text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Format) and (self.text, self.map) == (other.text, other.map)

    def __hash__(self) -> int:
        return hash((self.text, tuple(self.map or ())))

    def __reduce__(self) -> Any:
        made = ("text", "map", "_programs", "programs", "fields")  # the others are those of a subclass
        state = {name: value for name, value in vars(self).items() if name not in made}
        return _unpickle, (type(self), self.text, self.map), state or None

    @cached_property
    def programs(self) -> tuple[Program, ...]:
        """The compiled variants: a line has the first one that it matches."""
        return tuple(Program(program, self.text is not None) for program in self._programs)

    @cached_property
    def fields(self) -> tuple[str, ...]:
        """The fields that its records can have, the standard ones first."""
        names: dict[str, None] = {}
        for program in self._programs:
            names.update(dict.fromkeys(_names(program)))
        standard = [name for name in ORDER if name in names]
        return (*standard, *(name for name in names if name.startswith("extra.")))

    @property
    def is_json(self) -> bool:
        """Whether its lines are JSON objects, also if a format string writes them."""
        program = self._programs[0]
        return (isinstance(program, Json) and program.notation == "json") or getattr(program, "escapes", "") == "json"

    def explain(self, line: bytes) -> Diagnostic | None:
        """Say where a line stops matching.

        Args:
            line (bytes): The line.

        Returns:
            Diagnostic | None: The code, the offset in bytes, and a message; None if the line is a record, or a comment.
                Of several variants of the format, it is about the one that matches farthest.

        Raises:
            TypeError: If the line is not bytes.

        >>> Format("common").explain(b'192.0.2.1 - - [01/Jan/2025:12:00:00 +0000] "GET / HTTP/1.1" OK 5').message
        "expected a number in status at offset 60, got 'OK 5'"
        """
        if not isinstance(line, bytes):
            raise TypeError(f"line must be bytes, got {type(line).__name__}")
        reader = LogReader(self.programs, max_line=max(len(line), MAX_LINE))
        found = reader.convert(line.removesuffix(b"\n") + b"\n", bytearray(reader.capacity_for(len(line))))
        if not found.invalid:
            return None
        _, _, _, code, offset = found.invalid[0]
        return Diagnostic(code, offset, self.message(reader.failed_variant, code, offset, line))

    def message(self, variant: int, code: str, offset: int, line: bytes) -> str:
        """Return why a line is invalid, given the code and the offset of the error in one of the variants."""
        if code in PLAIN:
            return PLAIN[code].format(offset)
        program = self._programs[variant]
        if isinstance(program, Text):
            what, offset = expected(program, code, line, offset)
        elif isinstance(program, Json):
            what = NOTATIONS[program.notation].get(code, f"a number in {code}")
        else:
            what = W3C.get(code, f"a valid {code}")
        got = line[offset : offset + SHOWN].decode("utf-8", "backslashreplace")
        return f"expected {what} at offset {offset}, got {repr(got) if got else 'the end of the line'}"


# What is expected, or the message, by code.
PLAIN = {"empty": "the line is empty", "too-long": "line is longer than {} bytes"}
JSON = {"json": "valid JSON, an object", "request": "a request or a status", "fields": "one of the mapped members"}
W3C = {"fields": "another number of fields", "request": "a field that access logs have in '#Fields:'"}
NOTATIONS = {
    "json": JSON,
    "logfmt": {**JSON, "json": "pairs of a key and a value, and quotes around a whole value"},
    "ltsv": {**JSON, "json": "a label, and ':' after it"},
}


# The codes of errors in fields that records have by another name.
CODES = {"path_decoded": "path", "target_decoded": "path"}


def expected(program: Text, code: str, line: bytes, offset: int) -> tuple[str, int]:
    """Return what a format expects where a line stops matching, and where.

    That is the literal before the field of the code; or if the line has this, the field itself, or what ends it. A
    field that nothing ends goes on to the end of the line: there it is missing.
    """
    steps = [*program.steps, b""]
    for i, step in enumerate(steps):
        if not isinstance(step, Field) or CODES.get(step.name or "format", step.name or "format") != code:
            continue
        before = steps[i - 1] if i else b""
        after = steps[i + 1]
        assert isinstance(before, bytes) and isinstance(after, bytes)
        start = offset + (step.kind == "quoted")
        if after and i + 2 == len(program.steps) and start == offset and line.startswith(after[:1], offset):
            return f"{shown(after)} after {code}", offset
        if not line[:start].rstrip(b" ").endswith(before.rstrip(b" ")):
            return f"{shown(before)} before {code}", offset
        wanted = ""
        if step.kind in ("number", "decimal") and line[start:].strip(b"+-.0123456789"):
            wanted = "a number"
        elif code == "client" and after in line[start:]:
            wanted = "an address or a host"
        if wanted:
            return f"{wanted} in {code}", offset
        return f"{shown(after)} after {code}", offset if after in line[start:] else len(line.removesuffix(b"\n"))
    if offset == 0 and isinstance(steps[0], bytes):
        return shown(steps[0]), offset
    return "the end of the line" if line[offset:] else "more fields", offset


def shown(literal: bytes) -> str:
    return repr(literal.decode("utf-8", "backslashreplace"))


# The fields of records; those of a request in one piece.
ORDER = (
    *("client", "user", "time", "method", "target", "path", "query", "protocol", "status", "bytes_sent", "referer"),
    *("user_agent", "vhost", "duration", "forwarded_for"),
)
PARTS = {
    "request": ("method", "target", "path", "query", "protocol"),
    "target": ("target", "path", "query"),
    "path": ("target", "path", "query"),
    "path_decoded": ("target", "path"),
    "target_decoded": ("target", "path", "query"),
    "query": ("target", "query"),
}


def _names(program: Text | Json | W3c) -> list[str]:
    """Return the names of the fields of a program."""
    if isinstance(program, W3c):
        return [name for name in ORDER if name not in ("vhost", "duration", "forwarded_for")]
    if isinstance(program, Json):
        fields = [field for _, field in program.members]
    else:
        fields = [step for step in program.steps if isinstance(step, Field)]
    names: list[str] = []
    for field in fields:
        if field.name is not None:
            names += PARTS.get(field.name, (field.name,))
            names += ["vhost"] if field.kind == "after_host" else []
    return names


class MixedFormat(Format):
    """Several formats of one log: a line has the first one that it matches.

    Args:
        formats (list[Format]): The formats.
    """

    def __init__(self, formats: list[Format]) -> None:
        self._formats: tuple[Format, ...] = tuple(formats)
        self.map = None
        self.text = " or ".join(map(str, formats))
        self._programs = [program for format in formats for program in format._programs]

    def __repr__(self) -> str:
        return f"[{', '.join(map(repr, self._formats))}]"

    @cached_property
    def programs(self) -> tuple[Program, ...]:
        return tuple(program for format in self._formats for program in format.programs)

    @property
    def is_json(self) -> bool:
        return all(format.is_json for format in self._formats)


class OpenFormat:
    """Several formats of one log, of which one has to be found out.

    Args:
        formats (list[Format | None]): The formats; None: the one to be found out.
    """

    def __init__(self, formats: "list[Format | None]") -> None:
        self._formats = formats
        known = [format for format in formats if format is not None]
        self.known = known[0] if len(known) == 1 else MixedFormat(known)

    def with_found(self, found: Format | None) -> Format:
        """Return the formats, given the one that was found; None: there is none."""
        if found is None:
            return self.known
        return MixedFormat([format or found for format in self._formats])


def has_bare_queries(format: Format) -> bool:
    """Return whether lines have the query as a field or member of its own, where it has no "?".

    >>> has_bare_queries(Format("combined")), has_bare_queries(Format("iis"))
    (False, True)
    """
    return any(
        not isinstance(program, Text) or any(isinstance(step, Field) and step.name == "query" for step in program.steps)
        for program in format._programs
    )


def format_of(format: str | Format | Iterable[str | Format]) -> "Format | OpenFormat | None":
    """Return the format that an argument is: a name, a string or a Format, or several of them; None for "auto".

    With "auto" among several, it is an OpenFormat.

    >>> format_of(["combined", "caddy"])
    [Format('combined'), Format('caddy')]
    """
    if isinstance(format, Format):
        return format
    if isinstance(format, str) or not isinstance(format, Iterable):
        return None if format == "auto" else Format(format)
    given = list(format)
    if given == ["auto"]:
        return None
    formats = [None if each == "auto" else each if isinstance(each, Format) else Format(each) for each in given]
    if not formats:
        raise ValueError("format must name at least one format")
    known = [each for each in formats if each is not None]
    if len(known) < len(formats):
        if len(known) + 1 < len(formats):
            raise ValueError("'auto' stands for one format; expected it once")
        return OpenFormat(formats)
    return known[0] if len(known) == 1 else MixedFormat(known)


def _unpickle(kind: type[Format], text: str | None, map: Mapping[str, str] | None) -> Format:
    return kind(text, map=map)


def presets() -> tuple[str, ...]:
    """Return the names of the formats that have one.

    >>> presets()[:3]
    ('common', 'combined', 'vhost_combined')
    """
    return tuple(preset_names())
