"""The compiled reader of log lines against tests/reference/log_formats.py: samples of the presets, random formats,
mappings of JSON members, what other programs write before a line, and buffers between guard pages.
"""

import csv
import io
import json
import os
import random
import re
from pathlib import Path

import pytest
from hypothesis import Phase, assume, given, settings
from hypothesis import strategies as st
from reference import logs as texts
from reference.log_formats import prefixes_of
from reference.log_strategies import HOSTILE, cases, pools, shuffled
from support import log_programs as naive
from support.marks import few_examples
from support.samples import EXPECTED
from support.tables import each_row

from uricodec import logs
from uricodec._codec._charsets import Charset
from uricodec.logs import Format, _formats
from uricodec.logs._records import NAMES, LogReader

ROOT = Path(__file__).parents[2]
SOAK = int(os.environ.get("URICODEC_SOAK", "20"))
PRESETS = logs.presets()
SAMPLES = {name: (ROOT / f"examples/logs/{name}.log").read_bytes().splitlines() for name in PRESETS}


def read(line, format, reader=None, **options):
    """The record of a line by the compiled reader, or Invalid, or DIRECTIVE."""
    reader = reader or LogReader(format.programs, **compiled(options))
    records = bytearray(reader.capacity_for(len(line)))
    found = reader.convert(line, records)
    assert (found.read, found.lines) == (len(line), 1 if line else 0)
    if found.records:
        harmless(records[: found.written].decode())
        return json.loads(records[: found.written])
    [invalid] = found.invalid or [None]
    return naive.Invalid(invalid.code, invalid.offset) if invalid else naive.DIRECTIVE


def public(options):
    """The arguments of the functions of logs for options of the reference."""
    replace = {"replace_invalid_utf8": options["errors"] == "replace"} if "errors" in options else {}
    return {name: value for name, value in options.items() if name != "errors"} | replace


def compiled(options):
    """The arguments of LogReader for options of the reference."""
    charset = {"encoding": Charset(options["encoding"])} if "encoding" in options else {}
    return public(options) | charset


def harmless(text):
    """No character but the ends of records that anything could take for the end of a line, or obey."""
    assert not re.search("[\0-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029]", text)


def expected(line, format, state=None, **options):
    record = naive.record(line, format, state, **options)
    return naive.shown(record, format) if isinstance(record, dict) else record


def agree(line, format, text, **options):
    """Compare both readers. What is no JSON by RFC 8259 is left out: the compiled reader checks what it needs only."""
    found, wanted = read(line, format, **options), expected(line, text, **options)
    if isinstance(format._programs[0], _formats.Json | _formats.W3c):
        if isinstance(wanted, naive.Invalid) and wanted.code == "json":
            return
        found, wanted = ("invalid" if isinstance(each, naive.Invalid) else each for each in (found, wanted))
    assert found == wanted
    if isinstance(wanted, naive.Invalid) and not line.endswith(b"\r"):  # to explain() that is the end of the line
        assert format.explain(line)[:2] == wanted


# --- presets ----------------------------------------------------------------------------------------------------------


@each_row("name", PRESETS)
def test_samples_agree_with_the_reference(name):
    state, found = {}, []
    reader = LogReader(Format(name).programs)
    for line in SAMPLES[name]:
        found.append(read(line, None, reader))
        assert found[-1] == expected(line, name, state)
    assert [record for record in found if record is not naive.DIRECTIVE] == list(map(json.loads, EXPECTED[name]))


OPTIONS = {"mask": ["q"], "flags": True, "params": ["q", "page"]}
BYTES = b"\"' \\-[]{}():,;/?&=%|0a5\t\r\xff\xc3x#.+"


