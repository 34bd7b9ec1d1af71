"""uricodec.logs.Format: what it is equal to, its fields, and why a line does not match it."""

import contextlib
import copy
import json
import pickle
import random
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference.log_strategies import HOSTILE, cases
from support.fast_logs import check
from support.tables import each_row

from uricodec import logs
from uricodec._base.diagnostics import Diagnostic
from uricodec.logs import Format, _formats
from uricodec.logs._format import format_of
from uricodec.logs._records import LogReader

ROOT = Path(__file__).parents[2]
LINE = b'192.0.2.1 - frank [10/Oct/2000:13:55:36 -0700] "GET /a?b HTTP/1.0" 200 2326 "https://e.example/" "curl/8"'
MAP = {"target": "request.uri", "status": "status | code", "extra.x": "x"}


@each_row("format", [*map(Format, logs.presets()), Format('%h "%r" %>s'), Format(map=MAP)])
def test_copies(format):
    again = pickle.loads(pickle.dumps(format))
    assert again == format == eval(repr(format), {"Format": Format})
    assert hash(again) == hash(format) and again.fields == format.fields
    assert {format: 1}[again] == 1


def test_other_formats_differ():
    formats = [Format("common"), Format("combined"), Format("%h %b"), Format(map=MAP), Format(map={"client": "a"})]
    assert len({*formats}) == len(formats)
    assert Format(map=MAP) == Format(map=dict(MAP)) != MAP and Format("common") != "common"


def test_a_map_can_be_changed_afterwards():
    mapping = dict(MAP)
    format = Format(map=mapping)
    mapping.clear()
    assert format == Format(map=MAP)


def test_arguments_of_other_types():
    with pytest.raises(TypeError, match="format must be a str, got bytes"):
        Format(b"combined")
    with pytest.raises(TypeError, match="line must be bytes, got str"):
        Format("combined").explain("x")
    with pytest.raises(TypeError, match="expected a path, a binary file or a bytes-like, got NoneType"):
        list(logs.parse(None))


def test_wrong_arguments():
    with pytest.raises(TypeError, match="expected a format or a map"):
        Format()
    for text in "common", "iis", "%h %s":
        with pytest.raises(ValueError, match="a map needs a format of JSON, logfmt or LTSV, got"):
            Format(text, map=MAP)
    with pytest.raises(ValueError, match="did you mean 'combined'"):
        Format("combind")
    with pytest.raises(ValueError, match="has both 'path' and 'path_decoded'; expected one of them"):
        Format(map={"path": "a", "path_decoded": "b"})
    with pytest.raises(ValueError, match=r"'a\.b' is mapped to 'client' and to 'user'"):
        Format(map={"client": "a.b", "user": "x | a.b"})


def test_fields():
    assert Format("%h %{X}i %U%q %D").fields == ("client", "target", "path", "query", "duration", "extra.X")
    assert Format(map=MAP).fields == ("target", "path", "query", "status", "extra.x")
    assert Format("iis").fields[:3] == ("client", "user", "time")
    for name in logs.presets():
        without = {
            "uvicorn",
            "morgan",
            "fiber",
            "actix",
            "iis-native",
            "kubernetes",
            "fastly-bigquery",
            "rails",
            "http-server",
        }
        assert {"time", "status"} <= {*Format(name).fields} or name in {*without, "nlb"}


def test_a_map_of_a_preset():
    """The other fields stay where they are."""
    line = b'{"remote_addr":"192.0.2.1","request":"GET /a HTTP/1.1","status":200,"took":12,"uri":"/b","code":404}\n'
    format = Format("nginx-json", map={"duration.ms": "took", "status": "code"})
    [record] = logs.parse(line, format)
    assert (record.client, record.target, record.status, record.duration) == ("192.0.2.1", "/a", 404, 0.012)
    [record] = logs.parse(line, Format("nginx-json", map={"target": "uri"}))
    assert (record.path, record.method, record.status) == ("/b", "GET", 200) and "uri" not in record.extra
    assert pickle.loads(pickle.dumps(format)) == format != Format("nginx-json") and repr(format).count("map=") == 1
    pairs = b"method=GET path=/jobs/8.json status=200 duration=58.33\n"
    [record] = logs.parse(pairs, Format("logfmt", map={"duration.ms": "duration"}))
    assert (record.method, record.path, record.status, record.duration) == ("GET", "/jobs/8.json", 200, 0.05833)
    [record] = logs.parse(b'{"sourceIPs":["192.0.2.1"],"status":1}\n', Format(map={"client": "sourceIPs.0"}))
    assert record.client == "192.0.2.1"


