# distutils: extra_compile_args=-O2
r"""Finding in bytes of any kind: texts without their escapes, the loop over matches, and URLs.

Escapes are those of JSON (RFC 8259 section 7), and character references of HTML. A text is decoded, searched, and what is
found is mapped back to the offsets of the original:

    text        {"a":"http:\/\/a.example\/?b\u0026c"}
    decoded     {"a":"http://a.example/?b&c"}

Decoding never makes a text longer, but for two character references of 2,231. A text without escapes is searched as it
is. What looks like an escape, but has not its form, stands for itself. Neither kind of escape contains a byte that ends plain
URLs, but the backslash and the semicolon, so a text may be cut wherever plain text may be.

Each kind of match has a function that finds the next ones in plain text. The loop runs it on a text without its escapes, and
makes objects or lines of what it found.
"""
from cpython.buffer cimport PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memchr, memcmp, memcpy, memset

from uricodec._base._atomic cimport uc_publish16, uc_read16
from uricodec._base._kernels cimport ALPHANUM, ByteSet, kernels
from uricodec._base._text cimport *
from uricodec._codec._percent cimport hex_value

from uricodec._search import _link_terms


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


# --- matches ----------------------------------------------------------------------------------------------------------

cdef size_t find_matches(object buffer, Content content, bint last, scan_function scan, const void *options, list spans,
                         list found) except? 0:
    cdef DecodedText text
    cdef Match match
    cdef size_t places[2 * FOUND]
    cdef size_t i, start = 0, count = FOUND
    open_text(&text, content, buffer, last)
    try:
        while count == FOUND:
            with nogil:
                count = scan(text.data, text.size, &start, options, places)
            for i in range(count):
                locate(&text, places[2 * i], places[2 * i + 1], &match)
                spans.append((<Py_ssize_t>match.start, <Py_ssize_t>match.stop))
                if found is not None:
                    found.append(PyBytes_FromStringAndSize(<const char *>match.data, <Py_ssize_t>match.size))
        return original_of(&text, start) if start < text.size else text.read
    finally:
        close_text(&text)


# Where lines go. With a prefix, each begins with it, the decimal offset and a tab.
cdef struct MatchLines:
    uint8_t *dst
    size_t capacity
    size_t written
    const uint8_t *prefix   # NULL: no offsets
    size_t prefix_size
    size_t before           # the offset of the text in the input

cdef enum:
    DIGITS = 20     # the most digits of an offset


cdef inline MatchLines lines_in(uint8_t *dst, size_t capacity, bytes prefix, size_t before):
    """Return where lines go: into dst, after `prefix` and the offset, or alone if `prefix` is None."""
    cdef MatchLines lines
    lines.dst, lines.capacity, lines.written, lines.before = dst, capacity, 0, before
    lines.prefix, lines.prefix_size = NULL, 0
    if prefix is not None:
        lines.prefix, lines.prefix_size = <const uint8_t *>PyBytes_AS_STRING(prefix), <size_t>PyBytes_GET_SIZE(prefix)
    return lines


cdef inline bint write_match(MatchLines *lines, const uint8_t *match, size_t size, size_t start) noexcept nogil:
    """Write a line for a match that starts at an offset of the text. False: it does not fit, and nothing was written."""
    cdef uint8_t *dst = lines.dst + lines.written
    cdef size_t free = lines.capacity - lines.written
    # All stores are in bounds: the prefix, the digits and a tab, then the match and a newline have this size at most.
    if free < size + 1 or lines.prefix != NULL and free - (size + 1) < lines.prefix_size + DIGITS + 1:
        return False
    if lines.prefix != NULL:
        memcpy(dst, lines.prefix, lines.prefix_size)
        dst += lines.prefix_size
        dst += write_decimal(lines.before + start, dst)
        dst[0] = c'\t'
        dst += 1
    memcpy(dst, match, size)
    dst += size
    dst[0] = c'\n'
    lines.written = <size_t>(dst + 1 - lines.dst)
    return True


