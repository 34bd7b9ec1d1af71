"""Values in records on the command line: each format against a naive model; records and fields stay what they are."""

import csv
import io
import itertools
import json
import os
import re
import subprocess
import sys
import urllib.parse

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference.codec import ill_formed
from support.command import HINT, output_of, process, run, without_reasons
from support.marks import long

import uricodec
from uricodec import ByteSet, uri, urn
from uricodec._codec._rows import DecodeRows, EncodeRows, RequoteRows
from uricodec._io import magic
from uricodec._io.reading import Input
from uricodec._io.reports import visible
from uricodec._records._fields import transform_fields
from uricodec._records._framing import Framing
from uricodec._records.headers import spans_of
from uricodec._rows._engine import RowOperation
from uricodec.cli import main
from uricodec.uri._rows import SplitRows

PIECES = [
    b"%",
    b"%4",
    b"%0A",
    b"%0d",
    b"%00",
    b"%09",
    b"%2C",
    b"%22",
    b"%5C",
    b"%C3%A9",
    b"%C3",
    b"%C2%85",
    b"%41",
    b"+",
]
PIECES += [
    b"%E2%80%A8",
    b"%7F",
    b"%F0%9F%8D%B5",
    b"%25",
    b"%2",
    b"0A",
    "é".encode(),
    b"\xff",
    b"a",
    b"%20",
    b"%zz",
    b" ",
]
OCTETS = st.lists(st.one_of(st.binary(max_size=3), st.sampled_from(PIECES)), max_size=8).map(b"".join)


def without(octets, *others):
    for other in others:
        octets = octets.replace(other, b"")
    return octets


def decode(octets, free, plus=False):
    """A naive decoder: what is not UTF-8 stays, and so do triplets of octets that are not free, and of U+0080-009F."""
    units = re.findall(rb"%[0-9A-Fa-f]{2}|.", octets, re.DOTALL)
    values = [(bytes([int(unit[1:], 16)]) if len(unit) == 3 else unit) for unit in units]
    result, i = b"", 0
    while i < len(units):
        for size in range(4, 0, -1):
            raw, character = b"".join(units[i : i + size]), b"".join(values[i : i + size])
            try:
                if len(character.decode()) == 1 and len(values[i : i + size]) == size:
                    break
            except UnicodeDecodeError:
                pass
        else:
            size, raw, character = 1, units[i], units[i]
        stays = (
            any(octet not in free for octet in character)
            or (0x1B not in free and "\x80" <= character.decode() < "\xa0")
            if raw != character
            else True
        )
        if plus and raw == b"+" and 0x20 in free:
            raw = b" "
        result += raw if stays else character
        i += size
    return result


NO_CONTROL = ~ByteSet([*range(32), 127])
EVERY = ByteSet(range(256))


# --- delimited fields -----------------------------------------------------------------------------------------------


def is_selected(number, fields):
    """By the letter of cut(1)."""
    for part in fields.split(","):
        first, dash, last = part.partition("-")
        if int(first or 1) <= number <= (int(last or 1_000) if dash else int(first)):
            return True
    return False


def model_of_fields(data, delimiter, fields, function, end=b"\n"):
    lines = data.split(end)
    for i, line in enumerate(lines):
        tail = b"\r" if end == b"\n" and i + 1 < len(lines) and line.endswith(b"\r") else b""
        parts = line.removesuffix(tail).split(delimiter) if tail else line.split(delimiter)
        parts = [function(part) if is_selected(n, fields) else part for n, part in enumerate(parts, 1)]
        lines[i] = delimiter.join(parts) + tail
    return end.join(lines)


LISTS = ["1", "2", "1,3", "-2", "2-", "1-", "3-4,1", "2-3,3-5"]
LINES = st.lists(OCTETS, max_size=12)


@pytest.mark.slow
@given(
    LINES, st.sampled_from([b"\t", b" ", b",", b"\xa9", b"4", b"A", b"%", b"+"]), st.sampled_from(LISTS), st.booleans()
)
def test_fields_are_decoded_as_the_model_does(parts, delimiter, fields, plus):
    data = plain(b"".join(part + (delimiter, b"\n", b"\r\n")[len(part) % 3] for part in parts))
    arguments = [
        "decode",
        "-d",
        delimiter.decode("utf-8", "surrogateescape"),
        "-f",
        fields,
        *(["--plus"] if plus else []),
    ]
    output = output_in_doubt(*arguments, stdin=data, chunk=64)
    free = NO_CONTROL - delimiter
    assert output == model_of_fields(data, delimiter, fields, lambda part: decode(part, free, plus))
    assert [line.count(delimiter) for line in output.split(b"\n")] == [
        line.count(delimiter) for line in data.split(b"\n")
    ]


@pytest.mark.slow
@given(LINES, st.sampled_from(LISTS))
def test_nul_ends_lines(parts, fields):
    data = plain(b"".join(without(part, b"\0") + (b"\t", b"\0")[len(part) % 2] for part in parts))
    free = EVERY - "\0"
    output = output_in_doubt("decode", "-z", stdin=data)
    assert output == b"\0".join(decode(line, free) for line in data.split(b"\0"))
    output = output_in_doubt("decode", "-z", "-f", fields, stdin=data)
    assert output == model_of_fields(data, b"\t", fields, lambda part: decode(part, free - "\t"), b"\0")
    output = output_in_doubt("encode", "-z", stdin=data)
    assert output == b"\0".join(urllib.parse.quote_from_bytes(line).encode() for line in data.split(b"\0"))


def plain(data):
    """Not what the command takes for compressed."""
    return b"" if magic.format_of(data) else data


