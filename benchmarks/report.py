"""Turns the JSON of pytest-benchmark into the README's tables, in Markdown.

    python -m pytest benchmarks --benchmark-json=bench.json && python benchmarks/report.py bench.json
"""

import json
import sys
from pathlib import Path


def digits(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def figure(row):
    """Nanoseconds per call, or gigabytes of input in a second; and how many times faster than urllib.parse."""
    info, seconds = row["extra_info"], row["stats"]["median"]
    value = info["bytes"] / seconds / 1e9 if "bytes" in info else seconds / info["n"] * 1e9
    if info["library"] in ("urllib.parse", "memcpy"):
        return digits(value)
    return f"{digits(value)} ({digits(info['reference'] / seconds)}x)"


def table(rows):
    """One line per function and kind of input, one column per library."""
    lines, libraries = {}, {}
    for row in rows:
        info = row["extra_info"]
        libraries[info["library"]] = None
        lines.setdefault((info["function"], info["kind"]), {})[info["library"]] = row
    yield ["function", "input", *libraries, "output checked"]
    yield ["---", "---", *["---:"] * len(libraries), "---"]
    for (function, kind), cells in lines.items():
        differ = [library for library, row in cells.items() if row["extra_info"]["correct"] is False]
        texts = [figure(cells[library]) if library in cells else "" for library in libraries]
        yield [function, kind, *texts, f"differs: {', '.join(differ)}" if differ else "yes"]


def main(path):
    run = json.loads(Path(path).read_text("utf-8"))
    machine = run["machine_info"]
    print(machine.get("cpu", {}).get("brand_raw", machine["machine"]), machine["system"], sep=", ", end="; ")
    print(*(f"{name} {version}" for name, version in machine["measured"].items()), sep=", ", end=".\n")
    for unit, of_buffers in ("Nanoseconds per call", False), ("GB/s of input", True):
        rows = [row for row in run["benchmarks"] if ("bytes" in row["extra_info"]) == of_buffers]
        if rows:
            print("", f"{unit} (times faster than urllib.parse), medians:", "", sep="\n")
            for line in table(rows):
                print("|", " | ".join(line), "|")


if __name__ == "__main__":
    main(*sys.argv[1:])
