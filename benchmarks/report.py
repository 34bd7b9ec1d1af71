"""Turns the JSON of pytest-benchmark into the README's tables, in Markdown.

python -m pytest benchmarks --benchmark-json=bench.json && python benchmarks/report.py bench.json
"""

import json
import sys
from pathlib import Path


def digits(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def figure(info, seconds):
    """Nanoseconds per call, or gigabytes of input in a second."""
    return digits(info["bytes"] / seconds / 1e9 if "bytes" in info else seconds / info["n"] * 1e9)


def table(rows):
    """One line per function and kind of input, one column per library; urllib.parse as it ran beside uricodec."""
    lines, libraries = {}, {"urllib.parse": None, "uricodec": None}
    for row in rows:
        info, seconds = row["extra_info"], row["stats"]["median"]
        function, kind, library, correct = (info[key] for key in ("function", "kind", "library", "correct"))
        libraries[library] = None
        cells, differ = lines.setdefault((function, kind), ({}, []))
        cells[library] = figure(info, seconds)
        if correct is not None:
            cells[library] += f" ({digits(info['reference'] / seconds)}x)"
        if correct is False:
            differ.append(library)
        if library == "uricodec":
            cells["urllib.parse"] = figure(info, info["reference"])
    yield ["function", "input", *libraries, "output checked"]
    yield ["---", "---", *["---:"] * len(libraries), "---"]
    for (function, kind), (cells, differ) in lines.items():
        checked = f"differs: {', '.join(differ)}" if differ else "yes"
        yield [function, kind, *(cells.get(library, "") for library in libraries), checked]


def main(path):
    run = json.loads(Path(path).read_text("utf-8"))
    machine = run["machine_info"]
    print(machine.get("cpu", {}).get("brand_raw", machine["machine"]), machine["system"], sep=", ", end="; ")
    print(*(f"{name} {version}" for name, version in machine["measured"].items()), sep=", ", end=".\n")
    for unit, of_buffers in ("Nanoseconds of processor time per call", False), ("GB/s of input", True):
        compared = [row for row in run["benchmarks"] if "reference" in row["extra_info"]]
        rows = [row for row in compared if ("bytes" in row["extra_info"]) == of_buffers]
        if rows:
            print("", f"{unit} (times faster than urllib.parse), medians:", "", sep="\n")
            for line in table(rows):
                print("|", " | ".join(line), "|")


if __name__ == "__main__":
    main(*sys.argv[1:])
