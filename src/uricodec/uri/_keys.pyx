"""The keys of the policies "surt" and "w3lib": what the Python packages of these names make of a URL, byte for byte.

    key     URL                                            key of it
    surt    HTTP://www.Example.org:80/a//%7eb?z=1&a=2#top  org,example)/a/~b?a=2&z=1
    w3lib   HTTP://www.Example.org:80/a//%7eb?z=1&a=2#top  http://www.example.org:80/a//~b?a=2&z=1

A key is written from left to right, a component at a time. In all functions, `s` and `n` are the bytes that are read and
their number, `i` is the offset in them, `dst` is where the result goes, and `o` is how much of it is written. Functions
named write_... or put_... return the size of what they wrote; those named drop_..., decode_... and without_... change
bytes in place and return the new size. `failed` is set when an exception is.

The package surt changes a URL in several passes, so some components have to be changed in memory before they are written.
This memory follows the key in the output:

    dst                             dst + 3 * n + KEY_EXTRA
    | the key                       | a copy of what is changed: at most n bytes |

A byte of the URL becomes at most three bytes of a key ("%HH"). KEY_EXTRA bytes are for what does not come from the URL byte
for byte: delimiters, A-labels, and the numbers of an address. So a key never reaches the copy.
"""
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memchr, memcmp, memcpy, memmove

from uricodec._base._kernels cimport ALPHANUM, UNRESERVED, ByteSet, kernels, lower, uc_set
from uricodec._base._text cimport write_decimal
from uricodec._codec._percent cimport triplet_value, write_triplet
from uricodec._rows._engine cimport UC_RAISED, UC_REJECTED, Outcome
from uricodec._url._queries cimport *
from uricodec._url._grammar cimport *
from uricodec._url._idna cimport ask_about_host, to_idna_2003
from uricodec._url._normalize cimport remove_dot_segments


# --- surt: bytes ------------------------------------------------------------------------------------------------------

cdef ByteSet KEPT = ByteSet(range(33, 127)) - "#%"      # bytes that a key contains as they are; others become "%hh"
cdef ByteSet VISIBLE = ByteSet(range(33, 256))          # without blanks and controls, which may have to be removed
cdef ByteSet HOST_BYTES = ALPHANUM | "-._"              # of an authority that is a host and nothing else


cdef inline bint is_decimal(uint8_t c) noexcept nogil:
    return c'0' <= c <= c'9'


cdef inline bint is_letter(uint8_t c) noexcept nogil:
    return c'a' <= c <= c'z'


cdef size_t decode_wholly(uint8_t *s, size_t n) noexcept nogil:
    """Decode triplets in place until none is left: "%2541" becomes "%41", and that "A". Return the new size.

    One pass suffices: whenever the last three bytes that are written are a triplet, they are replaced by its byte, which
    may complete another triplet. No two triplets overlap, so their order does not matter.
    """
    cdef size_t i, o
    cdef int value
    cdef uint8_t *percent = <uint8_t *>memchr(s, c'%', n)
    if percent == NULL:
        return n
    i = o = <size_t>(percent - s)
    while i < n:
        s[o] = s[i]
        i += 1
        o += 1
        while o >= 3 and s[o - 3] == c'%':
            value = triplet_value(s + o - 3, 3)
            if value < 0:
                break
            o -= 2
            s[o - 1] = <uint8_t>value
    return o


cdef inline uint64_t lower_word(const uint8_t *s) noexcept nogil:
    """Return eight bytes of ASCII in lower case."""
    cdef uint64_t word, each = 0x0101010101010101
    memcpy(&word, s, 8)
    # Adding 0x80 - 65 ("A") sets the high bit of a byte that is at least "A", adding 0x80 - 91 ("[") that of one above "Z". The
    # high bits of upper-case letters, two places to the right, are the bit that makes them lower case: 0x20.
    return word | ((word + (0x80 - 65) * each) & ~(word + (0x80 - 91) * each) & 0x80 * each) >> 2


cdef inline void write_lower(const uint8_t *s, size_t n, uint8_t *dst) noexcept nogil:
    """Write n bytes of ASCII in lower case."""
    cdef size_t i = 0
    cdef uint64_t word
    while n - i >= 8:
        word = lower_word(s + i)
        memcpy(dst + i, &word, 8)
        i += 8
    if n >= 8 and i < n:
        word = lower_word(s + n - 8)    # some bytes again
        memcpy(dst + n - 8, &word, 8)
        return
    while i < n:
        dst[i] = lower(s[i])
        i += 1


