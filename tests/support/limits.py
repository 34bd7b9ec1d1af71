"""Limits of the row engine, lowered, so that few rows reach them."""

import ctypes
from contextlib import contextmanager

from uricodec._rows import _engine, _tasks

pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]


def variable(module, name):
    """Return a C variable that the modules of the package share, as an object with a `value`."""
    return ctypes.c_size_t.from_address(pointer_of(module.__pyx_capi__[name], b"size_t"))


MODULES = {"most_rows": _engine, "most_bytes": _engine, "limit_of_offsets": _tasks}


@contextmanager
def lowered(**limits):
    """Lower the rows (most_rows) or bytes (most_bytes) of a block, or the size from which on offsets have 64 bits
    (limit_of_offsets); None: as it is."""
    variables = [variable(MODULES[name], name) for name in limits]
    before = [each.value for each in variables]
    for each, limit in zip(variables, limits.values(), strict=True):
        each.value = each.value if limit is None else limit
    try:
        yield
    finally:
        for each, limit in zip(variables, before, strict=True):
            each.value = limit