cdef tuple copy_matches(object src, Content content, object dst, bytes prefix, size_t before, scan_function scan,
                        const void *options, bint delimited):
    cdef DecodedText text
    cdef Py_buffer target
    cdef MatchLines lines
    cdef DecodedPlace before_match
    cdef Match match
    cdef size_t places[2 * FOUND]
    cdef size_t i, count = FOUND, start = 0, begin, read
    open_text(&text, content, src, True)
    read = text.n
    try:
        PyObject_GetBuffer(dst, &target, PyBUF_WRITABLE)
        lines = lines_in(<uint8_t *>target.buf, <size_t>target.len, prefix, before)
        with nogil:
            while count == FOUND and read == text.n:
                count = scan(text.data, text.size, &start, options, places)
                for i in range(count):
                    before_match = text.place
                    locate(&text, places[2 * i], places[2 * i + 1], &match)
                    if not write_match(&lines, match.data, match.size, match.start):
                        begin = places[2 * i]
                        if delimited and begin and closing(text.data[begin - 1], content != PLAIN):
                            begin -= 1
                        text.place = before_match
                        read = original_of(&text, begin)
                        break
        PyBuffer_Release(&target)
    finally:
        close_text(&text)
    return read, lines.written


# --- URLs -------------------------------------------------------------------------------------------------------------

# A URL is found by its "://". The scheme before it is searched backwards, the end forwards, as UTS 58 does: the first byte or
# character that ends any URL, or a closing bracket that is not the partner of the last open one. Then punctuation and
# opening brackets are trimmed. The search continues where the URL ended before that, so no byte is read more often than a few
# times. A URL between quotes or angle brackets is what is between them.

# ASCII that no URI contains (RFC 3986 section 2; appendix C: "delimited by double-quotes, angle brackets or
# whitespace"), but curly brackets, which URI templates contain (RFC 6570).
cdef ByteSet URL_ENDS = ByteSet(range(33)) | '"<>\\^`|' | b"\x7f"
cdef ByteSet TRIMMED = ByteSet("?!.,:*_~';([{")
cdef ByteSet BRACKETS = ByteSet("()[]{}")
cdef ByteSet URL_PLAIN = ~(URL_ENDS | BRACKETS | bytes(range(128, 256)))
cdef ByteSet BUT_COLON = ~ByteSet(":")
cdef ByteSet SCHEME_BYTES = ALPHANUM | "+-."

cdef enum:
    LONGEST_SCHEME = 64     # a bound on what is read again backwards; the longest registered scheme has 36 characters
    NOT_FULL = 4            # the bytes of the longest character
    MOST_OPEN = 125         # brackets, as in UTS 58: a URL ends before one more


cdef size_t read_utf8(const uint8_t *s, size_t n, uint32_t *c) noexcept nogil:
    """Read the character beyond ASCII at the start of s. Return its length; 0 if it is not UTF-8."""
    if s[0] < 0xC2 or s[0] > 0xF4 or n < 2 or s[1] & 0xC0 != 0x80:
        return 0
    if s[0] < 0xE0:
        c[0] = <uint32_t>(s[0] & 0x1F) << 6 | (s[1] & 0x3F)
        return 2
    if n < 3 or s[2] & 0xC0 != 0x80:
        return 0
    if s[0] < 0xF0:
        c[0] = <uint32_t>(s[0] & 0x0F) << 12 | <uint32_t>(s[1] & 0x3F) << 6 | (s[2] & 0x3F)
        return 0 if c[0] < 0x800 or 0xD800 <= c[0] <= 0xDFFF else 3
    if n < 4 or s[3] & 0xC0 != 0x80:
        return 0
    c[0] = (<uint32_t>(s[0] & 0x07) << 18 | <uint32_t>(s[1] & 0x3F) << 12 | <uint32_t>(s[2] & 0x3F) << 6 | (s[3] & 0x3F))
    return 4 if 0x10000 <= c[0] <= 0x10FFFF else 0


cdef inline bint ends_word(uint32_t c) noexcept nogil:
    """Return whether a character is a space, a quotation mark, a control, or punctuation of the blocks General Punctuation,
    CJK Symbols and Punctuation, and Halfwidth and Fullwidth Forms.

    Parts of words are ZWJ, ZWNJ, the hyphens and the en dash (U+2010 to U+2013), and the ideographs U+3005 to U+3007.
    """
    if c < 0x2000:
        return c <= 0xA0 or c == 0xAB or c == 0xBB or c == 0x1680
    if c < 0x3040:
        return not (0x2070 <= c < 0x3000 or 0x3005 <= c <= 0x3007 or 0x2010 <= c <= 0x2013 or c == 0x200C or c == 0x200D)
    if 0xFF00 <= c <= 0xFFFF:
        return not (0xFF10 <= c <= 0xFF19 or 0xFF21 <= c <= 0xFF3A or 0xFF41 <= c <= 0xFF5A or 0xFF66 <= c < 0xFFF0)
    return c == 0xFEFF


