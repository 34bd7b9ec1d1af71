"""Sets of hosts and of URL prefixes: their table, its entries from lists, and looking up URLs.

    slots | text                  the data of a saved set: docs/reference/saved_sets.md

The text is the entries in their normal forms, each after its size. A slot is empty or has an entry: where it is in the
text, and some bits of its hash. So a set is exact, costs about 30 bytes for each host, and is used where it lies, in
memory or in a mapped file.

**Candidates.** What could match a URL is hashed from one piece to the next, and looked up:

    hosts       www.shop.example    "example", "shop.example", "www.shop.example": whole labels, from the right
    prefixes    a.example/b/c       "a.example", "a.example/b", "a.example/b/c": whole segments, from the left

A piece is read as words of 7 bytes, and the first of each piece has a mark. The hash is the polynomial, in a secret random
number modulo 2^61 - 1, whose coefficients are these words. Different texts have different words, so two of n words have
the same hash for at most n of all 2^61 keys: entries that collide cannot be chosen. Linear probing then needs hashes
that are spread well, so the bits are mixed. Numbers of labels or segments that no entry has are not looked up.

**Blocks.** Slots are prefetched for some rows of a column before these are looked up.

**Files.** A block of data is read, unless the file is mapped, and checked when it is used for the first time. Offsets in it are not
trusted anyway.
"""
cimport cython
from cpython.buffer cimport PyBuffer_Release
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.mem cimport PyMem_RawCalloc, PyMem_RawFree, PyMem_RawMalloc
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memchr, memcmp, memcpy, memmove, memset

from uricodec._base._atomic cimport uc_give, uc_publish8, uc_read8, uc_take
from uricodec._base._fingerprint cimport UC_FINGERPRINT, FingerprintKey, Key, fingerprint, load_word, multiply, store_word
from uricodec._base._kernels cimport ALPHANUM, ByteSet, kernels, lower, prefetch, uc_lowest_bit
from uricodec._base._text cimport *
from uricodec._codec._percent cimport triplet_value
from uricodec._rows._arrow cimport Buffer, discard, grow
from uricodec._rows._engine cimport *
from uricodec._url._idna cimport without_ignored
from uricodec._rows._single cimport borrow, text_of
from uricodec._url._grammar cimport GROUPS, Authority, Parts, find_authority, find_parts, format_ipv6, is_numeric_label
from uricodec._url._addresses cimport parse_ipv4, parse_ipv6
from uricodec.uri._keys cimport KEY_EXTRA, KEY_FACTOR, surt_row
from uricodec.uri._normalize cimport AT_IRI, FORM_EXTRA, FORMS, NORMALIZE_ROWS
from uricodec.uri._values cimport split_host
from uricodec.uri._whatwg cimport convert_domain

from uricodec.errors import SetError, UriSyntaxError

cdef extern from "simd/file.h" nogil:
    int read_at "uc_read_at"(int number, uint8_t *dst, size_t size, uint64_t place) noexcept

cdef extern from "Python.h":
    void *PyErr_Format(object type, const char *format, ...) noexcept
    void *PyErr_NoMemory() noexcept


cdef enum:
    LINE = 64                   # bytes of a cache line
    SLOTS = 8                   # in a line
    LINE_BITS = 3
    SLOT = 8                    # bytes of a slot: 40 bits say where the entry is, and 24 are of its hash
    HEAD = 2                    # bytes of the size before each entry
    LEAST_BITS = 4              # of the number of slots
    MOST_BITS = 40
    CHECKED = 4096              # bytes of data that have one checksum
    PATIENCE = 1 << 20          # tries to wait for a thread that copies a block: in a forked process there is none
    DEPTHS = 63                 # numbers of labels or segments that are told apart
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
    SHORT = 1024                # bytes of a URL whose forms are on the stack
    USUAL_HOST = 512            # the same of a host
    AHEAD = 32                  # rows whose slots are prefetched
    LEAST_OF_TEXT = 1 << 22     # bytes of entries that are not looked through
    MORE = 4
    USUAL = 48                  # bytes, at most,
    FEW = 6                     # and labels of a usual host

cdef uint64_t PRIME = (<uint64_t>1 << 61) - 1
cdef uint64_t PLACE = (<uint64_t>1 << 40) - 1
cdef uint64_t TAG = (<uint64_t>1 << 24) - 1
cdef uint64_t MARK = <uint64_t>1 << 56
cdef uint64_t FIRST = 0xFF51AFD7ED558CCD, SECOND = 0xC4CEB9FE1A85EC53     # those of MurmurHash3
cdef size_t MOST_OF_TEXT = 0xFFFF

cdef ByteSet NAME_BYTES = ALPHANUM | "-._"
cdef ByteSet LABEL_BYTES = NAME_BYTES - "."
cdef ByteSet VISIBLE = ByteSet(range(0x21, 0x7F))
cdef ByteSet IN_SURT_HOST = NAME_BYTES | ","

# What a set is of.
cdef enum Kind:
    HOSTS, PREFIXES

KINDS = ("hosts", "prefixes")


# --- the table --------------------------------------------------------------------------------------------------------

