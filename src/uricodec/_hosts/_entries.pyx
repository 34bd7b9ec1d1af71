"""Sets of hosts and of URL prefixes: their entries from lists, and looking up URLs.

What could match a URL, its candidates, is hashed from one piece to the next, and looked up in the table:

    hosts       www.shop.example    "example", "shop.example", "www.shop.example": whole labels, from the right
    prefixes    a.example/b/c       "a.example", "a.example/b", "a.example/b/c": whole segments, from the left

The longest one that is an entry matches. Numbers of labels or segments that no entry has are not looked up.
"""
cimport cython
from cpython.buffer cimport PyBuffer_Release
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memchr, memcmp, memcpy, memmove

from uricodec._base._atomic cimport uc_read8
from uricodec._base._fingerprint cimport FingerprintKey, load_word
from uricodec._base._kernels cimport ALPHANUM, ByteSet, kernels, lower, prefetch, uc_lowest_bit
from uricodec._base._text cimport *
from uricodec._codec._percent cimport triplet_value
from uricodec._hosts._table cimport *
from uricodec._rows._engine cimport *
from uricodec._rows._single cimport borrow, text_of
from uricodec._url._addresses cimport parse_ipv4, parse_ipv6
from uricodec._url._grammar cimport (
    GROUPS, Parts, find_authority, find_parts, format_ipv6, is_numeric_label, is_well_delimited, web_prefix
)
from uricodec._url._idna cimport without_ignored
from uricodec.uri._keys cimport KEY_EXTRA, KEY_FACTOR, surt_row
from uricodec._url._normalize cimport AT_IRI, FORM_EXTRA, FORMS, NORMALIZE_ROWS
from uricodec._url._whatwg cimport convert_domain

from uricodec.errors import UriSyntaxError


cdef enum:
    MOST_OF_NAME = 253          # bytes of a domain name, and
    MOST_OF_LABEL = 63          # of a label
    MOST_LABELS = 127           # in 253 bytes
    TAIL = 510                  # bytes of a longer host that are looked at: its end
    LABEL_SOURCE = 4 * MOST_OF_LABEL    # characters that a label may come from: Normalization Form C makes one of four
    LABEL_UTF8 = 4 * LABEL_SOURCE       # and bytes
    LABEL_CAPACITY = 9 * LABEL_UTF8 + 16        # of what convert_domain() makes of them
    HOST_CAPACITY = TAIL + 2 * WIDE
    MOST_OF_PORT = 5            # digits
    PORT = 8                    # bytes of ":" and a port that an entry may have
    MOST_OF_ENTRY = 2048        # bytes of an entry of a list
    MOST_OF_TEXT = 0xFFFF       # and of its normal form
    # What prefix_entry() needs for it.
    FORM_OF_ENTRY = HOST_CAPACITY + PORT + KEY_FACTOR * (MOST_OF_ENTRY + TAIL) + KEY_EXTRA + WIDE
    SHORT = 1024                # bytes of a URL whose forms are on the stack
    USUAL_HOST = 512            # the same of a host
    USUAL = 48                  # bytes, at most,
    FEW = 6                     # and labels of a usual host

cdef ByteSet NAME_BYTES = ALPHANUM | "-._"
cdef ByteSet LABEL_BYTES = NAME_BYTES - "."
cdef ByteSet LOWER_LABEL_BYTES = LABEL_BYTES - range(0x41, 0x5B)
cdef ByteSet VISIBLE = ByteSet(range(0x21, 0x7F))
cdef ByteSet IN_SURT_HOST = NAME_BYTES | ","
cdef ByteSet BEFORE_QUERY = ~ByteSet("?")


# --- hosts ------------------------------------------------------------------------------------------------------------

cdef size_t write_valid_label(const uint8_t *s, size_t n, uint8_t *dst) noexcept nogil:
    """write_label() for a label whose joiners, if it has any, are in their place."""
    cdef size_t i, characters = 0
    cdef Py_ssize_t size
    if n > LABEL_UTF8:
        return 0
    for i in range(n):
        characters += s[i] & 0xC0 != 0x80
    if characters > LABEL_SOURCE:
        return 0
    size = convert_domain(s, n, dst, LABEL_CAPACITY)
    if size == -2:
        return UC_REJECTED
    return <size_t>size if 0 < size <= MOST_OF_LABEL else 0


cdef size_t write_label(const uint8_t *s, size_t n, uint8_t *dst) noexcept nogil:
    """Write the A-label of a label beyond ASCII, as browsers do. Return the size; UC_REJECTED: an exception is set.

    U+200C and U+200D are valid between some letters only. Elsewhere browsers reject a host, but IDNA 2003, and so Python's
    urllib, ignores them (RFC 3454 table B.1): then the label is that without them.

    0: the label is invalid or too long, so no entry has it. dst has LABEL_CAPACITY bytes.
    """
    cdef uint8_t label[LABEL_UTF8]
    cdef size_t i = 0, o = 0, size = write_valid_label(s, n, dst)
    if size:
        return size
    while i < n and o < sizeof(label):
        if n - i >= 3 and s[i] == 0xE2 and s[i + 1] == 0x80 and s[i + 2] & 0xFE == 0x8C:
            i += 3
            continue
        label[o] = s[i]
        i += 1
        o += 1
    return write_valid_label(label, o, dst) if i == n and o < n else 0


cdef size_t write_labels(const uint8_t *host, size_t n, uint8_t *dst, bint *is_cut) noexcept nogil:
    """Write a host in lower case. Each label is converted by itself, from the last one on.

    Only the labels after one that no entry has are written, or those that TAIL bytes hold. Return the size; UC_REJECTED: an
    exception is set.
    """
    cdef uint8_t converted[LABEL_CAPACITY]
    cdef uint8_t tail[TAIL]             # is filled from its end
    cdef const uint8_t *label
    cdef size_t start, size, i, end = n, at = TAIL
    while True:
        start = label_start(host, end)
        label, size = host + start, end - start
        is_cut[0] = False
        if not is_ascii(label, size):
            label, size = converted, write_label(label, size, converted)
            if size == UC_REJECTED:
                return size
            is_cut[0] = size == 0
        is_cut[0] |= size >= at
        if is_cut[0]:
            break
        at -= size
        for i in range(size):
            tail[at + i] = lower(label[i])
        if start == 0:
            break
        at -= 1
        tail[at] = c'.'
        end = start - 1
    memcpy(dst, tail + at, TAIL - at)
    return TAIL - at


cdef size_t unusual_host(const uint8_t *s, size_t n, uint8_t *dst, bint *is_cut) noexcept nogil:
    """Write the normal form of a host that is not in plain bytes. 0: it has none; UC_REJECTED: an exception is set."""
    cdef uint16_t groups[GROUPS]
    cdef uint8_t small[USUAL_HOST]
    cdef uint8_t *decoded = small
    cdef size_t i = 0, o = 0
    cdef bint ascii = True
    cdef int c
    if n == 0:
        return 0
    if s[0] == c'[':
        if s[n - 1] != c']' or not parse_ipv6(s + 1, n - 2, groups):
            return 0
        dst[0] = c'['
        o = 1 + format_ipv6(groups, True, dst + 1)
        dst[o] = c']'
        return o + 1
    if n > sizeof(small):
        decoded = <uint8_t *>PyMem_RawMalloc(n)
        if decoded == NULL:
            set_no_memory()  # pragma: no cover: no memory
            return UC_REJECTED  # pragma: no cover: no memory
    while i < n:
        c = s[i]
        if c == c'%' and triplet_value(s + i, n - i) >= 0:
            c = triplet_value(s + i, n - i)
            i += 2
        ascii &= c < 0x80
        decoded[o] = <uint8_t>c
        i += 1
        o += 1
    if not ascii:
        o = without_ignored(decoded, o)
    if o != UC_REJECTED:
        o = write_labels(decoded, o, dst, is_cut)
    if decoded != small:
        PyMem_RawFree(decoded)
    return 0 if 0 < o < UC_REJECTED and dst[0] == c'[' else o       # "%5B" begins no address


