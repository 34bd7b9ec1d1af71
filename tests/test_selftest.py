"""`python -m uricodec.selftest`: it passes here, looks at all it says, and notices what is wrong."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import uricodec
from uricodec import parse, selftest, uri
from uricodec._base import _kernels

SOURCE = Path(uricodec.__file__).parent
SOURCES = Path(__file__).parent.parent / "src"  # an installed package has no .pyx
COMPILED = [path.relative_to(SOURCES).with_suffix("") for path in SOURCES.rglob("*.pyx")]
COMPILED.append(Path("uricodec/_base/_cython"))  # of setup.py


@pytest.mark.slow
def test_passes_on_each_tier_without_other_packages():
    """-S: no installed packages at all."""
    environment = dict(os.environ, PYTHONPATH=str(SOURCE.parent))
    command = [sys.executable, "-S", "-m", "uricodec.selftest"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=300)
    assert (done.returncode, done.stderr) == (0, "")
    first, second, *tiers, last = done.stdout.splitlines()
    assert first.startswith(f"uricodec {uricodec.__version__}, cpython 3.") and last == "ok"
    assert second == f"{len(COMPILED)} compiled modules of {SOURCE}"
    assert [line.split()[1] for line in tiers] == [f"{tier}:" for tier in uricodec.cpu_tiers()]
    assert all(line.endswith("known answers: ok") for line in tiers)


def broken(*_):
    raise ZeroDivisionError("broken")


@pytest.mark.parametrize(
    ("module", "function", "message"),
    [
        (parse, {"unquote": lambda text: text}, "AssertionError: unquote("),
        (uri, {"is_valid": lambda text: True}, "AssertionError: uri.is_valid: True instead of False"),
        (uri, {"resolve": broken}, "ZeroDivisionError: broken"),
    ],
)
def test_fails_if_an_answer_is_wrong(module, function, message, monkeypatch, capsys):
    before, ((name, function),) = uricodec.cpu_tier(), function.items()
    monkeypatch.setattr(module, name, function)
    monkeypatch.setattr(selftest, "_texts", lambda: iter(["%41" * 100]))
    assert selftest.main() == 1
    *_, tier, last = capsys.readouterr().out.splitlines()
    assert last == "failed"
    assert tier.startswith(f"tier {uricodec.cpu_tiers()[-1]}: FAILED: {message}") and len(tier) < 1000
    assert uricodec.cpu_tier() == before


def test_fails_on_the_tier_that_is_wrong_alone(monkeypatch, capsys):
    right = parse.unquote
    bad = uricodec.cpu_tiers()[-1]
    monkeypatch.setattr(parse, "unquote", lambda text: "" if uricodec.cpu_tier() == bad else right(text))
    monkeypatch.setattr(selftest, "_texts", lambda: iter(["%41" * 100]))
    assert selftest.main() == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if "FAILED" in line] == lines[-2:-1]
    assert f"tier {bad}: FAILED" in lines[-2]


def test_imports_all_compiled_modules():
    expected = {".".join(path.parts) for path in COMPILED}
    assert {*selftest._import_compiled()} == expected
    assert _kernels.__name__ in expected


def test_texts_reach_all_that_vectors_do():
    texts = [*selftest._texts()]
    assert {len(text) for text in texts} >= {*range(140)}
    assert all(any(piece in text for text in texts) for piece in ("%41", "%zz", "%c3%A9", "+", "\0", "€", "😀"))
