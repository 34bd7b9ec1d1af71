"""Fields that are chosen, conditions on records, and counts: fields=, where= and logs.count."""

import collections
import io
import json
import random
import re
from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import logs as naive
from support.fast_logs import EXAMPLES, check
from support.tables import each_row

from uricodec import logs
from uricodec.logs import Format
from uricodec.logs._columns import convert_columns, objects_of
from uricodec.logs._conditions import condition_of
from uricodec.logs._groups import EXAMPLES as GROUPS
from uricodec.logs._records import NAMES, LogReader, field_names
from uricodec.logs._times import moment_of, timezone_of

SAMPLES = {path.stem: path.read_bytes() for path in sorted(EXAMPLES.glob("*.log")) if path.stem in logs.presets()}
LINE = b'%(client)s - %(user)s [%(time)s] "%(request)s" %(status)s %(size)s "%(referer)s" "%(agent)s"\n'
USUAL = {
    "client": b"192.0.2.1",
    "time": b"01/Jan/2025:12:00:00 +0100",
    "request": b"GET / HTTP/1.1",
    "status": b"200",
    "size": b"5",
}


def combined(**fields):
    """A line of the combined format."""
    fields = dict.fromkeys(("user", "referer", "agent"), b"-") | USUAL | fields
    return LINE % {name.encode(): value for name, value in fields.items()}


MIXED = b"".join(
    [
        combined(),
        combined(client=b"2001:db8::1", user=b"eve", time=b"31/Dec/2024:23:59:60 -0330", status=b"404", size=b"0"),
        combined(request=b"GET /a%20b/?q=1&q=2&e= HTTP/1.1"),
        combined(client=b"::ffff:10.1.2.3", request=b"POST /caf%C3%A9?x HTTP/2.0", status=b"503", size=b"12345678901"),
        combined(client=b"host.example", time=b"-", request=b"\\x16\\x03\\x01", status=b"400", agent=rb"say \"x\""),
        combined(client=b"10.1.2.3", request=b"GET /../x%2Fy%00?%FF=%zz HTTP/1.1", status=b"99", size=b"-"),
        combined(client=b"10.255.0.1", request=b"GET http://a/b?%71=c HTTP/1.1", status=b"-", agent="é".encode()),
        combined(request=b"-", time=b"01/Feb/2025:00:00:00 +0000", referer=b"http://a/?q=1"),
        combined(time=b"99/Foo/2025:12:00:00 +0100"),
    ]
)


def records_of(data, format, **options):
    """Records of all fields, from JSON lines."""
    reader = LogReader(Format(format).programs, fields=[*NAMES, "flags"], **options)
    dst = bytearray(reader.capacity_for(len(data)) + 30 * len(data))
    found = reader.convert(data, dst)
    assert found.read == len(data)
    return [json.loads(line) for line in bytes(dst[: found.written]).splitlines()]


def values_near(field, records):
    """Values that records have, others near them, and values of no record."""
    found = set()
    for record in records:
        value = naive.field_of(record, field)
        found |= {*value} if isinstance(value, list) else {value}
    values = {str(value) for value in found if value is not None}
    if field in ("status", "bytes_sent", "duration"):
        return sorted(values | {str(value + d) for value in found if value for d in (1, 0.5)} | {"0", "200.5", "99"})
    if field == "time":
        return [value for value in sorted(values) if naive.microseconds(value) is not None] + ["2025-01-01T11:00:00Z"]
    values |= {value[:3] for value in values} | {value[2:5] for value in values} | {"zz", "é", "-"}
    if field in ("client", "forwarded_for"):
        values |= {
            "10.0.0.0/8", "0.0.0.0/0", "::/0", "2001:db8::/32", "192.0.2.1", "::ffff:10.0.0.0/104", "2001:DB8:0::1",
        }  # fmt: skip
    return sorted(values - {""})


