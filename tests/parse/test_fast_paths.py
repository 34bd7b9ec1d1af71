"""Which calls of the drop-in are compiled, and which reach the function of the standard library."""

import codecs
import collections
import contextlib
import re

import pytest

from uricodec import parse
from uricodec.parse import _stdlib as stdlib

FAST = """
quote("a b") quote(b"a b") quote(bytearray(b"a b")) quote("a b", b"/") quote_plus("a b", safe="+")
quote("\\xe9", encoding="latin-1") quote("\\ud800", errors="replace") quote(Text("a"))
quote_from_bytes(b"a b") unquote("%41") unquote("%FF", errors="surrogateescape") unquote(b"%41")
unquote("%41", errors="mine") unquote_plus("%41", errors="mine") parse_qsl("a=%41", errors="mine")
unquote("%41", "latin-1") unquote("%E9", "windows-1252") unquote(Text("%41")) unquote_plus("%41", "latin-1")
unquote_plus("a+b") unquote_to_bytes("%41") unquote_to_bytes(b"%41") parse_qsl("a=b&c=%41") parse_qsl(b"a=b")
parse_qsl("a=%E9", encoding="latin-1") parse_qs("a=b;c", separator=";") parse_qs(bytearray(b"a=b"))
parse_qsl("a=b&&c=d", separator="&&")
urlencode({"a": 1}) urlencode((("a", None),)) urlencode(Other(a="b")) urlencode({"a": Text("b")})
urlencode({"a": "b"}, encoding="utf-8") urlencode({"a": "\\xe9"}, encoding="latin-1") urlencode({"a": object()})
urlencode([("a", b"b"), ("c", 1.5), ("d", True)]) urlencode({"a": [1, "b"], "c": (2,)}, doseq=True)
urlsplit("http://h/a?b#c") urlparse("//h/a;b") urldefrag("http://h/a?b#c") urljoin("http://h/a/b", "../c")
urlsplit(b"http://h") urlsplit(Text("http://h")) urlsplit("http://[::1]/") urlsplit("http://[v1.a]:80")
urlsplit("http://\\xe9/") urlsplit("//h", "http") urldefrag("http://h/a;b#c") urlparse(b"http://h;a")
urljoin(b"http://h", b"a") urljoin("http://h/\\xe9", "a") urljoin("http://h/a;b", "c;d") urljoin(Text("http://h"), "a")
urlunsplit(("http", "h", "/a", "b", "c")) urlunsplit(urlsplit("http://h/a")) urlunsplit((b"http", b"h", b"", b"", b""))
urlunparse(["http", "h", "/a", "", "b", "c"]) urlunparse(("http", "h", "/a", None, "b", None))
urlunsplit((b"http", b"h", b"/a", None, None)) urlsplit("http://h/a\\tb") urlsplit(b" http://h") urlparse("\\n\xe9")
urljoin(" http://h", "a\\n") urljoin(b"http://h", b"\\r/a") unquote("%E9", "koi8-r") quote("\\xe9", encoding="cp932")
parse_qsl("a=%E9", encoding="shift_jis") parse_qsl("", errors="no such")
urldefrag("http://h/\\ta#b") urldefrag(b" http://h/a#b")
"""
SLOW = """
unquote("%FF", errors="mine") unquote_plus("%FF", errors="mine") parse_qsl("a=%FF", errors="mine")
quote("a", errors="mine") unquote("%41", "utf-16") quote("a", encoding="utf-16") quote(Loud("a"))
parse_qsl(b"a=b&&c=d", separator=b"&&") urlencode({"a": "b"}, quote_via=lambda *args: "x")
urlencode(Text("")) urlsplit("http://[::1]x/")
urldefrag("http://h/a?#c") urldefrag("http://h/a;#c") urldefrag("HTTP://h/a#c")
urlunsplit(("http", None, "/a", "", "")) urlunsplit(("", "", "//a", "", "")) urljoin("http://h/a", "http:")
urljoin("http://h", "a/" * 129)
"""


def calls(text):
    return re.split(r"(?<=\))\s+(?=\w+\()", text.strip())


@pytest.fixture
def calls_of_the_stdlib(monkeypatch):
    """The functions of urllib.parse that the drop-in calls."""
    seen = []
    for name in stdlib.FAST:
        original = getattr(stdlib, name)
        spy = lambda *args, original=original, **options: seen.append(original) or original(*args, **options)  # noqa: E731
        monkeypatch.setattr(stdlib, name, spy)
    return seen


@pytest.mark.parametrize(("text", "compiled"), [(FAST, True), (SLOW, False)], ids=["compiled", "stdlib"])
def test_calls_take_the_path_that_the_page_names(text, compiled, calls_of_the_stdlib):
    """The table of docs/guides/drop_in.md, "What is compiled"."""
    codecs.register_error("mine", codecs.strict_errors)
    loud = type("Loud", (str,), {"encode": lambda *_: b"loud"})
    names = {"Text": type("Text", (str,), {}), "Loud": loud, "Other": collections.UserDict}
    for call in calls(text):
        calls_of_the_stdlib.clear()
        with contextlib.suppress(ValueError, TypeError):
            eval(call, vars(parse) | names)
        assert (not calls_of_the_stdlib) == compiled, call
