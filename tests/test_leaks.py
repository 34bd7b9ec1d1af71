"""Nothing stays behind: calls of the table again and again, in constant memory.

URICODEC_SOAK says how many calls there are of each row of the table. A few of them are watched octet by octet; from
1000 on the process is, as the system sees it.
"""

import gc
import math
import os
import sys
import tracemalloc

import pytest
from support.calls import CALLS, FOREIGN, outcome

SOAK = int(os.environ.get("URICODEC_SOAK", "40"))
# Not on 3.10, which makes a cache for each function of Python when that is called for the 1024th time; nor on 3.12,
# where the interpreter keeps more and more in the first thousands of calls, some 500 objects.
CLOSELY = SOAK < 1000 and sys.version_info[:2] not in {(3, 10), (3, 12)}

# Octets: less than an object that stays behind in each of 4 rounds.
NOTHING = 120


def resident():
    """Octets of memory that the process has."""
    with open("/proc/self/statm", "rb") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def settle():
    """Free what only the interpreter keeps: its cache of attributes has names, by their addresses."""
    gc.collect()
    (sys._clear_type_cache if sys.version_info < (3, 13) else sys._clear_internal_caches)()


def grown(calls, rounds, measure):
    settle()
    before = measure()
    for _ in range(rounds):
        for call in calls:
            outcome(call)
    settle()
    return measure() - before


@pytest.mark.long
@pytest.mark.soak
@pytest.mark.parametrize("name", sorted(CALLS.keys() - FOREIGN))
@pytest.mark.process
def test_calls_keep_nothing(name):
    calls = CALLS[name]
    rounds = max(math.ceil(SOAK / len(calls)), 4)
    gc.freeze()  # what other tests left is not to be searched in each collection
    grown(calls, 1 if CLOSELY else rounds // 10 + 1, int)
    if CLOSELY:
        tracemalloc.start()
        try:
            found = []
            # The interpreter keeps this and that for a while: in the stdlib's own functions, for some 200 calls.
            for more in [1] * 4 + [25] * 8:
                found.append(grown(calls, more * rounds, lambda: tracemalloc.get_traced_memory()[0]))
                if found[-1] <= NOTHING:
                    break
        finally:
            tracemalloc.stop()
        assert found[-1] <= NOTHING, found
    else:
        if not os.path.exists("/proc/self/statm"):
            pytest.skip("the system does not say how much memory a process has")
        blocks = sys.getallocatedblocks()
        assert grown(calls, rounds, resident) < 2 << 20
        assert sys.getallocatedblocks() - blocks < 200
