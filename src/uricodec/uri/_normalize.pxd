"""The normal forms of a URI or an IRI, written from what was found in it."""
from libc.stdint cimport uint8_t

from uricodec._base._kernels cimport uc_set
from uricodec._rows._operation cimport Operation, Outcome
from uricodec.uri._grammar cimport Parts


# Each level up to AT_IRI merges what the one before keeps apart.
cdef enum Level:
    AT_SIMPLE, AT_CASE, AT_PERCENT, AT_PATH, AT_SCHEME, AT_IRI, AT_RFC1630, AT_RFC2396
    LEVELS


# What a level does.
cdef struct Form:
    const uc_set *quiet         # octets that stay as they are
    const uc_set *encoded       # octets that become triplets
    const uc_set *decoded       # octets of which triplets are decoded,
    const uc_set *in_authority  # and the same in an authority
    bint folds                  # scheme and host to lower case,
    bint removes_dots           # dot segments removed
    bint by_scheme              # what the scheme says; IPv6 addresses in one spelling
    bint to_uri                 # what is an IRI becomes a URI
    bint rfc1630                # every "%" begins a triplet, and those of a segment "." or ".." stay

cdef Form FORMS[LEVELS]

cdef enum:
    FORM_EXTRA = 257    # octets that a form may need besides a multiple of the text: a domain name, a guard

# By level: rows, whose options are the Form.
cdef Operation NORMALIZE_ROWS[LEVELS]

# Write the normal form, which needs the room of the level's Operation. UC_REJECTED as a row.
cdef size_t write_form(const uint8_t *s, const Parts *parts, const Form *form, uint8_t *dst,
                       Outcome *outcome) noexcept nogil
