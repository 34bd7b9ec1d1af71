"""Lines that are names: where each is, its normal form and the fingerprint of that; and the lines that are to be kept.

The lines of a buffer become lines of normal forms by the loops that do so for files. Then both are looked through for
their ends, which are as many, and all normal forms get their fingerprints.
"""
cimport cython
from libc.stdint cimport SIZE_MAX, uint8_t, uint64_t
from libc.string cimport memcpy, memset

from uricodec._rows._engine cimport WIDE, copy_octets
from uricodec._core._fingerprint cimport UC_FINGERPRINT, FingerprintKey, fingerprints
from uricodec._core._kernels cimport ByteSet, kernels, remove_octet, uc_lowest_bit, uc_set
from uricodec._core._names cimport *
from uricodec._core._row_lines cimport *
from uricodec._rows._operation cimport *
from uricodec._core._urn_forms cimport NAMESPACE
from uricodec._core._urn_lines cimport Task, set_form, write_lines
from uricodec._core._urn_rows cimport UrnRows

from cpython.buffer cimport PyBUF_SIMPLE, PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.mem cimport PyMem_RawFree, PyMem_RawMalloc

cdef enum:
    MARKS = 64          # words of marks at once, a bit for an octet
    COUNT = 20          # digits of the highest number of 64 bits

cdef ByteSet ALL = ByteSet(range(256))


# --- where lines are ----------------------------------------------------------------------------------------------------

# The lines of a buffer: line i is [starts[i] .. ends[i]), and the next one starts at starts[i + 1].
cdef struct Places:
    size_t *starts
    size_t *ends
    size_t room


cdef void discard(Places *places) noexcept nogil:
    PyMem_RawFree(places.starts)
    PyMem_RawFree(places.ends)
    places.starts = places.ends = NULL
    places.room = 0


cdef bint have_places(Places *places, size_t rows) noexcept nogil:
    if rows <= places.room:
        return True
    discard(places)
    places.starts = <size_t *>PyMem_RawMalloc((rows + 1) * sizeof(size_t))
    if places.starts == NULL:
        return False
    places.ends = <size_t *>PyMem_RawMalloc(rows * sizeof(size_t))
    if places.ends == NULL:
        return False
    places.room = rows
    return True


