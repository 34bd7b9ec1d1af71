"""The file that an output is until it is complete: whose it is, who takes over what was left behind, and when not."""

import os
import random
import signal
import stat
import subprocess
import sys
import threading
import time

import pytest
from command import COMMAND, process, run

from uricodec._files import streams, temporary

fcntl = pytest.importorskip("fcntl", reason="no locks of files here: temporary files have random names")


def left_in(folder):
    return sorted(each.name for each in folder.iterdir())


def test_the_name_is_that_of_the_target(tmp_path):
    with streams.Output(str(tmp_path / "out")) as output:
        output.write(b"a")
        assert left_in(tmp_path) == [".out.uricodec.tmp"]
    assert left_in(tmp_path) == ["out"]
    assert (tmp_path / "out").read_bytes() == b"a"


@pytest.mark.parametrize("name", ["x" * 255, "é" * 127, "x" * 120, "\udcff" * 200])
def test_names_that_are_long(tmp_path, name):
    with streams.Output(str(tmp_path / name)) as output:
        (found,) = left_in(tmp_path)
        output.write(b"a")
    assert found == temporary.name_for(name) != temporary.name_for("y" + name[1:])
    assert len(os.fsencode(found)) < 140
    assert left_in(tmp_path) == [name]


def test_what_was_left_behind_is_taken_over(tmp_path):
    """With nothing of what was in it, and not with its permissions."""
    stale = tmp_path / ".out.uricodec.tmp"
    stale.write_bytes(b"half a line" * 1000)
    stale.chmod(0o606)
    other = tmp_path / ".other.uricodec.tmp"
    other.write_bytes(b"of another one")
    before = os.umask(0o027)
    try:
        assert run("decode", "-o", tmp_path / "out", stdin=b"%41\n") == (0, b"", "")
    finally:
        os.umask(before)
    assert left_in(tmp_path) == [".other.uricodec.tmp", "out"]
    assert (tmp_path / "out").read_bytes() == b"A\n"
    assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == 0o640


def test_a_failure_removes_what_was_left_behind(tmp_path):
    (tmp_path / ".out.uricodec.tmp").write_bytes(b"half a line")
    assert run("decode", "-o", tmp_path / "out", tmp_path / "missing")[0] == 3
    assert left_in(tmp_path) == []


def test_permissions_stay(tmp_path):
    (tmp_path / "out").touch(0o600)
    (tmp_path / "out").chmod(0o604)
    assert run("decode", "-o", tmp_path / "out", stdin=b"a")[0] == 0
    assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == 0o604


def test_two_at_once(tmp_path):
    """The second one has a name of its own, and who is done last wins."""
    path = str(tmp_path / "out")
    with streams.Output(path) as one:
        with streams.Output(path) as other:
            names = left_in(tmp_path)
            one.write(b"one")
            other.write(b"other")
        assert len(names) == 2 and ".out.uricodec.tmp" in names
        assert (tmp_path / "out").read_bytes() == b"other"
        assert left_in(tmp_path) == [".out.uricodec.tmp", "out"]
    assert (tmp_path / "out").read_bytes() == b"one"
    assert left_in(tmp_path) == ["out"]


def test_the_one_that_holds_it_fails_last(tmp_path):
    path = str(tmp_path / "out")
    with pytest.raises(ZeroDivisionError), streams.Output(path):
        with streams.Output(path) as other:
            other.write(b"other")
        raise ZeroDivisionError
    assert left_in(tmp_path) == ["out"]
    assert (tmp_path / "out").read_bytes() == b"other"


