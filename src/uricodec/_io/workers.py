"""Threads that process the pieces of an input and use the results in the order of the input.

Each thread reads a piece, processes it, waits for its turn, and uses the result. A piece stays in the cache of one
core, memory use stays constant, and output and errors come in the order of the input. All threads process at the same
time; one at a time reads, and one at a time uses a result. The compiled loops release the GIL for most of their work.
"""

import os
from _thread import allocate_lock, get_ident, start_new_thread
from _weakref import ref
from itertools import count

from uricodec._io.files import total_size

# Seconds to wait at the end for a thread that must stop, before checking whether it is blocked elsewhere.
PATIENCE = 0.2

# The limit for the number of threads; on a machine with more cores, their number.
MOST = 64

# Its fourth field is the number of threads that run, or wait for a core only: proc_loadavg(5).
LOAD = "/proc/loadavg"

# A smaller input is finished before a second thread has started.
WORTH = 4 * 1024 * 1024


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


def threads_for(names):
    """Return how many threads to use for inputs: one per idle core if all are regular files, and large, else one."""
    return idle_cores() if total_size(names) >= WORTH else 1


def idle_cores():
    """Return how many cores no other thread of the system runs on, at least 1; where this is unknown, all of ours.

    Threads wait for each other's turns, and on a busy core each wait lasts until the scheduler's next time slice.
    """
    try:
        with open(LOAD, encoding="ascii") as file:
            running = int(file.read().split()[3].partition("/")[0])  # this thread included
    except (OSError, ValueError, IndexError):
        return cores()
    return min(max((os.cpu_count() or 1) - running + 1, 1), cores())


def cores():
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def useful_threads(threads):
    """Return `threads`, limited to a useful number: more threads than cores cost memory and are not faster."""
    return threads if threads <= MOST else min(threads, max(MOST, cores()))


class OrderedWorkers:
    """Threads that process pieces of an input, including the calling thread. A single thread uses no locks.

    Args:
        threads (int): The number of threads, at most 64 or the number of cores. If the system cannot start as many,
            fewer do the work.

    >>> OrderedWorkers(2).run([3, 1, 2], lambda piece: piece * "a", lambda piece, result: print(piece, result))
    3 aaa
    1 a
    2 aa
    """

    def __init__(self, threads):
        self._threads = useful_threads(threads)

    def run(self, pieces, work, use=None, halt=None):
        """Process pieces, and use the results in the order of the pieces.

        Args:
            pieces (Iterable): The pieces. One thread at a time asks for the next one. The other threads start with the
                second piece, or with the first if `pieces` is a list.
            work (Callable[[object], object]): Returns the result for a piece; called in any thread.
            use (Callable[[object, object], None] | None): Called with each piece and its result, in order, one call at
                a time, in any thread. None: results are not used, and no thread waits for its turn.
            halt (Callable[[], None] | None): Called after an exception has ended the run, to cancel long work in other
                threads.

        Raises:
            BaseException: The exception of the first piece that could not be read, processed or used; all pieces before
                it have been used. Without `use`, the first exception raised. An interrupt of the calling thread is
                raised at once.
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
            failure, turns.failure = turns.failure, None  # break the reference cycle with the frame of the exception
        if failure is not None:
            try:
                raise failure
            finally:
                failure = None  # break the reference cycle with this frame


class LifeToken:
    """What a thread holds as long as it lives."""

    __slots__ = ("__weakref__",)


class Turns:
    """One run of several threads.

    Each piece has a lock that is released when the piece has been used. The thread with the next piece waits for it:

        thread 1    read 0  work 0  use 0, release 0            read 2  work 2  wait for 1   use 2
        thread 2            read 1  work 1  wait for 0  use 1, release 1  read 3 ...

    One thread at a time reads, with the lock `_reading`; `_last` is the lock of the piece that was read last.

    Args:
        pieces (Iterator), work (Callable), use (Callable | None), halt (Callable | None): See OrderedWorkers.run().

    Attributes:
        stopped (bool): Whether no more results are to be used.
        failure (BaseException | None): The exception that stopped a thread other than the calling one.
    """

    def __init__(self, pieces, work, use, halt):
        self._pieces, self._work, self._use, self._halt = pieces, work, use, halt
        self._reading, self._last = allocate_lock(), allocate_lock()
        self._helpers = {}  # other running threads: a lock that is released at its end, and its identifier
        self._tokens = {}  # by that lock: a weak reference to the thread's token
        self.stopped, self.failure = False, None

    def work(self, helpers=0, first=1):
        """Process pieces until none are left. Piece number `first` starts `helpers` other threads."""
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
            failure = None  # break the reference cycle with this frame
            if mine.locked():
                mine.release()

    def _take_turn(self, before):
        """Wait until the piece before has been used, if results are used. Return whether to use the next result."""
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
            token = LifeToken()
            self._helpers[done], self._tokens[done] = None, ref(token)
            try:
                start_new_thread(self._help, (done, token))
            except RuntimeError:  # the system cannot start more threads; those that are running do the work
                del self._helpers[done]
                return

    def _help(self, done, _token):
        try:
            self._helpers[done] = get_ident()
            self.work()
        except BaseException as error:
            self.failure = error
        finally:
            self._helpers.pop(done, None)
            done.release()

    def join(self):
        """Wait for the other threads to end. If the run has stopped, do not wait for threads that are blocked.

        A blocked thread may be in a system call that never returns; when it does return, the thread ends.
        """
        for done in list(self._helpers):
            while done in self._helpers:
                if done.acquire(timeout=PATIENCE):
                    continue
                helper = self._helpers.get(done)
                # Without memory, a thread may end before it calls _help(). The others have done the work.
                ended = helper is None and self._tokens[done]() is None
                if ended or (self.stopped and (helper is None or helper in waiting)):
                    self._helpers.pop(done, None)
