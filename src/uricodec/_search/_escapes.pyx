# distutils: extra_compile_args=-O2
r"""Escapes of JSON (RFC 8259 section 7) and character references of HTML, and texts without them.

A text is decoded, searched, and what is found is mapped back to the offsets of the original:

    text        {"a":"http:\/\/a.example\/?b\u0026c"}
    decoded     {"a":"http://a.example/?b&c"}

Decoding never makes a text longer, but for two character references of 2,231. A text without escapes is searched as it
is. What looks like an escape, but has not its form, stands for itself. Neither kind of escape contains a byte that ends plain
URLs, but the backslash and the semicolon, so a text may be cut wherever plain text may be.
"""
from libc.stdint cimport uint8_t, uint16_t, uint32_t
from libc.string cimport memchr, memcmp, memcpy

from uricodec._base._atomic cimport uc_publish16, uc_read16
from uricodec._base._kernels cimport ByteSet, kernels
from uricodec._base._text cimport *
from uricodec._codec._percent cimport hex_value

from cpython.buffer cimport PyBuffer_Release


cdef enum:
    NAMES = 2500            # capacity for the named references
    LONGEST_NAME = 31
    LONGEST_ESCAPE = 40     # of what counts as one: no named reference, and no number that means something, is longer
    INCOMPLETE = 0          # the size of an escape that what follows decides


# --- JSON -------------------------------------------------------------------------------------------------------------

# char = unescaped / escape ( %x22 / %x5C / %x2F / b / f / n / r / t / %x75 4HEXDIG )
cdef uint8_t SIMPLE[256]
cdef int number
for number in range(256):
    SIMPLE[number] = 0
for number, byte in zip(b'"\\/bfnrt', b'"\\/\b\f\n\r\t', strict=True):
    SIMPLE[number] = byte


cdef inline size_t put_character(uint32_t c, uint8_t *dst) noexcept nogil:
    """Write a character in UTF-8, at most 4 bytes; for a surrogate, a byte that is not UTF-8 and so ends a URL."""
    if 0xD800 <= c <= 0xDFFF:
        dst[0] = 0xFF
        return 1
    return write_character(c, dst)


cdef inline int read_unit(const uint8_t *s, size_t n, size_t i) noexcept nogil:
    r"""Return the number in \uXXXX at i; -1 if there is none, -2 if what follows the text decides."""
    cdef int unit = 0, digit
    cdef size_t k
    for k in range(6):
        if i + k == n:
            return -2
        if k < 2:
            if s[i + k] != (c'u' if k else c'\\'):
                return -1
            continue
        digit = hex_value(s[i + k])
        if digit < 0:
            return -1
        unit = unit << 4 | digit
    return unit


cdef inline size_t read_json(const uint8_t *s, size_t n, uint8_t *dst, size_t *size) noexcept nogil:
    """Decode the escape that begins with s[0]; return its length, and in `size` that of what was written."""
    cdef int unit, low
    if n == 1:
        return INCOMPLETE
    if SIMPLE[s[1]]:
        dst[0], size[0] = SIMPLE[s[1]], 1
        return 2
    unit = read_unit(s, n, 0)
    if unit == -2:
        return INCOMPLETE
    if unit == -1:
        dst[0], size[0] = s[0], 1
        return 1
    if 0xD800 <= unit < 0xDC00:
        low = read_unit(s, n, 6)
        if low == -2:
            return INCOMPLETE
        if 0xDC00 <= low < 0xE000:
            size[0] = put_character(<uint32_t>(0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00)), dst)
            return 12
    size[0] = put_character(<uint32_t>unit, dst)
    return 6


# --- HTML -------------------------------------------------------------------------------------------------------------

# A named reference: its name without ";", what it stands for, and whether it needs no ";" (HTML section 13.5).
cdef struct Entity:
    uint8_t name[LONGEST_NAME]
    uint8_t name_size
    uint8_t value[LONGEST_VALUE]
    uint8_t size
    bint bare

cdef Entity ENTITIES[NAMES]     # ascending
cdef uint16_t entities = 0      # their number, published once all are there


cdef int load_entities() except -1:
    """Fill ENTITIES. Threads that do so at the same time write the same."""
    cdef uint16_t count = 0
    cdef Entity *entity
    cdef bytes name, value
    from html.entities import html5
    for name in sorted(name.removesuffix(";").encode() for name in html5 if name.endswith(";")):
        entity, value = &ENTITIES[count], html5[name.decode() + ";"].encode()
        if count == NAMES or len(name) > LONGEST_NAME or len(value) > LONGEST_VALUE:
            break  # pragma: no cover: the list of the standard is final
        memcpy(entity.name, <const char *>name, <size_t>len(name))
        memcpy(entity.value, <const char *>value, <size_t>len(value))
        entity.name_size, entity.size = <uint8_t>len(name), <uint8_t>len(value)
        entity.bare = name.decode() in html5
        count += 1
    uc_publish16(&entities, count)
    return 0


