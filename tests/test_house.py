"""The rules of the house that a program can check."""

import ast
import importlib
import inspect
import re
import subprocess
import sys
import urllib.parse
from pathlib import Path

import pytest

import uricodec

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


def test_contributing_says_where_each_room_is():
    table = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    for name in PLACES:
        assert f"`{name}/`" in table or f"`{name}.py`" in table, name


def test_picture_shows_the_rooms_in_their_order(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "docs")
    layers = importlib.import_module("make_pictures").LAYERS
    assert [name for _, names, _ in layers for name in names] == ROOMS[-2:0:-1]


def fast_tests(path):
    """The tests of a file that no mark leaves out of the fast run; None if all of it needs another library."""
    body = ast.parse(path.read_text("utf-8")).body
    if any(isinstance(node, ast.Assign) and "mark.interop" in ast.unparse(node.value) for node in body):
        return None
    tests = [node for node in body if getattr(node, "name", "").lower().startswith("test")]
    left_out = {"pytest.mark.slow", "pytest.mark.interop", "pytest.mark.soak"}
    return [node.name for node in tests if not left_out & {*map(ast.unparse, node.decorator_list)}]


@pytest.mark.parametrize("room", sorted(path.parent.name for path in (ROOT / "src/uricodec").glob("*/__init__.py")))
def test_the_fast_run_has_tests_of_each_file_and_room(room):
    found = {path.name: fast_tests(path) for path in (ROOT / "tests" / room).glob("test_*.py")}
    assert [name for name, tests in found.items() if tests == []] == []
    # What `bulk` does without another library is in tests/_rows/test_operations.py.
    assert any(found.values()) or room in {"bulk", "integrations"}


@pytest.mark.parametrize("room", ["_base", "_io", "_rows", "_codec", "_records"])
def test_a_room_says_where_each_module_is(room):
    folder = ROOT / "src/uricodec" / room
    text = (folder / "__init__.py").read_text("utf-8")
    modules = {
        path.stem for path in folder.iterdir() if path.suffix in {".py", ".pyx", ".pxd"} and path.stem != "__init__"
    }
    assert {name for name in modules if not re.search(rf"\b{name}\b", text)} == set()


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


def test_help_says_which_function_is_for_what_on_one_screen():
    """help() adds a head, and indents by four."""
    lines = inspect.cleandoc(uricodec.__doc__).splitlines()
    assert len(lines) <= 36 and max(map(len, lines)) <= 76
    for name in re.findall(r"[a-z_]+\.[a-z_]+", "\n".join(line[41:] for line in lines if "import" not in line)):
        module, function = name.split(".")
        assert function in dir(importlib.import_module(f"uricodec.{module}")), name
    shown = re.findall(r"\w+", " ".join(line[41:] for line in lines))
    assert {name for name in dir(uricodec) if re.match(r"[a-z]+$|percent_", name)} <= {*shown}


def test_import_is_light():
    """The package pays neither for urllib.parse nor for anything else that is not needed yet."""
    code = "import sys; old = set(sys.modules); import uricodec; print(*sorted(set(sys.modules) - old))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name for name in done.stdout.split() if not name.startswith(("uricodec", "_cython", "cython"))}
    assert loaded <= {"operator", "_operator"}, loaded


def test_tests_that_scripts_leave_out_exist():
    for script in ("sanitize", "qemu", "free_threaded"):
        found = re.findall(r"(tests/\w+(?:/\w+)*\.py)::(\w+)", (ROOT / ".ci" / script).read_text("utf-8"))
        assert found, script
        for path, name in found:
            assert re.search(rf"^ *def {name}\(", (ROOT / path).read_text("utf-8"), re.MULTILINE), f"{path}::{name}"


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python reads TOML from 3.11 on")
def test_each_fault_has_its_line():
    """What `.ci/faults` puts a fault into stands in its file, once; docs/concepts/trust.md lists and counts faults."""
    import tomllib

    faults = tomllib.loads((ROOT / ".ci/faults.toml").read_text("utf-8"))
    for name, fault in faults.items():
        assert (ROOT / fault["file"]).read_text("utf-8").count(fault["old"]) == 1, name
    page = (ROOT / "docs/concepts/trust.md").read_text("utf-8")
    missing = {name for name in faults if f"| {name} |" not in page}
    assert not missing, f"docs/concepts/trust.md lacks the rows of {missing}; .ci/faults writes build/faults/report.md"
    assert f"| faults injected by hand | {len(faults)}, " in page


def test_fast_paths_do_not_depend_on_a_version_number():
    """They are for what all versions do alike, or ask the running stdlib."""
    paths = [path for path in (ROOT / "src/uricodec/parse").iterdir() if path.suffix in {".py", ".pyx", ".pxd"}]
    found = [path.name for path in paths if re.search(r"version_info|hexversion|PY_VERSION", path.read_text("utf-8"))]
    assert found == [] and len(paths) > 8
