"""The page docs/reference/operations.md: its table, and an example of each operation for one value, columns, SQL and
the command line. docs/conf.py adds them when the site is built; `python docs/make_operations.py` prints them.
"""

import json
import shlex
import subprocess
import sys

import uricodec
from uricodec import bulk, iri, parse, uri, urn
from uricodec.bulk._operation import REQUIRED
from uricodec.bulk._operations import OPERATIONS

# What the examples are of.
MODULES = {"bulk": bulk, "iri": iri, "parse": parse, "uri": uri, "uricodec": uricodec, "urn": urn}
URL = "http://me@Example.co.uk:8080/a%20b/%7Ec?q=caf%C3%A9&page=2"
URN = "URN:ISBN:0-395-36341-1#p7"
VALUES = {
    "quote": "/wiki/Zürich & Genf",
    "requote": "/a b/%C3%A9",
    "unquote": "/caf%C3%A9",
    "percent_decode": "/caf%C3%A9 100% %FF",
    "iri_to_uri": "http://example.org/Dürst",
    "uri_to_iri": "http://example.org/D%C3%BCrst",
    "repair": "http://example.org/a b?q=[1]",
    "normalize_uri": "HTTP://Example.org/a/../%7Eb",
    "is_valid_uri": "http://example.org/a b",
    "is_valid_iri": "http://example.org/é",
    "check_uri": "http://example.org/a b",
    "check_iri": "http://example.org/é b",
    "check_urn": "urn:example:a b",
    "split_iri": "http://example.org/é?q",
    "fingerprint": "http://example.org/",
    "agreed_host": "https://example.org/a",
    "resolve": "../g?y",
    "relativize": "http://a/b/g?y",
    "unsplit": "/a/b",
}
OPTIONS = {
    "fingerprint": {"secret": b"of these examples"},
    "unsplit": {"scheme": "https", "authority": "example.org"},
    "with_query": {"set": "page=1"},
    "equivalent": {"other": "http://example.co.uk:8080/"},
    "relation": {"other": "http://example.co.uk:8080/"},
}

HEADS = ["operation", "what it does with a row", "one value", "SQL: DuckDB, Spark", "command line"]
# Where an operation has another name than in the registry, because it needs a set or a template: for one value, in SQL,
# and as a command.
ELSEWHERE = {
    "match": ("uri.HostSet.match", "`NAME_entry(x)` after `register_set`, in DuckDB", ""),
    "is_match": ("uri.HostSet.match", "`NAME(x)` after `register_set`, in DuckDB", "filter --hosts LIST"),
    "fingerprint": ("dedup.fingerprint", "", ""),
    "userinfo": ("", "", "split --get '{userinfo}'"),
    "host": ("", "", "split --get '{host}'"),
    "port": ("", "", "split --get '{port}'"),
    "query_value": ("", "", "split --get '{param.NAME}'"),
}
# What is not done row by row: heading, what, one value or list, SQL, command.
OTHERS = [
    (
        "[find](../guides/find.md)",
        "find the URLs or URNs in any text",
        "uri.find, urn.find",
        "",
        "extract",
    ),
    (
        "[unique](../guides/dedup.md)",
        "keep the first of each group of equivalent identifiers",
        "dedup.unique",
        "",
        "dedup --kind uri",
    ),
    ("[parse](../guides/logs.md)", "convert the lines of access logs to records", "logs.parse", "", "log"),
]


def code(texts):
    return ", ".join(f"`{text}`" for text in texts)


def given(name, value):
    """A parameter with a value, as Python has it."""
    return f"{name}={json.dumps(value) if isinstance(value, str) else value}"


def row_of(row):
    """The row of an operation, with a link to its section."""
    single, sql, command = ELSEWHERE.get(row.name, ("", "", ""))
    return [
        f"[`{row.name}`](#{row.name})",
        row.summary,
        code(filter(None, [row.single or single])),
        code(each.name for each in row.sql) or sql,
        code(filter(None, [row.command.line if row.command else command])),
    ]


