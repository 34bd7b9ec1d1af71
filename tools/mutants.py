"""Mutants: small random faults in the package, to see which of them the tests notice.

    python tools/mutants.py build [--count 250] [--seed 1]      a mutated copy of the package, in build/mutants
    python tools/mutants.py reach TESTS ... [--output FILE]     which tests reach which mutants
    python tools/mutants.py run TESTS ... [--reach FILE]        which mutants the tests catch; see --help for more
    python tools/mutants.py show ID ...                         what a mutant changes

All mutants are compiled at once: each is an expression that asks `_mutant(ID)`. One page of memory, at the same address
in every module and process, says which one is on, and notes which were reached. It is a file that the environment
variable URICODEC_MUTANTS names, so subprocesses share it. Needs Linux, and pytest-xdist for `reach`.

What a mutant in a function breaks is found by a process that has collected the tests: it forks for each mutant, and
runs the tests that reach it, the quickest first. Constants of modules need a new process each. A test that fails also
without the mutant does not count. A mutant that no test catches may change nothing: read it before writing a test.
"""

import argparse
import collections
import concurrent.futures
import json
import math
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build/mutants"
PACKAGE = Path("src/uricodec")
MAX = 4096 - 64  # mutants in the page, after the one that is on

HEADER = """
#ifndef UC_MUTANT_H
#define UC_MUTANT_H
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif
static unsigned char *const uc_mutants = (unsigned char *)0x100000000000;
__attribute__((constructor)) static void uc_map_mutants(void) {
    const char *name = getenv("URICODEC_MUTANTS");
    int file = name ? open(name, O_RDWR | O_CLOEXEC) : -1, other = file < 0 ? MAP_ANONYMOUS : 0;
    mmap(uc_mutants, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE | other, file, 0);
    if (file >= 0) close(file);
}
static inline int _mutant(int id) {
    uc_mutants[64 + id] = 1;
    return *(volatile int *)uc_mutants == id;
}
#endif
"""
MODULES = {
    "mutant.h": HEADER,
    "_mutant_c.pxd": 'cdef extern from "mutant.h" nogil:\n    bint _mutant(int) noexcept\n',
    "_mutant_py.pyx": "from uricodec._base._mutant_c cimport _mutant as c\ndef _mutant(int id): return c(id)\n",
    "_mutant.py": "try:\n    from uricodec._base._mutant_py import _mutant\n"
    "except ImportError:  # while stubs are made\n    def _mutant(id): return False\n",
}
IMPORT = {
    ".py": "from uricodec._base._mutant import _mutant\n",
    ".h": '#include "mutant.h"\n',
    ".pyx": "from uricodec._base._mutant_c cimport _mutant\n",
}
IMPORT |= {".pxd": IMPORT[".pyx"], ".c": IMPORT[".h"]}

# Faults that no test noticed once: file, text, replacement, whether it matters at import. They are numbers 1 and up.
PLANTED = [
    ("uri/_redact.pyx", "DEFAULT_NAMES + MORE_NAMES}", "DEFAULT_NAMES + MORE_NAMES[: 4 if @ else None]}", True),
    ("urn/conversions.py", '"isbn").replace("-",', '"isbn").replace("+" if @ else "-",', False),  # to_isbn
    ("urn/conversions.py", 'isbn).replace("-", "").upper()', 'isbn).replace("+" if @ else "-", "").upper()', False),
]  # fmt: skip

# --- drawing ----------------------------------------------------------------------------------------------------------

