"""The tables of commands and options, and what is made from them: parser, help, man page, reference page."""

import importlib
import json
import re
import runpy
import shutil
import subprocess
from pathlib import Path

import pytest
from support.command import output_of, run

from uricodec.cli import help as texts
from uricodec.cli import options
from uricodec.cli.commands import COMMANDS, TASKS
from uricodec.cli.errors import PAGES, SITE
from uricodec.cli.options import CATEGORIES, OPTIONS
from uricodec.cli.parser import SYNONYMS, Arguments, holds, parse
from uricodec.dedup._partitions import parse_memory
from uricodec.logs._records import NAMES

ROOT = Path(__file__).parents[2]
MADE = runpy.run_path(str(ROOT / "docs/make_cli.py"))["PAGES"]

every_command = pytest.mark.parametrize("command", COMMANDS.values(), ids=list(COMMANDS))
every_option = pytest.mark.parametrize("key", OPTIONS)


# --- the tables -------------------------------------------------------------------------------------------------------


@every_option
def test_options(key):
    option = OPTIONS[key]
    assert key.partition(":")[0] == (option.flag.lstrip("-") if option.flags else key)
    assert option.short and not option.short.endswith(".") and option.short[0] == option.short[0].lower()
    assert not option.long or option.long.endswith(".")
    assert len(texts.short(option)) < 80 and option.category in CATEGORIES
    assert all(re.fullmatch("-[a-zV]|--[a-z]+(-[a-z0-9]+)*", flag) for flag in option.flags)
    assert not option.choices or option.default in {None, *option.choices}
    assert not option.choices or option.read is str
    assert option.value or not (option.choices or option.repeats or option.required or option.default)
    for choice, meaning in option.choices.items():
        assert meaning and re.fullmatch("[A-Za-z0-9-]+", choice)
    for some in option.only.values():
        assert {*some.split()} < {*option.choices}
    text = " ".join([option.short, option.long, option.hint, *option.choices.values()])
    assert text.isascii()


def test_each_option_belongs_to_a_command():
    assert {key for command in COMMANDS.values() for key in command.keys.split()} == {*OPTIONS}


@every_command
def test_commands(command):
    flags = [flag for option in command.options for flag in option.flags]
    assert len(flags) == len({*flags}) and {"-h", "--help"} <= {*flags}
    assert len(command.examples) >= 2
    assert len([option for option in command.options if not option.flags]) <= 1
    known = {option.flag: option for option in command.options}
    for option in command.options:
        conditions = f"{option.conflicts} {option.needs} {' '.join(option.only)}".split()
        for name, _, value in (condition.partition("=") for condition in conditions):
            rows = [row for row in OPTIONS.values() if row.flag == name]
            assert rows and (not value or any(value in row.choices for row in rows))
        assert not option.needs or {condition.partition("=")[0] for condition in option.needs.split()} <= {*known}
    module, _, function = command.run.partition(":")
    assert callable(getattr(importlib.import_module(module), function))
    text = " ".join([command.summary, command.description, *command.examples])
    assert text.isascii()


@every_command
def test_options_with_one_value(command):
    """The first of two values is not ignored."""
    for option in command.options:
        if option.flags and option.value and not option.repeats:
            status, out, err = run(command.name, option.flag, "1", option.flag, "2")
            assert (status, out) == (2, b"") and f"{option.flag}: expected one value, got 2" in err


def test_names_that_the_core_has():
    """They are written out, since importing the core for help would be slow."""
    members = re.search("members (.*?)\\.\n", COMMANDS["log"].description, re.DOTALL)[1]
    words = re.sub(r"\(.*?\)|\band\b|if the format has them|other fields as", "", members)
    assert tuple(re.findall(r"\w+", words)) == NAMES


# --- help, man page, reference page -----------------------------------------------------------------------------------


@every_command
@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_help(command, flag):
    text = output_of(command.name, flag).decode()
    assert max(map(len, text.splitlines())) < 80 and text.isascii()
    assert text.startswith(f"usage: uricodec {command.name}")
    for option in command.options:
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
        assert f"\n               {texts.line_of(command.examples[0])}\n" in text
    headings = [line.removesuffix(":") for line in text.splitlines() if re.fullmatch("[A-Za-z -]+:", line)]
    assert headings[: len(TASKS)] == TASKS and {command.task for command in COMMANDS.values()} == {*TASKS}


@every_command
def test_the_first_examples_work_in_the_repository(command):
    """They read its files, or none."""
    for example in command.examples[:2]:
        paths = re.findall(r"\b\w+\.(?:txt|csv|log|jsonl|html|gz)\b", example)
        assert all(f"examples/{path}" in example and (ROOT / "examples" / path).exists() for path in paths)
        assert " -o " not in example and ">" not in example


def test_help_comes_before_other_errors():
    assert output_of("normalize", "--level", "x", "--help") == output_of("normalize", "--help")


@pytest.mark.parametrize("path", MADE, ids=lambda path: path.name)
def test_pages_are_made_from_the_tables(path):
    """If not: python docs/make_cli.py"""
    assert MADE[path]() == path.read_text("utf-8")


