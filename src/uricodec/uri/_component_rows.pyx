"""Rows that are checked or taken apart as URIs or IRIs (RFC 3986, RFC 3987): see _rows.pxd for what a row is."""
from libc.stdint cimport uint8_t

from uricodec._records._quoting cimport starts_formula
from uricodec._rows._engine cimport UC_REJECTED, Component, Operation, Outcome
from uricodec._base._text cimport copy_text
from uricodec.uri._components cimport CODE_NAMES, production_of
from uricodec.uri._grammar cimport *

from cpython.buffer cimport PyBUF_SIMPLE, PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytes cimport PyBytes_AS_STRING

from uricodec.uri._components import Fault


COLUMNS = ("scheme", "authority", "userinfo", "host", "port", "path", "query", "fragment")
cdef enum:
    FIELDS = 8

# What stands before the value of each column in a JSON object.
cdef list KEYS = [f'{"," if i else "{"}"{name}":'.encode() for i, name in enumerate(COLUMNS)]
cdef const uint8_t *key[FIELDS]
cdef size_t key_size[FIELDS]
cdef int number
for number in range(FIELDS):
    key[number], key_size[number] = <const uint8_t *>PyBytes_AS_STRING(KEYS[number]), <size_t>len(KEYS[number])

cdef size_t check_row(const uint8_t *src, size_t n, const void *options, uint8_t *dst, Outcome *outcome) noexcept nogil:
    cdef const Grammar *grammar = <const Grammar *>options
    cdef Parts parts
    return 0 if read_octets(src, n, grammar.syntax, grammar.production, &parts, outcome) else UC_REJECTED


cdef inline void set_field(Component *field, Py_ssize_t start, Py_ssize_t end) noexcept nogil:
    field.start, field.end = start, end


cdef bint read_fields(const uint8_t *src, size_t n, const Grammar *grammar, Component *fields,
                      Outcome *outcome) noexcept nogil:
    cdef Parts parts
    cdef Authority authority
    if not read_octets(src, n, grammar.syntax, grammar.production, &parts, outcome):
        return False
    authority.userinfo_end = authority.host = authority.host_end = authority.port = -1
    if parts.authority >= 0:
        find_authority(src, parts.authority, parts.path, &authority)
    set_field(fields, 0 if parts.scheme_end >= 0 else -1, parts.scheme_end)
    set_field(fields + 1, parts.authority, parts.path)
    set_field(fields + 2, parts.authority if authority.userinfo_end >= 0 else -1, authority.userinfo_end)
    set_field(fields + 3, authority.host, authority.host_end)
    set_field(fields + 4, authority.port, parts.path)
    set_field(fields + 5, parts.path, parts.path_end)
    set_field(fields + 6, parts.query, parts.query_end)
    set_field(fields + 7, parts.fragment, parts.end)
    return True


cdef size_t split_row(const uint8_t *src, size_t n, const void *options, uint8_t *dst, Outcome *outcome) noexcept nogil:
    if not read_fields(src, n, <const Grammar *>options, <Component *>dst, outcome):
        return UC_REJECTED
    return FIELDS * sizeof(Component)


cdef inline uint8_t *put(uint8_t *dst, const uint8_t *src, size_t n) noexcept nogil:
    copy_text(dst, src, n)
    return dst + n


cdef uint8_t *put_quoted(uint8_t *dst, const uint8_t *src, const Component *field) noexcept nogil:
    # No URI and no IRI has a quote, a backslash or a control: there is nothing to escape, in JSON as in CSV.
    dst[0] = c'"'
    dst = put(dst + 1, src + field.start, <size_t>(field.end - field.start))
    dst[0] = c'"'
    return dst + 1


cdef size_t jsonl_row(const uint8_t *src, size_t n, const void *options, uint8_t *dst, Outcome *outcome) noexcept nogil:
    """A JSON object; null is what is undefined."""
    cdef Component fields[FIELDS]
    cdef uint8_t *start = dst
    cdef int i
    if not read_fields(src, n, <const Grammar *>options, fields, outcome):
        return UC_REJECTED
    for i in range(FIELDS):
        dst = put(dst, key[i], key_size[i])
        if fields[i].start < 0:
            dst = put(dst, <const uint8_t *>b"null", 4)
        else:
            dst = put_quoted(dst, src, fields + i)
    dst[0] = c'}'
    return <size_t>(dst + 1 - start)


