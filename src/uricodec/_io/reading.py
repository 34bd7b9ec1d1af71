"""Inputs as chunks of whole lines.

A chunk is read into a reusable buffer and handed on up to its last newline. The bytes after that move to the start of
the next buffer, and the next read appends to them. A line longer than the buffer is handed on in pieces, each of them a
chunk. So memory use stays constant, and no Python code runs per line.
"""

import os
import sys
from stat import S_ISREG

from uricodec._base._text import new_buffer
from uricodec._io import magic
from uricodec._io.files import FileError, binary_stream, close_file, file_error, printable

# Bytes of a line buffer. A longer line is processed in pieces, so the buffer must hold a character and a byte: four
# triplets and a byte.
CHUNK = 384 * 1024

# Default limit for the bytes of a line, without its terminator, where a line must be in memory as a whole.
MAX_LINE = 16 * 1024 * 1024

TRUNCATED = "file was truncated while it was read"


class Ahead:
    """Bytes that were read before they are wanted.

    Args:
        data (bytes-like): The bytes.
    """

    def __init__(self, data=b""):
        self._rest = memoryview(data)

    def read_into(self, view):
        """Move at most len(view) bytes into `view`. Return their number; 0: none are left."""
        size = min(len(self._rest), len(view))
        view[:size], self._rest = self._rest[:size], self._rest[size:]
        return size


class Input:
    """An input file, or standard input, that is read as chunks of lines.

    Args:
        name (str): The path of a file, or "-" for standard input.
        meter (Meter | None): The progress meter that counts the bytes read.
        file (binary file | None): An open file to read instead, which is not closed; "-" is then its name.
        output (Output | None): The output of the command. It must not be appended to the input.

    Attributes:
        compressed (bool): Whether the input is compressed, as far as is known.

    Raises:
        FileError: The input cannot be opened or read, or the output is appended to it.

    >>> with Input("missing.txt") as source:
    ...     pass
    Traceback (most recent call last):
    uricodec._io.files.FileError: missing.txt: No such file or directory
    """

    def __init__(self, name, meter=None, file=None, output=None):
        is_standard = name == "-" and file is None
        self.name = getattr(sys.stdin, "shown", "<stdin>") if is_standard else printable(name)
        self._path = name
        self._meter = meter
        self._file = file
        self._output = output
        self._ahead = Ahead()
        self.compressed = self._plain = False

    def __enter__(self):
        if self._file is not None:
            self._raw = self._file
        elif self._path == "-":
            self._raw = binary_stream(sys.stdin, self.name)
        else:
            try:
                self._raw = open(self._path, "rb", buffering=0)
            except (OSError, ValueError) as error:  # ValueError: a name with NUL
                raise file_error(self.name, error) from None
        if self._output is not None and self._output.follows(self):
            self.__exit__()
            raise FileError(self.name, "input file is output file")
        self._opened = self.status()
        return self

    def __exit__(self, *exception):
        if self._path != "-" and self._file is None:
            close_file(self._raw)

    def status(self):
        """Return the status of the file (os.stat_result); None if the input is not a file of the system."""
        try:
            return os.fstat(self._raw.fileno())
        except (OSError, ValueError, AttributeError):
            return None

    def file_name(self):
        """Return the name of the file as it is (bytes); that in messages if it is not a file of the system."""
        return os.fsencode(self.name if self._path == "-" else self._path)

    def fileno(self):
        """Return the descriptor of the file."""
        return self._raw.fileno()

    def place(self):
        """Return the offset of the next read, if the input is a regular file."""
        return self._raw.tell()

    def resume(self, place, plain=True):
        """Continue to read at another offset of a regular file, which is not compressed if `plain` is true."""
        try:
            self._raw.seek(place)
        except OSError as error:
            raise file_error(self.name, error) from None
        self._plain = plain

    def peek(self, size):
        """Return the first bytes of the input (at most `size`), which the next read returns, too.

        So the contents of an input can be detected without opening it again: a pipe cannot be read twice.
        """
        head = memoryview(bytearray(size))
        end = 0
        while end < size and (count := self.read_into(head[end:])):
            end += count
        self._ahead = Ahead(head[:end])
        return bytes(head[:end])

    def read_into(self, view):
        """Read at most len(view) bytes into `view`. Return their number; 0 at the end."""
        if size := self._ahead.read_into(view):
            return size
        try:
            while (size := self._raw.readinto(view)) is None:  # None: another process made it non-blocking
                from select import select

                select([self._raw], [], [])
        except OSError as error:
            raise file_error(self.name, error) from None
        if not size:
            self._check_length()
        if self._meter is not None:
            self._meter.add(size)
        return size

    def _check_length(self):
        """Check at the end of the input that it was not truncated."""
        now = self.status() if self._opened else None
        if now and was_truncated(self._opened, now, self._raw.tell):
            raise FileError(self.name, TRUNCATED)

    def begin(self, view):
        """Read for the first time, like the function begin(), unless the input is known to be uncompressed."""
        if self._plain:
            return self.read_into, self.read_into(view)
        read_into, size = begin(self.name, self.read_into, view)
        self.compressed = read_into != self.read_into
        return read_into, size

    def chunks(self, buffers, ends=None, max_line=None, most_read=None):
        """Yield the input in chunks; the parameters are those of chunks_of().

        Raises:
            FileError: The input fails. All whole lines before the failure have been yielded.
        """
        return chunks_of(self.begin, buffers, ends, max_line, most_read)


