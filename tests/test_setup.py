"""The build: its generated stubs, and sources that avoid faults of Cython and of other compilers."""

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def test_generated_stubs_are_current():
    script = ROOT / "tools/make_stubs.py"
    if not script.exists():
        pytest.skip("only a clone has it")
    for name, text in runpy.run_path(str(script))["stubs"]():
        assert ROOT.joinpath("src/uricodec", name).read_text("utf-8") == text, "run python tools/make_stubs.py"


# --- what Cython 3.3 does without memory (docs/developing/recipes.md) -------------------------------------------------

SOURCES = sorted(path for ending in ("pyx", "pxd") for path in Path(ROOT, "src").rglob(f"*.{ending}"))


def test_functions_append_in_loops():
    found = []
    for path in SOURCES:
        text = re.sub(
            r'"""(?:.|\n)*?"""', lambda quoted: "\n" * quoted[0].count("\n"), path.read_text(encoding="utf-8")
        )
        function = None
        for number, line in enumerate(text.splitlines(), 1):
            if line[:1].strip():
                function = re.match(r"(?:cp?def|def) [^=\[]*\(|(?:cdef )?class ", line)
            if function and re.search(r"[\[(][^#\"']* for \w.* in ", line) and not re.match(r"\s*for ", line):
                found.append(f"{path.name}:{number}: {line.strip()}")
    assert [line for line in found if not re.search(r"\{.*\bfor\b", line)] == []


def test_constructors_name_their_parameters():
    for path in SOURCES:
        assert not re.search(r"def __cinit__\(.*\*\w", path.read_text("utf-8")), path.name


def test_except_clauses_end_with_raise():
    found = []
    for path in SOURCES:
        for clause in re.finditer(
            r"^( *)except\b.*:(?: *#.*)?\n((?:\1 {4}.*\n|\n)+)", path.read_text("utf-8"), re.MULTILINE
        ):
            last = clause[2].rstrip().splitlines()[-1].removeprefix(clause[1])
            if not re.match(r"    (raise\b|raise_|    )", last):
                found.append(f"{path.name}: {last.strip()}")
    assert found == []


def test_cython_still_releases_what_it_has_not_set():
    """If this fails, Cython has changed: two modules need no macro any more."""
    utility = pytest.importorskip("Cython.Utility", reason="Cython only builds the package")
    text = Path(utility.__path__[0], "ExtensionTypes.c").read_text(encoding="utf-8")
    call = text[text.index("//// CallSlotAsVectorcall ////") :]
    assert "PyObject *stack_args[5];" in call and "if (unlikely(!kwnames)) goto cleanup;" in call
    for name in ("_rows/_engine.pyx", "_counting/_table.pyx"):
        text = Path(ROOT, "src/uricodec", name).read_text("utf-8")
        assert re.match("(#.*\n)*# distutils: define_macros=CYTHON_VECTORCALL_TPNEW=0\n", text), name


def test_cython_still_drops_an_item_twice():
    """If this fails, Cython has changed: list comprehensions may come back, and the two tests above go."""
    utility = pytest.importorskip("Cython.Utility", reason="Cython only builds the package")
    text = Path(utility.__path__[0], "Optimize.c").read_text(encoding="utf-8")
    append = text[text.index("ListCompAppendAndDecref ///") :]
    assert "PyList_Append(list, x);\n    Py_DECREF(x);" in append


# What GNU C has and Microsoft's compiler does not: attributes, built-in functions, inline assembly, statement
# expressions, addresses of labels, ranges of indices, integers of 128 bits.
GNU = re.compile(
    r"__attribute__|\b__builtin_\w+|\b__atomic_\w+|__sync_\w+|\b__asm(?:__)?\b|\b(?:__)?typeof|\(\{|\bgoto +\*|&&\w+;"
    r"|\[\w+ *\.\.\. *\w+\] *=|__int128"
)


def c_code(path):
    """Our C of a file: a header, or what stands in a string between `cdef extern from *:` and the declarations."""
    text = path.read_text("utf-8")
    if path.suffix in {".pyx", ".pxd"}:
        return "\n".join(
            re.findall(r'^cdef extern from [^\n]*:\n    """\n(.*?)^    """', text, re.DOTALL | re.MULTILINE)
        )
    return re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)


def test_what_only_gnu_c_has_is_in_few_headers():
    """Each of them has another way for MSVC, which tools/cross.py compiles and runs."""
    sources = [path for path in (ROOT / "src").rglob("*") if path.suffix in {".h", ".c", ".pyx", ".pxd"}]
    found = {path.name: {*GNU.findall(c_code(path))} for path in sources}
    assert {name for name, words in found.items() if words} == {"target.h", "atomic.h", "dispatch.c", "fingerprint.h"}
    assert found["dispatch.c"] == {"__asm__"} and found["fingerprint.h"] == {"__int128"}
    assert re.search(
        r"#if defined\(__SIZEOF_INT128__\)\n.*__int128", c_code(ROOT / "src/uricodec/_base/simd/fingerprint.h")
    )
