r"""Formats of access logs as programs: what compile_format() makes of a preset, or a string of a configuration.

A program says what a line consists of, and a compiled reader runs it. A format string becomes tokens, literals and
fields in their order. Then

1. directives that are one value are joined (`%U%q`, `%{%Y-%m-%d}t %{%T}t`),
2. each field gets its name. If several could have it, the best or first one does (nginx: `$host` before `$http_host`),
   and the others go to `extra` by the name that they have in the format,
3. each field gets its kind, which says where it ends. It depends on the literals around: between quotes, a text may
   contain spaces, and the server escapes quotes.

Sources: W3C Working Draft WD-logfile-960323. `_families` name those of format strings, presets.ini the documentation of
each preset.
"""

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from operator import contains
from typing import Any, NamedTuple, NoReturn

from uricodec.logs._configuration import (
    ESCAPES,
    NGINX_ESCAPES,
    PATTERN,
    PATTERNS,
    Source,
    configured,
    source_of,
    without_entities,
)
from uricodec.logs._directives import (
    FRACTIONS,
    KNOWN_TIME,
    MARKS,
    UNITS,
    VERSION,
    Directive,
    Family,
    Field,
    Token,
    extra,
    sample_of,
    standard,
    suggestion,
)
from uricodec.logs._families import family_of
from uricodec.logs._families.apache import Apache
from uricodec.logs._families.haproxy import HAPROXY_JSON
from uricodec.logs._families.java import Tomcat
from uricodec.logs._families.nginx import Nginx
from uricodec.logs._families.squid import Squid
from uricodec.logs._json_formats import envoy_members, haproxy_members, members_of
from uricodec.logs._mappings import LONGEST, Json, check_text, compile_mapping
from uricodec.logs._presets import built_in, preset_names


class Text(NamedTuple):
    """A line of literals and fields.

    Attributes:
        steps (tuple[bytes | Field, ...]): They alternate: two fields have a literal between them, literals are joined.
            Several spaces at an end of a literal are any number of spaces, but at least one.
        escapes (str): What the server escapes values with: "backslash" (Apache, nginx), "json", "hash" (HAProxy, in
            quotes and braces) or "none".
        open_end (bool): Whether more bytes may follow after a space.
        optional (int): After how many steps the line may end.
    """

    steps: tuple[bytes | Field, ...]
    escapes: str
    open_end: bool
    optional: int


class W3c(NamedTuple):
    """A line in W3C extended log file format.

    Attributes:
        fields (str | None): The fields of a log without "#Fields:".
        separator (bytes): What separates the values: a tab, a space or a comma.
        dialect (str): "cloudfront", "iis", or "csv", whose first line has the names of the fields.
    """

    fields: str | None
    separator: bytes
    dialect: str


Program = Text | Json | W3c

# --- tokens -----------------------------------------------------------------------------------------------------------


def tokens_of(source: Source, family: Family) -> list[Token]:
    """Split a format string into literals and fields."""
    match = re.compile(family.pattern).match
    tokens: list[Token] = []
    i = 0
    while i < len(source.text):
        offset = source.offsets[i]
        if source.text[i] == family.sign:
            found = match(source.text, i)
            if found is None:
                return no_match(source, i, family)
            tokens += family.tokens(found, offset)
            i = found.end()
        else:
            end = source.text.find(family.sign, i)
            end = len(source.text) if end < 0 else end
            tokens.append(Token(source.text[i:end], offset))
            i = end
    return join_literals(tokens)


def no_match(source: Source, i: int, family: Family) -> NoReturn:
    """Raise the error for a "$" or "%" that begins no directive."""
    braces = re.compile(r"[$%][!<>,\d]*\{").match(source.text, i)
    if braces and "}" not in source.text[i:]:
        raise ValueError(f"unclosed '{{' at offset {source.offsets[braces.end() - 1]} of the format")
    written = re.compile(r"[$%][!<>,\d]*(?:\{[^}]*\})?\^?.?", re.DOTALL).match(source.text, i)
    family.unknown(written[0] if written else source.text[i], source.offsets[i])


def join_literals(tokens: list[Token]) -> list[Token]:
    """Join literals that follow each other, and drop empty ones."""
    joined: list[Token] = []
    for token in tokens:
        if token.directive is None and joined and joined[-1].directive is None:
            joined[-1] = joined[-1]._replace(text=joined[-1].text + token.text)
        elif token.directive or token.text:
            joined.append(token)
    return joined


