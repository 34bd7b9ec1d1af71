"""The reference implementation of `uri.Policy`: one function for each step, on components."""

import re
from urllib.parse import unquote_to_bytes

from reference import shapes, uri_forms

SESSIONS = ("phpsessid", "jsessionid", "aspsessionid*", "cfid", "cftoken")
AUTHORITY = r"(?s)((?:[^@]*@)?)(\[[^\]@]*\]|(?!\[)[^:@\[\]]*)((?::[0-9]*)?)"


def as_texts(names):
    return [uri_forms.as_text(name) for name in names]


def without_sessions(path):
    segments = []
    for segment in path.split("/"):
        first, *parameters = segment.split(";")
        kept = [first]
        for parameter in parameters:
            dots = kept in (["."], [".."])
            if dots or not parameter.lower().startswith("jsessionid="):
                kept.append(parameter)
        segments.append(";".join(kept))
    return "/".join(segments)


def lowered(path):
    return re.sub(r"(?s)(%[0-9A-Fa-f]{2})|([A-Z])", lambda found: found[1] or found[2].lower(), path)


def without_end(path, documents, drops_slash):
    while True:
        shorter = path
        if drops_slash and len(path) > 1:
            shorter = path.removesuffix("/")
        if "/" in path and path.rpartition("/")[2] in documents:
            shorter = path.rpartition("/")[0] + "/"
        if shorter == path:
            return path
        path = shorter


def is_dropped(name, patterns, plus):
    """Whether a name, which is Latin-1, decodes to a pattern, or to what begins with it; ASCII letters without case."""
    octets = name.encode("latin-1")
    octets = unquote_to_bytes(octets.replace(b"+", b" ") if plus else octets).lower()
    return any(octets.startswith(each[:-1]) if each.endswith(b"*") else octets == each for each in patterns)


def normal_query(query, drops, kept, plus):
    parameters = [each for each in query.split("&") if not is_dropped(each.partition("=")[0], drops, plus)]
    if kept != "keep":
        parameters = [each for each in parameters if each]
    if kept == "sort":
        parameters.sort(key=lambda each: each.partition("=")[0])
    if kept == "names":
        parameters = sorted({each.partition("=")[0] for each in parameters} - {""})
    return "&".join(parameters) if parameters else None


def normalize(uri, policy):
    """The form of a URI by a Policy."""
    text = uri_forms.as_text(uri_forms.normalize(uri, policy.level))
    scheme, authority, path, query, fragment = uri_forms.parse(text)
    if policy.fragment == "drop":
        fragment = None
        text = text.partition("#")[0]
    found = re.fullmatch(AUTHORITY, authority) if authority is not None else None
    opaque = authority is None and scheme is not None and not path.startswith("/")
    if opaque or (authority is not None and not found):
        return uri_forms.like(uri, text)
    if found:
        userinfo, host, port = found.groups()
        if policy.http_is_https and not port and scheme is not None and scheme.lower() == "http":
            scheme = scheme[:4] + "s"
        if policy.userinfo == "drop":
            userinfo = ""
        if policy.strip_www and not (policy.level == "iri" and (not host.isascii() or "%" in host)):
            host = re.sub(r"(?is)\A(?:www\.(?=.*\..))+", "", host)
        authority = userinfo + host + port
        if policy.session_ids == "drop":
            path = without_sessions(path)
        if policy.lower_case_path:
            path = lowered(path)
    if policy.shape:
        path = shapes.shaped(path.encode("latin-1")).decode("latin-1")
    if found:
        path = without_end(path, as_texts(policy.default_documents), policy.trailing_slash == "drop")
    names = (*policy.drop_parameters, *(SESSIONS if policy.session_ids == "drop" else ()))
    drops = [name.encode().lower() for name in names]
    if query is not None:
        query = None if policy.query == "drop" else query
    if query is not None:
        query = normal_query(query, drops, policy.query, (scheme or "http").lower() in {"http", "https", "ws", "wss"})
    made = "" if scheme is None else scheme + ":"
    made += "" if authority is None else "//" + authority
    return uri_forms.like(
        uri, made + path + "".join(mark + part for mark, part in (("?", query), ("#", fragment)) if part is not None)
    )
