"""Lines as products write them, and what was sent, written by hand; by the exact reader and by marks."""

import json

import pytest
from support.fast_logs import check
from support.tables import each_row

from uricodec import logs
from uricodec.logs import Format
from uricodec.logs._records import LogReader

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
