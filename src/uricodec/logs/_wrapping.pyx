"""What other programs write around a line: a prefix, a JSON object that has the line as a member, and colors.

    docker compose      web-1  | LINE                                       skip_prefix(): where the line begins
    Kubernetes          2016-10-06T00:17:09.669794202Z stdout F LINE
    Fluent Bit          {"date":1728568536.1,"log":"LINE"}                  text_in_object(): a copy, without its escapes
    Caddy, console      2024/10/10 13:55:36.5<TAB>INFO<TAB>http.log.access<TAB>handled request<TAB>LINE
    docker logs -t      2024-10-10T13:55:36.1Z LINE                         skip_words(): the same, if the whole is no record
    Python's logging    2024-10-10 13:55:36,123 - werkzeug - INFO - LINE
    aws logs tail       2024-10-10T13:55:36.123000+00:00 my-stream/1a2b LINE
    logcli              2024-10-10T13:55:36Z {app="web"} LINE
    Grafana, Fluentd    2024-10-10T13:55:36Z<TAB>LINE, TIME<TAB>TAG<TAB>LINE, 2024-10-10 13:55:36.0 +0000 TAG: {OBJECT}
    Spring Boot         2024-10-10T13:55:36.123Z  INFO 1 --- [nio-8080-exec-1] r.n.h.s.AccessLog : LINE
    Ruby's Logger       I, [2024-10-10T13:55:36.123456 #1]  INFO -- : LINE
    cf logs             2024-10-10T13:55:36.20+0000 [RTR/0] OUT LINE
    env_logger (Rust)   [2024-10-10T13:55:36Z INFO  actix_web::middleware::logger] LINE
    grep --color        192.0.2.1 - - [...] "\\x1b[01;31mGET\\x1b[m / HTTP/1.1" 200 5     without_colors(): where it is, in a copy

A line is wrapped only if what is in it is a record. An object has no other object around, but perhaps a prefix in its text.
"""
from libc.string cimport memcmp, memmove

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer

from uricodec._base._kernels cimport ByteSet, kernels
from uricodec.logs._fields cimport find, find_other, is_digit, is_iso_time, is_letter, json_text, starts_with, text_of
from uricodec.logs._json cimport *
from uricodec.logs._line cimport *

# The characters of names of services and containers (Compose Specification, "services"; kubectl has others in brackets).
# "@": a service of Docker has its node there.
cdef ByteSet LABELS = ByteSet("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-@")
cdef ByteSet IN_CONSOLE_TIME = ByteSet("0123456789/:. ")
cdef ByteSet IN_TIME = ByteSet("0123456789T:.Z+-")
cdef ByteSet POD = ByteSet("abcdefghijklmnopqrstuvwxyz0123456789.-")
cdef ByteSet TAG = ByteSet("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-/[]")
cdef ByteSet BRACKET = TAG - "[]"
cdef ByteSet STREAM_NAME = TAG | "$@#+="
# What Python's logging is often told to write between the parts of a message.
cdef ByteSet BETWEEN = ByteSet(" -|:[]()")
cdef ByteSet IPV6 = ByteSet("0123456789ABCDEFabcdef:.")
cdef ByteSet DIGITS = ByteSet("0123456789")


# --- prefixes ---------------------------------------------------------------------------------------------------------

cdef inline size_t skip_word(const uint8_t *s, size_t i, size_t n) noexcept nogil:
    """Return the start of the next word; n if there is none."""
    i = find(s, i, n, c' ')
    return i + 1 if i < n else n


cdef size_t skip_timestamp(const uint8_t *s, size_t i, size_t n) noexcept nogil:
    """Skip a time of RFC 3339, one such as "Oct 10 13:55:36.5" or journald's "Thu 2024-10-10 13:55:36 CEST", and the space
    after it; 0 if it is not there."""
    if is_iso_time(s, i, n):
        return skip_word(s, i, n)
    if n - i > 28 and s[i + 3] == c' ' and s[i + 8] == c'-' and s[i + 11] == c'-' and s[i + 14] == c' ' and s[i + 17] == c':' and (
            s[i + 20] == c':'):
        return skip_word(s, skip_word(s, i + 20, n), n)
    if n - i > 16 and s[i + 3] == c' ' and s[i + 6] == c' ' and s[i + 9] == c':' and s[i + 12] == c':' and (
            s[i + 15] == c' ' or s[i + 15] == c'.'):
        return skip_word(s, i + 15, n)
    return 0


