"""The file that an output is until it is complete: whose it is, who takes over what was left behind, and when not."""

import errno
import os
import random
import signal
import stat
import struct
import subprocess
import sys
import threading
import time
import warnings

import pytest
from support.command import COMMAND, output_of, process, run, wait_for_output

from uricodec._io import folders, locks, temporary
from uricodec._io.files import FileError, printable
from uricodec._io.writing import Output, place_of

fcntl = pytest.importorskip("fcntl", reason="no locks of files here: temporary files have random names")


def left_in(folder):
    return sorted(each.name for each in folder.iterdir())


def test_the_name_is_that_of_the_target(tmp_path):
    with Output(str(tmp_path / "out")) as output:
        output.write(b"a")
        assert left_in(tmp_path) == [".out.uricodec.tmp"]
    assert left_in(tmp_path) == ["out"]
    assert (tmp_path / "out").read_bytes() == b"a"


@pytest.mark.parametrize("name", ["x" * 255, "é" * 127, "x" * 120, "\udcff" * 200])
def test_names_that_are_long(tmp_path, name):
    with Output(str(tmp_path / name)) as output:
        (found,) = left_in(tmp_path)
        output.write(b"a")
    assert found == temporary.name_for(name) != temporary.name_for("y" + name[1:])
    assert len(os.fsencode(found)) < 140
    assert left_in(tmp_path) == [name]


def test_leftovers_are_taken_over(tmp_path):
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


# --- owner, group, permissions ----------------------------------------------------------------------------------------

needs_root = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can make files of other users"
)
USER, GROUP, OTHER = 54321, 54322, 54323


def owner_of(path):
    status = path.stat()
    return status.st_uid, status.st_gid, oct(stat.S_IMODE(status.st_mode))


def run_as(folder, groups, *arguments):
    """Run main() in a child that is no longer root, in a folder that need not be accessible by its path."""
    output_of("decode", "-o", os.devnull)  # what is imported here need not be readable there
    with warnings.catch_warnings():
        # From Python 3.12 on, fork() warns of other threads: pytest has one for faulthandler_timeout.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if not child:
        status = 99
        try:
            os.chdir(folder)
            os.setgroups(groups)
            os.setresgid(USER, USER, USER)
            os.setresuid(USER, USER, USER)
            status = run(*arguments, stdin=b"%41")[0]
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@needs_root
@pytest.mark.parametrize("mode", [0o4755, 0o2755, 0o6755, 0o1777, 0o7777])
def test_set_id_bits_are_never_copied(tmp_path, mode):
    """What root writes would run with the rights of root, and what others wrote with theirs."""
    path = tmp_path / "out"
    for owner in USER, 0:
        path.write_bytes(b"before")
        os.chown(path, owner, GROUP)
        path.chmod(mode)
        assert run("decode", "-o", path, stdin=b"%41") == (0, b"", "")
        assert owner_of(path) == (owner, GROUP, oct(mode & 0o777))


@needs_root
@pytest.mark.parametrize("option", ["-o", "--groups", "--invalid-to"])
def test_owner_and_group_stay(tmp_path, option):
    path, out = tmp_path / "file", tmp_path / "out"
    path.write_bytes(b"before")
    path.chmod(0o660)
    os.chown(path, USER, GROUP)
    more = [] if option == "-o" else ["-o", out]
    assert run("dedup", "--kind", "urn", *more, option, path, stdin=b"urn:a:b\n") == (0, b"", "")
    assert owner_of(path) == (USER, GROUP, "0o660")
    assert path.read_bytes() != b"before"


