"""`uricodec.urn` and `uricodec.urn.conversions`: what is not compiled, against the reference and the documents."""

import subprocess
import sys
import uuid

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from reference import urn as naive_urn
from reference.errors import UriError as Invalid
from support.tables import each_row

from uricodec import urn
from uricodec.bytesets import RFC2141_EXCLUDED, RFC2141_NEVER
from uricodec.errors import UrnError
from uricodec.urn import conversions

ANY_NAME = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=40)
SOME_NAMES = st.one_of(ANY_NAME, st.text("%/?#:;+aZ09 é€😈\x1f\x7f~&", max_size=20))
OCTETS = st.binary(max_size=40).map(lambda octets: octets.replace(b"\0", b"."))
RESERVED = st.text("():;=@$!*',+a0%", max_size=4)


def rejected(function, *arguments):
    with pytest.raises(UrnError) as caught:
        function(*arguments)
    assert caught.value.input is arguments[0] or caught.value.input == arguments[0]
    return caught.value.offset


# --- encode_nss, decode_nss -------------------------------------------------------------------------------------------


@given(SOME_NAMES, RESERVED)
@example("%41", "")
@example("", "")
def test_a_name_comes_back(name, reserved):
    nss = urn.encode_nss(name, reserved)
    assert nss == naive_urn.encode_nss(name, reserved)
    assert urn.decode_nss(nss) == name == naive_urn.decode_nss(nss)
    if nss:
        assert urn.rfcs(f"urn:example:{nss}") == ("2141", "8141")
        assert urn.normalize(f"urn:example:{nss}") == f"urn:example:{nss}"
    for character in set(reserved) - set("a0%"):
        assert character not in nss


@given(OCTETS)
def test_bytes_come_back(octets):
    nss = urn.encode_nss(octets)
    assert nss == naive_urn.encode_nss(octets) and isinstance(nss, bytes)
    assert urn.decode_nss(nss) == octets == naive_urn.decode_nss(nss)
    for kind in bytearray, memoryview:
        assert urn.encode_nss(kind(octets)) == nss and urn.decode_nss(kind(nss)) == octets


@given(st.text("%0aF27-é/?#~& ", max_size=12))
def test_decode_nss_rejects_like_the_reference(nss):
    try:
        expected = naive_urn.decode_nss(nss)
    except UnicodeDecodeError:
        rejected(urn.decode_nss, nss)
    except Invalid as error:
        assert rejected(urn.decode_nss, nss) == error.offset
    else:
        assert urn.decode_nss(nss) == expected


def test_rejects_names_without_an_nss():
    assert rejected(urn.encode_nss, "a\0") == 1
    assert rejected(urn.encode_nss, b"ab\0") == 2
    assert rejected(urn.encode_nss, "ab\ud800") == 2
    with pytest.raises(ValueError, match="ASCII"):
        urn.encode_nss("a", reserved="é")
    assert rejected(urn.decode_nss, "a%00") == 1
    assert rejected(urn.decode_nss, "a%2") == 1
    assert rejected(urn.decode_nss, "é") == 0
    assert rejected(urn.decode_nss, b"a b") == 1
    assert rejected(urn.decode_nss, "ab%C3%A9%C3") == 8
    assert rejected(urn.decode_nss, "%ED%A0%80") == 0
    assert urn.decode_nss(b"%C3") == b"\xc3"


def test_rfc_2141_section_2_3_1_literal_use_of_percent_and_of_what_a_namespace_reserves():
    assert urn.encode_nss("100%") == "100%25"
    assert urn.encode_nss("%41") == "%2541"
    assert urn.encode_nss("a:b(c)", reserved=":(") == "a%3Ab%28c)"
    # 2.3.2: "Namespace developers SHOULD NOT use these characters in unencoded form".
    assert urn.encode_nss("/?#") == "%2F%3F%23"
    # "a character MUST NOT be "%"-encoded if the character is not a reserved character".
    assert urn.encode_nss("aZ09()+,-.:=@;$_!*'") == "aZ09()+,-.:=@;$_!*'"


