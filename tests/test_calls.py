"""The table of calls has all that is public, and its calls can be compared."""

import importlib
import pkgutil
from typing import NamedTuple

import pytest
from calls import ALONE, CALLS, FOREIGN, THREADED, outcome

import uricodec
from uricodec.parse import _stdlib

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
    module = max((each for each in MODULES if name.startswith(f"{each}.")), key=len)
    found = importlib.import_module(module)
    for part in name[len(module) + 1 :].split("."):
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
    assert not missing


def test_every_row_is_of_something_public():
    names = set(public())
    objects = [find(name) for name in names]
    assert not {name for name in CALLS if name not in names and not any(find(name) is each for each in objects)}
    assert not (ALONE | FOREIGN | THREADED.keys()) - CALLS.keys()


@pytest.mark.parametrize("name", CALLS)
def test_a_call_gives_the_same_again(name):
    for call in CALLS[name] + THREADED.get(name, []):
        assert outcome(call) == outcome(call)
