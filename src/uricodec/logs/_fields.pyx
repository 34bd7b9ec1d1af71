"""The members of a log line: escapes undone, request and target split, times and numbers parsed.

The order of these steps prevents misreading. First the escapes of the log format are undone, once. Then the request
(RFC 9112 section 3) is split into method, target and protocol, and the target (section 3.2) into path and query, while
they are still percent-encoded. Only then are they decoded. So no decoded byte can act as a delimiter.
"""
from libc.stdint cimport int64_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memchr, memcmp, memcpy, memset

from uricodec._base._kernels cimport ByteSet, kernels, uc_set
from uricodec._base._text cimport write_character
from uricodec._codec._percent cimport hex_value
from uricodec._url._addresses cimport parse_ipv4, parse_ipv6

from uricodec.logs import _times


# --- escapes ----------------------------------------------------------------------------------------------------------

cdef inline void set_undone(Record *record, int member, size_t size) noexcept nogil:
    """Let the text of a member be the `size` bytes that were written to the buffer."""
    record.text[member].at = record.room
    record.text[member].n = size
    record.room += size


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


cdef inline size_t undo_escape(const uint8_t *s, size_t n, uint8_t *dst) noexcept nogil:
    """Write the byte of the escape that a backslash begins, and return the size of the escape. A backslash that begins none
    stays."""
    cdef int octet = hex_escape(s + 1, n - 1)
    dst[0] = <uint8_t>octet if octet >= 0 else c_escape(s[1]) if n > 1 else 0
    if octet >= 0:
        return 4
    if dst[0]:
        return 2
    dst[0] = s[0]
    return 1


cdef void undo_backslashes(Record *record, int member) noexcept nogil:
    """Undo the escapes of Apache and nginx: "\\xhh" for a byte, and Apache's "\\n" and the like. Other backslashes stay."""
    cdef Text text = record.text[member]
    cdef uint8_t *dst = record.room
    cdef size_t i = 0, at
    if not has(&text, c'\\'):
        return
    while i < text.n:
        at = find(text.at, i, text.n, c'\\')
        dst = copy_blocks(text.at + i, at - i, dst)
        i = at
        if i < text.n:
            i += undo_escape(text.at + i, text.n - i, dst)
            dst += 1
    set_undone(record, member, dst - record.room)


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


cdef size_t json_text(const uint8_t *s, size_t n, uint8_t *dst) noexcept nogil:
    """Undo the escapes of a JSON string (RFC 8259 section 7). A lone surrogate becomes three bytes that are not UTF-8.

    nginx without escape=json writes those of undo_backslashes().
    """
    cdef size_t i = 0, at
    cdef uint8_t *start = dst
    cdef int unit, low
    while i < n:
        at = find(s, i, n, c'\\')
        dst = copy_blocks(s + i, at - i, dst)
        i = at
        if i == n:
            break
        unit = code_unit(s + i, n - i)
        if unit >= 0:
            i += 6
            low = code_unit(s + i, n - i) if 0xD800 <= unit < 0xDC00 else -1
            if 0xDC00 <= low < 0xE000:
                i += 6
                unit = 0x10000 + ((unit - 0xD800) << 10 | (low - 0xDC00))
            dst += write_character(<uint32_t>unit, dst)
        elif n - i > 1 and s[i + 1] == c'/':
            dst[0] = c'/'
            i += 2
            dst += 1
        else:
            i += undo_escape(s + i, n - i, dst)
            dst += 1
    return dst - start


cdef void undo_json(Record *record, int member) noexcept nogil:
    cdef Text text = record.text[member]
    if has(&text, c'\\'):
        set_undone(record, member, json_text(text.at, text.n, record.room))


cdef void undo_hashes(Record *record, int member, bint is_list) noexcept nogil:
    """Undo the escapes of HAProxy: "#HH" for a byte. In a list "#7C" stays, so that "|" separates, and so does "#23"."""
    cdef Text text = record.text[member]
    cdef size_t i = 0, o = 0
    cdef int high, low, octet
    if not has(&text, c'#'):
        return
    record.plain = False
    while i < text.n:
        record.room[o] = text.at[i]
        high = hex_value(text.at[i + 1]) if text.at[i] == c'#' and text.n - i > 2 else -1
        low = hex_value(text.at[i + 2]) if high >= 0 else -1
        octet = 16 * high | low     # negative unless both are digits
        if low >= 0 and not (is_list and (octet == c'|' or octet == c'#')):
            record.room[o] = <uint8_t>octet
            i += 2
        i += 1
        o += 1
    set_undone(record, member, o)


cdef void undo_triplets(Record *record, int member) noexcept nogil:
    """Undo the percent-encoding that the log format applies to the whole member."""
    cdef Text text = record.text[member]
    if has(&text, c'%'):
        record.plain = False
        record.special |= bit_of(member)
        set_undone(record, member, kernels.decode(text.at, text.n, False, record.room, text.n))


cdef void undo_cloudfront_agent(Record *record) noexcept nogil:
    """Undo the percent-encoding of the agent. Older CloudFront logs encode it twice: a space is %2520, later %20.

    A text that was encoded twice contains no triplet other than %25.
    """
    cdef Text text = record.text[USER_AGENT]
    cdef size_t i
    cdef bint twice = text.at != NULL
    if twice:
        for i in range(text.n):
            if text.at[i] == c'%' and (text.n - i < 3 or text.at[i + 1] != c'2' or text.at[i + 2] != c'5'):
                twice = False
                break
    undo_triplets(record, USER_AGENT)
    if twice:
        undo_triplets(record, USER_AGENT)


cdef void undo_cloudfront(Record *record) noexcept nogil:
    """Undo the percent-encoding of what visitors write."""
    undo_triplets(record, TARGET)
    undo_triplets(record, PATH)
    undo_triplets(record, QUERY)
    undo_triplets(record, REFERER)
    undo_triplets(record, FORWARDED_FOR)
    undo_cloudfront_agent(record)


