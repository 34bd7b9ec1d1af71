"""The namespaces of URNs: a rule only merges, a validator says what the registration says, rows are added safely."""

import itertools
import random
import re
import threading
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from reference import urn as naive_urn
from reference import urn_forms as naive_forms
from support.tables import each_row
from support.timing import assert_linear

from uricodec import bulk, urn
from uricodec.errors import UnknownNamespaceError, UrnError
from uricodec.urn import namespaces
from uricodec.urn._forms import Form, dnb_check_digit
from uricodec.urn._syntax import RULE_NUMBERS
from uricodec.urn.namespaces import NAMESPACES, RULES, lookup, nid_class, register_namespace

LEVELS = naive_urn.LEVELS
TABLE = [
    line.split("\t")
    for line in Path(__file__).parents[1].joinpath("data", "urn_namespaces.tsv").read_text("utf-8").splitlines()[1:]
]
# The table's names of rules, where ours are others.
OURS = {
    **dict.fromkeys(["nss-fold", "uuid"], "nss"),
    "seg1-fold": "segment",
    **dict.fromkeys(["nbn", "uci"], "hyphen"),
    **dict.fromkeys(["isbn", "issn"], "drop-hyphens"),
    "ietf": "except-params",
    "smpte": "only-ul",
}


# --- the table --------------------------------------------------------------------------------------------------------


def test_every_row_of_the_registry_is_there():
    assert len(TABLE) == 91
    assert [row[0] for row in TABLE] == [nid for nid in NAMESPACES if nid in {row[0] for row in TABLE}]


@each_row("row", TABLE)
def test_a_row_says_what_the_registry_says(row):
    nid, references, rule, _, _, status = row
    ours = lookup(nid.upper())
    assert ours.rule == OURS.get(rule, rule)
    assert set(re.sub(r"\(.*\)", "", references).split(",")) <= set(ours.references)
    assert ours.read is not status.startswith("UNVERIFIED")
    assert ours.nid == nid


def test_unread_registrations_have_no_rule_and_no_validator():
    unread = [row for row in NAMESPACES.values() if not row.read]
    assert len(unread) == sum(row[5].startswith("UNVERIFIED") for row in TABLE) == 23
    assert {(row.rule, row.validate, row.references) for row in unread} == {("base", None, ("template",))}


def test_the_rules_are_those_of_the_loops():
    assert list(RULES) == list(RULE_NUMBERS)


def test_the_table_cannot_be_written():
    with pytest.raises(TypeError):
        NAMESPACES["x-mine"] = NAMESPACES["isbn"]
    with pytest.raises(TypeError):
        RULES["base"] = "something"
    with pytest.raises(AttributeError):
        NAMESPACES["isbn"].rule = "base"


def test_the_registry_has_a_date():
    assert re.fullmatch("20[0-9]{2}-[01][0-9]-[0-3][0-9]", namespaces.REGISTRY_DATE)


# --- a rule only merges -----------------------------------------------------------------------------------------------

# What rules look for, in all cases, among what they leave alone.
PIECES = [
    *("params:", "PARAMS:", "Params", "ul:", "UL:", "ul", "imei:", "IMEI:", ";vers=0", ";VERS=0", ";vers=00"),
    ";svn=42",
    *("a.example:20001006:Item:1", ":2U", ":2u", ":10A", "0U", ":", "-", "--", "x", "X", "%2d", "%2D", "%c3%A9", "%aB"),
    *("A", "b", "0", "1", "9", ".", ";", "=", "~", "/", "0395363411", "080442957x", "+", "ZZ"),
]
nss = st.lists(st.sampled_from(PIECES), min_size=1, max_size=8).map("".join).filter(lambda text: text[0] != "/")
components = st.sampled_from(["", "?+r", "?=Q", "#f", "#", "?+r?=q#F"])


