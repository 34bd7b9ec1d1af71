"""What commands have of the runner: threads write the same, memory is flat, signals and failures leave nothing behind.

A property that commands share is tested here, for all of them or for one of each kind.
"""

import gzip
import os
import pathlib
import random
import resource
import runpy
import select
import signal
import subprocess
import sys
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.command import COMMAND, growth, output_to_nobody, process, run, wait_for_output
from support.marks import long
from support.tables import each_row

from uricodec._io import workers
from uricodec.cli.commands import COMMANDS as TABLE

MADE = runpy.run_path(str(pathlib.Path(__file__).parents[2] / "docs/make_cli.py"))

LINE = b"/caf%C3%A9/a%20b\t%41\n"
VALID = b"http://EXAMPLE.com/%7Ea/./b\tx\n"
COMMANDS = {
    "decode": (["decode"], LINE, b"%zz\t\xff\n"),
    "encode": (["encode"], LINE, b"\xff\t\n"),
    "requote": (["requote"], LINE, b"%zz\t\n"),
    "fields": (["decode", "-f", "2"], LINE, b"a\t%zz\n"),
    "csv": (["decode", "--csv"], b'"%2C\n",%41\n', b'"\n\n",%zz\n'),
    "json": (["decode", "--json-field", "a"], b'{"a":"%0A"}\n', b"[]\n"),
    "jsonl": (["decode", "--to=jsonl"], LINE, b"%zz\n"),
    "normalize": (["normalize", "--kind", "uri", "--production", "URI", "-f", "1"], VALID, b"%zz\n"),
    "urns": (["normalize", "--kind", "urn"], b"URN:example:a%c3%a9\n", b"urn:x\n"),
    "split": (["split", "--kind", "uri", "--to", "csv"], b"http://a/b?c\n", b"%zz:\n"),
    "hosts": (["hosts", "--to", "csv"], b"http://A/b?c\n", b"http://a@b/\n"),
    "check": (["check", "--kind", "iri"], "http://a/é\n".encode(), b"%zz\n"),
}
every_command = each_row("name", COMMANDS)


def reports(name):
    return [] if name == "check" else ["--invalid-to", "bad"]


@pytest.mark.slow
@every_command
@each_row("errors", ["keep", "null", "drop", "raise"])
def test_threads_do_not_show(tmp_path, monkeypatch, name, errors):
    """Output, reports, counts, complaint and status."""
    monkeypatch.chdir(tmp_path)
    command, line, bad = COMMANDS[name]
    options = [] if name == "check" else ["--errors", errors]
    data = b"".join(line * random.Random(i).randrange(60) + bad for i in range(30))
    pathlib.Path("one").write_bytes(data)
    pathlib.Path("two").write_bytes(line * 500 + b"\n" + data[:-1])
    results = []
    for jobs in 1, 3:
        for more in [], ["--stats", *reports(name)]:
            pathlib.Path("bad").write_bytes(b"")
            result = run(*command, *options, *more, "-j", jobs, "one", "two", chunk=256)
            results.append((result, pathlib.Path("bad").read_bytes()))
    assert results[0] == results[2]
    assert results[1] == results[3]
    assert results[0][0][0] == (1 if errors == "raise" or name == "check" else 0)


@settings(max_examples=30)
@given(
    st.lists(st.sampled_from([b"%41", b"\n", b"%zz", b"\xff", b"\t", b'"', b",", b"x" * 40, b"\r\n"]), max_size=60),
    st.sampled_from([["-f", "2"], ["--csv"], [], ["--json-field", "x"]]),
    st.sampled_from(["keep", "replace", "drop", "raise"]),
)
def test_threads_do_not_show_in_any_text(parts, options, errors):
    data = b"".join(parts)
    command = ["decode", *options, "--errors", errors]
    assert run(*command, "-j", "3", stdin=data, chunk=16) == run(*command, "-j", "1", stdin=data, chunk=16)