cdef inline size_t normal_host(const uint8_t *s, size_t n, uint8_t *dst, bint *is_cut) noexcept nogil:
    """Write the normal form of a host, or the end of a long one. 0: it has none that an entry could have.

    dst has HOST_CAPACITY bytes. UC_REJECTED: an exception is set.
    """
    cdef size_t size
    is_cut[0] = False
    if kernels.span(s, n, &NAME_BYTES.set) == n:
        if n > TAIL:
            is_cut[0] = True
            s += n - TAIL
            n = TAIL
        copy_lower(s, n, dst)
        size = n
    else:
        size = unusual_host(s, n, dst, is_cut)
        if size == UC_REJECTED:
            return size
    if size and dst[size - 1] == c'.':
        size -= 1       # of the root
    return size


cdef inline bint is_one_piece(const uint8_t *host, size_t n) noexcept nogil:
    """Return whether a host, n > 0, has no parents: an address, or a name that ends in a number."""
    cdef size_t start
    if host[0] == c'[':
        return True
    if not <uint8_t>(host[n - 1] - c'0') < 10 and not <uint8_t>(host[n - 1] - c'a') < 6 and host[n - 1] != c'x':
        return False
    start = label_start(host, n)
    return start < n and is_numeric_label(host + start, n - start)


# The candidates of a host, the shortest first.
cdef struct Candidates:
    size_t count
    uint64_t hash[MOST_LABELS]
    uint16_t start[MOST_LABELS]


cdef inline void find_candidates(const Table *table, const uint8_t *host, size_t n, bint is_cut, bint exact,
                                 Candidates *found) noexcept nogil:
    """Find what could match a host, n > 0, in its normal form."""
    cdef uint64_t hash = 1
    cdef size_t end = n + 1, labels = 0
    exact |= is_one_piece(host, n)
    found.count = 0
    while end and labels < MOST_LABELS:
        end = absorb_label(host, end - 1, table.point, &hash)
        if end == 0 and is_cut:
            return
        labels += 1
        if (end == 0 or not exact) and table.depths & depth_bit(labels):
            found.hash[found.count], found.start[found.count] = mixed(hash), <uint16_t>end
            found.count += 1


cdef inline bint find_url_host(const uint8_t *s, size_t n, bint is_entry, Parts *parts) noexcept nogil:
    """Find the host and the port of a URL; or of text without scheme and "//", which begins with them. False: no host.

    A name without a "." before ":" may be a scheme, as in "mailto:me", except in an entry: it is a host if a port of 1 to 5
    digits follows.
    """
    cdef const uint8_t *colon
    cdef size_t end = 0, i
    find_authority(s, n, parts)
    if parts.authority >= 0:
        return parts.host_end > parts.host
    while end < n and s[end] != c'/' and s[end] != c'?' and s[end] != c'#':
        if s[end] == c'@':
            return False
        end += 1
    if end == 0:
        return False
    parts.host, parts.host_end, parts.path = 0, <Py_ssize_t>end, <Py_ssize_t>end
    if s[0] == c'[':
        colon = <const uint8_t *>memchr(s, c']', end)
        if colon == NULL or colon + 1 < s + end and colon[1] != c':':
            return False
        colon = colon + 1 if colon + 1 < s + end else NULL
    else:
        colon = <const uint8_t *>memchr(s, c':', end)
        if (colon != NULL and not is_entry and memchr(s, c'.', <size_t>(colon - s)) == NULL
                and not 0 < s + end - colon - 1 <= MOST_OF_PORT):
            return False
    if colon != NULL:
        parts.host_end, parts.port = colon - s, colon - s + 1
        for i in range(<size_t>parts.port, end):
            if not <uint8_t>(s[i] - c'0') < 10:
                return False
    return parts.host_end > 0


cdef Found match_host(const Table *table, const uint8_t *s, size_t n, bint exact, Entry *entry) noexcept nogil:
    """Find the longest entry that is the host of a URL, or above it."""
    cdef uint8_t host[HOST_CAPACITY]
    cdef Parts parts
    cdef Candidates candidates
    cdef bint is_cut
    cdef size_t size, i
    cdef Found found
    if not find_url_host(s, n, False, &parts):
        return ABSENT
    size = normal_host(s + parts.host, <size_t>(parts.host_end - parts.host), host, &is_cut)
    if size == 0 or size == UC_REJECTED:
        return RAISED if size else ABSENT
    find_candidates(table, host, size, is_cut, exact, &candidates)
    i = candidates.count
    while i:
        i -= 1
        found = find(table, candidates.hash[i], host + candidates.start[i], size - candidates.start[i], entry)
        if found != ABSENT:
            return found
    return ABSENT


# --- prefixes ---------------------------------------------------------------------------------------------------------

# The normal form of a URL without scheme, userinfo, query and fragment: HOST[:PORT]PATH.
cdef struct Page:
    uint8_t *text               # in memory that the caller provides
    size_t host                 # bytes of the host,
    size_t base                 # of host and port,
    size_t size                 # and of all
    bint has_more               # there is a query or a fragment


cdef inline size_t form_capacity(size_t n) noexcept nogil:
    """Return the capacity for the normal form, or the SURT, of a URL of n bytes, perhaps with another host."""
    return KEY_FACTOR * (n + TAIL) + KEY_EXTRA + WIDE


cdef inline size_t page_capacity(size_t n) noexcept nogil:
    return HOST_CAPACITY + PORT + form_capacity(n)


cdef inline size_t url_capacity(size_t n) noexcept nogil:
    """Return the capacity for a URL of n bytes with a scheme before it, or another host."""
    return n + HOST_CAPACITY


cdef bint read_page(const uint8_t *s, size_t n, bint is_entry, uint8_t *url, uint8_t *form, Page *page,
                    Found *found) noexcept nogil:
    """Write the normal form of a page. False: there is none, unless found is RAISED.

    Args:
        url (uint8_t *), form (uint8_t *): url_capacity(n) and form_capacity(n) bytes. page.text has page_capacity(n).
    """
    cdef Outcome outcome
    cdef Parts parts
    cdef size_t size
    cdef bint is_cut
    found[0] = ABSENT
    if not find_url_host(s, n, is_entry, &parts):
        return False
    if parts.host == 0:     # no authority is before it
        memcpy(url, b"http://", 7)
        memcpy(url + 7, s, n)
        s, n = url, n + 7
    size = NORMALIZE_ROWS[<int>AT_IRI].row(s, n, &FORMS[<int>AT_IRI], form, &outcome)
    if size == UC_REJECTED:
        found[0] = RAISED
        return False
    find_parts(form, size, &parts)
    if parts.authority < 0 or not is_well_delimited(form, &parts):
        return False
    page.host = normal_host(form + parts.host, <size_t>(parts.host_end - parts.host), page.text, &is_cut)
    if page.host == UC_REJECTED:
        found[0] = RAISED
    if page.host == 0 or page.host == UC_REJECTED or is_cut:
        return False
    # The hosts of entries are plain. Others could contain what looks like the end of a host in a SURT.
    if page.text[0] != c'[' and kernels.span(page.text, page.host, &NAME_BYTES.set) < page.host:
        return False
    page.base = page.host
    if parts.port >= 0 and parts.port < parts.path:
        size = <size_t>(parts.path - parts.port)
        if size >= PORT:
            return False        # the port is not one
        page.text[page.base] = c':'
        memcpy(page.text + page.base + 1, form + parts.port, size)
        page.base += 1 + size
    size = <size_t>(parts.path_end - parts.path)
    memcpy(page.text + page.base, form + parts.path, size)
    page.size, page.has_more = page.base + size, parts.end > parts.path_end
    return True


