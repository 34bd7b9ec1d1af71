"""The form that browsers use: the href of the WHATWG URL Standard, or a rejection.

The Standard describes a state machine over code points that fills a record, and a serializer. Here the href is written
from left to right while the URL is read, because both have the same order. A part is read in a run where the Standard
goes through states:

    clean      leading and trailing C0 controls and spaces, tabs and line ends inside, bytes that are not UTF-8
    scheme     "scheme start", "scheme", "no scheme" and, as one decision, which of the next parts follow
    authority  "special authority ...", "authority", "host", "port", "file host"
    path       "path start", "path" with dot segments and drive letters; "opaque path"
    query, fragment

What a relative URL takes from the base is copied from the base's href. Nothing is ever removed from the output but
segments of the path. Bytes beyond ASCII need no decoding: each is percent-encoded, wherever it stands, but in domains.

Most URLs are their own href. `whatwg_block` finds these in columns without reading them.
"""
cimport cython
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memchr, memcmp, memcpy, memmove

from uricodec._base._kernels cimport ASCII_BYTES, ByteSet, bits_after, kernels, lower, next_mark, uc_set, uc_utf8
from uricodec._base._text cimport *
from uricodec._codec._percent cimport hex_value, triplet_value, write_triplet
from uricodec._rows._engine cimport *
from uricodec._url._idna cimport A_LABELS_CAPACITY, ask_about_host, to_domain
from uricodec._rows._single cimport borrow, characters_before, text_of
from uricodec._url._grammar cimport (
    CODE_NAMES, GROUPS, REASONS, WHATWG_HOST, WHATWG_PORT, WHATWG_SCHEME, format_ipv6, is_numeric_label, parse_ipv6,
    web_prefix,
)


from uricodec import bytesets
from uricodec._base.diagnostics import diagnostic
from uricodec.errors import UriSyntaxError


# --- sets (section 1.3) -----------------------------------------------------------------------------------------------

# Bytes that are not in a percent-encode set (bytesets quotes these): they are left alone.
cdef ByteSet PRINTABLE = ByteSet(range(0x20, 0x7F))
cdef ByteSet IN_OPAQUE = ~bytesets.WHATWG_C0_CONTROL
cdef ByteSet IN_FRAGMENT = ~bytesets.WHATWG_FRAGMENT
cdef ByteSet IN_QUERY = ~bytesets.WHATWG_QUERY
cdef ByteSet IN_SPECIAL_QUERY = ~bytesets.WHATWG_SPECIAL_QUERY
cdef ByteSet IN_PATH = ~bytesets.WHATWG_PATH
cdef ByteSet IN_USERINFO = ~bytesets.WHATWG_USERINFO

# "A forbidden host code point is U+0000 NULL, U+0009 TAB, U+000A LF, U+000D CR, U+0020 SPACE, U+0023 (#), U+002F (/),
# U+003A (:), U+003C (<), U+003E (>), U+003F (?), U+0040 (@), U+005B ([), U+005C (\), U+005D (]), U+005E (^), or
# U+007C (|)."
cdef ByteSet FORBIDDEN_HOST = ByteSet("\0\t\n\r #/:<>?@[\\]^|")
cdef ByteSet IN_OPAQUE_HOST = ~FORBIDDEN_HOST
# "A forbidden domain code point is a forbidden host code point, a C0 control, U+0025 (%), or U+007F DELETE."
cdef ByteSet IN_DOMAIN = PRINTABLE - FORBIDDEN_HOST - "%"

# What a byte of a domain becomes; 0: it is forbidden, or not ASCII.
cdef uint8_t DOMAIN[256]
cdef int code
for code in range(256):
    DOMAIN[code] = lower(<uint8_t>code) if IN_DOMAIN.set.member[code] else 0

# Bytes of a path that are copied in runs. A "." or a "%" may begin a dot segment.
cdef ByteSet PATH_RUN = IN_PATH - ".%\\"

cdef ByteSet BUT_BLANKS = ~ByteSet("\t\n\r")
cdef ByteSet SCHEME_BYTES = ByteSet("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-.")


# --- schemes ----------------------------------------------------------------------------------------------------------

cdef enum WhatwgScheme:
    NOT_SPECIAL, HTTP, HTTPS, WS, WSS, FTP, FILE

cdef uint16_t[7] PORTS = [0, 80, 443, 80, 443, 21, 0]


cdef inline WhatwgScheme scheme_of(const uint8_t *name, size_t n) noexcept nogil:
    """Return a special scheme, given in lower case."""
    if n == 5:
        return HTTPS if memcmp(name, b"https", 5) == 0 else NOT_SPECIAL
    if n == 4:
        return HTTP if memcmp(name, b"http", 4) == 0 else FILE if memcmp(name, b"file", 4) == 0 else NOT_SPECIAL
    if n == 3:
        return FTP if memcmp(name, b"ftp", 3) == 0 else WSS if memcmp(name, b"wss", 3) == 0 else NOT_SPECIAL
    return WS if n == 2 and name[0] == c'w' and name[1] == c's' else NOT_SPECIAL


