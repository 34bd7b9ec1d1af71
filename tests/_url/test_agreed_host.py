"""The host on which parsers agree: rows of tests/data, a reference implementation, other parsers, `ipaddress`."""

import ipaddress
import json
import pickle
import random
import re
from operator import attrgetter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import agreed_host as reference
from reference.url_parsers import PARSERS, found
from support.tables import each_row

from uricodec import bulk, uri
from uricodec.errors import AmbiguousUrlError

DATA = Path(__file__).parent.parent / "data/agreed_hosts.tsv"
ROWS = [line.split("\t") for line in DATA.read_text("utf-8").splitlines() if line and not line.startswith("# ")]
URLS = [json.loads(url) for url, _ in ROWS]
ALLOW = {"userinfo": "allow", "trailing_dot": "allow"}
FIELDS = attrgetter("scheme", "host", "port", "kind", "category")
INSTALLED = "urllib.parse", "urllib.request"
needs_new_ipaddress = pytest.mark.skipif(not reference.IPADDRESS_IS_NEW, reason="ipaddress has older registries")


def outcome(url, **options):
    try:
        return FIELDS(uri.agreed_host(url, **options))
    except AmbiguousUrlError as error:
        assert error.input is url
        return error.code, error.offset


@each_row(("url", "want"), [*zip(URLS, (row[1] for row in ROWS), strict=True)])
def test_rows(url, want):
    got = outcome(url)
    assert " ".join(map(str, got if len(got) == 2 else (got[1], got[2], got[4]))) == want
    octets = url.encode("utf-8", "surrogatepass")
    assert outcome(octets) == (got if len(got) > 2 else (got[0], len(url[: got[1]].encode("utf-8", "surrogatepass"))))


def test_every_code_has_a_row():
    codes = {row[1].split()[0] for row in ROWS if len(row[1].split()) == 2}
    described = uri.agreed_host.__doc__.split("the codes:")[1].split("ValueError:")[0]
    described = re.sub(r"\([^)]*\)", "", described)  # which names characters
    assert {*re.findall('"([a-z-]+)"', described)} == codes | {"port-not-allowed", "surrogate"}


# --- the reference implementation -------------------------------------------------------------------------------------

PIECES = st.sampled_from(
    [
        *["http://", "HTTPS://", "wss:", "ws", ":", "/", "//", "\\", "?", "#", "@", "u:p%41@", "%", "%2e", " ", "\t"],
        *["a", "B-_", ".", "..", "a" * 63, ("b" * 49 + ".") * 5, "0", "127", "256", "0x7f", "01", "1.2.3.4", ":80"],
        *["\0", "\x7f", ":65536", ":00080", ":0"],
        *["[", "]", "[::1]", "[::ffff:1.2.3.4]", "[v1.a]", "::", "xn--", "xn--bcher-kva", "é", "\ud800", "!", "~", "&"],
    ]
)  # fmt: skip
TEXTS = st.builds("".join, st.lists(PIECES, max_size=6))
URL_LIKE = st.builds("".join, st.tuples(st.sampled_from(["http://", "https://a", "ws://a.b", ""]), TEXTS))


@needs_new_ipaddress
@given(URL_LIKE | st.sampled_from(URLS), st.sampled_from([{}, ALLOW]))
def test_reference(url, options):
    assert outcome(url, **options) == reference.agreed_host(url, **options)


# --- other parsers ----------------------------------------------------------------------------------------------------


def generated(count):
    """Yield URLs that are made of rows by small changes."""
    rng = random.Random(5)
    pieces = [
        *("\\", "@", ":", "/", "#", "?", "%2f", " ", "\t", ".", "0x", "[", "]", "é", "xn--", ":0", ":80", "a", "1", "")
    ]
    for _ in range(count):
        url = rng.choice(URLS)
        at = rng.randrange(min(len(url), 40) + 1)
        yield url[:at] + rng.choice(pieces) + url[at + rng.randrange(2) :]


def disagreements(parser, urls, **options):
    accepted = {}
    for url in urls:
        got = outcome(url, **options)
        if len(got) > 2:
            accepted[url] = found(*got[:3])
    assert len(accepted) > 20
    results = zip(accepted.items(), PARSERS[parser]([*accepted]), strict=True)
    return [(url, got, want) for (url, want), got in results if got not in (None, want)]


@pytest.mark.parametrize("parser", INSTALLED)
def test_urllib(parser):
    assert disagreements(parser, [*URLS, *generated(5000)]) == []


