"""Every octet of every named set against the table of the standards, and ByteSet against Python's own set."""

import copy
import csv
import mmap
import operator
import pickle
from array import array
from pathlib import Path
from urllib.parse import quote_from_bytes

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.tables import each_row

from uricodec import ByteSet, bytesets

# The evidence for each public set: its column of data/bytesets.tsv. Productions of equal content share a column.
COLUMNS = {
    "JS_ENCODE_URI": "js.encodeURI_keeps",
    "JS_ENCODE_URI_COMPONENT": "js.encodeURIComponent_keeps",
    "RFC1630_EXTRA": "rfc1630.extra",
    "RFC1630_NATIONAL": "rfc1630.national",
    "RFC1630_PUNCTUATION": "rfc1630.punctuation",
    "RFC1630_RESERVED": "rfc1630.reserved",
    "RFC1630_SAFE": "rfc1630.safe",
    "RFC1630_URL_SAFE": "rfc1630.safe_urlbnf",
    "RFC1630_XALPHA": "rfc1630.xalpha_literal",
    "RFC1630_XPALPHA": "rfc1630.xpalpha_literal",
    "RFC1738_EXTRA": "rfc1738.extra",
    "RFC1738_NATIONAL": "rfc1738.national",
    "RFC1738_PUNCTUATION": "rfc1738.punctuation",
    "RFC1738_RESERVED": "rfc1738.reserved",
    "RFC1738_SAFE": "rfc1738.safe",
    "RFC2141_EXCLUDED": "rfc2141.excluded",
    "RFC2141_NEVER": "rfc2141.never",
    "RFC2141_NSS": "rfc2141.nss_literal",
    "RFC2141_OTHER": "rfc2141.other",
    "RFC2141_RESERVED": "rfc2141.reserved",
    "RFC2141_TRANS": "rfc2141.trans",
    "RFC2396_CONTROL": "rfc2396.control",
    "RFC2396_DELIMS": "rfc2396.delims",
    "RFC2396_MARK": "rfc2396.mark",
    "RFC2396_RESERVED": "rfc2396.reserved",
    "RFC2396_SPACE": "rfc2396.space",
    "RFC2396_UNRESERVED": "rfc2396.unreserved",
    "RFC2396_UNWISE": "rfc2396.unwise",
    "RFC2396_URIC": "rfc2396.uric_literal",
    "RFC3986_FRAGMENT": "rfc3986.query_fragment",
    "RFC3986_GEN_DELIMS": "rfc3986.gen_delims",
    "RFC3986_PCHAR": "rfc3986.pchar",
    "RFC3986_QUERY": "rfc3986.query_fragment",
    "RFC3986_REG_NAME": "rfc3986.reg_name",
    "RFC3986_RESERVED": "rfc3986.reserved",
    "RFC3986_SCHEME_TAIL": "rfc3986.scheme_tail",
    "RFC3986_SEGMENT_NZ_NC": "rfc3986.segment_nz_nc",
    "RFC3986_SUB_DELIMS": "rfc3986.sub_delims",
    "RFC3986_UNRESERVED": "rfc3986.unreserved",
    "RFC3986_URI_CHAR": "rfc3986.uri_char",
    "RFC3986_USERINFO": "rfc3986.userinfo",
    "RFC3987_IRI_TO_URI_NEVER": "rfc3987.iri2uri_never",
    "RFC3987_IRI_TO_URI_OPTIONAL": "rfc3987.iri2uri_optional",
    "RFC3987_URI_TO_IRI_DECODED": "rfc3987.uri2iri_decodes",
    "RFC8141_F_COMPONENT": "rfc3986.query_fragment",
    "RFC8141_NSS": "rfc8141.nss_literal",
    "RFC8141_Q_COMPONENT": "rfc8141.rq_literal",
    "RFC8141_R_COMPONENT": "rfc8141.rq_literal",
    "URLLIB_ALWAYS_SAFE": "py.quote_always_safe",
    "WHATWG_C0_CONTROL": "whatwg.enc.c0",
    "WHATWG_COMPONENT": "whatwg.enc.component",
    "WHATWG_FORM": "whatwg.enc.form",
    "WHATWG_FRAGMENT": "whatwg.enc.fragment",
    "WHATWG_PATH": "whatwg.enc.path",
    "WHATWG_QUERY": "whatwg.enc.query",
    "WHATWG_SPECIAL_QUERY": "whatwg.enc.special_query",
    "WHATWG_USERINFO": "whatwg.enc.userinfo",
}

# Not quoted: the row of the double quote has a bare `"`.
with (Path(__file__).parent / "data" / "bytesets.tsv").open(encoding="ascii", newline="") as file:
    ROWS = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))

ALL = ByteSet(range(256))
PRINTABLE = ByteSet(range(0x20, 0x7F))
ALPHANUM = ByteSet(c for c in range(128) if chr(c).isalnum())

