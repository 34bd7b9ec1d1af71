"""Files of saved sets, of every kind: crafted ones, whose checksums are right, and those that change meanwhile."""

import itertools
import json
import os
import pickle
import random
import struct
import subprocess
import sys
import threading
from hashlib import blake2b

import pytest
from support.arrow_memory import Lent, rows_of
from support.command import process, run
from support.tables import each_row

from uricodec import bulk, dedup, uri
from uricodec._io import set_files
from uricodec.dedup import SeenSet, SetError

NAMES = [f"x{i}.example" for i in range(3000)]
URLS = [f"http://{name}/" for name in NAMES]
KINDS = {
    "identifiers": (SeenSet, lambda: SeenSet.build(URLS, "uri"), lambda seen: seen.contains(URLS)),
    "hosts": (uri.HostSet, lambda: uri.HostSet(NAMES), lambda hosts: bulk.is_match(URLS, hosts)),
    "prefixes": (uri.PrefixSet, lambda: uri.PrefixSet(URLS), lambda pages: bulk.is_match(URLS, pages)),
}

# The fields of docs/developing/fingerprint.md: the place and size of each number, and of each run of bytes.
NUMBERS = {"description": (12, 4), "count": (16, 8), "bits": (24, 4), "shard bits": (28, 4), "shard": (32, 8)}
BYTES = {"magic": (0, 8), "version": (8, 4), "key": (40, 64), "key check": (104, 16), "zeros": (136, 8)}


@pytest.fixture(scope="module", params=KINDS)
def saved(request, tmp_path_factory):
    """A kind of sets, a file of one, and a question that it answers with True for each row."""
    kind, make, ask = KINDS[request.param]
    path = tmp_path_factory.mktemp(request.param) / "set"
    make().save(path)
    return kind, path.read_bytes(), ask


def parts_of(octets):
    """The header, the description, and the rest; and how much of that is data."""
    size, count, bits = struct.unpack_from("<IQI", octets, 12)
    description = octets[160 : 160 + size]
    said = json.loads(description)
    data = 16 * count if "text" not in said else (8 << bits) + said["text"]
    return octets[:160], description, octets[160 + size :], data


def sealed(header, description, rest, data):
    """A file with these parts whose checksums are right."""
    header = header[:120] + blake2b(description.rstrip(b" \n"), digest_size=16).digest() + header[136:144]
    header = header[:12] + len(description).to_bytes(4, "little") + header[16:]
    return header + blake2b(header + description + rest[data:], digest_size=16).digest() + description + rest


def use(kind, path, ask):
    """Use a set in every way. An error of the file is its text."""
    try:
        opened = kind.open(path)
        assert len(repr(opened)) < 1000 and len(opened) >= 0
        found = ask(opened)
        opened.verify()
        list(opened if kind is not SeenSet else opened.fingerprints())
        opened.save(path.with_name("again"))
        kind.open(path.with_name("again"))
        return found
    except SetError as error:
        return str(error)


def described(**values):
    return json.dumps(values | {"forms": 1}, sort_keys=True, separators=(",", ":")).encode()


DESCRIPTIONS = [
    *(b"[" * 100_000, b'{"a":' * 100_000, b'{"kind":' + b"[" * 100_000),
    *(b"", b"\xff", b"null", b"[]", b"5", b'"a"', b"{}", b'{"kind":', b"NaN", b"1" * 5000, b"\xef\xbb\xbf{}"),
    *(described(kind=kind) for kind in ("", "x", 5, None, [], {}, True, "iri", "uri", "urn", "web", "hosts", "\ud800")),
    *(
        described(kind=kind, level=level)
        for kind in ("uri", "urn", "bytes")
        for level in ("x", 5, [], {}, "\ud800", "")
    ),
    *(
        described(kind="uri", policy=policy)
        for policy in ("x", 5, [], {}, {"x": 1}, {"level": []}, {"level": "\ud800"})
    ),
    *(described(kind="uri", policy={"drop_parameters": names}) for names in (5, "a", [5], ["\ud800"], [[]], [""])),
    *(
        described(kind=kind, text=text, depths=depths, surts=0)
        for kind in ("hosts", "prefixes")
        for text, depths in [
            (0, 0),
            (1, 1 << 64),
            (1 << 63, 1),
            (10**400, 1),
            (-1, 1),
            (1.5, 1),
            (True, True),
            ("1", 1),
        ]
    ),
    b'{"forms":1,"kind":"uri","kind":"uri","level":"path"}',
    b'{"forms":2,"kind":"uri","level":"path"}',
    b'{"kind":"uri","level":"path"}',
]


def test_descriptions_that_lie(saved, tmp_path):
    kind, octets, ask = saved
    header, _, rest, data = parts_of(octets)
    for description, unit in itertools.product(DESCRIPTIONS, [16, 64]):
        padded = description + b" " * (-(161 + len(description)) % unit) + b"\n"
        (tmp_path / "set").write_bytes(sealed(header, padded, rest, data))
        found = use(kind, tmp_path / "set", ask)
        assert isinstance(found, str) and str(tmp_path / "set") in found and len(found) < 1000


