# distutils: extra_compile_args=-Os
"""Conditions on the fields of records: which records are written.

A value is compared as it is written. Only "field=" is met by a missing value, and by an empty one; "field!=" by the others.
"""
from libc.stdint cimport int64_t, uint16_t, uint8_t
from libc.string cimport memcmp, memset

from cpython.ref cimport Py_DECREF

from uricodec._base._cpython cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE, PyErr_Clear, PyObject
from uricodec.logs._fields cimport *
from uricodec.logs._texts cimport *
from uricodec._url._addresses cimport parse_ipv4, parse_ipv6


cdef extern from "Python.h":
    # Without `except`: the caller looks at the result.
    PyObject *PyObject_CallOneArg(object callable, object argument) noexcept
    PyObject *PyDict_GetItem(object known, object key) noexcept
    void PyErr_SetInterrupt() noexcept

cdef dict OPERATORS = {"=": EQUAL, "!=": UNEQUAL, "<": LESS, "<=": AT_MOST, ">": MORE, ">=": AT_LEAST, "^=": BEGINS, "*=": CONTAINS}


cdef bint read_address(const uint8_t *s, size_t n, uint16_t *groups) noexcept nogil:
    """Read an address; IPv4 as ::ffff:0:0/96. False: it is not one."""
    memset(groups, 0, 16)
    groups[5] = 0xFFFF
    return parse_ipv4(s, 0, n, groups + 6) or n > 1 and parse_ipv6(s, n, groups)


cdef bint is_mapped(const uint16_t *groups) noexcept nogil:
    """Return whether an address is one of IPv4, in ::ffff:0:0/96."""
    cdef int i
    for i in range(5):
        if groups[i]:
            return False
    return groups[5] == 0xFFFF


cdef int set_condition(Filter *filter, object condition, list kept) except -1:
    """Set the rest of a filter, whose field is set. `kept` gets what it points to.

    Args:
        filter (Filter *): The filter.
        condition (Condition): What the field is compared with.
    """
    cdef bytes text = condition.value.encode("utf-8", "surrogateescape")
    cdef int i, bits
    kept.append(text)
    filter.is_negated = condition.operator in ("!^=", "!*=", "!~=")
    filter.operator = OPERATORS.get(condition.operator[1:] if filter.is_negated else condition.operator, MATCHES)
    filter.text = text_of(<const uint8_t *>PyBytes_AS_STRING(text), PyBytes_GET_SIZE(text))
    filter.comparison = AS_TEXT
    for i in range(FLAGS):
        if text == FLAG_TEXTS[i].name[:FLAG_TEXTS[i].n]:
            filter.flags = 1 << i
    if condition.number is not None:
        filter.comparison, filter.number = AS_NUMBER, condition.number
        filter.is_whole = condition.number == int(condition.number)
        filter.whole = int(condition.number)
    elif condition.moment is not None:
        filter.comparison, filter.whole = AS_MOMENT, condition.moment
    elif condition.search is not None:
        known = {}
        kept += [condition.search, known]
        filter.comparison, filter.search, filter.known = AS_PATTERN, <PyObject *>condition.search, <PyObject *>known
    elif condition.network is not None:
        address, bits = condition.network
        filter.comparison = AS_ADDRESS
        address = address.encode()
        if not read_address(address, len(address), filter.address):
            raise ValueError(f"expected an address, got {address.decode()!r}")
        for i in range(8):
            filter.mask[i] = <uint16_t>(0xFFFF0000 >> min(max(bits - 16 * i, 0), 16) & 0xFFFF)
            filter.address[i] &= filter.mask[i]
    return 0


cdef inline bint holds(Operator operator, int order) noexcept nogil:
    """Return whether a comparison holds, given the order of the value and that it is compared with: < 0, 0, > 0."""
    if operator == EQUAL:
        return order == 0
    if operator == UNEQUAL:
        return order != 0
    if operator == LESS:
        return order < 0
    if operator == AT_MOST:
        return order <= 0
    if operator == MORE:
        return order > 0
    return order >= 0