members = st.frozensets(st.integers(0, 255))
ascii_members = st.frozensets(st.integers(0, 127))
OPERATIONS = [operator.or_, operator.and_, operator.sub, operator.xor]


# The named sets


def test_table_has_all_bytes():
    assert [int(row["octet"]) for row in ROWS] == list(range(256))
    assert all(int(row["hex"], 16) == int(row["octet"]) for row in ROWS)
    assert {row[column] for row in ROWS for column in COLUMNS.values()} == {"0", "1"}


@each_row(("name", "column"), COLUMNS.items())
def test_set_is_its_column(name, column):
    value = getattr(bytesets, name)
    assert type(value) is ByteSet
    assert {c: c in value for c in range(256)} == {int(row["octet"]): row[column] == "1" for row in ROWS}


def test_no_set_without_evidence_and_no_column_unused():
    public = {name for name, value in vars(bytesets).items() if isinstance(value, ByteSet) and name[0] != "_"}
    assert public == set(COLUMNS) == set(bytesets.__all__)
    assert set(COLUMNS.values()) == set(ROWS[0]) - {"octet", "hex", "char"}


def test_all_is_sorted_and_nothing_else_is_public():
    assert bytesets.__all__ == sorted(bytesets.__all__)
    assert {name for name in vars(bytesets) if name[0] != "_"} - set(bytesets.__all__) == {"ByteSet"}


# What the standards say besides the productions


def is_partition(whole, *parts):
    """Whether the parts are disjoint and their union is the whole."""
    union = ByteSet()
    for part in parts:
        union |= part
    return union == whole and sum(map(len, parts)) == len(whole)


def test_rfc1630_classes():
    c = bytesets
    rest = [c.RFC1630_EXTRA, c.RFC1630_RESERVED, c.RFC1630_NATIONAL, c.RFC1630_PUNCTUATION]
    # "%" introduces the escape, the backtick was forgotten, "+" is in the safe of the second BNF alone.
    assert is_partition(PRINTABLE - "%`+", ALPHANUM, c.RFC1630_SAFE, *rest)
    assert is_partition(PRINTABLE - "%`", ALPHANUM, c.RFC1630_URL_SAFE, *rest)


def test_double_quote_was_legal_in_rfc1630_alone():
    assert ord('"') in bytesets.RFC1630_XALPHA & bytesets.RFC1630_XPALPHA
    later = [bytesets.RFC1738_SAFE, bytesets.RFC1738_EXTRA, bytesets.RFC1738_RESERVED, bytesets.RFC2141_TRANS]
    later += [bytesets.RFC2396_URIC, bytesets.RFC3986_URI_CHAR, bytesets.RFC8141_NSS, bytesets.RFC8141_R_COMPONENT]
    assert not any(ord('"') in value for value in later)


def test_rfc1738_classes():
    c = bytesets
    classes = [c.RFC1738_SAFE, c.RFC1738_EXTRA, c.RFC1738_NATIONAL, c.RFC1738_PUNCTUATION, c.RFC1738_RESERVED]
    assert is_partition(PRINTABLE - " ", ALPHANUM, *classes)


def test_rfc2141_classes():
    assert is_partition(ALL, bytesets.RFC2141_TRANS, bytesets.RFC2141_EXCLUDED, bytesets.RFC2141_NEVER)
    assert is_partition(bytesets.RFC2141_TRANS, bytesets.RFC2141_NSS, bytesets.RFC2141_RESERVED)


def test_rfc2396_classes():
    c = bytesets
    excluded = [c.RFC2396_CONTROL, c.RFC2396_SPACE, c.RFC2396_DELIMS, c.RFC2396_UNWISE]
    assert is_partition(ByteSet(range(128)), c.RFC2396_UNRESERVED, c.RFC2396_RESERVED, *excluded)


def test_rfc3986_classes():
    c = bytesets
    assert is_partition(c.RFC3986_RESERVED, c.RFC3986_GEN_DELIMS, c.RFC3986_SUB_DELIMS)
    assert is_partition(c.RFC3986_URI_CHAR, c.RFC3986_UNRESERVED, c.RFC3986_RESERVED, ByteSet("%"))


def test_rfc3987_lists_are_what_a_uri_may_not_contain():
    c = bytesets
    assert c.RFC3987_IRI_TO_URI_OPTIONAL == PRINTABLE - c.RFC3986_URI_CHAR
    assert c.RFC3987_IRI_TO_URI_NEVER & c.RFC3986_URI_CHAR == c.RFC3987_IRI_TO_URI_NEVER
    assert c.RFC3987_URI_TO_IRI_DECODED == c.RFC3986_UNRESERVED