@pytest.mark.slow
def test_each_field_of_the_header(saved, tmp_path):
    """Whatever it is, and the checksums are right: the set works, or is an error."""
    kind, octets, ask = saved
    header, description, rest, data = parts_of(octets)
    chance, path, works = random.Random(5), tmp_path / "set", 0
    edges = [0, 1, 2, 3, 15, 16, 17, 40, 41, 47, 48, 49, 63, 64, 127, 128, 2999, 3001, 2**31 - 1, 2**31, 2**32 - 1]
    edges += [2**40, 2**47, 2**59, 2**60, 2**63 - 1, 2**63, 2**64 - 16, 2**64 - 1]
    values = [(name, place, n.to_bytes(size, "little")) for name, (place, size) in NUMBERS.items() for n in edges
              if n < 1 << 8 * size]  # fmt: skip
    values += [(name, place, chance.randbytes(size)) for name, (place, size) in BYTES.items() for _ in range(5)]
    values += [(name, place, bytes(size)) for name, (place, size) in BYTES.items()]
    for name, place, value in values:
        changed = header[:place] + value + header[place + len(value) :]
        whole = changed[:144] + blake2b(changed[:144] + description + rest[data:], digest_size=16).digest()
        path.write_bytes(whole + description + rest)
        found = use(kind, path, ask)
        if changed == header or name == "zeros":
            assert found == [True] * len(URLS), name
            works += 1
        else:  # a part of the entries, and fingerprints that are said to be a shard, are sets
            assert isinstance(found, str) or name == ("shard bits" if kind is SeenSet else "count"), (name, value)
    assert works


def test_rows_of_a_directory_that_lie(saved, tmp_path):
    kind, octets, ask = saved
    header, description, rest, data = parts_of(octets)
    chance = random.Random(6)
    for _ in range(40):
        at = chance.randrange(data, len(rest) - 8)
        lie = rest[:at] + chance.choice([bytes(8), b"\xff" * 8, chance.randbytes(8)]) + rest[at + 8 :]
        (tmp_path / "set").write_bytes(sealed(header, description, lie, data))
        found = use(kind, tmp_path / "set", ask)
        assert isinstance(found, str) or lie == rest


@pytest.mark.parametrize("description", [DESCRIPTIONS[0], DESCRIPTIONS[20]])
def test_the_commands(tmp_path, monkeypatch, description):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in").write_text("http://a.example/\n")
    for name, command in ("identifiers", ["dedup", "--kind", "uri", "--seen"]), ("hosts", ["filter", "--hosts"]):
        KINDS[name][1]().save("set")
        header, _, rest, data = parts_of((tmp_path / "set").read_bytes())
        (tmp_path / "set").write_bytes(sealed(header, description, rest, data))
        status, output, said = run(*command, "set", "in")
        assert (status, output) == (3, b"") and "set: " in said and "Traceback" not in said


# --- files that change ------------------------------------------------------------------------------------------------


def attacks(octets):
    """What another program may do to a file in place, given where its data begin; the time of the change is hidden."""
    start = 160 + int.from_bytes(octets[12:16], "little")

    def truncate(path):
        os.truncate(path, start + 100)

    def empty(path):
        os.truncate(path, 0)

    def erase(path):
        with open(path, "r+b") as file:
            file.seek(start)
            file.write(bytes(len(octets) - start))

    def other(path):
        with open(path, "r+b") as file:
            file.seek(start)
            file.write(bytes(255 - octet for octet in octets[start:]))

    return [truncate, empty, erase, other]


@each_row(("number", "before"), [(0, 0), (0, 1000), (1, 1), (2, 0), (2, 1000), (3, 1), (3, 1000)])
def test_a_file_that_changes_in_place(saved, tmp_path, monkeypatch, number, before):
    """Before a question, or after some: an error, or what the set had when it was opened. The process goes on."""
    kind, octets, ask = saved
    path = tmp_path / "set"
    path.write_bytes(octets)
    opened, attack = kind.open(path), attacks(octets)[number]
    one = (lambda url: url in opened) if kind is SeenSet else (lambda url: opened.match(url) is not None)
    assert all(one(url) for url in URLS[:before])
    attack(path)
    with pytest.raises(OSError, match="changed"):
        ask(opened)
    # between the check and the use
    with monkeypatch.context() as patched:
        patched.setattr(set_files.StoredSet, "check_unchanged", lambda self: None)
        for question in ask, lambda _: [one(url) for url in URLS]:
            try:
                found = question(opened)
            except (SetError, OSError):
                continue
            assert found == [True] * len(URLS)


