"""The command line: what every option writes, to the octet, and how a process behaves when things go wrong."""

import gzip
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.command import COMMAND, HINT, growth, output_of, process, run
from support.marks import long
from support.tables import each_row

import uricodec
from uricodec._codec._rows import NO_CONTROL, DecodeRows, EncodeRows
from uricodec._io import compress, magic, meter
from uricodec._io.reading import safe_cut
from uricodec._rows._tasks import transform_lines
from uricodec.bytesets import RFC3986_UNRESERVED
from uricodec.cli import filters, main
from uricodec.cli.commands import COMMANDS

EXAMPLE = pathlib.Path(__file__).parents[2] / "examples" / "access.log"

# Lines in which a cut at the wrong place shows.
INTERESTING = [
    b"caf%C3%A9 na%c3%afve",
    b"%E6%9D%B1%E4%BA%AC%F0%9F%8D%B5%F0%9F%8D%9C",
    "東京".encode() + b"\xf0\x9f\x8d%B5\xe6%9D%B1%E4\xba%AC",
    b"%%41%4%zz%%%C3%%A9%E6%9D%F0%9F%8D%80%80%80%80%80",
    b"a%0Ab%0D%0A%00%1B%7F%C2%85%C2%9B%C2%A0%09",
    b"%c0%ae%ED%A0%80%F4%90%80%80%FF\xff\xc3",
    b"a\rb\r\r\n\r\n\n\r",
    b"%F0%9F%8D%B5" * 12 + b"%F0%9F%8D",
    b"a+b%2Bc%20d e/f~g%252e%25%34%31",
]

ROOT = Path(__file__).parents[2]


def is_plain(data):
    """Not what the command takes for compressed."""
    return magic.format_of(data) is None


LINES = (
    st.lists(
        st.one_of(
            st.binary(max_size=6),
            st.sampled_from(
                [b"%", b"%4", b"%0A", b"%0d", b"%C3%A9", b"%C3", b"%A9", b"%F0%9F%8D%B5", b"%F0", b"\n", b"\r\n"]
            ),
            st.sampled_from(
                [b"\r", b"+", b"%C2%85", b"\xc3\xa9", b"%E6%9D%B1", "東".encode(), b"%zz", b"%00", b"%7F", b"abc"]
            ),
        ),
        max_size=30,
    )
    .map(b"".join)
    .filter(is_plain)
)


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "paths.log"
    path.write_bytes(b"/caf%C3%A9\n/a%20b\n")
    return path


# --- decode: every option ---------------------------------------------------------------------------------------------


@each_row(
    ("options", "line", "expected"),
    [
        ([], b"caf%C3%A9 a+b %2B", b"caf\xc3\xa9 a+b +"),
        ([], b"%2525 %%341 %25%34%31 %u0041", b"%25 %41 %41 %u0041"),
        ([], b"%0A%0D%00%1B%7F%09 %C2%80%C2%85%C2%9F %C2%A0", b"%0A%0D%00%1B%7F%09 %C2%80%C2%85%C2%9F \xc2\xa0"),
        ([], b"100% %zz %4 %FF %c0%ae %ED%A0%80 %E6%9D", b"100% %zz %4 %FF %c0%ae %ED%A0%80 %E6%9D"),
        ([], b"\x1b[0m \xff", b"\x1b[0m \xff"),
        (["--plus"], b"a+b%2Bc", b"a b+c"),
        (["--errors", "keep"], b"%zz%FF%41", b"%zz%FFA"),
        (["--errors", "replace"], b"%zz%FF%41%0A\xff", b"\xef\xbf\xbdzz\xef\xbf\xbdA%0A\xef\xbf\xbd"),
        (["--errors", "raise"], b"%41%0A", b"A%0A"),
        (["--raw"], b"%0A%00%1B%FF%zz%C3%A9", b"\n\0\x1b\xff%zz\xc3\xa9"),
        (["--raw", "--errors", "replace"], b"%FF%zz", b"\xff\xef\xbf\xbdzz"),
        (["--raw", "--plus"], b"%2B+%0D", b"+ \r"),
    ],
)
def test_decode(options, line, expected):
    assert output_of("decode", *options, stdin=line + b"\n") == expected + b"\n"


