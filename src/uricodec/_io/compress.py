"""Decompression of inputs: gzip (RFC 1952), bzip2, xz and Zstandard (RFC 8878), detected by their first bytes.

Decompression uses the standard library's modules, or faster ones if they are installed: isal for gzip and, before
Python 3.14, backports.zstd for Zstandard. Each module is imported when the first input needs it. A read decompresses
no more than the caller's buffer holds, whatever sizes the file declares.
"""

import sys
from importlib import import_module

from uricodec._io.files import FileError
from uricodec._io.magic import begins_with

# Bytes of a file that are read at once.
COMPRESSED_CHUNK = 64 * 1024

# Upper limit for the memory that the header of an xz file may ask for. (Zstandard's own limit is 128 MiB.)
XZ_MEMORY = 256 * 1024 * 1024

# Format -> modules that read it, the preferred one first.
MODULES = {
    "gzip": ["isal.isal_zlib", "zlib"],
    "bzip2": ["bz2"],
    "xz": ["lzma"],
    "zstd": ["compression.zstd", "backports.zstd"],
}
# Module -> a function that returns a factory of decompressors for one member, and the exception they raise.
MAKERS = {
    "isal.isal_zlib": lambda module: (lambda: Deflated(module.decompressobj(wbits=31)), module.error),
    "zlib": lambda module: (lambda: Deflated(module.decompressobj(wbits=31)), module.error),
    "bz2": lambda module: (module.BZ2Decompressor, OSError),
    "lzma": lambda module: (lambda: module.LZMADecompressor(module.FORMAT_XZ, XZ_MEMORY), module.LZMAError),
    "compression.zstd": lambda module: (module.ZstdDecompressor, module.ZstdError),
    "backports.zstd": lambda module: (module.ZstdDecompressor, module.ZstdError),
}


# Modules known to be missing, so that the import path is not searched again for each input.
missing: set[str] = set()


def find_module(form):
    """Import the preferred installed module for a format. Return its name and the module; None if none is installed."""
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
    """An adapter that gives a zlib decompressor the interface of the other decompressors."""

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
        self._full = len(result) == max_length  # there may be more output
        return result


class Decompressor:
    """A reader of the concatenated members of a compressed file. Zeros may follow the last one, nothing else.

    Args:
        name (str): The file's name, for messages.
        form (str): "gzip", "bzip2", "xz" or "zstd".
        read_into (Callable): Reads more of the compressed file, like Input.read_into().
        head (bytes): The bytes of the file that were read already.

    Raises:
        FileError: No module for the format is installed, or the data are damaged or truncated. Everything that comes
            before the damage has been returned by then.
    """

    def __init__(self, name, form, read_into, head):
        found = find_module(form)
        if found is None:
            hint = " (needs Python 3.14 or pip install 'uricodec[compress]')" if form == "zstd" else ""
            raise FileError(name, f"cannot decompress {form} data: module not installed{hint}")
        self._new_member, self._error = MAKERS[found[0]](found[1])
        self._name, self._form = name, form
        self._read_into = read_into
        self._buffer = memoryview(bytearray(COMPRESSED_CHUNK))
        self._rest = head  # read, but not yet decompressed
        self._done = 0
        self._member = self._new_member()

    def read_into(self, view):
        """Decompress at most len(view) bytes into `view`. Return their number; 0 at the end."""
        while True:
            if self._member.eof:
                self._rest = self._member.unused_data.lstrip(b"\0")
                while not self._rest and self._read():
                    self._rest = bytes(self._rest).lstrip(b"\0")
                if not self._rest:
                    return 0
                if not begins_with(self._rest, self._form):  # some modules would wait for the rest of a header
                    raise FileError(self._name, f"damaged {self._form} data (unexpected data after the end)")
                self._member = self._new_member()
            elif self._member.needs_input and not self._rest and not self._read():
                raise FileError(self._name, f"truncated {self._form} data (after {self._done} bytes)")
            try:
                data = self._member.decompress(self._rest, len(view))
            except (self._error, EOFError) as error:
                raise FileError(self._name, f"damaged {self._form} data ({error}; after {self._done} bytes)") from None
            self._rest = b""
            if data:
                view[: len(data)] = data
                self._done += len(data)
                return len(data)

    def _read(self):
        self._rest = self._buffer[: self._read_into(self._buffer)]
        return len(self._rest)