@pytest.mark.slow
@needs_root
@pytest.mark.parametrize(
    ("groups", "owner", "before", "after"),
    [
        ([GROUP], OTHER, 0o664, (USER, GROUP, "0o664")),
        ([GROUP], OTHER, 0o2660, (USER, GROUP, "0o660")),
        ([], OTHER, 0o666, (USER, USER, "0o666")),
        ([], OTHER, 0o646, (USER, USER, "0o644")),
        ([], USER, 0o664, (USER, USER, "0o644")),
        ([], USER, 0o640, (USER, USER, "0o600")),
        ([], USER, 0o604, (USER, USER, "0o600")),
    ],
)
def test_owners_that_another_user_can_keep(tmp_path, groups, owner, before, after):
    """The group, if it is one of theirs. If not, no group may do more than the old group and all others could."""
    tmp_path.chmod(0o777)
    path = tmp_path / "out"
    path.write_bytes(b"before")
    os.chown(path, owner, GROUP)
    path.chmod(before)
    assert run_as(tmp_path, groups, "decode", "-o", "out") == 0
    assert owner_of(path) == after
    assert path.read_bytes() == b"A"
    assert left_in(tmp_path) == ["out"]


@pytest.mark.parametrize("before", [None, 0o666])
def test_the_file_is_private_until_it_is_complete(tmp_path, before):
    path = tmp_path / "out"
    if before:
        path.touch()
        path.chmod(before)
    umask = os.umask(0o002)
    try:
        with Output(str(path)) as output:
            output.write(b"a")
            assert stat.S_IMODE((tmp_path / ".out.uricodec.tmp").stat().st_mode) == 0o600
    finally:
        os.umask(umask)
    assert stat.S_IMODE(path.stat().st_mode) == (before or 0o664)


def test_permissions_that_change_meanwhile(tmp_path):
    """Those of the end count; if there is no file then, those of the start."""
    path = tmp_path / "out"
    path.touch()
    path.chmod(0o640)
    with Output(str(path)):
        path.chmod(0o600)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with Output(str(path)):
        path.unlink()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_default_acl_of_the_folder(tmp_path):
    """It decides the permissions of a new file, and the umask does not."""
    entries = (0x01, 7, -1), (0x04, 7, -1), (0x20, 0, -1)  # user::rwx, group::rwx, other::---
    acl = struct.pack("<I", 2) + b"".join(struct.pack("<HHi", *entry) for entry in entries)
    try:
        os.setxattr(tmp_path, "system.posix_acl_default", acl)
    except (AttributeError, OSError) as error:
        pytest.skip(f"no ACLs here: {error}")
    assert run("decode", "-o", tmp_path / "out", stdin=b"%41") == (0, b"", "")
    assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == 0o660


def test_a_link_that_the_system_does_not_follow(tmp_path, monkeypatch):
    """As that of another user in /tmp (fs.protected_symlinks of Linux): what it leads to is not replaced."""
    link, victim = tmp_path / "link", tmp_path / "victim"
    victim.write_bytes(b"precious")
    link.symlink_to(victim)
    status = os.stat

    def reject(path, **options):
        if path == str(link) and options.get("follow_symlinks", True):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        return status(path, **options)

    monkeypatch.setattr(os, "stat", reject)
    assert run("decode", "-o", link, stdin=b"%41") == (3, b"", f"uricodec: {link}: {os.strerror(errno.EACCES)}\n")
    assert victim.read_bytes() == b"precious"
    assert left_in(tmp_path) == ["link", "victim"]


@needs_root
@pytest.mark.parametrize("dangling", [False, True])
@pytest.mark.parametrize(
    ("mode", "owner", "follows"),
    [(0o1777, USER, False), (0o1777, OTHER, True), (0o1777, 0, True), (0o777, USER, True), (0o1775, USER, True)],
)
def test_links_of_others_in_a_shared_folder(tmp_path, mode, owner, follows, dangling):
    """Root follows only its own links there, and those of the owner of the folder."""
    folder, victim = tmp_path / "tmp", tmp_path / "victim"
    folder.mkdir()
    os.chown(folder, OTHER, OTHER)
    folder.chmod(mode)
    if not dangling:
        victim.write_bytes(b"precious")
    (folder / "out").symlink_to("../victim")
    os.chown(folder / "out", owner, owner, follow_symlinks=False)
    said = f"uricodec: {folder / 'out'}: {os.strerror(errno.EACCES)}\n"
    assert run("decode", "-o", folder / "out", stdin=b"%41") == ((0, b"", "") if follows else (3, b"", said))
    assert left_in(folder) == ["out"]
    if follows:
        assert victim.read_bytes() == b"A"
    else:
        assert not victim.exists() if dangling else victim.read_bytes() == b"precious"