@each_row("name", logs.presets())
def test_samples_match(name):
    lines = (ROOT / f"examples/logs/{name}.log").read_bytes().splitlines()
    format = Format(name)
    if not any(line.startswith(b"#") for line in lines):
        assert [format.explain(line) for line in lines] == [None] * len(lines)


@each_row(
    ("format", "line", "code", "offset", "message"),
    [
        ("combined", b"", "empty", 0, "the line is empty"),
        ("combined", b"\xef\xbb\xbf", "empty", 3, "the line is empty"),
        (
            "combined",
            LINE.replace(b" 200 ", b" OK "),
            "status",
            67,
            "expected a number in status at offset 67, got 'OK 2326",
        ),
        (
            "combined",
            LINE[:-1],
            "user_agent",
            97,
            "expected '\"' after user_agent at offset 104, got the end of the line",
        ),
        ("combined", LINE[:80], "referer", 76, "expected '\" \"' after referer at offset"),
        ("combined", LINE[:40], "time", 19, "expected '] \"' after time at offset 40, got the end of the line"),
        ("combined", b"192.0.2.1", "client", 0, "expected ' - ' after client at offset 9, got the end of the line"),
        (
            "combined",
            LINE.replace(b" 2326 ", b" 2326 17 "),
            "referer",
            75,
            "expected ' \"' before referer at offset 75, got ' 17",
        ),
        ("%h|%s|%D ms", b"a|200|5 m", "duration", 7, "expected ' ms' after duration at offset 7, got ' m'"),
        ("%h %D %s", b"a  x 5", "duration", 3, "expected a number in duration at offset 3, got 'x 5'"),
        ("[%h] %s", b"192.0.2.1 5", "format", 0, "expected '[' at offset 0, got '192.0.2.1 5'"),
        ("[%h] %s", b"[192.0.2.1] 5 6", "format", 13, "expected the end of the line at offset 13, got ' 6'"),
        ("%s %U", b"200", "status", 0, "expected ' ' after status at offset 3, got the end of the line"),
        ("%U|%s", b"/a|x", "status", 3, "expected a number in status at offset 3, got 'x'"),
        ("%U|%s|", b"/a|5", "status", 3, "expected '|' after status at offset 4, got the end of the line"),
        ("%s|%U;", b"5|/a", "path", 2, "expected ';' after path at offset 4, got the end of the line"),
        ("caddy", b"x", "json", 0, "expected valid JSON, an object at offset 0, got 'x'"),
        ("caddy", b'{"a":?}', "json", 5, "expected valid JSON, an object at offset 5, got '?}'"),
        ("caddy", b'{"a":1}', "request", 0, "expected a request"),
        ("caddy", b'{"status":"x"}', "status", 11, "expected a number in status at offset 11, got 'x\"}'"),
        ("iis", b"a b", "fields", 3, "expected another number of fields at offset 3, got the end of the line"),
    ],
)
def test_explanations(format, line, code, offset, message):
    diagnostic = Format(format).explain(line)
    assert isinstance(diagnostic, Diagnostic)
    assert (diagnostic.code, diagnostic.offset) == (code, offset)
    assert diagnostic.message.startswith(message)


def test_explanations_of_a_map():
    format = Format(map={"status": "a.b", "client": "c"})
    assert format.explain(b'{"c":"x"}') is None
    assert format.explain(b'{"a":{"c":"x"}}').message.startswith("expected one of the mapped members at offset 0")
    assert format.explain(b'{"a":{"b":"x"}}').message == "expected a number in status at offset 11, got 'x\"}}'"


