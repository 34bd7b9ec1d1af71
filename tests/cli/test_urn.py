"""The commands over URNs: options against a reference implementation, lines at every place of the buffer."""

import json
import re
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import urn as naive_urn
from support.command import HINT, output_of, run, without_reasons
from support.tables import each_row

from uricodec._io import runner
from uricodec._io.reports import visible
from uricodec.cli import lines
from uricodec.cli.extract import URN_BYTES

NORMALIZE = ["normalize", "--kind", "urn"]
CHECK = ["check", "--kind", "urn"]
EXTRACT = ["extract", "--kind", "urn"]

LINES = [
    b"urn:isbn:0-395-36341-1", b"URN:ISBN:0395363411", b"urn:ISBN:9780395363416",
    b"urn:uuid:F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6", b"urn:example:a%2fb%C3%a9", b"Urn:Example:a?+r?=q#f%2f",
    b"urn:example:a~b&c/", b"urn:x:Y", b"urn:nbn:DE:101-A", b"urn:example:%00", b"urn:example:100%",
    b"urn:example:a b", b"urn:example:caf\xc3\xa9\xff", b"urn:example:\x1b[2J\\", b"urn:example:", b"urn:example",
    b"urn", b"", b"\r", b"url:example:a",
]  # fmt: skip

TEXT = (
    st.lists(
        st.tuples(
            st.one_of(
                st.sampled_from(LINES),
                st.lists(st.sampled_from([*b"urn:UabA-09%2f/?+=#~&\x00 \xff"]), max_size=9).map(
                    lambda tail: b"urn:ab:" + bytes(tail)
                ),
            ),
            st.sampled_from([b"\n", b"\n", b"\r\n"]),
        ),
        max_size=20,
    )
    .map(lambda lines: b"".join(line + end for line, end in lines))
    .flatmap(lambda text: st.sampled_from([text, text.rstrip(b"\r\n")]))
)


def reference(data, level="8141", spec=None, errors="keep"):
    """The results of lines, in the output and among the invalid ones."""
    spec = spec or ("2141" if level == "2141" else "8141")
    output, invalid = b"", []
    for number, line in enumerate(re.findall(rb"[^\n]*\n|[^\n]+", data), 1):
        end = re.search(rb"(\r?\n)?\Z", line)[0]
        text = line[: len(line) - len(end)]
        fault = naive_urn.check(text, spec)
        if fault is None:
            output += naive_urn.normalize(text, level, spec) + end
        else:
            output += {"keep": line, "null": end or b"\n", "drop": b""}[errors]
            invalid.append((number, fault.offset, fault.code, text))
    return output, invalid


def report(invalid, name="<stdin>"):
    return "".join(f"{name}\t{number}\t{offset}\t{code}\t{visible(text)}\n" for number, offset, code, text in invalid)


# --- normalize --------------------------------------------------------------------------------------------------------


@each_row(
    ("options", "line", "expected"),
    [
        ([], b"URN:ISBN:0-395-36341-1%2f?+r?=q#f", b"urn:isbn:0-395-36341-1%2F"),
        (["--level", "8141"], b"URN:Example:a#f", b"urn:example:a"),
        (["--level", "bytes"], b"URN:Example:a%2f#f", b"URN:Example:a%2f#f"),
        (["--level", "2141"], b"URN:X:a%2f?#f%2f", b"urn:x:a%2F?#f%2F"),
        (["--level", "2141", "--rfc", "8141"], b"URN:Ex:a~#%2f", b"urn:ex:a~#%2F"),
        (["--level", "8141", "--rfc", "2141"], b"URN:X:a#f", b"urn:x:a#f"),
        (["--rfc", "any"], b"URN:X:a#f", b"urn:x:a#f"),
        (["--rfc", "any"], b"URN:Ex:a#f", b"urn:ex:a"),
        (["--level", "namespace"], b"urn:ISBN:0-395-36341-x", b"urn:isbn:039536341X"),
        (["--level", "namespace"], b"urn:isbn:0-395-36341-1", b"urn:isbn:0395363411"),
        (["--level", "functional"], b"urn:isbn:0-395-36341-1", b"urn:isbn:9780395363416"),
    ],
)
def test_normalize(options, line, expected):
    assert output_of(*NORMALIZE, *options, stdin=line + b"\n") == expected + b"\n"
    assert output_of(*NORMALIZE, *options, stdin=2 * (line + b"\r\n")) == 2 * (expected + b"\r\n")
    assert output_of(*NORMALIZE, *options, stdin=line) == expected