# --- crashes of the system --------------------------------------------------------------------------------------------


def record_calls(monkeypatch, errors=None):
    """Record which files are synced and renamed. `errors` has error numbers for fsync of a file or a folder."""
    sync, replace, calls = os.fsync, os.replace, []

    def record_sync(number):
        kind = "folder" if stat.S_ISDIR(os.fstat(number).st_mode) else "file"
        calls.append(kind)
        if kind in (errors or {}):
            raise OSError(errors[kind], os.strerror(errors[kind]))
        sync(number)

    def record_replace(*arguments, **options):
        calls.append("rename")
        replace(*arguments, **options)

    monkeypatch.setattr(os, "fsync", record_sync)
    monkeypatch.setattr(os, "replace", record_replace)
    return calls


def test_each_step_is_on_the_disk_before_the_next(tmp_path, monkeypatch):
    calls = record_calls(monkeypatch)
    assert run("decode", "-o", tmp_path / "out", stdin=b"%41") == (0, b"", "")
    assert calls == ["file", "rename", "folder"]


@pytest.mark.parametrize("number", [errno.EINVAL, errno.ENOTSUP, errno.ENOSYS])
@pytest.mark.parametrize("kind", ["file", "folder"])
def test_a_file_system_without_fsync(tmp_path, monkeypatch, kind, number):
    record_calls(monkeypatch, {kind: number})
    assert run("decode", "-o", tmp_path / "out", stdin=b"%41") == (0, b"", "")
    assert (tmp_path / "out").read_bytes() == b"A"


@pytest.mark.parametrize(("kind", "found"), [("file", b"before"), ("folder", b"A")])
def test_an_fsync_that_fails(tmp_path, monkeypatch, kind, found):
    """Before the rename the old file stays; after it the new one is there, and is complete."""
    path = tmp_path / "out"
    path.write_bytes(b"before")
    record_calls(monkeypatch, {kind: errno.EIO})
    assert run("decode", "-o", path, stdin=b"%41") == (3, b"", f"uricodec: {path}: {os.strerror(errno.EIO)}\n")
    assert path.read_bytes() == found
    assert left_in(tmp_path) == ["out"]


# --- where it is ------------------------------------------------------------------------------------------------------


@pytest.fixture
def deep(tmp_path, monkeypatch):
    """Work in a folder whose path is longer than PATH_MAX."""
    monkeypatch.chdir(tmp_path)
    for _ in range(20):
        os.mkdir("x" * 250)
        os.chdir("x" * 250)
    with open("in", "wb") as file:
        file.write(b"urn:example:%41\nurn:%\n")
    with pytest.raises(OSError, match="too long"):
        os.stat(os.path.join(os.getcwd(), "in"))


@pytest.mark.usefixtures("deep")
def test_a_folder_deeper_than_path_max():
    for _ in range(2):
        assert run("decode", "in", "-o", "out") == (0, b"", "")
        assert run("dedup", "--kind", "urn", "in", "-o", "out2", "--invalid-to", "bad", "--groups", "g") == (0, b"", "")
    assert sorted(os.listdir()) == ["bad", "g", "in", "out", "out2"]
    with open("out", "rb") as out, open("bad", "rb") as bad:
        assert (out.read(), bad.read()[:5]) == (b"urn:example:A\nurn:%\n", b"in\t2\t")
    same = (2, b"", "uricodec: --output and --invalid-to are the same file\n\nhint: change --invalid-to FILE\n")
    for one, other in [("out", "./out"), ("new", "../" + "x" * 250 + "/new")]:
        assert run("normalize", "--kind", "urn", "in", "-o", one, "--invalid-to", other) == same
    same = (2, b"", "uricodec: --groups and an input are the same file\n\nhint: give --groups another FILE\n")
    assert run("dedup", "--kind", "urn", "in", "--groups", "./in") == same


