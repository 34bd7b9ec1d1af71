"""A plain implementation of the programs of log formats: a line at a time, with regular expressions, split() and json.

record() gives a record as a dict, Invalid for a line that is none, and DIRECTIVE for one that describes the log. It has
all sixteen fields; shown() leaves those that JSON lines have. logs.py has the escapes, requests, masks and flags.

The programs of a format are given, as tuples of the types below: support/log_programs.py takes them from the package.
logs/test_formats.py has them literally, and reads lines of known records with them.
"""

import ipaddress
import json
import re
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import pairwise
from typing import NamedTuple

from reference import logs
from reference.logs import DIRECTIVE, first_of, masked, split_request, split_target, text, undo

COMMON = [
    *("client", "user", "time", "method", "target", "path", "query", "protocol", "status", "bytes_sent", "referer"),
    *("user_agent", "vhost", "duration", "forwarded_for", "extra"),
]


class Invalid(NamedTuple):
    """Why a line is no record: the field that could not be read, or "json", "fields", "empty"; and where."""

    code: str
    offset: int


class NoRecord(Exception):
    pass


class Field(NamedTuple):
    """A value of a line; its name is None if it is dropped. uricodec.logs._formats has the same four types."""

    name: str | None
    kind: str
    unit: int = 0


class Text(NamedTuple):
    """A line of literals (bytes) and fields."""

    steps: tuple
    escapes: str
    open_end: bool
    optional: int


class Json(NamedTuple):
    """A line that is a JSON object, or one of logfmt: pairs of a path and a field."""

    members: tuple
    rest: bool
    encoded: bool = False
    notation: str = "json"


class W3c(NamedTuple):
    """A line of values in the order of a line "#Fields:"."""

    fields: str | None
    separator: bytes
    dialect: str


def programs_of(format):
    """The programs of a format, or of a mapping of fields to paths."""
    return [mapping_of(format)] if isinstance(format, dict) else format


KINDS = {"client": "address", "time": "time", "status": "number", "bytes_sent": "number", "duration": "decimal"}
KINDS |= {"forwarded_for": "list", "query": "query"}
VARIANTS = {"client.endpoint": Field("client", "endpoint"), "path.uncertain": Field("path_decoded", "uncertain")}
VARIANTS |= {f"{name}.quoted": Field(name, "in_quotes") for name in ("referer", "user_agent")}
VARIANTS |= {f"duration.{unit}": Field("duration", "decimal", power) for unit, power in zip(
    ("s", "ms", "us", "ns"), (0, -3, -6, -9), strict=True)}  # fmt: skip


def mapping_of(fields):
    """The program of a mapping: a pair for each path that leads to a field."""
    pairs = [(name, path.strip()) for name, paths in fields.items() for path in paths.split("|")]
    found = [(tuple(path.split(".")), VARIANTS.get(name, Field(name, KINDS.get(name, "text")))) for name, path in pairs]
    return Json(tuple(found), False)


# --- prefixes ---------------------------------------------------------------------------------------------------------

ISO_TIME = rb"(?=.{4}-..-..T..:..:...)[^ ]* "
# Also of journalctl -o short-full.
NAMED_TIME = rb"(?:.{3} .. ..:..:..(?:\.[^ ]*)? |(?=.{29}).{3} .{4}-..-.. ..:..:[^ ]* [^ ]* )"
PRIORITY = rb"(?:<[^>]{0,4}>|(?!<[^>]{0,4}>))"
PREFIXES = [
    # RFC 3164 section 4.1, also with a time of RFC 3339; RFC 5424 section 6. The name of the program ends with ":".
    # Some have no host name before "program[pid]:".
    rb"(?:(?:[0-9]{1,6} )?<[^>]{0,4}>)?(?:" + NAMED_TIME + rb"|" + ISO_TIME + rb")"
    rb"(?:[^ ]+\]: |(?![^ ]+\]: )[^ ]* [^ ]+: )(?=.)",
    # Heroku's drains have no STRUCTURED-DATA.
    rb"(?:[0-9]{1,6} )?<[^>]{0,4}>1 (?:[^ ]* ){5}(?:(?:-|(?:\[(?:[^\]\"]|\"(?:\\.|[^\"\\])*\")*\])+) |(?!- |\[))"
    rb"(?:\xef\xbb\xbf|(?!\xef\xbb\xbf))(?=.)",
    # Kubernetes CRI: whole lines.
    ISO_TIME + rb"std(?:out|err) F (?=.)",
]
# Of docker compose and kubectl: the service or pod, and perhaps a time.
LABEL = re.compile(
    rb"(?:(?:[0-9]{1,4}\|)?[A-Za-z0-9_.@-]+ *\| |\[pod/[^\]]*\] )(?P<time>" + ISO_TIME + rb")?(?=.)", re.DOTALL
)
DOCKER = re.compile(rb'\{"log":[ \t\r]*"((?:\\.|[^"\\])*)"', re.DOTALL)


def prefixes_of(line):
    """The sizes of the prefixes that a line has."""
    for pattern in PREFIXES:
        if found := re.compile(pattern, re.DOTALL).match(line):
            yield found.end()
    if found := LABEL.match(line):
        yield found.end()
        if found["time"]:
            yield found.start("time")


# Caddy's console: a time, the level, the logger and a message, with tabs between.
CONSOLE = re.compile(rb"(?P<time>[0-9/:. ]{4}/[0-9/:. ]{8}:[0-9/:. ]{5,26})\t[^\t]*\t[^\t]*\t[^\t]*\t(?=\{)", re.DOTALL)

# What is left out only if the line is no record otherwise. A name after it may be another part of it.
NO_NAME = rb"(?![A-Za-z_](?![0-9A-Fa-f:.]*(?: |$)))"
POD = rb"[a-z0-9.-]+-(?:[a-z0-9]{5}|[0-9]{1,3}) (?![0-9])[a-z0-9.-]+ "
WORD_TIME = rb"(?=.{4}-..-..T..:..:...)[0-9T:.Z+-]* "
SYSLOG_TIME = rb"(?:" + NAMED_TIME + rb"|" + WORD_TIME + rb")"
AFTER = rb"[ |:\[\]()-]*"
LOGGING = (
    rb"\[?(?:(?:.{4}-..-...(?:..:..:..)(?:[,.][0-9]*)?)|(?=[IWDE].{3}))"
    rb"(?=(?P<level>.{0,80}))"
)
LEVEL_NAME = rb"(?:INFO|WARN|DEBUG|ERROR|WARNING)"
LEVEL = re.compile(rb"(?:^|(?<=[ |:\[\]()-]))" + LEVEL_NAME + rb"(?=[ |:\[\]()-])")
NAME_OF_STREAM = rb"(?![0-9A-Fa-f:.]* )[A-Za-z0-9][A-Za-z0-9_./\[\]$@#+=-]* (?=.)" + NO_NAME
MOMENT = (
    rb"(?:(?=.{21}).{4}-..-..[T ]..:..:..(?:[.,][0-9]*)?(?:[+-][0-9T:.Z+-]*|Z)?"
    rb"|(?=[0-9]{10}(?:[0-9]{3}){0,3}(?![0-9]))[0-9]+)"
)
TAG = rb"[A-Za-z0-9_./\[\]-]+"
LABELS = rb"\{(?=[A-Za-z_}])(?:[^\"}]|\"(?:\\.|[^\"\\])*\")*\}[ \t]+(?=[^ \t])"
# Each that a line begins with is left out. Spring Boot, Ruby's Logger, and env_logger.
OTHERS = [
    rb"(?=[^ ]*/)" + NAME_OF_STREAM,
    MOMENT + rb"\t(?=.)",
    MOMENT + rb"\t" + TAG + rb"\t(?=.)",
    MOMENT + rb"[ \t]" + LABELS,
    MOMENT + rb" [+-].{4} " + TAG + rb": (?=\{)",
    MOMENT + rb" +" + LEVEL_NAME + rb" +[0-9]+ --- \[[^\]]*\](?:[^ ]*(?! : ) )*?[^ ]* : (?=.)",
    rb".,\ \[(?=.{4}-..-..T..:..:...)[^\]]*\](?:(?! -- ).)* -- [^:]*: (?:\[[^\]]*\] (?=.))*(?!\[)(?=.)",
    rb"\[" + MOMENT + rb" " + LEVEL_NAME + rb" [^\]]*\] (?=.)",
    rb" *" + ISO_TIME + rb"\[[A-Za-z0-9_./-]+\] *(?:OUT|ERR) (?=.)",
    rb"\[(?=[A-Za-z])[A-Za-z0-9_./-]+\] (?=.)" + NO_NAME,
]