def test_controls_stay_encoded():
    for octet in *range(0x20), 0x7F:
        line = b"a%%%02xb%%%02X\n" % (octet, octet)
        assert output_of("decode", stdin=line) == line
    for octet in range(0x80, 0xA0):
        line = b"a%%C2%%%02Xb \xc2%%%02x c\n" % (octet, octet)
        assert output_of("decode", stdin=line) == line


@pytest.mark.slow
@given(LINES)
def test_a_line_stays_a_line(data):
    for options in [], ["--plus"], ["--errors", "replace"]:
        assert output_of("decode", *options, stdin=data).count(b"\n") == data.count(b"\n")
        assert output_of("encode", *options, stdin=data).count(b"\n") == data.count(b"\n")


@given(LINES)
def test_decoding_brings_no_control(data):
    allowed = {octet for octet in data if octet < 0x20 or octet == 0x7F}
    assert {octet for octet in output_of("decode", stdin=data) if octet < 0x20 or octet == 0x7F} <= allowed


# --- encode: every option ---------------------------------------------------------------------------------------------


@each_row(
    ("options", "line", "expected"),
    [
        ([], b"/a b/~c-d_e.f?g=h&\xc3\xa9", b"/a%20b/~c-d_e.f%3Fg%3Dh%26%C3%A9"),
        ([], b"%41 100%", b"%2541%20100%25"),
        ([], b"\0\t\x1b\x7f\xff", b"%00%09%1B%7F%FF"),
        ([], b"a\rb\r\r", b"a%0Db%0D\r"),
        (["--plus"], b"a b+c", b"a+b%2Bc"),
        (["--safe", ""], b"/a", b"%2Fa"),
        (["--safe", "?&="], b"/?a=b&c", b"%2F?a=b&c"),
        (["--safe", "/%"], b"/%41 ", b"/%41%20"),
        (["--errors", "keep"], b"\xffa", b"%FFa"),
        (["--errors", "replace"], b"\xffa\xe6\x9d \xc3\xa9", b"%EF%BF%BDa%EF%BF%BD%20%C3%A9"),
        (["--errors", "replace"], b"\xff" * 4000, b"%EF%BF%BD" * 4000),
        (["--errors", "raise"], "é".encode(), b"%C3%A9"),
    ],
)
def test_encode(options, line, expected):
    assert output_of("encode", *options, stdin=line + b"\n") == expected + b"\n"


@given(st.lists(st.binary().map(lambda line: line.replace(b"\n", b"").rstrip(b"\r"))).map(b"\n".join).filter(is_plain))
def test_round_trip(data):
    assert output_of("decode", "--raw", stdin=output_of("encode", stdin=data)) == data


# --- streams of lines -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
@pytest.mark.parametrize("last", [True, False], ids=["ended", "unended"])
def test_ends_of_lines_stay(end, last):
    lines = end.join([b"a b", b"", b"c", b"d e"]) + last * end
    assert output_of("encode", stdin=lines) == lines.replace(b" ", b"%20")
    assert output_of("decode", stdin=lines.replace(b" ", b"%20")) == lines


def convert_at_once(command, errors, data):
    """What the core makes of all octets in one call."""
    rows = DecodeRows(decodable=NO_CONTROL) if command == "decode" else EncodeRows(RFC3986_UNRESERVED | "/\n")
    buffer = bytearray(rows.capacity(len(data)))
    read, found = transform_lines(data, buffer, rows, b"\n", errors, 0)
    assert read == len(data)
    return bytes(buffer[: found.written])


@pytest.mark.slow
@each_row("command", ["decode", "encode"])
@each_row("errors", ["keep", "replace"])
@each_row("line", INTERESTING)
def test_chunks_end_anywhere(command, errors, line):
    """Pieces of lines longer than the buffer give what the whole line gives, wherever the buffer ends."""
    for chunk in 13, 16:
        for shift in range(chunk):
            data = b"x" * shift + line + b"\n" + line + line
            result = output_of(command, "--errors", errors, stdin=data, chunk=chunk)
            assert result == convert_at_once(command, errors, data), (chunk, shift)


@given(LINES, st.integers(13, 64), st.sampled_from(["keep", "replace"]), st.sampled_from(["decode", "encode"]))
def test_chunks_do_not_show(data, chunk, errors, command):
    assert output_of(command, "--errors", errors, stdin=data, chunk=chunk) == convert_at_once(command, errors, data)


