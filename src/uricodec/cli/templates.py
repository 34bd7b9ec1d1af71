"""Templates of --get: "{host}{path}". Braces are written twice, as in Python: "{{".

A command with a template writes one value per line: a URL, or the fields of a log between tabs. The output makes texts
of these lines with an operation, which reads only what the template names.
"""

import re

from uricodec._records._templates import FieldRows, TemplateRows, cell

PLACE = re.compile(r"(\{\{|\}\})|\{([^{}]*)\}|[{}]")

# What a URL has. param.NAME and segment.N are values of the query and the path.
COMPONENTS = ("scheme", "authority", "userinfo", "host", "port", "path", "query", "fragment")
SUFFIXES = ("registrable_domain", "public_suffix")
AGREED = ("scheme", "host", "port", "kind", "category")
OTHERS = "url, param.NAME and segment.N"


class TemplateError(ValueError):
    """A template is invalid."""


def parts_of(template):
    """Return the parts of a template: texts, and names as tuples of one.

    >>> parts_of("{{{host}{path}")
    ['', '{', '', ('host',), '', ('path',), '']

    Raises:
        TemplateError: A brace has no partner.
    """
    parts, at = [], 0
    for found in PLACE.finditer(template):
        if found[1] is None and found[2] is None:
            raise TemplateError(
                f"{found[0]!r} without a partner in {template!r}; write {2 * found[0]!r} for the character"
            )
        parts += [template[at : found.start()], found[1][0] if found[1] else (found[2],)]
        at = found.end()
    return [*parts, template[at:]]


def names_of(parts):
    """Return the names in the parts of a template, each once."""
    return list(dict.fromkeys(part[0] for part in parts if isinstance(part, tuple)))


def checked_names(template, hosts=False):
    """Return the names of a template for URLs.

    Args:
        template (str): The template.
        hosts (bool): Whether it is that of `hosts`, which knows AGREED, too.

    Raises:
        TemplateError: The template is invalid: a brace has no partner, a name is unknown, or there is none.
    """
    known = dict.fromkeys((*COMPONENTS, *(AGREED if hosts else ()), *SUFFIXES))
    names = names_of(parts_of(template))
    if not names:
        raise TemplateError(f"no name in {template!r}; expected one such as '{{host}}'")
    for name in names:
        if not name.isascii() and any("\ud800" <= character <= "\udfff" for character in name):
            raise TemplateError(f"invalid UTF-8 in {name!r}; expected a name such as 'param.q'")
        if name not in known and name != "url" and not re.fullmatch(r"param\..+|segment\.[1-9][0-9]{0,8}", name):
            raise TemplateError(
                f"unknown name {name!r}; choose from {', '.join(known)}, {OTHERS}, as in '{{host}}{{path}}'"
            )
    return names


def text_of(part):
    """Return the text between values (bytes), whose control characters become triplets."""
    return cell(part.encode("utf-8", "surrogateescape"), "text")


def of_urls(template, hosts=None, private=False):
    """Return the operation that makes texts of URLs (TemplateRows).

    Args:
        template (str): The template.
        hosts (dict | None): The options of `agreed_host` if scheme, host and port are those of `hosts`.
        private (bool): Whether suffixes of companies count as public ones.

    Raises:
        TemplateError: The template is invalid.
    """
    checked_names(template, hosts is not None)
    made = {}  # operations, which read a line once for all of their values

    def value_of(name):
        kind, number = kind_of(name, hosts is not None)
        if kind not in made:
            made[kind] = rows_of(kind, hosts, private)
        return made[kind], number, "text"

    return TemplateRows([text_of(part) if isinstance(part, str) else value_of(part[0]) for part in parts_of(template)])


def kind_of(name, hosts):
    """Return the operation that reads a name of a template, as for rows_of(), and the number of the value.

    >>> kind_of("segment.2", False), kind_of("host", False), kind_of("host", True)
    (('segments', 1), ('components', 3), ('agreed', 1))
    """
    if hosts and name in AGREED:
        return "agreed", AGREED.index(name)
    if name in COMPONENTS:
        return "components", COMPONENTS.index(name)
    if name.startswith("segment."):
        return "segments", int(name[len("segment.") :]) - 1
    return name, 0


def rows_of(kind, hosts, private):
    """Return the operation that reads values from URLs: "components", "agreed", "segments", or a name of a template."""
    from uricodec.uri import _rows, _values

    if kind == "components":
        return _rows.SplitReferences("uri")
    if kind == "agreed":
        return _rows.AgreedHostRows(**hosts)
    if kind == "segments":
        return _values.PartRows("path_segments", False, False)
    if kind in SUFFIXES:
        from uricodec._hosts._suffixes import DomainRows

        return DomainRows(kind == "registrable_domain", private, None, False, False)
    if kind == "url":
        return _rows.UriRows()
    return _values.QueryRows(kind.removeprefix("param."), False, False)


def of_fields(template):
    """Return the names of a template for records, and the operation that makes texts of records between tabs.

    Raises:
        TemplateError: The template is invalid.

    >>> of_fields("{status} {path}")[0]
    ['status', 'path']
    """
    parts = parts_of(template)
    names = names_of(parts)
    if not names:
        raise TemplateError(f"no name in {template!r}; expected one such as '{{path}}'")
    fields = FieldRows(len(names))
    pieces = [text_of(part) if isinstance(part, str) else (fields, names.index(part[0]), "text") for part in parts]
    return names, TemplateRows(pieces)