def respell(nid, text, tail, seed):
    """The same URN to RFC 8141: other cases of what has none, other components."""
    pick = random.Random(seed)

    def shuffle(found):
        return "".join(pick.choice([letter.lower(), letter.upper()]) for letter in found)

    return shuffle("urn:" + nid) + ":" + re.sub("%..", lambda triplet: shuffle(triplet[0]), text) + tail


@pytest.mark.slow
@settings(max_examples=40)
@given(text=nss, tail=components, seed=st.integers(0, 99))
@example(text="-", tail="", seed=0)
@example(text="--/a", tail="", seed=0)
@example(text="imei:90420156-025763-0;vers=0;VERS=0;vers=00", tail="", seed=0)
@example(text="iptc.org:20001006:NewsMLv1.0:1U", tail="#f", seed=1)
def test_a_rule_only_merges(text, tail, seed):
    for nid in [*(row[0] for row in TABLE), "x-other", "mine"]:
        name = f"urn:{nid}:{text}"
        other = respell(nid, text, tail, seed)
        for level in LEVELS[2:]:
            assert urn.equivalent(name, other, level)
            assert urn.key(name, level) == naive_urn.key(name, level)
        for level, higher in itertools.pairwise(LEVELS):
            # Who is the same at a level has the same form there; that form and all of them are the same higher up.
            assert urn.equivalent(urn.normalize(other, level, "8141"), other, higher, "8141")


@settings(max_examples=40)
@given(text=nss)
@example(text="-/a")
@example(text="-")
@example(text="0-395-36341-1")
def test_a_form_is_normal_and_decodes_nothing(text):
    for nid, level in itertools.product((row[0] for row in TABLE), LEVELS):
        form = urn.normalize(f"urn:{nid}:{text}", level, "8141")
        assert urn.normalize(form, level, "8141") is form
        assert urn.is_valid(form)
        if level != "bytes":
            assert re.findall("%..", form) == re.findall("%..", text.upper())


def same(nid, *texts, level="namespace"):
    return len({urn.key(f"urn:{nid}:{text}", level) for text in texts}) == 1


def apart(nid, *texts, level="namespace"):
    return len({urn.key(f"urn:{nid}:{text}", level) for text in texts}) == len(texts)


def test_edges_of_rules():
    assert same("ietf", "rfc:2648", "RFC:2648") and apart("ietf", "params:xml:A", "params:xml:a", "PARAMS:xml:a")
    assert same("ietf", "params", "PARAMS") and same("ietf", "paramsx:A", "PARAMSX:a")
    assert same("smpte", "ul:0A", "UL:0a") and same("smpte", "ul", "UL") and apart("smpte", "ulx:A", "ulx:a")
    assert same("gsma", "imei:1;vers=0", "IMEI:1", "imei:1;vers=0;vers=0") and apart("gsma", "imei:1;vers=00", "imei:1")
    assert apart("gsma", "other:A;vers=0", "other:A", "other:a") and same("gsma", "imei:1;Svn=42", "IMEI:1;sVN=42")
    assert apart("gsma", "imei", "IMEI") and apart("gsma", "imei:1;vers=%30", "imei:1")
    assert same("newsml", "a:20000101:b:1U", "A:20000101:B:1a", "a:20000101:b:1")
    assert apart("newsml", "a:20000101:b:U", "a:20000101:b:", "a:20000101:b:0U", "a:20000101:b:0", "a:b:1U", "a:b:1")
    assert apart("newsml", "a:20000101:b:1xU", "a:20000101:b:1x", "a:20000101:b:xU", "a:20000101:b:x")
    assert same("isbn", "0-8044-2957-x", "080442957X") and apart("isbn", "-1", "1") and apart("isbn", "%2D1", "1")
    assert same("nbn", "FI:ab-C", "fi:AB-C") and apart("nbn", "fi-a", "fi-A") and apart("nbn", "fi-a", "fi:a")
    assert apart("nbn", "fi:au:x", "fi:au:X") and apart("uci", "I7", "i7") and same("uci", "I7-a", "i7-a")
    assert same("ogf", "Network:a", "network:a") and apart("ogf", "network:a", "network:A")
    assert same("pin", "%c3%A9A", "%C3%a9a") and apart("pin", "%41", "%61", "a")


