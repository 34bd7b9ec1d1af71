"""The grammars of URNs (RFC 2141 section 2, RFC 8141 section 2). Knows no normal form and no Python object.

read_urn() reads a URN from left to right, and returns the offsets of its parts, or the code and offset of the first
error. Most bytes need no decision. A kernel marks those that do ("%", "?", "#" and invalid ones) in words of 64 bits, and
the loops visit only these, in order.
"""
from libc.stdint cimport uint8_t, uint64_t

from uricodec._base._kernels cimport SUB_DELIMS, UNRESERVED, ByteSet, kernels, uc_lowest_bit

cdef enum:
    WORDS = 64, CHUNK = 64 * WORDS      # bytes that a kernel marks at once


# --- bytes ------------------------------------------------------------------------------------------------------------

#   <upper>  ::= "A" | ... | "Z"        <lower>  ::= "a" | ... | "z"        <number> ::= "0" | ... | "9"
cdef ByteSet UPPER = ByteSet(range(ord("A"), ord("Z") + 1))
cdef ByteSet LOWER = ByteSet(range(ord("a"), ord("z") + 1))
cdef ByteSet NUMBER = ByteSet(range(ord("0"), ord("9") + 1))
ALPHANUM = UPPER | LOWER | NUMBER

# RFC 2141 section 2.1:
#   <NID>         ::= <let-num> [ 1,31<let-num-hyp> ]
#   <let-num-hyp> ::= <upper> | <lower> | <number> | "-"
# RFC 8141 section 2:
#   NID           = (alphanum) 0*30(ldh) (alphanum)
#   ldh           = alphanum / "-"
NID_BYTES = ALPHANUM | "-"

# RFC 2141 section 2.2:
#   <NSS>         ::= 1*<URN chars>
#   <URN chars>   ::= <trans> | "%" <hex> <hex>
#   <trans>       ::= <upper> | <lower> | <number> | <other> | <reserved>
#   <other>       ::= "(" | ")" | "+" | "," | "-" | "." |
#                     ":" | "=" | "@" | ";" | "$" |
#                     "_" | "!" | "*" | "'"
#   <reserved>    ::= '%" | "/" | "?" | "#"        (the first quote is a misprint of ")
cdef ByteSet OTHER = ByteSet("()+,-.:=@;$_!*'")
cdef ByteSet RESERVED = ByteSet("%/?#")
cdef ByteSet TRANS = ALPHANUM | OTHER | RESERVED

# RFC 8141 section 2, over RFC 3986 appendix A:
#   NSS           = pchar *(pchar / "/")
#   r-component   = pchar *( pchar / "/" / "?" )
#   q-component   = pchar *( pchar / "/" / "?" )
#   f-component   = fragment                            fragment      = *( pchar / "/" / "?" )
#   pchar         = unreserved / pct-encoded / sub-delims / ":" / "@"
#   unreserved    = ALPHA / DIGIT / "-" / "." / "_" / "~"
#   sub-delims    = "!" / "$" / "&" / "'" / "(" / ")" / "*" / "+" / "," / ";" / "="
cdef ByteSet PCHAR = UNRESERVED | SUB_DELIMS | ":@"

# Bytes that need no decision: in an NSS of RFC 2141; in the NSS and the components of RFC 8141.
PLAIN_2141 = TRANS - "%"
PLAIN_8141 = PCHAR | "/"
URN_BYTES = PLAIN_8141 | TRANS

# The kind of each byte of an NID; 0 for all other bytes.
cdef enum:
    SMALL_OR_NUMBER = 1, CAPITAL = 2, HYPHEN = 4
cdef uint8_t nid_kind[256]
# The kind of each hexadecimal digit (RFC 3986 section 2.1: HEXDIG); 0 for all other bytes.
cdef enum:
    DIGIT = 1, SMALL_DIGIT = 2
cdef uint8_t hex_kind[256]

cdef int byte
for byte in range(256):
    if byte in NID_BYTES:
        nid_kind[byte] = CAPITAL if byte in UPPER else HYPHEN if byte not in ALPHANUM else SMALL_OR_NUMBER
    if byte in NUMBER or byte in b"ABCDEF":
        hex_kind[byte] = DIGIT
    elif byte in b"abcdef":
        hex_kind[byte] = SMALL_DIGIT


# --- reading ----------------------------------------------------------------------------------------------------------

