r"""Formats of access logs as programs: what compile_format() makes of a preset, or a string of a configuration.

A program says what a line consists of, and a compiled reader runs it. A format string becomes tokens, literals and
fields in their order. Then

1. directives that are one value are joined (`%U%q`, `%{%Y-%m-%d}t %{%T}t`),
2. each field gets its name. If several could have it, the best or first one does (nginx: `$host` before `$http_host`),
   and the others go to `extra` by the name that they have in the format,
3. each field gets its kind, which says where it ends. It depends on the literals around: between quotes, a text may
   contain spaces, and the server escapes quotes.

Sources: W3C Working Draft WD-logfile-960323. `_directives` names those of format strings, presets.ini the documentation
of each preset.
"""

import os
import re
from collections.abc import Iterable, Mapping
from functools import cache
from itertools import pairwise
from operator import contains
from typing import Any, NamedTuple, NoReturn

from uricodec.logs._directives import (
    FIELDS,
    FRACTIONS,
    HAPROXY_JSON,
    JAVA_TIME,
    KNOWN_TIME,
    UNITS,
    VERSION,
    Apache,
    Directive,
    Envoy,
    Family,
    Field,
    Haproxy,
    Nginx,
    Squid,
    Token,
    Tomcat,
    extra,
    family_of,
    sample_of,
    standard,
    suggestion,
)


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

# --- strings in configuration files -----------------------------------------------------------------------------------


class Source(NamedTuple):
    """The text of a format without escapes, and the offset of each character in what the user wrote."""

    text: str
    offsets: list[int]
    escapes: str | None = None


ESCAPED = {" ": " ", "t": "\t", "n": "\n", "r": "\r", '"': '"', "'": "'", "\\": "\\"}


# A pattern in XML, of Tomcat or of WildFly, and the names that it may have.
PATTERN = r"""\s*<[^>]*?\spattern\s*=\s*(?:"([^"]*)"|'([^']*)')"""
PATTERNS = {
    "common": '%h %l %u %t "%r" %s %b',
    "combined": '%h %l %u %t "%r" %s %b "%{Referer}i" "%{User-Agent}i"',
}
ENTITIES = {"quot": '"', "apos": "'", "amp": "&", "lt": "<", "gt": ">", "#34": '"', "#39": "'"}


def without_entities(source: Source) -> Source:
    """Undo the escapes of XML."""
    text, offsets, at = "", [], 0
    for found in re.finditer(rf"&({'|'.join(ENTITIES)});", source.text):
        text += source.text[at : found.start()] + ENTITIES[found[1]]
        offsets += source.offsets[at : found.start() + 1]
        at = found.end()
    return source._replace(text=text + source.text[at:], offsets=offsets + source.offsets[at:])


def source_of(written: str, spans: Iterable[tuple[int, int]], escapes: str | None = None) -> Source:
    """Join parts of a text, and undo its escapes."""
    text: list[str] = []
    offsets: list[int] = []
    for start, stop in spans:
        if "\\" not in written[start:stop]:
            text.append(written[start:stop])
            offsets += range(start, stop)
            continue
        i = start
        while i < stop:
            character, size = written[i], 1
            if character == "\\" and i + 1 < stop and written[i + 1] in ESCAPED:
                character, size = ESCAPED[written[i + 1]], 2
            text.append(character)
            offsets.append(i)
            i += size
            if written[i : i + 2] == "\\\n":  # the directive goes on in the next line
                i += 2
    joined = "".join(text).rstrip("\r\n")
    return Source(joined, [*offsets[: len(joined)], len(written)], escapes)