def test_whatwg_notes():
    # "gives identical results to JavaScript's encodeURIComponent() [sic]"
    assert ~bytesets.WHATWG_COMPONENT == bytesets.JS_ENCODE_URI_COMPONENT
    # "contains all code points, except the ASCII alphanumeric, U+002A (*), U+002D (-), U+002E (.), and U+005F (_)"
    assert ~bytesets.WHATWG_FORM == ALPHANUM | "*-._"
    # "only two end up encoding U+0025 (%)"
    encoding = [name for name in bytesets.__all__ if name.startswith("WHATWG") and ord("%") in getattr(bytesets, name)]
    assert encoding == ["WHATWG_COMPONENT", "WHATWG_FORM"]


def test_urllib_always_safe_is_the_running_interpreter_s():
    kept = [c for c in range(256) if quote_from_bytes(bytes([c]), safe="") == chr(c)]
    assert list(bytesets.URLLIB_ALWAYS_SAFE) == kept


# ByteSet: construction


@each_row(
    "octets",
    [
        "ab",
        b"ab",
        bytearray(b"ab"),
        memoryview(b"ab"),
        memoryview(b"a-b-")[::2],
        array("B", b"ab"),
        [97, 98],
        (98, 97, 98),
        {97, 98},
        range(97, 99),
        {97: 1, 98: 2},
        ByteSet("ab"),
        type("Text", (str,), {})("ab"),
        type("Octets", (bytes,), {})(b"ab"),
        type("Buffer", (bytearray,), {})(b"ab"),
    ],
)
def test_makes_a_set_from_any_bytes(octets):
    assert ByteSet(octets) == ByteSet(members=octets) == ByteSet(b"ab")


def test_made_from_an_iterator():
    assert ByteSet(iter(b"ba")) == ByteSet(c for c in (97, 98)) == ByteSet("ab")


def test_made_from_whatever_has_an_index():
    class Ninety:
        def __index__(self):
            return 90

    assert list(ByteSet([Ninety(), True, False])) == [0, 1, 90]
    assert Ninety() in ByteSet("Z")
    assert True in ByteSet([1])


def test_empty():
    for empty in (ByteSet(), ByteSet(""), ByteSet(b""), ByteSet([])):
        assert empty == ByteSet()
        assert len(empty) == 0
        assert not empty
        assert list(empty) == []
    assert ByteSet([0])


@each_row(
    ("octets", "said"),
    [
        ("aé", "'é'"),
        ("\x80", r"'\\x80'"),
        ("日本", "'日'"),
        ("\ud800", r"'\\ud800'"),
        ([97, 256], "256"),
        ([-1], "-1"),
        ([2**40], str(2**40)),
    ],
)
def test_values_that_are_no_bytes(octets, said):
    with pytest.raises(ValueError, match=said):
        ByteSet(octets)


@each_row("octets", [None, 5, 1.5, object(), ["a"], [b"a"], [97.0], [None], [[97]], ("ab", "c")])
def test_types_that_are_no_bytes(octets):
    with pytest.raises(TypeError):
        ByteSet(octets)


def test_arguments():
    with pytest.raises(TypeError):
        ByteSet(b"a", b"b")
    with pytest.raises(TypeError):
        ByteSet(octets=b"a")


def test_an_iterator_s_own_error_comes_through():
    def failing():
        yield 97
        raise LookupError("the source broke")

    with pytest.raises(LookupError, match="the source broke"):
        ByteSet(failing())


def test_released_memoryview():
    view = memoryview(b"a")
    view.release()
    with pytest.raises(ValueError, match="released"):
        ByteSet(view)


@pytest.mark.parametrize("huge", [2**63, -(2**63) - 1, 10**100])
def test_integers_beyond_a_machine_word(huge):
    assert huge not in ByteSet("a")
    with pytest.raises(ValueError, match="expected integers from 0 to 255"):
        ByteSet([huge])


def test_made_from_a_buffer_that_iterates_over_bytes():
    with mmap.mmap(-1, 2) as buffer:
        buffer[:] = b"ab"
        assert ByteSet(buffer) == ByteSet("ab")


# ByteSet: against Python's set


@given(members)
def test_members(python):
    ours = ByteSet(python)
    assert list(ours) == sorted(python)
    assert len(ours) == len(python)
    assert bool(ours) == bool(python)
    assert bytes(ours) == bytes(sorted(python))
    assert [c in ours for c in range(-300, 600)] == [c in python for c in range(-300, 600)]


@given(st.lists(st.integers(0, 255)))
def test_order_and_repetition_do_not_matter(octets):
    assert ByteSet(octets) == ByteSet(octets[::-1]) == ByteSet(octets * 2) == ByteSet(bytes(octets))


