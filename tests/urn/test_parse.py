"""The URN engine against its reference (reference/urn.py), on every CPU tier: faults, normal forms, lines, scans,
and what has to hold for all URNs."""

import copy
import functools
import os
import pickle
import random
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import uri_find
from reference import urn as naive
from reference.codec import lines_of
from reference.errors import UriError as Invalid
from support.arrow_memory import Lent
from support.diagnostics import brief
from support.tables import each_row
from support.timing import assert_linear

from uricodec import ByteSet, bulk
from uricodec._rows._tasks import transform_lines
from uricodec.errors import UrnError
from uricodec.urn._parse import (
    TERMINATORS,
    URN,
    check,
    copy_urns,
    equivalent,
    find,
    is_valid,
    key,
    normalize,
    parse,
    rfcs,
)
from uricodec.urn._rows import CheckUrnRows, NormalizeUrnRows
from uricodec.urn._syntax import set_rule
from uricodec.urn.namespaces import NAMESPACES

RFCS = ["2141", "8141", "any"]
RULES = {
    "nss-fold": "nss",
    "uuid": "nss",
    "seg1-fold": "segment",
    "nbn": "hyphen",
    "uci": "hyphen",
    "isbn": "drop-hyphens",
    "issn": "drop-hyphens",
    "ietf": "except-params",
    "smpte": "only-ul",
}

# 40 octets each.
SHAPES = [
    *("urn:example:a123,z456/%2Fb;c=d(e)*f'g!h$", "URN:nbn:de:bvb:19-epub-%c3%A9-1234567890"),
    *("urn:isbn:0-395-36341-1?+resolve?=q=1/2#f", "urn:ab:c?=q?+r?/d%4a#f?/e?=%4B-._~!$&'()"),
    *("urn:" + "n" * 31 + "1:abc", "urn:ietf:params:xml:ns:xmpp-sasl#?=?+abc"),
]


@pytest.fixture(autouse=True, scope="module")
def _rules():
    for nid, rule in naive.RULES.items():
        row = NAMESPACES.get(nid)
        set_rule(nid, RULES.get(rule, rule), row and row.validate)


def result(function, *args):
    """What it returns, or the position of its error."""
    try:
        return function(*args)
    except (UrnError, Invalid) as error:
        assert error.input == args[0]
        return ("fault", error.offset)


cached_check = functools.cache(naive.check)  # every tier asks the same
cached_form = functools.cache(functools.partial(result, naive.normalize))


def compare(text):
    """Everything that is said about one text, by every spec."""
    for rfc in RFCS:
        fault = cached_check(text, rfc)
        assert brief(check(text, rfc)) == fault, f"check({text!r}, {rfc!r})"
        assert is_valid(text, rfc) is (fault is None)
        if fault is None:
            urn, want = parse(text, rfc), naive.parse(text, rfc)
            got = (urn.nid, urn.nss, urn.r_component, urn.q_component, urn.f_component, urn.rfc)
            assert got == tuple(want), f"parse({text!r}, {rfc!r})"
    for level in naive.LEVELS:
        want = cached_form(text, level)
        assert result(normalize, text, level) == want, f"normalize({text!r}, {level!r})"
    assert rfcs(text) == naive.rfcs(text)


# --- faults and forms -------------------------------------------------------------------------------------------------


@pytest.mark.slow
@each_row("shape", SHAPES)
def test_every_byte_at_every_position(tier, shape):
    assert len(shape) == 40
    for position in range(40):
        for octet in [*range(0x82), 0xA0, 0xC3, 0xE9, 0xFF]:
            text = shape[:position] + chr(octet) + shape[position + 1 :]
            octets = text.encode("latin-1")
            for rfc in RFCS:
                fault = cached_check(text, rfc)
                assert brief(check(text, rfc)) == brief(check(octets, rfc)) == fault, f"check({text!r}, {rfc!r})"
                assert is_valid(octets, rfc) is (fault is None)
            if cached_check(text, "8141") is None:
                want = cached_form(text, "8141")
                assert normalize(text) == want and normalize(octets) == want.encode(), text


