"""Makes tables and plots of what pytest-benchmark has measured.

The README's tables, in Markdown:

    python -m pytest benchmarks --benchmark-json=bench.json && python benchmarks/report.py bench.json

docs/performance.md and its plots, from benchmarks/results, which has a file for each machine; bench.json, if there is
one, is put there first, in the stead of what that machine measured before:

    python benchmarks/report.py --docs bench.json
"""

import json
import re
import sys
from pathlib import Path

from plot import plot

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "benchmarks/results"
PAGE = ROOT / "docs/performance.md"
PLOTS = PAGE.with_suffix("")
MARKS = "<!-- from here on made by benchmarks/report.py -->\n", "<!-- up to here -->\n"
UNITS = {"calls": "Nanoseconds of processor time per call", "buffers": "GB/s of input"}


# --- tables -----------------------------------------------------------------------------------------------------------


def digits(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def figure(info, seconds):
    """Nanoseconds per call, or gigabytes of input in a second."""
    return digits(info["bytes"] / seconds / 1e9 if "bytes" in info else seconds / info["n"] * 1e9)


def compared(run, unit):
    """The rows that have urllib.parse beside them."""
    rows = [row for row in run["benchmarks"] if "reference" in row["extra_info"]]
    return [row for row in rows if ("bytes" in row["extra_info"]) == (unit == "buffers")]


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


def other_tables(run):
    """What is compared with something else: for each file of benchmarks, what its rows say themselves."""
    files = {}
    for row in run["benchmarks"]:
        if "reference" not in row["extra_info"]:
            files.setdefault(re.search(r"test_(\w+)\.py", row["fullname"])[1], []).append(row)
    for file, rows in files.items():
        keys = {key: None for row in rows for key in row["extra_info"]}
        extra = [key for key in keys if key not in {"function", "kind", "n", "bytes"}]
        speed = ["GB/s"] if "bytes" in keys and "GB/s" not in keys else []
        lines = [["benchmark", "milliseconds", *speed, *extra], ["---", *["---:"] * (1 + len(speed) + len(extra))]]
        for row in rows:
            info, seconds = row["extra_info"], row["stats"]["median"]
            rate = [digits(info["bytes"] / seconds / 1e9) if "bytes" in info else ""] if speed else []
            name = re.sub(r"^test_\w+\[?|\]$", "", row["name"]) or row["name"]
            lines.append([name, digits(seconds * 1e3), *rate, *(str(info.get(key, "")) for key in extra)])
        yield file, lines


def markdown(lines):
    return [f"| {' | '.join(line)} |" for line in lines]


def machine(run):
    info = run["machine_info"]
    return f"{info.get('cpu', {}).get('brand_raw', info['machine'])}, {info['system']}"


def versions(run):
    return ", ".join(f"{name} {version}" for name, version in run["machine_info"]["measured"].items())


def report(run):
    """The README's tables."""
    yield f"{machine(run)}; {versions(run)}."
    for unit, title in UNITS.items():
        rows = compared(run, unit)
        if rows:
            yield from ("", f"{title} (times faster than urllib.parse), medians:", "", *markdown(table(rows)))


# --- docs/performance.md ----------------------------------------------------------------------------------------------


def keep(run):
    """A file of what is needed of a run: neither names of machines nor every round."""
    info = run["machine_info"]
    cpu = info.get("cpu", {})
    kept = {key: info[key] for key in ("machine", "system", "load", "measured")}
    kept["cpu"] = {key: cpu[key] for key in ("brand_raw", "count") if key in cpu}
    rows = [
        {key: row[key] for key in ("name", "fullname", "extra_info")}
        | {"stats": {key: row["stats"][key] for key in ("median", "rounds")}}
        for row in run["benchmarks"]
    ]
    name = re.sub(r"\W+", "-", f"{cpu.get('brand_raw', '')} {info['machine']}".strip().lower())
    head = f'"datetime": {json.dumps(run["datetime"])},\n"machine_info": {json.dumps(kept)},\n"benchmarks": [\n'
    RESULTS.mkdir(exist_ok=True)
    RESULTS.joinpath(f"{name}.json").write_text("{\n" + head + ",\n".join(map(json.dumps, rows)) + "\n]\n}\n", "utf-8")


def section(name, run):
    """The lines of the page on one machine, and its plots."""
    info = run["machine_info"]
    load = f"{info['cpu'].get('count', '?')} cores, load {info['load']:.1f} in the quarter of an hour before"
    lines = [f"## {machine(run)}", "", f"{run['datetime'][:10]}; {load}; {versions(run)}.", ""]
    plots = {}
    for unit, title in UNITS.items():
        rows = compared(run, unit)
        dots = [
            (f"{info['function']}, {info['kind']}", info["library"], info["reference"] / row["stats"]["median"])
            for row in rows
            for info in [row["extra_info"]]
            if info["correct"] is not None
        ]
        if dots:
            plots[f"{name}-{unit}.svg"] = "\n".join(plot("Times faster than urllib.parse", dots)) + "\n"
            image = f"![Times faster than urllib.parse, {unit}]({PLOTS.name}/{name}-{unit}.svg)"
            lines += [f"### {title}", "", image, "", *markdown(table(rows)), ""]
    for file, others in other_tables(run):
        lines += [f"### {file.capitalize()}", "", *markdown(others), ""]
    return lines, plots


def documents():
    """The page, and its plots by name."""
    lines, plots = [], {}
    for path in sorted(RESULTS.glob("*.json")):
        of_machine, more = section(path.stem, json.loads(path.read_text("utf-8")))
        lines, plots = lines + of_machine, plots | more
    before, _, rest = PAGE.read_text("utf-8").partition(MARKS[0])
    after = rest.partition(MARKS[1])[2]
    return before + MARKS[0] + "\n" + "\n".join(lines) + "\n" + MARKS[1] + after, plots


def main(*arguments):
    runs = [json.loads(Path(path).read_text("utf-8")) for path in arguments if path != "--docs"]
    if "--docs" not in arguments:
        for run in runs:
            print(*report(run), sep="\n")
        return
    for run in runs:
        keep(run)
    page, plots = documents()
    PAGE.write_text(page, "utf-8")
    PLOTS.mkdir(exist_ok=True)
    for old in PLOTS.glob("*.svg"):
        old.unlink()
    for name, text in plots.items():
        PLOTS.joinpath(name).write_text(text, "utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
