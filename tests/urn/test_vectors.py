"""Every row of tests/data/urn_cases.tsv: the examples of the RFCs and of the registrations, and what follows from them.

A row has a source, a spec ("ns": at level "namespace", a verdict included), an operation, its inputs and what is
expected, as JSON. Where a row disagrees with an RFC, or two RFCs disagree, tests/data/urn_disputed.tsv has our answer
and why; all other rows must be right.

"scim" rows are of a mode of one library in which
"ietf:params:scim" is the NID and the rest has a grammar of its own: no RFC on URNs knows it, so that ours is the answer
for the same text as a URN.
"""

import functools
import json
import re
from pathlib import Path
from typing import NamedTuple

import pytest
from reference import urn as naive_urn
from reference.errors import UriError as Invalid
from support.tables import each_row

from uricodec import urn
from uricodec.errors import UrnError

DATA = Path(__file__).parents[1] / "data"


class Row(NamedTuple):
    place: str
    source: str
    spec: str
    operation: str
    first: object
    second: object
    expected: object
    dispute: str

    @property
    def answer(self):
        """What the row says that the operation gives."""
        return self.expected if self.operation in {"valid", "equal", "hash"} else self.second

    @property
    def case(self):
        return json.dumps([self.source, self.spec, self.operation, self.first, self.second])


def tsv(path):
    lines = path.read_text("utf-8").split("\n")
    return [(number, line.split("\t")) for number, line in enumerate(lines[1:], 2) if line]


@functools.cache
def read_rows():
    return [
        Row(f"line {number}", json.loads(source), spec, operation, *map(json.loads, fields))
        for number, (source, spec, operation, *fields, _where) in tsv(DATA / "urn_cases.tsv")
    ]


@functools.cache
def read_decisions():
    decisions = {}
    for _, (source, spec, operation, *fields) in tsv(DATA / "urn_disputed.tsv"):
        first, second, ours, why = map(json.loads, fields)
        decisions[json.dumps([json.loads(source), spec, operation, first, second])] = ours, why
    return decisions


def parts(library, text, spec):
    name = library.parse(text, spec)
    if library is naive_urn:
        return dict(zip(["nid", "nss", "r", "q", "f"], name, strict=False))
    return {"nid": name.nid, "nss": name.nss, "r": name.r_component, "q": name.q_component, "f": name.f_component}


def nid_class(text):
    found = urn.validate(text)
    if found.nid_class == "reserved":
        return "reserved(country)" if "country" in found.reason else "reserved(A-label-like)"
    return {"experimental": "experimental(3406)"}.get(found.nid_class, found.nid_class)


def answer(library, row):
    """What a library, ours or its reference, gives for a row; None for UrnError."""
    spec = "8141" if row.spec in {"ns", "scim"} else row.spec
    level = "namespace" if row.spec == "ns" else spec
    first, second = row.first, row.second
    operations = {
        "valid": lambda: library.is_valid(first, spec) and (row.spec != "ns" or urn.validate(first).ok is not False),
        "equal": lambda: library.equivalent(first, second, level),
        "hash": lambda: hash(urn.parse(first, spec)) == hash(urn.parse(second, spec)),
        "normalize": lambda: library.normalize(first, level),
        "parse": lambda: {part: parts(library, first, spec)[part] for part in second},
        "nid": lambda: parts(library, first, spec)["nid"],
        "nss-decoded": lambda: library.decode_nss(parts(library, first, spec)["nss"]),
        "decode": lambda: library.decode_nss(parts(library, first, spec)["nss"]),
        "r-decoded": lambda: library.decode_nss(parts(library, first, spec)["r"]),
        "q-decoded": lambda: library.decode_nss(parts(library, first, spec)["q"]),
        # One source gives the NSS alone, the other a whole URN.
        "encode": lambda: ("urn:example:" if "urn:example:" in second else "") + library.encode_nss(first),
        "extract": lambda: [first.encode()[slice(*place)].decode() for place in library.find(first.encode())],
        "isbn13": lambda: parts(library, library.normalize(first, "functional"), spec)["nss"],
        "nidclass": lambda: nid_class(first),
        "iri": lambda: library.display(first),
    }
    try:
        return operations[row.operation]()
    except (UrnError, Invalid):
        return None


@each_row("row", read_rows)
def test_row(row):
    expected = read_decisions()[row.case][0] if row.case in read_decisions() else row.answer
    for library in urn, naive_urn:
        found = answer(library, row)
        if row.operation == "equal":
            found = found or False  # what is no URN is equal to none
        assert found == expected, library.__name__


def test_every_disputed_row_is_decided():
    """With a reason: a decision is about a row that is there."""
    rows, decisions = read_rows(), read_decisions()
    assert all(row.case in decisions for row in rows if row.dispute)
    assert set(decisions) <= {row.case for row in rows}
    assert all(why for _, why in decisions.values())