cdef struct Table:
    Kind kind
    const uint8_t *slots
    const uint8_t *text         # after the slots
    uint64_t text_size
    int bits                    # 2 ** bits slots
    uint64_t point              # where polynomials are evaluated: the secret
    uint64_t depths             # bit min(d, DEPTHS): some entries have d labels, or segments
    uint64_t surts              # the same for entries that are SURTs
    uint8_t *sound              # which blocks of a file were checked; NULL: all of them
    int number                  # the descriptor of the file that blocks are read from; -1: it is mapped
    uint64_t place              # where the data are in it
    char *storing               # whether a thread writes a block
    const uint8_t *directory    # the checksums
    const Key *key
    const char *name            # the file, as messages show it


cdef enum Found:
    ABSENT, PRESENT, DAMAGED, RAISED


cdef struct Entry:
    const uint8_t *text
    size_t size


cdef inline uint64_t step(uint64_t hash, uint64_t word, uint64_t point) noexcept nogil:
    """Return hash * point + word modulo 2^61 - 1; the result may be a little more."""
    cdef uint64_t high, low = multiply(hash, point, &high)
    cdef uint64_t sum = (low & PRIME) + (low >> 61 | high << 3) + word
    return (sum & PRIME) + (sum >> 61)


cdef inline uint64_t absorb(uint64_t hash, const uint8_t *s, size_t n, uint64_t point) noexcept nogil:
    """Return the hash with one more piece. The eight bytes from the last byte on are readable."""
    cdef uint64_t mark = MARK
    while n > 7:
        hash = step(hash, load_word(s) & MARK - 1 | mark, point)
        mark = 0
        s += 7
        n -= 7
    return step(hash, (load_word(s) & (<uint64_t>1 << 8 * n) - 1 if n else 0) | mark, point)


cdef inline uint64_t mixed(uint64_t hash) noexcept nogil:
    hash ^= hash >> 33
    hash *= FIRST
    hash ^= hash >> 33
    hash *= SECOND
    return hash ^ hash >> 33


cdef bint check_block(const Table *table, uint64_t block) noexcept nogil:
    """Return whether a block of the file is as it was written. It is read, unless the file is mapped."""
    cdef uint8_t buffer[CHECKED]
    cdef uint8_t found[UC_FINGERPRINT]
    cdef uint64_t place = block * CHECKED, rest = (<uint64_t>SLOT << table.bits) + table.text_size - place
    cdef size_t size = <size_t>min(rest, <uint64_t>CHECKED), tries = 0
    cdef const uint8_t *src = table.slots + place
    if table.number >= 0:
        if read_at(table.number, buffer, size, table.place + place) != 1:
            return False
        src = buffer
    fingerprint(table.key, src, size, found)
    if memcmp(found, table.directory + UC_FINGERPRINT * block, UC_FINGERPRINT) != 0:
        return False
    if table.number >= 0:
        while tries < PATIENCE and not uc_take(table.storing):
            tries += 1
        if not uc_read8(table.sound + block):   # other threads read a block that is there: it is not written twice
            memcpy(<uint8_t *>table.slots + place, buffer, size)
            uc_publish8(table.sound + block, 1)
        uc_give(table.storing)
    else:
        uc_publish8(table.sound + block, 1)
    return True


cdef inline bint is_sound(const Table *table, const uint8_t *at, size_t n) noexcept nogil:
    """Return whether n >= 1 bytes of data are as they were written."""
    cdef uint64_t block, last
    if table.sound == NULL:
        return True
    block, last = <uint64_t>(at - table.slots) // CHECKED, <uint64_t>(at - table.slots + n - 1) // CHECKED
    while block <= last:
        if not uc_read8(table.sound + block) and not check_block(table, block):
            return False
        block += 1
    return True


cdef inline size_t entry_size(const uint8_t *at) noexcept nogil:
    return <size_t>at[0] | <size_t>at[1] << 8


cdef inline const uint8_t *line_of(const Table *table, uint64_t hash) noexcept nogil:
    """Return the first slot that an entry may be in: they are searched from the start of a cache line."""
    return table.slots + LINE * (hash >> (64 + LINE_BITS - table.bits))


cdef inline Found compare(const Table *table, uint64_t at, const uint8_t *text, size_t n, Entry *entry) noexcept nogil:
    """Compare an entry with text."""
    cdef const uint8_t *found
    cdef size_t size
    if at + HEAD > table.text_size or not is_sound(table, table.text + at, HEAD):
        return DAMAGED
    found = table.text + at + HEAD
    size = entry_size(found - HEAD)
    if at + HEAD + size > table.text_size:
        return DAMAGED
    if size != n or n == 0:
        return ABSENT
    if not is_sound(table, found, n):
        return DAMAGED
    entry.text, entry.size = found, n
    return PRESENT if memcmp(found, text, n) == 0 else ABSENT


cdef Found find(const Table *table, uint64_t hash, const uint8_t *text, size_t n, Entry *entry) noexcept nogil:
    """Look for an entry, given its hash."""
    cdef uint64_t left = <uint64_t>1 << (table.bits - LINE_BITS), slot
    cdef const uint8_t *line = line_of(table, hash)
    cdef int i
    cdef Found found
    while left:
        if not is_sound(table, line, LINE):
            return DAMAGED
        for i in range(SLOTS):
            slot = load_word(line + SLOT * i)
            if slot == 0:
                return ABSENT
            if slot >> 40 == (hash & TAG):
                found = compare(table, slot & PLACE, text, n, entry)
                if found != ABSENT:
                    return found
        line += LINE
        if line == table.slots + (<uint64_t>SLOT << table.bits):
            line = table.slots
        left -= 1
    return ABSENT  # pragma: no cover: not in files that are written here


