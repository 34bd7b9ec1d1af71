"""Naive twins of normalize, key, equivalent, resolve and relativize of `uri`, written from the RFCs.

Octets are looked at as text of one character each (Latin-1). Time does not matter here: remove_dot_segments() has the
two buffers of RFC 3986, and shortest() tries every reference that it can think of.
"""

import re
from ipaddress import IPv6Address
from typing import NamedTuple

import idna
from reference.errors import UriSyntaxError

LADDER = ["simple", "case", "percent", "path", "scheme", "iri"]
LEVELS = [*LADDER, "rfc1630", "rfc2396"]
ALPHANUM = set("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
HEX = "[0-9A-Fa-f]"


class Parts(NamedTuple):
    scheme: str | None
    authority: str | None
    path: str
    query: str | None
    fragment: str | None


def as_text(uri):
    """The octets as text; those of a str are its UTF-8."""
    octets = uri.encode() if isinstance(uri, str) else bytes(uri)
    return octets.decode("latin-1")


def like(uri, text):
    octets = text.encode("latin-1")
    return octets.decode() if isinstance(uri, str) else octets


def parse(text):
    """RFC 3986 appendix B, with the scheme by the grammar of section 3.1."""
    expression = r"(?:([A-Za-z][A-Za-z0-9+.-]*):)?(?://([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?"
    return Parts(*re.fullmatch(expression, text, re.DOTALL).groups())


def recompose(parts):
    """RFC 3986 section 5.3, with what keeps the structure."""
    scheme, authority, path, query, fragment = parts
    if authority is None and path.startswith("//"):
        path = "/." + path
    if scheme is None and authority is None and parse(path).scheme is not None:
        path = "./" + path
    result = ""
    if scheme is not None:
        result += scheme + ":"
    if authority is not None:
        result += "//" + authority
    result += path
    if query is not None:
        result += "?" + query
    if fragment is not None:
        result += "#" + fragment
    return result


# --- RFC 3986 section 5.2 ---------------------------------------------------------------------------------------------


def remove_dot_segments(path):
    """Section 5.2.4, step by step."""
    source, output = path, ""
    while source:
        if source.startswith("../"):
            source = source[3:]
        elif source.startswith("./"):
            source = source[2:]
        elif source.startswith("/./"):
            source = "/" + source[3:]
        elif source == "/.":
            source = "/"
        elif source.startswith("/../"):
            source = "/" + source[4:]
            output = output[: output.rfind("/")] if "/" in output else ""
        elif source == "/..":
            source = "/"
            output = output[: output.rfind("/")] if "/" in output else ""
        elif source in {".", ".."}:
            source = ""
        else:
            segment = re.match("/?[^/]*", source)[0]
            output += segment
            source = source[len(segment) :]
    return output


def merge(base, path):
    """Section 5.2.3."""
    if base.authority is not None and base.path == "":
        return "/" + path
    return base.path[: base.path.rfind("/") + 1] + path


def resolve_text(base_text, ref_text, strict=True):
    """Section 5.2.2."""
    base, ref = parse(base_text), parse(ref_text)
    scheme = ref.scheme
    if not strict and scheme is not None and scheme.lower() == base.scheme.lower():
        scheme = None
    if scheme is not None:
        target = Parts(scheme, ref.authority, remove_dot_segments(ref.path), ref.query, ref.fragment)
    elif ref.authority is not None:
        target = Parts(base.scheme, ref.authority, remove_dot_segments(ref.path), ref.query, ref.fragment)
    elif ref.path == "":
        query = ref.query if ref.query is not None else base.query
        target = Parts(base.scheme, base.authority, base.path, query, ref.fragment)
    else:
        path = ref.path if ref.path.startswith("/") else merge(base, ref.path)
        target = Parts(base.scheme, base.authority, remove_dot_segments(path), ref.query, ref.fragment)
    return recompose(target)


def resolve(base, ref, strict=True):
    if parse(as_text(base)).scheme is None:
        raise UriSyntaxError("scheme", base, len(re.match("(?:[A-Za-z][A-Za-z0-9+.-]*)?", as_text(base))[0]))
    return like(base, resolve_text(as_text(base), as_text(ref), strict))


def references(target):
    """References that might lead to a target, each a valid one if the target is.

    Of a long path, only what begins at a segment, after few "..": that others lead nowhere is seen in short ones.
    """
    scheme, authority, path, _, fragment = parse(target)
    is_long = len(path) > 100
    behind = target[len(recompose(Parts(scheme, authority, path, None, None))) :]
    yield target
    paths = {
        path[i:] for i in range(len(path) + 1) if not is_long or "/" in path[max(i - 1, 0) : i + 1] or i == len(path)
    }
    paths.add(path)
    if authority is None:
        paths |= {tail[2:] for tail in paths if tail.startswith("/.//")}
    ups = ["../" * k for k in range(min(path.count("/") + 3, 8 if is_long else 1000))]
    for tail in paths:
        for start in ["", "/", "./", "/.", "..", *ups, *(up + "." for up in ups), *(up[:-1] for up in ups)]:
            for end in {behind, "" if fragment is None else "#" + fragment}:
                made = parse(start + tail + end)
                if made.scheme is None and made.authority is None and ":" not in made.path.split("/")[0]:
                    yield start + tail + end
    if authority is not None:
        yield target[len(scheme) + 1 :]


def shortest(base, target):
    """How long the shortest reference is that resolves to a target; None if none does."""
    made = {ref for ref in references(target) if resolve_text(base, ref) == target}
    return min(map(len, made), default=None)


def relativize(base, target):
    """The shortest reference that resolves to a target; of equally short ones, the one that leaves out most.

    If there is none, the code and the offset of a fault.
    """
    text = as_text(target)
    scheme, authority, path, _, _ = parse(text)
    if scheme is None:
        return "scheme", len(re.match(r"(?:[A-Za-z][A-Za-z0-9+.-]*)?", text)[0])

    def rank(ref):
        made = parse(ref)
        kinds = made.scheme is None, made.authority is None, not made.path.startswith("/"), not made.path
        return len(ref), *(not kind for kind in kinds), ref

    made = min({ref for ref in references(text) if resolve_text(as_text(base), ref) == text}, key=rank, default=None)
    if made is None:
        head = len(recompose(Parts(scheme, authority, "", None, None)))
        dot = re.search(r"(?:/|^)\.\.?(?=/|$)", path)
        return "path", head + dot.start()
    return like(target, made)


# --- levels -----------------------------------------------------------------------------------------------------------

# RFC 3986 section 2.3:  unreserved = ALPHA / DIGIT / "-" / "." / "_" / "~"
UNRESERVED = ALPHANUM | set("-._~")
# RFC 2396 section 2.3:  unreserved = alphanum | mark
UNRESERVED_2396 = ALPHANUM | set("-_.!~*'()")
# RFC 1630: xalpha, without those that the section "Reserved characters" names.
PLAIN_1630 = ALPHANUM | set("$-_@.&") | set("\"'(),")
KEPT_1630 = set("=;/#?: *!+%[]") | {chr(octet) for octet in range(128, 256)}

DECODED = {"case": set(), "rfc1630": PLAIN_1630, "rfc2396": UNRESERVED_2396}

# RFC 3987 section 2.2: ucschar, iprivate.
IRI_CHARACTERS = re.compile(
    "[\xa0-\ud7ff\uf900-\ufdcf\ufdf0-\uffef"
    + "".join(f"{chr(plane << 16)}-{chr(plane << 16 | 0xFFFD)}" for plane in range(1, 14))
    + "\U000e1000-\U000efffd"
    + "\ue000-\uf8ff\U000f0000-\U000ffffd\U00100000-\U0010fffd]"
)


def triplets(characters):
    return "".join(f"%{ord(character):02X}" for character in characters)


def encode_level(component, decoded, encoded=frozenset()):
    """Triplets in upper case, or decoded; but no digit joins a "%" that stands for itself."""
    result = ""
    for token in re.findall(f"%{HEX}{HEX}|.", component, re.DOTALL):
        if len(token) == 1:
            result += triplets(token) if token in encoded else token
            continue
        character = chr(int(token[1:], 16))
        joins = re.fullmatch(HEX, character) and re.search(rf"%{HEX}?\Z", result)
        result += character if character in decoded and not joins else token.upper()
    return result


def fold(component):
    """Lower case, but for digits of triplets."""
    return re.sub(f"%{HEX}{HEX}|[A-Z]", lambda found: found[0] if len(found[0]) == 3 else found[0].lower(), component)


def one_spelling(host):
    """RFC 5952, of an IPv6 address with or without a zone; all other hosts stay."""
    found = re.fullmatch(r"\[([^%]*)(%25.+)?\]", host, re.DOTALL)
    try:
        address = IPv6Address(found[1])
    except (TypeError, ValueError):
        return host
    text = address.compressed if address.ipv4_mapped is None else f"::ffff:{address.ipv4_mapped}"
    return f"[{text}{found[2] or ''}]"


def map_to_uri(component):
    """RFC 3987 section 3.1 step 2, of characters that an IRI may have."""
    characters = component.encode("latin-1").decode("utf-8", "surrogateescape")
    mapped = IRI_CHARACTERS.sub(lambda found: triplets(found[0].encode().decode("latin-1")), characters)
    return mapped.encode("utf-8", "surrogateescape").decode("latin-1")


def to_ascii(host):
    """RFC 3987 section 3.1 by UTS 46: the A-labels of a host; ValueError if it has none, or they are an address."""
    host = idna.uts46_remap(host, std3_rules=True)
    if len(host.removesuffix(".")) > 253 or max(map(len, host.split("."))) > 63:
        raise ValueError("too long")  # before what takes more than linear time
    host = idna.encode(host).decode()
    *labels, last = host.removesuffix(".").split(".")
    if len(host.removesuffix(".")) > 253 or re.fullmatch("[0-9]+|0x[0-9a-f]*", last):
        raise ValueError("too long, or an address")
    if not all(re.fullmatch("[a-z0-9]([a-z0-9-]*[a-z0-9])?", label) for label in [*labels, last]):
        raise ValueError("no host name")
    return host


def name_of(host):
    """The A-labels of a host that is not ASCII; the host itself if it has none."""
    if re.search(f"%(?![89A-Fa-f]{HEX})", host):
        return host
    octets = re.sub(f"%({HEX}{HEX})", lambda found: chr(int(found[1], 16)), host).encode("latin-1")
    if octets.isascii():
        return host
    try:
        return to_ascii(octets.decode())
    except ValueError:
        return host


# RFC 1738 section 3; RFC 9110 section 4.2; and what docs/guides/uri.md names.
PORTS = {"acap": "674", "coap": "5683", "coaps": "5684", "dict": "2628", "ftp": "21", "gopher": "70", "http": "80"}
PORTS |= {"https": "443", "imap": "143", "ipp": "631", "ipps": "631", "ldap": "389", "mupdate": "3905", "nfs": "2049"}
PORTS |= {
    "nntp": "119",
    "pop": "110",
    "prospero": "1525",
    "rsync": "873",
    "rtsp": "554",
    "rtsps": "322",
    "rtspu": "554",
}
PORTS |= {"snmp": "161", "telnet": "23", "tftp": "69", "wais": "210", "ws": "80", "wss": "443"}
DNS = {*PORTS, "file"}  # RFC 8089 section 2
# Hosts of these are identifiers in which the case of letters counts.
EXACT = {"ipfs", "ipld", "ipns", "ar", "sia", "s3", "s3a", "s3n", "android-app", "android.resource", "content"}


def normal_authority(authority, scheme, level):
    found = re.fullmatch(
        r"(?:(?P<userinfo>[^@]*)@)?(?P<host>\[[^\]@]*\]|(?!\[)[^:@\[\]]*)(?::(?P<port>[0-9]*))?", authority, re.DOTALL
    )
    if found is None:
        return authority
    userinfo, host, port = found.groups()
    decoded = DECODED.get(level, UNRESERVED) - ({"@"} if level == "rfc1630" else set())
    encoded = encoded_at(level)
    folds = level != "rfc1630" and scheme not in EXACT
    if host.startswith("["):
        address, percent, zone = host.partition("%")  # nothing is decoded (RFC 3986 section 3.2.2), and a zone stays
        host = (fold(address) if folds else address) + percent + zone
        host = "".join(triplets(each) if each in encoded and not each.isascii() else each for each in host)
    else:
        host = encode_level(host, decoded, encoded)
        host = fold(host) if folds else host
    if level in {"scheme", "iri"}:
        host = one_spelling(host)
    if level == "iri":
        host = map_to_uri(host)
        if scheme in DNS and not host.startswith("["):
            host = name_of(host)
    if userinfo is not None:
        userinfo = encode_level(userinfo, decoded, encoded)
        host = (map_to_uri(userinfo) if level == "iri" else userinfo) + "@" + host
    is_drive = scheme == "file" and re.fullmatch("[A-Za-z]:", authority)
    if level in {"scheme", "iri"} and scheme is not None and port is not None and not is_drive:
        port = str(int(port)) if port else None
        port = None if port == PORTS.get(scheme) else port
    if level in {"scheme", "iri"} and scheme == "file" and host == "localhost" and port is None:
        return ""
    return host if port is None else f"{host}:{port}"


def encoded_at(level):
    return {chr(octet) for octet in range(128)} - PLAIN_1630 - KEPT_1630 if level == "rfc1630" else frozenset()


def normal_path(path, level):
    if level != "rfc1630":
        return encode_level(path, DECODED.get(level, UNRESERVED))
    return "/".join(
        encode_level(segment, set() if re.fullmatch(r"(?:\.|%2[Ee]){1,2}", segment) else PLAIN_1630, encoded_at(level))
        for segment in path.split("/")
    )


def normalize(uri, level="path"):
    text = as_text(uri)
    if level == "simple":
        return like(uri, text)
    if level == "rfc1630":
        illegal = re.search(f"%(?!{HEX}{HEX})", text)
        if illegal:
            before = text[: illegal.start()].encode("latin-1")
            raise UriSyntaxError("percent", uri, len(before.decode() if isinstance(uri, str) else before))
    scheme, authority, path, query, fragment = parse(text)
    if scheme is not None and level != "rfc1630":
        scheme = scheme.lower()
    if authority is not None:
        authority = normal_authority(authority, scheme, level)
    path = normal_path(path, level)
    if level in LADDER[3:] and path.startswith("/"):
        path = remove_dot_segments(path)
    if level in LADDER[4:] and scheme is not None:
        if scheme == "file" and authority is None and path.startswith("/"):
            authority = ""
        if authority is not None and path == "":
            path = "/"
        if scheme == "mailto" and authority is None:
            parts = (address.rpartition("@") for address in path.split(","))
            path = ",".join(head + at + fold(host) if at else host for head, at, host in parts)
    decoded, encoded = DECODED.get(level, UNRESERVED), encoded_at(level)
    query, fragment = (None if part is None else encode_level(part, decoded, encoded) for part in (query, fragment))
    if level == "iri":
        path, query, fragment = (None if part is None else map_to_uri(part) for part in (path, query, fragment))
    return like(uri, recompose(Parts(scheme, authority, path, query, fragment)))


key = normalize


def relation(a, b, level="scheme"):
    """The first relation that is true."""
    if as_text(a) == as_text(b):
        return "equal"
    x, y = (normalize(each.encode() if isinstance(each, str) else each, level) for each in (a, b))
    if x == y:
        return "equivalent"
    x, y = parse(as_text(x)), parse(as_text(y))
    if x._replace(fragment=None) == y._replace(fragment=None):
        return "same-document"
    if x[:3] == y[:3]:
        return "same-path"
    if x.authority is None or y.authority is None or host_of(x.authority) != host_of(y.authority):
        return "different"
    same = x.scheme is not None and x.scheme == y.scheme and port_of(x.authority) == port_of(y.authority)
    return "same-origin" if same else "same-host"


AUTHORITY = re.compile(r"(?:[^@]*@)?(\[[^\[\]@]*\]|[^@:\[\]]*)(:[0-9]*)?")


def host_of(authority):
    """The host; of an authority with misplaced delimiters, all of it."""
    found = AUTHORITY.fullmatch(authority)
    return found[1] if found else authority


def port_of(authority):
    found = AUTHORITY.fullmatch(authority)
    return (found[2] or "") if found else ""


def equivalent(a, b, level="path"):
    return as_text(key(a, level)) == as_text(key(b, level))
