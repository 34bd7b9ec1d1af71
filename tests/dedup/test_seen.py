"""Saved sets, against tests/reference/saved_sets.py and Python's sets: the file, questions, algebra, faults."""

import contextlib
import copy
import errno
import itertools
import json
import os
import pickle
import random
import subprocess
import sys
import threading
import time
from hashlib import blake2b
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import fingerprint as naive_fingerprint
from reference import saved_sets as naive
from support.arrow_memory import Lent, rows_of
from support.command import COMMAND, process
from support.marks import long

import uricodec
from uricodec import dedup
from uricodec._base._fingerprint import FingerprintKey
from uricodec._counting._table import FingerprintBatch, Table
from uricodec._identifier import Identifier
from uricodec._io.files import FileError, file_error
from uricodec._io.scratch import Scratch
from uricodec._io.writing import Output
from uricodec.dedup import Deduplicator, SeenSet, SetError, _sets
from uricodec.dedup._set_file import Directory, SetFile, bits_for, first_of, fold
from uricodec.errors import UrnError
from uricodec.uri import Policy

SECRET = b"of the tests"
MATERIAL = naive_fingerprint.derived(SECRET)
KEY = FingerprintKey(SECRET)
SIZES = [0, 1, 2, 127, 128, 129, 255, 256, 1000, 5000]


