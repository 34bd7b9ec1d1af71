"""Puts the functions of `uricodec.parse` into `urllib.parse` itself, for libraries that cannot be changed."""

from _thread import allocate_lock

__all__ = ["install", "uninstall"]

_originals: dict[str, object] = {}
_lock = allocate_lock()  # one that installs and one that uninstalls would take each other's functions for the originals


class _Installed:
    """What install() returns: leaving it as a context manager uninstalls, unless it was installed before."""

    def __init__(self, first: bool) -> None:
        self._first = first

    def __enter__(self) -> "_Installed":
        return self

    def __exit__(self, *exception: object) -> None:
        if self._first:
            uninstall()


def install() -> _Installed:
    """Put the fast functions into urllib.parse.

    Modules that look a function up when they call it (`urllib.parse.quote(...)`) get the fast one from now on; those
    that took it by name before (`from urllib.parse import quote`) keep what they have: install first, import then.
    Installing twice does no harm.

    Returns:
        ContextManager: For `with uricodec.install()`, which uninstalls at its end. It need not be used.

    >>> import urllib.parse, uricodec
    >>> with uricodec.install():
    ...     urllib.parse.quote.__module__
    'uricodec.parse'
    >>> urllib.parse.quote.__module__
    'urllib.parse'
    """
    import urllib.parse as target

    from uricodec import parse
    from uricodec.parse import _stdlib

    _lock.acquire()
    try:
        first = not _originals
        for name in (*_stdlib.FAST, "clear_cache"):
            _originals.setdefault(name, getattr(target, name))
            setattr(target, name, getattr(parse, name))
    finally:
        _lock.release()  # `with` needs memory for it
    return _Installed(first)


def uninstall() -> None:
    """Put urllib.parse's own functions back. Does nothing if they are there.

    >>> import uricodec
    >>> _ = uricodec.install()
    >>> uricodec.uninstall()
    """
    import urllib.parse as target

    _lock.acquire()
    try:
        for name, function in _originals.items():
            setattr(target, name, function)
        _originals.clear()
    finally:
        _lock.release()  # `with` needs memory for it
