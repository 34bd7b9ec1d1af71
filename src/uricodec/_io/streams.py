"""Inputs as chunks of whole lines, outputs, and the progress meter.

A chunk is read into a reusable buffer and handed on up to its last newline. The bytes after that move to the start of
the next buffer, and the next read appends to them. A line longer than the buffer is handed on in pieces, each of them a
chunk. So memory use stays constant, and no Python code runs per line.
"""

import errno
import os
import sys
from _thread import get_ident
from stat import S_ISREG
from time import monotonic

from uricodec._base._text import new_buffer

# Bytes of a line buffer. A longer line is processed in pieces, so the buffer must hold a character and a byte: four
# triplets and a byte.
CHUNK = 384 * 1024
COMPRESSED_CHUNK = 64 * 1024

# Default limit for the bytes of a line, without its terminator, where a line must be in memory as a whole.
MAX_LINE = 16 * 1024 * 1024

# The first bytes of compressed data. No uncompressed text begins with them, except for skippable frames of Zstandard,
# whose magic number has one of 16 letters before the rest (RFC 8878 section 3.1.2).
FIRST = b"\x1fB\xfd\x28"
SKIPPABLE = b"\x2a\x4d\x18"

TRUNCATED = "file was truncated while it was read"

# Seconds before the meter appears on a terminal, between its updates, and between its lines elsewhere.
METER_DELAY = 0.5
METER_PERIOD = 0.1
METER_LINE_PERIOD = 10.0


class FileError(OSError):
    """An error of one file.

    Args:
        name (str): The file's name, as a message shows it.
        reason (str): What went wrong, for the user.
        number (int | None): The system's error number, if the system reported the error.

    >>> str(FileError("access.log", "No such file or directory"))
    'access.log: No such file or directory'
    """

    def __init__(self, name, reason, number=None):
        super().__init__(number, reason, name)

    def __str__(self):
        return f"{self.filename}: {self.strerror}"


def printable(name):
    """Return a file's name as a message shows it: control characters, which could affect a terminal, are escaped.

    >>> printable("access.log"), printable("a\\nb"), printable("")
    ('access.log', 'a\\\\nb', "''")
    """
    return (name if name.isprintable() else repr(name)[1:-1]) or "''"


def tell(text):
    """Write to standard error; do nothing if that fails."""
    try:
        if sys.stderr is not None:
            sys.stderr.write(text)
    except OSError:
        pass


def failure(name, error):
    return FileError(name, getattr(error, "strerror", None) or str(error), getattr(error, "errno", None))


def close(file):
    """Close a file, ignoring errors: nothing more is needed from it."""
    try:  # noqa: SIM105
        file.close()
    except OSError:
        pass


def binary(text_stream, name):
    """Return the binary stream below sys.stdin or sys.stdout."""
    if text_stream is None:
        raise FileError(name, "closed")
    return getattr(text_stream.buffer, "raw", text_stream.buffer)  # test doubles may have no raw stream


class Waiting:
    """The set of threads that are blocked at the moment, on each other or on the system, perhaps for ever."""

    def __init__(self):
        self._threads = set()

    def __enter__(self):
        self._threads.add(get_ident())

    def __exit__(self, *exception):
        self._threads.discard(get_ident())

    def __contains__(self, thread):
        return thread in self._threads


waiting = Waiting()


# --- inputs -----------------------------------------------------------------------------------------------------------


def total_size(names):
    """Return the total size of all inputs; 0 if it is unknown because one is not a regular file."""
    total = 0
    for name in names:
        try:
            status = os.stat(0 if name == "-" else name)
        except (OSError, ValueError):
            return 0
        if not S_ISREG(status.st_mode):
            return 0
        total += status.st_size
    return total


def unit_before(buffer, end):
    """Return the byte that ends at offset `end`, decoded if it is a triplet, and the offset where it starts."""
    digits = buffer[end - 2 : end]
    if end >= 3 and buffer[end - 3] == 0x25 and all(digit in b"0123456789ABCDEFabcdef" for digit in digits):
        return int(digits, 16), end - 3
    return buffer[end - 1], end - 1


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


