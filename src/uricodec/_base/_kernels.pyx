"""The kernel table, the CPU tiers and ByteSet.

The table starts with the portable definitions, which other modules register when they are imported. Each tier up to the
selected one then overwrites the entries of the kernels that it has. The tier is selected when this module is imported:
the best that the CPU supports, or the one that the environment variable URICODEC_TIER names.
"""
import os

cimport cython
from cpython.buffer cimport PyBUF_SIMPLE, PyBUF_WRITABLE, PyBuffer_Release, PyObject_CheckBuffer, PyObject_GetBuffer
from cpython.bytes cimport PyBytes_AS_STRING
from cpython.exc cimport PyErr_Clear, PyErr_ExceptionMatches
from cpython.number cimport PyNumber_Index
from cpython.ref cimport Py_DECREF, PyObject
from libc.string cimport memcmp, memcpy, memset


cdef extern from "Python.h":
    PyObject *PyObject_CallOneArg(object function, object argument) noexcept    # NULL: an exception is set


cdef uc_kernels portable
cdef size_t chosen      # how many rows of uc_tiers overwrite the portable kernels


cdef void lay(uc_kernels *over, const uc_kernels *row) noexcept:
    """Copy every kernel that the row has. The struct consists of function pointers only."""
    cdef void **to = <void **>over
    cdef void **each = <void **>row
    cdef size_t i
    for i in range(sizeof(uc_kernels) // sizeof(void *)):
        if each[i] != NULL:
            to[i] = each[i]


cdef void assemble() noexcept:
    cdef uc_kernels table = portable
    cdef size_t i
    for i in range(chosen):
        if runs_here(i):
            lay(&table, uc_tiers[i].kernels)
    global kernels
    kernels = table


cdef int provide(const uc_kernels *loops) except -1:
    lay(&portable, loops)
    assemble()
    return 0


cdef bint runs_here(size_t i) noexcept:
    return uc_tiers[i].needs & uc_cpu_features() == uc_tiers[i].needs


def cpu_tiers():
    """Return the names of the kernel tiers that this CPU supports, the slowest first.

    Returns:
        tuple[str, ...]: "portable", and the supported tiers of this build.

    >>> cpu_tiers()[0]
    'portable'
    """
    cdef list names = ["portable"]
    for i in range(uc_tier_count):
        if runs_here(i):
            names.append(uc_tiers[i].name.decode())
    return tuple(names)


def cpu_tier():
    """Return the name of the kernel tier in use.

    It is the best one that the CPU supports, unless the environment variable URICODEC_TIER named another when uricodec
    was imported.

    Returns:
        str: One of `cpu_tiers()`.

    >>> cpu_tier() in cpu_tiers()
    True
    """
    return uc_tiers[chosen - 1].name.decode() if chosen else "portable"


def use_tier(name):
    """Select another kernel tier for the whole process. Only for tests and benchmarks, while no other call is running.

    Args:
        name (str): One of `cpu_tiers()`.

    Raises:
        ValueError: If the tier is unknown, or the CPU does not support it.

    >>> use_tier("mmx")
    Traceback (most recent call last):
    ValueError: kernel tier 'mmx' is not available on this CPU; choose from ...
    """
    global chosen
    if name not in cpu_tiers():
        raise ValueError(f"kernel tier {name!r} is not available on this CPU; choose from {', '.join(cpu_tiers())}")
    chosen = 0
    for i in range(uc_tier_count):
        if uc_tiers[i].name.decode() == name:
            chosen = i + 1
    assemble()


@cython.final
cdef class ByteSet:
    """An immutable set of bytes, for example of those that an encoder keeps.

    Sets are values: combine them with `|`, `&`, `-`, `^` and `~` (the complement in 0..255). An operand of another type
    is converted to a ByteSet first.

    Args:
        members (str | bytes-like | ByteSet | Iterable[int]): The members: ASCII characters, bytes, or integers 0..255.

    Raises:
        ValueError: If a character is not ASCII, or an integer is not in 0..255.
        TypeError: If the argument has another type.

    >>> digits = ByteSet("0123456789")
    >>> ord("7") in digits, len(~digits)
    (True, 246)
    >>> digits - b"89" | "x"
    ByteSet(b'01234567x')
    """

    def __cinit__(self, members=()):
        if isinstance(members, ByteSet):
            self.set = (<ByteSet>members).set
            self.ascii = (<ByteSet>members).ascii
            return
        memset(&self.set, 0, sizeof(uc_set))
        self.ascii = True
        if isinstance(members, str):
            if not members.isascii():
                for member in members:
                    if not member.isascii():
                        raise ValueError(f"expected ASCII characters, got {member!r}")
            members = members.encode("ascii")
        elif PyObject_CheckBuffer(members):
            members = bytes(memoryview(members))
        for member in members:
            member = PyNumber_Index(member)
            if not 0 <= member <= 255:
                raise ValueError(f"expected integers from 0 to 255, got {member!r}")
            add_byte(&self.set, member)
            if member > 127:
                self.ascii = False

    def __contains__(self, byte):
        byte = PyNumber_Index(byte)
        return 0 <= byte <= 255 and self.set.member[<uint8_t>byte] == 1

    def __iter__(self):
        return iter(bytes(self))

    def __len__(self):
        cdef Py_ssize_t total = 0
        for c in range(256):
            total += self.set.member[c]
        return total

    def __bytes__(self):
        members = bytearray()
        for c in range(256):
            if self.set.member[c]:
                members.append(c)
        return bytes(members)

    def __eq__(self, other):
        if not isinstance(other, ByteSet):
            return NotImplemented
        return memcmp(self.set.member, (<ByteSet>other).set.member, 256) == 0

    def __hash__(self):
        return hash(bytes(self))

    def __or__(self, other):
        return combine(self, other, 0)

    def __ror__(self, other):
        return combine(other, self, 0)

    def __and__(self, other):
        return combine(self, other, 1)

    def __rand__(self, other):
        return combine(other, self, 1)

    def __sub__(self, other):
        return combine(self, other, 2)

    def __rsub__(self, other):
        return combine(other, self, 2)

    def __xor__(self, other):
        return combine(self, other, 3)

    def __rxor__(self, other):
        return combine(other, self, 3)

    def __invert__(self):
        return ByteSet(range(256)) - self

    def __repr__(self):
        return f"ByteSet({bytes(self)!r})"

    def __reduce__(self):
        return ByteSet, (bytes(self),)


cdef ByteSet set_of(object operand):
    """Return an operand as a ByteSet; None if its type cannot be converted."""
    cdef PyObject *made
    if type(operand) is ByteSet:
        return operand
    made = PyObject_CallOneArg(ByteSet, operand)
    if made == NULL and PyErr_ExceptionMatches(TypeError):
        PyErr_Clear()
        return None
    if made == NULL:
        raise_set()
    result = <object>made
    Py_DECREF(result)
    return result


cdef combine(left, right, int operation):
    """Return the union, intersection, difference or symmetric difference of two operands, one of them a ByteSet."""
    cdef ByteSet a = set_of(left), b = set_of(right)
    if a is None or b is None:
        return NotImplemented
    cdef list members = []
    cdef bint x, y
    for c in range(256):
        x, y = a.set.member[c], b.set.member[c]
        if (x or y) if operation == 0 else (x and y) if operation == 1 else (x and not y) if operation == 2 else x != y:
            members.append(c)
    return ByteSet(members)


cdef size_t span(const uint8_t *src, size_t n, const uc_set *set) noexcept nogil:
    cdef size_t i
    for i in range(n):
        if not set.member[src[i]]:
            return i
    return n


cdef size_t count_outside(const uint8_t *src, size_t n, const uc_set *set) noexcept nogil:
    cdef size_t i, count = 0
    for i in range(n):
        count += 1 - set.member[src[i]]
    return count


# The entries of the table, in the order of the struct.
cdef tuple KERNEL_NAMES = (
    "span", "count_outside", "mark_outside", "mark_classes", "mark_triplets", "move_ends", "encode", "decode",
    "upper_triplets", "normalize_urns", "span_urns", "scan_utf8", "to_utf8", "from_utf8",
)


cdef int check_kernel(name) except -1:
    """Raise an error for an unknown kernel, and for one whose module has not registered it yet."""
    if len(KERNEL_NAMES) != sizeof(uc_kernels) // sizeof(void *):
        raise SystemError("KERNEL_NAMES differs from uc_kernels")  # pragma: no cover: cannot happen
    if name not in KERNEL_NAMES:
        raise ValueError(f"unknown kernel {name!r}; choose from {', '.join(KERNEL_NAMES)}")
    if (<void **>&kernels)[<size_t>KERNEL_NAMES.index(name)] == NULL:
        raise RuntimeError(f"kernel {name!r} is not registered yet; import the module that defines it first, such as uricodec.urn")
    return 0


def run_kernel(name, src, dst=None, byte_set=ByteSet(), plus=False, width=1, end=10, nid=ByteSet(), classes=b""):
    """Run one kernel of the tier in use on buffers. Only for tests: loops call kernels directly.

    Args:
        name (str): The name of the kernel in simd/kernels.h.
        src (bytes-like): The input.
        dst (bytes-like | None): The output, writable, for kernels that have one: whole words for "mark_outside", twice
            as many for "mark_triplets", four times as many for "mark_classes", len(src) bytes for "upper_triplets" and
            "normalize_urns", a code unit per character for "from_utf8", and the capacity that simd/kernels.h requires
            for "to_utf8". For "move_ends" the ends, which become the moved ones, and four bytes more for each word of
            src.
        byte_set (ByteSet): The set, for kernels that have one.
        plus (bool): The option of "encode" and "decode".
        width (int): Bytes of a code unit: 1, 2 or 4. For "move_ends", by how much a mark moves what follows.
        end (int): The byte that ends a line.
        nid (ByteSet): The second set of "span_urns".
        classes (bytes): The 36 bytes of uc_classes.

    Returns:
        int | tuple[int, int, int]: The result of the kernel (0 if it has none); -1 if the output is too small, or for a
            surrogate; for "scan_utf8" also the contents of uc_utf8.

    Raises:
        RuntimeError: If the module that defines the kernel was not imported, and no tier in use has the kernel.

    >>> run_kernel("span", b"abc/", byte_set=ByteSet("abc"))
    3
    >>> run_kernel("scan_utf8", b"d\\xc3\\xa9j\\xc3\\xa0\\xff")
    (6, 4, 195)
    """
    cdef Py_buffer source, target
    cdef const uc_set *set = &(<ByteSet?>byte_set).set
    cdef const uint8_t *s
    cdef uint8_t *d
    cdef uint32_t *ends
    cdef size_t n, cap, words, result = 0
    cdef uc_utf8 found
    cdef uc_classes four
    check_kernel(name)
    PyObject_GetBuffer(src, &source, PyBUF_SIMPLE)
    try:
        PyObject_GetBuffer(bytearray() if dst is None else dst, &target, PyBUF_WRITABLE)
        try:
            s, n = <const uint8_t *>source.buf, <size_t>source.len
            d, cap = <uint8_t *>target.buf, <size_t>target.len
            words = (n + 63) // 64
            if name == "span":
                result = kernels.span(s, n, set)
            elif name == "count_outside":
                result = kernels.count_outside(s, n, set)
            elif name == "span_urns":
                result = kernels.span_urns(s, n, &(<ByteSet?>nid).set, set, end)
            elif name == "scan_utf8":
                result = kernels.scan_utf8(s, n, &found)
                return result, found.characters, found.highest
            elif name == "encode":
                result = kernels.encode(s, n, set, plus, d, cap)
            elif name == "decode":
                result = kernels.decode(s, n, plus, d, cap)
            elif name == "move_ends":
                words = n // 8
                ends = <uint32_t *>d
                result = kernels.move_ends(<const uint64_t *>s, words, ends, cap // 4 - words, <uint32_t>width, ends,
                                           ends + cap // 4 - words)
            elif name == "from_utf8":
                kernels.from_utf8(s, n, width, d, cap // <size_t>width)
            elif cap < (8 * words if name == "mark_outside" else 16 * words if name == "mark_triplets" else
                        32 * words if name == "mark_classes" else
                        n if name != "to_utf8" else n * 2 if width == 1 else n // <size_t>width * (3 if width == 2 else 4)):
                result = UC_FULL
            elif name == "mark_outside":
                kernels.mark_outside(s, n, set, <uint64_t *>d)
            elif name == "mark_classes":
                if len(classes) != sizeof(uc_classes):
                    raise ValueError(f"classes must have {sizeof(uc_classes)} bytes, got {len(classes)}")
                memcpy(&four, PyBytes_AS_STRING(classes), sizeof(uc_classes))
                kernels.mark_classes(s, n, &four, <uint64_t *>d)
            elif name == "mark_triplets":
                result = kernels.mark_triplets(s, n, <uint64_t *>d, <uint64_t *>d + words)
            elif name == "upper_triplets":
                kernels.upper_triplets(s, n, d)
            elif name == "normalize_urns":
                kernels.normalize_urns(s, n, end, d)
            else:
                result = kernels.to_utf8(s, n // <size_t>width, width, d)
        finally:
            PyBuffer_Release(&target)
    finally:
        PyBuffer_Release(&source)
    return -1 if result == UC_FULL else result


cdef void mark_outside(const uint8_t *src, size_t n, const uc_set *set, uint64_t *bits) noexcept nogil:
    cdef size_t i
    for i in range(n):
        if i % 64 == 0:
            bits[i // 64] = 0
        if not set.member[src[i]]:
            bits[i // 64] |= <uint64_t>1 << i % 64


cdef inline uint32_t sets_of(uint8_t byte, const uc_classes *classes) noexcept nogil:
    """Return in the lowest bit of byte k whether a byte is in set k."""
    cdef uint8_t found = classes.low[byte & 15] & classes.high[byte >> 4]
    return (<uint32_t>(found & classes.mask[0] != 0) | <uint32_t>(found & classes.mask[1] != 0) << 8
            | <uint32_t>(found & classes.mask[2] != 0) << 16 | <uint32_t>(found & classes.mask[3] != 0) << 24)


cdef void mark_classes(const uint8_t *src, size_t n, const uc_classes *classes, uint64_t *bits) noexcept nogil:
    cdef size_t words = (n + 63) // 64, w, i, k
    cdef uint64_t word[4]
    cdef uint32_t table[256]
    cdef uint32_t found = 0
    cdef bint many = n >= 512
    if many:
        for i in range(256):
            table[i] = sets_of(<uint8_t>i, classes)
    for w in range(words):
        memset(word, 0, sizeof(word))
        for i in range(64 * w, min(64 * w + 64, n)):
            found |= (table[src[i]] if many else sets_of(src[i], classes)) << (i & 7)
            if i & 7 == 7 or i + 1 == n:
                for k in range(4):
                    word[k] |= <uint64_t>(found >> 8 * k & 0xFF) << (i & 56)
                found = 0
        for k in range(4):
            bits[k * words + w] = word[k]


cdef int move_ends(const uint64_t *marks, size_t words, const uint32_t *ends, size_t n, uint32_t by, uint32_t *moved,
                   uint32_t *counts) noexcept nogil:
    cdef size_t w, i
    cdef uint32_t end, sum = 0
    cdef uint64_t word, found = 0
    for w in range(words):
        counts[w] = sum
        sum += bits_of(marks[w])
    for i in range(n):
        end = ends[i]
        word = marks[end >> 6]
        found |= word >> (end & 63)
        moved[i] = end + by * (counts[end >> 6] + bits_of(word & ((<uint64_t>1 << (end & 63)) - 1)))
    return found & 1


cdef uc_kernels loops
loops.span = span
loops.mark_outside = mark_outside
loops.mark_classes = mark_classes
loops.move_ends = move_ends
loops.count_outside = count_outside
provide(&loops)
cdef size_t row
for row in range(uc_tier_count):
    uc_tiers[row].prepare()
use_tier(os.environ.get("URICODEC_TIER") or max(cpu_tiers(), key=cpu_tiers().index))


# --- sets -------------------------------------------------------------------------------------------------------------

# RFC 5234 appendix B.1:  ALPHA = %x41-5A / %x61-7A    DIGIT = %x30-39    HEXDIG, with the small letters of RFC 3986
ALPHA = ByteSet(range(0x41, 0x5B)) | ByteSet(range(0x61, 0x7B))
DIGIT = ByteSet(range(0x30, 0x3A))
ALPHANUM = ALPHA | DIGIT
HEXDIG = DIGIT | "ABCDEFabcdef"

# RFC 3986 section 2.3:   unreserved = ALPHA / DIGIT / "-" / "." / "_" / "~"
UNRESERVED = ALPHANUM | "-._~"
# RFC 3986 section 2.2:   sub-delims = "!" / "$" / "&" / "'" / "(" / ")" / "*" / "+" / "," / ";" / "="
SUB_DELIMS = ByteSet("!$&'()*+,;=")

ALL_BYTES = ByteSet(range(256))
ASCII_BYTES = ByteSet(range(128))

# Names of C are not attributes of the module.
globals().update(ALPHA=ALPHA, DIGIT=DIGIT, UNRESERVED=UNRESERVED)
