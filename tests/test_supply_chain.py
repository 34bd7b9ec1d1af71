"""What builds, tests and publishes the package is pinned, and a wheel says what it is made of."""

import base64
import csv
import hashlib
import json
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
REQUIREMENTS = sorted((ROOT / ".ci/requirements").glob("*.in"))
INFO = "uricodec-1.2.dist-info"


def lines_of(path):
    return [line for line in path.read_text("utf-8").splitlines() if line and not line.lstrip().startswith("#")]


def test_build_requirements_have_bounds():
    """And the build tools of .ci are the same."""
    project = (ROOT / "pyproject.toml").read_text("utf-8")
    requires = re.findall(r'"([^"]+)"', re.search(r"^requires = \[(.*)\]", project, re.MULTILINE)[1])
    assert all(re.fullmatch(r"\w+>=[\d.]+,<[\d.]+", each) for each in requires), requires
    assert requires == lines_of(ROOT / ".ci/requirements/build.in")


@pytest.mark.parametrize("path", REQUIREMENTS, ids=lambda path: path.stem)
def test_pins_have_hashes(path):
    """Each name of an .in, and what it needs, has a version and hashes in the .txt."""
    pins = re.split(r"\n(?=\S)", "\n".join(lines_of(path.with_suffix(".txt"))))
    for pin in pins:
        assert re.match(r"[\w.-]+==\S+( ; .*)? \\\n +--hash=sha256:[0-9a-f]{64}", pin), pin
    names = {pin.partition("==")[0] for pin in pins}
    wanted = {re.match(r"[\w.-]+", line)[0].lower() for line in lines_of(path) if not line.startswith("-r")}
    assert {re.sub("[._]", "-", name) for name in wanted} <= names


# What takes the newest packages, because it finds out whether those work: extras as users get them, suites of others.
NEWEST = {
    ".ci/ecosystem": (
        '"download", "-q", "--no-deps", "--no-binary", name',
        '"install", "-q", f"{name}=={version}", "pytest"',
    ),
    ".ci/install": ("pipx", '"uv", "pip", "install", "-q", "--python"', '"pip", "--python", there, "install"'),
    ".ci/run": ('pip" install -q "${@:2}"; }', "pip wheel -q --no-deps -w build/wheel ."),
    ".ci/readme": ("ROOT, folder",),  # the clone at hand
    "benchmarks/run": ('pip" install -q "${@:2}"',),
}
PINNED = re.compile(
    r"--require-hashes -r (\S*\.ci/requirements/[\w$]+\.txt|uv\.txt|PACKAGES)"
    r"|--no-deps (--no-build-isolation \.|\S*/tagged/\*\.whl)"  # what is built here
)
INSTALLER = re.compile(
    r"\bpip[3w]? +(install|download|wheel)\b|\buv +(pip +(install|sync)|add|run|sync|tool)\b"
    r"|\b(npm|pnpm|yarn|gem|cargo|conda) |\b(pipx|uvx|npx|easy_install)\b|\bgo +(install|run|get)\b|\bgit clone\b"
    r"|\b(curl|wget|urlretrieve|urlopen)\b.*https?:"
)


def commands_that_install(text):
    """Return the lines of a script or workflow that install something, without the quotes and commas between words."""
    for line in re.sub(r"\\\n\s*", " ", text).splitlines():
        words = re.sub(r"""["'],? +["']?|["'](?=\w)|, +(?=PACKAGES)""", " ", line.partition("# ")[0])
        if INSTALLER.search(re.sub(" +", " ", words)):
            yield line.strip(), re.sub(" +", " ", words)


@pytest.mark.parametrize(
    ("line", "pinned"),
    [
        *((line, False) for line in (
            "pip install a", '"$venv/bin/pip" install -q a', "python -m pip  download a",
            '[X, "-m", "pip", "install", "a"]', "npx prettier", "npm ci", "uv pip install a", "uvx ruff", "pipx run a",
            "go install a@latest", "cargo install a",
            "curl -L https://a | sh", "git clone https://a", "uv run a", "pip install \\\n  -r .ci/requirements/a.txt",
            "pip install -r .ci/requirements/build.in", "pip install --require-hashes -r other.txt",
        )),
        *((line, None) for line in ("uv pip compile a", "pip list", "curl localhost", "# pip install a", "b=pip")),
        ("pip install --require-hashes -r .ci/requirements/a.txt", True),
        ('run([X, "-m", "pip", "install", "-q", "--require-hashes", "-r", PACKAGES])', True),
    ],
)  # fmt: skip
def test_what_installs_is_found(line, pinned):
    found = [bool(PINNED.search(words)) for _, words in commands_that_install(f"set -e\n{line}\n")]
    assert found == ([] if pinned is None else [pinned])


