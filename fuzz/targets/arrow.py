"""Columns of Arrow, which needs pyarrow: `uricodec.bulk`, `uricodec.dedup` and `uricodec.logs` on every layout."""

from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.parquet as pq
from common import run, text_of
from reference import rows as reference
from reference.logs import microseconds
from support import row_by_row as naive
from targets import bulk as lists

from uricodec import bulk, dedup, logs
from uricodec._io import magic

DICTIONARIES = "percent uri urn logs"
COVERS = {"uricodec.logs": ["to_arrow"], "uricodec.bulk": ["Column"], "uricodec.dedup": ["unique_dataset"]}

TEXTS = (pa.string(), pa.large_string(), pa.string_view())
OCTETS = (pa.binary(), pa.large_binary(), pa.binary_view())
INDICES = (pa.int8(), pa.uint8(), pa.int16(), pa.int32(), pa.uint32(), pa.int64())


def column_of(rows, kind, sizes):
    """The rows in chunks, each of which is a slice of an array with more rows."""
    before, chunks, start = rows[:1] * 3, [], 0
    while start < len(rows):
        size = sizes[len(chunks) % len(sizes)]
        part = rows[start : start + size]
        chunks.append(pa.array([*before, *part, None], kind)[len(before) : len(before) + len(part)])
        start += size
    return pa.chunked_array(chunks, kind)


def rows_of(column):
    """The rows of a result that pyarrow finds valid, as a whole and in its chunks."""
    whole = pa.chunked_array(column)
    whole.validate(full=True)
    pa.array(column).validate(full=True)
    assert len(column) == len(whole)
    return whole.to_pylist()


def drawn(draw):
    """Rows of str or bytes, and a column of them."""
    as_text = draw.flag()
    kind, sizes = draw.one(TEXTS if as_text else OCTETS), (draw.number(5) + 1, draw.number(70) + 1)
    rows = [None if row == lists.NONE else row for row in draw.octets().split(b"\n")]
    if as_text:
        rows = [row if row is None else row.decode("utf-8", "replace") for row in rows]
    return rows, kind, sizes, as_text


def in_columns(draw):
    """Every operation has the same result as for a list, whatever the layout."""
    name, how = draw.one(lists.CALLS)
    errors, threads, limit = draw.one(naive.policies(name)), draw.one((None, 1, 2)), draw.one((100, 0, 1))
    rows, kind, sizes, as_text = drawn(draw)
    if lists.has_answers(name) or (errors == "replace" and not as_text):
        errors = "keep"
    faults = bulk.InvalidRows(limit)
    made = getattr(bulk, name)(column_of(rows, kind, sizes), errors=errors, invalid=faults, threads=threads, **how)
    want, rejected = wanted(name, rows, errors, how)
    assert rows_of(made) == want
    assert type(made) is bulk.Column
    if not lists.has_answers(name):
        assert faults.count == len(rejected)
        # The offsets of unsplit are in what the row and the options make together.
        before = len(before_path(**how)) if name == "unsplit" else 0
        heads = [rows[i][: max(at - before, 0)] for i, at in rejected]
        places = [(i, at + octets_in(head) - len(head)) for (i, at), head in zip(rejected, heads, strict=True)]
        assert [(row, at) for row, _, at in faults.rows] == places[:limit]
        assert lists.naive.OPERATIONS[name].result != "text" or pa.chunked_array(made).type == kind


def wanted(name, rows, errors, how):
    """The results of a column, and the rows that are rejected."""
    want, rejected = naive.column(name, rows, errors, **how)
    if name.startswith("check"):
        for row, found in zip(rows, want, strict=True):
            if found:
                found["offset"] = octets_in(row[: found["offset"]])
    if name == "query_pairs":
        want = reference.in_columns(lists._operations.OPERATIONS[name].fields, want)
    return want, rejected


def before_path(scheme=None, authority=None, **_):
    return ("" if scheme is None else f"{scheme}:") + ("" if authority is None else f"//{authority}")


def octets_in(row):
    return len(row.encode()) if isinstance(row, str) else len(row)


