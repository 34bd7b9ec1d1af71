"""Sphinx makes a site of these pages and of the docstrings.

python -m sphinx -W --keep-going -b html docs build/html
"""

import re

import uricodec

project = "uricodec"
author = "the authors of uricodec"
release = version = uricodec.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
myst_heading_anchors = 3
html_theme = "furo"
html_show_copyright = False
html_title = f"uricodec {release}"
default_role = "code"  # `x` in a docstring
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
autodoc_typehints = "none"  # the docstrings have the types
napoleon_use_ivar = True
suppress_warnings = ["ref.python"]  # Diagnostic has several homes


def as_written(*event):
    """Docstrings are for eyes. Backslashes stand for themselves; in the head of a module, what is indented is code or a
    picture; and what is below "Returns:" is one paragraph."""
    _, what, *_, lines = event
    written, before, example = [], "", False
    for line in lines:
        drawn = what == "module" and line.startswith("    ")
        if drawn and not before:
            written += ["::", ""]
        example = line.strip() != "" and (example or line.lstrip().startswith(">>>"))
        written.append(line if drawn or example else line.replace("\\", "\\\\"))
        before = line
    if "Returns:" in written:
        i = written.index("Returns:") + 1
        end = written.index("", i) if "" in written[i:] else len(written)
        written[i:end] = ["    " + " ".join(map(str.strip, written[i:end]))]
    lines[:] = written


def skip_fields(*event):
    """Fields of a named tuple of which there is nothing to say but their number."""
    _, _, _, item, *_ = event
    return True if type(item).__name__ == "_tuplegetter" else None


def shorten(*event):
    """A long set is a name that the docstring explains."""
    *_, signature, returns = event
    return signature and re.sub(r"ByteSet\(b(['\"]).{99,}\1\)", "ByteSet(...)", signature), returns


def setup(app):
    app.connect("autodoc-process-docstring", as_written, priority=400)  # before napoleon
    app.connect("autodoc-skip-member", skip_fields)
    app.connect("autodoc-process-signature", shorten)