def join_targets(tokens: list[Token], family: Family) -> list[Token]:
    """Join directives that are one value."""
    names = [token.text.translate(MARKS) for token in tokens]

    def ends(at: int) -> Iterator[tuple[int, Directive]]:
        for written, directive in family.joined:
            end = at + len(written)
            if end <= len(names) and all(map(contains, written, names[at:end])):
                yield end, directive

    result: list[Token] = []
    i = 0
    while i < len(tokens):
        token, stop = tokens[i], i + 1
        if found := next(ends(i), None):
            stop, directive = found
            written = "".join(each.text for each in tokens[i:stop])
            is_decoded = all(each.directive != standard("path") for each in tokens[i:stop])
            if directive.field.name == "target_decoded" and not is_decoded:
                directive = Directive(Field("target", directive.field.kind))
            token = Token(written, token.offset, directive, written)
        result.append(token)
        i = stop
    return result


def with_units(tokens: list[Token]) -> list[Token]:
    """Give `%D` the unit that is written after it: it is microseconds or milliseconds, by the server."""
    result: list[Token] = []
    for i, token in enumerate(tokens):
        unit = re.match(r"\s?([mun]s)\b", tokens[i + 1].text if i + 1 < len(tokens) else "")
        if unit and token.directive and token.text.translate(MARKS) == "%D":
            result.append(token._replace(directive=standard("duration", 0, UNITS[unit[1]])))
        else:
            result.append(token)
    return result


def join_requests(tokens: list[Token]) -> list[Token]:
    """Join "HTTP/" and the version after it, and with these the method and the target, where spaces do not end it."""
    result: list[Token] = []
    for token, after in zip(tokens, [*tokens[1:], None], strict=True):
        if token.directive != VERSION or not result or not result[-1].text.endswith("HTTP/"):
            result.append(token)
            continue
        before, written, offset = result.pop(), f"HTTP/{token.text}", token.offset - 5
        result += join_literals([before._replace(text=before.text[:-5])])
        directive = standard("protocol")
        names = [each.directive.field.name if each.directive else each.text for each in result[-4:]]
        if names == ["method", " ", "target", " "] and (after is None or after.text[:1] != " "):
            directive = standard("request")
            written = "".join(each.text for each in result[-4:]) + written
            offset = result[-4].offset
            del result[-4:]
        result.append(Token(written, offset, directive, written))
    return result


def conversions(pattern: str) -> set[str]:
    """Return the conversions of a format of strftime()."""
    return set(re.findall(r"%\w", pattern))


def join_times(tokens: list[Token]) -> list[Token]:
    """Join date, time, fraction and zone, which Apache may have in a directive each."""
    result: list[Token] = []
    for token in tokens:
        if token.pattern and len(result) > 1 and result[-1].directive is None and result[-2].pattern:
            between, before = result[-1].text, result[-2]
            is_part = ("%" in token.pattern and "%" in before.pattern) or token.pattern in FRACTIONS.values()
            if is_part and len(between) == 1 and not conversions(before.pattern) & conversions(token.pattern):
                pattern = before.pattern + between + token.pattern
                written = before.text + between + token.text
                result[-2:] = [before._replace(text=written, name=written, pattern=pattern)]
                continue
        result.append(token)
    return result


def split_times(tokens: list[Token]) -> list[Token]:
    """Split times whose end could not be found: in `%{%d %b}t %h`, the space after the day would be it."""
    result: list[Token] = []
    for i, token in enumerate(tokens):
        after = tokens[i + 1].text if i + 1 < len(tokens) else ""
        sample = sample_of(token.pattern) if token.pattern else ""
        if not after or after not in sample or re.fullmatch(KNOWN_TIME, sample):
            result.append(token)
            continue
        for piece in token.pattern.split(after):
            written = f"%{{{piece}}}t"
            result += [Token(written, token.offset, extra(written), written), Token(after, token.offset)]
        result.pop()
    return result


# --- programs ---------------------------------------------------------------------------------------------------------


def compile_text(written: str) -> list[Text] | list[Json]:
    """Compile a format string of a server, or a directive of its configuration that has one."""
    if members := envoy_members(written):
        return [members_of(members)]
    source = configured(written)
    if re.match(HAPROXY_JSON, source.text):
        return [members_of(haproxy_members(source))]
    is_xml = written.lstrip().startswith("<") and re.match(PATTERN, written)
    if is_xml or "&quot;" in source.text:
        source = without_entities(source)
        if source.text in PATTERNS:
            source = Source(PATTERNS[source.text], [0] * 99)
    newline = source.text.find("\n")
    if newline >= 0:
        raise ValueError(f"newline at offset {source.offsets[newline]} of the format; a record is one line")
    kind = Squid if source.escapes == "squid" else Nginx if source.escapes else family_of(source.text)
    if kind is Apache and is_xml and "Valve" in written:
        kind = Tomcat
    escapes = NGINX_ESCAPES.get(source.escapes or "")
    if kind is Nginx and not escapes and source.text.startswith("{"):
        # Of a format without its directive, which says how values are escaped: JSON escapes include the others.
        escapes = "json"
    return [text_of(each, family, escapes, open_end) for each, family, open_end in kind.variants(source)]


