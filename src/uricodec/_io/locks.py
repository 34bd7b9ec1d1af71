"""Names under which outputs are written until they are complete, safe from other processes and after a killed one.

A process that is killed cannot remove what it was writing. Therefore its name depends only on the target, and the
process holds a lock (flock), which the system releases when the process ends:

    the name is free                    make it and lock it
    it is taken, and not locked         its process was killed: remove it, and begin again
    it is taken, and locked             another process is writing the same target

Other processes may do the same between two steps. So after a lock is taken, it is checked that the name still leads to
what is locked.
"""

import errno
import os

from uricodec._io.files import close_descriptor

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment,unused-ignore]

# Other processes may take the name between two steps. After so many attempts the name is considered taken.
TRIES = 5

# The limit for a target's name in bytes, so that the affixes of the temporary name fit on every file system.
LONGEST = 120


def name_for(name):
    """Return the temporary name for a target with this name (str).

    >>> name_for("out.txt")
    '.out.txt.uricodec.tmp'
    """
    encoded = os.fsencode(name)
    if len(encoded) > LONGEST:
        from hashlib import blake2b

        name = blake2b(encoded, digest_size=16).hexdigest()
    return f".{name}.uricodec.tmp"


def random_name():
    """Return a temporary name that no other process has."""
    return f".uricodec-{os.urandom(6).hex()}.tmp"


def is_at(number, path, folder=None):
    """Return whether what is open has this name now."""
    try:
        there = os.stat(path, dir_fd=folder, follow_symlinks=False)
    except OSError:
        return False
    return os.path.samestat(os.fstat(number), there)


class Name:
    """A temporary name. Its subclasses, for files and for folders, have four methods:

    - make(): make what is to have the name, and return its descriptor
    - open(): open what has the name, to remove it, and return its descriptor
    - may_be_removed(status): whether that can be what a killed process left, given its status (os.stat_result)
    - remove(): remove it, ignoring errors

    Args:
        path (str): The name.
        folder (int | None): The descriptor of the folder that the path is relative to.
    """

    def __init__(self, path, folder=None):
        self._path, self._folder = path, folder

    def take(self):
        """Make it and lock it.

        Returns:
            int | None: The descriptor, which holds the lock; None if it cannot be made or locked.

        Raises:
            BlockingIOError: If the name is in use.
        """
        if not fcntl:
            return None
        for _ in range(TRIES):
            try:
                number = self.make()
            except FileExistsError:
                if self.clear():
                    continue
                break
            except OSError:
                return None
            try:
                fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if is_at(number, self._path, self._folder):
                    return number
            except BlockingIOError:
                pass  # another process took it for an abandoned one and is removing it
            except OSError:  # this file system does not support locks
                self.remove()
                close_descriptor(number)
                return None
            close_descriptor(number)
        raise BlockingIOError(errno.EWOULDBLOCK, f"another process is writing this file, it holds {self._path!r}")

    def clear(self):
        """Remove what no process has locked. Return whether the name may be free now."""
        try:
            number = self.open()
        except FileNotFoundError:
            return True
        except OSError:
            return False
        try:
            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if is_at(number, self._path, self._folder):  # otherwise it was renamed or removed before it was locked
                if not self.may_be_removed(os.fstat(number)):
                    return False
                self.remove()
        except OSError:
            return False
        finally:
            close_descriptor(number)
        return True
