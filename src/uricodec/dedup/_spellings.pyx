# distutils: extra_compile_args=-O2
"""The loops of the report of merged spellings; _groups.py has its passes.

Both read blocks of sorted records; Identifiers.records() has those of spellings. All numbers in records are big-endian.
"""
cimport cython
from libc.stdint cimport uint8_t, uint64_t
from libc.string cimport memcmp, memcpy, memset

from uricodec._base._cpython cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from uricodec._base._fingerprint cimport UC_FINGERPRINT, FingerprintKey, fingerprint, store_word
from uricodec._base._text cimport write_decimal
from uricodec._counting._runs cimport load_big_word, record_at, store_big_word
from uricodec._records._framing cimport escape_json
from uricodec._rows._arrow cimport Buffer, append, discard, reserve


cdef enum:
    NAME = 20           # bytes of the name of an identifier: its fingerprint, the size of its form; the form follows
    SPELLING = 16       # bytes between that and the text: its first row, its number of occurrences
    # Bytes before the text of a member of a group: the first row of the identifier, its own, its number of occurrences,
    # the level that merges it, and the fingerprint.
    LEVEL = 24
    MEMBER = LEVEL + 1 + UC_FINGERPRINT
    DIGITS = 20


cdef struct Spelling:
    size_t name         # the size of the name
    const uint8_t *text
    size_t size         # of the text


cdef const uint8_t *next_record(const uint8_t *at, const uint8_t *end, size_t *size, size_t least) except NULL:
    """Return the next record of a block, of at least so many bytes."""
    at = record_at(at, end, size)
    if at == NULL or size[0] < least:
        raise ValueError("damaged block: a record is incomplete")
    return at


cdef const uint8_t *next_spelling(const uint8_t *at, const uint8_t *end, Spelling *spelling) except NULL:
    cdef size_t size
    at = next_record(at, end, &size, NAME + SPELLING)
    spelling.name = NAME + <size_t>(load_big_word(at + UC_FINGERPRINT) >> 32)
    if size < spelling.name + SPELLING:
        raise ValueError("damaged block: a record is incomplete")
    spelling.text = at + spelling.name + SPELLING
    spelling.size = size - spelling.name - SPELLING
    return at


def texts_of(bytes block not None):
    """Return the texts (list[bytes]) of a block of spellings."""
    cdef const uint8_t *at = <const uint8_t *>PyBytes_AS_STRING(block)
    cdef const uint8_t *end = at + len(block)
    cdef Spelling spelling
    cdef list texts = []
    while at < end:
        next_spelling(at, end, &spelling)
        texts.append(PyBytes_FromStringAndSize(<const char *>spelling.text, <Py_ssize_t>spelling.size))
        at = spelling.text + spelling.size
    return texts


@cython.final
cdef class Members:
    """Joins spellings, sorted by identifier and row, to groups: those of an identifier of which there are several.

    Args:
        key (FingerprintKey | None): The key of the fingerprints of members, which are those of their forms; None: members
            have the fingerprints of spellings.
    """
    cdef FingerprintKey key
    cdef Buffer name            # of the last identifier,
    cdef Buffer prints          # the fingerprints of its first spelling at each level,
    cdef Buffer first           # and this as a record, until there is another one; 0 bytes: it was written
    cdef uint64_t row           # its row
    cdef Buffer found

    def __cinit__(self, FingerprintKey key):
        self.key = key
        memset(&self.name, 0, sizeof(Buffer))
        memset(&self.prints, 0, sizeof(Buffer))
        memset(&self.first, 0, sizeof(Buffer))
        memset(&self.found, 0, sizeof(Buffer))

    def __dealloc__(self):
        discard(&self.name)
        discard(&self.prints)
        discard(&self.first)
        discard(&self.found)

    def join(self, bytes block not None, list prints not None):
        """Return the members of groups in the next spellings, as a block of records.

        Args:
            block (bytes): The spellings.
            prints (list[bytes]): For each finer level the fingerprints of their normal forms.
        """
        cdef const uint8_t *at = <const uint8_t *>PyBytes_AS_STRING(block)
        cdef const uint8_t *end = at + len(block)
        cdef Spelling spelling
        cdef size_t i = 0, level
        cdef bytes of_level
        cdef bint is_merged
        self.found.size = 0
        while at < end:
            at = next_spelling(at, end, &spelling)
            if spelling.name != self.name.size or memcmp(at, self.name.data, spelling.name) != 0:
                self.name.size = self.prints.size = self.first.size = 0
                append(&self.name, at, spelling.name)
                for of_level in prints:
                    append(&self.prints, PyBytes_AS_STRING(of_level) + UC_FINGERPRINT * i, UC_FINGERPRINT)
                self.row = load_big_word(at + spelling.name)
                self.add(&self.first, at, &spelling, 0)
            else:
                if self.first.size:
                    append(&self.found, self.first.data, self.first.size)
                    self.first.size = 0
                level, is_merged = 0, False
                for of_level in prints:
                    is_merged = memcmp(PyBytes_AS_STRING(of_level) + UC_FINGERPRINT * i,
                                       self.prints.data + UC_FINGERPRINT * level, UC_FINGERPRINT) == 0
                    if is_merged:
                        break
                    level += 1
                self.add(&self.found, at, &spelling, level)
            at = spelling.text + spelling.size
            i += 1
        return (<const char *>self.found.data)[:self.found.size] if self.found.size else b""

    cdef int add(self, Buffer *buffer, const uint8_t *record, const Spelling *spelling, size_t level) except -1:
        """Append a member to a buffer."""
        cdef uint8_t *dst
        reserve(buffer, 8 + MEMBER + spelling.size)
        dst = buffer.data + buffer.size
        store_word(MEMBER + spelling.size, dst)
        dst += 8
        store_big_word(self.row, dst)
        memcpy(dst + 8, record + spelling.name, SPELLING)
        dst[LEVEL] = <uint8_t>level
        if self.key is None:
            memcpy(dst + LEVEL + 1, record, UC_FINGERPRINT)
        else:
            fingerprint(&self.key.key, record + NAME, spelling.name - NAME, dst + LEVEL + 1)
        memcpy(dst + MEMBER, spelling.text, spelling.size)
        buffer.size += 8 + MEMBER + spelling.size
        return 0