def may_be_compressed(head):
    """Return whether `head` (bytes), the beginning of a file, could be compressed data.

    >>> may_be_compressed(b"("), may_be_compressed(b"P*"), may_be_compressed(b"Pa"), may_be_compressed(b"")
    (True, True, False, False)
    """
    return head[:1] != b"" and (head[0] in FIRST or (0x50 <= head[0] <= 0x5F and SKIPPABLE.startswith(head[1:4])))


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
    if not may_be_compressed(bytes(view[: min(end, 4)])):
        return read_into, end
    from uricodec._io import compress

    while size and end < compress.LONGEST and compress.may_be(view[:end]):
        size = read_into(view[end:])
        end += size
    form = compress.format_of(view[:end])
    if form is None:
        return read_into, end
    read_into = compress.Decompressor(name, form, read_into, bytes(view[:end])).read_into
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

    >>> with Output(os.devnull) as output, Input("missing.txt", Meter([], output)) as source:
    ...     pass
    Traceback (most recent call last):
    uricodec._io.streams.FileError: missing.txt: No such file or directory
    """

    def __init__(self, name, meter=None, file=None, output=None):
        is_standard = name == "-" and file is None
        self.name = getattr(sys.stdin, "shown", "<stdin>") if is_standard else printable(name)
        self._path = name
        self._meter = meter
        self._file = file
        self._output = output
        self._head = b""  # read already: see peek()
        self.compressed = self._plain = False

    def __enter__(self):
        if self._file is not None:
            self._raw = self._file
        elif self._path == "-":
            self._raw = binary(sys.stdin, self.name)
        else:
            try:
                self._raw = open(self._path, "rb", buffering=0)
            except (OSError, ValueError) as error:  # ValueError: a name with NUL
                raise failure(self.name, error) from None
        if self._output is not None and self._output.follows(self):
            self.__exit__()
            raise FileError(self.name, "input file is output file")
        self._opened = self.status()
        return self

    def __exit__(self, *exception):
        if self._path != "-" and self._file is None:
            close(self._raw)

    def status(self):
        """Return the status of the file (os.stat_result); None if the input is not a file of the system."""
        try:
            return os.fstat(self._raw.fileno())
        except (OSError, ValueError, AttributeError):
            return None

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
            raise failure(self.name, error) from None
        self._plain = plain

    def peek(self, size):
        """Return the first bytes of the input (at most `size`), which the next read returns, too.

        So the contents of an input can be detected without opening it again: a pipe cannot be read twice.
        """
        head = memoryview(bytearray(size))
        end = 0
        while end < size and (count := self.read_into(head[end:])):
            end += count
        self._head = bytes(head[:end])
        return self._head

    def read_into(self, view):
        """Read at most len(view) bytes into `view`. Return their number; 0 at the end."""
        if self._head:
            size = min(len(self._head), len(view))
            view[:size], self._head = self._head[:size], self._head[size:]
            return size
        try:
            while (size := self._raw.readinto(view)) is None:  # None: another process made it non-blocking
                from select import select

                select([self._raw], [], [])
        except OSError as error:
            raise failure(self.name, error) from None
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


def chunks_of(begin, buffers, ends=None, max_line=None, most_read=None):
    """Read lines in chunks.

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
        size = read_into(chunk.view[end : end + most_read])
        end = ends.keep(chunk.buffer, end, end + size)
    if end:
        chunk.size, chunk.begins, chunk.ends = end, not in_long, True
        yield chunk
    else:
        buffers.release(chunk)


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


# --- outputs ----------------------------------------------------------------------------------------------------------


DESCRIPTORS = {"stdin": 0, "stdout": 1, "stderr": 2}


def end_by_signal(number, _frame):
    sys.exit(128 + number)


def catch_signals():
    """Make the signals that end the process raise SystemExit. Return their previous handlers."""
    import signal

    handlers = {}
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        try:
            if number and signal.getsignal(number) == signal.SIG_DFL:
                handlers[number] = signal.signal(number, end_by_signal)
        except ValueError:  # not called in the main thread
            pass
    return handlers


def restore_signals(handlers):
    """Set the handlers that catch_signals() returned."""
    if handlers:
        import signal

        for number, handler in handlers.items():
            signal.signal(number, handler)


def descriptor_of(path):
    """Return the file descriptor that a path such as /dev/fd/1 means in this process; None for other paths.

    >>> descriptor_of("/dev/stdout"), descriptor_of("/dev/fd/7"), descriptor_of("out.txt")
    (1, 7, None)
    """
    folder, _, name = os.fspath(path).rpartition("/")
    if folder == "/dev" and name in DESCRIPTORS:
        return DESCRIPTORS[name]
    return int(name) if folder in ("/dev/fd", "/proc/self/fd") and name.isdecimal() else None


