"""`HostSet` and `PrefixSet` against the slow reference: entries, lists, URLs; their files, and what is damaged."""

import gzip
import io
import os
import pickle
import random
import subprocess
import sys
import time
import unicodedata
from contextlib import suppress
from copy import copy, deepcopy
from functools import partial
from itertools import chain, cycle
from threading import Thread
from urllib.parse import unquote, urlsplit

import idna
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from reference import host_sets as naive
from reference.rows import rows_of as data_rows
from support.arrow_memory import Lent, rows_of
from support.command import run
from support.operations import HOSTS, PREFIXES
from support.tables import each_row

from uricodec import bulk, uri
from uricodec._hosts._entries import has_entry, match_url
from uricodec._hosts._table import EntryTable, aligned
from uricodec._io import sources
from uricodec._io.files import FileError
from uricodec._io.set_files import HEADER
from uricodec.dedup import SeenSet
from uricodec.errors import SetError, UriSyntaxError
from uricodec.uri import HostSet, ListReport, PrefixSet

ROWS = data_rows("hosts")
KINDS = {HostSet: (naive.host_entry, naive.match_host), PrefixSet: (naive.prefix_entry, naive.match_prefix)}
SETS = [HostSet(HOSTS), PrefixSet(PREFIXES)]

pieces = st.sampled_from(
    [
        *(b"a", b"www", b"example", b"com", b"org", b"xn--tda", "ü".encode(), b"%C3%BC", b"%2e", b".", b"..", b"1"),
        *(b"127.0.0.1", b"[::1]", b"[::01]", b"http://", b"HTTPS://", b"//", b"/", b"b", b"B", b"%62", b":", b"80"),
        *(b":8080", b"@", b"?", b"#", b"\\", b" ", b"\xff", b"%", b")", b",", b"(", b"*.", b"\xe3\x80\x82"),
        *("☃".encode(), "\xad".encode(), "\uff11".encode(), "a_b.BÜCHER".encode(), b"_", b"-", b"~", b"x" * 64, b"\t"),
        *(b"\n", b"0x1"),
    ]
)
texts = st.one_of(st.lists(pieces, max_size=9).map(b"".join), st.binary(max_size=20))


# --- entries ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@given(text=texts)
@example(text=b"*.a.b")
@example(text=b"*.*.a")
@example(text=b"..a")
@example(text=b"::ffff:1.2.3.4")
@example(text=b"%5B0x1")
@example(text=b"://(a,example)")
@example(text=b"//a/\xff")
@example(text=b"//a/\0")
@example(text=b"http://HTTPS://a,example)")
@example(text=b"localhost:8080/x")
@example(text=b"%5B::1]")
@example(text=b"com,example,:80)/a")
@example(text=b"http://(com,example,)/a/")
@example(text=b"x" * 63 + b"." + b"x" * 63 + b"." + b"x" * 63 + b"." + b"x" * 61)
@example(text=b"x" * 63 + b"." + b"x" * 63 + b"." + b"x" * 63 + b"." + b"x" * 62)
def test_entries(tier, kind, text):
    wanted = KINDS[kind][0](text)
    if wanted is None:
        with pytest.raises(UriSyntaxError) as caught:
            kind([text])
        assert caught.value.input == text and caught.value.offset == 0
        return
    made = kind([text])
    assert list(made) == [wanted.decode()] and text in made and len(kind([text, text])) == 1
    if not wanted.endswith(b"/"):  # one is left out each time
        assert wanted in made and wanted.decode() in made and kind(list(made)) == made


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@given(lines=st.lists(texts, max_size=6), text=texts, exact=st.booleans())
@example(lines=[b"com"], text=b"http://com.", exact=False)
@example(lines=[b"a.com", b"com"], text=b"//x.a.com", exact=False)
@example(lines=[b"a.com:8080/b", b"a.com/b/c"], text=b"//a.com:8080/b/c", exact=False)
@example(lines=[b"a.com:8080/b/c", b"a.com/b/c"], text=b"//a.com:8080/b/c/", exact=True)
@example(lines=[b"com,a)/b", b"a.com/b"], text=b"//www.a.com/b/", exact=True)
@example(lines=[b"com,a)", b"b.com"], text=b"http://com,a)/", exact=True)
@example(lines=[b"com,a)"], text=b"http://a)x.com/", exact=False)
def test_matches(tier, kind, lines, text, exact):
    entry_of, match = KINDS[kind]
    entries = {entry for line in lines if (entry := entry_of(line))}
    made = kind([line for line in lines if entry_of(line)])
    found = made.match(text, exact=exact)
    assert found == match(entries, text, exact)
    assert made.match(text, exact=True) in {None, match(entries, text, False)} or kind is PrefixSet
    rows = [text, None, *lines]
    wanted = [None if row is None else match(entries, row, exact) for row in rows]
    assert bulk.match(rows, made, exact) == wanted
    assert bulk.is_match(rows, made, exact) == [
        None if row is None else each is not None for row, each in zip(rows, wanted, strict=True)
    ]
    column = rows_of(bulk.match(Lent(rows * 40, "z"), made, exact))
    assert column == wanted * 40


def test_rows_of_all_kinds_have_their_entries(tier):
    """Columns are read in blocks, which leave unusual rows to the function for one."""
    for made in SETS:
        match = KINDS[type(made)][1]
        entries = {entry.encode() for entry in made}
        wanted = [match(entries, row) for row in ROWS]
        assert [made.match(row) for row in ROWS] == wanted and sum(each is not None for each in wanted) > 12
        shuffled = random.Random(5).sample(list(zip(ROWS, wanted, strict=True)) * 30, 30 * len(ROWS))
        rows = [row for row, _ in shuffled]
        assert rows_of(bulk.match(Lent(rows, "z"), made)) == [each for _, each in shuffled]
        assert rows_of(bulk.is_match(Lent(rows, "z"), made)) == [each is not None for _, each in shuffled]


@each_row("kind", KINDS)
@each_row(
    "entry", ["192.0.2.0/24", b"10.0.0.0/8", "0.0.0.0/0", "2001:db8::/32", "[2001:db8::]/32", "a b", "", "a.example?x"]
)
def test_a_rejected_entry_is_named_with_its_index(kind, entry):
    for before in 0, 1, 7:
        with pytest.raises(UriSyntaxError) as caught:
            kind(chain(["ok.example"] * before, [entry], ["a b"]))
        error = caught.value
        assert (error.row, error.input, error.offset) == (before, entry, 0)
        assert repr(entry) in str(error) and str(before) in str(error)
    with pytest.raises(UriSyntaxError) as caught:
        bulk.is_match(["//x"], ["x", "y z" * 10_000])
    assert caught.value.row == 1 and len(str(caught.value)) < 300
    with pytest.raises(TypeError, match="row 2: expected str or a bytes-like object, got int"):
        kind(iter(["a.example", "b.example", 3]))