KEPT = r"""(?P<quote>(?:\"{3}|'{3})).*?(?P=quote)|(["'])((?:\\.|(?!\2)[^\n])*)\2|%s"""
OPERAND = r"(?:[A-Za-z_]\w*(?:\.\w+|->\w+|\[\w+\])*|\d\w*|c?'_+')"
COMPARISON = re.compile(
    r"(?:\(|\band |\bor |\bnot |\bif |\belif |\bwhile | = |\breturn |&& |\|\| |; )"
    rf"(?P<all>(?P<a>{OPERAND}) (?P<op>[<>=!]=|<|>) (?P<b>{OPERAND}))(?=\)| and | or |:| if | else |$| &&| \|\||;)"
)
BOUNDARY = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
CONSTANT = re.compile(r"(?<![\w.\[<\"'-])(\d{1,9}|0x[0-9A-Fa-f]{1,7})(?![\w.\"'])")
MEMBER = re.compile(r"""(?:^ *|, |[(\[{])(?P<all>b?"_+")(?=,|:|[)\]}])""")
HEADER = re.compile(r" *(async def|def|class|cdef|cpdef|ctypedef)\b")
STATEMENT = {
    True: re.compile(r" +(?! )((?!return)(?:[\w.\[\]>*-]+ (?:[-+|&^*]|<<|>>)?= .*|\w+\(.*\)|break|continue);)$"),
    False: re.compile(r" +(?! )((?!return|if|for|while|with|cdef|assert|yield|from|import|del|await|lambda|@)"
                      r"(?:raise\b.*|break|continue|[^=(]+ (?:[-+|&^*]|//|<<|>>)?= .*|[\w.]+\(.*\)))$"),
}  # fmt: skip
STAYS = re.compile("[Ff]ree|[Cc]lose|release|DECREF|INCREF|give|prefetch|unlink", re.I)  # no result shows it
WEIGHT = {"statement": 1, "condition": 2, "constant": 2, "comparison": 4, "and/or": 4, "member": 3}
FLIPPED = {"and": "or", "or": "and", "&&": "||", "||": "&&"}


def blank(text, is_c):
    """Return a text without comments and docstrings, and without what is in strings, of the same length."""

    def keep(found):
        return f"{found[2]}{'_' * len(found[3])}{found[2]}" if found[2] else re.sub(r"[^\n]", " ", found[0])

    return re.sub(KEPT % (r"//[^\n]*|/\*.*?\*/" if is_c else r"\#[^\n]*"), keep, text, flags=re.S)


def is_closed(text):
    return all(text.count(a) == text.count(b) for a, b in ("()", "[]", "{}"))


def lines_of(text, is_c):
    """Yield the lines of a file: offset, blanked text, whether it is in a function (None: in a declaration), and how
    the statement begins.
    """
    offset, depth, blocks, inside, begin, continued = 0, 0, [(-1, False)], False, "", False
    for line in blank(text, is_c).splitlines():
        indent = len(line) - len(line.lstrip())
        if is_c and line and not indent:
            inside = None if line[0] == "#" or not re.search(r"\).*\{$", line.rstrip()) else True
        elif not is_c and line.strip() and not depth:
            while blocks[-1][0] >= indent:
                blocks.pop()
            inside, begin = blocks[-1][1], line.strip()
            if HEADER.match(line) and (begin.endswith(":") or not is_closed(line)):
                is_type = re.match(r"(cdef|ctypedef) *(extern|enum|struct|union|packed|public|:)", begin)
                blocks.append((indent, None if is_type else not re.match(r"(cdef )?class\b", begin)))
                inside = None
        if not (is_c and (continued or not indent)):
            yield offset, line.rstrip(), inside, begin
        continued = is_c and text[offset : offset + len(line)].endswith("\\")
        offset += len(line) + 1
        depth += 0 if is_c else sum(map(line.count, "([{")) - sum(map(line.count, ")]}"))


