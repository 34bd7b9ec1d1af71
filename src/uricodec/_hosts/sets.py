"""`HostSet` and `PrefixSet`: sets of hosts and of URL prefixes, to match URLs against."""

from __future__ import annotations

import mmap
import os
import re
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, overload

from uricodec._base._fingerprint import FingerprintKey
from uricodec._hosts._entries import EntryBuilder, has_entry, match_url
from uricodec._hosts._table import EntryTable, aligned, checksums
from uricodec._io.runner import Runner, Worker
from uricodec._io.set_files import (
    HEADER,
    MAGIC,
    ROW,
    VERSION,
    Layout,
    StoredSet,
    described,
    digest_of,
    memory_for,
    open_file,
    padded,
)
from uricodec._io.sources import open_soon, opened
from uricodec._io.writing import Output
from uricodec.errors import UriSyntaxError

if TYPE_CHECKING:
    from typing_extensions import Buffer, Self

_CHECKED = 4096  # bytes of data that have one checksum: see _table.pxd
_SLOT, _LINE = 8, 64
_SHOWN = 100  # characters of an entry that a message has


class ListReport(NamedTuple):
    """What was read of a list.

    Attributes:
        lines (int): The number of lines.
        understood (int): Lines with at least one entry.
        not_understood (int): Lines that are not blank, no comment, and have no entry, or not only entries.
        examples (tuple[tuple[int, str], ...]): The first of those, at most 100: the number of the line, from 1, and the
            start of its text.

    The other lines are blank, comments, or names of the machine itself, such as localhost.

    >>> HostSet.read(b"# ads\\n0.0.0.0 ads.example\\n@@||good.example^\\n").report
    ListReport(lines=3, understood=1, not_understood=1, examples=((3, '@@||good.example^'),))
    """

    lines: int
    understood: int
    not_understood: int
    examples: tuple[tuple[int, str], ...]


