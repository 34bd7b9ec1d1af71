"""A folder appears when it is complete, and nothing else stays."""

import os
import signal
import stat
import subprocess
import sys

import pytest

from uricodec._io import locks
from uricodec._io.files import FileError
from uricodec._io.folders import OutputFolder
from uricodec._io.signals import end_by_signal

pytest.importorskip("fcntl", reason="no locks of files")

OUT = ".out.uricodec.tmp"


def put(folder, name="file"):
    with open(os.path.join(folder.path, name), "w") as file:
        file.write("new")


@pytest.mark.parametrize("exists", [False, True])
@pytest.mark.parametrize("spelling", ["out", "out/", "link"])
def test_a_folder_appears_at_the_end(tmp_path, exists, spelling):
    target = tmp_path / "out"
    (tmp_path / "link").symlink_to("out")
    if exists:
        target.mkdir(0o750)
    with OutputFolder(f"{tmp_path}/{spelling}") as folder:
        put(folder)
        assert os.path.dirname(folder.path) == str(tmp_path)
        assert os.listdir(target) == [] if exists else not target.exists()
    assert sorted(os.listdir(tmp_path)) == ["link", "out"] and os.listdir(target) == ["file"]
    assert not exists or stat.S_IMODE(target.stat().st_mode) == 0o750


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_after_an_exception_it_is_gone(tmp_path, error):
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(error), OutputFolder(str(tmp_path / "out")) as folder:
        put(folder)
        assert signal.getsignal(signal.SIGTERM) == end_by_signal
        raise error
    assert os.listdir(tmp_path) == [] and signal.getsignal(signal.SIGTERM) == before


def test_targets_that_are_taken(tmp_path):
    (tmp_path / "file").write_bytes(b"old")
    for path, said in [
        (tmp_path, "output folder is not empty"),
        (tmp_path / "file", "Not a directory"),
        (tmp_path / "no-such" / "out", "No such file or directory"),
        ("a\0b", "embedded null"),
        ("/", "output folder is not empty"),
    ]:
        with pytest.raises(FileError, match=said), OutputFolder(str(path)):
            pass
    with pytest.raises(FileError, match="not empty"), OutputFolder(str(tmp_path / "out")):
        (tmp_path / "out").mkdir()
        (tmp_path / "out" / "of another process").write_bytes(b"")
    assert sorted(os.listdir(tmp_path)) == ["file", "out"]
    assert os.listdir(tmp_path / "out") == ["of another process"]


def test_leftovers_of_a_killed_process_are_removed(tmp_path):
    code = "import os, sys; from uricodec._io.folders import OutputFolder; folder = OutputFolder('out').__enter__();"
    code += "open(folder.path + '/old', 'w').close(); os.kill(os.getpid(), 9)"
    paths = os.pathsep.join(os.path.abspath(path) for path in sys.path if path)
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env={**os.environ, "PYTHONPATH": paths}, check=False)
    assert os.listdir(tmp_path) == [OUT] and os.listdir(tmp_path / OUT) == ["old"]
    with OutputFolder(str(tmp_path / "out")) as folder:
        assert folder.path == str(tmp_path / OUT) and os.listdir(folder.path) == []
    assert os.listdir(tmp_path) == ["out"]


def test_two_writers_of_the_same_target(tmp_path):
    with OutputFolder(str(tmp_path / "out")) as first:
        put(first)
        with OutputFolder(str(tmp_path / "out")) as second:
            put(second, "other")
            assert first.path != second.path
        (tmp_path / "out" / "other").unlink()
    assert os.listdir(tmp_path) == ["out"] and os.listdir(tmp_path / "out") == ["file"]


@pytest.mark.parametrize("taken", ["file", "link"])
def test_a_name_that_something_else_has(tmp_path, taken):
    """It stays."""
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "file").write_bytes(b"")
    if taken == "file":
        (tmp_path / OUT).write_bytes(b"")
    else:
        (tmp_path / OUT).symlink_to("precious")
    with OutputFolder(str(tmp_path / "out")) as folder:
        put(folder)
    assert sorted(os.listdir(tmp_path)) == [OUT, "out", "precious"] and os.listdir(tmp_path / "precious") == ["file"]


def test_without_locks(tmp_path, monkeypatch):
    def fail(*_):
        raise OSError

    monkeypatch.setattr(locks.fcntl, "flock", fail)
    for name in "one", "two":
        with OutputFolder(str(tmp_path / name)) as folder:
            assert os.path.basename(folder.path).startswith(".uricodec-")
    monkeypatch.setattr(locks, "fcntl", None)
    with OutputFolder(str(tmp_path / "three")):
        pass
    assert sorted(os.listdir(tmp_path)) == ["one", "three", "two"]