COMMANDS = {
    "decode": (["decode"], lambda part: decode(part, NO_CONTROL - "\t")),
    "encode": (["encode"], lambda part: urllib.parse.quote_from_bytes(part).encode()),
    "requote": (["requote"], uricodec.requote),
    "normalize": (["normalize", "--kind", "uri"], lambda part: part if ill_formed(part) else uri.normalize(part)),
    "normalize urn": (["normalize", "--kind", "urn"], lambda part: urn.normalize(part) if urn.is_valid(part) else part),
    "redact": (["redact"], uri.redact_text),
    "redact urls": (["redact", "--urls"], uri.redact),
    "query": (
        ["query", "--set", "page=2", "--drop", "a*"],
        lambda part: part if ill_formed(part) else uri.with_query(part, "page=2", drop="a*"),
    ),
    "resolve": (
        ["resolve", "--base", "http://a/b"],
        lambda part: part if ill_formed(part) else uri.resolve(b"http://a/b", part),
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
@given(
    parts=st.lists(
        st.one_of(OCTETS, st.sampled_from([b"HTTP://A/./%7e", b"../x", b"URN:a1:b%2f", b"x:", b""])), max_size=9
    )
)
def test_commands_over_fields(name, parts):
    parts = [without(part, b"\r", b"\n", b"\t") for part in parts]
    data = plain(b"".join(part + (b"\t", b"\n")[i % 3 > 1] for i, part in enumerate(parts)))
    command, function = COMMANDS[name]
    assert output_of(*command, "-f", "2", stdin=data, chunk=64) == model_of_fields(data, b"\t", "2", function)


def test_a_result_never_breaks_the_frame():
    """Whatever an operation would write: a delimiter of which there is no other spelling rejects the field."""
    assert run("resolve", "--base", "http://a/b", "-d", "/", "-f", "1", stdin=b"c/d\n") == (0, b"c/d\n", "")
    status, output, said = run("encode", "-d", "2", "-f", "1", "--errors", "raise", stdin=b"a 2b\n")
    assert (status, output) == (1, b"")
    assert said == "uricodec: <stdin>:1:1 (byte 0): the result would contain the delimiter\n" + HINT
    assert output_of("normalize", "--kind", "uri", "-d", "a", "-f", "1-", stdin=b"x:%61a%41\n") == b"x:%61aA\n"
    assert output_of("decode", "--plus", "-d", " ", "-f", "1-", stdin=b"a+b%20c %2B\n") == b"a+b%20c +\n"
    assert output_of("decode", "--raw", "-d", " ", "-f", "1", stdin=b"a%20%0Ab%20 %20\n") == b"a \nb  %20\n"


def test_ill_formed_utf8_is_replaced_as_python_does():
    for value in b"\xe2\x82", b"\xf0\x9f\x92a", b"\xf0\x9f\xff", b"\xe2\x28\xa1", b"\xed\xa0\x80", b"\x80\xc3":
        text = value.decode("utf-8", "replace")
        output = output_of("encode", "-f", "2", "--errors", "replace", stdin=b"a\t" + value + b"\n")
        assert output.decode() == f"a\t{urllib.parse.quote(text, safe='-._~/')}\n"


def test_lists_of_fields():
    assert output_of("decode", "-f", "2-3,1", "-f", "5", stdin=b"\t".join([b"%41"] * 6)) == b"A\tA\tA\t%41\tA\t%41"
    assert spans_of(["2,1,9-,3-5,4"], None) == [(1, 5), (9, None)]
    assert spans_of(["b,a,b", "3"], [b"a", b"b", b"1", b"b"]) == [(1, 4)]


@pytest.mark.parametrize("n", [1000, 4000, 16_000])
def test_many_names(n):
    """In a moment: an index of the header finds each. So does a name that all fields have, given as often."""
    names = [f"n{i}" for i in range(n)]
    assert spans_of([",".join(names)], list(map(str.encode, names))) == [(1, n)]
    assert spans_of(["a,b"] * n, [b"b", *[b"a"] * n]) == [(1, n + 1)]


# --- CSV ------------------------------------------------------------------------------------------------------------

VALUES = st.lists(
    st.lists(OCTETS.map(lambda part: without(part, b"\0", b"\r").decode("latin-1")), min_size=1, max_size=4), max_size=5
)


def read_csv(data, delimiter=","):
    return list(csv.reader(io.StringIO(data.decode("latin-1"), newline=""), delimiter=delimiter))


def write_csv(rows, quoting=csv.QUOTE_MINIMAL, delimiter=",", end="\r\n"):
    file = io.StringIO(newline="")
    csv.writer(file, quoting=quoting, delimiter=delimiter, lineterminator=end).writerows(rows)
    return file.getvalue().encode("latin-1")


@pytest.mark.slow
@given(
    VALUES,
    st.sampled_from(LISTS),
    st.sampled_from([",", ";", "\t", "|"]),
    st.sampled_from([0, 1]),
    st.sampled_from(["\n", "\r\n"]),
)
def test_csv_is_decoded_as_the_model_does(rows, fields, delimiter, quoting, end):
    data = write_csv(rows, quoting, delimiter, end)
    if plain(data) != data:
        return
    output = output_in_doubt("decode", "--csv", "-d", delimiter, "-f", fields, stdin=data, chunk=64)
    expected = [
        [
            decode(value.encode("latin-1"), NO_CONTROL).decode("latin-1") if is_selected(n, fields) else value
            for n, value in enumerate(row, 1)
        ]
        for row in rows
    ]
    assert read_csv(output, delimiter) == expected
    raw = output_in_doubt("decode", "--csv", "--raw", "-d", delimiter, "-f", fields, stdin=data, chunk=64)
    assert [len(row) for row in read_csv(raw.replace(b"\0", b"x"), delimiter)] == [len(row) for row in rows]


@pytest.mark.slow
@given(
    st.lists(
        st.one_of(OCTETS, st.sampled_from([b'"', b'""', b",", b"\n", b"\r\n", b'"a"', b'","', b'"\n"'])), max_size=20
    ).map(b"".join)
)
def test_any_csv_keeps_its_records(data):
    """Also what is no CSV: what Python's reader makes of it has as many records and fields, and all others stay."""
    data = plain(re.sub(rb"\r(?!\n)", b"", without(data, b"\0")))
    output = output_in_doubt("decode", "--csv", "-f", "2", stdin=data, chunk=256)
    before, after = read_csv(data), read_csv(output)
    assert [len(row) for row in after] == [len(row) for row in before]
    assert [row[:1] + row[2:] for row in after] == [row[:1] + row[2:] for row in before]


@pytest.mark.slow
@given(VALUES)
def test_csv_is_copied_byte_for_byte_where_nothing_changes(rows):
    data = plain(write_csv(rows).replace(b"%", b"_"))
    assert output_of("decode", "--csv", stdin=data, chunk=64) == data


def test_csv_fields_are_quoted_when_they_need_it():
    data = b'%2C,"a",%22\r\n"x ""y""\n%41",%20,\n%0A,"%41","b%zz'
    assert output_in_doubt("decode", "--csv", stdin=data) == b'",","a",""""\r\n"x ""y""\nA", ,\n%0A,"A","b%zz'
    assert output_in_doubt("decode", "--csv", "--raw", stdin=b"%0A%0D,x\n") == b'"\n\r",x\n'
    assert output_in_doubt("decode", "--csv", "--errors", "null", stdin=b"%zz\na,%zz,b\n") == b'""\na,,b\n'
    assert output_in_doubt("decode", "--csv", "--errors", "drop", stdin=b'"%zz\n",a\nb,"c') == b""


def test_csv_with_a_header(tmp_path):
    one, two = tmp_path / "one.csv", tmp_path / "two.csv"
    one.write_bytes(b'\xef\xbb\xbfid,"the ""url"""\r\n%41,%41\r\n')
    two.write_bytes(b'\xef\xbb\xbfid,"the ""url"""\r\n%42,%42')
    expected = b'\xef\xbb\xbfid,"the ""url"""\r\n%41,A\r\n%42,B'
    assert output_of("decode", "--csv", "--header", "-f", 'the "url"', one, two) == expected
    assert output_of("decode", "--csv", "--header", "-f", "id,2", one) == one.read_bytes().replace(b"%41", b"A")
    assert output_of("decode", "--header", "-f", "b", stdin=b"a\tb\n%41\t%41\n") == b"a\tb\n%41\tA\n"
    two.write_bytes(b"id,x\n")
    status, _, said = run("decode", "--csv", "--header", one, two)
    assert (status, said) == (3, f"uricodec: {two}: header differs from that of the first input\n")
    status, _, said = run("decode", "--csv", "--header", "-f", "nothing", one)
    assert status == 2 and said.endswith(
        f"--field: {one}: the header has no field 'nothing'; its fields are 'id', 'the \"url\"'\n"
    )


# --- JSON -----------------------------------------------------------------------------------------------------------

TEXTS = st.one_of(st.text(max_size=6), OCTETS.map(lambda part: part.decode("latin-1"))).filter(
    lambda text: not any("\ud800" <= c <= "\udfff" for c in text)
)
JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), TEXTS),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(["url", "a", '"', "\\"]), inner, max_size=3)
    ),
    max_leaves=6,
)


class Members:
    """What --json-field does with objects, by its documentation."""

    def __init__(self, paths, plus):
        self.paths, self.plus, self.missing = paths, plus, set(paths)

    def of_object(self, value, paths):
        """`paths`: what is left of each, by the whole of it."""
        decoded = {}
        for name, member in value.items():
            here = {path for path, rest in paths.items() if rest == name}
            inner = {path: rest[len(name) + 1 :] for path, rest in paths.items() if rest.startswith(name + ".")}
            self.missing -= here if not isinstance(member, dict) else set()
            if isinstance(member, list) and (here or inner):
                for each in member:
                    self.missing -= here if not isinstance(each, dict) else set()
                decoded[name] = [self.of_value(each, here, inner) for each in member]
            else:
                decoded[name] = self.of_value(member, here, inner)
        return decoded

    def of_value(self, value, here, inner):
        if isinstance(value, str) and here:
            return decode(value.encode(), EVERY, self.plus).decode()
        return self.of_object(value, inner) if isinstance(value, dict) and inner else value


@pytest.mark.slow
@given(
    st.lists(st.dictionaries(st.sampled_from(["url", "a", "", "ü", '"}', "url.a"]), JSON, max_size=4), max_size=4),
    st.lists(st.sampled_from(["url", "a", "url.a", "url.url.a", "", "ü", "a.", "url.a.url"]), min_size=1, max_size=3),
    st.booleans(),
    st.sampled_from([None, (",", ":")]),
    st.booleans(),
)
def test_json_members_are_decoded_as_the_model_does(objects, paths, ascii_only, separators, plus):
    data = "".join(json.dumps(each, ensure_ascii=ascii_only, separators=separators) + "\n" for each in objects).encode()
    options = [option for path in paths for option in ("--json-field", path)] + ["--plus"] * plus
    status, output, said = run("decode", *options, stdin=data, chunk=256)
    model = Members(paths, plus)
    assert [json.loads(line) for line in output.splitlines()] == [
        model.of_object(each, {path: path for path in paths}) for each in objects
    ]
    assert output.count(b"\n") == len(objects)
    missing = [path for path in paths if path in model.missing] if objects else []
    assert status == (1 if missing else 0)
    names = ", ".join(missing).encode()
    reason = f"no record contains a string at {visible(names)!r}\n\nhint: a nested member is written a.b"
    assert said == (f"uricodec: --json-field: {reason}\n" if missing else "")


