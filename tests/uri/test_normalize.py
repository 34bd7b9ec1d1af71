"""Normal forms of URIs and IRIs, against their reference implementations, and what must hold for all of them."""

import pickle
from itertools import pairwise, product
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from reference import uri_forms as naive
from reference.errors import UriError as Invalid
from reference.uri_forms import LADDER, LEVELS
from support.tables import each_row
from support.vendored import web_inputs

from uricodec import iri, uri
from uricodec.errors import UriSyntaxError

DATA = Path(__file__).parents[1] / "data"


def tsv(name):
    header, *lines = DATA.joinpath(name).read_text("utf-8").split("\n")
    return [dict(zip(header.split("\t"), line.split("\t"), strict=True)) for line in lines if line]


def spelled(cell):
    """The tables spell what is not ASCII with backslashes."""
    return cell.encode("ascii").decode("unicode_escape")


# --- the tables -------------------------------------------------------------------------------------------------------

COLUMNS = {
    "simple": "simple_6.2.1",
    "case": "case_6.2.2.1",
    "percent": "pct_6.2.2.2",
    "rfc2396": "pct_rfc2396",
    "path": "path_6.2.2.3",
    "scheme": "scheme_6.2.3",
    "iri": "iri_3987_5.3",
    "rfc1630": "level_rfc1630",
}
CASES = tsv("equivalence_cases.tsv")


def verdict(library, a, b, level):
    try:
        return "eq" if library.equivalent(a, b, level) else "ne"
    except (UriSyntaxError, Invalid):
        return "illegal"


@each_row("library", [uri, naive])
@each_row("level", LEVELS)
@each_row("row", CASES)
def test_equivalence_case(row, level, library):
    a, b = spelled(row["a"]), spelled(row["b"])
    assert verdict(library, a, b, level) == row[COLUMNS[level]]
    assert verdict(library, a.encode(), b, level) == row[COLUMNS[level]]
    if row[COLUMNS[level]] != "illegal":
        same = library.key(a, level) == library.key(b, level)
        assert same is (row[COLUMNS[level]] == "eq")
        assert not same or hash(library.key(a, level)) == hash(library.key(b, level))


@each_row("library", [uri, naive])
@each_row("row", tsv("structure_hazards.tsv"))
def test_structure_hazard(row, library):
    assert library.normalize(row["input"], "path") == row["normalised_guarded"]
    assert library.normalize(row["normalised_guarded"], "path") == row["normalised_guarded"]


# --- what the RFCs print ----------------------------------------------------------------------------------------------


def test_rfc_3986_section_6_2_2():
    assert uri.normalize("eXAMPLE://a/./b/../b/%63/%7bfoo%7d") == "example://a/b/c/%7Bfoo%7D"
    assert uri.normalize("HTTP://www.EXAMPLE.com/", "case") == "http://www.example.com/"
    assert uri.normalize("%3a", "case") == "%3A"


def test_rfc_3986_section_6_2_3():
    four = ["http://example.com", "http://example.com/", "http://example.com:/", "http://example.com:80/"]
    assert {uri.normalize(one, "scheme") for one in four} == {"http://example.com/"}
    assert uri.normalize("http://example.com/?", "scheme") == "http://example.com/?"
    assert uri.normalize("mailto:Joe@Example.COM", "scheme") == "mailto:Joe@example.com"


def test_rfc_3987_section_5_3_3():
    a, b = "http://r\xe9sum\xe9.example.org", "http://xn--rsum-bpad.example.org"
    assert uri.equivalent(a, b, "iri") and not uri.equivalent(a, b, "scheme")
    assert uri.normalize(a, "iri") == uri.normalize("http://R%C3%A9sum%c3%a9.Example.org", "iri") == b + "/"


