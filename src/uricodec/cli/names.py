"""`uricodec normalize` and `uricodec check`: names, one a line.

Chunks of whole lines go through the core. Python looks only at the lines of which it is to be said what is wrong.
"""

import os
import re

from uricodec._core._urn_lines import check_lines, normalize_lines
from uricodec.cli import streams
from uricodec.errors import UrnError

# The buffer has room for so many chunks. A longer line is no name, whatever it says: memory stays flat.
ROOM = 4

# What level "functional" changes in lines of level "namespace", which is the highest that the core has for lines.
ISBN_10 = re.compile(rb"urn:isbn:[0-9]{9}[0-9X](?=\r?$)", re.MULTILINE)

# So many faults are fetched at once.
FAULTS = 16_384

# So many namespaces are counted by name. Of twice as many, the rarer half is put together.
NAMESPACES = 5000


def normalize(arguments):
    """Normalize the lines of all inputs.

    Args:
        arguments (argparse.Namespace): What the parser has made of the command line.

    Returns:
        int: 0

    Raises:
        CommandError: Of status 1 for an invalid line with --errors fail, 2 if both outputs are one file, 3 for a file
            that fails.
        BrokenPipeError: Nobody reads the output any more.
    """
    if arguments.invalid_to is None:
        with streams.Output(arguments.output) as output:
            filter_lines(arguments, output, None)
    elif os.path.realpath(arguments.invalid_to) == os.path.realpath(arguments.output or "-"):
        raise streams.CommandError("--output and --invalid-to are the same file", 2)
    else:
        with streams.Output(arguments.output) as output, streams.Output(arguments.invalid_to) as rejects:
            filter_lines(arguments, output, rejects)
    return 0


def check(arguments):
    """Write what is wrong with the lines of all inputs.

    Args:
        arguments (argparse.Namespace): As for normalize().

    Returns:
        int: 0 if every line is valid, else 1.

    Raises:
        CommandError: Of status 3 for a file that fails.
        BrokenPipeError: Nobody reads the output any more.
    """
    arguments.level, arguments.errors = "8141", "drop"
    with streams.Output(arguments.output) as rejects:
        return 1 if filter_lines(arguments, None, rejects) else 0


def filter_lines(arguments, output, rejects):
    """Send all inputs through a LineFilter. Returns how many lines are invalid."""
    names = arguments.files or ["-"]
    tally = Tally() if arguments.stats else None
    lines = LineFilter(arguments, output, rejects, tally)
    with streams.Meter(names, output or rejects) as meter:
        for name in names:
            with streams.Input(name, meter) as source:
                lines.filter(source)
    if tally:
        tally.show()
    return lines.invalid


