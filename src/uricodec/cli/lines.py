"""Lines in, lines out: what the commands over lines share, whatever they do with one.

Chunks of whole lines go through a worker, which has the core do it. Python looks only at the lines of which it is to be
said what is wrong.
"""

import os

from uricodec.cli import streams
from uricodec.errors import UriError

# The buffer has room for so many chunks. A longer line is refused, whatever it says: memory stays flat.
ROOM = 4

# So many faults are fetched at once.
FAULTS = 16_384

# So many groups of valid lines are counted by name. Of twice as many, the rarer half is put together.
GROUPS = 5000


class Worker:
    """What is done with lines: the part of a command that it has for itself.

    Attributes:
        groups (str | None): What valid lines are counted by.
        header (bytes): What stands before the first line of the output.
    """

    groups: str | None = None
    header = b""

    def work(self, lines, errors, limit):
        """Do it with lines, as far as that goes at once.

        Args:
            lines (memoryview): Whole lines, or the last one of the input.
            errors (str): What becomes of those that are refused: "keep", "null", "drop" or "fail".
            limit (int): At least so many faults are to be found; 0: none.

        Returns:
            tuple[int, Lines, memoryview]: How many octets have been read, whole lines; what the core says of these: all
                their faults, unless none were to be found; and what is to be written, valid until the next call.

        Raises:
            UriError: For a line that is refused, with errors="fail"; the position is one of `lines`.
        """
        raise NotImplementedError

    def group(self, lines, found):
        """What the valid lines among these are counted by: an iterable of bytes, one for each. `found` is of work()."""
        raise NotImplementedError

    def record(self, code, offset):
        """What is written for a line that is refused, in place of the line or of nothing; None: no such thing."""


def filter_inputs(worker, arguments):
    """Send all inputs through a worker.

    Args:
        worker (Worker): What to do with the lines.
        arguments (argparse.Namespace): With files, output, errors, invalid_to and stats.

    Returns:
        int: 0

    Raises:
        CommandError: Of status 1 for a line that is refused with --errors fail, 2 if both outputs are one file, 3 for a
            file that fails.
        BrokenPipeError: Nobody reads the output any more.
    """
    if arguments.invalid_to is None:
        with streams.Output(arguments.output) as output:
            run(worker, arguments, arguments.errors, output, None)
    elif os.path.realpath(arguments.invalid_to) == os.path.realpath(arguments.output or "-"):
        raise streams.CommandError("--output and --invalid-to are the same file", 2)
    else:
        with streams.Output(arguments.output) as output, streams.Output(arguments.invalid_to) as rejects:
            run(worker, arguments, arguments.errors, output, rejects)
    return 0


def check_inputs(worker, arguments):
    """Write what is wrong with the lines of all inputs.

    Args:
        worker (Worker): What refuses them.
        arguments (argparse.Namespace): With files, output and stats.

    Returns:
        int: 0 if every line is valid, else 1.

    Raises:
        CommandError: Of status 3 for a file that fails.
        BrokenPipeError: Nobody reads the output any more.
    """
    with streams.Output(arguments.output) as rejects:
        return 1 if run(worker, arguments, "drop", None, rejects) else 0


def run(worker, arguments, errors, output, rejects):
    """Send all inputs through a LineFilter. Returns how many lines are invalid."""
    names = arguments.files or ["-"]
    tally = Tally(worker.groups) if arguments.stats else None
    lines = LineFilter(worker, errors, output, rejects, tally)
    if output:
        output.write(worker.header)
    with streams.Meter(names, output or rejects) as meter:
        for name in names:
            with streams.Input(name, meter) as source:
                lines.filter(source)
    if tally:
        tally.show()
    return lines.invalid


