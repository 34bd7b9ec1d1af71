"""No class of the package can crash the interpreter, however its objects are made and used; see misuse.py."""

import importlib
import os
import pkgutil
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

import misuse
import pytest

import uricodec
from uricodec import bulk
from uricodec._base._fingerprint import FingerprintKey
from uricodec._codec._rows import EncodeRows
from uricodec._rows._arrow import Array, Type
from uricodec._rows._columns import ColumnWork
from uricodec._rows._lists import ListWork
from uricodec._rows._tasks import Plan
from uricodec.dedup import Deduplicator
from uricodec.dedup._identifiers import ColumnBatch
from uricodec.urn._rows import CheckUrnRows

LEFT_OUT = ("uricodec.__main__", "uricodec.integrations.spark")  # a program; what needs Java


def modules():
    found = []
    for module in pkgutil.walk_packages(uricodec.__path__, "uricodec."):
        try:
            there = importlib.import_module(module.name)
            if module.name not in LEFT_OUT and (misuse.classes(there) or misuse.is_compiled(there)):
                found.append(module.name)
        except ModuleNotFoundError as error:  # of an extra
            assert not error.name.startswith("uricodec"), error
    return found


@pytest.mark.slow
@pytest.mark.parametrize("module", modules())
def test_classes_and_functions(module, tmp_path):
    path = str(Path(uricodec.__file__).parent.parent)
    program = f"import sys; sys.path.insert(0, {path!r}); import misuse; misuse.main({module!r})"
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
def test_what_makes_no_plan(make):
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