@each_row("level", naive_urn.LEVELS)
@each_row("spec", [None, "2141", "8141", "any"])
@each_row("errors", ["keep", "null", "drop"])
def test_normalize_agrees_with_the_reference(level, spec, errors, tmp_path):
    data = b"\n".join(LINES) + b"\r\n" + b"\r\n".join(LINES)
    options = ["--level", level, "--errors", errors] + (["--rfc", spec] if spec else [])
    output, invalid = reference(data, level, spec, errors)
    assert output_of(*NORMALIZE, *options, stdin=data) == output
    bad = tmp_path / "bad"
    assert output_of(*NORMALIZE, *options, "--invalid-to", bad, stdin=data) == output
    assert bad.read_text("utf-8") == report(invalid)


@pytest.mark.slow
@given(
    TEXT,
    st.integers(16, 64),
    st.sampled_from(naive_urn.LEVELS),
    st.sampled_from([None, "2141", "8141", "any"]),
    st.sampled_from(["keep", "null", "drop"]),
)
def test_chunks_do_not_show(data, chunk, level, spec, errors):
    options = ["--level", level, "--errors", errors] + (["--rfc", spec] if spec else [])
    assert output_of(*NORMALIZE, *options, stdin=data, chunk=chunk) == reference(data, level, spec, errors)[0]


@pytest.mark.slow
@given(TEXT, st.integers(16, 64), st.sampled_from(["2141", "8141", "any"]))
def test_check_agrees_with_the_reference(data, chunk, spec):
    _, invalid = reference(data, "8141", spec)
    for options in {}, {"chunk": chunk}:
        status, output, complaint = run(*CHECK, "--rfc", spec, stdin=data, **options)
        assert (status, without_reasons(output).decode(), complaint) == (1 if invalid else 0, report(invalid), "")


RULED = b"urn:isbn:0-395-36341-2\nurn:OID:1.40\nurn:swift:a\nurn:isbn\nurn:issn:0259-000X\n"


def test_check_by_rules():
    """--rules implies URNs; namespaces of valid lines are counted."""
    found = "<stdin>\t1\t21\tcheck-digit\turn:isbn:0-395-36341-2\n<stdin>\t2\t8\tform\turn:OID:1.40\n"
    found += "<stdin>\t4\t8\tnid\turn:isbn\n"
    status, output, said = run("check", "--rules", stdin=RULED)
    assert (status, without_reasons(output), said) == (1, found.encode(), "")
    status, output, counts = run("check", "--kind", "urn", "--rules", "--stats", stdin=RULED)
    assert (status, without_reasons(output)) == (1, found.encode())
    assert json.loads(counts) == {
        **{"lines": 5, "valid": 2, "invalid": 3, "faults": {"check-digit": 1, "form": 1, "nid": 1}},
        "namespaces": {"issn": 1, "swift": 1},
    }
    assert run("check", "--rules", stdin=b"urn:issn:0259-000X\n") == (0, b"", "")
    status, _, complaint = run("check", "--kind", "uri", "--rules", stdin=b"")
    assert status == 2 and "--rules" in complaint


@given(
    st.lists(st.sampled_from(["urn:ab:1", "URN:a", "urn", "urn:ab:%", "http://a/", "http://%", "a b", "urN:ab:c d"]))
)
def test_lines_are_urns_where_they_begin_so(lines):
    """Without --kind, each line is checked as what it begins like."""
    data = "".join(f"{line}\n" for line in lines).encode()
    status, output, said = run("check", stdin=data)
    found = {}
    for kind in "urn", "uri":
        rows = [row.split("\t", 2) for row in run("check", "--kind", kind, stdin=data)[1].decode().splitlines()]
        found[kind] = {int(number): rest for _, number, rest in rows}
    are_urns = {i: line[:4].lower() == "urn:" for i, line in enumerate(lines, 1)}
    wanted = {i: rest for i, is_urn in are_urns.items() if (rest := found["urn" if is_urn else "uri"].get(i))}
    assert output.decode() == "".join(f"<stdin>\t{i}\t{rest}\n" for i, rest in wanted.items())
    assert (status, said) == (1 if wanted else 0, "")


@pytest.mark.slow
@given(TEXT, st.integers(16, 64))
def test_a_fault_is_found_where_it_is(data, chunk):
    """And what was written is what comes before its line."""
    status, output, complaint = run(*NORMALIZE, "--errors", "raise", stdin=data, chunk=chunk)
    expected, invalid = reference(data)
    if not invalid:
        assert (status, output, complaint) == (0, expected, "")
        return
    number, offset = invalid[0][:2]
    before = b"".join(re.findall(rb"[^\n]*\n|[^\n]+", data)[: number - 1])
    assert (status, output) == (1, reference(before)[0])
    assert complaint.startswith(f"uricodec: <stdin>:{number}:{offset + 1} (byte {len(before) + offset}): ")
    assert complaint.endswith(HINT) and complaint.count("\n") == 3