def test_isbn_10_and_13_are_the_same_only_functionally():
    assert apart("isbn", "0395363411", "9780395363416")
    assert same("isbn", "0-395-36341-1", "978-0-395-36341-6", level="functional")
    # Of a wrong check digit no ISBN-13 is made, and nothing of an ISSN.
    assert apart("isbn", "0395363412", "0395363411", "9780395363417", level="functional")
    assert same("isbn", "080442957x", "9780804429573", level="functional")
    assert apart("issn", "0395363411", "9780395363416", level="functional")


# --- validators -------------------------------------------------------------------------------------------------------

# Names, separated by blanks: those of the documents, and what differs from them in one place.
VERDICTS = {
    "uuid": (
        "f81d4fae-7dec-11d0-a765-00a0c91e6bf6 F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6 "
        "00000000-0000-0000-0000-000000000000 ffffffff-ffff-ffff-ffff-ffffffffffff",
        "f81d4fae7dec11d0a76500a0c91e6bf6 {f81d4fae-7dec-11d0-a765-00a0c91e6bf6} "
        "f81d4fae-7dec-11d0-a765-00a0c91e6bf f81d4fae-7dec-11d0-a765-00a0c91e6bf60 "
        "g81d4fae-7dec-11d0-a765-00a0c91e6bf6 81d4fae-7dec-11d0-a765-00a0c91e6bf6",
    ),
    "isbn": (
        "0-395-36341-1 0395363411 0-8044-2957-X 080442957x 9780395363416 978-0-395-36341-6 "
        "979-10-90636-07-1 9791090636071 979-8-6024-0545-3",  # France, and the USA
        "0-395-36341-2 9780395363417 039536341 97803953634166 X395363411 --0395363411 0395363411- abc "
        "979-0-2600-0043-8 9790260000438 9790706801024 "  # ISMNs with right check digits
        "9770395363419 978039536341X 0395%2D363411",
    ),
    "issn": ("1046-8188 10468188 0259-000X 0259000x", "1046-8189 1046818 104-68188 1046--8188 X046-8188 0259-0000"),
    "nbn": (
        "fi-fe201003181510 ch:bel-9039 se:uu:diva-3475 hu-3006 de:101:1-201102033592 de:bvb:19-146642 "
        "de:gbv:089-3321752945 DE:BVB:19-146642 nl:ui:10-1234/5",
        # The check digit is judged unless exactly 22 digits follow "101:1-".
        "fi fi:au:ykl f-1 fin-1 fi- fi:-1 fi-/1 fi:a.b-1 de:bvb:19-146643 de:101:1-3 de:101:1-201102033593 "
        "de:101:1-201907280240175770290 de:101:1-20190728024017577029131 de:101:2-2019072802401757702913",
    ),
    "gsma": (
        "imei:90420156-025763-0 IMEI:90420156-025763-0;SVN=42 imei:90420156-025763-0;vers=0 "
        "imei:90420156-025763-0;svn=42;vers=0",
        "imei:9042015-025763-0 imei:90420156-025763-7 imei:904201560257630 imei:90420156-025763-0;svn=4 "
        "imei:90420156-025763-0;vers=0;svn=42 imei:90420156-025763-0;x imei:",
    ),
    "oid": (
        "1.3.6.1 1.3.6.1.4.1 1.3.6.1.2.1.27 0.9.2342.19200300.100.4 2.999 2 1.39 2.0.0",
        "1.02 1..2 .1 1. 3.1 1.40 0.100 01.2 iso.3 1.3-6",
    ),
    "ietf": (
        "rfc:2141 RFC:2141 std:50 fyi:1 bcp:9 id:ietf-urn-ietf-06 mtg:41-urn",
        "rfc: rfc rfc:21a std:x id: mtg:a_b rfc:2141:1",
    ),
    "newsml": (
        "iptc.org:20001006:NewsMLv1.0:1 reuters.com:20000206:IIMFFH05643_2000-02-06_17-54-01_L06156584:1U",
        "iptc.org:20001006:x iptc.org:20001306:x:1 iptc.org:20001032:x:1 iptc.org:20001006:x:0 "
        "iptc.org:20001006:x:1N :20001006:x:1 iptc.org:2000106:x:1 iptc.org:20001006:x:1:2",
    ),
    "publicid": (
        "ISO%2FIEC+10179%3A1996:DTD+DSSSL+Architecture:EN ISO+8879%3A1986:ENTITIES+Added+Latin+1:EN foo "
        "-:OASIS:DTD+DocBook+XML+V4.1.2:EN %2B:IDN+example.org:DTD+XML+Bookmarks+1.0:EN:XML 3%2B3=6 "
        "-:ArborText;prod:DTD+Help+Document;19970708:EN -:Acme,+Inc.:DTD+Book+Version+1.0",
        "a++b +a a+ a/b a%41 a'b a%2Db a~b a%20b",
    ),
    "isan": (
        # Published numbers, with the check characters of ISO 15706.
        "1881-66C7-3420-6541-Y 1881-66C7-3420-6541-Y-9F3A-0245-O 1881-66c7-3420-6541-y-9f3a-0245-o "
        "0000-0000-9E59-0000-O-0000-0000-2 0000-0000-2CEA-0000-1-0000-0000-Y 0000-0000-D07A-0090-Q-0000-0000-X "
        "0001-F54C-302A-8D98-N-0000-0121-O 0000-0001-8947-0000-8-0000-0000-D 0123-1230-3210-2310-J",
        # The last two are the examples of RFC 4246, whose check characters are not those of ISO 15706.
        "0123-1230-3210-2310 012-1230-3210-2310-J 0123-1230-3210-2310-J-9F3A-0245 0123-123G-3210-2310-1 "
        "0000-0000-9E59-0000-O-0000-0000-3 0000-0000-9E59-0000-0-0000-0000-2 0000-0000-9E59-0000-N "
        "0123-1230-3210-2310-1 1881-66C7-3420-6541-9-9F3A-0245-U",
    ),
    "iso": (
        "std:iso:9999:-1:ed-1:en std:iso:9999:-1:ed-1:en,fr std:iso-iec:tr:9789:-9 STD:ISO:9999",
        "std:iso:-1 iso:9999 std:din:9999 std:iso:x:9999 std:iso:9999:",
    ),
    "service": (
        "sos sos.fire sos.animal-control SOS "
        "a.bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb aaaaaaaaaaaaaaaaaaaaaaaaaaa",
        "sos. .sos sos..fire -sos sos- sos.-fire aaaaaaaaaaaaaaaaaaaaaaaaaaaa sos/fire",
    ),
    "smpte": ("ul:060E2B34.04010103.04010202.01011100 UL:060e2b34", "ul:060E2B3 ul: ul:060E2B34. ul:060E2B34.0401010G"),
    "uci": (
        "I700-2987098 I001+SBSi-B10000083052 G3000+music-cii90007 a:b+c-d:C1-R2 a-%41(x)",
        "I700 -1 I700- I700:a:b-1 I700-a:X1 I_7-1 I700-a/b",
    ),
    "ucode": (
        "_0123456789ABCDEF0123456789ABCDEF _00001C00000000000001000003101062",
        "0123456789ABCDEF0123456789ABCDEF _0123456789abcdef0123456789abcdef _0123456789ABCDEF _",
    ),
    "adid": ("ABCD0001000 ABCD0001000H 1BCD0001000 abcd0001000h", "0BCD0001000 ABCD000100 ABCD0001000HH ABCD-001000"),
    "ogc": (
        "specification:gml:doc-is(02-023r4):3.0.0 serviceType:CatalogueService:2.0.2:HTTP def:crs:EPSG:6.3:26986",
        "def :def def:",
    ),
}
GOOD = [(nid, name) for nid, (good, _) in VERDICTS.items() for name in good.split()]
BAD = [(nid, name) for nid, (_, bad) in VERDICTS.items() for name in bad.split()]


