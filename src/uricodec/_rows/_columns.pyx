# distutils: extra_compile_args=-Os
"""Operations on Arrow columns and on lines in buffers: calls, and the assembly of their results.

The result of text has the layout of the input. Views share the memory of unchanged rows. For dictionary arrays, only
the values of the dictionary are processed.
"""
cimport cython
from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t

from uricodec._base._cpython cimport PyNumber_Index
from uricodec._base._text cimport copy_of_bytes
from uricodec._rows._arrow cimport *
from uricodec._rows._dictionaries cimport *
from uricodec._rows._ranges cimport join_arrays, loaded_rows, saved_rows
from uricodec._rows._engine cimport *
from uricodec._rows._tasks cimport *

from uricodec.errors import UriError


# --- values of rows as Python objects ---------------------------------------------------------------------------------

# str, bytes, bool, int, a dict for each struct, a list, and None for a null. They are read from the buffers of the types that
# operations return, so that a column can be inspected without any library.

# Arrow formats -> the names of types in pyarrow.
cdef dict NAMES = {
    b"u": "string", b"U": "large_string", b"vu": "string_view", b"z": "binary", b"Z": "large_binary", b"vz": "binary_view",
    b"n": "null", b"b": "bool", b"w:16": "fixed_size_binary[16]", b"c": "int8", b"C": "uint8", b"s": "int16",
    b"S": "uint16", b"i": "int32", b"I": "uint32", b"l": "int64", b"L": "uint64",
}


cdef dict LISTS = {b"+l": "list", b"+L": "large_list"}


cdef list field_names(Type type):
    cdef Type child
    cdef list names = []
    for child in type.children:
        names.append(child.name.decode("utf-8", "replace"))
    return names


cdef str name_of(Type type):
    """Return pyarrow's name of a type, without the types of fields; for types that no operation returns, the format."""
    if type.dictionary is not None:
        return f"dictionary<values={name_of(type.dictionary)}, indices={NAMES.get(type.format)}>"
    if type.format == b"+s":
        return f"struct<{', '.join(field_names(type))}>"
    if type.format == b"+r":
        return f"run_end_encoded<{name_of(type.children[1])}>"
    if type.format in LISTS:
        return f"{LISTS[type.format]}<{name_of(type.children[0])}>"
    return NAMES.get(type.format) or repr(type.format.decode("latin-1"))


cdef inline bint has_row(Array array, int64_t i) noexcept:
    cdef const uint8_t *valid = <const uint8_t *>array.buffers[0]
    if array.nulls == 0 or valid == NULL:
        return True
    return valid[(array.offset + i) >> 3] >> ((array.offset + i) & 7) & 1


cdef list values_of(Type type, Array array, int64_t start, int64_t stop, errors):
    """Return the values of rows start .. stop of an array. `errors` is the handler for text that is not UTF-8."""
    cdef int64_t i, at
    cdef const uint8_t *data
    cdef list values = []
    if type.dictionary is not None or type.format in LAYOUTS:
        return texts_of(rows_of(array, type), start, stop, errors)
    if type.format == b"+r":
        return runs_of(type, array, start, stop, errors)
    if type.format in LISTS:
        return lists_of(type, array, start, stop, errors)
    if type.format not in (b"b", b"l", b"w:16", b"+s"):
        raise TypeError(f"expected a column of text, bytes, bool, int64, structs or lists, got {name_of(type)}")
    if type.format == b"+s":
        return structs_of(type, array, start, stop, errors)
    data = <const uint8_t *>array.buffers[1]
    for i in range(start, stop):
        at = array.offset + i
        if not has_row(array, i):
            values.append(None)
        elif type.format == b"b":
            values.append(bool(data[at >> 3] >> (at & 7) & 1))
        elif type.format == b"l":
            values.append((<const int64_t *>data)[at])
        else:
            values.append((<const char *>data)[16 * at:16 * (at + 1)])
    return values