# --- display ----------------------------------------------------------------------------------------------------------

TOKENS = ["%C3%A9", "%c3", "%A9", "%E2%82%AC", "%F0%9F%98%88", "%E2%80%AE", "%C2%A0", "%ED%A0%80", "%41", "%2c", "%00"]
TOKENS += ["%F4%90%80%80", "%C2%85", "%CC%81", "%EF%BF%BE", "%D0%B0", "%FF", "a", "B", "-", ":", "?+", "?=", "#", "/x"]


@given(st.lists(st.sampled_from(TOKENS), min_size=1, max_size=10).map("".join))
def test_display(tail):
    name = f"URN:Example:a{tail}"
    if not urn.is_valid(name, "any"):
        assert rejected(urn.display, name) > 0
        return
    shown = urn.display(name)
    canonical = urn.display(name, canonical=True)
    assert shown == naive_urn.display(name) == urn.display(name.encode()) == urn.display(urn.parse(name, "any"))
    assert canonical == urn.normalize(name, "2141", "any")
    # Nothing is lost, nothing can hide, and what is ASCII stays where it is.
    assert "".join(c if c.isascii() else urn.encode_nss(c) for c in shown) == canonical
    assert shown.isprintable()


def test_display_keeps_deceiving_characters_encoded():
    assert urn.display("urn:example:%E2%80%AEabc%C2%A0") == "urn:example:%E2%80%AEabc%C2%A0"
    assert urn.display("urn:example:a%2Cb%20%25") == "urn:example:a%2Cb%20%25"
    assert urn.display("urn:x:caf%c3%a9") == "urn:x:café"


# --- finding ----------------------------------------------------------------------------------------------------------


def test_the_bytes_that_end_a_urn():
    assert urn.TERMINATORS == RFC2141_EXCLUDED | RFC2141_NEVER
    assert bytes(urn.TERMINATORS) == bytes(sorted(naive_urn.TERMINATORS))
    assert urn.find(b"sideburn:mutton:chops") == []
    text = b"<urn:isbn:0451450523>, urn:x:a&b %urn:y:z%2"
    assert [text[start:end] for start, end in urn.find(text)] == [b"urn:isbn:0451450523", b"urn:x:a", b"urn:y:z"]


SEPARATORS = st.lists(
    st.sampled_from([b" ", b"<", b'"', b"\n", b"\0", b"&", b"%", b"%zz-", "é".encode(), b"%00="]), min_size=1
)
NAMES = st.lists(st.sampled_from(["a", "Z", "0", "-", ":", "/", "?", "#", "%2f", "%C3", ".", ",", "urn:", "urn:ab:c"]))


@pytest.mark.slow
@given(st.lists(st.tuples(SEPARATORS.map(b"".join), st.sampled_from(["urn", "URN", "uRn"]), NAMES.map("".join))))
def test_urns_in_other_bytes_are_found_exactly(pieces):
    text, places = b"", []
    for separator, scheme, tail in pieces:
        name = f"{scheme}:ab:{tail or 'x'}".encode()
        assert urn.is_valid(name, "2141")
        # A separator may end in "%", and the "ur" behind it are no digits of its triplet.
        text += separator
        places.append((len(text), len(text) + len(name)))
        text += name
    assert urn.find(text + b"~") == places == naive_urn.find(text + b"~")


@given(st.lists(st.sampled_from([b"urn:", b"URN:", b"ab:", b"a", b":", b"%", b"41", b" ", b"-", b"~", b"\xff"])))
def test_find_finds_like_the_reference(pieces):
    text = b"".join(pieces)
    assert urn.find(text) == naive_urn.find(text)
    for terminators in b"~", b"", b"%", b":-":
        assert urn.find(text, terminators) == naive_urn.find(text, terminators)


# --- the module -------------------------------------------------------------------------------------------------------


def test_names_are_there():
    for module in urn, conversions:
        assert sorted(module.__all__) == sorted(set(module.__all__))
        assert all(hasattr(module, name) for name in module.__all__)


