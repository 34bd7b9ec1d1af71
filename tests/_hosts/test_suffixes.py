"""registrable_domain and public_suffix: the vectors of the Public Suffix List, and the library that brings the list.

tests/_rows/test_operations.py compares rows by all paths with the reference implementation.
"""

import builtins
import random
import re
import sys
import unicodedata
from functools import cache
from pathlib import Path

import idna
import pytest
from support.tables import each_row

from uricodec import bulk, uri
from uricodec._hosts import _suffixes, suffix_list

library = pytest.importorskip("publicsuffixlist")
PAIRS = [("registrable_domain", "privatesuffix"), ("public_suffix", "publicsuffix")]


def vectors():
    text = Path(library.__file__).with_name("test_psl.txt").read_text("utf-8")
    return re.findall(r"^checkPublicSuffix\('(.+)', (?:null|'(.*)')\);", text, re.MULTILINE)


@pytest.mark.skipif(not Path(library.__file__).with_name("test_psl.txt").exists(), reason="the library lacks them")
def test_vectors():
    """checkPublicSuffix of the project of the list, with both sections."""
    found = vectors()
    hosts, domains = [host for host, _ in found], [domain or None for _, domain in found]
    assert len(found) > 70
    assert [uri.registrable_domain(f"//{host}", private=True) for host in hosts] == domains
    assert bulk.registrable_domain([f"http://{host}:80/" for host in hosts], private=True) == domains


@cache
def judge(private):
    return library.PublicSuffixList(only_icann=not private)


def same(hosts):
    """Compare hosts that are names; for the library, addresses are names, too."""
    urls = [f"//{host}" for host in hosts]
    for ours, theirs in PAIRS:
        for private in False, True:
            want = [getattr(judge(private), theirs)(host) for host in hosts]
            assert getattr(bulk, ours)(urls, private) == want
            assert [getattr(uri, ours)(url, private=private) for url in urls[::8]] == want[::8]


FORMS = [
    lambda label: label,
    str.upper,
    str.title,
    lambda label: unicodedata.normalize("NFD", label),
    lambda label: unicodedata.normalize("NFD", label.upper()),
    lambda label: "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in label),  # fullwidth
    lambda label: idna.alabel(label).decode().upper(),
]


@pytest.mark.slow
def test_spellings_beyond_ascii():
    """Upper case, NFD, fullwidth letters and other full stops: as the library finds for the A-labels of idna."""
    listed = [rule for rule in sorted(judge(True)._publicsuffix) if not rule.isascii() or "xn--" in rule]
    drawn, urls = random.Random(12), []
    for rule in [rule.lstrip("*!").lstrip(".") for rule in listed]:
        labels = [
            *drawn.choices(["a", "bücher", "食狮", "пример", "straße", "مثال"], k=drawn.randrange(3)),
            *rule.split("."),
        ]
        spelled = [drawn.choice(FORMS if not label.isascii() else FORMS[:2])(label) for label in labels]
        urls.append("//" + "".join(label + drawn.choice("..\u3002\uff0e\uff61") for label in spelled)[:-1])
    for url in urls:
        try:
            ascii_host = idna.encode(url[2:], uts46=True).decode()
        except idna.IDNAError:  # labels of two directions
            continue
        for ours, theirs in PAIRS:
            for private in False, True:
                found = getattr(uri, ours)(url, private=private)
                assert found == (found and found.lower())
                want = getattr(judge(private), theirs)(ascii_host)
                assert (found and idna.encode(found, uts46=True).decode()) == want, url
    for ours, _ in PAIRS:
        want = [getattr(uri, ours)(url) for url in urls]
        assert getattr(bulk, ours)(urls) == want
        assert getattr(bulk, ours)([url.encode() for url in urls]) == [each and each.encode() for each in want]


@each_row(
    ("host", "domain"),
    [
        ("Y.x.ÅLESUND.No", "x.ålesund.no"),
        ("b.BU\u0308CHER\u3002xn--p1ai\uff61", "bücher.xn--p1ai"),
        ("a_É.example", "a_é.example"),  # no host name, but that is not asked
        ("\u2100.example", "\u2100.example"),  # it would become "a/c"
        ("\uff11.\uff12.\uff13.\uff14", None),  # an address
        ("é\u3002\uff0eexample", None),
        ("É" * 2100 + ".example", "É" * 2100 + ".example"),  # too long for a host
        ("x.%C3%85lesund.no", "%c3%85lesund.no"),
    ],
)
def test_hosts_beyond_ascii(host, domain):
    assert uri.registrable_domain(f"http://{host}/") == domain
    assert bulk.registrable_domain([f"http://{host}/"]) == [domain]


