"""Redaction: the values of sensitive query parameters, userinfo, and parts of paths become REDACTED; other bytes stay.

The loop reads characters, each of which may be spelled in several ways:

    &    %26  %2526    \\u0026    &amp;  &#38;  &#x26;

A character has a depth: how often it is percent-encoded. A name begins after "?", "&", ";" or "#", of depth 0, 1 or 2,
and ends before "=". If it is sensitive, its value ends at the next "&", "#", or ";" with another pair after it, whose
depth is not greater. So a URL in a value needs no decoding: its delimiters are one level deeper. Its names and their "="
may be encoded twice in it, which is twice more than the delimiter before them.

    /cb?next=https%3A%2F%2Fa.example%2F%3Fcode%3DSECRET%26b%3D1&c=2
       ^ depth 0                        ^ depth 1      ^ and here the value ends

A value that is JSON is read by redact_json(); segments of paths are found by redact_segment().

Userinfo follows "://" or "=//", at any depth, up to the last "@" of the authority; see redact_authority(). A URL is read
in one pass. In other text, a word is what is between white space, double quotes or angle brackets; words with "?", "#",
"&", ";" or "@", escapes of JSON for them, or an encoded "://" are read like URLs, but a value also ends where the
text around it goes on: at a quote or bracket that was opened before the URL, and before final punctuation.

Whatever is in doubt is part of the value.
"""
cimport cython
from libc.stdint cimport SIZE_MAX, uint8_t, uint32_t, uint64_t
from libc.string cimport memchr, memcmp, memcpy, memset

from uricodec._base._kernels cimport ByteSet, bits_ahead, kernels, lower, next_mark, uc_classes, uc_lowest_bit, uc_set
from uricodec._base._text cimport *
from uricodec._codec._percent cimport hex_value, triplet_value
from uricodec._rows._engine cimport *
from uricodec._rows._single cimport borrow, text_of
from uricodec._search._find cimport length_of_character
from uricodec._url._queries cimport NameSet, QueryName, set_names
from uricodec._url._shapes cimport TOKEN, segment_class

from cpython.buffer cimport PyBuffer_Release

from types import MappingProxyType

__all__ = ["SENSITIVE_NAMES", "redact", "redact_text"]

# OpenTelemetry semantic conventions, attributes url.full and url.query, in their state of 2026-08-07: "Query string values
# for the following keys SHOULD be redacted by default". The list may change; it compares with case, redact() without.
# https://github.com/open-telemetry/semantic-conventions/blob/main/model/url/registry.yaml
cdef tuple DEFAULT_NAMES = (
    "X-Amz-Signature", "X-Amz-Credential", "X-Amz-Security-Token", "AWSAccessKeyId", "Signature", "sig",
    "X-Goog-Signature",
)

# What else carries credentials in the query or the fragment. Names compare without "-", "_" and ".", so one spelling of
# each is enough.
cdef tuple MORE_NAMES = (
    # what such names have in them: access_token, clientSecret, X-Api-Key, PHPSESSION
    "*token*", "*secret*", "*password*", "*passwd*", "*pwd*", "*signature*", "*apikey*", "*credential*", "*session*", "*otp*",
    "*passphrase*", "*passcode*", "*jwt*", "*csrf*", "*xsrf*", "*sessid*", "*accesskey*", "*privatekey*", "*authkey*",
    "*signingkey*", "*encryptionkey*", "*sharedkey*", "*masterkey*", "*subscriptionkey*", "*authcode*",
    # OAuth (RFC 5849; RFC 6749 sections 4.1 to 4.2; RFC 7521; RFC 7636; RFC 8628), OpenID Connect, SAML, CAS
    "code", "state", "nonce", "assertion", "client_assertion", "code_verifier", "device_code", "user_code", "request_uri",
    "oauth_verifier", "oauth_consumer_key", "consumer_key",
    "SAMLRequest", "SAMLResponse", "SAMLart", "RelayState", "ticket", "pgtIou", "pgtId",
    # names that applications choose
    "auth", "oauth", "authorization", "bearer", "pass", "user_pass", "pw", "user_pw", "pin", "passkey",
    "key", "app_key", "account_key", "license_key", "stream_key", "user_key", "hmac", "hash", "sign", "sso",
    "sess", "sid", "connect.sid", "cfid",
    # links in mails
    "invite", "invite_code", "invitation_code", "reset_code", "reset_key", "confirmation_code", "activation_code",
    "activation_key", "verification_code", "verification_key", "verify_code", "recovery_code", "magic_link", "login_code",
    # signed URLs: all parameters of the signature
    "x-amz-*", "x-goog-*", "x-oss-*", "x-cos-*", "x-obs-*", "OSSAccessKeyId", "GoogleAccessId", "Key-Pair-Id", "Policy",
)

SENSITIVE_NAMES = MappingProxyType({"default": DEFAULT_NAMES, "extended": DEFAULT_NAMES + MORE_NAMES})


# --- characters -------------------------------------------------------------------------------------------------------

cdef struct Character:
    uint8_t byte
    int depth           # how often it is percent-encoded
    size_t size         # of its spelling

cdef enum:
    MOST_BACKSLASHES = 8    # JSON in JSON in JSON has 4, 8 bytes are a bound for what is read again
    MOST_DIGITS = 7         # of a numeric character reference
    DEEPEST = 2             # how often a delimiter before a name may be percent-encoded; and the name once more as often

# Bytes that spell themselves.
cdef ByteSet IS_LITERAL = ~ByteSet("%\\&")
# Bytes that stand for themselves in a name, and are not at the ends of its parts.
cdef ByteSet IN_NAME = ~(ByteSet("%\\&+[]") | range(33))
# Bytes that names are compared without.
cdef ByteSet IS_SEPARATOR = ByteSet("-_.")


cdef inline size_t read_reference(const uint8_t *s, size_t n, uint8_t *byte) noexcept nogil:
    """Return the length of the character reference to an ASCII character at s, which begins with "&"; 0: none."""
    cdef size_t i = 2, start
    cdef int value = 0, base = 10, digit
    if n >= 5 and memcmp(s, b"&amp;", 5) == 0:
        byte[0] = c'&'
        return 5
    if n >= 8 and memcmp(s, b"&equals;", 8) == 0:
        byte[0] = c'='
        return 8
    if n < 4 or s[1] != c'#':
        return 0
    if s[2] | 0x20 == c'x':
        base, i = 16, 3
    start = i
    while i < n and i < start + MOST_DIGITS:
        digit = hex_value(s[i])
        if digit < 0 or digit >= base:
            break
        value = min(base * value + digit, 0x80)
        i += 1
    if i == start or i == n or s[i] != c';' or value >= 0x80:
        return 0
    byte[0] = <uint8_t>value
    return i + 1


cdef inline size_t read_escape(const uint8_t *s, size_t n, uint8_t *byte) noexcept nogil:
    """Return the length of the escape of JSON at s, "\\/" or "\\u00HH", perhaps with more backslashes; 0: none.

    JSON in JSON doubles backslashes. Of an odd number, the others are text, unless they escape a slash: "\\\\\\/".
    """
    cdef size_t i = 1
    cdef int high, low
    while i < n and i < MOST_BACKSLASHES and s[i] == c'\\':
        i += 1
    if i < n and s[i] == c'/':
        byte[0] = c'/'
        return i + 1
    if n - i < 5 or s[i] != c'u' or s[i + 1] != c'0' or s[i + 2] != c'0':
        return 0
    high, low = hex_value(s[i + 3]), hex_value(s[i + 4])
    if low < 0 or not 0 <= high < 8 or i > 1 and i & 1 and (high << 4 | low) != c'/':
        return 0
    byte[0] = <uint8_t>(high << 4 | low)
    return i + 5


cdef inline bint is_triplet(const uint8_t *s, size_t n, size_t unit, uint8_t high, uint8_t low) noexcept nogil:
    """Return whether "%HL" is at s, or "%25HL" for a unit of 5; the digit L is in lower case."""
    return n >= unit and s[0] == c'%' and (unit == 3 or s[1] == c'2' and s[2] == c'5') and (
        s[unit - 2] == high and lower(s[unit - 1]) == low)


cdef size_t read_encoded_escape(const uint8_t *s, size_t n, size_t unit, uint8_t *byte) noexcept nogil:
    """Return the length of an escape of JSON with backslashes of this length: "%5C%2F", "%5C/", "%5Cu00HH"; 0: none."""
    cdef uint8_t escape[MOST_BACKSLASHES + 5]
    cdef size_t i = 0, count = 0, size
    while count < MOST_BACKSLASHES and is_triplet(s + i, n - i, unit, c'5', c'c'):
        escape[count] = c'\\'
        count += 1
        i += unit
    if is_triplet(s + i, n - i, unit, c'2', c'f'):
        byte[0] = c'/'
        return i + unit
    if i < n and s[i] == c'\\':
        return 0
    size = min(n - i, <size_t>5)
    memcpy(escape + count, s + i, size)
    size = read_escape(escape, count + size, byte)
    return size - count + i if size else 0


cdef Character read_longer(const uint8_t *s, size_t n, Character found) noexcept nogil:
    """Return the character at s, which begins as this one: an encoded escape, or a "%" that is encoded more often."""
    cdef int high, low
    cdef size_t size
    if found.byte == c'\\':
        size = read_encoded_escape(s, n, found.size, &found.byte)
        if size:
            found.size = size
        return found
    while found.byte == c'%' and found.depth < 2 * DEEPEST and n >= found.size + 2:
        high, low = hex_value(s[found.size]), hex_value(s[found.size + 1])
        if high < 0 or low < 0:
            break
        found.byte, found.depth, found.size = <uint8_t>(high << 4 | low), found.depth + 1, found.size + 2
    return found


cdef inline void read_character(const uint8_t *s, size_t n, Character *found) noexcept nogil:
    """Read the character at s, of at least one byte."""
    cdef int high, low
    cdef size_t size
    found.byte, found.depth, found.size = s[0], 0, 1
    if s[0] == c'%':
        if n < 3:
            return
        high, low = hex_value(s[1]), hex_value(s[2])
        if high < 0 or low < 0:
            return
        found.byte, found.depth, found.size = <uint8_t>(high << 4 | low), 1, 3
        if found.byte == c'%' and n >= 5:
            high, low = hex_value(s[3]), hex_value(s[4])
            if high >= 0 and low >= 0:
                found.byte, found.depth, found.size = <uint8_t>(high << 4 | low), 2, 5
        if found.byte == c'\\':
            found[0] = read_longer(s, n, found[0])
    elif s[0] == c'\\' or s[0] == c'&':
        size = read_escape(s, n, &found.byte) if s[0] == c'\\' else read_reference(s, n, &found.byte)
        if size:
            found.size = size


cdef inline Character read_any(const uint8_t *s, size_t n) noexcept nogil:
    """Return the character at s, of any depth."""
    cdef Character found
    read_character(s, n, &found)
    if found.depth == DEEPEST and found.byte == c'%':
        found = read_longer(s, n, found)
    return found