class _StoredEntries(StoredSet):
    """An open file with a set of hosts or prefixes; see StoredSet.

    Args:
        file (io.FileIO), name (str): See StoredSet.
        kind (str), made_by (str): "hosts" or "prefixes", and the class.
        memory_map (bool): Whether to map the file to memory.
    """

    def __init__(self, file: Any, name: str, kind: str, made_by: str, memory_map: bool) -> None:
        self.made_by, self._kind, self._maps = made_by, kind, memory_map
        super().__init__(file, name)

    def _layout(self, count: int, bits: int, said: Any) -> Layout:
        size = (_SLOT << bits) + _numbers(said).get("text", 0)
        return Layout(size, ROW * -(-size // _CHECKED))

    def _read_description(self, said: Any, description: bytes) -> None:
        numbers = _numbers(said)
        if _description(self._kind, **numbers) != description or any(self._shard):
            raise ValueError("unknown rules")
        self._depths, self._surts, self._text = numbers["depths"], numbers["surts"], numbers["text"]

    def _use(self, directory: bytes) -> None:
        size = (_SLOT << self._bits) + self._text
        data: Any
        if self._maps:
            data, place = mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ), self._place
        else:
            data, place = memory_for(size + _LINE), 0
            if data is None:
                raise MemoryError
        numbers = self.count, self._bits, self._depths, self._surts
        reader = None if self._maps else self
        self.table = EntryTable(
            self._kind, data, *numbers, self.key, directory, place, size, reader, self._place, self.name
        )  # fmt: skip

    def take_table(self) -> EntryTable:
        """Return the table, which refers to this, not the other way round any more."""
        table = self.table
        del self.table
        return table


def _numbers(said: Any) -> dict[str, int]:
    """Return the numbers of a description, which may be damaged."""
    found = said if isinstance(said, dict) else {}
    numbers = {name: found.get(name) for name in ("text", "depths", "surts")}
    return {name: n for name, n in numbers.items() if type(n) is int and 0 <= n < 1 << 64}


def _description(kind: str, text: int, depths: int, surts: int) -> bytes:
    return described({"kind": kind, "text": text, "depths": depths, "surts": surts})


def _rejected_entry(what: str, index: int, entry: Any) -> UriSyntaxError:
    """Return the error for an entry that is not understood."""
    shown = entry if isinstance(entry, str) else bytes(entry)
    reason = f"expected a {what}, got {shown[:_SHOWN]!r}{'' if len(shown) <= _SHOWN else '...'}"
    if re.fullmatch(r"[0-9]+(\.[0-9]+){3}/[0-9]+|[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*/[0-9]+", os.fsdecode(shown[:_SHOWN])):
        reason += ", which is a network"
    error = UriSyntaxError(reason, entry, 0)
    error.row = index
    return error


class _ListReader(Worker):
    """Adds the lines of a list to a builder."""

    def __init__(self, builder: EntryBuilder) -> None:
        super().__init__()
        self._builder = builder

    def prepare(self, chunk: Any) -> None:
        if not chunk.before and bytes(chunk.view[:3]) == BOM_UTF8:
            chunk.start = 3

    def use(self, chunk: Any, _result: None, _at: Any) -> None:
        with chunk.view[chunk.start : chunk.size] as lines:
            self._builder.add_lines(lines)

    def use_long(self, chunk: Any, _at: Any) -> None:
        if chunk.begins:
            self._builder.add_long(bytes(chunk.view[chunk.start : chunk.size][:200]))


class EntrySet:
    """The base class of HostSet and PrefixSet. A set does not change, and any number of threads may use it."""

    __slots__ = ("__weakref__", "_maps", "_path", "_report", "_stored", "_table")
    _kind: ClassVar[str]
    _what: ClassVar[str]
    _table: EntryTable
    _stored: _StoredEntries | None  # of a set that was opened
    _path: str | None
    _maps: bool
    _report: ListReport | None

    def __new__(cls, entries: Iterable[str | Buffer] = ()) -> Self:
        if not hasattr(cls, "_kind"):
            raise TypeError("cannot create an EntrySet: use HostSet or PrefixSet")
        if isinstance(entries, (str, bytes, bytearray, memoryview)):
            raise TypeError(f"expected an iterable of {cls._kind}, got {type(entries).__name__}")
        builder = EntryBuilder(cls._kind, FingerprintKey())
        rejected = builder.add_all(entries)
        if rejected is not None:
            raise _rejected_entry(cls._what, *rejected)
        return cls._of(builder)

    @classmethod
    def _of(cls, builder: EntryBuilder, report: ListReport | None = None) -> Self:
        return cls._with(builder.finish(), report=report)

    @classmethod
    def _with(
        cls,
        table: EntryTable,
        stored: _StoredEntries | None = None,
        path: str | None = None,
        maps: bool = False,
        report: ListReport | None = None,
    ) -> Self:
        self = object.__new__(cls)
        self._table, self._stored, self._path, self._maps, self._report = table, stored, path, maps, report
        return self

    @classmethod
    def read(cls, source: str | os.PathLike[str] | Buffer | Any) -> Self:
        """Read a list; `report` of the set says how much of it was understood.

        Args:
            source (str | PathLike | binary file | bytes-like): The path of the list, an open file, or the list itself;
                perhaps compressed. Lines in any mixture of the formats that the class documents.

        Raises:
            OSError: If the file cannot be read, or its compressed data are damaged.
            TypeError: If `source` is something else.
        """
        with opened(source, "<list>", open_soon) as found:
            return cls._read(found)

    @classmethod
    def _read(cls, found: Any) -> Self:
        """Return the set of the list in an open input."""
        builder = EntryBuilder(cls._kind, FingerprintKey())
        Runner().run(found, _ListReader(builder))
        examples = tuple((number, text.decode("utf-8", "replace")) for number, text in builder.found)
        return cls._of(builder, ListReport(builder.lines, builder.understood, builder.unknown, examples))

    @classmethod
    def open(cls, path: str | os.PathLike[str], *, memory_map: bool = False) -> Self:
        """Open a set that `save` has written. What is needed of the file is read, checked, and stays in memory.

        Args:
            path (str | PathLike): The file.
            memory_map (bool): Map the file to memory, so that processes which open it share this memory. While it is
                mapped, no program may write to the file: to make it shorter may end this process (SIGBUS), and what is
                written to it may be used unchecked. To replace it by another file, as `save` does, is safe.

        Raises:
            SetError: If the file is not such a set, or is damaged. The entries are checked when they are used.
            OSError: If the file cannot be read.
        """
        name = os.fsdecode(path)
        file, shown = open_file(name)
        return cls._stored_in(file, shown, name, memory_map)

    @classmethod
    def _stored_in(cls, file: Any, shown: str, path: str, memory_map: bool = False) -> Self:
        stored = _StoredEntries(file, shown, cls._kind, f"uricodec.uri.{cls.__name__}", memory_map)
        return cls._with(stored.take_table(), stored, os.path.abspath(path), memory_map)

    @classmethod
    def _load(cls, path: str) -> Self:
        """Return the set in a file, which is a list or a saved set. It is opened once: it may be a pipe."""
        with opened(path, "", open_soon) as found:
            if found.peek(len(MAGIC)) != MAGIC:
                return cls._read(found)
            file = open(os.dup(found.fileno()), "rb", buffering=0)  # noqa: SIM115  (the set closes it)
            return cls._stored_in(file, found.name, path)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the set to a file, which appears, or replaces another one, when it is complete.

        Args:
            path (str | PathLike): The file.

        Raises:
            SetError: If the set was opened, and its file is damaged.
            OSError: If a file cannot be read or written.
        """
        with Output(os.path.join(".", os.fsdecode(path))) as output:
            for part in self._parts():
                output.write(part)

    def _parts(self) -> Iterator[bytes | memoryview]:
        table = self._checked()
        with table.data() as data:
            directory = checksums(data, table.key)
            description = _description(self._kind, len(data) - (_SLOT << table.bits), table.depths, table.surts)
            digest, description = digest_of(description).digest(), padded(description, _LINE)
            header = HEADER.pack(
                MAGIC, VERSION, len(description), table.count, table.bits, 0, 0, table.key._material or bytes(64),
                table.key.fingerprint(b""), digest, bytes(16),
            )[:-ROW]  # fmt: skip
            yield header + digest_of(header, description, directory).digest() + description
            yield data
            yield directory

    def verify(self) -> None:
        """Read the whole file of a set that was opened, and check it.

        Raises:
            SetError: If it is damaged.
            OSError: If it was changed.
        """
        self._checked().verify()

    def _checked(self) -> EntryTable:
        """Return the table. Raise FileError if the file under it was changed."""
        if self._stored is not None:
            self._stored.check_unchanged()
        return self._table

    @property
    def report(self) -> ListReport | None:
        """What was read of the list (ListReport); None for a set that was not read from one."""
        return self._report

    @overload
    def match(self, url: str, *, exact: bool = False) -> str | None: ...
    @overload
    def match(self, url: Buffer, *, exact: bool = False) -> bytes | None: ...
    def match(self, url: Any, *, exact: bool = False) -> Any:
        """Return the longest entry that matches a URL.

        Args:
            url (str | bytes-like): Any text. It is split as `uri.host` does. Text without a scheme and "//" begins with
                the host; so does "localhost:8080", with a port of one to five digits.
            exact (bool): Only the entry itself matches, not what is below it.

        Returns:
            str | bytes | None: The entry in its normal form, bytes for bytes; None if none matches.

        Raises:
            SetError: If the set was opened, and its file is damaged.
            OSError: If that file was changed.
        """
        return match_url(self._checked(), url, exact)

    def __contains__(self, entry: object) -> bool:
        """Return whether this is an entry: not what is below one, see `match`."""
        return isinstance(entry, (str, bytes, bytearray, memoryview)) and has_entry(self._checked(), entry)

    def __len__(self) -> int:
        return self._table.count

    def __iter__(self) -> Iterator[str]:
        """Iterate over the entries in their normal forms, in the order in which they were given."""
        return iter(self._checked())

    def __eq__(self, other: object) -> bool:
        """Return whether both sets have the same entries."""
        if not isinstance(other, EntrySet) or self._kind != other._kind:
            return NotImplemented
        return self is other or (len(self) == len(other) and all(entry in other for entry in self))

    __hash__: ClassVar[None] = None  # type: ignore[assignment]  # it would take as long as a comparison

    def __repr__(self) -> str:
        count = len(self)
        return f"<{type(self).__name__} of {count:,} {self._what if count == 1 else f'{self._kind}'}>"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle an opened set as its path, any other one as its bytes."""
        if self._path is not None:
            return type(self)._reopened, (self._path, self._maps)
        table = self._table
        with table.data() as data:
            return type(self)._restored, (
                bytes(data), table.count, table.bits, table.depths, table.surts, table.key._material,
                self._report and tuple(self._report),
            )  # fmt: skip

    @classmethod
    def _reopened(cls, path: str, memory_map: bool) -> Self:
        return cls.open(path, memory_map=memory_map)

    @classmethod
    def _restored(  # noqa: PLR0913, PLR0917
        cls, data: bytes, count: int, bits: int, depths: int, surts: int, material: bytes, report: Any
    ) -> Self:
        """Return a set that was pickled as its bytes. These are checked as those of a file are."""
        key = FingerprintKey(_material=material)
        copy, place = aligned(data)
        table = EntryTable(cls._kind, copy, count, bits, depths, surts, key, None, place, len(data))
        return cls._with(table, report=report and ListReport(*report))


class HostSet(EntrySet):
    """A set of hosts. A URL matches if its host is an entry, or below one: www.example.com is below example.com.

    Hosts are compared by whole labels, in their normal forms: lower case, A-labels as browsers write them (UTS 46),
    percent-encoding decoded, without a dot at the end. Hosts of URLs may be of any length. IP addresses match only
    whole, IPv6 addresses by their value.

    Args:
        entries (Iterable[str | bytes-like]): Names, or IP addresses. "*.example.com" and ".example.com" are the same as
            "example.com".

    Raises:
        UriSyntaxError: If an entry is not a host: it has a port or a path, an empty or long label, ends in a number and
            is not an address, or is a network such as 192.0.2.0/24. `row` of the error is the index of the entry.
        TypeError: If an entry is neither str nor bytes-like.

    `read` reads these lists, in any mixture, and `report` says how many lines it did not understand:

        ads.example                     a plain list: a host on each line
        0.0.0.0 ads.example b.example   a hosts file; local names such as localhost are left out
        ||ads.example^                  a domain line of Adblock, perhaps with $important or $all, no other options
        address=/ads.example/0.0.0.0    dnsmasq; also server=/ads.example/ and local=/ads.example/
        local-zone: "ads.example" always_nxdomain       Unbound; also local-data: "ads.example A 0.0.0.0"
        ads.example CNAME .             a response policy zone
        # comment, ! comment, ; comment, [Adblock], [Adblock Plus 2.0]

    Source: docs/guides/host_sets.md; docs/developing/fingerprint.md has the format of saved sets.

    >>> hosts = HostSet(["example.com", "b\\xfccher.example", "192.0.2.1"])
    >>> hosts.match("https://www.Example.com/a"), hosts.match("//xn--bcher-kva.example"), hosts.match("//example.net")
    ('example.com', 'xn--bcher-kva.example', None)
    >>> len(hosts), "example.com" in hosts, "www.example.com" in hosts, hosts.match("//www.example.com", exact=True)
    (3, True, False, None)
    >>> hosts
    <HostSet of 3 hosts>
    """

    __slots__ = ()
    _kind, _what = "hosts", "host"


class PrefixSet(EntrySet):
    """A set of URL prefixes. A URL matches if it has the host of an entry, and its path begins with that of the entry.

    Paths are compared by whole segments: "https://a.example/b" and "https://a.example/b/" match /b and /b/c, but not
    /bc. URLs are compared in the normal form of level "iri", without scheme, userinfo, query and fragment. An entry
    without a port, or with the default port, matches URLs with any; another port must be the same.

    An entry may also be a SURT, "com,example)/b". It matches URLs whose key by the policy "surt", with the host in its
    normal form, begins with it, by whole segments; so "www." and the case of the path are ignored.

    Args:
        entries (Iterable[str | bytes-like]): URLs, with or without scheme, or SURTs.

    Raises:
        UriSyntaxError: If an entry has no host that is a name or an address, or has a query, a fragment, a userinfo
            without "//" before it, or characters that no URL has, such as blanks; or if it is a network such as
            192.0.2.0/24. (http://192.0.2.0/24 is a path.) `row` of the error is the index of the entry.
        TypeError: If an entry is neither str nor bytes-like.

    `read` reads lists with an entry on each line; lines that begin with "#" or "!" are comments.

    Source: docs/guides/host_sets.md; docs/developing/fingerprint.md has the format of saved sets.

    >>> pages = PrefixSet(["https://a.example/b/", "https://a.example/b/c/d", "com,example)/x"])
    >>> pages.match("http://a.example/b/c/d/e?q"), pages.match("http://a.example/b"), pages.match("http://a.example/bc")
    ('a.example/b/c/d', 'a.example/b', None)
    >>> pages.match("https://www.example.com/X/y")
    'com,example)/x'
    """

    __slots__ = ()
    _kind, _what = "prefixes", "prefix"


for _class in (HostSet, PrefixSet, ListReport):
    _class.__module__ = "uricodec.uri"  # pickled by reference to its public name
