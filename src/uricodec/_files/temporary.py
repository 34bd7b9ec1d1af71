"""The file that an output is until it is complete: beside its target, under a name that says whose it is.

A process that is killed cannot remove it. So its name depends on the target alone, and who writes it holds a lock
(flock) on it, which ends with the process, however that ends. The next one for the same target finds the name taken: if
nobody holds the lock, the file is removed, and made anew; if somebody does, another one is at work, and the name is a
random one. So it is where there are no such locks.
"""

import os
from stat import S_IMODE, S_ISREG

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment,unused-ignore]

# A name of so many octets leaves room for what is put around it, on every file system.
LONGEST = 120

# Others may take the name while it is being looked at; somebody who is always faster has it.
TRIES = 5


def name_for(name):
    """How the file is called before it is complete whose name (str) this is.

    >>> name_for("out.txt")
    '.out.txt.uricodec.tmp'
    """
    octets = os.fsencode(name)
    if len(octets) > LONGEST:
        from hashlib import blake2b

        name = blake2b(octets, digest_size=16).hexdigest()
    return f".{name}.uricodec.tmp"


class Temporary:
    """Such a file, new and empty. It is there until replace() or discard().

    Args:
        path (str): Of the target.

    Attributes:
        raw (io.FileIO): What to write to.

    Raises:
        OSError: It cannot be made.
    """

    def __init__(self, path):
        self._target = path
        folder, name = os.path.split(path)
        self._path = os.path.join(folder, name_for(name))
        number = take(self._path) if fcntl else None
        if number is None:
            self._path = os.path.join(folder, f".uricodec-{os.urandom(6).hex()}.tmp")
            number = make(self._path)
        self.raw = open(number, "wb", buffering=0)  # noqa: SIM115  (replace() and discard() close it)

    def copy_mode(self):
        """Let it have the permissions of the target, where there are any."""
        try:  # noqa: SIM105  (contextlib takes a millisecond to import)
            os.chmod(self._path, S_IMODE(os.stat(self._target).st_mode))
        except OSError:
            pass

    def replace(self):
        """Put it in the place of the target.

        Raises:
            OSError: The file system has had no room for it after all, or takes no such file there; it is still there.
        """
        if fcntl:
            os.close(os.dup(self.raw.fileno()))  # a network's file system may say only now what went wrong
            os.replace(self._path, self._target)  # under the lock: nobody else takes it for one that was left behind
            self.raw.close()
        else:
            self.raw.close()
            os.replace(self._path, self._target)

    def discard(self):
        """Remove it, if it is still there."""
        if self.raw.closed or not fcntl:
            self.raw.close()
            remove(self._path)
        else:
            if is_at(self.raw.fileno(), self._path):  # no longer, if an interrupt came right behind replace()
                remove(self._path)
            self.raw.close()


def make(path):
    """Make a file that is not there yet. Returns its descriptor."""
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)


def remove(path):
    try:  # noqa: SIM105
        os.unlink(path)
    except FileNotFoundError:
        pass


def is_at(number, path):
    """Whether the file of a descriptor is the one that has this name now."""
    try:
        there = os.lstat(path)
    except OSError:
        return False
    here = os.fstat(number)
    return (here.st_dev, here.st_ino) == (there.st_dev, there.st_ino)


def take(path):
    """Make a file and lock it; one of that name that nobody holds is removed first.

    Returns:
        int | None: Its descriptor; None: the name is not to be had.
    """
    for _ in range(TRIES):
        try:
            number = make(path)
        except FileExistsError:
            if clear(path):
                continue
            return None
        except OSError:
            return None
        try:
            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if is_at(number, path):
                return number
        except BlockingIOError:
            pass  # somebody takes it for one that was left behind, and removes it
        except OSError:
            remove(path)  # this file system has no locks
        os.close(number)
    return None


def clear(path):
    """Remove a file that nobody holds. Returns whether the name may be free now."""
    try:
        number = os.open(path, os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK)  # whatever else it is, it stays
    except FileNotFoundError:
        return True
    except OSError:
        return False
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if is_at(number, path):  # otherwise it came to its place, or went, before it was locked
            if not S_ISREG(os.fstat(number).st_mode):
                return False
            os.unlink(path)
    except OSError:
        return False
    finally:
        os.close(number)
    return True