# --- names ------------------------------------------------------------------------------------------------------------

cdef enum:
    LONGEST_NAME = 255      # bytes
    MOST_SEGMENTS = 8       # of a pattern
    PAIRS = 1024
    OF_WHOLE = 1            # of Options.pairs
    OF_INNER = 2
    EXPANSION = 5           # "://:@" becomes "://REDACTED:REDACTED@", "&a=" becomes "&a=REDACTED"
    NEAR = 16               # bytes that are looked at one by one before a kernel is called
    WORD_LENGTH = 8         # of REDACTED
    ENDS_LENGTH = 4 * WORD_LENGTH

# A segment of a pattern of paths, in lower case: what is before "*", and what is after it.
cdef struct Glob:
    const uint8_t *text
    size_t before
    size_t after
    bint has_star
    bint is_secret          # what "*" stands for is redacted

cdef struct PathPattern:
    Glob glob[MOST_SEGMENTS]
    size_t count
    bint has_slash          # after the last segment

# Names are compared in lower case, and without "-", "_" and ".".
cdef struct Options:
    const PathPattern *paths
    size_t path_count
    bint has_paths              # segments are looked at: for patterns,
    bint has_tokens             # or whether they are tokens
    const Options *watched      # names
    uint8_t *seen               # whether one of them was left; NULL: nobody asks
    NameSet whole               # names and prefixes
    NameSet inner               # names with "*" before them
    bint has_inner
    uint8_t pairs[PAIRS]        # by pair_of() of the first two bytes of a name: of which list
    bint all                    # "*"
    int most                    # the greatest depth of delimiters
    bint bare                   # a word may begin with a name


cdef inline size_t pair_of(uint8_t first, uint8_t second) noexcept nogil:
    return (31 * <size_t>first + second) % PAIRS


cdef bint is_listed_in(const NameSet *names, const uint8_t *s, size_t n, bint ends) noexcept nogil:
    """Return whether a name of the set stands here, and ends here if it is no prefix."""
    cdef uint32_t i
    cdef const QueryName *each
    for i in range(names.first[s[0] & 31], names.first[(s[0] & 31) + 1]):
        each = names.name + i
        if n >= each.size and memcmp(s, each.text, each.size) == 0 and (each.is_prefix or n == each.size and ends):
            return True
    return False


cdef bint is_listed(const uint8_t *name, size_t n, bint begins, bint ends, const Options *how) noexcept nogil:
    """Return whether a name is sensitive, or a piece of one; whether it is the first one, and the last one."""
    cdef size_t start
    if how.all or n and begins and is_listed_in(&how.whole, name, n, ends):
        return True
    if how.has_inner:
        for start in range(n):
            if is_listed_in(&how.inner, name + start, n - start, ends):
                return True
    return False


cdef uint8_t decoded(const uint8_t *s, size_t n, int times, int depth, size_t *size) noexcept nogil:
    """Return the first byte of s[:n], which is not empty, percent-decoded `times` times; set `size` to that of its spelling.

    "+" is a blank in a query, so it is one if it shows after decoding `depth` times, which makes a plain query of it.
    """
    cdef Character character
    cdef uint8_t c
    cdef size_t high_size, low_size
    cdef int high, low
    if times == 0:
        character.byte, character.depth, character.size = s[0], 0, 1
        if s[0] == c'\\' or s[0] == c'&':
            read_character(s, n, &character)
        c, size[0] = character.byte, character.size
    else:
        c = decoded(s, n, times - 1, depth, size)
        if c == c'%' and size[0] < n:
            high = hex_value(decoded(s + size[0], n - size[0], times - 1, depth, &high_size))
            high_size += size[0]
            if high >= 0 and high_size < n:
                low = hex_value(decoded(s + high_size, n - high_size, times - 1, depth, &low_size))
                if low >= 0:
                    c, size[0] = <uint8_t>(high << 4 | low), high_size + low_size
    return c' ' if c == c'+' and times <= depth else c


cdef inline bint is_other(const uint8_t *s, size_t n, const Options *how) noexcept nogil:
    """Return whether a name is not sensitive at first sight, the usual case.

    Nothing in it is escaped, and no two bytes are those that a name of the list begins with.
    """
    cdef size_t i = 0
    cdef uint8_t before, byte, wanted = OF_WHOLE | OF_INNER
    while i < n and IS_SEPARATOR.set.member[s[i]]:
        i += 1
    if i == n or how.all or not IN_NAME.set.member[s[i]]:
        return False
    if not how.has_inner and how.whole.first[s[i] & 31] == how.whole.first[(s[i] & 31) + 1]:
        wanted = 0
    before = lower(s[i])
    i += 1
    while i < n and IN_NAME.set.member[s[i]]:
        if not IS_SEPARATOR.set.member[s[i]]:
            byte = lower(s[i])
            if how.pairs[pair_of(before, byte)] & wanted:
                return False
            wanted &= OF_INNER
            before = byte
        i += 1
    # A name of one byte has no pair.
    return i == n and not wanted & OF_WHOLE


cdef bint has_listed(
        const uint8_t *name, size_t n, bint has_parts, bint begins, bint ends, const Options *how) noexcept nogil:
    """Return whether a name is sensitive, or a part of it: user[pin]. See is_listed()."""
    cdef size_t i, start = 0
    if is_listed(name, n, begins, ends, how):
        return True
    if not has_parts:
        return False
    for i in range(n + 1):
        if i == n or name[i] == c'[' or name[i] == c']':
            if is_part(name + start, i - start, start > 0 or begins, i < n or ends, how):
                return True
            start = i + 1
    return False


cdef bint is_part(const uint8_t *name, size_t n, bint begins, bint ends, const Options *how) noexcept nogil:
    """Return whether a part of a name is sensitive, without blanks around it."""
    cdef size_t start = 0
    while start < n and name[start] <= c' ':
        start += 1
    while start < n and name[n - 1] <= c' ':
        n -= 1
    return is_listed(name + start, n - start, begins, ends, how)


cdef bint is_sensitive(const uint8_t *s, size_t n, int depth, const Options *how) noexcept nogil:
    """Return whether a name is sensitive: decoded, in lower case, without "-", "_", "." and blanks around it.

    `depth` is that of the delimiter before it. A name that is longer than two of the longest is read in pieces, each with
    the end of the one before, so that a name of the list is in one of them.
    """
    cdef uint8_t name[2 * LONGEST_NAME]
    cdef size_t i = 0, size = 0, end = 0, spelled
    cdef bint begins = True, has_parts = False
    cdef uint8_t c
    while i < n:
        c = lower(s[i])
        if IN_NAME.set.member[c]:
            i += 1
        else:
            c = lower(decoded(s + i, n - i, depth + DEEPEST, depth, &spelled))
            has_parts |= c == c'[' or c == c']'
            i += spelled
        if IS_SEPARATOR.set.member[c] or size == 0 and c <= c' ':
            continue
        if size == 2 * LONGEST_NAME:
            if has_listed(name, size, has_parts, begins, False, how):
                return True
            memcpy(name, name + LONGEST_NAME, LONGEST_NAME)
            size, begins = LONGEST_NAME, False
            end = min(end - LONGEST_NAME, size) if end > LONGEST_NAME else 0
        name[size] = c
        size += 1
        if c > c' ':
            end = size
    return has_listed(name, end, has_parts, begins, True, how)


# --- URLs -------------------------------------------------------------------------------------------------------------

cdef ByteSet WORD_ENDS = ByteSet(range(33)) | '"<>' | b"\x7f"
cdef ByteSet IN_WORD = ~WORD_ENDS
cdef ByteSet TRIMMED = ByteSet(".,:;!?'\\")
cdef ByteSet OPENING = ByteSet("'([{`|=,")          # what may precede "//" in a word
cdef ByteSet SLASHES = ByteSet("/\\&")                 # what a slash may be spelled with
cdef ByteSet MAY_BE_SLASH = SLASHES | "%"
cdef ByteSet MAY_BEGIN_JSON = ByteSet("{[\"%+") | range(33)
# Bytes of no interest to each of the loops. Others are looked at as characters.
cdef ByteSet SKIPPED = ~ByteSet("?&;#=:%\\")
cdef ByteSet SKIPPED_PLAIN = ~ByteSet("?&;#=:\\")       # if "%" begins no delimiter
cdef ByteSet SKIPPED_BUT_SLASH = ~ByteSet("?&;#=:%\\/")
cdef ByteSet IN_AUTHORITY = ~ByteSet("/\\?#@:&;%'`|)]}")
cdef ByteSet IN_VALUE = ~ByteSet("&;#/?%\\")
cdef ByteSet IN_VALUE_OF_TEXT = ByteSet(range(128)) - "&;#/?%\\'`|()[]{}\r\n"


cdef struct Work:
    const uint8_t *s
    const Options *how
    uint8_t *dst
    size_t written
    size_t copied               # all before s[copied] has been written
    bint in_text                # the URL is part of other text
    bint in_query               # of the URL, or in its fragment
    bint at_end_of_word         # nothing of the URL follows the value that was read last,
    size_t least                # whose last escape ends here
    size_t line                 # from here on, no "=" of the word has been looked at
    uint8_t active[256]         # quotes and closing brackets that end a value
    size_t no_at[DEEPEST + 1]   # there is no "@" of this depth before s[no_at]: a search for one failed
    size_t no_json              # a string of JSON that does not end was read up to here
    size_t no_object            # and what might have been an object
    size_t row_end              # of the row of text, which ends before "\n" and "\r",
    int terminator              # and this byte; -1: none
    int level                   # how many strings of JSON the URL is in
    bint is_raw                 # the JSON that is read is not percent-encoded in its parameter


cdef inline void put_redacted(Work *work, size_t start, size_t stop) noexcept nogil:
    """Write REDACTED instead of s[start:stop]."""
    cdef uint8_t *dst = work.dst + work.written
    if stop - start == WORD_LENGTH and memcmp(work.s + start, b"REDACTED", WORD_LENGTH) == 0:
        return
    dst = append_bytes(dst, work.s + work.copied, start - work.copied)
    dst = append_bytes(dst, b"REDACTED", WORD_LENGTH)
    work.written, work.copied = <size_t>(dst - work.dst), stop


cdef struct Slashes:
    size_t end              # 0: there are none
    int depth               # of the deeper one
    bint has_backslash      # only browsers read such an authority, and for them a backslash ends it
    bint is_escaped         # neither is a byte of the text


cdef Slashes slashes_at(const uint8_t *s, size_t i, size_t end, int most) noexcept nogil:
    """Return the two slashes that begin at s[i], of at most this depth. Browsers take a backslash for a slash."""
    cdef Character character
    cdef Slashes slashes
    cdef int _slash
    slashes.end, slashes.depth, slashes.has_backslash, slashes.is_escaped = 0, 0, False, True
    if end - i >= 2 and s[i] == c'/' and s[i + 1] == c'/':      # the usual case
        slashes.end, slashes.is_escaped = i + 2, False
        return slashes
    for _slash in range(2):
        if i >= end:
            return slashes
        read_character(s + i, end - i, &character)
        if character.byte != c'/' and character.byte != c'\\' or character.depth > most:
            return slashes
        i += character.size
        slashes.depth = max(slashes.depth, character.depth)
        slashes.has_backslash |= character.byte == c'\\'
        slashes.is_escaped &= character.size > 1
    slashes.end = i
    return slashes


