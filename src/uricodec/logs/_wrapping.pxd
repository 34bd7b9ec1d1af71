"""What other programs write around a line."""
from libc.string cimport memcmp

from uricodec.logs._json cimport skip_space
from uricodec.logs._line cimport *

# What a line never has itself.
cdef enum:
    SYSLOG, CRI, LABEL_AND_TIME, LABEL, CONSOLE
    PREFIXES

# What it may have: these are tried if it is no record otherwise.
cdef enum:
    TIMESTAMP, TIMESTAMP_AND_TAG, SYSLOG_WITHOUT_COLON, POD_AND_CONTAINER, TIMESTAMP_AND_NAME, STREAM, TABBED, TABBED_AND_TAG
    LOKI, FLUENTD, SPRING, RUBY, ENV_LOGGER, CLOUD_FOUNDRY, BRACKETED, LOGGING
    WORDS = 18      # LOGGING: with none, one or two words after the level

cdef size_t skip_prefix(int kind, const uint8_t *s, size_t n) noexcept nogil
cdef size_t skip_words(int kind, const uint8_t *s, size_t n) noexcept nogil
cdef Text time_before(const uint8_t *s, size_t n) noexcept nogil
cdef size_t prefix_of(const uint8_t *s, size_t n) noexcept nogil
cdef size_t text_in_object(const uint8_t *s, size_t n, uint8_t *room, Text *line) noexcept nogil
cdef size_t without_colors(uint8_t *s, size_t n) noexcept nogil
cdef size_t offset_with_colors(const uint8_t *s, size_t n, size_t offset) noexcept nogil


cdef inline bint may_have_prefix(const uint8_t *s, size_t space) noexcept nogil:
    """Return whether a line may have a prefix, given the offset of its first space. BLOCK bytes may be loaded."""
    if s[0] == c'<' or s[4] == c'-' and s[10] == c'T' or s[3] == c' ' and s[6] == c' ':
        return True
    if s[space + 1] == c'<' and c'0' <= s[0] <= c'9':
        return True
    if s[0] == c'[':
        return s[1] == c'p' and s[2] == c'o' and s[3] == c'd' and s[4] == c'/'
    while s[space] == c' ':
        space += 1
    return s[space] == c'|'


cdef inline bint is_of_docker(const uint8_t *s, size_t n) noexcept nogil:
    """Return whether a line is a record of Docker's json-file driver: {"log":"line\\n","stream":...}"""
    return n > 8 and memcmp(s, b'{"log":', 7) == 0 and s[skip_space(s, 7, n)] == c'"'
