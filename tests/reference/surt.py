"""The reference implementation of the policy "surt", on bytes; regular expressions say what sessions are."""

import re
import socket

WEB = {b"http": 80, b"https": 443}
SESSIONS = (
    *(rb"jsessionid=[0-9a-z]{32}", rb"phpsessid=[0-9a-z]{32}", rb"sid=[0-9a-z]{32}"),
    *(rb"aspsessionid[a-z]{8}=[a-z]{24}", rb"cfid=[^&]+&cftoken=[^&]+"),
)
ASP_SESSIONS = rb"\((?:[a-z]\([0-9a-z]{24}\))+\)/", rb"\([0-9a-z]{24}\)/"


def decoded(text):
    """Without any triplet: "%2541" is "A"."""
    while True:
        before, text = text, re.sub(rb"%([0-9A-Fa-f]{2})", lambda found: bytes([int(found[1], 16)]), text)
        if text == before:
            return text


def escaped(text):
    return b"".join(b"%%%02x" % c if c <= 32 or c >= 127 or c in b"#%" else bytes([c]) for c in text).lower()


def address(host):
    """The address that numbers stand for as in inet_aton(); a single one may have any size."""
    try:
        if host.isdigit():
            return socket.inet_ntoa((int(host[-4000:]) % 2**32).to_bytes(4, "big")).encode()
        if re.fullmatch(rb"[0-9]+(\.[0-9]+){1,3}", host):
            return socket.inet_ntoa(socket.inet_aton(host.decode())).encode()
    except OSError:
        pass
    return host


def normal_host(host):
    host = decoded(host).lower()
    if not host.isascii() and len(host) <= 1024:
        try:
            labels = host.decode("utf-8", "ignore").encode("idna")
        except UnicodeError:
            labels = None
        if labels is not None and len(labels) <= 253:
            host = labels.lower()
    host = address(host.replace(b"..", b".").strip(b"."))
    return b",".join(escaped(re.sub(rb"\Awww[0-9]*\.", b"", host)).split(b".")[::-1])


def normal_path(path):
    segments = []
    for segment in decoded(path).split(b"/"):
        if segment == b".." and segments:
            segments.pop()
        elif segment != b".":
            segments.append(segment)
    return without_asp_sessions(escaped(b"/" + b"/".join(filter(None, segments))))


def without_asp_sessions(path):
    for session in ASP_SESSIONS:
        path = re.sub(rb"^(.*/)" + session + rb"([^?]+\.aspx.*)$", rb"\1\2", path)
    return path


def without_host(path, query):
    """What follows the scheme, where the path is not a list of segments."""
    path, query = without_asp_sessions(escaped(decoded(path))), normal_query(query)
    if path != b"/":
        path = path.removesuffix(b"/")
    return path + (b"/" * (not path) + b"?" + query if query else b"")


def normal_query(query):
    query = escaped(decoded(query))
    for session in SESSIONS:
        query = re.sub(rb"^(.*)" + session + rb"(?:&(.*))?$", lambda found: found[1] + (found[2] or b""), query)
    return b"&".join(sorted(query.split(b"&"), key=lambda each: each.partition(b"=")))


def normal_port(port, default):
    if re.fullmatch(rb"[0-9]+", port) and int(port[-4000:]) <= 65535:
        port = b"" if int(port) in (0, default) else b"%d" % int(port)
    return b":" + escaped(port) if port else b""


def split_authority(authority):
    """The host and the port; brackets enclose a host."""
    host = authority.rstrip(b":").rpartition(b"@")[2]
    if b"[" in host:
        host, _, port = host.partition(b"[")[2].partition(b"]")
        return host, port.partition(b":")[2]
    host, _, port = host.partition(b":")
    return host, port


def key(url):
    if isinstance(url, str):
        return key(url.encode()).decode()
    if url.startswith(b"filedesc"):
        return url
    url = re.sub(rb"[\t\r\n]", b"", url).strip(b" \t\n\r\x0b\x0c")
    if not url:
        return b"-"
    if not re.match(rb"[A-Za-z][A-Za-z0-9+.-]*:", url):
        url = b"http://" + url
    while re.match(rb"https?://https?://", url):
        url = url.partition(b"://")[2]
    given, _, rest = url.partition(b"#")[0].partition(b":")
    before, _, query = rest.partition(b"?")
    found = re.match(rb"(?://([^/]*))?(.*)", before, re.DOTALL)
    (host, port), path = split_authority(found[1] or b""), found[2]
    if given.startswith(b"http") and not host and path:
        host, _, path = path.lstrip(b"/").partition(b"/")
        path = b"/" + path
    host = normal_host(host)
    if not host:
        return given + b":" + without_host(path, query)
    query = normal_query(query)
    port = normal_port(port, WEB.get(given.lower()))
    return host + port + b")" + normal_path(path[1:]) + (b"?" + query if query else b"")
