"""Lines read by marks (`_text_reader`) give what they give read step by step (LogReader(fast=False)), on every tier."""

import random
import re

import pytest
from support.fast_logs import EXAMPLES, OPTIONS, check
from support.tables import each_row

from uricodec.logs import Format, presets
from uricodec.logs._columns import convert_columns
from uricodec.logs._formats import Text, compile_format
from uricodec.logs._records import LogReader

PRESETS = [name for name in presets() if (EXAMPLES / f"{name}.log").exists()]
TEXTS = [name for name in PRESETS if isinstance(compile_format(name)[0], Text)]
# Of these, other lines than the first and last are read exactly, too: logfmt, quotes around each value, lines with
# colors, or with what another program wrote before them.
EXACT = {"logfmt", "ltsv", "nginx-ltsv", "lograge", "splunk-nginx", "gcs", "chi", "morgan", "nlb", "fluentd"}
EXACT |= {"gorouter", "kubernetes", "jupyter", "bitbucket", "couchdb", "gerrit"}
PIECES = [
    *(bytes([c]) for c in b'"\\ []-%+?&=\t\r\x7f\x80\xe9\x00:/.,{}09aZ<#'),
    *b'" "|\\"| [|] |- | - "|%41|%C3%A9|%e2%80%a8|%zz|%22|&a=b&|?q=%3D+x|q=|#22|#41|#7c|#25|#c3#a9'.split(b"|"),
    *b" HTTP/1.1|http://h/|GET |CONNECT |001|+5|-1|0.5|1e3|1234567890123456789|\xc3\xa9|a, b|, |[::1]:80".split(b"|"),
    *b"29/Feb/2023:23:59:60 +0000|01/Jan/2025:12:00:09 +0100|2025-01-01T12:00:00Z".split(b"|"),
]


def mutated(rng, lines):
    """A line with up to four changes."""
    line = rng.choice(lines)
    for _ in range(rng.randrange(1, 5)):
        at, stop = sorted(rng.randrange(len(line) + 1) for _ in range(2))
        stop = min(stop, at + rng.randrange(12))
        kind = rng.randrange(6)
        if kind == 0:
            line = line[:at] + line[stop:]
        elif kind == 1:
            line = line[:at] + line[at:stop] + line[at:]
        elif kind == 2:
            line = line[:at]
        elif kind == 3:
            line = line[:at] + rng.choice(PIECES) + line[stop:]
        elif kind == 4:
            line = line[:at] + rng.choice(PIECES) + line[at:]
        else:
            fields = line.split(b" ")
            fields[rng.randrange(len(fields))] = rng.choice([*rng.choice(lines).split(b" "), b"-", b'"-"', b'""', b""])
            line = b" ".join(fields)
    return line


def adversarial(name, count, seed=1):
    """Mutations of the lines of a preset, among its lines as they are."""
    rng = random.Random(f"{name} {seed}")
    lines = (EXAMPLES / f"{name}.log").read_bytes().splitlines()
    result = []
    for _ in range(count):
        result.append(mutated(rng, lines))
        if not rng.randrange(3):
            result.append(rng.choice(lines))
    return b"".join(line + rng.choice([b"\n", b"\n", b"\n", b"\r\n"]) for line in result)


def cuts_of(rng, data):
    """Some ends of lines, where a log is cut."""
    ends = [i + 1 for i, byte in enumerate(data) if byte == ord("\n")]
    return sorted(rng.sample(ends, min(len(ends), 20)))


@pytest.mark.slow
@each_row("options", OPTIONS)
@each_row("name", PRESETS)
def test_samples_are_read_by_marks(name, options):
    data = (EXAMPLES / f"{name}.log").read_bytes()
    fast = check(Format(name), 9 * data, **options)
    check(Format(name), data.replace(b"\n", b"\r\n"), **options)
    # All but the first line, and those at the end.
    lines = [line for line in data.splitlines() if not line.startswith(b"#")]
    assert fast >= 8 * len(lines) or name in EXACT


