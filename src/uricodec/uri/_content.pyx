# distutils: extra_compile_args=-O2
r"""URLs in text with escapes: JSON (RFC 8259 section 7) and HTML (character references).

The text is decoded, the result searched as plain text, and what is found mapped back to the offsets of the original:

    text        {"a":"http:\/\/a.example\/?b\u0026c"}
    decoded     {"a":"http://a.example/?b&c"}

Decoding never makes a text longer, but for two character references of 2,231. A text without escapes is searched as it
is. What looks like an escape, but has not its form, stands for itself. Neither kind of escape contains a byte that ends plain
URLs, but the backslash and the semicolon, so a text may be cut wherever plain text may be.
"""
cimport cython
from libc.stdint cimport uint8_t, uint32_t
from libc.string cimport memchr, memcmp, memcpy

from uricodec._base._kernels cimport ByteSet, kernels
from uricodec._base._matches cimport FOUND, MatchLines, lines_in, write_match
from uricodec._base._text cimport *
from uricodec._codec._percent cimport hex_value
from uricodec.uri._components cimport (
    ESCAPED_APOSTROPHE, ESCAPED_GREATER, ESCAPED_LESS, ESCAPED_QUOTE, closing, scan_urls,
)

from cpython.buffer cimport PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytes cimport PyBytes_FromStringAndSize

from html.entities import html5


cdef enum Content:
    JSON
    HTML

cdef enum:
    NAMES = 2500            # capacity for the named references
    LONGEST_NAME = 31
    LONGEST_VALUE = 8
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
cdef int entities = 0


cdef int add_entity(bytes name, bytes value, bint bare) except -1:
    global entities
    cdef Entity *entity = &ENTITIES[entities]
    if entities == NAMES or len(name) > LONGEST_NAME or len(value) > LONGEST_VALUE:
        return 0  # pragma: no cover: the list of the standard is final
    memcpy(entity.name, <const char *>name, <size_t>len(name))
    memcpy(entity.value, <const char *>value, <size_t>len(value))
    entity.name_size, entity.size = <uint8_t>len(name), <uint8_t>len(value)
    entity.bare = bare
    entities += 1
    return 0


for name in sorted(name.removesuffix(";") for name in html5 if name.endswith(";")):
    add_entity(name.encode(), html5[name + ";"].encode(), name in html5)
del html5, name

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


cdef size_t decode(Content content, const uint8_t *s, size_t n, bint last, bint marks, uint8_t *dst,
                   size_t *read) noexcept nogil:
    """Decode a text, but for an escape at its end that what follows decides; `read` is where that begins.

    `dst` has decoded_size(n) bytes. Return how many were written.
    """
    cdef size_t i = 0, o = 0, size
    cdef uint8_t first = c'\\' if content == JSON else c'&'
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


# A place in a text, and in the decoded text.
cdef struct DecodedPlace:
    size_t at
    size_t decoded


cdef size_t original(Content content, const uint8_t *s, size_t n, bint last, size_t decoded, DecodedPlace *place) noexcept nogil:
    """Return where a byte of the decoded text comes from; `place` is before it, and moves there."""
    cdef size_t size, read
    cdef uint8_t written[LONGEST_VALUE]
    cdef uint8_t first = c'\\' if content == JSON else c'&'
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


# A URL: where it is in the text, and its bytes.
cdef struct Match:
    size_t start
    size_t stop
    const uint8_t *data
    size_t size

cdef ByteSet NO_MARK = ~ByteSet([ESCAPED_QUOTE, ESCAPED_APOSTROPHE, ESCAPED_LESS, ESCAPED_GREATER])