cdef int64_t run_end(Array ends, Type type, int64_t i) except -1:
    """Return where a run ends: a row of the array."""
    cdef const uint8_t *data = <const uint8_t *>ends.buffers[1]
    if data == NULL or not 0 <= i < ends.length or type.format not in (b"s", b"i", b"l"):
        raise ValueError("the Arrow array has no valid run ends")
    i += ends.offset
    if type.format == b"l":
        return (<const int64_t *>data)[i]
    return (<const int32_t *>data)[i] if type.format == b"i" else (<const int16_t *>data)[i]


cdef list runs_of(Type type, Array array, int64_t start, int64_t stop, errors):
    """Return the values of rows of a run-end encoded array."""
    cdef list found, values = []
    cdef int64_t run = 0, row
    found = values_of(type.children[1], array.children[1], 0, (<Array>array.children[1]).length, errors)
    for row in range(array.offset + start, array.offset + stop):
        while run_end(array.children[0], type.children[0], run) <= row:
            run += 1
        if run >= len(found):
            raise ValueError("the Arrow array has no valid run ends")
        values.append(found[run])
    return values


cdef list texts_of(SourceRows rows, int64_t start, int64_t stop, errors):
    cdef const uint8_t *src
    cdef size_t n
    cdef int64_t i
    cdef list values = []
    for i in range(start, stop):
        if is_null(&rows.source, <size_t>i):
            values.append(None)
            continue
        if not row_at(&rows.source, <size_t>i, &src, &n):
            raise ValueError("the Arrow array has decreasing offsets, or views or indices out of range")
        values.append(src[:n].decode("utf-8", errors) if rows.source.text else (<const char *>src)[:n])
    return values


cdef list structs_of(Type type, Array array, int64_t start, int64_t stop, errors):
    cdef int64_t i
    cdef int field
    cdef list names = field_names(type), parts = [], values = []
    for field in range(len(names)):
        parts.append(values_of(type.children[field], child_of(array, field), start, stop, errors))
    for i in range(start, stop):
        values.append({name: part[i - start] for name, part in zip(names, parts)} if has_row(array, i) else None)
    return values


cdef list lists_of(Type type, Array array, int64_t start, int64_t stop, errors):
    cdef Array child = array.children[0]
    cdef bint large = type.format == b"+L"
    cdef int64_t i, first, last, at, end
    cdef list items, values = []
    at = first = offset_at(array, large, start)
    last = offset_at(array, large, stop)
    if not 0 <= first <= last <= child.length:
        raise ValueError("the Arrow array has offsets out of range")
    items = values_of(type.children[0], child, first, last, errors)
    for i in range(start, stop):
        end = offset_at(array, large, i + 1)
        values.append(items[at - first:end - first] if has_row(array, i) else None)
        at = end
    return values


cdef enum:
    BATCH = 1024        # rows per batch of objects when iterating
    SHOWN = 5           # rows that repr() shows, and characters of each
    SHOWN_OF_ROW = 40


# --- results of runs --------------------------------------------------------------------------------------------------

