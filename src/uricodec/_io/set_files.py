"""Files of saved sets: what those of identifiers, hosts and prefixes have in common.

    header | description | data | directory

docs/reference/saved_sets.md describes the format. The header, the description and the directory are checked when a set
is opened; the directory has the checksums of the data, for what uses them.
"""

from __future__ import annotations

import mmap
import os
from _thread import allocate_lock
from stat import S_ISREG
from struct import Struct
from typing import Any, NamedTuple

from uricodec._base._fingerprint import FingerprintKey
from uricodec._io import streams
from uricodec._io.sources import without_waiting
from uricodec.errors import SetError

MAGIC = b"\x89SEEN\r\n\x1a"
VERSION = 1

# Magic, version, size of the description, count, bits of the table, bits of the shard, shard, key, check of the
# key, digest of the description, digest of all but the data.
HEADER = Struct("<8sIIQIIQ64s16s16s8x16s")
ROW = 16  # bytes of a row of the directory
MOST_BITS = 48

# The normal forms of this version of uricodec: a release that changes one of them has another number here.
FORMS = 1


def digest_of(*parts: bytes) -> Any:
    """Return the BLAKE2b hash, of 16 bytes, of bytes; more may follow."""
    from hashlib import blake2b

    found = blake2b(digest_size=16)
    for part in parts:
        found.update(part)
    return found


def described(values: dict[str, Any]) -> bytes:
    """Return what a description says as JSON, in one way, without the spaces at its end."""
    import json

    return json.dumps(values | {"forms": FORMS}, sort_keys=True, separators=(",", ":")).encode()


def padded(description: bytes, unit: int = ROW) -> bytes:
    """Return a description as it is in the file, where the data after it start at a multiple of `unit`."""
    return description + b" " * (-(HEADER.size + len(description) + 1) % unit) + b"\n"


# What opens the sets of each kind; all other kinds are identifiers.
OPENED_BY = {"hosts": "uricodec.uri.HostSet", "prefixes": "uricodec.uri.PrefixSet"}


def opened_by(description: bytes) -> str:
    """Return the name of the class that opens a set with this description; "" if it is damaged."""
    import json

    try:
        kind = json.loads(description)["kind"]
    except (ValueError, LookupError, TypeError):
        return ""
    return OPENED_BY.get(kind, "uricodec.dedup.SeenSet") if isinstance(kind, str) else ""


class Layout(NamedTuple):
    """How large the parts of a file are that its header does not say: the data, and the directory after them."""

    data: int
    directory: int


