"""Lines that are read by marks (`_fast`) give what the exact reader gives (LogReader(fast=False)), on every tier."""

import os
import random
from pathlib import Path

import pytest

from uricodec._codec._charsets import Charset
from uricodec.logs import Format, presets
from uricodec.logs._columns import convert_columns
from uricodec.logs._records import LogReader

EXAMPLES = Path(__file__).parents[2] / "examples" / "logs"
CORPORA = os.environ.get("URICODEC_CORPORA")
PRESETS = [name for name in presets() if (EXAMPLES / f"{name}.log").exists()]
PIECES = [
    *(bytes([c]) for c in b'"\\ []-%+?&=\t\r\x7f\x80\xe9\x00:/.,{}09aZ<#'),
    *(b'" "', b'\\"', b" [", b"] ", b"- ", b' - "', b"%41", b"%C3%A9", b"%e2%80%a8", b"%zz", b"%22", b"&a=b&", b"?q=%3D+x", b"q="),
    *(b" HTTP/1.1", b"http://h/", b"GET ", b"CONNECT ", b"001", b"+5", b"-1", b"0.5", b"1e3", b"1234567890123456789"),
    *(b"29/Feb/2023:23:59:60 +0000", b"01/Jan/2025:12:00:09 +0100", b"2025-01-01T12:00:00Z", b"\xc3\xa9", b"a, b", b", ", b"[::1]:80"),
]
OPTIONS = [
    {},
    {"params": ["q", "a", "é"]},
    {"client": "forwarded"},
    {"mask": ["q"], "flags": True},
    {"replace_invalid_utf8": True},
    {"encoding": Charset("latin-1"), "params": ["name"]},
]


def converted(reader, data, cuts=()):
    """The records and the invalid lines of a log that is read in parts, and what the reader says about it."""
    records, invalid, lines, start = [], [], 0, 0
    dst = bytearray(reader.capacity_for(max(map(len, data.split(b"\n")))) + 4096)
    for stop in (*cuts, len(data)):
        while start < stop:
            found = reader.convert(memoryview(data)[start:stop], dst)
            records.append(bytes(dst[: found.written]))
            invalid += [(lines + line, size, code, offset) for line, _, size, code, offset in found.invalid]
            lines += found.lines
            start += found.read
    return b"".join(records), invalid, lines, reader.missing


def in_columns(reader, data):
    """The columns of a log."""
    batches, start = [], 0
    while start < len(data):
        found, columns = convert_columns(reader, memoryview(data)[start:])
        batches.append((found.lines, found.records, found.invalid, columns))
        start += found.read
    return batches, reader.missing


def check(format, data, cuts=(), **options):
    """Compare all that is made of a log. Return the share of records that were read by marks."""
    fast = LogReader(format.programs, **options)
    assert converted(fast, data, cuts) == converted(LogReader(format.programs, fast=False, **options), data), options
    for safe in False, True:
        options["csv_safe"] = safe
        ours, exact = (LogReader(format.programs, "csv", fast=is_fast, **options) for is_fast in (True, False))
        assert converted(ours, data, cuts) == converted(exact, data), options
    del options["csv_safe"]
    ours, exact = (LogReader(format.programs, fast=is_fast, **options) for is_fast in (True, False))
    assert in_columns(ours, data) == in_columns(exact, data), options
    return fast.fast_records


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


@pytest.mark.parametrize("options", OPTIONS, ids=repr)
@pytest.mark.parametrize("name", PRESETS)
def test_samples(name, options):
    data = (EXAMPLES / f"{name}.log").read_bytes()
    check(Format(name), 40 * data, **options)
    check(Format(name), data.replace(b"\n", b"\r\n"), **options)


@pytest.mark.parametrize("name", PRESETS)
def test_adversarial_lines(name, tier):
    data = adversarial(name, 2000, tier)
    rng = random.Random(name)
    for options in OPTIONS[:1] + [rng.choice(OPTIONS[1:])]:
        check(Format(name), data, sorted(rng.randrange(len(data)) for _ in range(0)), **options)


@pytest.mark.skipif(not CORPORA, reason="URICODEC_CORPORA does not say where the logs are")
@pytest.mark.parametrize("path", sorted(Path(CORPORA or ".").glob("log_*.log")), ids=lambda path: path.name)
@pytest.mark.parametrize("name", PRESETS)
def test_real_logs(path, name):
    check(Format(name), path.read_bytes())
