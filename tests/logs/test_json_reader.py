"""JSON lines that are read by marks (`_json_reader`) give what the exact reader gives, on every tier."""

import json
import random

import pytest
from support.fast_logs import EXAMPLES, OPTIONS, check, converted
from support.tables import each_row

from uricodec.logs import Format, presets
from uricodec.logs._formats import Json, compile_format
from uricodec.logs._json_reader import marks_of
from uricodec.logs._records import LogReader

PRESETS = [name for name in presets() if isinstance(each := compile_format(name)[0], Json) and each.notation == "json"]
WINDOW = 16384
SPACES = ["", "", "", "", " ", "  ", "\t", "\r", " \t\r "]


def reference(lines):
    """What marks_of() returns."""
    found, in_string, is_escaped = ([], [], [], []), False, False
    for i, c in enumerate(lines):
        is_quote = c == 0x22 and not is_escaped
        if c == 0x0A:
            in_string = False
        if is_quote or c == 0x0A:
            found[0].append(i)
        in_string ^= is_quote
        if c == 0x0A or (c in b"[]{}\\" and not in_string):
            found[1].append(i)
        if c in b",]} \n":
            found[2].append(i)
        if c < 0x20 or c >= 0x7F or c == 0x5C:
            found[3].append(i)
        is_escaped = c == 0x5C and not is_escaped
    return found


def test_marks(every_tier):
    rng = random.Random("marks")
    samples = [bytes(range(256)), b"", b"\\" * 200 + b'"', b'"' * 130, b'"\n' * 70]
    samples += [b"x" * n + b"\\" * k + b'"]' for n in range(58, 66) for k in range(8)]
    for _ in range(1500):
        alphabet = rng.choice([b'"\\', b'"\\\n', b'"\\\n[]{}, a', b'"aaaaaaaa[\n', bytes(range(256))])
        samples.append(bytes(rng.choice(alphabet) for _ in range(rng.randrange(300))))
    expected = [reference(sample) for sample in samples]
    for _ in every_tier():
        for sample, want in zip(samples, expected, strict=True):
            assert marks_of(sample) == want, sample


# --- lines ------------------------------------------------------------------------------------------------------------

TEXTS = [
    *(
        "", "-", "a", "é", '"', "\\", "\t", "\x00", "\x7f", "\u2028", "\U0001f600", "a,b", "]}", "{[", "null", "?",
        "?a=b", "/p%41?q=%3D+x",
    ),
    *(
        "GET /a?q=b HTTP/1.1", "/", "*", "http://h/p", "CONNECT", "10.0.0.1:80", "[::1]:80", "1.5s", "200", "007",
        "+5", "-1", "1e3",
    ),
    *(
        "2024-10-10T13:55:36Z",
        "10/Oct/2024:13:55:38 +0000",
        "2024-10-10T13:55:36.25+02:00",
        "1728568536",
        "1728568536.125",
        "x" * 70,
    ),
]  # fmt: skip
SCALARS = [
    *(
        "0", "-0", "200", "007", "-1", "+5", "1.5", "1e3", "1E-3", "1.", ".5", "1234567890123456789", "1728568536.5",
        "0.000929675",
    ),
    *(
        "true", "false", "null", "nul", "nulls", "NaN", "E", "1/2", "0x1F", "1_0", "", "-", "200 1",
        "12345678901234567890123456789012345",
    ),
]  # fmt: skip