def changes(line, source, is_c, inside, begin):
    """Yield the mutants of a line: kind, start, end, replacement with "@" for the question."""

    def either(changed, same):
        return f"(@ ? {changed} : {same})" if is_c else f"({changed} if @ else {same})"

    members = list(MEMBER.finditer(line))
    is_list = len(members) >= 4 or (members and re.fullmatch(r' *b?"_+"(,|: .*,)', line))
    for found in members if is_list and not is_c and not re.match("__(all|slots)__", begin) else []:
        text = source[found.start("all") : found.end("all")]
        if " " not in text:  # a sentence
            yield "member", *found.span("all"), either(f'{text[:-1]}~"', text)
    if not inside or "@" in line or re.match(r"(case|default|typedef|static|DEF|global)\b", line.strip()):
        return
    found = re.match(r" *(?:\} else )?(?:if|while) \(" if is_c else r" *(?:if|elif|while) ", line)
    whole = is_c or line.strip() == begin  # not the rest of a statement
    if found and whole and (is_c or (is_closed(line) and line.endswith(":"))):
        start = end = found.end()
        while is_c and end < len(line) and not (line[end] == ")" and is_closed(line[start:end])):
            end += 1
        condition, plain = source[start:end] if is_c else source[start:-1], line[start:end] if is_c else line[start:-1]
        if end < len(line) and plain not in ("True", "1"):
            end = start + len(plain)
            yield "condition", start, end, f"(!({condition})) == @" if is_c else f"(not ({condition})) == @"
            both = re.findall(r" (and|or|&&|\|\|) ", plain)
            at = plain.find(f" {both[0]} ") if len(both) == 1 else 0
            if at and is_closed(plain[:at]) and not re.search(r"[?]|:=|\b(if|lambda|for)\b", plain):
                other = f"({condition[:at]} {FLIPPED[both[0]]} {condition[at + len(both[0]) + 2 :]})"
                same = f"({condition})"
                new = either(other, same) if is_c else f"not (not {other} if @ else not {same})"
                yield "and/or", start, end, new
    for found in COMPARISON.finditer(line):
        a, op, b = (source[found.start(group) : found.end(group)] for group in ("a", "op", "b"))
        yield "comparison", *found.span("all"), either(f"{a} {BOUNDARY[op]} {b}", f"{a} {op} {b}")
    for found in CONSTANT.finditer(line):
        yield "constant", *found.span(), f"({found[0]} + @)"
    found = STATEMENT[is_c].match(line)
    if found and whole and is_closed(line) and ";" not in line[:-1] and not STAYS.search(source):
        statement = source[found.start(1) : found.end(1)]
        yield "statement", *found.span(1), f"{{ if (!@) {statement} }}" if is_c else f"if not @: {statement}"


def draw(folder, count, generator):
    """Return candidates for each room in random order, at most one for a line, and how many of each are wanted."""
    rooms, sizes = collections.defaultdict(list), collections.Counter()
    for path in sorted(folder.rglob("*")):
        if path.suffix not in IMPORT or path.name.startswith(("target.h", "neon")):
            continue
        text, is_c, name = path.read_text(), path.suffix in (".h", ".c"), path.relative_to(folder).as_posix()
        room = "simd" if is_c else name.split("/")[0] if "/" in name else "(top)"
        sizes[room] += text.count("\n")
        for offset, line, inside, begin in lines_of(text, is_c):
            kinds = collections.defaultdict(list)
            for kind, *change in changes(line, text[offset : offset + len(line)], is_c, inside, begin):
                kinds[kind].append(change)
            if kinds:
                kind = generator.choice(sorted(kinds))
                start, end, new = generator.choice(kinds[kind])
                place = {"line": text.count("\n", 0, offset) + 1, "start": offset + start, "end": offset + end}
                place |= {"room": room, "file": name, "kind": kind, "old": text[offset + start : offset + end]}
                rooms[room].append(place | {"new": new, "import": not inside})
    for candidates in rooms.values():
        candidates.sort(key=lambda mutant: generator.random() ** (1 / WEIGHT[mutant["kind"]]), reverse=True)
    return rooms, {room: max(5, round(count * sizes[room] / sizes.total())) for room in rooms}


# --- building ---------------------------------------------------------------------------------------------------------


def write(folder, originals, mutants):
    """Write the files with these mutants, if they change."""
    changed = collections.defaultdict(list)
    for mutant in mutants.values():
        changed[mutant["file"]].append(mutant)
    for name, text in originals.items():
        path, new = folder / name, text
        for mutant in sorted(changed[name], key=lambda mutant: -mutant["start"]):
            question = mutant["new"].replace("@", f"_mutant({mutant['id']})")
            new = new[: mutant["start"]] + question + new[mutant["end"] :]
        if new != text:
            begin = re.match(r'(?:[ ]*(?:#[^\n]*)?\n)*(?:r?""".*?"""[^\n]*\n)?', new, re.S).end()
            future = re.search(r"^from __future__[^\n]*\n", new, re.M)
            at = 0 if path.suffix == ".h" else future.end() if future else begin
            at = new.index("#include") if path.suffix == ".c" else at
            new = new[:at] + IMPORT[path.suffix] + new[at:]
        if path.read_text() != new:
            path.write_text(new)


