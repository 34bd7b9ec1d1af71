"""percent_encode, percent_decode, requote, the *_into functions and lines in buffers, against their reference
implementations, on every CPU tier."""

import ctypes
import itertools
import mmap
import re
from array import array
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import codec as naive
from reference.errors import UriError as Invalid
from support.lines import capacity_for, decode_lines, encode_lines

from uricodec import (
    ByteSet,
    UriError,
    UriSyntaxError,
    iri,
    percent_decode,
    percent_encode,
    quote_into,
    requote,
    unquote_into,
    uri,
    urn,
)
from uricodec._base._fingerprint import FingerprintKey

ALL = ByteSet(range(256))
UNRESERVED = ByteSet("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
URI = UNRESERVED | ":/?#[]@!$&'()*+,;="
CANARY = b"\xee" * 40

# Around the sizes at which the functions change their ways: a block of a kernel, a buffer on the stack.
SIZES = [0, 1, 15, 16, 31, 32, 33, 64, 511, 512, 513]


# Helpers


def outcome(function, *arguments, **options):
    """The result and its type, or which ValueError and where: what a function and its reference must share."""
    try:
        result = function(*arguments, **options)
    except (UriError, Invalid) as error:
        return type(error).__name__, error.input, error.offset
    except ValueError as error:
        return type(error)
    return type(result), result


@cache
def wanted(name, data, *arguments):
    """What the reference gives: it is the same on each tier."""
    return outcome(getattr(naive, name), data, *arguments)


def check(function, data, *arguments):
    """A function against its reference; and unchanged input is the same object."""
    want = wanted(function.__name__, data, *arguments)
    assert outcome(function, data, *arguments) == want, (function.__name__, data, arguments)
    if want == (type(data), data):
        assert function(data, *arguments) is data


def check_into(function, want, src, *options):
    """A function that writes to a buffer: exactly enough room, more than that, and one octet too few."""
    for spare in 0, 1, 100:
        buffer = bytearray(CANARY + b"\xdd" * (len(want) + spare) + CANARY)
        dst = memoryview(buffer)[len(CANARY) : -len(CANARY)]
        assert function(src, dst, *options) == len(want)
        assert bytes(buffer) == CANARY + want + b"\xdd" * spare + CANARY, (function.__name__, bytes(src), options)
    if want:
        buffer = bytearray(CANARY + bytes(len(want) - 1) + CANARY)
        with pytest.raises(ValueError, match="too small"):
            function(src, memoryview(buffer)[len(CANARY) : -len(CANARY)], *options)
        assert buffer.startswith(CANARY) and buffer.endswith(CANARY), (function.__name__, bytes(src), options)


def mapped(data):
    memory = mmap.mmap(-1, len(data))
    memory[:] = data
    return memory


def triplets(octets):
    return "".join(f"%{octet:02{'xX'[i % 2]}}" for i, octet in enumerate(octets))


PIECES = ["%41", "%4a", "%C3%A9", "%e2%82%AC", "%F0%9F%98%80", "%C2%85", "%E2%82", "%c3", "%80", "%FF", "%ED%A0%80"]
PIECES += ["%", "%%", "%4", "%zz", "%u002f", "%2", "5", "%00", "%0A", "%7f", "+", " ", "a" * 40, "%41" * 20]
characters = st.sampled_from("aZ09-~/%+ é\x00\x7f\x85\u20ac\U0001f600")
texts = st.lists(st.sampled_from(PIECES) | st.text(characters, max_size=4), max_size=30).map("".join)
buffers = st.lists(st.sampled_from(PIECES).map(str.encode) | st.binary(max_size=5), max_size=30).map(b"".join)
texts_with_surrogates = st.lists(texts | st.text(st.characters(), max_size=4), max_size=4).map("".join)
sets = st.builds(lambda octets, other: ~ByteSet(octets) if other else ByteSet(octets), st.binary(), st.booleans())
ascii_sets = sets.map(lambda members: members & bytes(range(128)))


# percent_encode


@pytest.mark.parametrize(
    ("data", "options", "want"),
    [
        ("", {}, ""),
        ("a b/é", {}, "a%20b%2F%C3%A9"),
        (b"a b/\xff", {}, b"a%20b%2F%FF"),
        ("AZaz09-._~", {}, "AZaz09-._~"),
        ("a b/é", {"safe": "/"}, "a%20b/%C3%A9"),
        ("a b/é", {"safe": ByteSet("/")}, "%61%20%62/%C3%A9"),
        ("%41", {}, "%2541"),
        ("1+1 = 2", {"plus": True}, "1%2B1+%3D+2"),
        ("1+1 = 2", {"plus": True, "safe": "+"}, "1%2B1+%3D+2"),
        (b"+ ", {"plus": True, "safe": ALL}, b"%2B+"),
        ("é€😀", {"safe": ALL}, "é€😀"),
        ("é", {"safe": ByteSet(b"\xc2\xa9")}, ValueError),
        ("é€", {"safe": ByteSet("é".encode())}, "é%E2%82%AC"),
        (b"\xe9", {"safe": ByteSet([0xE9])}, b"\xe9"),
    ],
)
def test_percent_encode(tier, data, options, want):
    if isinstance(want, type):
        with pytest.raises(want):
            percent_encode(data, **options)
    else:
        assert percent_encode(data, **options) == want


@given(data=texts_with_surrogates | buffers, safe=ascii_sets, plus=st.booleans())
def test_percent_encode_any_ascii_set(tier, data, safe, plus):
    check(percent_encode, data, safe, plus)


@given(data=texts | buffers, safe=sets, plus=st.booleans())
def test_percent_encode_any_set(tier, data, safe, plus):
    check(percent_encode, data, safe, plus)


@given(data=texts | buffers, safe=st.text(st.characters(max_codepoint=127)), plus=st.booleans())
def test_percent_encode_safe_characters_besides_the_unreserved(tier, data, safe, plus):
    assert percent_encode(data, safe, plus) == naive.percent_encode(data, UNRESERVED | safe, plus)


def test_percent_encode_sizes(tier):
    for size, fill in itertools.product(SIZES, "a é€😀"):
        for tail in "", " ", "é", "\U0010ffff", "\ud800":
            check(percent_encode, fill * size + tail, UNRESERVED)
            check(percent_encode, fill * size + tail, ~UNRESERVED)
        check(percent_encode, fill.encode() * size + b"\xff", UNRESERVED)


@pytest.mark.parametrize("function", [percent_encode, requote])
def test_a_lone_surrogate_is_an_error(tier, function):
    befores = "", "a", "é", "€", "😀", "a" * 512, "a é" * 200
    for surrogate, before in itertools.product(["\ud800", "\udc80", "\udfff", "\udc00\ud800"], befores):
        text = before + surrogate + "b\ud801"
        with pytest.raises(UriError) as caught:
            function(text)
        assert (caught.value.offset, caught.value.input) == (len(before), text)
        assert "surrogate" in caught.value.reason


# percent_decode


@pytest.mark.parametrize(
    ("data", "keep", "replace", "position"),
    [
        ("", "", "", None),
        ("caf%C3%A9", "café", "café", None),
        ("100%", "100%", "100\ufffd", 3),
        ("%zz%4", "%zz%4", "\ufffdzz\ufffd4", 0),
        ("a%fFb", "a%fFb", "a\ufffdb", 1),
        ("%C3%a9%c3", "é%c3", "é\ufffd", 6),
        ("%E2%82x%AC", "%E2%82x%AC", "\ufffdx\ufffd", 0),
        ("%E2%82%zz", "%E2%82%zz", "\ufffd\ufffdzz", 0),
        ("%zz%FF", "%zz%FF", "\ufffdzz\ufffd", 0),
        ("é%C3ÿ%A9", "é%C3ÿ%A9", "é\ufffdÿ\ufffd", 1),
        ("\udcc3%A9", "\udcc3%A9", "\udcc3\ufffd", 1),
        ("\ud83d%41\ude00", "\ud83dA\ude00", "\ud83dA\ude00", None),
        (b"%C3%A9\xe9%FF", b"\xc3\xa9\xe9\xff", b"\xc3\xa9\xe9\xff", None),
        (b"100%", b"100%", b"100\xef\xbf\xbd", 3),
        (b"\xc3\xa9%", b"\xc3\xa9%", b"\xc3\xa9\xef\xbf\xbd", 2),
        ("%00%0A%7F%C2%85", "\0\n\x7f\x85", "\0\n\x7f\x85", None),
        ("%u002f", "%u002f", "\ufffdu002f", 0),
    ],
)
def test_percent_decode(tier, data, keep, replace, position):
    assert percent_decode(data) == percent_decode(data, errors="keep") == keep
    assert percent_decode(data, errors="replace") == replace
    if position is None:
        assert percent_decode(data, errors="raise") == keep
    else:
        with pytest.raises(UriSyntaxError) as caught:
            percent_decode(data, errors="raise")
        assert (caught.value.offset, caught.value.input) == (position, data)
        assert caught.value.reason


POLICIES = ["keep", "raise", "replace"]


@given(data=texts_with_surrogates | buffers, plus=st.booleans(), errors=st.sampled_from(POLICIES))
def test_percent_decode_any(tier, data, plus, errors):
    check(percent_decode, data, plus, errors)


@pytest.mark.slow
def test_percent_decode_sizes(tier):
    fills = "a", "%41", "é", "€", "😀", "%C3%A9", "+"
    for errors, fill, size in itertools.product(POLICIES, fills, SIZES):
        for tail in "", "%", "%4", "%F0%9F%98%80", "%F0%9F%98", "é%C3", "+":
            check(percent_decode, fill * size + tail, True, errors)
            check(percent_decode, tail + fill * size, False, errors)
        check(percent_decode, (fill * size + "%").encode(), True, errors)


# What RFC 3629 forbids: overlong forms, surrogates, beyond U+10FFFF, five and six octets, cut off sequences. Behind
# each the number of its maximal subparts.
ILL_FORMED = [
    (b"\x80", 1),
    (b"\xbf", 1),
    (b"\xc0\x80", 2),
    (b"\xc0\xaf", 2),
    (b"\xc1\xbf", 2),
    (b"\xe0\x80\x80", 3),
    (b"\xe0\x80\xaf", 3),
    (b"\xe0\x9f\xbf", 3),
    (b"\xf0\x80\x80\x80", 4),
    (b"\xf0\x80\x80\xaf", 4),
    (b"\xf0\x8f\xbf\xbf", 4),
    (b"\xed\xa0\x80", 3),
    (b"\xed\xaf\xbf", 3),
    (b"\xed\xbf\xbf", 3),
    (b"\xed\xa0\xbd\xed\xb8\x80", 6),
    (b"\xf4\x90\x80\x80", 4),
    (b"\xf7\xbf\xbf\xbf", 4),
    (b"\xf8\x88\x80\x80\x80", 5),
    (b"\xfb\xbf\xbf\xbf\xbf", 5),
    (b"\xfc\x84\x80\x80\x80\x80", 6),
    (b"\xfd\xbf\xbf\xbf\xbf\xbf", 6),
    (b"\xfe", 1),
    (b"\xff", 1),
    (b"\xc3", 1),
    (b"\xe2\x82", 1),
    (b"\xf0\x9f\x98", 1),
    (b"\xf0\x9f", 1),
    (b"\xf4\x8f\xbf", 1),
]


def test_ill_formed_utf8_is_never_text(tier):
    around = ("", ""), ("a", "b"), ("é", "é"), ("%C3%A9", "%C3%A9"), ("a" * 600, "+" * 40)
    for (octets, parts), (before, after) in itertools.product(ILL_FORMED, around):
        text = before + triplets(octets) + after
        start, end = percent_decode(before), percent_decode(after)
        assert percent_decode(text) == start + triplets(octets) + end
        assert percent_decode(text, errors="replace") == start + "\ufffd" * parts + end
        with pytest.raises(UriSyntaxError) as caught:
            percent_decode(text, errors="raise")
        assert caught.value.offset == len(before)
        assert percent_decode(text.encode(), errors="raise") == start.encode() + octets + end.encode()
        line = text.encode() + b"\n"
        assert decoded(line) == start.encode() + triplets(octets).encode() + end.encode() + b"\n"
        assert decoded(line, errors="replace") == (start + "\ufffd" * parts + end + "\n").encode()
        assert decoded(line, raw=True) == start.encode() + octets + end.encode() + b"\n"
        with pytest.raises(UriSyntaxError) as caught:
            decoded(line, errors="raise")
        assert caught.value.offset == len(before.encode())


EDGES = [0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0]


@pytest.mark.slow
def test_utf8_all_leads_and_continuations(every_tier):
    """Every second byte with every lead, and all the edges of what may follow."""
    for lead in range(0x80, 0x100):
        sequences = [bytes([lead, second]) for second in range(256)]
        if lead >= 0xE0:
            sequences += [bytes([lead, *rest]) for rest in itertools.product(EDGES, repeat=2)]
        if lead >= 0xF0:
            ends = itertools.product(EDGES, [0x7F, 0x80, 0xBF], [0x80, 0xBF, 0xC0])
            sequences += [bytes([lead, *rest]) for rest in ends]
        text = "|".join(map(triplets, sequences))
        # The lines go one by one, for a fault leads a block into the careful path.
        lines = text.replace("|", "\n").encode()
        for errors in "keep", "replace":
            want, want_of_lines = naive.percent_decode(text, errors=errors), naive.decode_lines(lines, errors=errors)
            for _ in every_tier():
                assert percent_decode(text, errors=errors).split("|") == want.split("|")
                assert decoded(lines, errors=errors).split(b"\n") == want_of_lines.split(b"\n")
        for sequence in sequences[::23]:
            for _ in every_tier():
                check(percent_decode, "é" + triplets(sequence), False, "raise")


# One decode per call

ONCE = [("%%341", "%41"), ("%2541", "%41"), ("%%32%65", "%2e"), ("%25%34%31", "%41"), ("%u002f", "%u002f")]
ONCE += [("%00", "\0"), ("%%41", "%A"), ("%4%31", "%41"), ("%252525", "%2525"), ("%%%41", "%%A"), ("%2%35", "%25")]


def test_decoded_once(tier):
    """What is decoded never becomes a part of a triplet, and what is encoded already is not encoded again."""
    for (data, want), size in itertools.product(ONCE, SIZES):
        text, result = "a" * size + data, "a" * size + want
        assert percent_decode(text) == result
        assert percent_decode(text + "é") == result + "é"
        assert percent_decode(text.encode()) == result.encode()
        buffer = bytearray(text.encode())
        assert buffer[: unquote_into(buffer, buffer)] == result.encode()
        assert decoded(text.encode(), raw=True) == result.encode()
        if want != "\0":
            assert decoded(text.encode()) == result.encode()
        assert requote(text) == text
        assert requote(requote(text, errors="replace")) == requote(text, errors="replace")


@given(data=texts | buffers, safe=sets.map(lambda members: members - "%"), plus=st.booleans())
def test_decoding_undoes_encoding(tier, data, safe, plus):
    if isinstance(data, str):
        safe &= bytes(range(128))
    encoded = percent_encode(data, safe, plus)
    assert type(encoded) is type(data)
    assert percent_decode(encoded, plus, "raise") == data


@given(text=texts)
def test_encoding_what_is_already_text_loses_nothing(tier, text):
    """Text beyond ASCII may stay: decoding leaves it alone."""
    encoded = percent_encode(text, ~ByteSet("%"))
    assert encoded == text.replace("%", "%25")
    assert percent_decode(encoded, errors="raise") == text


# requote


@pytest.mark.parametrize(
    ("data", "options", "want"),
    [
        ("", {}, ""),
        ("/a b/%c3%a9/é", {}, "/a%20b/%c3%a9/%C3%A9"),
        (b"/a b/%c3%a9/\xff", {}, b"/a%20b/%c3%a9/%FF"),
        ("100%", {}, "100%"),
        ("100% %zz%4", {"errors": "replace"}, "100%25%20%25zz%254"),
        ("%é", {}, "%%C3%A9"),
        ("%4é", {"errors": "replace"}, "%254%C3%A9"),
        ("%%41", {"errors": "replace"}, "%25%41"),
        ("a/b", {"safe": ""}, "a%2Fb"),
        ("ab%41", {"safe": ByteSet("a")}, "a%62%41"),
        ("%4g", {"safe": ByteSet()}, "%%34%67"),
        ("%4g", {"safe": "%", "errors": "replace"}, "%254g"),
        ("é%", {"safe": ALL}, "é%"),
    ],
)
def test_requote(tier, data, options, want):
    assert requote(data, **options) == want


@given(data=texts | buffers, safe=sets, errors=st.sampled_from(["keep", "replace", "raise"]))
def test_requote_any(tier, data, safe, errors):
    if isinstance(data, str) and errors == "raise":
        safe &= bytes(range(128))  # which of two errors comes first is not promised
    check(requote, data, safe, errors)


@pytest.mark.slow
@given(data=texts_with_surrogates, safe=ascii_sets, errors=st.sampled_from(["keep", "replace"]))
def test_requote_with_surrogates(tier, data, safe, errors):
    check(requote, data, safe, errors)


@pytest.mark.parametrize("text", ["%41\ud800", "%41a\ud800%42", "a%4\ud800", "%\udfff", "é%C3%A9%\ud800"])
def test_the_place_of_a_surrogate_after_triplets(tier, text):
    """Also where the digits of triplets are no safe octets themselves."""
    place = next(i for i, c in enumerate(text) if "\ud800" <= c <= "\udfff")
    for safe in ByteSet("-"), ByteSet(), ALL:
        for errors in "keep", "replace":
            with pytest.raises(UriError, match="lone surrogate") as caught:
                requote(text, safe, errors)
            assert (caught.value.offset, caught.value.input) == (place, text)


@given(data=texts | buffers, safe=ascii_sets, errors=st.sampled_from(["keep", "replace"]))
def test_requote_is_idempotent(tier, data, safe, errors):
    once = requote(data, safe, errors)
    assert requote(once, safe, errors) is once


@pytest.mark.slow
def test_requote_sizes(tier):
    for errors, fill, size in itertools.product(POLICIES, ["a", " ", "%41", "%", "é", "😀"], SIZES):
        for tail in "", " ", "%", "%4", "%41", "é%zz":
            check(requote, fill * size + tail, URI, errors)
            check(requote, (fill * size + tail).encode(), URI, errors)


# Arguments of the three


@pytest.mark.parametrize("function", [percent_encode, percent_decode, requote])
def test_bytes_like_gives_bytes(function):
    kinds = bytearray, memoryview, lambda data: array("B", data), mapped
    for kind, data in itertools.product(kinds, (b"a b%41%", b"abc", b"\xff" * 1000)):
        result = function(kind(data))
        assert type(result) is bytes
        assert result == function(data)


@pytest.mark.parametrize(
    "buffer",
    [(ctypes.py_object * 1)("%41"), (ctypes.c_wchar * 3)(*"%41"), (ctypes.c_void_p * 2)()],
    ids=["objects", "characters", "addresses"],
)
def test_pointers_and_characters_are_no_bytes(buffer):
    """What is in such memory is nothing that anybody could have meant."""
    functions = {
        function: (buffer,)
        for function in (
            *(percent_encode, percent_decode, requote, urn.check, urn.normalize, urn.is_valid, urn.find),
            *(uri.check, uri.is_valid, uri.split, uri.normalize, iri.check, iri.iri_to_uri, iri.uri_to_iri),
        )
    }
    functions |= {uri.resolve: (buffer, "a"), uri.relativize: (buffer, "s:a"), uri.equivalent: (buffer, "s:a")}
    functions |= {
        quote_into: (buffer, bytearray(100)),
        unquote_into: (buffer, bytearray(100)),
        FingerprintKey("k").fingerprint: (buffer,),
    }
    for function, arguments in functions.items():
        for data in buffer, memoryview(buffer):
            with pytest.raises(TypeError, match=r"with items of format '[<>][OuP]'"):
                function(data, *arguments[1:])


@pytest.mark.parametrize(
    "buffer",
    [(ctypes.c_char * 4)(*b"a%41"), (ctypes.c_ubyte * 4)(*b"a%41"), array("I", b"a%41"), memoryview(b"a%41").cast("I")],
    ids=["char", "ubyte", "array", "view"],
)
def test_numbers_are_bytes(buffer):
    assert percent_decode(buffer) == b"aA"
    assert percent_encode(buffer) == b"a%2541"


class Text(str):
    __slots__ = ()


class Octets(bytes):
    __slots__ = ()


@pytest.mark.parametrize("function", [percent_encode, percent_decode, requote])
def test_subclasses(function):
    for data in "a b%41", "abc", "é":
        assert function(Text(data)) == function(data)
        assert function(Octets(data.encode())) == function(data.encode())


@pytest.mark.parametrize("function", [percent_encode, percent_decode, requote])
def test_bad_arguments(function):
    for data in None, 1, ["a"], object():
        with pytest.raises(TypeError):
            function(data)
    with pytest.raises(BufferError):
        function(memoryview(b"abcdef")[::2])
    if function is not percent_encode:
        for errors in "ignore", "", "Keep", "error", None, "encode":
            for data in "a", b"a", "%":
                with pytest.raises(
                    ValueError, match=f"^errors must be one of 'keep', .*, got {re.escape(repr(errors))}$"
                ):
                    function(data, errors=errors)
    if function is not percent_decode:
        for safe in None, 1, ["a"]:
            with pytest.raises(TypeError):
                function("a", safe)


# quote_into, unquote_into


@given(src=buffers, safe=sets)
def test_quote_into(tier, src, safe):
    check_into(quote_into, naive.encode(src, safe), src, safe)


@given(src=buffers, safe=st.text(st.characters(max_codepoint=127)))
def test_quote_into_safe_characters(tier, src, safe):
    check_into(quote_into, naive.encode(src, UNRESERVED | safe), src, safe)
    check_into(quote_into, naive.encode(src, UNRESERVED | "/"), src)


@given(src=buffers)
def test_unquote_into(tier, src):
    check_into(unquote_into, naive.decode(src), src)


def test_into_sizes(tier):
    for size, fill in itertools.product(SIZES, (b"a", b" ", b"%41", b"a %41%")):
        src = (fill * size)[:size]
        check_into(quote_into, naive.encode(src, UNRESERVED | "/"), src)
        check_into(unquote_into, naive.decode(src), src)


@pytest.mark.parametrize("src", [b"a b%41c%%4142 \xff" * 5, b"%41" * 30, b" " * 70, b"a" * 70])
def test_into_overlapping_buffers(tier, src):
    """The result is that of a copy, and no other octet of the memory changes, wherever the two lie."""
    for function, want in (quote_into, naive.encode(src, UNRESERVED | "/")), (unquote_into, naive.decode(src)):
        for distance in range(-len(want) - 1, len(src) + 2):
            memory = bytearray(b"\xdd" * (len(src) + 2 * len(want) + 300))
            start, to = len(want) + 60, len(want) + 60 + distance
            memory[start : start + len(src)] = src
            expected = bytearray(memory)
            expected[to : to + len(want)] = want
            for room in len(want), len(want) + 70:
                again = bytearray(memory)
                view = memoryview(again)
                assert function(view[start : start + len(src)], view[to : to + room]) == len(want)
                assert again == expected, f"{function.__name__} to a place {distance} octets further, into {room}"


def test_into_stays_inside(tier, fences):
    source, target = fences
    for size in [*range(70), 511, 512, 513, 1000]:
        for fill in b"a", b" ", b"%41", b"a %4", b"%":
            src = (fill * size)[:size]
            results = (quote_into, naive.encode(src, UNRESERVED | "/")), (unquote_into, naive.decode(src))
            for function, want in results:
                for dst in target.at_end(bytes(len(want))), target.at_start(bytes(len(want))):
                    assert function(source.at_end(src), dst) == len(want)
                    assert dst == want


@pytest.mark.parametrize("function", [quote_into, unquote_into])
def test_into_bad_arguments(function):
    for error, src, dst in (
        (TypeError, "text", bytearray(9)),
        (TypeError, None, bytearray(9)),
        (TypeError, b"a", "text"),
        (TypeError, b"a", None),
        (BufferError, b"a", b"read-only"),
        (BufferError, b"a", memoryview(bytearray(9))[::2]),
        (BufferError, memoryview(b"abcdef")[::2], bytearray(9)),
    ):
        with pytest.raises(error):
            function(src, dst)
    assert function(b"", bytearray()) == 0
    held = bytearray(b"a%41")
    with pytest.raises(ValueError, match="too small"):
        function(held, bytearray(1))
    held.append(0)  # and no buffer is still held: this would be a BufferError
    for kind in bytearray, mapped, lambda data: array("B", data):
        dst = kind(b"....")
        assert function(b"ab", dst) == 2
        assert bytes(dst[:4]) == b"ab.."


@pytest.mark.parametrize("safe", [None, 1, ["/"]])
def test_quote_into_bad_safe(safe):
    with pytest.raises(TypeError):
        quote_into(b"a", bytearray(9), safe)


# Lines in buffers


def decoded(src, room=None, **options):
    """What decode_lines writes, with as much room as its documentation asks for, between canaries."""
    if room is None:
        room = capacity_for(src, options.get("errors", "keep"))
    buffer = bytearray(CANARY + bytes(room) + CANARY)
    view = memoryview(buffer)[len(CANARY) : len(CANARY) + room]
    written = decode_lines(src, view, **options)
    assert buffer.startswith(CANARY) and buffer.endswith(CANARY), ("decode_lines", bytes(src), options)
    return bytes(view[:written])


@cache
def wanted_lines(src, options):
    return outcome(naive.decode_lines, src, **dict(options))


def check_lines(src, before=b"", **options):
    """What stands before src, and is nothing to decode, is kept from the reference, which is slow."""
    want = wanted_lines(src, tuple(options.items()))
    got = outcome(decoded, before + src, **options)
    want = (bytes, before + want[1]) if want[0] is bytes else ("UriSyntaxError", before + src, len(before) + want[2])
    if want != got:
        pytest.fail(f"decode_lines({before[-10:]!r} + {src!r}, {options}): {got!r}"[:2000])


@pytest.mark.parametrize(
    ("src", "keep", "replace", "position"),
    [
        (b"", b"", b"", None),
        (b"\n", b"\n", b"\n", None),
        (b"/a%20b\n%41", b"/a b\nA", b"/a b\nA", None),
        (b"%C3%A9\r\n", b"\xc3\xa9\r\n", b"\xc3\xa9\r\n", None),
        (b"a%0ab%0D%00%1b%7F%20\n", b"a%0ab%0D%00%1b%7F \n", b"a%0ab%0D%00%1b%7F \n", None),
        (b"%C2%85%c2%9f%c2%a0\n", b"%C2%85%c2%9f\xc2\xa0\n", b"%C2%85%c2%9f\xc2\xa0\n", None),
        (b"\xc2%85 %c2\x85 \xc2\x85\n", b"\xc2%85 %c2\x85 \xc2\x85\n", b"\xc2%85 %c2\x85 \xc2\x85\n", None),
        (b"\x00\x1b\x7f\r\t\n", b"\x00\x1b\x7f\r\t\n", b"\x00\x1b\x7f\r\t\n", None),
        (b"100%\n", b"100%\n", b"100\xef\xbf\xbd\n", 3),
        (b"%4\n1\n", b"%4\n1\n", b"\xef\xbf\xbd4\n1\n", 0),
        (b"ok\n%FF%41\n", b"ok\n%FFA\n", b"ok\n\xef\xbf\xbdA\n", 3),
        (b"\xff%41%ff\n", b"\xffA%ff\n", b"\xef\xbf\xbdA\xef\xbf\xbd\n", 0),
        (b"\xc3%A9%C3\xa9\n", b"\xc3\xa9\xc3\xa9\n", b"\xc3\xa9\xc3\xa9\n", None),
        (b"a\xe2\x82%41\n", b"a\xe2\x82A\n", b"a\xef\xbf\xbdA\n", 1),
        (b"\xe2%82\n%AC", b"\xe2%82\n%AC", b"\xef\xbf\xbd\n\xef\xbf\xbd", 0),
        (b"%E2\x82%zz\n", b"%E2\x82%zz\n", b"\xef\xbf\xbd\xef\xbf\xbdzz\n", 0),
        (b"%E2%0A%82\n", b"%E2%0A%82\n", b"\xef\xbf\xbd%0A\xef\xbf\xbd\n", 0),
        (b"%%341%2541%u002f\n", b"%41%41%u002f\n", b"\xef\xbf\xbd41%41\xef\xbf\xbdu002f\n", 0),
        (b"%C0%AF%ED%A0%80\n", b"%C0%AF%ED%A0%80\n", b"\xef\xbf\xbd" * 5 + b"\n", 0),
    ],
)
def test_decode_lines(tier, src, keep, replace, position):
    for before in b"", b"a\n", b"%41\n", b"\xff\n" * (position is None), b"x" * 8190, b"x" * 8191 + b"\n":
        start = before.replace(b"%41", b"A")
        assert decoded(before + src) == start + keep
        assert decoded(before + src, errors="replace") == start.replace(b"\xff", b"\xef\xbf\xbd") + replace
        if position is not None:
            with pytest.raises(UriSyntaxError) as caught:
                decoded(before + src, errors="raise")
            assert (caught.value.offset, caught.value.input) == (len(before) + position, before + src)
        elif b"\xff" not in before:
            assert decoded(before + src, errors="raise") == start + keep


def test_decode_lines_raw(tier):
    every = "".join(f"%{octet:02x}" for octet in range(256)).encode()
    assert decoded(every, raw=True) == decoded(every, raw=True, errors="raise") == bytes(range(256))
    assert decoded(b"%0A\xff%C2%85%FF\n%", raw=True) == b"\n\xff\xc2\x85\xff\n%"
    assert decoded(b"%FF%", raw=True, errors="replace") == b"\xff\xef\xbf\xbd"
    with pytest.raises(UriSyntaxError) as caught:
        decoded(b"%FF\n%4\n", raw=True, errors="raise")
    assert caught.value.offset == 4


def test_decode_lines_plus(tier):
    assert decoded(b"a+b%2Bc\n+", plus=True) == b"a b+c\n "
    assert decoded(b"a+%0a+%FF+%", plus=True) == b"a %0a %FF %"
    assert decoded(b"a+b%2Bc\n+") == b"a+b+c\n+"
    no_space = ~ByteSet(" \n")  # as where it stands between fields
    for text in b"a+b\n+", b"a b+\n", b"a+%20b%41\n", b"+" * 9000:
        assert decoded(text, plus=True, free=no_space) == text.replace(b"%41", b"A")


LINE_PIECES = [b"\n", b"\r\n", b"\n\n", b"\xe2", b"\x82", b"\xac\n", b"\xc2"]
some_lines = st.lists(buffers | st.sampled_from(LINE_PIECES), max_size=12)
# Now and then a block, or nearly, before the lines: of one line, of short ones, of lines with work.
fillers = st.just(b"") | st.builds(
    lambda filler, size: filler * (size // len(filler)),
    st.sampled_from([b"a", b"a\n", b"%41%0a\n", b"\xc3\xa9\n", b"%C3%A9/\n"]),
    st.integers(8100, 8200),
)
line_buffers = st.builds(lambda filler, parts: filler + b"".join(parts), st.just(b"") | fillers, some_lines)
ERRORS = st.sampled_from(["keep", "replace", "raise"])


@pytest.mark.slow
@given(src=line_buffers, plus=st.booleans(), raw=st.booleans(), errors=ERRORS)
def test_decode_lines_any(tier, src, plus, raw, errors):
    check_lines(src, plus=plus, raw=raw, errors=errors)


@pytest.mark.slow
@given(src=line_buffers, plus=st.booleans(), errors=st.sampled_from(["keep", "replace"]))
def test_decoded_lines_stay_lines(tier, src, plus, errors):
    """No control that was not in the input; and the faults of one line are nothing to another."""
    got = decoded(src, plus=plus, errors=errors)
    for control in [*range(0x20), 0x7F]:
        assert got.count(control) == src.count(control)
    assert got == b"".join(decoded(line, plus=plus, errors=errors) for line in src.splitlines(keepends=True))


SPECIALS = [b"%41", b"%", b"%0a", b"%FF", b"%C2%85", b"%E2%82%AC", b"\xff", b"\xe2%82\xac", b"\n"]


@pytest.mark.parametrize("errors", POLICIES)
def test_decode_lines_across_blocks(tier, errors):
    """Something special around the end of a block of 8192 bytes, in short lines and in one that is longer."""
    for special, start in itertools.product(SPECIALS, range(8192 - 12, 8192 + 4)):
        for line in b"/some/path/x\n", b"/some/path":
            before = (line * 1000)[:start]
            check_lines(special + line * 10, before, errors=errors)
            check_lines(b"\n" + special * 3 + b"\n" + line, before, errors=errors)


def test_a_buffer_that_is_too_small(tier, fences):
    for src, want in (b"a%41\n", 3), (b"%zz\n", 4), (b"a" * 9000, 9000):
        for room in 0, want - 1:
            with pytest.raises(ValueError, match="too small"):
                decoded(src, room)
    # What may become three times as long is not begun in less, even where its bytes themselves would fit.
    dst = fences[1].at_end(bytes(2000))
    with pytest.raises(ValueError, match="too small"):
        decode_lines(b"%" * 1000, dst, errors="replace")
    with pytest.raises(ValueError, match="too small"):
        encode_lines(b" " * 1000, dst, UNRESERVED)


@pytest.mark.slow
@pytest.mark.parametrize("errors", ["keep", "replace", "raise"])
def test_lines_stay_inside(tier, fences, errors):
    source, target = fences
    for size in [*range(70), 1000, 4090]:
        for fill in b"a%41\n", b"%", b"%FF\n", b"%0a\xc3%a9", b"a" * 60 + b"%E2%82\n", b"\xff":
            src = (fill * size)[:size]
            dst = target.at_end(bytes(capacity_for(src, errors)))
            want = outcome(naive.decode_lines, src, errors=errors)
            got = outcome(decode_lines, source.at_end(src), dst, errors=errors)
            assert got == (int, len(want[1])) if want[0] is bytes else got[0] == want[0] and got[2] == want[2]
            assert want[0] is not bytes or dst[: got[1]] == want[1]
            encoded = naive.encode_lines(src, UNRESERVED)
            dst = target.at_end(bytes(capacity_for(src, encode=True)))
            assert encode_lines(source.at_end(src), dst, UNRESERVED) == len(encoded)
            assert dst[: len(encoded)] == encoded


@pytest.mark.parametrize(
    ("src", "options", "want"),
    [
        (b"", {}, b""),
        (b"a b\nc\r\n\n\r\nd", {}, b"a%20b\nc\r\n\n\r\nd"),
        (b"a\rb\r\r\n\r", {}, b"a%0Db%0D\r\n%0D"),
        (b"a b+c\n+ ", {"plus": True}, b"a+b%2Bc\n%2B+"),
        (b"%41\xff\n", {}, b"%2541%FF\n"),
        (b"\n\r", {"safe": ByteSet()}, b"\n%0D"),
        (b"a\rb\r", {"safe": ALL}, b"a\rb\r"),
        (b"+ ", {"safe": ALL, "plus": True}, b"%2B+"),
    ],
)
def test_encode_lines(tier, src, options, want):
    options = {"safe": UNRESERVED, "plus": False} | options
    assert naive.encode_lines(src, **options) == want
    check_encoded_lines(src, **options)


def test_encode_lines_without_capacity(tier):
    """Wherever the room ends, nothing is written behind it."""
    for src in b"ab\r\n", b"a b\r\n", b"\r\n", b"a\r\nb c\r\n":
        for room in range(len(naive.encode_lines(src, UNRESERVED))):
            buffer = bytearray(bytes(room) + CANARY)
            with pytest.raises(ValueError, match=f"dst is too small: {room} bytes"):
                encode_lines(src, memoryview(buffer)[:room], UNRESERVED)
            assert buffer.endswith(CANARY)


def check_encoded_lines(src, safe, plus):
    want = naive.encode_lines(src, safe, plus)
    for room in capacity_for(src, encode=True), 2 * capacity_for(src, encode=True):
        buffer = bytearray(CANARY + bytes(room) + CANARY)
        dst = memoryview(buffer)[len(CANARY) : len(CANARY) + room]
        written = encode_lines(src, dst, safe, plus)
        if dst[:written] != want:
            pytest.fail(f"encode_lines({src[:500]!r}, {safe!r}, {plus}) is {bytes(dst[:written])[:900]!r}")
        assert buffer.startswith(CANARY) and buffer.endswith(CANARY)
    if want:
        buffer = bytearray(CANARY + bytes(len(want) - 1) + CANARY)
        with pytest.raises(ValueError, match="too small"):
            encode_lines(src, memoryview(buffer)[len(CANARY) : -len(CANARY)], safe, plus)
        assert buffer.startswith(CANARY) and buffer.endswith(CANARY)


RETURNS = [b"\r", b"\n", b"\r\n", b"a", b" ", b"+", b"a" * 70]
carriage_returns = st.lists(st.sampled_from(RETURNS), max_size=30).map(b"".join)


@pytest.mark.slow
@given(src=line_buffers | carriage_returns, safe=sets, plus=st.booleans())
def test_encode_lines_any(tier, src, safe, plus):
    check_encoded_lines(src, safe, plus)


def test_encode_lines_across_blocks(tier):
    starts = *range(20, 70), *range(8192 - 4, 8192 + 4)
    for special, start in itertools.product([b"\r\n", b"\r", b"\r\r\n", b" \n", b"\n"], starts):
        check_encoded_lines(b"a" * start + special + b"b c\r\n", UNRESERVED, False)


@pytest.mark.slow
@given(src=line_buffers, plus=st.booleans(), safe=sets.map(lambda members: members - b"%\r\n"))
def test_decoding_lines_undoes_encoding(tier, src, plus, safe):
    encoded = bytearray(capacity_for(src, encode=True))
    size = encode_lines(src, encoded, safe, plus)
    assert decoded(encoded[:size], plus=plus, raw=True, errors="raise") == src


@pytest.mark.parametrize("function", [decode_lines, lambda src, dst: encode_lines(src, dst, UNRESERVED)])
def test_lines_bad_arguments(function):
    for error, src, dst in (
        (TypeError, "text", bytearray(99)),
        (ValueError, b"a", None),
        (BufferError, b"a", bytes(99)),
        (BufferError, b"a", memoryview(bytearray(99))[::2]),
        (BufferError, memoryview(b"abcdef")[::2], bytearray(99)),
    ):
        with pytest.raises(error):
            function(src, dst)
    assert function(b"", bytearray()) == 0


def test_lines_bad_options():
    for errors in "error", "strict", "", None:
        with pytest.raises(ValueError, match="errors must be one of"):
            decode_lines(b"a", bytearray(9), errors=errors)
    with pytest.raises(TypeError):
        encode_lines(b"a", bytearray(99), b"abc")


# Hostile input of some length: with anything worse than linear time these would not come to an end


HOSTILE = ["%", "%4", "%41", "%FF", "%E2%82", "%F0%9F%98", "%C2%85", "é%", "%%32%65", "+", "%0A"]


@pytest.mark.slow
@pytest.mark.parametrize("unit", HOSTILE)
def test_long_hostile_input(unit):
    count = 70_000
    few, text = unit * 3, unit * count
    for function in percent_encode, percent_decode, requote:
        check_periodic(function(few), function(text), count)
    check_periodic(percent_decode(few, errors="replace"), percent_decode(text, errors="replace"), count)
    for options in {}, {"errors": "replace"}, {"raw": True}:
        check_periodic(decoded(few.encode(), **options), decoded(text.encode(), **options), count)
    assert unquote_into(text.encode(), bytearray(len(text.encode()))) == len(naive.decode(text.encode()))


def check_periodic(few, many, count):
    """Three units give three times what one gives, so `count` of them give `count` times that."""
    one = few[: len(few) // 3]
    if few != 3 * one or many != one * count:
        pytest.fail(f"{few!r} is not what {many[:60]!r}... is made of")