def dumped(rng, value):
    """A value as JSON, with escapes and spaces that another writer would not use."""
    space = rng.choice(SPACES) if not rng.randrange(12) else ""
    if isinstance(value, dict):
        items = [f"{dumped(rng, key)}{space}:{space}{dumped(rng, item)}" for key, item in value.items()]
        for i in range(len(items)):
            if not rng.randrange(60):
                items[i] = rng.choice(items)  # a key again, or a key less
        return "{" + space + f"{space},{space}".join(items) + space + "}"
    if isinstance(value, list):
        return "[" + space + f",{space}".join(dumped(rng, item) for item in value) + "]"
    if isinstance(value, Raw):
        return str(value)
    if isinstance(value, str):
        if not rng.randrange(40) and value:
            at = rng.randrange(len(value))
            return json.dumps(value[:at])[:-1] + f"\\u{ord(value[at]) & 0xFFFF:04x}" + json.dumps(value[at + 1 :])[1:]
        return json.dumps(value, ensure_ascii=rng.random() < 0.5)
    return json.dumps(value)


class Raw(str):
    """A scalar as it is written."""

    __slots__ = ()


def value_of(rng, depth=0):
    kind = rng.randrange(7 if depth < 3 else 4)
    if kind < 2:
        return rng.choice(TEXTS)
    if kind < 4:
        return Raw(rng.choice(SCALARS))
    if kind == 4:
        return [value_of(rng, depth + 1) for _ in range(rng.randrange(4))]
    return {rng.choice(TEXTS): value_of(rng, depth + 1) for _ in range(rng.randrange(4))}


def changed(rng, value, keys):
    """An object with other values, keys and orders."""
    if not isinstance(value, dict):
        return value_of(rng) if not rng.randrange(12) else value
    items = list(value.items())
    if not rng.randrange(4):
        rng.shuffle(items)
    if items and not rng.randrange(8):
        del items[rng.randrange(len(items))]
    if not rng.randrange(8):
        items.insert(rng.randrange(len(items) + 1), (rng.choice([*keys, *TEXTS]), value_of(rng)))
    return {key: changed(rng, item, keys) for key, item in items}


def spoiled(rng, line):
    """A line that is cut or has other bytes somewhere."""
    at = rng.randrange(len(line) + 1)
    kind = rng.randrange(4)
    if kind == 0:
        return line[:at]
    if kind == 1:
        return line[:at] + line[at + rng.randrange(1, 4) :]
    other = bytes([rng.choice(b'"\\{}[],: \t\r\x00\x80\xffa0-.')])
    return line[:at] + other + line[at + (kind == 2) :]


def keys_of(value):
    if not isinstance(value, dict):
        return []
    return [each for key, item in value.items() for each in (key, *keys_of(item))]


def adversarial(seed, objects, count):
    rng = random.Random(seed)
    keys = [key for value in objects for key in keys_of(value)]
    keys += [f"{a}.{b}" for a in keys[:20] for b in keys[:20]]
    lines = []
    for _ in range(count):
        value = rng.choice(objects)
        lines.append(dumped(rng, value if not rng.randrange(4) else changed(rng, value, keys)).encode())
        if not rng.randrange(4):
            lines[-1] = spoiled(rng, lines[-1])
        if not rng.randrange(15):
            lines[-1] = (
                rng.choice(
                    [
                        b"<13>Oct 10 13:55:36 web app: ", b'<13>Oct 10 13:55:36 web a"pp: ',
                        b'<13>1 2024-10-10T13:55:36Z h a 1 - [x y="z"] ',
                        b'<13>1 2024-10-10T13:55:36Z h a 1 - [x y="z\\"] ',
                        b"2016-10-06T00:17:09.669794202Z stdout F ", b"2016-10-06T00:17:09Z stdout P ", b" ", b"\t",
                        b'"', b"\xef\xbb\xbf",
                    ]
                )
                + lines[-1]
            )  # fmt: skip
        elif not rng.randrange(15):
            lines[-1] += rng.choice([b" ", b"\t ", b"}", b",", b"x", b"\r", b' {"status":200}'])
        elif not rng.randrange(30):
            lines[-1] = b'{"log":' + json.dumps(lines[-1].decode("latin-1") + "\n").encode() + b',"stream":"stdout"}'
    return b"".join(line.replace(b"\n", b" ") + rng.choice([b"\n", b"\n", b"\n", b"\r\n"]) for line in lines)


