"""Write the tables and plots of benchmark results to docs/performance.md, docs/drop_in.md ("How fast") and README.md.

    python benchmarks/report.py bench.json dedup.json logs.json spark.json
    python benchmarks/report.py --again logs.json

The files are results of one machine. They must contain all benchmarks; only those of Spark may be missing, where there
is no Java. The figures that the pages need replace earlier results of that machine in benchmarks/results. With --again,
some files of benchmarks were run again on the machine of the latest results. Without an argument, the pages are written
again from benchmarks/results.
"""

import ast
import json
import re
import sys
from pathlib import Path

from plot import plot

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "benchmarks/results"
PAGE = ROOT / "docs/performance.md"
DROP_IN = ROOT / "docs/drop_in.md"
README = ROOT / "README.md"
PLOTS = PAGE.with_suffix("")
MARKS = "<!-- begin: written by benchmarks/report.py -->\n", "<!-- end: written by benchmarks/report.py -->\n"
UNITS = {"calls": "Nanoseconds of processor time per call", "buffers": "GB/s of input"}
TITLES = {
    "bulk": "Columns, lines and lists",
    "polars": "Polars",
    "pandas": "pandas",
    "duckdb": "DuckDB",
    "fingerprint": "Fingerprints",
    "table": "The table of fingerprints",
    "dedup": "Deduplication",
    "logs": "Logs",
    "spark_dedup": "Spark",
}
# The rows of two tables, by function: the kinds of input.
IN_README = {
    "quote": ["English, 61 B"],
    "unquote": ["English, 61 B"],
    "parse_qsl": ["60 B"],
    "urlencode": ["4 pairs"],
    "urlsplit": ["distinct URLs"],
    "urljoin": ["distinct"],
    "quote_from_bytes": ["URLs, 1 MiB"],
    "unquote_to_bytes": ["URLs, 1 MiB"],
}
IN_DROP_IN = {
    "quote": ["clean, 50 B", "English, 61 B", "CJK, 20 characters"],
    "unquote": ["clean, 50 B", "English, 61 B", "CJK, 20 characters"],
    "parse_qsl": ["60 B", "2 KB"],
    "urlencode": ["4 pairs"],
    "urlsplit": ["distinct URLs", "one URL"],
    "urlunsplit": ["distinct URLs"],
    "urljoin": ["distinct"],
    "quote_from_bytes": ["English, 1 MiB", "URLs, 1 MiB"],
    "unquote_to_bytes": ["CJK, 1 MiB", "URLs, 1 MiB"],
}


# --- what is kept -----------------------------------------------------------------------------------------------------


def keep(runs):
    """Save the results that the pages need of one machine: without host names and single rounds."""
    names = {path.name for path in Path(__file__).parent.glob("test_*.py")} | {"dedup.py", "logs.py"}
    if missing := names - {file_of(row) for run in runs for row in run["benchmarks"]}:
        raise SystemExit(f"not measured: {', '.join(sorted(missing))}")
    info = runs[0]["machine_info"]
    cpu = info.get("cpu", {})
    kept = {key: info[key] for key in ("machine", "system", "load")}
    kept["measured"] = measured(runs)
    kept["cpu"] = {key: cpu[key] for key in ("brand_raw", "count") if key in cpu}
    name = re.sub(r"\W+", "-", f"{cpu.get('brand_raw', '')} {info['machine']}".strip().lower())
    save(RESULTS / f"{name}.json", runs[0]["datetime"], kept, rows_of(runs))


def again(runs):
    """Replace the results of some files of benchmarks."""
    path, run = max(results().items(), key=lambda item: item[1]["datetime"])
    files = {file_of(row) for part in runs for row in part["benchmarks"]}
    rows = [row for row in run["benchmarks"] if file_of(row) not in files]
    info = run["machine_info"]
    info["measured"] |= measured(runs)
    save(path, run["datetime"], info, rows + rows_of(runs))


def results():
    return {path: json.loads(path.read_text("utf-8")) for path in sorted(RESULTS.glob("*.json"))}


def measured(runs):
    """Return the versions of what was measured."""
    return {name: version for run in runs for name, version in run["machine_info"]["measured"].items()}


def rows_of(runs):
    return [
        {key: row[key] for key in ("name", "fullname", "extra_info")}
        | {"stats": {key: row["stats"][key] for key in ("median", "rounds")}}
        for run in runs
        for row in run["benchmarks"]
    ]


def save(path, date, info, rows):
    head = f'"datetime": {json.dumps(date)},\n"machine_info": {json.dumps(info)},\n"benchmarks": [\n'
    RESULTS.mkdir(exist_ok=True)
    path.write_text("{\n" + head + ",\n".join(map(json.dumps, rows)) + "\n]\n}\n", "utf-8")


# --- tables -----------------------------------------------------------------------------------------------------------