def test_json_members_at_most():
    for depth in 16, 17:
        path, inner = ".".join("a" * depth), '["%41"]'
        for _ in range(depth):
            inner = f'[{{"a":{inner}}}]'
        status, output, said = run("decode", "--json-field", path, stdin=inner[1:-1].encode())
        assert (status, output) == ((0, inner[1:-1].replace("%41", "A").encode()) if depth == 16 else (2, b""))
    for count in 32, 33:
        options = [option for n in range(count) for option in ("--json-field", f"n{n}")]
        status, output, said = run("decode", *options, stdin=b'{"n31":"%41"}')
        assert (status, output) == ((1, b'{"n31":"A"}') if count == 32 else (2, b""))
    assert said.endswith(
        "expected at most 32 member names of at most 16 steps each\n\nhint: a nested member is written a.b\n"
    )


def test_a_member_that_is_nowhere_replaces_no_output(tmp_path):
    path = tmp_path / "out"
    path.write_bytes(b"old")
    (tmp_path / "in").write_bytes(b'{"a":"%41"}\n')
    assert run("decode", "--json-field", "b", tmp_path / "in", "-o", path)[:2] == (1, b"")
    assert path.read_bytes() == b"old"
    assert run("decode", "--json-field", "b", stdin=b"\n\n") == (0, b"\n\n", "")
    assert run("check", "--kind", "uri", "--json-field", "b", stdin=b'{"a":"%41"}\n')[0] == 1


@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.parametrize("options", [["-d", " ", "-f", "2,4"], ["--csv", "-f", "2,4"], ["--json-field", "b"]])
def test_plus_is_for_selected_fields(options, jobs):
    """Whatever stands elsewhere, malformed or not, stays."""
    values = [b"a+%41", b"%zz+b", b"+", b"%2B", b"+0000]", b"%E9+"]
    lines = []
    for n in range(3000):
        fields = [values[(n * k + k) % len(values)] for k in range(1, 6)]
        if "--json-field" in options:
            lines.append(b'{"a+":"%b","b":"%b","c":["%b"],"+":{"b":"%b+"}}' % tuple(fields[:4]))
        else:
            lines.append((b"," if "--csv" in options else b" ").join(fields))
    data = b"\n".join(lines)
    output = output_of("decode", "--plus", *options, "-j", jobs, stdin=data, chunk=1000)
    for line, after in zip(lines, output.split(b"\n"), strict=True):
        if "--json-field" in options:
            before = json.loads(line)
            assert {**json.loads(after), "b": before["b"]} == before
            assert json.loads(after)["b"].encode() == decode(before["b"].encode(), EVERY, True)
        else:
            delimiter = b"," if "--csv" in options else b" "
            pairs = zip(line.split(delimiter), after.split(delimiter), strict=False)
            assert [a == b for a, b in pairs][::2] == [True] * 3


@pytest.mark.slow
@given(
    st.lists(
        st.one_of(
            OCTETS, st.sampled_from([b'{"url":"', b'"}', b'"', b"{", b"}", b"[", b"\\", b",", b":", b"\\u00", b"\n"])
        ),
        max_size=20,
    ).map(b"".join)
)
def test_any_lines_keep_their_number(data):
    data = plain(data)
    for options in [], ["--errors", "null"]:
        _, output, _ = run("decode", "--json-field", "url", *options, stdin=data, chunk=64)
        assert output.count(b"\n") == data.count(b"\n")
    status, output, said = run("decode", "--json-field", "other", stdin=data)
    missing = any(line.strip(b" \t\r") for line in data.split(b"\n"))
    assert output == data and (status, said.count("\n")) == (missing, 3 * missing)


@pytest.mark.parametrize(
    "character", ["\U00010000", "\U000103ff", "\U0001dc00", "\U0001f9ff", "\U0010fc00", "\U0010ffff"]
)
def test_json_escapes_of_surrogate_pairs(character):
    line = json.dumps({"url": character + "%41"}).encode()
    want = json.dumps({"url": character + "A"}, ensure_ascii=False, separators=(",", ": ")).encode()
    assert output_of("decode", "--json-field", "url", stdin=line) == want


def test_json_is_copied_byte_for_byte():
    line = b' { "url" :"\\u0041\\/%zz", "n":1.0e5,"x" : {"url":"%41"} ,"\\u0075rl":"%41", "url": null } \r\n'
    assert output_of("decode", "--json-field", "url", stdin=line) == line.replace(b'rl":"%41", ', b'rl":"A", ')
    assert output_of("decode", "--json-field", "url", stdin=b'\n{}\n{"url":"%0A%22%5C%E2%80%A8%00"}') == (
        b'\n{}\n{"url":"\\n\\"\\\\\\u2028\\u0000"}'
    )


@pytest.mark.parametrize(
    ("line", "code", "offset"),
    [
        (b"[1]", "json", 0),
        (b'{"url":"%41"', "json", 12),
        (b'{"url":"%41"} x', "json", 12),
        (b'{"url":"%41",}', "json", 12),
        (b'{"url":"%41", url}', "json", 12),
        (b"{url}", "json", 1),
        (b'{"url":"a\\x"}', "json", 9),
        (b'{"url":"%41\\ud83d%42"}', "surrogate", 11),
        (b'{"url":"\\ud83d\\udf75%zz"}', "percent", 20),
        (b'{"url":"\\u00e9\\"%zz"}', "percent", 16),
    ],
)
def test_json_faults(tmp_path, line, code, offset):
    bad = tmp_path / "bad"
    options = ["decode", "--json-field", "url", "--invalid-to", bad, "--errors"]
    assert output_of(*options, "keep", stdin=line + b'\n{"url":""}').count(b"\n") == 1
    assert bad.read_text().split("\t")[1:4] == ["1", str(offset), code]
    assert output_of(*options, "drop", stdin=line + b'\n{"url":"%41"}') == b'{"url":"A"}'
    status, output, said = run(*options, "raise", stdin=b'{"url":"%41"}\n' + line)
    assert (status, output) == (1, b'{"url":"A"}\n')
    assert said.startswith(f"uricodec: <stdin>:2:{offset + 1} (byte {14 + offset}): ")


def test_a_name_that_is_no_text_is_none_of_those():
    line = b'{"\\ud800":"%41","u\\u0072l":"%41"}\n'
    assert output_of("decode", "--json-field", "url", stdin=line) == b'{"\\ud800":"%41","u\\u0072l":"A"}\n'


@pytest.mark.slow
@given(st.lists(OCTETS.map(lambda part: without(part, b"\n", b"\r")), max_size=8))
def test_jsonl_has_everything(parts):
    data = plain(b"".join(part + b"\n" for part in parts))
    parts = data.split(b"\n")[:-1]
    output = output_of("decode", "--to=jsonl", stdin=data, chunk=64)
    assert not re.search(rb"[\x00-\x09\x0b-\x1f\x7f]|\xc2[\x80-\x9f]", output)
    texts = [json.loads(line) for line in output.splitlines()]
    assert texts == [triplets(decode(part, EVERY)) for part in parts]
    assert output_of("decode", "--to=jsonl", "--errors", "null", stdin=b"%zz\n%0A") == b'null\n"\\n"\n'


def triplets(octets):
    """With triplets in place of what is not UTF-8."""
    text = octets.decode("utf-8", "surrogateescape")
    return "".join(f"%{ord(c) - 0xDC00:02X}" if "\udc80" <= c <= "\udcff" else c for c in text)


@pytest.mark.parametrize("first", [b"http://a/\xc3", b"http://a/\xf0\x9f", "http://a/é".encode()])
def test_fields_share_no_character(first):
    """Bytes that are UTF-8 only together with those of the next field are not."""
    data = b"http://a/x,http://b/%%7e\n%s,\xa9%%7e\n" % first
    want = [b"http://a/x", b"http://b/~", *([b"http://a/%C3%A9"] if first.endswith(b"\xc3\xa9") else [b""]), b""]
    made = output_of("normalize", "--kind", "iri", "--errors", "null", "-d", ",", "-f", "1-", stdin=data)
    assert made.replace(b"\n", b",").split(b",")[:-1] == want