cdef inline bint is_letter(uint8_t c) noexcept nogil:
    return c'a' <= (c | 0x20) <= c'z'


cdef inline bint is_slash(uint8_t c, int scheme) noexcept nogil:
    return c == c'/' or c == c'\\' and scheme != NOT_SPECIAL


cdef inline bint ends_part(uint8_t c, int scheme) noexcept nogil:
    """Return whether a byte ends an authority."""
    return c == c'/' or c == c'?' or c == c'#' or c == c'\\' and scheme != NOT_SPECIAL


cdef inline bint reject(Outcome *outcome, int code, size_t offset) noexcept nogil:
    outcome.code, outcome.offset = code, offset
    return False


# --- hosts (section 3.5) ----------------------------------------------------------------------------------------------

cdef Py_ssize_t convert_domain(const uint8_t *domain, size_t n, uint8_t *dst, size_t capacity) noexcept nogil:
    """Write a domain that is not ASCII. -1: it is invalid; -2: an exception is set."""
    cdef uint8_t ascii[A_LABELS_CAPACITY]
    cdef size_t size = to_domain(domain, n, ascii)
    if size == UC_REJECTED:
        return -2
    if size and size <= capacity:
        memcpy(dst, ascii, size)
        return <Py_ssize_t>size
    return ask_about_host("domain_to_ascii", domain, n, dst, capacity)


cdef bint read_number(const uint8_t *s, size_t n, uint64_t *value) noexcept nogil:
    """Read an IPv4 number; values above 32 bits are some value above 32 bits."""
    cdef int base = 10, digit
    cdef size_t i = 0
    if n == 0:
        return False
    if n >= 2 and s[0] == c'0':
        base = 16 if s[1] == c'x' else 8
        i = 2 if base == 16 else 1
    value[0] = 0
    for i in range(i, n):
        digit = hex_value(s[i])
        if not 0 <= digit < base:
            return False
        value[0] = value[0] * <uint64_t>base + <uint64_t>digit
        if value[0] >> 32:
            value[0] = <uint64_t>1 << 32
    return True


cdef Py_ssize_t write_ipv4(const uint8_t *domain, size_t n, uint8_t *dst) noexcept nogil:
    """Write the address for a domain in lower case that ends in a number. -1: it is invalid. dst may be `domain`."""
    cdef uint64_t numbers[4]
    cdef uint64_t address
    cdef size_t start = 0, i, count = 0, o = 0
    if n > 1 and domain[n - 1] == c'.':
        n -= 1
    for i in range(n + 1):
        if i < n and domain[i] != c'.':
            continue
        if count == 4 or not read_number(domain + start, i - start, numbers + count):
            return -1
        count += 1
        start = i + 1
    address = numbers[count - 1]
    if address >> (8 * (5 - count)):
        return -1
    for i in range(count - 1):
        if numbers[i] > 255:
            return -1
        address |= numbers[i] << (24 - 8 * i)
    for i in range(4):
        if i:
            dst[o] = c'.'
            o += 1
        o += write_decimal(address >> (24 - 8 * i) & 255, dst + o)
    return <Py_ssize_t>o


cdef inline bint ends_in_number(const uint8_t *domain, size_t n) noexcept nogil:
    cdef size_t start
    if n and domain[n - 1] == c'.':
        n -= 1
    start = n
    while start and domain[start - 1] != c'.':
        start -= 1
    return start < n and c'0' <= domain[start] <= c'9' and is_numeric_label(domain + start, n - start)


cdef Py_ssize_t write_domain(const uint8_t *s, size_t n, uint8_t *dst) noexcept nogil:
    """Write a domain or an IPv4 address, at most 9 * n + 16 bytes. -1: it is invalid; -2: an exception is set."""
    cdef uint8_t small[256]
    cdef uint8_t *decoded = small
    cdef size_t i = 0, size = 0
    cdef Py_ssize_t written
    cdef bint ascii = True, allowed = True
    cdef int c
    # Percent-decoded; in lower case, if it is ASCII.
    while i < n:
        c = triplet_value(s + i, n - i) if s[i] == c'%' else s[i]
        if c < 0:
            return -1       # a "%" is forbidden
        i += 3 if s[i] == c'%' else 1
        if c < 0x80:
            # Before U+0338, "<" and ">" become characters that are allowed.
            allowed &= DOMAIN[c] != 0
            c = DOMAIN[c] if DOMAIN[c] else c
        else:
            ascii = False
        dst[size] = <uint8_t>c
        size += 1
    written = <Py_ssize_t>size
    if ascii and not allowed:
        return -1
    if not ascii:
        if size > sizeof(small):
            decoded = <uint8_t *>malloc(size)
            if decoded == NULL:
                set_no_memory()  # pragma: no cover: no memory
                return -2  # pragma: no cover: no memory
        memcpy(decoded, dst, size)
        written = convert_domain(decoded, size, dst, 9 * n + 16)
        if decoded != small:
            free(decoded)
    if written > 0 and ends_in_number(dst, <size_t>written):
        return write_ipv4(dst, <size_t>written, dst)
    return written if written else -1