@pytest.mark.interop
@pytest.mark.parametrize("parser", [name for name in PARSERS if name not in INSTALLED])
def test_other_parsers(parser):
    urls = [*URLS, *generated(20000)]
    assert disagreements(parser, urls) == []
    assert disagreements(parser, urls, **ALLOW) == []


def test_parsers_differ_about_what_is_rejected():
    """The comparison can fail: urllib has two parsers, which find different hosts for some rows."""
    one, other = (PARSERS[name](URLS) for name in INSTALLED)
    different = {row[1].split()[0] for row, a, b in zip(ROWS, one, other, strict=True) if a != b}
    assert different >= {"backslash", "userinfo", "percent"}


# --- categories of addresses ------------------------------------------------------------------------------------------


def edges():
    for network in map(ipaddress.ip_network, sorted(reference.NETWORKS)):
        kind, first, last = type(network[0]), int(network[0]), int(network[-1])
        for number in first - 1, first, last, last + 1:
            if 0 <= number < 1 << network.max_prefixlen:
                yield kind(number)


def addresses():
    rng = random.Random(7)
    ipv4 = [address for address in edges() if address.version == 4]
    yield from edges()
    for prefix in "::ffff:0:0", "64:ff9b::", "::":
        yield from (ipaddress.IPv6Address(int(ipaddress.IPv6Address(prefix)) + int(address)) for address in ipv4)
    yield from (ipaddress.IPv6Address(0x2002 << 112 | int(address) << 80 | 1) for address in ipv4)
    yield from (ipaddress.IPv4Address(rng.getrandbits(32)) for _ in range(2000))
    yield from (ipaddress.IPv6Address(rng.getrandbits(128)) for _ in range(1000))
    yield from (ipaddress.IPv6Address(0x2000 << 112 | rng.getrandbits(125)) for _ in range(1000))


@needs_new_ipaddress
def test_categories():
    for address in addresses():
        category = uri.address_category(address)
        assert category == reference.category(address), address
        assert uri.address_category(str(address)) == category
        host = uri.agreed_host(f"http://{address}/" if address.version == 4 else f"http://[{address}]/")
        assert host.category == category and host.is_global is (category == "public")
        assert ipaddress.ip_address(host.host) == address


@needs_new_ipaddress
def test_public_addresses_are_global_to_ipaddress():
    for address in addresses():
        if uri.address_category(address) == "public" and not str(address).startswith("64:ff9b::"):
            assert getattr(address, "ipv4_mapped", None) or address.is_global, address


def test_category_of_text():
    assert uri.address_category("fe80::1%eth0") == "link-local"
    for text in "", "a", "1.2.3", "01.2.3.4", "[::1]", "::1/64", "1.2.3.4é", "::1é", "1:2:3:4:5:6:7:8:9":
        with pytest.raises(ValueError, match="expected an IP address"):
            uri.address_category(text)


# --- options and objects ----------------------------------------------------------------------------------------------


def test_options():
    assert outcome("http://a/", schemes=["https", "wss"]) == ("scheme", 0)
    # A scheme that is not accepted is not missing.
    accepted = (
        "scheme is not one of those that the call accepts: http, https, ws and wss, or fewer with schemes= at offset 0"
    )
    missing = 'expected an accepted scheme and "://" (curl guesses a missing one) at offset 0'
    for url, message in (
        *((f"{scheme}://h/", accepted) for scheme in ("gopher", "file", "FTP", "httpx", "h")),
        *((url, accepted) for url in ("mailto:a@h", "javascript:x", "httpss:")),
        *((url, missing) for url in ("", "h/", "//h/", "h:80", "h.example:8080/a", "1a://h", "/a:b", "http//h")),
    ):
        with pytest.raises(AmbiguousUrlError) as caught:
            uri.agreed_host(url)
        assert (str(caught.value), caught.value.code) == (message, "scheme")
    with pytest.raises(AmbiguousUrlError, match=f"^{accepted}$"):
        uri.agreed_host("http://a/", schemes=["https"])
    assert outcome("https://a/", schemes=["https", "wss"])[2] == 443
    assert outcome("http://a:8080/", ports={80, 443}) == ("port-not-allowed", 9)
    assert outcome("http://u@a/", ports=[443], userinfo="allow") == ("port-not-allowed", 10)
    assert outcome("http://a/", ports=range(1, 1024))[2] == 80
    assert outcome("http://A./", trailing_dot="allow")[1] == "a."
    assert outcome("http://1.2.3.4./", trailing_dot="allow") == ("number", 7)
    assert outcome("http://u:p@[::1]:8/", userinfo="allow")[1:3] == ("::1", 8)


