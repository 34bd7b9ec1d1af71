"""Lines as products write them, and what was sent, written by hand; by the exact reader and by marks."""

import json
from pathlib import Path

import pytest
from support import log_programs as naive
from support.fast_logs import check
from support.tables import each_row

from uricodec import logs
from uricodec.logs import Format
from uricodec.logs._detection import decide
from uricodec.logs._records import LogReader

ROOT = Path(__file__).parents[2]
REST = b'[10/Oct/2024:13:55:36 +0000] "GET /a?q=1 HTTP/1.1" 200 5 "-" "x"'


def read(format, *lines, **options):
    """The records of lines, after one that is not read by marks; None for those that are invalid."""
    format = Format(format) if isinstance(format, str) else Format(map=format)
    before = b"#" if isinstance(format._programs[0], logs._formats.W3c) else b"what precedes a log"
    data = b"".join(line + b"\n" for line in (before, *lines)) + 100 * b"x"
    check(format, data, **options)
    reader = LogReader(format.programs, **options)
    found = reader.convert(data, dst := bytearray(reader.capacity_for(len(data))))
    records = iter(map(json.loads, dst[: found.written].splitlines()))
    invalid = {line.line for line in found.invalid}
    return [None if number in invalid else next(records) for number in range(1, len(lines) + 1)]


def port_of(record):
    return (record.get("extra") or {}).get("client_port")


# --- addresses --------------------------------------------------------------------------------------------------------

CLIENTS = [
    ("198.51.100.7", "198.51.100.7", None),
    ("198.51.100.7:42918", "198.51.100.7", "42918"),
    ("198.51.100.7:0", "198.51.100.7", "0"),
    ("198.51.100.7:123456", "198.51.100.7:123456", None),
    ("2001:db8::1", "2001:db8::1", None),
    ("2001:db8::1:80", "2001:db8::1:80", None),
    ("2001:db8:1:2:3:4:5:6:80", "2001:db8:1:2:3:4:5:6", "80"),
    ("[2001:db8::1]:443", "2001:db8::1", "443"),
    ("[2001:db8::1]", "2001:db8::1", None),
    ("::ffff:192.0.2.1", "::ffff:192.0.2.1", None),
    ("::ffff:192.0.2.1:80", "::ffff:192.0.2.1", "80"),
    ("fe80::1%eth0", "fe80::1%eth0", None),
    ("::1", "::1", None),
    ("proxy.example.com:8080", "proxy.example.com", "8080"),
    ("proxy.example.com", "proxy.example.com", None),
    ("unix:", "unix:", None),
    ("-", None, None),
]


@each_row(("written", "client", "port"), CLIENTS)
def test_clients_lose_their_port(written, client, port):
    for format in "combined", '%h - %u %t "%r" %>s %b "%{Referer}i" "%{User-agent}i"':
        [record] = read(format, written.encode() + b" - - " + REST)
        if written == "198.51.100.7:123456":
            assert record is None  # neither an address nor the name of a host
        else:
            assert (record["client"], port_of(record)) == (client, port)
    line = json.dumps({"remote_addr": written, "uri": "/", "status": 200}).encode()
    for format in "nginx-json", {"client": "remote_addr", "target": "uri"}:
        [record] = read(format, line)
        assert (record["client"], port_of(record)) == (client, port)
    [record] = read("iis", f"#Fields: c-ip cs-uri-stem sc-status\n{written} / 200".encode())[:1]
    assert (record["client"], port_of(record)) == (client, port)


def test_a_port_that_a_log_names_itself():
    line = b'{"remote_addr":"192.0.2.1:80","client_port":"7","uri":"/","status":200}'
    assert port_of(read("nginx-json", line)[0]) == "7"
    records = read("%h %{client_port}e %s", b"192.0.2.1:80 7 200", b"192.0.2.1:80 - 200")
    assert [port_of(each) for each in records] == ["7", "80"]


def test_ports_of_a_list():
    line = b"203.0.113.5:33453, [2001:db8::5]:44, unknown, 10.0.0.1 - - " + REST
    addresses = ["203.0.113.5", "2001:db8::5", "unknown", "10.0.0.1"]
    [record] = read("combined-forwarded", line, client="forwarded")
    assert (record["client"], record["forwarded_for"], port_of(record)) == ("203.0.113.5", addresses, "33453")
    [record] = read("combined-forwarded", line)
    assert (record["client"], record["forwarded_for"], port_of(record)) == (None, addresses, None)
    json_line = b'{"http_x_forwarded_for":"203.0.113.5:33453, 10.0.0.1:44","remote_addr":"192.0.2.9:1","status":200}'
    [record] = read("nginx-json", json_line, client="forwarded")
    assert (record["client"], record["forwarded_for"], port_of(record)) == (
        "203.0.113.5",
        ["203.0.113.5", "10.0.0.1"],
        "33453",
    )
    assert port_of(read("nginx-json", json_line)[0]) == "1"


def test_conditions_and_counts_of_clients_with_ports():
    lines = [f"{client} - - ".encode() + REST for client in ("198.51.100.7:1", "198.51.100.7:2", "192.0.2.1:3")]
    data = b"\n".join(lines) + b"\n"
    found = [record.extra for record in logs.parse(data, "combined", where=["client=198.51.100.0/24"])]
    assert found == [{"client_port": "1"}, {"client_port": "2"}]
    assert [(row["client"], row["count"]) for row in logs.count(data, ["client"], "combined")] == [
        ("198.51.100.7", 2),
        ("192.0.2.1", 1),
    ]
    assert [r.client for r in logs.parse(data, "combined", where=["extra.client_port=3"])] == ["192.0.2.1"]


@each_row(
    ("before", "client"),
    [
        (b"INFO:werkzeug:198.51.100.7", "198.51.100.7"),
        (b"INFO:gunicorn.access:198.51.100.7:80", "198.51.100.7"),
        (b"access.log:198.51.100.7", "198.51.100.7"),
        (b"logs/access.log.1:12:198.51.100.7", "198.51.100.7"),
        (b"12:198.51.100.7", "198.51.100.7"),
        (b"access.log:2001:db8::1", "2001:db8::1"),
        (b"access.log:[2001:db8::1]:80", "2001:db8::1"),
        (b"INFO:werkzeug:proxy.example.com", None),
        (b"access.log:-", None),
        (b"a:" * 5000 + b"x", None),
    ],
)
def test_names_before_the_client_are_skipped(before, client):
    record, other = read("combined", before + b" - - " + REST, b"192.0.2.1 - - " + REST)
    assert (record and record["client"]) == client and other["client"] == "192.0.2.1"
    record, _ = read(
        "combined-forwarded", before + b", 10.0.0.1 - - " + REST, b"192.0.2.1 - - " + REST, client="forwarded"
    )
    assert (record and record["client"]) == client


# --- users and times --------------------------------------------------------------------------------------------------


def test_users():
    for format in "combined", '%h %l %u %t "%r" %>s %b "%{Referer}i" "%{User-agent}i"':
        jetty, apache, name = read(
            format, b"198.51.100.7 -  -  " + REST, b'198.51.100.7 - "" ' + REST, b"198.51.100.7 - a-b " + REST
        )
        assert [each["user"] for each in (jetty, apache, name)] == [None, "", "a-b"]


@pytest.mark.parametrize(
    ("format", "written", "time"),
    [
        ("%{[%d/%b/%Y:%H:%M:%S}t.%{msec_frac}t %{%z]}t", "[10/Oct/2024:13:55:36.123 +0200]", "13:55:36.123+02:00"),
        ("%{[%d/%b/%Y:%T}t.%{usec_frac}t]", "[10/Oct/2024:13:55:36.123456]", "13:55:36.123456"),
        ("%{(%F %T)}t", "(2024-10-10 13:55:36)", "13:55:36"),
        ("%{%Y-%m-%dT%H:%M:%SZ}t", "2024-10-10T13:55:36Z", "13:55:36Z"),
    ],
)
def test_times_with_brackets(format, written, time):
    [record] = read(f'%h {format} "%r" %>s', f'192.0.2.1 {written} "GET / HTTP/1.1" 200'.encode())
    assert (record["time"], record["path"]) == (f"2024-10-10T{time}", "/")


GREEN, RED, RESET = b"\x1b[32m", b"\x1b[1;31m", b"\x1b[0m"


@pytest.mark.parametrize(
    "line",
    [
        b"192.0.2.1 - - [10/Oct/2024:13:55:36 +0000] " + RED + b'"GET /a HTTP/1.1"' + RESET + b" 404 -",
        b'192.0.2.1 - - [10/Oct/2024:13:55:36 +0000] "' + GREEN + b"GET /a HTTP/1.1" + RESET + b'" 404 -',
        b"\x1b[36mweb-1  |" + RESET + b' 192.0.2.1 - - [10/Oct/2024:13:55:36 +0000] "GET /a HTTP/1.1" 404 -',
        rb'{"log":"\u001b[32m192.0.2.1 - - [10/Oct/2024:13:55:36 +0000] \"GET /a HTTP/1.1\" 404 -\u001b[0m\n"}',
        rb'{"a":1,"message":"\u001b[m\u001b[K192.0.2.1 - - [10/Oct/2024:13:55:36 +0000] \"GET /a HTTP/1.1\" 404 -"}',
    ],
)
def test_colors(line):
    record, other = read("common", line, line)
    assert record == other
    assert [record[name] for name in ("client", "method", "path", "status")] == ["192.0.2.1", "GET", "/a", 404]


def test_colors_and_other_escapes():
    line = GREEN + b'{"status":200,' + RED + b'"uri":"/a\x1b","x":"\x1b["}' + RESET
    assert read("nginx-json", line)[0]["path"] == "/a\x1b"
    reader = LogReader(Format("common").programs)
    [invalid] = reader.convert(GREEN + b"192.0.2.1 - - [x] oh no" + RESET, bytearray(9999)).invalid
    assert (invalid.code, invalid.offset) == ("time", len(GREEN) + len("192.0.2.1 - - ["))


# --- quotes -----------------------------------------------------------------------------------------------------------

S3 = (
    b'79a59df900b9 bucket [06/Feb/2019:00:00:38 +0000] 192.0.2.3 - 3E57427F3 REST.GET.OBJECT k "GET /k HTTP/1.1" 200 '
    b'- 113 2048 7 6 "-" "%b" - s9lzHYrFp76= SigV4 ECDHE-RSA AuthHeader b.s3.amazonaws.com TLSV1.2 - -'
)
ELB = (
    b"2015-05-13T23:39:43.945958Z lb 192.0.2.160:2817 10.0.0.1:80 0.000073 0.001048 0.000057 200 200 0 29 "
    b'"GET http://www.example.com:80/k HTTP/1.1" "%b" DHE-RSA-AES128-SHA TLSv1.2'
)
ALB = (
    b"h2 2018-07-02T22:23:00.186641Z app/lb/50dc6c495c0c9188 192.0.2.160:2817 10.0.0.66:9000 0.000 0.002 0.000 200 200 "
    b'5 257 "GET https://10.0.2.105:773/k HTTP/2.0" "%b" ECDHE-RSA TLSv1.2 arn:aws:x "Root=1-58337327" "-" "-" 1 '
    b'2018-07-02T22:22:48.364000Z "redirect" "https://example.com:80/" "-" "10.0.0.66:9000" "200" "-" "-"'
)
TRAEFIK = (
    b'192.0.2.3 - - [10/Oct/2024:13:55:36 +0000] "GET /k HTTP/1.1" 200 5 "-" "%b" 7 "web@docker" "http://10.0.0.1:80" '
    b"12ms"
)
AGENTS = [
    b'linux64 sra-toolkit prefetch.2.11.0 "2.11" (phid=1)', b'Safari/604.1"', b'"x', b'a" - b', b'a" "b" "c', b'" "',
    b'a" - s9lzHYrFp76= SigV4 ECDHE-RSA AuthHeader b.s3.amazonaws.com TLSV1.2 - - b',
    b'a" ECDHE-RSA TLSv1.2 arn:aws:x "Root=1" "-" "-',
]  # fmt: skip
PRODUCTS = {
    "s3": (S3, lambda record: record["extra"]["signature_version"] == "SigV4" and "rest" not in record["extra"]),
    "elb": (ELB, lambda record: record["extra"]["ssl_protocol"] == "TLSv1.2" and "rest" not in record["extra"]),
    "alb": (ALB, lambda record: record["extra"]["target_port_list"] == "10.0.0.66:9000"),
    "traefik": (TRAEFIK, lambda record: record["extra"]["router_name"] == "web@docker" and record["duration"] == 0.012),
}


@each_row("name", PRODUCTS)
@each_row("agent", AGENTS)
def test_agents_with_quotes(name, agent):
    line, has_the_rest = PRODUCTS[name]
    record, other = read(name, line % agent, line % b"x")
    assert record["user_agent"] == agent.decode() and has_the_rest(record)
    assert other["user_agent"] == "x" and has_the_rest(other)


def test_quotes_after_the_fields_of_a_format():
    """New fields at the end of S3's format do not belong to the agent."""
    [record] = read("s3", S3 % b"x" + b' "new field" 7')
    assert (record["user_agent"], record["extra"]["rest"]) == ("x", '"new field" 7')
    [record] = read("combined", b"192.0.2.1 - - " + REST + b' "1.2.3.4" x')
    assert (record["user_agent"], record["extra"]["rest"]) == ("x", '"1.2.3.4" x')
    [record] = read('%h "%{User-agent}i" %D', b'192.0.2.1 "a" 5 b" 7000000')
    assert (record["user_agent"], record["duration"]) == ('a" 5 b', 7.0)


@each_row(
    ("rest", "agent", "more"),
    [
        (b'"Mozilla "5.0" (X11)"', 'Mozilla "5.0" (X11)', None),
        (b'"curl" x"', 'curl" x', None),
        (b'"a "b" c" "192.0.2.9"', 'a "b" c', '"192.0.2.9"'),
        (b'"a" "192.0.2.9"', "a", '"192.0.2.9"'),
        (b'"a" "192.0.2.9', "a", '"192.0.2.9'),  # cut off
        (b'"a" "192.0.2.9" "', "a", '"192.0.2.9" "'),
        (b'"a" "', "a", '"'),
        (b'"a" x', "a", "x"),
        (rb'"a \"b" c" "x\""', 'a "b" c', r'"x\""'),
    ],
)
def test_quotes_that_are_not_escaped_before_other_fields(rest, agent, more):
    """The agent ends where the quotes of what follows are in pairs."""
    [record] = read("combined", b"192.0.2.1 - - " + REST.replace(b'"x"', rest))
    assert (record["user_agent"], (record["extra"] or {}).get("rest") if "extra" in record else None) == (agent, more)


