"""The grammar of UTF-8 (RFC 3629 section 4), for loops that read one byte at a time."""
from libc.stdint cimport uint8_t, uint16_t, uint32_t

from uricodec._base._kernels cimport uc_utf8

ctypedef fused code_unit:
    uint8_t
    uint16_t
    uint32_t


cdef inline int sequence_length(uint8_t lead) noexcept nogil:
    """Return the length of a UTF-8 sequence that begins with this byte; 0 if none does."""
    return 1 if lead < 0x80 else 0 if lead < 0xC2 else 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4 if lead < 0xF5 else 0


cdef inline bint continues(uint8_t lead, int index, uint8_t octet) noexcept nogil:
    """Return whether a byte is allowed at this index of a sequence; overlong forms and surrogates are not."""
    if index == 1:
        if lead == 0xE0:
            return 0xA0 <= octet <= 0xBF
        if lead == 0xED:
            return 0x80 <= octet <= 0x9F
        if lead == 0xF0:
            return 0x90 <= octet <= 0xBF
        if lead == 0xF4:
            return 0x80 <= octet <= 0x8F
    return 0x80 <= octet <= 0xBF


# Like scan_utf8 and from_utf8, but with U+FFFD for each ill-formed maximal subpart, as in bytes.decode(errors="replace").
cdef void scan_replacing(const uint8_t *src, size_t n, uc_utf8 *found) noexcept nogil
cdef void from_utf8_replacing(const uint8_t *src, size_t n, int width, uint8_t *dst) noexcept nogil

# Return a str decoded from UTF-8. `errors` is the name of the error handler; NULL: "replace".
cdef str utf8_text(const uint8_t *src, size_t n, const char *errors)
