# distutils: extra_compile_args=-Os
"""How two references are related: whether their normal forms are equal, and if not, how much of them is.

    a = b                                   equal
    form of a = form of b                   equivalent
    the same without fragments              same-document
    the same without queries, too           same-path
    the same scheme, host and port          same-origin
    the same host                           same-host
"""
cimport cython
from libc.stdint cimport uint8_t
from libc.string cimport memcmp, memcpy

from uricodec._base._text cimport *
from uricodec._rows._engine cimport *
from uricodec._rows._tuples cimport *
from uricodec._rows._single cimport Single, text_of
from uricodec.uri._equivalence cimport find_form
from uricodec._url._grammar cimport Authority, Parts, find_authority, find_parts
from uricodec.uri._keys cimport KEY_EXTRA, KEY_FACTOR
from uricodec.uri._tuple_rows cimport TupleRows, read_tuple

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from cpython.mem cimport PyMem_RawFree, PyMem_RawMalloc

from uricodec._rows._tuples import EACH_ROW
from uricodec.uri._equivalence import key

cdef extern from "Python.h":
    void *PyErr_NoMemory() noexcept


RELATIONS = ("equal", "equivalent", "same-document", "same-path", "same-origin", "same-host", "different")

cdef enum Relation:
    EQUAL, EQUIVALENT, SAME_DOCUMENT, SAME_PATH, SAME_ORIGIN, SAME_HOST, DIFFERENT

cdef enum:
    FORM_CAPACITY = KEY_FACTOR * SMALL + KEY_EXTRA + WIDE     # most forms of SMALL bytes need no more
    LONGEST_RELATION = 16

cdef struct Word:
    size_t size
    uint8_t text[LONGEST_RELATION]

cdef Word[7] RELATION_WORDS
cdef int number
for number in range(7):
    RELATION_WORDS[number].size = <size_t>len(RELATIONS[number])
    memcpy(RELATION_WORDS[number].text, PyBytes_AS_STRING(RELATIONS[number].encode()), RELATION_WORDS[number].size)


# Options of the row functions.
cdef struct PairOptions:
    TupleOptions tuple          # must be first
    Single form
    bint only_equivalent


cdef inline bint is_same(const uint8_t *a, Py_ssize_t a_start, Py_ssize_t a_end, const uint8_t *b, Py_ssize_t b_start,
                         Py_ssize_t b_end) noexcept nogil:
    return a_end - a_start == b_end - b_start and memcmp(a + a_start, b + b_start, <size_t>(a_end - a_start)) == 0


cdef Relation relation_of(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size) noexcept nogil:
    """Return the relation of two normal forms that differ."""
    cdef Parts x, y
    cdef Authority of_x, of_y
    find_parts(a, a_size, &x)
    find_parts(b, b_size, &y)
    if is_same(a, 0, x.query_end, b, 0, y.query_end):
        return SAME_DOCUMENT
    if is_same(a, 0, x.path_end, b, 0, y.path_end):
        return SAME_PATH
    if x.authority < 0 or y.authority < 0:
        return DIFFERENT
    # An authority with misplaced delimiters is its own host.
    if not find_authority(a, x.authority, x.path, &of_x):
        of_x.host, of_x.host_end = x.authority, x.path
    if not find_authority(b, y.authority, y.path, &of_y):
        of_y.host, of_y.host_end = y.authority, y.path
    if not is_same(a, of_x.host, of_x.host_end, b, of_y.host, of_y.host_end):
        return DIFFERENT
    if x.scheme_end < 0 or not is_same(a, 0, x.scheme_end, b, 0, max(y.scheme_end, <Py_ssize_t>0)):
        return SAME_HOST
    return SAME_ORIGIN if is_same(a, of_x.host_end, x.path, b, of_y.host_end, y.path) else SAME_HOST


cdef void no_memory(Outcome *outcome) noexcept with gil:  # pragma: no cover: no memory
    PyErr_NoMemory()
    outcome.code = UC_RAISED


cdef int relate(const Values *values, const PairOptions *pair, Outcome *outcome) noexcept nogil:
    """Return the Relation of the two values of a row; -1 if one of them has no normal form."""
    cdef uint8_t buffer[2 * FORM_CAPACITY]
    cdef uint8_t *memory[2]
    cdef const uint8_t *forms[2]
    cdef size_t sizes[2]
    cdef size_t capacity[2]
    cdef const SizedRow *operation = pair.form.operation
    cdef uint8_t *heap = NULL
    cdef int i, found = DIFFERENT
    cdef bint equal = values.size[0] == values.size[1] and memcmp(values.at[0], values.at[1], <size_t>values.size[0]) == 0
    if equal and not pair.form.rejects:
        return EQUAL
    for i in range(2):
        capacity[i] = operation.factor * <size_t>values.size[i] + operation.extra + WIDE
    if capacity[0] <= FORM_CAPACITY and capacity[1] <= FORM_CAPACITY:
        memory[0], memory[1] = buffer, buffer + FORM_CAPACITY
    else:
        heap = <uint8_t *>PyMem_RawMalloc(capacity[0] + capacity[1])
        if heap == NULL:
            no_memory(outcome)  # pragma: no cover: no memory
            return -1  # pragma: no cover: no memory
        memory[0], memory[1] = heap, heap + capacity[0]
    for i in range(2):
        if pair.form.stays != NULL and pair.form.stays(values.at[i], <size_t>values.size[i], pair.form.options):
            forms[i], sizes[i] = values.at[i], <size_t>values.size[i]
            continue
        forms[i] = memory[i]
        sizes[i] = operation.row(values.at[i], <size_t>values.size[i], pair.form.options, memory[i], outcome)
        if sizes[i] == UC_REJECTED:
            if outcome.code != UC_RAISED and pair.tuple.values.packed:
                outcome.offset = place(i, outcome.offset)
            found = -1
            break
    if found < 0:
        pass
    elif equal:
        found = EQUAL
    elif sizes[0] == sizes[1] and memcmp(forms[0], forms[1], sizes[0]) == 0:
        found = EQUIVALENT
    elif not pair.only_equivalent:
        found = relation_of(forms[0], sizes[0], forms[1], sizes[1])
    PyMem_RawFree(heap)
    return found