# What the numbers 0x80 to 0x9F stand for (HTML section 13.2.5.80): windows-1252, where it has a character.
cdef uint32_t WINDOWS[32]
for number in range(32):
    WINDOWS[number] = ord(bytes([128 + number]).decode("cp1252", "replace"))
    if WINDOWS[number] == 0xFFFD:
        WINDOWS[number] = <uint32_t>(128 + number)


cdef const Entity *find_entity(const uint8_t *name, size_t n) noexcept nogil:
    cdef int low = 0, high = entities, middle, order
    cdef size_t size
    while low < high:
        middle = (low + high) // 2
        size = ENTITIES[middle].name_size
        order = memcmp(name, ENTITIES[middle].name, min(n, size))
        if order == 0 and n == size:
            return &ENTITIES[middle]
        if order < 0 or order == 0 and n < size:
            high = middle
        else:
            low = middle + 1
    return NULL


cdef inline bint is_alphanumeric(uint8_t byte) noexcept nogil:
    return c'0' <= byte <= c'9' or c'a' <= byte | 0x20 <= c'z'


cdef size_t read_number(const uint8_t *s, size_t n, uint8_t *dst, size_t *size) noexcept nogil:
    """Do what read_html() does for a reference that begins with "&#"."""
    cdef size_t i = 2, start
    cdef uint32_t c = 0, base = 10
    cdef int digit
    if i < n and s[i] | 0x20 == c'x':
        base, i = 16, 3
    start = i
    while i < n and i < LONGEST_ESCAPE:
        digit = hex_value(s[i])
        if digit < 0 or digit >= <int>base:
            break
        c = min(c * base + <uint32_t>digit, <uint32_t>0x110000)
        i += 1
    if i == n:
        return INCOMPLETE
    if i == start or i == LONGEST_ESCAPE:
        dst[0], size[0] = s[0], 1
        return 1
    if 0x80 <= c < 0xA0:
        c = WINDOWS[c - 0x80]
    elif c == 0 or c > 0x10FFFF:
        c = 0xFFFD
    size[0] = put_character(c, dst)
    return i + (s[i] == c';')


cdef inline size_t read_html(const uint8_t *s, size_t n, uint8_t *dst, size_t *size) noexcept nogil:
    """Decode the reference that begins with s[0]; return its length, and in `size` that of what was written.

    As in attributes: a name without ";" before "=" or a letter is none, so &copy=1 stays as it is.
    """
    cdef size_t i = 1
    cdef const Entity *found
    if n >= 5 and memcmp(s, b"&amp;", 5) == 0:
        dst[0], size[0] = c'&', 1
        return 5
    if n > 1 and s[1] == c'#':
        return read_number(s, n, dst, size)
    while i < n and i <= LONGEST_NAME and is_alphanumeric(s[i]):
        i += 1
    if i == n:
        return INCOMPLETE
    found = find_entity(s + 1, i - 1) if i > 1 and not is_alphanumeric(s[i]) else NULL
    if found == NULL or s[i] != c';' and (not found.bare or s[i] == c'='):
        dst[0], size[0] = s[0], 1
        return 1
    memcpy(dst, found.value, found.size)
    size[0] = found.size
    return i + (s[i] == c';')


# --- delimiters -------------------------------------------------------------------------------------------------------

# HTML: <a href="http://a.example/?b=&quot;c&quot;">. JSON: {"a":"http://a.example/?b=\"c\""}. Where such a URL ends is
# decided by the quotes that are not escaped. {"a":"<a href=\"http://a.example/b\">"} has a URL between escaped ones.
cdef uint8_t MARKED[256]
for number in range(256):
    MARKED[number] = <uint8_t>number
for number, byte in zip(b"\"'<>", (ESCAPED_QUOTE, ESCAPED_APOSTROPHE, ESCAPED_LESS, ESCAPED_GREATER), strict=True):
    MARKED[number] = byte
del byte


# --- texts ------------------------------------------------------------------------------------------------------------