@pytest.mark.skipif(not shutil.which("groff"), reason="groff is not installed")
@pytest.mark.process
def test_the_man_page_is_one():
    done = subprocess.run(
        ["groff", "-man", "-Tutf8", "-ww", ROOT / "docs/uricodec.1"], capture_output=True, check=True, timeout=60
    )
    assert done.stderr == b""
    assert b"uricodec normalize" in done.stdout


@pytest.mark.parametrize("example", [example for command in COMMANDS.values() for example in command.examples])
def test_examples(samples, reader, example):
    """They run as they are, and print what is said."""
    line = example.splitlines()[0]
    shell = "zsh" if "zsh" in example else "bash"
    if not shutil.which(shell):
        pytest.skip(f"{shell} is not installed")
    if "--parquet" in example:
        pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    environment = reader | {"HOME": str(samples)}
    done = subprocess.run(
        [shell, "-c", line], cwd=samples, capture_output=True, text=True, env=environment, check=False
    )
    assert done.returncode == (1 if "uricodec check" in example else 0), done.stderr
    assert done.stderr == "" or "--stats" in example
    assert done.stderr == "" or json.loads(done.stderr)
    if "# prints " in example:
        assert done.stdout == example.partition("# prints ")[2] + "\n"
    written = re.search(r"(?:-o |>)(\S+)", line)
    wanted = samples / written[1].replace("~", str(samples)) if written else None
    assert wanted.stat().st_size if written else done.stdout or "eval" in example


# --- the parser -------------------------------------------------------------------------------------------------------


def parsed(name, *words):
    return parse(COMMANDS[name], list(words))


def test_values():
    given = parsed("decode", "-j4", "-zo", "out", "a", "--fields=1", "b", "-f", "2", "--max-line", "1K", "--", "-c")
    assert (given.threads, given.null_data, given.output, given.files) == (4, True, "out", ["a", "b", "-c"])
    assert (given.fields, given.max_line) == (["1", "2"], 1024)
    given = parsed("encode", "--safe", "", "-")
    assert (given.safe, given.files) == ("", ["-"])
    assert parsed("completion", "bash").shell == "bash"


def test_values_that_look_like_options():
    assert parsed("log", "--timezone", "-03:30").timezone.utcoffset(None).total_seconds() == -12600
    assert parsed("encode", "--safe", "-_", "--text", "-5", "--text=-z").text == ["-5", "-z"]
    assert parsed("decode", "-z", "-f1", "-d=;", "-ox", "-j=2", "--", "-q").files == ["-q"]
    given = parsed("decode", "-zqf=1", "-d=")
    assert (given.null_data, given.quiet, given.fields, given.delimiter) == (True, True, ["1"], b"=")


def test_many_options():
    texts = [f"http://a/{i}" for i in range(20_000)]
    assert parsed("decode", *[word for text in texts for word in ("--text", text)]).text == texts


def test_synonyms_are_names_of_nothing_else():
    """Each is that of one command, option or value, and none is one of its own kind."""
    words = [word for name in [*COMMANDS, *SYNONYMS] for word in SYNONYMS.get(name, "").split()]
    assert not {*words} & {*COMMANDS} and {*SYNONYMS} >= {*COMMANDS} - {"completion"}
    flags = {flag for option in OPTIONS.values() for flag in option.flags}
    choices = {choice for option in OPTIONS.values() for choice in option.choices}
    assert {*SYNONYMS} <= {*COMMANDS} | flags | choices
    for names in COMMANDS, flags, choices:
        found = [word for name in names for word in SYNONYMS.get(name, "").split()]
        assert len(found) == len({*found})


def test_defaults():
    given = parsed("decode")
    assert isinstance(given, Arguments)
    assert (given.errors, given.max_line, given.host, given.files) == ("keep", 16 << 20, "keep", [])
    assert given.plus is given.count is False
    assert given.kind is given.disallowed is given.fields is given.threads is None  # also those of other commands
    assert {option.key for option in OPTIONS.values()} <= {*vars(given)}


def test_conditions():
    given = Arguments(csv=True, kind="urn", null_data=None)
    assert holds("--csv", given) and holds("--kind=urn", given)
    assert not (holds("--null-data", given) or holds("--kind=uri", given) or holds("--unknown", given))


