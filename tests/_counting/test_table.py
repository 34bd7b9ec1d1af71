"""Tables of names, against dicts; and how many names there are, roughly."""

import random
import struct
import subprocess
import sys
from itertools import accumulate, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import dedup as naive
from reference.dedup import LATER, NEW, PENDING, SEEN
from support.marks import few_examples
from support.tables import each_row

from uricodec._base._fingerprint import FingerprintKey
from uricodec._counting._table import Cardinality, FingerprintBatch, IdentifierBatch, Table

KEY = FingerprintKey("of the tests")
MODES = [(False, False), (True, False), (False, True), (True, True)]
LEAST = 1 << 14
modes = each_row(("counting", "exact"), MODES)


def fingerprints(count, seed=0):
    """Different ones, as random as real ones."""
    octets = random.Random(seed).randbytes(16 * count)
    return [octets[i : i + 16] for i in range(0, len(octets), 16)]


def counted(table, block=65536):
    pairs = b"".join(table.counts(block))
    some = [pair for pair in struct.iter_unpack("=QQ", pairs) if pair[1] > 1]
    assert list(struct.iter_unpack("=QQ", b"".join(table.counts(block, 2)))) == some
    return sorted(struct.iter_unpack("=QQ", pairs))


def compare(table, batches, first=0):
    """Add batches of (fingerprint, form, mark) to a table and to its reference. Returns the reference."""
    reference = naive.Table(table.exact)
    for batch in batches:
        prints, forms, marks = map(list, zip(*batch, strict=True)) if batch else ([], [], [])
        names = FingerprintBatch(b"".join(prints), forms, first, marks=bytes(marks))
        assert names.marks == bytes(marks)
        table.add(names)
        given, numbers = list(names.marks), range(first, first + len(batch))
        until = given.index(LATER) if LATER in given and LATER not in marks else None
        assert given == reference.add(prints, forms, numbers, marks, until)
        pending = [mark for mark, before in zip(given, marks, strict=True) if before == PENDING]
        assert (names.new, names.later) == (pending.count(NEW), pending.count(LATER))
        assert table.count == len(reference.names)
        assert table.full == reference.full
        first += len(batch)
    if table.counting:
        assert counted(table) == sorted(map(tuple, reference.names.values()))
    return reference


# --- what it says -----------------------------------------------------------------------------------------------------

# Few different values, at both ends and close to each other: slots that many names want, and names alike in one half.
HALVES = [
    0,
    1,
    2,
    1 << 32,
    1 << 63,
    (1 << 64) - 1,
    (1 << 64) - 2,
    *(random.Random(5).getrandbits(64) for _ in range(9)),
]
halves = st.sampled_from(HALVES)


@st.composite
def rows(draw):
    low, high = draw(halves), draw(halves)
    # An even number of ones, as real fingerprints have.
    high ^= ((low ^ high).bit_count() & 1) << 62
    form = draw(st.sampled_from([b"", b"a", b"b", b"a" * 254, b"a" * 255, b"a" * 256, b"b" * 1000]))
    low, high = low.to_bytes(8, sys.byteorder), high.to_bytes(8, sys.byteorder)
    # Other fingerprints are those of other forms.
    return low + high, high + form, draw(st.sampled_from([0, 0, 0, 0, 1, 2, 3]))


@pytest.mark.slow
@modes
@few_examples
@given(
    batches=st.lists(st.lists(rows(), max_size=60), max_size=6),
    limit=st.sampled_from([0, 1, 1 << 15, 1 << 16, 1 << 24]),
    first=st.sampled_from([0, 7, 1 << 40]),
)
def test_hostile_fingerprints(counting, exact, batches, limit, first):
    compare(Table(limit, counting, exact), batches, first)


