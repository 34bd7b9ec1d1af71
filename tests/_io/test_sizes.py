"""The memory of a machine, of which shares are used."""

import errno
import io
import os

import pytest

from uricodec._io import sizes

resource = pytest.importorskip("resource", reason="no limits of processes")


def test_memory_of_a_machine_that_does_not_tell(monkeypatch):
    def unknown(_name):
        raise ValueError("unrecognized configuration name")

    monkeypatch.setattr(os, "sysconf", unknown)
    assert 0 < sizes.machine_memory() <= 1 << 31
    assert sizes.parse_memory("50%") == sizes.machine_memory() // 2


def test_memory_that_a_process_may_address(monkeypatch):
    all_there_is = sizes.machine_memory()
    for limit, memory in (1 << 20, 1 << 20), (1 << 50, all_there_is), (resource.RLIM_INFINITY, all_there_is):
        monkeypatch.setattr(resource, "getrlimit", lambda _, limit=limit: (limit, resource.RLIM_INFINITY))
        assert sizes.machine_memory() == memory


@pytest.mark.parametrize("octets", [b"1048576\n", b"max\n", None])
def test_memory_of_a_control_group(monkeypatch, octets):
    """It is what the process may have, if that is less than there is."""

    def files(path, mode):
        assert (path, mode) == ("/sys/fs/cgroup/memory.max", "rb")
        if octets is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        return io.BytesIO(octets)

    monkeypatch.setattr(os, "sysconf", {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": 1 << 20}.get)
    monkeypatch.setattr(sizes, "open", files, raising=False)
    assert sizes.machine_memory() == (1 << 20 if octets and octets != b"max\n" else 1 << 32)
    assert sizes.parse_memory("50%") == sizes.machine_memory() // 2