cdef Py_ssize_t write_host(const uint8_t *s, size_t n, int scheme, uint8_t *dst) noexcept nogil:
    """Write a host that is not empty. -1: it is invalid; -2: an exception is set."""
    cdef uint16_t groups[GROUPS]
    cdef size_t size
    if s[0] == c'[':
        if s[n - 1] != c']' or n < 2 or not parse_ipv6(s + 1, n - 2, groups):
            return -1
        dst[0] = c'['
        size = 1 + format_ipv6(groups, False, dst + 1)
        dst[size] = c']'
        return <Py_ssize_t>size + 1
    if scheme != NOT_SPECIAL:
        return write_domain(s, n, dst)
    if kernels.span(s, n, &IN_OPAQUE_HOST.set) < n:
        return -1
    return <Py_ssize_t>kernels.encode(s, n, &IN_OPAQUE.set, False, dst, 3 * n)


# --- authorities ------------------------------------------------------------------------------------------------------

# What of the base a URL takes: nothing, its authority, and its path, but for the last segment, or with its query.
cdef enum Taken:
    NOTHING, AUTHORITY, FOLDER, PATH, QUERY

# A URL while it is read: s[0 .. n), and what was written. Functions move both `i` and `o`.
cdef struct Reader:
    const uint8_t *s
    size_t n
    size_t i
    uint8_t *dst
    size_t o
    int scheme
    const Href *base        # NULL: the URL takes nothing of it
    Taken taken
    bint has_path           # more of it follows than what is taken
    Href *made


cdef bint put_host(Reader *reader, size_t end, Outcome *outcome) noexcept nogil:
    """Write the host s[i .. end), which is not empty."""
    cdef Py_ssize_t size = write_host(reader.s + reader.i, end - reader.i, reader.scheme, reader.dst + reader.o)
    if size < 0:
        return reject(outcome, UC_RAISED if size == -2 else WHATWG_HOST, reader.i)
    reader.o += <size_t>size
    reader.i = end
    return True


cdef bint put_port(Reader *reader, size_t end, Outcome *outcome) noexcept nogil:
    """Write the port s[i .. end), unless it is empty or the default one."""
    cdef uint32_t port = 0
    cdef size_t i, start = reader.i
    reader.i = end
    for i in range(start, end):
        if not c'0' <= reader.s[i] <= c'9':
            return reject(outcome, WHATWG_PORT, i)
        port = 10 * port + <uint32_t>(reader.s[i] - c'0')
        if port > 65536:
            port = 65536
    if port > 65535:
        return reject(outcome, WHATWG_PORT, start)
    if start == end or port == PORTS[reader.scheme] and (reader.scheme != NOT_SPECIAL and reader.scheme != FILE):
        return True
    reader.dst[reader.o] = c':'
    reader.o += 1
    reader.o += write_decimal(port, reader.dst + reader.o)
    return True


cdef void put_userinfo(Reader *reader, size_t end) noexcept nogil:
    """Write the userinfo s[i .. end) and a "@", unless it is empty."""
    cdef const uint8_t *s = reader.s + reader.i
    cdef uint8_t *dst = reader.dst + reader.o
    cdef size_t n = end - reader.i, o
    cdef const uint8_t *colon = <const uint8_t *>memchr(s, c':', n)
    cdef size_t name = n if colon == NULL else <size_t>(colon - s)
    reader.i = end + 1
    if n == 0 or name == 0 and n == 1:
        return
    o = kernels.encode(s, name, &IN_USERINFO.set, False, dst, 3 * name)
    if name + 1 < n:
        dst[o] = c':'
        o += 1
        o += kernels.encode(s + name + 1, n - name - 1, &IN_USERINFO.set, False, dst + o, 3 * (n - name - 1))
    dst[o] = c'@'
    reader.o += o + 1


cdef bint put_usual_host(Reader *reader) noexcept nogil:
    """Write a domain without userinfo or port, if that is all. Otherwise, nothing is written."""
    cdef const uint8_t *s = reader.s
    cdef uint8_t *dst = reader.dst + reader.o
    cdef size_t i = reader.i, size = 0
    cdef uint8_t c
    while i < reader.n:
        c = DOMAIN[s[i]]
        if c == 0:
            break
        dst[size] = c
        i += 1
        size += 1
    if size == 0 or i < reader.n and not ends_part(s[i], reader.scheme) or ends_in_number(dst, size):
        return False
    reader.i = i
    reader.o += size
    return True


