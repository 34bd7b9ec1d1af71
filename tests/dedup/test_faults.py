"""Deduplication that is killed, interrupted, or has no room: nothing is lost, nothing stays, the rerun is right."""

import contextlib
import functools
import gzip
import json
import os
import pathlib
import random
import resource
import signal
import subprocess
import sys
import time

import pytest
from support.command import COMMAND, output_to_nobody, process, run
from support.marks import long
from support.tables import each_row

import uricodec
from uricodec._counting import partitions
from uricodec.dedup import _files

pytest.importorskip("fcntl", reason="no locks of files, and other signals")

# Processes work in other folders, where a relative path to the package leads nowhere.
PACKAGE = pathlib.Path(uricodec.__file__).resolve().parents[1]


@pytest.fixture(scope="module", autouse=True)
def package_is_found():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(PACKAGE))
        yield


ROWS = 30_000
DEDUP = ["dedup", "--kind", "urn"]
SMALL = ["--memory", "128K"]
MODES = {
    "memory": [],
    "spilling": SMALL,
    "counting": [*SMALL, "--count"],
    "groups": [*SMALL, "--repeated", "--groups", "groups"],
    "last": [*SMALL, "--keep", "last"],
    "newest": [*SMALL, "-d", ":", "-f", "3", "--keep", "newest", "--by", "3"],
}
every_mode = each_row("mode", MODES)
# Those that have most ways to fail: one file or two, in memory or not.
main_modes = pytest.mark.parametrize("mode", ["memory", "groups"])
spilling_modes = pytest.mark.parametrize("mode", ["counting", "groups"])


def make_lines():
    """Half of them distinct names; of the others, some are spelled in another way."""
    chance = random.Random(5)
    for row in range(ROWS):
        number = row if chance.random() < 0.5 else chance.randrange(row + 1)
        yield b"%s:%08d%s\n" % (chance.choice([b"urn:example", b"URN:Example"]), number, chance.choice([b"", b"#x"]))


LINES = b"".join(make_lines())


@pytest.fixture(scope="module")
def clean(tmp_path_factory):
    """What a mode writes if nothing happens, and how long that takes: outputs by name, seconds."""

    @functools.cache
    def outputs(mode):
        folder = tmp_path_factory.mktemp(mode)
        (folder / "in").write_bytes(LINES)
        start = time.monotonic()
        done = process(*DEDUP, *MODES[mode], "--stats", "in", "-o", "out", cwd=folder)
        seconds = time.monotonic() - start
        assert done.returncode == 0
        assert (json.loads(done.stderr)["spilled"] > 50_000) == (mode != "memory")
        return {each: (folder / each).read_bytes() for each in sorted(os.listdir(folder))}, seconds

    return outputs


@pytest.fixture
def place(tmp_path):
    """A folder with the input, and another one, for temporary files."""
    (tmp_path / "spill").mkdir()
    (tmp_path / "in").write_bytes(LINES)
    return tmp_path


def contents(place):
    return {each.name: each.read_bytes() for each in place.iterdir() if each.is_file()}


def start(place, mode, *more, **options):
    command = [*COMMAND, *DEDUP, *MODES[mode], "--spill-dir", "spill", *more, "in", "-o", "out"]
    return subprocess.Popen(command, cwd=place, stderr=subprocess.PIPE, **options)


@pytest.mark.slow
def test_spilling_does_not_show(clean):
    assert clean("memory")[0] == clean("spilling")[0]
    assert clean("groups")[0]["groups"].count(b"\n") > 5_000


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["spilling", "groups"])
def test_killed_at_any_moment(place, clean, mode):
    """Five times before the end: outputs are as they were, or complete; the rerun is like any other."""
    expected, seconds = clean(mode)
    outputs = [name for name in expected if name != "in"]
    chance = random.Random(mode)
    stale = killed = 0
    while killed < 5:
        for name in outputs:
            (place / name).write_bytes(b"before")
        child = start(place, mode)
        if killed < 2:  # while it writes: on a busy machine, chance alone may not find that moment
            while child.poll() is None and not any((place / f".{name}.uricodec.tmp").exists() for name in outputs):
                time.sleep(0.001)
        else:
            time.sleep(chance.uniform(0.0, 1.1 * seconds))
        child.kill()
        if child.wait() == 0:
            seconds *= 0.9  # the machine is faster than it was
        else:
            killed += 1
        child.stderr.close()
        found = contents(place)
        assert found["in"] == LINES
        assert all(found[name] in (b"before", expected[name]) for name in outputs)
        left = found.keys() - expected.keys()
        assert left <= {f".{name}.uricodec.tmp" for name in outputs}
        stale += bool(left)
        assert os.listdir(place / "spill") == []
    assert stale
    child = start(place, mode)
    assert (child.communicate()[1], child.returncode) == (b"", 0)
    assert contents(place) == expected