cdef size_t skip_priority(const uint8_t *s, size_t i, size_t n) noexcept nogil:
    """Skip the priority of syslog, such as "<190>". Return i if it is not there."""
    cdef size_t end = i + 1
    if i >= n or s[i] != c'<':
        return i
    while end < n and end < i + 5 and s[end] != c'>':
        end += 1
    return end + 1 if end < n and s[end] == c'>' else i


cdef size_t skip_syslog(const uint8_t *s, size_t n) noexcept nogil:
    """Skip what syslog writes before a message; 0 if it is not there.

    RFC 3164 section 4.1:  PRI TIMESTAMP SP HOSTNAME SP TAG ":" SP     (files have no PRI; TAG may have "[pid]")
    RFC 6587 section 3.4.1: SIZE SP before these
    RFC 5424 section 6:    PRI VERSION SP TIMESTAMP SP HOSTNAME SP APP-NAME SP PROCID SP MSGID SP STRUCTURED-DATA SP
    rsyslog writes the former with a TIMESTAMP of RFC 3339, too, journald with one that has microseconds.
    """
    cdef size_t i = kernels.span(s, min(n, <size_t>6), &DIGITS.set), end, start
    cdef int _
    i = i + 1 if 0 < i and i + 1 < n and s[i] == c' ' and s[i + 1] == c'<' else 0      # RFC 6587: the size of the message
    start = i
    i = skip_priority(s, i, n)
    if i > start:
        if n - i > 2 and s[i] == c'1' and s[i + 1] == c' ':
            i += 2
            for _ in range(5):      # TIMESTAMP HOSTNAME APP-NAME PROCID MSGID
                i = skip_word(s, i, n)
            if n - i > 1 and s[i] == c'-' and s[i + 1] == c' ':
                i += 2
            elif i < n and s[i] == c'[':
                while i < n and s[i] == c'[':
                    while i < n and s[i] != c']':
                        if s[i] == c'"':
                            i = end_of_string(s, i + 1, n, False)
                        i += 1
                    i += 1
                if i >= n or s[i] != c' ':
                    return 0
                i += 1
            # Heroku has no STRUCTURED-DATA.
            if starts_with(s, i, n, <const uint8_t *>b"\xEF\xBB\xBF", 3):
                i += 3
            return i if i < n else 0
    i = skip_timestamp(s, i, n)
    if i == 0:
        return 0
    end = skip_word(s, i, n)        # HOSTNAME; some write none before "TAG[pid]:"
    if end == n or end - i < 4 or s[end - 2] != c':' or s[end - 3] != c']':
        i = end
        end = skip_word(s, i, n)    # TAG
    return end if end < n and end - i > 2 and s[end - 2] == c':' else 0


cdef size_t skip_label(const uint8_t *s, size_t n, bint timed) noexcept nogil:
    """Skip the label of a line; 0 if it is not there, or no time is after it that should be.

    docker compose logs:     "web-1  | message"                     (--timestamps: "web-1  | 2024-10-10T13:55:36.1Z message")
    kubectl logs --prefix:   "[pod/web-7c5ddbdf54-x2x/nginx] message"        (--timestamps: the same after the bracket)
    pm2 logs:                "0|web  | message"
    """
    cdef size_t i = kernels.span(s, n, &LABELS.set)
    if 0 < i < 5 and i + 1 < n and s[i] == c'|' and LABELS.set.member[s[i + 1]] and kernels.span(s, i, &DIGITS.set) == i:
        i += 1 + kernels.span(s + i + 1, n - i - 1, &LABELS.set)
    if i:
        i = find_other(s, i, n, c' ')
        if i == n or s[i] != c'|':
            return 0
    elif starts_with(s, 0, n, <const uint8_t *>b"[pod/", 5):
        i = find(s, 5, n, c']')
    else:
        return 0
    if n - i < 3 or s[i + 1] != c' ':
        return 0
    i += 2
    if timed:
        i = skip_word(s, i, n) if is_iso_time(s, i, n) else n
    return i if i < n else 0