def words_of(line):  # noqa: PLR0912
    """The sizes of what a program may have written before the line, if nothing else is there."""
    if next(prefixes_of(line), None) or CONSOLE.match(line):
        return
    of_aws = re.match(rb"(?=.{19}[.].{6}[+]00:00 )" + WORD_TIME + NAME_OF_STREAM + rb"(?!-)", line, re.DOTALL)
    if (found := re.match(WORD_TIME + rb"(?=.)", line, re.DOTALL)) and not of_aws:
        if not re.match(rb"[^ ]*: ", line[found.end() :]):
            label = re.match(rb"[A-Za-z0-9_.@-]+ *\| (?=.)|\[pod/[^\]]*\] (?=.)", line[found.end() :], re.DOTALL)
            yield found.end() + (label.end() if label else 0)
        if tag := re.match(rb"[^ ]+: (?=.)", line[found.end() :], re.DOTALL):
            yield found.end() + tag.end()
    if found := re.match(NAMED_TIME + rb"(?=.)(?!-)" + NO_NAME, line, re.DOTALL):
        yield found.end()
    if found := re.match(
        PRIORITY + SYSLOG_TIME + rb"[^ ]* (?![0-9-])[A-Za-z0-9_./\[\]-]+ (?=.)" + NO_NAME, line, re.DOTALL
    ):
        yield found.end()
    if found := re.match(rb"(?:[a-z0-9.-]+ )?" + POD, line):
        yield found.end()
    if found := re.match(WORD_TIME + NAME_OF_STREAM, line, re.DOTALL):
        yield found.end()
    for pattern in OTHERS:
        if found := re.match(pattern, line, re.DOTALL):
            yield found.end()
    if found := re.match(LOGGING, line, re.DOTALL):
        start = found.end()
        level = next((each for each in LEVEL.finditer(line, start) if each.end() < start + 80), None)
        at = level.end() if level else len(line)
        for word in range(3):
            name = re.match(rb"[^ ]*" if word else rb"", line[at:])[0]
            if b":" in name[:-1] and not name[-1:].isdigit():
                break
            at += len(name)
            between = re.match(AFTER, line[at:])[0]
            at += len(between) - 2 * (len(between) > 1 and between.endswith(b"::"))  # an IPv6 address
            if at < len(line) and re.match(NO_NAME, line[at:]):
                yield at


def without_prefix(line, of_objects):
    """What the line has after a prefix of each kind, what is in an object, and the line, each with where it begins.

    Of each, what precedes it is there, too.

    Of a text in an object, whose escapes are undone, offsets do not count. If the format is of objects, one that is a
    record itself is not one with a line, unless Docker wrote it.
    """
    for size in prefixes_of(line):
        yield line[size:], size, True, line[:size]
        for more in words_of(line[size:]):
            yield line[size + more :], -2, False, line[: size + more]
    if found := CONSOLE.match(line):
        yield line[found.end() :], found.end(), True, found["time"]
    object_first = not of_objects or DOCKER.match(line)
    text, at = text_in(line) or (None, 0)
    inner = []
    for size in [] if text is None else prefixes_of(text):
        inner += [size, *(size + more for more in words_of(text[size:]))]
    inner += [] if text is None else [0, *words_of(text)]
    for size in inner if object_first else []:
        yield text[size:], at, False, text[:size]
    yield line, 0, True, b""
    for size in [] if object_first else inner:
        yield text[size:], -2, False, text[:size]
    for size in words_of(line):
        yield line[size:], -2, False, line[:size]


STRING = re.compile(rb'"((?:\\.|[^"\\])*)"', re.DOTALL)
OCTETS = re.compile(rb"\[ *(\d{1,3}(?: *, *\d{1,3})*) *\]")
SCALAR = re.compile(rb"[0-9a-z.+E-]+")
SPACE = re.compile(rb"[ \t\r\n]*")
LINES = (b"log", b"message", b"MESSAGE", b"_raw", b"line", b"short_message", b"textPayload")


def text_in(line):
    """The text of the first member of LINES of an object, and where it begins.

    journald writes a text that is not UTF-8, or has control characters, as an array of numbers.
    """

    def after(at, byte):
        at = SPACE.match(line, at).end()
        return SPACE.match(line, at + 1).end() if line[at : at + 1] == byte else len(line)

    at, depth = after(0, b"{"), 0
    while key := STRING.match(line, at):
        at = after(key.end(), b":")
        is_text, found = key[1] in LINES, STRING.match(line, at)
        if found and is_text:
            text = COLORS.sub(b"", undo_json(found[1]).removesuffix(b"\n").removesuffix(b"\r"))
            return text, at + 1
        numbers = OCTETS.match(line, at)
        if numbers and is_text:
            octets = [int(number) for number in numbers[1].split(b",")]
            if max(octets) < 256:
                text = COLORS.sub(b"", bytes(octets))
                return text, at + 1
        if key[1] == b"result" and (inner := re.compile(rb"\{[ \t\r\n]*(?=\")").match(line, at)):
            depth, at = depth + 1, inner.end()
            continue
        if line[at : at + 1] in (b"{", b"["):
            end = end_of_nested(line, at)
        else:
            found = found or SCALAR.match(line, at)
            end = found.end() if found else len(line)
        end = SPACE.match(line, end).end()
        while depth and line.startswith(b"}", end):
            depth, end = depth - 1, SPACE.match(line, end + 1).end()
        at = after(end, b",")
    return None


def end_of_nested(line, at):
    depth = 0
    for found in re.compile(STRING.pattern + rb"|[\[\]{}]|\"", re.DOTALL).finditer(line, at):
        if found[0] == b'"':
            return len(line)
        depth += {b"{": 1, b"[": 1, b"}": -1, b"]": -1}.get(found[0], 0)
        if depth == 0:
            return found.end()
    return len(line)


# --- lines of literals and fields -------------------------------------------------------------------------------------

LIST = re.compile(rb"[^ ]*(?:(?<=,) [^ ]*| : [^ ]*)*")
NUMBERS = ("number", "decimal")