cdef size_t write_escaped(const uint8_t *s, size_t n, uint8_t *dst) noexcept nogil:
    """Write bytes in lower case, with "%hh" for those that are not in KEPT."""
    cdef const char *digits = b"0123456789abcdef"
    cdef size_t i = 0, o = 0, size
    while True:
        size = kernels.span(s + i, n - i, &KEPT.set)
        write_lower(s + i, size, dst + o)
        i += size
        o += size
        while i < n and not KEPT.set.member[s[i]]:
            dst[o], dst[o + 1], dst[o + 2] = c'%', digits[s[i] >> 4], digits[s[i] & 15]
            i += 1
            o += 3
        if i == n:
            return o


cdef size_t clean_copy(const uint8_t *s, size_t n, uint8_t *dst) noexcept nogil:
    """Copy a URL without white space at its ends, and without tabs and line ends anywhere."""
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


# --- surt: the host ---------------------------------------------------------------------------------------------------

cdef size_t without_dots(uint8_t *host, size_t n) noexcept nogil:
    """Replace each two dots by one, and remove those at the ends: "a...b." becomes "a..b". Return the new size."""
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
    """Read an IPv4 address in one to four numbers: "127.0.0.1", "127.1", "0177.1" (octal), "2130706433".

    It is read as inet_aton() does, except for hexadecimal numbers. As in the package, a single number is decimal and taken
    modulo 2^32, whatever its size. Of several numbers, the last one stands for all bytes that are left.
    """
    cdef uint64_t values[4]
    cdef size_t i = 0, count = 0, k
    cdef uint32_t base, single = 0
    cdef bint is_single = memchr(host, c'.', n) == NULL
    while True:
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


cdef size_t write_host(const uint8_t *host, size_t n, uint8_t *dst) noexcept nogil:
    """Write the labels of a host in reverse order, without a first "www", "www1" and so on: "org,example".

    The bytes of an address are reversed, too: "1,0,0,127". The host has no dots at its ends.
    """
    cdef uint32_t address
    cdef size_t o = 0, i, end
    cdef bint is_kept
    if n and is_decimal(host[0]) and read_numbers(host, n, &address):
        for i in range(4):
            if i:
                dst[o] = c','
                o += 1
            o += write_decimal((address >> <uint32_t>(8 * i)) & 255, dst + o)
        return o
    if n > 4 and equals(host, b"www", 3):
        i = 3
        while i < n and is_decimal(host[i]):
            i += 1
        if i < n and host[i] == c'.':
            host += i + 1
            n -= i + 1
    is_kept = kernels.span(host, n, &KEPT.set) == n
    end = i = n
    while True:
        if i == 0 or host[i - 1] == c'.':
            if is_kept:
                write_lower(host + i, end - i, dst + o)
                o += end - i
            else:
                o += write_escaped(host + i, end - i, dst + o)
            if i == 0:
                return o
            dst[o] = c','
            o += 1
            end = i - 1
        i -= 1


cdef inline bint has_pair(const uint8_t *s, size_t n, uint8_t first, uint8_t second) noexcept nogil:
    """Return whether a byte `first` is followed by a byte `second`."""
    cdef size_t i
    cdef uint8_t found = 0
    for i in range(1, n):       # no early exit: so the C compiler compares many bytes at once
        found |= <uint8_t>(s[i - 1] == first) & <uint8_t>(s[i] == second)
    return found


cdef inline bint has_empty_label(const uint8_t *host, size_t n) noexcept nogil:
    return n == 0 or host[0] == c'.' or host[n - 1] == c'.' or has_pair(host, n, c'.', c'.')


