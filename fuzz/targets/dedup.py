"""Deduplication: `uricodec.dedup` against a dict of normal forms, in memory, in little memory, and in files."""

from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

from common import is_refusal, lines_of, octets_of, outcome, run
from reference import uri as naive_uri
from reference.records import Reference, csv_records

from uricodec import dedup, uri, urn
from uricodec._io.magic import format_of
from uricodec.dedup._fields import NoValuesError
from uricodec.errors import UriError

DICTIONARIES = "percent uri urn"
COVERS = {
    "uricodec.dedup": [
        *("dedup_files", "estimate_files", "rules_of", "unique", "Deduplicator", "DedupStats", "SeenSet", "SetError"),
    ],
}

KINDS = (
    *(("urn", level) for level in (None, "bytes", "2141", "8141", "namespace", "functional")),
    *(("uri", level) for level in (None, "simple", "case", "percent", "path", "scheme", "iri", "rfc2396", "rfc1630")),
    *(("iri", None), ("iri", "percent"), ("bytes", None)),
)
ERRORS = ("keep", "drop", "raise")
NONE = b"\x1a"  # a row that is none
LADDERS = {
    "bytes": ("bytes",),
    "urn": ("bytes", "2141", "8141", "namespace", "functional"),
    "uri": ("simple", "case", "percent", "path", "scheme", "iri"),
}


def name_of(row, kind, level, errors="keep"):
    """Return the normal form of a row (bytes), and whether it is a valid identifier."""
    row = octets_of(row)
    if errors != "keep" and kind in {"uri", "iri"} and level != "rfc1630":
        reads_iris = kind == "iri" or level == "iri"
        if naive_uri.check(row, "IRI-reference" if reads_iris else "URI-reference", reads_iris):
            return row, False
    try:
        if kind == "urn":
            return urn.normalize(row, level or "8141"), True
        if kind != "bytes":
            return uri.normalize(row, level or ("path" if kind == "uri" else "iri")), True
    except UriError:
        return row, False
    return row, True


def firsts(rows, kind, level, errors):
    """Return for each row whether its identifier is new, and the number of invalid rows; None: a row raises."""
    seen, found, invalid = set(), [], 0
    for row in rows:
        name, valid = (None, True) if row is None else name_of(row, kind, level, errors)
        invalid += not valid
        if not valid and errors == "raise":
            return None, invalid
        found.append(name not in seen and (valid or errors == "keep"))
        if valid or errors == "keep":
            seen.add(name)
    return found, invalid


def how_of(draw):
    """Draw arguments that change the internal steps, but not the result."""
    return {"memory": draw.one((1, "64M", None)), "exact": draw.flag(), "secret": draw.one((None, "key", b"\0"))}


def of_rows(draw):
    """unique of lists and of lines."""
    (kind, level), errors, how = draw.one(KINDS), draw.one(ERRORS), how_of(draw)
    as_text = draw.flag()
    data = draw.octets()
    rows = [None if row == NONE else row for row in data.split(b"\n")]
    if as_text:
        rows = [row if row is None else row.decode("latin-1") for row in rows]
    made = outcome(dedup.unique, rows, kind, level, errors=errors, **how)
    found, _ = firsts(rows, kind, level, errors)
    if found is None:
        assert is_refusal(made)
    else:
        assert made == [row for row, first in zip(rows, found, strict=True) if first]
    lines = lines_of(data)
    made = outcome(dedup.unique, data, kind, level, errors=errors, **how)
    found, _ = firsts([line for line, _ in lines], kind, level, errors)
    if found is None:
        assert is_refusal(made)
    else:
        assert made == b"".join(
            line + (tail or b"\n") for (line, tail), first in zip(lines, found, strict=True) if first
        )