def conditions_on(records, chance, count):
    """Random conditions, half of which some records meet."""
    fields = [*(set(NAMES) - {"extra", "query"}), *GROUPS, "param.q", "param.x", "param.none", "extra.none", "flags"]
    fields += [f"extra.{name}" for record in records for name in record["extra"] or ()][:3]
    for _ in range(count):
        field = chance.choice(sorted(fields))
        if field == "flags":
            yield chance.choice(["flags=", "flags!=", "flags=dot-dot", "flags!=nul", "flags=encoded-slash"])
            continue
        signs = ["=", "!=", "^=", "*=", "!^=", "!*="] + ["<", "<=", ">", ">="] * (
            field not in ("forwarded_for", "status:class")
        )
        sign = chance.choice([*signs, "~=", "!~=", "=*", "=="])
        values = values_near(field, records)
        if sign in ("~=", "!~=", "=*", "==") and values:
            value = chance.choice(values)
            pattern = re.escape(value[: chance.randrange(1, 9)]) + chance.choice(["", ".*", "|zz", "$"])
            yield field + sign + (pattern if "~" in sign else value.swapcase() if sign == "=*" else value)
            continue
        if sign in ("=", "!=", "^=", "*=", "!^=", "!*=") and len(values) > 2 and chance.random() < 0.3:
            yield field + sign + "|".join(chance.sample(values, 2))
            continue
        if sign in ("=", "!=") and chance.random() < 0.15:
            yield field + sign
        elif sign in ("^=", "*=", "!^=", "!*=") and values:
            yield field + sign + chance.choice(values)[: chance.randrange(1, 9)]
        elif values:
            yield field + sign + chance.choice(values)


def plain(value):
    """A value of a record as JSON has it."""
    if isinstance(value, tuple):
        return list(map(plain, value))
    return value


@pytest.mark.slow
@each_row("name", [*SAMPLES, "mixed"])
def test_conditions(name):
    """Against the reference, from all outputs, by marks and without."""
    chance = random.Random(name)
    data, format = (MIXED, "combined") if name == "mixed" else (SAMPLES[name], name)
    data = b"".join([data] * 3)
    records = records_of(data, format)
    for condition in conditions_on(records, chance, 25 if name == "mixed" else 6):
        where = [condition_of(condition)]
        wanted = [record for record in records if naive.meets(record, condition)]
        for fast in True, False:
            assert records_of(data, format, where=where, fast=fast) == wanted, condition
        found = list(logs.parse(data, format, where=[condition], fields=["status", "client"], invalid=[]))
        assert [(record.status, record.client) for record in found] == [
            (record["status"], record["client"]) for record in wanted
        ], condition
        check(Format(format), data, where=where, flags=True)


def test_conditions_that_all_must_hold(tier):
    conditions = ["status>=400", "status<500", "client!=10.0.0.0/8"]
    records = records_of(MIXED, "combined")
    found = records_of(MIXED, "combined", where=[condition_of(condition) for condition in conditions])
    assert found == [record for record in records if all(naive.meets(record, each) for each in conditions)] != []


def test_conditions_see_decoded_and_masked_texts():
    data = combined(request=b"GET /%C3%A9%22?token=a%2Bb&q=1+2 HTTP/1.1", agent=rb"\"x\"")
    for condition in (
        'path=/é"',
        "param.token=a+b",
        "param.q=1 2",
        'user_agent="x"',
        "query=token=a%2Bb&q=1+2",
        "query*=%2B",
    ):
        assert len(list(logs.parse(data, where=[condition]))) == 1, condition
    masked = {"mask": ["token"]}
    assert len(list(logs.parse(data, where=["param.token=***"], **masked))) == 1
    for condition in "param.token=a+b", "target*=a%2Bb":
        assert list(logs.parse(data, where=[condition], **masked)) == [], condition


