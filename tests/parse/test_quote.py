"""Text through the codec, on every tier: each width of code unit, every error handler, every edge of the buffers that
long text goes through piece by piece. The reference is urllib.parse."""

import random
import urllib.parse

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.tables import each_row

from uricodec import parse

HANDLERS = ["replace", "strict", "ignore", "backslashreplace", "surrogateescape", "surrogatepass"]

# Where a text leaves the buffers on the stack (512), and where a second and a third piece begin.
EDGES = [*range(3), 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, *range(509, 515), 1023, 1024, 1025, 1600]

# Every way to be ill-formed (RFC 3629 section 4, Unicode 3.9 table 3-7), as octets.
ILL_FORMED = [
    b"\x80", b"\xbf\xbf", b"\xc0\x80", b"\xc1\xbf", b"\xc3", b"\xe0\x80\x80", b"\xe0\xa0", b"\xe3\x81",
    b"\xe3", b"\xed\xa0\x80", b"\xed\xbf\xbf", b"\xed\x9f", b"\xf0\x80\x80\x80", b"\xf0\x90\x80",
    b"\xf0\x9f\x98", b"\xf0\x9f", b"\xf0", b"\xf4\x90\x80\x80", b"\xf4\x8f\xbf", b"\xf5\x80\x80\x80",
    b"\xf8\x88\x80\x80\x80", b"\xfc\x84\x80\x80\x80\x80", b"\xfe", b"\xff", b"\xe3\xc3\xa9",
    b"\xf0\x9f\xe3\x81\x82",
]  # fmt: skip

# One character of every width of UTF-8 and of code units.
FILLERS = ["a", "\xe9", "\u044f", "\u20ac", "\U0001f600"]


def triplets(octets):
    return "".join(map("%{:02X}".format, octets))


def outcome(function, *args, **kwargs):
    """The value, or all that there is to know of the exception."""
    try:
        return function(*args, **kwargs)
    except UnicodeError as error:
        return type(error), error.args


def check(name, *args, **kwargs):
    # Texts of different width are never equal to the interpreter: this compares the width, too.
    want = outcome(getattr(urllib.parse, name), *args, **kwargs)
    got = outcome(getattr(parse, name), *args, **kwargs)
    assert got == want, f"{name}{args!r:.200}, {kwargs}"


# quote


