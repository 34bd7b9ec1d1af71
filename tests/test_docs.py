"""What is written about the package runs: docstrings, README and docs, and the stubs say what the modules have."""

import ast
import codecs
import collections
import contextlib
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
import sys
from pathlib import Path

import pytest

import uricodec
from uricodec import iri, parse, uri, urn
from uricodec._rows.registry import OPERATIONS
from uricodec.cli.commands import COMMANDS
from uricodec.errors import UriSyntaxError
from uricodec.parse import _stdlib as stdlib
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
    """Every docstring with an example: of modules, functions, classes, and all that classes define.

    Compiled functions and methods are invisible to doctest's own finder.
    """
    seen = set()
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
                if isinstance(doc, str) and ">>>" in doc:
                    yield pytest.param(doc, names, id=f"{module.__name__}.{key}")


def run(text, names, title):
    test = doctest.DocTestParser().get_doctest(text, dict(names), title, None, 0)
    output = []
    doctest.DocTestRunner(optionflags=FLAGS).run(test, out=output.append)
    assert not output, "".join(output)
    return len(test.examples)


@pytest.mark.parametrize(("doc", "names"), list(documented()))
def test_docstring(doc, names):
    for engine in re.findall(r">>> import (duckdb|pandas|polars|pyarrow|pyspark)", doc):
        pytest.importorskip(engine, reason=f"{engine} is not installed")
    assert run(doc, names, "docstring")


@pytest.mark.parametrize(
    "page", [page for page in PAGES if "```python" in page.read_text("utf-8")], ids=lambda page: page.name
)
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


@pytest.mark.parametrize(
    "page", [page for page in PAGES if "```console" in page.read_text("utf-8")], ids=lambda page: page.name
)
def test_console_examples_of_a_page(page, reader):
    """Each command, typed as it is where the README is, prints what stands below it."""
    sessions = re.findall(r"```console\n(.*?)```", page.read_text("utf-8"), re.DOTALL)
    commands = 0
    for session in sessions:
        for command, expected in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", session, re.MULTILINE):
            assert "uricodec" in command
            options = {"cwd": ROOT, "env": reader, "capture_output": True, "text": True}
            done = subprocess.run(command, shell=True, check=True, **options)
            assert done.stdout == expected, command
            commands += 1
    assert commands


# Commands of blocks "sh" that are run elsewhere.
ELSEWHERE = {
    r"python3 -m venv .* -m pytest": ".ci/run",
    r"python3 -m venv .venv && .*": ".ci/run",
    r"\. .venv/bin/activate": ".ci/run",
    r"(python3 -m venv job|job/bin/venv-pack|pip install) .*": ".ci/run",
    r"benchmarks/run": "benchmarks/run, whose results are docs/concepts/performance.md",
}


def shell_commands():
    """The lines of blocks "sh"; those of cli.md are examples of `tests/cli/test_options.py`."""
    for page in PAGES:
        blocks = [] if page.name == "cli.md" else re.findall(r"^```sh\n(.*?)^```", page.read_text("utf-8"), FENCES)
        for line in "".join(blocks).splitlines():
            if not any(re.fullmatch(pattern, line) for pattern in ELSEWHERE):
                yield pytest.param(line, id=f"{page.name}-{line}")


@pytest.mark.skipif(not shutil.which("bash"), reason="bash is not installed")
@pytest.mark.parametrize("line", list(shell_commands()))
def test_shell_examples(line, reader, samples):
    """They run as they are, in a folder with files of the names that they mention."""
    if "--parquet" in line:
        pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    done = subprocess.run(["bash", "-c", line], cwd=samples, env=reader, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def inline_commands():
    for page in PAGES:
        text = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=FENCES)
        for command in re.findall(r"`uricodec ((?!\.)[^`]+)`", text):
            yield pytest.param(command, id=f"{page.name}-{command}")