cdef size_t write_surt_host(const uint8_t *s, size_t n, bint is_plain, uint8_t *host, uint8_t *dst,
                            bint *failed) noexcept nogil:
    """Write the host at s. `host` is memory for a copy of it; `is_plain` says that it has only HOST_BYTES."""
    cdef uint8_t ascii[KEY_HOST]
    cdef size_t i
    cdef Py_ssize_t size
    if is_plain and not has_empty_label(s, n):
        return write_host(s, n, dst)
    n = decode_wholly(host, move(host, s, n))
    for i in range(n):
        host[i] = lower(host[i])
    for i in range(n):
        if host[i] >= 0x80 and n <= LONGEST_HOST:
            size = to_idna_2003(host, n, ascii)
            if size == 0:       # KEY_HOST allows three bytes of the key for each
                size = ask_about_host("idna_2003", host, n, ascii, KEY_HOST // 3)
            if size == -2:
                failed[0] = True
                return 0
            if size >= 0:
                return write_host(ascii, without_dots(ascii, <size_t>size), dst)
            break
    return write_host(host, without_dots(host, n), dst)


cdef size_t write_port(const uint8_t *port, size_t n, uint32_t default, uint8_t *dst) noexcept nogil:
    """Write ":" and the port, unless it is 0, empty or the default. Text that is not a port is written as it is."""
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
    return 1 + write_decimal(value, dst + 1)


# --- surt: the path ---------------------------------------------------------------------------------------------------

cdef size_t write_surt_path(const uint8_t *s, size_t n, uint8_t *path, uint8_t *dst) noexcept nogil:
    """Write a path, which is empty or begins with "/"; `path` is memory for a copy of it.

    Triplets are decoded, dot segments, empty segments and sessions of ASP.NET removed. Most paths have none of these.
    """
    cdef size_t i = 1, end, o = 0
    if n and not has_pair(s, n, c'/', c'/') and not has_pair(s, n, c'/', c'.') and memchr(s, c'%', n) == NULL:
        o = write_escaped(s, n - (n > 1 and s[n - 1] == c'/'), dst)
        return drop_asp_sessions(dst, o)
    n = remove_dot_segments(path, decode_wholly(path, move(path, s, n)), True)
    while i < n:
        end = i + size_until(path + i, n - i, c'/')
        if end > i:
            dst[o] = c'/'
            o += 1 + write_escaped(path + i, end - i, dst + o + 1)
        i = end + 1
    if o == 0:
        dst[0] = c'/'
        return 1
    return drop_asp_sessions(dst, o)


cdef inline size_t id_size(const uint8_t *s, size_t n, size_t count) noexcept nogil:
    """Return `count` if the first `count` bytes are digits and lower-case letters, otherwise 0."""
    cdef size_t i
    if n < count:
        return 0
    for i in range(count):
        if not (is_decimal(s[i]) or is_letter(s[i])):
            return 0
    return count


cdef size_t asp_session_size(const uint8_t *s, size_t n, bint named) noexcept nogil:
    """Return the size of a segment with a session of ASP.NET, including its "/"; 0 if there is none at s.

    Such a segment is "(ID)/", or named, "(s(ID)f(ID))/" with one or more IDs, of 24 digits and letters each.
    """
    cdef size_t i = 1
    if n < 27 or s[0] != c'(':
        return 0
    if not named:
        return 27 if id_size(s + 1, n - 1, 24) and s[25] == c')' and s[26] == c'/' else 0
    while n - i >= 27 and is_letter(s[i]) and s[i + 1] == c'(' and id_size(s + i + 2, n - i - 2, 24) and s[i + 26] == c')':
        i += 27
    return i + 2 if i > 1 and n - i >= 2 and s[i] == c')' and s[i + 1] == c'/' else 0


cdef size_t drop_asp_sessions(uint8_t *path, size_t n) noexcept nogil:
    """Remove sessions of ASP.NET before a name with ".aspx": the last named one, then the last other one."""
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


# --- surt: the query --------------------------------------------------------------------------------------------------

cdef enum SessionKind:      # parameters of sessions, in the order in which the package removes them
    JSESSIONID              # "jsessionid=", and 32 digits or letters
    PHPSESSID               # "phpsessid=", and the same
    SID                     # "sid=", and the same
    ASPSESSIONID            # "aspsessionid", 8 letters, "=", 24 letters
    COLDFUSION              # "cfid=" and a value, "&cftoken=" and a value
    SESSION_KINDS           # their number


cdef size_t session_size(const uint8_t *s, size_t n, int kind, size_t ampersand) noexcept nogil:
    """Return the size of the session parameter of a kind at s; 0 if there is none.

    `ampersand` is the offset of the next "&", or n.
    """
    cdef size_t i, size
    if kind == COLDFUSION:
        size = ampersand
        if size <= 5 or memcmp(s, b"cfid=", 5) or n - size <= 9 or memcmp(s + size, b"&cftoken=", 9):
            return 0
        i = size_until(s + size + 9, n - size - 9, c'&')
        return size + 9 + i if i else 0
    if kind == ASPSESSIONID:
        if n < 45 or memcmp(s, b"aspsessionid", 12) or s[20] != c'=':
            return 0
        for i in range(12, 45):
            if i != 20 and not is_letter(s[i]):
                return 0
        size = 45
    else:
        size = 11 if kind == JSESSIONID else 10 if kind == PHPSESSID else 4
        if n < size + 32 or memcmp(
                s, b"jsessionid=" if kind == JSESSIONID else b"phpsessid=" if kind == PHPSESSID else b"sid=", size):
            return 0
        if not id_size(s + size, n - size, 32):
            return 0
        size += 32
    return size if size == n or s[size] == c'&' else 0


cdef bint may_have_sessions(const uint8_t *query, size_t n) noexcept nogil:
    """Return False if no parameter can be a session.

    The names of four kinds end in "id", and a "=" follows; in that of ASP, letters follow "aspsessionid".
    """
    cdef size_t i
    for i in range(2, n):
        if query[i - 1] != c'd' or query[i - 2] != c'i':
            continue
        if query[i] == c'=' and (id_size(query + i + 1, n - i - 1, 32) or i >= 4 and memcmp(query + i - 4, b"cf", 2) == 0):
            return True
        if i >= 12 and memcmp(query + i - 12, b"aspsession", 10) == 0:
            return True
    return False


cdef size_t drop_session_parameters(uint8_t *query, size_t n) noexcept nogil:
    """Remove the last session parameter of each kind, and the "&" after it. Return the new size.

    As in the package, it may begin anywhere: the "sid=..." of "mysid=..." is removed.
    """
    cdef size_t i, size, ampersand
    cdef int kind
    if not may_have_sessions(query, n):
        return n
    for kind in range(<int>SESSION_KINDS):
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
    """Compare fields by name, then by value; one without "=" comes first."""
    cdef const QueryField *x = <const QueryField *>a
    cdef const QueryField *y = <const QueryField *>b
    cdef int order = compare_text(x.text, x.name_size, y.text, y.name_size)
    if order:
        return order
    return compare_text(x.text + x.name_size, x.size - x.name_size, y.text + y.name_size, y.size - y.name_size)


cdef size_t write_surt_query(const uint8_t *s, size_t n, uint8_t *copy, uint8_t *dst, bint *failed) noexcept nogil:
    """Write "?" and the sorted fields of the query at s, or nothing if it is empty. `copy` is memory for a copy of it."""
    cdef uint8_t *query = dst + 1
    if memchr(s, c'%', n) != NULL:
        n = decode_wholly(copy, move(copy, s, n))
        s = copy
    n = drop_session_parameters(query, write_escaped(s, n, query))
    if n == 0:
        return 0
    dst[0] = c'?'
    failed[0] = not sort_query(query, n, compare_values)
    return n + 1


# --- surt: the URL ----------------------------------------------------------------------------------------------------

cdef struct SurtAuthority:      # offsets in a URL
    size_t host
    size_t host_end
    size_t port         # after the ":"; port_end if there is none
    size_t port_end
    size_t end          # "/", "?" or the end of the URL
    bint is_plain       # a host of HOST_BYTES, and nothing else


cdef inline void find_surt_authority(const uint8_t *s, size_t n, size_t start, SurtAuthority *found) noexcept nogil:
    """Find the host and the port. What is before the last "@" is not part of a key."""
    cdef size_t i, bracket, end = start + kernels.span(s + start, n - start, &HOST_BYTES.set)
    found.host = start
    found.is_plain = end == n or s[end] == c'/' or s[end] == c'?'
    if not found.is_plain:
        while end < n and s[end] != c'/' and s[end] != c'?':
            end += 1
    found.end = found.host_end = found.port = found.port_end = end
    if found.is_plain:
        return
    for i in range(start, end):
        if s[i] == c'@':
            found.host = i + 1
    while found.port_end > found.host and s[found.port_end - 1] == c':':
        found.port_end -= 1
    bracket = found.host + size_until(s + found.host, found.port_end - found.host, c'[')
    if bracket < found.port_end:
        found.host = bracket + 1
        found.host_end = found.host + size_until(s + found.host, found.port_end - found.host, c']')
        found.port = found.host_end + size_until(s + found.host_end, found.port_end - found.host_end, c':')
    else:
        found.host_end = found.port = found.host + size_until(s + found.host, found.port_end - found.host, c':')
    found.port += found.port < found.port_end


cdef inline void find_host_in_path(const uint8_t *s, size_t n, SurtAuthority *found) noexcept nogil:
    """Take the first segment of a path as the host, which the authority lacks: "http:///a.example/b"."""
    cdef size_t i = found.end
    while i < n and s[i] == c'/':
        i += 1
    found.host = i
    while i < n and s[i] != c'/' and s[i] != c'?':
        i += 1
    found.host_end = found.end = i
    found.is_plain = False


cdef size_t write_without_host(const uint8_t *s, size_t n, size_t path, uint8_t *copy, uint8_t *dst,
                               bint *failed) noexcept nogil:
    """Write the path and the query of a URL that has no host, such as "mailto:me@example.org". The path stays whole."""
    cdef size_t end = path + size_until(s + path, n - path, c'?'), o
    o = write_escaped(copy + path, decode_wholly(copy + path, move(copy + path, s + path, end - path)), dst)
    o = drop_asp_sessions(dst, o)
    if o > 1 and dst[o - 1] == c'/':
        o -= 1
    if end < n:
        end += 1
        if o:
            return o + write_surt_query(s + end, n - end, copy + end, dst + o, failed)
        o = write_surt_query(s + end, n - end, copy + end, dst + 1, failed)
        if o:
            dst[0] = c'/'
            o += 1
    return o


cdef size_t write_surt(const uint8_t *src, size_t n, uint8_t *dst, bint *failed) noexcept nogil:
    """Write the key of a URL: host, ")", path and query; "-" for an empty text. The scheme only decides on the port.

    A text without a scheme is read as if "http://" preceded it. Of "http://https://a.example/", the last scheme counts. The
    key of a URL without a host begins with its scheme.
    """
    cdef const uint8_t *s = src
    cdef uint8_t *copy = dst + 3 * n + KEY_EXTRA        # each component has its offset in it, too
    cdef size_t i, end, o = 0, scheme, web
    cdef uint32_t default_port = 0
    cdef bint is_root = False       # the path is "/", which is not written in the URL
    cdef SurtAuthority authority
    if n >= 8 and memcmp(s, b"filedesc", 8) == 0:       # a record about a file of an archive, which has no URL
        return move(dst, s, n)
    if kernels.span(s, n, &VISIBLE.set) < n:
        s = copy
        n = clean_copy(src, n, copy)
    if n == 0:
        dst[0] = c'-'
        return 1

    web = web_prefix(s, n)
    end = web_prefix(s + web, n - web) if web else 0
    while end:
        s, copy, n, web = s + web, copy + web, n - web, end
        end = web_prefix(s + web, n - web)
    scheme = web - 3 if web else end_of_scheme(s, n)
    if scheme == 0 or scheme == 4 and equals(s, b"http", 4):
        default_port = 80
    elif scheme == 5 and equals(s, b"https", 5):
        default_port = 443

    i = scheme + (scheme > 0)
    n = i + size_until(s + i, n - i, c'#')
    if scheme == 0 or n - i >= 2 and s[i] == c'/' and s[i + 1] == c'/':
        find_surt_authority(s, n, i + 2 * (scheme > 0), &authority)
    else:
        authority = SurtAuthority(i, i, i, i, i, True)
    i = authority.end
    if authority.host == authority.host_end and (scheme == 0 or scheme >= 4 and memcmp(s, b"http", 4) == 0):
        find_host_in_path(s, n, &authority)
        is_root = authority.end > i and (authority.end == n or s[authority.end] == c'?')
        i = authority.end
    if authority.host < authority.host_end:
        o = write_surt_host(s + authority.host, authority.host_end - authority.host, authority.is_plain,
                            copy + authority.host, dst, failed)
        if failed[0]:
            return 0
    if o == 0:
        o = move(dst, s, scheme + 1) if scheme else move(dst, b"http:", 5)
        if is_root:
            dst[o] = c'/'
            end = i + size_until(s + i, n - i, c'?') + 1
            return o + 1 + (write_surt_query(s + end, n - end, copy + end, dst + o + 1, failed) if end < n else 0)
        return o + write_without_host(s, n, i, copy, dst + o, failed)
    o += write_port(s + authority.port, authority.port_end - authority.port, default_port, dst + o)
    dst[o] = c')'
    o += 1
    end = i + size_until(s + i, n - i, c'?')
    o += write_surt_path(s + i, end - i, copy + i, dst + o)
    if end < n:
        end += 1
        o += write_surt_query(s + end, n - end, copy + end, dst + o, failed)
    return o


cdef size_t surt_row(const uint8_t *src, size_t n, const void *options, uint8_t *dst, Outcome *outcome) noexcept nogil:
    cdef bint failed = False
    cdef size_t size = write_surt(src, n, dst, &failed)
    if failed:
        outcome.code, outcome.offset = UC_RAISED, 0
        return UC_REJECTED
    return size


# --- w3lib: bytes -----------------------------------------------------------------------------------------------------

# The key is a URL again. Each component has a set of bytes that are written as they are; others become "%HH". The URL is
# read where it is. Only if it contains bytes that are removed, or "\\", it is first copied to the end of the output.

cdef ByteSet READABLE = ByteSet(range(33, 256)) - "\\"      # of a URL that needs no copy
cdef ByteSet USERINFO_PLAIN = UNRESERVED | "!$&'()*+,"
cdef ByteSet PATH_PLAIN = UNRESERVED | ByteSet("!$&'()*+,;=:/?@[]|%")
cdef ByteSet PARAMETERS_PLAIN = PATH_PLAIN - "[]|"          # of the ";" parameters of a path
cdef ByteSet PATH_UNCHANGED = PATH_PLAIN - "%"              # bytes of a path to copy without looking for triplets

# Lists of schemes: the special ones of the URL standard, as w3lib has them; uses_params and uses_netloc of urllib.parse.
cdef const char *SPECIAL = b" http https ftp file ws wss "
cdef const char *WITH_PARAMETERS = \
    b" ftp hdl prospero http imap https shttp rtsp rtsps rtspu sip sips mms sftp tel "
cdef const char *WITH_AUTHORITY = (
    b" ftp http gopher nntp telnet imap wais file mms https shttp snews prospero rtsp rtsps rtspu rsync svn svn+ssh sftp "
    b"nfs git git+ssh ws wss ")


cdef inline int triplet(const uint8_t *s, size_t n) noexcept nogil:
    """Return the byte of the triplet at s; -1 if there is none."""
    return triplet_value(s, n) if n and s[0] == c'%' else -1


cdef inline size_t put_byte(uint8_t byte, const uc_set *unchanged, uint8_t *dst) noexcept nogil:
    """Write a byte as it is if it is in the set, otherwise as "%HH"."""
    if unchanged.member[byte]:
        dst[0] = byte
        return 1
    return write_triplet(byte, dst)


cdef size_t put_decoded(const uint8_t *s, size_t n, const uc_set *unchanged, uint8_t *dst) noexcept nogil:
    """Decode the triplets of a text, and write each byte as put_byte() does."""
    cdef size_t i = 0, o = 0
    cdef int value
    while i < n:
        value = triplet(s + i, n - i)
        o += put_byte(s[i] if value < 0 else <uint8_t>value, unchanged, dst + o)
        i += 1 if value < 0 else 3
    return o


# --- w3lib: path and query --------------------------------------------------------------------------------------------

cdef size_t put_path(const uint8_t *s, size_t n, uint8_t *dst) noexcept nogil:
    """Write a path with its triplets decoded, except for those of % / ; and ?, which are delimiters."""
    cdef size_t i = 0, o = 0, size
    cdef int value
    while True:
        size = kernels.span(s + i, n - i, &PATH_UNCHANGED.set)
        memcpy(dst + o, s + i, size)
        i += size
        o += size
        if i == n:
            return o
        value = triplet(s + i, n - i)
        if value == c'%' or value == c'/' or value == c';' or value == c'?':
            o += put_byte(<uint8_t>value, &UNRESERVED.set, dst + o)
        else:
            o += put_byte(s[i] if value < 0 else <uint8_t>value, &PATH_PLAIN.set, dst + o)
        i += 1 if value < 0 else 3


cdef inline int next_value(const uint8_t *s, size_t n, size_t *i) noexcept nogil:
    """Return the next byte of a parameter, decoded: -1 for the "=" after the name, -2 at the end. `i` is moved."""
    cdef uint8_t c
    if i[0] == n:
        return -2
    c = s[i[0]]
    i[0] += 3 if c == c'%' else 1
    if c == c'%':
        return triplet_value(s + i[0] - 3, 3)
    return -1 if c == c'=' else 32 if c == c'+' else c


cdef int compare_written(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size) noexcept nogil:
    """Compare parameters that put_query() wrote: by the decoded name, then by the decoded value.

    A "=" that is not encoded ends the name. It counts as less than all bytes, so shorter names come first.
    """
    cdef size_t i = 0, j = 0
    cdef int x, y
    while True:
        x, y = next_value(a, a_size, &i), next_value(b, b_size, &j)
        if x != y or x == -2:
            return (x > y) - (x < y)


cdef int compare_decoded(const void *a, const void *b) noexcept nogil:
    cdef const QueryField *x = <const QueryField *>a
    cdef const QueryField *y = <const QueryField *>b
    return compare_written(x.text, x.size, y.text, y.size)


cdef size_t put_form_text(const uint8_t *s, size_t n, uint8_t *dst) noexcept nogil:
    """Write a name or a value with its triplets decoded, "+" for blanks, and other bytes than UNRESERVED encoded."""
    cdef size_t i = 0, o = 0, size
    cdef int value
    while True:
        size = kernels.span(s + i, n - i, &UNRESERVED.set)
        memcpy(dst + o, s + i, size)
        i += size
        o += size
        if i == n:
            return o
        value = triplet(s + i, n - i)
        if s[i] == c'+' or s[i] == c' ' or value == c' ':
            dst[o] = c'+'
            o += 1
        else:
            o += put_byte(s[i] if value < 0 else <uint8_t>value, &UNRESERVED.set, dst + o)
        i += 1 if value < 0 else 3


cdef size_t put_query(const uint8_t *s, size_t n, uint8_t *dst, bint *failed) noexcept nogil:
    """Write "?" and the sorted fields that are not empty, each with a "="; nothing if there is none."""
    cdef QueryReader reader = read_query(s, n)
    cdef QueryField field
    cdef size_t o = 0
    while next_field(&reader, &field):
        if field.size == 0:
            continue
        dst[o] = c'&' if o else c'?'
        o += 1
        o += put_form_text(field.text, field.name_size, dst + o)
        dst[o] = c'='
        o += 1
        if field.name_size < field.size:
            o += put_form_text(field.text + field.name_size + 1, field.size - field.name_size - 1, dst + o)
    if o:
        failed[0] = not sort_query(dst + 1, o - 1, compare_decoded)
    return o


cdef ByteSet PORT_BYTES = ByteSet(":0123456789")        # after a host, they do not change what it becomes


# --- w3lib: the authority ---------------------------------------------------------------------------------------------

cdef Py_ssize_t convert_host(const uint8_t *authority, size_t n, size_t host, size_t host_end, uint8_t *dst) noexcept nogil:
    """Write the host of an authority that is not ASCII. Return its size; -1 if it is rejected; -2 if an exception is set."""
    cdef size_t capacity = 3 * n + KEY_HOST
    cdef Py_ssize_t size
    if host == 0 and host_end <= LONGEST_HOST and (
            kernels.span(authority + host_end, n - host_end, &PORT_BYTES.set) == n - host_end):
        size = to_idna_2003(authority, host_end, dst)
        if size:
            return size
    size = ask_about_host("w3lib_authority", authority, n, dst, capacity)
    return size if size < 0 else ask_about_host("w3lib_host", authority + host, host_end - host, dst, capacity)


cdef size_t put_literal(const uint8_t *s, size_t n, uint8_t *dst) noexcept nogil:
    """Write an IPv6 address with its zone, or an IPvFuture, in brackets. Return 0 if the text is neither."""
    cdef uint16_t groups[GROUPS]
    cdef size_t i, o = 1, size = size_until(s, n, c'%')
    dst[0] = c'['
    if n and s[0] == c'v':
        if not is_ipvfuture(s, n):
            return 0
        size = 0
    elif parse_ipv6(s, size, groups):
        o += format_ipv6(groups, True, dst + o)
        if size < n and (size + 1 == n or memchr(s + size + 1, c'%', n - size - 1) != NULL):
            return 0
    else:
        return 0
    for i in range(size, n):
        if s[i] >= 0x80:
            return 0
        dst[o] = lower(s[i])
        o += 1
    dst[o] = c']'
    return o + 1


cdef struct W3libAuthority:     # offsets in an authority
    size_t start            # after the "@"
    size_t host
    size_t host_end
    size_t port             # of the ":"; the end if there is none
    bint has_userinfo
    bint has_brackets       # around an address with a ":"
    bint is_ascii


cdef inline int find_w3lib_authority(const uint8_t *s, size_t n, W3libAuthority *found) noexcept nogil:
    """Find the parts of an authority. Return 0, or IP_LITERAL if its brackets enclose neither address nor IPvFuture."""
    cdef size_t i, start = 0, host, host_end, port
    cdef bint has_userinfo = False, is_ascii = True, opens = False, closes = False, has_brackets = False
    for i in range(n):
        if s[i] == c'@':
            start = i + 1
            has_userinfo = True
        elif s[i] == c'[':
            opens = True
        elif s[i] == c']':
            closes = True
        elif s[i] >= 0x80:
            is_ascii = False
    host = start
    host_end = port = start + size_until(s + start, n - start, c':')
    found.start, found.has_userinfo, found.is_ascii = start, has_userinfo, is_ascii
    if opens != closes:
        return IP_LITERAL
    if opens:
        if start < n and s[start] == c'[':
            host += 1
            host_end = port = host + size_until(s + host, n - host, c']')
            port += port < n
            if port < n and s[port] != c':':
                return IP_LITERAL
            has_brackets = memchr(s + host, c':', host_end - host) != NULL
        elif memchr(s + start, c'[', n - start) != NULL:
            return IP_LITERAL
        if not has_brackets and not (host_end > host and is_ipvfuture(s + host, host_end - host)):
            return IP_LITERAL
        if host == start:       # the brackets are in the userinfo: then w3lib drops the host
            host = host_end = port = n
    found.host, found.host_end, found.port, found.has_brackets = host, host_end, port, has_brackets
    return 0


cdef inline size_t put_userinfo(const uint8_t *s, size_t n, uint8_t *dst) noexcept nogil:
    """Write a user, ":" and a password, if there is a ":", and "@"."""
    cdef size_t user = size_until(s, n, c':')
    cdef size_t o = put_decoded(s, user, &USERINFO_PLAIN.set, dst)
    if user < n:
        dst[o] = c':'
        o += 1
        o += put_decoded(s + user + 1, n - user - 1, &USERINFO_PLAIN.set, dst + o)
    dst[o] = c'@'
    return o + 1


cdef int put_authority(const uint8_t *s, size_t n, uint8_t *dst, size_t *written, size_t *at) noexcept nogil:
    """Write an authority. Return a UriCode if it is rejected, with its offset `at`; -1 if a MemoryError is set."""
    cdef W3libAuthority found
    cdef size_t i, o = 0, size
    cdef uint32_t port = 0
    cdef Py_ssize_t converted
    cdef int code = find_w3lib_authority(s, n, &found)
    at[0] = found.start
    if code:
        return code
    if found.has_userinfo:
        o = put_userinfo(s, found.start - 1, dst)
    if not found.is_ascii:
        converted = convert_host(s, n, found.host, found.host if found.has_brackets else found.host_end, dst + o)
        if converted < 0:
            return HOST_DELIMITER if converted == -1 else -1
        o += <size_t>converted
    if found.has_brackets:
        size = put_literal(s + found.host, found.host_end - found.host, dst + o)
        if size == 0:
            return IP_LITERAL
        o += size
    elif found.is_ascii:
        for i in range(found.host, found.host_end):
            dst[o] = lower(s[i])
            o += 1
    if found.port + 1 < n:
        at[0] = found.port + 1
        for i in range(found.port + 1, n):
            port = 10 * port + (s[i] - c'0') if is_decimal(s[i]) else 65536
            if port > 65535:
                return PORT
        dst[o] = c':'
        o += 1
        o += write_decimal(port, dst + o)
    written[0] = o
    return 0


# --- w3lib: the URL ---------------------------------------------------------------------------------------------------

cdef size_t readable_copy(const uint8_t *s, size_t n, uint8_t *dst) noexcept nogil:
    """Copy a URL without blanks and controls at its ends, and without tabs and line ends anywhere.

    In the authority and the path of a special scheme, "\\" becomes "/".
    """
    cdef size_t i, scheme, o = 0
    while n and s[n - 1] <= 32:
        n -= 1
    i = 0
    while i < n and s[i] <= 32:
        i += 1
    for i in range(i, n):
        if not (s[i] == 9 or s[i] == 10 or s[i] == 13):
            dst[o] = s[i]
            o += 1
    scheme = end_of_scheme(dst, o)
    for i in range(scheme):
        dst[i] = lower(dst[i])
    if is_one_of(dst, scheme, SPECIAL):
        for i in range(scheme, o):
            if dst[i] == c'?' or dst[i] == c'#':
                break
            if dst[i] == c'\\':
                dst[i] = c'/'
    return o


cdef size_t offset_before(const uint8_t *s, size_t n, size_t count) noexcept nogil:
    """Return the offset in a URL of the byte that is at offset `count` of its readable copy."""
    cdef size_t i = 0
    while i < n and s[i] <= 32:
        i += 1
    while i < n and (count or s[i] == 9 or s[i] == 10 or s[i] == 13):
        count -= not (s[i] == 9 or s[i] == 10 or s[i] == 13)
        i += 1
    return i


cdef inline size_t parameters_offset(const uint8_t *s, size_t start, size_t end) noexcept nogil:
    """Return the offset of the first ";" in the last segment of a path; `end` if there is none."""
    cdef size_t i = end
    while i > start and s[i - 1] != c'/':
        i -= 1
    return i + size_until(s + i, end - i, c';')


cdef size_t w3lib_row(const uint8_t *src, size_t n, const void *options, uint8_t *dst, Outcome *outcome) noexcept nogil:
    cdef const uint8_t *s = src
    cdef size_t whole = n, i, end, o, size = 0, path, scheme, parameters, at = 0
    cdef Parts parts
    cdef bint has_authority, failed = False
    cdef int code
    if kernels.span(s, n, &READABLE.set) < n:
        s = dst + 3 * n + KEY_EXTRA
        n = readable_copy(src, n, dst + 3 * n + KEY_EXTRA)

    find_parts(s, n, &parts)
    scheme = o = <size_t>max(parts.scheme_end, 0)
    for i in range(scheme):
        dst[i] = lower(s[i])
    if scheme:
        dst[o] = c':'
        o += 1
    if parts.authority >= 0:
        i = <size_t>parts.authority
        code = put_authority(s + i, <size_t>parts.path - i, dst + o + 2, &size, &at)
        if code:
            outcome.code = UC_RAISED if code < 0 else code
            outcome.offset = offset_before(src, whole, i + at)
            return UC_REJECTED
    has_authority = size > 0
    if has_authority:
        dst[o] = dst[o + 1] = c'/'
        o += size + 2

    # w3lib drops the fragment
    i, end, n = <size_t>parts.path, <size_t>parts.path_end, <size_t>parts.query_end
    parameters = end
    if memchr(s + i, c';', end - i) != NULL and (scheme == 0 or is_one_of(dst, scheme, WITH_PARAMETERS)):
        parameters = parameters_offset(s, i, end)
    path = o
    o += put_path(s + i, parameters - i, dst + o)
    if o == path:
        dst[o] = c'/'
        o += 1
    elif dst[path] == c'/':
        o = path + remove_dot_segments(dst + path, o - path, False)
    if parameters + 1 < end:
        dst[o] = c';'
        o += 1
        for i in range(parameters + 1, end):
            o += put_byte(s[i], &PARAMETERS_PLAIN.set, dst + o)

    # As urlunsplit() does, so that a path "//a" is not read as an authority, and for schemes that have one.
    if not has_authority and dst[path] == c'/' and (
            o - path > 1 and dst[path + 1] == c'/' or scheme and is_one_of(dst, scheme, WITH_AUTHORITY)):
        memmove(dst + path + 2, dst + path, o - path)
        dst[path] = dst[path + 1] = c'/'
        o += 2

    if end + 1 < n:
        o += put_query(s + end + 1, n - end - 1, dst + o, &failed)
        if failed:
            outcome.code, outcome.offset = UC_RAISED, 0
            return UC_REJECTED
    return o
