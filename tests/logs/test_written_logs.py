"""Ten visits as each product logs them, by name, by auto and by strings of configuration files, field by field."""

import random
import re
from datetime import datetime

import pytest
from reference.log_writers import FAMILIES, TEN, WRITERS, encoded, tomcat, written
from support.tables import each_row

from uricodec import logs
from uricodec.logs._detection import decide

JUDGED = ["client", "user", "time", "method", "target", "path", "query", "protocol", "status", "bytes_sent", "referer"]
JUDGED += ["user_agent", "duration", "forwarded_for", "vhost"]

# What is read otherwise: the visit and the field, or the line that is no record.
LEFT = {
    # Older versions escape nothing, and the log does not say which one wrote it.
    ("traefik 3.7", "by name"): {(4, "user_agent")},
    ("traefik 3.7", "auto"): {(4, "user_agent")},
    # \u00c3 is a byte to Tomcat, a character to Go.
    "Tomcat": {(10, "referer"), (10, "user_agent")},
    **{("atlassian", how): {(10, "referer"), (10, "user_agent")} for how in ("by name", "auto")},
    **{("atlassian Confluence", how): {(10, "user_agent")} for how in ("by name", "auto")},
}
# A list of one address is the client of combined.
ONLY_BY_NAME = {"combined-forwarded instead of the client"}


def differences(writer, format, visits=TEN, before=b""):
    """The fields of the lines that are read otherwise than they were written, and lines that are no records."""
    rows = [written(writer, visit) for visit in visits]
    log = b"".join(before + line + b"\n" for line in [*writer.head.encode().splitlines(), *(line for line, _ in rows)])
    records = iter(list(logs.parse(log, format, invalid=(invalid := []))))
    head = writer.head.count("\n")
    codes = {line.line - head: line.code for line in invalid}
    found = {}
    for number, (line, fields) in enumerate(rows, 1):
        if number in codes:
            found[number, codes[number]] = line
            continue
        record = next(records)
        # What is not in a line is null in its record. A target may be made of a path and a query.
        unknown = dict.fromkeys(name for name in JUDGED if name != "target" or "path" not in fields)
        for name, value in {**unknown, **fields}.items():
            read = getattr(record, name)
            if name == "time" and read:  # digits and Z that Python 3.10 does not know
                read = datetime.fromisoformat(re.sub(r"(\.\d{6})\d+", r"\1", read).replace("Z", "+00:00"))
            if read != value:
                found[number, name] = read, value, line
    assert next(records, None) is None
    return found


def is_unclear(writer):
    """Whether a line does not say where an agent ends: a backslash is not escaped, where it escapes a quote."""
    return isinstance(writer.template, str) and writer.escape(b'"\\') in (b'"\\', b'\\"\\')


@each_row("name", WRITERS)
@pytest.mark.parametrize("how", ["by name", "auto"])
def test_lines_of_products(name, how):
    if how == "by name" or name not in ONLY_BY_NAME:
        found = differences(WRITERS[name], name.split()[0] if how == "by name" else "auto")
        assert {*found} == LEFT.get((name, how), set()), found


MOMENT = "2025-01-01T12:00:00.123456789Z"
# What programs write before lines, for which no server is known to be used.
UNUSUAL = {"docker logs -t": {"nlb", "cloudfront"}, "stern": {"bitbucket"}, "cf logs": {"apigateway-clf"}}
UNUSUAL |= {"syslog": set()}


@pytest.mark.slow
@each_row("name", [name for name in WRITERS if name not in ONLY_BY_NAME])
@each_row(
    ("program", "before"),
    [
        ("docker logs -t", f"{MOMENT} "),
        ("stern", "web-7c5ddbdf54-x2x9z nginx "),
        ("cf logs", f"   {MOMENT} [APP/PROC/WEB/0] OUT "),
        ("syslog", "<133>Oct 10 13:55:36 web1 nginx "),
    ],
)
def test_nothing_is_misread_after_words(name, program, before):
    """A log with words that may be its own is read, or refused, or a field is missing, but no field is another one."""
    try:
        found = differences(WRITERS[name], "auto", before=before.encode())
    except logs.FormatError:
        return
    moment = datetime.fromisoformat(f"{MOMENT[:26]}+00:00")  # of lines without a time
    for (number, field), (read, *_) in ((key, value) for key, value in found.items() if isinstance(value, tuple)):
        usual = (number, field) in LEFT.get((name, "auto"), set()) or name in UNUSUAL[program]
        assert usual or read is None or read == moment, found