@pytest.mark.parametrize("command", list(inline_commands()))
def test_commands_in_sentences(command):
    """The options of a command that a sentence names exist; files and required options may be missing."""
    name, *words = shlex.split(command.split(" | ")[0])
    assert name in COMMANDS or name in {"--version", "--help", "entries"}  # the head of a file in saved_sets.md
    if name in COMMANDS:
        known = {spelling for option in COMMANDS[name].options for spelling in option.flags} | {"-h", "--help"}
        used = {word.partition("=")[0] for word in words if re.match("--?[a-z]", word)}
        assert used <= known


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


@pytest.mark.parametrize(("text", "old", "new"), table("docs/guides/urn.md", "text", "RFC 2141", "RFC 8141"))
def test_table_of_the_two_specifications(text, old, new):
    for rfc, expected in ("2141", old), ("8141", new):
        fault = urn.check(text, rfc)
        assert expected == (f"{fault.code} at {fault.offset}" if fault else "valid")


@pytest.mark.parametrize(("one", "other", "level"), table("docs/guides/urn.md", "one", "other", "from level"))
def test_table_of_levels(one, other, level):
    levels = ["bytes", "2141", "8141", "namespace", "functional", "never"]
    assert [urn.equivalent(one, other, each) for each in levels[:-1]] == [
        levels.index(each) >= levels.index(level) for each in levels[:-1]
    ]


def test_examples_of_operations(monkeypatch):
    """They are computed when the site is built; test_registry.py compares SQL and commands with what runs."""
    monkeypatch.syspath_prepend(ROOT / "docs")
    made = importlib.import_module("make_operations")
    assert {*made.VALUES} <= {*OPERATIONS}
    text = made.sections()
    assert re.findall("^## (.*)$", text, re.MULTILINE) == list(OPERATIONS)
    assert (
        text.count("tab-item} Command line")
        == text.count("$ echo")
        == sum(bool(row.command) for row in OPERATIONS.values())
    )


def test_table_of_operations(monkeypatch):
    """It is one table with a row for each operation, and for a few other things; what it names exists."""
    monkeypatch.syspath_prepend(ROOT / "docs")
    made = importlib.import_module("make_operations")
    _, _, *rows = [re.split(r" \| ", row.strip("| ")) for row in made.table().splitlines()]
    assert len(rows) == len(OPERATIONS) + len(made.OTHERS)
    assert {*made.ELSEWHERE} <= {*OPERATIONS}
    for row in rows:
        for name in re.findall(r"`([\w.]+)`", row[2] if len(row) > 2 else ""):
            module, _, names = f"uricodec.{name}".partition(".")
            assert functools.reduce(getattr, names.split("."), importlib.import_module(module)), name
    for line in [command for _, _, command in made.ELSEWHERE.values()] + [row[-1] for row in made.OTHERS]:
        if line:
            words = shlex.split(line.replace("LIST", "examples/blocked.txt"))
            run = [
                sys.executable,
                "-m",
                "uricodec",
                *words,
                "examples/access.log" if line == "log" else "examples/urls.txt",
            ]
            assert subprocess.run(run, cwd=ROOT, capture_output=True, check=False).returncode == 0, line


def test_table_of_codes():
    from uricodec.urn import _parse as _urn

    described = {code for code, _, _ in table("docs/guides/urn.md", "code", "meaning", "offset")}
    assert described == set(re.findall('"([a-z-]+)"', _urn.check.__doc__.split("The codes:")[1].split("Raises:")[0]))


def test_table_of_rules():
    rules = [rule for rule, _, _ in table("docs/guides/urn.md", "rule", "effect on the NSS", "for example")]
    assert rules == list(namespaces.RULES)
    for rule, _, examples in table("docs/guides/urn.md", "rule", "effect on the NSS", "for example"):
        for nid in re.findall(r"[a-z0-9]+", examples.split(", and")[0]):
            assert urn.lookup(nid).rule == rule


def test_table_of_codes_of_uris():
    described = [code for code, _, _ in table("docs/guides/uri.md", "code", "meaning", "offset")]
    for_iris = uri_codes(iri.check) - {"scheme"}
    assert set(described) == uri_codes(uri.check) | for_iris
    assert len(described) == len(set(described))