@each_row(
    ("site", "is_read", "is_found"),
    [
        (b"www.example.com", True, True),
        (b"xn--rsum-bpad.example", True, True),
        (b"localhost", True, True),
        (b"_", True, True),
        (b"default", True, True),
        (b"192.0.2.7", True, True),
        (b"192.0.2.7:443", True, True),
        (b"[2001:db8::1]:443", True, True),
        (b"www.example.com:443", True, True),
        (b"intranet:80", True, True),
        (b'"www.example.com"', True, True),
        (b'"intranet"', True, True),
        (b"web01", True, False),  # it may be the name of the machine
        (b"i-0abc1234", True, False),
        (b"release-1.2.3", True, False),
        (b"my stream", False, False),
        (b"a$b", False, False),
    ],
)
def test_sites_that_begin_a_line(site, is_read, is_found):
    """The name of a stream of logs is none, and that of a machine is not taken for one unasked."""
    line = site + b" 203.0.113.7 - - " + REST
    [record] = read("vhost_combined", line)
    name, _, port = site.decode().strip('"').partition("]:" if site.startswith(b"[") else ":")
    if is_read:
        assert record["vhost"] == (name + "]" if site.startswith(b"[") else name)
        assert record["client"] == "203.0.113.7" and (record["extra"] or {}).get("port") == (port or None)
    else:
        assert record is None
    assert next(logs.parse(b"my-stream/[$LATEST]abc 203.0.113.7 - - " + REST)).vhost is None
    if is_found and site != b"192.0.2.7":  # which may be of X-Forwarded-For
        assert next(logs.parse(line)).vhost == record["vhost"]
    elif not is_found:
        with pytest.raises(logs.FormatError, match="unknown log format"):
            list(logs.parse(line))


@each_row(
    "before",
    [
        *(b"<133>Dec 23 15:31:15 web01 mds-acc ", b"<190>2024-12-23T15:31:15Z web01 mds-acc "),
        *(b"   2024-10-10T13:55:36.20+0000 [APP/PROC/WEB/0] OUT ", b"2024-10-10T13:55:36.20+0000 [RTR/0]      ERR "),
    ],
)
def test_words_before_a_line(before):
    line = b"203.0.113.7 - - " + REST
    found, whole = read("combined", before + line, line)
    assert found == whole and list(logs.parse(before + line)) == list(logs.parse(line))


@each_row(
    ("written", "format", "fields"),
    [
        ('2026-03-11 13:56:58,403 [INFO] {}:5 - "GET / HTTP/1.1" 200', "uvicorn", {"time": "2026-03-11T13:56:58.403"}),
        ('2026-03-11 13:56:58 INFO:     {}:5 - "GET / HTTP/1.1" 200 OK', "uvicorn", {"time": "2026-03-11T13:56:58"}),
        ('{}:5 - "GET / HTTP/1.1" 200 OK', "uvicorn", {"time": None}),
        (
            'ACCESS [2024-10-10T13:55:36.1Z] "GET / HTTP/1.1" 200 - 0 135 4 2 "{}" "x" "8" "h" "10.1.1.1:80"',
            "envoy",
            {"client": None, "forwarded_for": ("192.0.2.8",), "duration": 0.004, "bytes_sent": 135},
        ),
        (
            '{{"level":"info","ts":1.5,"msg":"","status":200,"method":"GET","path":"/","ip":"{}","latency":0.1,"time":"x"}}',
            "zap",
            {"time": "1970-01-01T00:00:01.5Z", "duration": 0.1},
        ),
    ],
)
def test_programs_that_write_a_little_more(written, format, fields):
    line = written.format("192.0.2.8").encode()
    assert str(logs.detect(line)[0].format) == format
    [record] = logs.parse(line)
    wanted = {"client": "192.0.2.8", "method": "GET", "target": "/", "status": 200} | fields
    assert {name: getattr(record, name) for name in wanted} == wanted
    read(format, line)


@each_row(
    ("request", "parts"),
    [
        (b"GET /a?b 1.1", ("GET", "/a?b", "HTTP/1.1")),
        (b"GET /a b 2", ("GET", "/a b", "HTTP/2")),
        (b"POST / 3", ("POST", "/", "HTTP/3")),
        (b"GET /a 1.2", ("GET", "/a 1.2", None)),
        (b"GET /a 4", ("GET", "/a 4", None)),
        (b"GET a 1.1", (None, "GET a 1.1", None)),
        (b"GET /a 1.1 HTTP/1.1", ("GET", "/a 1.1", "HTTP/1.1")),
    ],
)
def test_versions_without_a_name(request, parts):
    """Hypercorn writes them."""
    [record] = read("combined", b"192.0.2.1:50 - - " + REST.replace(b"GET /a?q=1 HTTP/1.1", request))
    assert (record["method"], record["target"], record["protocol"]) == parts


# --- formats of the configuration of servers --------------------------------------------------------------------------


def check_lines(format, rows, is_found=True):
    """Each line has the values of its row, by all readers; it is what the reference reads; presets are found alone."""
    found = read(format, *(line.encode() for line, _ in rows))
    for (line, values), record in zip(rows, found, strict=True):
        assert record, line
        extra = record.pop("extra", None) or {}
        given = {name: value for name, value in {**record, **extra}.items() if value is not None}
        assert given == values, line
        wanted = naive.shown(naive.record(line.encode(), format), format)
        assert record == {name: value for name, value in wanted.items() if name != "extra"}
        assert extra == (wanted.get("extra") or {})
    if is_found and format in logs.presets():
        [best, *_] = logs.detect("".join(f"{line}\n" for line, _ in rows).encode())
        assert str(best.format) == format


# What HAProxy's manual has as formats: HTTP, TCP, CLF.
HTTP = "%ci:%cp [%tr] %ft %b/%s %TR/%Tw/%Tc/%Tr/%Ta %ST %B %CC %CS %tsc %ac/%fc/%bc/%sc/%rc %sq/%bq %hr %hs %{+Q}r"
TCP = "%ci:%cp [%t] %ft %b/%s %Tw/%Tc/%Tt %B %ts %ac/%fc/%bc/%sc/%rc %sq/%bq"
CLF = (
    r'%{+Q}o %{-Q}ci - - [%trg] %r %ST %B "" "" %cp %ms %ft %b %s %TR %Tw %Tc %Tr %Ta %tsc %ac %fc %bc %sc %rc %sq %bq '
    r"%CC %CS %hrl %hsl"
)
PLACE = {"frontend": "http-in", "backend": "static", "server": "srv1"}
COUNTS = {"actconn": "1", "feconn": "1", "beconn": "1", "srv_conn": "1", "retries": "0", "srv_queue": "0"}
COUNTS |= {"backend_queue": "0"}
TIMERS = {"request_timer": "10", "queue_timer": "0", "connect_timer": "30", "response_timer": "69"}
HAPROXY_HTTP = {"time": "2009-02-06T12:14:14.655", **PLACE, **TIMERS, **COUNTS, "duration": 0.109}
HAPROXY_HTTP |= {"termination_state": "----", "client": "10.0.1.2", "client_port": "33317", "status": 200}
HAPROXY_HTTP |= {"bytes_sent": 2750, "method": "GET", "target": "/index.html", "path": "/index.html"}
HAPROXY_HTTP |= {"protocol": "HTTP/1.1"}
START = "10.0.1.2:33317 [06/Feb/2009:12:14:14.655] http-in static/srv1 10/0/30/69/109 200 2750 - - ---- 1/1/1/1/0 0/0 "


def changed(values, **others):
    """A record with other values; those that are None are missing."""
    return {name: value for name, value in {**values, **others}.items() if value is not None}


def test_haproxys_http_format():
    hash_escapes = "GET /#22x#22 HTTP/1.1"
    rows = [
        (START + '{1wt.eu} {} "GET /index.html HTTP/1.1"',
         changed(HAPROXY_HTTP, captured_request_headers="1wt.eu")),
        (START + '{a.example|curl#22x} {nginx|} "GET /index.html HTTP/1.1"',
         changed(HAPROXY_HTTP, captured_request_headers='a.example|curl"x', captured_response_headers="nginx|")),
        (START + '{only one} "GET /index.html HTTP/1.1"', changed(HAPROXY_HTTP, captured_headers="only one")),
        (START + '"GET /index.html HTTP/1.1"', HAPROXY_HTTP),
        (START + f'"{hash_escapes}"', changed(HAPROXY_HTTP, target='/"x"', path='/"x"')),
        ("2001:db8::1:443 " + START.partition(" ")[2] + '"GET /index.html HTTP/1.1"',
         changed(HAPROXY_HTTP, client="2001:db8::1", client_port="443")),
        (START.replace("http-in static/srv1 10/0/30/69/109 200", "http-in~ static/<NOSRV> 10/-1/-1/-1/+12 503")
         .replace("----", "SC--") + '"GET /index.html HTTP/1.1"',
         changed(HAPROXY_HTTP, frontend="http-in~", server="<NOSRV>", queue_timer="-1", connect_timer="-1",
                 response_timer="-1", duration=0.012, status=503, termination_state="SC--")),
        (START.replace("200 2750", "-1 +2750").replace("- - ----", "SID=a SID=b cD--") + '"<BADREQ>"',
         changed(HAPROXY_HTTP, status=None, captured_request_cookie="SID=a", captured_response_cookie="SID=b",
                 termination_state="cD--", method=None, target="<BADREQ>", path=None, protocol=None)),
    ]  # fmt: skip
    check_lines(HTTP, rows)
    check_lines(f'log-format "{HTTP}"', rows)
    check_lines("log-format " + HTTP.replace(" ", "\\ "), rows)


def test_haproxys_tcp_and_clf_formats():
    tcp = {"client": "10.0.1.2", "client_port": "33313", "time": "2009-02-06T12:12:51.443", "frontend": "fnt"}
    tcp |= {"backend": "bck", "server": "srv1", "queue_timer": "0", "connect_timer": "0", "duration": 5.007}
    tcp |= {"bytes_sent": 212, "termination_state": "--", **COUNTS, "retries": "3"}
    line = "10.0.1.2:33313 [06/Feb/2009:12:12:51.443] fnt bck/srv1 0/0/5007 212 -- 1/1/1/1/3 0/0"
    rows = [
        (line, tcp),
        (line.replace("10.0.1.2", "::1").replace("0/0/5007 212", "-1/-1/+0 +0"),
         changed(tcp, client="::1", queue_timer="-1", connect_timer="-1", duration=0.0, bytes_sent=0)),
    ]  # fmt: skip
    check_lines(TCP, rows)
    check_lines("haproxy", rows)
    clf = changed(HAPROXY_HTTP, time="2009-02-06T12:14:14+00:00", client="192.0.2.1", milliseconds="655")
    line = (
        '192.0.2.1 - - [06/Feb/2009:12:14:14 +0000] "GET /index.html HTTP/1.1" 200 2750 "" "" 33317 655 "http-in" '
        '"static" "srv1" 10 0 30 69 109 ---- 1 1 1 1 0 0 0 "-" "-"'
    )
    rows = [(line, clf), (line + ' "a.example" "nginx"', changed(clf, rest='"a.example" "nginx"'))]
    check_lines(CLF, rows)
    check_lines("haproxy", rows, is_found=False)  # "combined" reads them, too, with a rest


# Envoy, "Access logging": Default format string.
ENVOY = (
    '[%START_TIME%] "%REQ(:METHOD)% %REQ(X-ENVOY-ORIGINAL-PATH?:PATH)% %PROTOCOL%" %RESPONSE_CODE% %RESPONSE_FLAGS% '
    "%BYTES_RECEIVED% %BYTES_SENT% %DURATION% %RESP(X-ENVOY-UPSTREAM-SERVICE-TIME)% "
    '"%REQ(X-FORWARDED-FOR)%" "%REQ(USER-AGENT)%" "%REQ(X-REQUEST-ID)%" "%REQ(:AUTHORITY)%" "%UPSTREAM_HOST%"\\n'
)


def test_envoys_formats():
    values = {"time": "2016-04-15T20:17:00.310Z", "method": "POST", "target": "/api/v1/locations?a=b", "status": 204}
    values |= {"path": "/api/v1/locations", "query": [["a", "b"]], "protocol": "HTTP/2", "bytes_received": "154"}
    values |= {"bytes_sent": 0, "duration": 0.226, "upstream_service_time": "100", "user_agent": "nsq2http"}
    values |= {"forwarded_for": ["10.0.35.28"], "request_id": "cc21d9b0", "vhost": "locations"}
    values |= {"upstream_host": "tcp://10.0.2.1:80"}
    line = (
        '[2016-04-15T20:17:00.310Z] "POST /api/v1/locations?a=b HTTP/2" 204 - 154 0 226 100 "10.0.35.28" "nsq2http" '
        '"cc21d9b0" "locations" "tcp://10.0.2.1:80"'
    )
    rows = [
        (line, values),
        (line.replace("nsq2http", r"a \x41 b"), changed(values, user_agent=r"a \x41 b")),
        (line.replace('"POST /api/v1/locations?a=b HTTP/2" 204 - 154 0 226 100', '"- - HTTP/1.1" 400 DPE 0 11 0 -')
         .replace('"10.0.35.28" "nsq2http" "cc21d9b0" "locations" "tcp://10.0.2.1:80"', '"-" "-" "-" "-" "-"'),
         {"time": values["time"], "protocol": "HTTP/1.1", "status": 400, "response_flags": "DPE", "bytes_received": "0",
          "bytes_sent": 11, "duration": 0.0}),
    ]  # fmt: skip
    check_lines(ENVOY, rows)
    check_lines(
        "%START_TIME(%Y/%m/%d %H:%M:%S)% %DOWNSTREAM_REMOTE_ADDRESS% %REQ(X-A?X-B):20% %RESPONSE_CODE% %PROTOCOL%",
        [
            ("2024/10/10 13:55:36 [2001:db8::1]:443 b 200 HTTP/3",
             {"time": "2024-10-10T13:55:36", "client": "2001:db8::1", "client_port": "443", "X-A?X-B": "b",
              "status": 200, "protocol": "HTTP/3"}),
            ("2024/10/10 13:55:36 192.0.2.1:42918 - 0 -",
             {"time": "2024-10-10T13:55:36", "client": "192.0.2.1", "client_port": "42918", "status": 0}),
        ],
    )  # fmt: skip
    check_lines(
        "[%START_TIME(%s.%3f)%] %REQ(:PATH)% %RESPONSE_CODE%",
        [
            (
                "[1728568536.123] /a 200",
                {"time": "2024-10-10T13:55:36.123Z", "target": "/a", "path": "/a", "status": 200},
            )
        ],
    )


def test_istio_before_1_5():
    """Istio 1.1, "Getting Envoy's Access Logs": with the status of Mixer, and without what later versions have."""
    line = (
        '[2019-03-06T09:31:27.354Z] "GET /status/418 HTTP/1.1" 418 - "-" 0 135 11 10 "-" "curl/7.60.0" "d209e46f" '
        '"httpbin:8000" "172.30.146.73:80" outbound|8000||httpbin.default.svc.cluster.local - 172.21.13.94:8000 '
        "172.30.146.82:60290 -"
    )
    values = {"time": "2019-03-06T09:31:27.354Z", "method": "GET", "target": "/status/418", "path": "/status/418"}
    values |= {"protocol": "HTTP/1.1", "status": 418, "bytes_received": "0", "bytes_sent": 135, "duration": 0.011}
    values |= {"upstream_service_time": "10", "user_agent": "curl/7.60.0", "request_id": "d209e46f"}
    values |= {"vhost": "httpbin:8000", "upstream_host": "172.30.146.73:80", "client": "172.30.146.82"}
    values |= {"upstream_cluster": "outbound|8000||httpbin.default.svc.cluster.local", "client_port": "60290"}
    values |= {"downstream_local_address": "172.21.13.94:8000"}
    check_lines("envoy", [(line, values), (line.replace("172.30.146.82:", "[::1]:"), changed(values, client="::1"))])