cdef size_t skip_cri(const uint8_t *s, size_t n) noexcept nogil:
    """Skip what the runtimes of Kubernetes (CRI) write before a whole line; 0 if it is not there.

    "2016-10-06T00:17:09.669794202Z stdout F message". "P": the line goes on in the next record, see _partial.
    """
    cdef size_t i
    if not is_iso_time(s, 0, n):
        return 0
    i = find(s, 0, n, c' ')
    return i + 10 if starts_with(s, i, n, <const uint8_t *>b" stdout F ", 10) or starts_with(
        s, i, n, <const uint8_t *>b" stderr F ", 10) else 0


def find_parts(data):
    """Return the number of lines, and whether one is a part of a line that the runtime has split.

    Args:
        data (bytes-like): Lines.

    Returns:
        tuple[int, bool]: Both.

    >>> find_parts(b"2016-10-06T00:17:09.669794202Z stdout P message")
    (1, True)
    """
    cdef Py_buffer source
    cdef const uint8_t *s
    cdef size_t n, i = 0, at, lines = 0
    cdef bint found = False
    PyObject_GetBuffer(data, &source, PyBUF_SIMPLE)
    s, n = <const uint8_t *>source.buf, <size_t>source.len
    while i < n:
        if is_iso_time(s, i, n):
            at = find(s, i, n, c' ')
            found |= starts_with(s, at, n, <const uint8_t *>b" stdout P ", 10) or starts_with(
                s, at, n, <const uint8_t *>b" stderr P ", 10)
        i = find(s, i, n, c'\n') + 1
        lines += 1
    PyBuffer_Release(&source)
    return lines, found


cdef size_t skip_console(const uint8_t *s, size_t n) noexcept nogil:
    """Skip what Caddy's console encoder writes before the object of a record; 0 if it is not there.

    "2024/10/10 13:55:36.500<TAB>INFO<TAB>http.log.access.log0<TAB>handled request<TAB>{"
    """
    cdef size_t i = find(s, 0, min(n, <size_t>40), c'\t')
    cdef int _
    if i < 19 or i + 1 >= n or s[i] != c'\t' or s[4] != c'/' or s[13] != c':' or (
            kernels.span(s, i, &IN_CONSOLE_TIME.set) < i):
        return 0
    for _ in range(3):
        i = find(s, i + 1, n, c'\t')
    return i + 1 if i + 1 < n and s[i + 1] == c'{' else 0


cdef size_t skip_prefix(int kind, const uint8_t *s, size_t n) noexcept nogil:
    """Return the size of what another program wrote before the line; 0 if it is not there."""
    if kind == SYSLOG:
        return skip_syslog(s, n)
    if kind == CRI:
        return skip_cri(s, n)
    if kind == CONSOLE:
        return skip_console(s, n)
    return skip_label(s, n, kind == LABEL_AND_TIME)


cdef size_t prefix_of(const uint8_t *s, size_t n) noexcept nogil:
    """Return the size of the first prefix that is there; 0 if there is none."""
    cdef int kind
    cdef size_t size = 0
    for kind in range(PREFIXES):
        if size == 0:
            size = skip_prefix(kind, s, n)
    return size


cdef bint is_pod(const uint8_t *s, size_t n) noexcept nogil:
    """Return whether a word is the name of a pod of Kubernetes: it ends with five letters or digits, or with a number."""
    cdef size_t dash = n
    cdef bint digits = True
    if n == 0 or kernels.span(s, n, &POD.set) < n:
        return False
    while dash and s[dash - 1] != c'-':
        dash -= 1
        digits &= c'0' <= s[dash] <= c'9'
    return dash > 1 and dash < n and (n - dash == 5 or digits and n - dash < 4)


cdef bint begins_with_name(const uint8_t *s, size_t i, size_t n) noexcept nogil:
    """Return whether a line begins with a name, which may be another part of a prefix: not with a sign or an address."""
    cdef size_t end = find(s, i, n, c' ')
    return (is_letter(s[i]) or s[i] == c'_') and kernels.span(s + i, end - i, &IPV6.set) < end - i


