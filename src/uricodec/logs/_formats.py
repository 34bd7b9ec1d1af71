r"""Formats of access logs as programs: what compile_format() makes of a preset, a LogFormat or a log_format.

A program says what a line consists of, and a compiled reader runs it. A format string becomes tokens, literals and
fields in their order. Then

1. directives that are one value are joined (`%U%q`, `%{%Y-%m-%d}t %{%T}t`),
2. each field gets its name. If several could have it, the best or first one does (nginx: `$host` before `$http_host`),
   and the others go to `extra` by the name that they have in the format,
3. each field gets its kind, which says where it ends. It depends on the literals around: between quotes, a text may
   contain spaces, and the server escapes quotes.

Sources: Apache HTTP Server 2.4, mod_log_config and mod_logio; nginx, ngx_http_log_module and the index of variables;
W3C Working Draft WD-logfile-960323. presets.ini names the documentation of each preset.
"""

import os
import re
from collections.abc import Iterable, Mapping
from functools import cache
from itertools import pairwise
from operator import contains
from typing import NamedTuple, NoReturn


class Field(NamedTuple):
    """A value of a line.

    Attributes:
        name (str | None): The field of the record: one of FIELDS or `extra.NAME`. None: the value is dropped.
        kind (str): How the value is found, and what it must look like:
            word: bytes other than the first one of the literal that follows
            text: all before the literal that follows; at the end of the format, the rest of the line
            quoted: all before an unescaped quote that the rest of the literal follows
            number, decimal: digits, of "decimal" with at most one dot, or "-". Spaces before (Squid) and "+" (HAProxy:
                at least) are dropped; a negative number means that there is none.
            list: words separated by ", " or " : "
            address: a word, in detection an address or a host name
            endpoint: a word, an address with a port
            uncertain: of JSON, a decoded path, or a target if it has a "?" or a triplet
            query: a word, whose first "?" is dropped
            time: a time
        unit (int): The power of ten of a duration, in seconds: 0, -3, -6 or -9.
    """

    name: str | None
    kind: str
    unit: int = 0