@given(
    st.sampled_from([*map(Format, logs.presets()), Format("%h [%t] %q|%U %D;"), Format(map=MAP)]),
    st.lists(st.sampled_from(HOSTILE) | st.sampled_from([b'{"a":', b'"request":', b"200 ", b"- - ", b"#Fields: "])).map(
        b"".join
    )
    | st.binary(),
)
def test_any_bytes_are_explained(format, line):
    diagnostic = format.explain(line)
    if diagnostic:
        assert 0 <= diagnostic.offset <= len(line) and diagnostic.code and diagnostic.message.isprintable()


@pytest.mark.slow
@given(cases(), st.binary(max_size=40))
def test_any_bytes_are_explained_by_any_format(case, line):
    diagnostic = Format(case.format).explain(line)
    assert diagnostic is None or (0 <= diagnostic.offset <= len(line) and diagnostic.message.isprintable())


# --- limits -----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@each_row(
    "unit",
    [
        "%%", "%h ", "%t", "%a", "%header.a%", "+Q ", "{a}", "{request>", "%{", "%{a}i ", "#", " ", '\\"',
        "\n", "'", "'a' ", "\\", "\\\n", "%{usec_frac}t.", "%{%T}t ", "%U%q ",
        "$a ", "a",
    ],
)  # fmt: skip
@each_row(
    "start", ["", "#LogFormat", '"', "<pattern>", "format transform `", "log_format x ", "LogFormat ", 'CustomLog "']
)
def test_long_formats_end(start, unit):
    """In a moment: a format has a limit, below which no step takes more than linear time, or much of it."""
    text = (start + unit * _formats.LONGEST)[: _formats.LONGEST]
    with contextlib.suppress(ValueError):
        _formats.compile_format(text)
    with pytest.raises(
        ValueError, match=f"^the format has {len(text) + 1} characters; at most {len(text)} are allowed$"
    ):
        Format(text + "a")


def test_limits_of_mappings():
    with pytest.raises(ValueError, match=r"^a path for 'target' has 33 names; at most 32 are allowed$"):
        Format(map={"target": ".".join(["a"] * 33)})
    with pytest.raises(ValueError, match=r"^the mapping has more than 512 paths$"):
        Format(map={"target": "|".join(f"a{i}" for i in range(513))})
    with pytest.raises(ValueError, match=r"^the mapping has more than 16384 characters$"):
        Format(map={"target": "a" * 16384})


def test_json_of_many_levels():
    """On a small stack: nothing recurses over the line. The last of 512 alternatives counts, too."""
    format = Format(map={"target": "|".join(f"a{i}" for i in range(511)), "status": ".".join(["s"] * 32)})
    found = []

    def work():
        reader = LogReader(format.programs)
        record = bytearray(reader.capacity_for(1 << 20))
        for size in 1, 31, 32, 33, 546, 60_000:
            line = b'{"s":' * size + b"200" + b"}" * size
            found.append((size, reader.convert(line, record).records))
            for torn in line[: size * 5], b'{"a510":' + line + b"}", b'{"s":' * size + b"[" * size:
                assert reader.convert(torn, record).records == 0
            assert reader.convert(b'{"a510":"/","s":' + line + b"}", record).records == 1

    before = threading.stack_size(256 * 1024)
    try:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(before)
    assert found == [(1, 0), (31, 0), (32, 1), (33, 0), (546, 0), (60_000, 0)]


class Named(Format):
    """A subclass."""


def test_subclasses_of_formats_stay_what_they_are():
    for format in Named("combined"), Named(map={"target": "a"}):
        format.name = "a"
        for again in pickle.loads(pickle.dumps(format)), copy.copy(format), copy.deepcopy(format):
            assert type(again) is Named and again == format and again.name == "a"
            assert again.fields == format.fields


@pytest.mark.parametrize("text", ["\ud800", "%h \udcff", "$a\ud800", "log_format x '\udc80';"])
def test_lone_surrogates(text):
    with pytest.raises(ValueError, match=r"^lone surrogate in the format at offset \d+$"):
        Format(text)
    for map in {"target": text}, {f"extra.{text}": "a"}, {"target": f"a|{text}.b"}:
        with pytest.raises(ValueError, match=r"^lone surrogate in the (path|field) .* at offset \d+$"):
            Format(map=map)


