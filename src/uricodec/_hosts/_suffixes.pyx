"""Public suffixes and registrable domains of hosts (https://publicsuffix.org/list/).

The names in rules have a table of their own, not that of host sets: no one can choose them, so a hash of each byte does, which
is there when a label is read. (With the other table, columns took 30 % longer, and single calls 6 %.)
"""
cimport cython
from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from uricodec._base._kernels cimport kernels, lower, uc_utf8
from uricodec._base._text cimport *
from uricodec._rows._engine cimport *
from uricodec._url._grammar cimport is_numeric_label
from uricodec._url._idna cimport A_LABELS_CAPACITY, ask_about_host, to_a_labels, to_u_labels, without_ignored
from uricodec._url._grammar cimport Parts, find_authority
from uricodec.uri._values cimport Options, ValueRows, put_raw, set_bare, value_in


# --- rules ------------------------------------------------------------------------------------------------------------

# The longest rule that matches the last labels of a host is its public suffix. A name has rules and is the end of others:
#
#     RULE: the name is a suffix    WILDCARD: with any label before it    EXCEPTION: without its first label
#
# A host is read from its end, label by label, as long as the name is the PARENT of a longer one in a rule.

cdef enum:
    RULE = 1, WILDCARD = 2, EXCEPTION = 4, PARENT = 8

# A name in a rule of the Public Suffix List, in lower case. flags == 0: there is none in this slot.
cdef struct Suffix:
    uint32_t check              # other bits of its hash than its slot's
    uint32_t start              # in `text`
    uint32_t size
    uint32_t flags

# A hash table with linear probing: at most half of the slots are used.
cdef struct Suffixes:
    const Suffix *slots
    const uint8_t *text
    uint64_t mask


cdef uint64_t SEED = 0xCBF29CE484222325, FACTOR = 0x9E3779B97F4A7C15

cdef inline uint64_t hash_byte(uint64_t digest, uint8_t byte) noexcept nogil:
    return (digest ^ byte) * FACTOR


cdef inline uint64_t slot_of(uint64_t digest) noexcept nogil:
    return digest ^ digest >> 32    # the lower bits of a product depend on few bits


cdef inline int flags_of(const Suffixes *table, uint64_t digest, const uint8_t *name, size_t n) noexcept nogil:
    """Return what a name is in the rules; 0: it is not there."""
    cdef uint64_t i = slot_of(digest)
    cdef const Suffix *slot
    cdef const uint8_t *text
    cdef size_t k
    while True:
        slot = &table.slots[<size_t>(i & table.mask)]
        if slot.flags == 0:
            return 0
        if slot.check == <uint32_t>(digest >> 32) and slot.size == n:
            text, k = table.text + slot.start, 0
            while k < n and text[k] == lower(name[k]):
                k += 1
            if k == n:
                return <int>slot.flags
        i += 1


cdef inline size_t label_before(const uint8_t *host, size_t i) noexcept nogil:
    """Return where the label that ends before offset i starts."""
    while i and host[i - 1] != c'.':
        i -= 1
    return i


cdef size_t find_suffix(const Suffixes *table, const uint8_t *host, size_t n) noexcept nogil:
    """Return where the public suffix of a host starts, which has no empty labels."""
    cdef uint64_t digest = SEED
    cdef size_t i = n, previous, found = n
    cdef int flags
    while True:
        previous = i
        if i < n:
            i -= 1
            digest = hash_byte(digest, c'.')
        while i and host[i - 1] != c'.':
            i -= 1
            digest = hash_byte(digest, lower(host[i]))
        if found == n:
            found = i       # the default rule "*"
        flags = flags_of(table, digest, host + i, n - i)
        if flags & EXCEPTION:
            return previous
        if flags & (RULE | WILDCARD):
            found = i
        if flags & WILDCARD and i:
            found = label_before(host, i - 1)
        if i == 0 or not flags & PARENT:
            return found