cdef size_t find_places(const uint8_t *src, size_t n, uint8_t end, const uc_set *no_end, Places *places) noexcept nogil:
    """Find the lines of src[0 .. n), for as many as there is room. Returns their number."""
    cdef uint64_t marks[MARKS]
    cdef uint64_t word
    cdef size_t base = 0, size, w, at, rows = 0, start = 0
    while base < n:
        size = min(n - base, <size_t>64 * MARKS)
        kernels.mark_outside(src + base, size, no_end, marks)
        for w in range((size + 63) // 64):
            word = marks[w]
            while word:
                at = base + 64 * w + <size_t>uc_lowest_bit(word)
                word &= word - 1
                if rows == places.room:     # somebody added ends since they were counted
                    places.starts[rows] = start
                    return rows
                places.starts[rows] = start
                places.ends[rows] = at - (end == c'\n' and at > start and src[at - 1] == c'\r')
                start = at + 1
                rows += 1
        base += size
    if start < n and rows < places.room:
        places.starts[rows], places.ends[rows] = start, n
        start = n
        rows += 1
    places.starts[rows] = start
    return rows


# --- names --------------------------------------------------------------------------------------------------------------

# The collector would drop the object behind the buffer, and not release it.
@cython.no_gc
@cython.final
cdef class LineNames(Names):
    """The names of the lines of a buffer.

    Args:
        rows (RowOperation): What brings a name into normal form; one that copies, if it is one already.
        key (FingerprintKey): Of the fingerprints.
        end (bytes): The control character that ends a line. A "\\r" before "\\n" belongs to the end.
        errors (str): What becomes of a line that is refused: "keep" takes it as it is, "drop" leaves it out, "raise" raises.

    Raises:
        ValueError: `end` is no such octet, or there is no such policy.

    >>> from uricodec._core._fingerprint import FingerprintKey
    >>> from uricodec._core._urn_rows import NormalizeUrnRows
    >>> names = LineNames(NormalizeUrnRows("8141"), FingerprintKey())
    >>> names.read(b"URN:Example:a\\nurl:x\\nurn:example:a", 0)[1:3]
    (3, 1)
    >>> prints = names.fingerprints
    >>> prints[:16] == prints[32:], prints[:16] == prints[16:32]
    (True, False)
    """
    cdef RowOperation how
    cdef FingerprintKey key
    cdef bint copies, drops, fails
    cdef uint8_t end
    cdef uc_set no_end
    cdef Py_buffer view
    cdef bint viewed
    cdef size_t size                # octets of the lines
    cdef Places places, form_places
    cdef uint8_t *form_room
    cdef size_t form_cap
    cdef uint8_t *prints            # of so many rows, and a mark for each behind them
    cdef size_t rows_room

    def __cinit__(self, RowOperation rows not None, FingerprintKey key not None, end=b"\n", errors="keep"):
        if len(end) != 1 or end[0] >= 0x20:
            raise ValueError(f"no control character that can end a line: {end!r}")
        if errors not in ("keep", "drop", "raise"):
            raise ValueError(f"no policy {errors!r} for errors; there are: keep, drop, fail")
        self.how, self.key, self.copies = rows, key, type(rows) is RowOperation
        self.drops, self.fails = errors == "drop", errors == "raise"
        self.end, self.no_end = end[0], ALL.set
        remove_octet(&self.no_end, self.end)

    def __dealloc__(self):
        self.release()
        discard(&self.places)
        discard(&self.form_places)
        PyMem_RawFree(self.form_room)
        PyMem_RawFree(self.prints)

    cdef void release(self) noexcept:
        self.count = self.new = self.later = self.size = 0
        self.forms, self.form_starts, self.form_ends = NULL, NULL, NULL
        if self.viewed:
            self.viewed = False
            PyBuffer_Release(&self.view)

    cdef int hold(self, object lines, uint64_t first) except -1:
        self.release()
        PyObject_GetBuffer(lines, &self.view, PyBUF_SIMPLE)
        self.viewed = True
        self.src, self.size = <const uint8_t *>self.view.buf, <size_t>self.view.len
        self.first, self.numbers = first, NULL
        return 0

    cdef bint split(self) noexcept nogil:
        """Find the lines. False: there is no memory."""
        cdef size_t rows = kernels.count_outside(self.src, self.size, &self.no_end) + 1
        if not have_places(&self.places, rows):
            return False
        if rows > self.rows_room:
            PyMem_RawFree(self.prints)
            self.rows_room = 0
            self.prints = NULL
            if rows < SIZE_MAX // (UC_FINGERPRINT + 1):
                self.prints = <uint8_t *>PyMem_RawMalloc(rows * (UC_FINGERPRINT + 1))
            if self.prints == NULL:
                return False
            self.rows_room = rows
        self.fingerprints, self.marks = self.prints, self.prints + UC_FINGERPRINT * self.rows_room
        self.count = find_places(self.src, self.size, self.end, &self.no_end, &self.places)
        self.starts, self.ends = self.places.starts, self.places.ends
        memset(self.marks, PENDING, self.count)
        return True

    cdef bint have_forms(self, size_t size, size_t used) noexcept nogil:
        """Have room for `size` octets of normal forms, of which `used` are there."""
        cdef uint8_t *room
        if size <= self.form_cap:
            return True
        room = <uint8_t *>PyMem_RawMalloc(size)
        if room == NULL:
            return False
        if used:
            memcpy(room, self.form_room, used)
        PyMem_RawFree(self.form_room)
        self.form_room, self.form_cap = room, size
        return True

    cdef int transform_all(self, LineTask *lines) except -1 nogil:
        """Write the normal forms of lines, up to one that is refused if that fails."""
        while lines.read < lines.n:
            if not transform(lines, self.how, True):
                with gil:
                    raise_set()
            if lines.policy == FAIL and lines.invalid:
                return 0
            # The operation may want several octets for one of the next line.
            if lines.read < lines.n and not self.have_forms(2 * self.form_cap, lines.written):
                with gil:
                    raise MemoryError
            lines.dst, lines.room = self.form_room, self.form_cap
        return 0

    cdef int normalize(self, Task *task, bint urns) except -1 nogil:
        """Write normal forms, find them, and leave out what is to be left out."""
        cdef LineTask *lines = &task.lines
        cdef size_t i
        lines.dst, lines.room = self.form_room, self.form_cap
        if urns:
            write_lines(task)
        else:
            self.transform_all(lines)
        if lines.policy == FAIL and lines.invalid:
            return 0
        if not have_places(&self.form_places, self.count + 1):
            with gil:
                raise MemoryError
        self.forms, self.form_starts, self.form_ends = lines.dst, self.form_places.starts, self.form_places.ends
        i = find_places(lines.dst, lines.written, self.end, &self.no_end, &self.form_places)
        # As many as there are lines, unless somebody changed these meanwhile.
        while i < self.count:
            self.form_places.starts[i] = self.form_places.ends[i] = 0
            i += 1
        if self.drops:
            for i in range(min(lines.invalid, lines.limit)):
                if lines.found[i].line < self.count:
                    self.marks[lines.found[i].line] = SEEN
        return 0

    def read(self, lines not None, first, limit=0):
        """Find the names of lines.

        Args:
            lines (bytes-like): The lines; the last one may lack its end. They are held until the next call.
            first (int): The number of the first of them.
            limit (int): How many lines that are refused are returned.

        Returns:
            Lines: 0, the number of lines and of those that are refused, and the first `limit` of these, as LineFaults.

        Raises:
            UriError: A line is refused, and that fails; the position is an octet of `lines`. There are no names then.
            RuntimeError: Another thread is using the names.
        """
        cdef uint64_t number = first
        self.use()
        try:
            return self.read_lines(lines, number, limit)
        except:
            self.release()
            raise
        finally:
            uc_give(&self.busy)

    cdef object read_lines(self, object lines, uint64_t first, Py_ssize_t limit):
        cdef Task task
        cdef LineTask *work = &task.lines
        cdef bint urns, enough
        self.hold(lines, first)
        urns = isinstance(self.how, UrnRows) and (<UrnRows>self.how).naming.level <= NAMESPACE
        with nogil:
            enough = self.split() and (self.copies or self.have_forms(self.size + WIDE, 0))
        if not enough:
            raise MemoryError
        work.src, work.n, work.found = self.src, self.size, NULL
        try:
            begin(work, "raise" if self.fails else "keep", (&self.end)[:1], <Py_ssize_t>self.count if self.drops else limit)
            if self.copies:
                work.count = self.count
                self.forms, self.form_starts, self.form_ends = self.src, self.starts, self.ends
            else:
                if urns:
                    set_form(&task, (<UrnRows>self.how).naming.level, (<UrnRows>self.how).naming.spec)
                with nogil:
                    self.normalize(&task, urns)
                if self.fails and work.invalid:
                    self.how.raise_rejected(lines, work.found.code, work.found.start + work.found.offset)
            with nogil:
                fingerprints(&self.key.key, self.forms, self.form_starts, self.form_ends, self.count, self.prints)
            work.written = 0
            return result(work, self.how.code_names, limit)
        finally:
            PyMem_RawFree(work.found)

    def find(self, lines not None, first):
        """Find lines, and nothing about them: for what is read a second time.

        Args:
            lines (bytes-like): The lines; the last one may lack its end. They are held until the next call.
            first (int): The number of the first of them.

        >>> from uricodec._core._fingerprint import FingerprintKey
        >>> names = LineNames(RowOperation(), FingerprintKey())
        >>> names.find(b"a\nb", 0)
        >>> len(names), names.marks
        (2, b'\x00\x00')
        """
        cdef uint64_t number = first
        cdef bint enough
        self.use()
        try:
            self.hold(lines, number)
            with nogil:
                enough = self.split()
            if not enough:
                raise MemoryError
        finally:
            uc_give(&self.busy)

    # --- what is kept ---------------------------------------------------------------------------------------------------

    cdef inline size_t write_run(self, size_t i, size_t stop, uint8_t *dst) noexcept nogil:
        """Write lines, each with its end."""
        cdef const uint8_t *src = self.src + self.starts[i]
        cdef size_t n = self.starts[stop] - self.starts[i]
        if self.starts[stop] + WIDE <= self.size:
            copy_octets(dst, src, n)
        else:
            memcpy(dst, src, n)
            if n == 0 or dst[n - 1] != self.end:
                dst[n] = self.end
                n += 1
        return n

    cdef size_t write_new(self, uint8_t *dst) noexcept nogil:
        cdef size_t i = 0, stop, o = 0
        while i < self.count:
            if self.marks[i] != NEW:
                i += 1
                continue
            stop = i + 1
            while stop < self.count and self.marks[stop] == NEW:
                stop += 1
            o += self.write_run(i, stop, dst + o)
            i = stop
        return o

    cdef size_t write_counts(self, const uint8_t *counts, size_t known, uint8_t *dst) noexcept nogil:
        cdef uint8_t digits[COUNT]
        cdef size_t i, at, o = 0, done = 0
        cdef uint64_t count
        for i in range(self.count):
            if self.marks[i] != NEW or done == known:
                continue
            memcpy(&count, counts + 8 * done, 8)
            done += 1
            at = COUNT
            while True:
                at -= 1
                digits[at] = <uint8_t>(c'0' + count % 10)
                count //= 10
                if count == 0:
                    break
            memcpy(dst + o, digits + at, COUNT - at)
            o += COUNT - at
            dst[o] = c'\t'
            o += 1 + self.write_run(i, i + 1, dst + o + 1)
        return o

    def write(self, dst not None):
        """Write the lines that are marked as new, each with its end.

        Args:
            dst (bytearray | memoryview): Where to, with `room()` octets.

        Returns:
            int: How many octets these are.

        Raises:
            ValueError: dst is too small.

        >>> from uricodec._core._fingerprint import FingerprintKey
        >>> from uricodec._core._table import Table
        >>> names, room = LineNames(RowOperation(), FingerprintKey()), bytearray(100)
        >>> _ = names.read(b"a\na\nb", 0)
        >>> Table(1 << 20).add(names)
        >>> room[: names.write(room)]
        bytearray(b'a\nb\n')
        """
        cdef Py_buffer target
        cdef size_t written
        PyObject_GetBuffer(dst, &target, PyBUF_WRITABLE)
        try:
            self.use()
            try:
                if <size_t>target.len < self.size + WIDE:
                    raise ValueError(f"dst is too small: {target.len} octets")
                with nogil:
                    written = self.write_new(<uint8_t *>target.buf)
                return <Py_ssize_t>written
            finally:
                uc_give(&self.busy)
        finally:
            PyBuffer_Release(&target)

    def write_counted(self, dst not None, counts not None):
        """Write the lines that are marked as new, each behind a number and a tab.

        Args:
            dst (bytearray | memoryview): Where to, with `room()` octets.
            counts (bytes-like): The numbers, of 64 bits, one for each of these lines.

        Returns:
            int: How many octets these are.

        Raises:
            ValueError: dst is too small, or there are not as many numbers as lines.
        """
        cdef Py_buffer source, target
        cdef size_t written
        PyObject_GetBuffer(counts, &source, PyBUF_SIMPLE)
        try:
            PyObject_GetBuffer(dst, &target, PyBUF_WRITABLE)
            try:
                self.use()
                try:
                    if <size_t>source.len != 8 * self.new:
                        raise ValueError("not as many counts as new lines")
                    if <size_t>target.len < self.size + (COUNT + 1) * self.new + WIDE:
                        raise ValueError(f"dst is too small: {target.len} octets")
                    with nogil:
                        written = self.write_counts(<const uint8_t *>source.buf, self.new, <uint8_t *>target.buf)
                    return <Py_ssize_t>written
                finally:
                    uc_give(&self.busy)
            finally:
                PyBuffer_Release(&target)
        finally:
            PyBuffer_Release(&source)

    def room(self):
        """How much room to write to.

        Returns:
            int: The octets that the methods that write need at most.
        """
        return <Py_ssize_t>(self.size + (COUNT + 1) * self.new + WIDE)