@pytest.mark.parametrize(
    "options", [{"schemes": ["ftp"]}, {"schemes": "http"}, {"userinfo": "drop"}, {"trailing_dot": None}, {"ports": [0]}]
)
def test_unknown_values_of_options(options):
    with pytest.raises(ValueError, match=r"unknown scheme|must be 'raise' or 'allow'|must be 1 to 65535") as caught:
        uri.agreed_host("http://a/", **options)
    assert type(caught.value) is ValueError


def test_inputs():
    class Text(str):
        __slots__ = ()

    want = uri.agreed_host("http://a/")
    assert all(uri.agreed_host(kind(b"http://a/")) == want for kind in (bytes, bytearray, memoryview))
    assert uri.agreed_host(Text("http://a/")) == want
    assert uri.agreed_host("http://a/" + "é\U0001f4a9" * 3000) == want
    assert outcome("http://a/" + "é" * 3000 + "\ud800\ud800") == ("surrogate", 3009)
    for wrong in None, 5, ["http://a/"]:
        with pytest.raises(TypeError):
            uri.agreed_host(wrong)


@pytest.mark.parametrize("make", [list, lambda rows: rows * 40, lambda rows: "\n".join(rows).encode()])
def test_errors_of_rows_have_codes(make):
    with pytest.raises(AmbiguousUrlError, match=r"^row 1: backslash .* at offset 8$") as caught:
        bulk.agreed_host(make(["http://a/", "http://a\\@b/"]), errors="raise")
    assert caught.value.code == "backslash"
    with pytest.raises(AmbiguousUrlError, match=r"^row 0: lone surrogate at offset 9$") as caught:
        bulk.agreed_host(["http://a/\ud800"], errors="raise")
    assert caught.value.code == "surrogate"


def test_a_host_is_a_value():
    host = uri.agreed_host("wss://[2001:DB8::]:444/")
    assert pickle.loads(pickle.dumps(host)) == host
    assert FIELDS(host) == ("wss", "2001:db8::", 444, "ipv6", "reserved")
    same, *others = map(uri.agreed_host, ("WSS://[2001:db8:0::]:444", "wss://[2001:db8::]", "ws://[2001:db8::]:444"))
    assert same == host and hash(same) == hash(host) and not {*others} & {host} and host != FIELDS(host)
    absolute = uri.agreed_host("http://a./", trailing_dot="allow")
    assert pickle.loads(pickle.dumps(absolute)) == absolute
    with pytest.raises(AttributeError):
        host.port = 1
    with pytest.raises(TypeError, match=r"agreed_host\(\), which returns a Host"):
        uri.Host()
    for url in URLS:
        if len(outcome(url)) > 2:
            host = uri.agreed_host(url)
            assert uri.agreed_host(host.as_url()) == host


@each_row("start", ["", "a.", "A.b-c."])
@each_row("end", ["", ".example", ".b.example.", ":80", "/path"])
@each_row("letter", "aZ7_")
def test_the_longest_label(start, end, letter):
    """63 bytes (RFC 1035 section 2.3.4), at the start, in the middle and at the end of a host."""
    for size in 62, 63, 64, 65, 128:
        label = "x" + letter * (size - 2) + "x"
        url = f"http://{start}{label}{end}"
        given = {"trailing_dot": "allow"}
        for text in url, url.encode(), url.replace("http", "https"):
            if size <= 63:
                assert uri.agreed_host(text, **given).host.startswith(f"{start}{label}".lower())
            else:
                with pytest.raises(AmbiguousUrlError) as caught:
                    uri.agreed_host(text, **given)
                assert caught.value.offset >= 7


METADATA = ["169.254.169.254", "169.254.170.2", "169.254.170.23", "169.254.0.23", "100.100.100.200", "192.0.0.192"]
METADATA += ["168.63.129.16", "fd00:ec2::254", "fd00:ec2::23", "fd20:ce::254"]


@each_row("address", METADATA)
def test_each_metadata_service_and_its_neighbours(address):
    at = ipaddress.ip_address(address)
    assert uri.address_category(address) == "metadata"
    host = f"[{address}]" if at.version == 6 else address
    assert uri.agreed_host(f"http://{host}/").category == "metadata"
    if at.version == 4:
        assert uri.address_category(f"::ffff:{address}") == "metadata"
        assert uri.address_category(str(ipaddress.ip_address("64:ff9b::") + int(at))) == "metadata"
    for other in at - 1, at + 1, at - 256, at + 256:
        assert (uri.address_category(str(other)) == "metadata") is (str(other) in METADATA)
