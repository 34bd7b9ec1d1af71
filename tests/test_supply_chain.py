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
    wanted = {re.match(r"[\w-]+", line)[0].lower() for line in lines_of(path) if not line.startswith("-r")}
    assert wanted <= names


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
