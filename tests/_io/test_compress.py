"""Compressed inputs on the command line: what is known by its first octets, by which module it is read, and damage."""

import bz2
import gzip
import io
import lzma
import os
import re
import subprocess
import sys
import types
import zlib

import pytest
from support.command import Text, output_of, run
from support.tables import each_row

from uricodec._io import compress, magic, reading
from uricodec._io.meter import Meter
from uricodec._io.reading import Buffers, Input
from uricodec._io.writing import Output

LINES = b"".join(b"/line%%20%d\n" % i for i in range(50_000))
PLAIN = LINES.replace(b"%20", b" ")


class StandInError(Exception):
    pass


class StandIn:
    """What a decompressor of Zstandard does, for frames of our own: magic number, and deflated octets. Those that are
    skipped are the real ones."""

    made = 0

    def __init__(self):
        type(self).made += 1
        self._head, self._begun, self._inner = b"", False, zlib.decompressobj()
        self._deflated = compress.Deflated(self._inner)
        self.eof, self.unused_data, self.needs_input = False, b"", True

    def decompress(self, data, max_length=-1):
        if not self._begun:
            self._head += bytes(data)
            if not magic.begins_with(self._head, "zstd"):
                raise StandInError("no frame")
            if self._head[1:4] == b"*M\x18" or len(self._head) < 4:
                end = 8 + int.from_bytes(self._head[4:8], "little")
                self.eof, self.unused_data = len(self._head) >= end, self._head[end:]
                return b""
            self._begun, data = True, self._head[4:]
        try:
            result = self._deflated.decompress(data, max_length)
        except zlib.error as error:
            raise StandInError(str(error)) from None
        self.eof, self.needs_input, self.unused_data = (
            self._inner.eof,
            self._deflated.needs_input,
            self._inner.unused_data,
        )
        return result


def stand_in(data):
    return b"\x28\xb5\x2f\xfd" + zlib.compress(data)


@pytest.fixture
def zstd(monkeypatch):
    """backports.zstd is installed, and compression.zstd is not there."""
    module = types.ModuleType("backports.zstd")
    module.ZstdDecompressor, module.ZstdError = StandIn, StandInError
    monkeypatch.setitem(sys.modules, "compression.zstd", None)
    monkeypatch.setitem(sys.modules, "backports", types.ModuleType("backports"))
    monkeypatch.setitem(sys.modules, "backports.zstd", module)
    StandIn.made = 0
    return module


@pytest.fixture(params=["stand-in", "real"])
def any_zstd(request):
    """What reads Zstandard, and what makes a frame of it."""
    if request.param == "stand-in":
        request.getfixturevalue("zstd")
        return stand_in
    if compress.find_module("zstd") is None:
        pytest.skip("no module that reads Zstandard")
    return stored


def stored(data):
    """A frame of one raw block (RFC 8878 section 3.1.1)."""
    size, block = len(data).to_bytes(4, "little"), (len(data) << 3 | 1).to_bytes(3, "little")
    return b"\x28\xb5\x2f\xfd\xa0" + size + block + data


FORMATS = {"gzip": gzip.compress, "bzip2": bz2.compress, "xz": lzma.compress, "zstd": stand_in}
every_format = each_row("form", FORMATS)


@pytest.mark.slow
@every_format
@each_row("name", ["x", "x.gz"])
@pytest.mark.usefixtures("zstd")
def test_known_by_its_content(tmp_path, form, name):
    path = tmp_path / name
    path.write_bytes(FORMATS[form](LINES))
    assert output_of("decode", path) == PLAIN
    assert output_of("decode", "-j", "3", path) == PLAIN
    assert output_of("decode", stdin=path.read_bytes()) == PLAIN
    assert output_of("decode", "-d", "%", "-f", "1", path) == LINES


@every_format
@pytest.mark.usefixtures("zstd")
def test_members_follow_each_other(form):
    one, two = FORMATS[form](b"a%20"), FORMATS[form](b"b\nc")
    nothing = FORMATS[form](b"")
    assert output_of("decode", stdin=one + two) == b"a b\nc"
    assert output_of("decode", stdin=nothing + one + nothing + two + 32 * b"\0") == b"a b\nc"
    status, output, said = run("decode", stdin=one + two + b"x")
    assert (status, output) == (3, b"a b\n")
    assert said.startswith((f"uricodec: <stdin>: damaged {form} data (", f"uricodec: <stdin>: truncated {form} data"))


@every_format
@each_row("piece", [1, 7, 64])
@pytest.mark.usefixtures("zstd")
def test_small_pieces(monkeypatch, form, piece):
    monkeypatch.setattr(compress, "COMPRESSED_CHUNK", piece)
    data = FORMATS[form](b"caf%C3%A9\n" * 100)
    for chunk in 32, 1000:
        assert output_of("decode", stdin=data + data, chunk=chunk) == b"caf\xc3\xa9\n" * 200


