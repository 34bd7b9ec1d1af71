"""Classes of path segments, and paths with the class of each segment that has one.

A segment is percent-decoded, and its file extension is set apart. What is left, the stem, decides alone: no other
segment, no other URL. The classes, in their order; all of them are ASCII:

    {email}     local part and domain, of the whole segment     jo.doe%40example.org
    {int}       digits                                          1234.html
    {uuid}      8-4-4-4-12 hexadecimal digits                   0192aa6e-7b1c-7cc0-8d3f-1b2c3d4e5f60
    {date}      a year, a month, a day                          2024-10-21
    {hex}       hexadecimal digits, with a letter and a digit:  5f4dcc3b5aa765d61d8327deb882cf99.min.js
                at least 12, or an even number from 8 on
    {token}     what looks drawn at random                      V1StGXR8_Z5jdHi6B-myT

An extension is "." and a letter with up to four letters and digits, or six to eight letters; a stem may have two. The
domain of an email has two labels or more, the last one of letters, and begins neither with a version nor with a scale, as
in "vue@3.4.js" and "logo@2x.png".

A token has at least 16 bytes of [A-Za-z0-9_.~=:+-] and a digit among them. How random it looks is how often the kind of
its bytes changes. A turn is a digit beside a letter, or an upper-case letter after a lower-case one, unless a word ends
between them: the lower-case letters before it, with the upper-case one that they follow, if these are three or more and
have a vowel. A run is a sequence of letters and digits. There must be

    a turn for each 7 bytes, and a run of 10 bytes, or
    a turn for each 4 bytes, and a run of 7 bytes.

    V1StGXR8_Z5jdHi6B-myT       V|1|St|GXR|8_Z|5|jd|Hi|6|B-my|T     10 turns, 21 bytes, a run of 8: a token
    getTop10ByTopicId           getTop|10|By|TopicId                3 turns, 17 bytes, a run of 17: a token
    BidContainerPopUp2          BidContainerPopUp|2                 1 turn, 18 bytes: none
    F-16_fighters_of_the_1980s  F-16_fighters_of_the_1980|s         1 turn, 26 bytes: none
"""
from libc.stdint cimport uint8_t
from libc.string cimport memchr, memcmp, memcpy, memmove

from uricodec._base._kernels cimport ALL_BYTES, ByteSet, kernels, lower, uc_set
from uricodec._codec._percent cimport triplet_value
from uricodec._url._queries cimport size_until


cdef list CLASS_NAMES = [b"", b"{int}", b"{uuid}", b"{date}", b"{hex}", b"{email}", b"{token}"]
cdef int each
for each in range(<int>CLASSES):
    CLASS_TEXT[each] = <const uint8_t *><const char *>(<bytes>CLASS_NAMES[each])
    CLASS_SIZE[each] = <size_t>len(CLASS_NAMES[each])


# What a byte is. Letters of HEX_LETTER and VOWEL have that of their case, too.
cdef enum:
    DIGIT = 1
    LOWER = 2
    UPPER = 4
    HEX_LETTER = 8
    VOWEL = 16
    MARK = 32           # another byte of a token
    LETTER = LOWER | UPPER
    WORD = LETTER | DIGIT

cdef uint8_t KIND[256]


def _fill_kinds():
    cdef int c
    for c in range(256):
        if c'0' <= c <= c'9':
            KIND[c] = DIGIT
        elif c'a' <= lower(<uint8_t>c) <= c'z':
            KIND[c] = LOWER if c >= c'a' else UPPER
            if lower(<uint8_t>c) <= c'f':
                KIND[c] |= HEX_LETTER
            if lower(<uint8_t>c) in b"aeiouy":
                KIND[c] |= VOWEL
        elif c in b"_.~=:+-":
            KIND[c] = MARK


_fill_kinds()
del _fill_kinds


# --- extensions -------------------------------------------------------------------------------------------------------

cdef enum:
    EXTENSION = 8       # bytes of an extension, without its dot: at most so many letters,
    MIXED = 5           # or letters and digits


cdef inline size_t without_extension(const uint8_t *s, size_t n) noexcept nogil:
    """Return the size of a segment without its extension; n if it has none, or nothing else."""
    cdef size_t i = n, size
    cdef uint8_t kinds = 0
    while i and n - i <= EXTENSION and KIND[s[i - 1]] & WORD:
        i -= 1
        kinds |= KIND[s[i]]
    size = n - i
    if i < 2 or s[i - 1] != c'.' or size == 0 or size > EXTENSION or not KIND[s[i]] & LETTER:
        return n
    return i - 1 if size <= MIXED or not kinds & DIGIT else n


cdef inline size_t stem_size(const uint8_t *s, size_t n) noexcept nogil:
    """Return the size of a segment without its extensions, at most two."""
    cdef size_t shorter = without_extension(s, n)
    return without_extension(s, shorter) if shorter < n else n