def dictionaries(draw):
    """Dictionary values are processed once, however many rows refer to them."""
    name, how = draw.one([call for call in lists.CALLS if "keep" in lists._operations.OPERATIONS[call[0]].policies])
    index = draw.one(INDICES)
    words = [row.decode("utf-8", "replace") for row in draw.octets().split(b"\n")][:100]
    places = [None if i % 5 == 4 else i * 7 % len(words) for i in range(2 * len(words))]
    source = pa.DictionaryArray.from_arrays(pa.array(places, index), pa.array(words))[1:]
    rows = [None if place is None else words[place] for place in places[1:]]
    made = getattr(bulk, name)(source, errors="keep", **how)
    want, _ = wanted(name, rows, "keep", how)
    assert rows_of(made) == want == made.to_pylist()
    whole = pa.array(made)
    assert not pa.types.is_dictionary(whole.type) or len(whole.dictionary.unique()) == len(whole.dictionary)


def other_answers(draw):
    """Fingerprints, and validity of lines."""
    rows, kind, sizes, _ = drawn(draw)
    source = column_of(rows, kind, sizes)
    for of in "bytes", "uri", "urn":
        assert rows_of(bulk.fingerprint(source, of, secret="key")) == bulk.fingerprint(rows, of, secret="key")
    lines = b"".join(b"" if row is None else row.replace("\r", "").encode() + b"\n" for row in map(as_text, rows))
    parts = [line for line, _ in lists.lines_of(lines)]
    assert rows_of(bulk.is_valid_uri(lines)) == bulk.is_valid_uri(parts)
    assert rows_of(bulk.check_urn(lines)) == bulk.check_urn(parts)


def as_text(row):
    return text_of(row).encode("utf-8", "replace").decode() if isinstance(row, bytes) else row


def unique(draw):
    """dedup.unique returns the same rows as for a list; dedup.unique_dataset writes them."""
    kind, level = draw.one((("urn", None), ("urn", "namespace"), ("uri", None), ("iri", None), ("bytes", None)))
    how = {"errors": draw.one(("keep", "drop")), "exact": draw.flag(), "memory": draw.one((1, "64M"))}
    rows, layout, sizes, _ = drawn(draw)
    source = column_of(rows, layout, sizes)
    made = dedup.unique(source, kind, level, **how)
    assert rows_of(made) == dedup.unique(rows, kind, level, **how) and pa.chunked_array(made).type == layout
    with dedup.Deduplicator(kind, level, **how) as ours, dedup.Deduplicator(kind, level, **how) as other:
        assert rows_of(ours.add(source)) == other.add(rows) and ours.finish() == other.finish()
    if how["exact"]:
        return
    with TemporaryDirectory() as folder:
        pq.write_table(pa.table({"name": source}), f"{folder}/in.parquet", row_group_size=sizes[1])
        done = dedup.unique_dataset(f"{folder}/in.parquet", "name", f"{folder}/out", kind=kind, level=level, **how)
        table = pq.read_table(f"{folder}/out/in.parquet")
    assert table["name"].to_pylist() == rows_of(made) and table.schema.field("name").type == layout
    assert (done.rows, done.written, done.invalid) == (len(rows), len(table), ours.invalid)


def records(draw):
    """logs.to_arrow has the records of logs.parse."""
    format = draw.one(("auto", *logs.presets()))
    options = {"flags": draw.flag(), "replace_invalid_utf8": draw.flag(), "mask": draw.one(((), ("token",)))}
    data = draw.octets()
    if magic.format_of(data) is not None:
        return
    try:
        want = logs.columns(data, format, **options)
    except logs.FormatError:
        return
    table = logs.to_arrow(data, format, **options).read_all()
    table.validate(full=True)
    found = table.to_pydict()
    assert list(found) == list(want)
    for name, values in found.items():
        if name == "query":
            values = [row and tuple((pair["name"], pair["value"]) for pair in row) for row in values]  # noqa: PLW2901
            assert [row or () for row in values] == [row or () for row in want[name]]
        elif name == "extra":
            assert [row and dict(row) for row in values] == want[name]
        elif name in ("flags", "forwarded_for"):
            assert [row if row is None else tuple(row) for row in values] == want[name]
        elif name == "time":
            moments = [microseconds(row) for row in want[name]]
            assert table[name].cast("int64").to_pylist() == moments
        else:
            assert values == want[name]


OPERATIONS = (in_columns, dictionaries, other_answers, unique, records)


def target(data):
    run(OPERATIONS, data)
