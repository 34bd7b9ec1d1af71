"""Sphinx makes a site of these pages and of the docstrings.

python -m sphinx -W --keep-going -b html docs build/html
"""

import uricodec

project = "uricodec"
author = "the authors of uricodec"
release = version = uricodec.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
myst_heading_anchors = 3
html_theme = "furo"
html_title = f"uricodec {release}"
default_role = "code"  # `x` in a docstring
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the docstrings have the types
napoleon_use_ivar = True
suppress_warnings = ["ref.python"]  # there are two classes named Fault


def join_returns(*event):
    """What stands below "Returns:" is one paragraph: its further lines are indented for eyes, not for docutils."""
    *_, lines = event
    for i, line in enumerate(lines):
        if line.startswith("Returns:"):
            end = next((j for j in range(i + 1, len(lines)) if not lines[j].strip()), len(lines))
            lines[i + 1 : end] = ["    " + " ".join(map(str.strip, lines[i + 1 : end]))]
            break


def skip_fields(*event):
    """Fields of a named tuple of which there is nothing to say but their number."""
    _, _, _, item, *_ = event
    return True if type(item).__name__ == "_tuplegetter" else None


def setup(app):
    app.connect("autodoc-process-docstring", join_returns, priority=400)  # before napoleon
    app.connect("autodoc-skip-member", skip_fields)
