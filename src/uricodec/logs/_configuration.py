"""The format strings in configuration files: where a directive has its string, and which escapes it has."""

import re
from collections.abc import Iterable
from typing import NamedTuple


class Source(NamedTuple):
    """The text of a format without escapes, and the offset of each character in what the user wrote."""

    text: str
    offsets: list[int]
    escapes: str | None = None


ESCAPED = {" ": " ", "t": "\t", "n": "\n", "r": "\r", '"': '"', "'": "'", "\\": "\\"}


# A pattern in XML, of Tomcat, WildFly or GlassFish, or of Logback, and the names that it may have.
ELEMENT = r"\s*<pattern>([^<]*)</pattern>"
PATTERN = r"""\s*<[^>]*?\s(?:pattern|format|logFormat)\s*=\s*(?:"([^"]*)"|'([^']*)')"""
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
YAML_STRING = r'\s*"((?:\\.|[^"\\])*\\n)"\s*\Z'  # of Envoy
SQUID_LOG = r"\s*logformat\s+[\w.-]+\s+(?=\S)"
LOGGER_CALL = r"""\s*(?:\w*\.(?:use|wrap)\(\s*)?(?:morgan|Logger::new)\(\s*(?=["'])"""  # of Express, of Actix
CADDY_LOG = r"""\s*format\s+(?:transform|formatted)\s+(?:`([^`]*)`|"((?:\\.|[^"\\])*)"|(\{\S+\}))"""
LOG_FORMAT = r"\s*log_format\s+(?!=)\S+(?=\s)"
APACHE_LOG = r"""(?i)\s*(?:LogFormat|CustomLog\s+(?:"[^"]*"|'[^']*'|\S+))(?=\s|\\\n)(?!\s*=)"""
ESCAPE = r"\s*escape=(\w+)(?=\s)"


def configured(written: str) -> Source:
    """Return the format string of a text, which may be a whole directive of a configuration file."""
    if re.match(r"\s*#\s*(?:log_format|LogFormat|CustomLog|logformat)\b", written):
        written = re.sub(r"(?m)^([^\S\n]*)#", r"\1 ", written)
    word_at = re.compile(WORD).match
    one = (re.match(each, written) for each in (PATTERN, ELEMENT, CADDY_LOG, YAML_STRING))
    if found := next(filter(None, one), None):
        return source_of(written, [found.span(found.lastindex or 0)])
    if found := re.match(SQUID_LOG, written):
        return source_of(written, [(found.end(), len(written))], "squid")
    if found := re.match(APACHE_LOG, written) or re.match(LOGGER_CALL, written):
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
        return source_of(written, outer_quotes(written) or [(0, len(written))])
    words = []
    while word := word_at(written, at):
        words.append(word.span(word.lastgroup or 0))
        at = word.end()
    end = written[at:].lstrip()
    if end.rstrip() not in ("", ";"):
        raise ValueError(f"unclosed quote at offset {len(written) - len(end)} of the format")
    return source_of(written, words, escapes or "default")


def outer_quotes(written: str) -> list[tuple[int, int]]:
    r"""Return the pieces of a format that has the quotes of its configuration around it, but not what precedes them.

    These are double quotes around escaped ones, and perhaps Apache's name after them; or single quotes of one piece,
    or of some on a line each, and perhaps ";".

    >>> outer_quotes(r'"%h \"%r\""'), outer_quotes("'$a '\n'$b';"), outer_quotes("'$a' '$b'")
    ([(1, 10)], [(1, 4), (7, 9)], [])
    """
    found = re.fullmatch(r'(?s)\s*"((?:[^"\\]|\\.)*)"(?:\s+[\w.-]+)?\s*', written)
    if found and '\\"' in found[1]:
        return [found.span(1)]
    if not written.lstrip().startswith("'"):
        return []
    word_at = re.compile(WORD).match
    words, at = [], 0
    while (word := word_at(written, at)) and word["single"] is not None:
        words.append(word.span("single"))
        at = word.end()
    end = written[at:].strip()
    is_one_line = "\n" not in written.strip() and not end
    return words if end in ("", ";") and (len(words) == 1 or not is_one_line) else []


NGINX_ESCAPES = {"default": "backslash", "json": "json", "none": "none"}
ESCAPES = (*NGINX_ESCAPES.values(), "hash")


def without(source: Source, part: re.Match[str]) -> Source:
    """Return a format without a part of it."""
    start, stop = part.span()
    return source._replace(
        text=source.text[:start] + source.text[stop:], offsets=source.offsets[:start] + source.offsets[stop:]
    )
