"""Encode and decode buffers of a megabyte, compared with copying them (memcpy).

python -m pytest benchmarks
"""

import random
from urllib.parse import quote_from_bytes

import pytest
from data import LIBRARIES, Library, cases, cjk, clean, english, many, url

import uricodec

SIZE = 1 << 20
OUTPUT = bytearray(3 * SIZE)

# glibc gives large blocks back to the system at once; when a larger one has been freed it keeps them.
bytes(16 * SIZE)


def megabyte(text):
    return (text * (SIZE // len(text) + 1))[:SIZE]


RAW = {
    "clean": megabyte("".join(many(clean)).encode()),
    "English": megabyte(" ".join(many(english)).encode()),
    "CJK": megabyte("".join(many(cjk)).encode()),
    "URLs": megabyte("\n".join(many(url)).encode()),
    "random": random.Random(1).randbytes(SIZE),
}
INPUTS = {
    "quote_from_bytes": {f"{kind}, 1 MiB": [[data]] for kind, data in RAW.items()},
    # Nothing to decode: up to 3.11 the result is the argument.
    "unquote_to_bytes": {
        f"{kind}, 1 MiB": [[megabyte(quote_from_bytes(data).encode())]] for kind, data in RAW.items() if kind != "clean"
    },
}


def into(name, result):
    """Return the function that writes into the caller's buffer."""
    function = getattr(uricodec, name)
    return Library(lambda data: function(data, OUTPUT), result=lambda size: result(OUTPUT[:size]))


COPY = Library(bytes, lambda args: [list(map(bytearray, args[0]))], None)
BUFFER_LIBRARIES = {
    function: {**LIBRARIES[function], "uricodec into": into(*name_and_result), "memcpy": COPY}
    for function, *name_and_result in (
        ("quote_from_bytes", "quote_into", bytearray.decode),
        ("unquote_to_bytes", "unquote_into", bytes),
    )
}


@pytest.mark.parametrize(("function", "kind", "library"), cases(INPUTS, BUFFER_LIBRARIES))
def test_buffers(benchmark, measure, function, kind, library):
    benchmark.extra_info["bytes"] = SIZE
    measure(function, kind, library, INPUTS[function][kind], BUFFER_LIBRARIES[function])
