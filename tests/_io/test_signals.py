"""A signal that ends the process, at any moment while an output is opened: nothing stays, and the signal counts."""

import os
import signal
import sys

import pytest

from uricodec._io.folders import OutputFolder
from uricodec._io.writing import Output

ENDS = {signal.SIGINT: KeyboardInterrupt, signal.SIGTERM: SystemExit}


def opened(make, number, moment):
    """Open an output, with a signal after so many calls of functions in C. Return whether there were so many."""
    calls = 0

    def profile(_frame, event, _argument):
        nonlocal calls
        if event == "c_return":
            calls += 1
            if calls == moment:
                signal.raise_signal(number)

    sys.setprofile(profile)
    try:
        with make():
            sys.setprofile(None)
    finally:
        sys.setprofile(None)
    return calls >= moment


@pytest.mark.parametrize("make", [Output, OutputFolder])
@pytest.mark.parametrize("number", ENDS)
def test_a_signal_while_an_output_is_opened(tmp_path, make, number):
    pytest.importorskip("fcntl", reason="other signals")
    handlers = [signal.getsignal(each) for each in ENDS]
    ended = 0
    before = signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    try:
        while True:
            try:
                if not opened(lambda: make(str(tmp_path / "out")), number, ended + 1):
                    break
            except ENDS[number]:
                ended += 1
                assert os.listdir(tmp_path) == []
    finally:
        signal.signal(signal.SIGTERM, before)
    assert ended > 20
    assert [signal.getsignal(each) for each in ENDS] == handlers
