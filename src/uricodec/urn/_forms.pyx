# distutils: extra_compile_args=-O2
"""The forms that registrations of namespaces require of an NSS: their syntax, and check digits.

They are those of `namespaces`, whose rows name them, for single values and for rows. A form is stricter than the syntax of
URNs, so an NSS is ASCII here, and its triplets are valid; whatever else it is, a function only says what is wrong.
"""
cimport cython
from libc.stdint cimport uint8_t, uint32_t
from libc.string cimport memchr

from uricodec._base._cpython cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from uricodec._base._kernels cimport ALPHANUM, DIGIT, HEXDIG, ByteSet, kernels, lower, uc_set


# --- faults -----------------------------------------------------------------------------------------------------------

cdef enum:
    WRONG_DIGIT = FIRST_FAULT, WRONG_CHARACTER, WRONG_OF_VERSION, WRONG_OF_LIBRARY      # check digits
    ADID_FORM, IMEI_PARAMETERS, IMEI_DIGITS, IMEI_SPARE
    DIGITS_RFC, DIGITS_FYI, DIGITS_STD, DIGITS_BCP, NAME_ID, NAME_MTG
    ISAN_FORM, ISBN_FORM, ISBN_MUSIC, ISBN_LENGTH, ISO_FORM, ISSN_FORM, NBN_FORM, NEWSML_FORM, OGC_FORM
    OID_FORM, OID_FIRST, OID_SECOND, PUBLICID_FORM, SERVICE_FORM, SMPTE_FORM, UCI_FORM, UCODE_FORM, UUID_FORM
    FAULTS

# What is wrong, by its number.
cdef list TEXTS = [None] * FAULTS
cdef int number
for number, text in (
    (WRONG_DIGIT, "wrong check digit"),
    (WRONG_CHARACTER, "wrong check character"),
    (WRONG_OF_VERSION, "wrong check character of the version"),
    (WRONG_OF_LIBRARY, "wrong check digit of the German National Library"),
    (ADID_FORM, "expected 11 letters or digits, the first one not 0, and perhaps a letter for the format"),
    (IMEI_PARAMETERS, "expected an IMEI, perhaps ;svn= and two digits, perhaps ;vers= and a digit"),
    (IMEI_DIGITS, "expected 8, 6 and 1 digits, separated by hyphens"),
    (IMEI_SPARE, "the spare digit must be 0"),
    (DIGITS_RFC, "expected digits after rfc:"),
    (DIGITS_FYI, "expected digits after fyi:"),
    (DIGITS_STD, "expected digits after std:"),
    (DIGITS_BCP, "expected digits after bcp:"),
    (NAME_ID, "expected letters, digits and hyphens after id:"),
    (NAME_MTG, "expected letters, digits and hyphens after mtg:"),
    (ISAN_FORM, "expected four groups of four hexadecimal digits and a check character, perhaps with a version"),
    (ISBN_FORM, "expected digits, perhaps an X at the end, with single hyphens between them"),
    (ISBN_MUSIC, "979-0 is reserved for music (ISMN, ISO 10957); expected 978, or 979 and another digit than 0"),
    (ISBN_LENGTH, "expected 10 digits, or 13 that begin with 978 or 979"),
    (ISO_FORM, "expected std:, an originator, perhaps a type, and a document number"),
    (ISSN_FORM, "expected eight digits, the last one perhaps an X, with at most one hyphen in the middle"),
    (NBN_FORM, "expected a country code, perhaps sub-namespaces after colons, a hyphen and a name"),
    (NEWSML_FORM, "expected a provider, a date CCYYMMDD, an item and a positive revision, perhaps with A or U, separated by colons"),
    (OGC_FORM, "expected a resource type, a colon and a name"),
    (OID_FORM, "expected numbers without leading zeros, separated by periods"),
    (OID_FIRST, "the first arc must be 0, 1 or 2"),
    (OID_SECOND, "the second arc below 0 and 1 must be at most 39"),
    (PUBLICID_FORM, "not the transcription of a public identifier (RFC 3151 section 2)"),
    (SERVICE_FORM, "expected labels of letters, digits and inner hyphens, separated by periods"),
    (SMPTE_FORM, "expected groups of eight hexadecimal digits, separated by periods"),
    (UCI_FORM, "expected a prefix code, a hyphen and a content code"),
    (UCODE_FORM, 'expected "_" and at least 32 hexadecimal digits in upper case'),
    (UUID_FORM, "expected 8-4-4-4-12 hexadecimal digits"),
):
    TEXTS[number] = text