@pytest.mark.usefixtures("deep")
def test_links_in_a_folder_deeper_than_path_max():
    os.symlink("folder/link", "link")
    os.symlink("folder", "place")
    os.mkdir("folder")
    os.symlink("../out", "folder/link")
    for name in "link", "place/link":
        assert run("decode", "in", "-o", name) == (0, b"", "")
        with open("out", "rb") as out:
            assert out.read() == b"urn:example:A\nurn:%\n"
        os.unlink("out")
    assert sorted(os.listdir()) == ["folder", "in", "link", "place"]
    assert os.listdir("folder") == ["link"] and os.path.islink("folder/link")


def test_links_in_a_circle(tmp_path):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    said = f"uricodec: {tmp_path / 'a'}: {os.strerror(errno.ELOOP)}\n"
    assert run("decode", "-o", tmp_path / "a", stdin=b"%41") == (3, b"", said)
    with pytest.raises(OSError, match=os.strerror(errno.ELOOP)):
        temporary.find_target(str(tmp_path / "a"))


@pytest.mark.parametrize("name", ["", "missing/", "missing/out", "file/", "file/out", "loose"])
def test_names_of_no_file(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()
    (tmp_path / "loose").symlink_to("missing/")
    status, _, said = run("decode", "-o", name, stdin=b"%41")
    assert status == 3
    reason = errno.ENOTDIR if name.startswith("file/") else errno.ENOENT
    assert said == f"uricodec: {printable(name)}: {os.strerror(reason)}\n"
    assert left_in(tmp_path) == ["file", "loose"]


@needs_root
@pytest.mark.skipif(not hasattr(os, "O_PATH"), reason="only Linux opens folders that may not be read")
def test_a_folder_that_may_be_written_but_not_read(tmp_path):
    tmp_path.chmod(0o711)
    (tmp_path / "drop").mkdir()
    (tmp_path / "drop").chmod(0o733)
    assert run_as(tmp_path, [], "decode", "-o", "drop/out") == 0
    assert owner_of(tmp_path / "drop" / "out")[:2] == (USER, USER)
    assert (tmp_path / "drop" / "out").read_bytes() == b"A"


def test_the_working_directory_may_change_meanwhile(tmp_path, monkeypatch):
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path)
    with Output("out") as output:
        output.write(b"a")
        os.chdir("other")
    assert left_in(tmp_path) == ["other", "out"]
    assert left_in(tmp_path / "other") == []


# --- two at once ------------------------------------------------------------------------------------------------------


def test_two_at_once(tmp_path):
    """The second one has a name of its own, and who is done last wins."""
    path = str(tmp_path / "out")
    with Output(path) as one:
        with Output(path) as other:
            names = left_in(tmp_path)
            one.write(b"one")
            other.write(b"other")
        assert len(names) == 2 and ".out.uricodec.tmp" in names
        assert (tmp_path / "out").read_bytes() == b"other"
        assert left_in(tmp_path) == [".out.uricodec.tmp", "out"]
    assert (tmp_path / "out").read_bytes() == b"one"
    assert left_in(tmp_path) == ["out"]