def test_all_rules():
    """Each of some rules, and each that is not a name only: itself, with labels before it, and what ends it."""
    listed = sorted(judge(True)._publicsuffix)
    special = [rule for rule in listed if rule[0] in "*!" or not rule.isascii() or "xn--" in rule]
    names = [rule.lstrip("*!").lstrip(".") for rule in [*listed[::23], *special]]
    same([before + name + after for name in names for before in ("", "a.", "b.a.", "c.b.a.") for after in ("", ".")])


def test_mixed_labels():
    for host in "a.公司.香港", "a.公司.xn--j6w193g", "a.xn--55qx5d.香港", "a.XN--55QX5D.xn--J6W193G":
        assert uri.registrable_domain(f"//b.{host}") == re.sub("[A-Z]", lambda found: found[0].lower(), host)


RULES = """// comment
zz and more
*.w.zz
!x.w.zz
\tindented.zz
*
// ===BEGIN PRIVATE DOMAINS===
p.zz
// ===END PRIVATE DOMAINS===
after.zz
"""


def test_files(tmp_path, monkeypatch):
    path = tmp_path / "list"
    path.write_text(RULES, "utf-8")
    rows = [f"//a.b.{name}" for name in ("zz", "q.w.zz", "x.w.zz", "indented.zz", "p.zz", "after.zz", "zx")]
    want = ["b.zz", "b.q.w.zz", "x.w.zz", "b.indented.zz", "p.zz", "b.after.zz", "b.zx"]
    for suffixes in path, str(path):
        assert bulk.registrable_domain(rows, suffixes=suffixes) == want
        assert [uri.registrable_domain(row, suffixes=suffixes) for row in rows] == want
    assert uri.public_suffix("//b.P.zz", private=True, suffixes=path) == "p.zz"
    path.write_text("com.zz\n", "utf-8")
    assert uri.registrable_domain("//a.com.zz", suffixes=path) == "a.com.zz"
    monkeypatch.setattr(builtins, "open", None)  # a list is read once
    assert uri.registrable_domain("//b.com.zz", suffixes=path) == "b.com.zz"


@pytest.mark.parametrize("rule", ["!zz", "a.*.zz", "a..zz", ".zz", "zz.", "!*.zz", "*.*.zz", ".".join("é" * 9)])
def test_wrong_rules(tmp_path, rule):
    path = tmp_path / "list"
    path.write_text(rule, "utf-8")
    with pytest.raises(ValueError, match=rf"rule '{re.escape(rule)}'"):
        uri.public_suffix("//a", suffixes=path)


def test_wrong_files(tmp_path):
    for function in uri.public_suffix, lambda url, **given: bulk.public_suffix([url], **given):
        with pytest.raises(FileNotFoundError):
            function("//a", suffixes=tmp_path / "none")
        for wrong in 5, b"list":
            with pytest.raises(TypeError):
                function("//a", suffixes=wrong)


def test_without_the_library(monkeypatch):
    monkeypatch.setattr(suffix_list, "_tables", {})
    monkeypatch.delitem(_suffixes.default_tables, False, raising=False)
    monkeypatch.setitem(sys.modules, "publicsuffixlist", None)
    with pytest.raises(ModuleNotFoundError, match="publicsuffixlist"):
        uri.public_suffix("//a")
    assert uri.host("//a") == "a"
    assert suffix_list.names_of(["a.é"], False) == {b"a.\xc3\xa9": 1, b"\xc3\xa9": 8, b"a.xn--9ca": 1, b"xn--9ca": 8}


def test_a_large_list(tmp_path):
    """Every name is found, however many there are, and no other one."""
    path = tmp_path / "list"
    path.write_text("".join(f"n{number}.zz\n" for number in range(0, 40_000, 2)), "utf-8")
    found = bulk.public_suffix([f"//n{number}.zz" for number in range(40_000)], suffixes=path)
    assert found == [f"n{number}.zz" if number % 2 == 0 else "zz" for number in range(40_000)]


@pytest.mark.parametrize("character", ["\xad", "\u200b", "\ufe0f"])
@pytest.mark.parametrize("count", [1, 60, 2000, 100_000])
def test_ignored_characters_do_not_count(tmp_path, character, count):
    """Lengths are those of the host that UTS 46 maps to."""
    path = tmp_path / "suffixes"
    path.write_text("co.zz\n")
    many = character * count
    for host in f"{many}www.evil.co.zz", f"www.ev{many}il\u3002co。zz{many}", f"wüw.evil.{many}co.zz":
        assert uri.registrable_domain(f"http://{host}/", suffixes=path) == "evil.co.zz"
        assert bulk.public_suffix([f"http://{host}/"], suffixes=path) == ["co.zz"]
