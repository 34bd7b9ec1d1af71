"""URLs of the first schemes, parsed into what a client needs (RFC 1630; RFC 1738 for what it left out).

A URL is first split into components as RFC 3986 splits every URI, then by the delimiters of its scheme. Only then is
each piece percent-decoded, once: the `%2F` in a file name is a "/" of that name and separates nothing. Parts that RFC
1630 leaves undefined are returned as they are spelled: the path of http, fragments, and everything after an unknown
scheme.

Each scheme is one function below its quoted grammar, and one row of the table at the end. A text that is not a URI by
RFC 3986 is rejected (except for the double quote, which RFC 1630 allows), and so is a text that matches neither of the
grammars above the function. Decoded text may contain any character, including control characters: check it before
sending it to a server.

>>> parse("ftp://user:pw@h/a/b/c;type=I")  # doctest: +NORMALIZE_WHITESPACE
{'scheme': 'ftp', 'host': 'h', 'port': 21, 'user': 'user', 'password': 'pw', 'cwd': ['a', 'b'], 'file': 'c',
 'list_directory': False, 'type': 'I'}
>>> parse("wais://h/db/TEXT/1=abc;2=x%2Fy;")["wpath"]
[(1, 'abc'), (2, 'x/y')]
>>> parse("tag:example.org,2026:a?b")
{'scheme': 'tag', 'opaque': 'example.org,2026:a?b'}
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Literal, NamedTuple

from uricodec._codec._triplets import percent_decode
from uricodec.errors import UriSyntaxError
from uricodec.uri import Components, check, split

__all__ = ["parse"]


def __dir__() -> list[str]:
    return __all__


_Given = str | bytes | bytearray | memoryview
_Found = dict[str, Any]


def parse(uri: _Given) -> _Found:
    """Parse a URL by the grammar of its scheme.

    Args:
        uri (str | bytes-like): The URL, perhaps with a fragment, and perhaps with the prefix "url:".

    Returns:
        dict: `scheme`, in lower case; `prefixed`, True, if the URL has the prefix; `fragment`, as it is spelled, if the
            URL has a "#"; and the keys of the scheme, which are always all present:

            http, https: host, port, path (as it is spelled), search (a list of words, or None)
            ftp: host, port, user, password (or None), cwd (a list), file (or None), list_directory, type (or None)
            gopher: host, port, gtype, selector
            mailto: local, host; also query, as it is spelled, if there is a "?"
            news: kind ("all", "group", "article"); group (a list), or local and host
            nntp: group (a list), article_number (or None); also host and port if there is a "//"
            telnet, rlogin, tn3270: host, port (or None), user (or None), password (or None)
            wais: host, port, database, and search (a list, or None), or wtype and wpath (pairs of number and field)
            prospero: host, port, hsoname, version (or None), attributes (or None); also fields (pairs) if it has any
            file: host, path (a list)
            mid, cid: id_left, id_right
            afs: cell, path (a list)
            urn, and every other scheme: opaque, as it is spelled

            Numbers are int; texts from the URL are str, or bytes for a bytes-like object.

    Raises:
        UriSyntaxError: If the text is not a URI, does not match the grammar of its scheme, or, for a str, has triplets
            that do not decode to UTF-8. (Pass bytes if they may: in RFC 1630 triplets encode ISO Latin 1.)

    Source: RFC 1630; RFC 1738 section 3.

    >>> parse("http://info.cern.ch:8000/imaginary/test")
    {'scheme': 'http', 'host': 'info.cern.ch', 'port': 8000, 'path': '/imaginary/test', 'search': None}
    >>> parse(b"url:news:comp.infosystems.www")
    {'scheme': b'news', 'prefixed': True, 'kind': 'group', 'group': [b'comp', b'infosystems', b'www']}
    >>> parse("news:12345667123%asdghfh@info.cern.ch")
    Traceback (most recent call last):
    uricodec.errors.UriSyntaxError: malformed percent (reserved for future extension) at offset 16
    """
    text = "".join(uri) if isinstance(uri, str) else memoryview(uri).tobytes().decode("latin-1")
    whole = _Piece(text, 0, uri)
    #   prefixedurl            u r l : url
    prefixed = text[:4].lower() == "url:"
    url = _url(whole.at(4) if prefixed else whole)
    if url.scheme == "url":
        raise whole.error('repeated prefix "url:"', 4)
    found: _Found = {"scheme": _like(url.scheme, uri)}
    if prefixed:
        found["prefixed"] = True
    if url.fragment:
        found["fragment"] = url.fragment.spelled()
    return found | _SCHEMES.get(url.scheme, _opaque)(url)


# --- pieces -----------------------------------------------------------------------------------------------------------


class _Piece(NamedTuple):
    """A piece of the input, in ASCII, and its offset there."""

    text: str
    start: int
    given: _Given

    def at(self, start: int, end: int | None = None) -> _Piece:
        return _Piece(self.text[start:end], self.start + start, self.given)

    def cut(self, delimiter: str) -> tuple[_Piece, _Piece | None]:
        """Return the text before and after the first delimiter; None for the latter if there is none."""
        found = self.text.find(delimiter)
        return (self, None) if found < 0 else (self.at(0, found), self.at(found + len(delimiter)))

    def split(self, delimiter: str) -> Iterator[_Piece]:
        start = 0
        while (end := self.text.find(delimiter, start)) >= 0:
            yield self.at(start, end)
            start = end + len(delimiter)
        yield self.at(start)

    def spelled(self) -> str | bytes:
        return _like(self.text, self.given)

    def decoded(self) -> str | bytes:
        try:
            return percent_decode(self.spelled(), errors="raise")
        except UriSyntaxError as error:
            raise self.error("invalid UTF-8", error.offset) from None

    def filled(self, what: str) -> _Piece:
        if not self.text:
            raise self.error(f"missing {what}")
        return self

    def number(self, what: str, largest: int) -> int:
        wrong = re.search("[^0-9]|^$", self.text)
        if wrong:
            raise self.error(f"invalid character in {what}" if self.text else f"missing {what}", wrong.start())
        digits = self.text.lstrip("0") or "0"
        # int() rejects thousands of digits, and takes more than linear time for fewer.
        if len(digits) > len(str(largest)) or int(digits) > largest:
            raise self.error(f"{what} must be at most {largest}")
        return int(digits)

    def error(self, reason: str, at: int = 0) -> UriSyntaxError:
        return UriSyntaxError(reason, self.given, self.start + at)


def _like(text: str, given: _Given) -> str | bytes:
    return text if isinstance(given, str) else text.encode("ascii")


class _Url(NamedTuple):
    """The components of RFC 3986 (None if undefined), and everything between scheme and fragment."""

    scheme: str
    rest: _Piece
    authority: _Piece | None
    userinfo: _Piece | None
    host: _Piece | None
    port: _Piece | None
    path: _Piece
    query: _Piece | None
    fragment: _Piece | None

    def without(self, *components: str) -> None:
        """Raise an error if the URL has one of these components, which the scheme does not allow."""
        for component in components:
            piece = getattr(self, component)
            if piece is not None:
                delimiter = {"authority": 2, "userinfo": 0}.get(component, 1)
                raise piece.error(f"unexpected {component} in {self.scheme} URL", -delimiter)

    def like(self, text: str) -> str | bytes:
        return _like(text, self.rest.given)


def _url(piece: _Piece) -> _Url:
    parts = _split(piece)
    scheme, _ = piece.cut(":")
    rest, fragment = piece.at(len(scheme.text) + 1).cut("#")
    path, query = rest.cut("?")
    authority = userinfo = host = port = None
    if parts.authority is not None:
        authority, path = path.at(2, 2 + len(parts.authority)), path.at(2 + len(parts.authority))
        before, after = authority.cut("@")
        userinfo, server = (None, before) if after is None else (before, after)
        host = server.at(0, len(parts.host or ""))
        port = None if parts.port is None else server.at(len(host.text) + 1)
    return _Url(scheme.text.lower(), rest, authority, userinfo, host, port, path, query, fragment)


# "Sequences which start with a percent sign but are not followed by two hexadecimal characters are reserved for future
# extension."
_REASONS = {
    "percent": "malformed percent (reserved for future extension)",
    "scheme": "missing scheme",
    "host-delimiter": "host contains an encoded delimiter",  # hosts are decoded here
}


def _split(piece: _Piece, production: Literal["URI", "relative-ref"] = "URI") -> Components:
    # The double quote is one of the "extra" characters in RFC 1630, as the single quote is, and of no later RFC.
    text = piece.text.replace('"', "'")
    fault = check(text, production, safe_host=True)
    if fault and fault.code in _REASONS:
        raise piece.error(_REASONS[fault.code], fault.offset)
    try:
        return split(text)
    except UriSyntaxError as error:
        raise piece.error(error.reason, error.offset) from None


# --- parts shared by several schemes ----------------------------------------------------------------------------------

# RFC 1630
#   login                  [ user [ : password ] @ ] hostport
#   hostport               host [ : port ]
#   host                   hostname | hostnumber
# RFC 1738
#   login          = [ user [ ":" password ] "@" ] hostport
#   hostport       = host [ ":" port ]
# Section 3.1: "an empty user name or password is different than no user name or password". Both grammars
# require a host; RFC 3986 does not. Only RFC 3986 allows an empty port, which equals the default (section 6.2.3).


def _server(url: _Url, port: int | None) -> _Found:
    if url.host is None:
        raise url.rest.error('expected "//"')
    found = port if url.port is None or not url.port.text else url.port.number("port", 0xFFFF)
    return {"host": url.host.filled("host").decoded(), "port": found}


def _login(url: _Url, port: int | None, user: str | None = None) -> _Found:
    found = _server(url, port)
    if url.userinfo is None:
        return {**found, "user": None if user is None else url.like(user), "password": None}
    name, password = url.userinfo.cut(":")
    return {**found, "user": name.decoded(), "password": None if password is None else password.decoded()}


def _local_and_host(url: _Url) -> tuple[_Piece, _Piece]:
    """Return the text before and after the last "@"; RFC 1630 allows "@" in the text before it."""
    found = url.path.text.rfind("@")
    if found < 0:
        raise url.path.error('expected "@"', len(url.path.text))
    return url.path.at(0, found).filled('name before "@"'), url.path.at(found + 1).filled("host")


def _hostname(piece: _Piece) -> str | bytes:
    """Check and decode a host that is part of a path."""
    beside = _split(_Piece(f"//{piece.text}", piece.start - 2, piece.given), "relative-ref")
    if beside.host != piece.text:
        raise piece.error("invalid host", len(beside.host or ""))
    return piece.decoded()


#   search                 xalphas [ + search ]
# "Within the query string, the plus sign is reserved as shorthand notation for a space."
def _words(query: _Piece | None) -> list[str | bytes] | None:
    return None if query is None else [word.decoded() for word in query.split("+")]


#   path                   void |  segment  [  / path ]
def _segments(path: _Piece) -> list[str | bytes]:
    """Return the decoded segments of a path that begins with "/"."""
    if not path.text:
        raise path.error("missing path")
    return [segment.decoded() for segment in path.at(1).split("/")]


#   group                  ialpha [ . group ]
#   ialpha                 alpha [ xalphas ]
# RFC 1738
#   group          = alpha *[ alpha | digit | "-" | "." | "+" | "_" ]
# By RFC 1630 each part begins with a letter. Existing groups break that rule (alt.2600), so only the first part must.
def _group(piece: _Piece) -> list[str | bytes]:
    wrong = re.search("^[^A-Za-z]|[/:;=]|^$", piece.text)
    if wrong:
        reason = "invalid character in newsgroup name" if piece.text else "missing newsgroup name"
        raise piece.error(reason, wrong.start())
    return [part.filled("part of a newsgroup name").decoded() for part in piece.split(".")]


# --- schemes ----------------------------------------------------------------------------------------------------------


#   httpaddress            h t t p :   / / hostport [  / path ] [ ? search ]
# RFC 1738
#   httpurl        = "http://" hostport [ "/" hpath [ "?" search ]]
# Section 3.3: "No user name or password is allowed." RFC 1630: "the path is handled transparently by those who handle
# URLs, except for the servers which de-reference them." RFC 9110 section 4.2.2 gives https the same syntax.
def _http(url: _Url, port: int = 80) -> _Found:
    url.without("userinfo")
    return {**_server(url, port), "path": url.path.spelled(), "search": _words(url.query)}


#   ftpaddress             f t p : / / login / path [  ftptype ]
#   ftptype                A formcode | E formcode | I | L digits
#   formcode               N | T | C
# "The data type is specified by a suffix to the URL. Possible suffixes are: ;type = <type-code> [...]   /   Use FTP
# directory list commands to read directory". The literal ";type=" is not in the BNF. "The default, however, [...] that
# the user name is "anonymous"". RFC 1738
#   ftpurl         = "ftp://" login [ "/" fpath [ ";type=" ftptype ]]
#   fpath          = fsegment *[ "/" fsegment ]
#   fsegment       = *[ uchar | "?" | ":" | "@" | "&" | "=" ]
#   ftptype        = "A" | "I" | "D" | "a" | "i" | "d"
# Section 3.2.2: "Within a name or CWD component, the characters "/" and ";" are reserved and must be encoded." The
# types are those of both; D asks for a list of `file`. The "?" of fsegment begins a query in every other RFC.
def _ftp(url: _Url) -> _Found:
    url.without("query")
    found = _login(url, 21, "anonymous")
    end = url.path.text.rfind("/")
    directories = [] if end <= 0 else [_ftp_name(segment) for segment in url.path.at(1, end).split("/")]
    name, suffix = url.path.at(end + 1).cut(";")
    kind = None
    if suffix is not None:
        typed = re.fullmatch("type=([AE][NTC]?|[ID]|L[0-9]+)", suffix.text, re.IGNORECASE)
        if not typed:
            raise suffix.error('expected ";type=" and a type code', -1)
        kind = typed[1].upper()
    return {
        **found,
        "cwd": directories,
        "file": name.decoded() if name.text else None,
        "list_directory": not name.text or kind == "D",
        "type": None if kind is None else url.like(kind),
    }


def _ftp_name(segment: _Piece) -> str | bytes:
    name, suffix = segment.cut(";")
    if suffix is not None:
        raise suffix.error('unexpected ";" before the last segment', -1)
    return name.decoded()


#   gopheraddress          g o p h e r : / / hostport [/ gtype  [ gcommand ] ]
#   gtype                  xalpha
#   gcommand               path
# "If the encoded command string (with trailing CR LF stripped) would be void then the gopher type character may be
# omiited and "1" (ASCII 31 hex) is assumed." RFC 1738
#   gopherurl      = "gopher://" hostport [ / [ gtype [ selector [ "%09" search [ "%09" gopher+_string ] ] ] ] ]
# Section 3.4.1: "Within the <gopher-path>, no characters are reserved": a "?" belongs to it. Tabs stay in `selector`,
# because the client sends it as a whole.
def _gopher(url: _Url) -> _Found:
    url.without("userinfo")
    found = _server(url, 70)
    if not url.path.text:
        url.without("query")
    command = url.rest.at(url.path.start + 1 - url.rest.start)
    kind = 3 if command.text.startswith("%") else 1
    return {**found, "gtype": command.at(0, kind).decoded() or url.like("1"), "selector": command.at(kind).decoded()}


#   mailtoaddress          m a i l t o : xalphas @ hostname
# RFC 1738
#   mailtourl      = "mailto:" encoded822addr
#   encoded822addr = 1*xchar               ; further defined in RFC822
# RFC 6068 section 2 puts header fields after a "?": they are in `query`. It also allows several addresses, or none.
def _mailto(url: _Url) -> _Found:
    url.without("authority")
    local, host = _local_and_host(url)
    found = {"local": local.decoded(), "host": _hostname(host)}
    return found if url.query is None else {**found, "query": url.query.spelled()}


#   newsaddress            n e w s : groupart
#   groupart               * | group | article
#   article                xalphas @ host
# RFC 1738
#   newsurl        = "news:" grouppart
#   grouppart      = "*" | group | article
#   article        = 1*[ uchar | ";" | "/" | "?" | ":" | "&" | "=" ] "@" host
# "News host names are NOT part of news URLs."
def _news(url: _Url) -> _Found:
    url.without("authority", "query")
    if url.path.text == "*":
        return {"kind": "all"}
    if "@" not in url.path.text:
        return {"kind": "group", "group": _group(url.path)}
    local, host = _local_and_host(url)
    return {"kind": "article", "local": local.decoded(), "host": _hostname(host)}


#   nntpaddress            n n t p : group /  digits
# The grammar has no host, although "the news server name, newsgroup name, and index number of an article [...] are
# given". RFC 1738
#   nntpurl        = "nntp://" hostport "/" group [ "/" digits ]
def _nntp(url: _Url) -> _Found:
    url.without("userinfo", "query")
    server = {} if url.authority is None else _server(url, 119)
    group, number = (url.path.filled("path").at(1) if server else url.path).cut("/")
    found = {**server, "group": _group(group), "article_number": None}
    if number is None and not server:
        raise group.error("missing article number", len(group.text))
    if number is not None:
        found["article_number"] = number.number("article number", _LARGEST)
    return found


# The largest field number, version or article number: 18 digits fit every 64-bit integer.
_LARGEST = 10**18 - 1


#   prosperolink           p r o s p e r o : / / hostport / hsoname [ % 0 0 version [ attributes ] ]
#   hsoname                path
#   version                digits
#   attributes             attribute [ attributes ]
#   attribute              alphanums
# RFC 1738
#   prosperourl    = "prospero://" hostport "/" ppath *[ fieldspec ]
#   fieldspec      = ";" fieldname "=" fieldvalue
# Section 3.11: "If :<port> is omitted, the port defaults to 1525." "a slash "/" may appear in the <hsoname> without
# quoting and no significance may be assumed". The "%00" is a separator and cannot be part of a name.
def _prospero(url: _Url) -> _Found:
    url.without("userinfo", "query")
    found = _server(url, 1525)
    name, versioned = url.path.filled("path").at(1).cut("%00")
    name, *fields = name.split(";")
    found |= {"hsoname": name.decoded(), "version": None, "attributes": None}
    if versioned is not None:
        digits = len(versioned.text) - len(versioned.text.lstrip("0123456789"))
        found["version"] = versioned.at(0, digits).number("version", _LARGEST)
        attributes = versioned.at(digits)
        wrong = re.search("[^0-9A-Za-z]", attributes.text)
        if wrong:
            raise attributes.error("invalid character in attributes", wrong.start())
        found["attributes"] = attributes.spelled() if attributes.text else None
    if fields:
        found["fields"] = [_field(field) for field in fields]
    return found


def _field(piece: _Piece) -> tuple[str | bytes, str | bytes]:
    name, value = piece.cut("=")
    if value is None:
        raise piece.error('expected "=" in field', len(piece.text))
    return name.decoded(), value.decoded()


#   telnetaddress          t e l n e t : / / login
# RFC 1738
#   telneturl      = "telnet://" login [ "/" ]
# rlogin and tn3270 are in the prose of RFC 1630 alone ("to represent interactive sessions"), without their ports.
def _session(url: _Url, port: int | None = None) -> _Found:
    url.without("query")
    if url.path.text not in {"", "/"} and url.authority is not None:
        raise url.path.error(f"unexpected path in {url.scheme} URL", 1)
    return _login(url, port)


#   waisaddress            waisindex | waisdoc
#   waisindex              w a i s : / / hostport / database [ ? search ]
#   waisdoc                w a i s : / / hostport / database / wtype  / wpath
#   wpath                  digits = path ;  [ wpath ]
# "For each field, the identifier field number is the digits before the equals sign, and the field contents follow,
# encoded in the conventional encoding, terminated by ";"." In RFC 1738 the wpath is one opaque piece without "="
# and ";": that form is not supported. Section 3.9: "If :<port> is omitted, the port defaults to 210."
def _wais(url: _Url) -> _Found:
    url.without("userinfo")
    found = _server(url, 210)
    database, document = url.path.filled("path").at(1).cut("/")
    found["database"] = database.filled("database").decoded()
    if document is None:
        return {**found, "search": _words(url.query)}
    url.without("query")
    kind, wpath = document.cut("/")
    if wpath is None:
        raise document.error("missing document path", len(document.text))
    *fields, rest = wpath.split(";")
    if rest.text or not fields:
        raise rest.error('expected ";" after field', len(rest.text))
    return {**found, "wtype": kind.filled("type").decoded(), "wpath": [_wais_field(field) for field in fields]}


def _wais_field(piece: _Piece) -> tuple[int, str | bytes]:
    number, contents = piece.cut("=")
    if contents is None:
        raise piece.error('expected "=" in field', len(piece.text))
    return number.number("field number", _LARGEST), contents.decoded()


# Prose only in RFC 1630: "The syntax is similar to the ftp syntax, but in this case the slash is used to donate
# boundaries between directory levels". "A void host field is equivalent to "localhost"." RFC 1738
#   fileurl        = "file://" [ host | "localhost" ] "/" fpath
# RFC 8089 section 2 allows for neither "//" nor host before the path.
def _file(url: _Url) -> _Found:
    url.without("userinfo", "port", "query")
    host = url.host.decoded() if url.host else ""
    if not url.path.text.startswith("/"):
        raise url.path.error('expected "/" before the path')
    return {"host": host or url.like("localhost"), "path": _segments(url.path)}


#   midaddress             m i d  :  addr-spec
#   cidaddress             c i d : content-identifier
# The content-identifier is not defined; RFC 2392 makes it an addr-spec, too, and has "/" and a content-identifier
# after a mid: not read here, a "/" has to be encoded. The right side need not be the name of a host.
def _message(url: _Url) -> _Found:
    url.without("authority", "query")
    left, right = _local_and_host(url)
    _, rest = url.path.cut("/")
    if rest is not None:
        raise rest.error('unexpected "/" in message identifier', -1)
    return {"id_left": left.decoded(), "id_right": right.decoded()}


#   afsaddress             a f s : / / cellname / path
#   cellname               hostname
# "left in as historical note, but is not a url production".
def _afs(url: _Url) -> _Found:
    url.without("userinfo", "port", "query")
    return {"cell": _server(url, None)["host"], "path": _segments(url.path)}


# "The "urn" prefix is reserved for use in encoding a Uniform Resource Name when that has been developed". Those of RFC
# 1630 have no NID. This module does not parse them, nor those of RFC 8141 (see uricodec.urn).
def _opaque(url: _Url) -> _Found:
    return {"opaque": url.rest.spelled()}


_SCHEMES: dict[str, Callable[[_Url], _Found]] = {
    "http": _http,
    "https": partial(_http, port=443),
    "ftp": _ftp,
    "gopher": _gopher,
    "mailto": _mailto,
    "news": _news,
    "nntp": _nntp,
    "prospero": _prospero,
    "telnet": partial(_session, port=23),
    "rlogin": _session,
    "tn3270": _session,
    "wais": _wais,
    "file": _file,
    "mid": _message,
    "cid": _message,
    "afs": _afs,
    "urn": _opaque,
}
