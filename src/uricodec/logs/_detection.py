"""Which format a log has: a vote of its first lines.

A line votes for each preset that it matches, if its values are also what the names of the fields promise. The preset
with the most votes is the format. Several can have as many: then the one that reads more fields of the lines is the
format, if it reads all that the others read; otherwise the readings differ, and the user has to choose.
"""

import re
from collections.abc import Iterable
from contextlib import suppress
from typing import Any, NamedTuple

from uricodec._base._text import new_buffer
from uricodec._base.diagnostics import Diagnostic
from uricodec.logs._configuration import NGINX_ESCAPES
from uricodec.logs._format import Format, presets
from uricodec.logs._formats import Json, Text
from uricodec.logs._presets import built_in, literals_of, needs_of
from uricodec.logs._records import LogReader

# The lines that vote are the first ones, up to these numbers of lines and of bytes.
LINES = 1000
HEAD = 256 * 1024

# A format needs the votes of one line in ten; another one that matches as many of the other lines is a second format.
SHARE = 10

# How many lines of a log may be cut off: the first and the last one.
CUT_OFF = 2

# How many lines are compared if formats have equally many votes.
COMPARED = 50

# A format with one in so many of the votes that another one has may be the better one, which reads the other's rest.
CLOSE = 4

# A format that matches none of so many lines is not tried on more, if another one matches all.
FIRST = 50

# How much of a line a message shows.
SHOWN = 60

# How many other formats are named if a format leaves lines.
OTHERS = 3

TWO_FORMATS = "lines of two formats"

# What a line has that is a JSON object, escapes bytes, or has colors. All others have the literals of their format.
CODED = b"{", b"\\", b"\x1b"

# As records of the core have them: a member without a value, and what follows the last field of a format.
NULL = rb',"\w+":null'
REST = b'"rest":"'

# The values of a referer and of an agent in a record. A product with a version is an agent.
IN_ORDER = re.compile(rb'"referer":(null|"(?:\\.|[^"\\])*"),"user_agent":(null|"(?:\\.|[^"\\])*")')
PRODUCT = re.compile(rb'"[A-Za-z][\w.+-]*/\d')
NO_AGENT = re.compile(rb'null|"(?:https?://|")')
SWAPPED_NAMES = re.compile(rb"(?i)^(?:(?!refer).)*user.?agent.*refer")

# The fields that visitors write. Their contents decide nothing.
VISITORS = frozenset(
    ("user", "method", "target", "path", "query", "protocol", "referer", "user_agent", "forwarded_for")
)

# Lines of this size do not vote: no server writes them.
LONGEST = 65536


class FormatError(ValueError):
    """A log whose format cannot be found out, or that does not have the given one.

    Attributes:
        message (str): What is wrong, without the suggestion.
        suggestion (Format | None): A format to begin with: a guess, after the first lines of a log of no known one.

    >>> list(__import__("uricodec").logs.parse(b"192.0.2.1 /a 200\\n"))
    Traceback (most recent call last):
    uricodec.logs.FormatError: unknown log format, line 1: '192.0.2.1 /a 200'; begin with Format('$remote_addr ...
    """

    __module__ = "uricodec.logs"

    def __init__(self, message: str, suggestion: Format | None = None) -> None:
        super().__init__(message if suggestion is None else f"{message}; begin with {suggestion!r}")
        self.message: str = message
        self.suggestion: Format | None = suggestion


class Candidate(NamedTuple):
    """A format that a log may have.

    Attributes:
        format (Format): The format.
        votes (int): The number of lines that match it.
        lines (int): The number of lines that have voted.
        reach (float): How much of the other lines matches, from 0 to 1.
    """

    format: Format
    votes: int
    lines: int
    reach: float


class Presets(dict[str, Format]):
    """The presets that were asked for, by name: to read and compile them all takes 40 ms."""

    def __missing__(self, name: str) -> Format:
        self[name] = Format(name)
        return self[name]


KNOWN = Presets()


def voters(head: bytes) -> list[bytes]:
    """Return the lines of the head of a log that vote, without their ends: not those that are blank."""
    head = head.removeprefix(b"\xef\xbb\xbf")
    if len(head) >= HEAD and b"\n" in head:
        head = head[: head.rindex(b"\n")]  # without the line that goes on
    lines = [line.removesuffix(b"\r") for line in head.split(b"\n", LINES)[:LINES]]
    return [line for line in lines if line.strip() and len(line) < LONGEST]