cdef inline bint ends_word(const Character *character) noexcept nogil:
    """Return whether an escape stands for what ends a word, or for an apostrophe."""
    return character.depth == 0 and character.size > 1 and (
        WORD_ENDS.set.member[character.byte] or character.byte == c"'")


cdef bint is_pair(Work *work, size_t i, size_t end, int depth) noexcept nogil:
    """Return whether a name, "=" of no greater depth, and a value begin at s[i]; "a==" may be the end of base64."""
    cdef Character character
    cdef size_t start = i
    cdef int most = max(depth, work.how.most)
    while i < end:
        character = read_any(work.s + i, end - i)
        if character.depth <= most and character.byte in (c'=', c':'):
            if character.byte == c':' or character.depth > depth or i == start and not work.how.all:
                return False
            i += character.size
            if i == end:
                return False
            character = read_any(work.s + i, end - i)
            return character.depth > depth or character.byte not in (c'=', c'&', c'#')
        if character.depth <= depth and character.byte in (c'&', c';', c'#', c'?'):
            return False
        if work.in_text and ends_word(&character):
            return False
        i += character.size
    return False


cdef enum Port:
    NO_PORT                 # there is no ":" after the host
    EMPTY_PORT
    NUMBER
    NO_NUMBER               # so it is a part of a password

cdef struct Authority:
    int depth               # how often its delimiters are percent-encoded
    Slashes slashes         # before it
    size_t at               # the last "@"; SIZE_MAX: none
    size_t at_size
    size_t colon            # the first ":"
    size_t colon_size
    size_t after_colon      # the end of the last ":"
    Port port               # what follows the ":" after the last "@"
    uint8_t delimiter       # that ends it; 0: its end, or that of the text around it


cdef inline bint is_line_escape(const uint8_t *s, size_t i, size_t end) noexcept nogil:
    """Return whether s[i], a backslash, begins an escape of JSON for a control character."""
    return i + 1 < end and s[i + 1] in (c'n', c'r', c't', c'b', c'f')


cdef inline bint is_escaped_backslash(const uint8_t *s, size_t i, size_t end) noexcept nogil:
    """Return whether s[i:] begins with two backslashes: the second one begins no escape."""
    return s[i] == c'\\' and i + 1 < end and s[i + 1] == c'\\'


cdef size_t scan_authority(Work *work, size_t i, size_t end, Authority *found) noexcept nogil:
    """Find the last "@" of an authority, whose rest is s[i:], and what is left as its port; return where it ends.

    Where readers differ, what is userinfo for one of them is found: a backslash is a delimiter for browsers, and so is
    "&#47;" in HTML; for RFC 3986 they are not, and an "@" may follow.
    """
    cdef const uint8_t *s = work.s
    cdef Character character
    cdef size_t run, host = i, doubtful = SIZE_MAX           # the first delimiter for some readers,
    cdef Port port = NO_PORT, port_of_doubtful = NO_PORT
    cdef uint8_t delimiter = 0                          # and which it is
    cdef bint has_bracket = False
    found.delimiter = 0
    while i < end:
        if IN_AUTHORITY.set.member[s[i]]:
            has_bracket |= i == host and s[i] == c'['
            run = i
            while i < end and IN_AUTHORITY.set.member[s[i]]:
                i += 1
            if port == EMPTY_PORT or port == NUMBER:
                port = NUMBER
                while run < i and port == NUMBER:
                    port = NUMBER if c'0' <= s[run] <= c'9' else NO_NUMBER
                    run += 1
            continue
        read_character(s + i, end - i, &character)
        if character.depth > found.depth:
            character.byte = 0
        elif character.byte in (c'/', c'?', c'#', c'\\'):
            if character.byte == c'\\':
                if found.slashes.has_backslash or work.in_text and is_line_escape(s, i, end):
                    found.delimiter = c'\\'
                    break
            elif found.slashes.is_escaped or character.size == 1 or s[i + character.size - 1] == c'/':
                found.delimiter = character.byte
                break
            if doubtful == SIZE_MAX:
                doubtful, port_of_doubtful, delimiter = i, port, character.byte
                port = NO_PORT
            character.size += is_escaped_backslash(s, i, end)
        elif character.byte == c'&' and character.depth < found.depth:
            break               # the URL is encoded in a value, which ends here
        elif work.in_text and character.size == 1 and work.active[character.byte]:
            break
        if character.byte == c'@':
            found.at, found.at_size = i, character.size
            host, doubtful, has_bracket = i + character.size, SIZE_MAX, False
            port = port_of_doubtful = NO_PORT
        elif character.byte == c'[' and i == host:
            has_bracket = True
        elif character.byte == c']' and has_bracket:
            port = NO_PORT      # an IP address
        elif character.byte == c':':
            port = EMPTY_PORT if port == NO_PORT else NO_NUMBER
            found.after_colon = i + character.size
            if found.colon == SIZE_MAX:
                found.colon, found.colon_size = i, character.size
        elif character.byte == c'&' and port == NUMBER:
            port = NO_PORT      # of a URL in a query, whose next parameter this may be
        elif port != NO_PORT:
            port = NUMBER if port != NO_NUMBER and c'0' <= character.byte <= c'9' else NO_NUMBER
        i += character.size
    if port_of_doubtful == EMPTY_PORT or port_of_doubtful == NO_NUMBER:
        port, found.delimiter, i = port_of_doubtful, delimiter, doubtful
    found.port = port
    return i


cdef inline bint begins_reference(const uint8_t *s, size_t i, size_t end, int most) noexcept nogil:
    """Return whether two slashes begin at s[i]: two backslashes may be one in JSON."""
    cdef Slashes slashes = slashes_at(s, i, end, most)
    return slashes.end and not slashes.has_backslash


cdef size_t search_at(Work *work, size_t i, size_t end, Authority *found) noexcept nogil:
    """Find the last "@" of a password that goes on with the delimiter at s[i]; return where the search ends."""
    cdef const uint8_t *s = work.s
    cdef Character character
    cdef size_t start = i
    cdef bint is_path = found.port == EMPTY_PORT and found.delimiter == c'/', is_name = False
    if i == found.after_colon and (work.in_text or is_path) and begins_reference(s, i, end, found.depth):
        return i                # http://http://h/a@b
    while i < end:
        read_character(s + i, end - i, &character)
        if character.depth <= found.depth:
            if character.depth < found.depth and (
                    character.byte in (c'&', c'?', c'#')
                    or character.byte in (c'/', c'\\') and character.depth < found.slashes.depth):
                break
            if work.in_text and found.port == EMPTY_PORT and character.size == 1 and (
                    work.active[character.byte]
                    or i > start and character.byte == c'\\' and is_line_escape(s, i, end)):
                break
            if character.byte in (c':', c'=') and (work.in_text or is_path) and begins_reference(
                    s, i + character.size, end, found.depth):
                break           # the next URL
            if character.byte == c'@':
                found.at, found.at_size, is_name = i, character.size, False
            elif character.byte in (c'?', c'#'):
                is_name = is_path
            elif character.byte == c'=' and is_name:
                break           # a parameter of the query
            elif character.size == 1:
                character.size += is_escaped_backslash(s, i, end)
        i += character.size
    return i


cdef inline bint is_file(const uint8_t *s, size_t colon) noexcept nogil:
    """Return whether the scheme before s[colon] is "file", whose URLs have a drive but no port: file://C:/a@b."""
    return colon >= 4 and lower(s[colon - 4]) == c'f' and lower(s[colon - 3]) == c'i' and (
        lower(s[colon - 2]) == c'l' and lower(s[colon - 1]) == c'e')


cdef inline uint8_t opening_of(uint8_t closing) noexcept nogil:
    """Return the opening bracket of a closing one; 0 for other bytes."""
    return c'(' if closing == c')' else closing - 2 if closing == c']' or closing == c'}' else 0


cdef size_t trimmed(const uint8_t *s, size_t start, size_t least, size_t i) noexcept nogil:
    """Return the end of a value at the end of a word, without punctuation and brackets that are not its own."""
    cdef Py_ssize_t surplus[128]        # of opening brackets
    cdef bint counted = False
    cdef size_t k
    cdef uint8_t opening
    while i > least:
        opening = opening_of(s[i - 1])
        if opening:
            if not counted:
                counted, surplus[c'('], surplus[c'['], surplus[c'{'] = True, 0, 0, 0
                for k in range(start, i):
                    if opening_of(s[k]):
                        surplus[opening_of(s[k])] -= 1
                    elif s[k] == c'(' or s[k] == c'[' or s[k] == c'{':
                        surplus[s[k]] += 1
            if surplus[opening] >= 0:
                break
            surplus[opening] += 1
        elif not TRIMMED.set.member[s[i - 1]]:
            break
        i -= 1
    return i


cdef bint joins_lines(Work *work, size_t equals) noexcept nogil:
    """Return whether a word of text may be quoted-printable up to "=" at the end of a line (RFC 2045 section 6.7).

    In such a text, any other "=" begins an encoded byte. Otherwise this one is the end of the value, as in base64.
    """
    cdef const uint8_t *s = work.s
    cdef size_t i
    for i in range(work.line, equals):
        # There are two bytes after s[i]: at least the last "=", and the line end.
        if s[i] == c'=' and s[i + 1] != c'\n' and s[i + 1] != c'\r' and (
                hex_value(s[i + 1]) < 0 or hex_value(s[i + 2]) < 0):
            return False
    work.line = equals
    return True


cdef size_t end_of_value(Work *work, size_t start, size_t end, int depth, bint in_path, int path) noexcept nogil:
    """Return the end of the value at s[start], with the punctuation after it in a text.

    `path`: the value is a segment of a path whose slashes have at most this depth; -1: it is none.
    """
    cdef const uint8_t *s = work.s
    cdef size_t i = start, length
    cdef size_t open[128]       # brackets of the value that are not closed
    cdef Character character
    cdef uint8_t opening
    cdef const uc_set *skipped = &IN_VALUE_OF_TEXT.set if work.in_text else &IN_VALUE.set
    work.at_end_of_word, work.least = False, start
    open[c'('] = open[c'['] = open[c'{'] = 0
    while True:
        i += kernels.span(s + i, end - i, skipped)
        if i >= end:
            break
        read_character(s + i, end - i, &character)
        if character.depth <= depth:
            if character.byte == c'&' or character.byte == c'#':
                return i
            if character.byte == c';' and is_pair(work, i + character.size, end, depth):
                return i
            if in_path and character.byte in (c'/', c'\\', c'?'):
                return i
        if character.depth <= path and character.byte in (c'/', c'?', c'#'):
            return i
        if work.in_text and character.depth == 0:
            if ends_word(&character):
                break
            if (s[i] == c'\r' or s[i] == c'\n' and s[i - 1] == c'=') and not joins_lines(work, i - 1):
                break
            if character.size == 1:
                if character.byte >= 0x80:
                    length = length_of_character(s + i, end - i)
                    if length == 0:
                        if sequence_at(s + i, end - i):
                            break       # punctuation or a space beyond ASCII
                        length = 1
                    i += length
                    continue
                if character.byte == c'\\':
                    if is_escaped_backslash(s, i, end):
                        i += 2
                        continue
                    if is_line_escape(s, i, end):
                        break
                elif character.byte == c'(' or character.byte == c'[' or character.byte == c'{':
                    open[character.byte] += 1
                else:
                    opening = opening_of(character.byte)
                    if opening and open[opening]:
                        open[opening] -= 1
                    elif work.active[character.byte]:
                        break
        i += character.size
        if character.size > 1:
            work.least = i
    work.at_end_of_word = True
    return min(i, end)