cdef size_t skip_pod(const uint8_t *s, size_t n) noexcept nogil:
    """Skip what stern writes before a line: "web-7c5ddbdf54-x2x9z nginx ", perhaps with the namespace before; 0: it is not there."""
    cdef size_t i = 0, end = find(s, 0, n, c' ')
    if not is_pod(s, end):
        i = end + 1
        end = find(s, i, n, c' ')
        if end == n or kernels.span(s, i - 1, &POD.set) < i - 1 or not is_pod(s + i, end - i):
            return 0
    i = end + 1
    end = find(s, i, n, c' ')
    return end + 1 if end < n and end > i and kernels.span(s + i, end - i, &POD.set) == end - i and not is_digit(s[i]) else 0


cdef inline bint is_level(const uint8_t *s, size_t n) noexcept nogil:
    return (n == 4 and (memcmp(s, b"INFO", 4) == 0 or memcmp(s, b"WARN", 4) == 0)
            or n == 5 and (memcmp(s, b"DEBUG", 5) == 0 or memcmp(s, b"ERROR", 5) == 0)
            or n == 7 and memcmp(s, b"WARNING", 7) == 0)


cdef size_t end_of_level(const uint8_t *s, size_t i, size_t n) noexcept nogil:
    """Return the end of the name of a level of Python's logging, in one of the words after i; 0 if it is not there."""
    cdef size_t end, stop = min(n, i + 80)
    while i < stop:
        i += kernels.span(s + i, stop - i, &BETWEEN.set)
        end = i
        while end < stop and not BETWEEN.set.member[s[end]]:
            end += 1
        if is_level(s + i, end - i):
            return end
        i = end
    return 0


cdef inline size_t skip_between(const uint8_t *s, size_t i, size_t n) noexcept nogil:
    """Skip blanks and signs between words, but not the "::" that an IPv6 address begins with."""
    cdef size_t end = i + kernels.span(s + i, n - i, &BETWEEN.set)
    return end - 2 if end > i + 1 and s[end - 1] == c':' and s[end - 2] == c':' else end


cdef size_t skip_logging(const uint8_t *s, size_t n, int words) noexcept nogil:
    """Skip what Python's logging writes before a message, up to the level and a number of words after it; 0: it is not there.

    "2024-10-10 13:55:36,123 - werkzeug - INFO - ", "[2024-10-10 13:55:36,123] INFO in _internal: ", "INFO     werkzeug: "
    """
    cdef size_t i = n > 0 and s[0] == c'[', end
    cdef int _
    if n - i > 19 and s[i + 4] == c'-' and s[i + 7] == c'-' and s[i + 13] == c':' and s[i + 16] == c':':
        i += 19
        if s[i] == c',' or s[i] == c'.':
            i = i + 1 + kernels.span(s + i + 1, n - i - 1, &DIGITS.set)
    elif not (n - i > 4 and (s[i] == c'I' or s[i] == c'W' or s[i] == c'D' or s[i] == c'E')):
        return 0
    i = end_of_level(s, i, n)
    if i == 0:
        return 0
    i = skip_between(s, i, n)
    for _ in range(words):
        # A logger, perhaps with the file and the number of the line: not a part of an access log, such as a site.
        end = find(s, i, n, c' ')
        if find(s, i, end, c':') + 1 < end and not is_digit(s[end - 1]):
            return 0
        i = skip_between(s, end, n)
    return i if i < n and not begins_with_name(s, i, n) else 0


cdef size_t end_of_moment(const uint8_t *s, size_t n) noexcept nogil:
    """Return the end of a time such as "2024-10-10T13:55:36.1Z" or "2024-10-10 13:55:36,1", or of seconds, milliseconds, ...
    since 1970; 0 if there is none."""
    cdef size_t i = 19
    if n > 20 and s[4] == c'-' and s[7] == c'-' and (s[10] == c'T' or s[10] == c' ') and s[13] == c':' and s[16] == c':':
        if s[i] == c'.' or s[i] == c',':
            i += 1 + kernels.span(s + i + 1, n - i - 1, &DIGITS.set)
        if i < n and (s[i] == c'+' or s[i] == c'-'):
            return i + kernels.span(s + i, n - i, &IN_TIME.set)
        return i + (i < n and s[i] == c'Z')
    i = kernels.span(s, min(n, <size_t>20), &DIGITS.set)
    return i if i == 10 or i == 13 or i == 16 or i == 19 else 0