cdef inline size_t absorb_segment(const uint8_t *text, size_t start, size_t n, uint64_t point, uint64_t *hash) noexcept nogil:
    """Add the segment that starts with the "/" at `start` to the hash of what is before it. Return where it ends."""
    cdef size_t end = start + 1
    while end < n and text[end] != c'/':
        end += 1
    hash[0] = absorb(hash[0], text + start, end - start, point)
    return end


cdef Found find_prefix(const Table *table, uint64_t depths, const uint8_t *text, size_t base, size_t n, bint exact,
                       Entry *entry) noexcept nogil:
    """Find the longest entry that is a prefix, in whole segments, of text[0 .. n), whose path starts at `base`."""
    cdef uint64_t hash = absorb(1, text, base, table.point)
    cdef size_t i = base, depth = 0
    cdef Found found, best = ABSENT
    while True:
        if depths & depth_bit(depth) and (not exact or i == n or i == n - 1 and text[i] == c'/'):
            found = find(table, mixed(hash), text, i, entry)
            if found > PRESENT:
                return found
            best = max(best, found)
        if i == n or depth < DEPTHS and depths >> depth <= 1:
            return best
        i = absorb_segment(text, i, n, table.point, &hash)
        depth += 1


# The entry with the longest path so far.
cdef struct Longest:
    Found found
    size_t path
    Entry entry


cdef bint find_longer(const Table *table, uint64_t depths, const uint8_t *text, size_t base, size_t n, bint exact,
                      Longest *longest) noexcept nogil:
    """Find an entry as find_prefix() does, which counts if its path is longer. False: the lookup failed."""
    cdef Entry entry
    cdef Found found = find_prefix(table, depths, text, base, n, exact, &entry)
    if found > PRESENT:
        longest.found = found
        return False
    if found == PRESENT and (longest.found == ABSENT or entry.size - base > longest.path):
        longest.found, longest.path, longest.entry = PRESENT, entry.size - base, entry
    return True


cdef uint64_t whole_prefix(const uint8_t *text, size_t base, size_t n, uint64_t point, size_t *depth) noexcept nogil:
    """Return the hash of a prefix in its normal form, and the number of its segments."""
    cdef uint64_t hash = absorb(1, text, base, point)
    cdef size_t i = base
    depth[0] = 0
    while i < n:
        i = absorb_segment(text, i, n, point, &hash)
        depth[0] += 1
    return hash


cdef size_t with_host(const uint8_t *s, size_t n, const Page *page, uint8_t *dst) noexcept nogil:
    """Copy the URL of a page, with the host of the page."""
    cdef Parts parts
    cdef size_t size, rest
    find_url_host(s, n, False, &parts)
    size, rest = <size_t>parts.host, n - <size_t>parts.host_end
    memcpy(dst, s, size)
    memcpy(dst + size, page.text, page.host)
    memcpy(dst + size + page.host, s + parts.host_end, rest)
    return size + page.host + rest


cdef void match_page(const Table *table, const uint8_t *s, size_t n, bint exact, uint8_t *url, uint8_t *form,
                     uint8_t *text, Longest *longest) noexcept nogil:
    """Find the longest entry that is a prefix of a URL: with its port, without it, or as a SURT."""
    cdef Page page
    cdef Outcome outcome
    cdef const uint8_t *end
    cdef size_t size
    page.text = text
    if not read_page(s, n, False, url, form, &page, &longest.found):
        return
    if table.depths:
        if not find_longer(table, table.depths, text, page.base, page.size, exact, longest):
            return
        if page.base > page.host:
            # An entry without a port is for all ports.
            memmove(text + page.host, text + page.base, page.size - page.base)
            page.size -= page.base - page.host
            if not find_longer(table, table.depths, text, page.host, page.size, exact, longest):
                return
    if table.surts:
        size = surt_row(url, with_host(s, n, &page, url), NULL, form, &outcome)
        if size == UC_REJECTED:
            longest.found = RAISED
            return
        size = min(size, <size_t>kernels.span(form, size, &BEFORE_QUERY.set))
        end = <const uint8_t *>memchr(form, c')', size)
        if end != NULL:
            find_longer(table, table.surts, form, <size_t>(end - form) + 1, size, exact, longest)


cdef Found match_prefix(const Table *table, const uint8_t *s, size_t n, bint exact, Entry *entry) noexcept nogil:
    """Find the longest entry that is a prefix of a URL."""
    cdef uint8_t buffer[KEY_FACTOR * (SHORT + TAIL) + KEY_EXTRA + WIDE]
    cdef uint8_t texts[HOST_CAPACITY + PORT + KEY_FACTOR * (SHORT + TAIL) + KEY_EXTRA + WIDE]
    cdef uint8_t url[SHORT + HOST_CAPACITY]
    cdef uint8_t *heap
    cdef Longest longest
    longest.found, longest.path = ABSENT, 0
    if n <= SHORT:
        match_page(table, s, n, exact, url, buffer, texts, &longest)
        entry[0] = longest.entry
        return longest.found
    heap = <uint8_t *>PyMem_RawMalloc(form_capacity(n) + page_capacity(n) + url_capacity(n))
    if heap == NULL:
        set_no_memory()  # pragma: no cover: no memory
        return RAISED  # pragma: no cover: no memory
    match_page(table, s, n, exact, heap + form_capacity(n) + page_capacity(n), heap, heap + form_capacity(n), &longest)
    PyMem_RawFree(heap)
    entry[0] = longest.entry
    return longest.found


# --- entries of lists -------------------------------------------------------------------------------------------------

cdef inline bint is_blank(uint8_t c) noexcept nogil:
    return c == c' ' or 9 <= c <= 13


cdef void strip(const uint8_t **s, size_t *n) noexcept nogil:
    while n[0] and is_blank(s[0][n[0] - 1]):
        n[0] -= 1
    while n[0] and is_blank(s[0][0]):
        s[0] += 1
        n[0] -= 1


cdef bint has_good_labels(const uint8_t *host, size_t n) noexcept nogil:
    """Return whether a host is a domain name, or an IPv4 address."""
    cdef uint16_t groups[GROUPS]
    cdef size_t end = n, start
    if n == 0 or n > MOST_OF_NAME or kernels.span(host, n, &NAME_BYTES.set) < n:
        return False
    while True:
        start = label_start(host, end)
        if not 0 < end - start <= <size_t>MOST_OF_LABEL:
            return False
        if start == 0:
            break
        end = start - 1
    return not is_one_piece(host, n) or parse_ipv4(host, 0, n, groups)


cdef size_t host_entry(const uint8_t *s, size_t n, uint8_t *dst) noexcept nogil:
    """Write the normal form of an entry of a set of hosts. 0: it is not understood; UC_REJECTED: an exception is set."""
    cdef uint8_t address[MOST_OF_LABEL]
    cdef uint16_t groups[GROUPS]
    cdef bint is_cut
    cdef size_t size
    if n >= 2 and s[0] == c'*' and s[1] == c'.':
        s += 2
        n -= 2
    elif n and s[0] == c'.':
        s += 1
        n -= 1
    if parse_ipv6(s, n, groups):
        address[0] = c'['
        size = 1 + format_ipv6(groups, True, address + 1)
        address[size] = c']'
        s, n = address, size + 1
    size = normal_host(s, n, dst, &is_cut)
    if size == 0 or size == UC_REJECTED or is_cut:
        return size if size == UC_REJECTED else 0
    return size if dst[0] == c'[' or has_good_labels(dst, size) else 0


