"""No class of the package can crash the interpreter, however its objects are made and used; see misuse.py."""

import importlib
import inspect
import io
import os
import pkgutil
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

import pytest
from support import misuse

import uricodec
from uricodec import bulk, dedup, iri, logs, uri, urn
from uricodec._base._fingerprint import FingerprintKey
from uricodec._codec._rows import EncodeRows
from uricodec._rows._arrow import Array, Type
from uricodec._rows._columns import ColumnWork
from uricodec._rows._lists import ListWork
from uricodec._rows._tasks import Plan
from uricodec.dedup import Deduplicator
from uricodec.dedup._identifiers import ColumnBatch
from uricodec.errors import UriError
from uricodec.urn import conversions
from uricodec.urn._rows import CheckUrnRows

# What is not imported, and is in Python: programs. What needs Java.
LEFT_OUT = ("uricodec.__main__", "uricodec.cli", "uricodec.integrations.spark")


def rooms():
    """Return the names of all modules, by their folders."""
    found = {}
    for module in pkgutil.walk_packages(uricodec.__path__, "uricodec."):
        try:
            there = importlib.import_module(module.name)
            if not module.name.startswith(LEFT_OUT) and (misuse.classes(there) or misuse.is_compiled(there)):
                found.setdefault(".".join(module.name.split(".")[:2]), []).append(module.name)
        except ModuleNotFoundError as error:  # of an extra
            assert not error.name.startswith("uricodec"), error
    return found


ROOMS = rooms()


@pytest.mark.long
@pytest.mark.parametrize("room", ROOMS)
def test_classes_and_functions(room, tmp_path):
    path = str(Path(uricodec.__file__).parent.parent)
    program = f"import sys; sys.path.insert(0, {path!r}); from support import misuse; misuse.main(*{ROOMS[room]!r})"
    command = [sys.executable, "-X", "faulthandler", "-c", program]
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        cwd=tmp_path,
        timeout=300,
        env={**os.environ, "PYTHONPATH": str(Path(misuse.__file__).parent), "PATH": ""},
    )
    last = done.stdout.decode().splitlines()[-1:]
    assert (done.returncode, last) == (0, ["survived"]), done.stderr.decode()[-3000:]


# --- objects that are put together wrongly ----------------------------------------------------------------------------


def test_columns_have_arrays_of_their_type():
    with pytest.raises(TypeError):
        bulk.Column.__new__(bulk.Column)
    text, views = bulk.quote(column_of("u")), bulk.quote(column_of("vu"))
    again = bulk.Column(text.type, text.arrays * 2)
    assert len(again) == 2 * len(text)
    for type_, arrays in [
        (Type(b"U"), text.arrays),
        (views.type, text.arrays),
        (text.type, [*text.arrays, *views.arrays]),
        (Type(b"+s", b"", (text.type,)), text.arrays),
        (Type(b"i", b"", (), text.type), text.arrays),
        (Type(b"+s", b"", (text.type,)), [Array()]),
        (text.type, [None]),
        (text.type, ["u"]),
        (None, text.arrays),
        (text.type, None),
    ]:
        with pytest.raises(TypeError):
            bulk.Column(type_, arrays)
    empty = bulk.Column(text.type, [Array(), *text.arrays, Array()])
    assert len(empty) == len(text)
    empty.__arrow_c_array__()
    with pytest.raises(ValueError, match="too few buffers for its format: 0"):
        bulk.quote(empty)
    text.arrays.clear()
    assert len(text) == len(again) // 2
    for arguments in [(None,), (b"u", None), (b"u", b"", (None,)), (b"u", b"", ("u",)), (b"u", b"", (), b"u")]:
        with pytest.raises(TypeError):
            Type(*arguments)


def column_of(format_):
    pa = pytest.importorskip("pyarrow")
    return pa.array(["a b", None, "c" * 30], {"u": pa.string(), "vu": pa.string_view()}[format_])


@pytest.mark.parametrize("make", [lambda _: None, lambda _: "plan", lambda _: EncodeRows(uricodec.ByteSet())])
def test_rejects_makers_of_other_things(make):
    with pytest.raises(TypeError):
        ListWork(make, "keep", None)
    with pytest.raises(TypeError):
        ColumnWork(make, "keep", None, 1).lines(b"a\n", b"\n")
    with pytest.raises(TypeError):
        ColumnWork(make, "keep", None, 1).column(column_of("u"))


