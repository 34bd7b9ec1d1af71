"""Deduplication of the rows of Parquet files by a column, with pyarrow.

The first pass reads only the column. A bit for each row, in a file that is mapped to memory, says whether the row is
the first one with its identifier; _partitions describes how these are found in bounded memory. The second pass writes
the rows whose bits are set: a file that keeps all its rows is copied, row groups without such rows are not read, all
others are read batch by batch.

A row group is written when it has as many rows as the largest one of its input, or GROUP_BYTES: so neither the size of
the files nor that of their row groups determines the memory. If row groups are sorted, each is written by itself.
"""

from __future__ import annotations

import os
import re
import shutil
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from uricodec._io import streams
from uricodec._io.folders import OutputFolder, is_occupied
from uricodec._io.temporary import close, sync
from uricodec.dedup._corpus import Ticker, changed, version_of
from uricodec.dedup._first_rows import FirstRows
from uricodec.dedup._identifiers import mask
from uricodec.dedup._table import FingerprintBatch
from uricodec.errors import UriError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from uricodec.dedup._identifiers import ColumnBatch
    from uricodec.dedup._partitions import PartitionedTable, Scratch

# Bytes of a column chunk that are read at once.
READ_BYTES = 1 << 20

# The approximate size of a batch that is read, and the most rows in it: first, and when the size of a row is known.
BATCH_BYTES = 8 << 20
FIRST_ROWS = 1 << 12
BATCH_ROWS = 1 << 16

# The most columns that a message names.
COLUMNS = 20

# The most bytes of rows, in memory, that become a row group. It is the default size of row groups of parquet-mr.
GROUP_BYTES = 128 << 20

NEW_ROWS = re.compile(rb"\x02+")  # in the marks of rows


# --- which files ------------------------------------------------------------------------------------------------------


def find_files(paths: Iterable[str]) -> list[tuple[str, str]]:
    """Return the files of a dataset, in order, and where each belongs in the output.

    A folder stands for all files in it and its subfolders, sorted by name, except for names that begin with "." or
    "_" and, in partition folders, do not contain "=". A file that several paths lead to by the same name is one file.

    Args:
        paths (Iterable[str]): Files and folders.

    Returns:
        list[tuple[str, str]]: The path of each file, and its path relative to the innermost folder that contains all
            `paths` and is not a partition folder (NAME=VALUE).

    Raises:
        FileError: If a folder cannot be read or has no files, or two files have the same place in the output.
        ValueError: If `paths` is empty.
    """
    found: dict[str, str] = {}
    folders = []
    for path in paths:
        try:
            files = list(walk(path)) if os.path.isdir(path) else [path]
        except OSError as error:
            raise streams.failure(streams.printable(error.filename or path), error) from None
        if not files:
            raise streams.FileError(streams.printable(path), "folder has no files")
        absolute = os.path.abspath(path)
        folders.append(absolute if os.path.isdir(path) else os.path.dirname(absolute))
        for file in files:
            known = found.setdefault(os.path.abspath(file), file)
            # abspath() does not follow links: "link/../a" is not always "a".
            if known != file and os.path.exists(file) and not os.path.samefile(known, file):
                reason = f"has the same place in the output as another file, {streams.printable(known)}"
                raise streams.FileError(streams.printable(file), reason)
    if not found:
        raise ValueError("expected at least one path, got none")
    top = os.path.commonpath(folders)
    while "=" in os.path.basename(top):
        top = os.path.dirname(top)
    return [(file, os.path.relpath(absolute, top)) for absolute, file in found.items()]


def walk(folder: str) -> Iterator[str]:
    """Yield the paths of the files below a folder, in order.

    Links to files are followed. Links to folders are not: a few that lead to each other are an endless number of paths.
    """
    waiting = [folder]
    while waiting:
        path = waiting.pop()
        if path != folder and not os.path.isdir(path):
            yield path
            continue
        with os.scandir(path) as entries:
            names = sorted(entries, key=lambda entry: entry.name, reverse=True)
        for entry in names:
            is_folder = entry.is_dir()
            if (entry.name[0] not in "._" or (is_folder and "=" in entry.name)) and not (
                is_folder and entry.is_symlink()
            ):
                waiting.append(entry.path)