def records_of(format: Format, lines: Iterable[bytes], strict: int = 1) -> list[bytes | None]:
    """Return the record of each line as JSON; None of a line that is not a record, and an empty one of a comment."""
    reader = LogReader(format.programs, strict=strict)
    records: list[bytes | None] = []
    for line in lines:
        buffer = new_buffer(reader.capacity_for(len(line)))
        found = reader.convert(line, buffer)
        records.append(None if found.invalid else bytes(buffer[: found.written]))
    return records


def reads_all(format: Format, lines: list[bytes]) -> bool:
    """Return whether all lines are records of a format, to their ends."""
    return all(record and REST not in record for record in records_of(format, lines, strict=2))


def count(format: Format, data: bytes, strict: int = 1) -> Candidate:
    """Return a candidate, given the lines that vote."""
    reader = LogReader(format.programs, strict=strict)
    buffer = new_buffer(reader.capacity_for(max(len(data) // 8, LONGEST)))
    at = votes = voted = 0
    reach = 0.0
    while at < len(data):
        found = reader.convert(memoryview(data)[at:], buffer)
        votes += found.records
        voted += found.records + len(found.invalid)
        reach += sum(line.offset / max(line.stop - line.start, 1) for line in found.invalid if line.code != "fields")
        at += found.read
    return Candidate(format, votes, voted, reach / (voted - votes) if voted > votes else 0.0)


def may_read(name: str, lines: list[bytes], data: bytes) -> bool:
    """Return whether a preset may read one of some lines, which `data` joins: to look for its literals takes less time
    than to compile it.

    "[$time] \\"$request\\" $status" does not read `a - - [now] GET /`, which has no quote after "] ".
    """
    if name in KNOWN or len(lines) > FIRST or any(code in data for code in CODED):
        return True
    possible = [literals for literals in literals_of(name) if all(literal in data for literal in literals)]
    return any(has_in_order(line, literals) for literals in possible for line in lines)


def has_in_order(line: bytes, literals: list[bytes]) -> bool:
    at = 0
    for literal in literals:
        at = line.find(literal, at) + len(literal)
        if at < len(literal):
            return False
    return True


def candidates(head: bytes, every: bool = False) -> list[Candidate]:
    """Return the candidates for the head of a log, those with the most votes first, then those that match farther.

    Those without a vote are among them only with `every`. A text in quotes that contains quotes is a mistake of a
    server, and could be several fields. So such lines do not vote, unless most lines have them.
    """
    lines = voters(head)

    def counted(names: Iterable[str], lines: list[bytes], strict: int) -> list[Candidate]:
        data = b"\n".join(lines)
        found = [count(KNOWN[name], data, strict) for name in names if every or may_read(name, lines, data)]
        if not every:
            found = [each for each in found if each.votes and (2 * each.votes >= each.lines or not is_loose(each))]
        return sorted(found, key=lambda each: (-each.votes, -each.reach))

    # Both read any log with a header.
    unnamed = {"cloudfront", "iis"} - {named_by(head)} if b"#Fields:" in head else set()
    known = [name for name in presets() if name not in unnamed and has_needs(name, lines)]
    found: list[Candidate] = []
    for strict in 2, 1:
        if len(lines) >= 2 * FIRST:
            matching = [str(each.format) for each in counted(known, lines[:FIRST], strict) if each.votes]
            found = counted(matching, lines, strict)
            # All others match fewer lines, by more than choose() forgives.
            if found and found[0].votes == found[0].lines:
                break
        found = counted(known, lines, strict)
        if found and found[0].votes * 2 > found[0].lines:
            break
    return found


def is_loose(candidate: Candidate) -> bool:
    """Return whether a preset reads any line with a usual key, as logfmt: half of the lines must be its records."""
    name = str(candidate.format)
    return "notation" in built_in()[name] and not needs_of(name)


def has_needs(name: str, lines: list[bytes]) -> bool:
    """Return whether half of some lines have the members that only logs of a preset have, if there are such."""
    needs = needs_of(name)
    if not needs:
        return True
    wanted = [(need.lstrip(b"!"), not need.startswith(b"!")) for need in needs]

    def has(line: bytes, quote: bytes) -> bool:
        """Return whether the line has the members, of which the names have such quotes."""
        return all((need.replace(b'"', quote) in line) is there for need, there in wanted)

    # Those of an object in a text are not mixed with those of the one around it.
    return 2 * sum(has(line, b'"') or has(line, b'\\"') for line in lines[:COMPARED]) >= len(lines[:COMPARED])


def named_by(fields: bytes) -> str:
    """Return the preset that the names of the fields of a W3C log mean."""
    return "cloudfront" if b"x-edge-" in fields else "iis"


def announced(head: bytes) -> list[Candidate]:
    """Return the candidate that the directives of a W3C log announce; none without them.

    It has a vote if all lines are comments: the directives say what the log is. Otherwise most of the lines have to be
    records, for visitors write the start of a line whose format begins with X-Forwarded-For.
    """
    lines = [line for line in voters(head) if line.startswith((b"#Fields:", b"#Software: Microsoft"))]
    if not lines:
        return []
    format = KNOWN[named_by(lines[0])]
    found = count(format, b"\n".join(voters(head)))
    if found.votes * 2 < found.lines:
        return []
    return [found._replace(votes=max(found.votes, 1), lines=max(found.lines, 1))]


def decide(head: bytes, early: bool = False, likely: Format | None = None) -> Candidate | None:
    """Return the format of a log.

    Args:
        head (bytes): The beginning of the log, up to a line end, or all of it.
        early (bool): Whether more of the log may be had: then return None unless all lines agree.
        likely (Format | None): That of the log before. If it is of text and reads all lines to their ends, only presets
            before it could read the same; JSON has more members than a format names.

    Returns:
        Candidate | None: The format; None if no line can vote yet.

    Raises:
        FormatError: If no preset matches, or cannot be told from another one.
    """
    if not head:
        return Candidate(KNOWN["combined"], 0, 0, 0.0)
    lines = voters(head)
    if likely and str(likely) in presets() and not likely.is_json and lines and reads_all(likely, lines):
        before = [name for name in presets()[: presets().index(str(likely))] if has_needs(name, lines)]
        before += [name for name in presets() if needs_of(name) and name != str(likely) and has_needs(name, lines)]
        if not any(reads_all(KNOWN[name], lines) for name in before):
            return in_order(Candidate(likely, len(lines), len(lines), 0.0), lines)
    known = announced(head)
    if not known and all(line.startswith(b"#") for line in lines):
        return None
    ranking = known or candidates(head)
    best = ranking[0] if ranking else None
    if early:
        try:
            if best is None or best.votes < best.lines or not shows(best, head):
                return None
            best = chosen(ranking, head, lines)
        except FormatError:
            best = None
        return best
    if best is None or (best.votes * SHARE < best.lines and not known):
        raise unknown(head)
    best = chosen(ranking, head, lines)
    if best.votes < best.lines and not known:
        others = [line for line, record in zip(lines, records_of(best.format, lines), strict=True) if record is None]
        second, *_ = [*candidates(b"\n".join(others)), best]
        records = records_of(second.format, others)
        count = sum(is_foreign(best.format, line, record) for line, record in zip(others, records, strict=True))
        if count * SHARE >= best.lines and len(others) > 1:
            raise FormatError(two_formats(best, second))
    return best


def chosen(ranking: list[Candidate], head: bytes, lines: list[bytes]) -> Candidate:
    """Return the candidate that choose() returns, with its fields in order.

    Raises:
        FormatError: See choose() and check_members().
    """
    best = in_order(choose(ranking, head), lines)
    check_members(best.format, lines)
    return best


def decide_beside(known: Format, head: bytes) -> Candidate | None:
    """Return the format of those lines of a log that a known format does not read; None: there is none.

    Raises:
        FormatError: No line has the known format, and see decide().
    """
    lines = voters(head)
    others = [line for line, record in zip(lines, records_of(known, lines), strict=True) if record is None]
    if not others:
        return None
    try:
        return decide(b"".join(line.rstrip(b"\r\n") + b"\n" for line in others))
    except FormatError:
        if len(others) == len(lines):
            raise
        return None


def is_foreign(format: Format, line: bytes, record: bytes | None) -> bool:
    """Return whether a line is a record of another format, not of this one with what a visitor wrote in quotes."""
    return bool(record) and (REST not in (record or b"") or not begins(format, line))


def begins(format: Format, line: bytes) -> bool:
    """Return whether a line is as the format has it up to the first quote."""
    reader = LogReader(format.programs, strict=1)
    found = reader.convert(line, new_buffer(reader.capacity_for(len(line))))
    return not found.invalid or found.invalid[0].offset >= line.find(b'"') >= 0


def shows(best: Candidate, head: bytes) -> bool:
    """Return whether the first lines suffice: not a few ones of which a format reads the start only."""
    return best.votes >= SHARE or not any(REST in (record or b"") for record in records_of(best.format, voters(head)))


# The fields that tell whether a preset has the members of JSON records, how many of them it may miss, and those that it
# may not miss if a member has one of their names.
MEMBERS = ("client", "time", "method", "target", "status", "bytes_sent", "duration", "user_agent")
MISSED = 1
ESSENTIAL = ("client", "status")


def check_members(format: Format, lines: list[bytes]) -> None:
    """Check that a preset of JSON finds what its lines have.

    Raises:
        FormatError: Members with other names are more of MEMBERS.

    >>> check_members(Format("nginx-json"), [b'{"uri":"/a","peer_ip":"192.0.2.1","code":200}'])
    Traceback (most recent call last):
    uricodec.logs.FormatError: nginx-json has no names for client, status of these records; begin with Format(map=...
    """
    if str(format) not in presets() or not isinstance(format._programs[0], Json):
        return
    lines = lines[:COMPARED]
    found = names_in([given(record) for record in records_of(format, lines)])
    if found.issuperset(MEMBERS):
        return
    from uricodec.logs._guess import field_of, guess

    suggestion = guess(lines)
    paths = {name.partition(".")[0]: path for name, path in ((suggestion and suggestion.map) or {}).items()}
    missing = [name for name in MEMBERS if name in paths and name not in found]
    named = [name for name in missing if name in ESSENTIAL and field_of(paths[name])[0] == name]
    if named or len(missing) > MISSED:
        raise FormatError(f"{format} has no names for {', '.join(missing)} of these records", suggestion)


def in_order(best: Candidate, lines: list[bytes]) -> Candidate:
    """Return a candidate that has referer and agent in the order of most lines.

    If the values, or the names in a line before them, show that the agent comes first, it is not the preset, but a
    format string.

    >>> line = b'192.0.2.1 - - [10/Oct/2024:13:55:36 +0000] "GET / HTTP/1.1" 200 5 "curl/8.0" "-"'
    >>> print(in_order(Candidate(Format("combined"), 1, 1, 0.0), [line]).format)
    log_format swapped escape=default '$client - $user [$time] ... "$user_agent" "$referer"$rest'
    """
    if best.format.is_json or not {"referer", "user_agent"} <= {*best.format.fields}:
        return best
    records = records_of(best.format, lines)
    named = any(not record and SWAPPED_NAMES.search(line) for line, record in zip(lines[:3], records, strict=False))
    if count_swapped(records) <= 0 and not named:
        return best
    section = built_in()[str(best.format)]
    escapes = next(name for name, escapes in NGINX_ESCAPES.items() if escapes == section.get("escapes", "backslash"))
    swapped = [
        Format(f"log_format swapped escape={escapes} '{SWAPPED.sub(lambda found: OTHER[found[0]], text)}'")
        for text in section.get("format", "").strip().splitlines()
    ]
    votes = {format: sum(record is not None for record in records_of(format, lines)) for format in swapped}
    most = max(swapped, key=votes.__getitem__, default=best.format)
    return best._replace(format=most) if votes.get(most) == best.votes else best


def count_swapped(records: Iterable[bytes | None]) -> int:
    """Return how many records more have an agent as referer, and none or a URL as agent, than the reverse."""
    count = 0
    for record in records:
        if found := IN_ORDER.search(record or b""):
            for one, other, sign in (found[1], found[2], 1), (found[2], found[1], -1):
                count += sign * bool(PRODUCT.match(one) and NO_AGENT.match(other))
    return count


# The variables of a preset that are exchanged.
SWAPPED = re.compile(r"\$(?:referer|user_agent)\b")
OTHER = {"$referer": "$user_agent", "$user_agent": "$referer"}


def two_formats(one: Candidate, other: Candidate) -> str:
    return f"{TWO_FORMATS}: {one.format} ({one.votes} of the first {one.lines}) and {other.format} ({other.votes})"


def choose(ranking: list[Candidate], head: bytes) -> Candidate:
    """Return the candidate with the most votes that reads what the others with as many read, or more.

    A format that reads more of the lines than another one needs fewer votes: visitors may have made some unreadable.

    Raises:
        FormatError: If two of those with the most votes read something else.
    """
    near = [each for each in ranking if each.votes and each.votes * CLOSE >= ranking[0].votes]
    near = [each for each in near if needs_of(str(each.format))] or near
    if any(each.votes < each.lines for each in near):
        lines = voters(head)
        readings = {each: [*map(reading, records_of(each.format, lines, strict=2))] for each in near}

        def is_part(one: Candidate, other: Candidate) -> bool:
            pairs = zip(lines, readings[one], readings[other], strict=True)
            return reads_less([(a, b or (False if begins(other.format, line) else None)) for line, a, b in pairs if a])

        near = [one for one in near if not any(is_part(one, other) for other in near)] or near
    return choose_equal([each for each in near if each.votes == near[0].votes], head)


def reads_less(pairs: list[tuple[Any, Any]]) -> bool:
    """Return whether a format reads less of its lines than another one.

    Args:
        pairs (list[tuple]): What both read of each line that the first one matches. The second is False of a line that
            it matches up to the first quote only, None if not even so far.

    The other one reads more of the lines that both match. Others have a rest, because a visitor wrote what the longer
    format does not match; or they are cut off.
    """
    both = [(one, other) for one, other in pairs if other]
    cut_off = sum(not other and (other is None or not one[1]) for one, other in pairs)
    return (
        cut_off <= min(CUT_OFF, max(len(both) - 1, 0))
        and (any(one != other for one, other in both) if both else bool(pairs))
        and all(one[0].items() <= other[0].items() and one[1] >= other[1] for one, other in both)
    )


def reading(record: bytes | None) -> tuple[dict[str, Any], bool] | None:
    """Return what a format reads besides what visitors write, and whether there is a rest; None without a record."""
    if not record:
        return None
    decided = VISITORS - {"forwarded_for"}  # whether it has a list is up to the format
    return {name: value for name, value in given(record).items() if name not in decided}, REST in record


def choose_equal(equal: list[Candidate], head: bytes) -> Candidate:
    """Return the one of candidates with equally many votes that reads what the others read, or more.

    Of several that read the same, it is the first one of the presets.
    """
    if len(equal) == 1:
        return equal[0]
    order = presets()
    equal = sorted(equal, key=lambda each: order.index(str(each.format)))
    lines = voters(head)[:COMPARED]
    records: list[list[bytes | None]] = []
    for strict in 2, 1:
        records = [records_of(each.format, lines, strict) for each in equal]
        if any(map(any, records)):
            break
    # To import json takes two milliseconds, and there is nothing to choose if they differ in missing fields alone.
    values = [[re.sub(NULL, b"", record or b"") for record in each] for each in records]
    if all(each == values[0] for each in values):
        return equal[0]
    readings = [list(map(given, each)) for each in records]
    best = max(range(len(equal)), key=lambda i: sum(len(record) for record in readings[i]))
    for i, reading in enumerate(readings):
        # Of a format that finds neither time nor status, where the best one does, only the names are alike.
        if {"time", "status"} <= names_in(readings[best]) and not {"time", "status"} & names_in(reading):
            continue
        for one, other in zip(readings[best], reading, strict=True):
            if bool(one) != bool(other):
                raise FormatError(two_formats(equal[best], equal[i]))
            names = [name for name in {**one, **other} if name in other and differ(name, one.get(name), other[name])]
            if sum(map(len, reading)) < sum(map(len, readings[best])):
                # One backslash of a visitor is read in two ways, by how the servers escape it.
                names = [name for name in names if name not in VISITORS]
            if names:
                name = names[0]
                raise FormatError(
                    f"the log may be {equal[best].format} or {equal[i].format}, which differ in {name}: "
                    f"{one.get(name)!r} or {other.get(name)!r}"
                )
    return equal[best]


def differ(name: str, one: Any, other: Any) -> bool:
    """Return whether two values of a field are not the same: times may be one moment.

    >>> differ("time", "2024-10-10T13:55:36+02:00", "2024-10-10T11:55:36.000Z"), differ("time", "13:55", "13:56")
    (False, True)
    """
    return one != other and (name != "time" or moment(one) is None or moment(one) != moment(other))


def moment(time: Any) -> Any:
    """Return a time of RFC 3339 as a datetime in UTC; None for others."""
    from datetime import datetime, timezone

    found = re.fullmatch(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d+)?(Z|[+-]\d\d:\d\d)?", time or "")
    try:
        parsed = datetime.fromisoformat(found[1] + (found[3] or "Z").replace("Z", "+00:00")) if found else None
    except ValueError:
        return None
    return parsed and (parsed.astimezone(timezone.utc), (found[2] or "").rstrip("0.") if found else "")


def names_in(records: list[dict[str, Any]]) -> set[str]:
    """Return the fields that any of the records has."""
    return {name for record in records for name in record}


def given(record: bytes | None) -> dict[str, Any]:
    """Return the standard fields of a record that have values."""
    from json import loads

    values = loads(record) if record else {}
    return {name: value for name, value in values.items() if value not in (None, "") and name != "extra"}


def others_of(lines: list[bytes]) -> list[Candidate]:
    """Return the formats of lines that the format of their log does not read, at most OTHERS.

    Each has as votes the number of lines that it would read and that those before it do not.
    """
    found: list[Candidate] = []
    while lines and len(found) < OTHERS:
        head = b"\n".join(lines)
        ranking = candidates(head)
        if not ranking:
            break
        best = ranking[0]
        with suppress(FormatError):  # it may be one of several that read the same number
            best = choose(ranking, head)
        rest = [line for line, record in zip(lines, records_of(best.format, lines), strict=True) if record is None]
        if len(rest) == len(lines):
            break
        found.append(best._replace(votes=len(lines) - len(rest), lines=len(lines)))
        lines = rest
    return found


def is_utf16(head: bytes) -> bool:
    return head[:2] in (b"\xff\xfe", b"\xfe\xff") or (
        b"\0" in head and any(head[:200]) and (not any(head[1:200:2]) or not any(head[:200:2]))
    )


def strange(head: bytes) -> str | None:
    """Return what a log is if it is not text in UTF-8 or the like; None if it may be."""
    if is_utf16(head):
        return "the log is UTF-16; convert it to UTF-8 first (iconv -f UTF-16 -t UTF-8)"
    if b"\0" in head:
        return "the log is binary"
    return None


def unknown(head: bytes) -> FormatError:
    """Return the error for a log of no known format: what its lines look like, and a format to begin with."""
    from uricodec.logs._guess import guess

    reason = strange(head)
    if reason:
        return FormatError(reason)
    lines = [line.removesuffix(b"\r") for line in head.removeprefix(b"\xef\xbb\xbf").split(b"\n")]
    number, line = next((at, line) for at, line in enumerate(lines, 1) if line.strip() and not line.startswith(b"#"))
    line = line.strip()
    if line.startswith(b"{") and line.endswith(b"},"):
        return FormatError("each JSON record has a comma after it; remove it (sed 's/,$//')")
    if line in (b"{", b"[") or line.startswith((b"[{", b"[ {")):
        return FormatError("the log is JSON, but not a record a line; jq -c '.[]' makes it so")
    suggestion = guess([line for line in lines if line.strip()])
    if line.startswith(b"{"):
        what = "JSON records that have the members of no known format"
        return FormatError(what if suggestion else f"{what}; say with a map which members are which fields", suggestion)
    found = nearest(line)
    if found is None:
        shown = line[:SHOWN].decode("utf-8", "backslashreplace")
        return FormatError(f"unknown log format, line {number}: {shown!r}", suggestion)
    format, diagnostic = found
    return FormatError(f"unknown log format; the nearest is {format} (line {number}: {diagnostic.message})", suggestion)


# How many signs of a format, besides spaces, a line must have to be like it: others read the words of any line.
SIGNS = 2


def nearest(line: bytes) -> tuple[Format, Diagnostic] | None:
    """Return the format that reads most of a line, and why it does not read all; None if none reads a part with signs.

    >>> nearest(b'192.0.2.1 - - [10/Oct/2024:13:55:36 +0000] "GET / HTTP/1.1" 200 5 0.1 "-" "x"')[1].offset
    69
    >>> nearest(b"once upon a time")
    """
    format = candidates(line, every=True)[0].format
    diagnostic = format.explain(line)
    for program in format._programs if diagnostic else ():
        at = signs = 0
        for step in program.steps if isinstance(program, Text) else ():
            if isinstance(step, bytes) and diagnostic is not None:
                found = line.find(step, at, diagnostic.offset + 1)
                if found < 0:
                    break
                at, signs = found + len(step), signs + bool(step.strip())
        if signs >= SIGNS and diagnostic is not None:
            return format, diagnostic
    return None