def test_json_of_ingress_nginx():
    """Its documentation: "Log format", JSON."""
    line = (
        '{"time": "2024-10-10T13:55:36+00:00", "remote_addr": "192.0.2.1", "x_forward_for": "203.0.113.7, 10.0.0.1", '
        '"request_id": "f1", "remote_user": "jo", "bytes_sent": 512, "request_time": 0.012, "status": 200, '
        '"vhost": "a.example", "request_proto": "HTTP/2.0", "path": "/a b", "request_query": "q=1", '
        '"request_length": 99, '
        '"duration": 0.012,"method": "GET", "http_referrer": "https://a.example/", "http_user_agent": "x \\"y\\"" }'
    ).replace("\\\\", "\\")
    values = {"time": "2024-10-10T13:55:36+00:00", "client": "192.0.2.1", "forwarded_for": ["203.0.113.7", "10.0.0.1"]}
    values |= {"request_id": "f1", "user": "jo", "bytes_sent": 512, "duration": 0.012, "status": 200}
    values |= {
        "vhost": "a.example",
        "protocol": "HTTP/2.0",
        "path": "/a b",
        "target": "/a b?q=1",
        "query": [["q", "1"]],
    }
    values |= {"request_length": "99", "method": "GET", "referer": "https://a.example/", "user_agent": 'x "y"'}
    check_lines("nginx-json", [(line, values)])
    alone = line.replace(' "request_time": 0.012,', "")
    check_lines("nginx-json", [(alone, values)])


def test_pythons_formats():
    # gunicorn: a quote in a header has a backslash.
    line = (
        '203.0.113.7, 10.0.0.1 [10/Oct/2024:13:55:36 +0200] "GET /caf\u00e9?q=a+b HTTP/1.1" 200 - 1234 <17> "a \\"b\\""'
    )
    values = {"forwarded_for": ["203.0.113.7", "10.0.0.1"], "time": "2024-10-10T13:55:36+02:00", "method": "GET"}
    values |= {"target": "/caf\u00e9?q=a+b", "path": "/caf\u00e9", "query": [["q", "a b"]], "protocol": "HTTP/1.1"}
    values |= {"status": 200, "duration": 0.001234, "pid": "17", "user_agent": 'a "b"'}
    format = '%({x-forwarded-for}i)s %(t)s "%(m)s %(U)s?%(q)s %(H)s" %(s)s %(b)s %(D)s %(p)s "%(a)s"'
    rows = [
        (line, values),
        (line.replace("203.0.113.7, 10.0.0.1", "-").replace("?q=a+b", "?").replace(r"a \"b\"", "-"),
         changed(values, forwarded_for=None, target="/caf\u00e9?", query=[], user_agent=None)),
    ]  # fmt: skip
    check_lines(format, rows)
    check_lines(f"access_log_format = '{format}'", rows)
    check_lines(
        '%(h)s %(l)s %(u)s %(t)s "%(r)s" %(s)s %(b)s "%(f)s" "%(a)s" %(L)s',
        [
            ('2001:db8::1 - jo [10/Oct/2024:13:55:36 +0000] "GET / HTTP/1.1" 200 5 "-" "-" 0.002345',
             {"client": "2001:db8::1", "user": "jo", "time": "2024-10-10T13:55:36+00:00", "method": "GET",
              "target": "/", "path": "/", "protocol": "HTTP/1.1", "status": 200, "bytes_sent": 5,
              "duration": 0.002345}),
        ],
    )  # fmt: skip
    # Uvicorn
    check_lines(
        '%(asctime)s %(levelprefix)s %(client_addr)s - "%(request_line)s" %(status_code)s',
        [
            ('2024-10-10 13:55:36,789 INFO:     192.0.2.1:4711 - "GET /a HTTP/1.1" 200 OK',
             {"time": "2024-10-10T13:55:36.789", "client": "192.0.2.1", "client_port": "4711", "method": "GET",
              "target": "/a", "path": "/a", "protocol": "HTTP/1.1", "status": 200}),
            ('2024-10-10 13:55:37,001 INFO:     ::1:4711 - "GET /a HTTP/1.1" 404 Not Found',
             {"time": "2024-10-10T13:55:37.001", "client": "::1", "client_port": "4711", "method": "GET",
              "target": "/a", "path": "/a", "protocol": "HTTP/1.1", "status": 404}),
            ('2024-10-10 13:55:37,001 INFO:     192.0.2.1:1 - "GET /a HTTP/1.1" 599',
             {"time": "2024-10-10T13:55:37.001", "client": "192.0.2.1", "client_port": "1", "method": "GET",
              "target": "/a", "path": "/a", "protocol": "HTTP/1.1", "status": 599}),
        ],
    )  # fmt: skip


def test_uwsgis_formats():
    values = {
        "client": "192.0.2.1",
        "time": "2024-10-10T13:55:36+00:00",
        "method": "GET",
        "target": "/a?b",
        "path": "/a",
    }
    values |= {"query": [["b", ""]], "protocol": "HTTP/1.1", "status": 200, "bytes_sent": 5, "duration": 0.000812}
    values |= {"user_agent": "curl/8.5.0"}
    line = '192.0.2.1 - - [10/Oct/2024:13:55:36 +0000] "GET /a?b HTTP/1.1" 200 5 "-" "curl/8.5.0" 812'
    check_lines(
        '%(addr) - %(user) [%(ltime)] "%(method) %(uri) %(proto)" %(status) %(size) "%(referer)" "%(uagent)" %(micros)',
        [(line, values), (line.replace("- - [", "- jo ["), changed(values, user="jo"))],
    )
    check_lines(
        "logformat = %(epoch)|%(var.HTTP_X_FORWARDED_FOR)|%(host)|%(status)|%(msecs)",
        [
            ("1728568536|203.0.113.7|a.example|200|12",
             {"time": "2024-10-10T13:55:36Z", "forwarded_for": ["203.0.113.7"], "vhost": "a.example", "status": 200,
              "duration": 0.012}),
            ("1728568536|-|-|200|0", {"time": "2024-10-10T13:55:36Z", "status": 200, "duration": 0.0}),
        ],
    )  # fmt: skip
    check_lines(
        "[%(ctime)] %(uri) %(status)",
        [
            (
                "[Wed Oct  9 08:00:01 2024] / 200",
                {"time": "2024-10-09T08:00:01", "target": "/", "path": "/", "status": 200},
            )
        ],
    )


AT = "[10/Oct/2024:13:55:36 +0000]"
VISIT = {"time": "2024-10-10T13:55:36+00:00", "method": "GET", "target": "/a%20b?x=1", "path": "/a b"}
VISIT |= {"query": [["x", "1"]], "protocol": "HTTP/1.1", "status": 200}
VISIT_FIELDS = ("method", "target", "path", "query", "protocol")
REQUEST = '"GET /a%20b?x=1 HTTP/1.1" 200'


def test_patterns_of_tomcat():
    """Attributes in braces, times of SimpleDateFormat, and paths that are not decoded."""
    values = changed(VISIT, bytes_sent=12)
    check_lines(
        '%h %{user}s %{app.tier}r %t "%r" %s %b %F',
        [
            (
                f"::1 42 val {AT} {REQUEST} 12 5",
                values | {"client": "::1", "user": "42", "app.tier": "val", "time_to_commit": "5"},
            )
        ],
    )
    remote = "%{org.apache.catalina.AccessLog.RemoteAddr}r"
    for format in (
        f'{remote} %u %t "%r" %s %b %D',
        f'<Valve className="x" pattern="{remote} %u %t &quot;%r&quot; %s %b %D"/>',
    ):
        check_lines(
            format,
            [(f"192.0.2.9 jo {AT} {REQUEST} 12 37", values | {"client": "192.0.2.9", "user": "jo", "%D": "37"})],
        )
    parts = values | {"client": "192.0.2.1", "forwarded_for": ["203.0.113.1", "10.0.0.1"], "time_to_commit": "5"}
    for pattern, time, found in (
        ("yyyy-MM-dd HH:mm:ss.SSS", "2024-10-10 13:55:36.123", "2024-10-10T13:55:36.123"),
        ("yyyy-MM-dd'T'HH:mm:ss.SSSXXX", "2024-10-10T13:55:36.123+02:00", "2024-10-10T13:55:36.123+02:00"),
        ("[dd/MMM/yyyy:HH:mm:ss Z]", AT, VISIT["time"]),
        ("begin:dd/MMM/yyyy HH:mm:ss", "10/Oct/2024 13:55:36", "2024-10-10T13:55:36"),
    ):
        check_lines(
            f"%{{{pattern}}}t %a %m %U%q %H %s %B %F %{{X-Forwarded-For}}i",
            [(f"{time} 192.0.2.1 GET /a%20b?x=1 HTTP/1.1 200 12 5 203.0.113.1, 10.0.0.1", parts | {"time": found})],
        )
    for written in (
        f"{AT} 0:0:0:0:0:0:0:1 GET /a%20b?x=1 HTTP/1.1 200 (15 ms)",
        f"{AT} ::1 GET /a%20b?x=1 HTTP/1.1 200 (15 ms)",
    ):
        client = written.split()[2]
        check_lines("%t %a %r %s (%D ms)", [(written, VISIT | {"client": client, "duration": 0.015})])


def test_the_format_of_jetty():
    format = '%{client}a - %u %{dd/MMM/yyyy:HH:mm:ss ZZZ|GMT}t "%r" %s %O "%{Referer}i" "%{User-Agent}i" %{ms}T'
    line = f'203.0.113.5 - Jean P {AT} {REQUEST} 1234 "-" "curl/8" 12'
    values = VISIT | {"client": "203.0.113.5", "user": "Jean P", "bytes_sent": 1234, "user_agent": "curl/8"}
    check_lines(format, [(line, values | {"duration": 0.012})])


def test_long_names_of_undertow():
    check_lines(
        '%{REMOTE_IP} %l %{REMOTE_USER} %{DATE_TIME} "%{REQUEST_LINE}" %{RESPONSE_CODE} %{BYTES_SENT} '
        '"%{i,User-Agent}" %{RESPONSE_TIME}',
        [(f'::1 - jo {AT} {REQUEST} 5 "a" 3', VISIT | {"client": "::1", "user": "jo", "bytes_sent": 5,
                                                             "user_agent": "a", "duration": 0.003})],
    )  # fmt: skip


LOGBACK = '%h %l %u [%t{dd/MMM/yyyy:HH:mm:ss Z,UTC}] "%r" %s %b "%i{Referer}" "%i{User-Agent}" %D'


def test_logback_access():
    """Dropwizard's format, long names, options, and what the layout writes without brackets."""
    first = VISIT | {"client": "192.0.2.1", "user": "jo", "bytes_sent": 12}
    rest = '12 "https://a.example/" "curl/8 (x)" 56'
    last = {"referer": "https://a.example/", "user_agent": "curl/8 (x)", "duration": 0.056}
    nothing = changed(first, user=None, bytes_sent=None) | {"duration": 0.001}
    check_lines(LOGBACK, [
        (f"192.0.2.1 - jo {AT} {REQUEST} {rest}", first | last),
        (f'192.0.2.1 - - {AT} {REQUEST} - "-" "-" 1', nothing),
    ])  # fmt: skip
    long = '%clientHost %l %user [%date] "%requestURL" %statusCode %bytesSent %elapsedTime "%header{User-Agent}"'
    agent = {"user_agent": "curl/8", "duration": 0.056}
    check_lines(long, [(f'192.0.2.1 - jo {AT} {REQUEST} 12 56 "curl/8"', first | agent)])
    check_lines(long + " [%threadName]%n", [
        (f'192.0.2.1 - jo {AT} {REQUEST} 12 56 "curl/8" [dw-4 - a]', first | agent | {"thread": "dw-4 - a"}),
    ])  # fmt: skip
    check_lines('%h %l %u [%t] "%r" %s %b "%i{Referer}" "%i{User-Agent}"', [
        (f'192.0.2.1 - jo {AT} {REQUEST} 12 "-" "curl/8"', first | {"user_agent": "curl/8"}),
    ])  # fmt: skip
    parts = "%remoteIP %date{ISO8601} %requestMethod %requestURI%queryString %protocol %server:%localPort %statusCode"
    check_lines(parts + " %elapsedSeconds %reqParameter{id} %reqCookie{sid} %responseHeader{Via} %reqAttribute{a}", [
        ("::1 2024-10-10 13:55:36,123 GET /a%20b?x=1 HTTP/1.1 a.example:80 200 2 7 s1 - -", VISIT | {
            "client": "::1", "time": "2024-10-10T13:55:36.123", "vhost": "a.example", "port": "80", "duration": 2.0,
            "id": "7", "sid": "s1"}),
        ("::1 2024-10-10 13:55:36,123 GET /a%20b?x=1 HTTP/1.1 a.example:80 200 2 - - v -", VISIT | {
            "client": "::1", "time": "2024-10-10T13:55:36.123", "vhost": "a.example", "port": "80", "duration": 2.0,
            "Via": "v"}),
    ])  # fmt: skip
    check_lines("%-15h %5s %t{yyyy-MM-dd'T'HH:mm:ss.SSSXXX,UTC} %U", [
        ("192.0.2.1         200 2024-10-10T13:55:36.123Z /a%20b", {
            "client": "192.0.2.1", "status": 200, "time": "2024-10-10T13:55:36.123Z", "target": "/a%20b",
            "path": "/a b"}),
    ])  # fmt: skip
    check_lines("%%%h%% [%5s] %date", [
        (f"%::1% [200] {AT[1:-1]}", {"client": "::1", "status": 200, "time": VISIT["time"]}),
    ])  # fmt: skip
    check_lines('%date{"HH:mm:ss,SSS", UTC} %r %s', [
        ("13:55:36,123 GET /a%20b?x=1 HTTP/1.1 200", VISIT | {"time": "13:55:36,123"}),
    ])  # fmt: skip
    # Without braces and long names: a time with brackets of the pattern is not Apache's. The unit is not known.
    check_lines('%h %l %u [%t] "%r" %s %b %D', [
        (f"192.0.2.1 - jo {AT} {REQUEST} 12 56", first | {"%D": "56"}),
        (f"192.0.2.1 - jo [{AT}] {REQUEST} 12 56", first | {"duration": 0.000056}),
    ])  # fmt: skip
    with pytest.raises(ValueError, match=r"'%requestUrl' at offset 3 .*'%requestURL'"):
        Format("%h %requestUrl %statusCode")


GLASSFISH = "%client.name% %auth-user-name% %datetime% %request% %status% %response.length%"


