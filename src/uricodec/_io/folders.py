"""An output folder that appears when all files in it are complete.

It is filled under a temporary name beside its target, and renamed at the end. As for files (temporary.py), that name
depends only on the target, and the process that fills the folder holds a lock on it, so that the next writer of the
same target can remove what a killed process left. If the lock is held, or on systems without such locks, the name is
random.
"""

import os
import shutil
from stat import S_IMODE

from uricodec._io.files import close_descriptor, file_error, printable
from uricodec._io.temporary import TRIES, name_for, sync
from uricodec._io.writing import catch_signals, restore_signals

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment,unused-ignore]


class OutputFolder:
    """A new folder that replaces its target at the end of the `with` block.

    If the block ends by an exception, which includes signals that end the process, the folder is removed, and the
    target is unchanged.

    Args:
        path (str): The target: a path that does not exist, or an empty folder. Its parent exists.

    Attributes:
        name (str): The target, as a message shows it.
        path (str): The path of the folder, within the `with` block.

    Raises:
        FileError: If the target is not an empty folder, or the folder cannot be made or renamed.
    """

    def __init__(self, path):
        self.name = printable(path)
        self._target = path
        self._lock = self.path = None
        self._handlers = {}

    def __enter__(self):
        self._handlers = catch_signals()
        try:
            self._target = os.path.realpath(self._target)
            if is_occupied(self._target):
                raise OSError(None, "output folder is not empty")
            folder, name = os.path.split(self._target)
            path = os.path.join(folder, name_for(name))
            self._lock = take(path) if fcntl else None
            if self._lock is None:
                path = os.path.join(folder, f".uricodec-{os.urandom(6).hex()}.tmp")
                os.mkdir(path)
            self.path = path
        except (OSError, ValueError) as error:
            self._release()
            raise file_error(self.name, error) from None
        except BaseException:
            self._release()
            raise
        return self

    def __exit__(self, kind, *exception):
        try:
            if kind is None:
                self._replace()
        except OSError as error:
            raise file_error(self.name, error) from None
        finally:
            try:
                if self.path is not None:
                    shutil.rmtree(self.path, ignore_errors=True)
            finally:
                self._release()

    def _replace(self):
        """Rename the folder to the target. The data of its files are synced already."""
        for folder, _, _ in os.walk(self.path):
            sync_folder(folder)
        if os.path.isdir(self._target):
            os.chmod(self.path, S_IMODE(os.stat(self._target).st_mode))
            if os.name == "nt":  # elsewhere an empty folder is replaced
                os.rmdir(self._target)
        os.rename(self.path, self._target)
        self.path = None
        sync_folder(os.path.dirname(self._target))

    def _release(self):
        lock, self._lock = self._lock, None
        close_descriptor(lock)
        restore_signals(self._handlers)


def is_occupied(path):
    """Return whether a path leads to a folder that is not empty.

    Raises:
        OSError: If it leads to something else, or the folder cannot be read.
    """
    try:
        with os.scandir(path) as entries:
            return next(entries, None) is not None
    except FileNotFoundError:
        return False


def sync_folder(path):
    """Wait until the names in a folder are written to the disk, if the system supports that."""
    if hasattr(os, "O_DIRECTORY"):
        number = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            sync(number)
        finally:
            close_descriptor(number)


def take(path):
    """Make a folder and lock it. A folder of that name that no process has locked is removed first.

    Returns:
        int | None: The descriptor of the folder, which holds the lock; None if the name is in use.
    """
    for _ in range(TRIES):
        try:
            os.mkdir(path)
        except FileExistsError:
            if clear(path):
                continue
            return None
        number = lock(path)
        if number is not None:
            return number
        # Another process takes it for an abandoned folder and is removing it, or this file system has no locks.
        try:
            os.rmdir(path)
        except OSError:
            continue
        return None
    return None


def lock(path):
    """Lock a folder of this user. Return its descriptor; None if that fails, or the path leads to another folder."""
    try:
        number = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
        status = os.fstat(number)
        if status.st_uid == os.geteuid() and os.path.samestat(status, os.stat(path, follow_symlinks=False)):
            return number
    except OSError:
        pass
    close_descriptor(number)
    return None


def clear(path):
    """Remove a folder of this user that no process has locked. Return whether the name is free now."""
    number = lock(path)
    if number is None:
        return not os.path.lexists(path)
    try:
        shutil.rmtree(path)
    except OSError:
        return False
    finally:
        close_descriptor(number)
    return True
