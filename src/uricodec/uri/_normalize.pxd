"""Normal forms of a URI or an IRI, written from its components."""
from libc.stdint cimport uint8_t

from uricodec._base._kernels cimport uc_set
from uricodec._rows._operation cimport Operation, Outcome
from uricodec.uri._grammar cimport Parts


# Each level up to AT_IRI ignores the differences that the one before ignores, and more.
cdef enum Level:
    AT_SIMPLE, AT_CASE, AT_PERCENT, AT_PATH, AT_SCHEME, AT_IRI, AT_RFC1630, AT_RFC2396
    LEVELS


# What a level changes.
cdef struct Form:
    const uc_set *quiet         # bytes that are copied unchanged
    const uc_set *encoded       # bytes that are percent-encoded
    const uc_set *decoded       # bytes whose triplets are decoded
    const uc_set *in_authority  # the same, in an authority
    bint folds                  # lower-case scheme and host
    bint removes_dots           # remove dot segments
    bint by_scheme              # apply scheme defaults, and normalize IPv6 addresses
    bint to_uri                 # convert an IRI to a URI
    bint rfc1630                # a stray "%" is an error, and encoded dot segments stay

cdef Form FORMS[LEVELS]

cdef enum:
    FORM_EXTRA = 257    # additional bytes that a form may need: a domain name, a guard

# The row operation of each level. Its options are the level's Form.
cdef Operation NORMALIZE_ROWS[LEVELS]

# Write the normal form and return its size. dst must have the capacity that the level's Operation states. UC_REJECTED:
# see `outcome`.
cdef size_t write_form(const uint8_t *s, const Parts *parts, const Form *form, uint8_t *dst,
                       Outcome *outcome) noexcept nogil