@each_row(
    ("condition", "message"),
    [
        ("status", "expected a condition such as"),
        ("=200", "expected a condition such as"),
        ("stauts=200", "unknown field 'stauts'; did you mean 'status'"),
        ("x=200", "unknown field 'x'; the fields are client, user, time"),
        ("status>=x", "expected a number, got 'x'"),
        ("status>=", "expected a value after >="),
        ("status^=", "expected a value after"),
        ("user_agent!*=", "expected a value after !*="),
        ("time>=tomorrow", "expected a time such as"),
        ("path~=", "expected a regular expression after ~="),
        ("path~=(", "invalid regular expression: missing )"),
        ("flags~=dot", "expected = or !="),
        ("bytes_sent>1Q", "expected a number, perhaps with a unit such as 1.5M, got '1Q'"),
        ("duration>1w", "expected a number, perhaps with a unit such as 500ms, got '1w'"),
        ("status=200|x", "expected a number, got 'x'"),
        ("status>200|300", "expected a number, got '200|300'"),
        ("client=10.0.0.0/8|10.0.0.0/33", "expected an address or a network"),
        ("client=10.0.0.0/33", "expected an address or a network"),
        ("extra=x", "name one, extra.NAME"),
        ("flags=bad", "one of malformed"),
        ("flags^=dot", "expected = or !="),
        ("forwarded_for<1", "can be compared with"),
    ],
)
def test_conditions_with_errors(condition, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        logs.columns(b"", where=[condition])


def test_values_between_bars(tier):
    lines = [
        (b"200", b"GET /a", b"say|x"),
        (b"404", b"POST /b", b"Bot"),
        (b"410", b"get /c|d", b"-"),
        (b"503", b"PUT /", b"bot"),
    ]
    data = b"".join(combined(status=status, request=line + b" HTTP/1.1", agent=agent) for status, line, agent in lines)
    for condition, wanted in [
        ("status=404|410", "404 410"),
        ("status!=404|410", "200 503"),
        ("status=4xx", "404 410"),
        ("status=5XX|200", "200 503"),
        ("status!=4xx|200", "503"),
        ("status==404", "404"),
        ("status~=^4|3$", "404 410 503"),
        ("status!~=^4", "200 503"),
        ("method=*get", "200 410"),
        ("method=*GET|put", "200 410 503"),
        ("user_agent=*BOT", "404 503"),
        ("user_agent=|Bot", "404 410"),
        (r"user_agent=say\|x", "200"),
        (r"user_agent~=say\|x", "200"),
        ("user_agent!*=x|bot", "404"),
        ("path^=/a|/b", "200 404"),
        ("path=*", ""),
        ("client=10.0.0.0/8|192.0.2.0/24", "200 404 410 503"),
        ("bytes_sent<1K", "200 404 410 503"),
    ]:  # fmt: skip
        found = logs.columns(data, "combined", fields=["status"], where=[condition])["status"]
        assert " ".join(map(str, found)) == wanted, condition


def test_values_with_units():
    line = b'{"ts":1,"request":{"method":"GET","uri":"/"},"status":200,"size":%d,"duration":%s}\n'
    data = b"".join(
        line % (size, time) for size, time in [(1024, b"0.5"), (1536, b"0.0005"), (2**30, b"90"), (5, b"1e-9")]
    )
    for condition, wanted in [
        ("bytes_sent>=1K", [1024, 1536, 2**30]),
        ("bytes_sent=1.5K", [1536]),
        ("bytes_sent>1MB", [2**30]),
        ("duration>=500ms", [1024, 2**30]),
        ("duration=500us|1.5m", [1536, 2**30]),
        ("duration<=1ns", [5]),
    ]:
        found = logs.columns(data, "caddy", fields=["bytes_sent"], where=[condition])["bytes_sent"]
        assert found == wanted, condition


def test_more_texts_than_patterns_remember():
    data = b"".join(combined(request=b"GET /%d HTTP/1.1" % i) for i in range(40_000)) * 2
    found = logs.columns(data, "combined", fields=["path"], where=["path~=7$"])["path"]
    assert found == [f"/{i}" for i in range(7, 40_000, 10)] * 2


def test_where_is_a_list_of_texts():
    for where in "status=200", [1]:
        with pytest.raises(TypeError, match="where must be"):
            logs.columns(b"", where=where)
    for option in {"since": 1}, {"until": b"2h"}, {"timezone": 1}:
        with pytest.raises(TypeError, match="must be a str"):
            logs.columns(b"", **option)


def test_since_and_until():
    times = [b"01/Jan/2025:%02d:00:00 +0100" % hour for hour in range(24)]
    data = b"".join(combined(time=time) for time in times)
    for since, until, hours in [
        ("2025-01-01T12:00:00+01:00", None, range(12, 24)),
        ("2025-01-01T11:00Z", "2025-01-01T13:00:00.5Z", range(12, 15)),
        (None, "2025-01-01", [0]),
        ("2025-01-01", None, range(1, 24)),
    ]:
        found = [record.time for record in logs.parse(data, since=since, until=until)]
        assert [int(time[11:13]) for time in found] == [*hours]
    assert len(list(logs.parse(data, since="2025-01-01", timezone="+01:00"))) == 24
    with pytest.raises(ValueError, match="since must be before until"):
        logs.columns(data, since="2025-01-02", until="2025-01-01")
    today = datetime.now(timezone.utc).replace(hour=0, minute=0, second=0, microsecond=0)
    assert moment_of("today") == today.timestamp() * 10**6
    assert moment_of("yesterday") == moment_of("today") - 86400 * 10**6
    zone = timezone_of("America/New_York")
    local = datetime.now(zone).date() - timedelta(1)
    assert moment_of("yesterday", zone) == datetime(local.year, local.month, local.day, tzinfo=zone).timestamp() * 10**6
    now = datetime.now(timezone.utc).strftime("%d/%b/%Y:%H:%M:%S +0000").encode()
    assert len(list(logs.parse(data + combined(time=now), since="2h"))) == 1


def test_moments():
    """Against datetime."""
    chance = random.Random(1)
    for _ in range(500):
        moment = datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(microseconds=chance.randrange(-(10**16), 10**17))
        zone = timezone(timedelta(minutes=chance.randrange(-1439, 1440)))
        text = moment.astimezone(zone).isoformat()
        micros = (moment - datetime(1970, 1, 1, tzinfo=timezone.utc)) // timedelta(microseconds=1)
        assert moment_of(text) == naive.microseconds(text) == micros
    for text in "2025-02-30", "2025-01-01T25:00Z", "2025-01-01T10", "20250101", "-2h", "h", "":
        with pytest.raises(ValueError, match="expected a time such as"):
            moment_of(text)


@pytest.mark.interop
def test_times_of_other_zones(tier):
    """In Arrow data, against datetime and zoneinfo: of logs without a zone, across changes of daylight saving time."""
    pytest.importorskip("pyarrow")
    zoneinfo = pytest.importorskip("zoneinfo")
    moments = [datetime(2025, 3, 30) + timedelta(minutes=13 * i) for i in range(300)]
    moments += [datetime(2025, 10, 26) + timedelta(minutes=13 * i) for i in range(300)]
    moments += [datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59)]
    line = (
        '192.0.2.1:80 [{:%d/%b/}{:04}{:%H:%M:%S}.250] f b/s 1/2/3/4/5 200 512 - - ---- 1/2/3/4/0 0/0 "GET / HTTP/1.1"\n'
    )
    data = "".join(line.format(each, each.year, each).replace("[", "[") for each in moments)
    data = re.sub(r"(\d{4})(\d\d:)", r"\1:\2", data)
    for name in "Europe/Vienna", "Australia/Lord_Howe", "UTC", "+05:45":
        zone = timezone_of(name) or timezone.utc
        wanted = []
        for each in moments:
            try:
                offset = round(each.replace(tzinfo=zone).utcoffset().total_seconds())
            except OverflowError:
                offset = 0
            wanted.append(naive.microseconds(each.isoformat(), offset) + 250_000)
        table = logs.to_arrow(data.encode(), "haproxy", timezone=name, fields=["time"]).read_all()
        assert table["time"].cast("int64").to_pylist() == wanted, name
    with pytest.raises(ValueError, match="unknown time zone 'Mars/Olympus'"):
        logs.to_arrow(b"", timezone="Mars/Olympus")
    assert zoneinfo


