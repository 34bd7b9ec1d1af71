"""Each call of the system that a command makes may fail: an error names the file, and old outputs stay as they were."""

import errno
import gzip
import io
import os
import re
import signal
import time
from itertools import pairwise

import pytest
from support.command import run
from support.marks import long

from uricodec._io import reading, scratch, temporary, writing
from uricodec.cli import dedup

pytest.importorskip("fcntl", reason="other calls of the system, and no /proc")

BEFORE = b"before\n"


def make_urns():
    """Some more names than the smallest table holds; a few are invalid, and a few have a second spelling."""
    for row in range(930):
        prefix = b"URN:Example" if row in range(620, 640) else b"urn:example"
        yield b"urn:%\n" if row % 100 == 7 else b"%s:%%41%d\n" % (prefix, row % 620)


URNS = b"".join(make_urns())
LOG = (b'192.0.2.1 - - [10/Oct/2000:13:55:36 -0700] "GET /%41 HTTP/1.0" 200 2326\n' * 120 + b"not a record\n") * 5
SPILLING = ["dedup", "--kind", "urn", "--secret", "k", "--memory", "1K", "--spill-dir", "spill"]
REPORTS = ["--groups", "groups", "--invalid-to", "bad"]

# What is run, and what it reads. Its outputs are -o, --groups and --invalid-to.
COMMANDS = {
    "decode": (["decode", "in", "-o", "out"], URNS),
    "decode, compressed": (["decode", "in", "-o", "out"], gzip.compress(URNS)),
    "decode, two threads": (["decode", "-j", "2", "in", "-o", "out"], URNS),
    "decode, its own input": (["decode", "in", "-o", "in"], URNS),
    "encode, a new output": (["encode", "in", "-o", "new"], URNS),
    "requote, fields": (["requote", "-f", "1", "in", "-o", "out", "--invalid-to", "bad"], URNS),
    "normalize": (["normalize", "--kind", "urn", "in", "-o", "out", "--invalid-to", "bad"], URNS),
    "check": (["check", "--kind", "urn", "in", "-o", "out"], URNS),
    "extract": (["extract", "--kind", "urn", "in", "-o", "out"], URNS),
    "log": (["log", "in", "-o", "out", "--invalid-to", "bad"], LOG),
    "dedup": (
        ["dedup", "--kind", "urn", "--secret-file", "key", "--spill-dir", "spill", "in", "-o", "out", *REPORTS],
        URNS,
    ),
    "dedup, spilling": ([*SPILLING, "in", "-o", "out"], URNS),
    "dedup, counts": ([*SPILLING, "--count", "in", "-o", "out"], URNS),
    "dedup, reports": ([*SPILLING, "--exact", "in", "-o", "out", *REPORTS], URNS),
    "dedup, two threads": ([*SPILLING, "-j", "2", "in", "-o", "out", "--invalid-to", "bad"], URNS),
    "dedup, standard input": ([*SPILLING, "--repeated", "-o", "out"], URNS),
    "dedup, estimate": (["dedup", "--kind", "urn", "--secret", "x", "--estimate", "in", "-o", "out"], URNS),
}
OUTPUTS = ("-o", "--groups", "--invalid-to")


class Faults:
    """The calls of a run, of which one fails, or all from that on.

    Args:
        at (int): Which one, from 1.
        number (int): The error number.
        all_after (bool): Whether all that follow fail as well.

    Attributes:
        calls (list[tuple[str, str]]): Those that failed: what was called, and the path.
        renamed (set[str]): Which outputs have taken their place.
        before (set[str] | None): Which of them had when the first call failed.
    """

    def __init__(self, at, number, all_after):
        self._at, self._number, self._all_after = at, number, all_after
        self._made = 0
        self.calls, self.renamed, self.before = [], set(), None

    def make(self, what, path):
        """Count a call, and let it fail if it is to."""
        self._made += 1
        if self._made == self._at or (self._all_after and self._made > self._at):
            self.calls.append((what, os.fspath(path)))
            if self.before is None:
                self.before = set(self.renamed)
            raise OSError(self._number, os.strerror(self._number))

    def patch(self, monkeypatch):
        """Put this in the place of the calls that the package makes for files."""
        faults = self

        class File(io.FileIO):
            """A file all calls of which are counted."""

            def _make(self, what):
                faults.make(what, path_of(self.fileno()))

            def readinto(self, buffer):
                self._make("read")
                return super().readinto(buffer)

            def readall(self):
                self._make("read")
                return super().readall()

            def write(self, data):
                self._make("write")
                return super().write(data)

            def seek(self, *arguments):
                self._make("seek")
                return super().seek(*arguments)

            def close(self):
                if not self.closed:
                    path = path_of(self.fileno())
                    super().close()
                    faults.make("close", path)

        def open_file(file, mode="r", buffering=-1):
            if isinstance(file, str) and not file.startswith("/sys/"):  # what that says is not needed
                faults.make("open", file)
            raw = File(file, mode.replace("b", ""))
            return raw if buffering == 0 else io.BufferedReader(raw)

        def wrap(name, path_from):
            call = getattr(os, name)

            def make_and_call(*arguments, **options):
                path = path_from(*arguments)
                if name == "close":  # the descriptor is gone, whatever close says
                    call(*arguments)
                faults.make(name, path)
                result = None if name == "close" else call(*arguments, **options)
                if name == "replace":
                    faults.renamed.add(os.path.basename(arguments[1]))
                return result

            monkeypatch.setattr(os, name, make_and_call)

        def map_file(number, size):
            faults.make("mmap", path_of(number))
            return mmap(number, size)

        mmap = scratch.mmap
        monkeypatch.setattr(scratch, "mmap", map_file)
        for module in reading, writing, temporary, scratch, dedup:
            monkeypatch.setattr(module, "open", open_file, raising=False)
        for name in "open", "readlink", "unlink", "replace":
            wrap(name, lambda path, *_: path)
        for name in "close", "dup", "fsync", "fchmod", "fchown", "lseek", "ftruncate", "posix_fallocate":
            if hasattr(os, name):
                wrap(name, lambda number, *_: path_of(number))


