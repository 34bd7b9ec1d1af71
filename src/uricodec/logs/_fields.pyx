"""The members of a log line: escapes undone, request and target split, times and numbers parsed.

The order of these steps prevents misreading. First the escapes of the log format are undone, once. Then the request
(RFC 9112 section 3) is split into method, target and protocol, and the target (section 3.2) into path and query, while
they are still percent-encoded. Only then are they decoded. So no decoded byte can act as a delimiter.
"""
from libc.stdint cimport uint32_t
from libc.string cimport memchr, memcmp, memcpy

from uricodec._base._kernels cimport kernels, uc_set
from uricodec._codec._percent cimport hex_value


# --- escapes ----------------------------------------------------------------------------------------------------------

cdef inline void set_undone(Entry *entry, int member, size_t size) noexcept nogil:
    """Let the text of a member be the `size` bytes that were written to the buffer."""
    entry.text[member].at = entry.room
    entry.text[member].n = size
    entry.room += size


cdef inline bint has(const Text *text, uint8_t octet) noexcept nogil:
    return text.at != NULL and memchr(text.at, octet, text.n) != NULL


cdef inline uint8_t c_escape(uint8_t c) noexcept nogil:
    """Return the character that a C escape such as "\\n" represents, given the letter; 0 for other letters."""
    if c == c'n':
        return c'\n'
    if c == c't':
        return c'\t'
    if c == c'r':
        return c'\r'
    if c == c'b':
        return 8
    if c == c'f':
        return 12
    if c == c'v':
        return 11
    return c if c == c'"' or c == c'\\' else 0


cdef inline int hex_escape(const uint8_t *at, size_t n) noexcept nogil:
    """Return the byte of "xhh", or -1."""
    cdef int high, low
    if n < 3 or at[0] != c'x':
        return -1
    high, low = hex_value(at[1]), hex_value(at[2])
    return -1 if high < 0 or low < 0 else high << 4 | low


cdef void undo_backslashes(Entry *entry, int member) noexcept nogil:
    """Undo the escapes of Apache and nginx: "\\xhh" for a byte, and Apache's "\\n" and the like. Other backslashes stay."""
    cdef Text text = entry.text[member]
    cdef size_t i = 0, o = 0
    cdef uint8_t c
    cdef int octet
    if not has(&text, c'\\'):
        return
    while i < text.n:
        c = text.at[i]
        i += 1
        if c == c'\\' and i < text.n:
            octet = hex_escape(text.at + i, text.n - i)
            if octet >= 0:
                c = <uint8_t>octet
                i += 3
            elif c_escape(text.at[i]):
                c = c_escape(text.at[i])
                i += 1
        entry.room[o] = c
        o += 1
    set_undone(entry, member, o)


cdef inline int code_unit(const uint8_t *at, size_t n) noexcept nogil:
    """Return the value of "\\uhhhh", or -1."""
    cdef int value = 0, digit, i
    if n < 6 or at[0] != c'\\' or at[1] != c'u':
        return -1
    for i in range(2, 6):
        digit = hex_value(at[i])
        if digit < 0:
            return -1
        value = value << 4 | digit
    return value


cdef void undo_json(Entry *entry, int member) noexcept nogil:
    """Undo the escapes of a JSON string (RFC 8259 section 7). A lone surrogate becomes three bytes that are not UTF-8."""
    cdef Text text = entry.text[member]
    cdef size_t i = 0, o = 0
    cdef uint8_t *dst = entry.room
    cdef uint8_t c
    cdef int unit, low, octet
    cdef uint32_t point
    if not has(&text, c'\\'):
        return
    while i < text.n:
        c = text.at[i]
        unit = code_unit(text.at + i, text.n - i) if c == c'\\' else -1
        if unit >= 0:
            i += 6
            point = <uint32_t>unit
            if 0xD800 <= unit < 0xDC00:
                low = code_unit(text.at + i, text.n - i)
                if 0xDC00 <= low < 0xE000:
                    point = 0x10000 + (<uint32_t>(unit - 0xD800) << 10 | <uint32_t>(low - 0xDC00))
                    i += 6
            if point < 0x80:
                dst[o] = <uint8_t>point
                o += 1
                continue
            if point < 0x800:
                dst[o] = <uint8_t>(0xC0 | point >> 6)
                o += 1
            elif point < 0x10000:
                dst[o] = <uint8_t>(0xE0 | point >> 12)
                dst[o + 1] = <uint8_t>(0x80 | point >> 6 & 0x3F)
                o += 2
            else:
                dst[o] = <uint8_t>(0xF0 | point >> 18)
                dst[o + 1] = <uint8_t>(0x80 | point >> 12 & 0x3F)
                dst[o + 2] = <uint8_t>(0x80 | point >> 6 & 0x3F)
                o += 3
            dst[o] = <uint8_t>(0x80 | point & 0x3F)
            o += 1
            continue
        i += 1
        if c == c'\\' and i < text.n:
            octet = hex_escape(text.at + i, text.n - i)
            if octet >= 0:      # nginx without escape=json
                c = <uint8_t>octet
                i += 3
            elif text.at[i] == c'/':
                c = c'/'
                i += 1
            elif c_escape(text.at[i]):
                c = c_escape(text.at[i])
                i += 1
        dst[o] = c
        o += 1
    set_undone(entry, member, o)


