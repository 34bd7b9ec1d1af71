"""`uricodec.install()`: the fast functions in `urllib.parse` itself, and out again."""

import inspect
import itertools
import subprocess
import sys
import urllib.parse
import urllib.request
from urllib.parse import quote as taken_before

import pytest

import uricodec
from uricodec import parse
from uricodec.parse import _stdlib as stdlib

NAMES = (*stdlib.FAST, "clear_cache")
ORIGINALS = {name: getattr(urllib.parse, name) for name in NAMES}
ARGUMENTS = [
    "", "a b", "a%20b%41", "\xe9\u20ac%C3%A9", "\ud800", b"", b"a b%41", b"\xff", bytearray(b"a%41"),
    memoryview(b"a=1"), None, 0, 5, [], (), {},
    "http://u@h:80/a/b;c?d=e&f=%20#g", "HTTP://h?#", "//\u2100/", "http://[::1]x/", "1a:b", " http://h\t/",
    b"http://h/a;b?c#d", "../c?d", "x:y",
    {"a": "b c", "d": 1}, {"a": [1, "b"]}, [("a", "\xe9")], [("a", object)], ("http", "h", "p", "q", "f"), ("http", "",
                                                                                                            "//p", "x",
                                                                                                            "q", "f"),
                                                                                                            ["", "", "",
                                                                                                             "", None],
    (b"http", b"h", b"p", b"q", b"f"), urllib.parse.urlsplit("http://h/a?b#c"),
    urllib.parse.urlparse("http://h/a;p?b#c"),
]  # fmt: skip


@pytest.fixture(autouse=True)
def clean():
    yield
    uricodec.uninstall()
    assert {name: getattr(urllib.parse, name) for name in NAMES} == ORIGINALS


def outcome(function, *arguments):
    try:
        result = function(*arguments)
    except Exception as error:
        return type(error), error.args if isinstance(error, UnicodeError) else None
    return type(result), repr(result)


def installed():
    """All of them, or none."""
    states = {getattr(urllib.parse, name) is getattr(parse, name) for name in NAMES}
    assert len(states) == 1
    return states.pop()


def test_install_and_uninstall():
    assert not installed()
    uricodec.install()
    assert installed()
    for name in stdlib.FAST:
        assert getattr(urllib.parse, name).__module__ == "uricodec.parse"
    uricodec.uninstall()
    assert not installed()


def test_uninstall_without_install():
    uricodec.uninstall()
    assert not installed()


def test_install_twice():
    uricodec.install()
    uricodec.install()
    assert installed()
    uricodec.uninstall()
    assert not installed()


def test_context_manager():
    with uricodec.install() as manager:
        assert manager is not None
        assert installed()
        assert urllib.parse.quote("a b") == "a%20b"
    assert not installed()


def test_nested():
    with uricodec.install():
        with uricodec.install():
            assert installed()
        assert installed()
    assert not installed()


def test_context_manager_inside_a_plain_install():
    uricodec.install()
    with uricodec.install():
        assert installed()
    assert installed()


def test_exception_inside():
    with pytest.raises(ZeroDivisionError), uricodec.install():
        assert installed()
        raise ZeroDivisionError
    assert not installed()


def test_uninstall_inside():
    with uricodec.install():
        uricodec.uninstall()
        assert not installed()
    assert not installed()


def test_again_and_again():
    for _ in range(50):
        with uricodec.install():
            assert installed()
        assert not installed()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("name", stdlib.FAST)
def test_equal_to_the_originals(name):
    """Fallbacks run the stdlib's functions, whose calls of one another now find the fast ones: no recursion."""
    expected = [outcome(ORIGINALS[name], a) for a in ARGUMENTS]
    expected += [outcome(ORIGINALS[name], a, b) for a, b in itertools.product(ARGUMENTS, repeat=2)]
    with uricodec.install():
        assert getattr(urllib.parse, name) is getattr(parse, name)
        results = [outcome(getattr(urllib.parse, name), a) for a in ARGUMENTS]
        results += [outcome(getattr(urllib.parse, name), a, b) for a, b in itertools.product(ARGUMENTS, repeat=2)]
        assert results == expected
        # The originals work on, too.
        assert [outcome(ORIGINALS[name], a) for a in ARGUMENTS] == expected[: len(ARGUMENTS)]
    assert [outcome(getattr(urllib.parse, name), a) for a in ARGUMENTS] == expected[: len(ARGUMENTS)]


def test_shallow_stack():
    """A fallback needs a few frames, not many."""
    calls = [
        lambda: urllib.parse.urljoin("http://[::1]/a;p?", "../b;q?"),
        lambda: urllib.parse.parse_qs(b"a=%41", True),
        lambda: urllib.parse.unquote_plus("%41", "latin-1"),
        lambda: urllib.parse.quote_plus("a b", "", "latin-1"),
        lambda: urllib.parse.urldefrag("HTTP://\xe9/?#"),
        lambda: urllib.parse.urlencode({"a": "b"}, True, "", "ascii"),
        lambda: urllib.parse.urlunparse((b"http", b"h", b"p", b"", b"", b"")),
        lambda: urllib.parse.urlparse(" http://h"),
        urllib.parse.clear_cache,
    ]
    deepest = 0

    def watch(frame, event, argument):
        nonlocal deepest
        deepest = max(deepest, len(inspect.stack(0)))

    base = len(inspect.stack(0))
    with uricodec.install():
        for call in calls:
            old = sys.getprofile()
            sys.setprofile(watch)
            try:
                call()
            finally:
                sys.setprofile(old)
    assert deepest - base < 20


def test_modules_that_took_a_function_before_keep_it():
    with uricodec.install():
        assert taken_before is ORIGINALS["quote"]
        assert urllib.parse.quote is not taken_before
        assert urllib.request.quote is ORIGINALS["quote"]
        from urllib.parse import quote as taken_now

        assert taken_now is parse.quote
    assert taken_before("a b") == taken_now("a b") == "a%20b"


def test_the_drop_in_does_not_change():
    before = {name: getattr(parse, name) for name in NAMES}
    with uricodec.install():
        assert {name: getattr(parse, name) for name in NAMES} == before
        assert parse._splituser is urllib.parse._splituser
        assert parse.unquote("%E9", "latin-1") == "\xe9"


def test_results_of_both_sides():
    with uricodec.install():
        result = urllib.parse.urlsplit("http://h/a?b#c")
        assert result.geturl() == "http://h/a?b#c"
        assert urllib.parse.urlparse(b"http://h/a;p?b#c").geturl() == b"http://h/a;p?b#c"
        assert urllib.parse.urlsplit("http://h/a")._replace(path="b").geturl() == "http://h/b"
        urllib.parse.clear_cache()
    assert result == urllib.parse.urlsplit("http://h/a?b#c")


def test_import_order_does_not_matter():
    """The originals are those of the stdlib, even if uricodec.parse is first imported after install()."""
    code = f"""if True:
        import sys
        sys.path[:] = {sys.path!r}
        import urllib.parse as u
        old = u.unquote
        import uricodec
        uricodec.install()
        import uricodec.parse as p
        assert u.unquote is p.unquote is not old
        assert u.unquote("%E9", "latin-1") == chr(0xE9)
        uricodec.uninstall()
        assert u.unquote is old
        assert p.unquote("%E9", "latin-1") == chr(0xE9)
    """
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
