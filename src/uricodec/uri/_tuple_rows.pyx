# distutils: extra_compile_args=-Os
"""Row operations on several values: resolving, making references relative, joining components.

Each class holds the options of one operation at a fixed address, where its row function reads them. A value is that of
the row, or the same for all rows: `_rows/_tuples.pyx` says how rows of several values are made.
"""
cimport cython
from libc.stdint cimport uint8_t

from uricodec._base._text cimport append_bytes
from uricodec._rows._engine cimport *
from uricodec._rows._tuples cimport *
from uricodec._url._grammar cimport *
from uricodec.uri._normalize cimport scheme_end
from uricodec.uri._resolve cimport RESOLVE_EXTRA, Base, find_base, write_reference_to, write_target

from uricodec._rows._tuples import EACH_ROW
from uricodec.errors import UriSyntaxError


TUPLE_CODES = [*CODE_NAMES, "type", "path", "components"]
TUPLE_REASONS = [*REASONS, "expected str, bytes-like or None", "no reference resolves to a path with a dot segment",
                 "result would split into different components"]


cdef bint read_tuple(const uint8_t *src, size_t n, const void *options, Values *values, Outcome *outcome) noexcept nogil:
    cdef int i
    read_values(src, n, &(<const TupleOptions *>options).values, values)
    for i in range(values.count):
        if values.size[i] == WRONG_TYPE:
            outcome.code, outcome.offset = TYPE, place(i, 0)
            return False
        if values.size[i] <= LONE_SURROGATE:
            outcome.code, outcome.offset = SURROGATE, place(i, <size_t>(LONE_SURROGATE - values.size[i]))
            return False
    return True


cdef class TupleRows(TupleOperation):
    """A row operation on several values, with the codes of URIs and its own. The base class has no row function."""

    def __cinit__(self):
        self.code_names, self.reasons, self.error = TUPLE_CODES, TUPLE_REASONS, UriSyntaxError
        self.slots.block = NULL
        self.slots.utf8_code = UTF8


# --- references -------------------------------------------------------------------------------------------------------

cdef bint find_base_of(const Values *values, Base *base, Outcome *outcome) noexcept nogil:
    """Parse the second value, which is the base."""
    if find_base(values.at[1], <size_t>values.size[1], True, base):
        return True
    outcome.code, outcome.offset = SCHEME, place(1, scheme_end(values.at[1], <size_t>values.size[1]))
    return False


cdef size_t resolve_tuple(const uint8_t *src, size_t n, const void *options, uint8_t *dst, Outcome *outcome) noexcept nogil:
    cdef Values values
    cdef Base base
    if not read_tuple(src, n, options, &values, outcome) or not find_base_of(&values, &base, outcome):
        return UC_REJECTED
    return write_target(&base, values.at[0], <size_t>values.size[0], dst)


@cython.final
cdef class ResolveTuples(TupleRows):
    """Operation that resolves references, each against its own base.

    Args:
        text (bool): Whether rows are text.

    Source: RFC 3986 section 5.2.
    """
    cdef TupleOptions options

    def __cinit__(self, text):
        self.slots.strict = SizedRow(resolve_tuple, 1, RESOLVE_EXTRA)
        self.set_values(&self.options, (EACH_ROW, EACH_ROW), text)


cdef size_t relativize_tuple(const uint8_t *src, size_t n, const void *options, uint8_t *dst,
                             Outcome *outcome) noexcept nogil:
    cdef Values values
    cdef Base base
    cdef size_t size
    if not read_tuple(src, n, options, &values, outcome) or not find_base_of(&values, &base, outcome):
        return UC_REJECTED
    # The reference, and then the buffer.
    size = write_reference_to(&base, values.at[0], <size_t>values.size[0], dst, dst + values.size[0] + 1, outcome)
    if size == UC_REJECTED and outcome.code == PATH:
        outcome.code = DOT_SEGMENT
    return size


@cython.final
cdef class RelativizeRows(TupleRows):
    """Operation that makes references of URIs, relative to a base.

    Args:
        base (str | bytes-like): The base URI or IRI, with a scheme; EACH_ROW: that of the row.
        text (bool): Whether rows are text.

    Source: RFC 3986 section 4.2.
    """
    cdef TupleOptions options

    def __cinit__(self, base not None, text):
        cdef Base found
        self.slots.strict = SizedRow(relativize_tuple, 2, RESOLVE_EXTRA + 1)
        self.set_values(&self.options, (EACH_ROW, base), text)
        if base is not EACH_ROW and not find_base(self.options.values.at[1], <size_t>self.options.values.size[1], True, &found):
            raise UriSyntaxError("base URI has no scheme", base, 0)


# --- joining components -----------------------------------------------------------------------------------------------

# The order of the values; a path is what a row is without columns.
cdef enum:
    PATH_VALUE, SCHEME_VALUE, AUTHORITY_VALUE, QUERY_VALUE, FRAGMENT_VALUE