def uri_codes(function):
    returns = function.__doc__.split("codes")[1].split("Raises:")[0]
    return set(re.findall('"([a-z0-9-]+)"', returns))


def test_examples_of_codes():
    """docs/reference/codes.md has an example of each code of each function."""
    found = {}
    for row in re.findall(r"^\| `(.*)` \|$", (ROOT / "docs/reference/codes.md").read_text("utf-8"), re.MULTILINE):
        code, call, message = row.split("` | `")
        found.setdefault(call.partition("(")[0], set()).add(code)
        try:
            diagnostic = eval(call)
        except uricodec.AmbiguousUrlError as error:
            assert (error.code, str(error)) == (code, message), call
        else:
            assert (diagnostic.code, diagnostic.message) == (code, message), call
    assert found["uri.check"] == uri_codes(uri.check)
    assert found["iri.check"] == uri_codes(iri.check) - {"host-delimiter"}  # the same in both
    assert found["urn.check"] == {code for code, _, _ in table("docs/guides/urn.md", "code", "meaning", "offset")}
    assert found["uri.agreed_host"] == {
        code for code, _, _ in table("docs/guides/ssrf.md", "code", "example", "what parsers do")
    }


LADDER = ["simple", "case", "percent", "path", "scheme", "iri", "never"]


def test_table_of_the_ladder():
    levels = [
        level for level, _, _ in table("docs/guides/uri.md", "level", "additionally treated as equal", "RFC 3986")
    ]
    assert levels == LADDER[:-1]


@pytest.mark.parametrize(("one", "other", "level"), table("docs/guides/uri.md", "one", "other", "from level"))
def test_table_of_levels_of_uris(one, other, level):
    assert [uri.equivalent(one, other, level=each) for each in LADDER[:-1]] == [
        LADDER.index(each) >= LADDER.index(level) for each in LADDER[:-1]
    ]


@pytest.mark.parametrize(
    ("one", "other", "answers"),
    [
        (row[0], row[1], row[2:])
        for row in table("docs/guides/uri.md", "one", "other", "`percent`", "`rfc2396`", "`rfc1630`")
    ],
)
def test_table_of_older_levels(one, other, answers):
    for level, answer in zip(["percent", "rfc2396", "rfc1630"], answers, strict=True):
        try:
            found = "same" if uri.equivalent(one, other, level=level) else "not"
        except UriSyntaxError:
            found = "error"
        assert found == answer, level


@pytest.mark.parametrize(
    ("text", "fault"), [row[1:] for row in table("docs/guides/uri.md", "attack", "input", "strict")]
)
def test_table_of_attacks(text, fault):
    found = iri.check(ast.literal_eval(text), production="IRI-reference", safe_host=True)
    assert fault == f"{found.code} at {found.offset}"


