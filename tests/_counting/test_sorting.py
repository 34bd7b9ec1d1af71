"""External sorting of bytes objects, where files cannot be read and where nobody reads them."""

import errno
import io
import os

import pytest

from uricodec._counting.sorting import Sorter
from uricodec._io.files import FileError
from uricodec._io.scratch import Scratch


class Unreadable(io.BytesIO):
    def read(self, *_size):
        raise OSError(errno.EIO, os.strerror(errno.EIO))


def test_sorted_runs_that_cannot_be_read(tmp_path, monkeypatch):
    with Scratch(tmp_path) as scratch:
        monkeypatch.setattr(scratch, "file", Unreadable)
        sorter = Sorter(scratch, 100)
        for record in b"b" * 100, b"a" * 100:
            sorter.add(record)
        with pytest.raises(FileError, match=r"Input/output error$"):
            next(iter(sorter))


def test_sorted_runs_that_nobody_reads(tmp_path):
    with Scratch(tmp_path) as scratch:
        sorter = Sorter(scratch, 100)
        for record in b"b" * 100, b"a" * 100:
            sorter.add(record)
        files = list(scratch._files[1:])
        sorter.close()
        assert len(files) == 2 and all(file.closed for file in files)
        assert list(sorter) == []
