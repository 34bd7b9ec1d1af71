"""What is beside counts: different values, rates, one row for all; the order of time; against sets, on every path."""

import json
import random
from datetime import datetime, timedelta, timezone

import pytest
from reference import logs as naive
from support.command import output_of, run

from uricodec import logs
from uricodec.logs._times import periods_between, timezone_of

COMBINED = '{} - {} [{:%d/%b/%Y:%H:%M:%S} +0000] "GET /{} HTTP/1.1" {} {} "-" "{}"\n'


@pytest.fixture(scope="module")
def data():
    chance = random.Random(3)
    start = datetime(2025, 3, 29, 20)
    lines = []
    for _ in range(4000):
        client = f"192.0.2.{chance.randrange(200)}"
        user, agent = chance.choice(["-", "eve", "bob"]), chance.choice(["-", "", "a b", "bot", 'x\\"'])
        time = start + timedelta(minutes=chance.choice([7, 60, 61, 600, 3000]) * chance.randrange(3))
        status, size = chance.choice([200, 200, 404, 503]), chance.choice(["-", 0, 5, 10**6])
        lines.append(COMBINED.format(client, user, time, chance.randrange(3000), status, size, agent))
    return "".join(lines).encode()


DISTINCT = [["client"], ["client", "user_agent"], ["user"], ["path", "status:class"]]
RATES = ["status=404|503", "path~=7$", "user_agent=*BOT"]
OTHER_RATES = ["status>=500", "user=", "client=192.0.2.0/27", "status!=2xx|503", "time:day=2025-03-30"]


