"""`python -m uricodec.run` and `pytest -p uricodec.pytest_plugin`: programs and test suites with the drop-in."""

import io
import os
import py_compile
import subprocess
import sys
import venv
import zipapp
from pathlib import Path

import pytest
from support.marks import long

import uricodec
from uricodec import parse
from uricodec.run import Profile

PROGRAM = """
import sys, urllib.request
from urllib.parse import quote, quote_plus, urlencode, urlsplit
assert __name__ == "__main__" and urllib.request.quote is quote
for i in range(50):
    urlencode({"a": quote(f"a b {i}")}, quote_via=quote_plus)
    urlsplit(f"http://h/{i}").geturl()
print(getattr(quote, "__wrapped__", quote).__module__, sys.argv[1:], sys.path[0])
sys.exit(3)
"""


@pytest.fixture
def folder(tmp_path):
    tmp_path.joinpath("program.py").write_text(PROGRAM)
    return tmp_path


def run(folder, *arguments):
    source = Path(uricodec.__file__).parent.parent
    environment = dict(os.environ, PYTHONPATH=str(source))
    command = [sys.executable, *map(str, arguments)]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=60)


@pytest.mark.parametrize("program", [["program.py"], ["-m", "program"]])
def test_run(folder, program):
    process = run(folder, "-m", "uricodec.run", *program, "-x", "--profile")
    assert (process.returncode, process.stderr) == (3, "")
    assert process.stdout == f"uricodec.parse ['-x', '--profile'] {folder}\n"


STATE = """
import re, sys, threading, __main__
names = {name: re.sub("0x[0-9a-f]+", "", repr(value)) for name, value in globals().items() if name != "names"}
print(sys.path, sys.argv, sorted(names.items()), __main__.__dict__ is globals())
main = threading.main_thread()
threading.Thread(target=lambda: (main.join(), print(sys.modules["__main__"].__dict__ is globals(), sys.argv))).start()
"""
ARGUMENTS = "import sys; print(sys.argv)\n"


@pytest.fixture
def programs(tmp_path):
    """A script, a link to it from another folder, a package, a module, a folder and an archive with __main__.py."""
    for name in "scripts", "links", "package", "application":
        tmp_path.joinpath(name).mkdir()
    for name in "scripts/script.py", "package/__main__.py", "package/module.py", "application/__main__.py", "top.py":
        tmp_path.joinpath(name).write_text(STATE)
    tmp_path.joinpath("package", "__init__.py").write_text(ARGUMENTS)
    tmp_path.joinpath("annotated.py").write_text("def f(x: int): print(f.__annotations__, __annotations__)\nf(1)")
    tmp_path.joinpath("raising.py").write_text("raise KeyError(5)")
    tmp_path.joinpath("empty").mkdir()
    tmp_path.joinpath("links", "link.py").symlink_to(Path("..", "scripts", "script.py"))
    tmp_path.joinpath("links", "absolute.py").symlink_to(tmp_path / "scripts" / "script.py")
    tmp_path.joinpath("links", "folder").symlink_to(tmp_path / "scripts")
    zipapp.create_archive(tmp_path / "application", tmp_path / "application.pyz")
    py_compile.compile(str(tmp_path / "top.py"), str(tmp_path / "compiled.pyc"))
    py_compile.compile(str(tmp_path / "top.py"), str(tmp_path / "compiled"))
    return tmp_path


KINDS = [
    ["scripts/script.py"], ["./scripts/../scripts/script.py"], ["top.py"], ["links/link.py"], ["links/absolute.py"],
    ["links/folder/script.py"], ["compiled.pyc"], ["application"], ["application.pyz"], ["-m", "package"],
    ["-m", "package.module"], ["-m", "top"], ["-mtop"], ["-mpackage"], ["./top.py"], [".//top.py"], ["././application"],
    ["application/"], ["application.pyz/"], ["compiled"], ["/dev/stdin"],
]  # fmt: skip
FAILURES = [
    ["no_such.py"], ["no/such.py"], ["empty"], ["."], [""], ["-m", "no_such"], ["-m", "package.no_such"],
    ["-m", "empty"], ["-m", "top.py"], ["-m", "sys"], ["-m", ".top"], ["-m", ""], ["-m", "__main__"], ["annotated.py"],
    ["raising.py"], ["-m", "raising"],
]  # fmt: skip
MODES = [
    ([], {}),
    (["-I"], {}),
    ([], {"PYTHONSAFEPATH": "1"}),
    (["-E"], {"PYTHONSAFEPATH": "1"}),
    (["-s"], {}),
    (["-OO"], {}),
]
MODES += [(["-P"], {}), (["-P", "-I"], {})] if sys.version_info >= (3, 11) else []


