"""Which format a log has: the vote of its first lines, and what is said of logs of none, or of two."""

import io
import json
import random
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.samples import EXPECTED
from support.tables import each_row

from uricodec import logs
from uricodec.logs import Candidate, Format, FormatError, _detection
from uricodec.logs._detection import HEAD, LINES, decide, reads_all

ROOT = Path(__file__).parents[2]
PRESETS = logs.presets()
SAMPLES = {name: (ROOT / f"examples/logs/{name}.log").read_bytes() for name in PRESETS}
COUNTS = {name: len(EXPECTED[name]) for name in PRESETS}
HEADERS = b"#", b'"time_micros"'  # lines that name the fields
LINE = b'192.0.2.1 - frank [10/Oct/2000:13:55:36 -0700] "GET /a?b HTTP/1.0" 200 2326 "https://e.example/" "curl/8"\n'


def found(data):
    """The name of the format that "auto" chooses, the lines that match it, and those that have voted."""
    candidate = decide(data)
    return candidate and (str(candidate.format), candidate.votes, candidate.lines)


@pytest.mark.slow
@each_row("name", PRESETS)
def test_samples_are_detected(name):
    assert found(SAMPLES[name]) == (name, COUNTS[name], COUNTS[name])
    expected = EXPECTED[name]
    for source in SAMPLES[name], io.BytesIO(SAMPLES[name]), b"\n\n" + SAMPLES[name]:
        records = list(logs.parse(source))
        assert [record.status for record in records] == [json.loads(line)["status"] for line in expected]
        assert records == list(logs.parse(SAMPLES[name], format=name))


def test_the_format_of_the_log_before_decides_little():
    """nginx reads lines of combined, too, but with one more field; combined reads those of common. The log before only
    decides where another format would leave a rest."""
    for name in PRESETS:
        for log in SAMPLES[name], *SAMPLES[name].splitlines(keepends=True):
            alone = decision(log)
            for likely in logs.detect(log) if isinstance(alone, Candidate) else []:
                after = decide(log, likely=likely.format).format
                assert after == alone.format or not reads_all(alone.format, [log.rstrip()]), (after, log)


def decision(head):
    try:
        return decide(head)
    except FormatError as error:
        return str(error)