def nearest(path, line):
    """Return the mutants in a line of a file, or else in the nearest line before it."""
    lines = path.read_text().splitlines()[: int(line)]
    for each in lines[: -60 if len(lines) > 60 else None : -1]:
        if found := re.findall(r"_mutant\((\d+)\)", each):
            return {int(each) for each in found}
    return set()


def wrong_syntax(folder):
    """Return the mutants that are errors of Python's syntax."""
    found = set()
    for path in folder.rglob("*.py"):
        try:
            compile(path.read_text(), path, "exec")
        except SyntaxError as error:
            found |= nearest(path, error.lineno)
    return found


def build(arguments):
    """Copy the package, plant mutants, and compile. Replace those that do not compile."""
    shutil.rmtree(BUILD, ignore_errors=True)
    for name in subprocess.check_output(["git", "ls-files", "-z"], cwd=ROOT, text=True).split("\0")[:-1]:
        if (ROOT / name).is_file() and not name.startswith(("tests/", "benchmarks/", "fuzz/")):
            (BUILD / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, BUILD / name)
    folder = BUILD / PACKAGE
    originals = {
        path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*.*") if path.suffix in IMPORT
    }
    setup = BUILD / "setup.py"
    setup.write_text(re.sub(r"-O[23s]\b", "-O1", setup.read_text()))  # compiles faster
    rooms, wanted = draw(folder, arguments.count, random.Random(arguments.seed))
    for name, text in MODULES.items():
        (folder / "_base" / name).write_text(text)
    mutants = {}
    for name, old, new, at_import in PLANTED:
        if old in originals.get(name, ""):
            text, room = originals[name], name.split("/")[0]
            start, id = text.index(old), len(mutants) + 1
            rooms[room] = [each for each in rooms[room] if each["file"] != name or abs(each["start"] - start) > 200]
            mutants[id] = {
                "id": id,
                "room": room,
                "file": name,
                "line": text.count("\n", 0, start) + 1,
                "kind": "planted",
            }
            mutants[id] |= {"start": start, "end": start + len(old), "old": old, "new": new, "import": at_import}
    last, output = len(mutants), ""
    while True:
        for room, candidates in rooms.items():
            for _ in range(wanted[room] - sum(mutant["room"] == room for mutant in mutants.values())):
                last += 1
                mutants[last] = candidates.pop(0) | {"id": last}
        write(folder, originals, mutants)
        failed = wrong_syntax(folder)
        command = [sys.executable, "setup.py", "-q", "build_ext", "--inplace"]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        done = subprocess.run(command, check=False, cwd=BUILD, text=True, **pipes)
        if done.returncode == 0 and not failed:
            break
        for file, line in re.findall(r"^(\S+\.pyx|\S+\.pxd|\S+(?=:\d+:\d+: error)):(\d+):", done.stdout, re.M):
            failed |= nearest(BUILD / file, line)
        for file, line in re.findall(r" at (\S+):(\d+):\d+:\n/usr", done.stdout):  # an error in an intrinsic function
            failed |= nearest(BUILD / file, line)
        print(f"{len(failed)} mutants do not compile:", *sorted(failed), flush=True)
        if not failed or last > MAX or done.stdout == output:
            raise SystemExit(done.stdout[-5000:])
        output = done.stdout
        mutants = {n: mutant for n, mutant in mutants.items() if n not in failed}
    (BUILD / "mutants.json").write_text(json.dumps(mutants, indent=1))
    print(len(mutants), "mutants in", BUILD)


# --- running ----------------------------------------------------------------------------------------------------------


