"""The reference implementation of the policy "w3lib", on bytes, by means of Python's urllib.parse and ipaddress."""

import ipaddress
import re
import unicodedata
from urllib.parse import quote_from_bytes, unquote_to_bytes

from reference.errors import UriSyntaxError

SPECIAL = {"ftp", "file", "http", "https", "ws", "wss"}
WITH_PARAMETERS = {
    *("", "ftp", "hdl", "prospero", "http", "imap", "https", "shttp"),
    *("rtsp", "rtsps", "rtspu", "sip", "sips", "mms", "sftp", "tel"),
}
WITH_AUTHORITY = {
    *("ftp", "http", "gopher", "nntp", "telnet", "imap", "wais", "file", "mms", "https", "shttp", "snews", "prospero"),
    *("rtsp", "rtsps", "rtspu", "rsync", "svn", "svn+ssh", "sftp", "nfs", "git", "git+ssh", "ws", "wss"),
}


def text_of(data):
    """Decode UTF-8; triplets stand for other bytes."""
    text = data.decode("utf-8", "surrogateescape")
    return re.sub("[\udc80-\udcff]", lambda found: "%%%02X" % (ord(found[0]) - 0xDC00), text)


def literal(text):
    """The host that is written for what brackets contain."""
    if text[:1] in ("v", "V"):
        if not re.fullmatch("v[0-9a-fA-F]+[.].+", text):
            raise ValueError("ip-literal")
        return text
    address = ipaddress.IPv6Address(text)
    zone = "%" + address.scope_id if address.scope_id else ""
    if address.ipv4_mapped:  # Python before 3.13 writes hexadecimal digits
        return f"[::ffff:{address.ipv4_mapped}{zone}]"
    return f"[{address}]"


def domain(host):
    name, percent, zone = host.partition("%")
    host = name.lower() + percent + zone
    if not host.isascii() and len(host.encode()) <= 1024:
        try:
            labels = unicodedata.normalize("NFKC", host).encode("idna").decode()
        except UnicodeError:
            labels = "a" * 254
        host = labels if len(labels) <= 253 else host
    return host


def authority(text):
    cleaned = re.sub("[@:#?]", "", text)
    normal = unicodedata.normalize("NFKC", cleaned)
    if normal != cleaned and re.search(r"[/?#@:\\]", normal):
        raise ValueError("host-delimiter")
    userinfo, at, host = text.rpartition("@")
    if ("[" in text) != ("]" in text):
        raise ValueError("ip-literal")
    if "[" in host:
        before, _, rest = host.partition("[")
        host, _, port = rest.partition("]")
        if before or (port and port[0] != ":"):
            raise ValueError("ip-literal")
        host, port = literal(host), port[1:]
        if host[0] != "[":
            host = f"[{host}]" if ":" in host else domain(host)
        if host[0] == "[" and not host.isascii():
            raise ValueError("ip-literal")
    elif "[" in text:
        if not literal(host.partition(":")[0]).startswith("v"):
            raise ValueError("ip-literal")
        host = port = ""
    else:
        host, _, port = host.partition(":")
        host = domain(host)
    if port:
        if not re.fullmatch("[0-9]+", port) or int(port[-4000:]) > 65535:
            raise ValueError("port")
        port = f":{int(port)}"
    if at:
        userinfo = ":".join(quote(unquote_to_bytes(each), "!$&'()*+,") for each in userinfo.split(":", 1)) + "@"
    return userinfo + host.lower() + port


def quote(data, safe):
    return quote_from_bytes(data, safe)


def without_dots(path):
    output = []
    *segments, last = path[1:].split("/")
    for segment in (*segments, last):
        if segment == "..":
            del output[-1:]
        elif segment != ".":
            output.append(segment)
    if last in (".", ".."):
        output.append("")
    return "/" + "/".join(output)


def path_of(data):
    data = re.sub(b"(?i)%(25|2f|3b|3f)", lambda found: b"%25" + found[1].upper(), data)
    path = quote(unquote_to_bytes(data), "!$&'()*+,;=:/?@[]|%") or "/"
    return without_dots(path) if path[0] == "/" else path


def query_of(data):
    def decoded(part):
        return unquote_to_bytes(part.replace(b"+", b" "))

    parameters = [each.partition(b"=") for each in data.split(b"&") if each]
    parameters = sorted((decoded(name), decoded(value)) for name, _, value in parameters)
    return "&".join("=".join(quote(part, " ").replace(" ", "+") for part in each) for each in parameters)


def offset_of(url, count):
    """The offset of what stands after `count` bytes of a URL without the bytes that are removed."""
    start = len(url) - len(url.lstrip(bytes(range(33))))
    return [*(i for i in range(start, len(url)) if url[i] not in b"\t\r\n"), len(url)][count]


def key(url):
    if isinstance(url, str):
        return key(url.encode()).decode()
    original, url = url, re.sub(b"[\t\r\n]", b"", url.strip(bytes(range(33))))
    found = re.match(rb"([A-Za-z][A-Za-z0-9+.-]*):", url)
    scheme = found[1].decode().lower() if found else ""
    url = url[found.end() if found else 0 :].partition(b"#")[0]
    url, _, query = url.partition(b"?")
    if scheme in SPECIAL:
        url = url.replace(b"\\", b"/")
    netloc = params = ""
    if url[:2] == b"//":
        given, slash, url = url[2:].partition(b"/")
        url = slash + url
        try:
            netloc = authority(text_of(given))
        except ValueError as error:
            code = str(error) if str(error) in ("host-delimiter", "port") else "ip-literal"
            at = given.rfind(b"@") + 1
            if code == "port":
                at += given[at:].find(b"]") + 1 if given[at:].startswith(b"[") else 0
                at += given[at:].find(b":") + 1
            at += (found.end() if found else 0) + 2
            raise UriSyntaxError(code, original, offset_of(original, at)) from None
    if scheme in WITH_PARAMETERS:
        before, slash, last = url.rpartition(b"/")
        last, _, params = last.partition(b";")
        url, params = before + slash + last, params and ";" + quote(params, "!$&'()*+,;=:/?@%")
    path = path_of(url) + (params or "")
    if netloc or path[:2] == "//" or (scheme in WITH_AUTHORITY and path[0] == "/"):
        path = f"//{netloc}{path}"
    query = query_of(query)
    return ((scheme and scheme + ":") + path + (query and "?" + query)).encode()