def scripts():
    for folder in ".ci", ".ci/requirements", ".github/workflows", "fuzz", "benchmarks", "docs":
        for path in sorted((ROOT / folder).iterdir()):
            if path.is_file() and path.suffix in ("", ".yml", ".sh"):
                yield path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("name", [*scripts()])
def test_scripts_install_what_is_pinned(name):
    text = ROOT.joinpath(name).read_text("utf-8")
    for line, words in commands_that_install(text):
        assert PINNED.search(words) or any(part in line for part in NEWEST.get(name, ())), (name, line)
    for packages in re.findall(r"^PACKAGES = (.*)", text, re.MULTILINE):
        assert re.fullmatch(r'ROOT / "\.ci/requirements/\w+\.txt"', packages), (name, packages)


def test_hooks_and_containers_are_pinned():
    hooks = ROOT.joinpath(".pre-commit-config.yaml").read_text("utf-8")
    assert hooks.count("repo:") == len(re.findall(r"^ +rev: v\d+\.\d+\.\d+$", hooks, re.MULTILINE)) > 0
    assert "additional_dependencies" not in hooks and "repo: local" not in hooks
    for path in (ROOT / ".github/workflows").glob("*.yml"):
        text = path.read_text("utf-8")
        images = re.findall(r"(?:container|image): *(\S+)", text)
        assert all(re.search(r"@sha256:[0-9a-f]{64}$", image) for image in images), path.name
        for command in re.findall(r"^.*apt-get install", text, re.MULTILINE):
            before = text[: text.index(command)].rpartition("- run:")[2]
            assert "/^# http:..snapshot/{s/^# /URIs: /;n;d}" in before, (path.name, command)
        assert text.count("apt-get install") == text.count("..snapshot/")
        assert "docker " not in text and not re.search("runs-on: .*latest", text), path.name


def test_workflows_use_what_is_pinned():
    for path in (ROOT / ".github/workflows").glob("*.yml"):
        text = path.read_text("utf-8")
        assert all(re.fullmatch(r"[0-9a-f]{40}", pin) for pin in re.findall(r"uses: \S+@(\S+)", text)), path.name
        for command in re.findall(r"pip install (.*)", text):
            assert re.match(r"--require-hashes -r |--no-deps --no-build-isolation \.", command), (path.name, command)


def make_wheel(path):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("uricodec/_base/_x.so", b"\0_cython_3_3_1\0_cython_3_3_1.function\0")
        archive.writestr(
            f"{INFO}/METADATA",
            "Metadata-Version: 2.4\nName: uricodec\nVersion: 1.2\nSummary: s\nLicense-Expression: Apache-2.0\n"
            'Requires-Dist: idna>=3.15\nRequires-Dist: polars>=1; extra == "polars"\n\nText.\n',
        )
        archive.writestr(f"{INFO}/RECORD", f"uricodec/_base/_x.so,,\n{INFO}/METADATA,,\n{INFO}/RECORD,,\n")


def test_bill_of_materials(tmp_path):
    """PEP 770: of the wheel itself, with a record, and the same however often it is made."""
    first, second = tmp_path / "first.whl", tmp_path / "second.whl"
    make_wheel(first)
    shutil.copy(first, second)
    for wheels in [first], [second], [first]:
        subprocess.run([sys.executable, ROOT / ".ci/sbom", *wheels], check=True)
    assert first.read_bytes() == second.read_bytes()
    with zipfile.ZipFile(first) as archive:
        name = f"{INFO}/sboms/uricodec.cdx.json"
        text = archive.read(name)
        record = {row[0]: row[1:] for row in csv.reader(archive.read(f"{INFO}/RECORD").decode().splitlines())}
        assert set(record) == set(archive.namelist())
    assert record[name][0] == "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(text).digest()).decode().rstrip("=")
    bill = json.loads(text)
    assert bill["metadata"]["component"]["purl"] == "pkg:pypi/uricodec@1.2"
    assert [part["purl"] for part in bill["components"]] == ["pkg:pypi/cython@3.3.1", "pkg:pypi/idna"]
