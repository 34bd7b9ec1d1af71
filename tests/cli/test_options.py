"""The tables of commands and options, and what is made from them: parser, help, man page, reference page."""

import json
import re
import runpy
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from support.command import output_of, run
from support.tables import each_row

from uricodec._io.sizes import parse_memory
from uricodec.cli import help as texts
from uricodec.cli import options
from uricodec.cli.commands import COMMANDS, TASKS
from uricodec.cli.errors import PAGES, SITE
from uricodec.cli.parser import holds, parse
from uricodec.cli.plan import plan_of

ROOT = Path(__file__).parents[2]
MADE = runpy.run_path(str(ROOT / "docs/make_cli.py"))

every_command = each_row("command", COMMANDS.values())


@every_command
def test_options_with_one_value(command):
    """The first of two values is not ignored."""
    for option in command.options:
        if option.flags and option.value and not option.repeats:
            status, out, err = run(command.name, option.flag, "1", option.flag, "2")
            assert (status, out) == (2, b"") and f"{option.flag}: expected one value, got 2" in err


# --- help, man page, reference page -----------------------------------------------------------------------------------


@every_command
@each_row("flag", ["-h", "--help"])
def test_help(command, flag):
    text = output_of(command.name, flag).decode()
    assert max(map(len, text.splitlines())) < 80 and text.isascii()
    assert text.startswith(f"usage: uricodec {command.name}")
    assert flag == "--help" or len(text.splitlines()) <= 30
    for option in command.options if flag == "--help" else command.usual_options:
        assert f"{texts.spelling(option)}\n" in text if flag == "--help" else texts.short(option) in text
        for choice in option.choices if flag == "--help" else ():
            assert re.search(rf"^       {choice} ", text, re.MULTILINE)
    for example in command.examples if flag == "--help" else command.examples[:2]:
        assert f"\n  {example.splitlines()[0]}\n" in text
    assert text.splitlines()[1] == f"  {command.examples[0].splitlines()[0]}"
    assert ("exit status:" in text) == (flag == "--help")


@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_help_of_the_program(flag):
    text = output_of(flag).decode()
    assert max(map(len, text.splitlines())) < 80 and text.isascii()
    for name, command in COMMANDS.items():
        assert re.search(rf"^  {name} +{re.escape(command.summary)}$", text, re.MULTILINE)
        assert (f"\n               {texts.line_of(command.examples[0])}\n" in text) == (flag == "--help")
    headings = [line.removesuffix(":") for line in text.splitlines() if re.fullmatch("[A-Za-z -]+:", line)]
    assert headings[: len(TASKS)] == TASKS and {command.task for command in COMMANDS.values()} == {*TASKS}


@every_command
def test_each_command_has_the_version(command):
    assert output_of(command.name, "-V") == output_of("--version") == output_of("-V")


def test_help_as_a_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert output_of("help") == output_of("help", "-h") == output_of("-h")
    assert output_of("help", "log") == output_of("log", "help") == output_of("log", "-h")