@pytest.fixture(scope="module", autouse=True)
def package_is_found():
    """By programs that run in other folders."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(Path(uricodec.__file__).resolve().parents[1]))
        yield


def names_of(count, start=0):
    return [f"urn:example:{number}" for number in range(start, start + count)]


def prints_of(names):
    return {KEY.fingerprint(name) for name in names}


def set_of(names, **options):
    return SeenSet.build(names, "bytes", **({"secret": SECRET} | options))


def bytes_of(seen, folder):
    seen.save(folder / "bytes")
    return (folder / "bytes").read_bytes()


# --- the file ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", SIZES)
def test_the_file_is_that_of_the_reference(count, tmp_path):
    names = names_of(count)
    empty = KEY.fingerprint(b"")
    expected = naive.write(prints_of(names), {"forms": 1, "kind": "bytes"}, bytes(64), empty)
    seen = set_of(names)
    assert bytes_of(seen, tmp_path) == expected
    assert len(seen) == count == len(naive.read(expected))
    with SeenSet.open(tmp_path / "bytes", SECRET) as again:
        assert again == seen and hash(again) == hash(seen)
        assert list(map(bytes, naive.read(expected))) == [
            row for column in again.fingerprints() for row in rows_of(column)
        ]
        again.verify()


def test_a_random_secret_is_in_the_file(tmp_path):
    key = FingerprintKey()
    seen = SeenSet.build(["a"], "bytes", secret=key)
    assert naive.write({key.fingerprint("a")}, {"forms": 1, "kind": "bytes"}, key._material, key.fingerprint(b"")) == (
        bytes_of(seen, tmp_path)
    )
    with SeenSet.open(tmp_path / "bytes") as again:
        assert again.key == key and "a" in again and "b" not in again
    with pytest.raises(SetError, match="another secret"):
        SeenSet.open(tmp_path / "bytes", SECRET)


@pytest.mark.parametrize(
    ("kind", "level", "policy", "rules"),
    [
        ("urn", None, None, {"kind": "urn", "level": "8141"}),
        ("uri", None, None, {"kind": "uri", "level": "path"}),
        ("iri", None, None, {"kind": "uri", "level": "iri"}),
        ("uri", "scheme", None, {"kind": "uri", "level": "scheme"}),
        ("uri", None, "surt", {"kind": "uri", "policy": "surt"}),
        ("uri", None, Policy(strip_www=True), {"kind": "uri", "policy": Policy(strip_www=True)._values()}),
    ],
)
def test_rules_are_in_the_file(kind, level, policy, rules, tmp_path):
    SeenSet.build(["http://www.a.example/", "urn:isbn:1"], kind, level, policy=policy, secret="s").save(tmp_path / "s")
    octets = (tmp_path / "s").read_bytes()
    described = json.loads(octets[160 : 160 + naive.little(octets[12:16])])
    assert described == json.loads(json.dumps(rules | {"forms": 1}))
    with SeenSet.open(tmp_path / "s", "s") as seen:
        assert (seen.kind, seen.level) == (rules["kind"], rules.get("level"))
        assert "HTTP://www.a.example/" in seen or kind == "urn"
        assert seen.policy == (Policy.ready(policy) if isinstance(policy, str) else policy)
        for other in ("urn", "2141"), ("uri", "case"), ("bytes", None):
            with pytest.raises(SetError, match="the saved set has kind"):
                Deduplicator(*other, seen=seen)


@given(st.sets(st.binary(min_size=16, max_size=16)), st.integers(0, 3), st.integers(0, 7))
def test_any_fingerprints(prints, bits, number):
    """Of a shard, and with all values, also those that the table stores in another way."""
    shard = _sets.Shard(bits, number & ((1 << bits) - 1))
    prints = {each for each in prints if not bits or naive.order(each)[0] >> (64 - bits) == shard.number}
    rows = sorted({naive.stored(each) for each in prints}, key=naive.order)
    rules = Identifier("bytes")
    with Scratch(None) as scratch:
        cuts = [b"".join(rows[i : i + 7]) for i in range(0, len(rows), 7)]
        saved = _sets.temporary_set(iter(cuts), 5 * len(rows), rules, KEY, scratch, shard, 1 << 20)
        octets = b"".join(saved.parts())
        empty = KEY.fingerprint(b"")
        assert octets == naive.write(prints, {"forms": 1, "kind": "bytes"}, bytes(64), empty, *shard)
        asked = [*prints, bytes(16), b"\xff" * 16, bytes(15) + b"\x80"]
        for wanted in True, False:
            batch = FingerprintBatch(b"".join(asked))
            saved.mark(batch, wanted, 1)
            assert [mark == 1 for mark in batch.marks] == [(naive.stored(each) in rows) == wanted for each in asked]
        saved.close()


@pytest.mark.parametrize("most", [1000, 5000, 10**6])
def test_fewer_fingerprints_than_expected(most):
    """The directory was begun for more buckets, many of which stay empty."""
    prints = prints_of(names_of(1000))
    rows = sorted(prints, key=naive.order)
    with Scratch(None) as scratch:
        saved = _sets.temporary_set([b"".join(rows)], most, Identifier("bytes"), KEY, scratch)
        octets = b"".join(saved.parts())
        saved.close()
    assert octets == naive.write(prints, {"forms": 1, "kind": "bytes"}, bytes(64), KEY.fingerprint(b""))


def test_a_crowded_bucket_is_an_error():
    """Fingerprints that no key makes: the file could be read, but not fast."""
    rows = [number.to_bytes(16, "little") for number in range(1 << 12)]
    rows.sort(key=naive.order)
    with Scratch(None) as scratch, pytest.raises(SetError, match="damaged directory"):
        _sets.temporary_set([b"".join(rows)], len(rows), Identifier("bytes"), KEY, scratch)


# --- the loops --------------------------------------------------------------------------------------------------------


def test_a_directory_of_what_is_not_sorted():
    one, two = b"a" * 16, b"b" * 16
    directory = Directory(0)
    directory.add(two)
    for block in one, two:
        with pytest.raises(ValueError, match="not ascending"):
            directory.add(block)
    with pytest.raises(ValueError, match="does not belong to the shard"):
        Directory(0, 4, 3).add(one)


@pytest.mark.slow
def test_the_first_fingerprint_of_a_shard():
    chance = random.Random(1)
    numbers = sorted(chance.sample(range(1 << 40), 150_000))
    rows = [(number << 24).to_bytes(8, "little") + bytes(8) for number in numbers]
    for bits in 0, 1, 5:
        least = naive.order(rows[70_000])[0] >> (64 - bits) if bits else 0
        at = next(i for i, row in enumerate(rows) if not bits or naive.order(row)[0] >> (64 - bits) >= least)
        assert first_of(b"".join(rows), bits, least) == 16 * at


def test_bits_and_folding():
    for count in [*range(600), 10**6, 10**8, 10**11]:
        assert bits_for(count) == naive.bits_of(count)
    rows = b"".join(bytes(7) + bytes([i]) + (2**63 + i).to_bytes(8, "little") for i in range(8))
    assert fold(rows, 1) == rows
    assert fold(rows, 4)[8:16] == (2**65 + 6 & naive.WORD).to_bytes(8, "little")


@pytest.mark.slow
def test_the_table_in_order():
    """Of the two kinds of tables, also when one is full."""
    chance = random.Random(2)
    prints = [chance.randbytes(16) for _ in range(30_000)]
    prints += [prints[0][:8] + bytes(7) + bytes([i]) for i in range(5)]  # equal first halves
    for counting, limit in itertools.product([False, True], [1 << 20, 1 << 16]):
        table = Table(limit, counting=counting)
        batch = FingerprintBatch(b"".join(prints))
        table.add(batch)
        held = {naive.stored(each) for each, mark in zip(prints, batch.marks, strict=True) if mark == 2}
        for block in 1, 1000, 1 << 16:
            assert b"".join(table.fingerprints(block)) == b"".join(sorted(held, key=naive.order))
        again = FingerprintBatch(b"".join(held))
        table.add(again)
        assert set(again.marks) == {1}
    with pytest.raises(ValueError, match="exact"):
        next(Table(1 << 16, exact=True).fingerprints())


# --- questions --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", SIZES)
@pytest.mark.parametrize("memory", [0, 79_999, 80_000])
def test_questions(count, memory, tmp_path):
    set_of(names_of(count)).save(tmp_path / "seen")
    saved = _sets.open_set(str(tmp_path / "seen"), KEY, memory)
    assert saved.held == (16 * count if 16 * count <= memory else 0)
    asked = names_of(2 * count + 10)
    for rows in asked, asked[::-1], [name for name in asked for _ in range(3)]:
        for present in True, False:
            batch = FingerprintBatch(b"".join(map(KEY.fingerprint, rows)))
            saved.mark(batch, present, 1)
            assert list(batch.marks) == [(int(name.split(":")[2]) < count) == present for name in rows]
    saved.close()


@pytest.mark.parametrize("kind", ["urn", "uri", "iri", "bytes"])
def test_columns_lists_and_lines(kind):
    have = ["URN:Example:a", "HTTP://a.example/%7e", "not a%zz", "", "urn:isbn:1", "é"]
    ask = [*have, "urn:example:a", "http://a.example/~", "b", "not a%zy"]
    seen = SeenSet.build(have, kind)
    with Deduplicator(kind) as reference:
        reference.add(have)
        expected = [not new for new in reference.add(ask)]
    # with the duplicates among those that are asked
    with Deduplicator(kind) as reference:
        reference.add(have)
        expected = [
            not reference.add([each])[0] if each in have else found for each, found in zip(ask, expected, strict=True)
        ]
    assert seen.contains(ask) == expected
    assert seen.contains(tuple(each.encode() for each in ask)) == expected
    assert seen.contains("".join(f"{each}\n" for each in ask).encode()) == expected
    assert [each in seen for each in ask] == expected
    assert rows_of(seen.contains(Lent([each.encode() for each in ask]))) == expected
    assert seen.contains([None, have[0], None]) == [None, True, None]
    assert rows_of(seen.contains(Lent([None, have[0].encode(), None]))) == [None, True, None]
    assert seen.contains([]) == []


def test_invalid_rows():
    seen = SeenSet.build(["url:b", "urn:a1:b"], "urn")
    assert seen.contains(["url:b", "urn:a1:b"]) == [True, True]
    assert seen.contains(["url:b", "urn:a1:b"], errors="drop") == [False, True]
    for column in ["urn:a1:b", "url:b"], b"urn:a1:b\nurl:b\n":
        with pytest.raises(UrnError, match="row 1: "):
            seen.contains(column, errors="raise")
    with pytest.raises(ValueError, match="errors must be"):
        seen.contains([], errors="?")
    for wrong in 5, "a", None:
        with pytest.raises(TypeError):
            seen.contains(wrong)
    with pytest.raises(TypeError, match=r"SeenSet\.open"):
        SeenSet()


def test_attributes_and_repr():
    seen = set_of(names_of(3))
    assert repr(seen) == "<SeenSet of 3 identifiers, kind 'bytes'>"
    assert repr(set_of(["a"]).split(2)[0]).startswith("<SeenSet of ")
    assert bool(seen) and not set_of([])
    assert (seen == set_of(names_of(3)), seen == set_of(["a"]), seen == {"a"}) == (True, False, False)
    seen.close()
    for use in (lambda: seen.contains(["a"]), seen.verify, lambda: seen | seen, lambda: seen.split(2)):
        with pytest.raises(ValueError, match="closed") as caught:
            use()
        assert not isinstance(caught.value, SetError)  # nothing is wrong with the file


def test_threads():
    seen, found = set_of(names_of(20_000)), []

    def ask(start):
        answers = [number < 20_000 for number in range(start, start + 20_000)]
        found.append(seen.contains(names_of(20_000, start)) == answers and seen | seen == seen)

    threads = [threading.Thread(target=ask, args=[1000 * i]) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 8


# --- algebra ----------------------------------------------------------------------------------------------------------


@settings(max_examples=20)
@given(st.sets(st.integers(0, 60)), st.sets(st.integers(0, 60)), st.sets(st.integers(0, 60)))
def test_algebra(one, two, three):
    sets = [{f"urn:example:{number}" for number in each} for each in (one, two, three)]
    a, b, c = (set_of(sorted(each)) for each in sets)
    x, y, z = sets
    for made, expected in (a | b, x | y), (a & b, x & y), (a - b, x - y), (SeenSet.merge([a, b, c]), x | y | z):
        assert made == set_of(sorted(expected))
        assert all(each in made for each in expected) and len(made) == len(expected)


def test_sets_that_do_not_fit():
    a = set_of(["a"])
    for other in SeenSet.build(["a"], "bytes"), SeenSet.build(["a"], "urn", secret=SECRET):
        for operation in "__or__", "__and__", "__sub__":
            with pytest.raises(SetError, match="the saved set has"):
                getattr(a, operation)(other)
        with pytest.raises(SetError):
            SeenSet.merge([a, other])
    for wrong in {"a"}, None, 3:
        with pytest.raises(TypeError, match="unsupported operand"):
            a | wrong
    with pytest.raises(ValueError, match="at least one"):
        SeenSet.merge([])


@pytest.mark.slow
@pytest.mark.parametrize("shards", [1, 2, 8, 256])
def test_shards(shards, tmp_path):
    names = names_of(3000)
    seen = set_of(names)
    parts = seen.split(shards)
    assert [part.shard for part in parts] == [(i, shards) for i in range(shards)]
    assert SeenSet.merge(parts) == SeenSet.merge(parts[::-1]) == seen
    for bits, part in enumerate(parts):
        mine = [name for name in names if naive.order(KEY.fingerprint(name))[0] * shards >> 64 == bits]
        assert len(part) == len(mine) and sum(part.contains(names)) == len(mine)
        assert part.contains(mine) == [True] * len(mine)
    expected = naive.write(
        prints_of(mine), {"forms": 1, "kind": "bytes"}, bytes(64), KEY.fingerprint(b""), shards.bit_length() - 1,
        shards - 1,
    )  # fmt: skip
    assert bytes_of(parts[-1], tmp_path) == expected
    assert [part.shard for part in parts[-1].split(2)] == [(2 * shards - 2, 2 * shards), (2 * shards - 1, 2 * shards)]
    if shards > 1:
        assert parts[0] | parts[0] == parts[0]
        if shards > 2:
            with pytest.raises(ValueError, match="all shards"):
                SeenSet.merge(parts[1:])
        with pytest.raises(SetError, match="merge them first"):
            parts[0] | parts[1]


@pytest.mark.parametrize("shards", [0, -1, 3, 1 << 17])
def test_numbers_of_shards_that_are_wrong(shards):
    with pytest.raises(ValueError, match="power of 2"):
        set_of([]).split(shards)


# --- deduplicators ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("memory", [None, 1])
def test_days(memory, tmp_path):
    """Each day's deduplicator continues that of the day before; with little memory, by temporary files."""
    path, chance, known = tmp_path / "seen", random.Random(3), set()
    for day in range(4):
        names = [f"urn:example:{chance.randrange(3000)}" for _ in range(2000)]
        options = {"memory": memory}
        with (
            Deduplicator.load(path, secret=SECRET, **options) if day else Deduplicator("urn", secret=SECRET, **options)
        ) as today:
            first = today.add(names)
            before = set(known)
            expected = []
            for name in names:
                expected.append(name not in known)
                known.add(name)
            assert all(found in (None, wanted) for found, wanted in zip(first, expected, strict=True))
            today.save(path)
            for row in today.finish():
                assert first[row] is None
                first[row] = True
            assert [bool(found) for found in first] == expected
            assert today.count == len(known)
            if today._runs is not None:  # the memory was full: what it found is kept
                today.save(path)
        with SeenSet.open(path, SECRET) as seen:
            assert len(seen) == len(known) and all(seen.contains(sorted(known)))
            assert not any(seen.contains([f"urn:example:x{i}" for i in range(1000)]))
        assert before <= known