class Text(NamedTuple):
    """A line of literals and fields.

    Attributes:
        steps (tuple[bytes | Field, ...]): They alternate: two fields have a literal between them, literals are joined.
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
    """A line that is a JSON object.

    Attributes:
        members (tuple[tuple[tuple[str, ...], Field], ...]): Paths of members, and their fields. If a record has several
            members for a field, the first one counts.
        rest (bool): Whether other strings and numbers of the object itself belong to `extra`.
        encoded (bool): Whether values are percent-encoded for the log, as CloudFront does.
    """

    members: tuple[tuple[tuple[str, ...], Field], ...]
    rest: bool
    encoded: bool = False


class W3c(NamedTuple):
    """A line in W3C extended log file format.

    Attributes:
        fields (str | None): The fields of a log without "#Fields:".
        separator (bytes): What separates the values: a tab or a space.
        dialect (str): "cloudfront" or "iis".
    """

    fields: str | None
    separator: bytes
    dialect: str


Program = Text | Json | W3c

# The fields of a record, by their kinds. Presets and mappings have them by these names.
FIELDS = {
    "client": "address",
    "user": "text",
    "time": "time",
    "request": "text",
    "method": "word",
    "target": "word",
    "path": "word",
    "path_decoded": "word",
    "query": "word",
    "protocol": "word",
    "status": "number",
    "bytes_sent": "number",
    "referer": "word",
    "user_agent": "text",
    "vhost": "word",
    "duration": "decimal",
    "forwarded_for": "list",
}
UNITS = {"s": 0, "ms": -3, "us": -6, "ns": -9}


class Directive(NamedTuple):
    """A field as a notation has it; `rank` decides which of several directives for a field has its name."""

    field: Field
    rank: int = 0


class Token(NamedTuple):
    """A literal (`directive` is None) or a field of a format string.

    Attributes:
        text (str): The literal, or the directive as it is written.
        offset (int): Where it begins in the format string.
        directive (Directive | None): The field.
        name (str): The name under `extra` if the field is not one of FIELDS for this directive.
        pattern (str): The strftime format of a time.
    """

    text: str
    offset: int
    directive: Directive | None = None
    name: str = ""
    pattern: str = ""


def standard(name: str, rank: int = 0, unit: int = 0) -> Directive:
    """Return a directive for one of FIELDS."""
    return Directive(Field(name, FIELDS[name], unit), rank)


def extra(name: str, kind: str = "word") -> Directive:
    """Return a directive for a field under `extra`."""
    return Directive(Field(f"extra.{name}", kind))


# --- Apache -----------------------------------------------------------------------------------------------------------

APACHE = {
    "a": standard("client"),
    "A": extra("local_address"),
    "b": standard("bytes_sent"),
    "B": standard("bytes_sent"),
    "D": standard("duration", 0, UNITS["us"]),
    "f": extra("filename"),
    "h": standard("client"),
    "H": standard("protocol"),
    "I": extra("bytes_received"),
    "k": extra("keepalive_requests"),
    "l": extra("ident"),
    "L": extra("log_id"),
    "m": standard("method"),
    "O": standard("bytes_sent"),
    "p": extra("port"),
    "P": extra("pid"),
    "q": Directive(Field("query", "query")),
    "r": standard("request"),
    "R": extra("handler"),
    "s": standard("status", 1),
    "S": extra("bytes_transferred"),
    "T": standard("duration", 3),
    "u": standard("user"),
    "U": standard("path_decoded"),
    "v": standard("vhost"),
    "V": standard("vhost"),
    "X": extra("connection_status"),
    "^FB": extra("time_to_first_byte"),
}
# Of "%{NAME}i" and the like: the value of a header, cookie, variable ... NAME. mod_ssl has "c" and "x".
NAMED = ("C", "c", "e", "i", "n", "o", "x", "^ti", "^to")
REQUEST_HEADERS = {
    "host": standard("vhost"),
    "referer": standard("referer"),
    "user-agent": standard("user_agent"),
    "x-forwarded-for": standard("forwarded_for"),
}
# What is in the braces of other directives; of "%{...}t" all else is a format of strftime().
VARIANTS = {
    "{canonical}p": extra("port"),
    "{local}p": extra("local_port"),
    "{remote}p": extra("remote_port"),
    "{pid}P": extra("pid"),
    "{tid}P": extra("tid"),
    "{hextid}P": extra("tid"),
    "{us}T": standard("duration", 0, UNITS["us"]),
    "{ms}T": standard("duration", 2, UNITS["ms"]),
    "{s}T": standard("duration", 3),
}
APACHE_DIRECTIVE = (  # compiled when a format needs it, as the patterns below: to compile them takes milliseconds
    r"%(?:%|(?P<status>(?:!?\d{3}(?:,\d{3})*|[<>])*)(?:\{(?P<argument>[^}]{0,999})\})?(?P<final>[<>]?)(?P<letter>\^FB|\^t[io]|[A-Za-z]))"
)


def apache_directive(found: re.Match[str], offset: int) -> list[Token]:
    """Return the tokens of a directive, which are three for "[%t]" without its brackets."""
    letter, argument, written = found["letter"], found["argument"], found[0]
    if letter is None:
        return [Token("%", offset)]
    if letter == "t":
        return time_directive(argument, written, offset)
    if letter in NAMED and argument:
        directive = extra(argument)
        if letter == "i":
            directive = REQUEST_HEADERS.get(argument.lower(), directive)
    elif argument is not None and letter in "pPT":
        if f"{{{argument}}}{letter}" not in VARIANTS:
            return no_directive(written, offset)
        directive = VARIANTS[f"{{{argument}}}{letter}"]
    elif letter in APACHE:
        directive = APACHE[letter]
        if letter == "s" and ">" in found["status"] + found["final"]:
            directive = standard("status")
    elif letter in NAMED:
        raise ValueError(f"directive {written!r} at offset {offset} of the format needs a name: '%{{NAME}}{letter}'")
    else:
        return no_directive(written, offset)
    return [Token(written, offset, directive, written)]


def no_directive(written: str, offset: int) -> NoReturn:
    raise ValueError(f"unknown directive {written!r} at offset {offset} of the format")


# Conversions of strftime() that are others in one.
COMPOSED = {
    "%T": "%H:%M:%S",
    "%R": "%H:%M",
    "%F": "%Y-%m-%d",
    "%D": "%m/%d/%y",
    "%h": "%b",
    "%e": "%d",
    "%r": "%I:%M:%S %p",
    "%k": "%H",
}
AROUND_TIME = r"(?s)([\s\[\](){}<>\"'|,;]*)(.*?)([\s\[\](){}<>\"'|,;]*)\Z"
FRACTIONS = {"msec_frac": "123", "usec_frac": "123456"}
EPOCHS = {"sec": "1700000000", "msec": "1700000000123", "usec": "1700000000123456"}


def time_directive(argument: str | None, written: str, offset: int) -> list[Token]:
    """Return the tokens of "%t", which writes brackets, or of "%{argument}t"."""
    if argument is None:
        time = Token(written, offset, standard("time"), written, "%d/%b/%Y:%H:%M:%S %z")
        return [Token("[", offset), time, Token("]", offset)]
    argument = re.sub("^(?:begin|end):?", "", argument)
    pattern = EPOCHS.get(argument) or FRACTIONS.get(argument) or argument
    for composed, parts in COMPOSED.items():
        pattern = pattern.replace(composed, parts)
    directive = extra(written, "time") if argument in FRACTIONS else standard("time")
    # A format of strftime() may have what stands around the time: "[" in "%{[%d/%b/%Y:%T}t.%{msec_frac}t %{%z]}t".
    before, pattern, after = re.findall(AROUND_TIME, pattern or "%d/%b/%Y:%H:%M:%S %z")[0]
    time = Token(written, offset, directive, written, pattern)
    return [Token(before, offset), time, Token(after, offset)]


def sample_of(pattern: str) -> str:
    """Return a time in a format of strftime()."""
    from datetime import datetime, timedelta, timezone

    return datetime(2000, 10, 10, 13, 55, 36, tzinfo=timezone(timedelta(hours=-7))).strftime(pattern)


# The times with a space that the reader knows the end of.
KNOWN_TIME = (
    r"\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d(?:[.,]\d+)? [-+]\d{4}"
    r"|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:[.,]\d+)?(?:[-+]\d\d:?\d\d|Z| [-+]\d{4})?"
)


# --- nginx ------------------------------------------------------------------------------------------------------------

NGINX = {
    **{name: standard(name) for name in FIELDS},
    **{f"duration_{unit}": standard("duration", 0, UNITS[unit]) for unit in ("ms", "us", "ns")},
    "client_endpoint": Directive(Field("client", "endpoint")),
    "ignored": Directive(Field(None, "word")),
    "user_word": Directive(Field("user", "word")),
    "remote_addr": standard("client"),
    "remote_user": standard("user"),
    "time_iso8601": standard("time"),
    "time_local": standard("time"),
    "msec": standard("time"),
    "request_method": standard("method"),
    "request_uri": standard("target"),
    "uri": standard("path_decoded"),
    "document_uri": standard("path_decoded"),
    "args": standard("query"),
    "query_string": standard("query"),
    "server_protocol": standard("protocol"),
    "body_bytes_sent": standard("bytes_sent"),
    "bytes_sent": standard("bytes_sent", 1),
    "http_referer": standard("referer"),
    "http_user_agent": standard("user_agent"),
    "http_x_forwarded_for": standard("forwarded_for"),
    "proxy_add_x_forwarded_for": standard("forwarded_for", 1),
    "host": standard("vhost"),
    "http_host": standard("vhost", 1),
    "server_name": standard("vhost", 2),
    "request_time": standard("duration"),
}
NGINX_VARIABLE = r"(?a)\$(?:\{(?P<braces>\w+)\}|(?P<name>\w+))"


def nginx_variable(found: re.Match[str], offset: int) -> list[Token]:
    name = found["braces"] or found["name"]
    kind = "list" if name.startswith("upstream_") else "word"
    return [Token(found[0], offset, NGINX.get(name) or extra(name, kind), name)]


# --- strings in configuration files -----------------------------------------------------------------------------------


class Source(NamedTuple):
    """The text of a format without escapes, and the offset of each character in what the user wrote."""

    text: str
    offsets: list[int]
    escapes: str | None = None


ESCAPED = {"t": "\t", "n": "\n", "r": "\r", '"': '"', "'": "'", "\\": "\\"}


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
WORD = r"""(?s)(?:\s|\\\n)*(?:"(?P<double>(?:\\.|[^"\\])*)"|'(?P<single>(?:\\.|[^'\\])*)'|(?P<bare>[^\s;"']+))"""
LOG_FORMAT = r"\s*log_format\s+\S+(?=\s)"
APACHE_LOG = r"""(?i)\s*(?:LogFormat|CustomLog\s+(?:"[^"]*"|'[^']*'|\S+))(?=\s|\\\n)"""
ESCAPE = r"\s*escape=(\w+)(?=\s)"