# Tokens of a configuration file: strings in quotes, or words.
WORD = (
    r"""(?s)(?:\s|\\\n|#[^\n]*\n)*"""
    r"""(?:"(?P<double>(?:\\.|[^"\\])*)"|'(?P<single>(?:\\.|[^'\\])*)'|(?P<bare>[^\s;"']+))"""
)
# Settings of other servers: log-format, access_log_format, accesslog.format, accessLogFormat, pattern; varnishncsa -F.
SETTING = r"""(?i)\s*(?:varnishncsa\s.*?)?(?:[\w.-]*(?:format|pattern|format_source)|-F)\s*(?:[=:]\s*|\s)(?=.)"""
YAML_STRING = r'\s*"((?:\\.|[^"\\])*\\n)"\s*'  # of Envoy
SQUID_LOG = r"\s*logformat\s+[\w.-]+\s+(?=\S)"
MORGAN_CALL = r"""\s*(?:\w+\.use\(\s*)?morgan\(\s*(?=["'])"""
LOG_FORMAT = r"\s*log_format\s+(?!=)\S+(?=\s)"
APACHE_LOG = r"""(?i)\s*(?:LogFormat|CustomLog\s+(?:"[^"]*"|'[^']*'|\S+))(?=\s|\\\n)(?!\s*=)"""
ESCAPE = r"\s*escape=(\w+)(?=\s)"


def configured(written: str) -> Source:
    """Return the format string of a text, which may be a whole directive of a configuration file."""
    if re.match(r"\s*#\s*(?:log_format|LogFormat|CustomLog|logformat)\b", written):
        written = re.sub(r"(?m)^([^\S\n]*)#", r"\1 ", written)
    word_at = re.compile(WORD).match
    if found := re.match(PATTERN, written) or re.fullmatch(YAML_STRING, written):
        return source_of(written, [found.span(found.lastindex or 0)])
    if found := re.match(SQUID_LOG, written):
        return source_of(written, [(found.end(), len(written))], "squid")
    if found := re.match(APACHE_LOG, written) or re.match(MORGAN_CALL, written):
        word = word_at(written, found.end())
        if word is None:
            raise ValueError(f"missing format string at offset {found.end()}")
        return source_of(written, [word.span(word.lastgroup or 0)])
    if (found := re.match(SETTING, written)) and not re.match(LOG_FORMAT, written):
        word = word_at(written, found.end()) if written[found.end()] in "\"'" else None
        return source_of(written, [word.span(word.lastgroup or 0) if word else (found.end(), len(written))])
    found = re.match(LOG_FORMAT, written)
    at = found.end() if found else 0
    escapes = None
    if escape := re.compile(ESCAPE).match(written, at):
        escapes, at = escape[1], escape.end()
        if escapes not in NGINX_ESCAPES:
            raise ValueError(f"invalid escape {escapes!r} at offset {escape.start(1)}; choose from default, json, none")
    elif not found:
        return source_of(written, [(0, len(written))])
    words = []
    while word := word_at(written, at):
        words.append(word.span(word.lastgroup or 0))
        at = word.end()
    end = written[at:].lstrip()
    if end.rstrip() not in ("", ";"):
        raise ValueError(f"unclosed quote at offset {len(written) - len(end)} of the format")
    return source_of(written, words, escapes or "default")


NGINX_ESCAPES = {"default": "backslash", "json": "json", "none": "none"}
ESCAPES = (*NGINX_ESCAPES.values(), "hash")


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


