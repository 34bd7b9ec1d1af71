"""Standard error, and the progress meter on it: when they fail, the work goes on."""

import errno
import os
import sys

from support.command import Text

from uricodec._io import meter
from uricodec._io.files import tell
from uricodec._io.meter import Meter
from uricodec._io.writing import Output
from uricodec.cli import main


class Broken:
    def write(self, _):
        raise OSError(errno.EIO, os.strerror(errno.EIO))


def test_a_standard_error_that_fails(tmp_path, monkeypatch):
    """Then nothing is said; the status tells as ever, and what there is to write is written."""
    path = tmp_path / "in"
    path.write_bytes(b"%41\n")
    for stderr in Broken(), None:
        output = Text()
        monkeypatch.setattr(sys, "stdout", output)
        monkeypatch.setattr(sys, "stderr", stderr)
        assert tell("anything") is None
        if stderr is not None:
            monkeypatch.setattr(stderr, "isatty", lambda: False, raising=False)
        assert main(["decode", str(path), str(tmp_path / "missing")]) == 3
        assert output.buffer.getvalue() == b"A\n"


def test_a_terminal_that_goes(tmp_path, monkeypatch):
    """The meter says no more, and the work goes on."""

    class Terminal(Text):
        shown = 0

        def isatty(self):
            return True

        def write(self, text):
            self.shown += 1
            if self.shown > 1:
                raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(meter, "METER_DELAY", 0)
    monkeypatch.setattr(meter, "METER_PERIOD", 0)
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(sys, "stdout", Text())
    with Output() as output:
        shown = Meter([], output)
        for _ in range(5):
            shown.add(1_000_000)
    assert terminal.shown == 2 and not shown.shows