def test_a_network_is_no_prefix():
    assert PrefixSet.read(b"192.0.2.0/24\n10.0.0.0/8\n[2001:db8::]/32\n[::]/0\n[::1]/128\n").report.not_understood == 5
    addresses = ["[2001:db8::]/129", "[2001:db8::]/1280", "[2001:db8::]/32/x", "[2001:db8::]/x", "[2001:db8::]:8080/32"]
    assert list(PrefixSet(addresses)) == addresses
    assert PrefixSet(["http://[::1]/32"]).match("http://[::1]/32/a") == "[::1]/32"
    entries = ["192.0.2.0/240", "192.0.2.0/33", "192.0.2.0/24/x", "192.0.2.0:8080/24", "a.example/24", "192.0.2.0/x"]
    assert list(PrefixSet(entries)) == entries
    assert PrefixSet(["http://192.0.2.0/24"]).match("http://192.0.2.0/24/a") == "192.0.2.0/24"


def test_text_and_bytes():
    made = HostSet(["bücher.example"])
    for text in "//x.bücher.example", "//x.b%C3%BCcher.example", "//x.xn--bcher-kva.example":
        assert made.match(text) == "xn--bcher-kva.example"
        assert made.match(text.encode()) == made.match(memoryview(text.encode())) == b"xn--bcher-kva.example"
    assert made.match("//\ud800.example") is None and HostSet(["example"]).match("//\ud800.example") == "example"
    assert HostSet(["com"]).match("//a.com/\ud800") == "com"
    assert bulk.match(["//a.com/\ud800", "//\udfff.net"], ["com"]) == ["com", None]
    assert bulk.is_match(["//a.com/\ud800", "//\udfff.net"], ["com"]) == [True, False]
    with pytest.raises(TypeError):
        made.match(5)
    with pytest.raises(UriSyntaxError):
        HostSet(["a\ud800"])


# Labels without A-label; the last ones are too long for a name, or only as UTF-8.
INVALID = [
    *("a_b", "_dmarc", "☃", "a-", "-a", "ab--c", "*", "", "x" * 64, "ü" * 64, "%25", "\u200d", "ü_", "\xad", "ü" * 400)
]


@pytest.mark.slow
@each_row(("label", "dot"), [*zip(INVALID, cycle([".", "\u3002", "%2E", "\uff61"]), strict=False), ("a_b", "%2E")])
def test_an_invalid_label_does_not_hide_the_others(label, dot):
    blocked, entry = HostSet(["bücher.example"]), "xn--bcher-kva.example"
    for name in "BÜCHER.Example.", "x.bu\u0308cher.example":
        host = label + dot + name
        for url in host, f"https://u@{host}:80/a?b":
            assert blocked.match(url) == entry and blocked.match(url.encode()) == entry.encode(), url
            assert blocked.match(url, exact=True) is None
            assert bulk.match([url, url.encode()], blocked) == [entry, entry.encode()]
            assert rows_of(bulk.match(Lent([url.encode()] * 70, "z"), blocked)) == [entry.encode()] * 70
            assert naive.match_host({entry.encode()}, url.encode()) == entry.encode()


@pytest.mark.parametrize("label", ["a_b", "_dmarc", "a-", "-a", "ab--c"])
def test_entries_with_invalid_labels(label):
    entry, url = f"{label}.xn--bcher-kva.example", f"http://{label}.BÜCHER.example/x/y"
    hosts, pages = HostSet([f"{label}.bücher.example"]), PrefixSet([f"{label}.bücher.example/x"])
    assert list(hosts) == [entry] and list(pages) == [f"{entry}/x"]
    assert hosts == HostSet([entry]) and HostSet.read(f"||{label}.bücher.example^".encode()) == hosts
    assert hosts.match(url) == hosts.match(url, exact=True) == entry and pages.match(url) == f"{entry}/x"
    assert bulk.match([url], pages) == [f"{entry}/x"] and hosts.match("//bücher.example") is None


def test_numbers_and_characters_that_are_ignored():
    """Full-width digits are digits; a last label that UTS 46 maps to nothing is that of the root."""
    made = HostSet(["127.0.0.1", "1.example"])
    for url in "//\uff11\uff12\uff17.0.0.1", "//127.0.0.\uff11", "//127.0.0.\uff11/a_b":
        assert made.match(url) == "127.0.0.1"
    assert (
        made.match("//\uff11.a_b.\uff11.example.\xad/") == "1.example"
        and made.match("//x.\uff11\uff12\uff17.0.0.1") is None
    )


def test_long_hosts():
    made = HostSet(["bücher.example"])
    for label in "ü", "ü_", "☃", "a", "\u200d", "x[":
        for count in 1, 100, 120, 125, 126, 127, 128, 170, 250:
            assert made.match(f"//{(label + '.') * count}bücher.example/") == "xn--bcher-kva.example"
    for label in "ü.", "☃.", "%61.", "\ud7ff.":
        assert made.match(f"//{label * 100_000}bücher.example/") == "xn--bcher-kva.example"
        assert made.match(f"//{label * 100_000}bücher.example/", exact=True) is None


# --- hosts that browsers reach ----------------------------------------------------------------------------------------

# Characters that UTS 46 maps to nothing.
IGNORED = [chr(c) for c in (0xAD, 0x34F, 0x115F, 0x180B, 0x200B, 0x2060, 0xFE0F, 0xFEFF, 0x1D173, 0xE0100)]
# Hosts of a set, and the names that have them. ẻ is composed of two characters or three, ṩ of up to three.
LISTED = {
    "evil.example": "evil.example",
    "xn--bcher-kva.example": "bücher.example",
    "xn--n3h.example": "☃.example",
    "xn--vil-qjz.example": "ẻvil.example",
    "xn--7dbl.example": "יד.example",
    "a_b.example": "a_b.example",
    "192.0.2.7": "192.0.2.7",
    ("ṩ" * 40).encode("idna").decode() + ".example": "ṩ" * 40 + ".example",
}


def escaped(text):
    return "".join(f"%{byte:02X}" for byte in text.encode())


def spelled(rng, name):
    """A spelling of a name that UTS 46 maps to it."""
    text = unicodedata.normalize(rng.choice(("NFC", "NFD")), name)
    spelling = []
    for c in rng.choice((str, str.upper, str.title))(text):
        if rng.random() < 0.1:
            spelling.append(rng.choice(IGNORED) * rng.choice((1, 1, 3, 60)))
        wide = c != "." and rng.random() < 0.1 and "!" < c <= "~"
        spelling.append(rng.choice("..\u3002\uff0e\uff61") if c == "." else chr(ord(c) + 0xFEE0) if wide else c)
    below = rng.choice(("", "", "www.", "ü.", "a_b.", "x" * 70 + ".", "é" * 99 + ".", IGNORED[0] * 600 + "x。"))
    if name[0].isdigit():
        below = ""
    share = rng.choice((0, 0, 0.1, 1))
    text = below + "".join(spelling) + rng.choice(("", "", "", ".", "\u3002"))
    return "".join(escaped(c) if rng.random() < share else c for c in text)


