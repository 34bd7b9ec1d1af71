"""What all tests share: helpers on the path, options of a run, the CPU tiers, buffers between guard pages."""

import contextlib
import ctypes
import gc
import gzip
import mmap
import os
import shutil
import signal
import sys
import sysconfig
from pathlib import Path

import pytest
from hypothesis import settings

import uricodec
from uricodec._base import _kernels

EXAMPLE_FILES = Path(__file__).parent.parent / "examples"

# For `from reference import codec`: importlib mode adds no directory by itself.
sys.path.append(str(Path(__file__).parent))

from support.marks import TIERS, tier_fixture  # noqa: E402

# What starts in the background of a shell, or under nohup, is told to ignore them, and so would be what is tested.
for number, handler in (signal.SIGINT, signal.default_int_handler), (getattr(signal, "SIGHUP", None), signal.SIG_DFL):
    if number and signal.getsignal(number) == signal.SIG_IGN:
        signal.signal(number, handler)

# Messages are compared without links; tests/cli/test_options.py asks for them.
os.environ["URICODEC_NO_DOCS_LINKS"] = "1"

# A first example pays for imports, and a sanitizer for everything. An emulator can do with fewer examples. They are the
# same in each run, unless more are asked for.
EXAMPLES = int(os.environ.get("URICODEC_EXAMPLES", "50"))
settings.register_profile("uricodec", deadline=None, max_examples=EXAMPLES, derandomize=EXAMPLES <= 100)
settings.register_profile("fast", settings.get_profile("uricodec"), max_examples=min(20, EXAMPLES))
settings.load_profile("uricodec")


def pytest_addoption(parser):
    parser.addoption(
        "--fast",
        action="store_true",
        help="Leave out tests marked slow, long, interop or soak, all kernel tiers but the best, and most examples.",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config):
    """Run folders in a process for each core, and one more, as some slow tests wait; a file stays in one process.

    What is named more closely runs here: collecting it in each process would take longer than the tests.
    """
    option = config.option
    if option.fast and option.markexpr == "not long and not interop":
        option.markexpr = "not slow and not long and not interop and not soak"
    alone = option.keyword or option.collectonly or option.usepdb or not all(map(os.path.isdir, config.args))
    if getattr(option, "numprocesses", 0) is None and not alone and not hasattr(config, "workerinput"):
        option.numprocesses, option.dist = (os.cpu_count() or 1) + (not option.fast), "loadfile"


def pytest_configure(config):
    if config.option.fast:
        settings.load_profile("fast")


def pytest_collection():
    """Let no collection of garbage search the tests: they are many."""
    gc.disable()


def pytest_collection_finish():
    gc.collect()
    gc.freeze()
    gc.enable()


tier = tier_fixture(all_tiers=False)


@pytest.fixture
def every_tier(request):
    """A loop over the kernel tiers, for a test that computes what it expects once: `for name in every_tier():`."""
    before = uricodec.cpu_tier()

    def tiers():
        for name in TIERS[-1:] if request.config.option.fast else TIERS:
            _kernels.use_tier(name)
            yield name

    yield tiers
    _kernels.use_tier(before)


def forbid(address, size):
    """Nobody may touch that memory any more."""
    address, size, no_access = ctypes.c_void_p(address), ctypes.c_size_t(size), 0
    if sys.platform == "win32":
        no_access, before = 1, ctypes.c_ulong()
        done = ctypes.windll.kernel32.VirtualProtect(address, size, no_access, ctypes.byref(before))
    else:
        done = not ctypes.CDLL(None).mprotect(address, size, no_access)
    if not done:
        raise OSError("memory cannot be protected")


class Fence:
    """Memory between two pages that nobody may touch: an access past either end of it is a crash.

    at_start() and at_end() write bytes directly after the lower or before the upper guard page, and others next to them
    on the side that has no guard page.
    """

    def __init__(self, size=4 * mmap.PAGESIZE):
        self.size = size
        self.memory = mmap.mmap(-1, size + 2 * mmap.PAGESIZE)
        self.view = memoryview(self.memory)[mmap.PAGESIZE : mmap.PAGESIZE + size]
        first = ctypes.addressof(ctypes.c_char.from_buffer(self.memory))
        for guard in first, first + mmap.PAGESIZE + size:
            forbid(guard, mmap.PAGESIZE)

    def at_start(self, octets, after=b""):
        n = len(octets)
        self.view[:n] = octets
        self.view[n : n + len(after)] = after
        return self.view[:n]

    def at_end(self, octets, before=b""):
        start = self.size - len(octets)
        self.view[start:] = octets
        self.view[start - len(before) : start] = before
        return self.view[start:]


@pytest.fixture(scope="session")
def fences():
    """Two fences: one for the input, one for the output."""
    return Fence(), Fence()


@pytest.fixture
def reader():
    """The environment of a reader who has installed uricodec and typed `. .venv/bin/activate`."""
    scripts = sysconfig.get_path("scripts")
    environment = os.environ | {"URICODEC_NO_DOCS_LINKS": "", "PATH": os.pathsep.join([scripts, os.environ["PATH"]])}
    assert shutil.which("uricodec", path=scripts), "the tests need uricodec installed (pip install -e .)"
    return environment


@pytest.fixture
def samples(tmp_path):
    """A folder with the files that the examples read."""
    for path in EXAMPLE_FILES.glob("*.*"):
        shutil.copy(path, tmp_path)
    urls = b"http://Example.com/caf%C3%A9\nhttp://example.com:80/a\n/a b\n"
    files = {
        "urls.txt": urls,
        "links.txt": b"../c\n",
        "files.txt": b"a b\n",
        "page.html": b"<urn:isbn:1> http://a",
    }
    files["links.csv"] = b"page,href\nhttp://example.com/a/b,../c\n"
    files |= {"allowed.txt": b"example.com\n", "blocked.txt": b"||example.com^\n", "list.txt": b"example.org\n"}
    files["sections.txt"] = b"http://example.org/\n"
    files |= {"old.txt": b"urn:isbn:1\n", "new.txt": b"urn:isbn:2\n"}
    files |= {"script.py": b"print(1)\n", "module.py": b"print(2)\n", "test_a.py": b"def test_a():\n    pass\n"}
    files["pytest.ini"] = b"[pytest]\n"  # with it, pytest reads no conftest.py of the folders above
    files["access.log.gz"] = files["access.log.1.gz"] = gzip.compress((tmp_path / "access.log").read_bytes())
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    with contextlib.suppress(ModuleNotFoundError):
        import pyarrow as pa
        from pyarrow import parquet

        for name in "crawl", "yesterday", "today":
            (tmp_path / name).mkdir()
            table = pa.table({"url": ["http://a", f"HTTP://{name}"], "fetched": [1, 2]})
            parquet.write_table(table, tmp_path / name / "0.parquet")
    (tmp_path / "examples").symlink_to(EXAMPLE_FILES)
    (tmp_path / ".config/fish/completions").mkdir(parents=True)
    return tmp_path