def test_glassfish():
    """What Payara and GlassFish write: quotes around texts, and names for what is missing; literals are dropped."""
    values = VISIT | {"client": "192.0.2.1", "user": "jo", "bytes_sent": 1234}
    at, request = '"10/Oct/2024:13:55:36 +0000"', '"GET /a%20b?x=1 HTTP/1.1"'
    for format in GLASSFISH, f'<access-log format="{GLASSFISH}" rotation-enabled="true"/>':
        assert Format(format).fields == ("client", "user", "time", *VISIT_FIELDS, "status", "bytes_sent")
    check_lines(GLASSFISH, [
        (f'"192.0.2.1" "jo" {at} {request} 200 1234', values),
        (f'"192.0.2.1" "NULL-AUTH-USER" {at} {request} 200 1234 ', changed(values, user=None)),
        (f'"host.example" "a b" {at} {request} 404 0', values | {
            "client": "host.example", "user": "a b", "status": 404, "bytes_sent": 0}),
    ])  # fmt: skip
    more = "%client.dns%|%datetime% [%http-method% %http-uri% %query-str% %http-version%] %status% %time-taken%"
    line = f'"192.0.2.1" {at} "POST" "/a%20b" {{}} "HTTP/1.1" 200 "56" '
    parts = changed(VISIT, method="POST") | {"client": "192.0.2.1", "duration": 0.056}
    check_lines(more, [
        (line.format('"x=1"'), parts),
        (line.format('"NULL-QUERY"'), changed(parts, query=None) | {"target": "/a%20b"}),
    ])  # fmt: skip
    headers = "%client.name% %datetime% %status% %header.user-agent% %referer% %header.Host% %vs.id% %cookie.sid%"
    line = f'"192.0.2.1" {at} 200 {{}} server "c1"'
    values = {"client": "192.0.2.1", "time": VISIT["time"], "status": 200, "virtual_server": "server", "sid": "c1"}
    agent, referer, host = {"user_agent": "x"}, {"referer": "http://r/"}, {"vhost": "a.example"}
    check_lines(headers, [
        (line.format('"x" "http://r/" "a.example"'), values | agent | referer | host),
        (line.format('"NULL-USER-AGENT" "http://r/" "a.example"'), values | referer | host),
        (line.format('"x" "NULL-REFERER" "a.example"'), values | agent | host),
        (line.format('"NULL-USER-AGENT" "NULL-REFERER" "NULL-HEADER-HOST"'), values),
    ])  # fmt: skip
    # Only four directives may have no value: others are what the log has.
    names = ("Host", "Referer", "User-Agent", "X-Forwarded-For")
    many = "%datetime% %referer% " + " ".join(f"%header.{name}%" for name in names)
    line = f'{at} "{{}}" "NULL-HEADER-HOST" "NULL-HEADER-REFERER" "NULL-HEADER-USER-AGENT" "{{}}"'
    values = {"time": VISIT["time"], "X-Forwarded-For": "10.0.0.1"}
    missing = values | {"X-Forwarded-For": "NULL-HEADER-X-FORWARDED-FOR"}
    check_lines(many, [
        (line.format("http://r/", "10.0.0.1"), values | {"referer": "http://r/"}),
        (line.format("NULL-REFERER", "NULL-HEADER-X-FORWARDED-FOR"), missing),
    ])  # fmt: skip
    # As some have converted it: with the literals of the format.
    literal = '%client.name% [%header.Host%] [%datetime%] "%request%" %status% %response.length%'
    check_lines(literal, [
        (f"192.0.2.1 [a.example] {AT} {REQUEST} 233", VISIT | {"client": "192.0.2.1", "vhost": "a.example",
                                                               "bytes_sent": 233}),
        (f'"192.0.2.1" "a.example" {at} {request} 200 233', VISIT | {"client": "192.0.2.1", "vhost": "a.example",
                                                                     "bytes_sent": 233}),
    ])  # fmt: skip
    assert read(GLASSFISH, f"192.0.2.1 jo {at} {request} 200 1234".encode()) == [None]
    with pytest.raises(ValueError, match=r"unknown directive '%client.nam%' at offset 0 .*'%client.name%'"):
        Format("%client.nam% %datetime%")


TRANSFORM = '{request>remote_ip} - {user_id} [{ts}] "{request>method} {request>uri} {request>proto}" {status} {size}'
TRANSFORM_COMBINED = f'{TRANSFORM} "{{request>headers>Referer>[0]}}" "{{request>headers>User-Agent>[0]}}"'


def test_caddys_transform_encoder():
    r"""Values are those of JSON, whose escapes they have, but for \"."""
    values = VISIT | {"client": "192.0.2.1", "user": "jo", "bytes_sent": 12}
    nobody = changed(values, user=None)
    line = f"192.0.2.1 - jo {AT} {REQUEST} 12"
    for format in TRANSFORM, "{common_log}", f"format transform `{TRANSFORM}` {{", 'format transform "{common_log}"':
        check_lines(format, [(line, values), (f"192.0.2.1 - - {AT} {REQUEST} 12", nobody)])
    check_lines(TRANSFORM_COMBINED, [
        (f'{line} "-" "a\\u0026b"', values | {"user_agent": "a&b"}),
        (f'{line} "http://r/?a\\u003d1" "x \\\\ y"', values | {"referer": "http://r/?a=1", "user_agent": "x \\ y"}),
        (f'{line} "-" "say "hi" (x)"', values | {"user_agent": 'say "hi" (x)'}),
    ])  # fmt: skip
    more = "{ts} {request>client_ip} {request>host} {request>uri} {status} {duration} {size} {resp_headers>Via>[0]}"
    check_lines(more, [
        ("1728568536.5 ::1 a.example:81 /a%20b?x=1 200 0.0045 12 1.1 x", changed(VISIT, method=None, protocol=None) | {
            "time": "2024-10-10T13:55:36.5Z", "client": "::1", "vhost": "a.example:81", "duration": 0.0045,
            "bytes_sent": 12, "Via": "1.1 x"}),
    ])  # fmt: skip
    check_lines("{request>remote_addr} {status}", [
        ("192.0.2.1:4711 200", {"client": "192.0.2.1", "client_port": "4711", "status": 200}),
    ])  # fmt: skip
    check_lines("{status} {request>uri} {request>headers>X-Id>[0]:request>uuid} {level}", [
        ("200 /a%20b?x=1 7 info", changed(VISIT, method=None, protocol=None, time=None) | {
            "request>headers>X-Id>[0]:request>uuid": "7", "level": "info"}),
    ])  # fmt: skip


def test_actix():
    """The same string is Apache's, which writes brackets around a time, and microseconds for %D."""
    format = '%a %t "%r" %s %b "%{Referer}i" "%{User-Agent}i" %T'
    values = VISIT | {"client": "192.0.2.1", "bytes_sent": 12, "user_agent": "curl/8"}
    of_actix = values | {"time": "2024-10-10T13:55:36.123456Z", "duration": 0.000123}
    line = '2024-10-10T13:55:36.123456Z "GET /a%20b?x=1 HTTP/1.1" 200 12 "-" "curl/8" 0.000123'
    check_lines(format, [
        (f"192.0.2.1:51234 {line}", of_actix | {"client_port": "51234"}),
        (f"192.0.2.1 {line}", of_actix),
        (f'192.0.2.1 {AT} {REQUEST} 12 "-" "curl/8" 2', values | {"duration": 2.0}),
    ])  # fmt: skip
    check_lines("%{r}a %t %s %D", [
        ("192.0.2.1 2024-10-10T13:55:36Z 200 1.5", {
            "client": "192.0.2.1", "time": "2024-10-10T13:55:36Z", "status": 200, "duration": 0.0015}),
        (f"192.0.2.1 {AT} 200 1500", {"client": "192.0.2.1", "time": VISIT["time"], "status": 200, "duration": 0.0015}),
    ])  # fmt: skip
    check_lines('%a "%t" %s', [
        ('::1 "2024-10-10T13:55:36Z" 200', {"client": "::1", "time": "2024-10-10T13:55:36Z", "status": 200}),
    ])  # fmt: skip
    # A line of another format is not one of Actix.
    others = (
        f"192.0.2.1 - - {AT} {REQUEST}",
        f'"::1" "jo" "10/Oct/2024" {REQUEST}',
        f"INFO:a:2001:db8::1 - - {AT} {REQUEST}",
    )
    assert read('%a %t "%r" %s', *map(str.encode, others)) == [None, None, None]
    assert Format('%a %t "%r" %s').explain(b'::1 2024-10-10T13:55:36+00:00 "GET / HTTP/1.1" 200').code == "time"
    for apache in '%h %l %u %t "%r" %>s %b', '%a %t "%r" %>s %b', '%v %a %t "%r" %s':
        assert len(Format(apache).programs) == 1


def test_atlassian():
    """Attributes of requests in Jira's server.xml, and the name of a thread in Confluence's."""
    format = (
        '%a %{jira.request.id}r %{jira.request.username}r %t "%m %U%{sanitized.query}r %H" %s %b %D '
        '"%{sanitized.referer}r" "%{User-Agent}i" "%{jira.request.assession.id}r"'
    )
    values = VISIT | {"client": "192.0.2.1", "bytes_sent": 12, "jira.request.id": "835x1x1", "user_agent": "curl/8"}
    values |= {"jira.request.username": "jo", "jira.request.assession.id": "1abc", "%D": "56"}
    line = f'192.0.2.1 835x1x1 jo {AT} {REQUEST} 12 56 "{{}}" "curl/8" "1abc"'
    check_lines(format, [
        (line.format("https://r/"), values | {"referer": "https://r/"}),
        (line.format("-"), values),
        (line.format("-").replace("?x=1", ""), changed(values, query=None) | {"target": "/a%20b"}),
    ])  # fmt: skip
    confluence = "%t %{X-AUSERNAME}o %I %h %r %s %Dms %b %{Referer}i %{User-Agent}i"
    check_lines(confluence, [
        (f"{AT} jo http-nio-8090-exec-1 192.0.2.1 GET /a%20b?x=1 HTTP/1.1 200 56ms 12 https://r/ curl/8 (x)", VISIT | {
            "client": "192.0.2.1", "X-AUSERNAME": "jo", "thread": "http-nio-8090-exec-1", "duration": 0.056,
            "bytes_sent": 12, "referer": "https://r/", "user_agent": "curl/8 (x)"}),
    ])  # fmt: skip


def test_times_of_undertow():
    format = """%{time,yyyy-MM-dd'T'HH:mm:ss.SSSXXX} %{i,X-Forwarded-For} %a "%r" %s %B %T"""
    line = f"2024-10-10T15:55:36.123+02:00 203.0.113.9, 10.0.0.1 192.0.2.1 {REQUEST} 1234 0.056"
    check_lines(format, [(line, VISIT | {
        "client": "192.0.2.1", "time": "2024-10-10T15:55:36.123+02:00", "forwarded_for": ["203.0.113.9", "10.0.0.1"],
        "bytes_sent": 1234, "duration": 0.056})])  # fmt: skip
    check_lines("[%{time,dd/MMM/yyyy HH:mm:ss}] %h %s", [
        ("[10/Oct/2024 13:55:36] ::1 200", {"time": "2024-10-10T13:55:36", "client": "::1", "status": 200}),
    ])  # fmt: skip


@each_row("format", ["$remote_addr:$remote_port {} $status", "%a:%{{remote}}p {} %>s", "%h:%{{remote}}p {} %s"])
def test_a_port_after_the_client(format):
    format = format.format("[$time_local]" if "$" in format else "%t")
    for written, client, port in CLIENTS:
        if port and client != "proxy.example.com":
            [record] = read(format, f"{written} {AT} 200".encode())
            assert (record["client"], port_of(record), record["status"]) == (client, port, 200)
    [record] = read(format, f"2001:db8::1:4711 {AT} 200".encode())
    assert (record["client"], port_of(record)) == ("2001:db8::1", "4711")


def test_lists_and_clients_before_signs():
    format = "$remote_addr, $http_x_forwarded_for, $time_iso8601, $request, $status"
    line = "192.0.2.1, {}, 2024-10-10T13:55:36+00:00, GET /a%20b?x=1 HTTP/1.1, 200"
    rows = [
        (line.format("203.0.113.1, ::1, 10.0.0.1"), ["203.0.113.1", "::1", "10.0.0.1"]),
        (line.format("203.0.113.1"), ["203.0.113.1"]),
        (line.format("-"), None),
    ]
    check_lines(format, [(line, changed(VISIT, client="192.0.2.1", forwarded_for=each)) for line, each in rows])
    check_lines('HTTP/WS $remote_addr: "$request" $status', [
        (f"HTTP/WS 2001:db8::1: {REQUEST}", changed(VISIT, client="2001:db8::1", time=None)),
    ])  # fmt: skip


@each_row(
    ("format", "written", "vhost", "target", "path"),
    [
        ("$host$request_uri $status", "a.example/b%20c?d 200", "a.example", "/b%20c?d", "/b c"),
        ("%{X-Proto}i://%{Host}i%U%q %>s", "https://a.example/b?d 200", "a.example", "/b?d", "/b"),
        ("%V%U%q %>s", "a.example/%2541?d 200", "a.example", "/%2541?d", "/%2541"),
        ("%F %v%U%q %>s", "5 a.example/b%20c?d 200", "a.example", "/b%20c?d", "/b c"),  # Tomcat
        ("$scheme://$host$request_uri $status", "ws://a.example/b?d 200", "a.example", "/b?d", "/b"),
        ("%REQ(:AUTHORITY)%%REQ(:PATH)% %RESPONSE_CODE%", "a.example/b%20c?d 200", "a.example", "/b%20c?d", "/b c"),
        ("%v:%p%U%q %>s", "a.example:80/%2541?d 200", "a.example:80", "/%2541?d", "/%2541"),
        ("$host$request_uri $status", "/b?d 200", None, "/b?d", "/b"),
        ("$host$request_uri $status", "a.example/?d 200", "a.example", "/?d", "/"),
        ("$host$request_uri $status", "-/b?d 200", None, "/b?d", "/b"),
    ],
)  # fmt: skip
def test_a_host_before_the_path(format, written, vhost, target, path):
    values = {"vhost": vhost, "status": 200, "query": [["d", ""]], "target": target, "path": path}
    if "X-Proto" in format:
        values["X-Proto"] = "https"
    if "%F" in format:
        values["time_to_commit"] = "5"
    check_lines(format, [(written, changed(values))])


@each_row("path", ["%U", "%U%q"])
def test_spaces_in_a_decoded_path(path):
    """They are not the one before the protocol."""
    values = {"method": "GET", "status": 200, "protocol": "HTTP/1.1"}
    check_lines(f'"%m {path} %H" %>s', [
        ('"GET /a HTTP/1.1" 200', changed(values, target="/a", path="/a")),
        ('"GET /a b  c HTTP/1.1" 200', changed(values, target="/a b  c", path="/a b  c")),
    ])  # fmt: skip
    [record] = read('"%m %U%q %H" %>s', b'"GET /a b?c=d HTTP/1.1" 200')
    assert (record["path"], record["query"], record["protocol"]) == ("/a b", [["c", "d"]], "HTTP/1.1")