cdef uint8_t *put_safe(uint8_t *dst, const uint8_t *src, const Component *field) noexcept nogil:
    cdef uint8_t *end
    if not starts_formula(src + field.start, <size_t>(field.end - field.start)):
        return put_quoted(dst, src, field)
    end = put_quoted(dst + 1, src, field)
    dst[0], dst[1] = c'"', c"'"
    return end


cdef inline size_t put_csv(const uint8_t *src, size_t n, const void *options, bint safe, uint8_t *dst,
                           Outcome *outcome) noexcept nogil:
    """Values with commas between them (RFC 4180): nothing for what is undefined, quotes around all others."""
    cdef Component fields[FIELDS]
    cdef uint8_t *start = dst
    cdef int i
    if not read_fields(src, n, <const Grammar *>options, fields, outcome):
        return UC_REJECTED
    for i in range(FIELDS):
        if i:
            dst[0] = c','
            dst += 1
        if fields[i].start >= 0:
            dst = put_safe(dst, src, fields + i) if safe else put_quoted(dst, src, fields + i)
    return <size_t>(dst - start)


cdef size_t csv_row(const uint8_t *src, size_t n, const void *options, uint8_t *dst, Outcome *outcome) noexcept nogil:
    return put_csv(src, n, options, False, dst, outcome)


cdef size_t safe_csv_row(const uint8_t *src, size_t n, const void *options, uint8_t *dst,
                         Outcome *outcome) noexcept nogil:
    return put_csv(src, n, options, True, dst, outcome)


# What is in an authority is written twice.
CHECK_ROW.row, CHECK_ROW.factor, CHECK_ROW.extra = check_row, 0, 0
SPLIT_ROW.row, SPLIT_ROW.factor, SPLIT_ROW.extra = split_row, 0, FIELDS * sizeof(Component)
SPLIT_JSONL_ROW.row, SPLIT_JSONL_ROW.factor, SPLIT_JSONL_ROW.extra = jsonl_row, 2, sum(map(len, KEYS)) + 4 * FIELDS + 1
SPLIT_CSV_ROW.row, SPLIT_CSV_ROW.factor, SPLIT_CSV_ROW.extra = csv_row, 2, 3 * FIELDS - 1
SPLIT_SAFE_CSV_ROW.row, SPLIT_SAFE_CSV_ROW.factor, SPLIT_SAFE_CSV_ROW.extra = safe_csv_row, 2, 4 * FIELDS - 1


def run_row(name, src, dst, production, iri=False):
    """Run one row on buffers. For tests: everything else has rows in loops.

    Args:
        name (str): "check", "jsonl", "csv" or "safe csv".
        src (bytes-like): The input.
        dst (bytes-like): A writable buffer for the output.
        production (str): As of `check` or, for an IRI, `check_iri`.
        iri (bool): Whether it is an IRI.

    Returns:
        int | Fault: How many octets were written, or why none.

    Raises:
        ValueError: dst is too small; there is no such row or production.

    >>> buffer = bytearray(100)
    >>> bytes(buffer[:run_row("csv", b"http://a@b?", buffer, "URI")])
    b'"http","a@b","a","b",,"","",'
    """
    cdef dict rows = {"check": 0, "jsonl": 1, "csv": 2, "safe csv": 3}
    cdef Operation[4] operations = [CHECK_ROW, SPLIT_JSONL_ROW, SPLIT_CSV_ROW, SPLIT_SAFE_CSV_ROW]
    cdef Operation *operation
    cdef Py_buffer source, target
    cdef Grammar grammar
    cdef Outcome outcome
    cdef size_t written
    if name not in rows:
        raise ValueError(f"no row {name!r}")
    operation = operations + <int>rows[name]
    grammar.syntax = IRI_SYNTAX if iri else URI_SYNTAX
    grammar.production = <Production>production_of(production, grammar.syntax)
    PyObject_GetBuffer(src, &source, PyBUF_SIMPLE)
    try:
        PyObject_GetBuffer(dst, &target, PyBUF_WRITABLE)
        try:
            if <size_t>target.len < operation.factor * <size_t>source.len + operation.extra:
                raise ValueError("dst is too small")
            with nogil:
                written = operation.row(<const uint8_t *>source.buf, <size_t>source.len, &grammar,
                                        <uint8_t *>target.buf, &outcome)
        finally:
            PyBuffer_Release(&target)
    finally:
        PyBuffer_Release(&source)
    if written == UC_REJECTED:
        return Fault(CODE_NAMES[outcome.code], <Py_ssize_t>outcome.offset)
    return <Py_ssize_t>written