def configured(written: str) -> Source:
    """Return the format string of a text, which may be a whole directive of a configuration file."""
    if re.match(r"\s*#\s*(?:log_format|LogFormat|CustomLog)\b", written):
        written = re.sub(r"(?m)^([^\S\n]*)#", r"\1 ", written)
    word_at = re.compile(WORD).match
    if found := re.match(APACHE_LOG, written):
        word = word_at(written, found.end())
        if word is None:
            raise ValueError(f"missing format string at offset {found.end()}")
        return source_of(written, [word.span(word.lastgroup or 0)])
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


def tokens_of(source: Source, is_nginx: bool) -> list[Token]:
    """Split a format string into literals and fields."""
    sign, pattern, tokens_of_match = (
        ("$", NGINX_VARIABLE, nginx_variable) if is_nginx else ("%", APACHE_DIRECTIVE, apache_directive)
    )
    match = re.compile(pattern).match
    tokens: list[Token] = []
    i = 0
    while i < len(source.text):
        offset = source.offsets[i]
        if source.text[i] == sign:
            found = match(source.text, i)
            if found is None:
                return no_match(source, i)
            tokens += tokens_of_match(found, offset)
            i = found.end()
        else:
            end = source.text.find(sign, i)
            end = len(source.text) if end < 0 else end
            tokens.append(Token(source.text[i:end], offset))
            i = end
    return join_literals(tokens)


