"""Reference implementation of `uri.agreed_host` and `uri.address_category`, with `re` and `ipaddress`."""

import ipaddress
import re

import idna
from reference.uri_forms import to_ascii

PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443}
METADATA = {
    *{"169.254.169.254", "169.254.170.2", "169.254.170.23", "169.254.0.23", "100.100.100.200", "192.0.0.192"},
    *{"168.63.129.16", "fd00:ec2::254", "fd00:ec2::23", "fd20:ce::254"},
}
PRIVATE = [*map(ipaddress.ip_network, ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7", "fec0::/10"))]
SHARED, NAT64, UNICAST, DOCUMENTATION = map(
    ipaddress.ip_network, ("100.64.0.0/10", "64:ff9b::/96", "2000::/3", "3fff::/20")
)
# Where categories may change: the registries of IANA, and what docs/guides/ssrf.md names.
NETWORKS = [
    *["0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24"],
    *("192.0.0.0/29", "192.0.0.9", "192.0.0.10", "192.0.0.170/31", "192.0.2.0/24", "192.31.196.0/24"),
    "192.52.193.0/24",
    *["192.88.99.0/24", "192.168.0.0/16", "192.175.48.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24"],
    *["224.0.0.0/4", "240.0.0.0/4", "255.255.255.255"],
    *["::", "::1", "::ffff:0:0/96", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "2000::/3", "2001::/23", "2001::/32"],
    *["2001:1::1", "2001:1::2", "2001:2::/48", "2001:3::/32", "2001:4:112::/48", "2001:10::/28", "2001:20::/28"],
    *["2001:30::/28", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20", "5f00::/16", "fc00::/7"],
    *["fe80::/10", "fec0::/10", "ff00::/8", *METADATA],
]
# Before 2024, `ipaddress` had an older copy of the registries.
IPADDRESS_IS_NEW = not ipaddress.ip_address("2002::").is_global and ipaddress.ip_address("192.0.0.9").is_global


def category(address):  # noqa: PLR0911
    if str(address) in METADATA:
        return "metadata"
    if address.version == 6:
        if address.ipv4_mapped:
            return category(address.ipv4_mapped)
        if address in NAT64:
            return category(ipaddress.IPv4Address(int(address) & 0xFFFFFFFF))
        if address.sixtofour:
            return category(address.sixtofour).replace("public", "reserved")
    if address.is_loopback or address.is_multicast:
        return "loopback" if address.is_loopback else "multicast"
    if address.is_link_local or address in SHARED:
        return "shared" if address in SHARED else "link-local"
    if any(address in network for network in PRIVATE):
        return "private"
    if address.version == 6 and (address not in UNICAST or address in DOCUMENTATION):
        return "reserved"
    return "public" if address.is_global else "reserved"


def first(pattern, text, start=0, end=None):
    match = re.compile(pattern).search(text, start, len(text) if end is None else end)
    return match.start() if match else None


def agreed_host(url, *, schemes=("http", "https", "ws", "wss"), userinfo="raise", trailing_dot="raise", ports=None):
    """Return (scheme, host, port, kind, category), or (code, offset)."""
    allowed = [option == "allow" for option in (userinfo, trailing_dot)]
    found, surrogate = read(url, schemes, *allowed, ports), first("[\ud800-\udfff]", url)
    return found if surrogate is None or (len(found) == 2 and found[1] <= surrogate) else ("surrogate", surrogate)


def read(url, schemes, userinfo, trailing_dot, ports):  # noqa: PLR0911, PLR0912
    scheme = re.match("(https?|wss?):", url, re.IGNORECASE | re.ASCII)
    if not scheme:
        return {" ": "blank"}.get(url[:1], "control" if re.match(r"[\0-\x1f\x7f]", url) else "scheme"), 0
    if scheme[1].lower() not in schemes:
        return "scheme", 0
    i = scheme.end()
    at = first(r"\\", url[: i + 3], i)
    if at is not None:
        return "backslash", at
    slashes = re.compile("/*").match(url, i).end() - i
    if slashes != 2:
        return "slashes", i if slashes < 2 else i + 2
    start = i + 2
    end = re.compile("[^/?#]*").match(url, start).end()
    for at in range(start, end):
        for code, pattern in (
            ("backslash", r"\\"),
            ("blank", " "),
            ("not-ascii", r"[^\0-\x7f]"),
            ("control", r"[\0-\x1f\x7f]"),
        ):
            if re.match(pattern, url[at]):
                return code, at
        if url[at] == "@" and (not userinfo or "@" in url[start:at]):
            return "userinfo", at
    if "@" in url[start:end]:
        at = url.index("@", start)
        wrong = re.compile(r"(?:[A-Za-z0-9._~!$&'()*+,;=:-]|%[0-9A-Fa-f]{2})*").match(url, start).end()
        if wrong < at:
            return "userinfo", wrong
        start = at + 1
    found = ip_literal(url, start, end) if url[start : start + 1] == "[" else name(url, start, end, trailing_dot)
    if len(found) == 2:
        return found
    host, kind, host_end = found
    port = url[host_end + 1 : end]
    if port and (len(port) > 5 or not re.fullmatch("[0-9]+", port) or not 1 <= int(port) <= 65535):
        return "port", host_end + 1
    at = first(r"[\0-\x1f\x7f]", url, end)
    if at is not None:
        return "control", at
    number = int(port or PORTS[scheme[1].lower()])
    if ports is not None and number not in ports:
        return "port-not-allowed", min(host_end + 1, end)
    if kind == "name":
        labels = host.split(".")
        for k, label in enumerate(labels):
            if label.startswith("xn--") and not is_a_label(label):
                return "a-label", start + len(".".join([*labels[:k], ""]))
    kind_of_address = "name" if kind == "name" else category(ipaddress.ip_address(host))
    return scheme[1].lower(), host, number, kind, kind_of_address


def is_a_label(label):
    try:
        text = idna.ulabel(label)
        return idna.alabel(text).decode() == label and bool(to_ascii(text))
    except ValueError:
        return False


def ip_literal(url, start, end):
    close = first("]", url, start, end)
    zone = first("%", url, start, end if close is None else close)
    if zone is not None:
        return "zone", zone
    try:
        address = ipaddress.IPv6Address(url[start + 1 : close])
    except ValueError:
        return "ip-literal", start
    if close is None:
        return "ip-literal", start
    if close + 1 < end and url[close + 1] != ":":
        return "ip-literal", close + 1
    mapped = address.ipv4_mapped
    return f"::ffff:{mapped}" if mapped else address.compressed, "ipv6", close + 1


def name(url, start, end, trailing_dot):  # noqa: PLR0911
    stop = re.compile("[A-Za-z0-9_.-]*").match(url, start, end).end()
    if stop < end and url[stop] != ":":
        return "percent" if url[stop] == "%" else "host", stop
    host = url[start:stop].lower()
    if not host:
        return "no-host", start
    absolute = host.endswith(".")
    if len(host) - absolute > 253:
        return "length", start
    labels = (host[:-1] if absolute else host).split(".")
    at = start
    for label in labels:
        if not label or len(label) > 63:
            return "length" if label else "empty-label", at
        at += len(label) + 1
    if re.fullmatch("[0-9]+|0x[0-9a-f]*", labels[-1]):
        if not re.fullmatch(r"(?:(?:0|[1-9][0-9]*)(?:\.(?!$)|$)){4}", host) or max(map(int, labels)) > 255:
            return "number", start
        return host, "ipv4", stop
    if absolute and not trailing_dot:
        return "trailing-dot", stop - 1
    return host, "name", stop