@given(LINES, st.integers(13, 64), st.sampled_from(["decode", "encode"]))
def test_a_fault_is_found_where_it_is(data, chunk, command):
    """With small chunks and with large ones; and what was written is what comes before the line of the fault."""
    status, output, complaint = run(command, "--errors", "raise", stdin=data)
    assert run(command, "--errors", "raise", stdin=data, chunk=chunk)[::2] == (status, complaint)
    if status:
        assert status == 1
        place, offset = complaint.split(" (byte ")
        offset = int(offset.split(")")[0])
        start = data.rfind(b"\n", 0, offset) + 1
        line = data.count(b"\n", 0, offset) + 1
        assert place == f"uricodec: <stdin>:{line}:{offset - start + 1}"
        assert output == convert_at_once(command, "keep", data[:start])
    else:
        assert output == convert_at_once(command, "keep", data)


@given(
    st.lists(
        st.sampled_from([b"%", b"4", b"E", b"%E6", b"%9D", b"\xe6", b"\x9d", b"\r", b"z"]), min_size=12, max_size=20
    )
)
def test_a_cut_is_never_far_from_the_end(units):
    data = bytearray(b"".join(units))
    assert len(data) - 11 <= safe_cut(data, len(data)) <= len(data)


@pytest.mark.parametrize("errors", ["keep", "replace", "raise"])
def test_an_encoding_is_that_of_a_whole_line(errors):
    long = "a" * 100_000
    source = f"%C3%A9{long}%E9\n%C3%A9{long}".encode()
    status, made, _ = run("decode", "--encoding", "latin-1", "--errors", errors, stdin=source, chunk=99)
    assert (status, made.decode()) == (0, f"Ã©{long}é\né{long}")


def test_inputs_follow_each_other(tmp_path):
    for name, data in (("a", b"1%20"), ("b", b""), ("c", b"2\n"), ("d", b"3")):
        (tmp_path / name).write_bytes(data)
    files = [tmp_path / name for name in "abcd"]
    # A last line without its newline gets one when another line follows.
    assert output_of("decode", *files) == b"1 \n2\n3"
    assert output_of("decode", files[0], "-", files[3], stdin=b"%41") == b"1 \nA\n3"
    assert output_of("decode", "-", stdin=b"%41\n") == b"A\n"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["paths.gz", "paths.log"])
def test_gzip_is_known_by_its_content(tmp_path, name):
    path = tmp_path / name
    data = b"/caf%C3%A9\n" * 50_000
    path.write_bytes(gzip.compress(data[:30_001]) + gzip.compress(b"") + gzip.compress(data[30_001:]) + bytes(100))
    expected = "/café\n".encode() * 50_000
    assert output_of("decode", path) == output_of("decode", stdin=path.read_bytes()) == expected
    assert output_of("decode", path, chunk=16) == expected
    plain = tmp_path / "plain.gz"
    plain.write_bytes(b"%41\n")
    assert output_of("decode", plain) == b"A\n"
    assert output_of("decode", stdin=b"\x1f") == b"\x1f"


@pytest.mark.parametrize("compressed_chunk", [1, 7, 64])
def test_gzip_in_small_pieces(monkeypatch, compressed_chunk):
    monkeypatch.setattr(compress, "COMPRESSED_CHUNK", compressed_chunk)
    data = gzip.compress(b"%41\n" * 999) + bytes(9) + gzip.compress(b"%42\n" * 9) + bytes(9)
    assert output_of("decode", stdin=data, chunk=13) == b"A\n" * 999 + b"B\n" * 9