# Directives that are one value together: the path, which the server has decoded, and the query after its "?"; a URL.
TARGET_DECODED = Directive(Field("target_decoded", "word"))
AFTER_HOST = Directive(Field("target", "after_host"))
JOINED = {
    "%U": ([{"%q"}], TARGET_DECODED),
    "%r": ([{"%Q"}, {"%q"}], TARGET_DECODED),
    "$uri": ([{"$is_args"}, {"$args", "$query_string"}], TARGET_DECODED),
    "$document_uri": ([{"$is_args"}, {"$args", "$query_string"}], TARGET_DECODED),
    "%HP": ([{"%HQ"}], standard("target")),
    "%HPO": ([{"%HQ"}], standard("target")),
    "%a": ([{":"}, {"%remotep"}], Directive(Field("client", "endpoint"))),
    "%h": ([{":"}, {"%remotep"}], Directive(Field("client", "endpoint"))),
    "$remote_addr": ([{":"}, {"$remote_port"}], Directive(Field("client", "endpoint"))),
    "%ci": ([{":"}, {"%cp"}], Directive(Field("client", "endpoint"))),
    "%bi": ([{":"}, {"%bp"}], extra("backend_source")),
    "%fi": ([{":"}, {"%fp"}], extra("frontend_address")),
    "%si": ([{":"}, {"%sp"}], extra("server_address")),
    "%(U)s": ([{"?"}, {"%(q)s"}], TARGET_DECODED),
    "$upstream_host": ([{"$upstream_uri"}], extra("upstream_url")),
    "$scheme": ([{"://"}, {"$host", "$http_host", "$server_name"}, {"$request_uri"}], AFTER_HOST),
    **dict.fromkeys(("%Hosti", "%v", "%V"), ([{"%U"}, {"%q"}], Directive(Field("target_decoded", "after_host")))),
    "%REQ(:AUTHORITY)%": ([{"%REQ(:PATH)%", "%REQ(X-ENVOY-ORIGINAL-PATH?:PATH)%"}], AFTER_HOST),
    **dict.fromkeys(("$host", "$http_host", "$server_name"), ([{"$request_uri"}], AFTER_HOST)),
}
MARKS = str.maketrans("", "", "{}<>")


def join_targets(tokens: list[Token]) -> list[Token]:
    """Join directives that are one value."""
    names = [token.text.translate(MARKS) for token in tokens]
    result: list[Token] = []
    i = 0
    while i < len(tokens):
        token, stop = tokens[i], i + 1
        if names[i] in JOINED:
            others, directive = JOINED[names[i]]
            end = stop + len(others)
            if end <= len(names) and all(map(contains, others, names[stop:end])):
                written = "".join(each.text for each in tokens[i:end])
                if directive is TARGET_DECODED and token.directive == standard("path"):
                    directive = standard("target")
                token, stop = Token(written, token.offset, directive, written), end
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
    if kind is Haproxy:
        return [text_of(each, family, None, open_end) for each, family, open_end in with_headers(source)]
    if issubclass(kind, Apache) and (bracketed := with_brackets(source)):
        return [text_of(bracketed, kind()), text_of(source, kind())]
    escapes = NGINX_ESCAPES.get(source.escapes or "")
    if kind is Nginx and not escapes and source.text.startswith("{"):
        # Of a format without its directive, which says how values are escaped: JSON escapes include the others.
        escapes = "json"
    return [text_of(source, kind(), escapes)]


def with_brackets(source: Source) -> Source | None:
    """Return a format with the brackets that Jetty writes around a time; None if it has none of Java's times."""
    found = re.search(rf"(?<!\[){JAVA_TIME}(?!\])", source.text)
    if found is None:
        return None
    start, stop = found.span()
    text = f"{source.text[:start]}[{found[0]}]{source.text[stop:]}"
    return Source(text, [*source.offsets[: start + 1], *source.offsets[start : stop + 1], *source.offsets[stop:]])


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


def with_headers(source: Source) -> list[tuple[Source, Haproxy, bool]]:
    """Return the formats that one of HAProxy stands for, their directives, and whether more may follow.

    `%hr` and `%hs` write nothing if there are no headers to capture, and one space is left then, not two. The lists of
    the CLF format, `%hrl` and `%hsl`, are last.

    >>> [each.text for each, _, _ in with_headers(source_of("%b %hr %hs %r", [(0, 13)]))]
    ['%b %hr %hs %r', '%b %hs %r', '%b %r']
    """
    if lists := re.search(r"(?: %(?:\{[^}]*\})?h[rs]l)+\Z", source.text):
        return [(without(source, lists), Haproxy(), True)]
    found = [(source, Haproxy(), False)]
    is_near = re.search(r"%h[rs] %h[rs](?!\w)", source.text)
    for name in "%hr", "%hs":
        for each, _, _ in found[-1:] if is_near else [*found]:
            if headers := re.search(rf" {name}\Z|{name}(?!\w) ?", each.text):
                found.append((without(each, headers), Haproxy(bool(is_near)), False))
    return found