cdef size_t from_surt(const uint8_t *s, size_t n, uint8_t *dst) noexcept nogil:
    """Write the URL that a SURT is of: "com,example)/b" or "http://(com,example,)/b". 0: the text is not a SURT.

    dst has n + 8 bytes.
    """
    cdef const uint8_t *end
    cdef const uint8_t *colon
    cdef size_t host, start, stop, o = 7, i = 0
    # Without the scheme and the bracket that some have.
    while i + 3 < n and s[i] != c')' and s[i] != c'/':
        i += 1
    if i + 3 < n and i > 1 and s[i] == c'/' and s[i - 1] == c':' and s[i + 1] == c'/' and s[i + 2] == c'(':
        s += i + 3
        n -= i + 3
    end = <const uint8_t *>memchr(s, c')', n)
    if end == NULL:
        return 0
    host = <size_t>(end - s)
    colon = <const uint8_t *>memchr(s, c':', host)
    stop = host if colon == NULL else <size_t>(colon - s)
    for i in range(stop + 1, host):
        if not <uint8_t>(s[i] - c'0') < 10:
            return 0        # not a port
    if stop > 1 and s[stop - 1] == c',':
        stop -= 1
    if stop == 0 or kernels.span(s, stop, &IN_SURT_HOST.set) < stop or host + 1 < n and s[host + 1] != c'/':
        return 0
    memcpy(dst, b"http://", 7)
    while True:
        start = stop
        while start and s[start - 1] != c',':
            start -= 1
        memcpy(dst + o, s + start, stop - start)
        o += stop - start
        if start == 0:
            break
        dst[o] = c'.'
        o += 1
        stop = start - 1
    if colon != NULL:
        memcpy(dst + o, colon, <size_t>(end - colon))
        o += <size_t>(end - colon)
    memcpy(dst + o, s + host + 1, n - host - 1)
    return o + n - host - 1


cdef bint is_network(const uint8_t *s, size_t n) noexcept nogil:
    """Return whether an entry is an address and a prefix length: a network (RFC 4632 section 3.1), not a path."""
    cdef uint16_t groups[GROUPS]
    cdef const uint8_t *slash = <const uint8_t *>memchr(s, c'/', n)
    cdef size_t size, i, bits = 0, most = 32
    if slash == NULL:
        return False
    size = <size_t>(slash - s)
    if size > 2 and s[0] == c'[' and s[size - 1] == c']':
        most = 128
        if not parse_ipv6(s + 1, size - 2, groups):
            return False
    elif not parse_ipv4(s, 0, size, groups):
        return False
    if not 1 < n - size <= 4:
        return False
    for i in range(size + 1, n):
        if not <uint8_t>(s[i] - c'0') < 10:
            return False
        bits = 10 * bits + s[i] - c'0'
    return bits <= most


cdef size_t prefix_entry(const uint8_t *s, size_t n, uint8_t *dst, size_t *base, bint *is_surt) noexcept nogil:
    """Write the normal form of an entry of a set of prefixes; `base` is where its path starts.

    dst has FORM_OF_ENTRY bytes. 0: it is not understood; UC_REJECTED: an exception is set.
    """
    cdef uint8_t form[KEY_FACTOR * (MOST_OF_ENTRY + TAIL) + KEY_EXTRA + WIDE]
    cdef uint8_t of_surt[MOST_OF_ENTRY + 8]
    cdef uint8_t url[MOST_OF_ENTRY + HOST_CAPACITY]
    cdef Page page
    cdef Outcome outcome
    cdef Found found
    cdef size_t size = from_surt(s, n, of_surt)
    cdef const uint8_t *end
    is_surt[0] = size > 0
    if size:
        s, n = of_surt, size
    page.text = dst
    if is_network(s, n):
        return 0
    if not read_page(s, n, True, url, form, &page, &found):
        return UC_REJECTED if found == RAISED else 0
    if page.has_more or not (dst[0] == c'[' or has_good_labels(dst, page.host)):
        return 0
    base[0], size = page.base, page.size
    if is_surt[0]:
        size = surt_row(s, n, NULL, dst, &outcome)
        if size == UC_REJECTED:
            return size
        end = <const uint8_t *>memchr(dst, c')', size)
        if end == NULL or size > MOST_OF_TEXT:
            return 0
        base[0] = <size_t>(end - dst) + 1
    if size > base[0] and dst[size - 1] == c'/':
        size -= 1
    if kernels.span(dst, size, &VISIBLE.set) < size:
        return 0        # neither text nor what a list could have
    return size if size <= MOST_OF_TEXT else 0


cdef size_t entry_form(const Table *table, const uint8_t *s, size_t n, uint8_t *dst, EntryKey *key) noexcept nogil:
    """Write the normal form of an entry, and set its key. 0: it is not understood; UC_REJECTED: an exception is set.

    dst has FORM_OF_ENTRY bytes.
    """
    cdef size_t size, base
    key.is_surt = False
    if table.kind == HOSTS:
        size = host_entry(s, n, dst)
        if 0 < size < UC_REJECTED:
            key.hash = mixed(whole_host(dst, size, table.point, &key.depth))
        return size
    size = prefix_entry(s, n, dst, &base, &key.is_surt) if n <= MOST_OF_ENTRY else 0
    if 0 < size < UC_REJECTED:
        key.hash = mixed(whole_prefix(dst, base, size, table.point, &key.depth))
    return size


# What a line of a list is.
cdef enum Line:
    NOTHING, ENTRIES, UNKNOWN, FAILED

# The names that hosts files begin with: of the machine itself, and of groups of machines.
cdef bytes LOCAL_NAMES = (
    b" localhost localhost.localdomain local broadcasthost ip6-localhost ip6-loopback ip6-localnet ip6-mcastprefix"
    b" ip6-allnodes ip6-allrouters ip6-allhosts 0.0.0.0 "
)
cdef const char *local_names = PyBytes_AS_STRING(LOCAL_NAMES)


cdef bint is_local(const uint8_t *s, size_t n) noexcept nogil:
    """Return whether a name, in lower case, is one of LOCAL_NAMES."""
    cdef const uint8_t *at = <const uint8_t *>local_names + 1
    cdef size_t size
    while at[0]:
        size = 0
        while at[size] != c' ':
            size += 1
        if size == n and memcmp(at, s, n) == 0:
            return True
        at += size + 1
    return False


cdef inline bint is_header(const uint8_t *s, size_t n) noexcept nogil:
    """Return whether a line, n > 0, is the header of a list: "[Adblock]", "[Adblock Plus 2.0]". "[a::1]" is an address."""
    if s[0] != c'[' or s[n - 1] != c']':
        return False
    return memchr(s, c' ', n) != NULL or <uint8_t>((s[1] | 0x20) - c'a') < 26 and memchr(s, c':', n) == NULL


cdef inline size_t word_size(const uint8_t *s, size_t n) noexcept nogil:
    cdef size_t i = 0
    while i < n and not is_blank(s[i]):
        i += 1
    return i


cdef inline bint is_address(const uint8_t *s, size_t n) noexcept nogil:
    """Return whether a word is an IP address, perhaps with a zone."""
    cdef uint16_t groups[GROUPS]
    cdef const uint8_t *zone = <const uint8_t *>memchr(s, c'%', n)
    return parse_ipv4(s, 0, n, groups) or parse_ipv6(s, n if zone == NULL else <size_t>(zone - s), groups)


# A part of a line: a word, or what is between quotes.
cdef struct Part:
    const uint8_t *text
    size_t size


cdef bint is_part(Part part, const char *word) noexcept nogil:
    """Return whether a part is a word, in any case. The word is in lower case."""
    cdef size_t i
    for i in range(part.size):
        if not word[i] or lower(part.text[i]) != <uint8_t>word[i]:
            return False
    return not word[part.size]