cdef inline uint8_t *put_value(uint8_t *dst, const Values *values, int i, const void *before, size_t n) noexcept nogil:
    """Write a component after its delimiter."""
    dst = append_bytes(dst, before, n)
    return append_bytes(dst, values.at[i], <size_t>values.size[i])


cdef inline size_t write_joined(const Values *values, uint8_t *dst, Parts *wanted) noexcept nogil:
    """Write the components (RFC 3986 section 5.3), and where each of them is. Return the size."""
    cdef uint8_t *start = dst
    wanted.scheme_end = wanted.authority = wanted.query = wanted.fragment = -1
    if values.size[SCHEME_VALUE] >= 0:
        dst = append_bytes(put_value(dst, values, SCHEME_VALUE, b"", 0), b":", 1)
        wanted.scheme_end = values.size[SCHEME_VALUE]
    if values.size[AUTHORITY_VALUE] >= 0:
        wanted.authority = dst + 2 - start
        dst = put_value(dst, values, AUTHORITY_VALUE, b"//", 2)
    wanted.path = dst - start
    dst = put_value(dst, values, PATH_VALUE, b"", 0)
    wanted.path_end = dst - start
    if values.size[QUERY_VALUE] >= 0:
        wanted.query = dst + 1 - start
        dst = put_value(dst, values, QUERY_VALUE, b"?", 1)
    wanted.query_end = dst - start
    if values.size[FRAGMENT_VALUE] >= 0:
        wanted.fragment = dst + 1 - start
        dst = put_value(dst, values, FRAGMENT_VALUE, b"#", 1)
    return <size_t>(dst - start)


cdef inline bint differ(Py_ssize_t wanted, Py_ssize_t found, size_t *offset) noexcept nogil:
    if wanted == found:
        return False
    offset[0] = <size_t>(found if wanted < 0 else wanted if found < 0 else min(wanted, found))
    return True


cdef bint differs(const Parts *wanted, const Parts *found, size_t *offset) noexcept nogil:
    """Return whether the parts differ, and the offset from which on they do."""
    # "//" is part of the authority here: without one, parsing differs from that offset on.
    return (differ(wanted.scheme_end, found.scheme_end, offset)
            or differ(wanted.authority - 2 * (wanted.authority >= 0), found.authority - 2 * (found.authority >= 0), offset)
            or differ(wanted.path, found.path, offset) or differ(wanted.path_end, found.path_end, offset)
            or differ(wanted.query_end, found.query_end, offset) or differ(wanted.fragment, found.fragment, offset))


cdef size_t unsplit_tuple(const uint8_t *src, size_t n, const void *options, uint8_t *dst, Outcome *outcome) noexcept nogil:
    cdef const TupleOptions *given = <const TupleOptions *>options
    cdef Values values
    cdef Parts wanted, found
    cdef size_t size
    if not read_tuple(src, n, options, &values, outcome):
        return UC_REJECTED
    size = write_joined(&values, dst, &wanted)
    if not read_bytes(dst, size, URI_SYNTAX, REFERENCE, &found, outcome):
        pass
    elif differs(&wanted, &found, &outcome.offset):
        outcome.code = STRUCTURE
    else:
        return size
    outcome.offset = place(WHOLE_RESULT if given.values.packed else 0, outcome.offset)
    return UC_REJECTED


@cython.final
cdef class UnsplitRows(TupleRows):
    """Operation that joins components to references.

    Args:
        scheme, authority, query, fragment (str | bytes-like | None): The components besides the path, which is the row;
            None: undefined; EACH_ROW: that of the row.
        text (bool): Whether rows are text.

    Source: RFC 3986 section 5.3.
    """
    cdef TupleOptions options

    def __cinit__(self, scheme, authority, query, fragment, text):
        self.slots.strict = SizedRow(unsplit_tuple, 1, 8)
        self.set_values(&self.options, (EACH_ROW, scheme, authority, query, fragment), text)
        self.joins = True

    cdef object whole_of(self, list values):
        """Return the joined text."""
        path, scheme, authority, query, fragment = values
        pieces = [b"" if scheme is None else scheme + b":", b"" if authority is None else b"//" + authority, path,
                  b"" if query is None else b"?" + query, b"" if fragment is None else b"#" + fragment]
        return b"".join(pieces)

    cdef size_t characters(self, const uint8_t *src, size_t n, size_t offset) except? UC_REJECTED:
        """Return an offset in the joined text."""
        cdef bytes whole = self.whole_of([(<const char *>src)[:n], *self.fixed[1:]])
        return <size_t>len(whole[:offset].decode("utf-8", "replace"))

    cdef object exception(self, str code, str reason, object input, size_t offset):
        """Return the error of a path by itself, too, which is in the joined text."""
        if self.options.values.packed:
            return TupleRows.exception(self, code, reason, input, offset)
        path = input.encode("utf-8", "surrogatepass") if isinstance(input, str) else bytes(input)
        whole = self.whole_of([path, *self.fixed[1:]])
        return UriSyntaxError(reason, whole.decode("utf-8", "surrogatepass") if isinstance(input, str) else whole, offset)