@pytest.mark.slow
@each_row("name", SAMPLES)
def test_fields(name, tier):
    """Records of chosen fields are what they are of all fields."""
    chance = random.Random(name)
    records = records_of(SAMPLES[name], name)
    extras = sorted({f"extra.{key}" for record in records for key in record["extra"] or ()})
    names = [*NAMES, *GROUPS, "flags", "param.q", *extras, "extra.none"]
    for _ in range(5):
        fields = chance.sample(names, chance.randrange(1, 6))
        wanted = [
            {field: record["flags"] if field == "flags" else naive.field_of(record, field) for field in fields}
            for record in records
        ]
        reader = LogReader(Format(name).programs, fields=fields)
        dst = bytearray(reader.capacity_for(len(SAMPLES[name])))
        found = reader.convert(SAMPLES[name], dst)
        assert list(map(json.loads, bytes(dst[: found.written]).splitlines())) == wanted
        columns = logs.columns(SAMPLES[name], name, fields=fields)
        assert list(columns) == fields
        assert [
            dict(zip(fields, row, strict=True)) for row in zip(*map(plain_column, columns.values()), strict=True)
        ] == [{field: naive_plain(value) for field, value in row.items()} for row in wanted]
        check(Format(name), SAMPLES[name], fields=fields)


def plain_column(values):
    return [plain(value) for value in values]


