"""References resolved against a base, and made again from base and target: RFC 3986 section 5, RFC 1630."""

import pickle
from itertools import product
from pathlib import Path

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from reference import uri_forms as naive
from support.tables import each_row
from support.vendored import cases, scalar

from uricodec import uri
from uricodec.errors import UriSyntaxError

DATA = Path(__file__).parents[1] / "data"


def tsv(name):
    header, *lines = DATA.joinpath(name).read_text("utf-8").split("\n")
    return [dict(zip(header.split("\t"), line.split("\t"), strict=True)) for line in lines if line]


CASES = tsv("resolution_cases.tsv")


@each_row("library", [uri, naive])
@each_row("row", CASES)
def test_resolution_case(row, library):
    base, ref = row["base"], row["reference"]
    assert library.resolve(base, ref) == row["expected_rfc3986_strict"]
    assert library.resolve(base, ref, strict=False) == row["expected_rfc3986_loose"]
    assert library.resolve(base.encode(), ref.encode()) == row["expected_rfc3986_strict"].encode()


# --- what the RFCs print ----------------------------------------------------------------------------------------------

RFC3986_BASE = "http://a/b/c/d;p?q"

# RFC 3986 section 5.4.1
NORMAL = {
    "g:h": "g:h",
    "g": "http://a/b/c/g",
    "./g": "http://a/b/c/g",
    "g/": "http://a/b/c/g/",
    "/g": "http://a/g",
    "//g": "http://g",
    "?y": "http://a/b/c/d;p?y",
    "g?y": "http://a/b/c/g?y",
    "#s": "http://a/b/c/d;p?q#s",
    "g#s": "http://a/b/c/g#s",
    "g?y#s": "http://a/b/c/g?y#s",
    ";x": "http://a/b/c/;x",
    "g;x": "http://a/b/c/g;x",
    "g;x?y#s": "http://a/b/c/g;x?y#s",
    "": "http://a/b/c/d;p?q",
    ".": "http://a/b/c/",
    "./": "http://a/b/c/",
    "..": "http://a/b/",
    "../": "http://a/b/",
    "../g": "http://a/b/g",
    "../..": "http://a/",
    "../../": "http://a/",
    "../../g": "http://a/g",
}
# Section 5.4.2, the last one for strict parsers
ABNORMAL = {
    "../../../g": "http://a/g",
    "../../../../g": "http://a/g",
    "/./g": "http://a/g",
    "/../g": "http://a/g",
    "g.": "http://a/b/c/g.",
    ".g": "http://a/b/c/.g",
    "g..": "http://a/b/c/g..",
    "..g": "http://a/b/c/..g",
    "./../g": "http://a/b/g",
    "./g/.": "http://a/b/c/g/",
    "g/./h": "http://a/b/c/g/h",
    "g/../h": "http://a/b/c/h",
    "g;x=1/./y": "http://a/b/c/g;x=1/y",
    "g;x=1/../y": "http://a/b/c/y",
    "g?y/./x": "http://a/b/c/g?y/./x",
    "g?y/../x": "http://a/b/c/g?y/../x",
    "g#s/./x": "http://a/b/c/g#s/./x",
    "g#s/../x": "http://a/b/c/g#s/../x",
    "http:g": "http:g",
}


@each_row("ref", NORMAL)
def test_rfc_3986_section_5_4_1_normal_example(ref):
    assert uri.resolve(RFC3986_BASE, ref) == NORMAL[ref]


@each_row("ref", ABNORMAL)
def test_rfc_3986_section_5_4_2_abnormal_example(ref):
    assert uri.resolve(RFC3986_BASE, ref) == ABNORMAL[ref]


def test_rfc_3986_section_5_4_2_for_backward_compatibility():
    assert uri.resolve(RFC3986_BASE, "http:g", strict=False) == "http://a/b/c/g"
    assert uri.resolve(RFC3986_BASE, "wais:g", strict=False) == "wais:g"
    assert len(NORMAL) + len(ABNORMAL) == 42