@pytest.mark.parametrize("kind", ["struct", "component", "verdict", "diagnostic"])
def test_results_that_an_operation_does_not_have(kind):
    with pytest.raises(ValueError, match=f"does not support results of kind '{kind}'"):
        Plan(EncodeRows(uricodec.ByteSet()), kind)


def test_an_operation_without_bytes_makes_no_names():
    with pytest.raises(ValueError, match="expected an operation that writes bytes"):
        ColumnBatch(CheckUrnRows(), FingerprintKey("k"))


@pytest.mark.skipif(sys.version_info < (3, 12), reason="classes in Python cannot lend buffers")
def test_a_buffer_that_is_refused():
    class Refusing:
        def __buffer__(self, _flags):
            raise RuntimeError("busy")

    with pytest.raises(RuntimeError, match="busy"):
        bulk.quote([b"a", Refusing()])


def test_an_operation_cannot_be_changed():
    """Its room is asked for once: what grew after that would be written past the end."""
    rows = EncodeRows(uricodec.ByteSet(b"a"))
    before = rows.capacity(100)
    rows.__init__(uricodec.ByteSet(b"a"), False, "replace")
    assert rows.capacity(100) == before


# --- calls from within calls, and calls after the end -----------------------------------------------------------------


class Reentering:
    """A column of Arrow that calls somebody when it is read."""

    def __init__(self, column, call):
        self.column, self.call, self.said = column, call, []

    def __arrow_c_stream__(self, requested_schema=None):
        try:
            self.said.append(self.call())
        except (RuntimeError, ValueError) as error:
            self.said.append(error)
        return self.column.__arrow_c_stream__()


def test_a_deduplicator_that_is_used_while_it_reads():
    column = bulk.quote(column_of("u"))
    for call in [
        lambda names: names.add(column),
        lambda names: names.finish(),
        lambda names: names.close(),
        lambda names: (names.count, names.rows),
    ]:
        with Deduplicator(kind="bytes") as names:
            source = Reentering(column, lambda names=names, call=call: call(names))
            with suppress(RuntimeError, ValueError):
                names.add(source)
            assert len(source.said) == 1


def test_calls_from_within_calls():
    column = bulk.quote(column_of("u"))
    source = Reentering(column, lambda: bulk.quote(Reentering(column, lambda: bulk.unquote(column))))
    assert len(bulk.quote(source)) == len(column)


def test_after_close():
    names = Deduplicator(kind="bytes")
    names.add(["a", "b", "a"])
    names.close()
    names.close()
    for use in (
        lambda: names.add(["a"]),
        names.finish,
        lambda: names.count,
        names.estimate,
        names.__repr__,
    ):
        with suppress(RuntimeError, ValueError, TypeError):
            use()


def test_a_column_in_two_threads():
    column, failed = bulk.split_urn(b"urn:example:a\n" * 1000), []

    def use():
        try:
            for _ in range(100):
                column.__arrow_c_array__()
                column.__arrow_c_stream__()
                bulk.Column(column.type, column.arrays)
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=use) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed


# --- values of a wrong type -------------------------------------------------------------------------------------------

LINE = b'192.0.2.1 - - [10/Oct/2000:13:55:36 -0700] "GET /a?b HTTP/1.0" 200 2326 "-" "c"\n'
ORDINARY = {
    "kind": "uri", "uri": "http://h/a?b", "url": "http://h/", "iri": "http://h/", "urn": "urn:isbn:0395363411",
    "column": ["http://h/%41"], "base": "http://h/", "ref": "x", "target": "http://h/x", "a": "http://h/",
    "b": "http://h/", "name": "b",
    "inputs": os.devnull, "source": LINE, "data": "a%41", "src": b"a%41", "dst": bytearray(10),
    "nid": "xx", "address": "192.0.2.1", "nss": "a", "text": "a", "buffer": b"http://a/",
    "components": ("http", "h", "/", None, None), "public_id": "-//a//b", "isbn": "0395363411", "oid": "1.2",
}  # fmt: skip
# Functions whose options are those of logs._Reading.
READERS = (logs.parse, logs.columns, logs.to_arrow, logs.count)