cdef void undo_plus(Record *record, int member) noexcept nogil:
    """Undo the "+" that IIS writes for a space."""
    cdef Text text = record.text[member]
    cdef uint8_t *dst = record.room
    cdef size_t i
    if has(&text, c'+'):
        for i in range(text.n):
            dst[i] = c' ' if text.at[i] == c'+' else text.at[i]
        set_undone(record, member, text.n)


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


cdef inline bint is_bare_version(const uint8_t *s, size_t n) noexcept nogil:
    """Return whether a text is a version of HTTP without its name, which Hypercorn writes: 1.0, 1.1, 2, 2.0, 3, 3.0."""
    if n == 3 and s[0] == c'1':
        return s[1] == c'.' and (s[2] == c'0' or s[2] == c'1')
    return (n == 1 or n == 3 and s[1] == c'.' and s[2] == c'0') and (s[0] == c'2' or s[0] == c'3')


cdef void name_protocol(Record *record) noexcept nogil:
    """Write "HTTP/" before a version without it."""
    cdef Text version = record.text[PROTOCOL]
    if version.at != NULL and is_bare_version(version.at, version.n):
        memcpy(record.room, b"HTTP/", 5)
        memcpy(record.room + 5, version.at, version.n)
        set_undone(record, PROTOCOL, version.n + 5)


cdef void split_request(Record *record) noexcept nogil:
    """RFC 9112 section 3:  request-line   = method SP request-target SP HTTP-version

    The target may hold spaces nevertheless. Without a version (HTTP/0.9), or with one that has no name, it has to begin with
    "/". A request that is none of these is a target without a method. Proxies that log its parts have "-" for those that
    are missing: "- - HTTP/1.1".
    """
    cdef const uint8_t *s = record.text[REQUEST].at
    cdef size_t n = record.text[REQUEST].n, i = 0, start, end
    if s == NULL:
        return
    while i < n and TCHAR.set.member[s[i]]:
        i += 1
    start = i + 1
    if 0 < i < n and s[i] == c' ':
        end = n
        while end > start and s[end - 1] != c' ' and n - end < LONGEST_PROTOCOL:
            end -= 1
        if end > start and s[end - 1] == c' ' and (
                is_protocol(s + end, n - end) or s[start] == c'/' and is_bare_version(s + end, n - end)):
            record.text[PROTOCOL] = text_of(s + end, n - end)
            name_protocol(record)
            end -= 1
        else:
            end = n
        if n > 4 and memcmp(s, b"- - ", 4) == 0 and (end == 3 or n == 5 and s[4] == c'-'):
            return
        if end < n or start < n and s[start] == c'/':
            record.text[METHOD] = text_of(s, i)
            record.text[TARGET] = text_of(s + start, end - start)
            return
    record.text[TARGET] = text_of(s, n)
    record.whole = True


cdef void split_target(Record *record) noexcept nogil:
    """RFC 9112 section 3.2:
      request-target = origin-form / absolute-form / authority-form / asterisk-form
      origin-form    = absolute-path [ "?" query ]
      absolute-form  = absolute-URI
      authority-form = uri-host ":" port           ("CONNECT")
    """
    cdef Text target = record.text[TARGET], method = record.text[METHOD]
    cdef const uint8_t *s = target.at
    cdef const uint8_t *found
    cdef size_t n = target.n, i = 0, start = 0, end = n
    if s == NULL or record.whole:
        return
    record.text[PATH] = record.text[QUERY] = text_of(NULL, 0)
    if n and s[0] != c'/':
        if method.at != NULL and method.n == 7 and memcmp(method.at, b"CONNECT", 7) == 0:
            return
        if n > 6 and memcmp(s, b"error:", 6) == 0:      # Squid's reason why there is none, such as error:invalid-request
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
        record.text[QUERY] = text_of(s + end + 1, n - end - 1)
    record.text[PATH] = text_of(s + start, end - start)


cdef void join_target(Record *record) noexcept nogil:
    """Join path and query, which this format logs separately, to a target."""
    cdef Text path = record.text[PATH], query = record.text[QUERY]
    cdef size_t n = path.n
    if path.at == NULL:
        return
    memcpy(record.room, path.at, n)
    if query.at != NULL:
        record.room[n] = c'?'
        memcpy(record.room + n + 1, query.at, query.n)
        n += 1 + query.n
    set_undone(record, TARGET, n)


cdef void settle_path(Record *record) noexcept nogil:
    """Determine whether the path of a record is decoded, which products that name it alike do differently.

    One with a "?" or a triplet is a target as it was requested, unless it has a space, which no target can have. If it
    has a query, that is the one.
    """
    cdef Text path = record.text[PATH]
    cdef size_t i
    if find(path.at, 0, path.n, c' ') < path.n:
        return
    if find(path.at, 0, path.n, c'?') < path.n:
        record.text[QUERY] = text_of(NULL, 0)
        record.decoded = False
        return
    i = find(path.at, 0, path.n, c'%')
    while i < path.n:
        if path.n - i > 2 and hex_value(path.at[i + 1]) >= 0 and hex_value(path.at[i + 2]) >= 0:
            record.decoded = False
            return
        i = find(path.at, i + 1, path.n, c'%')


cdef void read_request(Record *record) noexcept nogil:
    """Determine method, target, path and query from what the format has of them.

    The parts take precedence over the request in one piece. A path without a target is a part of one: it may have a
    query, unless the format has this apart, or the path is decoded already.
    """
    cdef Text method = record.text[METHOD], target = record.text[TARGET], protocol = record.text[PROTOCOL]
    split_request(record)
    if method.at != NULL:
        record.text[METHOD] = method
    if protocol.at != NULL:
        record.text[PROTOCOL] = protocol
    if target.at != NULL:
        record.text[TARGET] = target
        record.whole = False
    if record.text[PATH].at == NULL or record.text[TARGET].at != NULL and not record.whole:
        record.decoded = False
        split_target(record)
        return
    record.whole = False
    if record.decoded or record.text[QUERY].at != NULL:
        join_target(record)
    else:
        record.text[TARGET] = record.text[PATH]
        split_target(record)


# --- addresses --------------------------------------------------------------------------------------------------------