# --- hosts ------------------------------------------------------------------------------------------------------------

cdef inline void copy_lower(const uint8_t *s, size_t n, uint8_t *dst) noexcept nogil:
    """Copy ASCII in lower case. Up to 8 bytes more are written."""
    cdef uint64_t word, each = 0x0101010101010101
    cdef size_t i = 0
    copy_text(dst, s, n)
    while i < n:
        memcpy(&word, dst + i, 8)
        # The high bit of a byte is set if it is at least "A", and not if it is above "Z".
        word &= 0x7F * each
        word |= ((word + (0x80 - 65) * each) & ~(word + (0x80 - 91) * each) & 0x80 * each) >> 2
        memcpy(dst + i, &word, 8)
        i += 8


cdef inline size_t label_start(const uint8_t *host, size_t end) noexcept nogil:
    """Return where the label that ends before `end` starts."""
    while end and host[end - 1] != c'.':
        end -= 1
    return end


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
            no_memory()  # pragma: no cover: no memory
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
cdef struct Suffixes:
    size_t count
    uint64_t hash[MOST_LABELS]
    uint16_t start[MOST_LABELS]


cdef inline void find_suffixes(const Table *table, const uint8_t *host, size_t n, bint is_cut, bint exact,
                               Suffixes *found) noexcept nogil:
    """Find what could match a host, n > 0, in its normal form."""
    cdef uint64_t hash = 1
    cdef size_t end = n, start, labels = 0
    cdef bint is_whole = is_one_piece(host, n)
    found.count = 0
    exact |= is_whole
    if is_whole and host[0] == c'[':
        found.count, found.hash[0], found.start[0] = 1, mixed(absorb(hash, host, n, table.point)), 0
        return
    while labels < MOST_LABELS:
        start = label_start(host, end)
        if start == 0 and is_cut:
            return
        hash = absorb(hash, host + start, end - start, table.point)
        labels += 1
        if (start == 0 or not exact) and table.depths >> min(labels, <size_t>DEPTHS) & 1:
            found.hash[found.count], found.start[found.count] = mixed(hash), <uint16_t>start
            found.count += 1
        if start == 0:
            return
        end = start - 1


cdef inline bint find_url_host(const uint8_t *s, size_t n, bint is_entry, Component *host, Component *port) noexcept nogil:
    """Find the host and the port of a URL; or of text without scheme and "//", which begins with them. False: no host.

    A name without a "." before ":" may be a scheme, as in "mailto:me", except in an entry: it is a host if a port of 1 to 5
    digits follows.
    """
    cdef const uint8_t *colon
    cdef size_t end = 0, i
    split_host(s, n, host, port)
    if host.start >= 0:
        return host.end > host.start
    while end < n and s[end] != c'/' and s[end] != c'?' and s[end] != c'#':
        if s[end] == c'@':
            return False
        end += 1
    if end == 0:
        return False
    host.start, host.end = 0, <int64_t>end
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
        host.end, port.start, port.end = colon - s, colon - s + 1, <int64_t>end
        for i in range(<size_t>port.start, end):
            if not <uint8_t>(s[i] - c'0') < 10:
                return False
    return host.end > host.start


cdef Found match_host(const Table *table, const uint8_t *s, size_t n, bint exact, Entry *entry) noexcept nogil:
    """Find the longest entry that is the host of a URL, or above it."""
    cdef uint8_t host[HOST_CAPACITY]
    cdef Component at, port
    cdef Suffixes suffixes
    cdef bint is_cut
    cdef size_t size, i
    cdef Found found
    if not find_url_host(s, n, False, &at, &port):
        return ABSENT
    size = normal_host(s + at.start, <size_t>(at.end - at.start), host, &is_cut)
    if size == 0 or size == UC_REJECTED:
        return RAISED if size else ABSENT
    find_suffixes(table, host, size, is_cut, exact, &suffixes)
    i = suffixes.count
    while i:
        i -= 1
        found = find(table, suffixes.hash[i], host + suffixes.start[i], size - suffixes.start[i], entry)
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
    cdef Component host, port
    cdef Outcome outcome
    cdef Parts parts
    cdef Authority authority
    cdef size_t size
    cdef bint is_cut
    found[0] = ABSENT
    if not find_url_host(s, n, is_entry, &host, &port):
        return False
    split_host(s, n, &host, &port)
    if host.start < 0:
        memcpy(url, b"http://", 7)
        memcpy(url + 7, s, n)
        s, n = url, n + 7
    size = NORMALIZE_ROWS[<int>AT_IRI].row(s, n, &FORMS[<int>AT_IRI], form, &outcome)
    if size == UC_REJECTED:
        found[0] = RAISED
        return False
    find_parts(form, size, &parts)
    if parts.authority < 0 or not find_authority(form, parts.authority, parts.path, &authority):
        return False
    page.host = normal_host(form + authority.host, <size_t>(authority.host_end - authority.host), page.text, &is_cut)
    if page.host == UC_REJECTED:
        found[0] = RAISED
    if page.host == 0 or page.host == UC_REJECTED or is_cut:
        return False
    # The hosts of entries are plain. Others could contain what looks like the end of a host in a SURT.
    if page.text[0] != c'[' and kernels.span(page.text, page.host, &NAME_BYTES.set) < page.host:
        return False
    page.base = page.host
    if authority.port >= 0 and authority.port < parts.path:
        size = <size_t>(parts.path - authority.port)
        if size >= PORT:
            return False        # the port is not one
        page.text[page.base] = c':'
        memcpy(page.text + page.base + 1, form + authority.port, size)
        page.base += 1 + size
    size = <size_t>(parts.path_end - parts.path)
    memcpy(page.text + page.base, form + parts.path, size)
    page.size, page.has_more = page.base + size, parts.end > parts.path_end
    return True


