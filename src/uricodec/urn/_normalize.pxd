"""The normal forms of a URN, written from its parts."""
from libc.stdint cimport uint8_t, uint32_t, uint64_t

from uricodec.urn._grammar cimport TRIPLETS, ParsedUrn


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


# The rules of namespaces: a hash table with open addressing, at most a quarter full. It is never changed.
cdef struct Row:
    uint64_t ends       # the first and the last four bytes of the NID: all of it, if it has at most eight
    uint8_t size        # of the NID. 0: unused
    uint8_t rule
    const uint8_t *nid  # in lower case, after "urn:"

cdef struct RuleTable:
    size_t mask         # number of rows - 1
    Row *rows


cdef enum:
    WORDS = 256, CHUNK = 64 * WORDS     # maximum bytes of lines that are processed at once

cdef enum:
    GROWTH = 3          # how many bytes a normal form may be longer than the URN: an ISBN-10 becomes an ISBN-13

cdef const RuleTable *current_rules() except NULL
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