def test_quarkus_writes_a_unit():
    pattern = '%{REMOTE_HOST} %{REMOTE_USER} "%{REQUEST_LINE}" %{RESPONSE_CODE} %{RESPONSE_TIME}ms'
    line = b'192.0.2.7 ann "GET /a HTTP/1.1" 200 34ms'
    [record] = read(f"quarkus.http.access-log.pattern={pattern}", line)
    assert (record["client"], record["method"], record["status"], record["duration"]) == (
        "192.0.2.7",
        "GET",
        200,
        0.034,
    )


def test_a_host_before_a_path_with_a_url():
    """The host is that of the request, not of a URL in its query."""
    for format in "$host$request_uri $status", "%{Host}i%U%q %>s", "$scheme://$host$request_uri $status":
        line = "a.example/login?next=https://b.example/x 200"
        [record] = read(format, (f"https://{line}" if "scheme" in format else line).encode())
        assert (record["vhost"], record["path"]) == ("a.example", "/login")
        assert record["query"] == [["next", "https://b.example/x"]]


@each_row(
    ("format", "written", "vhost"),
    [
        ("%v:%p%U %>s", "a.example:80/b%20c 200", "a.example:80"),
        ("%v:%p%U %>s", "[::1]:80/b%20c 200", "[::1]:80"),
        ("%v%U %>s", "a.example/b%20c 200", "a.example"),
        ("%v%U %>s", "-/b%20c 200", None),
    ],
)  # fmt: skip
def test_a_host_before_a_path_without_a_query(format, written, vhost):
    check_lines(format, [(written, changed({"status": 200, "target": "/b%20c", "path": "/b%20c"}, vhost=vhost))])


def test_the_state_of_haproxy_in_quotes():
    """HAProxy's manual has it in quotes; versions write it with and without them."""
    for name in "ts", "tsc":
        format = f"%{{+Q}}o %{{-Q}}ci %ft %ST %{name} %ac"
        values = {"client": "192.0.2.1", "frontend": "in", "status": 200, "termination_state": "----", "actconn": "1"}
        check_lines(format, [
            ('192.0.2.1 "in" 200 "----" 1', values),
            ('192.0.2.1 "in" 200 ---- 1', values),
            ('192.0.2.1 "in" 200 "cD--" 1', values | {"termination_state": "cD--"}),
        ])  # fmt: skip


def test_haproxy_without_captures_in_quotes():
    format = '%ci %ST "%hr" "%CC" "%hs" ireq=%U'
    values = {"client": "192.0.2.1", "status": 404, "bytes_received": "592"}
    check_lines(format, [
        ('192.0.2.1 404 "{a|b}" "-" "" ireq=592', values | {"captured_request_headers": "a|b"}),
        ('192.0.2.1 404 "" "-" "{c}" ireq=592', values | {"captured_response_headers": "c"}),
        ('192.0.2.1 404 "" "-" "" ireq=592', values),
    ])  # fmt: skip


@each_row(
    "setting",
    [
        *('accesslog.format = "{}"', "accessLogFormat: '{}'", 'pattern: "{}"', "varnishncsa -F '{}'", "format={}"),
        *("server.tomcat.accesslog.pattern={}", 'log_format = "{}"', "<pattern>{}</pattern>"),
    ],
)
def test_settings_of_other_servers(setting):
    format = "%h %t %>s"
    assert Format(setting.format(format)).fields == Format(format).fields
    assert read(setting.format(format), b"192.0.2.1 [10/Oct/2024:13:55:36 +0000] 200")[0]["status"] == 200


PASTED = [
    (r'"%h %t \"%r\" %>s"', '%h %t "%r" %>s'),
    (r'.wrap(Logger::new("%a %t \"%r\" %s"))', '%a %t "%r" %s'),
    (r'"%h %t \"%r\" %>s" combined', '%h %t "%r" %>s'),
    ("'%h %t %>s'", "%h %t %>s"),
    ("'$remote_addr [$time_local] $status';", "$remote_addr [$time_local] $status"),
    ("'$remote_addr [$time_local] '\n    '\"$request\" $status'", '$remote_addr [$time_local] "$request" $status'),
    ("  '$remote_addr [$time_local] '\n'$status' ;\n", "$remote_addr [$time_local] $status"),
    ("'$remote_addr ' '$status';", "$remote_addr $status"),
]


@each_row(("pasted", "format"), PASTED)
def test_quotes_of_the_configuration(pasted, format):
    """They are not those of the log."""
    assert Format(pasted)._programs == Format(format)._programs


@each_row("format", ['"%h" "%>s"', "'$a' '$b'", '"%h"', "'$a' x", "'$a';'", '"%h\\" "%s"'])
def test_quotes_of_the_log(format):
    [first, *_] = Format(format)._programs[0].steps
    assert first[:1] == format[:1].encode()


def test_a_space_at_the_end_of_a_format():
    """The lines of a log that was posted have lost it."""
    values = {"client": "192.0.2.1", "status": 200, "referer": "http://r/", "user_agent": "curl/8 (x)"}
    for end in "", " ", "  ":
        line = f'192.0.2.1 200 "http://r/" "curl/8 (x)"{end}'
        check_lines('$remote_addr $status "$http_referer" "$http_user_agent" ', [(line, values)])
        check_lines("$status $remote_addr ", [(f"200 192.0.2.1{end}", {"client": "192.0.2.1", "status": 200})])
        check_lines("%h %>s ", [(f"192.0.2.1 200{end}", {"client": "192.0.2.1", "status": 200})])
        check_lines("%>s %{User-Agent}i ", [(f"200 curl/8{end}", {"status": 200, "user_agent": "curl/8"})])
    assert read("%h %>s ", b"192.0.2.1 200 5", b"192.0.2.1") == [None, None]


def test_directives_on_several_lines():
    log_format = """log_format main '$remote_addr [$time_local] '
        # '"$request" '
        '$status'; """
    assert Format(log_format).fields == ("client", "time", "status")
    yaml = r'"[%START_TIME%] \"%REQ(:METHOD)%\" %RESPONSE_CODE%\n"'
    assert Format(yaml).fields == ("time", "method", "status")
    [record] = read(yaml, b'[2024-10-10T13:55:36.123Z] "GET" 200')
    assert (record["method"], record["status"]) == ("GET", 200)


def test_durations_of_h2o_and_envoy():
    assert read("%h %{duration}x", b"::1 0.004711")[0]["duration"] == 0.004711
    assert read("%RESPONSE_CODE% %COMMON_DURATION(DS_RX_BEG:DS_TX_END:us)%", b"200 1500")[0]["duration"] == 0.0015


def test_formats_of_php_fpm_and_nginx_unit():
    """The path of PHP-FPM is decoded; an empty user is empty."""
    format = 'access.format = "%R - %u %t \\"%m %r%Q%q\\" %s %f %{milliseconds}d %{kilobytes}M %C%%"'
    values = {"client": "172.17.0.1", "time": VISIT["time"], "method": "GET", "target": "/a%20b.php?a=1"}
    values |= {"path": "/a%20b.php", "query": [["a", "1"]], "status": 200, "script": "/srv/a.php", "duration": 0.012345}
    rest = '10/Oct/2024:13:55:36 +0000 "GET /a%20b.php?a=1" 200 /srv/a.php 12.345 2048 81.00%'
    values |= {"memory": "2048", "cpu": "81.00"}
    rows = [(f"172.17.0.1 - jo {rest}", values | {"user": "jo"}), (f"172.17.0.1 - - {rest}", values)]
    for line, wanted in rows:
        [record] = read(format, line.encode())
        extra = record.pop("extra")
        assert {name: value for name, value in (record | extra).items() if value is not None} == wanted
    [record] = read(format, f"172.17.0.1 -  {rest}".encode())
    assert (record["user"], record["path"]) == (None, "/a%20b.php")
    for unit in "milli", "mili", "miliseconds", "MILI":
        [record] = read(f'%R "%m %r" %s %{{{unit}}}d', b'::1 "GET /a.php" 200 12.345')
        assert record["duration"] == 0.012345
    with pytest.raises(ValueError, match=r"unknown directive '%\{minutes}d'"):
        Format("%R %s %{minutes}d %{milli}d")
    check_lines('%R %u "%m %r" %s', [('::1 - "POST /i.php" 500', {
        "client": "::1", "method": "POST", "target": "/i.php", "path": "/i.php", "status": 500,
    })])  # fmt: skip
    unit = '$remote_addr [$time_local] "$request_line" $status "$header_referer" "$header_user_agent"'
    line = f'::1 {AT} {REQUEST} "-" "Minilla/1.0"'
    check_lines(unit, [(line, VISIT | {"client": "::1", "user_agent": "Minilla/1.0"})])


def test_a_query_in_the_stem():
    """SHOUTcast has no column of the query."""
    names = b"#Fields: c-ip date time cs-uri-stem c-status cs(User-Agent) sc-bytes"
    lines = names, b"192.0.2.1 2015-12-07 10:37:05 /stream?title=UKR%20Nights 200 x 65580"
    [record] = list(logs.parse(b"\n".join(lines)))
    assert (record.path, record.query) == ("/stream", (("title", "UKR Nights"),))
    with_query = b"\n".join(lines).replace(b"cs-uri-stem", b"cs-uri-stem cs-uri-query").replace(b" 200", b" - 200")
    assert [(each.path, each.query) for each in logs.parse(with_query)] == [("/stream?title=UKR%20Nights", None)]


def test_a_list_of_clients_in_rack():
    line = f'203.0.113.9, 10.0.0.1 - bob {AT} "GET /a%20b?x=1 HTTP/1.1" 200 - 0.0045'
    check_lines(
        "rack", [(line, VISIT | {"forwarded_for": ["203.0.113.9", "10.0.0.1"], "user": "bob", "duration": 0.0045})]
    )


def test_batches_of_s3():
    line = (
        "79a59df9 bucket [10/Oct/2024:13:55:36 +0000] 192.0.2.1 79a59df9 8CD7A4A7 BATCH.DELETE.OBJECT a.war - 204 - "
        "- 344 - - - - - IeDW5= SigV4 ECDHE AuthHeader s3.amazonaws.com TLSv1.2"
    )
    [record] = read("s3", line.encode())
    assert (record["status"], record["target"], record["user_agent"], record["vhost"]) == (
        *(204, None, None), "s3.amazonaws.com",
    )  # fmt: skip


def test_ltsv_with_a_request_and_its_parts():
    [record] = read("ltsv", b"host:::1\treq:GET /a?b=c HTTP/2\turi:/a\tmethod:GET\tstatus:200")
    assert (record["target"], record["query"], record["protocol"]) == ("/a?b=c", [["b", "c"]], "HTTP/2")
    for line in b"host:::1\tstatus", b"host:::1\t:200", b"ho st:::1\tstatus:200":
        assert read("ltsv", line) == [None]
    assert "expected a label, and ':' after it at offset 9" in Format("ltsv").explain(b"host:::1\tstatus").message


def test_aiohttps_format():
    [record] = read('%a %t "%r" %s %b "%{Referer}i" "%{User-Agent}i" %Tf', b"::1 " + REST + b" 0.012345")
    assert (record["client"], record["status"], record["duration"]) == ("::1", 200, 0.012345)
    [record] = read("aiohttp", b"192.0.2.1 " + REST[:-3] + rb'"a "quoted" \x41"')
    assert record["user_agent"] == r'a "quoted" \x41'  # nothing is escaped


SQUID = "%ts.%03tu %6tr %>a %Ss/%03>Hs %<st %rm %ru %[un %Sh/%<a %mt"
SQUID_COMMON = '%>a %[ui %[un [%tl] "%rm %ru HTTP/%rv" %>Hs %<st'
SQUID_COMBINED = SQUID_COMMON + ' "%{Referer}>h" "%{User-Agent}>h" %Ss:%Sh'


def test_squids_native_format():
    """squid.conf, "logformat": squid."""
    line = (
        "1728568536.023    345 192.0.2.1 TCP_MISS/200 4711 GET http://a.example/caf%C3%A9?q=1 - "
        "HIER_DIRECT/203.0.113.7 text/html"
    )
    values = {"time": "2024-10-10T13:55:36.023Z", "duration": 0.345, "client": "192.0.2.1", "result": "TCP_MISS"}
    values |= {"status": 200, "bytes_sent": 4711, "method": "GET", "target": "http://a.example/caf%C3%A9?q=1"}
    values |= {"path": "/caf\u00e9", "query": [["q", "1"]], "hierarchy": "HIER_DIRECT", "peer": "203.0.113.7"}
    values |= {"content_type": "text/html"}
    tunnel = changed(values, method="CONNECT", target="a.example:443", path=None, query=None, content_type=None)
    rows = [
        (line, values),
        (line.replace("   345", "1234567"), changed(values, duration=1234.567)),
        (line.replace("192.0.2.1", "2001:db8::1"), changed(values, client="2001:db8::1")),
        (line.replace("192.0.2.1", "-"), changed(values, client=None)),
        (line.replace(" - HIER", " EXAMPLE%5Cjo HIER"), changed(values, user="EXAMPLE%5Cjo")),
        (line.replace("/200", "/000"), changed(values, status=0)),
        (line.replace("TCP_MISS/200 4711", "NONE_NONE/400 0").replace("GET http://a.example/caf%C3%A9?q=1",
                                                                       "NONE error:invalid-request"),
         changed(values, result="NONE_NONE", status=400, bytes_sent=0, method="NONE", query=None,
                 target="error:invalid-request", path=None)),
        (line.replace("GET http://a.example/caf%C3%A9?q=1", "CONNECT a.example:443").replace("text/html", "-"), tunnel),
        (line.replace("HIER_DIRECT/203.0.113.7", "HIER_NONE/-"), changed(values, hierarchy="HIER_NONE", peer=None)),
        (line.replace("203.0.113.7", "2001:db8::7"), changed(values, peer="2001:db8::7")),
    ]  # fmt: skip
    check_lines(SQUID, rows)
    check_lines(f"logformat squid      {SQUID}", rows)
    check_lines(f"#logformat squid {SQUID}\n", rows)
    check_lines(f"logformat mine {SQUID.replace('>Hs', 'Hs')}", rows)  # Squid 3.0
    check_lines("logformat a " + SQUID.replace(" %[un", " \\\n  %[un"), rows)
    check_lines(
        SQUID.replace("%ts.%03tu", "%tS").replace("%mt", "%http::mt"),
        [(line.replace("text/html", "image/png"), changed(values, content_type="image/png"))],
    )