# --- classes ----------------------------------------------------------------------------------------------------------

cdef enum:
    UUID_SIZE = 36
    SHORTEST_TOKEN = 16


cdef inline bint is_uuid(const uint8_t *s) noexcept nogil:
    """Return whether UUID_SIZE bytes are a UUID."""
    cdef size_t i
    for i in range(UUID_SIZE):
        if i == 8 or i == 13 or i == 18 or i == 23:
            if s[i] != c'-':
                return False
        elif not KIND[s[i]] & (DIGIT | HEX_LETTER):
            return False
    return True


cdef inline bint is_date(const uint8_t *s) noexcept nogil:
    """Return whether 10 bytes are a date."""
    cdef size_t i
    cdef int month, day
    for i in range(10):
        if not KIND[s[i]] & DIGIT and (s[i] != c'-' or i != 4 and i != 7):
            return False
    month, day = 10 * (s[5] - c'0') + s[6] - c'0', 10 * (s[8] - c'0') + s[9] - c'0'
    return s[4] == c'-' and s[7] == c'-' and 1 <= month <= 12 and 1 <= day <= 31


cdef bint is_token(const uint8_t *s, size_t n) noexcept nogil:
    """Return whether at least SHORTEST_TOKEN bytes, among them a digit, are a token."""
    cdef size_t i, turns = 0, run = 0, longest = 0
    cdef size_t word = 0        # letters of the word so far
    cdef uint8_t kind, last = 0, vowel = 0
    for i in range(n):
        kind = KIND[s[i]]
        if kind & LOWER:
            turns += last & DIGIT
            if not last & LETTER:
                word, vowel = 0, 0
            word += 1
            vowel |= kind
        elif kind & UPPER:
            if last & DIGIT or last & LOWER and (word < 3 or not vowel & VOWEL):
                turns += 1
            word, vowel = 1, kind
        elif kind & DIGIT:
            turns += (last & LETTER) != 0
        elif not kind:
            return False
        run = run + 1 if kind & WORD else 0
        longest = max(longest, run)
        last = kind
    return 7 * turns >= n and longest >= 10 or 4 * turns >= n and longest >= 7


cdef inline bint begins_like_a_version(const uint8_t *s, size_t n) noexcept nogil:
    """Return whether a domain begins with a number and then "x." or another number: "2x.png", "3.4.js"."""
    cdef size_t i = 0
    while i < n and KIND[s[i]] & DIGIT:
        i += 1
    return i > 0 and n - i >= 2 and (s[i] == c'x' and s[i + 1] == c'.' or s[i] == c'.' and KIND[s[i + 1]] & DIGIT)


cdef bint is_email(const uint8_t *s, size_t n, size_t at) noexcept nogil:
    """Return whether a segment with an "@" at an offset is the address of an email."""
    cdef size_t i, label = 0, labels = 0
    cdef uint8_t kinds = 0
    if not 1 <= at <= 64:
        return False
    for i in range(at):
        if not KIND[s[i]] & WORD and memchr(b".!#$%&'*+-=?^_`|~", s[i], 17) == NULL:
            return False
    s += at + 1
    n -= at + 1
    if begins_like_a_version(s, n):
        return False
    for i in range(n):
        if s[i] == c'.':
            if label == 0:
                return False
            label, kinds = 0, 0
            labels += 1
        elif KIND[s[i]] & WORD or s[i] == c'-':
            kinds |= KIND[s[i]]
            label += 1
        else:
            return False
    return labels >= 1 and label >= 2 and not kinds & (DIGIT | MARK)


cdef SegmentClass segment_class(const uint8_t *s, size_t n, size_t *stem) noexcept nogil:
    cdef size_t i, digits = 0, hex_letters = 0, upper = 0
    cdef const uint8_t *at = <const uint8_t *>memchr(s, c'@', n)
    if at != NULL:
        stem[0] = n
        return EMAIL if is_email(s, n, <size_t>(at - s)) else NO_CLASS
    n = stem[0] = stem_size(s, n)
    for i in range(n):      # comparisons, so that the C compiler counts many bytes at once
        digits += <uint8_t>(s[i] - c'0') < 10
        hex_letters += <uint8_t>((s[i] | 0x20) - c'a') < 6
        upper += <uint8_t>(s[i] - c'A') < 26
    if n == UUID_SIZE and is_uuid(s):
        return UUID
    if digits == 0:
        return NO_CLASS
    if digits == n:
        return INT
    if digits + hex_letters == n:
        return HEX if n >= 12 or n >= 8 and n % 2 == 0 else NO_CLASS
    if n == 10 and is_date(s):
        return DATE
    # Each digit is part of two turns at most, each upper-case letter of one.
    return TOKEN if n >= SHORTEST_TOKEN and 7 * (2 * digits + upper) >= n and is_token(s, n) else NO_CLASS


