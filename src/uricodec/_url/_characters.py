"""Normalization Forms of Unicode (UAX #15) in linear time."""

from functools import partial
from itertools import groupby
from unicodedata import combining, normalize

_STEP = 256  # characters: shorter runs of marks are not searched for


def composed(text: str, compatible: bool = False) -> str:
    """Return Normalization Form C, or KC, in linear time.

    unicodedata sorts the combining marks after a letter by insertion, which takes quadratic time. So if a text may have
    long runs of marks, each character is decomposed and each run is put into canonical order here first.
    """
    decompose = partial(normalize, "NFKD") if compatible else partial(normalize, "NFD")
    if any(combining(decompose(text[i])[0]) for i in range(0, len(text), _STEP)):
        marks = groupby("".join(map(decompose, text)), _is_mark)
        text = "".join("".join(sorted(run, key=combining) if are_marks else run) for are_marks, run in marks)
    return normalize("NFKC" if compatible else "NFC", text)


def _is_mark(character: str) -> bool:
    return combining(character) != 0