def test_saving_what_cannot_be(tmp_path):
    with Deduplicator("urn", exact=True) as exact, pytest.raises(ValueError, match="exact"):
        exact.save(tmp_path / "seen")
    done = Deduplicator("urn")
    done.finish()
    with pytest.raises(ValueError, match="finished"):
        done.save(tmp_path / "seen")
    done.close()
    with pytest.raises(ValueError, match="closed"):
        done.save(tmp_path / "seen")
    with pytest.raises(ValueError, match="exact"):
        Deduplicator("bytes", exact=True, seen=set_of([]))
    with pytest.raises(SetError, match="another secret"):
        Deduplicator("bytes", secret="x", seen=set_of([]))
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("secret", [None, SECRET])
def test_pickles(secret, tmp_path):
    with Deduplicator("urn", secret=secret, errors="drop") as names:
        names.add(["urn:a1:b", None, "URN:A1:b", "invalid", "urn:a1:c"])
        for copied in pickle.loads(pickle.dumps(names)), copy.deepcopy(names):
            assert (copied.rows, copied.invalid, copied.count) == (5, 1, 2)
            assert copied.add([None, "urn:a1:b", "urn:a1:d", "invalid"]) == [False, False, True, False]
            assert abs(copied.estimate - 3) <= 0
            copied.close()
        names.finish()
        with pytest.raises(ValueError, match="cannot pickle"):
            pickle.dumps(names)
    with Deduplicator("urn", memory=1) as names:
        names.add(names_of(5000))
        with pytest.raises(ValueError, match="cannot pickle"):
            pickle.dumps(names)
    seen = SeenSet.build(names_of(500), "urn", secret=secret)
    assert pickle.loads(pickle.dumps(seen)) == copy.copy(seen) == seen
    seen.save(tmp_path / "seen")
    with SeenSet.open(tmp_path / "seen", secret) as opened:
        assert len(pickle.dumps(opened)) < 1000
        assert pickle.loads(pickle.dumps(opened)) == seen


