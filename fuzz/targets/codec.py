"""Percent-encoding: the functions of `uricodec` itself against urllib.parse and references, and byte sets."""

import urllib.parse

from common import GIVEN, behaviour, exact, is_refusal, outcome, run, text_of
from reference import codec as naive

import uricodec
from uricodec import ByteSet, bytesets, parse
from uricodec.parse import _stdlib

COVERS = {
    "uricodec": [
        *["quote", "quote_plus", "quote_from_bytes", "unquote", "unquote_plus", "unquote_to_bytes"],
        *["percent_encode", "percent_decode", "requote", "quote_into", "unquote_into", "cpu_tier", "cpu_tiers"],
        *["install", "uninstall", "ByteSet"],
    ],
}

DICTIONARIES = "percent"

SETS = [getattr(bytesets, name) for name in bytesets.__all__]
ENCODINGS = (None, "utf-8", "latin-1", "ascii", "utf-16", "cp1252", "no-such-encoding", "shift_jis", "utf-7")
ERRORS = (None, "strict", "replace", "ignore", "surrogateescape", "backslashreplace", "no-such-policy")
ASCII = ByteSet(range(128))
CANARY = b"\xee" * 16


def stdlib_function(draw):
    """Compare each function with the interpreter's urllib.parse, also for arguments that it rejects."""
    name = draw.one(COVERS["uricodec"][:6])
    options = {}
    if draw.flag():
        options["encoding"] = draw.one(ENCODINGS)
    if draw.flag():
        options["errors"] = draw.one(ERRORS)
    if name in {"quote_from_bytes", "unquote_to_bytes"}:
        options = {}
    make, make_safe, with_safe = draw.one(GIVEN), draw.one(GIVEN[:2]), draw.flag()
    data, safe = draw.parts(2)
    arguments = [make(data), make_safe(safe)] if name.startswith("quote") and with_safe else [make(data)]
    ours = behaviour(getattr(uricodec, name), *arguments, **options)
    assert ours == behaviour(getattr(_stdlib, name), *arguments, **options)
    with uricodec.install():
        assert ours == behaviour(getattr(urllib.parse, name), *arguments, **options)
    assert urllib.parse.quote is _stdlib.quote
    uricodec.install()
    assert getattr(urllib.parse, name) is getattr(parse, name)
    uricodec.uninstall()
    assert getattr(urllib.parse, name) is getattr(_stdlib, name)


def safe_of(kind, named, octets):
    """Return the safe characters, as an argument and as a set."""
    if kind == 0:
        return named, {*named}
    if kind == 1:
        return ~ByteSet(octets), {*range(256)} - {*octets}
    if kind == 2:
        return ByteSet(octets), {*octets}
    octets = bytes(octet for octet in octets if octet < 0x80)
    return octets.decode() if kind == 3 else octets, {*bytesets.RFC3986_UNRESERVED, *octets}


def encoders(draw):
    """Compare percent_encode and requote with their references; decoding restores the input."""
    name, make = draw.one(("percent_encode", "requote")), draw.one(GIVEN)
    plus, errors = draw.flag(), draw.one(("keep", "raise", "replace"))
    kind, named = draw.number(5), draw.one(SETS)
    octets, stay = draw.parts(2)
    data = make(octets)
    given, safe = safe_of(kind, named, stay)
    if make is text_of and len([octet for octet in safe if octet >= 0x80]) not in {0, 128}:
        given, safe = ASCII & given, {*ASCII & given}  # of characters, all bytes are safe or none
    if name == "requote" and errors == "raise" and make is text_of:
        given, safe = ASCII & given, {*ASCII & given}
        errors = "raise" if data.isascii() else "keep"  # which of two errors comes first is not promised
    function, options = getattr(uricodec, name), {"plus": plus} if name == "percent_encode" else {"errors": errors}
    made = outcome(function, data, given, **options)
    assert exact(made) == exact(outcome(getattr(naive, name), data, safe, **options))
    if is_refusal(made):
        return
    if name == "requote":
        assert function(made, given, **options) is made
    elif ord("%") not in safe and ord("+") not in safe:
        assert uricodec.percent_decode(made, plus, "raise") == data


def decoder(draw):
    """Compare percent_decode with its reference."""
    make, plus, errors = draw.one(GIVEN), draw.flag(), draw.one(("keep", "raise", "replace"))
    data = make(draw.octets())
    made = outcome(uricodec.percent_decode, data, plus, errors)
    assert exact(made) == exact(outcome(naive.percent_decode, data, plus, errors))


def into(draw):
    """quote_into and unquote_into: into a buffer of exactly the needed capacity, more, less, and in place."""
    spare, back = draw.number(4), draw.number(64)
    src, stay = draw.parts(2)
    safe = ByteSet(stay) if stay else bytesets.RFC3986_UNRESERVED
    for function, arguments, want in (
        (uricodec.quote_into, (safe,), naive.encode(src, safe)),
        (uricodec.unquote_into, (), naive.decode(src)),
    ):
        buffer = bytearray(CANARY + bytes(len(want) + spare) + CANARY)
        with memoryview(buffer)[16 : len(want) + spare + 16] as dst:
            assert function(src, dst, *arguments) == len(want)
        assert buffer == CANARY + want + bytes(spare) + CANARY
        if want:
            buffer = bytearray(CANARY + bytes(len(want) - 1) + CANARY)
            with memoryview(buffer)[16 : len(want) + 15] as dst:
                try:
                    function(src, dst, *arguments)
                    raise AssertionError("no error")
                except ValueError:
                    pass
            assert buffer.startswith(CANARY) and buffer.endswith(CANARY)
        buffer = bytearray(64 + len(src) + len(want))
        buffer[back : back + len(src)] = src
        with memoryview(buffer) as view:
            assert function(view[back : back + len(src)], view[32:], *arguments) == len(want)
        assert buffer[32 : 32 + len(want)] == want


def byte_set(draw):
    """ByteSet against set; and the names of the tiers."""
    named = draw.one(SETS)
    first, second = draw.parts(2)
    a, b = ByteSet(first), ByteSet(second)
    x, y = {*first}, {*second}
    for made, want in (a | b, x | y), (a & b, x & y), (a - b, x - y), (a ^ b, x ^ y), (~a, {*range(256)} - x):
        assert {*made} == want and len(made) == len(want) and bytes(made) == bytes(sorted(want))
        assert all((octet in made) is (octet in want) for octet in range(256))
        assert made == ByteSet(want) and hash(made) == hash(ByteSet(bytes(want)))
    assert (a == b) is (x == y)
    assert a | second == a | b == first | b and a & second == a & b and a - second == a - b and a ^ second == a ^ b
    assert ~~named == named and {*(named | a)} == {*named} | x
    tiers = uricodec.cpu_tiers()
    assert type(tiers) is tuple and uricodec.cpu_tier() in tiers and tiers[0] == "portable"


OPERATIONS = (stdlib_function, encoders, decoder, into, byte_set)


def target(data):
    run(OPERATIONS, data)
