"""Conversion of IRIs to URIs (RFC 3987 section 3.1) and back (section 3.2): the loops over bytes, single calls, and row operations.

To a URI: each character beyond ASCII is encoded as the triplets of its UTF-8. Characters that no IRI may contain are
rejected. They are ASCII, or begin with one of a few lead bytes: a kernel marks these bytes, the loop checks only the marked
ones, and another kernel encodes.

To an IRI, in pieces that fit the first-level cache:

    given     /D%c3%BC%2fx%FC?        marked: each "%" before a digit from 0 to 7, because it encodes an ASCII character
    shielded  /D%c3%BC!2fx%FC?        "%" is replaced by a byte that occurs nowhere else, unless the character is unreserved
    decoded   /Du:!2fx*?              by one kernel call; here, u: stands for two bytes, * for one that is not UTF-8
    settled   /Du:%2fx%FC?            "!" becomes "%" again; what an IRI may not contain is encoded again, in upper case

So a triplet that stays keeps its spelling, and its bytes never become part of a character. Nor do bytes that were not
encoded, because they were checked to be well-formed UTF-8 by themselves. Pieces never end within a triplet or character.
"""
from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.string cimport memchr, memcpy, memmove

from uricodec._base._kernels cimport (
    ASCII_BYTES, HEXDIG, SUB_DELIMS, UNRESERVED, ByteSet, bits_ahead, kernels, uc_lowest_bit, uc_utf8,
)
from uricodec._base._text cimport *
from uricodec._codec._percent cimport triplet_value, write_triplet
from uricodec._rows._engine cimport *
from uricodec._rows._single cimport *
from uricodec._url._grammar cimport *
from uricodec._url._idna cimport A_LABELS_CAPACITY, U_LABELS_CAPACITY, to_a_labels, to_u_labels

cimport cython

from uricodec.errors import IriError


cdef enum:
    IN_DOUBT = -2           # of a row that only the functions of Python can convert
    PIECE_WORDS = 64
    CHUNK = 64 * PIECE_WORDS      # bytes of a piece


# --- characters -------------------------------------------------------------------------------------------------------

# RFC 3986 section 2: all characters of URIs.
cdef ByteSet URI_ASCII = UNRESERVED | ":/?#[]@%" | SUB_DELIMS
# RFC 3987 section 3.1: "the printable characters in US-ASCII that are not allowed in URIs, namely "<", ">", '"', space,
# "{", "}", "|", "\", "^", and "`""
cdef ByteSet OPTIONAL = ByteSet("<>\" {}|\\^`")
# Bytes beyond ASCII that need no check, given well-formed UTF-8: continuation bytes, and lead bytes of characters that are
# all in ucschar.
cdef ByteSet NO_QUESTION = ByteSet(range(0x80, 0x100)) - [0xC2, 0xEF, 0xF0, 0xF1, 0xF2, 0xF3, 0xF4]
# The same if iprivate (section 2.2) and bidi controls (section 4.1) must be checked, too: U+E000 is EE 80 80, U+200E is
# E2 80 8E.
cdef ByteSet NO_DOUBT = NO_QUESTION - [0xE2, 0xEE]


cdef inline CharacterKind kind_at(const uint8_t *s, int *length) noexcept nogil:
    """Return the kind of a character whose lead byte needs a check. Most are ucschar, which a few comparisons tell."""
    cdef uint32_t c = character_at(s, length)
    if s[0] == 0xE2 and s[1] != 0x80 or 0xF0 <= s[0] <= 0xF2 and c & 0xFFFE != 0xFFFE or 0xFF00 <= c < 0xFFF0:
        return UCSCHAR
    return character_kind(c)


cdef inline size_t whole_sequences(const uint8_t *src, size_t n) noexcept nogil:
    """Return the largest size up to n that does not cut a UTF-8 sequence. src[n] is readable."""
    cdef size_t k
    for k in range(min(<size_t>4, n)):
        if src[n - k] & 0xC0 != 0x80:
            return n - k
    return n        # ill-formed: the caller rejects it


cdef inline size_t reject(Outcome *outcome, UriCode code, size_t offset) noexcept nogil:
    outcome.code = code
    outcome.offset = offset
    return UC_REJECTED


# --- to a URI ---------------------------------------------------------------------------------------------------------