def objects_of(name):
    lines = (EXAMPLES / f"{name}.log").read_bytes().splitlines()
    return [json.loads(line[line.index(b"{") :]) for line in lines]


@pytest.mark.slow
@each_row("name", PRESETS)
def test_presets(name, tier):
    data = adversarial(f"{name} {tier}", objects_of(name), 150)
    assert check(Format(name), data) > 20
    check(Format(name), data, **random.Random(name + tier).choice(OPTIONS[1:]))


FIELDS = [
    "client", "client.endpoint", "user", "time", "request", "method", "target", "path", "query", "protocol", "status",
    "bytes_sent", "referer", "user_agent", "vhost", "duration", "duration.ms", "forwarded_for", "extra.a", "extra.b",
    "extra.é",
]  # fmt: skip


@pytest.mark.slow
def test_mappings(tier):
    """Of any members, nested or not, and with alternatives."""
    rng = random.Random(f"mappings {tier}")
    for _ in range(30):
        names = [rng.choice("abcdef") + rng.choice(["", "x", "_long_name_of_a_member"]) for _ in range(6)]
        paths = list({".".join(rng.choice(names) for _ in range(rng.choice([1, 1, 2, 3]))) for _ in range(30)})
        fields = [field for field in rng.sample(FIELDS, rng.randrange(1, 12)) if field != "path" or rng.random() < 0.5]
        mapping = {
            field: "|".join(paths.pop() for _ in range(rng.choice([1, 1, 1, 2, 3])) if paths) for field in fields
        }
        mapping = {field: path for field, path in mapping.items() if path} or {"status": "a"}
        objects = []
        for _ in range(3):
            top = {}
            for path in "|".join(mapping.values()).split("|"):
                inner, steps = top, path.split(".")
                while len(steps) > 1 and rng.random() < 0.8:
                    inner = inner.setdefault(steps.pop(0), {})
                    if not isinstance(inner, dict):
                        break
                if isinstance(inner, dict):
                    inner[".".join(steps)] = rng.choice(TEXTS) if rng.random() < 0.7 else Raw(rng.choice(SCALARS[:8]))
            objects.append(top)
        format = Format(map=mapping)
        check(format, adversarial(rng.random(), objects, 120))


def test_declined_lines_are_read_by_the_exact_reader():
    data = (EXAMPLES / "caddy.log").read_bytes()
    reader = LogReader(Format("caddy").programs)
    _, invalid, lines, _ = converted(reader, 300 * data)
    assert not invalid
    assert lines == 900
    assert reader.fast_records >= 890  # not the first line, and those at the end