def test_every_validator_is_tested():
    assert set(VERDICTS) == {row.nid for row in NAMESPACES.values() if row.validate and not row.nid.startswith("x-")}


@each_row(("nid", "name"), GOOD)
def test_well_formed(nid, name):
    assert NAMESPACES[nid].validate(name) is True
    assert urn.validate(f"URN:{nid.upper()}:{name}") == urn.Verdict(True, "", "formal", True)


@each_row(("nid", "name"), BAD)
def test_not_well_formed(nid, name):
    reason = NAMESPACES[nid].validate(name)
    assert isinstance(reason, str) and reason


@each_row(
    "name",
    [
        "ietf:params:xml:ns:x",
        "gsma:future:1",
        "gsma:imei:1-2;vers=1",
        "smpte:umid:0",
        "nbn:de:a-b~1",
        # Names that the German National Library has given, without a check digit.
        "nbn:de:101:1-2020112012434733354624",
        "nbn:de:101:1-2019072802401757702913",
        "nbn:de:101:1-2019110122350057754631",
        "nbn:de:101:1-2022072702462487314192",
        "nbn:de:101:1-2020011823361862943632",
        "NBN:DE:101:1-2023102516403481026473",
        "swift:a",
        "adid:ABCD0001000D",
    ],
)
def test_verdict_is_unknown(name):
    found = urn.validate("urn:" + name)
    assert (found.ok, found.nid_class, found.known) == (None, "formal", True)
    assert found.reason


