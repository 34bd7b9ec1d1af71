"""Policies for URLs: steps after the normal form of a level, in one loop over the bytes of the form.

The form is rewritten in place, from left to right: scheme, authority, path, query, fragment. Each step deletes bytes, or
changes letters; only "https" for "http" adds one, so the form is written one byte after the start of the output, and the
output never overtakes what is still to be read. If parameters are not in their order yet, they are sorted last, through
a copy of the query.

What is left of each component is in normal form, and none is joined to another, so that a second run changes nothing:
Policy (_policies.py) documents the conditions of each step that this needs.
"""
cimport cython
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc, qsort
from libc.string cimport memchr, memcmp, memcpy, memmove

from uricodec._base._kernels cimport ByteSet, kernels, lower, uc_set
from uricodec._rows._engine cimport UC_RAISED, UC_REJECTED, Outcome, RowOperation
from uricodec.uri._components cimport CODE_NAMES, REASONS
from uricodec.uri._grammar cimport *
from uricodec.uri._normalize cimport AT_IRI, FORMS, NORMALIZE_ROWS, level_of

from cpython.bytes cimport PyBytes_AS_STRING

from uricodec.errors import UriSyntaxError


# --- options ----------------------------------------------------------------------------------------------------------

cdef list QUERIES = ["keep", "sort", "drop", "drop-empty"]

cdef inline bint equals(const uint8_t *s, const uint8_t *lowered, size_t n) noexcept nogil:
    """Return whether n bytes are the lower-case ones, but for the case of ASCII letters."""
    cdef size_t i
    for i in range(n):
        if lower(s[i]) != lowered[i]:
            return False
    return True


cdef inline size_t move(uint8_t *dst, const uint8_t *src, size_t n) noexcept nogil:
    """Copy bytes, or move them to the left."""
    memmove(dst, src, n)
    return n


# --- authority --------------------------------------------------------------------------------------------------------

cdef size_t www_size(const uint8_t *host, size_t n, bint to_uri) noexcept nogil:
    """Return the size of the labels "www" before a host that still has a dot without them.

    A host that should be A-labels and is not stays: without "www" it could become one.
    """
    cdef size_t i, at = 0
    if to_uri:
        for i in range(n):
            if host[i] >= 0x80 or host[i] == c'%':
                return 0
    while n - at > 4 and equals(host + at, b"www.", 4) and memchr(host + at + 4, c'.', n - at - 4) != NULL:
        at += 4
    return at


cdef size_t write_authority(const uint8_t *s, const Parts *parts, const Authority *found, const Steps *steps,
                            uint8_t *dst) noexcept nogil:
    cdef Py_ssize_t start = parts.authority
    cdef size_t o = 0
    if found.userinfo_end >= 0:
        if not steps.drops_userinfo:
            o = move(dst, s + start, <size_t>(found.host - start))
        start = found.host
    if steps.strips_www:
        start += <Py_ssize_t>www_size(s + start, <size_t>(found.host_end - start), steps.to_uri)
    return o + move(dst + o, s + start, <size_t>(parts.path - start))


# --- path -------------------------------------------------------------------------------------------------------------

cdef bint is_session(const uint8_t *s, size_t n) noexcept nogil:
    """Return whether a path parameter is that of a session."""
    return n >= 11 and equals(s, b"jsessionid=", 11)


cdef size_t drop_sessions(uint8_t *path, size_t n) noexcept nogil:
    """Remove ";jsessionid=..." from segments, unless a dot segment would be left. Return the new size."""
    cdef size_t i = 0, o = 0, segment = 0, size
    cdef bint dots
    if memchr(path, c';', n) == NULL:
        return n
    while i < n:
        if path[i] == c'/':
            segment = o + 1
        if path[i] == c';':
            size = 1
            while i + size < n and path[i + size] != c'/' and path[i + size] != c';':
                size += 1
            dots = 1 <= o - segment <= 2 and path[segment] == c'.' and path[o - 1] == c'.'
            if is_session(path + i + 1, size - 1) and not dots:
                i += size
                continue
            o += move(path + o, path + i, size)
            i += size
            continue
        path[o] = path[i]
        i += 1
        o += 1
    return o


cdef void lower_path(uint8_t *path, size_t n) noexcept nogil:
    """Lower the case of letters, but not of the digits of triplets."""
    cdef size_t i = 0
    while i < n:
        if path[i] == c'%' and n - i >= 3 and is_digit(path[i + 1]) and is_digit(path[i + 2]):
            i += 3
        else:
            path[i] = lower(path[i])
            i += 1


cdef inline bint is_digit(uint8_t c) noexcept nogil:
    return c'0' <= c <= c'9' or c'a' <= (c | 0x20) <= c'f'