@pytest.mark.slow
@pytest.mark.parametrize(("mode", "number"), [("groups", signal.SIGINT), ("last", signal.SIGTERM)])
def test_interrupted_at_any_moment(place, clean, mode, number):
    """From when the output is there under another name."""
    expected, seconds = clean(mode)
    chance = random.Random(f"{mode} {number}")
    interrupted = 0
    for attempt in range(40):
        if attempt >= 3 and interrupted:
            break
        child = start(place, mode)
        while not (place / ".out.uricodec.tmp").exists() and child.poll() is None:
            time.sleep(0.001)
        time.sleep(chance.uniform(0.005, 0.6 * seconds) * 0.9**attempt)  # a machine may be slow for a while
        child.send_signal(number)
        said = child.communicate()[1]
        assert os.listdir(place / "spill") == []
        found = contents(place)
        if found != expected:  # otherwise the signal came at the end, when Python has a way of its own
            interrupted += 1
            assert (child.returncode, said) == (128 + number, b"")
            assert found.pop("in") == LINES
            # One output may be complete before the other.
            assert all(found[name] == expected[name] for name in found)
        for name in expected.keys() - {"in"}:
            (place / name).unlink(missing_ok=True)
    assert interrupted


# --- no room ----------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def small_disk(path, size):
    """A folder with room for so many octets; without the right to mount one, no file of a process may be longer.

    Yields:
        tuple[str, dict]: What a failure is called, and options of a process.
    """
    mounted = os.geteuid() == 0 and sys.platform == "linux"
    mounted = (
        mounted
        and not subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", path], capture_output=True, check=False
        ).returncode
    )
    if mounted:
        try:
            yield "No space left on device", {}
        finally:
            subprocess.run(["umount", path], check=True)
        return

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    yield "File too large", {"preexec_fn": limit}


SIZES = [4096, 128 * 1024, 1024 * 1024, *long(32 * 1024, 512 * 1024)]


@pytest.mark.slow
@main_modes
@pytest.mark.parametrize("size", SIZES)
def test_no_space_for_the_output(place, clean, mode, size):
    (place / "disk").mkdir()
    expected = clean(mode)[0]
    with small_disk(place / "disk", size) as (reason, options):
        (place / "disk" / "out").write_bytes(b"before")
        command = [*DEDUP, *MODES[mode], "--spill-dir", "spill" if options == {} else "/dev/shm", "in"]
        done = process(*command, "-o", "disk/out", cwd=place, **options)
        found = contents(place / "disk")
    if done.returncode == 0:
        assert found == {"out": expected["out"]}
    else:
        assert done.returncode == 3
        assert done.stderr.decode().startswith("uricodec: ")
        assert done.stderr.decode().endswith(f": {reason}\n") and done.stderr.count(b"\n") == 1
        assert found == {"out": b"before"}
    assert (done.returncode == 0) == (size > len(expected["out"])) or options
    assert (place / "in").read_bytes() == LINES
    assert os.listdir(place / "spill") == []


@pytest.mark.slow
@spilling_modes
@pytest.mark.parametrize("size", SIZES)
def test_no_space_for_what_is_spilled(place, clean, mode, size):
    expected = clean(mode)[0]
    with small_disk(place / "spill", size) as (reason, options):
        child = start(place, mode, **options)
        said = child.communicate()[1].decode()
        assert os.listdir(place / "spill") == []
    if child.returncode == 0:
        assert contents(place) == expected
    else:
        assert child.returncode == 3
        assert contents(place) == {"in": LINES}
        assert said in (f"uricodec: spill: {reason}\n", f"uricodec: out: {reason}\n")
    assert child.returncode == 3 or size > 128 * 1024
    child = start(place, mode)
    assert (child.communicate()[1], child.returncode) == (b"", 0)
    assert contents(place) == expected


@pytest.mark.slow
@pytest.mark.parametrize("options", [[], ["--count"]], ids=["unique", "count"])
def test_no_space_for_standard_input(place, options):
    """Which is kept in a file, when it is needed again."""
    with small_disk(place / "spill", 64 * 1024) as (reason, limits):
        command = [*DEDUP, *SMALL, *options, "--spill-dir", "spill", "-o", "out"]
        done = process(*command, input=LINES, cwd=place, **limits)
    assert (done.returncode, done.stderr.decode()) == (3, f"uricodec: spill: {reason}\n")
    assert contents(place) == {"in": LINES}


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
@main_modes
def test_a_full_device_is_reported(place, mode):
    with open("/dev/full", "wb") as full:
        command = [*COMMAND, *DEDUP, *MODES[mode], "in"]
        done = subprocess.run(command, cwd=place, stdout=full, stderr=subprocess.PIPE, check=False)
    assert (done.returncode, done.stderr) == (3, b"uricodec: <stdout>: No space left on device\n")
    assert contents(place) == {"in": LINES}