# --- policies, reports, and what surrounds the values ---------------------------------------------------------------

BAD = b"ok%41\nbad%zz%42\nworse\xff%FF\n%43\n"


@pytest.mark.parametrize(
    ("command", "errors", "expected"),
    [
        ("decode", "keep", b"okA\nbad%zzB\nworse\xff%FF\nC\n"),
        ("decode", "replace", "okA\nbad�zzB\nworse��\nC\n".encode()),
        ("decode", "null", b"okA\n\n\nC\n"),
        ("decode", "drop", b"okA\nC\n"),
        ("encode", "keep", b"ok%2541\nbad%25zz%2542\nworse%FF%25FF\n%2543\n"),
        ("encode", "replace", b"ok%2541\nbad%25zz%2542\nworse%EF%BF%BD%25FF\n%2543\n"),
        ("encode", "null", b"ok%2541\nbad%25zz%2542\n\n%2543\n"),
        ("encode", "drop", b"ok%2541\nbad%25zz%2542\n%2543\n"),
        ("requote", "keep", b"ok%41\nbad%zz%42\nworse%FF%FF\n%43\n"),
        ("requote", "replace", b"ok%41\nbad%25zz%42\nworse%EF%BF%BD%FF\n%43\n"),
        ("requote", "null", b"ok%41\n\n\n%43\n"),
        ("requote", "drop", b"ok%41\n%43\n"),
    ],
)
def test_policies(tmp_path, command, errors, expected):
    bad = tmp_path / "bad"
    assert output_of(command, "--errors", errors, stdin=BAD) == expected
    status, output, said = run(command, "--errors", errors, "--stats", "--invalid-to", bad, stdin=BAD)
    assert (status, output) == (0, expected)
    faults = {"utf-8": 1} if command == "encode" else {"percent": 1, "utf-8": 1}
    invalid = sum(faults.values())
    assert json.loads(said) == {"lines": 4, "valid": 4 - invalid, "invalid": invalid, "faults": faults}
    assert [line.split("\t")[:4] for line in bad.read_text().splitlines()] == [
        ["<stdin>", "2", "3", "percent"],
        ["<stdin>", "3", "5", "utf-8"],
    ][command == "encode" :]


@given(OCTETS)
def test_replacing_is_what_python_does(octets):
    octets = plain(without(octets, b"\n"))
    expected = urllib.parse.quote(octets.decode("utf-8", "replace"), safe="")
    assert re.sub(
        rb"%[0-9A-F]{2}", lambda m: bytes([int(m[0][1:], 16)]), one_row(octets, EncodeRows(ByteSet()), "replace")
    ) == urllib.parse.unquote_to_bytes(expected)
    safe = ByteSet(b"ABCDEFabcdef0123456789/")
    assert one_row(octets, RequoteRows(safe)) == uricodec.requote(octets, safe)
    assert one_row(octets, RequoteRows(safe, text=False), "replace") == uricodec.requote(octets, safe, "replace")


def one_row(octets, rows, errors="keep"):
    room = bytearray(9 * len(octets) + 2)
    _, found = transform_fields(octets, room, rows, Framing("lines", end=b"\0", free=True), errors)
    return bytes(room[: found.written]) if b"\0" not in octets else one_row_parts(octets, rows, errors)


def one_row_parts(octets, rows, errors):
    encoded = b"\0".join(one_row(part, rows, errors) for part in octets.split(b"\0"))
    return encoded.replace(b"\0", b"%00")


def test_a_triplet_stays_where_its_digits_are_not_safe():
    assert one_row(b"%41b%4", RequoteRows(ByteSet("b"))) == b"%41b%%34"


def test_rows_say_what_they_need():
    with pytest.raises(ValueError, match=r"errors must be one of .* got 'ignore'"):
        transform_fields(b"", None, RowOperation(), Framing("lines"), "ignore")
    with pytest.raises(ValueError, match="errors='replace' is only supported by"):
        transform_fields(b"", None, RowOperation(), Framing("lines"), "replace")


def test_any_size_of_a_buffer_is_no_fault():
    data, rows, framing = b"a b c\nd %41 e\n", DecodeRows(), Framing("delimited", delimiter=b" ", fields=[(2, 2)])
    ends = {0: b"", 6: b"a b c\n", 14: b"a b c\nd A e\n"}
    for size in range(16):
        room = bytearray(size)
        read, found = transform_fields(data, room, rows, framing)
        assert room[: found.written] == ends[read]
        assert read == 14 or size < len(data)


@pytest.mark.slow
@given(LINES, st.integers(0, 200))
def test_a_small_buffer_is_no_fault(parts, size):
    """As much is read as there is room for, and what is read is right."""
    data = b"\n".join(without(part, b"\n") for part in parts)
    rows, framing = DecodeRows(), Framing("delimited", delimiter=b" ", fields=[(2, 3)])
    whole = bytearray(len(data) + 10)
    _, all_found = transform_fields(data, whole, rows, framing)
    room = bytearray(size)
    read, found = transform_fields(data, room, rows, framing)
    assert room[: found.written] == whole[: found.written]
    assert found.faults == all_found.faults[: len(found.faults)]
    assert read == len(data) or read == 0 or data[read - 1] == 0x0A