def test_one_that_writes_alone(tmp_path):
    """Whoever is second is an error, until the first one is done; others that need not be alone write."""
    path = str(tmp_path / "out")
    for target in None, b"before":
        if target:
            (tmp_path / "out").write_bytes(target)
        with pytest.raises(ZeroDivisionError), Output(path, alone=True):
            with pytest.raises(FileError, match="another process is writing") as caught:
                Output(path, alone=True).__enter__()
            assert (caught.value.filename, caught.value.errno) == (path, errno.EWOULDBLOCK)
            with Output(path) as other:
                other.write(b"other")
            raise ZeroDivisionError
        assert left_in(tmp_path) == ["out"]
        with Output(path, alone=True) as output:
            output.write(b"mine")
        assert (tmp_path / "out").read_bytes() == b"mine"
        (tmp_path / "out").unlink()
    (tmp_path / ".out.uricodec.tmp").mkdir()  # it cannot be known who holds it
    with pytest.raises(FileError, match=r"'\.out\.uricodec\.tmp'"):
        Output(path, alone=True).__enter__()
    assert left_in(tmp_path) == [".out.uricodec.tmp"]


def test_the_one_that_holds_it_fails_last(tmp_path):
    path = str(tmp_path / "out")
    with pytest.raises(ZeroDivisionError), Output(path):
        with Output(path) as other:
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


def test_another_process_removes_what_is_not_locked_yet(tmp_path, monkeypatch):
    said, flock = [BlockingIOError()], fcntl.flock

    def is_late(number, how):
        if said:
            raise said.pop()
        flock(number, how)

    monkeypatch.setattr(fcntl, "flock", is_late)
    with Output(str(tmp_path / "out")) as output:
        output.write(b"a")
    assert (left_in(tmp_path), said) == (["out"], [])


def test_no_locks_on_that_file_system(tmp_path, monkeypatch):
    def flock(number, how):
        raise OSError(37, "No locks available")

    monkeypatch.setattr(fcntl, "flock", flock)
    for alone in False, True:
        with Output(str(tmp_path / "out"), alone) as output:
            (found,) = set(left_in(tmp_path)) - {"out"}
            assert found.startswith(".uricodec-")
            output.write(b"a")
        assert left_in(tmp_path) == ["out"]


def test_without_locks_at_all(tmp_path, monkeypatch):
    """As on Windows."""
    monkeypatch.setattr(locks, "fcntl", None)
    monkeypatch.chdir(tmp_path)
    for name in "fchown", "fchmod", "O_DIRECTORY":
        monkeypatch.delattr(os, name, raising=False)
    assert place_of("out") == place_of("./out") != place_of("in")
    with Output("out") as output:
        assert left_in(tmp_path)[0].startswith(".uricodec-")
        output.write(b"a")
    with pytest.raises(ZeroDivisionError), Output(str(tmp_path / "out")):
        raise ZeroDivisionError
    assert left_in(tmp_path) == ["out"]
    assert (tmp_path / "out").read_bytes() == b"a"


@pytest.mark.parametrize("moment", ["before the lock", "behind the lock"])
def test_another_process_is_faster(tmp_path, monkeypatch, moment):
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
    with Output(str(tmp_path / "out")) as output:
        assert (tmp_path / "out").read_bytes() == b"complete by now"
        output.write(b"new")
    assert left_in(tmp_path) == ["out"]
    assert (tmp_path / "out").read_bytes() == b"new"


def test_another_process_is_always_faster(tmp_path, monkeypatch):
    monkeypatch.setattr(locks, "is_at", lambda number, path, folder: False)
    path = tmp_path / "out"
    output = temporary.Temporary(str(path))
    assert any(name.startswith(".uricodec-") for name in left_in(tmp_path))
    output.replace()
    assert path.exists()


def test_an_interrupt_after_the_end_removes_nothing(tmp_path):
    path = tmp_path / "out"
    mine = temporary.Temporary(str(path))
    os.replace(tmp_path / ".out.uricodec.tmp", path)
    (tmp_path / ".out.uricodec.tmp").write_bytes(b"of the next one")
    mine.discard()
    assert left_in(tmp_path) == [".out.uricodec.tmp", "out"]


