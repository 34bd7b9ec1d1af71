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
html_show_copyright = False
html_title = f"uricodec {release}"
default_role = "code"  # `x` in a docstring
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the docstrings have the types
napoleon_use_ivar = True
suppress_warnings = ["ref.python"]  # there are two classes named Fault


def as_written(*event):
    """Docstrings are for eyes: backslashes stand for themselves, and what is below "Returns:" is one paragraph."""
    _, what, *_, lines = event
    if what == "module":
        lines[:] = [part for line in lines for part in (["::", ""] if line.startswith("    from ") else []) + [line]]
    example = False
    for i, line in enumerate(lines):
        example = line.strip() != "" and (example or line.lstrip().startswith(">>>"))
        if not example:
            lines[i] = line.replace("\\", "\\\\")
    if "Returns:" in lines:
        i = lines.index("Returns:") + 1
        end = next((j for j in range(i, len(lines)) if not lines[j].strip()), len(lines))
        lines[i:end] = ["    " + " ".join(map(str.strip, lines[i:end]))]


def skip_fields(*event):
    """Fields of a named tuple of which there is nothing to say but their number."""
    _, _, _, item, *_ = event
    return True if type(item).__name__ == "_tuplegetter" else None


def setup(app):
    app.connect("autodoc-process-docstring", as_written, priority=400)  # before napoleon
    app.connect("autodoc-skip-member", skip_fields)
