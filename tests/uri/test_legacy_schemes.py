"""The schemes of RFC 1630: every row of tests/data/scheme_table.tsv, what is rejected and where, and hostile input."""

import ast
import inspect
import re
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from support.tables import each_row

from uricodec import uri
from uricodec.errors import UriSyntaxError
from uricodec.uri import legacy_schemes

TABLE = Path(__file__).parents[1] / "data" / "scheme_table.tsv"
ROWS = [line.split("\t") for line in TABLE.read_text("utf-8").splitlines()[1:]]
SCHEMES = sorted(legacy_schemes._SCHEMES)


def as_octets(value):
    """What bytes give where a str gives `value`; the names of keys and of kinds are ours, and stay str."""
    if isinstance(value, dict):
        return {key: item if key == "kind" else as_octets(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(as_octets(item) for item in value)
    return value.encode() if isinstance(value, str) else value


@each_row(("url", "expected"), [(row[1], ast.literal_eval(row[3])) for row in ROWS])
def test_row_of_the_table(url, expected):
    if "error" in expected:
        with pytest.raises(UriSyntaxError) as caught:
            legacy_schemes.parse(url)
        assert (caught.value.reason, url[caught.value.offset]) == (expected["error"], "%")
    else:
        assert legacy_schemes.parse(url) == expected
        assert list(legacy_schemes.parse(url)) == list(expected)
        assert legacy_schemes.parse(url.encode()) == as_octets(expected)


def test_every_scheme_of_the_table_has_a_row():
    schemes_of_rows = {row[0] for row in ROWS} - {"url:", "fxqn"}
    assert schemes_of_rows <= set(SCHEMES)
    assert set(SCHEMES) - schemes_of_rows == {"https", "tn3270"}


@each_row(
    ("url", "expected"),
    [
        # http
        ("HTTP://h", {"scheme": "http", "host": "h", "port": 80, "path": "", "search": None}),
        ("https://h", {"scheme": "https", "host": "h", "port": 443, "path": "", "search": None}),
        ("http://h:/?", {"scheme": "http", "host": "h", "port": 80, "path": "/", "search": [""]}),
        ("http://h:0080/", {"scheme": "http", "host": "h", "port": 80, "path": "/", "search": None}),
        ("http://[::1]:1/", {"scheme": "http", "host": "[::1]", "port": 1, "path": "/", "search": None}),
        ("http://1.2.3.4", {"scheme": "http", "host": "1.2.3.4", "port": 80, "path": "", "search": None}),
        ("http://h?a%2Bb+c", {"scheme": "http", "host": "h", "port": 80, "path": "", "search": ["a+b", "c"]}),
        (
            'http://h/"a"?"b"#"c"',
            {"scheme": "http", "fragment": '"c"', "host": "h", "port": 80, "path": '/"a"', "search": ['"b"']},
        ),
        ("http://%C3%A9.h", {"scheme": "http", "host": "é.h", "port": 80, "path": "", "search": None}),
        # ftp: RFC 1738 section 3.2.2
        ("ftp://myname@host.dom/%2Fetc/motd", {"user": "myname", "password": None, "cwd": ["/etc"], "file": "motd"}),
        ("ftp://myname@host.dom/etc/motd", {"cwd": ["etc"], "file": "motd"}),
        ("ftp://myname@host.dom//etc/motd", {"cwd": ["", "etc"], "file": "motd"}),
        # ... and 3.1
        ("ftp://@host.com/", {"user": "", "password": None}),
        ("ftp://host.com/", {"user": "anonymous", "password": None}),
        ("ftp://foo:@host.com/", {"user": "foo", "password": ""}),
        ("ftp://a%40b:c%3Ad:e@h/", {"user": "a@b", "password": "c:d:e"}),
        ("ftp://h", {"cwd": [], "file": None, "list_directory": True, "type": None}),
        ("ftp://h/a;type=d", {"cwd": [], "file": "a", "list_directory": True, "type": "D"}),
        ("ftp://h/a;type=a", {"file": "a", "list_directory": False, "type": "A"}),
        ("ftp://h/a%3Btype=i", {"file": "a;type=i", "type": None}),
        ("ftp://h/a/;type=I", {"cwd": ["a"], "file": None, "list_directory": True, "type": "I"}),
        ("ftp://h/a%00b%0D%0A", {"file": "a\0b\r\n"}),
        # gopher
        ("gopher://h/", {"gtype": "1", "selector": ""}),
        ("gopher://h/7/v2/vs?a%09b", {"gtype": "7", "selector": "/v2/vs?a\tb"}),
        ("gopher://h/%30a", {"gtype": "0", "selector": "a"}),
        # mailto
        ("mailto:a@b@c", {"local": "a@b", "host": "c"}),
        ("mailto:a%40b@c?subject=x%20y", {"local": "a@b", "host": "c", "query": "subject=x%20y"}),
        # news, nntp
        ("news:alt.2600", {"kind": "group", "group": ["alt", "2600"]}),
        ("news:comp.lang.c++", {"group": ["comp", "lang", "c++"]}),
        ("news:a/b:c;d=e@h", {"kind": "article", "local": "a/b:c;d=e", "host": "h"}),
        ("nntp://h/a.b/12", {"host": "h", "port": 119, "group": ["a", "b"], "article_number": 12}),
        ("nntp://h:1/a.b", {"port": 1, "group": ["a", "b"], "article_number": None}),
        # prospero
        ("prospero://host.dom//pros/name", {"port": 1525, "hsoname": "/pros/name", "version": None}),
        ("prospero://h/x%2F%3B;a=b%3D;c=", {"hsoname": "x/;", "fields": [("a", "b="), ("c", "")]}),
        ("prospero://h/x%007", {"hsoname": "x", "version": 7, "attributes": None}),
        # telnet, rlogin, tn3270
        ("telnet://h/", {"scheme": "telnet", "host": "h", "port": 23, "user": None, "password": None}),
        ("tn3270://u:p@h:1", {"scheme": "tn3270", "host": "h", "port": 1, "user": "u", "password": "p"}),
        # wais
        ("wais://h/db", {"scheme": "wais", "host": "h", "port": 210, "database": "db", "search": None}),
        ("wais://h/d%2Fb/T/1=a/b%3B;", {"database": "d/b", "wtype": "T", "wpath": [(1, "a/b;")]}),
        ("wais://h/d/T/2=a;1=;", {"wpath": [(2, "a"), (1, "")]}),
        # file, afs
        ("file://vms.host.edu/disk$user/my/note", {"host": "vms.host.edu", "path": ["disk$user", "my", "note"]}),
        ("file:/etc//a%2Fb/..", {"scheme": "file", "host": "localhost", "path": ["etc", "", "a/b", ".."]}),
        ("file:///", {"host": "localhost", "path": [""]}),
        ("afs://c/", {"scheme": "afs", "cell": "c", "path": [""]}),
        # mid, cid
        ("mid:a@%5B127.0.0.1%5D", {"id_left": "a", "id_right": "[127.0.0.1]"}),
        ("cid:%22a%20b%22@c", {"id_left": '"a b"', "id_right": "c"}),
        # what is not here
        ("x-a:", {"scheme": "x-a", "opaque": ""}),
        ("x://u@h:1/a?b#c", {"scheme": "x", "fragment": "c", "opaque": "//u@h:1/a?b"}),
        ("x:#", {"scheme": "x", "fragment": "", "opaque": ""}),
        # the prefix
        ("URL:X:a", {"scheme": "x", "prefixed": True, "opaque": "a"}),
    ],
)
def test_parses_each_scheme(url, expected):
    found = legacy_schemes.parse(url)
    assert {key: found[key] for key in expected} == expected
    if "scheme" in expected:
        assert found == expected


@each_row(
    ("url", "position"),
    [
        # no URI
        *[("", 0), ("a", 1), ("//h/a", 0), ("/a:b", 0), ("1a:b", 0), ("a_b:c", 1), ("url:", 4), ("url:a", 5)],
        *[("url:url:http://h", 4), ("url://h", 4), ("http:// h", 7), ("http://h/a b", 10), ("http://h/a\0", 10)],
        *[("http://h/\n", 9), ("http://h/é", 9), ("http://h/\ud800", 9), ("http://h/`", 9), ("http://h/<", 9)],
        *[("http://h/\\", 9), ("http://h/[", 9), ("http://h/%", 9), ("http://h/%4", 9), ("http://h/%u0041", 9)],
        *[("http://h/%%341", 9), ("url:x:%zz", 6)],
        # no host, no port, somebody else's host
        *[("http:", 5), ("http:/a", 5), ("http:h", 5), ("http://", 7), ("http:///a", 7), ("http://:80/", 7)],
        *[("ftp://u@/a", 8), ("http://h:99999/", 9), ("http://h:65536/", 9), ("http://h:" + "9" * 5000, 9)],
        *[("http://u@h/", 7), ("http://h%00/", 8), ("http://h%2Fa/", 8), ("ftp://h%40a/", 7)],
        # ftp
        *[("ftp://h/a;b", 9), ("ftp://h/a;type=", 9), ("ftp://h/a;type=x", 9), ("ftp://h/a;type=IA", 9)],
        *[("ftp://h/a;type=I/b", 9), ("ftp://h/a?b", 9)],
        # gopher
        *[("gopher://h?a", 10), ("gopher://u@h/", 9)],
        # mailto, news, mid, cid
        *[("mailto:", 7), ("mailto:a", 8), ("mailto:@h", 7), ("mailto:a@", 9), ("mailto:a@h/b", 10)],
        *[("mailto:a@h:25", 10), ("mailto:a@h%2Fb", 10), ("mailto:a@%00", 9), ("mailto://a@h", 7), ("news:", 5)],
        *[("news:2600", 5), ("news:a..b", 7), ("news:a.", 7), ("news:a/b", 6), ("news:a?b", 6), ("news://h/a", 5)],
        *[("news:a@", 7), ("mid:a", 5), ("mid:a@", 6), ("mid:a@b/c@d", 7), ("cid://a@b", 4)],
        # nntp
        *[("nntp:a.b", 8), ("nntp:a.b/", 9), ("nntp:a.b/x", 9), ("nntp:a.b/1x", 10), ("nntp:a.b/" + "1" * 5000, 9)],
        *[("nntp:/1", 5), ("nntp://h", 8), ("nntp://h/", 9), ("nntp://h/a/1/2", 12)],
        # prospero
        *[("prospero://h", 12), ("prospero://h/x%00", 17), ("prospero://h/x%00a", 17), ("prospero://h/x%001-", 18)],
        *[("prospero://h/x%001%00", 18), ("prospero://h/x;a", 16), ("prospero://h/x?a", 14)],
        # telnet, rlogin, tn3270
        *[("telnet:h", 7), ("telnet://h/a", 11), ("rlogin://h//", 11), ("tn3270://h?a", 10)],
        # wais
        *[("wais://h", 8), ("wais://h/", 9), ("wais://h/d/T", 12), ("wais://h/d//1=a;", 11), ("wais://h/d/T/", 13)],
        *[("wais://h/d/T/1=a", 16), ("wais://h/d/T/a;", 14), ("wais://h/d/T/a=b;", 13), ("wais://h/d/T/=b;", 13)],
        *[("wais://h/d/T/;", 13), ("wais://h/d/T/1=a;?b", 17)],
        # file, afs
        *[("file:", 5), ("file:a", 5), ("file://h", 8), ("file://h:1/", 8), ("file://u@h/", 7), ("file:///a?b", 9)],
        *[("afs:c", 4), ("afs:///a", 6), ("afs://c", 7), ("afs://c:1/a", 7)],
    ],
)
def test_rejects_at_an_offset(url, position):
    with pytest.raises(UriSyntaxError) as caught:
        legacy_schemes.parse(url)
    assert (caught.value.offset, caught.value.input) == (position, url)
    if url.isascii():
        with pytest.raises(UriSyntaxError) as caught:
            legacy_schemes.parse(bytearray(url.encode()))
        assert caught.value.offset == position


@pytest.mark.parametrize(
    ("url", "position"),
    [("ftp://h/a/%41%FF", 13), ("ftp://h/%C3/%A9", 8), ("url:mailto:%80@h", 11), ("http://h/?a+%C0%AF", 12)],
)
def test_a_str_holds_utf8(url, position):
    with pytest.raises(UriSyntaxError) as caught:
        legacy_schemes.parse(url)
    assert (caught.value.offset, caught.value.reason) == (position, "invalid UTF-8")
    legacy_schemes.parse(url.encode())


def test_bytes_need_not_be_utf8():
    """Triplets stand for ISO Latin 1 in RFC 1630."""
    found = legacy_schemes.parse(b"file:///caf%E9/%00")
    assert found == {"scheme": b"file", "host": b"localhost", "path": [b"caf\xe9", b"\0"]}
    assert legacy_schemes.parse(b"ftp://h/")["user"] == b"anonymous"
    assert legacy_schemes.parse(memoryview(b"gopher://h"))["gtype"] == b"1"
    with pytest.raises(UriSyntaxError) as caught:
        legacy_schemes.parse(b"file:///caf\xe9")
    assert caught.value.offset == 11


def test_other_types():
    class Text(str):
        def __str__(self):
            return "no"

        def replace(self, *_):
            return "no"

    assert legacy_schemes.parse(Text("x:a")) == {"scheme": "x", "opaque": "a"}
    for wrong in None, 5, ["http://h"]:
        with pytest.raises(TypeError):
            legacy_schemes.parse(wrong)


@each_row("scheme", SCHEMES)
def test_normal_forms_assume_the_same_ports(scheme):
    for path in "", "/a", "/a/T/1=b;":
        try:
            port = legacy_schemes.parse(f"{scheme}://h{path}").get("port")
        except UriSyntaxError:
            continue
        for other in {80, 443, 21, 70, 119, 1525, 23, 210, port} - {None}:
            kept = uri.normalize(f"{scheme}://h:{other}/", level="scheme") != f"{scheme}://h/"
            assert kept == (other != port)


def test_the_docstring_names_the_keys_of_every_scheme():
    lines = re.findall(r"^ {8}(\w[\w ,]*): (.*)", inspect.getdoc(legacy_schemes.parse), re.MULTILINE)
    keys = {name: described for names, described in lines for name in names.replace("and ", "").split(", ")}
    assert set(SCHEMES) < set(keys)
    for _, url, _, found, _ in ROWS:
        for key in (ast.literal_eval(found)).keys() - {"scheme", "prefixed", "fragment", "error"}:
            assert re.search(rf"\b{key}\b", keys[ast.literal_eval(found)["scheme"]]), url


# --- hostile input ----------------------------------------------------------------------------------------------------

PIECES = [
    *("//", "/", "?", "#", "@", ":", ";", "=", "+", "%", "%2F", "%00", "%C3%A9", "%ff", ";type=I", "[::1]", "1"),
    "99999",
]
PIECES += ["a", ".", "..", "h", "*", '"', "[", "]", " ", "\0", "\\", "é", "\ud800", "1=a;"]
TEXTS = st.one_of(
    st.text(),
    st.builds(
        lambda prefix, scheme, pieces: f"{prefix}{scheme}:{''.join(pieces)}",
        st.sampled_from(["", "url:", "URL:", " "]),
        st.sampled_from([*SCHEMES, "x", "", "1"]),
        st.lists(st.sampled_from(PIECES), max_size=12),
    ),
)


@given(TEXTS)
@example("http://h:" + "9" * 10000)
@example("wais://h/d/T/" + "9" * 10000 + "=;")
def test_nothing_but_a_dict_or_a_syntax_error(text):
    for given_, items in (text, len(text)), (octets := text.encode("utf-8", "surrogatepass"), len(octets)):
        try:
            found = legacy_schemes.parse(given_)
        except UriSyntaxError as error:
            assert 0 <= error.offset <= items
            assert error.input is given_
        else:
            assert type(found) is dict
            assert type(found["scheme"]) is type(given_)


@given(st.lists(st.text(min_size=1), min_size=1), st.text(min_size=1))
def test_decodes_encoded_parts(directories, name):
    """Reserved delimiters split, and their triplets do not."""
    from uricodec import quote

    try:
        path = "/".join(quote(part, safe="") for part in [*directories, name])
    except UnicodeEncodeError:
        return
    found = legacy_schemes.parse(f"ftp://h/{path};type=L8")
    assert (found["cwd"], found["file"], found["type"]) == (directories, name, "L8")
    assert legacy_schemes.parse(f"file:///{path}")["path"] == [*directories, name]
    fields = "".join(f"{number}={quote(part, safe='')};" for number, part in enumerate(directories))
    assert legacy_schemes.parse(f"wais://h/d/T/{fields}")["wpath"] == list(enumerate(directories))


@pytest.mark.slow
@each_row("unit", ["../", "%41", "/", "&", "a@", ".a"])
@each_row("scheme", ["http://h/", "ftp://h/", "file:///", "news:a", "mailto:a@", "gopher://h/1", "x:"])
def test_long_urls(scheme, unit):
    n = (1 << 16) // len(unit)
    try:
        found = legacy_schemes.parse(scheme + unit * n)
    except UriSyntaxError:
        assert scheme in {"news:a", "mailto:a@"}
    else:
        assert found["scheme"] == scheme.split(":", maxsplit=1)[0]