cdef size_t drop_end(const uint8_t *path, size_t n, const Steps *steps) noexcept nogil:
    """Return the size of the path without trailing slashes and default documents."""
    cdef size_t i, start
    cdef const Name *document
    while n > 1:
        if path[n - 1] == c'/':
            if not steps.drops_slash:
                return n
            n -= 1
            continue
        start = n
        while start and path[start - 1] != c'/':
            start -= 1
        for i in range(steps.documents):
            document = steps.document + i
            if start and document.size == n - start and memcmp(document.text, path + start, n - start) == 0:
                n = start
                break
        else:
            return n
    return n


# --- query ------------------------------------------------------------------------------------------------------------

cdef inline size_t size_until(const uint8_t *s, size_t n, uint8_t c) noexcept nogil:
    cdef const uint8_t *found = <const uint8_t *>memchr(s, c, n)
    return n if found == NULL else <size_t>(found - s)


cdef inline bint is_dropped(const uint8_t *s, size_t n, const Steps *steps) noexcept nogil:
    """Return whether the name of a parameter is one that the policy drops."""
    cdef size_t i, c
    cdef const Name *name
    if n == 0:
        return False
    c = lower(s[0])
    for i in range(steps.first[c], steps.first[c + 1]):
        name = steps.name + i
        if (n >= name.size if name.is_prefix else n == name.size) and equals(s, name.text, name.size):
            return True
    return False


cdef inline int compare_names(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size) noexcept nogil:
    cdef int order = memcmp(a, b, min(a_size, b_size))
    return order if order else (a_size > b_size) - (a_size < b_size)


cdef struct Parameter:
    const uint8_t *text
    size_t name_size
    size_t size

cdef enum:
    FEW = 64            # parameters,
    SHORT = 2048        # and bytes of a query, that are sorted on the stack

ctypedef int (*compare_function)(const void *a, const void *b) noexcept nogil


cdef int compare_parameters(const void *a, const void *b) noexcept nogil:
    """Compare by name; parameters with the same name stay in their order."""
    cdef const Parameter *x = <const Parameter *>a
    cdef const Parameter *y = <const Parameter *>b
    cdef int order = compare_names(x.text, x.name_size, y.text, y.name_size)
    return order if order else (x.text > y.text) - (x.text < y.text)


cdef void sort_parameters(uint8_t *query, size_t n, size_t count, compare_function compare, uint8_t *copy,
                          Parameter *parameters) noexcept nogil:
    cdef size_t i, at = 0
    memcpy(copy, query, n)
    for i in range(count):
        parameters[i].text = copy + at
        parameters[i].size = size_until(copy + at, n - at, c'&')
        parameters[i].name_size = size_until(copy + at, parameters[i].size, c'=')
        at += parameters[i].size + 1
    qsort(parameters, count, sizeof(Parameter), compare)
    at = 0
    for i in range(count):
        if i:
            query[at] = c'&'
            at += 1
        memcpy(query + at, parameters[i].text, parameters[i].size)
        at += parameters[i].size


cdef extern from "Python.h":
    void PyErr_SetNone(object type) noexcept


cdef void raise_no_memory() noexcept with gil:  # pragma: no cover: no memory
    PyErr_SetNone(MemoryError)


cdef bint sort_query(uint8_t *query, size_t n, size_t count, compare_function compare) noexcept nogil:
    """Sort `count` parameters in place. False: a MemoryError is set."""
    cdef uint8_t short_copy[SHORT]
    cdef Parameter few[FEW]
    cdef Parameter *parameters
    if count <= FEW and n <= SHORT:
        sort_parameters(query, n, count, compare, short_copy, few)
        return True
    # count - 1 bytes of the query are "&", so the size does not overflow for any query that fits in memory.
    parameters = <Parameter *>malloc(count * sizeof(Parameter) + n)
    if parameters == NULL:  # pragma: no cover: no memory
        raise_no_memory()
        return False
    sort_parameters(query, n, count, compare, <uint8_t *>(parameters + count), parameters)
    free(parameters)
    return True


cdef size_t write_query(const uint8_t *s, size_t n, const Steps *steps, uint8_t *dst, bint *failed) noexcept nogil:
    """Write the parameters that stay, after a "?"; nothing if none does. dst may overlap the query, to its left."""
    cdef size_t i = 0, o = 0, count = 0, size, name_size
    cdef size_t last = 0, last_size = 0     # the name of the parameter that was written last
    cdef bint sorts = steps.query == SORT_QUERY, in_order = True
    cdef uint8_t *query = dst + 1
    while True:
        size = size_until(s + i, n - i, c'&')
        if size or steps.query == KEEP_QUERY:
            name_size = size_until(s + i, size, c'=')
            if not is_dropped(s + i, name_size, steps):
                if sorts and count and compare_names(query + last, last_size, s + i, name_size) > 0:
                    in_order = False
                if count:
                    query[o] = c'&'
                    o += 1
                last, last_size = o, name_size
                o += move(query + o, s + i, size)
                count += 1
        i += size + 1
        if i > n:
            break
    if count == 0:
        return 0
    dst[0] = c'?'
    if not in_order:
        failed[0] = not sort_query(query, o, count, compare_parameters)
    return o + 1