cdef tuple text_array(Job job, Type type):
    """Return the result of a run as an array in the layout of its source, and its type, perhaps with 64-bit offsets."""
    cdef Run *run = &job.task
    cdef Array array = Array()
    cdef Array source = job.rows.array
    cdef size_t i, more = run.filled.size // sizeof(Buffer), n
    cdef Buffer *buffer
    cdef ArrowBuffers buffers = ArrowBuffers()
    array.length = <int64_t>run.count
    if run.source.valid != NULL:
        array.nulls = -1
    elif run.valid != NULL:
        array.nulls = <int64_t>run.nulled
    if run.source.layout != VIEWS:
        array.set_buffers(3)
        array.buffers[1] = hold(array, &run.offsets)
        array.buffers[2] = hold(array, &run.data)
    else:
        more += run.data.size > 0
        n = <size_t>run.source.n_buffers
        array.set_buffers(<int64_t>(3 + n + more))
        array.owners.extend(source.owners)
        array.buffers[1] = hold(array, &run.offsets)
        reserve(&buffers.first, 8 * (n + more) + 8)
        buffers.first.size = 8 * (n + more)
        for i in range(n):
            array.buffers[2 + i] = run.source.buffers[i]
            (<int64_t *>buffers.first.data)[i] = run.source.sizes[i]
        for i in range(more):
            buffer = <Buffer *>run.filled.data + i if i < run.filled.size // sizeof(Buffer) else &run.data
            (<int64_t *>buffers.first.data)[n + i] = <int64_t>buffer.size
            array.buffers[2 + n + i] = hold(array, buffer)
        array.buffers[2 + n + more] = hold(array, &buffers.first)
    if array.nulls:
        array.buffers[0] = hold(array, &job.valid)
    return Type(LARGE[type.format], type.name) if run.large and type.format in LARGE else type, array


# --- pickles ------------------------------------------------------------------------------------------------------------

# A column is pickled as tuples of its types, and of copies of the buffers with its rows.

cdef tuple saved_type(Type type):
    cdef list children = []
    for child in type.children:
        children.append(saved_type(child))
    dictionary = None if type.dictionary is None else saved_type(type.dictionary)
    return type.format, type.name, tuple(children), dictionary, type.ordered, type.required


cdef Type loaded_type(tuple saved):
    cdef list children = []
    format, name, parts, dictionary, ordered, required = saved
    for part in parts:
        children.append(loaded_type(part))
    return Type(format, name, tuple(children), None if dictionary is None else loaded_type(dictionary), ordered, required)


cdef tuple saved_array(Type type, Array array):
    cdef list children = []
    cdef int64_t i
    if type.format == b"+r":        # runs are copied as they are
        for i in range(2):
            children.append(saved_array(type.children[i], array.children[i]))
        return array.length, array.offset, tuple(children)
    dictionary = None if array.dictionary is None else saved_array(type.dictionary, array.dictionary)
    return saved_rows(type, array), dictionary


cdef Array loaded_array(Type type, tuple saved):
    cdef Array array = Array()
    if type.format == b"+r":
        array.length, array.offset, (ends, values) = saved
        array.children = (loaded_array(type.children[0], ends), loaded_array(type.children[1], values))
        return array
    rows, dictionary = saved
    return loaded_rows(type, rows, None if dictionary is None else loaded_array(type.dictionary, dictionary))


def loaded_column(tuple type not None, list arrays not None):
    """Return a column from its pickle.
    """
    cdef Type kind = loaded_type(type)
    cdef list made = []
    for array in arrays:
        made.append(loaded_array(kind, array))
    return Column(kind, made)


# --- columns ------------------------------------------------------------------------------------------------------------