def naive_plain(value):
    return value


def test_fields_of_records():
    data = combined(request=b"GET /?q=1&r=2 HTTP/1.1") + combined()
    records = list(logs.parse(data, fields=["param.q", "status", "extra.x"], params=["r"]))
    assert [record.params for record in records] == [{"q": "1", "r": "2"}, {"q": None, "r": None}]
    assert [(record.status, record.client, record.extra) for record in records] == [(200, None, {"x": None})] * 2
    with pytest.raises(ValueError, match="a Record has no 'time:hour'"):
        list(logs.parse(data, fields=["time:hour"]))
    with pytest.raises(TypeError, match="must be an iterable of names, got str"):
        logs.columns(data, fields="status")
    with pytest.raises(ValueError, match="from 1 to 256 names, got 0"):
        logs.columns(data, fields=[])
    assert field_names(["status", "status"], (), True) == ("status", "flags")


def test_subclasses_of_str():
    text = type("Text", (str,), {"__str__": lambda self: "other"})
    found = logs.columns(combined(), fields=[text("status")], params=[text("q")], where=[text("status=200")])
    assert found == {"status": [200], "param.q": [None]}
    [row] = logs.count(combined(), [text("path")], sums=[text("bytes_sent")])
    assert row == {"path": "/", "count": 1, "sum.bytes_sent": 5}


def counted(records, fields):
    """How often the values of fields occur, in the order of logs.count."""
    keys = [tuple(map(json.dumps, (naive.field_of(record, field) for field in fields))) for record in records]
    counts = collections.Counter(keys)
    return sorted(counts.items(), key=lambda item: (-item[1], keys.index(item[0])))


@pytest.mark.slow
@each_row("name", [*SAMPLES, "mixed"])
def test_counts(name):
    data, format = (MIXED, "combined") if name == "mixed" else (SAMPLES[name], name)
    chance = random.Random(name)
    lines = [line for line in data.splitlines(keepends=True) if not line.startswith(b"#")]
    head = b"".join(line for line in data.splitlines(keepends=True) if line.startswith(b"#"))
    data = head + b"".join(chance.choices(lines, k=300))
    records = records_of(data, format)
    for fields in (
        ["client"],
        ["status:class", "method"],
        ["path", "param.q", "extra.none"],
        ["time:minute", "duration"],
    ):
        wanted = counted(records, fields)
        for memory, top in ("1M", None), (2000, 3):
            found = [
                (tuple(json.dumps(row[field]) for field in fields), row["count"])
                for row in logs.count(data, fields, format, top=top, sort=None if top else "count", memory=memory)
            ]
            assert found == wanted[:top]


