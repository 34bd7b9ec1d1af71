"""`uricodec.install()`: the fast functions in `urllib.parse` itself, and out again."""

import inspect
import itertools
import subprocess
import sys
import urllib.parse
import urllib.request
from urllib.parse import quote as taken_before

import pytest
from support.tables import each_row

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
@each_row("name", stdlib.FAST)
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


@pytest.mark.slow
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


# --- attributes of results --------------------------------------------------------------------------------------------

ATTRIBUTES = "hostname", "port", "username", "password", "geturl"
CLASSES = "SplitResult", "ParseResult", "SplitResultBytes", "ParseResultBytes"
NETLOCS = [
    *["", "h", "H.Example", "h:80", "h:", ":80", ":", "@", "u@", "u@h", "u:p@H:65535", "u:p:q@h:65536", "a@b@c", ":@h"],
    *("[::1]", "[::1]:80", "[FE80::1%EN0]:80", "[::1", "::1]", "[]:1", "u@[::1]:8", "x[::1]:8", "[v1.X]:"),
    "[a[b]c]d:1",
    *("h:0", "h:00080", "h:+80", "h:-1", "h: 80", "h:8 0", "h:1_0", "h:8x", "h:9" * 9, "h:" + "9" * 30, "h%2F:1"),
    "%H%Z",
    *["\xe9\xc9:80", "\u0130", "\u20ac@\u20ac", "h:\u0661", "u\xe9:\u20ac@h", "\U0001f600@[::1]:5", "h\xe9%\xc9"],
]


def described(result, name):
    value = outcome(getattr, result, name) if name != "geturl" else outcome(result.geturl)
    return name, value


def shapes():
    """Results with every netloc, of all classes, of a class that derives from one, and with items that are none."""
    derived = type("Derived", (urllib.parse.SplitResult,), {"_hostinfo": ("other", "1")})
    for netloc in NETLOCS:
        yield urllib.parse.SplitResult("http", netloc, "/p", "q", "f")
        yield urllib.parse.ParseResult("http", netloc, "p", "a", "q", "f")
        yield derived("http", netloc, "/p", "q", "f")
        octets = netloc.encode()
        yield urllib.parse.SplitResultBytes(b"http", octets, b"/p", b"q", b"f")
        yield urllib.parse.ParseResultBytes(b"", octets, b"//p", b"", b"q", b"")
    for netloc in (None, 5, bytearray(b"h:1"), type("Text", (str,), {"rpartition": lambda *_: ("", "", "x:9")})("h:1")):
        yield urllib.parse.SplitResult("http", netloc, "p", "", "")
        yield urllib.parse.ParseResultBytes(b"http", netloc, b"p", b"", b"", b"")


def test_attributes_of_results():
    expected = [[described(result, name) for name in ATTRIBUTES] for result in shapes()]
    with uricodec.install():
        assert [[described(result, name) for name in ATTRIBUTES] for result in shapes()] == expected
    assert [[described(result, name) for name in ATTRIBUTES] for result in shapes()] == expected


def test_attributes_are_those_of_before():
    def static():
        return [(c, n, inspect.getattr_static(getattr(urllib.parse, c), n)) for c in CLASSES for n in ATTRIBUTES]

    before = static()
    with uricodec.install():
        for (_, name, now), (_, _, original) in zip(static(), before, strict=True):
            assert now is not original and now.__doc__ == original.__doc__
            assert isinstance(now, property) == isinstance(original, property) == (name != "geturl")
        assert urllib.parse.SplitResult.geturl.__name__ == "geturl"
    assert static() == before


# --- modules that took a function by name -----------------------------------------------------------------------------


def test_rebind():
    module = sys.modules["uricodec_rebound"] = type(sys)("uricodec_rebound")
    module.quote, module.own = urllib.parse.quote, urllib.parse.urlsplit
    try:
        with uricodec.install(rebind=True) as installed:
            assert module.quote is parse.quote and urllib.request.quote is parse.quote and taken_before is parse.quote
            assert {"uricodec_rebound.quote", f"{__name__}.taken_before", "urllib.parse.quote"} <= {*installed.replaced}
            assert any(name.endswith("SplitResult.geturl") or "geturl" in name for name in installed.replaced)
            assert f"{len(installed.replaced)} replaced" in repr(installed)
            assert parse._stdlib.quote is ORIGINALS["quote"]
            module.own = assigned = object()
        assert module.quote is taken_before is urllib.request.quote is ORIGINALS["quote"]
        assert module.own is assigned
    finally:
        del sys.modules["uricodec_rebound"]


