# distutils: extra_compile_args=-O2
"""Rows of several values: columns and lists, put side by side into one column of bytes, which the row engine runs.

The values that an operation takes besides the column are each fixed or a column, too. With a column, the rows of all
columns are copied into one row each (`_tuples.pxd` has its layout), and a result replaces each of them.
"""
cimport cython
from cpython.buffer cimport PyObject_CheckBuffer
from libc.stdint cimport int64_t, uint8_t
from libc.string cimport memcpy

from uricodec._base._text cimport *
from uricodec._rows._arrow cimport *
from uricodec._rows._columns cimport read_column
from uricodec._rows._engine cimport *
from uricodec._rows._tasks cimport LAYOUTS, SourceRows, rows_of


class _EachRow:
    """The argument that stands for a value of each row."""

    def __repr__(self):
        return "EACH_ROW"


EACH_ROW = _EachRow()


# --- reading a row ----------------------------------------------------------------------------------------------------

cdef void read_values(const uint8_t *src, size_t n, const Values *given, Values *values) noexcept nogil:
    cdef int i
    cdef const uint8_t *head = src
    cdef const uint8_t *at = src
    values.count = given.count
    if given.packed:
        for i in range(given.count):
            if not given.is_fixed[i]:
                at += sizeof(int64_t)
    for i in range(given.count):
        if given.is_fixed[i]:
            values.at[i], values.size[i] = given.at[i], given.size[i]
            continue
        values.at[i], values.size[i] = at, <int64_t>n
        if given.packed:
            memcpy(&values.size[i], head, sizeof(int64_t))
            head += sizeof(int64_t)
            at += max(values.size[i], <int64_t>0)