HEAD = b"192.0.2.1 - - [01/Jan/2025:12:00:00 +0000] "
LINES = {
    "common": [
        b'"GET / HTTP/1.1"  200 5 "x" 7 8',
        b'"GET / HTTP/1.1" 200 5 "x" 7',
        b'"GET / HTTP/1.1" 200 5  ',
        b'"GET / HTTP/1.1" 200 5 -',
    ],
    "combined": [
        *(
            b'"GET / HTTP/' + version + b'" 200 5 "-" "-"'
            for version in (b"1.:", b"/.1", b"2.0", b"1-1", b"10.", b"1.x")
        ),
        *(
            b'"GET ' + end + b'" 200 5 "-" "-"'
            for end in (b"/HTTP/1.1", b"/-HTTP/1.1", b"/ HTTQ/1.1", b"/ http/1.1", b"/ HTTP/1.1 ")
        ),
        *(
            b'"CONNECT http://h/a?b HTTP/1.1" 200 5',
            b'"COPY http://h/a?b HTTP/1.1" 200 5 "-" "-"',
            b'"G(T / HTTP/1.1" 200 5 "-" "-"',
        ),
        *(b'"GET / HTTP/1.1" 200 5 "=1" "+x"', b'"GET / HTTP/1.1" 200 5 "-" "a" b', b'"GET / HTTP/1.1" 2:0 5 "-" "-"'),
        *(
            b'"GET https://h HTTP/1.1" 200 5 "-" "-"',
            b'"GET http:/h/ HTTP/1.1" 200 5 "-" "-"',
            b'"GET /a?b=%41&&=c&d==e?f HTTP/1.1" 200 5',
        ),
    ],
}


def test_a_prefix_that_could_be_fields():
    """A line that matches with a prefix, and without."""
    lines = [
        b"2016-10-06T00:17:09.669794202Z stdout F ",
        b"<1>1 2025-01-01T00:00:00Z h a 1 - - ",
        b"Oct 11 22:14:15 host app: ",
        b"",
    ]
    data = b"".join(line + b"2025-01-01T12:00:00Z a b c d\n" for line in 10 * lines)
    assert check(Format("$time $request_id $host $user_agent"), data) > 30


@pytest.mark.parametrize("start", ["a_start", "a_start_of_9+", "the beginning of lines that is longer than a copy: "])
def test_a_literal_before_the_first_field(start):
    lines = [start.encode() + b"192.0.2.1 200 some_text\n", start[:-1].encode() + b"!192.0.2.1 200 some_text\n"]
    assert check(Format(start + "$client $status $a"), 9 * lines[0] + lines[1] + 9 * lines[0]) > 9


def test_labels():
    """A label is skipped first, as the exact reader does: these formats would match the line with it, too."""
    for label in b"web-1    | ", b"web.1|", b"web-1 | 2016-10-06T00:17:09.669794202Z ", b"[pod/web/nginx] ", b"[pods] ":
        for text in '$vhost:$port $client "$request" $status', "$request_id $status", "[$time] $client":
            line = {
                "[": b"[01/Jan/2025:12:00:09 +0100] 192.0.2.1",
                "$": b'www.example.com:80 192.0.2.1 "GET / HTTP/1.1" 200',
            }[text[0]]
            line = b"x 200" if "request_id" in text else line
            check(Format(text), 20 * (label + line + b"\n") + 40 * (line + b"\n"))


@pytest.mark.slow
@pytest.mark.parametrize("name", LINES)
def test_odd_lines_agree_with_the_exact_reader(name):
    for line in LINES[name]:
        data = HEAD + b'"GET / HTTP/1.1" 200 5 "-" "-"\n' + HEAD + line + b"\n"
        for options in OPTIONS:
            check(Format(name), 2 * data + 2 * HEAD, **options)
            check(Format(name), b"first\n" + data + 100 * b"x", **options)  # each record is read by marks


@pytest.mark.parametrize("count", [62, 63, 64])
def test_many_fields(count):
    """As many fields as are read by marks, and one more."""
    format = " ".join(f"$field_{k}" for k in range(count))
    data = 9 * (" ".join(str(k) for k in range(count)) + "\n").encode()
    assert (check(Format(format), data + b"-" + data) > 9) == (count < 64)