@pytest.mark.slow
@each_row("name", PRESETS)
def test_prefixes_and_changes_of_samples(name):
    """Lines that were cut off, and lines with one byte more, less, or another one."""
    format, chance = Format(name), random.Random(name)
    for line in SAMPLES[name]:
        for end in range(1, len(line), 17):
            agree(line[:end], format, name, **OPTIONS)
        for _ in range(10):
            at, change = chance.randrange(len(line)), chance.choice(["more", "less", "other"])
            octets = b"" if change == "less" else bytes([chance.choice(BYTES)])
            agree(line[:at] + octets + line[at + (change != "more") :], format, name, **OPTIONS)


# --- what other programs write before a line --------------------------------------------------------------------------

TIME = "2025-01-01T12:00:00.123456789Z"
BEFORE = {
    "RFC 3164": b"<134>Jan  1 12:00:00 web-1 nginx: ",
    "RFC 3164, in a file": b"Jan 31 12:00:00 web-1.example.com haproxy[4711]: ",
    "RFC 3164 with a time of RFC 3339": f"{TIME[:23]}+01:00 web-1 nginx[1]: ".encode(),
    "RFC 5424": f"<134>1 {TIME} web-1 nginx - - - ".encode(),
    "RFC 5424 with data": f'<134>1 {TIME} web-1 nginx 1 access [a@1 b="\\]\\"]"][c] \ufeff'.encode(),
    "RFC 5424 of Heroku's drains": f"<158>1 {TIME} host heroku router - ".encode(),
    "CRI": f"{TIME} stdout F ".encode(),
    "docker compose logs": b"web-1    | ",
    "docker compose logs --timestamps": f"web_1.a | {TIME} ".encode(),
    "kubectl logs --prefix": b"[pod/web-7c5ddbdf54-x2x/nginx] ",
    "RFC 3164 without a host": b"<134>Aug 15 16:15:18 haproxy[41476]: ",
    "journalctl -o short-full": b"Fri 2024-05-03 10:11:12 CEST web1 nginx[1234]: ",
    "pm2": b"0|web-app  | ",
    "Docker": b"",
    "Filebeat": b"",
    "journald": b"",
    "journald, numbers": b"",
    "Loki": b"",
    "Splunk": b"",
}


def with_prefix(kind, line):
    if BEFORE[kind]:
        return BEFORE[kind] + line
    text = line.decode("utf-8", "surrogateescape")
    objects = {
        "Docker": {"log": text + "\n", "stream": "stdout", "time": TIME},
        "Filebeat": {
            "@timestamp": TIME,
            "log": {"file": {"path": "/a[b"}, "offset": 1},
            "message": text,
            "tags": ["a"],
        },
        "journald": {"_HOSTNAME": "web-1", "PRIORITY": "6", "MESSAGE": text},
        "Loki": {"labels": {"app": "web"}, "line": text, "timestamp": TIME},
        "Splunk": {"preview": False, "offset": 0, "result": {"_raw": text, "host": "web1"}},
        "journald, numbers": {"_PID": "1", "x": None, "MESSAGE": list(line), "_UID": "33"},
    }
    return json.dumps(objects[kind], ensure_ascii=False, separators=(",", ":")).encode()


@pytest.mark.slow
@each_row("name", PRESETS)
@each_row("kind", BEFORE)
def test_prefixes(name, kind):
    state, found = {}, []
    reader = LogReader(Format(name).programs)
    if kind == "RFC 5424 of Heroku's drains" and any(line[:1] in {b"[", b"-"} for line in SAMPLES[name]):
        return  # it would be STRUCTURED-DATA
    for line in SAMPLES[name]:
        whole = with_prefix(kind, re.sub(rb"^<\d+>.*?: ", b"", line))  # HAProxy's have one already
        found.append(read(whole, None, reader))
        assert found[-1] == expected(whole, name, state)
    records = [record for record in found if record is not naive.DIRECTIVE]
    wanted = list(map(json.loads, EXPECTED[name]))
    timed = all(record["time"] for record in wanted)  # otherwise records have the time of what is before them
    for record, alone in zip(records, wanted, strict=True):
        assert record == (alone if timed else alone | {"time": record["time"]})