cdef bint reject(ParsedUrn *urn, UrnCode code, size_t offset) noexcept nogil:
    urn.code, urn.offset = code, offset
    return False


cdef inline bint rejects_scheme(const uint8_t *s, size_t n) noexcept nogil:
    """Return whether the text does not begin with "urn:", in any case."""
    return n < 4 or s[0] | 0x20 != c'u' or s[1] | 0x20 != c'r' or s[2] | 0x20 != c'n' or s[3] != c':'


cdef bint reject_scheme(const uint8_t *s, size_t n, ParsedUrn *urn) noexcept nogil:
    cdef size_t i = 0
    while i < n and i < 3 and s[i] | 0x20 == (c'u' if i == 0 else c'r' if i == 1 else c'n'):
        i += 1
    return reject(urn, SCHEME, i)


cdef inline bint read_nid(const uint8_t *s, size_t n, ParsedUrn *urn) noexcept nogil:
    """Read `"urn:" NID ":"`. Errors are reported in this order: invalid bytes, the length of the NID, its hyphens."""
    cdef size_t i = 4
    cdef uint8_t kind, kinds = 0
    if rejects_scheme(s, n):
        return reject_scheme(s, n, urn)
    while i < n:
        kind = nid_kind[s[i]]
        if not kind:
            break
        kinds |= kind
        i += 1
    if i > 4 and s[4] == c'-':
        return reject(urn, NID_HYPHEN, 4)
    if i > 4 + 32:
        return reject(urn, NID_LENGTH, 4 + 32)
    if i == n or s[i] != c':':
        return reject(urn, NID, i)
    if kinds & HYPHEN and s[i - 1] == c'-' and urn.rfc == RFC8141:
        return reject(urn, NID_HYPHEN, i - 1)
    if i < (4 + 1 if urn.rfc == RFC2141 else 4 + 2):
        return reject(urn, NID_LENGTH, i)
    # "the NID "urn" is reserved and MUST NOT be used"
    if urn.rfc == RFC2141 and i == 7 and s[4] | 0x20 == c'u' and s[5] | 0x20 == c'r' and s[6] | 0x20 == c'n':
        return reject(urn, NID_URN, 4)
    urn.nid_end = i
    urn.changes = LETTERS if kinds & CAPITAL or not s[0] & s[1] & s[2] & 0x20 else 0
    return True


cdef inline int triplet_at(const uint8_t *s, size_t n, size_t i) noexcept nogil:
    """Return the combined kinds of the two digits after a "%"; 0 if they are not two hexadecimal digits."""
    if n - i < 3 or not hex_kind[s[i + 1]] or not hex_kind[s[i + 2]]:
        return 0
    return hex_kind[s[i + 1]] | hex_kind[s[i + 2]]