class StoredSet:
    """An open file with a saved set: the base class of each kind.

    Args:
        file (io.FileIO): The file, which close() closes.
        name (str): The file, as a message shows it.
        key (FingerprintKey | None): The key of the fingerprints; None: that in the file.
        maps (bool): Whether to map the file to memory: faster, but the system counts what was read as memory of the
            process.

    Attributes:
        name (str): As above.
        key (FingerprintKey): The key.
        count (int): The number of items.
        digest (bytes): Sets with equal digests are equal.

    Raises:
        SetError: If the file is not a saved set or is damaged, or the key is missing or another one.
        FileError: If the file cannot be read.
    """

    def __init__(self, file: Any, name: str, key: FingerprintKey | None = None, maps: bool = False) -> None:
        self.name, self._file, self._lock = name, file, allocate_lock()
        self._map: mmap.mmap | None = None
        try:
            self._open(key, maps)
        except (OSError, MemoryError) as error:
            self.close()
            raise self.fail(error) from None
        except BaseException:
            self.close()
            raise

    made_by: str  # the name of the class that opens these files

    def _layout(self, count: int, bits: int, description: bytes) -> Layout:
        """Return how large the parts are. The description may be damaged."""
        raise NotImplementedError

    def _read_description(self, description: bytes) -> None:
        """Take over what the description says.

        Raises:
            ValueError: If this version of uricodec does not know it.
        """
        raise NotImplementedError

    def _use(self, directory: bytes) -> None:
        """Take over the directory. Raise ValueError if it is damaged."""
        raise NotImplementedError

    def _open(self, key: FingerprintKey | None, maps: bool) -> None:
        status = os.fstat(self._file.fileno())
        if not S_ISREG(status.st_mode):
            raise self._error("not a saved set: not a regular file")
        self._version = status.st_size, status.st_mtime_ns
        header = self._read(0, min(HEADER.size, status.st_size))
        if not header.startswith(MAGIC) or len(header) < HEADER.size:
            kind = "truncated saved set" if header and MAGIC.startswith(header[: len(MAGIC)]) else "not a saved set"
            raise self._error(kind)
        fields = HEADER.unpack(header)
        _, version, size, self.count, self._bits, shard_bits, shard, material, key_check, _, checksum = fields
        if version != VERSION:
            raise self._error(f"saved set of format {version}; this version of uricodec reads format {VERSION}")
        self._place = HEADER.size + size
        description = self._read(HEADER.size, min(size, max(status.st_size - HEADER.size, 0)))
        bits = min(self._bits, MOST_BITS)
        other = opened_by(description)
        if other not in ("", self.made_by):
            raise self._error(f"not a set of this kind: open it with {other}.open()")
        layout = self._layout(self.count, bits, description)
        expected = self._place + layout.data + layout.directory
        if self._bits > MOST_BITS or shard_bits > MOST_BITS or status.st_size != expected:
            raise self._error(f"damaged saved set: {status.st_size} bytes instead of {expected}")
        directory = self._read(self._place + layout.data, layout.directory)
        sealed = digest_of(header[:-ROW], description, directory)
        if sealed.digest() != checksum:
            raise self._error("damaged saved set: header, description or directory")
        self.digest, self._shard = checksum, (shard_bits, shard)
        try:
            self._read_description(description)
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise self._unreadable(description, error) from None
        self.key = self._key_of(material, key)
        if self.key.fingerprint(b"") != key_check:
            raise self._error("the saved set has another secret")
        if maps and self.count:
            self._map = mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ)
        try:
            self._use(directory)
        except ValueError as error:
            raise self._error(f"damaged saved set: {error}") from None

    @property
    def number(self) -> int:
        """The descriptor of the file."""
        return self._file.fileno()  # type: ignore[no-any-return]

    def _key_of(self, material: bytes, given: FingerprintKey | None) -> FingerprintKey:
        if not any(material):
            if given is None:
                raise self._error("the saved set needs the secret that it was made with")
            return given
        stored = FingerprintKey(_material=material)
        if given is not None and given != stored:
            raise self._error("the saved set has another secret")
        return stored

    def _read(self, place: int, size: int) -> bytes:
        with self._lock:  # threads share the position in the file
            self._file.seek(place)
            found = self._file.read(size)
            while len(found) < size:
                more = self._file.read(size - len(found))
                if not more:
                    raise OSError(None, "file was truncated")
                found += more
        return found

    def _error(self, reason: str) -> SetError:
        return SetError(f"{self.name}: {reason}")

    def _unreadable(self, description: bytes, reason: object) -> SetError:
        return self._error(f"cannot read {description.decode(errors='replace').rstrip()}: {reason}")

    def fail(self, error: BaseException) -> Exception:
        """Return the error for what went wrong with the file."""
        if self._file.closed:
            return ValueError("cannot use a closed set")
        return streams.failure(self.name, error) if isinstance(error, OSError) else self._error(str(error))

    def check_unchanged(self) -> None:
        """Raise FileError if the file was written to after it was opened: what is mapped may be gone."""
        status = os.fstat(self._file.fileno())
        # Not the change time: that changes, too, when another file takes the name of this one.
        if (status.st_size, status.st_mtime_ns) != self._version:
            raise streams.FileError(self.name, "file was changed while it was read")

    def close(self) -> None:
        """Close the file, and free the memory that it is mapped to."""
        if self._map is not None:
            self._map.close()
        self._file.close()

    def __del__(self) -> None:
        self.close()  # a set that is not used any more disappears quietly, as others do


def open_file(path: str) -> tuple[Any, str]:
    """Open a file with a saved set; return it, and its name for messages.

    Raises:
        FileError: If it cannot be opened.
    """
    name = streams.printable(path)
    try:
        # A named pipe is an error, not a wait.
        return open(path, "rb", buffering=0, opener=without_waiting), name
    except (OSError, ValueError) as error:
        raise streams.failure(name, error) from None