cdef size_t end_of_parameter(Work *work, size_t start, size_t at, size_t end, int depth) noexcept nogil:
    """Return the end of the value that the "@" after the userinfo s[start:at] may stand in; `at`: it stands in none.

        ?url=http://i&token=a@b         for some readers a host b after userinfo, for others the token a@b,
        http://u:?p@h/?token=a@b        where p may be a password: all of them are secret
    """
    cdef const uint8_t *s = work.s
    cdef Character character
    cdef size_t i = start, name = SIZE_MAX
    cdef int depth_of_name = 0, depth_of_value = 0
    cdef bint in_query = work.in_query and depth == 0, after_host = False, is_secret = False
    while i < at:
        character = read_any(s + i, at - i)
        if character.byte == c'=' and name < SIZE_MAX and character.depth <= max(depth, work.how.most):
            is_secret = not is_other(s + name, i - name, work.how) and is_sensitive(
                s + name, i - name, depth_of_name, work.how)
            name, depth_of_value = SIZE_MAX, min(depth_of_name, character.depth)
        elif character.depth <= depth:
            if character.byte == c'@':
                after_host = True
            elif after_host and (character.byte == c'?' and not is_secret or character.byte == c'#') or in_query and (
                    character.byte == c'&' or after_host and character.byte == c';' and not (
                        is_secret and not is_pair(work, i + character.size, end, depth))):
                in_query = True
                name, depth_of_name, is_secret = i + character.size, character.depth, False
        i += character.size
    if not is_secret:
        return at
    i = end_of_value(work, at, end, depth_of_value, False, -1)
    return trimmed(s, at, work.least, i) if work.in_text and work.at_end_of_word else i


cdef size_t redact_authority(Work *work, Slashes slashes, size_t end, int depth, bint has_port) noexcept nogil:
    """Redact the userinfo of the authority after these slashes; return where the URL goes on.

    Userinfo is everything up to the last "@" before "/", "?" or "#". A password with one of these in it shows by its
    ":", which no number follows; it is up to the last "@" of the URL.

        http://u:p/w@h      http://host:80/x@y      http://u:#w@h       http://u:/w@h       http://host:/p?q=a@b
                   ^ last @         a number, so no password   ^                   ^        the @ is in the query
    """
    cdef const uint8_t *s = work.s
    cdef size_t start = slashes.end, i = start, stop, at
    cdef Authority found
    found.depth, found.slashes, found.at, found.at_size = depth, slashes, SIZE_MAX, 0
    found.colon = found.colon_size = found.after_colon = SIZE_MAX
    while i < end and IN_AUTHORITY.set.member[s[i]]:
        i += 1
    if i == end or s[i] == c'/' or s[i] == c'?' or s[i] == c'#':
        return i - (i > start and s[i - 1] == c'=')     # the usual case: a host; "=//" begins the next one
    if s[i] == c':':
        i += 1
        stop = i
        while i < end and c'0' <= s[i] <= c'9':
            i += 1
        if i > stop and (i == end or s[i] == c'/' or s[i] == c'?' or s[i] == c'#'):
            return i    # and a port
    i = start
    while True:
        stop = scan_authority(work, i, end, &found)
        at = found.at
        if stop < work.no_at[depth]:
            break
        if found.port == EMPTY_PORT:
            # After userinfo, ":/" is how URLs of repositories are written: ssh://git@h:/a@1
            if not has_port or found.delimiter == 0 or found.delimiter == c'/' and at != SIZE_MAX:
                break
        elif found.port != NO_NUMBER or at != SIZE_MAX:
            break
        stop = search_at(work, stop, end, &found)
        if found.at == at:
            work.no_at[depth] = stop
            break
        i = found.at + found.at_size
    if at == SIZE_MAX:
        return start        # "&" may still begin a name
    stop = end_of_parameter(work, start, at, end, depth)
    if found.colon < at:
        put_redacted(work, start, found.colon)
        start = found.colon + found.colon_size
    put_redacted(work, start, stop)
    return stop


# --- paths ------------------------------------------------------------------------------------------------------------

# The segments of a path that were read last.
cdef struct Path:
    int depth                       # its slashes are percent-encoded at most so often; -1: the URL is not in a path
    int parameter                   # how often the delimiter before the parameter is that it is in; -1: in none
    size_t count                    # of its segments
    size_t start[MOST_SEGMENTS]
    size_t end[MOST_SEGMENTS]


cdef bint matches_glob(
        Work *work, size_t i, size_t end, int depth, const Glob *glob, size_t *first, size_t *last) noexcept nogil:
    """Return whether a segment matches, decoded and without case; if so, set where what "*" stands for is."""
    cdef size_t at[LONGEST_NAME]        # the last characters: where they are,
    cdef uint8_t bytes[LONGEST_NAME]    # and what they mean
    cdef size_t k, size, count = 0
    cdef uint8_t byte
    for k in range(glob.before):
        if i == end or lower(decoded(work.s + i, end - i, depth + DEEPEST, -1, &size)) != glob.text[k]:
            return False
        i += size
    first[0] = i
    last[0] = end
    if not glob.has_star or glob.after == 0:
        return (i < end) == glob.has_star
    while i < end:
        byte = lower(decoded(work.s + i, end - i, depth + DEEPEST, -1, &size))
        at[count % glob.after], bytes[count % glob.after] = i, byte
        count += 1
        i += size
    if count <= glob.after:
        return False
    for k in range(glob.after):
        if bytes[(count + k) % glob.after] != glob.text[glob.before + k]:
            return False
    last[0] = at[count % glob.after]
    return True


cdef size_t end_of_segment(Work *work, size_t start, size_t end, const Path *path) noexcept nogil:
    """Return the end of the segment s[start:] of a path."""
    cdef size_t stop = end_of_value(work, start, end, path.parameter, False, path.depth)
    return trimmed(work.s, start, work.least, stop) if work.in_text and work.at_end_of_word else stop


cdef size_t next_segment(Work *work, size_t i, size_t end, int depth) noexcept nogil:
    """Return the beginning of the segment after the slash at s[i]; 0: there is no slash."""
    cdef Character character
    if i == end:
        return 0
    read_character(work.s + i, end - i, &character)
    return i + character.size if character.byte == c'/' and character.depth <= depth else 0


cdef bint is_token(Work *work, size_t i, size_t end, int depth) noexcept nogil:
    """Return whether a segment, percent-decoded, is of the class {token} of shapes."""
    cdef const uint8_t *s = work.s + i
    cdef uint8_t *plain = work.dst + work.written       # where its bytes would be copied to
    cdef size_t n = end - i, size, stem
    if kernels.span(s, n, &IS_LITERAL.set) < n:
        s, n = plain, 0
        while i < end:
            plain[n] = decoded(work.s + i, end - i, depth + 1, -1, &size)
            i += size
            n += 1
    return segment_class(s, n, &stem) == TOKEN


cdef bint matches_around(
        Work *work, const Path *path, const PathPattern *pattern, size_t place, size_t end) noexcept nogil:
    """Return whether what is around the last segment matches what is around this place of a pattern."""
    cdef size_t k, first, last, start, stop = path.end[(path.count - 1) % MOST_SEGMENTS]
    for k in range(place):
        start = (path.count - 1 - place + k) % MOST_SEGMENTS
        if not matches_glob(work, path.start[start], path.end[start], path.depth, pattern.glob + k, &first, &last):
            return False
    for k in range(place + 1, pattern.count):
        start = next_segment(work, stop, end, path.depth)
        if start == 0:
            return False
        stop = end_of_segment(work, start, end, path)
        if not matches_glob(work, start, stop, path.depth, pattern.glob + k, &first, &last):
            return False
    return not pattern.has_slash or next_segment(work, stop, end, path.depth) > 0


cdef size_t redact_segment(Work *work, size_t start, size_t end, Path *path) noexcept nogil:
    """Redact in the segment s[start:] of a path, and return where the URL goes on."""
    cdef const Options *how = work.how
    cdef const PathPattern *pattern
    cdef size_t stop = end_of_segment(work, start, end, path), i, place, first, last
    cdef size_t from_ = SIZE_MAX, to = 0        # what is secret in it
    path.start[path.count % MOST_SEGMENTS], path.end[path.count % MOST_SEGMENTS] = start, stop
    path.count += 1
    for i in range(how.path_count):
        pattern = how.paths + i
        for place in range(min(pattern.count, path.count)):
            if (pattern.glob[place].is_secret
                    and matches_glob(work, start, stop, path.depth, pattern.glob + place, &first, &last)
                    and matches_around(work, path, pattern, place, end)):
                from_, to = min(from_, first), max(to, last)
    if how.has_tokens and is_token(work, start, stop, path.depth):
        from_, to = start, stop
    if from_ >= to:
        return start
    put_redacted(work, from_, to)
    return to


cdef void begin_path(Path *path, const uint8_t *s, size_t i, size_t end, int most) noexcept nogil:
    """Set whether a path begins at s[i], a slash of at most this depth."""
    cdef Character character
    path.depth, path.count = -1, 0
    if i < end:
        read_character(s + i, end - i, &character)
        if character.byte == c'/' and character.depth <= most:
            path.depth = character.depth


cdef void pass_delimiter(
        Path *path, const Character *delimiter, const uint8_t *s, size_t i, size_t end, int most) noexcept nogil:
    """Set where the URL is after "?", "#", "&" or ";"; a path may begin in a fragment: "#/a", "#!/a"."""
    if delimiter.byte == c'#':
        begin_path(path, s, i + (i < end and s[i] == c'!'), end, most)
    elif delimiter.byte == c'?' or path.parameter >= delimiter.depth:
        path.depth = -1
    if path.parameter >= 0 or delimiter.byte == c'?' or delimiter.byte == c'#':
        path.parameter = delimiter.depth


# --- JSON in parameters -----------------------------------------------------------------------------------------------
#
# A value that begins with "{" or "[", and a quote after it, perhaps in a string, is read as JSON, however its characters
# are spelled. Quotes are often percent-encoded where other delimiters are not, and have backslashes in JSON that is a
# string of JSON:
#
#     ?a={"token":"x"}    ?a=%7B%22token%22%3A%22x%22%7D    ?a={%22token%22:%22x%22}    ?a={\\"token\\":\\"x\\"}
#
# A string ends at a quote that is spelled as the one before it, if what follows continues JSON. What does not is read as
# the URL that it is in, as if there were no JSON.