@pytest.mark.parametrize(
    ("framing", "record"),
    [
        (Framing("lines"), b"%s\n"),
        (Framing("lines", jsonl=True), b"%s\n"),
        (Framing("delimited", delimiter=b","), b"a,%s\n"),
        (Framing("csv", delimiter=b","), b'a,"%s",b\n'),
        (Framing("json", names=[b"a"]), b'{"a":"%s"}\n'),
    ],
    ids=["lines", "jsonl", "delimited", "csv", "json"],
)
def test_nothing_is_written_after_the_buffer(framing, record):
    """Quotes and backslashes, which become two octets each: as much is read as there is room for, however little."""
    data = record % (b"%22%5C" * 10) * 2
    whole = bytearray(1000)
    read, found = transform_fields(data, whole, DecodeRows(), framing)
    assert read == len(data)
    for size in range(found.written + 10):
        room = bytearray(b"\xee" * 1000)
        read, part = transform_fields(data, memoryview(room)[:size], DecodeRows(), framing)
        assert room[size:] == b"\xee" * (1000 - size)
        assert read in (0, len(data) // 2, len(data)) and room[: part.written] == whole[: part.written]


def test_the_rest_of_a_long_record():
    """It goes on behind what did not fit into a buffer: a quote opens a field only where that begins."""
    framing = Framing("csv", delimiter=b",")
    assert framing.skip(b'a"b\nc', 0, 5, 1) == (4, 0)
    assert framing.skip(b'a"b\nc', 0, 5, 0) == (4, 0)
    assert framing.skip(b'a,"b\nc', 0, 6, 0) == (0, 2)
    assert framing.skip(b'"\nc', 0, 3, 2) == (2, 0)


def test_a_last_record_may_end_with_half_a_newline():
    assert Framing("csv", delimiter=b",").first(b"a,b\r", 4) == ([b"a", b"b"], 4)
    assert output_of("decode", "--csv", stdin=b"%41,%42\r") == b"A,B\r"
    assert output_of("decode", "--csv", "--errors", "null", stdin=b"%41,%zz\r") == b"A,\r"


FRAMED = [
    (Framing("lines", jsonl=True), b'%41"\n%zz\n"\n'),
    (Framing("delimited", delimiter=b",", fields=[(1, 1), (3, 3)]), b"%41,b,%43,d\n%zz,,%zz\n,,%0A\n"),
    (Framing("csv", delimiter=b",", fields=[(2, 3)]), b'a,"%22",%43,d\na,%zz,c\n"","%2C"\n'),
    (Framing("json", names=[b"a"]), b'{"a":"%41","b":"%42"}\n{"a":"%zz"}\n{"a":["%41"]}\n{"a":"%22"}\n'),
]


@pytest.mark.parametrize(("framing", "data"), FRAMED, ids=["lines", "delimited", "csv", "json"])
@pytest.mark.parametrize("errors", ["keep", "null", "drop", "raise"])
def test_every_size_of_a_buffer(framing, data, errors):
    """What is written is a part of all that there is, and ends where what was read does. Without a buffer, faults are
    found all the same."""
    rows, whole = DecodeRows(), bytearray(200)
    read, found = transform_fields(data, whole, rows, framing, errors)
    assert read == len(data) or errors == "raise"
    assert transform_fields(data, None, rows, framing, errors) == (read, found._replace(written=0))
    for size in range(len(whole)):
        room = bytearray(size)
        part_read, part = transform_fields(data, room, rows, framing, errors)
        assert part_read == 0 or data[part_read - 1] == 0x0A
        assert whole.startswith(room[: part.written])
        assert part.faults == found.faults[: len(part.faults)]
    assert (part_read, part) == (read, found)


def faults_of(*arguments, stdin, bad):
    run("decode", *arguments, "--errors", "null", "--invalid-to", bad, stdin=stdin)
    return [tuple(line.split("\t")[2:4]) for line in bad.read_text().splitlines()]


def test_places_in_quoted_fields(tmp_path):
    """Octets of the record are counted: a quote in a quoted field is two, and one may end in the middle of a field."""
    data = b'"a""%zz"\n"a"b%zz\n"a""b"%zz\nx,"%zz"\n'
    assert faults_of("--csv", stdin=data, bad=tmp_path / "bad") == [(str(at), "percent") for at in (4, 4, 6, 3)]


def test_rejects_malformed_json(tmp_path):
    data = b'{"a":[[1],"x\n{"a":{"b":1\n{"a":[1,2\n{"u" 1}\n{"u":"\\u00zz"}\n{"u":"\\u12'
    faults = faults_of("--json-field", "u", stdin=data, bad=tmp_path / "bad")
    assert faults == [(str(at), "json") for at in (12, 11, 9, 1, 6, 10)]
    data = b'{"a":[1,"x]",{"u":2}],"u":"%41"}\n'
    assert output_of("decode", "--json-field", "u", stdin=data) == data.replace(b"%41", b"A")


@pytest.mark.parametrize("errors", ["keep", "replace", "null", "drop"])
@pytest.mark.parametrize("options", [["-f", "1"], ["--csv"], ["--json-field", "url"], ["--to=jsonl"]])
def test_lines_that_are_too_long(options, errors):
    long = b'"' + b"x%zz\n" * 400 + b'",b\n' if options == ["--csv"] else b"x%41" * 400 + b"\n"
    value = {"--csv": b'%41,"c"\n', "--json-field": b'{"url":"%41"}\n'}.get(options[0] if options else "", b"%41\tc\n")
    options = [*options, "--max-line", "256"]
    status, output, said = run("decode", *options, "--errors", errors, "--stats", stdin=value + long + value, chunk=64)
    good = b'"A\\tc"\n' if "--to=jsonl" in options else value.replace(b"%41", b"A")
    empty = {"--csv": b'""\n', "--json-field": b"null\n", "--to=jsonl": b"null\n"}.get(options[0], b"\n")
    kept = empty if "--to=jsonl" in options else long
    wanted = {"keep": kept, "replace": kept, "null": empty, "drop": b""}[errors]
    assert (status, output) == (0, good + wanted + good)
    assert json.loads(said) == {"lines": 3, "valid": 2, "invalid": 1, "faults": {"too-long": 1}}


def test_a_name_with_a_comma_is_named_by_its_number():
    data = b'"a,b",c\n%41,%42\n'
    assert output_of("decode", "--csv", "--header", "-f", "1", stdin=data) == b'"a,b",c\nA,%42\n'
    status, _, said = run("decode", "--csv", "--header", "-f", "a,b", stdin=data)
    assert status == 2 and said.endswith("the header has no field 'a'; its fields are 'a,b', 'c'\n")


LONG_LINES = [
    (b"x%41" * 100, None),
    (b"%zz" + b"x" * 400, (0, "percent")),
    (b"x" * 397 + b"%zz%FF", (397, "percent")),
    (b"x" * 200 + b"%e2%82%ac" * 30 + b"%FF%zz", (470, "utf-8")),
    ("é".encode() * 200 + b"\r", None),
    (b"%41%0A" * 80 + b"%", (480, "percent")),
]


@pytest.mark.slow
@pytest.mark.parametrize("chunk", [13, *long(16, 64, 100)])
@pytest.mark.parametrize("command", ["decode", "decode --raw", "decode --plus", "encode", "encode --plus", "requote"])
@pytest.mark.parametrize("errors", ["keep", "replace", "raise"])
def test_reports_do_not_change_how_long_a_line_may_be(tmp_path, command, errors, chunk):
    """A line that comes in pieces is one line: in what is written, in counts, and in reports."""
    bad = tmp_path / "bad"
    jobs = itertools.cycle("13")  # each line and each kind of data meets both
    for line, _ in LONG_LINES:
        for data in line, b"a%20\n" + line + b"\n%41", line + b"\r\n" + line:
            plain = run(*command.split(), "--errors", errors, "--max-line", "20", stdin=data, chunk=chunk)
            options = [*command.split(), "--errors", errors, "--max-line", "20", "--stats", "--invalid-to", bad]
            status, output, said = run(*options, "-j", next(jobs), stdin=data, chunk=chunk)
            if status:  # pieces before the fault have been written: how many depends on their size
                assert (status, said) == plain[::2] and (plain[1].startswith(output) or output.startswith(plain[1]))
                continue
            assert (status, output) == plain[:2]
            assert json.loads(said)["lines"] == data.count(b"\n") + (data[-1:] != b"\n")


@pytest.mark.parametrize("chunk", [13, 64])
def test_a_long_line_is_reported_once(tmp_path, chunk):
    bad = tmp_path / "bad"
    for line, fault in LONG_LINES:
        _, _, said = run("decode", "--stats", "--invalid-to", bad, stdin=b"a\n" + line + b"\nb\n%", chunk=chunk)
        reports = [each.split("\t")[1:4] for each in bad.read_text("utf-8").splitlines()]
        expected = [] if fault is None else [["2", str(fault[0]), fault[1]]]
        assert reports == [*expected, ["4", "0", "percent"]]
        assert json.loads(said)["lines"] == 4 and json.loads(said)["invalid"] == len(reports)


@pytest.mark.parametrize("options", [["-f", "1"], ["--csv"], ["--to=jsonl"], ["-z", "--errors", "null"]])
@pytest.mark.parametrize("last", [True, False])
@pytest.mark.parametrize("most", [1, 99, 1000, 5000])
def test_how_long_a_line_may_be(options, last, most):
    """--max-line does not count the terminator; lines before and after are not affected."""
    end = b"\0" if "-z" in options else b"\n"
    for size, faults in (most, {}), (most + 1, {"too-long": 1}), (3 * most, {"too-long": 1}):
        data = b"a" + end + b"x" * size + (b"" if last else end + b"b" + end)
        _, _, said = run("decode", *options, "--max-line", most, "--stats", stdin=data, chunk=100)
        assert json.loads(said) == {
            "lines": 3 - last,
            "valid": 3 - last - len(faults),
            "invalid": len(faults),
            "faults": faults,
        }


def test_records_of_csv_that_are_longer_than_the_buffer():
    """What a part of a record leaves open is kept: quotes, and newlines in quotes."""
    long = b'"' + b'a""\n,' * 300 + b'%41",b\n'
    data = b'x,"y"\n' + long + b'%42,"c"\n' + long[:-1]
    expected = data.replace(b"%41", b"A").replace(b"%42", b"B")
    for chunk in 13, 100, 999, 1600:
        assert output_of("decode", "--csv", stdin=data, chunk=chunk) == expected
        status, output, said = run("decode", "--csv", "--stats", "--max-line", "1000", stdin=data, chunk=chunk)
        assert (status, output) == (0, data.replace(b"%42", b"B"))
        assert json.loads(said)["faults"] == {"too-long": 2} and json.loads(said)["lines"] == 4


@pytest.mark.parametrize(("errors", "output"), [("null", b"a\n\n"), ("keep", b"a\n%zz"), ("drop", b"a\n")])
def test_a_last_line_without_a_newline_that_is_invalid(errors, output):
    """It becomes an empty line, and is one: nothing would be left of it without a newline."""
    assert output_of("decode", "--errors", errors, stdin=b"a\n%zz") == output


def test_a_failure_leaves_no_report(tmp_path):
    path = tmp_path / "bad"
    failing = ["decode", "--errors", "raise", "--invalid-to", path]
    assert run(*failing, stdin=b"%zz\n")[0] == 1
    assert not path.exists()
    path.write_bytes(b"old")
    assert run(*failing, stdin=b"%zz\n")[0] == 1
    assert path.read_bytes() == b"old"


def test_check_and_split_of_fields(tmp_path):
    data = b"1\thttp://a/b?c\n2\t%zz:\n3\n"
    status, found, _ = run("check", "--kind", "uri", "-f", "2", stdin=data)
    assert (status, without_reasons(found)) == (1, b"<stdin>\t2\t2\tpercent\t2\\x09%zz:\n")
    output = output_of("split", "--kind", "uri", "--csv", "-d", "\t", "-f", "2", "--to", "csv", stdin=data)
    assert [row["path"] or row["error"] for row in csv.DictReader(io.StringIO(output.decode()))] == ["/b", "percent"]
    status, _, said = run(
        "check", "--kind", "urn", "--json-field", "n", "--stats", stdin=b'{"n":"urn:isbn:1"}\n{"n":"x"}\n{}\n'
    )
    assert status == 1
    assert json.loads(said) == {
        "lines": 3,
        "valid": 2,
        "invalid": 1,
        "faults": {"scheme": 1},
        "namespaces": {"isbn": 1},
    }


@pytest.mark.parametrize(
    "options",
    [
        ["-d", ","],
        ["-f", "0"],
        ["-f", "9" * 20],
        ["--json-field", "", "--csv"],
        ["-f", ""],
        ["-f", "-"],
        ["-f", "3-2"],
        ["-f", "a"],
        ["-f", "1", "-d", ""],
        ["-f", "1", "-d", "ab"],
        ["-f", "1", "-d", "\n"],
        ["-f", "1", "-d", "é"],
        ["--csv", "-d", '"'],
        ["--csv", "--to=jsonl"],
        ["--csv", "-z"],
        ["--csv", "--json-field", "a"],
        ["--header"],
        ["--json-field", "a", "-f", "1"],
        ["--json-field", "a", "--raw"],
        ["--to=jsonl", "--raw"],
        ["--to=jsonl", "-f", "1"],
        ["-j", "x"],
    ],
)
def test_wrong_usage(capfd, options):
    assert main(["decode", *options]) == 2
    assert capfd.readouterr().err.startswith("uricodec: --")


MARK = b"\xef\xbb\xbf"


def output_in_doubt(*arguments, **options):
    """Like output_of(), but the records may lack what is selected, and standard error may say so."""
    status, output, said = run(*arguments, **options)
    assert status == 0
    doubts = "--field: no record has field .*", "--delimiter: no record contains .*", "the last record ends .*"
    assert re.fullmatch("".join(f"(uricodec: {doubt}\n)?" for doubt in doubts), said)
    return output


def slowly(size):
    """Input.read_into(), as of a pipe that gives so many bytes at once."""
    read_into = Input.read_into
    return lambda source, view: read_into(source, view[:size])


@pytest.mark.parametrize("chunk", [None, 12, 64])
def test_a_byte_order_mark_is_no_part_of_the_first_record(tmp_path, chunk):
    for options, data in (
        (["--csv", "--header", "-f", "url"], b'"url","id"\n"%41","%42"\n'),
        (["--csv", "--header", "-f", "c"], b'"a,b",c\n%41,%42\n'),
        (["--csv", "-f", "1"], b'"a\nb %2C",2\n%41,%42\n'),
        (["--csv", "-f", "2"], b'"a,%41",%42\n'),
        (["--csv", "-f", "2"], b'""'),
        (["--csv"], b""),
        (["-d", ",", "--header", "-f", "url"], b"url,id\n%41,%42\n"),
        (["--json-field", "a"], b'{"a":"%41"}\n{"a":"%42"}'),
    ):
        _, output, said = run("decode", *options, "--stats", stdin=data, chunk=chunk)
        assert run("decode", *options, "--stats", stdin=MARK + data, chunk=chunk) == (0, MARK + output, said)
        other = tmp_path / "other"
        for first in (b"", MARK) if data else ():  # that of the first input alone
            other.write_bytes(MARK + data)
            (tmp_path / "first").write_bytes(first + data)
            both = run("decode", *options, tmp_path / "first", other, chunk=chunk)
            other.write_bytes(data)
            (tmp_path / "first").write_bytes(data)
            status, output_of_both, said_of_both = run("decode", *options, tmp_path / "first", other, chunk=chunk)
            assert both == (status, first + output_of_both, said_of_both)
    assert output_of("split", "--kind", "uri", "--csv", "-f", "1", stdin=MARK + b'"a:b"\n')[:3] != MARK


def test_a_fault_after_a_byte_order_mark_has_its_place():
    status, shown, _ = run("decode", "--csv", "-o", os.devnull, "--invalid-to", "-", stdin=MARK + b'"a","%"\n%\n')
    assert (status, shown) == (0, b'<stdin>\t1\t5\tpercent\t"a","%"\n<stdin>\t2\t0\tpercent\t%\n')


@pytest.mark.parametrize("end", [b"", b"\n"])
def test_a_byte_order_mark_before_a_record_that_is_too_long(end):
    data = b'"' + b"x,\n" * 200 + b'",%41' + end + b"%42" * (end > b"")
    for errors in "keep", "drop":
        options = ["decode", "--csv", "--stats", "--errors", errors, "--max-line", "256"]
        status, output, said = run(*options, stdin=data, chunk=64)
        assert json.loads(said)["invalid"] == 1
        assert run(*options, stdin=MARK + data, chunk=64) == (status, MARK + output, said)


@pytest.mark.parametrize("size", [1, 2, 256])
@pytest.mark.parametrize("most", [1, 2, 9, 10])
def test_a_byte_order_mark_counts_for_no_line(monkeypatch, size, most):
    """It is no part of the first record, and may come in parts."""
    monkeypatch.setattr(Input, "read_into", slowly(size))
    for options, data in (
        (["--csv"], b"\n" + b"x" * 10 + b"\n"),
        (["--csv", "--header", "-f", "a"], b"a,bcdefgh\n%41,\n"),
        (["-d", ",", "--header", "-f", "a"], b"a,bcdefgh\n%41,\n"),
        (["--json-field", "a"], b'{"a":"%41"}\n'),
        (["--json-field", "a"], b'{"a":"%"}\n'),
    ):
        command = ["decode", *options, "--stats", "--max-line", most]
        status, output, said = run(*command, stdin=data, chunk=64)
        assert run(*command, stdin=MARK + data, chunk=64) == (status, MARK * (status == 0) + output, said)


LINE_COMMANDS = [
    "decode",
    "encode",
    "requote",
    "redact",
    "redact --urls",
    "decode --to=jsonl",
    "encode -z",
    "check --kind web",
    "hosts",
]
LINE_COMMANDS += [f"{name} --kind uri" for name in ("normalize", "split", "check", "check --stats", "dedup", "extract")]
LINE_COMMANDS += [
    f"{name} --kind urn" for name in ("normalize", "check", "dedup", "extract", "normalize --invalid-to -")
]
LINE_COMMANDS += [
    "dedup --kind bytes",
    "resolve --base http://a/",
    "dedup --kind iri --count",
    "dedup --kind uri --stats",
]


@pytest.mark.slow
@pytest.mark.parametrize("command", LINE_COMMANDS)
def test_a_byte_order_mark_is_no_part_of_the_first_line(tmp_path, command):
    for data in (
        b"http://A.example/%7e\nhttp://b c/\nx\n",
        b"urn:ISBN:%41\n\xef\xbb\xbfurn:a:b",
        b"\n",
        b"",
        b"http://a",
    ):
        found = []
        for mark in MARK, b"":
            (tmp_path / "first").write_bytes(mark + data)
            (tmp_path / "second").write_bytes(mark + data)
            runs = (
                run(*command.split(), stdin=mark + data),
                run(*command.split(), tmp_path / "first", tmp_path / "second", chunk=13),
            )
            found.append([(*each[:2], re.sub(r'"seconds": [0-9.]+', "", each[2])) for each in runs])
        assert found[0] == found[1]


def test_a_byte_order_mark_before_delimited_fields():
    assert output_of("decode", "-f", "1", "-d", ",", stdin=MARK + b"%41,%42\n") == MARK + b"A,%42\n"
    assert output_of("split", "--kind", "uri", "-f", "1", stdin=MARK + b"a:b\tc\n").startswith(b'{"scheme":"a",')


def test_half_a_byte_order_mark_is_none(tmp_path):
    """What an input before has left in the buffer does not complete it."""
    (tmp_path / "first").write_bytes(MARK + b"%41\n")
    (tmp_path / "second").write_bytes(MARK[:2])
    expected = MARK + b"A\n" + MARK[:2]
    assert output_of("decode", "--csv", tmp_path / "first", tmp_path / "second", chunk=64) == expected


@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n"])
@pytest.mark.parametrize("chunk", [13, 64, None])
def test_a_line_that_is_too_long_keeps_its_end(end, chunk):
    """As the end of any line that becomes an empty one."""
    for options, empty in (["--csv"], b'""'), (["--json-field", "a"], b"null"), (["-f", "1"], b""), ([], b""):
        command = ["decode", *options, "--errors", "null"]
        first, invalid = (b'{"a":"%41"}', b'{"a":"%"') if "--json-field" in options else (b"%41", b"%")
        expected = first.replace(b"%41", b"A") + b"\n" + empty + (end if end or empty else b"\n")
        assert output_of(*command, stdin=first + b"\n" + invalid + end) == expected
        data = first + b"\n" + b"x" * 100 + end
        assert output_of(*command, "--max-line", "50", stdin=data, chunk=chunk) == expected


def test_counting_does_not_change_what_is_written():
    for data in b"a%0A", b"a%0A\n", b"%0A", b"a":
        plain = output_of("decode", "--raw", stdin=data)
        assert run("decode", "--raw", "--stats", stdin=data)[:2] == (0, plain)


def test_a_header_that_is_too_long():
    header = b",".join(b"a%d" % number for number in range(400)) + b",url\n"
    options = ["decode", "--csv", "--header", "-f", "url"]
    said = "uricodec: <stdin>: the header is too long\n\nhint: --max-line SIZE allows longer ones\n"
    assert run(*options, "--max-line", "256", stdin=header, chunk=64) == (3, b"", said)
    assert output_of(*options, stdin=header, chunk=64) == header


def test_a_record_may_become_many_times_as_long():
    data = b"\t".join([b"a"] * 32) + b"\n"
    output = output_of("split", "--kind", "uri", "-f", "1-", "--to", "jsonl", stdin=data, chunk=64)
    assert len(output) > 3 * 64
    assert [json.loads(line)["path"] for line in output.splitlines()] == ["a"] * 32


@pytest.mark.process
def test_plain_lines_pay_nothing():
    done = process("decode", input=b"%41\n")
    assert (done.stdout, done.stderr) == (b"A\n", b"")
    code = "import sys; from uricodec.cli import main; main(['decode']); print(*sys.modules, file=sys.stderr)"
    said = subprocess.run([sys.executable, "-c", code], input=b"%41", capture_output=True, check=True).stderr.split()
    assert not {b"threading", b"uricodec.cli.fields", b"uricodec._io.compress", b"typing", b"csv", b"json"} & set(said)


@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_split_writes_a_record_for_each_value(form):
    """Also for one that cannot be read, and whatever the delimiter is."""
    command = ["split", "--kind", "uri", "--to", form]
    data = b'{"u":"http://a/b,c"}\n[]\n{"u":"\\ud83d"}\n{"u":"%zz"}\n{}\n'
    for options, text, faults in (
        (["--json-field", "u"], data, ["", "json", "surrogate", "percent"]),
        (["--csv", "-f", "1"], b'"http://a/b,c"\nhttp://\xff\n"x\n', ["", "host", "csv"]),
        (["-d", ",", "-f", "1-"], b"http://a/b,c\n", ["", ""]),
        (["-d", ":", "-f", "2"], b"x://a/b:c\n", [""]),
        (["-z"], b"http://a/b,c\0x\n\0", ["", "path"]),
    ):
        output = output_in_doubt(*command, *options, stdin=text).decode()
        if form == "csv":
            records = list(csv.DictReader(io.StringIO(output)))
        else:
            records = [json.loads(line) for line in output.splitlines()]
        assert [record.get("error") or "" for record in records] == faults


@given(
    st.lists(st.one_of(OCTETS, st.sampled_from([b'{"a":"', b"\\u00", b'"', b"\\", b"}", b",", b"\n"])), max_size=8).map(
        b"".join
    )
)
def test_values_stay_inside_input_and_output(fences, data):
    """Nothing is read or written outside the buffers, whatever room there is."""
    source, target = fences
    for framing in (
        Framing("lines", jsonl=True),
        Framing("delimited", delimiter=b","),
        Framing("csv", delimiter=b","),
        Framing("json", names=[b"a"]),
    ):
        for rows, errors in (DecodeRows(), "keep"), (DecodeRows(), "replace"), (EncodeRows(ByteSet("abc")), "keep"):
            for size in len(data), 3 * len(data) + 2, 9 * len(data) + 20:
                for place in source.at_start, source.at_end:
                    src = place(data)
                    assert framing.cut(bytes(src), 0, len(src)) <= len(src)
                    transform_fields(src, target.at_end(bytes(size)), rows, framing, errors)


@pytest.mark.parametrize("form", ["json", "csv"])
def test_records_of_rejected_values_are_escaped(form):
    """Also where nothing else is, as no other value has a result."""
    src = {"json": b'{"a": \n', "csv": b'"a\n'}[form]
    framing = Framing("json", names=[b"a"]) if form == "json" else Framing("csv", delimiter=b",", fields=[(1, 1)])
    dst = bytearray(2000)
    _, found = transform_fields(src, dst, SplitRows("uri", "jsonl"), framing, "keep", 5)
    written = bytes(dst[: found.written])
    record = json.loads(written) if form == "json" else next(csv.reader(io.StringIO(written.decode())))[0]
    assert json.loads(record)["error"] == form


# --- results after values, and bases in records -----------------------------------------------------------------------

CELLS = st.one_of(
    st.sampled_from(["http://h/a?b", "//u@h:1/#f", "../c", "a b", "", "=1", 'q"', "x,y", "é\n", "100%"]),
    st.text('aé/:?#%.,;"\n', max_size=6),
)


def written_csv(rows, delimiter=","):
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=delimiter).writerows(rows)
    return text.getvalue().encode()