def read_text(line, program):  # noqa: PLR0912, PLR0915
    """The fields of a line; the exception has the field that cannot be read, and where it should be."""
    steps, fields, at, odd_user, odd_vhost = program.steps, {}, 0, None, None
    if isinstance(steps[0], bytes):
        if not line.startswith(steps[0]):
            raise NoRecord("format", 0)
        at = len(steps[0])
    elif steps[0].name in {"client", "forwarded_for"}:
        at = source_before(steps[0], steps[1][:1] if len(steps) > 1 else b" ", line)
    for i, step in enumerate(steps):
        if isinstance(step, bytes):
            continue
        written = steps[i + 1] if i + 1 < len(steps) else b""
        # Two spaces at an end of a literal are any number of spaces, but at least one.
        is_padded, pads_next = written.startswith(b"  "), written.endswith(b"  ")
        after = squeezed(written)
        following = steps[i + 2] if i + 2 < len(steps) else None
        may_end = program.optional < len(steps) and i + 1 >= program.optional
        if step.kind in NUMBERS and line[:at].endswith(b" "):  # Squid pads them
            at += len(line[at:]) - len(line[at:].lstrip(b" "))
        # A number does not decide where a text ends if there may be spaces before it.
        next_one = (
            following._replace(kind="word") if pads_next and following and following.kind in NUMBERS else following
        )
        sure_end = last_end(program, i, after, next_one, line, at) if step.kind == "quoted" and not may_end else None
        end = end_of(program, i, after, next_one, may_end, line, at) if sure_end is None else sure_end
        if step.kind != "quoted" and after and end in (None, len(line)):
            end = len(line) if may_end else None
        if end is None:
            # Of a text in quotes, where these begin.
            raise NoRecord(code_of(step), at - 1 if step.kind == "quoted" else at)
        data = line[at:end]
        if is_padded and after != written.rstrip(b" ") and not (pads_next and not written.strip(b" ")):
            data = data.rstrip(b" ")
            end += len(re.match(rb" *(?= )|", line[end:])[0])
        if (
            step.kind == "quoted"
            and sure_end is None
            and b'"' in (data if program.escapes in {"none", "hash"} else re.sub(rb"\\.", b"", data))
        ):
            fields["has odd quotes"] = True
        if step.name == "user":
            data = {b" - ": b"-"}.get(data, data)  # Jetty
        if step.name is not None:
            fields[step.name] = given(data, program, step.kind)
            if step.kind in NUMBERS and fields[step.name] is not None:
                fields[step.name] = (checked_duration if step.name == "duration" else checked_number)(step, data, at)
        if step.name == "user" and re.fullmatch(rb".+ -", data, re.DOTALL):
            odd_user = at
        if step.name == "user" and fields.get("extra.ident") is not None and b" " in (fields["user"] or b""):
            odd_user = at
        if step.name == "vhost" and step.kind == "word" and after[:1] not in (b"", b" ") and b" " in data:
            odd_vhost = at
        if step.kind == "site" and not is_site(data):
            odd_vhost = at
        at = end
        if line.startswith(after, at):
            at += len(after)
            if pads_next:
                at += len(line[at:]) - len(line[at:].lstrip(b" "))
        elif may_end and line[at:] in (b"", b'"' if step.kind == "quoted" else b""):
            at = len(line)
            break
        else:
            raise NoRecord(code_of(following or step), at)
    if line[at:].strip(b" "):
        if not program.open_end or line[at : at + 1] != b" ":
            raise NoRecord("format", at)
        fields["extra.rest"] = given(line[at + 1 :], program)
    if odd_user is not None:
        raise NoRecord("user", odd_user)
    if any(step.kind == "cut" for step in steps[1::2] + steps[::2] if isinstance(step, Field)) and len(line) < 200:
        raise NoRecord("request", len(line))
    if odd_vhost is not None:
        raise NoRecord("vhost", odd_vhost)
    undo_all(fields, program)
    return fields


def squeezed(literal):
    return re.sub(rb"\A {2,}| {2,}\Z", b" ", literal)


def code_of(field):
    """The code of an error: the name of the field in a record."""
    return "path" if field.name in ("path_decoded", "target_decoded") else field.name or "format"


def given(data, program, kind="text"):
    """None for a value that means that there is none."""
    return None if data == b"-" or (data == b"" and (program.escapes != "backslash" or kind in NUMBERS)) else data


def end_of(program, i, after, following, may_end, line, at):  # noqa: PLR0911, PLR0912, PLR0913, PLR0917
    """Where a field ends that begins there; None if what follows it does not come."""
    kind = program.steps[i].kind
    if kind == "quoted":
        return end_of_quoted(program, after, following, may_end, line, at)
    if (
        kind in ("text", "cut")
        and after.strip(b" ")
        and following
        and following.kind == "time"
        and i + 3 < len(program.steps)
    ):
        # A user name may contain " [": the last one before the end of the time counts.
        first = line.find(after, at)
        if first < 0:
            return None
        stop = line.find(squeezed(program.steps[i + 3]), first + len(after))
        return first if stop < 0 else line.rfind(after, first, stop + len(after) - 1)
    if kind in ("text", "cut") and following and following.kind in NUMBERS:
        return next((end for end in places(after, line, at) if re.match(rb"[-0-9]", line[end + len(after) :])), None)
    if kind == "list" and after.startswith(b","):
        *ends, last = [*places(after, line, at), len(line)]
        for start, end in pairwise([*ends, last]):
            if end == len(line) or not is_address(line[start + len(after) : end]):
                return start
        return last
    if kind == "list" and (after or b" ").startswith(b" "):
        return at + LIST.match(line[at:]).end()
    if not after and (kind == "time" or (kind in ("text", "cut") and not program.open_end)):
        return len(line)
    if program.steps[i].name == "vhost" and after[:1] == b":" and line[at : at + 1] == b"[":  # IPv6
        return next(iter(places(b":", line, next(places(b"]", line, at), len(line)))), None)
    whole = after if kind in ("text", "list", "time") else after[:1]
    ends = places(whole or b" ", line, at)
    end = next(ends, None)
    if end is not None and kind == "time" and after.startswith(b" "):
        found = None
        # The spaces before the clock and before the zone do not end it.
        if re.fullmatch(rb".{4}[-/].{5}", line[at:end], re.DOTALL):
            dashed = len(line) - end > 3 and line.startswith(b" -", end)  # Gin
            end = next((each for each in ends if each > end + 2 * dashed), None)
        elif found := re.match(DAY_FIRST, line[at:]):
            end = next((each for each in places(whole, line, at) if each >= at + found.end()), None)
        elif re.fullmatch(rb"[0-9]{6}", line[at:end]):
            end = next((each for each in ends), None)
        elif len(line) - at > 23 and re.match(rb".{3} .{3} .{5}:", line[at:], re.DOTALL):  # asctime
            end = next((each for each in places(whole, line, at) if each >= at + 20), None)
        if end is not None and found and re.match(rb"GMT|UTC", line[end + 1 :]):
            end = next((each for each in ends if each > end + 3), None)
        elif end is not None and re.match(rb"[-+][0-9]{4}", line[end + 1 :]):
            end = next((each for each in ends if each > end + 5), None)
    return len(line) if end is None and not after else end


MONTH_NAMES = b"jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
DAY_FIRST = rb"(?i)(?:[a-z]{3}, )?[0-9]{1,2}(?:([-/ ])(?:%b)\1|\.[0-9]{2}\.)[0-9]{4} " % MONTH_NAMES