del text


cdef bint is_of_check_digit(int fault) noexcept nogil:
    return WRONG_DIGIT <= fault <= WRONG_OF_LIBRARY


# --- bytes ------------------------------------------------------------------------------------------------------------

cdef ByteSet UPPER_HEX = ByteSet("0123456789ABCDEF")
cdef ByteSet ALPHANUM_OR_HYPHEN = ALPHANUM | "-"


cdef inline bint is_digit(uint8_t byte) noexcept nogil:
    return <uint8_t>(byte - c'0') < 10


cdef inline bint is_letter(uint8_t byte) noexcept nogil:
    return <uint8_t>((byte | 0x20) - c'a') < 26


cdef inline bint consists_of(const uc_set *set, const uint8_t *s, size_t n) noexcept nogil:
    """Return whether n > 0 bytes are all in a set."""
    return n > 0 and kernels.span(s, n, set) == n


cdef inline size_t before(const uint8_t *s, size_t n, uint8_t delimiter) noexcept nogil:
    cdef const uint8_t *found = <const uint8_t *>memchr(s, delimiter, n)
    return n if found == NULL else <size_t>(found - s)


cdef inline bint is_word(const uint8_t *s, size_t n, const char *word, size_t size) noexcept nogil:
    """Return whether the bytes are a word, in any case. The word is in lower case."""
    cdef size_t i
    if n != size:
        return False
    for i in range(size):
        if lower(s[i]) != <uint8_t>word[i]:
            return False
    return True


# --- identifiers ------------------------------------------------------------------------------------------------------

cdef int uuid(const uint8_t *s, size_t n, size_t *at) noexcept nogil:
    """RFC 4122 section 3.

    UUID = time-low "-" time-mid "-" time-high-and-version "-" clock-seq-and-reserved clock-seq-low "-" node
    Hexadecimal digits in both cases. Any value: the Nil and Max UUID, too.
    """
    cdef size_t i
    if n != 36:
        return UUID_FORM
    for i in range(36):
        if i == 8 or i == 13 or i == 18 or i == 23:
            if s[i] != c'-':
                return UUID_FORM
        elif not HEXDIG.set.member[s[i]]:
            return UUID_FORM
    return WELL_FORMED


cdef int oid(const uint8_t *s, size_t n, size_t *at) noexcept nogil:
    """RFC 3061 section 2.

    oid             = number *( DOT number )
    number          = DIGIT / ( LEADDIGIT 1*DIGIT )
    "The top three levels are pre-assigned" 0, 1 and 2; below 0 and 1 stand at most 40 arcs (X.660).
    """
    cdef size_t i = 0, start = 0, arc = 0
    cdef int fault = WELL_FORMED
    while True:
        i = start
        while i < n and is_digit(s[i]):
            i += 1
        if i == start or s[start] == c'0' and i > start + 1 or i < n and s[i] != c'.':
            return OID_FORM
        if arc == 0 and (i > start + 1 or s[start] > c'2'):
            fault = OID_FIRST
        elif arc == 1 and fault == WELL_FORMED and s[0] != c'2' and (i > start + 2 or i == start + 2 and s[start] > c'3'):
            fault = OID_SECOND
        if i == n:
            return fault
        start = i + 1
        arc += 1