@pytest.mark.slow
@each_row("kind", BEFORE)
def test_cut_off_and_changed_prefixes(kind):
    line, format, chance = SAMPLES["combined"][0], Format("combined"), random.Random(kind)
    whole = with_prefix(kind, line)
    for end in range(1, len(whole), 5):
        agree(whole[:end], format, "combined")
        agree(whole[end:], format, "combined")
    for _ in range(60):
        at = chance.randrange(len(BEFORE[kind]) or len(whole))
        agree(whole[:at] + bytes([chance.choice(BYTES)]) + whole[at + chance.randrange(2) :], format, "combined")


def test_ends_of_lines_in_docker():
    line = b'192.0.2.1 - - [01/Jan/2025:12:00:00 +0000] "GET / HTTP/1.1" 200 5'
    docker = b'{"log":"%b\\r\\n"}' % line.replace(b'"', b'\\"')
    assert read(docker, Format("common")) == read(line, Format("common"))
    assert read(b'\xef\xbb\xbf{"log":"\\n"}', Format("common"))[:2] == ("empty", 11)


@each_row(
    ("line", "found"),
    [
        (b'{"message":"a","MESSAGE":"%b"}', "invalid"),  # the first one
        (b'{"messages":"%b","log":{"message":"%b"}}', "invalid"),
        (b'{"log":{"a":"]"},"x":[{"y":"}"}],"message":"%b"}', "record"),
        (b'{"result":{"a":{"b":1} },"message":"%b"}', "record"),
        (b'{"result": {"result":{"a":[]}} , "log":"%b"}', "record"),
        (b'{"result":{},"log":"%b"}', "record"),
        (b'{"result":{"a":1}}}}', "invalid"),
        (b' { "n" : -1.5e+3 , "message" : "%b\\r\\n" }', "record"),
        (b'{"message":"Jan 31 12:00:00 web nginx[1]: %b"}', "record"),
        (b'{"MESSAGE":[ 49 , 48 ],"log":"%b"}', "invalid"),
        (b'{"MESSAGE":[300],"log":"%b"}', "record"),
        (b'{"MESSAGE":[1,"a"],"log":"%b"}', "record"),
        (b'{"x":[1,"log":"%b"}', "invalid"),
        (b'{"message":"","log":"%b"}', "invalid"),
        (b'{"message":"%b', "invalid"),
        (b'{"a":TRUE,"message":"%b"}', "invalid"),
    ],
)
def test_the_text_of_an_object(line, found):
    text = rb"192.0.2.1 - - [01/Jan/2025:12:00:00 +0000] \"GET / HTTP/1.1\" 200 5"
    line = line.replace(b"%b", text)
    record = read(line, Format("common"))
    assert record == expected(line, "common")
    assert found == ("invalid" if isinstance(record, naive.Invalid) else "record")


def test_an_object_that_is_a_record_is_not_unwrapped():
    """Its message may be what a visitor wrote."""
    inner = json.dumps({"request_uri": "/inner", "status": 500})
    line = json.dumps({"request_uri": "/outer", "status": 200, "message": inner}).encode()
    for format in Format("nginx-json"), None:
        programs = [program for name in ("squid", "nginx-json") for program in Format(name).programs]
        assert read(line, format, None if format else LogReader(programs))["path"] == "/outer"
    wrapped = json.dumps({"@timestamp": TIME, "message": inner}).encode()
    assert read(wrapped, Format("nginx-json"))["path"] == "/inner"
    assert read(b'{"message":"x","level":"info"}', Format("ecs")) == ("request", 0)


@each_row(
    ("written", "duration"),
    [
        (b"1e-3", 0.001),
        (b"2.5E+1", 25.0),
        (b"2.5E1", 25.0),
        (b"1e41", None),
        (b"1e-42", None),
        (b"1e400", None),
        (b"1e+", None),
        (b"1" * 40, float("1" * 40)),
        (b"1" * 41, None),
    ],
)
def test_durations_with_exponents(written, duration):
    found = read(b'{"t":"/","d":%b}' % written, Format(map={"target": "t", "duration.s": "d"}))
    assert found[:2] == ("duration", 13) if duration is None else found["duration"] == duration


