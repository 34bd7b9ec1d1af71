"""Parsers of one line for each log format: Apache httpd and nginx ("combined", "common", and JSON of nginx),
CloudFront, IIS (W3C extended), and AWS Application Load Balancers. The result is an Entry.

A line is read from left to right. If it does not match its format, the fault names the member and the offset.
Additional bytes after the required fields are accepted, because servers append fields of their own.
"""
from libc.string cimport memchr, memcmp, strlen

from uricodec._base._kernels cimport ByteSet, kernels
from uricodec.logs._fields cimport *


# Characters that every output format copies unchanged. Quoted texts of a line contain no quote.
cdef ByteSet NO_BACKSLASH = ByteSet(range(0x20, 0x7F)) - "\\"
cdef ByteSet NO_QUOTE = NO_BACKSLASH - '"'


cdef inline size_t find(const uint8_t *s, size_t start, size_t n, uint8_t octet) noexcept nogil:
    """Return the offset of a byte from `start` on; n if it does not occur."""
    cdef const uint8_t *found
    if start >= n:
        return n
    found = <const uint8_t *>memchr(s + start, octet, n - start)
    return n if found == NULL else found - s


# --- Apache and nginx: combined, common -------------------------------------------------------------------------------

# Apache httpd, mod_log_config; vhost_combined has "%v:%p " before it:
#   common      "%h %l %u %t \"%r\" %>s %b"
#   combined    "%h %l %u %t \"%r\" %>s %O \"%{Referer}i\" \"%{User-Agent}i\""
# nginx, ngx_http_log_module:
#   combined    '$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer"
#                "$http_user_agent"'

cdef size_t closing_quote(const uint8_t *s, size_t i, size_t n, Entry *entry, bint number) noexcept nogil:
    """Return the end of the quoted text that starts at i, after its quote; n if it does not end.

    The closing quote must be followed by a space or the end of the line; if a number comes next, by a space and a
    number. Other unescaped quotes are mistakes of the program that wrote the log, and belong to the text.
    """
    cdef bint first = True
    while True:
        if entry.plain:     # the line has no backslash
            i = find(s, i, n, c'"')
        else:
            while i < n and s[i] != c'"':
                i += 2 if s[i] == c'\\' else 1
        if i >= n:
            return n
        if number:
            if n - i > 2 and s[i + 1] == c' ' and (c'0' <= s[i + 2] <= c'9' or s[i + 2] == c'-'):
                break
        elif i + 1 == n or s[i + 1] == c' ':
            break
        i += 1
        first = False
    if not first:
        entry.plain = False
    return i


cdef size_t opening_quote(const uint8_t *s, size_t n, Entry *entry) noexcept nogil:
    """Return the offset of the quote of the request, after "] "; n if there is none. Quotes in a user name are escaped."""
    cdef size_t i = find(s, 0, n, c'"')
    while i < n and (i < 2 or s[i - 1] != c' ' or s[i - 2] != c']'):
        entry.plain = False
        i = find(s, i + 1, n, c'"')
    return i


cdef bint split_host(const uint8_t *s, size_t n, Entry *entry) noexcept nogil:
    """Parse "host ident user", where the user name may contain spaces, or "vhost host - user"."""
    cdef size_t host = find(s, 0, n, c' '), ident, start = 0
    if host == n:
        return fail(entry, USER_FAULT if n else CLIENT_FAULT, n)
    ident = find(s, host + 1, n, c' ')
    if ident == n:
        return fail(entry, USER_FAULT, n)
    if not (ident == host + 2 and s[host + 1] == c'-') and find(s, ident + 1, n, c' ') < n:
        if n - ident < 3 or s[ident + 1] != c'-' or s[ident + 2] != c' ':
            return fail(entry, USER_FAULT, ident)
        start, host, ident = host + 1, ident, ident + 2
    entry.text[CLIENT] = text_of(s + start, host - start)
    entry.text[USER] = text_of(s + ident + 1, n - ident - 1)
    return True