cdef inline bint begins_with(const uint8_t *s, size_t n, const char *word) noexcept nogil:
    cdef size_t i = 0
    while word[i]:
        if i == n or s[i] != <uint8_t>word[i]:
            return False
        i += 1
    return True


cdef Part next_part(const uint8_t **s, size_t *n) noexcept nogil:
    """Take the first word of a stripped text, or what is between its quotes. An empty part: there is none."""
    cdef Part part
    cdef const uint8_t *end
    part.text, part.size = s[0], word_size(s[0], n[0])
    if n[0] and (s[0][0] == c'"' or s[0][0] == c"'"):
        end = <const uint8_t *>memchr(s[0] + 1, s[0][0], n[0] - 1)
        if end != NULL:
            part.text, part.size = s[0] + 1, <size_t>(end - s[0]) - 1
            s[0] += part.size + 2
            n[0] -= part.size + 2
            strip(s, n)
            strip(&part.text, &part.size)
            return part
    s[0] += part.size
    n[0] -= part.size
    strip(s, n)
    return part


cdef inline void cut_comment(const uint8_t *s, size_t *n, uint8_t mark) noexcept nogil:
    """Leave out a comment that follows a blank."""
    cdef size_t i
    for i in range(1, n[0]):
        if s[i] == mark and is_blank(s[i - 1]):
            n[0] = i
            while n[0] and is_blank(s[n[0] - 1]):
                n[0] -= 1
            return


cdef bint is_time(Part part) noexcept nogil:
    """Return whether a part of a record is the time that it lives: "300", "1h30m"."""
    cdef size_t i
    if part.size == 0 or not <uint8_t>(part.text[0] - c'0') < 10:
        return False
    for i in range(part.size):
        if not <uint8_t>(part.text[i] - c'0') < 10 and memchr(b"smhdwSMHDW", part.text[i], 10) == NULL:
            return False
    return True


cdef bint ends_in_trigger(Part name) noexcept nogil:
    """Return whether a name of a response policy zone is no name: its last label is "rpz-ip", "rpz-nsdname" ..."""
    cdef size_t start = label_start(name.text, name.size)
    name.text, name.size = name.text + start, min(name.size - start, <size_t>4)
    return is_part(name, b"rpz-")


cdef enum:
    LONGEST_DOMAIN = 512        # bytes; longer ones stand as they are

# The name of a zone, without the final dot; empty: the root, or not known.
cdef struct Domain:
    uint8_t text[LONGEST_DOMAIN]
    size_t size


cdef bint set_absolute(Domain *found, Part name, const Domain *origin) noexcept nogil:
    """Make a name absolute: it ends with a dot, is "@", or is relative to the origin. False: it is too long."""
    if name.size and name.text[name.size - 1] == c'.':
        if name.size > LONGEST_DOMAIN:
            return False
        memcpy(found.text, name.text, name.size - 1)
        found.size = name.size - 1
        return True
    if name.size == 1 and name.text[0] == c'@':
        memcpy(found, origin, sizeof(Domain))
        return True
    if name.size + 1 + origin.size > LONGEST_DOMAIN:
        return False
    memcpy(found.text, name.text, name.size)
    found.size = name.size
    if origin.size:
        found.text[name.size] = c'.'
        memcpy(found.text + name.size + 1, origin.text, origin.size)
        found.size += 1 + origin.size
    return True


cdef bint is_within(const Domain *domain, const Domain *zone) noexcept nogil:
    """Return whether a domain is a zone, or in it."""
    cdef size_t i, before
    if domain.size < zone.size:
        return False
    before = domain.size - zone.size
    for i in range(zone.size):
        if lower(domain.text[before + i]) != lower(zone.text[i]):
            return False
    return before == 0 or domain.text[before - 1] == c'.'


