"""IRIs to URIs (RFC 3987 section 3.1) and back (section 3.2): the loops, over octets.

To a URI: every character beyond ASCII becomes the triplets of its UTF-8, if it is one that an IRI may have. All others
begin with one of a few bytes (or belong to ill-formed UTF-8): a kernel marks these and the ASCII that no IRI has, only
what is marked is looked at, and the encoder does the rest.

To an IRI, in pieces that fit the first cache:

    given     /D%c3%BC%2fx%FC?        what is marked: "%" before two digits of which the first is below 8
    copied    /D%c3%BC!2fx%FC?        their "%" becomes a byte that is nowhere else, unless they are unreserved
    decoded   /Du:!2fx*?              by the kernel, once; u: are two bytes, * is one, which is ill-formed
    settled   /Du:%2fx%FC?            "!" is "%" again; what may not be in an IRI is encoded again, in upper case

So a triplet that stays can never be a part of a character, and keeps its spelling. Neither can a byte that was raw:
raw ones are well-formed by themselves, which is checked before. Pieces end where no triplet and no character is cut.
"""
from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy

from uricodec._base._kernels cimport ByteSet, kernels, uc_lowest_bit, uc_utf8
from uricodec._codec._percent cimport hex_value
from uricodec._rows._operation cimport UC_REJECTED, Outcome
from uricodec.uri._grammar cimport *
from uricodec._base._text cimport continues, sequence_length

cdef enum:
    WORDS = 64
    CHUNK = 64 * WORDS      # bytes of a piece


# --- characters -------------------------------------------------------------------------------------------------------

# RFC 3986 section 2: all that a URI is made of.
cdef ByteSet URI_ASCII = UNRESERVED | ":/?#[]@" | "!$&'()*+,;=" | "%"
# RFC 3987 section 3.1: "the printable characters in US-ASCII that are not allowed in URIs, namely "<", ">", '"', space,
# "{", "}", "|", "\", "^", and "`""
cdef ByteSet OPTIONAL = ByteSet("<>\" {}|\\^`")
# Bytes beyond ASCII with which no character begins that an IRI may not have: continuations, and leads of ucschar alone
# (without ill-formed ones: UTF-8 is checked as such).
cdef ByteSet NO_QUESTION = ByteSet(range(0x80, 0x100)) - [0xC2, 0xEF, 0xF0, 0xF1, 0xF2, 0xF3, 0xF4]
# The same where iprivate (section 2.2) and the bidi controls (section 4.1) are a question, too: U+E000 is EE 80 80,
# U+200E is E2 80 8E.
cdef ByteSet NO_DOUBT = NO_QUESTION - [0xE2, 0xEE]


cdef inline CharacterKind kind_at(const uint8_t *s, int *length) noexcept nogil:
    """Of a character with a lead that is in question. Most are plain even so, and need no search."""
    cdef uint32_t c = character_at(s, length)
    if s[0] == 0xE2 and s[1] != 0x80 or 0xF0 <= s[0] <= 0xF2 and c & 0xFFFE != 0xFFFE or 0xFF00 <= c < 0xFFF0:
        return UCSCHAR
    return character_kind(c)


cdef inline size_t whole_sequences(const uint8_t *src, size_t n) noexcept nogil:
    """The n bytes before src[n] without the sequence that is cut there, if one is."""
    cdef size_t k
    for k in range(min(<size_t>4, n)):
        if src[n - k] & 0xC0 != 0x80:
            return n - k
    return n        # ill-formed, which others see


cdef inline size_t reject(Outcome *outcome, Code code, size_t offset) noexcept nogil:
    outcome.code = code
    outcome.offset = offset
    return UC_REJECTED


# --- to a URI ---------------------------------------------------------------------------------------------------------

cdef void make_mapping(Mapping *mapping, ByteSet ascii, ByteSet safe):
    mapping.plain = (<ByteSet>(ascii | NO_QUESTION)).set
    mapping.safe = safe.set

make_mapping(&STRICT_MAPPING, URI_ASCII, URI_ASCII)
make_mapping(&LENIENT_MAPPING, URI_ASCII | OPTIONAL, URI_ASCII)