@pytest.mark.slow
@main_modes
def test_a_closed_pipe_is_quiet(place, mode):
    done = output_to_nobody(*DEDUP, *MODES[mode], "--spill-dir", "spill", "in", cwd=place)
    assert (done.returncode, done.stderr) == (141, b"")
    assert contents(place) == {"in": LINES}
    assert os.listdir(place / "spill") == []


# --- what is known before work starts ---------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["missing", "a file", "not writable"])
def test_a_spill_folder_that_cannot_be(tmp_path, kind):
    """Is known before anything is read: nobody ever writes to this standard input."""
    spill = tmp_path / "spill"
    reason = "No such file or directory"
    if kind == "a file":
        spill.write_bytes(b"")
        reason = "Not a directory"
    elif kind == "not writable":
        if os.geteuid() == 0:
            pytest.skip("root writes everywhere")
        spill.mkdir(0o500)
        reason = "Permission denied"
    reading, writing = os.pipe()
    try:
        done = process(*DEDUP, "--spill-dir", spill, "-o", tmp_path / "out", stdin=reading)
    finally:
        os.close(reading)
        os.close(writing)
    assert (done.returncode, done.stdout) == (3, b"")
    assert done.stderr.decode() == f"uricodec: {spill}: {reason}\n"
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
@pytest.mark.parametrize("option", ["-o", "--groups", "--invalid-to"])
def test_an_output_that_cannot_be(tmp_path, option):
    reading, writing = os.pipe()
    try:
        done = process(*DEDUP, option, tmp_path / "missing" / "out", stdin=reading)
    finally:
        os.close(reading)
        os.close(writing)
    assert (done.returncode, done.stdout) == (3, b"")
    assert done.stderr.decode() == f"uricodec: {tmp_path / 'missing' / 'out'}: No such file or directory\n"


# --- inputs that fail -------------------------------------------------------------------------------------------------


@pytest.mark.slow
@main_modes
@pytest.mark.parametrize("share", [0.2, 0.9])
def test_a_truncated_input_says_where(place, mode, share):
    whole = gzip.compress(LINES, 1)
    (place / "in").write_bytes(whole[: int(share * len(whole))])
    (place / "out").write_bytes(b"before")
    before = contents(place)
    child = start(place, mode)
    said = child.communicate()[1].decode()
    assert child.returncode == 3
    assert said.startswith("uricodec: in: truncated gzip data (after ") and said.endswith(" bytes)\n")
    assert 0.5 * share < int(said.split()[-2]) / len(LINES) < min(1.0, 1.5 * share)
    assert contents(place) == before


