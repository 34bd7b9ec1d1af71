"""What is written about the package runs: docstrings, README and docs, and the stubs say what the modules have."""

import ast
import doctest
import functools
import importlib
import itertools
import json
import pkgutil
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from support.command import run as run_command

import uricodec
from uricodec import bulk, iri, uri, urn
from uricodec.bulk._operations import OPERATIONS
from uricodec.cli.commands import COMMANDS
from uricodec.errors import UriSyntaxError
from uricodec.urn import namespaces

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
TEXTS = [*ROOT.glob("*.md"), *ROOT.glob("*/README.md"), *sorted((ROOT / "docs").rglob("*.md"))]
FLAGS = doctest.ELLIPSIS
FENCES = re.DOTALL | re.MULTILINE
OURS = r"https://(github\.com/uricodec/uricodec/blob|raw\.githubusercontent\.com/uricodec/uricodec)/main/"


def modules():
    """All that can be imported: hooks into an engine, and what pandas alone needs, need that engine."""
    for found in pkgutil.walk_packages(uricodec.__path__, "uricodec."):
        if not found.name.endswith("__main__"):
            try:
                yield importlib.import_module(found.name)
            except ModuleNotFoundError as error:
                hooks = "uricodec.integrations.", "uricodec.bulk._pandas"
                if not found.name.startswith(hooks) or error.name.startswith("uricodec"):
                    raise


def is_own(value):
    """Whether what a class has is its own: neither a class nor a function of a module under another name."""
    is_other = isinstance(value, staticmethod) and "." not in getattr(value.__func__, "__qualname__", ".")
    return not (isinstance(value, type) or is_other)


def documented():
    """Different docstrings with examples, by module and by the library that they need: (title, text, names) of each.

    Compiled functions and methods are invisible to doctest's own finder.
    """
    seen, cases = set(), {}
    for module in modules():
        items = {"": module} | {n: o for n, o in vars(module).items() if callable(o) and not n.startswith("__")}
        for name, item in items.items():
            if name and not (getattr(item, "__module__", None) or "").startswith("uricodec"):
                continue
            found, names = {name: item}, vars(module)
            if isinstance(item, type) and item not in seen:
                seen.add(item)
                names = vars(importlib.import_module(item.__module__)) | names
                found |= {f"{name}.{key}": value for key, value in vars(item).items() if is_own(value)}
            for key, value in found.items():
                doc = value.__doc__
                if isinstance(doc, str) and ">>>" in doc and doc not in seen:
                    seen.add(doc)
                    needs = "-".join(re.findall(r">>> import (duckdb|pandas|polars|pyarrow|pyspark)", doc))
                    cases.setdefault((module.__name__, needs), []).append((f"{module.__name__}.{key}", doc, names))
    return cases


def run(text, names, title):
    test = doctest.DocTestParser().get_doctest(text, dict(names), title, None, 0)
    output = []
    doctest.DocTestRunner(optionflags=FLAGS).run(test, out=output.append)
    assert not output, "".join(output)
    return len(test.examples)


DOCSTRINGS = documented()


@pytest.mark.parametrize("case", DOCSTRINGS, ids="-".join)
def test_docstrings(case):
    for library in filter(None, case[1].split("-")):
        pytest.importorskip(library, reason=f"{library} is not installed")
    for title, text, names in DOCSTRINGS[case]:
        run(text, names, title)


def pages_with(language):
    pages = [page for page in PAGES if f"```{language}\n" in page.read_text("utf-8")]
    return pytest.mark.parametrize("page", pages, ids=lambda page: page.relative_to(ROOT).as_posix())


@pages_with("python")
def test_python_examples_of_a_page(page):
    """One after the other: what one imports, the next ones have."""
    blocks = re.findall(r"```python\n(.*?)```", page.read_text("utf-8"), re.DOTALL)
    assert run("\n".join(blocks), {}, page.name)