def test_rebind_after_a_plain_install():
    uricodec.install()
    assert urllib.request.quote is ORIGINALS["quote"]
    with uricodec.install(rebind=True) as installed:
        assert "urllib.request.quote" in installed.replaced and "urllib.parse.quote" in installed.replaced
    assert urllib.request.quote is parse.quote  # only the first one uninstalls
    uricodec.uninstall()
    assert urllib.request.quote is ORIGINALS["quote"]


def test_rebind_does_not_load_lazy_modules():
    class Lazy(type(sys)):
        def __getattribute__(self, name):
            raise AssertionError(name)

    class Pretender:
        __slots__ = ()
        __class__ = type(sys)

    sys.modules["uricodec_lazy"], sys.modules["uricodec_pretender"] = Lazy("uricodec_lazy"), Pretender()
    try:
        with uricodec.install(rebind=True):
            pass
    finally:
        del sys.modules["uricodec_lazy"], sys.modules["uricodec_pretender"]


class Odd(type(sys)):
    """A module whose own code raises an exception, from the first time that it is told to."""

    raises = ()

    def __setattr__(self, name, value):
        if "set" in self.raises:
            raise RuntimeError(name)
        super().__setattr__(name, value)

    def __getattribute__(self, name):
        if "get" in object.__getattribute__(self, "raises"):
            raise RuntimeError(name)
        return super().__getattribute__(name)


class WithoutDict(type(sys)):
    @property
    def __dict__(self):
        raise RuntimeError("__dict__")


@pytest.mark.parametrize("place", ["first", "last"])
def test_rebind_skips_modules_that_raise(place):
    """All other modules are rebound and restored, whether they come before or after."""
    modules = {"uricodec_a": type(sys)("a"), "uricodec_set": Odd("set"), "uricodec_b": type(sys)("b")}
    modules |= {"uricodec_dict": WithoutDict("dict"), "uricodec_nameless": type(sys)("c")}
    for name, module in modules.items():
        if name != "uricodec_dict":
            module.quote, module.urljoin = urllib.parse.quote, urllib.parse.urljoin
    del modules["uricodec_nameless"].__name__
    modules["uricodec_set"].raises = ("set",)
    before = dict(sys.modules)
    sys.modules.clear()
    sys.modules.update(modules | before if place == "first" else before | modules)
    others = [module for name, module in modules.items() if name not in {"uricodec_set", "uricodec_dict"}]
    try:
        with uricodec.install(rebind=True) as installed:
            assert {*installed.skipped} == {"uricodec_set", "uricodec_dict"}
            assert repr(installed).endswith("replaced, 2 modules skipped>")
            assert all(module.quote is parse.quote and module.urljoin is parse.urljoin for module in others)
            assert "uricodec_nameless.quote" in installed.replaced and "uricodec_set.quote" not in installed.replaced
            assert urllib.request.quote is parse.quote
        assert all(module.quote is ORIGINALS["quote"] for module in others)
        assert urllib.request.quote is urllib.parse.quote is ORIGINALS["quote"]
    finally:
        uricodec.uninstall()
        for name in modules:
            del sys.modules[name]


@pytest.mark.parametrize("how", ["set", "get"])
def test_uninstall_goes_on_after_a_module_that_raises(how):
    modules = {"uricodec_a": type(sys)("a"), "uricodec_odd": Odd("odd"), "uricodec_b": type(sys)("b")}
    for module in modules.values():
        module.quote = urllib.parse.quote
    sys.modules.update(modules)
    try:
        with uricodec.install(rebind=True) as installed:
            assert installed.skipped == () and modules["uricodec_odd"].quote is parse.quote
            Odd.raises = (how,)
        Odd.raises = ()
        assert modules["uricodec_odd"].quote is parse.quote
        assert modules["uricodec_a"].quote is modules["uricodec_b"].quote is urllib.parse.quote is ORIGINALS["quote"]
    finally:
        Odd.raises = ()
        for name in modules:
            del sys.modules[name]


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
