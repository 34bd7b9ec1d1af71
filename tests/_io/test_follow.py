"""A file that is read while it grows: each line once, in order, across every kind of rotation."""

import gzip
import os
import signal
import subprocess
import sys
from threading import Thread
from time import monotonic, sleep

import pytest

from uricodec._io import follow
from uricodec._io.files import FileError
from uricodec._io.follow import FollowedInput
from uricodec._io.reading import Buffers, LineEnds
from uricodec._io.writing import Output

LIMIT = 30.0  # seconds to wait for what has to come at once


@pytest.fixture(autouse=True)
def period(monkeypatch):
    monkeypatch.setattr(follow, "PERIOD", 0.001)


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "access.log"
    path.write_bytes(b"")
    return path


class Reader:
    """Reads a file in another thread."""

    def __init__(self, path, capacity=1000, terminator=b"\n", max_line=None):
        self.made = bytearray()
        self._stops, self.failure = False, None
        self._path, self._capacity, self._max_line, self._terminator = path, capacity, max_line, terminator
        self._thread = Thread(target=self._run)

    def _run(self):
        ends = LineEnds(self._terminator)
        try:
            with FollowedInput(str(self._path), stop=lambda: self._stops, terminator=self._terminator) as source:
                for chunk in source.chunks(Buffers(self._capacity), ends, self._max_line):
                    self.made += chunk.view[: chunk.size]
        except FileError as error:
            self.failure = error

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *exception):
        self._stops = True
        self._thread.join(LIMIT)
        assert not self._thread.is_alive()

    def expect(self, data):
        """Wait until all of `data` has been handed on, and no more."""
        end = monotonic() + LIMIT
        while len(self.made) < len(data) and monotonic() < end and self._thread.is_alive():
            sleep(0.001)
        assert self.made == data

    def expect_no_more(self):
        before = bytes(self.made)
        sleep(0.05)
        assert self.made == before


def append(path, data):
    with open(path, "ab") as file:
        file.write(data)


# --- a file that grows ------------------------------------------------------------------------------------------------


def test_lines_appended_in_small_pieces(log):
    text = "één\nzwei\n\n日本\nend\n".encode()
    with Reader(log) as reader:
        for i in range(len(text)):
            append(log, text[i : i + 1])
            reader.expect(text[: text.rfind(b"\n", 0, i + 1) + 1])
    assert reader.made == text


@pytest.mark.parametrize("part", [b"a", b"caf\xc3", b"%C3%A", b"\r", b""])
def test_a_partial_line_waits(log, part):
    append(log, b"first\n" + part)
    with Reader(log) as reader:
        reader.expect(b"first\n")
        reader.expect_no_more()
        append(log, b"rest\nx")
        reader.expect(b"first\n" + part + b"rest\n")
    assert reader.made == b"first\n" + part + b"rest\nx"  # the end of the input


def test_lines_that_are_there_already_are_read(log):
    lines = b"".join(b"line %d\n" % i for i in range(5000))
    append(log, lines)
    with Reader(log) as reader:
        reader.expect(lines)


def test_long_lines(log):
    """A line that is longer than the buffer is handed on in pieces, as always."""
    line = b"a" * 5000
    append(log, line)
    with Reader(log, capacity=100) as reader:
        append(log, b"\nb\n")
        reader.expect(line + b"\nb\n")


def test_another_terminator(log):
    append(log, b"a\nb\0c")
    with Reader(log, terminator=b"\0") as reader:
        reader.expect(b"a\nb\0")
        log.rename(log.with_suffix(".1"))
        append(log, b"d\0")
        reader.expect(b"a\nb\0c\0d\0")


# --- rotation ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("part", [b"", b"part"])
def test_rotation_by_rename(log, part):
    """The program goes on writing to the old file, also when the new one is there but empty."""
    want = b"a\nb\nc\n" + (part and part + b"\n") + b"d\n"
    with Reader(log) as reader:
        append(log, b"a\n")
        reader.expect(b"a\n")
        old = log.with_suffix(".1")
        log.rename(old)
        append(old, b"b\n")
        reader.expect(b"a\nb\n")
        log.write_bytes(b"")
        append(old, b"c\n" + part)
        reader.expect(b"a\nb\nc\n")
        reader.expect_no_more()
        append(log, b"d\n")
        reader.expect(want)
        append(old, b"late\nla")
        reader.expect(want + b"late\n")
        append(log, b"e")
        append(old, b"ter\n")
        reader.expect_no_more()
        append(log, b"f\n")
        reader.expect(want + b"late\nef\nlater\n")


def test_an_old_file_is_read_for_a_while(log, monkeypatch):
    monkeypatch.setattr(follow, "LATE", 0.0)
    with Reader(log) as reader:
        append(log, b"a\n")
        reader.expect(b"a\n")
        log.rename(log.with_suffix(".1"))
        append(log, b"b\n")
        reader.expect(b"a\nb\n")
        reader.expect_no_more()
        append(log.with_suffix(".1"), b"too late\n")
        append(log, b"c\n")
        reader.expect(b"a\nb\nc\n")


def test_many_rotations(log):
    """No line is lost, as long as there is a look at each file."""
    want = b""
    with Reader(log) as reader:
        for i in range(20):
            for k in range(3):
                line = b"%d %d\n" % (i, k)
                append(log, line)
                want += line
            reader.expect(want)
            log.rename(log.with_suffix(f".{i}"))


