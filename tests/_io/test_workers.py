"""Threads that take turns: all in order, the first error wins, and nobody waits for ever."""

import os
import signal
import subprocess
import sys
import threading
import time

import pytest
from support.command import COMMAND
from support.marks import long

from uricodec._io import workers
from uricodec._io.files import FileError
from uricodec._io.reading import Buffers, Input
from uricodec._io.workers import waiting

LINES = [b"%05d\n" % i for i in range(1000)]
ALL = b"".join(LINES)
every_number = pytest.mark.parametrize("threads", [1, 2, 4])


class Failure(Exception):
    pass


class NoMeter:
    def add(self, size):
        pass


class Source(Input):
    """Octets, a few at a time; behind so many of them, reading fails."""

    def __init__(self, octets=ALL, stop=None):
        super().__init__("lines", NoMeter())
        self._octets, self._place, self._stop = octets, 0, stop

    def read_into(self, view):
        if self._stop is not None and self._place >= self._stop:
            raise FileError("lines", "gone")
        piece = self._octets[self._place : self._place + min(len(view), 97)]
        view[: len(piece)] = piece
        self._place += len(piece)
        return len(piece)


def work(chunk):
    """Not as fast with all of them, so that threads overtake each other."""
    octets = bytes(chunk.view[: chunk.size])
    if octets[4] % 7 == 0:
        time.sleep(0.001)
    return octets


def run(threads, work, use, source=None, size=60):
    """Lines of a source in chunks of so many bytes."""
    buffers = Buffers(size)

    def use_and_release(chunk, result):
        use(chunk, result)
        buffers.release(chunk)

    workers.OrderedWorkers(threads).run((source or Source()).chunks(buffers), work, use_and_release)
    assert len(buffers._free) <= threads


@pytest.fixture(autouse=True)
def nobody_waits():
    yield
    assert not waiting._threads


@every_number
def test_results_come_in_order(threads):
    taken, busy = [], threading.Lock()

    def take(chunk, octets):
        assert busy.acquire(blocking=False)
        assert octets == chunk.view[: chunk.size]
        taken.append(octets)
        busy.release()

    for octets in ALL, b"", LINES[0], ALL[:-1]:
        taken.clear()
        run(threads, work, take, Source(octets), 64)
        assert b"".join(taken) == octets


def test_all_threads_work():
    """From the second chunk on."""
    seen = set()
    everybody = threading.Barrier(3, timeout=30)

    def meet(chunk):
        if len(seen) and (thread := threading.get_ident()) not in seen - {0}:
            seen.add(thread)
            everybody.wait()
        seen.add(0)

    run(3, meet, lambda chunk, _: None, Source(), 64)
    assert len(seen - {0}) == 3 and threading.get_ident() in seen


@every_number
@pytest.mark.parametrize("place", [0, 7, 120])
def test_errors_while_working(threads, place):
    """That of the first chunk is raised, even if others fail before it does; all before it has been taken."""
    taken = []

    def fail(chunk):
        octets = work(chunk)
        number = int(octets[:5])
        if number >= place:
            time.sleep(0.01 if number <= place + 10 else 0)
            raise Failure(number)
        return octets

    with pytest.raises(Failure) as raised:
        run(threads, fail, lambda _, octets: taken.append(octets))
    assert b"".join(taken) == b"".join(LINES[: raised.value.args[0]])
    assert place <= raised.value.args[0] < place + 20


@every_number
@pytest.mark.parametrize("error", [Failure, SystemExit, KeyboardInterrupt, MemoryError, BrokenPipeError])
def test_errors_while_taking(threads, error):
    taken = []

    def take(_, octets):
        if len(taken) == 20:
            raise error
        taken.append(octets)

    with pytest.raises(error):
        run(threads, work, take)
    assert len(taken) == 20 and ALL.startswith(b"".join(taken))


@every_number
@pytest.mark.parametrize("stop", [0, 600, 3000])
def test_errors_while_reading(threads, stop):
    """Come after what was read."""
    taken = []
    with pytest.raises(FileError, match=r"^lines: gone$"):
        run(threads, work, lambda _, octets: taken.append(octets), Source(stop=stop))
    assert stop - 120 < len(b"".join(taken)) <= stop + 97
    assert ALL.startswith(b"".join(taken))


@every_number
def test_an_earlier_error_wins(threads):
    """Reading fails while what was read before is worked on, and fails."""

    def fail(chunk):
        time.sleep(0.05)
        raise Failure

    with pytest.raises(Failure):
        run(threads, fail, None, Source(stop=60))


def test_an_interrupt_while_others_work():
    """Nothing is taken after it."""
    taken, main = [], threading.get_ident()

    def take(_, octets):
        taken.append(octets)
        if len(taken) > 20 and threading.get_ident() == main:
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        run(3, work, take)
    number = len(taken)
    time.sleep(0.05)
    assert len(taken) == number < 100


