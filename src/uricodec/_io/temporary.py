"""The file that an output is until it is complete: beside its target, under a name that says whose it is.

A process that is killed cannot remove it. So its name depends on the target alone, and who writes it holds a lock
(flock) on it, which ends with the process, however that ends. The next one for the same target finds the name taken: if
nobody holds the lock, the file is removed, and made anew; if somebody does, another one is at work, and the name is a
random one. So it is where there are no such locks.

It is private (0600) until it is complete. Then it gets the owner, the group and the permissions of the file that it
replaces, its data go to the disk, it is renamed, and the rename goes to the disk: at each moment a crash leaves the old
file or the new one. Files are found by their folder's descriptor, so that the folder may lie deeper than PATH_MAX.
"""

import errno
import os
from stat import S_ISLNK, S_ISREG, S_ISVTX, S_IWOTH

from uricodec._io import streams

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment,unused-ignore]

# A name of so many octets leaves room for what is put around it, on every file system.
LONGEST = 120

# Others may take the name while it is being looked at; somebody who is always faster has it.
TRIES = 5

# As many symbolic links as Linux follows.
LINKS = 40

# What fsync says if the file system does not support it, or (EBADF) if a folder was opened by O_PATH.
UNSUPPORTED = {errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EBADF}


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
        """Make it, under its own name or a random one. Returns name and descriptor."""
        head, name = os.path.split(self._target)
        path = os.path.join(head, name_for(name))
        number = take(path, self._folder, mode) if fcntl else None
        if number is None:
            path = os.path.join(head, f".uricodec-{os.urandom(6).hex()}.tmp")
            number = make(path, self._folder, mode)
        return path, number

    def _mode_of_new(self):
        """Return the permissions of a new file in that folder.

        The system decides that, by the umask of the process or a default ACL of the folder. To read the umask, it would
        have to be changed for all threads. So a file is made and removed.
        """
        path, number = self._make(0o666)
        try:
            return os.fstat(number).st_mode & 0o777
        finally:
            remove(path, self._folder)
            close(number)

    def _copy_attributes(self):
        """Give it the owner, the group and the permissions of the target, or the permissions of a new file."""
        number, mode = self.raw.fileno(), self._mode
        before = status_of(self._target, self._folder) or self._before
        if before:
            for owner in before.st_uid, -1:
                try:
                    os.fchown(number, owner, before.st_gid)
                    break
                except OSError:
                    pass
            # Set-ID bits and the sticky bit are never copied: they would run what was written with the rights of
            # another user.
            mode = before.st_mode & 0o777
            if os.fstat(number).st_gid != before.st_gid:
                # As xz does: members of the old group are others now, and the new group may be anyone. Both get only
                # what the old group and others both had.
                both = mode >> 3 & mode & 0o007
                mode = mode & 0o700 | both << 3 | both
        try:  # noqa: SIM105  (contextlib takes a millisecond to import)
            os.fchmod(number, mode)
        except OSError:  # not every file system has permissions; without them, it stays private
            pass

    def replace(self):
        """Put it in the place of the target.

        Raises:
            OSError: The file system has had no room for it after all, or takes no such file there; the target is as it
                was. Or the rename could not be written to the disk; the target is complete then.
        """
        number = self.raw.fileno()
        if hasattr(os, "fchown"):
            self._copy_attributes()
        sync(number)
        if fcntl:
            os.close(os.dup(number))  # a network's file system may say only now what went wrong
        else:
            self.raw.close()  # Windows renames no open file
        # Under the lock: no other process takes it for one of a process that was killed.
        os.replace(self._name, self._target, src_dir_fd=self._folder, dst_dir_fd=self._folder)
        self._name = None
        self.raw.close()
        if self._folder is not None:
            sync(self._folder)
        self._close_folder()

    def discard(self):
        """Remove it, if it is still there, and close what is open. What cannot be removed is left to the next run."""
        if not fcntl:
            streams.close(self.raw)
        if self._name and (self.raw.closed or is_at(self.raw.fileno(), self._name, self._folder)):
            remove(self._name, self._folder)  # it is no longer there if an interrupt came right after os.replace()
        streams.close(self.raw)
        self._close_folder()

    def _close_folder(self):
        folder, self._folder = self._folder, None
        close(folder)


# --- where ------------------------------------------------------------------------------------------------------------


