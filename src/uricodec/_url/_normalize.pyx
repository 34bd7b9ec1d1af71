"""Normal forms of URIs and IRIs: RFC 3986 section 6.2, RFC 3987 section 5.3, RFC 2396, RFC 1630.

A form is written from left to right: scheme, authority, path, then query and fragment. Inside the components only
triplets, some percent-encoded or decoded characters, and letters of scheme and host change; all other bytes are copied
in runs. Then dot segments are removed in the written path, which only becomes shorter. Last, a guard is added if
necessary: removing dot segments must not create an authority, and decoding must not create a scheme.

Malformed parts are kept unchanged: a "%" that does not begin a triplet, bytes that are not UTF-8, an authority with
misplaced delimiters. The normal form of a normal form must be the same, so a triplet that decodes to a hexadecimal
digit stays encoded if the digit would complete a triplet with a stray "%" before it.
"""
from libc.stdint cimport uint8_t
from libc.string cimport memchr, memcmp, memcpy, memmove

from uricodec._base._kernels cimport ALL_BYTES, ALPHANUM, ASCII_BYTES, UNRESERVED, ByteSet, kernels, lower, uc_set, uc_utf8
from uricodec._rows._engine cimport UC_RAISED, UC_REJECTED, Outcome, copy_row
from uricodec._base._text cimport *
from uricodec._codec._percent cimport hex_value, triplet_value, write_triplet
from uricodec._url._idna cimport A_LABELS_CAPACITY, ask_about_host, to_a_labels, without_ignored
from uricodec._url._grammar cimport *


# --- levels ------------------------------------------------------------------------------------------------------------

cdef list LEVEL_NAMES = ["simple", "case", "percent", "path", "scheme", "iri", "rfc1630", "rfc2396"]


cdef int level_of(object level) except -1:
    cdef int i
    for i in range(<int>LEVELS):
        if LEVEL_NAMES[i] is level:
            return i
    for i in range(<int>LEVELS):
        if LEVEL_NAMES[i] == level:
            return i
    raise ValueError(f"unknown level {level!r}; choose from {', '.join(LEVEL_NAMES)}")


# --- bytes ------------------------------------------------------------------------------------------------------------

cdef ByteSet NONE = ByteSet("")
cdef ByteSet BUT_PERCENT = ALL_BYTES - "%"
cdef ByteSet ASCII_BUT_PERCENT = ASCII_BYTES - "%"

# RFC 2396 section 2.3:
#   unreserved  = alphanum | mark
#   mark        = "-" | "_" | "." | "!" | "~" | "*" | "'" | "(" | ")"
cdef ByteSet UNRESERVED_2396 = ALPHANUM | "-_.!~*'()"

# RFC 1630:
#   xalpha                 alpha | digit | safe | extra | escape
#   safe                   $ | - | _ | @ | . | &
#   extra                  ! | * | " |  ' | ( | ) | ,
#   reserved               = | ; | / | # | ? | : | space
# "Reserved characters" are also the percent sign, the plus sign, "the astersik ("*", ASCII 2A hex) and exclamation mark
# ("!" , ASCII 21 hex)". They "may NEVER be encoded and unencoded". The brackets of later hosts are kept like these.
cdef ByteSet RESERVED_1630 = ByteSet("=;/#?: *!+%[]")
cdef ByteSet PLAIN_1630 = (ALPHANUM | "$-_@.&!*\"'(),") - RESERVED_1630
# In an authority, "@" is a delimiter.
cdef ByteSet IN_AUTHORITY_1630 = PLAIN_1630 - "@"
cdef ByteSet ENCODED_1630 = ASCII_BYTES - PLAIN_1630 - RESERVED_1630
cdef ByteSet QUIET_1630 = BUT_PERCENT - ENCODED_1630


cdef inline bint ends_open(const uint8_t *dst, size_t o) noexcept nogil:
    """Return whether the output ends with a stray "%", or with a stray "%" and one digit."""
    return o >= 1 and dst[o - 1] == c'%' or o >= 2 and dst[o - 2] == c'%' and hex_value(dst[o - 1]) >= 0