@cython.final
cdef class Report:
    """Writes members, sorted by the first row of their group and their own, as lines of JSON.

    Args:
        levels (list[bytes]): The names of all levels, as JSON.
        place_of (Callable[[int], bytes]): Returns where a row is, as members of a JSON object.
        shows_fingerprints (bool): Whether to write the fingerprints of identifiers.

    Attributes:
        groups (int): The number of groups so far.
    """
    cdef readonly size_t groups
    cdef list levels
    cdef object place_of
    cdef bint shows_fingerprints
    cdef uint64_t row           # the first one of the present group,
    cdef uint64_t rows          # and how many it has
    cdef Buffer lines

    def __cinit__(self, list levels not None, place_of, bint shows_fingerprints):
        self.levels, self.place_of, self.shows_fingerprints = levels, place_of, shows_fingerprints
        memset(&self.lines, 0, sizeof(Buffer))

    def __dealloc__(self):
        discard(&self.lines)

    def write(self, bytes block not None):
        """Return the next bytes of the report, given a block of members."""
        cdef const uint8_t *at = <const uint8_t *>PyBytes_AS_STRING(block)
        cdef const uint8_t *end = at + len(block)
        cdef size_t size
        cdef uint64_t row
        cdef bytes place
        cdef bint begins
        self.lines.size = 0
        while at < end:
            at = next_record(at, end, &size, MEMBER)
            row, begins = load_big_word(at), not self.groups
            place = self.place_of(load_big_word(at + 8))
            if begins or row != self.row:
                self.end_group()
                self.groups += 1
                self.row = row
                self.put(b'{"first":')
                self.put_text(at + MEMBER, size - MEMBER)
                self.put(b",")
                self.put(place)
                if self.shows_fingerprints:
                    self.put(b',"fingerprint":"')
                    self.put(at[LEVEL + 1:MEMBER].hex().encode())
                    self.put(b'"')
                self.put(b',"spellings":[')
                begins = True
            else:
                self.put(b",")
            self.put(b'{"spelling":')
            self.put_text(at + MEMBER, size - MEMBER)
            self.put(b",")
            self.put(place)
            self.put(b',"rows":')
            self.put_number(load_big_word(at + 16))
            self.rows += load_big_word(at + 16)
            self.put(b',"by":')
            self.put(b"null" if begins else self.levels[at[LEVEL]])
            self.put(b"}")
            at += size
        return (<const char *>self.lines.data)[:self.lines.size] if self.lines.size else b""

    def finish(self):
        """Return the last bytes of the report."""
        self.lines.size = 0
        self.end_group()
        return (<const char *>self.lines.data)[:self.lines.size] if self.lines.size else b""

    cdef int end_group(self) except -1:
        if self.groups:
            self.put(b'],"rows":')
            self.put_number(self.rows)
            self.put(b"}\n")
        self.rows = 0
        return 0

    cdef inline int put(self, bytes text) except -1:
        return append(&self.lines, PyBytes_AS_STRING(text), <size_t>len(text))

    cdef int put_text(self, const uint8_t *text, size_t n) except -1:
        reserve(&self.lines, 6 * n + 2)
        self.lines.size += escape_json(text, n, self.lines.data + self.lines.size)
        return 0

    cdef int put_number(self, uint64_t number) except -1:
        reserve(&self.lines, DIGITS)
        self.lines.size += write_decimal(number, self.lines.data + self.lines.size)
        return 0
