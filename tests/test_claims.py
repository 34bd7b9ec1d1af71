"""What README and docs say with "all", "never", "always" or "exactly" is tested: tests/claims.toml names the tests.

A row of a table that names a test stands for itself, see test_docs.py. So do code blocks, and what benchmarks write.
"""

import importlib.machinery
import importlib.util
import re
import sys
from pathlib import Path

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:  # pragma: no cover: another Python
    tomllib = pytest.importorskip("tomli", reason="needs Python 3.11 or tomli")

ROOT = Path(__file__).parent.parent
PAGES = [path for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))] if path.name != "cli.md"]
CLAIMS = tomllib.loads((ROOT / "tests/claims.toml").read_text("utf-8"))
CLAIM = re.compile(r"\b(all|never|always|exactly)\b", re.IGNORECASE)
NOT_PROSE = re.compile(
    r"^```.*?^```$|<!-- begin: .*?<!-- end: [^>]*-->|<!-- \w+: made by .*?<!-- end of \w+ -->", re.DOTALL | re.MULTILINE
)
BLOCKS = re.compile(r"\n\s*\n|\n(?=\||#|- |\d+\. )")
END_OF_SENTENCE = re.compile(r"(?<=[.:?!])\s+(?=[A-Z0-9`\[*(\"])")


def sentences(page):
    """Yield the sentences and rows of tables of a page that claim something."""
    for block in BLOCKS.split(NOT_PROSE.sub("", page.read_text("utf-8"))):
        text = " ".join(block.split())
        for sentence in [text] if text.startswith("|") else END_OF_SENTENCE.split(text):
            is_named = sentence.startswith("|") and re.search(r"\btest_\w+", sentence)
            if CLAIM.search(re.sub(r'`[^`]*`|"[^"]*"', "", sentence)) and not is_named:
                yield sentence


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_claim_has_a_test(page):
    """tests/claims.toml has the start of each sentence, and of no other."""
    starts = CLAIMS.get(page.relative_to(ROOT).as_posix(), {})
    found = list(sentences(page))
    assert [each for each in found if not any(each.startswith(start) for start in starts)] == []
    assert [start for start in starts if not any(each.startswith(start) for each in found)] == []


def test_the_tests_of_claims_exist():
    assert CLAIMS.keys() <= {page.relative_to(ROOT).as_posix() for page in PAGES}
    for page, claims in CLAIMS.items():
        for start, tests in claims.items():
            assert tests, (page, start)
            for test in tests:
                file, _, name = test.partition("::")
                text = (ROOT / file if file.startswith(".ci/") else ROOT / "tests" / file).read_text("utf-8")
                assert file.startswith(".ci/") or re.search(rf"^ *def {name}\(", text, re.MULTILINE), (page, test)


def test_claims_are_found(tmp_path):
    path = tmp_path / "a.md"
    path.write_text(
        "All of it.\nNot this. It never\nfails: `all`.\n\n| a | always |\n| b | always | `test_b` |\n\n```\nall\n```\n"
        '- exactly one\n- "all"\n',
        "utf-8",
    )
    assert list(sentences(path)) == ["All of it.", "It never fails:", "| a | always |", "- exactly one"]


@pytest.fixture
def figures():
    """The script .ci/figures as a module."""
    if not (ROOT / ".ci/figures").exists():
        pytest.skip("needs .ci")
    loader = importlib.machinery.SourceFileLoader("figures", str(ROOT / ".ci/figures"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("figures", loader))
    loader.exec_module(module)
    return module


def test_every_figure_has_its_command(figures):
    """docs/figures.toml has each figure of speed, size or time of a page, and no other; .ci/figures lists them."""
    assert list(figures.differences()) == []
    for entry in tomllib.loads(figures.LIST.read_text("utf-8"))["measured"]:
        for path in re.findall(r"(?:benchmarks|tests|fuzz|\.ci)/[\w./]+", entry["command"]):
            assert (ROOT / path).exists(), path


def test_figures_are_found(figures, tmp_path):
    path = tmp_path / "a.md"
    path.write_text("It takes 1.5\nseconds, 3 to 4 times as long: 2^61 `5 ms` 7 MB.\n```\n8 ms\n```\n", "utf-8")
    assert figures.figures(path) == ["1.5 seconds", "3 to 4 times", "7 MB"]