cdef bint put_authority(Reader *reader, Outcome *outcome) noexcept nogil:
    """Write "//" and an authority."""
    cdef const uint8_t *s = reader.s
    cdef size_t i, end, host_end
    cdef Py_ssize_t at = -1
    cdef bint in_brackets = False
    reader.dst[reader.o] = reader.dst[reader.o + 1] = c'/'
    reader.o += 2
    if reader.scheme != NOT_SPECIAL and put_usual_host(reader):
        return True
    end = reader.i
    while end < reader.n and not ends_part(s[end], reader.scheme):
        if s[end] == c'@':
            at = <Py_ssize_t>end
        end += 1
    if at >= 0:
        put_userinfo(reader, <size_t>at)
        if reader.i == end:
            return reject(outcome, WHATWG_HOST, end)
    host_end = end
    for i in range(reader.i, end):
        if s[i] == c':' and not in_brackets:
            host_end = i
            break
        in_brackets = s[i] == c'[' or in_brackets and s[i] != c']'
    if host_end == reader.i:
        if reader.scheme != NOT_SPECIAL or host_end < end:
            return reject(outcome, WHATWG_HOST, host_end)
        return True
    if not put_host(reader, host_end, outcome):
        return False
    if host_end < end:
        reader.i += 1
        return put_port(reader, end, outcome)
    return True


# --- paths ------------------------------------------------------------------------------------------------------------

cdef inline bint begins_with_drive(const uint8_t *s, size_t n) noexcept nogil:
    """Return whether text "starts with a Windows drive letter"."""
    return (n >= 2 and is_letter(s[0]) and (s[1] == c':' or s[1] == c'|')
            and (n == 2 or s[2] == c'/' or s[2] == c'\\' or s[2] == c'?' or s[2] == c'#'))


cdef inline size_t without_last(const uint8_t *path, size_t n, int scheme) noexcept nogil:
    """Return the size of a path without its last segment, but a drive letter stays."""
    if scheme == FILE and n == 3 and is_letter(path[1]) and path[2] == c':':
        return n
    while n and path[n - 1] != c'/':
        n -= 1
    return n - (n > 0)


cdef inline size_t dot_segment(const uint8_t *s, size_t n, int scheme, int *dots) noexcept nogil:
    """Return the size of the dot segment at s, and set the number of its dots; 0 if there is none."""
    cdef size_t i = 0
    dots[0] = 0
    while i < n and not ends_part(s[i], scheme):
        if s[i] == c'.':
            i += 1
        elif n - i >= 3 and s[i] == c'%' and s[i + 1] == c'2' and s[i + 2] | 0x20 == c'e':
            i += 3
        else:
            return 0
        dots[0] += 1
        if dots[0] > 2:
            return 0
    return i


cdef void put_path(Reader *reader, size_t path) noexcept nogil:
    """Write the segments from s[i] on, after those of the path that starts at dst[path]."""
    cdef const uint8_t *s = reader.s
    cdef uint8_t *dst = reader.dst
    cdef size_t i = reader.i, o = reader.o, n = reader.n, size
    cdef int dots
    cdef uint8_t c
    if reader.scheme == FILE and o == path and begins_with_drive(s + i, n - i):
        dst[o], dst[o + 1], dst[o + 2] = c'/', s[i], c':'
        i += 2
        o += 3
        if i == n or not is_slash(s[i], FILE):
            reader.i, reader.o = i, o
            return
        i += 1
    dst[o] = c'/'
    o += 1
    while i < n:
        size = kernels.span(s + i, n - i, &PATH_RUN.set)
        memcpy(dst + o, s + i, size)
        i += size
        o += size
        if i == n:
            break
        c = s[i]
        if c == c'?' or c == c'#':
            break
        if (c == c'.' or c == c'%') and dst[o - 1] == c'/':
            size = dot_segment(s + i, n - i, reader.scheme, &dots)
            if size:
                i += size
                o -= 1
                if dots == 2:
                    o = path + without_last(dst + path, o - path, reader.scheme)
                # A dot segment at the end leaves an empty segment.
                dst[o] = c'/'
                o += 1
                if i == n or not is_slash(s[i], reader.scheme):
                    break
                i += 1
                if reader.scheme == FILE and o == path + 1 and begins_with_drive(s + i, n - i):
                    dst[o], dst[o + 1] = s[i], c':'
                    i += 2
                    o += 2
                continue
        if is_slash(c, reader.scheme):
            dst[o] = c'/'
            o += 1
        elif IN_PATH.set.member[c]:
            dst[o] = c
            o += 1
        else:
            o += write_triplet(c, dst + o)
        i += 1
    reader.i, reader.o = i, o