cdef int ucode(const uint8_t *s, size_t n, size_t *at) noexcept nogil:
    """RFC 6588: an underscore and 32 or more hexadecimal digits, A to F in upper case."""
    return WELL_FORMED if n >= 33 and s[0] == c'_' and consists_of(&UPPER_HEX.set, s + 1, n - 1) else UCODE_FORM


# --- numbers with check digits ----------------------------------------------------------------------------------------

cdef int isbn(const uint8_t *s, size_t n, size_t *at) noexcept nogil:
    """RFC 3187 section 3: ten digits, the last one perhaps X, modulus 11; ISO 2108 since 2005: 13 digits, modulus 10.

    The International ISBN Agency's range message has no group in 979-0: these are ISMNs (ISO 10957:2009).
    """
    cdef size_t i, count = 0
    cdef int digits[13]
    cdef int total = 0
    cdef bint has_x = n > 1 and s[n - 1] | 0x20 == c'x'
    if not is_digit(s[0]) or not (has_x or is_digit(s[n - 1])):
        return ISBN_FORM
    for i in range(n - has_x):
        if is_digit(s[i]):
            if count < 13:
                digits[count] = s[i] - c'0'
            count += 1
        elif s[i] != c'-' or i + 1 < n and s[i + 1] == c'-':
            return ISBN_FORM
    if has_x:
        if count < 13:
            digits[count] = 10
        count += 1
    at[0] = n - 1
    if count == 10:
        for i in range(10):
            total += <int>(10 - i) * digits[i]
        if total % 11 == 0:
            return WELL_FORMED
        return WRONG_DIGIT
    if count == 13 and digits[0] == 9 and digits[1] == 7 and (digits[2] == 9 and digits[3] == 0):
        at[0] = 0
        return ISBN_MUSIC
    if count == 13 and digits[0] == 9 and digits[1] == 7 and (digits[2] == 8 or digits[2] == 9) and digits[12] < 10:
        for i in range(13):
            total += 3 * digits[i] if i & 1 else digits[i]
        if total % 10 == 0:
            return WELL_FORMED
        return WRONG_DIGIT
    at[0] = 0
    return ISBN_LENGTH


cdef int issn(const uint8_t *s, size_t n, size_t *at) noexcept nogil:
    """RFC 3044 section 2: seven digits and a check digit modulo 11, weights 8 to 2; "X" is 10."""
    cdef size_t i = 0
    cdef int weight = 8, total = 0
    if n != 8 and not (n == 9 and s[4] == c'-'):
        return ISSN_FORM
    for i in range(n - 1):
        if i == 4 and n == 9:
            continue
        if not is_digit(s[i]):
            return ISSN_FORM
        total += weight * (s[i] - c'0')
        weight -= 1
    if s[n - 1] | 0x20 == c'x':
        total += 10
    elif is_digit(s[n - 1]):
        total += s[n - 1] - c'0'
    else:
        return ISSN_FORM
    if total % 11 == 0:
        return WELL_FORMED
    at[0] = n - 1
    return WRONG_DIGIT


cdef inline int value_of(uint8_t character) noexcept nogil:
    """Return the value of a letter or digit in ISO 7064, MOD 37,36."""
    return character - c'0' if character <= c'9' else (character | 0x20) - c'a' + 10


cdef int absorb(const uint8_t *digits, size_t n, int product) noexcept nogil:
    """Go on with the check character of ISO 7064, MOD 37,36: the hybrid system that ISO 15706 prescribes for ISANs.

    It is the character whose value is (1 - product) % 36; `product` begins with 36. Hyphens do not count.
    """
    cdef size_t i
    cdef int total
    for i in range(n):
        if digits[i] != c'-':
            total = (product + value_of(digits[i])) % 36
            product = 2 * (total if total else 36) % 37
    return product