cdef enum:
    MOST_LEVELS = 3         # strings of JSON in each other that are read

cdef struct String:
    size_t start, end       # of its content
    size_t next             # what follows its quote

cdef ByteSet IN_LINE = ~ByteSet("\r\n")
cdef ByteSet IN_STRING = ~ByteSet("\"%\\&#")
# What stands between strings of JSON: numbers, true, false, null.
cdef ByteSet IN_SCALAR = ByteSet(b"+-._ \t\r\n:") | range(c'0', c'9' + 1) | range(c'A', c'Z' + 1) | range(c'a', c'z' + 1)


cdef inline Character read_of_json(const uint8_t *s, size_t n) noexcept nogil:
    """Return the character at s. A quote may also be spelled as in HTML, or as in logs of nginx."""
    if s[0] == c'&' and n >= 6 and memcmp(s, b"&quot;", 6) == 0:
        return Character(c'"', 0, 6)
    if s[0] == c'\\' and n >= 4 and memcmp(s, b"\\x22", 4) == 0:
        return Character(c'"', 0, 4)
    return read_any(s, n)


cdef inline bint ends_parameter(const Character *character, int depth) noexcept nogil:
    return (character.byte == c'&' or character.byte == c'#') and character.depth <= depth


cdef size_t skip_blanks(const uint8_t *s, size_t i, size_t end) noexcept nogil:
    cdef Character character
    while i < end:
        character = read_of_json(s + i, end - i)
        if character.byte > c' ' and character.byte != c'+':
            break
        i += character.size
    return i


cdef size_t open_string(const uint8_t *s, size_t i, size_t end, Character *quote, size_t *backslashes) noexcept nogil:
    """Return the beginning of the string whose quote is at s[i], perhaps after backslashes; 0: there is none."""
    backslashes[0] = 0
    while i < end:
        quote[0] = read_of_json(s + i, end - i)
        i += quote.size
        if quote.byte == c'"':
            return i
        if quote.byte != c'\\' or backslashes[0] == MOST_BACKSLASHES - 1:
            return 0
        backslashes[0] += 1
    return 0


cdef bint begins_json(const uint8_t *s, size_t i, size_t end) noexcept nogil:
    """Return whether brackets are here, and a string after them; perhaps in a string: "{\\"a\\":1}"."""
    cdef Character character, quote
    cdef size_t start, backslashes
    i = skip_blanks(s, i, end)
    if i < end:
        character = read_of_json(s + i, end - i)
        if character.byte == c'"':
            i = skip_blanks(s, i + character.size, end)
    start = i
    while i < end:
        character = read_of_json(s + i, end - i)
        if character.byte != c'{' and character.byte != c'[':
            return i > start and open_string(s, i, end, &quote, &backslashes)
        i = skip_blanks(s, i + character.size, end)
    return False


cdef bint read_string(Work *work, size_t i, size_t end, int depth, const Character *quote, size_t backslashes,
        bint is_escaped, String *found) noexcept nogil:
    """Read the string s[i:], and return whether it ends; if not, it ends with its parameter.

    `is_escaped`: a backslash is before it. If the brackets of JSON are not encoded, "&" and "#" in strings may not be,
    either: then no server reads the parameter as it was meant, but it shows what is secret.

    Of the backslashes before its last quote, half are escaped for each one that a quote in it has more:

        "a\\\\"        0 before the first, and 0, 2, 4 before the last
        \\"a\\\\\\\\\\"    1 before the first, and 1, 5, 9 before the last
    """
    cdef const uint8_t *s = work.s
    cdef size_t at[MOST_BACKSLASHES]        # the last backslashes
    cdef size_t count = 0, next, stop = SIZE_MAX
    cdef Character character, following
    cdef uint8_t after
    found.start = i
    while i < end:
        if IN_STRING.set.member[s[i]]:
            i += kernels.span(s + i, end - i, &IN_STRING.set)
            count = 0
            continue
        character = read_of_json(s + i, end - i)
        if character.byte == c'\\':
            at[count % MOST_BACKSLASHES] = i
            count += 1
            i += character.size
            continue
        next = i + character.size
        if (character.byte == c'"' and character.depth == quote.depth and character.size == quote.size
                and count % (2 * backslashes + 2) == backslashes):
            next = skip_blanks(s, next, end)
            after = c','
            if next < end:
                following = read_of_json(s + next, end - next)
                after = c',' if stop == SIZE_MAX and ends_parameter(&following, depth) else following.byte
            if after == c',' or after == c'}' or after == c']' or after == c':' and stop == SIZE_MAX:
                found.end = at[(count - backslashes) % MOST_BACKSLASHES] if backslashes else i
                found.next = i + character.size
                return True
            next = i + character.size
        elif ends_parameter(&character, depth) and (is_escaped or s[i] != c'\\'):
            stop = min(stop, i)
            if not work.is_raw:
                break
        count = 0
        i = next
    work.no_json = i
    found.end = found.next = min(stop, i)
    return False


cdef size_t end_of_json(Work *work, size_t i, size_t end, int depth) noexcept nogil:
    """Return the end of the value s[i:], which is no string: a container with what is in it, or up to a delimiter."""
    cdef const uint8_t *s = work.s
    cdef Character character, quote
    cdef size_t backslashes, stop
    cdef String string
    cdef uint64_t open = 0
    while i < end:
        character = read_of_json(s + i, end - i)
        if ends_parameter(&character, depth):
            break
        if character.byte == c'{' or character.byte == c'[':
            open += 1
        elif open == 0 and character.byte in (c',', c'}', c']'):
            break
        elif character.byte == c'}' or character.byte == c']':
            open -= 1
            if open == 0:
                return i + character.size
        elif open and (character.byte == c'"' or character.byte == c'\\'):
            stop = open_string(s, i, end, &quote, &backslashes)
            if stop:
                read_string(work, stop, end, depth, &quote, backslashes, s[i] == c'\\', &string)
                i = string.next
                continue
        i += character.size
    return i


cdef size_t redact_member(Work *work, size_t i, size_t end, int depth) noexcept nogil:
    """Redact the value of a member of JSON at s[i], and return its end. The quotes of a string stay."""
    cdef const uint8_t *s = work.s
    cdef Character quote
    cdef size_t backslashes, start
    cdef String string
    i = skip_blanks(s, i, end)
    start = open_string(s, i, end, &quote, &backslashes)
    if start:
        if (not read_string(work, start, end, depth, &quote, backslashes, s[i] == c'\\', &string)
                and work.in_text and string.end == end):
            string.end = trimmed(s, start, start, end)
        put_redacted(work, start, string.end)
        return string.next
    start, i = i, end_of_json(work, i, end, depth)
    if i > start:
        put_redacted(work, start, trimmed(s, start, start + 1, i) if work.in_text and i == end else i)
    return i


cdef void redact_string(Work *work, const String *string, int depth) noexcept nogil:
    """Redact in a string of JSON, which is a URL, or text, or JSON."""
    cdef bint in_text = work.in_text, in_query = work.in_query, is_raw = work.is_raw
    cdef size_t i = string.start, line = work.line, no_json = work.no_json
    if work.level == MOST_LEVELS:
        return
    work.level += 1
    work.in_text = False            # it ends where the string ends
    if begins_json(work.s, i, string.end):
        i = redact_json(work, i, string.end, -1)
    work.no_json = 0                # what is left may have JSON in its parameters
    redact_url(work, i, string.end, False, depth)
    work.level -= 1
    work.in_text, work.in_query, work.is_raw, work.line, work.no_json = in_text, in_query, is_raw, line, no_json


cdef size_t redact_json(Work *work, size_t i, size_t end, int depth) noexcept nogil:
    """Redact in the JSON at s[i], the value of a parameter whose delimiter has this depth; return where the URL goes on."""
    cdef const uint8_t *s = work.s
    cdef Character character, quote
    cdef size_t backslashes, stop, start = i
    cdef String string
    cdef uint64_t open = 0
    start = i = skip_blanks(s, i, end)
    if i < end:
        work.is_raw = read_of_json(s + i, end - i).depth <= depth
    while i < end:
        stop = open_string(s, i, end, &quote, &backslashes)
        if stop:
            if not read_string(work, stop, end, depth, &quote, backslashes, s[i] == c'\\', &string):
                if open == 0 and begins_json(s, stop, end):     # in a string whose end the text around it hides
                    start = i = stop
                    continue
                return stop
            start = i = string.next
            stop, character.byte, character.size = skip_blanks(s, i, end), 0, 0
            if stop < end:
                character = read_of_json(s + stop, end - stop)
            if character.byte != c':':
                redact_string(work, &string, quote.depth)
                if open == 0:
                    return i
                continue
            start = i = stop + character.size
            if not is_other(s + string.start, string.end - string.start, work.how) and is_sensitive(
                    s + string.start, string.end - string.start, max(depth, 0), work.how):
                start = i = redact_member(work, i, end, depth)
            elif work.how.seen != NULL:
                watch(work, string.start, string.end, max(depth, 0))
            continue
        character = read_of_json(s + i, end - i)
        if ends_parameter(&character, depth):
            return i
        i += character.size
        if character.byte == c'{' or character.byte == c'[':
            open += 1
            start = i
        elif character.byte == c'}' or character.byte == c']':
            open -= 1
            start = i
            if open == 0:
                return i
        elif character.byte == c',':
            start = i
        elif not IN_SCALAR.set.member[character.byte]:
            return start        # this is no JSON, or it has ended
    return i


cdef void watch(Work *work, size_t start, size_t end, int depth) noexcept nogil:
    """Remember whether a name that is left is watched."""
    cdef const Options *how = work.how.watched
    if not work.how.seen[0] and not is_other(work.s + start, end - start, how) and is_sensitive(
            work.s + start, end - start, depth, how):
        work.how.seen[0] = True


cdef inline bint may_be_json(const Work *work, size_t i, size_t end) noexcept nogil:
    """Return whether the value at s[i] is read as JSON."""
    cdef int value
    if i >= end or not MAY_BEGIN_JSON.set.member[work.s[i]]:
        return False
    if work.s[i] == c'%':       # most often it begins a letter that is not ASCII
        value = triplet_value(work.s + i, end - i)
        if value < 0 or not MAY_BEGIN_JSON.set.member[value]:
            return False
    return work.how.most and i >= work.no_json and begins_json(work.s, i, end)


cdef size_t redact_url(Work *work, size_t i, size_t end, bint is_name, int most) noexcept nogil:
    """Redact the URL s[i:end]; return its end: `end`, or the end of a line.

    `is_name`: it may begin with a name. `most`: how often its first characters may be percent-encoded.
    """
    if work.how.has_paths or work.how.seen != NULL:
        return redact_url_as(work, i, end, is_name, most, True)
    return redact_url_as(work, i, end, is_name, most, False)