def library_examples():
    """Those of optional libraries, in blocks "```py": each stands for itself."""
    for page in PAGES:
        for block in re.findall(r"```py\n(.*?)```", page.read_text("utf-8"), re.DOTALL):
            libraries = re.findall(r">>> import (\w+)", block)
            yield pytest.param(block, libraries, id=f"{page.name}-{'-'.join(libraries)}")


@pytest.mark.filterwarnings("ignore::DeprecationWarning:ray")  # of its own settings
@pytest.mark.parametrize(("block", "libraries"), list(library_examples()))
def test_library_examples_of_a_page(block, libraries):
    for library in libraries:
        pytest.importorskip(library, reason=f"{library} is not installed")
    assert run(block, {}, libraries[0])


def printed_by(command, environment):
    """What a pipeline prints. Its `uricodec` runs in this process, unless the shell has more to do than connect it."""
    if re.search(r"[;&<>$]|\|\||/dev/", re.sub("'[^']*'", "", command)):
        return subprocess.run(command, shell=True, check=True, capture_output=True, env=environment).stdout
    data = b""
    for part in re.split(r" \| (?=(?:[^']*'[^']*')*[^']*$)", command):
        if part.startswith("uricodec "):
            status, data, _ = run_command(*shlex.split(part)[1:], stdin=data)
        else:
            done = subprocess.run(part, shell=True, check=False, capture_output=True, input=data)
            status, data = done.returncode, done.stdout
    assert status == 0, command
    return data


@pages_with("console")
def test_console_examples_of_a_page(page, reader, monkeypatch):
    """Each command, typed as it is where the README is, prints what stands below it."""
    monkeypatch.chdir(ROOT)
    sessions = re.findall(r"```console\n(.*?)```", page.read_text("utf-8"), re.DOTALL)
    commands = 0
    for session in sessions:
        for command, expected in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", session, re.MULTILINE):
            assert "uricodec" in command
            assert printed_by(command, reader).decode() == expected, command
            commands += 1
    assert commands


# Commands of blocks "sh" that make environments, or take long.
NOT_RUN = r"python3 -m venv .*|\. .venv/bin/activate|job/bin/venv-pack .*|pip install .*|python .*benchmarks.*"


def shell_commands():
    """The lines of blocks "sh"."""
    for page in PAGES:
        blocks = re.findall(r"^```sh\n(.*?)^```", page.read_text("utf-8"), FENCES)
        for line in "".join(blocks).splitlines():
            if not re.fullmatch(NOT_RUN, line):
                yield pytest.param(line, id=f"{page.name}-{line}")


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("bash"), reason="bash is not installed")
@pytest.mark.parametrize("line", list(shell_commands()))
def test_shell_examples(line, reader, samples):
    """They run as they are, in a folder with files of the names that they mention."""
    if "--parquet" in line:
        pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    done = subprocess.run(["bash", "-c", line], cwd=samples, env=reader, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_options_of_commands_in_sentences_exist():
    """Files and required options may be missing there."""
    unknown = []
    for page in PAGES:
        text = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=FENCES)
        for command in re.findall(r"`uricodec ((?!\.)[^`]+)`", text):
            name, *words = shlex.split(command.split(" | ")[0])
            used = {word.partition("=")[0] for word in words if re.match("--?[a-z]", word)}
            known = {"-h", "--help"}
            if name in COMMANDS:
                known |= {spelling for option in COMMANDS[name].options for spelling in option.flags}
            elif name not in {"--version", "--help", "entries"}:  # the head of a file in saved_sets.md
                unknown.append((page.name, command))
            if name in COMMANDS and not used <= known:
                unknown.append((page.name, command))
    assert unknown == []


