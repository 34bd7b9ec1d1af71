"""Lists of str and bytes: the row functions, from object to object.

The result begins as a copy of the list, in which only what changes is replaced. A str that is decoded or encoded, and
cannot be refused, is done by the functions that do single values.
"""
cimport cython
from libc.string cimport memcmp

from uricodec._core._fingerprint cimport fingerprints
from uricodec._core._kernels cimport kernels
from uricodec._core._percent cimport utf8_text
from uricodec._core._text cimport *
from uricodec._rows._sinks cimport *
from uricodec._rows._tasks cimport *

from cpython.buffer cimport PyBuffer_Release
from cpython.bytes cimport PyBytes_GET_SIZE
from cpython.list cimport PyList_GET_SIZE
from cpython.mem cimport PyMem_RawFree

cdef enum:
    FIRST_ROOM = 4096


@cython.final
cdef class ListWork:
    """One call for a list.

    Args:
        make (Callable[[bool], Plan]): The plan for str (True) and for octets (False).
        errors (str): "keep", "null", "raise" or "replace".
        limit (int | None): How many rows that are refused are returned; None: nobody asks.
        missing (Callable[[object], bool] | None): Says of a value of another type whether it stands for a missing row, as
            None does; such a row of text stays that value. None: no value does.

    Attributes:
        count (int): How many rows were refused.
        found (list[tuple[int, str, int]]): The first of them: row, code and offset, in characters of a str.
    """
    cdef Plan text
    cdef Plan octets
    cdef RowPolicy policy
    cdef text_function whole        # does a str; NULL: rows may be rejected
    cdef Run text_run               # the operations under the policy
    cdef Run octets_run
    cdef bint look
    cdef size_t limit
    cdef object missing
    cdef uint8_t *room
    cdef size_t cap
    cdef readonly Py_ssize_t count
    cdef readonly list found

    def __cinit__(self, make, errors, limit, missing=None):
        self.policy, self.limit = <RowPolicy>policy_named(errors), limit or 0
        self.text, self.octets = <Plan?>make(True), <Plan?>make(False)
        self.missing, self.found, self.look = missing, [], limit is not None
        self.text.rows.check_policy(self.policy)
        if not self.look and self.text.rows.slots.text_policies >> <int>self.policy & 1:
            self.whole = self.text.rows.slots.text
        set_operation(&self.text_run, &self.text.rows.slots, self.policy, self.look)
        set_operation(&self.octets_run, &self.octets.rows.slots, self.policy, self.look)
        self.room, self.cap = allocate(FIRST_ROOM), FIRST_ROOM

    def __dealloc__(self):
        PyMem_RawFree(self.room)

    cdef int have_room(self, size_t size) except -1:
        if size > self.cap:
            PyMem_RawFree(self.room)
            self.room = NULL
            self.room, self.cap = allocate(size), size
        return 0

    cdef int have_room_for(self, const Run *run, size_t n) except -1:
        """Room for what becomes of so many octets."""
        cdef size_t size = room_for(run, n, 1)
        if size == 0:
            raise OverflowError("the row may become longer than an object can be")
        return self.have_room(size)

    cdef object refused(self, Plan plan, object item, Py_ssize_t row, str code, str reason, size_t offset):
        """The result for a rejected item, unless the operation writes it by the policy."""
        if self.policy == RAISE_ROW:
            raise plan.rows.error(f"row {row}: {reason}", item, offset)
        return self.invalid(plan, item, row, code, offset)

    cdef object invalid(self, Plan plan, object item, Py_ssize_t row, str code, size_t offset):
        """Count an invalid item; returns what stands for it."""
        if <size_t>self.count < self.limit:
            self.found.append((row, code, offset))
        self.count += 1
        if plan.kind == VERDICT:
            return None if self.policy == NULL_ROW else False
        if plan.kind == DIAGNOSTIC:
            return {"code": code, "offset": offset}
        return item if self.policy != NULL_ROW and plan.kind == TEXT else None

    cdef object answer(self, Plan plan, object item, const uint8_t *src, size_t n, Py_ssize_t row):
        """What becomes of the octets of an item."""
        cdef const Run *run = &self.text_run if plan is self.text else &self.octets_run
        cdef const uc_set *stable = self.octets.rows.slots.stable
        cdef bint text = isinstance(item, str)
        cdef Outcome outcome
        cdef size_t size, place = 0
        # A str is UTF-8, and bytes need not be: the plain bytes of both are those of bytes.
        if stable != NULL and kernels.span(src, n, stable) == n and (type(item) is str or type(item) is bytes):
            return item
        self.have_room_for(run, n)
        size = run.row_of(src, n, run.options, self.room, &outcome)
        if size == UC_REJECTED and outcome.code == UC_RAISED:
            raise_set()
        if size == UC_REJECTED:
            place = outcome.offset
            if text:
                place = <size_t>len(src[:outcome.offset].decode("utf-8", "replace"))
            result = self.refused(plan, item, row, plan.rows.code_names[outcome.code], plan.rows.reasons[outcome.code], place)
            if self.policy == KEEP_ROW and plan.kind == FINGERPRINT:
                return self.digest(plan, src, n)
            if run.otherwise == NULL:
                return result
            size = run.otherwise(src, n, plan.rows.slots.options, self.room, &outcome)
        if plan.kind == VERDICT:
            return True
        if plan.kind == DIAGNOSTIC:
            return None
        if plan.kind == STRUCT:
            return self.parts(plan, src, text)
        if plan.kind == FINGERPRINT:
            return self.digest(plan, self.room, size)
        if size == n and memcmp(src, self.room, n) == 0 and (type(item) is str or type(item) is bytes):
            return item
        return utf8_text(self.room, size, "strict") if text else (<const char *>self.room)[:size]

    cdef bytes digest(self, Plan plan, const uint8_t *src, size_t n):
        cdef uint8_t octets[16]
        cdef size_t start = 0
        fingerprints(&plan.key.key, src, &start, &n, 1, octets)
        return (<const char *>octets)[:16]

    cdef dict parts(self, Plan plan, const uint8_t *src, bint text):
        cdef const Component *span = <const Component *>self.room
        cdef dict found = {}
        for name in plan.fields:
            octets = src[span.start:span.end] if span.start >= 0 else None
            found[name] = octets.decode() if text and octets is not None else octets
            span += 1
        return found

    cdef object surrogate(self, str item, Py_ssize_t row):
        """A str that has no UTF-8."""
        cdef const Run *run = &self.text_run
        cdef Outcome outcome
        cdef bytes octets = item.encode("utf-8", "surrogatepass")      # which no other str has
        cdef size_t n = <size_t>PyBytes_GET_SIZE(octets), before, place = <size_t>first_surrogate(str.__str__(item))
        code, reason = "surrogate", "lone surrogate"
        # What a grammar finds wrong up to there comes first, as in a single value.
        self.have_room_for(run, n)
        if run.slots.strict.row(<const uint8_t *>PyBytes_AS_STRING(octets), n, self.text.rows.slots.options, self.room,
                         &outcome) == UC_REJECTED:
            if outcome.code == UC_RAISED:
                raise_set()
            before = <size_t>len(octets[:outcome.offset].decode("utf-8", "replace"))
            if before < place or before == place and self.text.rows.code_names[outcome.code] != "utf-8":
                place, code = before, self.text.rows.code_names[outcome.code]
                reason = self.text.rows.reasons[outcome.code]
        result = self.refused(self.text, item, row, code, reason, place)
        if self.policy == KEEP_ROW and self.text.kind == FINGERPRINT:
            return self.digest(self.text, <const uint8_t *>PyBytes_AS_STRING(octets), n)
        decoded = self.text.rows.with_surrogates(item, self.policy)
        if decoded is not None:
            return decoded
        if self.policy != REPLACE_ROW:
            return result
        octets = "".join(["\ufffd" if 0xD800 <= c < 0xE000 else c for c in item]).encode()
        n = <size_t>PyBytes_GET_SIZE(octets)
        self.have_room_for(run, n)
        n = run.slots.replace(<const uint8_t *>PyBytes_AS_STRING(octets), n,
                                                         self.text.rows.slots.options, self.room, &outcome)
        return utf8_text(self.room, n, "strict")

    cdef object octets_of(self, object item, Py_ssize_t row):
        """The result of an item that is not a str."""
        cdef Py_buffer view
        if type(item) is bytes:
            return self.answer(self.octets, item, <const uint8_t *>PyBytes_AS_STRING(item),
                               <size_t>PyBytes_GET_SIZE(item), row)
        try:
            borrow_row(item, <size_t>row, &view)
        except TypeError as error:
            if not isinstance(error, TypeError):    # a MemoryError by now
                raise error
            if self.missing is not None and self.missing(item):
                return item if self.octets.kind == TEXT else None
            if self.policy == RAISE_ROW:
                raise
            return self.invalid(self.octets, item, row, "type", 0)
        try:
            return self.answer(self.octets, item, <const uint8_t *>view.buf, <size_t>view.len, row)
        finally:
            PyBuffer_Release(&view)

    cdef object text_of(self, object item, Py_ssize_t row):
        """What becomes of a str."""
        cdef uint8_t utf8[UTF8_ROOM]
        cdef Octets octets
        plain = item if type(item) is str else str.__str__(item)
        if not utf8_octets(<str>plain, &octets, utf8):
            return self.surrogate(<str>plain, row)
        try:
            return self.answer(self.text, item, octets.data, octets.size, row)
        finally:
            release(&octets)

    def run(self, items not None):
        """Do a list.

        Args:
            items (Iterable[object]): The list: str, bytes-like and None; a value of another type is invalid (code "type").

        Returns:
            list: What became of its items.

        Raises:
            UriError: A row is refused, and `errors` is "raise".
            TypeError: An item has another type, and `errors` is "raise".
        """
        cdef Py_ssize_t row
        cdef list results = list(items)
        cdef const void *options = self.text.rows.slots.options
        for row in range(PyList_GET_SIZE(results)):
            item = results[row]
            if item is None:
                continue
            result = None
            if type(item) is str and self.whole != NULL:
                result = self.whole(<str>item, options)
            if result is None:
                result = self.text_of(item, row) if isinstance(item, str) else self.octets_of(item, row)
            if result is not item:
                results[row] = result
        return results
