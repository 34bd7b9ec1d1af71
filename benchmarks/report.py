"""Write the tables and plots of benchmark results to docs/concepts/performance.md, docs/guides/drop_in.md ("How fast"),
docs/index.md and README.md.

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
from statistics import median

from plot import plot

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "benchmarks/results"
PAGE = ROOT / "docs/concepts/performance.md"
DROP_IN = ROOT / "docs/guides/drop_in.md"
FIRST_SCREENS = ROOT / "README.md", ROOT / "docs/index.md"
PLOTS = PAGE.with_suffix("")
MARKS = "<!-- begin: written by benchmarks/report.py -->\n", "<!-- end: written by benchmarks/report.py -->\n"
SUMMARY_MARKS = tuple(mark.replace("written", "summary, written") for mark in MARKS)
CHECKED = "output checked"
HOW_TO_READ = "Further to the right is faster, on a logarithmic scale. The table has all inputs."
UNITS = {"calls": "Nanoseconds of processor time per call", "buffers": "GB/s of input"}
# The rows of the summary: what they do, and the functions.
KINDS = {
    "encode": ["quote", "quote_plus", "quote_from_bytes"],
    "decode": ["unquote", "unquote_plus", "unquote_to_bytes"],
    "read and write queries": ["parse_qsl", "parse_qs", "urlencode"],
    "split and join": ["urlsplit", "urlparse", "urlunsplit", "urldefrag", "urljoin"],
    "validate, normalize and resolve": ["uri.is_valid", "iri.is_valid", "normalize", "resolve"],
}
BUFFERS = ["quote_from_bytes", "unquote_to_bytes"]
# What they do, the other program, its benchmark, and that of uricodec.
PROGRAMS = [
    (
        "decode a column of pandas",
        "`map` of urllib.parse",
        "test_unquote[str-map, urllib]",
        "test_unquote[str-uricodec]",
    ),
    ("remove duplicates from a file of URNs", "`sort -u`", "sort -u", "uricodec"),
    ("read an access log", "goaccess", "combined: goaccess", "combined: uricodec -j 1"),
    ("read a log in JSON", "jq", "caddy: jq", "caddy: uricodec -j 1"),
]
TITLES = {
    "bulk": "Columns, lines and lists",
    "polars": "Polars",
    "pandas": "pandas",
    "duckdb": "DuckDB",
    "fingerprint": "Fingerprints",
    "table": "The table of fingerprints",
    "dedup": "Deduplication",
    "counting": "Counting",
    "logs": "Logs",
    "spark_dedup": "Spark",
}
# The rows of the plots and of a table, by function: the kinds of input.
IN_PLOT = {
    "quote": ["English, 61 B"],
    "unquote": ["English, 61 B"],
    "parse_qsl": ["60 B"],
    "urlencode": ["CJK, 4 pairs"],
    "urlsplit": ["distinct URLs"],
    "urlunsplit": ["distinct URLs"],
    "urljoin": ["distinct"],
    "uri.is_valid": ["distinct URLs of 60 bytes"],
    "normalize": ["distinct URLs"],
    "iri_to_uri": ["IRIs of 60 bytes", "IRIs, 1 MiB"],
    "uri_to_iri": ["URIs, 1 MiB"],
    "quote_from_bytes": ["URLs, 1 MiB"],
    "unquote_to_bytes": ["URLs, 1 MiB", "CJK, 1 MiB"],
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
    """Return a table: a line per function and input. The figure of urllib.parse is that of uricodec's run."""
    lines = {}
    for row in rows:
        info, seconds = row["extra_info"], row["stats"]["median"]
        library, correct = info["library"], info["correct"]
        reference, ours, others = lines.setdefault((info["function"], info["kind"]), ([], [], []))
        cell = figure(info, seconds)
        if correct is not None:
            cell += f" ({digits(info['reference'] / seconds)}x{'' if correct else ', other output'})"
        if library == "uricodec":
            reference.append(figure(info, info["reference"]))
            ours.append(cell)
        else:
            others.append(f"{library} {cell}")
    yield ["function", "input", "urllib.parse", "uricodec", "others"]
    yield ["---", "---", "---:", "---:", "---"]
    for (function, kind), cells in lines.items():
        yield [function, kind, *("; ".join(cell) for cell in cells)]


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
    left_out = {"function", "kind", "n", "bytes"} | ({CHECKED} if is_checked(rows) else set())
    extra = [key for key in keys if key not in left_out]
    speed = ["GB/s"] if "bytes" in keys and "GB/s" not in keys else []
    yield ["benchmark", "milliseconds", *speed, *extra]
    yield ["---", *["---:"] * (1 + len(speed) + len(extra))]
    for row in rows:
        info, seconds = row["extra_info"], row["stats"]["median"]
        rate = [digits(info["bytes"] / seconds / 1e9) if "bytes" in info else ""] if speed else []
        name = re.sub(r"^test_(\w+)\[(.*)\]$", r"\1: \2", row["name"]).removeprefix("test_")
        yield [name, digits(seconds * 1e3), *rate, *(said(info.get(key, "")) for key in extra)]