cdef bint is_address(Text text) noexcept nogil:
    """Return whether a text is an IPv4 or an IPv6 address, the latter perhaps with a zone (RFC 4007 section 11)."""
    cdef uint16_t groups[8]
    if find(text.at, 0, text.n, c':') == text.n:
        return parse_ipv4(text.at, 0, text.n, groups)
    return parse_ipv6(text.at, find(text.at, 0, text.n, c'%'), groups)


cdef Text split_port(Text *text, bint endpoint) noexcept nogil:
    """Remove the port of "192.0.2.1:80", "host:80" or "[2001:db8::1]:80", and the brackets. Return it; NULL: there is none.

    `endpoint`: the text always has a port, so that the last group of "2001:db8::1:80" is one (HAProxy), provided that an
    address is before it. Otherwise that is an address itself.
    """
    cdef const uint8_t *s = text.at
    cdef size_t n = text.n, end = n, first
    if n > 2 and s[0] == c'[':
        first = find(s, 0, n, c']')
        while end > first and DIGIT.set.member[s[end - 1]]:
            end -= 1
        if first < n and (end == first + 1 == n or end == first + 2 and s[first + 1] == c':' and n - end <= 5) and is_address(
                text_of(s + 1, first - 1)):
            text[0] = text_of(s + 1, first - 1)
            return text_of(s + end if end < n else NULL, n - end)
        return text_of(NULL, 0)
    while end and DIGIT.set.member[s[end - 1]]:
        end -= 1
    if end < 2 or end == n or n - end > 5 or s[end - 1] != c':':
        return text_of(NULL, 0)
    if find(s, 0, end - 1, c':') < end - 1 and (
            not is_address(text_of(s, end - 1)) or not endpoint and is_address(text[0])):
        return text_of(NULL, 0)
    text.n = end - 1
    return text_of(s + end, n - end)


cdef enum:
    LONGEST_ADDRESS = 96        # with a zone and a port


cdef size_t source_before(Text word, bint endpoint) noexcept nogil:
    """Return the size of what precedes the address at the start of a line, given its first word.

    `grep -H` writes the name of a file, "access.log:", and -n a number, "12:", Python's logging the level and the logger,
    "INFO:werkzeug:". If the word has a colon or a bracket, but no address at its end, it is neither an address nor a name of
    a host: return a larger number than its size. "unix:" is the peer of a Unix domain socket.
    """
    cdef Text rest = word
    cdef size_t i = find(word.at, 0, word.n, c':')
    if i == word.n:
        return word.n + 1 if word.n and word.at[0] == c'[' else 0
    split_port(&rest, endpoint)
    if find(rest.at, 0, rest.n, c':') == rest.n or word.n > 4 and memcmp(word.at, b"unix:", 5) == 0:
        return word.n + 1 if rest.n and rest.at[0] == c'[' else 0
    if is_address(rest) and not is_numbered(word):
        return 0
    while i < word.n:
        rest = text_of(word.at + i + 1, word.n - i - 1)
        if rest.n <= LONGEST_ADDRESS and not is_numbered(rest):
            split_port(&rest, endpoint)
            if is_address(rest):
                return i + 1 if ends_like_name(word, i) or find(rest.at, 0, rest.n, c':') == rest.n else word.n + 1
        i = find(word.at, i + 1, word.n, c':')
    return word.n + 1


cdef inline bint is_usual_ipv6(Text address) noexcept nogil:
    """Return whether an IPv6 address begins like one of those that are assigned, 2000::/3 or fc00::/6, or is the loopback."""
    cdef size_t n = find(address.at, 0, address.n, c':')
    if n == 4:
        return address.at[0] == c'2' or address.at[0] == c'3' or address.at[0] | 0x20 == c'f'
    return address.n == 3 and memcmp(address.at, b"::1", 3) == 0 or (
        address.n == 15 and memcmp(address.at, b"0:0:0:0:0:0:0:1", 15) == 0)


cdef bint is_numbered(Text word) noexcept nogil:
    """Return whether a word is an IPv6 address with a number before it: 12:2001:db8::1, 12:::1."""
    cdef size_t n = find(word.at, 0, word.n, c':')
    cdef Text rest
    if n == 0 or n + 1 >= word.n or kernels.span(word.at, n, &DIGIT.set) < n:
        return False
    rest = text_of(word.at + n + 1, word.n - n - 1)
    return is_usual_ipv6(rest) and is_address(rest)


cdef bint ends_like_name(Text word, size_t n) noexcept nogil:
    """Return whether what is before the colon at n is a name, not a sign and a group of an address: "[info]2001"."""
    cdef size_t i = n
    while i and NAME.set.member[word.at[i - 1]]:
        i -= 1
    return i < n and (i == 0 or word.at[i - 1] == c':')


# Characters of the names of files and loggers.
cdef ByteSet NAME = ALPHA | DIGIT | "._-/~+@%"


cdef bint next_address(Text *list, Text *address, Text *port) noexcept nogil:
    """Take the next of the addresses of X-Forwarded-For, without its port. False: there is none."""
    cdef size_t end
    while list.n:
        end = find(list.at, 0, list.n, c',')
        address.at, address.n = list.at, end
        end += end < list.n
        list.at, list.n = list.at + end, list.n - end
        while address.n and address.at[0] == c' ':
            address.at, address.n = address.at + 1, address.n - 1
        while address.n and address.at[address.n - 1] == c' ':
            address.n -= 1
        if address.n > 1 or address.n and address.at[0] != c'-':
            port[0] = split_port(address, False)
            return True
    return False


# --- single values ----------------------------------------------------------------------------------------------------

cdef size_t forget_dashes(Record *record, bint empty) noexcept nogil:
    """Remove members that are "-", which means no value; and empty ones, in formats where they mean the same.

    Return how many values are left.
    """
    cdef Text *text
    cdef int i
    cdef size_t left = 0
    for i in range(MEMBERS + <int>record.extras):
        text = record.text + i
        if text.n <= 1 and text.at != NULL and (text.n == 0 and empty or text.n == 1 and text.at[0] == c'-'):
            text.at, text.n = NULL, 0
        left += text.at != NULL
    return left