cdef inline bint is_moment(const uint8_t *s) noexcept nogil:
    """Return whether 19 bytes are digits where a time of RFC 3339 has them: nothing else is copied to an output."""
    cdef size_t i
    for i in range(19):
        if not is_digit(s[i]) and i != 4 and i != 7 and i != 10 and i != 13 and i != 16:
            return False
    return True


cdef Text time_before(const uint8_t *s, size_t n) noexcept nogil:
    """Return the last time of RFC 3339 in the n bytes before a line, also one with spaces; NULL if there is none.

    The last one is that of the program which wrote the line.
    """
    cdef Text found = text_of(NULL, 0)
    cdef size_t i = 0, end
    while n - i > 19:
        if s[i + 4] == c'-' and (i == 0 or not is_digit(s[i - 1])) and is_moment(s + i):
            end = end_of_moment(s + i, n - i)
            if end > 18:
                if s[i + 10] == c' ' and n - i - end > 6 and s[i + end] == c' ' and (
                        s[i + end + 1] == c'+' or s[i + end + 1] == c'-') and s[i + end + 6] == c' ' and (
                        kernels.span(s + i + end + 2, 4, &DIGITS.set) == 4):
                    end += 6
                found = text_of(s + i, end)
                i += end - 1
        i += 1
    return found


cdef size_t skip_labels(const uint8_t *s, size_t i, size_t n) noexcept nogil:
    """Skip the labels that Loki writes: {app="web", pod="web-1"}, and the blanks after them; 0 if they are not there."""
    if n - i < 3 or s[i] != c'{' or not is_letter(s[i + 1]) and s[i + 1] != c'_' and s[i + 1] != c'}':
        return 0
    while i < n and s[i] != c'}':
        if s[i] == c'"':
            i = end_of_string(s, i + 1, n, False)
        i += 1
    if n <= i + 1 or s[i + 1] != c' ' and s[i + 1] != c'\t':
        return 0
    i += 1
    while i < n and (s[i] == c' ' or s[i] == c'\t'):
        i += 1
    return i if i < n else 0


cdef size_t skip_tag(const uint8_t *s, size_t i, size_t n, uint8_t end) noexcept nogil:
    """Skip a tag of Fluentd, and the byte that ends it; 0 if it is not there."""
    cdef size_t start = i
    i += kernels.span(s + i, n - i, &BRACKET.set if end == c']' else &TAG.set)
    return i + 1 if i > start and i + 1 < n and s[i] == end else 0


cdef size_t skip_spring(const uint8_t *s, size_t i, size_t n) noexcept nogil:
    """Skip what Spring Boot writes after a time: the level, the process, " --- [thread] logger : "; 0: it is not there."""
    cdef size_t end
    i = find_other(s, i, n, c' ')
    end = find(s, i, n, c' ')
    if not is_level(s + i, end - i):
        return 0
    i = find_other(s, end, n, c' ')
    end = i + kernels.span(s + i, n - i, &DIGITS.set)
    if end == i or not starts_with(s, end, n, <const uint8_t *>b" --- [", 6):
        return 0
    i = find(s, end, n, c']')
    while i + 3 < n and not starts_with(s, i, n, <const uint8_t *>b" : ", 3):
        i = find(s, i + 1, n, c' ')
    return i + 3 if i + 3 < n else 0


cdef size_t skip_ruby(const uint8_t *s, size_t n) noexcept nogil:
    """Skip what Ruby's Logger writes: "I, [TIME #PID]  INFO -- program: ", and the tags of Rails, "[id] "; 0: it is not there."""
    cdef size_t i, end
    if n < 30 or s[1] != c',' or s[2] != c' ' or s[3] != c'[' or not is_iso_time(s, 4, n):
        return 0
    i = find(s, 4, n, c']')
    while i + 4 < n and not starts_with(s, i, n, <const uint8_t *>b" -- ", 4):
        i = find(s, i + 1, n, c' ')
    i = find(s, min(i + 4, n), n, c':')
    if i + 2 >= n or s[i + 1] != c' ':
        return 0
    i += 2
    while i < n and s[i] == c'[':
        end = find(s, i, n, c']')
        if end + 2 >= n or s[end + 1] != c' ':
            return 0
        i = end + 2
    return i