cdef void undo_triplets(Entry *entry, int member) noexcept nogil:
    """Undo the percent-encoding that the log format applies to the whole member."""
    cdef Text text = entry.text[member]
    if has(&text, c'%'):
        entry.plain = False
        set_undone(entry, member, kernels.decode(text.at, text.n, False, entry.room, text.n))


cdef void undo_cloudfront_agent(Entry *entry) noexcept nogil:
    """Undo the percent-encoding of the agent. Older CloudFront logs encode it twice: a space is %2520, later %20.

    A text that was encoded twice contains no triplet other than %25.
    """
    cdef Text text = entry.text[USER_AGENT]
    cdef size_t i
    cdef bint twice = text.at != NULL
    if twice:
        for i in range(text.n):
            if text.at[i] == c'%' and (text.n - i < 3 or text.at[i + 1] != c'2' or text.at[i + 2] != c'5'):
                twice = False
                break
    undo_triplets(entry, USER_AGENT)
    if twice:
        undo_triplets(entry, USER_AGENT)


cdef void undo_plus(Entry *entry, int member) noexcept nogil:
    """Undo the "+" that IIS writes for a space."""
    cdef Text text = entry.text[member]
    cdef size_t i
    if has(&text, c'+'):
        for i in range(text.n):
            entry.room[i] = c' ' if text.at[i] == c'+' else text.at[i]
        set_undone(entry, member, text.n)


# --- requests ---------------------------------------------------------------------------------------------------------