@cython.final
cdef class EntryBuilder(TableBuilder):
    """The entries of a set that is being made.

    Args:
        kind (str): "hosts" or "prefixes".
        key (FingerprintKey): The key of the set.
        most_found (int): The length of `found`, at most.

    Attributes:
        lines (int): Lines that were read,
        understood (int): of which these have entries,
        unknown (int): and these were not understood.
        found (list[tuple[int, bytes]]): The first of those: the number of the line, from 1, and its start.

    >>> from uricodec._base._fingerprint import FingerprintKey
    >>> builder = EntryBuilder("hosts", FingerprintKey())
    >>> builder.add(b"Example.com."), builder.add(b"a b"), builder.entries
    (True, False, 1)
    """
    cdef readonly uint64_t lines
    cdef readonly uint64_t understood
    cdef readonly uint64_t unknown
    cdef readonly list found
    cdef size_t most_found
    cdef bint in_record         # the line before began a record of several lines
    cdef Domain origin          # that names of records are relative to, if it is known,
    cdef bint has_origin
    cdef Domain apex            # and the name of their zone

    def __cinit__(self, str kind not None, FingerprintKey key not None, size_t most_found=100):
        self.begin(kind, key)
        self.found, self.most_found = [], most_found

    cdef Line put_entry(self, const uint8_t *s, size_t n, bint is_listed) noexcept nogil:
        """Add an entry. `is_listed`: it is of a hosts file, whose local names are left out."""
        cdef uint8_t form[FORM_OF_ENTRY]
        cdef EntryKey key
        cdef size_t size = entry_form(&self.table, s, n, form, &key)
        if size == 0 or size == UC_REJECTED:
            return FAILED if size else UNKNOWN
        if is_listed and is_local(form, size):
            return NOTHING
        return ENTRIES if self.put(form, size, &key) else FAILED

    cdef Line put_line(self, const uint8_t *s, size_t n) noexcept nogil:
        """Add the entries of a line of a list."""
        cdef const uint8_t *comment
        cdef size_t size
        cdef Line line, found = NOTHING
        strip(&s, &n)
        if n == 0 or s[0] == c'#' or s[0] == c'!' or is_header(s, n):
            return NOTHING
        if self.table.kind == PREFIXES:
            return self.put_entry(s, n, False)
        if s[0] == c'|':
            return self.put_rule(s, n)
        if s[0] == c';' or self.in_record and self.goes_on(s, n):
            return NOTHING
        if n > 6 and (s[0] == c'a' or s[0] == c's' or s[0] == c'l'):
            if begins_with(s, n, b"address=/") or begins_with(s, n, b"server=/") or begins_with(s, n, b"local=/"):
                return self.put_dnsmasq(s, n)
            if begins_with(s, n, b"local-zone:") or begins_with(s, n, b"local-data:") or begins_with(s, n, b"server:"):
                return self.put_unbound(s, n)
        comment = <const uint8_t *>memchr(s, c'#', n)
        if comment != NULL:
            size = word_size(s, n)
            # A comment of a hosts file may follow a name at once: hosts(5). "a.example##b" is a rule of Adblock.
            if not is_blank((comment - 1)[0]) and not (s + size < comment and is_address(s, size)):
                return UNKNOWN
            n = <size_t>(comment - s)
            strip(&s, &n)
        size = word_size(s, n)
        if size == n:
            return self.put_entry(s, n, False)
        if not is_address(s, size):
            return self.put_record(s, n)
        while size < n:         # IP_address canonical_hostname [aliases...]: hosts(5)
            s += size
            n -= size
            strip(&s, &n)
            size = word_size(s, n)
            line = self.put_entry(s, size, True)
            if line == FAILED:
                return line
            if line == UNKNOWN or found == NOTHING:
                found = line
        return found

    cdef Line put_rule(self, const uint8_t *s, size_t n) noexcept nogil:
        """Add the host of a rule of Adblock for a whole domain: "||a.example^", perhaps with "$important" or "$all".

        Other options say for which requests a rule is.
        """
        cdef const uint8_t *end = <const uint8_t *>memchr(s, c'^', n)
        cdef Part option
        cdef size_t size, i
        if n < 4 or s[1] != c'|' or end == NULL:
            return UNKNOWN
        size = <size_t>(end - s) - 2
        s += size + 3
        n -= size + 3
        if n and s[0] != c'$':
            return UNKNOWN
        while n:
            i = 1
            while i < n and s[i] != c',':
                i += 1
            option.text, option.size = s + 1, i - 1
            if not is_part(option, b"important") and not is_part(option, b"all"):
                return UNKNOWN
            s += i
            n -= i
        return self.put_entry(end - size, size, False)

    cdef Line put_dnsmasq(self, const uint8_t *s, size_t n) noexcept nogil:
        """Add the names of a line of dnsmasq: "address=/a.example/b.example/0.0.0.0", "server=/a.example/", "local=/a.example/".

        With an address, "server" and "local" say who answers for the names.
        """
        cdef const uint8_t *end
        cdef size_t size
        cdef Line line, found = NOTHING
        cdef bint is_answer = s[0] == c'a'
        cut_comment(s, &n, c'#')
        size = n
        while size and s[size - 1] != c'/':     # there is one, after "="
            size -= 1
        if size < n and not (is_answer and (n - size == 1 and s[size] == c'#' or is_address(s + size, n - size))):
            return UNKNOWN
        n = size
        size = 7 if s[0] == c'l' else 8 if s[0] == c's' else 9      # bytes of "local=/", "server=/", "address=/"
        if size >= n:
            return UNKNOWN
        while size < n:
            s += size
            n -= size
            end = <const uint8_t *>memchr(s, c'/', n)
            size = n if end == NULL else <size_t>(end - s)      # NULL: another thread has changed the list
            line = self.put_entry(s, size, True)
            if line == FAILED:
                return line
            if line == UNKNOWN or found == NOTHING:
                found = line
            size += 1
        return found

    cdef Line put_unbound(self, const uint8_t *s, size_t n) noexcept nogil:
        """Add the name of a line of Unbound.

            local-zone: "a.example" always_nxdomain         a type that answers nothing, or from local data
            local-data: "a.example A 0.0.0.0"
        """
        cdef size_t colon = 6 if s[0] == c's' else 10
        cdef bint is_zone = s[6] == c'z'
        cdef Part part, type_
        s += colon + 1
        n -= colon + 1
        strip(&s, &n)
        cut_comment(s, &n, c'#')
        if colon == 6:      # server: begins the section that has these lines
            return UNKNOWN if n and s[0] != c'#' else NOTHING
        part = next_part(&s, &n)
        if not is_zone:
            return UNKNOWN if n and s[0] != c'#' else self.put_record(part.text, part.size)
        type_ = next_part(&s, &n)
        if n and s[0] != c'#' or not (
            is_part(type_, b"always_nxdomain") or is_part(type_, b"always_null") or is_part(type_, b"always_nodata")
            or is_part(type_, b"always_refuse") or is_part(type_, b"always_deny") or is_part(type_, b"static")
            or is_part(type_, b"redirect") or is_part(type_, b"refuse") or is_part(type_, b"deny")
            or is_part(type_, b"inform_deny") or is_part(type_, b"inform_redirect")
        ):
            return UNKNOWN
        return self.put_entry(part.text, part.size, True)

    cdef bint goes_on(self, const uint8_t *s, size_t n) noexcept nogil:
        """Return whether a line belongs to the record that the line before began: a number, a time, or a bracket."""
        cdef Part part
        cut_comment(s, &n, c';')
        while n:
            part = next_part(&s, &n)
            if part.size and part.text[part.size - 1] == c')':
                self.in_record = False
                part.size -= 1
            if part.size and not is_time(part):
                self.in_record = False
                return False
        return True

    cdef Line put_record(self, const uint8_t *s, size_t n) noexcept nogil:
        """Add the name of a record that answers nothing or an address, as in a response policy zone (RFC 1035 section 5.1).

            a.example       CNAME .             *.a.example 300 IN CNAME *.             a.example A 0.0.0.0

        The records of the zone itself, and directives, are nothing. What is listed is a name without that of its zone:
        the owner of the SOA record, or the first origin.
        """
        cdef Part name, part
        cdef Domain domain, before
        cdef bint has_owner
        cut_comment(s, &n, c';')
        name = next_part(&s, &n)
        if is_part(name, b"$ttl"):
            return NOTHING
        if is_part(name, b"$origin"):
            before = self.origin
            if not set_absolute(&self.origin, next_part(&s, &n), &before):
                return UNKNOWN
            self.has_origin = True
            if self.apex.size == 0:
                self.apex = self.origin
            return NOTHING
        part = name
        if not is_part(part, b"in") and not is_part(part, b"ns") and not is_part(part, b"soa"):
            part = next_part(&s, &n)
        if is_time(part):
            part = next_part(&s, &n)
        if is_part(part, b"in"):
            part = next_part(&s, &n)
        if is_time(part):       # either may be first
            part = next_part(&s, &n)
        if is_part(part, b"soa") or is_part(part, b"ns"):
            # An owner that is relative to nothing that is known names no zone.
            has_owner = name.size > 0 and not (is_part(name, b"soa") or is_part(name, b"in") or is_time(name))
            if is_part(part, b"soa") and has_owner and (self.has_origin or name.text[name.size - 1] == c'.'):
                set_absolute(&self.apex, name, &self.origin)
            self.in_record = memchr(s, c'(', n) != NULL and memchr(s, c')', n) == NULL
            return NOTHING
        if is_part(part, b"cname"):
            part = next_part(&s, &n)
            if n or not (is_part(part, b".") or is_part(part, b"*.") or is_part(part, b"rpz-drop.")):
                return UNKNOWN
        elif is_part(part, b"a") or is_part(part, b"aaaa"):
            part = next_part(&s, &n)
            if n or not is_address(part.text, part.size):
                return UNKNOWN
        else:
            return UNKNOWN
        if self.apex.size:
            if not set_absolute(&domain, name, &self.origin):
                return UNKNOWN
            if is_within(&domain, &self.apex):
                if domain.size == self.apex.size:
                    return NOTHING
                name.text, name.size = domain.text, domain.size - self.apex.size - 1
        return UNKNOWN if ends_in_trigger(name) else self.put_entry(name.text, name.size, True)

    cpdef bint add(self, entry) except -1:
        """Add an entry. False: it is not understood.

        Args:
            entry (str | bytes-like): The entry.
        """
        cdef uint8_t buffer[UTF8_CAPACITY]
        cdef Bytes source
        cdef const uint8_t *s
        cdef size_t n
        cdef Line line
        cdef object text = text_of(entry)
        if not borrow(text, &source, buffer):
            return False
        s, n = source.data, source.size
        with nogil:
            strip(&s, &n)
            line = self.put_entry(s, n, False)
        release(&source)
        self.check(line)
        return line == ENTRIES

    def add_all(self, entries not None):
        """Add entries (iterable of str or bytes-like) up to the first that is not understood.

        Returns:
            tuple[int, str | bytes-like] | None: That entry, and how many are before it.
        """
        cdef Py_ssize_t index = 0
        cdef bint added
        for entry in entries:
            try:
                added = self.add(entry)
            except TypeError as error:
                raise TypeError(f"row {index}: {error}") from None
            if not added:
                return index, entry
            index += 1
        return None

    cdef int check(self, Line line) except -1:
        if line == FAILED:
            reraise()
        return 0

    def add_lines(self, lines not None):
        """Add the entries of the lines of a list.

        Args:
            lines (bytes-like): Whole lines; the last one need not be ended.
        """
        cdef Py_buffer view
        cdef const uint8_t *s
        cdef const uint8_t *end
        cdef size_t n = 0, left
        cdef Line line = NOTHING
        borrow_bytes(lines, &view)
        s, left = <const uint8_t *>view.buf, <size_t>view.len
        try:
            while left:
                with nogil:
                    while left:
                        end = <const uint8_t *>memchr(s, c'\n', left)
                        n = left if end == NULL else <size_t>(end - s)
                        line = self.put_line(s, n)
                        self.lines += 1
                        self.understood += line == ENTRIES
                        if line >= UNKNOWN:
                            break
                        left -= n + (end != NULL)
                        s += n + (end != NULL)
                if line == UNKNOWN:
                    self.add_unknown(s, n)
                    end = s + n
                    n += n < left
                    left -= n
                    s += n
                self.check(line)
        finally:
            PyBuffer_Release(&view)

    cdef int add_unknown(self, const uint8_t *s, size_t n) except -1:
        self.unknown += 1
        if <size_t>len(self.found) < self.most_found:
            self.found.append((self.lines, (<const char *>s)[:min(n, <size_t>200)].rstrip(b"\r")))
        return 0

    def add_long(self, start not None):
        """Count a line that is too long, given its start (bytes-like)."""
        cdef bytes shown = bytes(start[:200])
        self.lines += 1
        self.add_unknown(<const uint8_t *>PyBytes_AS_STRING(shown), <size_t>PyBytes_GET_SIZE(shown))