def test_an_error_in_another_thread():
    """It is raised here, as it was raised there."""
    taken, main, failing = [], threading.get_ident(), threading.Event()

    def fail(chunk):
        if threading.get_ident() != main:
            failing.set()
            raise Failure(int(bytes(chunk.view[:5])))
        assert not taken or failing.wait(30)
        return int(bytes(chunk.view[:5]))

    with pytest.raises(Failure) as raised:
        run(2, fail, lambda _, number: taken.append(number))
    assert taken == list(range(0, raised.value.args[0], 10)) and len(taken) >= 2


def test_an_error_while_another_thread_reads_for_ever():
    """Who waits for an input is not waited for: it ends when the input goes on, and takes nothing."""
    main, reading, goes_on = threading.get_ident(), threading.Event(), threading.Event()
    taken, helpers = [], []

    class Slow(Source):
        def read_into(self, view):
            if threading.get_ident() != main:
                helpers.append(threading.get_ident())
                reading.set()
                assert goes_on.wait(30)
            return super().read_into(view)

    def take(_, octets):
        taken.append(octets)
        if len(taken) == 2:
            assert reading.wait(30)
            raise Failure

    try:
        with pytest.raises(Failure):
            run(2, work, take, Slow())
        (helper,) = helpers
        assert helper in waiting and not goes_on.is_set()
    finally:
        goes_on.set()
    while helper in waiting:
        time.sleep(0.001)
    assert len(taken) == 2


def test_no_more_threads(monkeypatch):
    def reject(*_):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(workers, "start_new_thread", reject)
    taken = []
    run(3, work, lambda _, octets: taken.append(octets))
    assert b"".join(taken) == ALL


@pytest.mark.parametrize(("cores", "most"), [(2, 64), (100, 100)])
def test_no_more_threads_than_are_of_use(monkeypatch, cores, most):
    started, taken = [], []
    monkeypatch.setattr(workers, "cores", lambda: cores)
    monkeypatch.setattr(workers.Turns, "_start", lambda _, helpers: started.append(helpers))
    run(100_000, work, lambda _, octets: taken.append(octets))
    assert b"".join(taken) == ALL and started == [most - 1]


def in_pipe(number):
    """How many octets wait in a pipe."""
    import fcntl
    import termios

    return int.from_bytes(fcntl.ioctl(number, termios.FIONREAD, bytes(4)), sys.byteorder)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="other signals")
@pytest.mark.parametrize(
    ("command", "threads"),
    [("dedup --kind urn", "1"), ("dedup --kind urn", "2"), *long(("decode", "2")), ("encode -f 1", "4")],
)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("who", ["reader", "writer"])
def test_a_signal_while_a_thread_waits_for_others(tmp_path, command, threads, number, who):
    """The input does not go on, or nobody reads the output: which thread waits for that is chance."""
    lines = b"".join(b"urn:example:%d\n" % i for i in range(100_000))
    (tmp_path / "in").write_bytes(lines)
    reading, writing = os.pipe()
    command = [*COMMAND, *command.split(), "-j", threads]
    if who == "reader":
        child = subprocess.Popen([*command, "-o", tmp_path / "out"], stdin=reading, stderr=subprocess.PIPE)
        os.write(writing, lines[: 1 << 16])
    else:
        child = subprocess.Popen([*command, tmp_path / "in"], stdout=writing, stderr=subprocess.PIPE)
    try:
        deadline = time.monotonic() + 20
        while (in_pipe(reading) > 0) == (who == "reader"):  # until all is read, or something is written
            assert time.monotonic() < deadline
            time.sleep(0.01)
        time.sleep(0.2)
        start = time.monotonic()
        child.send_signal(number)
        said = child.communicate(timeout=20)[1]
    finally:
        child.kill()
        os.close(reading)
        os.close(writing)
    assert time.monotonic() - start < 3
    assert said == b""
    assert child.returncode in (128 + number, -number)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("kind", [list, iter])
def test_a_thread_that_ends_before_it_begins(monkeypatch, kind):
    """As when there is no memory for its first call: the others do the work, and do not wait for it."""
    monkeypatch.setattr(workers, "start_new_thread", lambda function, arguments: 1)
    used = []
    workers.OrderedWorkers(2).run(kind([1, 2, 3]), lambda piece: piece, lambda piece, result: used.append(result))
    assert used == [1, 2, 3]


@pytest.mark.parametrize("fails", ["here", "elsewhere", None])
def test_long_work_is_halted(fails):
    """By an exception in any thread: halt() is called, and ends what others do. Without one it is not called."""
    halted, begun, caller = threading.Event(), threading.Barrier(2), threading.get_ident()

    def work(_piece):
        begun.wait(60)
        if fails and (threading.get_ident() == caller) == (fails == "here"):
            raise ZeroDivisionError
        assert fails is None or halted.wait(60)

    crew = workers.OrderedWorkers(2)
    if fails is None:
        crew.run([1, 2], work, halt=halted.set)
    else:
        with pytest.raises(ZeroDivisionError):
            crew.run([1, 2], work, halt=halted.set)
    assert halted.is_set() == (fails is not None)