FAST = """
quote("a b") quote(b"a b") quote(bytearray(b"a b")) quote("a b", b"/") quote_plus("a b", safe="+")
quote("\\xe9", encoding="latin-1") quote("\\ud800", errors="replace") quote(Text("a"))
quote_from_bytes(b"a b") unquote("%41") unquote("%FF", errors="surrogateescape") unquote(b"%41")
unquote("%41", errors="mine") unquote_plus("%41", errors="mine") parse_qsl("a=%41", errors="mine")
unquote("%41", "latin-1") unquote("%E9", "windows-1252") unquote(Text("%41")) unquote_plus("%41", "latin-1")
unquote_plus("a+b") unquote_to_bytes("%41") unquote_to_bytes(b"%41") parse_qsl("a=b&c=%41") parse_qsl(b"a=b")
parse_qsl("a=%E9", encoding="latin-1") parse_qs("a=b;c", separator=";") parse_qs(bytearray(b"a=b"))
parse_qsl("a=b&&c=d", separator="&&")
urlencode({"a": 1}) urlencode((("a", None),)) urlencode(Other(a="b")) urlencode({"a": Text("b")})
urlencode({"a": "b"}, encoding="utf-8") urlencode({"a": "\\xe9"}, encoding="latin-1") urlencode({"a": object()})
urlencode([("a", b"b"), ("c", 1.5), ("d", True)]) urlencode({"a": [1, "b"], "c": (2,)}, doseq=True)
urlsplit("http://h/a?b#c") urlparse("//h/a;b") urldefrag("http://h/a?b#c") urljoin("http://h/a/b", "../c")
urlsplit(b"http://h") urlsplit(Text("http://h")) urlsplit("http://[::1]/") urlsplit("http://[v1.a]:80")
urlsplit("http://\\xe9/") urlsplit("//h", "http") urldefrag("http://h/a;b#c") urlparse(b"http://h;a")
urljoin(b"http://h", b"a") urljoin("http://h/\\xe9", "a") urljoin("http://h/a;b", "c;d") urljoin(Text("http://h"), "a")
urlunsplit(("http", "h", "/a", "b", "c")) urlunsplit(urlsplit("http://h/a")) urlunsplit((b"http", b"h", b"", b"", b""))
urlunparse(["http", "h", "/a", "", "b", "c"])
"""
SLOW = """
unquote("%FF", errors="mine") unquote_plus("%FF", errors="mine") parse_qsl("a=%FF", errors="mine")
quote("a", errors="mine") unquote("%41", "utf-16") quote("a", encoding="utf-16") quote(Loud("a"))
parse_qsl(b"a=b&&c=d", separator=b"&&") urlencode({"a": "b"}, quote_via=lambda *args: "x")
urlencode(Text("")) urlsplit("http://h/a\\tb") urlsplit(" http://h") urlsplit("http://[::1]x/")
urldefrag("http://h/a?#c") urldefrag("http://h/a;#c") urldefrag("HTTP://h/a#c")
urlunsplit(("http", "h", "/a", None, "")) urlunsplit(("", "", "//a", "", "")) urljoin("http://h/a", "http:")
urljoin("http://h", "a/" * 129)
"""


def calls(text):
    return re.split(r"(?<=\))\s+(?=\w+\()", text.strip())


@pytest.mark.parametrize(
    ("call", "fast"), [(each, True) for each in calls(FAST)] + [(each, False) for each in calls(SLOW)]
)
def test_what_the_drop_in_hands_to_the_stdlib(call, fast, monkeypatch):
    """docs/guides/drop_in.md says which calls are fast. Which calls of the stdlib's functions there were."""
    seen = []
    for name in stdlib.FAST:
        original = getattr(stdlib, name)
        spy = lambda *args, original=original, **options: seen.append(original) or original(*args, **options)  # noqa: E731
        monkeypatch.setattr(stdlib, name, spy)
    codecs.register_error("mine", codecs.strict_errors)
    loud = type("Loud", (str,), {"encode": lambda *_: b"loud"})
    names = {"Text": type("Text", (str,), {}), "Loud": loud, "Other": collections.UserDict}
    with contextlib.suppress(ValueError, TypeError):
        eval(call, vars(parse) | names)
    assert (not seen) == fast


def anchors(page):
    """The anchors of the headings of a page, as GitHub and MyST make them."""
    text = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    heads = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    words = [re.sub(r"\[(.*?)\]\(.*?\)", r"\1", head).lower() for head in heads]
    return {re.sub(r"[^\w -]", "", head).replace(" ", "-") for head in words}


@pytest.mark.parametrize("page", TEXTS, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_between_pages(page):
    text = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    text = re.sub(OURS, f"{ROOT}/", text)
    for target, anchor in re.findall(r"\]\((?!https?:)([^)#\s]*)#?([^)\s]*)\)", re.sub(r"`[^`\n]+`", "", text)):
        path = page.parent / target if target else page
        assert path.exists(), target
        assert not anchor or anchor in anchors(path), (target, anchor)