def about(row):
    """The result, parameters and policies of an operation. "drop" is left out: lists and columns do not have it."""
    given_or_name = [
        each.name if each.default is REQUIRED else given(each.name, each.default) for each in row.parameters
    ]
    yield f"- result: {row.result}" + (f" of {code(row.fields)}" if row.fields else "")
    if row.parameters:
        yield f"- parameters: {code(given_or_name)}"
    yield f"- `errors=`, the default first: {code(policy for policy in row.policies if policy != 'drop')}"


def table():
    """The table of all operations."""
    others = [
        [head, what, code(single.split(", ")), sql, code([command])] for head, what, single, sql, command in OTHERS
    ]
    rows = [HEADS, ["---"] * len(HEADS), *map(row_of, OPERATIONS.values()), *others]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def call(function, *arguments, **options):
    """An example of a function: the call and its result, as a console has them."""
    module, _, name = function.partition(".")
    result = getattr(MODULES[module], name)(*arguments, **options)
    shown = [*map(repr, arguments), *(f"{key}={value!r}" for key, value in options.items())]
    return f"```pycon\n>>> {function}({', '.join(shown)})\n{result!r}\n```"


def in_sql_with_values(row, function):
    """A call in SQL, with the default of each argument, or an example."""
    known = {each.name: each for each in row.parameters}
    arguments = []
    for each in map(known.get, function.parameters):
        value = each.examples[0] if each.default in {REQUIRED, None} and each.examples else each.default
        arguments += [f"'{value}'"] if value is not None else []  # trailing arguments may be omitted
    return f"SELECT {function.name}({', '.join(['x', *arguments])}) FROM data"


def command_of(row, value):
    """An example of a command: its input and its output."""
    options = [f"{row.command.options[name]} {shlex.quote(given)}" for name, given in row.required.items()]
    line = " ".join([row.command.line, *options])
    run = [sys.executable, "-m", "uricodec", *shlex.split(line)]
    done = subprocess.run(run, input=value + "\n", capture_output=True, text=True, check=False)
    return f"```console\n$ echo '{value}' | uricodec {line}\n{done.stdout}```"


def single_arguments(row, value, options):
    """The arguments of the function for one value, which are in another order if the columns are."""
    if row.name in {"resolve", "relativize"}:
        return options["base"], value
    if row.name == "unsplit":
        return [tuple(value if name == "path" else options.get(name) for name in uri.Components._fields)]
    return value, *options.values()


def tabs(row):
    """The tabs of an operation: title -> text."""
    function = row.single if "." in row.single else f"uricodec.{row.single}"
    value = VALUES.get(row.name, URN if row.rows == "urns" else URL)
    options = row.required | OPTIONS.get(row.name, {})
    found = {}
    if row.single:
        found["One value"] = call(function, *single_arguments(row, value, options))
    more = ", ".join(f"{name}={value!r}" for name, value in options.items())
    engine = f"uricodec.{row.name}({more})"
    found["Columns"] = call(f"bulk.{row.name}", [value, None], **options)
    found["Columns"] += f'\n\nPolars: `pl.col("x").{engine}`, pandas: `frame["x"].{engine}`.'
    if row.sql:
        found["SQL"] = "\n".join(["```sql", *(in_sql_with_values(row, each) for each in row.sql), "```"])
    if row.command:
        found["Command line"] = command_of(row, value)
    return found


def sections():
    """The table and the sections of docs/reference/operations.md."""
    lines = ["", table()]
    for row in OPERATIONS.values():
        lines += ["", f"## {row.name}", "", f"{row.summary[0].upper()}{row.summary[1:]}."]
        lines += [f"See [](../{row.page}.md) and {{py:func}}`uricodec.bulk.{row.name}`.", "", *about(row), ""]
        lines.append("::::{tab-set}")
        for title, content in tabs(row).items():
            lines += [f":::{{tab-item}} {title}", f":sync: {title}", "", content, "", ":::"]
        lines.append("::::")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(sections())