cdef int first_n
cdef uint8_t first_bytes[8]
for first_n in range(9):
    memset(first_bytes, 0, 8)
    memset(first_bytes, 0xFF, first_n)
    FIRST_BYTES[first_n] = word_at(first_bytes)


cdef bint is_decimal(Text text) noexcept nogil:
    """Return whether a number is of at most 17 digits, with a fraction or without."""
    cdef const uint8_t *s = text.at
    cdef size_t i = 0
    if text.n > 18 or not is_digit(s[text.n - 1]):
        return False
    while i < text.n and is_digit(s[i]):
        i += 1
    if i == 0 or i < text.n and s[i] != c'.':
        return False
    i += 1
    while i < text.n:
        if not is_digit(s[i]):
            return False
        i += 1
    return True


cdef bint check_number(Text *text) noexcept nogil:
    """Return whether a text is a number of at most 18 digits; drop "+" (HAProxy: at least) and leading zeros.

    A negative number means a missing value.
    """
    cdef size_t i = 0
    cdef bint negative = text.n and text.at[0] == c'-'
    if text.n and (negative or text.at[0] == c'+'):
        text.at, text.n = text.at + 1, text.n - 1
    while i < text.n and DIGIT.set.member[text.at[i]]:
        i += 1
    if i < text.n or i == 0 or i > 18:
        return False
    while text.n > 1 and text.at[0] == c'0':
        text.at, text.n = text.at + 1, text.n - 1
    if negative:
        text.at, text.n = NULL, 0
    return True


cdef bint check_decimal(Text *text) noexcept nogil:
    """Return whether a text is a number that may have a fraction, an exponent, and a "s"; drop "+" and "s"."""
    cdef uint8_t buffer[128]
    cdef bint negative = text.n and text.at[0] == c'-'
    if text.n and (negative or text.at[0] == c'+'):
        text.at, text.n = text.at + 1, text.n - 1
    if text.n and text.at[text.n - 1] == c's':
        text.n -= 1
    if put_seconds(text[0], 0, buffer) == 0:
        return False
    if negative:
        text.at, text.n = NULL, 0
    return True


cdef int64_t nanoseconds_in(const uint8_t *s, size_t n, size_t *size) noexcept nogil:
    """Return the value of the unit that a text begins with, and its size; 0 if it begins with none."""
    size[0] = 2
    if n > 1 and s[1] == c's' and (s[0] == c'n' or s[0] == c'u' or s[0] == c'm'):
        return 1 if s[0] == c'n' else 1000 if s[0] == c'u' else 1000000
    if n > 2 and s[2] == c's' and (s[0] == 0xC2 and s[1] == 0xB5 or s[0] == 0xCE and s[1] == 0xBC):      # U+00B5, U+03BC
        size[0] = 3
        return 1000
    size[0] = 1
    if n > 0 and (s[0] == c's' or s[0] == c'm' or s[0] == c'h'):
        return 1000000000 * (1 if s[0] == c's' else 60 if s[0] == c'm' else 3600)
    return 0


cdef bint check_units(Record *record, int unit) noexcept nogil:
    """Return whether the duration is one with units, "12.3ms", "1m2.5s", and write it as a number of 10 ** unit seconds.

    Source: Go, time.Duration.String(). What is less than a nanosecond is dropped.
    """
    cdef Text *text = record.text + DURATION
    cdef const uint8_t *s = text.at
    cdef bint negative = text.n and s[0] == c'-'
    cdef size_t i = negative, size, digits, point, end = DURATION_SIZE
    cdef int64_t total = 0, scale, value
    cdef int exponent = -9 - unit, _
    while i < text.n:
        digits = i
        while i < text.n and i - digits < 10 and is_digit(s[i]):
            i += 1
        value = digits_at(s + digits, <int>(i - digits))
        size = i - digits
        point = i
        if i < text.n and s[i] == c'.':
            i += 1
            while i < text.n and is_digit(s[i]):
                i += 1
            size += i - point - 1
        digits = i
        scale = nanoseconds_in(s + i, text.n - i, &size) if size else 0
        if scale == 0 or value > (<int64_t>1 << 62) // scale:
            return False
        i += size
        total += value * scale
        if total > <int64_t>1 << 62:
            return False
        value = 0
        while digits > point + 1:       # the fraction, from its last digit to the first
            digits -= 1
            value = (value + scale * (s[digits] - c'0')) // 10
        total += value
        if total > <int64_t>1 << 62:
            return False
    if i == negative:
        return False
    if negative:
        text.at, text.n = NULL, 0
        return True
    # Backwards: the exponent, "e", and the digits.
    size = <size_t>abs(exponent)
    for _ in range(2):
        end -= 1
        record.duration[end] = <uint8_t>(c'0' + size % 10)
        size //= 10
    if exponent < 0:
        end -= 1
        record.duration[end] = c'-'
    end -= 1
    record.duration[end] = c'e'
    while total or record.duration[end] == c'e':
        end -= 1
        record.duration[end] = <uint8_t>(c'0' + total % 10)
        total //= 10
    text[0] = text_of(record.duration + end, DURATION_SIZE - end)
    return True


cdef bint check_duration(Record *record, int unit) noexcept nogil:
    """Return whether the duration is a number, or one with units. `unit`: the power of ten of a number, in seconds."""
    cdef Text text = record.text[DURATION]
    if (unit == 0 or text.n == 0 or text.at[text.n - 1] != c's') and check_decimal(record.text + DURATION):
        return True
    record.text[DURATION] = text
    return check_units(record, unit)


cdef bint check_numbers(Record *record, const uint8_t *line, size_t n) noexcept nogil:
    """Check status, size and duration."""
    cdef int member
    cdef Text *text
    cdef const uint8_t *at
    for member in range(3):
        member = STATUS if member == 0 else BYTES_SENT if member == 1 else DURATION
        text = record.text + member
        at = text.at
        if at != NULL and not (check_duration(record, record.unit) if member == DURATION else check_number(text)):
            return fail(record, FIELD + member, <size_t>(at - line) if line <= at <= line + n else 0)
    return True


