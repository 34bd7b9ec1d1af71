"""The syntax of URNs and their normal forms (RFC 2141 sections 2 and 5, RFC 8141 sections 2 and 3.1).

read_urn() reads a URN from left to right, and returns the offsets of its parts, or the code and offset of the first
error. Most bytes need no decision. A kernel marks those that do ("%", "?", "#" and invalid ones) in words of 64 bits, and
the loops visit only these, in order.

Equivalent URNs have equal normal forms. In every URN, case does not matter in "urn", in the NID and in the digits of
triplets. A namespace may add a rule: the table in this module maps NIDs to rules; `namespaces` sets them. No triplet is
decoded, and only ASCII letters are folded.
"""
cimport cython
from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.string cimport memchr, memcmp, memcpy, memmove

from uricodec._base._cpython cimport PyBytes_AS_STRING, PyBytes_GET_SIZE, PyMem_RawCalloc, PyMem_RawFree
from uricodec._base._kernels cimport (
    ALL_BYTES, SUB_DELIMS, UNRESERVED, ByteSet, kernels, lower, remove_byte, uc_lowest_bit, uc_set,
)
from uricodec.urn._forms cimport Form


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


# --- the rules of namespaces ------------------------------------------------------------------------------------------

# The numbers of the rules.
RULE_NUMBERS = {
    "base": BASE, "nss": FOLD_NSS, "segment": FOLD_SEGMENT, "hyphen": FOLD_HYPHEN, "drop-hyphens": DROP_HYPHENS,
    "except-params": EXCEPT_PARAMS, "only-ul": ONLY_UL, "imei": IMEI, "newsml": NEWSML,
}

# b"urn:" + NID -> the number of its rule, and its validator. NIDs are never removed, because tables refer to their bytes.
cdef dict numbers = {}

# The table made from these; None: a rule was set since.
cdef Rules table = None


@cython.final
cdef class Rules:
    """A table of rules and validators. It is freed with the last operation or call that reads it."""

    def __cinit__(self):
        cdef Row *row
        cdef bytes name
        cdef size_t n, rows = 64
        cdef int number
        cdef object validator
        while rows < 4 * <size_t>len(numbers):
            rows *= 2
        self.table.mask, self.table.rows = rows - 1, <Row *>PyMem_RawCalloc(rows, sizeof(Row))
        if self.table.rows == NULL:
            raise MemoryError  # pragma: no cover: no memory
        self.validators = []
        for name, (number, validator) in numbers.items():
            n = <size_t>PyBytes_GET_SIZE(name) - 4
            row = row_of(&self.table, <const uint8_t *>PyBytes_AS_STRING(name) + 4, n)
            row.nid, row.size, row.rule = <const uint8_t *>PyBytes_AS_STRING(name) + 4, <uint8_t>n, <uint8_t>number
            row.ends = ends_of(row.nid, n)
            if type(validator) is Form:
                row.form = (<Form>validator).function
            elif validator is not None:
                self.validators.append(validator)
                row.validator = <PyObject *>validator

    def __dealloc__(self):
        PyMem_RawFree(self.table.rows)


def set_rule(str nid, str rule, validator=None):
    """Set the rule of a namespace at the levels "namespace" and "functional", and its validator, for the whole process.

    Args:
        nid (str): A valid NID, in lower case.
        rule (str): A key of RULE_NUMBERS.
        validator (Validator | None): See `namespaces`.

    >>> set_rule("example-1", "segment")
    """
    global table
    cdef bytes name = b"urn:" + nid.encode("ascii")
    cdef tuple row = (RULE_NUMBERS[rule], validator), known
    with cython.critical_section(RULE_NUMBERS):
        known = numbers.get(name)
        if known is None or known[0] is not row[0] or known[1] is not validator:
            numbers[name] = row
            table = None


cdef Rules current_rules():
    """Return the rules that are set now."""
    global table
    with cython.critical_section(RULE_NUMBERS):     # here, no rule is set: a table is filled without calls of Python
        if table is None:
            table = Rules()
        return table