# --- paths ------------------------------------------------------------------------------------------------------------

# Segments without these bytes have no class, unless they are a UUID of letters only.
cdef ByteSet IN_NO_CLASS = ALL_BYTES - "0123456789@%"
cdef ByteSet IN_NO_CLASS_IF_DECODED = IN_NO_CLASS | "%"

cdef size_t decode_segment(const uint8_t *s, size_t n, size_t i, uint8_t *dst) noexcept nogil:
    """Decode a segment, whose first "%" is at i, and return its size; 0 if a triplet is of a byte that no class has."""
    cdef size_t o = i
    cdef int c = triplet_value(s + i, n - i)
    if 0 <= c <= 0x20 or c >= 0x7F:     # most triplets
        return 0
    memmove(dst, s, i)
    while i < n:
        dst[o] = s[i]
        if s[i] == c'%':
            c = triplet_value(s + i, n - i)
            if 0 <= c <= 0x20 or c >= 0x7F:
                return 0
            if c >= 0:
                dst[o] = <uint8_t>c
                i += 2
        i += 1
        o += 1
    return o


cdef inline bint has_class_text(const uint8_t *s, size_t n) noexcept nogil:
    """Return whether a segment is the text of a class, and perhaps an extension."""
    cdef size_t stem
    cdef int i
    if s[0] == c'{':
        stem = stem_size(s, n)
        for i in range(<int>INT, <int>CLASSES):
            if stem == CLASS_SIZE[i] and memcmp(s, CLASS_TEXT[i], stem) == 0:
                return True
    return False


cdef size_t write_class(const uint8_t *s, size_t n, size_t sign, bint is_decoded, uint8_t *dst) noexcept nogil:
    """Write the class of a segment, and its extension; nothing if it has none. `sign`: where the first byte of a class may be.

    Some bytes at dst are overwritten in any case.
    """
    cdef size_t size = n, stem, percent = n if is_decoded else sign + size_until(s + sign, n - sign, c'%')
    cdef SegmentClass found
    if percent < n:
        size = decode_segment(s, n, percent, dst)
        # A level may encode braces: then "{int}" is "%7Bint%7D" the next time.
        if size == 0 or has_class_text(dst, size):
            return size
        s = dst
    found = segment_class(s, size, &stem)
    if found == NO_CLASS:
        return 0
    size -= stem
    memmove(dst + CLASS_SIZE[<int>found], s + stem, size)
    memcpy(dst, CLASS_TEXT[<int>found], CLASS_SIZE[<int>found])
    return CLASS_SIZE[<int>found] + size


cdef inline size_t find_uuid(const uint8_t *path, size_t i, size_t n, size_t sign) noexcept nogil:
    """Return where the first segment before a sign begins that is as long as a UUID; the sign if there is none."""
    cdef size_t end
    while sign - i >= UUID_SIZE:
        end = i + size_until(path + i, n - i, c'/')
        if end - i == UUID_SIZE:
            return i
        i = end + 1
        if end >= sign:
            break
    return sign


cdef size_t write_shape(const uint8_t *path, size_t n, bint is_decoded, uint8_t *dst) noexcept nogil:
    cdef const uc_set *others = &IN_NO_CLASS_IF_DECODED.set if is_decoded else &IN_NO_CLASS.set
    cdef size_t copied = 0, o = 0, start, end, size
    cdef size_t i = 0           # where a segment begins, or the "/" before it
    cdef size_t sign = 0        # where the next byte is without which segments have no class, unless they are a UUID
    while i < n:
        if sign <= i:
            sign = i + kernels.span(path + i, n - i, others)
        start = sign
        if sign - i >= UUID_SIZE:
            start = find_uuid(path, i + (path[i] == c'/'), n, sign)
        if start == n:
            break
        while start > i and path[start - 1] != c'/':
            start -= 1
        end = start + size_until(path + start, n - start, c'/')
        size = write_class(path + start, end - start, min(sign, end) - start, is_decoded, dst + o + start - copied)
        if size:
            memmove(dst + o, path + copied, start - copied)
            o += start - copied + size
            copied = end
        i = end
    memmove(dst + o, path + copied, n - copied)
    return o + n - copied


def class_of(bytes segment not None):
    """Return the class of a percent-decoded segment, None for none, and the size of its stem.

    >>> class_of(b"1234.html"), class_of(b"index.html")
    (('int', 4), (None, 5))
    """
    cdef size_t stem
    cdef int found = segment_class(<const uint8_t *><const char *>segment, <size_t>len(segment), &stem)
    return (CLASS_NAMES[found].decode().strip("{}") or None), stem