def test_every_form_has_a_reference():
    assert (
        set(VERDICTS)
        == set(naive_forms.FORMS)
        == {row.nid for row in NAMESPACES.values() if type(row.validate) is Form}
    )


PIECE = st.sampled_from(
    [*"0123456789", *"abcdefxXGzHZU:.-;=%/+_()", "--", "::", "%2B", "%4", "9790", "de:101:1-", "imei:"]
)


@settings(max_examples=500)
@given(
    st.sampled_from(GOOD + BAD),
    st.lists(
        st.tuples(st.floats(0, 1), st.sampled_from([0, 0, 1, 1, 1, 2, 9]), st.lists(PIECE, max_size=2)), max_size=3
    ),
)
def test_forms(named, edits):
    """What the documents have, with edits: a place, how much is cut there, and what is put there."""
    nid, text = named
    for place, cut, pieces in edits:
        i = round(place * len(text))
        text = text[:i] + "".join(pieces) + text[i + cut :]
    found, expected = NAMESPACES[nid].validate(text), naive_forms.FORMS[nid](text)
    assert found == expected and type(found) is type(expected)


@settings(max_examples=200)
@given(st.sampled_from(sorted(VERDICTS)), st.text("0123456789abcdefxXU:.-;=%/imu", max_size=40))
def test_forms_of_any_text(nid, text):
    assert NAMESPACES[nid].validate(text) == naive_forms.FORMS[nid](text)


def test_a_long_name_has_a_check_digit():
    """Sums of more than 32 bits."""
    name = "de:a-" + "z" * 300_000
    digit = naive_forms.dnb_check_digit("urn:nbn:" + name)
    assert NAMESPACES["nbn"].validate(name + digit) is True
    assert (
        NAMESPACES["nbn"].validate(name + str((int(digit) + 1) % 10))
        == "wrong check digit of the German National Library"
    )