cdef size_t read_number(const uint8_t *s, size_t i, size_t n, Entry *entry, int member) noexcept nogil:
    cdef size_t start = i
    i = find(s, i, n, c' ')
    entry.text[member] = text_of(s + start, i - start)
    return i


cdef bint read_combined(const uint8_t *s, size_t n, bint common, Entry *entry) noexcept nogil:
    cdef size_t quote, bracket, i, start, end
    cdef int member
    quote = opening_quote(s, n, entry)
    if quote == n:
        i = find(s, 0, n, c' ')
        return fail(entry, CLIENT_FAULT if i == n else REQUEST_FAULT if find(s, i, n, c']') < n else TIME_FAULT, n)
    bracket = quote - 3 if quote > 3 else 0
    while bracket and not (s[bracket] == c'[' and s[bracket - 1] == c' '):
        bracket -= 1
    if bracket == 0:
        return fail(entry, TIME_FAULT, quote)
    if not split_host(s, bracket - 1, entry):
        return False
    entry.text[TIME] = text_of(s + bracket + 1, quote - 3 - bracket)
    end = closing_quote(s, quote + 1, n, entry, True)
    if end == n:
        return fail(entry, REQUEST_FAULT, quote)
    entry.text[REQUEST] = text_of(s + quote + 1, end - quote - 1)
    i = read_number(s, end + 2, n, entry, STATUS)
    if i == n:
        return fail(entry, BYTES_SENT_FAULT, n)
    i = read_number(s, i + 1, n, entry, BYTES_SENT)
    if not common:
        for member in range(REFERER, USER_AGENT + 1):
            if n - i < 2 or s[i + 1] != c'"':
                break
            start = i + 2
            end = closing_quote(s, start, n, entry, False)
            if end == n:
                return fail(entry, REFERER_FAULT if member == REFERER else USER_AGENT_FAULT, i + 1)
            entry.text[member] = text_of(s + start, end - start)
            i = end + 1
    forget_dashes(entry, False)
    if not entry.plain:
        undo_backslashes(entry, CLIENT)
        undo_backslashes(entry, USER)
        undo_backslashes(entry, REQUEST)
        undo_backslashes(entry, REFERER)
        undo_backslashes(entry, USER_AGENT)
    split_request(entry)
    split_target(entry)
    return True


# --- AWS Application Load Balancer ------------------------------------------------------------------------------------

#   type time elb client:port target:port request_processing_time target_processing_time response_processing_time
#   elb_status_code target_status_code received_bytes sent_bytes "request" "user_agent" ssl_cipher ssl_protocol ...

cdef enum:
    ALB_TIME = 1, ALB_CLIENT = 3, ALB_STATUS = 8, ALB_SENT = 11, ALB_TOKENS = 12


cdef bint read_alb(const uint8_t *s, size_t n, Entry *entry) noexcept nogil:
    cdef size_t i = 0, end
    cdef int token, member
    for token in range(ALB_TOKENS):
        end = find(s, i, n, c' ')
        if end == n:
            return fail(entry, TIME_FAULT if token <= ALB_TIME else CLIENT_FAULT if token <= ALB_CLIENT else
                        STATUS_FAULT if token <= ALB_STATUS else BYTES_SENT_FAULT if token <= ALB_SENT else REQUEST_FAULT, n)
        if token == ALB_TIME:
            entry.text[TIME] = text_of(s + i, end - i)
        elif token == ALB_CLIENT:
            entry.text[CLIENT] = text_of(s + i, end - i)
        elif token == ALB_STATUS:
            entry.text[STATUS] = text_of(s + i, end - i)
        elif token == ALB_SENT:
            entry.text[BYTES_SENT] = text_of(s + i, end - i)
        i = end + 1
    if find(s, 0, i, c'"') < i:
        entry.plain = False
    for token in range(2):
        member = USER_AGENT if token else REQUEST
        if i >= n or s[i] != c'"':
            return fail(entry, REQUEST_FAULT if member == REQUEST else USER_AGENT_FAULT, i if i < n else n)
        end = closing_quote(s, i + 1, n, entry, False)
        if end == n:
            return fail(entry, REQUEST_FAULT if member == REQUEST else USER_AGENT_FAULT, i)
        entry.text[member] = text_of(s + i + 1, end - i - 1)
        i = end + 2
    # Remove the client's port.
    end = entry.text[CLIENT].n
    while end and entry.text[CLIENT].at[end - 1] != c':':
        end -= 1
    if end:
        entry.text[CLIENT].n = end - 1
    forget_dashes(entry, False)
    if not entry.plain:
        undo_backslashes(entry, REQUEST)
        undo_backslashes(entry, USER_AGENT)
    split_request(entry)
    split_target(entry)
    return True


