"""The plugin of pytest that tools/mutants.py runs tests with: it notes what they reach, and judges mutants."""

import contextlib
import ctypes
import json
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

import pytest

ADDRESS = 0x100000000000  # as in mutants.py
TASK = json.loads(Path(os.environ.get("URICODEC_MUTANTS_TASK", os.devnull)).read_text() or "null")


def use_page(path, mutant=0):
    """Let this mutant be on in this process, and in those that it starts. Return the page."""
    Path(path).write_bytes(mutant.to_bytes(4, sys.byteorder) + bytes(4092))
    os.environ["URICODEC_MUTANTS"] = str(path)
    file, libc = os.open(path, os.O_RDWR), ctypes.CDLL(None)
    libc.mmap.restype = ctypes.c_size_t
    libc.mmap.argtypes = [ctypes.c_size_t] * 2 + [ctypes.c_int] * 3 + [ctypes.c_size_t]
    if libc.mmap(ADDRESS, 4096, 3, 0x11, file, 0) != ADDRESS:  # read and write, shared and fixed
        raise OSError("no page for mutants")
    os.close(file)
    return (ctypes.c_ubyte * 4096).from_address(ADDRESS)


class Reach:
    """Writes a line for each test: which mutants it reached, how long it took, and whether it passed."""

    def __init__(self, folder):
        self.file = Path(folder, f"{os.getpid()}.jsonl").open("w")  # noqa: SIM115
        self.page, self.passed = use_page(f"{folder}/{os.getpid()}.page"), True

    def seen(self):
        found = [i for i, byte in enumerate(bytes(self.page)[64:]) if byte]
        for i in found:
            self.page[64 + i] = 0
        return found

    def note(self, name, **more):
        self.file.write(json.dumps({"test": name, "mutants": self.seen()} | more) + "\n")

    def pytest_runtest_logreport(self, report):
        self.passed = self.passed and not report.failed

    @pytest.hookimpl(hookwrapper=True)
    def pytest_fixture_setup(self, fixturedef, request):
        before = self.seen() if fixturedef.scope != "function" else []
        yield
        if fixturedef.scope != "function":  # all tests in the file may depend on it
            self.note(request._pyfuncitem.nodeid.partition("::")[0])
            for i in before:
                self.page[64 + i] = 1

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item):
        self.seen()
        self.passed, begin = True, time.perf_counter()
        yield
        self.note(item.nodeid, seconds=round(time.perf_counter() - begin, 5), passed=self.passed)

    def pytest_collection_finish(self):
        self.note("")

    def pytest_sessionfinish(self):
        self.file.close()


class Judge:
    """Runs the tests for each mutant in a fork of this process, or for one mutant that was on from the start."""

    def __init__(self, task):
        self.task, self.failed = task, False

    def pytest_runtest_logreport(self, report):
        self.failed = self.failed or report.failed

    def pytest_runtestloop(self, session):
        if session.testsfailed:
            return True  # modules cannot be imported: there are no outputs
        self.items = {item.nodeid: item for item in session.items}
        waiting, running = self.task["jobs"], {}
        while waiting or running:
            while waiting and len(running) < self.task["processes"]:
                job = waiting.pop(0)
                pid = os.fork()
                if pid == 0:
                    self.start(job)
                running[pid] = job
            pid, status = os.wait()
            with contextlib.suppress(ProcessLookupError):
                os.killpg(pid, signal.SIGKILL)  # what it started
            job = running.pop(pid)
            with open(job["output"], "a") as file:
                file.write(f"= {os.waitstatus_to_exitcode(status)}\n")
            shutil.rmtree(job["output"] + ".tmp", ignore_errors=True)
        return True

    def start(self, job):
        """Be a process of its own for a job, with limits for what a mutant may do."""
        os.setpgid(0, 0)
        resource.setrlimit(resource.RLIMIT_DATA, (6 << 30, 6 << 30))
        resource.setrlimit(resource.RLIMIT_FSIZE, (2 << 30, 2 << 30))
        null = os.open(os.devnull, os.O_RDWR)
        for i in range(3):
            os.dup2(null, i)
        os.mkdir(job["output"] + ".tmp")
        os.environ["PYTEST_DEBUG_TEMPROOT"] = os.environ["TMPDIR"] = tempfile.tempdir = job["output"] + ".tmp"
        try:
            use_page(job["output"] + ".page", job["mutant"])
            self.run(job)
        finally:
            os._exit(0)

    def run(self, job):
        """Run tests until enough files of them have failed. Write "> test" before each, and "! test" for a failure."""
        names = [name for name in job["tests"] if name in self.items]
        files = set()
        file = os.open(job["output"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)  # for a loop without end
        for i, name in enumerate(names):
            item, following = self.items[name], self.items[names[i + 1]] if i + 1 < len(names) else None
            if name.partition("::")[0] in files:
                continue
            if sum(os.times()[:4]) > self.task["seconds"]:  # of processors; a fork begins at 0
                os.write(file, b"limit\n")
                break
            os.write(file, f"> {name}\n".encode())
            self.failed = False
            signal.alarm(int(20 + 10 * job["tests"][name]))
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            signal.alarm(0)
            if self.failed:
                os.write(file, f"! {name}\n".encode())
                files.add(name.partition("::")[0])
                item.session._setupstate.teardown_exact(None)
                if len(files) == self.task["files"]:
                    break


def pytest_configure(config):
    if TASK:
        import uricodec._base._mutant_py

        if not Path(uricodec.__file__).is_relative_to(TASK["build"]):
            raise SystemExit(f"not the mutated package: {uricodec.__file__}")
        if TASK["do"] != "reach":
            config.pluginmanager.register(Judge(TASK))
        elif "PYTEST_XDIST_WORKER" in os.environ:
            config.pluginmanager.register(Reach(TASK["folder"]))
