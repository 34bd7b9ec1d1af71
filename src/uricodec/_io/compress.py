"""Compressed inputs: gzip (RFC 1952), bzip2, xz and Zstandard (RFC 8878), known by the octets with which they begin.

The modules are those of the standard library, and faster ones where they are installed: isal for gzip, and for
Zstandard backports.zstd before Python 3.14. Each is imported when there is something for it to read. Whatever the file
says, no more is decompressed at once than there is room for.
"""

import sys
from importlib import import_module

from uricodec._io import streams

# What a file begins with: what that is called. bzip2: the size of blocks, and what begins the first one, or ends all.
MAGIC = {
    b"\x1f\x8b": "gzip",
    **{b"BZh%d1AY&SY" % size: "bzip2" for size in range(1, 10)},
    **{b"BZh%d\x17rE8P\x90" % size: "bzip2" for size in range(1, 10)},
    b"\xfd7zXZ\x00": "xz",
    b"\x28\xb5\x2f\xfd": "zstd",
    **{bytes([octet]) + streams.SKIPPABLE: "zstd" for octet in range(0x50, 0x60)},
}
LONGEST = max(map(len, MAGIC))

# The header of an xz file says how much memory it takes to read: not more than that. (Zstandard has 128 MiB by itself.)
XZ_MEMORY = 256 * 1024 * 1024

# Which modules can read it, the best first.
MODULES = {
    "gzip": ["isal.isal_zlib", "zlib"],
    "bzip2": ["bz2"],
    "xz": ["lzma"],
    "zstd": ["compression.zstd", "backports.zstd"],
}
# What makes a reader of one member with such a module, and the error of that.
MAKERS = {
    "isal.isal_zlib": lambda module: (lambda: Deflated(module.decompressobj(wbits=31)), module.error),
    "zlib": lambda module: (lambda: Deflated(module.decompressobj(wbits=31)), module.error),
    "bz2": lambda module: (module.BZ2Decompressor, OSError),
    "lzma": lambda module: (lambda: module.LZMADecompressor(module.FORMAT_XZ, XZ_MEMORY), module.LZMAError),
    "compression.zstd": lambda module: (module.ZstdDecompressor, module.ZstdError),
    "backports.zstd": lambda module: (module.ZstdDecompressor, module.ZstdError),
}


def format_of(octets):
    """How octets (bytes-like) are compressed that a file begins with, None for not at all.

    >>> format_of(b"BZh91AY&SY"), format_of(b"BZh is text")
    ('bzip2', None)
    """
    head = bytes(octets[:LONGEST])
    return next((name for magic, name in MAGIC.items() if head.startswith(magic)), None)


def may_be(octets):
    """Whether the first octets (bytes-like) of a file are too few to say how it is compressed."""
    head = bytes(octets)
    return any(magic != head and magic.startswith(head) for magic in MAGIC)


def begins_with(octets, form):
    """Whether octets (bytes-like) are the beginning of data in a format, as far as they go.

    >>> begins_with(b"\\x1f", "gzip"), begins_with(b"tail", "gzip")
    (True, False)
    """
    head = bytes(octets[:LONGEST])
    return any(head.startswith(magic[: len(head)]) for magic, name in MAGIC.items() if name == form)


# Modules that are not installed: each input would search the path for them again.
missing: set[str] = set()


def find_module(form):
    """Import the best module that is there for a format; None if there is none."""
    for name in MODULES[form]:
        if name in missing and name not in sys.modules:
            continue
        try:
            return name, import_module(name)
        except ImportError:
            if name not in sys.modules:
                missing.add(name)
    return None


class Deflated:
    """A decompressor of zlib, or one like it, with the methods that the others have."""

    def __init__(self, decompressor):
        self._decompressor = decompressor
        self._rest, self._full = b"", False

    @property
    def eof(self):
        return self._decompressor.eof

    @property
    def unused_data(self):
        return self._decompressor.unused_data

    @property
    def needs_input(self):
        return not self._rest and not self._full

    def decompress(self, data, max_length):
        result = self._decompressor.decompress(data or self._rest, max_length)
        self._rest = self._decompressor.unconsumed_tail
        self._full = len(result) == max_length  # there may be more of it
        return result


class Reader:
    """What the members of a compressed file hold, one after the other. Zeros may follow the last one, nothing else.

    Args:
        name (str): Of the file, for messages.
        form (str): "gzip", "bzip2", "xz" or "zstd".
        read_into (Callable): Reads more of the file, as Input.read_into().
        head (bytes): What has been read of it.

    Raises:
        FileError: No module can read it; or it is damaged, or ends too early. What came before has been read then.
    """

    def __init__(self, name, form, read_into, head):
        found = find_module(form)
        if found is None:
            hint = " (Python 3.14, or pip install 'uricodec[compress]')" if form == "zstd" else ""
            raise streams.FileError(name, f"{form} data, and no module that reads them{hint}")
        self._new_member, self._error = MAKERS[found[0]](found[1])
        self._name, self._form = name, form
        self._read_into = read_into
        self._buffer = memoryview(bytearray(streams.COMPRESSED_CHUNK))
        self._rest = head  # read, but not decompressed yet
        self._done = 0
        self._member = self._new_member()

    def read_into(self, view):
        """Decompress at most len(view) octets; 0 at the end."""
        while True:
            if self._member.eof:
                self._rest = self._member.unused_data.lstrip(b"\0")
                while not self._rest and self._read():
                    self._rest = bytes(self._rest).lstrip(b"\0")
                if not self._rest:
                    return 0
                if not begins_with(self._rest, self._form):  # some modules would wait for more of a header
                    raise streams.FileError(self._name, f"damaged {self._form} data (something else behind them)")
                self._member = self._new_member()
            elif self._member.needs_input and not self._rest and not self._read():
                raise streams.FileError(self._name, f"truncated {self._form} data (after {self._done} octets)")
            try:
                data = self._member.decompress(self._rest, len(view))
            except (self._error, EOFError) as error:
                raise streams.FileError(
                    self._name, f"damaged {self._form} data ({error}; after {self._done} octets)"
                ) from None
            self._rest = b""
            if data:
                view[: len(data)] = data
                self._done += len(data)
                return len(data)

    def _read(self):
        self._rest = self._buffer[: self._read_into(self._buffer)]
        return len(self._rest)
