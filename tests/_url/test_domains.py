"""Domains of the URL Standard: Punycode in linear time, compared with Python's codec; what `_idna` decides itself."""

from hypothesis import given
from hypothesis import strategies as st
from reference import whatwg as reference
from support.tables import each_row

from uricodec import uri
from uricodec._url import _domains
from uricodec.errors import UriSyntaxError

CHARACTERS = st.characters(exclude_categories=["Cs"])


@given(st.text(CHARACTERS, max_size=40) | st.text("abé日😀-", max_size=60))
def test_punycode(label):
    encoded = label.encode("punycode").decode("ascii")
    if label.isascii():
        return
    assert _domains._encode(label) == f"xn--{encoded}"
    assert _domains._decode(encoded) == label


@given(st.text("abcdefghijklmnopqrstuvwxyz0123456789-é", max_size=20))
def test_any_punycode(text):
    try:
        want = text.encode("ascii").decode("punycode")
        want.encode()
    except (UnicodeError, OverflowError):
        want = None
    if text.rfind("-") == 0:
        want = None
    found = _domains._decode(text)
    assert found == want or (found is None and max(map(ord, want)) >= 0x80 and len(text) > 6)


@each_row("text", ["99999999", "a-99999999", "zzzzzz9999", "-", "-foo", "é"])
def test_no_punycode(text):
    assert not _domains._decode(text)


def test_punycode_of_too_large_a_number():
    assert _domains._encode("a" * 3000 + "\U0010ffff") is None
    assert _domains.domain_to_ascii(("a" * 3000 + "\U0010fffd").encode()) is None


PIECES = st.sampled_from(
    [
        *(
            "a",
            "-",
            "0",
            ".",
            "。",
            "é",
            "É",
            "ß",
            "日",
            "\uff57",
            "\u0308",
            "\u0338",
            "<",
            "א",
            "ב",
            "\u0627",
            "\u0660",
        ),
        *("१", "\u094d", "क"),
        *("\u200d", "\u200c", "ن", "xn--", "xn--zca", "xn--4db", "\xad", "ﬀ", "/", "%", "_", "1", "한", "\u2488"),
        "\ufffd",
    ]
)


@given(st.lists(PIECES, max_size=8).map("".join))
def test_any_domain(domain):
    """`_idna` decides about many of these alone."""
    if domain.isascii():
        return
    try:
        want = reference.parse_host(domain, False)
    except reference.Failure:
        want = None
    if {*"/?#\\@:[\t\n\r"} & {*domain}:
        return
    try:
        found = uri.normalize(f"http://{domain}/", policy="whatwg")[7:-1]
    except UriSyntaxError:
        found = None
    assert found == want