cdef inline uint64_t ends_of(const uint8_t *nid, size_t n) noexcept nogil:
    """Return `ends` of an NID. Loads may begin before it, because "urn:" precedes it: short NIDs need no branch."""
    cdef uint32_t first, last
    memcpy(&first, nid + min(n, <size_t>4) - 4, 4)
    memcpy(&last, nid + n - 4, 4)
    return first | <uint64_t>last << 32


cdef inline Row *row_of(const RuleTable *rules, const uint8_t *nid, size_t n) noexcept nogil:
    """Return the row of a lower-case NID of 1 to 32 bytes after "urn:", or the unused row for it."""
    cdef uint64_t ends = ends_of(nid, n)
    cdef size_t i = <size_t>((ends + n) * <uint64_t>0x9E3779B97F4A7C15 >> 40)
    cdef Row *row
    while True:
        row = rules.rows + (i & rules.mask)
        # 0 for the row of this NID and for an unused row: one branch, nearly always taken; two would often be mispredicted.
        if min(row.ends ^ ends | row.size ^ n, <uint64_t>row.size) == 0:
            if n <= 8 or row.size == 0 or memcmp(row.nid, nid, n) == 0:
                return row
        i += 1


cdef inline Rule rule_of(const RuleTable *rules, const uint8_t *nid, size_t n) noexcept nogil:
    return <Rule>row_of(rules, nid, n).rule


cdef const Row *namespace_of(const RuleTable *rules, const uint8_t *s, const ParsedUrn *urn) noexcept nogil:
    cdef uint8_t nid[4 + 32]
    cdef size_t i
    if not urn.changes & LETTERS:
        return row_of(rules, s + 4, urn.nid_end - 4)
    for i in range(urn.nid_end):
        nid[i] = lower(s[i])
    return row_of(rules, nid + 4, urn.nid_end - 4)


# --- applying a rule to an NSS ----------------------------------------------------------------------------------------

cdef inline void fold_bytes(uint8_t *p, int n) noexcept nogil:
    """Convert n letters to lower case. n is a constant, so that the loop is unrolled or vectorized."""
    cdef int i
    for i in range(n):
        p[i] += (<uint8_t>(p[i] - c'A') < 26) << 5


cdef inline void fold(uint8_t *nss, size_t n, bint triplets) noexcept nogil:
    """Convert letters to lower case, except the digits of triplets. The last block overlaps the one before it."""
    cdef size_t i = 0
    if n >= 16:
        while n - i > 16:
            fold_bytes(nss + i, 16)
            i += 16
        fold_bytes(nss + n - 16, 16)
    elif n >= 8:
        fold_bytes(nss, 8)
        fold_bytes(nss + n - 8, 8)
    else:
        for i in range(n):
            fold_bytes(nss + i, 1)
    if triplets:
        kernels.upper_triplets(nss, n, nss)


cdef size_t before(const uint8_t *nss, size_t n, uint8_t delimiter) noexcept nogil:
    cdef const uint8_t *found = <const uint8_t *>memchr(nss, delimiter, n)
    return n if found == NULL else found - nss


cdef bint begins(const uint8_t *nss, size_t n, const char *word, size_t size) noexcept nogil:
    """Return whether the NSS begins with a word, in any case. The word is in lower case."""
    cdef size_t i
    if n < size:
        return False
    for i in range(size):
        if lower(nss[i]) != <uint8_t>word[i]:
            return False
    return True


cdef size_t drop_hyphens(uint8_t *nss, size_t n) noexcept nogil:
    """Remove hyphens, and convert "x" to "X" (RFC 3187 section 3.2, RFC 3044). The first byte stays: an NSS is not empty."""
    cdef size_t i, size = 1
    cdef uint8_t byte
    if n == 0:      # another thread has changed the input
        return 0
    for i in range(n):
        byte = nss[i]
        nss[i] = c'X' if byte == c'x' else byte
    for i in range(1, n):
        byte = nss[i]
        nss[size] = byte
        size += byte != c'-'
    return size


cdef size_t drop_version_0(uint8_t *nss, size_t n) noexcept nogil:
    """Remove the parameter ";vers=0" (RFC 7254: "the 'vers=0' parameter is to be ignored")."""
    cdef size_t i = before(nss, n, c';'), size = i, length
    while i < n:
        length = 1 + before(nss + i + 1, n - i - 1, c';')
        if length != 7 or memcmp(nss + i, b";vers=0", 7) != 0:
            memmove(nss + size, nss + i, length)
            size += length
        i += length
    return size