def test_hot_functions_are_the_compiled_ones():
    for name in "check", "is_valid", "rfcs", "parse", "normalize", "equivalent", "key", "find":
        assert type(getattr(urn, name)).__name__ in {"cython_function_or_method", "builtin_function_or_method"}


@pytest.mark.process
def test_the_package_does_not_pay_for_urns():
    code = "import sys, uricodec; print([m for m in sys.modules if 'urn' in m or 'namespaces' in m])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert eval(done.stdout) == []
    code = "import sys, uricodec.urn; print({'uuid', 'urllib', 'asyncio', 'inspect'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert eval(done.stdout) == set()


# --- public identifiers -----------------------------------------------------------------------------------------------

# RFC 3151 section 3, all of it.
RFC3151 = {
    "ISO/IEC 10179:1996//DTD DSSSL Architecture//EN": "ISO%2FIEC+10179%3A1996:DTD+DSSSL+Architecture:EN",
    "ISO 8879:1986//ENTITIES Added Latin 1//EN": "ISO+8879%3A1986:ENTITIES+Added+Latin+1:EN",
    "-//OASIS//DTD DocBook XML V4.1.2//EN": "-:OASIS:DTD+DocBook+XML+V4.1.2:EN",
    "+//IDN example.org//DTD XML Bookmarks 1.0//EN//XML": "%2B:IDN+example.org:DTD+XML+Bookmarks+1.0:EN:XML",
    "-//ArborText::prod//DTD Help Document::19970708//EN": "-:ArborText;prod:DTD+Help+Document;19970708:EN",
    "foo": "foo",
    "3+3=6": "3%2B3=6",
    "-//Acme, Inc.//DTD Book Version 1.0": "-:Acme,+Inc.:DTD+Book+Version+1.0",
}


@each_row("public_id", RFC3151)
def test_rfc_3151_section_3(public_id):
    name = "urn:publicid:" + RFC3151[public_id]
    assert conversions.from_public_id(public_id) == name
    assert conversions.to_public_id(name) == public_id
    assert conversions.to_public_id(urn.parse(name.lower().replace("urn", "URN"))) == public_id.lower()


@given(st.text(" \n\raZ9-'()+,./:=?;!*#@$_%", min_size=1, max_size=20))
@example("///")
@example(":::::/ /")
@example(" a  b ")
def test_public_identifiers_come_back(public_id):
    text = " ".join(public_id.split())
    if not text:
        assert rejected(conversions.from_public_id, public_id) == 0
        return
    name = conversions.from_public_id(public_id)
    assert urn.rfcs(name) == ("2141", "8141")
    assert urn.validate(name).ok is True
    assert conversions.to_public_id(name) == text


@given(st.lists(st.sampled_from(["%2F", "%3A", ":", ";", "a", "+", "%2b"]), min_size=1, max_size=6).map("".join))
def test_only_transcriptions_are_public_identifiers(nss):
    name = f"urn:publicid:{nss}"
    try:
        public_id = conversions.to_public_id(name)
    except UrnError:
        return
    assert conversions.from_public_id(public_id) == urn.normalize(name)


def test_white_space_of_public_identifiers():
    """RFC 3151 section 1.1 counts the tab, which XML does not have in them."""
    assert conversions.from_public_id("\t-//a \r\n\tb//\t") == "urn:publicid:-:a+b:"


@pytest.mark.parametrize("component", ["?+r", "?=q", "#f", "#"])
def test_components_would_be_lost(component):
    for function, name in (
        (conversions.to_public_id, "urn:publicid:a"),
        (conversions.to_uuid, f"urn:uuid:{uuid.UUID(int=0)}"),
        (conversions.to_oid, "urn:oid:1.3"),
        (conversions.to_isbn, "urn:isbn:0395363411"),
    ):
        function(name)
        assert rejected(function, name + component) == len(name)


