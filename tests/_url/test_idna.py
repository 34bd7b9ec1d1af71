"""Hosts beyond ASCII: the compiled conversion gives what `_url._hosts` gives, which asks the library `idna`."""

import os
import random
import sys

import idna
import pytest
from reference import surt, uri_forms, w3lib
from support.vendored import cases

from uricodec import bulk, uri
from uricodec._url import _hosts
from uricodec.errors import IriError
from uricodec.iri import iri_to_uri, uri_to_iri

LABELS = max(2500, int(os.environ.get("URICODEC_SOAK", "0")))  # 10 000 000 take about ten minutes

# The characters that labels are made of: letters, digits and marks of scripts, what is mapped to them, and what may not
# occur, or not everywhere.
LDH = "abcdefghijklmnopqrstuvwxyz0123456789"
ALPHABETS = [
    *(range(0xC0, 0x180), range(0x370, 0x400), range(0x400, 0x460), range(0x531, 0x588), range(0x10D0, 0x1100)),
    *(range(0x5D0, 0x5EB), range(0x620, 0x660), range(0x671, 0x6D4), range(0x905, 0x950), range(0x985, 0x9DF)),
    *(range(0xE01, 0xE50), range(0x1EA0, 0x1F00), range(0x1F00, 0x2000), range(0x3041, 0x30FF), range(0xAC00, 0xAC80)),
    *(range(0x4E00, 0x4E80), range(0x9F00, 0xA000), range(0x20000, 0x20080), range(0x1E900, 0x1E944)),
    [*LDH.encode()],
]
MARKS = [
    *(0x300, 0x301, 0x308, 0x327, 0x345, 0x591, 0x5B4, 0x64B, 0x651, 0x93C, 0x94D, 0x9BE, 0x9D7, 0xE38, 0xE48),
    *(0x1161, 0x11A8, 0x302A, 0x3099, 0x20D0, 0xFE0F, 0x1D165),
]
ODD = [
    *(*range(0xA0, 0xC0), *range(0x2000, 0x2070), *range(0x2100, 0x2180), *range(0x2460, 0x2480)),
    *(*range(0x660, 0x66A), *range(0x6F0, 0x6FA), 0xB7, 0x375, 0x5F3, 0x5F4, 0x30FB, 0x200C, 0x200D, 0x3002),
    *(*range(0xFB00, 0xFB50), *range(0xFE70, 0xFF00), *range(0xFF01, 0xFF70), 0xE000, 0xFDD0, 0x378, 0x2FE0),
    *(*range(0x1D400, 0x1D500), 0x1F600, 0x2F800, 0xF0000),
]


def is_character(point):
    """No surrogate, and none of those that UTS 46 ignores but no IRI may have."""
    return not (0xD800 <= point < 0xE000 or 0xE0000 <= point < 0xE1000)


def label_of(rng):
    alphabet = rng.choice(ALPHABETS)
    size = rng.choice((1, 2, 3, 5, 8, 13, 30, 62)) + rng.randrange(2)
    points = [rng.choice(alphabet) for _ in range(size)]
    for _ in range(rng.choice((0, 0, 0, 1, 2))):
        other = rng.choice((MARKS, ODD, [*b"-a1A"], rng.choice(ALPHABETS), [rng.randrange(0xA0, sys.maxunicode + 1)]))
        points.insert(rng.randrange(len(points) + 1), rng.choice(other))
    text = "".join(chr(point) for point in points if is_character(point))
    return text.upper() if rng.random() < 0.2 else text


def a_label_of(rng):
    """An A-label, valid or not, of a label that may be ASCII."""
    text = label_of(rng)
    digits = (text if rng.random() < 0.2 else text.lower()).encode("punycode").decode()
    if rng.random() < 0.2:
        at = rng.randrange(len(digits) + 1)
        digits = digits[:at] + rng.choice(LDH + "-") + digits[at + rng.randrange(2) :]
    return rng.choice(("xn--", "xn--", "xn--", "XN--", "xn-")) + digits


def hosts_of(rng, labels):
    """Hosts with this number of labels in all, without delimiters of URIs."""
    while labels > 0:
        host = [rng.choice((label_of, label_of, a_label_of))(rng) for _ in range(rng.choice((1, 1, 1, 2, 3, 8)))]
        labels -= len(host)
        dot, end = rng.choice("...\u3002\uff0e"), rng.choice(("", "", "", ".", "..", ".0x1"))
        yield dot.join(host) + end


def by_idna(function, host):
    try:
        return function(host)
    except ValueError:
        return None


