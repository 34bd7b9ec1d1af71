"""Chunks of an input, worked on by one thread or by several, in order.

A Pool is for results that the calling thread has to take: it reads chunks and takes results; the others do what is in
between, for which the core releases the lock of the interpreter. There are a few more chunks than threads, and no more:
when all are in use, the oldest one is waited for.

A Crew is for results that any thread may take when it is their turn: each thread reads a chunk, works on it, and takes
what has come of it. That is faster where taking is much of the work, as a chunk never leaves the cache of its core.

So memory stays flat, and whatever is said of a chunk is said in the order of the input, errors too.
"""

import os
from _thread import allocate_lock, get_ident, start_new_thread
from collections import deque
from itertools import count
from stat import S_ISREG

from uricodec._files import streams

# Chunks that are read, or wait to be written, while threads work on others.
AHEAD = 2

# So many seconds are enough for a thread that has to stop, if it does not wait for somebody else.
PATIENCE = 0.2

# So many threads may work on any machine; one that has more cores uses as many.
MOST = 64

# A smaller input is done before a second thread has begun.
WORTH = 4 * 1024 * 1024


def jobs_for(names):
    """How many threads to use for inputs: all cores for regular files, if they are worth it, else one."""
    total = 0
    for name in names:
        try:
            status = os.fstat(0) if name == "-" else os.stat(name)
        except (OSError, ValueError):
            return 1
        if not S_ISREG(status.st_mode):
            return 1
        total += status.st_size
    return cores() if total >= WORTH else 1


def cores():
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def used_of(jobs):
    """How many threads are used if so many are wanted: more than there are cores cost memory, and bring nothing."""
    return min(jobs, max(MOST, cores()))


def make_chunks(number, room, make):
    """So many chunks, each with what works on it."""
    free = deque()
    for _ in range(number):
        chunk = streams.Chunk(room)
        chunk.work = make()
        free.append(chunk)
    return free


class Pool:
    """What works on chunks: this thread alone, or others.

    Args:
        jobs (int): How many threads there are, at most 64 or as many as there are cores; 1: this one. If the system has
            no more, those that there are do it.
        room (int): How long the buffers of chunks are.
        make (Callable): Makes what works on a chunk, one for each buffer: a function of a chunk that returns a result,
            and need not be safe to call from two threads.

    >>> with Pool(2, 64, lambda: lambda chunk: chunk.size) as pool, streams.Output(os.devnull) as output:
    ...     with streams.Input(os.devnull, streams.Meter([], output)) as source:
    ...         list(pool.results(source))
    []
    """

    def __init__(self, jobs, room, make):
        self._jobs = used_of(jobs)
        self._free = make_chunks(1 if jobs == 1 else self._jobs + AHEAD, room, make)
        self._threads = []

    def __enter__(self):
        if self._jobs > 1:
            from queue import SimpleQueue
            from threading import Lock, Thread

            self._tasks = SimpleQueue()
            for chunk in self._free:
                chunk.done = Lock()
            for _ in range(self._jobs):
                thread = Thread(target=serve, args=(self._tasks,), daemon=True)
                try:
                    thread.start()
                except RuntimeError:  # the system has no more
                    break
                self._threads.append(thread)
        return self

    def __exit__(self, *exception):
        for _ in self._threads:
            self._tasks.put(None)
        for thread in self._threads:
            thread.join()

    def results(self, source, ends=None, max_line=None, prepare=None):
        """Read an input, and work on it.

        Args:
            source (Input): The input.
            ends, max_line: As of Input.chunks().
            prepare (Callable[[Chunk], None]): What is done with each chunk before, in order and in this thread.

        Yields:
            tuple[Chunk, object]: A chunk and the result for it, in order.

        Raises:
            FileError: The input fails; the results for what came before have been yielded.
        """
        pending = deque()
        failure = None
        chunks = source.chunks(self._free, ends, max_line)
        while True:
            try:
                chunk = next(chunks, None)
            except streams.FileError as error:
                chunk, failure = None, error
            if chunk is not None:
                if prepare:
                    prepare(chunk)
                if self._threads:
                    chunk.done.acquire()
                    self._tasks.put(chunk)
                pending.append(chunk)
            while pending and (chunk is None or not self._free):
                yield self._finished(pending[0])
                self._free.appendleft(pending.popleft())
            if chunk is None:
                break
        if failure:
            try:
                raise failure
            finally:
                failure = None  # it knows this frame

    def _finished(self, chunk):
        if not self._threads:
            return chunk, chunk.work(chunk)
        with chunk.done:
            if chunk.error:
                raise chunk.error
            return chunk, chunk.result


