"""Access logs: `uricodec.logs` against the naive model (tests/reference/logs.py), in any pieces, from any source."""

import csv
import gzip
import io
import json
import re
from pathlib import Path
from tempfile import TemporaryDirectory

from reference import logs as naive
from support import run

from uricodec import logs
from uricodec._io import compress
from uricodec.logs._columns import convert_columns
from uricodec.logs._records import NAMES, LogReader

DICTIONARIES = "percent logs"
COVERS = {"uricodec.logs": ["columns", "detect", "parse"]}

REFERENCED = (
    "combined",
    "common",
    "alb",
)  # the model reads any bytes of these formats; of the others, only what servers write


def expected(data, format, **options):
    """Return the records and the numbers of the invalid lines, as the model reads them."""
    state, records, faults = {}, [], []
    for number, line in enumerate(re.findall(rb"[^\n]*\n|[^\n]+", data)):
        text = line.removesuffix(b"\n") if line.endswith(b"\n") else line + b"\r" * line.endswith(b"\r")
        record = naive.record(text, format, state, **options)
        if record is None:
            faults.append(number)
        elif record is not naive.DIRECTIVE:
            records.append(record)
    return records, faults


def options_of(draw):
    return {
        "mask": draw.one(((), ("token",), ("a", "é"))),
        "flags": draw.flag(),
        "errors": draw.one(("keep", "replace")),
    }


def converted(data, reader, room, size):
    """What is written, faults and records, of pieces of whole lines and no more than so large, with so much room."""
    written, faults, records, lines, start = b"", [], 0, 0, 0
    dst = bytearray(room)
    while start < len(data):
        cut = data.rfind(b"\n", start, start + size) + 1 or data.find(b"\n", start) + 1 or len(data)
        found = reader.convert(memoryview(data)[start:cut], dst)
        assert found.read > 0
        written += dst[: found.written]
        for line, begin, length, code, offset in found.faults:
            assert code and 0 <= offset <= length and start + begin + length <= len(data)
            faults.append(lines + line)
        lines, records, start = lines + found.lines, records + found.records, start + found.read
    assert lines == len(re.findall(rb"[^\n]*\n|[^\n]+", data))
    return written, faults, records


def harmless(text):
    """Check that only record ends could be taken for a line end, and that there is no control character."""
    assert not re.search("[\0-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029]", text)


def any_octets(draw):
    """Compare with the model if it reads the format completely; otherwise check properties that must hold."""
    format, size = draw.one(logs.FORMATS), draw.one((1 << 20, 1, 64))
    options = options_of(draw)
    data = draw.octets()
    room = LogReader.room(len(data))
    written, faults, records = converted(data, LogReader(format, "jsonl", **options), room, 1 << 20)
    assert (written, faults, records) == converted(data, LogReader(format, "jsonl", **options), room, size)
    found = [json.loads(line) for line in written.split(b"\n")[:-1]]
    names = list(NAMES if options["flags"] else NAMES[:-1])
    assert len(found) == records and all(list(record) == names for record in found)
    harmless(written.decode())
    if format in REFERENCED:
        assert (found, faults) == expected(data, format, **options)
    at = names.index("query")
    for csv_safe, cell in (False, naive.cell), (True, naive.safe_cell):
        table = converted(data, LogReader(format, "csv", **options, csv_safe=csv_safe), room, size)
        assert table[1:] == (faults, records)
        harmless(table[0].decode())
        rows = list(csv.reader(io.StringIO(table[0].decode())))
        for row in rows:
            row[at] = json.loads(row[at]) if row[at] else ""
        assert rows == [[cell(name, value) for name, value in record.items()] for record in found]
    reader, start, texts = LogReader(format, "jsonl", **options), 0, []
    while start < len(data):
        done, columns = convert_columns(reader, memoryview(data)[start:])
        start += done.read
        texts += texts_of(columns[names.index("path")])
    assert texts == [record["path"] for record in found]


def texts_of(column):
    """Return the values of an Arrow column from its validity bits, ends and bytes."""
    rows, valid, ends, data = column
    places = memoryview(ends).cast("i") if ends else [0]
    there = [not valid or valid[i >> 3] >> (i & 7) & 1 for i in range(rows)]
    return [data[places[i] : places[i + 1]].decode() if there[i] else None for i in range(rows)]