def check_output(output: str, paths: Iterable[str]) -> None:
    """Check that a folder can be the output.

    Raises:
        ValueError: If it is in one of the folders that are read, or exists and is not empty.
    """
    target = os.path.realpath(output)
    for path in paths:
        if os.path.isdir(path) and os.path.join(target, "").startswith(os.path.join(os.path.realpath(path), "")):
            raise ValueError(f"output folder {output!r} is inside the input {path!r}")
    try:
        occupied = is_occupied(target)
    except OSError as error:
        raise streams.failure(streams.printable(output), error) from None
    if occupied:
        raise ValueError(f"output folder {output!r} is not empty")


# --- one file ---------------------------------------------------------------------------------------------------------


@contextmanager
def errors_of(name: str) -> Iterator[None]:
    """Raise what pyarrow and the system raise as FileError with this name."""
    from pyarrow import ArrowException  # type: ignore[import-untyped,import-not-found,unused-ignore]

    try:
        yield
    except (streams.FileError, MemoryError):
        raise
    except (OSError, ArrowException, UnicodeDecodeError) as error:  # the last one: of names of columns
        reason = (getattr(error, "strerror", None) or str(error)).partition("\n")[0]
        raise streams.FileError(name, streams.printable(reason), getattr(error, "errno", None)) from None


