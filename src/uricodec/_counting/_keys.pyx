# distutils: extra_compile_args=-O2
"""Lines as keys to be counted, as they are: a batch whose normal forms are the lines of the caller's buffer.

No operation runs and nothing is copied: a pass over the buffer finds the lines and computes their fingerprints. A key is
any bytes without the terminator; a "\\r" before "\\n" belongs to the key. Numbers that belong to the keys come as arrays
beside the lines, one for each column, and are copied so that those of a key are neighbours.
"""
cimport cython
from cpython.buffer cimport PyBUF_C_CONTIGUOUS, PyBUF_FORMAT, PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from libc.stdint cimport uint8_t, uint64_t
from libc.string cimport memchr, memset

from uricodec._base._atomic cimport uc_give
from uricodec._base._fingerprint cimport UC_FINGERPRINT, FingerprintKey, fingerprints
from uricodec._rows._arrow cimport Buffer, discard, grow
from uricodec._counting._table cimport *


cdef enum:
    ROWS = 8192         # most keys of a batch: their arrays stay in the second-level cache


# no_gc: the garbage collector would clear the owner's reference before __dealloc__ releases the buffer.
@cython.no_gc
@cython.final
cdef class KeyBatch(IdentifierBatch):
    """A batch of keys, which are lines.

    Args:
        key (FingerprintKey): The key of the fingerprints.
        terminator (bytes): The byte that ends a key. The last key may lack it.
        sums (int): How many columns of integers belong to the keys.
        quantiles (int): How many columns of floating-point numbers, which follow these.

    >>> from uricodec._base._fingerprint import FingerprintKey
    >>> keys = KeyBatch(FingerprintKey())
    >>> keys.read(b"a\\nb\\n\\na"), len(keys)
    (6, 4)
    >>> prints = keys.fingerprints
    >>> prints[:16] == prints[48:], prints[:16] == prints[16:32]
    (True, False)
    """
    cdef FingerprintKey key
    cdef uint8_t terminator
    cdef Py_buffer lines
    cdef bint held
    cdef Buffer starts      # size_t
    cdef Buffer ends
    cdef Buffer prints
    cdef Buffer all_marks
    cdef Buffer all_values
    cdef size_t sums

    def __cinit__(self, FingerprintKey key not None, bytes terminator not None=b"\n", size_t sums=0, size_t quantiles=0):
        if len(terminator) != 1:
            raise ValueError(f"terminator must be one byte, got {terminator!r}")
        self.sums, self.columns = sums, sums + quantiles
        memset(&self.all_values, 0, sizeof(Buffer))
        self.key, self.terminator = key, <uint8_t>terminator[0]
        memset(&self.starts, 0, sizeof(Buffer))
        memset(&self.ends, 0, sizeof(Buffer))
        memset(&self.prints, 0, sizeof(Buffer))
        memset(&self.all_marks, 0, sizeof(Buffer))

    def __dealloc__(self):
        if self.held:
            PyBuffer_Release(&self.lines)
        discard(&self.starts)
        discard(&self.ends)
        discard(&self.prints)
        discard(&self.all_marks)
        discard(&self.all_values)

    def release(self):
        """Release the lines. The batch is then empty."""
        self.use()
        self.empty()
        uc_give(&self.busy)

    cdef int empty(self) except -1:
        self.count = self.new = self.later = 0
        self.forms, self.form_starts, self.form_ends = NULL, NULL, NULL
        self.fingerprints, self.marks, self.values = NULL, NULL, NULL
        if self.held:
            self.held = False
            PyBuffer_Release(&self.lines)

    def read(self, lines not None, size_t start=0, size_t most=ROWS, values=(), size_t row=0):
        r"""Read keys from an offset on.

        Args:
            lines (bytes-like): The lines. They are referenced, and must not change, until the next call or release().
            start (int): The offset of the first key.
            most (int): The most keys to read.
            values (Sequence[Buffer]): An array for each column, of 64-bit integers (format "q") or numbers ("d"). The
                least integer, or NaN, stands for a missing number.
            row (int): The item of each array that belongs to the first key.

        Returns:
            int: The offset of the key after the last one that was read; the size of `lines` if all were read.

        >>> from array import array
        >>> from uricodec._base._fingerprint import FingerprintKey
        >>> keys = KeyBatch(FingerprintKey(), sums=1, quantiles=1)
        >>> keys.read(b"a\nb\n", values=[array("q", [5, -1]), array("d", [0.25, 1.5])])
        4
        """
        cdef size_t end = 0
        cdef bint done = True
        self.use()
        try:
            self.empty()
            PyObject_GetBuffer(lines, &self.lines, PyBUF_SIMPLE)
            self.held = True
            if start > <size_t>self.lines.len:
                raise IndexError(f"expected an offset up to {self.lines.len}, got {start}")
            with nogil:
                done = find_keys(self, start, most, &end)
            if not done:
                raise MemoryError  # pragma: no cover: no memory
            if <size_t>len(values) != self.columns:
                raise ValueError(f"expected {self.columns} columns of numbers, got {len(values)}")
            for column in range(self.columns):
                self.add_column(column, values[column], row)
            self.values = self.all_values.data
            return end
        except:
            self.empty()
            raise
        finally:
            uc_give(&self.busy)

    cdef int add_column(self, size_t column, object numbers, size_t row) except -1:
        cdef Py_buffer buffer
        cdef size_t i, n = self.count, columns = self.columns
        cdef uint8_t form = c'q' if column < self.sums else c'd'
        cdef const uint64_t *src
        cdef uint64_t *dst
        PyObject_GetBuffer(numbers, &buffer, PyBUF_FORMAT | PyBUF_C_CONTIGUOUS)
        try:
            if buffer.itemsize != 8 or buffer.format == NULL or not has_format(buffer.format, form):
                raise TypeError(f"expected numbers in format {chr(form)!r} as column {column}")
            if row > <size_t>buffer.len // 8 or n > <size_t>buffer.len // 8 - row:
                raise ValueError(f"expected a number for each key, got {buffer.len // 8} as column {column}")
            self.all_values.size = 0
            if not grow(&self.all_values, 8 * n * columns):
                raise MemoryError  # pragma: no cover: no memory
            src, dst = <const uint64_t *>buffer.buf + row, <uint64_t *>self.all_values.data + column
            for i in range(n):
                dst[i * columns] = src[i]
        finally:
            PyBuffer_Release(&buffer)
        return 0