def test_permissions_that_cannot_be_had(tmp_path, monkeypatch):
    """Without them the output stays private."""

    def reject(*_):
        raise PermissionError(1, "Operation not permitted")

    path = tmp_path / "out"
    path.write_bytes(b"before")
    path.chmod(0o644)
    for name in "fchown", "fchmod":
        monkeypatch.setattr(os, name, reject)
    with Output(str(path)) as output:
        output.write(b"after")
    assert left_in(tmp_path) == ["out"]
    assert path.read_bytes() == b"after"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_another_process_has_removed_it(tmp_path, monkeypatch):
    """There is nothing left to be removed, and what went wrong is what is said."""
    for there in fcntl, None:
        monkeypatch.setattr(locks, "fcntl", there)
        with pytest.raises(ZeroDivisionError), Output(str(tmp_path / "out")):
            os.unlink(tmp_path / left_in(tmp_path)[0])
            raise ZeroDivisionError
        assert left_in(tmp_path) == []


def test_a_pipe_of_that_name_that_is_read(tmp_path):
    """It can be opened and locked, and stays all the same."""
    path = tmp_path / ".out.uricodec.tmp"
    os.mkfifo(path)
    reading = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        with Output(str(tmp_path / "out")) as output:
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
                with Output(path) as output:
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


@pytest.mark.slow
def test_killed_at_any_moment(tmp_path):
    """The next run for the same output leaves that, and nothing else."""
    path, out = tmp_path / "in", tmp_path / "out"
    path.write_bytes(b"/caf%C3%A9/a%20b\t%41\n" * 200_000)
    whole = process("decode", path).stdout
    chance = random.Random(3)
    for waits in [False, True] * 6:
        child = subprocess.Popen([*COMMAND, "decode", path, *["-"] * waits, "-o", out], stdin=subprocess.PIPE)
        if waits:
            wait_for_output(out)
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
    with Output(str(tmp_path / "out")):
        child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, close_fds=False)
    (tmp_path / ".out.uricodec.tmp").write_bytes(b"")
    with Output(str(tmp_path / "out")):
        assert left_in(tmp_path) == [".out.uricodec.tmp", "out"]
    child.communicate(b"\n")


@pytest.mark.skipif(locks.fcntl is None, reason="Windows has no such locks")
def test_a_file_that_took_the_place_of_an_abandoned_one_stays(tmp_path, monkeypatch):
    """Another process may replace the file after it was opened, and before it is locked."""
    path = tmp_path / "abandoned"
    path.write_bytes(b"old")
    flock = locks.fcntl.flock

    def replace_and_lock(number, operation):
        path.unlink()
        path.write_bytes(b"new")
        flock(number, operation)

    monkeypatch.setattr(locks.fcntl, "flock", replace_and_lock)
    assert temporary.FileName(str(path), None, 0o600).clear()
    assert path.read_bytes() == b"new"
    monkeypatch.undo()
    assert temporary.FileName(str(path), None, 0o600).clear() and not path.exists()


@pytest.mark.skipif(locks.fcntl is None, reason="Windows has no such locks")
def test_a_folder_that_took_the_place_of_an_abandoned_one_stays(tmp_path, monkeypatch):
    path = tmp_path / "abandoned"
    path.mkdir()
    flock = locks.fcntl.flock

    def replace_and_lock(number, operation):
        path.rename(tmp_path / "moved")
        path.mkdir()
        path.joinpath("new").touch()
        flock(number, operation)

    monkeypatch.setattr(locks.fcntl, "flock", replace_and_lock)
    assert folders.FolderName(str(path)).clear()
    assert path.joinpath("new").exists() and tmp_path.joinpath("moved").exists()
    monkeypatch.undo()
    assert folders.FolderName(str(path)).clear() and not path.exists()


@pytest.mark.skipif(locks.fcntl is None, reason="Windows has no such locks")
def test_a_folder_of_another_user_stays(tmp_path, monkeypatch):
    path = tmp_path / "abandoned"
    path.mkdir()
    monkeypatch.setattr(folders.os, "geteuid", lambda: path.stat().st_uid + 1)
    assert not folders.FolderName(str(path)).clear() and path.exists()
    monkeypatch.undo()
    assert folders.FolderName(str(path)).clear() and not path.exists()