LOG = b'1 - - [-] "GET / HTTP/1.1" 200 5\n'
FOUND = b"<a href='http://a.example/b_(c)'>urn:ex:a</a>\n"
OTHERS = {"extract": (["extract", "--kind", "urn"], b"urn:example:a\n", b""), "log": (["log"], LOG, b"")}
BLOCKED = pathlib.Path(__file__).parents[2] / "examples/blocked.txt"
HOSTILE = {
    **COMMANDS,
    "urls": (["extract", "--kind", "uri", "--offsets"], FOUND, b"a://b"),
    "offsets": (["extract", "--kind", "urn", "--offsets"], FOUND, b"urn:ab:c%4"),
    "log": (["log", "--format", "common"], LOG, b"1 - -\n"),
    "policy": (["normalize", "--policy", "crawl"], VALID, b"%zz\n"),
    "repair": (["normalize", "--repair"], b"http://a/ b\n", b"http://a b/\n"),
    "redact": (["redact", "--csv", "-f", "1", "--errors", "keep"], b"http://u:p@h/?sig=x\n", b'"?sig=x\n'),
    "resolve": (["resolve", "--base", "http://a/b"], b"../c\n", b"%zz\n"),
    "query": (["query", "--set", "a=1", "--only", ""], b"?b#c\n", b"%zz\n"),
    "filter": (["filter", "--hosts", str(BLOCKED), "--invert"], b"//a\n", b"//x.ads.example\n"),
    "filter csv": (["filter", "--hosts", str(BLOCKED), "--csv", "-f", "1"], b"//x.ads.example,\n", b'"\n\n",a\n'),
    "web": (["check", "--kind", "web"], b"http://a/b?c\n", b"http://a@b/\n"),
    "raw": (["decode", "--raw"], LINE, b"%zz\t\xff%0A\n"),
    "nul": (["encode", "-z"], LINE, b"\xff\0\n"),
    "dedup": (["dedup", "--kind", "uri", "--count"], VALID, b"%zz\n"),
    "dedup csv": (["dedup", "--kind", "urn", "--csv", "-f", "1"], b"urn:ex:a,\n", b'"\n\n",urn:x\n'),
}