def test_rfc_1630_examples():
    first, second = ["http://info.cern.ch/albert/bertram" + end for end in ("/marie-claude", "/marie%2Dclaude")]
    assert uri.equivalent(first, second, "rfc1630")
    assert not uri.equivalent(first, "http://info.cern.ch/albert/bertram%2Fmarie-claude", "rfc1630")
    for illegal, position in ("fxqn:/us/va/reston/cnri/ietf/24/asdf%*.fred", 36), ("news:12345667123%asdghfh@info", 16):
        with pytest.raises(UriSyntaxError) as caught:
            uri.normalize(illegal, "rfc1630")
        assert (caught.value.offset, caught.value.input) == (position, illegal)


# --- levels, case by case ---------------------------------------------------------------------------------------------


FOLDED = [("percent", "080"), ("path", "080"), ("scheme", "80"), ("iri", "80")]
FORMS = [
    # Hosts that are identifiers keep their case at every level; the ":" of a drive is no port.
    *((level, "IPFS://Qm%41b%2f:080/x", f"ipfs://QmAb%2F:{port}/x") for level, port in FOLDED),
    *((level, "ipfs://QmAB", "ipfs://QmAB") for level in ("simple", "case", "percent", "path", "rfc2396", "rfc1630")),
    *(
        ("scheme", f"{scheme}://AbC/D", f"{scheme}://AbC/D")
        for scheme in ("ipns", "ipld", "ar", "sia", "s3", "s3a", "s3n")
    ),
    *(("iri", f"{scheme}://A.bC:/é", f"{scheme}://A.bC/%C3%A9") for scheme in ("android-app", "content", "s3a")),
    ("case", "android.resource://A.bC/D", "android.resource://A.bC/D"),
    *(
        ("case", f"{scheme}://AbC/D", f"{scheme}://abc/D")
        for scheme in ("ipf", "ipfss", "s", "s4", "x-ipfs", "arx", "http")
    ),
    ("case", "//AbC/D", "//abc/D"),
    ("scheme", "file://C:/Foo", "file://c:/Foo"),
    ("scheme", "FILE://c:", "file://c:/"),
    ("iri", "file://C:/Foo", "file://c:/Foo"),
    ("scheme", "file://CC:/Foo", "file://cc/Foo"),
    ("scheme", "file://1:/Foo", "file://1/Foo"),
    ("scheme", "http://C:/Foo", "http://c/Foo"),
    # One decode, and no triplet that was none.
    ("percent", "%%341", "%%341"),
    ("percent", "%4%31", "%4%31"),
    ("percent", "%%34%31", "%%341"),
    ("percent", "%2541", "%2541"),
    ("percent", "%u002f%zz%", "%u002f%zz%"),
    ("percent", "%00%7E", "%00~"),
    # The host is folded after it was decoded; its other triplets, the port and the userinfo are not.
    ("percent", "HTTP://U%53er@H%4FST%c3%a9:80/", "http://USer@host%C3%A9:80/"),
    ("case", "A://B%4f@[FE80::%4f]:00/C", "a://B%4F@[fe80::%4f]:00/C"),
    ("case", "HTTP://U@[X@Y]:80/C", "http://U@[X@Y]:80/C"),
    # The zone of an address is the name of an interface, and keeps its case.
    ("case", "HTTP://[FE80::A%25ETH0%2f]/", "http://[fe80::a%25ETH0%2f]/"),
    ("percent", "HTTP://[FE80::A%25%45TH0]/", "http://[fe80::a%25%45TH0]/"),
    ("case", "HTTP://A%25B/", "http://a%25b/"),
    # An authority that is none stands for itself.
    ("iri", "HTTP://a@B@C%7e:/", "http://a@B@C%7e:/"),
    ("iri", "HTTP://[A/%7e", "http://[A/~"),
    ("iri", "http://A:x/", "http://A:x/"),
    # Only ASCII is folded.
    ("case", "http://\xc9\N{KELVIN SIGN}K/", "http://\xc9\N{KELVIN SIGN}k/"),
    # Dot segments: of paths that begin with "/". Others are a hierarchy in no scheme, or need a base.
    ("path", "../a/./b", "../a/./b"),
    ("path", "//h/../a/./b", "//h/a/b"),
    ("path", "/../a/./b", "/a/b"),
    ("path", "s:a/../b", "s:a/../b"),
    ("path", "s:..", "s:.."),
    ("path", "s:./x:y", "s:./x:y"),
    ("path", "s:a/..//b", "s:a/..//b"),
    ("path", "s:%2E%2e/a", "s:../a"),
    ("path", "s:%2Fa/../b", "s:%2Fa/../b"),
    ("iri", "data:text/plain,a/../b", "data:text/plain,a/../b"),
    ("iri", "DATA:,../%7e/./\xe9", "data:,../~/./%C3%A9"),
    ("scheme", "mailto:A/./../B@C", "mailto:A/./../B@c"),
    ("path", "tel:+1/../2", "tel:+1/../2"),
    ("path", "mailto:/a/../b", "mailto:/b"),
    ("path", "urn:/a/../b", "urn:/b"),
    ("path", "?a/../b#c/../d", "?a/../b#c/../d"),
    ("path", "URN:example:a/../b/%7e/.", "urn:example:a/../b/~/."),
    ("path", "s:/a/%2e%2E//b", "s:/.//b"),
    ("path", "a%3Ab:c", "a%3Ab:c"),
    ("percent", "%61b:c/d", "./ab:c/d"),
    ("percent", "%31b:c/d", "1b:c/d"),
    # What the scheme says.
    ("scheme", "http://u@:80", "http://u@/"),
    ("scheme", "https://h:80", "https://h:80/"),
    ("scheme", "https://h:443?q", "https://h/?q"),
    ("scheme", "http://h:080/", "http://h/"),
    ("scheme", "http://h:008080/", "http://h:8080/"),
    ("scheme", "http://h:000", "http://h:0/"),
    ("path", "http://h:080/", "http://h:080/"),
    ("scheme", "imap://h:0143/", "imap://h/"),
    ("scheme", "x://h:0143", "x://h:143/"),
    ("scheme", "//h:080", "//h:080"),
    ("scheme", "file://localhost/a", "file:///a"),
    ("scheme", "FILE://LocalHos%54/a", "file:///a"),
    ("scheme", "file:/a", "file:///a"),
    ("scheme", "file:/a/..//b", "file:////b"),
    ("scheme", "file:/", "file:///"),
    ("scheme", "file:a", "file:a"),
    ("scheme", "file:", "file:"),
    ("scheme", "file://localhost", "file:///"),
    ("scheme", "file://localhost:/a", "file:///a"),
    ("scheme", "file://localhost:1/a", "file://localhost:1/a"),
    ("scheme", "file://u@localhost/a", "file://u@localhost/a"),
    ("scheme", "file://localhost.example/a", "file://localhost.example/a"),
    ("path", "file://localhost/a", "file://localhost/a"),
    ("path", "file:/a", "file:/a"),
    ("scheme", "http://localhost/a", "http://localhost/a"),
    ("scheme", "other://h:?q", "other://h/?q"),
    ("scheme", "//h:80", "//h:80"),
    ("scheme", "//h:", "//h:"),
    ("scheme", "PROSPERO://h:1525/", "prospero://h/"),
    ("scheme", "coaps://[::1]:5684/", "coaps://[::1]/"),
    ("scheme", "longer+than+any+row://h:80/", "longer+than+any+row://h:80/"),
    ("scheme", "mailto:A%40B@C%2fD%40E?cc=F@G#H@I", "mailto:A%40B@c%2Fd%40e?cc=F@G#H@I"),
    ("scheme", "mailto:A@B@C", "mailto:A@B@c"),
    ("scheme", "mailto:ABC", "mailto:ABC"),
    ("scheme", "mailto:A@B,C@D@E,F%2CG@H,Bob,@X,", "mailto:A@b,C@D@e,F%2CG@h,Bob,@x,"),
    ("scheme", "mailto://A@B/C@D", "mailto://A@b/C@D"),
    # IPv6 addresses have one spelling (RFC 5952), with any scheme or none.
    ("path", "http://[2001:DB8:0:0::1]/", "http://[2001:db8:0:0::1]/"),
    ("scheme", "http://u@[2001:DB8:0:0::01]:80/", "http://u@[2001:db8::1]/"),
    ("scheme", "//[2001:0DB8:0:0:0:0:0:1]:80", "//[2001:db8::1]:80"),
    ("iri", "other://[0:0:0:0:0:0:0:0]?q", "other://[::]/?q"),
    ("iri", "http://[::%31]/", "http://[::%31]/"),
    ("percent", "http://[fe80::1%31]/%31", "http://[fe80::1%31]/1"),
    ("percent", "http://[fE80::%2541%3a%zZ]/", "http://[fe80::%2541%3a%zZ]/"),
    ("scheme", "http://u%41@[0:0::A%25eTh%30]:080/", "http://uA@[::a%25eTh%30]/"),
    ("rfc1630", "http://[v1.~]/~", "http://[v1.~]/%7E"),
    ("rfc1630", "http://[v1.%41 ]/", "http://[v1.%41 ]/"),
    ("rfc2396", "http://[V1.%41]/", "http://[v1.%41]/"),
    ("scheme", "http://[FE80:0::A%25ETH0]:80/", "http://[fe80::a%25ETH0]/"),
    ("iri", "http://[FE80:0::A%25\xc9]/", "http://[fe80::a%25%C3%89]/"),
    # What is not an address stays.
    ("scheme", "http://[0::1%25]/", "http://[0::1%25]/"),
    ("scheme", "http://[0::1%eth0]/", "http://[0::1%eth0]/"),
    ("scheme", "http://[0::1%2Feth0]/", "http://[0::1%2Feth0]/"),
    ("scheme", "http://[V1.0::01]/", "http://[v1.0::01]/"),
    ("scheme", "http://[0::1 ]/", "http://[0::1 ]/"),
    ("scheme", "http://[]/", "http://[]/"),
    # IRIs as URIs.
    ("iri", "s:\xe9?\ue000#\U0010fffd", "s:%C3%A9?%EE%80%80#%F4%8F%BF%BD"),
    ("iri", "s:\x80\ufdd0\uffff\U000e0001", "s:\x80\ufdd0\uffff\U000e0001"),
    ("iri", "%\xe9%4\u20ac", "%%C3%A9%4%E2%82%AC"),
    ("iri", "s://\xe9.x:/", "s://%C3%A9.x/"),
    ("iri", "http://\xc9.x/", "http://xn--9ca.x/"),
    ("iri", "file://%C3%89%2Ex", "file://xn--9ca.x/"),
    ("iri", "http://\xe9%2Fx/", "http://%C3%A9%2Fx/"),
    ("iri", "http://\u2603\u0301\u200b..x/", "http://%E2%98%83%CC%81%E2%80%8B..x/"),
    ("iri", "http://[\xe9]/", "http://[%C3%A9]/"),
    ("iri", "http://" + "\xe9" * 600 + "/", "http://" + "%C3%A9" * 600 + "/"),
    ("iri", b"s:\xc3\xc3\xa9\xa9%C3", b"s:\xc3%C3%A9\xa9%C3"),
    # The levels of older RFCs.
    ("rfc2396", "HTTP://H/%21%2a%27%28%29%7e%24", "http://h/!*'()~%24"),
    ("rfc1630", "HTTP://H/~%7e%24{|}%7b\x7f\\^<>\x1f`", "HTTP://H/%7E%7E$%7B%7C%7D%7B%7F%5C%5E%3C%3E%1F%60"),
    ("rfc1630", "http://h/%2e%2E/.%2e/%2e/.../%2e%2e%2e/a%2eb", "http://h/%2E%2E/.%2E/%2E/.../.../a.b"),
    ("rfc1630", "http://%40u%41@h%40/%40?%2e%2e", "http://%40uA@h%40/@?.."),
    ("rfc1630", 'h:%2b+%2a*%21! %20[%5b]"%22', 'h:%2B+%2A*%21! %20[%5B]""'),
    ("rfc1630", "http://h/\xe9%c3%a9", "http://h/\xe9%C3%A9"),
    ("rfc1630", "%41:b", "./A:b"),
]