# --- runs over files --------------------------------------------------------------------------------------------------


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for day in range(3):
        chance = random.Random(day)
        lines = [f"{chance.choice(['urn', 'URN'])}:example:{chance.randrange(9000)}" for _ in range(7000)]
        (tmp_path / f"day{day}").write_text("".join(f"{line}\n" for line in lines))
    return tmp_path


def lines_of(path):
    return path.read_text().splitlines()


MODES = {
    "unique": {},
    "spilling": {"memory": 1},
    "counts": {"report": "counts"},
    "counts, spilling": {"report": "counts", "memory": 1},
    "repeated": {"report": "repeated"},
    "top": {"report": "counts", "top": 10},
    "top, spilling": {"report": "counts", "top": 10, "memory": 1},
    "many": {"report": "counts", "top": 5000},
    "groups": {"groups": "groups"},
}


@pytest.mark.slow
@pytest.mark.parametrize(("mode", "threads"), [(mode, 1 + at % 2) for at, mode in enumerate(MODES)])
def test_day_after_day(place, mode, threads):
    """What comes out is what comes out of the day alone, without what was in the days before."""
    known = set()
    for day in range(3):
        name = place / f"day{day}"
        new = [line for line in lines_of(name) if line.lower() not in known]
        (place / "new").write_text("".join(f"{line}\n" for line in new))
        options = MODES[mode] | {"kind": "urn", "threads": threads}
        dedup.dedup_files("new", "expected", **options)
        before = (place / "seen").read_bytes() if day else None
        if day:
            dedup.dedup_files(name, "out", seen="seen", **options)
            assert (place / "out").read_bytes() == (place / "expected").read_bytes()
            assert (place / "seen").read_bytes() == before
        found = dedup.dedup_files(name, "out", seen="seen", update=True, **options)
        assert (place / "out").read_bytes() == (place / "expected").read_bytes()
        today = {line.lower() for line in lines_of(name)}
        assert (found.rows, found.unique) == (7000, len(today - known))
        known |= today
        with SeenSet.open("seen") as seen:
            assert len(seen) == len(known) and all(seen.contains(sorted(known)))
            seen.verify()


@pytest.mark.slow
def test_records_only_in_and_columns(place):
    for day in range(2):
        rows = [f'{i},"{line}"' for i, line in enumerate(lines_of(place / f"day{day}"))]
        (place / f"csv{day}").write_text("id,name\n" + "".join(f"{row}\n" for row in rows))
    options = {"kind": "urn", "field": "name", "header": True}
    first, second = ([line.lower() for line in lines_of(place / f"day{day}")] for day in range(2))
    dedup.dedup_files("csv0", "out", seen="seen", update=True, **options)
    dedup.dedup_files("csv1", "out", seen="seen", **options)
    expected, had = [], set(first)
    for i, line in enumerate(second):
        if line not in had:
            expected.append(i)
            had.add(line)
    assert [int(line.split(",")[0]) for line in lines_of(place / "out")[1:]] == expected
    expected, had = [], set()
    for i, line in enumerate(second):
        if line in first and line not in had:
            expected.append(i)
            had.add(line)
    for memory in None, 1:
        dedup.dedup_files("csv1", "out", only_in=["csv0"], memory=memory, **options)
        assert [int(line.split(",")[0]) for line in lines_of(place / "out")[1:]] == expected
        dedup.dedup_files("csv1", "out", only_in=["csv0"], exclude=["csv0"], memory=memory, **options)
        assert lines_of(place / "out") == ["id,name"]


