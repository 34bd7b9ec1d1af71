"""The rules of the house that a program can check."""

import ast
import functools
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
    "_url",
    "_search",
    "_records",
    "_counting",
    "parse",
    "uri",
    "iri",
    "urn",
    "_hosts",
    "_identifier _reports",
    "bulk",
    "dedup",
    "logs",
    "cli",
    "integrations",
    "run pytest_plugin selftest",
]
PLACES = {name: place for place, names in enumerate(ROOMS) for name in names.split()}

# Of Cython: `from a import b`, `from a cimport b`, `import a`, `cimport a`, and `include "a.pxi"`.
STATEMENT = re.compile(
    r"""^[ \t]*(?:from[ ]+(?P<source>[\w.]+)[ ]+c?import[ ]+(?P<names>\([^)]*\)|[^#\n]*)
    |c?import[ ]+(?P<modules>[\w., ]+)
    |include[ ]+"(?P<file>[^"]+)")""",
    re.MULTILINE | re.VERBOSE,
)
DOCSTRING = re.compile(r'"""(?:[^"]|"(?!""))*"""')


def module_of(path):
    """Return the name of the module that a file belongs to, without the name of the package: x.pxd belongs to x.pyx."""
    parts = path.relative_to(ROOT / "src/uricodec").with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_of(path) for path in SOURCES if path.suffix in {".py", ".pyx", ".pxd"}}
PACKAGES = {module_of(path) for path in SOURCES if path.name == "__init__.py"}


def statements_of_python(text):
    """Yield what is imported: (level of a relative import, module, names); not what only type checkers import."""
    tree = ast.parse(text)
    typing = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            typing |= {inner for statement in node.body for inner in ast.walk(statement)}
    for node in ast.walk(tree):
        if node in typing:
            continue
        if isinstance(node, ast.ImportFrom):
            yield node.level, node.module or "", [alias.name for alias in node.names]
        elif isinstance(node, ast.Import):
            for alias in node.names:
                yield 0, alias.name, []


def statements_of_cython(text):
    for found in STATEMENT.finditer(DOCSTRING.sub("", text)):
        if found["source"]:
            module = found["source"].lstrip(".")
            names = [name.split()[0] for name in found["names"].strip("()").split(",") if name.strip()]
            yield len(found["source"]) - len(module), module, names
        elif found["modules"]:
            for name in found["modules"].split(","):
                yield 0, name.split()[0], []
        else:
            yield 1, Path(found["file"]).stem, []


def imports_of(path):
    """Return the modules of the package that a file imports. A name in a package is its module, if there is one."""
    module = module_of(path)
    found = set()
    read = statements_of_python if path.suffix == ".py" else statements_of_cython
    for level, source, names in read(path.read_text("utf-8")):
        where = source.split(".") if source else []
        if level:
            above = f"uricodec.{module}".split(".")
            where = above[: len(above) - level + (module in PACKAGES)] + where
        if where[:1] != ["uricodec"]:
            continue
        name = ".".join(where[1:])
        inner = {f"{name}.{each}".lstrip(".") for each in names} & MODULES
        # `from package import name` needs its __init__ only for a name that is no module.
        found |= inner if len(inner) == len(names) and names else inner | {name}
    return found - {module}


@functools.cache
def graph_of_package():
    """Return the modules that each module imports."""
    graph = {}
    for path in SOURCES:
        if path.suffix in {".py", ".pyx", ".pxd"}:
            graph.setdefault(module_of(path), set()).update(imports_of(path))
    return graph


def circles_of(graph):
    """Return sets of modules each of which imports the others, directly or not (Tarjan's algorithm)."""
    number, low, path, circles = {}, {}, [], []

    def visit(module):
        number[module] = low[module] = len(number)
        path.append(module)
        for below in sorted(graph.get(module, ())):
            if below not in number:
                visit(below)
            if below in path:
                low[module] = min(low[module], low[below])
        if low[module] == number[module]:
            place = path.index(module)
            circles.append({*path[place:]})
            del path[place:]

    for module in graph:
        if module not in number:
            visit(module)
    return [circle for circle in circles if len(circle) > 1]


@pytest.mark.parametrize("name", PLACES)
def test_imports_of_rooms_run_one_way(name):
    modules = [module for module in MODULES if module.partition(".")[0] == name]
    graph = graph_of_package()
    assert modules
    for module in modules:
        for below in graph[module]:
            assert PLACES.get(below.partition(".")[0], 0) <= PLACES[name], f"{module} imports {below}"


def test_no_files_import_each_other():
    assert circles_of(graph_of_package()) == []


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("uri/a.py", "from uricodec.uri import _rows, Uri\nimport uricodec.errors", {"uri", "uri._rows", "errors"}),
        ("uri/a.py", "def f():\n    from . import _rows\n    from ..urn import Urn", {"uri._rows", "urn"}),
        ("uri/a.py", "if TYPE_CHECKING:\n    from uricodec import dedup\nfrom uricodec import logs", {"logs"}),
        ("uri/__init__.py", "from . import _rows\nfrom ._keys import key", {"uri._rows", "uri._keys"}),
        ("uri/a.pyx", "from uricodec._rows._arrow cimport *\nfrom . cimport _rows", {"_rows._arrow", "uri._rows"}),
        ("uri/a.pyx", "cimport uricodec.errors as t\nfrom ._rows cimport (a,\n    b)", {"errors", "uri._rows"}),
        ("uri/a.pxd", 'include "_rows.pxi"\n"""\nfrom uricodec.logs import parse\n"""', {"uri._rows"}),
    ],
)
def test_what_is_imported(monkeypatch, tmp_path, name, text, found):
    path = tmp_path / "src/uricodec" / name
    path.parent.mkdir(parents=True)
    path.write_text(text)
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    assert imports_of(path) == found


def test_circles():
    assert circles_of({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a", "d"}}) == [{"b", "c"}]


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