cdef bint read_2141(const uint8_t *s, size_t n, ParsedUrn *urn) noexcept nogil:
    cdef uint64_t words[WORDS]
    cdef uint64_t word
    cdef size_t start, size, i, w
    cdef int digits
    if not read_nid(s, n, urn):
        return False
    start = urn.nid_end + 1
    if start == n:
        return reject(urn, NSS_EMPTY, start)
    while start < n:
        size = n - start if n - start < CHUNK else CHUNK
        kernels.mark_outside(s + start, size, &PLAIN_2141.set, words)
        for w in range((size + 63) // 64):
            word = words[w]
            while word:
                i = start + 64 * w + <size_t>uc_lowest_bit(word)
                word &= word - 1
                if s[i] != c'%':
                    return reject(urn, NSS, i)
                digits = triplet_at(s, n, i)
                if not digits:
                    return reject(urn, PERCENT, i)
                # Section 2.4: "byte 0 (0 hex) should NEVER be used, in either unencoded or %-encoded form".
                if s[i + 1] == c'0' and s[i + 2] == c'0':
                    return reject(urn, PERCENT_NULL, i)
                urn.changes |= TRIPLETS | (DIGITS if digits & SMALL_DIGIT else 0)
        start += size
    urn.nss_end = urn.end = n
    urn.r = urn.q = urn.f = 0
    urn.code = VALID
    return True


cdef bint begins_component(const uint8_t *s, size_t n, size_t i, ParsedUrn *urn) noexcept nogil:
    """Return whether a component may begin at i, given that the byte there is not marked, or is a "?" or "#"."""
    if i == n or s[i] == c'#':
        return reject(urn, COMPONENT_EMPTY, i)
    if s[i] == c'/' or s[i] == c'?':
        return reject(urn, COMPONENT, i)
    return True


cdef bint read_question(const uint8_t *s, size_t n, size_t i, ParsedUrn *urn) noexcept nogil:
    """Process a "?" in an NSS or an r-component, which may end there."""
    cdef bint inside = urn.r != 0
    # "a "?" that is not immediately followed by "=" or "+" is not defined for URNs", other than inside components
    if n - i >= 2 and s[i + 1] == c'=':
        urn.q = i + 2
        if not inside:
            urn.nss_end = i
        return begins_component(s, n, i + 2, urn)
    if inside:
        return True
    if n - i < 2 or s[i + 1] != c'+':
        return reject(urn, COMPONENT, i)
    urn.r = i + 2
    urn.nss_end = i
    # An r-component extends to the first "?=": this one would be empty.
    if n - i >= 4 and s[i + 2] == c'?' and s[i + 3] == c'=':
        return reject(urn, COMPONENT_EMPTY, i + 2)
    return begins_component(s, n, i + 2, urn)


cdef bint read_8141(const uint8_t *s, size_t n, ParsedUrn *urn) noexcept nogil:
    cdef uint64_t words[WORDS]
    cdef uint64_t word
    cdef size_t start, size, i, w
    cdef int digits
    if not read_nid(s, n, urn):
        return False
    start = urn.nid_end + 1
    if start == n or s[start] == c'?' or s[start] == c'#':
        return reject(urn, NSS_EMPTY, start)
    if s[start] == c'/':
        return reject(urn, NSS, start)
    urn.r = urn.q = urn.f = urn.nss_end = 0
    while start < n:
        size = n - start if n - start < CHUNK else CHUNK
        kernels.mark_outside(s + start, size, &PLAIN_8141.set, words)
        for w in range((size + 63) // 64):
            word = words[w]
            while word:
                i = start + 64 * w + <size_t>uc_lowest_bit(word)
                word &= word - 1
                if s[i] == c'%':
                    digits = triplet_at(s, n, i)
                    if not digits:
                        return reject(urn, PERCENT, i)
                    if not urn.nss_end:
                        urn.changes |= TRIPLETS | (DIGITS if digits & SMALL_DIGIT else 0)
                    elif digits & SMALL_DIGIT:
                        urn.changes |= COMPONENT_DIGITS
                elif s[i] == c'?':
                    if not urn.q and not urn.f and not read_question(s, n, i, urn):
                        return False
                elif s[i] == c'#' and not urn.f:
                    urn.f = i + 1
                    if not urn.nss_end:
                        urn.nss_end = i
                else:
                    return reject(urn, COMPONENT if urn.nss_end else NSS, i)
        start += size
    urn.end = n
    if not urn.nss_end:
        urn.nss_end = n
    urn.code = VALID
    return True


cdef bint read_urn(const uint8_t *s, size_t n, Rfc rfc, ParsedUrn *urn) noexcept nogil:
    """Read a URN by the grammar of an RFC. ANY: by RFC 8141 if valid, otherwise by RFC 2141; errors are those of RFC 8141."""
    cdef ParsedUrn older
    urn.rfc = rfc
    if rfc == RFC2141:
        return read_2141(s, n, urn)
    urn.rfc = RFC8141
    if read_8141(s, n, urn):
        return True
    if rfc == ANY:
        older.rfc = RFC2141
        if read_2141(s, n, &older):
            urn[0] = older
            return True
    return False


# --- URNs in other text -----------------------------------------------------------------------------------------------

cdef size_t start_of_nss(const uint8_t *s, size_t n) noexcept nogil:
    """Return the start of the NSS, after the scheme and an NID of RFC 2141; 0 if the text does not begin with these."""
    cdef ParsedUrn urn
    urn.rfc = RFC2141
    return urn.nid_end + 1 if read_nid(s, n, &urn) else 0


cdef bint is_triplet(const uint8_t *s, size_t n, size_t i) noexcept nogil:
    """Return whether the "%" at i begins a triplet that RFC 2141 allows: any except %00."""
    return triplet_at(s, n, i) != 0 and not (s[i + 1] == c'0' and s[i + 2] == c'0')
