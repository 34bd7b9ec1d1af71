"""The files of a deduplicated Parquet dataset: the rows that are kept, perhaps with counts.

A file that keeps all its rows is copied, row groups without such rows are not read, all others are read batch by batch.
Several files are written at the same time, one in each thread.

A row group is written when it has as many rows as the largest one of its input, or GROUP_BYTES: so neither the size of
the files nor that of their row groups determines the memory. If row groups are sorted, each is written by itself.
"""

from __future__ import annotations

import os
import re
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import TYPE_CHECKING, Any

from uricodec._io.files import FileError, close_descriptor, printable
from uricodec._io.temporary import sync
from uricodec._io.workers import OrderedWorkers
from uricodec.dedup._dataset_files import DatasetFile, errors_of
from uricodec.dedup._identifiers import mask

if TYPE_CHECKING:
    from collections.abc import Iterator

    from uricodec._io.folders import OutputFolder
    from uricodec.dedup._first_rows import FirstRows

# The most bytes of rows, in memory, that become a row group. It is the default size of row groups of parquet-mr.
GROUP_BYTES = 128 << 20

NEW_ROWS = re.compile(rb"\x02+")  # in the marks of rows

INDEX = 4  # the most bytes of the index of a value in a dictionary


def check_columns(files: list[DatasetFile], added: str) -> None:
    """Check that a column can be added to all files; "": none is.

    Raises:
        FileError: If a file has a column with this name.
    """
    for file in files:
        if added and added in file.columns_named:
            raise FileError(file.name, f"already has a column {added!r}")


def ahead(items: Iterator[Any]) -> Iterator[Any]:
    """Yield items while another thread computes the next one."""
    with ThreadPoolExecutor(1) as pool:
        item = pool.submit(next, items, None)
        while (found := item.result()) is not None:
            item = pool.submit(next, items, None)
            yield found


