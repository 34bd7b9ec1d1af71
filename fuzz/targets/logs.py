"""Access logs: `uricodec.logs` against the naive model (tests/reference/log_formats.py): presets, format strings, maps.

The lines come in any pieces, and from any source.
"""

import csv
import gzip
import io
import json
import re
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

from common import run
from reference import logs as texts
from support import log_programs as naive

from uricodec import logs
from uricodec._io import magic
from uricodec.logs._columns import convert_columns, objects_of
from uricodec.logs._conditions import condition_of
from uricodec.logs._detection import is_utf16
from uricodec.logs._records import NAMES, LogReader

DICTIONARIES = "percent logs"
COVERS = {"uricodec.logs": ["Format", "columns", "count", "detect", "parse", "presets"]}
FIELDS = ("client", "time", "path", "status", "referer", "duration", "param.q", "time:hour", "status:class", "flags")

PRESETS = logs.presets()


def options_of(draw):
    return {
        "mask": draw.one(((), ("token",), ("a", "é"))),
        "flags": draw.flag(),
        "errors": draw.one(("keep", "replace")),
        "params": draw.one(((), ("q",))),
    }


def compiled(options):
    """The arguments of LogReader for options of the model."""
    options = dict(options)
    return {"replace_invalid_utf8": options.pop("errors") == "replace"} | options


def lines_of(data):
    """Lines as the model takes them: without newlines."""
    for line in re.findall(rb"[^\n]*\n|[^\n]+", data):
        yield line.removesuffix(b"\n")


def converted(data, reader, size):
    """What is written, the invalid lines and the number of records, of pieces of whole lines no larger than `size`."""
    written, invalid, records, lines, start = b"", [], 0, 0, 0
    dst = bytearray(reader.capacity_for(len(data)))
    while start < len(data):
        cut = data.rfind(b"\n", start, start + size) + 1 or data.find(b"\n", start) + 1 or len(data)
        found = reader.convert(memoryview(data)[start:cut], dst)
        assert found.read > 0
        written += dst[: found.written]
        for line, begin, stop, code, offset in found.invalid:
            assert code and 0 <= offset <= stop - begin and start + stop <= len(data)
            invalid.append((lines + line, code, offset))
        lines, records, start = lines + found.lines, records + found.records, start + found.read
    assert lines == len(list(lines_of(data)))
    return written, invalid, records


def harmless(text):
    """Check that only record ends could be taken for a line end, and that there is no control character."""
    assert not re.search("[\0-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029]", text)


def check(data, given, format, size, options):
    """Compare the records of lines with those of the model; `given` is the format as the user gives it.

    Lines that RFC 8259 does not allow are left out: the reader checks what it needs of them.
    """
    reader = LogReader(format.programs, **compiled(options))
    written, invalid, records = converted(data, reader, 1 << 20)
    assert (written, invalid, records) == converted(data, LogReader(format.programs, **compiled(options)), size)
    harmless(written.decode())
    found = [json.loads(line) for line in written.split(b"\n")[:-1]]
    assert len(found) == records
    state, wanted, missing, strict = {}, [], [], True
    for number, line in enumerate(lines_of(data)):
        record = naive.record(line, given, state, **options)
        if isinstance(record, naive.Invalid):
            strict = strict and record.code != "json"
            missing.append((number, *record))
        elif record is not naive.DIRECTIVE:
            wanted.append(record)
    if not strict:
        return
    assert found == [naive.shown(record, given) for record in wanted]
    if isinstance(given, str) and isinstance(naive.programs_of(given)[0], naive.Text):
        assert invalid == missing
    assert [number for number, *_ in invalid] == [number for number, *_ in missing]
    as_csv(data, format, size, options, wanted)
    as_columns(data, format, options, wanted)


def as_csv(data, format, size, options, wanted):
    for csv_safe, cell in (False, texts.cell), (True, texts.safe_cell):
        table, _, _ = converted(data, LogReader(format.programs, "csv", **compiled(options), csv_safe=csv_safe), size)
        harmless(table.decode())
        rows = list(csv.reader(io.StringIO(table.decode())))
        for row in rows:
            for at in map(NAMES.index, texts.IN_JSON):
                row[at] = json.loads(row[at]) if row[at] else ""
        assert rows == [[cell(name, value) for name, value in record.items()] for record in wanted]


def as_columns(data, format, options, wanted):
    fields = ["path", "user_agent"]
    reader, start, found = LogReader(format.programs, "columns", fields=fields, **compiled(options)), 0, []
    while start < len(data):
        done, columns = convert_columns(reader, memoryview(data)[start:])
        start += done.read
        found += zip(*objects_of(columns, 0, len(columns))[:2], strict=True)
    assert found == [(record["path"], record["user_agent"]) for record in wanted]