# RFC 1630, "Partial (relative) form": "and in the context of the URI magic://a/b/c//d/e/ the results would be exactly
# the same."
RFC1630 = {
    "g": "magic://a/b/c//d/e/g",
    "/g": "magic://a/g",
    "//g": "magic://g",
    "../g": "magic://a/b/c//d/g",
    "g:h": "g:h",
}


@each_row("base", ["magic://a/b/c//d/e/f", "magic://a/b/c//d/e/"])
@each_row("ref", RFC1630)
def test_rfc_1630_partial_form(ref, base):
    assert uri.resolve(base, ref) == RFC1630[ref]


def test_rfc_3986_section_5_2_4_examples():
    assert uri.normalize("s:/a/b/c/./../../g") == "s:/a/g"
    assert uri.resolve("s:", "s:mid/content=5/../6") == "s:mid/6"


# --- resolving --------------------------------------------------------------------------------------------------------


@each_row("library", [uri, naive])
@each_row(
    ("base", "ref", "target"),
    [
        *[("s:a/b", "..//c", "s:/.//c"), ("s:a/b", "/..//c", "s:/.//c"), ("s:a", "t:/.//c", "t:/.//c")],
        *[("s:a", "t:.///c", "t:/.//c"), ("s:/.//a", "", "s:/.//a"), ("s:/.//a", "b", "s:/.//b")],
        *[("s://h", "..//c", "s://h//c"), ("s:", "a:b", "a:b"), ("s:", "./a:b", "s:a:b")],
        *[("s:a/../b?q", "#f", "s:a/../b?q#f"), ("s:a?", "", "s:a?"), ("s:a?", "?", "s:a?"), ("s:a", "#", "s:a#")],
        *[("S://H/%7e/..", "%zz/.", "S://H/%7e/%zz/"), ("http://[a", "b]", "http://[a/b]")],
        ("http://\xe9/\u20ac", "\U00010000", "http://\xe9/\U00010000"),
    ],
)
def test_target(base, ref, target, library):
    assert library.resolve(base, ref) == target
    assert library.resolve(base.encode(), ref.encode()) == target.encode()


@each_row("library", [uri, naive])
@each_row(
    ("base", "ref", "target"),
    [
        ("HTTP://a/b/c", "http:d", "HTTP://a/b/d"),
        ("http://a/b", "http://c", "http://c"),
        ("http://a/b", "HTTP://c", "http://c"),
        ("http://a/b", "http:", "http://a/b"),
        ("http://a/b", "http:c:d", "http://a/c:d"),
        ("http://a/b", "https:c", "https:c"),
    ],
)
def test_loose_target(base, ref, target, library):
    assert library.resolve(base, ref, strict=False) == target


@pytest.mark.parametrize("function", [uri.resolve, uri.relativize])
def test_errors(function):
    bases = {"": 0, "//h/p": 0, "abc/d": 3, "a" * 700: 700, "1:b": 0, "\xe9:": 0, "a\xe9:": 1}
    for base, position in bases.items():
        for given_base in base, base.encode():
            with pytest.raises(UriSyntaxError) as caught:
                function(given_base, given_base[:0])
            assert (caught.value.offset, caught.value.input) == (position, given_base)
    for arguments, position in (("\u20ac\ud800", "a"), 1), (("a:", "\u20acb\ud800"), 2):
        with pytest.raises(UriSyntaxError) as caught:
            function(*arguments)
        assert caught.value.offset == position
    for arguments in ("s:a", b"s:a"), (b"s:a", "s:a"), ("s:a", 1), (None, "s:a"), ("s:a",), ("s:a", "b", True, True):
        with pytest.raises(TypeError):
            function(*arguments)
    assert pickle.loads(pickle.dumps(function)) is function


def test_absolute_references_stay_the_same_object():
    for ref in "http://h/a?b", b"http://h/a?b", "http://\xe9/" + "a" * 700:
        base = "s:" if isinstance(ref, str) else b"s:"
        assert uri.resolve(base, ref) is ref
        assert uri.relativize(base, ref) is ref
    assert type(uri.resolve(b"s:", memoryview(b"t:"))) is type(uri.resolve(bytearray(b"s:"), b"t")) is bytes
    assert uri.resolve(base="s:a", ref="b", strict=True) == uri.resolve("s:a", "b", True) == "s:b"