cdef inline size_t character_size(const uint8_t *s, size_t n) noexcept nogil:
    """Return the length of the character at s (a byte above 0x7F); 0 if it is not one that IRIs allow."""
    cdef int size = sequence_at(s, n)
    if size and DECIDING_LEADS.set.member[s[0]] and character_kind(character_at(s, &size)) == NO_CHARACTER:
        return 0
    return <size_t>size


cdef size_t write_bytes(const uint8_t *s, size_t n, const NormalForm *form, const uc_set *decoded, bint folds,
                         uint8_t *dst) noexcept nogil:
    """Write bytes with the percent-encoding of the level. They may span several components, with their delimiters."""
    cdef size_t i = 0, o = 0, size
    cdef int c
    while i < n:
        if form.quiet.member[s[i]]:
            if folds:
                dst[o] = lower(s[i])
                i += 1
                o += 1
                continue
            size = kernels.span(s + i, n - i, form.quiet)
            copy_text(dst + o, s + i, size)
            i += size
            o += size
            if i == n:
                break
        c = s[i]
        if c == c'%':
            c = triplet_value(s + i, n - i)
            if c < 0:
                dst[o] = c'%'
                i += 1
                o += 1
                continue
            i += 3
            if decoded.member[c] and not (hex_value(<uint8_t>c) >= 0 and ends_open(dst, o)):
                dst[o] = lower(<uint8_t>c) if folds else <uint8_t>c
                o += 1
            else:
                o += write_triplet(<uint8_t>c, dst + o)
        elif form.encoded.member[c]:
            o += write_triplet(<uint8_t>c, dst + o)
            i += 1
        else:
            size = character_size(s + i, n - i)
            if size == 0:
                dst[o] = <uint8_t>c
                i += 1
                o += 1
            while size:
                o += write_triplet(s[i], dst + o)
                i += 1
                size -= 1
    return o


# --- dot segments (RFC 3986 section 5.2.4) ----------------------------------------------------------------------------

# The RFC moves segments from an input buffer to an output buffer. Here both are the same memory. This is safe because
# each step writes at most as many bytes as it has read, so the output never overtakes the input. Removing the last
# output segment searches backwards for its "/". Each byte is written once and removed at most once, so the time is
# linear and no stack is needed.

cdef size_t first_dot_segment(const uint8_t *path, size_t n) noexcept nogil:
    cdef size_t i = 0, end
    cdef const uint8_t *found
    while i < n:
        found = <const uint8_t *>memchr(path + i, c'.', n - i)
        if found == NULL:
            return n
        i = found - path
        if i == 0 or path[i - 1] == c'/':
            end = i + 1
            if end < n and path[end] == c'.':
                end += 1
            if end == n or path[end] == c'/':
                return i - (i > 0)
        i += 1
    return n


cdef size_t remove_dot_segments(uint8_t *path, size_t n, bint keeps_parents) noexcept nogil:
    cdef size_t i = first_dot_segment(path, n)      # read position
    cdef size_t o = i                               # write position
    # A: "If the input buffer begins with a prefix of "../" or "./", then remove that prefix". Once it begins with "/",
    # it always will.
    if i == 0 and n and path[0] == c'.':
        while True:
            if n - i >= 2 and path[i] == c'.' and path[i + 1] == c'/':
                i += 2
            elif n - i >= 3 and path[i] == c'.' and path[i + 1] == c'.' and path[i + 2] == c'/':
                i += 3
            else:
                break
        # D: "if the input buffer consists only of "." or "..", then remove that".
        if n - i == 1 and path[i] == c'.' or n - i == 2 and path[i] == c'.' and path[i + 1] == c'.':
            return 0
    while i < n:
        if n - i >= 2 and path[i] == c'/' and path[i + 1] == c'.':
            # B: "a prefix of "/./" or "/.", where "." is a complete path segment": replace it with "/".
            if n - i == 2:
                path[o] = c'/'
                return o + 1
            if path[i + 2] == c'/':
                i += 2
                continue
            # C: the same for "/../" or "/..", "and remove the last segment and its preceding "/" (if any)".
            if path[i + 2] == c'.' and (n - i == 3 or path[i + 3] == c'/') and (o or not keeps_parents):
                while o and path[o - 1] != c'/':
                    o -= 1
                o -= o > 0
                if n - i == 3:
                    path[o] = c'/'
                    return o + 1
                i += 3
                continue
        # E: "move the first path segment [...] including the initial "/" character (if any)".
        while True:
            path[o] = path[i]
            i += 1
            o += 1
            if i == n or path[i] == c'/':
                break
    return o