@pytest.mark.interop
@pytest.mark.parametrize("mode", ["unique", "spilling", "counts, spilling", "top", "repeated", "groups"])
@pytest.mark.parametrize("threads", [1, 2])
def test_parquet_day_after_day(place, mode, threads):
    """What lines have, columns have; null is an identifier like others."""
    pq = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    pa = pytest.importorskip("pyarrow")
    days = [[None, *lines_of(place / f"day{day}")] for day in range(3)]
    for day, rows in enumerate(days):
        os.mkdir(f"parquet{day}")
        table = pa.table({"name": rows, "id": range(len(rows))})
        pq.write_table(table[:3000], f"parquet{day}/a.parquet", row_group_size=1000)
        pq.write_table(table[3000:], f"parquet{day}/b.parquet")
    known, options = set(), MODES[mode] | {"kind": "urn", "threads": threads}

    def name_of(row):
        return row and row.lower()

    def written(folder):
        table = pq.read_table(folder)
        return table.to_pylist()

    for day, rows in enumerate(days):
        new = [row if name_of(row) not in known else "urn:example:other" for row in rows]
        os.mkdir(f"new{day}")
        pq.write_table(pa.table({"name": new, "id": range(len(rows))}), f"new{day}/a.parquet")
        dedup.unique_dataset(f"new{day}", "name", f"expected{day}", **options)
        done = dedup.unique_dataset(f"parquet{day}", "name", f"out{day}", seen="seen", update=True, **options)
        expected = [row for row in written(f"expected{day}") if row["name"] != "urn:example:other"]
        assert written(f"out{day}")[: len(expected)] == expected or mode == "top"
        assert done.unique == len({name_of(row) for row in rows} - known)
        known |= {name_of(row) for row in rows}
        with SeenSet.open("seen") as seen:
            assert len(seen) == len(known) and all(seen.contains(sorted(known - {None})))
    dedup.unique_dataset("parquet0", "name", "again", seen="seen", kind="urn")
    assert written("again") == []
    wanted = {name_of(row) for row in days[1]}
    dedup.unique_dataset("parquet0", "name", "only", only_in="parquet1", **options | {"report": "unique", "top": None})
    found = [name_of(row["name"]) for row in written("only")]
    assert set(found) == wanted & {name_of(row) for row in days[0]} and len(found) == len(set(found))
    if threads == 1:
        command = ["dedup", "--kind", "urn", "--parquet", "-f", "name", "--seen"]
        assert process(*command, "seen", "parquet0", "-o", "none", cwd=place).returncode == 0
        assert written("none") == []
        assert process(*command, "day0", "parquet0", "-o", "nothing", cwd=place).returncode == 3
        assert not os.path.exists("nothing")


def test_options_that_do_not_fit(place):
    for options in (
        {"update": True},
        {"seen": "s", "update": True, "exclude": ["day0"]},
        {"seen": "s", "exact": True},
        {"only_in": ["day0"], "exact": True},
        {"seen": "s", "merged": True},
        {"only_in": ["day0"], "merged": True},
    ):
        with pytest.raises(ValueError, match=r"is (not|only) supported"):
            dedup.dedup_files("day0", "out", kind="urn", **options)
    with pytest.raises(FileError, match="No such file"):
        dedup.dedup_files("day0", "out", kind="urn", seen="nothing")
    assert sorted(os.listdir()) == ["day0", "day1", "day2"]


@pytest.mark.slow
def test_the_command(place):
    def run(*arguments):
        done = process("dedup", "--kind", "urn", *arguments, cwd=place)
        return done.returncode, done.stdout.decode().splitlines(), done.stderr.decode()

    assert run("--seen", "seen", "--update", "day0")[0] == 0
    status, lines, _ = run("--seen", "seen", "--update", "day1", "--count")
    assert status == 0 and sum(int(line.split("\t")[0]) for line in lines) > len(lines)
    assert run("--seen", "seen", "day0", "day1") == (0, [], "")
    assert run("--only-in", "day0", "day1")[1]
    status, lines, said = run("--seen", "seen", "--level", "2141", "day2")
    assert (status, lines) == (3, []) and "has kind 'urn' and level '8141'" in said
    status, lines, said = run("--seen", "day0", "day2")
    assert (status, lines) == (3, []) and "day0: not a saved set" in said
    for arguments in (
        ["--update", "day0"],
        ["--seen", "seen", "--exact", "day0"],
        ["--seen", "seen", "--update", "--exclude", "day1", "day0"],
        ["--seen", "seen", "--update", "-o", "seen", "day0"],
        ["--only-in", "-", "-"],
    ):
        assert run(*arguments)[0] == 2
    assert run("--estimate", "--seen", "seen", "day0")[0] == 2


# --- faults -----------------------------------------------------------------------------------------------------------


def attempt(path, names):
    """Ask a set in every way; return the errors' texts, or the answers."""
    try:
        with SeenSet.open(path, SECRET) as seen:
            answers = seen.contains(names)
            seen.verify()
            assert len(seen | seen) == len(seen)
            return answers
    except SetError as error:
        return str(error)