@each_row("shape", SHAPES)
def test_every_byte_inserted_and_every_one_left_out(tier, shape):
    for position in range(41):
        compare(shape[:position])
        compare(shape[:position] + shape[position + 1 :])
        for octet in range(0, 128):
            text = shape[:position] + chr(octet) + shape[position:]
            assert brief(check(text)) == cached_check(text, "8141"), text


@pytest.mark.slow
@each_row("length", [63, 64, 65, 511, 512, 513, 4095, 4096, 4097, 5000])
@each_row("end", ["", "%", "%4", "%41", "%4g", "?", "?+", "?+r", "?=", "?=q", "#", "#f", "#f#", " ", "\x7f", "é"])
def test_long_texts(tier, length, end):
    compare("urn:example:" + "a" * (length - 12 - len(end)) + end)
    compare("URN:isbn:" + "%c3-x" * (length // 5) + "a" * (length % 5) + end + "Z" * 70)


PIECES = """
    urn: URN: ISBN nbn ietf smpte gsma newsml example a X- - : : %2f %2F % %4 %00 ?+ ?= ? # / ~ & x UL: params: imei:
    ;vers=0 1:2:3:4 A u 0-395-36341-1 080442957X 080442957x \u212a \u0131 é \0 \x80
"""
pieces = st.sampled_from([*PIECES.split(), " "])
texts = st.lists(pieces, max_size=12).map("".join)
nids = st.sampled_from([*naive.RULES, "EXAMPLE", "Isbn", "a", "a-", "urn", "unknown-1"])
urns = st.builds(
    lambda scheme, nid, rest: f"{scheme}:{nid}:{rest}", st.sampled_from(["urn", "URN", "uRn"]), nids, texts
)


@given(text=st.one_of(texts, urns, st.text(max_size=50)))
def test_random_texts(tier, text):
    compare(text)


@given(octets=st.one_of(st.binary(max_size=80), st.binary(max_size=80).map(b"urn:ab:".__add__)))
def test_random_bytes(tier, octets):
    for rfc in RFCS:
        assert brief(check(octets, rfc)) == naive.check(octets, rfc)


# --- what holds for all URNs ------------------------------------------------------------------------------------------


@given(text=urns, level=st.sampled_from(naive.LEVELS), rfc=st.sampled_from([None, *RFCS]))
def test_normalizing_is_idempotent(tier, text, level, rfc):
    form = result(normalize, text, level, rfc)
    if isinstance(form, str):
        assert normalize(form, level, rfc) is form
        assert (form is text) == (form == text)
        assert equivalent(text, form, level, rfc)
        assert form.count("%") <= text.count("%") and form.isascii()


@given(text=urns, seed=st.integers(0, 2**32), rfc=st.sampled_from(RFCS))
def test_every_level_only_merges(tier, text, seed, rfc):
    """What is equivalent at a level is so at the next one; what is equal has the same key and hash."""
    chance = random.Random(seed)
    other = "".join(chance.choice([c.lower(), c.upper(), c]) if c.isascii() else c for c in text)
    if not is_valid(text, rfc) or not is_valid(other, rfc):
        return
    before = False
    for level in naive.LEVELS:
        same = equivalent(text, other, level, rfc)
        assert same or not before
        assert same == (key(text, level, rfc) == key(other, level, rfc))
        assert same == (naive.key(text, level, rfc) == naive.key(other, level, rfc))
        before = same
    a, b = URN(text, rfc), URN(other, rfc)
    assert (a == b) == (a.normalized == b.normalized)
    assert a != b or hash(a) == hash(b)


@given(a=urns, b=urns, level=st.sampled_from(naive.LEVELS))
def test_equivalent_is_equality_of_keys(tier, a, b, level):
    if is_valid(a) and is_valid(b) and is_valid(a, "2141") and is_valid(b, "2141"):
        assert equivalent(a, b, level) == (key(a, level) == key(b, level))
        assert equivalent(a.encode(), b, level) == equivalent(a, b.encode(), level) == equivalent(a, b, level)


@each_row("level", naive.LEVELS)
def test_nothing_is_decoded(tier, level):
    for octet in range(1, 256):
        text = f"urn:lex:a%{octet:02x}B"
        assert f"%{octet:02X}" in normalize(text, level).upper()
        for nid in "lex", "isbn", "nbn", "newsml", "example":
            if chr(octet).isprintable() and is_valid(f"urn:{nid}:a{chr(octet)}b"):
                assert not equivalent(f"urn:{nid}:a%{octet:02x}b", f"urn:{nid}:a{chr(octet)}b", level, "any")


@each_row("letter", ["\u212a", "\u0131", "\u0130", "\u017f", "\uff55"])
def test_letters_beyond_ascii_have_no_case(tier, letter):
    """The Kelvin sign is no "k", the dotless i no "i", the long s no "s"."""
    for position, text in (4, f"urn:{letter}nx:a"), (8, f"urn:lex:{letter}"), (0, f"{letter}rn:lex:a"):
        assert check(text).offset == position
        with pytest.raises(UrnError) as caught:
            normalize(text)
        assert (caught.value.offset, caught.value.input) == (position, text)


# --- types ------------------------------------------------------------------------------------------------------------


class Text(str):
    __slots__ = ()


@each_row("text", ["urn:example:a", "URN:Example:A%2f?=q", "urn:isbn:0-395-36341-1", "urn:ab:" + "x" * 600])
def test_every_kind_of_input(tier, text):
    form, octets = normalize(text), text.encode()
    assert normalize(octets) == normalize(bytearray(octets)) == normalize(memoryview(octets)) == form.encode()
    assert normalize(Text(text)) == form
    assert normalize(URN(text)) == URN(form) and type(normalize(URN(text))) is URN
    assert key(URN(text)) == key(text) == form and key(bytearray(octets)) == form.encode()
    for urn in text, octets, bytearray(octets), URN(text), Text(text):
        assert check(urn) is None
        assert is_valid(urn) and parse(urn) == URN(text) and str(parse(urn)) == text
        assert equivalent(urn, text) and equivalent(form.encode(), urn)
        assert rfcs(urn) == naive.rfcs(text)
        assert normalize(urn, "namespace") == normalize(normalize(urn), "namespace")


def test_the_same_object_comes_back(tier):
    for text in "urn:example:a%2Fb", "urn:example:" + "a" * 1000, "urn:isbn:0395363411":
        for urn in text, text.encode(), URN(text):
            for level in naive.LEVELS[:-1]:
                assert normalize(urn, level) is urn
        urn = URN(text)
        assert parse(urn) is urn
        assert str(urn) is text and urn.normalized is text
    assert normalize("URN:example:a", "bytes") == "URN:example:a"


@pytest.mark.parametrize("urn", [None, 1, ["urn:ab:c"], object()])
def test_other_types(urn):
    for function in check, is_valid, rfcs, parse, normalize, key, URN:
        with pytest.raises(TypeError):
            function(urn)
    with pytest.raises(TypeError):
        equivalent("urn:ab:c", urn)


def test_unknown_specs_and_levels():
    for function in check, is_valid, parse, URN:
        for rfc in "2142", b"8141", 8142, 8141.0, None:
            with pytest.raises(ValueError, match="unknown RFC"):
                function("urn:ab:c", rfc)
    for function in normalize, key:
        with pytest.raises(ValueError, match="unknown level"):
            function("urn:ab:c", "9999")
        with pytest.raises(ValueError, match="unknown RFC"):
            function("urn:ab:c", "8141", "x")
    with pytest.raises(ValueError, match="unknown level"):
        equivalent("urn:ab:c", "urn:ab:c", level="iri")


def test_arguments_by_name_and_their_number():
    assert normalize(urn="URN:ab:c") == normalize("URN:ab:c", level="8141", rfc=None) == "urn:ab:c"
    assert equivalent(a="urn:ab:c", b="URN:ab:c", level="2141", rfc="any")
    for rfc in 2141, 8141:
        assert parse("urn:ab:c", rfc) == parse("urn:ab:c", str(rfc)) and parse("urn:ab:c", rfc).rfc == str(rfc)
        for text in "urn:ab:c", "urn:x:a", "urn:ab:c?+d":
            assert check(text, rfc) == check(text, str(rfc)) and is_valid(text, rfc) == is_valid(text, str(rfc))
            assert normalize("urn:ab:c", rfc=rfc) == key("urn:ab:c", rfc=rfc) == "urn:ab:c"
            assert equivalent("urn:ab:c", "urn:ab:c", rfc=rfc)
            for function in bulk.is_valid_urn, bulk.check_urn, bulk.split_urn, bulk.normalize_urn:
                assert function([text], rfc=rfc) == function([text], rfc=str(rfc))
    parsed = parse("urn:ab:c")
    assert parse(parsed, 8141) is parse(parsed, "8141") is parsed
    for wrong in 1, 8141.0, True, 0, -1:
        with pytest.raises(ValueError, match="unknown RFC"):
            parse("urn:ab:c", wrong)
    assert check(urn="urn:ab:c", rfc="2141") is None and is_valid(urn="urn:ab:c") and parse(urn="urn:ab:c", rfc="any")
    for function in check, is_valid, parse, normalize, key, equivalent, rfcs:
        for arguments in (), ("urn:ab:c",) * 5:
            with pytest.raises(TypeError):
                function(*arguments)
        with pytest.raises(TypeError):
            function("urn:ab:c", unknown=1)


# --- URN --------------------------------------------------------------------------------------------------------------


def test_urn_is_a_value(tier):
    urn = URN("URN:Example:a%2fb?+r?=q#f")
    other = URN(b"urn:example:a%2Fb")
    assert urn == other and hash(urn) == hash(other) and {urn: 1}[other] == 1
    assert urn != URN("urn:example:a%2FB") and urn != "urn:example:a%2Fb" and urn != str(urn)
    assert repr(urn) == "URN('URN:Example:a%2fb?+r?=q#f')" and eval(repr(urn)) == urn
    assert repr(URN("urn:x:a", "2141")) == "URN('urn:x:a', rfc='2141')"
    assert str(urn) == "URN:Example:a%2fb?+r?=q#f" and f"{urn}" == str(urn)
    for name in "nid", "nss", "normalized", "rfc", "text", "new":
        with pytest.raises(AttributeError):
            setattr(urn, name, "x")
    with pytest.raises(TypeError):
        type("Sub", (URN,), {})


def test_order_is_that_of_normal_forms():
    texts = ["urn:b:b", "URN:B:a", "urn:ab:a", "urn:AB:B", "urn:ab:%2f", "urn:ab:%2F0"]
    sorted_urns = sorted(URN(text, "any") for text in texts)
    assert [urn.normalized for urn in sorted_urns] == sorted(naive.normalize(t, "2141") for t in texts)
    a, b, same = URN("urn:ab:a"), URN("urn:ab:b"), URN("URN:ab:a")
    assert a < b and a <= b and b > a and b >= a and a <= same and a >= same and not a < same and not a > same
    with pytest.raises(TypeError):
        assert a < "urn:ab:b"


@pytest.mark.parametrize(
    ("text", "rfc"), [("URN:Example:a%2fb?=q", "8141"), ("urn:x:a#b", "2141"), ("urn:ab:a#b", "2141")]
)
def test_copies_and_pickles(text, rfc):
    urn = URN(text, rfc)
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        again = pickle.loads(pickle.dumps(urn, protocol))
        assert again == urn and str(again) == text and again.rfc == rfc
    assert copy.copy(urn) == copy.deepcopy(urn) == urn


def test_a_urn_is_read_by_its_own_spec_again():
    urn = URN("urn:x:a#b", "any")
    assert urn.rfc == "2141" and urn.rfcs == ("2141",) and urn.nss == "a#b" and urn.f_component is None
    assert normalize(urn) is urn and key(urn, "namespace") == "urn:x:a#b" and parse(urn, "any") == urn
    with pytest.raises(UrnError):
        normalize(urn, rfc="8141")
    with pytest.raises(UrnError):
        parse(urn)
    assert URN("urn:ab:a#b", "any").f_component == "b"
    assert URN("urn:ab:a#b", "2141") != URN("urn:ab:a#b")


def test_components_may_be_absent_or_empty():
    urn = URN("urn:ab:c#")
    assert (urn.r_component, urn.q_component, urn.f_component) == (None, None, "")
    urn = URN("urn:ab:c?+r?+r?=q?=q?+#?=f")
    assert (urn.nss, urn.r_component, urn.q_component, urn.f_component) == ("c", "r?+r", "q?=q?+", "?=f")


# --- rules ------------------------------------------------------------------------------------------------------------


def test_rules_of_many_namespaces():
    for i in range(3000):
        set_rule(f"many-{i}", "nss" if i % 2 else "base")
    for i in range(3000):
        assert normalize(f"urn:Many-{i}:A", "namespace") == f"urn:many-{i}:{'a' if i % 2 else 'A'}"
    set_rule("many-0", "segment")
    assert normalize("urn:many-0:A:A", "namespace") == "urn:many-0:a:A"
    set_rule("many-0", "base")
    assert normalize("urn:many-0:A:A", "namespace") == "urn:many-0:A:A"


@pytest.mark.process
@pytest.mark.skipif(not hasattr(os, "posix_spawn"), reason="reads the memory of a process")
def test_tables_of_rules_are_freed():
    """Rules that are set and used in turn, thousands of times, do not take a table each: some 100 kB."""
    program = (
        "import resource\nfrom uricodec.urn import normalize\nfrom uricodec.urn._syntax import set_rule\n"
        "def use(first, last):\n"
        "    for i in range(first, last):\n"
        "        set_rule(f'x-{i}', 'nss')\n"
        "        normalize(f'urn:x-{i}:A', 'namespace')\n"
        "    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "before = use(0, 2000)\n"
        "print(use(2000, 4000) - before)"
    )
    grown = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert int(grown.stdout) < 20_000  # kB


@given(nid=st.sampled_from(sorted(naive.RULES)), nss=texts)
def test_rules_in_lines(tier, nid, nss):
    """Rules work where the lines stand, and close the gaps behind those that become shorter."""
    nss = "".join(c for c in nss if c.isascii() and c.isprintable())
    lines = [f"urn:{nid}:{nss}", "urn:isbn:0-8044-2957-x", "urn:example:A", f"URN:{nid.upper()}:{nss}A"] * 3
    check_normalize_lines("\n".join(lines).encode(), "namespace", None)


# --- lines ------------------------------------------------------------------------------------------------------------


def model_of_lines(src, level, rfc, errors):
    lines, out, faults, start = lines_of(src), [], [], 0
    for number, (line, tail) in enumerate(lines):
        try:
            out.append(naive.normalize(line, level, rfc) + tail)
        except Invalid as error:
            faults.append((number, start, start + len(line), error.reason, error.offset))
            out.append({"keep": line + tail, "null": tail, "drop": b""}[errors])
        start += len(line + tail)
    return b"".join(out), len(lines), faults


def normalize_lines(src, level, rfc=None, **options):
    """The bytes of src that were read, those that were written, and what was found."""
    rows, options = NormalizeUrnRows(level, rfc), {"terminator": b"\n", "limit": 0, **options}
    dst = bytearray(rows.capacity(len(src)) + src.count(options["terminator"]) * rows.capacity(0))
    read, found = transform_lines(src, dst, rows, **options)
    return read, dst[: found.written], found


def check_normalize_lines(src, level, rfc, errors="keep"):
    out, count, faults = model_of_lines(src, level, rfc, errors)
    for limit in 0, len(faults) + 1:
        read, written, found = normalize_lines(src, level, rfc, errors=errors, limit=limit)
        assert (read, written) == (len(src), out), f"{src!r} {level} {rfc} {errors}"
        counted = None if errors == "keep" and not limit else count
        assert (found.lines, found.invalid, found.faults) == (counted, len(faults), faults if limit else [])
    if level == "bytes":
        found = transform_lines(src, None, CheckUrnRows(rfc or "8141"), limit=len(faults) + 1)[1]
        assert (found.lines, found.invalid, found.faults) == (count, len(faults), faults)


LINE_PIECES = [
    *(b"urn:isbn:0-395-36341-1\n", b"URN:Example:a%2fB\n", b"urn:ab:c?+r?=q#f\r\n", b"URN:ab:c\r\n", b"urn:x:y\n"),
    *(b"urn:ab:%00\n", b"no urn\n", b"\n", b"\r\n", b"\r", b"urn:newsml:Reuters.com:20000206:IIMFFH05643:2A\n"),
    *(b"urn:lex:" + b"AbC%ff" * 200 + b"\n", b"urn:NBN:DE:A-B", b"urn:ab:" + b"z" * 50 + b"\n", b"urn:ab:\xff\n"),
]


@given(
    src=st.lists(st.sampled_from(LINE_PIECES), max_size=30).map(b"".join),
    level=st.sampled_from(naive.LEVELS),
    rfc=st.sampled_from([None, *RFCS]),
    errors=st.sampled_from(["keep", "null", "drop"]),
)
def test_lines(tier, src, level, rfc, errors):
    check_normalize_lines(src, level, rfc, errors)


@pytest.mark.slow
@each_row("level", naive.LEVELS)
@each_row("weight", [0, 1, 30])
def test_many_lines(tier, level, weight):
    """Through many chunks: only plain lines, a few others, mostly others."""
    chance = random.Random(weight)
    plain = [b"urn:uuid:F81D4FAE-7dec-11d0-a765-00a0c91e6bf6\n", b"URN:ISBN:0-8044-2957-x\n", b"urn:example:a%c3%A9b\n"]
    lines = chance.choices(plain + LINE_PIECES, weights=[10] * 3 + [weight / 10] * len(LINE_PIECES), k=1000)
    check_normalize_lines(b"".join(lines), level, None)
    check_normalize_lines(b"".join(lines), level, "any", "drop")


@each_row("n", [1000, 5000, 10_000, 15_000, 20_000])
def test_a_long_row_that_fails(tier, n):
    column = Lent([b"urn:example:a", b"x" * n, b"urn:example:b"])
    with pytest.raises(UrnError, match="row 1: ") as caught:
        bulk.normalize_urn(column, errors="raise")
    assert (caught.value.input, caught.value.offset) == ("x" * n, 0)


@pytest.mark.slow
@each_row("n", [1000, 5000, 20_000, 100_000])
def test_a_long_line_that_fails(tier, n):
    for before in b"", b"urn:example:a\n":
        read, written, found = normalize_lines(before + b"x" * n + b"\nurn:example:b", "8141", errors="raise")
        assert (read, written) == (len(before), before)
        assert found.faults == [(before.count(b"\n"), len(before), len(before) + n, "scheme", 0)]


@pytest.mark.slow
def test_long_lines(tier):
    for size in 8191, 8192, 8193, 20000:
        line = b"URN:lex:" + b"aB%c3-" * (size // 6) + b"\n"
        for src in line, line + line[:-1], b"urn:ab:c\n" + line + b"x\n" + line[:-2] + b"\n":
            for level in "2141", "8141", "namespace":
                check_normalize_lines(src, level, None)


def test_lines_fail(tier):
    src = b"urn:ab:c\nurn:ab:d\nurn:ab:e f\nurn:ab:g h\n"
    read, written, found = normalize_lines(src, "8141", errors="raise")
    assert (read, written, found.faults) == (18, src[:18], [(2, 18, 28, "nss", 8)])
    assert normalize_lines(src[:18], "8141", errors="raise") == (18, src[:18], (18, 2, 0, []))


def test_ends_of_lines(tier):
    for end in b"\0", b"\t", b"\x7f":
        src = end.join([b"URN:Ab:c", b"urn:ab:d?=q", b"x"])
        assert normalize_lines(src, "8141", terminator=end)[1] == end.join([b"urn:ab:c", b"urn:ab:d", b"x"])


# --- scanning ---------------------------------------------------------------------------------------------------------

FOUND = rb"urn: URN: uRN:ab: ab : x %41 %00 % %4 n: < & - 1 . example: ~ urn:ab:c turn:ab:c _urn:ab:c".split()
FOUND += [b"a" * 33, b"a" * 60, b" ", b"\0", b"\xff"]


@given(buffer=st.lists(st.sampled_from(FOUND), max_size=60).map(b"".join))
def test_find_random(tier, buffer):
    assert find(buffer) == naive.find(buffer)
    for terminators in b"", b"%", b"b", b"/?#&:":
        assert find(buffer, terminators) == find(buffer, ByteSet(terminators)) == naive.find(buffer, terminators)


@pytest.mark.slow
@given(
    names=st.lists(urns, max_size=8),
    gaps=st.lists(
        st.lists(st.sampled_from([" ", "<", ">", "\n", '"', "é", "\0", "{}", " urn ", "^ur"]), min_size=1), min_size=9
    ),
)
def test_find_finds_exactly_the_urns_placed_in_text(tier, names, gaps):
    buffer, places = b"", []
    for name, gap in zip(names, gaps, strict=False):
        if is_valid(name, "2141") and "urn:urn:" not in name.lower():
            start = len(buffer)
            buffer += name.encode()
            places.append((start, len(buffer)))
        buffer += " ".join(gap).encode() + b"|"
    assert find(buffer) == places
    for start, end in find(buffer):
        assert is_valid(buffer[start:end], "2141")


def test_find_at_every_place(tier):
    for before in range(200):
        for around in b" ", b":", b"n", b"\xff":
            buffer = around * before + b'"URN:ab:c%41' + b'"' + around * 5
            assert find(buffer) == naive.find(buffer)
    for place in 4093, 4094, 4095, 4096, 4097, 4100, 8190:
        buffer = b" " * place + b"urn:ab:c urn:ab:" + b"x" * 5000 + b" urn:x"
        assert find(buffer) == naive.find(buffer)


@given(st.lists(st.sampled_from([b"urn:ab:c", b" ", b"x", b"%41", b"%", b"URN:isbn:", b"&", b"\xff"])).map(b"".join))
def test_copy_urns(tier, text):
    """Whatever fits at a time."""
    spans = naive.find(text)
    for prefix, before in (None, 0), (b"in:", 7):
        lines = uri_find.lines(text, prefix, before, spans)
        capacity = max(map(len, lines), default=0) + 20
        assert uri_find.by_copies(copy_urns, text, capacity, prefix, before) == lines


def test_copies_of_many_urns():
    text = b"<urn:example:a>" * 1000
    for size in 14, 15, 256 * 14, 257 * 14 - 1, 14_000:
        assert uri_find.by_copies(copy_urns, text, size) == [b"urn:example:a\n"] * 1000
    dst = bytearray(13)
    assert copy_urns(text, dst) == (1, 0) and dst == bytes(13)
    with pytest.raises(BufferError):
        copy_urns(text, bytes(99))


def test_find_in_any_buffer(tier):
    buffer = b"see urn:ab:c."
    assert find(buffer) == find(bytearray(buffer)) == find(memoryview(buffer)) == [(4, 13)]
    assert find(memoryview(buffer)[:12]) == [(4, 12)]
    assert find(b"") == []
    assert find(buffer, TERMINATORS | ".") == find(buffer, ".") == [(4, 12)]
    with pytest.raises(TypeError):
        find("urn:ab:c")
    assert set(TERMINATORS) == set(naive.TERMINATORS)


# --- linear time ------------------------------------------------------------------------------------------------------


HOSTILE = [
    *[("urn:ab:", "a"), ("urn:ab:c", "?+r"), ("urn:ab:c?=q", "?=q"), ("urn:ab:c#", "?"), ("urn:ab:", "%4a")],
    *[("urn:ab:", "%"), ("urn:gsma:imei:1", ";vers=0"), ("urn:isbn:", "-1"), ("urn:newsml:", ":"), ("", "urn:")],
    *[("", "urn:ab:"), ("urn:", "a"), ("urn:", "-"), ("urn:ab:é", "é")],
]


@each_row(("start", "part"), HOSTILE)
def test_hostile_texts(tier, start, part):
    text = start + part * 10_000
    compare(text)
    octets = text.encode()
    assert find(octets) == naive.find(octets)
    check_normalize_lines(octets + b"\n" + octets, "namespace", None)


def read_in_every_way(octets):
    for rfc in RFCS:
        for level in naive.LEVELS:
            if is_valid(octets, rfc):
                normalize(octets, level, rfc)
    check(octets.decode())
    find(octets)
    for level in naive.LEVELS[:4]:
        normalize_lines(octets + b"\n" + octets, level, limit=3)


@pytest.mark.slow
@pytest.mark.timeout(60)
@each_row(("start", "part"), HOSTILE)
def test_time_is_linear(start, part):
    assert_linear(read_in_every_way, lambda size: (start + part * (size // len(part))).encode(), 100_000)


def test_functions_are_found_where_users_find_them():
    for function in check, is_valid, rfcs, parse, normalize, key, equivalent, find:
        assert function.__module__ == "uricodec.urn"