def places(literal, line, at):
    """The offsets of a literal."""
    while (at := line.find(literal, at)) >= 0:
        yield at
        at += 1


def end_of_quoted(program, after, following, may_end, line, at):  # noqa: PLR0913, PLR0917
    """The quote that the rest of the literal follows, and then a number if that is next, or the end of the line.

    Other quotes that are not escaped belong to the text.
    """
    first, before_rest = None, None
    pattern = rb'"' if program.escapes in {"none", "hash"} else rb'\\.|"'
    quotes = [each.start() for each in re.compile(pattern, re.DOTALL).finditer(line, at) if each[0] == b'"']
    for left, quote in reversed([*enumerate(reversed(quotes))]):
        rest = line[quote + len(after) :]
        if following is None and rest == b"" and before_rest is not None and line[quote - 1 : quote] == b" ":
            break  # it begins a text that was cut off
        if line.startswith(after, quote):
            first = quote if first is None else first
            if following is None:
                is_open = program.open_end and rest.startswith(b" ")
                is_end = rest == b"" or (is_open and left % 2 == 0)
                before_rest = quote if is_open and before_rest is None else before_rest
            else:
                is_end = following.kind not in NUMBERS or re.match(rb"[-0-9]", rest)
            if is_end:
                return quote
        elif may_end and quote + 1 == len(line):
            return quote
    return first if before_rest is None else before_rest


def undo_all(fields, program):
    """Undo the escapes, then what the format writes around a value."""
    undone = {"backslash": undo, "json": undo_json, "hash": bytes, "none": bytes}[program.escapes]
    names = [getattr(step, "name", step) for step in program.steps]
    for i, name in enumerate(names):
        # A path that the server has decoded may have spaces; a protocol has none.
        is_path = name in ("target", "path", "path_decoded", "target_decoded")
        if is_path and names[i + 1 : i + 3] == [b" ", "protocol"] and b" " in (fields.get("protocol") or b""):
            more, _, fields["protocol"] = fields["protocol"].rpartition(b" ")
            fields[name] += b" " + more
    for i, step in enumerate(program.steps):
        data = fields.get(getattr(step, "name", None))
        if data is None or step.kind in NUMBERS:
            continue
        data = undone(data)
        if program.escapes == "hash":
            data = undo_hashes(data, b"".join(program.steps[i + 1 : i + 2])[:1])
        if step.kind == "endpoint":
            fields["is endpoint"] = True
        if step.name == "user" and re.fullmatch(rb'".*"', data, re.DOTALL):  # Apache
            data = data[1:-1]
        if step.name == "query":
            data = (data.removeprefix(b"?") if step.kind == "query" else data) if data else None
        if step.kind == "after_host":
            host, data = re.fullmatch(rb"(?s)(?:[^/]+://)?([^/]*)(.*)", data).groups()
            fields["vhost"] = None if host in {b"", b"-"} else host
        fields[step.name] = data
    if fields.get("target_decoded") is not None:
        fields["path_decoded"], mark, rest = fields["target_decoded"].partition(b"?")
        fields["query"] = rest if mark else None


def undo_hashes(data, end):
    """HAProxy escapes what stands in quotes, and in braces, where "|" separates."""
    if end == b'"':
        return re.sub(rb"#([0-9A-Fa-f]{2})", lambda found: bytes.fromhex(found[1].decode()), data)
    if end == b"}":
        return re.sub(rb"#(?!7C|7c|23)([0-9A-Fa-f]{2})", lambda found: bytes.fromhex(found[1].decode()), data)
    return data


def checked_number(field, data, at=0):
    """The digits; None for a negative number, which means that there is none. HAProxy has "+" for "at least"."""
    if not (re.fullmatch(rb"[+-]?[0-9]{1,18}", data) if field.kind == "number" else is_decimal(data)):
        raise NoRecord(field.name, at)
    digits = data.removeprefix(b"+").removesuffix(b"s")
    return None if data.startswith(b"-") else digits if field.kind == "decimal" else digits.lstrip(b"0") or b"0"


# Go: time.Duration.String(); in nanoseconds.
GO_UNITS = {b"ns": 1, b"us": 10**3, "\u00b5s".encode(): 10**3, "\u03bcs".encode(): 10**3, b"ms": 10**6}
GO_UNITS |= {b"s": 10**9, b"m": 60 * 10**9, b"h": 3600 * 10**9}
GO_PART = re.compile(rb"(?=\.?[0-9])([0-9]{0,10})(?:\.([0-9]*))?(%b)" % b"|".join(GO_UNITS))


def checked_duration(field, data, at=0):
    """A number of the field's unit, or one with units, "1m2.5s"; what is less than a nanosecond is dropped."""
    if (field.unit == 0 or not data.endswith(b"s")) and is_decimal(data):
        return checked_number(field, data, at)
    parts = GO_PART.findall(data)
    total = 0
    for whole, fraction, unit in parts:
        total += int((whole or b"0") + fraction) * GO_UNITS[unit] // 10 ** len(fraction)
    if not re.fullmatch(rb"-?(?:%b)+" % GO_PART.pattern, data) or total > 2**62:
        raise NoRecord(field.name, at)
    return None if data.startswith(b"-") else b"%de%d" % (total, -9 - field.unit)


def is_decimal(data):
    """Whether it is a number of at most 40 digits, and not too large or small."""
    found = re.fullmatch(rb"[+-]?([0-9]*)\.?([0-9]*)(?:[eE]([+-]?[0-9]{1,2}))?s?", data)
    return found and 1 <= len(found[1] + found[2]) <= 40 and -40 <= len(found[1]) + int(found[3] or 0) <= 40


def is_address(data):
    """Whether it is an IPv4 address, or an IPv6 address with or without a zone."""
    try:
        ipaddress.ip_address(data.partition(b"%")[0].decode("latin-1") if b":" in data else data.decode("latin-1"))
    except ValueError:
        return False
    return True


def split_port(data, endpoint=False):
    """The address of "192.0.2.1:80", "[2001:db8::1]:80" or, as HAProxy writes it, "2001:db8::1:80"; and the port."""
    found = re.fullmatch(rb"\[([^\]]+)\](?::([0-9]{0,5}))?", data)
    if found and is_address(found[1]):
        return found[1], found[2] or None
    found = re.fullmatch(rb"(?!\[..)(.+):([0-9]{1,5})", data, re.DOTALL)
    if not found or (b":" in found[1] and not is_address(found[1])):
        return data, None
    # "2001:db8::1:80" is an address itself.
    return (data, None) if b":" in found[1] and is_address(data) and not endpoint else found.groups()


def source_before(step, end, line):
    """The size of a file name or the like, with a colon, that is before the first address."""
    word = line.partition(end)[0]
    if b"\t" in (word.partition(b",")[0] if step.kind == "list" else word):
        raise NoRecord(step.name, 0)
    word = word.partition(b",")[0] if step.kind == "list" else word
    address = split_port(word, step.kind == "endpoint")[0]
    if b":" not in address or word.startswith(b"unix:"):
        if address.startswith(b"["):
            raise NoRecord(step.name, 0)
        return 0
    if is_address(address) and not is_numbered(word):
        return 0
    for colon in places(b":", word, 0):
        rest = word[colon + 1 :]
        address = split_port(rest, step.kind == "endpoint")[0]
        if len(rest) <= 96 and is_address(address) and not is_numbered(rest):
            # "[info]2001:db8::1" has a group of the address before the colon.
            if b":" in address and not re.search(rb"(?:^|:)[A-Za-z0-9._/~+@%-]+$", word[:colon]):
                break
            return colon + 1
    raise NoRecord(step.name, 0)


