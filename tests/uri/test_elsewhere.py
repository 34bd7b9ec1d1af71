"""References that others have collected: the cases in the tests of other libraries, and URLs of real pages and logs.

They are not ours to copy. URICODEC_VECTORS names a folder with vectors_iri_urn.jsonl: rows of JSON with a library, the
name of a test, a reference and, for some, its components. URICODEC_CORPORA names a folder of real data.
"""

import csv
import hashlib
import json
import lzma
import os
from pathlib import Path

import pytest
from reference import uri as naive
from support.diagnostics import brief

from uricodec import iri, uri
from uricodec.errors import IriError, UriSyntaxError

VECTORS = Path(os.environ.get("URICODEC_VECTORS", "/nowhere"), "vectors_iri_urn.jsonl")
CORPORA = Path(os.environ.get("URICODEC_CORPORA", "/nowhere"))

# Whether references are valid, by the name of the test.
VALID = {
    "iri-valid": True,
    "ref-valid": True,
    "ref-invalid": False,
    "TestRFC3986Syntax.good": True,
    "TestRFC3986Syntax.goodSyntax": True,
    "TestRFC3986Syntax.badSyntax": False,
    "TestParseIPv4Address.good4": True,
    "TestParseIPv4Address.bad4": False,
    "TestParseIPv6Address.good6": True,
    "TestParseIPv6Address.bad6": False,
}
# Where ours is the other answer, by digests of the reference.
ZONE = "a zone (RFC 6874) is no part of RFC 3986, and RFC 9844 has taken it back"
DISPUTED = {
    "c3190faf3d47ab9dcd577dae5c706fb8": ZONE,
    "8a3811d4e1b69f2b4e203ba7a3ac0852": ZONE,
    "c71ad8a3e1cfbe7b9bbd07203907f5c1": ZONE,
}


def digest(text):
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def rows():
    if VECTORS.exists():
        for number, line in enumerate(VECTORS.read_text("utf-8").splitlines(), 1):
            _library, test, *rest = json.loads(line)
            if test in VALID:
                yield pytest.param(test, *rest[:1], rest[1:], id=f"{number}")


@pytest.mark.parametrize(("test", "text", "components"), list(rows()))
def test_vectors(test, text, components):
    production = "IRI" if test == "iri-valid" else "IRI-reference"
    reference = f"//{text}" if "Address" in test else text
    valid = iri.is_valid(reference, production)
    assert valid == (naive.check(reference, production, True) is None)
    if "IPv4" in test:
        valid = valid and iri.split(reference).host_kind == "IPv4address"
    assert valid is (VALID[test] is not (digest(text) in DISPUTED)), iri.check(reference, production)
    if reference.isascii():
        assert uri.is_valid(reference, "URI-reference") is iri.is_valid(reference, "IRI-reference")
    if len(components) == 6:
        parts = iri.split(reference)
        assert [parts.scheme, parts.host, parts.port, *parts[2:]] == components


# --- real data --------------------------------------------------------------------------------------------------------

FILES = ["iris_*", "urls_*", "hrefs_*", "hosts_*", "queries_*", "robots_paths.txt", "wiki_edits_urls.txt"]


def lines():
    """Every line of real data that should be a reference, as octets."""
    for name in FILES:
        for path in sorted(CORPORA.glob(name)):
            data = lzma.decompress(path.read_bytes()) if path.suffix == ".xz" else path.read_bytes()
            if path.suffix == ".csv":
                data = b"\n".join("\n".join(row).encode() for row in csv.reader(data.decode().splitlines()))
            yield pytest.param(dict.fromkeys(data.split(b"\n")), id=path.name)


@pytest.mark.parametrize("references", list(lines()))
def test_real_references(tier, references):
    """Each is taken apart, and put together again, or rejected with a code and an offset."""
    valid = 0
    for number, octets in enumerate(references):
        for split, unsplit, check, production, is_iri in (
            (uri.split, uri.unsplit, uri.check, "URI-reference", False),
            (iri.split, iri.unsplit, iri.check, "IRI-reference", True),
        ):
            fault = check(octets, production)
            if number % 16 == 0 and tier == "portable":
                assert fault == naive.check(octets, production, is_iri), octets
            if fault is None:
                valid += 1
                assert unsplit(split(octets)) == octets
                continue
            assert 0 <= fault.offset <= len(octets)
            with pytest.raises((UriSyntaxError, IriError)) as caught:
                split(octets)
            assert caught.value.offset == fault.offset
        try:
            text = octets.decode()
        except UnicodeDecodeError:
            continue
        fault = iri.check(octets, "IRI-reference")
        want = fault and (fault.code, len(octets[: fault.offset].decode()))
        assert brief(iri.check(text, "IRI-reference")) == want
        if want is None:
            parts = iri.split(text)
            assert iri.unsplit(parts) == text == naive.unsplit(naive.split(text)) and parts == naive.split(text)
    assert valid > len(references)  # of two readings


def test_hostile_inputs_of_browsers():
    """What browsers accept, the strict reading may reject; where it does not, nothing is lost."""
    for path in sorted(CORPORA.glob("wpt/*urltestdata*.json")):
        for row in json.loads(path.read_text("utf-8")):
            for text in (row["input"], row.get("base") or "") if isinstance(row, dict) else ():
                assert brief(uri.check(text)) == naive.check(text)
                assert brief(iri.check(text, "IRI-reference")) == naive.check(text, "IRI-reference", True)
                if uri.is_valid(text, "URI-reference"):
                    assert uri.unsplit(uri.split(text)) == text