# --- components -------------------------------------------------------------------------------------------------------

# Growth at level "scheme": an IPv6 address plus "/" for the empty path after it, or a guard.
cdef enum:
    SCHEME_EXTRA = IPV6_GROWTH + GUARD

cdef enum:
    MOST_OF_NAME = FORM_EXTRA - GUARD   # bytes
    MOST_ON_STACK = 1024                # of a host


cdef size_t write_name(uint8_t *host, size_t n) noexcept nogil:
    """Replace a host that is not ASCII by its A-labels, if it has any. Return the size; UC_REJECTED if an exception is set."""
    cdef uint8_t small[MOST_ON_STACK]
    cdef uint8_t *utf8 = small
    cdef uint8_t name[A_LABELS_CAPACITY]
    cdef size_t i = 0, o = 0, size = 0
    cdef Py_ssize_t found
    cdef bint ascii = True
    cdef int c
    if n > sizeof(small):
        utf8 = <uint8_t *>PyMem_RawMalloc(n)
        if utf8 == NULL:
            set_no_memory()  # pragma: no cover: no memory
            return UC_REJECTED  # pragma: no cover: no memory
    while i < n:
        c = host[i]
        if c == c'%':
            c = triplet_value(host + i, n - i)
            if c < 0x80:
                ascii = True
                break
            i += 2
        ascii &= c < 0x80
        utf8[o] = <uint8_t>c
        i += 1
        o += 1
    if not ascii:
        size = without_ignored(utf8, o)
        if size != UC_REJECTED:
            o = size
            size = to_a_labels(utf8, o, name)
        if size == 0:
            found = ask_about_host("to_ascii", utf8, o, name, MOST_OF_NAME)
            size = UC_REJECTED if found == -2 else <size_t>max(found, 0)
    if utf8 != small:
        PyMem_RawFree(utf8)
    if size == 0 or size == UC_REJECTED:
        return size if size else n
    memcpy(host, name, size)
    return size


cdef inline size_t write_host(const uint8_t *s, size_t n, const NormalForm *form, bint folds, uint8_t *dst) noexcept nogil:
    """Write a host.

    An IP-literal has no triplets (RFC 3986 section 3.2.2), so no ASCII in brackets is decoded or encoded. What follows a
    "%" is a zone (RFC 6874, RFC 9844) or invalid: it stays as it is, because zones are the names of network interfaces.
    """
    cdef size_t i = 0, o = 0, start
    if n == 0 or s[0] != c'[':
        return write_bytes(s, n, form, form.in_authority, folds, dst)
    while i < n:
        if s[i] < 0x80:
            folds &= s[i] != c'%'
            dst[o] = lower(s[i]) if folds else s[i]
            i += 1
            o += 1
        else:
            start = i
            while i < n and s[i] >= 0x80:
                i += 1
            o += write_bytes(s + start, i - start, form, &NONE.set, False, dst + o)
    return o


cdef inline bint is_drive(const uint8_t *s, size_t n, const Scheme *scheme) noexcept nogil:
    """Return whether an authority is the drive of a "file" URL, as in "file://C:/": its ":" begins no port (RFC 8089)."""
    return scheme != NULL and scheme.is_file and n == 2 and c'a' <= lower(s[0]) <= c'z' and s[1] == c':'