@pytest.mark.slow
@each_row("special", [" ", "\xe9", "\u0416", "\u4e00", "\U0001f600", "\ud800", "\udfff"])
@each_row("filler", FILLERS)
def test_quote_one_character_anywhere(tier, filler, special):
    for length in EDGES:
        for position in {0, 1, length // 2, length - 2, length - 1} & {*range(length)}:
            text = filler * position + special + filler * (length - position - 1)
            check("quote", text)
            check("quote_plus", text, safe="é")


@given(text=st.text(st.characters(), max_size=80), count=st.integers(0, 60))
def test_quote_any_text(tier, text, count):
    check("quote", text)
    check("quote", text * count)
    check("quote_plus", text * count, safe="/ ")


# unquote


@pytest.mark.slow
@each_row("handler", HANDLERS)
@each_row("filler", FILLERS)
def test_unquote_ill_formed_bytes_anywhere(every_tier, filler, handler):
    filler = triplets(filler.encode()) if filler != "a" else filler
    texts = [
        filler * position + triplets(ill_formed) + filler * (length - position)
        for ill_formed in ILL_FORMED
        for length in EDGES[1:20:4]
        for position in {0, length // 2, length}
    ]
    expected = [outcome(urllib.parse.unquote, text, "utf-8", handler) for text in texts]
    for _ in every_tier():
        for text, want in zip(texts, expected, strict=True):
            assert outcome(parse.unquote, text, "utf-8", handler) == want, text
            assert outcome(parse.unquote_plus, text, "utf-8", handler) == want, text


@each_row("handler", HANDLERS)
def test_unquote_between_other_characters(tier, handler):
    """Each run of ASCII is decoded by itself, and an error knows the whole run."""
    for ill_formed in ILL_FORMED:
        for text in "é{}", "{}é", "é a+b/{}c é%41é", "\U0001f600x%41{}", "%zzé%é{}%":
            check("unquote", text.format(triplets(ill_formed)), errors=handler)
            check("unquote_plus", text.format(triplets(ill_formed)), errors=handler)


@pytest.mark.slow
def test_unquote_every_pair_of_bytes(tier):
    for lead in range(0x80, 0x100):
        for follower in range(256):
            check("unquote", triplets([lead, follower]))
            check("unquote", "a" * 30 + triplets([lead, follower, 0x80, 0x80]) + "a" * 40)


@pytest.mark.slow
@each_row("narrow", FILLERS)
@each_row("wide", FILLERS)
def test_unquote_every_width(every_tier, narrow, wide):
    for length in EDGES:
        for text in narrow * length + wide, wide + narrow * length, (narrow + wide) * length:
            quoted = urllib.parse.quote(text)
            for _ in every_tier():
                assert parse.unquote(quoted) == parse.unquote(quoted, errors="strict") == text


escaped = st.one_of(st.binary(max_size=6), st.sampled_from(ILL_FORMED), st.text(max_size=9).map(str.encode)).map(
    triplets
)


@given(texts=st.lists(st.one_of(escaped, st.text())), count=st.integers(1, 30), handler=st.sampled_from(HANDLERS))
def test_unquote_any_bytes(tier, texts, count, handler):
    text = "".join(texts) * count
    check("unquote", text, errors=handler)
    check("unquote_plus", text, errors=handler)
    check("unquote", text.encode("utf-8", "surrogatepass"), errors=handler)


def test_unquote_noise(tier):
    """Every octet at fault, or every other one: as long as it may be."""
    chance = random.Random(3629)
    for octets in b"\xff" * 5000, b"\xc3\xa9\xff" * 2000, b"\xf0\x9f\x98" * 2000, chance.randbytes(5000):
        check("unquote", triplets(octets))
        check("unquote", triplets(octets), errors="surrogateescape")


@each_row("errors", ["nonsense", "xmlcharrefreplace", "", "repl\0ace", "\ud800", 5, b"replace"])
def test_unquote_with_other_handlers(errors):
    """They are the stdlib's affair."""
    for text in "a", "%41", "%ff":
        want, got = (result_of(module.unquote, text, errors=errors) for module in (urllib.parse, parse))
        assert got == want


# Calls


@pytest.mark.parametrize("name", ["quote", "quote_plus", "unquote", "unquote_plus"])
def test_calls_of_every_shape(name):
    """A call of one text does not go through the parsing of arguments; every other one does."""
    ours, theirs = getattr(parse, name), getattr(urllib.parse, name)
    for text in "", "a", "a b+%C3%A9", "é", "\U0001f600 ":
        want = theirs(text)
        assert ours(text) == ours(string=text) == ours(*[text]) == ours(**{"string": text}) == want
        assert list(map(ours, [text])) == [want]
        assert ours.__call__(text) == want
        assert ours(text, *theirs.__defaults__) == want
    for args, kwargs in [((), {}), (("a",), {"nonsense": 1}), (("a",) * 5, {}), (("a",), {"string": "a"})]:
        with pytest.raises(TypeError):
            ours(*args, **kwargs)
    assert ours.__name__ == name
    assert ours.__defaults__ == theirs.__defaults__


@pytest.mark.parametrize("name", ["quote", "quote_plus"])
def test_calls_with_safe(name):
    for text in "", "a/b", "a /+b", "é/", "\ud800":
        for safe in "", "/", "/:é", b"", b"/\xe9", bytearray(b"/"), None, 5, ["/"]:
            for args, kwargs in ((text, safe), {}), ((text,), {"safe": safe}), ((text,), {"".join(["sa", "fe"]): safe}):
                want, got = (result_of(getattr(module, name), *args, **kwargs) for module in (urllib.parse, parse))
                assert got == want, f"{name}({text!a}, {safe!r})"
        for kwargs in (
            {"encoding": "latin-1"},
            {"errors": "ignore"},
            {"string": text},
            {"safe": "", "encoding": "utf-8"},
        ):
            args = () if "string" in kwargs else (text,)
            want, got = (result_of(getattr(module, name), *args, **kwargs) for module in (urllib.parse, parse))
            assert got == want, f"{name}({text!a}, {kwargs})"


def result_of(function, *args, **kwargs):
    try:
        return function(*args, **kwargs)
    except Exception as error:
        return type(error)