def test_the_words_of_a_fault(tmp_path):
    path = tmp_path / "urns"
    path.write_bytes(b"urn:ex:a\r\nurn:ex:b\r\nurn:ex:10%\r\nx\r\n")
    assert run(*NORMALIZE, "--errors", "raise", path) == (
        1,
        b"urn:ex:a\r\nurn:ex:b\r\n",
        f'uricodec: {path}:3:10 (byte 29): "%" not followed by two hexadecimal digits\n' + HINT,
    )


@each_row(("errors", "expected"), [("keep", "{0}\nurn:ex:a\n{0}"), ("null", "\nurn:ex:a\n\n"), ("drop", "urn:ex:a\n")])
@each_row("length", [129, 200, 256, 1000])
def test_lines_that_are_too_long(tmp_path, errors, expected, length):
    """They stay whole, are counted once, and do not take their neighbours with them."""
    line = "urn:ex:" + "A" * (length - len("urn:ex:"))
    data = f"{line}\nURN:ex:a\n{line}".encode()
    bad = tmp_path / "bad"
    options = ["--errors", errors, "--invalid-to", bad, "--stats", "--max-line", "128"]
    status, output, complaint = run(*NORMALIZE, *options, stdin=data, chunk=32)
    assert (status, output.decode()) == (0, expected.format(line))
    reports = [line.split("\t") for line in bad.read_text().splitlines()]
    assert [(number, code) for _, number, _, code, _ in reports] == [("1", "too-long"), ("3", "too-long")]
    assert all(text == line[:100] + "..." for *_, text in reports)
    assert json.loads(complaint)["faults"] == {"too-long": 2}
    options = ["--errors", "raise", "--max-line", "128"]
    status, output, complaint = run(*NORMALIZE, *options, stdin=b"urn:ex:b\n" + data, chunk=32)
    assert (status, output) == (1, b"urn:ex:b\n")
    said = "uricodec: <stdin>:2:129 (byte 137): line is longer than 128 bytes\n"
    assert complaint == said + HINT[:-1] + "; --max-line SIZE allows longer ones\n"


@pytest.mark.parametrize("errors", ["keep", "null", "drop"])
def test_more_invalid_lines_than_are_fetched_at_once(tmp_path, monkeypatch, errors):
    data = b"".join(line + end for line in LINES for end in (b"\n", b"\r\n"))
    bad = tmp_path / "bad"
    expected, invalid = reference(data, errors=errors)
    for number in 1, 2, 3, len(invalid) - 1, len(invalid):
        monkeypatch.setattr(runner, "MOST_FAULTS", number)
        for jobs in "1", "2":
            options = ["--errors", errors, "--invalid-to", bad, "-j", jobs]
            assert output_of(*NORMALIZE, *options, stdin=data) == expected
            assert bad.read_text("utf-8") == report(invalid)
            assert without_reasons(run(*CHECK, "-j", jobs, stdin=data)[1]) == report(invalid).encode()


# --- where the invalid lines go ---------------------------------------------------------------------------------------


@given(st.binary(max_size=20))
def test_shown_lines_are_harmless_and_complete(octets):
    shown = visible(octets)
    assert shown.isprintable()
    back = re.sub(rb"\\(x..|\\)", lambda escape: bytes.fromhex(escape[1][1:].decode()) or b"\\", shown.encode())
    assert back == octets


@pytest.mark.parametrize(
    ("octets", "shown"),
    [
        (b"\x00\t\r\x1b\x7f", r"\x00\x09\x0d\x1b\x7f"),
        (b"\\x00", r"\\x00"),
        ("東\u202e\x85".encode(), r"東\xe2\x80\xae\xc2\x85"),
        (b"\xff\xe6\x9d", r"\xff\xe6\x9d"),
    ],
)
def test_bytes_that_cannot_be_shown_are_escaped(octets, shown):
    assert visible(octets) == shown


# --- --stats ----------------------------------------------------------------------------------------------------------


@each_row("level", naive_urn.LEVELS)
@each_row("errors", ["keep", "null", "drop"])
def test_stats_agree_with_the_reference(level, errors):
    data = b"".join(line + b"\n" for line in 3 * LINES)
    options = ["--level", level, "--rfc", "any", "--errors", errors]
    status, output, said = run(*NORMALIZE, *options, "--stats", stdin=data, chunk=64)
    assert (status, output) == (0, reference(data, level, "any", errors)[0])
    counts = json.loads(said)
    assert said.count("\n") == 1
    assert counts == {
        "lines": 60,
        "valid": 30,
        "invalid": 30,
        "faults": {"scheme": 12, "nss": 9, "nid": 3, "nss-empty": 3, "percent": 3},
        "namespaces": {"example": 12, "isbn": 9, "nbn": 3, "uuid": 3, "x": 3},
    }
    assert [*counts["faults"], *counts["namespaces"]][:2] == ["scheme", "nss"]
    assert json.loads(run(*CHECK, "--rfc", "any", "--stats", stdin=data)[2]) == counts


