"""Texts have the same escapes in whatever writes them: the table of docs/guides/framing.md."""

from urllib.parse import quote_from_bytes

from support.command import output_of
from support.tables import each_row

from uricodec._io.reports import InvalidLine
from uricodec._records._framing import json_string

# A character as bytes; what JSON, CSV (TSV, but for the quote) and reports write for it.
ESCAPES = [
    (b'"', r"\"", '""', '"'),
    (b"\\", r"\\", "\\", r"\\"),
    (b"\t", r"\t", "%09", r"\x09"),
    (b"\n", r"\n", "%0A", r"\x0a"),
    (b"\r", r"\r", "%0D", r"\x0d"),
    (b"\x08", r"\b", "%08", r"\x08"),
    (b"\x0c", r"\f", "%0C", r"\x0c"),
    (b"\x00", r"\u0000", "%00", r"\x00"),
    (b"\x1b", r"\u001b", "%1B", r"\x1b"),
    (b"\x7f", r"\u007f", "%7F", r"\x7f"),
    (b"\xc2\x85", r"\u0085", "%C2%85", r"\xc2\x85"),
    ("\u2028".encode(), r"\u2028", "%E2%80%A8", r"\xe2\x80\xa8"),
    ("\u2029".encode(), r"\u2029", "%E2%80%A9", r"\xe2\x80\xa9"),
    (b"\xff", "%FF", "%FF", r"\xff"),
    ("é".encode(), "é", "é", "é"),
    (b"/", "/", "/", "/"),
]


@each_row(("octets", "as_json", "as_csv", "in_report"), ESCAPES)
def test_escapes(octets, as_json, as_csv, in_report):
    string = f'"x{as_json}y"'
    encoded = b"x" + quote_from_bytes(octets, safe="").encode() + b"y"
    # JSON
    assert json_string(b"x" + octets + b"y").decode() == string
    assert output_of("decode", "--to=jsonl", stdin=encoded + b"\n").decode() == string + "\n"
    assert output_of("decode", "--json-field", "a", stdin=b'{"a":"%s"}\n' % encoded).decode() == f'{{"a":{string}}}\n'
    line = b'192.0.2.1 - - [-] "GET %s HTTP/1.1" 200 5\n' % encoded
    line = line.replace(b"GET ", b"GET /")
    assert f'"path":"/{string[1:]}' in output_of("log", "--format", "common", stdin=line).decode()
    # CSV and TSV: "/" comes first, so that no spreadsheet is in the way
    quote = '"' if octets in b'",' else ""
    assert f",{quote}/x{as_csv}y{quote}," in output_of("log", "--format", "common", "--to", "csv", stdin=line).decode()
    cell = as_csv if octets != b'"' else '"'
    assert f"\t/x{cell}y\t" in output_of("log", "--format", "common", "--to", "tsv", stdin=line).decode()
    # reports
    assert InvalidLine("in", 1, 2, "code", octets).row().decode() == f"in\t1\t2\tcode\t{in_report}\n"
    if octets not in (b"\n", b"\r"):
        explained = output_of("normalize", "--policy", "crawl", "--explain", stdin=b"//h/" + octets + b"\n").decode()
        assert f'"input":"//h/{as_json}"' in explained


def test_iris_have_the_same_escapes():
    line = "//é/\u2028é?\u2029é#\u202f\u2027\n"
    members = r'"path":"/\u2028é","query":"\u2029é","fragment":"' + "\u202f\u2027"
    assert members in output_of("split", "--kind", "iri", stdin=line.encode()).decode()
    record = f'{{"a":"{line.strip()}"}}\n'
    appended = output_of("split", "--kind", "iri", "--json-field", "a", "--append", stdin=record.encode())
    assert members in appended.decode()
    assert ",/\u2028é," in output_of("split", "--kind", "iri", "--to", "csv", stdin=line.encode()).decode()


def test_groups_have_the_same_escapes(tmp_path):
    texts = [row[0] for row in ESCAPES if row[0] not in (b"\n", b"\r")]
    lines = [b"http://%s/%s" % (host, text) for text in texts if text in (b"/", "é".encode()) for host in (b"h", b"H")]
    (tmp_path / "in").write_bytes(b"\n".join(lines))
    output_of("dedup", "--kind", "iri", "--groups", tmp_path / "groups", tmp_path / "in")
    groups = (tmp_path / "groups").read_bytes().splitlines()
    assert groups[0].startswith(b'{"first":' + json_string(lines[0]) + b',"line":1,"spellings":[{"spelling":')
    assert len(groups) == 2