def test_fields_of_their_own_at_most():
    for count in 128, 129:
        names = [f"a{number}" for number in range(count)]
        forms = (
            Format(" ".join(f'"%{{{name}}}i"' for name in names)),
            Format(map={f"extra.{name}": name for name in names}),
        )
        for format in forms:
            if count == 128:
                assert format.programs
            else:
                with pytest.raises(ValueError, match="at most 128 fields of its own"):
                    format.programs  # noqa: B018


def test_formats_that_begin_alike():
    """What one has read of a line, the next does not read again: but for fields of other names."""
    formats = '%s "%{a}i" "%{x}i" %h', '%s "%{b}i" "%{x}i"', "nginx-json"
    reader = LogReader([program for format in formats for program in Format(format).programs])
    lines = b'200 "1" "x" h', b'200 "2" "x"', b'{"status":"200","request_uri":"/"}'
    found = [read(line, None, reader) for line in lines]
    assert [(record["status"], record["extra"]) for record in found] == [
        (200, {"a": "1", "x": "x"}),
        (200, {"b": "2", "x": "x"}),
        (200, None),
    ]


def test_a_time_does_not_end_at_the_space_before_its_zone():
    record = read(b"2015-09-08 13:41:54 -0911 192.0.2.1", Format("%{%Y-%m-%d %H:%M:%S %z}t %h"))
    assert (record["time"], record["client"]) == ("2015-09-08T13:41:54-09:11", "192.0.2.1")


def test_a_line_that_has_what_could_be_a_prefix():
    """It is skipped only if the line is a record without it."""
    line = b"Jan 01 12:00:00 web nginx: 192.0.2.1"
    assert read(line, Format("%{a b}e: %h"))["extra"] == {"a b": "Jan 01 12:00:00 web nginx"}
    assert read(line, Format("%h"))["client"] == "192.0.2.1"


@pytest.mark.parametrize(
    ("written", "time"),
    [
        ("2024-10-10 13:55:36", "2024-10-10T13:55:36"),
        ("2024-10-10 13:55:36.25", "2024-10-10T13:55:36.25"),
        ("2024-10-10 13:55:36 +0230", "2024-10-10T13:55:36+02:30"),
        ("2024-10-10T13:55:36 +0230", "2024-10-10T13:55:36 +0230"),
        ("10/Oct/2024:13:55:36 -0200", "2024-10-10T13:55:36-02:00"),
        ("10 Oct 2024 13:55:36", "2024-10-10T13:55:36"),
        ("4-Oct-2024 13:55:36 +0000", "2024-10-04T13:55:36+00:00"),
        ("10.10.2024 13:55:36,25", "2024-10-10T13:55:36.25"),
        ("Fri, 4 Oct 2024 13:55:36 GMT", "2024-10-04T13:55:36Z"),
        ("Thu, 10 Oct 2024 13:55:36", "2024-10-10T13:55:36"),
    ],
)
def test_a_time_with_spaces(written, time):
    line = f"{written} 200".encode()
    assert read(line, Format("%{%F %T}t %s"))["time"] == time
    assert expected(line, "%{%F %T}t %s")["time"] == time


# --- random formats ---------------------------------------------------------------------------------------------------

options = st.fixed_dictionaries(
    {},
    optional={
        "mask": st.sampled_from([["token"], ["a", "é"]]),
        "flags": st.booleans(),
        "errors": st.sampled_from(["keep", "replace"]),
        "encoding": st.sampled_from(["latin-1", "shift_jis", "cp1251"]),
        "client": st.sampled_from(["peer", "forwarded"]),
        "params": st.sampled_from([["a"], ["q", "é"]]),
    },
)


