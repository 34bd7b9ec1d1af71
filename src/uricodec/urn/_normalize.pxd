"""The normal forms of a URN, written from what was read."""
from libc.stdint cimport uint8_t, uint32_t

from uricodec.urn._grammar cimport ParsedUrn


# Each level merges what the one before keeps apart.
cdef enum Level:
    BYTES, CASE_2141, CASE_8141, NAMESPACE, FUNCTIONAL


# What a namespace adds to the lexical normal form of its NSS.
cdef enum Rule:
    BASE                # nothing
    FOLD_NSS            # letters to lower case: all,
    FOLD_SEGMENT        # those before the first ":",
    FOLD_HYPHEN         # those before the first "-", if there is one
    DROP_HYPHENS        # no "-", but as the first byte; "X" for "x"
    EXCEPT_PARAMS       # as FOLD_NSS, unless it begins with "params:"
    ONLY_UL             # as FOLD_NSS, if the first segment is "ul"
    IMEI                # as FOLD_NSS and without ";vers=0", if it begins with "imei:"
    NEWSML              # as FOLD_NSS, and without the letter of an Update after a RevisionId
    RULES


cdef enum:
    WORDS = 256, CHUNK = 64 * WORDS     # bytes of lines that get their rules at once

cdef enum:
    GROWTH = 3          # a form is at most that much longer than the URN: an ISBN-13 for an ISBN-10

cdef int add_rule(const uint8_t *nid, size_t n, Rule rule) noexcept nogil
cdef size_t write_form(const uint8_t *s, const ParsedUrn *urn, Level level, uint8_t *dst, const void *frozen=*) noexcept nogil
cdef void find_rules(const uint8_t *lines, const uint32_t *ends, size_t rows, const void *frozen, uint8_t *nids,
                     uint8_t *rules) noexcept nogil
cdef size_t apply_rule(Rule rule, uint8_t *urn, size_t nid_end, size_t n, Level level, bint triplets) noexcept nogil
cdef size_t apply_rules(uint8_t *lines, size_t n, uint8_t end, const void *frozen=*) noexcept nogil
# The rules as they are now, for as long as anybody likes; what takes `frozen` goes by them, or by the current ones
# (NULL).
cdef const void *freeze_rules() noexcept nogil


cdef inline bint is_normal(const ParsedUrn *urn, Level level) noexcept nogil:
    """Whether the text is in normal form already; a namespace's rule may have to say more."""
    if level <= CASE_2141:
        return level == BYTES or not urn.changes & ~8
    return urn.nss_end == urn.end and not urn.changes & ~8