@pytest.mark.slow
@each_row("name", PRESETS)
def test_formats_that_match_none_of_the_first_lines(name, monkeypatch):
    """They are not tried on the others, and the outcome is that of trying all formats on all lines."""
    chance = random.Random(name)
    lines = [line for line in SAMPLES[name].splitlines(keepends=True) if not line.startswith(b"#")]
    other = SAMPLES[chance.choice(PRESETS)].splitlines(keepends=True)[-1]
    cut = lines[-1][len(lines[-1]) // 2 :]
    places = [(0, 0, 0), (0, 1, 0), (1, 0, 0), (0, 0, 2), (60, 0, 0), (49, 0, 0), (0, 0, 90)]
    for first, middle, last in chance.sample(places, 1):
        strange = chance.choice([other, cut, b"?\n"])
        head = b"".join([strange] * first + lines * 40 + [strange] * middle + lines * 10 + [strange] * last)
        staged = decision(head)
        with monkeypatch.context() as patched:
            patched.setattr(_detection, "FIRST", len(head))
            assert decision(head) == staged


@pytest.mark.slow
@each_row("name", PRESETS)
def test_a_line_that_is_cut_off_is_one_line(name):
    """The first one where the log was rotated, the last one where it is being written."""
    *header, last = SAMPLES[name].splitlines(keepends=True)
    log = SAMPLES[name] * 4
    count = 4 * COUNTS[name]
    name_found, votes, _ = found(last[len(last) // 2 :] + log)
    assert name_found == name and votes in (count, count + 1)  # the rest of key=value pairs is a record, too
    for size in range(1, len(last) - 1, 61):
        name_found, votes, lines = found(log + last[:size])
        assert (name_found, lines) == (name, count + 1) and votes >= count
    assert header


def docker(line):
    """A record of Docker's driver json-file."""
    return (
        json.dumps({"log": line.decode(), "stream": "stdout", "time": "2016-10-06T00:17:09.669794202Z"}).encode()
        + b"\n"
    )


@each_row("name", PRESETS)
@each_row(
    "wrapped",
    [
        *(b"2016-10-06T00:17:09.669794202Z stdout F ", b"Jan 31 12:00:00 web nginx[1]: ", b"web-1    | "),
        *(b"[pod/web-7c5ddbdf54-x2x/nginx] ", b"web_1.a | 2016-10-06T00:17:09.669794202Z ", docker),
    ],
)
def test_wrapped_lines(name, wrapped):
    wrap = wrapped if callable(wrapped) else wrapped.__add__
    lines = [re.sub(rb"^<\d+>.*?: ", b"", line) for line in SAMPLES[name].splitlines(keepends=True)]
    assert found(b"".join(map(wrap, lines))) == (name, COUNTS[name], COUNTS[name])


@each_row(
    ("log", "message"),
    [
        (
            LINE.replace(b" 2326 ", b" 2326 17 ") * 9,
            "unknown log format; the nearest is nexus .line 1: expected a number in duration .*; begin with Format",
        ),
        (
            (b"192.0.2.9 " + LINE) * 9,
            "the log may be vhost_combined or combined-forwarded, which differ in forwarded_for: None or "
            r"\['192.0.2.9'\]",
        ),
        (LINE * 10 + SAMPLES["alb"] * 4, "lines of two formats: alb .12 of the first 22. and combined .10."),
        (
            (LINE + SAMPLES["caddy"].split(b"\n")[0] + b"\n") * 9,
            "lines of two formats: caddy .9 of .* and combined .9.",
        ),
        (LINE.decode().encode("utf-16"), "the log is UTF-16; convert it to UTF-8 first"),
        (LINE.decode().encode("utf-16-le"), "the log is UTF-16"),
        (LINE.decode().encode("utf-16-be") * 99, "the log is UTF-16"),
        (bytes(range(256)) * 9, "the log is binary"),
        (bytes(500), "the log is UTF-16|the log is binary"),
        (b"Once upon a time\nthere was\n", "unknown log format, line 1: 'Once upon a time'$"),
        (b"[" * 2000 + b"\n", "unknown log format, line 1: "),
        (b'{"a":' * 400 + b"\n", "JSON records .* no known format; say with a map"),
        (b'{"level":"info","msg":"x"}\n' * 9, "JSON records .* no known format; say with a map"),
    ],
)
def test_logs_of_no_format(log, message):
    for read in found, lambda log: list(logs.parse(log)), lambda log: list(logs.parse(io.BytesIO(log))):
        with pytest.raises(FormatError, match=message):
            read(log)


def test_addresses_in_front_of_the_client():
    assert found((b"192.0.2.9, 192.0.2.8 " + LINE) * 9) == ("combined-forwarded", 9, 9)
    assert found((b"www.example.com " + LINE) * 9) == ("vhost_combined", 9, 9)
    for log in (b"192.0.2.9, 192.0.2.8 " + LINE) * 2, (b"192.0.2.9, 192.0.2.8 " + LINE) + b"192.0.2.9 " + LINE:
        first, second = logs.parse(log)
        assert first.client == second.client == "192.0.2.1"
        assert {first.forwarded_for, second.forwarded_for} <= {("192.0.2.9", "192.0.2.8"), ("192.0.2.9",)}


def test_a_few_lines_of_another_format_do_not_matter():
    invalid = []
    assert len(list(logs.parse(LINE * 50 + SAMPLES["alb"], invalid=invalid))) == 50
    assert [line.line for line in invalid] == [51, 52, 53]


def test_only_the_first_lines_vote():
    log = LINE * LINES + SAMPLES["alb"] * LINES
    assert found(log) == ("combined", LINES, LINES)
    long = LINE.replace(b"/a?b", b"/" + b"a" * 4000)
    candidates = logs.detect(long * 200)
    assert 60 < candidates[0].lines == candidates[0].votes <= HEAD // 4000
    assert len(list(logs.parse(long * 200))) == 200


def test_typographic_quotes_in_a_format():
    with pytest.raises(
        FormatError, match="no line is one; write '\"' instead of '\u201c' at offset 14; combined reads it"
    ):
        list(logs.parse(LINE, "%h %l %u [%t] \u201c%r\u201d %>s %b"))


def test_logs_without_a_line():
    assert found(b"\n \n") is None and found(b"# a comment\n") is None
    assert list(logs.parse(b"")) == list(logs.parse(b"\n" * 0)) == []
    assert logs.detect(b"") == logs.detect(b"\n\n") == logs.detect(b"# a comment\n") == []
    for empty in b"\n", b"\n \n\n", b"# a comment\n":
        with pytest.raises(FormatError, match="no line is one"):
            list(logs.parse(empty))


@pytest.mark.parametrize("name", ["iis", "cloudfront"])
def test_a_log_that_only_announces_its_fields(name):
    """There was no request yet."""
    header = b"".join(line for line in SAMPLES[name].splitlines(keepends=True) if line.startswith(b"#"))
    header = header or b"#Fields: date time x-edge-location\n"
    invalid = []
    assert list(logs.parse(header, invalid=invalid)) == invalid == []
    assert found(header)[0] == name


def test_candidates():
    best, second, *_ = logs.detect(LINE * 3)
    assert best == Candidate(Format("combined"), 3, 3, 0.0) and isinstance(best.format, Format)
    assert second.votes == 3 and str(second.format) == "nginx"
    [best, *others] = logs.detect(LINE * 3 + b"junk\n")
    assert (best.votes, best.lines) == (3, 4) and 0 <= best.reach <= 1
    assert all(candidate.votes for candidate in others)


def test_a_log_without_a_record_of_the_given_format():
    with pytest.raises(
        FormatError,
        match=r"<log>:1:53 \(byte 52\): not a record of the format alb: .*; no line is one; combined reads it",
    ):
        list(logs.parse(LINE, "alb"))
    with pytest.raises(FormatError, match="UTF-16"):
        list(logs.parse(LINE.decode().encode("utf-16"), "combined"))
    with pytest.raises(
        FormatError, match=r"<log>:2:68 \(byte 173\): not a record of the format combined: expected a number in status"
    ):
        list(logs.parse(LINE + LINE.replace(b" 200 ", b" OK "), "combined", errors="raise"))


@given(
    st.lists(st.sampled_from([LINE, b"{", b'"', b"#Fields: a\n", b"\n", b"\0", b"\xff", b"- "]) | st.binary()).map(
        b"".join
    )
)
def test_any_bytes_have_a_format_or_none(data):
    try:
        candidate = decide(data)
    except FormatError as error:
        assert str(error).isprintable()
    else:
        assert candidate is None or 0 <= candidate.votes <= candidate.lines


def test_formats_that_other_names_read():
    """The default of gunicorn is combined; http.server, and Werkzeug, have another time in the common format."""
    line = b'127.0.0.1 - - [10/Oct/2024 13:55:36] "GET /a\\x1b?q=1 HTTP/1.1" 200 -\n'
    assert found(line * 3) == ("common", 3, 3)
    [record] = logs.parse(line)
    assert (record.time, record.target, record.bytes_sent) == ("2024-10-10T13:55:36", "/a\x1b?q=1", None)
    said = b"127.0.0.1 - - [10/Oct/2024 13:55:36] code 404, message File not found\n"
    invalid = []
    assert len(list(logs.parse((said + line) * 9, invalid=invalid))) == len(invalid) == 9
    gunicorn = b'127.0.0.1 - - [10/Oct/2024:13:55:36 +0000] "GET / HTTP/1.1" 200 5 "-" "a\\"b"\n'
    assert found(gunicorn * 3) == ("combined", 3, 3)


@pytest.mark.parametrize("name", ["lighttpd", "uvicorn", "django"])
def test_other_lines_of_a_server_change_nothing(name):
    """Lines that are no requests are reported, and change nothing; quotes that are not escaped neither."""
    others = {
        "lighttpd": b'192.0.2.1 www.example.com - [10/Oct/2024:13:55:36 +0000] "\\x16\\x03\\x01" 400 0 "-" "-',
        "uvicorn": b"INFO:     Started server process [1]\nINFO:     Waiting for application startup.\n"
        b"INFO:     Application startup complete.\nWARNING:  Invalid HTTP request received.",
        "django": b"Watching for file changes with StatReloader\n[10/Oct/2024 13:55:36] code 400, message Bad request "
        b"version\n[10/Oct/2024 13:55:36] You're accessing the development server over HTTPS, but it only supports "
        b"HTTP.",
    }
    log = others[name] + b"\n" + SAMPLES[name] + others[name] + b"\n"
    assert found(log)[0] == name
    invalid = []
    assert len(list(logs.parse(log, invalid=invalid))) == COUNTS[name]
    assert len(invalid) == 2 * len(others[name].splitlines())


def test_quotes_that_django_does_not_escape():
    line = b'[10/Oct/2024 13:55:36] "GET /a"b?c=" d" HTTP/1.1" 404 7\n'
    [record] = logs.parse(line, "django")
    assert (record.target, record.status) == ('/a"b?c=" d"', 404)
    assert found(SAMPLES["django"] + line)[0] == "django"


@pytest.mark.parametrize("log", ["Filebeat", "journald"])
def test_lines_in_objects(log):
    """A visitor who writes JSON changes nothing."""
    agents = "agent", '{"message":"x"}', '","message":"192.0.2.1 - -', "\x16\x03\x01"
    lines = [LINE.decode().strip().replace("curl/8", agent.replace('"', '\\"')) for agent in agents]
    objects = [
        {"@timestamp": "2025-01-01T12:00:00Z", "message": line, "host": {"name": "web-1"}}
        if log == "Filebeat"
        else {"_HOSTNAME": "web-1", "MESSAGE": line, "PRIORITY": "6"}
        for line in lines
    ]
    data = "".join(json.dumps(each) + "\n" for each in objects).encode()
    assert found(data) == ("combined", 4, 4)
    assert [record.user_agent for record in logs.parse(data)] == [*agents]


AGENT, LINK = b"Mozilla/5.0 (X11)", b"https://e.example/a"


@each_row("name", ["combined", "nginx", "vhost_combined", "lighttpd", "aiohttp"])
def test_agents_before_referers(name):
    """The values say which is which; a single line that a visitor wrote says nothing."""
    start = {"vhost_combined": b"www.example.com ", "aiohttp": b""}.get(name, b"")
    rest = b' "192.0.2.7"' if name == "nginx" else b""

    def line(first, second):
        user = b"" if name == "aiohttp" else b"- - " if name != "lighttpd" else b"www.example.com - "
        time = b'[10/Oct/2024:13:55:36 +0000] "GET / HTTP/1.1" 200 5'
        return start + b"192.0.2.1 " + user + time + b' "%b" "%b"' % (first, second) + rest + b"\n"

    usual, missing = line(LINK, AGENT) + line(b"-", b"curl/8") + line(b"x", b"y"), line(b"-", b"-")
    other = line(AGENT, LINK) + line(b"curl/8.0", b"-") + line(AGENT, b"") + line(b"Go-http-client/1.1", LINK)
    for log in usual + missing, usual + missing + line(AGENT, LINK), missing:
        assert found(log)[0] == name or (name == "lighttpd" and log == missing)
    for log in other, other + missing, other + usual.splitlines(keepends=True)[0]:
        records = list(logs.parse(log))
        assert [record.user_agent for record in records[:2]] == [AGENT.decode(), "curl/8.0"]
        assert [record.referer for record in records[:2]] == [LINK.decode(), None]
        assert records[0].extra == next(logs.parse(line(LINK, AGENT))).extra and len(records) == log.count(b"\n")
        assert list(logs.parse([log, log])) == 2 * records


def test_json_with_other_names():
    """A preset that reads a part of the members is not taken without a word."""
    line = {"ts": "2024-10-10T13:55:36Z", "http_method": "GET", "uri": "/a", "peer": "192.0.2.1", "code": 200}
    data = json.dumps(line).encode() + b"\n"
    for log in data, data * 200:
        with pytest.raises(FormatError, match="no names for client, time, method, status of these") as error:
            list(logs.parse(log))
        [record, *_] = logs.parse(log, error.value.suggestion)
        assert (record.client, record.status, record.method, record.path) == ("192.0.2.1", 200, "GET", "/a")


def test_messages_hide_what_is_masked():
    line = b"what GET /a?token=secret&x=1 200\n"
    for options in {"mask": ["token"]}, {"redact": "extended"}:
        for format in "auto", "combined", "iis":
            for data in line, LINE + line:
                with pytest.raises(FormatError, match=r"what GET|expected") as error:
                    list(logs.parse(data, format, errors="raise", **options))
                assert "secret" not in str(error.value)


# --- what visitors write ----------------------------------------------------------------------------------------------

MORE = {
    "envoy": b'[2025-04-15T20:17:00.310Z] "POST /api HTTP/2" 204 - 154 0 226 100 "192.0.2.28" "agent" "cc21d9b0" '
    b'"a.example" "192.0.2.1:80"\n',
    "haproxy": b"192.0.2.2:33317 [06/Feb/2009:12:14:14.655] https-in~ static/srv1 1/0/3/6/10 200 2 - - "
    b'---- 1/1/1/1/0 0/0 {a.example} {} "GET /i HTTP/1.1" 0/00/0/0/0 a.example/TLSv1.3/TLS_AES_256_GCM_SHA384\n',
    "squid": b"1286536308.779    180 192.0.2.4 TCP_MISS/200 411 GET http://a.example/a.gif - HIER_DIRECT/192.0.2.7 "
    b"image/gif [User-Agent: agent%5d\\r\\nHost: a.example\\r\\n] [HTTP/1.1 200 OK\\r\\nDate: Mon\\r\\n\\r]\n",
    "traefik": b'192.0.2.9 - - [19/Jun/2025:07:41:05 +0000] "GET /a HTTP/1.1" 200 12 "-" "agent" 1 "w@docker" '
    b'"http://192.0.2.2:80" 5ms\n',
}


@pytest.mark.slow
@each_row("name", MORE)
@each_row("agent", [b"agent", b"a\\x41", b"\\", b"-", b"", b"[1] {2} 3/4 5:6", b"192.0.2.1 - -", b'{"a":1}'])
def test_visitors_do_not_change_the_format(name, agent):
    line = MORE[name]
    strange = line.replace(b"agent", agent) if b'"agent"' in line or b"[" not in agent else line
    for head in strange + 19 * line, 10 * strange + 10 * line, 19 * line + strange, 120 * line + strange:
        assert str(decide(head).format) == name


@pytest.mark.parametrize("name", MORE)
def test_more_variants_read_all_fields(name):
    [record] = logs.parse(MORE[name], name)
    assert record.time and record.status in {200, 204} and record.target
    if name == "haproxy":
        assert record.extra["ssl_version"] == "TLSv1.3" and record.extra["ssl_fc_sni"] == "a.example"
    if name == "squid":
        assert record.extra["request_headers"].startswith("User-Agent: agent") and "reply_headers" in record.extra


# Lines as these servers write them: where VISITOR stands, after the escapes of the server, is what a visitor has sent.
LOGS = {
    "traefik": (b'192.0.2.9 - - [19/Jun/2025:07:41:05 +0000] "GET /a HTTP/1.1" 200 12 "-" "VISITOR" 1 "w@docker" '
    b'"http://192.0.2.2:80" 5ms\n', lambda text: text),
    "caddy": (b'{"ts":1728568536.5,"request":{"remote_ip":"192.0.2.80","method":"VISITOR","host":"VISITOR","uri":"/",'
    b'"headers":{"X-Forwarded-For":["VISITOR"]}},"user_id":"VISITOR","duration":1.5,"size":1,"status":400}\n', None),
    "envoy-json": (b'{"start_time":"2024-10-10T13:55:36.123Z","method":"VISITOR","path":"/","response_code":200,'
    b'"bytes_sent":5316,"duration":12,"x_forwarded_for":"VISITOR","user_agent":"VISITOR","authority":"VISITOR",'
    b'"downstream_remote_address":"192.0.2.120:50112"}\n', None),
    "nginx-json": (b'{"time_iso8601":"2024-10-10T13:55:36+00:00","remote_addr":"192.0.2.70","remote_user":"VISITOR",'
    b'"request":"VISITOR","status":"400","http_host":"VISITOR","http_x_forwarded_for":"VISITOR"}\n', None),
}  # fmt: skip
# The end of a line of nginx-ingress.
INGRESS = b'" 412 0.023 [x] [] 10.1.2.3:8080 5316 0.022 200 6f'
SENT = [b"", b"-", b"\\", b"a\\x41", b'"', b'a" b', b"[", b"{}", b'{"a":1}', b"\x16\x03\x01", b"1.2.3.4, b", b'" "',
        b"x" * 8000, b'x" 1 "w@docker" "http://192.0.2.2:80" 12ms', b"#Fields: date time"]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", LOGS)
def test_hostile_lines_do_not_change_the_format(name):
    line, escaped = LOGS[name]
    escaped = escaped or (lambda text: json.dumps(text.decode("latin-1")).encode()[1:-1])
    honest = line.replace(b"VISITOR", b"GET")
    strange = [line.replace(b"VISITOR", escaped(text)) for text in SENT]
    for head in (
        b"".join(strange) + honest * len(SENT),
        b"".join(strange) * 2 + honest * 300,
        honest * 8 + line.replace(b"VISITOR", escaped(INGRESS)) + line.replace(b"VISITOR", escaped(b'a" b" 1')),
        (honest + line.replace(b"VISITOR", escaped(INGRESS))) * 9,
        honest * 99 + b"".join(strange),
        *(honest * 5 + each * 5 for each in strange),
    ):
        assert str(decide(head).format) == name
        records = list(logs.parse(head, invalid=[]))
        assert sum("GET" in {record.method, record.target} for record in records) >= head.count(honest)


def test_a_visitor_does_not_announce_fields():
    """The first field is X-Forwarded-For, which visitors write."""
    log = b"203.0.113.7, 198.51.100.4 " + LINE
    assert found(log * 9 + b"#Fields: date, 198.51.100.4 " + LINE + log)[0] == "combined-forwarded"
    assert found(b"#Software: Microsoft, 198.51.100.4 " + LINE + log * 9)[0] == "combined-forwarded"


def test_few_lines_with_a_rest_do_not_suffice():
    """More may be had: a visitor may have written them."""
    line, _ = LOGS["traefik"]
    strange = line.replace(b"VISITOR", b'a" b')
    assert decide(strange, early=True) is None is decide(strange * 9, early=True)
    assert str(decide(strange + line * 2).format) == "traefik"
    assert str(decide(LINE, early=True).format) == "combined"
    assert str(decide(LINE.replace(b"\n", b" 17\n") * 10, early=True).format) == "combined"


def test_another_format_with_a_rest_is_one():
    """Its lines do not begin as those of the first format do."""
    more = LINE.replace(b"\n", b" 17\n")
    for name in "alb", "caddy":
        with pytest.raises(FormatError, match="lines of two formats"):
            decide((SAMPLES[name] + more) * 9)


def test_comments_and_lines_of_another_format():
    """Only in W3C logs a line that begins with "#" is a comment."""
    for log in LINE * 8 + b"#\n" * 3 + SAMPLES["alb"], b"#\n" * 3 + SAMPLES["alb"] + LINE * 8:
        with pytest.raises(FormatError, match=r"two formats: combined \(8 of the first 14\) and alb \(3"):
            decide(log)


# What formats to begin with read of lines that have all of this, in two lines; and, after "no", what they leave out.
HINTED = [
    (
        '{client} - {user} [{clf}] "{request}" {status} - {size} "{agent}" [q]',
        "client user request status agent no size",
    ),
    ("{iso}|c0ff|{client}|{user}|{request}|{status}|-1|{size}|{agent}", "client user status agent no size"),
    ('{client} 83x1 {user} [{clf}] "{request}" {status} {size} "{referer}" "{agent}" "1x"', "user size referer agent"),
    ('{iso} 1 b: {client} - {user} [{clf}] "{request}" {status} {size} - "{agent}" - x={s}s', "clf user size duration"),
    ('"{client}" "{user}" "{clf}" "{request}" {status} {size}', "client user request status size"),
    ("{iso} [INF] HTTP {request} responded {status} in {ms} ms", "status duration"),
    (
        '{iso} {client} "{short}" status={status} bytes={size} dur={ms}ms user={user}',
        "client status size duration user",
    ),
    ('Oct  9 13:55:36 lb1 x[7]: {client} [{clf}] web~ {status} {size} "{request}"', "client request status size"),
    ("{iso} INFO [req-9] {client} -> {status} ({ms} ms, {size} bytes)", "client status size duration"),
    # names of threads and loggers, paths without a method
    ('{client} (t-41) - - [{clf}] "{request}" {status} {size} 7 - "x"', "client clf request status no size user"),
    ("{iso} [i] c.p.AccessLog - {short} took {ms}ms and returned {status}", "status duration no vhost client"),
    ("{iso} web.access {client} worker-{n} {short} {status}", "client status no vhost user"),
    # numbers: where sizes are, and in which units
    ('"{agent}" "{referer}" {status} {short} {client} {iso} 45', "agent referer status client no size"),
    ("{iso} [{status} OK] {client} {ms}ms ↑ 93 B ↓ {size} B", "client status duration no size"),
    ('1728568536.5 {client} www.a.example "{request}" {status} {size}b {s} HIT', "client status size duration no user"),
    ("[{iso}][{client}][{short}][{status} OK][{size}b][{ms}ms]", "client status size duration"),
    ("{iso} {client} {short} {status} {size} {ms}.5", "client status size no duration"),
    ("{iso} {client} {short} {status} upstream=1ms {ms}ms", "status duration no size"),
    ("{client} {iso} {short} {status} up=512 down={size} pid={n}", "client status size"),
    ("{client} {iso} {short} status {status} pid={n}", "client status no size"),
    # names before values
    (
        "host=a.example|ip={client}|req={request}|st={status}|out={size}|ms={ms}|ua={agent}",
        "client request status size duration agent",
    ),
    ("<r t='{iso}' ip='{client}' s='{status}' b='{size}' d='{ms}.5'/>", "client status size no duration"),
    ("INFO done method:GET path:/a status:{status} duration:{ms}ms ip:{client}", "client status duration"),
    ("{iso} x request{{method=GET uri=/a}}: latency={ms} ms status={status}", "status duration"),
    ('{iso} x {{"ip": "{client}", "rc": {status}, "tookMs": {ms}, "db_ms": 1}}', "client status duration"),
    (
        "CEF:0|A|B|1.0|100|c|3|src={client} request=http://a.example/ outcome={status} rt=1715637504981",
        "client status no duration",
    ),
    (
        '{client} [{clf}] "{request}" {status} {size} upstream_time=0.001 total_time={s}',
        "client clf size status duration",
    ),
    # times of other shapes, or two
    ("13/05/2024 21:58:06.799 {client} {short} {status} {size}", "client status size date no agent"),
    ("[13.05.2024 21:58:06] {client} {short} {status} {size}", "client status size day"),
    (
        '05/13/2024 09:58:17 PM [{client}] <{user}> "{short}" => {status} / {size} B / {ms} ms',
        "client user status size duration date",
    ),
    (
        "240513/215823.669, [r] http://host:3000: get /a {{}} {status} ({ms}ms)",
        "status duration method date no agent referer",
    ),
    (
        '2024-10-10 13:55:37,681 I (t-0) {client} - {user} {clf} "{request}" {status} {size}',
        "clf client user request status size",
    ),
    # addresses of servers
    ('{iso} 10.9.8.7:443 {client} "{request}" {status} {size}', "client status size"),
    ("{iso} W3SVC1 10.9.8.7 {short} 80 {client} {status} 0 0 {size}", "status no client size"),
    ("[n] {iso} x@127.0.0.1 127.0.0.1:5984 {client} {user} {short} {status} ok {n}", "status no client size"),
    ('ACCESS [{iso}] "{request}" {status} 0 {size} 4 "{agent}" "{client}:9000"', "request status agent no client size"),
    # several that may be it: leave it out
    ('{client} - {user} [{clf}] "{request}" {status} 191 {size} MISS "{agent}"', "client user status agent no size"),
    ("{client} [{iso}] {short} => got 0 bytes in {ms} msecs, {n} headers in {size} bytes", "client duration no size"),
    ('{client} - [{clf}] "UNARY a.b/c GRPC" 0 200 {size} "x"', "client no status size"),
    ("{iso} {client} {short} {status} {n} 0.004 0.001", "client status no size duration"),
    ("{iso} a.example b.example {client} {request} {status} {size}", "client status no vhost"),
    # not of the request
    (
        '{client} [{clf}] a.example "{request}" {status} {size} 1 "-" "{agent}" "http://b.example"',
        "client status agent no referer size",
    ),
    ("{iso} {client} GET /a {status} https://b.example/ {ms}ms", "client status duration no referer"),
    ('{client} [{clf}] "GET /a HTTP/1.1 {status} 0" https://b.example/ x y', "client clf no target referer"),
    ("{iso} [t] ip={client} webapp=/solr path=/a hits=200 status=0 QTime={ms}", "client no status size duration"),
    ('{client} TLSv1.3 AES{n} [{clf}] "{request}" {status} {size}', "client status size no user"),
    # columns
    (
        "2024-05-13\t21:58:24\t{client}\tGET\t/a\tb={n}\t{status}\t{size}\tcurl/8 (x; y)",
        "client query status size date agents",
    ),
    (
        "{iso}|{user}|{client}|GET|https://a.example/|{status}|{size}|{s}|{agent}|x",
        "user client url status size duration agent",
    ),
    ('"{iso}","{client}","GET","/a,b","{status}","{size}","{agent}"', "client status size agent"),
    ('["{iso}", "{client}", "GET", "/a", {status}, {size}, {s}]', "client status size duration"),
    ("HIT|{status}|{n}|{client}|{referer}|https://a.example/|{agent}", "status client referer url agent"),
]
VALUES = [
    {"client": "192.0.2.8", "user": "alice", "status": 200, "size": 47110, "agent": "curl/8.5", "referer": "http://a.example/",
     "request": "GET /a HTTP/1.1", "short": "GET /a", "ms": 12, "s": "0.012", "n": 3},
    {"client": "2001:db8::9", "user": "-", "status": 404, "size": 88, "agent": "-", "referer": "-",
     "request": "POST /b HTTP/1.1", "short": "POST /b", "ms": 1503, "s": "1.503", "n": 4},
]  # fmt: skip


@each_row(("written", "told"), HINTED)
def test_a_format_to_begin_with_reads_fields_right(written, told):
    times = {"clf": "10/Oct/2024:13:55:36 +0000", "iso": "2024-10-10T13:55:40.5Z"}
    lines = [written.format(**values, **times).encode() for values in VALUES]
    with pytest.raises(logs.FormatError) as caught:
        list(logs.parse(lines))
    records = list(logs.parse(lines, caught.value.suggestion))
    for record, values in zip(records, VALUES, strict=True):
        wanted = {
            "client": record.client == values["client"],
            "user": (record.user or "-") == values["user"],
            "clf": record.time == "2024-10-10T13:55:36+00:00",
            "request": f"{record.method} {record.target} {record.protocol}" == values["request"],
            "status": record.status == values["status"],
            "size": record.bytes_sent == values["size"],
            "referer": (record.referer or "-") == values["referer"],
            "agent": (record.user_agent or "-") == values["agent"],
            "duration": record.duration == values["ms"] / 1000,
            "day": record.time == "2024-05-13T21:58:06",
            "date": record.time is None and {"date", "clock"} <= {*(record.extra or ())},
            "method": record.method == "get",
            "url": record.target == "https://a.example/",
            "query": record.query == (("b", str(values["n"])),),
            "agents": record.user_agent == "curl/8 (x; y)",
        }
        names, _, others = told.partition(" no ")
        assert [name for name in names.split() if not wanted[name]] == []
        fields = {"size": "bytes_sent", "agent": "user_agent"}
        assert [name for name in others.split() if getattr(record, fields.get(name, name)) is not None] == []


# Records in JSON, or lines of logfmt or CSV below the names of their values, and the fields of the last one.
IP, NOW = "192.0.2.8", "2024-10-10T13:55:36Z"
NAMED = [
    (
        [
            {
                "t": 1715637509150,
                "q": {"m": "HEAD", "u": "/", "h": {"ua": "x/1", "ref": "-"}},
                "r": {"s": 500, "b": 7},
                "dur_us": 1500,
            },
            {
                "t": 1715637509151,
                "q": {"m": "GET", "u": "/a", "h": {"ua": "y/1", "ref": "http://a.example/"}},
                "r": {"s": 200, "b": 8},
                "dur_us": 1502750000,
            },
        ],
        {
            "method": "GET",
            "target": "/a",
            "user_agent": "y/1",
            "referer": "http://a.example/",
            "status": 200,
            "bytes_sent": 8,
            "duration": 1502.75,
        },
    ),
    (
        [
            {
                "date": NOW,
                "from": IP,
                "line": "GET /a HTTP/1.1",
                "outcome": n,
                "line_no": 200,
                "len": 9,
                "response_time_in_ms": 12.5,
                "x": {"agent": "curl/8.5"},
                "http_ref": "http://a.example/",
            }
            for n in (201, 404)
        ],
        {
            "client": IP,
            "method": "GET",
            "target": "/a",
            "status": 404,
            "bytes_sent": 9,
            "duration": 0.0125,
            "user_agent": "curl/8.5",
            "referer": "http://a.example/",
        },
    ),
    (
        [
            {
                "upstream": {"status": 502, "addr": "192.0.2.9", "duration_ms": 3},
                "request": {"bytes": 5},
                "host": {"name": "node-3"},
                "peer": f"{IP}:80",
                "user_agent.original": "x/1",
                "uri": "/a",
                "resp": {"status": 200},
                "Elapsed": 12.3,
                "wait_ms": 1,
            }
        ],
        {"client": IP, "target": "/a", "user_agent": "x/1", "status": 200},
    ),
    (
        [
            {
                "ts": NOW,
                "url.path": "/a%20b",
                "url.query": "c=1",
                "client.address": IP,
                "http.server.request.duration": 0.25,
                "code": 200,
            }
        ],
        {"client": IP, "path": "/a b", "query": (("c", "1"),), "status": 200},
    ),
    (
        [
            {
                "ts": NOW,
                "url.path": "/a",
                "url.query": "c=1",
                "client.address": IP,
                "http.server.request.duration": 0.055,
                "code": 200,
            }
        ],
        {"client": IP, "target": "/a?c=1", "status": 200, "duration": 0.055},
    ),
    # presets read them, but not what is essential
    (
        ['ts=1715637487.347 src=192.0.2.8 verb=HEAD uri="/a" rc=200 sz=4096 rt=0.0452 agent="x/1" ref="-"'],
        {"client": IP, "status": 200, "bytes_sent": 4096, "duration": 0.0452, "user_agent": "x/1", "referer": None},
    ),
    (
        ['ts="2024-10-10T13:55:36Z" src_ip="192.0.2.8" http_method="GET" url="/a" status="301"'],
        {"client": IP, "status": 301},
    ),
    (
        [
            "timestamp,client_ip,http_method,request_uri,response_code,response_size,latency_ms,user_agent",
            f"{NOW},{IP},PUT,/,404,10240,2405.1,curl/8.5.0",
            f'{NOW},{IP},GET,/,200,0,12.5,"Mozilla/5.0 (KHTML, like)"',
        ],
        {"client": IP, "method": "GET", "status": 200, "bytes_sent": 0, "duration": 0.0125, "user_agent": None},
    ),
    (
        ['"Start","Source","Login","Result","Micros","db"', f'"{NOW}","{IP}","ann","200","1500","7"'],
        {"client": IP, "user": "ann", "status": 200, "duration": 0.0015, "extra": {"db": "7"}},
    ),
    (
        ["Datum;IP;URL;Status;Bytes;size;Size", f"13.05.2024 21:58:20;{IP};/a;304;0;1;2"],
        {
            "client": IP,
            "status": 304,
            "bytes_sent": 0,
            "time": "2024-05-13T21:58:20",
            "extra": {"size": "1", "Size": "2"},
        },
    ),
    (
        [
            "#Fields: time-taken c-ip filesize s-ip sc-status sc-bytes cs-uri-stem c-user-agent",
            f'300 {IP} 200 10.0.0.1 HIT/404 1500 /a "curl/8 (y)"',
        ],
        {"client": IP, "bytes_sent": 1500, "target": "/a", "user_agent": "curl/8 (y)"},
    ),
    (
        ["#when\tsrc\tdst\tpath\tcode\tin_bytes\tms", f"{NOW}\t{IP}\t10.0.0.1\t/a\t200\t120\t15"],
        {"client": IP, "target": "/a", "status": 200, "duration": 0.015},
    ),
    (
        [
            '10.0.0.1 - - [10/Oct/2024:13:55:36 +0000] "POST / HTTP/1.1" 200 317 Get-Printers ok 7',
            'localhost - ann [10/Oct/2024:13:55:36 +0000] "GET /a HTTP/1.1" 200 0 - - 7',
        ],
        {"client": "localhost", "user": "ann", "status": 200, "bytes_sent": 0},
    ),
    # names like those of fields, and what presets would read
    (
        [
            {
                "at": NOW,
                "resourceId": "/s",
                "cwd": "/b",
                "uri": "https://a.example/b",
                "contentLength": 0,
                "bytesSent": 385,
                "clientIP": f"::ffff:{IP}",
                "instance_ip": "10.0.0.1",
                "shard": 404,
                "httpCode": 200,
            }
        ],
        {"client": f"::ffff:{IP}", "target": "https://a.example/b", "status": 200, "bytes_sent": 385},
    ),
    (
        [{"at": NOW, "resourceId": "/s", "code": 200, "dst_ip": IP, "src": IP, "tx": 5}],
        {"client": IP, "status": 200, "target": None},
    ),
    (
        [f"time=10:11:12 src={IP} dst=10.0.0.1 url=/a status=200 bytes_out=5 duration=250.5"],
        {"client": IP, "target": "/a", "status": 200, "time": None},
    ),
    (
        ["date\ttime\tip\tpath\tquery\tstatus\tuser-agent", f"2024-10-10\t13:55:36\t{IP}\t/a\tb=1\t200\tcurl/8.5"],
        {"client": IP, "query": (("b", "1"),), "target": "/a?b=1", "status": 200, "user_agent": "curl/8.5"},
    ),
]


@each_row(("lines", "fields"), NAMED)
def test_a_format_to_begin_with_has_fields_by_their_names(lines, fields):
    data = [(line if isinstance(line, str) else json.dumps(line)).encode() for line in lines]
    with pytest.raises(logs.FormatError) as caught:
        list(logs.parse(data))
    *_, record = logs.parse(data, caught.value.suggestion)
    assert {name: getattr(record, name) for name in fields} == fields
    others = {"client", "user", "status", "bytes_sent", "duration", "referer", "user_agent"} - {*fields}
    assert [name for name in others if getattr(record, name) is not None] == []


def test_lines_of_many_parts_have_no_format_to_begin_with():
    for line in b"1ms 200 " * 200, b"a|" * 500, b"192.0.2.1 /a 200 x " * 90:
        with pytest.raises(logs.FormatError) as caught:
            list(logs.parse(line))
        assert caught.value.suggestion is None