cdef void put_opaque(Reader *reader) noexcept nogil:
    """Write an opaque path. A space before "?" or "#" is encoded: otherwise it would be stripped with what follows it."""
    cdef const uint8_t *s = reader.s + reader.i
    cdef size_t n = 0, most = reader.n - reader.i
    cdef bint ends_with_space
    while n < most and s[n] != c'?' and s[n] != c'#':
        n += 1
    ends_with_space = n and n < most and s[n - 1] == c' '
    reader.o += kernels.encode(s, n - ends_with_space, &IN_OPAQUE.set, False, reader.dst + reader.o, 3 * n)
    if ends_with_space:
        reader.o += write_triplet(c' ', reader.dst + reader.o)
    reader.i += n


# --- URLs (section 4.4) -----------------------------------------------------------------------------------------------

cdef inline void put_text(Reader *reader, const uint8_t *s, size_t n) noexcept nogil:
    memcpy(reader.dst + reader.o, s, n)
    reader.o += n


cdef inline size_t skip_slashes(const Reader *reader, size_t i) noexcept nogil:
    while i < reader.n and (reader.s[i] == c'/' or reader.s[i] == c'\\'):
        i += 1
    return i


cdef inline void put_authority_of_base(Reader *reader) noexcept nogil:
    cdef const Href *base = reader.base
    put_text(reader, base.text + base.scheme_size + 1, base.authority_end - base.scheme_size - 1)


# The states of the standard's parser, in its order, with its names in quotes. Each of these functions writes a part.

cdef bint put_scheme(Reader *reader, const Href *base, Outcome *outcome) noexcept nogil:
    """Write the scheme ("scheme start", "scheme", "no scheme", "special relative or authority"). Keep a base that counts."""
    cdef const uint8_t *s = reader.s
    cdef Href *made = reader.made
    made.scheme_size = read_scheme(reader)
    reader.base = base
    if made.scheme_size == 0:
        if base == NULL or base.opaque and not (reader.n and s[0] == c'#'):
            return reject(outcome, WHATWG_SCHEME, 0)
        reader.scheme, made.scheme_size = base.scheme, base.scheme_size
        put_text(reader, base.text, base.scheme_size + 1)
    else:
        reader.scheme = scheme_of(reader.dst, made.scheme_size)
        if (base != NULL and (reader.scheme == NOT_SPECIAL or base.scheme != reader.scheme)
                or reader.scheme != FILE and reader.n - reader.i >= 2 and s[reader.i] == c'/' and s[reader.i + 1] == c'/'):
            reader.base = NULL
    made.scheme = reader.scheme
    return True


cdef bint put_relative(Reader *reader) noexcept nogil:
    """Decide what of the base is taken, and write its authority ("relative", "relative slash"). True: "//" precedes another one."""
    cdef const uint8_t *s = reader.s + reader.i
    cdef size_t n = reader.n - reader.i
    if n >= 2 and is_slash(s[0], reader.scheme) and is_slash(s[1], reader.scheme):
        reader.i = skip_slashes(reader, reader.i) if reader.scheme != NOT_SPECIAL else reader.i + 2
        return True
    reader.made.has_host = reader.base.has_host
    put_authority_of_base(reader)
    reader.taken = FOLDER
    if n == 0 or s[0] == c'#':
        reader.taken = QUERY
    elif s[0] == c'?':
        reader.taken = PATH
    elif is_slash(s[0], reader.scheme):
        reader.taken = AUTHORITY
        reader.i += 1
    return False


cdef bint put_start(Reader *reader, Outcome *outcome) noexcept nogil:
    """Write what is before the path of a URL that is not of a file ("special authority slashes", "path or authority")."""
    cdef const uint8_t *s = reader.s
    cdef size_t i = reader.i
    cdef bint has_authority = False
    if reader.base != NULL:
        has_authority = put_relative(reader)
    elif reader.scheme != NOT_SPECIAL:
        reader.i = skip_slashes(reader, i)
        has_authority = True
    elif reader.n - i >= 2 and s[i] == c'/' and s[i + 1] == c'/':
        reader.i += 2
        has_authority = True
    elif i < reader.n and s[i] == c'/':
        reader.i += 1
        reader.made.has_host = False
    else:
        reader.made.opaque, reader.made.has_host = True, False
    if has_authority:
        if not put_authority(reader, outcome):
            return False
        # "path start"
        if reader.i < reader.n and is_slash(s[reader.i], reader.scheme):
            reader.i += 1
        elif reader.scheme == NOT_SPECIAL:
            reader.has_path = False
    reader.made.authority_end = reader.made.path = reader.o
    return True


cdef bint put_file_host(Reader *reader, Outcome *outcome) noexcept nogil:
    """Write the authority of a file ("file host"), at s[i]; a drive letter there belongs to the path."""
    cdef const uint8_t *s = reader.s
    cdef size_t i = reader.i, end = i, start
    put_text(reader, b"//", 2)
    start = reader.o
    while end < reader.n and not ends_part(s[end], FILE):
        end += 1
    if end - i == 2 and begins_with_drive(s + i, reader.n - i):
        return True
    if end > i:
        if not put_host(reader, end, outcome):
            return False
        if reader.o - start == 9 and memcmp(reader.dst + start, b"localhost", 9) == 0:
            reader.o = start
    if end < reader.n and is_slash(s[end], FILE):
        reader.i += 1
    return True


