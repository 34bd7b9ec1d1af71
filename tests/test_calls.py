"""The table of calls, and the file for type checkers, have all that is public."""

import ast
import importlib
import pkgutil
import re
from pathlib import Path
from typing import NamedTuple

from support.calls import ALONE, CALLS, FOREIGN, THREADED

import uricodec
from uricodec.bulk._operations import OPERATIONS
from uricodec.parse import _stdlib

TESTS = Path(__file__).parent

NOT_CALLED = ("uricodec.cli", "uricodec.integrations")
MODULES = [module.name for module in pkgutil.walk_packages(uricodec.__path__, "uricodec.")]
MODULES = ["uricodec", *(name for name in MODULES if "._" not in name and not name.startswith(NOT_CALLED))]


class Any(Exception):
    """A class with nothing of its own."""


class Fields(NamedTuple):
    """A tuple with a name."""

    field: int


# Attributes that every class has, or gets when its annotations are read or it is pickled; those of named tuples.
EVERY = {*vars(Any), "__new__", "__init__", "__dict__", "__getattribute__", "__pyx_vtable__"}
EVERY |= {"__annotations__", "__annotations_cache__", "__slotnames__", "__slots__"}
TUPLE = {*vars(Fields), *EVERY}


def find(name):
    """What a dotted name stands for."""
    module = max((each for each in MODULES if f"{name}.".startswith(f"{each}.")), key=len)
    found = importlib.import_module(module)
    for part in name[len(module) + 1 :].split(".") if name != module else ():
        found = getattr(found, part)
    return found


def public():
    """Names of functions, of classes that are made by calling them, and of their methods and properties."""
    for module in map(importlib.import_module, MODULES):
        drop_in = module.__name__ == "uricodec.parse"
        for name in [*_stdlib.FAST, "clear_cache"] if drop_in else getattr(module, "__all__", ()):
            found = getattr(module, name)
            if hasattr(found, "__origin__"):  # for annotations; to Python 3.10 it is a class
                continue
            if not isinstance(found, type):
                if callable(found):
                    yield f"{module.__name__}.{name}"
                continue
            fields = {*getattr(found, "_fields", ())}
            if not fields:
                yield f"{module.__name__}.{name}"
            for member in vars(found).keys() - (TUPLE | fields if fields else EVERY):
                if not member.startswith("_") or (member.endswith("__") and getattr(found, member) is not None):
                    yield f"{module.__name__}.{name}.{member}"


def test_everything_public_has_a_row():
    rows = {id(find(name)): name for name in CALLS}
    missing = {name for name in public() if name not in CALLS and id(find(name)) not in rows}
    assert not missing, f"tests/support/calls.py lacks {missing}"


def test_every_row_is_of_something_public():
    names = set(public())
    objects = [find(name) for name in names]
    assert not {name for name in CALLS if name not in names and not any(find(name) is each for each in objects)}
    assert not (ALONE | FOREIGN | THREADED.keys()) - CALLS.keys()


def uses(path):
    """What a file uses: dotted names, as imported, and attributes of anything, which begin with a dot."""
    tree = ast.parse(path.read_text("utf-8"))
    modules = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    imported = {each.name: f"{node.module}.{each.name}" for node in modules for each in node.names}
    for node in ast.walk(tree):
        if isinstance(node, (ast.Name, ast.Attribute)):
            first, *rest = ast.unparse(node).split(".")
            yield ".".join([imported.get(first, first), *rest])
        if isinstance(node, ast.Attribute):
            yield f".{node.attr}"


def test_type_checkers_see_everything_public():
    used = {*uses(TESTS / "types/uses.py"), *uses(TESTS / "types/engine_uses.py")}
    exported = {f"{module}.{name}" for module in MODULES for name in getattr(find(module), "__all__", ())}
    # The drop-in has what the interpreter's has; all sets of bytes have one type; exceptions and more have two names.
    exported = {name for name in exported if not name.startswith(("uricodec.parse.", "uricodec.bytesets."))}
    # Operations of `bulk` have the types of their kind of result, and stubs of parts of URLs are made from the table.
    kinds = {row.result for name, row in OPERATIONS.items() if f"uricodec.bulk.{name}" in used}
    exported -= {f"uricodec.bulk.{name}" for name, row in OPERATIONS.items() if row.result in kinds}
    exported -= {f"uricodec.{row.single}" for row in OPERATIONS.values() if row.result in {"component", "list"}}
    found = {id(find(name)) for name in exported & used}
    missing = {name for name in exported - used if id(find(name)) not in found}
    members = {name for name in public() if name not in exported and "__" not in name}
    missing |= {name for name in members if f".{name.rpartition('.')[2]}" not in used}
    assert not missing, f"tests/types/uses.py lacks {missing}"


def test_type_checkers_see_all_hooks_into_engines():
    used = {*uses(TESTS / "types/engine_uses.py")}
    for path in (TESTS.parent / "src/uricodec/integrations").glob("[a-z]*.py"):  # an engine may be missing
        names = ast.literal_eval(re.search("^__all__ = (.*)$", path.read_text("utf-8"), re.MULTILINE)[1])
        assert not {name for name in names if f"uricodec.integrations.{path.stem}.{name}" not in used}