@each_row(("nid", "name"), GOOD + BAD)
def test_rows_are_single_values(nid, name):
    """Under whatever spelling of the NID, with components; `raise` has the reason of the verdict."""
    rows = [f"urn:{nid}:{name}", f"URN:{nid.title()}:{name}?=q#f"]
    for row, found in zip(rows, bulk.validate_urn(rows), strict=True):
        try:
            verdict = urn.validate(row)
        except UrnError as error:
            assert found == {"code": urn.check(row).code, "offset": error.offset}
            continue
        assert (found is None) is (verdict.ok is not False)
        if found is not None:
            assert found["code"] == ("check-digit" if verdict.reason.startswith("wrong check") else "form")
            with pytest.raises(UrnError) as caught:
                bulk.validate_urn([row], errors="raise")
            assert (caught.value.reason, caught.value.row) == (verdict.reason, 0)
            assert (caught.value.code, caught.value.offset) == (found["code"], found["offset"])


def test_wrong_check_digits_have_a_place():
    rows = {"urn:isan:1881-66C7-3420-6541-9-9F3A-0245-O": "9", "urn:isan:1881-66C7-3420-6541-Y-9F3A-0245-A": "A",
            "urn:isbn:039536341x?=3": "x", "urn:issn:1046-8189": "9", "urn:nbn:de:bvb:19-146643#4": "3"}  # fmt: skip
    for (row, digit), found in zip(rows.items(), bulk.validate_urn(list(rows)), strict=True):
        assert (found["code"], row[found["offset"]]) == ("check-digit", digit)


@pytest.mark.slow
@pytest.mark.timeout(60)
@each_row("nid", sorted(VERDICTS))
@each_row("piece", ["0", "0-", "a:", ".0", "aa.", "+a", "%2B", "0.", "ul:00000000.", ":C1-R2", "-"])
@each_row(("start", "end"), [("", "!"), ("de:1-", "")])
def test_validators_take_linear_time(nid, start, end, piece):
    assert_linear(NAMESPACES[nid].validate, lambda count: start + piece * count + end, 5000)


# The examples of the check digit of the German National Library: the sum of the first is 4027, its last digit 5.
@pytest.mark.parametrize(
    ("name", "digit"),
    [
        ("urn:nbn:de:gbv:089-332175294", "5"),
        ("urn:nbn:de:bvb:19-14664", "2"),
        ("urn:nbn:de:101:1-20110203359", "2"),
        ("URN:NBN:DE:bvb:19-14664", "2"),
        ("urn:nbn:de:a!", None),
    ],
)
def test_dnb_check_digit(name, digit):
    assert dnb_check_digit(name) == naive_forms.dnb_check_digit(name) == digit


@given(st.text("0123456789ABCDEF", min_size=24, max_size=24))
def test_isan_check_characters(digits):
    """ISO 7064, MOD 37,36, by its definition: with the check character, the last step gives 1."""

    def checks(characters):
        product = 36
        for character in characters[:-1]:
            total = (product + int(character, 36)) % 36
            product = (36 if total == 0 else total) * 2 % 37
        return (product + int(characters[-1], 36)) % 36 == 1

    characters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    (work,) = [c for c in characters if checks(digits[:16] + c)]
    (version,) = [c for c in characters if checks(digits + c)]
    groups = "-".join(digits[i : i + 4] for i in range(0, 16, 4)), f"{digits[16:20]}-{digits[20:]}"
    for c in characters:
        found = urn.validate(f"urn:isan:{groups[0]}-{c}")
        assert (found.ok, found.reason) == ((True, "") if c == work else (False, "wrong check character"))
        found = urn.validate(f"urn:isan:{groups[0]}-{work}-{groups[1]}-{c}".lower())
        assert (found.ok, found.reason) == (
            (True, "") if c == version else (False, "wrong check character of the version")
        )


# --- classes of NIDs --------------------------------------------------------------------------------------------------


