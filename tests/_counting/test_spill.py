"""Names that wait in buffers by partition, and blocks that are read again, beside their reference implementations."""

import random
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import spill as naive
from support.tables import each_row

from uricodec._counting._spill import HEADER, SpillBuffers, SpilledBatch, block_size
from uricodec._counting._table import FingerprintBatch, IdentifierBatch, Table

LATER = naive.LATER

fingerprints = st.one_of(
    st.binary(min_size=16, max_size=16), st.sampled_from([bytes(16), b"\xff" * 16, bytes(range(16))])
)
gaps = st.sampled_from([0, 1, 2, 1000, 2**31, 2**32 - 1, 2**32, 2**40])
forms = st.one_of(st.binary(max_size=60), st.sampled_from([b"", b"x" * 150, b"y" * 5000, b"z" * 200_000]))


def made_of(rows, marks=None, exact=False, base=None):
    """A batch. `rows` are within 2^32 of each other."""
    if base is None:
        base = min((number for _, number, _ in rows), default=0)
    return FingerprintBatch(
        b"".join(fingerprint for fingerprint, _, _ in rows),
        [form for _, _, form in rows] if exact else None,
        base,
        [number - base for _, number, _ in rows],
        marks,
    )


@st.composite
def batches(draw):
    """Rows with their marks, so that the numbers of one batch are within 2^32 of each other."""
    start, found = draw(st.sampled_from([0, 5, 2**32 - 3, 2**63])), []
    for _ in range(draw(st.integers(1, 4))):
        rows = []
        for _ in range(draw(st.integers(0, 30))):
            rows.append((draw(fingerprints), start, draw(forms)))
            gap = draw(gaps)
            if start + gap - rows[0][1] >= 2**32:
                break
            start += gap
        start += draw(gaps)
        marks = bytes(draw(st.sampled_from([LATER, LATER, LATER, 0, 1, 2])) for _ in rows)
        found.append((rows, marks))
    return found


def random_rows(chance, count, exact=False, first=0):
    sizes = [0, 1, 7, 20, 40, 41, 200]
    return [
        (chance.randbytes(16), first + i, chance.randbytes(chance.choice(sizes)) if exact else b"")
        for i in range(count)
    ]


def read(block):
    """What is in a block, its numbers included."""
    names = SpilledBatch()
    names.read(block)
    prints = [names.fingerprints[i : i + 16] for i in range(0, 16 * len(names), 16)]
    forms = naive.forms_of(block, len(names))
    assert not any(forms) or has_forms(names, prints, forms)
    return list(zip(prints, names.row_numbers, forms, strict=True))


def has_forms(names, prints, forms):
    """Whether a batch has these normal forms: a table knows all of its rows when it has seen them."""
    table = Table(1 << 24, exact=True)
    table.add(FingerprintBatch(b"".join(prints), forms))
    table.add(names)
    return names.marks == bytes([naive.SEEN]) * len(forms)


# --- writing ----------------------------------------------------------------------------------------------------------


@given(
    found=batches(),
    depth=st.integers(0, 19),
    exact=st.booleans(),
    room=st.sampled_from([128, 129, 135, 136, 200, 256, 1000, 65536]),
    parts=st.sampled_from([1, 2, 8, 64]),
)
def test_agrees_with_the_reference(found, depth, exact, room, parts):
    buffers, reference = SpillBuffers(depth, exact, room, parts), naive.Buffers(depth, exact, room, parts)
    written = [[] for _ in range(parts)]

    def empty(part):
        block = bytes(buffers.take(part))
        assert block == bytes(buffers.take(part)) == reference.take(part)
        if block:
            assert block_size(block) == len(block)
            written[part] += read(block)
        buffers.clear(part)
        reference.clear(part)

    for rows, marks in found:
        names, at = made_of(rows, marks, exact), 0
        while at < len(rows):
            before, at = at, buffers.add(names, at)
            assert at == reference.add(rows, marks, before)
            assert buffers.full == reference.full
            if at < len(rows):
                empty(buffers.full)
        assert buffers.add(names, len(rows)) == len(rows)
        assert names.marks == marks
    for part in range(parts):
        empty(part)
        assert buffers.take(part) == b""
    want = [
        (fingerprint, number, form if exact else b"")
        for rows, marks in found
        for (fingerprint, number, form), mark in zip(rows, marks, strict=True)
        if mark == LATER
    ]
    for part in range(parts):
        assert written[part] == [row for row in want if naive.part_of(row[0], depth, parts) == part]


