"""Sphinx makes a site of these pages and of the docstrings.

python -m sphinx -W --keep-going -b html docs build/html
"""

import re
import sys
from html import escape
from pathlib import Path

from docutils import nodes
from pygments.lexers.shell import BashSessionLexer

import uricodec
from uricodec.cli.errors import SITE

sys.path.append(str(Path(__file__).parent))
from make_cli import reference, write_pages
from make_operations import sections

project = "uricodec"
author = "the authors of uricodec"
release = version = uricodec.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton", "sphinx_design"]
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True  # what is copied runs: without prompts, and without results
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4
smartquotes = False  # "--help" and quoted values are copied
html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["custom.css"]
html_baseurl = SITE
html_show_copyright = False
html_title = f"uricodec {release}"
default_role = "code"  # `x` in a docstring
autodoc_member_order = "bysource"
autodoc_preserve_defaults = False
autodoc_typehints = "none"  # the docstrings have the types
napoleon_use_ivar = True
suppress_warnings = ["ref.python"]  # Diagnostic has several homes


class Console(BashSessionLexer):
    """Commands begin with "$ "; everything else is output, also where it contains a "%" or "#"."""

    _ps1rgx = re.compile(r"^(\$ )(.*\n?)")


MARKUP = re.compile(r"\\|\*(?!\*?\w+ \()|(?<=\w)_(?!\w)")  # but not the stars of an argument: "*values (str):"


def literally(text):
    """Text in which backslashes, stars and underscores stand for themselves. Code in backticks needs no change."""
    parts = re.split(r"(``.*?``|`.*?`)", text)
    return "".join(part if part[:1] == "`" else MARKUP.sub(r"\\\g<0>", part) for part in parts)


def as_written(*event):
    """Docstrings are for eyes. What is markup stands for itself; in the head of a module, tables and what is indented
    stay as they are drawn; the values of an argument become a list; arguments with one description stand on one line;
    what is below "Returns:" and "Source:" is one paragraph; and the first line of a property has no type."""
    _, what, *_, lines = event
    written, before, pad, example, margin = [], "", None, False, -1
    lines[:] = re.sub(r"(?m)^( +\w+(?:, \w+)+,)\n +(?=\w+(?:, \w+)*:)", r"\1 ", "\n".join(lines)).split("\n")
    if what in {"property", "attribute"} and lines:  # those of a compiled class are attributes
        lines[0] = lines[0].replace(": ", ", ", 1)  # napoleon takes what precedes a colon for the type
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
            indent, text = line[: len(line) - len(words)], literally(words)
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


def prepare(app, name, source):
    """Drop the empty line that ends an example for doctest; add what is made from tables of the package."""
    source[0] = re.sub(r"(^```py(?:thon)?\n.*?\n)\n(?=```$)", r"\1", source[0], flags=re.DOTALL | re.MULTILINE)
    if name == "reference/operations":
        source[0] += sections()
    elif name == "reference/cli":
        source[0] += reference()


def add_card(app, name, template, context, doctree):
    """What a link to the page looks like elsewhere: title, first paragraph, picture."""
    first = doctree.next_node(nodes.paragraph) if doctree else None
    about = " ".join(first.astext().split())[:200] if first else f"Documentation of {project}"
    title = f"{context['title']} - {project}" if context.get("title") and name != "index" else project
    card = {"title": title, "description": about, "type": "website", "url": SITE + name + ".html"}
    card |= {"image": f"{SITE}_static/card.png", "site_name": project}
    tags = [f'<meta property="og:{key}" content="{escape(value)}">' for key, value in card.items()]
    tags += [
        f'<meta name="description" content="{escape(about)}">',
        '<meta name="twitter:card" content="summary_large_image">',
    ]
    context["metatags"] = context.get("metatags", "") + "\n".join(tags)


def make_accessible(app, name, template, context, doctree):
    """The captions of the navigation are headings of a level; tables that are too wide can be scrolled by keys."""
    tree = context.get("furo_navigation_tree", "")
    context["furo_navigation_tree"] = tree.replace('role="heading"', 'role="heading" aria-level="2"')
    context["body"] = context.get("body", "").replace(
        '<div class="table-wrapper', '<div tabindex="0" class="table-wrapper'
    )


def write_sitemap(app, error):
    """List the pages for search engines."""
    if error is None and app.builder.name == "html":
        pages = "".join(f"<url><loc>{SITE}{name}.html</loc></url>\n" for name in sorted(app.env.found_docs))
        head = '<?xml version="1.0" encoding="utf-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
        (Path(app.outdir) / "sitemap.xml").write_text(f"{head}{pages}</urlset>\n", "utf-8")


def setup(app):
    write_pages()
    app.add_lexer("console", Console)
    app.connect("source-read", prepare)
    app.connect("html-page-context", add_card)
    app.connect("html-page-context", make_accessible, priority=900)  # after furo
    app.connect("build-finished", write_sitemap)
    app.connect("autodoc-process-docstring", as_written, priority=400)  # before napoleon
    app.connect("autodoc-skip-member", skip_fields)
    app.connect("autodoc-process-signature", shorten)
