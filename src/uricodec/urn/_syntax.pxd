"""The parts of a URN, as offsets, and the normal forms that are written from them."""
from libc.stdint cimport uint8_t, uint32_t, uint64_t

from cpython.ref cimport PyObject

from uricodec._base._kernels cimport ByteSet
from uricodec.urn._forms cimport form_function


cdef enum Rfc:
    RFC2141, RFC8141, ANY


# The first error. Diagnostic.code has the same names in lower case.
cdef enum UrnCode:
    VALID, SCHEME, NID, NID_LENGTH, NID_HYPHEN, NID_URN, NSS_EMPTY, NSS, PERCENT, PERCENT_NULL, COMPONENT_EMPTY, COMPONENT
    NID_INFORMAL, FORM, CHECK_DIGIT     # of URNs that break the rules of their namespace
    CODES


# What is not in normal form.
cdef enum Changes:
    LETTERS = 1             # upper-case letters in "urn" or the NID
    DIGITS = 2              # lower-case digits in triplets of the NSS
    COMPONENT_DIGITS = 4    # the same in components
    TRIPLETS = 8            # the NSS contains triplets


# The parts of a URN: the ends of NID and NSS, and the starts of components (0: missing). If the URN is invalid, only
# `code` and `offset` are defined.
cdef struct ParsedUrn:
    size_t nid_end          # the colon after the NID, which starts at 4
    size_t nss_end
    size_t r
    size_t q
    size_t f
    size_t end
    size_t offset           # of the error
    UrnCode code
    Rfc rfc                 # whose grammar was used; never ANY
    int changes


cdef ByteSet ALPHANUM
cdef ByteSet NID_BYTES
cdef ByteSet PLAIN_2141     # bytes that need no decision in an NSS of RFC 2141,
cdef ByteSet PLAIN_8141     # and in the NSS and the components of RFC 8141


# Each level merges URNs that the level before distinguishes.
cdef enum UrnLevel:
    BYTES, CASE_2141, CASE_8141, NAMESPACE, FUNCTIONAL


# How a namespace changes the lexical normal form of its NSSs.
cdef enum Rule:
    BASE                # nothing
    FOLD_NSS            # converts letters to lower case: all,
    FOLD_SEGMENT        # those before the first ":",
    FOLD_HYPHEN         # those before the first "-", if there is one
    DROP_HYPHENS        # removes "-" except as the first byte, converts "x" to "X"
    EXCEPT_PARAMS       # as FOLD_NSS, unless it begins with "params:"
    ONLY_UL             # as FOLD_NSS, if the first segment is "ul"
    IMEI                # as FOLD_NSS and without ";vers=0", if it begins with "imei:"
    NEWSML              # as FOLD_NSS, and without the letter of an Update after a RevisionId


# The namespaces: a hash table with open addressing, at most a quarter full. It is never changed once it is filled.
cdef struct Row:
    uint64_t ends       # the first and the last four bytes of the NID: all of it, if it has at most eight
    uint8_t size        # of the NID. 0: unused
    uint8_t rule
    const uint8_t *nid  # in lower case, after "urn:"
    form_function form  # its validator, if that is compiled;
    PyObject *validator     # or a function of Python

cdef struct RuleTable:
    size_t mask         # number of rows - 1
    Row *rows

cdef class Rules:
    cdef RuleTable table
    cdef list validators    # what rows point to


cdef enum:
    WORDS = 256, CHUNK = 64 * WORDS     # bytes that are processed at once, at most

cdef enum:
    GROWTH = 3          # how many bytes a normal form may be longer than the URN: an ISBN-10 becomes an ISBN-13

cdef bint read_urn(const uint8_t *s, size_t n, Rfc rfc, ParsedUrn *urn) noexcept nogil
cdef size_t start_of_nss(const uint8_t *s, size_t n) noexcept nogil
cdef bint is_triplet(const uint8_t *s, size_t n, size_t i) noexcept nogil
cdef Rules current_rules()
# Return the row of the NID of a URN, or an unused one. `urn` has at least its NID.
cdef const Row *namespace_of(const RuleTable *rules, const uint8_t *s, const ParsedUrn *urn) noexcept nogil
cdef size_t write_form(const uint8_t *s, const ParsedUrn *urn, UrnLevel level, uint8_t *dst, const RuleTable *rules) noexcept nogil
cdef void find_rules(const uint8_t *lines, const uint32_t *ends, size_t rows, const RuleTable *table, uint8_t *nids,
                     uint8_t *rules) noexcept nogil
cdef size_t apply_rule(Rule rule, uint8_t *urn, size_t nid_end, size_t n, UrnLevel level, bint triplets) noexcept nogil
cdef size_t apply_rules(uint8_t *lines, size_t n, uint8_t end, const RuleTable *rules) noexcept nogil


cdef inline bint is_normal(const ParsedUrn *urn, UrnLevel level) noexcept nogil:
    """Return whether the text is in normal form, as far as this does not depend on the rule of its namespace."""
    if level <= CASE_2141:
        return level == BYTES or not urn.changes & ~TRIPLETS
    return urn.nss_end == urn.end and not urn.changes & ~TRIPLETS