def test_a_file_that_is_called_help(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("help").write_bytes(b"%41\n")
    assert output_of("decode", "help") == b"A\n"


def test_help_of_an_unknown_command():
    status, _, said = run("help", "logs")
    assert status == 2 and "did you mean 'log'?" in said


def test_help_comes_before_other_errors():
    assert output_of("normalize", "--level", "x", "--help") == output_of("normalize", "--help")


def test_the_man_page_is_made_from_the_tables():
    """If not: python docs/make_cli.py"""
    assert MADE["man_page"]() == (ROOT / "docs/uricodec.1").read_text("utf-8")


@pytest.mark.skipif(not shutil.which("groff"), reason="groff is not installed")
def test_groff_reads_the_man_page():
    done = subprocess.run(
        ["groff", "-man", "-Tutf8", "-ww", ROOT / "docs/uricodec.1"], capture_output=True, check=True, timeout=60
    )
    assert done.stderr == b""
    assert b"uricodec normalize" in done.stdout


EXAMPLES = [example for command in COMMANDS.values() for example in command.examples]
PLAIN = re.compile(r"uricodec (?:'[^']*'|[^'|<>$;&()`*])*")  # what needs no shell


def check_example(example, folder, done):
    """It prints what is said, or writes what it names."""
    status, output, said = done
    assert status == (1 if "uricodec check" in example else 0), said
    assert said == "" or ("--stats" in example and json.loads(said))
    if "# prints " in example:
        assert output == example.partition("# prints ")[2] + "\n"
    written = re.search(r"(?:-o |>)(\S+)", example.splitlines()[0])
    wanted = folder / written[1].replace("~", str(folder)) if written else None
    assert wanted.stat().st_size if written else output or "eval" in example


@each_row("example", [example for example in EXAMPLES if PLAIN.fullmatch(example.splitlines()[0])])
def test_examples(samples, monkeypatch, example):
    if "--parquet" in example:
        try:
            import pyarrow  # noqa: F401
        except ImportError:
            return
    monkeypatch.chdir(samples)
    status, output, said = run(*shlex.split(example.splitlines()[0], comments=True)[1:])
    check_example(example, samples, (status, output.decode(), said))


@pytest.mark.slow
@each_row("example", [example for example in EXAMPLES if not PLAIN.fullmatch(example.splitlines()[0])])
def test_examples_for_a_shell(samples, reader, example):
    shell = "zsh" if "zsh" in example else "bash"
    if shutil.which(shell):
        command = [shell, "-c", example.splitlines()[0]]
        environment = reader | {"HOME": str(samples)}
        done = subprocess.run(command, cwd=samples, capture_output=True, text=True, env=environment, check=False)
        check_example(example, samples, (done.returncode, done.stdout, done.stderr))


# --- the parser -------------------------------------------------------------------------------------------------------


def parsed(name, *words):
    return parse(COMMANDS[name], list(words))


def test_values_of_options():
    given = parsed("decode", "-j4", "-zo", "out", "a", "--field=1", "b", "-f", "2", "--max-line", "1K", "--", "-c")
    wanted = {"threads": 4, "null_data": True, "output": "out", "files": ["a", "b", "-c"], "field": ["1", "2"]}
    assert wanted.items() <= given.items() and given["max_line"] == 1024
    given = parsed("encode", "--safe", "", "-")
    assert (given["safe"], given["files"]) == ("", ["-"])
    assert parsed("completion", "bash")["shell"] == "bash"


def test_values_that_look_like_options():
    assert parsed("log", "--timezone", "-03:30")["timezone"].utcoffset(None).total_seconds() == -12600
    assert parsed("encode", "--safe", "-_", "--text", "-5", "--text=-z")["text"] == ["-5", "-z"]
    assert parsed("decode", "-z", "-f1", "-d=;", "-ox", "-j=2", "--", "-q")["files"] == ["-q"]
    given = parsed("decode", "-zqf=1", "-d=")
    assert {"null_data": True, "quiet": True, "field": ["1"], "delimiter": b"="}.items() <= given.items()


def test_many_options():
    texts = [f"http://a/{i}" for i in range(20_000)]
    assert parsed("decode", *[word for text in texts for word in ("--text", text)])["text"] == texts


@every_command
def test_defaults(command):
    """Each option of a command has a value, and none of another command."""
    given = parsed(
        command.name,
        *({"completion": ["bash"], "dedup": ["--kind=uri"], "resolve": ["--base=a:b"]}.get(command.name, [])),
    )
    assert given.keys() == {option.key for option in command.options}
    for option in command.options:
        assert (
            option.required or option.key == "files" or given[option.key] == (option.default if option.value else False)
        )


# --- the plan ---------------------------------------------------------------------------------------------------------


def planned(name, *words):
    return plan_of(COMMANDS[name], parsed(name, *words))


def test_what_commands_share_is_in_the_plan():
    plan, own = planned("decode", "--plus", "-q", "-j", "2", "-o", "out", "-f", "1", "--errors", "raise", "a", "b")
    assert (plan.command, plan.inputs, plan.output, plan.threads, plan.errors) == (
        "decode",
        ["a", "b"],
        "out",
        2,
        "raise",
    )
    assert (plan.records.form, plan.records.selected, plan.records.end) == ("delimited", ["1"], b"\n")
    assert plan.quiet and plan.progress is False
    assert own == {"plus": True, "encoding": None, "raw": False, "iri": False, "host": "keep"}


def test_the_plan_of_no_options():
    plan, own = planned("filter")
    assert (plan.inputs, plan.errors, plan.threads, plan.progress, plan.count) == (["-"], "drop", None, None, False)
    assert (plan.records.form, plan.records.selected, plan.thread_count()) == ("lines", None, 1)
    assert own == {"hosts": None, "prefixes": None, "no_below": False, "invert": False}


@each_row(
    ("words", "form"),
    [("--csv", "csv"), ("-f 1", "delimited"), ("--csv -f 1", "csv"), ("--json-field a", "json"), ("-z", "lines")],
)
def test_forms_of_records(words, form):
    assert planned("decode", *words.split())[0].records.form == form


def test_conditions():
    given = {"csv": True, "kind": "urn"}
    assert holds("--csv", given) and holds("--kind=urn", given)
    assert not (holds("--null-data", given) or holds("--kind=uri", given) or holds("--unknown", given))


@each_row(("line", "message", "hint"), [
        ("", "expected a command", "'uricodec --help' lists the commands"),
        ("normalise", "unknown command 'normalise'", "did you mean 'normalize'?"),
        ("unquote", "unknown command 'unquote'", "did you mean 'decode'?"),
        ("quote", "unknown command 'quote'", "did you mean 'encode'?"),
        ("validate", "unknown command 'validate'", "did you mean 'check'?"),
        ("Unique", "unknown command 'Unique'", "did you mean 'dedup'?"),
        ("parse", "unknown command 'parse'", "did you mean 'split'?"),
        ("urls", "unknown command 'urls'", "did you mean 'extract'?"),
        ("decode --jobs 4", "unknown option '--jobs'", "did you mean '--threads'?"),
        ("xyzzy", "unknown command 'xyzzy'", "'uricodec --help' lists the commands"),
        ("--versoin", "unknown option '--versoin'", "did you mean '--version'?"),
        ("decode --treads 4", "unknown option '--treads'", "did you mean '--threads'?"),
        ("decode --treads=4", "unknown option '--treads'", "did you mean '--threads'?"),
        ("decode --xyzzy", "unknown option '--xyzzy'", "see 'uricodec decode --help'"),
        ("decode --err raise", "unknown option '--err'", "did you mean '--errors'?"),
        ("decode -o", "--output: expected a value", "such as --output FILE"),
        ("decode -o --stats", "--output: expected a value", "such as --output FILE"),
        ("decode -o --new", "--output: expected a value", "such as --output=--new"),
        ("decode -o -z", "--output: expected a value", "such as --output FILE"),
        ("decode --text -- x", "--text: expected a value", "such as --text VALUE"),
        ("decode --limit --5", "--limit: expected a value", "such as --limit N"),
        ("log --since -2h", "--since: expected a time such as 2025-01-31T12:00:00Z, a date, yesterday, or a distance "
         "such as 2h, got '-2h'", ""),
        ("decode --no-progress=3", "--no-progress: expected no value, got '3'", "such as --no-progress"),
        ("decode -z=1", "--null-data: expected no value, got '1'", "such as --null-data"),
        ("decode -zx", "unknown option '-x' in '-zx'", "did you mean '-z'?"),
        ("decode -stats", "unknown option '-s' in '-stats'", "did you mean '--stats'?"),
        ("decode -5", "unknown option '-5'", "see 'uricodec decode --help'"),
        ("-z decode", "expected a command before '-z', as in 'uricodec decode -z'", ""),
        ("--hosts=a x", "expected a command before '--hosts=a', as in 'uricodec filter --hosts=a'", ""),
        ("info x", "unexpected argument 'x'", "see 'uricodec info --help'"),
        ("completion bash zsh", "unexpected argument 'zsh'", "see 'uricodec completion --help'"),
        ("completion", "SHELL is required", "choose from bash, zsh, fish"),
        ("completion tcsh", "SHELL: unknown value 'tcsh'; choose from bash, zsh, fish", ""),
        ("resolve", "--base is required", "see 'uricodec resolve --help'"),
        ("decode --errors rais", "--errors: unknown value 'rais'; choose from keep, replace, null, drop, raise",
         "did you mean 'raise'?"),
        ("decode --iri --errors replace", "--errors: unknown value 'replace' with --iri; choose from keep, null, "
         "drop, raise",
         ""),
        ("check --kind iri --production URI", "--production: unknown value 'URI' with --kind iri; choose from "
         "IRI-reference, IRI, absolute-IRI, irelative-ref", "URI needs --kind auto or --kind uri"),
        ("check --kind urn --production URI", "--production: not allowed with --kind urn",
         "--rfc selects the grammar of URNs"),
        ("check --kind iri --rfc any", "--rfc: not allowed with --kind iri",
         "--production selects the grammar of URIs and IRIs"),
        ("dedup --kind bytes --level bytes", "--level: not allowed with --kind bytes", "leave out --level"),
        ("encode --disallowed encode", "--disallowed: not allowed without --iri", "add --iri"),
        ("decode --header", "--header: not allowed without --field or --csv", "add --field or --csv"),
        ("decode --to jsonl --raw", "--raw: not allowed with --to jsonl", "leave out --raw or --to jsonl"),
        ("decode --to jsonl --csv", "--to: unknown value 'jsonl' with --csv; choose from text", ""),
        ("check --kind url", "--kind: unknown value 'url'; choose from auto, urn, uri, iri, web",
         "did you mean 'uri'?"),
        ("log --to json", "--to: unknown value 'json'; choose from jsonl, csv, tsv, text, arrow, parquet, table",
         "did you mean 'jsonl'?"),
        ("normalize --level 8141", "--level: unknown value '8141' with --kind uri; choose from simple, case, percent, "
         "path, scheme, iri, rfc2396, rfc1630", "8141 needs --kind urn"),
        ("decode -j -1", "--threads: expected a whole number such as 4, got '-1'", ""),
        ("decode -j x", "--threads: expected a whole number such as 4, got 'x'", ""),
        ("decode -f 0", "--field: fields count from 1, got '0'", ""),
        ("decode -f 3-2", "--field: the first field of '3-2' comes after the last one", ""),
        ("decode -f a", "--field: expected numbers such as 1,3-5, got 'a'", "names need --header"),
        ("decode -f 1 -d ab", "--delimiter: expected one byte such as ; or \\t, got 'ab'", ""),
        ("decode --csv -d \"", "--delimiter: '\"' has another meaning in these records", "such as --delimiter ';'"),
        ("log --max-line 0", "--max-line: expected a size in bytes such as 4096, 64K or 1.5G, got '0'", ""),
        ("resolve --base //a/b", "--base: base URI has no scheme in '//a/b'; expected a base such as http://a/b", ""),
        ("resolve --base http://a/\x85", "--base: invalid control character '\\x85' in 'http://a/\\x85'; expected "
         "a base such as http://a/b", ""),
    ])  # fmt: skip
def test_errors_of_the_command_line(line, message, hint):
    status, output, said = run(*line.split(" ") if line else ())
    assert (status, output) == (2, b"")
    assert said == f"uricodec: {message}\n" + (f"\nhint: {hint}\n" if hint else "")


# Options of other commands or kinds, values that there are not, and two that exclude each other.
WRONG = """
recode
decode --nonsense
decode --safe /
encode --raw
encode --safe é
normalize --kind urn --level path
normalize --kind urn --level 3986
normalize --kind urn --rfc 3986
normalize --kind urn --production URI
normalize --kind urn --errors replace
normalize --kind uri --rfc 8141
normalize --kind uri --production IRI
normalize --kind uri --errors replace
normalize --kind iri --production URI
normalize --kind uri --policy crawl --level path
normalize --kind uri --explain
normalize --kind urn --policy crawl
normalize --kind urn --repair
normalize --kind iri --repair
normalize --repair --level path
normalize --repair --policy crawl
normalize --repair --production any
check --kind uri --production uri
check --kind uri --errors drop
check --kind uri --level path
check --kind urn --errors drop
check --kind urn --level 8141
split --kind urn
split --to xml
split --csv-safe
split --to jsonl --csv-safe
split --errors replace
split --count
hosts --ports 80,
hosts --ports 0
hosts --userinfo drop
hosts --count --to csv
hosts --top 2
hosts --count --limit 1
resolve --base
resolve --base //a/b
encode --iri --plus
encode --iri --safe /
encode --iri --errors replace
encode --iri --host unicode
encode --iri --disallowed keep
encode --host idna
encode --disallowed raise
decode --iri --raw
decode --iri --host idna
decode --iri --disallowed raise
decode --host keep
decode --limit 0
decode --sample -1
decode --limit 1 --sample 1
decode --seed 1
decode --text a -r
extract --kind urn --rfc 8141
extract --kind urn --content json
extract --to csv --offsets
dedup --kind bytes --to csv
dedup --kind bytes --count -f 1 --to csv
dedup --kind uri --count --sample 1
dedup --kind uri --text a --exclude -
log --format apache
log --to xml
log --errors keep
log --names b
log --redact --names a*b
log --sample 1 --to arrow
log --limit 1 --count path
"""


@each_row("line", [*WRONG.strip().splitlines()])
def test_wrong_usage_is_rejected(line):
    status, output, said = run(*line.split())
    assert (status, output) == (2, b"") and said.startswith("uricodec: ")


def test_hints_of_invalid_records():
    hint = "\nhint: --errors drop skips invalid records, --invalid-to FILE lists them\n"
    assert run("decode", "--csv", "--errors", "raise", stdin=b'a,"b\n')[2].endswith(hint)
    assert run("normalize", "--kind", "urn", "--errors", "raise", stdin=b"x\n")[2].endswith(hint)
    assert run("dedup", "--kind", "urn", "--errors", "raise", stdin=b"x\n")[2].endswith(hint)


NO_SIZES = ["", "K", "0", "-1", "1.", ".5M", "1e3", "0.0001K", "1X", "M1", "9" * 19, "\u0661", "nan"]


@each_row("text", NO_SIZES)
@each_row("option", ["decode --max-line", "log --max-line", "dedup --kind urn --memory"])
def test_invalid_sizes(option, text):
    """All options have one parser of sizes."""
    status, _, said = run(*option.split(), text)
    assert status == 2
    sizes = "64M or 1.5G, or a share such as 50%" if "--memory" in option else "4096, 64K or 1.5G"
    assert f"{option.split()[-1]}: expected a size in bytes such as {sizes}, got {text!r}" in said


def test_sizes_mean_the_same_everywhere():
    for size in "1.5k", "1536", "1.5 KiB":
        assert options.parse_size(size) == parse_memory(size) == 1536


# --- links of error messages ------------------------------------------------------------------------------------------


def test_links_lead_to_pages_of_the_site():
    assert f'Documentation = "{SITE}"' in (ROOT / "pyproject.toml").read_text("utf-8")
    names = {f"docs/{page.partition('#')[0].removesuffix('html')}md" for page in PAGES.values()}
    texts = {name: (ROOT / name).read_text("utf-8") for name in names}
    texts["docs/reference/cli.md"] += MADE["reference"]()
    heads = {name: {*re.findall("^## (.*)$", text, re.MULTILINE)} for name, text in texts.items()}
    for key, page in PAGES.items():
        assert isinstance(key, int) or key[0] in COMMANDS
        name, _, anchor = page.partition("#")
        named = {head.lower().replace(" ", "-") for head in heads[f"docs/{name.removesuffix('html')}md"]}
        assert not anchor or anchor in named


@pytest.mark.parametrize(
    ("words", "status", "end"),
    [
        (["--bogus"], 2, f"commands\nsee: {SITE}reference/cli.html\n"),
        (["decode", "--errors", "x"], 2, f"raise\n\nsee: {SITE}commands/decode.html\n"),
        (
            ["decode", "--errors", "raise"],
            1,
            f"lists them\nsee: {SITE}guides/framing.html#how-invalid-input-is-handled\n",
        ),
        (
            ["dedup", "--kind", "urn", "--errors", "raise"],
            1,
            f"see: {SITE}guides/dedup.html#which-lines-are-equivalent\n",
        ),
        (["log", "/nonexistent"], 3, f"directory\n\nsee: {SITE}guides/framing.html#threads-and-files\n"),
    ],
)
def test_messages_end_with_a_link(words, status, end, monkeypatch):
    without = run(*words, stdin=b"%zz\n")[2]
    monkeypatch.setenv("URICODEC_NO_DOCS_LINKS", "")
    found = run(*words, stdin=b"%zz\n")
    assert found[0] == status and found[2].endswith(end)
    assert found[2].startswith(without) and "see:" not in without