def rows_of_csv(data, delimiter=","):
    return list(csv.reader(io.StringIO(data.decode(), newline=""), delimiter=delimiter))


@given(st.lists(st.tuples(CELLS, CELLS, CELLS), max_size=6), st.sampled_from(",;"))
def test_split_keeps_the_fields_of_csv(rows, delimiter):
    data = written_csv([("id", "url", "z"), *rows], delimiter)
    arguments = ["split", "--kind", "uri", "--csv", "--header", "-d", delimiter, "-f", "url"]
    header, *parts = rows_of_csv(output_of(*arguments, "--to", "csv", stdin=data, chunk=64))
    expected = [[first, url, *part, last] for (first, url, last), part in zip(rows, parts, strict=True)]
    kept = output_of(*arguments, "--append", stdin=data, chunk=64)
    assert rows_of_csv(kept, delimiter) == [["id", "url", *[f"url_{name}" for name in header], "z"], *expected]


@given(st.lists(CELLS, max_size=6))
def test_split_keeps_the_members_of_json(values):
    records = [{"n": n, "u": {"é": value}, "l": [value]} for n, value in enumerate(values)]
    data = "".join(json.dumps(record) + "\n" for record in records).encode()
    arguments = ["split", "--kind", "uri", "--json-field", "u.é"]
    parts = output_of(*arguments, stdin=data, chunk=64).decode().split("\n")[:-1]
    kept = output_of(*arguments, "--append", stdin=data, chunk=64).decode().split("\n")[:-1]
    for record, part in zip(records, parts, strict=True):
        record["u"]["é_parts"] = json.loads(part)
    assert [json.loads(line) for line in kept] == records