def without(source: Source, part: re.Match[str]) -> Source:
    """Return a format without a part of it."""
    start, stop = part.span()
    return source._replace(
        text=source.text[:start] + source.text[stop:], offsets=source.offsets[:start] + source.offsets[stop:]
    )


def text_of(source: Source, family: Family, escapes: str | None = None, open_end: bool = False) -> Text:
    """Compile a format string."""
    tokens = tokens_of(source, family)
    tokens, has_rest, optional = remove_marks(tokens)
    open_end |= has_rest
    tokens = split_times(join_times(join_requests(join_targets(with_units(tokens)))))
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


# --- presets ----------------------------------------------------------------------------------------------------------

BUILT_IN = os.path.join(os.path.dirname(__file__), "presets.ini")


def sections(text: str) -> dict[str, dict[str, str]]:
    """Return the keys and values of each section of a text of the form of presets.ini; configparser takes longer.

    >>> sections("# a comment\\n[a]\\nrest = yes\\nformat =\\n    $client\\n    $time")
    {'a': {'rest': 'yes', 'format': '\\n$client\\n$time'}}
    """
    found: dict[str, dict[str, str]] = {}
    name = key = ""
    for line in text.splitlines():
        if line.startswith("["):
            name = line.strip("[]")
            found[name] = {}
        elif line.startswith(" "):
            found[name][key] += "\n" + line.strip()
        elif line and not line.startswith("#"):
            key, _, value = map(str.strip, line.partition("="))
            found[name][key] = value
    return found


@cache
def built_in() -> dict[str, dict[str, str]]:
    """Return the sections of presets.ini."""
    with open(BUILT_IN, encoding="utf-8") as file:
        return sections(file.read())


@cache
def literals_of(name: str) -> list[list[bytes]]:
    """Return the literals that each line of text has in this order, of each variant of a preset; none for JSON.

    >>> literals_of("common")
    [[b'', b' - ', b' [', b'] "', b'" ', b' ', b'', b'']]
    """
    section = built_in()[name]
    if "dialect" in section:
        return [[]]
    if "notation" in section:
        return [[b"="] if section["notation"] == "logfmt" else [b":", b"\t", b":"]]
    texts = section.get("format", "").strip().splitlines()
    texts = [re.sub(" {2,}", " ", text.partition("$optional")[0]) for text in texts]  # any number of spaces
    return [re.split(rb"\$\{?\w+\}?", text.encode()) for text in texts]


@cache
def needs_of(name: str) -> list[bytes]:
    """Return the names of members, or keys, that only logs of a preset have, as their lines have them.

    >>> needs_of("echo"), needs_of("combined")
    ([b'"latency_human"'], [])
    >>> needs_of("slog")[-1]  # one that they do not have
    b'!"ts"'
    """
    section = built_in()[name]
    written = {"logfmt": "%s=", "ltsv": "%s:"}.get(section.get("notation", ""), '"%s"')
    needs = [need.rpartition("!") for need in section.get("needs", "").split()]
    return [(mark + written % need).encode() for _, mark, need in needs]


def preset_names() -> list[str]:
    """Return the names of the built-in presets.

    >>> "combined" in preset_names()
    True
    """
    return list(built_in())


def preset_descriptions() -> dict[str, str]:
    """Return the first sentence of the comment before each built-in preset: the server, and its documentation.

    >>> preset_descriptions()["caddy"]
    'Caddy 2, "log" directive, and "How Logging Works"'
    """
    found, comment = {}, ""
    with open(BUILT_IN, encoding="utf-8") as file:
        lines = file.read().splitlines()
    for line in lines:
        if line.startswith("#"):
            comment += line[1:]
        elif line.startswith("["):
            found[line.strip("[]")] = re.split(r"[.:;] ", comment.strip() + " ")[0]
        else:
            comment = ""
    return found


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
