"""Time that grows with an input: measured as a ratio, since seconds say more about a machine than about a function."""

import sys
import time

FLOOR = 0.02 if sys.platform == "win32" else 0.0002  # seconds; less is noise of the clock


def seconds(call, argument):
    start = time.process_time()
    call(argument)
    return time.process_time() - start


def assert_linear(call, make, size):
    """Compare the time for make(size) and for make(8 * size), and again if there was noise.

    Linear time gives a ratio of 8, quadratic time of 64; at most 24 are accepted. A mark `timeout` of the test ends
    what takes longer than that.
    """
    small, large = make(size), make(8 * size)
    for _ in range(5):
        before = max(FLOOR, min(seconds(call, small) for _ in range(2)))
        after = seconds(call, large)
        if after <= 24 * before:
            return
    raise AssertionError(f"{small[:40]!r}...: 8 times as long takes {after / before:.0f} times as long")