cdef Found find_prefix(const Table *table, uint64_t depths, const uint8_t *text, size_t base, size_t n, bint exact,
                       Entry *entry) noexcept nogil:
    """Find the longest entry that is a prefix, in whole segments, of text[0 .. n), whose path starts at `base`."""
    cdef uint64_t hash = absorb(1, text, base, table.point)
    cdef size_t i = base, start, depth = 0
    cdef Found found, best = ABSENT
    while True:
        if depths >> min(depth, <size_t>DEPTHS) & 1 and (not exact or i == n or i == n - 1 and text[i] == c'/'):
            found = find(table, mixed(hash), text, i, entry)
            if found > PRESENT:
                return found
            if found == PRESENT:
                best = PRESENT
        if i == n or depth < DEPTHS and depths >> depth <= 1:
            return best
        start = i
        i += 1
        while i < n and text[i] != c'/':
            i += 1
        hash = absorb(hash, text + start, i - start, table.point)
        depth += 1


cdef size_t with_host(const uint8_t *s, size_t n, const Page *page, uint8_t *dst) noexcept nogil:
    """Copy the URL of a page, with the host of the page."""
    cdef Component host, port
    cdef size_t size
    find_url_host(s, n, False, &host, &port)
    size = <size_t>host.start
    memcpy(dst, s, size)
    memcpy(dst + size, page.text, page.host)
    memcpy(dst + size + page.host, s + host.end, n - <size_t>host.end)
    return size + page.host + n - <size_t>host.end


cdef Found match_page(const Table *table, const uint8_t *s, size_t n, bint exact, uint8_t *url, uint8_t *form,
                      uint8_t *text, Entry *entry) noexcept nogil:
    cdef Page page
    cdef Outcome outcome
    cdef Entry other
    cdef const uint8_t *end
    cdef size_t size, base
    cdef size_t path = 0        # bytes of the path of the entry that was found
    cdef Found found, best = ABSENT
    page.text = text
    if not read_page(s, n, False, url, form, &page, &found):
        return found
    if table.depths:
        best = find_prefix(table, table.depths, text, page.base, page.size, exact, entry)
        if best > PRESENT:
            return best
        path = entry.size - page.base if best else 0
        if page.base > page.host:
            # An entry without a port is for all ports.
            memmove(text + page.host, text + page.base, page.size - page.base)
            page.size -= page.base - page.host
            found = find_prefix(table, table.depths, text, page.host, page.size, exact, &other)
            if found > PRESENT:
                return found
            if found == PRESENT and (best == ABSENT or other.size - page.host > path):
                best, entry[0], path = PRESENT, other, other.size - page.host
    if table.surts:
        size = surt_row(url, with_host(s, n, &page, url), NULL, form, &outcome)
        if size == UC_REJECTED:
            return RAISED
        size = min(size, <size_t>kernels.span(form, size, &BEFORE_QUERY.set))
        end = <const uint8_t *>memchr(form, c')', size)
        if end != NULL:
            base = <size_t>(end - form) + 1
            found = find_prefix(table, table.surts, form, base, size, exact, &other)
            if found > PRESENT:
                return found
            if found == PRESENT and (best == ABSENT or other.size - base > path):
                best, entry[0] = PRESENT, other
    return best


cdef ByteSet BEFORE_QUERY = ~ByteSet("?")


cdef Found match_prefix(const Table *table, const uint8_t *s, size_t n, bint exact, Entry *entry) noexcept nogil:
    """Find the longest entry that is a prefix of a URL."""
    cdef uint8_t buffer[KEY_FACTOR * (SHORT + TAIL) + KEY_EXTRA + WIDE]
    cdef uint8_t texts[HOST_CAPACITY + PORT + KEY_FACTOR * (SHORT + TAIL) + KEY_EXTRA + WIDE]
    cdef uint8_t url[SHORT + HOST_CAPACITY]
    cdef uint8_t *heap
    cdef Found found
    if n <= SHORT:
        return match_page(table, s, n, exact, url, buffer, texts, entry)
    heap = <uint8_t *>PyMem_RawMalloc(form_capacity(n) + page_capacity(n) + url_capacity(n))
    if heap == NULL:
        no_memory()  # pragma: no cover: no memory
        return RAISED  # pragma: no cover: no memory
    found = match_page(table, s, n, exact, heap + form_capacity(n) + page_capacity(n), heap, heap + form_capacity(n), entry)
    PyMem_RawFree(heap)
    return found


cdef void no_memory() noexcept with gil:  # pragma: no cover: no memory
    PyErr_NoMemory()


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

    dst has page_capacity(MOST_OF_ENTRY) bytes. 0: it is not understood; UC_REJECTED: an exception is set.
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