def test_sums_and_quantiles():
    chance = random.Random(1)
    sizes = [chance.choice([None, chance.randrange(10**9)]) for _ in range(2000)]
    paths = [chance.randrange(5) for _ in sizes]
    data = b"".join(
        combined(request=b"GET /%d HTTP/1.1" % path, size=b"-" if size is None else b"%d" % size)
        for path, size in zip(paths, sizes, strict=True)
    )
    for row in logs.count(
        io.BytesIO(data), ["path"], sums=["bytes_sent"], quantiles=["bytes_sent"], where=["path!=/3"]
    ):
        own = sorted(
            size for path, size in zip(paths, sizes, strict=True) if f"/{path}" == row["path"] and size is not None
        )
        assert row["path"] != "/3" and row["count"] == paths.count(int(row["path"][1:]))
        assert row["sum.bytes_sent"] == sum(own) and row["max.bytes_sent"] == own[-1]
        for name, rank in ("p50", 0.5), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99):
            near = own[int(rank * (len(own) - 1))]
            assert abs(row[f"{name}.bytes_sent"] - near) <= 0.01 * near
    sizes = [chance.randrange(10**6, 10**9) for _ in range(2000)]
    data = b"".join(
        combined(request=b"GET /%d HTTP/1.1" % size, size=b"%d" % each) for size in sizes for each in (1, size, 10**12)
    )
    for row in logs.count(io.BytesIO(data), ["path"], quantiles=["bytes_sent"]):
        size = int(row["path"][1:])
        assert abs(row["p50.bytes_sent"] - size) <= 0.01 * size
    durations = b"".join(b'{"ts":1,"request":{"method":"GET","uri":"/"},"status":200,"duration":%s}\n' % each
                         for each in (b"0.25", b"1e-3", b"2"))  # fmt: skip
    [row] = logs.count(durations, ["status"], "caddy", sums=["duration", "bytes_sent"], quantiles=["duration"])
    assert row["sum.duration"] == 2.251 and row["max.duration"] == 2 and row["sum.bytes_sent"] == 0
    with pytest.raises(ValueError, match="expected fields of bytes_sent, duration, got 'status'"):
        list(logs.count(data, ["path"], sums=["status"]))
    with pytest.raises(ValueError, match="top must be at least 1"):
        list(logs.count(data, ["path"], top=0))
    for top in "3", 1.5:
        with pytest.raises(TypeError, match="interpreted as an integer"):
            list(logs.count(data, ["path"], top=top))


texts = st.text(st.characters(exclude_characters="\n", exclude_categories=("Cs",)), max_size=20)


@given(st.lists(st.tuples(texts, texts), max_size=8), texts)
def test_any_value_can_be_compared(pairs, value):
    """Of a JSON log; "=" and "!=" divide the records in which the field has a value."""
    data = "".join(json.dumps({"target": "/", "a": a, "b": b}) + "\n" for a, b in pairs).encode()
    format = Format(map={"target": "target", "extra.a": "a", "user": "b"})
    for field, own in ("extra.a", 0), ("user", 1):
        there = [pair[own] for pair in pairs if pair[own] not in ("", "-")]
        for condition, wanted in [
            (f"{field}={value}", [each for each in there if each == value] if value else None),
            (f"{field}!={value}", [each for each in there if each != value]),
            (f"{field}*={value}", [each for each in there if value in each] if value else None),
            (f"{field}!*={value}", [each for each in there if value not in each] if value else None),
            (f"{field}!^={value}", [each for each in there if not each.startswith(value)] if value else None),
            (f"{field}<{value}", [each for each in there if each.encode() < value.encode()] if value else None),
        ]:
            if wanted is None or f"{field}<=" in condition or f"{field}=*" in condition or f"{field}==" in condition:
                continue  # "<" and a value that begins with "=", and so on
            where = condition if f"{field}<" in condition else condition.replace("|", r"\|")
            found = logs.columns(data, format, fields=[field], where=[where], invalid=[])[field]
            assert found == wanted, condition


