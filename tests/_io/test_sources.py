"""Files with lists and settings: pipes with a writer, without one, and with one that comes later."""

import os
import time
from threading import Thread

import pytest
from support.command import run

from uricodec._io import sources
from uricodec._io.files import FileError
from uricodec._io.reading import Input
from uricodec.uri import Policy, registrable_domain

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")

TOML = b'base = "crawl"\nstrip_www = true\n'
RULES = b'{"providers": {"globalRules": {"urlPattern": ".*", "rules": ["zz"]}}}'


@pytest.fixture
def pipe(tmp_path):
    path = tmp_path / "pipe.toml"
    os.mkfifo(path)
    return path


def fed(path, *parts, pause=0.0):
    """Open a pipe and write to it, in another thread, which is started; each time after a pause."""

    def write():
        time.sleep(pause)
        with open(path, "wb", buffering=0) as file:
            for part in parts:
                time.sleep(pause)
                file.write(part)

    thread = Thread(target=write)
    thread.start()
    return thread


@pytest.mark.parametrize("pause", [0.0, 0.1])
@pytest.mark.parametrize("parts", [[b"abc", b"de"], [b"a"], []])
def test_pipes_are_read_to_their_end(pipe, monkeypatch, parts, pause):
    monkeypatch.setattr(sources, "WRITER_DELAY", 60.0 if parts else 0.5)
    thread = fed(pipe, *parts, pause=pause)
    try:
        with sources.open_soon(pipe) as file:
            assert file.read() == b"".join(parts)
    except FileError as error:  # a writer that wrote nothing may have been there between two looks
        assert not parts and "without a writer" in str(error)
    thread.join()


def test_a_pipe_without_a_writer(pipe, monkeypatch):
    monkeypatch.setattr(sources, "WRITER_DELAY", 0.05)
    for read in sources.open_soon, Policy.from_toml, Policy.from_clearurls:
        with pytest.raises(OSError, match="named pipe without a writer"):
            read(pipe)
    for arguments in (
        ["normalize", "--kind", "uri", "--policy", pipe],
        ["dedup", "--kind", "uri", "--secret-file", pipe, "--seen", "x"],
    ):
        status, _, said = run(*arguments)
        assert status in {2, 3} and "named pipe without a writer" in said


@pytest.mark.parametrize("pause", [0.0, 0.1])
def test_settings_in_a_pipe(pipe, pause):
    thread = fed(pipe, TOML[:9], TOML[9:], pause=pause)
    assert Policy.from_toml(pipe) == Policy.ready("crawl").replace(strip_www=True)
    thread.join()
    thread = fed(pipe, RULES, pause=pause)
    assert Policy.from_clearurls(pipe).drop_parameters == ("zz",)
    thread.join()
    thread = fed(pipe, TOML, pause=pause)
    found = run("normalize", "--kind", "uri", "--policy", pipe, stdin=b"http://www.a.example/\n")
    assert found == (0, b"http://a.example/\n", "")
    thread.join()


def test_a_policy_in_a_process_substitution():
    first, second = os.pipe()
    os.write(second, TOML)
    os.close(second)
    path = f"/dev/fd/{first}"
    found = run("normalize", "--kind", "uri", "--policy", path, stdin=b"http://www.a.example/\n")
    os.close(first)
    assert found == (0, b"http://a.example/\n", "")


def test_a_suffix_list_is_read_again(pipe):
    """So it cannot be a pipe: the second read would find nothing."""
    with pytest.raises(ValueError, match="read again"):
        registrable_domain("http://a.example/", suffixes=pipe)


def test_peek(tmp_path):
    (tmp_path / "file").write_bytes(b"abcdef")
    for size in 0, 1, 3, 6, 9:
        with Input(str(tmp_path / "file")) as source:
            assert source.peek(size) == b"abcdef"[:size] == source.peek(size)
            found = bytearray(10)
            end = 0
            while count := source.read_into(memoryview(found)[end : end + 4]):
                end += count
            assert found[:end] == b"abcdef"