def test_damaged_gzip(tmp_path):
    whole = gzip.compress(b"".join(b"/line%%20%d\n" % i for i in range(50_000)))
    path = tmp_path / "x.gz"
    for size in (2, 9, 18, len(whole) // 2, len(whole) - 8, len(whole) - 1):
        path.write_bytes(whole[:size])
        status, output, complaint = run("decode", path)
        assert status == 3 and complaint.startswith(f"uricodec: {path}: truncated gzip data (after ")
        assert not output or output.endswith(b"\n")
    for bad in (
        whole[:200] + bytes(50) + whole[250:],
        whole[:-8] + bytes(8),
        whole + b"tail",
        b"\x1f\x8b\x07\0" + bytes(9),
    ):
        path.write_bytes(bad)
        status, _, complaint = run("decode", path)
        assert status == 3
        assert complaint.startswith(f"uricodec: {path}: damaged gzip data (")
        assert complaint.count("\n") == 1


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="asks /proc")
@pytest.mark.parametrize(
    ("command", "line"),
    [
        *long(("encode --errors null --stats", b"\xff" * 8_000_000)),
        ("encode --json-field a", b'{"a":"' + "\u00e9".encode() * 4_000_000 + b'"}'),
        ("decode --to=jsonl", b"%01" * 2_666_666),
        *long(("encode --errors null", b"\xff" * 8_000_000), ("decode --to=jsonl", "\u00e9".encode() * 4_000_000)),
    ],
)
def test_memory_of_a_line_that_is_read_as_a_whole(tmp_path, command, line):
    """It is at most eight times the line, and what the allocator keeps; twenty times if the line is shown."""
    path = tmp_path / "long"
    path.write_bytes(line + b"\n")
    assert growth(command.split(), path, tmp_path / "out") < 10 * 8_000
    if "null" in command:
        assert growth([*command.split(), "--invalid-to", tmp_path / "bad"], path, tmp_path / "out") < 20 * 8_000


@pytest.mark.slow
@pytest.mark.process
def test_the_memory_of_a_gzip_bomb_is_flat():
    block = gzip.compress(bytes(10_000_000))
    code = f"import resource; resource.setrlimit(resource.RLIMIT_AS, ({1 << 30}, {1 << 30}))\n"
    code += "import sys; from uricodec.cli import main; sys.exit(main(['decode', '-o', '/dev/null']))"
    result = subprocess.run(
        [sys.executable, "-c", code], input=block * 20, capture_output=True, check=False, timeout=120
    )
    assert (result.returncode, result.stderr) == (0, b"")


# --- -o ---------------------------------------------------------------------------------------------------------------


def test_output_file(log, tmp_path):
    out = tmp_path / "out"
    assert output_of("decode", log, "-o", out) == b""
    assert out.read_bytes() == "/café\n/a b\n".encode()
    assert out.stat().st_mode & 0o777 == 0o666 & ~umask()
    assert output_of("decode", log, "--output", "-") == "/café\n/a b\n".encode()
    assert sorted(os.listdir(tmp_path)) == ["out", "paths.log"]


def umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_output_may_be_an_input(log, tmp_path):
    log.chmod(0o640)
    link = tmp_path / "link"
    link.symlink_to(log)
    assert output_of("decode", log, "-o", link) == b""
    assert log.read_bytes() == "/café\n/a b\n".encode()
    assert log.stat().st_mode & 0o777 == 0o640
    assert link.is_symlink()


@pytest.mark.parametrize("arguments", [["missing"], [], ["--errors", "raise", "bad"], ["bad.gz"]])
def test_a_failure_leaves_nothing_behind(log, tmp_path, arguments):
    (tmp_path / "bad").write_bytes(b"%zz\n")
    (tmp_path / "bad.gz").write_bytes(gzip.compress(b"x" * 100)[:-1])
    before = sorted(os.listdir(tmp_path))
    arguments = [tmp_path / a if a in ("missing", "bad", "bad.gz") else a for a in arguments] or [tmp_path]
    for out in tmp_path / "new", log:
        status, output, complaint = run("decode", log, *arguments, "-o", out)
        assert status == (1 if "--errors" in arguments else 3)
        assert output == b""
        assert complaint.removesuffix(HINT).removesuffix("\nhint: -r reads the files in it\n").count("\n") == 1
        assert sorted(os.listdir(tmp_path)) == before
    assert log.read_bytes() == b"/caf%C3%A9\n/a%20b\n"


def test_output_that_cannot_be_written(log, tmp_path):
    assert run("decode", log, "-o", tmp_path) == (3, b"", f"uricodec: {tmp_path}: Is a directory\n")
    nowhere = tmp_path / "no" / "out"
    assert run("decode", log, "-o", nowhere) == (3, b"", f"uricodec: {nowhere}: No such file or directory\n")
    if os.geteuid():
        log.chmod(0o444)
        assert run("decode", log, "-o", log) == (3, b"", f"uricodec: {log}: Permission denied\n")
        tmp_path.chmod(0o555)
        try:
            assert run("decode", log, "-o", tmp_path / "new")[::2] == (
                3,
                f"uricodec: {tmp_path}/new: Permission denied\n",
            )
        finally:
            tmp_path.chmod(0o755)