# --- boundaries -------------------------------------------------------------------------------------------------------


def kept(lines, condition, format="combined"):
    """Which lines, by their number in the agent, have records that meet a condition, read by marks and without."""
    data = b"".join(lines)
    for fast in True, False:
        reader = LogReader(Format(format).programs, where=[condition_of(condition)], fields=["user_agent"], fast=fast)
        dst = bytearray(reader.capacity_for(len(data)))
        found = reader.convert(data, dst)
        agents = [int(json.loads(line)["user_agent"]) for line in bytes(dst[: found.written]).splitlines()]
        assert (found.read, found.records, found.dropped) == (len(data), len(agents), len(lines) - len(agents))
        reader = LogReader(
            Format(format).programs, "columns", where=[condition_of(condition)], fields=["user_agent"], fast=fast
        )
        found, batch = convert_columns(reader, data)
        assert (found.records, found.dropped) == (len(agents), len(lines) - len(agents))
        assert list(map(int, objects_of(batch, 0, len(agents))[0])) == agents
    return agents


def numbered(name, values):
    return [combined(**{name: value, "agent": b"%d" % i}) for i, value in enumerate(values)]


@each_row(
    ("field", "values"),
    [
        ("status", [b"499", b"500", b"501", b"-"]),
        ("bytes_sent", [b"9", b"10", b"100", b"-"]),
        ("bytes_sent", [b"9007199254740992", b"9007199254740993", b"9007199254740994", b"-"]),
        ("user", [b"a", b"ab", b"abc", b"-"]),
        ("user", [b"a\x7f", "é".encode(), "éa".encode(), b"-"]),
        ("time", [b"01/Jan/2025:00:29:59 -0330", b"01/Jan/2025:00:30:00 -0330", b"01/Jan/2025:05:00:01 +0100"]),
    ],
)
def test_operators_at_the_boundary(tier, field, values):
    """The second value is what the others are compared with; a missing value meets no condition."""
    value = "2025-01-01T04:00:00Z" if field == "time" else values[1].decode()
    lines = numbered("size" if field == "bytes_sent" else field, values)
    for operator, wanted in ("<", [0]), ("<=", [0, 1]), ("=", [1]), ("!=", [0, 2]), (">", [2]), (">=", [1, 2]):
        assert kept(lines, f"{field}{operator}{value}") == wanted, operator


@each_row(
    ("network", "wanted"),
    [
        ("10.0.0.0/8", [0, 1, 2]),
        ("10.1.2.2/31", [0, 1, 2]),
        ("10.1.2.3", [0, 1]),
        ("10.1.2.2", [2]),
        ("::ffff:10.1.2.3", [0, 1]),
        ("::ffff:0:0/96", [0, 1, 2, 3]),
        ("::/96", [4]),
        ("2001:db8::/33", [5]),
        ("0.0.0.0/0", [0, 1, 2, 3]),
        ("::/0", [0, 1, 2, 3, 4, 5, 6]),
        ("host.example", [7]),
    ],
)
def test_networks(tier, network, wanted):
    """IPv4 addresses are those of ::ffff:0:0/96; a name is not in any network."""
    clients = [
        b"10.1.2.3", b"::ffff:10.1.2.3", b"10.1.2.2", b"11.0.0.0", b"::10.1.2.3", b"2001:db8::1", b"2001:db8:8000::",
    ]  # fmt: skip
    lines = numbered("client", [*clients, b"host.example"])
    assert kept(lines, f"client={network}") == wanted
    assert kept(lines, f"client!={network}") == [i for i in range(8) if i not in wanted]