# --- sets -------------------------------------------------------------------------------------------------------------

ctypedef Found (*match_function)(const Table *table, const uint8_t *s, size_t n, bint exact, Entry *entry) noexcept nogil

cdef match_function[2] MATCHES = [match_host, match_prefix]


def match_url(EntryTable table not None, url, bint exact):
    """Return the longest entry that matches a URL (str or bytes, as the URL), or None.

    >>> from uricodec._base._fingerprint import FingerprintKey
    >>> builder = EntryBuilder("hosts", FingerprintKey())
    >>> builder.add("example.com")
    True
    >>> match_url(builder.finish(), "https://www.example.com/", False)
    'example.com'
    """
    cdef uint8_t buffer[UTF8_CAPACITY]
    cdef Bytes source
    cdef Entry entry
    cdef Found found
    cdef object text = text_of(url)
    if not borrow(text, &source, buffer):
        text = without_surrogates(text)
        borrow(text, &source, buffer)
    found = MATCHES[<int>table.table.kind](&table.table, source.data, source.size, exact, &entry)
    release(&source)
    table.check(found)
    if found == ABSENT:
        return None
    return text_or_bytes(type(text) is str, entry.text, entry.size)


def has_entry(EntryTable table not None, entry):
    """Return whether an entry is in the set, as it was put in."""
    cdef uint8_t buffer[UTF8_CAPACITY]
    cdef uint8_t form[FORM_OF_ENTRY]
    cdef Bytes source
    cdef EntryKey key
    cdef Entry same
    cdef Found found = ABSENT
    cdef const uint8_t *s
    cdef size_t n
    cdef object text = text_of(entry)
    if not borrow(text, &source, buffer):
        return False
    s, n = source.data, source.size
    strip(&s, &n)
    n = entry_form(&table.table, s, n, form, &key)
    if n:
        found = RAISED if n == UC_REJECTED else find(&table.table, key.hash, form, n, &same)
    release(&source)
    table.check(found)
    return found == PRESENT


# --- rows -------------------------------------------------------------------------------------------------------------

cdef struct MatchOptions:
    const Table *table
    match_function match
    bint exact


cdef inline bint rejects(const Table *table, Found found, Outcome *outcome) noexcept nogil:
    if found <= PRESENT:
        return False
    raise_found(table, found)
    outcome.code, outcome.offset = UC_RAISED, 0
    return True


cdef inline size_t put_entry(Found found, const Entry *entry, uint8_t *dst) noexcept nogil:
    """Write the entry that was found, or that there is none."""
    cdef Component *field = <Component *>dst
    if found == ABSENT:
        field.start = field.end = -1
        return sizeof(Component)
    copy_text(dst + sizeof(Component), entry.text, entry.size)
    field.start, field.end = sizeof(Component), <int64_t>(sizeof(Component) + entry.size)
    return padded(sizeof(Component) + entry.size)


cdef size_t entry_row(const uint8_t *src, size_t n, const void *options, uint8_t *dst, Outcome *outcome) noexcept nogil:
    """Write the entry that matches."""
    cdef const MatchOptions *how = <const MatchOptions *>options
    cdef Entry entry
    cdef Found found = how.match(how.table, src, n, how.exact, &entry)
    return UC_REJECTED if rejects(how.table, found, outcome) else put_entry(found, &entry, dst)


cdef size_t verdict_row(const uint8_t *src, size_t n, const void *options, uint8_t *dst, Outcome *outcome) noexcept nogil:
    cdef const MatchOptions *how = <const MatchOptions *>options
    cdef Entry entry
    cdef Found found = how.match(how.table, src, n, how.exact, &entry)
    if rejects(how.table, found, outcome):
        return UC_REJECTED
    if found == PRESENT:
        return 0
    outcome.code, outcome.offset = UC_FALSE, 0
    return UC_REJECTED


# Blocks of usual URLs are matched in three passes over AHEAD rows, so that memory is on its way before it is needed:
#
#                   https://www.shop.example/a?b        host "www.shop.example"
#
#     read_probe    hashes the candidates               "example", "shop.example", "www.shop.example": start 9, 4, 0
#                   and prefetches their slots
#     find_places   reads the slots                     at 0 (none has these bits of the hash), 8170, 0
#                   and prefetches the text there
#     find_probe    compares from the longest on        "shop.example" is the entry at 8170
cdef struct Probe:
    bint is_usual
    int count
    uint64_t hash[FEW]          # the shortest first
    uint64_t at[FEW]            # where the entry with the same bits of the hash is; 0: there is none
    uint8_t start[FEW]
    size_t size
    const uint8_t *host         # in the row, or in `copy`; at least eight bytes from its last byte on are readable
    uint8_t copy[USUAL + 8]


cdef inline bint read_probe(const MatchOptions *how, const uint8_t *s, size_t n, size_t readable, Probe *probe) noexcept nogil:
    """Read a URL as match_host() does, if it is as most are, and so many bytes from it on are readable. False: it is not.

    That is, "http://" or "https://" in lower case; a name of at most USUAL bytes and FEW labels, the last of which does not
    begin with a digit; perhaps a port; and "/", "?", "#" or the end.
    """
    cdef const Table *table = how.table
    cdef size_t starts[FEW]
    cdef size_t start = web_prefix(s, n), size, i, labels = 0
    cdef uint64_t marks, hash = 1
    cdef bint capitals = False
    if start == 0 or start == n:
        return False
    s += start
    n -= start
    size = min(n, <size_t>64)
    kernels.mark_outside(s, size, &LOWER_LABEL_BYTES.set, &marks)
    starts[0] = 0
    while marks:
        i = <size_t>uc_lowest_bit(marks)
        if <uint8_t>(s[i] - c'A') < 26 and not capitals:
            capitals = True
            kernels.mark_outside(s, size, &LABEL_BYTES.set, &marks)
            marks &= ~<uint64_t>0 << i
            continue
        if s[i] != c'.':
            size = i
            break
        labels += 1
        if labels == FEW:
            return False
        starts[labels] = i + 1
        marks &= marks - 1
    if size - 1 >= <size_t>USUAL:
        return False
    i = size
    if i < n and s[i] == c':':
        i += 1
        while i < n and <uint8_t>(s[i] - c'0') < 10:
            i += 1
    if i < n and s[i] != c'/' and s[i] != c'?' and s[i] != c'#':
        return False
    probe.host, probe.size = s, size
    if capitals or readable - start < <size_t>(USUAL + 8):      # else not: loads from a copy would wait for its stores
        copy_lower(s, size, probe.copy)
        probe.host = probe.copy
    if starts[labels] == size:      # the dot of the root
        labels -= labels > 0
        size -= 1
        if size == 0:
            return False
    labels += 1
    if <uint8_t>(probe.host[starts[labels - 1]] - c'0') < 10:
        return False
    probe.size, probe.count, i = size, 0, 0
    while i < labels:
        i += 1
        start = starts[labels - i]
        hash = absorb(hash, probe.host + start, size - start, table.point)
        if table.depths & depth_bit(i) and (i == labels or not how.exact):
            probe.hash[probe.count], probe.start[probe.count] = mixed(hash), <uint8_t>start
            prefetch(line_of(table, probe.hash[probe.count]))
            probe.count += 1
        size = start - 1
    return True