@pytest.mark.parametrize("exact", [False, True])
def test_many_rows(exact):
    chance = random.Random(1)
    rows = random_rows(chance, 30_000, exact, 2**40)
    marks = bytes(chance.choices([0, 1, 2, 3], [1, 1, 1, 5], k=len(rows)))
    names, buffers = made_of(rows, marks, exact), SpillBuffers(exact=exact, capacity=4096)
    at, found = 0, []
    while at < len(names):
        at = buffers.add(names, at)
        for part in [buffers.full] if at < len(names) else range(len(buffers)):
            block = buffers.take(part)
            assert len(block) <= 4096
            found += read(block) if block else []
            buffers.clear(part)
    assert sorted(found) == sorted(row for row, mark in zip(rows, marks, strict=True) if mark == LATER)


def test_partitions_of_all_depths_differ():
    """Rows that one depth puts together are spread by the next."""
    chance = random.Random(2)
    for depth in range(19):
        shift = 64 + 6 * depth if depth < 10 else 6 * (depth - 10)
        bits = [chance.getrandbits(128) & ~(63 << shift) | 17 << shift for _ in range(2000)]
        words = [struct.pack("=2Q", value & 2**64 - 1, value >> 64) for value in bits]
        names = made_of([(octets, i, b"") for i, octets in enumerate(words)], bytes([LATER]) * 2000)
        for deeper in 0, 1:
            buffers = SpillBuffers(depth + deeper)
            assert buffers.add(names) == 2000
            sizes = [len(buffers.take(part)) for part in range(64)]
            assert all(sizes) if deeper else [part for part in range(64) if sizes[part]] == [17]


def test_a_block_that_is_taken_gets_no_more():
    rows = [(bytes(16), i, b"abc") for i in range(3)]
    for exact in False, True:
        buffers = SpillBuffers(exact=exact, parts=1)
        buffers.add(made_of(rows[:1], bytes([LATER]), exact))
        block = buffers.take(0)
        before = bytes(block)
        assert buffers.add(made_of(rows[1:], bytes([LATER]) * 2, exact)) == 0
        assert buffers.full == 0
        assert block == before == naive.pack(rows[:1], exact)
    names, buffers = made_of(rows, bytes([LATER]) * 3), SpillBuffers(parts=1)
    assert buffers.add(names, 0) == 3
    assert buffers.full == -1
    assert buffers.take(0) == naive.pack(rows)


