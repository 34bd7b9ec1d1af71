"""Temporary files, also where they have names."""

import errno
import os
import signal
import tempfile

import pytest

from uricodec._io import reading
from uricodec._io import scratch as module
from uricodec._io.files import FileError
from uricodec._io.scratch import Scratch

resource = pytest.importorskip("resource", reason="no limits of processes")


@pytest.fixture
def without_unnamed_files(monkeypatch, tmp_path):
    monkeypatch.setattr(module, "TEMPORARY", 0)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


@pytest.mark.usefixtures("without_unnamed_files")
def test_temporary_files_where_all_have_names(tmp_path):
    for folder in tmp_path, None:
        with Scratch(folder) as scratch:
            assert scratch.name == str(tmp_path)
            file = scratch.file()
            scratch.write(file, b"some ")
            scratch.write(file, b"more")
            file.seek(0)
            assert file.read() == b"some more"
        assert file.closed
        assert os.listdir(tmp_path) == []
    with pytest.raises(FileError, match=r"missing: No such file or directory$"):
        Scratch(tmp_path / "missing")


@pytest.mark.usefixtures("without_unnamed_files")
def test_no_folder_for_temporary_files(monkeypatch):
    def no_folder():
        raise FileNotFoundError(errno.ENOENT, "No usable temporary directory found")

    monkeypatch.setattr(tempfile, "gettempdir", no_folder)
    with pytest.raises(FileError, match=r"^temporary files: "):
        Scratch(None)


def test_memory_in_a_file_where_none_is_reserved(monkeypatch, tmp_path):
    """Then it is written: it must not turn out later that the disk is full."""
    monkeypatch.delattr(os, "posix_fallocate", raising=False)
    monkeypatch.setattr(reading, "CHUNK", 1000)
    with Scratch(tmp_path) as scratch:
        with scratch.mapping(2500) as memory:
            assert memory[:] == bytes(2500)
        limit = resource.getrlimit(resource.RLIMIT_FSIZE)
        before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (2000, limit[1]))
        try:
            with pytest.raises(FileError, match="File too large"):
                scratch.mapping(2500)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limit)
            signal.signal(signal.SIGXFSZ, before)
