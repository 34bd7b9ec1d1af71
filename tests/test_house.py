"""The rules of the house that a program can check."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCES = sorted(p for p in (ROOT / "src").rglob("*") if p.suffix in {".py", ".pyx", ".pxd", ".pyi", ".h", ".c"})

# What a module may import of ours: those that stand before it. Public modules stand on all of the core.
CORE = [
    "_atomic",
    "_kernels",
    "_utf8",
    "_text",
    "_percent",
    "_quote",
    "_fingerprint",
    "_arrow",
    "_arrow_join",
    "_engine",
    "_operation",
    "_sinks",
    "_tasks",
    "_lines",
    "_dictionaries",
    "_values",
    "_columns",
    "_lists",
    "_quoting",
    "_split",
    "_urn_grammar",
    "_urn_forms",
    "_urn",
    "_urn_find",
    "_urn_rows",
    "_uri_grammar",
    "_uri",
    "_uri_rows",
    "_uri_path",
    "_uri_schemes",
    "_ipv6",
    "_uri_forms",
    "_equivalence",
    "_resolve",
    "_iri_forms",
    "_iri",
    "_uri_marks",
    "_uri_operations",
    "_triplets",
    "_codec_rows",
    "_framing",
    "_fields",
    "_log_fields",
    "_log_formats",
    "_log_records",
    "_log_columns",
    "_query",
    "_join",
    "_names",
    "_table",
    "_cardinality",
    "_spill",
    "_first_rows",
    "_identifiers",
]


@pytest.mark.parametrize("name", CORE)
def test_imports_of_the_core_run_one_way(name):
    before = CORE[: CORE.index(name)]
    for path in (ROOT / "src/uricodec").glob(f"_[cr]o*/{name}.p[yx]*"):
        text = path.read_text("utf-8")
        for imported in re.findall(r"^(?:from|c?import) uricodec(?:\._core|\._rows)?\.(\w+)", text, re.MULTILINE):
            assert imported in {*before, name, "errors", "_core", "_rows"}, f"{path.name} imports {imported}"


def test_charsets_stand_on_the_kernels_alone():
    assert ours_in("charsets.py") == {"uricodec._base._kernels"}


def test_contributing_says_where_each_module_is():
    table = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    modules = {p.name for p in SOURCES if p.suffix in {".py", ".pyx"} and p.name[:2] != "__"}
    inside = {p.name for p in SOURCES if {"_files", "cli", "integrations"} & set(p.parts)}  # by directory
    assert {name for name in modules - inside if f"`{name}`" not in table} == set()


def test_errors_are_a_leaf():
    assert ours_in("errors.py") == set()


def test_namespaces_are_a_leaf():
    assert ours_in("namespaces.py") == {"uricodec.errors"}


def ours_in(name):
    tree = ast.parse((ROOT / "src/uricodec" / name).read_text("utf-8"))
    froms = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    plain = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    return {module for module in froms | plain if module and module.startswith("uricodec")}


def test_import_is_light():
    """The package pays neither for urllib.parse nor for anything else that is not needed yet."""
    code = "import sys; old = set(sys.modules); import uricodec; print(*sorted(set(sys.modules) - old))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name for name in done.stdout.split() if not name.startswith(("uricodec", "_cython", "cython"))}
    assert loaded <= {"operator", "_operator"}, loaded


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python reads TOML from 3.11 on")
def test_each_fault_has_its_line():
    """What `.ci/faults` puts a fault into stands in its file, once; docs/trust.md lists the faults, and counts them."""
    import tomllib

    faults = tomllib.loads((ROOT / ".ci/faults.toml").read_text("utf-8"))
    for name, fault in faults.items():
        assert (ROOT / fault["file"]).read_text("utf-8").count(fault["old"]) == 1, name
    page = (ROOT / "docs/trust.md").read_text("utf-8")
    assert {name for name in faults if f"| {name} |" not in page} == set()
    assert f"| faults put in by hand | {len(faults)}, " in page