@pytest.mark.parametrize("part", [b"", b"part"])
def test_rotation_by_truncation(log, part):
    append(log, b"first line\nsecond line\n" + part)
    with Reader(log) as reader:
        reader.expect(b"first line\nsecond line\n")
        reader.expect_no_more()
        os.truncate(log, 0)
        reader.expect(b"first line\nsecond line\n" + part + b"\n" * bool(part))
        append(log, b"x\n")
        reader.expect(b"first line\nsecond line\n" + part + b"\n" * bool(part) + b"x\n")


def test_a_shorter_file_is_read_from_its_start(log):
    append(log, b"first line\nsecond line\n")
    with Reader(log) as reader:
        reader.expect(b"first line\nsecond line\n")
        with open(log, "r+b") as file:
            os.truncate(log, 0)
            file.write(b"third\n")
        reader.expect(b"first line\nsecond line\nthird\n")


@pytest.mark.parametrize("part", [b"", b"part"])
@pytest.mark.parametrize("size", [0, 1, 2, 20, 1000])
def test_truncation_to_any_size_at_once(log, monkeypatch, part, size):
    """The reader does not look between the truncation and the next lines."""
    lines = [b"".join(b"line %d of %d\n" % (i, k) for i in range(10)) for k in range(30)]
    monkeypatch.setattr(follow, "PERIOD", 0.05)
    append(log, lines[0] + part)
    want = lines[0]
    with Reader(log) as reader:
        reader.expect(want)
        for k in range(1, 4):
            new = lines[k] + b"".join(b"%d more of %d\n" % (i, k) for i in range(size))
            with open(log, "r+b") as file:
                file.truncate(0)
                file.write(new)
            want += (part + b"\n") * bool(part and k == 1) + new
            reader.expect(want)


def test_a_program_goes_on_at_its_offset_after_truncation(log):
    """It writes a block of NUL bytes before its line."""
    with open(log, "wb", buffering=0) as file, Reader(log) as reader:
        file.write(b"first\n")
        reader.expect(b"first\n")
        os.truncate(log, 0)
        file.write(b"second\n")
        reader.expect(b"first\n" + bytes(6) + b"second\n")


def test_deleted_and_created_again(log):
    append(log, b"a\n")
    with Reader(log) as reader:
        reader.expect(b"a\n")
        log.unlink()
        reader.expect_no_more()
        append(log, b"b\n")
        reader.expect(b"a\nb\n")


def test_a_link_to_another_file(log, tmp_path):
    link = tmp_path / "current.log"
    link.symlink_to(log)
    append(log, b"a\n")
    with Reader(link) as reader:
        reader.expect(b"a\n")
        append(tmp_path / "other.log", b"b\n")
        link.unlink()
        link.symlink_to(tmp_path / "other.log")
        reader.expect(b"a\nb\n")


def test_a_new_file_that_is_not_a_file(log, tmp_path):
    with Reader(log) as reader:
        append(log, b"a\n")
        reader.expect(b"a\n")
        log.unlink()
        log.symlink_to(tmp_path)  # a folder
        reader._thread.join(LIMIT)
    assert str(reader.failure) == f"{log}: only regular files can be followed"
    assert reader.made == b"a\n"


# --- the end, and what cannot be followed -----------------------------------------------------------------------------


def test_stop_ends_in_the_middle(log):
    append(log, b"a\nb")
    source = FollowedInput(str(log), stop=lambda: True)
    with source:
        assert list(source.chunks(Buffers(100))) == []


def test_the_meter_counts_what_was_read(log):
    class Meter:
        size = 0

        def add(self, size):
            self.size += size

    append(log, b"a\nb")
    meter, answers = Meter(), iter([False, True])
    with FollowedInput(str(log), meter, stop=lambda: next(answers)) as source:
        assert sum(chunk.size for chunk in source.chunks(Buffers(100))) == meter.size == 3


def test_an_interrupt(log):
    append(log, b"a\n")
    code = """
import sys
from uricodec._io.follow import FollowedInput
from uricodec._io.reading import Buffers
from uricodec._io.writing import Output
with FollowedInput(sys.argv[1]) as source, Output() as output:
    for chunk in source.chunks(Buffers(1000)):
        output.write(chunk.view[: chunk.size])
"""
    child = subprocess.Popen([sys.executable, "-c", code, str(log)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    with child:
        assert child.stdout.readline() == b"a\n"  # it was not kept in a buffer
        append(log, b"b\n")
        assert child.stdout.readline() == b"b\n"
        child.send_signal(signal.SIGINT)
        output, said = child.communicate(timeout=LIMIT)
    assert output == b"" and said.endswith(b"KeyboardInterrupt\n")


def test_other_things_than_files_are_not_followed(log, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "log.gz").write_bytes(gzip.compress(b"a\n"))
    cases = {
        "-": "<stdin>: cannot be followed",
        tmp_path / "pipe": "only regular files can be followed",
        tmp_path: "only regular files can be followed",
        tmp_path / "log.gz": "compressed files cannot be followed",
        tmp_path / "missing": "No such file or directory",
        "a\0": "null",
    }
    for path, message in cases.items():
        with pytest.raises(FileError, match=message):
            FollowedInput(str(path)).__enter__()


def test_an_output_that_is_appended_to_the_input(log):
    append(log, b"a\n")
    with open(log, "ab", buffering=0) as file, pytest.raises(FileError, match="input file is output file"):
        output = Output(f"/dev/fd/{file.fileno()}")
        with output, FollowedInput(str(log), output=output):
            pass