def test_squids_httpd_formats():
    """squid.conf, "logformat": common, combined, useragent. In quotes, a quote has a backslash."""
    line = (
        '192.0.2.1 - jo [10/Oct/2024:13:55:36 +0200] "GET http://a.example/a?b=%22 HTTP/1.1" 200 512 '
        '"http://b.example/" "x \\"y\\" \\\\z" TCP_MISS:HIER_DIRECT'
    )
    values = {"client": "192.0.2.1", "user": "jo", "time": "2024-10-10T13:55:36+02:00", "method": "GET"}
    values |= {"target": "http://a.example/a?b=%22", "path": "/a", "query": [["b", '"']], "protocol": "HTTP/1.1"}
    values |= {"status": 200, "bytes_sent": 512, "referer": "http://b.example/", "user_agent": 'x "y" \\z'}
    values |= {"result": "TCP_MISS", "hierarchy": "HIER_DIRECT"}
    rows = [
        (line, values),
        (line.replace("192.0.2.1", "::1"), changed(values, client="::1")),
        (line.replace(" - jo [", " - - ["), changed(values, user=None)),
        (line.replace(" - jo [", " - jo doe ["), changed(values, user="jo doe")),
        (line.replace(" - jo [", " ident a%5Bb%5D ["), changed(values, ident="ident", user="a%5Bb%5D")),
        (line.replace("a?b=%22", "a b?c=d e"),
         changed(values, target="http://a.example/a b?c=d e", path="/a b", query=[["c", "d e"]])),
        (line.replace("http://a.example/a?b=%22", 'http://a.example/\\"'),
         changed(values, target='http://a.example/"', path='/"', query=None)),
        (line.replace("GET http://a.example/a?b=%22", "CONNECT a.example:443"),
         changed(values, method="CONNECT", target="a.example:443", path=None, query=None)),
        (line.replace('"http://b.example/" "x \\"y\\" \\\\z"', '"-" "-"'),
         changed(values, referer=None, user_agent=None)),
        (line.replace("GET http://a.example/a?b=%22 HTTP/1.1", "NONE error:request-too-large HTTP/0.0")
         .replace("200 512", "413 0"),
         changed(values, method="NONE", target="error:request-too-large", path=None, query=None,
                 protocol="HTTP/0.0", status=413, bytes_sent=0)),
    ]  # fmt: skip
    check_lines(SQUID_COMBINED, rows)
    check_lines(f"logformat combined   {SQUID_COMBINED}", rows)
    check_lines(SQUID_COMBINED.replace("%tl", "%{%d/%b/%Y:%H:%M:%S %z}tl").replace("%[un", "%'un"), rows)
    check_lines(
        'logformat useragent  %>a [%tl] "%{User-Agent}>h"',
        [
            (
                '::1 [10/Oct/2024:13:55:36 +0000] "a [b] c"',
                {"client": "::1", "time": "2024-10-10T13:55:36+00:00", "user_agent": "a [b] c"},
            )
        ],
    )


def test_squids_other_codes():
    check_lines(
        '%{%Y-%m-%d}tg %{%H:%M:%S}tg %-16>a %20ssl::>sni "%{X-Forwarded-For}>h" %{X-Forwarded-For}>h "%{Host}>h" %rv '
        "%st",
        [
            ('2024-10-10 13:55:36 192.0.2.1                  a.example "203.0.113.7, 10.0.0.1" 203.0.113.7,%2010.0.0.1 '
             '"a.example:80" 1.1 99',
             {"time": "2024-10-10T13:55:36", "client": "192.0.2.1", "ssl::>sni": "a.example", "vhost": "a.example:80",
              "forwarded_for": ["203.0.113.7", "10.0.0.1"], "X-Forwarded-For": "203.0.113.7,%2010.0.0.1",
              "http_version": "1.1", "bytes_total": "99"}),
        ],
    )  # fmt: skip
    check_lines(
        "%>a:%>p %un %Hs",
        [("2001:db8::1:443 - 200", {"client": "2001:db8::1", "client_port": "443", "status": 200})],
    )
    # Milliseconds without leading zeros are no fraction.
    check_lines(
        "%ts.%tu %>Hs", [("1728568536.5 200", {"time": "2024-10-10T13:55:36Z", "subsecond": "5", "status": 200})]
    )


MORGAN = ':remote-addr - :remote-user [:date[clf]] ":method :url HTTP/:http-version" :status :res[content-length]'
MORGAN_COMBINED = MORGAN + ' ":referrer" ":user-agent"'


def test_morgans_formats():
    """Its README: predefined formats, and tokens. Nothing is escaped, and what is missing is "-"."""
    line = (
        '::ffff:192.0.2.1 - jo [10/Oct/2024:13:55:36 +0000] "GET /caf%C3%A9?q=1 HTTP/1.1" 200 512 "http://b.example/" '
        '"x \\ y" - 1.234 ms'
    )
    values = {"client": "::ffff:192.0.2.1", "user": "jo", "time": "2024-10-10T13:55:36+00:00", "method": "GET"}
    values |= {"target": "/caf%C3%A9?q=1", "path": "/caf\u00e9", "query": [["q", "1"]], "protocol": "HTTP/1.1"}
    values |= {"status": 200, "bytes_sent": 512, "referer": "http://b.example/", "user_agent": "x \\ y"}
    values |= {"duration": 0.001234}
    rows = [
        (line, values),
        (line.replace("::ffff:192.0.2.1", "2001:db8::1"), changed(values, client="2001:db8::1")),
        (line.replace("::ffff:192.0.2.1", "-"), changed(values, client=None)),
        (line.replace("- jo [", "- - ["), changed(values, user=None)),
        (line.replace("- jo [", "- jo doe ["), changed(values, user="jo doe")),
        (line.replace("200 512", "304 -"), changed(values, status=304, bytes_sent=None)),
        (line.replace('200 512 "http://b.example/" "x \\ y" - 1.234', '- - "-" "-" - -'),  # aborted
         changed(values, status=None, bytes_sent=None, referer=None, user_agent=None, duration=None)),
        (line.replace("x \\ y", 'a "b" c'), changed(values, user_agent='a "b" c')),
        (line.replace("/caf%C3%A9?q=1", "/a%20b"), changed(values, target="/a%20b", path="/a b", query=None)),
        (line.replace("GET /caf%C3%A9?q=1", "OPTIONS *"),
         changed(values, method="OPTIONS", target="*", path="*", query=None)),
    ]  # fmt: skip
    check_lines(MORGAN_COMBINED + " - :response-time ms", rows)
    check_lines(f"morgan('{MORGAN_COMBINED} - :response-time[3] ms')", rows)
    check_lines(
        ":date[iso] :method :url :status :res[content-length] - :response-time ms - :total-time[0] ms :id :req[x-a] "
        ":res[b]",
        [
            ("2024-10-10T13:55:36.789Z POST /a 201 5 - 0.250 ms - 3 ms 7f3e x -",
             {"time": "2024-10-10T13:55:36.789Z", "method": "POST", "target": "/a", "path": "/a", "status": 201,
              "bytes_sent": 5, "duration": 0.00025, "total-time": "3", "id": "7f3e", "x-a": "x"}),
        ],
    )  # fmt: skip
    check_lines(
        ':date :remote-addr :method :url HTTP/:http-version :status ":req[X-Forwarded-For]" : :total-time',
        [
            ('Thu, 10 Oct 2024 13:55:36 GMT ::1 GET /?a HTTP/2.0 200 "203.0.113.7, 10.0.0.1" : 12.5',
             {"time": "2024-10-10T13:55:36Z", "client": "::1", "method": "GET", "target": "/?a", "path": "/",
              "query": [["a", ""]], "protocol": "HTTP/2.0", "status": 200, "duration": 0.0125,
              "forwarded_for": ["203.0.113.7", "10.0.0.1"]}),
        ],
    )  # fmt: skip


# Envoy, "Access logging": format dictionaries; Istio, "Envoy Access Logs": accessLogFormat with accessLogEncoding JSON.
ENVOY_JSON = """{
  "start_time": "%START_TIME%",
  "method": "%REQ(:METHOD)%", "path": "%REQ(X-ENVOY-ORIGINAL-PATH?:PATH)%",
  "protocol": "%PROTOCOL%", "code": "%RESPONSE_CODE%", "ms": "%DURATION%", "out": "%BYTES_SENT%",
  "from": "%DOWNSTREAM_REMOTE_ADDRESS%", "x-forwarded-for": "%REQ(X-FORWARDED-FOR)%",
  "headers": {"agent": "%REQ(USER-AGENT)%", "id": "%REQ(X-REQUEST-ID)%"},
  "line": "%REQ(:METHOD)% %RESPONSE_CODE%", "flags": "%RESPONSE_FLAGS%", "app": "shop", "v": 2
}"""
ENVOY_YAML = """json_format:
  start_time: "%START_TIME%"   # UTC
  method: '%REQ(:METHOD)%'
  path: "%REQ(X-ENVOY-ORIGINAL-PATH?:PATH)%"
  protocol: "%PROTOCOL%"

  # a comment
  code: "%RESPONSE_CODE%"
  ms: "%DURATION%"
  out: "%BYTES_SENT%"
  from: "%DOWNSTREAM_REMOTE_ADDRESS%"
  x-forwarded-for: "%REQ(X-FORWARDED-FOR)%"
  ":authority": "%REQ(:AUTHORITY)%"
  flags: "%RESPONSE_FLAGS%"
"""


def test_envoys_json_by_its_configuration():
    line = (
        '{"app":"shop","code":200,"flags":null,"from":"192.0.2.1:42918","headers":{"agent":"x \\"y\\"","id":"f1"},'
        '"line":"GET 200","method":"GET","ms":12,"out":512,"path":"/caf%C3%A9?q=1","protocol":"HTTP/2",'
        '"start_time":"2024-10-10T13:55:36.789Z","v":2,"x-forwarded-for":"203.0.113.7,10.0.0.1"}'
    )
    values = {"time": "2024-10-10T13:55:36.789Z", "method": "GET", "target": "/caf%C3%A9?q=1", "path": "/caf\u00e9"}
    values |= {"query": [["q", "1"]], "protocol": "HTTP/2", "status": 200, "duration": 0.012, "bytes_sent": 512}
    values |= {"client": "192.0.2.1", "client_port": "42918", "forwarded_for": ["203.0.113.7", "10.0.0.1"]}
    values |= {"user_agent": 'x "y"', "headers.id": "f1", "line": "GET 200", "app": "shop", "v": "2"}
    rows = [
        (line, values),
        (json.dumps(dict(reversed(json.loads(line).items()))), values),  # members in another order
        (line.replace("192.0.2.1:", "[2001:db8::1]:"), changed(values, client="2001:db8::1")),
        (line.replace('"flags":null', '"flags":"UF,URX"'), changed(values, flags="UF,URX")),
        (line.replace('"x \\"y\\""', "null").replace('"f1"', '"-"'),
         changed(values, user_agent=None, **{"headers.id": None})),
        (line.replace('"203.0.113.7,10.0.0.1"', "null"), changed(values, forwarded_for=None)),
        (line.replace('"code":200', '"code":"503"'), changed(values, status=503)),
        (line.replace('"code":200', '"code":0').replace('"path":"/caf%C3%A9?q=1",', ""),
         changed(values, status=0, target=None, path=None, query=None)),
        (line.replace('"app"', '"new":"x","app"'), changed(values, new="x")),
        (line.replace("/caf%C3%A9?q=1", "/a%22\\u00e9"),
         changed(values, target="/a%22\u00e9", path='/a"\u00e9', query=None)),
    ]  # fmt: skip
    for format in (
        ENVOY_JSON,
        ENVOY_JSON.replace("\n", " "),
        f"accessLogFormat: '{ENVOY_JSON}\\n'",
        "meshConfig:\n  accessLogEncoding: JSON\n  accessLogFormat: |\n    "
        + ENVOY_JSON.replace("\n", "\n    ")
        + "\n",
        f"json_format: {ENVOY_JSON}",
    ):
        check_lines(format, rows)


def test_envoys_json_as_yaml():
    line = (
        '{":authority":"a.example","code":404,"flags":"NR","from":"[::1]:42918","method":"GET","ms":0,"out":0,"path":"/",'
        '"protocol":"HTTP/1.1","start_time":"2024-10-10T13:55:36.789Z","x-forwarded-for":null}'
    )
    values = {"time": "2024-10-10T13:55:36.789Z", "method": "GET", "target": "/", "path": "/", "protocol": "HTTP/1.1"}
    values |= {"status": 404, "duration": 0.0, "bytes_sent": 0, "client": "::1", "client_port": "42918"}
    values |= {"vhost": "a.example", "flags": "NR"}
    for format in (
        ENVOY_YAML,
        ENVOY_YAML.partition("\n")[2],
        "log_format:\n" + ENVOY_YAML,
        "logFormat:\n  labels:\n" + ENVOY_YAML.partition("\n")[2],
    ):
        check_lines(format, [(line, values)])


HAPROXY_JSON = (
    "%{+json}o %(client_ip)ci %(client_port)cp %(request_date)tr %(time_active:sint)Ta %(status_code)ST %(bytes_read)B "
    "%(server_name)s/%(agent)[req.hdr(User-Agent)] %pid %(http_request){+Q}r"
)


def test_haproxys_json_by_its_configuration():
    """Configuration Manual, 3.0, "Custom log format": items with a name are members."""
    line = (
        '{"client_ip": "192.0.2.1", "client_port": 42918, "request_date": "10/Oct/2024:13:55:36.789", '
        '"time_active": 51, "status_code": 200, "bytes_read": 379, "server_name": "s1", "agent": "x \\"y\\"", '
        '"http_request": "GET /a?b=c HTTP/1.1"}'
    )
    values = {"client": "192.0.2.1", "client_port": "42918", "time": "2024-10-10T13:55:36.789", "duration": 0.051}
    values |= {"status": 200, "bytes_sent": 379, "server_name": "s1", "user_agent": 'x "y"', "method": "GET"}
    values |= {"target": "/a?b=c", "path": "/a", "query": [["b", "c"]], "protocol": "HTTP/1.1"}
    rows = [
        (line, values),
        (json.dumps(dict(reversed(json.loads(line).items()))), values),
        (line.replace("192.0.2.1", "2001:db8::1"), changed(values, client="2001:db8::1")),
        (line.replace("GET /a?b=c HTTP/1.1", "<BADREQ>").replace("200", "-1").replace("51,", "-1,"),
         changed(values, method=None, target="<BADREQ>", path=None, query=None, protocol=None, status=None,
                 duration=None)),
        (line.replace('"x \\"y\\""', "null"), changed(values, user_agent=None)),
    ]  # fmt: skip
    check_lines(HAPROXY_JSON, rows)
    check_lines(f'log-format "{HAPROXY_JSON}"', rows)
    check_lines("log-format " + HAPROXY_JSON.replace(" ", "\\ "), rows)


def test_a_format_in_json_of_others_is_text():
    assert [type(program).__name__ for program in Format('{"a":"$status","b":"$uri"}')._programs] == ["Text"]
    assert [type(program).__name__ for program in Format('{"a":"%>s","b":"%U"}')._programs] == ["Text"]


# --- durations with units, padded columns, times ----------------------------------------------------------------------


@each_row(
    ("written", "seconds"),
    [
        ("0s", 0.0),
        ("1ns", 1e-9),
        ("13.7\u00b5s", 0.0000137),
        ("13.7\u03bcs", 0.0000137),
        ("13.7us", 0.0000137),
        ("12.3ms", 0.0123),
        ("1.5s", 1.5),
        ("1m2.5s", 62.5),
        ("1h0m0.000000001s", 3600.000000001),
        ("1270000h10m10.000000000s", 4572000610.0),
        ("-5ms", None),
        ("61.000000000584h", 219600.000002102),
        ("1.0000000009ms", 0.001),  # less than a nanosecond
        ("ms", "invalid"),
        ("1 ms", "invalid"),
        ("1m2", "invalid"),
        ("1x", "invalid"),
        ("2600000h", "invalid"),  # no duration of Go
    ],
)
def test_durations_with_units(written, seconds):
    for unit in "duration", "duration_ms", "duration_us", "duration_ns":
        [record] = read(f"$status|${unit}|", f"200|{written}|".encode())
        assert record["duration"] == seconds if record else seconds == "invalid"
    for unit in "duration", "duration.ms":
        [record] = read({"status": "s", unit: "d"}, json.dumps({"s": 200, "d": written}, ensure_ascii=False).encode())
        assert record["duration"] == seconds if record else seconds == "invalid"