def begin(name, read_into, view):
    """Read the beginning of a file, and detect whether it is compressed.

    Args:
        name (str): The file's name, for messages.
        read_into (Callable[[memoryview], int]): Reads at most as many bytes as its argument holds; 0 at the end.
        view (memoryview): The destination, at least 10 bytes.

    Returns:
        tuple[Callable[[memoryview], int], int]: The function for all further reads, and the number of bytes that are in
            `view` already. The function is `read_into` itself if the file is not compressed.
    """
    size = end = read_into(view)
    while size and end < magic.LONGEST and magic.may_be(view[:end]):
        size = read_into(view[end:])
        end += size
    form = magic.format_of(view[:end])
    if form is None:
        return read_into, end
    from uricodec._io.compress import Decompressor

    read_into = Decompressor(name, form, read_into, bytes(view[:end])).read_into
    return read_into, read_into(view)


def was_truncated(before, now, place):
    """Return whether a file was truncated since it was opened.

    A file that was truncated and has grown again ended too early, and its modification time has changed. If the time is
    the same, it is a file of the kernel, such as those in /sys: their sizes are only upper bounds.

    Args:
        before (os.stat_result): The status of the file when it was opened.
        now (os.stat_result): The status after the end was read.
        place (Callable[[], int]): Returns the offset at which the end was read.
    """
    if not S_ISREG(before.st_mode):
        return False
    return now.st_size < before.st_size or (now.st_ctime_ns != before.st_ctime_ns and place() < before.st_size)