class TestOnEveryTier:
    @few_examples
    @given(cases())
    def test_lines_of_servers_are_read_back(self, tier, case):
        record = read(case.line, Format(case.format))
        assert record == naive.shown(case.record, case.format) == expected(case.line, case.format)

    @few_examples
    @given(cases(), options)
    def test_options(self, tier, case, options):
        assert read(case.line, Format(case.format), **options) == expected(case.line, case.format, **options)

    @pytest.mark.slow
    @given(cases(), st.data())
    def test_lines_that_were_changed(self, tier, case, data):
        line, at = case.line, data.draw(st.integers(0, len(case.line)))
        octets = data.draw(st.sampled_from([b"", *HOSTILE]))
        line = line[:at] + octets.replace(b"\n", b" ") + line[at + data.draw(st.integers(0, 2)) :]
        if line:
            agree(line, Format(case.format), case.format)

    @pytest.mark.slow
    @given(cases(), options)
    def test_csv(self, case, options):
        reader = LogReader(Format(case.format).programs, "csv", **compiled(options))
        table = bytearray(reader.capacity_for(len(case.line)))
        found = reader.convert(case.line, table)
        harmless(table[: found.written].decode())
        [row] = csv.reader(io.StringIO(table[: found.written].decode()))
        assert row_of(row, options) == cells_of(naive.record(case.line, case.format, **options))

    @pytest.mark.interop
    @given(cases(), options)
    def test_columns(self, tier, case, options):
        pytest.importorskip("pyarrow")
        assume(not case.line.startswith(b"\0"))  # NUL bytes before a line are skipped before it is read
        table = logs.to_arrow(case.line, Format(case.format), **public(options)).read_all()
        table.validate(full=True)
        assert texts.rows_of(table) == texts.in_arrow([naive.record(case.line, case.format, **options)])


def row_of(row, options):
    names = [*NAMES, *options.get("params", ()), *(["flags"] if options.get("flags") else [])]
    return [json.loads(cell) if name in texts.IN_JSON and cell else cell for name, cell in zip(names, row, strict=True)]


def cells_of(record):
    return [texts.cell(name, value) for name, value in record.items()]


@pytest.mark.slow
@pytest.mark.soak
def test_many_formats_and_records():
    """URICODEC_SOAK=2000: 100 000 pairs of a format and a record."""
    chance = random.Random(1)

    @settings(max_examples=SOAK, phases=[Phase.generate], database=None)
    @given(pools())
    def check(pool):
        for _ in range(50):
            case = shuffled(chance, pool)
            # A first value such as "a|" is what docker compose writes before a line.
            if case.line and not next(prefixes_of(case.line), None):
                record = read(case.line, Format(case.format))
                assert record == naive.shown(case.record, case.format) == expected(case.line, case.format), case

    check()


# --- mappings of JSON members -----------------------------------------------------------------------------------------

names = st.sampled_from(["a", "b", "c", "é", 'q"', "http", "a\tb"])
values = (
    st.sampled_from(
        [
            None,
            True,
            200,
            0,
            -1,
            1.5,
            "200",
            "-",
            "",
            [],
            ["x", 1],
            [1, "x"],
            {},
            "192.0.2.1:80",
            "GET /?a=b",
            "a\\",
            '\\"',
        ]
    )
    | st.sampled_from([f"/{each.decode('utf-8', 'replace')}?a=%41" for each in HOSTILE])
    | st.text(max_size=5)
)
records = st.recursive(values, lambda inner: st.dictionaries(names, inner, max_size=4), max_leaves=12).filter(
    lambda record: isinstance(record, dict)
)
FIELDS = ["client", "client.endpoint", "user", "time", "request", "method", "target", "path", "path_decoded", "query"]
FIELDS += [
    "protocol", "status", "bytes_sent", "referer", "user_agent", "vhost", "duration.ms", "forwarded_for", "extra.x",
]  # fmt: skip