@pytest.mark.parametrize(
    ("line", "message", "hint"),
    [
        ("", "expected a command", "'uricodec --help' lists the commands"),
        ("normalise", "unknown command 'normalise'", "did you mean 'normalize'?"),
        ("unquote", "unknown command 'unquote'", "did you mean 'decode'?"),
        ("quote", "unknown command 'quote'", "did you mean 'encode'?"),
        ("validate", "unknown command 'validate'", "did you mean 'check'?"),
        ("Unique", "unknown command 'Unique'", "did you mean 'dedup'?"),
        ("parse", "unknown command 'parse'", "did you mean 'split'?"),
        ("urls", "unknown command 'urls'", "did you mean 'extract'?"),
        ("help", "unknown command 'help'", "did you mean '--help'?"),
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
        ("log --since -2h", "--since: expected a time such as 2025-01-31T12:00:00Z, a date, or a distance such as 2h "
         "or 7d, got '-2h'", ""),
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
        ("dedup", "--kind is required", "choose from urn, uri, iri, web, bytes"),
        ("resolve", "--base is required", "see 'uricodec resolve --help'"),
        ("decode --errors rais", "--errors: unknown value 'rais'; choose from keep, replace, null, drop, raise",
         "did you mean 'raise'?"),
        ("decode --iri --errors replace", "--errors: unknown value 'replace' with --iri; choose from keep, null, "
         "drop, raise",
         ""),
        ("check --kind iri --production URI", "--production: unknown value 'URI' with --kind iri; choose from "
         "IRI-reference, IRI, absolute-IRI, irelative-ref", "URI needs --kind uri"),
        ("check --kind urn --production URI", "--production: not allowed with --kind urn",
         "--rfc selects the grammar of URNs"),
        ("check --kind iri --rfc any", "--rfc: not allowed with --kind iri",
         "--production selects the grammar of URIs and IRIs"),
        ("dedup --kind bytes --level bytes", "--level: not allowed with --kind bytes", "leave out --level"),
        ("encode --disallowed encode", "--disallowed: not allowed without --iri", "add --iri"),
        ("decode --header", "--header: not allowed without --fields or --csv", "add --fields or --csv"),
        ("decode --to jsonl --raw", "--raw: not allowed with --to jsonl", "leave out --raw or --to jsonl"),
        ("decode --to jsonl --csv", "--to: unknown value 'jsonl' with --csv; choose from text", ""),
        ("check --kind url", "--kind: unknown value 'url'; choose from urn, uri, iri, web", "did you mean 'uri'?"),
        ("log --to json", "--to: unknown value 'json'; choose from jsonl, csv, tsv, text, arrow, parquet",
         "did you mean 'jsonl'?"),
        ("normalize --level 8141", "--level: unknown value '8141' with --kind uri; choose from simple, case, percent, "
         "path, scheme, iri, rfc2396, rfc1630", "8141 needs --kind urn"),
        ("decode -j -1", "--threads: expected a whole number such as 4, got '-1'", ""),
        ("decode -j x", "--threads: expected a whole number such as 4, got 'x'", ""),
        ("decode -f 0", "--fields: fields count from 1, got '0'", ""),
        ("decode -f 3-2", "--fields: the first field of '3-2' comes after the last one", ""),
        ("decode -f a", "--fields: expected numbers such as 1,3-5, got 'a'", "names need --header"),
        ("decode -f 1 -d ab", "--delimiter: expected one byte such as ; or \\t, got 'ab'", ""),
        ("decode --csv -d \"", "--delimiter: '\"' has another meaning in these records", "such as --delimiter ';'"),
        ("log --max-line 0", "--max-line: expected a size in bytes such as 4096, 64K or 1.5G, got '0'", ""),
        ("resolve --base //a/b", "--base: base URI has no scheme in '//a/b'; expected a base such as http://a/b", ""),
        ("resolve --base http://a/\x85", "--base: invalid control character '\\x85' in 'http://a/\\x85'; expected "
         "a base such as http://a/b", ""),
    ],
)  # fmt: skip
def test_errors_of_the_command_line(line, message, hint):
    status, output, said = run(*line.split(" ") if line else ())
    assert (status, output) == (2, b"")
    assert said == f"uricodec: {message}\n" + (f"\nhint: {hint}\n" if hint else "")


def test_hints_of_invalid_records():
    hint = "\nhint: --errors drop skips invalid records, --invalid-to FILE lists them\n"
    assert run("decode", "--csv", "--errors", "raise", stdin=b'a,"b\n')[2].endswith(hint)
    assert run("normalize", "--kind", "urn", "--errors", "raise", stdin=b"x\n")[2].endswith(hint)
    assert run("dedup", "--kind", "urn", "--errors", "raise", stdin=b"x\n")[2].endswith(hint)


NO_SIZES = ["", "K", "0", "-1", "1.", ".5M", "1e3", "0.0001K", "1X", "M1", "9" * 19, "\u0661", "nan"]


@pytest.mark.parametrize("text", NO_SIZES)
@pytest.mark.parametrize("option", ["decode --max-line", "log --max-line", "dedup --kind urn --memory"])
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
    heads = {name: {*re.findall("^## (.*)$", (ROOT / name).read_text("utf-8"), re.MULTILINE)} for name in names}
    for key, page in PAGES.items():
        assert isinstance(key, int) or key[0] in COMMANDS
        name, _, anchor = page.partition("#")
        named = {head.lower().replace(" ", "-") for head in heads[f"docs/{name.removesuffix('html')}md"]}
        assert not anchor or anchor in named
    assert {*COMMANDS} <= heads["docs/reference/cli.md"]


@pytest.mark.parametrize(
    ("words", "status", "end"),
    [
        (["--bogus"], 2, f"commands\nsee: {SITE}reference/cli.html\n"),
        (["decode", "--errors", "x"], 2, f"raise\n\nsee: {SITE}reference/cli.html#decode\n"),
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
