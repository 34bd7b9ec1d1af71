"""The URL that was meant by text that is none: what a component does not allow is percent-encoded, and all else stays.

    step        what is repaired
    ends        blanks and controls at the ends, and the <> or "" around a URL, are left out
    breaks      tabs and line ends inside are left out
    slashes     "\\" before the query is "/", where browsers read it so
    userinfo    what a component does not allow is percent-encoded; so is a "%" without two digits. Beyond ASCII that are
    host        the bytes of UTF-8, but the A-labels of a domain name
    path
    query
    fragment

    'http:\\\\me@a.example\\b c?q=[1]&r=100%#d#e'  -->  'http://me@a.example/b%20c?q=%5B1%5D&r=100%25#d%23e'

Text that is a URI reference is never touched, so a second repair changes nothing. The first two steps and the third make a
copy, which is split as RFC 3986 appendix B does; then components are written one after the other. Nobody can know which
host was meant by one with a blank, or in brackets that are no address; then the text is rejected. So is a port that is no
number, and a ":" in what should be a relative path: it may be a misspelled scheme.
"""
cimport cython
from libc.stdint cimport uint8_t
from libc.string cimport memchr, memcpy, memmove

from uricodec._base._kernels cimport ASCII_BYTES, ByteSet, kernels, lower, uc_set, uc_utf8
from uricodec._base._text cimport *
from uricodec._codec._percent cimport triplet_value, write_triplet
from uricodec._rows._engine cimport *
from uricodec._rows._single cimport *
from uricodec._url._grammar cimport *
from uricodec._url._normalize cimport FORM_EXTRA, write_name
from uricodec.uri._components cimport is_short

from uricodec import bytesets
from uricodec.errors import UriSyntaxError


cdef tuple STEPS = ("ends", "breaks", "slashes", "userinfo", "host", "path", "query", "fragment")
cdef enum Step:
    AT_ENDS, AT_BREAKS, AT_SLASHES, AT_USERINFO, AT_HOST, AT_PATH, AT_QUERY, AT_FRAGMENT

# What the components consist of besides triplets.
cdef ByteSet IN_USERINFO = bytesets.RFC3986_USERINFO
cdef ByteSet IN_NAME = bytesets.RFC3986_REG_NAME
cdef ByteSet IN_PATH = bytesets.RFC3986_PCHAR | "/"
cdef ByteSet IN_QUERY = bytesets.RFC3986_QUERY

cdef ByteSet BUT_BREAKS = ~ByteSet("\t\n\r")
cdef ByteSet BEFORE_QUERY = ~ByteSet("?#")
# Bytes of a name that is not repaired: decoded, they would end the host, or they are blanks.
cdef ByteSet UNCLEAR = bytesets.RFC3986_GEN_DELIMS | "\\ \x7F" | range(0x20)

# Schemes whose "\" browsers read as "/": the special ones of the URL Standard, section 4.2.
cdef const char *SPECIAL = b" http https ws wss ftp file "

cdef enum:
    EXTRA = FORM_EXTRA + 8      # the copy may have two bytes more than the text, and a name becomes longer


# --- the copy ---------------------------------------------------------------------------------------------------------

cdef inline bint is_end(uint8_t c) noexcept nogil:
    """Return whether a byte is a blank or a control character."""
    return c <= 0x20 or c == 0x7F


cdef inline void trim(const uint8_t *s, size_t *start, size_t *end) noexcept nogil:
    while start[0] < end[0] and is_end(s[start[0]]):
        start[0] += 1
    while start[0] < end[0] and is_end(s[end[0] - 1]):
        end[0] -= 1


cdef inline void find_ends(const uint8_t *s, size_t n, size_t *start, size_t *end) noexcept nogil:
    """Find the text without what surrounds it, also in the delimiters of RFC 3986 appendix C if a scheme follows."""
    cdef size_t first, last
    start[0], end[0] = 0, n
    trim(s, start, end)
    first, last = start[0] + 1, end[0] - 1
    if end[0] - start[0] > 2 and (s[start[0]] == c'<' and s[last] == c'>' or s[start[0]] == c'"' and s[last] == c'"'):
        trim(s, &first, &last)
        if end_of_scheme(s + first, last - first):
            start[0], end[0] = first, last


cdef size_t without_breaks(const uint8_t *s, size_t n, uint8_t *dst) noexcept nogil:
    cdef size_t i = 0, o = 0, size
    while i < n:
        size = kernels.span(s + i, n - i, &BUT_BREAKS.set)
        memcpy(dst + o, s + i, size)
        o += size
        i += size + 1
    return o


