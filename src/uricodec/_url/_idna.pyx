"""ToASCII and ToUnicode for the usual hosts: those whose labels are valid for reasons that are easily seen.

_hosts defines the results and the errors. This module gives the same results faster, or none. A host goes label by label:

    given     BÜCHER.example            UTF-8, also "．" or "。" for "."
    mapped    bücher                    each character by itself: kept, or replaced by one other
    checked   hyphens, first character, order of marks, directions (RFC 5893)
    written   xn--bcher-kva             Punycode (RFC 3492)

A host is in doubt if a character is invalid, depends on its context (RFC 5892 appendix A), is replaced by several, or may
compose with the one before. Other text is in Normalization Form C if its combining marks are in order (UAX #15, "Detecting
Normalization Forms"). So nothing that the installed versions of `idna` and Python know is repeated here: _hosts tells the
facts about a character when it occurs for the first time.
"""
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcmp, memcpy, memmove

from uricodec._base._atomic cimport uc_glance32, uc_publish, uc_publish16, uc_put32, uc_read, uc_read16
from uricodec._base._text cimport *
from uricodec._rows._engine cimport UC_REJECTED
from uricodec._url._grammar cimport character_at, is_numeric_label


# --- characters -------------------------------------------------------------------------------------------------------

# What is known of a character: how it is mapped; of one that is kept, the combining class (bits 0 to 7), the direction
# (bits 8 to 11), whether it is a mark, its script (bits 13 to 20: see _scripts), and whether compositions have it as their
# first or second character.
cdef enum:
    UNKNOWN = 0
    DOUBTFUL = 1 << 28
    KEPT = 2 << 28
    MAPPED = 3 << 28            # to the character in the other bits; to 0: it is ignored
    HOW = 3 << 28
    MARK = 1 << 12
    SCRIPT = 13
    FIRST = 1 << 21
    SECOND = 1 << 22
    CHARACTER = 0x1FFFFF

cdef enum:
    PAGE = 256
    PAGES = 0x110000 // PAGE

cdef void *pages[PAGES]         # of PAGE entries; NULL: all are unknown
cdef void *pages_2003[PAGES]    # the same, for IDNA 2003
cdef uc_mutex pages_lock        # for writing
cdef uint16_t prepared = False  # FIRST and SECOND are stored, for all characters

# Scripts: 0 if a character goes with all of them, a bit for each set of scripts that are written together (all of them
# have Latin), or the number of another script.
cdef enum:
    ALL_TOGETHER = 7
    OTHER_SCRIPT = 255      # one without a number

# Bidi_Class, numbered for bits of a set. Characters of other classes are DOUBTFUL.
cdef enum:
    L, R, AL, AN, EN, ES, CS, ET, ON, BN, NSM
cdef list DIRECTIONS = ["L", "R", "AL", "AN", "EN", "ES", "CS", "ET", "ON", "BN", "NSM"]

# What ASCII characters are mapped to: letters, digits and the hyphen, "." and, for all others, 0.
cdef uint8_t ASCII[128]
cdef int code
for code in range(128):
    ASCII[code] = <uint8_t>ord(chr(code).lower()) if chr(code).isalnum() or chr(code) in "-." else 0