readlink = os.readlink


def path_of(number):
    return readlink(f"/proc/self/fd/{number}")


def names_of(path, folder, outputs):
    """The names by which a message may call the file of a path."""
    name = os.path.basename(path)
    whole = os.path.join(folder, path)
    if whole.startswith(os.path.join(folder, "spill")):
        return {"spill"}
    if name in ("", ".", os.path.basename(folder)) or name.startswith(".uricodec-"):
        return outputs
    found = re.fullmatch(r"\.(.*)\.uricodec\.tmp(?: \(deleted\))?", name)
    return {found[1] if found else name}


def descriptors_are(expected):
    """Whether these are open; a thread that has ended may close what it had a moment later."""
    end = time.monotonic() + 5
    while set(os.listdir("/proc/self/fd")) != expected and time.monotonic() < end:
        time.sleep(0.001)
    return set(os.listdir("/proc/self/fd")) == expected


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="nothing says which descriptors are open")
@pytest.mark.parametrize(
    ("number", "all_after"), [(errno.EIO, False), *long((errno.ENOSPC, True))], ids=["one", "all after"]
)
@pytest.mark.parametrize(
    "name", [*list(COMMANDS)[:2], *(pytest.param(name, marks=pytest.mark.slow) for name in list(COMMANDS)[2:])]
)
def test_each_call_fails(tmp_path, monkeypatch, name, number, all_after):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(reading, "CHUNK", 8192)
    command, data = COMMANDS[name]
    outputs = {path for option, path in pairwise(command) if option in OUTPUTS}
    stdin = b"" if "in" in command else data

    def reset():
        for each in outputs - {"new"}:
            (tmp_path / each).write_bytes(BEFORE)
        (tmp_path / "new").unlink(missing_ok=True)
        (tmp_path / "in").write_bytes(data)
        return contents()

    def contents():
        return {each.name: each.read_bytes() for each in tmp_path.iterdir() if each.is_file()}

    (tmp_path / "spill").mkdir()
    (tmp_path / "key").write_bytes(b"secret")
    before = reset()
    status, output, said = run(*command, stdin=stdin)
    assert (status in (0, 1), output, said) == (True, b"", "")
    after = contents()
    assert all(after[each] != before.get(each) for each in outputs)
    descriptors = set(os.listdir("/proc/self/fd"))
    at = 0
    while True:
        at += 1
        reset()
        faults = Faults(at, number, all_after)
        with pytest.MonkeyPatch.context() as patch:
            faults.patch(patch)
            found, output, said = run(*command, stdin=stdin)
        what = f"call {at}: {faults.calls[:3]}: {said}"
        assert descriptors_are(descriptors), what
        assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL, what
        assert os.listdir("spill") == [], what
        left = contents()
        if any(call == "unlink" for call, _ in faults.calls):  # then it is there for the next run
            for each in left.keys() - before.keys() - after.keys():
                assert re.fullmatch(r"\..*\.uricodec\.tmp|\.uricodec-.*\.tmp", each), what
                left.pop(each)
                os.unlink(each)
        if found == status:
            assert (said, left) == ("", after), what
        else:
            assert (found, output) == (3, b""), what
            names = {each for _, path in faults.calls for each in names_of(path, str(tmp_path), outputs)}
            assert said in {f"uricodec: {each}: {os.strerror(number)}\n" for each in names}, what
            assert faults.renamed == faults.before, what
            assert left == before | {each: after[each] for each in faults.renamed}, what
        if not faults.calls:
            break
    assert at > (40 if "1K" in command else 15)