# What the scheme of a text says.
cdef struct Meaning:
    bint special            # "\" is "/"
    bint is_file
    bint dns                # hosts are domain names


cdef Meaning meaning_of(const uint8_t *s, size_t n) noexcept nogil:
    """Return what a scheme, s[0 .. n), means. Without one, it will be that of a base, and is one of the web."""
    cdef uint8_t name[NAME]
    cdef const Scheme *scheme
    cdef size_t i
    if n == 0 or n > NAME:
        return Meaning(False, False, n == 0)
    for i in range(n):
        name[i] = lower(s[i])
    scheme = find_scheme(name, n)
    return Meaning(is_one_of(name, n, SPECIAL), scheme != NULL and scheme.is_file, scheme != NULL and scheme.dns)


cdef size_t with_slashes(const uint8_t *s, size_t n, size_t start, size_t end, bint is_file, uint8_t *dst) noexcept nogil:
    """Write "/" for each "\\" of s[start .. end), at most n + 1 bytes. The text may begin a byte after dst.

    Browsers ignore how many there are after the scheme: "http:\\\\\\h" and "http:\\h" are "http://h".
    """
    cdef size_t i = start, o = start, run = start
    memmove(dst, s, start)
    while run < end and (s[run] == c'/' or s[run] == c'\\'):
        run += 1
    if not is_file and memchr(s + start, c'\\', run - start) != NULL:
        dst[o] = dst[o + 1] = c'/'
        o, i = o + 2, run
    for i in range(i, n):
        dst[o] = c'/' if s[i] == c'\\' and i < end else s[i]
        o += 1
    return o


# --- components -------------------------------------------------------------------------------------------------------

cdef inline size_t put(const uint8_t *s, Py_ssize_t start, Py_ssize_t end, const uc_set *allowed, uint8_t *dst) noexcept nogil:
    """Write s[start .. end) with triplets for what is not allowed. Return the size."""
    cdef size_t i = <size_t>start, n = <size_t>end, o = 0, size
    while i < n:
        if allowed.member[s[i]]:
            size = kernels.span(s + i, n - i, allowed)
            memcpy(dst + o, s + i, size)
            o += size
            i += size
            continue
        if s[i] == c'%' and triplet_value(s + i, n - i) >= 0:
            dst[o] = s[i]
            o += 1
        else:
            o += write_triplet(s[i], dst + o)
        i += 1
    return o


cdef inline size_t put_part(const uint8_t *s, Py_ssize_t start, Py_ssize_t end, const uc_set *allowed, bint repairs,
                            uint8_t *dst) noexcept nogil:
    """Write a component as it is, or repaired."""
    if repairs:
        return put(s, start, end, allowed, dst)
    memcpy(dst, s + start, <size_t>(end - start))
    return <size_t>(end - start)


cdef inline bint reject(Outcome *outcome, UriCode code, size_t offset) noexcept nogil:
    outcome.code, outcome.offset = code, offset
    return False


cdef bint is_clear(const uint8_t *s, const Parts *parts, bint dns, Outcome *outcome) noexcept nogil:
    """Return whether it is certain which host and port are meant. False: `outcome` says why not."""
    cdef Parts found
    cdef uc_utf8 utf8
    cdef size_t i, size = <size_t>(parts.host_end - parts.host)
    if size and s[parts.host] == c'[':
        return read_authority(s, parts.host, parts.path, URI_SYNTAX, &found, outcome)
    if kernels.span(s + parts.host, size, &IN_NAME.set) < size:
        for i in range(<size_t>parts.host, <size_t>parts.host_end):
            if UNCLEAR.set.member[s[i]]:
                return reject(outcome, HOST, i)
        i = kernels.scan_utf8(s + parts.host, size, &utf8)
        if dns and i < size:
            return reject(outcome, UTF8, <size_t>parts.host + i)
    for i in range(<size_t>parts.host_end + 1, <size_t>parts.path):
        if not c'0' <= s[i] <= c'9':
            return reject(outcome, PORT, i)
    return True


cdef size_t put_host(const uint8_t *s, const Parts *parts, bint dns, uint8_t *dst, Outcome *outcome) noexcept nogil:
    """Write a host that is_clear(). UC_REJECTED: an exception is set."""
    cdef size_t size = <size_t>(parts.host_end - parts.host)
    if size and s[parts.host] == c'[':
        return put_part(s, parts.host, parts.host_end, &IN_NAME.set, False, dst)
    if not dns:
        return put(s, parts.host, parts.host_end, &IN_NAME.set, dst)
    if kernels.span(s + parts.host, size, &ASCII_BYTES.set) < size:
        memcpy(dst, s + parts.host, size)
        size = write_name(dst, size)
        if size == UC_REJECTED:
            outcome.code, outcome.offset = UC_RAISED, 0
            return UC_REJECTED
        if kernels.span(dst, size, &IN_NAME.set) == size:
            return size         # otherwise it has no A-labels
    return put(s, parts.host, parts.host_end, &IN_NAME.set, dst)