def start(arguments, task, folder, *options, mutant=0):
    """Start the tests with the mutated package. Return the process."""
    name = Path(tempfile.mkdtemp(dir=folder))
    page = bytearray(4096)
    page[:4] = mutant.to_bytes(4, sys.byteorder)
    (name / "page").write_bytes(page)
    (name / "task.json").write_text(json.dumps(task | {"build": str(BUILD)}))
    path = os.pathsep.join([str(BUILD / "src"), str(ROOT / "tools"), os.environ.get("PYTHONPATH", "")])
    more = {"PYTHONPATH": path, "URICODEC_MUTANTS": f"{name}/page", "URICODEC_MUTANTS_TASK": f"{name}/task.json"}
    places = [Path(place).resolve() for place in arguments.tests]
    top = next(parent for parent in places[0].parents if (parent / "pyproject.toml").exists())
    command = [sys.executable, "-m", "pytest", "-q", "-p", "mutants_plugin", "-p", "no:cacheprovider", *options]
    with open(f"{name}/output", "w") as output:
        command += ["-m", arguments.marks, *map(str, places)]
        return subprocess.Popen(command, cwd=top, env=os.environ | more, stdout=output, stderr=output), name


def reach(arguments):
    """Run all tests once. Return which mutants imports, the fixtures of each file, and each test reached."""
    found = {"import": [], "files": {}, "tests": {}, "seconds": {}, "failed": []}
    with tempfile.TemporaryDirectory() as folder:
        task = {"do": "reach", "folder": folder}
        process, name = start(arguments, task, folder, "-n", str(arguments.processes), "--dist", "loadfile")
        process.wait()
        print(*[line for line in (name / "output").read_text().splitlines() if line.startswith("ERROR")][-9:], sep="\n")
        lines = [json.loads(line) for path in Path(folder).glob("*.jsonl") for line in path.open()]
        lines.append({"test": "", "mutants": [i for i, byte in enumerate((name / "page").read_bytes()[64:]) if byte]})
    for line in lines:
        if not line["test"]:
            found["import"] += line["mutants"]
        elif "seconds" not in line:
            found["files"][line["test"]] = found["files"].get(line["test"], []) + line["mutants"]
        elif line["passed"]:
            found["tests"][line["test"]], found["seconds"][line["test"]] = line["mutants"], line["seconds"]
        else:
            found["failed"].append(line["test"])
    print(len(found["tests"]), "tests; left out, because they fail without a mutant:", *found["failed"])
    return found


def judge(arguments, jobs, alone=()):
    """Do jobs in forks of one process, and those for mutants that imports reach in a process for each."""
    task = {"do": "judge", "seconds": arguments.seconds, "files": arguments.files, "processes": arguments.processes}
    with tempfile.TemporaryDirectory() as folder:

        def do(jobs, mutant=0):
            for job in jobs:
                job["output"] = f"{folder}/{job['mutant']}-{job['number']}"
            process, name = start(arguments, task | {"jobs": jobs}, folder, "-n0", "-s", mutant=mutant)
            process.wait()
            for job in jobs:
                output = Path(job["output"])
                lines = output.read_text().splitlines() if output.exists() else ["! import", "= 0"]
                job["caught"] = [line[2:] for line in lines if line.startswith("! ")]
                job["ran"] = [line[2:] for line in lines if line.startswith("> ")]
                job["end"] = "limit" if "limit" in lines else {"0": "", "-14": "time"}.get(lines[-1][2:], "crash")
                if job["end"] in ("time", "crash"):
                    job["caught"].append(job["ran"][-1])
            if mutant == 0 and any(job["caught"] == ["import"] for job in jobs):
                raise SystemExit((name / "output").read_text()[-3000:])

        if jobs:
            do(jobs)
        with concurrent.futures.ThreadPoolExecutor(arguments.processes) as pool:
            list(pool.map(lambda job: do([job], job["mutant"]), alone))


