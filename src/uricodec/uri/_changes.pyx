"""Lines of URIs that are in normal form already, found by what stands beside each other in them, without taking them apart.

Up to level "path" (RFC 3986 section 6.2.2) a reference can only change where it has one of these:

    %       unless two digits follow, of an octet that is not unreserved
    .       after a "/": perhaps a dot segment
    A-Z     in the scheme or the authority, so before the third of the characters "/", "?" and "#": no scheme has one of
            them, an authority begins behind the first two, and ends before the third

and, but for an authority that is malformed, where a triplet has a digit in lower case, which a kernel does in passing.
Kernels find all of them. Words of bits tell most triplets, and the digits in them; what is left is looked at.
"""
from libc.stdint cimport uint8_t, uint32_t, uint64_t

from uricodec._base._kernels cimport ByteSet, kernels, uc_lowest_bit
from uricodec.uri._grammar cimport UNRESERVED
from uricodec._rows._engine cimport BLOCK


cdef enum:
    WORDS = BLOCK // 64 + 1     # at most, of a call

cdef ByteSet NO_PERCENT = ~ByteSet("%")
cdef ByteSet NO_DOT = ~ByteSet(".")
cdef ByteSet NO_SLASH = ~ByteSet("/")
cdef ByteSet NO_DELIMITER = ~ByteSet("/?#")
cdef ByteSet NO_UPPER = ~ByteSet(range(0x41, 0x5B))
cdef ByteSet DIGITS = ByteSet("0123456789ABCDEFabcdef")
cdef ByteSet NO_LOWER = ~ByteSet("abcdef")
# First digits of octets none of which is unreserved.
cdef ByteSet FIRST_DIGITS = DIGITS - "234567"

cdef uint8_t VALUES[256]
cdef int octet
for octet in range(256):
    VALUES[octet] = int(chr(octet), 16) if DIGITS.set.member[octet] else 0xFF


cdef inline bint may_stay(const uint8_t *triplet) noexcept nogil:
    """Whether the digits behind a "%" are those of an octet that is not unreserved."""
    return VALUES[triplet[1]] < 16 and VALUES[triplet[2]] < 16 and \
        not UNRESERVED.set.member[VALUES[triplet[1]] << 4 | VALUES[triplet[2]]]


cdef inline uint64_t ahead(const uint64_t *words, size_t w, int by) noexcept nogil:
    """Bit i of a word: whether bit i + by is set. There is a word behind the last one."""
    return words[w] >> by | words[w + 1] << (64 - by)


cdef inline uint64_t behind(const uint64_t *words, size_t w, int by) noexcept nogil:
    """Bit i of a word: whether bit i - by is set."""
    return words[w] << by | (words[w - 1] >> (64 - by) if w else 0)


cdef void settle_triplets(const uint8_t *src, size_t n, uint64_t *percent, uint64_t *letters) noexcept nogil:
    """Take out what is a triplet that stays, and the letters in it; of those that get other digits, leave the first."""
    cdef uint64_t others[WORDS + 1]     # no digits
    cdef uint64_t low[WORDS + 1]        # no first digits
    cdef uint64_t lower[WORDS + 1]      # digits in lower case
    cdef uint64_t triplets[WORDS]
    cdef uint64_t changing[WORDS]
    cdef size_t words = (n + 63) // 64, w
    kernels.mark_outside(src, n, &DIGITS.set, others)
    kernels.mark_outside(src, n, &FIRST_DIGITS.set, low)
    kernels.mark_outside(src, n, &NO_LOWER.set, lower)
    # Behind the end there is no digit.
    lower[words] = 0
    others[words] = low[words] = ~<uint64_t>0
    if n & 63:
        others[words - 1] |= ~<uint64_t>0 << (n & 63)
        low[words - 1] |= ~<uint64_t>0 << (n & 63)
    for w in range(words):
        triplets[w] = percent[w] & ~(ahead(low, w, 1) | ahead(others, w, 2))
        letters[w] &= ~(behind(triplets, w, 1) | behind(triplets, w, 2))
        changing[w] = triplets[w] & (ahead(lower, w, 1) | ahead(lower, w, 2))
        percent[w] = percent[w] & ~triplets[w] | changing[w] & ~behind(changing, w, 3)


