"""Times in another zone, to_timezone=, against zoneinfo: on every path."""

import collections
import json
import random
import re
from datetime import datetime, timedelta, timezone

import pytest
from support.command import output_of

from uricodec import logs

zoneinfo = pytest.importorskip("zoneinfo")

ZONES = "Europe/Vienna", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "Africa/Monrovia", "UTC", "-03:30"
FIELDS = "time", "time:day", "time:hour", "time:minute"


def zone_of(name):
    found = re.fullmatch(r"([+-])(\d\d):(\d\d)", name)
    if not found:
        return zoneinfo.ZoneInfo(name)
    minutes = 60 * int(found[2]) + int(found[3])
    return timezone(timedelta(minutes=-minutes if found[1] == "-" else minutes))


def shown(moment, name):
    """A moment in a zone, as RFC 3339 writes it: offsets are whole minutes, rounded down."""
    try:
        local = moment.astimezone(zone_of(name))
        offset = local.utcoffset() // timedelta(minutes=1)
        return moment.astimezone(timezone(timedelta(minutes=offset))).isoformat()
    except OverflowError:
        return moment.isoformat()


def moments(chance, count):
    """Moments near changes of daylight saving time, and others, of years from 1 to 9999."""
    for _ in range(count):
        year = chance.choice([1971, 1990, 2024, 2025, 2026])
        change = datetime(year, chance.choice([3, 4, 10, 11]), chance.randrange(1, 31), tzinfo=timezone.utc)
        at = change + timedelta(seconds=chance.randrange(-86400, 86400), milliseconds=chance.choice([0, 250]))
        yield at.astimezone(timezone(timedelta(minutes=chance.choice([0, 0, 60, -210, 345]))))
    yield datetime(1, 1, 1, tzinfo=timezone.utc)
    yield datetime(9999, 12, 31, 23, 59, 59, tzinfo=timezone.utc)
    yield datetime(1969, 12, 31, 23, 59, 59, tzinfo=timezone.utc)


def log_of(times):
    return "".join(json.dumps({"time": each.isoformat(), "path": "/"}) + "\n" for each in times).encode()


def wanted(times, name):
    texts = [shown(each, name) for each in times]
    zones = [text[re.search(r"[+-]\d\d:\d\d$", text).start() :] for text in texts]
    return {
        "time": texts,
        "time:day": [text[:10] for text in texts],
        "time:hour": [text[:13] + ":00:00" + zone for text, zone in zip(texts, zones, strict=True)],
        "time:minute": [text[:16] + ":00" + zone for text, zone in zip(texts, zones, strict=True)],
    }


FORMAT = logs.Format(map={"time": "time", "path": "path"})


@pytest.mark.parametrize("name", ZONES)
def test_columns_and_counts(tier, name):
    times = list(moments(random.Random(name), 1500))
    data, expected = log_of(times), wanted(times, name)
    if name == "Africa/Monrovia":
        assert any("-00:45" in text for text in expected["time"])  # 44 minutes and 30 seconds until 1972
    assert logs.columns(data, FORMAT, fields=FIELDS, to_timezone=name) == expected
    for field in FIELDS:
        found = {row[field]: row["count"] for row in logs.count(data, [field], FORMAT, to_timezone=name)}
        assert found == collections.Counter(expected[field])
    found = logs.columns(data, FORMAT, fields=["time"], where=["time:day=2025-03-30"], to_timezone=name)["time"]
    assert found == [text for text in expected["time"] if text.startswith("2025-03-30")]


def test_texts_and_other_formats(tmp_path):
    times = [each.replace(microsecond=0) for each in moments(random.Random(1), 2000)]
    line = '192.0.2.1 - - [{:%d/%b/}{:04}{:%H:%M:%S %z}] "GET / HTTP/1.1" 200 5 "-" "-"\n'
    data = "".join(line.format(each, each.year, each) for each in times)
    data = re.sub(r"(/\d{4})(\d\d:)", r"\1:\2", data).encode()
    path = tmp_path / "log"
    path.write_bytes(data * 10)
    for name in ZONES[:3]:
        expected = wanted(times, name)
        for threads in 1, 3:
            command = ["log", "--format", "combined", "--to-timezone", name, "-j", threads, path]
            found = [json.loads(line)["time"] for line in output_of(*command).splitlines()]
            assert found == expected["time"] * 10
            lines = output_of(*command, "--fields", "time:hour,time", "--to", "text").decode().splitlines()
            rows = zip(expected["time:hour"], expected["time"], strict=True)
            assert lines == [f"{hour}\t{time}" for hour, time in rows] * 10


def test_times_without_zone():
    """They are of timezone=, and compared in to_timezone=."""
    line = '192.0.2.1:80 [{:%d/%b/%Y:%H:%M:%S}.250] f b/s 1/2/3/4/5 200 512 - - ---- 1/2/3/4/0 0/0 "GET / HTTP/1.1"\n'
    local = [datetime(2025, 3, 29, 20) + timedelta(hours=i) for i in range(24)]
    data = "".join(map(line.format, local)).encode()
    options = {"timezone": "America/New_York", "to_timezone": "Europe/Vienna", "fields": ["time"]}
    there = [each.replace(microsecond=250_000, tzinfo=zone_of("America/New_York")) for each in local]
    expected = [each.astimezone(zone_of("Europe/Vienna")).isoformat().replace("250000", "250") for each in there]
    assert logs.columns(data, "haproxy", **options)["time"] == expected
    for since in "2025-03-30T04:00", "2025-03-30":
        found = logs.columns(data, "haproxy", since=since, **options)["time"]
        assert found == [text for text in expected if text >= since]


@pytest.mark.interop
def test_arrow():
    pytest.importorskip("pyarrow")
    times = list(moments(random.Random(2), 500))
    for name in ZONES:
        table = logs.to_arrow(log_of(times), FORMAT, fields=FIELDS, to_timezone=name).read_all()
        assert table.schema.field("time").type.tz == name
        epoch = datetime(1970, 1, 1, tzinfo=timezone.utc)
        micros = [(each - epoch) // timedelta(microseconds=1) for each in times]
        assert table["time"].cast("int64").to_pylist() == micros
        expected = wanted(times, name)
        assert {field: table[field].to_pylist() for field in FIELDS[1:]} == {
            each: expected[each] for each in FIELDS[1:]
        }


def test_errors():
    with pytest.raises(ValueError, match="unknown time zone 'Mars/Olympus'"):
        logs.columns(b"", to_timezone="Mars/Olympus")
    with pytest.raises(TypeError, match="must be a str"):
        logs.columns(b"", to_timezone=1)
