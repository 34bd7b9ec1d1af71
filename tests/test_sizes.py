"""Sizes at the borders of 31, 32 and 63 bits, without the memory that they would take."""

import mmap
import os
import sys

import pytest
from support.kernels import run_kernel

import uricodec
from uricodec import uri, urn
from uricodec._codec._rows import EncodeRows
from uricodec._rows._tasks import transform_lines
from uricodec.iri._conversion import IriToUriRows, UriToIriRows
from uricodec.uri._rows import NormalizeRows
from uricodec.urn._rows import CheckUrnRows

LARGEST = sys.maxsize
ROWS = {
    "encode": EncodeRows(uricodec.ByteSet(), False),
    "iri-to-uri": IriToUriRows(),
    "uri-to-iri": UriToIriRows(),
    "normalize": NormalizeRows("path"),
}


def memory_of_the_machine():
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return 0


needs_memory = pytest.mark.skipif(
    LARGEST < 2**32 or not hasattr(mmap, "MAP_ANONYMOUS") or memory_of_the_machine() < 8 << 30,
    reason="that takes addresses of 64 bits, memory that is there when it is written to, and a machine with 8 GB",
)


# --- the room of a row ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("size", [(2**31 - 1) // 3, (2**31 - 1) // 3 + 1, (2**32 - 1) // 3 + 1, LARGEST // 100])
def test_the_capacity_for_a_row_grows_with_it(name, size):
    if size > LARGEST // 100:
        pytest.skip("more than such an address has")
    room = ROWS[name].capacity(size)
    assert size <= room <= LARGEST
    assert ROWS[name].capacity(size + 1) >= room


@pytest.mark.parametrize("size", [LARGEST // 3 + 1, LARGEST - 1, LARGEST])
def test_more_than_an_object_can_be(size):
    with pytest.raises(OverflowError):
        ROWS["encode"].capacity(size)


def test_the_largest_row():
    """There is a largest one, a third of what an object can be, but for a few octets."""
    low, high = 0, LARGEST
    while high - low > 1:
        middle = (low + high) // 2
        try:
            assert ROWS["encode"].capacity(middle, "keep") <= LARGEST
            low = middle
        except OverflowError:
            high = middle
    assert LARGEST // 3 - 100 < low <= LARGEST // 3


# --- more than 2 and 4 GiB --------------------------------------------------------------------------------------------

BORDERS = 2**31 - 1, 2**31, 2**31 + 1, 2**32 - 1, 2**32, 2**32 + 1


@pytest.fixture(scope="module")
def zeros():
    """4 GiB and a page of zeros, which are nowhere."""
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_NORESERVE", 0)
    memory = mmap.mmap(-1, 2**32 + mmap.PAGESIZE, flags=flags)
    yield memory
    memory.close()


@pytest.fixture
def marked(zeros):
    """The zeros, and what writes to them and takes it away."""
    places = []

    def mark(place, octets):
        zeros[place : place + len(octets)] = octets
        places.append((place, len(octets)))

    mark.memory = zeros
    yield mark
    for place, size in places:
        zeros[place : place + size] = bytes(size)


@pytest.mark.slow
@needs_memory
@pytest.mark.parametrize("place", BORDERS)
def test_a_scan_stops_where_it_has_to(marked, place):
    marked(place, b"x")
    assert run_kernel("span", marked.memory, byte_set=uricodec.ByteSet([0])) == place


@pytest.mark.slow
@needs_memory
def test_counts_of_more_than_4_gib(zeros):
    assert run_kernel("count_outside", zeros, byte_set=uricodec.ByteSet("x")) == len(zeros)


@pytest.mark.slow
@needs_memory
def test_identifiers_are_found_after_4_gib(marked):
    for place in BORDERS[1], 2**32 - 5, 2**32 + 100:
        marked(place, b" urn:a:b ")
    places = [place + 1 for place in (BORDERS[1], 2**32 - 5, 2**32 + 100)]
    # Octet 0 is in no name, and ends them.
    assert urn.find(marked.memory) == [(place, place + 7) for place in places]
    for place in places:
        marked(place, b"a://b.c")
    assert uri.find(marked.memory) == [(place, place + 7) for place in places]


@pytest.mark.slow
@needs_memory
def test_lines_after_4_gib(marked):
    for place in BORDERS[0], 2**32 + 1:
        marked(place, b"\n")
    marked(2**32 + 2, b"urn:ab:c\nurn:\n")
    read, found = transform_lines(marked.memory, None, CheckUrnRows())
    assert (read, found.lines, found.invalid) == (len(marked.memory), 5, 4)
    assert [fault.start for fault in found.faults] == [0, 2**31, 2**32 + 11, 2**32 + 16]


@pytest.mark.slow
@needs_memory
def test_no_capacity_for_the_result_of_4_gib(zeros):
    """What cannot be written is rejected, and nothing after the end is touched."""
    room = bytearray(b"\xaa" * 100)
    with memoryview(room) as view, pytest.raises(ValueError, match="dst is too small: 64 bytes"):
        uricodec.quote_into(zeros, view[:64])
    assert room[64:] == b"\xaa" * 36
