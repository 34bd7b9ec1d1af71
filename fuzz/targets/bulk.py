"""Columns: `uricodec.bulk` on lists, lines and files against a loop over single values (support/row_by_row.py)."""

import io

from common import is_refusal, lines_of, outcome, run, text_of
from reference import fingerprint as naive_fingerprint
from support import row_by_row as naive

from uricodec import bulk, uri, urn
from uricodec.bulk import _operations
from uricodec.errors import UriError

DICTIONARIES = "percent uri urn"
COVERS = {"uricodec.bulk": [*_operations.OPERATIONS, "InvalidRows"]}

URI_LEVELS = _operations.OPERATIONS["normalize_uri"].parameters[0].choices
URN_LEVELS = _operations.OPERATIONS["normalize_urn"].parameters[0].choices
CALLS = naive.CALLS
OF_LINES = [call for call in CALLS if call[0] in {"quote", "requote", "normalize_urn", "normalize_uri"}]
NONE = b"\x1a"  # a row that is none
KEY = "of the fuzzer"


def has_answers(name):
    """Return whether the results state validity: then invalid rows are ordinary rows."""
    return _operations.OPERATIONS[name].result in {"verdict", "diagnostic"}


def rows_of(octets, as_text):
    return [None if row == NONE else text_of(row) if as_text else row for row in octets.split(b"\n")]


def of_lists(draw):
    """Each operation, with each policy."""
    (name, how), as_text = draw.one(CALLS), draw.flag()
    errors, limit = draw.one(["raise", *naive.policies(name)]), draw.one((100, 0, 1))
    if has_answers(name) or (errors == "replace" and not as_text):
        errors = "keep"
    rows = rows_of(draw.octets(), as_text)
    # urllib.parse has other errors for these, or none; single values report a surrogate before a missing scheme.
    if name in {"quote", "unquote", "requote", "percent_decode", "relativize"}:
        rows = [row for row in rows if not isinstance(row, str) or not has_surrogate(row)]
    faults = bulk.InvalidRows(limit)
    if errors == "raise":
        made = outcome(getattr(bulk, name), rows, errors=errors, **how)
        try:
            want, _ = naive.column(name, rows, errors, **how)
            assert made == want
        except UriError:
            assert is_refusal(made)
        return
    made = getattr(bulk, name)(rows, errors=errors, invalid=faults, **how)
    want, rejected = naive.column(name, rows, errors, **how)
    assert made == want, (name, how, errors)
    if has_answers(name):
        rejected = []
        faults.count = 0
        faults.rows.clear()
    assert faults.count == len(rejected)
    assert [(number, place) for number, _, place in faults.rows] == rejected[:limit]


def has_surrogate(text):
    return any("\ud800" <= character <= "\udfff" for character in text)


def like(row, text):
    return text if isinstance(row, str) else text.encode()


SEVERAL = {
    "resolve": (lambda ref, base: uri.resolve(base, ref), ["base"]),
    "relativize": (lambda target, base: uri.relativize(base, target), ["base"]),
    "relation": (lambda a, b: like(a, uri.relation(a, b)), ["other"]),
    "unsplit": (
        lambda path, *others: uri.unsplit((*others[:2], path, *others[2:])),
        ["scheme", "authority", "query", "fragment"],
    ),
}


def of_columns(draw):
    """Operations with several columns, each a list, against calls of single values."""
    name, as_text = draw.one(list(SEVERAL)), draw.flag()
    function, names = SEVERAL[name]
    column, *others = (rows_of(draw.octets(), as_text) for _ in range(1 + len(names)))
    count = min(map(len, (column, *others)))
    rows = list(zip(column[:count], *(other[:count] for other in others), strict=True))
    want, rejected = [], []
    for number, row in enumerate(rows):
        if row[0] is None or (None in row and name != "unsplit"):
            want.append(None)
            continue
        try:
            want.append(function(*row))
        except UriError:
            want.append(row[0])
            rejected.append(number)
    invalid = bulk.InvalidRows()
    given = {key: other[:count] for key, other in zip(names, others, strict=True)}
    assert getattr(bulk, name)(column[:count], **given, invalid=invalid) == want
    assert invalid.count == len(rejected) and [row for row, _, _ in invalid.rows] == rejected[:100]