def piece_by_piece(draw):
    """A Deduplicator: rows in any pieces; it reports at once or at the end which are new."""
    (kind, level), errors, how = draw.one(KINDS), draw.one(ERRORS[:2]), how_of(draw)
    size, as_lines = draw.number(8) + 1, draw.flag()
    rows = [None if row == NONE and not as_lines else row for row in draw.octets().split(b"\n")]
    if as_lines:
        rows = [row.rstrip(b"\r") for row in rows]
    found, invalid = firsts(rows, kind, level, errors)
    marks = []
    with dedup.Deduplicator(kind, level, errors=errors, **how) as names:
        for start in range(0, len(rows), size):
            piece = rows[start : start + size]
            marks += names.add(b"".join(row + b"\n" for row in piece) if as_lines else piece)
        count = len(
            {
                name_of(row, kind, level, errors)[0]
                for row, first in zip(rows, found, strict=True)
                if first and row is not None
            }
        )
        later = names.finish()
        assert names.rows == len(rows) and names.invalid == invalid and names.count == count
        assert abs(names.estimate - count) <= 1 + count // 10
    assert later == sorted(later) and all(marks[row] is None for row in later)
    for row in later:
        marks[row] = True
    assert [bool(mark) for mark in marks] == found


def of_files(draw):
    """dedup_files, estimate_files and rules_of: every report, with other files' names left out."""
    (kind, level), errors, how = draw.one(KINDS), draw.one(ERRORS[:2]), how_of(draw)
    report, rules, threads = draw.one(("unique", "counts", "repeated")), draw.flag(), draw.one((1, 2))
    top = draw.one((None, 1, 3, 2000)) if report == "counts" else None
    ladder = dedup.rules_of(kind, level)
    if level in (None, *LADDERS["urn"], *LADDERS["uri"]):
        last = level or {"urn": "8141", "uri": "path", "iri": "iri", "bytes": "bytes"}[kind]
        whole = LADDERS["uri" if kind == "iri" else kind]
        assert ladder == whole[: whole.index(last) + 1]
    data, other = draw.parts(2)
    if format_of(data) or format_of(other):  # what a compressed file has is another matter
        return
    before = {name_of(line, kind, level, errors) for line, _ in lines_of(other)}
    before = {name for name, valid in before if valid or errors == "keep"}
    first, counts, invalid, lines = {}, Counter(), 0, lines_of(data)
    for line, tail in lines:
        name, valid = name_of(line, kind, level, errors)
        invalid += not valid
        if valid or errors == "keep":
            counts[name] += 1
            if name not in before:
                first.setdefault(name, line + (tail or b"\n"))
    with TemporaryDirectory() as folder:
        source, exclude, target = (Path(folder) / name for name in ("source", "exclude", "target"))
        source.write_bytes(data)
        exclude.write_bytes(other)
        options = {"kind": kind, "level": level, "errors": errors, "threads": threads}
        report_options = {"exclude": [exclude], "report": report, "top": top, "merged": rules}
        done = dedup.dedup_files(source, target, **report_options, **options, **how)
        written = target.read_bytes()
        near = dedup.estimate_files(source, secret=how["secret"], **options)
    if report == "counts":
        names = list(first) if top is None else sorted(first, key=lambda name: -counts[name])[:top]
        want = b"".join(b"%d\t%s" % (counts[name], first[name]) for name in names)
    else:
        want = b"".join(line for name, line in first.items() if report == "unique" or counts[name] > 1)
    assert written == want
    assert (done.rows, done.unique, done.invalid) == (len(lines), len(first), invalid)
    assert done.duplicates == sum(counts.values()) - len(first)
    assert done.as_dict()["written"] == len(lines_of(want))
    assert abs(near - len(counts)) <= 1 + len(counts) // 10
    if rules:
        assert tuple(done.merged) == ladder and sum(done.merged.values()) == done.duplicates
    empty = dedup.DedupStats()
    assert empty.rows == empty.unique == 0 and empty.merged == {}