cdef inline size_t read_escape(Content content, const uint8_t *s, size_t n, bint last, bint marks, uint8_t *dst,
                               size_t *size) noexcept nogil:
    """Decode what begins with s[0], the first byte of escapes. Return INCOMPLETE only if the text is not the last part.

    marks: Whether a delimiter that was escaped becomes another byte.
    """
    cdef uint8_t more[LONGEST_ESCAPE + 1]
    cdef size_t read = read_json(s, n, dst, size) if content == JSON else read_html(s, n, dst, size)
    if read == INCOMPLETE and last:
        # A reference may end with the text; an escape of JSON is then none.
        memcpy(more, s, n)
        more[n] = c' '
        read = read_json(more, n + 1, dst, size) if content == JSON else read_html(more, n + 1, dst, size)
        if read == INCOMPLETE:
            dst[0], size[0] = s[0], 1
            read = 1
    if marks and read > 1 and size[0] == 1:
        dst[0] = MARKED[dst[0]]
    return read


cdef inline uint8_t first_of(Content content) noexcept nogil:
    """Return the byte that begins escapes."""
    return c'\\' if content == JSON else c'&'


cdef size_t decode(Content content, const uint8_t *s, size_t n, bint last, bint marks, uint8_t *dst,
                   size_t *read) noexcept nogil:
    """Decode a text, but for an escape at its end that what follows decides; `read` is where that begins.

    `dst` has decoded_size(n) bytes. Return how many were written.
    """
    cdef size_t i = 0, o = 0, size
    cdef uint8_t first = first_of(content)
    cdef const uint8_t *found
    while i < n:
        found = <const uint8_t *>memchr(s + i, first, n - i)
        size = n - i if found == NULL else <size_t>(found - s) - i
        memcpy(dst + o, s + i, size)
        o += size
        i += size
        while i < n and s[i] == first:
            read[0] = read_escape(content, s + i, n - i, last, marks, dst + o, &size)
            if read[0] == INCOMPLETE:
                read[0] = i
                return o
            i += read[0]
            o += size
    read[0] = n
    return o


cdef inline size_t decoded_size(size_t n) noexcept nogil:
    """Return the most bytes of a decoded text: &nGt; and &nLt; have 5 bytes, and become 6."""
    return n + n // 5 + 8


cdef size_t original(Content content, const uint8_t *s, size_t n, bint last, size_t decoded, DecodedPlace *place) noexcept nogil:
    """Return where a byte of the decoded text comes from; `place` is before it, and moves there."""
    cdef size_t size, read
    cdef uint8_t written[LONGEST_VALUE]
    cdef uint8_t first = first_of(content)
    cdef const uint8_t *found
    while place.decoded < decoded and place.at < n:
        size = min(decoded - place.decoded, n - place.at)       # so that no byte is read twice
        found = <const uint8_t *>memchr(s + place.at, first, size)
        if found != NULL:
            size = <size_t>(found - s) - place.at
        place.at += size
        place.decoded += size
        if found == NULL:
            break
        read = read_escape(content, s + place.at, n - place.at, last, True, written, &size)
        if read == INCOMPLETE or size > decoded - place.decoded:
            break
        place.at += read
        place.decoded += size
    return place.at


cdef ByteSet BUT_MARKS = ~ByteSet([ESCAPED_QUOTE, ESCAPED_APOSTROPHE, ESCAPED_LESS, ESCAPED_GREATER])


cdef Content content_of_name(str name) except? PLAIN:
    if name == "plain":
        return PLAIN
    if name not in ("json", "html"):
        raise ValueError(f"unknown content {name!r}; choose from plain, json, html, auto")
    if name == "json":
        return JSON
    if uc_read16(&entities) == 0:
        load_entities()
    return HTML


cdef int decode_text(DecodedText *text) except -1:
    if text.n == 0 or memchr(text.src, first_of(text.content), text.n) == NULL:
        return 0
    try:
        text.data = text.memory = allocate(decoded_size(text.n))
    except MemoryError:  # pragma: no cover: no memory
        PyBuffer_Release(&text.view)
        raise
    with nogil:
        text.size = decode(text.content, text.src, text.n, text.last, True, text.memory, &text.read)
    return 0


cdef void locate_decoded(DecodedText *text, size_t start, size_t stop, Match *match) noexcept nogil:
    cdef size_t read
    match.start, match.stop = original_of(text, start), original_of(text, stop)
    match.data, match.size = text.data + start, stop - start
    if kernels.span(match.data, match.size, &BUT_MARKS.set) < match.size:
        match.size = decode(text.content, text.src + match.start, match.stop - match.start, True, False,
                            text.memory + start, &read)
