"""What lives longer than a call: nothing but what KEPT has a reason for. docs/reference/rules.md is for users.

A process imports everything, makes every call of support/calls.py, and compares what it had before with what it has
then: the writable data of the compiled modules, symbol by symbol, and the globals of all modules.
"""

import subprocess
import sys

import pytest

# Who writes it, and why threads may do so at once.
KEPT = {
    # urlsplit, recent URLs and results: one mutex, held for a comparison or a few stores
    "parse._split.kept_urls",
    "parse._split.kept_results",
    "parse._split.seen",
    "parse._split.hits",
    "parse._split.misses",
    # dicts by argument, each use of which is atomic: two threads may make the same entry, and either is correct
    "_codec._percent.quote_sets",
    "_codec._percent.plus_sets",
    "uri._redact.kept",
    "parse._arguments.known_encodings",
    "parse._arguments.decoders",
    "uricodec._hosts.suffix_list._tables",
    "uricodec._hosts._suffixes.default_tables",
    # what a subclass of str overrides, under the version number of the type: an atomic store of both in one word
    "parse._arguments.known_types",
    # whether NFKC makes a delimiter: threads that are first together write the same byte
    "parse._split.verdicts",
    # functions and modules that are looked up at first use: an atomic store of the same object
    "parse._split.normalize",
    "parse._arguments.stdlib_module",
    "uricodec.uri.RedactingFilter",
    "uricodec.install",
    # facts about characters of hosts: pages are published by an atomic store, a fact is a word
    "_url._idna.pages",
    "_url._idna.pages_2003",
    "_url._idna.prepared",
    # entities of HTML: all threads write the same ones, and the number is published last
    "_search._find.ENTITIES",
    "_search._find.entities",
    # namespaces: the rules and the table of them, under a lock
    "urn._syntax.numbers",
    "urn._syntax.table",
    "uricodec.urn.namespaces._namespaces",
    # memory for the next column, behind a flag that is acquired by an atomic exchange
    "_rows._arrow.uc_kept",
    "_rows._arrow.uc_kept_size",
    "_rows._arrow.uc_kept_lock",
    # dict.setdefault, which is atomic
    "uricodec.bulk._operations.fingerprints._own_key",
    "uricodec.integrations.spark._own_secret",
    "uricodec.integrations.duckdb._functions",
    # under a lock
    "uricodec.parse._install._replaced",
    # sets, each use of which is atomic
    "uricodec._io.workers.waiting",
    "uricodec._io.compress.missing",
    # by functions for tests, and during import; not protected
    "_base._kernels.kernels",
    "_base._kernels.portable",
    "_base._kernels.chosen",
    "_rows._tasks.limit_of_offsets",
    "_rows._engine.most_rows",
    "_rows._engine.most_bytes",
}

PROGRAM = r"""
import ctypes, importlib, pkgutil, struct, sys
sys.path[:] = SYS_PATH
import uricodec
from support import calls
for module in pkgutil.walk_packages(uricodec.__path__, "uricodec."):
    try:
        importlib.import_module(module.name)
    except ModuleNotFoundError as error:
        assert not error.name.startswith("uricodec"), error
for module in list(sys.modules.values()):
    for value in list(vars(module).values()):
        if isinstance(value, type) and str(value.__module__).startswith("uricodec"):
            getattr(value, "missing", None)  # CPython numbers the state of a type when it is first asked


def objects_of(path):
    # The objects of an ELF file that can be written: name, address, size.
    data = open(path, "rb").read()
    assert data[:6] == b"\x7fELF\x02\x01", "64 bits, little-endian"
    at, size, count = struct.unpack_from("<Q", data, 40)[0], *struct.unpack_from("<HH", data, 58)
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, at + i * size) for i in range(count)]
    for kind, offset, length, link in [(s[1], s[4], s[5], s[6]) for s in sections]:
        if kind == 2:
            names = sections[link][4]
            for i in range(offset, offset + length, 24):
                name, info, _, section, value, extent = struct.unpack_from("<IBBHQQ", data, i)
                if info & 15 == 1 and section < count and sections[section][2] & 1 and extent:
                    end = data.index(b"\0", names + name)
                    yield data[names + name : end].decode(), value, extent


def state():
    found = {}
    bases = {}
    for line in open("/proc/self/maps"):
        fields = line.split(maxsplit=5)
        if len(fields) == 6 and "/uricodec/" in fields[5] and ".so" in fields[5] and fields[2] == "00000000":
            bases.setdefault(fields[5].strip(), int(fields[0].split("-")[0], 16))
    for path, base in bases.items():
        module = path.rsplit("/", 1)[1].split(".")[0]
        for name, address, size in objects_of(path):
            room = path.rsplit("/", 2)[1]
            user, _, own = name.partition(f"{len(room)}{room}_{len(module)}{module}_")
            if own or not name.startswith(("__pyx", "__Pyx", "_ZL", "completed")):
                found[f"{room}.{module}.{own or name}"] = ctypes.string_at(base + address, size)
    for name, module in list(sys.modules.items()):
        if name.split(".")[0] == "uricodec":
            for key, value in vars(module).items():
                kept = repr(value) if type(value) in (dict, list, set, bytearray) and key[:2] != "__" else ""
                found[f"{name}.{key}"] = id(value), kept
    return found


before = state()
assert "parse._split.hits" in before, "no symbols"
changed = set()
for number, (name, rows) in enumerate(calls.CALLS.items()):
    if name not in calls.FOREIGN:
        for call in rows:
            calls.outcome(call)
        if number % 8 == 0 or name.endswith("urlsplit"):  # what others forget again
            after = state()
            changed |= {name for name in after if after[name] != before.get(name)}
print(len(before), *sorted(changed))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux" or sys.maxsize < 2**32, reason="reads ELF, of 64 bits")
@pytest.mark.skipif(sys.byteorder != "little", reason="reads little-endian ELF")
@pytest.mark.process
def test_calls_change_only_known_state():
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.replace("SYS_PATH", repr(sys.path))],
        capture_output=True,
        text=True,
        check=False,
        timeout=900,
    )
    if "no symbols" in done.stderr:
        pytest.skip("the compiled modules have no symbols")
    assert done.returncode == 0, done.stderr
    number, *changed = done.stdout.split()
    assert int(number) > 1000
    assert set(changed) <= KEPT