cdef int isan(const uint8_t *s, size_t n, size_t *at) noexcept nogil:
    """RFC 4246 section 3.

    <ISAN-NSS>     ::= <root> <episode> [version]
    <root>         ::= 3*(<hexnum> "-")              <episode>      ::= <hexnum> "-" <check>
    <version>      ::= 2*("-" <hexnum>) "-" <check>  <hexnum>       ::= 4*(<hex>)
    where, as its examples show, "n*" means exactly n:

        1881-66C7-3420-6541-Y-9F3A-0245-O
        0    5    10   15   20              the check character, and
                                        32  that of all 24 digits, without the first one

    The check characters of its examples are not those of ISO 15706: it has 9 for Y, and U for O.
    """
    cdef size_t i
    cdef int product
    if n != 21 and n != 33:
        return ISAN_FORM
    for i in range(n):
        if i == 20 or i == 32:
            if not ALPHANUM.set.member[s[i]]:
                return ISAN_FORM
        elif i == 21 or i == 26 or i == 31 or i < 20 and i % 5 == 4:
            if s[i] != c'-':
                return ISAN_FORM
        elif not HEXDIG.set.member[s[i]]:
            return ISAN_FORM
    product = absorb(s, 20, 36)
    if value_of(s[20]) != (37 - product) % 36:
        at[0] = 20
        return WRONG_CHARACTER
    if n == 33 and value_of(s[32]) != (37 - absorb(s + 22, 10, product)) % 36:
        at[0] = 32
        return WRONG_OF_VERSION
    return WELL_FORMED


# The German National Library's check digit: every character of "urn:nbn:de:..." but the last stands for its number, the
# digits of all numbers are weighted by their positions from 1, the sum is divided by the last of the digits, and the
# last digit of the quotient is the check digit. No number ends in 0.
cdef uint8_t DNB[256]
cdef enum:
    ALL_QUOTIENTS = 25200   # ten times the least common multiple of 1 to 9: sums that differ by it have the same check digit

for number in range(256):
    DNB[number] = 0
for number, value in enumerate((1, 2, 3, 4, 5, 6, 7, 8, 9, 41)):
    DNB[c'0' + number] = value
for number, value in enumerate((18, 14, 19, 15, 16, 21, 22, 23, 24, 25, 42, 26, 27,
                                13, 28, 29, 31, 12, 32, 33, 11, 34, 35, 36, 37, 38)):
    DNB[c'a' + number] = DNB[c'A' + number] = value
for number, value in zip(b"+:-/_.", (49, 17, 39, 45, 43, 47), strict=True):
    DNB[number] = value
del value


cdef struct DnbSum:
    uint32_t total      # modulo ALL_QUOTIENTS
    uint32_t position   # of the next digit, likewise
    uint8_t last        # the last digit