cdef bint put_start_of_file(Reader *reader, Outcome *outcome) noexcept nogil:
    """Write what is before the rest of the path of a file ("file", "file slash")."""
    cdef const uint8_t *s = reader.s
    cdef const Href *base = reader.base
    cdef Href *made = reader.made
    cdef const uint8_t *drive
    cdef size_t n = reader.n, i = reader.i, size
    if n - i >= 2 and is_slash(s[i], FILE) and is_slash(s[i + 1], FILE):
        reader.i += 2
        if not put_file_host(reader, outcome):
            return False
        made.authority_end = made.path = reader.o
        return True
    if base == NULL:
        put_text(reader, b"//", 2)
    else:
        put_authority_of_base(reader)
    made.authority_end = made.path = reader.o
    if i < n and is_slash(s[i], FILE):
        reader.i += 1
        if base != NULL and not begins_with_drive(s + i + 1, n - i - 1):
            drive, size = base.text + base.path, base.path_end - base.path
            if size >= 3 and is_letter(drive[1]) and drive[2] == c':' and (size == 3 or drive[3] == c'/'):
                put_text(reader, drive, 3)
    elif base != NULL:
        if i == n or s[i] == c'#':
            reader.taken = QUERY
        elif s[i] == c'?':
            reader.taken = PATH
        elif not begins_with_drive(s + i, n - i):
            reader.taken = FOLDER
    return True


cdef void put_whole_path(Reader *reader) noexcept nogil:
    """Write what is taken of the path of the base, and the path of the URL ("path", "opaque path")."""
    cdef const Href *base = reader.base
    cdef Href *made = reader.made
    cdef const uint8_t *taken
    cdef uint8_t *path = reader.dst + made.path
    cdef size_t size, start = made.path
    if reader.taken >= FOLDER:
        taken, size = base.text + base.path, base.path_end - base.path
        if reader.taken == FOLDER:
            size = without_last(taken, size, reader.scheme)
        put_text(reader, taken, base.query_end - base.path if reader.taken == QUERY else size)
    elif made.opaque:
        put_opaque(reader)
    if reader.taken < PATH and not made.opaque and reader.has_path:
        put_path(reader, start)
    made.path_end = reader.o
    if not made.has_host and not made.opaque and reader.o - start >= 2 and path[0] == c'/' and path[1] == c'/':
        # Otherwise the path would be read as an authority.
        memmove(path + 2, path, reader.o - start)
        path[0], path[1] = c'/', c'.'
        reader.o += 2
        made.path += 2
        made.path_end += 2
    if reader.taken == QUERY:
        made.path_end = made.path + base.path_end - base.path


cdef void put_rest(Reader *reader) noexcept nogil:
    """Write what follows the path ("query", "fragment")."""
    cdef const uint8_t *s = reader.s
    cdef const uint8_t *found
    cdef size_t size
    cdef const uc_set *in_query = &IN_SPECIAL_QUERY.set if reader.scheme != NOT_SPECIAL else &IN_QUERY.set
    if reader.i < reader.n and s[reader.i] == c'?' and reader.taken != QUERY:
        found = <const uint8_t *>memchr(s + reader.i, c'#', reader.n - reader.i)
        size = (reader.n if found == NULL else <size_t>(found - s)) - reader.i - 1
        reader.dst[reader.o] = c'?'
        reader.o += 1
        reader.o += kernels.encode(s + reader.i + 1, size, in_query, False, reader.dst + reader.o, 3 * size)
        reader.i += size + 1
    reader.made.query_end = reader.o
    if reader.i < reader.n:
        size = reader.n - reader.i - 1
        reader.dst[reader.o] = c'#'
        reader.o += 1
        reader.o += kernels.encode(s + reader.i + 1, size, &IN_FRAGMENT.set, False, reader.dst + reader.o, 3 * size)


cdef size_t read_scheme(Reader *reader) noexcept nogil:
    """Write a scheme and ":", in lower case. Return its size; 0 if there is none."""
    cdef const uint8_t *s = reader.s
    cdef size_t i = 0
    if reader.n == 0 or not is_letter(s[0]):
        return 0
    while i < reader.n and SCHEME_BYTES.set.member[s[i]]:
        reader.dst[i] = lower(s[i])
        i += 1
    if i == reader.n or s[i] != c':':
        return 0
    reader.dst[i] = c':'
    reader.i = reader.o = i + 1
    return i