# --- surt -------------------------------------------------------------------------------------------------------------

# The key "surt": "org,example)/path?a=1". The cleaned URL is copied to the end of the output, where each component is
# decoded in place; the key is written from the start. A byte becomes at most three bytes, and the copy begins after
# 3 * n + SURT_EXTRA bytes, so what is written never overtakes what is still to be read.

# Bytes that no key contains: "%HH", in lower case, stands for them.
cdef ByteSet ESCAPED = ByteSet(range(33)) | ByteSet(range(127, 256)) | ByteSet("#%")


cdef inline int digit_value(uint8_t c) noexcept nogil:
    """Return the value of a hexadecimal digit; -1 for other bytes."""
    if c'0' <= c <= c'9':
        return c - c'0'
    c |= 0x20
    return c - c'a' + 10 if c'a' <= c <= c'f' else -1


cdef inline bint is_decimal(uint8_t c) noexcept nogil:
    return c'0' <= c <= c'9'


cdef inline bint is_letter(uint8_t c) noexcept nogil:
    return c'a' <= c <= c'z'


cdef size_t decode_wholly(uint8_t *s, size_t n) noexcept nogil:
    """Decode triplets in place until none is left: "%2541" is "A". Return the new size.

    No two triplets overlap, so their order does not matter, and each is decoded as soon as its last digit is there.
    """
    cdef size_t i, o
    cdef int high, low
    cdef uint8_t *percent = <uint8_t *>memchr(s, c'%', n)
    if percent == NULL:
        return n
    i = o = <size_t>(percent - s)
    while i < n:
        s[o] = s[i]
        i += 1
        o += 1
        while o >= 3 and s[o - 3] == c'%':
            high, low = digit_value(s[o - 2]), digit_value(s[o - 1])
            if high < 0 or low < 0:
                break
            o -= 2
            s[o - 1] = <uint8_t>(16 * high + low)
    return o


cdef size_t write_escaped(const uint8_t *s, size_t n, uint8_t *dst) noexcept nogil:
    """Write bytes in lower case, and triplets for those that no key contains."""
    cdef const char *digits = b"0123456789abcdef"
    cdef size_t i, o = 0
    for i in range(n):
        if ESCAPED.set.member[s[i]]:
            dst[o], dst[o + 1], dst[o + 2] = c'%', digits[s[i] >> 4], digits[s[i] & 15]
            o += 3
        else:
            dst[o] = lower(s[i])
            o += 1
    return o


cdef size_t clean_copy(const uint8_t *s, size_t n, uint8_t *dst) noexcept nogil:
    """Copy a URL without blanks at its ends, and without tabs and line ends."""
    cdef size_t i, o = 0
    for i in range(n):
        if s[i] > 32:
            dst[o] = s[i]
            o += 1
        elif not (s[i] == 9 or s[i] == 10 or s[i] == 13) and not (o == 0 and is_blank(s[i])):
            dst[o] = s[i]
            o += 1
    while o and is_blank(dst[o - 1]):
        o -= 1
    return o


cdef inline bint is_blank(uint8_t c) noexcept nogil:
    return c == 32 or 9 <= c <= 13


cdef extern from "Python.h":
    void *PyUnicode_DecodeUTF8_raw "PyUnicode_DecodeUTF8"(const char *s, Py_ssize_t n, const char *errors) noexcept
    void *PyUnicode_AsEncodedString_raw "PyUnicode_AsEncodedString"(void *text, const char *codec, const char *errors) \
        noexcept
    char *PyBytes_AsString_raw "PyBytes_AsString"(void *data) noexcept
    Py_ssize_t PyBytes_Size_raw "PyBytes_Size"(void *data) noexcept
    void Py_DecRef_raw "Py_DecRef"(void *object) noexcept
    bint PyErr_ExceptionMatches(object type) noexcept
    void PyErr_Clear() noexcept