def is_numbered(word):
    """Whether a line number is before an IPv6 address: 12:2001:db8::1, 12:::1."""
    number, _, rest = word.partition(b":")
    usual = re.match(rb"[23fF][^:]{3}:", rest) or rest in (b"::1", b"0:0:0:0:0:0:0:1")
    return number.isdigit() and usual and is_address(rest)


def is_site(data):
    if found := re.match(rb"\[([^\]]*)\]", data):
        return is_address(found[1])
    name = re.fullmatch(rb"[A-Za-z0-9._%\[\]-]*(?::[0-9]*)?", data)
    return data and not data.startswith(b"[") and (name or is_address(data))


# Fields that visitors write, so that they may have quotes.
WRITTEN = {"user", "request", "target", "path", "path_decoded", "target_decoded", "query", "referer", "user_agent"}
WRITTEN |= {"forwarded_for"}


def last_end(program, i, after, following, line, at):  # noqa: PLR0913, PLR0917
    """The last quote that the rest of the format allows; None if a later field may have quotes."""
    later = program.steps[i + 1 :]
    literals = [each for k, each in enumerate(later, i + 1) if isinstance(each, bytes) and k < program.optional]
    quotes, spaces = (sum(each.count(sign) for each in literals) for sign in (b'"', b" "))
    if any(isinstance(each, Field) and each.name in WRITTEN for each in later) or (program.open_end and not spaces):
        return None
    if program.escapes == "hash":  # HAProxy writes no quote in a text
        return None
    pattern = rb'"' if program.escapes in {"none", "hash"} else rb'\\.|"'
    found = [each.start() for each in re.compile(pattern, re.DOTALL).finditer(line, at) if each[0] == b'"']
    if len(found) <= quotes:
        return None
    for left, quote in enumerate(reversed(found)):
        rest = line[quote + len(after) :]
        if left < quotes - 1 or line.count(b" ", quote) < spaces or not line.startswith(after, quote):
            continue
        if following is None:
            allowed = rest == b"" or (program.open_end and rest.startswith(b" "))
        else:
            allowed = following.kind not in NUMBERS or re.match(rb"[-0-9]", rest)
        if allowed:
            return quote
    return None


JSON_ESCAPE = re.compile(
    rb"\\(?:u([dD][89abAB][0-9A-Fa-f]{2})\\u([dD][c-fC-F][0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|x([0-9A-Fa-f]{2})|([ntrbfv\"\\/]))"
)


def undo_json(data):
    r"""Undo \uhhhh, \xhh and \n. A lone surrogate becomes three bytes that are not UTF-8."""

    def undone(escape):
        if escape[1]:
            point = 0x10000 + (int(escape[1], 16) - 0xD800 << 10) + int(escape[2], 16) - 0xDC00
            return chr(point).encode()
        if escape[3]:
            return chr(int(escape[3], 16)).encode("utf-8", "surrogatepass")
        return bytes.fromhex(escape[4].decode()) if escape[4] else (logs.C_ESCAPES | {b"/": b"/"})[escape[5]]

    return JSON_ESCAPE.sub(undone, data)


# --- JSON records -----------------------------------------------------------------------------------------------------

# A record of a preset has one of these, or it is one of another kind.
ESSENTIAL = {"request", "method", "target", "path", "path_decoded", "status"}


class Members(list):
    """The members of an object: pairs of names and values."""


def members_of(line):
    """The members of a JSON object. Names and texts are bytes, numbers and words are str."""
    # With escapes escaped, json.loads() gives texts as they are in the line.
    escaped = re.sub(rb"(?s)\\.", lambda found: found[0].replace(b"\\", rb"\\").replace(b'"', rb"\""), line)

    def members(pairs):
        return Members((undo_json(name.encode("latin-1")), value) for name, value in pairs)

    try:
        whole = json.loads(
            escaped.decode("latin-1"),
            strict=False,
            object_pairs_hook=members,
            parse_float=Number,
            parse_int=Number,
            parse_constant=reject_constant,
        )
    except ValueError:
        raise NoRecord("json", 0) from None
    if not isinstance(whole, Members):
        raise NoRecord("json", 0)
    return whole


class Number(str):
    pass


def reject_constant(constant):
    """NaN and Infinity are no numbers of JSON."""
    raise ValueError(constant)


def leaves(members, names=()):
    """The values that are no objects, with the names that lead to them joined by dots.

    Of an array of objects with a "name" and a "value", each value is one, too: headers[].host.
    """
    for name, value in members:
        for each in value if isinstance(value, list) and not isinstance(value, Members) else ():
            pair = {}
            for key, item in each if isinstance(each, Members) else ():
                if isinstance(item, str) and not isinstance(item, Number):
                    pair[key] = item
            if {b"name", b"value"} <= {*pair}:
                key = undo_json(pair[b"name"].encode("latin-1")).lower()
                yield b".".join((*names, name + b"[]", key)).decode("utf-8", "replace"), pair[b"value"]
        if isinstance(value, Members):
            yield from leaves(value, (*names, name))
        else:
            yield b".".join((*names, name)).decode("utf-8", "replace"), value


def scalar(value, undo):
    """A text, number or word as bytes, of an array the text at its start; None for null, an empty text and "-"."""
    if isinstance(value, list):
        value = value[0] if value and type(value[0]) is str else None
    if isinstance(value, bool):
        value = "true" if value else "false"
    data = None if value is None or isinstance(value, Members) else value.encode("latin-1")
    return None if data in (None, b"", b"-") else data if isinstance(value, Number) else undo(data)


def pairs_of(line, named):
    """The keys and values of logfmt, of which some are named by a program: no words follow their bare values."""
    found, at, goes_on = [], 0, False
    pattern = re.compile(
        rb' *(?:(?P<key>[^ ="{(\[]*)=(?:"(?P<text>(?:[^"\\]|\\.)*)"(?= |$)|(?!")(?P<bare>[^ ]*))|[^ ="{(\[]+(?= |$))',
        re.DOTALL,
    )
    while line[at:].strip(b" "):
        pair = pattern.match(line, at)
        if pair is None:
            raise NoRecord("json", 0)
        if goes_on and pair["key"] is None:
            raise NoRecord("json", at + pair[0].count(b" "))
        goes_on = pair["bare"] is not None and pair["key"] in named
        if pair["key"]:
            value = pair["bare"] if pair["text"] is None else pair["text"]
            found.append((pair["key"], value.decode("latin-1")))
        at = pair.end()
    return Members(found)


def labels_of(line):
    """The labels and values of LTSV."""
    found = []
    for part in filter(None, line.split(b"\t")):
        pair = re.fullmatch(rb"([0-9A-Za-z_.-]+):(.*)", part, re.DOTALL)
        if pair is None:
            raise NoRecord("json", line.index(part))
        found.append((pair[1], pair[2].decode("latin-1")))
    return Members(found)


def unwrapped(field, value):
    """The value of a member without what may be around it."""
    if field.kind == "query":
        return value.removeprefix(b"?")
    if field.kind == "in_quotes":
        value = re.sub(rb'(?s)\A"(.*)"\Z', rb"\1", value)
        return None if value in {b"", b"-"} else value
    return re.sub(rb"(?s)\A\[(.*)\]\Z", rb"\1", value) if field.name == "time" else value