def test_buffers_are_used_to_their_ends():
    rows = [(bytes(16), i, b"abcd") for i in range(40)]
    for room in range(128, 400):
        for exact in False, True:
            buffers = SpillBuffers(exact=exact, capacity=room, parts=1)
            fit = (room // 8 * 8 - HEADER) // (28 if exact else 20)
            assert buffers.add(made_of(rows, bytes([LATER]) * 40, exact)) == fit
            assert buffers.take(0) == naive.pack(rows[:fit], exact)
            assert len(buffers.take(0)) <= room


@each_row(("gap", "fits"), [(0, True), (1, True), (2**32 - 1, True), (2**32, False), (2**63, False), (-1, False)])
def test_a_block_spans_less_than_2_to_the_32(gap, fits):
    buffers = SpillBuffers(parts=1)
    buffers.add(made_of([(bytes(16), 2**40, b"")], bytes([LATER])))
    assert buffers.add(made_of([(bytes(16), 2**40 + gap, b"")], bytes([LATER]))) == fits
    assert [number for _, number, _ in read(buffers.take(0))] == [2**40, 2**40 + gap][: 1 + fits]


def test_long_forms():
    """A form that is longer than a buffer is a block by itself."""
    rows = [(bytes(16), i, b"x" * size) for i, size in enumerate([5, 100, 56, 57, 200_000, 0, 3_000_000, 1])]
    names, buffers, found = made_of(rows, bytes([LATER]) * len(rows), exact=True), SpillBuffers(0, True, 128, 1), []
    views = []
    at = 0
    while at < len(rows):
        at = buffers.add(names, at)
        views.append(buffers.take(0))
        found.append([(number, len(form)) for _, number, form in read(views[-1])])
        buffers.clear(0)
    assert found == [[(0, 5)], [(1, 100)], [(2, 56)], [(3, 57)], [(4, 200_000)], [(5, 0)], [(6, 3_000_000)], [(7, 1)]]
    assert read(views[4]) == rows[4:5]  # memory of its own, for as long as somebody looks at it


def test_a_view_outlives_the_buffers():
    buffers = SpillBuffers(parts=1)
    buffers.add(made_of([(bytes(16), 7, b"")], bytes([LATER])))
    block = buffers.take(0)
    del buffers
    assert block == naive.pack([(bytes(16), 7, b"")])
    assert block.readonly


def test_a_long_block_is_cleared_and_its_buffer_is_a_usual_one():
    buffers = SpillBuffers(exact=True, capacity=128, parts=1)
    for size in 1000, 1001, 5, 70_003, 4999, 56:
        rows = [(bytes(16), 1, b"a" * size)]
        assert buffers.add(made_of(rows, bytes([LATER]), exact=True)) == 1
        assert buffers.take(0) == naive.pack(rows, exact=True)
        buffers.clear(0)


def test_wrong_arguments_are_rejected():
    for depth in -1, 20:
        with pytest.raises(ValueError, match="depth"):
            SpillBuffers(depth)
    for room in 0, 127, -1, 2**30 + 1:
        with pytest.raises(ValueError, match="buffer size must be from 128 to 1073741824 bytes"):
            SpillBuffers(capacity=room)
    for parts in -1, 0, 3, 65, 128:
        with pytest.raises(ValueError, match="partitions"):
            SpillBuffers(parts=parts)
    buffers = SpillBuffers(exact=True, parts=2)
    with pytest.raises(ValueError, match="normal forms"):
        buffers.add(made_of([(bytes(16), 0, b"")], bytes([LATER])))
    for part in 2, 2**40:
        with pytest.raises(IndexError):
            buffers.take(part)
        with pytest.raises(IndexError):
            buffers.clear(part)
    for wrong in None, b"", object():
        with pytest.raises(TypeError):
            buffers.add(wrong)
    assert buffers.add(SpilledBatch(), 5) == 0


# --- reading ----------------------------------------------------------------------------------------------------------


@given(
    rows=st.lists(st.tuples(fingerprints, st.integers(2**33, 2**33 + 2**32 - 1), forms), max_size=40),
    exact=st.booleans(),
)
def test_read_as_packed(rows, exact):
    block = naive.pack(rows, exact)
    names = SpilledBatch()
    names.read(block)
    assert isinstance(names, IdentifierBatch)
    assert block_size(block[:HEADER]) == block_size(block) == len(block)
    assert len(names) == len(rows)
    assert names.fingerprints == b"".join(fingerprint for fingerprint, _, _ in rows)
    assert names.row_numbers == [number for _, number, _ in rows]
    assert names.marks == bytes(len(rows))
    assert names.new == names.later == 0
    if exact:
        assert has_forms(names, [fingerprint for fingerprint, _, _ in rows], [form for _, _, form in rows])


def test_a_batch_is_reused():
    names = SpilledBatch()
    assert len(names) == 0
    chance = random.Random(3)
    for count in 0, 10, 3, 1000, 0, 7:
        for exact in False, True:
            rows = random_rows(chance, count, exact, 2**35)
            names.read(naive.pack(rows, exact))
            assert names.row_numbers == [number for _, number, _ in rows]
            assert names.marks == bytes(count)
            assert not exact or has_forms(names, [row[0] for row in rows], [form for _, _, form in rows])


def test_any_alignment():
    rows = random_rows(random.Random(4), 50, True, 10)
    for exact in False, True:
        block = naive.pack(rows, exact)
        want = read(block)
        for start in range(9):
            assert read(memoryview(bytes(start) + block)[start:]) == want


def test_stays_inside_the_block(fences):
    for count in range(40):
        for exact in False, True:
            rows = random_rows(random.Random(count), count, exact)
            block = naive.pack(rows, exact)
            want = read(block)
            for place in fences[0].at_start, fences[0].at_end:
                assert read(place(block)) == want


def test_stays_inside_the_forms(fences):
    rows = random_rows(random.Random(5), 40, True)
    names = SpilledBatch()
    names.read(fences[0].at_end(naive.pack(rows, True)))
    assert has_forms(names, [row[0] for row in rows], [form for _, _, form in rows])


def test_the_block_is_held_until_the_next():
    names, room = SpilledBatch(), bytearray(naive.pack([(bytes(16), 7, b"")]))
    names.read(room)
    with pytest.raises(BufferError):
        room.clear()
    names.release()
    assert len(names) == 0
    assert names.marks == names.fingerprints == b""
    room.clear()
    names.release()


@pytest.mark.parametrize("exact", [False, True])
def test_a_damaged_header(exact, fences):
    """Every octet of it."""
    rows = random_rows(random.Random(6), 9, exact)
    block, names = naive.pack(rows, exact), SpilledBatch()
    for i in range(HEADER):
        for flip in 1, 2, 16, 128, 255:
            damaged = fences[0].at_end(block[:i] + bytes([block[i] ^ flip]) + block[i + 1 :])
            with pytest.raises(ValueError, match="damaged"):
                block_size(damaged)
            names.read(block)
            with pytest.raises(ValueError, match="damaged"):
                names.read(damaged)
            assert len(names) == 0
            assert names.row_numbers == []


@given(
    fields=st.tuples(
        *[st.sampled_from([0, 1, 2, 9, 100, 264, 2**31, 2**32, 2**59, 2**60, 2**62, 2**63, 2**64 - 8])] * 4
    ),
    exact=st.booleans(),
    lengths=st.binary(max_size=16),
    length=st.integers(0, 300),
)
def test_headers_that_lie(fences, fields, exact, lengths, length):
    """With a check that is right."""
    size, rows, base, octets = fields
    block = (naive.header(naive.MAGIC[exact], size, rows, base, octets) + lengths).ljust(length, b"\1")
    try:
        found = read(fences[0].at_end(block))
    except ValueError:
        return
    assert len(block) == size
    assert len(found) == rows
    assert sum(len(form) for _, _, form in found) == octets


@each_row(
    ("exact", "size", "rows", "octets"),
    [
        (False, HEADER, 2**62, 0),
        (True, HEADER, 2**61, 0),
        (False, 56, 0, 8),
        (True, 2**63, 0, 2**63 - HEADER),
        (True, HEADER, 1, 2**64 - 24),
        (True, HEADER - 8, 0, 2**64 - 8),
        (True, 2**64 - 8, 0, 2**64 - 56),
        (False, 0, 0, 0),
    ],
)
def test_headers_that_overflow(exact, size, rows, octets):
    header = naive.header(naive.MAGIC[exact], size, rows, 0, octets)
    with pytest.raises(ValueError, match="header"):
        block_size(header)
    with pytest.raises(ValueError, match="header"):
        SpilledBatch().read(header.ljust(56, b"\0"))


def test_lengths_that_lie(fences):
    block = bytearray(naive.pack([(bytes(16), i, b"abc") for i in range(3)], True))
    at = HEADER + 3 * 20
    for i in range(3):
        for length in 0, 2, 4, 9, 10, 2**31, 2**32 - 1, 2**32 - 3:
            damaged = block.copy()
            struct.pack_into("=I", damaged, at + 4 * i, length)
            with pytest.raises(ValueError, match="lengths"):
                SpilledBatch().read(fences[0].at_end(damaged))


def test_wrong_sizes():
    block = naive.pack(random_rows(random.Random(7), 5, True), True)
    for size in range(len(block)):
        with pytest.raises(ValueError, match="damaged"):
            SpilledBatch().read(block[:size])
        if size < HEADER:
            with pytest.raises(ValueError, match="damaged"):
                block_size(block[:size])
    with pytest.raises(ValueError, match=r"damaged block: expected [0-9]+ bytes, got "):
        SpilledBatch().read(block + b"\0")
    for wrong in "text", 5, None:
        with pytest.raises(TypeError):
            SpilledBatch().read(wrong)
        with pytest.raises(TypeError):
            block_size(wrong)