@cython.final
cdef class SuffixTable:
    """A list of public suffixes, to look up names. It is constant.

    Args:
        names (dict[bytes, int]): For the names in rules, what they are; see `suffix_list.names_of`.
    """
    cdef Suffixes table
    cdef Suffix *slots
    cdef bytes text

    def __cinit__(self, dict names):
        cdef size_t count = 16, start = 0, n, k
        cdef uint64_t digest, i
        cdef const uint8_t *name
        cdef bytes key
        while count < 2 * <size_t>len(names):
            count *= 2
        self.text = b"".join(names)
        if len(self.text) > 0xFFFFFFFF:
            raise OverflowError("the list of suffixes is too long")  # pragma: no cover: too large
        self.slots = <Suffix *>allocate(count * sizeof(Suffix))
        memset(self.slots, 0, count * sizeof(Suffix))
        for key, flags in names.items():
            name, n, digest = <const uint8_t *>PyBytes_AS_STRING(key), <size_t>PyBytes_GET_SIZE(key), SEED
            for k in range(n):
                digest = hash_byte(digest, name[n - 1 - k])
            i = slot_of(digest)
            while self.slots[<size_t>(i & (count - 1))].flags:
                i += 1
            k = <size_t>(i & (count - 1))
            self.slots[k] = Suffix(<uint32_t>(digest >> 32), <uint32_t>start, <uint32_t>n, flags)
            start += n
        self.table = Suffixes(self.slots, <const uint8_t *>PyBytes_AS_STRING(self.text), count - 1)

    def __dealloc__(self):
        PyMem_RawFree(self.slots)


# --- hosts ------------------------------------------------------------------------------------------------------------

cdef inline bint has_labels(const uint8_t *host, size_t n) noexcept nogil:
    """Return whether a host consists of labels, none of them empty, and is not an address."""
    cdef size_t i, start = 0
    for i in range(n):
        if host[i] == c'.':
            if i == start:
                return False
            start = i + 1
    return start < n and host[0] != c'[' and not is_numeric_label(host + start, n - start)


# A host with characters beyond ASCII is mapped before its suffix is looked up: letters to lower case, characters to NFC,
# and the other full stops to "." (UTS 46). Labels that are A-labels stay so.

cdef enum:
    # A host of more bytes stays as it is. One character of at most 253 may come from four of four bytes (NFC).
    MOST_OF_HOST = 16 * 253
    MAPPED_CAPACITY = 2 * MOST_OF_HOST  # a character of two bytes may become one of four


cdef size_t map_host(const uint8_t *host, size_t n, uint8_t *dst) noexcept nogil:
    """Write a host with characters beyond ASCII as UTS 46 maps it. 0 if that is impossible; UC_REJECTED: an exception.

    dst has MAPPED_CAPACITY bytes.
    """
    cdef uint8_t small[MOST_OF_HOST]
    cdef uint8_t *text = small
    cdef uc_utf8 found
    cdef size_t size = 0
    if kernels.scan_utf8(host, n, &found) < n:
        return 0
    if n > sizeof(small):
        text = <uint8_t *>PyMem_RawMalloc(n)
        if text == NULL:
            set_no_memory()  # pragma: no cover: no memory
            return UC_REJECTED  # pragma: no cover: no memory
    memcpy(text, host, n)
    n = without_ignored(text, n)
    if n <= MOST_OF_HOST:
        size = map_labels(text, n, dst)
    elif n == UC_REJECTED:
        size = n
    if text != small:
        PyMem_RawFree(text)
    return size