@each_row(
    ("nid", "kind"),
    [
        *[("isbn", "formal"), ("ISBN", "formal"), ("urn-7", "informal"), ("URN-123", "informal")],
        *[("urn-07", "reserved"), ("urn-x", "reserved"), ("urn-", "reserved"), ("urn", "reserved")],
        *[("X-a", "experimental"), ("x-", "experimental"), ("x", "reserved"), ("foo", "unknown")],
        *[("ab-a", "reserved"), ("ab--a", "reserved"), ("xn--a", "reserved"), ("a-b", "unknown")],
        *[("us", "reserved"), ("4a", "reserved"), ("abc-d", "unknown"), ("\N{KELVIN SIGN}nx", "unknown")],
    ],
)
def test_nid_class(nid, kind):
    assert nid_class(nid) == kind


@each_row(
    ("name", "ok", "kind"),
    [
        *[("urn:urn-07:x", False, "reserved"), ("urn:urn-7:x", None, "informal"), ("urn:urn-99:x", None, "informal")],
        *[("urn:X-a:x", None, "experimental"), ("urn:foo:x", None, "unknown"), ("urn:de-x:a", None, "reserved")],
        *[("urn:urn:x", None, "reserved"), ("urn:c2pa:x", None, "formal"), ("urn:xn--a:x", None, "reserved")],
        ("urn:us:x", None, "reserved"),
    ],
)
def test_verdicts_on_namespaces(name, ok, kind):
    found = urn.validate(name)
    assert (found.ok, found.nid_class) == (ok, kind)
    assert found.reason and found.known is (name in {"urn:urn-7:x", "urn:c2pa:x"})


def test_verdict_wants_a_urn():
    assert urn.validate(b"urn:isbn:0395363411").ok and urn.validate(urn.parse("urn:isbn:0395363411")).ok
    with pytest.raises(UrnError) as caught:
        urn.validate("urn:isbn:")
    assert caught.value.offset == 9


@each_row("text", ["urn:a:b", "urn:x-a-:c", "urn:isbn:0395363411?+", "urn:urn:x", "urn:ab-c:a~b", "urn:n:"])
def test_verdict_rejects_what_check_does(text):
    for rfc in "2141", "8141", "any":
        fault = urn.check(text, rfc)
        if fault is None:
            assert urn.validate(text, rfc) == urn.validate(text, "any")
        else:
            with pytest.raises(UrnError) as caught:
                urn.validate(text, rfc=rfc)
            assert (caught.value.offset, str(caught.value)) == (fault.offset, fault.message)
    if urn.check(text) is not None:
        with pytest.raises(UrnError):
            urn.validate(text)


def test_verdict_wants_an_rfc_that_is_known():
    with pytest.raises(ValueError, match="1737"):
        urn.validate("urn:isbn:0395363411", "1737")


# --- rows at run time -------------------------------------------------------------------------------------------------


def test_register_a_namespace():
    with pytest.raises(UnknownNamespaceError):
        lookup("x-test-a")
    assert not urn.equivalent("urn:x-test-a:A:B", "urn:x-test-a:a:B", "namespace")
    row = register_namespace(
        "X-Test-A", "segment", lambda nss: None if nss == "?" else nss.startswith("a") or "wrong", references=("mine",)
    )
    assert lookup("x-TEST-a") is row is NAMESPACES["x-test-a"]
    assert (row.nid, row.rule, row.references, row.read) == ("x-test-a", "segment", ("mine",), True)
    assert urn.normalize("URN:X-TEST-A:A:B", "namespace") == "urn:x-test-a:a:B"
    assert urn.validate("urn:x-test-a:ab") == (True, "", "experimental", True)
    assert urn.validate("urn:x-test-a:b") == (False, "wrong", "experimental", True)