@pytest.mark.slow
@main_modes
def test_a_damaged_input_is_reported(place, mode):
    whole = bytearray(gzip.compress(LINES, 1))
    whole[len(whole) // 2 : len(whole) // 2 + 8] = bytes(8)
    (place / "in").write_bytes(whole)
    child = start(place, mode)
    assert child.communicate()[1].startswith(b"uricodec: in: damaged gzip data (")
    assert child.returncode == 3
    assert contents(place) == {"in": whole}


CHANGES = {
    "gone": (os.unlink, "No such file or directory"),
    "shorter": (lambda path: os.truncate(path, 1000), "file was changed while it was read"),
    "longer": (lambda path: path.write_bytes(LINES + b"urn:example:new\n"), "file was changed while it was read"),
    "another": (
        lambda path: (path.with_name("new").write_bytes(LINES[::-1]), path.with_name("new").replace(path)),
        "file was changed while it was read",
    ),
}


@pytest.mark.slow
@spilling_modes
@pytest.mark.parametrize("change", CHANGES)
def test_an_input_that_changes_between_readings(place, monkeypatch, mode, change):
    monkeypatch.chdir(place)
    read = _files.Files.read_again
    act, reason = CHANGES[change]

    def later(self, *arguments, **options):
        act(place / "in")
        return read(self, *arguments, **options)

    monkeypatch.setattr(_files.Files, "read_again", later)
    (place / "out").write_bytes(b"before")
    assert run(*DEDUP, *MODES[mode], "in", "-o", "out") == (3, b"", f"uricodec: in: {reason}\n")
    assert contents(place).keys() - {"in"} == {"out"}
    assert (place / "out").read_bytes() == b"before"


@spilling_modes
@pytest.mark.parametrize("moment", ["before", "after"])
def test_an_input_that_changes_and_gets_its_time_back(place, monkeypatch, mode, moment):
    """It has the same size, too; but its time of change is another one."""
    monkeypatch.chdir(place)
    read, todo = _files.Files.read_again, [moment]

    def change():
        todo.clear()
        before = os.stat("in")
        (place / "in").write_bytes(LINES.replace(b"example", b"elpmaxe"))
        os.utime("in", ns=(before.st_atime_ns, before.st_mtime_ns))

    def change_and_read(self, phase, take, *arguments, **options):
        def take_and_change(names):
            if "after" in todo:
                change()
            take(names)

        if "before" in todo:
            change()
        return read(self, phase, take_and_change, *arguments, **options)

    monkeypatch.setattr(_files.Files, "read_again", change_and_read)
    (place / "out").write_bytes(b"before")
    said = "uricodec: in: file was changed while it was read\n"
    assert run(*DEDUP, *MODES[mode], "in", "-o", "out") == (3, b"", said)
    assert contents(place).keys() - {"in"} == {"out"}
    assert (place / "out").read_bytes() == b"before"


@spilling_modes
@pytest.mark.parametrize("change", ["shorter", "longer"])
def test_an_input_that_changes_in_the_second_reading(place, monkeypatch, mode, change):
    monkeypatch.chdir(place)
    end, (act, reason) = _files.RepeatableInput.end, CHANGES[change]

    def later(self, file, number, again, scratch=None):
        if again:
            act(place / "in")
        end(self, file, number, again, scratch)

    monkeypatch.setattr(_files.RepeatableInput, "end", later)
    (place / "out").write_bytes(b"before")
    assert run(*DEDUP, *MODES[mode], "in", "-o", "out") == (3, b"", f"uricodec: in: {reason}\n")
    assert contents(place).keys() - {"in"} == {"out"}
    assert (place / "out").read_bytes() == b"before"


def test_lines_that_are_rejected_in_the_second_reading_alone(place, monkeypatch):
    """The file looks as before: nobody can tell but by what is in it."""
    monkeypatch.chdir(place)
    read = _files.Files.read_again

    def later(self, *arguments, **options):
        before = os.stat("in")
        (place / "in").write_bytes(LINES.replace(b":", b"?"))
        os.utime("in", ns=(before.st_atime_ns, before.st_mtime_ns))
        return read(self, *arguments, **options)

    monkeypatch.setattr(_files.Files, "read_again", later)
    said = "uricodec: in: file was changed while it was read\n"
    assert run(*DEDUP, *MODES["groups"], "--errors", "raise", "in", "-o", "out") == (3, b"", said)
    assert contents(place).keys() == {"in"}


@spilling_modes
def test_a_truncated_temporary_file_is_an_error(place, monkeypatch, mode):
    finish = partitions.Spill.finish

    def cut(self):
        parts = finish(self)
        os.truncate(self._file._file.fileno(), self._file._size // 2)
        return parts

    monkeypatch.setattr(partitions.Spill, "finish", cut)
    monkeypatch.chdir(place)
    said = "uricodec: spill: temporary file was truncated\n"
    assert run(*DEDUP, *MODES[mode], "--spill-dir", "spill", "in", "-o", "out") == (3, b"", said)
    assert contents(place).keys() == {"in"} and os.listdir(place / "spill") == []


@pytest.mark.slow
@every_mode
def test_the_output_may_be_the_input(place, clean, mode, monkeypatch):
    monkeypatch.chdir(place)
    (place / "in").write_bytes(LINES)
    assert run(*DEDUP, *MODES[mode], "in", "-o", "in") == (0, b"", "")
    expected = dict(clean(mode)[0])
    expected["in"] = expected.pop("out")
    assert {name: octets for name, octets in contents(place).items() if name in expected} == expected


@pytest.mark.slow
@main_modes
def test_standard_input_is_the_same(place, clean, mode):
    done = process(*DEDUP, *MODES[mode], "--spill-dir", "spill", "-o", "out", input=LINES, cwd=place)
    assert (done.returncode, done.stderr) == (0, b"")
    assert contents(place) == clean(mode)[0]
    assert os.listdir(place / "spill") == []


@pytest.mark.slow
def test_two_at_once(place, clean):
    """Both are right, and neither takes the other's files."""
    children = [start(place, "groups") for _ in range(2)]
    for child in children:
        assert (child.communicate()[1], child.returncode) == (b"", 0)
    assert contents(place) == clean("groups")[0]