cdef size_t skip_env_logger(const uint8_t *s, size_t n) noexcept nogil:
    """Skip "[TIME LEVEL  module] "; 0 if it is not there."""
    cdef size_t end = end_of_moment(s + 1, n - 1) if n > 21 and s[0] == c'[' else 0, i
    if end == 0 or s[end + 1] != c' ':
        return 0
    i = end + 2
    end = find(s, i, n, c' ')
    if not is_level(s + i, end - i):
        return 0
    i = find(s, end, n, c']')
    return i + 2 if i + 2 < n and s[i + 1] == c' ' else 0


cdef size_t skip_cloud_foundry(const uint8_t *s, size_t n) noexcept nogil:
    """Skip what `cf logs` writes: "   2024-10-10T13:55:36.20+0000 [RTR/0] OUT "; 0 if it is not there."""
    cdef size_t i = find_other(s, 0, n, c' ')
    i = skip_word(s, i, n) if is_iso_time(s, i, n) else n
    if i + 2 >= n or s[i] != c'[':
        return 0
    i = skip_tag(s, i + 1, n, c']')
    i = find_other(s, i, n, c' ') if i else n
    return i + 4 if n - i > 4 and (memcmp(s + i, b"OUT ", 4) == 0 or memcmp(s + i, b"ERR ", 4) == 0) else 0


cdef size_t skip_stream(const uint8_t *s, size_t i, size_t n) noexcept nogil:
    """Skip the name of a stream of CloudWatch Logs, or of a machine; 0 if it is not there, or another name comes after it."""
    cdef size_t end = find(s, i, n, c' ')
    if end + 1 >= n or end == i or not is_letter(s[i]) and not is_digit(s[i]) or kernels.span(
            s + i, end - i, &STREAM_NAME.set) < end - i or kernels.span(s + i, end - i, &IPV6.set) == end - i:
        return 0
    return 0 if begins_with_name(s, end + 1, n) else end + 1


cdef size_t skip_after_moment(int kind, const uint8_t *s, size_t n) noexcept nogil:
    """Skip a time and what a program writes after it; 0 if it is not there."""
    cdef size_t i = end_of_moment(s, n)
    if i == 0 or i + 2 >= n:
        return 0
    if kind == LOKI:
        return skip_labels(s, i + 1, n) if s[i] == c' ' or s[i] == c'\t' else 0
    if kind == SPRING:
        return skip_spring(s, i, n) if s[i] == c' ' else 0
    if kind == FLUENTD:     # with a zone
        if n - i < 9 or s[i] != c' ' or s[i + 1] != c'+' and s[i + 1] != c'-' or s[i + 6] != c' ':
            return 0
        i = skip_tag(s, i + 7, n, c':')
        return i + 1 if i and i + 1 < n and s[i] == c' ' and s[i + 1] == c'{' else 0
    if s[i] != c'\t':
        return 0
    return i + 1 if kind == TABBED else skip_tag(s, i + 1, n, c'\t')