cdef inline void find_places(const Table *table, Probe *probe) noexcept nogil:
    """Find the entries that are likely to match, and prefetch their text."""
    cdef const uint8_t *line
    cdef uint64_t slot, tag, at
    cdef int i, k
    cdef bint full
    for i in range(probe.count):
        line, tag, at = line_of(table, probe.hash[i]), probe.hash[i] & TAG, 0
        for k in range(SLOTS):      # all of them, without a branch
            slot = load_word(line + SLOT * k)
            at |= (slot & PLACE) & -<uint64_t>(slot >> 40 == tag)
        # A second entry with the same bits, and an entry of a full line that is in the next one, are left to find().
        full = load_word(line + LINE - SLOT) != 0
        if table.sound != NULL and not uc_read8(table.sound + <size_t>(line - table.slots) // CHECKED):
            at, full = 0, True
        prefetch(table.text + min(at, table.text_size))
        probe.at[i] = at if at else <uint64_t>full * PLACE


cdef inline Found find_probe(const Table *table, const Probe *probe, Entry *entry) noexcept nogil:
    """Find the longest entry among the candidates."""
    cdef int i = probe.count
    cdef size_t start
    cdef Found found
    while i:
        i -= 1
        if probe.at[i] == 0:
            continue
        start = probe.start[i]
        if compare(table, probe.at[i], probe.host + start, probe.size - start, entry) == PRESENT:
            return PRESENT
        found = find(table, probe.hash[i], probe.host + start, probe.size - start, entry)
        if found != ABSENT:
            return found
    return ABSENT


cdef bint match_block(Run *run) noexcept nogil:
    """Match the rows of a block: read some, then look them up. All that is unusual is left to the row function."""
    cdef const MatchOptions *how = <const MatchOptions *>run.options
    cdef Block *block = run.block
    cdef Probe probes[AHEAD]
    cdef Probe *probe
    cdef Entry entry
    cdef Found found
    cdef const uint8_t *src
    cdef size_t first, i, n, stop, size = block.at[block.rows]
    if how.table.kind != HOSTS or block.has_cr:
        return do_rows(run)
    for first in range((block.rows + AHEAD - 1) // AHEAD):
        first *= AHEAD
        stop = min(first + AHEAD, block.rows)
        for i in range(first, stop):
            probe = &probes[i - first]
            src, n = block.data + block.at[i], block.at[i + 1] - block.at[i] - block.gap
            probe.is_usual = read_probe(how, src, n, size - block.at[i], probe)
        for i in range(first, stop):
            if probes[i - first].is_usual:
                find_places(how.table, &probes[i - first])
        for i in range(first, stop):
            probe = &probes[i - first]
            found = DAMAGED
            if probe.is_usual and not is_null(run.source, block.first + i):
                found = find_probe(how.table, probe, &entry)
            if found > PRESENT:
                if not do_row(run):
                    return False
                continue
            if run.writes:
                run.written += put_entry(found, &entry, run.out + run.written)
                run.out_at[i + 1] = <uint32_t>run.written
            elif found == ABSENT:
                block.rejected[i >> 6] |= <uint64_t>1 << (i & 63)
            run.done = i + 1
    return True


@cython.final
cdef class MatchRows(RowOperation):
    """Operation that matches URLs against a set. No row is invalid.

    Args:
        table (EntryTable): The set.
        exact (bool): Only the entry itself matches.
        verdict (bool): The result is whether an entry matches, not the entry.
    """
    cdef EntryTable held
    cdef MatchOptions how

    def __cinit__(self, EntryTable table not None, bint exact, bint verdict):
        self.held = table
        self.how.table, self.how.match, self.how.exact = &table.table, MATCHES[<int>table.table.kind], exact
        self.slots.options, self.slots.block = &self.how, match_block
        self.accepts_surrogates = True
        if verdict:
            self.slots.strict, self.slots.result = SizedRow(verdict_row, 0, 0), WRITES_NOTHING
        else:
            self.slots.result = WRITES_TEXTS
            self.slots.strict = SizedRow(entry_row, KEY_FACTOR, KEY_EXTRA + FORM_EXTRA + 4 * sizeof(Component))

    cdef object with_surrogates(self, str text, RowPolicy policy):
        found = match_url(self.held, text, self.how.exact)
        return found if self.slots.result == WRITES_TEXTS else found is not None


# --- filters ----------------------------------------------------------------------------------------------------------

cdef enum:
    SETS = 32               # cli/sets.py has the same limit

cdef enum FilterCode:
    LEFT_OUT = 1

cdef struct FilterOptions:
    int count
    MatchOptions sets[SETS]
    bint inverted


cdef size_t filter_row(const uint8_t *src, size_t n, const void *options, uint8_t *dst, Outcome *outcome) noexcept nogil:
    """Copy a URL that one of the sets matches, or none of them if inverted; reject all others."""
    cdef const FilterOptions *how = <const FilterOptions *>options
    cdef Entry entry
    cdef Found found = ABSENT
    cdef int i = 0
    while i < how.count and found == ABSENT:
        found = how.sets[i].match(how.sets[i].table, src, n, how.sets[i].exact, &entry)
        i += 1
    if rejects(how.sets[max(i - 1, 0)].table, found, outcome):
        return UC_REJECTED
    if (found == PRESENT) == how.inverted:
        outcome.code, outcome.offset = LEFT_OUT, 0
        return UC_REJECTED
    memcpy(dst, src, n)
    return n


@cython.final
cdef class FilterRows(RowOperation):
    """Operation that rejects URLs that no set matches; all others are their own results. For errors="drop".

    Args:
        tables (list[EntryTable]): The sets, at most SETS.
        exact (bool): See MatchRows.
        inverted (bool): URLs that a set matches are rejected instead.

    >>> FilterRows([], False, False).code_names
    ['', 'left-out']
    """
    cdef list held
    cdef FilterOptions how
    cdef readonly bint needs_value      # a record without a URL is left out

    def __cinit__(self, list tables not None, bint exact, bint inverted):
        cdef EntryTable table
        if len(tables) > SETS:
            raise ValueError(f"expected at most {SETS} sets, got {len(tables)}")
        self.held = []
        for table in tables:
            if table is None:
                raise TypeError("expected an EntryTable, got None")
            self.held.append(table)
            self.how.sets[self.how.count] = MatchOptions(&table.table, MATCHES[<int>table.table.kind], exact)
            self.how.count += 1
        self.how.inverted, self.needs_value = inverted, not inverted
        self.slots.options, self.slots.strict, self.slots.block = &self.how, SizedRow(filter_row, 1, 0), NULL
        self.code_names, self.reasons, self.error = ["", "left-out"], ["", "URL is left out"], UriSyntaxError
