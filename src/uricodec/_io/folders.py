"""An output folder that appears when all files in it are complete.

It is filled under a temporary name beside its target, and renamed at the end. If another process is writing the same
target (locks.py), or on systems without locks, the name is random.
"""

import os
import shutil
from stat import S_IMODE

from uricodec._io.files import close_descriptor, file_error, printable
from uricodec._io.locks import Name, name_for, random_name
from uricodec._io.signals import HeldSignals, catch_signals, restore_signals
from uricodec._io.temporary import sync


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
            with HeldSignals():
                self._make()
        except (OSError, ValueError) as error:
            self._leave()
            raise file_error(self.name, error) from None
        except BaseException:
            self._leave()
            raise
        return self

    def _make(self):
        """Make the folder, under the name of the target or a random one."""
        folder, name = os.path.split(self._target)
        path = os.path.join(folder, name_for(name))
        try:  # noqa: SIM105  (contextlib takes a millisecond to import)
            self._lock = FolderName(path).take()
        except BlockingIOError:
            pass
        if self._lock is None:
            path = os.path.join(folder, random_name())
            os.mkdir(path)
        self.path = path

    def __exit__(self, kind, *exception):
        try:
            if kind is None:
                self._replace()
        except OSError as error:
            raise file_error(self.name, error) from None
        finally:
            self._leave()

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

    def _leave(self):
        """Remove what is not complete, unlock, and no longer catch signals."""
        try:
            if self.path is not None:
                shutil.rmtree(self.path, ignore_errors=True)
        finally:
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


class FolderName(Name):
    """The temporary name of a folder."""

    def make(self):
        os.mkdir(self._path)
        try:
            return self.open()
        except OSError:
            self.remove()
            raise

    def open(self):
        return os.open(self._path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)

    def may_be_removed(self, status):
        return status.st_uid == os.geteuid()

    def remove(self):
        shutil.rmtree(self._path, ignore_errors=True)