def hostile_text(line, bad, chunk, seed):
    """Lines of one byte to several chunks, of all kinds."""
    chance = random.Random(seed)
    body = line[:-1]
    kinds = [
        line,
        bad,
        b"\n",
        b"\r\n",
        body + b"\r\n",
        b"\0\n",
        b"\0",
        b"a\n",
        b"\xff\xc3\n",
        b"\xe2\x82",
        b"\x80\n",
        b"\r",
    ]
    kinds += [body * (size // len(body)) + b"\n" for size in (chunk - 1, chunk, 3 * chunk, 9 * chunk)]
    kinds += [b"x" * size + b"\n" for size in range(chunk - 3, chunk + 3)] + [b"x" * 5 * chunk, line * 40]
    return b"".join(chance.choices(kinds, k=60)) + chance.choice(
        [b"", line, body, b"\r", b"%4", b"\xc3", b"x" * 3 * chunk]
    )


@pytest.mark.slow
@each_row(("seed", "jobs", "max_line"), [(0, 2, None), (1, 5, None), (2, 3, "500")])
@each_row("name", HOSTILE)
def test_threads_do_not_show_in_hostile_input(tmp_path, name, seed, jobs, max_line):
    """Output, complaint and status: of a file, a compressed one, and standard input."""
    command, line, bad = HOSTILE[name]
    options = [] if max_line is None or command[0] == "extract" else ["--max-line", max_line]
    path, packed = tmp_path / "in", tmp_path / "in.gz"
    data = hostile_text(line, bad, 256, seed)
    path.write_bytes(data)
    packed.write_bytes(gzip.compress(data, 1))
    for inputs, stdin in ([path], b""), ([packed, path], b""), ([], data):
        results = [run(*command, *options, "-j", threads, *inputs, stdin=stdin, chunk=256) for threads in (1, jobs)]
        assert results[0] == results[1]


@pytest.mark.slow
@each_row("name", HOSTILE)
def test_several_threads_write_in_order(tmp_path, name):
    """Chunks of the size of a real run."""
    command, line, bad = HOSTILE[name]
    path = tmp_path / "in"
    body = line[:-1]
    path.write_bytes(b"".join((body + b"%d" % i + line[-1:]) for i in range(30_000)) + bad)
    results = [run(*command, "-j", jobs, path) for jobs in (1, 2)]
    assert results[0] == results[1]


def test_a_failure_of_a_later_input_comes_last(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(LINE * 100)
    status, output, said = run("decode", "-j", "3", path, tmp_path / "b", chunk=64)
    assert (status, output.count(b"\n")) == (3, 100)
    assert said == f"uricodec: {tmp_path / 'b'}: No such file or directory\n"


def test_threads_by_default(tmp_path, monkeypatch):
    monkeypatch.setattr(workers, "idle_cores", lambda: 7)
    large, small = tmp_path / "large", tmp_path / "small"
    small.write_bytes(b"a")
    with open(large, "wb") as file:
        file.truncate(workers.WORTH)
    assert workers.threads_for([str(large)]) == workers.threads_for([str(small), str(large)]) == 7
    assert workers.threads_for([str(small)]) == workers.threads_for([str(large), os.devnull]) == 1
    assert workers.threads_for([str(large), str(tmp_path / "none")]) == workers.threads_for([str(large), "\0"]) == 1
    monkeypatch.undo()
    assert workers.cores() >= 1
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)  # as on macOS and Windows
    monkeypatch.setattr(os, "cpu_count", lambda: 5)
    assert workers.cores() == 5
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert workers.cores() == 1


def test_idle_cores(tmp_path, monkeypatch):
    about = tmp_path / "loadavg"
    monkeypatch.setattr(workers, "LOAD", about)
    monkeypatch.setattr(workers, "cores", lambda: 4)
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    for running, idle in (1, 4), (5, 4), (6, 3), (8, 1), (9, 1), (50, 1):
        about.write_text(f"0.00 9.00 0.00 {running}/134 9876\n")
        assert workers.idle_cores() == idle
    for other in "0.00\n", "0.00 0.00 0.00 a/b 1\n":
        about.write_text(other)
        assert workers.idle_cores() == 4
    about.unlink()
    assert workers.idle_cores() == 4


@pytest.mark.slow
@each_row(("name", "jobs"), [("decode", "1"), ("fields", "4"), ("urns", "2"), ("extract", "2")])
def test_lines_of_a_slow_pipe_are_written_as_they_come(name, jobs):
    command, line, _ = {**COMMANDS, **OTHERS}[name]
    with subprocess.Popen(
        [*COMMAND, *command, "-j", jobs], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
    ) as child:
        for _ in range(9):
            child.stdin.write(line)
            assert select.select([child.stdout], [], [], 20)[0] and child.stdout.readline().endswith(b"\n")
        child.stdin.close()
        assert child.stdout.read() == b""


# More commands, a line of each, and what lines of any length are made of.
MEMORY = {name: (command, line + bad, b"%C3%A9") for name, (command, line, bad) in COMMANDS.items()}
MEMORY |= {
    "decode": (["decode", "--stats"], LINE, b"%E6%9D%B1"),
    "encode": (["encode", "--invalid-to", "bad"], LINE, b"\xff"),
    "requote": (["requote", "--stats"], LINE, b"%zz"),
    "resolve": (["resolve", "--base", "http://a/b"], b"../c\n", b"../"),
    "encode iri": (["encode", "--iri"], "http://a/é\n".encode(), "é".encode()),
    "decode iri": (["decode", "--iri"], b"http://a/%C3%A9\n", b"%C3%A9"),
    "drop": (["normalize", "--kind", "urn", "--errors", "drop"], b"urn:x\n", b"urn:isbn:0395363411"),
    "extract": (["extract", "--kind", "urn", "--offsets"], b"urn:example:a\n", b"urn:isbn:0395363411"),
    "log": (["log"], LOG, b"x"),
}
WHOLE = {"--csv", "--json-field", "-f", "--to=jsonl", "split", "hosts", "check", "normalize", "resolve", "--iri", "log"}
FEW = {"decode", "csv", "split", "drop", "extract", "log"}  # one of each kind


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="asks /proc")
@pytest.mark.parametrize("names", [FEW, *long(MEMORY.keys() - FEW)], ids=["few", "others"])
@pytest.mark.process
def test_memory_is_flat(tmp_path, monkeypatch, names):
    """Ten megabytes of lines, and a line of 40: two threads have up to 8 MB of buffers each."""
    monkeypatch.chdir(tmp_path)
    for name in sorted(names):
        command, line, unit = MEMORY[name]
        with open("long", "wb") as file:
            for _ in range(10):
                file.write(line * (1_000_000 // len(line)))
            for _ in range(40):
                file.write(unit * (1_000_000 // len(unit)))
        most = ["--max-line", "1M"] if WHOLE & {*command} else []
        assert growth([*command, *most, "-j", "2"], "long", "out") < 32_000, name


# --- killed, full, closed ---------------------------------------------------------------------------------------------

HARD_LINE = b"a://caf%C3%A9/a%20b\t%41\n"
HARD = {"lines": ["decode", "-j", "3", "--to=jsonl"], "extract": ["extract", "--kind", "uri", "-j", "3"]}
every_hard = pytest.mark.parametrize("command", HARD.values(), ids=HARD)


@pytest.mark.slow
@every_hard
def test_killed_at_any_moment(tmp_path, command):
    """The output is there as a whole, or as it was before."""
    path, out = tmp_path / "in", tmp_path / "out"
    path.write_bytes(HARD_LINE * 200_000)
    whole = process(*command, path).stdout
    chance = random.Random(7)
    for _ in range(8):
        out.write_bytes(b"before")
        child = subprocess.Popen([*COMMAND, *command, path, "-o", out])
        time.sleep(chance.uniform(0.0, 0.25))
        child.send_signal(signal.SIGKILL)
        child.wait()
        assert out.read_bytes() in (b"before", whole)


@pytest.mark.slow
@every_hard
def test_interrupted_threads_leave_nothing(tmp_path, command):
    path, out = tmp_path / "in", tmp_path / "out"
    path.write_bytes(HARD_LINE * 400_000)
    for number in signal.SIGTERM, signal.SIGINT:
        child = subprocess.Popen(
            [*COMMAND, *command, path, "-", "-o", out], stdin=subprocess.PIPE, stderr=subprocess.PIPE
        )
        wait_for_output(out)
        time.sleep(0.3)
        child.send_signal(number)
        child.stdin.close()
        assert child.wait() == 128 + number
        assert child.stderr.read() == b""
        child.stderr.close()
        assert [each.name for each in tmp_path.iterdir()] == ["in"]


def limit_file_size():
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))


@pytest.mark.slow
@every_hard
def test_a_file_size_limit_leaves_nothing(tmp_path, command):
    path, out, bad = tmp_path / "in", tmp_path / "out", tmp_path / "bad"
    path.write_bytes(HARD_LINE * 100_000)
    done = process(*command, path, "-o", out, preexec_fn=limit_file_size)
    assert (done.returncode, done.stdout) == (3, b"")
    assert done.stderr.decode() == f"uricodec: {out}: File too large\n"
    assert os.listdir(tmp_path) == ["in"]
    if command != HARD["extract"]:
        path.write_bytes(b"%zz\n" * 100_000)
        done = process(*command, "--invalid-to", bad, "--errors", "drop", path, "-o", out, preexec_fn=limit_file_size)
        assert (done.returncode, done.stderr.decode()) == (3, f"uricodec: {bad}: File too large\n")
        assert os.listdir(tmp_path) == ["in"]


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
def test_a_full_disk_is_reported(tmp_path):
    (tmp_path / "in").write_bytes(HARD_LINE * 10_000)
    for words in *HARD.values(), ["info"], ["--help"], ["--version"]:
        with open("/dev/full", "wb") as full, open(tmp_path / "in", "rb") as source:
            done = subprocess.run([*COMMAND, *words], stdin=source, stdout=full, stderr=subprocess.PIPE, check=False)
        assert (done.returncode, done.stderr) == (3, b"uricodec: <stdout>: No space left on device\n")
    said = "uricodec: /dev/full: No space left on device\n"
    assert run("decode", tmp_path / "in", "-o", "/dev/full") == (3, b"", said)


def test_a_pipe_to_head_is_quiet(tmp_path):
    path = tmp_path / "in"
    path.write_bytes(HARD_LINE * 100_000)
    for command in HARD.values():
        shell = f"{' '.join([*COMMAND, *command])} {path} | head -n 1"
        done = subprocess.run(["sh", "-c", shell], capture_output=True, check=True, timeout=60)
        assert done.stdout.count(b"\n") == 1 and done.stderr == b""


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/dev/fd/2"), reason="no /dev/fd")
def test_files_behind_descriptors_stay_files(tmp_path):
    """What others have written to a file, or write to it later, stays there."""
    path = tmp_path / "out"
    for mode in "wb", "ab":
        for name in "/dev/stdout", "/proc/self/fd/1":
            path.write_bytes(b"")
            with open(path, mode) as out:
                out.write(b"before\n")
                out.flush()
                arguments = ["decode", "--invalid-to", name, "-o", name]
                subprocess.run([*COMMAND, *arguments], input=b"%41\n%zz\n", stdout=out, check=True, timeout=60)
                out.write(b"after\n")
            lines = path.read_bytes().splitlines()
            assert lines[0] == b"before" and lines[-1] == b"after"
            assert sorted(lines[1:-1]) == sorted([b"A", b"%zz", b"<stdin>\t2\t0\tpercent\t%zz"])
    with open(path, "wb") as errors:
        arguments = ["decode", "--stats", "--invalid-to", "/dev/stderr", "-o", os.devnull]
        subprocess.run([*COMMAND, *arguments], input=b"%zz\n", stderr=errors, check=True, timeout=60)
    assert b"percent" in path.read_bytes() and b'"invalid"' in path.read_bytes()
    assert process("decode", "-o", "/dev/fd/77", input=b"a").returncode == 3


@pytest.mark.skipif(not os.path.exists("/dev/stdout"), reason="no /dev/stdout")
def test_a_pipe_without_a_name_of_its_own():
    done = process("decode", "--invalid-to", "/dev/stdout", "-o", "/dev/stderr", input=b"%41\n%zz\n")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"<stdin>\t2\t0\tpercent\t%zz\n", b"A\n%zz\n")


# --- an input that is the output --------------------------------------------------------------------------------------


def run_into(path, mode, *arguments, **options):
    """Run a command whose output goes to a file. Returns the exit status, and what it says."""
    with open(path, mode) as output:
        done = subprocess.run([*COMMAND, *map(str, arguments)], stdout=output, stderr=subprocess.PIPE, check=False,
                              timeout=120, preexec_fn=limit_file_size, **options)  # fmt: skip
    return done.returncode, done.stderr.decode()


@pytest.mark.slow
@each_row("name", ["split", "check", "extract"])
def test_an_input_that_its_own_output_follows(tmp_path, name):
    """It would never end."""
    path = tmp_path / "s"
    command, line, bad = {**COMMANDS, **OTHERS}[name]
    path.write_bytes(line + bad)
    complaint = "uricodec: {}: input file is output file\n"
    assert run_into(path, "ab", *command, path) == (3, complaint.format(path))
    with path.open("rb") as source:
        assert run_into(path, "ab", *command, stdin=source) == (3, complaint.format("<stdin>"))
    header = path.read_bytes()[len(line + bad) :]
    assert header.count(b"\n") == (2 if name in {"split", "hosts"} else 0)
    other = tmp_path / "other"
    other.write_bytes(line)
    assert run_into(path, "wb", *command, other, path) == ((3, complaint.format(path)) if name != "check" else (0, ""))


@pytest.mark.slow
def test_an_output_that_an_input_does_not_follow(tmp_path):
    path = tmp_path / "s"
    path.write_bytes(b"%41\n%42\n")
    assert run_into(path, "r+b", "decode", path) == (0, "")  # over what has been read
    assert path.read_bytes() == b"A\nB\n%42\n"
    path.write_bytes(b"%41\n")
    assert run_into(path, "ab", "decode", "-o", tmp_path / "t", path) == (0, "")
    assert run_into(path, "ab", "decode", "-o", path, path) == (0, "")
    assert path.read_bytes() == b"A\n"
    assert run_into(path, "wb", "decode", path) == (0, "")
    assert path.read_bytes() == b""
    path.write_bytes(b"%41\n")
    with path.open("rb") as source:
        source.seek(4)
        assert run_into(path, "ab", "decode", stdin=source) == (0, "")  # there is nothing more to read


# --- how every command ends -------------------------------------------------------------------------------------------

LOG = b'192.0.2.1 - - [31/Jan/2024:00:00:00 +0000] "GET /a HTTP/1.1" 200 5\n'
READERS = {name: [name] for name, command in TABLE.items() if command.operand and command.operand.key == "files"} | {
    "resolve": ["resolve", "--base", "http://a/"],
    "query": ["query", "--drop", "a"],
    "dedup": ["dedup", "--kind", "uri"],
    "filter": ["filter", "--hosts", str(BLOCKED), "--invert"],
    "count": ["hosts", "--count"],
    "get": ["split", "--get", "{host}"],
    "limit": ["decode", "--limit", "1000000000"],
    "sample": ["decode", "--sample", "10"],
}
every_reader = each_row("name", READERS)
STATUS = {what: status for what, status, _, _ in MADE["ENDINGS"]}


def words_of(name):
    return [*COMMAND, *READERS[name]]


def data_of(name):
    return LOG if name == "log" else b"http://a b\n" if name == "check" else b"http://a/b\n"


def ending(word):
    """The exit status in the table of the one row with a word."""
    [status] = [status for what, status in STATUS.items() if word in what]
    return status


SIGNALS = [("decode", signal.SIGINT), ("decode", signal.SIGHUP), ("decode", signal.SIGTERM), ("limit", signal.SIGINT)]
SIGNALS += [("dedup", signal.SIGINT), ("dedup", signal.SIGTERM), ("log", signal.SIGINT), ("extract", signal.SIGTERM)]


@pytest.mark.slow
@each_row(("name", "number"), SIGNALS)
def test_signals_end_commands(tmp_path, name, number):
    """Nothing is said, and the file of --output stays what it was."""
    out = tmp_path / "out"
    out.write_bytes(b"before")
    with subprocess.Popen(
        [*words_of(name), "-o", str(out)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as child:
        child.stdin.write(data_of(name) * 20_000)
        child.stdin.flush()  # when that has been read, it waits for more
        child.send_signal(number)
        said, complaint = child.communicate(timeout=60)
    want = ending("SIGINT") if number == signal.SIGINT else 128 + number
    assert number == signal.SIGINT or str(want) in ending("SIGTERM")
    assert (child.returncode, said, complaint) == (want, b"", b"")
    assert out.read_bytes() == b"before" and os.listdir(tmp_path) == ["out"]


@pytest.mark.slow
@each_row("name", [*READERS, "info", "--help", "decode --help"])
def test_closed_pipes_end_every_command(name):
    words, data = (READERS[name], data_of(name) * 20_000) if name in READERS else (name.split(), b"")
    done = output_to_nobody(*words, input=data)
    assert (done.returncode, done.stderr) == (ending("pipe"), b"")


@every_reader
def test_failures_end_every_command(tmp_path, name):
    """What was there before stays, and nothing half-written does."""
    out, missing, good = tmp_path / "out", tmp_path / "missing", tmp_path / "good"
    out.write_bytes(b"before")
    good.write_bytes(data_of(name))
    flags = {option.flag for option in TABLE[READERS[name][0]].options}
    reports = "--invalid-to" in flags and name != "log"  # which says there why it has failed
    outputs = ["-o", out, *(["--invalid-to", tmp_path / "bad"] if reports else [])]
    inputs = [missing] if name == "log" else [good, missing]
    status, output, said = run(*READERS[name], *inputs, *outputs)
    assert (status, output) == (ending("cannot be read"), b"")
    assert said == f"uricodec: {missing}: No such file or directory\n"
    status, output, said = run(*READERS[name], "--max-line", "x", *outputs)
    assert (status, output) == (ending("command line"), b"") and said.startswith("uricodec: ")
    if "--errors" in flags and name not in {"redact", "dedup"}:  # to which every line is valid
        status, output, said = run(*READERS[name], "--errors", "raise", *outputs, stdin=b"x%zz\xff\n")
        assert (status, output) == (ending("invalid input"), b"") and said
    assert out.read_bytes() == b"before" and sorted(os.listdir(tmp_path)) == ["good", "out"]


@every_reader
def test_successes_have_status_0(tmp_path, name):
    out = tmp_path / "out"
    status, output, said = run(*READERS[name], "-o", out, stdin=data_of(name))
    assert (status, output, said) == (ending("invalid input") if name == "check" else ending("succeeds"), b"", "")
    assert out.read_bytes()
