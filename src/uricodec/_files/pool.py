"""Chunks of an input, worked on by one thread or by several, in order.

This thread reads chunks and takes results; the others do what is in between, for which the core releases the lock of
the interpreter. There are a few more chunks than threads, and no more: when all are in use, the oldest one is waited
for. So memory stays flat, and whatever is said of a chunk is said in the order of the input, errors too.
"""

import os
from collections import deque
from stat import S_ISREG

from uricodec._files import streams

# Chunks that are read, or wait to be written, while threads work on others.
AHEAD = 2

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


class Pool:
    """What works on chunks: this thread alone, or others.

    Args:
        jobs (int): How many threads there are; 1: this one.
        room (int): How long the buffers of chunks are.
        make (Callable): Makes what works on a chunk, one for each buffer: a function of a chunk that returns a result,
            and need not be safe to call from two threads.

    >>> with Pool(2, 64, lambda: lambda chunk: chunk.size) as pool, streams.Output(os.devnull) as output:
    ...     with streams.Input(os.devnull, streams.Meter([], output)) as source:
    ...         list(pool.results(source))
    []
    """

    def __init__(self, jobs, room, make):
        self._jobs = jobs
        self._free = deque()
        for _ in range(1 if jobs == 1 else jobs + AHEAD):
            chunk = streams.Chunk(room)
            chunk.work = make()
            self._free.append(chunk)
        self._threads = []

    def __enter__(self):
        if self._jobs > 1:
            from queue import SimpleQueue
            from threading import Lock, Thread

            self._tasks = SimpleQueue()
            for chunk in self._free:
                chunk.done = Lock()
            self._threads = [Thread(target=serve, args=(self._tasks,), daemon=True) for _ in range(self._jobs)]
            for thread in self._threads:
                thread.start()
        return self

    def __exit__(self, *exception):
        for _ in self._threads:
            self._tasks.put(None)
        for thread in self._threads:
            thread.join()

    def results(self, source, cut=streams.last_line, prepare=None, longest=0):
        """Read an input, and work on it.

        Args:
            source (Input): The input.
            cut (Callable): As of Input.chunks().
            prepare (Callable[[Chunk], None]): What is done with each chunk before, in order and in this thread.
            longest (int): As of Input.chunks().

        Yields:
            tuple[Chunk, object]: A chunk and the result for it, in order.

        Raises:
            FileError: The input fails; the results for what came before have been yielded.
        """
        pending = deque()
        failure = None
        chunks = source.chunks(self._free, cut, longest)
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
            raise failure

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