def is_checked(rows):
    return all(row["extra_info"].get(CHECKED) == "yes" for row in rows)


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
            (f"{info['function']}, {info['kind']}", series(info), info["reference"] / row["stats"]["median"])
            for row in selected(run, unit, IN_PLOT)
            for info in [row["extra_info"]]
            if info["correct"] is not None
        ]
        if dots:
            plots[f"{name}-{unit}.svg"] = "\n".join(plot(f"Times faster than urllib.parse: {unit}", dots)) + "\n"
            image = f"![Times faster than urllib.parse, {unit}]({PLOTS.name}/{name}-{unit}.svg)"
            lines += [f"### {title}", "", HOW_TO_READ, "", image, "", *markdown(table(rows)), ""]
    for file, rows in files(run).items():
        source = ast.parse(ROOT.joinpath("benchmarks", file).read_text("utf-8"))
        what = ast.get_docstring(source).partition("\n\n")[0].replace("\n", " ")
        title = TITLES.get(topic(file), topic(file))
        checked = " All outputs were checked." if is_checked(rows) else ""
        lines += [f"### {title}", "", f"`benchmarks/{file}`. {what}{checked}", "", *markdown(other_table(rows)), ""]
    return lines, plots


def series(info):
    return info["library"] if info["correct"] else f"{info['library']}, other output,"


def selected(run, unit, kinds):
    """Return the rows with these kinds of input, in the order of their functions."""
    rows = [row for row in compared(run, unit) if row["extra_info"]["kind"] in kinds.get(function(row), ())]
    return sorted(rows, key=lambda row: list(kinds).index(function(row)))


def for_first_screens(run):
    """Return a sentence about the functions of urllib.parse."""
    calls = ours(run, "calls", [each for names in list(KINDS.values())[:-1] for each in names])
    buffers = ours(run, "buffers", BUFFERS)
    short = f"{range_of(calls)} times as fast for short inputs (median {digits(median(calls))})"
    yield f"The functions of `urllib.parse` are {short},"
    yield f"and {range_of(buffers)} times for buffers of 1 MiB. Every output is compared with that of urllib.parse."


def for_summary(run):
    """Return a table of what programs gain, with a row for each kind of work."""
    measured = run["machine_info"]["measured"]
    yield f"{name_of(run)}; {run['datetime'][:10]}; urllib.parse {measured['urllib.parse']}."
    lines = [["to", "compared with", "times as fast", "median"], ["---", "---", "---:", "---:"]]
    for title, names in KINDS.items():
        times = ours(run, "calls", names)
        lines.append([title, "urllib.parse", range_of(times), digits(median(times))])
    times = ours(run, "buffers", BUFFERS)
    lines.append(["encode and decode 1 MiB", "urllib.parse", range_of(times), digits(median(times))])
    medians = {row["name"]: row["stats"]["median"] for row in run["benchmarks"]}
    for title, program, other, name in PROGRAMS:
        lines.append([title, program, digits(medians[other] / medians[name]), ""])
    yield from ("", *markdown(lines))


def ours(run, unit, names):
    """Return how many times faster than urllib.parse the rows of these functions are."""
    rows = [row for row in compared(run, unit) if function(row) in names and row["extra_info"]["library"] == "uricodec"]
    return [row["extra_info"]["reference"] / row["stats"]["median"] for row in rows]


def range_of(times):
    return f"{digits(min(times))} to {digits(max(times))}"


def for_drop_in(run):
    """Return the table of urllib.parse's functions in all libraries."""
    yield f"{name_of(run)}; {machine(run)}"
    for unit, title in UNITS.items():
        if rows := selected(run, unit, IN_DROP_IN):
            yield from ("", f"{title} (times faster than urllib.parse), medians:", "", *markdown(table(rows)))


def function(row):
    return row["extra_info"]["function"]


def filled(text, lines, marks=MARKS):
    """Return the text of a page with these lines between its markers."""
    before, begin, rest = text.partition(marks[0])
    _, end, after = rest.partition(marks[1])
    return "\n".join([before + begin, *lines, "", end + after])


def documents():
    """Return the contents of all pages and plots by path."""
    lines, texts, runs = [], {}, results()
    for path, run in runs.items():
        of_machine, plots = section(path.stem, run)
        lines += of_machine
        texts |= {PLOTS / file: text for file, text in plots.items()}
    latest = max(runs.values(), key=lambda run: run["datetime"])
    pages = {PAGE: lines[:-1], DROP_IN: for_drop_in(latest)} | {
        page: for_first_screens(latest) for page in FIRST_SCREENS
    }
    texts |= {page: filled(page.read_text("utf-8"), lines) for page, lines in pages.items()}
    return texts | {PAGE: filled(texts[PAGE], for_summary(latest), SUMMARY_MARKS)}


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