def test_lists_of_addresses(tier):
    """One address must meet "=", all must meet "!=", of a list that is there."""
    lists = [b"10.0.0.1", b"10.0.0.1, 192.0.2.1", b"192.0.2.1, 10.0.0.1", b"192.0.2.1, 192.0.2.2", b"-"]
    lines = [each + b" " + line for each, line in zip(lists, numbered("user", [b"-"] * 5), strict=True)]
    assert kept(lines, "forwarded_for=10.0.0.0/8", "combined-forwarded") == [0, 1, 2]
    assert kept(lines, "forwarded_for!=10.0.0.0/8", "combined-forwarded") == [3]
    assert kept(lines, "forwarded_for=", "combined-forwarded") == [4]


def test_the_zone_of_a_moment():
    """It is that of the text; --timezone is for moments without one."""
    lines = numbered("time", [b"01/Jan/2025:%02d:00:00 +0000" % hour for hour in range(24)])
    for moment, first in ("2025-01-01T12:00:00+02:00", 10), ("2025-01-01T12:00:00", 7), ("2025-01-01T12:00Z", 12):
        found = logs.columns(b"".join(lines), since=moment, timezone="+05:00")["user_agent"]
        assert list(map(int, found)) == [*range(first, 24)]


def test_times_of_an_unknown_form(tier):
    """They have no hour, and are not compared with moments."""
    lines = numbered("time", [b"01/Jan/2025:12:00:00 +0000", b"yesterday", b"-", b"99/Foo/2025:12:00:00 +0100"])
    assert kept(lines, "time:hour=") == [1, 2, 3]
    assert kept(lines, "time:hour!=x") == kept(lines, "time>=1970-01-01") == kept(lines, "time<2100-01-01") == [0]
    assert kept(lines, "time=") == [2]
    times = "2025-01-01T12:00:00Z", "yesterday", None, "2025-01-01T12:00:00+01:00"
    data = "".join(json.dumps({"time": time, "status": i}) + "\n" for i, time in enumerate(times)).encode()
    format = Format(map={"time": "time", "status": "status"})
    for condition, wanted in ("time:hour=", [1, 2]), ("time:hour!=x", [0, 3]), ("time>=1970-01-01", [0, 3]):
        assert logs.columns(data, format, where=[condition], fields=["status"])["status"] == wanted, condition


@pytest.mark.interop
def test_times_in_utc(tier):
    """Of one day and of others, in zones on both sides of UTC, with fractions of a second."""
    pytest.importorskip("pyarrow")
    moments = [
        datetime(2024, 2, 28, 22, 58, 58) + timedelta(seconds=3601 * i, microseconds=123457 * i) for i in range(60)
    ]
    zones = [timezone(timedelta(minutes=minutes)) for minutes in (0, 60, -210, 345, -720)]
    times = [moment.replace(tzinfo=zone) for zone in zones for moment in moments]
    data = b"".join(b'{"time":"%s","status":200}\n' % each.isoformat().encode() for each in times)
    wanted = [(each - datetime(1970, 1, 1, tzinfo=timezone.utc)) // timedelta(microseconds=1) for each in times]
    format = Format(map={"time": "time", "status": "status"})
    assert logs.to_arrow(data, format, fields=["time"]).read_all()["time"].cast("int64").to_pylist() == wanted
    data = b"".join(combined(time=f"{each:%d/%b/%Y:%H:%M:%S %z}".encode()) for each in times)
    found = logs.to_arrow(data, "combined", fields=["time"]).read_all()["time"].cast("int64").to_pylist()
    assert found == [micros // 10**6 * 10**6 for micros in wanted]


def test_sums_of_durations_are_exact():
    """In nanoseconds; a floating-point number may be a little less than what was logged."""
    lines = b'{"ts":1,"request":{"method":"GET","uri":"/"},"status":200,"duration":%s}\n'
    data = b"".join(lines % each for each in (b"1.001", b"1.1", b"0.000000001", b"null"))
    [row] = logs.count(data, ["status"], "caddy", sums=["duration"], quantiles=["duration"])
    assert row["sum.duration"] == 2.101000001 and row["max.duration"] == 1.1
    assert [row["count"] for row in logs.count(data, ["duration"], "caddy", where=["duration<=1.001"])] == [1, 1]
