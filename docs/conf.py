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
html_static_path = ["_static"]
html_css_files = ["custom.css"]
html_show_copyright = False
html_title = f"uricodec {release}"
default_role = "code"  # `x` in a docstring
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
autodoc_typehints = "none"  # the docstrings have the types
napoleon_use_ivar = True
suppress_warnings = ["ref.python"]  # Diagnostic has several homes


def as_written(*event):
    """Docstrings are for eyes. Backslashes stand for themselves; in the head of a module, tables and what is indented
    stay as they are drawn; the values of an argument become a list; what is below "Returns:" and "Source:" is one
    paragraph; and the first line of a property has no type."""
    _, what, *_, lines = event
    written, before, pad, example, margin = [], "", None, False, -1
    for line, after in zip(lines, [*lines[1:], ""], strict=True):
        words = line.strip()
        example = words != "" and (example or words.startswith(">>>"))
        if before == "" and what == "module":
            pad = "    " if after.startswith("----") else "" if line.startswith("    ") else None
            written += [] if pad is None else ["", ".. code-block:: text" if pad else "::", ""]
        if pad is not None:
            written.append(pad + line)
        elif example:
            written.append(line)
        else:
            indent, text = line[: len(line) - len(words)], words.replace("\\", "\\\\")
            if re.match(r'"[\w-]+"(, "[\w-]+")*: ', words) and len(indent) >= 8:
                written += ["", indent + "- " + text] if margin < 0 else [indent + "- " + text]
                margin = len(indent)
            elif margin >= 0 and len(indent) > margin:
                written.append(" " * (margin + 2) + text)
            else:
                written += ["", indent + text] if margin >= 0 else [indent + text]
                margin = -1
        before = line
    for head, first, indent in ("Returns:", 1, "    "), ("Source: ", 0, ""):
        for i in [i + first for i, line in enumerate(written) if line.startswith(head)][:1]:
            end = written.index("", i) if "" in written[i:] else len(written)
            written[i:end] = [indent + " ".join(map(str.strip, written[i:end]))]
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