class LineFilter:
    """Lines in, what a worker makes of them out.

    Args:
        worker (Worker): What to do with them.
        errors (str): What becomes of those that it refuses: "keep", "null", "drop" or "fail".
        output (Output | None): Where the lines go.
        rejects (Output | None): Where it is written what is wrong with the invalid ones.
        tally (Tally | None): What counts them.

    Attributes:
        invalid (int): How many are.
    """

    def __init__(self, worker, errors, output, rejects, tally):
        self._worker, self._errors = worker, errors
        self._output, self._rejects, self._tally = output, rejects, tally
        self._faults = FAULTS if rejects or tally else 0
        self._buffer = bytearray(ROOM * streams.CHUNK)
        self._view = memoryview(self._buffer)
        self.invalid = 0

    def filter(self, source):
        """Filter one input. If what was written before lacks its last newline, it gets one.

        Args:
            source (Input): What to read.

        Raises:
            CommandError: An invalid line, with --errors fail; or a file fails.
            BrokenPipeError: Nobody reads the output any more.
        """
        buffer = self._buffer
        self._name = source.name
        self._line, self._before = 1, 0  # at the front of the buffer: number of the line, octets of the input before it
        apart = self._output is None or not self._output.in_line
        long = False  # whether a line that is too long goes on
        for size in source.chunks(buffer):
            if not apart:
                self._output.write(b"\n")
                apart = True
            start = 0
            if long:
                start = buffer.find(b"\n", 0, size) + 1 or size
                if self._long_is_kept():
                    self._output.write(self._view[:start])
            elif size > len(buffer) - 12 and buffer[size - 1] != 0x0A:
                start = size
                self._refuse_long(size)
            if start:
                long = buffer[start - 1] != 0x0A
                self._line += not long
            while start < size:
                start += self._filter_lines(start, size)
            self._before += size

    def _long_is_kept(self):
        return self._output is not None and self._errors == "keep" and self._worker.record("too-long", 0) is None

    def _refuse_long(self, size):
        """Do with a line of which the first octets fill the buffer as with any invalid line."""
        if self._errors == "fail":
            self._fail(0, size, "the line is too long")
        if self._long_is_kept():
            self._output.write(self._view[:size])
        elif self._output is not None and self._errors != "drop":
            self._output.write((self._worker.record("too-long", size) or b"") + b"\n")
        self.invalid += 1
        if self._faults:
            self._report([self._describe(self._line, size, "too-long", visible(self._buffer[:100]) + "...")])

    def _filter_lines(self, start, size):
        """Filter lines of buffer[start:size]. Returns how many octets these have."""
        lines = self._view[start:size]
        try:
            read, found = self._write(lines)
        except UriError as error:
            position = start + error.position
            whole = self._buffer.rfind(b"\n", start, position) + 1 or start
            while start < whole:
                read, found = self._write(self._view[start:whole])
                start += read
                self._line += found.lines
            self._fail(whole, position, error.reason)
        self.invalid += found.invalid
        if self._tally:
            self._tally.count_valid(found.lines - found.invalid)
            if self._worker.groups:
                self._tally.count_groups(self._worker.group(lines[:read], found))
        if self._faults and found.invalid:
            self._report_all(start, start + read, found)
        self._line += found.lines
        return read

    def _write(self, lines):
        """Write what becomes of lines. Returns how many octets of them were read, and what the core found."""
        read, found, written = self._worker.work(lines, self._errors, self._faults)
        if self._output:
            self._output.write(written)
            if lines[read - 1] != 0x0A and self._errors != "drop" and not self._output.in_line:
                self._output.write(b"\n")  # an empty line, too
        return read, found

    def _report_all(self, start, size, found):
        """Say what is wrong with the lines buffer[start:size]."""
        described = []
        for fault in found.faults:
            at = start + fault.start
            stop = self._buffer.find(b"\n", at, size)
            text = self._buffer[at:size] if stop < 0 else self._buffer[at:stop].removesuffix(b"\r")
            described.append(self._describe(self._line + fault.line, fault.offset, fault.code, visible(text)))
        self._report(described)

    def _describe(self, line, offset, code, text):
        if self._tally:
            self._tally.count_fault(code)
        return f"{self._name}\t{line}\t{offset}\t{code}\t{text}\n"

    def _report(self, described):
        if self._rejects:
            self._rejects.write("".join(described).encode())

    def _fail(self, start, position, reason):
        """Stop at an octet of the buffer; its line starts at `start`."""
        place = f"{self._name}:{self._line}:{position - start + 1} (octet {self._before + position})"
        raise streams.CommandError(f"{place}: {reason}", 1)


def visible(octets):
    r"""Octets (bytes-like) as text that does nothing to a terminal: what cannot be shown, and a backslash, is escaped.

    >>> print(visible(b"caf\xc3\xa9\x1b[2J \xff \\"))
    café\x1b[2J \xff \\
    """
    text = str(octets, "utf-8", "surrogateescape")
    return text if text.isprintable() and "\\" not in text else "".join(map(escape, text))


def escape(character):
    if character == "\\":
        return r"\\"
    if character.isprintable():
        return character
    return "".join(map(r"\x{:02x}".format, character.encode("utf-8", "surrogateescape")))


class Tally:
    """What --stats says: how many lines are valid, of which groups, and how many have which fault.

    Args:
        groups (str | None): What the groups are, in the plural; None: there are none.
    """

    def __init__(self, groups):
        from collections import Counter

        self._groups = groups
        self._valid = 0
        self._faults = Counter()
        self._counts = Counter()  # of groups
        self._others = 0  # lines of the groups that are put together

    def count_valid(self, count):
        """Count valid lines."""
        self._valid += count

    def count_groups(self, names):
        """Count the groups of valid lines (iterable of bytes)."""
        self._counts.update(names)
        if len(self._counts) > 2 * GROUPS:
            for name, count in self._counts.most_common()[GROUPS:]:
                self._others += count
                del self._counts[name]

    def count_fault(self, code):
        """Count an invalid line."""
        self._faults[code] += 1

    def show(self):
        """Write the counts to standard error, the largest first."""
        from json import dumps

        invalid = sum(self._faults.values())
        said = {"lines": self._valid + invalid, "valid": self._valid, "invalid": invalid}
        said["faults"] = descending(self._faults)
        if self._groups:
            names = dict.fromkeys((name.decode().lower() for name in self._counts), 0)
            for name, count in self._counts.items():
                names[name.decode().lower()] += count
            said[self._groups] = descending(names)
        if self._others:
            said[f"other {self._groups}"] = self._others
        streams.tell(dumps(said) + "\n")


def descending(counts):
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
