"""Check what `twine check` and check-wheel-contents do not see in wheels, and write their bill of materials.

    python tools/check_release.py WHEEL ...          check: all modules, protected on Linux, no local paths, SBOM
    python tools/check_release.py --sbom WHEEL ...   write the SBOM (PEP 770, CycloneDX) into the wheels

All of the SBOM is read from the wheel, so that the same wheel gets the same bytes: the package, the Cython that wrote
the C of its modules, and what it needs at run time.
"""

import base64
import hashlib
import json
import re
import subprocess
import sys
import tempfile
import zipfile
from copy import copy
from email.parser import HeaderParser
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent / "src"
SBOM = "sboms/uricodec.cdx.json"
LOCAL_PATH = re.compile(rb"(?:/|[A-Z]:\\)[\w.\\/+-]+\.(?:pyx|pxd|[ch])\b")


def component(name, version=None, **more):
    purl = f"pkg:pypi/{name.lower()}" + (f"@{version}" if version else "")
    more |= {"version": version} if version else {}
    return {"type": "library", "bom-ref": purl, "name": name, "purl": purl} | more


def bill_of(metadata, modules):
    """Return the CycloneDX document for the METADATA of a wheel and the bytes of its modules."""
    licenses = [{"license": {"id": metadata["License-Expression"]}}]
    package = component(metadata["Name"], metadata["Version"], licenses=licenses)
    cythons = sorted(set(re.findall(rb"_cython_(\d+_\d+_\d+(?:(?:a|b|rc)\d+)?)", modules)))
    parts = [component("Cython", version.decode().replace("_", ".")) for version in cythons]
    required = (each for each in metadata.get_all("Requires-Dist", []) if "extra ==" not in each)
    parts += [component(re.match(r"[\w.-]+", each)[0], description=f"not contained: {each}") for each in required]
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"lifecycles": [{"phase": "build"}], "component": package},
        "components": parts,
        "dependencies": [{"ref": package["bom-ref"], "dependsOn": [part["bom-ref"] for part in parts]}],
    }


def write_sbom(wheel):
    """Write a wheel again, with its bill of materials, which its RECORD lists."""
    with zipfile.ZipFile(wheel) as archive:
        contents = {entry.filename: (entry, archive.read(entry)) for entry in archive.infolist()}
    record = next(name for name in contents if name.endswith(".dist-info/RECORD"))
    info = record.removesuffix("RECORD")
    contents.pop(info + SBOM, None)
    modules = b"".join(data for name, (_, data) in contents.items() if name.endswith((".so", ".pyd")))
    metadata = HeaderParser().parsestr(contents[f"{info}METADATA"][1].decode())
    text = json.dumps(bill_of(metadata, modules), indent=1, ensure_ascii=False).encode() + b"\n"

    entry, data = contents.pop(record)
    rows = [row for row in data.decode().splitlines() if not row.startswith(f"{info}{SBOM},")]
    digest = base64.urlsafe_b64encode(hashlib.sha256(text).digest()).rstrip(b"=").decode()
    rows.insert(-1, f"{info}{SBOM},sha256={digest},{len(text)}")
    same = copy(entry)
    same.filename = info + SBOM
    part = wheel.with_suffix(".part")
    with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as archive:
        for each in *contents.values(), (same, text), (entry, "\n".join(rows).encode() + b"\n"):
            archive.writestr(*each)
    part.replace(wheel)


def missing_protections(module):
    """Yield what a module of Linux lacks of what pyproject.toml asks for (tool.cibuildwheel.linux)."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(module)
        file.flush()
        text = subprocess.run(["readelf", "-Wld", file.name], check=True, capture_output=True, text=True).stdout
    if "GNU_RELRO" not in text:
        yield "has no RELRO segment"
    if not re.search(r"BIND_NOW|Flags: .*\bNOW", text):
        yield "does not bind all symbols at its start (-z now)"


def faults_of(wheel):
    with zipfile.ZipFile(wheel) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    modules = {name: data for name, data in files.items() if name.endswith((".so", ".pyd"))}
    sources = [*SOURCE.rglob("*.pyx"), SOURCE / "uricodec/_base/_cython.c"]  # the second is of setup.py
    expected = {path.relative_to(SOURCE).with_suffix("").as_posix() for path in sources}
    for name in sorted(expected ^ {name.partition(".")[0] for name in modules}):
        yield f"{name} is {'missing' if name in expected else 'not expected'}"
    for name, data in modules.items():
        if found := LOCAL_PATH.search(data):
            yield f"{name} has a path of the machine that built it: {found[0].decode()}"
        if "linux" in wheel.name:
            yield from (f"{name} {fault}" for fault in missing_protections(data))
    # Not each module has arrays on the stack.
    if "linux" in wheel.name and not any(b"\0__stack_chk_fail\0" in data for data in modules.values()):
        yield "no stack protector"
    bills = [json.loads(data) for name, data in files.items() if name.endswith(f".dist-info/{SBOM}")]
    package = [bill["metadata"]["component"] for bill in bills]
    if [each["purl"] for each in package] != ["pkg:pypi/uricodec@" + wheel.name.split("-")[1]]:
        yield f"{SBOM} is missing, or that of another package"
    elif {"Cython", "idna"} != {part["name"] for part in bills[0]["components"]}:
        yield f"{SBOM} has other components: {bills[0]['components']}"


def main(arguments):
    is_sbom = arguments[:1] == ["--sbom"]
    wheels, faults = [Path(argument) for argument in arguments[is_sbom:]], []
    if not wheels:
        raise SystemExit(__doc__)
    for wheel in wheels:
        if is_sbom:
            write_sbom(wheel)
        else:
            faults += (f"{wheel.name}: {fault}" for fault in faults_of(wheel))
    print(*faults, f"{len(wheels)} wheels, {len(faults)} faults", sep="\n")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
