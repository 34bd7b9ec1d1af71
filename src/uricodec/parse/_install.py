"""Put the functions of `uricodec.parse` into `urllib.parse` itself, for programs that cannot be changed."""

import sys
from _thread import allocate_lock
from collections.abc import Callable
from types import ModuleType
from typing import Any

__all__ = ["install", "uninstall"]

# What was replaced, in order: the owner, a module or a class, and its name; the name of its attribute; what was there,
# and what is.
_replaced: list[tuple[Any, str, str, Any, Any]] = []
_lock = allocate_lock()  # a thread that installs beside one that uninstalls could save fast functions as the originals


class _Installed:
    """The result of install(), a context manager: its end uninstalls, unless the functions were installed before."""

    def __init__(self, first: bool, replaced: tuple[str, ...], skipped: tuple[str, ...]) -> None:
        self._first = first
        self.replaced = replaced
        self.skipped = skipped

    def __enter__(self) -> "_Installed":
        return self

    def __exit__(self, *exception: object) -> None:
        if self._first:
            uninstall()

    def __repr__(self) -> str:
        skipped = f", {len(self.skipped)} modules skipped" if self.skipped else ""
        return f"<uricodec.install(): {len(self.replaced)} replaced{skipped}>"


def _replace(owner: Any, owner_name: str, name: str, before: Any, after: Any) -> None:
    setattr(owner, name, after)
    _replaced.append((owner, owner_name, name, before, after))


def _rebind(functions: dict[int, tuple[Any, Any]]) -> tuple[str, ...]:
    """Replace functions that modules imported by name. Lazy modules are not loaded.

    Return the names of modules that do not allow it, because their code raises an exception.
    """
    skipped = []
    for module_name, module in list(sys.modules.items()):
        # An object may say that it is a module: one of cffi's does, and has no __dict__.
        if not issubclass(type(module), ModuleType) or str(module_name).partition(".")[0] == "uricodec":
            continue
        try:
            for name, value in list(object.__getattribute__(module, "__dict__").items()):
                before, after = functions.get(id(value), (None, None))
                if before is not None and before is value:
                    _replace(module, module_name, name, before, after)
        except Exception:  # of the module's own __dict__ or __setattr__
            skipped.append(module_name)
    return tuple(skipped)


def install(rebind: bool = False) -> _Installed:
    """Put the fast functions into urllib.parse, and fast attributes into its result classes.

    Modules that look a function up when they call it (`urllib.parse.quote(...)`) get the fast one from now on, and so
    do modules that are imported later. Modules that imported one by name before (`from urllib.parse import quote`) keep
    the old one, unless `rebind` is true. A second call of install() replaces nothing twice.

    Args:
        rebind (bool): Also replace the functions in modules that are already loaded.

    Returns:
        ContextManager: For `with uricodec.install()`, which uninstalls at its end; you may ignore it. Its attribute
        `replaced` is a tuple of the names that are replaced, `skipped` one of the modules that raised an exception when
        they were read or changed, and that keep the old functions.

    >>> import urllib.parse, urllib.request, uricodec
    >>> with uricodec.install() as installed:
    ...     urllib.parse.quote.__module__, "urllib.parse.quote" in installed.replaced
    ('uricodec.parse', True)
    >>> with uricodec.install(rebind=True) as installed:
    ...     urllib.request.quote.__module__, "urllib.request.quote" in installed.replaced
    ('uricodec.parse', True)
    >>> urllib.parse.quote.__module__, urllib.request.quote.__module__
    ('urllib.parse', 'urllib.parse')
    """
    return install_functions(rebind)


def install_functions(rebind: bool, wrap: Callable[[str, Any], Any] | None = None) -> _Installed:
    """Install functions; `wrap`, if given, gets the name and the function, and returns what is installed.

    >>> install_functions(False).__exit__()
    """
    from uricodec import parse
    from uricodec.parse import _join, _split, _stdlib

    target = _stdlib.module
    functions = {name: (getattr(_stdlib, name), getattr(parse, name)) for name in (*_stdlib.FAST, "clear_cache")}
    if wrap:
        functions = {name: (before, wrap(name, after)) for name, (before, after) in functions.items()}
    skipped: tuple[str, ...] = ()
    _lock.acquire()
    try:
        first = not _replaced
        if first:
            for name, (_, after) in functions.items():
                _replace(target, target.__name__, name, getattr(target, name), after)
            for owner, name, after in _split.replacements(_join.urlunparse, _join.urlunsplit):
                _replace(owner, f"{owner.__module__}.{owner.__name__}", name, owner.__dict__[name], after)
        if rebind:
            skipped = _rebind({id(before): (before, after) for before, after in functions.values()})
        names = tuple(f"{owner_name}.{name}" for _, owner_name, name, _, _ in _replaced)
    finally:
        _lock.release()  # `with` needs memory for it
    return _Installed(first, names, skipped)


def uninstall() -> None:
    """Restore all attributes that install() has replaced, if any.

    Names of other modules that were assigned to in the meantime are left unchanged, and so are those of modules that
    raise an exception now.

    >>> import uricodec
    >>> _ = uricodec.install()
    >>> uricodec.uninstall()
    """
    _lock.acquire()
    try:
        while _replaced:
            owner, owner_name, name, before, after = _replaced.pop()
            if issubclass(type(owner), type) or owner_name == "urllib.parse":
                setattr(owner, name, before)
                continue
            try:
                if getattr(owner, name, None) is after:
                    setattr(owner, name, before)
            except Exception:  # of the module's own __getattribute__ or __setattr__
                continue
    finally:
        _lock.release()  # `with` needs memory for it