cdef inline bint is_usual_fraction(Text text) noexcept nogil:
    """Return whether a number is written as put_seconds() writes it: 0.5, 12.25."""
    cdef size_t i = 0, point
    while i < text.n and DIGIT.set.member[text.at[i]]:
        i += 1
    point = i
    if i == 0 or i > 1 and text.at[0] == c'0' or text.n - i < 2 or text.n > 40 or text.at[i] != c'.':
        return False
    i += 1
    while i < text.n and DIGIT.set.member[text.at[i]]:
        i += 1
    return i == text.n and (text.at[i - 1] != c'0' or i == 3 and point == 1 and text.at[0] == c'0')


cdef size_t put_seconds(Text text, int unit, uint8_t *dst) noexcept nogil:
    """Write a decimal number, times 10 ** unit, as a JSON number with a fraction. Return its size; 0 if it is invalid.

    At most 100 bytes.
    """
    cdef uint8_t digits[40]
    cdef size_t i = 0, o = 0, count = 0, start = 0
    if unit == 0 and is_usual_fraction(text):
        memcpy(dst, text.at, text.n)
        return text.n
    cdef int point = unit, exponent = 0, k, _
    cdef bint fraction = False, negative = False
    while i < text.n and (DIGIT.set.member[text.at[i]] or text.at[i] == c'.' and not fraction):
        if text.at[i] == c'.':
            fraction = True
        else:
            if count == 40:
                return 0
            digits[count] = text.at[i]
            count += 1
            point += not fraction
        i += 1
    if count == 0:
        return 0
    if i < text.n and text.at[i] | 32 == c'e':
        i += 1
        if i < text.n and (text.at[i] == c'-' or text.at[i] == c'+'):
            negative = text.at[i] == c'-'
            i += 1
        if i == text.n or text.n - i > 2:
            return 0
        while i < text.n and DIGIT.set.member[text.at[i]]:
            exponent = 10 * exponent + text.at[i] - c'0'
            i += 1
        point += -exponent if negative else exponent
    if i < text.n:
        return 0
    if not -40 <= point - unit <= 40:
        return 0
    while start < count and digits[start] == c'0':
        start += 1
        point -= 1
    while count > start and digits[count - 1] == c'0':
        count -= 1
    if start == count:
        point = 0
    if point <= 0:
        dst[0], dst[1] = c'0', c'.'
        o = 2
        for _ in range(-point):
            dst[o] = c'0'
            o += 1
    for k in range(<int>(count - start)):
        if k == point and k:
            dst[o] = c'.'
            o += 1
        dst[o] = digits[start + k]
        o += 1
    for _ in range(<int>(count - start), point):
        dst[o] = c'0'
        o += 1
    if point >= <int>(count - start):
        if point > 0:
            dst[o] = c'.'
            o += 1
        dst[o] = c'0'
        o += 1
    return o


cdef double POWERS[23]      # of ten; all are exact
POWERS = [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21,
          1e22]


cdef double seconds_of(Text text, int unit) noexcept nogil:
    """Return a duration, which put_seconds() accepts, as the nearest double.

    A number of 15 digits and a power of ten are exact, so that their quotient or product is rounded once.
    """
    cdef uint8_t written[128]
    cdef uint64_t digits = 0
    cdef size_t i, count = 0, n
    cdef int exponent = unit
    cdef bint after = False
    for i in range(text.n):
        if DIGIT.set.member[text.at[i]]:
            digits = 10 * digits + (text.at[i] - c'0')
            count += digits > 0
            exponent -= after
        elif text.at[i] == c'.':
            after = True
        else:
            count = 16      # an exponent
        if count > 15:
            break
    if count <= 15 and -22 <= exponent <= 0:
        return <double>digits / POWERS[-exponent]
    if count <= 15 and 0 < exponent <= 7:
        return <double>digits * POWERS[exponent]
    n = put_seconds(text, unit, written)
    with gil:
        return float(written[:n])


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


cdef bint check_default_columns(Record *record, bint commas, const uint8_t *line) noexcept nogil:
    """Check the columns of a log that did not announce its fields against the default layout.

    A truncated line, or one with other fields, may have the same number of columns by chance. "-" means no value; the
    date and the time are in every line. `commas`: whether an empty value means none, too.
    """
    cdef Text path = record.text[PATH], host = record.text[CLIENT], status = record.text[STATUS], time = record.text[TIME]
    cdef uint8_t written[48]
    if record.text[DATE].at == NULL:
        if put_moment(time.at, time.n, written) == 0:
            return fail(record, FIELD + TIME, time.at - line)
        path = record.text[TARGET]
    elif not is_day(record.text[DATE]):
        return fail(record, FIELD + TIME, record.text[DATE].at - line)
    elif not is_clock_time(time):
        return fail(record, FIELD + TIME, time.at - line)
    if not consists_of(record.text[METHOD], &TCHAR.set):
        return fail(record, FIELD + REQUEST, record.text[METHOD].at - line)
    if not (path.n and path.at[0] == c'/' or is_one(path, c'*') or is_one(path, c'-')):
        return fail(record, FIELD + REQUEST, path.at - line)
    if not (consists_of(host, &ADDRESS.set) or is_one(host, c'-') or commas and host.n == 0):
        return fail(record, FIELD + CLIENT, host.at - line)
    if not (status.n == 3 and consists_of(status, &DIGIT.set) or is_one(status, c'-') or commas and status.n == 0):
        return fail(record, FIELD + STATUS, status.at - line)
    return True


# A name of a site, with its port: also what a client may be logged as.
cdef ByteSet HOST = ALPHA | DIGIT | "-._:[]%"


cdef bint is_site(Text text) noexcept nogil:
    """Return whether a text is a name or an address of a host, perhaps with a port, or is missing."""
    cdef size_t end
    if text.at == NULL or text.n == 0 or text.at[0] != c'[':
        if text.at == NULL or not consists_of(text, &HOST.set):
            return text.at == NULL
        end = find(text.at, 0, text.n, c':')
        # not a name such as that of a logger in "INFO:access:"
        return end == text.n or consists_of(text_of(text.at + end + 1, text.n - end - 1), &DIGIT.set) or is_address(text)
    end = find(text.at, 1, text.n, c']')
    return end < text.n and is_address(text_of(text.at + 1, end - 1))


