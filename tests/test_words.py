"""Words that are kept out of documentation, comments, docstrings and messages, with plainer ones.

Prose is everything on a page except code, and the comments and strings of a source file. Text in double quotes or
backticks is a quotation or code, which is not searched; "octet" is allowed on a line that names an RFC.
"""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "SECURITY.md", *sorted((ROOT / "docs").rglob("*.md")), *ROOT.glob("*/README.md")]
SOURCES = sorted(p for p in (ROOT / "src").rglob("*") if p.suffix in {".py", ".pyx", ".pxd", ".pyi", ".h", ".c"})

AVOIDED = {
    r"(?<!dec-)octets?": "byte",
    r"behind": "after",
    r"in front of": "before",
    r"refus(e[ds]?|ing|als?)": "reject, rejected",
    r"(?<!re)mend(s|ed|ing)?": "fix",
    r"(naive |a )?twins?": "reference implementation",
    r"oracles?": "reference implementation",
    r"rooms?": "capacity, buffer; for folders: folder",
    r"(what|that) becomes of": "how ... is handled",
    r"gives? (\w+ )?back": "returns",
    r"as of": "see, as in",
    r"(is|are|was|were) no (?!longer|more|less)": "not a ..., or say what it is",
    r"(that|which|it|what) (is|are) none": "say what it is",
    r"one's own": "custom, your own",
    r"nobody": "say who, or use the passive",
    r"for who": "for those who, for programs that",
    r"what there is": "say what it is",
    r"what (it|they) (is|are) of": "say what it belongs to",
    r"lets go of": "drops, releases",
    r"all is well": "success",
    r"sift(s|ed|ing)?": "divide into partitions",
    r"sieves?": "partitions",
}

WORD = re.compile("|".join(rf"(?P<w{i}>\b{pattern}\b)" for i, pattern in enumerate(AVOIDED)), re.IGNORECASE)
LITERAL = r'"(?:\\.|[^"\\\n])*"'
PYTHON = re.compile(rf"""\"\"\".*?\"\"\"|{LITERAL}|'(?:\\.|[^'\\\n])*'|\#[^\n]*""", re.DOTALL)
C = re.compile(rf"/\*.*?\*/|//[^\n]*|{LITERAL}|'(?:\\.|[^'\\])+'", re.DOTALL)
QUOTED = re.compile(r'``.*?``|`[^`\n]*`|"[^"\n]*"|<!--.*?-->|\]\([^)\n]*\)')
# In strings: lines of examples, names of arguments, expressions.
CODE = re.compile(r"^ *(?:>>>|\.\.\.) .*$|^ +\w+(?= \([^)\n]*\): )|\{[^{}\n]*\}", re.MULTILINE)


def blank(match):
    return re.sub(r"[^\n]", " ", match[0])


def prose(path):
    """Return the text of a file with everything blank that is not prose."""
    text = path.read_text("utf-8")
    if path.suffix == ".md":
        return QUOTED.sub(blank, re.sub(r"^```.*?^```", blank, text, flags=re.DOTALL | re.MULTILINE))
    parts, end = [], 0
    for match in (C if path.suffix in {".c", ".h"} else PYTHON).finditer(text):
        parts.append(re.sub(r"[^\n]", " ", text[end : match.start()]))
        found = match[0]
        if found.startswith("#   "):  # a quotation of a grammar
            found = blank(match)
        elif not found.startswith(("#", "/")):
            found = CODE.sub(blank, found)
        is_literal = found[0] in "\"'" and not found.startswith('"""')
        parts.append(found if is_literal else QUOTED.sub(blank, found.replace('"""', "   ")))
        end = match.end()
    return "".join(parts)


def findings(path):
    """Yield a line for each avoided word in a file: where it is, and what to write."""
    for number, line in enumerate(prose(path).splitlines(), 1):
        for match in WORD.finditer(line):
            if match[0].lower().startswith("octet") and "RFC" in line:
                continue
            better = list(AVOIDED.values())[int(match.lastgroup[1:])]
            yield f"{path.relative_to(ROOT)}:{number}: {match[0]!r}: write {better}"


def folders():
    """Return the files by folder."""
    found = {"docs": PAGES}
    for path in SOURCES:
        found.setdefault(str(path.parent.relative_to(ROOT / "src")), []).append(path)
    return found


@pytest.mark.parametrize("folder", folders())
def test_plain_words(folder):
    found = [finding for path in folders()[folder] for finding in findings(path)]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("name", "text", "lines"),
    [
        ("a.md", "An octet.\n", [1]),
        ("a.md", 'RFC 3986: an octet\n`octet` and "octet"\n```\noctet\n```\n', []),
        ("a.md", "It is no longer. It is no list.\nrefused\n", [1, 2]),
        ("a.py", 'octets = behind\n# behind\nraise ValueError("no twin")\n', [2, 3]),
        ("a.py", '"""A docstring\nbehind `behind`, "behind"\n"""\n', [2]),
        ("a.pyx", "cdef char *room = '\"'  # mended\n", [1]),
        ("a.h", "int octets; /* The\nroom */ // behind\n", [2, 2]),
        ("a.py", "a = recommended\n# recommended, amend\n", []),
        ("a.py", '"""One.\n\n    room (int): Bytes.\n    >>> room()\n    twin\n"""\nf"{octets} room"', [5, 7]),
    ],
)
def test_what_is_searched(name, text, lines, tmp_path, monkeypatch):
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    path = tmp_path / name
    path.write_text(text, "utf-8")
    assert [int(finding.split(":")[1]) for finding in findings(path)] == lines


def docstrings_of_functions(path):
    """Yield the name of each function of a compiled module, and the first word of its docstring."""
    lines = path.read_text("utf-8").splitlines()
    for i, line in enumerate(lines):
        if line.lstrip().startswith('"""') and i and lines[i - 1].split("#")[0].rstrip().endswith(":"):
            head = next(j for j in range(i - 1, -1, -1) if re.match(r" *(cdef|cpdef|def|class) ", lines[j]))
            is_class = re.match(r" *(cdef )?class ", lines[head])
            if not is_class and "@property" not in lines[head - 1] and (word := re.match(r' *"""(\w+)', line)):
                yield lines[head].partition("(")[0].strip(), word[1]


NOT_IMPERATIVE = re.compile(r"The|An?|Whether|What|Where|How|Those|Like|Same|True|False|None|One|\w*[^s]s")


def test_docstrings_of_compiled_functions_are_imperatives():
    """ruff checks those of .py files (D401)."""
    compiled = [path for path in SOURCES if path.suffix == ".pyx"]
    names = [(path.name, *found) for path in compiled for found in docstrings_of_functions(path)]
    assert [each for each in names if NOT_IMPERATIVE.fullmatch(each[2])] == []
    assert len(names) > 500
