"""Normal forms of a URI or an IRI, written from its components."""
from libc.stdint cimport uint8_t
from libc.string cimport memmove

from uricodec._base._kernels cimport ByteSet, uc_set
from uricodec._rows._engine cimport SizedRow, Outcome
from uricodec._url._grammar cimport SCHEME_TAIL, Parts


# Each level up to AT_IRI ignores the differences that the one before ignores, and more.
cdef enum UriLevel:
    AT_SIMPLE, AT_CASE, AT_PERCENT, AT_PATH, AT_SCHEME, AT_IRI, AT_RFC1630, AT_RFC2396
    LEVELS


cdef list LEVEL_NAMES      # indexed by Level

# Return the Level with a name; raise ValueError if it is unknown.
cdef int level_of(object level) except -1

# What a level changes.
cdef struct NormalForm:
    const uc_set *quiet         # bytes that are copied unchanged
    const uc_set *encoded       # bytes that are percent-encoded
    const uc_set *decoded       # bytes whose triplets are decoded
    const uc_set *in_authority  # the same, in an authority
    bint folds                  # lower-case scheme and host
    bint removes_dots           # remove dot segments
    bint by_scheme              # apply scheme defaults, and normalize IPv6 addresses
    bint to_uri                 # convert an IRI to a URI
    bint rfc1630                # a stray "%" is an error, and encoded dot segments stay

cdef NormalForm FORMS[LEVELS]

cdef enum:
    FORM_EXTRA = 257    # additional bytes that a form may need: a domain name, a guard

# The row operation of each level. Its options are the level's Form.
cdef SizedRow NORMALIZE_ROWS[LEVELS]

# Write the normal form and return its size. dst must have the capacity that the level's Operation states. UC_REJECTED:
# see `outcome`.
cdef size_t write_form(const uint8_t *s, const Parts *parts, const NormalForm *form, uint8_t *dst,
                       Outcome *outcome) noexcept nogil

cdef ByteSet PLAIN_HOST     # bytes of a domain name in normal form

# Whether a URL is in normal form at every level up to AT_IRI: if so, its components are set. False: it may be, too.
cdef bint is_normal(const uint8_t *s, size_t n, Parts *parts) noexcept nogil

# Replace a host that is not ASCII, in UTF-8 or triplets, by its A-labels, if it has any. Return the size, at most
# FORM_EXTRA more; UC_REJECTED if an exception is set.
cdef size_t write_name(uint8_t *host, size_t n) noexcept nogil

# Return the offset of the first dot segment, including the "/" before it; n if the path has none.
cdef size_t first_dot_segment(const uint8_t *path, size_t n) noexcept nogil

# Remove dot segments in place (RFC 3986 section 5.2.4). Return the new size. keeps_parents: a ".." with nothing before it
# that it could remove stays.
cdef size_t remove_dot_segments(uint8_t *path, size_t n, bint keeps_parents) noexcept nogil


# --- guards: what keeps a path from being parsed as an authority or a scheme ------------------------------------------

cdef enum:
    GUARD = 2           # bytes that a guard adds before a path


cdef inline size_t scheme_end(const uint8_t *s, size_t n) noexcept nogil:
    """Return the length of the longest prefix that may be a scheme; 0 if the first byte may not."""
    cdef size_t i = 0
    if n and <uint8_t>((s[0] | 0x20) - c'a') < 26:
        while i < n and SCHEME_TAIL.set.member[s[i]]:
            i += 1
    return i


cdef inline size_t put_before(uint8_t *path, size_t n, uint8_t first, uint8_t second) noexcept nogil:
    memmove(path + GUARD, path, n)
    path[0], path[1] = first, second
    return n + GUARD


cdef inline size_t guard_slashes(uint8_t *path, size_t n) noexcept nogil:
    """Put "/." before a path that begins with "//": without an authority, the rest would be parsed as one."""
    return put_before(path, n, c'/', c'.') if n >= 2 and path[0] == c'/' and path[1] == c'/' else n


cdef inline size_t guard_colon(uint8_t *path, size_t n) noexcept nogil:
    """Put "./" before a path whose first segment has a ":": without a scheme, the part before it could be parsed as one."""
    cdef size_t end = scheme_end(path, n)
    return put_before(path, n, c'.', c'/') if end and end < n and path[end] == c':' else n
