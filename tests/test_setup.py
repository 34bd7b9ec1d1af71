"""The build: what it compiles, and what it says where it cannot."""

import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

pytest.importorskip("setuptools", reason="Python 3.12 and later come without it")


def test_every_module_is_compiled(monkeypatch):
    monkeypatch.chdir(ROOT)
    extensions = runpy.run_path("setup.py")["find_extensions"]()
    modules = {path.with_suffix("").relative_to("src") for path in Path("src").rglob("*.pyx")}
    assert {extension.name for extension in extensions} == {".".join(module.parts) for module in modules}


def test_flags_are_those_of_modules(monkeypatch):
    """Each name in a list of setup.py is a module, and is in one list; a module has the flag of its list."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("CFLAGS", "")
    monkeypatch.delenv("URICODEC_DEBUG", raising=False)
    build = runpy.run_path("setup.py")
    modules = {extension.name.partition(".")[2] for extension in build["find_extensions"]()} | {"_base._cython"}
    named = [*build["FOR_SIZE"], *build["LEVEL_2"]]
    assert len(named) == len({*named})
    assert {*named} <= modules
    if os.name != "nt":
        levels = [
            build["compiler_flags"](name)[0] for name in (build["FOR_SIZE"][0], build["LEVEL_2"][0], "_base._kernels")
        ]
        assert levels == ["-Os", "-O2", "-O3"]


def test_a_module_that_is_missing(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    build = runpy.run_path(str(ROOT / "setup.py"))
    rooms, find_extensions = build["ROOMS"], build["find_extensions"]
    for room in rooms:
        path = tmp_path / "src/uricodec" / room
        path.mkdir(parents=True)
        (path / "_some.pyx").touch()
    stub = tmp_path / "src/uricodec" / rooms[0] / "_lost.pyi"
    stub.touch()
    with pytest.raises(SystemExit, match=r"_lost\.pyx"):
        find_extensions()
    stub.unlink()
    assert len(find_extensions()) == len(rooms)
    stub.with_name("_some.pyx").unlink()
    with pytest.raises(SystemExit, match=f"{rooms[0]}: all modules"):
        find_extensions()


@pytest.mark.skipif(os.name == "nt", reason="CC names no compiler there")
def test_no_compiler():
    """That is said in one line, before Cython compiles anything."""
    command = [sys.executable, "setup.py", "-q", "build_ext", "--inplace"]
    environment = dict(os.environ, CC="no-such-compiler", PYTHONWARNINGS="")
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 1
    assert "Cythonizing" not in done.stdout + done.stderr
    assert "uricodec: expected a C compiler. Debian and Ubuntu: apt-get install gcc" in done.stderr.splitlines()[-1]


# --- what Cython 3.3 does without memory (CONTRIBUTING.md) ------------------------------------------------------------

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
    for name in ("_rows/_engine.pyx", "dedup/_table.pyx"):
        text = Path(ROOT, "src/uricodec", name).read_text("utf-8")
        assert text.startswith("# distutils: define_macros=CYTHON_VECTORCALL_TPNEW=0\n"), name


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


@pytest.mark.parametrize(
    "code",
    [
        "__attribute__((cold))",
        "__builtin_ctz(x)",
        '__asm__("")',
        "({ 1; })",
        "goto *next",
        "[0 ... 9] = 1",
        "typeof(x) y",
    ],
)
def test_what_only_gnu_c_has_is_found(code):
    assert GNU.search(code)