# RFC 9110 section 5.6.2:
#   token          = 1*tchar
#   tchar          = "!" / "#" / "$" / "%" / "&" / "'" / "*"
#                  / "+" / "-" / "." / "^" / "_" / "`" / "|" / "~"
#                  / DIGIT / ALPHA
# RFC 9110 section 9.1:
#   method = token
cdef ByteSet DIGIT = ByteSet("0123456789")
cdef ByteSet ALPHA = ByteSet("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
cdef ByteSet TCHAR = ByteSet("!#$%&'*+-.^_`|~") | DIGIT | ALPHA

# RFC 3986 section 3.1:
#   scheme        = ALPHA *( ALPHA / DIGIT / "+" / "-" / "." )
cdef ByteSet SCHEME = ALPHA | DIGIT | "+-."

# RFC 9112 section 2.3; RTSP, SIP and others have the same form:
#   HTTP-version  = HTTP-name "/" DIGIT "." DIGIT
# HTTP/2 and HTTP/3 are logged with or without ".0".
cdef ByteSet VERSION = DIGIT | "."

cdef enum:
    LONGEST_PROTOCOL = 16


cdef inline bint is_protocol(const uint8_t *s, size_t n) noexcept nogil:
    cdef size_t i = 0, version
    while i < n and ALPHA.set.member[s[i]]:
        i += 1
    if i == 0 or i == n or s[i] != c'/':
        return False
    version = i = i + 1
    while i < n and VERSION.set.member[s[i]]:
        i += 1
    return version < i == n


cdef void split_request(Entry *entry) noexcept nogil:
    """RFC 9112 section 3:  request-line   = method SP request-target SP HTTP-version

    The target may hold spaces nevertheless. Without a version (HTTP/0.9) it has to begin with "/". A request that is
    none of these is a target without a method.
    """
    cdef const uint8_t *s = entry.text[REQUEST].at
    cdef size_t n = entry.text[REQUEST].n, i = 0, start, end
    if s == NULL:
        return
    while i < n and TCHAR.set.member[s[i]]:
        i += 1
    start = i + 1
    if 0 < i < n and s[i] == c' ':
        end = n
        while end > start and s[end - 1] != c' ' and n - end < LONGEST_PROTOCOL:
            end -= 1
        if end > start and s[end - 1] == c' ' and is_protocol(s + end, n - end):
            entry.text[PROTOCOL] = text_of(s + end, n - end)
            end -= 1
        else:
            end = n
        if end < n or start < n and s[start] == c'/':
            entry.text[METHOD] = text_of(s, i)
            entry.text[TARGET] = text_of(s + start, end - start)
            return
    entry.text[TARGET] = text_of(s, n)
    entry.whole = True


cdef void split_target(Entry *entry) noexcept nogil:
    """RFC 9112 section 3.2:
      request-target = origin-form / absolute-form / authority-form / asterisk-form
      origin-form    = absolute-path [ "?" query ]
      absolute-form  = absolute-URI
      authority-form = uri-host ":" port           ("CONNECT")
    """
    cdef Text target = entry.text[TARGET], method = entry.text[METHOD]
    cdef const uint8_t *s = target.at
    cdef const uint8_t *found
    cdef size_t n = target.n, i = 0, start = 0, end = n
    if s == NULL or entry.whole:
        return
    entry.text[PATH] = entry.text[QUERY] = text_of(NULL, 0)
    if n and s[0] != c'/':
        if method.at != NULL and method.n == 7 and memcmp(method.at, b"CONNECT", 7) == 0:
            return
        if ALPHA.set.member[s[0]]:
            while i < n and SCHEME.set.member[s[i]]:
                i += 1
            if n - i >= 3 and memcmp(s + i, b"://", 3) == 0:
                start = i + 3
                while start < n and s[start] != c'/' and s[start] != c'?':
                    start += 1
    found = <const uint8_t *>memchr(s + start, c'?', n - start)
    if found != NULL:
        end = found - s
        entry.text[QUERY] = text_of(s + end + 1, n - end - 1)
    entry.text[PATH] = text_of(s + start, end - start)


cdef void join_target(Entry *entry) noexcept nogil:
    """Join path and query, which this format logs separately, to a target."""
    cdef Text path = entry.text[PATH], query = entry.text[QUERY]
    cdef size_t n = path.n
    if path.at == NULL:
        return
    memcpy(entry.room, path.at, n)
    if query.at != NULL:
        entry.room[n] = c'?'
        memcpy(entry.room + n + 1, query.at, query.n)
        n += 1 + query.n
    set_undone(entry, TARGET, n)


# --- single values ----------------------------------------------------------------------------------------------------

cdef void forget_dashes(Entry *entry, bint empty) noexcept nogil:
    """Remove members that are "-", which means no value; and empty ones, in formats where they mean the same."""
    cdef Text *text
    cdef int i
    for i in range(MEMBERS):
        text = entry.text + i
        if text.n <= 1 and text.at != NULL and (text.n == 0 and empty or text.n == 1 and text.at[0] == c'-'):
            text.at, text.n = NULL, 0


cdef bint check_numbers(Entry *entry, const uint8_t *line, size_t n) noexcept nogil:
    """Check that status and size are numbers of at most 18 digits, and drop leading zeros."""
    cdef Text *text
    cdef size_t i
    cdef int member
    for member in range(STATUS, BYTES_SENT + 1):
        text = entry.text + member
        if text.at == NULL:
            continue
        i = 0
        while i < text.n and DIGIT.set.member[text.at[i]]:
            i += 1
        if i < text.n or i == 0 or i > 18:
            return fail(entry, STATUS_FAULT if member == STATUS else BYTES_SENT_FAULT,
                        <size_t>(text.at + i - line) if <size_t>(text.at - line) <= n else 0)
        while text.n > 1 and text.at[0] == c'0':
            text.at += 1
            text.n -= 1
    return True


cdef inline bint has_shape(const uint8_t *s, const char *shape, size_t n) noexcept nogil:
    """Return whether s matches a shape, where "0" is any digit, "A" any letter, "+" a sign, and others themselves."""
    cdef size_t i
    for i in range(n):
        if shape[i] == c'0':
            if not DIGIT.set.member[s[i]]:
                return False
        elif shape[i] == c'A':
            if not ALPHA.set.member[s[i]]:
                return False
        elif shape[i] == c'+':
            if s[i] != c'+' and s[i] != c'-':
                return False
        elif s[i] != <uint8_t>shape[i]:
            return False
    return True


cdef inline int number_of(const uint8_t *s) noexcept nogil:
    return 10 * (s[0] - c'0') + s[1] - c'0'


cdef inline bint is_time_of_day(const uint8_t *s) noexcept nogil:
    """Return whether the numbers of hh:mm:ss are in range (RFC 3339 section 5.7)."""
    return number_of(s) < 24 and number_of(s + 3) < 60 and number_of(s + 6) <= 60


cdef inline bint is_date(const uint8_t *year, int month, int day) noexcept nogil:
    """Return whether the date exists (RFC 3339 section 5.7 and appendix C)."""
    cdef int century = number_of(year), rest = number_of(year + 2)
    if not (1 <= month <= 12 and 1 <= day <= 31) or century + rest == 0:
        return False
    if month == 2:
        return day <= (29 if rest % 4 == 0 and (rest or century % 4 == 0) else 28)
    return day <= 30 or month != 4 and month != 6 and month != 9 and month != 11


cdef inline bint is_day(Text date) noexcept nogil:
    return (date.n == 10 and has_shape(date.at, "0000-00-00", 10)
            and is_date(date.at, number_of(date.at + 5), number_of(date.at + 8)))


cdef inline bint is_clock_time(Text time) noexcept nogil:
    return (8 <= time.n <= 24 and has_shape(time.at, "00:00:00.000000000000000", time.n)
            and is_time_of_day(time.at))


# The characters of IPv4 and IPv6 addresses, the latter with a zone.
cdef ByteSet ADDRESS = ByteSet("0123456789ABCDEFabcdef.:%")


cdef inline bint consists_of(Text text, const uc_set *bytes) noexcept nogil:
    return text.n > 0 and kernels.span(text.at, text.n, bytes) == text.n


cdef inline bint is_one(Text text, uint8_t byte) noexcept nogil:
    return text.n == 1 and text.at[0] == byte


cdef bint check_default_columns(Entry *entry, const uint8_t *line) noexcept nogil:
    """Check the columns of a log that did not announce its fields against the default layout.

    A truncated line, or one with other fields, may have the same number of columns by chance. "-" means no value; the
    date and the time are in every line.
    """
    cdef Text path = entry.text[PATH], host = entry.text[CLIENT], status = entry.text[STATUS]
    if not is_day(entry.text[DATE]):
        return fail(entry, TIME_FAULT, entry.text[DATE].at - line)
    if not is_clock_time(entry.text[TIME]):
        return fail(entry, TIME_FAULT, entry.text[TIME].at - line)
    if not consists_of(entry.text[METHOD], &TCHAR.set):
        return fail(entry, REQUEST_FAULT, entry.text[METHOD].at - line)
    if not (path.n and path.at[0] == c'/' or is_one(path, c'*') or is_one(path, c'-')):
        return fail(entry, REQUEST_FAULT, path.at - line)
    if not (consists_of(host, &ADDRESS.set) or is_one(host, c'-')):
        return fail(entry, CLIENT_FAULT, host.at - line)
    if not (status.n == 3 and consists_of(status, &DIGIT.set) or is_one(status, c'-')):
        return fail(entry, STATUS_FAULT, status.at - line)
    return True


cdef const char *MONTHS = "JanFebMarAprMayJunJulAugSepOctNovDec"


cdef size_t put_time(const Entry *entry, uint8_t *dst) noexcept nogil:
    """Write the time in the form of RFC 3339, at most 40 bytes. Return 0 if it is logged in another form, which is kept."""
    cdef Text time = entry.text[TIME], date = entry.text[DATE]
    cdef const uint8_t *s = time.at
    cdef int month
    cdef uint8_t room[26]
    if s == NULL:
        return 0  # pragma: no cover: cannot happen
    if date.at != NULL:
        if not (is_day(date) and is_clock_time(time)):
            return 0
        memcpy(dst, date.at, 10)
        dst[10] = c'T'
        memcpy(dst + 11, s, time.n)
        dst[11 + time.n] = c'Z'
        return 12 + time.n
    # Apache's "%t", nginx's "$time_local".
    if time.n != 26:
        return 0
    memcpy(room, s, 26)
    if not (has_shape(room, "00/AAA/0000:00:00:00 +0000", 26) and is_time_of_day(room + 12)
            and number_of(room + 22) < 24 and number_of(room + 24) < 60):
        return 0
    for month in range(12):
        if memcmp(room + 3, MONTHS + 3 * month, 3) == 0 and is_date(room + 7, month + 1, number_of(room)):
            memcpy(dst, room + 7, 4)
            dst[4] = dst[7] = c'-'
            dst[5] = <uint8_t>(c'0' + (month + 1) // 10)
            dst[6] = <uint8_t>(c'0' + (month + 1) % 10)
            dst[8], dst[9], dst[10] = room[0], room[1], c'T'
            memcpy(dst + 11, room + 12, 8)
            memcpy(dst + 19, room + 21, 3)
            dst[22] = c':'
            memcpy(dst + 23, room + 24, 2)
            return 25
    return 0