@st.composite
def mappings(draw, record):
    """Fields, and paths of which most lead to something."""
    paths = [".".join(path) for path in [*paths_of(record), ("a", "b"), ("z",)]]
    some = draw(st.lists(st.sampled_from(paths), min_size=1, max_size=8, unique=True))
    fields = draw(st.lists(st.sampled_from(FIELDS), min_size=len(some), max_size=len(some), unique=True))
    if len(some) > len(fields) / 2 and draw(st.booleans()):
        fields, some = fields[:-1] or fields, [*some[:-2], " | ".join(some[-2:])]
    found = dict(zip(fields, some, strict=True)) if len(fields) == len(some) else {fields[0]: some[0]}
    if "path" in found:
        found.pop("path_decoded", None)
    return found


def paths_of(value, path=()):
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from paths_of(inner, (*path, name))
    else:
        yield path


def flattened(value, draw):
    """The same with some names joined by dots, as loggers write them."""
    if not isinstance(value, dict):
        return value
    result = {}
    for name, inner in value.items():
        inner = flattened(inner, draw)  # noqa: PLW2901
        if isinstance(inner, dict) and draw(st.booleans()):
            result |= {f"{name}.{key}": each for key, each in inner.items()}
        else:
            result[name] = inner
    return result


@pytest.mark.slow
@given(records, st.data(), options)
def test_mappings(record, data, options):
    mapping = data.draw(mappings(record))
    written = json.dumps(
        flattened(record, data.draw),
        ensure_ascii=data.draw(st.booleans()),
        separators=data.draw(st.sampled_from([(",", ":"), (", ", ": "), (" ,", " :\t")])),
    )
    line = written.encode("utf-8", "surrogatepass")
    found, wanted = read(line, Format(map=mapping), **options), expected(line, mapping, **options)
    assert isinstance(found, naive.Invalid) == isinstance(wanted, naive.Invalid)
    assert found == wanted or isinstance(found, naive.Invalid)


pairs = st.fixed_dictionaries(
    {},
    optional={
        "more": values,
        "name": st.sampled_from(["Host", "hOST", "x", "Ho", "é", "Host "]) | values,
        "value": values,
    },
)