class LineFilter:
    """Lines in, normal forms out.

    Args:
        arguments (argparse.Namespace): With level, spec (None: that of the level) and errors.
        output (Output | None): Where the lines go.
        rejects (Output | None): Where it is written what is wrong with the invalid ones.
        tally (Tally | None): What counts them.

    Attributes:
        invalid (int): How many are.
    """

    def __init__(self, arguments, output, rejects, tally):
        self._level, self._errors = arguments.level, arguments.errors
        self._spec = arguments.spec or ("2141" if arguments.level == "2141" else "8141")
        self._output, self._rejects, self._tally = output, rejects, tally
        self._faults = FAULTS if rejects or tally else 0
        self._buffer = bytearray(ROOM * streams.CHUNK)
        self._view = memoryview(self._buffer)
        self._room = memoryview(bytearray(ROOM * streams.CHUNK))
        if self._level in ("namespace", "functional"):
            from uricodec import urn  # takes longer to import than all the rest; it brings the rules of namespaces

            self._normalize_one = urn.normalize
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
                if self._output is not None and self._errors == "keep":
                    self._output.write(self._view[:start])
            elif size > len(buffer) - 12 and buffer[size - 1] != 0x0A:
                start = size
                self._refuse_long(size)
            if start:
                long = buffer[start - 1] != 0x0A
                self._line += not long
            if start < size:
                self._filter_chunk(start, size)
            self._before += size

    def _refuse_long(self, size):
        """Do with a line of which the first octets fill the buffer as with any invalid line."""
        if self._errors == "fail":
            self._fail(0, size, "the line is too long")
        if self._output is not None and self._errors != "drop":
            self._output.write(self._view[:size] if self._errors == "keep" else b"\n")
        self.invalid += 1
        if self._faults:
            self._report([self._describe(self._line, size, "too-long", visible(self._buffer[:100]) + "...")])

    def _filter_chunk(self, start, size):
        """Filter the lines buffer[start:size]."""
        lines = self._view[start:size]
        try:
            found = self._write(lines) if self._output else check_lines(lines, b"\n", self._spec, self._faults)
        except UrnError as error:
            position = start + error.position
            whole = self._buffer.rfind(b"\n", start, position) + 1 or start
            self._line += self._write(self._view[start:whole]).lines
            self._fail(whole, position, error.reason)
        self.invalid += found.invalid
        if self._tally:
            self._count(lines, found)
        if self._faults and found.invalid:
            self._report_all(start, size, found)
        self._line += found.lines

    def _write(self, lines):
        """Write what becomes of lines. Returns what the core found."""
        level = "namespace" if self._level == "functional" else self._level
        found = normalize_lines(lines, self._room, b"\n", level, self._spec, self._errors, self._faults)
        written = self._room[: found.written]
        self._output.write(ISBN_10.sub(self._to_isbn_13, written) if self._level == "functional" else written)
        if self._errors == "null" and found.invalid and lines[-1] != 0x0A:
            self._output.write(b"\n")  # an empty line, too
        return found

    def _to_isbn_13(self, found):
        start = found.start()
        is_line = start == 0 or found.string[start - 1] == 0x0A
        return self._normalize_one(found[0], "functional") if is_line else found[0]

    def _count(self, lines, found):
        if found.invalid:
            found = normalize_lines(lines, self._room, b"\n", "bytes", self._spec, "drop", 0)
            lines = self._room[: found.written]
        self._tally.count_valid(lines)

    def _report_all(self, start, size, found):
        """Say what is wrong with the lines buffer[start:size]: with those that `found` has, and with the others."""
        line = self._line
        while True:
            described = []
            for fault in found.faults:
                at = start + fault.start
                stop = self._buffer.find(b"\n", at, size)
                text = self._buffer[at:size] if stop < 0 else self._buffer[at:stop].removesuffix(b"\r")
                described.append(self._describe(line + fault.line, fault.offset, fault.code, visible(text)))
            self._report(described)
            if len(described) == found.invalid:
                break
            line += fault.line + 1
            start = stop + 1
            found = check_lines(self._view[start:size], b"\n", self._spec, FAULTS)

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
    """What --stats says: how many lines are valid, of which namespaces, and how many have which fault."""

    def __init__(self):
        from collections import Counter

        self._faults = Counter()
        self._namespaces = Counter()
        self._others = 0  # lines of the namespaces that are put together
        self._find_nids = re.compile(rb"^...:([^:]+)", re.MULTILINE).findall

    def count_valid(self, lines):
        """Count valid lines."""
        self._namespaces.update(self._find_nids(lines))
        if len(self._namespaces) > 2 * NAMESPACES:
            for nid, count in self._namespaces.most_common()[NAMESPACES:]:
                self._others += count
                del self._namespaces[nid]

    def count_fault(self, code):
        """Count an invalid line."""
        self._faults[code] += 1

    def show(self):
        """Write the counts to standard error, the largest first."""
        from json import dumps

        namespaces = dict.fromkeys((nid.decode().lower() for nid in self._namespaces), 0)
        for nid, count in self._namespaces.items():
            namespaces[nid.decode().lower()] += count
        valid = self._others + sum(namespaces.values())
        invalid = sum(self._faults.values())
        counts = {
            "lines": valid + invalid,
            "valid": valid,
            "invalid": invalid,
            "faults": descending(self._faults),
            "namespaces": descending(namespaces),
        }
        if self._others:
            counts["other namespaces"] = self._others
        streams.tell(dumps(counts) + "\n")


def descending(counts):
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
