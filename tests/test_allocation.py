"""No memory: every public function raises MemoryError or gives the right answer, and nothing breaks; sweep.py does it.

`_testcapi.set_nomemory` fails what goes through the interpreter's allocators, which is nearly all. It does not see

- the structs of Arrow, a few octets each, which the C library's calloc() makes, because consumers free them so;
- blocks of 2 MiB and more, which are mappings (`_arrow.pyx`), and the table of names (`simd/memory.h`).

URICODEC_SWEEP says how many allocations of each call fail in turn, 0 for all; without it, a few.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import threading
import time

import pytest
from support.arrow_memory import Lent
from support.calls import CALLS, FOREIGN
from support.marks import long

import uricodec
from uricodec import bulk
from uricodec._base._fingerprint import FingerprintKey
from uricodec._records._fields import transform_fields
from uricodec._records._framing import Framing
from uricodec._url import _hosts
from uricodec.dedup._identifiers import ColumnBatch, LineBatch
from uricodec.errors import IriError
from uricodec.iri._conversion import IriToUriRows

HERE = pathlib.Path(__file__).parent
MOST = os.environ.get("URICODEC_SWEEP", "4")

# The interpreter's own work in the middle of a call: what comes of it says nothing about us.
GROUPS = {}
for _name in CALLS.keys() - FOREIGN:
    GROUPS.setdefault(_name.rpartition(".")[0] if ".bulk." not in _name else _name, []).append(_name)


@pytest.mark.skipif(sys.version_info < (3, 14), reason="without memory, the interpreter crashes by itself before 3.14")
@pytest.mark.skipif(
    not hasattr(os, "fork"), reason="each call is made in a process of its own, which costs too much here"
)
@pytest.mark.soak
@pytest.mark.parametrize("group", sorted(GROUPS))
def test_any_allocation_may_fail(group, tmp_path):
    pytest.importorskip("_testcapi", reason="this interpreter came without its own tests")
    place = tmp_path / "place"
    place.write_bytes(bytes(256))
    path = os.pathsep.join([str(pathlib.Path(uricodec.__file__).parents[1]), *sys.path])
    done = subprocess.run(
        [sys.executable, str(HERE / "support/sweep.py"), str(place), MOST, *GROUPS[group]],
        env={**os.environ, "PYTHONPATH": path, "PYTHONMALLOC": "malloc_debug"},
        capture_output=True,
        text=True,
        check=False,
        timeout=900,  # a lock that stays locked is waited for in vain
    )
    *found, counts = map(json.loads, done.stdout.splitlines())
    assert not found and counts["points"] > 0 and done.returncode == 0, (found, done.stderr)


# A host that is given to the library `idna`: its middle character is only valid between two "l".
HOST = "l·l"


class Stop(BaseException):
    """What no row is rejected for."""


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(
    "column",
    [[f"//{HOST}/"] * 9, [f"//{HOST}/"] * 900, f"//{HOST}/\n".encode() * 60_000],
    ids=["list", "long list", "lines"],
)
def test_errors_inside_of_a_row_are_raised(column, threads, monkeypatch):
    """As by Ctrl-C in the middle of a host: the call raises it, on whatever thread it was."""

    def stop(_host):
        raise Stop

    monkeypatch.setattr(_hosts, "to_ascii", stop)
    with pytest.raises(Stop):
        bulk.iri_to_uri(column, host="idna", threads=threads)
    monkeypatch.undo()
    assert bulk.iri_to_uri([f"http://{HOST}/"], host="idna") == ["http://xn--ll-0ea/"]


@pytest.mark.parametrize("raises", ["main", "other"])
def test_an_error_in_one_thread_stops_the_others(raises, monkeypatch):
    """At the end of the block that they are at, not of their part of the column."""
    done, running = [], threading.Event()

    def host_of(_host):
        if (threading.current_thread() is threading.main_thread()) == (raises == "main"):
            assert running.wait(60)
            raise Stop
        running.set()
        time.sleep(0.0001)  # the others get their turn
        done.append(1)
        return "xn--ll-0ea"

    monkeypatch.setattr(_hosts, "to_ascii", host_of)
    with pytest.raises(Stop):
        bulk.iri_to_uri(f"http://{HOST}/\n".encode() * 200_000, host="idna", threads=2)
    assert 0 < len(done) < 10_000


def test_threads_that_do_not_start_are_done_without(monkeypatch):
    def start(_thread):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", start)
    assert bulk.unquote(b"%41\n" * 600_000, threads=4) == b"A\n" * 600_000


def test_errors_inside_of_a_name_or_a_value_are_raised(monkeypatch):
    """As above, for rows of which the names are wanted, and for fields."""
    rows, key, row = IriToUriRows("raise", "idna"), FingerprintKey("k"), f"http://{HOST}/"
    columns = [row], [row.encode()], Lent([row.encode()])

    def stop(_host):
        raise Stop

    def name(column):
        names = ColumnBatch(rows, key)
        names.hold(column)
        return names.read(0)

    def value(dst=None):
        return transform_fields(row.encode(), dst, rows, Framing("lines", jsonl=True))

    monkeypatch.setattr(_hosts, "to_ascii", stop)
    for column in columns:
        with pytest.raises(Stop):
            name(column)
    with pytest.raises(Stop):
        LineBatch(rows, key).read(row.encode(), 0, 1)
    for dst in None, bytearray(1 << 16):
        with pytest.raises(Stop):
            value(dst)
    monkeypatch.undo()
    assert [name(column) for column in columns] == [1, 1, 1]
    assert LineBatch(rows, key).read(row.encode(), 0, 1)[:3] == (0, 1, 0)
    assert value()[0] == len(row.encode())


def test_a_host_that_is_too_long_is_rejected(monkeypatch):
    """Whatever the library for hosts gives: there is room for what a name may have."""
    monkeypatch.setattr(_hosts, "to_ascii", lambda _host: "a" * 100_000)
    with pytest.raises(IriError, match="row 0: "):
        bulk.iri_to_uri([f"http://{HOST}/"], host="idna", errors="raise")


limits = pytest.mark.skipif(sys.platform != "linux", reason="limits of a process")


@pytest.mark.slow
@limits
@pytest.mark.parametrize(
    "call",
    [
        "bulk.quote(data)",
        "bulk.fingerprint(data, secret='k')",
        "bulk.normalize_uri(bulk.Column(text.type, text.arrays * 50))",
        "uricodec.quote(data)",
        "uri.normalize(data)",
        "dedup.unique(data, kind='bytes', memory=1 << 33)",
        *long("bulk.quote([data])", "uricodec.percent_encode(data)"),
    ],
)
@pytest.mark.process
def test_large_blocks_may_not_be_there(call):
    """With an address space that is too small for the result there is a MemoryError, and the next call works."""
    code = f"""