def test_split_adds_nothing_to_what_cannot_hold_it():
    data = b'{"l":["http://h/"]}\n["l"]\n{"l":null}\n{"l":"//\\ud800"}'
    status, output, report = run("split", "--kind", "uri", "--json-field", "l", "--append", "--stats", stdin=data)
    assert (status, output.count(b"\n"), output.startswith(data[:38])) == (0, 3, True)
    assert json.loads(report)["faults"] == {"json": 2, "surrogate": 1}
    assert json.loads(output.split(b"\n")[3])["l_parts"]["error"] == "surrogate"
    unclosed = b'1,"http://h/\n2,'
    assert (
        output_in_doubt("split", "--kind", "uri", "--csv", "-f", "2", "--append", stdin=unclosed).rstrip(b"\n")
        == unclosed
    )
    marked = output_in_doubt(
        "split", "--kind", "uri", "--csv", "--header", "-f", "u", "--append", stdin=b'\xef\xbb\xbf"u",x\r\n,\r\n'
    )
    assert marked.startswith(b"\xef\xbb\xbfu,u_scheme,") and marked.endswith(b',u_offset,x\r\n,,,,,,"",,,,,\r\n')
    formula = output_in_doubt("split", "--kind", "uri", "--csv", "--append", "--csv-safe", stdin=b"?=1\n")
    assert formula == b"""?=1,,,,,,"",'=1,,,\n"""