def place_of(path):
    """Return a key for what an output writes: equal for the same file, "-", None for a device (several may write)."""
    if path in (None, "-"):
        return "-"
    if descriptor_of(path) is not None:
        return None
    try:
        status = os.stat(path)
        return (status.st_dev, status.st_ino) if S_ISREG(status.st_mode) else None
    except (OSError, ValueError):
        pass
    from uricodec._io.temporary import place_of_new

    try:
        return place_of_new(path)
    except (OSError, ValueError):
        return path  # opening it reports the error


def appends(number):
    """Return whether writes to a descriptor always go to the end of its file (O_APPEND)."""
    try:
        from fcntl import F_GETFL, fcntl
    except ImportError:  # Windows
        return True
    return bool(fcntl(number, F_GETFL) & os.O_APPEND)


class Output:
    """Standard output, or a file that appears only when it is complete.

    A regular file is written under a temporary name in the same folder and replaces its target at the end of the `with`
    block. If the block ends by an exception, which includes signals that end the process, the temporary file is removed
    and the target is unchanged. A temporary file that a killed process leaves is removed by the next one that writes
    the same target. Devices and named pipes are written to directly. At a terminal, characters that it would obey, and
    that are not of ASCII, are written as JSON escapes.

    Args:
        path (str | None): The path of the file; None or "-" for standard output.
        alone (bool): Whether it is an error if another process is writing the same file, see Temporary.

    Attributes:
        end (int): The byte that ends a line.
        in_line (bool): Whether the last byte written was not `end`.

    Raises:
        FileError: The output cannot be opened or written.
        BrokenPipeError: The reader of the output has closed it.
    """

    def __init__(self, path=None, alone=False):
        self._path, self._alone = None if path in (None, "-") else path, alone
        self.name = "<stdout>" if self._path is None else printable(path)
        self.end, self.in_line = 0x0A, False
        self._temporary = None
        self._handlers = {}
        self._terminal = None

    def __enter__(self):
        if self._path is None:
            self._raw = binary(sys.stdout, self.name)
            sys.stdout.flush()
            self._find_terminal()
            return self
        try:
            self._open()
        except (OSError, ValueError) as error:
            raise failure(self.name, error) from None
        if self._temporary is None:
            self._find_terminal()
        return self

    def _find_terminal(self):
        if self.isatty():
            from uricodec._io.terminals import Escapes

            self._terminal = Escapes()

    def isatty(self):
        """Return whether the output is a terminal."""
        return self._raw.isatty()

    def _open(self):
        number = descriptor_of(self._path)
        if number is not None:  # a dup shares the offset with other writers of the file
            self._raw = open(os.dup(number), "wb", buffering=0)  # noqa: SIM115  (__exit__ closes it)
            return
        try:
            mode = os.stat(self._path).st_mode
        except FileNotFoundError:  # any other error is raised: the system may forbid to follow another user's link
            mode = None
        if mode is not None and not S_ISREG(mode):
            self._raw = open(self._path, "wb", buffering=0)  # noqa: SIM115  (__exit__ closes it)
            return
        if mode is not None and not os.access(self._path, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        from uricodec._io.temporary import Temporary

        self._handlers = catch_signals()
        try:
            self._temporary = Temporary(self._path, self._alone)
        finally:
            if self._temporary is None:
                restore_signals(self._handlers)
        self._raw = self._temporary.raw

    def follows(self, source):
        """Return whether writes append to the file that `source` (Input) is reading, which would never end."""
        read = source.status() if self._temporary is None else None
        if read is None or not S_ISREG(read.st_mode):
            return False
        try:
            number = self._raw.fileno()
            written = os.fstat(number)
            if (read.st_dev, read.st_ino) != (written.st_dev, written.st_ino):
                return False
            return source.place() < (written.st_size if appends(number) else os.lseek(number, 0, os.SEEK_CUR))
        except (OSError, ValueError, AttributeError):  # not a file of the system
            return False

    def write(self, data):
        """Write all of `data` (memoryview or bytes)."""
        if not data:
            return
        self.in_line = data[-1] != self.end
        self._write(self._terminal.escape(data) if self._terminal else data)

    def _write(self, data):
        rest = memoryview(data)
        try:
            with waiting:
                while rest:
                    size = self._raw.write(rest)
                    if size is None:  # None: another process made it non-blocking
                        from select import select

                        select([], [self._raw], [])
                        size = 0
                    rest = rest[size:]
        except BrokenPipeError:
            raise
        except OSError as error:
            raise failure(self.name, error) from None

    def write_header(self, data):
        """Write a header, which outputs that count records do not count."""
        self.write(data)

    def rewrite(self, data):
        """Write `data` over the beginning of a regular file."""
        try:
            self._raw.seek(0)
        except OSError as error:
            raise failure(self.name, error) from None
        self.write(data)

    def __exit__(self, kind, *exception):
        if self._terminal and kind is None:
            self._write(self._terminal.rest())
        if self._path is None:
            return
        try:
            if self._temporary is None:
                self._raw.close()
            elif kind is None:
                self._temporary.replace()
                self._temporary = None
        except OSError as error:
            raise failure(self.name, error) from None
        finally:
            try:
                if self._temporary:
                    self._temporary.discard()
            finally:
                restore_signals(self._handlers)


# --- the meter --------------------------------------------------------------------------------------------------------


def is_quiet(path):
    """Return whether what is written to an output never appears on a terminal: it is a file, or the null device.

    A terminal is not, nor is a pipe, whose reader may write to the same terminal.

    >>> is_quiet("new.txt"), is_quiet(os.devnull)
    (True, True)
    """
    try:
        number = sys.stdout.fileno() if path is None else descriptor_of(path)
        status = os.stat(path if number is None else number)
        return S_ISREG(status.st_mode) or os.path.samestat(status, os.stat(os.devnull))
    except (OSError, ValueError, AttributeError):  # a new file; a closed stream
        return True


def duration(seconds):
    """Return a time as text.

    >>> duration(9.6), duration(3600)
    ('0:10', '1:00:00')
    """
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


class Meter:
    """A progress meter on standard error: how much has been read, how fast, and how long the rest will take.

    On a terminal it is one line, which disappears at the end. Elsewhere it is a line every ten seconds, and one at the
    end. Unless `progress` decides, it is shown only on a terminal to which nothing else writes: no output is a terminal
    or a pipe, and standard input, if it is read, is not a terminal.

    Args:
        names (list[str]): The inputs, whose sizes give the total.
        outputs (Output | None): The outputs of the command.
        progress (bool | None): True: show the meter; False: do not; None: decide as above.

    Attributes:
        shows (bool): Whether the meter is shown.
    """

    def __init__(self, names, *outputs, progress=None):
        self._done = self._width = self._total = 0
        self._start = monotonic()
        self._next = float("inf")
        self._on_terminal = sys.stderr is not None and sys.stderr.isatty()
        self.shows = progress
        if progress is None:
            self.shows = self._on_terminal and not ("-" in names and sys.stdin is not None and sys.stdin.isatty())
            self.shows = self.shows and all(is_quiet(output._path) for output in outputs if output)
        if self.shows:
            self._total = total_size(names)
            self._next = self._start + (METER_DELAY if self._on_terminal else METER_LINE_PERIOD)

    def __enter__(self):
        return self

    def add(self, size):
        """Add `size` to the number of bytes read."""
        self._done += size
        if self.due(monotonic()):
            self.say(self.describe())

    def describe(self):
        """Return what the meter says now."""
        seconds, megabytes = monotonic() - self._start, self._done / 1e6
        parts = [f"{min(100, 100 * self._done // self._total)} %"] if self._total else []
        parts += [f"{megabytes:.0f} MB", f"{megabytes / (seconds or 1):.0f} MB/s"]
        return "  ".join(parts + remaining(self._done, self._total, seconds))

    def due(self, now):
        """Return whether an update is due. If so, the next one is due after a pause."""
        if now < self._next:
            return False
        self._next = now + (METER_PERIOD if self._on_terminal else METER_LINE_PERIOD)
        return True

    def say(self, text):
        """Show a line, on a terminal in place of the previous one."""
        try:
            sys.stderr.write(f"\r{text:{self._width}}\r" if self._on_terminal else f"{text}\n")
            sys.stderr.flush()
        except (OSError, AttributeError):  # it was closed
            self._next, self.shows = float("inf"), False
        self._width = len(text)

    def __exit__(self, *exception):
        if self._on_terminal and self._width:
            self.say("")
        elif self.shows and not self._on_terminal:
            self.say(self.describe())


def remaining(done, total, seconds):
    """Return how long the rest will take, for the meter: a list of one text, or of none if it is unknown.

    >>> remaining(1, 4, 30.0), remaining(1, 0, 30.0), remaining(4, 4, 30.0)
    (['ETA 1:30'], [], [])
    """
    return [f"ETA {duration((total - done) * seconds / done)}"] if 0 < done < total else []
