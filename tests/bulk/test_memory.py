"""The most memory that each operation takes besides its input: the results, and little more."""

import json
import subprocess
import sys

import pytest

from uricodec.bulk import _operations

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="asks /proc")

# A child for each operation: memory that is kept for the next call would count as taken before.
PEAKS = """
import json, os, re, sys
from uricodec import bulk
from uricodec.bulk import _operations

def status(name):
    return int(re.search(name + r":\\s*(\\d+)", open("/proc/self/status").read())[1]) << 10

def taken(name, source, few):
    function, how = getattr(bulk, name), _operations.OPERATIONS[name].required
    function(few, **how)
    open("/proc/self/clear_refs", "w").write("5")  # VmHWM begins anew
    before = status("VmRSS")
    made = function(source, threads=1, **how) if kind != "list" else function(source, **how)
    peak, after = status("VmHWM"), status("VmRSS")
    size = after - before if kind == "list" else pa.chunked_array(made).nbytes if pa else len(made)
    return max(peak - before, 0), size

kind = sys.argv[1]
pa = __import__("pyarrow") if kind == "arrow" else None
found, sources = {}, []
for head in "urn:example:", "https://www.site.example.com/path/index.html?q=a%20b&x=":
    rows = [f"{head}{i:025}" for i in range(100_000)]
    whole, few = rows, rows[:100]
    if kind != "list":
        whole, few = (pa.array(each) if pa else "\\n".join(each).encode() for each in (rows, few))
    sources.append((whole, few))
del rows
for name in sys.argv[2:]:
    source, few = sources["urn" not in name]
    reading, writing = os.pipe()
    if not os.fork():
        os.write(writing, json.dumps(taken(name, source, few)).encode())
        os._exit(0)
    os.wait()
    found[name] = json.loads(os.read(reading, 1000))
    os.close(reading), os.close(writing)
print(json.dumps(found))
"""
TEXT = [name for name, operation in _operations.OPERATIONS.items() if operation.result == "text"]


def peaks(kind, names):
    done = subprocess.run([sys.executable, "-c", PEAKS, kind, *names], capture_output=True, check=True, timeout=300)
    return json.loads(done.stdout)


def limit(name, size):
    """Offsets of lists have 64 bits until all are made."""
    return (2.2 if _operations.OPERATIONS[name].result == "list" else 1.1) * size + 5_000_000


@pytest.mark.slow
@pytest.mark.interop
def test_columns_take_their_results_and_little_more():
    pytest.importorskip("pyarrow")
    for name, (peak, size) in peaks("arrow", _operations.OPERATIONS).items():
        assert size > 0 and peak <= limit(name, size), name


@pytest.mark.slow
def test_lines_take_their_results_and_little_more():
    for name, (peak, size) in peaks("lines", TEXT).items():
        assert size > 0 and peak <= limit(name, size), name


@pytest.mark.slow
def test_lists_take_their_results_and_little_more():
    for name, (peak, size) in peaks("list", _operations.OPERATIONS).items():
        assert peak <= limit(name, size), name