def digits(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def figure(info, seconds):
    """Return nanoseconds per call, or gigabytes of input per second."""
    return digits(info["bytes"] / seconds / 1e9 if "bytes" in info else seconds / info["n"] * 1e9)


def compared(run, unit):
    """Return the rows that are compared with urllib.parse."""
    rows = [row for row in run["benchmarks"] if "reference" in row["extra_info"]]
    return [row for row in rows if ("bytes" in row["extra_info"]) == (unit == "buffers")]


def table(rows):
    """Return a table: a line per function and input, a column per library. urllib.parse is that of uricodec's run."""
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


def files(run):
    """Return the rows that are compared with something else than urllib.parse, by benchmark file."""
    found = {}
    for row in run["benchmarks"]:
        if "reference" not in row["extra_info"]:
            found.setdefault(file_of(row), []).append(row)
    return {file: found[file] for file in sorted(found, key=lambda file: [*TITLES, topic(file)].index(topic(file)))}


def file_of(row):
    return re.search(r"\w+\.py", row["fullname"])[0]


def topic(file):
    return file.removeprefix("test_").removesuffix(".py")


def other_table(rows):
    """Return the table of a benchmark file from the `extra_info` of its rows."""
    keys = {key: None for row in rows for key in row["extra_info"]}
    extra = [key for key in keys if key not in {"function", "kind", "n", "bytes"}]
    speed = ["GB/s"] if "bytes" in keys and "GB/s" not in keys else []
    yield ["benchmark", "milliseconds", *speed, *extra]
    yield ["---", *["---:"] * (1 + len(speed) + len(extra))]
    for row in rows:
        info, seconds = row["extra_info"], row["stats"]["median"]
        rate = [digits(info["bytes"] / seconds / 1e9) if "bytes" in info else ""] if speed else []
        name = re.sub(r"^test_(\w+)\[(.*)\]$", r"\1: \2", row["name"]).removeprefix("test_")
        yield [name, digits(seconds * 1e3), *rate, *(said(info.get(key, "")) for key in extra)]


def said(value):
    return f"{value:,}" if isinstance(value, int) else str(value)


def markdown(lines):
    return [f"| {' | '.join(line)} |" for line in lines]


def machine(run):
    info = run["machine_info"]
    load = f"{info['cpu'].get('count', '?')} cores, load {info['load']:.1f} in the 15 minutes before"
    return f"{run['datetime'][:10]}; {load}; {versions(run)}."


def name_of(run):
    info = run["machine_info"]
    return f"{info.get('cpu', {}).get('brand_raw', info['machine'])}, {info['system']}"


def versions(run):
    return ", ".join(f"{name} {version}" for name, version in run["machine_info"]["measured"].items())


# --- pages ------------------------------------------------------------------------------------------------------------


def section(name, run):
    """Return the lines of the page about one machine, and its plots."""
    lines = [f"## {name_of(run)}", "", machine(run), ""]
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
    for file, rows in files(run).items():
        source = ast.parse(ROOT.joinpath("benchmarks", file).read_text("utf-8"))
        what = ast.get_docstring(source).partition("\n\n")[0].replace("\n", " ")
        title = TITLES.get(topic(file), topic(file))
        lines += [f"### {title}", "", f"`benchmarks/{file}`. {what}", "", *markdown(other_table(rows)), ""]
    return lines, plots


def selected(run, unit, kinds):
    """Return the rows with these kinds of input, in the order of their functions."""
    rows = [row for row in compared(run, unit) if row["extra_info"]["kind"] in kinds.get(function(row), ())]
    return sorted(rows, key=lambda row: list(kinds).index(function(row)))


def for_readme(run):
    """Return a short table of urllib.parse and uricodec only."""
    measured = run["machine_info"]["measured"]
    programs = ", ".join(f"{name} {measured[name]}" for name in ("uricodec", "urllib.parse"))
    yield from (f"Medians; {name_of(run)}; {run['datetime'][:10]}; {programs}.", "")
    lines = [["function", "input", "urllib.parse", "uricodec", "times faster"], ["---", "---", "---:", "---:", "---:"]]
    for unit, short in ("calls", "ns"), ("buffers", "GB/s"):
        for row in selected(run, unit, IN_README):
            info, seconds = row["extra_info"], row["stats"]["median"]
            if info["library"] == "uricodec":
                figures = [f"{figure(info, value)} {short}" for value in (info["reference"], seconds)]
                lines.append([f"`{info['function']}`", info["kind"], *figures, digits(info["reference"] / seconds)])
    yield from markdown(lines)


def for_drop_in(run):
    """Return the table of urllib.parse's functions in all libraries."""
    yield f"{name_of(run)}; {machine(run)}"
    for unit, title in UNITS.items():
        if rows := selected(run, unit, IN_DROP_IN):
            yield from ("", f"{title} (times faster than urllib.parse), medians:", "", *markdown(table(rows)))


def function(row):
    return row["extra_info"]["function"]


def filled(page, lines):
    """Return the text of a page with these lines between its markers."""
    before, begin, rest = page.read_text("utf-8").partition(MARKS[0])
    _, end, after = rest.partition(MARKS[1])
    return "\n".join([before + begin, *lines, "", end + after])


def documents():
    """Return the contents of all pages and plots by path."""
    lines, texts, runs = [], {}, results()
    for path, run in runs.items():
        of_machine, plots = section(path.stem, run)
        lines += of_machine
        texts |= {PLOTS / file: text for file, text in plots.items()}
    latest = max(runs.values(), key=lambda run: run["datetime"])
    pages = {PAGE: lines[:-1], DROP_IN: for_drop_in(latest), README: for_readme(latest)}
    return texts | {page: filled(page, lines) for page, lines in pages.items()}


def main(*arguments):
    paths = [each for each in arguments if each != "--again"]
    if paths:
        use = keep if len(paths) == len(arguments) else again
        use([json.loads(Path(path).read_text("utf-8")) for path in paths])
    PLOTS.mkdir(exist_ok=True)
    for old in PLOTS.glob("*.svg"):
        old.unlink()
    for path, text in documents().items():
        path.write_text(text, "utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
