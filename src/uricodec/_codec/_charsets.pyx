# distutils: extra_compile_args=-Os
"""Encodings other than UTF-8: Latin-1, Windows-1251, Shift_JIS, GBK and others, decoded to UTF-8.

Each encoding that Python knows and that is a superset of ASCII becomes a trie of tables. A table has an entry for each
byte: the UTF-8 of the sequence that ends there, or the table for the next byte. Encodings with one byte per character
have one table; Shift_JIS, GBK, Big5 and EUC-KR have one more for each lead byte, EUC-JP also for second bytes.

The tables are made once per Charset, by decoding each sequence with Python's own codec, so they agree with
bytes.decode. Then loops use them without the GIL. A sequence is invalid if Python's codec rejects it, or if it has more
than three bytes (EUC-KR: Hangul that are made up of eight bytes).
"""
cimport cython
from libc.stdint cimport uint64_t
from libc.string cimport memset

from uricodec._base._text cimport *
from uricodec._rows._arrow cimport discard, reserve

from cpython.buffer cimport PyBuffer_Release

import codecs

cdef str EXAMPLES = "latin-1, cp1251, koi8-r, shift_jis, euc-jp, gbk, big5 or euc-kr"

# Encodings with characters of four bytes, by the names of their codecs.
cdef tuple LONGER = ("utf-8", "utf-8-sig", "gb18030")


cdef bint extends_ascii(object decoder) except -1:
    """Return whether each ASCII byte stands for itself, whatever comes after it."""
    cdef int byte
    for byte in range(128):
        decoder.reset()
        if decoder.decode(bytes((byte,))) != chr(byte):
            return False
    return True


cdef object unsupported(str name):
    return ValueError(f"unsupported encoding {name!r}; expected a superset of ASCII with at most three bytes a "
                      f"character, such as {EXAMPLES}")


cdef object decoder_of(str name):
    """Return an incremental decoder, with U+FFFD for errors, of an encoding that tables can express."""
    try:
        b"a".decode(name)       # LookupError also for codecs such as hex, which do not decode to text
        known = codecs.lookup(name)
        decoder = codecs.getincrementaldecoder(name)("replace")
        if known.name not in LONGER and extends_ascii(decoder):
            return decoder
    except LookupError:
        raise ValueError(f"unknown encoding {name!r}; expected one such as {EXAMPLES}") from None
    except UnicodeError:        # codecs such as idna
        raise unsupported(name) from None
    raise unsupported(name)


@cython.final
cdef class Charset:
    """An encoding other than UTF-8, as tables.

    Args:
        name (str): The name of a codec of Python, such as "latin-1", "shift_jis" or "gbk".

    Attributes:
        name (str): The same name.

    Raises:
        ValueError: The encoding is unknown, not a superset of ASCII (utf-16, iso-2022-jp), or has characters of four
            bytes (utf-8, gb18030).

    >>> Charset("shift_jis").decode(b"\\x93\\xfa\\x96\\x7b")[0].decode()
    '日本'
    """

    def __cinit__(self, str name not None):
        self.name = name
        self.fill(decoder_of(name), b"")
        self.tables = <const CharsetTable *>self.memory.data

    def __dealloc__(self):
        discard(&self.memory)

    cdef size_t fill(self, object decoder, bytes prefix) except? 0:
        """Append a table for the bytes after a prefix, and those after it. Return its index; 0: it would be empty."""
        cdef size_t start = self.memory.size, index = start // sizeof(CharsetTable)
        cdef CharsetEntry entry
        cdef bint found = False
        cdef int byte
        reserve(&self.memory, sizeof(CharsetTable))
        self.memory.size += sizeof(CharsetTable)
        memset(self.memory.data + start, 0, sizeof(CharsetTable))
        for byte in range(256):
            sequence = prefix + bytes((byte,))
            decoder.reset()
            utf8 = (<str?>decoder.decode(sequence)).encode()
            memset(&entry, 0, sizeof(CharsetEntry))
            if not utf8:
                if len(sequence) < CHARSET_BYTES:
                    entry.next = <uint16_t>self.fill(decoder, sequence)
            elif b"\xEF\xBF\xBD" not in utf8 and len(utf8) <= CHARSET_FACTOR * min(len(sequence), 2):
                entry.size = <uint8_t>len(utf8)
                memcpy(entry.utf8, PyBytes_AS_STRING(utf8), entry.size)
            found |= entry.next or entry.size
            # `fill` may have moved the tables
            (<CharsetTable *>(self.memory.data + start)).entries[byte] = entry
        if found:
            return index
        self.memory.size = start    # any tables after it are empty, too
        return 0

    def decode(self, data):
        """Decode bytes, each of which that does not begin a character becomes U+FFFD.

        Args:
            data (bytes-like): The bytes.

        Returns:
            tuple[bytes, bool]: The text in UTF-8, and whether all bytes were valid.

        >>> Charset("cp1252").decode(b"\\x80 \\x81")
        (b'\\xe2\\x82\\xac \\xef\\xbf\\xbd', False)
        """
        cdef Py_buffer view
        cdef bint valid = False
        cdef size_t n
        cdef uint8_t *dst
        borrow_bytes(data, &view)
        try:
            n = <size_t>view.len
            if n > <size_t>PY_SSIZE_T_MAX // CHARSET_FACTOR:
                raise OverflowError("the decoded text may exceed the maximum size of an object")  # pragma: no cover: too large
            dst = allocate(CHARSET_FACTOR * n)
            try:
                n = charset_decode(self.tables, <const uint8_t *>view.buf, n, dst, &valid)
                return PyBytes_FromStringAndSize(<const char *>dst, <Py_ssize_t>n), valid
            finally:
                PyMem_RawFree(dst)
        finally:
            PyBuffer_Release(&view)


# The tables of an encoding take time to make: those of the last few names.
cdef dict known = {}


cdef Charset charset_of(object encoding):
    """Return the Charset of a name, or what is one already; None for None."""
    if encoding is None or isinstance(encoding, Charset):
        return encoding
    found = known.get(encoding)
    if found is None:
        found = Charset(encoding)
        if len(known) >= 8:
            known.clear()
        known[encoding] = found
    return found


cdef size_t charset_decode(const CharsetTable *tables, const uint8_t *src, size_t n, uint8_t *dst,
                           bint *valid) noexcept nogil:
    cdef const CharsetEntry *entry
    cdef size_t i = 0, o = 0, length
    cdef uint64_t word
    valid[0] = True
    # Stores before the last two bytes of src are of fixed size, which is faster. They stay in dst: o <= 3 i, and so
    # 3 (n - i) bytes are left. Nor do they reach src[i] where src is dst + 2 m: o + 6 <= 3 i + 6 <= 2 m + i.
    while i < n:
        while n - i >= 8 and src[i] < 0x80:
            memcpy(&word, src + i, 8)
            if word & <uint64_t>0x8080808080808080:
                break
            memcpy(dst + o, &word, 8)
            i, o = i + 8, o + 8
        if i == n:
            break
        entry = charset_character(tables, src + i, n - i, &length)
        if entry == NULL:
            valid[0] = False
            memcpy(dst + o, b"\xEF\xBF\xBD", 3)     # U+FFFD
            i, o = i + 1, o + 3
        else:
            if n - i >= 3:
                memcpy(dst + o, entry.utf8, sizeof(entry.utf8))
            else:
                memcpy(dst + o, entry.utf8, entry.size)
            i, o = i + length, o + entry.size
    return o