def reached(host):
    """The host that a spelling stands for, by nothing but idna's table, NFC and Punycode."""
    text = unquote(host)
    kept = [idna.uts46_remap(c, std3_rules=False) for c in text if c not in IGNORED]
    text = unicodedata.normalize("NFC", "".join(kept))
    labels = [c if c.isascii() else "xn--" + c.encode("punycode").decode() for c in text.split(".")]
    return ".".join(labels).removesuffix(".")


@pytest.mark.slow
def test_matches_hosts_that_browsers_reach():
    ada_url = pytest.importorskip("ada_url", reason="ada-url is not installed")
    rng = random.Random(20)
    blocked = HostSet(LISTED)
    pages = PrefixSet([f"http://{entry}/p" for entry in LISTED])
    keys = PrefixSet([",".join(entry.split(".")[::-1]) + ")/p" for entry in LISTED])
    urls, wanted, browsers = [], [], 0
    for _ in range(400):
        entry, name = rng.choice(list(LISTED.items()))
        host = spelled(rng, name)
        before = rng.choice(("http://", "HTTPS://", "https://u:p@", "http://u%40\xad@"))
        after = rng.choice(("/p", ":/p/q", "/p?x\\@y", "/p#//@ok.example", "/p/\\..\\"))
        url = before + host + after
        real = reached(host)
        assert real == entry or real.endswith("." + entry)
        with suppress(ValueError):
            assert ada_url.URL(url).hostname.removesuffix(".") == real
            browsers += 1
        # Text without a scheme must not begin as one does.
        urls += [url, url if after[0] == ":" else host + after]
        wanted += [entry] * 2
        assert pages.match(url) == (f"{entry}/p" if real == entry else None), url
        if real == entry and not entry[0].isdigit():
            assert keys.match(url) == keys.match(urls[-1]) == ",".join(entry.split(".")[::-1]) + ")/p"
    assert browsers > 300
    assert [blocked.match(url) for url in urls] == wanted == bulk.match(urls, blocked)
    assert rows_of(bulk.match(Lent([url.encode() for url in urls], "z"), blocked)) == [each.encode() for each in wanted]


@pytest.mark.slow
@each_row("character", [*IGNORED, *map(escaped, IGNORED)])
@each_row("count", [1, 59, 60, 64, 254, 1000, 20_000])
def test_ignored_characters_do_not_hide_a_host(character, count):
    blocked, pages = HostSet(["evil.example"]), PrefixSet(["evil.example/a", "example,evil)/b"])
    many = character * count
    for host in f"{many}evil.example", f"ev{many}il.example", f"x.evil.{many}example", f"evil.example{many}":
        url = f"http://{host}/a"
        assert blocked.match(url) == blocked.match(f"{host}/a") == "evil.example"
        if not host.startswith("x"):
            assert pages.match(url) == pages.match(f"{host}/a/b") == "evil.example/a"
            assert pages.match(f"http://{host}/b") == pages.match(f"{host}/b/c?d") == "example,evil)/b"
            assert uri.normalize(url, level="iri") == "http://evil.example/a"


@each_row("character", ["\u200c", "\u200d", "%E2%80%8C", "%e2%80%8d"])
@each_row("count", [1, 60, 1000, 100_000])
def test_joiners_out_of_place_do_not_hide_a_host(character, count):
    """As in http.client, whose IDNA 2003 ignores them; browsers reject the host."""
    blocked = HostSet(["evil.example"])
    many = character * count
    for host in f"{many}evil.example", f"ev{many}il.example", f"x.evil.{many}example", f"evil.example{many}":
        if count == 1:
            assert unquote(host).encode("idna").endswith(b"evil.example")
        assert blocked.match(f"http://{host}/a") == blocked.match(host) == "evil.example"


def test_joiners_in_their_place_are_part_of_a_label():
    """RFC 5892 appendix A.1: between letters that join in Persian, and after a virama."""
    with_joiner = "\u0646\u0627\u0645\u0647\u200c\u0627\u06cc.example"
    without = with_joiner.replace("\u200c", "")
    assert HostSet([with_joiner]).match(f"//{with_joiner}/") == "xn--mgba3gch31f060k.example"
    assert HostSet([with_joiner]).match(f"//{without}/") is None
    assert HostSet([without]).match(f"//{with_joiner}/") is None


def test_an_entry_is_as_long_as_its_normal_form():
    many = "\u200b" * 500
    assert list(HostSet([f"ev{many}il.example.{many}"])) == ["evil.example"]
    assert list(HostSet([escaped(f"{many}evil.example")])) == ["evil.example"]
    for label in "x" * 64, "ü" * 60, "ü" * 5000:
        with pytest.raises(UriSyntaxError):
            HostSet([f"{label}.{many}example"])


def test_prefixes_of_long_urls():
    pages = PrefixSet(["a.example/b", "example,c)/d", "a.example/" + "x" * 1500])
    for n in 1, 1000, 1024, 1025, 5000, 100_000:
        for scheme in "", "//", "http://":
            assert pages.match(f"{scheme}a.example/b/{'x' * n}") == "a.example/b"
            assert pages.match(f"{scheme}A.example:80/b?{'ü' * n}") == "a.example/b"
            assert pages.match(f"{scheme}c.example/d?{'x' * n}") == "example,c)/d"
    assert pages.match("a.example/" + "x" * 1500 + "/y") == "a.example/" + "x" * 1500


@each_row("kind", KINDS)
@each_row(
    ("text", "found"),
    [
        *[("localhost:8080", True), ("localhost:1/a:b", True), ("LOCALHOST:65535?q", True), ("localhost:8080#f", True)],
        *[("localhost", True), ("x.localhost:", None), ("localhost:", False), ("localhost:123456", False)],
        *[("localhost:80:80", False), ("localhost:80a", False), ("localhost:me@a.example", False)],
        *[("u@localhost:80", False), (":80", False)],
    ],
)
def test_a_name_and_a_port_without_a_scheme(kind, text, found):
    for name, entry in ("localhost", "localhost"), ("münchen", "xn--mnchen-3ya"):
        made, url = kind([name]), text.lower().replace("localhost", name)
        wanted = entry if found or (found is None and kind is HostSet) else None
        assert made.match(url) == wanted and bulk.match([url, f"{url}"], made) == [wanted] * 2
        row = wanted and wanted.encode()
        assert rows_of(bulk.match(Lent([url.encode()], "z"), made)) == [row]
        assert KINDS[kind][1]({entry.encode()}, url.encode()) == row


def test_matches_results_of_find_and_extract():
    blocked, pages = HostSet(["ads.example"]), PrefixSet(["https://a.example/b/"])
    text = "See (http://x.ads.example/a), https://a.example/b/c. <http://good.example>"
    data = text.encode()
    assert [blocked.match(url) for url in uri.extract(data)] == [b"ads.example", None, None]
    assert bulk.match(uri.extract(data), pages) == [None, b"a.example/b", None]
    assert [blocked.match(data[start:stop]) for start, stop in uri.find(data)] == [b"ads.example", None, None]