import resource, sys
sys.path.insert(0, {str(HERE)!r})
from support.arrow_memory import Lent
import uricodec
from uricodec import bulk, dedup, uri
data = b"".join(b"/%07d a b" % i + b" " * 80 + b"\\n" for i in range(120_000))
lent = Lent(data.split(b"\\n"))
text = bulk.requote(lent, uricodec.ByteSet(range(256)))
data *= 8       # far more than what is kept for the next call
# What is loaded at the first call is loaded before.
bulk.quote(b"a b"), uricodec.quote(b"a b"), uri.normalize(b"a b"), dedup.unique(b"a b", kind="bytes", memory=1 << 20)
pages = int(open("/proc/self/statm").read().split()[0])
resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + (4 << 20),) * 2)
for _ in range(3):
    try:
        {call}
    except MemoryError:
        print("no memory")
    except RuntimeError as error:
        assert str(error) == "can't allocate lock"      # how the interpreter says so
        print("no memory")
    assert bulk.quote(b"a b") == b"a%20b"
"""
    path = os.pathsep.join([str(pathlib.Path(uricodec.__file__).parents[1]), *sys.path])
    environment = {**os.environ, "PYTHONPATH": path}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False, timeout=300
    )
    # Of a thread that has no memory for its first call, the interpreter says so. The other threads do the work.
    thread = r"Exception ignored in thread started by: .*\n(?:Traceback .*\n(?: .*\n)*)?MemoryError:? ?\n"
    assert (done.stdout, re.sub(thread, "", done.stderr)) == ("no memory\n" * 3, "")