def test_all_operations_occur():
    assert {row.operation for row in read_rows()} >= {"valid", "equal", "normalize", "parse"}
    assert len(read_rows()) >= 1108


# --- the examples of the RFCs, by name --------------------------------------------------------------------------------

# RFC 2141 section 6.
SIX = [
    *("URN:foo:a123,456", "urn:foo:a123,456", "urn:FOO:a123,456", "urn:foo:A123,456", "urn:foo:a123%2C456"),
    "URN:FOO:a123%2c456",
]


def classes(names, level):
    """Which of the names are the same, by their numbers from 1."""
    found = {}
    for number, name in enumerate(names, 1):
        found.setdefault(urn.key(name, level), []).append(number)
    return list(found.values())


@pytest.mark.parametrize("level", ["2141", "8141", "namespace"])
def test_rfc_2141_section_6(level):
    """ "URNs 1, 2, and 3 are all lexically equivalent. URN 4 is not lexically equivalent any of the other URNs of the
    above set. URNs 5 and 6 are only lexically equivalent to each other." """
    assert classes(SIX, level) == [[1, 2, 3], [4], [5, 6]]
    for i, a in enumerate(SIX):
        for j, b in enumerate(SIX):
            same = i == j or {i, j} <= {0, 1, 2} or {i, j} == {4, 5}
            assert urn.equivalent(a, b, level) is same
            assert (urn.parse(a, "2141") == urn.parse(b, "2141")) is same


RFC8141_FIRST = ["urn:example:a123,z456", "URN:example:a123,z456", "urn:EXAMPLE:a123,z456"]
RFC8141_SECOND = ["urn:example:a123,z456?+abc", "urn:example:a123,z456?=xyz", "urn:example:a123,z456#789"]
RFC8141_THIRD = ["urn:example:a123,z456/foo", "urn:example:a123,z456/bar", "urn:example:a123,z456/baz"]
RFC8141_FOURTH = ["urn:example:a123%2Cz456", "URN:EXAMPLE:a123%2cz456"]
RFC8141_FIFTH = ["urn:example:A123,z456", "urn:example:a123,Z456"]
RFC8141_SIXTH = ["urn:example:%D0%B0123,z456"]


def test_rfc_8141_section_3_2_first_scheme_and_nid_are_case_insensitive():
    assert classes(RFC8141_FIRST, "8141") == [[1, 2, 3]]


def test_rfc_8141_section_3_2_second_components_are_not_taken_into_account():
    assert classes(RFC8141_FIRST + RFC8141_SECOND, "8141") == [[1, 2, 3, 4, 5, 6]]
    assert classes(RFC8141_FIRST + RFC8141_SECOND[:1], "bytes") == [[1], [2], [3], [4]]


def test_rfc_8141_section_3_2_third_the_slash_is_taken_into_account():
    assert classes(RFC8141_FIRST + RFC8141_SECOND + RFC8141_THIRD, "8141") == [[1, 2, 3, 4, 5, 6], [7], [8], [9]]


def test_rfc_8141_section_3_2_fourth_triplets_are_not_decoded():
    assert classes(RFC8141_FIRST + RFC8141_FOURTH, "8141") == [[1, 2, 3], [4, 5]]


def test_rfc_8141_section_3_2_fifth_the_nss_is_case_sensitive():
    assert classes(RFC8141_FIRST + RFC8141_FIFTH, "8141") == [[1, 2, 3], [4], [5]]


def test_rfc_8141_section_3_2_sixth_what_looks_the_same_is_not():
    assert classes(RFC8141_FIRST + RFC8141_SIXTH, "8141") == [[1, 2, 3], [4]]
    assert urn.display(RFC8141_SIXTH[0]) == "urn:example:\N{CYRILLIC SMALL LETTER A}123,z456"


def test_rfc_8141_section_2_examples_of_components():
    r = urn.parse("urn:example:foo-bar-baz-qux?+CCResolve:cc=uk")
    q = urn.parse("urn:example:weather?=op=map&lat=39.56&lon=-104.85&datetime=1969-07-21T02:56:15Z")
    f = urn.parse("urn:example:foo-bar-baz-qux#somepart")
    assert (r.nss, r.r_component, r.q_component, r.f_component) == ("foo-bar-baz-qux", "CCResolve:cc=uk", None, None)
    assert q.q_component == "op=map&lat=39.56&lon=-104.85&datetime=1969-07-21T02:56:15Z"
    assert (f.nss, f.f_component) == ("foo-bar-baz-qux", "somepart")
    assert urn.parse("urn:example:1/406/47452/2").nss == "1/406/47452/2"


def test_only_ascii_is_folded():
    assert not urn.is_valid("urn:\N{KELVIN SIGN}nx:x", "any")
    assert re.fullmatch("(?i:knx)", "\N{KELVIN SIGN}nx")  # where others fail
    assert urn.key("urn:pin:%e2%84%aaA", "functional") == "urn:pin:%E2%84%AAa"