@given(st.lists(pairs | values, max_size=4), st.booleans(), options)
def test_lists_by_name(items, ascii_only, options):
    mapping = {"vhost": "h[].Host", "extra.x": "h[].X | h[].Ho", "status": "s"}
    line = json.dumps({"h": items, "s": 200}, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
    assert read(line, Format(map=mapping), **options) == expected(line, mapping, **options)


cells = st.sampled_from(
    ["", "-", "192.0.2.1", "::1", "GET", "/a?b=c", "200", "1728568536123456", '"', 'a,"b', "é", "x y"]
)


@given(st.lists(cells, min_size=17, max_size=17), st.booleans(), st.booleans(), st.booleans(), options)
def test_lines_of_csv(row, named, quoted, reverse, options):
    """With and without the names of the columns, which may be other ones."""
    [names, *_] = csv.reader([SAMPLES["gcs"][0].decode()])
    file = io.StringIO()
    writer = csv.writer(file, quoting=csv.QUOTE_ALL if quoted else csv.QUOTE_MINIMAL, lineterminator="")
    writer.writerow(row)
    if reverse and named:
        names[1:] = names[:0:-1]
    reader, state = LogReader(Format("gcs").programs, **compiled(options)), {}
    if named:
        header = ",".join(f'"{name}"' for name in names).encode()
        assert read(header, None, reader) is expected(header, "gcs", state) is naive.DIRECTIVE
    found, wanted = (
        read(file.getvalue().encode(), None, reader),
        expected(file.getvalue().encode(), "gcs", state, **options),
    )
    assert isinstance(found, naive.Invalid) == isinstance(wanted, naive.Invalid)
    assert found == wanted or isinstance(found, naive.Invalid)


@pytest.mark.parametrize("name", ["caddy", "nginx-json", "gcp-lb", "ecs", "traefik-json"])
@few_examples
@given(records, st.data())
def test_other_members(name, record, data):
    """Those that a preset does not map are in `extra` if they are texts, numbers or words of the object itself."""
    whole = json.loads(next(line for line in SAMPLES[name]))
    line = json.dumps({**record, **whole}, ensure_ascii=data.draw(st.booleans())).encode("utf-8", "surrogatepass")
    agree(line, Format(name), name)


# --- guard pages ------------------------------------------------------------------------------------------------------


def hostile_lines():
    """Lines of units that grow most."""
    units = b'a& & a=& \x01 \\x01 \\"& \\\\ \xff % %00 \xc2\x80 \xe2\x80\xa8 =& , \\u0001'
    for unit in units.split(b" "):
        target = (unit * 500)[:700].removesuffix(b"\\")
        yield b'- - - [-] "GET /?%b HTTP/1.1" 200 5' % target
        yield b'h2 - - - - - - - - - - - "GET /?%b HTTP/1.1" "-"' % target
        yield b'{"request_uri":"/?%b","x%b":"%b"}' % (target, unit, target)
        yield b"2025-01-01 12:00:00 - GET / ?%b - - - - - 200 - - -" % target.replace(b" ", b"")
        yield b"\t".join([b"2025-01-01", b"12:00:00", *[b"-"] * 3, b"GET", b"-", b"/", b"200", b"-", b"-", target])
    yield b'=1 - =1 [=1] "=1" 200 5 "=1" "=1"'


NEIGHBOURS = [b'"' * 64, b"\\" * 64, b" " * 64, b"]" * 64, b"%41" * 22, b"0" * 64, b'{"a":' * 16]
EXTENDED = '%h %{X-Forwarded-For}i [%t] "%r" %q %D %{a"b}e "%{c}C" %U %b'


@each_row("name", [*PRESETS, EXTENDED])
def test_between_guard_pages(fences, name):
    """Nothing is read past the line, and exactly the capacity that is asked for is enough."""
    Fence = type(fences[0])
    source, target = fences[0], Fence(1 << 18)
    format, around = Format(name), iter(NEIGHBOURS * 1000)
    lines = [*hostile_lines(), *SAMPLES.get(name, ()), *(with_prefix(kind, SAMPLES["alb"][0]) for kind in BEFORE)]
    for to in "jsonl", "csv":
        for replace in False, True:
            reader = LogReader(format.programs, to, mask=["a"], flags=True, replace_invalid_utf8=replace, csv_safe=True)
            for line in lines:
                capacity = bytes(reader.capacity_for(len(line)))
                near = next(around)
                for place in source.at_start(line, after=near), source.at_end(line, before=near):
                    reader.begin()
                    found = reader.convert(place, target.at_end(capacity))
                    assert found.read == len(line)


@pytest.mark.slow
@each_row("name", [*PRESETS, EXTENDED])
def test_every_end_of_a_line_between_guard_pages(fences, name):
    """Each prefix of a line at the end of what may be read."""
    reader = LogReader(Format(name).programs)
    for line in [*SAMPLES.get(name, ()), *(with_prefix(kind, SAMPLES["caddy"][0]) for kind in BEFORE)]:
        capacity = bytearray(reader.capacity_for(len(line)))
        for end in range(len(line)):
            reader.convert(fences[0].at_end(line[:end]), capacity)


@each_row(
    ("format", "before"),
    [
        ("lograge", b'I, [2024-"0-10T13:55:37.000001 #1234]  INFO -- : '),
        ("lograge", b'2024-10-1"T13:55:37Z stdout F '),
        ("lograge", b'2024-10-10 13:55:37 +0"00 nginx.access: '),
        ("caddy", b'2024/10/10 13:5"5:36.500\tINFO\thttp.log.access.log0\thandled request\t'),
    ],
)
def test_times_before_lines_do_not_break_out(format, before):
    """Nobody checks what stands in the place of digits there: it would be written as it is."""
    line = SAMPLES["lograge"][0] if format == "lograge" else SAMPLES["caddy"][0]
    for record in logs.parse(before + line + b"\n", format, invalid=[]):
        assert record.time is None or '"' not in record.time
    agree(before + line, Format(format), format)