cdef inline size_t redact_url_as(Work *work, size_t i, size_t end, bint is_name, int most, bint is_rare) noexcept nogil:
    """Do what redact_url() does; `is_rare`: paths are looked at, or names are watched. This is compiled for each."""
    cdef const uint8_t *s = work.s
    cdef const Options *how = work.how
    cdef size_t name = i, first = i, next, value
    cdef int depth = 0, depth_of_url
    cdef bint in_path = False, has_slash = False
    cdef Character character
    cdef Slashes slashes
    cdef Path path
    cdef const uc_set *skipped = &SKIPPED.set if how.most else &SKIPPED_PLAIN.set
    path.depth, path.parameter, path.count = most, -1, 0
    if is_rare and how.has_paths:
        skipped = &SKIPPED_BUT_SLASH.set
    work.line = i
    work.in_query = False
    if i < end:
        next = i + 1 if work.in_text and OPENING.set.member[s[i]] else i
        if s[i] != c'=':        # which ends an empty name
            first = name = next
        if next < end and MAY_BE_SLASH.set.member[s[next]]:
            slashes = slashes_at(s, next, end, most)
            if slashes.end:
                i, has_slash = redact_authority(work, slashes, end, slashes.depth, True), True
    while True:
        next = min(end, i + NEAR)
        while i < next and skipped.member[s[i]]:
            i += 1
        if i == next and i < end:
            i += kernels.span(s + i, end - i, skipped)
        if i >= end:
            return end
        character.byte, character.depth, character.size = s[i], 0, 1
        if not IS_LITERAL.set.member[s[i]]:
            character = read_any(s + i, end - i)
        if character.depth > how.most and not (
                is_name and character.byte == c'=' and character.depth <= how.most + depth):
            i += character.size
            continue
        if character.byte == c'=':
            value = i + character.size
            if is_name and name == first:
                # A query without "?", or a path.
                is_name = not has_slash and memchr(s + name, c'/', i - name) == NULL
                work.in_query |= is_name
                path.parameter = 0 if is_name else -1
            if is_name and not is_other(s + name, i - name, how) and is_sensitive(s + name, i - name, depth, how):
                i = end_of_value(work, value, end, min(depth, character.depth), in_path, -1)
                put_redacted(work, value, trimmed(s, value, work.least, i) if work.in_text and work.at_end_of_word else i)
                if i < end and work.in_text and (s[i] == c'\r' or s[i] == c'\n'):
                    return i
                if is_rare and how.has_paths and path.parameter >= 0:
                    path.depth = -1
            else:
                if is_rare and how.seen != NULL and is_name:
                    watch(work, name, i, depth)
                i = value
                if is_rare and how.has_paths and path.parameter >= 0:
                    begin_path(&path, s, i, end, how.most)
                if i < end and MAY_BE_SLASH.set.member[s[i]]:
                    slashes = slashes_at(s, i, end, how.most)
                    if slashes.end and not slashes.has_backslash:
                        i = redact_authority(work, slashes, end, slashes.depth, True)
                        path.depth, path.count = slashes.depth, 0
                if i == value and may_be_json(work, i, end):
                    i = redact_json(work, i, end, min(depth, character.depth))
            is_name = False
            continue
        if character.byte == c'?' or character.byte == c'#' or character.byte == c'&' or character.byte == c';':
            is_name = True
            if not work.in_query and (character.byte == c'&' or character.byte == c';'):
                # A word of text may be no URL.
                has_slash = has_slash or memchr(s + name, c'/', i - name) != NULL
                is_name = has_slash or not work.in_text or how.bare
            if character.byte != c';' and is_name and character.depth == 0:
                work.in_query = True
            in_path = not work.in_query and character.byte == c';'
            name, depth = i + character.size, character.depth
            if is_rare and how.has_paths:
                pass_delimiter(&path, &character, s, name, end, how.most)
            if may_be_json(work, name, end):
                i, is_name = redact_json(work, name, end, depth), False
                continue
        elif character.byte == c':':
            slashes = slashes_at(s, i + character.size, end, how.most)
            if slashes.end:
                depth_of_url = max(character.depth, slashes.depth)
                i = redact_authority(work, slashes, end, depth_of_url, not is_file(s, i))
                path.depth, path.count = depth_of_url, 0
                is_name, has_slash = False, True
                continue
        elif is_rare and character.byte == c'/' and how.has_paths and character.depth <= path.depth:
            i = redact_segment(work, i + character.size, end, &path)
            if i < end and work.in_text and (s[i] == c'\r' or s[i] == c'\n'):
                return i
            continue
        i += character.size


# --- rows and texts ---------------------------------------------------------------------------------------------------

cdef inline size_t finish(Work *work, size_t n) noexcept nogil:
    """Write the rest, and return the size of the result."""
    memcpy(work.dst + work.written, work.s + work.copied, n - work.copied)
    return work.written + n - work.copied


cdef void redact_one(Work *work, size_t n) noexcept nogil:
    """Redact s[:n], which is a URL."""
    work.in_text = False
    work.no_at[0] = work.no_at[1] = work.no_at[2] = 0
    work.no_json, work.level = 0, 0
    redact_url(work, 0, n, True, 0)


cdef void set_active(Work *work, size_t i, size_t stop) noexcept nogil:
    """Set which quotes and brackets are open before s[stop], or before a host, in the word that begins at s[i]."""
    cdef const uint8_t *s = work.s
    cdef uint8_t *active = work.active
    cdef Character character
    active[c"'"] = active[c'`'] = active[c'|'] = active[c')'] = active[c']'] = active[c'}'] = 0
    if i < stop and slashes_at(s, i + OPENING.set.member[s[i]], stop, 0).end:
        stop = i + OPENING.set.member[s[i]]
    while i < stop:
        read_character(s + i, stop - i, &character)
        if s[i] == c'=':
            if begins_reference(s, i + 1, stop, DEEPEST):
                break
        elif character.size > 1 or s[i] == c':':
            if character.byte in (c'?', c'&', c';', c'#') or character.byte == c':' and slashes_at(
                    s, i + character.size, stop, DEEPEST).end:
                break
        elif s[i] == c"'" or s[i] == c'`' or s[i] == c'|':
            active[s[i]] ^= 1
        elif s[i] == c'(':
            active[c')'] = 1
        elif s[i] == c'[' or s[i] == c'{':
            active[s[i] + 2] = 1
        elif opening_of(s[i]):
            active[s[i]] = 0
        i += character.size


# Triggers: characters that show that a word may be a URL. "%" may begin an encoded "://", and a backslash the escape of
# a trigger, if what they stand before fits: "%3A", "%253A", "\\u0040", "\\\\u0040". All bytes are looked at 64 at a time.
cdef enum:
    TRIGGER = 0b111             # the sets of bytes below, by their place
    LEAD = 0b11000
    AFTER_LEAD = 0b1110000
    TRIGGER_OF_BARE = 0b10000111
    WINDOW = 4096               # bytes that are marked at once
    WINDOW_WORDS = WINDOW // 64

cdef uc_classes CLASSES[4]      # of any text; if words may begin with a name; and both if paths are looked at

cdef struct Triggers:
    const uc_classes *classes
    uint64_t marks[4 * WINDOW_WORDS]    # the first bitmap: what may be a trigger
    size_t start, end                   # of the window


cdef void set_classes(uc_classes *classes, uint8_t trigger, bytes first):
    """Set the classes of triggers, of what may begin their spelling, and of the byte after that."""
    cdef int place
    cdef uint8_t byte
    memset(classes, 0, sizeof(uc_classes))
    # The bytes of each set have the same high half.
    for place, text in enumerate((first, b";?", b"@", b"%", b"\\", b"23", b"u", b"=")):
        for byte in text:
            classes.low[byte & 15] |= 1 << place
            classes.high[byte >> 4] |= 1 << place
    classes.mask = [trigger, LEAD, AFTER_LEAD, 0]


set_classes(CLASSES, TRIGGER, b"#&")
set_classes(CLASSES + 1, TRIGGER_OF_BARE, b"#&")
set_classes(CLASSES + 2, TRIGGER, b"#&/")
set_classes(CLASSES + 3, TRIGGER_OF_BARE, b"#&/")


cdef bint is_trigger(const uint8_t *s, size_t n, const uc_classes *classes) noexcept nogil:
    """Return whether an encoded "://", or the escape of a trigger, is at s, which begins with "%" or a backslash."""
    cdef Character character
    read_character(s, n, &character)
    if s[0] == c'%':
        return character.byte == c':' and slashes_at(s, character.size, n, DEEPEST).end
    return classes.low[character.byte & 15] & classes.high[character.byte >> 4] & classes.mask[0]


cdef void mark_triggers(Triggers *found, const uint8_t *s, size_t i, size_t n) noexcept nogil:
    """Mark what may be triggers in a window that begins at s[i]."""
    cdef size_t size = min(n - i, <size_t>WINDOW), words = (size + 63) // 64, w
    cdef uint64_t *marks = found.marks
    kernels.mark_classes(s + i, size, found.classes, marks)
    marks[3 * words] = 1        # what follows the window is not known
    for w in range(words):
        marks[w] |= marks[words + w] & bits_ahead(marks + 2 * words, w, 1)
    found.start, found.end = i, i + size


cdef inline size_t find_trigger(Triggers *found, const uint8_t *s, size_t i, size_t n) noexcept nogil:
    """Return where the next trigger is; n: there is none."""
    cdef size_t w, end
    cdef uint64_t word
    while i < n:
        if i >= found.end:
            mark_triggers(found, s, i, n)
        w, end = (i - found.start) // 64, (found.end - found.start + 63) // 64
        word = found.marks[w] >> (i - found.start) % 64 << (i - found.start) % 64
        while True:
            while word:
                i = found.start + 64 * w + <size_t>uc_lowest_bit(word)
                if s[i] != c'%' and s[i] != c'\\':
                    return i
                # Most escapes of JSON are those of characters beyond ASCII, such as "\\u0434".
                if n - i > 3 and (s[i + 3] == c'0' or s[i + 1] != c'u') and is_trigger(s + i, n - i, found.classes):
                    return i
                word &= word - 1
            w += 1
            if w == end:
                break
            word = found.marks[w]
        i = found.end
    return n