# --- properties, on every tier ----------------------------------------------------------------------------------------

PIECES = [*"/.:?#@ab%1\xe9\u20ac", "..", "../", "./", "//", "/.//", "a:", "s:", "S:", "/a/", "?q", "#f"]
REFERENCES = st.lists(st.sampled_from(PIECES), max_size=10).map("".join)
BASES = st.builds(str.__add__, st.sampled_from(["s:", "S:", "s://h", "s:/", "s:a/b/"]), REFERENCES)


@given(BASES, REFERENCES, st.booleans())
def test_same_as_the_reference(tier, base, ref, strict):
    assert uri.resolve(base, ref, strict) == naive.resolve(base, ref, strict)
    octets = uri.resolve(base.encode(), ref.encode(), strict)
    assert octets == naive.resolve(base, ref, strict).encode()


@given(BASES, st.lists(st.sampled_from(PIECES), max_size=600).map("".join))
def test_long_references(base, ref):
    assert uri.resolve(base, ref) == naive.resolve(base, ref)
    assert uri.resolve("s:" + ref, base[2:]) == naive.resolve("s:" + ref, base[2:])


@given(BASES, REFERENCES)
def test_targets_keep_their_components(base, ref):
    """What comes out is read as the components that were put together."""
    target, parts = naive.parse(naive.as_text(uri.resolve(base, ref))), naive.parse(naive.as_text(ref))
    assert target.scheme is not None
    assert target.fragment == parts.fragment
    if parts.scheme is not None or parts.authority is not None or parts.path or parts.query is not None:
        assert target.query == parts.query
    if parts.scheme is None and parts.authority is None:
        assert target.authority == naive.parse(naive.as_text(base)).authority


def test_all_short_references():
    for base in "s:a/b", "s:/a/b", "s://h", "s://h/a//b", "s:", "s:/.//a", "s:../a/./b":
        for n in range(7):
            for letters in product("/.a", repeat=n):
                ref = "".join(letters)
                assert uri.resolve(base, ref) == naive.resolve(base, ref)


# --- relativizing -----------------------------------------------------------------------------------------------------


@each_row(
    ("base", "target", "ref"),
    [
        *[("http://a/b/c", "http://a/b/c", ""), ("http://a/b/c#d", "http://a/b/c#e", "#e")],
        *[("http://a/b/c?d", "http://a/b/c?e", "?e"), ("http://a/b/c?d", "http://a/b/c", "c")],
        *[("http://a/b/?d", "http://a/b/", "."), ("http://a?d", "http://a", "//a"), ("http://a/b/c", "http://a/", "/")],
        *[("http://a/b/c/d", "http://a/b/e", "../e"), ("http://a/b/c/d", "http://a/b/", "..")],
        ("http://a/bbbb/c/d/e", "http://a/bbbb/?f", "../..?f"),
        ("http://a/b/c/d/e", "http://a/b/?f", "/b/?f"),
        ("http://a/b", "http://a/c:d", "/c:d"),
        ("http://a/bb/c", "http://a/bb/c:d", "./c:d"),
        *[("http://a/bb/c", "http://a/bb//c", ".//c"), ("http://a/b", "http://a//b", ".//b")],
        *[("http://a", "http://a//b", ".//b"), ("http://a/b", "http://c/b", "//c/b")],
        *[("http://a/b", "HTTP://a/b", "HTTP://a/b"), ("http://a/b", "http:b", "http:b"), ("s:/a", "s:/.//b", ".//b")],
        *[("s:a/b", "s:a/c", "c"), ("s:a/b", "s:c", "s:c"), ("s:a/b", "s:/c", "/c"), ("s:a?b", "s:", ".")],
        ("urn:example:a", "urn:example:a?+r", "?+r"),
        *[("s:/a/../b", "s:/a/../b?c", "?c"), ("s:/a/../b/c", "s:/b/d", "d")],
        ("http://a/\xe9/\u20ac", "http://a/\xe9/\U00010000", "\U00010000"),
    ],
)
def test_relative(base, target, ref):
    assert uri.relativize(base, target) == ref
    assert uri.relativize(base.encode(), target.encode()) == ref.encode()
    assert uri.resolve(base, ref) == target