cdef size_t write_authority(const uint8_t *s, const Parts *parts, const NormalForm *form, const uint8_t *name,
                            const Scheme *scheme, uint8_t *dst) noexcept nogil:
    """Write an authority. `name` is the scheme, `scheme` what is known about it at a level by scheme, or NULL."""
    cdef Py_ssize_t start = parts.authority, end = parts.path
    cdef Py_ssize_t port = parts.port
    cdef size_t o = 0, size
    cdef bint folds = form.folds
    if not is_well_delimited(s, parts):
        memcpy(dst, s + start, <size_t>(end - start))
        return <size_t>(end - start)
    if parts.userinfo_end >= 0:
        o = write_bytes(s + start, <size_t>(parts.userinfo_end - start), form, form.in_authority, False, dst)
        dst[o] = c'@'
        o += 1
    if folds and parts.scheme_end > 0 and has_exact_hosts(name, <size_t>parts.scheme_end):
        folds = False
    size = write_host(s + parts.host, <size_t>(parts.host_end - parts.host), form, folds, dst + o)
    if size and dst[o] == c'[':
        if form.by_scheme:
            size = normalize_ipv6(dst + o, size)
    elif form.to_uri and scheme != NULL and scheme.dns and size:
        size = write_name(dst + o, size)
        if size == UC_REJECTED:
            return size
    o += size
    if port >= 0 and form.by_scheme and parts.scheme_end > 0 and not is_drive(s + start, <size_t>(end - start), scheme):
        while end - port > 1 and s[port] == c'0':       # port = *DIGIT, a number
            port += 1
        size = <size_t>(end - port)
        if size == 0 or scheme != NULL and size == scheme.port_size and memcmp(s + port, scheme.port, size) == 0:
            port = -1
    if port < 0:
        # RFC 8089 section 2: "localhost" and the empty string are the same host.
        if scheme != NULL and scheme.is_file and o == 9 and memcmp(dst, b"localhost", 9) == 0:
            return 0
    else:
        size = <size_t>(end - port)
        dst[o] = c':'
        memcpy(dst + o + 1, s + port, size)
        o += 1 + size
    return o


cdef bint is_dot_segment(const uint8_t *s, size_t n) noexcept nogil:
    """Return whether a segment decodes to "." or ".."."""
    cdef size_t i = 0, dots = 0
    while i < n:
        if s[i] != c'.' and (s[i] != c'%' or triplet_value(s + i, n - i) != c'.'):
            return False
        i += 1 if s[i] == c'.' else 3
        dots += 1
    return 1 <= dots <= 2


cdef size_t write_segments(const uint8_t *s, size_t n, const NormalForm *form, uint8_t *dst) noexcept nogil:
    """Write a path at level "rfc1630": "Substrings consisting of single or double dots ("." or "..") are similarly reserved"."""
    cdef size_t i = 0, o = 0, size
    cdef const uc_set *decoded
    while True:
        size = 0
        while i + size < n and s[i + size] != c'/':
            size += 1
        decoded = form.decoded
        if is_dot_segment(s + i, size):
            decoded = &NONE.set
        o += write_bytes(s + i, size, form, decoded, False, dst + o)
        i += size
        if i == n:
            return o
        dst[o] = c'/'
        i += 1
        o += 1


cdef void fold_hosts(uint8_t *path, size_t n) noexcept nogil:
    """Lower-case the host of each mail address, after its last "@". A "," ends an address (RFC 6068 section 2)."""
    cdef size_t start = 0, end, i
    while start < n:
        end = start
        while end < n and path[end] != c',':
            end += 1
        i = end
        while i > start and path[i - 1] != c'@':
            i -= 1
        if i > start:
            fold_host(path, i, end)
        start = end + 1


cdef void fold_host(uint8_t *path, size_t i, size_t n) noexcept nogil:
    while i < n:
        if path[i] == c'%' and triplet_value(path + i, n - i) >= 0:
            i += 2
        else:
            path[i] = lower(path[i])
        i += 1


cdef size_t write_form(const uint8_t *s, const Parts *parts, const NormalForm *form, uint8_t *dst,
                       Outcome *outcome) noexcept nogil:
    cdef size_t i, o = 0, size, path_size = <size_t>(parts.path_end - parts.path)
    cdef const Scheme *scheme = NULL
    cdef Py_ssize_t authority
    cdef bint has_scheme = parts.scheme_end >= 0, by_scheme = has_scheme and form.by_scheme
    cdef uint8_t *path
    if has_scheme:
        o = <size_t>parts.scheme_end
        for i in range(o):
            dst[i] = lower(s[i]) if form.folds else s[i]
        if by_scheme:
            scheme = find_scheme(dst, o)
        dst[o] = c':'
        o += 1
    authority = parts.authority
    if scheme != NULL and scheme.is_file and authority < 0 and path_size and s[parts.path] == c'/':
        # RFC 8089 appendix B: file:/path is file:///path. It takes the two bytes that a guard would.
        dst[o] = dst[o + 1] = c'/'
        o += 2
        authority = parts.path
    elif authority >= 0:
        dst[o] = dst[o + 1] = c'/'
        o += 2
        size = write_authority(s, parts, form, dst, scheme, dst + o)
        if size == UC_REJECTED:
            outcome.code, outcome.offset = UC_RAISED, 0
            return UC_REJECTED
        o += size
    path = dst + o
    if form.rfc1630:
        size = write_segments(s + parts.path, path_size, form, path)
    else:
        size = write_bytes(s + parts.path, path_size, form, form.decoded, False, path)
    # Only paths that begin with "/" are hierarchical: data:text/plain,a/../b is not data:text/b.
    if form.removes_dots and size and path[0] == c'/':
        size = remove_dot_segments(path, size, False)
    if authority < 0:
        size = guard_slashes(path, size)
        if not has_scheme:
            size = guard_colon(path, size)
        elif by_scheme and parts.scheme_end == 6 and memcmp(dst, b"mailto", 6) == 0:
            fold_hosts(path, size)
    elif by_scheme and size == 0:
        path[0] = c'/'
        size = 1
    o += size
    size = <size_t>(parts.end - parts.path_end)
    return o + write_bytes(s + parts.path_end, size, form, form.decoded, False, dst + o)