def chunks_of(begin, buffers, ends=None, max_line=None, most_read=None):  # noqa: PLR0912
    r"""Read lines in chunks.

    An example: the lines ab, cdefghijklmn and o are read 6 bytes at a time, into buffers of 9 bytes.

        buffer              chunk
        ab\ncde             ab\n                   cde moves to the next buffer
        cdefghijk                                  no line ends; the buffer is full
                            cdefghij               a piece that begins a line; a byte stays, so that a last piece exists
        klmn\no             klmn\n                 a piece that ends it
        o                   o                      the input is at its end

    With `max_line` 100 the buffer grows instead, and the second chunk is cdefghijklmn\n, a whole line.

    Args:
        begin (Callable[[memoryview], tuple]): Does the first read, like Input.begin().
        buffers (Buffers): The chunks to read into, of at least 13 bytes each. Capacity beyond CHUNK is used for long
            lines only.
        ends (LineEnds | None): Finds the ends of lines, or of records; None: lines end with a newline.
        max_line (int | None): The limit for the bytes of a line, without its terminator. Buffers grow up to it and
            shrink again. None: the capacity of a buffer is the limit, and a longer line is cut where safe_cut() says.
        most_read (int | None): The number of bytes per read; None: CHUNK. The first read is never larger than CHUNK, so
            that the first output comes early.

    Yields:
        Chunk: The next chunk: whole lines, the last of which may lack its terminator at the end of the input, or a
            piece of a line that is longer than the limit. The caller returns it to `buffers` after use.
    """
    ends, most_read = ends or LineEnds(), most_read or CHUNK
    chunk = buffers.get()
    first = known = 0  # offset of the first line; offset up to which no line ends
    # Whether a chunk was yielded, and whether the buffer begins inside a long line. A piece of an unfinished line
    # leaves one byte unyielded, so that a last piece exists.
    begun = in_long = False
    read_into, size = begin(chunk.view[: min(most_read, CHUNK)])
    end = ends.keep(chunk.buffer, 0, size)
    while size:
        most = len(chunk.buffer) if max_line is None else max_line + 1
        at = 0
        chunk.begins = not in_long
        if in_long:
            at = ends.skip(chunk.buffer, known, end)
            known, in_long = at or end, not at
            if in_long and end == len(chunk.buffer):
                at = safe_cut(chunk.buffer, end - 1)
        else:
            first = 0 if begun else ends.front(chunk.buffer, end)
            at = ends.cut(chunk.buffer, first, max(first, known), end)
            known = end if end > first else 0
            if at - first > most:
                known = at = allowed_lines(ends, chunk.buffer, first, at, most)
            if at <= first and end - first >= most:
                known = at = safe_cut(chunk.buffer, end - 1) if max_line is None else first + max_line
                ends.skip(chunk.buffer, first, at)
                in_long = True
        if at:
            chunk.size, chunk.ends, begun = at, not in_long, True
            yield chunk
            following = buffers.get()
            following.begin(chunk.view[at:end])
            chunk = following
            end, known = end - at, max(known - at, 0)
            if known < end or end >= most:
                continue
        elif end == len(chunk.buffer):
            chunk.replace(chunk.view, min(2 * end, first + most))
        try:
            size = read_into(chunk.view[end : end + most_read])
        except FileError:
            if not in_long and (at := ends.rest(chunk.buffer, first, end)):
                chunk.size, chunk.ends = at, True
                yield chunk
            raise
        end = ends.keep(chunk.buffer, end, end + size)
    if end:
        chunk.size, chunk.begins, chunk.ends = end, not in_long, True
        yield chunk
    else:
        buffers.release(chunk)


class LineEnds:
    """The rule for where the lines of one input end.

    Args:
        terminator (bytes): The byte that ends a line.
    """

    def __init__(self, terminator: bytes = b"\n") -> None:
        self._terminator = terminator

    def front(self, buffer: bytearray, stop: int) -> int:
        """Return the offset of the first line, given the first bytes of an input, buffer[:stop].

        The result is `stop` as long as the offset depends on bytes that are not read yet.
        """
        return 0

    def last(self, buffer: bytearray, start: int, stop: int) -> int:
        """Return the offset after the last line end in buffer[start:stop]; 0: none. A line begins at `start`."""
        return buffer.rfind(self._terminator, start, stop) + 1

    def cut(self, buffer: bytearray, first: int, start: int, stop: int) -> int:
        """Do what last() does for a line that begins at `first` and does not end between that offset and `start`."""
        return self.last(buffer, start, stop)

    def rest(self, buffer: bytearray, first: int, stop: int) -> int:
        """Return the offset after the last line end, if cut() waits for more of an input that cannot be read; or 0."""
        return 0

    def keep(self, buffer: bytearray, start: int, stop: int) -> int:
        """Remove bytes from buffer[start:stop], which was read next. Return the offset after those that are kept."""
        return stop

    def skip(self, buffer: bytearray, start: int, stop: int) -> int:
        """Return the offset after the end of a long line of which buffer[start:stop] is the next part; 0: no end."""
        return buffer.find(self._terminator, start, stop) + 1


def allowed_lines(ends, buffer, start, stop, most):
    """Return the offset up to which the lines of buffer[start:stop] have at most `most` bytes, terminators included.

    >>> allowed_lines(LineEnds(), b"ab\\na\\nabc\\n", 0, 9, 3), allowed_lines(LineEnds(), b"ab\\na\\nabc\\n", 0, 9, 4)
    (5, 9)
    """
    while stop - start > most:
        after = ends.last(buffer, start, start + most)
        if not after:
            return start
        start = after
    return stop