def test_a_link_goes_where_it_went(tmp_path):
    """And one that somebody laid in the way is not followed."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "folder" / "out")
    victim = tmp_path / "victim"
    victim.write_bytes(b"precious")
    (tmp_path / "folder" / ".out.uricodec.tmp").symlink_to(victim)
    assert run("decode", "-o", tmp_path / "link", stdin=b"%41") == (0, b"", "")
    assert (tmp_path / "folder" / "out").read_bytes() == b"A"
    assert (tmp_path / "link").is_symlink()
    assert victim.read_bytes() == b"precious"
    assert left_in(tmp_path / "folder") == [".out.uricodec.tmp", "out"]


@pytest.mark.parametrize("kind", ["hard link", "pipe", "folder"])
def test_other_things_of_that_name(tmp_path, kind):
    """A file with two names loses one of them, and nothing else; what is no file stays."""
    path, victim = tmp_path / ".out.uricodec.tmp", tmp_path / "victim"
    victim.write_bytes(b"precious")
    {"hard link": lambda: os.link(victim, path), "pipe": lambda: os.mkfifo(path), "folder": path.mkdir}[kind]()
    assert run("decode", "-o", tmp_path / "out", stdin=b"%41") == (0, b"", "")
    assert (tmp_path / "out").read_bytes() == b"A"
    assert victim.read_bytes() == b"precious"
    assert left_in(tmp_path) == ([] if kind == "hard link" else [".out.uricodec.tmp"]) + ["out", "victim"]


def test_no_locks_on_that_file_system(tmp_path, monkeypatch):
    def flock(number, how):
        raise OSError(37, "No locks available")

    monkeypatch.setattr(fcntl, "flock", flock)
    with streams.Output(str(tmp_path / "out")) as output:
        (found,) = left_in(tmp_path)
        assert found.startswith(".uricodec-")
        output.write(b"a")
    assert left_in(tmp_path) == ["out"]


def test_without_locks_at_all(tmp_path, monkeypatch):
    """As on Windows."""
    monkeypatch.setattr(temporary, "fcntl", None)
    with streams.Output(str(tmp_path / "out")) as output:
        assert left_in(tmp_path)[0].startswith(".uricodec-")
        output.write(b"a")
    with pytest.raises(ZeroDivisionError), streams.Output(str(tmp_path / "out")):
        raise ZeroDivisionError
    assert left_in(tmp_path) == ["out"]
    assert (tmp_path / "out").read_bytes() == b"a"


@pytest.mark.parametrize("moment", ["before the lock", "behind the lock"])
def test_somebody_is_faster(tmp_path, monkeypatch, moment):
    """The file that was found is gone, or has become the output, when it is locked: it is not touched."""
    flock, path = fcntl.flock, tmp_path / ".out.uricodec.tmp"
    path.write_bytes(b"complete by now")
    times = []

    def slow(number, how):
        times.append(number)
        if len(times) == 1 and moment == "before the lock":
            os.replace(path, tmp_path / "out")
        flock(number, how)
        if len(times) == 1 and moment == "behind the lock":
            os.replace(path, tmp_path / "out")

    monkeypatch.setattr(fcntl, "flock", slow)
    with streams.Output(str(tmp_path / "out")) as output:
        assert (tmp_path / "out").read_bytes() == b"complete by now"
        output.write(b"new")
    assert left_in(tmp_path) == ["out"]
    assert (tmp_path / "out").read_bytes() == b"new"


def test_somebody_is_always_faster(tmp_path, monkeypatch):
    monkeypatch.setattr(temporary, "is_at", lambda number, path: False)
    path = tmp_path / "out"
    output = temporary.Temporary(str(path))
    assert any(name.startswith(".uricodec-") for name in left_in(tmp_path))
    output.replace()
    assert path.exists()


def test_an_interrupt_behind_the_end_removes_nothing(tmp_path):
    path = tmp_path / "out"
    mine = temporary.Temporary(str(path))
    os.replace(tmp_path / ".out.uricodec.tmp", path)
    (tmp_path / ".out.uricodec.tmp").write_bytes(b"of the next one")
    mine.discard()
    assert left_in(tmp_path) == [".out.uricodec.tmp", "out"]


def test_permissions_that_cannot_be_had(tmp_path, monkeypatch):
    """Then they are those of a new file."""

    def refuse(*_):
        raise PermissionError(1, "Operation not permitted")

    (tmp_path / "out").write_bytes(b"before")
    monkeypatch.setattr(os, "chmod", refuse)
    with streams.Output(str(tmp_path / "out")) as output:
        output.write(b"behind")
    assert left_in(tmp_path) == ["out"]
    assert (tmp_path / "out").read_bytes() == b"behind"


def test_somebody_has_removed_it(tmp_path, monkeypatch):
    """There is nothing left to be removed, and what went wrong is what is said."""
    for there in fcntl, None:
        monkeypatch.setattr(temporary, "fcntl", there)
        with pytest.raises(ZeroDivisionError), streams.Output(str(tmp_path / "out")):
            os.unlink(tmp_path / left_in(tmp_path)[0])
            raise ZeroDivisionError
        assert left_in(tmp_path) == []


def test_a_pipe_of_that_name_that_is_read(tmp_path):
    """It can be opened and locked, and stays all the same."""
    path = tmp_path / ".out.uricodec.tmp"
    os.mkfifo(path)
    reading = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        with streams.Output(str(tmp_path / "out")) as output:
            output.write(b"a")
        assert stat.S_ISFIFO(path.stat().st_mode)
        assert os.read(reading, 9) == b""
    finally:
        os.close(reading)
    assert left_in(tmp_path) == [".out.uricodec.tmp", "out"]
    assert (tmp_path / "out").read_bytes() == b"a"


def test_many_at_once(tmp_path):
    """Each writes another letter, many times: the output is always a whole one, and nothing is left."""
    path, faults = str(tmp_path / "out"), []

    def write(letter):
        for _ in range(60):
            try:
                with streams.Output(path) as output:
                    for _ in range(3):
                        output.write(letter * 1000)
                found = (tmp_path / "out").read_bytes()
                if len(found) != 3000 or len(set(found)) != 1:
                    faults.append(found)
            except BaseException as error:
                faults.append(error)

    threads = [threading.Thread(target=write, args=(bytes([65 + i]),)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    assert left_in(tmp_path) == ["out"]


def test_killed_at_any_moment(tmp_path):
    """The next run for the same output leaves that, and nothing else."""
    path, out = tmp_path / "in", tmp_path / "out"
    path.write_bytes(b"/caf%C3%A9/a%20b\t%41\n" * 200_000)
    whole = process("decode", path).stdout
    chance = random.Random(3)
    for waits in [False, True] * 6:
        child = subprocess.Popen([*COMMAND, "decode", path, *["-"] * waits, "-o", out], stdin=subprocess.PIPE)
        while waits and ".out.uricodec.tmp" not in left_in(tmp_path):
            time.sleep(0.001)
        time.sleep(chance.uniform(0.0, 0.15))
        child.send_signal(signal.SIGKILL)
        child.wait()
        child.stdin.close()
        names = left_in(tmp_path)
        assert set(names) <= {".out.uricodec.tmp", "in", "out"}
        assert not waits or ".out.uricodec.tmp" in names
        if "out" in names:
            assert out.read_bytes() == whole
            out.unlink()
    assert process("decode", path, "-o", out).returncode == 0
    assert left_in(tmp_path) == ["in", "out"]
    assert out.read_bytes() == whole


def test_the_lock_is_not_inherited(tmp_path):
    """A child of the process that lives on does not keep the name."""
    with streams.Output(str(tmp_path / "out")):
        child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, close_fds=False)
    (tmp_path / ".out.uricodec.tmp").write_bytes(b"")
    with streams.Output(str(tmp_path / "out")):
        assert left_in(tmp_path) == [".out.uricodec.tmp", "out"]
    child.communicate(b"\n")