def records_of(data, format, **options):
    """parse() gives the records of the model's lines, columns() the same by their members; faults have their lines."""
    faults, again = [], []
    found = list(logs.parse(data, format, faults=faults, **options))
    columns = logs.columns(data, format, faults=again, **options)
    names = NAMES if options.get("flags") else NAMES[:-1]
    assert list(columns) == list(names) and faults == again
    for i, name in enumerate(names):
        assert columns[name] == [record[i] for record in found]
    lines = data.split(b"\n")
    for fault in faults:
        assert fault.text == lines[fault.line - 1].removesuffix(b"\r") or fault.line == len(lines)
        assert 0 <= fault.offset <= len(fault.text)
    return found, faults


def sources(draw):
    """parse and columns of bytes, a file object, a path, and of all these compressed; detect."""
    format, kind = draw.one(("auto", *logs.FORMATS)), draw.number(8)
    options = options_of(draw)
    data = draw.octets()
    if compress.format_of(data) is None:
        from_sources(data, format, kind, options)


def from_sources(data, format, kind, options):
    guess = logs.detect(data)
    assert guess == detected(data)
    found, faults = records_of(data, format, **options)
    name = guess if format == "auto" else format
    if name in REFERENCED:
        records, numbers = expected(data, name, **options)
        assert [fault.line - 1 for fault in faults] == numbers
        assert [record._asdict() for record in found] == [as_record(record) for record in records]
    other = gzip.compress(data, 1) if kind & 1 else data
    if kind & 2 or (kind & 4 and not data):
        assert list(logs.parse(io.BytesIO(other), format, **options)) == found
    elif kind & 4:
        with TemporaryDirectory() as folder:
            path = Path(folder) / "log"
            path.write_bytes(other)
            assert list(logs.parse(path, format, **options)) == found
    else:
        assert list(logs.parse(other, format, **options)) == found


def as_record(record):
    record = {**record, "flags": tuple(record["flags"]) if "flags" in record else None}
    return record | {"query": None if record["query"] is None else tuple(map(tuple, record["query"]))}


def detected(head):
    """Return what the documentation says, by regular expressions."""
    head = head.removeprefix(b"\xef\xbb\xbf")
    if head.startswith(b"#Software: Microsoft"):
        return "iis"
    for line in head.split(b"\n")[:100]:
        if re.match(rb"#Fields:", line):
            return "cloudfront" if b"x-edge-" in line else "iis"
        if re.match(rb"#|[ \t\n\r\x0b\f]*\Z", line):
            continue
        if re.match(rb"[ \t\n\r\x0b\f]*\{", line):
            return "nginx-json"
        return "alb" if re.match(rb"(https?|h2|grpcs|wss?)( |\Z)", line) else "combined"
    return "combined"


NUMBERS = (b"200", b"-", b"0", b"007", b"1" * 18, b"x")
OF_COLUMN = {"date": b"2025-01-01", "time": b"12:00:00"}


def as_servers_write(draw):
    """Lines of JSON and of the W3C format, with any values in them, against the model."""
    format = draw.one(("nginx-json", "cloudfront", "iis"))
    names = [*(naive.MEMBER_OF if format == "nginx-json" else naive.COLUMNS), "x"]
    names = [draw.one(names) for _ in range(draw.number(8))]
    options, number = options_of(draw), draw.one(NUMBERS)
    values = draw.parts(len(names))
    if format == "nginx-json":
        members = {name: value.decode(errors="replace") for name, value in zip(names, values, strict=False)}
        data = json.dumps(members).encode()
    else:
        for i, name in enumerate(names):
            value = OF_COLUMN.get(name, values[i].translate(PLAIN))
            values[i] = number if name in {"sc-status", "sc-bytes"} else value
        between = b"\t" if format == "cloudfront" else b" "
        data = b"#Fields: " + " ".join(names).encode() + b"\n" + between.join(values[: len(names)]) + b"\r"
    written, faults, _ = converted(data, LogReader(format, "jsonl", **options), LogReader.room(len(data)), 1 << 20)
    records, numbers = expected(data, format, **options)
    assert [json.loads(line) for line in written.split(b"\n")[:-1]] == records and faults == numbers


PLAIN = bytes(0x5F if octet in b"\n\t " else octet for octet in range(256))

OPERATIONS = (any_octets, sources, as_servers_write)


def target(data):
    run(OPERATIONS, data)
