"""Threads that work on the pieces of an input, and use the results in the order of the input.

Each thread reads a piece, works on it, waits for its turn, and uses the result. So a piece never leaves the cache of
its core, memory stays flat, and output and errors come in the order of the input. Threads work at the same time; one at
a time reads, and one at a time uses a result. The core releases the interpreter's lock for most of its work.
"""

import os
from _thread import allocate_lock, get_ident, start_new_thread
from itertools import count

from uricodec._io.streams import total_size, waiting

# Seconds to wait at the end for a thread that has to stop, before looking whether it waits for somebody else.
PATIENCE = 0.2

# How many threads may work on any machine; one that has more cores may use as many.
MOST = 64

# A smaller input is done before a second thread has begun.
WORTH = 4 * 1024 * 1024


def threads_for(names):
    """Return how many threads to use for inputs: all cores for regular files that are large enough, else one."""
    return cores() if total_size(names) >= WORTH else 1


def cores():
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def useful_threads(threads):
    """Return how many of so many threads are of use: more than there are cores cost memory, and bring nothing."""
    return min(threads, max(MOST, cores()))


class OrderedWorkers:
    """Threads that work on pieces of an input, the calling one among them; if it is alone, there are no locks.

    Args:
        threads (int): How many threads work, at most 64 or as many as there are cores. If the system has no more,
            those that there are do it.

    >>> OrderedWorkers(2).run([3, 1, 2], lambda piece: piece * "a", lambda piece, result: print(piece, result))
    3 aaa
    1 a
    2 aa
    """

    def __init__(self, threads):
        self._threads = useful_threads(threads)

    def run(self, pieces, work, use=None, halt=None):
        """Work on pieces, and use the results in their order.

        Args:
            pieces (Iterable): The pieces. One thread at a time asks for the next one. The other threads start with the
                second piece; if it is a list, with the first.
            work (Callable[[object], object]): Returns the result for a piece, in any thread.
            use (Callable[[object, object], None] | None): Is given each piece and its result, in order and one at a
                time, in any thread. None: nobody waits for a turn.
            halt (Callable[[], None] | None): Is called when an exception has ended the run, to end long work in other
                threads.

        Raises:
            BaseException: That of the first piece that cannot be read, worked on or used; all before it has been used.
                Without `use`, the first one that is raised. What interrupts the calling thread is raised at once.
        """
        if self._threads == 1 or (isinstance(pieces, list) and len(pieces) == 1):
            for piece in pieces:
                result = work(piece)
                if use is not None:
                    use(piece, result)
            return
        turns = Turns(iter(pieces), work, use, halt)
        try:
            if isinstance(pieces, list):
                turns.work(min(self._threads, len(pieces)) - 1, 0)
            else:
                turns.work(self._threads - 1)
            turns.join()
        except BaseException:
            turns.stop()
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
    """One run of several threads.

    A piece has a lock, which is opened when the piece has been used: the thread that has the next piece waits for it.

    Args:
        pieces (Iterator), work (Callable), use (Callable | None), halt (Callable | None): As for OrderedWorkers.run().

    Attributes:
        stopped (bool): Whether nothing more is to be used.
        failure (BaseException | None): What stopped another thread than the calling one.
    """

    def __init__(self, pieces, work, use, halt):
        self._pieces, self._work, self._use, self._halt = pieces, work, use, halt
        self._reading, self._last = allocate_lock(), allocate_lock()
        self._helpers = {}  # for each other thread at work: a lock that opens when it is done, and its identifier
        self.stopped, self.failure = False, None

    def work(self, helpers=0, first=1):
        """Work on pieces until there are no more. With this one of them, so many other threads start."""
        mine = allocate_lock()
        try:
            for turn in count():
                mine = allocate_lock()
                mine.acquire()
                piece = result = failure = None
                with waiting, self._reading:
                    try:
                        piece = None if self.stopped else next(self._pieces, None)
                    except Exception as error:
                        failure = error
                    if piece is None and failure is None:
                        return
                    before, self._last = self._last, mine
                if piece is not None:
                    if turn == first:
                        self._start(helpers)
                    try:
                        result = self._work(piece)
                    except Exception as error:
                        failure = error
                if not self._take_turn(before):
                    return
                if failure is not None:
                    raise failure
                if self._use is not None:
                    self._use(piece, result)
                mine.release()
        except BaseException:
            self.stop()
            raise
        finally:
            failure = None  # it knows this frame
            if mine.locked():
                mine.release()

    def _take_turn(self, before):
        """Wait for the piece before, if there is an order. Returns whether anything is to be used."""
        if self._use is not None:
            with waiting:
                before.acquire()
        return not self.stopped

    def stop(self):
        self.stopped = True
        if self._halt is not None:
            self._halt()

    def _start(self, helpers):
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
        """Wait until the other threads are done; if nothing more is to be used, not for those that wait themselves.

        Those may be in a call of the system that takes for ever; when it ends, they do.
        """
        for done in list(self._helpers):
            while done in self._helpers:
                if not done.acquire(timeout=PATIENCE) and self.stopped:
                    helper = self._helpers.get(done)
                    if helper is None or helper in waiting:
                        self._helpers.pop(done, None)