cdef bint is_row_of(const Values *given, bytes row) except -1:
    """Return whether the values of a packed row are within it."""
    cdef const uint8_t *head = <const uint8_t *>PyBytes_AS_STRING(row)
    cdef size_t left = <size_t>len(row), i, each = 0
    cdef int64_t size
    if not given.packed:
        return True
    for i in range(<size_t>given.count):
        each += 0 if given.is_fixed[i] else sizeof(int64_t)
    if each > left:
        return False
    left -= each
    for i in range(each // sizeof(int64_t)):
        memcpy(&size, head + sizeof(int64_t) * i, sizeof(int64_t))
        if size > 0 and <size_t>size > left:
            return False
        left -= <size_t>max(size, <int64_t>0)
    return True


cdef size_t keep_first(const uint8_t *src, size_t n, const void *options, uint8_t *dst, Outcome *outcome) noexcept nogil:
    """Write the result, or the first value if the row is invalid."""
    cdef const TupleOptions *given = <const TupleOptions *>options
    cdef Values values
    cdef size_t size = given.row(src, n, options, dst, outcome)
    if size != UC_REJECTED or outcome.code == UC_RAISED:
        return size
    read_values(src, n, &given.values, &values)
    if values.size[0] > 0:
        memcpy(dst, values.at[0], <size_t>values.size[0])
    return <size_t>max(values.size[0], <int64_t>0)


cdef class TupleOperation(RowOperation):
    """Base class of the operations on rows of several values.

    A code refers to one of the values. Its offset has the number of that value in its highest bits: see `place`.
    """

    cdef int set_values(self, TupleOptions *options, tuple values, bint text) except -1:
        """Set the options: the values in their order, str, bytes-like or None (there is none), or EACH_ROW.

        The first one is always that of the row. The capacity for results gets the size of the fixed values.
        """
        cdef int i
        self.tuple_options, self.fixed, self.text = options, [], text
        options.row = self.slots.strict.row
        options.values.count = <int>len(values)
        for i in range(options.values.count):
            value = values[i]
            options.values.is_fixed[i] = value is not EACH_ROW
            if value is EACH_ROW:
                options.values.packed |= i > 0
            elif isinstance(value, str):
                value = (<str>str.__str__(value)).encode()
            elif value is not None:
                value = copy_of_bytes(value)
            self.fixed.append(value)
            if options.values.is_fixed[i]:
                options.values.size[i] = NULL_VALUE
                if value is not None:
                    options.values.at[i] = <const uint8_t *>PyBytes_AS_STRING(value)
                    options.values.size[i] = PyBytes_GET_SIZE(value)
                    self.slots.strict.extra += self.slots.strict.factor * <size_t>PyBytes_GET_SIZE(value)
        self.slots.options = options
        if options.values.packed and self.slots.result == WRITES_BYTES:
            self.slots.keep = keep_first
        return 0

    cdef object whole_of(self, list values):
        """Return what the values make together: an offset with the number WHOLE_RESULT is in it."""
        raise NotImplementedError  # pragma: no cover: cannot happen

    def input_at(self, row, offset):
        """Return the value that an offset refers to, and the offset in it.

        Args:
            row (bytes): A row.
            offset (int): An offset from the row function.
        """
        cdef Values values
        cdef list found = []
        cdef size_t placed = offset
        cdef int i, number = <int>(placed >> NUMBER_SHIFT)
        if self.tuple_options == NULL or not is_row_of(&self.tuple_options.values, row):
            raise ValueError("expected a row of the values of this operation")
        read_values(<const uint8_t *>PyBytes_AS_STRING(row), <size_t>len(<bytes?>row), &self.tuple_options.values, &values)
        for i in range(values.count):
            found.append((<const char *>values.at[i])[:values.size[i]] if values.size[i] >= 0 else None)
        value = self.whole_of(found) if number == WHOLE_RESULT else found[number]
        return value, placed & ((<size_t>1 << NUMBER_SHIFT) - 1)

    cdef object exception(self, str code, str reason, object input, size_t offset):
        # Text is not packed: an error in a packed row has the bytes of the row.
        if self.tuple_options.values.packed:
            input, at = self.input_at(input, offset)
            input = b"" if input is None else input
            if self.text and code != "surrogate":
                at = len(input[:at].decode("utf-8", "replace"))
            return self.error(reason, input.decode("utf-8", "replace") if self.text else input, at)
        return self.error(reason, input, offset)


# --- writing rows -----------------------------------------------------------------------------------------------------

# The values of a column, one after the other.
@cython.final
cdef class Reader:
    cdef object items           # of a list; None: of `chunks`
    cdef list chunks            # SourceRows
    cdef size_t chunk, row
    cdef Py_ssize_t count
    cdef bint needed
    cdef object value           # the current one
    cdef Bytes source
    cdef int64_t size
    cdef uint8_t utf8[UTF8_CAPACITY]

    def __dealloc__(self):
        release(&self.source)

    cdef int next_item(self, Py_ssize_t row, object missing, bint null_for_others) except -1:
        """Read the next item of a list."""
        cdef object item = self.items[row]
        release(&self.source)
        self.source.data = b""
        self.size = NULL_VALUE
        if item is None:
            self.value = None
            return 0
        if isinstance(item, str):
            self.value = item if type(item) is str else str.__str__(item)
            if utf8_of(<str>self.value, &self.source, self.utf8):
                self.size = <int64_t>self.source.size
            else:
                self.size = LONE_SURROGATE - first_surrogate(<str>self.value)
        elif PyObject_CheckBuffer(item) and not (missing is not None and missing(item)):
            self.value = item if type(item) is bytes else copy_of_bytes(item)
            self.source.data, self.size = <const uint8_t *>PyBytes_AS_STRING(self.value), PyBytes_GET_SIZE(self.value)
        elif missing is not None and missing(item):
            self.value = None
        elif null_for_others:
            self.value, self.size = None, WRONG_TYPE
        else:
            raise TypeError(f"expected str, bytes-like or None at row {row}, got {type(item).__name__}")
        return 0

    cdef int next_row(self) except -1:
        """Read the next row of an Arrow column."""
        cdef SourceRows rows = <SourceRows>self.chunks[self.chunk]
        cdef size_t n
        while self.row == rows.source.count:
            self.chunk, self.row = self.chunk + 1, 0
            rows = <SourceRows>self.chunks[self.chunk]
        self.size = NULL_VALUE
        if not is_null(&rows.source, self.row):
            if not row_at(&rows.source, self.row, &self.source.data, &n):
                raise ValueError("the Arrow array has decreasing offsets, or views or indices out of range")
            self.size = <int64_t>n
        self.row += 1
        return 0


@cython.final
cdef class Tuples:
    """Columns side by side, as rows of several values.

    Args:
        columns (list): Each a list or tuple of str, bytes-like and None, or an Arrow object. All have the same length.
        names (list[str]): Their names, for errors.
        needed (list[bool]): Whether a row is null if the value is null.
        mixes (bool): Whether a row of lists may have both str and bytes-like.
        null_for_others (bool): Whether a value of another type makes a row invalid; otherwise it is a TypeError.
        missing (Callable[[object], bool] | None): As in `ListWork`.

    Attributes:
        array (Array): The rows, as an array of Arrow.
        format (bytes): The type of a result of text: that of the first column, but no views and no dictionary.
        table (bool): Whether the first column is that of a table.
        text (list[bool] | bool): Whether rows are text, those of the first column; for a list whose rows differ, a list.
    """

    cdef readonly Array array
    cdef readonly bytes format
    cdef readonly bytes name
    cdef readonly bint table
    cdef readonly object text

    def __cinit__(self, list columns not None, list names not None, list needed not None, mixes, null_for_others,
                  missing=None):
        cdef list readers = [], arrays, is_text = []
        cdef Reader reader
        cdef Type whole, type
        cdef object column
        cdef int number
        for number in range(len(columns)):
            reader = Reader()
            reader.needed = needed[number]
            column = columns[number]
            if isinstance(column, (list, tuple)):
                reader.items, reader.count = column, len(column)
            else:
                arrays = []
                whole, type = read_column(column, arrays)
                reader.chunks = []
                for array in arrays:
                    reader.chunks.append(rows_of(<Array>array, type))
                    reader.count += <Py_ssize_t>(<Array>array).length
                if number == 0:
                    self.set_type(whole, type)
            readers.append(reader)
            if reader.count != (<Reader>readers[0]).count:
                raise ValueError(f"{names[number]} must have as many rows as the column, {(<Reader>readers[0]).count}, got "
                                 f"{reader.count}")
        self.fill(readers, names, mixes, null_for_others, missing, is_text)
        if self.format is None:
            self.name = b""
            self.text = is_text
            if True not in is_text or False not in is_text:
                self.text = True in is_text or not is_text
            self.format = b"u" if self.text is True else b"z"

    def row(self, Py_ssize_t number):
        """Return a row, with its header."""
        cdef const int64_t *offsets = <const int64_t *>self.array.buffers[1]
        if not 0 <= number < self.array.length:
            raise IndexError(number)  # pragma: no cover: cannot happen
        return (<const char *>self.array.buffers[2])[offsets[number]:offsets[number + 1]]

    cdef int set_type(self, Type whole, Type type) except -1:
        cdef Type values = type if type.dictionary is None else type.dictionary
        self.text = bool(LAYOUTS[values.format][1])
        self.format = b"u" if self.text else b"z"
        if values.format in (b"U", b"Z"):
            self.format = values.format
        self.table, self.name = whole.format == b"+s", type.name
        return 0

    cdef int fill(self, list readers, list names, bint mixes, bint null_for_others, missing, list is_text) except -1:
        cdef ArrowBuffers buffers = ArrowBuffers()
        cdef Buffer *valid = &buffers.first
        cdef Buffer *offsets = &buffers.second
        cdef Buffer *data = &buffers.third
        cdef Reader reader, first = readers[0]
        cdef Py_ssize_t row, count = first.count
        cdef bint null, any_null = False
        cdef int kind, wanted
        fill_zeros(valid, (<size_t>count + 7) // 8)
        fill_zeros(offsets, 8 * (<size_t>count + 1))
        reserve(data, 8)
        for row in range(count):
            null, wanted = False, -1
            for reader in readers:
                if reader.items is None:
                    reader.next_row()
                else:
                    reader.next_item(row, missing, null_for_others)
                    if reader.value is not None and not mixes:
                        kind = type(reader.value) is str
                        if wanted >= 0 and wanted != kind:
                            raise TypeError(f"expected only str or only bytes-like at row {row}, got both")
                        wanted = kind
                null |= reader.needed and reader.size == NULL_VALUE
            if first.items is not None:
                is_text.append(None if first.value is None else type(first.value) is str)
            if not null:
                valid.data[row >> 3] |= 1 << (row & 7)
                for reader in readers:
                    append(data, &reader.size, sizeof(int64_t))
                for reader in readers:
                    if reader.size > 0:
                        append(data, reader.source.data, <size_t>reader.size)
            any_null |= null
            (<int64_t *>offsets.data)[row + 1] = <int64_t>data.size
        reserve(data, WIDE)
        self.array = Array()
        self.array.length, self.array.nulls = count, -1 if any_null else 0
        self.array.set_buffers(3)
        if any_null:
            self.array.buffers[0] = hold(self.array, valid)
        self.array.buffers[1] = hold(self.array, offsets)
        self.array.buffers[2] = hold(self.array, data)
        return 0