def read_json(line, program, is_preset):
    named = {names[0].encode() for names, _ in program.members if len(names) == 1}
    whole = {"json": members_of, "logfmt": lambda line: pairs_of(line, named), "ltsv": labels_of}[program.notation](
        line
    )
    undo = undo_json if program.notation != "ltsv" else logs.undo
    found, fields = [*leaves(whole)], {}
    for names, field in program.members:
        wanted = ".".join([*names[:-1], names[-1].lower() if names[-2:-1] and names[-2].endswith("[]") else names[-1]])
        values = [scalar(value, undo) for path, value in found if path == wanted]
        values = [value for value in values if value is not None]
        if fields.get(field.name) is None and values:
            fields[field.name] = unwrapped(field, values[-1])
            if field.name == "client":
                fields["is endpoint"] = field.kind == "endpoint"
            if field.kind == "uncertain":
                fields["is uncertain"] = True
            fields[f"unit of {field.name}"] = field.unit
    if program.rest:
        taken = {".".join(names) for names, _ in program.members}
        for name, value in whole:
            key = name.decode("utf-8", "replace")
            if key not in taken and not isinstance(value, list) and scalar(value, undo) is not None:
                fields[f"extra.{name.decode('utf-8', 'surrogateescape')}"] = scalar(value, undo)
    if program.notation == "ltsv" and fields.get("request") is not None:  # the label uri may have no query
        fields["target"] = fields["query"] = None
    if not any(fields.get(name) is not None for name in (ESSENTIAL if is_preset else [*fields])):
        raise NoRecord("request" if is_preset else "fields", 0)
    if program.encoded:
        undo_cloudfront(fields)
    path = fields.get("path_decoded") or b""
    if fields.get("is uncertain") and re.fullmatch(rb"[^ ]*(?:\?|%[0-9A-Fa-f]{2})[^ ]*", path):
        fields["path"] = fields.pop("path_decoded")
        if b"?" in path:
            fields["query"] = None
    check_numbers(fields)
    return fields


def check_numbers(fields):
    for name in "status", "bytes_sent":
        if fields.get(name) is not None:
            fields[name] = checked_number(Field(name, "number"), fields[name])
    if fields.get("duration") is not None:
        field = Field("duration", "decimal", fields.get("unit of duration", 0))
        fields["duration"] = checked_duration(field, fields["duration"])


# --- W3C extended log file format -------------------------------------------------------------------------------------

W3C_FIELDS = logs.COLUMNS | {
    "time-taken": "duration",
    "x-host-header": "vhost",
    "cs-host": "vhost",
    "cs(Host)": "vhost",
    "x-forwarded-for": "forwarded_for",
    "X-Forwarded-For": "forwarded_for",
    "cs(X-Forwarded-For)": "forwarded_for",
}


# Google Cloud Storage, "Usage logs & storage logs"
GCS_FIELDS = {
    "time_micros": "time",
    "c_ip": "client",
    "cs_method": "method",
    "cs_uri": "target",
    "sc_status": "status",
    "sc_bytes": "bytes_sent",
    "time_taken_micros": "duration",
    "cs_host": "vhost",
    "cs_referer": "referer",
    "cs_user_agent": "user_agent",
}