ESCAPED = [
    *(b"+", b"%", b"%4", b"%41", b"%2B", b"%22", b"%5C", b"%5c%7e", b"%zz", b"%0A", b"%7F", b"%C3%A9", b"%E9", b"%"),
    *(
        b"%C3", b"%A9", b"%e2%80%a8", b"%ED%A0%80", b"%E4%BD%A0", b"%E4%BD", b"%C2%85", b"%C2%A9", b"%F0%9F%98%80",
        b"%C0%80",
    ),
    *(b"%C3%C3", b"%E4%41", b"%E0%80%80", b"%EF%BB%BF", b"%c3+%a9", b"%C3x%A9", b"%DF%BF", b"%80%BF"),
    *(b"a=b", b"a?b", b"", b"c" * 40, b"%41" + b"c" * 33, b"c" * 31 + b"%20"),
]  # fmt: skip


@pytest.mark.slow
def test_escapes():
    """What of a path and a query is decoded at once, and what is left to the exact reader."""
    rng = random.Random(1)
    lines = []
    for _ in range(2000):
        path = b"".join(rng.choice(ESCAPED) for _ in range(rng.choice([0, 0, 1, 2, 5])))
        query = b"".join(rng.choice([*ESCAPED, b"&", b"=", b"&"]) for _ in range(rng.randrange(8)))
        lines.append(HEAD + b'"GET /' + path + b"?" + query + b' HTTP/1.1" 200 5 "-" "4"\n')
    for options in OPTIONS:
        check(Format("combined"), b"".join(lines), **options)


def lines_of(values, before, after):
    """Each value in a line: alone, and after one that is as expected."""
    return b"".join(before + value + after + b"\n" + before + values[0] + after + b"\n" for value in values)


def test_authorities():
    targets = [
        b"http" + s + b"://" + k * b"a" + end
        for s in (b"", b"s")
        for k in range(20)
        for end in (b"", b"/", b"?", b"?/", b"/?a=/")
    ]
    check(Format("combined"), lines_of(targets, HEAD + b'"GET ', b' HTTP/1.1" 200 5 "/" "?"'))


ENDPOINTS = [
    *(b"192.0.2.1:80", b"192.0.2.1:12345678", b"192.0.2.1:123456789", b"192.0.2.1:", b"192.0.2.1", b":80", b"a:80"),
    *(b"::1:80", b"2001:db8::1:80", b"1:2:3:4:5:6:7:8", b"[::1]:80", b"[::1]", b"host.example:80", b"host.example:8o"),
    *(b"host:1:2", b"a:", b"-:80", b"12345678:9", b"1234567:9", b"12345678", b"a:1x"),
]


@pytest.mark.parametrize("after", [b" x y:1 of_a_line", b"/x y of_a_longer_line"])
def test_endpoints(after):
    check(Format("$client_endpoint" + after.decode() + "$rest"), lines_of(ENDPOINTS, b"", after))


NUMBERS = [
    *(
        b"0.5", b"0", b"00", b"007", b"7", b".5", b"5.", b".", b"1.2.3", b"12345678", b"123456789", b"1234567.",
        b".1234567",
    ),
    *(
        b"0.123456", b"0.1234567", b"12.34567", b"1e3", b"5s", b"-", b"-1", b"+1", b"", b" 5", b"  0.5", b"1x",
        b"1:2", b"0.50",
    ),
]  # fmt: skip


@each_row("name", ["status", "bytes_sent", "duration", "duration_ms", "duration_ns"])
@each_row("after", [b" an_end of the line", b"/an_end of the line", b' "an_end" of the line'])
def test_numbers_agree_with_the_exact_reader(name, after):
    format = "the_beginning $" + name + re.sub("an_end", "$end", after.decode())
    check(Format(format), lines_of(NUMBERS, b"the_beginning ", after))