def test_stats_of_lines_that_end_with_nul():
    said = run(*NORMALIZE, "-z", "--stats", stdin=b"urn:isbn:1\0urn:ietf:2\0urn:isbn:3\0")[2]
    assert json.loads(said)["namespaces"] == {"isbn": 2, "ietf": 1}


def test_stats_forget_rare_namespaces(monkeypatch):
    monkeypatch.setattr(lines, "GROUPS", 3)
    data = b"urn:isbn:1\n" * 100 + b"".join(b"urn:a%d:x\n" % i for i in range(100))
    counts = json.loads(run(*CHECK, "--stats", stdin=data, chunk=16)[2])
    assert counts["valid"] == 200 == sum(counts["namespaces"].values()) + counts["other namespaces"]
    assert len(counts["namespaces"]) <= 6
    assert counts["namespaces"]["isbn"] == 100


def test_stats_without_standard_error():
    done = subprocess.run(
        ["sh", "-c", 'printf "urn:ex:a\n" | "$0" -m uricodec normalize --kind urn --stats 2>&-', sys.executable],
        capture_output=True,
        check=True,
    )
    assert done.stdout == b"urn:ex:a\n"


# --- extract ----------------------------------------------------------------------------------------------------------

URN = re.compile(f"(?<![0-9A-Za-z]){naive_urn.RFC2141}")


def urns(data):
    return [(found.start(), found[0].encode()) for found in URN.finditer(data.decode("latin-1"))]


def test_extract():
    data = b'<a href="urn:isbn:0451450523">x</a> (see urn:ietf:rfc:2141). turn:a:b URN:x:%C3%A9%zz urn:ab:~\0'
    assert output_of(*EXTRACT, stdin=data) == b"urn:isbn:0451450523\nurn:ietf:rfc:2141).\nURN:x:%C3%A9\n"
    assert output_of(*EXTRACT, "--offsets", stdin=data) == (
        b"9\turn:isbn:0451450523\n41\turn:ietf:rfc:2141).\n70\tURN:x:%C3%A9\n"
    )


@given(
    st.lists(
        st.sampled_from(
            [
                *b"urn:ab: urn: u rn:x:y % 4 1 %41 %00 ~ & \xff \n - : '/?#".split(b" "),
                *[b"URN:" + b"n" * 32 + b":", b"x" * 9, b"x" * 50, b" "],
            ]
        ),
        max_size=40,
    ).map(b"".join),
    st.integers(12, 40),
)
def test_extract_across_the_borders_of_chunks(data, chunk):
    expected = urns(data)
    assert output_of(*EXTRACT, stdin=data, chunk=chunk) == b"".join(name + b"\n" for _, name in expected)
    assert output_of(*EXTRACT, "--offsets", "-j", "2", stdin=data, chunk=chunk) == b"".join(
        b"%d\t%s\n" % found for found in expected
    )


@pytest.mark.slow
@each_row("before", [b"", b" ", b"-", b"x", b"%", b"%4", b"urn:ab:c~", b"urn:ab:%00"])
@each_row("name", [b"urn:isbn:0395363411", b"urn:" + b"n" * 32 + b":%c3", b"urn:x:" + b"%C3%A9" * 99])
@each_row("behind", [b"", b"%", b"%4", b"%00", b"%zzurn:b:c", b"~urn:b:c", b" "])
def test_extract_at_every_place(before, name, behind):
    """Also of a buffer without any octet that ends a URN."""
    for shift in range(48, 73, 5):  # two chunks
        data = b"x" * shift + before + name + behind
        assert output_of(*EXTRACT, "--offsets", stdin=data, chunk=12) == b"".join(
            b"%d\t%s\n" % found for found in urns(data)
        )


def test_extract_from_several_inputs(tmp_path):
    a, b = tmp_path / "a", tmp_path / "b"
    a.write_bytes(b"urn:x:1")
    b.write_bytes(b"urn:x:2 ")
    assert output_of(*EXTRACT, a, b) == b"urn:x:1\nurn:x:2\n"
    assert output_of(*EXTRACT, "--offsets", a, b) == f"{a}\t0\turn:x:1\n{b}\t0\turn:x:2\n".encode()


def test_the_bytes_of_urns():
    terminators = {octet for octet in range(256) if urns(b"urn:x:a%c" % octet) == [(0, b"urn:x:a")]}
    assert terminators - set(URN_BYTES) == terminators - set(b"&~%")
    assert not set(URN_BYTES) & (terminators - set(b"&~%"))
