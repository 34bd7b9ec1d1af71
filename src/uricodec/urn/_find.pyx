"""URNs in any bytes: text, pages, logs."""
from libc.stdint cimport uint8_t, uint64_t

from uricodec._base._kernels cimport ByteSet, kernels, uc_lowest_bit, uc_set
from uricodec._base._text cimport borrow_octets
from uricodec.urn._parse cimport *
from uricodec.urn._grammar cimport *

from cpython.buffer cimport PyBuffer_Release


# RFC 2141 section 2.4:
#   <excluded> ::= bytes 1-32 (1-20 hex) | "\" | """ | "&" | "<"
#                  | ">" | "[" | "]" | "^" | "`" | "{" | "|" | "}" | "~"
#                  | bytes 127-255 (7F-FF hex)
#   "In addition, byte 0 (0 hex) should NEVER be used".
TERMINATORS = ByteSet(range(1, 33)) | '\\"&<>[]^`{|}~' | bytes(range(127, 256)) | b"\0"

# A URN is looked for where a ":" stands after an "n".
cdef enum:
    SCAN_WORDS = 64, SCAN = 64 * SCAN_WORDS     # bytes that are marked at once
    AT_ONCE = 256                               # URNs that are found before the list gets them
cdef ByteSet NO_N = ~ByteSet("nN")
cdef ByteSet NO_COLON = ~ByteSet(":")


cdef size_t end_of_urn(const uint8_t *s, size_t n, const uc_set *plain, bint triplets) noexcept nogil:
    """How long the URN is with which s begins; 0 if it begins with none."""
    cdef size_t start = start_of_nss(s, n), i = start
    if start == 0:
        return 0
    while i < n:
        if plain.member[s[i]]:
            i += kernels.span(s + i, n - i, plain)
        elif triplets and s[i] == c'%' and is_triplet(s, n, i):
            i += 3
        else:
            break
    return 0 if i == start else i


cdef size_t scan_urns(const uint8_t *s, size_t n, size_t *start, const uc_set *plain, bint triplets, size_t *places,
                      size_t room) noexcept nogil:
    """Write where URNs start and end, from *start on, until all is scanned or `room` URNs are found. Returns their
    number, and in *start where to go on."""
    cdef uint64_t colons[SCAN_WORDS]
    cdef uint64_t ns[SCAN_WORDS]
    cdef uint64_t word, carry = 0
    cdef size_t chunk = start[0], done = chunk, count = 0, size, w, i, at, length
    while chunk < n:
        size = n - chunk if n - chunk < SCAN else SCAN
        kernels.mark_outside(s + chunk, size, &NO_COLON.set, colons)
        kernels.mark_outside(s + chunk, size, &NO_N.set, ns)
        for w in range((size + 63) // 64):
            word = colons[w] & (ns[w] << 1 | carry)
            carry = ns[w] >> 63
            while word:
                i = chunk + 64 * w + <size_t>uc_lowest_bit(word)
                word &= word - 1
                if i < done + 3:
                    continue
                at = i - 3
                if s[at] | 0x20 != c'u' or s[at + 1] | 0x20 != c'r' or at and ALPHANUM.set.member[s[at - 1]]:
                    continue
                length = end_of_urn(s + at, n - at, plain, triplets)
                if length == 0:
                    continue
                done = at + length
                places[2 * count] = at
                places[2 * count + 1] = done
                count += 1
                if count == room:
                    start[0] = done
                    return count
        chunk += size
    start[0] = n
    return count


def find(buffer, terminators=TERMINATORS):
    """Find the URNs in any bytes: a log, a page, a dump.

    A URN begins with "urn:", in any case, after no letter or digit, and an NID of RFC 2141, and it goes on until an
    byte that no URN has, a "%" that begins no triplet, or "%00". What is legal in an NSS belongs to it, also a "." or
    "," at its end.

    Args:
        buffer (bytes-like): The bytes.
        terminators (ByteSet | bytes-like | str): The bytes that end a URN. By default those that RFC 2141 excludes, so
            also the "~" and "&" that RFC 8141 allows.

    Returns:
        list[tuple[int, int]]: Where each URN starts and ends, in order.

    Source: RFC 2141 section 2.4: "An URN ends when an octet/character from the excluded character set [...] is
    encountered."

    >>> find(b'see <urn:isbn:0451450523>, "URN:x:a%2Fb"')
    [(5, 24), (28, 39)]
    """
    cdef Py_buffer view
    cdef ByteSet ends = terminators if type(terminators) is ByteSet else ByteSet(terminators)
    cdef ByteSet plain = ~(ends | "%")
    cdef list found = []
    cdef size_t places[2 * AT_ONCE]
    cdef size_t i, count, start = 0
    cdef bint triplets = not ends.set.member[c'%']
    borrow_octets(buffer, &view)
    try:
        while start < <size_t>view.len:
            with nogil:
                count = scan_urns(<const uint8_t *>view.buf, <size_t>view.len, &start, &plain.set, triplets, places,
                                  AT_ONCE)
            for i in range(count):
                found.append((<Py_ssize_t>places[2 * i], <Py_ssize_t>places[2 * i + 1]))
    finally:
        PyBuffer_Release(&view)
    return found


find.__module__ = "uricodec.urn"        # pickled by reference to where users find it