def find_target(path):
    """Open the folder of the file that a path leads to, through all symbolic links.

    Returns:
        tuple[int | None, str]: Descriptor of the folder; name in it. Where folders have no descriptors (Windows): None
            and the whole path.

    Raises:
        OSError: There is no such folder, or it cannot be opened.
    """
    if not hasattr(os, "O_DIRECTORY"):
        return None, os.path.realpath(path)
    folder = None
    try:
        for _ in range(LINKS):
            head, name = os.path.split(path)
            outer, folder = folder, open_folder(head or ".", folder)
            close(outer)
            if not name:
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
            try:
                path = os.readlink(name, dir_fd=folder)
            except OSError as error:
                if error.errno in (errno.EINVAL, errno.ENOENT):  # it is another thing than a link, or not there
                    return folder, name
                raise
            if not may_follow(name, folder):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    except BaseException:
        close(folder)
        raise


def open_folder(path, folder):
    try:
        return os.open(path, os.O_RDONLY | os.O_DIRECTORY, dir_fd=folder)
    except PermissionError:
        if not hasattr(os, "O_PATH"):
            raise
        return os.open(path, os.O_PATH | os.O_DIRECTORY, dir_fd=folder)  # it may be written to, but not listed


def may_follow(name, folder):
    """Whether to follow a symbolic link: not one of another user in a folder such as /tmp, which could lead anywhere.

    That is the rule of Linux for fs.protected_symlinks; the system does not apply it to links that are read one by one.
    It is checked after the link was read: no other user can put a link in its place that passes.
    """
    link, place = os.stat(name, dir_fd=folder, follow_symlinks=False), os.fstat(folder)
    shared = place.st_mode & S_ISVTX and place.st_mode & S_IWOTH
    return not shared or (S_ISLNK(link.st_mode) and link.st_uid in (os.geteuid(), place.st_uid))


def place_of_new(path):
    """What tells a file that is not there yet from others: its folder and its name."""
    folder, name = find_target(path)
    if folder is None:
        return name
    try:
        status = os.fstat(folder)
    finally:
        close(folder)
    return status.st_dev, status.st_ino, name


def status_of(path, folder):
    """What the system says of a regular file (os.stat_result); None: there is none of that name."""
    try:
        status = os.stat(path, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
    return status if S_ISREG(status.st_mode) else None


# --- what is done there -----------------------------------------------------------------------------------------------


def sync(number):
    """Wait until a file or folder is on the disk, where the file system can do that."""
    try:
        os.fsync(number)
    except OSError as error:
        if error.errno not in UNSUPPORTED:
            raise


def close(number):
    """Close a descriptor (int | None) that nothing was written to, whatever that brings."""
    try:
        if number is not None:
            os.close(number)
    except OSError:
        pass


def make(path, folder, mode):
    """Make a file that is not there yet. Returns its descriptor."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    return os.open(path, flags, mode, dir_fd=folder)


def remove(path, folder):
    """Remove a file, if that is possible."""
    try:  # noqa: SIM105
        os.unlink(path, dir_fd=folder)
    except OSError:
        pass


def is_at(number, path, folder):
    """Whether the file of a descriptor is the one that has this name now."""
    try:
        there = os.stat(path, dir_fd=folder, follow_symlinks=False)
    except OSError:
        return False
    here = os.fstat(number)
    return (here.st_dev, here.st_ino) == (there.st_dev, there.st_ino)


def take(path, folder, mode):
    """Make a file and lock it; one of that name that nobody holds is removed first.

    Returns:
        int | None: Its descriptor; None: the name is not to be had.
    """
    for _ in range(TRIES):
        try:
            number = make(path, folder, mode)
        except FileExistsError:
            if clear(path, folder):
                continue
            return None
        except OSError:
            return None
        try:
            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if is_at(number, path, folder):
                return number
        except BlockingIOError:
            pass  # somebody takes it for one that was left behind, and removes it
        except OSError:
            remove(path, folder)  # this file system has no locks
        close(number)
    return None


def clear(path, folder):
    """Remove a file that nobody holds. Returns whether the name may be free now."""
    try:
        # Whatever else it is, it stays.
        number = os.open(path, os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if is_at(number, path, folder):  # otherwise it came to its place, or went, before it was locked
            if not S_ISREG(os.fstat(number).st_mode):
                return False
            os.unlink(path, dir_fd=folder)
    except OSError:
        return False
    finally:
        close(number)
    return True