cdef size_t put_components(const uint8_t *s, size_t n, Step last, bint dns, uint8_t *dst, Outcome *outcome) noexcept nogil:
    """Write a text, whose steps up to `last` are done, at most 3 * n + FORM_EXTRA bytes."""
    cdef Parts parts
    cdef size_t o, size
    cdef Py_ssize_t i
    find_parts(s, n, &parts)
    if parts.authority < 0:
        if parts.scheme_end < 0:
            for i in range(parts.path_end):
                if s[i] == c'/':
                    break
                if s[i] == c':':
                    reject(outcome, PATH_COLON, <size_t>i)
                    return UC_REJECTED
        o = <size_t>parts.path
        memcpy(dst, s, o)
    else:
        if not is_clear(s, &parts, dns, outcome):
            return UC_REJECTED
        o = <size_t>parts.authority
        memcpy(dst, s, o)
        if parts.userinfo_end >= 0:
            o += put_part(s, parts.authority, parts.userinfo_end, &IN_USERINFO.set, last >= AT_USERINFO, dst + o)
            dst[o] = c'@'
            o += 1
        if last >= AT_HOST:
            size = put_host(s, &parts, dns, dst + o, outcome)
            if size == UC_REJECTED:
                return size
            o += size
        else:
            o += put_part(s, parts.host, parts.host_end, &IN_NAME.set, False, dst + o)
        o += put_part(s, parts.host_end, parts.path, &IN_NAME.set, False, dst + o)      # the port
    o += put_part(s, parts.path, parts.path_end, &IN_PATH.set, last >= AT_PATH, dst + o)
    if parts.query >= 0:
        dst[o] = c'?'
        o += 1
        o += put_part(s, parts.query, parts.query_end, &IN_QUERY.set, last >= AT_QUERY, dst + o)
    if parts.fragment >= 0:
        dst[o] = c'#'
        o += 1
        o += put_part(s, parts.fragment, parts.end, &IN_QUERY.set, last >= AT_FRAGMENT, dst + o)
    return o


cdef size_t write_repaired(const uint8_t *src, size_t n, Step last, uint8_t *dst, Outcome *outcome) noexcept nogil:
    cdef const uint8_t *s
    cdef uint8_t *copy = dst + 3 * n + FORM_EXTRA + 3
    cdef size_t start, end, size, colon, query, left
    cdef Meaning meaning
    find_ends(src, n, &start, &end)
    if start == end:
        reject(outcome, PATH, 0)
        return UC_REJECTED
    s, size = src + start, end - start
    if last >= AT_BREAKS and kernels.span(s, size, &BUT_BREAKS.set) < size:
        size = without_breaks(s, size, copy + 1)
        s = copy + 1
    colon = web_prefix(s, size)
    if colon:       # most texts
        colon, meaning = colon - 3, Meaning(True, False, True)
    else:
        colon = end_of_scheme(s, size)
        meaning = meaning_of(s, colon)
    if last >= AT_SLASHES and meaning.special and memchr(s, c'\\', size) != NULL:
        query = kernels.span(s, size, &BEFORE_QUERY.set)
        if memchr(s, c'\\', query) != NULL:
            size = with_slashes(s, size, colon + 1, query, meaning.is_file, copy)
            s = copy
    if last < AT_USERINFO:
        memcpy(dst, s, size)
        return size
    left = put_components(s, size, last, meaning.dns, dst, outcome)
    if left == UC_REJECTED and outcome.code != UC_RAISED:
        # What follows the fault was copied byte by byte, but for the breaks.
        size -= outcome.offset
        while size:
            end -= 1
            size -= BUT_BREAKS.set.member[src[end]]
        outcome.offset = end
    return left


# --- rows and single values -------------------------------------------------------------------------------------------

cdef size_t repair_row(const uint8_t *src, size_t n, const void *options, uint8_t *dst, Outcome *outcome) noexcept nogil:
    cdef Parts parts
    if read_reference(src, n, URI_SYNTAX, REFERENCE, &parts, outcome):
        memcpy(dst, src, n)
        return n
    return write_repaired(src, n, (<const Step *>options)[0], dst, outcome)


