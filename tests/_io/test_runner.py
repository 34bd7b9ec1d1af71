"""The loop over chunks of lines: order, positions, lines that are too long, and what happens to invalid lines."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uricodec._io import runner, sources
from uricodec._io.reading import Buffers
from uricodec._io.reports import InvalidLine
from uricodec._rows._tasks import LineFault


class Lines(runner.Worker):
    """Collects lines with their places; those that begin with "!" are invalid. Pieces of long lines are joined."""

    def __init__(self, invalid=None, in_pieces=False):
        super().__init__(invalid)
        self.in_pieces = in_pieces
        self.found, self.long = [], []

    def work(self, chunk):
        return bytes(chunk.view[: chunk.size]).split(b"\n")

    def use(self, chunk, lines, at):
        start, faults = 0, []
        for number, line in enumerate(lines):
            if line[:1] == b"!":
                faults.append(LineFault(number, start, start + len(line), "mark", 1))
            if start < chunk.size:
                self.found.append((at.line + number, chunk.before + start, line))
            start += len(line) + 1
        if self.invalid:
            self.invalid.add(len(faults), faults, chunk.view[: chunk.size], chunk.before, at)
        at.line += len(lines) - (not lines[-1])

    def use_long(self, chunk, at):
        super().use_long(chunk, at)
        if chunk.begins:
            self.long.append([at.line, chunk.before, b""])
        self.long[-1][2] += bytes(chunk.view[: chunk.size])


def numbered(data):
    """The lines of some data, with their numbers and offsets."""
    start = 0
    for number, line in enumerate(data.splitlines(keepends=True), 1):
        yield number, start, line.rstrip(b"\n")
        start += len(line)


@given(
    st.lists(st.binary(max_size=40).map(lambda line: line.translate(None, b"\n\r\x0b\x0c\x1c\x1d\x1e\x85"))),
    st.integers(1, 3),
)
def test_lines_come_in_order_with_their_places(lines, threads):
    data = b"\n".join(lines)
    worker = Lines()
    source = sources.FileInput("<data>", io.BytesIO(data), compressed=False)
    runner.Runner(threads, max_line=15, capacity=20, most_read=16).run(source, worker)
    wanted = [(number, start, line) for number, start, line in numbered(data) if len(line) <= 15]
    assert worker.found == wanted
    assert [tuple(each[:2]) for each in worker.long] == [each[:2] for each in numbered(data) if len(each[2]) > 15]
    assert [each[2].rstrip(b"\n") for each in worker.long] == [each[2] for each in numbered(data) if len(each[2]) > 15]


def test_steps_do_the_same_one_by_one():
    data = b"a\nbb\n" * 50
    whole, steps = Lines(), Lines()
    runner.Runner(capacity=20, most_read=16).run(sources.FileInput("<data>", io.BytesIO(data)), whole)
    seen = [
        len(steps.found)
        for _ in runner.Runner(capacity=20, most_read=16).steps(sources.FileInput("<data>", io.BytesIO(data)), steps)
    ]
    assert steps.found == whole.found == list(numbered(data))
    assert len(seen) > 2 and seen == sorted({*seen})


def invalid_lines(errors, **options):
    return runner.InvalidLines(errors, ValueError, lambda line: f"bad {line.code}", **options)


@pytest.mark.parametrize("errors", ["keep", "drop"])
def test_invalid_lines_are_counted_and_reported(errors):
    reported = []
    invalid = invalid_lines(errors, report=reported.extend, max_line=9)
    run = runner.Runner(max_line=9, capacity=20, most_read=16)
    run.run(sources.FileInput("x", io.BytesIO(b"a\n!b\n" + b"c" * 20 + b"\n!d")), Lines(invalid))
    assert invalid.count == 3 and invalid.codes == {"mark": 2, "too-long": 1}
    assert reported == [
        InvalidLine("x", 2, 1, "mark", b"!b"),
        InvalidLine("x", 3, 9, "too-long", b"ccccccccc..."),
        InvalidLine("x", 4, 1, "mark", b"!d"),
    ]
    assert invalid.first == (reported[0], 2)
    assert invalid_lines(errors).limit == 0 < invalid_lines(errors, counts=True).limit == runner.MOST_FAULTS


@pytest.mark.parametrize("threads", [1, 2])
def test_the_first_invalid_line_ends_a_run(threads):
    for data, message in (
        (b"a\n" * 20 + b"!b\n!c\n", "x:21:2 (byte 41): bad mark"),
        (b"a\n" * 20 + b"c" * 20 + b"\n!b\n", "x:21:10 (byte 49): line is longer than 9 bytes"),
    ):
        source = sources.FileInput("x", io.BytesIO(data))
        worker = Strict(invalid_lines("raise", max_line=9))
        with pytest.raises(ValueError, match=r"bad|longer") as caught:
            runner.Runner(threads, max_line=9, capacity=20, most_read=16).run(source, worker)
        assert caught.value.args[0] == message


class Strict(Lines):
    """Gives only the first invalid line, as the core does if it is to stop there."""

    def use(self, chunk, lines, at):
        marked = next((number for number, line in enumerate(lines) if line[:1] == b"!"), None)
        super().use(chunk, lines if marked is None else lines[: marked + 1], at)


def test_inputs_of_functions(tmp_path):
    (tmp_path / "in").write_bytes(b"a\nb")
    pieces = io.BytesIO(b"a\nb")
    given = [
        b"a\nb",
        bytearray(b"a\nb"),
        memoryview(b"a\nb"),
        tmp_path / "in",
        str(tmp_path / "in"),
        io.BytesIO(b"a\nb"),
        Pieces(pieces),
    ]
    for source in given:
        worker = Lines()
        with sources.opened(source, "<x>") as found:
            runner.Runner().run(found, worker)
        assert worker.found == [(1, 0, b"a"), (2, 2, b"b")]
        assert found.name == (str(tmp_path / "in") if isinstance(source, (str, type(tmp_path))) else "<x>")
    for source, message in (
        (5, r"a path, a binary file or a bytes-like, got int"),
        (io.StringIO("a"), "open in text mode"),
    ):
        with pytest.raises(TypeError, match=message), sources.opened(source, "<x>") as found:
            runner.Runner().run(found, Lines())
    with pytest.raises(BlockingIOError, match="non-blocking"), sources.opened(Blocked(), "<x>") as found:
        runner.Runner().run(found, Lines())
    assert list(sources.BytesInput("<x>", memoryview(b"")).chunks(Buffers(10))) == []


class Pieces:
    """A file that returns more than was asked for."""

    def __init__(self, file):
        self.read = lambda size: file.read(size + 1)


class Blocked:
    def read(self, size):
        return None