@pytest.mark.interop
def test_notebook(capsys):
    """Each cell of code prints what is stored below it; the last expression of a cell is shown."""
    matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    matplotlib.use("agg")
    names = {}
    for cell in json.loads((ROOT / "examples/crawl.ipynb").read_text("utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            source = "".join(cell["source"])
            *_, last = ast.parse(source).body
            exec(source, names)
            printed = capsys.readouterr().out
            stored = [output.get("text") or output["data"]["text/plain"] for output in cell["outputs"]]
            if isinstance(last, ast.Expr) and not printed and not source.endswith(";"):
                assert eval(ast.unparse(last), names) == ast.literal_eval("".join(stored[0]))
            elif printed:
                assert printed == "".join(stored[0])
    assert names["axes"].get_title(loc="left") == "Different URLs among 5000"
    names["plt"].close(names["figure"])


def table(page, *columns):
    """The rows of the table of a page that has these columns, without the marks of code."""
    text = (ROOT / page).read_text("utf-8").split(f"| {' | '.join(columns)} |\n")[1]
    rows = itertools.takewhile(lambda line: line.startswith("|"), text.splitlines()[1:])
    return [[cell.strip().replace("`", "") for cell in row.strip("|").split("|")] for row in rows]


def verdict(fault):
    return f"{fault.code} at {fault.offset}" if fault else "valid"


def test_texts_by_the_two_specifications_of_urns():
    for text, *expected in table("docs/guides/urn.md", "text", "RFC 2141", "RFC 8141"):
        assert [verdict(urn.check(text, rfc)) for rfc in ("2141", "8141")] == expected, text


URN_LEVELS = ["bytes", "2141", "8141", "namespace", "functional", "never"]
URI_LEVELS = ["simple", "case", "percent", "path", "scheme", "iri", "never"]


@pytest.mark.parametrize(
    ("page", "equivalent", "levels"),
    [("urn", urn.equivalent, URN_LEVELS), ("compare", uri.equivalent, URI_LEVELS)],
    ids=["urns", "uris"],
)
def test_pairs_are_equivalent_from_their_level_on(page, equivalent, levels):
    for one, other, first in table(f"docs/guides/{page}.md", "one", "other", "from level"):
        expected = [levels.index(level) >= levels.index(first) for level in levels[:-1]]
        assert [equivalent(one, other, level=level) for level in levels[:-1]] == expected, (one, other)


def test_levels_of_the_page_are_in_order():
    rows = table("docs/guides/compare.md", "level", "additionally treated as equal", "RFC 3986")
    assert [level for level, _, _ in rows] == URI_LEVELS[:-1]


def test_pairs_by_the_levels_of_older_rfcs():
    levels = ["percent", "rfc2396", "rfc1630"]
    for one, other, *expected in table("docs/guides/compare.md", "one", "other", *(f"`{level}`" for level in levels)):
        for level, answer in zip(levels, expected, strict=True):
            try:
                found = "same" if uri.equivalent(one, other, level=level) else "not"
            except UriSyntaxError:
                found = "error"
            assert found == answer, (one, other, level)


@pytest.mark.slow
def test_examples_of_operations(monkeypatch):
    """They are computed when the site is built; test_table.py compares SQL and commands with what runs."""
    monkeypatch.syspath_prepend(ROOT / "docs")
    made = importlib.import_module("make_operations")
    assert {*made.VALUES} <= {*OPERATIONS}
    text = made.sections()
    assert re.findall("^## (.*)$", text, re.MULTILINE) == list(OPERATIONS)
    commands = sum(bool(row.command) for row in OPERATIONS.values())
    assert text.count("tab-item} Command line") == text.count("$ echo") == commands


def test_names_and_commands_in_the_table_of_operations_exist(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "docs")
    monkeypatch.chdir(ROOT)
    made = importlib.import_module("make_operations")
    _, _, *rows = [re.split(r" \| ", row.strip("| ")) for row in made.table().splitlines()]
    assert len(rows) == len(OPERATIONS) + len(made.OTHERS)
    assert {*made.ELSEWHERE} <= {*OPERATIONS}
    for row in rows:
        for name in re.findall(r"`([\w.]+)`", row[2] if len(row) > 2 else ""):
            module, _, names = f"uricodec.{name}".partition(".")
            assert functools.reduce(getattr, names.split("."), importlib.import_module(module)), name
    for line in filter(None, [command for _, _, command in made.ELSEWHERE.values()] + [row[-1] for row in made.OTHERS]):
        words = shlex.split(line.replace("LIST", "examples/blocked.txt"))
        status, _, complaint = run_command(*words, "examples/access.log" if line == "log" else "examples/urls.txt")
        assert status == 0, (line, complaint)


def codes_of(function):
    returns = re.split("Raises:|Source:", function.__doc__.split("codes", 1)[1])[0]
    return set(re.findall('"([a-z0-9-]*[a-z0-9])"', returns))


def test_pages_describe_every_code():
    described = [code for code, _, _ in table("docs/guides/urn.md", "code", "meaning", "offset")]
    assert set(described) == codes_of(urn.check)
    described = [code for code, _, _ in table("docs/guides/urn.md", "code", "what is wrong", "offset")]
    assert set(described) == codes_of(bulk.validate_urn)
    described = [code for code, _, _ in table("docs/guides/uri.md", "code", "meaning", "offset")]
    assert set(described) == codes_of(uri.check) | codes_of(iri.check)
    assert len(described) == len(set(described))


def test_examples_of_codes():
    """docs/reference/rules.md has an example of each code of each function."""
    found = {}
    codes = (ROOT / "docs/reference/rules.md").read_text("utf-8").split("\n## Codes\n")[1]
    for row in re.findall(r"^\| `(.*)` \|$", codes, re.MULTILINE):
        code, call, message = row.split("` | `")
        found.setdefault(call.partition("(")[0], set()).add(code)
        try:
            diagnostic = eval(call)
        except uricodec.UriError as error:
            assert (error.code, str(error)) == (code, message), call
        else:
            assert (diagnostic.code, diagnostic.message) == (code, message), call
    assert found["uri.check"] == codes_of(uri.check)
    assert found["iri.check"] == codes_of(iri.check) - {"host-delimiter"}  # the same in both
    assert found["urn.check"] == codes_of(urn.check)
    assert found["bulk.validate_urn"] == codes_of(bulk.validate_urn)
    ambiguous = table("docs/guides/ssrf.md", "code", "example", "what parsers do")
    assert found["uri.agreed_host"] == {code for code, _, _ in ambiguous}


def test_namespaces_have_the_rules_of_the_page():
    rows = table("docs/guides/urn.md", "rule", "effect on the NSS", "for example")
    assert [rule for rule, _, _ in rows] == list(namespaces.RULES)
    for rule, _, examples in rows:
        for nid in re.findall(r"[a-z0-9]+", examples.split(", and")[0]):
            assert urn.lookup(nid).rule == rule


def test_attacks_are_rejected_as_the_page_says():
    for _, text, expected in table("docs/guides/uri.md", "attack", "input", "strict"):
        found = iri.check(ast.literal_eval(text), production="IRI-reference", safe_host=True)
        assert verdict(found) == expected, text


def anchors(page):
    """The anchors of the headings of a page, as GitHub and MyST make them."""
    text = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=FENCES)
    heads = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    words = [re.sub(r"\[(.*?)\]\(.*?\)", r"\1", head).lower() for head in heads]
    return {re.sub(r"[^\w -]", "", head).replace(" ", "-") for head in words}


def test_links_between_pages_lead_to_files_and_headings():
    broken = []
    for page in TEXTS:
        text = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=FENCES)
        text = re.sub(OURS, f"{ROOT}/", text)
        for target, anchor in re.findall(r"\]\((?!https?:)([^)#\s]*)#?([^)\s]*)\)", re.sub(r"`[^`\n]+`", "", text)):
            path = page.parent / target if target else page
            if not path.exists() or (anchor and anchor not in anchors(path)):
                broken.append((page.relative_to(ROOT).as_posix(), target, anchor))
    assert broken == []