# --- URLs that are in normal form already, or begin so -----------------------------------------------------------------

# Most URLs are in normal form already, and this is found out in one pass. Such a URL has the scheme http or https, a host
# of these bytes, no userinfo and no port; its path begins with "/" and has no segment that begins with "."; and all its
# triplets have upper-case digits, and encode bytes that no level decodes. Of others, the part that is so is copied.
cdef ByteSet PLAIN_HOST = ByteSet("abcdefghijklmnopqrstuvwxyz0123456789-._")

# The bytes of components, without what may begin something else: "%", delimiters, and a dot segment.
cdef struct Plain:
    const uc_set *path
    const uc_set *query
    const uc_set *fragment

cdef ByteSet PATH_BYTES = ASCII_BYTES - "%.?#"
cdef ByteSet QUERY_BYTES = ASCII_BYTES - "%#"
cdef ByteSet FRAGMENT_BYTES = ASCII_BYTES - "%"
cdef Plain OF_URI = Plain(&PATH_BYTES.set, &QUERY_BYTES.set, &FRAGMENT_BYTES.set)

# The same with characters that every IRI may contain, if they are well-formed.
cdef ByteSet CHARACTERS = ByteSet(range(0x80, 0x100)) - DECIDING_LEADS
cdef ByteSet IRI_PATH_BYTES = PATH_BYTES | CHARACTERS
cdef ByteSet IRI_QUERY_BYTES = QUERY_BYTES | CHARACTERS
cdef ByteSet IRI_FRAGMENT_BYTES = FRAGMENT_BYTES | CHARACTERS
cdef Plain OF_IRI = Plain(&IRI_PATH_BYTES.set, &IRI_QUERY_BYTES.set, &IRI_FRAGMENT_BYTES.set)

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


cdef size_t normal_prefix(const uint8_t *s, size_t n, const Plain *plain, Parts *parts) noexcept nogil:
    """Return how many bytes are in normal form at every level up to "iri"; 0 if the authority may not be, or no path follows.

    The components up to there are set; of the others, parts.path and parts.path_end are -1.
    """
    cdef size_t i = web_prefix(s, n)
    parts.userinfo_end = parts.port = parts.path = parts.path_end = parts.query = parts.query_end = parts.fragment = -1
    if i == 0:
        return 0
    parts.scheme_end, parts.authority = <Py_ssize_t>(i - 3), <Py_ssize_t>i
    parts.host = parts.authority
    while i < n and PLAIN_HOST.set.member[s[i]]:
        i += 1
    parts.path = parts.host_end = <Py_ssize_t>i
    if i == n or s[i] != c'/' or parts.path == parts.authority:
        return 0
    while True:
        i = past(s, i, n, plain.path)
        if i == n or s[i] != c'.' or s[i - 1] == c'/':
            break
        i += 1
    if i < n and s[i] != c'?' and s[i] != c'#':
        return i
    parts.path_end = <Py_ssize_t>i
    if i < n and s[i] == c'?':
        parts.query = <Py_ssize_t>i + 1
        i = past(s, i, n, plain.query)
        parts.query_end = <Py_ssize_t>i
    if i < n and s[i] == c'#':
        parts.fragment = <Py_ssize_t>i + 1
        i = past(s, i, n, plain.fragment)
    parts.end = <Py_ssize_t>i
    return i