def test_a_file_of_the_same_size_at_another_time(saved, tmp_path):
    """And one of another size at the same time. Another file with its name is no change."""
    kind, octets, ask = saved
    path = tmp_path / "set"
    path.write_bytes(octets)
    time = path.stat().st_mtime_ns
    for size, later in (len(octets), 1), (len(octets) + 1, 0), (len(octets), -(10**9)):
        path.write_bytes(octets)
        os.utime(path, ns=(time, time))
        opened = kind.open(path)
        assert ask(opened) == [True] * len(URLS)
        path.write_bytes(octets + bytes(size - len(octets)))
        os.utime(path, ns=(time, time + later))
        with pytest.raises(OSError, match="changed"):
            ask(opened)
    path.write_bytes(octets)
    opened = kind.open(path)
    opened.save(path)
    assert ask(opened) == [True] * len(URLS)


def test_a_command_whose_set_changes(saved, tmp_path, monkeypatch):
    """After it was opened: no wrong output with status 0."""
    kind, octets, _ = saved
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in").write_text("".join(f"{url}\n" for url in URLS))
    commands = {
        SeenSet: ["dedup", "--kind", "uri", "--seen"],
        uri.HostSet: ["filter", "--hosts"],
        uri.PrefixSet: ["filter", "--prefixes"],
    }
    begin = set_files.StoredSet._open
    for attack in attacks(octets):
        (tmp_path / "set").write_bytes(octets)

        def attacked(self, key, attack=attack):
            begin(self, key)
            attack("set")

        monkeypatch.setattr(set_files.StoredSet, "_open", attacked)
        assert run(*commands[kind], "set", "in")[0] == 3


def test_memory_maps(tmp_path):
    """On request, for what processes share."""
    for count in 0, len(NAMES):
        uri.HostSet(NAMES[:count]).save(tmp_path / "set")
        for maps in True, False:
            opened = uri.HostSet.open(tmp_path / "set", memory_map=maps)
            copied = pickle.loads(pickle.dumps(opened))
            for each in opened, copied:
                assert [each.match(url) is not None for url in URLS] == [i < count for i in range(len(URLS))]
                assert list(each) == NAMES[:count]
                if os.path.exists("/proc/self/maps"):
                    with open("/proc/self/maps") as file:
                        assert (str(tmp_path / "set") in file.read()) == maps
            del opened, copied, each


@pytest.mark.slow
def test_closing_beside_questions(tmp_path):
    """In another thread: the answer, or the error that the set is closed."""
    SeenSet.build(URLS, "uri").save(tmp_path / "set")
    column = Lent([url.encode() for url in URLS])
    for _ in range(30):
        seen, found = SeenSet.open(tmp_path / "set"), []

        def ask(seen=seen, found=found):
            try:
                while True:
                    found.append(all(rows_of(seen.contains(column))))
                    found.append("http://other.example/" not in seen)
                    seen.verify()
            except BaseException as error:
                found.append((type(error), str(error)))

        threads = [threading.Thread(target=ask) for _ in range(3)]
        for thread in threads:
            thread.start()
        while not found:
            pass
        seen.close()
        for thread in threads:
            thread.join()
        assert set(found) <= {True, (ValueError, "cannot use a closed set")}
        assert len([each for each in found if each is not True]) == 3


@pytest.mark.skipif(not os.path.exists("/proc/self/io"), reason="the system does not count reads")
@pytest.mark.parametrize(("memory", "most"), [("1G", 60), ("64K", 4000)])
def test_how_often_a_set_is_read(tmp_path, monkeypatch, memory, most):
    """A bucket once, if the set fits into memory; otherwise once for each identifier in a batch, not for each row."""
    monkeypatch.chdir(tmp_path)
    SeenSet.build(URLS, "uri").save("set")
    reads = []
    for rows in 100, 20_000:
        (tmp_path / "in").write_text(
            "".join(f"http://x{i % 50}.example/\nhttp://y{i % 50}.example/\n" for i in range(rows))
        )
        with open("/proc/self/io") as file:
            before = dict(line.split() for line in file)
            done = dedup.dedup_files("in", "out", kind="uri", seen="set", memory=memory, threads=1)
            file.seek(0)
            reads.append(int(dict(line.split() for line in file)["syscr:"]) - int(before["syscr:"]))
        assert (done.rows, done.written) == (2 * rows, 50)
    assert reads[1] - reads[0] < most


@pytest.mark.slow
def test_the_process_of_a_command_goes_on(tmp_path):
    """With a set that is truncated after it was opened."""
    SeenSet.build(URLS, "uri").save(tmp_path / "set")
    code = (
        "import os, sys; from uricodec._io import set_files; from uricodec.dedup import SeenSet\n"
        "set_files.StoredSet.check_unchanged = lambda self: None\n"
        "seen = SeenSet.open('set'); os.truncate('set', 300)\n"
        "try: seen.contains(['http://x1.example/'])\n"
        "except OSError as error: print(error.strerror)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "file was truncated\n"
    assert process("dedup", "--kind", "uri", "--seen", tmp_path / "set", os.devnull).returncode == 3
