"""Calls whose first, second, third ... allocation fails: python tests/support/sweep.py PLACE MOST NAME ...

For each call of the table of that name, `_testcapi.set_nomemory` fails all allocations from one on, and that one alone,
for each that the call makes, or MOST of them (0: all). The call has to raise MemoryError, or to give what it gives
otherwise, and gives that when there is memory again; and a sweep that is made again leaves no more memory behind.

Each call is swept in a process of its own. What is not as it has to be is printed, a line of JSON each, and at last how
much was done. PLACE is a file of 256 octets or more, with what is being done, which is said of a process that died.
Run it with PYTHONMALLOC=malloc_debug, which finds what writes where it should not.
"""

import gc
import json
import mmap
import os
import re
import sys
import tracemalloc

import _testcapi  # isort: skip
from support.calls import CALLS, outcome, plain

SPREAD = 300  # octets by which memory may differ: what the interpreter keeps for itself

# What urllib.parse itself loses without memory.
LOSING = {"uricodec.unquote"}
ROUNDS = 6  # of the same sweep: the first one warms up, and one of the others must take nothing
LIMIT = 20_000  # allocations of a call
ALL = 100_000  # failures behind each other; not for ever: the interpreter tries some of its own again and again


# From 3.11 on, the interpreter loses an exception when there is no memory for the traceback of a function in Python.
LOST = re.compile("^error return without exception set$|^<function .*> returned NULL without setting an exception$"
                  if sys.version_info >= (3, 11) else "$^")  # fmt: skip

unraisable = []


def attempt(call, start, stop):
    """What comes of a call with such failures: "memory", or what it gave or raised; and whether it got to them."""
    met = True
    result = None
    _testcapi.set_nomemory(start, stop)
    try:
        result = call()
    except BaseException as error:
        result = error
    try:
        bytearray(1)
        met = False
    except MemoryError:
        pass
    _testcapi.remove_mem_hooks()
    if type(result) is MemoryError:
        result.__traceback__ = None
        return "memory", met
    if type(result) is SystemError and LOST.search(str(result)):
        return "memory", met
    if type(result) is BufferError and type(result.__context__) is MemoryError:
        return "memory", met  # `with` needs memory to end, and what it was to release is not
    if isinstance(result, BaseException):
        return (type(result), str(result)), met
    return plain(result), met


def allocations(call):
    """Of how many allocations the last one that matters is: the first so many calls with failures get to them."""
    low, high = 0, 64
    while high < LIMIT and attempt(call, high, high + ALL)[1]:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if attempt(call, middle, middle + ALL)[1] else (low, middle)
    return low


def chosen(count, most):
    """Not more than so many of the points 1 .. count: the first half of them one by one, the others evenly."""
    if not most or count <= most:
        return range(1, count + 1)
    half = most // 2
    return [*range(1, half + 1), *(half + (count - half) * i // half for i in range(1, half + 1))]


def sweep(call, points, expected, note, tell):
    """Returns how many failures gave the right answer nevertheless."""
    tolerated = 0
    for start in points:
        for stop in start + ALL, start + 1:
            note(start, stop)
            found, _ = attempt(call, start, stop)
            if found not in ("memory", expected):
                tell(start, stop, found)
            tolerated += found != "memory"
    note(0, 0)
    if outcome(call) != expected:
        tell(0, 0, "another result than before")
    return tolerated


def swept(call, note, tell, most, losing):
    """Sweep one call; returns the numbers of failures, and of right answers in spite of them."""
    expected = outcome(call)
    points = chosen(allocations(call), most)
    grown = []
    while len(grown) < ROUNDS and not (grown[1:] and grown[-1] <= SPREAD):
        gc.collect()
        before = tracemalloc.get_traced_memory()[0]
        tolerated = sweep(call, points, expected, note, tell)
        gc.collect()
        grown.append(tracemalloc.get_traced_memory()[0] - before)
    if grown[-1] > SPREAD and not losing:
        tell(0, 0, f"grows: {grown} octets")
    if unraisable:
        tell(0, 0, unraisable[:3])
    return 2 * len(points), tolerated


def main(place, most, *names):
    with open(place, "r+b") as file:
        where = mmap.mmap(file.fileno(), 256)
    gc.freeze()
    tracemalloc.start()
    # Without an object it is the interpreter's own.
    sys.unraisablehook = lambda found: found.object and unraisable.append(str((found.exc_type, str(found.object))))
    counts = {"functions": len(names), "calls": 0, "points": 0, "tolerated": 0}
    for name in names:
        for number, call in enumerate(CALLS[name]):
            told = set()

            def tell(start, stop, what, of=f"{name}[{number}]", told=told):
                if str(what) not in told:
                    told.add(str(what))
                    os.write(1, json.dumps([of, start, stop, str(what)[:300]]).encode() + b"\n")

            def note(start, stop, of=f"{name}[{number}]"):
                where[:] = f"{of} {start}..{stop}".encode()[:256].ljust(256)

            note(0, 0)
            read, write = os.pipe()
            child = os.fork()
            if not child:
                os.write(write, b"%d %d" % swept(call, note, tell, most, name in LOSING))
                os._exit(0)
            os.close(write)
            with open(read, "rb") as file:
                found = file.read().split()
            status = os.waitpid(child, 0)[1]
            if status or not found:
                tell(0, 0, f"died: {status} at {bytes(where[:]).decode().strip()}")
                continue
            counts["calls"] += 1
            counts["points"] += int(found[0])
            counts["tolerated"] += int(found[1])
    print(json.dumps(counts))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), *sys.argv[3:])
