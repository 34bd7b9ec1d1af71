"""The progress meter: how much has been read, how fast, and how long the rest will take."""

import os
import sys
from stat import S_ISREG
from time import monotonic

from uricodec._io.files import descriptor_of, total_size

# Seconds before the meter appears on a terminal, between its updates, and between its lines elsewhere.
METER_DELAY = 0.5
METER_PERIOD = 0.1
METER_LINE_PERIOD = 10.0


class Meter:
    """A progress meter on standard error: how much has been read, how fast, and how long the rest will take.

    On a terminal it is one line, which disappears at the end. Elsewhere it is a line every ten seconds, and one at the
    end. Unless `progress` decides, it is shown only on a terminal to which nothing else writes: no output is a terminal
    or a pipe, and standard input, if it is read, is not a terminal.

    Args:
        names (list[str]): The inputs, whose sizes give the total.
        outputs (Output | None): The outputs of the command.
        progress (bool | None): True: show the meter; False: do not; None: decide as above.

    Attributes:
        shows (bool): Whether the meter is shown.
    """

    def __init__(self, names, *outputs, progress=None):
        self._done = self._width = self._total = 0
        self._start = monotonic()
        self._next = float("inf")
        self._on_terminal = sys.stderr is not None and sys.stderr.isatty()
        self.shows = progress
        if progress is None:
            self.shows = self._on_terminal and not ("-" in names and sys.stdin is not None and sys.stdin.isatty())
            self.shows = self.shows and all(is_quiet(output._path) for output in outputs if output)
        if self.shows:
            self._total = total_size(names)
            self._next = self._start + (METER_DELAY if self._on_terminal else METER_LINE_PERIOD)

    def __enter__(self):
        return self

    def add(self, size):
        """Add `size` to the number of bytes read."""
        self._done += size
        if self.due(monotonic()):
            self.say(self.describe())

    def describe(self):
        """Return what the meter says now."""
        seconds, megabytes = monotonic() - self._start, self._done / 1e6
        parts = [f"{min(100, 100 * self._done // self._total)} %"] if self._total else []
        parts += [f"{megabytes:.0f} MB", f"{megabytes / (seconds or 1):.0f} MB/s"]
        return "  ".join(parts + remaining(self._done, self._total, seconds))

    def due(self, now):
        """Return whether an update is due. If so, the next one is due after a pause."""
        if now < self._next:
            return False
        self._next = now + (METER_PERIOD if self._on_terminal else METER_LINE_PERIOD)
        return True

    def say(self, text):
        """Show a line, on a terminal in place of the previous one."""
        try:
            sys.stderr.write(f"\r{text:{self._width}}\r" if self._on_terminal else f"{text}\n")
            sys.stderr.flush()
        except (OSError, AttributeError):  # it was closed
            self._next, self.shows = float("inf"), False
        self._width = len(text)

    def __exit__(self, *exception):
        if self._on_terminal and self._width:
            self.say("")
        elif self.shows and not self._on_terminal:
            self.say(self.describe())


def is_quiet(path):
    """Return whether what is written to an output never appears on a terminal: it is a file, or the null device.

    A terminal is not, nor is a pipe, whose reader may write to the same terminal.

    >>> is_quiet("new.txt"), is_quiet(os.devnull)
    (True, True)
    """
    try:
        number = sys.stdout.fileno() if path is None else descriptor_of(path)
        status = os.stat(path if number is None else number)
        return S_ISREG(status.st_mode) or os.path.samestat(status, os.stat(os.devnull))
    except (OSError, ValueError, AttributeError):  # a new file; a closed stream
        return True


def remaining(done, total, seconds):
    """Return how long the rest will take, for the meter: a list of one text, or of none if it is unknown.

    >>> remaining(1, 4, 30.0), remaining(1, 0, 30.0), remaining(4, 4, 30.0)
    (['ETA 1:30'], [], [])
    """
    return [f"ETA {duration((total - done) * seconds / done)}"] if 0 < done < total else []


def duration(seconds):
    """Return a time as text.

    >>> duration(9.6), duration(3600)
    ('0:10', '1:00:00')
    """
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
