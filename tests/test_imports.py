"""The rules of the house that a program can check."""

import importlib
import re
import subprocess
import sys
import urllib.parse
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCES = sorted(p for p in (ROOT / "src").rglob("*") if p.suffix in {".py", ".pyx", ".pxd", ".pyi", ".h", ".c"})

# A room imports only rooms before it, and those that stand beside it.
ROOMS = [
    "typing",
    "errors",
    "_base",
    "bytesets",
    "_io",
    "_rows",
    "_codec",
    "_records",
    "parse",
    "uri iri",
    "urn",
    "bulk",
    "dedup",
    "logs",
    "cli",
    "integrations",
    "run pytest_plugin selftest",
]
PLACES = {name: place for place, names in enumerate(ROOMS) for name in names.split()}
IMPORT = re.compile(
    r"^\s*(?:from uricodec\.(\w+)[\w.]* c?import|import uricodec\.(\w+)|from uricodec import ([\w, ]+))", re.MULTILINE
)


@pytest.mark.parametrize("name", PLACES)
def test_imports_of_rooms_run_one_way(name):
    room = ROOT / "src/uricodec" / name
    paths = [path for path in SOURCES if path.is_relative_to(room) or path.with_suffix("") == room]
    assert paths
    for path in paths:
        for below, module, several in IMPORT.findall(path.read_text("utf-8")):
            for imported in re.findall(r"\w+", below or module or several):
                assert PLACES.get(imported, 0) <= PLACES[name], f"{path.relative_to(ROOT)} imports {imported}"


def test_every_module_is_in_a_room():
    found = {path.name if path.is_dir() else path.stem for path in (ROOT / "src/uricodec").glob("[!_]*")}
    found |= {path.stem for path in (ROOT / "src/uricodec").glob("_*") if path.stem[:2] != "__"}
    assert found - {"py"} == {*PLACES}


def public_modules():
    """All of them; hooks into an engine only if it is installed. The names of a plugin are pytest's."""
    for path in sorted((ROOT / "src/uricodec").rglob("*.py")):
        parts = path.relative_to(ROOT / "src").with_suffix("").parts
        parts = parts[: -1 if parts[-1] == "__init__" else None]
        if not any(part.startswith("_") for part in parts) and parts[1:2] not in (("cli",), ("pytest_plugin",)):
            yield ".".join(parts)


@pytest.mark.parametrize("name", list(public_modules()))
def test_dir_lists_public_names_only(name):
    if name in {"uricodec.integrations.polars", "uricodec.integrations.pandas"}:
        pytest.importorskip(name.rpartition(".")[2], reason="the engine is not installed")
    module = importlib.import_module(name)
    if name == "uricodec.parse":  # a drop-in for urllib.parse, whose private names it has, too
        assert {*dir(module)} == {*dir(urllib.parse), "clear_cache"}
        return
    assert {*getattr(module, "__all__", ())} <= {*dir(module)}
    for each in dir(module):
        assert not each.startswith("_")
        assert each in getattr(module, "__all__", ()) or getattr(module, each).__name__ == f"{name}.{each}"


def test_import_is_light():
    """The package pays neither for urllib.parse nor for anything else that is not needed yet."""
    code = "import sys; old = set(sys.modules); import uricodec; print(*sorted(set(sys.modules) - old))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name for name in done.stdout.split() if not name.startswith(("uricodec", "_cython", "cython"))}
    assert loaded <= {"operator", "_operator"}, loaded