@each_row("count", [0, 1, 127, 128, 129, 130, 1000])
def test_members_that_a_format_does_not_list(count):
    """At most 128 of them become extra fields: the first ones."""
    members = "".join(f',"x{i}":"{i}"' for i in range(count))
    [record] = logs.parse(f'{{"request_uri":"/","status":200{members}}}'.encode(), "nginx-json")
    assert record.extra == ({f"x{i}": str(i) for i in range(min(count, 128))} or None)
    assert (record.target, record.status, record.referer, record.forwarded_for) == ("/", 200, None, None)


@each_row("count", [1, 127, 128, 129, 130, 1000])
def test_fields_that_a_header_names(count):
    """At most 128 columns are read, of which three are others here."""
    names, values = (" ".join(f"{letter}{i}" for i in range(count)) for letter in "xv")
    log = f"#Fields: c-ip cs-uri-stem sc-status {names}\n192.0.2.1 / 200 {values}\n"
    [record] = logs.parse(log.encode(), "iis")
    assert record.extra == {f"x{i}": f"v{i}" for i in range(min(count, 125))}
    assert (record.client, record.target, record.status) == ("192.0.2.1", "/", 200)


# --- HAProxy ----------------------------------------------------------------------------------------------------------


def test_escapes_of_haproxy():
    """In the request, and in captured headers, where "#7C" is no separator; cookies are not escaped."""
    line = (
        b"192.0.2.1:33317 [10/Oct/2024:13:55:36.655] http-in static/srv1 10/0/30/69/109 200 2750 a=#41 b=#7c ---- "
        b'1/1/1/1/0 0/0 {#7Ba#7D#22|b#7Cc|d#23#4} {#E9#41} "GET /caf#C3#A9?a=#22b#22&c=#23#2541 HTTP/1.1"'
    )
    for tail in b"", b" 0/0/0/0/0 a#41/TLSv1.3/x":
        [record] = logs.parse(line + tail, "haproxy")
        assert record.target == '/café?a="b"&c=#%41' and record.path == "/café"
        assert record.query == (("a", '"b"'), ("c", "#A")) and record.protocol == "HTTP/1.1"
        assert record.extra["captured_request_headers"] == '{a}"|b#7Cc|d#23#4'
        assert record.extra["captured_response_headers"] == "%E9A"
        assert (record.extra["captured_request_cookie"], record.extra["captured_response_cookie"]) == ("a=#41", "b=#7c")
        assert record.extra.get("ssl_fc_sni", "a#41") == "a#41"
    [record] = logs.parse(line.replace(b"{#7Ba#7D#22|b#7Cc|d#23#4} {#E9#41}", b"{#}").replace(b"#23", b"#2"), "haproxy")
    assert record.extra["captured_headers"] == "#" and record.target == '/café?a="b"&c=#2%41'


# --- found by fuzzing -------------------------------------------------------------------------------------------------


def test_a_query_of_json_that_is_empty():
    """A "?" says that there is one; an empty text does not."""
    format = Format(map={"query": "q", "status": "s"})
    queries = [record.query for record in logs.parse(b'{"q":"?","s":1}\n{"q":"","s":1}\n{"q":"?a","s":1}', format)]
    assert queries == [(), None, (("a", ""),)]


@pytest.mark.slow
@each_row("name", logs.presets())
def test_an_empty_line_after_any_other(name):
    """Its variants do not go on where the line before it stopped, which may be beyond its end."""
    lines = Path(__file__).parents[2].joinpath(f"examples/logs/{name}.log").read_bytes().splitlines()
    for line in lines:
        for end in range(1, len(line) + 1, 41):
            data = line[:end] + b"\n\n\n" + line + b"?\n\n"
            invalid = []
            list(logs.parse(data, name, invalid=invalid))
            assert [each[1:] for each in invalid if each.line in {2, 3, 5}] == [
                (at, 0, "empty", b"") for at in (2, 3, 5)
            ]


def test_json_of_several_lines_in_a_line_of_docker():
    [record] = logs.parse(b'{"log":"{\\n\\"u\\" :\\n\\"/\\"\\n}\\n","stream":"stdout"}', Format(map={"target": "u"}))
    assert record.path == "/"


