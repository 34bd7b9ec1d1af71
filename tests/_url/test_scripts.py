"""Hosts with host="safe": labels that mix scripts are A-labels."""

# ruff: noqa: RUF001 (ambiguous characters are what this is about)

from support.tables import each_row

from uricodec import bulk
from uricodec._url import _hosts
from uricodec._url._scripts import _NUMBERED, _TOGETHER, code_of, script_of
from uricodec.iri import uri_to_iri

SHOWN = [
    *("bücher.example", "việt-nam.vn", "αβγ-1.gr", "пример-2.рф", "דוגמה.קום", "مثال.إختبار", "ตัวอย่าง.ไทย", "ბანკი.გე"),
    *("日本語ドメイン.jp", "らーめん屋.jp", "東京Tower.jp", "한국語abc.kr", "ㄅㄆ漢字.tw", "ꮳꮃꭹ.example", "𐌰𐌱.example"),
    *("１２é.example", "hawaiʻi.example", "मराठी१२3.example", "l·l.example", "é。à.example", "b\u0301.example"),
]
HIDDEN = [
    *(
        "раураl.com",
        "аpple.com",
        "gοοgle.com",
        "раypal.example",
        "ρaypal.gr",
        "bücherи.de",
        "한グ.kr",
        "ㄅа.tw",
        "ㄅカ.tw",
    ),
    *("ㄅ한.kr", "ßж.example", "กà.example", "ⲁβ.example", "ꙗꮳ.example", "𐌰é.example", "aⷠ.example", "тест。аpple.рф"),
]


@each_row("host", SHOWN + HIDDEN)
def test_hosts(host):
    """Labels are shown in their own characters unless they mix scripts, whichever way they were written."""
    for written in host, _hosts.to_ascii(host), "".join(f"%{byte:02X}" for byte in host.encode()):
        text = f"http://{written}/é"
        made = uri_to_iri(text, host="safe")
        assert uri_to_iri(text.encode(), host="safe") == made.encode()
        assert bulk.uri_to_iri([text], host="safe") == [made]
        assert (made == uri_to_iri(text, host="unicode")) == (host in SHOWN)
        assert _hosts.to_ascii(made[7:-2]) == _hosts.to_ascii(host)
        assert uri_to_iri(made, host="safe") == made


def test_labels_by_themselves():
    safe = "http://xn--99zt52a.xn--pple-43d.XN--bcher-KVA.de"
    assert uri_to_iri(safe, host="safe") == "http://納豆.xn--pple-43d.bücher.de"
    assert uri_to_iri("http://納豆.аPPLE.Bücher.de", host="safe") == "http://納豆.xn--pple-43d.Bücher.de"
    assert uri_to_iri("http://納豆。аpple．l·l/", host="safe") == "http://納豆。xn--pple-43d．l·l/"


def test_scripts_of_characters():
    scripts = {"": "7-·\u0301\u3099", "HAN": "納々〇", "KATAKANA": "カー", "LATIN": "aéʻ", "ARABIC": "ب١۱"}
    scripts |= {
        "CYRILLIC": "ж\u2de0",
        "TAI LE": "ᥐ",
        "TAI THAM": "ᨠ",
        "OLD ITALIC": "𐌀",
        "HANGUL": "한",
        "BOPOMOFO": "ㄅ",
    }
    for script, characters in scripts.items():
        assert {script_of(character) for character in characters} == {script}
    assert script_of("\u0378") is None
    assert [code_of(character) for character in "7aカㄅ한жᥐ\u0378"] == [0, 7, 1, 2, 4, 8, 255, 255]
    assert 8 + len(_NUMBERED) < 255 and len(_TOGETHER) == 3