@pytest.mark.parametrize(
    "format",
    [
        "$a $b $c - $d [$e] $f", "$a/$b $c|$d: $e $f x$rest", '"$a" "$b" $c "$d" $e "$f"',
        '$a - "$b" "$c" - $d "$e" $f/x', "$a $b $status $c $bytes_sent $d $e",
    ],
)  # fmt: skip
def test_sizes(format):
    """Words and quoted texts of any size: some of them are found with marks that are loaded once."""
    rng = random.Random(format)
    texts = [b"-", b"", b"/", b"|", b" - ", b"x y", *(size * b"x" for size in range(1, 70))]
    lines = []
    for _ in range(1000):
        values = {name: rng.choice(texts) if rng.random() < 0.9 else b"- - -" for name in "abcdef"}
        values |= {"status": b"200", "bytes_sent": rng.choice([b"0", b"12", b"-", b"012", b"1x"]), "rest": b""}
        lines.append(re.sub(rb"\$(\w+)", lambda found, values=values: values[found[1].decode()], format.encode()))
    assert check(Format(format), b"\n".join(lines) + b"\n" + 100 * b"x" + b"\n") > 100


TIMES = [
    *(
        b"01/Jan/2025:12:00:00 +0000",
        b"31/Dec/2024:23:59:59.999 -0130",
        b"01/Jan/2025:12:00:00.5",
        b"2025-01-01T12:00:00Z",
    ),
    *(b"2025-01-01T12:00:00.123456Z", b"2025-01-01 12:00:00 +0100", b"2025-01-01T12:00:00,5+01:00", b"1735732800.123"),
]


@each_row("time", TIMES)
@each_row("format", ["combined", "$client $time $user_agent", "$time|$request $status", '"$time" $request_id $host'])
def test_times(format, time):
    """Each byte of a time changes after the time has been read."""
    start, end = (
        (b"192.0.2.1 - - [", b'] "GET / HTTP/1.1" 200 5 "-" "x"')
        if format == "combined"
        else (
            format[: format.index("$time")].replace("$client", "192.0.2.1").encode(),
            format[format.index("$time") + 5 :].encode(),
        )
    )
    times = [time]
    for i in range(len(time)):
        times += [time[:i] + bytes([byte]) + time[i + 1 :] for byte in b"0123456789:/ -+.TZ<a"]
        times += [time[:i], time, time[:i] + time[i + 1 :], time]
    check(Format(format), b"".join(start + each + end + b"\n" for each in times))


@each_row("name", TEXTS)
def test_long_lines(name):
    lines = (EXAMPLES / f"{name}.log").read_bytes().splitlines()
    for size in {max(map(len, lines)), min(map(len, lines)), min(map(len, lines)) - 1}:
        check(Format(name), 40 * b"".join(line + b"\n" for line in lines), max_line=size)


@pytest.mark.slow
@each_row("name", PRESETS)
def test_adversarial_lines(name, tier):
    data = adversarial(name, 80, tier)
    rng = random.Random(name)
    for options in OPTIONS[0], rng.choice(OPTIONS[1:]):
        check(Format(name), data, cuts_of(rng, data), **options)


@pytest.mark.slow
@each_row("name", ["combined", "haproxy", "alb"])
def test_windows(name, tier):
    """Lines of any length, and at any place of what is marked at once."""
    rng = random.Random(name)
    [*lines] = (EXAMPLES / f"{name}.log").read_bytes().splitlines()
    path = b"/wiki/" if any(b"/wiki/" in line for line in lines) else b" /"
    for shift in range(66):
        log = [b"GET " * 6 + b"x" * shift]
        for _ in range(25):
            size = rng.choice([0, 1, 30, 31, 32, 33, 63, 64, 65, 100, 1000, rng.randrange(100)])
            log.append(
                rng.choice(lines).replace(path, path + size * b"a" + rng.choice([b"", b"%41", b"?a=" + size * b"b"]))
            )
        if shift % 16 == 0:
            log.insert(rng.randrange(1, 25), lines[0].replace(path, path + rng.randrange(16_000, 40_000) * b"c"))
        data = b"".join(line + rng.choice([b"\n", b"\r\n"]) for line in log)
        assert check(Format(name), data) >= 8