def counted(data, fields, rates=RATES):
    """Groups, naively: the count, the sizes of sets, the rates."""
    names = ["client", "user", "time", "target", "path", "query", "status", "bytes_sent", "referer", "user_agent"]
    columns = logs.columns(data, "combined", fields=names)
    records = [dict(zip(names, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    groups = {}
    for record in records:
        groups.setdefault(tuple(naive.field_of(record, field) for field in fields), []).append(record)
    for key, members in groups.items():
        row = dict(zip(fields, key, strict=True)) | {"count": len(members)}
        row["sum.bytes_sent"] = sum(record["bytes_sent"] or 0 for record in members)
        for each in DISTINCT:
            values = {tuple(naive.field_of(record, field) for field in each) for record in members}
            row[f"distinct.{','.join(each)}"] = len(values - {(None,) * len(each)})
        for rate in rates:
            row[f"rate.{rate}"] = sum(naive.meets(record, rate) for record in members) / len(members)
        yield row


def near(found, wanted):
    """Whether rows are equal, but for estimates of more than 768 values, within four standard errors."""
    assert [list(row) for row in found] == [list(row) for row in wanted]
    for row, other in zip(found, wanted, strict=True):
        for name, value in row.items():
            if name.startswith("distinct.") and other[name] > 768:
                assert value > 768 and abs(value - other[name]) <= 0.046 * other[name], name
            else:
                assert value == other[name], name


OPTIONS = {"sums": ["bytes_sent"], "distinct": DISTINCT, "rates": RATES}


@pytest.mark.parametrize("fields", [[], ["status"], ["time:hour"], ["client:/26", "user"]])
def test_numbers_in_python(tier, data, fields):
    wanted = sorted(counted(data, fields), key=lambda row: -row["count"])
    if fields == ["time:hour"]:
        wanted.sort(key=lambda row: row["time:hour"])
    for memory in None, 1:
        found = list(logs.count(data, fields, "combined", memory=memory, **OPTIONS))
        near(sorted(found, key=str), sorted(wanted, key=str))
        assert [row["count"] for row in found] == [row["count"] for row in wanted]


def test_rates(data):
    for wanted in counted(data, ["status"], OTHER_RATES):
        for found in logs.count(data, ["status"], "combined", rates=OTHER_RATES):
            if found["status"] == wanted["status"]:
                assert {rate: found[f"rate.{rate}"] for rate in OTHER_RATES} == {
                    rate: wanted[f"rate.{rate}"] for rate in OTHER_RATES
                }


@pytest.mark.parametrize("threads", ["1", "3"])
@pytest.mark.parametrize("fields", [[], ["client", "status"]])
def test_numbers_of_the_command(tmp_path, data, fields, threads):
    path = tmp_path / "log"
    path.write_bytes(data * 10)
    command = ["log", "--format", "combined", "--sum", "bytes_sent", "-j", threads, path]
    command += [word for each in DISTINCT for word in ("--distinct", ",".join(each))]
    command += [word for rate in RATES for word in ("--rate", rate)]
    command += ["--count", ",".join(fields)] if fields else []
    found = list(map(json.loads, output_of(*command).splitlines()))
    wanted = list(counted(data, fields))
    for row in wanted:
        row |= {"count": 10 * row["count"], "sum.bytes_sent": 10 * row["sum.bytes_sent"]}
    near(sorted(found, key=str), sorted(wanted, key=str))
    [header, *lines] = output_of(*command, "--to", "tsv").decode().splitlines()
    assert header == "\t".join(wanted[0]) and len(lines) == len(wanted)
    assert not fields or lines[0].split("\t")[:3] == [str(found[0][name]) for name in ("client", "status", "count")]
    if fields:
        rows = output_of(*command, "--sort", "distinct.path,status:class", "--top", "3").splitlines()
        best = sorted((row["distinct.path,status:class"] for row in wanted), reverse=True)[:3]
        assert [json.loads(row)["distinct.path,status:class"] for row in rows] == best


def test_a_whole_without_records(data):
    nothing = {"count": 0, "sum.bytes_sent": 0, "p50.duration": None, "distinct.path": 0, "rate.status=5xx": None}
    options = {"sums": ["bytes_sent"], "quantiles": ["duration"], "distinct": ["path"], "rates": ["status=5xx"]}
    [row] = logs.count(data, None, "combined", where=["status=999"], **options)
    assert row.items() >= nothing.items()
    command = "log --format combined --where status=999 --sum bytes_sent --distinct path --rate status=5xx --to"
    assert output_of(*command.split(), "csv", stdin=data) == (
        b"count,sum.bytes_sent,distinct.path,rate.status=5xx\n0,0,0,\n"
    )
    assert json.loads(output_of(*command.split(), "jsonl", stdin=data))["rate.status=5xx"] is None
    assert list(logs.count(data, ["status"], "combined", where=["status=999"])) == []


@pytest.mark.interop
def test_columns_of_the_command(tmp_path, data):
    pyarrow = pytest.importorskip("pyarrow")
    path = tmp_path / "counts.arrow"
    command = [
        "log",
        "--format",
        "combined",
        "--count",
        "status",
        "--distinct",
        "client",
        "--rate",
        "status>=500",
        "--to",
        "arrow",
        "-o",
    ]
    output_of(*command, path, stdin=data)
    found = pyarrow.ipc.open_stream(path.read_bytes()).read_all().to_pylist()
    assert found == list(logs.count(data, ["status"], "combined", distinct=["client"], rates=["status>=500"]))


def test_the_order_of_time(data):
    """All groups by time are in its order, unless the most frequent ones are wanted."""
    hours = [row["time:hour"] for row in logs.count(data, ["time:hour"], "combined")]
    assert hours == sorted(hours) != []
    pairs = [(row["time:day"], row["count"]) for row in logs.count(data, ["status", "time:day"], "combined")]
    assert pairs == sorted(pairs, key=lambda pair: (pair[0], -pair[1]))
    counts = [row["count"] for row in logs.count(data, ["time:hour"], "combined", top=3)]
    assert counts == sorted((row["count"] for row in logs.count(data, ["time:hour"], "combined")), reverse=True)[:3]
    counts = [row["count"] for row in logs.count(data, ["time:hour"], "combined", sort="count:asc")]
    assert counts == sorted(counts)


def test_a_table_has_no_gaps(monkeypatch):
    """Hours and days without records are there with 0, also where daylight saving time begins and ends."""
    monkeypatch.setenv("COLUMNS", "100")
    times = [datetime(2025, 3, 29, 22), datetime(2025, 3, 30, 3), datetime(2025, 3, 30, 3, 59)]
    data = "".join(COMBINED.format("::1", "-", time, "", 200, 5, "-") for time in times).encode()
    command = ["log", "--format", "combined", "--count", "time:hour", "--to", "table"]
    rows = [line.split() for line in output_of(*command, stdin=data).decode().splitlines()[1:]]
    assert [(row[0], row[-2]) for row in rows] == [*zip("100002", ["2025-03-29"] * 2 + ["2025-03-30"] * 4, strict=True)]
    assert [row[-1][:5] for row in rows] == ["22:00", "23:00", "00:00", "01:00", "02:00", "03:00"]
    rows = [line.split()[-1] for line in output_of(*command, "--to-timezone", "Europe/Vienna", stdin=data)
            .decode().splitlines()[1:]]  # fmt: skip
    assert rows == ["23:00+01:00", "00:00+01:00", "01:00+01:00", "03:00+02:00", "04:00+02:00", "05:00+02:00"]
    lines = output_of(*command[:-1], "csv", stdin=data).decode().splitlines()
    assert [line[-1] for line in lines[1:]] == ["1", "2"]
    rows = output_of(*command, "--top", "2", stdin=data).decode().splitlines()
    assert [row.split()[0] for row in rows] == ["count", "2", "1"]


def test_a_table_in_a_file(tmp_path):
    path = tmp_path / "table"
    data = COMBINED.format("::1", "-", datetime(2025, 1, 1), "%C3%A9", 200, 5, "-").encode()
    output_of(*["log", "--format", "combined", "--count", "path", "--to", "table", "-o"], path, stdin=data)
    assert path.read_text("utf-8").splitlines()[1].split() == ["1", "100.0", "%", "█" * 20, "/é"]


def test_periods_between():
    zone = timezone_of("Europe/Vienna")
    days = list(periods_between("2025-02-26", "2025-03-02", "time:day", None))
    assert days == ["2025-02-27", "2025-02-28", "2025-03-01"]
    first = datetime(2025, 10, 25, 22, tzinfo=timezone.utc)
    texts = [(first + timedelta(hours=i)).astimezone(zone).isoformat() for i in range(6)]
    assert list(periods_between(texts[0], texts[-1], "time:hour", zone)) == texts[1:-1]
    minutes = list(periods_between("2025-01-01T00:00:00Z", "2025-01-01T00:03:00Z", "time:minute", None))
    assert minutes == ["2025-01-01T00:01:00Z", "2025-01-01T00:02:00Z"]
    for first, last in [("1970-01-01", "2025-01-01"), ("-", "2025-01-01"), ("2025-01-02", "2025-01-01")]:
        assert list(periods_between(first, last, "time:day", None)) == []


def test_wrong_numbers(data):
    for options, kind, message in [
        ({"distinct": "path"}, TypeError, "distinct must be an iterable of names, got str"),
        ({"distinct": ["x"]}, ValueError, "unknown field 'x'"),
        ({"rates": ["status"]}, ValueError, "expected a condition such as"),
        ({"rates": "status=1"}, TypeError, "rates must be an iterable of names, got str"),
        ({"distinct": [["path"]] * 13}, ValueError, "expected up to 12 sums, quantiles, distinct values and rates"),
        ({"sort": "distinct.path"}, ValueError, "expected a field of count"),
    ]:
        with pytest.raises(kind, match=message):
            list(logs.count(data, [], "combined", **options))
    for command, message in [
        ("log --distinct x", "--distinct: unknown field 'x'"),
        ("log --rate status", "--rate: expected a condition such as"),
        ("log --to table", "--to table: there are no counts"),
        ("log --rate status=1 --fields path", "--rate: not allowed with --fields"),
        ("log --sum bytes_sent --sort count", "--sort: "),
    ]:
        status, output, said = run(*command.split(), stdin=data)
        assert (status, output) == (2, b"") and said.startswith(f"uricodec: {message}"), said