@pytest.mark.slow
@modes
@few_examples
@given(
    seed=st.integers(0, 1000),
    names=st.integers(1, 6000),
    limit=st.integers(0, 1 << 18),
    size=st.integers(1, 5000),
    length=st.sampled_from([0, 10, 40, 300, 5000]),
)
def test_random_fingerprints(counting, exact, seed, names, limit, size, length):  # noqa: PLR0913, PLR0917
    """Tables that are full soon, and tables that are never full."""
    chance = random.Random(seed)
    values = [(value, value * (chance.randint(0, length) // 16), 0) for value in fingerprints(names, seed)]
    rows = chance.choices(values, k=min(3 * names, 6000))
    table = Table(limit, counting, exact)
    compare(table, [rows[i : i + size] for i in range(0, len(rows), size)])


@pytest.mark.slow
@modes
def test_growing_many_times(counting, exact):
    values = fingerprints(20_000)
    forms = [value[:8] for value in values]
    table = Table(1 << 30, counting, exact)
    rows = [(value, form, 0) for value, form in zip(values, forms, strict=True)]
    compare(table, [rows[:3], rows[:10_000], rows[5_000:], rows])


@modes
def test_repeats_in_a_batch(counting, exact):
    value = fingerprints(2)
    table = Table(0, counting, exact)
    names = FingerprintBatch(b"".join([*value, *value, value[0]]), [b"x", b"y", b"x", b"y", b"x"], first=10)
    table.add(names)
    assert list(names.marks) == [NEW, NEW, SEEN, SEEN, SEEN]
    if counting:
        assert counted(table) == [(10, 3), (11, 2)]


@pytest.mark.parametrize("exact", [False, True])
def test_numbers_of_rows_that_do_not_follow(exact):
    table = Table(0, True, exact)
    value = b"".join(fingerprints(3))
    table.add(FingerprintBatch(value, [b"", b"", b""], 1 << 50, [4, 9, 2**32 - 1]))
    table.add(FingerprintBatch(value, [b"", b"", b""], 0))
    assert counted(table, 1) == [(2**50 + 4, 2), (2**50 + 9, 2), (2**50 + 2**32 - 1, 2)]


def test_zeros():
    """Fingerprints with zeros in one half or in both."""
    half = b"\3" + bytes(7)
    values = [bytes(16), half + bytes(8), bytes(8) + half, half + half]
    table = compare(Table(0, True), [[(value, b"", 0) for value in 2 * values]])
    assert len(table.names) == 4


@pytest.mark.parametrize("counting", [False, True])
def test_the_same_fingerprint_and_other_forms(counting):
    forms = [b"form %d" % i for i in range(300)] + [b"x" * i for i in range(250, 260)]
    value = b"the same for all"
    for limit in 0, 1 << 20:
        table = Table(limit, counting, exact=True)
        compare(table, [[(value, form, 0) for form in 2 * forms], [(value, form, 0) for form in forms]])
        assert table.count == len(forms) or table.full


def test_homes_at_the_end():
    """More names want the last slot than there is room for behind it: the table is full, and says nothing wrong."""
    values = [b"\xff" * 8 + (i + 1).to_bytes(8, "little") for i in range(2000)]
    table = Table(1 << 20)
    compare(table, [[(value, b"", 0) for value in values], [(value, b"", 0) for value in fingerprints(100) + values]])
    assert table.full
    assert table.count >= 200


# --- memory -----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@modes
@each_row("limit", [0, 40_000, 1 << 16, 100_001, 1 << 17, 1 << 20])
def test_limit(counting, exact, limit):
    values = fingerprints(70_000)
    table = Table(limit, counting, exact)
    least = LEAST * (1 + counting) + LEAST * exact
    for i in range(0, len(values), 1000):
        table.add(
            FingerprintBatch(b"".join(values[i : i + 1000]), [value + b"." * 24 for value in values[i : i + 1000]])
        )
        assert table.size <= max(limit, least)
        assert table.full or table.count == i + 1000
    assert table.full
    assert table.count >= 300
    names = FingerprintBatch(b"".join(values), [value + b"." * 24 for value in values])
    table.add(names)
    assert list(names.marks) == [SEEN] * table.count + [LATER] * (len(values) - table.count)
    assert (names.new, names.later) == (0, len(values) - table.count)


@pytest.mark.parametrize(("counting", "octets"), [(False, 21), (True, 42)])
def test_memory_is_used_up(counting, octets):
    for limit in 4 << 20, 5_000_000:
        table = Table(limit, counting)
        table.add(FingerprintBatch(random.Random(1).randbytes(16 * 300_000)))
        assert table.full
        assert table.count * octets >= limit


@pytest.mark.slow
@pytest.mark.parametrize("length", [5, 40, 300])
def test_memory_is_used_up_with_forms(length):
    limit = 4 << 20
    table = Table(limit, exact=True)
    values = fingerprints(200_000)
    table.add(FingerprintBatch(b"".join(values), [value * (length // 16) + value[: length % 16] for value in values]))
    assert table.full
    assert table.count * (16 / 0.85 + length + 1) >= 0.9 * limit


@modes
def test_a_long_form_is_taken_by_an_empty_table(counting, exact):
    table = Table(0, counting, exact)
    values = b"".join(fingerprints(3))
    names = FingerprintBatch(values, [b"x" * 1_000_000, b"y" * 2_000_000, b"z"])
    table.add(names)
    assert list(names.marks) == ([NEW, LATER, LATER] if exact else [NEW, NEW, NEW])
    table.clear()
    names = FingerprintBatch(values, [b"", b"y" * 2_000_000, b"z"])
    table.add(names)
    assert list(names.marks) == ([NEW, LATER, LATER] if exact else [NEW, NEW, NEW])


@pytest.mark.slow
@modes
def test_clear(counting, exact):
    values = fingerprints(20_000)
    table = Table(1 << 16, counting, exact)
    before = table.size
    for _ in range(3):
        compare(table, [[(value, b"form", 0) for value in values]])
        assert table.full
        table.clear()
        assert (table.count, table.full, table.size) == (0, False, before)


def test_a_limit_that_no_machine_has():
    table = Table(2**64 - 1 if sys.maxsize > 2**32 else 2**32 - 1, exact=True)
    assert compare(table, [[(value, b"", 0) for value in fingerprints(1000)]]).names


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="limits of a process")
@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.process
def test_no_memory(exact):
    """The table is still usable, with the names it has."""
    code = f"""
import resource
from uricodec._counting._table import FingerprintBatch
from uricodec._counting._table import Table
import random
octets = random.Random(1).randbytes(16 * 400_000)
forms = [octets[i : i + 16] for i in range(0, len(octets), 16)]
names, again = FingerprintBatch(octets, forms), FingerprintBatch(octets, forms)
table = Table(1 << 32, exact={exact})
pages = int(open("/proc/self/statm").read().split()[5])
resource.setrlimit(resource.RLIMIT_DATA, (pages * resource.getpagesize() + (5 << 20),) * 2)
try:
    table.add(names)
except MemoryError:
    assert names.new == table.count == names.marks.count(2) > 1000
    assert not any(names.marks[table.count :])
    held = FingerprintBatch(octets[: 16 * table.count], forms[: table.count])
    table.add(held)
    assert set(held.marks) == {{1}}
    table.clear()
    table.add(FingerprintBatch(octets[:16], forms[:1]))
    assert table.count == 1
    print("no memory")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("no memory\n", "")


@pytest.mark.skipif(sys.platform != "linux", reason="limits of a process")
@pytest.mark.process
def test_no_mappings():
    """Neither address space nor memory: there is a MemoryError, and a table that has its slots can be used again."""
    code = """
from resource import RLIM_INFINITY, RLIMIT_AS, RLIMIT_DATA, setrlimit
from uricodec._base._fingerprint import FingerprintKey
from uricodec.dedup._identifiers import ColumnBatch
from uricodec._rows._engine import RowOperation
from uricodec._counting._table import Table

def name_of(size):
    names = ColumnBatch(RowOperation(), FingerprintKey("k"))
    names.hold([b"a" * size])
    names.read(0)
    return names

def check(call, *arguments, which, more=0):
    with open("/proc/self/status") as status:
        sizes = dict(line.split()[:2] for line in status if line.startswith("Vm"))
    setrlimit(which, ((int(sizes["VmSize:" if which == RLIMIT_AS else "VmData:"]) << 10) + more, RLIM_INFINITY))
    try:
        call(*arguments)
    except MemoryError:
        setrlimit(which, (RLIM_INFINITY, RLIM_INFINITY))
        return
    raise AssertionError(f"{call}{arguments} had memory")

table, short = Table(1 << 30), name_of(1)
check(table.clear, which=RLIMIT_AS, more=(1 << 20) - (1 << 30))
check(table.add, short, which=RLIMIT_AS)
check(Table, 1 << 30, False, True, which=RLIMIT_DATA)
for limit, which in (1 << 30, RLIMIT_DATA), (1 << 20, RLIMIT_AS):
    table, long = Table(limit, exact=True), name_of(8 << 20)
    check(table.add, long, which=which, more=1 << 20)
    table.add(long)
    assert table.count == 1
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


# --- what is rejected -------------------------------------------------------------------------------------------------


def test_rejections():
    with pytest.raises(OverflowError):
        Table(-1)
    with pytest.raises(TypeError):
        Table(1 << 20).add(None)
    with pytest.raises(ValueError, match="normal forms"):
        Table(1 << 20, exact=True).add(FingerprintBatch(bytes(16)))
    with pytest.raises(ValueError, match="the table has no counts"):
        next(Table(1 << 20).counts())
    for arguments in (b"x" * 15,), (bytes(16), []), (bytes(16), None, 0, [1, 2]), (bytes(16), None, 0, None, b""):
        with pytest.raises(ValueError, match="arguments differ in length"):
            FingerprintBatch(*arguments)
    with pytest.raises(TypeError):
        FingerprintBatch(bytes(16), [1])


def test_no_rows():
    for counting, exact in MODES:
        table = Table(0, counting, exact)
        for names in IdentifierBatch(), FingerprintBatch(b""), FingerprintBatch(b"", []):
            table.add(names)
            assert (table.count, names.new, names.later, len(names)) == (0, 0, 0, 0)
        assert not counting or counted(table) == []


# --- how many there are -----------------------------------------------------------------------------------------------


def estimated(values, precision=14):
    cardinality = Cardinality(precision)
    cardinality.add(FingerprintBatch(b"".join(values)))
    return cardinality.estimate()


@pytest.mark.slow
@pytest.mark.parametrize("precision", [4, 10, 14, 18])
def test_estimate(precision):
    """Within five standard errors, for any number of names."""
    values = fingerprints(300_000, precision)
    cardinality = Cardinality(precision)
    assert cardinality.estimate() == 0
    counts = [0, 1, 2, 3, 10, 100, 1000, 5000, 20_000, 50_000, 100_000, 300_000]
    for before, count in pairwise(counts):
        cardinality.add(FingerprintBatch(b"".join(values[before:count] + values[:100])))
        assert abs(cardinality.estimate() / max(count, 100) - 1) <= 5 * 1.04 / 2 ** (precision / 2)


@pytest.mark.slow
def test_estimate_is_not_biased():
    """The mean of many estimates is nearer than one of them has to be."""
    for count in 5, 50, 200, 1000, 5000:
        estimates = [estimated(fingerprints(count, seed), 6) for seed in range(200)]
        assert abs(sum(estimates) / 200 - count) <= 5 * 1.04 / 8 / 200**0.5 * count


@pytest.mark.parametrize("exponent", [20, 30, 40, 62])
def test_estimate_of_many(exponent):
    """Registers as 2^exponent names would leave them: with one name for each register that has its greatest place."""
    chance, precision, values = random.Random(exponent), 12, []
    for register in range(2**precision):
        # The greatest of n places is k or less with a chance of (1 - 2^-k)^n.
        draw, n = chance.random(), 2 ** (exponent - precision)
        most = 64 - precision  # there are no more bits, and so the register is full
        place = next((k for k in range(1, most) if (1 - 2.0**-k) ** n >= draw), most)
        bits = register << most - 1 | (1 << most) >> place + 1
        values.append(bytes(8) + bits.to_bytes(8, "little"))
    assert abs(estimated(values, precision) / 2**exponent - 1) <= 5 * 1.04 / 2 ** (precision / 2)


def test_registers_are_full():
    precision = 4
    values = [bytes(8) + (register << 59).to_bytes(8, "little") for register in range(16)]
    assert naive.registers(values, precision) == [60] * 16
    assert estimated(values, precision) == 2**63


@given(st.integers(0, 300), st.integers(4, 18), st.integers(0, 5))
def test_estimate_depends_on_registers_alone(count, precision, seed):
    """One name for each register that the reference implementation has the same place in gives the same estimate."""
    values = fingerprints(count, seed)
    least = [
        bytes(8) + (i << 63 - precision | 1 << 63 - precision - place).to_bytes(8, "little")
        for i, place in enumerate(naive.registers(values, precision))
        if place
    ]
    assert estimated(values, precision) == estimated(least, precision)


def test_rows_that_are_no_names():
    cardinality = Cardinality()
    cardinality.add(FingerprintBatch(b"".join(fingerprints(4)), marks=bytes([SEEN, PENDING, NEW, LATER])))
    assert cardinality.estimate() == 3


@pytest.mark.parametrize("precision", [-1, 3, 19])
def test_precision(precision):
    with pytest.raises(ValueError, match="precision"):
        Cardinality(precision)


def test_the_same_on_every_machine():
    names = list(accumulate([b"urn:isbn:"] + [b"x"] * 2000))
    assert estimated(map(KEY.fingerprint, names)) == 2014