# --- the usual loop ---------------------------------------------------------------------------------------------------


def usual(entries, url):
    """What programs do: the host of urlsplit(), and its parents in a set."""
    host = (urlsplit(url).hostname or "").rstrip(".")
    labels = host.split(".")
    return next((each for i in range(len(labels)) if (each := ".".join(labels[i:])) in entries), None)


def test_the_usual_loop_agrees():
    chance = random.Random(43)
    names = [
        f"{chance.choice(['shop', 'ads', 'x', 'cdn'])}{i % 97}.{chance.choice(['com', 'co.uk', 'example'])}"
        for i in range(2000)
    ]
    entries = {*chance.sample(names, 300), "uk"}
    made, urls = HostSet(entries), []
    for name in names:
        host = chance.choice(["", "www.", "a.b.", "not"]) + name
        host = chance.choice([host, host.upper(), host.title(), host + "."])
        host = chance.choice(["", "me@", "u:p@"]) + host + chance.choice(["", ":80", ":"])
        urls.append(
            chance.choice(["http://", "HTTPS://", "//", "ftp://"])
            + host
            + chance.choice(["", "/a@b", "?q=//x.com", "#f"])
        )
    wanted = [usual(entries, url) for url in urls]
    assert [made.match(url) for url in urls] == wanted == bulk.match(urls, made)
    assert 200 < sum(each is not None for each in wanted) < 1800


# --- lists ------------------------------------------------------------------------------------------------------------


LIST = """\
# a comment
! another
[Adblock Plus 2.0]

a.example
  b.example  # with a remark
||c.example^
||d.example^$third-party
@@||e.example^
127.0.0.1 localhost
0.0.0.0 f.example\tg.example # two
::1 ip6-localhost ip6-loopback
fe80::1%lo0 localhost
0.0.0.0 0.0.0.0
0.0.0.0 h.example i..example
j.example/path
k.example:80
l.example#x
bücher.example
192.0.2.1
::2
*.m.example
"""


def test_a_list_of_hosts():
    made = HostSet.read(LIST.encode())
    assert list(made) == [
        *("a.example", "b.example", "c.example", "f.example", "g.example", "h.example", "xn--bcher-kva.example"),
        *("192.0.2.1", "[::2]", "m.example"),
    ]
    bad = ["||d.example^$third-party", "@@||e.example^", "0.0.0.0 h.example i..example", "j.example/path"]
    bad += ["k.example:80", "l.example#x"]
    lines = LIST.splitlines()
    assert made.report == ListReport(22, 8, 6, tuple((lines.index(each) + 1, each) for each in bad))
    assert HostSet(["a"]).report is None


def test_headers_and_comments_of_lists():
    made = HostSet.read(b"[Adblock]\n[uBlock Origin]\n0.0.0.0 a.example\tb.example#x c.example\n::1 d.example#\n")
    assert list(made) == ["a.example", "b.example", "d.example"] and made.report == ListReport(4, 2, 0, ())
    made = HostSet.read(b"[a::1]\na.example##b\n0.0.0.0##b\nx y#b\n[]\n[1.2.3.4]\n")
    assert list(made) == ["[a::1]"] and made.report[:3] == (6, 1, 5)
    assert PrefixSet.read(b"[Adblock]\n//[::1]\n").report == ListReport(2, 1, 0, ())


# What lines of DNS servers and rules of Adblock have; None: they are not understood.
LINES = {
    # dnsmasq
    "address=/a.example/": ["a.example"],
    "address=/a.example/#": ["a.example"],
    "address=/a.example/0.0.0.0  # remark": ["a.example"],
    "address=/a.example/*.B.example/::": ["a.example", "b.example"],
    "server=/a.example/": ["a.example"],
    "local=/a.example/b.example/ # remark": ["a.example", "b.example"],
    "server=/a.example/192.0.2.1": None,  # asks another server
    "server=/a.example/#": None,
    "local=/a.example/192.0.2.1": None,
    "address=/#/0.0.0.0": None,  # everything
    "address=/a.example": None,
    "address=/a.example/b": None,
    "address=//": None,
    "address=/": None,
    "local=/": None,
    "local=/localhost/": [],
    "address=/a b/": None,
    # Unbound
    'local-zone: "a.example" always_nxdomain': ["a.example"],
    "local-zone: 'A.example.' Redirect # remark": ["a.example"],
    "local-zone: a.example static": ["a.example"],
    'local-data: "a.example A 0.0.0.0"': ["a.example"],
    'local-data: "a.example. 3600 IN AAAA ::1" # remark': ["a.example"],
    "local-data: 'a.example CNAME .'": ["a.example"],
    "server:": [],
    "server: # remark": [],
    'local-zone: "a.example" transparent': None,
    'local-zone: "a.example"': None,
    'local-zone: "a.example" static more': None,
    'local-zone: "a b" static': None,
    "local-zone:": None,
    "local-data:": None,
    'local-data: "a.example TXT b"': None,
    'local-data: "a.example A b"': None,
    'local-data: "a.example A 0.0.0.0" more': None,
    'local-data-ptr: "192.0.2.1 a.example"': None,
    # response policy zones
    "a.example CNAME .": ["a.example"],
    "*.a.example CNAME .": ["a.example"],
    "a.example 300 in cname *. ; remark": ["a.example"],
    "a.example IN 1h30m CNAME rpz-drop.": ["a.example"],
    "a.example A 127.0.0.1": ["a.example"],
    "bücher.example\tCNAME\t.": ["xn--bcher-kva.example"],
    "$TTL 60": [],
    "$ORIGIN rpz.example.": [],
    "@ 3600 IN SOA a. b. 1 2 3 4 5": [],
    "@ NS localhost.": [],
    "  IN NS localhost.": [],
    "; remark": [],
    "localhost CNAME .": [],
    "a.example CNAME rpz-passthru.": None,
    "a.example CNAME b.example.": None,
    "a.example CNAME . more": None,
    "a.example CNAME": None,
    "a.example MX 1 b.example.": None,
    "24.0.2.0.192.rpz-ip CNAME .": None,
    "a.example.RPZ-nsdname CNAME .": None,
    "$INCLUDE other": None,
    # Adblock
    "||a.example^$important": ["a.example"],
    "||a.example^$all,IMPORTANT": ["a.example"],
    "||a.example^$important,third-party": None,
    "||a.example^$": None,
    "||a.example^$important,": None,
    "||a.example^$,all": None,
    "||a.example^b": None,
    "||a.example$important": None,
    "||^$all": None,
    "@@||a.example^$important": None,
}


@each_row("line", LINES)
def test_lines_of_dns_servers_and_of_adblock(line):
    wanted = LINES[line]
    made = HostSet.read(f"# plain\n{line}\r\nlast.example\n".encode())
    assert list(made) == [*(wanted or ()), "last.example"]
    assert made.report[:3] == (3, 1 + bool(wanted), wanted is None)
    assert not PrefixSet.read(f"# plain\n{line}\n".encode()) or "/" in line or ":" in line or " " not in line