cdef size_t equivalent_tuple(const uint8_t *src, size_t n, const void *options, uint8_t *dst,
                             Outcome *outcome) noexcept nogil:
    cdef Values values
    cdef int found
    if not read_tuple(src, n, options, &values, outcome):
        return UC_REJECTED
    found = relate(&values, <const PairOptions *>options, outcome)
    if 0 <= found <= EQUIVALENT:
        return 0
    if found > EQUIVALENT:
        outcome.code, outcome.offset = UC_FALSE, 0
    return UC_REJECTED


cdef size_t relation_tuple(const uint8_t *src, size_t n, const void *options, uint8_t *dst, Outcome *outcome) noexcept nogil:
    cdef Values values
    cdef int found
    if not read_tuple(src, n, options, &values, outcome):
        return UC_REJECTED
    found = relate(&values, <const PairOptions *>options, outcome)
    if found < 0:
        return UC_REJECTED
    memcpy(dst, RELATION_WORDS[found].text, LONGEST_RELATION)
    return RELATION_WORDS[found].size


cdef class PairRows(TupleRows):
    """Base class of the operations on two references."""
    cdef PairOptions options
    cdef object policy      # what the form refers to

    cdef int set_pair(self, object other, object level, object policy, bint text) except -1:
        if policy is not None and not isinstance(policy, str):
            self.policy = policy
        self.options.form = find_form(level, policy, &self.options.form)[0]
        self.set_values(&self.options.tuple, (EACH_ROW, other), text)
        return 0


@cython.final
cdef class EquivalentRows(PairRows):
    """Operation that compares references by their normal forms.

    Args:
        other (str | bytes-like): What they are compared with; EACH_ROW: what is in the row.
        level, policy: See `normalize`.
        text (bool): Whether rows are text.

    Source: RFC 3986 section 6.1.
    """

    def __cinit__(self, other, level, policy, text):
        self.slots.strict, self.slots.result = SizedRow(equivalent_tuple, 0, 0), WRITES_NOTHING
        self.options.only_equivalent = True
        self.set_pair(other, level, policy, text)


@cython.final
cdef class RelationRows(PairRows):
    """Operation that returns how references are related.

    Args:
        other, level, text: As in `EquivalentRows`.

    Source: RFC 3986 sections 4.4 and 6.1; RFC 6454 section 4.
    """

    def __cinit__(self, other, level, text):
        self.slots.strict = SizedRow(relation_tuple, 0, LONGEST_RELATION)
        self.set_pair(other, level, None, text)


def relation(a, b, level="scheme"):
    """Return how two references are related.

    Args:
        a (str | bytes-like): A reference.
        b (str | bytes-like): Another one, which may be of the other type.
        level (str): What the normal forms merge: see `normalize`.

    Returns:
        str: The first of these that is true: "equal" (the same text); "equivalent" (the same normal form);
            "same-document" (the same but for the fragment); "same-path" (but for query and fragment); "same-origin" (the
            same scheme, host and port); "same-host"; "different".

    Raises:
        UriSyntaxError: If a str contains a lone surrogate, or, at level "rfc1630", a "%" is not followed by two
            hexadecimal digits.
        ValueError: If the level is unknown.

    Source: RFC 3986 sections 4.4 and 6.1; RFC 6454 section 4.

    >>> from uricodec import uri
    >>> uri.relation("http://a/b", "HTTP://a:80/b"), uri.relation("http://a/b?c", "http://a/b?c#d")
    ('equivalent', 'same-document')
    >>> uri.relation("http://a/b?c", "http://a/b"), uri.relation("http://me@a/b", "http://a/")
    ('same-path', 'same-origin')
    >>> uri.relation("http://a/", "https://a/"), uri.relation("/a", "/b")
    ('same-host', 'different')
    """
    form, other = key(a, level), key(b, level)      # raise for what has no normal form
    if same_bytes(text_of(a), text_of(b)):
        return RELATIONS[0]
    if same_bytes(form, other):
        return RELATIONS[1]
    first = form.encode() if isinstance(form, str) else form
    second = other.encode() if isinstance(other, str) else other
    return RELATIONS[<int>relation_of(
        <const uint8_t *>PyBytes_AS_STRING(first), <size_t>PyBytes_GET_SIZE(first),
        <const uint8_t *>PyBytes_AS_STRING(second), <size_t>PyBytes_GET_SIZE(second))]


relation.__module__ = "uricodec.uri"        # pickled by reference to its public name