@pytest.fixture(scope="module")
def environment_with_source(tmp_path_factory):
    """A Python that finds this uricodec under -I, too: in a file of its site-packages."""
    folder = tmp_path_factory.mktemp("environment")
    venv.EnvBuilder(symlinks=os.name != "nt").create(folder)
    executable = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    command = [executable, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    packages = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    Path(packages, "source.pth").write_text(f"{Path(uricodec.__file__).parent.parent}\n")
    return executable


def outcomes(executable, options, variables, kind, programs):
    """Return what the interpreter does, and what it does by way of the launcher."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")} | variables
    for launcher in [], ["-m", "uricodec.run"]:
        command = [executable, *options, *launcher, *kind, "-x", "argument"]
        with programs.joinpath("top.py").open() as script:
            process = subprocess.run(
                command, cwd=programs, env=environment, stdin=script, capture_output=True, text=True, check=False
            )
        yield process.returncode, process.stdout, process.stderr.splitlines()[-1:]


@pytest.mark.slow
@pytest.mark.parametrize("kind", [*KINDS[::9], *long(*KINDS[1:9], *KINDS[10:18], *KINDS[19:])], ids=" ".join)
def test_as_the_interpreter_itself(programs, environment_with_source, kind):
    """sys.path, sys.argv and __main__, with each option about sys.path, also in a thread that outlives the program."""
    for options, variables in MODES:
        expected, found = outcomes(environment_with_source, options, variables, kind, programs)
        assert found == expected, options
        assert "__main__" in expected[1] or (expected[0] == 1 and "-m" in kind[0]), expected


@pytest.mark.slow
@pytest.mark.parametrize("kind", FAILURES, ids=" ".join)
def test_errors_of_the_interpreter(programs, environment_with_source, kind):
    expected, found = outcomes(environment_with_source, [], {}, kind, programs)
    assert found == expected


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="Windows does not remove the current folder")
def test_the_current_folder_is_removed(programs):
    """There is none for the interpreter to put first in sys.path, and none to remove."""
    python = getattr(sys, "_base_executable", sys.executable)  # that of an environment does not start there
    environment = dict(os.environ, PYTHONPATH=str(Path(uricodec.__file__).parent.parent))
    code = "import os, sys, tempfile; os.chdir(tempfile.mkdtemp()); os.rmdir(os.getcwd()); "
    code += "os.execv(sys.argv[1], sys.argv[1:])"
    for kind in [str(programs / "top.py")], ["top.py"], ["-m", "top"]:
        found = []
        for launcher in [], ["-m", "uricodec.run"]:
            command = [sys.executable, "-c", code, python, *launcher, *kind]
            process = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
            found.append((process.returncode, process.stdout, process.stderr))
        assert found[0] == found[1], kind


def test_profile(folder):
    process = run(folder, "-m", "uricodec.run", "--profile", "program.py")
    assert process.returncode == 3, process.stderr
    assert process.stdout == f"uricodec.parse [] {folder}\n"
    rows = {line.split()[0]: line.split() for line in process.stderr.splitlines() if line}
    assert {name: rows[name][1] for name in ("quote", "urlencode", "urlsplit", "all")} == {
        "quote": "50", "urlencode": "50", "urlsplit": "50", "all": "150",
    }  # fmt: skip
    assert "quote_plus" not in rows  # what urlencode calls is not counted again


def test_calls_within_calls_are_not_counted():
    profile = Profile()
    quote, urlencode = [profile.wrap(name, getattr(parse, name)) for name in ("quote", "urlencode")]

    class Quoting:
        def __str__(self):
            return quote("a b")

    assert urlencode([("a", Quoting()), ("b", [1, (2,)])]) == "a=a%2520b&b=%5B1%2C+%282%2C%29%5D"
    assert urlencode([("a", "b")]) == urlencode({"a": "b"}) == "a=b"
    figures = profile.figures["urlencode"]
    assert (profile.figures["quote"].calls, figures.calls, len(figures.ours)) == (0, 3, 2)


def test_the_profile_leaves_out_what_measuring_costs():
    profile, shown = Profile(), io.StringIO()
    assert profile.cost >= 0
    profile.cost = 80
    for name, theirs, ours in ("quote", 1080, 280), ("unquote", 130, 100), ("urlsplit", 70, 60):
        profile.wrap(name, getattr(parse, name))
        figures = profile.figures[name]
        figures.calls = 1_000_000
        figures.theirs.extend([theirs] * 100)
        figures.ours.extend([ours] * 100)
    profile.print(shown)
    rows = {line.split()[0]: line.split() for line in shown.getvalue().splitlines() if line}
    assert rows["quote"][2:] == ["1000.00", "ms", "200.00", "ms", "800.00", "ms", "5.0"]
    assert rows["unquote"][2:] == ["50.00", "ms", "20.00", "ms", "30.00", "ms", "-"]
    assert rows["urlsplit"][2:] == ["0.00", "ms", "0.00", "ms", "0.00", "ms", "-"]
    assert rows["all"][1:] == ["3000000", "830.00", "ms"]


def test_values_that_contain_themselves_are_not_compared():
    values = ["a"]
    values.append(values)
    profile = Profile()
    urlencode = profile.wrap("urlencode", parse.urlencode)
    assert urlencode({"a": values}) == "a=%5B%27a%27%2C+%5B...%5D%5D"
    assert (profile.figures["urlencode"].calls, len(profile.figures["urlencode"].ours)) == (1, 0)


@pytest.mark.parametrize("arguments", [[], ["--no-such", "program.py"], ["no_such.py"], ["-m", "no_such"]])
def test_errors(folder, arguments):
    process = run(folder, "-m", "uricodec.run", *arguments)
    assert process.returncode in (1, 2) and process.stderr


@pytest.mark.slow
def test_pytest_plugin(folder):
    folder.joinpath("test_it.py").write_text(
        "from urllib.parse import quote\ndef test_it():\n    assert quote.__module__ == 'uricodec.parse'\n"
    )
    process = run(folder, "-m", "pytest", "-p", "uricodec.pytest_plugin", "-p", "no:cacheprovider", "test_it.py")
    assert process.returncode == 0, process.stdout
    assert "uricodec: " in process.stdout and "1 passed" in process.stdout