cdef size_t length_of_character(const uint8_t *s, size_t n) noexcept nogil:
    cdef uint32_t c = 0
    cdef size_t size = read_utf8(s, n, &c)
    return 0 if ends_word(c) else size


# What a character beyond ASCII is in a URL (UTS 58).
cdef enum Term:
    INCLUDE, HARD, SOFT, OPEN, CLOSE

cdef struct TermRange:
    uint32_t first, last
    Term term
    uint32_t opening        # the partner of a closing bracket

cdef enum:
    RANGES = 300
    SPECIAL_CHARACTERS = 0x20000
    SPECIAL_WORDS = 0x800       # of 64 bits

cdef TermRange TERMS[RANGES]        # ascending
cdef int ranges = 0
cdef uint64_t SPECIAL[SPECIAL_WORDS]        # a bit for each character in these


cdef int load_terms() except -1:
    global ranges
    cdef uint32_t first, last, opening, c
    cdef int term
    cdef list found = []
    for term, text in ((HARD, _link_terms.HARD), (SOFT, _link_terms.SOFT)):
        for first, last in _link_terms.terms(text):
            found.append((first, last, term, 0))
    for first, last in _link_terms.terms(_link_terms.BRACKETS):
        found.append((first, first, OPEN, 0))
        found.append((last, last, CLOSE, first))
    memset(SPECIAL, 0, sizeof(SPECIAL))
    for first, last, term, opening in sorted(found):
        if ranges == RANGES:
            raise ValueError("too many")  # pragma: no cover: there are fewer
        TERMS[ranges] = TermRange(first, last, <Term>term, opening)
        ranges += 1
        for c in range(first, last + 1):
            SPECIAL[c // 64] |= <uint64_t>1 << c % 64
    return 0


load_terms()


cdef Term term_of(uint32_t c, uint32_t *opening) noexcept nogil:
    """Return what a character beyond ASCII is; `opening` is the partner of a closing bracket."""
    cdef int low = 0, high = ranges, middle
    if c >= SPECIAL_CHARACTERS:     # private use, what is no character, and a deprecated one
        return HARD if c >= 0xF0000 or c & 0xFFFE == 0xFFFE or c == 0xE0001 else INCLUDE
    # The hard stops of Chinese and Japanese: no blank follows them.
    if 0x3000 <= c < 0x3040 or 0xFF00 <= c < 0xFFF0:
        return HARD if ends_word(c) else INCLUDE
    if not SPECIAL[c // 64] >> c % 64 & 1:
        return INCLUDE
    while high - low > 1:
        middle = (low + high) // 2
        if TERMS[middle].first <= c:
            low = middle
        else:
            high = middle
    opening[0] = TERMS[low].opening
    return TERMS[low].term


# The part of a URL that goes on; a part, or what delimits its own parts, begins without open brackets.
cdef enum UrlPart:
    IN_AUTHORITY, IN_PATH, IN_QUERY, IN_FRAGMENT


cdef bint begins_part(const uint8_t *s, size_t start, size_t stop, UrlPart *part) noexcept nogil:
    """Return whether something begins in s[start:stop] across which no brackets match; `part` is moved there."""
    cdef size_t i
    cdef bint found = False
    for i in range(start, stop):
        if part[0] == IN_FRAGMENT:
            found |= s[i] == c':' and stop - i > 2 and s[i + 1] == c'~' and s[i + 2] == c':'
        elif s[i] == c'#':
            part[0], found = IN_FRAGMENT, True
        elif part[0] == IN_QUERY:
            found |= s[i] == c'=' or s[i] == c'&'
        elif s[i] == c'?':
            part[0], found = IN_QUERY, True
        elif s[i] == c'/':
            part[0], found = IN_PATH, True
    return found


cdef size_t end_of_url(const uint8_t *s, size_t n, size_t body, size_t i, size_t *trimmed) noexcept nogil:
    """Return where the URL stops that goes on at `body`, with URL_PLAIN bytes before i; `trimmed` is its end, without punctuation.

        http://a.example/b(c)/d(e/f).           stops before ")": "(e" and "/f)" are in different segments
    """
    cdef uint32_t open[MOST_OPEN]       # the brackets that are open
    cdef uint32_t c = 0, opening = 0
    cdef size_t opened = 0, first = 0, seen = body, end = 0, size
    cdef UrlPart part = IN_AUTHORITY
    cdef bint in_authority = True
    cdef Term term
    while i < n:
        if URL_PLAIN.set.member[s[i]]:
            i += kernels.span(s + i, n - i, &URL_PLAIN.set)
            continue
        if s[i] >= 0x80:
            size = read_utf8(s + i, n - i, &c)
            term = term_of(c, &opening) if size else HARD
        elif BRACKETS.set.member[s[i]]:
            c, size = s[i], 1
            term = OPEN if c == c'(' or c == c'[' or c == c'{' else CLOSE
            opening = c'(' if c == c')' else c - 2
        else:
            break
        if term == HARD:
            break
        if term >= OPEN:
            in_authority = part == IN_AUTHORITY
            if begins_part(s, seen, i, &part):
                if in_authority and opened:
                    end = first
                    break
                opened = 0
            seen = i + size
            if term == OPEN:
                if opened == MOST_OPEN:
                    break
                if opened == 0:
                    first = i
                open[opened] = c
                opened += 1
            elif opened == 0 or open[opened - 1] != opening:
                break
            else:
                opened -= 1
        i += size
    if end == 0:
        # An authority has no bracket that nothing closes: http://a.example(see http://b.example/)
        end = first if part == IN_AUTHORITY and opened else i
    while end > body:
        if s[end - 1] < 0x80:
            if not TRIMMED.set.member[s[end - 1]]:
                break
            end -= 1
            continue
        size = 2
        while size < 4 and end - size > body and s[end - size] & 0xC0 == 0x80:
            size += 1
        if end - body < size or read_utf8(s + end - size, size, &c) != size:
            break
        term = term_of(c, &opening)
        if term != SOFT and term != OPEN:
            break
        end -= size
    trimmed[0] = end
    return i


cdef size_t end_of_any_url(const uint8_t *s, size_t n, size_t body, size_t *trimmed) noexcept nogil:
    """Do what end_of_url() does, but most URLs have neither brackets nor characters beyond ASCII."""
    cdef size_t stop = body + kernels.span(s + body, n - body, &URL_PLAIN.set), end = stop
    if stop < n and not URL_ENDS.set.member[s[stop]]:
        return end_of_url(s, n, body, stop, trimmed)
    while end > body and TRIMMED.set.member[s[end - 1]]:
        end -= 1
    trimmed[0] = end
    return stop


# Called through a pointer, so that it is not inlined: that would slow the loop over URLs between delimiters by 5 %.
ctypedef size_t (*end_function)(const uint8_t *s, size_t n, size_t body, size_t *trimmed) noexcept nogil
cdef end_function find_end = end_of_any_url


# What ends the search for a closing delimiter: bytes that no delimited URL contains, of which the delimiters are some. So
# between two URLs after the same delimiter is one of these bytes, and the time stays linear.
cdef ByteSet IN_DELIMITED = ~(ByteSet(range(33)) | '"<>\\' | b"\x7f")
cdef ByteSet IN_SINGLE_QUOTED = IN_DELIMITED - "'"
cdef ByteSet IN_ESCAPED = IN_DELIMITED - [ESCAPED_QUOTE, ESCAPED_LESS, ESCAPED_GREATER]
cdef ByteSet IN_ESCAPED_SINGLE = IN_ESCAPED - [ESCAPED_APOSTROPHE]


cdef inline uint8_t closing(uint8_t opening, bint decoded) noexcept nogil:
    """Return the delimiter that ends what another one begins (RFC 3986 appendix C); 0 for other bytes."""
    if opening == c'<':
        return c'>'
    if opening == c'"' or opening == c"'":
        return opening
    if not decoded or opening < ESCAPED_QUOTE or opening > ESCAPED_LESS:
        return 0
    return ESCAPED_GREATER if opening == ESCAPED_LESS else opening


cdef size_t end_of_delimited(const uint8_t *s, size_t n, size_t i, uint8_t close) noexcept nogil:
    """Return where the delimiter is that ends the URL which goes on at i; n if what follows decides; 0 if there is none.

    In JSON and source code a backslash begins an escape, perhaps of the quotes themselves. In text that has been decoded,
    a delimiter that was escaped ends only what begins with such a one.
    """
    if close < 0x80:
        i += kernels.span(s + i, n - i, &IN_SINGLE_QUOTED.set if close == c"'" else &IN_DELIMITED.set)
    else:
        i += kernels.span(s + i, n - i, &IN_ESCAPED_SINGLE.set if close == ESCAPED_APOSTROPHE else &IN_ESCAPED.set)
    if i == n or s[i] == c'\\' and i + 1 == n:
        return n
    return i if s[i] == close or s[i] == c'\\' and s[i + 1] == close != c'>' and close != ESCAPED_GREATER else 0


cdef inline size_t start_of_run(const uint8_t *s, size_t done, size_t end, size_t most) noexcept nogil:
    """Return the start of the bytes of a scheme before `end`, at most `most` of them, none of them before `done`."""
    cdef size_t start = end
    while start > done and end - start < most and SCHEME_BYTES.set.member[s[start - 1]]:
        start -= 1
    return start


cdef size_t start_of_scheme(const uint8_t *s, size_t done, size_t colon) noexcept nogil:
    """Return the first start of a scheme that reaches the colon; `colon` if there is none."""
    cdef size_t i = start_of_run(s, done, colon, LONGEST_SCHEME)
    while i < colon:
        if s[i] | 0x20 >= c'a' and ALPHANUM.set.member[s[i]] and (i == done or not ALPHANUM.set.member[s[i - 1]]):
            return i
        i += 1
    return colon


# How a text is searched for URLs.
cdef struct UrlSearch:
    size_t longest          # a URL ends after so many bytes at the latest
    bint last               # nothing follows the text; else *start is at most where a URL begins that depends on it
    bint decoded            # there may be delimiters that were escaped


cdef size_t scan_urls(const uint8_t *s, size_t n, size_t *start, const void *options, size_t *spans) noexcept nogil:
    """Find URLs: a scan_function, whose options are a UrlSearch."""
    cdef size_t longest = (<const UrlSearch *>options).longest
    cdef bint last = (<const UrlSearch *>options).last, decoded = (<const UrlSearch *>options).decoded
    cdef size_t i = start[0], done = i, count = 0, begin, stop, bound, end
    cdef uint8_t close
    while count < FOUND:
        i += kernels.span(s + i, n - i, &BUT_COLON.set)
        if n - i < 3:
            if last:
                done = n
            else:
                begin = done
                done = start_of_run(s, done, i, LONGEST_SCHEME + 1)
                done -= done > begin and closing(s[done - 1], decoded) != 0
            break
        if s[i + 1] != c'/' or s[i + 2] != c'/':
            i += 1
            continue
        i += 3
        begin = start_of_scheme(s, done, i - 3)
        if begin == i - 3:
            done = i
            continue
        bound = begin + longest if n - begin > longest else n
        close = closing(s[begin - 1], decoded) if begin else 0
        if close:
            stop = end_of_delimited(s, bound, i, close)
            if stop == bound and not last and n - begin < longest:
                done = begin - 1
                break
            if i < stop < bound:
                spans[2 * count], spans[2 * count + 1] = begin, stop
                count += 1
                i = done = stop
                continue
        stop = find_end(s, bound, i, &end)
        if not last and n - begin < longest and (stop == n or s[stop] >= 0x80 and n - stop < NOT_FULL):
            done = begin - (close != 0)
            break
        if end > i:
            spans[2 * count], spans[2 * count + 1] = begin, end
            count += 1
        i = done = stop
    start[0] = done
    return count


# --- functions --------------------------------------------------------------------------------------------------------

cdef inline size_t find_urls(object buffer, Content content, size_t longest, bint last, list spans, list found) except? 0:
    cdef UrlSearch search = UrlSearch(longest, last, content != PLAIN)
    return find_matches(buffer, content, last, scan_urls, &search, spans, found)


# The bytes at the start of a text that show what it is.
cdef enum:
    HEAD = 4096

# After a byte order mark and white space: an object of JSON, perhaps in lists, or a list of strings; a tag, comment or
# declaration of HTML or XML. "<http://a.example/>" is none of them, nor is "[a](http://a.example/)".
_FRONT = rb"(?:\xef\xbb\xbf)?[ \t\r\n]*"
_JSON = _FRONT + rb"""(?:(?:\[[ \t\r\n]*)*\{[ \t\r\n]*(?:["}]|\Z)|(?:\[[ \t\r\n]*)+")"""
_HTML = _FRONT + rb"<(?i:!doctype\b|!--|\?xml\b|[a-z][a-z0-9:-]*(?:[ \t\r\n]|/?>))"


def content_of(head: bytes) -> str:
    """Return what a text is that begins with `head`: "json", "html" or "plain".

    Only its start counts, not what others may have written into a log.

    >>> content_of(b'{"a":'), content_of(b"<!DOCTYPE html>"), content_of(b"<http://a.example/>")
    ('json', 'html', 'plain')
    """
    import re

    return "json" if re.match(_JSON, head) else "html" if re.match(_HTML, head) else "plain"


cdef inline Content content_in(object buffer, str name) except? PLAIN:
    """Return what a text is, by its start if the name is "auto"."""
    if name == "plain":
        return PLAIN
    if name == "auto":
        with memoryview(buffer) as view:
            name = content_of(bytes(view.cast("B")[:HEAD]))
    return content_of_name(name)


cdef list in_characters(bytes text, list spans):
    """Return spans of UTF-8, which ascend, as offsets in characters."""
    cdef const uint8_t *s = <const uint8_t *>PyBytes_AS_STRING(text)
    cdef Py_ssize_t i = 0, count = 0, start, stop, first
    cdef list found = []
    for start, stop in spans:
        while i < start:
            count += s[i] & 0xC0 != 0x80
            i += 1
        first = count
        while i < stop:
            count += s[i] & 0xC0 != 0x80
            i += 1
        found.append((first, count))
    return found


def find(text, str content="plain"):
    r"""Find the URLs in text or any bytes, such as logs, web pages or dumps.

    A URL begins with a scheme of at most 64 characters, not directly after an ASCII letter or digit, and "://".
    Characters beyond ASCII may follow, in UTF-8: hosts and paths of IRIs are found whole. A URL ends before

    - a space, a control character, one of ``" < > \\ ^ ` |``, or a byte that is not UTF-8;
    - beyond ASCII a space, a control or private-use character, or Chinese and Japanese punctuation, such as an ideographic
      full stop;
    - a closing bracket that is not the partner of the last open one, in the same segment of the path, the same name or value of
      the query, or the fragment: a URL in brackets ends before the closing one, ``/Foo_(bar)`` is found whole;
    - final ``? ! . , : * _ ~ ' ;``, punctuation and quotation marks beyond ASCII, and opening brackets.

    A URL directly between quotes (``"`` or ``'``) or angle brackets, without a space or control character, is all that is
    between them, unless it contains a quote, an angle bracket or a backslash itself.

    What is found need not be valid: check it with `uri.is_valid` or `iri.is_valid`.

    Args:
        text (str | bytes-like): The text, or bytes, which are contiguous in memory.
        content (str): What it is: "plain"; "json", where a URL may contain escapes such as ``\/`` and ``\u0026``;
            "html", where it may contain character references such as ``&amp;``; or "auto", see `extract`.

    Returns:
        list[tuple[int, int]]: The start and end of each URL in `text`, in order: in characters for a str, in bytes
            otherwise. `extract` decodes what is there.

    Raises:
        TypeError: If `text` is neither str nor bytes-like.
        BufferError: If it is not contiguous.
        ValueError: If `content` is unknown.

    Source: RFC 3986 section 3.1 and appendix C; UTS 58 (Link_Term and Link_Bracket of Unicode 17) for brackets, and beyond
    ASCII. How these and final punctuation are handled is what people mean, not what the grammar says: both may be part of a
    URI.

    >>> find(b"see (http://a.example/x_(y)), <https://b.example/?q=1>.")
    [(5, 27), (31, 53)]
    >>> find("caf\xe9: http://b\xfccher.example/.")
    [(6, 28)]
    >>> find(rb'{"a":"http:\/\/a.example\/?b\u0026c"}', content="json")
    [(6, 35)]
    """
    cdef list spans = []
    cdef bytes encoded
    if isinstance(text, str):
        encoded = (<str>text).encode("utf-8", "surrogatepass")
        find_urls(encoded, content_in(encoded, content), <size_t>-1, True, spans, None)
        return spans if len(encoded) == len(<str>text) else in_characters(encoded, spans)
    find_urls(text, content_in(text, content), <size_t>-1, True, spans, None)
    return spans


def extract(text, str content="auto"):
    r"""Return the URLs in text or any bytes, without the escapes of JSON or HTML.

    Args:
        text (str | bytes-like): The text, or bytes, which are contiguous in memory.
        content (str): What it is: "plain"; "json", where a URL may contain escapes such as ``\/`` and ``\u0026``;
            "html", also XML, where it may contain character references such as ``&amp;``; or "auto", which is "json" if
            it begins with an object or a list of objects or strings, as JSON lines do, "html" if it begins with a
            tag, a comment or a declaration, and otherwise "plain".

    Returns:
        list[str] | list[bytes]: The URLs, in order, str for a str; `find` returns where they are, for the same `content`.
            What is no character there, such as half of a surrogate pair, becomes U+FFFD in a str.

    Raises:
        TypeError: If `text` is neither str nor bytes-like, or not contiguous.
        ValueError: If `content` is unknown.

    Source: RFC 8259 section 7; HTML, section 13.2.5.72 to 13.2.5.80, as in attributes.

    >>> extract(rb'{"a":"http:\/\/a.example\/?b\u0026c"}'), extract(b'<a href="http://a.example/?b&amp;c">')
    ([b'http://a.example/?b&c'], [b'http://a.example/?b&c'])
    >>> extract("see http://a.example/caf\xe9.")
    ['http://a.example/caf\xe9']
    """
    cdef list spans = [], found = []
    cdef bint is_str = isinstance(text, str)
    cdef Py_ssize_t i
    if is_str:
        text = (<str>text).encode("utf-8", "surrogatepass")
    find_urls(text, content_in(text, content), <size_t>-1, True, spans, found)
    if is_str:
        for i in range(len(found)):
            found[i] = (<bytes>found[i]).decode("utf-8", "replace")
    return found


def find_part(str content, buffer, size_t longest, bint last):
    r"""Find the URLs in a part of a text.

    Args:
        content (str): "plain", "json" or "html".
        buffer (bytes-like): The part.
        longest (int): The most bytes of a URL without escapes, at least 128. One that is longer ends there.
        last (bool): Whether the text ends after this part.

    Returns:
        tuple[list[tuple[int, int]], list[bytes], int]: Where the URLs are that do not depend on what follows, those URLs
            without escapes, and where the next part begins: where a URL begins, or may begin, that does.

    >>> find_part("plain", b"http://a.example http://b.ex", 1000, False)
    ([(0, 16)], [b'http://a.example'], 17)
    >>> find_part("json", rb'"http:\/\/a.example\/?b\u0026c" ', 1000, True)
    ([(1, 30)], [b'http://a.example/?b&c'], 32)
    """
    cdef list spans = [], found = []
    cdef size_t rest = find_urls(buffer, content_of_name(content), longest, last, spans, found)
    return spans, found, rest


def copy_urls(str content, src, dst, bytes prefix=None, size_t before=0):
    r"""Write the URLs of a text as lines, as many as fit. No URL may go on before or after the text.

    Args:
        content (str): "plain", "json" or "html".
        src (bytes-like): The text.
        dst (bytes-like): The lines; enough for one of them, and with offsets 22 bytes more.
        prefix (bytes | None): What each line begins with, before its offset in the input and a tab; None: no offsets.
        before (int): The offset of the text in the input.

    Returns:
        tuple[int, int]: Where the first URL begins that does not fit, or the size of the text; and how many bytes have
            been written.

    >>> dst = bytearray(60)
    >>> copy_urls("html", b'<a href="http://a.example/?b&amp;c">', dst, b"", 80)
    (36, 25)
    >>> bytes(dst[:25])
    b'89\thttp://a.example/?b&c\n'
    """
    cdef Content kind = content_of_name(content)
    cdef UrlSearch search = UrlSearch(<size_t>-1, True, kind != PLAIN)
    return copy_matches(src, kind, dst, prefix, before, scan_urls, &search, True)


# Functions are pickled by reference: the reference must be their public name.
find.__module__ = extract.__module__ = "uricodec.uri"