def test_rows_ask_registered_validators():
    """A copy of what was registered when the call began: also one of the registry, and none."""

    def validate(nss):
        if nss == "!":
            raise LookupError("mine")
        return {"a": True, "b": False, "c": None}.get(nss, "wrong")

    register_namespace("x-test-rows", validate=validate, replace=True)
    register_namespace("x-test-isbn", validate=NAMESPACES["isbn"].validate, replace=True)
    register_namespace("urn-0777", replace=True)
    rows = [
        *(f"urn:X-TEST-rows:{nss}" for nss in "abcd"),
        "urn:x-test-isbn:0395363412",
        "urn:urn-0777:a",
        "urn:urn-0778:a",
    ]
    form, digit = {"code": "form", "offset": 16}, {"code": "check-digit", "offset": 25}
    expected = [None, form, None, form, digit, None, {"code": "nid-informal", "offset": 8}]
    assert bulk.validate_urn(rows) == expected
    assert bulk.validate_urn(rows * 5000, threads=4) == expected * 5000
    assert [urn.validate(row).ok is not False for row in rows] == [each is None for each in expected]
    for threads in 1, 4:
        with pytest.raises(LookupError, match="mine"):
            bulk.validate_urn([*rows * 5000, "urn:x-test-rows:!", *rows], threads=threads)
        with pytest.raises(LookupError, match="mine"):
            bulk.validate_urn("\n".join([*rows * 5000, "urn:x-test-rows:!"]).encode(), threads=threads)
    register_namespace("x-test-rows", replace=True)
    assert bulk.validate_urn(rows[:4]) == [None] * 4


def test_replace_a_namespace():
    register_namespace("x-test-b", "nss")
    with pytest.raises(ValueError, match="already registered"):
        register_namespace("X-TEST-B")
    assert urn.normalize("urn:x-test-b:A", "namespace") == "urn:x-test-b:a"
    register_namespace("x-test-b", validate=lambda nss: False, replace=True)
    assert urn.normalize("urn:x-test-b:A", "namespace") == "urn:x-test-b:A"
    assert urn.validate("urn:x-test-b:A")[:2] == (False, "not well formed")


def test_a_registered_namespace_is_formal():
    register_namespace("testtest", replace=True)
    assert nid_class("TestTest") == "formal"
    assert urn.validate("urn:testtest:a")[:2] == (None, "the registration defines no form")


@each_row(("nid", "position"), [("", 0), ("-a", 0), ("a b", 1), ("a:", 1), ("a" * 33, 32), ("\N{KELVIN SIGN}nx", 0)])
def test_no_namespace_without_a_nid(nid, position):
    with pytest.raises(UrnError) as caught:
        register_namespace(nid)
    assert (caught.value.offset, caught.value.input) == (position, nid)


def test_no_namespace_without_a_rule():
    with pytest.raises(ValueError, match="rule"):
        register_namespace("x-test-c", "nss-fold")
    with pytest.raises(UnknownNamespaceError, match="x-test-c"):
        lookup("x-test-c")
    with pytest.raises(LookupError):
        lookup("\N{KELVIN SIGN}nx")


def test_one_thread_registers():
    """Of many that try at once."""
    done = []

    def register(number):
        for i in range(50):
            try:
                register_namespace(f"x-thread-{i}", "nss" if number % 2 else "base")
                done.append(i)
            except ValueError:
                assert lookup(f"x-thread-{i}")
            urn.normalize(f"urn:x-thread-{i}:A", "namespace")

    threads = [threading.Thread(target=register, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(done) == list(range(50))
    for i in range(50):
        folded = urn.normalize(f"urn:x-thread-{i}:A", "namespace") == f"urn:x-thread-{i}:a"
        assert folded is (lookup(f"x-thread-{i}").rule == "nss")


def test_a_row_whose_rule_is_not_stored_is_none(monkeypatch):
    def reject(nid, rule, validator):
        raise MemoryError

    monkeypatch.setattr(namespaces, "set_rule", reject)
    with pytest.raises(MemoryError):
        register_namespace("x-test-e")
    assert "x-test-e" not in NAMESPACES