cdef Py_ssize_t a_labels(const uint8_t *host, size_t n, uint8_t *dst, size_t capacity) noexcept with gil:
    """Write the A-labels of a host by Python's codec "idna" (RFC 3490).

    Return their size; -1 if there are none; -2 if a MemoryError is set.
    """
    cdef void *text = PyUnicode_DecodeUTF8_raw(<const char *>host, <Py_ssize_t>n, b"ignore")
    cdef void *data = NULL
    cdef Py_ssize_t size = -1
    if text != NULL:
        data = PyUnicode_AsEncodedString_raw(text, b"idna", b"strict")
        Py_DecRef_raw(text)
    if data == NULL:
        if PyErr_ExceptionMatches(MemoryError):
            return -2
        PyErr_Clear()
        return -1
    if <size_t>PyBytes_Size_raw(data) <= capacity:
        size = PyBytes_Size_raw(data)
        memcpy(dst, PyBytes_AsString_raw(data), <size_t>size)
    Py_DecRef_raw(data)
    return size


cdef size_t without_dots(uint8_t *host, size_t n) noexcept nogil:
    """Write one dot for each two in place, and none at the ends. Return the new size."""
    cdef size_t i = 0, o = 0, start = 0
    while i < n:
        host[o] = host[i]
        i += 2 if host[i] == c'.' and i + 1 < n and host[i + 1] == c'.' else 1
        o += 1
    while o and host[o - 1] == c'.':
        o -= 1
    while start < o and host[start] == c'.':
        start += 1
    return move(host, host + start, o - start)


cdef bint read_numbers(const uint8_t *host, size_t n, uint32_t *address) noexcept nogil:
    """Read an IPv4 address as inet_aton() does, but for hexadecimal numbers; a single number may have any size."""
    cdef uint64_t values[4]
    cdef size_t i = 0, count = 0, start, k
    cdef uint32_t base, single = 0
    cdef bint is_single = memchr(host, c'.', n) == NULL
    while True:
        start = i
        if count == 4 or i == n or not is_decimal(host[i]):
            return False
        base = 8 if host[i] == c'0' else 10
        values[count] = 0
        while i < n and is_decimal(host[i]):
            single = single * 10 + (host[i] - c'0')     # modulo 2^32
            if not is_single:
                if host[i] - c'0' >= <uint8_t>base or values[count] >> 32:
                    return False
                values[count] = values[count] * base + (host[i] - c'0')
            i += 1
        count += 1
        if i == n:
            break
        if host[i] != c'.':
            return False
        i += 1
    if count == 1:
        address[0] = single
        return True
    address[0] = 0
    for k in range(count - 1):
        if values[k] > 255:
            return False
        address[0] |= <uint32_t>values[k] << <uint32_t>(24 - 8 * k)
    if values[count - 1] >= <uint64_t>1 << <uint64_t>(8 * (5 - count)):
        return False
    address[0] |= <uint32_t>values[count - 1]
    return True


cdef size_t write_number(uint32_t value, uint8_t *dst) noexcept nogil:
    cdef uint8_t digits[10]
    cdef size_t n = 0, i
    while True:
        digits[n] = <uint8_t>(c'0' + value % 10)
        value //= 10
        n += 1
        if value == 0:
            break
    for i in range(n):
        dst[i] = digits[n - 1 - i]
    return n


cdef size_t write_host(uint8_t *host, size_t n, uint8_t *dst) noexcept nogil:
    """Write the labels of a host without dots at its ends in reverse, but not "www", "www1" and so on."""
    cdef uint32_t address
    cdef size_t o = 0, i, end
    if n and is_decimal(host[0]) and read_numbers(host, n, &address):
        for i in range(4):
            if i:
                dst[o] = c','
                o += 1
            o += write_number((address >> <uint32_t>(8 * i)) & 255, dst + o)
        return o
    if n > 4 and equals(host, b"www", 3):
        i = 3
        while i < n and is_decimal(host[i]):
            i += 1
        if i < n and host[i] == c'.':
            host += i + 1
            n -= i + 1
    end = i = n
    while True:
        if i == 0 or host[i - 1] == c'.':
            o += write_escaped(host + i, end - i, dst + o)
            if i == 0:
                return o
            dst[o] = c','
            o += 1
            end = i - 1
        i -= 1