# --- W3C extended: CloudFront, IIS ------------------------------------------------------------------------------------

# W3C Working Draft WD-logfile-960323. "#Fields:" may come again, with other fields.

cdef struct Name:
    const char *name
    size_t n
    int member

cdef Name COLUMN_NAMES[15]
COLUMN_NAMES = [
    Name("date", 4, DATE), Name("time", 4, TIME), Name("c-ip", 4, CLIENT), Name("cs-username", 11, USER),
    Name("cs-method", 9, METHOD), Name("cs-uri", 6, TARGET), Name("cs-uri-stem", 11, PATH), Name("cs-uri-query", 12, QUERY),
    Name("cs-version", 10, PROTOCOL), Name("cs-protocol-version", 19, PROTOCOL), Name("sc-status", 9, STATUS),
    Name("sc-bytes", 8, BYTES_SENT), Name("cs(Referer)", 11, REFERER), Name("cs(Referrer)", 12, REFERER),
    Name("cs(User-Agent)", 14, USER_AGENT),
]

# The default fields, without "#Fields:": the first ones of CloudFront since 2010, and the default fields of IIS.
cdef const char *CLOUDFRONT_FIELDS = (
    "date time x-edge-location sc-bytes c-ip cs-method cs(Host) cs-uri-stem sc-status cs(Referer) cs(User-Agent) cs-uri-query"
)
cdef const char *IIS_FIELDS = (
    "date time s-ip cs-method cs-uri-stem cs-uri-query s-port cs-username c-ip cs(User-Agent) cs(Referer) sc-status "
    "sc-substatus sc-win32-status time-taken"
)


cdef void read_fields(Layout *layout, const uint8_t *s, size_t n) noexcept nogil:
    """Read the field names after "#Fields:"."""
    cdef size_t i = 0, end
    cdef int k
    layout.columns = 0
    while i < n:
        if s[i] == c' ' or s[i] == c'\t':
            i += 1
            continue
        end = i
        while end < n and s[end] != c' ' and s[end] != c'\t':
            end += 1
        if layout.columns < COLUMNS:
            layout.member[layout.columns] = MEMBERS
            for k in range(15):
                if COLUMN_NAMES[k].n == end - i and memcmp(COLUMN_NAMES[k].name, s + i, end - i) == 0:
                    layout.member[layout.columns] = <uint8_t>COLUMN_NAMES[k].member
        layout.columns += 1
        i = end


cdef void default_layout(Format format, Layout *layout) noexcept nogil:
    cdef const char *fields = CLOUDFRONT_FIELDS if format == CLOUDFRONT else IIS_FIELDS
    read_fields(layout, <const uint8_t *>fields, strlen(fields))
    layout.announced = False