cdef size_t map_labels(const uint8_t *host, size_t n, uint8_t *dst) noexcept nogil:
    """Do what map_host() does, for a host without ignored characters and other full stops than "."."""
    cdef uint8_t ascii[A_LABELS_CAPACITY]
    cdef size_t i = 0, o = 0, start, size
    cdef Py_ssize_t found
    cdef bint is_ascii
    while i < n:
        start, is_ascii = i, True
        while i < n and host[i] != c'.':
            is_ascii &= host[i] < 0x80
            i += 1
        if is_ascii:
            memcpy(dst + o, host + start, i - start)
            o += i - start
        else:
            size = to_a_labels(host + start, i - start, ascii)
            if size and size != UC_REJECTED:
                # A label of at most 63 characters, each of which comes from one: the bytes fit.
                size = to_u_labels(ascii, size, False, dst + o)
            if size == UC_REJECTED:
                return size
            if size == 0:
                found = ask_about_host("to_mapped", host, n, dst, MAPPED_CAPACITY)
                return UC_REJECTED if found == -2 else <size_t>max(found, 0)
            o += size
        if i < n:
            dst[o] = c'.'
            o += 1
            i += 1
    return o


# What a domain is read with.
cdef struct DomainOptions:
    Options values
    const Suffixes *suffixes
    bint registrable            # the registrable domain, not the public suffix


cdef size_t domain_row(const uint8_t *src, size_t n, const void *options, uint8_t *dst, Outcome *outcome) noexcept nogil:
    """Write the registrable domain or the public suffix of the host, in lower case."""
    cdef const DomainOptions *how = <const DomainOptions *>options
    cdef uint8_t mapped[MAPPED_CAPACITY]
    cdef Parts parts
    cdef const uint8_t *name
    cdef Py_ssize_t first
    cdef size_t size, start, i, written
    find_authority(src, n, &parts)
    first = parts.host
    if first >= 0:
        name, size = src + first, <size_t>(parts.host_end - first)
        if not is_ascii(name, size):
            written = map_host(name, size, mapped)
            if written == UC_REJECTED:
                outcome.code, outcome.offset = UC_RAISED, 0
                return UC_REJECTED
            if 0 < written <= 3 * n:    # or there is not enough capacity
                src, name, size, first = mapped, mapped, written, 0
        if size and name[size - 1] == c'.':
            size -= 1       # of the root
        if not has_labels(name, size):
            first = -1
        else:
            start = find_suffix(how.suffixes, name, size)
            if how.registrable:
                if start:
                    start = label_before(name, start - 1)
                else:
                    first = -1
            if first >= 0:
                parts.host_end = first + <Py_ssize_t>size
                first += <Py_ssize_t>start
    size = put_raw(src, first, parts.host_end, options, dst)
    if first >= 0:
        for i in range(sizeof(Component), <size_t>(<const Component *>dst).end):
            dst[i] = lower(dst[i])
    return size


# --- operations and functions ----------------------------------------------------------------------------------------

__all__ = ["public_suffix", "registrable_domain"]

# The tables of the default list: with its private section (True), and without.
cdef dict tables = {}
default_tables = tables     # to tests


cdef SuffixTable table_of(bint private, object suffixes):
    cdef object table = tables.get(private) if suffixes is None else None
    if table is None:
        from uricodec._hosts import suffix_list
        table = suffix_list.table_of(private, suffixes, SuffixTable)
        if suffixes is None:
            tables[private] = table
    return table


@cython.final
cdef class DomainRows(ValueRows):
    """Operation that returns the registrable domain, or the public suffix, of the host.

    Args:
        checks (bool): Whether rows may not be, although results are.

    Source: https://publicsuffix.org/list/; RFC 3986 section 3.2.2, appendix B.
    """
    cdef SuffixTable held
    cdef DomainOptions domain

    def __cinit__(self, registrable, private, suffixes, text, checks, bare=False):
        self.held = table_of(private, suffixes)
        self.set_row(domain_row, text, checks, 1)
        if bare:
            self.set_bare()
        self.domain = DomainOptions(self.how, &self.held.table, registrable)
        self.slots.options = &self.domain


cdef object domain_in(object uri, bint registrable, object private, object suffixes, object bare, object errors):
    cdef SuffixTable table = table_of(private, suffixes)
    cdef DomainOptions how
    how.values.read, how.values.texts, how.suffixes, how.registrable = domain_row, 0, &table.table, registrable
    set_bare(&how.values, bare)
    return value_in(uri, &how.values, None, errors)


