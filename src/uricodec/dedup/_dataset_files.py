"""The Parquet files of a dataset, with pyarrow: which files, and the batches of rows of each."""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from uricodec._counting._order import orders_of
from uricodec._io.files import FileError, file_error, printable
from uricodec._io.folders import is_occupied
from uricodec.dedup._files import changed, version_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from uricodec.dedup._identifiers import ColumnBatch

# Bytes of a column chunk that are read at once.
READ_BYTES = 1 << 20

# The approximate size of a batch that is read, and the most rows in it: first, and when the size of a row is known.
BATCH_BYTES = 8 << 20
FIRST_ROWS = 1 << 12
BATCH_ROWS = 1 << 16

# The most columns that a message names.
COLUMNS = 20


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
            raise file_error(printable(error.filename or path), error) from None
        if not files:
            raise FileError(printable(path), "folder has no files")
        absolute = os.path.abspath(path)
        folders.append(absolute if os.path.isdir(path) else os.path.dirname(absolute))
        for file in files:
            known = found.setdefault(os.path.abspath(file), file)
            # abspath() does not follow links: "link/../a" is not always "a".
            if known != file and os.path.exists(file) and not os.path.samefile(known, file):
                reason = f"has the same place in the output as another file, {printable(known)}"
                raise FileError(printable(file), reason)
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
        raise file_error(printable(output), error) from None
    if occupied:
        raise ValueError(f"output folder {output!r} is not empty")


# --- one file ---------------------------------------------------------------------------------------------------------


@contextmanager
def errors_of(name: str) -> Iterator[None]:
    """Raise what pyarrow and the system raise as FileError with this name."""
    from pyarrow import ArrowException  # type: ignore[import-untyped,import-not-found,unused-ignore]

    try:
        yield
    except (FileError, MemoryError):
        raise
    except (OSError, ArrowException, UnicodeDecodeError) as error:  # the last one: of names of columns
        reason = (getattr(error, "strerror", None) or str(error)).partition("\n")[0]
        raise FileError(name, printable(reason), getattr(error, "errno", None)) from None


class DatasetFile:
    """A Parquet file of the input.

    Args:
        path (str): Its path.
        place (str): Its path in the output.
        column (str): The name of the column with identifiers.
        batch (ColumnBatch): Decides which types of columns can be read.
        by (str | None): The name of the column by which rows are ordered.

    Attributes:
        place (str): As above.
        name (str): The path, as a message shows it.
        size (int): The size in bytes.
        rows (int): The number of rows.
        columns_named (list[str]): The names of all columns.

    Raises:
        FileError: If it cannot be read, is not a Parquet file, or the column is missing or of another type.
    """

    def __init__(self, path: str, place: str, column: str, batch: ColumnBatch, by: str | None = None) -> None:
        self.place, self.name = place, printable(path)
        self._path, self._column, self._by = path, column, by
        self._row_bytes: dict[tuple[str, ...], int] = {}
        with errors_of(self.name):
            status = os.stat(path)
        self.size, self._version = status.st_size, version_of(status)
        with self.open() as parquet, errors_of(self.name):
            schema, about = parquet.schema_arrow, parquet.metadata
        groups = [about.row_group(group).num_rows for group in range(about.num_row_groups)]
        self.rows, self.columns_named = about.num_rows, schema.names
        if min(groups, default=0) < 0 or sum(groups) != self.rows:
            raise FileError(self.name, f"row groups have {sum(groups)} rows, the file {self.rows}")
        self._check_column(schema, batch)
        if by is not None and not is_ordered(kind := self._type_of(schema, by)):
            raise FileError(self.name, f"column {by!r} must be numbers, times or text, got {kind}")

    def _type_of(self, schema: Any, column: str) -> Any:
        """Return the type of a column. It is an error if there is not exactly one of this name."""
        count = schema.names.count(column)
        if count != 1:
            columns = ", ".join(map(repr, schema.names[:COLUMNS])) + (" ..." if len(schema.names) > COLUMNS else "")
            wrong = "several columns" if count else "no column"
            raise FileError(self.name, f"{wrong} {column!r}; the columns are {columns}")
        return schema.field(column).type

    def _check_column(self, schema: Any, batch: ColumnBatch) -> None:
        import pyarrow as pa

        kind = self._type_of(schema, self._column)
        try:
            if pa.types.is_nested(kind):  # a struct would be read as a table
                raise TypeError
            batch.hold(pa.chunked_array([], kind))
        except TypeError:
            raise FileError(self.name, f"column {self._column!r} must be text or bytes, got {kind}") from None

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

    def columns(self, ordered: bool = False) -> Iterator[tuple[Any, bytes | None, int]]:
        """Yield the column with identifiers, batch by batch.

        Args:
            ordered (bool): Whether to read the order of each row, too.

        Yields:
            tuple[pyarrow.Array, bytes | None, int]: The column, and what orders_of() returns, or None and 0.
        """
        by = self._by if ordered else None
        columns = (self._column,) if by in (None, self._column) else (self._column, by)
        with self.open() as parquet:
            for group in range(parquet.metadata.num_row_groups):
                for batch in self.batches(parquet, group, columns):
                    # a column "a.b" is read with the member b of a column a
                    orders, unordered = None, 0
                    if by is not None:
                        with errors_of(self.name):
                            orders, unordered = orders_of(text_of(batch.column(by)))
                    yield batch.column(self._column), orders, unordered

    def batches(
        self, parquet: Any, group: int, columns: tuple[str, ...] = (), *, use_threads: bool = False
    ) -> Iterator[Any]:
        """Yield a row group, or columns of it, in batches of about BATCH_BYTES."""
        about = parquet.metadata.row_group(group)
        size, rows = about.total_byte_size, 0
        if columns:
            chunks = map(about.column, range(about.num_columns))
            size = sum(chunk.total_uncompressed_size for chunk in chunks if chunk.path_in_schema in columns)
        # The size is that of encoded values. Values of a dictionary, which occur in it once, take more memory.
        known = self._row_bytes.get(columns)
        row_bytes = max(size // max(about.num_rows, 1), known or 0, 1)
        most = max(1, min(FIRST_ROWS if known is None else BATCH_ROWS, BATCH_BYTES // row_bytes))
        with errors_of(self.name):
            for batch in parquet.iter_batches(most, [group], list(columns) or None, use_threads=use_threads):
                rows += len(batch)
                if rows <= about.num_rows:
                    self._row_bytes[columns] = batch.nbytes // max(len(batch), 1)
                    yield batch
        if rows != about.num_rows:
            raise FileError(self.name, f"row group {group} has {rows} rows instead of {about.num_rows}")


def is_ordered(kind: Any) -> bool:
    """Return whether rows can be ordered by a column of this type: numbers, times and text."""
    from pyarrow import types

    if types.is_dictionary(kind):
        kind = kind.value_type
    tests = types.is_integer, types.is_floating, types.is_decimal, types.is_timestamp, types.is_date, types.is_null
    texts = types.is_string, types.is_large_string, types.is_binary, types.is_large_binary
    return any(test(kind) for test in tests + texts)


def text_of(values: Any) -> Any:
    """Return the values of a column as text that read_order() reads."""
    import pyarrow as pa

    kind = values.type
    if pa.types.is_dictionary(kind):
        values = values.dictionary_decode()
        kind = values.type
    if pa.types.is_timestamp(kind) and kind.tz is not None:  # the text of local times needs a database of time zones
        values = values.cast(pa.timestamp(kind.unit))
    return values if pa.types.is_large_string(kind) or "binary" in str(kind) else values.cast(pa.string())