def test_each_byte_of_a_damaged_file(tmp_path):
    names = names_of(300)
    set_of(names).save(tmp_path / "seen")
    octets = (tmp_path / "seen").read_bytes()
    chance = random.Random(4)
    for at in [*range(224), *chance.sample(range(224, len(octets)), 300)]:
        damaged = bytearray(octets)
        damaged[at] ^= 1 << chance.randrange(8)
        (tmp_path / "seen").write_bytes(damaged)
        found = attempt(tmp_path / "seen", names)
        assert isinstance(found, str) and ": " in found, at
    for size in [*range(0, 300, 7), len(octets) // 2, len(octets) - 1]:
        (tmp_path / "seen").write_bytes(octets[:size])
        assert isinstance(attempt(tmp_path / "seen", names), str), size
    (tmp_path / "seen").write_bytes(octets + b"x")
    assert "damaged" in attempt(tmp_path / "seen", names)
    (tmp_path / "seen").write_bytes(octets[:8] + b"\x02" + octets[9:])
    assert "format 2" in attempt(tmp_path / "seen", names)


@pytest.mark.parametrize("memory", [0, 1 << 20])
def test_damage_that_a_question_meets(tmp_path, memory):
    """In the bucket that is asked, not in the others."""
    names = names_of(1000)
    set_of(names).save(tmp_path / "seen")
    octets = bytearray((tmp_path / "seen").read_bytes())
    octets[208 + 16 * 500] ^= 1
    (tmp_path / "seen").write_bytes(octets)
    saved, errors = _sets.open_set(str(tmp_path / "seen"), KEY, memory), 0
    for name in names:
        batch = FingerprintBatch(KEY.fingerprint(name))
        try:
            saved.mark(batch, True, 1)
            assert batch.marks == b"\1"
        except SetError as error:
            assert "seen: damaged fingerprints" in str(error)
            errors += 1
    assert 64 <= errors <= 128
    saved.close()


def test_damage_that_an_update_meets(place):
    dedup.dedup_files("day0", "out", kind="urn", seen="seen", update=True)
    octets = bytearray((place / "seen").read_bytes())
    octets[5000] ^= 4
    (place / "seen").write_bytes(octets)
    os.unlink("out")
    with pytest.raises(SetError, match="damaged fingerprints"):
        dedup.dedup_files("day1", "out", kind="urn", seen="seen", update=True)
    assert sorted(os.listdir()) == ["day0", "day1", "day2", "seen"]
    assert (place / "seen").read_bytes() == octets


def crafted(rows, starts, shard_bits=0, shard=0):
    """A file with these fingerprints, and these starts of its buckets, whose checksums are right."""
    octets = naive.write(set(rows), {"forms": 1, "kind": "bytes"}, bytes(64), KEY.fingerprint(b""), shard_bits, shard)
    ends = [*starts[1:], len(rows)]
    directory = b"".join(
        start.to_bytes(8, "little") + naive.check(rows[start:end]).to_bytes(8, "little")
        for start, end in zip(starts, ends, strict=True)
    )
    size = naive.little(octets[12:16])
    head, description = octets[:144], octets[160 : 160 + size]
    return (
        head
        + blake2b(head + description + directory, digest_size=16).digest()
        + description
        + b"".join(rows)
        + directory
    )


def crafted_files():
    few = sorted(map(naive.stored, prints_of(names_of(100))), key=naive.order)
    many = sorted(map(naive.stored, prints_of(names_of(200))), key=naive.order)
    half = sum(naive.order(row)[0] < 1 << 63 for row in many)
    upper = [row for row in few if naive.order(row)[0] >> 63]
    yield "sound", crafted(few, [0])
    yield "sound", crafted(many, [0, half])
    yield "sound", crafted(upper, [0], 1, 1)
    yield "not ascending", crafted([few[1], few[0], *few[2:]], [0])
    yield "not ascending", crafted([*few[:-2], few[-1], few[-2]], [0])
    yield "in another bucket", crafted(many, [0, half - 1])
    yield "in another bucket", crafted(many, [0, half + 1])
    yield "in another shard", crafted(few, [0], 1, 1)
    yield "in another shard", crafted(upper, [0], 1, 0)
    yield "in another shard", crafted(upper, [0], 48, 5)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "octets"), [*crafted_files()])
def test_crafted_fingerprints(place, kind, octets):
    """Their checksums are right, their order or place is not: each way to read them is an error of the file."""
    (place / "crafted").write_bytes(octets)
    with SeenSet.open("crafted", SECRET) as seen:
        uses = [
            seen.verify,
            lambda: seen | seen,
            lambda: seen - seen,
            lambda: seen.split(2),
            lambda: SeenSet.merge([seen, seen]),
            lambda: seen.save("again"),
            lambda: list(seen.fingerprints()),
        ]
        if seen.shard == (0, 1):
            options = {"kind": "bytes", "seen": "crafted", "secret": SECRET, "update": True}
            uses.append(lambda: dedup.dedup_files("day0", "out", **options))
        for use in uses:
            with contextlib.nullcontext() if kind == "sound" else pytest.raises(SetError, match="damaged fingerprints"):
                use()