@cython.final
cdef class EntryBuilder:
    """The entries of a set that is being made.

    An entry is appended to the text. When that has grown MORE times, entries that it has twice are removed. So the memory
    is at most some times that of the different entries, however often a list repeats them.

    Args:
        kind (str): "hosts" or "prefixes".
        key (FingerprintKey): The key of the set.

    Attributes:
        key (FingerprintKey): As above.
        entries (int): How many entries were added; equal ones count each time.
        lines (int): Lines that were read,
        understood (int): of which these have entries,
        unknown (int): and these were not understood.
        found (list[tuple[int, bytes]]): The first of those: the number of the line, from 1, and its start.

    >>> from uricodec._base._fingerprint import FingerprintKey
    >>> builder = EntryBuilder("hosts", FingerprintKey())
    >>> builder.add(b"Example.com."), builder.add(b"a b"), builder.entries
    (True, False, 1)
    """
    cdef readonly FingerprintKey key
    cdef Table table            # only its kind, point and depths are used
    cdef Buffer text            # a byte, then the entries as in a Table
    cdef Buffer items           # for each its hash, and where it is in the text
    cdef size_t most            # bytes of both after which they are looked through
    cdef readonly uint64_t entries
    cdef readonly uint64_t lines
    cdef readonly uint64_t understood
    cdef readonly uint64_t unknown
    cdef readonly list found
    cdef size_t most_found

    def __cinit__(self, str kind not None, FingerprintKey key not None, size_t most_found=100):
        self.table.kind, self.table.point = <Kind>kind_of(kind), point_of(key)
        self.key, self.found, self.most_found = key, [], most_found
        if not grow(&self.text, 1):
            raise MemoryError  # pragma: no cover: no memory
        self.text.data[0], self.text.size = 0, 1
        self.most = LEAST_OF_TEXT

    def __dealloc__(self):
        discard(&self.text)
        discard(&self.items)

    cdef bint put(self, const uint8_t *s, size_t n, uint64_t hash, size_t depth, bint is_surt) noexcept nogil:
        """Add an entry in its normal form. False: an exception is set."""
        if self.text.size + self.items.size > self.most and not self.compact():
            return False  # pragma: no cover: no memory
        if not grow(&self.text, HEAD + n) or not grow(&self.items, 16):
            no_memory()  # pragma: no cover: no memory
            return False  # pragma: no cover: no memory
        store_word(mixed(hash), self.items.data + self.items.size)
        store_word(self.text.size, self.items.data + self.items.size + 8)
        self.items.size += 16
        self.text.data[self.text.size] = <uint8_t>n
        self.text.data[self.text.size + 1] = <uint8_t>(n >> 8)
        memcpy(self.text.data + self.text.size + HEAD, s, n)
        self.text.size += HEAD + n
        self.entries += 1
        if is_surt:
            self.table.surts |= <uint64_t>1 << min(depth, <size_t>DEPTHS)
        else:
            self.table.depths |= <uint64_t>1 << min(depth, <size_t>DEPTHS)
        return True

    cdef Line put_host(self, const uint8_t *s, size_t n, bint is_listed) noexcept nogil:
        """Add a host. `is_listed`: it is of a hosts file, whose local names are left out."""
        cdef uint8_t host[HOST_CAPACITY]
        cdef size_t size = host_entry(s, n, host)
        cdef size_t labels
        cdef uint64_t hash
        if size == 0 or size == UC_REJECTED:
            return FAILED if size else UNKNOWN
        if is_listed and is_local(host, size):
            return NOTHING
        hash = whole_host(host, size, self.table.point, &labels)
        return ENTRIES if self.put(host, size, hash, labels, False) else FAILED

    cdef Line put_prefix(self, const uint8_t *s, size_t n) noexcept nogil:
        cdef uint8_t text[HOST_CAPACITY + PORT + KEY_FACTOR * (MOST_OF_ENTRY + TAIL) + KEY_EXTRA + WIDE]
        cdef size_t base, depth, size
        cdef bint is_surt
        cdef uint64_t hash
        if n > MOST_OF_ENTRY:
            return UNKNOWN
        size = prefix_entry(s, n, text, &base, &is_surt)
        if size == 0 or size == UC_REJECTED:
            return FAILED if size else UNKNOWN
        hash = whole_prefix(text, base, size, self.table.point, &depth)
        return ENTRIES if self.put(text, size, hash, depth, is_surt) else FAILED

    cdef Line put_line(self, const uint8_t *s, size_t n) noexcept nogil:
        """Add the entries of a line of a list."""
        cdef const uint8_t *comment
        cdef size_t size
        cdef Line line, found = NOTHING
        strip(&s, &n)
        if n == 0 or s[0] == c'#' or s[0] == c'!' or is_header(s, n):
            return NOTHING
        if self.table.kind == PREFIXES:
            return self.put_prefix(s, n)
        if s[0] == c'|':
            if n < 4 or s[1] != c'|' or s[n - 1] != c'^':
                return UNKNOWN
            return self.put_host(s + 2, n - 3, False)
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
            return self.put_host(s, n, False)
        if not is_address(s, size):
            return UNKNOWN
        while size < n:         # IP_address canonical_hostname [aliases...]: hosts(5)
            s += size
            n -= size
            strip(&s, &n)
            size = word_size(s, n)
            line = self.put_host(s, size, True)
            if line == FAILED:
                return line
            if line == UNKNOWN or found == NOTHING:
                found = line
        return found

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
            line = self.put_host(s, n, False) if self.table.kind == HOSTS else self.put_prefix(s, n)
        release(&source)
        self.check(line)
        return line == ENTRIES

    def add_all(self, entries not None):
        """Add entries (iterable of str or bytes-like) up to the first that is not understood.

        Returns:
            tuple[int, str | bytes-like] | None: That entry, and how many are before it.
        """
        cdef Py_ssize_t index = 0
        for entry in entries:
            if not self.add(entry):
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

    def finish(self):
        """Return the table of the entries. The builder is empty afterwards.
        """
        cdef Table table
        cdef size_t items = self.items.size // 16, size, place
        cdef uint64_t count = 0
        cdef bytes data
        self.size_for(&table, items)
        size = (<size_t>SLOT << table.bits) + self.text.size
        data = PyBytes_FromStringAndSize(NULL, <Py_ssize_t>(size + LINE))
        place = -<size_t>PyBytes_AS_STRING(data) % LINE
        table.slots = <const uint8_t *>PyBytes_AS_STRING(data) + place
        table.text = table.slots + (<size_t>SLOT << table.bits)
        with nogil:
            memset(<void *>table.slots, 0, <size_t>SLOT << table.bits)
            count = self.fill(&table, items)
        discard(&self.text)
        discard(&self.items)
        size = (<size_t>SLOT << table.bits) + <size_t>table.text_size
        return EntryTable(KINDS[<int>table.kind], data, count, table.bits, table.depths, table.surts, self.key, None, place, size)

    cdef bint compact(self) noexcept nogil:
        """Remove the entries that are there more than once. False: an exception is set."""
        cdef Table table
        cdef size_t items = self.items.size // 16
        cdef uint8_t *slots
        self.size_for(&table, items)
        slots = <uint8_t *>PyMem_RawCalloc((<size_t>SLOT << table.bits) + LINE, 1)
        if slots == NULL:
            no_memory()  # pragma: no cover: no memory
            return False  # pragma: no cover: no memory
        table.slots, table.text = slots + -<size_t>slots % LINE, self.text.data
        self.items.size = 16 * <size_t>self.fill(&table, items)
        self.text.size = <size_t>table.text_size
        PyMem_RawFree(slots)
        self.most = max(self.most, MORE * (self.text.size + self.items.size))
        return True

    cdef void size_for(self, Table *table, size_t items) noexcept nogil:
        table[0] = self.table
        table.bits = LEAST_BITS
        while (<uint64_t>3 << table.bits) // 4 < items:
            table.bits += 1

    cdef uint64_t fill(self, Table *table, size_t items) noexcept nogil:
        """Write the slots, which are empty, and the text; return the number of different entries.

        These become the first items. The text may be that of the builder: an entry never comes after where it was.
        """
        cdef uint8_t *slots = <uint8_t *>table.slots
        cdef uint8_t *text = <uint8_t *>table.text
        cdef uint8_t *slot
        cdef uint64_t at, hash, count = 0
        cdef size_t i, n
        cdef Entry entry
        text[0] = 0
        table.text_size = 1
        for i in range(items):
            if i + AHEAD < items:
                prefetch(line_of(table, load_word(self.items.data + 16 * (i + AHEAD))))
            hash, at = load_word(self.items.data + 16 * i), load_word(self.items.data + 16 * i + 8)
            n = entry_size(self.text.data + at)
            if find(table, hash, self.text.data + at + HEAD, n, &entry) == PRESENT:
                continue
            slot = <uint8_t *>line_of(table, hash)
            while load_word(slot):
                slot += SLOT
                if slot == slots + (<size_t>SLOT << table.bits):
                    slot = slots
            store_word((hash & TAG) << 40 | table.text_size, slot)
            memmove(text + table.text_size, self.text.data + at, HEAD + n)
            store_word(hash, self.items.data + 16 * count)
            store_word(table.text_size, self.items.data + 16 * count + 8)
            table.text_size += HEAD + n
            count += 1
        return count