cdef size_t end_of_object(Work *work, size_t least, size_t i, size_t n) noexcept nogil:
    """Return the end of the JSON object that s[i] is the first quote of, in a parameter of a word from s[least] on; 0: it is none.

        GET /?data={"token":"x"} HTTP/1.1       {"url":"/?data={\\"token\\":\\"x\\"}"}
    """
    cdef const uint8_t *s = work.s
    cdef const uint8_t *found
    cdef Character character, quote
    cdef String string
    cdef size_t name, backslashes, spelled, stop, open = 0
    name = i
    while name > least and s[name - 1] == c'\\':
        name -= 1
    backslashes = i - name
    if i < work.no_object or name - least < 2 or s[name - 1] != c'{' or s[name - 2] not in (
            c'=', c'[', c'?', c'&', c'#'):
        return 0
    if i >= work.row_end:
        work.row_end = i + kernels.span(s + i, n - i, &IN_LINE.set)
        if work.terminator >= 0:
            found = <const uint8_t *>memchr(s + i, work.terminator, work.row_end - i)
            if found != NULL:
                work.row_end = <size_t>(found - s)
    n, i, work.is_raw = work.row_end, name - 1, True
    while i < n:
        stop = open_string(s, i, n, &quote, &spelled)
        if stop:
            if spelled != backslashes or not read_string(work, stop, n, -1, &quote, spelled, s[i] == c'\\', &string):
                break
            stop = skip_blanks(s, string.next, n)
            if i == name and (stop >= n or s[stop] != c':'):
                work.no_object = string.next
                return 0
            i = string.next
            continue
        character = read_of_json(s + i, n - i)
        i += character.size
        if character.byte == c'{' or character.byte == c'[':
            open += 1
        elif character.byte == c'}' or character.byte == c']':
            open -= 1
            if open == 0:
                return i
    work.no_object = n
    return 0


cdef void redact_words(Work *work, size_t n, bint joins) noexcept nogil:
    """Redact the URLs in s[:n]. `joins`: "=" at the end of a line joins it to the next (RFC 2045 section 6.7)."""
    cdef const uint8_t *s = work.s
    cdef size_t i = 0, done = 0, start, stop, end = 0
    cdef Triggers triggers
    triggers.classes, triggers.end = CLASSES + work.how.bare + 2 * work.how.has_paths, 0
    work.in_text, work.level, work.no_object, work.row_end = True, 0, 0, 0
    memset(work.active, 0, 256)
    while True:
        i = find_trigger(&triggers, s, i, n)
        if i >= n:
            return
        start = i
        while start > done and IN_WORD.set.member[s[start - 1]]:
            start -= 1
        # The rest of lines of which a URL was only the beginning is not read again: the time is linear.
        if i >= end:
            end = i
            work.no_at[0] = work.no_at[1] = work.no_at[2] = 0
            while True:
                end += kernels.span(s + end, n - end, &IN_WORD.set)
                if end < n and s[end] == c'"' and work.how.most:
                    stop = end_of_object(work, start, end, n)
                    if stop:
                        end = stop
                        continue
                if not joins or end == 0 or s[end - 1] != c'=':
                    break
                if n - end >= 2 and s[end] == c'\r' and s[end + 1] == c'\n':
                    end += 2
                elif n - end >= 1 and s[end] == c'\n':
                    end += 1
                else:
                    break
            work.no_json = 0
        set_active(work, start, i)
        i = done = redact_url(work, start, end, work.how.bare, 0)


cdef inline void set_work(Work *work, const uint8_t *s, const void *options, uint8_t *dst) noexcept nogil:
    work.s, work.how, work.dst, work.written, work.copied = s, <const Options *>options, dst, 0, 0
    work.terminator = -1


cdef size_t url_row(const uint8_t *src, size_t n, const void *options, uint8_t *dst, Outcome *outcome) noexcept nogil:
    cdef Work work
    set_work(&work, src, options, dst)
    redact_one(&work, n)
    return finish(&work, n)


cdef size_t text_row(const uint8_t *src, size_t n, const void *options, uint8_t *dst, Outcome *outcome) noexcept nogil:
    cdef Work work
    set_work(&work, src, options, dst)
    redact_words(&work, n, True)
    return finish(&work, n)


cdef size_t whole_texts(const LineSpan *span, const void *options, uint8_t *dst, size_t *written) noexcept nogil:
    cdef Work work
    if IN_WORD.set.member[span.terminator]:
        return 0
    set_work(&work, span.data, options, dst)
    work.terminator = span.terminator
    redact_words(&work, span.size, span.terminator != c'\n' and span.terminator != c'\r')
    written[0] = finish(&work, span.size)
    return span.size


# A row of these bytes has no pair and no userinfo, and no path.
cdef ByteSet STABLE = ~ByteSet("=@%\\&")
cdef ByteSet STABLE_BUT_SLASH = ~ByteSet("=@%\\&/")


cdef inline bint may_change(const uint8_t *s, size_t n) noexcept nogil:
    """Return whether the byte at s, which is not in STABLE, may belong to a pair or userinfo: of "%", "%3D", "%40" and "%25"."""
    cdef int value
    if s[0] != c'%':
        return True
    value = triplet_value(s, n)
    return value == c'=' or value == c'@' or value == c'%' or value == c'\\'


cdef bint redact_block(Run *run) noexcept nogil:
    cdef uint64_t marks[WORDS]
    cdef const Block *block = run.block
    cdef size_t rows = block.rows, size = block.at[rows], row, i
    kernels.mark_outside(block.data, size, &run.stable, marks)
    while run.done < rows:
        row = run.done
        i = next_mark(marks, block.at[row], size)
        while i < size and not may_change(block.data + i, size - i):
            i = next_mark(marks, i + 1, size)
        while row < rows and block.at[row + 1] <= i:
            row += 1
        if row > run.done:
            pass_rows(run, row)
        if row < rows and not do_row(run):
            return False
    return True


# --- operations -------------------------------------------------------------------------------------------------------


cdef list items_in(str name, object given):
    """Return what the argument `name` of redact() lists, without blanks around it."""
    cdef list found = []
    if isinstance(given, (bytes, bytearray)):
        raise TypeError(f"{name} must be a str or a collection of str, got {given!r}")
    for each in given.split(",") if isinstance(given, str) else given:
        if not isinstance(each, str):
            raise TypeError(f"{name} must be a str or a collection of str, got {each!r} in it")
        found.append(each.strip())
    return found


def names_in(names):
    """Return the names that `names` of redact() means, as they are compared, as UTF-8 (list[bytes]).

    >>> names_in("Token, x-*")
    [b'token', b'x*']
    """
    cdef set found = set()
    for name in items_in("names", names):
        for each in SENSITIVE_NAMES.get(name, (name,)):
            utf8 = each.encode("utf-8", "surrogatepass").lower()
            if not 0 < len(utf8) <= LONGEST_NAME:
                raise ValueError(f"a name must have 1 to {LONGEST_NAME} bytes, got {name!r}")
            if b"*" in utf8.removeprefix(b"*").removesuffix(b"*"):
                raise ValueError(f"a name may have '*' at its ends only, got {name!r}")
            if not utf8.strip(b"*-_.") and utf8 != b"*":
                raise ValueError(f"a name must have a character other than '-', '_', '.' and '*', got {name!r}")
            utf8 = utf8.translate(None, b"-_.")
            found.add(utf8)
    return sorted(found)


def paths_in(paths):
    """Return the patterns that `paths` of redact() means, and whether tokens are meant.

    Returns:
        tuple[list[tuple[bytes, ...]], bool]: The segments of each pattern, of which the last one is empty if a slash
            follows. What a "*" in braces stands for is redacted.

    >>> paths_in("/user/*/reset/{*}, /bot*/, tokens")
    ([(b'bot{*}', b''), (b'user', b'*', b'reset', b'{*}')], True)
    """
    cdef set found = set()
    cdef bint has_tokens = False
    for pattern in items_in("paths", paths):
        if pattern == "tokens":
            has_tokens = True
            continue
        if not pattern.startswith("/"):
            raise ValueError(f"a pattern of paths must be 'tokens' or begin with '/', got {pattern!r}")
        text = pattern.encode("utf-8", "surrogatepass").lower()
        if b"{*}" not in text:
            text = text.replace(b"*", b"{*}")
        segments = text.removesuffix(b"/").removeprefix(b"/").split(b"/")
        if b"{*}" not in text:
            raise ValueError(f"a pattern of paths must have '*' or '{{*}}' where a secret is, got {pattern!r}")
        if len(segments) > MOST_SEGMENTS:
            raise ValueError(f"a pattern of paths must have at most {MOST_SEGMENTS} segments, got {pattern!r}")
        for segment in segments:
            rest = segment.replace(b"{*}", b"*")
            if rest.count(b"*") > 1 or b"{" in rest or b"}" in rest or not 0 < len(rest) <= LONGEST_NAME:
                raise ValueError(
                    f"a segment of a pattern of paths must have 1 to {LONGEST_NAME} bytes, one '*' or '{{*}}', and no "
                    f"other braces, got {pattern!r}")
        if text.endswith(b"/"):
            segments.append(b"")
        found.add(tuple(segments))
    return sorted(found), has_tokens


cdef bytes globs_of(list patterns, list held):
    """Return the PathPattern of each pattern, one after the other; what they refer to is appended to `held`."""
    cdef bytes memory = PyBytes_FromStringAndSize(NULL, <Py_ssize_t>(<size_t>len(patterns) * sizeof(PathPattern))), text
    cdef PathPattern *pattern = <PathPattern *>PyBytes_AS_STRING(memory)
    cdef Glob *glob
    for segments in patterns:
        pattern.has_slash, pattern.count = b"" in segments, 0
        for segment in segments:
            if segment == b"":
                continue
            glob = pattern.glob + pattern.count
            pattern.count += 1
            glob.is_secret, glob.has_star = b"{*}" in segment, b"*" in segment
            before, _, after = segment.replace(b"{*}", b"*").partition(b"*")
            glob.before, glob.after = len(before), len(after)
            text = before + after
            held.append(text)
            glob.text = <const uint8_t *>PyBytes_AS_STRING(text)
        pattern += 1
    return memory


cdef void mark_pairs(const NameSet *names, uint8_t kind, uint8_t *pairs) noexcept:
    """Set this bit of the first two bytes of each name."""
    cdef uint32_t i
    cdef int second
    cdef const QueryName *each
    for i in range(names.first[32]):
        each = names.name + i
        if each.size > 1:
            pairs[pair_of(each.text[0], each.text[1])] |= kind
        else:
            # It may be the second byte of a pair, too.
            for second in range(PAIRS):
                pairs[second] |= kind


cdef int set_listed(Options *how, list names, list held) except -1:
    """Set which names are sensitive, as names_in() returns them; what the sets refer to is appended to `held`."""
    cdef list whole = [], inner = []
    how.all = b"*" in names
    for name in names:
        if name.startswith(b"*") and name != b"*":
            inner.append(name[1:])
        elif name != b"*":
            whole.append(name)
    set_names(&how.whole, whole, True, True, held)
    set_names(&how.inner, inner, True, True, held)
    how.has_inner = len(inner) > 0
    memset(how.pairs, 0, PAIRS)
    mark_pairs(&how.whole, OF_WHOLE, how.pairs)
    mark_pairs(&how.inner, OF_INNER, how.pairs)
    return 0