@pytest.mark.slow
@every_format
@pytest.mark.usefixtures("zstd")
def test_truncated_data(form):
    """What came before is written, in whole lines."""
    whole = FORMATS[form](LINES)
    for size in len(compress_magic(form)), len(whole) // 3, len(whole) - 9, len(whole) - 1:
        for jobs in "1", "3":
            status, output, said = run("decode", "-j", jobs, stdin=whole[:size])
            assert status == 3 and re.fullmatch(
                f"uricodec: <stdin>: truncated {form} data \\(after [0-9]+ bytes\\)\n", said
            )
            assert PLAIN.startswith(output) and (output == b"" or output.endswith(b"\n"))
    assert len(output) > len(PLAIN) - reading.CHUNK


def compress_magic(form):
    return next(first for first, name in magic.MAGIC.items() if name == form and first in FORMATS[form](LINES)[:10])


@pytest.mark.slow
@every_format
@pytest.mark.usefixtures("zstd")
def test_damaged_data(tmp_path, form):
    whole = bytearray(FORMATS[form](LINES))
    for at in range(len(whole) // 4, len(whole) - 40, len(whole) // 9):
        whole[at] ^= 0xFF
        whole[at + 1] ^= 0x55
    out = tmp_path / "out"
    status, _, said = run("decode", stdin=bytes(whole))
    assert status == 3
    assert said.startswith((f"uricodec: <stdin>: damaged {form} data (", f"uricodec: <stdin>: truncated {form} data"))
    assert run("decode", "-o", out, stdin=bytes(whole))[0] == 3
    assert not out.exists()


@pytest.mark.slow
@every_format
def test_too_short_to_be_anything(form):
    """The first octets of a magic number alone are text, and wait for no more than there is."""
    magic = compress_magic(form)
    for size in range(1, len(magic)):
        assert output_of("decode", stdin=magic[:size]) == magic[:size]
        assert output_of("decode", stdin=magic[:size] + b"%41") == magic[:size] + b"A"


@pytest.mark.usefixtures("zstd")
def test_magic_that_comes_in_pieces(monkeypatch):
    """A pipe may give one octet at a time."""

    class Slow(io.BytesIO):
        def readinto(self, view):
            return super().readinto(memoryview(view)[:1])

    for data in *(FORMATS[form](b"a%41\n" * 5) for form in FORMATS), skipped(3) + stand_in(b"a%41\n" * 5):
        standard_input = Text()
        standard_input.buffer = Slow(data)
        monkeypatch.setattr(sys, "stdin", standard_input)
        with Output(os.devnull) as output, Input("-", Meter([], output)) as source:
            read = b"".join(bytes(chunk.view[: chunk.size]) for chunk in source.chunks(Buffers(100)))
        assert read == b"a%41\n" * 5


def test_an_xz_file_that_takes_too_much_memory(tmp_path):
    """The header says how much: what `xz` makes takes 65 MiB at most, unless it is told otherwise."""
    for size, status in (64 << 20, 0), (1 << 30, 3):
        filters = [{"id": lzma.FILTER_LZMA2, "preset": 0}]
        data = bytearray(lzma.compress(b"%41", filters=filters))
        at = data.index(b"\x21\x01", 12) + 2  # LZMA2, one byte of properties, which says how large the dictionary is
        data[at] = {64 << 20: 28, 1 << 30: 36}[size]
        header = data[12 : 12 + 4 * (data[12] + 1) - 4]
        data[12 + len(header) : 16 + len(header)] = zlib.crc32(header).to_bytes(4, "little")
        got = run("decode", stdin=bytes(data))
        assert got[:2] == (status, b"A" if not status else b"")
    assert got[2] == "uricodec: <stdin>: damaged xz data (Memory usage limit exceeded; after 0 bytes)\n"


# --- frames that are skipped (RFC 8878 section 3.1.2) -----------------------------------------------------------------


def skipped(size, number=0):
    return bytes([0x50 + number]) + b"*M\x18" + size.to_bytes(4, "little") + b"%41\n" * (size // 4) + b"%" * (size % 4)


def test_frames_that_are_skipped(any_zstd):
    one, two = any_zstd(b"a%20"), any_zstd(b"b\nc")
    for number in range(16):
        assert output_of("decode", stdin=skipped(4, number) + one + two) == b"a b\nc"
    for size in 0, 1, 9, 70_000:
        frame = skipped(size)
        for frames in (one, frame, two), (one, two, frame), (frame, frame, one, frame, two, frame), (frame, one + two):
            assert output_of("decode", stdin=b"".join(frames)) == b"a b\nc"
        assert output_of("decode", stdin=frame) == output_of("decode", stdin=frame + frame + bytes(9)) == b""
    status, output, said = run("decode", stdin=one + two + skipped(5) + b"x")
    assert (status, output) == (3, b"a b\n")
    assert said == "uricodec: <stdin>: damaged zstd data (unexpected data after the end)\n"


@pytest.mark.parametrize("piece", [1, 3, 7, 64])
def test_frames_that_are_skipped_in_small_pieces(monkeypatch, any_zstd, piece):
    monkeypatch.setattr(compress, "COMPRESSED_CHUNK", piece)
    frame = any_zstd(b"caf%C3%A9\n" * 10)
    for size in range(10):
        data = skipped(size) + frame + skipped(size, 15) + frame + skipped(1)
        assert output_of("decode", stdin=data, chunk=32) == b"caf\xc3\xa9\n" * 20


def test_a_truncated_frame_that_is_skipped(any_zstd):
    frame, one = skipped(20), any_zstd(b"a\nb")
    for size in range(4, len(frame)):
        status, output, said = run("decode", stdin=frame[:size])
        assert (status, output) == (3, b"")
        assert said == "uricodec: <stdin>: truncated zstd data (after 0 bytes)\n"
        status, output, said = run("decode", stdin=one + frame[:size])
        assert (status, output) == (3, b"a\n")
        assert said == "uricodec: <stdin>: truncated zstd data (after 3 bytes)\n"


def test_letters_that_begin_a_frame_begin_text():
    for octet in b"PQRSTUVWXYZ[\\]^_":
        letter = bytes([octet])
        for text in letter, letter + b"*", letter + b"*M", letter + b"*M%41\n", letter + b"%41", letter + b"*%18\n":
            assert output_of("decode", stdin=text) == text.replace(b"%41", b"A")


def test_text_does_not_bring_the_module(monkeypatch):
    """Which takes its time to import: the first octets say enough."""
    monkeypatch.setitem(sys.modules, "uricodec._io.compress", None)
    monkeypatch.delattr("uricodec._io.compress")
    assert output_of("decode", stdin=b"Path/%41") == b"Path/A"
    with pytest.raises(ImportError):
        output_of("decode", stdin=skipped(1))


# --- modules --------------------------------------------------------------------------------------------------------


def test_without_zstd(monkeypatch):
    monkeypatch.setitem(sys.modules, "compression.zstd", None)
    monkeypatch.setitem(sys.modules, "backports.zstd", None)
    status, output, said = run("decode", stdin=stand_in(b"a"))
    assert (status, output) == (3, b"")
    assert said.startswith(
        "uricodec: <stdin>: cannot decompress zstd data: module not installed (needs Python 3.14 or pip install "
    )


@pytest.mark.parametrize(("form", "module"), [("gzip", "zlib"), ("bzip2", "bz2"), ("xz", "lzma")])
def test_without_a_module_of_the_stdlib(monkeypatch, form, module):
    monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.setitem(sys.modules, "isal.isal_zlib", None)
    status, output, said = run("decode", stdin=FORMATS[form](b"a"))
    assert (status, output, said) == (
        3,
        b"",
        f"uricodec: <stdin>: cannot decompress {form} data: module not installed\n",
    )


def test_isal_is_used_where_it_is(monkeypatch):
    made = []
    module = types.ModuleType("isal.isal_zlib")
    module.error = zlib.error
    module.decompressobj = lambda wbits: made.append(wbits) or zlib.decompressobj(wbits)
    monkeypatch.setitem(sys.modules, "isal", types.ModuleType("isal"))
    monkeypatch.setitem(sys.modules, "isal.isal_zlib", module)
    data = gzip.compress(LINES)
    assert output_of("decode", stdin=data + data) == PLAIN + PLAIN
    assert made == [31, 31]
    assert run("decode", stdin=data[:-9])[2].startswith("uricodec: <stdin>: truncated gzip data (after ")


def test_the_best_zstd_is_used(zstd, monkeypatch):
    output_of("decode", stdin=stand_in(b"a"))
    assert StandIn.made == 1
    best = types.ModuleType("compression.zstd")
    best.ZstdDecompressor, best.ZstdError = type("Best", (StandIn,), {"made": 0}), StandInError
    monkeypatch.setitem(sys.modules, "compression", types.ModuleType("compression"))
    monkeypatch.setitem(sys.modules, "compression.zstd", best)
    assert output_of("decode", stdin=stand_in(b"a")) == b"a"
    assert (StandIn.made, best.ZstdDecompressor.made) == (1, 1)


# --- memory ---------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="asks /proc")
@pytest.mark.parametrize("form", ["gzip", "bzip2", "xz"])
@pytest.mark.process
def test_memory_of_a_bomb_is_flat(tmp_path, form):
    path = tmp_path / "bomb"
    path.write_bytes(FORMATS[form](b"0" * 1_000_000) * 30)
    code = "import resource; resource.setrlimit(resource.RLIMIT_DATA, (200 << 20,) * 2);"
    code += "import sys; from uricodec.cli import main; sys.exit(main(['decode', '-o', '/dev/null', sys.argv[1]]))"
    subprocess.run([sys.executable, "-c", code, path], check=True, timeout=120)