def test_records_of_several_lines():
    """Of the zone itself; what follows is read, whether they end or not."""
    zone = b"@ IN SOA localhost. root.localhost. (\n  2024010101 ; serial\n  1h 15m\n  %s\na.example CNAME .\n12\n"
    for end, unknown in ("30d 2h )", 1), (")", 1), ("30d", 1), ("b.example", 1), ("c d", 2):
        made = HostSet.read(zone % end.encode())
        assert list(made) == [*(["b.example"] if end == "b.example" else []), "a.example"]
        assert made.report.not_understood == unknown, end


@each_row(
    ("zone", "hosts"),
    [
        # RFC 1035 section 5.1: names without a final dot are relative to the origin.
        ("$ORIGIN rpz.local.\na.example CNAME .\nb.example.RPZ.local. CNAME .\n", ["a.example", "b.example"]),
        (
            "rpz.local. SOA a. b. 1 2 3 4 5\na.example.rpz.local. CNAME .\n*.b.rpz.local. A 0.0.0.0\n",
            ["a.example", "b"],
        ),
        ("rpz.local. SOA a. b. 1 2 3 4 5\na.example CNAME .\n", ["a.example"]),
        ("$ORIGIN .\nrpz.local 60 IN SOA a. b. 1\n$ORIGIN com.rpz.local.\nbad CNAME .\n", ["bad.com"]),
        ("$ORIGIN rpz.local.\n@ SOA a. b. 1\n$ORIGIN com\nbad CNAME .\n@ CNAME .\n", ["bad.com", "com"]),
        ("$ORIGIN rpz.local.\n@ A 192.0.2.1\nrpz.local. A 192.0.2.1\na.example CNAME .\n", ["a.example"]),
        ("$ORIGIN rpz.local.\na.xrpz.local. CNAME .\nb.example. CNAME .\n", ["a.xrpz.local", "b.example"]),
        ("$ORIGIN rpz.local.\n IN SOA a. b. 1\na.example CNAME .\n", ["a.example"]),
        ("@ SOA a. b. 1\na.example. CNAME .\nb.example CNAME .\n", ["a.example", "b.example"]),
    ],
)
def test_names_of_zones(zone, hosts):
    made = HostSet.read(zone.encode())
    assert list(made) == hosts and not made.report.not_understood
    cut = HostSet.read((zone + "24.0.2.0.192.rpz-ip CNAME .\n24.0.2.0.192.rpz-ip.rpz.local. CNAME .\n").encode())
    assert list(cut)[: len(hosts)] == hosts and cut.report.not_understood >= 1