cdef bint matches_text(const Filter *filter, Text text) noexcept nogil:
    cdef const uint8_t *part = filter.text.at
    cdef size_t n = filter.text.n, i
    cdef int order
    if filter.operator == BEGINS:
        return text.n >= n and memcmp(text.at, part, n) == 0
    if filter.operator == CONTAINS:
        if n == 0:
            return True
        i = find(text.at, 0, text.n, part[0])
        while i < text.n and text.n - i >= n:
            if memcmp(text.at + i, part, n) == 0:
                return True
            i = find(text.at, i + 1, text.n, part[0])
        return False
    order = memcmp(text.at, part, min(text.n, n))
    return holds(filter.operator, order if order else (text.n > n) - (text.n < n))


cdef bint matches_number(const Filter *filter, Text text) noexcept nogil:
    cdef int64_t whole = 0
    cdef double number
    cdef size_t i
    if filter.field.kind != SECONDS_VALUE and filter.is_whole:
        for i in range(text.n):
            whole = 10 * whole + (text.at[i] - c'0')
        return holds(filter.operator, (whole > filter.whole) - (whole < filter.whole))
    number = seconds_of(text, 0)
    return holds(filter.operator, (number > filter.number) - (number < filter.number))


cdef bint matches_address(const Filter *filter, Text text) noexcept nogil:
    cdef uint16_t groups[8]
    cdef int i
    if not read_address(text.at, text.n, groups):
        return filter.operator == UNEQUAL
    for i in range(8):
        if groups[i] & filter.mask[i] != filter.address[i]:
            return filter.operator == UNEQUAL
    return filter.operator == EQUAL


cdef bint matches_moment(const Filter *filter, int64_t micros) noexcept nogil:
    """Return whether a time, in microseconds since 1970, meets a condition."""
    return holds(filter.operator, (micros > filter.whole) - (micros < filter.whole))


cdef enum:
    MOST_KNOWN = 1 << 14        # texts of a pattern that are remembered


cdef bint matches_pattern(const Filter *filter, Text text) noexcept with gil:
    """Return whether a text has the pattern. Texts repeat, so it is searched once in each of the last MOST_KNOWN ones.

    No function in Python is called, where an interrupt would be raised, and lost. A search raises one if it takes long:
    it is then raised when the lines have been read.
    """
    cdef dict known = <dict>filter.known
    cdef bytes key = PyBytes_FromStringAndSize(<const char *>text.at, <Py_ssize_t>text.n)
    cdef PyObject *found = PyDict_GetItem(known, key)
    if found != NULL:
        return <object>found is True
    found = PyObject_CallOneArg(<object>filter.search, key.decode("utf-8", "surrogateescape"))
    if found == NULL:
        PyErr_Clear()
        PyErr_SetInterrupt()
        return False
    if len(known) >= MOST_KNOWN:
        known.clear()
    known[key] = <object>found is not None
    Py_DECREF(<object>found)
    return known[key]


cdef inline bint matches_one(const Filter *filter, Text text) noexcept nogil:
    if filter.comparison == AS_PATTERN:
        return matches_pattern(filter, text)
    if filter.comparison == AS_NUMBER:
        return matches_number(filter, text)
    if filter.comparison == AS_ADDRESS:
        return matches_address(filter, text)
    return matches_text(filter, text)


cdef bint matches(const Filter *filter, Text text) noexcept nogil:
    """Return whether a record meets a condition, given the value of the field; NULL: it is missing.

    The addresses of `forwarded_for` are a list: one must meet the condition; with "!", all.
    """
    cdef Text address, port
    cdef bint found
    if text.at == NULL:
        return filter.operator == EQUAL and filter.text.n == 0
    if filter.field.kind != ADDRESSES_VALUE or filter.text.n == 0:
        return matches_one(filter, text) != filter.is_negated
    found = filter.operator == UNEQUAL
    while next_address(&text, &address, &port):
        if matches_one(filter, address) != found:
            found = not found
            break
    return found != filter.is_negated


cdef bint matches_flags(const Filter *filter, int flags) noexcept nogil:
    """Return whether a record meets a condition on its flags: it has the one that is named, or not."""
    if filter.text.n == 0:
        return (flags == 0) == (filter.operator == EQUAL)
    return (flags & filter.flags != 0) == (filter.operator == EQUAL)
