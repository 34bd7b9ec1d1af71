"""What terminals get: no character that they would obey."""

import os
import subprocess
import sys
import unicodedata

import pytest
from support.tables import each_row

from uricodec._io.terminals import Escapes

# The control characters beyond ASCII, and all characters that the bidirectional algorithm takes for an order.
CLASSES = {"LRE", "RLE", "PDF", "LRO", "RLO", "LRI", "RLI", "FSI", "PDI"}
OBEYED = [
    *map(chr, range(0x80, 0xA0)),
    *"\u061c\u200e\u200f",
    *(chr(point) for point in range(0x3000) if unicodedata.bidirectional(chr(point)) in CLASSES),
]


def escaped(text):
    return "".join(f"\\u{ord(each):04x}" if each in OBEYED else each for each in text)


@pytest.mark.slow
def test_each_character():
    everything = "".join(map(chr, [*range(0xD800), *range(0xE000, 0x110000)]))
    terminal = Escapes()
    assert (terminal.escape(everything.encode()) + terminal.rest()).decode() == escaped(everything)


@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_characters_in_parts(size):
    data = ("a\u202eb\u0085\u061c\u2066é€\u200d\u0660" + "".join(OBEYED)).encode() + b"\xe2\x80"
    terminal = Escapes()
    parts = [terminal.escape(data[i : i + size]) for i in range(0, len(data), size)]
    assert b"".join([*parts, terminal.rest()]) == escaped(data[:-2].decode()).encode() + b"\xe2\x80"


LINE = '192.0.2.1 - - [10/Oct/2024:13:55:36 +0000] "GET /{} HTTP/1.1" 200 5 "-" "{}"\n'
HOSTILE = "a" + "".join(each for each in OBEYED if each > "\xa0") + "z"
URL = "http://a/" + HOSTILE


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="terminals of POSIX")
@each_row(
    ("command", "text"),
    [
        *((["log", "--format", "combined", *more], LINE.format(HOSTILE, HOSTILE)) for more in (
            [], ["--to", "csv"], ["--to", "tsv"], ["--get", "{path} {user_agent}"], ["--count", "path"],
            ["--count", "user_agent", "--to", "jsonl"], ["--limit", "1"], ["--sample", "1"],
        )),
        (["dedup", "--kind", "bytes"], URL + "\n"),
        (["dedup", "--kind", "bytes", "--count"], URL + "\n"),
        (["extract"], f"see {URL}\n"),
        (["decode"], "a%E2%80%AEz%C2%9B%E2%81%A6%D8%9C%E2%80%8F\n"),
    ],
)  # fmt: skip
def test_commands_write_nothing_that_controls_a_terminal(tmp_path, command, text):
    """A terminal shows them escaped; a file gets what it would get without a terminal."""
    pty = pytest.importorskip("pty")
    path = tmp_path / "input"
    path.write_text(text, "utf-8")
    terminal, device = pty.openpty()
    environment = os.environ | {"COLUMNS": "200", "PYTHONIOENCODING": "utf-8", "NO_COLOR": "1"}
    child = subprocess.Popen(
        [sys.executable, "-m", "uricodec", *command, path], stdout=device, stderr=subprocess.PIPE, env=environment
    )
    os.close(device)
    shown = b""
    try:
        while octets := os.read(terminal, 4096):
            shown += octets
    except OSError:  # the other side is closed
        pass
    os.close(terminal)
    said = child.communicate()[1]
    assert child.returncode == 0, said
    assert shown and not set(shown.decode()) & set(OBEYED)