@cython.final
cdef class Decoded:
    """A text, decoded in memory."""
    cdef Content content
    cdef Py_buffer view
    cdef const uint8_t *src
    cdef size_t n               # of src
    cdef const uint8_t *data
    cdef size_t size            # of data
    cdef size_t read            # how much of src has been decoded
    cdef uint8_t *memory        # NULL: the text has no escapes, and is its own data
    cdef bint last
    cdef DecodedPlace place

    def __cinit__(self, str content, object buffer, bint last):
        if content not in ("json", "html"):
            raise ValueError(f"unknown content {content!r}; choose from plain, json, html, auto")
        self.content = JSON if content == "json" else HTML
        self.memory = NULL
        self.last = last
        self.place.at = self.place.decoded = 0
        borrow_bytes(buffer, &self.view)
        self.src, self.n = <const uint8_t *>self.view.buf, <size_t>self.view.len
        self.data, self.size, self.read = self.src, self.n, self.n
        if self.n and memchr(self.src, c'\\' if self.content == JSON else c'&', self.n) != NULL:
            self.memory = allocate(decoded_size(self.n))
            self.data = self.memory
            with nogil:
                self.size = decode(self.content, self.src, self.n, last, True, self.memory, &self.read)

    def __dealloc__(self):
        PyMem_RawFree(self.memory)
        PyBuffer_Release(&self.view)

    cdef inline size_t original(self, size_t decoded) noexcept nogil:
        """Return the offset in the text; ask in ascending order."""
        if self.memory == NULL:
            return decoded
        return original(self.content, self.src, self.n, self.last, decoded, &self.place)

    cdef inline void locate(self, size_t begin, size_t stop, Match *match) noexcept nogil:
        """Find the original of data[begin:stop], which has been searched; no delimiter in it is marked any more."""
        cdef size_t read
        match.start, match.stop = self.original(begin), self.original(stop)
        match.data, match.size = self.data + begin, stop - begin
        if self.memory != NULL and kernels.span(match.data, match.size, &NO_MARK.set) < match.size:
            match.size = decode(self.content, self.src + match.start, match.stop - match.start, True, False,
                                self.memory + begin, &read)


def find_part(str content, buffer, size_t longest, bint last):
    r"""Find the URLs in a part of a text with escapes, as `_components.find_part` does without.

    Args:
        content (str): "json" or "html".
        buffer, longest, last: See `_components.find_part`; `longest` is a number of decoded bytes.

    Returns:
        tuple[list[tuple[int, int]], list[bytes], int]: Where the URLs are, the decoded URLs, and where the next part
            begins.

    >>> find_part("json", rb'"http:\/\/a.example\/?b\u0026c" ', 1000, True)
    ([(1, 30)], [b'http://a.example/?b&c'], 32)
    """
    cdef Decoded text = Decoded(content, buffer, last)
    cdef size_t spans[2 * FOUND]
    cdef size_t i, start = 0, count = FOUND
    cdef Match match
    cdef list found = [], urls = []
    while count == FOUND:
        with nogil:
            count = scan_urls(text.data, text.size, &start, longest, last, True, spans)
        for i in range(count):
            text.locate(spans[2 * i], spans[2 * i + 1], &match)
            found.append((<Py_ssize_t>match.start, <Py_ssize_t>match.stop))
            urls.append(PyBytes_FromStringAndSize(<const char *>match.data, <Py_ssize_t>match.size))
    return found, urls, text.original(start) if start < text.size else text.read


def copy_urls(str content, src, dst, bytes prefix=None, size_t before=0):
    r"""Copy URLs as `_components.copy_urls` does, from text with escapes. URLs are decoded, their offsets are of the original.

    >>> dst = bytearray(60)
    >>> copy_urls("html", b'<a href="http://a.example/?b&amp;c">', dst, b"", 80)
    (36, 25)
    >>> bytes(dst[:25])
    b'89\thttp://a.example/?b&c\n'
    """
    cdef Decoded text = Decoded(content, src, True)
    cdef Py_buffer target
    cdef MatchLines lines
    cdef Match match
    cdef size_t spans[2 * FOUND]
    cdef size_t i, count = FOUND, start = 0, begin, read = text.n
    PyObject_GetBuffer(dst, &target, PyBUF_WRITABLE)
    lines = lines_in(<uint8_t *>target.buf, <size_t>target.len, prefix, before)
    with nogil:
        while count == FOUND and read == text.n:
            count = scan_urls(text.data, text.size, &start, <size_t>-1, True, True, spans)
            for i in range(count):
                begin = spans[2 * i]
                # The delimiter before a URL decides where it ends.
                if begin and closing(text.data[begin - 1], True):
                    begin -= 1
                begin = text.original(begin)
                text.locate(spans[2 * i], spans[2 * i + 1], &match)
                if not write_match(&lines, match.data, match.size, match.start):
                    read = begin
                    break
    PyBuffer_Release(&target)
    return read, lines.written