cdef Line read_w3c(Format format, Layout *layout, const uint8_t *s, size_t n, Entry *entry) noexcept nogil:
    cdef size_t i = 0, end, column = 0
    cdef uint8_t between = c'\t' if format == CLOUDFRONT else c' '
    if s[0] == c'#':
        if n >= 8 and memcmp(s, b"#Fields:", 8) == 0:
            read_fields(layout, s + 8, n - 8)
            layout.announced = True
        return DIRECTIVE
    while True:
        end = find(s, i, n, between)
        if column < layout.columns and column < COLUMNS and layout.member[column] < MEMBERS:
            entry.text[layout.member[column]] = text_of(s + i, end - i)
        column += 1
        if end == n:
            break
        i = end + 1
    if column < layout.columns or column > layout.columns and format == IIS:
        fail(entry, FIELDS_FAULT, n)
        return NO_RECORD
    if not layout.announced and not check_default_columns(entry, s):
        return NO_RECORD
    forget_dashes(entry, False)
    if format == CLOUDFRONT:
        undo_triplets(entry, TARGET)
        undo_triplets(entry, PATH)
        undo_triplets(entry, QUERY)
        undo_triplets(entry, REFERER)
        undo_cloudfront_agent(entry)
    else:
        undo_plus(entry, USER_AGENT)
        entry.decoded = entry.text[PATH].at != NULL
    if entry.text[PATH].at != NULL:
        join_target(entry)
    else:
        split_target(entry)
    return RECORD


# --- nginx with JSON --------------------------------------------------------------------------------------------------

# The user chooses the keys; most are named after variables of nginx. "$uri" is decoded, "$request_uri" is not.
cdef Name KEYS[36]
KEYS = [
    Name("remote_addr", 11, CLIENT), Name("client_ip", 9, CLIENT), Name("clientip", 8, CLIENT), Name("client", 6, CLIENT),
    Name("remote_ip", 9, CLIENT), Name("remote_user", 11, USER), Name("user", 4, USER),
    Name("time_iso8601", 12, TIME), Name("time_local", 10, TIME), Name("msec", 4, TIME), Name("time", 4, TIME),
    Name("timestamp", 9, TIME), Name("@timestamp", 10, TIME), Name("request", 7, REQUEST),
    Name("request_method", 14, METHOD), Name("method", 6, METHOD), Name("request_uri", 11, TARGET), Name("url", 3, TARGET),
    Name("uri", 3, PATH), Name("args", 4, QUERY), Name("query_string", 12, QUERY), Name("server_protocol", 15, PROTOCOL),
    Name("protocol", 8, PROTOCOL), Name("status", 6, STATUS), Name("body_bytes_sent", 15, BYTES_SENT),
    Name("bytes_sent", 10, BYTES_SENT), Name("bytes", 5, BYTES_SENT), Name("size", 4, BYTES_SENT), Name("http_referer", 12, REFERER),
    Name("http_referrer", 13, REFERER), Name("referer", 7, REFERER), Name("referrer", 8, REFERER),
    Name("http_user_agent", 15, USER_AGENT), Name("user_agent", 10, USER_AGENT), Name("agent", 5, USER_AGENT),
    Name("request_target", 14, TARGET),
]


cdef int member_of(const uint8_t *key, size_t n) noexcept nogil:
    cdef int i
    for i in range(36):
        if KEYS[i].n == n and memcmp(KEYS[i].name, key, n) == 0:
            return KEYS[i].member
    return MEMBERS


cdef inline size_t skip_space(const uint8_t *s, size_t i, size_t n) noexcept nogil:
    while i < n and (s[i] == c' ' or s[i] == c'\t' or s[i] == c'\r'):
        i += 1
    return i


cdef inline size_t end_of_string(const uint8_t *s, size_t i, size_t n, bint plain) noexcept nogil:
    """Return the offset of the quote that ends the string which starts at i; n if it does not end."""
    if plain:
        return find(s, i, n, c'"')
    while i < n and s[i] != c'"':
        i += 2 if s[i] == c'\\' else 1
    return i if i < n else n


cdef size_t skip_nested(const uint8_t *s, size_t i, size_t n) noexcept nogil:
    """Return the end of the object or array that starts at i; n + 1 if it does not end. Its content is not checked."""
    cdef size_t depth = 0
    while i < n:
        if s[i] == c'"':
            i = end_of_string(s, i + 1, n, False)
        elif s[i] == c'{' or s[i] == c'[':
            depth += 1
        elif s[i] == c'}' or s[i] == c']':
            depth -= 1
            if depth == 0:
                return i + 1
        i += 1
    return n + 1


