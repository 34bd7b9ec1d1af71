"""Runs the command line, in this process or another."""

import contextlib
import io
import os
import subprocess
import sys
import time

import pytest

from uricodec._io import locks, reading
from uricodec.cli import main

# What follows the message about an invalid record under --errors raise.
HINT = "\nhint: --errors drop skips invalid records, --invalid-to FILE lists them\n"


class Text:
    """A standard stream of a main() in this process: octets in `buffer`."""

    encoding = "utf-8"

    def __init__(self, data=b""):
        self.buffer = io.BytesIO(data)

    def flush(self):
        pass

    def write(self, text):
        self.buffer.write(text.encode())

    def isatty(self):
        return False


def run(*arguments, stdin=b"", chunk=None):
    """Run main() in this process. Returns the exit status, and what went to standard output and error."""
    with pytest.MonkeyPatch.context() as patch:
        streams_of_process = Text(stdin), Text(), Text()
        for name, stream in zip(("stdin", "stdout", "stderr"), streams_of_process, strict=True):
            patch.setattr(sys, name, stream)
        if chunk:
            patch.setattr(reading, "CHUNK", chunk)
        status = main([str(argument) for argument in arguments])
    return status, streams_of_process[1].buffer.getvalue(), streams_of_process[2].buffer.getvalue().decode()


def output_of(*arguments, **options):
    status, output, complaint = run(*arguments, **options)
    assert (status, complaint) == (0, "")
    return output


def without_reasons(report):
    """Return a report of `check` (bytes) as --invalid-to writes it."""
    return b"".join([line.rpartition(b"\t")[0] + b"\n" for line in report.split(b"\n")[:-1]])


COMMAND = [sys.executable, "-m", "uricodec"]


def process(*arguments, **options):
    return subprocess.run([*COMMAND, *map(str, arguments)], capture_output=True, check=False, timeout=120, **options)


def wait_for_output(out):
    """Wait until the temporary file of this output (Path) has contents: an empty one may be removed again."""
    path = out.with_name(locks.name_for(out.name))
    deadline = time.monotonic() + 60
    size = 0
    while not size:
        assert time.monotonic() < deadline
        time.sleep(0.001)
        with contextlib.suppress(FileNotFoundError):
            size = os.path.getsize(path)


GROWTH = """
import re, sys
from uricodec.cli import main

def peak():
    return int(re.search("VmHWM:(.*)kB", open("/proc/self/status").read())[1])

*command, path, out = sys.argv[1:]
open(out + "1", "wb").write(open(path, "rb").read(1_000_000))
main([*command, out + "1", "-o", out])
before = peak()
main([*command, path, "-o", out])
print(peak() - before)
"""


def growth(command, path, out):
    """By how many kilobytes the most memory that a command needs grows after the first megabyte of a file.

    That takes what is taken once (the interpreter, an emulator's translations). ru_maxrss is of no use: Linux counts
    there what the parent had when it forked.
    """
    arguments = [sys.executable, "-c", GROWTH, *command, path, out]
    return int(subprocess.run(arguments, capture_output=True, check=True, timeout=300).stdout)


def output_to_nobody(*arguments, **options):
    """A process that writes to a pipe whose other end is closed."""
    reading, writing = os.pipe()
    os.close(reading)
    try:
        return subprocess.run(
            [*COMMAND, *arguments], stdout=writing, stderr=subprocess.PIPE, check=False, timeout=60, **options
        )
    finally:
        os.close(writing)
