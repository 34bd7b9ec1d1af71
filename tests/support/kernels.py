"""The kernels of the tier in use, called directly: by way of the table that the loops of the package call through."""

import ctypes
import functools
from ctypes import CFUNCTYPE, POINTER, Structure, c_int, c_size_t, c_ssize_t, c_uint8, c_uint32, c_void_p

from uricodec import ByteSet
from uricodec._base import _kernels


class Set(Structure):
    """uc_set of simd/kernels.h."""

    _fields_ = [("member", c_uint8 * 256), ("low", c_uint8 * 16), ("high", c_uint8 * 16), ("bits", c_uint8 * 32)]


class Found(Structure):
    """uc_utf8."""

    _fields_ = [("characters", c_size_t), ("highest", c_uint8)]


SOURCE = c_void_p, c_size_t
SET = POINTER(Set)


class Table(Structure):
    """uc_kernels. As a signed number, UC_FULL is -1."""

    _fields_ = [
        ("span", CFUNCTYPE(c_ssize_t, *SOURCE, SET)),
        ("count_outside", CFUNCTYPE(c_ssize_t, *SOURCE, SET)),
        ("mark_outside", CFUNCTYPE(None, *SOURCE, SET, c_void_p)),
        ("mark_classes", CFUNCTYPE(None, *SOURCE, ctypes.c_char_p, c_void_p)),
        ("mark_triplets", CFUNCTYPE(c_int, *SOURCE, c_void_p, c_void_p)),
        ("move_ends", CFUNCTYPE(c_int, *SOURCE, c_void_p, c_size_t, c_uint32, c_void_p, c_void_p)),
        ("encode", CFUNCTYPE(c_ssize_t, *SOURCE, SET, c_int, c_void_p, c_size_t)),
        ("decode", CFUNCTYPE(c_ssize_t, *SOURCE, c_int, c_void_p, c_size_t)),
        ("upper_triplets", CFUNCTYPE(None, *SOURCE, c_void_p)),
        ("normalize_urns", CFUNCTYPE(None, *SOURCE, c_uint8, c_void_p)),
        ("span_urns", CFUNCTYPE(c_ssize_t, *SOURCE, SET, SET, c_uint8)),
        ("scan_utf8", CFUNCTYPE(c_ssize_t, *SOURCE, POINTER(Found))),
        ("to_utf8", CFUNCTYPE(c_ssize_t, *SOURCE, c_int, c_void_p)),
        ("from_utf8", CFUNCTYPE(None, *SOURCE, c_int, c_void_p, c_size_t)),
    ]


pointer_of = ctypes.PYFUNCTYPE(c_void_p, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_GetPointer", ctypes.pythonapi))
address_of_bytes = ctypes.PYFUNCTYPE(c_void_p, ctypes.py_object)(("PyBytes_AsString", ctypes.pythonapi))
TABLE = Table.from_address(pointer_of(_kernels.__pyx_capi__["kernels"], b"uc_kernels"))
NONE, EMPTY = bytearray(), ByteSet()


@functools.cache
def set_of(members):
    made = Set()
    for c in members:
        made.member[c] = 1
        made.bits[c // 8] |= 1 << c % 8
        (made.low if c < 128 else made.high)[c % 16] |= 1 << c // 16 % 8
    return made


def address_of(buffer):
    """The address of bytes, or of a buffer that can be written to."""
    if isinstance(buffer, bytes):
        return address_of_bytes(buffer)
    return ctypes.addressof((c_uint8 * 0).from_buffer(buffer))


def run_kernel(  # noqa: PLR0912, PLR0913, PLR0917
    name, src, dst=NONE, byte_set=EMPTY, plus=False, width=1, end=10, nid=EMPTY, classes=b""
):
    """What a kernel returns, 0 if that is nothing; for scan_utf8 also what it found.

    Args:
        src: The input: bytes, or a buffer that can be written to.
        dst: The output, with the capacity that simd/kernels.h requires: for mark_triplets the malformed ones, then the
            digits; for move_ends the ends, which become the moved ones, then its working memory.
        byte_set: The set, for kernels that have one; that of the NSS for span_urns.
        width: Bytes of a code unit. For move_ends, by how much a mark moves what follows.
    """
    kernel, s, d = getattr(TABLE, name), address_of(src), address_of(dst)
    n, capacity = memoryview(src).nbytes, memoryview(dst).nbytes
    match name:
        case "span" | "count_outside":
            more = (set_of(byte_set),)
        case "mark_outside":
            more = set_of(byte_set), d
        case "mark_classes":
            more = classes, d
        case "mark_triplets":
            more = d, d + (n + 63) // 64 * 8
        case "move_ends":
            n //= 8
            ends = capacity // 4 - n
            more = d, ends, width, d, d + 4 * ends
        case "encode":
            more = set_of(byte_set), plus, d, capacity
        case "decode":
            more = plus, d, capacity
        case "upper_triplets":
            more = (d,)
        case "normalize_urns":
            more = end, d
        case "span_urns":
            more = set_of(nid), set_of(byte_set), end
        case "to_utf8":
            n //= width
            more = width, d
        case "from_utf8":
            more = width, d, capacity // width
        case "scan_utf8":
            found = Found()
            return kernel(s, n, found), found.characters, found.highest
    return kernel(s, n, *more) or 0
