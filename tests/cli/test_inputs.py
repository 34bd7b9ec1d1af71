"""What all commands share: values instead of files, folders, patterns, limits, samples, quiet runs, colors."""

import csv
import gzip
import io
import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.command import Text, growth, output_of, process, run
from support.tables import each_row

from uricodec._records._framing import Framing
from uricodec.cli import colors
from uricodec.cli.commands import COMMANDS
from uricodec.cli.inputs import hint_of
from uricodec.cli.outputs import RecordsOutput, Reservoir, Sample

READERS = [name for name, command in COMMANDS.items() if command.operand and command.operand.key == "files"]
BLOCKED = Path(__file__).parents[2] / "examples/blocked.txt"
LOG_LINE = '192.0.2.1 - - [31/Jan/2024:00:00:00 +0000] "GET /a HTTP/1.1" 200 5'

# A line that each command reads, what else its command line has, and what comes out for each line.
LINES = {name: ("http://a/b", [], "http://a/b\n") for name in READERS}
LINES |= {
    "encode": ("a b", [], "a%20b\n"),
    "split": ("http://a/b", ["--to", "text"], "http\ta\t\ta\t\t/b\t\t\t\t\n"),
    "hosts": ("http://a/b", [], "a\n"),
    "check": ("http://a b", [], None),
    "resolve": ("../b", ["--base", "http://a"], "http://a/b\n"),
    "query": ("http://a/b", ["--drop", "x"], "http://a/b\n"),
    "dedup": ("http://a/b", ["--kind", "uri"], "http://a/b\n"),
    "filter": ("http://a/b", ["--hosts", str(BLOCKED), "--invert"], "http://a/b\n"),
    "log": (LOG_LINE, ["--fields", "status,path", "--to", "text"], "200\t/a\n"),
}
every_reader = each_row("name", READERS)


def expected_of(name, source):
    made = LINES[name][2]
    return made or f"{source}\t1\t8\thost\thttp://a b\tinvalid character in host\n"


# --- inputs -----------------------------------------------------------------------------------------------------------


@every_reader
def test_values_instead_of_files(name):
    line, options, _ = LINES[name]
    status, output, said = run(name, *options, "--text", line)
    assert (status, output.decode(), said) == (name == "check", expected_of(name, "<text>"), "")


def test_several_values():
    assert output_of("decode", "--text", "%41", "--text=b%20c", "--text", "") == b"A\nb c\n\n"
    assert output_of("decode", "-z", "--text", "a\nb", "--text", "%41") == b"a\nb\0A\0"
    assert output_of("decode", "--text", "\udcff%41") == b"\xffA\n"
    assert output_of("dedup", "--kind", "uri", "--text", "HTTP://a", "--text", "http://a") == b"HTTP://a\n"
    for operands in ["FILE"], ["-r"]:
        status, _, said = run("decode", "--text", "a", *operands)
        assert status == 2 and said.startswith("uricodec: --text: not allowed with FILE\n")
    assert run("dedup", "--kind", "uri", "--text", "a", "--exclude", "-")[0] == 2


@every_reader
def test_inputs_follow_each_other(name, tmp_path):
    """A last line without its newline gets one if another line follows; compressed inputs and empty ones are inputs."""
    line, options, _ = LINES[name]
    files = {"a": f"{line}\n".encode(), "b": b"", "c": line.encode(), "d": gzip.compress(f"{line}\n".encode())}
    for path, data in files.items():
        (tmp_path / path).write_bytes(data)
    status, output, said = run(name, *options, *(tmp_path / path for path in files))
    made = [expected_of(name, tmp_path / path) for path in "acd"]
    assert (status, said) == (name == "check", "")
    assert output.decode() == "".join(made[:1] if name == "dedup" else made)
    assert run(name, *options, stdin=files["d"]) == run(name, *options, stdin=files["a"])
    if name != "check":  # names its input
        one, other = (run(name, *options, tmp_path / path)[1] for path in "ac")
        assert one.rstrip(b"\n") == other.rstrip(b"\n")


@every_reader
def test_nothing_gives_nothing(name, tmp_path):
    _, options, _ = LINES[name]
    (tmp_path / "empty").touch()
    (tmp_path / "empty.gz").write_bytes(gzip.compress(b""))
    for more in [], [tmp_path / "empty"], [tmp_path / "empty.gz"], [tmp_path / "empty"] * 2:
        assert run(name, *options, *more) == (0, b"", "")
    if name in {"split", "hosts", "log"}:
        assert output_of(name, "--to", "csv") == output_of(name, "--to", "csv", tmp_path / "empty") > b""