class DatasetFile:
    """A Parquet file of the input.

    Args:
        path (str): Its path.
        place (str): Its path in the output.
        column (str): The name of the column with identifiers.
        names (ColumnBatch): Decides which types of columns can be read.

    Attributes:
        place (str): As above.
        name (str): The path, as a message shows it.
        size (int): The size in bytes.
        rows (int): The number of rows.

    Raises:
        FileError: If it cannot be read, is not a Parquet file, or the column is missing or of another type.
    """

    def __init__(self, path: str, place: str, column: str, names: ColumnBatch) -> None:
        self.place, self.name = place, streams.printable(path)
        self._path, self._column = path, column
        self._row_bytes: dict[str | None, int] = {}
        with errors_of(self.name):
            status = os.stat(path)
        self.size, self._version = status.st_size, version_of(status)
        with self.open() as parquet, errors_of(self.name):
            schema, about = parquet.schema_arrow, parquet.metadata
        groups = [about.row_group(group).num_rows for group in range(about.num_row_groups)]
        self.rows = about.num_rows
        if min(groups, default=0) < 0 or sum(groups) != self.rows:
            raise streams.FileError(self.name, f"row groups have {sum(groups)} rows, the file {self.rows}")
        self._check_column(schema, names)

    def _check_column(self, schema: Any, names: ColumnBatch) -> None:
        import pyarrow as pa

        count = schema.names.count(self._column)
        if count != 1:
            columns = ", ".join(map(repr, schema.names[:COLUMNS])) + (" ..." if len(schema.names) > COLUMNS else "")
            wrong = "several columns" if count else "no column"
            raise streams.FileError(self.name, f"{wrong} {self._column!r}; the columns are {columns}")
        kind = schema.field(self._column).type
        try:
            if pa.types.is_nested(kind):  # a struct would be read as a table
                raise TypeError
            names.hold(pa.chunked_array([], kind))
        except TypeError:
            raise streams.FileError(self.name, f"column {self._column!r} must be text or bytes, got {kind}") from None

    @contextmanager
    def open(self) -> Iterator[Any]:
        """Open the file as a pyarrow.parquet.ParquetFile. After the `with` block, check that it has not changed."""
        import pyarrow as pa
        import pyarrow.parquet as pq  # type: ignore[import-untyped,import-not-found,unused-ignore]

        # INT96 is read to the microsecond: nanoseconds in 64 bits end in the year 2262.
        options = {"pre_buffer": False, "buffer_size": READ_BYTES, "coerce_int96_timestamp_unit": "us"}
        with errors_of(self.name):
            file = pa.OSFile(os.fsencode(self._path))
        with file:
            with errors_of(self.name):
                parquet = pq.ParquetFile(file, **options)
            yield parquet
        self._check_unchanged()

    def _check_unchanged(self) -> None:
        with errors_of(self.name):
            version = version_of(os.stat(self._path))
        if version != self._version:
            raise changed(self.name)

    def copy(self, path: str) -> None:
        """Copy the file."""
        shutil.copyfile(self._path, path)
        self._check_unchanged()

    def columns(self) -> Iterator[Any]:
        """Yield the column with identifiers, batch by batch."""
        with self.open() as parquet:
            for group in range(parquet.metadata.num_row_groups):
                for batch in self.batches(parquet, group, self._column):
                    yield batch.column(self._column)  # a column "a.b" is read with the member b of a column a

    def batches(self, parquet: Any, group: int, column: str | None = None) -> Iterator[Any]:
        """Yield a row group, or a column of it, in batches of about BATCH_BYTES."""
        about = parquet.metadata.row_group(group)
        size, rows = about.total_byte_size, 0
        if column is not None:
            chunks = map(about.column, range(about.num_columns))
            size = sum(chunk.total_uncompressed_size for chunk in chunks if chunk.path_in_schema == column)
        # The size is that of encoded values. Values of a dictionary, which occur in it once, take more memory.
        known = self._row_bytes.get(column)
        row_bytes = max(size // max(about.num_rows, 1), known or 0, 1)
        most = max(1, min(FIRST_ROWS if known is None else BATCH_ROWS, BATCH_BYTES // row_bytes))
        with errors_of(self.name):
            for batch in parquet.iter_batches(most, [group], None if column is None else [column]):
                rows += len(batch)
                if rows <= about.num_rows:
                    self._row_bytes[column] = batch.nbytes // max(len(batch), 1)
                    yield batch
        if rows != about.num_rows:
            raise streams.FileError(self.name, f"row group {group} has {rows} rows instead of {about.num_rows}")


# --- the passes -------------------------------------------------------------------------------------------------------


def find_first(
    files: list[DatasetFile], names: ColumnBatch, partitions: PartitionedTable, scratch: Scratch, ticker: Ticker
) -> FirstRows:
    """Return which rows of the files are the first ones with their identifiers.

    Raises:
        UriError: If a row is invalid, and `names` rejects it. The message begins "FILE: row N: ".
        FileError: If a file cannot be read, or was changed.
    """
    rows, start = FirstRows(scratch.mapping(max(8, (sum(file.rows for file in files) + 63) // 64 * 8))), 0

    def take(batch: Any) -> None:
        rows.set(batch)
        ticker.rows, ticker.unique = ticker.rows + len(batch), rows.count
        ticker.add(0)

    for file in files:
        row = 0
        for column in ahead(file.columns()):
            names.hold(column)
            while read(names, file, row):
                names.first = start + row
                row += len(names)
                partitions.add(names)
                take(names)
            ticker.add(len(column) * file.size // file.rows)
        start += file.rows
    if partitions.spill is not None:
        ticker.begin("partitions")
        partitions.finish(take, None)
    partitions.close()
    rows.seal()
    return rows


def ahead(items: Iterator[Any]) -> Iterator[Any]:
    """Yield items while another thread computes the next one."""
    with ThreadPoolExecutor(1) as pool:
        item = pool.submit(next, items, None)
        while (found := item.result()) is not None:
            item = pool.submit(next, items, None)
            yield found


def read(names: ColumnBatch, file: DatasetFile, row: int) -> int:
    """Read identifiers, the first of which is in this row of the file. Return their number."""
    try:
        return names.read(row)
    except UriError as error:
        raise type(error)(f"{file.name}: {error.reason}", error.input, error.offset) from None


def write_first(files: list[DatasetFile], rows: FirstRows, folder: OutputFolder, ticker: Ticker) -> None:
    """Write each file with the rows whose bits are set.

    Raises:
        FileError: If a file cannot be read or written, or was changed.
    """
    ticker.begin("write")
    start = 0
    for file in files:
        path, name = os.path.join(folder.path, file.place), os.path.join(folder.name, streams.printable(file.place))
        with errors_of(name):
            os.makedirs(os.path.dirname(path), exist_ok=True)
            if rows.rank(start + file.rows) - rows.rank(start) == file.rows:
                file.copy(path)
                ticker.rows += file.rows
                ticker.add(file.size)
            else:
                write_some(file, path, rows, start, ticker)
            number = os.open(path, os.O_RDONLY)
            try:
                sync(number)
            finally:
                close(number)
        start += file.rows


def write_some(file: DatasetFile, path: str, rows: FirstRows, start: int, ticker: Ticker) -> None:
    """Write the rows of a file whose bits are set; `start` is the number of its first row."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with file.open() as parquet, pa.OSFile(os.fsencode(path), "wb") as target:
        about, schema = parquet.metadata, parquet.schema_arrow
        options = options_of(about)
        # These rows do not wait for those of the next row group: a row that is kept refers to the whole dictionary of
        # its row group, and the rows of two sorted row groups are not sorted.
        waits = not any(map(pa.types.is_dictionary, schema.types)) and not options["sorting_columns"]
        sizes = [about.row_group(group).num_rows for group in range(about.num_row_groups)]
        first = rows.rank(start)
        with pq.ParquetWriter(target, schema, **options) as writer:
            groups = RowGroups(writer, max(sizes))
            for group, size in enumerate(sizes):
                kept = rows.rank(start + size) - rows.rank(start)
                row = start
                for batch in ahead(file.batches(parquet, group)) if kept else ():
                    groups.add(pa.Table.from_batches([batch]) if kept == size else kept_rows(batch, rows, row))
                    row += len(batch)
                    ticker.add(0)
                if not waits:
                    groups.flush()
                start += size
                ticker.rows += size
                ticker.add(file.size * size // file.rows)
            groups.flush()
            if rows.rank(start) == first:
                writer.write_table(schema.empty_table())  # not all readers can read a file without row groups


def kept_rows(batch: Any, rows: FirstRows, start: int) -> Any:
    """Return the rows of a batch whose bits are set (pyarrow.Table); `start` is the number of its first row."""
    import pyarrow as pa

    names = FingerprintBatch(bytes(16 * len(batch)), first=start)  # only the marks are used
    rows.mark(names)
    try:
        return pa.Table.from_batches([batch.filter(pa.array(mask(names.marks)))])
    except pa.ArrowNotImplementedError:  # not all versions can filter views
        pieces = [batch.slice(run.start(), run.end() - run.start()) for run in NEW_ROWS.finditer(names.marks)]
        return pa.Table.from_batches(pieces, batch.schema).combine_chunks()


class RowGroups:
    """Writes rows as row groups.

    Args:
        writer (pyarrow.parquet.ParquetWriter): The writer of a file.
        most (int): The number of rows in a row group.
    """

    def __init__(self, writer: Any, most: int) -> None:
        self._writer, self._most = writer, most
        self._tables: list[Any] = []
        self._rows = self._bytes = 0

    def add(self, table: Any) -> None:
        """Add rows (pyarrow.Table)."""
        while len(table):
            part = table.slice(0, self._most - self._rows)
            table = table.slice(len(part))
            self._tables.append(part)
            self._rows += len(part)
            self._bytes += part.nbytes
            if self._rows == self._most or self._bytes >= GROUP_BYTES:
                self.flush()

    def flush(self) -> None:
        """Write the rows that have been added."""
        import pyarrow as pa

        if self._rows:
            self._writer.write_table(pa.concat_tables(self._tables), self._rows)
        self._tables, self._rows, self._bytes = [], 0, 0


def options_of(about: Any) -> dict[str, Any]:
    """Return the options for pyarrow.parquet.ParquetWriter, given the FileMetaData of the input.

    They are those on which the Parquet types of the columns depend, compression, and the order of rows.
    """
    leaves = [about.schema.column(i) for i in range(about.num_columns)]
    group = about.row_group(0)
    chunks = [group.column(i) for i in range(group.num_columns)]
    codecs = {chunk.path_in_schema: chunk.compression.replace("UNCOMPRESSED", "NONE") for chunk in chunks}
    logical = [(leaf.logical_type.type, leaf.physical_type) for leaf in leaves]
    orders = {about.row_group(i).sorting_columns for i in range(about.num_row_groups)}
    return {
        "compression": codecs if len({*codecs.values()}) > 1 else next(iter(codecs.values())),
        "store_schema": b"ARROW:schema" in (about.metadata or {}),
        "sorting_columns": (group.sorting_columns or None) if len(orders) == 1 else None,
        "write_page_index": any(chunk.has_column_index for chunk in chunks),
        "use_compliant_nested_type": not any(".list.item" in leaf.path for leaf in leaves),
        "store_decimal_as_integer": any(each in logical for each in (("DECIMAL", "INT32"), ("DECIMAL", "INT64"))),
        "use_deprecated_int96_timestamps": any(physical == "INT96" for _, physical in logical),
    }