cdef uint64_t whole_host(const uint8_t *host, size_t n, uint64_t point, size_t *labels) noexcept nogil:
    """Return the hash of a host in its normal form, and the number of its labels."""
    cdef uint64_t hash = 1
    cdef size_t end = n, start
    labels[0] = 0
    if host[0] == c'[':
        labels[0] = 1
        return absorb(hash, host, n, point)
    while True:
        start = label_start(host, end)
        hash = absorb(hash, host + start, end - start, point)
        labels[0] += 1
        if start == 0:
            return hash
        end = start - 1


cdef uint64_t whole_prefix(const uint8_t *text, size_t base, size_t n, uint64_t point, size_t *depth) noexcept nogil:
    """Return the hash of a prefix in its normal form, and the number of its segments."""
    cdef uint64_t hash = absorb(1, text, base, point)
    cdef size_t i = base, start
    depth[0] = 0
    while i < n:
        start = i
        i += 1
        while i < n and text[i] != c'/':
            i += 1
        hash = absorb(hash, text + start, i - start, point)
        depth[0] += 1
    return hash


cdef int kind_of(str kind) except -1:
    if kind not in KINDS:
        raise ValueError(f"kind must be one of {', '.join(map(repr, KINDS))}, got {kind!r}")
    return <int>KINDS.index(kind)


cdef uint64_t point_of(FingerprintKey key):
    """Return the secret of hashes, which is derived from a key."""
    return load_word(<const uint8_t *>PyBytes_AS_STRING(key.fingerprint(b"uricodec entries"))) & PRIME


# --- sets -------------------------------------------------------------------------------------------------------------

ctypedef Found (*match_function)(const Table *table, const uint8_t *s, size_t n, bint exact, Entry *entry) noexcept nogil