cdef size_t drop_update(const uint8_t *nss, size_t n) noexcept nogil:
    """Remove Update from ProviderId ":" DateId ":" NewsItemId ":" RevisionId Update (RFC 3085: it is not compared)."""
    cdef size_t i = 0
    if n < 5 or nss[n - 1] != c'a' and nss[n - 1] != c'u':
        return n
    for _ in range(3):
        i += before(nss + i, n - i, c':') + 1
        if i >= n - 1:
            return n
    if nss[i] == c'0':
        return n
    for i in range(i, n - 1):
        if not c'0' <= nss[i] <= c'9':
            return n
    return n - 1


cdef size_t to_isbn_13(uint8_t *isbn) noexcept nogil:
    """Convert an ISBN-10 to an ISBN-13 (ISO 2108): 978, nine digits, a new check digit. Return 13; 10 if it is invalid."""
    cdef int i, digit, sum_10 = 0, sum_13 = 9 + 3 * 7 + 8
    for i in range(10):
        if c'0' <= isbn[i] <= c'9':
            digit = isbn[i] - c'0'
        elif i == 9 and isbn[i] == c'X':
            digit = 10
        else:
            return 10
        sum_10 += (10 - i) * digit
        if i < 9:
            sum_13 += digit if i & 1 else 3 * digit
    if sum_10 % 11:
        return 10
    memmove(isbn + 3, isbn, 9)
    memcpy(isbn, b"978", 3)
    isbn[12] = <uint8_t>(c'0' + (10 - sum_13 % 10) % 10)
    return 13


cdef inline size_t write_nss(Rule rule, uint8_t *nss, size_t size, bint triplets) noexcept nogil:
    """Apply a rule other than BASE to an NSS in place, and return its size.

    If `triplets` is true, the NSS contains triplets, whose digits stay in upper case.
    """
    cdef size_t prefix
    if rule == DROP_HYPHENS:
        return drop_hyphens(nss, size)
    if rule == FOLD_SEGMENT:
        fold(nss, before(nss, size, c':'), triplets)
        return size
    if rule == FOLD_HYPHEN:
        prefix = before(nss, size, c'-')
        if prefix < size:
            fold(nss, prefix, triplets)
        return size
    if rule == EXCEPT_PARAMS and begins(nss, size, b"params:", 7):
        return size
    if rule == ONLY_UL and not (begins(nss, size, b"ul", 2) and (size == 2 or nss[2] == c':')):
        return size
    if rule == IMEI and not begins(nss, size, b"imei:", 5):
        return size
    fold(nss, size, triplets)
    if rule == IMEI:
        return drop_version_0(nss, size)
    return drop_update(nss, size) if rule == NEWSML else size


cdef size_t apply_rule(Rule rule, uint8_t *urn, size_t nid_end, size_t n, UrnLevel level, bint triplets) noexcept nogil:
    """Apply a rule other than BASE to a URN in normal form without components, and return its size.

    The buffer has a capacity of n + GROWTH bytes. `triplets`: see write_nss().
    """
    cdef size_t nss = nid_end + 1
    n = nss + write_nss(rule, urn + nss, n - nss, triplets)
    if level == FUNCTIONAL and rule == DROP_HYPHENS and n == nss + 10 and memcmp(urn + 4, b"isbn:", 5) == 0:
        n = nss + to_isbn_13(urn + nss)
    return n


# --- normal forms -----------------------------------------------------------------------------------------------------

cdef size_t write_form(const uint8_t *s, const ParsedUrn *urn, UrnLevel level, uint8_t *dst, const RuleTable *rules) noexcept nogil:
    """Write the normal form, and return its size.

    dst has a capacity of the URN's size + GROWTH bytes. It may overlap the URN if it does not start after it.
    """
    cdef Rule rule
    cdef size_t nss = urn.nid_end + 1, n = urn.nss_end if level >= CASE_8141 else urn.end
    if dst != s:
        memmove(dst, s, n)
    if level == BYTES:
        return n
    fold(dst, nss, False)
    if urn.changes & (DIGITS | COMPONENT_DIGITS):
        kernels.upper_triplets(dst + nss, n - nss, dst + nss)
    if level < NAMESPACE:
        return n
    rule = rule_of(rules, dst + 4, urn.nid_end - 4)
    return n if rule == BASE else apply_rule(rule, dst, urn.nid_end, n, level, urn.changes & TRIPLETS)


