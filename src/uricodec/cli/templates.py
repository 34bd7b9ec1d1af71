"""Templates of --get: "{host}{path}". Braces are written twice, as in Python: "{{".

A command with a template writes one value per line to a TemplateOutput: a URL, or the fields of a log between tabs.
Only what the template names is computed, many values at once.
"""

import re

PLACE = re.compile(r"(\{\{|\}\})|\{([^{}]*)\}|[{}]")

# What a URL has. param.NAME and segment.N are values of the query and the path.
COMPONENTS = ("scheme", "authority", "userinfo", "host", "port", "path", "query", "fragment")
SUFFIXES = ("registrable_domain", "public_suffix")
AGREED = ("scheme", "host", "port", "kind", "category")
OTHERS = "url, param.NAME and segment.N"

CONTROL = re.compile(rb"[\x00-\x1f\x7f]|\xc2[\x80-\x9f]")


class TemplateError(ValueError):
    """A template is invalid."""


def parts_of(template):
    """Return the parts of a template: texts, and names as tuples of one.

    >>> parts_of("{{{host}{path}")
    ['{', ('host',), ('path',)]

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
    merged = []
    for part in [*parts, template[at:]]:
        if isinstance(part, str) and merged and isinstance(merged[-1], str):
            merged[-1] += part
        elif part:
            merged.append(part)
    return merged


def names_of(parts):
    """Return the names in the parts of a template, each once."""
    return list(dict.fromkeys(part[0] for part in parts if isinstance(part, tuple)))


def checked_names(parts, hosts=False):
    """Return the names of a template for URLs.

    Args:
        parts (list[str | tuple[str]]): What parts_of() returns.
        hosts (bool): Whether it is that of `hosts`, which knows AGREED, too.

    Raises:
        TemplateError: A name is unknown.
    """
    known = dict.fromkeys((*COMPONENTS, *(AGREED if hosts else ()), *SUFFIXES))
    names = names_of(parts)
    for name in names:
        if not name.isascii() and any("\ud800" <= character <= "\udfff" for character in name):
            raise TemplateError(f"invalid UTF-8 in {name!r}; expected a name such as 'param.q'")
        if name not in known and name != "url" and not re.fullmatch(r"param\..+|segment\.[1-9][0-9]{0,8}", name):
            raise TemplateError(
                f"unknown name {name!r}; choose from {', '.join(known)}, {OTHERS}, as in '{{host}}{{path}}'"
            )
    return names


class TemplateOutput:
    """An output that gets lines, and writes what a template makes of each; an empty line stays one.

    Args:
        output (Output): The output.
        render (Callable[[list[bytes]], list[bytes]]): Returns the texts for some lines.
        end (bytes): What ends a line.
    """

    def __init__(self, output, render, end):
        self._output, self._render, self._end, self._rest = output, render, end, b""

    def __getattr__(self, name):
        return getattr(self._output, name)

    @property
    def in_line(self):
        return bool(self._rest)

    def write_header(self, data):
        """Write nothing: names of fields are in the template."""

    def write(self, data):
        lines = (self._rest + bytes(data)).split(self._end)
        self._rest = lines.pop()
        self._write(lines)

    def _write(self, lines):
        if self._end == b"\n":
            lines = [line.removesuffix(b"\r") for line in lines]
        texts = [CONTROL.sub(encoded, text) for text in self._render(lines)]
        self._output.write(
            b"".join([(text if line else b"") + self._end for line, text in zip(lines, texts, strict=True)])
        )

    def __enter__(self):
        self._output.__enter__()
        return self

    def __exit__(self, kind, *exception):
        if kind is None and self._rest:
            self._write([self._rest])
        return self._output.__exit__(kind, *exception)


def encoded(found):
    """Return control characters of a value as triplets: a line stays a line."""
    return b"".join([b"%%%02X" % byte for byte in found[0]])


def filled(parts, columns):
    """Return the texts of a template, given a column of values (list[bytes | None]) for each of its names."""
    count = len(next(iter(columns.values())))
    columns = [[os_text(part)] * count if isinstance(part, str) else columns[part[0]] for part in parts]
    return [b"".join([value or b"" for value in row]) for row in zip(*columns, strict=True)]


def os_text(text):
    return text.encode("utf-8", "surrogateescape")


def of_urls(template, hosts=None):
    """Return the function that makes texts of URLs.

    Args:
        template (str): The template.
        hosts (dict | None): The options of `agreed_host` if scheme, host and port are those of `hosts`.

    Raises:
        TemplateError: The template is invalid.

    >>> of_urls("{host} {segment.2}")([b"http://a.example/b/c"])
    [b'a.example c']
    """
    from uricodec import bulk

    parts = parts_of(template)
    names = checked_names(parts, hosts is not None)
    if not names:
        raise TemplateError(f"no name in {template!r}; expected one such as '{{host}}'")

    def render(lines):
        made, wanted = {}, {*names}
        if hosts is not None and wanted & {*AGREED}:
            records = bulk.agreed_host(lines, **hosts)
            made |= {name: [each and each[name] for each in records] for name in AGREED}
        if wanted & {*COMPONENTS} - made.keys():
            records = bulk.split_uri(lines, errors="keep")
            made |= {name: [each[name] for each in records] for name in COMPONENTS if name not in made}
        if any(name.startswith("segment.") for name in names):
            segments = bulk.path_segments(lines)
        for name in names:
            first, _, rest = name.partition(".")
            if name == "url":
                made[name] = lines
            elif name in SUFFIXES:
                made[name] = getattr(bulk, name)(lines)
            elif first == "param":
                made[name] = bulk.query_value(lines, name=rest)
            elif first == "segment":
                number = int(rest)
                made[name] = [each[number - 1] if len(each) >= number else None for each in segments]
        return filled(parts, made)

    return render


def of_fields(template):
    """Return the names of a template for records, and the function that makes texts of records between tabs.

    Raises:
        TemplateError: The template is invalid.

    >>> names, render = of_fields("{status} {path}")
    >>> names, render([b"200\\t/a"])
    (['status', 'path'], [b'200 /a'])
    """
    parts = parts_of(template)
    names = names_of(parts)
    if not names:
        raise TemplateError(f"no name in {template!r}; expected one such as '{{path}}'")

    def render(lines):
        rows = [line.split(b"\t") for line in lines]
        return filled(parts, {name: [row[i] for row in rows] for i, name in enumerate(names)})

    return names, render