def plausible(fields):
    """Whether a line of CSV without the names of its fields has what they are by default."""
    return (
        re.fullmatch(rb"\d{1,10}|\d{13}|\d{16}|\d{19}", fields["time"])
        and re.fullmatch(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+", fields["method"])
        and re.fullmatch(rb"/.*|[*-]", fields["target"], re.DOTALL)
        and re.fullmatch(rb"[0-9A-Fa-f.:%]*|-", fields["client"])
        and re.fullmatch(rb"[0-9]{3}|-|", fields["status"])
    )


def read_w3c(line, program, state):  # noqa: PLR0912, PLR0915
    is_csv = program.dialect == "csv"
    if is_csv and line.removeprefix(b'"').startswith(program.fields.split()[0].encode()):
        state["columns"] = re.findall(r'[^",]+', line.decode("utf-8", "surrogateescape"))
        state["commas"] = True
        return DIRECTIVE
    if line.startswith(b"#"):
        if line.startswith(b"#Fields:"):
            written = line[8:].decode("utf-8", "surrogateescape")
            state["columns"], state["commas"] = re.findall(r"[^ \t,]+", written), "," in written
            state["netscaler"] = state.get("netscaler", False) or "sc-servicename" in state["columns"]
            if not state["columns"]:
                del state["columns"]
        elif line.startswith(b"#Software:"):
            state["netscaler"] = b"NSWL" in line or b"Tomcat" in line
        return DIRECTIVE
    columns, delimiter = state.get("columns") or program.fields.split(), program.separator
    values = line.split(delimiter)
    cloudfront = any(column.startswith("x-edge-") for column in columns)
    quoted = set()
    if "columns" in state or is_csv:
        # What separates the first value from the others; a value in quotes may have it, too.
        first = re.match(rb'(?:"[^"]*(?:"|$))?[^ \t,]*([ \t,]?)', line)
        delimiter = b"," if is_csv or state["commas"] else first[1] or b" "
        values = line.split(delimiter)
        items = w3c_values(line, delimiter)
        if len(items) >= len(columns):
            values = [value for value, _ in items]
            quoted = {column for column, (_, was_quoted) in zip(columns, items, strict=False) if was_quoted}
    if len(values) == len(columns) + 1 and delimiter == b" " and line.endswith(b" "):
        values.pop()
    usable = {name for column in columns for name in named_fields(column, columns)}
    if all(name.startswith("extra.") for name in usable):
        raise NoRecord("request", 0)
    if len(values) < len(columns) or (not cloudfront and len(values) > len(columns)):
        raise NoRecord("fields", len(line))
    fields, quoted_fields = {}, set()
    for column, value in zip(columns, values, strict=False):
        [name] = named_fields(column, columns)
        fields[name] = value
        quoted_fields |= {name} if column in quoted else set()
    if "columns" not in state and not (plausible(fields) if is_csv else logs.plausible(fields)):
        raise NoRecord("fields", 0)
    missing = (b"-", b"") if delimiter == b"," else (b"-",)
    fields = {name: None if value in missing else value for name, value in fields.items()}
    if "time_taken_micros" in columns:
        fields["unit of duration"] = -6
    if fields.get("query") is not None:
        fields["query"] = fields["query"].removeprefix(b"?")
    if cloudfront:
        undo_cloudfront(fields)
    elif delimiter == b" ":  # IIS
        for name in {"user_agent", "forwarded_for"} - quoted_fields:
            if fields.get(name) is not None:
                fields[name] = fields[name].replace(b"+", b" ")
        if not (state.get("netscaler")):
            fields["path_decoded"] = fields.pop("path", None)
            fields["unit of duration"] = -3
    path = first_of(fields.get("path"), fields.get("path_decoded"))
    if path and b"?" in path and not any("query" in named_fields(column, columns) for column in columns):  # SHOUTcast
        fields["target"], fields["path"], fields["path_decoded"] = path, None, None
    elif path is None and None not in {fields.get("target"), fields.get("query")} and b"?" not in fields["target"]:
        fields["target"] += b"?" + fields["query"]
    check_numbers(fields)
    return fields


OTHER_NAMES = {"cs-ip": ("c-ip", "client"), "c-status": ("sc-status", "status")}


def named_fields(column, columns):
    """The field that a column of these is."""
    if column == "cs(Host)" and "x-host-header" in columns:  # the name of the distribution
        return ["extra.cs(Host)"]
    if column == "bytes" and "sc-bytes" not in columns:
        return ["bytes_sent"]
    usual, field = OTHER_NAMES.get(column, ("", ""))
    if field and usual not in columns:
        return [field]
    return [GCS_FIELDS.get(column) or W3C_FIELDS.get(column, f"extra.{column}")]


def w3c_values(line, delimiter):
    """The values of a line, and whether they were in quotes, in which a quote is written twice."""
    item = re.compile(rb'"((?:[^"]|"")*)"(?=%b|$)|([^%b]*)' % (delimiter, delimiter), re.DOTALL)
    found, at = [], 0
    while True:
        value = item.match(line, at)
        is_quoted = value[1] is not None
        found.append((value[1].replace(b'""', b'"') if is_quoted else value[2], is_quoted))
        at = value.end() + 1
        if at > len(line):
            return found


def undo_cloudfront(fields):
    """Undo the percent-encoding that CloudFront applies to what clients send."""
    agent = fields.get("user_agent")
    for name in ("target", "path", "query", "referer", "user_agent", "forwarded_for"):
        if fields.get(name) is not None:
            fields[name] = logs.unquote_to_bytes(fields[name])
    # Older logs have the agent encoded twice: every "%" is encoded as "%25" then.
    if agent is not None and agent.count(b"%") == agent.count(b"%25"):
        fields["user_agent"] = logs.unquote_to_bytes(fields["user_agent"])


# --- times ------------------------------------------------------------------------------------------------------------

MONTHS = MONTH_NAMES.decode().split("|")
CLOCK = r"(?P<clock>\d\d:\d\d:\d\d)"
FRACTION = r"(?P<fraction>[.,]\d{1,15})?"
ZONE = r"(?P<zone>Z|GMT|UTC|[-+]\d\d:?\d\d)"
NAME = r"(?P<name>[A-Za-z]{3})"
WEEKDAY = r"(?:[A-Za-z]{3}, )?"
TIMES = [
    # RFC 3339, ISO 8601; a space may come before the zone if one comes before the clock.
    rf"(?P<year>\d{{4}})-(?P<month>\d\d)-(?P<day>\d\d)T{CLOCK}{FRACTION}{ZONE}?",
    # Go's log has slashes, and Gin a dash between date and clock.
    rf"(?P<year>\d{{4}})(?P<sign>[-/])(?P<month>\d\d)(?P=sign)(?P<day>\d\d) (?:- )?{CLOCK}{FRACTION}(?: ?{ZONE})?",
    # H2O's and Envoy's examples.
    rf"(?P<year>\d{{4}})/(?P<month>\d\d)/(?P<day>\d\d):{CLOCK}{FRACTION}(?: ?{ZONE})?",
    rf"(?P<year>\d{{4}})/(?P<month>\d\d)/(?P<day>\d\d)T{CLOCK}{FRACTION}{ZONE}?",
    # Apache, nginx; HAProxy has a fraction and no zone, http.server a space before the clock. RFC 9110: IMF-fixdate.
    rf"{WEEKDAY}(?P<day>\d\d?)(?P<sign>[-/ ]){NAME}(?P=sign)(?P<year>\d{{4}})[: ]{CLOCK}{FRACTION}(?: {ZONE})?",
    rf"{WEEKDAY}(?P<day>\d\d?)\.(?P<month>\d\d)\.(?P<year>\d{{4}})[: ]{CLOCK}{FRACTION}(?: {ZONE})?",
    # RFC 9110 section 5.6.7: asctime.
    rf"[A-Za-z]{{3}} {NAME} (?P<day>[ \d]\d) {CLOCK} (?P<year>\d{{4}})",
    rf"(?P<year>\d\d)(?P<month>\d\d)(?P<day>\d\d) {CLOCK}",  # Tornado
]


def moment(data, text=text):
    """A time in the form of RFC 3339, without a zone if the log has none; times of other shapes as they are."""
    time = text(data)
    if found := re.fullmatch(r"(\d{1,10})(\.\d{1,15})?", time, re.ASCII):
        return since_1970(int(found[1]), found[2] or "")
    if re.fullmatch(r"\d{13}|\d{16}|\d{19}", time, re.ASCII):
        digits = len(time) - 10
        return since_1970(int(time[:-digits]), "." + time[-digits:])
    found = next(filter(None, (re.fullmatch(pattern, time, re.ASCII) for pattern in TIMES)), None)
    if not found:
        return time
    parts = {"fraction": "", "zone": "", "month": ""} | {k: v for k, v in found.groupdict().items() if v is not None}
    zone = {"GMT": "Z", "UTC": "Z"}.get(parts["zone"], parts["zone"])
    zone = zone[:3] + ":" + zone[-2:] if len(zone) > 1 else zone
    if "name" in parts and parts["name"].lower() in MONTHS:
        parts["month"] = f"{MONTHS.index(parts['name'].lower()) + 1:02}"
    date = f"{parts['year'].rjust(4, '!').replace('!!', '20')}-{parts['month']}-{parts['day'].strip().zfill(2)}"
    try:
        # A leap second; no other number is 60.
        datetime.strptime(f"{date} {re.sub(':60$', ':59', parts['clock'])}", "%Y-%m-%d %H:%M:%S")
    except ValueError:
        return time
    is_valid = zone[1:3] <= "23" and zone[4:] <= "59"
    return f"{date}T{parts['clock']}{parts['fraction'].replace(',', '.')}{zone}" if is_valid else time


def time_before(data):
    """The time in what precedes a line that has none: of RFC 3339, or Caddy's."""
    if re.match(rb"[0-9]{4}/", data):
        return moment(data)
    digits = rb"(?<![0-9])[0-9]{4}-[0-9]{2}-[0-9]{2}(?P<t>[T ])[0-9]{2}:[0-9]{2}:[0-9]{2}"
    written = digits + rb"(?=..)(?:[.,][0-9]*)?(?:[+-][0-9T:.Z+-]*|Z)?"
    *_, found = [None, *re.finditer(written, data, re.DOTALL)]
    if found and found["t"] == b" ":
        found = re.compile(written + rb"(?: [+-][0-9]{4}(?= )|)", re.DOTALL).match(data, found.start())
    return moment(found[0]) if found else None


def since_1970(seconds, fraction):
    time = datetime(1970, 1, 1) + timedelta(seconds=seconds)
    return time.strftime("%Y-%m-%dT%H:%M:%S").zfill(19) + fraction + "Z"


# --- records ----------------------------------------------------------------------------------------------------------


# Control sequences of ECMA-48, but for those with intermediate bytes.
COLORS = re.compile(rb"\x1b(?:\[[0-?]*[@-~]|\(B)")


def record(line, format, state=None, **options):
    """The record of a line in a format: the first of its variants that the line matches.

    Options: mask, params (names of parameters), flags, errors ("keep" or "replace"), encoding, client ("peer" or
    "forwarded").
    """
    state = {} if state is None else state
    line, skipped = line.removesuffix(b"\r"), 0
    if "begun" not in state and line.startswith(b"\xef\xbb\xbf"):
        line, skipped = line[3:], 3
    state["begun"] = True
    colors = [found.span() for found in COLORS.finditer(line)]
    if colors:
        found = record(COLORS.sub(b"", line), format, state, **options)
        if isinstance(found, Invalid):
            offset = found.offset
            for start, stop in colors:
                offset += stop - start if start <= offset else 0
            return Invalid(found.code, skipped + min(offset, len(line)))
        return found
    best, doubtful = Invalid("", -1), []
    for rest, at, counts, before in without_prefix(line, isinstance(programs_of(format)[0], Json)):
        if rest == b"" and at >= 0:
            return Invalid("empty", skipped + at)
        found = record_of(rest, format, state, options)
        if not isinstance(found, Invalid):
            if isinstance(found, dict) and found["time"] is None and "date" not in found:
                found["time"] = time_before(before)
            if not is_doubtful(found) or (before and not doubtful):
                return found
            doubtful.append(found)
            continue
        offset = at + (found.offset if counts else 0)
        if offset > best.offset or (at == 0 and offset == best.offset):
            best = Invalid(found.code, offset)
    return doubtful[0] if doubtful else Invalid(best.code, skipped + best.offset)


def is_doubtful(record):
    """Whether the time, or the client, may have what another program wrote before the line."""
    if not isinstance(record, dict):
        return False
    time = record["time"]
    is_time = time is None or re.fullmatch(r"[\d-]{10}T[\d:]{8}(\.\d+)?(Z|[-+]\d\d:\d\d)?", time)
    return not is_time or " " in (record["client"] or "")


def record_of(line, format, state, options):
    """Texts with quotes that are not escaped count only if no variant matches without."""
    best, odd = Invalid("", -1), None
    for program in programs_of(format):
        try:
            if isinstance(program, W3c):
                fields = read_w3c(line, program, state)
            elif isinstance(program, Json):
                fields = read_json(line, program, not isinstance(format, dict))
            else:
                fields = read_text(line, program)
        except NoRecord as error:
            best = max(best, Invalid(*error.args), key=lambda found: found.offset)
            continue
        if fields is DIRECTIVE:
            return fields
        if not fields.pop("has odd quotes", False):
            return complete(fields, program, **options)
        odd = odd or (fields, program)
    return complete(*odd, **options) if odd else best


def complete(  # noqa: PLR0913
    fields, program, *, mask=(), params=(), flags=False, errors="keep", encoding=None, client="peer"
):
    """The record of fields as they are in the log."""

    def text(data):
        return text_of(data, errors, encoding)

    method, target, protocol, proper = split_request(fields.get("request"))
    method, protocol = first_of(fields.get("method"), method), first_of(fields.get("protocol"), protocol)
    if re.fullmatch(rb"1[.][01]|[23](?:[.]0)?", protocol or b""):
        protocol = b"HTTP/" + protocol
    path, query = first_of(fields.get("path"), fields.get("path_decoded")), fields.get("query")
    is_decoded = fields.get("path") is None and path is not None
    if fields.get("target") is not None:
        target, proper = fields["target"], True
    if path is not None and (isinstance(program, W3c) or target is None or not proper):
        if not is_decoded and query is None and not isinstance(program, W3c):  # it may have a query itself
            target, proper = path, True
            path, query = split_target(method, target)
        else:
            target, proper = path if query is None else path + b"?" + query, True
    else:
        is_decoded = False
        if target is not None and proper:
            path, query = split_target(method, target)
    names = {name.encode().lower() for name in mask}
    forwarded = [each.strip(b" ") for each in (fields.get("forwarded_for") or b"").split(b",")]
    forwarded = [split_port(each) for each in forwarded if each not in (b"", b"-")]
    addresses = [text(address) for address, _ in forwarded]
    peer = (None, None)
    if client == "forwarded" and forwarded:
        peer = forwarded[0]
    elif fields.get("client") is not None:
        peer = split_port(fields["client"], fields.get("is endpoint"))
    if peer[1] is not None and fields.get("extra.client_port") is None:
        fields["extra.client_port"] = peer[1]
    pairs = None if query is None else raw_pairs(masked(b"?" + query, names)[1:])
    values = {
        "client": text(peer[0]),
        "user": text(fields.get("user")),
        "time": logs.date_and_time(fields.get("date"), fields.get("time"), errors)
        if fields.get("time") is None or fields.get("date") is not None
        else moment(fields["time"], text),
        "method": text(method),
        "target": text(masked(target, names, path is not None)),
        "path": None if path is None else text(path) if is_decoded else decoded(path, errors, encoding),
        "query": None if pairs is None else [[decoded(part, errors, encoding) for part in pair] for pair in pairs],
        "protocol": text(protocol),
        "status": integer(fields.get("status")),
        "bytes_sent": integer(fields.get("bytes_sent")),
        "referer": text(masked(fields.get("referer"), names)),
        "user_agent": text(fields.get("user_agent")),
        "vhost": text(fields.get("vhost")),
        "duration": duration(fields, program),
        "forwarded_for": addresses or None,
        "extra": {
            text(name.removeprefix("extra.").encode("utf-8", "surrogateescape")): text(masked(value, names))
            for name, value in fields.items()
            if name.startswith("extra.") and value is not None
        }
        or None,
    }
    for name in params:
        values[f"param.{name}"] = next((value for key, value in values["query"] or () if key == name), None)
    if flags:
        values["flags"] = logs.flags_of(path, query, is_decoded, proper)
    return values


def text_of(data, errors, encoding):
    """A text in UTF-8, or else in the encoding, or else what of it is UTF-8."""
    if data is not None and encoding is not None:
        for each in "utf-8", encoding:
            try:
                return data.decode(each)
            except UnicodeDecodeError:
                pass
    return text(data, errors)


def integer(data):
    return None if data is None else int(data)


def duration(fields, program):
    """Seconds."""
    if fields.get("duration") is None:
        return None
    units = [step.unit for step in getattr(program, "steps", ()) if isinstance(step, Field) and step.name == "duration"]
    unit = units[0] if units else fields.get("unit of duration", 0)
    return float(Decimal(fields["duration"].decode()).scaleb(unit))


def raw_pairs(query):
    """Names and values of a query, still percent-encoded, and "+" for a space as %20."""
    found = [field.partition(b"=") for field in query.split(b"&") if field]
    return [[name.replace(b"+", b"%20"), value.replace(b"+", b"%20")] for name, _, value in found]


def decoded(data, errors, encoding):
    """Decoded as UTF-8, or else in the encoding, or else what of it is UTF-8."""
    raw = logs.unquote_to_bytes(data)
    for each in ("utf-8", encoding) if encoding else ():
        try:
            return raw.decode(each)
        except UnicodeDecodeError:
            pass
    return logs.decoded(data, errors)


def shown(values, format):
    """The fields that JSON lines have: those of all formats, and the others if the format, or the record, has them."""
    programs = programs_of(format)
    names = set()
    for program in programs:
        if isinstance(program, Text):
            fields = [step for step in program.steps if isinstance(step, Field)]
            names |= {step.name or "" for step in fields} | {"vhost" for step in fields if step.kind == "after_host"}
        elif isinstance(program, Json):
            names |= {field.name or "" for _, field in program.members} | ({"extra"} if program.rest else set())
        else:
            names |= {"vhost", "duration", "forwarded_for", "extra"}
    # What is missing nearly everywhere is shown if it is there.
    names |= {"extra"} if any(name.startswith("extra.") for name in names - {"extra.ident"}) else set()
    hidden = {name for name in COMMON[12:] if name not in names and values[name] is None}
    return {name: value for name, value in values.items() if name not in hidden}