@each_row(
    ("target", "position"),
    [("s:/a/./b", 4), ("s:/\u20ac/..", 4), ("t:a/b/.", 5), ("s://h/a/../b#/./", 7), ("s:.", 2), ("s:../a", 2)],
)
def test_rejects_targets_with_dot_segments(target, position):
    with pytest.raises(UriSyntaxError) as caught:
        uri.relativize("s:/a/b/c", target)
    assert (caught.value.offset, caught.value.input) == (position, target)


def test_a_target_needs_a_scheme():
    for target, position in ("", 0), ("abc/d", 3), ("//h", 0):
        with pytest.raises(UriSyntaxError) as caught:
            uri.relativize("s:", target)
        assert (caught.value.offset, caught.value.input) == (position, target)


@pytest.mark.slow
@given(BASES, BASES, st.booleans())
@example("s://h//a", "s://h///b", True)
def test_relative_resolves_to_its_target(base, target, normal):
    if normal:
        target = uri.normalize(target, "path")
    try:
        ref = uri.relativize(base, target)
    except UriSyntaxError:
        assert uri.resolve(base, target) != target
        assert naive.shortest(naive.as_text(base), naive.as_text(target)) is None
        return
    assert uri.resolve(base, ref) == target
    assert uri.resolve(base.encode(), uri.relativize(base.encode(), target.encode())) == target.encode()
    assert len(naive.as_text(ref)) == naive.shortest(naive.as_text(base), naive.as_text(target))


def test_no_reference_is_shorter():
    """All references of up to six octets, against all targets that they lead to."""
    refs = ["".join(letters) for n in range(7) for letters in product("/.a:?", repeat=n)]
    refs = [ref for ref in refs if ":" not in ref.split("/")[0].split("?")[0] and ref.count("?") < 2]
    for base in "s:a/a", "s:/a/a/a", "s://a/a/a", "s://a", "s://a//a/", "s:a?a", "s:", "s:/.//a/a":
        best = {}
        for ref in refs:  # the shortest first
            best.setdefault(uri.resolve(base, ref), ref)
        for target, ref in best.items():
            found = uri.relativize(base, target)
            assert uri.resolve(base, found) == target
            assert len(found) <= len(ref), (base, target, ref, found)


def test_nothing_resolves_to_dot_segments():
    with pytest.raises(
        UriSyntaxError, match="no reference resolves to a path with a dot segment at offset 10"
    ) as caught:
        uri.relativize("http://a/b", "http://á/x/../y")
    assert caught.value.offset == 10


@given(BASES, REFERENCES)
def test_relative_of_what_was_resolved(base, ref):
    """What resolve() gives can be made relative again, and not longer, if the reference was a valid one."""
    assume(":" not in naive.parse(naive.as_text(ref)).path.split("/")[0])
    target = uri.resolve(base, ref)
    try:
        found = uri.relativize(base, target)
    except UriSyntaxError:
        assert uri.resolve(base, target) != target  # dot segments of the base
        return
    assert uri.resolve(base, found) == target
    assert len(found.encode()) <= len(ref.encode()) or naive.parse(naive.as_text(ref)).scheme is not None


# --- the URLs of the web platform tests ------------------------------------------------------------------------------


def pairs():
    return [
        (scalar(case["base"] or "http://example.org/a/b/"), scalar(case["input"])) for case in cases("wpt/urltestdata")
    ]


@each_row(("base", "ref"), pairs)
def test_web_platform_tests(base, ref):
    if naive.parse(naive.as_text(base)).scheme is None:
        return
    target = uri.resolve(base, ref)
    assert target == naive.resolve(base, ref)
    normal = uri.normalize(target)
    try:
        relative = uri.relativize(base, normal)
    except UriSyntaxError:
        assert uri.resolve(base, normal) != normal  # dot segments of a path without a hierarchy
        return
    assert uri.resolve(base, relative) == normal
    assert len(relative) <= len(normal)
