"""The temporary file to which an output is written until it is complete, in the folder of its target.

If another process is writing the same target (locks.py), the file gets a random name; or it is an error, for a target
that depends on what was there before.

The file is private (mode 0600) until it is complete. Then it gets the owner, the group and the permissions of the file
that it replaces, its data are synced to the disk, it is renamed, and the rename is synced. So a crash at any moment
leaves either the old file or the new one. Paths are relative to the descriptor of the folder, so that the folder may
lie deeper than PATH_MAX.
"""

import errno
import os
from stat import S_ISLNK, S_ISREG, S_ISVTX, S_IWOTH

from uricodec._io import locks
from uricodec._io.files import close_descriptor, close_file
from uricodec._io.locks import is_at, name_for, random_name

# The number of symbolic links that Linux follows.
LINKS = 40

# Errors of fsync where the file system does not support it, or (EBADF) where a folder was opened with O_PATH.
UNSUPPORTED = {errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EBADF}


class FileName(locks.Name):
    """The temporary name of a file that has this mode (int)."""

    def __init__(self, path, folder, mode):
        super().__init__(path, folder)
        self._mode = mode

    def make(self):
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        return os.open(self._path, flags, self._mode, dir_fd=self._folder)

    def open(self):
        return os.open(self._path, os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=self._folder)

    def may_be_removed(self, status):
        return S_ISREG(status.st_mode)

    def remove(self):
        remove(self._path, self._folder)


class Temporary:
    """A new, empty temporary file that exists until replace() or discard().

    Args:
        path (str): The path of the target.
        alone (bool): Whether another process must not write the same target until replace() or discard(). Without file
            locks, others cannot be kept away.

    Attributes:
        raw (io.FileIO): The file, open for writing.

    Raises:
        BlockingIOError: With `alone`, another process is writing the target.
        OSError: The file cannot be created.
    """

    def __init__(self, path, alone=False):
        self._alone = alone
        self._folder, self._target = find_target(path)
        try:
            self._before = status_of(self._target, self._folder)
            self._mode = None if self._before or not hasattr(os, "fchown") else self._mode_of_new()
            self._name, number = self._make(0o600)
        except BaseException:
            self._close_folder()
            raise
        self.raw = open(number, "wb", buffering=0)  # noqa: SIM115  (replace() and discard() close it)

    def _make(self, mode):
        """Create the file, under the name of the target or a random one. Return its name and descriptor."""
        head, name = os.path.split(self._target)
        path = os.path.join(head, name_for(name))
        try:
            number = FileName(path, self._folder, mode).take()
        except BlockingIOError:
            if self._alone:
                raise
            number = None
        if number is None:
            path = os.path.join(head, random_name())
            number = FileName(path, self._folder, mode).make()
        return path, number

    def _mode_of_new(self):
        """Return the permissions that a new file gets in the folder of the target.

        The umask of the process or a default ACL of the folder determines them. Reading the umask would mean to change
        it for all threads, so a file is created and removed instead.
        """
        path, number = self._make(0o666)
        try:
            return os.fstat(number).st_mode & 0o777
        finally:
            remove(path, self._folder)
            close_descriptor(number)

    def _copy_attributes(self):
        """Copy owner, group and permissions of the target, or set the permissions of a new file."""
        number, mode = self.raw.fileno(), self._mode
        before = status_of(self._target, self._folder) or self._before
        if before:
            for owner in before.st_uid, -1:
                try:
                    os.fchown(number, owner, before.st_gid)
                    break
                except OSError:
                    pass
            # Set-ID bits and the sticky bit are never copied: the new contents would run with the rights of another
            # user.
            mode = before.st_mode & 0o777
            if os.fstat(number).st_gid != before.st_gid:
                # Like xz: the group changes, so members of the old group become others, and the new group may be
                # anyone. Both get only the permissions that the old group and others both had.
                both = mode >> 3 & mode & 0o007
                mode = mode & 0o700 | both << 3 | both
        try:  # noqa: SIM105  (contextlib takes a millisecond to import)
            os.fchmod(number, mode)
        except OSError:  # not every file system has permissions; without them, the file stays private
            pass

    def replace(self):
        """Rename the file to the target.

        Raises:
            OSError: The file system is full after all or does not accept the file; the target is unchanged. Or the
                rename could not be synced to the disk; the target is complete then.
        """
        number = self.raw.fileno()
        if hasattr(os, "fchown"):
            self._copy_attributes()
        sync(number)
        if locks.fcntl:
            os.close(os.dup(number))  # a network file system may report write errors only now
        else:
            self.raw.close()  # Windows cannot rename an open file
        # While the lock is held, no other process takes it for the file of a killed process.
        os.replace(self._name, self._target, src_dir_fd=self._folder, dst_dir_fd=self._folder)
        self._name = None
        self.raw.close()
        if self._folder is not None:
            sync(self._folder)
        self._close_folder()

    def discard(self):
        """Remove the file, if it still exists, and close it. If that fails, the next run removes the file."""
        if not locks.fcntl:
            close_file(self.raw)
        if self._name and (self.raw.closed or is_at(self.raw.fileno(), self._name, self._folder)):
            remove(self._name, self._folder)  # it is already gone if an interrupt came right after os.replace()
        close_file(self.raw)
        self._close_folder()

    def _close_folder(self):
        folder, self._folder = self._folder, None
        close_descriptor(folder)


