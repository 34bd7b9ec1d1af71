"""Many threads at once, with the lock of the interpreter or without it: each gets what it gets alone.

Objects that may be shared are shared, and what happens once, when something is needed first, happens in all threads at
the same time. With the lock, threads take turns as often as can be. docs/reference/rules.md says why all
this holds.
"""

import json
import random
import subprocess
import sys
import threading
import time
import urllib.parse

import pytest
from support import calls

import uricodec
from uricodec import bulk, bytesets, dedup, iri, logs, parse, urn
from uricodec._base import _kernels
from uricodec._base._fingerprint import FingerprintKey
from uricodec._counting._spill import SpillBuffers
from uricodec._counting._table import Cardinality
from uricodec._rows._engine import RowOperation
from uricodec.bulk._operations import fingerprints as _column_operations
from uricodec.dedup._identifiers import LineBatch
from uricodec.parse import _install, _stdlib
from uricodec.urn import namespaces

THREADS = 8
FREE = not getattr(sys, "_is_gil_enabled", lambda: True)()
SHARED = {"cache_clear"} | calls.ALONE  # rows of the table that others would notice


@pytest.fixture(autouse=True)
def _many_turns():
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


def together(*works):
    """Do all of this at once; the first error is raised."""
    everybody, errors = threading.Barrier(len(works), timeout=60), []

    def do(work):
        try:
            everybody.wait()
            work()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=do, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def in_a_process(code):
    """What a program prints that has imported nothing of ours yet."""
    code = f"import sys; sys.path[:] = {json.dumps(sys.path)}; sys.setswitchinterval(1e-6)\n{code}"
    command = [sys.executable, "-X", "faulthandler", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


# --- calls ------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_every_call_gives_what_it_gives_alone():
    rows = [(name, call) for name in calls.CALLS.keys() - SHARED for call in calls.CALLS[name]]
    expected = [calls.outcome(call) for _, call in rows]

    def work(seed):
        order = list(range(len(rows)))
        random.Random(seed).shuffle(order)
        for i in order:
            name, call = rows[i]
            found = calls.outcome(call)
            assert found == expected[i], name

    together(*[lambda seed=seed: work(seed) for seed in range(THREADS if FREE else 2)])


@pytest.mark.slow
def test_calls_that_have_threads_of_their_own():
    rows = []
    for i, (name, row) in enumerate(calls.THREADED.items()):
        # With the lock, one kind of column for each operation.
        rows += [(name, call) for call in (row if FREE or len(row) < 3 else [row[i % len(row)]])]
    expected = [calls.outcome(call) for _, call in rows]

    def work(first):
        for i in [*range(first, len(rows)), *range(first)]:
            name, call = rows[i]
            assert calls.outcome(call) == expected[i], name

    together(*[lambda first=first: work(first % len(rows)) for first in range(2)])


def test_the_batch_engine_in_several_threads_each():
    lines = b"".join(b"/caf%%C3%%A9/%d?%%zz\n" % i for i in range(60_000))
    names = b"".join(b"URN:ISBN:%d-x\nurn:%%\n" % i for i in range(30_000))
    expected = bulk.unquote(lines, threads=1), bulk.normalize_urn(names, level="namespace", threads=1)

    def work():
        for _ in range(3):
            assert bulk.unquote(lines, threads=3) == expected[0]
            assert bulk.normalize_urn(names, level="namespace", threads=2) == expected[1]

    together(*[work] * 4)


@pytest.mark.slow
def test_another_tier_during_calls():
    """All tiers do the same, and what is called is always a kernel of one of them."""
    text, octets = "/é b%41" * 400, b"\xc3\xa9%C3%A9+" * 400
    expected = parse.quote(text), parse.unquote(text), parse.unquote_to_bytes(octets), urn.key("URN:a1:%2f" + "B" * 900)
    before, done = uricodec.cpu_tier(), threading.Event()

    def switch():
        for i in range(300):
            _kernels.use_tier(uricodec.cpu_tiers()[i % len(uricodec.cpu_tiers())])
        done.set()

    def work():
        while not done.is_set():
            found = parse.quote(text), parse.unquote(text), parse.unquote_to_bytes(octets)
            assert (*found, urn.key("URN:a1:%2f" + "B" * 900)) == expected

    try:
        together(switch, *[work] * (THREADS - 1))
    finally:
        _kernels.use_tier(before)


# --- what happens once ------------------------------------------------------------------------------------------------

FIRST = """
import threading
everybody, found = threading.Barrier(8, timeout=60), []
def work():
    everybody.wait()
    {imports}
    found.append({call})
threads = [threading.Thread(target=work) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(len(found), len(set(map(repr, found))), found[0])
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("imports", "call", "result"),
    [
        ("from uricodec import parse", "parse.quote('é', '', 'latin-1')", "%E9"),
        ("import uricodec", "uricodec.unquote('%E9', 'latin-1')", "é"),
        ("from uricodec import uri", "uri.normalize('http://é.example/', level='iri')", "http://xn--9ca.example/"),
        ("from uricodec import iri", "iri.iri_to_uri('http://é.example/', host='idna')", "http://xn--9ca.example/"),
        ("from uricodec import urn", "urn.normalize('URN:ISBN:0-X', level='namespace')", "urn:isbn:0X"),
        ("from uricodec import bulk", "bulk.unquote(['%41'])", "['A']"),
        ("from uricodec.dedup import unique", "unique(['urn:a1:b', 'URN:a1:b'], 'urn')", "['urn:a1:b']"),
        ("from uricodec import logs", "len(list(logs.parse(b'x', 'common', invalid=[])))", "0"),
        ("from uricodec.urn import namespaces", "namespaces.lookup('ISBN').nid", "isbn"),
    ],
)
def test_the_first_call_in_all_threads(imports, call, result):
    assert in_a_process(FIRST.format(imports=imports, call=call)) == f"{THREADS} 1 {result}\n"


def slowly(make):
    def made(*arguments):
        time.sleep(0.05)
        return make(*arguments)

    return made


def test_a_process_has_one_key(monkeypatch):
    """Threads whose calls were the first ones had a key each, and their fingerprints did not compare."""
    monkeypatch.setattr(_column_operations, "_own_key", {})
    monkeypatch.setattr(_column_operations, "FingerprintKey", slowly(FingerprintKey))
    found = []
    together(*[lambda: found.append(bulk.fingerprint(["a"])[0])] * THREADS)
    assert len(set(found)) == 1 and bulk.fingerprint(["a"])[0] in found


def test_a_driver_has_one_key(monkeypatch):
    from uricodec.integrations import spark

    monkeypatch.setattr(spark, "_own_secret", type(spark._own_secret)())
    monkeypatch.setattr(spark.os, "urandom", slowly(spark.os.urandom))
    found = []
    together(*[lambda: found.append(spark._shared_key(None).fingerprint("a"))] * 3)
    assert len(set(found)) == 1


def test_install_and_uninstall(monkeypatch):
    """The stdlib gets its own functions back, whoever installs while they are put back."""
    names = [*_stdlib.FAST, "clear_cache"]
    originals = {name: getattr(urllib.parse, name) for name in names}
    put_back, installed = threading.Event(), threading.Event()

    class SlowlyEmptied(list):
        def pop(self):
            if not put_back.is_set():
                put_back.set()
                installed.wait(0.2)
            return super().pop()

    def late():
        put_back.wait(60)
        uricodec.install()
        installed.set()

    monkeypatch.setattr(_install, "_replaced", SlowlyEmptied())

    try:
        uricodec.install()
        together(uricodec.uninstall, late)
        assert urllib.parse.quote.__module__ == "uricodec.parse"
        uricodec.uninstall()
        assert {name: getattr(urllib.parse, name) for name in names} == originals
    finally:
        for name, function in originals.items():
            setattr(urllib.parse, name, function)


def test_namespaces_that_are_registered_during_calls():
    """Before and after, and never the rule of another one. The table grows meanwhile."""
    nids = [f"x-threads-{i}" for i in range(1500)]
    lines = "".join(f"urn:{nid}:A-B\nurn:isbn:0-X\nurn:y{nid[2:]}:A-B\n" for nid in nids[::10]).encode()
    forms = {b"urn:isbn:0X\n", *[f"urn:{x}:{nss}\n".encode() for x in nids for nss in ("A-B", "a-b")]}
    forms |= {f"urn:y{nid[2:]}:A-B\n".encode() for nid in nids}
    done = threading.Event()

    def register(part):
        try:
            for nid in nids[part::2]:
                namespaces.register_namespace(nid, "nss")
        finally:
            done.set()

    def work():
        while True:
            last = done.is_set()
            assert urn.key("urn:isbn:0-X", level="namespace") == "urn:isbn:0X"
            assert urn.key("urn:unknown-1:A-B", level="namespace") == "urn:unknown-1:A-B"
            assert set(bulk.normalize_urn(lines, level="namespace").splitlines(keepends=True)) <= forms
            assert namespaces.lookup("isbn").rule == "drop-hyphens" or namespaces.lookup("isbn").nid == "isbn"
            if last:
                return

    together(lambda: register(0), lambda: register(1), *[work] * (THREADS - 2))
    assert all(urn.key(f"urn:{nid}:A-B", level="namespace") == f"urn:{nid}:a-b" for nid in nids)


# --- objects that are shared ------------------------------------------------------------------------------------------


def test_immutable_objects():
    octets, key = bytesets.RFC3986_PCHAR, FingerprintKey("k")
    name, parts = urn.URN("URN:Example:a%2fb?=q#f"), iri.split("http://é/a?b#c")

    def everything():
        return (
            *(bytes(octets | "é".encode()), bytes(~octets), hash(octets), octets - b"a" == octets, 0x61 in octets),
            *(parse.quote("a b", bytes(octets)), key.fingerprint("a")),
            *(name.nss, name.q_component, name.normalized, hash(name), name == urn.URN(str(name)), repr(name)),
            *(parts, parts._replace(query=None), hash(parts), str(parts)),
        )

    expected = everything()

    def work():
        for _ in range(200):
            assert everything() == expected

    together(*[work] * THREADS)


def test_results_of_urlsplit_are_of_their_urls():
    """Its cache has 129 places, and these are more URLs."""
    many = [f"http://host{i % 7}.example/{i:03}?q#{'f' * (i % 5)}" for i in range(200)]
    expected = {url: tuple(urllib.parse.urlsplit(url)) for url in many}

    def work(seed):
        order = random.Random(seed)
        for _ in range(4000):
            url = many[min(int(order.expovariate(0.05)), 199)]
            assert tuple(parse.urlsplit(url)) == expected[url]

    def clear():
        for _ in range(200):
            parse.clear_cache()
            if hasattr(parse.urlsplit, "cache_info"):  # as in urllib.parse, from 3.11 on
                info = parse.urlsplit.cache_info()
                assert 0 <= info.currsize <= info.maxsize

    together(clear, *[lambda seed=seed: work(seed) for seed in range(THREADS - 1)])


@pytest.mark.parametrize("memory", ["8M", 4096])
@pytest.mark.parametrize("exact", [False, True])
def test_a_deduplicator(memory, exact, tmp_path):
    """Each name is the first once, wherever it was found out; the numbers may be read at any time."""
    names, over = [f"urn:example:{'x' * (i % 99)}{i}" for i in range(3000)], threading.Event()
    lines = "\n".join(names).encode()
    with dedup.Deduplicator("urn", memory=memory, exact=exact, spill_dir=tmp_path) as shared:
        answers = []

        def look():
            counts = []
            while not over.is_set():
                counts.append(shared.count)
                assert shared.estimate >= 0 and shared.invalid == 0 and 0 <= shared.rows <= 7 * len(names)
            assert counts == sorted(counts)

        def add(turn):
            for start in range(0, 3000, 500) if turn % 2 else [0]:
                column = names[start : start + 500] if turn % 2 else lines
                answers.append(shared.add(column).count(True))

        def work():
            try:
                together(*[lambda turn=turn: add(turn) for turn in range(THREADS - 1)])
            finally:
                over.set()

        together(look, work)
        later = shared.finish()
        assert sum(answers) + len(later) == shared.count == len(names)
        assert shared.rows == 7 * len(names)


@pytest.mark.interop
def test_a_column():
    pa = pytest.importorskip("pyarrow")
    column = bulk.unquote(pa.chunked_array([["%41", None], ["b" * 99]]))

    def work():
        for _ in range(50):
            assert pa.chunked_array(column).to_pylist() == ["A", None, "b" * 99]
            assert pa.array(column).to_pylist() == ["A", None, "b" * 99]

    together(*[work] * THREADS)


# --- objects that are not to be shared: no crash, and no wrong answer in silence --------------------------------------


@pytest.mark.skipif(FREE and sys.version_info < (3, 15), reason="generators of that CPython may crash without the GIL")
def test_records_of_a_log_that_threads_take_in_turns():
    line = b'192.0.2.%d - - [01/Jan/2025:12:00:00 +0000] "GET /%d HTTP/1.1" 200 5\n'
    records, taken = logs.parse(b"".join(line % (i % 200, i) for i in range(2000))), []

    def work():
        while True:
            try:
                taken.append(next(records).path)
            except ValueError as error:
                assert "already executing" in str(error)
            except StopIteration:
                return

    together(*[work] * THREADS)
    assert len(set(taken)) == len(taken) and {*taken} <= {f"/{i}" for i in range(2000)}


def test_lists_that_others_change():
    rows, done = ["%41", "b", None, "%C3%A9"] * 50, threading.Event()
    answers = {"A", "b", None, "é"}

    def change():
        for i in range(2000):
            rows[i % 40 : i % 40 + 20] = ["%41"] * (i % 37)
            if i % 50 == 0:
                rows.clear()
            rows.extend(["b", "%C3%A9"] * 20)
            del rows[400:]
        done.set()

    def work():
        while not done.is_set():
            assert set(bulk.unquote(rows)) <= answers
            assert set(dedup.unique(rows, kind="bytes", memory="1M")) <= {"%41", "b", None, "%C3%A9"}

    together(change, *[work] * 4)


def test_mappings_that_others_change():
    query, values, done = {f"k{i}": i for i in range(20)}, ["1"] * 20, threading.Event()

    def change():
        for i in range(3000):
            query[f"k{i % 50}"] = str(i)
            query.pop(f"k{(i * 7) % 50}", None)
            values[i % 7 :] = ["1"] * (i % 31)
        done.set()

    def work():
        while not done.is_set():
            try:
                found = parse.urlencode(query)
            except RuntimeError as error:  # as that of the stdlib
                assert "changed" in str(error)
            else:
                assert all(pair[:1] == "k" and "=" in pair for pair in found.split("&") if pair)
            assert set(parse.urlencode({"v": values}, doseq=True).split("&")) <= {"v=1", ""}

    together(change, *[work] * 4)


@pytest.mark.skipif(FREE and sys.version_info < (3, 14), reason="a bytearray of that CPython may crash without the GIL")
def test_bytearrays_that_others_change():
    buffer, done = bytearray(b"a b%41/" * 2000), threading.Event()

    def change():
        for i in range(3000):
            try:
                del buffer[i % 500 :]
                buffer.extend(b"a b%41/" * (i % 1500))
            except BufferError:  # somebody looks at it
                pass
        done.set()

    def work():
        while not done.is_set():
            assert set(parse.quote(buffer)) <= set("ab/%41250")
            assert set(uricodec.percent_decode(buffer)) <= set(b"a bA/%41")

    together(change, *[work] * 4)


def test_names_that_are_read_anew_while_somebody_looks():
    """An error, or octets of one reading: the memory of those before is free by then."""
    names, done = LineBatch(RowOperation(), FingerprintKey("k"), b"\n"), threading.Event()

    def read():
        for i in range(300):
            try:
                names.read(b"urn:a1:b\n" * (1 + i * 37 % 2000), 0)
            except RuntimeError as error:
                assert "another thread" in str(error)
        done.set()

    def look():
        while not done.is_set():
            try:
                assert len(names.fingerprints) % 16 == 0 and not any(names.marks)
            except RuntimeError as error:
                assert "another thread" in str(error)

    together(read, look, look)


def test_buffers_that_are_taken_while_somebody_adds():
    names, buffers = LineBatch(RowOperation(), FingerprintKey("k"), b"\n"), SpillBuffers(capacity=4096)
    done = threading.Event()

    def guarded(function, *arguments):
        try:
            return function(*arguments)
        except RuntimeError as error:
            assert "another thread" in str(error)

    def add():
        names.read(b"".join(b"%d\n" % i for i in range(500)), 0)
        for _ in range(100):
            guarded(buffers.add, names)
        done.set()

    def take():
        while not done.is_set():
            for part in range(64):
                guarded(buffers.take, part)
                guarded(buffers.clear, part)

    together(add, take, take)


def test_an_estimate_of_what_is_being_counted():
    names, cardinality, done = LineBatch(RowOperation(), FingerprintKey("k"), b"\n"), Cardinality(), threading.Event()
    names.read(b"".join(b"%d\n" % i for i in range(50_000)), 0)

    def count():
        for _ in range(5):
            cardinality.add(names)
        done.set()

    def ask():
        while not done.is_set():
            assert 0 <= cardinality.estimate() < 60_000

    together(count, ask, ask)
    assert 45_000 < cardinality.estimate() < 55_000
