"""Operations on lists of str and bytes.

The result starts as a copy of the list, in which only changed items are replaced. The bytes of neighbouring items of
one type are gathered into a block, which the row engine processes like a block of a column; then objects are made of
the results. Items of short lists are processed one by one, and so are items that cannot be gathered: strings with lone
surrogates, values of other types, and items that are longer than a block.
"""
cimport cython
from libc.stdint cimport INT64_MAX, int32_t, int64_t, uint64_t
from libc.string cimport memcmp, memset

from uricodec._rows._arrow cimport discard, reserve
from uricodec._base._fingerprint cimport fingerprints
from uricodec._base._kernels cimport UC_SURROGATE, kernels, prefetch, uc_utf8
from uricodec._base._text cimport *
from uricodec._rows._engine cimport *
from uricodec._rows._tasks cimport *

from cpython.buffer cimport PyBUF_FORMAT, PyBUF_ND, PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer


cdef inline void prefetch_item(list items, Py_ssize_t row) noexcept:
    """Prefetch the memory of an item: mostly 16 to 150 bytes, and those after it that a loop loads with its last ones."""
    cdef const char *item = <const char *>PyList_GET_ITEM(items, row)
    prefetch(item)
    prefetch(item + 64)
    prefetch(item + 128)
    prefetch(item + 192)


cdef enum:
    FIRST_CAPACITY = 4096
    SHORT = 16          # lists up to this length are processed item by item,
    FEW = 1024          # and so are neighbours of one type with fewer bytes
    AHEAD = 16          # how many items ahead memory is prefetched


# --- gathering ----------------------------------------------------------------------------------------------------------

cdef Py_ssize_t gather(Items *gathered, list items, Py_ssize_t row, Py_ssize_t stop, int kinds, uint8_t *dst) except -1:
    cdef size_t count = 0, size = 0, n, most
    cdef const void *data
    cdef int kind = 1
    gathered.valid, gathered.at[0] = NULL, 0
    while row < stop and count < ROWS:
        if row + AHEAD < stop:
            prefetch_item(items, row + AHEAD)
        item = items[row]
        if item is None:
            row += 1
            if not kinds & NULL_ITEMS:
                continue
            if gathered.valid == NULL:
                memset(gathered.bits, 0xFF, sizeof(gathered.bits))
                gathered.valid = gathered.bits
            gathered.bits[count >> 3] &= ~(1 << (count & 7))
        else:
            if type(item) is bytes and kinds & BYTES_ITEMS:
                n = most = <size_t>PyBytes_GET_SIZE(item)
                data = PyBytes_AS_STRING(item)
            elif type(item) is str and kinds & TEXT_ITEMS:
                PyUnicode_READY(item)
                n = most = <size_t>PyUnicode_GET_LENGTH(item)
                data = PyUnicode_DATA(item)
                if not PyUnicode_IS_ASCII(item):
                    kind = PyUnicode_KIND(item)
                    most = 4 * n        # most bytes of its UTF-8
            else:
                break
            if n > BLOCK or most > BLOCK - size:
                break
            if most == n:
                memcpy(dst + size, data, n)
            else:
                n = kernels.to_utf8(data, n, kind, dst + size)
                if n == UC_SURROGATE:
                    break
            size += n
            row += 1
        gathered.numbers[count] = row - 1
        count += 1
        gathered.at[count] = <int32_t>size
    gathered.rows = count
    return row


cdef inline bint has_components(Plan plan) noexcept:
    """Return whether objects are made of components or items."""
    return plan.kind == STRUCT_RESULT or plan.kind == COMPONENT_RESULT or plan.kind == LIST_RESULT


# --- items of one type --------------------------------------------------------------------------------------------------

# borrow_row() for a caller that looks at the exception itself (see docs/developing/recipes.md).
ctypedef int (*unchecked_borrow)(object, size_t, Py_buffer *) noexcept