def test_rejects_invalid_uuids():
    assert conversions.from_uuid(str(uuid.UUID(int=1)).upper()).lower() == conversions.from_uuid(uuid.UUID(int=1))
    assert rejected(conversions.from_uuid, "f81d4fae") == 0
    assert rejected(conversions.from_uuid, "") == 0


def test_rejects_invalid_public_identifiers():
    assert rejected(conversions.from_public_id, "a&b") == 1
    assert rejected(conversions.from_public_id, "é") == 0
    assert rejected(conversions.to_public_id, "urn:publicid:%2F:") == 13  # reads "///", which is ":%2F"
    assert rejected(conversions.to_public_id, "urn:publicid:a++b") == 13
    assert rejected(conversions.to_public_id, "urn:isbn:0395363411") == 4


# --- UUIDs, OIDs, ISBNs -----------------------------------------------------------------------------------------------


@given(st.uuids())
@example(uuid.UUID(int=0))
@example(uuid.UUID(int=2**128 - 1))
def test_uuids_come_back(value):
    name = conversions.from_uuid(value)
    assert name == value.urn
    assert conversions.to_uuid(name) == value == conversions.to_uuid(name.upper().encode())
    assert urn.validate(name).ok


@given(st.integers(0, 2), st.integers(0, 39), st.lists(st.integers(0, 2**64), max_size=8))
def test_oids_come_back(first, second, rest):
    arcs = (first, second, *rest)
    name = conversions.from_oid(arcs)
    assert conversions.to_oid(name) == arcs
    assert conversions.from_oid(name.removeprefix("urn:oid:")) == name


@given(st.integers(0, 10**9 - 1))
def test_isbns_come_back(number):
    body = f"{number:09}"
    thirteen = naive_urn.isbn_13(next(body + x for x in "0123456789X" if naive_urn.isbn_13(body + x) != body + x))
    ten = conversions.isbn_10(thirteen)
    assert ten[:9] == body and conversions.isbn_13(ten) == thirteen == conversions.isbn_13(thirteen)
    assert conversions.isbn_10(ten) == ten
    names = [conversions.from_isbn(ten), conversions.from_isbn(thirteen)]
    assert [conversions.to_isbn(name) for name in names] == [ten, thirteen]
    assert urn.equivalent(*names, level="functional") and not urn.equivalent(*names, level="namespace")


@each_row(
    ("isbn", "ten", "thirteen"),
    [
        ("0-395-36341-1", "0395363411", "9780395363416"),
        ("978-0-395-36341-6", "0395363411", "9780395363416"),
        ("0-8044-2957-x", "080442957X", "9780804429573"),
        ("978-0-8044-2957-3", "080442957X", "9780804429573"),
    ],
)
def test_isbns_lose_their_hyphens(isbn, ten, thirteen):
    assert (conversions.isbn_10(isbn), conversions.isbn_13(isbn)) == (ten, thirteen)
    name = conversions.from_isbn(isbn)
    assert name == f"urn:isbn:{isbn}"
    assert conversions.to_isbn(name) == conversions.to_isbn(name.encode()) == isbn.replace("-", "").upper()
    assert {conversions.isbn_10(ten), conversions.isbn_10(thirteen)} == {ten}
    assert {conversions.isbn_13(ten), conversions.isbn_13(thirteen)} == {thirteen}


def test_rejects_urns_of_other_objects():
    assert rejected(conversions.to_uuid, "urn:uuid:f81d4fae7dec11d0a76500a0c91e6bf6") == 9
    assert rejected(conversions.to_oid, "urn:oid:1.02") == 8
    assert rejected(conversions.to_isbn, "urn:isbn:0395363412") == 9
    assert rejected(conversions.to_isbn, "urn:issn:1046-8188") == 4
    assert rejected(conversions.from_isbn, "0-395-36341-2") == 0
    assert rejected(conversions.isbn_10, "9791034304097") == 0
    with pytest.raises(UrnError):
        conversions.from_oid((1, 40))
    with pytest.raises(UrnError):
        conversions.from_oid((1, -1))
    with pytest.raises(ValueError):
        conversions.to_oid("urn:oid:2." + "9" * 5000)