# Which bytes iri_to_uri() accepts and which it keeps. The options of its rows.
cdef struct Mapping:
    uc_set plain        # bytes that need no check: accepted ASCII, and UTF-8 bytes other than lead bytes in question
    uc_set safe         # ASCII that is kept; all other bytes are percent-encoded

cdef Mapping STRICT_MAPPING     # disallowed="raise"
cdef Mapping LENIENT_MAPPING    # disallowed="encode"


cdef void make_mapping(Mapping *mapping, ByteSet ascii, ByteSet safe):
    mapping.plain = (<ByteSet>(ascii | NO_QUESTION)).set
    mapping.safe = safe.set

make_mapping(&STRICT_MAPPING, URI_ASCII, URI_ASCII)
make_mapping(&LENIENT_MAPPING, URI_ASCII | OPTIONAL, URI_ASCII)


cdef bint check_piece(const uint8_t *src, size_t n, const Mapping *mapping, Outcome *outcome) noexcept nogil:
    """Return whether all characters may occur in an IRI. src is well-formed UTF-8 of at most CHUNK bytes."""
    cdef uint64_t marks[PIECE_WORDS]
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
    """Check an IRI. Return the number of bytes to percent-encode, or UC_REJECTED.

    unsure: the bytes may be ill-formed UTF-8; otherwise the caller guarantees that they are well-formed.
    """
    cdef size_t i = 0, size, whole, escapes = 0
    cdef uc_utf8 found
    while i < n:
        size = n - i
        if size > CHUNK:
            size = whole_sequences(src + i, CHUNK)
        whole = kernels.scan_utf8(src + i, size, &found) if unsure else size
        if not check_piece(src + i, whole, mapping, outcome):
            return reject(outcome, <UriCode>outcome.code, outcome.offset + i)
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
cdef SizedRow IRI_TO_URI_ROW = SizedRow(iri_to_uri_row, 3, ENCODE_SLACK)     # options: a Mapping


# --- to an IRI --------------------------------------------------------------------------------------------------------

# Replaces the "%" of a triplet that stays. A control character: it is neither in URIs nor ever decoded.
cdef enum:
    SHIELD = 1

# The current part of a reference: characters of iprivate are allowed in queries only.
cdef enum InReference:
    BEFORE_QUERY, IN_QUERY, IN_FRAGMENT

cdef ByteSet BUT_PERCENT = ~ByteSet("%")
cdef ByteSet BELOW_8 = ByteSet("01234567")
# Bytes that need no check, in the input and after decoding. "?" and "#" end a place.
cdef ByteSet GIVEN_PLAIN = URI_ASCII - "?#" | NO_DOUBT
cdef ByteSet DECODED_PLAIN = ~ByteSet("?#") - [SHIELD] & (ASCII_BYTES | NO_DOUBT)
# Bytes that are neither decoded nor rejected.
cdef ByteSet UNTOUCHED = URI_ASCII - "%"


cdef inline InReference place_after(uint8_t delimiter, InReference place) noexcept nogil:
    if delimiter == c'#':
        return IN_FRAGMENT
    return IN_QUERY if place == BEFORE_QUERY else place


cdef inline UriCode objection(const uint8_t *s, InReference place, int *length) noexcept nogil:
    """Return why a character is not allowed in this place of an IRI; VALID if it is."""
    cdef CharacterKind kind = kind_at(s, length)
    if kind == UCSCHAR or kind == IPRIVATE and place == IN_QUERY:
        return VALID
    if kind == IPRIVATE:
        return PRIVATE
    return BIDI if kind == BIDI_CONTROL else CHARACTER


# The triplets of a piece.
cdef struct PieceMarks:
    uint64_t ascii[PIECE_WORDS]   # marks the triplets that encode ASCII
    bint triplets
    bint ascii_triplets