def presets(draw):
    name, size, options = draw.one(PRESETS), draw.one((1 << 20, 1, 64)), options_of(draw)
    check(draw.octets(), name, logs.Format(name), size, options)


def format_strings(draw):
    """A format string, and lines."""
    size, options = draw.one((1 << 20, 1, 64)), options_of(draw)
    text, data = draw.parts(2)
    try:
        format = logs.Format(given := text.decode("utf-8", "replace"))
    except ValueError as error:
        found = re.search(r"at offset (\d+)", str(error))
        assert found is None or int(found[1]) <= len(text)
        return
    assert eval(repr(format), {"Format": logs.Format}) == format and len(format.fields) >= 0
    check(data, given, format, size, options)
    for line in data.split(b"\n")[:3]:
        explain(format, line)


def maps(draw):
    """A field and a path in each line of the first part, and lines."""
    options = options_of(draw)
    text, data = draw.parts(2)
    pairs = [line.partition("=")[::2] for line in text.decode("utf-8", "replace").split("\n")]
    try:
        format = logs.Format(map=dict(pairs))
    except ValueError:
        return
    check(data, dict(pairs), format, 1 << 20, options)
    explain(format, data.partition(b"\n")[0])


def explain(format, line):
    diagnostic = format.explain(line)
    if diagnostic:
        assert diagnostic.code and 0 <= diagnostic.offset <= len(line) and diagnostic.message.isprintable()


def answers(draw):
    """Records that meet a condition, and the counts of fields, are those of all records."""
    format, field, sign = draw.one(PRESETS), draw.one(FIELDS), draw.one(("=", "!=", "<", ">=", "^=", "*="))
    text, data = draw.parts(2)
    condition = field + sign + text[:40].decode("utf-8", "replace")
    try:
        where = [condition_of(condition)]
    except ValueError:
        where = []
    programs = logs.Format(format).programs
    options = {"fields": [*NAMES, "flags"], "max_line": 1 << 20}
    everything = converted(data, LogReader(programs, **options), 1 << 20)[0]
    records = [json.loads(line) for line in everything.split(b"\n")[:-1]]
    if where:
        records = [record for record in records if texts.meets(record, condition)]
        found = converted(data, LogReader(programs, where=where, **options), 1 << 20)[0]
        assert [json.loads(line) for line in found.split(b"\n")[:-1]] == records
    options = {"where": [condition] if where else (), "invalid": []}
    try:
        values = logs.columns(data, format, fields=[field], **options)[field]
    except (logs.FormatError, OSError):
        return
    rows = logs.count(data, [field], format, memory=2000, **options)
    assert {json.dumps(row[field]): row["count"] for row in rows} == Counter(map(json.dumps, values))


def sources(draw):
    """parse and columns of bytes, a file object, a path, and of all these compressed; detect."""
    format, kind, options = draw.one(("auto", *PRESETS)), draw.number(8), compiled(options_of(draw))
    data = draw.octets()
    if magic.format_of(data) is not None:
        return
    assert tuple(logs.presets()) == tuple(PRESETS)
    for candidate in logs.detect(data):
        assert 0 < candidate.votes <= candidate.lines
    found, invalid = parsed(data, format, options)
    lines = data.split(b"\n")
    for line in invalid:
        assert line.text == lines[line.line - 1].removesuffix(b"\r").lstrip(b"\0") or is_utf16(data)
        assert 0 <= line.offset <= len(line.text)
    if isinstance(found, list):
        columns = logs.columns(data, format, invalid=[], **options)
        for name in NAMES:
            assert columns[name] == [getattr(record, name) for record in found]
    other = gzip.compress(data, 1) if kind & 1 else data
    if kind & 2 or (kind & 4 and not data):
        assert parsed(io.BytesIO(other), format, options) == (found, invalid)
    elif kind & 4:
        with TemporaryDirectory() as folder:
            path = Path(folder) / "log"
            path.write_bytes(other)
            assert parsed(path, format, options) == (found, invalid)
    else:
        assert parsed(other, format, options) == (found, invalid)


def parsed(source, format, options):
    """The records, or that there is no format or no record; and the invalid lines."""
    invalid = []
    try:
        found = list(logs.parse(source, format, invalid=invalid, **options))
    except logs.FormatError as error:
        assert str(error).isprintable()
        found = logs.FormatError
    return found, [line._replace(input="") for line in invalid]


OPERATIONS = (presets, format_strings, maps, sources, answers)


def target(data):
    run(OPERATIONS, data)