@cython.final
cdef class Column:
    """A column of results: an Arrow object for other libraries, and a sequence of rows for Python.

    It implements the Arrow PyCapsule interface: pass it to pyarrow.array, polars.Series, pandas.Series.from_arrow or
    any other function that accepts Arrow objects. As a sequence it needs no library: rows are str, bytes, bool, int, a
    dict of the fields for a struct, a list of its items, or None.

    >>> from uricodec import bulk
    >>> column = bulk.is_valid_uri(b"https://example.org/\\na b\\n")
    >>> column
    <Column of 2 bool: True, False>
    >>> column[0], column[-1], list(column), False in column
    (True, False, [True, False], True)
    """
    cdef readonly Type type
    cdef list arrays

    def __cinit__(self, Type type not None, arrays not None):
        self.type, self.arrays = type, list(arrays)
        for array in self.arrays:
            set_type(<Array?>array, type)

    @property
    def arrays(self):
        """The arrays of the column; together with `type` they make a column again."""
        return list(self.arrays)

    def __len__(self):
        cdef int64_t count = 0
        for array in self.arrays:
            count += (<Array?>array).length
        return count

    def __iter__(self):
        cdef Array array
        cdef int64_t start
        for array in self.arrays:
            for start in range(0, array.length, BATCH):
                yield from values_of(self.type, array, start, min(start + BATCH, array.length), "strict")

    def __getitem__(self, index):
        """Return one row as an object, or the rows of a slice as a Column that shares the memory.

        Args:
            index (int | slice): A row number, where negative numbers count from the end, or a slice with step 1.

        Returns:
            object | Column: The row, or the rows.

        Raises:
            IndexError: If the row does not exist.
            ValueError: If the step of the slice is not 1.
            UnicodeDecodeError: If the text of the input is not UTF-8.
        """
        cdef Array array
        cdef int64_t start, stop, step
        cdef list parts = []
        if isinstance(index, slice):
            start, stop, step = index.indices(len(self))
            if step != 1:
                raise ValueError(f"the step of a slice must be 1, got {step}")
        else:
            number, count = PyNumber_Index(index), len(self)
            if not -count <= number < count:
                raise IndexError(f"row index {number} is out of range for {count} rows")
            start = number + count if number < 0 else number
            stop = start + 1
        for array in self.arrays:
            if start < min(stop, array.length):
                parts.append(part_of(array, start, min(stop, array.length) - start))
            start, stop = max(start - array.length, <int64_t>0), stop - array.length
        if isinstance(index, slice):
            return Column(self.type, parts)
        return values_of(self.type, parts[0], 0, 1, "strict")[0]

    def __repr__(self):
        cdef Array array
        cdef int64_t count = len(self)
        cdef list shown = [], texts = []
        for array in self.arrays:
            if len(shown) < SHOWN:
                shown += values_of(self.type, array, 0, min(array.length, <int64_t>(SHOWN - len(shown))), "replace")
        for value in shown:
            text = repr(value)
            texts.append(text if len(text) <= SHOWN_OF_ROW else f"{text[:SHOWN_OF_ROW]}...")
        if count > len(shown):
            texts.append("...")
        return f"<Column of {count} {name_of(self.type)}{': ' if texts else ''}{', '.join(texts)}>"

    def to_pylist(self):
        """Return the rows as a list of objects.

        Returns:
            list: str, bytes, bool, int, dict (for a struct), list or None.

        Raises:
            UnicodeDecodeError: If the text of the input is not UTF-8.
        """
        return list(self)

    def __array__(self, dtype=None, copy=None):
        """Return the rows as a NumPy array of objects, or of another dtype.

        Args:
            dtype (numpy.dtype | None): The dtype; None for objects.
            copy (bool | None): False, which requires an array that shares the memory, raises ValueError.
        """
        import numpy
        if copy is not None and not copy:
            raise ValueError("cannot make a NumPy array of a Column without a copy")
        array = numpy.fromiter(self, object, len(self))
        return array if dtype is None else array.astype(dtype)

    def __copy__(self):
        """Return the column itself: it never changes."""
        return self

    def __deepcopy__(self, memo):
        return self

    def __reduce__(self):
        """Pickle the rows: type and buffers, without libraries."""
        arrays = []
        for array in self.arrays:
            arrays.append(saved_array(self.type, array))
        return loaded_column, (saved_type(self.type), arrays)

    def __arrow_c_schema__(self):
        return schema_capsule(self.type)

    def __arrow_c_stream__(self, requested_schema=None):
        return stream_capsule(self.type, self.arrays)

    def __arrow_c_array__(self, requested_schema=None):
        type, arrays = with_one_dictionary(self.type, self.arrays, limit_of_offsets)
        type, array = join_arrays(type, arrays, limit_of_offsets)
        return schema_capsule(type), array_capsule(array)