def assert_as_idna(hosts):
    """Compare calls, columns, lines and normal forms of hosts with the functions that ask `idna`."""
    rows = [f"//{host}" for host in hosts]
    ascii_hosts = [host if host.isascii() else by_idna(_hosts.to_ascii, host) for host in hosts]
    expected = [None if host is None else f"//{host}" for host in ascii_hosts]
    assert bulk.iri_to_uri(rows, host="idna", errors="null") == expected
    forms = bulk.normalize_uri([f"http:{row}" for row in rows], level="iri", production="any", errors="raise")
    for row, host, form in zip(rows, ascii_hosts, forms, strict=True):
        if host is not None:
            assert form == f"http://{host.lower()}/"
        else:
            assert form == uri_forms.normalize(f"http:{row}", "iri")
    hosts = [host for host in hosts if not host.isascii() or "xn--" in host.lower()]
    for name, function, some in ("unicode", _hosts.to_unicode, hosts), ("safe", _hosts.to_safe, hosts[::5]):
        expected = [by_idna(function, host) for host in some]
        found = bulk.uri_to_iri([f"//{host}" for host in some], host=name, errors="null")
        assert found == [None if host is None else f"//{host}" for host in expected]


@pytest.mark.slow
def test_generated_hosts():
    rng = random.Random(LABELS)
    for at in range(0, LABELS, 20_000):
        assert_as_idna(list(hosts_of(rng, min(20_000, LABELS - at))))


@pytest.mark.slow
def test_every_character():
    """By itself, and after a letter of each direction."""
    points = [
        *(*range(0xA0, 0x3400, 13), *range(0x3400, 0x20000, 397), *range(0x20000, sys.maxunicode, 9973), *ODD, *MARKS),
    ]
    characters = [chr(point) for point in points if is_character(point)]
    assert_as_idna([f"{before}{character}" for character in characters for before in ("", "é", "ش")])


def test_hosts_of_the_public_suffix_list():
    library = pytest.importorskip("publicsuffixlist")
    hosts = sorted(rule.lstrip("*!.") for rule in library.PublicSuffixList()._publicsuffix if not rule.isascii())
    assert len(hosts) > 100
    assert_as_idna(hosts)
    assert_as_idna([host for host in (by_idna(_hosts.to_ascii, host) for host in hosts) if host is not None])


def test_lengths_of_hosts():
    """253 characters at most, and the dot of the root."""
    hosts = []
    for label, size in ("é", 7), ("xn--9ca", 7), ("éa", 8):
        for length in range(250, 257):
            rest = length - size - 1 - 3 * 62
            host = ".".join([label, *["x" * 61] * 3, "y" * rest])
            hosts += [host, f"{host}.", f"{host}.."]
    assert_as_idna(hosts)


@pytest.mark.slow
def test_idna_test_v2():
    hosts = [case["input"] for case in cases("idna/IdnaTestV2")]
    hosts = [host for host in hosts if host and not set("/?#@:[]%\\") & set(host)]
    assert len(hosts) > 2000
    assert_as_idna([host for host in hosts if all(map(is_character, map(ord, host)))])


# One host of each script, in capitals or full width if it has them.
USUAL = [
    *("BÜCHER.example", "straße.de", "việt-nam.vn", "παράδειγμα.δοκιμή", "ПРИМЕР.рф", "օրինակ.հայ", "მაგალითი.გე"),
    *("דוגמה.קום", "مثال.إختبار", "उदाहरण.परीक्षा", "উদাহরণ.বাংলা", "ตัวอย่าง.ไทย", "실례.테스트", "a.例子.測試."),
    "\uff25\uff58\uff41mple\uff0e例え。テスト",
]


@pytest.mark.parametrize("host", USUAL)
def test_usual_hosts_do_not_need_idna(monkeypatch, host):
    expected = _hosts.to_ascii(host)
    characters = _hosts.to_unicode(expected)
    iri_to_uri(f"//{host}", host="idna"), uri_to_iri(f"//{expected}", host="unicode")  # learns the characters
    for name in "encode", "alabel", "ulabel", "uts46_remap":
        monkeypatch.setattr(f"idna.{name}", None)
    for before, after in ("http://", "/é"), ("//u@", ":80?%C3%A9"):
        for text in f"{before}{host}{after}", f"{before}{host}{after}".encode():
            made = iri_to_uri(text, host="idna")
            want = f"{before}{expected}{after.replace('é', '%C3%A9')}"
            assert made == (want if isinstance(text, str) else want.encode())
            want = f"{before}{characters}{after.replace('%C3%A9', 'é')}"
            assert uri_to_iri(made, host="unicode") == (want if isinstance(text, str) else want.encode())
    assert uri.normalize(f"http://{host}", level="iri") == f"http://{expected}/"
    assert uri.key(f"ws://{host}:80", level="iri") == uri.key(f"ws://{expected}", level="iri")