def text_of(source: Source, family: Family, escapes: str | None = None, open_end: bool = False) -> Text:
    """Compile a format string."""
    tokens = tokens_of(source, family)
    tokens, has_rest, optional = remove_marks(without_last_space(tokens))
    open_end |= has_rest
    tokens = split_times(join_times(join_requests(join_targets(with_units(tokens), family))))
    if all(token.directive is None for token in tokens):
        raise ValueError(f"no directives in the format {source.text!r}; expected some such as %h or $remote_addr")
    for before, token in pairwise(tokens):
        if before.directive and token.directive:
            raise ValueError(
                f"{token.text!r} at offset {token.offset} of the format follows {before.text!r} without a separator"
            )
    fields = [field_of(tokens, i, name, open_end) for i, name in enumerate(names_of(tokens))]
    steps = tuple(field or token.text.encode() for field, token in zip(fields, tokens, strict=True))
    ends = [i + 1 for i, token in enumerate(tokens) if token.offset < optional] if optional is not None else []
    return Text(steps, escapes or family.escapes, open_end, ends[-1] if ends else len(steps))


def without_last_space(tokens: list[Token]) -> list[Token]:
    """Make a space at the end of a format one that a line need not have."""
    if len(tokens) < 2 or tokens[-1].directive or tokens[-1].text[-1:] != " ":
        return tokens
    if before := tokens[-1].text.rstrip(" "):
        return [*tokens[:-1], tokens[-1]._replace(text=before)]
    offset = tokens[-1].offset
    return [*tokens[:-1], Token("$optional", offset, extra("optional")), tokens[-1]]


def remove_marks(tokens: list[Token]) -> tuple[list[Token], bool, int | None]:
    """Remove `$optional`, after which the line may have ended, and a final `$rest` without a space before it.

    Returns:
        tuple[list[Token], bool, int | None]: The other tokens, whether there was `$rest`, the offset of `$optional`.
    """
    optional = next((token.offset for token in tokens if token.text == "$optional"), None)
    for before, token in pairwise(tokens):
        if token.text == "$optional" and before.directive is None:
            raise ValueError(f"'$optional' at offset {token.offset} of the format must follow a field")
    tokens = [token for token in tokens if token.text != "$optional"]
    open_end = len(tokens) > 1 and tokens[-1].text == "$rest" and tokens[-2].text[-1:] not in (" ", "\t")
    return tokens[: -1 if open_end else None], open_end, optional


def names_of(tokens: list[Token]) -> list[str | None]:
    """Return the names of the fields; None for literals, and for fields that are dropped."""
    best: dict[str, tuple[int, int]] = {}
    for i, token in enumerate(tokens):
        if token.directive and (name := token.directive.field.name):
            best[name] = min(best.get(name, (token.directive.rank, i)), (token.directive.rank, i))
    names: dict[str, None] = {}
    found: list[str | None] = []
    for i, token in enumerate(tokens):
        name = token.directive.field.name if token.directive else None
        if name and best[name][1] != i:
            name = f"extra.{token.name}"
        # The same directive again has the same value.
        found.append(None if name in names else name)
        names.update({name: None} if name else {})
    return found


def field_of(tokens: list[Token], i: int, name: str | None, open_end: bool) -> Field | None:
    """Return the field of a token, with the kind that it has between the literals around; None for a literal."""
    directive = tokens[i].directive
    if directive is None:
        return None
    kind, unit = directive.field.kind, directive.field.unit if name == "duration" else 0
    before = tokens[i - 1].text if i else ""
    after = tokens[i + 1].text if i + 1 < len(tokens) else " " if open_end else ""
    if kind in ("word", "text", "list") and before.endswith('"') and after.startswith('"'):
        kind = "quoted"
    elif (kind == "word" and not (after.startswith(" ") or len(after) == 1)) or (
        kind == "address" and re.match(":[^0-9A-Za-z]", after)  # not the colons of IPv6
    ):
        kind = "text"
    return Field(name, kind, unit)