@pytest.mark.slow
@pytest.mark.parametrize("operation", OPERATIONS)
@given(left=members, right=members)
def test_operations(operation, left, right):
    expected = sorted(operation(left, right))
    ours = operation(ByteSet(left), ByteSet(right))
    assert type(ours) is ByteSet
    assert list(ours) == expected
    for kind in (bytes, bytearray):
        assert list(operation(ByteSet(left), kind(right))) == expected
        assert list(operation(kind(left), ByteSet(right))) == expected


@pytest.mark.slow
@pytest.mark.parametrize("operation", OPERATIONS)
@given(left=ascii_members, right=ascii_members)
def test_operations_with_text(operation, left, right):
    expected = sorted(operation(left, right))
    assert list(operation(ByteSet(left), bytes(right).decode("ascii"))) == expected
    assert list(operation(bytes(left).decode("ascii"), ByteSet(right))) == expected


@given(members)
def test_complement(python):
    ours = ByteSet(python)
    assert list(~ours) == sorted(set(range(256)) - python)
    assert ~~ours == ours
    assert ours | ~ours == ALL
    assert ours & ~ours == ByteSet()


@given(members, members, members)
def test_laws(x, y, z):
    a, b, c = ByteSet(x), ByteSet(y), ByteSet(z)
    assert ~(a | b) == ~a & ~b
    assert ~(a & b) == ~a | ~b
    assert a - b == a & ~b
    assert a ^ b == (a | b) - (a & b)
    assert a & (b | c) == a & b | a & c
    assert a | (b & c) == (a | b) & (a | c)
    assert a | (a & b) == a == a & (a | b)


@given(members, members)
def test_equality_and_hash(x, y):
    a, b = ByteSet(x), ByteSet(y)
    assert (a == b) == (x == y) != (a != b)
    assert len({a, b}) == len({x, y})
    assert hash(a) == hash(ByteSet(sorted(x, reverse=True)))


@each_row("other", ["ab", b"ab", {97, 98}, frozenset((97, 98)), [97, 98], None, 0])
def test_equal_to_no_other_type(other):
    assert ByteSet("ab") != other
    assert other != ByteSet("ab")


@each_row("operation", OPERATIONS)
@each_row("other", [5, None, 1.5, object()])
def test_operations_with_other_types(operation, other):
    with pytest.raises(TypeError, match="unsupported operand"):
        operation(ByteSet("a"), other)
    with pytest.raises(TypeError, match="unsupported operand"):
        operation(other, ByteSet("a"))


@each_row("operation", OPERATIONS)
@each_row("other", [memoryview(b"bc"), [98, 99], (98, 99), {98, 99}, range(98, 100)])
def test_operations_with_any_iterable(operation, other):
    assert operation(ByteSet("ab"), other) == operation(ByteSet("ab"), ByteSet("bc"))
    assert operation(other, ByteSet("ab")) == operation(ByteSet("bc"), ByteSet("ab"))


@pytest.mark.parametrize("operation", OPERATIONS)
def test_operations_with_text_that_is_not_ascii(operation):
    with pytest.raises(ValueError, match="expected ASCII characters, got 'é'"):
        operation(ByteSet("a"), "é")
    with pytest.raises(ValueError, match="expected ASCII characters, got 'é'"):
        operation("é", ByteSet("a"))


@each_row(
    "other", ["a", b"a", bytearray(b"a"), memoryview(b"a"), 97.0, None, ByteSet("a"), type("Text", (str,), {})("a")]
)
def test_membership_is_asked_of_integers(other):
    with pytest.raises(TypeError):
        operator.contains(ByteSet("a"), other)


# ByteSet: a value


@given(members)
def test_pickle_copy_and_repr(python):
    ours = ByteSet(python)
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(ours, protocol)) == ours
    assert copy.copy(ours) == copy.deepcopy(ours) == ByteSet(ours) == ours
    assert repr(ours) == f"ByteSet({bytes(sorted(python))!r})"
    assert eval(repr(ours), {"ByteSet": ByteSet}) == ours


def test_operations_leave_their_operands_alone():
    value = before = ByteSet("ab")
    value |= "c"
    value -= b"a"
    value &= "bc"
    value ^= "c"
    assert value == ByteSet("b")
    assert before == ByteSet("ab")


def test_a_set_does_not_follow_its_source():
    source = bytearray(b"ab")
    value = ByteSet(source)
    source[:] = b"xyz"
    assert value == ByteSet("ab")


def test_immutable():
    value = ByteSet("ab")
    ByteSet.__init__(value, b"xyz")
    for change in (
        lambda: setattr(value, "name", 1),
        lambda: setattr(value, "ascii", False),
        lambda: operator.setitem(value, 0, 1),
        lambda: operator.delitem(value, 97),
        lambda: setattr(ByteSet, "name", 1),
    ):
        with pytest.raises((AttributeError, TypeError)):
            change()
    assert value == ByteSet("ab")


def test_final():
    with pytest.raises(TypeError):
        type("Sub", (ByteSet,), {})