DOUBTFUL = [
    *("l·l", "क्\u200dष", "あ・い", "\u0661a", "e\u0301", "\u00adé", "\ufb01x", "xn--ll-0ea", "é.a·a", "é\u0301\u0323")
]


@pytest.mark.parametrize("host", DOUBTFUL)
def test_hosts_in_doubt_are_given_to_idna(monkeypatch, host):
    """Characters with a context, digits of Arabic, what composes, what is dropped, and what becomes several."""
    given = []
    for function in idna.encode, idna.ulabel:
        spy = lambda text, function=function, **options: given.append(text) or function(text, **options)  # noqa: E731
        monkeypatch.setattr(idna, function.__name__, spy)
    assert_as_idna([host])
    given.clear()
    try:
        uri_to_iri(f"//{host}", host="unicode")
    except IriError:
        assert by_idna(_hosts.to_unicode, host) is None
    assert given


# --- IDNA 2003, by Python's codec, in the policies "surt" and "w3lib" -------------------------------------------------


KEYS = {"surt": surt.key, "w3lib": w3lib.key}


def key_of(host, policy):
    return uri.normalize(f"http://{host}:80/", policy=policy)


def assert_as_the_codec(hosts):
    for host in hosts:
        for policy, key in KEYS.items():
            try:
                expected = key(f"http://{host}:80/")
            except ValueError:
                with pytest.raises(ValueError, match=r"host|authority"):
                    key_of(host, policy)
            else:
                assert key_of(host, policy) == expected


@pytest.mark.slow
def test_generated_hosts_of_idna_2003():
    assert_as_the_codec(hosts_of(random.Random(LABELS), LABELS))


@pytest.mark.slow
def test_every_character_of_idna_2003():
    """By itself, and between letters of each direction."""
    points = [*range(0xA0, 0x3400, 11), *range(0x3400, 0x20000, 197), *ODD, *MARKS]
    characters = [chr(point) for point in points if is_character(point)]
    assert_as_the_codec(f"{around}{character}{around}" for character in characters for around in ("", "é", "ش"))


def test_lengths_of_hosts_of_idna_2003():
    """Labels of 63 and hosts of 253 characters at most, and labels that are empty or become so."""
    hosts = [*(f"{'é' * n}.x" for n in range(55, 66)), *(f"é{'ß' * n}" for n in range(25, 35)), f"{'a' * 64}.é"]
    for n in range(50, 64):
        hosts += [f"é.{'a' * 63}.{'b' * 63}.{'c' * 52}.{'d' * n}", f"é.{'a' * 63}.{'b' * 63}.{'c' * 51}.{'d' * n}."]
    hosts += [
        "é.",
        "é..",
        ".é",
        "é..a",
        "\u00ad",
        "é.\u00ad",
        "\u00ad.é",
        "é\u3002",
        "xn--é",
        "\uff58n--a",
        "\uff58n--é",
    ]
    assert_as_the_codec(hosts)


@pytest.mark.parametrize("host", [*USUAL, "straße.example", "a_b.é", "\uff21\uff22.example"])
def test_usual_hosts_do_not_need_the_codec(monkeypatch, host):
    expected = [key_of(host, policy) for policy in KEYS]  # learns the characters
    monkeypatch.setattr(_hosts, "ANSWERS", None)
    assert [key_of(host, policy) for policy in KEYS] == expected


def test_an_interrupt_while_a_character_is_learned(monkeypatch):
    """As by Ctrl-C: the call raises it, and the next one learns the character."""

    def interrupt(_character):
        raise KeyboardInterrupt

    host, name = "ꀕꀖ", "xn--im7ac"
    assert _hosts.to_ascii(host) == name
    monkeypatch.setattr(_hosts, "facts_about", interrupt)
    monkeypatch.setattr(_hosts, "facts_of_2003", interrupt)
    calls = [
        lambda: iri_to_uri(f"//{host}", host="idna") == f"//{name}",
        lambda: uri_to_iri(f"//{name}", host="unicode") == f"//{host}",
        lambda: uri.normalize(f"http://{host}", level="iri") == f"http://{name}/",
        lambda: bulk.iri_to_uri([f"//{host}"], host="idna") == [f"//{name}"],
        lambda: uri.normalize(f"http://{host}", policy="surt") == f"{name})/",
        lambda: uri.normalize(f"http://{host}", policy="w3lib") == f"http://{name}/",
    ]
    for call in calls:
        with pytest.raises(KeyboardInterrupt):
            call()
    monkeypatch.undo()
    assert all(call() for call in calls)