cdef bint is_usual_site(Text text) noexcept nogil:
    """Return whether a text is more likely the site of a request than the name of a machine, or of a stream of logs.

    It is an address, a name in a domain, or what servers have by default: "localhost", "_" (nginx), "default".
    """
    cdef size_t last
    if text.at == NULL or is_one(text, c'_') or is_address(text) or text.at[0] == c'[':
        return True
    if text.n == 9 and memcmp(text.at, b"localhost", 9) == 0 or text.n == 7 and memcmp(
            text.at, b"default", 7) == 0:
        return True
    last = text.n
    while last and text.at[last - 1] != c'.':
        last -= 1
    return 1 < last and text.n - last > 1 and ALPHA.set.member[text.at[last]]


cdef bint has_usual_values(const Record *record, bint named, bint list_is_client) noexcept nogil:
    """Return whether the values are what the names of the fields promise. Used to find out the format of a log.

    `named`: whether the log itself names the fields; then those that visitors write may have any value.
    `list_is_client`: whether X-Forwarded-For stands in the place of the peer.
    """
    cdef uint8_t buffer[48]
    cdef Text client = record.text[CLIENT], status = record.text[STATUS], method = record.text[METHOD]
    cdef Text list = record.text[FORWARDED_FOR], time = record.text[TIME], vhost = record.text[VHOST], user = record.text[USER]
    cdef size_t i
    if time.at != NULL and put_time(record, buffer) == 0:
        return False
    if client.at != NULL and not consists_of(client, &HOST.set):
        return False
    if status.at != NULL and not (status.n == 3 or status.n == 1 and status.at[0] == c'0'):
        return False
    if named:
        return True
    if user.at != NULL and find(user.at, 0, user.n, c'[') < user.n:
        return False        # there is a field between it and the time
    if vhost.at != NULL and vhost.n and not consists_of(vhost, &HOST.set):
        return False
    if vhost.n >= 13 and has_shape(vhost.at, "0000-00-00T00", 13):
        return False        # a time that another program wrote before the line
    if method.at != NULL and not consists_of(method, &TCHAR.set):
        return False
    if list.at != NULL and list_is_client and find(list.at, 0, list.n, c',') == list.n:
        return False        # one address in the place of the peer may be the peer
    if list.n > 4 and find(list.at, 0, list.n, c'.') < list.n and (
            memcmp(list.at + list.n - 3, b":80", 3) == 0 or memcmp(list.at + list.n - 4, b":443", 4) == 0):
        return False        # a site, and the port of the server
    if list.at != NULL and not is_one(list, c'-'):
        for i in range(list.n):
            if not ADDRESS.set.member[list.at[i]] and list.at[i] != c',' and list.at[i] != c' ' and not (
                    list.n == 7 and memcmp(list.at, b"unknown", 7) == 0):
                return False
    return True


cdef const char *MONTHS = "JanFebMarAprMayJunJulAugSepOctNovDec"


cdef int month_of(const uint8_t *s) noexcept nogil:
    """Return the month, 1 to 12, that three letters name, in any case; 0 if they do not."""
    cdef int month
    cdef const uint8_t *name = <const uint8_t *>MONTHS
    for month in range(12):
        if (s[0] ^ name[3 * month] | s[1] ^ name[3 * month + 1] | s[2] ^ name[3 * month + 2]) & ~0x20 == 0:
            return month + 1
    return 0


cdef size_t put_zone(const uint8_t *s, size_t n, uint8_t *dst) noexcept nogil:
    """Write a zone: "Z", also for "GMT" and "UTC"; "+hh:mm" for "+hhmm" or "+hh:mm". Return its size; 0 if it is invalid."""
    if n == 1 and s[0] == c'Z' or n == 3 and (memcmp(s, b"GMT", 3) == 0 or memcmp(s, b"UTC", 3) == 0):
        dst[0] = c'Z'
        return 1
    if not (n == 5 and has_shape(s, "+0000", 5) or n == 6 and has_shape(s, "+00:00", 6)):
        return 0
    if number_of(s + 1) > 23 or number_of(s + n - 2) > 59:
        return 0
    memcpy(dst, s, 3)
    dst[3] = c':'
    memcpy(dst + 4, s + n - 2, 2)
    return 6


cdef size_t put_clock(const uint8_t *s, size_t n, bint space, uint8_t *dst) noexcept nogil:
    """Write "Thh:mm:ss" with fraction and zone, of which both may be missing. Return its size; 0 if it is invalid.

    `space`: whether a space is before the zone.
    """
    cdef size_t i = 8, size
    if n < 8 or not has_shape(s, "00:00:00", 8) or not is_time_of_day(s):
        return 0
    if i + 1 < n and (s[i] == c'.' or s[i] == c',') and DIGIT.set.member[s[i + 1]]:     # Python's logging: a comma
        i += 1
        while i < n and i < 24 and DIGIT.set.member[s[i]]:
            i += 1
    dst[0] = c'T'
    memcpy(dst + 1, s, i)
    if i > 8:
        dst[9] = c'.'
    if i == n:
        return i + 1
    size = i + space
    if (s[i] == c' ') != space or size >= n:
        return 0
    size = put_zone(s + size, n - size, dst + i + 1)
    return size and i + 1 + size