def of_records(draw):
    """dedup_files by a field of CSV: every report of any bytes."""
    kind, errors, header, how = draw.one(("urn", "bytes")), draw.one(ERRORS[:2]), draw.flag(), how_of(draw)
    report, threads, number = draw.one(("unique", "counts", "repeated")), draw.one((1, 2)), draw.number(3) + 1
    data = draw.octets()
    if format_of(data) or data.startswith(b"\xef\xbb\xbf"):
        return
    names = b"a,b,c\n" if header else b""
    records = [(record, values[number - 1 : number]) for record, values in csv_records(data)]
    want = Reference(records, None, kind, errors)
    with TemporaryDirectory() as folder:
        source, target = Path(folder) / "source", Path(folder) / "target"
        source.write_bytes(names + data)
        options = {"kind": kind, "errors": errors, "field": "abc"[number - 1] if header else number, "header": header}
        try:
            done = dedup.dedup_files(source, target, report=report, threads=threads, **options, **how)
        except NoValuesError:
            assert all(len(values) != 1 or values[0] is None for _, values in records) and records
            return
        written = target.read_bytes()
    assert written == (b"count," if names and report == "counts" else b"") + names + b"".join(want.output(report, b","))
    assert (done.rows, done.unique, done.invalid) == (want.rows, len(want.first), want.invalid)


def of_sets(draw):
    """SeenSet: what is in it, algebra, shards, files and damaged ones; and runs that continue one."""
    (kind, level), errors = draw.one(KINDS), draw.one(ERRORS[:2])
    memory, shards, at = draw.one((1, "64M")), 1 << draw.number(5), draw.number() << 8 | draw.number()
    rows, others = (part.split(b"\n") for part in draw.parts(2))
    options = {"kind": kind, "level": level, "errors": errors, "memory": memory}

    def known(rows):
        found = (name_of(row, kind, level, errors) for row in rows)
        return {name for name, valid in found if valid or errors == "keep"}

    mine, theirs = known(rows), known(others)
    asked = [name_of(row, kind, level, errors)[0] in mine for row in others]
    one = dedup.SeenSet.build(rows, secret="k", **options)
    two = dedup.SeenSet.build(others, secret=one.key, **options)
    assert one.contains(others) == asked and one.contains(
        b"".join(row + b"\n" for row in rows if b"\r" not in row)
    ) == [name_of(row, kind, level, errors)[0] in mine for row in rows if b"\r" not in row]
    for made, expected in (one | two, mine | theirs), (one & two, mine & theirs), (one - two, mine - theirs):
        assert len(made) == len(expected)
        assert made.contains(rows) == [name_of(row, kind, level, errors)[0] in expected for row in rows]
    assert dedup.SeenSet.merge(one.split(shards)) == one
    with TemporaryDirectory() as folder:
        path, lines, target = (Path(folder) / name for name in ("seen", "lines", "target"))
        one.save(path)
        damaged = bytearray(path.read_bytes())
        with dedup.Deduplicator.load(path, secret="k", memory=memory, errors=errors) as names:
            names.add(others)
            names.save(path)
            assert names.count == len(mine | theirs)
        with dedup.SeenSet.open(path, "k") as seen:
            assert seen == one | two
        one.save(path)
        lines.write_bytes(b"".join(row + b"\n" for row in others))
        if not format_of(lines.read_bytes()) and not lines.read_bytes().startswith(b"\xef\xbb\xbf"):
            dedup.dedup_files(lines, target, seen=path, update=True, secret="k", **options)
            rest = [line + tail for line, tail in lines_of(lines.read_bytes())]
            want, had = [], set(mine)
            for line in rest:
                name, valid = name_of(line.rstrip(b"\n").removesuffix(b"\r"), kind, level)
                if name not in had and (valid or errors == "keep"):
                    had.add(name)
                    want.append(line)
            assert target.read_bytes() == b"".join(want)
            with dedup.SeenSet.open(path, "k") as seen:
                assert len(seen) == len(had)
        at %= len(damaged)
        damaged[at] ^= 0x10
        path.write_bytes(damaged)
        try:
            with dedup.SeenSet.open(path, "k") as seen:
                seen.verify()
        except dedup.SetError as error:
            assert "seen: " in str(error)
        else:
            raise AssertionError(f"byte {at} may be anything")


OPERATIONS = (of_rows, piece_by_piece, of_files, of_records, of_sets)


def target(data):
    run(OPERATIONS, data)
