"""Encodings other than UTF-8: the tables decode what Python's codecs decode, and reject what these reject."""

import codecs
import encodings
import pkgutil

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import codec as naive

from uricodec._codec._charsets import Charset
from uricodec._codec._rows import DecodeRows
from uricodec._rows._tasks import transform_lines

NAMES = sorted({module.name for module in pkgutil.iter_modules(encodings.__path__)} - {"aliases", "mbcs", "oem"})
NOT_TEXT = {"base64_codec", "bz2_codec", "hex_codec", "quopri_codec", "rot_13", "uu_codec", "zlib_codec"}
NOT_ASCII = {"cp037", "cp1026", "cp1140", "cp273", "cp424", "cp500", "cp864", "cp875", "hz", "shift_jis_2004"}
NOT_ASCII |= {"shift_jisx0213", "idna", "punycode", "undefined", "raw_unicode_escape", "unicode_escape", "utf_7"}
NOT_ASCII |= {name for name in NAMES if name.startswith(("iso2022_", "utf_16", "utf_32"))}
LONGER = {"gb18030", "utf_8", "utf_8_sig"}
SUPPORTED = [name for name in NAMES if name not in NOT_TEXT | NOT_ASCII | LONGER and not name.startswith("_")]

# Its codec has invalid characters, all bytes of which one U+FFFD replaces.
WHOLE = "euc_jisx0213"

PAIRS = b"".join(bytes([first, second, 0x0A]) for first in range(256) for second in range(256))
END = b"\n" * 8  # Python replaces more than one byte at a time where the input ends
SEVERAL = ["latin-1", "cp1252", "shift_jis", "euc-jp", "euc_jis_2004", "gbk", "big5hkscs", "euc-kr", "johab"]


def by_python(data, name):
    if name == WHOLE:
        return naive.decode_charset(data, name)[0]
    return (data + END).decode(name, "replace").encode()[: -len(END)]


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[] if name in {"cp1252", "shift_jis"} else pytest.mark.slow) for name in SUPPORTED],
)
def test_each_byte_and_each_pair(name):
    charset = Charset(name)
    for byte in range(256):
        assert charset.decode(bytes([byte])) == naive.decode_charset(bytes([byte]), name)
    decoded, valid = charset.decode(PAIRS)
    assert decoded == by_python(PAIRS, name)
    assert valid == (b"\xef\xbf\xbd" not in decoded)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["euc_jp", "euc_jis_2004", "euc_jisx0213"])
def test_each_sequence_of_three_bytes(name):
    source = b"".join(b"\x8f" + PAIRS[i : i + 3] for i in range(0, len(PAIRS), 3))
    assert Charset(name).decode(source)[0] == by_python(source, name)


@pytest.mark.slow
@pytest.mark.parametrize("name", SEVERAL)
def test_any_bytes(name):
    charset = Charset(name)
    parts = st.sampled_from([b"\x8f\xa2\xaf", b"\xa4\xd4", b"\x88\x62", b"\x81", b"\x8f", b"/abcdefghijk", b"\\", b"%"])

    @given(st.lists(parts | st.binary(max_size=4), max_size=6).map(b"".join))
    def check(data):
        assert charset.decode(data) == naive.decode_charset(data, name)

    check()


@pytest.mark.slow
def test_an_invalid_byte_takes_no_other_with_it():
    """What follows a lead byte is data if they are not a character: a quote or a slash must not vanish."""
    for name in SEVERAL[2:]:
        charset = Charset(name)
        for lead in b"\x81\x8e\x8f\xa4\xff":
            for follower in b'"/ \n<':
                assert charset.decode(bytes([lead, follower]))[0][-1] == follower


@pytest.mark.parametrize("name", sorted((NOT_ASCII | LONGER) & {*NAMES}))
def test_unsupported(name):
    with pytest.raises(ValueError, match=f"unsupported encoding '{name}'; expected"):
        Charset(name)


@pytest.mark.parametrize("name", [*sorted(NOT_TEXT), "", "latin-x", "x" * 1000])
def test_unknown(name):
    with pytest.raises(ValueError, match=r"unknown encoding '.*'; expected one such as latin-1"):
        Charset(name)


def test_codecs_of_other_packages():
    """A codec that breaks the rules of the tables: too many characters, or too many bytes, for a sequence."""

    class Decoder(codecs.IncrementalDecoder):
        def decode(self, data, final=False):
            if data[0] < 0x80:
                return data.decode()
            if data[0] == 0x80:
                return "\N{GRINNING FACE}"  # four bytes for one
            return "" if data[0] == 0x81 and len(data) < 4 else "a"

    def find(name):
        if name == "uricodec_test":
            return codecs.CodecInfo(None, lambda data, errors="strict": ("a", 1), incrementaldecoder=Decoder, name=name)
        return None

    codecs.register(find)
    try:
        assert Charset("uricodec_test").decode(b"a\x80\x81\x82") == (b"a" + 2 * b"\xef\xbf\xbd" + b"a", False)
    finally:
        codecs.unregister(find)


def test_results_need_three_bytes_for_one():
    rows = DecodeRows(charset=Charset("shift_jis"))
    for size in 1, 17, 1000, 20_000:
        buffer = bytearray(rows.capacity(size, "keep")) + b"end"
        read, found = transform_lines(b"\xb1" * size, memoryview(buffer)[:-3], rows)  # half-width katakana
        assert (read, buffer[: found.written], buffer[-3:]) == (size, "ｱ".encode() * size, b"end")


def test_arguments():
    with pytest.raises(TypeError):
        Charset(None)
    with pytest.raises(ValueError, match="null character"):
        Charset("latin-1\0")
    assert Charset("Windows-1251").name == "Windows-1251"
    assert Charset("ascii").decode(memoryview(b"a\x80")) == (b"a\xef\xbf\xbd", False)
    assert Charset("ascii").decode(b"") == (b"", True)