cdef bint write_href(const uint8_t *s, size_t n, const Href *base, uint8_t *dst, Href *made, size_t *size,
                     Outcome *outcome) noexcept nogil:
    """Write the href of a clean URL."""
    cdef Reader reader
    reader.s, reader.n, reader.i, reader.dst, reader.o = s, n, 0, dst, 0
    reader.taken, reader.has_path, reader.made = NOTHING, True, made
    made.text, made.opaque, made.has_host = dst, False, True
    if not put_scheme(&reader, base, outcome):
        return False
    if reader.base != NULL and base.opaque:
        made.opaque, made.has_host, reader.taken = True, False, QUERY
        made.authority_end = made.path = reader.o
    elif reader.scheme == FILE:
        if not put_start_of_file(&reader, outcome):
            return False
    elif not put_start(&reader, outcome):
        return False
    put_whole_path(&reader)
    put_rest(&reader)
    size[0] = reader.o
    return True


# --- clean URLs -------------------------------------------------------------------------------------------------------

cdef size_t clean(const uint8_t *s, size_t n, uint8_t *dst, size_t stop, size_t *at) noexcept nogil:
    """Copy text without tabs and line ends, and with U+FFFD for what is not UTF-8. Return the size.

    If it has more than `stop` bytes, set `at` to where byte `stop` comes from.
    """
    cdef size_t i = 0, o = 0, size
    at[0] = n
    while i < n:
        if o <= stop:
            at[0] = i
        if s[i] < 0x80:
            if BUT_BLANKS.set.member[s[i]]:
                if dst != NULL:
                    dst[o] = s[i]
                o += 1
            i += 1
            continue
        size = ill_formed(s + i, n - i)
        if size:
            if dst != NULL:
                dst[o], dst[o + 1], dst[o + 2] = 0xEF, 0xBF, 0xBD
            o += 3
            i += size
            continue
        size = 2 if s[i] < 0xE0 else 3 if s[i] < 0xF0 else 4
        if dst != NULL:
            memcpy(dst + o, s + i, size)
        o += size
        i += size
    if o <= stop:
        at[0] = n
    return o


cdef size_t read_url(const uint8_t *src, size_t n, const Href *base, uint8_t *dst, Href *made,
                     Outcome *outcome) noexcept nogil:
    """Write the href of any bytes. Return its size; UC_REJECTED if they are rejected."""
    cdef uint8_t small[1024]
    cdef uint8_t *cleaned = small
    cdef size_t start = 0, size = 0, cleaned_size
    cdef uc_utf8 found
    cdef bint accepted
    while n and src[n - 1] <= 0x20:
        n -= 1
    while start < n and src[start] <= 0x20:
        start += 1
    src += start
    n -= start
    if kernels.span(src, n, &BUT_BLANKS.set) == n and (
            kernels.span(src, n, &ASCII_BYTES.set) == n or kernels.scan_utf8(src, n, &found) == n):
        accepted = write_href(src, n, base, dst, made, &size, outcome)
        if not accepted:
            outcome.offset += start
        return size if accepted else UC_REJECTED
    if 3 * n > sizeof(small):
        cleaned = <uint8_t *>malloc(3 * n)
        if cleaned == NULL:
            set_no_memory()  # pragma: no cover: no memory
            outcome.code, outcome.offset = UC_RAISED, 0  # pragma: no cover: no memory
            return UC_REJECTED  # pragma: no cover: no memory
    cleaned_size = clean(src, n, cleaned, 0, &size)
    accepted = write_href(cleaned, cleaned_size, base, dst, made, &size, outcome)
    if not accepted:
        clean(src, n, NULL, outcome.offset, &cleaned_size)
        outcome.offset = start + cleaned_size
    if cleaned != small:
        free(cleaned)
    return size if accepted else UC_REJECTED


# --- rows -------------------------------------------------------------------------------------------------------------

cdef size_t whatwg_row(const uint8_t *src, size_t n, const void *options, uint8_t *dst, Outcome *outcome) noexcept nogil:
    cdef Href made
    return read_url(src, n, <const Href *>options, dst, &made, outcome)


cdef size_t check_whatwg_row(const uint8_t *src, size_t n, const void *options, uint8_t *dst,
                             Outcome *outcome) noexcept nogil:
    cdef uint8_t small[WHATWG_FACTOR * SMALL + WHATWG_EXTRA]
    cdef uint8_t *href = small
    cdef Href made
    cdef size_t size = WHATWG_FACTOR * n + WHATWG_EXTRA
    if options != NULL:
        size += (<const Href *>options).query_end
    if size > sizeof(small):
        href = <uint8_t *>malloc(size)
        if href == NULL:
            set_no_memory()  # pragma: no cover: no memory
            outcome.code, outcome.offset = UC_RAISED, 0  # pragma: no cover: no memory
            return UC_REJECTED  # pragma: no cover: no memory
    size = read_url(src, n, <const Href *>options, href, &made, outcome)
    if href != small:
        free(href)
    return UC_REJECTED if size == UC_REJECTED else 0