cdef bint check_and_mark(const uint8_t *src, size_t n, InReference *place, PieceMarks *work, Outcome *outcome) noexcept nogil:
    """Find the triplets of a piece. Return False if it is invalid, and set `outcome` to its first error."""
    cdef uint64_t percent[PIECE_WORDS + 1]
    cdef uint64_t others[PIECE_WORDS + 1]     # bytes that are not hexadecimal digits
    cdef uint64_t high[PIECE_WORDS + 1]       # bytes that are not digits below 8
    cdef uint64_t strange[PIECE_WORDS]
    cdef uint64_t triplets, word, any_triplet = 0, any_ascii = 0
    cdef size_t words = (n + 63) // 64, w, i
    cdef int length
    cdef UriCode code
    kernels.mark_outside(src, n, &BUT_PERCENT.set, percent)
    kernels.mark_outside(src, n, &HEXDIG.set, others)
    kernels.mark_outside(src, n, &BELOW_8.set, high)
    kernels.mark_outside(src, n, &GIVEN_PLAIN.set, strange)
    # No digit follows the end.
    others[words] = high[words] = ~<uint64_t>0
    if n & 63:
        others[words - 1] |= ~<uint64_t>0 << (n & 63)
        high[words - 1] |= ~<uint64_t>0 << (n & 63)
    for w in range(words):
        triplets = percent[w] & ~(bits_ahead(others, w, 1) | bits_ahead(others, w, 2))
        strange[w] |= percent[w] & ~triplets
        work.ascii[w] = triplets & ~bits_ahead(high, w, 1)
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


