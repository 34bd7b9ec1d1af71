"""The reference implementation of sets of hosts and prefixes: sets of Python, and loops over what is above a URL."""

import re
from contextlib import suppress
from ipaddress import IPv4Address, IPv6Address

import idna
from reference import surt, uri_forms, urls, whatwg

NAME = re.compile(rb"[A-Za-z0-9._-]*")
NUMBER = re.compile(rb"[0-9]+|0[xX][0-9A-Fa-f]*")


def address(text):
    """The spelling of an IP address (bytes), or None."""
    try:
        return str(IPv4Address(text)).encode()
    except ValueError:
        pass
    try:
        if "%" in text:
            return None
        IPv6Address(text)
    except ValueError:
        return None
    return uri_forms.one_spelling(f"[{text}]").encode()


def a_label(label):
    """The A-label of a label (bytes, from str), or the label itself if it has none of 63 bytes.

    Joiners that are not in their place are left out.
    """
    for text in label, label.replace("\u200c", "").replace("\u200d", ""):
        with suppress(whatwg.Failure):
            found = whatwg.domain_to_ascii(text).encode()
            if len(found) <= 63:
                return found
    return label.encode()


def is_ignored(character):
    """Whether UTS 46 maps a character to nothing."""
    with suppress(idna.IDNAError):
        return idna.uts46_remap(character) == ""
    return False


def normal_host(host):
    """The normal form of a host (bytes); None if it has none that an entry may have."""
    if host.startswith(b"["):
        literal = re.fullmatch(rb"\[([0-9A-Fa-f:.]*)\]", host)
        return literal and (b":" in literal[1] or None) and address(literal[1].decode())
    if not NAME.fullmatch(host):
        host = re.sub(rb"%([0-9A-Fa-f]{2})", lambda found: bytes.fromhex(found[1].decode()), host)
        if not host.isascii():
            text = host.decode("utf-8", "surrogateescape")
            text = "".join(c for c in text if not is_ignored(c))
            labels = []
            for label in re.split("[.\u3002\uff0e\uff61]", text):
                whole = not any("\udc80" <= c <= "\udcff" for c in label)
                whole = whole and not label.isascii()
                labels.append(a_label(label) if whole else label.encode("utf-8", "surrogateescape"))
            host = b".".join(labels)
    return None if host.startswith(b"[") else host.lower().removesuffix(b".")


def host_and_port(url, is_entry=False):
    """The host and the port of a URL, or of text that begins with them; (None, None) if there is no host."""
    _, authority, _, host, port, *_ = urls.split(url)
    if authority is None:
        begin = re.match(rb"[^/?#]*", url)[0]
        found = re.fullmatch(rb"(\[[^\]]*\]|[^:@]*)(?::([0-9]*))?", begin, re.DOTALL)
        if not found or b"@" in begin:
            return None, None
        host, port = found.groups()
        if port is not None and not is_entry and b"." not in host and not host.startswith(b"["):
            return (host, port) if host and 1 <= len(port) <= 5 else (None, None)  # or a scheme
    return (host, port) if host else (None, None)


def is_whole(host):
    return host.startswith(b"[") or bool(NUMBER.fullmatch(host.rpartition(b".")[2]))


def host_entry(text):
    """The normal form of an entry of a set of hosts, or None."""
    text = text.strip(b" \t\n\r\x0b\x0c")
    text = text[2:] if text.startswith(b"*.") else text.removeprefix(b".")
    if b":" in text and address(text.decode("latin-1")):
        text = b"[" + text + b"]"
    host = normal_host(text)
    return host if host and is_good(host) else None


def is_good(host):
    """Whether a normal form is an address or a domain name."""
    if host.startswith(b"["):
        return True
    if not NAME.fullmatch(host) or len(host) > 253 or not all(0 < len(label) <= 63 for label in host.split(b".")):
        return False
    return not is_whole(host) or address(host.decode()) is not None


def match_host(entries, url, exact=False):
    """The longest of the entries (normal forms) that matches, or None."""
    host, _ = host_and_port(url)
    host = host and normal_host(host)
    if not host:
        return None
    if exact or is_whole(host):
        return host if host in entries else None
    labels = host.split(b".")
    return next((each for i in range(len(labels)) if (each := b".".join(labels[i:])) in entries), None)


# --- prefixes ---------------------------------------------------------------------------------------------------------


def page(url, is_entry=False):
    """(host, port, path, whether there is more) of a URL in its normal form, or None."""
    host, _ = host_and_port(url, is_entry)
    if host is None:
        return None
    if urls.split(url)[1] is None:
        url = b"http://" + url
    form = uri_forms.normalize(url, "iri")
    found = re.match(rb"(?:[^:/?#]+:)?//([^/?#]*)([^?#]*)(.*)", form, re.DOTALL)
    authority = re.fullmatch(rb"(?:[^@]*@)?(\[[^\]@]*\]|(?!\[)[^:@\[\]]*)(?::([0-9]*))?", found[1], re.DOTALL)
    host = authority and normal_host(authority[1])
    if (
        not host
        or not (host.startswith(b"[") or NAME.fullmatch(host))
        or len(authority[1]) > 510
        or len(authority[2] or b"") > 7
    ):
        return None
    return host, b":" + authority[2] if authority[2] else b"", found[2], bool(found[3])


def prefix_entry(text):
    """The normal form of an entry of a set of prefixes, or None."""
    text = text.strip(b" \t\n\r\x0b\x0c")
    if len(text) > 2048:
        return None
    if url := from_surt(text):
        found, text = page(url, True), url
        key = surt.key(url)
    else:
        found, key = page(text, True), None
    if found is None or found[3] or not is_good(found[0]):
        return None
    if key is not None:
        base, bracket, path = key.partition(b")")
        form = base + bracket + path.removesuffix(b"/") if bracket else b""
    else:
        form = found[0] + found[1] + found[2].removesuffix(b"/")
    return form if re.fullmatch(rb"[!-~]+", form) else None


def from_surt(text):
    """The URL that a SURT is of, or None."""
    found = re.fullmatch(rb"(?:[^/)]+://\()?([A-Za-z0-9._,-]*?),?(:[0-9]*)?\)(/.*)?", text, re.DOTALL)
    if not found or not found[1]:
        return None
    return b"http://" + b".".join(found[1].split(b",")[::-1]) + (found[2] or b"") + (found[3] or b"")


def above(base, path, exact):
    """What could match a path: the longest first."""
    if exact:
        return [base + path] + ([base + path[:-1]] if path.endswith(b"/") else [])
    return [base + path[:i] for i in range(len(path), -1, -1) if i in {0, len(path)} or path[i : i + 1] == b"/"]


def match_prefix(entries, url, exact=False):
    found = page(url)
    if found is None:
        return None
    host, port, path, _ = found
    best = None
    for base in dict.fromkeys([host + port, host]):
        for each in above(base, path, exact):
            if each in entries and (best is None or len(each) - len(base) > best[0]):
                best = len(each) - len(base), each
    given, _ = host_and_port(url)
    start = url.index(b"//") + 2 if urls.split(url)[1] is not None else 0
    authority = re.match(rb"[^/?#]*", url[start:])[0]
    start += authority.rfind(b"@") + 1
    url = url[:start] + host + url[start + len(given) :]
    key = surt.key(url).partition(b"?")[0]
    base, bracket, path = key.partition(b")")
    if bracket:
        for each in above(base + b")", path, exact):
            if each in entries and (best is None or len(each) - len(base) - 1 > best[0]):
                best = len(each) - len(base) - 1, each
    return best and best[1]