cdef size_t write_surt_host(uint8_t *host, size_t n, uint8_t *dst, bint *failed) noexcept nogil:
    cdef uint8_t ascii[SURT_HOST]
    cdef size_t i
    cdef Py_ssize_t size
    n = decode_wholly(host, n)
    for i in range(n):
        host[i] = lower(host[i])
    for i in range(n):
        if host[i] >= 0x80 and n <= LONGEST_HOST:
            size = a_labels(host, n, ascii, SURT_HOST // 3)     # a byte of them becomes at most three
            if size == -2:
                failed[0] = True
                return 0
            if size >= 0:
                return write_host(ascii, without_dots(ascii, <size_t>size), dst)
            break
    return write_host(host, without_dots(host, n), dst)


cdef size_t write_port(const uint8_t *port, size_t n, uint32_t default, uint8_t *dst) noexcept nogil:
    """Write ":" and the port, unless it is 0, empty or the scheme's default. Other text stays."""
    cdef size_t i = 0
    cdef uint32_t value = 0
    while i < n and is_decimal(port[i]) and value <= 65535:
        value = 10 * value + (port[i] - c'0')
        i += 1
    if n and (i < n or value > 65535):
        dst[0] = c':'
        return 1 + write_escaped(port, n, dst + 1)
    if value == 0 or value == default:
        return 0
    dst[0] = c':'
    return 1 + write_number(value, dst + 1)


cdef size_t write_surt_path(uint8_t *path, size_t n, uint8_t *dst) noexcept nogil:
    """Write a path, which follows a "/", without empty segments and dot segments; a ".." at its start stays."""
    cdef size_t i = 0, end, size = 0, o = 0
    n = decode_wholly(path, n)
    # What is kept stands at the start of `path`: each segment, and a "/" after it.
    while i <= n:
        end = i + size_until(path + i, n - i, c'/')
        if end - i == 2 and path[i] == c'.' and path[i + 1] == c'.' and size:
            size -= 1
            while size and path[size - 1] != c'/':
                size -= 1
        elif not (end - i == 1 and path[i] == c'.'):
            size += move(path + size, path + i, end - i)
            if end < n:
                path[size] = c'/'
                size += 1
        i = end + 1
    i = 0
    while i < size:
        end = i + size_until(path + i, size - i, c'/')
        if end > i:
            dst[o] = c'/'
            o += 1 + write_escaped(path + i, end - i, dst + o + 1)
        i = end + 1
    if o == 0:
        dst[0] = c'/'
        return 1
    return drop_asp_sessions(dst, o)


cdef inline size_t id_size(const uint8_t *s, size_t n, size_t count) noexcept nogil:
    """Return `count` if that many digits and lower-case letters follow, otherwise 0."""
    cdef size_t i
    if n < count:
        return 0
    for i in range(count):
        if not (is_decimal(s[i]) or is_letter(s[i])):
            return 0
    return count


cdef size_t asp_session_size(const uint8_t *s, size_t n, bint named) noexcept nogil:
    """Return the size of the segment of a session of ASP.NET at s, with its "/", or 0: "(ID)/", or named: "(s(ID)f(ID))/"."""
    cdef size_t i = 1
    if n < 27 or s[0] != c'(':
        return 0
    if not named:
        return 27 if id_size(s + 1, n - 1, 24) and s[25] == c')' and s[26] == c'/' else 0
    while n - i >= 27 and is_letter(s[i]) and s[i + 1] == c'(' and id_size(s + i + 2, n - i - 2, 24) and s[i + 26] == c')':
        i += 27
    return i + 2 if i > 1 and n - i >= 2 and s[i] == c')' and s[i + 1] == c'/' else 0


cdef size_t drop_asp_sessions(uint8_t *path, size_t n) noexcept nogil:
    """Remove the last named session and then the last other one that stand before a name with ".aspx"."""
    cdef bint named = True
    cdef size_t i, size, page
    if n < 33 or memchr(path, c'(', n) == NULL:
        return n
    while True:
        page = 0        # the offset of the last ".aspx" before the next "?"
        i = n
        while i > 1:
            i -= 1
            if path[i] == c'?':
                page = 0
            elif page == 0 and path[i] == c'.' and n - i >= 5 and memcmp(path + i, b".aspx", 5) == 0:
                page = i
            elif page and path[i] == c'(' and path[i - 1] == c'/':
                size = asp_session_size(path + i, n - i, named)
                if size and page > i + size:
                    move(path + i, path + i + size, n - i - size)
                    n -= size
                    break
        if not named:
            return n
        named = False


cdef size_t session_size(const uint8_t *s, size_t n, int kind, size_t ampersand) noexcept nogil:
    """Return the size of the session parameter of a kind at s, or 0. `ampersand`: the offset of the next "&", or n."""
    cdef size_t i, size
    if kind == 4:
        size = ampersand
        if size <= 5 or memcmp(s, b"cfid=", 5) or n - size <= 9 or memcmp(s + size, b"&cftoken=", 9):
            return 0
        i = size_until(s + size + 9, n - size - 9, c'&')
        return size + 9 + i if i else 0
    if kind == 3:
        if n < 45 or memcmp(s, b"aspsessionid", 12) or s[20] != c'=':
            return 0
        for i in range(12, 45):
            if i != 20 and not is_letter(s[i]):
                return 0
        size = 45
    else:
        size = 11 if kind == 0 else 10 if kind == 1 else 4
        if n < size + 32 or memcmp(s, b"jsessionid=" if kind == 0 else b"phpsessid=" if kind == 1 else b"sid=", size):
            return 0
        if not id_size(s + size, n - size, 32):
            return 0
        size += 32
    return size if size == n or s[size] == c'&' else 0


cdef size_t drop_session_parameters(uint8_t *query, size_t n) noexcept nogil:
    """Remove the last session parameter of each kind, wherever it begins, and the "&" after it. Return the new size."""
    cdef size_t i, size, ampersand
    cdef int kind
    for i in range(1, n):
        if query[i] == c'd' and query[i - 1] == c'i':
            break
    else:
        return n
    for kind in range(5):
        ampersand = i = n
        while i:
            i -= 1
            if query[i] == c'&':
                ampersand = i
            size = session_size(query + i, n - i, kind, ampersand - i)
            if size:
                size += i + size < n
                move(query + i, query + i + size, n - i - size)
                n -= size
                break
    return n


cdef int compare_values(const void *a, const void *b) noexcept nogil:
    """Compare parameters by name, then by value; a parameter without "=" comes first."""
    cdef const Parameter *x = <const Parameter *>a
    cdef const Parameter *y = <const Parameter *>b
    cdef int order = compare_names(x.text, x.name_size, y.text, y.name_size)
    if order:
        return order
    return compare_names(x.text + x.name_size, x.size - x.name_size, y.text + y.name_size, y.size - y.name_size)


cdef size_t write_surt_query(uint8_t *s, size_t n, uint8_t *dst, bint *failed) noexcept nogil:
    """Write a "?" and the parameters in their order; nothing if the query is empty."""
    cdef uint8_t *query = dst + 1
    cdef size_t i, count = 1
    n = drop_session_parameters(query, write_escaped(s, decode_wholly(s, n), query))
    if n == 0:
        return 0
    dst[0] = c'?'
    for i in range(n):
        count += query[i] == c'&'
    if count > 1 and not sort_query(query, n, count, compare_values):
        failed[0] = True
    return n + 1


cdef size_t scheme_size(const uint8_t *s, size_t n) noexcept nogil:
    """Return the size of the scheme, without ":"; 0 if there is none."""
    cdef size_t i = 0
    if n == 0 or not is_letter(lower(s[0])):
        return 0
    while i < n and (is_letter(lower(s[i])) or is_decimal(s[i]) or s[i] == c'+' or s[i] == c'-' or s[i] == c'.'):
        i += 1
    return i if i < n and s[i] == c':' else 0


cdef inline bint is_web(const uint8_t *s, size_t n) noexcept nogil:
    """Return whether a scheme is http or https."""
    return (n == 4 or n == 5 and lower(s[4]) == c's') and equals(s, b"http", 4)


cdef size_t surt_row(const uint8_t *src, size_t n, const void *options, uint8_t *dst, Outcome *outcome) noexcept nogil:
    cdef uint8_t *s = dst + 3 * n + SURT_EXTRA
    cdef size_t i = 0, end, host, host_end, port, o, scheme
    cdef uint32_t default_port = 80
    cdef bint failed = False, has_authority
    n = clean_copy(src, n, s)
    if n == 0:
        dst[0] = c'-'
        return 1
    scheme = scheme_size(s, n)
    has_authority = not scheme
    if scheme:
        i = scheme + 1
        has_authority = n - i > 2 and s[i] == c'/' and s[i + 1] == c'/' and s[i + 2] != c'/'
        if not has_authority and not is_web(s, scheme):
            return move(dst, s, n)
        if not is_web(s, scheme):
            default_port = 0
        elif scheme == 5:
            default_port = 443
    # "http://http://a.example/" has a scheme too many.
    while True:
        while i < n and s[i] == c'/':
            i += 1
        end = scheme_size(s + i, n - i)
        if not (has_authority and is_web(s + i, end) and n - i - end >= 3 and s[i + end + 1] == c'/'
                and s[i + end + 2] == c'/'):
            break
        i += end + 1
    n = i + size_until(s + i, n - i, c'#')
    host = i
    while i < n and s[i] != c'/' and s[i] != c'?':
        i += 1
    host_end = port = i
    if has_authority:
        for end in range(host, i):
            if s[end] == c'@':
                host = end + 1
        end = host + size_until(s + host, i - host, c'[')
        if end < i:
            host = end + 1
            host_end = host + size_until(s + host, i - host, c']')
            port = host_end + size_until(s + host_end, i - host_end, c':')
        else:
            host_end = port = host + size_until(s + host, i - host, c':')
        port += port < i
    o = write_surt_host(s + host, host_end - host, dst, &failed)
    if failed:
        outcome.code, outcome.offset = UC_RAISED, 0
        return UC_REJECTED
    o += write_port(s + port, i - port, default_port, dst + o)
    end = i + size_until(s + i, n - i, c'?')
    if o:
        dst[o] = c')'
        o += 1
    else:           # without a host, there is nothing to sort by
        o = move(dst, s, scheme + 1) if scheme else move(dst, b"http:", 5)
        if i == n:
            return o
    i += i < end        # the "/" at the start of the path
    o += write_surt_path(s + i, end - i, dst + o)
    if end < n:
        o += write_surt_query(s + end + 1, n - end - 1, dst + o, &failed)
        if failed:
            outcome.code, outcome.offset = UC_RAISED, 0
            return UC_REJECTED
    return o


# --- rows -------------------------------------------------------------------------------------------------------------

# Most URLs are in normal form already, and this is found out in one pass. Such a URL has the scheme http or https, a host
# of these bytes, no userinfo and no port; its path begins with "/" and has no segment that begins with "."; and all its
# triplets have upper-case digits, and encode bytes that no level decodes.
cdef ByteSet HOST_BYTES = ByteSet("abcdefghijklmnopqrstuvwxyz0123456789-._")
cdef ByteSet PATH_BYTES = ByteSet(range(128)) - "%.?#"
cdef ByteSet QUERY_BYTES = ByteSet(range(128)) - "%#"
cdef ByteSet FRAGMENT_BYTES = ByteSet(range(128)) - "%"
# The first and second digits of triplets that encode no unreserved character; "%2D" and "%2E" do.
cdef ByteSet FIRST_DIGITS = ByteSet("01289ABCDEF")
cdef ByteSet SECOND_DIGITS = ByteSet("0123456789ABCDEF")


cdef inline size_t past_triplets(const uint8_t *s, size_t i, size_t n) noexcept nogil:
    """Return the offset after the triplets at s[i]; i if the first must be looked at more closely."""
    cdef uint8_t first, second
    while n - i >= 3 and s[i] == c'%':
        first, second = s[i + 1], s[i + 2]
        if not (FIRST_DIGITS.set.member[first] and SECOND_DIGITS.set.member[second]):
            break
        if first == c'2' and (second == c'D' or second == c'E'):
            break
        i += 3
    return i


cdef inline size_t past(const uint8_t *s, size_t i, size_t n, const uc_set *set) noexcept nogil:
    """Return the offset after bytes of a set, and triplets."""
    cdef size_t end
    while True:
        i += kernels.span(s + i, n - i, set)
        end = past_triplets(s, i, n)
        if end == i:
            return i
        i = end


cdef bint is_normal(const uint8_t *s, size_t n, Parts *parts) noexcept nogil:
    """Return whether a URL is in normal form at every level up to "iri". If it is, set its components."""
    cdef size_t i
    if n < 9 or memcmp(s, b"http", 4):
        return False
    i = 4 + (s[4] == c's')
    parts.scheme_end = <Py_ssize_t>i
    if s[i] != c':' or s[i + 1] != c'/' or s[i + 2] != c'/':
        return False
    i += 3
    parts.authority = <Py_ssize_t>i
    while i < n and HOST_BYTES.set.member[s[i]]:
        i += 1
    parts.path = <Py_ssize_t>i
    if i == n or s[i] != c'/' or parts.path == parts.authority:
        return False
    while True:
        i = past(s, i, n, &PATH_BYTES.set)
        if i == n or s[i] != c'.':
            break
        if s[i - 1] == c'/':
            return False
        i += 1
    parts.path_end = <Py_ssize_t>i
    parts.query = parts.query_end = parts.fragment = -1
    if i < n and s[i] == c'?':
        parts.query = <Py_ssize_t>i + 1
        i = past(s, i, n, &QUERY_BYTES.set)
        parts.query_end = <Py_ssize_t>i
    if i < n and s[i] == c'#':
        parts.fragment = <Py_ssize_t>i + 1
        i = past(s, i, n, &FRAGMENT_BYTES.set)
    parts.end = <Py_ssize_t>i
    return i == n


cdef size_t write_steps(const uint8_t *form, const Parts *parts, const Steps *steps, uint8_t *dst,
                        bint *failed) noexcept nogil:
    """Write what the steps make of a normal form, which may overlap dst, to its right."""
    cdef Authority authority
    cdef size_t o = 0, size, end = <size_t>parts.end
    cdef bint has_authority = parts.authority >= 0
    if steps.drops_fragment and parts.fragment >= 0:
        end = <size_t>(parts.fragment - 1)
    if not has_authority and parts.scheme_end >= 0 and not (parts.path < parts.path_end and form[parts.path] == c'/'):
        return move(dst, form, end)     # mailto:, data:, urn: have no hierarchy, and their "?" no parameters
    if has_authority and not find_authority(form, parts.authority, parts.path, &authority):
        return move(dst, form, end)         # the host is unknown
    if parts.scheme_end >= 0:
        o = move(dst, form, <size_t>parts.scheme_end + 1)
    if has_authority:
        if steps.http_is_https and parts.scheme_end == 4 and authority.port < 0 and equals(dst, b"http", 4):
            dst[4], dst[5] = c's', c':'
            o += 1
        dst[o] = dst[o + 1] = c'/'
        o += 2
        o += write_authority(form, parts, &authority, steps, dst + o)
    size = move(dst + o, form + parts.path, <size_t>(parts.path_end - parts.path))
    if has_authority:
        if steps.drops_sessions:
            size = drop_sessions(dst + o, size)
        if steps.lowers_path:
            lower_path(dst + o, size)
        if steps.drops_slash or steps.documents:
            size = drop_end(dst + o, size, steps)
    o += size
    if parts.query >= 0 and steps.query != DROP_QUERY:
        size = <size_t>(parts.query_end - parts.query)
        if steps.query != KEEP_QUERY or steps.first[256]:
            o += write_query(form + parts.query, size, steps, dst + o, failed)
        else:
            o += move(dst + o, form + parts.query - 1, size + 1)
    if parts.fragment >= 0 and not steps.drops_fragment:
        o += move(dst + o, form + parts.fragment - 1, <size_t>(parts.end - parts.fragment + 1))
    return o


cdef size_t policy_row(const uint8_t *src, size_t n, const void *options, uint8_t *dst, Outcome *outcome) noexcept nogil:
    cdef const Steps *steps = <const Steps *>options
    cdef const uint8_t *form = src
    cdef Parts parts
    cdef bint failed = False
    if not (steps.adds and is_normal(src, n, &parts)):
        n = steps.row(src, n, steps.options, dst + POLICY_EXTRA, outcome)
        if n == UC_REJECTED:
            return n
        form = dst + POLICY_EXTRA
        find_parts(form, n, &parts)
    n = write_steps(form, &parts, steps, dst, &failed)
    if failed:  # pragma: no cover: no memory
        outcome.code, outcome.offset = UC_RAISED, 0
        return UC_REJECTED
    return n


@cython.final
cdef class PolicyRows(RowOperation):
    """Operation that normalizes URLs by a policy.

    Args:
        policy (Policy): The policy; its values have been checked.

    Source: see `Policy`.
    """

    def __cinit__(self, policy):
        cdef int level = level_of(policy.level)
        cdef Steps *steps = &self.steps
        self.code_names, self.reasons, self.error = CODE_NAMES, REASONS, UriSyntaxError
        self.slots.options, self.slots.utf8_code, self.slots.block = steps, UTF8, NULL
        if policy._form == "surt":
            self.slots.strict.row, self.slots.strict.factor, self.slots.strict.extra = surt_row, SURT_FACTOR, SURT_EXTRA
            return
        steps.row, steps.options, steps.to_uri = NORMALIZE_ROWS[level].row, FORMS + level, level == AT_IRI
        steps.http_is_https, steps.strips_www = policy.http_is_https, policy.strip_www
        steps.drops_userinfo, steps.drops_fragment = policy.userinfo == "drop", policy.fragment == "drop"
        steps.drops_sessions, steps.drops_slash = policy.session_ids == "drop", policy.trailing_slash == "drop"
        steps.lowers_path, steps.query = policy.lower_case_path, <Query>QUERIES.index(policy.query)
        self.set_documents(policy._documents)
        self.set_names(policy._parameters)
        self.slots.strict = NORMALIZE_ROWS[level]
        self.slots.strict.row = policy_row
        self.ascii_stays = level == AT_IRI
        steps.adds = level <= AT_IRI
        self.slots.strict.extra += POLICY_EXTRA

    def __dealloc__(self):
        free(self.steps.document)
        free(self.steps.name)

    cdef int set_documents(self, list names) except -1:
        self.steps.document = self.names_of(names)
        self.steps.documents = <size_t>len(names)
        return 0

    cdef int set_names(self, list names) except -1:
        cdef int c
        cdef size_t i = 0
        self.steps.name = self.names_of(names)
        for c in range(256):
            self.steps.first[c] = <uint16_t>i
            while i < <size_t>len(names) and self.steps.name[i].text[0] == c:
                i += 1
        self.steps.first[256] = <uint16_t>i
        return 0

    cdef Name *names_of(self, list names) except NULL:
        cdef Name *found = <Name *>malloc((<size_t>len(names) + 1) * sizeof(Name))
        cdef size_t i
        if found == NULL:
            raise MemoryError  # pragma: no cover: no memory
        self.texts = [names, *(self.texts or [])]   # what the pointers point to
        for i in range(<size_t>len(names)):
            found[i].text = <const uint8_t *>PyBytes_AS_STRING(<bytes>names[i])
            found[i].size = <size_t>len(<bytes>names[i])
            found[i].is_prefix = (<bytes>names[i]).endswith(b"*")
            found[i].size -= found[i].is_prefix
        return found