def target(base, reference):
    try:
        return uri.resolve(base, reference)
    except uricodec.UriError:
        return reference


@given(st.lists(st.tuples(CELLS, CELLS, CELLS), max_size=6))
def test_references_are_resolved_against_the_base_of_their_record(rows):
    data = written_csv([("href", "z", "page"), *rows])
    arguments = ["resolve", "--csv", "--header", "-f", "href", "--base-field", "page"]
    expected = [["href", "z", "page"], *[[target(base, ref), z, base] for ref, z, base in rows]]
    assert rows_of_csv(output_of(*arguments, stdin=data, chunk=64)) == expected
    found = rows_of_csv(output_of(*arguments, "--errors", "drop", stdin=data, chunk=64))
    assert found[1:] == [row for row in expected[1:] if re.match("[A-Za-z][A-Za-z0-9+.-]*:", row[2])]


def test_bases_of_other_records():
    data = b"http://h/a/b\t../c\nb\t../c\nhttp://h/\nhttp://h/\t\xff\n\xff:\tc\nhttp://h/" + 8192 * b"a" + b"\tc\n"
    status, output, report = run("resolve", "-f", "2", "--base-field", "1", "--stats", stdin=data)
    assert (status, output) == (0, data.replace(b"../c", b"http://h/c", 1))
    assert json.loads(report)["faults"] == {"base": 3, "utf-8": 1}
    links = b'{"to":["a",1,"\\u0062"],"at":{"page":"s:/x/y"}}\n{"to":["a"]}\n'
    arguments = "resolve", "--json-field", "to", "--base-field", "at.page"
    resolved = b'{"to":["s:/x/a",1,"s:/x/b"],"at":{"page":"s:/x/y"}}\n'
    assert output_of(*arguments, stdin=links) == resolved + b'{"to":["a"]}\n'
    assert output_of(*arguments, "--errors", "null", stdin=links) == resolved + b'{"to":[null]}\n'
    assert output_of(*arguments, "--errors", "drop", stdin=links) == resolved
    spaces = "resolve", "-d", "/", "-f", "2", "--base-field", "1", "--errors", "drop"
    assert output_of(*spaces, stdin=b"s:a/b\nhttp:/b\n") == b"s:a/s:b\nhttp:/http:b\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            "-f 1 --base-field 1-2",
            "--base-field: expected the number of a field, or with a header its name, got '1-2'",
        ),
        ("--csv --header -f b --base-field 3", "--base-field: <stdin>: the header has only 2 fields, got '3'"),
        ("-f 1 --base-field 1", "--base-field: '1' is also in --field"),
        ("-f 1 --base-field 0", "--base-field: fields count from 1, got '0'"),
        ("--json-field a --base-field a", "--base-field: 'a' is also in --json-field"),
        (
            "--csv --header -f b --base-field c",
            "--base-field: <stdin>: the header has no field 'c'; its fields are 'a', 'b'",
        ),
        ("-f 1 --base-field 2 --base s:", "--base: not allowed with --base-field"),
        ("--base-field 2", "--base-field: not allowed without --field or --csv or --json-field"),
    ],
)
def test_base_fields_that_are_invalid(arguments, message):
    status, output, complaint = run("resolve", *arguments.split(), stdin=b"a,b\n1,2\n")
    assert (status, output, complaint.split("\n")[0]) == (2, b"", f"uricodec: {message}")


# --- what was selected is not there -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "data", "message"),
    [
        ("--csv -f 5", b"a,b,c\nd,e,f\n", "--field: no record has field 5"),
        ("-f 2", b"a,b\n", "--field: no record has field 2"),
        ("-d , -f 1,3-4,7-", b"a,b\nc\n", "--field: no record has field 3-4, 7-"),
        ("-d ; -f 1", b"a,b\nc\n", "--delimiter: no record contains ';'"),
        ("-d ; --csv -f 1", b"a,b\nc\n", "--delimiter: no record contains ';'"),
        ("--csv -f 1", b'a,"b\nc,d\n', "the last record ends within quotes, which are not closed"),
        ("--csv -f 1", b'a,b\nc,"', "the last record ends within quotes, which are not closed"),
    ],
)
@pytest.mark.parametrize("chunk", [None, 13])
def test_missing_fields_are_reported(options, data, message, chunk):
    """One line on standard error; exit 1 under --errors raise, and of check."""
    status, output, said = run("decode", *options.split(), stdin=data, chunk=chunk)
    assert (status, output, said) == (0, data, f"uricodec: {message}\n")
    status, _, said = run("decode", *options.split(), "--errors", "raise", stdin=data, chunk=chunk)
    assert status == 1 and said.startswith(f"uricodec: {message}\n")
    status, output, said = run("check", "--kind", "uri", *options.split(), stdin=data, chunk=chunk)
    assert status == 1 and said.startswith(f"uricodec: {message}\n")


@pytest.mark.parametrize(
    ("options", "data"),
    [
        ("--csv -f 2", b"a\nb,c\n"),  # one record has it
        ("--csv -f 1-", b"a\n\n"),
        ("--csv -f 5", b""),
        ("--csv -f 5", b"\n\n"),  # no record
        ("--csv", b"a\nb\n"),
        ("--csv -f 2-9", b"a,b\n"),
        ("--csv -f 1", b'a,b"\nc,d"\n"e\n",f'),
        ("-d , -f 3", b"a\n" * 20000 + b"a,b,c\n"),
        ("--csv -d ; -f 1", b'"a;b"\nc;d'),
    ],
)
def test_present_fields_are_not_reported(options, data):
    for more in [], ["--errors", "raise"], ["-j", "3"]:
        assert run("decode", *options.split(), *more, stdin=data) == (0, data, "")


CDX = b" CDX N b a\norg,x)/ 2025 http://www.Example.org/%7Eb\n"


def test_the_legend_of_a_cdx_file(tmp_path):
    """It is a header, announced or not, and its letters are the names of fields."""
    record = b"org,x)/ 2025 http://www.example.org/~b\n"
    for options in ["-f", "3"], ["--header", "-f", "a"], ["--header", "-f", "3"]:
        assert output_of("normalize", "-d", " ", *options, stdin=CDX) == CDX[:11] + record
        assert output_of("dedup", "--kind", "uri", "-d", " ", *options, stdin=CDX + record) == CDX
        assert output_of("hosts", "-d", " ", *options, stdin=CDX) == b"www.example.org\n"
    assert output_of("normalize", "-d", "\\t", "-f", "3", stdin=CDX.replace(b" ", b"\t")) == (
        (CDX[:11] + record).replace(b" ", b"\t")
    )
    one, two, three = [tmp_path / name for name in ("one", "two", "three")]
    one.write_bytes(CDX)
    two.write_bytes(record)
    three.write_bytes(CDX.replace(b"N b a", b"N a b"))
    command = ["normalize", "-d", " ", "-f", "3"]
    assert output_of(*command, one, two, one) == CDX[:11] + 3 * record
    status, _, said = run(*command, one, three)
    assert (status, said.splitlines()[0]) == (3, f"uricodec: {three}: header differs from that of the first input")
    status, _, said = run(*command, two, one)
    assert (status, said.splitlines()[0]) == (3, f"uricodec: {one}: header differs from that of the first input")
    # Elsewhere it is data.
    assert output_of("decode", stdin=b" CDX %41\n") == b" CDX A\n"
    assert output_of("decode", "-d", ",", "-f", "1", stdin=b" CDX ,%41\n,%41\n") == b" CDX ,%41\n,%41\n"
    assert output_of("decode", "-d", " ", "-f", "1-", stdin=b"x\n CDX %41\n") == b"x\n CDX A\n"