def run(arguments):
    """Find out which mutants the tests catch, and write and print it."""
    found = json.loads(Path(arguments.reach).read_text()) if arguments.reach else reach(arguments)
    mutants = list(json.loads((BUILD / "mutants.json").read_text()).values())
    mutants = [each for each in mutants if each["room"] in (arguments.room or [each["room"]])]
    mutants = [each for each in mutants if each["id"] in (arguments.id or [each["id"]])]
    unclear, flaky = mutants, set()
    while unclear:
        jobs = jobs_of(unclear, found, flaky)
        alone = [job for job in jobs if job["at import"]]
        judge(arguments, [job for job in jobs if job["tests"] and not job["at import"]], alone)
        for mutant, job in zip(unclear, jobs, strict=True):
            mutant.update(caught=job.get("caught", []), end=job.get("end", ""), ran=len(job.get("ran", [])))
        names = sorted({name for mutant in unclear for name in mutant["caught"]} - {"import"})
        controls = [{"mutant": 0, "number": i, "tests": {name: found["seconds"][name]}} for i, name in enumerate(names)]
        judge(arguments, controls)
        failed = {name for control in controls for name in control["caught"]}
        flaky |= failed
        unclear = [mutant for mutant in unclear if failed & {*mutant["caught"]}]
    for mutant in mutants:
        outcome = "not reached" if not mutant["ran"] else mutant["end"] or "survived"
        mutant["outcome"] = "caught" if mutant["caught"] else outcome
    Path(arguments.output).write_text(json.dumps(mutants, indent=1))
    report(mutants)
    print("failed without a mutant in another order, and left out:", *flaky)


def jobs_of(mutants, found, flaky):
    """Return a job for each mutant: its tests, with their durations. First come those that reach it, then those of a
    file whose fixtures do, then, if it matters at import, those of its room and all others; each time the quickest.
    """
    near = collections.defaultdict(dict)
    for name, ones in found["tests"].items():
        near_by_file = dict.fromkeys(found["files"].get(name.partition("::")[0], []), 1)
        for i, rank in (near_by_file | dict.fromkeys(ones, 0)).items():
            near[i][name] = rank
    jobs = []
    for number, mutant in enumerate(mutants):
        ranks = near[mutant["id"]]
        at_import = mutant["import"] or mutant["id"] in found["import"]
        if at_import:
            ranks = {name: 2 + (f"/{mutant['room']}/" not in name) for name in found["tests"]} | ranks
        order = sorted(ranks, key=lambda name: (ranks[name], math.frexp(found["seconds"][name])[1] // 2))
        tests = {name: found["seconds"][name] for name in order if name not in flaky}
        jobs.append({"mutant": mutant["id"], "number": number, "tests": tests, "at import": at_import})
    return jobs


def report(mutants):
    outcomes = "caught", "survived", "limit", "not reached"
    counts = collections.Counter((room, mutant["outcome"]) for mutant in mutants for room in (mutant["room"], "all"))
    print(f"{'':14}" + "".join(f"{each:>13}" for each in outcomes))
    for room in [*sorted({mutant["room"] for mutant in mutants}), "all"]:
        print(f"{room:14}" + "".join(f"{counts[room, each]:13}" for each in outcomes))
    for mutant in mutants:
        if mutant["outcome"] != "caught":
            print(f"{mutant['outcome']:12} {mutant['ran']:5} tests  {describe(mutant)}")


def describe(mutant):
    new = mutant["new"].replace("@", "MUTANT")
    return f"{mutant['id']:4} {mutant['file']}:{mutant['line']}: {mutant['old'].strip()}  ->  {new.strip()}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    command = commands.add_parser("build")
    command.add_argument("--count", type=int, default=250)
    command.add_argument("--seed", type=int, default=1)
    command.set_defaults(function=build)
    for name in "reach", "run":
        command = commands.add_parser(name)
        command.add_argument("tests", nargs="+", help="folders or files of tests")
        command.add_argument("--output", default=f"mutants-{name}.json")
        command.add_argument("--processes", type=int, default=2)
        command.add_argument("--marks", default="not long and not interop and not soak")
        command.set_defaults(function=run if name == "run" else reach)
    command.add_argument("--reach", help="what `reach` wrote; otherwise it is done first")
    command.add_argument("--room", nargs="*", help="mutants in these folders of the package")
    command.add_argument("--id", nargs="*", type=int, help="these mutants")
    command.add_argument("--files", type=int, default=1, help="go on until so many test files have caught a mutant")
    command.add_argument("--seconds", type=int, default=90, help="how long the tests of a mutant may take")
    command = commands.add_parser("show")
    command.set_defaults(
        function=lambda _: [print(describe(each)) for each in json.loads((BUILD / "mutants.json").read_text()).values()]
    )
    arguments = parser.parse_args()
    result = arguments.function(arguments)
    if arguments.function is reach:
        Path(arguments.output).write_text(json.dumps(result))