TRAPS = [
    b'a "quoted" agent',
    b"back\\slash",
    b"\x16\x03\x01",
    b"[x] {y} | z",
    b"%41 #22",
    b'" "',
    b'x" 1 "y',
    b'"',
    b"\\",
]


# Tomcat's \u0016 is a byte, but would be a character to others: it stays as it is.
@each_row("name", [name for name in WRITERS if not is_unclear(WRITERS[name]) and WRITERS[name].escape is not tomcat])
def test_texts_of_visitors_are_read_back(name):
    found = differences(
        WRITERS[name], name.split()[0], [TEN[0], *(TEN[0]._replace(agent=trap, referer=trap) for trap in TRAPS)]
    )
    assert not found


# What visitors send: characters and parts of lines.
PIECES = [
    *(
        b'"', b"\\", b"'", b" ", b"[", b"]", b"{", b"}", b",", b":", b"-", b"/", b"?", b"=", b"&", b"0", b"\t", b"#",
        b"%22",
    ),
    *(b'" "', b'" 200 5 "', b'" 404 -'),
    *(b'" 412 0.023 [x] [] 10.1.2.3:8080 5316 0.022 200 6f', b'" 1 "w@docker" "http://192.0.2.2:80" 12ms'),
    *(b"\x16\x03\x01", b"\0"),
    *(b"192.0.2.1 - - [10/Oct/2024:13:55:36 +0000]", b'{"a":1}', b'","status":200,"request_uri":"/"', b"#Fields: date"),
    *(b"\xff\xfe", b"GET / HTTP/1.1", b"x" * 300, b"a | ", b"[pod/a/b] ", b'{"message":"', b'","message":"', b"#22"),
]  # fmt: skip


def strange(chance, writer, visit):
    """A visit with other texts in fields that visitors write. A server that logs what is no request logs any target."""
    for field in chance.sample(["target", "referer", "agent", "user"], chance.randrange(1, 5)):
        text = b"".join(chance.choice(PIECES) for _ in range(chance.randrange(5)))
        if field == "target":
            text = b"/" + (text if writer.invalid is not None and not is_unclear(writer) else encoded(text))
        visit = visit._replace(**{field: encoded(text).decode() or None if field == "user" else text})
    return visit


@pytest.mark.slow
@each_row("name", logs.presets())
def test_a_strange_line_never_changes_the_format(name):
    """Nor do several of them, as long as some are as the server writes them usually."""
    writer, chance = WRITERS[name], random.Random(name)
    for _ in range(14):
        visits = [*TEN] * chance.randrange(1, 3)
        for _ in range(chance.choice([1, 1, 1, 2, len(visits) // 3])):
            at = chance.randrange(len(visits))
            visits[at] = strange(chance, writer, visits[at])
        lines = [*writer.head.encode().splitlines(), *(written(writer, visit)[0] for visit in visits)]
        before = chance.choice([b"", b"", b"web-1  | ", b"[pod/web-7c5d/nginx] ", b"Jan 31 12:00:00 web nginx[1]: "])
        if name == "elb":  # with a word before the time it is alb
            before = b""
        head = b"".join(before + line + b"\n" for line in lines)
        assert str(decide(head).format) == name, head


@each_row("name", FAMILIES)
def test_lines_by_strings(name):
    format, writer = FAMILIES[name]
    found = differences(writer, logs.Format(name, map=format) if isinstance(format, dict) else format)
    assert {*found} == LEFT.get(name, set()), found


def test_each_preset_has_a_writer():
    assert {name.split()[0] for name in WRITERS} == {*logs.presets()}