@pytest.mark.parametrize("name", ["common", "nginx", "squid", "elb", "s3"])
def test_prefixes(name):
    """What other programs write before a line."""
    rng = random.Random(name)
    lines = (EXAMPLES / f"{name}.log").read_bytes().splitlines()
    prefixes = [
        *(
            b"<13>Oct 11 22:14:15 host app[1]: ",
            b"<13>1 2025-01-01T00:00:00Z host app 1 - - ",
            b"Oct 11 22:14:15 host app: ",
        ),
        *(
            b"2025-01-01T00:00:00.123456+00:00 host app: ",
            b"2016-10-06T00:17:09.669794202Z stdout F ",
            b"2025-01-01T00:00:00Z ",
        ),
        *(
            b"<",
            b"<1",
            b"{",
            b"Oct 11 22:14:15 ",
            b'<13>1 2025-01-01T00:00:00Z h a 1 - [x y="]"] ',
            b"a" * 3 + b" b  c ",
        ),
    ]
    log = lines[:1]
    for prefix in prefixes:
        log += [prefix[:size] + rng.choice(lines) for size in range(len(prefix) + 1)]
    assert check(Format(name), b"\n".join([*log, *lines])) >= len(lines)


DIRECTIVES = {
    "%h": [b"192.0.2.1", b"::1", b"-"],
    "%l": [b"-", b"x"],
    "%u": [b"-", b"al", b"a b", b""],
    "%t": [b"[01/Jan/2025:12:00:00 +0000]", b"[31/Dec/2024:23:59:60 -0130]", b"[30/Feb/2025:24:00:00 +0000]", b"[-]"],
    '"%r"': [
        b'"GET /a%20b?q=1&r HTTP/1.1"', b'"-"', b'"CONNECT h:1 HTTP/1.1"', b'"GET http://h/a?b HTTP/2.0"', b'"GET /"',
        b'""',
    ],
    "%m": [b"GET", b"-"],
    "%U": [b"/a b", b"/%41", b"-"],
    "%q": [b"?a=b", b"", b"?"],
    "%H": [b"HTTP/1.1", b"-"],
    "%>s": [b"200", b"0200", b"-", b"2x0"],
    "%b": [b"5", b"-", b"12345678901234567"],
    '"%{Referer}i"': [b'"-"', b'"http://h/?q=a"', b'"a\\"b"', b'"a"b"'],
    '"%{User-Agent}i"': [b'"Mozilla/5.0 (X11; Linux) \xc3\xa9"', b'"-"', b'""'],
    "%D": [b"1234", b"-", b"0"],
    "%T": [b"1.50", b"0", b"1e2", b".5"],
    "%v": [b"h.example", b"-"],
    "%{X-Forwarded-For}i": [b"192.0.2.1, 192.0.2.2", b"-", b"192.0.2.1"],
    "%p": [b"443", b"-"],
    "%{a}C": [b"x", b"-", b"a=b"],
    "%{%Y-%m-%dT%H:%M:%S%z}t": [b"2025-01-01T12:00:00+0000", b"2025-01-01 12:00:00"],
}  # fmt: skip
LITERALS = [" ", " ", " ", " - ", "|", " [", "] ", ": ", "/", " {", "} {", "\t", " /"]


@each_row(
    "format",
    [
        '%q %l:%q] "%X","%{msec}t', "%h %q %s", '%h "%q" %s %q', "%h %U %s %q", '%h "%U" %q',
        '%h %t "%m %U%q %H" %s %b', "%q|%U",
    ],
)  # fmt: skip
def test_values_that_a_format_writes_something_around(format):
    """A "?" before a query, also where it is a field of its own; decoded paths."""
    rng, values = random.Random(format), [b"?", b"?a=1&b", b"a=1", b"-", b"", b"/%41?x=1", b"/a b", b"??"]
    lines = []
    for _ in range(300):
        line = re.sub(rb"%\{?[a-zA-Z]+\}?t?", lambda _: rng.choice(values), format.encode())
        lines.append(line.replace(b"%", b"") if rng.random() < 0.1 else line)
    check(Format(format), b"\n".join(lines) + b"\n" + 100 * b"x" + b"\n")