cdef void shield(uint8_t *piece, size_t n, const uint64_t *ascii) noexcept nogil:
    """Replace the "%" of triplets of ASCII, unless they encode unreserved characters, so that they are not decoded."""
    cdef uint64_t word
    cdef size_t w
    cdef uint8_t *at
    for w in range((n + 63) // 64):
        word = ascii[w]
        while word:
            at = piece + 64 * w + uc_lowest_bit(word)
            word &= word - 1
            at[0] = c'%' if UNRESERVED.set.member[<uint8_t>triplet_value(at, 3)] else SHIELD


cdef inline uint8_t *put_triplets(const uint8_t *s, int n, uint8_t *dst) noexcept nogil:
    cdef int k
    for k in range(n):
        dst += write_triplet(s[k], dst)
    return dst


cdef size_t settle_one_by_one(const uint8_t *piece, size_t start, size_t n, InReference *place,
                              uint8_t **dst) noexcept nogil:
    """Settle bytes one by one, from ill-formed ones up to where 32 characters in a row are valid. Return the offset there."""
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


cdef size_t settle(uint8_t *piece, size_t n, InReference place, uint8_t *dst) noexcept nogil:
    """Copy what was decoded. Restore the "%" of shielded triplets, and encode again what an IRI may not contain."""
    cdef uint64_t marks[PIECE_WORDS + 1]
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
    """Return the offset of the first triplet before a ":" if decoding all triplets there would create a scheme; else n.

    "%61:b" has no scheme, so it must not become "a:b": its first triplet stays.
    """
    cdef size_t i = 0, first = n
    cdef bint inside = False
    cdef uint8_t c
    while i < n:
        c = src[i]
        if c == c'%' and n - i > 2:
            first = min(first, i)
            c = <uint8_t>triplet_value(src + i, 3)
            i += 2
            if not UNRESERVED.set.member[c]:
                break           # such a triplet is not decoded
        elif c == c':':
            return first
        if not SCHEME_TAIL.set.member[c] or not inside and not c'a' <= (c | 32) <= c'z':
            break
        i += 1
        inside = True
    return n


cdef inline void find_literal(const uint8_t *src, size_t n, size_t *start, size_t *end) noexcept nogil:
    """Find a host in brackets: RFC 3986 section 3.2.2 has triplets in names only."""
    cdef Parts parts
    start[0] = end[0] = 0
    if memchr(src, c'[', n) == NULL:
        return
    find_authority(src, n, &parts)
    if parts.host < parts.host_end and src[parts.host] == c'[' and is_well_delimited(src, &parts):
        start[0], end[0] = <size_t>parts.host, <size_t>parts.host_end


cdef size_t decode_uri(const uint8_t *src, size_t n, bint unsure, uint8_t *dst, Outcome *outcome) noexcept nogil:
    """Write the IRI to dst, which must not overlap src and must have a capacity of n bytes. Return its size, or UC_REJECTED.
    """
    cdef uint8_t piece[CHUNK]
    cdef PieceMarks work
    cdef size_t i = 0, o = 0, size, whole, decoded, k, kept = n
    cdef InReference looked = BEFORE_QUERY, settled = BEFORE_QUERY
    cdef uc_utf8 found
    cdef size_t literal, literal_end
    kept = scheme_to_be(src, n)
    find_literal(src, n, &literal, &literal_end)
    while i < n:
        size = n - i
        if size > CHUNK:
            size = whole_sequences(src + i, CHUNK)
            size -= 1 if src[i + size - 1] == c'%' else 2 if src[i + size - 2] == c'%' else 0
        # The piece is a copy, so that what is decoded is what was checked, even if another thread changes src.
        memcpy(piece, src + i, size)
        whole = kernels.scan_utf8(piece, size, &found) if unsure else size
        if not check_and_mark(piece, whole, &looked, &work, outcome):
            return reject(outcome, <UriCode>outcome.code, outcome.offset + i)
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
            for k in range(max(literal, i), min(literal_end, i + size)):
                if piece[k - i] == c'%':
                    piece[k - i] = SHIELD
            decoded = kernels.decode(piece, size, False, piece, CHUNK)
            if size < n - i:
                k = decoded - interrupted(piece, decoded)   # from triplets: sequences that were not encoded are complete
                decoded -= k
                size -= 3 * k
            o += settle(piece, decoded, settled, dst + o)
        settled = looked
        i += size
    return o


cdef size_t uri_to_iri_row(const uint8_t *src, size_t n, const void *options, uint8_t *dst,
                           Outcome *outcome) noexcept nogil:
    return decode_uri(src, n, True, dst, outcome)

cdef SizedRow URI_TO_IRI_ROW = SizedRow(uri_to_iri_row, 1, 0)


# --- with hosts -------------------------------------------------------------------------------------------------------

# A host in question is copied, and converted if it is certain how; otherwise the row is in doubt.
cdef enum:
    MOST_HOST_BYTES = 1024      # longer hosts are in doubt; also, the bytes by which a converted host may be longer


cdef bint find_host(const uint8_t *s, size_t n, size_t *start, size_t *end) noexcept nogil:
    """Find a host that is a name and not empty."""
    cdef Parts parts
    find_authority(s, n, &parts)
    start[0], end[0] = <size_t>parts.host, <size_t>parts.host_end
    return parts.host < parts.host_end and s[parts.host] != c'[' and is_well_delimited(s, &parts)


cdef inline size_t size_or_doubt(size_t size, Outcome *outcome) noexcept nogil:
    """Return the size of a converted host; UC_REJECTED if it has none, for the reason in `outcome`."""
    if size == 0 or size == UC_REJECTED:
        outcome.code, outcome.offset = UC_RAISED if size else IN_DOUBT, 0
        return UC_REJECTED
    return size


cdef size_t iri_to_uri_idna_row(const uint8_t *src, size_t n, const void *options, uint8_t *dst,
                                Outcome *outcome) noexcept nogil:
    cdef const Mapping *mapping = <const Mapping *>options
    cdef uint8_t host[MOST_HOST_BYTES]
    cdef uint8_t name[A_LABELS_CAPACITY]
    cdef size_t start, end, size, capacity = 3 * n + MOST_HOST_BYTES, o
    if kernels.span(src, n, &UNTOUCHED.set) == n:
        memcpy(dst, src, n)
        return n
    if check_iri_bytes(src, n, mapping, True, outcome) == UC_REJECTED:
        return UC_REJECTED
    if not find_host(src, n, &start, &end) or kernels.span(src + start, end - start, &UNTOUCHED.set) == end - start:
        return kernels.encode(src, n, &mapping.safe, False, dst, capacity)
    if end - start > MOST_HOST_BYTES:
        return size_or_doubt(0, outcome)
    size = decode_uri(src + start, end - start, True, host, outcome)
    if size == UC_REJECTED:
        return size_or_doubt(0, outcome)
    if kernels.span(host, size, &ASCII_BYTES.set) == size:
        return kernels.encode(src, n, &mapping.safe, False, dst, capacity)
    size = size_or_doubt(to_a_labels(host, size, name), outcome)
    if size == UC_REJECTED:
        return size
    o = kernels.encode(src, start, &mapping.safe, False, dst, capacity)
    memcpy(dst + o, name, size)
    o += size
    return o + kernels.encode(src + end, n - end, &mapping.safe, False, dst + o, capacity - o)


cdef size_t with_unicode_host(const uint8_t *src, size_t n, bint safe, uint8_t *dst, Outcome *outcome) noexcept nogil:
    cdef uint8_t name[U_LABELS_CAPACITY]
    cdef size_t start, end, size, whole = decode_uri(src, n, True, dst, outcome)
    if whole == UC_REJECTED or not find_host(dst, whole, &start, &end) or not is_special_host(dst + start, end - start):
        return whole
    if end - start > MOST_HOST_BYTES:
        return size_or_doubt(0, outcome)
    size = size_or_doubt(to_u_labels(dst + start, end - start, safe, name), outcome)
    if size == UC_REJECTED:
        return size
    memmove(dst + start + size, dst + end, whole - end)
    memcpy(dst + start, name, size)
    return whole + size - (end - start)


cdef size_t uri_to_iri_unicode_row(const uint8_t *src, size_t n, const void *options, uint8_t *dst,
                                   Outcome *outcome) noexcept nogil:
    return with_unicode_host(src, n, False, dst, outcome)


cdef size_t uri_to_iri_safe_row(const uint8_t *src, size_t n, const void *options, uint8_t *dst,
                                Outcome *outcome) noexcept nogil:
    return with_unicode_host(src, n, True, dst, outcome)


cdef bint is_special_host(const uint8_t *host, size_t n) noexcept nogil:
    """Return whether a host has a character beyond ASCII, or "xn--"."""
    cdef size_t i
    for i in range(n):
        if host[i] >= 0x80:
            return True
        if (i >= 3 and host[i] == c'-' and host[i - 1] == c'-' and host[i - 2] | 32 == c'n'
                and host[i - 3] | 32 == c'x'):
            return True
    return False

cdef SizedRow IRI_TO_URI_IDNA_ROW = SizedRow(iri_to_uri_idna_row, 3, MOST_HOST_BYTES)      # options: a Mapping
cdef SizedRow URI_TO_IRI_UNICODE_ROW = SizedRow(uri_to_iri_unicode_row, 1, MOST_HOST_BYTES)
cdef SizedRow URI_TO_IRI_SAFE_ROW = SizedRow(uri_to_iri_safe_row, 1, MOST_HOST_BYTES)


# --- bytes and objects ------------------------------------------------------------------------------------------------

# The UTF-8 of a str is well-formed, and need not be checked.

cdef size_t text_to_uri_row(const uint8_t *src, size_t n, const void *options, uint8_t *dst, Outcome *outcome) noexcept nogil:
    cdef const Mapping *mapping = <const Mapping *>options
    if check_iri_bytes(src, n, mapping, False, outcome) == UC_REJECTED:
        return UC_REJECTED
    return kernels.encode(src, n, &mapping.safe, False, dst, 3 * n + ENCODE_SLACK)


cdef size_t text_to_iri_row(const uint8_t *src, size_t n, const void *options, uint8_t *dst, Outcome *outcome) noexcept nogil:
    return decode_uri(src, n, False, dst, outcome)

cdef SizedRow TEXT_TO_URI_ROW = SizedRow(text_to_uri_row, 3, ENCODE_SLACK)
cdef SizedRow TEXT_TO_IRI_ROW = SizedRow(text_to_iri_row, 1, 0)


cdef bint is_uri(const uint8_t *src, size_t n, const void *options) noexcept nogil:
    return kernels.span(src, n, &(<const Mapping *>options).safe) == n


cdef bint is_iri(const uint8_t *src, size_t n, const void *options) noexcept nogil:
    return kernels.span(src, n, &UNTOUCHED.set) == n


cdef Single STRICT_URI = single_of(&IRI_TO_URI_ROW, &STRICT_MAPPING, is_uri, ALL_ASCII)
cdef Single LENIENT_URI = single_of(&IRI_TO_URI_ROW, &LENIENT_MAPPING, is_uri, ALL_ASCII)
cdef Single IRI = single_of(&URI_TO_IRI_ROW, NULL, is_iri, ANY_TEXT)
STRICT_URI.text_operation = LENIENT_URI.text_operation = &TEXT_TO_URI_ROW
IRI.text_operation = &TEXT_TO_IRI_ROW


cdef inline object to_iri(object given):
    return result_of(given, &IRI, IRI_FAULTS, False)


cdef object converted(object given, const SizedRow *operation, const void *options):
    """Return the result of an operation with hosts; None: the text is invalid, or in doubt."""
    cdef Single single = single_of(operation, options, NULL, ANY_TEXT)
    return result_of(given, &single, None, False)


# --- public functions -------------------------------------------------------------------------------------------------

# The values of `disallowed` and `host`.
cdef tuple DISALLOWED = ("raise", "encode")
cdef tuple HOSTS_OF_URIS = ("percent", "idna")
cdef tuple HOSTS_OF_IRIS = ("keep", "unicode", "safe")


cdef inline int index_of(object value, tuple values, str option) except -1:
    return 0 if value is values[0] else index_of_other(value, values, option)


cdef int index_of_other(object value, tuple values, str option) except -1:
    cdef int i
    for i in range(<int>len(values)):
        if values[i] is value or values[i] == value:
            return i
    raise ValueError(f"{option} must be one of {', '.join(map(repr, values))}, got {value!r}")


cdef tuple host_range(bytes iri):
    """Return where the host starts and ends, if it is a name and not empty; None otherwise."""
    cdef size_t start, end
    if not find_host(<const uint8_t *>PyBytes_AS_STRING(iri), <size_t>PyBytes_GET_SIZE(iri), &start, &end):
        return None
    return start, end


cdef object raise_host(object given, error):
    """Raise an IriError at the host."""
    text = text_of(given)
    start = host_range(text if type(text) is bytes else (<str>text).encode())[0]
    raise IriError(f"invalid internationalized host: {error}", given, start if type(text) is bytes else
                   len((<str>text).encode()[:start].decode())) from error


cdef object with_host(object given, object iri, str form):
    """Convert the labels of the host in `iri`, the result for `given`, to a form: "ascii", "unicode" or "safe"."""
    cdef bytes result = iri if type(iri) is bytes else (<str>iri).encode()
    place = host_range(result)
    if place is None:
        return iri
    start, end = place
    try:
        host = to_iri(result[start:end]).decode()
        if host.isascii() and (form == "ascii" or "xn--" not in host.lower()):
            return iri
        from uricodec._url import _hosts
        host = getattr(_hosts, "to_" + form)(host)
        result = result[:start] + to_iri(host).encode() + result[end:]
    except ValueError as error:
        if not isinstance(error, ValueError):   # a MemoryError replaced it
            raise error  # pragma: no cover: no memory
        raise_host(given, error)
    return result if type(iri) is bytes else result.decode()


def iri_to_uri(iri, encoding=None, disallowed="raise", host="percent", bint nfc=False):
    """Convert an IRI to a URI: percent-encode the UTF-8 of characters beyond ASCII.

    A text that is already a URI does not change, apart from triplets in its host with host="idna". "%", "#", "[" and "]"
    are kept everywhere. IRI references and single components are accepted, too.

    Args:
        iri (str | bytes-like): The IRI; bytes are UTF-8, unless `encoding` says otherwise.
        encoding (str | None): The character encoding of bytes. If it is not a Unicode encoding, the characters are put
            into Normalization Form C first.
        disallowed (str): How to handle the ten printable characters < > " { } | \\ ^ ` and space, which URIs do not
            allow:
            "raise" an error, or "encode" them.
        host (str): "percent": percent-encode the host as the rest. "idna": convert a host that is not ASCII to A-labels
            (ToASCII, with the STD 3 rules), after decoding its triplets that are UTF-8.
        nfc (bool): The characters were read from paper or typed in: put them into Normalization Form C first.

    Returns:
        str | bytes: str for a str, bytes for a bytes-like object; the same object if a str or bytes does not change.

    Raises:
        IriError: If the text contains a character that IRIs do not allow (a control, a noncharacter, one of the ten, a
            lone surrogate), bytes are invalid in the encoding, or the host has no A-labels. `offset` is that of the
            character or host in `iri`; it is 0 for an error that only exists after composition to Normalization Form C.
        ValueError: If `disallowed` or `host` is unknown.
        LookupError: If the encoding is unknown.
        TypeError: If a str is given with an encoding, or `iri` is neither a str nor bytes-like.

    Source: RFC 3987 section 3.1.

    >>> iri_to_uri("http://r\u00e9sum\u00e9.example.org/%20")
    'http://r%C3%A9sum%C3%A9.example.org/%20'
    >>> iri_to_uri("http://r\u00e9sum\u00e9.example.org/", host="idna")
    'http://xn--rsum-bpad.example.org/'
    >>> iri_to_uri(b"Vi\\xea\\xf2t", encoding="windows-1258")
    b'Vi%E1%BB%87t'
    """
    cdef const Single *uri = &LENIENT_URI if index_of(disallowed, DISALLOWED, "disallowed") else &STRICT_URI
    cdef bint idna = index_of(host, HOSTS_OF_URIS, "host")
    if encoding is not None or nfc:
        from uricodec.iri import _characters
        return _characters.convert(iri, encoding, nfc, iri_to_uri, {"disallowed": disallowed, "host": host})
    return to_uri_with_host(iri, uri) if idna else result_of(iri, uri, IRI_FAULTS, False)


cdef object to_uri_with_host(object iri, const Single *uri):
    found = converted(iri, &IRI_TO_URI_IDNA_ROW, uri.options)
    if found is not None:
        return found
    result_of(iri, uri, IRI_FAULTS, False)      # raises the first error
    return result_of(with_host(iri, text_of(iri), "ascii"), uri, IRI_FAULTS, False)


def uri_to_iri(uri, host="keep"):
    """Convert a URI to an IRI: decode triplets where the result is unambiguous.

    Decoded are unreserved ASCII characters, and the UTF-8 of characters that an IRI allows in that component. All other
    triplets are kept: those of ASCII as they are spelled, the others in upper case. If decoding would give a relative
    reference a scheme, its first triplet is kept. IRIs, IRI references and single components are accepted, too.

    Args:
        uri (str | bytes-like): The URI; bytes are UTF-8.
        host (str): "keep": decode triplets of the host only. "unicode": also convert its A-labels to the characters
            that they encode (ToUnicode). "safe": do so for labels whose letters are of one script, or of scripts that
            are written together, as in Japanese; the other labels beyond ASCII become A-labels.

    Returns:
        str | bytes: str for a str, bytes for a bytes-like object; the same object if a str or bytes does not change.

    Raises:
        IriError: If a "%" is not followed by two hexadecimal digits, the text contains a character that an IRI does not
            allow there, or the host has an invalid A-label. `offset` is that of the character or host in `uri`.
        ValueError: If `host` is unknown.
        TypeError: If `uri` is neither a str nor bytes-like.

    Source: RFC 3987 section 3.2; what may not be in an IRI: sections 2.2 and 4.1. Scripts: UTS 39 section 5.2.

    >>> uri_to_iri("http://example.org/D%c3%bCrst%2f%7euser/%FC")
    'http://example.org/D\u00fcrst%2f~user/%FC'
    >>> uri_to_iri("http://xn--99zt52a.example.org/", host="unicode")
    'http://\u7d0d\u8c46.example.org/'
    >>> uri_to_iri("http://xn--99zt52a.xn--pple-43d.example/", host="safe")     # the other one has a Cyrillic "a"
    'http://\u7d0d\u8c46.xn--pple-43d.example/'
    """
    cdef int index = index_of(host, HOSTS_OF_IRIS, "host")
    return to_iri_with_host(uri, index == 2) if index else to_iri(uri)


cdef object to_iri_with_host(object uri, bint safe):
    found = converted(uri, &URI_TO_IRI_SAFE_ROW if safe else &URI_TO_IRI_UNICODE_ROW, NULL)
    return with_host(uri, to_iri(uri), "safe" if safe else "unicode") if found is None else found


# Most calls are iri_to_uri(text): the same without argument parsing.
cdef vectorcall parse_iri_to_uri


cdef object call_iri_to_uri(object function, PyObject *const *args, size_t flags, PyObject *names):
    if is_call_of_text(args, flags, names):
        return result_of(<object>args[0], &STRICT_URI, IRI_FAULTS, False)
    return parse_iri_to_uri(function, args, flags, names)


parse_iri_to_uri = take_calls(iri_to_uri, call_iri_to_uri)
for function in iri_to_uri, uri_to_iri:
    function.__module__ = "uricodec.iri"        # pickled by reference to their public name
del function


# --- rows -------------------------------------------------------------------------------------------------------------

# A row function converts most hosts; a Python function those that it leaves in doubt.
cdef struct Hosts:
    row_function row
    const void *options
    PyObject *function      # from bytes to bytes, or an IriError
    size_t factor, extra


cdef size_t copy_result(const uint8_t *src, size_t n, const Hosts *hosts, uint8_t *dst,
                        Outcome *outcome) except? UC_REJECTED:
    result = (<object>hosts.function)(PyBytes_FromStringAndSize(<const char *>src, <Py_ssize_t>n))
    if isinstance(result, IriError):
        outcome.offset = <size_t>result.offset
        outcome.code = REASONS.index(result.reason) if result.reason in REASONS else HOST
        return UC_REJECTED
    if <size_t>len(<bytes?>result) > hosts.factor * n + hosts.extra:
        outcome.code, outcome.offset = HOST, 0
        return UC_REJECTED
    memcpy(dst, PyBytes_AS_STRING(result), <size_t>len(<bytes>result))
    return <size_t>len(<bytes>result)


# copy_result() for a caller that hands the exception on (see docs/developing/recipes.md).
ctypedef size_t (*unchecked_result)(const uint8_t *, size_t, const Hosts *, uint8_t *, Outcome *) noexcept


cdef size_t call_function(const uint8_t *src, size_t n, const Hosts *hosts, uint8_t *dst, Outcome *outcome) noexcept with gil:
    outcome.code = UC_RAISED
    return (<unchecked_result>copy_result)(src, n, hosts, dst, outcome)


cdef size_t hosts_row(const uint8_t *src, size_t n, const void *options, uint8_t *dst, Outcome *outcome) noexcept nogil:
    cdef const Hosts *hosts = <const Hosts *>options
    cdef size_t size = hosts.row(src, n, hosts.options, dst, outcome)
    if size == UC_REJECTED and outcome.code == IN_DOUBT:
        return call_function(src, n, hosts, dst, outcome)
    return size


cdef class HostsRows(RowOperation):
    """Base class of the conversions between IRIs and URIs."""
    cdef Hosts hosts
    cdef object function

    def __cinit__(self):
        self.code_names, self.reasons, self.error = CODE_NAMES, REASONS, IriError
        self.slots.block = NULL

    cdef int convert_hosts(self, SizedRow operation, object function) except -1:
        """Convert hosts, too: by an operation that has the same options, and a Python function for rows in doubt."""
        from uricodec._url._hosts import returning_errors
        function = self.function = returning_errors(function)
        self.hosts = Hosts(operation.row, self.slots.options, <PyObject *>function, operation.factor, operation.extra)
        self.slots.strict = operation
        self.slots.strict.row, self.slots.options = hosts_row, &self.hosts
        return 0


@cython.final
cdef class IriToUriRows(HostsRows):
    """Operation that converts IRIs to URIs.

    Args:
        disallowed (str): See `iri_to_uri`: "raise" or "encode".
        host (str): See `iri_to_uri`: "percent" or "idna".

    Source: RFC 3987 section 3.1.
    """

    def __cinit__(self, disallowed="raise", host="percent"):
        iri_to_uri(b"", disallowed=disallowed, host=host)     # raises ValueError for unknown options
        self.slots.strict = IRI_TO_URI_ROW
        self.slots.options = &STRICT_MAPPING if disallowed == "raise" else &LENIENT_MAPPING
        if host == "idna":
            self.convert_hosts(IRI_TO_URI_IDNA_ROW, lambda iri: iri_to_uri(iri, disallowed=disallowed, host="idna"))


@cython.final
cdef class UriToIriRows(HostsRows):
    """Operation that converts URIs to IRIs.

    Args:
        host (str): See `uri_to_iri`: "keep", "unicode" or "safe".

    Source: RFC 3987 section 3.2.
    """

    def __cinit__(self, host="keep"):
        uri_to_iri(b"", host=host)      # raises ValueError for an unknown option
        self.slots.strict = URI_TO_IRI_ROW
        if host != "keep":
            self.convert_hosts(URI_TO_IRI_SAFE_ROW if host == "safe" else URI_TO_IRI_UNICODE_ROW,
                               lambda uri: uri_to_iri(uri, host=host))