cdef bint add_dnb(const uint8_t *s, size_t n, DnbSum *sum) noexcept nogil:
    """Add the digits of characters. False: one has no number."""
    cdef size_t i
    cdef uint8_t value
    for i in range(n):
        value = DNB[s[i]]
        if not value:
            return False
        if value >= 10:
            sum.total = (sum.total + sum.position * <uint32_t>(value // 10)) % ALL_QUOTIENTS
            sum.position = (sum.position + 1) % ALL_QUOTIENTS
        sum.last = value % 10
        sum.total = (sum.total + sum.position * sum.last) % ALL_QUOTIENTS
        sum.position = (sum.position + 1) % ALL_QUOTIENTS
    return True


cdef inline uint8_t digit_of_sum(const DnbSum *sum) noexcept nogil:
    return <uint8_t>(c'0' + sum.total // sum.last % 10)


def dnb_check_digit(str name not None):
    """Return the check digit that completes "urn:nbn:de:..." (str); None if a character has no number.

    >>> dnb_check_digit("urn:nbn:de:gbv:089-332175294")
    '5'
    """
    cdef DnbSum sum = DnbSum(0, 1, 0)
    cdef bytes text = name.encode("utf-8", "surrogatepass")
    if not add_dnb(<const uint8_t *>PyBytes_AS_STRING(text), <size_t>PyBytes_GET_SIZE(text), &sum) or not sum.last:
        return None
    return chr(digit_of_sum(&sum))


cdef int nbn(const uint8_t *s, size_t n, size_t *at) noexcept nogil:
    """RFC 8458 section 4.2.

    nbn-nss     = prefix "-" nbn-string       prefix      = iso-cc *( ":" subspc )
    iso-cc      = 2ALPHA                      subspc      = 1*(ALPHA / DIGIT)
    nbn-string  = path-rootless               (not empty, no "/" first)
    """
    cdef DnbSum sum = DnbSum(0, 1, 0)
    cdef size_t hyphen = before(s, n, c'-'), i
    cdef bint ends_label = False
    if hyphen < 2 or hyphen + 1 >= n or not is_letter(s[0]) or not is_letter(s[1]):
        return NBN_FORM
    if hyphen > 2:
        if s[2] != c':':
            return NBN_FORM
        for i in range(2, hyphen):
            if s[i] == c':' and ends_label or s[i] != c':' and not ALPHANUM.set.member[s[i]]:
                return NBN_FORM
            ends_label = s[i] == c':'
        if ends_label:
            return NBN_FORM
    if s[hyphen + 1] == c'/':
        return NBN_FORM
    for i in range(hyphen + 1, n):
        if s[i] == c'?' or s[i] == c'#':
            return NBN_FORM
    if not is_word(s, 2, b"de", 2):
        return WELL_FORMED
    # The German National Library gives its own network publications names of 22 digits, without a check digit.
    if n == 9 + 22 and is_word(s, 9, b"de:101:1-", 9) and consists_of(&DIGIT.set, s + 9, 22):
        return UNDECIDED
    add_dnb(<const uint8_t *>b"urn:nbn:", 8, &sum)
    if not add_dnb(s, n - 1, &sum):
        return UNDECIDED
    if s[n - 1] == digit_of_sum(&sum):
        return WELL_FORMED
    at[0] = n - 1
    return WRONG_OF_LIBRARY


cdef int adid(const uint8_t *s, size_t n, size_t *at) noexcept nogil:
    """RFC 8107: a company prefix of four alphanumerics, the first no "0"; seven more; perhaps "H" for the format.

    Whether other letters may stand there was not read.
    """
    if n != 11 and not (n == 12 and is_letter(s[11])) or s[0] == c'0' or not consists_of(&ALPHANUM.set, s, 11):
        return ADID_FORM
    return WELL_FORMED if n == 11 or s[11] | 0x20 == c'h' else UNDECIDED


cdef int gsma(const uint8_t *s, size_t n, size_t *at) noexcept nogil:
    """RFC 7254 section 3 and 4.2.

    imei-specifier        = "imei:" ( imeival / ext-imei ) [ ";" sw-version-param ] [ ";" imei-version-param ]
    imeival               = tac "-" snr "-" spare        8, 6 and 1 digits
    "The Spare is always set to zero [...] (including when in the IMEI URN format)". ext-imei is for other versions than 0.
    """
    cdef size_t i, end
    if n < 5 or not is_word(s, 5, b"imei:", 5):
        return UNDECIDED
    i = end = 5 + before(s + 5, n - 5, c';')
    if n - i >= 7 and is_word(s + i, 5, b";svn=", 5):
        if not is_digit(s[i + 5]) or not is_digit(s[i + 6]):
            return IMEI_PARAMETERS
        i += 7
    if n - i == 7 and is_word(s + i, 6, b";vers=", 6) and is_digit(s[i + 6]):
        if s[i + 6] != c'0':
            return UNDECIDED
        i += 7
    if i < n:
        return IMEI_PARAMETERS
    if end != 5 + 17:
        return IMEI_DIGITS
    for i in range(5, end):
        if s[i] != c'-' if i == 13 or i == 20 else not is_digit(s[i]):
            return IMEI_DIGITS
    return WELL_FORMED if s[21] == c'0' else IMEI_SPARE


# --- names ------------------------------------------------------------------------------------------------------------

cdef int service(const uint8_t *s, size_t n, size_t *at) noexcept nogil:
    """RFC 5031 section 3.

    service      = top-level *("." sub-service)
    top-level    = let-dig [ *25let-dig-hyp let-dig ]     sub-service  = let-dig [ *let-dig-hyp let-dig ]
    """
    cdef size_t i
    cdef uint8_t last = c'.'
    for i in range(n):
        if s[i] == c'.':
            if last == c'.' or last == c'-':
                return SERVICE_FORM
        elif s[i] == c'-':
            if last == c'.':
                return SERVICE_FORM
        elif not ALPHANUM.set.member[s[i]]:
            return SERVICE_FORM
        last = s[i]
    if last == c'.' or last == c'-' or before(s, n, c'.') > 27:
        return SERVICE_FORM
    return WELL_FORMED


cdef int ogc(const uint8_t *s, size_t n, size_t *at) noexcept nogil:
    """RFC 5165 section 2: urn:ogc:{OGCresource}:{ResourceSpecificString}"""
    cdef size_t colon = before(s, n, c':')
    return WELL_FORMED if 0 < colon and colon + 1 < n else OGC_FORM


# "other", with the percent sign of triplets.
cdef ByteSet UCI_OTHER = ALPHANUM | "()+,.=@;$_!*'%-"


cdef size_t skip_alphanum(const uint8_t *s, size_t n, size_t i) noexcept nogil:
    """Return the end of letters and digits at i; n + 1 if there are none."""
    cdef size_t size = kernels.span(s + i, n - i, &ALPHANUM.set) if i < n else 0
    return i + size if size else n + 1


cdef int uci(const uint8_t *s, size_t n, size_t *at) noexcept nogil:
    """RFC 4179 section 2 (instance and qualifier; a "-" is in "other", too).

    UCI = prefix "-" instance *1(":" qualifier)
    prefix = 1*(alphaDigit) *1(":" 1*(alphaDigit)) *1("+" 1*(alphaDigit))
    qualifier = head 1*(alphaDigit) *2("-" head 1*(alphaDigit))      head = "C" / "R" / "F"
    """
    cdef size_t i = skip_alphanum(s, n, 0), k
    cdef int parts = 0
    if i < n and s[i] == c':':
        i = skip_alphanum(s, n, i + 1)
    if i < n and s[i] == c'+':
        i = skip_alphanum(s, n, i + 1)
    if i >= n or s[i] != c'-':
        return UCI_FORM
    i += 1
    k = i
    i += kernels.span(s + i, n - i, &UCI_OTHER.set)
    if i == k or i < n and s[i] != c':':
        return UCI_FORM
    while k < i:
        if s[k] == c'%' and (n - k < 3 or not HEXDIG.set.member[s[k + 1]] or not HEXDIG.set.member[s[k + 2]]):
            return UCI_FORM
        k += 1
    while i < n:
        if s[i] != (c'-' if parts else c':') or parts == 3 or i + 1 == n:
            return UCI_FORM
        if not (s[i + 1] | 0x20 == c'c' or s[i + 1] | 0x20 == c'r' or s[i + 1] | 0x20 == c'f'):
            return UCI_FORM
        i = skip_alphanum(s, n, i + 2)
        parts += 1
    return WELL_FORMED if i == n else UCI_FORM


cdef int newsml(const uint8_t *s, size_t n, size_t *at) noexcept nogil:
    """RFC 3085 section 2.

    NSS = ProviderId ":" DateId ":" NewsItemId ":" RevisionId Update
    Update = 0*1( "A" / "U" )        RevisionId = posint        "a date in ISO 8601 Basic Format (CCYYMMDD)"
    """
    cdef size_t i = before(s, n, c':'), k, size
    cdef int month, day
    if i == 0 or n - i < 10 or s[i + 9] != c':' or not consists_of(&DIGIT.set, s + i + 1, 8):
        return NEWSML_FORM
    month = 10 * (s[i + 5] - c'0') + s[i + 6] - c'0'
    day = 10 * (s[i + 7] - c'0') + s[i + 8] - c'0'
    if not 1 <= month <= 12 or not 1 <= day <= 31:
        return NEWSML_FORM
    i += 10
    size = before(s + i, n - i, c':')
    if size == 0 or i + size >= n:
        return NEWSML_FORM
    i += size + 1
    k = i + kernels.span(s + i, n - i, &DIGIT.set) if i < n else i
    if k == i or s[i] == c'0':
        return NEWSML_FORM
    if k < n and (s[k] | 0x20 == c'a' or s[k] | 0x20 == c'u'):
        k += 1
    return WELL_FORMED if k == n else NEWSML_FORM


cdef ByteSet PUBLICID = ALPHANUM | "()+,.:=;!*@$_%-"
cdef ByteSet AFTER_2 = ByteSet("BbFf573")
cdef ByteSet AFTER_3 = ByteSet("ABFabf")


cdef int publicid(const uint8_t *s, size_t n, size_t *at) noexcept nogil:
    """RFC 3151 section 2: what a transcribed public identifier is made of.

    "whitespace normalization must be performed before": no "+" at the ends, none next to another. Only the characters of the
    list are written as triplets.
    """
    cdef size_t i
    if not consists_of(&PUBLICID.set, s, n) or s[0] == c'+' or s[n - 1] == c'+':
        return PUBLICID_FORM
    for i in range(n):
        if s[i] == c'+' and i + 1 < n and s[i + 1] == c'+':
            return PUBLICID_FORM
        if s[i] == c'%' and not (n - i > 2 and (s[i + 1] == c'2' and AFTER_2.set.member[s[i + 2]]
                                                or s[i + 1] == c'3' and AFTER_3.set.member[s[i + 2]])):
            return PUBLICID_FORM
    return WELL_FORMED


cdef bint is_originator(const uint8_t *s, size_t n) noexcept nogil:
    return (is_word(s, n, b"iso", 3) or is_word(s, n, b"iso-iec", 7) or is_word(s, n, b"iso-cie", 7)
            or is_word(s, n, b"iso-astm", 8) or is_word(s, n, b"iso-ieee", 8) or is_word(s, n, b"iec", 3))


cdef bint is_type(const uint8_t *s, size_t n) noexcept nogil:
    return (is_word(s, n, b"data", 4) or is_word(s, n, b"guide", 5) or is_word(s, n, b"isp", 3) or is_word(s, n, b"iwa", 3)
            or is_word(s, n, b"pas", 3) or is_word(s, n, b"r", 1) or is_word(s, n, b"tr", 2) or is_word(s, n, b"ts", 2)
            or is_word(s, n, b"tta", 3))


cdef int iso(const uint8_t *s, size_t n, size_t *at) noexcept nogil:
    """RFC 5141 section 2.4.1, without the elements that it leaves open.

    std-nss       = "std:" docidentifier *supplement *docelement [addition]
    docidentifier = originator [":" type] ":" docnumber [":" partnumber] [[":" status] ":" edition]
                    [":" docversion] [":" language]
    Everything after docnumber is optional and open at its end ("isodefined = <unspecified>").
    """
    cdef size_t i = 4, size
    if n < 4 or not is_word(s, 4, b"std:", 4):
        return ISO_FORM
    size = before(s + i, n - i, c':')
    if not is_originator(s + i, size) or i + size == n:
        return ISO_FORM
    i += size + 1
    size = before(s + i, n - i, c':')
    if is_type(s + i, size) and i + size < n:
        i += size + 1
        size = before(s + i, n - i, c':')
    if not consists_of(&DIGIT.set, s + i, size) or i + size + 1 == n:
        return ISO_FORM
    return WELL_FORMED


cdef int ietf(const uint8_t *s, size_t n, size_t *at) noexcept nogil:
    """RFC 2648 section 2.

    NSS = rfc-nss / fyi-nss / std-nss / bcp-nss / draft-nss / mtg-nss / other-nss
    rfc-nss = "rfc:" 1*DIGIT      (fyi, std and bcp alike)
    draft-nss = "id:" string      mtg-nss = "mtg:" string      string = 1*(DIGIT / ALPHA / "-")
    """
    cdef size_t size = before(s, n, c':'), start = min(size + 1, n)
    cdef int fault
    if is_word(s, size, b"id", 2) or is_word(s, size, b"mtg", 3):
        if consists_of(&ALPHANUM_OR_HYPHEN.set, s + start, n - start):
            return WELL_FORMED
        return NAME_ID if size == 2 else NAME_MTG
    if is_word(s, size, b"rfc", 3):
        fault = DIGITS_RFC
    elif is_word(s, size, b"fyi", 3):
        fault = DIGITS_FYI
    elif is_word(s, size, b"std", 3):
        fault = DIGITS_STD
    elif is_word(s, size, b"bcp", 3):
        fault = DIGITS_BCP
    else:
        return UNDECIDED
    return WELL_FORMED if consists_of(&DIGIT.set, s + start, n - start) else fault


cdef int smpte(const uint8_t *s, size_t n, size_t *at) noexcept nogil:
    """RFC 5119 section 2.

    UL-NSS = "ul:" UL     UL = QUADBYTE *(DOT QUADBYTE)     QUADBYTE = 4BYTE     BYTE = 2HEXDIG
    """
    cdef size_t i = 3
    if n < 2 or not is_word(s, 2, b"ul", 2) or n > 2 and s[2] != c':':
        return UNDECIDED
    while True:
        if n < i + 8 or not consists_of(&HEXDIG.set, s + i, 8):
            return SMPTE_FORM
        i += 8
        if i == n:
            return WELL_FORMED
        if s[i] != c'.':
            return SMPTE_FORM
        i += 1


# --- forms as objects -------------------------------------------------------------------------------------------------

cdef list NIDS = ["adid", "gsma", "ietf", "isan", "isbn", "iso", "issn", "nbn", "newsml", "ogc", "oid", "publicid",
                  "service", "smpte", "uci", "ucode", "uuid"]
cdef form_function[17] FUNCTIONS = [adid, gsma, ietf, isan, isbn, iso, issn, nbn, newsml, ogc, oid, publicid,
                                    service, smpte, uci, ucode, uuid]


@cython.final
cdef class Form:
    """The form that the registration of a namespace requires of an NSS: a validator.

    Args:
        nid (str): The namespace.

    >>> form = Form("isbn")
    >>> form("0-395-36341-1"), form("0-395-36341-2")
    (True, 'wrong check digit')
    """

    def __cinit__(self, str nid not None):
        self.nid, self.function = nid, FUNCTIONS[<int>NIDS.index(nid)]

    def __call__(self, str nss not None, /):
        """Return True if the NSS (str) is well formed, what is wrong with it (str), or None: the registration does not say."""
        cdef bytes text = nss.encode("utf-8", "surrogatepass")
        cdef size_t at = 0
        cdef int found = FIRST_FAULT
        # b"" ends with a NUL: a function reads the first byte of whatever it gets
        found = self.function(<const uint8_t *>PyBytes_AS_STRING(text), <size_t>PyBytes_GET_SIZE(text), &at)
        if found == WELL_FORMED:
            return True
        return None if found == UNDECIDED else TEXTS[found]

    def __repr__(self):
        return f"Form({self.nid!r})"