WRONG = [
    None, 0, -1, 1 << 70, 1.5, "", "a", "\ud800", "a\udcff", "\0", b"", b"\xff", bytearray(b"x"), memoryview(b"y"), [],
    ["\ud800"], [5], [None], [b"a", "b"], (), (1, 2, 3), {}, {1: 2}, {"\ud800": "x"}, {"a"}, object(), object, range(3),
]  # fmt: skip
OF_FILES = {"output", "groups", "inputs", "exclude", "suffixes", "paths", "path", "spill_dir"}
PUBLIC = [
    *(uricodec.percent_decode, uricodec.percent_encode, uricodec.requote, uricodec.quote_into, uricodec.unquote_into),
    *(getattr(module, name) for module in (uri, iri, urn, bulk, logs, conversions) for name in module.__all__),
    *(dedup.dedup_files, dedup.estimate_files, dedup.rules_of, dedup.unique, dedup.FingerprintKey, dedup.Deduplicator),
]
PUBLIC = [
    each for each in PUBLIC if callable(each) and each is not urn.register_namespace and "Diagnostic" not in str(each)
]


# Arguments whose messages say nothing of all that, yet.
VAGUE = {"field", "on_progress"}


def words_for(name, value):
    """One of them has to be in a message: the argument, the value, its type, or what is wanted instead."""
    parts = [value, *(value if isinstance(value, (str, bytes, list, tuple, dict, set, range)) else ())]
    shown = [word for part in parts for word in (type(part).__name__, repr(part))]
    wanted = ("expected", "must be", "choose from", "argument", "null", "empty", "surrogate", "saved set", "log format")
    return [name, *shown, *wanted]


@pytest.mark.slow
def parameters_of(function):
    try:
        parameters = [*inspect.signature(function).parameters.values()]
    except ValueError:  # a class of compiled code: it has one argument
        parameters = [inspect.Parameter("data", inspect.Parameter.POSITIONAL_ONLY)]
    if function in READERS:  # `**options`
        shared = inspect.signature(logs._Reading).parameters.values()
        others = {"fields", "params", "flags"} if function is logs.count else set()
        parameters[-1:] = [each for each in shared if each.kind is each.KEYWORD_ONLY and each.name not in others]
    return parameters


@pytest.mark.parametrize("function", PUBLIC, ids=lambda function: function.__name__)
@pytest.mark.filterwarnings("ignore")
def test_values_of_a_wrong_type(function, tmp_path, monkeypatch):
    """They are rejected by a message that names what is wrong: the argument, the type, or the value."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO()))  # [None] is a list of inputs with it
    if function is logs.to_arrow:
        pytest.importorskip("pyarrow")
    parameters = parameters_of(function)
    needed = [each for each in parameters if each.default is each.empty]
    for parameter in parameters:
        for value in WRONG:
            if parameter.name in OF_FILES and type(value) is int:
                continue  # a file descriptor
            names = {each.name: ORDINARY.get(each.name, "x") for each in needed if each.kind is each.KEYWORD_ONLY}
            given = [ORDINARY.get(each.name, "x") for each in needed if each.kind is not each.KEYWORD_ONLY]
            if parameter in needed and parameter.kind is not parameter.KEYWORD_ONLY:
                given[needed.index(parameter)] = value
            else:
                names[parameter.name] = value
            try:
                result = function(*given, **names)
                if inspect.isgenerator(result):
                    list(result)
            except UnicodeEncodeError:  # of the path of a file, as of open()
                assert parameter.name in OF_FILES | {"source", "encoding"}, (parameter, value)
            except (UriError, BufferError, OSError, urn.namespaces.UnknownNamespaceError):
                pass  # of the value: what is wrong with it has a place in it, or a file
            except (TypeError, ValueError) as error:
                said = any(word in str(error) for word in words_for(parameter.name, value))
                assert said or parameter.name in VAGUE, (parameter, value, error)
            except LookupError as error:
                assert parameter.name == "encoding" and type(error) is LookupError, (parameter, value)