def no_match(source: Source, i: int) -> NoReturn:
    """Raise the error for a "$" or "%" that begins no directive."""
    braces = re.compile(r"[$%][!<>,\d]*\{").match(source.text, i)
    if braces and "}" not in source.text[i:]:
        raise ValueError(f"unclosed '{{' at offset {source.offsets[braces.end() - 1]} of the format")
    written = re.compile(r"[$%][!<>,\d]*(?:\{[^}]*\})?\^?.?", re.DOTALL).match(source.text, i)
    no_directive(written[0] if written else source.text[i], source.offsets[i])


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
JOINED = {
    "%U": ([{"%q"}], TARGET_DECODED),
    "$uri": ([{"$is_args"}, {"$args", "$query_string"}], TARGET_DECODED),
    "$document_uri": ([{"$is_args"}, {"$args", "$query_string"}], TARGET_DECODED),
    "$scheme": ([{"://"}, {"$host", "$http_host", "$server_name"}, {"$request_uri"}], standard("target")),
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
                token, stop = Token(written, token.offset, directive, written), end
        result.append(token)
        i = stop
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
            is_part = "%" in token.pattern or token.pattern in FRACTIONS.values()
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


def compile_text(written: str) -> Text:
    """Compile a format string of Apache or nginx, or a directive that has one."""
    source = configured(written)
    variables, directives = (len(re.findall(each, source.text)) for each in (NGINX_VARIABLE, APACHE_DIRECTIVE))
    is_nginx = variables >= directives and (variables > 0 or "%" not in source.text)
    if source.escapes:
        is_nginx = True
        escapes = NGINX_ESCAPES[source.escapes]
    else:
        # Of a format without its directive, which says how values are escaped: JSON escapes include the others.
        escapes = "json" if is_nginx and source.text.startswith("{") else "backslash"
    newline = source.text.find("\n")
    if newline >= 0:
        raise ValueError(f"newline at offset {source.offsets[newline]} of the format; a record is one line")
    return text_of(source, is_nginx, escapes)


def text_of(source: Source, is_nginx: bool, escapes: str) -> Text:
    """Compile a format string."""
    tokens = tokens_of(source, is_nginx)
    tokens, open_end, optional = remove_marks(tokens)
    tokens = split_times(join_times(join_targets(tokens)))
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
    return Text(steps, escapes, open_end, ends[-1] if ends else len(steps))


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
    elif kind == "word" and not (after.startswith(" ") or len(after) == 1):
        kind = "text"
    return Field(name, kind, unit)


# The most characters of a format, paths of a mapping, and names of a path. A line is read in time that grows with them.
LONGEST = 16_384
PATHS = 512
LEVELS = 32


def compile_mapping(pairs: Iterable[tuple[str, str]], rest: bool = False, encoded: bool = False) -> Json:
    """Compile a mapping of fields to members of JSON records.

    Args:
        pairs (Iterable[tuple[str, str]]): Fields, and paths of members. A field is one of FIELDS or `extra.NAME`; a
            duration may have a unit (`duration.ms`, `.us`, `.ns`), a client a port (`client.endpoint`), and a time its
            date apart (`time.date`). A path that some products decode, and others do not, is `path.uncertain`. Names
            of a path are separated by dots; alternative paths by "|", the best one first.
        rest (bool): Whether other members become `extra` fields.
        encoded (bool): Whether values are percent-encoded for the log.

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
            names = tuple(path.strip().split("."))
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
    return Json(tuple(members.items()), rest, encoded)


def check_text(what: str, text: str) -> None:
    """Reject a text that cannot be encoded."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"lone surrogate in the {what} at offset {error.start}") from None


def mapped_field(name: str) -> Field:
    """Return the field of a name in a mapping, which may have a unit or "endpoint" after a dot."""
    head, _, tail = name.partition(".")
    if head == "extra" and tail:
        return Field(name, "text")
    kind = FIELDS.get(head, "")
    if head == "duration" and tail in UNITS:
        return Field(head, kind, UNITS[tail])
    if head == "client" and tail == "endpoint":
        return Field(head, tail)
    if head == "time" and tail == "date":
        return Field(tail, "text")
    if head == "path" and tail == "uncertain":
        return Field("path_decoded", tail)
    if kind and not tail:
        return Field(head, "query" if head == "query" else "text" if kind == "word" else kind)
    raise ValueError(f"unknown field {name!r}{suggestion(name, [*FIELDS, f'extra.{name}'])}")


def suggestion(name: str, names: list[str]) -> str:
    """Return the end of an error message: the two names that are most like this one, or all of them."""
    from difflib import get_close_matches

    close = get_close_matches(name, names, 2)
    return f"; did you mean {' or '.join(map(repr, close))}?" if close else f"; choose from {', '.join(names)}"


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
    texts = section.get("format", "").strip().splitlines()
    return [re.split(rb"\$\{?\w+\}?", text.partition("$optional")[0].encode()) for text in texts]


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
        return [text_of(source_of(text, [(0, len(text))]), True, escapes) for text in texts]
    if "dialect" in options:
        dialect, fields = options.pop("dialect"), options.pop("fields", None)
        if dialect not in SEPARATORS:
            raise ValueError(f"invalid dialect {dialect!r}; choose from {', '.join(SEPARATORS)}")
        if options:
            raise ValueError(f"unknown key {next(iter(options))!r}; choose from dialect, fields")
        return [W3c(" ".join(fields.split()) if fields else None, SEPARATORS[dialect], dialect)]
    chosen = {}
    for key in "rest", "encoded":
        value = options.pop(key, "no")
        if value not in ("yes", "no"):
            raise ValueError(f"invalid {key} {value!r}; choose from yes, no")
        chosen[key] = value == "yes"
    return [compile_mapping(options.items(), **chosen)]


SEPARATORS = {"cloudfront": b"\t", "iis": b" "}


def compile_format(text: str) -> list[Program]:
    r"""Compile a format.

    Args:
        text (str): The name of a preset, a format string of Apache (LogFormat) or nginx (log_format), or a whole
            directive of their configuration files.

    Returns:
        list[Text | Json | W3c]: The variants of the format. A line has the first one that it matches.

    Raises:
        ValueError: If no preset has this name; if a directive is unknown or incomplete, or nothing separates two
            directives; if the format has more than LONGEST characters.

    Source: Apache HTTP Server 2.4, mod_log_config; nginx, ngx_http_log_module.

    >>> [program] = compile_format('%h "%r" %>s')
    >>> [step if isinstance(step, bytes) else f"{step.name}: {step.kind}" for step in program.steps]
    ['client: address', b' "', 'request: quoted', b'" ', 'status: number']
    """
    if len(text) > LONGEST:
        raise ValueError(f"the format has {len(text)} characters; at most {LONGEST} are allowed")
    check_text("format", text)
    if not re.fullmatch(r"[\w.+-]*", text):
        return [compile_text(text)]
    presets = built_in()
    if text not in presets:
        raise ValueError(f"unknown format {text!r}{suggestion(text, preset_names())}")
    return compile_section(presets[text])