def registrable_domain(uri, *, private=False, suffixes=None, bare=False, errors="keep"):
    """Return the registrable domain of the host of a URL: its public suffix and the label before it.

    Args:
        uri (str | bytes-like): Any text. It is split as in `host`.
        private (bool): Apply the private section of the list, too, which has suffixes of companies: github.io.
        suffixes (str | os.PathLike | None): A file in the format of the Public Suffix List; it is read again when it
            has changed. None: the list of the library `publicsuffixlist`, which the extra `domains` installs.
        bare (bool): Whether text may begin with a host, as in `host`.
        errors (str): See `host`.

    Returns:
        str | bytes | None: The domain, in lower case, without a final "."; labels beyond ASCII are mapped (UTS 46),
            and A-labels stay so. None without a host, for an
            address, if a label is empty, and if the host is a public suffix.

    Raises:
        IriError: If errors="raise" and the text is not an IRI reference.
        ModuleNotFoundError: If `publicsuffixlist` is needed and not installed.
        OSError: If the file cannot be read.
        TypeError: If `suffixes` is not a path.
        ValueError: If `errors` is unknown, or if the file has a malformed rule.

    Source: https://publicsuffix.org/list/.

    >>> from uricodec import uri
    >>> uri.registrable_domain("https://www.Example.co.uk:8042/over/there")
    'example.co.uk'
    >>> uri.registrable_domain("//me.github.io"), uri.registrable_domain("//me.github.io", private=True)
    ('github.io', 'me.github.io')
    >>> uri.registrable_domain("www.example.co.uk:443", bare=True), uri.registrable_domain("192.0.2.1", bare=True)
    ('example.co.uk', None)
    """
    return domain_in(uri, True, private, suffixes, bare, errors)


def public_suffix(uri, *, private=False, suffixes=None, bare=False, errors="keep"):
    """Return the public suffix of the host of a URL: the part below which names are registered.

    Args:
        uri (str | bytes-like): Any text. It is split as in `host`.
        private (bool): See `registrable_domain`.
        suffixes (str | os.PathLike | None): See `registrable_domain`.
        bare (bool): See `host`.
        errors (str): See `host`.

    Returns:
        str | bytes | None: The suffix, written as in `registrable_domain`; the last label if no rule
            matches. None without a host, for an address, and if a label is empty.

    Raises:
        IriError: If errors="raise" and the text is not an IRI reference.
        ModuleNotFoundError: If `publicsuffixlist` is needed and not installed.
        OSError: If the file cannot be read.
        TypeError: If `suffixes` is not a path.
        ValueError: If `errors` is unknown, or if the file has a malformed rule.

    Source: https://publicsuffix.org/list/.

    >>> from uricodec import uri
    >>> uri.public_suffix("https://www.Example.co.uk:8042/"), uri.public_suffix("//example.test")
    ('co.uk', 'test')
    >>> uri.public_suffix("http://127.0.0.1/") is uri.public_suffix("http://[::1]/") is None
    True
    """
    return domain_in(uri, False, private, suffixes, bare, errors)


# Fast path: most calls are f(text). Arguments that have defaults take time to parse.
cdef vectorcall parse_domain, parse_suffix


cdef object call_domain(object function, PyObject *const *args, size_t flags, PyObject *names):
    if PyVectorcall_NARGS(flags) != 1 or names != NULL:
        return parse_domain(function, args, flags, names)
    return domain_in(<object>args[0], True, False, None, False, "keep")


cdef object call_suffix(object function, PyObject *const *args, size_t flags, PyObject *names):
    if PyVectorcall_NARGS(flags) != 1 or names != NULL:
        return parse_suffix(function, args, flags, names)
    return domain_in(<object>args[0], False, False, None, False, "keep")


parse_domain = take_calls(registrable_domain, call_domain)
parse_suffix = take_calls(public_suffix, call_suffix)
# Functions are pickled by reference: the reference must be their public name.
for name in __all__:
    globals()[name].__module__ = "uricodec.uri"
del name