cdef match_function[2] MATCHES = [match_host, match_prefix]


cdef void raise_found(const Table *table, Found found) noexcept with gil:
    if found == DAMAGED:
        PyErr_Format(SetError, b"%s: damaged saved set: entries", table.name)


def checksums(data not None, FingerprintKey key not None):
    """Return the checksums of data (bytes): 16 bytes for each 4096.

    >>> from uricodec._base._fingerprint import FingerprintKey
    >>> len(checksums(bytes(5000), FingerprintKey()))
    32
    """
    cdef Py_buffer view
    cdef size_t i, blocks, size
    cdef bytes found
    cdef uint8_t *dst
    borrow_bytes(data, &view)
    size = <size_t>view.len
    blocks = (size + CHECKED - 1) // CHECKED
    try:
        found = PyBytes_FromStringAndSize(NULL, <Py_ssize_t>(UC_FINGERPRINT * blocks))
        dst = <uint8_t *>PyBytes_AS_STRING(found)
        with nogil:
            for i in range(blocks):
                fingerprint(&key.key, <const uint8_t *>view.buf + CHECKED * i, min(<size_t>CHECKED, size - CHECKED * i),
                            dst + UC_FINGERPRINT * i)
    finally:
        PyBuffer_Release(&view)
    return found


def aligned(data not None):
    """Return a copy of data (bytes), and where it starts there: with a cache line.

    >>> copy, place = aligned(b"abc")
    >>> copy[place : place + 3]
    b'abc'
    """
    cdef Py_buffer view
    cdef bytes copy
    cdef size_t place
    borrow_bytes(data, &view)
    try:
        copy = PyBytes_FromStringAndSize(NULL, view.len + LINE)
        place = -<size_t>PyBytes_AS_STRING(copy) % LINE
        memset(PyBytes_AS_STRING(copy), 0, <size_t>view.len + LINE)
        memcpy(PyBytes_AS_STRING(copy) + place, view.buf, <size_t>view.len)
    finally:
        PyBuffer_Release(&view)
    return copy, place