cdef bint check_piece(const uint8_t *src, size_t n, const Mapping *mapping, Outcome *outcome) noexcept nogil:
    """Whether well-formed UTF-8, CHUNK bytes at most, has only characters that an IRI may have somewhere."""
    cdef uint64_t marks[WORDS]
    cdef uint64_t word
    cdef size_t i, w
    cdef int length
    kernels.mark_outside(src, n, &mapping.plain, marks)
    for w in range((n + 63) // 64):
        word = marks[w]
        while word:
            i = 64 * w + <size_t>uc_lowest_bit(word)
            word &= word - 1
            if src[i] < 0x80 or n - i < <size_t>sequence_length(src[i]) or kind_at(src + i, &length) == NO_CHARACTER:
                reject(outcome, CHARACTER, i)
                return False
    return True


cdef size_t check_iri_bytes(const uint8_t *src, size_t n, const Mapping *mapping, bint unsure,
                             Outcome *outcome) noexcept nogil:
    cdef size_t i = 0, size, whole, escapes = 0
    cdef uc_utf8 found
    while i < n:
        size = n - i
        if size > CHUNK:
            size = whole_sequences(src + i, CHUNK)
        whole = kernels.scan_utf8(src + i, size, &found) if unsure else size
        if not check_piece(src + i, whole, mapping, outcome):
            return reject(outcome, <Code>outcome.code, outcome.offset + i)
        if whole < size:
            return reject(outcome, UTF8, i + whole)
        escapes += kernels.count_outside(src + i, size, &mapping.safe)
        i += size
    return escapes


cdef size_t iri_to_uri_row(const uint8_t *src, size_t n, const void *options, uint8_t *dst,
                           Outcome *outcome) noexcept nogil:
    cdef const Mapping *mapping = <const Mapping *>options
    if check_iri_bytes(src, n, mapping, True, outcome) == UC_REJECTED:
        return UC_REJECTED
    return kernels.encode(src, n, &mapping.safe, False, dst, 3 * n + ENCODE_SLACK)


# Capacity past the result that lets the encoder store whole registers to its end.
cdef enum:
    ENCODE_SLACK = 128
IRI_TO_URI_ROW.row, IRI_TO_URI_ROW.factor, IRI_TO_URI_ROW.extra = iri_to_uri_row, 3, ENCODE_SLACK


# --- to an IRI --------------------------------------------------------------------------------------------------------

# Stands for the "%" of a triplet that stays. A control: no URI has a raw one, and none is ever decoded.
cdef enum:
    SHIELD = 1

# Where a reference is read: iprivate is for queries.
cdef enum Place:
    BEFORE_QUERY, IN_QUERY, IN_FRAGMENT

cdef ByteSet NO_PERCENT = ~ByteSet("%")
cdef ByteSet DIGITS = ByteSet("0123456789ABCDEFabcdef")
cdef ByteSet BELOW_8 = ByteSet("01234567")
# Of what is given, and of what was decoded: what needs no look. "?" and "#" are where the place changes.
cdef ByteSet GIVEN_PLAIN = URI_ASCII - "?#" | NO_DOUBT
cdef ByteSet DECODED_PLAIN = ~ByteSet("?#") - [SHIELD] & (ByteSet(range(0x80)) | NO_DOUBT)
# What has nothing to decode, nor to reject.
UNTOUCHED = URI_ASCII - "%"


cdef inline Place place_after(uint8_t delimiter, Place place) noexcept nogil:
    return IN_FRAGMENT if delimiter == c'#' else IN_QUERY if place == BEFORE_QUERY else place


cdef inline Code objection(const uint8_t *s, Place place, int *length) noexcept nogil:
    """What is against a character in this place of an IRI."""
    cdef CharacterKind kind = kind_at(s, length)
    return (VALID if kind == UCSCHAR or kind == IPRIVATE and place == IN_QUERY
            else PRIVATE if kind == IPRIVATE else BIDI if kind == BIDI_CONTROL else CHARACTER)


cdef inline uint64_t ahead(const uint64_t *words, size_t w, int by) noexcept nogil:
    """Bit i of a word: whether bit i + by is set. There is a word after the last one."""
    return words[w] >> by | words[w + 1] << (64 - by)


# The work to do in a piece.
cdef struct Work:
    uint64_t ascii[WORDS]   # the triplets of ASCII
    bint triplets
    bint ascii_triplets


cdef bint look_at(const uint8_t *src, size_t n, Place *place, Work *work, Outcome *outcome) noexcept nogil:
    """Find the triplets of a piece, and the first thing in it that no IRI has."""
    cdef uint64_t percent[WORDS + 1]
    cdef uint64_t others[WORDS + 1]     # no digits
    cdef uint64_t high[WORDS + 1]       # no digits below 8
    cdef uint64_t strange[WORDS]
    cdef uint64_t triplets, word, any_triplet = 0, any_ascii = 0
    cdef size_t words = (n + 63) // 64, w, i
    cdef int length
    cdef Code code
    kernels.mark_outside(src, n, &NO_PERCENT.set, percent)
    kernels.mark_outside(src, n, &DIGITS.set, others)
    kernels.mark_outside(src, n, &BELOW_8.set, high)
    kernels.mark_outside(src, n, &GIVEN_PLAIN.set, strange)
    # No digit follows the end.
    others[words] = high[words] = ~<uint64_t>0
    if n & 63:
        others[words - 1] |= ~<uint64_t>0 << (n & 63)
        high[words - 1] |= ~<uint64_t>0 << (n & 63)
    for w in range(words):
        triplets = percent[w] & ~(ahead(others, w, 1) | ahead(others, w, 2))
        strange[w] |= percent[w] & ~triplets
        work.ascii[w] = triplets & ~ahead(high, w, 1)
        any_triplet |= triplets
        any_ascii |= work.ascii[w]
    for w in range(words):
        word = strange[w]
        while word:
            i = 64 * w + <size_t>uc_lowest_bit(word)
            word &= word - 1
            if src[i] >= 0x80:
                code = objection(src + i, place[0], &length)
                if code == VALID:
                    continue
            elif src[i] == c'?' or src[i] == c'#':
                place[0] = place_after(src[i], place[0])
                continue
            else:
                code = PERCENT if src[i] == c'%' else CHARACTER
            reject(outcome, code, i)
            return False
    work.triplets = any_triplet != 0
    work.ascii_triplets = any_ascii != 0
    return True


cdef uint8_t nibbles[256]       # the value of a hexadecimal digit; that of other bytes does not matter
cdef int octet
for octet in range(256):
    nibbles[octet] = <uint8_t>(hex_value(<uint8_t>octet) & 15)


cdef void shield(uint8_t *piece, size_t n, const uint64_t *ascii) noexcept nogil:
    """Hide the triplets of ASCII that are not unreserved from the decoder."""
    cdef uint64_t word
    cdef size_t w
    cdef uint8_t *at
    for w in range((n + 63) // 64):
        word = ascii[w]
        while word:
            at = piece + 64 * w + uc_lowest_bit(word)
            word &= word - 1
            at[0] = c'%' if UNRESERVED.set.member[nibbles[at[1]] << 4 | nibbles[at[2]]] else SHIELD


cdef inline int sequence_at(const uint8_t *s, size_t n) noexcept nogil:
    """How long the well-formed sequence is that begins here; 0 if none does."""
    cdef int length = sequence_length(s[0]), k
    if length == 0 or <size_t>length > n:
        return 0
    for k in range(1, length):
        if not continues(s[0], k, s[k]):
            return 0
    return length


cdef size_t begun(const uint8_t *s, size_t n) noexcept nogil:
    """How many bytes at the end of s[0 .. n) are the beginning of a sequence."""
    cdef size_t k
    for k in range(1, min(<size_t>4, n + 1)):
        if s[n - k] < 0x80:
            return 0
        if s[n - k] >= 0xC0:
            return k if <size_t>sequence_length(s[n - k]) > k else 0
    return 0


cdef inline uint8_t *put_triplets(const uint8_t *s, int n, uint8_t *dst) noexcept nogil:
    cdef const char *digits = "0123456789ABCDEF"
    cdef int k
    for k in range(n):
        dst[0], dst[1], dst[2] = c'%', digits[s[k] >> 4], digits[s[k] & 15]
        dst += 3
    return dst


cdef size_t settle_one_by_one(const uint8_t *piece, size_t start, size_t n, Place *place,
                              uint8_t **dst) noexcept nogil:
    """The same for what begins with a fault, until there have been no more of them for a while; returns where that is."""
    cdef uint8_t *to = dst[0]
    cdef int length, calm = 0
    while start < n and calm < 32:
        calm += 1
        if piece[start] < 0x80:
            if piece[start] == c'?' or piece[start] == c'#':
                place[0] = place_after(piece[start], place[0])
            to[0] = c'%' if piece[start] == SHIELD else piece[start]
            to += 1
            start += 1
            continue
        length = sequence_at(piece + start, n - start)
        if length == 0 or objection(piece + start, place[0], &length) != VALID:
            length = max(length, 1)
            to = put_triplets(piece + start, length, to)
            calm = 0
        else:
            memcpy(to, piece + start, <size_t>length)
            to += length
        start += <size_t>length
    dst[0] = to
    return start


cdef size_t settle(uint8_t *piece, size_t n, Place place, uint8_t *dst) noexcept nogil:
    """Copies what was decoded; "%" for shields, and triplets again for what may not be in an IRI."""
    cdef uint64_t marks[WORDS + 1]
    cdef uint64_t word
    cdef size_t start = 0, whole, w, i, copied = 0
    cdef uint8_t *to = dst
    cdef uc_utf8 found
    cdef int length
    while start < n:
        whole = kernels.scan_utf8(piece + start, n - start, &found)
        kernels.mark_outside(piece + start, whole, &DECODED_PLAIN.set, marks)
        for w in range((whole + 63) // 64):
            word = marks[w]
            while word:
                i = start + 64 * w + <size_t>uc_lowest_bit(word)
                word &= word - 1
                if piece[i] == SHIELD:
                    piece[i] = c'%'
                elif piece[i] < 0x80:
                    place = place_after(piece[i], place)
                elif objection(piece + i, place, &length) != VALID:
                    memcpy(to, piece + copied, i - copied)
                    to = put_triplets(piece + i, length, to + (i - copied))
                    copied = i + <size_t>length
        start += whole
        if start < n:
            memcpy(to, piece + copied, start - copied)
            to += start - copied
            copied = start = settle_one_by_one(piece, start, n, &place, &to)
    memcpy(to, piece + copied, n - copied)
    return <size_t>(to - dst) + n - copied


cdef size_t scheme_to_be(const uint8_t *src, size_t n) noexcept nogil:
    """Where the first triplet is, of those that would become a scheme if they were decoded; n if they would not.

    "%61:b" is not a URI, but it is not "a:b" either: the first one stays.
    """
    cdef size_t i = 0, first = n
    cdef bint inside = False
    cdef uint8_t c
    while i < n:
        c = src[i]
        if c == c'%' and n - i > 2:
            first = min(first, i)
            c = <uint8_t>(nibbles[src[i + 1]] << 4 | nibbles[src[i + 2]])
            i += 2
            if not UNRESERVED.set.member[c]:
                break           # stays anyway
        elif c == c':':
            return first
        if not SCHEME_TAIL.set.member[c] or not inside and not c'a' <= (c | 32) <= c'z':
            break
        i += 1
        inside = True
    return n


cdef size_t decode_uri(const uint8_t *src, size_t n, bint unsure, uint8_t *dst, Outcome *outcome) noexcept nogil:
    cdef uint8_t piece[CHUNK]
    cdef Work work
    cdef size_t i = 0, o = 0, size, whole, decoded, k, kept = n
    cdef Place looked = BEFORE_QUERY, settled = BEFORE_QUERY
    cdef uc_utf8 found
    kept = scheme_to_be(src, n)
    while i < n:
        size = n - i
        if size > CHUNK:
            size = whole_sequences(src + i, CHUNK)
            size -= 1 if src[i + size - 1] == c'%' else 2 if src[i + size - 2] == c'%' else 0
        # What is checked is what is decoded, even if somebody changes src meanwhile.
        memcpy(piece, src + i, size)
        whole = kernels.scan_utf8(piece, size, &found) if unsure else size
        if not look_at(piece, whole, &looked, &work, outcome):
            return reject(outcome, <Code>outcome.code, outcome.offset + i)
        if whole < size:
            return reject(outcome, UTF8, i + whole)
        if not work.triplets:
            memcpy(dst + o, piece, size)
            o += size
        else:
            if work.ascii_triplets:
                shield(piece, size, work.ascii)
                if kept - i < size:
                    piece[kept - i] = SHIELD
            decoded = kernels.decode(piece, size, False, piece, CHUNK)
            if size < n - i:
                k = begun(piece, decoded)       # of triplets: raw sequences are whole
                decoded -= k
                size -= 3 * k
            o += settle(piece, decoded, settled, dst + o)
        settled = looked
        i += size
    return o


cdef size_t uri_to_iri_row(const uint8_t *src, size_t n, const void *options, uint8_t *dst,
                           Outcome *outcome) noexcept nogil:
    return decode_uri(src, n, True, dst, outcome)

URI_TO_IRI_ROW.row, URI_TO_IRI_ROW.factor, URI_TO_IRI_ROW.extra = uri_to_iri_row, 1, 0