# --- rows that are their own href -------------------------------------------------------------------------------------

# A URL is its own href if it begins with "http://" or "https://" and a domain in lower case that does not end in a number,
# then a path that begins with "/", and if it has
#
#     no byte that any component changes: then nothing is cleaned, encoded, or a slash
#     no "." or "%" after a "/": then there is no dot segment
#
# A row in which such a byte stands where it does not change is looked at by the row function.
cdef ByteSet UNCHANGED = (IN_PATH & IN_SPECIAL_QUERY & IN_FRAGMENT | "?#") - "\\"
cdef ByteSet BUT_SLASH = ~ByteSet("/")
cdef ByteSet BUT_DOT_OR_PERCENT = ~ByteSet(".%")

cdef enum:
    BLOCK_WORDS = BLOCK // 64 + 1     # at most, for one call


cdef inline bint has_plain_start(const uint8_t *s, size_t n) noexcept nogil:
    cdef size_t start = web_prefix(s, n), i = start
    if start == 0:
        return False
    while i < n and DOMAIN[s[i]] == s[i] and s[i]:
        i += 1
    return start < i < n and s[i] == c'/' and not ends_in_number(s + start, i - start)


cdef bint whatwg_block(Run *run) noexcept nogil:
    cdef uint64_t marks[BLOCK_WORDS]
    cdef uint64_t slashes[BLOCK_WORDS]
    cdef uint64_t dots[BLOCK_WORDS]
    cdef Block *block = run.block
    cdef const uint8_t *src = block.data
    cdef size_t w, i, start, end, rows = block.rows, size = block.at[rows]
    kernels.mark_outside(src, size, &UNCHANGED.set, marks)
    kernels.mark_outside(src, size, &BUT_SLASH.set, slashes)
    kernels.mark_outside(src, size, &BUT_DOT_OR_PERCENT.set, dots)
    for w in range((size + 63) // 64):
        marks[w] |= dots[w] & bits_after(slashes, w, 1)
    for i in range(rows):
        start, end = block.at[i], block.at[i + 1] - tail_of(run, i)
        if has_plain_start(src + start, end - start) and next_mark(marks, start, end) == end:
            continue
        if i > run.done:
            pass_rows(run, i)
        if not do_row(run):
            return False
    if run.done < rows:
        pass_rows(run, rows)
    return True


# --- bases ------------------------------------------------------------------------------------------------------------

@cython.final
cdef class WhatwgBase:
    """The base of relative URLs.

    Args:
        base (str | bytes-like): An absolute URL.

    Raises:
        UriSyntaxError: If it is invalid.
        TypeError: If it has another type.
    """

    def __cinit__(self, base):
        cdef Outcome outcome
        cdef Href made
        cdef bytes given, room
        cdef size_t size
        if isinstance(base, str):
            given = without_surrogates(str.__str__(base)).encode()
        else:
            given = bytes(memoryview(base))
        room = bytes(WHATWG_FACTOR * len(given) + WHATWG_EXTRA)
        size = read_url(<const uint8_t *>PyBytes_AS_STRING(given), <size_t>len(given), NULL,
                        <uint8_t *>PyBytes_AS_STRING(room), &made, &outcome)
        if size == UC_REJECTED:
            if outcome.code == UC_RAISED:
                reraise()
            raise UriSyntaxError("invalid base URL", base, 0)
        self.memory = room[:size]
        self.href = made
        self.href.text = <const uint8_t *>PyBytes_AS_STRING(self.memory)


# --- single values ---------------------------------------------------------------------------------------------------

cdef object find_fault_of_url(object input, object base):
    """Return why the URL Standard rejects a URL (Diagnostic); None if it accepts it.

    Args:
        input (str | bytes-like): The URL.
        base (str | bytes-like | None): The base of relative URLs.
    """
    cdef uint8_t buffer[UTF8_CAPACITY]
    cdef Bytes source
    cdef Outcome outcome
    cdef WhatwgBase record = None if base is None else WhatwgBase(base)
    cdef const Href *href = NULL if record is None else &record.href
    cdef object text = text_of(input)
    cdef size_t size
    if not borrow(text, &source, buffer):
        text = without_surrogates(text)
        borrow(text, &source, buffer)
    if source.size <= SMALL:
        size = check_whatwg_row(source.data, source.size, href, NULL, &outcome)
    else:
        with nogil:
            size = check_whatwg_row(source.data, source.size, href, NULL, &outcome)
    if size == UC_REJECTED and type(text) is str:
        outcome.offset = <size_t>characters_before(source.data, outcome.offset)
    release(&source)
    if size != UC_REJECTED:
        return None
    if outcome.code == UC_RAISED:
        reraise()
    return diagnostic(CODE_NAMES[outcome.code], REASONS[outcome.code], input, <Py_ssize_t>outcome.offset)