cdef inline uint32_t known(uint32_t c) noexcept nogil:
    cdef const uint32_t *page
    if c < 0x80:
        return <uint32_t>KEPT | (<uint32_t>ES << 8 if c == c'-' else <uint32_t>EN << 8 if c <= c'9' else
                                 <uint32_t>L << 8 | FIRST | <uint32_t>ALL_TOGETHER << SCRIPT)
    page = <const uint32_t *>uc_read(&pages[c // PAGE])
    return uc_glance32(page + c % PAGE) if page != NULL else <uint32_t>UNKNOWN


cdef int store(void **to, uint32_t c, uint32_t entry) except -1:
    """Add to what is known of a character, in one of the tables."""
    cdef uint32_t *page
    UC_LOCK(&pages_lock)
    page = <uint32_t *>uc_read(&to[c // PAGE])
    if page == NULL:
        page = <uint32_t *>PyMem_RawCalloc(PAGE, sizeof(uint32_t))
        if page != NULL:
            uc_publish(&to[c // PAGE], page)
    if page != NULL:
        uc_put32(page + c % PAGE, page[c % PAGE] | entry)
    UC_UNLOCK(&pages_lock)
    if page == NULL:
        raise MemoryError  # pragma: no cover: no memory
    return 0


cdef int store_both(uint32_t c, uint32_t entry) except -1:
    return store(pages, c, entry) | store(pages_2003, c, entry)


cdef int prepare(object compositions) except -1:
    for composite, first, second in compositions:
        store_both(first, FIRST)
        store_both(second, SECOND)
        # A mark of a lower class goes before the mark of the composite, and may compose with its first character.
        store_both(composite, FIRST)
    uc_publish16(&prepared, True)
    return 0


cdef int learn(uint32_t c) except -1:
    """Store what is known of a character."""
    cdef uint32_t entry = DOUBTFUL
    from uricodec._url import _hosts
    if not uc_read16(&prepared):
        prepare(_hosts.compositions())
    if not 0xD800 <= c < 0xE000:
        facts = _hosts.facts_about(chr(c))
        if facts is not None:
            mapped, combining, direction, mark, script = facts
            if mapped != c:
                entry = <uint32_t>MAPPED | <uint32_t>mapped
            elif direction in DIRECTIONS:
                entry = (<uint32_t>KEPT | <uint32_t>combining | <uint32_t>DIRECTIONS.index(direction) << 8
                         | (<uint32_t>MARK if mark else 0) | <uint32_t>script << SCRIPT)
    return store(pages, c, entry)


# learn() for a caller that hands the exception on (see docs/developing/recipes.md).
ctypedef int (*unchecked_learn)(uint32_t) noexcept


cdef bint learn_unlocked(uint32_t c) noexcept with gil:
    """Return whether the character is known now; if not, an exception is set."""
    return (<unchecked_learn>learn)(c) == 0


# --- hosts in doubt ---------------------------------------------------------------------------------------------------

cdef Py_ssize_t write_answer(const char *function, const uint8_t *host, size_t n, uint8_t *dst, size_t capacity) except -2:
    from uricodec._url._hosts import answer
    cdef bytes found = answer(function.decode(), PyBytes_FromStringAndSize(<const char *>host, <Py_ssize_t>n))
    if found is None or <size_t>len(found) > capacity:
        return -1
    memcpy(dst, PyBytes_AS_STRING(found), <size_t>len(found))
    return len(found)


# write_answer() for a caller that hands the exception on (see docs/developing/recipes.md).
ctypedef Py_ssize_t (*unchecked_answer)(const char *, const uint8_t *, size_t, uint8_t *, size_t) noexcept


cdef Py_ssize_t ask_about_host(const char *function, const uint8_t *host, size_t n, uint8_t *dst, size_t capacity) \
        noexcept with gil:
    return (<unchecked_answer>write_answer)(function, host, n, dst, capacity)


# --- labels -----------------------------------------------------------------------------------------------------------

cdef enum:
    MOST = 63           # characters of a label (RFC 1035 section 2.3.4)
    MOST_OF_HOST = 253
    PREFIX = 4          # "xn--"

cdef struct Label:
    uint32_t points[MOST]
    uint32_t entries[MOST]
    int size
    size_t start, end       # where it is in the host
    bint dot                # one follows there
    bint plain              # it is ASCII there,
    bint encoded            # and an A-label
    bint ascii              # it is ASCII as it is mapped
    bint right_to_left      # set by is_good()


cdef bint has_good_hyphens(const Label *label) noexcept nogil:
    """Return whether no hyphen is at either end, and not two at the third and fourth place (RFC 5891 section 4.2.3.1)."""
    return not (label.points[0] == c'-' or label.points[label.size - 1] == c'-'
                or label.size >= 4 and label.points[2] == c'-' and label.points[3] == c'-')


cdef bint is_normal(const Label *label) noexcept nogil:
    """Return whether a label is certainly in Normalization Form C.

    Marks may be in another order, or compose with the last character of class 0.
    """
    cdef uint32_t entry, combining, last = 0, starter = 0
    cdef int k
    for k in range(label.size):
        entry = label.entries[k]
        combining = entry & 0xFF
        if combining and combining < last or entry & SECOND and starter & FIRST:
            return False
        last = combining
        if combining == 0:
            starter = entry
    return True


cdef bint is_good(Label *label) noexcept nogil:
    """Return whether a label whose characters are all kept is certainly a U-label (RFC 5891 section 4.2)."""
    cdef uint32_t directions = 0
    cdef int k, ending
    if label.entries[0] & MARK or not has_good_hyphens(label) or not is_normal(label):
        return False
    for k in range(label.size):
        directions |= <uint32_t>1 << (label.entries[k] >> 8 & 15)
    label.right_to_left = directions & (1 << R | 1 << AL | 1 << AN) != 0
    if not label.right_to_left:
        return True
    # RFC 5893 section 2: a label with characters from right to left begins with a letter of that direction, has none of the
    # other, has digits of one kind, and ends with a letter or digit.
    ending = label.size - 1
    while ending and label.entries[ending] >> 8 & 15 == NSM:
        ending -= 1
    return (1 << (label.entries[0] >> 8 & 15) & (1 << R | 1 << AL) and not directions & 1 << L
            and directions & (1 << AN | 1 << EN) != (1 << AN | 1 << EN)
            and 1 << (label.entries[ending] >> 8 & 15) & (1 << R | 1 << AL | 1 << EN | 1 << AN))


cdef enum LabelVerdict:
    MIXED, ONE_SCRIPT, UNDECIDED

cdef LabelVerdict verdict(const Label *label) noexcept nogil:
    """Return whether the letters of a label are of one script, or of scripts that are written together."""
    cdef uint32_t script, other = 0, together = ALL_TOGETHER
    cdef bint has_joint = False
    cdef int k
    for k in range(label.size):
        script = label.entries[k] >> SCRIPT & 0xFF
        if script == OTHER_SCRIPT:
            return UNDECIDED
        if script > ALL_TOGETHER:
            if other and other != script:
                return MIXED
            other = script
        elif script:
            has_joint = True
            together &= script
    return MIXED if other and has_joint or together == 0 else ONE_SCRIPT


# --- Punycode (RFC 3492) ----------------------------------------------------------------------------------------------

# Section 5: base, tmin, tmax, skew, damp, initial_bias, initial_n.
cdef enum:
    BASE = 36, TMIN = 1, TMAX = 26, SKEW = 38, DAMP = 700, INITIAL_BIAS = 72, INITIAL_N = 0x80


cdef inline uint32_t adapt(uint32_t delta, uint32_t points, bint first) noexcept nogil:
    """Return the bias for the next delta (section 6.1)."""
    cdef uint32_t k = 0
    delta = delta // (DAMP if first else 2)
    delta += delta // points
    while delta > (BASE - TMIN) * TMAX // 2:
        delta //= BASE - TMIN
        k += BASE
    return k + (BASE - TMIN + 1) * delta // (delta + SKEW)


cdef inline uint32_t threshold(uint32_t k, uint32_t bias) noexcept nogil:
    return TMIN if k <= bias + TMIN else TMAX if k >= bias + TMAX else k - bias


cdef inline uint8_t digit(uint32_t value) noexcept nogil:
    return <uint8_t>(c'a' + value if value < 26 else c'0' + value - 26)


cdef size_t encode(const Label *label, uint8_t *dst) noexcept nogil:
    """Encode a label in Punycode (section 6.3). Return the size; 0 if it is above MOST - PREFIX."""
    cdef uint32_t n = INITIAL_N, bias = INITIAL_BIAS, delta = 0, next_point, q, k, t, c
    cdef uint32_t basic, done = 0, size = <uint32_t>label.size, i
    cdef size_t o = 0
    for i in range(size):
        if label.points[i] < INITIAL_N:
            if o == MOST - PREFIX:
                return 0
            dst[o] = <uint8_t>label.points[i]
            o += 1
    done = basic = <uint32_t>o
    if basic:
        if o == MOST - PREFIX:
            return 0
        dst[o] = c'-'
        o += 1
    while done < size:
        next_point = CHARACTER
        for i in range(size):
            c = label.points[i]
            if n <= c < next_point:
                next_point = c
        delta += (next_point - n) * (done + 1)      # below 2^21 * 2^6
        n = next_point
        for i in range(size):
            c = label.points[i]
            if c < n:
                delta += 1
            elif c == n:
                q = delta
                k = BASE
                while True:
                    if o == MOST - PREFIX:
                        return 0
                    t = threshold(k, bias)
                    if q < t:
                        break
                    dst[o] = digit(t + (q - t) % (BASE - t))
                    o += 1
                    q = (q - t) // (BASE - t)
                    k += BASE
                dst[o] = digit(q)
                o += 1
                bias = adapt(delta, done + 1, done == basic)
                delta = 0
                done += 1
        delta += 1
        n += 1
    return o


cdef bint decode(const uint8_t *s, size_t size, Label *label) noexcept nogil:
    """Decode at most MOST - PREFIX lower-case characters of Punycode (section 6.2). Return False if they are invalid."""
    cdef uint64_t i = 0, n = INITIAL_N, old, w, value
    cdef uint32_t bias = INITIAL_BIAS, k, t
    cdef size_t at = size, count = 0
    while at and s[at - 1] != c'-':
        at -= 1
    if at:
        for count in range(at - 1):
            label.points[count] = s[count]
        count = at - 1
    while at < size:
        old = i
        w = 1
        k = BASE
        while True:
            if at == size:
                return False
            if c'a' <= s[at] <= c'z':
                value = s[at] - c'a'
            elif c'0' <= s[at] <= c'9':
                value = s[at] - c'0' + 26
            else:
                return False
            at += 1
            i += value * w
            if i > 0xFFFFFFF:
                return False        # above all characters, at any place of a label
            t = threshold(k, bias)
            if value < t:
                break
            w *= BASE - t           # cannot overflow, because w <= i
            k += BASE
        bias = adapt(<uint32_t>(i - old), <uint32_t>count + 1, old == 0)
        n += i // (count + 1)
        i %= count + 1
        if n > 0x10FFFF:
            return False
        memmove(label.points + i + 1, label.points + i, (count - i) * sizeof(uint32_t))
        label.points[i] = <uint32_t>n
        count += 1
        i += 1
    label.size = <int>count
    return True


# --- hosts ------------------------------------------------------------------------------------------------------------

cdef inline uint32_t read_character(const uint8_t *s, size_t n, size_t *i) noexcept nogil:
    """Read the character at s[i] and advance i; 0 if it is not well-formed UTF-8."""
    cdef int length = sequence_length(s[i[0]]), k
    cdef uint8_t sequence[4]
    if length == 0 or <size_t>length > n - i[0]:
        return 0
    memcpy(sequence, s + i[0], <size_t>length)
    for k in range(1, length):
        if not continues(sequence[0], k, sequence[k]):
            return 0
    i[0] += <size_t>length
    return character_at(sequence, &length)


cdef size_t write_utf8(const Label *label, uint8_t *dst) noexcept nogil:
    cdef size_t o = 0
    cdef int k
    for k in range(label.size):
        o += write_character(label.points[k], dst + o)
    return o


cdef size_t write_ascii(Label *label, uint8_t *dst, uint32_t *unknown) noexcept nogil:
    """Write the A-label of a mapped label, or the label itself if it is ASCII. Return its size; 0: in doubt.

    If the label was an A-label already, put its characters into `label`.
    """
    cdef size_t size = 0, i
    cdef int k
    cdef uint8_t again[MOST]
    label.encoded = False
    if not label.ascii:
        if not is_good(label):
            return 0
        dst[0], dst[1], dst[2], dst[3] = c'x', c'n', c'-', c'-'
        size = encode(label, dst + PREFIX)
        return PREFIX + size if size else 0
    size = <size_t>label.size
    for i in range(size):
        dst[i] = <uint8_t>label.points[i]
    if size < PREFIX or memcmp(dst, b"xn--", PREFIX) != 0:
        return size if has_good_hyphens(label) else 0
    label.encoded = True
    if size == PREFIX or dst[size - 1] == c'-' or not decode(dst + PREFIX, size - PREFIX, label):
        return 0
    for k in range(label.size):
        label.entries[k] = known(label.points[k])
        if label.entries[k] & HOW != KEPT:
            if label.entries[k] & HOW == UNKNOWN:
                unknown[0] = label.points[k]
            return 0
    # Other spellings of the same characters are invalid (RFC 5891 section 5.4).
    if not is_good(label) or encode(label, again) != size - PREFIX or memcmp(again, dst + PREFIX, size - PREFIX) != 0:
        return 0
    return size


# A host that is converted.
cdef struct Conversion:
    const uint8_t *host
    size_t n
    uint8_t *ascii          # where it goes with A-labels,
    uint8_t *unicode        # and with U-labels for those that it has; NULL: nowhere
    bint safe               # labels that mix scripts are A-labels there, too
    bint bidi               # a host of several labels is in doubt if one is written from right to left
    uint32_t unknown        # why it is in doubt, if this character is the reason; or 0


cdef bint read_label(Conversion *work, size_t *i, Label *label) noexcept nogil:
    """Read and map the label at host[i], and the dot after it. False: in doubt."""
    cdef uint32_t c, entry
    label.size, label.start, label.dot, label.ascii, label.plain = 0, i[0], False, True, True
    label.right_to_left = label.encoded = False
    while i[0] < work.n:
        label.end = i[0]
        c = read_character(work.host, work.n, i)
        if c >= 0x80:
            label.plain = False
            entry = known(c)
            if entry & HOW == MAPPED:
                c = entry & CHARACTER
                if c == 0:
                    if work.unicode != NULL:
                        return False        # ToUnicode keeps such characters, any number of them
                    continue
                entry = known(c)
            if entry & HOW == UNKNOWN:
                work.unknown = c
                return False
            if entry & HOW != KEPT:
                return False
        if c < 0x80:
            c = ASCII[c]
            if c == 0:
                return False
            if c == c'.':
                label.dot = True
                return True
            entry = known(c)
        else:
            label.ascii = False
        if label.size == MOST:
            return False
        label.points[label.size] = c
        label.entries[label.size] = entry
        label.size += 1
    label.end = work.n
    return True


cdef size_t write_unicode(const Conversion *work, const Label *label, const uint8_t *ascii, size_t size,
                          uint8_t *dst) noexcept nogil:
    """Write the U-label of a label, given what write_ascii() wrote. Return its size; 0: in doubt."""
    cdef LabelVerdict found = ONE_SCRIPT
    # ToUnicode only takes "." for a dot, and only ASCII for an A-label.
    if label.encoded and not label.plain or label.dot and work.host[label.end] != c'.':
        return 0
    if work.safe and (label.encoded or not label.ascii):
        found = verdict(label)
        if found == UNDECIDED:
            return 0
    if found == MIXED:
        memcpy(dst, ascii, size)
    elif label.encoded:
        size = write_utf8(label, dst)
    else:
        size = label.end - label.start
        memcpy(dst, work.host + label.start, size)
    return size


cdef size_t convert(Conversion *work) noexcept nogil:
    """Write a host. Return its size, with U-labels if they are wanted; 0: in doubt."""
    cdef Label label
    cdef uint8_t *ascii = work.ascii
    cdef size_t i = 0, o = 0, u = 0, last = 0, size = 0, written
    while True:
        if not read_label(work, &i, &label):
            return 0
        if label.size == 0:
            if label.dot or o == 0:
                return 0        # an empty label that is not after the last dot
            break
        last, size = o, write_ascii(&label, ascii + o, &work.unknown)
        if size == 0 or work.bidi and label.right_to_left and (label.dot or o):
            return 0
        o += size
        if work.unicode != NULL:
            written = write_unicode(work, &label, ascii + last, size, work.unicode + u)
            if written == 0:
                return 0
            u += written
        if not label.dot:
            break
        ascii[o] = c'.'
        o += 1
        if work.unicode != NULL:
            work.unicode[u] = c'.'
            u += 1
        # Before the next label is written: A_LABELS_CAPACITY is enough for one of MOST bytes and a dot.
        if o > MOST_OF_HOST + 1:
            return 0
    if o - (ascii[o - 1] == c'.') > MOST_OF_HOST or is_numeric_label(ascii + last, size):
        return 0
    return o if work.unicode == NULL else u


cdef size_t convert_and_learn(Conversion *work) noexcept nogil:
    cdef size_t size
    while True:
        work.unknown = 0
        size = convert(work)
        if size or work.unknown == 0:
            return size
        if not learn_unlocked(work.unknown):
            return UC_REJECTED


cdef size_t to_a_labels(const uint8_t *host, size_t n, uint8_t *dst) noexcept nogil:
    cdef Conversion work = Conversion(host, n, dst, NULL, False, False, 0)
    return convert_and_learn(&work)


cdef size_t to_domain(const uint8_t *host, size_t n, uint8_t *dst) noexcept nogil:
    cdef Conversion work = Conversion(host, n, dst, NULL, False, True, 0)
    return convert_and_learn(&work)


cdef size_t to_u_labels(const uint8_t *host, size_t n, bint safe, uint8_t *dst) noexcept nogil:
    cdef uint8_t ascii[A_LABELS_CAPACITY]
    cdef Conversion work = Conversion(host, n, <uint8_t *>ascii, dst, safe, False, 0)
    return convert_and_learn(&work)


cdef size_t without_ignored(uint8_t *host, size_t n) noexcept nogil:
    cdef size_t i = 0, o = 0, start
    cdef uint32_t c, entry
    while i < n:
        start = i
        c = read_character(host, n, &i) if host[i] >= 0x80 else 0
        if c == 0:          # ASCII, or not UTF-8
            host[o] = host[start]
            i = start + 1
            o += 1
            continue
        entry = known(c)
        if entry == UNKNOWN:
            if not learn_unlocked(c):
                return UC_REJECTED
            entry = known(c)
        if entry == MAPPED:
            continue
        if entry == (<uint32_t>MAPPED | c'.'):
            host[o] = c'.'
            o += 1
            continue
        memmove(host + o, host + start, i - start)
        o += i - start
    return o


# --- IDNA 2003 --------------------------------------------------------------------------------------------------------

# Of a character that is kept, beside its combining class: whether it is written from right to left, or from left to right.
cdef enum:
    RIGHT_2003 = 1 << 8
    LEFT_2003 = 1 << 9


cdef inline uint32_t known_2003(uint32_t c) noexcept nogil:
    cdef const uint32_t *page
    if c < 0x80:
        if ASCII[c] == 0 and c != c'_':
            return DOUBTFUL
        return <uint32_t>MAPPED | ASCII[c] if ASCII[c] > c else <uint32_t>KEPT | FIRST | (LEFT_2003 if c >= c'a' else 0)
    page = <const uint32_t *>uc_read(&pages_2003[c // PAGE])
    return uc_glance32(page + c % PAGE) if page != NULL else <uint32_t>UNKNOWN


cdef int learn_2003(uint32_t c) except -1:
    cdef uint32_t entry = DOUBTFUL
    from uricodec._url import _hosts
    if not uc_read16(&prepared):
        prepare(_hosts.compositions())
    facts = _hosts.facts_of_2003(chr(c))
    if facts is not None:
        mapped, combining, right, left = facts
        entry = (<uint32_t>MAPPED | <uint32_t>mapped if mapped != c else
                 <uint32_t>KEPT | <uint32_t>combining | (RIGHT_2003 if right else 0) | (LEFT_2003 if left else 0))
    return store(pages_2003, c, entry)


cdef bint learn_2003_unlocked(uint32_t c) noexcept with gil:
    """Return whether the character is known now; if not, an exception is set."""
    return (<unchecked_learn>learn_2003)(c) == 0


cdef size_t write_2003(const Label *label, uint8_t *dst) noexcept nogil:
    """Write the A-label of a label, or the label itself if it is ASCII. Return its size; 0: in doubt."""
    cdef uint32_t directions = 0
    cdef size_t size
    cdef int k
    if label.ascii:
        for k in range(label.size):
            dst[k] = <uint8_t>label.points[k]
        return <size_t>label.size
    if not is_normal(label):
        return 0
    for k in range(label.size):
        directions |= label.entries[k]
    # RFC 3454 section 6
    if directions & RIGHT_2003 and (
            directions & LEFT_2003 or not label.entries[0] & label.entries[label.size - 1] & RIGHT_2003):
        return 0
    memcpy(dst, b"xn--", PREFIX)
    for k in range(PREFIX):
        if k == label.size or label.points[k] != dst[k]:
            size = encode(label, dst + PREFIX)
            return PREFIX + size if size else 0
    return 0                # it has the prefix itself


cdef size_t convert_2003(const uint8_t *host, size_t n, uint8_t *dst, uint32_t *unknown) noexcept nogil:
    cdef Label label
    cdef size_t i = 0, o = 0, size
    cdef uint32_t c, entry
    unknown[0] = 0
    while True:
        label.size, label.dot, label.ascii = 0, False, True
        while i < n and not label.dot:
            c = read_character(host, n, &i)
            if c == c'.' or c == 0x3002 or c == 0xFF0E or c == 0xFF61:      # RFC 3490 section 3.1
                label.dot = True
                break
            if c == 0xDF:       # "ß", the one usual letter that becomes two
                c = c's'
                if label.size == MOST:
                    return 0
                label.points[label.size], label.entries[label.size] = c, known_2003(c)
                label.size += 1
            entry = known_2003(c)
            if entry & HOW == MAPPED:
                c = entry & CHARACTER
                if c == 0:
                    continue
                # as if the next one could compose: w3lib composes what is not mapped yet
                entry = known_2003(c) | FIRST
            if entry & HOW != KEPT or label.size == MOST:
                unknown[0] = c if entry & HOW == UNKNOWN else 0
                return 0
            label.points[label.size], label.entries[label.size] = c, entry
            label.ascii &= c < 0x80
            label.size += 1
        if label.size == 0:
            return 0
        size = write_2003(&label, dst + o)
        o += size
        if size == 0 or o > MOST_OF_HOST:
            return 0
        if not label.dot:
            return o
        dst[o] = c'.'
        o += 1
        if i == n:
            return o if o <= MOST_OF_HOST else 0


cdef Py_ssize_t to_idna_2003(const uint8_t *host, size_t n, uint8_t *dst) noexcept nogil:
    cdef uint32_t unknown
    cdef size_t size
    while True:
        size = convert_2003(host, n, dst, &unknown)
        if size or unknown == 0:
            return <Py_ssize_t>size
        if not learn_2003_unlocked(unknown):
            return -2
