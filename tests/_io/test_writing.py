"""Outputs, as they fail: by their name, for a reason, and with nothing lost that can be kept."""

import errno
import os
import select
import sys

import pytest

from uricodec._io import writing
from uricodec._io.files import FileError
from uricodec._io.writing import Output


@pytest.mark.skipif(sys.platform == "win32", reason="pipes that always block")
def test_an_output_that_does_not_block_is_waited_for(pipe, monkeypatch):
    ours, theirs = pipe
    data = os.urandom(1 << 20)
    wait, arrived = select.select, []

    def drain(*files):
        assert files == ([], [theirs], [])
        arrived.append(ours.read(1 << 20))
        return wait(*files)

    monkeypatch.setattr(select, "select", drain)
    with open(theirs.fileno(), "w", closefd=False) as stdout:
        monkeypatch.setattr(sys, "stdout", stdout)
        monkeypatch.setattr(writing, "binary_stream", lambda *_: theirs)
        with Output() as output:
            output.write(data)
    arrived.append(ours.read(1 << 20))
    assert len(arrived) > 2 and b"".join(arrived) == data


def test_an_output_that_is_not_to_be_written(tmp_path, monkeypatch):
    """Its folder would allow to replace it."""
    path = tmp_path / "out"
    path.write_bytes(b"before")
    monkeypatch.setattr(os, "access", lambda there, how: (there, how) != (str(path), os.W_OK))
    with pytest.raises(FileError) as raised, Output(str(path)):
        pass
    assert str(raised.value) == f"{path}: {os.strerror(errno.EACCES)}"
    assert os.listdir(tmp_path) == ["out"] and path.read_bytes() == b"before"


def test_an_output_that_cannot_take_its_place(tmp_path, monkeypatch):
    def reject(*_, **__):
        raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))

    path = tmp_path / "out"
    path.write_bytes(b"before")
    monkeypatch.setattr(os, "replace", reject)
    with pytest.raises(FileError) as raised, Output(str(path)) as output:
        output.write(b"behind")
    assert raised.value.errno == errno.EXDEV and raised.value.filename == str(path)
    assert os.listdir(tmp_path) == ["out"] and path.read_bytes() == b"before"