@each_row("library", [uri, naive])
@each_row(("level", "given_uri", "form"), FORMS)
def test_form(level, given_uri, form, library):
    assert library.normalize(given_uri, level) == form
    assert library.normalize(form, level) == form
    if isinstance(given_uri, str):
        assert library.normalize(given_uri.encode(), level) == form.encode()


# --- properties, on every tier ----------------------------------------------------------------------------------------

PIECES = [
    *"/.:?#@[]%4 1aAzZ~{\xe9\u20ac\U00010000\ue000\ufdd0\x80\n",
    *["..", "/../", "/./", "//", "%2e", "%2F", "%41", "%7e", "%34", "%3a", "%C3%a9", "%FF", "%%34", "a:", "s:"],
    *["http:", "HTTPS://", "mailto:", "urn:", "file://", ":80", ":443", "xn--9ca", "\xc9.x", "[::1]", "A@B", ",C"],
    *["//[", "0:", "::", "00A:", "%25", "1.2.3.4", "data:"],
]
URIS = st.one_of(
    st.lists(st.sampled_from(PIECES), max_size=14).map("".join),
    st.text("/.:%2eE41aA", max_size=12),
    st.text("/.:?#@[]%4 1aA\xe9", max_size=80),
)
# URLs whose beginning is in normal form, and that may change, or be no UTF-8, after that.
WEB_PIECES = [
    *(b"/", b".", b"..", b"/../", b"?", b"#", b"a", b"A", b"%", b"%4", b"%C3%A9", b"%c3", b"%7E", b"%2E", b"%2F"),
    b"http://",
    *("\xe9".encode(), "\u6771".encode(), "\U00010000".encode(), "\ufffe".encode(), "\x80".encode(), "\ue000".encode()),
    *(b"\xc3", b"\xa9", b"\xe6\x9d", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xff"),
]
WEB = st.builds(
    lambda start, pieces: start + b"".join(pieces),
    st.sampled_from(
        [b"http://a.example", b"https://www.a.example/", b"http://a.example/b?c=", b"http://a/", b"https://a"]
    ),
    st.lists(st.sampled_from(WEB_PIECES), max_size=12),
)
OCTETS = st.one_of(
    WEB,
    URIS.map(str.encode),
    st.lists(st.sampled_from([*"/.:?#%4a", "\xe9", "\xc3", "\xa9", "http://"]), max_size=20).map(
        lambda pieces: "".join(pieces).encode("latin-1")
    ),
)
LEVEL = st.sampled_from(LEVELS)


def result(function, *args):
    try:
        return function(*args)
    except (UriSyntaxError, Invalid) as error:
        return error.offset


@given(st.one_of(URIS, OCTETS), LEVEL)
@example("http://\xe9" + "." * 600, "iri")
@example("http://a.example/\u6771/./b/../\xe9?\u6771#\u6771", "iri")
@example(b"http://a.example/\xe6\x9d\xb1\xe6\x9d", "iri")
@example(b"http://a.example/b?%7e&\xff", "scheme")
@example("http://a.example", "scheme")
@example("%7e" * 600 + "\xe9" * 600, "percent")
def test_same_as_the_reference(tier, given_uri, level):
    assert result(uri.normalize, given_uri, level) == result(naive.normalize, given_uri, level)
    assert result(uri.key, given_uri, level) == result(naive.normalize, given_uri, level)


@given(st.lists(st.sampled_from(PIECES), max_size=400).map("".join), LEVEL)
def test_long_texts(tier, given_uri, level):
    assert result(uri.normalize, given_uri, level) == result(naive.normalize, given_uri, level)


@given(st.one_of(URIS, OCTETS), LEVEL)
def test_form_is_its_own_form(given_uri, level):
    form = result(uri.normalize, given_uri, level)
    if not isinstance(form, int):
        assert uri.normalize(form, level) is form
        assert type(form) is type(given_uri)


def defined(given_uri):
    return [part is not None for part in naive.parse(naive.as_text(given_uri))]


@pytest.mark.slow
@given(st.one_of(URIS, OCTETS), LEVEL)
@example("file:/a", "scheme")
@example("FILE:/a?b", "iri")
@example("file:/a", "path")
@example("file:a", "scheme")
def test_structure_stays(given_uri, level):
    form = result(uri.normalize, given_uri, level)
    if isinstance(form, int):
        return
    before, after = (naive.parse(naive.as_text(text)) for text in (given_uri, form))
    if level in {"scheme", "iri"} and (before.scheme or "").lower() == "file" and before.path.startswith("/"):
        assert after.authority is not None  # RFC 8089 appendix B: file:/path is file:///path
        before = before._replace(authority=before.authority or "")
    assert defined(form) == [part is not None for part in before]
    delimiters = ":/?#[]=+;" if level == "rfc1630" else ":/?#[]=+;@&$,"
    for a, b in (before.query, after.query), (before.fragment, after.fragment):
        assert a is None or [a.count(c) for c in delimiters] == [b.count(c) for c in delimiters]
    if before.authority is not None and level not in {"scheme", "iri"}:
        assert [before.authority.count(c) for c in ":@[]"] == [after.authority.count(c) for c in ":@[]"]
    if level not in LADDER[3:]:
        guard = 1 if after.path.startswith("./") and not before.path.startswith("./") else 0
        assert after.path.count("/") == before.path.count("/") + guard


@given(URIS, URIS, LEVEL)
def test_keys_are_equal_exactly_where_equivalent(a, b, level):
    keys = [result(uri.key, text, level) for text in (a, b)]
    if not any(isinstance(one, int) for one in keys):
        assert uri.equivalent(a, b, level) is (keys[0] == keys[1])
        assert uri.equivalent(a.encode(), b, level) is (keys[0] == keys[1])
        assert uri.equivalent(a, b.encode(), level=level) is (keys[0] == keys[1])
        assert keys[0] != keys[1] or hash(keys[0]) == hash(keys[1])


@given(st.one_of(URIS, OCTETS))
def test_levels_are_a_ladder(given_uri):
    """What is equal at a level is equal at the next one: its form is made of the form of the level before."""
    for lower, higher in pairwise(LADDER):
        assert uri.normalize(uri.normalize(given_uri, lower), higher) == uri.normalize(given_uri, higher)
    assert uri.equivalent(uri.normalize(given_uri, "case"), given_uri, "rfc2396")
    assert uri.normalize(uri.normalize(given_uri, "percent"), "rfc2396") == uri.normalize(given_uri, "rfc2396")


@pytest.mark.slow
@each_row("level", LEVELS)
def test_all_short_texts(level):
    """Every text of up to four of these."""
    for n in range(5):
        for letters in product("/.:?#%", repeat=n):
            text = "".join(letters)
            for start in "", "s:", "%2e%2E":
                assert result(uri.normalize, start + text, level) == result(naive.normalize, start + text, level)


@given(URIS, LEVEL)
def test_bytes_are_as_their_text(given_uri, level):
    form = result(uri.normalize, given_uri, level)
    octets = result(uri.normalize, given_uri.encode(), level)
    if isinstance(form, int):
        assert len(given_uri[:form].encode()) == octets
    else:
        assert octets == form.encode()
        assert uri.normalize(bytearray(given_uri.encode()), level) == octets


# --- objects ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["ab%8\udceeEn", "\udcee%8", "a%\udcee", "é\udcee"])
def test_the_first_fault_is_named_though_there_is_a_surrogate(text):
    first = min(place for place in (text.find("%"), text.find("\udcee")) if place >= 0)
    reason = '"%" not followed by two hexadecimal digits' if text[first] == "%" else "lone surrogate"
    for function in uri.normalize, uri.key, lambda text, level: uri.equivalent(text, "a", level):
        with pytest.raises(UriSyntaxError, match=reason) as caught:
            function(text, "rfc1630")
        assert (caught.value.input, caught.value.offset) == (text, first)


class Text(str):
    pass


def test_unchanged_input_is_the_same_object():
    for text in "http://example.org/a", b"http://example.org/a", Text("http://example.org/a"), "http://\xe9/" * 300:
        assert uri.normalize(text) is text
    assert type(uri.key(Text("http://h/"))) is str
    assert uri.key(Text("HTTP://h/")) == "http://h/"
    assert type(uri.normalize(memoryview(b"a"))) is bytes
    assert type(uri.key(bytearray(b"a"))) is bytes


def test_arguments():
    assert uri.normalize(uri="HTTP://h") == uri.normalize("HTTP://h", level="path") == "http://h"
    assert uri.equivalent(a="HTTP://h", b="http://h") and not uri.equivalent("HTTP://h", "http://h", "simple")
    level = "".join(["sch", "eme"])  # no interned str
    assert uri.normalize("http://h", level) == "http://h/"
    for function in uri.normalize, uri.key:
        with pytest.raises(ValueError, match="unknown level 'x'"):
            function("a", "x")
        with pytest.raises(TypeError):
            function(1)
        with pytest.raises(TypeError):
            function("a", "path", "b")
        with pytest.raises(TypeError):
            function("a", levels="path")
    with pytest.raises(ValueError, match="unknown level"):
        uri.equivalent("a", "b", None)
    for function in uri.normalize, uri.key, uri.equivalent:
        assert pickle.loads(pickle.dumps(function)) is function


def test_positions_are_those_of_characters():
    with pytest.raises(UriSyntaxError) as caught:
        uri.normalize("http://\u20ac\U00010000/%4", "rfc1630")
    assert caught.value.offset == 10
    with pytest.raises(UriSyntaxError) as caught:
        uri.normalize("http://\u20ac\U00010000/%4".encode(), "rfc1630")
    assert caught.value.offset == 15
    for function in uri.normalize, uri.key, lambda text: uri.equivalent("", text):
        for text in "\u20ac\ud800", "\u20ac" * 600 + "\udfff":
            with pytest.raises(UriSyntaxError) as caught:
                function(text)
            assert caught.value.offset == len(text) - 1


def test_rows_stay_in_their_buffer(fences, tier):
    source, _ = fences
    for text in b"HTTP://A%7e/../%", b"%41:b", b"s:/a/..//b", b"http://h", b"mailto:A@B", b"//[":
        for level in LEVELS[:6]:
            for lay in source.at_start, source.at_end:
                assert uri.normalize(lay(text), level) == naive.normalize(text, level)


def test_a_missing_library_is_no_normal_form(monkeypatch):
    """The names of hosts are made by `idna`; without it there is an error and not another key."""
    import idna

    def broken(*args, **kwargs):
        raise ImportError("no idna")

    monkeypatch.setattr(idna, "encode", broken)
    for text in "http://l\xb7l.x/", "http://l%C2%B7l.x/", "http://l\xb7l.x/" + "a" * 600:
        for call in uri.normalize, uri.key, lambda a, level: uri.equivalent(a, a, level):
            with pytest.raises(ImportError):
                call(text, "iri")
        assert uri.normalize(text, "scheme") == text


# --- the URLs of the web platform tests ------------------------------------------------------------------------------


@each_row("text", web_inputs)
def test_web_platform_tests(text):
    for level in "path", "iri":
        form = uri.normalize(text, level)
        assert form == naive.normalize(text, level)
        assert uri.normalize(form, level) is form
    if iri.is_valid(text):
        assert uri.equivalent(text, iri.iri_to_uri(text), "iri")
