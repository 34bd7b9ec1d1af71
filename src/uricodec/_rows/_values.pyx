"""Python objects of the rows of Arrow arrays: str, bytes, bool, int, and a dict for each struct; None for a null.

They are read from the buffers of the types that operations give, so that a column can be looked at without a library.
"""
from libc.stdint cimport int64_t, uint8_t

from uricodec._rows._arrow cimport *
from uricodec._rows._arrow_join cimport child_of
from uricodec._rows._engine cimport *
from uricodec._rows._tasks cimport LAYOUTS, Rows, rows_of

# The types, as pyarrow calls them.
cdef dict NAMES = {
    b"u": "string", b"U": "large_string", b"vu": "string_view", b"z": "binary", b"Z": "large_binary", b"vz": "binary_view",
    b"n": "null", b"b": "bool", b"w:16": "fixed_size_binary[16]", b"c": "int8", b"C": "uint8", b"s": "int16",
    b"S": "uint16", b"i": "int32", b"I": "uint32", b"l": "int64", b"L": "uint64",
}


cdef str name_of(Type type):
    """What pyarrow calls a type, without the types of fields; the format of Arrow for one that operations do not give."""
    cdef Type child
    if type.dictionary is not None:
        return f"dictionary<values={name_of(type.dictionary)}, indices={NAMES.get(type.format)}>"
    if type.format == b"+s":
        fields = [child.name.decode("utf-8", "replace") for child in type.children]
        return f"struct<{', '.join(fields)}>"
    return NAMES.get(type.format) or repr(type.format.decode("latin-1"))


cdef inline bint has_row(Array array, int64_t i) noexcept:
    cdef const uint8_t *valid = <const uint8_t *>array.buffers[0]
    if array.nulls == 0 or valid == NULL:
        return True
    return valid[(array.offset + i) >> 3] >> ((array.offset + i) & 7) & 1


cdef list values_of(Type type, Array array, int64_t start, int64_t stop, errors):
    """The values of rows start to stop, which are rows of the array. `errors` is for text that is not UTF-8."""
    cdef int64_t i
    cdef const uint8_t *data
    if type.dictionary is not None or type.format in LAYOUTS:
        return texts_of(rows_of(array, type), start, stop, errors)
    if type.format not in (b"b", b"l", b"w:16", b"+s"):
        raise TypeError(f"expected a column of text, bytes, bool, int64 or structs, got {name_of(type)}")
    if type.format == b"+s":
        return structs_of(type, array, start, stop, errors)
    data = <const uint8_t *>array.buffers[1]
    if type.format == b"b":
        return [bool(data[(array.offset + i) >> 3] >> ((array.offset + i) & 7) & 1) if has_row(array, i) else None
                for i in range(start, stop)]
    if type.format == b"l":
        return [(<const int64_t *>data)[array.offset + i] if has_row(array, i) else None for i in range(start, stop)]
    return [(<const char *>data)[16 * (array.offset + i):16 * (array.offset + i + 1)] if has_row(array, i) else None
            for i in range(start, stop)]


cdef list texts_of(Rows rows, int64_t start, int64_t stop, errors):
    cdef const uint8_t *src
    cdef size_t n
    cdef int64_t i
    cdef list values = []
    for i in range(start, stop):
        if is_null(&rows.source, <size_t>i):
            values.append(None)
            continue
        if not row_at(&rows.source, <size_t>i, &src, &n):
            raise ValueError("the Arrow array has offsets that are in no order, or views or indices of what is not there")
        values.append(src[:n].decode("utf-8", errors) if rows.source.text else (<const char *>src)[:n])
    return values


cdef list structs_of(Type type, Array array, int64_t start, int64_t stop, errors):
    cdef int64_t i
    cdef int field
    cdef list parts = [values_of(type.children[field], child_of(array, field), start, stop, errors)
                       for field in range(len(type.children))]
    names = [(<Type>child).name.decode("utf-8", "replace") for child in type.children]
    return [{name: part[i - start] for name, part in zip(names, parts)} if has_row(array, i) else None
            for i in range(start, stop)]