def of_lines(draw):
    """Lines in a buffer and in a file, with each end."""
    (name, how), errors = draw.one(OF_LINES), draw.one(("keep", "null"))
    end, threads = draw.one((b"\n", b"\0", b"\t")), draw.one((None, 1, 2))
    source = draw.octets()
    lines = lines_of(source, end)
    want, rejected = naive.lines(name, [line for line, _ in lines], errors, **how)
    want = joined(want, lines, end)
    faults, of_file = bulk.InvalidRows(), bulk.InvalidRows()
    function = getattr(bulk, name)
    assert function(source, errors=errors, invalid=faults, line_terminator=end, threads=threads, **how) == want
    assert faults.count == len(rejected) and [(row, place) for row, _, place in faults.rows] == rejected[:100]
    output = io.BytesIO()
    how = {"output": output, "errors": errors, "invalid": of_file, "line_terminator": end, "threads": 1, **how}
    assert function(io.BytesIO(source), **how) == len(lines)
    assert output.getvalue() == want and of_file.rows == faults.rows


def decoded_lines(draw):
    """Decoded lines: their number does not change, and no control character is added."""
    plus, errors, name = draw.flag(), draw.one(("replace", "keep", "null")), draw.one(("unquote", "percent_decode"))
    decode = getattr(bulk, name)
    source = draw.octets()
    done = decode(source, plus=plus, errors=errors)
    lines = lines_of(source)
    assert len(lines_of(done)) == len(lines)
    want, _ = naive.lines(name, [line for line, _ in lines], errors, plus=plus)
    assert done == joined(want, lines, b"\n")
    before, after = controls(source), controls(done)
    assert after == before if errors != "null" else len(after) <= len(before) + 1  # the end of an empty last line
    output = io.BytesIO()
    assert decode(io.BytesIO(source), plus=plus, errors=errors, output=output) == len(lines)
    assert output.getvalue() == done


def joined(rows, lines, end):
    """Return the rows with their line terminators. An empty last row has one, too."""
    done = b"".join((row or b"") + tail for row, (_, tail) in zip(rows, lines, strict=True))
    return done if not rows or rows[-1] or lines[-1][1] else done + end


def controls(octets):
    return [octet for octet in octets if octet < 0x20 or octet == 0x7F]


def fingerprints(draw):
    """fingerprint against the definition in docs/developing/fingerprint.md, computed with Python integers."""
    kind, as_text = draw.one(("bytes", "urn", "uri", "iri")), draw.flag()
    keep, level = draw.flag(), draw.number(8)
    level = {"urn": URN_LEVELS[level % len(URN_LEVELS)], "uri": URI_LEVELS[level], "iri": None, "bytes": None}[kind]
    rows = [row for row in rows_of(draw.octets(), as_text) if not isinstance(row, str) or not has_surrogate(row)]
    secret = naive_fingerprint.derived(KEY)
    want = []
    for row in rows:
        try:
            name = row if row is None or kind == "bytes" else normal(row, kind, level)
        except UriError:
            name = row if keep else None
        name = name.encode() if isinstance(name, str) else name
        want.append(None if name is None else naive_fingerprint.fingerprint(secret, name))
    assert bulk.fingerprint(rows, kind, level, KEY, errors="keep" if keep else "null") == want


def normal(row, kind, level):
    return urn.normalize(row, level) if kind == "urn" else uri.normalize(row, level or "iri")


OPERATIONS = (of_lists, of_lines, decoded_lines, fingerprints, of_columns)


def target(data):
    run(OPERATIONS, data)
