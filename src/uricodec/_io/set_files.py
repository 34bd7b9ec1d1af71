"""Files of saved sets: what those of identifiers, hosts and prefixes have in common.

    header | description | data | directory

docs/developing/fingerprint.md describes the format. The header, the description and the directory are checked when a
set is opened, and stay in memory; the directory has the checksums of the data, which are read and checked when they are
used. Other programs cannot change what was checked, and a file that becomes shorter is an error, not the end of the
process.
"""

from __future__ import annotations

import mmap
import os
from _thread import allocate_lock
from stat import S_ISREG
from struct import Struct
from typing import Any, NamedTuple

from uricodec._base._fingerprint import FingerprintKey
from uricodec._io.files import FileError, file_error, printable, read_at
from uricodec._io.sources import without_waiting
from uricodec.errors import SetError

MAGIC = b"\x89SEEN\r\n\x1a"
VERSION = 1

# Magic, version, size of the description, count, bits of the table, bits of the shard, shard, key, check of the
# key, digest of the description, digest of all but the data.
HEADER = Struct("<8sIIQIIQ64s16s16s8x16s")
ROW = 16  # bytes of a row of the directory
MOST_BITS = 48
SHOWN = 200  # characters of a description that a message quotes

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


def read_description(description: bytes) -> Any:
    """Return what a description says; None if it is not JSON."""
    import json

    try:
        return json.loads(description)
    except (ValueError, RecursionError):
        return None


def opened_by(said: Any) -> str:
    """Return the name of the class that opens a set whose description says this; "" if it is damaged."""
    kind = said.get("kind") if isinstance(said, dict) else None
    return OPENED_BY.get(kind, "uricodec.dedup.SeenSet") if isinstance(kind, str) else ""


def memory_for(size: int) -> mmap.mmap | None:
    """Return zeroed memory, which the system provides when it is used; None if there is not enough."""
    flags = {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS} if hasattr(mmap, "MAP_ANONYMOUS") else {}
    try:
        return mmap.mmap(-1, size, **flags)
    except (OSError, ValueError, OverflowError):
        return None


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

    Attributes:
        name (str): As above.
        key (FingerprintKey): The key.
        count (int): The number of items.
        digest (bytes): Sets with equal digests are equal.

    Raises:
        SetError: If the file is not a saved set or is damaged, or the key is missing or another one.
        FileError: If the file cannot be read.
    """

    def __init__(self, file: Any, name: str, key: FingerprintKey | None = None) -> None:
        self.name, self._file, self._lock = name, file, allocate_lock()
        self._users, self._closed = 0, False
        try:
            self._open(key)
        except BaseException as error:
            try:
                raise self._failure(error) from None
            finally:
                self.close()

    made_by: str  # the name of the class that opens these files

    def _layout(self, count: int, bits: int, said: Any) -> Layout:
        """Return how large the parts are. What the description says may be damaged."""
        raise NotImplementedError

    def _read_description(self, said: Any, description: bytes) -> None:
        """Take over what the description says.

        Raises:
            ValueError, TypeError, LookupError, AttributeError: If this version of uricodec does not know it.
        """
        raise NotImplementedError

    def _use(self, directory: bytes) -> None:
        """Take over the directory. Raise ValueError if it is damaged."""
        raise NotImplementedError

    def _open(self, key: FingerprintKey | None) -> None:
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
        said = read_description(description)
        other = opened_by(said)
        if other not in ("", self.made_by):
            raise self._error(f"not a set of this kind: open it with {other}.open()")
        layout = self._layout(self.count, min(self._bits, MOST_BITS), said)
        expected = self._place + layout.data + layout.directory
        if status.st_size != expected:
            raise self._error(f"damaged saved set: {status.st_size} bytes instead of {expected}")
        if self._bits > MOST_BITS or shard_bits > MOST_BITS or shard >> shard_bits:
            raise self._error("damaged saved set: header")
        directory = self._read(self._place + layout.data, layout.directory)
        sealed = digest_of(header[:-ROW], description, directory)
        if sealed.digest() != checksum:
            raise self._error("damaged saved set: header, description or directory")
        self.digest, self._shard, self._head = checksum, (shard_bits, shard), header + description
        try:
            self._read_description(said, description.rstrip(b" \n"))
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise self._unreadable(description, error) from None
        self.key = self._key_of(material, key)
        if self.key.fingerprint(b"") != key_check:
            raise self._error("the saved set has another secret")
        self._use(directory)

    def _failure(self, error: BaseException) -> BaseException:
        """Return the error for what went wrong while the set was opened: whatever a file contains, it is not ours."""
        if isinstance(error, SetError):
            return error
        if isinstance(error, (ValueError, ArithmeticError, LookupError, TypeError, RecursionError)):
            return self._error(f"damaged saved set: {error}")
        return self.fail(error) if isinstance(error, (OSError, MemoryError)) else error

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
            return read_at(self._file, place, size, "file")

    def _error(self, reason: str) -> SetError:
        return SetError(f"{self.name}: {reason}")

    def _unreadable(self, description: bytes, reason: object) -> SetError:
        shown = description.decode(errors="replace").rstrip()
        return self._error(f"cannot read {shown if len(shown) <= SHOWN else shown[:SHOWN] + '...'}: {reason}")

    def fail(self, error: BaseException) -> Exception:
        """Return the error for what went wrong with the file."""
        if self._closed:
            return ValueError("cannot use a closed set")
        return file_error(self.name, error) if isinstance(error, OSError) else self._error(str(error))

    def __enter__(self) -> StoredSet:
        """Keep the file open until the `with` block ends: another thread may call close().

        Raises:
            ValueError: If the set is closed.
        """
        with self._lock:
            if self._closed:
                raise ValueError("cannot use a closed set")
            self._users += 1
        return self

    def __exit__(self, *exception: object) -> None:
        with self._lock:
            self._users -= 1
            if self._closed and not self._users:
                self._free()

    def check_unchanged(self) -> None:
        """Raise FileError if the file was written to after it was opened: what was not read yet may be gone."""
        with self:
            status = os.fstat(self._file.fileno())
        # Not the change time: that changes, too, when another file takes the name of this one.
        if (status.st_size, status.st_mtime_ns) != self._version:
            raise FileError(self.name, "file was changed while it was read")

    def close(self) -> None:
        """Close the file when no thread uses it any more."""
        with self._lock:
            self._closed = True
            if not self._users:
                self._free()

    def _free(self) -> None:
        """Close the file, and free the memory for its data."""
        self._file.close()

    def __del__(self) -> None:
        self.close()  # a set that is not used any more disappears quietly, as others do


def open_file(path: str) -> tuple[Any, str]:
    """Open a file with a saved set; return it, and its name for messages.

    Raises:
        FileError: If it cannot be opened.
    """
    name = printable(path)
    try:
        # A named pipe is an error, not a wait.
        return open(path, "rb", buffering=0, opener=without_waiting), name
    except (OSError, ValueError) as error:
        raise file_error(name, error) from None