cdef inline bint has_format(const char *found, uint8_t form) noexcept nogil:
    """Return whether a format is "q" or "d"; where a long has 64 bits, it may be "l"."""
    cdef uint8_t first = <uint8_t>found[0]
    return found[1] == 0 and (first == form or first == c'l' and form == c'q')


cdef bint has_capacity(KeyBatch self, size_t rows) noexcept nogil:
    """Ensure capacity for more rows than the batch has. False: out of memory."""
    self.starts.size = self.ends.size = self.count * sizeof(size_t)
    self.prints.size, self.all_marks.size = self.count * UC_FINGERPRINT, self.count
    return (grow(&self.starts, rows * sizeof(size_t)) and grow(&self.ends, rows * sizeof(size_t)) and
            grow(&self.prints, rows * UC_FINGERPRINT) and grow(&self.all_marks, rows))


cdef bint find_keys(KeyBatch self, size_t at, size_t most, size_t *end) noexcept nogil:
    """Find keys from `at` on, at most so many, and set *end to where the next one begins. False: out of memory."""
    cdef const uint8_t *src = <const uint8_t *>self.lines.buf
    cdef const uint8_t *found
    cdef size_t n = <size_t>self.lines.len, stop, rows
    cdef size_t *starts
    cdef size_t *ends
    while at < n and self.count < most:
        rows = min(<size_t>ROWS, most - self.count)
        if not has_capacity(self, rows):
            return False  # pragma: no cover: no memory
        stop = self.count + rows
        starts, ends = <size_t *>self.starts.data, <size_t *>self.ends.data
        while at < n and self.count < stop:
            found = <const uint8_t *>memchr(src + at, self.terminator, n - at)
            starts[self.count] = at
            ends[self.count] = n if found == NULL else <size_t>(found - src)
            at = n if found == NULL else <size_t>(found - src) + 1
            self.count += 1
    end[0] = at
    if self.count:
        fingerprints(&self.key.key, src, <const size_t *>self.starts.data, <const size_t *>self.ends.data, self.count,
                     self.prints.data)
        memset(self.all_marks.data, PENDING, self.count)
    self.forms, self.fingerprints, self.marks = src, self.prints.data, self.all_marks.data
    self.form_starts, self.form_ends = <const size_t *>self.starts.data, <const size_t *>self.ends.data
    return True