@cython.final
cdef class EntryTable:
    """The table of a set, which is constant.

    Args:
        kind (str): "hosts" or "prefixes".
        data (bytes | mmap): Slots and text, from `place` on.
        count (int), bits (int), depths (int), surts (int): What EntryBuilder.finish() returns.
        key (FingerprintKey): The key of the set.
        directory (bytes | None): The checksums of data that are to be checked when they are used.
        place (int): Where the data are,
        size (int | None): and their size; None: all that follow.
        file (StoredSet | None): Where each block of data is read from when it is used; None: the data are there.
        start (int): Where the data are in the file.

    Attributes:
        kind (str), count (int), bits (int), depths (int), surts (int), key (FingerprintKey): As above.

    Raises:
        ValueError: If sizes do not match.

    >>> from uricodec._base._fingerprint import FingerprintKey
    >>> builder = EntryBuilder("hosts", FingerprintKey())
    >>> builder.add("example.com")
    True
    >>> builder.finish().match("https://www.example.com/", False)
    'example.com'
    """
    cdef Table table
    cdef readonly str kind
    cdef readonly uint64_t count
    cdef readonly FingerprintKey key
    cdef bytes directory
    cdef Py_buffer view
    cdef bint viewed
    cdef size_t size            # of the data
    cdef object file            # kept open
    cdef bytes name             # of the file, as messages show it
    cdef char storing

    def __cinit__(self, str kind not None, data not None, uint64_t count, int bits, uint64_t depths, uint64_t surts,
                  FingerprintKey key not None, bytes directory=None, size_t place=0, size=None, file=None,
                  uint64_t start=0, str name not None=""):
        cdef size_t slots
        self.file, self.table.number, self.table.place = file, -1 if file is None else file.number, start
        self.table.storing = &self.storing
        self.name = name.encode("utf-8", "replace")
        self.table.name = PyBytes_AS_STRING(self.name)
        self.kind, self.count, self.key = kind, count, key
        self.table.kind, self.table.bits = <Kind>kind_of(kind), bits
        self.table.depths, self.table.surts = depths, surts
        self.table.point, self.table.key = point_of(key), &key.key
        borrow_bytes(data, &self.view)
        self.viewed = True
        if not LEAST_BITS <= bits <= MOST_BITS or place > <size_t>self.view.len:
            raise ValueError("damaged table")
        self.size = <size_t>self.view.len - place if size is None else size
        slots = <size_t>SLOT << bits
        if self.size > <size_t>self.view.len - place or self.size <= slots:
            raise ValueError("damaged table")
        if count >= <uint64_t>1 << bits or count > (self.size - slots) // HEAD:
            raise ValueError("damaged table")
        self.table.slots = <const uint8_t *>self.view.buf + place
        self.table.text, self.table.text_size = self.table.slots + slots, self.size - slots
        if directory is not None:
            slots = (self.size + CHECKED - 1) // CHECKED
            if <size_t>len(directory) != UC_FINGERPRINT * slots:
                raise ValueError("damaged directory")
            self.directory, self.table.directory = directory, <const uint8_t *>PyBytes_AS_STRING(directory)
            self.table.sound = <uint8_t *>PyMem_RawCalloc(slots, 1)
            if self.table.sound == NULL:
                raise MemoryError  # pragma: no cover: no memory

    def __dealloc__(self):
        PyMem_RawFree(self.table.sound)
        if self.viewed:
            PyBuffer_Release(&self.view)

    @property
    def bits(self):
        return self.table.bits

    @property
    def depths(self):
        return self.table.depths

    @property
    def surts(self):
        return self.table.surts

    def match(self, url, bint exact):
        """Return the longest entry that matches a URL (str or bytes, as the URL), or None.
        """
        cdef uint8_t buffer[UTF8_CAPACITY]
        cdef Bytes source
        cdef Entry entry
        cdef Found found
        cdef object text = text_of(url)
        if not borrow(text, &source, buffer):
            text = without_surrogates(text)
            borrow(text, &source, buffer)
        found = MATCHES[<int>self.table.kind](&self.table, source.data, source.size, exact, &entry)
        release(&source)
        self.check(found)
        if found == ABSENT:
            return None
        return text_or_bytes(type(text) is str, entry.text, entry.size)

    def damaged(self):
        """Return the error for data that are not what was saved.
        """
        return SetError(f"{self.name.decode()}: damaged saved set: entries")

    cdef int check(self, Found found) except -1:
        if found > PRESENT:
            raise_found(&self.table, found)
            reraise()
        return 0

    def has(self, entry):
        """Return whether an entry is in the set, as it was put in.
        """
        cdef EntryBuilder builder = EntryBuilder(self.kind, self.key)
        cdef uint64_t hash, at
        cdef Entry found
        cdef Found answer
        cdef size_t n
        if not builder.add(entry):
            return False
        hash, at = load_word(builder.items.data), load_word(builder.items.data + 8)
        n = entry_size(builder.text.data + at)
        answer = find(&self.table, hash, builder.text.data + at + HEAD, n, &found)
        self.check(answer)
        return answer == PRESENT

    def __iter__(self):
        """Yield the entries (str), in the order in which they were put in.
        """
        cdef uint64_t at = 1, _
        cdef const uint8_t *s
        cdef size_t n
        for _ in range(self.count):
            s = self.table.text + at
            if at + HEAD > self.table.text_size or not is_sound(&self.table, s, HEAD):
                raise self.damaged()
            n = entry_size(s)
            if at + HEAD + n > self.table.text_size or not is_sound(&self.table, s, HEAD + n):
                raise self.damaged()
            try:
                yield utf8_text(s + HEAD, n, NULL)
            except UnicodeDecodeError:
                raise self.damaged() from None
            at += HEAD + n

    def verify(self):
        """Check all data. Raise SetError if they are damaged.
        """
        cdef uint64_t block
        cdef bint sound = True
        if self.table.sound == NULL:
            return
        with nogil:
            for block in range((self.size + CHECKED - 1) // CHECKED):
                sound = sound and check_block(&self.table, block)
        if not sound:
            raise self.damaged()

    def data(self):
        """Return the data (memoryview), checked.
        """
        self.verify()
        start = self.table.slots - <const uint8_t *>self.view.buf
        return memoryview(<object>self.view.obj)[start:start + self.size]


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


# The candidates of a usual host: those of most columns are read at once, and looked up later.
cdef struct Probe:
    bint is_usual
    int count
    uint64_t hash[FEW]          # the shortest first
    uint64_t at[FEW]            # where the entry with the same bits of the hash is; 0: there is none
    uint8_t start[FEW]
    size_t size
    uint8_t host[USUAL + 8]


cdef inline bint read_probe(const MatchOptions *how, const uint8_t *s, size_t n, Probe *probe) noexcept nogil:
    """Read a URL as match_host() does, if it is as most are. False: it is not.

    That is, "http://" or "https://" in lower case; a name of at most USUAL bytes and FEW labels, the last of which does not
    begin with a digit; perhaps a port; and "/", "?", "#" or the end.
    """
    cdef const Table *table = how.table
    cdef size_t starts[FEW]
    cdef size_t start, size, i, words, labels = 0
    cdef uint64_t word, marks, hash = 1, each = 0x0101010101010101
    # Without a branch that depends on the scheme, which cannot be predicted.
    if n < 8 or memcmp(s, b"http", 4) != 0:
        return False
    start = 7 + <size_t>(s[4] == c's')
    if memcmp(s + start - 3, b"://", 3) != 0 or start == n:
        return False
    s += start
    n -= start
    size = min(n, <size_t>64)
    kernels.mark_outside(s, size, &LABEL_BYTES.set, &marks)
    starts[0] = 0
    while marks:
        i = <size_t>uc_lowest_bit(marks)
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
    copy_text(probe.host, s, size)
    words = USUAL // 16 if size <= USUAL // 16 * 8 else USUAL // 8
    for i in range(words):
        memcpy(&word, probe.host + 8 * i, 8)
        word &= 0x7F * each
        word |= ((word + (0x80 - 65) * each) & ~(word + (0x80 - 91) * each) & 0x80 * each) >> 2
        memcpy(probe.host + 8 * i, &word, 8)
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
        if table.depths >> i & 1 and (i == labels or not how.exact):
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
    cdef size_t first, i, stop
    if how.table.kind != HOSTS or block.has_cr:
        return do_rows(run)
    for first in range((block.rows + AHEAD - 1) // AHEAD):
        first *= AHEAD
        stop = min(first + AHEAD, block.rows)
        for i in range(first, stop):
            probe = &probes[i - first]
            probe.is_usual = read_probe(how, block.data + block.at[i], block.at[i + 1] - block.at[i] - block.gap, probe)
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
        found = self.held.match(text, self.how.exact)
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