def serve(tasks):
    """Work on chunks until there is a None."""
    while (chunk := tasks.get()) is not None:
        try:
            chunk.result, chunk.error = chunk.work(chunk), None
        except BaseException as error:
            chunk.error = error
        chunk.done.release()


class Crew:
    """Threads that take turns, the calling one among them; if it is alone, there are no locks.

    Args:
        jobs, room, make: As of Pool.

    >>> with streams.Output(os.devnull) as output, streams.Input(os.devnull, streams.Meter([], output)) as source:
    ...     Crew(2, 64, lambda: lambda chunk: chunk.size).each(source, lambda chunk, size: print(size))
    """

    def __init__(self, jobs, room, make):
        self._jobs = used_of(jobs)
        self._free = make_chunks(self._jobs, room, make)

    def each(self, source, take, ends=None, max_line=None):
        """Read an input, work on it, and take what comes of it.

        Args:
            source (Input): The input.
            take (Callable[[Chunk, object], None]): Is given each chunk and the result for it, in order and one at a
                time, in any of the threads.
            ends, max_line: As of Input.chunks().

        Raises:
            FileError: The input fails; what came before has been taken.
            BaseException: That of the first chunk that fails, or is not taken; what came before has been taken. What
                interrupts the calling thread does so at once.
        """
        pending = source.chunks(self._free, ends, max_line)
        if self._jobs == 1:
            for chunk in pending:
                take(chunk, chunk.work(chunk))
                self._free.append(chunk)
            return
        turns = Turns(pending, self._free, take)
        try:
            turns.work(self._jobs - 1)
            turns.join()
        except BaseException:
            turns.stopped = True
            turns.join()
            raise
        finally:
            failure, turns.failure = turns.failure, None  # which knows the frame that knows it
        if failure is not None:
            try:
                raise failure
            finally:
                failure = None  # it knows this frame, too


class Turns:
    """One reading of an input by several threads.

    A chunk has a lock, which is open when the chunk has been taken: who has the next one waits for it.

    Args:
        pending (Iterator[Chunk]): As of Input.chunks().
        free (deque[Chunk]): Whose buffers it uses: one for each thread.
        take (Callable): As of Crew.each().

    Attributes:
        stopped (bool): Whether nothing more is to be taken.
        failure (BaseException | None): What stopped another thread than the calling one.
    """

    def __init__(self, pending, free, take):
        self._pending, self._free, self._take = pending, free, take
        self._reading, self._last = allocate_lock(), allocate_lock()
        self._helpers = {}  # those that work: a lock that opens when it is done, and which thread that is
        self.stopped, self.failure = False, None

    def work(self, helpers=0):
        """Work on chunks until there are no more. With the second one, so many other threads begin."""
        chunk, mine = None, allocate_lock()
        try:
            for turn in count():
                mine = allocate_lock()
                mine.acquire()
                result = failure = None
                with streams.waiting, self._reading:
                    if chunk is not None:
                        self._free.appendleft(chunk)  # to be the next one again: it is in the cache
                    try:
                        chunk = None if self.stopped else next(self._pending, None)
                    except Exception as error:
                        chunk, failure = None, error
                    if chunk is None and failure is None:
                        return
                    before, self._last = self._last, mine
                if chunk is not None:
                    if turn == 1:
                        self._begin(helpers)
                    try:
                        result = chunk.work(chunk)
                    except Exception as error:
                        failure = error
                with streams.waiting:
                    before.acquire()
                if self.stopped:
                    return
                if failure is not None:
                    raise failure
                self._take(chunk, result)
                mine.release()
        except BaseException:
            self.stopped = True
            raise
        finally:
            failure = None  # it knows this frame
            if mine.locked():
                mine.release()

    def _begin(self, helpers):
        for _ in range(helpers):
            done = allocate_lock()
            done.acquire()
            self._helpers[done] = None
            try:
                start_new_thread(self._help, (done,))
            except RuntimeError:  # the system has no more; those that are there do it
                del self._helpers[done]
                return

    def _help(self, done):
        self._helpers[done] = get_ident()
        try:
            self.work()
        except BaseException as error:
            self.failure = error
        finally:
            self._helpers.pop(done, None)
            done.release()

    def join(self):
        """Wait until the other threads are done; if nothing more is to be taken, not for those that wait themselves.

        Those may be in a call of the system that takes for ever; when it ends, they do.
        """
        for done in list(self._helpers):
            while done in self._helpers:
                if not done.acquire(timeout=PATIENCE) and self.stopped:
                    helper = self._helpers.get(done)
                    if helper is None or helper in streams.waiting:
                        self._helpers.pop(done, None)