def test_a_user_with_a_space_before_an_identity():
    """Only "%l %u" is of words."""
    [record] = logs.parse(b'"a b" "id"', '"%u" "%l"')
    assert record.user == "a b" and record.extra == {"ident": "id"}
    with pytest.raises(logs.FormatError, match="user"):
        list(logs.parse(b"id a b [-]", "%l %u %t"))


# --- several formats --------------------------------------------------------------------------------------------------

MIXED = [
    *(["combined", "caddy"], ["caddy", "combined"], ["iis", "nginx-json", "alb"], ["nginx-json", "ecs", "squid"]),
    *(["envoy", "cloudfront-json", "cloudfront"], ["lighttpd", "combined"], ['%h "%r" %>s', "haproxy", "fastly"]),
]


def sample(name):
    path = ROOT / f"examples/logs/{name}.log"
    lines = path.read_bytes().splitlines(keepends=True) if path.exists() else [b'192.0.2.1 "GET /a?b=c HTTP/1.1" 200\n']
    return [line for line in lines if not line.startswith(b"#")]


@pytest.mark.slow
@each_row("names", MIXED)
def test_a_line_has_the_first_format_that_it_matches(names):
    """Whatever their notations and their order are, and with marks as without."""
    lines = [line for name in names for line in sample(name)] + [b"junk\n", b'{"a":1}\n']
    lines += [json.dumps({"message": line.decode()}).encode() + b"\n" for line in lines]
    lines += [json.dumps({"log": line.decode()}, separators=(",", ":")).encode() + b"\n" for line in lines]
    lines += [b"Jan 31 12:00:00 web nginx[1]: " + line for line in lines]
    random.Random("mixed").shuffle(lines)
    format = format_of([Format(names[0]), *names[1:]])
    check(format, b"".join(lines))
    one_by_one = []
    for line in lines:
        found = [[*logs.parse(line, name, invalid=[])] for name in names]
        one_by_one += next((records for records in found if records), [])
    records = list(logs.parse(b"".join(lines), names, invalid=(invalid := [])))
    assert records == one_by_one
    assert len(records) + len(invalid) == len(lines)
    for line in invalid:
        assert format.explain(line.text)[:2] == (line.code, line.offset)


def test_several_formats():
    line = LINE + b"\n"
    caddy = (ROOT / "examples/logs/caddy.log").read_bytes()
    found = logs.columns(line + caddy, ["caddy", Format("combined")])
    assert found["client"][0] == "192.0.2.1" and len(found["status"]) == 4
    counts = [
        list(logs.count(line + caddy, ["vhost"], names)) for names in (["caddy", "combined"], ("combined", "caddy"))
    ]
    assert counts[0] == counts[1] and sum(count["count"] for count in counts[0]) == 4
    assert format_of(["combined"]) == Format("combined") == format_of("combined") and format_of("auto") is None
    mixed = format_of(["caddy", "combined"])
    assert str(mixed) == "caddy or combined" and eval(repr(mixed)) == [Format("caddy"), Format("combined")]
    assert not mixed.is_json and format_of(["caddy", "ecs"]).is_json
    assert mixed.fields[:3] == ("client", "user", "time") and "vhost" in mixed.fields and mixed != Format("caddy")
    with pytest.raises(logs.FormatError, match="not a record of the format caddy or combined"):
        list(logs.parse(b"junk\n", ["caddy", "combined"]))
    for wrong, message in ([], "at least one format"), (["auto", "auto"], "'auto' stands for one format"):
        with pytest.raises(ValueError, match=message):
            list(logs.parse(line, wrong))
    for wrong in 5, [5], [b"combined"], b"combined":
        with pytest.raises(TypeError, match="format must be a str"):
            list(logs.parse(line, wrong))


def test_a_dash_is_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "-").write_bytes(LINE + b"\njunk\n")
    invalid = []
    assert len(list(logs.parse("-", "combined", invalid=invalid))) == 1
    assert [(line.input, line.line) for line in invalid] == [("-", 2)]