@given(lines=st.lists(st.tuples(st.sampled_from(sorted(LINES)), st.floats(0, 1), texts), max_size=6))
def test_cut_lines_of_dns_servers(lines):
    """Whatever is cut and put in, each line is read or counted, and what was read is a host."""
    data = "\n".join(line[: round(place * len(line))] for line, place, _ in lines).encode()
    data += b"\n" + b"\n".join(line[: len(line) // 2].encode() + more for line, _, more in lines)
    made = HostSet.read(b"# plain\n" + data)
    assert made.report.understood + made.report.not_understood <= made.report.lines
    assert all(naive.host_entry(each.encode()) == each.encode() for each in made)


def test_a_list_of_prefixes():
    made = PrefixSet.read(
        b"# c\n! d\n\nhttps://a.example/b/\r\ncom,example)/b\nhttp://a/?q\nx y\nb.example/#\n//c.example"
    )
    assert list(made) == ["a.example/b", "com,example)/b", "c.example"]
    assert made.report[:3] == (9, 3, 3) and [line for line, _ in made.report.examples] == [6, 7, 8]


@pytest.mark.parametrize("kind", KINDS)
@given(lines=st.lists(texts, max_size=8))
def test_lists_of_anything(kind, lines):
    data = b"\n".join([b"# not compressed, whatever follows", *lines])
    made = kind.read(data)
    assert made.report.lines == data.count(b"\n") + (bool(data) and not data.endswith(b"\n"))
    assert made.report.understood + made.report.not_understood <= made.report.lines
    assert len(made.report.examples) == made.report.not_understood
    assert kind.read("\n".join(made).encode()).report.not_understood == 0


def test_hostile_lists(tmp_path):
    deep = b".".join([b"a"] * 100_000)
    bad = [
        *(deep, b"\0", b"a\0b", b"\xff.com", b"\xed\xa0\x80.com", b"x" * 300, b"|" * 9, b"||^", b"%", b"1.2.3", b"0x1"),
        b"-",
    ]
    good = b".".join([b"a"] * 127)
    for kind in KINDS:
        made = kind.read(b"\n".join([*bad, good, b"||" + b"a" * 5_000_000 + b"^", b"b.c"]) + b"\n")
        assert made.report.lines == 15 and {good.decode(), "b.c"} <= {*made}
        assert made.report.not_understood == 12 and all(len(text) <= 200 for _, text in made.report.examples)
        assert made.match(b"http://" + deep + b"." + good) is None or kind is HostSet
        assert made.match(b"http://" + deep) is None or kind is HostSet
    assert made.match(b"http://b.c" + b"/" * 100_000) == b"b.c"
    assert HostSet([good]).match(b"//a." + good) == good and HostSet([good]).match(b"//" + good, exact=True) == good
    assert HostSet(["com"]).match("http://" + "a." * 100_000 + "com") == "com"
    many = HostSet.read(b"x y\n" * 1000)
    assert many.report.not_understood == 1000 and len(many.report.examples) == 100
    same = HostSet.read(b"a.example\n" * 100_000)
    assert len(same) == 1 and same.report.understood == 100_000


@pytest.mark.slow
def test_sources_of_lists(tmp_path):
    data = b"\xef\xbb\xbfa.example\r\nb.example\n" + b"".join(b"c%d.example\n" % i for i in range(100_000))
    path = tmp_path / "list"
    path.write_bytes(data)
    (tmp_path / "list.gz").write_bytes(gzip.compress(data))
    wanted = HostSet.read(data)
    assert len(wanted) == 100_002 and wanted.report.lines == 100_002 and "a.example" in wanted
    for source in (
        *(path, str(path), tmp_path / "list.gz", io.BytesIO(data), memoryview(data), bytearray(gzip.compress(data))),
    ):
        assert HostSet.read(source) == wanted
    with open(path, "rb", buffering=0) as file:
        assert HostSet.read(file) == wanted
    for wrong, error in (5, TypeError), (None, TypeError), (tmp_path / "none", OSError), (io.StringIO("a"), TypeError):
        with pytest.raises(error):
            HostSet.read(wrong)


# --- sets -------------------------------------------------------------------------------------------------------------


def test_sets_are_values():
    a, b = HostSet(["a.example", "b.example"]), HostSet([b"B.example", memoryview(b"a.example.")])
    assert a == b and a != HostSet(["a.example"]) and a != HostSet(["a.example", "c.example"]) and a != 5
    assert HostSet([]) == HostSet() != PrefixSet()
    assert repr(a) == "<HostSet of 2 hosts>" and repr(HostSet(["a"])) == "<HostSet of 1 host>"
    assert repr(PrefixSet(["a"])) == "<PrefixSet of 1 prefix>"
    assert len(a) == 2 and bool(a) and not HostSet()
    assert "a.example" in a and "*.A.example." in a and "x.a.example" not in a and 5 not in a and "a b" not in a
    with pytest.raises(TypeError):
        hash(a)
    for wrong in "a.example", b"a", 5, None, [5], [None]:
        with pytest.raises(TypeError):
            HostSet(wrong)
    with pytest.raises(TypeError):
        HostSet.__base__(["a"])
    with pytest.raises(AttributeError):
        a.other = 5
    assert copy(a) == deepcopy(a) == pickle.loads(pickle.dumps(a)) == a


@pytest.mark.parametrize("made", SETS, ids=["hosts", "prefixes"])
@pytest.mark.parametrize("count", [0, 1, 3000])
def test_files(tmp_path, made, count):
    kind = type(made)
    made = kind([*([] if count == 0 else made), *(f"x{i}.example" for i in range(count))])
    path = tmp_path / "set"
    made.save(path)
    opened = kind.open(path)
    assert opened == made and list(opened) == list(made) and len(opened) == len(made) and opened.report is None
    assert [opened.match(row) for row in ROWS] == [made.match(row) for row in ROWS]
    column = Lent(list(ROWS) * 9, "z")
    assert rows_of(bulk.match(column, kind.open(path))) == rows_of(bulk.match(column, made))
    opened.verify()
    again = tmp_path / "again"
    opened.save(again)
    assert again.read_bytes() == path.read_bytes()
    assert pickle.loads(pickle.dumps(opened)) == made and len(pickle.dumps(opened)) < 500
    assert (HEADER.size + int.from_bytes(path.read_bytes()[12:16], "little")) % 64 == 0
    opened.save(path)  # over itself: it was mapped, and is replaced
    assert kind.open(path) == made


def test_a_set_of_another_kind(tmp_path):
    path = tmp_path / "set"
    HostSet(["a"]).save(path)
    for kind in PrefixSet, SeenSet:
        with pytest.raises(SetError, match=r"open it with uricodec\.uri\.HostSet\.open"):
            kind.open(path)
    SeenSet.build(["a"], "bytes").save(path)
    with pytest.raises(SetError, match=r"open it with uricodec\.dedup\.SeenSet\.open"):
        HostSet.open(path)
    for data in b"", b"\x89SEEN\r\n\x1a", b"a.example\n" * 50:
        path.write_bytes(data)
        with pytest.raises(SetError):
            HostSet.open(path)
    with pytest.raises(OSError):
        HostSet.open(tmp_path / "none")
    with pytest.raises(OSError):
        HostSet.open(tmp_path)


@pytest.mark.slow
def test_damage_is_found(tmp_path):
    """Whatever byte is changed: it is found when the set is opened, used or verified, and nothing wrong is returned."""
    path, names = tmp_path / "set", [f"x{i}.example" for i in range(700)]
    made = HostSet(names)
    made.save(path)
    data, chance = path.read_bytes(), random.Random(3)
    size = HEADER.size + int.from_bytes(data[12:16], "little")
    places = [*range(size + 9), *chance.sample(range(size, len(data)), 300), len(data) - 1]
    found = 0
    for place in places:
        damaged = bytearray(data)
        damaged[place] ^= 1 << chance.randrange(8)
        path.write_bytes(damaged)
        try:
            opened = HostSet.open(path)
        except SetError:
            continue
        assert place >= size
        with pytest.raises(SetError, match="damaged"):
            opened.verify()
        for use in (
            lambda made: [made.match(f"//www.{name}") for name in names],
            lambda made: bulk.match([f"http://{name}" for name in names], made),
            lambda made: rows_of(bulk.match(Lent([f"http://{name}".encode() for name in names], "u"), made)),
            list,
            lambda made: made.save(tmp_path / "other"),
        ):
            try:
                wanted = use(opened)
            except SetError as error:
                assert str(error) == f"{path}: damaged saved set: entries"
                found += 1
            else:
                assert wanted == names or place > size + 8
    assert found > 300
    for cut in (0, 1, 100, size, size + 100, len(data) - 1):
        path.write_bytes(data[:cut])
        with pytest.raises(SetError):
            HostSet.open(path)
    path.write_bytes(data + b"x")
    with pytest.raises(SetError):
        HostSet.open(path)


@pytest.mark.parametrize("kind", [HostSet, PrefixSet])
def test_entries_in_two_blocks(tmp_path, kind):
    """Nothing but the blocks of an entry is read before it is compared."""
    path, label = tmp_path / "set", "x" * 60
    names = [f"{label}.{label}.{label}.n{i:04}.example" for i in range(150)]
    kind(names).save(path)
    for memory_map in False, True:
        for name in names[::3]:
            opened = kind.open(path, memory_map=memory_map)
            assert opened.match(f"//{name}") == name
            assert name in opened


def test_sizes_of_entries_that_lie():
    """An entry ends with the text: one that is longer by a byte is damaged, for a question and for a list."""
    table = HostSet(["a.example", "b.example"])._table
    data = bytes(table.data())
    text = 8 << table.bits
    assert data[text:] == b"\0\x09\0a.example\x09\0b.example"
    numbers = table.count, table.bits, table.depths, table.surts, table.key
    for more in range(4):
        changed = data[: text + 12] + bytes([9 + more, 0]) + data[text + 14 :]
        copy, place = aligned(changed)
        lying = EntryTable("hosts", copy, *numbers, None, place, len(changed))
        assert match_url(lying, "//a.example", False) == "a.example"
        if more == 0:
            assert match_url(lying, "//b.example", False) == "b.example" and list(lying) == ["a.example", "b.example"]
            continue
        for use in (
            partial(match_url, lying, "//b.example", False),
            partial(has_entry, lying, "b.example"),
            partial(list, lying),
        ):
            with pytest.raises(SetError, match="damaged"):
                use()


def test_a_file_that_changes(tmp_path):
    path = tmp_path / "set"
    HostSet(["a.example"]).save(path)
    opened = HostSet.open(path)
    with open(path, "ab") as file:
        file.write(b"x")
    for use in (
        lambda: opened.match("a"),
        lambda: bulk.match(["a"], opened),
        lambda: "a" in opened,
        lambda: list(opened),
    ):
        with pytest.raises(FileError, match="changed"):
            use()


@pytest.mark.skipif(sys.platform == "win32", reason="an open file cannot be replaced there")
def test_a_file_that_is_replaced(tmp_path):
    path = tmp_path / "set"
    HostSet(["a.example"]).save(path)
    opened = HostSet.open(path)
    HostSet(["b.example"]).save(path)
    assert opened.match("a.example") == "a.example" and HostSet.open(path).match("b.example") == "b.example"


def test_threads_share_a_set(tmp_path):
    names = [f"x{i}.example" for i in range(5000)]
    HostSet(names).save(tmp_path / "set")
    opened, wrong = HostSet.open(tmp_path / "set"), []

    def ask(first):
        for name in names[first::4]:
            if opened.match(f"http://www.{name}/") != name:
                wrong.append(name)
        if bulk.match([f"//{name}" for name in names], opened) != names:
            wrong.append("bulk")

    threads = [Thread(target=ask, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_many_entries():
    """More than fit in the cache; and names that differ in few bits."""
    names = [f"{i:05x}.{'ab'[i & 1] * (i % 30)}x.example" for i in range(40_000)]
    made = HostSet(names)
    assert len(made) == 40_000 and list(made) == names
    assert bulk.match([f"http://{name}/" for name in names], made) == names
    assert not any(bulk.is_match([f"http://{name[1:]}/" for name in names], made))


MEMORY = """
import re, sys
from uricodec.uri import HostSet, PrefixSet

def peak():
    return int(re.search("VmHWM:(.*)kB", open("/proc/self/status").read())[1])

kind, line = {"hosts": HostSet, "prefixes": PrefixSet}[sys.argv[1]], sys.argv[2]
lines = f"{line}\\n".encode() * 1_500_000
kind.read(lines[:1000])
before = peak()
assert list(kind.read(lines)) == list(kind(line for _ in range(500_000) if "^" not in line)) or "^" in line
print(peak() - before)
"""


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="no figures of memory here")
@pytest.mark.parametrize(
    ("kind", "line"), [("hosts", "evil.example"), ("hosts", "||evil.example^"), ("prefixes", "evil.example/a")]
)
def test_memory_is_that_of_different_entries(kind, line):
    """A gzip of one host, again and again, is a bomb if each of them is kept."""
    command = [sys.executable, "-c", MEMORY, kind, line]
    done = subprocess.run(command, check=True, capture_output=True, env=os.environ)
    assert int(done.stdout) < 25_000  # kB; 1.5 million entries take 45 MB or more, and their slots 16 MB


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_entries_that_are_repeated(kind):
    """More than are looked through at once: the first of each stays, in order."""
    names = [f"h{i}.example" for i in range(40_000)]
    rng = random.Random(23)
    given = names[:300] * 500 + rng.choices(names, k=150_000) + names
    made = kind(given)
    assert list(made) == list(dict.fromkeys(given)) and made == kind(names)
    assert bulk.match([f"http://{name}" for name in names], made) == names
    assert kind.read("\n".join(given).encode()).report.understood == len(given)


def test_the_import_is_late():
    code = "import sys, uricodec.uri; assert 'uricodec._hosts.sets' not in sys.modules; uricodec.uri.HostSet"
    subprocess.run([sys.executable, "-c", code], check=True, env=os.environ)


# --- the command line -------------------------------------------------------------------------------------------------


@pytest.fixture
def files(tmp_path):
    (tmp_path / "hosts").write_bytes("\n".join(HOSTS).encode())
    (tmp_path / "pages").write_bytes("\n".join(PREFIXES).encode())
    SETS[0].save(tmp_path / "hosts.set")
    SETS[1].save(tmp_path / "pages.set")
    return tmp_path


def model(lines, options):
    sets = [made for made, name in zip(SETS, ("--hosts", "--prefixes"), strict=True) if name in options]
    exact = "--no-below" in options
    return [line for line in lines if any(made.match(line, exact=exact) for made in sets) != ("--invert" in options)]


@pytest.mark.slow
@pytest.mark.parametrize("invert", [[], ["--invert"]])
@pytest.mark.parametrize("exact", [[], ["--no-below"]])
@pytest.mark.parametrize("names", [("hosts",), ("pages",), ("hosts", "pages"), ("hosts.set", "pages.set")])
def test_filter(files, names, exact, invert):
    options = [*exact, *invert]
    for name in names:
        options += ["--prefixes" if name.startswith("pages") else "--hosts", str(files / name)]
    lines = [row for row in ROWS if b"\n" not in row]
    wanted = model(lines, options)
    assert 5 < len(wanted) < len(lines) - 5
    for end in b"\n", b"\r\n":
        assert run("filter", *options, stdin=end.join(lines) + end) == (0, end.join(wanted) + end * bool(wanted), "")
    assert (
        run("filter", *options, "-j", "2", stdin=b"\n".join(lines) + b"\n", chunk=64)[1] == b"\n".join(wanted) + b"\n"
    )
    text = [line.decode() for line in lines if line.isascii() and b'"' not in line and b"," not in line]
    table = "".join(f'{i},"{line}",x\n' for i, line in enumerate(text)).encode()
    kept = [i for i, line in enumerate(text) if line.encode() in wanted]
    want = b"".join(table.splitlines(True)[i] for i in kept)
    assert run("filter", *options, "--csv", "-f", "2", stdin=table) == (0, want, "")
    assert (
        run("filter", *options, "--csv", "-f", "url", "--header", stdin=b"n,url,z\n" + table)[1] == b"n,url,z\n" + want
    )
    tabs = table.replace(b'"', b"").replace(b",", b"\t")
    assert run("filter", *options, "-f", "2", stdin=tabs)[1] == b"".join(tabs.splitlines(True)[i] for i in kept)


def test_filter_with_several_lists(files):
    lines = [f"http://h{i}.example/" for i in range(5)]
    text = "".join(f"{line}\n" for line in lines).encode()
    for i in range(3):
        (files / f"list{i}").write_text(f"h{i}.example\n")
    (files / "list3").write_text("http://h3.example/\n")
    options = [word for i in range(3) for word in ("--hosts", str(files / f"list{i}"))]
    options += ["--prefixes", str(files / "list3")]
    assert run("filter", *options, stdin=text) == (0, text[: -len(lines[-1]) - 1], "")
    assert run("filter", *options, "--invert", stdin=text) == (0, f"{lines[-1]}\n".encode(), "")
    most = ["--hosts", str(files / "list0")] * 31 + options[-2:]
    assert run("filter", *most, stdin=text) == (0, f"{lines[0]}\n{lines[3]}\n".encode(), "")
    assert run("filter", *most, *options[:2], stdin=text)[::2] == (
        2,
        "uricodec: --hosts: expected at most 32 lists, with those of --prefixes\n",
    )


def test_filter_of_json(files):
    lines = b'{"u":"http:\\/\\/x.org\\/","b":1}\n{"b":2, "u" : "http://net/"}\n{"u":"\\u006frg"}\n'
    kept = lines.splitlines(True)
    command = ["filter", "--hosts", str(files / "hosts"), "--json-field", "u"]
    assert run(*command, stdin=lines) == (0, kept[0] + kept[2], "")
    assert run(*command, "--invert", stdin=lines) == (0, kept[1], "")
    others = b'{"b":1}\n{"u":3}\n{"u":null}\n\n{}\n'
    assert run(*command, stdin=others + lines) == (0, kept[0] + kept[2], "")
    assert run(*command, "--invert", stdin=others + lines + b"{\n") == (0, others + kept[1], "")
    table = ["filter", "--hosts", str(files / "hosts"), "--csv", "-f", "2"]
    for end in b"\n", b"":
        rows = b"1,org\n2\n\n3,net\n4,//a.example" + end
        assert run(*table, stdin=rows) == (0, b"1,org\n4,//a.example" + end, "")
        assert run(*table, "--invert", stdin=rows) == (0, b"2\n\n3,net\n", "")


def test_filter_says_that_lines_are_too_long(files):
    command = ["filter", "--hosts", str(files / "hosts"), "--invert", "--max-line", "40"]
    for long, said in ((1, "1 line is left out"), (2, "2 lines are left out")):
        data = (b"x" * 50 + b"\n") * long + b"y\n"
        message = f"uricodec: {said}: longer than 40 bytes; see --max-line\n"
        assert run(*command, stdin=data) == (0, b"y\n", message)
        assert run(*command, "-q", stdin=data) == (0, b"y\n", "")


def test_filter_says_what_it_did_not_understand(files):
    (files / "odd").write_bytes(b"a.example\n@@||x^\nb c\n")
    status, output, said = run("filter", "--hosts", str(files / "odd"), stdin=b"//a.example\n//x\n")
    assert (status, output) == (0, b"//a.example\n")
    assert said == f"uricodec: {files / 'odd'}: 2 lines of 3 not understood, first line 2: '@@||x^'\n"
    assert run("filter", "-q", "--hosts", str(files / "odd"), stdin=b"//x\n") == (0, b"", "")


@pytest.mark.parametrize(
    ("flag", "what", "kind"), [("--hosts", "hosts", HostSet), ("--prefixes", "prefixes", PrefixSet)]
)
@pytest.mark.parametrize("content", [b"", b"# a\n\n! b\n", b"127.0.0.1/8\n@@||x^\n", None])
def test_a_set_without_an_entry_ends_filter(files, flag, what, kind, content):
    """It would let everything pass."""
    if content is None:
        kind().save(files / "empty")
    else:
        (files / "empty").write_bytes(content)
    for options in [], ["--invert"], ["--invert", "-q"], [flag, files / ("hosts" if kind is HostSet else "pages")]:
        status, output, said = run("filter", flag, files / "empty", *options, stdin=b"//x\n")
        assert (status, output) == (1, b"") and f"uricodec: {flag}: {files / 'empty'}: no {what} found\n" in said


# --- pipes ------------------------------------------------------------------------------------------------------------

URLS = b"http://evil.example/\nhttp://ok.example/\n"
PIPES = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")


def fed(path, data, delay=0.0):
    """Write to a named pipe in another thread, which is started."""

    def write():
        time.sleep(delay)
        with open(path, "wb") as pipe:
            pipe.write(data)

    thread = Thread(target=write)
    thread.start()
    return thread


@PIPES
@pytest.mark.parametrize("delay", [0.0, 0.02])
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@pytest.mark.parametrize(("flag", "line"), [("--hosts", b"evil.example"), ("--prefixes", b"http://evil.example/")])
def test_a_list_in_a_named_pipe(tmp_path, flag, line, pack, delay):
    """The whole list, also its first bytes."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for data in line, line + b"\n", line + b"\n" + b"x.example\n" * 20_000:
        thread = fed(pipe, pack(data), delay)
        assert run("filter", "--invert", flag, pipe, stdin=URLS) == (0, b"http://ok.example/\n", "")
        thread.join()
        kind = HostSet if flag == "--hosts" else PrefixSet
        thread = fed(pipe, pack(data), delay)
        made = kind.read(pipe)
        thread.join()
        assert made == kind.read(data) and made.match(b"http://evil.example/")


@pytest.mark.slow
@PIPES
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_list_on_standard_input_or_in_a_process_substitution(tmp_path, pack):
    (tmp_path / "urls").write_bytes(URLS)
    command = [sys.executable, "-m", "uricodec", "filter", "--invert", "--hosts"]
    given = pack(b"evil.example\n")
    done = subprocess.run([*command, "/dev/stdin", tmp_path / "urls"], input=given, capture_output=True, check=True)
    assert done.stdout == b"http://ok.example/\n"
    first, second = os.pipe()
    os.write(second, given)
    os.close(second)
    command += [f"/dev/fd/{first}", tmp_path / "urls"]
    done = subprocess.run(command, pass_fds=[first], capture_output=True, check=True)
    os.close(first)
    assert done.stdout == b"http://ok.example/\n"


@PIPES
def test_a_saved_set_in_a_pipe_is_an_error(files):
    os.mkfifo(files / "pipe")
    thread = fed(files / "pipe", (files / "hosts.set").read_bytes())
    status, output, said = run("filter", "--hosts", files / "pipe", stdin=URLS)
    thread.join()
    assert (status, output) == (3, b"") and "not a regular file" in said


@PIPES
@pytest.mark.parametrize("flag", ["--hosts", "--prefixes"])
def test_a_pipe_without_a_writer_is_an_error(tmp_path, monkeypatch, flag):
    monkeypatch.setattr(sources, "WRITER_DELAY", 0.05)
    os.mkfifo(tmp_path / "pipe")
    said = f"uricodec: {tmp_path / 'pipe'}: named pipe without a writer\n"
    assert run("filter", flag, tmp_path / "pipe", stdin=URLS) == (3, b"", said)
    with pytest.raises(FileError, match="without a writer"):
        HostSet.read(tmp_path / "pipe")
    with pytest.raises(SetError):
        HostSet.open(tmp_path / "pipe")


@pytest.mark.parametrize(
    ("options", "status", "said"),
    [
        ([], 2, "expected --hosts or --prefixes"),
        (["--hosts", "none"], 3, "none: No such file or directory"),
        (["--hosts", "."], 3, "Is a directory"),
        (["--hosts", "pages.set"], 3, "open it with uricodec.uri.PrefixSet.open()"),
        (["--prefixes", "cut.set"], 3, "damaged saved set"),
        (["--hosts", "bad.set"], 3, "damaged saved set: entries"),
    ],
)
def test_filter_rejects(files, monkeypatch, options, status, said):
    data = bytearray((files / "hosts.set").read_bytes())
    (files / "cut.set").write_bytes((files / "pages.set").read_bytes()[:-1])
    size = HEADER.size + int.from_bytes(data[12:16], "little")
    data[size + 8 * 16 + 5] ^= 1
    (files / "bad.set").write_bytes(data)
    monkeypatch.chdir(files)
    found, output, text = run("filter", *options, stdin=b"//a.example\n")
    assert (found, output) == (status, b"") and said in text