@cython.final
cdef class ColumnWork:
    """One call: a plan, the policy for rejected rows, and the number of threads."""
    cdef object make
    cdef RowPolicy policy
    cdef bint reports
    cdef size_t limit
    cdef object threads
    cdef size_t first
    cdef readonly object count
    cdef readonly list found
    cdef readonly object rows

    def __cinit__(self, make, errors, limit, threads, first=0):
        self.make, self.policy, self.threads = make, <RowPolicy>policy_named(errors, True), threads
        self.reports = limit is not None or self.policy == RAISE_ROW
        self.limit = 0 if limit is None else limit
        self.count, self.found, self.rows, self.first = 0, [], 0, first

    cdef size_t threads_for(self, size_t size):
        if self.threads is not None:
            return <size_t>self.threads
        if size <= 1 << 20:
            return 1
        import os
        return <size_t>(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)

    cdef int check_policy(self, Plan plan, bint lines) except -1:
        if self.policy == DROP_ROW and not (lines and plan.kind == TEXT_RESULT):
            policy_named("drop")        # raises
        return plan.rows.check_policy(self.policy)

    # --- columns

    def column(self, source):
        """Process an object with Arrow capsules. Return a Column."""
        cdef list arrays = []
        cdef Type whole, type, values
        whole, type = read_column(source, arrays, True)
        if type.format == b"+r":
            return self.runs(type, arrays)
        values = type if type.dictionary is None else type.dictionary
        plan = <Plan?>self.make(LAYOUTS[values.format][1])
        self.check_policy(<Plan>plan, False)
        type, arrays = self.text(plan, type, arrays) if (<Plan>plan).kind == TEXT_RESULT else self.results(plan, type, arrays)
        if whole.format == b"+s":
            arrays = tables_of(arrays)
            type = Type(b"+s", whole.name, (type,))
        return Column(type, arrays)

    cdef object runs(self, Type type, list arrays):
        """Process run-end encoded arrays: each run once. An invalid run is reported once, for its first row."""
        cdef Array array, run
        cdef Type values = type.children[1]
        cdef list parts = [], made = [], found = [], firsts = []
        cdef int64_t before = 0, i, end
        for array in arrays:
            run = array.children[1]
            parts.append(run)
            end = 0
            for i in range(run.length):
                firsts.append(before + max(end - array.offset, <int64_t>0) if end < array.offset + array.length else -1)
                end = run_end(array.children[0], type.children[0], i)
            before += array.length
        plan = <Plan?>self.make(LAYOUTS[values.format][1])
        self.check_policy(<Plan>plan, False)
        try:
            values, parts = self.text(plan, values, parts) if (<Plan>plan).kind == TEXT_RESULT else self.results(plan, values, parts)
        except UriError as error:
            error.row = None if error.row is None else firsts[error.row]
            raise
        for row, code, offset in self.found:
            if firsts[row] >= 0:
                found.append((firsts[row], code, offset))
        self.found = found
        for array, run in zip(arrays, parts):
            array = part_of(array, 0, array.length)
            array.children = (array.children[0], run)
            made.append(array)
        return Column(Type(type.format, type.name, (type.children[0], values)), made)

    cdef list jobs(self, Plan plan, Type type, list arrays, RowPolicy policy, size_t limit):
        """Make the runs for all arrays and execute them."""
        cdef SourceRows rows
        cdef size_t size = 0
        cdef list sources = sources_of(arrays, type)
        for rows in sources:
            size += rows.size
            self.rows += rows.source.count
        return jobs_of(plan, sources, policy, limit, self.reports, self.threads_for(size), 0)

    cdef object text(self, Plan plan, Type type, list arrays):
        if type.dictionary is not None:
            return self.dictionaries(plan, type, arrays)
        if type.format == b"n":
            return type, arrays
        jobs = self.jobs(plan, type, arrays, self.policy, self.limit)
        self.count, self.found = rejected_of(jobs, self.limit)
        return of_one_type(type, text_arrays(jobs, type))

    cdef RowPolicy policy_for(self, Plan plan):
        """Return the policy for a plan. A diagnostic cannot be null; not all operations have components to keep."""
        if plan.kind == DIAGNOSTIC_RESULT and self.policy == NULL_ROW:
            return KEEP_ROW
        if plan.kind in (STRUCT_RESULT, COMPONENT_RESULT) and self.policy == KEEP_ROW and plan.rows.slots.keep == NULL:
            return NULL_ROW
        return self.policy

    cdef object results(self, Plan plan, Type type, list arrays):
        cdef Type values = type if type.dictionary is None else type.dictionary
        if type.dictionary is not None and repeats_values(arrays):
            made = self.results_of_dictionaries(plan, type, arrays)
            if made is not None:
                return made
            self.rows = 0
        jobs = self.jobs(plan, type, arrays, self.policy_for(plan), self.limit)
        self.count, self.found = rejected_of(jobs, self.limit)
        return self.result_of(plan, jobs, type, values.format in (b"U", b"Z"), LAYOUTS[values.format][1])

    cdef object result_of(self, Plan plan, list jobs, Type type, bint large, bint text):
        cdef Job job
        cdef int i
        cdef list made = []
        for job in jobs:
            for i in range(job.task.fields):
                large |= job.task.parts[3 * i].size > limit_of_offsets
            large |= plan.kind == LIST_RESULT and items_before(&job.task) > limit_of_offsets
        for job in jobs:
            made.append(result_array(&job.task, plan.kind, &job.valid, plan.rows.code_names, large))
        return result_type(plan.kind, type, plan.fields, text, large), made

    cdef object results_of_dictionaries(self, Plan plan, Type type, list arrays):
        """Process the values of dictionaries, each once, and copy the results to the rows that refer to them:

            values      http://a/  b            indices     1  0  null  0
            results     True       False        rows        False  True  null  True

        Returns:
            tuple | None: The type and the arrays; None if they need offsets of 64 bits, and the texts have 32.
        """
        # A value that is rejected with "raise" is an error only if a row refers to it.
        cdef RowPolicy policy = self.policy_for(plan) if self.policy != RAISE_ROW else (
            KEEP_ROW if plan.kind == DIAGNOSTIC_RESULT else NULL_ROW)
        cdef Type values = type.dictionary, kind = None
        cdef Array array
        cdef dict done = {}
        cdef list made = []
        cdef size_t number = 0, limit = UC_REJECTED if self.reports else 0
        for array in arrays:
            key = identity_of(array.dictionary)
            if key not in done:
                jobs = self.jobs(plan, values, [array.dictionary], policy, limit)
                part, parts = self.result_of(plan, jobs, values, values.format in (b"U", b"Z"), LAYOUTS[values.format][1])
                part, results = join_arrays(part, parts, limit_of_offsets)
                if kind is not None and saved_type(kind) != saved_type(part):
                    return None
                done[key], kind = (jobs, results), part
            part, results = by_indices(array, type, done[key][1], kind, limit_of_offsets)
            if part is not kind:
                return None
            made.append(results)
        for array in arrays:
            if self.reports:
                self.refer(plan, done[identity_of(array.dictionary)][0], array, type, number)
            number += <size_t>array.length
        self.rows = number
        return Type(kind.format, type.name, kind.children), made

    cdef object dictionaries(self, Plan plan, Type type, list arrays):
        """Process the values of dictionaries, each once. A rejected value is reported for the rows that refer to it.

        Values that become equal are merged into one, and rows that refer to a null become null. unquote, errors="null":

            values      %41   A     %zz             indices     0  2  1  0
            results     A     A     null            distinct values, and the numbers of the old ones: A;  0  0  -1
            rejected                row 2           indices     0  null  0  0, and row 1 is reported
        """
        cdef dict done = {}
        cdef Array array, values
        cdef Type kind
        cdef Distinct distinct
        cdef list made_of = [], results = [], found = []
        cdef bint ordered = type.ordered
        cdef size_t number = 0
        for array in arrays:
            key = identity_of(array.dictionary)
            if key not in done:
                done[key] = self.dictionary(plan, type.dictionary, array.dictionary)
            jobs, kind, distinct = done[key]
            if self.reports:
                self.refer(plan, jobs, array, type, number)
            number += <size_t>array.length
            ordered &= distinct.ordered
            found.append(distinct)
            results.append((kind, distinct.values))
        self.rows = number
        kind, joined = of_one_type(type.dictionary, results)
        for array, distinct, values in zip(arrays, found, joined):
            made_of.append(with_numbers(array, type, distinct, 0, values, type.format))
        return Type(type.format, type.name, (), kind, ordered), made_of

    cdef tuple dictionary(self, Plan plan, Type type, Array values):
        """Process the values of a dictionary. Return the runs, the type of the results, and the results."""
        cdef list jobs
        cdef Type kind
        if type.format == b"n":
            return [], type, distinct_of(values, type)
        jobs = self.jobs(plan, type, [values], KEEP_ROW if self.policy == RAISE_ROW else self.policy,
                         UC_REJECTED if self.reports else 0)
        kind, joined = of_one_type(type, text_arrays(jobs, type))
        kind, values = join_arrays(kind, joined, limit_of_offsets)
        return jobs, kind, distinct_of(values, kind)

    cdef int refer(self, Plan plan, list jobs, Array array, Type type, size_t number) except -1:
        """List the rows that refer to rejected values."""
        cdef SourceRows rows = rows_of(array, type)
        cdef Job job
        cdef const Rejected *bad
        cdef size_t i
        cdef int64_t index
        cdef dict bads = {}
        cdef bytearray marks = bytearray(array.dictionary.length)
        for job in jobs:
            bad = <const Rejected *>job.task.found.data
            for i in range(job.task.found.size // sizeof(Rejected)):
                bads[bad[i].row] = (bad[i].code, bad[i].offset)
                marks[bad[i].row] = 1
        for i in range(rows.source.count if bads else 0):
            index = index_at(&rows.source, i) if is_valid(&rows.source, i) else -1
            if not 0 <= index < array.dictionary.length or not marks[index]:
                continue
            code, offset = bads[index]
            if self.policy == RAISE_ROW:
                raise_row_of(plan.rows, &rows.source, i, code, offset, number + i)
            self.count += 1
            if <size_t>len(self.found) < self.limit:
                self.found.append((number + i, plan.rows.code_names[code], offset))
        return 0

    # --- rows of several values

    def tuples(self, Array rows not None, bytes format not None, bytes name not None, bint table):
        """Process rows of several values: an array of `Tuples`, with the type of results of text. Return a Column."""
        cdef bint text = format in (b"u", b"U")
        cdef Plan plan = <Plan?>self.make(text)
        cdef Type type = Type(b"Z", name)
        cdef list arrays, typed
        self.check_policy(plan, False)
        jobs = self.jobs(plan, type, [rows], self.policy_for(plan), self.limit)
        self.count, self.found = rejected_of(jobs, self.limit)
        if plan.kind == TEXT_RESULT:
            typed = text_arrays(jobs, type)
            type, arrays = narrow_text(format, name, typed)
        else:
            type, arrays = self.result_of(plan, jobs, type, format in LARGE.values(), text)
        if table:
            arrays, type = tables_of(arrays), Type(b"+s", name, (type,))
        return Column(type, arrays)

    # --- lines

    def lines(self, source, end):
        """Process lines in a buffer. Return bytes, or a Column for non-text results."""
        cdef Plan plan = <Plan?>self.make(True)
        self.check_policy(plan, True)
        cdef SourceRows rows
        cdef Job job
        cdef list parts = []
        if plan.kind != TEXT_RESULT and type(source) is not bytes:
            source = copy_of_bytes(source)      # no other thread may change the number of lines
        rows = rows_of_lines(source, end)
        jobs = jobs_of(plan, [rows], self.policy_for(plan), self.limit, self.reports,
                       self.threads_for(rows.source.count), self.first)
        self.count, self.found = rejected_of(jobs, self.limit)
        for job in jobs:
            self.rows += job.task.row
        if plan.kind != TEXT_RESULT:
            return Column(*self.result_of(plan, jobs, Type(b"u"), False, True))
        for job in jobs:
            parts.append(finish_bytes(&job.task.data, job.output))
        # An empty last line without a terminator gets one; otherwise the result would have one line less.
        if (self.policy != DROP_ROW and rows.source.count
                and rows.source.data[rows.source.count - 1] != rows.source.terminator):
            last = parts[len(parts) - 1]
            if not last or last.endswith(end):
                parts.append(end)
        return parts[0] if len(parts) == 1 else b"".join(parts)


cdef tuple read_column(object source, list arrays, bint runs=False):
    """Return the type of an Arrow object, and that of its column; append the column's arrays to `arrays`.

    `runs`: it may be run-end encoded.
    """
    cdef Type whole = read_object(source, arrays), type = whole, values
    if type.format == b"+s":
        if len(type.children) != 1:
            raise TypeError(f"expected one column, got a table of {len(type.children)} columns")
        type = type.children[0]
        for i in range(len(arrays)):
            arrays[i] = column_of(arrays[i])
    values = type
    if type.format == b"+r" and runs and len(type.children) == 2:
        values = type.children[1]
    elif type.dictionary is not None:
        if type.format not in WIDTHS:
            raise TypeError(f"expected integer indices of a dictionary, got Arrow format {type.format.decode('latin-1')!r}")
        values = type.dictionary
    if values.format not in LAYOUTS or values.dictionary is not None:
        raise TypeError(f"expected a column of text or bytes, got Arrow format {values.format.decode('latin-1')!r}")
    return whole, type


cdef list text_arrays(list jobs, Type type):
    cdef list typed = []
    for job in jobs:
        typed.append(text_array(job, type))
    return typed


cdef object of_one_type(Type type, list typed):
    """Return the common type of arrays of text, and the arrays; all get 64-bit offsets if one has them."""
    cdef Array array
    cdef Type kind
    cdef bint large = False
    cdef set widened = set()    # arrays whose offsets are converted already: chunks may share a dictionary
    cdef list found = []
    for kind, array in typed:
        large |= kind.format != type.format
        found.append(array)
    for kind, array in typed if large else []:
        if kind.format == type.format and array not in widened:
            set_width(array, True)
            widened.add(array)
    return Type(LARGE[type.format], type.name) if large else type, found


cdef tuple narrow_text(bytes format, bytes name, list typed):
    """Return the type of text, and its arrays, whose offsets have 64 bits. They get 32 bits if that is the format's width
    and all of them fit."""
    cdef Array array
    cdef bint large = format in LARGE.values()
    cdef list arrays = []
    for _, array in typed:
        large |= (<const int64_t *>array.buffers[1])[array.length] > <int64_t>limit_of_offsets
        arrays.append(array)
    for array in arrays if not large else []:
        set_width(array, False)
    return Type(LARGE.get(format, format) if large else format, name), arrays


cdef Array column_of(Array table):
    """Return the only column of a table, or of a slice of it."""
    if table.n_buffers and table.buffers[0] != NULL and table.nulls:
        raise TypeError("expected a table, got a struct with nulls")
    return child_of(table, 0)


cdef list tables_of(list columns):
    """Return a table of one column for each."""
    cdef Array column, table
    cdef list tables = []
    for column in columns:
        table = Array()
        table.length, table.children = column.length, (column,)
        table.set_buffers(1)
        tables.append(table)
    return tables


cdef list sources_of(list arrays, Type type):
    """Return the rows of arrays (list of SourceRows)."""
    cdef list sources = []
    for array in arrays:
        sources.append(rows_of(array, type))
    return sources