@each_row("name", [name for name in READERS if "invalid-to" in COMMANDS[name].keys])
def test_outputs_that_are_one_file_are_rejected(name, tmp_path):
    line, options, _ = LINES[name]
    path, out, link = tmp_path / "in", tmp_path / "out", tmp_path / f"link to {name}"
    path.write_bytes(f"{line}\n".encode())
    link.symlink_to(out)
    said = "uricodec: --output and --invalid-to are the same file\n\nhint: change --invalid-to FILE\n"
    for outputs in ["-o", out, "--invalid-to", out], ["-o", out, "--invalid-to", link], ["--invalid-to", "-"]:
        assert run(name, *options, *outputs) == (2, b"", said)
    assert run(name, *options, "-o", os.devnull, "--invalid-to", os.devnull)[0] == 0  # which is none
    said = "uricodec: --invalid-to and an input are the same file\n\nhint: give --invalid-to another FILE\n"
    assert run(name, *options, path, "--invalid-to", path, "-o", os.devnull) == (2, b"", said)
    assert path.read_bytes() == f"{line}\n".encode() and not out.exists()


def test_outputs_of_dedup_that_are_an_input_are_rejected(tmp_path):
    path = tmp_path / "in"
    path.write_bytes(b"urn:a1:b\nno\n")
    said = "uricodec: {0} and an input are the same file\n\nhint: give {0} another FILE\n"
    command = ["dedup", "--kind", "urn"]
    assert run(*command, path, "--groups", path, "-o", os.devnull) == (2, b"", said.format("--groups"))
    against = ["--exclude", path, "--invalid-to", path, os.devnull]
    assert run(*command, *against) == (2, b"", said.format("--invalid-to"))
    assert path.read_bytes() == b"urn:a1:b\nno\n"
    assert run("normalize", "--kind", "urn", path, "-o", path)[0] == 0  # which appears when it is complete


@every_reader
def test_folders_and_patterns(name, tmp_path):
    line, options, _ = LINES[name]
    for path in "b/2.txt", "a.txt", "b/1.txt", ".hidden", "b/.hidden":
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(f"{line}\n")
    want = {
        ("-r", tmp_path): ["a.txt", "b/1.txt", "b/2.txt"],
        (f"{tmp_path}/b/[0-9].txt",): ["b/1.txt", "b/2.txt"],
        (f"{tmp_path}/**/*.txt",): ["a.txt", "b/1.txt", "b/2.txt"],
        ("-r", f"{tmp_path}/b", f"{tmp_path}/?.txt"): ["b/1.txt", "b/2.txt", "a.txt"],
    }
    for operands, paths in want.items():
        status, output, said = run(name, *options, *operands)
        assert status == (name == "check") and said == ""
        made = [expected_of(name, tmp_path / path) for path in paths]
        assert output.decode() == "".join(made[:1] if name == "dedup" else made)
    status, output, said = run(name, *options, tmp_path)
    assert (status, output) == (3, b"")
    assert said == f"uricodec: {tmp_path}: Is a directory\n\nhint: -r reads the files in it\n"
    assert run(name, *options, f"{tmp_path}/*.gz")[::2] == (3, f"uricodec: {tmp_path}/*.gz: no file matches\n")


def test_names_with_wildcards(tmp_path):
    """A file of that name goes before a pattern."""
    (tmp_path / "[a]").write_bytes(b"1\n")
    (tmp_path / "a").write_bytes(b"2\n")
    assert output_of("decode", tmp_path / "[a]") == b"1\n"


def test_the_output_is_not_read(tmp_path):
    (tmp_path / "in").write_bytes(b"%41\n")
    for _ in range(2):
        assert output_of("decode", "-r", tmp_path, "-o", tmp_path / "out") == b""
        assert (tmp_path / "out").read_bytes() == b"A\n"
    (tmp_path / "empty").mkdir()
    assert run("decode", "-r", tmp_path / "empty")[0] == run("decode", "-r")[0] == 3