EXAMPLES_OF_CHECKS = [
    r'{"status":500,"x":[\"a"],"msg":"a backslash outside a string"}',
    r'{"status":500,"x":{"a":\"}"},"msg":"a backslash outside a string"}',
    r'{"st\u0061tus":500,"msg":"a key with an escape","size":1}',
    r'{"status":200,"msg":"an escape \u00e9 \"","size":1}', '{"status":200/1,"msg":"no number","size":1}',
    '{"status":20:0,"msg":"no number","size":1}', '{"status":"200","msg":"a text that is not closed,"size":1}',
    '{"status":"200","msg":"the last text is not closed,"size":1,"x":"y}',
    '{"status":200 "msg":"no comma at all","size":1}', '{"status":200;"msg":"another byte than a comma","size":1}',
    '{"status"=200,"msg":"another byte than a colon","size":1}',
    '{"status":200,"msg":"something after the object"} x', '{"status":200,"msg":"another object"}{"status":200}',
    '{"status":200,"msg":"an object that does not end"',
    '{"status":200,"msg":"an object of an object","request":{"uri":"/"}',
    '{"status":200,"x":[{"a":1},"msg":"an array that does not end"}',
    '{"status":200,"duration":1e-3,"msg":"an exponent"}',
    '{"status":200,"duration":.5,"size":007,"msg":"numbers of other forms"}',
    '{"status":200,"request":{"uri":"/","uri":"-","uri":"/last"},"msg":"a key again"}',
    '{"status":200,"request.uri":"/","request":{"uri":"/nested"},"msg":"the same member"}',
    '{"status":200,"request":{"uri":["/first","/second"]},"msg":"an array"}',
    '{"status":200,"request":{"uri":[{"a":"b"},"/second"]},"msg":"an array"}',
    '{"status":200,"a_key_of_more_than_24_bytes_A":1,"size":1}',
    '{"status":200,"a_key_of_more_than_24_bytes_B":1,"size":1}',
    '<13>Oct 10 13:55:36 web a"pp: {"status":200,"msg":"after a quote","size":1}',
    '<13>Oct 10 13:55:36 web app: {"status":200,"msg":"after a prefix","size":1}',
    '{"status":200,"msg":"spaces" , "size" :\t1 , "request" : { "uri" : "/a" } }  ',
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", ["caddy", "nginx-json", "map"])
def test_examples(name, every_tier):
    """Each line among others like it, so that what follows a member is known."""
    format = (
        Format(map={"status": "status", "path": "request.uri", "duration.ms": "duration"})
        if name == "map"
        else Format(name)
    )
    usual = [
        b'{"status":200,"msg":"as always, in this log","size":1}',
        b'{"status":200,"request":{"uri":"/"},"size":1}',
    ]
    for _ in every_tier():
        for line in map(str.encode, EXAMPLES_OF_CHECKS):
            lines = [*usual, line, *usual, line, line, *usual, *usual]
            check(format, b"".join(each + b"\n" for each in lines))


def test_more_members_than_are_remembered():
    lines = []
    for i in range(3000):
        names = {f"key{i * 7 + k}": k for k in range(i % 9)}
        lines.append(
            json.dumps(
                {"status": 200, **names, "request": {"uri": f"/{i}"} if i % 3 else None, "x" * (i % 200): i}
            ).encode()
        )
    data = b"\n".join(lines) + b"\n"
    assert check(Format("caddy"), data) > 900
    check(Format(map={"status": "status", "path": "request.uri"}), data)


@each_row("size", range(WINDOW - 3, WINDOW + 4))
def test_lines_as_long_as_a_window(size):
    line = b'{"status":200,"request":{"uri":"/%s"}}'
    long = line % (b"a" * (size - len(line) + 1))
    data = b"".join(each + b"\n" for each in (line % b"b", long, line % b"c", line % b"d", long, line % b"e" * 3))
    check(Format("caddy"), data + 40 * (line % b"f" + b"\n"))
    check(Format("caddy"), b"".join(line % (b"x" * (k % 50)) + b"\n" for k in range(1500)))


def test_objects_that_end_at_once():
    """The same bytes after a value mean something else if an object was entered."""
    lines = [
        b'{"request":{"headers":%s},"status":200,"msg":"this is long enough"}' % value
        for value in (b"{}", b"null", b'{"Referer":["r"]}', b"{}", b'"text"', b"{}", b"1", b"[]", b"{}", b"[{}]", b"{}")
    ]
    lines += [
        b'{"request":%s},"status":200,"msg":"this is long enough"}' % value
        for value in (b'{"headers":{}', b'{"headers":null', b'{"uri":"/"')
    ]
    data = b"".join(line + b"\n" for line in 3 * lines + lines[::-1])
    assert check(Format("caddy"), data + 5 * (lines[0] + b"\n")) > 30


@pytest.mark.slow
def test_every_cut():
    data = (EXAMPLES / "caddy.log").read_bytes()[1200:] * 2 + adversarial("cuts", objects_of("nginx-json"), 4)
    for format in Format("caddy"), Format("nginx-json"):
        for cut in range(1, len(data)):
            fast, exact = LogReader(format.programs), LogReader(format.programs, fast=False)
            assert converted(fast, data, [cut]) == converted(exact, data, [cut]), cut


@pytest.mark.slow
@each_row("name", ["caddy", "nginx-json", "map", "combined", "common", "haproxy", "iis", "cloudfront"])
def test_docker(name, tier):
    """Lines in records of Docker's json-file driver."""
    format = Format(map={"status": "status", "time": "time"}) if name == "map" else Format(name)
    rng = random.Random(f"{name} {tier}")
    samples = (EXAMPLES / f"{'caddy' if name == 'map' else name}.log").read_text().splitlines()
    lines = []
    for _ in range(300):
        text = rng.choice(samples)
        if not rng.randrange(3):
            at = rng.randrange(len(text))
            text = (
                text[:at]
                + rng.choice([*TEXTS, "\n", "\r", "\ud83d", "<", "&", "2024-10-10T13:55:36Z stdout F "])
                + text[at:]
            )
        if not rng.randrange(10):
            text = (
                rng.choice(["2016-10-06T00:17:09Z stdout F ", "Oct 10 13:55:36 web app: ", "<13>", '{"log":"', " "])
                + text
            )
        text += rng.choice(["\n", "\n", "\n", "\n", "\r\n", "", "\n\n", "\r\r\n", f"\n{text}", "\n\t"])
        log = json.dumps(text, ensure_ascii=rng.random() < 0.5)
        if not rng.randrange(3):
            log = log.replace("\\n", "\\u000a").replace("\\r", "\\u000D")
        for c in "<>&/":
            if not rng.randrange(3):
                log = log.replace(c, rng.choice([f"\\u{ord(c):04x}", f"\\u{ord(c):04X}", "\\/" if c == "/" else c]))
        space = rng.choice([*[""] * 10, " "])
        more = rng.choice(
            ["", "", ',"status":500,"request":"GET /outer HTTP/1.1"', ',"request":{"uri":"/outer"},"status":500']
        )
        line = f'{{"log":{space}{log},"stream":"stdout"{more},"time":"2024-10-10T13:55:36.123456789Z"}}'
        line = line.encode("utf-8", "surrogatepass")
        lines.append(spoiled(rng, line) if not rng.randrange(5) else line)
    data = b"".join(line.replace(b"\n", b" ") + b"\n" for line in lines)
    records = check(format, data)
    assert records > 18 or name in ("iis", "cloudfront")
    check(format, data, **rng.choice(OPTIONS[1:]))


def test_any_capacity():
    """Records are written as far as they fit."""
    data = 20 * (EXAMPLES / "traefik-json.log").read_bytes()
    readers = [LogReader(Format("traefik-json").programs, fast=fast) for fast in (True, False)]
    most = readers[0].capacity_for(900)
    for capacity in range(most, most + 3000, 100):
        found = []
        for reader in readers:
            reader.begin()
            dst = bytearray(capacity)
            lines = reader.convert(data, dst)
            found.append((lines, bytes(dst[: lines.written])))
        assert found[0] == found[1]


@pytest.mark.slow
@each_row("name", PRESETS)
def test_fenced(name, fences, every_tier):
    """Nothing outside the lines is read."""
    source, target = fences
    data = 3 * b"".join((EXAMPLES / f"{name}.log").read_bytes().splitlines(keepends=True)[:5])
    capacity = target.size
    format = Format(name)
    for _ in every_tier():
        for cut in [*range(0, 140, 3), len(data) - 30]:
            for place in source.at_start, source.at_end:
                for part in (data[cut:], data[: len(data) - cut]):
                    view = place(part)
                    ours, exact = LogReader(format.programs), LogReader(format.programs, fast=False)
                    dst, want = target.at_end(bytes(capacity)), bytearray(capacity)
                    found = ours.convert(view, dst)
                    expected = exact.convert(part, want)
                    assert found == expected
                    assert dst[: found.written] == want[: expected.written]