cdef bint is_reference(const uint8_t *src, size_t n, const void *options) noexcept nogil:
    cdef Parts parts
    cdef Outcome outcome
    return read_reference(src, n, URI_SYNTAX, REFERENCE, &parts, &outcome)


cdef SizedRow REPAIR_ROW = SizedRow(repair_row, 4, EXTRA)
cdef Step ALL_STEPS = AT_FRAGMENT


@cython.final
cdef class RepairRows(RowOperation):
    """Operation that repairs URLs.

    Source: see `repair`.
    """

    def __cinit__(self):
        self.code_names, self.reasons, self.error = CODE_NAMES, REASONS, UriSyntaxError
        self.slots.strict, self.slots.options, self.slots.block = REPAIR_ROW, &ALL_STEPS, NULL


def repair(uri):
    r"""Return the URL that was meant by text that is none.

    A URI reference never changes. In other text, blanks and controls at the ends, the `<>` or `""` around a URL, and tabs
    and line ends inside are left out; in http, https, ws, wss, ftp and file, a backslash before the query is a slash, as
    in browsers; what a component does not allow is percent-encoded, and so is a "%" without two digits. Beyond ASCII that
    are the bytes of UTF-8, but A-labels in the host of a scheme that has domain names, if it is one. Triplets and all that
    is valid stay as they are.

    Args:
        uri (str | bytes-like): Any text.

    Returns:
        str | bytes: A URI reference, bytes for a bytes-like object; the same object if the text is one.

    Raises:
        UriSyntaxError: If it is not certain what was meant: a blank, a backslash or a bracket in the host ("host"), an
            address in brackets that is none ("ip-literal"), a port that is no number ("port"), a ":" in the first segment
            of a relative path ("path-colon"), a domain name or a str that cannot be UTF-8 ("utf-8", "surrogate"), or
            nothing but blanks ("path").

    Source: RFC 3986 section 2.4, appendices A and C; RFC 3987 section 3.1; URL Standard section 4.4.

    >>> from uricodec import uri
    >>> uri.repair(" http:\\\\a.example\\b c?q=[1]&r=100%#d#e\n")
    'http://a.example/b%20c?q=%5B1%5D&r=100%25#d%23e'
    >>> uri.repair("<https://b\u00fccher.example/\u00e9>"), uri.repair("mailto:a b@example.org")
    ('https://xn--bcher-kva.example/%C3%A9', 'mailto:a%20b@example.org')
    >>> uri.repair("http://exa mple.org/")
    Traceback (most recent call last):
    uricodec.errors.UriSyntaxError: invalid character ' ' in host at offset 10
    """
    cdef Single single
    if is_short(<PyObject *>uri) and is_reference(<const uint8_t *>PyUnicode_DATA(uri), <size_t>PyUnicode_GET_LENGTH(uri), NULL):
        return uri
    single = single_of(&REPAIR_ROW, &ALL_STEPS, is_reference, ALL_ASCII)
    return result_of(uri, &single, URI_FAULTS, True)


def explain_repair(uri):
    """Return the steps of `repair` that change a text, in their order.

    Args:
        uri (str | bytes-like): Any text.

    Returns:
        list[PolicyStep]: The name of each step, and the text before and after it. The names are "ends", "breaks" (tabs and
            line ends), "slashes", and those of components: "userinfo", "host", "path", "query", "fragment".

    Raises:
        UriSyntaxError: As for `repair`.

    Source: see `repair`.

    >>> from uricodec import uri
    >>> for step in uri.explain_repair(" https://a.example/b c#d#e"):
    ...     print(step)
    PolicyStep(step='ends', before=' https://a.example/b c#d#e', after='https://a.example/b c#d#e')
    PolicyStep(step='path', before='https://a.example/b c#d#e', after='https://a.example/b%20c#d#e')
    PolicyStep(step='fragment', before='https://a.example/b%20c#d#e', after='https://a.example/b%20c#d%23e')
    """
    from uricodec.uri._policies import PolicyStep

    cdef Single single
    cdef Step last
    cdef list steps = []
    cdef int number
    repair(uri)     # raises
    before = text_of(uri)
    for number in range(AT_FRAGMENT + 1):
        last = <Step>number
        single = single_of(&REPAIR_ROW, &last, is_reference, ANY_TEXT)
        after = result_of(uri, &single, URI_FAULTS, False)
        if after != before:
            steps.append(PolicyStep(STEPS[number], before, after))
        before = after
    return steps


for function in repair, explain_repair:
    function.__module__ = "uricodec.uri"        # pickled by reference to their public name
del function