# --- lines ------------------------------------------------------------------------------------------------------------

cdef inline uint64_t bits_from(const uint64_t *words, size_t i) noexcept nogil:
    """Return 64 bits, starting at bit i."""
    return words[i // 64] >> i % 64 | words[i // 64 + 1] << 1 << (63 - i % 64)


cdef void find_rules(const uint8_t *lines, const uint32_t *ends, size_t rows, const RuleTable *table, uint8_t *nids,
                     uint8_t *rules) noexcept nogil:
    """Write the size of the NID and its rule for each line. Lines are URNs in normal form, together at most CHUNK bytes.

    Line i ends at ends[i + 1] - ends[0].
    """
    cdef uint64_t stops[WORDS + 1]
    cdef uint64_t stop
    cdef size_t n = ends[rows] - ends[0], i, nid, size, line_end
    kernels.mark_outside(lines, n, &NID_BYTES.set, stops)
    stops[(n + 63) // 64] = 0
    for i in range(rows):
        nid, line_end = ends[i] - ends[0] + 4, ends[i + 1] - ends[0] - 1
        nids[i], rules[i] = 1, BASE
        # Every URN has an NID, unless another thread has changed the input.
        stop = bits_from(stops, nid) if nid < line_end else 0
        if stop:
            size = <size_t>uc_lowest_bit(stop)
            if nid + size < line_end:
                nids[i], rules[i] = <uint8_t>size, <uint8_t>rule_of(table, lines + nid, size)


cdef inline void apply_to_line(uint8_t *lines, size_t start, size_t nid_end, size_t line_end, const RuleTable *rules, size_t *run,
                               size_t *out) noexcept nogil:
    cdef size_t nss = nid_end + 1, size
    cdef Rule rule = rule_of(rules, lines + start + 4, nid_end - start - 4)
    if rule == BASE:
        return
    size = write_nss(rule, lines + nss, line_end - nss, False)
    if nss + size == line_end:
        return
    if out[0] != run[0]:
        memmove(lines + out[0], lines + run[0], nss + size - run[0])
    out[0] += nss + size - run[0]
    run[0] = line_end


cdef size_t apply_rules(uint8_t *lines, size_t n, uint8_t end, const RuleTable *rules) noexcept nogil:
    """Apply the rules of namespaces to whole lines, each with its terminator, and return their new size.

    The lines are URNs in normal form without components, together at most CHUNK bytes. A rule changes its line in place.
    If a line becomes shorter, the lines up to the next such line are moved together. Finally, one pass restores the upper
    case of triplets, which rules may have folded.
    """
    cdef uint64_t stops[WORDS + 1]
    cdef uint64_t ends[WORDS + 1]
    cdef uc_set no_end = ALL_BYTES.set
    cdef size_t w, nid_end, line_end, start = 0
    cdef size_t run = 0, out = 0        # lines from offset `run` on are moved to offset `out`
    cdef uint64_t word, nid
    remove_byte(&no_end, end)
    kernels.mark_outside(lines, n, &NID_BYTES.set, stops)
    kernels.mark_outside(lines, n, &no_end, ends)
    stops[(n + 63) // 64] = 0
    for w in range((n + 63) // 64):
        word = ends[w]
        while word:
            line_end = 64 * w + <size_t>uc_lowest_bit(word)
            word &= word - 1
            # Every URN has an NID, unless another thread has changed the input.
            if line_end - start > 4:
                nid = bits_from(stops, start + 4)
                nid_end = start + 4 + (<size_t>uc_lowest_bit(nid) if nid else 64)
                if nid_end < line_end:
                    apply_to_line(lines, start, nid_end, line_end, rules, &run, &out)
            start = line_end + 1
    if out != run:
        memmove(lines + out, lines + run, n - run)
    n -= run - out
    kernels.upper_triplets(lines, n, lines)
    return n