cdef inline size_t third(const uint64_t *delimiters, size_t start, size_t stop) noexcept nogil:
    """Where the third delimiter of a row is, before which an authority ends; `stop` or more if there is none."""
    cdef size_t w = start >> 6
    cdef uint64_t word = delimiters[w] & ~<uint64_t>0 << (start & 63)
    cdef int i
    for i in range(3):
        if i:
            word &= word - 1
        while word == 0:
            w += 1
            if 64 * w >= stop:
                return stop
            word = delimiters[w]
    return 64 * w + <size_t>uc_lowest_bit(word)


cdef inline uint64_t below(size_t w, size_t i) noexcept nogil:
    """The bits of word w that stand for bytes before i."""
    if i >= 64 * (w + 1):
        return ~<uint64_t>0
    return (<uint64_t>1 << (i & 63)) - 1 if i > 64 * w else 0


cdef inline void mark_percent(const uint8_t *src, size_t end, uint64_t *percent, uint64_t *marks) noexcept nogil:
    """Mark a "%" that is one of the last two bytes before a row's end: no triplet has bytes of two rows."""
    cdef size_t i
    for i in range(end - min(end, <size_t>2), end):
        if src[i] == c'%':
            marks[i >> 6] |= <uint64_t>1 << (i & 63)
            percent[i >> 6] &= ~(<uint64_t>1 << (i & 63))


cdef void mark_changes(const uint8_t *src, size_t n, const uint32_t *at, size_t rows, uint64_t *marks) noexcept nogil:
    cdef uint64_t percent[WORDS]
    cdef uint64_t letters[WORDS]
    cdef uint64_t slashes[WORDS]
    cdef uint64_t delimiters[WORDS]
    cdef uint64_t word, bit, skipped, any_percent = 0
    cdef size_t words = (n + 63) // 64, w, i, number = 0, triplet_end = 0
    cdef size_t after = 0       # letters before that are behind an authority: they stay
    cdef size_t authority_end = 0, ended = rows      # of which row
    kernels.mark_outside(src, n, &NO_PERCENT.set, percent)
    kernels.mark_outside(src, n, &NO_UPPER.set, letters)
    kernels.mark_outside(src, n, &NO_DOT.set, marks)
    kernels.mark_outside(src, n, &NO_SLASH.set, slashes)
    kernels.mark_outside(src, n, &NO_DELIMITER.set, delimiters)
    for w in range(words):
        any_percent |= percent[w]
        marks[w] &= behind(slashes, w, 1)
    if any_percent:
        for i in range(1, rows):
            mark_percent(src, at[i], percent, marks)
        settle_triplets(src, n, percent, letters)
    for w in range(words):
        letters[w] &= ~below(w, after)
        word = percent[w] | letters[w]
        while word:
            bit = word & (~word + 1)
            i = 64 * w + <size_t>uc_lowest_bit(word)
            word ^= bit
            while at[number + 1] <= i:
                number += 1
            if percent[w] & bit and (n - i < 3 or not may_stay(src + i)):
                marks[w] |= bit
                continue
            if percent[w] & bit:
                triplet_end = i + 3
            elif i < triplet_end:
                continue
            # A letter changes in an authority, and so do the digits of a triplet: it may be malformed.
            if letters[w] & bit or src[i + 1] > c'F' or src[i + 2] > c'F':
                if ended != number:
                    authority_end, ended = third(delimiters, at[number], at[number + 1]), number
                if i <= authority_end:
                    marks[w] |= bit
                else:
                    after = at[number + 1]
                    skipped = letters[w] & below(w, after)
                    letters[w] ^= skipped
                    word &= ~skipped