cdef size_t put_epoch(const uint8_t *s, size_t n, Day *known, uint8_t *dst) noexcept nogil:
    """Write seconds since 1970 with or without a fraction; or an integer of 13, 16 or 19 digits: milliseconds,
    microseconds or nanoseconds. Return its size; 0 for other texts. `known`: the day of the last time.
    """
    cdef size_t whole = 0, fraction = 0, i = 0, k
    cdef uint64_t seconds = 0
    cdef uint32_t days, rest
    while whole < n and DIGIT.set.member[s[whole]]:
        whole += 1
    if whole == 0:
        return 0
    if whole < n:
        if s[whole] != c'.':
            return 0
        fraction = n - whole - 1
        for i in range(whole + 1, n):
            if not DIGIT.set.member[s[i]]:
                return 0
        if whole > 10 or fraction == 0 or fraction > 15:
            return 0
        i = whole + 1
    elif whole > 10:
        fraction = whole - 10
        if whole != 13 and whole != 16 and whole != 19:
            return 0
        whole -= fraction
        i = whole
    for k in range(whole):
        seconds = 10 * seconds + (s[k] - c'0')
    days = <uint32_t>(seconds // 86400) + 719468
    rest = <uint32_t>(seconds - <uint64_t>86400 * (days - 719468))
    if days != known.number:
        known.number = days
        put_day(days, known.text)
    memcpy(dst, known.text, 10)
    dst[10] = c'T'
    put_two(<int>(rest // 3600), dst + 11)
    dst[13] = dst[16] = c':'
    put_two(<int>(rest // 60 % 60), dst + 14)
    put_two(<int>(rest % 60), dst + 17)
    if fraction:
        dst[19] = c'.'
        for k in range(fraction):
            dst[20 + k] = s[i + k]
        fraction += 1
    dst[19 + fraction] = c'Z'
    return 20 + fraction


cdef void put_day(uint32_t days, uint8_t *dst) noexcept nogil:
    """Write the date of a number of days since 0000-03-01: leap days are then last in their years."""
    cdef uint32_t era, day_of_era, year_of_era, day_of_year, month, day
    era = days // 146097
    day_of_era = days % 146097
    year_of_era = (day_of_era - day_of_era // 1460 + day_of_era // 36524 - day_of_era // 146096) // 365
    day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    month = (5 * day_of_year + 2) // 153
    day = day_of_year - (153 * month + 2) // 5 + 1
    month = month + 3 if month < 10 else month - 9
    year_of_era += 400 * era + (month <= 2)
    put_two(<int>(year_of_era // 100), dst)
    put_two(<int>(year_of_era % 100), dst + 2)
    dst[4] = dst[7] = c'-'
    put_two(<int>month, dst + 5)
    put_two(<int>day, dst + 8)


cdef inline void put_two(int number, uint8_t *dst) noexcept nogil:
    dst[0], dst[1] = <uint8_t>(c'0' + number // 10), <uint8_t>(c'0' + number % 10)


cdef size_t put_date(const uint8_t *year, int month, int day, uint8_t *dst) noexcept nogil:
    """Write a date. Return its size; 0 if there is no such date, or the year is not one."""
    if not has_shape(year, "0000", 4) or not is_date(year, month, day):
        return 0
    memcpy(dst, year, 4)
    dst[4] = dst[7] = c'-'
    put_two(month, dst + 5)
    put_two(day, dst + 8)
    return 10


cdef size_t end_of_date(const uint8_t *s, size_t n, int *day, int *month) noexcept nogil:
    """Read a date with the day, of one digit or two, first: 10/Oct/2024, 4-Oct-2024, Thu, 10 Oct 2024, 10.10.2024.

    Return its end, where its year ends; 0 if it has another form. Numbers with "/" are no date: days or months may be first.
    """
    cdef size_t i = 5 if n > 5 and has_shape(s, "AAA, ", 5) else 0
    if n < i + 11 or not is_digit(s[i]):
        return 0
    day[0] = s[i] - c'0'
    i += 1
    if is_digit(s[i]):
        day[0] = number_of(s + i - 1)
        i += 1
    if has_shape(s + i, ".00.0000", 8):
        month[0] = number_of(s + i + 1)
        return i + 8
    if (s[i] != c'/' and s[i] != c'-' and s[i] != c' ') or s[i + 4] != s[i] or not has_shape(s + i + 5, "0000", 4):
        return 0
    month[0] = month_of(s + i + 1)
    return i + 9 if month[0] else 0


cdef inline size_t both(size_t date, size_t clock) noexcept nogil:
    return date + clock if date and clock else 0


cdef size_t put_moment(const uint8_t *s, size_t n, uint8_t *dst) noexcept nogil:
    """Write a time in the form of RFC 3339, at most 48 bytes; without a zone, if none is logged. Return its size.

    10/Oct/2024:13:55:36 +0000        Apache's "%t", nginx's "$time_local"; HAProxy has a fraction and no zone
    10.10.2024 13:55:36               and others with the day first, see end_of_date()
    2024-10-10T13:55:36.5+02:00       RFC 3339, ISO 8601; with a space instead of the "T", there may be one before the zone
    2024/10/10 13:55:36               Go's log; Gin has " - " before the clock
    Thu, 10 Oct 2024 13:55:36 GMT     RFC 9110 section 5.6.7: IMF-fixdate
    Thu Oct 10 13:55:36 2024          RFC 9110 section 5.6.7: asctime
    241010 13:55:36                   Tornado
    1728568536.5                      seconds since 1970, see put_epoch()

    Return 0 for all else.
    """
    cdef size_t clock = 11, end
    cdef int day, month
    cdef uint8_t year[4]
    cdef Day known
    if n == 15 and has_shape(s, "000000 00:00:00", 15):
        year = [c'2', c'0', s[0], s[1]]
        return both(put_date(year, number_of(s + 2), number_of(s + 4), dst), put_clock(s + 7, 8, False, dst + 10))
    if n >= 18:
        end = end_of_date(s, n, &day, &month)
        if end:
            if s[end] != c':' and s[end] != c' ':       # a space also in Python's http.server
                return 0
            return both(put_date(s + end - 4, month, day, dst), put_clock(s + end + 1, n - end - 1, True, dst + 10))
    if n >= 19 and (s[4] == c'-' or s[4] == c'/'):
        if s[10] == c' ' and s[11] == c'-' and s[12] == c' ':
            clock = 13
        if (s[10] != c'T' and s[10] != c' ' and not (s[4] == c'/' and s[10] == c':') or s[4] != s[7] or n < clock + 8
                or not has_shape(s, "0000", 4) or not has_shape(s + 5, "00", 2) or not has_shape(s + 8, "00", 2)):
            return 0
        return both(put_date(s, number_of(s + 5), number_of(s + 8), dst),
                    put_clock(s + clock, n - clock, s[10] != c'T' and find(s, clock, n, c' ') < n, dst + 10))
    if n == 24 and has_shape(s, "AAA AAA ", 8) and has_shape(s + 9, "0 ", 2) and s[19] == c' ':
        if s[8] != c' ' and not is_digit(s[8]):
            return 0
        return both(put_date(s + 20, month_of(s + 4), s[9] - c'0' + (10 * (s[8] - c'0') if s[8] != c' ' else 0), dst),
                    put_clock(s + 11, 8, False, dst + 10))
    known.number = 0
    return put_epoch(s, n, &known, dst)


cdef size_t put_time(const Record *record, uint8_t *dst) noexcept nogil:
    """Write the time in the form of RFC 3339, at most 48 bytes. Return 0 if it is logged in another form, which is kept."""
    cdef Text time = record.text[TIME], date = record.text[DATE]
    if date.at == NULL:
        return put_moment(time.at, time.n, dst)
    if not (is_day(date) and is_clock_time(time)):
        return 0
    memcpy(dst, date.at, 10)
    dst[10] = c'T'
    memcpy(dst + 11, time.at, time.n)
    dst[11 + time.n] = c'Z'
    return 12 + time.n


cdef bint is_doubtful(const Record *record) noexcept nogil:
    """Return whether a record may have what another program wrote before its line: in the time, or in the client."""
    cdef uint8_t written[48]
    cdef Text time = record.text[TIME], client = record.text[CLIENT]
    return time.at != NULL and put_time(record, written) == 0 or client.at != NULL and find(client.at, 0, client.n, c' ') < client.n


cdef int64_t digits_at(const uint8_t *s, int n) noexcept nogil:
    cdef int64_t value = 0
    cdef int i
    for i in range(n):
        value = 10 * value + (s[i] - c'0')
    return value


cdef int64_t micros_of(const uint8_t *s, size_t n, Zone *zone) noexcept nogil:
    """Return a time that put_moment() has written as microseconds since 1970 in UTC. One without a zone is of `zone`.

    Days are counted from March on, so that leap days are last in their years.
    """
    cdef int64_t month = digits_at(s + 5, 2), year = digits_at(s, 4) - (month <= 2), micros = 0
    cdef int64_t day = (153 * (month - 3 if month > 2 else month + 9) + 2) // 5 + digits_at(s + 8, 2) - 1
    cdef int64_t days = year * 365 + year // 4 - year // 100 + year // 400 + day - 719468
    cdef int64_t seconds = 86400 * days + 3600 * digits_at(s + 11, 2) + 60 * digits_at(s + 14, 2) + digits_at(s + 17, 2)
    cdef int64_t unit = 100000, offset
    cdef size_t i = 19
    if i < n and s[i] == c'.':
        i += 1
        while i < n and DIGIT.set.member[s[i]]:
            micros += unit * (s[i] - c'0')
            unit //= 10
            i += 1
    if i == n:
        seconds -= offset_of(zone, seconds)
    elif s[i] != c'Z':
        offset = 3600 * digits_at(s + i + 1, 2) + 60 * digits_at(s + i + 4, 2)
        seconds -= offset if s[i] == c'+' else -offset
    return 1000000 * seconds + micros


cdef enum:
    EPOCH = 719468          # days from 0000-03-01 to 1970
    FIRST_DAY = 306, LAST_DAY = 3652364     # 0001-01-01 and 9999-12-31
    REGULAR = 100_000_000   # seconds since 1970, after which zones change at quarters of an hour only


cdef size_t put_local(const uint8_t *written, size_t n, Zone *zone, Zone *shown, uint8_t *dst) noexcept nogil:
    """Write a time that put_moment() has written as one of the zone `shown`; of years that are not from 1 to 9999, as it is.

    Offsets are whole minutes, as in RFC 3339: before 1972 some zones had others, which are rounded down.
    """
    cdef int64_t seconds = (micros_of(written, n, zone) + <int64_t>86400000000 * EPOCH) // 1000000
    cdef int64_t offset = (utc_offset(shown, seconds - <int64_t>86400 * EPOCH) + 86400) // 60 - 1440
    cdef int64_t days = (seconds + 60 * offset) // 86400
    cdef int rest = <int>(seconds + 60 * offset - 86400 * days)
    cdef size_t end = 19
    if not FIRST_DAY <= days <= LAST_DAY:
        memcpy(dst, written, n)
        return n
    put_day(<uint32_t>days, dst)
    dst[10] = c'T'
    put_two(rest // 3600, dst + 11)
    put_two(rest // 60 % 60, dst + 14)
    put_two(rest % 60, dst + 17)
    dst[13] = dst[16] = c':'
    while end < n and (written[end] == c'.' or is_digit(written[end])):
        dst[end] = written[end]
        end += 1
    dst[end] = c'-' if offset < 0 else c'+'
    offset = -offset if offset < 0 else offset
    put_two(<int>(offset // 60), dst + end + 1)
    dst[end + 3] = c':'
    put_two(<int>(offset % 60), dst + end + 4)
    return end + 6


cdef int64_t utc_offset(Zone *zone, int64_t seconds) noexcept nogil:
    """Return the offset of a zone from UTC, in seconds, at a moment, given as seconds since 1970."""
    cdef int64_t quarter = seconds // 900
    cdef size_t place = <size_t>quarter & (ZONE_QUARTERS - 1)
    if seconds < REGULAR:
        with gil:
            return _times.utc_offset(<object>zone.timezone, seconds)
    if zone.known[place] != quarter:    # which is not 0: unused places have that
        with gil:
            zone.offsets[place] = _times.utc_offset(<object>zone.timezone, 900 * quarter)
        zone.known[place] = quarter
    return zone.offsets[place]


cdef int64_t offset_of(Zone *zone, int64_t seconds) noexcept nogil:
    """Return the offset from UTC of a local time, in seconds. It is the same in a quarter of an hour."""
    zone.used = True
    if zone.timezone == NULL:
        return 0
    if zone.quarter != seconds // 900:
        zone.quarter = seconds // 900
        with gil:
            zone.offset = _times.local_offset(<object>zone.timezone, 900 * zone.quarter)
    return zone.offset
