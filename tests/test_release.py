"""tools/check_release.py writes and checks the bill of materials of wheels."""

import base64
import csv
import hashlib
import json
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

TOOL = Path(__file__).parent.parent / "tools/check_release.py"
INFO = "uricodec-1.2.dist-info"

pytestmark = pytest.mark.skipif(not TOOL.exists(), reason="tools/ is only in the repository and the sdist")


def make_wheel(path):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("uricodec/_base/_x.pyd", b"\0_cython_3_3_1\0_cython_3_3_1.function\0/home/me/src/_x.c\0")
        archive.writestr(
            f"{INFO}/METADATA",
            "Metadata-Version: 2.4\nName: uricodec\nVersion: 1.2\nSummary: s\nLicense-Expression: Apache-2.0\n"
            'Requires-Dist: idna>=3.15\nRequires-Dist: polars>=1; extra == "polars"\n\nText.\n',
        )
        archive.writestr(f"{INFO}/RECORD", f"uricodec/_base/_x.pyd,,\n{INFO}/METADATA,,\n{INFO}/RECORD,,\n")


def run(*arguments):
    return subprocess.run([sys.executable, TOOL, *arguments], capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_writes_bill_of_materials(tmp_path):
    """PEP 770: of the wheel itself, with a record, and the same however often it is made."""
    first, second = tmp_path / "first.whl", tmp_path / "second.whl"
    make_wheel(first)
    shutil.copy(first, second)
    for wheel in first, second, first:
        assert run("--sbom", wheel).returncode == 0
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


def test_reports_faults(tmp_path):
    wheel = tmp_path / "uricodec-1.2-cp311-cp311-win_amd64.whl"
    make_wheel(wheel)
    done = run(wheel)
    assert done.returncode == 1
    for fault in (
        "uricodec/_base/_kernels is missing",
        "uricodec/_base/_x is not expected",
        "_x.pyd has a path of the machine that built it: /home/me/src/_x.c",
        "sboms/uricodec.cdx.json is missing",
    ):
        assert fault in done.stdout