# --- where ------------------------------------------------------------------------------------------------------------


def find_target(path):
    """Open the folder of the file that a path leads to, following all symbolic links.

    Returns:
        tuple[int | None, str]: The descriptor of the folder and the name in it. Where folders have no descriptors
            (Windows), None and the whole path.

    Raises:
        OSError: The folder does not exist or cannot be opened.
    """
    if not hasattr(os, "O_DIRECTORY"):
        return None, os.path.realpath(path)
    folder = None
    try:
        for _ in range(LINKS):
            head, name = os.path.split(path)
            outer, folder = folder, open_folder(head or ".", folder)
            close_descriptor(outer)
            if not name:
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
            try:
                path = os.readlink(name, dir_fd=folder)
            except OSError as error:
                if error.errno in (errno.EINVAL, errno.ENOENT):  # not a link, or it does not exist
                    return folder, name
                raise
            if not may_follow(name, folder):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    except BaseException:
        close_descriptor(folder)
        raise


def open_folder(path, folder):
    try:
        return os.open(path, os.O_RDONLY | os.O_DIRECTORY, dir_fd=folder)
    except PermissionError:
        if not hasattr(os, "O_PATH"):
            raise
        return os.open(path, os.O_PATH | os.O_DIRECTORY, dir_fd=folder)  # the folder may be writable but not readable


def may_follow(name, folder):
    """Return whether to follow a symbolic link: not if another user made it, in a folder such as /tmp.

    This is the rule of Linux's fs.protected_symlinks, which the system does not apply to readlink(). It is checked
    after the link was read: no other user can replace the link by one that passes.
    """
    link, place = os.stat(name, dir_fd=folder, follow_symlinks=False), os.fstat(folder)
    shared = place.st_mode & S_ISVTX and place.st_mode & S_IWOTH
    return not shared or (S_ISLNK(link.st_mode) and link.st_uid in (os.geteuid(), place.st_uid))


def place_of_new(path):
    """Return a key that identifies a file that does not exist yet: its folder and its name."""
    folder, name = find_target(path)
    if folder is None:
        return name
    try:
        status = os.fstat(folder)
    finally:
        close_descriptor(folder)
    return status.st_dev, status.st_ino, name


def status_of(path, folder):
    """Return the status (os.stat_result) of a regular file; None if there is none with this name."""
    try:
        status = os.stat(path, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
    return status if S_ISREG(status.st_mode) else None


# --- what is done there -----------------------------------------------------------------------------------------------


def sync(number):
    """Wait until a file or folder is written to the disk, if the file system supports that."""
    try:
        os.fsync(number)
    except OSError as error:
        if error.errno not in UNSUPPORTED:
            raise


def remove(path, folder):
    """Remove a file, ignoring errors."""
    try:  # noqa: SIM105
        os.unlink(path, dir_fd=folder)
    except OSError:
        pass