def compile_section(section: Mapping[str, str]) -> list[Program]:
    """Compile a preset: its format strings, W3C dialect or mapping."""
    options = dict(section)
    if "format" in options:
        escapes = options.pop("escapes", "backslash")
        if escapes not in ESCAPES:
            raise ValueError(f"invalid escapes {escapes!r}; choose from {', '.join(ESCAPES)}")
        texts = options.pop("format").strip().splitlines()
        if options:
            raise ValueError(f"unknown key {next(iter(options))!r}; choose from format, escapes")
        return [text_of(source_of(text, [(0, len(text))]), Nginx(), escapes) for text in texts]
    if "dialect" in options:
        dialect, fields = options.pop("dialect"), options.pop("fields", None)
        if dialect not in SEPARATORS:
            raise ValueError(f"invalid dialect {dialect!r}; choose from {', '.join(SEPARATORS)}")
        if options:
            raise ValueError(f"unknown key {next(iter(options))!r}; choose from dialect, fields")
        return [W3c(" ".join(fields.split()) if fields else None, SEPARATORS[dialect], dialect)]
    chosen: dict[str, Any] = {"notation": options.pop("notation", "json")}
    if chosen["notation"] not in NOTATIONS:
        raise ValueError(f"invalid notation {chosen['notation']!r}; choose from {', '.join(NOTATIONS)}")
    options.pop("needs", None)
    for key in "rest", "encoded":
        value = options.pop(key, "no")
        if value not in ("yes", "no"):
            raise ValueError(f"invalid {key} {value!r}; choose from yes, no")
        chosen[key] = value == "yes"
    return [compile_mapping(options.items(), **chosen)]


NOTATIONS = ("json", "logfmt", "ltsv")
SEPARATORS = {"cloudfront": b"\t", "iis": b" ", "csv": b","}


def with_map(section: Mapping[str, str], map: Mapping[str, str]) -> dict[str, str]:
    """Return the section of a preset in which a map has its fields; a field has one unit.

    >>> with_map({"status": "code", "duration": "took"}, {"duration.ms": "took"})
    {'status': 'code', 'duration.ms': 'took'}
    """
    paths = {path.strip() for value in map.values() for path in value.split("|")}
    fields = {name.partition(".")[0] if name.partition(".")[0] != "extra" else name for name in map}
    if fields & {"target", "path", "path_decoded"}:
        fields |= {"target", "path", "path_decoded"}
    kept = {}
    for name, value in section.items():
        others = [path.strip() for path in value.split("|") if path.strip() not in paths]
        if name.partition(".")[0] not in fields and name not in fields and others:
            kept[name] = " | ".join(others)
    return {**kept, **map}


def quote_in(text: str) -> str:
    """Return what to say of the first typographic quote in a format, with "; " before it; an empty text: there is none.

    >>> print(quote_in("%h \u201c%r\u201d"))
    ; write '"' instead of '\u201c' at offset 3
    """
    found = re.search("[\u2018-\u201f]", text)
    quote = "'" if found and found[0] < "\u201c" else '"'
    return f"; write {quote!r} instead of {found[0]!r} at offset {found.start()}" if found else ""


def compile_format(text: str, map: Mapping[str, str] | None = None) -> list[Program]:
    r"""Compile a format.

    Args:
        text (str): The name of a preset, a format string of a server (see `_directives`), or a whole directive of its
            configuration file.
        map (Mapping[str, str] | None): Fields that a preset of JSON, logfmt or LTSV has elsewhere.

    Returns:
        list[Text | Json | W3c]: The variants of the format. A line has the first one that it matches.

    Raises:
        ValueError: If no preset has this name, or that with a map is of none of these; if a directive is unknown
            or incomplete, or nothing separates two directives; if the format has more than LONGEST characters.

    >>> [program] = compile_format('%h "%r" %>s')
    >>> [step if isinstance(step, bytes) else f"{step.name}: {step.kind}" for step in program.steps]
    ['client: address', b' "', 'request: quoted', b'" ', 'status: number']
    """
    if len(text) > LONGEST:
        raise ValueError(f"the format has {len(text)} characters; at most {LONGEST} are allowed")
    check_text("format", text)
    is_name = re.fullmatch(r"[\w.+-]*", text)
    presets = built_in()
    if is_name and text not in presets:
        raise ValueError(f"unknown format {text!r}{suggestion(text, preset_names())}")
    if map is not None and not (is_name and presets[text].keys().isdisjoint({"format", "dialect"})):
        raise ValueError(f"a map needs a format of JSON, logfmt or LTSV, got {text!r}")
    if text.startswith("#Fields:"):
        raise ValueError("'#Fields:' is not a format; write this line before the lines of the log, and give no format")
    if not is_name:
        try:
            return [*compile_text(text)]
        except ValueError as error:
            raise ValueError(f"{error}{quote_in(text)}") from None
    return compile_section(with_map(presets[text], map) if map else presets[text])
