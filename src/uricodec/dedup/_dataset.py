"""The rows of Parquet files as batches of identifiers, with pyarrow: passes over a column of them.

A pass reads the column only, and if needed the column by which rows are ordered. One thread at a time reads a batch,
and each normalizes its own. Nulls are an identifier like others.

Which rows are kept is a bit for each row, in a file that is mapped to memory. _dataset_output writes them.
"""

import os
from bisect import bisect_right
from typing import Any, NamedTuple

from uricodec._base._fingerprint import FingerprintKey
from uricodec._io.folders import OutputFolder
from uricodec._io.workers import WORTH, OrderedWorkers, idle_cores, useful_threads
from uricodec._records._framing import json_string
from uricodec.dedup import _dataset_output
from uricodec.dedup._dataset_files import DatasetFile, find_files
from uricodec.dedup._fields import NoOrderError
from uricodec.dedup._identifiers import ColumnBatch
from uricodec.dedup._options import paths_of
from uricodec.dedup._source import Source
from uricodec.errors import UriError


class Piece(NamedTuple):
    """Rows of a file that are processed at once."""

    file: DatasetFile
    row: int  # the number of the first one in the file
    column: Any
    orders: bytes | None
    unordered: int
    is_input: bool


class Dataset(Source):
    """Parquet files, with the identifiers in a column.

    Args:
        options (Options): The options of the run.
        inputs, exclude (Path | Sequence[Path]): Files and folders.

    Attributes:
        files (list[DatasetFile]): The inputs.
        threads (int): The number of threads.
    """

    def __init__(self, options, inputs, exclude=(), _scratch=None, _on_invalid=None):
        super().__init__(options)
        batch = ColumnBatch(options.identifier.rows(), FingerprintKey())  # says which types of columns can be read
        self.files = self._files_of(inputs, batch, options.by)
        self._exclude = self._files_of(exclude, batch) if exclude else []
        self.ticker.total = sum(file.size for file in self._exclude + self.files)
        self.excluded = sum(file.rows for file in self._exclude)
        self._starts = [self.excluded]  # the number of the first row of each file, and after the last one
        for file in self.files:
            self._starts.append(self._starts[-1] + file.rows)
        self.lines = self._starts[-1]
        self.threads = useful_threads(options.threads or (idle_cores() if self.ticker.total >= WORTH else 1))

    def _files_of(self, paths, batch, by=None):
        return [DatasetFile(*file, self.options.column, batch, by) for file in find_files(paths_of(paths))]

    def batch(self, identifier, key, ordered=False):
        errors, exact = self.options.errors, self.options.exact
        return ColumnBatch(identifier.rows(errors), key, errors, exact, nulls=True, ordered=ordered)

    def output(self):
        _dataset_output.check_columns(self.files, self.options.report.column)
        return OutputFolder(os.fsdecode(self.options.output))

    def write(self, run, output):
        """Read the files, and write the rows that the run keeps. Return their number."""
        rows, counts = run.selected()
        _dataset_output.DatasetOutput(self, rows, counts, output).write()
        return rows.count - rows.rank(self.excluded)

    def numbered(self):
        """Yield each file of the inputs, and the number of its first row."""
        return zip(self.files, self._starts)  # noqa: B905  (one more start)

    def place_of(self, row):
        at = bisect_right(self._starts, row) - 1
        return b'"file":%s,"row":%d' % (json_string(self.files[at].name.encode()), row - self._starts[at])

    def read_first(self, make, take, keep=True, copy=None):
        def use(piece, batch, invalid):
            if piece.is_input:
                self.invalid += invalid
                self.unordered += piece.unordered
            take(batch, piece.is_input)

        self._read(make, use, self.mark_known)
        if self.unordered and self.unordered == self.lines - self.excluded:
            raise NoOrderError("no row has a number or time in the column by which rows are ordered")

    def read_again(self, phase, take, make=None, copy=None):
        self.ticker.begin(phase)
        self._read(make, lambda _piece, batch, _invalid: take(batch))

    def _read(self, make, use, mark=lambda batch: None):
        spare = [make()]
        ordered, number, read = spare[0].ordered, 0, 0

        def pieces():
            for file in self._exclude + self.files:
                row, is_input = 0, file not in self._exclude
                for column, orders, unordered in file.columns(ordered and is_input):
                    yield Piece(file, row, column, orders, unordered, is_input)
                    row += len(column)

        def work(piece):
            try:
                batch = spare.pop()
            except IndexError:  # another thread has it
                batch = make()
            batch.hold(piece.column, piece.orders)
            before = batch.invalid
            try:
                batch.read(piece.row, len(piece.column))
            except UriError as error:
                error.file = piece.file.name
                raise
            mark(batch)
            return batch, batch.invalid - before

        def take(piece, found):
            nonlocal number, read
            batch, invalid = found
            batch.first = number
            use(piece, batch, invalid)
            number += len(batch)
            self.ticker.rows += len(batch)
            # the size of a file is that of its rows, to the last byte
            done = (piece.row + len(batch)) * piece.file.size // piece.file.rows
            self.ticker.add(done - (0 if piece.row == 0 else read))
            read = done
            spare.append(batch)

        OrderedWorkers(self.threads).run(pieces(), work, take)
