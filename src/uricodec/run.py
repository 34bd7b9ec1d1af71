"""Run a program with the drop-in: `python -m uricodec.run [--profile] script.py | -m module [argument ...]`.

The functions of urllib.parse are replaced in urllib.parse itself and in all modules that are loaded, before the
program starts: see `uricodec.install`. `sys.path` and `__main__` are as if the interpreter had started the program,
with its options `-P` and `-I`, too. With `--profile`, each call with ordinary arguments is also made with
urllib.parse's own function, and a table at the end shows the calls and the time that the drop-in saved.
"""

import argparse
import builtins
import functools
import importlib.util
import io
import os
import pkgutil
import runpy
import sys
from array import array
from collections.abc import Callable, Sequence
from importlib.machinery import SourceFileLoader, SourcelessFileLoader
from threading import local
from time import perf_counter_ns
from types import ModuleType
from typing import Any, TextIO

from uricodec.parse._install import install_functions

__all__: list[str] = []  # it is a command


def __dir__() -> list[str]:
    return __all__


# Arguments that a call leaves as they are, so that it can be made twice.
_ORDINARY = (str, bytes, bytearray, bool, int, float, type(None))


def _is_ordinary(value: object) -> bool:
    if type(value) is dict:
        return all(_is_ordinary(x) for pair in value.items() for x in pair)
    if isinstance(value, (list, tuple)) and type(value).__iter__ in (list.__iter__, tuple.__iter__):
        return all(map(_is_ordinary, value))
    return type(value) in _ORDINARY or callable(value)


def _untouched() -> ModuleType:
    """Return a second urllib.parse: in the first one, functions call each other by names that are replaced."""
    spec = importlib.util.find_spec("urllib.parse")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class _Figures:
    """Of one function: how many calls there were, and nanoseconds of those that were compared, ours and urllib's."""

    LIMIT = 1_000_000

    def __init__(self) -> None:
        self.calls = 0
        self.ours = array("q")
        self.theirs = array("q")

    def total(self, times: "array[int]") -> float:
        """Return the milliseconds of all calls.

        The slowest hundredth counts like the one before it: what made it slow is mostly another process.
        """
        in_order = sorted(times)
        cap = in_order[-1 - len(in_order) // 100]
        return sum(min(time, cap) for time in in_order) / len(in_order) * self.calls / 1e6


class Profile:
    """Calls and times of the functions that the drop-in replaces."""

    def __init__(self) -> None:
        self.figures: dict[str, _Figures] = {}
        self._untouched = _untouched()
        self._thread = local()  # what a function calls in its turn is not counted again

    def wrap(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function of the drop-in as one that also counts, and compares with urllib.parse's.

        >>> from uricodec.parse import quote
        >>> profile = Profile()
        >>> profile.wrap("quote", quote)("a b")
        'a%20b'
        >>> profile.figures["quote"].calls
        1
        """
        figures = self.figures.setdefault(name, _Figures())
        theirs, thread = getattr(self._untouched, name), self._thread

        @functools.wraps(function)
        def profiled(*arguments: Any, **options: Any) -> Any:
            if "quote_via" in options:  # known to urlencode as what it is
                options["quote_via"] = getattr(options["quote_via"], "__wrapped__", options["quote_via"])
            if getattr(thread, "busy", False):
                return function(*arguments, **options)
            thread.busy = True
            try:
                compare = all(map(_is_ordinary, arguments)) and all(map(_is_ordinary, options.values()))
                figures.calls += 1
                start = perf_counter_ns()
                result = function(*arguments, **options)
                middle = perf_counter_ns()
                if compare and len(figures.ours) < figures.LIMIT:
                    theirs(*arguments, **options)
                    figures.theirs.append(perf_counter_ns() - middle)
                    figures.ours.append(middle - start)
            finally:
                thread.busy = False
            return result

        return profiled

    def print(self, file: TextIO) -> None:
        """Write the table. Time saved is that of all calls, if the others are like those that were compared."""
        print(f"\n{'function':20}{'calls':>10}{'urllib':>12}{'uricodec':>12}{'saved':>12}{'ratio':>8}", file=file)
        total = 0.0
        for name, figures in sorted(self.figures.items()):
            if not figures.ours:
                continue
            theirs, ours = figures.total(figures.theirs), figures.total(figures.ours)
            total += theirs - ours
            row = f"{theirs:9.2f} ms{ours:9.2f} ms{theirs - ours:9.2f} ms{theirs / ours:8.1f}"
            print(f"{name:20}{figures.calls:10}{row}", file=file)
        print(f"{'all':20}{sum(row.calls for row in self.figures.values()):10}{'':24}{total:9.2f} ms", file=file)


def _replace_first_path(path: str | None) -> None:
    """Replace the folder that the interpreter has put before sys.path for `-m`, if it has: see `-P` and `-I`."""
    if not (getattr(sys.flags, "safe_path", False) or sys.flags.isolated):
        sys.path[:1] = [] if path is None else [path]


def _run_path(path: str) -> None:
    """Run a script, or the __main__.py of a folder or archive, as the module __main__.

    runpy.run_path() differs from the interpreter in `__file__` and `sys.argv[0]`.
    """
    full = os.path.abspath(path) if os.name == "nt" else os.path.join(os.getcwd(), path)
    importer = pkgutil.get_importer(full)
    module = ModuleType("__main__")
    if importer is not None:
        _replace_first_path(None)
        sys.path.insert(0, full)  # whatever the options are
        spec = importer.find_spec("__main__", None)
        if spec is None:
            sys.exit(f"{sys.executable}: can't find '__main__' module in {path!r}")
        loader: Any = spec.loader
        code = loader.get_code("__main__")
        names = {"__file__": spec.origin, "__package__": spec.parent, "__spec__": spec, "__cached__": spec.cached}
    else:
        _replace_first_path(os.path.dirname(full if os.name == "nt" else os.path.realpath(full)))
        loader = (SourcelessFileLoader if path.endswith(".pyc") else SourceFileLoader)("__main__", full)
        code = loader.get_code("__main__") if path.endswith(".pyc") else loader.source_to_code(_contents(full), full)
        names = {"__file__": full, "__cached__": None}
    if sys.version_info >= (3, 15):
        del names["__cached__"]
    module.__dict__.update(names, __loader__=loader, __builtins__=builtins)
    sys.modules["__main__"] = module
    exec(code, module.__dict__)


def _contents(path: str) -> bytes:
    with io.open_code(path) as file:
        return file.read()


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a script or a module with the drop-in installed.

    Args:
        arguments (Sequence[str] | None): Of the command line; None: those of the process.

    Raises:
        SystemExit: As the program raises it, or for arguments that are not understood.
    """
    parser = argparse.ArgumentParser(prog="python -m uricodec.run", description=__doc__.partition("\n\n")[2])
    parser.add_argument("--profile", action="store_true", help="print calls and time saved, per function, at the end")
    parser.add_argument("-m", dest="is_module", action="store_true", help="run a module, as python -m does")
    parser.add_argument("program", help="the path of a script, or the name of a module")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="of the program")
    options = parser.parse_args(arguments)
    profile = Profile() if options.profile else None
    install_functions(rebind=True, wrap=profile.wrap if profile else None)
    sys.argv[:] = [options.program, *options.arguments]
    try:
        if options.is_module:
            _replace_first_path(os.getcwd())
            runpy.run_module(options.program, run_name="__main__", alter_sys=True)
        else:
            _run_path(options.program)
    finally:
        if profile:
            profile.print(sys.stderr)


if __name__ == "__main__":
    main()