@each_row(
    ("line", "values"),
    [
        (b"a b c|7 200", ("a", "b", "c|7")),
        (b"a   b    c|7  200", ("a", "b", "c|7")),
        (b"a   b    c|7x200", None),
        (b"a  b  200", None),
    ],
)
def test_columns_with_spaces(line, values):
    [record] = read("$one  $two  $three  $status", line)
    assert (tuple(record["extra"].values()) if record else None) == values


@each_row(
    ("line", "status", "word"),
    [
        (b"| 200 |    x |", 200, "x"),
        (b"|  200    | x    |", 200, "x"),
        (b"|   5 | |", None, None),
        (b"| 200|x |", None, None),
    ],
)
def test_columns_with_bars(line, status, word):
    [record] = read("| $status  |  $word  |", line)
    assert ((record["status"], record["extra"]["word"]) if record else (None, None)) == (status, word)


@each_row(
    ("written", "time"),
    [
        ("2024/10/10 13:55:36", "2024-10-10T13:55:36"),
        ("2024/10/10 - 13:55:36", "2024-10-10T13:55:36"),
        ("2024/10/10 -x13:55:36", "2024/10/10 -x13:55:36"),
        ("2024/10/10:13:55:36.5", "2024-10-10T13:55:36.5"),
        ("2024/10/10T13:55:36+0200", "2024-10-10T13:55:36+02:00"),
        ("2024-10-10:13:55:36", "2024-10-10:13:55:36"),
        ("2024/10-10 13:55:36", "2024/10-10 13:55:36"),
        ("Thu, 10 Oct 2024 13:55:36 GMT", "2024-10-10T13:55:36Z"),
        ("Thu, 10 Oct 2024 13:55:36 +0200", "2024-10-10T13:55:36+02:00"),
        ("Thu Oct 10 13:55:36 2024", "2024-10-10T13:55:36"),
        ("Wed Oct  9 13:55:36 2024", "2024-10-09T13:55:36"),
        ("10/OCT/2024:13:55:36 +0000", "2024-10-10T13:55:36+00:00"),
        ("10/oct/2024:13:55:36 +00:00", "2024-10-10T13:55:36+00:00"),
        ("10/Oct/2024:13:55:36 GMT", "2024-10-10T13:55:36Z"),
        ("2024-10-10 13:55:36 UTC", "2024-10-10T13:55:36Z"),
        ("2024-10-10 13:55:36 +00:00", "2024-10-10T13:55:36+00:00"),
        ("2024-10-10 13:55:36,789", "2024-10-10T13:55:36.789"),
        ("2024-10-10 13:55:36,789 +0200", "2024-10-10T13:55:36.789+02:00"),
        ("2024-02-30 13:55:36,789", "2024-02-30 13:55:36,789"),
        ("Wed Feb 30 13:55:36 2024", "Wed Feb 30 13:55:36 2024"),
        ("10/Okt/2024:13:55:36 GMT", "10/Okt/2024:13:55:36 GMT"),
    ],
)
def test_forms_of_times(written, time):
    assert [record["time"] for record in read("$status|$time|$a", f"200|{written}|x".encode())] == [time]
    [record] = read({"time": "t", "status": "s"}, json.dumps({"t": written, "s": 200}).encode())
    assert record["time"] == time


# --- headers by name, CSV, drains -------------------------------------------------------------------------------------


@each_row(
    ("headers", "vhost"),
    [
        ('[{"name":"Host","value":"a"}]', "a"),
        ('[{"value":"a","name":"hOST"}]', "a"),
        ('[{"name":"X","value":"x"},{"name":"Host","value":"a","more":[1,{"name":"Host"}]}]', "a"),
        ('[ { "name" : "Host" , "value" : "a\\\\u0041\\\\"" } ]', 'aA"'),
        ('[{"name":"Host","value":""}]', None),
        ('[{"name":"Host","value":null},{"name":"Ho","value":"b"}]', None),
        ("[]", None),
        ('"Host"', None),
        ('["Host","value"]', None),
    ],
)
def test_headers_by_name(headers, vhost):
    line = f'{{"r":{{"headers":{headers}}},"s":200,"u":"/"}}'
    [record] = read({"status": "s", "target": "u", "vhost": "r.headers[].Host"}, line.replace("\\\\", "\\").encode())
    assert (record["vhost"], record["status"]) == (vhost, 200)


def test_csv_with_and_without_names():
    names = b'"time_micros","c_ip","cs_method","cs_uri","sc_status","sc_bytes","time_taken_micros","cs_user_agent"'
    lines = [
        names + b'\n"1728568536123456","2001:db8::1","GET","/b/a,b?x=""","200","5","12000","say ""hi"", x"',
        b'"1728568536123456","","GET","/b","404","","",""',
        b"1728568536123456,192.0.2.1,GET,/b,200,5,1,x",
    ]
    one, missing, bare = read("gcs", *lines)
    found = [
        one[name] for name in ("time", "client", "path", "query", "status", "bytes_sent", "duration", "user_agent")
    ]
    assert found == ["2024-10-10T13:55:36.123456Z", "2001:db8::1", "/b/a,b", [["x", '"']], 200, 5, 0.012, 'say "hi", x']
    assert [missing[name] for name in ("client", "bytes_sent", "duration", "user_agent")] == [None] * 4
    assert (bare["client"], bare["user_agent"], bare["duration"]) == ("192.0.2.1", "x", 0.000001)


def test_a_drain_of_heroku():
    """RFC 5424 without STRUCTURED-DATA, also in RFC 6587. The time is that of the prefix."""
    line = (
        b'at=info method=GET path="/" host=app.example.com request_id=8601b555 fwd="192.0.2.3" dyno=web.2 connect=0ms '
        b"service=2ms status=304 bytes=0 protocol=https tls=true tls_version=tls1.3"
    )
    drain = b"<158>1 2024-10-10T13:55:40.000000+00:00 host heroku router - " + line
    record, other, plain = read("heroku", drain, b"%d %b" % (len(drain), drain), line)
    assert other == record == plain | {"time": "2024-10-10T13:55:40.000000+00:00"}
    assert (record["duration"], record["forwarded_for"], record["extra"]["tls"]) == (0.002, ["192.0.2.3"], "true")


# --- W3C --------------------------------------------------------------------------------------------------------------

AKAMAI = (
    b"#Fields: date time cs-ip cs-method cs-uri sc-status sc-bytes time-taken cs(Referer) cs(User-Agent) cs(Cookie)"
)


def test_tabs_of_another_product_than_cloudfront():
    values = b'2024-10-10 13:55:36 192.0.2.1 GET /a%2520b?x=%2541 200 5 2 "-" "Mozilla/5.0 (X11; ""Linux"")" "-"'
    start, _, rest = values.partition(b' "')
    line = start.replace(b" ", b"\t") + b'\t"' + rest.replace(b'" "', b'"\t"')
    for header in AKAMAI, AKAMAI.replace(b" ", b"\t"):
        for name in "cloudfront", "iis":
            record = read(name, header + b"\n" + line)[0]
            assert (record["client"], record["status"], record["path"], record["query"]) == (
                "192.0.2.1",
                200,
                "/a%20b",
                [["x", "%41"]],
            )
            assert (record["referer"], record["user_agent"], record["duration"]) == (
                None,
                'Mozilla/5.0 (X11; "Linux")',
                2.0,
            )
            assert record["extra"] is None


@pytest.mark.parametrize("name", ["cloudfront", "iis"])
def test_commas_and_quotes(name):
    header = b"#Fields: date,time,c-ip,cs-method,cs-uri-stem,c-status,cs(User-Agent)\n"
    [record] = read(name, header + b'2024-10-10,13:55:36,192.0.2.1,GET,/a%2520b,404,"Mozilla, (""X11"")"')[:1]
    assert (record["path"], record["status"], record["user_agent"]) == ("/a%20b", 404, 'Mozilla, ("X11")')
    header = b"#Fields: date time c-ip cs-uri-stem sc-status cs(User-Agent) cs(Referer)\n"
    line = b'2024-10-10 13:55:36 192.0.2.1 /a 200 "Mozilla/5.0 (X11; a+b)" "-"'
    [record] = read(name, header + line)[:1]
    assert (record["user_agent"], record["referer"]) == ("Mozilla/5.0 (X11; a+b)", None)
    assert read(name, header + line + b" ")[:1] == [record]
    reader = LogReader(Format(name).programs)
    data = header + line + b"  \n" + line + b" x \n" + line + b" \n"
    assert reader.convert(data, bytearray(reader.capacity_for(len(data)))).records == 1
    [record] = read(name, header + b'2024-10-10 13:55:36 192.0.2.1 /a 200 "Mozilla+x http://h/"')[:1]
    assert (record["user_agent"], record["referer"]) == ('"Mozilla x', 'http://h/"')  # not one value


def test_cloudfront_is_decoded_twice():
    header = b"#Fields: date time x-edge-location c-ip cs-uri-stem sc-status cs(User-Agent)\n"
    for name in "cloudfront", "iis":
        [record] = read(name, header + b"2024-10-10\t13:55:36\tFRA\t192.0.2.1\t/a%2520b\t200\tMozilla/5.0%20(X11)")[:1]
        assert (record["path"], record["user_agent"]) == ("/a b", "Mozilla/5.0 (X11)")


# --- JSON -------------------------------------------------------------------------------------------------------------


@each_row(
    ("members", "target", "path", "query"),
    [
        # Echo, Workhorse: RequestURI
        ({"uri": "/s?q=1"}, "/s?q=1", "/s", [["q", "1"]]),
        ({"uri": "/caf%C3%A9"}, "/caf%C3%A9", "/café", None),
        ({"uri": "/a\\u003fq=%41"}, "/a?q=%41", "/a", [["q", "A"]]),
        ({"uri": "/s?q=1", "args": "q=1"}, "/s?q=1", "/s", [["q", "1"]]),
        # nginx: $uri
        ({"uri": "/a b%20", "args": "x=%20"}, "/a b%20?x=%20", "/a b%20", [["x", " "]]),
        ({"uri": "/100%", "args": "x=1"}, "/100%?x=1", "/100%", [["x", "1"]]),
        ({"uri": "/café"}, "/café", "/café", None),
        ({"request_uri": "/r?x", "uri": "/s?q=1"}, "/r?x", "/r", [["x", ""]]),
    ],
)
def test_uri_of_json(members, target, path, query):
    text = ",".join(f'"{name}":"{value}"' for name, value in members.items())
    [record] = read("nginx-json", f'{{"remote_ip":"192.0.2.1",{text},"status":200}}'.encode())
    assert (record["target"], record["path"], record["query"]) == (target, path, query)


@pytest.mark.parametrize("name", ["cloudfront-json", "nginx-json"])
def test_many_extra_fields(name):
    """As many as fit, one less and one more; the lines after them are as before."""
    start = {
        "cloudfront-json": '{"date":"2024-10-10","time":"13:55:36","cs-uri-stem":"/a","sc-status":"200"',
        "nginx-json": '{"remote_addr":"192.0.2.1:80","uri":"/a","status":200',
    }[name]
    counts = [1, *range(26, 36), 5, *range(125, 133), 3, 140, 2]
    lines = [(start + "".join(f',"k{k}":"v{k}"' for k in range(count)) + "}").encode() for count in counts]
    for count, record in zip(counts, read(name, *lines, *lines)[: len(counts)], strict=True):
        found = {key: value for key, value in record["extra"].items() if key[0] == "k"}
        assert found == {f"k{k}": f"v{k}" for k in range(min(count, 128))}
        assert record["path"] == "/a"


# --- what the reader says about a log ---------------------------------------------------------------------------------


@pytest.mark.parametrize("where", ["status>=500", "path^=/z", "status=200"])
def test_important_fields_that_are_missing(where):
    """Of the records that meet the conditions, however they are read."""
    lines = [
        b'192.0.2.1 - - [-] "GET /a HTTP/1.1" 200 5 "-" "x"',
        b'192.0.2.1 - - [10/Oct/2024:13:55:36 +0000] "GET /a HTTP/1.1" 404 5 "-" "x"',
        b'192.0.2.1 - - [-] "-" 500 5 "-" "x"',
    ]
    json_lines = [
        b'{"time":"2024-10-10T13:55:36Z","request_uri":"/a","status":404}',
        b'{"request_uri":"/a","status":200,"request_method":"GET"}',
        rb'{"request_uri":"/a\u0041","status":500}',
        b'{"time":"2024-10-10T13:55:36Z","status":500}',
    ]
    from uricodec.logs._conditions import conditions_of

    missing = {"status>=500": {"time", "method", "target"}, "path^=/z": None, "status=200": {"time"}}[where]
    for name, some in ("combined", lines), ("nginx-json", json_lines):
        for order in some, some[::-1]:
            data = b"first\n" + b"\n".join(order) + b"\n" + 100 * b"x"
            check(Format(name), data, where=conditions_of([where]))
        if name == "combined":
            reader = LogReader(Format(name).programs, where=conditions_of([where]))
            reader.convert(data, bytearray(99999))
            assert reader.missing == ({"time", "method", "target", "status"} if missing is None else missing)


def test_squid_after_a_time():
    """The time of squid is no duration, nor is the duration a client."""
    line = (
        b"1728482136.123    150 192.0.2.1 TCP_MISS/200 1234 GET http://a.example/w - HIER_DIRECT/198.51.100.1 text/html"
    )
    [record] = logs.parse(b"2024-10-09T13:55:40.5Z " + line)
    assert (record.client, record.time, record.duration) == ("192.0.2.1", "2024-10-09T13:55:36.123Z", 0.15)


def test_a_level_is_no_site():
    with pytest.raises(logs.FormatError, match="unknown log format"):
        list(logs.parse(b"INFO:access:a.example 192.0.2.8 - - " + REST))
    [record] = logs.parse(b"INFO:access:192.0.2.8 - - " + REST)
    assert (record.client, record.vhost) == ("192.0.2.8", None)


@each_row(
    ("before", "site"),
    [
        (b"2024-10-09T13:55:40.123000+00:00 access.log ", None),
        (b"2024-10-09T13:55:40.123000+00:00 web.example.com ", None),
        (b"2024-10-09T13:55:40.123456789Z web.example.com ", "web.example.com"),
        (b"2024-10-09T13:55:40.123000+02:00 web.example.com ", "web.example.com"),
    ],
)
def test_streams_of_the_aws_cli_are_no_sites(before, site):
    [record] = logs.parse(before + b"192.0.2.1 - - " + REST)
    assert (record.client, record.vhost) == ("192.0.2.1", site)