@cython.final
cdef class ItemBatch:
    """Items of one type: their bytes, which are processed as one block, and their positions in the list."""
    cdef Plan plan
    cdef bint text
    cdef Run run
    cdef Source source
    cdef Items items
    cdef size_t changed                 # texts of the batch before that are not their own results
    cdef uint64_t valid[ROW_WORDS]      # validity of the results

    def __dealloc__(self):
        PyMem_RawFree(self.run.gathered)
        discard(&self.run.data)
        discard(&self.run.offsets)
        discard(&self.run.found)

    cdef int do(self, size_t limit) except -1:
        """Process the items; list at most `limit` rejected ones."""
        cdef Run *run = &self.run
        run.row = run.next = run.data.size = run.found.size = run.invalid = 0
        run.stop = self.source.count = self.items.rows
        run.limit = limit
        if self.plan.kind == VERDICT_RESULT:
            memset(run.offsets.data, 0, run.offsets.size)
        elif self.plan.kind == TEXT_RESULT or has_components(self.plan):
            run.offsets.size = sizeof(int64_t)
        if run.valid != NULL:
            memset(run.valid, 0xFF, (self.items.rows + 7) // 8)
        if run.slots.block != NULL or run.changes != NULL and 4 * self.changed < self.items.rows:
            run_rows(run)       # takes less than handing the lock over
        else:
            with nogil:
                run_rows(run)
        if run.status == HAS_RAISED:
            reraise()
        if run.status == NO_MEMORY:
            raise MemoryError  # pragma: no cover: no memory
        return 0

    cdef inline bint is_null(self, size_t i) noexcept:
        return self.run.valid != NULL and not self.run.valid[i >> 3] >> (i & 7) & 1


cdef inline bint is_ascii_block(const uint8_t *src, size_t n) noexcept:
    cdef uc_utf8 found
    return kernels.scan_utf8(src, n, &found) == n and found.highest < 0x80


cdef ItemBatch batch_of(Plan plan, bint text, RowPolicy policy, bint reports):
    cdef ItemBatch batch = ItemBatch()
    cdef Run *run = &batch.run
    batch.plan, batch.text = plan, text
    batch.source.layout, batch.source.text, batch.source.offsets = OFFSETS_32, text, &batch.items.at[0]
    batch.source.end = INT64_MAX
    run.source = &batch.source
    set_operation(run, &plan.rows.slots, policy, reports)
    if plan.key is not None:
        run.key = &plan.key.key
    if policy == NULL_ROW:
        run.valid = <uint8_t *>&batch.valid[0]
    # The text sink stores what the row function writes; objects are made of it while the rows' bytes are there.
    set_sink(run, TEXT_RESULT if has_components(plan) else plan.kind)
    set_lines(run)
    run.large = True
    begin_work(run)
    reserve(&run.offsets, 16 * ROWS + 8)
    batch.source.data = run.gathered        # the only rows of this run are gathered ones
    memset(run.offsets.data, 0, 8)
    run.offsets.size = (ROWS + 7) // 8
    return batch


cdef bint begins_run(list items, Py_ssize_t row):
    """Return whether the next two items are also of the type of this one, or None."""
    cdef Py_ssize_t i
    if row + 2 >= PyList_GET_SIZE(items):
        return False
    for i in range(row + 1, row + 3):
        if items[i] is not None and type(items[i]) is not type(items[row]):
            return False
    return True


# --- results with fields ----------------------------------------------------------------------------------------------

# no_gc: the garbage collector would clear references to owners before __dealloc__ releases the buffers.
@cython.no_gc
@cython.final
cdef class ObjectColumns:
    """One output array of objects for each field."""
    cdef Py_buffer views[MOST_FIELDS]
    cdef int count
    cdef list arrays

    def __dealloc__(self):
        cdef int i
        for i in range(self.count):
            PyBuffer_Release(&self.views[i])

    cdef int add(self, object array, Py_ssize_t rows) except -1:
        cdef Py_buffer *view = &self.views[self.count]
        PyObject_GetBuffer(array, view, PyBUF_ND | PyBUF_FORMAT | PyBUF_WRITABLE)
        self.count += 1
        if view.format == NULL or view.format != b"O" or view.ndim != 1 or view.shape[0] != rows:
            raise TypeError(f"expected an array of {rows} objects, got {array!r}")
        self.arrays.append(array)
        return 0

    cdef inline void set(self, int field, Py_ssize_t row, object value) noexcept:
        cdef PyObject **place = <PyObject **>self.views[field].buf + row
        cdef PyObject *before = place[0]
        Py_INCREF(value)
        place[0] = <PyObject *>value
        Py_XDECREF(before)


cdef ObjectColumns columns_of(object make, Py_ssize_t rows, Plan plan):
    cdef ObjectColumns columns = ObjectColumns()
    columns.arrays = []
    for _ in (("code", "offset") if plan.kind == DIAGNOSTIC_RESULT else plan.fields):
        columns.add(make(rows), rows)
    return columns


# --- lists --------------------------------------------------------------------------------------------------------------

@cython.final
cdef class ListWork:
    """One call for a list.

    Args:
        make (Callable[[bool], Plan]): Returns the plan for str (True) or for bytes (False).
        errors (str): "keep", "null", "raise" or "replace".
        limit (int | None): How many rejected rows are returned; None: rejected rows are not counted.
        missing (Callable[[object], bool] | None): Returns whether a value of another type represents a missing value,
            like None; the result for it is the value itself. None: no other value does.

    Attributes:
        found (list[tuple[int, str, int]]): The first of them: row, code, and offset, in characters for a str.
    """
    cdef Plan text
    cdef Plan bytes_plan
    cdef RowPolicy policy
    cdef text_function whole        # processes a str; NULL: rows may be rejected
    cdef Run text_run               # the operations under the policy
    cdef Run bytes_run
    cdef bint reports
    cdef size_t limit
    cdef object missing
    cdef uint8_t *buffer
    cdef size_t cap
    cdef readonly Py_ssize_t count
    cdef readonly list found

    def __cinit__(self, make, errors, limit, missing=None):
        self.policy, self.limit = <RowPolicy>policy_named(errors), limit or 0
        self.text, self.bytes_plan = <Plan?>make(True), <Plan?>make(False)
        self.missing, self.found, self.reports = missing, [], limit is not None
        self.text.rows.check_policy(self.policy)
        if not self.reports and self.text.rows.slots.text_policies >> <int>self.policy & 1:
            self.whole = self.text.rows.slots.text
        set_operation(&self.text_run, &self.text.rows.slots, self.policy, self.reports)
        if self.bytes_plan is not self.text:
            set_operation(&self.bytes_run, &self.bytes_plan.rows.slots, self.policy, self.reports)
        self.buffer, self.cap = allocate(FIRST_CAPACITY), FIRST_CAPACITY

    def __dealloc__(self):
        PyMem_RawFree(self.buffer)

    cdef int have_capacity(self, size_t size) except -1:
        if size > self.cap:
            PyMem_RawFree(self.buffer)
            self.buffer = NULL
            self.buffer, self.cap = allocate(size), size
        return 0

    cdef int have_capacity_for(self, const Run *run, size_t n) except -1:
        """Ensure capacity for the result of n bytes."""
        cdef size_t size = capacity_for(run, n, 1)
        if size == 0:
            raise OverflowError("the result may exceed the maximum size of an object")  # pragma: no cover: too large
        return self.have_capacity(size)

    cdef object reject_item(self, Plan plan, object item, Py_ssize_t row, str code, str reason, size_t offset):
        """Return the result for a rejected item, unless the operation writes it according to the policy."""
        if self.policy == RAISE_ROW:
            plan.rows.raise_row(code, reason, item, offset, row)
        return self.invalid(plan, item, row, code, offset)

    cdef object invalid(self, Plan plan, object item, Py_ssize_t row, str code, size_t offset):
        """Count an invalid item, and return the result for it."""
        if <size_t>self.count < self.limit:
            self.found.append((row, code, offset))
        self.count += 1
        if plan.kind == VERDICT_RESULT:
            return None if self.policy == NULL_ROW else False
        if plan.kind == DIAGNOSTIC_RESULT:
            return {"code": code, "offset": offset}
        return item if self.policy != NULL_ROW and plan.kind == TEXT_RESULT else None

    cdef object result_of(self, Plan plan, object item, const uint8_t *src, size_t n, Py_ssize_t row):
        """Return the result for the bytes of an item."""
        cdef const Run *run = &self.text_run if plan is self.text else &self.bytes_run
        cdef const uc_set *stable = self.bytes_plan.rows.slots.stable
        cdef bint text = isinstance(item, str)
        cdef Outcome outcome
        cdef size_t size, place = 0
        # A str is always UTF-8, bytes may not be: so the stable bytes of `bytes_plan` are stable in both.
        if stable != NULL and kernels.span(src, n, stable) == n and (type(item) is str or type(item) is bytes):
            return item
        self.have_capacity_for(run, n)
        size = run.row_of(src, n, run.options, self.buffer, &outcome)
        if size == UC_REJECTED and outcome.code == UC_RAISED:
            reraise()
        if size == UC_REJECTED and outcome.code == UC_FALSE:
            return False
        if size == UC_REJECTED:
            place = outcome.offset
            if text:
                place = plan.rows.characters(src, n, outcome.offset)
            result = self.reject_item(plan, item, row, plan.rows.code_names[outcome.code], plan.rows.reasons[outcome.code], place)
            if self.policy == KEEP_ROW and plan.kind == FINGERPRINT_RESULT:
                return self.digest(plan, src, n)
            if run.otherwise == NULL:
                return result
            size = run.otherwise(src, n, plan.rows.slots.options, self.buffer, &outcome)
        if plan.kind == VERDICT_RESULT:
            return True
        if plan.kind == DIAGNOSTIC_RESULT:
            return None
        if plan.kind == LIST_RESULT:
            return items_of(self.buffer, plan.components, text)
        if has_components(plan):
            return self.parts(plan, <const uint8_t *>self.buffer if plan.rows.slots.result == WRITES_TEXTS else src, text)
        if plan.kind == FINGERPRINT_RESULT:
            return self.digest(plan, self.buffer, size)
        if size == n and memcmp(src, self.buffer, n) == 0 and (type(item) is str or type(item) is bytes):
            return item
        return utf8_text(self.buffer, size, "strict") if text else (<const char *>self.buffer)[:size]

    cdef bytes digest(self, Plan plan, const uint8_t *src, size_t n):
        cdef uint8_t digest[16]
        cdef size_t start = 0
        fingerprints(&plan.key.key, src, &start, &n, 1, digest)
        return (<const char *>digest)[:16]

    cdef object parts(self, Plan plan, const uint8_t *src, bint text):
        cdef const Component *span = <const Component *>self.buffer
        cdef list found = []
        cdef int i
        for i in range(plan.components):
            value = src[span[i].start:span[i].end] if span[i].start >= 0 else None
            found.append(value.decode() if text and value is not None else value)
        return found[0] if plan.kind == COMPONENT_RESULT else dict(zip(plan.fields, found))

    cdef object surrogate(self, str item, Py_ssize_t row):
        """Return the result for a str that cannot be encoded as UTF-8."""
        cdef const Run *run = &self.text_run
        cdef Outcome outcome
        cdef bytes utf8 = item.encode("utf-8", "surrogatepass")      # UTF-8 of no other str
        cdef size_t n = <size_t>PyBytes_GET_SIZE(utf8), before, place = <size_t>first_surrogate(str.__str__(item))
        if self.text.rows.accepts_surrogates:
            return self.text.rows.with_surrogates(item, self.policy)
        code, reason = "surrogate", "lone surrogate"
        # An error of the grammar before the surrogate is reported first, as for a single value.
        self.have_capacity_for(run, n)
        if run.slots.strict.row(<const uint8_t *>PyBytes_AS_STRING(utf8), n, self.text.rows.slots.options, self.buffer,
                                &outcome) == UC_REJECTED and outcome.code != UC_FALSE:
            if outcome.code == UC_RAISED:
                reraise()
            before = self.text.rows.characters(<const uint8_t *>PyBytes_AS_STRING(utf8), n, outcome.offset)
            if self.text.rows.joins or before < place or before == place and self.text.rows.code_names[outcome.code] != "utf-8":
                place, code = before, self.text.rows.code_names[outcome.code]
                reason = self.text.rows.reasons[outcome.code]
        result = self.reject_item(self.text, item, row, code, reason, place)
        if self.policy == KEEP_ROW and self.text.kind == FINGERPRINT_RESULT:
            return self.digest(self.text, <const uint8_t *>PyBytes_AS_STRING(utf8), n)
        decoded = self.text.rows.with_surrogates(item, self.policy)
        if decoded is not None:
            return decoded
        if self.policy != REPLACE_ROW:
            return result
        utf8 = without_surrogates(item).encode()
        n = <size_t>PyBytes_GET_SIZE(utf8)
        self.have_capacity_for(run, n)
        n = run.slots.replace(<const uint8_t *>PyBytes_AS_STRING(utf8), n,
                              self.text.rows.slots.options, self.buffer, &outcome)
        return utf8_text(self.buffer, n, "strict")

    cdef object bytes_of(self, object item, Py_ssize_t row):
        """Return the result for an item that is not a str."""
        cdef Py_buffer view
        if type(item) is bytes:
            return self.result_of(self.bytes_plan, item, <const uint8_t *>PyBytes_AS_STRING(item),
                               <size_t>PyBytes_GET_SIZE(item), row)
        if (<unchecked_borrow>borrow_row)(item, <size_t>row, &view) < 0:
            if not PyErr_ExceptionMatches(TypeError):
                reraise()
            PyErr_Clear()
            if self.missing is not None and self.missing(item):
                return item if self.bytes_plan.kind == TEXT_RESULT else None
            if self.policy != NULL_ROW:     # keeping it would hide a mistake
                raise TypeError(f"expected str, bytes-like or None at row {row}, got {type(item).__name__}")
            return self.invalid(self.bytes_plan, item, row, "type", 0)
        try:
            return self.result_of(self.bytes_plan, item, <const uint8_t *>view.buf, <size_t>view.len, row)
        finally:
            PyBuffer_Release(&view)

    cdef object text_of(self, object item, Py_ssize_t row):
        """Return the result for a str."""
        cdef uint8_t utf8[UTF8_CAPACITY]
        cdef Bytes source
        exact = item if type(item) is str else str.__str__(item)
        if not utf8_of(<str>exact, &source, utf8):
            if not self.text.rows.replaces_surrogates:
                return self.surrogate(<str>exact, row)
            exact = without_surrogates(<str>exact)      # results have no U+FFFD: `item` is returned only if it is kept
            utf8_of(<str>exact, &source, utf8)
        try:
            return self.result_of(self.text, item, source.data, source.size, row)
        finally:
            release(&source)

    # --- batches

    cdef size_t place_of(self, ItemBatch batch, const Rejected *rejected):
        """Return the offset of the error in a rejected item, in characters for a str."""
        cdef const uint8_t *src = batch.source.data + batch.items.at[rejected.row]
        cdef size_t n = <size_t>(batch.items.at[rejected.row + 1] - batch.items.at[rejected.row])
        return batch.plan.rows.characters(src, n, rejected.offset) if batch.text else rejected.offset

    cdef int report(self, ItemBatch batch, list items) except -1:
        """Count and list the rejected items. Raise the error of the first if that is the policy."""
        cdef const Rejected *rejected = <const Rejected *>batch.run.found.data
        cdef RowOperation rows = batch.plan.rows
        cdef size_t i
        cdef Py_ssize_t row
        if batch.run.status == STOPPED:
            row = batch.items.numbers[rejected.row]
            rows.raise_row(rows.code_names[rejected.code], rows.reasons[rejected.code], items[row],
                           self.place_of(batch, rejected), row)
        self.count += <Py_ssize_t>batch.run.invalid
        for i in range(batch.run.found.size // sizeof(Rejected)):
            if <size_t>len(self.found) >= self.limit:
                break
            self.found.append((batch.items.numbers[rejected[i].row], rows.code_names[rejected[i].code],
                               self.place_of(batch, rejected + i)))
        return 0

    cdef int take_text(self, ItemBatch batch, list results) except -1:
        cdef const uint8_t *src = batch.source.data
        cdef const uint8_t *made = batch.run.data.data
        cdef const int64_t *at = <const int64_t *>batch.run.offsets.data
        cdef size_t i, n
        cdef bint ascii = batch.text and is_ascii_block(made, batch.run.data.size)
        batch.changed = 0
        for i in range(batch.items.rows):
            n = <size_t>(at[i + 1] - at[i])
            if batch.is_null(i):
                results[batch.items.numbers[i]] = None
                continue
            if n == <size_t>(batch.items.at[i + 1] - batch.items.at[i]) and memcmp(made + at[i], src + batch.items.at[i], n) == 0:
                continue
            batch.changed += 1
            if ascii:
                results[batch.items.numbers[i]] = ascii_text(made + at[i], n)
            elif batch.text:
                results[batch.items.numbers[i]] = utf8_text(made + at[i], n, "strict")
            else:
                results[batch.items.numbers[i]] = (<const char *>made + at[i])[:n]
        return 0

    cdef int take_verdicts(self, ItemBatch batch, list results) except -1:
        cdef const uint8_t *bits = batch.run.offsets.data
        cdef size_t i
        for i in range(batch.items.rows):
            verdict = True if bits[i >> 3] >> (i & 7) & 1 else None if batch.is_null(i) else False
            results[batch.items.numbers[i]] = verdict
        return 0

    cdef int take_fingerprints(self, ItemBatch batch, list results) except -1:
        cdef const char *digests = <const char *>batch.run.offsets.data
        cdef size_t i
        for i in range(batch.items.rows):
            results[batch.items.numbers[i]] = None if batch.is_null(i) else digests[16 * i:16 * i + 16]
        return 0

    cdef int take_diagnostics(self, ItemBatch batch, list results, ObjectColumns columns) except -1:
        cdef const Rejected *rejected = <const Rejected *>batch.run.found.data
        cdef size_t i
        if columns is None:
            for i in range(batch.items.rows):
                results[batch.items.numbers[i]] = None
        for i in range(batch.run.found.size // sizeof(Rejected)):
            self.set_result(results, columns, batch.items.numbers[rejected[i].row], {
                "code": batch.plan.rows.code_names[rejected[i].code], "offset": self.place_of(batch, rejected + i)})
        return 0

    cdef int take_components(self, ItemBatch batch, list results, ObjectColumns columns) except -1:
        """Make objects of components. Equal ones, in neighbouring items or fields, become the same object."""
        cdef const uint8_t *src
        cdef const Component *component
        cdef const int64_t *at = <const int64_t *>batch.run.offsets.data
        cdef const uint8_t *before[MOST_FIELDS]
        cdef size_t sizes[MOST_FIELDS]
        cdef size_t i, n
        cdef int64_t start, end
        cdef int field, fields = batch.plan.components
        cdef bint written = batch.plan.rows.slots.result == WRITES_TEXTS, whole = batch.plan.kind == COMPONENT_RESULT
        cdef bint ascii = batch.text and is_ascii_block(batch.source.data, <size_t>batch.items.at[batch.items.rows]) and not written
        cdef list values = [None] * fields
        cdef dict none = dict.fromkeys(batch.plan.fields), row
        cdef tuple names = batch.plan.fields
        for field in range(fields):
            before[field] = NULL
        for i in range(batch.items.rows):
            if at[i + 1] == at[i]:
                if columns is None:
                    results[batch.items.numbers[i]] = None
                continue
            component = <const Component *>(batch.run.data.data + at[i])
            src = <const uint8_t *>component if written else batch.source.data + batch.items.at[i]
            start, end, value = -1, -1, None
            row = none.copy() if columns is None and not whole else None
            if whole and component.start < 0:
                results[batch.items.numbers[i]] = None
            for field in range(fields):
                if component[field].start < 0:
                    continue
                n = <size_t>(component[field].end - component[field].start)
                if component[field].start != start or component[field].end != end:
                    start, end = component[field].start, component[field].end
                    if before[field] != NULL and sizes[field] == n and memcmp(src + start, before[field], n) == 0:
                        value = values[field]
                    elif ascii:
                        value = ascii_text(src + start, n)
                    elif batch.text:
                        value = utf8_text(src + start, n, "strict")
                    else:
                        value = (<const char *>src + start)[:n]
                before[field], sizes[field] = src + start, n
                values[field] = value
                if whole:
                    results[batch.items.numbers[i]] = value
                elif row is None:
                    columns.set(field, batch.items.numbers[i], value)
                else:
                    row[names[field]] = value
            if row is not None:
                results[batch.items.numbers[i]] = row
        return 0

    cdef int take_lists(self, ItemBatch batch, list results) except -1:
        cdef const uint8_t *made = batch.run.data.data
        cdef const int64_t *at = <const int64_t *>batch.run.offsets.data
        cdef size_t i
        for i in range(batch.items.rows):
            results[batch.items.numbers[i]] = (items_of(made + at[i], batch.plan.components, batch.text)
                                               if at[i + 1] > at[i] else None)
        return 0

    cdef int do_batch(self, ItemBatch batch, list results, ObjectColumns columns) except -1:
        cdef ResultKind kind = batch.plan.kind
        batch.do(UC_REJECTED if kind == DIAGNOSTIC_RESULT else max(self.limit - <size_t>len(self.found), <size_t>1))
        self.report(batch, results)
        if kind == TEXT_RESULT:
            self.take_text(batch, results)
        elif kind == VERDICT_RESULT:
            self.take_verdicts(batch, results)
        elif kind == DIAGNOSTIC_RESULT:
            self.take_diagnostics(batch, results, columns)
        elif kind == FINGERPRINT_RESULT:
            self.take_fingerprints(batch, results)
        elif kind == LIST_RESULT:
            self.take_lists(batch, results)
        else:
            self.take_components(batch, results, columns)
        return PyErr_CheckSignals()

    # --- items

    cdef int set_result(self, list results, ObjectColumns columns, Py_ssize_t row, object result) except -1:
        if columns is None:
            results[row] = result
        elif result is not None:
            for field, value in enumerate((<dict>result).values()):
                columns.set(field, row, value)
        return 0

    cdef int do_item(self, list results, ObjectColumns columns, Py_ssize_t row) except -1:
        """Process one item by itself."""
        item = results[row]
        result = None
        if item is None:
            return 0
        if type(item) is str and self.whole != NULL:
            result = self.whole(<str>item, self.text.rows.slots.options)
        if result is None:
            result = self.text_of(item, row) if isinstance(item, str) else self.bytes_of(item, row)
        if result is not item:
            self.set_result(results, columns, row, result)
        return 0

    cdef int do_items(self, list results, ObjectColumns columns) except -1:
        """Process a long list."""
        cdef ItemBatch batch, text = None, in_bytes = None
        cdef Py_ssize_t row = 0, count = PyList_GET_SIZE(results), stop
        cdef size_t i
        cdef bint alone = self.whole != NULL and self.text.rows.slots.text_is_best
        while row < count:
            item = results[row]
            stop = row
            if row + AHEAD < count:
                prefetch_item(results, row + AHEAD)
            if type(item) is str and not alone and begins_run(results, row):
                if text is None:
                    text = batch_of(self.text, True, self.policy, self.reports)
                batch = text
                stop = gather(&text.items, results, row, count, TEXT_ITEMS, text.run.gathered)
            elif type(item) is bytes and begins_run(results, row):
                if in_bytes is None:
                    in_bytes = batch_of(self.bytes_plan, False, self.policy, self.reports)
                batch = in_bytes
                stop = gather(&in_bytes.items, results, row, count, BYTES_ITEMS, in_bytes.run.gathered)
            if stop == row:
                self.do_item(results, columns, row)
                row += 1
            elif batch.items.at[batch.items.rows] < FEW:
                for i in range(batch.items.rows):
                    self.do_item(results, columns, batch.items.numbers[i])
                row = stop
            else:
                self.do_batch(batch, results, columns)
                row = stop
        return 0

    def run(self, items not None, columns=None):
        """Process a list.

        Args:
            items (Iterable[object]): str, bytes-like and None. With errors="null", a value of another type is invalid (code "type").
            columns (Callable[[int], object] | None): For results with fields ("struct" or "diagnostic"): returns an
                array of n None objects, a writable buffer, for one field. None: the result has a dict for each item.
        """
        cdef list results = list(items)
        cdef ObjectColumns fields = None
        cdef Py_ssize_t row, count = PyList_GET_SIZE(results)
        if columns is not None:
            same = self.text.kind == self.bytes_plan.kind and self.text.fields == self.bytes_plan.fields
            if not same or self.text.kind not in (DIAGNOSTIC_RESULT, STRUCT_RESULT):
                raise ValueError("only results that have fields become columns")
            fields = columns_of(columns, count, self.text)
        if count > SHORT:
            self.do_items(results, fields)
        else:
            for row in range(count):
                self.do_item(results, fields, row)
        return results if fields is None else fields.arrays
