"""Scripts of hosts: which labels are shown in their own characters by `uri_to_iri(host="safe")`.

A label is shown if one script has all its letters, or if its scripts are written together: Latin with Chinese, Japanese
or Korean (UTS 39 section 5.2, "Highly Restrictive"). So "\u0430pple", with a Cyrillic letter, stays "xn--pple-43d".
Characters that belong to no script, as digits, and combining marks go with all of them.

The standard library does not know scripts, but the names of letters begin with them: GREEK SMALL LETTER ALPHA. Where a
name tells less than the property Script of UAX 24, fewer labels are shown.
"""

import unicodedata

__all__ = ["code_of", "is_one_script"]

# UTS 39 table 1: the sets of scripts that a label may have besides a single one.
_TOGETHER = ({"LATIN", "HAN", "HIRAGANA", "KATAKANA"}, {"LATIN", "HAN", "BOPOMOFO"}, {"LATIN", "HAN", "HANGUL"})
_LONG = {"OLD", "TAI", "LINEAR", "INSCRIPTIONAL", "OL", "MEROITIC"}  # first words of several scripts
_WORDS = {"CJK": "HAN", "IDEOGRAPHIC": "HAN", "MODIFIER": "LATIN", "KATAKANA-HIRAGANA": "KATAKANA"}
# What else than letters begins with its script: GREEK LOWER NUMERAL SIGN, COMBINING CYRILLIC LETTER BE.
_OF_SIGNS = {"LATIN", "GREEK", "CYRILLIC", "GLAGOLITIC", "DEVANAGARI", "GRANTHA", "OLD", "HEBREW", "ARABIC", "TIBETAN"}

# Scripts by the numbers that _idna stores, from 8 on. Below, a bit for each set of _TOGETHER.
_NUMBERED = (
    *("CYRILLIC", "GREEK", "ARABIC", "HEBREW", "ARMENIAN", "GEORGIAN", "DEVANAGARI", "BENGALI", "GURMUKHI", "GUJARATI"),
    *("ORIYA", "TAMIL", "TELUGU", "KANNADA", "MALAYALAM", "SINHALA", "THAI", "LAO", "TIBETAN", "MYANMAR", "KHMER"),
    *("ETHIOPIC", "THAANA", "MONGOLIAN", "CHEROKEE", "TIFINAGH", "SYRIAC"),
)
_OTHER = 255  # a script without a number: is_one_script() has to decide


def script_of(character: str) -> str | None:
    """Return the script of a character; "" if it goes with all scripts, None if Python does not know it.

    >>> script_of("ж"), script_of("納"), script_of("7")
    ('CYRILLIC', 'HAN', '')
    """
    category = unicodedata.category(character)
    if category == "Cn":
        return None
    if character in "0123456789":
        return ""
    name = unicodedata.name(character, "?")
    words = name.removeprefix("COMBINING ").split()
    if (name.startswith("COMBINING ") or category[0] not in "LMN") and words[0] not in _OF_SIGNS:
        return ""
    if words[0] in _LONG:
        return " ".join(words[:2])
    return "ARABIC" if "ARABIC-INDIC" in words else _WORDS.get(words[0], words[0])


def is_one_script(label: str) -> bool:
    """Return whether the letters of a label, mapped by UTS 46, are of one script, or of scripts written together.

    >>> is_one_script("日本語ドメイン"), is_one_script("\u0430pple")
    (True, False)
    """
    scripts = {script_of(character) for character in label} - {""}
    return None not in scripts and (len(scripts) < 2 or any(scripts <= together for together in _TOGETHER))


def code_of(character: str) -> int:
    """Return what _idna stores of the script of a character, in a byte."""
    script = script_of(character)
    if script in _NUMBERED:
        return 8 + _NUMBERED.index(script)
    if script == "":
        return 0
    return sum(1 << i for i, together in enumerate(_TOGETHER) if script in together) or _OTHER