def test_files_that_are_no_sets(tmp_path, monkeypatch):
    (tmp_path / "foreign").write_bytes(b"urn:isbn:1\n" * 100)
    (tmp_path / "empty").write_bytes(b"")
    for name in "foreign", "empty":
        with pytest.raises(SetError, match="not a saved set"):
            SeenSet.open(tmp_path / name)
    for wrong in tmp_path, tmp_path / "missing", "a\0b":
        with pytest.raises(FileError):
            SeenSet.open(wrong)
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(SetError, match="not a regular file"):
            SeenSet.open(tmp_path / "pipe")
    set_of(["a"]).save(tmp_path / "seen")
    with pytest.raises(SetError, match="needs the secret"):
        SeenSet.open(tmp_path / "seen")
    with pytest.raises(SetError, match="another secret"):
        SeenSet.open(tmp_path / "seen", "other")
    monkeypatch.setattr(_sets, "FORMS", 2)
    with pytest.raises(SetError, match="other normal forms"):
        SeenSet.open(tmp_path / "seen", SECRET)


def test_a_set_that_changes_while_it_is_open(tmp_path):
    """Another file with its name does not matter. Bytes that are gone are an error, not a crash."""
    path, names = tmp_path / "seen", names_of(3000)
    set_of(names).save(path)
    with SeenSet.open(path, SECRET) as seen:
        set_of(["other"]).save(path)
        assert all(seen.contains(names))
    set_of(names).save(path)
    for memory in 0, 1 << 20:
        saved = _sets.open_set(str(path), KEY, memory)
        batch = FingerprintBatch(b"".join(map(KEY.fingerprint, names)))
        os.truncate(path, 10_000)
        with pytest.raises(FileError, match="changed"):
            saved.mark(batch, True, 1)
        with pytest.raises(FileError, match="truncated"):
            list(saved.blocks())
        saved.close()
        set_of(names).save(path)
    saved = _sets.open_set(str(path), KEY)
    saved.check_unchanged = lambda: None
    os.truncate(path, 10_000)
    with pytest.raises(FileError, match="truncated"):
        saved.mark(batch, True, 1)
    os.close(saved.number)
    with pytest.raises(FileError, match="cannot read"):
        saved.mark(batch, True, 1)
    with contextlib.suppress(OSError):
        saved.close()


def test_directories_that_lie():
    row = bytes(16)
    for directory, count in (b"", 0), (row * 2, 0), (b"\1" + row[1:], 1), (row, 1025):
        with pytest.raises(ValueError, match="damaged directory"):
            SetFile(directory, count, 0, 0, 0, 0, -1)
    with pytest.raises(ValueError, match="damaged directory"):
        SetFile(row + b"\5" + row[1:], 4, 1, 0, 0, 0, -1)


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["counts, spilling", *long("unique")])
def test_each_write_and_rename_fails(place, monkeypatch, mode):
    """Whichever fails: the set and the output are as before, nothing stays, and the next run is like any other."""
    options = MODES[mode] | {"kind": "urn", "seen": "seen", "update": True, "secret": SECRET}
    for day in "day0", "day1":
        (place / day).write_text("".join(f"{line}\n" for line in lines_of(place / day)[:1500]))
    dedup.dedup_files("day0", "out", **options)
    before = {name: (place / name).read_bytes() for name in os.listdir()}
    calls, fails = 0, None

    def step():
        nonlocal calls
        calls += 1
        if calls == fails:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    write, scratch_write, rename, sync = Output.write, Scratch.write, os.replace, os.fsync

    def output_write(self, data):
        try:
            step()
        except OSError as error:
            raise file_error(self.name, error) from None
        write(self, data)

    def spill_write(self, file, octets):
        try:
            step()
        except OSError as error:
            raise self.fail(error) from None
        scratch_write(self, file, octets)

    monkeypatch.setattr(Output, "write", output_write)
    monkeypatch.setattr(Scratch, "write", spill_write)
    monkeypatch.setattr(os, "replace", lambda *args, **named: (step(), rename(*args, **named)))
    monkeypatch.setattr(os, "fsync", lambda number: (step(), sync(number)))
    dedup.dedup_files("day1", "out", **options)
    total, after = calls, {name: (place / name).read_bytes() for name in os.listdir()}
    assert total > (40 if "spilling" in mode else 12)
    # The same calls are made for each partition.
    for fails in [*range(1, 12), *range(12, total - 14, 5), *range(max(total - 14, 12), total + 1)]:  # noqa: B007
        for name, octets in before.items():
            (place / name).write_bytes(octets)
        calls = 0
        with pytest.raises(FileError, match="No space left"):
            dedup.dedup_files("day1", "out", **options)
        found = {name: (place / name).read_bytes() for name in os.listdir()}
        assert found["seen"] in (before["seen"], after["seen"])
        # whoever has the new set has the new output
        assert found["out"] == after["out"] or (found["out"] == before["out"] and found["seen"] == before["seen"])
        assert found.keys() == before.keys()
        calls = -1000
        for name, octets in before.items():
            (place / name).write_bytes(octets)
        dedup.dedup_files("day1", "out", **options)
        assert {name: (place / name).read_bytes() for name in os.listdir()} == after


@pytest.mark.slow
def test_killed_at_any_moment(place):
    """The set is the old one or the new one; if it is the new one, the output is complete."""
    pytest.importorskip("fcntl", reason="no locks of files")
    options = {"kind": "urn", "seen": "seen", "update": True, "secret": SECRET}
    (place / "secret").write_bytes(SECRET)
    dedup.dedup_files("day0", "out", **options)
    old = (place / "seen").read_bytes()
    start = time.monotonic()
    command = [*COMMAND, "dedup", "--kind", "urn", "--secret-file", "secret", "--seen", "seen", "--update"]
    command += ["--memory", "64K", "day1", "day2", "-o", "new"]
    subprocess.run(command, check=True)
    seconds, expected, new = time.monotonic() - start, (place / "new").read_bytes(), (place / "seen").read_bytes()
    chance, killed = random.Random(5), 0
    while killed < 4:
        (place / "seen").write_bytes(old)
        (place / "new").write_bytes(b"before")
        child = subprocess.Popen(command)
        time.sleep(chance.uniform(0.0, 1.1 * seconds))
        child.kill()
        if child.wait() == 0:
            seconds *= 0.9
            continue
        killed += 1
        found = (place / "seen").read_bytes()
        assert found == old or (found == new and (place / "new").read_bytes() == expected)
        assert (place / "new").read_bytes() in (b"before", expected)
    (place / "seen").write_bytes(old)
    subprocess.run(command, check=True)
    assert ((place / "seen").read_bytes(), (place / "new").read_bytes()) == (new, expected)
    assert not [name for name in os.listdir() if name.endswith(".tmp")]