cdef bint read_json(const uint8_t *s, size_t n, Entry *entry) noexcept nogil:
    """Parse a line that is a JSON object (RFC 8259 section 4)."""
    cdef size_t i = skip_space(s, 0, n), end, start
    cdef int member
    cdef Text method, target, protocol
    if i == n or s[i] != c'{':
        return fail(entry, JSON_FAULT, i)
    i = skip_space(s, i + 1, n)
    while i < n and s[i] == c'"':
        end = end_of_string(s, i + 1, n, entry.plain)
        member = member_of(s + i + 1, end - i - 1)
        i = skip_space(s, end + 1, n)
        if i >= n or s[i] != c':':
            return fail(entry, JSON_FAULT, n if i > n else i)
        i = skip_space(s, i + 1, n)
        start = i
        if i < n and s[i] == c'"':
            end = end_of_string(s, i + 1, n, entry.plain)
            if member < MEMBERS:
                entry.text[member] = text_of(s + i + 1, end - i - 1)
            i = end + 1
        elif i < n and (s[i] == c'{' or s[i] == c'['):
            i = skip_nested(s, i, n)
            member = MEMBERS
        else:
            while i < n and (c'0' <= s[i] <= c'9' or c'a' <= s[i] <= c'z' or s[i] == c'.' or s[i] == c'-' or s[i] == c'+'
                             or s[i] == c'E'):
                i += 1
            if i == start:
                return fail(entry, JSON_FAULT, i)
            if member < MEMBERS:
                entry.text[member] = text_of(s + start, i - start)
                if i - start == 4 and memcmp(s + start, b"null", 4) == 0:
                    entry.text[member] = text_of(NULL, 0)
        i = skip_space(s, i, n)
        if i >= n or s[i] != c',':
            break
        i = skip_space(s, i + 1, n)
        if i >= n or s[i] != c'"':
            return fail(entry, JSON_FAULT, n if i > n else i)
    if i >= n or s[i] != c'}':
        return fail(entry, JSON_FAULT, n if i > n else i)
    i = skip_space(s, i + 1, n)
    if i < n:
        return fail(entry, JSON_FAULT, i)
    forget_dashes(entry, True)
    if (entry.text[REQUEST].at == NULL and entry.text[TARGET].at == NULL and entry.text[PATH].at == NULL
            and entry.text[METHOD].at == NULL and entry.text[STATUS].at == NULL):
        return fail(entry, REQUEST_FAULT, 0)
    if not entry.plain:
        for member in range(MEMBERS):
            undo_json(entry, member)
    method, target, protocol = entry.text[METHOD], entry.text[TARGET], entry.text[PROTOCOL]
    split_request(entry)
    if method.at != NULL:
        entry.text[METHOD] = method
    if protocol.at != NULL:
        entry.text[PROTOCOL] = protocol
    if target.at != NULL:
        entry.text[TARGET] = target
        entry.whole = False
    if entry.text[TARGET].at == NULL or entry.whole and entry.text[PATH].at != NULL:
        entry.whole = False
        entry.decoded = True
        join_target(entry)
    else:
        split_target(entry)
    return True


# --- all of them ------------------------------------------------------------------------------------------------------

cdef Line read_line(Format format, Layout *layout, const uint8_t *s, size_t n, Entry *entry) noexcept nogil:
    """Parse a line without its terminator. A fault is stored in the entry."""
    cdef Line line
    if n == 0:
        fail(entry, EMPTY, 0)
        return NO_RECORD
    entry.plain = kernels.span(s, n, &NO_BACKSLASH.set) == n
    if format == COMBINED or format == COMMON:
        line = RECORD if read_combined(s, n, format == COMMON, entry) else NO_RECORD
    elif format == ALB:
        line = RECORD if read_alb(s, n, entry) else NO_RECORD
    elif format == NGINX_JSON:
        line = RECORD if read_json(s, n, entry) else NO_RECORD
    else:
        if entry.plain:
            entry.plain = find(s, 0, n, c'"') == n
        line = read_w3c(format, layout, s, n, entry)
    if line == RECORD and not check_numbers(entry, s, n):
        return NO_RECORD
    return line