cdef size_t skip_words(int kind, const uint8_t *s, size_t n) noexcept nogil:
    """Return the size of what a program may have written before a line that is no record as a whole; 0 if it is not there.

    docker logs -t, kubectl logs --timestamps: "2024-10-10T13:55:36.1Z LINE", docker service logs -t has a label after it;
    Heroku: "2024-10-10T13:55:36.1+00:00 app[web.1]: LINE"; syslog without a colon: "Oct 10 13:55:36 web1 nginx LINE".
    """
    cdef size_t i = 0, end, start
    if kind == POD_AND_CONTAINER:
        return skip_pod(s, n)
    if kind >= LOGGING:
        return skip_logging(s, n, kind - LOGGING)
    if kind == RUBY:
        return skip_ruby(s, n)
    if kind == BRACKETED:
        i = skip_tag(s, 1, n, c']') if n > 2 and s[0] == c'[' and is_letter(s[1]) else 0
        return i + 1 if i and i + 1 < n and s[i] == c' ' and not begins_with_name(s, i + 1, n) else 0
    if kind == ENV_LOGGER:
        return skip_env_logger(s, n)
    if kind == CLOUD_FOUNDRY:
        return skip_cloud_foundry(s, n)
    if kind == STREAM:
        return skip_stream(s, 0, n) if find(s, 0, find(s, 0, n, c' '), c'/') < find(s, 0, n, c' ') else 0
    if kind >= TABBED:
        return skip_after_moment(kind, s, n)
    start = skip_priority(s, 0, n) if kind == SYSLOG_WITHOUT_COLON else 0
    i = skip_timestamp(s, start, n)
    if i == 0 or i >= n or is_iso_time(s, start, n) and kernels.span(s + start, i - 1 - start, &IN_TIME.set) < i - 1 - start:
        return 0
    if kind == TIMESTAMP_AND_NAME:
        return skip_stream(s, i, n) if is_iso_time(s, 0, n) else 0
    if kind == TIMESTAMP:
        if not is_iso_time(s, 0, n):
            return i if not begins_with_name(s, i, n) and s[i] != c'-' else 0     # ts of moreutils
        if i == 33 and s[19] == c'.' and memcmp(s + 26, b"+00:00", 6) == 0:
            end = skip_stream(s, i, n)      # the AWS CLI writes such times, and always a name after them
            if end and s[end] != c'-':
                return 0
        end = skip_word(s, i, n)
        return i + skip_label(s + i, n - i, False) if s[end - 2] != c':' else 0
    if kind == TIMESTAMP_AND_TAG:
        end = skip_word(s, i, n)
        return end if end < n and end - i > 2 and s[end - 2] == c':' and is_iso_time(s, 0, n) else 0
    i = skip_word(s, i, n)          # HOSTNAME
    end = find(s, i, n, c' ')       # TAG
    if end + 1 >= n or end == i or kernels.span(s + i, end - i, &TAG.set) < end - i or is_digit(s[i]) or s[i] == c'-':
        return 0
    return 0 if begins_with_name(s, end + 1, n) else end + 1


# --- colors -----------------------------------------------------------------------------------------------------------

cdef size_t end_of_sequence(const uint8_t *s, size_t i, size_t n) noexcept nogil:
    """Return the end of the control sequence that starts at i, such as that of a color; i if there is none.

    ECMA-48 section 5.4: CSI, parameter bytes 30-3F, and a final byte 40-7E. CSI is ESC "[". Those of colors (SGR) and of
    erasing, which `grep --color` writes, have no intermediate bytes. ESC "(B" (ECMA-35: ASCII) is before what resets colors
    in terminfo of xterm, which Tornado writes.
    """
    cdef size_t end = i + 2
    if n - i < 3 or s[i] != ESCAPE:
        return i
    if s[i + 1] != c'[':
        return i + 3 if s[i + 1] == c'(' and s[i + 2] == c'B' else i
    while end < n and 0x30 <= s[end] <= 0x3F:
        end += 1
    return end + 1 if end < n and 0x40 <= s[end] <= 0x7E else i


cdef size_t without_colors(uint8_t *s, size_t n) noexcept nogil:
    """Remove the control sequences of a line where it is. Return its size."""
    cdef size_t i = find(s, 0, n, ESCAPE), size = i, end
    while i < n:
        end = end_of_sequence(s, i, n)
        if end == i:
            s[size] = s[i]
            size += 1
            end += 1
        i = find(s, end, n, ESCAPE)
        memmove(s + size, s + end, i - end)
        size += i - end
    return size


cdef size_t offset_with_colors(const uint8_t *s, size_t n, size_t offset) noexcept nogil:
    """Return where in a line an offset is that counts without its control sequences."""
    cdef size_t i = 0, end
    while i < n:
        end = end_of_sequence(s, i, n)
        if end > i:
            i = end
        elif offset == 0:
            return i
        else:
            offset -= 1
            i += 1
    return n