cdef class RedactRows(RowOperation):
    """Operation that redacts rows, each of which is a URL. No row is invalid.

    Args:
        names (str | Collection[str]): See `redact`.
        nested (bool): See `redact`.
        paths (str | Collection[str]): See `redact`.
        bare (bool): Words of text may begin with a name, such as a query without "?".
        watched (str | Collection[str]): Names of which it is remembered that they were left.
    """
    cdef Options how, watched
    cdef uint8_t seen
    cdef list held              # what the sets and the patterns refer to

    def __cinit__(self, names="default", nested=True, paths=(), bare=False, watched=()):
        cdef bytes globs
        self.how.most, self.how.bare = DEEPEST if nested else 0, bare
        self.held = []
        set_listed(&self.how, names_in(names), self.held)
        if watched:
            set_listed(&self.watched, names_in(watched), self.held)
            self.how.watched, self.how.seen = &self.watched, &self.seen
        self.slots.options, self.slots.block = &self.how, redact_block
        self.slots.strict = SizedRow(url_row, EXPANSION, ENDS_LENGTH)
        patterns, self.how.has_tokens = paths_in(paths)
        globs = globs_of(patterns, self.held)
        self.held.append(globs)
        self.how.paths, self.how.path_count = <const PathPattern *>PyBytes_AS_STRING(globs), len(patterns)
        self.how.has_paths = self.how.has_tokens or self.how.path_count > 0
        self.slots.stable, self.accepts_surrogates = &STABLE.set, True
        if self.how.has_paths:
            self.slots.stable = &STABLE_BUT_SLASH.set

    @property
    def has_seen(self):
        """Whether a name that is watched was left (bool)."""
        return self.seen != 0

    cdef object with_surrogates(self, str text, RowPolicy policy):
        return redacted(text, self)


@cython.final
cdef class RedactTextRows(RedactRows):
    """Operation that redacts the URLs in rows of any text. No row is invalid."""

    def __cinit__(self, names="default", nested=True, paths=(), bare=False, watched=()):
        self.slots.strict.row, self.slots.whole = text_row, whole_texts


# --- single values ----------------------------------------------------------------------------------------------------

cdef tuple NO_PATHS = ()        # the only object that equals it
cdef RedactRows DEFAULT_URLS = RedactRows()
cdef RedactTextRows DEFAULT_TEXTS = RedactTextRows()

cdef enum:
    MOST_KEPT = 64

cdef dict kept = {}     # (class, names, nested, paths) -> RedactRows, the last ones that were used


cdef object as_key(object listed):
    """Return a str or collection as an object that equals another one only if it means the same."""
    return listed if type(listed) is str else str(listed) if isinstance(listed, str) else (
        listed if isinstance(listed, (bytes, bytearray)) else tuple(listed))


cdef RedactRows rows_for(object kind, object names, object nested, object paths):
    """Return the operation with these arguments."""
    cdef RedactRows rows
    cdef tuple key
    names, paths = as_key(names), as_key(paths)
    key = kind, names, bool(nested), paths
    rows = kept.get(key)
    if rows is None:
        rows = kind(names, nested, paths)
        if len(kept) >= MOST_KEPT:
            kept.clear()
        kept[key] = rows
    return rows


cdef object redacted_bytes(const uint8_t *s, size_t n, RedactRows rows, bint text):
    """Return the result, str or bytes; None if nothing changes."""
    cdef uint8_t small[EXPANSION * SMALL + ENDS_LENGTH]
    cdef uint8_t *dst = small
    cdef uint8_t *heap = NULL
    cdef Work work
    cdef size_t size
    if n > SMALL:
        if n > (<size_t>PY_SSIZE_T_MAX - ENDS_LENGTH) // EXPANSION:
            raise OverflowError("the result may exceed the maximum size of an object")  # pragma: no cover: too large
        dst = heap = allocate(EXPANSION * n + ENDS_LENGTH)
    try:
        set_work(&work, s, rows.slots.options, dst)
        if rows.slots.strict.row == url_row:
            redact_one(&work, n)
        else:
            redact_words(&work, n, True)
        if work.copied == 0:
            return None
        size = finish(&work, n)
        return utf8_text(dst, size, NULL) if text else PyBytes_FromStringAndSize(<const char *>dst, <Py_ssize_t>size)
    finally:
        PyMem_RawFree(heap)


cdef object redacted(object input, RedactRows rows):
    cdef uint8_t buffer[UTF8_CAPACITY]
    cdef Bytes source
    cdef bytes utf8
    cdef object result, text = text_of(input)
    if not borrow(text, &source, buffer):
        utf8 = (<str>text).encode("utf-8", "surrogatepass")
        result = redacted_bytes(<const uint8_t *>PyBytes_AS_STRING(utf8), <size_t>PyBytes_GET_SIZE(utf8), rows, False)
        return text if result is None else (<bytes>result).decode("utf-8", "surrogatepass")
    try:
        result = redacted_bytes(source.data, source.size, rows, type(text) is str)
    finally:
        release(&source)
    return text if result is None else result


def redact(uri, names="default", nested=True, paths=()):
    """Return a URL with the values of sensitive query parameters, and its userinfo, replaced by REDACTED.

    Every other byte stays. Any text is accepted: one that is not a URL never raises.

    A name begins after "?", "&", ";" or "#", or with the text, and is compared decoded, without case, "-", "_", "."
    and blanks around it, and so is each part in brackets: `user[password]`. It may be percent-encoded twice, and as
    often again as the URL in which it is. A value ends before "&", "#", or ";" with another pair after it. Delimiters
    may be escaped as in JSON (``\\u0026``) and HTML (``&amp;``).

    Userinfo is everything before the last "@" of an authority, which "/", "?" or "#" ends. If ":" without a number
    precedes that delimiter, the delimiter is a part of the password, which the last "@" of the URL ends.

    A value that begins like JSON is entered: the values of its members are redacted by their names, and the URLs in its
    strings.

    Args:
        uri (str | bytes-like): The URL, or a reference, or a query.
        names (str | Collection[str]): The names of the parameters. "default": those of the OpenTelemetry semantic
            conventions for `url.full`; "extended": also those of OAuth, sessions, passwords and keys, see
            `SENSITIVE_NAMES`. Others are names; "*" at their ends stands for anything, as in "x-amz-*" and "*token*".
            A str may list several, with commas.
        nested (bool): Redact also in a value that is JSON, or a URL itself, percent-encoded once or twice.
        paths (str | Collection[str]): Patterns of paths: what "*" stands for becomes REDACTED in "/bot*/"; if some are in
            braces, these only: "/user/*/reset/{*}". A "*" is at least one character, and ends with its segment.
            Patterns match anywhere in a path, decoded and without case, also in fragments such as "#/reset/x", and in
            values that begin with "/" or are URLs. "tokens": segments that look drawn at random. A str may list
            several, with commas.

    Returns:
        str | bytes: The redacted URL; the userinfo is REDACTED, or REDACTED:REDACTED if it has a colon. Redacting it
            again changes nothing, unless the delimiter that ended an authority, a segment or JSON is redacted.

    Raises:
        TypeError: If a name or a pattern is not a str.
        ValueError: If a name is empty or longer than 255 bytes, consists of "-", "_", "." and "*" (but "*" is every
            name), or has a "*" that is not at one of its ends. If a pattern does not begin with "/", has no "*", more
            than eight segments, an empty segment before its last one, or a segment with two "*" or with other braces.

    Source: OpenTelemetry semantic conventions, attributes `url.full` and `url.query`; RFC 3986 section 3.2.1.

    >>> from uricodec import uri
    >>> uri.redact("https://me:secret@a.example/report?id=7&sig=c2VjcmV0&x=1")
    'https://REDACTED:REDACTED@a.example/report?id=7&sig=REDACTED&x=1'
    >>> uri.redact("/cb?next=https%3A%2F%2Fa.example%2F%3Fcode%3Dsecret", names="extended")
    '/cb?next=https%3A%2F%2Fa.example%2F%3Fcode%3DREDACTED'
    >>> uri.redact("/?q=1;%54oken=secret#x", names=["token"])
    '/?q=1;%54oken=REDACTED#x'
    >>> uri.redact('/?data={"token":"secret","page":2}', names="extended")
    '/?data={"token":"REDACTED","page":2}'
    >>> uri.redact("https://a.example/reset/secret?x=1", paths="/reset/{*}")
    'https://a.example/reset/REDACTED?x=1'
    """
    if type(names) is str and <str>names == "default" and nested is True and paths is NO_PATHS:
        return redacted(uri, DEFAULT_URLS)
    return redacted(uri, rows_for(RedactRows, names, nested, paths))


def redact_text(text, names="default", nested=True, paths=()):
    """Return a text, such as a line of a log, with the URLs in it redacted as `redact` does.

    A URL is what is between white space, double quotes or angle brackets, and has "://", "?", "#", or ";" after a "/";
    pairs alone, such as ``token=1&b=2``, are none. A value also ends before a quote, a bracket or a bar that was opened
    before the URL, an escape of JSON such as "\\n", a space or punctuation beyond ASCII, and final punctuation.

    Args:
        text (str | bytes-like): Any text. In mail, where "=" ends a line (RFC 2045 section 6.7), a value goes on in the next.
        names (str | Collection[str]): See `redact`.
        nested (bool): See `redact`.
        paths (str | Collection[str]): See `redact`. Then words with "/" are URLs, too.

    Returns:
        str | bytes: The redacted text.

    Raises:
        TypeError: If a name or a pattern is not a str.
        ValueError: See `redact`.

    Source: See `redact`.

    >>> from uricodec import uri
    >>> uri.redact_text('"GET /a?sig=c2VjcmV0 HTTP/1.1" (https://me:secret@a.example/?sig=c2VjcmV0).')
    '"GET /a?sig=REDACTED HTTP/1.1" (https://REDACTED:REDACTED@a.example/?sig=REDACTED).'
    """
    if type(names) is str and <str>names == "default" and nested is True and paths is NO_PATHS:
        return redacted(text, DEFAULT_TEXTS)
    return redacted(text, rows_for(RedactTextRows, names, nested, paths))


def redact_lines(lines, RedactTextRows rows not None):
    """Redact lines; their number stays.

    Args:
        lines (bytes-like): Lines that end with newlines.
        rows (RedactTextRows): How.

    Returns:
        memoryview: The lines; `lines` if nothing changes.

    >>> bytes(redact_lines(b"?sig=a\\n/?sig\\n", RedactTextRows()))
    b'?sig=REDACTED\\n/?sig\\n'
    """
    cdef Py_buffer view
    cdef Work work
    cdef uint8_t *dst = NULL
    cdef size_t size = 0
    borrow_bytes(lines, &view)
    try:
        if view.len > (PY_SSIZE_T_MAX - ENDS_LENGTH) // EXPANSION:
            raise OverflowError("the result may exceed the maximum size of an object")  # pragma: no cover: too large
        dst = allocate(EXPANSION * <size_t>view.len + ENDS_LENGTH)
        with nogil:
            set_work(&work, <const uint8_t *>view.buf, rows.slots.options, dst)
            redact_words(&work, <size_t>view.len, False)
            if work.copied:
                size = finish(&work, <size_t>view.len)
        return memoryview((<const char *>dst)[:size] if work.copied else lines)
    finally:
        PyMem_RawFree(dst)
        PyBuffer_Release(&view)


# Functions are pickled by reference: the reference must be their public name.
for function in redact, redact_text:
    function.__module__ = "uricodec.uri"
del function