@pytest.mark.slow
@each_row(
    ("name", "looks"),
    [
        ("http://a/b?c=1&d", True),
        ("urn:isbn:1", True),
        ("mailto:a@b", True),
        ("//a/b", True),
        ("www.a.example", True),
        ("a%20b", True),
        ("it's%20", True),
        ("black & white", True),
        ("access.log", False),
        ("C:\\x", False),
        ("c:/x", False),
        ("100%", False),
        ("dir/file", False),
        ("http://a/\x1b", False),
    ],
)
def test_values_that_are_no_files(name, looks, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    status, output, said = run("decode", name)
    assert (status, output) == (3, b"") and (": No such file or directory\n" in said or ": no file matches\n" in said)
    assert ("\n\nhint: a value instead of a file: uricodec decode --text " in said) == looks == bool(hint_of("", name))
    if looks:
        line = said.partition("file: uricodec ")[2].strip()
        done = process("decode", "--text", name)
        assert done.returncode == 0
        import shlex

        assert output_of(*shlex.split(line)) == done.stdout


@every_reader
def test_marks_are_skipped(name, tmp_path):
    """A byte order mark at the start of each input."""
    line, options, _ = LINES[name]
    for i in "12":
        (tmp_path / i).write_bytes(b"\xef\xbb\xbf" + line.encode() + b"\n")
    status, output, said = run(name, *options, tmp_path / "1", tmp_path / "2")
    made = [expected_of(name, tmp_path / i) for i in "12"]
    assert (status, said) == (name == "check", "")
    assert output.decode() == "".join(made[:1] if name == "dedup" else made)


# --- limits and samples -----------------------------------------------------------------------------------------------


@pytest.mark.slow
@every_reader
@each_row("threads", [1, 3])
def test_limit(name, threads, tmp_path):
    line, options, _ = LINES[name]
    path = tmp_path / "in"
    lines = [f"{line}{i}" if name != "log" else line for i in range(1000)]
    path.write_text("\n".join(lines) + "\n")
    if name == "check":
        options = ["--kind", "urn"]
    whole = run(name, *options, path)[1].splitlines(keepends=True)
    assert len(whole) == 1000
    for most in 1, 7, 1000, 5000:
        status, output, said = run(name, *options, "--limit", most, "-j", threads, path, chunk=512)
        assert (status, output, said) == (name == "check", b"".join(whole[:most]), "")
    found = run(name, *options, "--sample", 9, "--seed", 5, path, chunk=512)[1]
    assert found == run(name, *options, "--sample", 9, "--seed", 5, "-j", threads, path, chunk=700)[1]
    assert len(found.splitlines()) == 9 and {*found.splitlines(keepends=True)} <= {*whole}
    assert run(name, *options, "--sample", 2000, path)[1] == b"".join(whole)


def test_limit_counts_records():
    data = b'id,url\n1,"a\n%41"\n2,b\n3,"c\n"\n'
    command = ["decode", "--csv", "--header", "-f", "url"]
    assert output_of(*command, "--limit", 1, stdin=data) == b'id,url\n1,"a\nA"\n'
    assert output_of(*command, "--limit", 3, stdin=data) == data.replace(b"%41", b"A")
    assert output_of(*command, "--sample", 3, stdin=data) == data.replace(b"%41", b"A")
    assert output_of("split", "--to", "csv", "--limit", 1, stdin=b"a\nb\n").count(b"\n") == 2
    assert (
        output_of("split", "--csv", "-f", "1", "-d", ";", "--to", "csv", "--limit", 1, stdin=b"a;\nb\n").count(b"\n")
        == 2
    )
    data = b"id,url\n1,http://a\n2,HTTP://a\n3,http://b\n4,http://c\n"
    command = ["dedup", "--kind", "uri", "--csv", "--header", "-f", "url"]
    assert output_of(*command, "--limit", 2, stdin=data) == b"id,url\n1,http://a\n3,http://b\n"
    assert output_of("decode", "--limit", 2, stdin=b"a\nb") == b"a\nb"
    assert output_of("decode", "-z", "--limit", 1, stdin=b"a\n\0b\0") == b"a\n\0"


@pytest.mark.parametrize("header", [[], ["--header"]])
def test_the_legend_of_an_index_is_no_record(header):
    legend, lines = b" CDX N b a\n", [b"com,%c)/ 1 http://%c.com/\n" % (each, each) for each in b"abc"]
    index, command = legend + b"".join(lines), ["dedup", "--kind", "uri", "-d", " ", "-f", "3", *header]
    assert output_of(*command, "--limit", 2, stdin=index) == legend + lines[0] + lines[1]
    assert output_of(*command, "--limit", 1, stdin=legend) == legend
    sampled = [output_of(*command, "--sample", 1, "--seed", seed, stdin=index) for seed in range(12)]
    assert {*sampled} == {legend + line for line in lines}


def test_limit_before_invalid_input():
    """What is not reached is not checked."""
    assert output_of("decode", "--errors", "raise", "--limit", 1, stdin=b"a\n%zz\n", chunk=13) == b"a\n"


def test_limit_of_columns(tmp_path):
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    for to in "arrow", "parquet":
        out = tmp_path / to
        assert output_of("log", "--to", to, "-o", out, "--limit", 3, stdin=f"{LOG_LINE}\n".encode() * 5) == b""
        if to == "arrow":
            assert pa.ipc.open_stream(out).read_all().num_rows == 3
        else:
            assert pytest.importorskip("pyarrow.parquet").read_table(out).num_rows == 3


@given(
    records=st.lists(st.binary(max_size=3).map(lambda data: data.replace(b"\n", b"")), max_size=30),
    size=st.integers(1, 12),
    cuts=st.lists(st.integers(0, 100), max_size=5),
)
def test_samples_are_records(records, size, cuts):
    """In order, each at most as often as it occurs, however the records are written."""
    data = b"".join([record + b"\n" for record in records])
    sample = Reservoir(size, 1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdout", standard := Text())
        patch.setattr(Sample, "ENOUGH", 7)
        with RecordsOutput(None, Sample(Framing("lines"), sample)) as output:
            for start, stop in zip([0, *sorted(cuts)], [*sorted(cuts), len(data)], strict=True):
                output.write(memoryview(data)[start:stop])
    numbers = [number for number, _ in sorted(sample._taken)]
    assert len(numbers) == min(size, len(records)) and numbers == sorted({*numbers})
    assert standard.buffer.getvalue() == b"".join([records[number] + b"\n" for number in numbers])
    taken = Reservoir(size, 1)
    for number in range(len(records)):
        taken.take(number)
    assert taken.items() == numbers


@pytest.mark.slow
@pytest.mark.parametrize(
    "options", [["--limit", "2"], ["--sample", "1", "--seed", "1"], ["--csv", "--max-line", "1M", "--limit", "2"]]
)
def test_memory_of_long_records(tmp_path, options):
    """One line of 40 MB, which is in a sample, too: it is written in pieces."""
    path, out = tmp_path / "in", tmp_path / "out"
    with path.open("wb") as file:
        for _ in range(40):
            file.write(b"%61b" * (1 << 18))
        file.write(b"\n\n" if "--limit" in options else b"\n")
    assert growth(["decode", *options], path, str(out)) < 16_000
    if "--csv" not in options:
        assert out.read_bytes() == b"ab" * (40 << 18) + b"\n" * (1 + ("--limit" in options))


def test_samples_are_fair():
    """Of 20 records, each is in about a half of 4000 samples of 10: the deviation has less than 5.5 sigma."""
    counts = [0] * 20
    for seed in range(4000):
        sample = Reservoir(10, seed)
        for number in range(20):
            sample.take(number)
        for number in sample.items():
            counts[number] += 1
    assert sum(counts) == 40_000
    assert all(abs(count - 2000) < 175 for count in counts), counts


def test_samples_differ():
    data = b"".join([b"%d\n" % i for i in range(1000)])
    random.seed(1)  # which is not used
    assert len({output_of("decode", "--sample", 5, stdin=data) for _ in range(4)}) == 4


# --- messages ---------------------------------------------------------------------------------------------------------


def test_quiet():
    assert run("check", "-q", "--text", "http://a b") == (1, b"", "")
    assert run("check", "--quiet", "--text", "http://a") == (0, b"", "")
    assert run("decode", "-q", "/nonexistent/a%20b") == (
        3,
        b"",
        "uricodec: /nonexistent/a%20b: No such file or directory\n",
    )
    data = f"{LOG_LINE}\n{LOG_LINE}\nx\n".encode()
    output, said = run("log", stdin=data)[1:]
    assert "not records" in said
    assert run("log", "-q", stdin=data) == (0, output, "")
    data = b"a\tb\n"
    assert run("decode", "-f", "9", stdin=data)[2] and run("decode", "-q", "-f", "9", stdin=data) == (0, data, "")
    assert json.loads(run("decode", "-q", "--stats", stdin=data)[2])["lines"] == 1


class Terminal:
    def isatty(self):
        return True


def test_colors(monkeypatch):
    for variable in "NO_COLOR", "TERM":
        monkeypatch.delenv(variable, raising=False)
    assert colors.are_shown("auto", Terminal()) and not colors.are_shown("auto", io.StringIO())
    assert not colors.are_shown("never", Terminal()) and colors.are_shown("always", None)
    monkeypatch.setenv("TERM", "dumb")
    assert not colors.are_shown("auto", Terminal())
    monkeypatch.setenv("TERM", "xterm")
    assert colors.are_shown("auto", Terminal())
    monkeypatch.setenv("NO_COLOR", "1")
    assert not colors.are_shown("auto", Terminal()) and colors.are_shown("always", None)
    assert [colors.wanted(words) for words in (["a", "--color", "never"], ["--color=always"], ["--", "--color=x"])] == [
        "never",
        "always",
        "auto",
    ]


@pytest.mark.parametrize("words", [["decode", "x y"], ["decode", "--bogus"], ["decode", "--errors", "raise"]])
def test_colors_of_messages(words):
    """They are the same text between control sequences."""
    plain, colored = (run(*words, "--color", when, stdin=b"%zz\n") for when in ("never", "always"))
    assert plain[:2] == colored[:2] and "\x1b" not in plain[2]
    assert colored[2].startswith("\x1b[1;31muricodec:\x1b[0m ")
    assert colored[2].replace("\x1b[1;31m", "").replace("\x1b[1m", "").replace("\x1b[0m", "") == plain[2]


@pytest.mark.parametrize("words", [["--help"], ["decode", "-h"], ["log", "--help"]])
def test_colors_of_help(words):
    colored = output_of(*words, "--color", "always").decode()
    for sequence in colors.BOLD, colors.CYAN:
        assert f"\x1b[{sequence}m" in colored
        colored = colored.replace(f"\x1b[{sequence}m", "")
    assert colored.replace("\x1b[0m", "") == output_of(*words).decode()


@pytest.mark.parametrize("to", ["text", "tsv", "csv", "jsonl"])
def test_one_spelling_of_outputs(to):
    """The same values, whatever the format."""
    rows = {"split": ("http://a/b", 8 * [None] + [None, None]), "check": ("http://a b", None), "log": (LOG_LINE, None)}
    for name, (line, _) in rows.items():
        output = run(name, "--to", to, "--text", line)[1].decode()
        if to == "jsonl":
            assert isinstance(json.loads(output), dict)
        else:
            found = list(csv.reader(io.StringIO(output), delimiter="," if to == "csv" else "\t"))
            assert len(found) == (1 if to == "text" else 2)
            assert len({len(each) for each in found}) == 1


LAZY = {"idna", "uuid", "zlib", "tempfile", "logging", "urllib.parse", "uricodec.parse", "argparse", "pyarrow"}


@pytest.mark.slow
@each_row(
    ("words", "absent"),
    [
        ("--version", "uricodec._io.files uricodec._codec._triplets uricodec.errors"),
        ("--help", "uricodec.dedup uricodec.uri"),
        ("info", "gzip shutil subprocess threading platform signal uricodec.cli.filters uricodec.bytesets"),
        ("decode IN", "uricodec.dedup uricodec.uri uricodec.logs uricodec.cli.templates json csv"),
        ("split IN", "uricodec.dedup uricodec.bulk uricodec.logs uricodec.urn.namespaces json csv"),
        ("normalize --kind urn IN", "json uricodec.cli.extract"),
        ("resolve --base http://a IN", "json unicodedata uricodec.urn.namespaces"),
        ("log IN", "uricodec.dedup uricodec.bulk uricodec.cli.templates"),
        ("dedup --kind uri IN", "uricodec.bulk uricodec.logs"),
        ("dedup --help", "uricodec.dedup json mmap"),
    ],
)
def test_commands_import_what_they_use(tmp_path, words, absent):
    """So that they start fast."""
    path = tmp_path / "in"
    path.write_text(f"{LOG_LINE}\n" if words.startswith("log") else "http://a/b\n")
    # The package itself looks at the name of the program.
    script = tmp_path / "uricodec"
    script.write_text(
        "import sys; sys.argv[0] = 'uricodec'; from uricodec.cli import main; main(sys.argv[1:])\n"
        "print(*sys.modules, file=sys.stderr)"
    )
    given = [str(path) if word == "IN" else word for word in words.split()]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run([sys.executable, "-S", script, *given], capture_output=True, check=True, env=environment)
    found = set(done.stderr.decode().split())
    lazy = LAZY - ({"tempfile"} if words.startswith("dedup") else set())
    assert "uricodec.cli" in found and not found & (lazy | {*absent.split()})