cdef bint is_normal(const uint8_t *s, size_t n, Parts *parts) noexcept nogil:
    """Return whether a URL is in normal form at every level up to "iri". If it is, set its components."""
    return n > 0 and normal_prefix(s, n, &OF_URI, parts) == n


cdef size_t write_rest(const uint8_t *s, size_t start, size_t n, const Parts *parts, const NormalForm *form,
                       uint8_t *dst) noexcept nogil:
    """Write a URL that is in normal form up to an offset after its authority."""
    cdef size_t path = <size_t>parts.path, end, size = start, shorter
    memcpy(dst, s, start)
    size += write_bytes(s + start, n - start, form, form.decoded, False, dst + start)
    if parts.path_end < 0:
        end = start
        while end < size and dst[end] != c'?' and dst[end] != c'#':
            end += 1
        shorter = end - path - remove_dot_segments(dst + path, end - path, False)
        if shorter:
            memmove(dst + end - shorter, dst + end, size - end)
            size -= shorter
    return size


# --- rows -------------------------------------------------------------------------------------------------------------

cdef size_t normalize_row(const uint8_t *src, size_t n, const void *options, uint8_t *dst,
                          Outcome *outcome) noexcept nogil:
    cdef const NormalForm *form = <const NormalForm *>options
    cdef Parts parts, wide
    cdef uc_utf8 found
    cdef size_t i
    if form.rfc1630:
        # "The percent sign intended as such must always be encoded".
        i = kernels.span(src, n, &BUT_PERCENT.set)
        while i < n:
            if triplet_value(src + i, n - i) < 0:
                outcome.code, outcome.offset = PERCENT, i
                return UC_REJECTED
            i += 3
            i += kernels.span(src + i, n - i, &BUT_PERCENT.set)
    if form.removes_dots:
        i = normal_prefix(src, n, &OF_URI, &parts)
        if form.to_uri and 0 < i < n and src[i] >= 0x80:
            if normal_prefix(src, n, &OF_IRI, &wide) == n and kernels.scan_utf8(src, n, &found) == n:
                return kernels.encode(src, n, &ASCII_BYTES.set, False, dst, 3 * n + FORM_EXTRA)
        if i:
            return write_rest(src, i, n, &parts, form, dst)
        if form.by_scheme and <size_t>parts.path == n and parts.authority < parts.path:
            memcpy(dst, src, n)
            dst[n] = c'/'
            return n + 1
    find_parts(src, n, &parts)
    return write_form(src, &parts, form, dst, outcome)


def _fill_tables():
    cdef int level
    cdef NormalForm *form
    for level in range(<int>LEVELS):
        form = FORMS + level
        form.quiet, form.encoded, form.decoded = &BUT_PERCENT.set, &NONE.set, &UNRESERVED.set
        form.folds = level != AT_RFC1630
        form.removes_dots = AT_PATH <= level <= AT_IRI
        form.by_scheme = AT_SCHEME <= level <= AT_IRI
        form.to_uri = level == AT_IRI
        form.rfc1630 = level == AT_RFC1630
        NORMALIZE_ROWS[level].row = normalize_row if level else copy_row
        NORMALIZE_ROWS[level].factor = 3 if level == AT_IRI or level == AT_RFC1630 else 1
        NORMALIZE_ROWS[level].extra = FORM_EXTRA if level == AT_IRI else SCHEME_EXTRA if level == AT_SCHEME else GUARD
    FORMS[<int>AT_CASE].decoded = &NONE.set
    FORMS[<int>AT_IRI].quiet = &ASCII_BUT_PERCENT.set
    FORMS[<int>AT_RFC1630].quiet, FORMS[<int>AT_RFC1630].encoded = &QUIET_1630.set, &ENCODED_1630.set
    FORMS[<int>AT_RFC1630].decoded = &PLAIN_1630.set
    FORMS[<int>AT_RFC2396].decoded = &UNRESERVED_2396.set
    for level in range(<int>LEVELS):
        FORMS[level].in_authority = FORMS[level].decoded
    FORMS[<int>AT_RFC1630].in_authority = &IN_AUTHORITY_1630.set


_fill_tables()
del _fill_tables
