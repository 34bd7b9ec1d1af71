"""Rows that are names, of any kind: what tables, and what else works on them, are handed."""
cimport cython
from cpython.bytes cimport PyBytes_AS_STRING
from cpython.mem cimport PyMem_RawCalloc, PyMem_RawFree
from libc.stdint cimport uint8_t, uint32_t, uint64_t


cdef class Names:
    """A batch of names. What makes one from lines, columns or what was spilled is in modules of its own.

    Attributes:
        new (int): How many rows of the batch have a name that is new to the table that saw it last.
        later (int): Of how many rows a full table could not say.
    """

    cdef int use(self) except -1:
        """Until `busy` is given back nobody else gets in: neither other threads, nor a buffer that is asked for its octets."""
        if not uc_take(&self.busy):
            raise RuntimeError("another thread is using the names")
        return 0

    def __len__(self):
        return <Py_ssize_t>self.count

    @property
    def marks(self):
        """What is said of each row: an octet, 0 nothing, 1 seen, 2 new, 3 later.

        Returns:
            bytes: As many as there are rows.

        Raises:
            RuntimeError: Another thread is using the names.
        """
        self.use()
        try:
            return (<const char *>self.marks)[:self.count]
        finally:
            uc_give(&self.busy)

    @property
    def fingerprints(self):
        """The fingerprints.

        Returns:
            bytes: 16 octets for each row.

        Raises:
            RuntimeError: Another thread is using the names.
        """
        self.use()
        try:
            return (<const char *>self.fingerprints)[:16 * self.count]
        finally:
            uc_give(&self.busy)


@cython.final
cdef class FingerprintNames(Names):
    """A batch of names that are fingerprints already.

    Args:
        fingerprints (bytes-like): 16 octets for each row.
        forms (list[bytes] | None): The normal forms, for tables that are exact; as many as there are rows.
        first (int): The number of the first row.
        numbers (list[int] | None): How far the number of each row is from that of the first; None: they follow.
        marks (bytes | None): What is said of each row already; None: nothing.

    Raises:
        ValueError: Not as many of the one as of the other.

    >>> names = FingerprintNames(b"one fingerprint." b"and another one!")
    >>> len(names), names.marks
    (2, b'\\x00\\x00')
    """
    cdef object held            # what the pointers are about
    cdef uint8_t *memory

    def __cinit__(self, fingerprints, forms=None, uint64_t first=0, numbers=None, marks=None):
        cdef size_t rows, i, end = 0
        cdef size_t *bounds
        cdef uint32_t *numbers_of
        cdef bytes octets = bytes(fingerprints), joined = b"".join(forms or ())
        rows = <size_t>len(octets) // 16
        for each in forms, numbers, marks:
            if len(octets) != 16 * <Py_ssize_t>rows or each is not None and len(each) != <Py_ssize_t>rows:
                raise ValueError("not as many of the one as of the other")
        # Bounds of forms, numbers, marks: the most aligned comes first.
        self.memory = <uint8_t *>PyMem_RawCalloc(rows + 1, sizeof(size_t) + sizeof(uint32_t) + 1)
        if self.memory == NULL:
            raise MemoryError
        bounds = <size_t *>self.memory
        numbers_of = <uint32_t *>(bounds + rows + 1)
        self.marks = <uint8_t *>(numbers_of + rows + 1)
        self.held = octets, joined
        self.first = first
        self.fingerprints = <const uint8_t *>PyBytes_AS_STRING(octets)
        if forms is not None:
            for i in range(rows):
                end += <size_t>len(forms[i])
                bounds[i + 1] = end
            self.forms = <const uint8_t *>PyBytes_AS_STRING(joined)
            self.form_starts = bounds
            self.form_ends = bounds + 1
        if numbers is not None:
            for i in range(rows):
                numbers_of[i] = numbers[i]
            self.numbers = numbers_of
        if marks is not None:
            for i in range(rows):
                self.marks[i] = marks[i]
        self.count = rows

    def __dealloc__(self):
        PyMem_RawFree(self.memory)