def test_a_time_that_contains_what_ends_it():
    """Found by fuzzing: the exact reader ends such a time earlier."""
    data = (
        b'x 10/Oct/2024:13:55:36 +0000#41"\xe2\x80\xa8:h.example] "[-] "1.2.3.4, 5.6.7.8 "HTTP\xce1.1 y\nx 2024-1'
        b"0-10T13:55:36.1Z:2001:db\n2016-10-06T00:17:09.669794202Z stdout F x 1728568536.25:10/Oct/20"
        b'2\\:13:55:36 +0000\\] "[/a6.25:10/Oct/20%2F] "404 "HTTP/1.1 y\nx 17:192.0.2.1] "[&\\\\n-1%C3%A9'
        b'] "Mozilla/5.0 (X) "- y\nx 2024-10-10T13:55:36.1Z:192.0.2.1] "[+] "10/Oct/2024:13:55:36 +00'
        b'00 "HTTP/1.1 1.1 yy\nx 10/Oct/2024:13:55:36 +0000:200:21:db8::1] "[-] "/ "HTTP/1.1 y\n2016-1'
        b'0-06T00:17:09.669794202Z stdout F x 172e] "[%41] " "HTTP/8568536.25:h.example] "[%41] " "H'
        b'TTP/1.1 y\n2016-10-06T00:17:09.669794202Z stdout F x \\" \\":2001:db\r\n'
    )
    check(Format('x %{msec}t:%a] "%t "%{%Y-%m-%d}t "%H y'), data)


@pytest.mark.slow
@each_row("seed", range(24))
def test_random_formats(seed):
    rng = random.Random(seed)
    names = rng.sample([*DIRECTIVES], rng.randrange(3, 13))
    literals = [
        rng.choice(["", "", "> ", '"']),
        *(rng.choice(LITERALS) for _ in names[1:]),
        rng.choice(["", "", " <", "]"]),
    ]
    try:
        format = Format("".join(map("".join, zip(literals, [*names, ""], strict=True))))
    except ValueError:
        return
    lines = []
    for _ in range(300):
        values = [rng.choice(DIRECTIVES[name]) if rng.random() < 0.3 else DIRECTIVES[name][0] for name in names]
        lines.append(b"".join(map(b"".join, zip([each.encode() for each in literals], [*values, b""], strict=True))))
    lines += [mutated(rng, lines) for _ in range(300)]
    data = b"\n".join(lines)
    check(format, data, cuts_of(rng, data))
    check(format, data, **rng.choice(OPTIONS))


@pytest.mark.slow
@each_row("name", TEXTS)
def test_between_guard_pages(fences, name):
    """Nothing is read past the lines, and the capacity for one of them is enough."""
    source, target = fences[0], type(fences[0])(1 << 18)
    lines = [*(EXAMPLES / f"{name}.log").read_bytes().splitlines(), *adversarial(name, 20).splitlines()]
    for to in "jsonl", "csv":
        reader = LogReader(Format(name).programs, to, params=["q"], flags=True)
        reader.convert(b"first\n", bytearray(reader.capacity_for(5)))
        for line in lines:
            for after in (
                b"",
                b"\n",
                b"\na",
                b"\n" + 8 * b"a",
                b"\n" + 31 * b"a",
                b"\n" + 63 * b"a",
                b"\n" + 64 * b"a",
                b"\n" + 65 * b"a",
                b"\n" + lines[0] + b"\n",
            ):
                data = line + after
                for place in source.at_start(data, after=64 * b"1"), source.at_end(data, before=64 * b'"'):
                    size = max(len(line), len(after))
                    assert reader.convert(place, target.at_end(bytes(reader.capacity_for(size)))).read >= len(line)
                    convert_columns(reader, place)
