"""Inputs, as they fail: by their name, for a reason, and with nothing lost that can be kept."""

import errno
import gzip
import os
import select
import sys

import pytest
from support.command import run
from support.tables import each_row

from uricodec import logs
from uricodec._io.files import FileError
from uricodec._io.meter import Meter
from uricodec._io.reading import TRUNCATED, Chunk, Input, safe_cut
from uricodec._io.writing import Output
from uricodec.cli import main


class NoMeter:
    def add(self, size):
        pass


class Broken:
    def fail(self, *_):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    readinto = seek = fail


def test_views_of_a_chunk_have_nothing_in_common():
    """What CPython counts in a view and its slices, it counts without a lock: no two threads may have the same."""
    chunk = Chunk(16)
    views = [chunk.view, chunk.view]
    views[0].release()
    views[1][:2] = b"ab"
    assert views[1].obj is chunk.buffer and chunk.buffer[:2] == b"ab"


def test_an_input_that_cannot_be_read():
    with Input("a\nb", NoMeter(), Broken()) as source:
        for call in lambda: source.read_into(memoryview(bytearray(8))), lambda: source.resume(3):
            with pytest.raises(FileError) as raised:
                call()
            assert str(raised.value) == r"a\nb: Input/output error"
            assert raised.value.errno == errno.EIO


def test_a_file_without_a_name(tmp_path, capsys):
    path = tmp_path / "x"
    path.write_bytes(b"%41\n")
    for arguments in (
        ["decode", ""],
        ["decode", "-o", "", path],
        ["decode", "--invalid-to", "", path],
        ["split", "--kind", "uri", ""],
    ):
        assert main(list(map(str, arguments))) == 3
        assert capsys.readouterr().err.startswith("uricodec: '': ")


@pytest.mark.skipif(sys.platform == "win32", reason="pipes that always block")
def test_an_input_that_does_not_block_is_waited_for(pipe, monkeypatch):
    reading, writing = pipe
    wait, waited = select.select, []

    def arrive(*files):
        waited.append(files)
        writing.write(b"late")
        return wait(*files)

    monkeypatch.setattr(select, "select", arrive)
    room = bytearray(8)
    with Input("pipe", NoMeter(), reading) as source:
        assert source.read_into(memoryview(room)) == 4
    assert room[:4] == b"late"
    assert waited == [([reading], [], [])]


@each_row(
    ("text", "end"),
    [
        (b"\x80", 1),  # what continues nothing may be anywhere
        (b"\x80\xbf", 2),
        (b"%80%BF", 6),
        (b"%", 0),
        (b"%8", 0),
        (b"\xe2\x82", 0),
        (b"\xc3", 0),
        (b"a", 1),
        (b"\xc3\xa9", 2),  # whole characters stay
        (b"%C3%A9", 6),
        (b"\xe2\x82%AC", 5),
        (b"%F0\x9f%98\x80", 8),
    ],
)
def test_a_cut_in_front_of_everything(text, end):
    """What is after the end, or seen from it, has no part in it."""
    for more in b"", b"a", b"\xc3":
        assert safe_cut(bytearray(text + more), len(text)) == end


# --- inputs that are truncated ----------------------------------------------------------------------------------------

LINES = b"".join(b"urn:example:%08x\n" % (row * 2654435761 % 2**32) for row in range(40_000))


def act_after_the_first_read(monkeypatch, act):
    read, todo = Input.read_into, [act]

    def read_and_act(self, view):
        size = read(self, view)
        if todo:
            todo.pop()()
        return size

    monkeypatch.setattr(Input, "read_into", read_and_act)


COMMANDS = [
    "decode", "encode -j 2", "normalize --kind urn", "check --kind urn", "extract --kind urn", "extract --kind uri",
]  # fmt: skip
COMMANDS += ["log --format common -q", "decode -f 1", "dedup --kind urn", "dedup --kind urn -j 2 --count"]


@pytest.mark.slow
@each_row("command", COMMANDS)
@each_row(("compressed", "size"), [(False, 0), (False, 300_000), (True, 300_000)])
def test_an_input_that_is_truncated_while_it_is_read(tmp_path, monkeypatch, command, compressed, size):
    monkeypatch.chdir(tmp_path)
    data = gzip.compress(LINES, 0) if compressed else LINES
    (tmp_path / "in").write_bytes(data)
    (tmp_path / "out").write_bytes(b"before")
    with monkeypatch.context() as patched:
        act_after_the_first_read(patched, lambda: os.truncate("in", size))
        assert run(*command.split(), "in", "-o", "out") == (3, b"", f"uricodec: in: {TRUNCATED}\n")
    assert sorted(os.listdir()) == ["in", "out"] and (tmp_path / "out").read_bytes() == b"before"


def test_an_input_that_is_truncated_and_grows_again(tmp_path, monkeypatch):
    """It is as long as before when its length is looked at; but the end came too early."""
    path = tmp_path / "in"
    path.write_bytes(LINES)
    check = Input._check_length
    monkeypatch.setattr(Input, "_check_length", lambda self: (path.write_bytes(LINES), check(self)))
    act_after_the_first_read(monkeypatch, lambda: os.truncate(path, 0))
    assert run("decode", path, "-o", tmp_path / "out") == (3, b"", f"uricodec: {path}: {TRUNCATED}\n")


def test_a_standard_input_that_is_truncated(tmp_path, monkeypatch):
    path = tmp_path / "in"
    path.write_bytes(LINES)
    with open(path, encoding="ascii") as file:
        monkeypatch.setattr(sys, "stdin", file)
        file.buffer.raw.seek(100)
        with Output(str(tmp_path / "out")) as output, Input("-", Meter([], output)) as source:
            assert source.read_into(bytearray(1000)) == 1000
            os.truncate(path, 1050)
            with pytest.raises(FileError, match=TRUNCATED):
                source.read_into(bytearray(1000))


@pytest.mark.parametrize("compressed", [False, True])
def test_a_log_that_is_truncated_while_it_is_read(tmp_path, compressed):
    path = tmp_path / "log"
    data = b'192.0.2.1 - - [10/Oct/2000:13:55:36 -0700] "GET /%41 HTTP/1.0" 200 2326\n' * 10_000
    path.write_bytes(gzip.compress(data, 0) if compressed else data)
    records = logs.parse(path)
    assert next(records).path == "/A"
    os.truncate(path, 300_000)
    with pytest.raises(OSError, match=f"log: {TRUNCATED}"):
        list(records)


def test_an_input_that_grows(tmp_path, monkeypatch):
    path = tmp_path / "in"
    path.write_bytes(LINES)

    def grow():
        with open(path, "ab") as file:
            file.write(LINES)

    act_after_the_first_read(monkeypatch, grow)
    assert run("decode", path) == (0, 2 * LINES, "")


def test_files_of_the_kernel():
    """They say that they are empty, or longer than they are."""
    found = 0
    for name in "/proc/self/status", "/sys/kernel/mm/transparent_hugepage/enabled", "/sys/kernel/uevent_seqnum":
        if os.path.exists(name):
            found += 1
            status, output, said = run("decode", name)
            assert (status, said) == (0, "") and len(output) not in (0, os.stat(name).st_size)
    if not found:
        pytest.skip("no /proc and no /sys")
