"""The host and port that other parsers find in a URL: what a client with that parser would connect to.

PARSERS has those that are installed, by name. Each takes a list of URLs and returns for each URL (host, port), or None
if the parser rejects it. A host is in lower case; an address is an object of `ipaddress`, so its spelling does not
count.
"""

import contextlib
import ctypes
import ctypes.util
import http.client
import ipaddress
import json
import shutil
import subprocess
import urllib.parse
import urllib.request
from functools import partial

DEFAULTS = {"http": 80, "https": 443, "ws": 80, "wss": 443}


def found(scheme, host, port):
    """Return what a parser found in a form that can be compared; None if it is not a URL with a host."""
    if scheme is None or scheme.lower() not in DEFAULTS or not host:
        return None
    host = host.lower()
    with contextlib.suppress(ValueError):
        host = ipaddress.ip_address(host[1:-1] if host[0] == "[" and host[-1] == "]" else host)
    return host, DEFAULTS[scheme.lower()] if port is None or port == "" else int(port)


def _urllib_parse(url):
    parts = urllib.parse.urlsplit(url)
    return found(parts.scheme, parts.hostname, parts.port)


def _urllib_request(url):
    request = urllib.request.Request(url)
    if not request.host:
        return None
    connection = http.client.HTTPConnection(request.host)  # which opens no socket yet
    _, _, port = request.host.rpartition("]")[2].rpartition(":")
    return found(request.type, connection.host, connection.port if port.isdigit() else None)


def _urllib3(url):
    import urllib3

    parts = urllib3.util.parse_url(url)
    return found(parts.scheme, parts.host, parts.port or None)  # 0 is the default port to PoolManager


def _requests(url):
    import requests

    return _urllib3(requests.Request("GET", url).prepare().url)


def _yarl(url):
    import yarl

    parts = yarl.URL(url)
    return found(parts.scheme, parts.raw_host, parts.port)


def _httpx(url):
    import httpx

    parts = httpx.URL(url)
    return found(parts.scheme, parts.raw_host.decode("ascii"), parts.port)


def _ada(url):
    import ada_url

    parts = ada_url.URL(url)
    return found(parts.protocol[:-1], parts.hostname, parts.port)


def one_by_one(parser, urls):
    """Return what a parser finds in each URL. Any exception is a rejection: parsers raise many kinds."""
    results = []
    for url in urls:
        try:
            results.append(parser(url))
        except Exception:
            results.append(None)
    return results


NODE = """
const lines = require("fs").readFileSync(0, "utf-8").split("\\n");
for (const line of lines) {
  let found = null;
  try { const u = new URL(JSON.parse(line)); found = [u.protocol.slice(0, -1), u.hostname, u.port]; } catch (e) {}
  console.log(JSON.stringify(found));
}
"""


def _node(urls):
    lines = "\n".join(map(json.dumps, urls))
    output = subprocess.run(["node", "-e", NODE], input=lines, capture_output=True, text=True, check=True).stdout
    return [row and found(*row) for row in map(json.loads, output.splitlines()[: len(urls)])]


# enum CURLUPart and flags of curl/urlapi.h. The flags are those of curl's own transfers.
CURL_URL, CURL_SCHEME, CURL_HOST, CURL_PORT = 0, 1, 5, 6
CURL_FLAGS = 1 << 3 | 1 << 4 | 1 << 9  # CURLU_NON_SUPPORT_SCHEME, CURLU_PATH_AS_IS, CURLU_GUESS_SCHEME


def _curl(library, url):
    octets = url.encode("utf-8", "surrogatepass")
    if b"\0" in octets:
        return None
    handle = ctypes.c_void_p(library.curl_url())
    try:
        if library.curl_url_set(handle, CURL_URL, octets, CURL_FLAGS):
            return None
        parts = []
        for part in CURL_SCHEME, CURL_HOST, CURL_PORT:
            text = ctypes.c_void_p()
            status = library.curl_url_get(handle, part, ctypes.byref(text), 0)
            parts.append(None if status else ctypes.cast(text, ctypes.c_char_p).value.decode())
            library.curl_free(text)
        return found(*parts)
    finally:
        library.curl_url_cleanup(handle)


def _importable(name):
    try:
        __import__(name)
    except ImportError:
        return False
    return True


PARSERS = {"urllib.parse": partial(one_by_one, _urllib_parse), "urllib.request": partial(one_by_one, _urllib_request)}
for _name, _module, _parser in (
    ("urllib3", "urllib3", _urllib3),
    ("requests", "requests", _requests),
    ("yarl", "yarl", _yarl),
    ("httpx", "httpx", _httpx),
    ("ada", "ada_url", _ada),
):
    if _importable(_module):
        PARSERS[_name] = partial(one_by_one, _parser)
if shutil.which("node"):
    PARSERS["node"] = _node
with contextlib.suppress(OSError):  # missing, or, under an emulator, of another machine
    _library = ctypes.CDLL(ctypes.util.find_library("curl") or "libcurl.so.4")
    _library.curl_url.restype = ctypes.c_void_p
    PARSERS["curl"] = partial(one_by_one, partial(_curl, _library))