# --- objects ----------------------------------------------------------------------------------------------------------

cdef void end_line(Text *line, uint8_t *room) noexcept nogil:
    """Remove the end of a line that is in a buffer, and its control sequences."""
    if line.n and room[line.n - 1] == c'\n':
        line.n -= 1
    if line.n and room[line.n - 1] == c'\r':
        line.n -= 1
    line.n = without_colors(room, line.n)


cdef size_t numbers_of(const uint8_t *s, size_t i, size_t n, uint8_t *dst) noexcept nogil:
    """Write the bytes whose numbers an array has that starts at i. Return how many; 0 if it has anything else."""
    cdef size_t size = 0, digits
    cdef int value
    while True:
        i = find_other(s, i + 1, n, c' ')
        value = 0
        digits = i
        while i < n and i - digits < 4 and c'0' <= s[i] <= c'9':
            value = 10 * value + (s[i] - c'0')
            i += 1
        if i == digits or i - digits > 3 or value > 255:
            return 0
        dst[size] = <uint8_t>value
        size += 1
        i = find_other(s, i, n, c' ')
        if i == n or s[i] != c',' and s[i] != c']':
            return 0
        if s[i] == c']':
            return size


cdef inline bint is_name_of_line(const uint8_t *key, size_t n) noexcept nogil:
    """Return whether a member has a line: Docker and Fluent Bit write "log", Filebeat "message", journald "MESSAGE", Splunk "_raw",
    Loki "line", Graylog (GELF) "short_message", Google Cloud Logging "textPayload"."""
    if n == 7:
        return memcmp(key, b"message", 7) == 0 or memcmp(key, b"MESSAGE", 7) == 0
    return (n == 3 and memcmp(key, b"log", 3) == 0 or n == 4 and (memcmp(key, b"_raw", 4) == 0 or memcmp(key, b"line", 4) == 0)
            or n == 11 and memcmp(key, b"textPayload", 11) == 0 or n == 13 and memcmp(key, b"short_message", 13) == 0)


cdef size_t text_in_object(const uint8_t *s, size_t n, uint8_t *room, Text *line) noexcept nogil:
    """Find the line in a JSON object: the text of its first member that may have one. Return where it begins; 0 if there is none.

    journald writes an array of numbers if the line is not UTF-8. After the line, nothing is checked. What Splunk exports is in
    an object "result".
    """
    cdef size_t i = skip_space(s, 0, n), key, end, entered = 0
    cdef bint has_line, enters
    if i == n or s[i] != c'{':
        return 0
    i = skip_space(s, i + 1, n)
    while i < n and s[i] == c'"':
        key = i + 1
        end = end_of_string(s, key, n, False)
        has_line = is_name_of_line(s + key, end - key)
        enters = end - key == 6 and memcmp(s + key, b"result", 6) == 0
        i = skip_space(s, min(end + 1, n), n)
        if i == n or s[i] != c':':
            return 0
        i = skip_space(s, i + 1, n)
        if i == n:
            return 0
        if s[i] == c'"':
            end = end_of_string(s, i + 1, n, False)
            if end == n:
                return 0
            if has_line:
                line.at, line.n = room, json_text(s + i + 1, end - i - 1, room)
                end_line(line, room)
                return i + 1
            i = end + 1
        elif enters and s[i] == c'{' and skip_space(s, i + 1, n) < n and s[skip_space(s, i + 1, n)] == c'"':
            entered += 1
            i = skip_space(s, i + 1, n)
            continue
        elif s[i] == c'{' or s[i] == c'[':
            line.at, line.n = room, numbers_of(s, i, n, room) if has_line and s[i] == c'[' else 0
            if line.n:
                line.n = without_colors(room, line.n)
                return i + 1
            i = skip_nested(s, i, n, False)
        else:
            end = i
            i = end_of_scalar(s, i, n)
            if i == end:
                return 0
        i = skip_space(s, min(i, n), n)
        while entered and i < n and s[i] == c'}':
            entered -= 1
            i = skip_space(s, i + 1, n)
        if i == n or s[i] != c',':
            return 0
        i = skip_space(s, i + 1, n)
    return 0