@pytest.mark.parametrize("exists", [True, False])
def test_an_update_while_another_one_runs(place, monkeypatch, exists):
    pytest.importorskip("fcntl", reason="no locks of files")
    options = {"kind": "urn", "seen": "seen", "update": True}
    names = ["seen", "./seen"]
    if exists:
        dedup.dedup_files("day0", "out", **options)
        os.symlink("seen", "link")
        names.append("link")
    before = sorted(os.listdir())
    write, others = _sets.Updated.write, []

    def meanwhile(*arguments):
        monkeypatch.setattr(_sets.Updated, "write", write)
        for name in names:
            with pytest.raises(FileError, match="another process is writing") as caught:
                dedup.dedup_files("day2", "other", **options | {"seen": name})
            others.append(caught.value.filename)
        write(*arguments)

    monkeypatch.setattr(_sets.Updated, "write", meanwhile)
    dedup.dedup_files("day1", "out", **options)
    assert others == names
    assert sorted(os.listdir()) == sorted({*before, "out", "seen"})
    with SeenSet.open("seen") as seen:
        assert all(seen.contains(lines_of(place / "day1"))) and not all(seen.contains(lines_of(place / "day2")))


def test_an_update_of_what_was_replaced(place, monkeypatch):
    """By a program that takes no lock, before or after the lock was taken."""
    options = {"kind": "urn", "seen": "seen", "update": True}
    dedup.dedup_files("day0", "out", **options)
    octets = (place / "seen").read_bytes()
    for name in "write", "__enter__":
        step = getattr(_sets.Updated, name)

        def replaced(self, *arguments, step=step):
            os.rename("other", "seen")
            return step(self, *arguments)

        for exists in True, False:
            (place / "other").write_bytes(octets)
            if not exists:
                os.unlink("seen")
            monkeypatch.setattr(_sets.Updated, name, replaced)
            with pytest.raises(FileError, match="replaced meanwhile"):
                dedup.dedup_files("day1", "out", **options)
            monkeypatch.setattr(_sets.Updated, name, step)
            assert (place / "seen").read_bytes() == octets
    assert sorted(os.listdir()) == ["day0", "day1", "day2", "out", "seen"]


UPDATES = """
import os, sys
from uricodec import dedup
from uricodec._io.files import FileError
if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
name = sys.argv[1]
for line in sys.stdin:
    try:
        dedup.dedup_files(name, "out" + name, kind="urn", seen=line.strip(), update=True)
        print("updated", flush=True)
    except FileError as error:
        print(error.strerror, flush=True)
"""


@pytest.mark.slow
def test_first_updates_at_once(place):
    """On one core: each run either adds all that it has read, or says that it did not."""
    pytest.importorskip("fcntl", reason="no locks of files")
    names, lost, done = ["day0", "day1"], [], 0
    runs = [
        subprocess.Popen(
            [sys.executable, "-c", UPDATES, name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for name in names
    ]
    for trial in range(20):
        for each in runs:
            each.stdin.write(f"seen{trial}\n")
            each.stdin.flush()
        said = [each.stdout.readline().strip() for each in runs]
        with SeenSet.open(f"seen{trial}") as seen:
            for name, result in zip(names, said, strict=True):
                if result == "updated":
                    done += 1
                    lost += [(trial, name)] * (not all(seen.contains(lines_of(place / name))))
                else:
                    assert "another process" in result or "replaced meanwhile" in result
    for each in runs:
        each.communicate()
    assert lost == [] and done >= 20
    assert not [name for name in os.listdir() if name.endswith(".tmp")]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="sizes in kilobytes")
@pytest.mark.process
def test_memory_of_a_run(tmp_path):
    """A large set is not read into memory."""
    chance = random.Random(6)
    rows = sorted((chance.randbytes(16) for _ in range(500_000)), key=naive.order)
    with Scratch(None) as scratch, Output(str(tmp_path / "seen")) as output:
        blocks = (b"".join(rows[i : i + 4096]) for i in range(0, len(rows), 4096))
        _sets.write_set(output, blocks, len(rows), Identifier("bytes"), KEY, scratch)
    (tmp_path / "in").write_text("".join(f"{number}\n" for number in range(100_000)))
    (tmp_path / "secret").write_bytes(SECRET)
    code = (
        "import resource, sys; from uricodec.cli import main; main(sys.argv[1:]);"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)"
    )
    command = [sys.executable, "-c", code, "dedup", "--kind", "bytes", "--secret-file", "secret", "in", "-o", "out"]
    command += ["--memory", "32M"]
    sizes = []
    for more in [], ["--seen", "seen"]:
        done = subprocess.run([*command, *more], cwd=tmp_path, stderr=subprocess.PIPE, check=True)
        sizes.append(int(done.stderr))
    assert sizes[1] - sizes[0] < 4_000  # of 8,000