class DatasetOutput:
    """The files of the output.

    Args:
        dataset (Dataset): The inputs.
        rows (FirstRows): The rows that are kept; sealed.
        counts (bytes-like | None): The counts of these rows, which become the first column; None: no counts.
        folder (OutputFolder): The folder for the files.
    """

    def __init__(self, dataset: Any, rows: FirstRows, counts: Any, folder: OutputFolder) -> None:
        self._dataset, self._rows, self._counts, self._folder = dataset, rows, counts, folder
        self._ticker, self._lock, self._column = dataset.ticker, Lock(), dataset.options.report.column
        # With fewer files than threads, another thread reads the next rows of a file.
        self._reads_ahead = dataset.threads > len(dataset.files)

    def write(self) -> None:
        """Write each file with the rows that are kept.

        Raises:
            FileError: If a file cannot be read or written, or was changed.
        """
        self._ticker.begin("write")
        OrderedWorkers(self._dataset.threads).run(list(self._dataset.numbered()), lambda each: self._write_file(*each))

    def _tick(self, rows: int, size: int) -> None:
        with self._lock:
            self._ticker.rows += rows
            self._ticker.add(size)

    def _write_file(self, file: DatasetFile, start: int) -> None:
        """Write the rows of a file that are kept; `start` is the number of its first row."""
        folder, rows = self._folder, self._rows
        path, name = os.path.join(folder.path, file.place), os.path.join(folder.name, printable(file.place))
        with errors_of(name):
            os.makedirs(os.path.dirname(path), exist_ok=True)
            if self._counts is None and rows.rank(start + file.rows) - rows.rank(start) == file.rows:
                file.copy(path)
                self._tick(file.rows, file.size)
            else:
                self._write_some(file, path, start)
            number = os.open(path, os.O_RDONLY)
            try:
                sync(number)
            finally:
                close_descriptor(number)

    def _write_some(self, file: DatasetFile, path: str, start: int) -> None:
        import pyarrow as pa  # type: ignore[import-untyped,import-not-found,unused-ignore]
        import pyarrow.parquet as pq  # type: ignore[import-untyped,import-not-found,unused-ignore]

        rows, counted = self._rows, self._column
        with file.open() as parquet, pa.OSFile(os.fsencode(path), "wb") as target:
            about, schema = parquet.metadata, parquet.schema_arrow
            options = options_of(about, counted)
            # These rows do not wait for those of the next row group: a row that is kept refers to the whole dictionary
            # of its row group, and the rows of two sorted row groups are not sorted.
            waits = not any(map(pa.types.is_dictionary, schema.types)) and not options["sorting_columns"]
            if counted:
                schema = schema.insert(0, pa.field(counted, pa.int64(), nullable=False))
            sizes = [about.row_group(group).num_rows for group in range(about.num_row_groups)]
            first = rows.rank(start)
            with pq.ParquetWriter(target, schema, **options) as writer:
                groups = RowGroups(writer, max(sizes))
                for group, size in enumerate(sizes):
                    kept = rows.rank(start + size) - rows.rank(start)
                    row = start
                    for batch in self._batches(file, parquet, group) if kept else ():
                        whole = kept == size and not counted
                        groups.add(pa.Table.from_batches([batch]) if whole else self._kept_rows(batch, row, schema))
                        row += len(batch)
                        self._tick(0, 0)
                    if not waits:
                        groups.flush()
                    start += size
                    self._tick(size, file.size * size // max(file.rows, 1))
                groups.flush()
                if rows.rank(start) == first:
                    writer.write_table(schema.empty_table())  # not all readers can read a file without row groups

    def _batches(self, file: DatasetFile, parquet: Any, group: int) -> Iterator[Any]:
        batches = file.batches(parquet, group, use_threads=self._reads_ahead)
        return ahead(batches) if self._reads_ahead else batches

    def _kept_rows(self, batch: Any, start: int, schema: Any) -> Any:
        """Return the rows of a batch that are kept (pyarrow.Table); `start` is the number of its first row."""
        import pyarrow as pa

        marks = self._rows.marks(start, len(batch))
        try:
            table = pa.Table.from_batches([batch.filter(pa.array(mask(marks)))])
        except pa.ArrowNotImplementedError:  # not all versions can filter views
            pieces = [batch.slice(run.start(), run.end() - run.start()) for run in NEW_ROWS.finditer(marks)]
            table = pa.Table.from_batches(pieces, batch.schema).combine_chunks()
        if self._counts is None:
            return table
        counts = pa.py_buffer(self._rows.counts_of(self._counts, start, start + len(batch)))
        return table.add_column(0, schema.field(0), pa.Array.from_buffers(pa.int64(), len(table), [None, counts]))


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


def options_of(about: Any, counted: str = "") -> dict[str, Any]:
    """Return the options for pyarrow.parquet.ParquetWriter, given the FileMetaData of the input.

    They are those on which the Parquet types of the columns depend, compression, for which columns a dictionary is
    tried, and the order of rows. A column `counted` comes first; "": none does.
    """
    from pyarrow.parquet import SortingColumn

    leaves = [about.schema.column(i) for i in range(about.num_columns)]
    group = about.row_group(0)
    chunks = [group.column(i) for i in range(group.num_columns)]
    codecs = {chunk.path_in_schema: chunk.compression.replace("UNCOMPRESSED", "NONE") for chunk in chunks}
    logical = [(leaf.logical_type.type, leaf.physical_type) for leaf in leaves]
    orders = {about.row_group(i).sorting_columns for i in range(about.num_row_groups)}
    order = group.sorting_columns if len(orders) == 1 else ()
    if counted:
        codecs[counted] = chunks[0].compression.replace("UNCOMPRESSED", "NONE")
        order = [SortingColumn(each.column_index + 1, each.descending, each.nulls_first) for each in order]
    return {
        "compression": codecs if len({*codecs.values()}) > 1 else next(iter(codecs.values())),
        "use_dictionary": [chunk.path_in_schema for chunk in chunks if is_indexed(chunk)] or False,
        "store_schema": b"ARROW:schema" in (about.metadata or {}),
        "sorting_columns": order or None,
        "write_page_index": any(chunk.has_column_index for chunk in chunks),
        "use_compliant_nested_type": not any(".list.item" in leaf.path for leaf in leaves),
        "store_decimal_as_integer": any(each in logical for each in (("DECIMAL", "INT32"), ("DECIMAL", "INT64"))),
        "use_deprecated_int96_timestamps": any(physical == "INT96" for _, physical in logical),
    }


def is_indexed(chunk: Any) -> bool:
    """Return whether the values of a column chunk may all be in its dictionary, given its ColumnChunkMetaData.

    A writer that gives up a dictionary, because it is too large, writes the other values as they are: the data is then
    larger than the indices of all values.
    """
    if not chunk.has_dictionary_page:
        return False
    dictionary = chunk.data_page_offset - (chunk.dictionary_page_offset or 0)
    return chunk.total_compressed_size - dictionary <= INDEX * chunk.num_values + INDEX
