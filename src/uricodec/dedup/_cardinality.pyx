"""An estimate of the number of different identifiers, in a few kilobytes: HyperLogLog over their fingerprints.

Some bits of the second half of a fingerprint select a register. In the bits after them, the position of the first 1 is
1 with probability 1/2, 2 with 1/4, and so on. A register stores the greatest position. Equal identifiers have the same
position, so only the number of different ones matters.

With m registers and q bits after the selecting ones, let c(k) be the number of registers that store k. The estimate is

    m^2 / (2 ln 2)  /  (m sigma(c(0) / m) + sum of c(k) / 2^k over k = 1 .. q + m tau(1 - c(q + 1) / m) / 2^q)

    sigma(x) = x + sum of x^(2^k) 2^(k-1), k = 1 ..      tau(x) = (1 - x - sum of (1 - x^(2^-k))^2 / 2^k, k = 1 ..) / 3

(O. Ertl, "New cardinality estimation algorithms for HyperLogLog sketches", 2017, algorithm 6). sigma and tau correct
both ends of the sum exactly, so the estimate is good from 0 to 10^12 identifiers, without tables or a change of method.
"""
cimport cython
from cpython.mem cimport PyMem_RawCalloc, PyMem_RawFree
from libc.math cimport log, sqrt
from libc.stdint cimport uint8_t, uint64_t
from libc.string cimport memset

from uricodec._base._atomic cimport uc_glance8, uc_put8
from uricodec.dedup._table cimport SEEN, IdentifierBatch, uc_give


cdef inline uint64_t second_half(const uint8_t *fingerprint) noexcept nogil:
    cdef uint64_t value = 0
    cdef size_t i
    for i in range(8):
        value |= <uint64_t>fingerprint[8 + i] << 8 * i
    return value


cdef double sigma(double x) noexcept nogil:
    cdef double share = 1, total = x, before = -1
    while total != before:
        x *= x
        before = total
        total += x * share
        share += share
    return total


cdef double tau(double x) noexcept nogil:
    cdef double share = 1, total = 1 - x, before = -1
    if x == 0 or x == 1:
        return 0
    while total != before:
        x = sqrt(x)
        before = total
        share /= 2
        total -= (1 - x) * (1 - x) * share
    return total / 3


@cython.final
cdef class Cardinality:
    """An estimate of the number of different identifiers. The standard error is 1.04 / sqrt(2^precision): 0.8 % for 14.

    Args:
        precision (int): From 4 to 18. 2^precision bytes are used.

    Raises:
        ValueError: If the precision is out of range.
        MemoryError: If memory cannot be allocated.

    >>> from uricodec._base._fingerprint import FingerprintKey
    >>> from uricodec.dedup._table import FingerprintBatch
    >>> key, cardinality = FingerprintKey("x"), Cardinality()
    >>> cardinality.add(FingerprintBatch(b"".join(key.fingerprint(name) for name in ["a", "b", "a", "c"])))
    >>> cardinality.estimate()
    3
    """

    def __cinit__(self, int precision=14):
        if not 4 <= precision <= 18:
            raise ValueError(f"precision must be from 4 to 18, got {precision}")
        self.precision = precision
        self.count = <size_t>1 << precision
        self.registers = <uint8_t *>PyMem_RawCalloc(self.count, 1)
        if self.registers == NULL:
            raise MemoryError  # pragma: no cover: no memory

    def __dealloc__(self):
        PyMem_RawFree(self.registers)

    def add(self, IdentifierBatch names not None):
        """Count identifiers. Counting one again changes nothing.

        Args:
            names (IdentifierBatch): The rows. Rows that are marked as seen are skipped: they are invalid, or were counted before.
                So pass all batches that a table gets, before or after the table.
        """
        names.use()
        with nogil:
            self.add_rows(names)
        uc_give(&names.busy)

    def merge(self, Cardinality other not None):
        """Add the identifiers that another one has counted with the same key.

        Args:
            other (Cardinality): The other estimate, of the same precision.

        Raises:
            ValueError: If the precisions differ.
        """
        cdef size_t i
        if other.precision != self.precision:
            raise ValueError(f"precisions differ: {self.precision} and {other.precision}")
        for i in range(self.count):
            self.registers[i] = max(self.registers[i], other.registers[i])

    def estimate(self):
        """Return the estimate.

        Returns:
            int: The number of different identifiers, up to 2^63.
        """
        cdef size_t counts[64]
        cdef size_t i
        cdef int k, places = 63 - self.precision
        cdef double m = <double>self.count, z
        memset(counts, 0, sizeof(counts))
        for i in range(self.count):
            counts[uc_glance8(self.registers + i)] += 1
        z = m * tau(1 - <double>counts[places + 1] / m)
        for k in range(places, 0, -1):
            z = (z + <double>counts[k]) / 2
        if counts[0] == self.count:
            return 0
        if counts[places + 1] == self.count:
            return 2**63
        return round(m * m / (2 * log(2)) / (z + m * sigma(<double>counts[0] / m)))

    cdef void add_rows(self, IdentifierBatch names) noexcept nogil:
        cdef int shift = 64 - self.precision
        cdef size_t i, register
        cdef uint64_t bits
        cdef uint8_t place
        for i in range(names.count):
            if names.marks[i] == SEEN:
                continue
            bits = second_half(names.fingerprints + 16 * i) << 1     # the highest bit is a parity bit
            register = <size_t>(bits >> shift)
            bits = bits << self.precision | <uint64_t>1 << self.precision    # a sentinel: the position is at most here
            place = 1
            while not bits >> 63:
                bits <<= 1
                place += 1
            if place > self.registers[register]:
                uc_put8(self.registers + register, place)