def safe_cut(buffer, end):
    r"""Return the offset at which to cut a line of which only buffer[:end] has been read.

    The cut is not in a triplet, not in a UTF-8 character (whose bytes may be triplets), and not between "\r" and "\n".

    A character consists of a lead byte and up to three continuation bytes, and the lead determines how many. So the
    last bytes are checked backwards to the lead; if its character is incomplete, the cut is before the lead.

    >>> safe_cut(b"ab%E2%82", 8), safe_cut(b"ab%E2%82%AC", 11), safe_cut(b"ab%E", 4)
    (2, 11, 2)
    """
    if buffer[end - 1] == 0x0D:
        return end - 1
    percent = buffer.rfind(b"%", max(0, end - 2), end)
    if percent >= 0:
        end = percent
    start = end
    for have in range(1, 4):
        if start == 0:
            break
        byte, start = unit_before(buffer, start)
        if byte >= 0xC0:
            wants = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return start if wants > have else end
        if byte < 0x80:
            break
    return end


def unit_before(buffer, end):
    """Return the byte that ends at offset `end`, decoded if it is a triplet, and the offset where it starts."""
    digits = buffer[end - 2 : end]
    if end >= 3 and buffer[end - 3] == 0x25 and all(digit in b"0123456789ABCDEFabcdef" for digit in digits):
        return int(digits, 16), end - 3
    return buffer[end - 1], end - 1


class Chunk:
    """A buffer and the state that belongs to its contents.

    Args:
        capacity (int): The length of the buffer.
        state (object): Objects that the code that processes a chunk keeps from one chunk to the next.

    Attributes:
        buffer (bytearray): The buffer.
        size (int): How many bytes at the start of the buffer are lines, or a piece of one.
        begins (bool): Whether the first of them begins a line.
        ends (bool): Whether the last of them ends a line.
    """

    def __init__(self, capacity, state=None):
        self.buffer, self.state = new_buffer(capacity), state
        self.size, self.begins, self.ends = 0, True, True
        self._capacity = capacity

    @property
    def whole(self):
        """Whether the chunk consists of whole lines, not of a piece of one."""
        return self.begins and self.ends

    @property
    def view(self):
        """A new memoryview of the buffer.

        Without the GIL, no two threads may make or drop slices of the same view (CPython issue 155606). Shared views
        would break that rule: an object is freed by the thread that made it, at any time after another thread dropped
        it.
        """
        return memoryview(self.buffer)

    def replace(self, data, capacity):
        """Replace the buffer by one of `capacity` bytes that begins with `data`."""
        self.buffer = new_buffer(capacity)
        self.view[: len(data)] = data

    def begin(self, data):
        """Copy `data` to the start of the buffer, and restore its original length, or more if `data` needs it."""
        capacity = max(self._capacity, 2 * len(data) if len(data) >= self._capacity else 0)
        if len(self.buffer) == capacity or self._capacity < len(data) < len(self.buffer):
            self.view[: len(data)] = data
        else:
            self.replace(data, capacity)


class Buffers:
    """A pool of chunks: there are never more of them than are in use at once.

    Args:
        capacity (int): The length of the buffer of a chunk.
        make_state (Callable[[], object]): Returns the state of a new chunk.
    """

    def __init__(self, capacity, make_state=lambda: None):
        self._capacity, self._make_state = capacity, make_state
        self._free = []

    def get(self):
        """Return an unused chunk: the one released last, which is still in the CPU's cache, or a new one."""
        try:
            return self._free.pop()
        except IndexError:
            return Chunk(self._capacity, self._make_state())

    def borrowing(self, view):
        """Return a chunk of whole lines that are in memory already (memoryview)."""
        chunk = Chunk(0, self._make_state())
        chunk.buffer, chunk.size = view, len(view)
        return chunk

    def release(self, chunk):
        """Return a chunk to the pool, unless its buffer is borrowed."""
        if isinstance(chunk.buffer, bytearray):
            self._free.append(chunk)
