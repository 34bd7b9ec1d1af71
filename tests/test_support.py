"""docs/reference/support.md says what the scripts and the settings of the package say."""

import re
import runpy
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs/reference/support.md").read_text("utf-8")
CROSS = runpy.run_path(str(ROOT / ".ci/cross"))


def rows_of(heading):
    section = PAGE.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    table = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table[2:]]


def test_targets_are_those_of_the_script_and_whole():
    """Each is in the table; "-" where it has not been compiled, never a part of the modules that there were."""
    targets = {name: cells for name, *cells in rows_of("Targets")}
    assert [*targets] == [*CROSS["TARGETS"], *(f"{name}, own C as MSVC" for name in CROSS["MSVC"])]
    modules = len([*(ROOT / "src").rglob("*.pyx")]) + 1  # the module of Cython's own functions, of setup.py
    whole = {"-", *(f"{count} of {count}" for count in range(60, modules + 1))}
    for name, (headers, compiled, linked, ran) in targets.items():
        assert ran == "-" or ran.endswith("fingerprint, memory")
        if name.endswith("MSVC"):
            assert (headers, linked) == ("none", "-") and compiled in {"yes", "-"}
            continue
        assert headers in {"Debian", "generated"}
        assert compiled == linked and compiled in whole
        # A target has kernels that ran only if there is something that runs its programs.
        assert ran == "-" or CROSS["TARGETS"][name][2]


def test_pythons_are_those_of_the_classifiers():
    project = (ROOT / "pyproject.toml").read_text("utf-8")
    classifiers = re.findall(r"Python :: (3\.\d+)\"", project)
    row = next(cells for cells in rows_of("Policy") if cells[0] == "CPython")
    supported, free_threaded = row[1].split(";")
    assert re.findall(r"3\.\d+", supported) == classifiers
    wheels = re.findall(r'"cp3(\d+)t-\*"', project)
    assert re.findall(r"3\.(\d+)t", free_threaded) == wheels


def test_emulated_tests_have_their_command():
    machines = set(re.findall(r"^    (\w+)\) debian=", (ROOT / ".ci/qemu").read_text("utf-8"), re.MULTILINE))
    assert set(re.findall(r"`\.ci/qemu (\w+)`", PAGE)) == machines
    names = {name.split()[0] for name, *_ in rows_of("Where the tests ran")} - {"others"}
    assert names < {*CROSS["TARGETS"]}
    assert all((ROOT / path).exists() for path in re.findall(r"`(?:bash )?(\.ci/\w+)", PAGE))