def test_a_device_is_written_to_as_it_is(log):
    assert output_of("decode", log, "-o", "/dev/null") == b""
    assert not os.path.isfile("/dev/null")


def test_a_named_pipe_is_written_to_as_it_is(log, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen([*COMMAND, "decode", log, "-o", pipe]) as child:
        assert pipe.read_bytes() == "/café\n/a b\n".encode()
    assert child.returncode == 0


INTERRUPTED = """
import os, signal, sys
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == {name!r}:
            os.kill(os.getpid(), signal.SIGINT)
            for _ in range(1000):  # bytecode, between which Python raises KeyboardInterrupt
                pass
sys.meta_path.insert(0, Finder())
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.argv = ["uricodec", "info"]
from uricodec.cli import main
sys.exit(main())
"""


@pytest.mark.skipif(os.name == "nt", reason="other signals")
@pytest.mark.parametrize("name", ["uricodec.cli.program", "uricodec._io.files", "uricodec.cli.errors"])
def test_an_interrupt_while_the_command_is_imported(name):
    process = subprocess.run([sys.executable, "-c", INTERRUPTED.format(name=name)], capture_output=True, check=False)
    assert (process.returncode, process.stdout, process.stderr) == (-signal.SIGINT, b"", b"")


def test_interrupts_are_handled_as_before_when_the_command_runs():
    code = INTERRUPTED.format(name="none") + "\n"
    code = code.replace("sys.exit(main())", "main(); print(signal.getsignal(2) is signal.default_int_handler)")
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert process.stdout.endswith("\nTrue\n") and not process.stderr


# --- exit statuses and complaints -------------------------------------------------------------------------------------


def test_faults_stop_where_they_are(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(b"/a%20b\n/c%41\n/d%41%zz\n/e\n")
    status, output, complaint = run("decode", "--errors", "raise", path)
    assert (status, output) == (1, b"/a b\n/cA\n")
    assert complaint == f'uricodec: {path}:3:6 (byte 18): "%" not followed by two hexadecimal digits\n' + HINT
    assert run("decode", "--errors", "raise", stdin=b"x%FF")[2] == (
        "uricodec: <stdin>:1:2 (byte 1): invalid UTF-8\n" + HINT
    )
    path.write_bytes(b"/a b\n\xc3\xa9\xe6\x9d/\n")
    status, output, complaint = run("encode", "--errors", "raise", path)
    assert (status, output) == (1, b"/a%20b\n")
    assert complaint == f"uricodec: {path}:2:3 (byte 7): invalid UTF-8\n" + HINT


def test_a_fault_in_a_later_input(tmp_path, log):
    assert run("decode", "--errors", "raise", log, "-", stdin=b"%41\n%") == (
        1,
        "/café\n/a b\nA\n".encode(),
        'uricodec: <stdin>:2:1 (byte 4): "%" not followed by two hexadecimal digits\n' + HINT,
    )


@pytest.mark.parametrize("command", ["decode", "encode"])
def test_inputs_that_cannot_be_read(log, tmp_path, command):
    missing = tmp_path / "missing"
    status, output, complaint = run(command, "--plus", log, missing, log)
    assert (status, complaint) == (3, f"uricodec: {missing}: No such file or directory\n")
    assert output == output_of(command, "--plus", log)  # what came before has been written, nothing after
    assert run(command, tmp_path) == (
        3,
        b"",
        f"uricodec: {tmp_path}: Is a directory\n\nhint: -r reads the files in it\n",
    )
    if os.geteuid():
        log.chmod(0)
        assert run(command, log) == (3, b"", f"uricodec: {log}: Permission denied\n")


def test_names_cannot_write_to_the_terminal():
    assert run("decode", "a\x1b[2J\nb")[2] == "uricodec: a\\x1b[2J\\nb: no file matches\n"
    result = process("decode", b"\xff\x1b".decode("utf-8", "surrogateescape"))
    assert result.stderr.strip() == b"uricodec: \\udcff\\x1b: No such file or directory"


@pytest.mark.parametrize(("redirection", "name"), [("<&-", "<stdin>"), (">&-", "<stdout>")])
def test_closed_standard_streams(redirection, name):
    result = subprocess.run(
        ["sh", "-c", f'"$0" -m uricodec decode {redirection}', sys.executable],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert (result.returncode, result.stderr.decode()) == (3, f"uricodec: {name}: closed\n")


def test_pipes_that_do_not_block():
    """Standard input and output may be non-blocking because of somebody else: ssh, a terminal, another program."""
    data = b"".join(b"/caf%%C3%%A9/%d\n" % i for i in range(100_000))
    with subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import os, sys; os.set_blocking(0, False); os.set_blocking(1, False);"
            "from uricodec.cli import main; sys.exit(main(['decode']))",
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as child:
        time.sleep(0.2)  # nothing there yet
        output, complaint = child.communicate(data, timeout=60)
    assert (child.returncode, complaint) == (0, b"")
    assert output == data.replace(b"%C3%A9", "é".encode())


# --- info, version, help ----------------------------------------------------------------------------------------------


def test_info():
    output = output_of("info").decode()
    assert output.startswith(f"uricodec {uricodec.__version__}\n")
    for fact in (
        uricodec.cpu_tier(),
        *uricodec.cpu_tiers(),
        sys.implementation.name,
        sys.executable,
        os.path.dirname(uricodec.__file__),
    ):
        assert fact in output
    assert len(output.splitlines()) == 7
    assert output_of("--version", "--verbose").decode() == output


@pytest.mark.parametrize("folders", [["idna-3.20", "x-1", "backports_zstd-1.0"], []])
def test_info_names_the_packages_that_it_works_with(folders, tmp_path, monkeypatch, capsys):
    for name in folders:
        (tmp_path / f"{name}.dist-info").mkdir()
    (tmp_path / "pandas-2").mkdir()
    monkeypatch.setattr(sys, "path", [str(tmp_path), str(tmp_path / "missing")])
    assert main(["info"]) == 0
    expected = "packages: idna 3.20, backports.zstd 1.0\n" if folders else "packages: none\n"
    assert expected in capsys.readouterr().out


def test_version(capsys):
    assert main(["--version"]) == 0
    python = ".".join(map(str, sys.version_info[:3]))
    tier = f"tier {uricodec.cpu_tier()}, {sys.implementation.name} {python}"
    assert capsys.readouterr().out == f"uricodec {uricodec.__version__} ({tier})\n"


def test_options_may_stand_anywhere(log, tmp_path):
    expected = 2 * output_of("decode", log)
    for arguments in ("--plus", log, log), (log, "--plus", log), (log, log, "--plus"), ("--plus", "--", log, log):
        assert output_of("decode", *arguments) == expected
    (tmp_path / "-o").write_bytes(b"%41\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        assert output_of("decode", "--", "-o") == output_of("decode", "--plus", "--", "-o") == b"A\n"


def test_module_and_main_are_the_same():
    result = process("--version")
    assert (result.returncode, result.stderr) == (0, b"")
    assert result.stdout.split()[:2] == [b"uricodec", uricodec.__version__.encode()]


# --- the example ------------------------------------------------------------------------------------------------------


def test_example():
    data = EXAMPLE.read_bytes()
    output = output_of("decode", EXAMPLE)
    assert data.isascii()
    assert output.count(b"\n") == data.count(b"\n") == 200
    assert "GET /wiki/東京タワー HTTP".encode() in output
    for kept in (b"%00", b"%0A", b"%zz", b"%FF", b"%c0%ae"):
        assert kept in data and kept in output


# --- the meter --------------------------------------------------------------------------------------------------------


def on_terminal(arguments, delay=0, **options):
    """Run with standard error on a terminal of its own; returns the status and what came to it."""
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    code = "import sys; from uricodec.cli import main; from uricodec._io import meter;"
    code += f"meter.METER_DELAY = {delay}; meter.METER_PERIOD = 0;"
    code += "sys.exit(main(sys.argv[1:]))"
    try:
        child = subprocess.run(
            [sys.executable, "-c", code, *map(str, arguments)],
            stderr=theirs,
            check=False,
            timeout=60,
            **({"stdout": subprocess.DEVNULL} | options),
        )
        os.write(theirs, b"end")
        shown = b""
        while not shown.endswith(b"end"):
            shown += os.read(ours, 4096)
    finally:
        os.close(theirs)
        os.close(ours)
    return child.returncode, shown[:-3].decode()


def test_meter(log):
    log.write_bytes(b"%41\n" * 200_000)
    status, shown = on_terminal(["decode", log])
    assert status == 0
    assert re.match(r"\r[1-9][0-9]? %  [01] MB  [0-9]+ MB/s  ETA 0:[0-5][0-9]\r", shown)
    assert re.search(r"\r100 %  1 MB  [0-9]+ MB/s +\r", shown)
    assert not shown.split("\r")[-2].strip() and shown.endswith("\r")  # erased


def test_meter_of_unknown_size(log):
    status, shown = on_terminal(["decode", log, "-"], input=b"%41\n" * 200_000)
    assert status == 0
    assert " MB/s" in shown and "%" not in shown and "ETA" not in shown


def test_meter_makes_way_for_complaints(log):
    status, shown = on_terminal(["decode", log, "missing"])
    assert status == 3
    assert shown.endswith(" \r\x1b[1;31muricodec:\x1b[0m missing: No such file or directory\r\n")


def test_meter_stays_away(log):
    assert on_terminal(["decode", log], delay=60) == (0, "")
    assert on_terminal(["decode", "--no-progress", log]) == (0, "")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(meter, "METER_DELAY", 0)
        assert output_of("decode", log) == "/café\n/a b\n".encode()  # standard error is no terminal


@pytest.mark.slow
def test_meter_and_output_do_not_mix(log, tmp_path):
    """What goes to a terminal, or to a pipe that somebody may show on it, keeps the meter away."""
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    try:
        assert on_terminal(["decode", log], stdout=theirs) == (0, "")
        assert os.read(ours, 4096).decode() == "/café\r\n/a b\r\n"
        assert on_terminal(["decode", log, "--progress"], stdout=theirs)[1].startswith("\r100 %")
        os.write(ours, b"\x04")  # ^D: the end of what is typed
        assert on_terminal(["decode", "-", log], stdin=theirs) == (0, "")
    finally:
        os.close(theirs)
        os.close(ours)
    for output in "/dev/stderr", "/dev/stdout":
        for option in [["-o", output], ["--invalid-to", output, "-o", tmp_path / "out"]]:
            assert "MB/s" not in on_terminal(["decode", log, *option], stdout=subprocess.PIPE)[1]
            assert "MB/s" in on_terminal(["decode", log, *option, "--progress"], stdout=subprocess.PIPE)[1]
    with open(tmp_path / "file", "wb") as file:
        assert "MB/s" in on_terminal(["decode", log], stdout=file)[1]


READING = [name for name, command in COMMANDS.items() if "progress" in command.keys]


@each_row("name", READING)
def test_progress_of_each_command(log, tmp_path, name):
    required = {"--kind": "uri", "--base": "a:", "SHELL": ""}
    words = [
        word for option in COMMANDS[name].options if option.required for word in (option.flag, required[option.flag])
    ]
    words += ["--drop", "a"] if name == "query" else []
    words += ["--hosts", ROOT / "examples/blocked.txt"] if name == "filter" else []
    log = ROOT / "examples/access.log" if name == "log" else log
    status, _, said = run(name, *words, "--progress", log, "-o", tmp_path / "out")
    assert status < 2 and re.fullmatch(r".*( MB/s| lines/s)\n", said)
    assert run(name, *words, "--no-progress", log, "-o", tmp_path / "out")[2] == ""


def test_progress_in_lines(monkeypatch):
    """Where standard error is not a terminal: a line each time, and the last one."""
    monkeypatch.setattr(meter, "METER_LINE_PERIOD", 0)
    said = run("decode", "--progress", stdin=b"%41\n" * 200_000)[2].splitlines()
    assert len(said) > 2
    assert all(re.fullmatch("[01] MB  [0-9]+ MB/s", line) for line in said)


def test_options_that_are_shown_do_nothing_to_a_terminal():
    status, _, said = run("decode", "--bad\x1b[31m\na")
    assert status == 2 and said.startswith("uricodec: unknown option '--bad\\x1b[31m\\na'\n")


def test_too_little_memory(monkeypatch):
    def fail(plan, **options):
        raise MemoryError

    monkeypatch.setattr(filters, "decode", fail)
    assert run("decode", stdin=b"a") == (
        3,
        b"",
        "uricodec: not enough memory\n\nhint: a smaller --memory, --max-line or --threads needs less\n",
    )
