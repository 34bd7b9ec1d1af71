"""The kernel table, the CPU tiers and ByteSet.

simd/dispatch.c lists the tiers. One is selected when this module is imported: the best that the CPU supports, or the one
that the environment variable URICODEC_TIER names.
"""
import os

cimport cython
from cpython.buffer cimport PyObject_CheckBuffer
from libc.string cimport memcmp, memset

from uricodec._base._cpython cimport Py_DECREF, PyErr_Clear, PyErr_ExceptionMatches, PyNumber_Index, PyObject


cdef extern from "Python.h":
    PyObject *PyObject_CallOneArg(object function, object argument) noexcept    # NULL: an exception is set


cdef size_t chosen      # the row of uc_tiers


cdef void assemble() noexcept:
    """Fill the table: each tier up to the chosen one overwrites the entries of the kernels that it has."""
    cdef uc_kernels table
    cdef void **to = <void **>&table
    cdef void **each
    cdef size_t i, k
    for i in range(chosen + 1):
        each = <void **>uc_tiers[i].kernels
        if runs_here(i):
            for k in range(sizeof(uc_kernels) // sizeof(void *)):   # the struct consists of function pointers only
                if each[k] != NULL:
                    to[k] = each[k]
    global kernels, portable
    kernels, portable = table, chosen == 0


cdef bint runs_here(size_t i) noexcept:
    return uc_tiers[i].needs & uc_cpu_features() == uc_tiers[i].needs


def cpu_tiers():
    """Return the names of the kernel tiers that this CPU supports, the slowest first.

    Returns:
        tuple[str, ...]: "portable", and the supported tiers of this build.

    >>> cpu_tiers()[0]
    'portable'
    """
    cdef list names = []
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
    return uc_tiers[chosen].name.decode()


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
    for i in range(uc_tier_count):
        if uc_tiers[i].name.decode() == name:
            chosen = i
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
        reraise()
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