@each_row(
    ("header", "referer", "agent"),
    [
        (b'# host user time request status bytes "user_agent" "referer"', "-", "x"),
        (b'#log_format: $remote_addr "$http_user_agent" "$http_referer"', "-", "x"),
        (b'host ident user time request status bytes "%{User-Agent}i" "%{Referer}i"', "-", "x"),
        (b'# host user time request status bytes "referer" "user_agent"', "x", "-"),
    ],
)
def test_a_header_with_the_agent_before_the_referer(header, referer, agent):
    line = b'192.0.2.1 - - [10/Oct/2024:13:55:36 +0000] "GET / HTTP/1.1" 200 5 "x" "-"'
    [record] = logs.parse(header + b"\n" + line + b"\n", errors="drop")
    assert (record.referer or "-", record.user_agent or "-") == (referer, agent)


def test_gitlabs_variables():
    format = (
        '$remote_addr [$time_local] "$request_method $filtered_request_uri $server_protocol" "$filtered_http_referer"'
    )
    [record] = read(
        format, b'192.0.2.1 [10/Oct/2024:13:55:36 +0000] "GET /a?q=[FILTERED] HTTP/1.1" "http://r.example/"'
    )
    assert (record["target"], record["path"], record["referer"]) == ("/a?q=[FILTERED]", "/a", "http://r.example/")


# Members and keys that products add to those of their family.
MEMBERS = [
    (
        b't=2020-05-27T15:08:20+0000 lvl=info msg="Request Completed" uname=admin method=GET path=/login status=302 '
        b"remote_addr=192.0.2.2 time_ms=3 size=37 referer=http://h/",
        ("logfmt", "192.0.2.2", "admin", "GET", "/login", 302, 37, None, None, 0.003),
    ),
    (
        b'time="2018-07-06T11:34:21Z" level=info msg="response completed" http.request.host="r.example" '
        b'http.request.method=GET http.request.remoteaddr="192.0.2.3:51742" http.request.uri="/v2/" '
        b'http.request.useragent="docker/27 (linux)" http.response.duration=8.9ms http.response.status=200 '
        b"http.response.written=527",
        ("logfmt", "192.0.2.3", None, "GET", "/v2/", 200, 527, "docker/27 (linux)", "r.example", 0.0089),
    ),
    (
        b'{"http.request.host":"r.example","http.request.method":"GET","http.request.remoteaddr":"192.0.2.3:51742",'
        b'"http.request.uri":"/v2/","http.request.useragent":"docker/27","http.response.duration":8900000,'
        b'"http.response.status":200,"http.response.written":527,"level":"info","msg":"response completed",'
        b'"time":"2018-07-06T11:34:21Z"}',
        ("slog", "192.0.2.3", None, "GET", "/v2/", 200, 527, "docker/27", "r.example", 0.0089),
    ),
    (
        b'{"time":"2024-04-29T17:06:12.231Z","severity":"INFO","duration_s":0.01969,"status":200,"method":"GET",'
        b'"path":"/api/v4/geo/proxy","host":"h.example","remote_ip":"192.0.2.4","ua":"curl/8","username":"root"}',
        ("nginx-json", "192.0.2.4", "root", "GET", "/api/v4/geo/proxy", 200, None, "curl/8", "h.example", 0.01969),
    ),
    (
        b'{"level":30,"time":1728568536000,"pid":1,"hostname":"web1","reqId":"req-1","req":{"method":"GET","url":"/",'
        b'"hostname":"h.example","remoteAddress":"192.0.2.5","remotePort":1},"res":{"statusCode":200},"responseTime":2}',
        ("pino", "192.0.2.5", None, "GET", "/", 200, None, None, "h.example", 0.002),
    ),
    (
        b'192.0.2.6 - - [28/Feb/2018:17:30:33 +0000] "GET /en/ HTTP/2.0" 200 2814 - "curl/8" 13 "web" "http://h" 7ms',
        ("traefik", "192.0.2.6", None, "GET", "/en/", 200, 2814, "curl/8", None, 0.007),
    ),
    (
        b"[W 2024-10-10 13:55:40.004 ServerApp] 404 GET /x (192.0.2.7) 1.50ms referer=None",
        ("jupyter", "192.0.2.7", None, "GET", "/x", 404, None, None, None, 0.0015),
    ),
]


@each_row(("line", "wanted"), MEMBERS)
def test_members_of_products(line, wanted):
    record = next(logs.parse(line))
    found = (record.client, record.user, record.method, record.path, record.status, record.bytes_sent)
    found += (record.user_agent, record.vhost, record.duration)
    assert (str(decide(line).format), *found) == wanted
    assert record.time and record.referer in {None, "http://h/"}


def test_logfmt_with_keys_of_its_own():
    """Members that look like fields are not left out without a word."""
    with pytest.raises(logs.FormatError, match="logfmt has no names for client, time of these records"):
        list(logs.parse(b"addr=192.0.2.1 when=2024-10-10T13:55:36Z method=GET path=/a status=200"))


@each_row(("written", "is_record"), [
    ("debug method=GET path=/a done status=200", False),  # the path may be "/a done"
    ("method=GET path=/a status=200 duration=12 ms", False),
    ('debug method="GET" done path="/a b" done level=info done status=200', True),
])  # fmt: skip
def test_words_in_logfmt(written, is_record):
    line = written.encode()
    read("logfmt", line) if is_record else None
    assert bool(list(logs.parse(line, "logfmt", invalid=[]))) == is_record


def test_the_time_of_the_program_that_wrote_the_line():
    line = b'[2024-10-10T13:55:36Z INFO  actix_web::middleware::logger] 192.0.2.8 "GET /a HTTP/1.1" 200 13 "-" "x" 0.1'
    ruby = b"I, [2024-10-10T13:55:36.5 #7]  INFO -- : method=GET path=/a controller=A action=b status=200 duration=3.1"
    for before in b"2024-10-10T13:55:37.1Z stdout F ", b"<190>1 2024-10-10T13:55:37.1+00:00 web1 app 1234 - - ":
        assert read("actix", before + line)[0]["time"] == "2024-10-10T13:55:36Z"
        assert read("lograge", before + ruby)[0]["time"] == "2024-10-10T13:55:36.5"


def test_members_that_one_product_writes_are_known_in_a_text():
    records = (ROOT / "examples/logs/echo.log").read_text().splitlines()
    docker = "".join(json.dumps({"log": f"{line}\n", "stream": "stdout"}) + "\n" for line in records).encode()
    assert list(logs.parse(docker)) == list(logs.parse("\n".join(records).encode(), "echo"))


def test_a_pair_in_one_of_three_lines_is_no_logfmt():
    line = b"beast: 0x7f: ::1 - jo [10/Oct/2024:13:55:36.1 +0000] GET latency=0.01s\n"
    with pytest.raises(logs.FormatError, match="unknown log format"):
        list(logs.parse(b"done op status=0 http_status=200\n" + 2 * line))


CLF_TIME = {"time": "2024-10-10T13:55:36+00:00"}
PLAIN = "192.0.2.1 - - [10/Oct/2024:13:55:36 +0000] "
GET = CLF_TIME | {"client": "192.0.2.1", "method": "GET", "target": "/a", "path": "/a", "protocol": "HTTP/1.1"}
GET |= {"status": 200, "bytes_sent": 13}
TIMED = {"method": "GET", "target": "/a", "path": "/a", "status": 200}


def test_a_whole_number_is_no_duration():
    """Seconds, milliseconds or microseconds: it depends on the server."""
    rows = [
        (f'{PLAIN}"GET /a HTTP/1.1" 200 13 {number}', GET | {"rest": f"{number}"}) for number in (0, 3, 412, 1034567)
    ]
    for name in "common", "rack":
        check_lines(name, rows, is_found=False)
    assert list(logs.parse("\n".join(line for line, _ in rows).encode())) == list(
        logs.parse([line.encode() for line, _ in rows], "rack")
    )
    [record] = read("rack", f'{PLAIN}"GET /a HTTP/1.1" 200 13 3.0000'.encode())
    assert record["duration"] == 3 and "rest" not in (record["extra"] or {})


def test_variants_of_presets():
    place = "192.0.2.1 - a.example a.example - [10/Oct/2024:13:55:36 +0000]"
    check_lines(
        "vhost_combined",
        [
            (
                f'{place} "GET /a HTTP/1.1" 200 13 "-" "curl/8"',
                GET | {"vhost": "a.example", "alias": "a.example", "user_agent": "curl/8"},
            )
        ],
    )
    fields = {"clock": "22:13:06", "client": "192.0.2.1", "duration": 0.00125}
    check_lines("fiber", [("22:13:06 [192.0.2.1] 200 -    1.25ms GET /a", TIMED | fields)])
    check_lines(
        "serilog",
        [
            (
                "[13:55:39 INF] HTTP GET /a responded 200 in 3.21 ms",
                TIMED | {"clock": "13:55:39", "level": "INF", "duration": 0.00321},
            )
        ],
    )
    check_lines(
        "apisix",
        [
            (
                f'{PLAIN}a.example "GET /a HTTP/1.1" 200 13 1.5 "-" "x" - - 1211 "http://b" gpt-4 15',
                GET
                | {
                    "vhost": "a.example",
                    "duration": 1.5,
                    "user_agent": "x",
                    "upstream_response_time": "1211",
                    "upstream_url": "http://b",
                    "rest": "gpt-4 15",
                },
            )
        ],
    )
    check_lines(
        "cups",
        [
            (
                f'{PLAIN}"GET /a HTTP/1.1" 200 13 Print-Job {said}',
                {name: GET[name] for name in GET if name != "bytes_sent"}
                | {"bytes_transferred": "13", "ipp_operation": "Print-Job"}
                | value,
            )
            for said, value in [
                ("successful-ok", {}),
                ("client-error-not-found", {"ipp_error": "not-found"}),
                ("server-error-busy", {"ipp_error": "busy"}),
            ]
        ],
    )
    check_lines(
        "atlassian",
        [
            (
                "[10/Oct/2024:13:55:36 +0000] - http-nio-8090-exec-1 192.0.2.1 GET /a HTTP/1.1 200 12ms 13 - curl/8",
                GET | {"thread": "8090-exec-1", "duration": 0.012, "user_agent": "curl/8"},
            )
        ],
    )


@each_row("memory", ["", "{address space usage: 19288064 bytes/18MB} {rss usage: 7012352 bytes/6MB} "])
@each_row("took", ["7 msecs", "7000 micros", "7 msecs via offload()", "7000 micros via sendfile()"])
def test_all_parts_of_uwsgis_lines(memory, took):
    line = f"{memory}[pid: 5054|app: 0|req: -1/1] 192.0.2.1 () {{26 vars in 433 bytes}} [Fri Dec  7 12:33:48 2012] "
    line += f"GET /a => generated 0 bytes in {took} (HTTP/1.0 -30) 2 headers in 92 bytes (0 switches on core 0)"
    [record] = read("uwsgi", line.encode())
    assert (record["client"], record["duration"], record["path"]) == ("192.0.2.1", 0.007, "/a")
    assert record["extra"].get("rss") == ("7012352" if memory else None)
    assert str(decide(f"{line}\n".encode()).format) == "uwsgi"


@each_row("unit", [("ms", 0.012), ("us", 0.000012)])
@each_row("key", ["duration", "response_time", "request_time", "latency", "elapsed", "took"])
def test_units_in_keys(key, unit):
    shown, seconds = unit
    start = f'"remote_addr":"192.0.2.1","method":"GET","uri":"/a","status":200,"{key}_{shown}":12'
    for more, name in [("", "nginx-json"), (',"level":"info","ts":1728568536.5,"msg":"x"', "zap")]:
        [record] = read(name, f"{{{start}{more}}}".encode())
        assert record["duration"] == seconds
    [record] = read("logfmt", f"remote_addr=192.0.2.1 method=GET path=/a status=200 {key}_{shown}=12".encode())
    assert record["duration"] == seconds


def test_lines_of_bitbucket_and_synapse():
    tail = '2024-10-10 13:55:36,168 | "GET /a HTTP/1.1" | "" "git/2" | 200 | 0 | 13 | {} | 45 | - |'
    wanted = GET | {"time": "2024-10-10T13:55:36.168", "user_agent": "git/2", "bytes_received": "0", "duration": 0.045}
    wanted |= {"scheme": "https", "request_id": "o@1"}
    rows = [
        (f"192.0.2.1 | https | o@1 | - | {tail.format(labels)}", wanted | values)
        for labels, values in [
            ("-", {}),
            ("fetch, protocol:2", {"label": "fetch", "label_2": "protocol:2"}),
            ("push, refs, x", {"label": "push", "label_2": "refs", "label_3": "x"}),
        ]
    ]
    rows.append(
        (f"203.0.113.7,192.0.2.1 | https | o@1 | - | {tail.format('-')}", wanted | {"forwarded_for": ["203.0.113.7"]})
    )
    check_lines("bitbucket", rows)
    for separator, user, status in ("- ", "None", "!200"), (" - ", "None", "200!"), (" - ", "@a:b", "200"):
        line = f"2024-10-10 13:55:36,123 - synapse.access.http.8008 - 1 - INFO - GET-7{separator}192.0.2.1 - 8008 - "
        line += (
            f"{{{user}}} Processed request: 0.100sec/-0.000sec (0.000sec, 0.000sec) (0.001sec/0.090sec/3) 13B {status} "
        )
        line += '"GET /a HTTP/1.1" '
        [record] = read("synapse", f'{line}"Synapse/1.20.1" [0 dbevts]'.encode())
        assert (record["client"], record["status"], record["bytes_sent"], record["duration"]) == (
            "192.0.2.1",
            200,
            13,
            0.1,
        )
        assert (record["user"] or "None", record["extra"]["request_id"]) == (user, "GET-7")


def test_ceph_without_quotes():
    for before in "", "debug 2024-10-10T13:55:36.2+0000 7f8c 1 ", "2024-10-10T13:55:36.2+0000 7f8c  1 ":
        for referer, agent in ("-", "-"), ('"r"', "-"), ("-", '"a b"'), ('"r"', '"a b"'):
            line = f'{before}beast: 0x7f: {PLAIN}"GET /a HTTP/1.1" 200 13 {referer} {agent} - latency=0.5s'
            [record] = read("ceph-rgw", line.encode())
            assert (record["referer"] or "-", record["user_agent"] or "-") == (referer.strip('"'), agent.strip('"'))
            assert (record["client"], record["duration"], record["path"]) == ("192.0.2.1", 0.5, "/a")


@each_row("name", ["_raw", "short_message", "textPayload"])
def test_lines_in_objects_of_other_products(name):
    """Those of Splunk, Graylog and Google Cloud."""
    line = json.dumps({"host": "web1", name: "192.0.2.8 - - " + REST.decode(), "time": "2024-10-10T13:55:40Z"}).encode()
    [record] = read("combined", line)
    assert (record["client"], record["path"], record["user_agent"]) == ("192.0.2.8", "/a", "x")
    assert list(logs.parse(line)) == list(logs.parse(b"192.0.2.8 - - " + REST))
